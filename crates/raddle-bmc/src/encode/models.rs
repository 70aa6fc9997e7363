//! Library functions that are run as the interpreter runs them, on numbers: what each asks for is done here, and what it is
//! told must be known. Where a value may be one of several numbers there is one state for each; they meet again after the call.

use super::access::Updated;
use super::flow::After;
use super::{Encoder, system, unsupported, unsupported_call};
use crate::state::State;
use crate::value::{Set, Sym};
use raddle_ir::inst::{Call, RmwOp};
use raddle_ir::{FuncId, Terminator, Type};
use raddle_order::bits::{Bit, Word};
use raddle_program::interp::view::{Called, ModelCall, ModelStep};
use raddle_program::models::{Outcome, Request};
use raddle_program::{RmwKind, Stop, Unsupported};

/// The interpreter's tables of keys, and of functions run at exit, begin with their number.
const COUNTED_TABLES: [&str; 3] = [
    "thread-specific keys",
    "functions run at exit",
    "functions run at quick_exit",
];

/// One call may part into so many ways.
const MOST_WAYS: usize = 256;

/// Calls of library functions that are under way, the innermost last: each has called the next.
pub(crate) type Models = Vec<ModelCall>;

impl Encoder<'_> {
    /// One state for each number that a value may be. None if there are too many.
    pub(super) fn ways(&mut self, state: &State, value: &Sym) -> Option<Vec<(State, u64)>> {
        if let Some(number) = value.as_constant() {
            return Some(vec![(state.clone(), number)]);
        }
        let numbers = value.set.values()?.to_vec();
        let mut rest = state.clone();
        let mut ways = Vec::new();
        for (at, &number) in numbers.iter().enumerate() {
            // It is one of them: if none of the others, the last.
            if at + 1 < numbers.len() {
                let is_it = value.is(&mut self.out.bits, number);
                let mut way = rest.clone();
                way.path.push(&mut self.out.bits, is_it);
                rest.path.push(&mut self.out.bits, !is_it);
                if !way.path.is_impossible() {
                    ways.push((way, number));
                }
            } else if !rest.path.is_impossible() {
                ways.push((rest.clone(), number));
            }
        }
        Some(ways)
    }

    /// Calls a library function by its model.
    pub(super) fn call_model(
        &mut self,
        state: &State,
        function: FuncId,
        call: &Call,
        args: &[Sym],
    ) -> Result<After, Stop> {
        let name = self.view.module().function(function).name.clone();
        let fixed = self.fixed_slots(state, function, call)?;
        let mut ways = vec![(state.clone(), Vec::new())];
        for arg in args {
            let mut next = Vec::new();
            for (state, numbers) in ways {
                let Some(parted) = self.ways(&state, arg) else {
                    return Err(unsupported_call(&name, "an argument that is not known"));
                };
                for (state, number) in parted {
                    let mut numbers = numbers.clone();
                    numbers.push(number);
                    next.push((state, numbers));
                }
            }
            ways = next;
            if ways.len() > MOST_WAYS {
                return Err(unsupported_call(
                    &name,
                    "arguments that may be too many things",
                ));
            }
        }
        for (state, numbers) in ways {
            match self.view.model_call(function, &numbers, fixed) {
                Some(call) => self.run_models(state, vec![call])?,
                None => {
                    let unknown = Unsupported::UnknownFunction { name: name.clone() };
                    self.stopped(&state, Stop::Unsupported(unknown))?;
                }
            }
        }
        Ok(After::Gone)
    }

    /// Calls a function that prints. Numbers that are printed need not be known.
    pub(super) fn print(
        &mut self,
        state: &mut State,
        function: FuncId,
        call: &Call,
    ) -> Result<After, Stop> {
        let mut args = self.arguments(state, call)?;
        state.printed.clone_from(&args);
        let has_format = self
            .view
            .module()
            .function(function)
            .name
            .contains("printf");
        let needed = if has_format {
            self.fixed_slots(state, function, call)?
        } else {
            0
        };
        for arg in &mut args[needed..] {
            *arg = Sym::zero(64);
        }
        self.call_model(state, function, call, &args)
    }

    /// How many argument slots belong to parameters.
    fn fixed_slots(&mut self, state: &State, function: FuncId, call: &Call) -> Result<usize, Stop> {
        let ty = self.view.module().function(function).ty;
        let params = match self.view.module().types.get(ty) {
            Type::Function { params, .. } => params.len(),
            _ => 0,
        };
        let mut slots = 0;
        for (&arg, &ty) in call.args.iter().zip(&call.arg_types).take(params) {
            slots += self.operand(state, arg, ty)?.len();
        }
        Ok(slots)
    }

    /// Runs library functions to their end, or until they call a function of the program.
    pub(super) fn run_models(&mut self, state: State, models: Models) -> Result<(), Stop> {
        let mut open = vec![(state, models)];
        let mut parted = 0;
        while let Some((mut state, mut models)) = open.pop() {
            let answer = match self.run_model(&mut state, &mut models) {
                Ok(Answered::With(answer)) => answer,
                Ok(Answered::Gone) => continue,
                Err(stop) => {
                    self.stopped(&state, stop)?;
                    continue;
                }
            };
            if state.path.is_impossible() {
                continue;
            }
            let ways = self.ways(&state, &answer);
            parted += ways.as_ref().map_or(0, |ways| ways.len().saturating_sub(1));
            let Some(ways) = ways.filter(|_| parted <= MOST_WAYS) else {
                let refused = self.too_vague(&models, "it depends on a value that is not known");
                self.stopped(&state, refused)?;
                continue;
            };
            for (state, number) in ways.into_iter().rev() {
                let mut models = models.clone();
                if let Some(call) = models.last_mut() {
                    call.answer(number);
                }
                open.push((state, models));
            }
        }
        Ok(())
    }

    /// The innermost call cannot go on.
    fn too_vague(&self, models: &Models, why: &str) -> Stop {
        let name = models.last().map(|call| self.view.model_name(call));
        unsupported_call(name.as_deref().unwrap_or("a library function"), why)
    }

    /// Goes on with the innermost call, up to the next answer that it needs.
    fn run_model(&mut self, state: &mut State, models: &mut Models) -> Result<Answered, Stop> {
        let thread = self.out.threads[self.thread].id;
        let Some(call) = models.last_mut() else {
            return Err(unsupported("an answer that nobody asked for"));
        };
        let values = match self.view.run_model(thread, call)? {
            ModelStep::Asks(Request::Call { function, args }) => {
                return self.call_from_model(state, models, function, &args);
            }
            ModelStep::Asks(Request::Allocate { size, align }) => {
                let name = match call.zeroes() {
                    true => "calloc",
                    false => "malloc",
                };
                let block = self.allocate(state, name, &Sym::constant(64, size), align);
                return block.map(Answered::With);
            }
            ModelStep::Asks(request) => return self.fulfil(state, &request).map(Answered::With),
            ModelStep::Ends(Outcome::Return(value)) => vec![value],
            ModelStep::Ends(Outcome::Values(values)) => values,
            ModelStep::Ends(Outcome::Void) => Vec::new(),
            ModelStep::Ends(Outcome::ExitThread(value) | Outcome::ReturnFromMain(value)) => {
                state.result = Some(Sym::constant(64, value));
                let is_main = self.thread == 0;
                self.finish(state, is_main)?;
                return Ok(Answered::Gone);
            }
            ModelStep::Ends(Outcome::ExitProcess(_)) => {
                self.out.exits.push(state.path.guard());
                return Ok(Answered::Gone);
            }
            ModelStep::Ends(Outcome::AssumeFailed) => return Ok(Answered::Gone),
            ModelStep::Ends(Outcome::Original) => {
                return Err(self.too_vague(models, "its own code would have to be run"));
            }
            ModelStep::Ends(Outcome::Raise(_) | Outcome::Land { .. }) => {
                return Err(Stop::Unsupported(Unsupported::Unwind));
            }
            ModelStep::Ends(Outcome::Unnoticed | Outcome::Become(..) | Outcome::Jump { .. }) => {
                return Err(unsupported("the end of a thread inside of a function"));
            }
        };
        models.pop();
        if !models.is_empty() {
            let value = values.first().copied().unwrap_or(0);
            return Ok(Answered::With(Sym::constant(64, value)));
        }
        self.models_returned(state, &values)?;
        Ok(Answered::Gone)
    }

    /// The outermost call has come to its end.
    fn models_returned(&mut self, state: &mut State, values: &[u64]) -> Result<(), Stop> {
        let Some(frame) = state.frames.last() else {
            return self.go_on(state);
        };
        let block = &frame.code.body().blocks[frame.block.index()];
        let result = match (block.insts.get(frame.index), &block.terminator) {
            (Some(inst), _) => inst.result,
            (None, Terminator::Invoke { result, .. }) => *result,
            _ => None,
        };
        let ty = result.map(|result| frame.code.body().value_types[result.index()]);
        let widths = match ty {
            Some(ty) => self.view.layout(ty)?.widths,
            None => Vec::new(),
        };
        // What is not returned is not known, and an error if anybody wants to know.
        let values = values.iter().zip(widths);
        let values = values.map(|(&value, width)| Sym::constant(width, value));
        let values = values.collect();
        self.returned_to(state, values)
    }

    /// A library function calls one of the program, or another of the library.
    fn call_from_model(
        &mut self,
        state: &mut State,
        models: &mut Models,
        function: FuncId,
        args: &[u64],
    ) -> Result<Answered, Stop> {
        match self.view.called(function) {
            Called::Body | Called::RustWait => {
                let code = self.view.function(function)?;
                let mut widths = Vec::new();
                for param in 0..code.body().param_count as usize {
                    widths.extend(self.view.layout(code.body().value_types[param])?.widths);
                }
                let args = args.iter().zip(widths);
                let args: Vec<Sym> = args
                    .map(|(&arg, width)| Sym::constant(width, arg))
                    .collect();
                self.enter(state, function, &args)?;
                state.top().models = std::mem::take(models);
                self.push(state.clone());
                Ok(Answered::Gone)
            }
            Called::Library => {
                // Operations on synchronisation objects have a meaning of their own here: destructors of static ones.
                let name = self.view.module().function(function).name.clone();
                let known = args.iter().map(|&arg| Sym::constant(64, arg)).collect();
                if let Some(answer) = self.waiting(state, &name, &known)? {
                    return Ok(Answered::With(answer));
                }
                let Some(call) = self.view.model_call(function, args, args.len()) else {
                    return Err(unsupported("a function that is not there"));
                };
                models.push(call);
                self.run_model(state, models)
            }
            Called::Panic => Err(self.panics(state, function)),
            Called::Intrinsic | Called::Unknown => {
                let name = self.view.module().function(function).name.clone();
                Err(Stop::Unsupported(Unsupported::UnknownFunction { name }))
            }
        }
    }

    /// A function that a library function called returns.
    pub(super) fn returned_to_model(
        &mut self,
        state: State,
        models: &Models,
        value: Option<&Sym>,
    ) -> Result<(), Stop> {
        let zero = Sym::zero(64);
        let Some(ways) = self.ways(&state, value.unwrap_or(&zero)) else {
            let refused = self.too_vague(models, "it calls a function whose result is not known");
            return self.stopped(&state, refused);
        };
        for (state, number) in ways {
            let mut models = models.clone();
            if let Some(call) = models.last_mut() {
                call.answer(number);
            }
            self.run_models(state, models)?;
        }
        Ok(())
    }

    /// How many keys or functions a table holds: no more than calls that add some, which is not seen from what is stored.
    fn as_count(&mut self, address: u64, count: Sym, adds: bool) -> Sym {
        let tables = self.view.tables();
        let found = tables.resolve(address);
        let is_count = found.is_some_and(|(object, offset)| {
            offset == 0 && COUNTED_TABLES.contains(&&*tables.object_info(object).name)
        });
        if !is_count {
            return count;
        }
        // Those that are added while the number is known count as well for whoever does not know it later.
        self.keys += u32::from(adds);
        if count.as_constant().is_some() {
            return count;
        }
        let most = u64::from(self.facts.most_keys());
        // Whoever adds one finds one less.
        let last = if adds { most.max(1) - 1 } else { most };
        Sym::within(count.word, Set::of((0..=last).collect()))
    }

    /// Does what a library function asks for.
    fn fulfil(&mut self, state: &mut State, request: &Request) -> Result<Sym, Stop> {
        let zero = Sym::zero(64);
        match *request {
            Request::Load {
                address,
                size,
                order,
            } => {
                let value = self.load(state, &Sym::constant(64, address), size, order)?;
                Ok(self.as_count(address, value, false))
            }
            Request::Store {
                address,
                size,
                value,
                order,
            } => {
                let value = Sym::constant(u32::from(size) * 8, value);
                self.store(state, &Sym::constant(64, address), size, &value, order)?;
                Ok(zero)
            }
            Request::Rmw {
                address,
                size,
                kind,
                operand,
                order,
            } => {
                let operand = Sym::constant(u32::from(size) * 8, operand);
                let op = rmw_op(kind).ok_or_else(|| unsupported("this kind of atomic update"))?;
                let place = Sym::constant(64, address);
                let old = self.update(state, &place, size, (order, order), |encoder, old| {
                    let new = encoder.apply(op, old, &operand)?;
                    Ok(Updated {
                        new,
                        writes: Bit::TRUE,
                    })
                })?;
                Ok(self.as_count(address, old, true))
            }
            Request::Cas {
                address,
                size,
                expected,
                new,
                orders,
            } => {
                let width = u32::from(size) * 8;
                let new = Sym::constant(width, new);
                let address = Sym::constant(64, address);
                self.update(state, &address, size, orders, |encoder, old| {
                    let new = new.clone();
                    let expected = expected & crate::value::mask(width);
                    let writes = old.is(&mut encoder.out.bits, expected);
                    Ok(Updated { new, writes })
                })
            }
            Request::Fence { order } => {
                self.fence(state, order);
                Ok(zero)
            }
            Request::LookAt { object } => {
                let address = Sym::constant(64, object);
                let place = self.object_at(state, "pthread_cond_wait", &address)?;
                self.look_at_bytes(state, place, &address)?;
                Ok(zero)
            }
            Request::Sync { address, action } => self.sync_action(state, address, action),
            Request::Free { address } => {
                self.free(state, &Sym::constant(64, address))?;
                Ok(zero)
            }
            Request::Argument { index } => {
                let arg = state.printed.get(index).cloned();
                Ok(arg.unwrap_or(zero))
            }
            Request::LookAtString { address, limit } => {
                let (address, limit) = (Sym::constant(64, address), Sym::constant(64, limit));
                self.scan(state, "a function that prints", &address, &limit)?;
                Ok(zero)
            }
            Request::Choice { count: 2 } => {
                let bit = self.fresh_bit();
                self.note_choice(state, Word::from_bits(vec![bit]));
                let [zero, one] = [0, 1].map(|number| Sym::constant(64, number));
                Ok(Sym::ite(&mut self.out.bits, bit, &one, &zero))
            }
            Request::Choice { .. } => Err(unsupported("this choice by a library function")),
            Request::AtomicBegin => {
                state.woken = 0;
                self.begin_block_of(state);
                Ok(zero)
            }
            Request::AtomicEnd => {
                self.end_block_of(state);
                Ok(zero)
            }
            Request::PlaceOfCall => Ok(Sym::constant(64, self.place_of_call(state))),
            Request::ThreadObject { name: "errno", .. } => Ok(system::errno()),
            Request::ThreadObject { name, .. } => Err(unsupported(name)),
            Request::ThreadValue { kind, key } => self.thread_value(state, kind, key),
            Request::SetThreadValue { kind, key, value } => {
                self.set_thread_value(state, kind, key, &Sym::constant(64, value))?;
                Ok(zero)
            }
            Request::NextThreadKey { kind, after } => Ok(self.next_thread_key(state, kind, after)),
            Request::Call { .. } | Request::Allocate { .. } => {
                Err(unsupported("a call or a block inside of a step"))
            }
        }
    }
}

/// What became of a request.
enum Answered {
    With(Sym),
    /// The state has been dealt with.
    Gone,
}

pub(super) fn rmw_op(kind: RmwKind) -> Option<RmwOp> {
    Some(match kind {
        RmwKind::Exchange => RmwOp::Xchg,
        RmwKind::Add => RmwOp::Add,
        RmwKind::Sub => RmwOp::Sub,
        RmwKind::And => RmwOp::And,
        RmwKind::Nand => RmwOp::Nand,
        RmwKind::Or => RmwOp::Or,
        RmwKind::Xor => RmwOp::Xor,
        _ => return None,
    })
}
