//! Inline assembly that updates memory with a lock prefix: `lock not qword ptr [{0}]`, `lock; incl %0`. Libraries write full fences
//! like that, on a variable of their own, and old C its atomic counters.
//!
//! Only updates whose result nobody sees: what leaves something in a register (`xadd`, `cmpxchg`) is in `exchange`.

use super::calls::{Meaning, meaning, tied_argument};
use super::code::Code;
use super::exec::Done;
use super::machine::Machine;
use crate::fault::{Stop, Unsupported};
use crate::models::Access;
use crate::op::{Op, Order, RmwKind, mask};
use raddle_ir::inst::Call;
use raddle_ir::{Type, TypeId, TypeTable};

/// What inline assembly does: for those who do not run it here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assembly {
    /// Nothing, or it orders; the result, if there is one, is this argument.
    Orders {
        order: Option<Order>,
        result: Option<usize>,
    },
    /// An update between two full fences; without the second one if it changes nothing.
    Updates(Locked),
}

/// What a text does. None if that is not known, or if it leaves something in a register.
pub(super) fn assembly(text: &str, constraints: &str, has_result: bool) -> Option<Assembly> {
    if !has_result && let Some(update) = locked(text, constraints) {
        return Some(Assembly::Updates(update));
    }
    let order = match meaning(text)? {
        Meaning::Nothing => None,
        Meaning::Fence(order) => Some(order),
    };
    let result = match has_result {
        true => Some(tied_argument(constraints)?),
        false => None,
    };
    Some(Assembly::Orders { order, result })
}

/// An update of memory as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locked {
    pub kind: RmwKind,
    pub size: u8,
    /// Which argument is the address.
    pub address: usize,
    pub operand: Source,
    /// The argument that is where a byte is set to 1 if the result is zero, and else to 0.
    pub is_zero: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Number(u64),
    Argument(usize),
}

impl Machine<'_> {
    /// Runs such an update. None if the text is something else.
    pub(super) fn locked_update(
        &mut self,
        code: &Code,
        call: &Call,
        (text, constraints): (&str, &str),
    ) -> Result<Option<Done>, Stop> {
        let Some(update) = locked(text, constraints) else {
            return Ok(None);
        };
        let unknown = || Stop::Unsupported(Unsupported::InlineAsm { text: text.into() });
        // It orders whatever comes before and after it, which an atomic update does not do in every memory model.
        let log = self.frame().log.clone();
        let fence = Op::Fence {
            order: Order::SeqCst,
        };
        if log.is_empty() {
            return Ok(Some(Done::Visible(fence)));
        }
        let argument = |index: usize| call.args.get(index).copied().ok_or_else(unknown);
        let address = self.scalar(code, argument(update.address)?)?;
        let operand = match update.operand {
            Source::Number(number) => number,
            Source::Argument(index) => self.scalar(code, argument(index)?)?,
        };
        let operand = operand & mask(update.size);
        let old = match log.get(1) {
            Some(&old) => old,
            None => {
                match self.rmw_piece(address, update.size, update.kind, operand, Order::SeqCst)? {
                    // Nobody else sees what is private: there is nothing to order.
                    Access::Done(old) => old,
                    Access::Visible(op) => return Ok(Some(Done::Visible(op))),
                }
            }
        };
        let result = update.kind.apply(old, operand, update.size);
        // One that changes nothing may be the end of an iteration that only waits, which ends with an access.
        let is_fenced = result != old;
        if is_fenced && log.len() == 2 {
            return Ok(Some(Done::Visible(fence)));
        }
        let done = 2 + usize::from(is_fenced);
        let Some(flag) = update.is_zero.filter(|_| log.len() <= done) else {
            return Ok(Some(Done::Next));
        };
        let place = self.scalar(code, argument(flag)?)?;
        match self.store_piece(place, 1, u64::from(result == 0), Order::Plain)? {
            Access::Done(_) => Ok(Some(Done::Next)),
            Access::Visible(op) => Ok(Some(Done::Visible(op))),
        }
    }
}

fn locked(text: &str, constraints: &str) -> Option<Locked> {
    let operands: Vec<&str> = constraints
        .split(',')
        .filter(|constraint| !constraint.starts_with('~'))
        .collect();
    // What leaves something in a register is no argument, and others are then counted differently.
    if operands
        .iter()
        .any(|it| it.starts_with('=') && !it.contains('*'))
    {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let is_memory = |index: usize| operands.get(index).is_some_and(|it| it.contains('*'));
    let mut rest = lower.trim();
    let mut is_zero = None;
    for set in ["setz", "sete"] {
        if let Some((before, place)) = rest.rsplit_once(set) {
            let place = operand(place.trim()).filter(|&index| is_memory(index))?;
            is_zero = Some(place);
            rest = before.trim_end_matches([';', '\n', '\t', ' ']);
        }
    }
    let rest = rest.strip_prefix("lock")?;
    let rest = rest.trim_start_matches([';', '\n', '\t', ' ']);
    let (name, arguments) = rest.split_once([' ', '\t'])?;
    let arguments = arguments.trim();
    // Intel's way names the size in words, and the place first.
    let sizes = [
        ("qword ptr", 8),
        ("dword ptr", 4),
        ("word ptr", 2),
        ("byte ptr", 1),
    ];
    let intel = sizes
        .iter()
        .find_map(|&(words, size)| Some((arguments.strip_prefix(words)?.trim(), size)));
    let (name, size, place, source) = if let Some((arguments, size)) = intel {
        let (place, source) = match arguments.split_once(',') {
            Some((place, source)) => (place.trim(), Some(source.trim())),
            None => (arguments, None),
        };
        let place = place.strip_prefix('[')?.strip_suffix(']')?;
        (name, size, operand(place)?, source)
    } else {
        let (source, place) = match arguments.rsplit_once(',') {
            Some((source, place)) => (Some(source.trim()), place.trim()),
            None => (None, arguments),
        };
        let size = match name.chars().last()? {
            'q' => 8,
            'l' => 4,
            'w' => 2,
            'b' => 1,
            _ => return None,
        };
        let place = match place.strip_prefix('(') {
            Some(inside) => operand(inside.strip_suffix(')')?)?,
            None => operand(place).filter(|&index| is_memory(index))?,
        };
        (&name[..name.len() - 1], size, place, source)
    };
    let source = match source {
        Some(text) => Some(match operand(text) {
            Some(index) if !is_memory(index) => Source::Argument(index),
            Some(_) => return None,
            None => Source::Number(number(text)?),
        }),
        None => None,
    };
    let (kind, operand) = match (name, source) {
        ("not", None) => (RmwKind::Xor, Source::Number(u64::MAX)),
        ("inc", None) => (RmwKind::Add, Source::Number(1)),
        ("dec", None) => (RmwKind::Sub, Source::Number(1)),
        ("add", Some(source)) => (RmwKind::Add, source),
        ("sub", Some(source)) => (RmwKind::Sub, source),
        ("and", Some(source)) => (RmwKind::And, source),
        ("or", Some(source)) => (RmwKind::Or, source),
        ("xor", Some(source)) => (RmwKind::Xor, source),
        _ => return None,
    };
    Some(Locked {
        kind,
        size,
        address: place,
        operand,
        is_zero,
    })
}

/// Is it `cpuid`? What comes before and behind it may save a register that compilers need.
pub(super) fn asks_what_the_processor_can(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let statements = lower.split([';', '\n']).map(str::trim);
    let mut statements = statements
        .filter(|statement| !statement.is_empty())
        .peekable();
    let is_saving = |statement: &str| {
        let is_move = statement.starts_with("mov") || statement.starts_with("xchg");
        is_move && statement.contains("bx") && statement.contains('$') && !statement.contains('(')
    };
    lower.contains("cpuid") && statements.all(|it| it == "cpuid" || is_saving(it))
}

/// Does it count cycles, with or without barriers around it? Then in so many registers.
pub(super) fn counts_cycles(text: &str, constraints: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let statements = (lower.split([';', '\n'])).map(str::trim);
    let mut counted = 0;
    for statement in statements.filter(|statement| !statement.is_empty()) {
        match statement {
            "rdtsc" | "rdtscp" => counted += 1,
            "lfence" | "mfence" => {}
            _ => return None,
        }
    }
    let outputs: Vec<&str> = (constraints.split(','))
        .filter(|it| it.starts_with('='))
        .collect();
    let is_known = matches!(
        outputs[..],
        ["={ax}", "={dx}"] | ["={ax}", "={dx}", "={cx}"]
    );
    (counted == 1 && is_known).then_some(outputs.len() as u64)
}

/// `$0`, `${0:q}`, `${0}`.
pub(super) fn operand(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('$')?;
    let digits = match inside.strip_prefix('{') {
        Some(braced) => braced.strip_suffix('}')?.split(':').next()?,
        None => inside,
    };
    digits.parse().ok()
}

/// `1`, `0x10`, `$$1`, `-1`.
fn number(text: &str) -> Option<u64> {
    let text = text.strip_prefix("$$").unwrap_or(text);
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    text.parse::<i64>().ok().map(i64::cast_unsigned)
}

/// Are there pointers in registers of a text that does something? What is done to them as numbers is not known where a pointer is more
/// than its number.
#[must_use]
pub fn has_pointers_in_registers(
    types: &TypeTable,
    (text, constraints): (&str, &str),
    args: &[TypeId],
    result: Option<TypeId>,
) -> bool {
    if super::calls::meaning(text).is_some() {
        return false;
    }
    let is_pointer = |ty: TypeId| *types.get(ty) == Type::Ptr;
    // Arguments are what is written to indirectly, and what is read.
    let operands = constraints
        .split(',')
        .filter(|part| !part.starts_with('~') && (!part.starts_with('=') || part.contains('*')));
    let mut pairs = operands.zip(args);
    pairs.any(|(part, &ty)| !part.contains('*') && is_pointer(ty)) || result.is_some_and(is_pointer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str, constraints: &str) -> Option<(RmwKind, u8, usize, Source)> {
        locked(text, constraints).map(|it| (it.kind, it.size, it.address, it.operand))
    }

    #[test]
    fn updates_are_known_in_both_ways_to_write_them() {
        use Source::{Argument, Number};
        let clobbers = "r,~{memory}";
        assert_eq!(
            parts("lock not qword ptr [${0:q}]", clobbers),
            Some((RmwKind::Xor, 8, 0, Number(u64::MAX)))
        );
        assert_eq!(
            parts("lock or dword ptr [${0:q}], 0", clobbers),
            Some((RmwKind::Or, 4, 0, Number(0)))
        );
        assert_eq!(
            parts("lock add dword ptr [${0:q}], ${1:e}", "r,r,~{memory}"),
            Some((RmwKind::Add, 4, 0, Argument(1)))
        );
        assert_eq!(
            parts("lock; incl $0", "=*m,*m,~{memory},~{dirflag}"),
            Some((RmwKind::Add, 4, 0, Number(1)))
        );
        assert_eq!(
            parts("lock\n\taddq $1,$0", "=*m,er,*m,~{memory}"),
            Some((RmwKind::Add, 8, 0, Argument(1)))
        );
        assert_eq!(
            parts("lock subl $$2, ($0)", "r,~{memory}"),
            Some((RmwKind::Sub, 4, 0, Number(2)))
        );
    }

    #[test]
    fn asking_what_the_processor_can_is_known() {
        for text in [
            "cpuid",
            "mov ${0:q}, rbx\ncpuid\nxchg ${0:q}, rbx",
            "  xchgq  %rbx,${1:q}\n  cpuid\n  xchgq  %rbx,${1:q}",
        ] {
            assert!(asks_what_the_processor_can(text), "{text}");
        }
        for text in [
            "",
            "rdtsc",
            "cpuid\nrdtsc",
            "mov ${0:q}, rbx",
            "mov (%rbx), $0\ncpuid",
        ] {
            assert!(!asks_what_the_processor_can(text), "{text}");
        }
    }

    #[test]
    fn counting_cycles_is_known() {
        assert_eq!(counts_cycles("rdtsc", "={ax},={dx},~{flags}"), Some(2));
        let ordered = "lfence\n\trdtscp";
        assert_eq!(counts_cycles(ordered, "={ax},={dx},={cx}"), Some(3));
        assert_eq!(counts_cycles("rdtsc", "={dx},={ax}"), None);
        assert_eq!(counts_cycles("rdtsc; shl $0", "={ax},={dx}"), None);
        assert_eq!(counts_cycles("lfence", "={ax},={dx}"), None);
    }

    #[test]
    fn everything_else_is_not_for_us() {
        for (text, constraints) in [
            // Without the prefix it is no atomic update.
            ("not qword ptr [${0:q}]", "r"),
            // The old value goes to a register.
            ("lock; xaddl $0, $1", "=r,=*m,0,*m"),
            ("lock xadd dword ptr [${0:q}], ${1:e}", "r,r"),
            ("lock cmpxchg dword ptr [${0:q}], ${1:e}", "r,r"),
            // Two of them.
            ("lock incl $0; lock incl $1", "=*m,=*m"),
            // A register is no place in memory.
            ("lock incl $0", "r"),
            ("lock; addl $$0,0(%rsp)", ""),
            ("mfence", ""),
        ] {
            assert_eq!(parts(text, constraints), None, "{text}");
        }
    }
}
