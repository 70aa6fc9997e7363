//! Strings, byte by byte as the interpreter goes through them.
//!
//! Where it depends on the contents how far a function goes, there is one state for each end, and they meet again: the same
//! as if the loop were part of the program, but the bound on loops does not count it.

use super::library::Args;
use super::{Encoder, unsupported_call};
use crate::state::State;
use crate::value::Sym;
use raddle_order::bits::Bit;
use raddle_program::{Order, Stop};

/// No function goes further than this.
const LONGEST: u64 = 1024;

/// The ends that a function has come to, with what it returns there.
struct Ends {
    states: Vec<State>,
    /// The condition that it did not go on, and the result.
    results: Vec<(Bit, Sym)>,
}

impl Encoder<'_> {
    /// Functions on strings, with what they return; none if `name` is none of them.
    pub(super) fn text(
        &mut self,
        state: &mut State,
        name: &str,
        args: &Args,
    ) -> Result<Option<Sym>, Stop> {
        let no_limit = Sym::constant(64, u64::MAX);
        Ok(Some(match name {
            "strlen" => self.scan(state, name, &args[0], &no_limit)?,
            "strnlen" => self.scan(state, name, &args[0], &args[1])?,
            "strcmp" | "strcoll" => self.compare_text(state, name, args, &no_limit)?,
            "strncmp" => self.compare_text(state, name, args, &args[2])?,
            "memcmp" | "bcmp" => self.compare_blocks(state, name, args)?,
            "strchr" | "index" => self.find_byte(state, name, args, None)?,
            "memchr" => self.find_byte(state, name, args, Some(&args[2]))?,
            "strcpy" | "__strcpy_chk" => {
                self.copy_text(state, name, &args[0], &args[1], &no_limit)?;
                args[0].clone()
            }
            "stpcpy" | "__stpcpy_chk" => {
                let length = self.copy_text(state, name, &args[0], &args[1], &no_limit)?;
                self.plus(&args[0], &length)
            }
            "strcat" | "__strcat_chk" | "strncat" | "__strncat_chk" => {
                let limit = match name {
                    "strncat" | "__strncat_chk" => &args[2],
                    _ => &no_limit,
                };
                let start = self.scan(state, name, &args[0], &no_limit)?;
                let end = self.plus(&args[0], &start);
                self.copy_text(state, name, &end, &args[1], limit)?;
                args[0].clone()
            }
            "strdup" | "__strdup" => {
                let length = self.scan(state, name, &args[0], &no_limit)?;
                let size = self.plus(&length, &Sym::constant(64, 1));
                let block = self.allocate(state, name, &size, super::sizes::MALLOC_ALIGN)?;
                self.copy_text(state, name, &block, &args[0], &length)?;
                block
            }
            _ => return Ok(None),
        }))
    }

    /// Calls `round` for one position after the other, with the state that has come there, until all of it has ended.
    fn walk(
        &mut self,
        state: &mut State,
        name: &str,
        mut round: impl FnMut(&mut Self, &mut State, u64, &mut Ends) -> Result<(), Stop>,
    ) -> Result<Sym, Stop> {
        let mut ends = Ends {
            states: Vec::new(),
            results: Vec::new(),
        };
        let mut now = state.clone();
        for at in 0.. {
            if at == LONGEST {
                self.stopped(&now, unsupported_call(name, "it goes that far"))?;
                break;
            }
            round(self, &mut now, at, &mut ends)?;
            if now.path.is_impossible() {
                break;
            }
        }
        let Some((_, last)) = ends.results.pop() else {
            state.path.push(&mut self.out.bits, Bit::FALSE);
            return Ok(Sym::zero(64));
        };
        let Some(met) = self.meet(ends.states)? else {
            state.path.push(&mut self.out.bits, Bit::FALSE);
            return Ok(Sym::zero(64));
        };
        *state = met;
        let results = ends.results.into_iter().rev();
        Ok(results.fold(last, |rest, (ended, result)| {
            Sym::ite(&mut self.out.bits, ended, &result, &rest)
        }))
    }

    /// The state ends here if the condition holds. Returns the one that does, if any.
    fn end<'e>(
        &mut self,
        now: &mut State,
        condition: Bit,
        result: Sym,
        ends: &'e mut Ends,
    ) -> Option<&'e mut State> {
        let mut ended = now.clone();
        ended.path.push(&mut self.out.bits, condition);
        now.path.push(&mut self.out.bits, !condition);
        if ended.path.is_impossible() {
            return None;
        }
        ends.results.push((condition, result));
        ends.states.push(ended);
        ends.states.last_mut()
    }

    fn byte(&mut self, state: &mut State, base: &Sym, at: u64) -> Result<Sym, Stop> {
        let at = self.plus(base, &Sym::constant(64, at));
        self.load(state, &at, 1, Order::Plain)
    }

    fn put_byte(&mut self, state: &mut State, base: &Sym, at: u64, byte: &Sym) -> Result<(), Stop> {
        let at = self.plus(base, &Sym::constant(64, at));
        self.store(state, &at, 1, byte, Order::Plain)
    }

    /// Has the limit been reached?
    fn is_limit(&mut self, limit: &Sym, at: u64) -> Bit {
        limit.is(&mut self.out.bits, at)
    }

    pub(super) fn scan(
        &mut self,
        state: &mut State,
        name: &str,
        text: &Sym,
        limit: &Sym,
    ) -> Result<Sym, Stop> {
        self.walk(state, name, |encoder, now, at, ends| {
            let length = Sym::constant(64, at);
            let full = encoder.is_limit(limit, at);
            encoder.end(now, full, length.clone(), ends);
            if now.path.is_impossible() {
                return Ok(());
            }
            let byte = encoder.byte(now, text, at)?;
            let ended = encoder.out.bits.is_zero(&byte.word);
            encoder.end(now, ended, length, ends);
            Ok(())
        })
    }

    /// Copies a string and its end. Returns its length.
    fn copy_text(
        &mut self,
        state: &mut State,
        name: &str,
        to: &Sym,
        from: &Sym,
        limit: &Sym,
    ) -> Result<Sym, Stop> {
        let nothing = Sym::zero(8);
        self.walk(state, name, |encoder, now, at, ends| {
            let length = Sym::constant(64, at);
            let full = encoder.is_limit(limit, at);
            if let Some(ended) = encoder.end(now, full, length.clone(), ends) {
                encoder.put_byte(ended, to, at, &nothing)?;
            }
            if now.path.is_impossible() {
                return Ok(());
            }
            let byte = encoder.byte(now, from, at)?;
            let is_last = encoder.out.bits.is_zero(&byte.word);
            if let Some(ended) = encoder.end(now, is_last, length, ends) {
                encoder.put_byte(ended, to, at, &nothing)?;
            }
            if now.path.is_impossible() {
                return Ok(());
            }
            encoder.put_byte(now, to, at, &byte)
        })
    }

    fn difference(&mut self, left: &Sym, right: &Sym) -> Sym {
        let (left, right) = (left.word.zext(32), right.word.zext(32));
        Sym::of(self.out.bits.sub(&left, &right))
    }

    fn compare_text(
        &mut self,
        state: &mut State,
        name: &str,
        args: &Args,
        limit: &Sym,
    ) -> Result<Sym, Stop> {
        self.walk(state, name, |encoder, now, at, ends| {
            let full = encoder.is_limit(limit, at);
            encoder.end(now, full, Sym::zero(32), ends);
            if now.path.is_impossible() {
                return Ok(());
            }
            let left = encoder.byte(now, &args[0], at)?;
            let right = encoder.byte(now, &args[1], at)?;
            let result = encoder.difference(&left, &right);
            let bits = &mut encoder.out.bits;
            let (differ, is_last) = (bits.ne(&left.word, &right.word), bits.is_zero(&left.word));
            let ended = bits.bit_or(differ, is_last);
            encoder.end(now, ended, result, ends);
            Ok(())
        })
    }

    /// Blocks are compared along the fields of what is there.
    fn compare_blocks(&mut self, state: &mut State, name: &str, args: &Args) -> Result<Sym, Stop> {
        let Some(length) = args[2].as_constant() else {
            return Err(unsupported_call(name, "a length that is not known"));
        };
        let mut done = 0;
        self.walk(state, name, |encoder, now, _, ends| {
            if done == length {
                encoder.end(now, Bit::TRUE, Sym::zero(32), ends);
                return Ok(());
            }
            let size = encoder.chunk(now, &[&args[0], &args[1]], done, length - done);
            let offset = Sym::constant(64, done);
            let at = [&args[0], &args[1]].map(|base| encoder.plus(base, &offset));
            let left = encoder.load(now, &at[0], size, Order::Plain)?;
            let right = encoder.load(now, &at[1], size, Order::Plain)?;
            for byte in 0..usize::from(size) {
                let part = |word: &Sym| Sym::of(word.word.extract(byte * 8, byte * 8 + 8));
                let (left, right) = (part(&left), part(&right));
                let result = encoder.difference(&left, &right);
                let differ = encoder.out.bits.ne(&left.word, &right.word);
                encoder.end(now, differ, result, ends);
            }
            done += u64::from(size);
            Ok(())
        })
    }

    /// The address of a byte; without a limit, up to the end of the string.
    fn find_byte(
        &mut self,
        state: &mut State,
        name: &str,
        args: &Args,
        limit: Option<&Sym>,
    ) -> Result<Sym, Stop> {
        let wanted = args[1].word.extract(0, 8);
        self.walk(state, name, |encoder, now, at, ends| {
            if let Some(limit) = limit {
                let full = encoder.is_limit(limit, at);
                encoder.end(now, full, Sym::zero(64), ends);
                if now.path.is_impossible() {
                    return Ok(());
                }
            }
            let byte = encoder.byte(now, &args[0], at)?;
            let here = encoder.plus(&args[0], &Sym::constant(64, at));
            let found = encoder.out.bits.eq(&byte.word, &wanted);
            encoder.end(now, found, here, ends);
            if limit.is_none() {
                let is_last = encoder.out.bits.is_zero(&byte.word);
                encoder.end(now, is_last, Sym::zero(64), ends);
            }
            Ok(())
        })
    }
}
