//! What every thread has for itself, kept like its thread-local variables: `errno`, a clock, values of keys. And attributes,
//! which are ordinary memory.

use super::library::Args;
use super::{Encoder, unsupported_call};
use crate::contents::Contents;
use crate::state::State;
use crate::value::Sym;
use raddle_order::bits::{Bit, Word};
use raddle_program::errno::EINVAL;
use raddle_program::tables::{OFFSET_BIAS, PRIVATE_THREAD};
use raddle_program::{Order, Stop};
use std::rc::Rc;

/// Positions among a thread's variables, above those of the program.
const ERRNO: usize = 0xF_FFFF;
const CLOCK: usize = 0xF_FFFE;
const CLEANUPS: usize = 0xF_FFFD;
const SLEPT: usize = 0xF_FFFC;
const PASSED: usize = 0xF_FFFB;
/// Rust's ids of threads that a thread has made, and what runs at its end: under key 1.
const IDS: usize = 0xF_FFF4;
const GUARD: usize = 0xF_FFF6;
/// How many exceptions are being handled, and on their way: under keys 1 and 2.
const EXCEPTIONS: usize = 0xF_FFF0;
/// Does it not act on being cancelled?
const UNCANCELLED: usize = 0xF_FFEF;
/// Has it waited with a deadline since time last passed by itself?
const WAITED: usize = 0xF_FFEE;
const KEYS: usize = 0xF_F000;
const EXIT_FUNCTIONS: usize = 0xF_E000;
const EXIT_ARGUMENTS: usize = 0xF_D000;
const LOOKED: usize = 0xF_C000;
const WOKEN: usize = 0xF_B000;
/// Values of one kind have this much room.
const KEYS_OF_A_KIND: usize = 0x500;
const MOST_KEYS: u64 = 1024;

/// As the interpreter has it: the second at which every thread's clock starts, and the latest deadline.
const START: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const LATEST: u64 = (u32::MAX as u64) * SECOND;

/// What a thread's stack has unless it asks for something else.
const DEFAULT_STACK: u64 = 8 << 20;
const PAGE: u64 = 4096;

/// The first contents of a variable that the program does not declare.
pub(super) fn contents(position: usize) -> Option<Rc<Contents>> {
    let size = match position {
        ERRNO => 4,
        CLOCK => 8,
        WOKEN.. => 8,
        _ => return None,
    };
    Some(Rc::new(Contents::new(size, None)))
}

impl Encoder<'_> {
    fn variable(state: &mut State, position: usize) -> &mut Rc<Contents> {
        let slot = state.thread_locals.entry(position);
        slot.or_insert_with(|| contents(position).expect("a position of this file"))
    }

    pub(super) fn set_errno(&mut self, state: &mut State, condition: Bit, error: u64) {
        let errno = Rc::make_mut(Self::variable(state, ERRNO));
        let error = Sym::constant(32, error);
        errno.store_if(&mut self.out.bits, condition, (0, 4), &error);
    }

    /// The deadline at an address has passed, if the condition holds: it is looked at, and the thread's clock moves on.
    pub(super) fn pass_deadline(
        &mut self,
        state: &mut State,
        condition: Bit,
        deadline: &Sym,
    ) -> Result<(), Stop> {
        if condition == Bit::FALSE {
            return Ok(());
        }
        let mut late = state.clone();
        late.path.push(&mut self.out.bits, condition);
        if late.path.is_impossible() {
            return Ok(());
        }
        let expected = late.path.guard();
        let word = self.word_size();
        let seconds = self.load(&mut late, deadline, word, Order::Plain)?;
        let rest = self.plus(deadline, &Sym::constant(64, word.into()));
        let rest = self.load(&mut late, &rest, word, Order::Plain)?;
        let (seconds, rest) = (signed_word(&seconds), signed_word(&rest));
        let time = self.nanoseconds(&seconds, &rest);
        if late.path.guard() != expected {
            let bits = &mut self.out.bits;
            let fine = bits.bit_or(!condition, late.path.guard());
            state.path.push(bits, fine);
        }
        let clock = Self::variable(state, CLOCK).load(&mut self.out.bits, 0, 8);
        let bits = &mut self.out.bits;
        let is_later = bits.ult(&clock.word, &time.word);
        let moves = bits.bit_and(condition, is_later);
        let clock = Rc::make_mut(Self::variable(state, CLOCK));
        clock.store_if(bits, moves, (0, 8), &time);
        Ok(())
    }

    /// A time since the start, in nanoseconds. Where it is not known, whoever looks at the clock is refused.
    fn nanoseconds(&mut self, seconds: &Sym, rest: &Sym) -> Sym {
        let (Some(seconds), Some(rest)) = (seconds.as_constant(), rest.as_constant()) else {
            return Sym::of(self.fresh(64));
        };
        let time = seconds.saturating_mul(SECOND).saturating_add(rest);
        let since_start = time.saturating_sub(START * SECOND);
        let since_start = since_start.saturating_add(1).min(LATEST);
        Sym::constant(64, since_start)
    }

    /// The next thing that the interpreter chooses, in this thread.
    pub(super) fn note_choice(&mut self, state: &State, word: Word) {
        let choice = (state.path.guard(), vec![word]);
        self.out.threads[self.thread].choices.push(choice);
    }

    /// Functions of this file, with what they return; none if `name` is none of them.
    pub(super) fn system(
        &mut self,
        state: &mut State,
        name: &str,
        args: &Args,
    ) -> Result<Option<Sym>, Stop> {
        let zero = Sym::zero(64);
        let store = |encoder: &mut Self, state: &mut State, at: &Sym, offset, size: u8, value| {
            let at = encoder.plus(at, &Sym::constant(64, offset));
            let value = Sym::constant(u32::from(size) * 8, value);
            encoder.store(state, &at, size, &value, Order::Plain)
        };
        Ok(Some(match name {
            "__errno_location" | "__error" => errno(),
            "pthread_attr_init" => {
                store(self, state, &args[0], 0, 8, 0)?;
                store(self, state, &args[0], 8, 8, DEFAULT_STACK)?;
                zero
            }
            "pthread_getattr_np" => {
                store(self, state, &args[1], 0, 8, 0)?;
                store(self, state, &args[1], 8, 8, DEFAULT_STACK)?;
                zero
            }
            "pthread_attr_getguardsize" => {
                let word = self.word_size();
                store(self, state, &args[1], 0, word, PAGE)?;
                zero
            }
            "pthread_attr_setdetachstate" => self.set_number(state, &args[0], &args[1], (8, 1))?,
            "pthread_mutexattr_settype" | "pthread_mutexattr_setkind_np" => {
                self.set_number(state, &args[0], &args[1], (4, 3))?
            }
            "pthread_attr_setstacksize" => {
                let at = self.plus(&args[0], &Sym::constant(64, 8));
                let size = super::cells::widened(&args[1], 8);
                self.store(state, &at, 8, &size, Order::Plain)?;
                zero
            }
            "pthread_attr_getstacksize" => {
                let at = self.plus(&args[0], &Sym::constant(64, 8));
                let size = self.load(state, &at, 8, Order::Plain)?;
                let word = self.word_size();
                let size = super::cells::narrowed(&size, u32::from(word) * 8);
                self.store(state, &args[1], word, &size, Order::Plain)?;
                zero
            }
            "pthread_attr_getdetachstate" => {
                let value = self.load(state, &args[0], 8, Order::Plain)?;
                let value = super::cells::narrowed(&value, 32);
                self.store(state, &args[1], 4, &value, Order::Plain)?;
                zero
            }
            "pthread_mutexattr_gettype" => {
                let value = self.load(state, &args[0], 4, Order::Plain)?;
                self.store(state, &args[1], 4, &value, Order::Plain)?;
                zero
            }
            "pthread_mutexattr_init" => {
                store(self, state, &args[0], 0, 4, 0)?;
                zero
            }
            "pthread_mutexattr_getpshared"
            | "pthread_mutexattr_getprotocol"
            | "pthread_mutexattr_getrobust" => {
                store(self, state, &args[1], 0, 4, 0)?;
                zero
            }
            "pthread_getspecific" | "tss_get" => {
                let mut value = zero;
                for key in keys_of(name, &args[0])? {
                    let is_it = args[0].is(&mut self.out.bits, key);
                    let kept = Self::variable(state, KEYS + key as usize);
                    let kept = kept.load(&mut self.out.bits, 0, 8);
                    value = Sym::ite(&mut self.out.bits, is_it, &kept, &value);
                }
                value
            }
            "pthread_setspecific" | "tss_set" => {
                for key in keys_of(name, &args[0])? {
                    let is_it = args[0].is(&mut self.out.bits, key);
                    let kept = Rc::make_mut(Self::variable(state, KEYS + key as usize));
                    kept.store_if(&mut self.out.bits, is_it, (0, 8), &args[1]);
                }
                zero
            }
            _ => return Ok(None),
        }))
    }

    /// Sets a number of an attribute, if it is not too large.
    fn set_number(
        &mut self,
        state: &mut State,
        at: &Sym,
        number: &Sym,
        (size, last): (u8, u64),
    ) -> Result<Sym, Stop> {
        let most = Word::constant(number.word.width(), u128::from(last));
        let fits = self.out.bits.ule(&number.word, &most);
        if fits == Bit::FALSE {
            return Ok(Sym::constant(64, EINVAL));
        }
        let mut value = super::cells::widened(number, size);
        if fits != Bit::TRUE {
            let old = self.load(state, at, size, Order::Plain)?;
            value = Sym::ite(&mut self.out.bits, fits, &value, &old);
        }
        self.store(state, at, size, &value, Order::Plain)?;
        let (zero, refused) = (Sym::zero(64), Sym::constant(64, EINVAL));
        Ok(Sym::ite(&mut self.out.bits, fits, &zero, &refused))
    }

    // ---- values that a thread keeps

    /// A value that the thread keeps: 0 at first.
    pub(super) fn thread_value(
        &mut self,
        state: &mut State,
        kind: u32,
        key: u64,
    ) -> Result<Sym, Stop> {
        let variable = Self::variable(state, position(kind, key)?);
        Ok(variable.load(&mut self.out.bits, 0, 8))
    }

    pub(super) fn set_thread_value(
        &mut self,
        state: &mut State,
        kind: u32,
        key: u64,
        value: &Sym,
    ) -> Result<(), Stop> {
        if kind == ENDING_STATIC {
            return Ok(());
        }
        let variable = Self::variable(state, position(kind, key)?);
        Rc::make_mut(variable).store(0, 8, value.clone());
        Ok(())
    }

    /// The first key above `after` under which the thread keeps a value; 0 if there is none.
    pub(super) fn next_thread_key(&mut self, state: &State, kind: u32, after: u64) -> Sym {
        let mut next = Sym::zero(64);
        let Some(first) = first_position(kind) else {
            return next;
        };
        let range = first + after as usize + 1..first + KEYS_OF_A_KIND;
        for (&position, contents) in state.thread_locals.range(range).rev() {
            let value = contents.load(&mut self.out.bits, 0, 8);
            let is_there = !self.out.bits.is_zero(&value.word);
            let key = Sym::constant(64, (position - first) as u64);
            next = Sym::ite(&mut self.out.bits, is_there, &key, &next);
        }
        next
    }

    /// A number for the place that a library function is called from: the models' own frames do not count.
    pub(super) fn place_of_call(&mut self, state: &State) -> u64 {
        let frames = state.frames.iter();
        let place: Vec<(u32, u32, usize)> = frames
            .map(|frame| (frame.code.id().0, frame.block.0, frame.index))
            .collect();
        let next = self.places.len() as u64 + 1;
        *self.places.entry(place).or_insert(next)
    }

    /// Handlers that would have to run at the end of a thread are not modelled.
    pub(super) fn check_cleanups(&mut self, state: &mut State, name: &str) -> Result<(), Stop> {
        let count = Self::variable(state, CLEANUPS).load(&mut self.out.bits, 0, 8);
        if count.as_constant() == Some(0) {
            return Ok(());
        }
        Err(unsupported_call(
            name,
            "handlers of pthread_cleanup_push would have to run",
        ))
    }
}

/// The interpreter's number for a value that only reports ask for.
const ENDING_STATIC: u32 = 19;

/// Where a thread keeps values of a kind, by the interpreter's number for it: the value under key 0.
fn first_position(kind: u32) -> Option<usize> {
    match kind {
        1 => Some(KEYS),
        2 => Some(EXIT_FUNCTIONS),
        3 => Some(EXIT_ARGUMENTS),
        5 => Some(CLOCK),
        6 => Some(LOOKED),
        7 => Some(SLEPT),
        8 => Some(PASSED),
        9 => Some(WOKEN),
        10 => Some(IDS),
        11 => Some(GUARD),
        16 => Some(CLEANUPS),
        18 => Some(UNCANCELLED),
        20 => Some(WAITED),
        0x4558_0008 => Some(EXCEPTIONS),
        _ => None,
    }
}

fn position(kind: u32, key: u64) -> Result<usize, Stop> {
    let room = match kind {
        1..=3 | 6 | 9 => KEYS_OF_A_KIND,
        10 | 11 => 2,
        0x4558_0008 => 3,
        _ => 1,
    };
    let first = first_position(kind).filter(|_| key < room as u64);
    let first = first.ok_or_else(|| super::unsupported("so many values that a thread keeps"))?;
    Ok(first + key as usize)
}

/// A `long` of the program as a number of 64 bits.
fn signed_word(number: &Sym) -> Sym {
    let width = number.width();
    let word = number.word.sext(64);
    number.map(word, |number| {
        crate::value::signed(number, width).cast_unsigned()
    })
}

/// The address of the thread's error number.
pub(super) fn errno() -> Sym {
    let number = PRIVATE_THREAD << 20 | ERRNO as u32;
    Sym::constant(64, u64::from(number) << 32 | OFFSET_BIAS)
}

/// The keys that are meant.
fn keys_of(name: &str, key: &Sym) -> Result<Vec<u64>, Stop> {
    let keys = key.set.values().map(<[u64]>::to_vec);
    let keys = keys.filter(|keys| keys.iter().all(|&key| key <= MOST_KEYS));
    keys.ok_or_else(|| unsupported_call(name, "which key is meant is not known"))
}
