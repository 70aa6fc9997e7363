//! Inline assembly that updates memory and leaves something in registers, in AT&T's notation: `lock; xaddl %0, %1`, `xchgl %0, %1`,
//! `lock; cmpxchgl %2, %1`, with or without `sete %0` behind it; and moves between memory and a register, which on x86 acquire and release.
//! So old C makes its atomics on x86.

use super::code::Code;
use super::exec::Done;
use super::machine::Machine;
use crate::fault::{Stop, Unsupported};
use crate::models::Access;
use crate::op::{Op, Order, RmwKind, mask};
use raddle_ir::inst::Call;
use raddle_ir::{Type, ValueId};
use smallvec::SmallVec;

/// An operand of the text, as its constraint says. Outputs in registers are no arguments of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand<'t> {
    /// Which of the results, and the register if it is a certain one.
    Result(usize, &'t str),
    /// The argument that is the address.
    Memory(usize),
    /// The argument, and its register or the number of the result that it shares one with.
    Input(usize, &'t str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Update {
    /// A mere read; there is no operand.
    Load,
    /// A mere write.
    Store,
    Add,
    Exchange,
    /// With the argument that is expected.
    Compare(usize),
}

/// What the text does.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Exchange {
    update: Update,
    /// None: that of the result.
    size: Option<u8>,
    /// The arguments that are the address, and what is added or stored.
    address: usize,
    operand: usize,
    /// What each result is.
    results: SmallVec<[Outcome; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Old,
    /// 1 if what was expected was there.
    WasEqual,
}

impl Machine<'_> {
    /// Runs such an update. None if the text is something else.
    pub(super) fn exchange(
        &mut self,
        code: &Code,
        call: &Call,
        result: Option<ValueId>,
        (text, constraints): (&str, &str),
    ) -> Result<Option<Done>, Stop> {
        let Some(exchange) = parse(text, constraints) else {
            return Ok(None);
        };
        let unknown = || Stop::Unsupported(Unsupported::InlineAsm { text: text.into() });
        // An update orders whatever comes before and after it, which an atomic one does not do in every memory model.
        let is_move = matches!(exchange.update, Update::Load | Update::Store);
        let order = Order::SeqCst;
        if !is_move && self.frame().log.is_empty() {
            return Ok(Some(Done::Visible(Op::Fence { order })));
        }
        let size = match exchange.size {
            Some(size) => size,
            None => {
                let module = &self.world.module;
                let Type::Function { ret, .. } = *module.types.get(call.fn_type) else {
                    return Err(unknown());
                };
                let bytes = module.types.store_size(ret).map_err(|_| unknown())?;
                match bytes {
                    1 | 2 | 4 | 8 if exchange.results[..] == [Outcome::Old] => bytes as u8,
                    _ => return Err(unknown()),
                }
            }
        };
        let argument = |index: usize| call.args.get(index).copied().ok_or_else(unknown);
        let address = self.scalar(code, argument(exchange.address)?)?;
        let operand = match exchange.update {
            Update::Load => 0,
            _ => self.scalar(code, argument(exchange.operand)?)? & mask(size),
        };
        let expected = match exchange.update {
            Update::Compare(expected) => self.scalar(code, argument(expected)?)? & mask(size),
            _ => 0,
        };
        let old = match self.frame().log.get(usize::from(!is_move)).copied() {
            Some(old) => old,
            None => {
                let access = match exchange.update {
                    Update::Load => self.load_piece(address, size, Order::Acquire)?,
                    Update::Store => self.store_piece(address, size, operand, Order::Release)?,
                    Update::Add => self.rmw_piece(address, size, RmwKind::Add, operand, order)?,
                    Update::Exchange => {
                        self.rmw_piece(address, size, RmwKind::Exchange, operand, order)?
                    }
                    Update::Compare(_) => {
                        self.cas_piece(address, size, (expected, operand), (order, order))?
                    }
                };
                match access {
                    Access::Done(old) => old,
                    Access::Visible(op) => return Ok(Some(Done::Visible(op))),
                }
            }
        };
        // One that changes nothing may be the end of an iteration that only waits, which ends with an access.
        let is_changed = match exchange.update {
            Update::Load | Update::Store => false,
            Update::Add => operand != 0,
            Update::Exchange => old != operand,
            Update::Compare(_) => old == expected && operand != expected,
        };
        if is_changed && self.frame().log.len() == 2 {
            return Ok(Some(Done::Visible(Op::Fence { order })));
        }
        let values: SmallVec<[u64; 2]> = (exchange.results.iter())
            .map(|outcome| match outcome {
                Outcome::Old => old,
                Outcome::WasEqual => u64::from(old == expected),
            })
            .collect();
        self.set_result(code, result, &values);
        Ok(Some(Done::Next))
    }
}

pub(super) fn operands(constraints: &str) -> Vec<Operand<'_>> {
    let (mut results, mut arguments) = (0, 0);
    let count = |counter: &mut usize| {
        *counter += 1;
        *counter - 1
    };
    constraints
        .split(',')
        .filter(|constraint| !constraint.starts_with('~'))
        .map(|constraint| match constraint.strip_prefix('=') {
            _ if constraint.contains('*') => Operand::Memory(count(&mut arguments)),
            Some(output) => Operand::Result(count(&mut results), output.trim_start_matches('&')),
            None => Operand::Input(count(&mut arguments), constraint),
        })
        .collect()
}

fn parse(text: &str, constraints: &str) -> Option<Exchange> {
    let operands = operands(constraints);
    let lower = text.to_ascii_lowercase();
    let mut statements: SmallVec<[&str; 4]> = (lower.split([';', '\n']))
        .map(str::trim)
        .filter(|statement| !statement.is_empty())
        .collect();
    let mut is_locked = false;
    // The prefix may stand alone.
    if statements.first() == Some(&"lock") {
        statements.remove(0);
        is_locked = true;
    } else if let Some(rest) = statements.first()?.strip_prefix("lock ") {
        statements[0] = rest.trim();
        is_locked = true;
    }
    let (first, rest) = statements.split_first()?;
    let (name, arguments) = first.split_once([' ', '\t'])?;
    let (one, other) = arguments.split_once(',')?;
    let of = |text: &str| {
        operands
            .get(super::assembly::operand(text.trim())?)
            .copied()
    };
    let (one, other) = (of(one)?, of(other)?);
    let (name, size) = sized(name)?;
    if name == "mov" && !is_locked && rest.is_empty() {
        return moved((one, other), size, &operands);
    }
    let (register, address) = match (one, other) {
        (register, Operand::Memory(address)) => (register, address),
        // An exchange has no direction.
        (Operand::Memory(address), register) if name == "xchg" => (register, address),
        _ => return None,
    };
    // What a register holds before: the argument itself, or the one that shares the register of a result.
    let input = |operand: Operand<'_>| match operand {
        Operand::Input(argument, _) => Some(argument),
        Operand::Result(result, _) => tied(&operands, result),
        Operand::Memory(_) => None,
    };
    let operand = input(register)?;
    let accumulator = operands.iter().find_map(|&it| match it {
        Operand::Input(argument, "{ax}" | "{eax}" | "{rax}") => Some(argument),
        Operand::Result(result, "{ax}" | "{eax}" | "{rax}") => tied(&operands, result),
        _ => None,
    });
    let update = match name {
        "xadd" if is_locked => Update::Add,
        "xchg" => Update::Exchange,
        "cmpxchg" if is_locked => Update::Compare(accumulator?),
        _ => return None,
    };
    let flag = match rest {
        [] => None,
        [set] => {
            let place = set
                .strip_prefix("sete ")
                .or_else(|| set.strip_prefix("setz "))?;
            Some(of(place)?)
        }
        _ => return None,
    };
    if flag.is_some() && !matches!(update, Update::Compare(_)) {
        return None;
    }
    let mut results = SmallVec::new();
    for &it in operands.iter() {
        let Operand::Result(_, constraint) = it else {
            continue;
        };
        let holds_old = match update {
            Update::Compare(_) => ["{ax}", "{eax}", "{rax}"].contains(&constraint),
            _ => it == register,
        };
        // The flag may be a result itself.
        let is_flag =
            matches!(update, Update::Compare(_)) && ["{@ccz}", "{@cce}"].contains(&constraint);
        results.push(match () {
            () if flag == Some(it) || is_flag => Outcome::WasEqual,
            () if holds_old => Outcome::Old,
            () => return None,
        });
    }
    // Of several results each has its own size, and the place in memory only one.
    if size.is_none() && results.len() != 1 {
        return None;
    }
    Some(Exchange {
        update,
        size,
        address,
        operand,
        results,
    })
}

/// A move from memory to the only result, or of an argument to memory.
fn moved(
    (from, to): (Operand<'_>, Operand<'_>),
    size: Option<u8>,
    operands: &[Operand<'_>],
) -> Option<Exchange> {
    let is_result = |it: &&Operand<'_>| matches!(it, Operand::Result(..));
    let results = operands.iter().filter(is_result).count();
    let (update, address, operand, results) = match (from, to) {
        (Operand::Memory(address), Operand::Result(..)) if results == 1 => (
            Update::Load,
            address,
            0,
            SmallVec::from_slice(&[Outcome::Old]),
        ),
        (Operand::Input(argument, _), Operand::Memory(address)) if results == 0 => {
            (Update::Store, address, argument, SmallVec::new())
        }
        _ => return None,
    };
    Some(Exchange {
        update,
        // A store has no result to tell the size by.
        size: Some(size?),
        address,
        operand,
        results,
    })
}

/// The argument that shares the register of a result.
pub(super) fn tied(operands: &[Operand<'_>], result: usize) -> Option<usize> {
    let position = (operands.iter())
        .position(|it| matches!(it, Operand::Result(number, _) if *number == result))?
        .to_string();
    operands.iter().find_map(|it| match *it {
        Operand::Input(argument, constraint) if constraint == position => Some(argument),
        _ => None,
    })
}

/// The name without the letter that tells the size.
fn sized(name: &str) -> Option<(&str, Option<u8>)> {
    const KNOWN: [&str; 4] = ["xadd", "xchg", "cmpxchg", "mov"];
    if KNOWN.contains(&name) {
        return Some((name, None));
    }
    let size = match name.chars().last()? {
        'q' => 8,
        'l' => 4,
        'w' => 2,
        'b' => 1,
        _ => return None,
    };
    let bare = &name[..name.len() - 1];
    KNOWN.contains(&bare).then_some((bare, Some(size)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Old, WasEqual};

    fn parts(text: &str, constraints: &str) -> Option<(Update, usize, usize, Vec<Outcome>)> {
        parse(text, constraints).map(|it| (it.update, it.address, it.operand, it.results.to_vec()))
    }

    #[test]
    fn what_old_atomics_are_made_of_is_known() {
        assert_eq!(
            parts("lock; xaddl $0, $1", "=r,=*m,0,*m,~{memory}"),
            Some((Update::Add, 0, 1, vec![Old]))
        );
        assert_eq!(
            parts("xchgl $0, $1", "=r,*m,0,~{memory}"),
            Some((Update::Exchange, 0, 1, vec![Old]))
        );
        assert_eq!(
            parts("xchg $1, $0", "=r,=*m,0,*m"),
            Some((Update::Exchange, 0, 1, vec![Old]))
        );
        assert_eq!(
            parts("lock; cmpxchgl $2, $1", "={ax},=*m,r,0,*m,~{memory}"),
            Some((Update::Compare(2), 0, 1, vec![Old]))
        );
        assert_eq!(
            parts("lock cmpxchgl $2, $1; sete $0", "=q,=*m,r,{ax},*m"),
            Some((Update::Compare(2), 0, 1, vec![WasEqual]))
        );
        assert_eq!(
            parts("lock\n\tcmpxchgq $1,$2", "={ax},r,*m,0"),
            Some((Update::Compare(2), 1, 0, vec![Old]))
        );
        assert_eq!(
            parts("lock cmpxchgl $3, $2\n\tsete $1", "={ax},=q,=*m,r,0,*m"),
            Some((Update::Compare(2), 0, 1, vec![Old, WasEqual]))
        );
    }

    #[test]
    fn flags_may_be_results_and_moves_are_accesses() {
        assert_eq!(
            parts("lock cmpxchgq $3, $0;", "=*m,={@ccz},={ax},q,*m,2,~{cc}"),
            Some((Update::Compare(3), 0, 1, vec![WasEqual, Old]))
        );
        assert_eq!(
            parts("movl $1, $0", "=q,*m,~{memory}"),
            Some((Update::Load, 0, 0, vec![Old]))
        );
        assert_eq!(
            parts("movq $1, $0", "=*m,Zq,~{memory}"),
            Some((Update::Store, 0, 1, vec![]))
        );
        assert_eq!(parts("movl $1, $0", "=r,r"), None);
    }

    #[test]
    fn everything_else_is_not_for_us() {
        for (text, constraints) in [
            // Without the prefix these are not atomic.
            ("xaddl $0, $1", "=r,=*m,0,*m"),
            ("cmpxchgl $2, $1", "={ax},=*m,r,0,*m"),
            // Between registers.
            ("xchgl $0, $1", "=r,=r,0,1"),
            // Nobody says what is expected.
            ("lock; cmpxchgl $2, $1", "=r,=*m,r,*m"),
            // The flag of an addition.
            ("lock; xaddl $0, $1; sete $2", "=r,=*m,=q,0,*m"),
            ("lock; cmpxchg16b $1", "=q,=*m,*m"),
            ("lock; xaddl $0, $1; nop; nop", "=r,=*m,0,*m"),
            ("", ""),
        ] {
            assert_eq!(parts(text, constraints), None, "{text}");
        }
    }
}
