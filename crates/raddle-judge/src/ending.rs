//! What the end of an execution means: complete, blocked, a deadlock.

use crate::interleavings::other_choices;
use crate::verdict::{BlockedBy, Glance, Waiting};
use raddle_memory::{Ending, Machine, Mark, MicroStep, Readiness, StepEnd};
use raddle_program::{ChoiceOf, Limit, Op, Program, SrcId, StateId, Stop, SyncAction, ThreadId};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Every thread id that may have been started.
pub fn threads(machine: &Machine) -> impl Iterator<Item = ThreadId> + use<> {
    (0..machine.thread_count()).map(ThreadId::from_index)
}

/// How many threads have been started.
pub fn started(machine: &Machine) -> usize {
    threads(machine)
        .filter(|&thread| machine.thread_state(thread).is_some())
        .count()
}

/// Did every thread finish? A process that exited has finished, whatever its other threads were waiting for.
pub fn is_complete(program: &Program, machine: &mut Machine) -> bool {
    let (mut waiting, mut exited) = (false, false);
    for thread in threads(machine) {
        match machine.readiness(program, thread) {
            Readiness::Ready | Readiness::Waiting => waiting = true,
            Readiness::Ended(Ending::ExitedProcess) => exited = true,
            Readiness::Ended(Ending::Finished) | Readiness::NotStarted => {}
            Readiness::Ended(Ending::AssumeFailed | Ending::Stopped(_) | Ending::Faulted) => {
                return false;
            }
        }
    }
    exited || !waiting
}

/// Did a fault end the execution? Whether it is looked for or not, a process would have come no further.
pub fn is_faulted(program: &Program, machine: &mut Machine) -> bool {
    threads(machine).any(|thread| match machine.readiness(program, thread) {
        Readiness::Ended(Ending::Faulted) => true,
        Readiness::Ended(Ending::Stopped(stop)) => {
            matches!(program.tables().stop_info(stop), Stop::Fault(_))
        }
        _ => false,
    })
}

/// Has every thread finished but those that would have started more than were asked for? What these do next is what they did before, mostly:
/// there is no other end to programs that start threads for ever.
pub fn is_crowded(program: &Program, machine: &mut Machine) -> bool {
    let (mut finished, mut cut) = (false, false);
    for thread in threads(machine) {
        match machine.readiness(program, thread) {
            Readiness::NotStarted => {}
            Readiness::Ended(Ending::Finished) => finished = true,
            Readiness::Ended(Ending::Stopped(stop)) => match program.tables().stop_info(stop) {
                Stop::Limit(Limit::Threads { .. }) => cut = true,
                _ => return false,
            },
            _ => return false,
        }
    }
    finished && cut
}

/// What stands in the way of threads at the end of an execution that is not complete.
pub struct Blockade {
    /// Why the execution is blocked: the first that applies.
    pub cause: BlockedBy,
    /// The threads that wait for good; empty if that is no deadlock.
    pub waiting: Vec<Waiting>,
    /// Whether they wait for good was not found out: that takes too many steps.
    pub is_open: bool,
}

/// The threads that wait for good, if that is a deadlock. For executions in which no thread is ready but to go round a loop.
pub fn deadlock(program: &mut Program, machine: &mut Machine) -> Option<Vec<Waiting>> {
    let waiting = blockade(program, machine).waiting;
    (!waiting.is_empty()).then_some(waiting)
}

/// The threads that go round loops for good, if there is a deadlock that they have a part in.
pub fn livelock(program: &mut Program, machine: &mut Machine) -> Option<Vec<Waiting>> {
    let mut spinning = deadlock(program, machine)?;
    spinning.retain(Waiting::spins);
    (!spinning.is_empty()).then_some(spinning)
}

/// Why an execution is blocked that an engine ended, and whether that is a deadlock.
///
/// Threads wait in operations that block, and in loops whose iterations come to nothing ([`spin_iteration`]). That the iterations do is found out here
/// by running them on what memory holds in the end, so it does not matter why the engine did not: where a thread could go on
/// after all, the execution is not over, and nothing is a deadlock. Another one is explored in which the thread does go on.
///
/// A thread whose assumption failed, or that stopped at a fault or a limit, is not to blame: had it gone on, it might have
/// helped. So threads that wait for it, directly or not, are merely blocked, and so are those that anybody could help (a
/// semaphore, a condition variable, a loop that waits for memory to change) if there is such a thread. What remains is a
/// deadlock: threads that wait only for finished threads and for each other. Where the process has exited nothing is.
pub fn blockade(program: &mut Program, machine: &mut Machine) -> Blockade {
    // Could the thread still do something for others?
    let mut helpful = vec![false; machine.thread_count()];
    let mut cause = BlockedBy::Waiting;
    for thread in threads(machine) {
        let why = match machine.readiness(program, thread) {
            Readiness::Ended(Ending::ExitedProcess) => return Blockade::of(BlockedBy::Stopped),
            Readiness::Ended(Ending::AssumeFailed) => BlockedBy::Assumption,
            Readiness::Ended(Ending::Stopped(stop)) => match program.tables().stop_info(stop) {
                Stop::Limit(Limit::Unroll { .. } | Limit::Threads { .. }) => BlockedBy::Cut,
                Stop::WokenInVain => BlockedBy::WakeUp,
                Stop::FailedInVain => BlockedBy::Failure,
                _ => BlockedBy::Stopped,
            },
            Readiness::Ended(Ending::Faulted) => BlockedBy::Stopped,
            _ => continue,
        };
        helpful[thread.index()] = true;
        cause = cause.min(why);
    }
    let anybody = helpful.contains(&true);
    let mut waiting = Vec::new();
    let (mut takes_back, mut waits_alone) = (false, false);
    for thread in threads(machine) {
        let readiness = machine.readiness(program, thread);
        let Some(state) = machine.thread_state(thread) else {
            continue;
        };
        let mut iteration = Vec::new();
        match readiness {
            Readiness::Waiting => {}
            // Whoever goes round a loop that looks at memory could be helped.
            Readiness::Ready if anybody && !tries_to_lock(program, state) => {
                helpful[thread.index()] = true;
                continue;
            }
            Readiness::Ready => match spin_iteration(program, machine, thread) {
                SpinIteration::Pure(reads) => iteration = reads,
                SpinIteration::TakesBack(_) if anybody => {
                    helpful[thread.index()] = true;
                    continue;
                }
                SpinIteration::TakesBack(reads) => {
                    iteration = reads;
                    takes_back = true;
                }
                SpinIteration::Waits => waits_alone = true,
                SpinIteration::GoesOn => return Blockade::of(cause.min(BlockedBy::Unfinished)),
            },
            Readiness::Ended(_) | Readiness::NotStarted => continue,
        }
        if !iteration.is_empty() {
            cause = cause.min(BlockedBy::Spinning);
        }
        // A loop that looks at anything but one lock may be ended by anybody.
        let on = match iteration.as_slice() {
            [] => machine.waits_for(program, thread),
            [one] if tries_to_lock(program, one.state) => machine.waits_for(program, thread),
            [one] if program.only_waits(one.state) => last_writer(program, machine, one.state),
            _ => Vec::new(),
        };
        waiting.push(Waiting {
            thread,
            state,
            on,
            at: program.at(state),
            iteration,
        });
    }
    keep_helpless(&mut waiting, helpful);
    in_order_of_names(program, &mut waiting);
    if waits_alone && !takes_back {
        return Blockade::of(cause.min(BlockedBy::Unfinished));
    }
    let mut is_open = false;
    if takes_back && !waiting.is_empty() {
        match Together::new(machine).go_on(program, machine) {
            Some(false) => {}
            Some(true) => return Blockade::of(cause.min(BlockedBy::Unfinished)),
            None => {
                waiting.clear();
                is_open = true;
            }
        }
    }
    Blockade {
        cause,
        waiting,
        is_open,
    }
}

/// The threads that wait for good, whatever the others do that are ready: the owners of what they wait for wait as well, or
/// have finished.
pub fn circle(program: &Program, machine: &mut Machine) -> Option<Vec<Waiting>> {
    let mut helpful = vec![false; machine.thread_count()];
    let mut any_ready = false;
    let mut waiting = Vec::new();
    for thread in threads(machine) {
        let readiness = machine.readiness(program, thread);
        any_ready |= readiness == Readiness::Ready;
        match readiness {
            Readiness::Ended(Ending::ExitedProcess) => return None,
            Readiness::Ended(Ending::Finished) | Readiness::NotStarted => {}
            Readiness::Ready | Readiness::Ended(_) => helpful[thread.index()] = true,
            Readiness::Waiting => {
                let state = machine.thread_state(thread)?;
                waiting.push(Waiting {
                    thread,
                    state,
                    on: machine.waits_for(program, thread),
                    at: program.at(state),
                    iteration: Vec::new(),
                });
            }
        }
    }
    keep_helpless(&mut waiting, helpful);
    in_order_of_names(program, &mut waiting);
    (any_ready && !waiting.is_empty()).then_some(waiting)
}

/// Ids are given in the order of discovery, which is another one when an execution is run alone.
fn in_order_of_names(program: &Program, threads: &mut [Waiting]) {
    let name = |thread: ThreadId| &program.tables().thread_info(thread).name;
    for waiting in &mut *threads {
        waiting.on.sort_by_key(|&on| name(on));
    }
    threads.sort_by_key(|waiting| name(waiting.thread));
}

impl Blockade {
    fn of(cause: BlockedBy) -> Self {
        Self {
            cause,
            waiting: Vec::new(),
            is_open: false,
        }
    }
}

/// Leaves those that nobody will help: `helpful` says who could do something.
fn keep_helpless(waiting: &mut Vec<Waiting>, mut helpful: Vec<bool>) {
    let anybody = helpful.contains(&true);
    loop {
        let freed = waiting.iter().position(|waiting| {
            // All holders of a lock have to let it go; `on` is empty where anybody could help.
            !helpful[waiting.thread.index()]
                && if waiting.on.is_empty() {
                    anybody
                } else {
                    waiting.on.iter().all(|on| helpful[on.index()])
                }
        });
        match freed {
            Some(index) => helpful[waiting[index].thread.index()] = true,
            None => break,
        }
    }
    waiting.retain(|waiting| !helpful[waiting.thread.index()]);
}

/// Who wrote last where the compare-exchange of `state` is tried: the owner, if that is a lock.
fn last_writer(program: &Program, machine: &Machine, state: StateId) -> Vec<ThreadId> {
    let Op::Cas { loc: lock, .. } = *program.op(state) else {
        return Vec::new();
    };
    let writes = |step: &&MicroStep| match *program.op(step.state) {
        Op::Cas { loc, expected, .. } => loc == lock && step.value == expected,
        Op::Store { loc, .. } | Op::Rmw { loc, .. } => loc == lock,
        _ => false,
    };
    let last = machine.steps().iter().rfind(writes);
    last.map(|step| step.thread).into_iter().collect()
}

fn tries_to_lock(program: &Program, state: StateId) -> bool {
    matches!(
        program.op(state),
        Op::Sync {
            action: SyncAction::TryLock { .. } | SyncAction::TryReadLock | SyncAction::TryWriteLock,
            ..
        }
    )
}

/// A thread that does an operation at one place so often in one execution is taken to go round there without end.
const WITHOUT_END: usize = 200;
/// So many steps at the end of an execution are looked at.
const LAST_STEPS: usize = 1 << 14;

/// The place of the operation that a thread does most often at the end of a long execution.
pub fn goes_round_without_end(program: &Program, steps: &[MicroStep]) -> Option<SrcId> {
    let mut counts: FxHashMap<(ThreadId, SrcId), usize> = FxHashMap::default();
    for step in &steps[steps.len().saturating_sub(LAST_STEPS)..] {
        let at = program.at(step.state);
        if at != SrcId::NOWHERE {
            *counts.entry((program.thread(step.state), at)).or_default() += 1;
        }
    }
    let most = counts
        .into_iter()
        .max_by_key(|&(place, count)| (count, std::cmp::Reverse(place)));
    most.filter(|&(_, count)| count >= WITHOUT_END)
        .map(|((_, at), _)| at)
}

/// The longest iteration of a loop that is looked at.
const LONGEST_ITERATION: usize = 1 << 16;

/// What a thread does that is ready when an execution ends.
enum SpinIteration {
    /// Iterations of a loop that change nothing, and will not end as long as nobody else does anything: what one reads.
    Pure(Vec<Glance>),
    /// The same, but it changes memory and takes that back: others may go on meanwhile.
    TakesBack(Vec<Glance>),
    /// It comes to where it has to wait, for what another one may hold that takes it and gives it back.
    Waits,
    /// Something else.
    GoesOn,
}

/// Does the thread, which is ready, go round a loop as long as nobody else does anything?
pub fn goes_round(program: &mut Program, machine: &mut Machine, thread: ThreadId) -> bool {
    matches!(
        spin_iteration(program, machine, thread),
        SpinIteration::Pure(_) | SpinIteration::TakesBack(_)
    )
}

/// An iteration that changes memory more often is not taken for one that takes everything back.
const MOST_CHANGES: usize = 32;
/// A thread comes back to a state so often before memory holds what it held. A mutex that is taken for the first time learns its kind.
const MOST_TIMES: usize = 3;

/// Does the thread, running alone, come back to a state with memory as it was?
fn spin_iteration(program: &mut Program, machine: &mut Machine, thread: ThreadId) -> SpinIteration {
    let start = machine.mark();
    let turn = go_round(program, machine, thread);
    machine.undo_to(start);
    turn
}

fn go_round(program: &mut Program, machine: &mut Machine, thread: ThreadId) -> SpinIteration {
    // A store that is still to reach memory may end the loop.
    let any_delayed = |thread| !machine.delayed(thread).is_empty();
    if threads(machine).any(any_delayed) {
        return SpinIteration::GoesOn;
    }
    // The machine when the thread was in a state.
    let mut left: FxHashMap<StateId, Mark> = FxHashMap::default();
    let (mut changes, mut times) = (0, 0);
    for _ in 0..LONGEST_ITERATION {
        let Some(state) = machine.thread_state(thread) else {
            return SpinIteration::GoesOn;
        };
        if let Some(&first) = left.get(&state) {
            let is_back = machine.changed_since(first).is_some_and(|it| it.is_empty());
            if is_back {
                return round_of(program, &machine.steps()[first.steps()..], changes > 0);
            }
            times += 1;
            left.clear();
        }
        match machine.readiness(program, thread) {
            Readiness::Ready if times <= MOST_TIMES => {}
            Readiness::Waiting => return SpinIteration::Waits,
            _ => return SpinIteration::GoesOn,
        }
        let mark = machine.mark();
        left.insert(state, mark);
        let end = machine.step(program, thread, &[]);
        let steps = || machine.steps()[mark.steps()..].iter();
        let chose = steps().any(|step| may_lead_elsewhere(program.op(step.state)));
        changes += usize::from(!machine.is_pure_since(mark));
        if end != StepEnd::Done || chose || changes > MOST_CHANGES {
            return SpinIteration::GoesOn;
        }
    }
    SpinIteration::GoesOn
}

/// Is it a choice of which another one may lead out of a loop? That an attempt does not fail for no reason is none: in an iteration that changes nothing it
/// fails for a reason, and then the other choice comes to the same. Where an iteration changes something and takes it back, all choices are tried ([`Together`]).
fn may_lead_elsewhere(op: &Op) -> bool {
    matches!(op, Op::Choice { of, .. } if *of != ChoiceOf::Failing)
}

/// What threads do from the end of an execution on, all of them in whatever order.
struct Together {
    start: Mark,
    seen: FxHashMap<Moment, usize>,
    /// Which moments lead to which.
    edges: Vec<(usize, usize)>,
}

/// Local states and memory, as far as it is not what it was in the beginning.
type Moment = (Vec<Option<StateId>>, Vec<(u32, u8)>);

/// More moments are not looked at.
const MOST_MOMENTS: usize = 4096;

/// Why threads were not followed any further.
enum NoRound {
    /// One of them comes to its end, or does what is no part of going round a loop.
    Ends,
    /// There are too many moments.
    TooMany,
}

impl Together {
    fn new(machine: &Machine) -> Self {
        Self {
            start: machine.mark(),
            seen: FxHashMap::default(),
            edges: Vec::new(),
        }
    }

    /// Does any thread do something else than going round, or have they not come yet to where they go round for good? None if that is not found out.
    fn go_on(mut self, program: &mut Program, machine: &mut Machine) -> Option<bool> {
        match self.walk(program, machine) {
            Ok(_) => Some(!self.all_come_back()),
            Err(NoRound::Ends) => Some(true),
            Err(NoRound::TooMany) => None,
        }
    }

    /// The number of the machine's moment, and with it all that come after it.
    fn walk(&mut self, program: &mut Program, machine: &mut Machine) -> Result<usize, NoRound> {
        let changed = machine.changed_since(self.start).ok_or(NoRound::Ends)?;
        let states: Vec<_> = threads(machine)
            .map(|thread| machine.thread_state(thread))
            .collect();
        let number = self.seen.len();
        match self.seen.entry((states, changed)) {
            Entry::Occupied(known) => return Ok(*known.get()),
            Entry::Vacant(_) if number >= MOST_MOMENTS => return Err(NoRound::TooMany),
            Entry::Vacant(new) => new.insert(number),
        };
        let mark = machine.mark();
        for thread in threads(machine) {
            if machine.readiness(program, thread) != Readiness::Ready {
                continue;
            }
            let mut next = Some(Vec::new());
            while let Some(choices) = next {
                let end = machine.step(program, thread, &choices);
                next = other_choices(machine);
                let has_ended = end != StepEnd::Done
                    || matches!(machine.readiness(program, thread), Readiness::Ended(_));
                let to = match has_ended {
                    true => Err(NoRound::Ends),
                    false => self.walk(program, machine),
                };
                machine.undo_to(mark);
                self.edges.push((number, to?));
            }
        }
        Ok(number)
    }

    /// Do all moments lead back to the first one?
    fn all_come_back(&self) -> bool {
        let mut leads_back = vec![false; self.seen.len()];
        leads_back[0] = true;
        let mut is_news = true;
        while std::mem::take(&mut is_news) {
            for &(from, to) in &self.edges {
                is_news |= leads_back[to] && !leads_back[from];
                leads_back[from] |= leads_back[to];
            }
        }
        !leads_back.contains(&false)
    }
}

/// An iteration behind which memory is what it was.
fn round_of(program: &Program, steps: &[MicroStep], takes_back: bool) -> SpinIteration {
    let mut reads: Vec<Glance> = Vec::new();
    for step in steps {
        let is_read = match program.op(step.state) {
            Op::Load { .. } | Op::Rmw { .. } | Op::Cas { .. } => true,
            Op::Sync { action, .. } => takes_back || action.is_try(),
            _ => false,
        };
        if is_read {
            reads.push(Glance {
                state: step.state,
                value: step.value,
            });
        }
    }
    // What is taken and given back is not what the thread waits for.
    let is_load = |glance: &Glance| matches!(program.op(glance.state), Op::Load { .. });
    if takes_back && reads.iter().any(is_load) {
        reads.retain(is_load);
    }
    match reads.as_slice() {
        [] => SpinIteration::GoesOn,
        _ if takes_back => SpinIteration::TakesBack(reads),
        _ => SpinIteration::Pure(reads),
    }
}
