//! Inline assembly that compares and exchanges two words at once (`lock; cmpxchg16b %0; setz %1`), and that tests and changes one bit
//! (`lock; btsl %2, %0; setc %1`), in AT&T's notation.

use super::code::Code;
use super::exchange::{Operand, operands, tied};
use super::exec::Done;
use super::machine::Machine;
use crate::fault::{Stop, Unsupported};
use crate::models::Access;
use crate::op::{Op, Order, RmwKind};
use raddle_ir::ValueId;
use raddle_ir::inst::Call;
use smallvec::SmallVec;

/// Where a flag goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flag {
    /// To one of the results, as 1, or as all bits if `sbb` made it.
    Result {
        is_spread: bool,
    },
    /// To a byte at the address that this argument is.
    Memory(usize),
    Nowhere,
}

/// What is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// Two arguments.
    Arguments(usize, usize),
    /// Two words behind the address that this argument is.
    Behind(usize),
}

/// What a result of `cmpxchg16b` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Low,
    High,
    WasEqual,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Double {
    address: usize,
    expected: Expected,
    new: (usize, usize),
    flag: Flag,
    results: SmallVec<[Outcome; 3]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bit {
    Number(u64),
    Argument(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct BitTest {
    kind: RmwKind,
    size: u8,
    address: usize,
    bit: Bit,
    flag: Flag,
}

impl Machine<'_> {
    /// Runs such assembly. None if the text is something else.
    pub(super) fn double_or_bit(
        &mut self,
        code: &Code,
        call: &Call,
        result: Option<ValueId>,
        (text, constraints): (&str, &str),
    ) -> Result<Option<Done>, Stop> {
        let statements = statements(text);
        let operands = operands(constraints);
        if let Some(double) = parse_double(&statements, &operands) {
            return self
                .exchange_two(code, call, result, (&double, text))
                .map(Some);
        }
        if let Some(test) = parse_bit(&statements, &operands) {
            return self.test_bit(code, call, result, (&test, text)).map(Some);
        }
        Ok(None)
    }

    /// All of it is one atomic block. What is expected may be in memory: it is read there, too.
    fn exchange_two(
        &mut self,
        code: &Code,
        call: &Call,
        result: Option<ValueId>,
        (double, text): (&Double, &str),
    ) -> Result<Done, Stop> {
        let unknown = || Stop::Unsupported(Unsupported::InlineAsm { text: text.into() });
        let argument = |index: usize| call.args.get(index).copied().ok_or_else(unknown);
        let address = self.scalar(code, argument(double.address)?)?;
        if self.is_private(address, 16)? {
            return Err(unknown());
        }
        let new = [
            self.scalar(code, argument(double.new.0)?)?,
            self.scalar(code, argument(double.new.1)?)?,
        ];
        let flag = match double.flag {
            Flag::Memory(index) => Some(self.scalar(code, argument(index)?)?),
            _ => None,
        };
        // The log has the beginning of the block, what was expected if that is read, and what was found.
        let log = self.frame().log.clone();
        let (looked, behind, expected) = match double.expected {
            Expected::Arguments(low, high) => {
                let low = self.scalar(code, argument(low)?)?;
                let high = self.scalar(code, argument(high)?)?;
                (0, 0, [low, high])
            }
            Expected::Behind(index) => {
                let behind = self.scalar(code, argument(index)?)?;
                let at = |index: usize| log.get(1 + index).copied().unwrap_or(0);
                (2, behind, [at(0), at(1)])
            }
        };
        let at = |index: usize| log.get(1 + looked + index).copied().unwrap_or(0);
        let old = [at(0), at(1)];
        let is_known = log.len() > looked + 2;
        let was_equal = is_known && old == expected;
        let stores = if is_known && !was_equal { 0 } else { 2 };
        let total = looked + 2 + stores + usize::from(flag.is_some());
        let order = Order::SeqCst;
        let step = self.block_step(true, total, |machine, index| {
            let word = |index: usize| 8 * index as u64;
            if index < looked {
                return machine.load_piece(behind.wrapping_add(word(index)), 8, Order::Plain);
            }
            let index = index - looked;
            if index < 2 {
                return machine.load_piece(address.wrapping_add(word(index)), 8, order);
            }
            let index = index - 2;
            if index < stores {
                let at = address.wrapping_add(word(index));
                return machine.store_piece(at, 8, new[index], order);
            }
            machine.store_piece(flag.unwrap_or(0), 1, u64::from(was_equal), Order::Plain)
        })?;
        if let Some(op) = step {
            return Ok(Done::Visible(op));
        }
        let values: SmallVec<[u64; 3]> = (double.results.iter())
            .map(|outcome| match outcome {
                Outcome::Low => old[0],
                Outcome::High => old[1],
                Outcome::WasEqual => u64::from(was_equal),
            })
            .collect();
        self.set_result(code, result, &values);
        Ok(Done::Next)
    }

    fn test_bit(
        &mut self,
        code: &Code,
        call: &Call,
        result: Option<ValueId>,
        (test, text): (&BitTest, &str),
    ) -> Result<Done, Stop> {
        let unknown = || Stop::Unsupported(Unsupported::InlineAsm { text: text.into() });
        let argument = |index: usize| call.args.get(index).copied().ok_or_else(unknown);
        let fence = Op::Fence {
            order: Order::SeqCst,
        };
        let log = self.frame().log.clone();
        if log.is_empty() {
            return Ok(Done::Visible(fence));
        }
        let bits = u64::from(test.size) * 8;
        let address = self.scalar(code, argument(test.address)?)?;
        // A number in the text is one of the word's bits; one in a register counts on into the words behind it.
        let (address, bit) = match test.bit {
            Bit::Number(bit) => (address, bit % bits),
            Bit::Argument(index) => {
                let bit = self.scalar(code, argument(index)?)? & 0xFFFF_FFFF;
                let words = bit / bits * u64::from(test.size);
                (address.wrapping_add(words), bit % bits)
            }
        };
        let operand = match test.kind {
            RmwKind::And => !(1 << bit) & crate::op::mask(test.size),
            _ => 1 << bit,
        };
        let old = match log.get(1) {
            Some(&old) => old,
            None => match self.rmw_piece(address, test.size, test.kind, operand, Order::SeqCst)? {
                Access::Done(old) => {
                    self.frame().log.push(old);
                    old
                }
                Access::Visible(op) => return Ok(Done::Visible(op)),
            },
        };
        let done = self.frame().log.len();
        // One that changes nothing may be the end of an iteration that only waits, which ends with an access.
        let is_fenced = test.kind.apply(old, operand, test.size) != old;
        if is_fenced && done == 2 {
            return Ok(Done::Visible(fence));
        }
        let was_set = old >> bit & 1;
        match test.flag {
            Flag::Nowhere => {}
            Flag::Result { is_spread: true } => {
                self.set_result(code, result, &[was_set.wrapping_neg() & 0xFFFF_FFFF]);
            }
            Flag::Result { is_spread: false } => self.set_result(code, result, &[was_set]),
            Flag::Memory(index) if done <= 2 + usize::from(is_fenced) => {
                let place = self.scalar(code, argument(index)?)?;
                if let Access::Visible(op) = self.store_piece(place, 1, was_set, Order::Plain)? {
                    return Ok(Done::Visible(op));
                }
            }
            Flag::Memory(_) => {}
        }
        Ok(Done::Next)
    }
}

/// The statements of a text, with the prefix `lock` as one of its own.
fn statements(text: &str) -> Vec<String> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for statement in lower.split([';', '\n']).map(str::trim) {
        match statement.strip_prefix("lock ") {
            Some(rest) => found.extend(["lock".to_owned(), rest.trim().to_owned()]),
            None if statement.is_empty() => {}
            None => found.push(statement.to_owned()),
        }
    }
    found
}

/// The operand that a text names.
fn named<'t>(operands: &[Operand<'t>], text: &str) -> Option<Operand<'t>> {
    operands
        .get(super::assembly::operand(text.trim())?)
        .copied()
}

/// The argument that is the address: a place in memory, or what is behind a register.
fn address_of(operands: &[Operand<'_>], text: &str) -> Option<usize> {
    let text = text.trim();
    match text.strip_prefix('(') {
        Some(inside) => match named(operands, inside.strip_suffix(')')?)? {
            Operand::Input(argument, _) => Some(argument),
            _ => None,
        },
        None => match named(operands, text)? {
            Operand::Memory(argument) => Some(argument),
            _ => None,
        },
    }
}

/// What a certain register holds before: an argument.
fn held_by(operands: &[Operand<'_>], register: &str) -> Option<usize> {
    operands.iter().find_map(|&it| match it {
        Operand::Input(argument, constraint) if constraint == register => Some(argument),
        Operand::Result(result, constraint) if constraint == register => tied(operands, result),
        _ => None,
    })
}

/// Where a flag goes that `set` and a condition, or a result of its own, tell; and which result that is.
fn flag_of<'t>(
    operands: &[Operand<'t>],
    statements: &[String],
    names: &[&str],
    conditions: &[&str],
) -> Option<(Flag, Option<Operand<'t>>)> {
    match statements {
        [] => {
            let is_flag = |it: &&Operand<'_>| matches!(it, Operand::Result(_, constraint) if conditions.contains(constraint));
            Some(match operands.iter().find(is_flag) {
                Some(&result) => (Flag::Result { is_spread: false }, Some(result)),
                None => (Flag::Nowhere, None),
            })
        }
        [one] => {
            let (name, place) = one.split_once([' ', '\t'])?;
            let is_spread = name.starts_with("sbb") && conditions.contains(&"{@ccc}");
            let place = match is_spread {
                // A register is taken from itself.
                true => {
                    let (from, to) = place.split_once(',')?;
                    (from.trim() == to.trim()).then_some(to)?
                }
                false => names.contains(&name).then_some(place)?,
            };
            match named(operands, place)? {
                Operand::Memory(argument) if !is_spread => Some((Flag::Memory(argument), None)),
                result @ Operand::Result(..) => Some((Flag::Result { is_spread }, Some(result))),
                _ => None,
            }
        }
        _ => None,
    }
}

fn parse_double(statements: &[String], operands: &[Operand<'_>]) -> Option<Double> {
    let lock = statements.iter().position(|it| it == "lock")?;
    let (moves, rest) = (&statements[..lock], &statements[lock + 1..]);
    let (first, rest) = rest.split_first()?;
    let (name, place) = first.split_once([' ', '\t'])?;
    if name != "cmpxchg16b" {
        return None;
    }
    let expected = match moves {
        [] => Expected::Arguments(held_by(operands, "{ax}")?, held_by(operands, "{dx}")?),
        [low, high] => {
            let from = |text: &String, offsets: [&str; 2], register: &str| {
                let arguments = text.strip_prefix("movq")?.trim();
                let (from, to) = arguments.rsplit_once(',')?;
                let from = offsets.iter().find_map(|it| from.trim().strip_prefix(it))?;
                let argument = address_of(operands, from)?;
                (to.trim() == register).then_some(argument)
            };
            let argument = from(low, ["0", ""], "%rax")?;
            let is_same = from(high, ["8", "8"], "%rdx")? == argument;
            is_same.then_some(Expected::Behind(argument))?
        }
        _ => return None,
    };
    let (flag, told) = flag_of(operands, rest, &["setz", "sete"], &["{@ccz}", "{@cce}"])?;
    let mut results = SmallVec::new();
    for &it in operands {
        if let Operand::Result(_, constraint) = it {
            results.push(match constraint {
                _ if told == Some(it) => Outcome::WasEqual,
                "{ax}" => Outcome::Low,
                "{dx}" => Outcome::High,
                _ => return None,
            });
        }
    }
    Some(Double {
        address: address_of(operands, place)?,
        expected,
        new: (held_by(operands, "{bx}")?, held_by(operands, "{cx}")?),
        flag,
        results,
    })
}

fn parse_bit(statements: &[String], operands: &[Operand<'_>]) -> Option<BitTest> {
    let (lock, rest) = statements.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (name, arguments) = first.split_once([' ', '\t'])?;
    if lock != "lock" {
        return None;
    }
    let (kind, size) = match (name.get(..3)?, name.get(3..)?) {
        ("bts", size) => (RmwKind::Or, size),
        ("btr", size) => (RmwKind::And, size),
        ("btc", size) => (RmwKind::Xor, size),
        _ => return None,
    };
    let size = match size {
        "q" => 8,
        "l" => 4,
        "w" => 2,
        _ => return None,
    };
    let (bit, place) = arguments.split_once(',')?;
    let bit = match bit.trim().strip_prefix("$$") {
        Some(digits) => Bit::Number(digits.parse().ok()?),
        None => match named(operands, bit)? {
            Operand::Input(argument, _) => Bit::Argument(argument),
            _ => return None,
        },
    };
    let (flag, told) = flag_of(operands, rest, &["setc", "setb"], &["{@ccc}", "{@ccb}"])?;
    let is_result = |it: &&Operand<'_>| matches!(it, Operand::Result(..));
    let results = operands.iter().filter(is_result).count();
    (results == usize::from(told.is_some())).then_some(BitTest {
        kind,
        size,
        address: address_of(operands, place)?,
        bit,
        flag,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(text: &str, constraints: &str) -> Option<Double> {
        parse_double(&statements(text), &operands(constraints))
    }

    fn bit(text: &str, constraints: &str) -> Option<BitTest> {
        parse_bit(&statements(text), &operands(constraints))
    }

    #[test]
    fn two_words_are_exchanged_in_the_ways_that_libraries_write_it() {
        let in_registers = double(
            "lock; cmpxchg16b $0; setz $1",
            "=*m,=q,={ax},={dx},{bx},{cx},2,3,*m,~{memory}",
        )
        .expect("an exchange");
        assert_eq!(in_registers.expected, Expected::Arguments(3, 4));
        assert_eq!(in_registers.new, (1, 2));
        let [flag, low, high] = in_registers.results[..] else {
            panic!("three results: {in_registers:?}")
        };
        assert_eq!(
            (flag, low, high),
            (Outcome::WasEqual, Outcome::Low, Outcome::High)
        );
        let behind = double(
            "movq 0($4), %rax;movq 8($4), %rdx;lock cmpxchg16b $0; setz $1",
            "=*m,=q,{bx},{cx},q,*m,~{memory}",
        )
        .expect("an exchange");
        assert_eq!(behind.expected, Expected::Behind(3));
        assert_eq!(behind.results[..], [Outcome::WasEqual]);
        let flagged = double(
            "lock\n\tcmpxchg16b $1",
            "={@ccz},=*m,{ax},{dx},{bx},{cx},*m,~{memory}",
        );
        assert!(flagged.is_some());
        for (text, constraints) in [
            // Without the prefix, without what is to be stored, and with something else behind it.
            ("cmpxchg16b $0; setz $1", "=*m,=q,{ax},{dx},{bx},{cx},*m"),
            ("lock; cmpxchg16b $0; setz $1", "=*m,=q,{ax},{dx},*m"),
            (
                "lock; cmpxchg16b $0; setc $1",
                "=*m,=q,{ax},{dx},{bx},{cx},*m",
            ),
            ("lock; cmpxchg16b $0; nop", "=*m,{ax},{dx},{bx},{cx},*m"),
        ] {
            assert_eq!(double(text, constraints), None, "{text}");
        }
    }

    #[test]
    fn bits_are_tested_in_the_ways_that_libraries_write_it() {
        let set = bit("lock; btsl $2, $0; setc $1", "=*m,=q,q,*m,~{memory}").expect("a test");
        assert_eq!(
            (set.kind, set.size, set.bit),
            (RmwKind::Or, 4, Bit::Argument(1))
        );
        assert_eq!(set.flag, Flag::Result { is_spread: false });
        let reset = bit("lock btrq $$3, $0\n\tsbbl $1,$1", "=*m,=r,*m").expect("a test");
        assert_eq!((reset.kind, reset.bit), (RmwKind::And, Bit::Number(3)));
        assert_eq!(reset.flag, Flag::Result { is_spread: true });
        let stored = bit("lock; btcl $$0, $0; setc $1", "=*m,=*qm,*m").expect("a test");
        assert_eq!(stored.flag, Flag::Memory(1));
        assert!(bit("lock; btsl $$1, $0", "=*m,*m").is_some());
        for (text, constraints) in [
            ("btsl $2, $0; setc $1", "=*m,=q,q,*m"),
            ("lock; btl $2, $0; setc $1", "=*m,=q,q,*m"),
            ("lock; btsl $2, $0; setz $1", "=*m,=q,q,*m"),
            ("lock; btsl $2, $0", "=*m,=q,q,*m"),
        ] {
            assert_eq!(bit(text, constraints), None, "{text}");
        }
    }
}
