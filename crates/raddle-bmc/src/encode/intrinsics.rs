//! `llvm.*` functions that are done in place, and assembly.

use super::access::Updated;
use super::library::resize;
use super::models::rmw_op;
use super::{Encoder, unsupported};
use crate::state::State;
use crate::value::Sym;
use raddle_ir::inst::{Call, IntPredicate};
use raddle_ir::{Type, TypeId, ValueId};
use raddle_order::bits::{Bit, Word};
use raddle_program::interp::view::{
    Assembly, Locked, Source, assembly, has_pointers_in_registers, is_ignored_intrinsic,
};
use raddle_program::{Fault, Order, Stop};

impl Encoder<'_> {
    pub(super) fn intrinsic(
        &mut self,
        state: &mut State,
        name: &str,
        call: &Call,
        result: Option<ValueId>,
    ) -> Result<Vec<Sym>, Stop> {
        let family: Vec<&str> = name.trim_start_matches("llvm.").split('.').collect();
        match family[..] {
            ["lifetime" | "stackrestore", ..] => return Ok(Vec::new()),
            _ if is_ignored_intrinsic(name) => return Ok(Vec::new()),
            ["x86", "sse2", "mfence"] => {
                self.fence(state, Order::SeqCst);
                return Ok(Vec::new());
            }
            ["x86", "sse", "sfence"] => {
                self.fence(state, Order::Release);
                return Ok(Vec::new());
            }
            ["x86", "sse2", "lfence"] => {
                self.fence(state, Order::Acquire);
                return Ok(Vec::new());
            }
            ["stacksave", ..] => return Ok(vec![Sym::zero(64)]),
            _ => {}
        }
        let mut args = Vec::with_capacity(call.args.len());
        for (&arg, &ty) in call.args.iter().zip(&call.arg_types) {
            args.push(match self.view.module().types.get(ty) {
                Type::Metadata => Vec::new(),
                _ => self.operand(state, arg, ty)?,
            });
        }
        let result = result.map(|value| state.top().code.body().value_types[value.index()]);
        if let Some(values) = self.on_numbers(name, &args, &call.arg_types, result)? {
            return Ok(values);
        }
        if let ["assume", ..] = family[..] {
            let fails = !args[0][0].word.bits()[0];
            self.fault_if(state, fails, Fault::Unreachable);
            return Ok(Vec::new());
        }
        // What is handed through may be anything.
        if let [
            "expect" | "threadlocal" | "launder" | "strip" | "ssa" | "annotation",
            ..,
        ] = family[..]
        {
            return Ok(args.swap_remove(0));
        }
        if let Some(values) = self.float_intrinsic(&family, &args, &call.arg_types, result)? {
            return Ok(values);
        }
        let scalars: Option<Vec<Sym>> = args
            .into_iter()
            .map(|slots| <[Sym; 1]>::try_from(slots).ok().map(|[slot]| slot))
            .collect();
        let computed = scalars.and_then(|args| self.on_words(&family, &args));
        computed.ok_or_else(|| unsupported(name))
    }

    /// What a function of numbers returns, where the arguments are one of a few: as the interpreter says.
    fn on_numbers(
        &mut self,
        name: &str,
        args: &[Vec<Sym>],
        types: &[TypeId],
        result: Option<TypeId>,
    ) -> Result<Option<Vec<Sym>>, Stop> {
        let Some(result_type) = result else {
            return Ok(None);
        };
        let widths = self.view.layout(result_type)?.widths;
        let lengths: Vec<usize> = args.iter().map(Vec::len).collect();
        let slots: Vec<Sym> = args.iter().flatten().cloned().collect();
        let mut known = true;
        let values = self.tabulate(&slots, &widths, |encoder, numbers| {
            let mut rest = numbers;
            let args: Vec<Vec<u64>> = lengths
                .iter()
                .map(|&length| {
                    let (own, others) = rest.split_at(length);
                    rest = others;
                    own.to_vec()
                })
                .collect();
            let values = encoder.view.intrinsic(name, &args, types, result)?;
            known &= values.is_some();
            Ok(values.unwrap_or_default())
        })?;
        Ok(values.filter(|_| known))
    }

    /// A function of a few numbers as a table. None if there are too many.
    pub(super) fn tabulate(
        &mut self,
        slots: &[Sym],
        widths: &[u32],
        mut function: impl FnMut(&mut Self, &[u64]) -> Result<Vec<u64>, Stop>,
    ) -> Result<Option<Vec<Sym>>, Stop> {
        let mut rows: Vec<(Bit, Vec<u64>)> = vec![(Bit::TRUE, Vec::new())];
        for slot in slots {
            let numbers = match slot.as_constant() {
                Some(number) => vec![number],
                None => match slot.set.values() {
                    Some(numbers) => numbers.to_vec(),
                    None => return Ok(None),
                },
            };
            if rows.len() * numbers.len() > crate::value::MOST_VALUES {
                return Ok(None);
            }
            let mut longer = Vec::with_capacity(rows.len() * numbers.len());
            for (condition, row) in rows {
                for &number in &numbers {
                    let is_it = slot.is(&mut self.out.bits, number);
                    let condition = self.out.bits.bit_and(condition, is_it);
                    if condition != Bit::FALSE {
                        let mut row = row.clone();
                        row.push(number);
                        longer.push((condition, row));
                    }
                }
            }
            rows = longer;
        }
        let mut table: Option<Vec<Sym>> = None;
        for (condition, row) in rows {
            let results = function(self, &row)?;
            let constant = |(at, &width): (usize, &u32)| {
                Sym::constant(width, results.get(at).copied().unwrap_or(0))
            };
            let results: Vec<Sym> = widths.iter().enumerate().map(constant).collect();
            table = Some(match table {
                None => results,
                Some(others) => {
                    let pairs = results.iter().zip(&others);
                    pairs
                        .map(|(new, old)| Sym::ite(&mut self.out.bits, condition, new, old))
                        .collect()
                }
            });
        }
        Ok(table)
    }

    /// Integers of at most 64 bits about which nothing is known.
    fn on_words(&mut self, family: &[&str], args: &[Sym]) -> Option<Vec<Sym>> {
        let first = |predicate, encoder: &mut Self| {
            let first = encoder.compare(predicate, &args[..1], &args[1..2]);
            vec![Sym::ite(&mut encoder.out.bits, first, &args[0], &args[1])]
        };
        let bits = &mut self.out.bits;
        Some(match family {
            ["smax", ..] => first(IntPredicate::Sgt, self),
            ["smin", ..] => first(IntPredicate::Slt, self),
            ["umax", ..] => first(IntPredicate::Ugt, self),
            ["umin", ..] => first(IntPredicate::Ult, self),
            ["abs", ..] => {
                let negative = bits.neg(&args[0].word);
                let sign = args[0].word.sign();
                vec![Sym::of(bits.ite(sign, &negative, &args[0].word))]
            }
            [op, "with", "overflow", ..] => {
                let (a, b) = (&args[0].word, &args[1].word);
                let (word, lost) = match *op {
                    "sadd" => (bits.add(a, b), bits.sadd_overflows(a, b)),
                    "uadd" => (bits.add(a, b), bits.uadd_overflows(a, b)),
                    "ssub" => (bits.sub(a, b), bits.ssub_overflows(a, b)),
                    "usub" => (bits.sub(a, b), bits.usub_overflows(a, b)),
                    "smul" => (bits.mul(a, b), bits.smul_overflows(a, b)),
                    "umul" => (bits.mul(a, b), bits.umul_overflows(a, b)),
                    _ => return None,
                };
                vec![Sym::of(word), Sym::bit(lost)]
            }
            ["uadd", "sat", ..] => {
                let (a, b) = (&args[0].word, &args[1].word);
                let (sum, lost) = (bits.add(a, b), bits.uadd_overflows(a, b));
                let most = Word::constant(a.width(), u128::MAX);
                vec![Sym::of(bits.ite(lost, &most, &sum))]
            }
            ["usub", "sat", ..] => {
                let (a, b) = (&args[0].word, &args[1].word);
                let (rest, lost) = (bits.sub(a, b), bits.usub_overflows(a, b));
                let least = Word::constant(a.width(), 0);
                vec![Sym::of(bits.ite(lost, &least, &rest))]
            }
            ["bswap", ..] => {
                let word = &args[0].word;
                let bytes = word.bits().chunks(8).rev().flatten().copied();
                vec![Sym::of(Word::from_bits(bytes.collect()))]
            }
            ["ctpop", ..] => {
                let word = &args[0].word;
                let width = word.width();
                let zero = Word::constant(width, 0);
                let count = word.bits().iter().fold(zero, |count, &bit| {
                    let one = Word::from_bits(vec![bit]).zext(width);
                    bits.add(&count, &one)
                });
                vec![Sym::of(count)]
            }
            ["ctlz" | "cttz", ..] => {
                let word = &args[0].word;
                let width = word.width();
                let mut count = Word::constant(width, width as u128);
                // The last bit that is looked at decides.
                for step in 0..width {
                    let distance = width - 1 - step;
                    let at = if family[0] == "cttz" { distance } else { step };
                    let here = Word::constant(width, distance as u128);
                    count = bits.ite(word.bits()[at], &here, &count);
                }
                vec![Sym::of(count)]
            }
            _ => return None,
        })
    }

    pub(super) fn inline_assembly(
        &mut self,
        state: &mut State,
        (text, constraints): (&str, &str),
        call: &Call,
        result: Option<ValueId>,
    ) -> Result<(), Stop> {
        let unknown =
            || Stop::Unsupported(raddle_program::Unsupported::InlineAsm { text: text.into() });
        let returned = result.map(|it| state.top().code.body().value_types[it.index()]);
        let types = &self.view.module().types;
        let what = (text, constraints);
        if self.is_ilp32() && has_pointers_in_registers(types, what, &call.arg_types, returned) {
            return Err(unknown());
        }
        self.use_arguments(state, call);
        let args = self.arguments(state, call)?;
        let argument = |at: usize| args.get(at).cloned().ok_or_else(unknown);
        match assembly(text, constraints, result.is_some()).ok_or_else(unknown)? {
            Assembly::Orders {
                order,
                result: tied,
            } => {
                if let Some(order) = order {
                    self.fence(state, order);
                }
                if let Some(tied) = tied {
                    self.set(state, result, vec![argument(tied)?]);
                }
                Ok(())
            }
            Assembly::Updates(update) => self.locked_update(state, &update, argument),
        }
    }

    /// An update of memory with a lock prefix, between two fences.
    fn locked_update(
        &mut self,
        state: &mut State,
        update: &Locked,
        argument: impl Fn(usize) -> Result<Sym, Stop>,
    ) -> Result<(), Stop> {
        let width = u32::from(update.size) * 8;
        let op = rmw_op(update.kind).ok_or_else(|| unsupported("this kind of atomic update"))?;
        let address = self.pinned(state, argument(update.address)?);
        let operand = match update.operand {
            Source::Number(number) => Sym::constant(width, number),
            Source::Argument(at) => resize(&argument(at)?, width),
        };
        let order = Order::SeqCst;
        self.fence(state, order);
        let old = self.update(
            state,
            &address,
            update.size,
            (order, order),
            |encoder, old| {
                Ok(Updated {
                    new: encoder.apply(op, old, &operand)?,
                    writes: Bit::TRUE,
                })
            },
        )?;
        let new = self.apply(op, &old, &operand)?;
        let changes = self.out.bits.ne(&old.word, &new.word);
        let mut changed = state.clone();
        changed.path.push(&mut self.out.bits, changes);
        if !changed.path.is_impossible() {
            self.fence(&changed, order);
        }
        if let Some(flag) = update.is_zero {
            let is_zero = self.out.bits.is_zero(&new.word);
            let place = self.pinned(state, argument(flag)?);
            let flag = Sym::of(Word::from_bits(vec![is_zero]).zext(8));
            self.store(state, &place, 1, &flag, Order::Plain)?;
        }
        Ok(())
    }
}
