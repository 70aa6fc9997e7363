//! Programs whose loops wait, against all states that they can be in.
//!
//! Such programs have executions without end, but they have finitely many states: memory and the local states of the threads. The
//! reference walks these, without any notion of purity. What an engine that leaves pure iterations out must still see is then known
//! exactly: by theorem 1 of the await paper every local state, and with it every fault and every deadlock. (The states that the
//! theorem excepts, in which a thread can only complete a pure iteration, are seen too: iterations are left out at their last step.)
//!
//! Data races are about executions rather than states. For them the reference runs all interleavings in which each thread
//! completes one pure iteration at most.

use super::{Summary, for_each_of, for_each_program, number};
use crate::dpor;
use crate::driver::{Reductions, SearchOptions, ViolationKey, check};
use crate::ending;
use crate::interleavings::other_choices;
use crate::mcr::{self, Setup};
use crate::replay::stop_of;
use crate::rf;
use crate::rvf::{self, RvfOptions};
use crate::spinning::{caching, counting, glancing, setting, taking};
use crate::verdict::{self, Checks, EngineKind, Verdict, ViolationKind, Waiting};
use raddle_memory::{Ending, Machine, RaceDetector, Readiness, StepEnd};
use raddle_program::{LocId, Op, Program, SrcId, StateId, Stop, ThreadId, Value};
use raddle_testing::builder::{BuiltProgram, Compare, ProgramBuilder};
use raddle_testing::generate::GenOptions;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// All that the future depends on.
#[derive(PartialEq, Eq, Hash)]
struct State {
    /// Where each thread is; whether it committed a fault there; whether it is inside of an atomic block.
    threads: Vec<(Option<StateId>, bool, bool)>,
    memory: Vec<Value>,
}

impl State {
    fn of(program: &Program, machine: &mut Machine) -> Self {
        let threads = ending::threads(machine)
            .map(|thread| {
                let faulted =
                    machine.readiness(program, thread) == Readiness::Ended(Ending::Faulted);
                let in_block = machine.is_in_block(thread);
                (machine.thread_state(thread), faulted, in_block)
            })
            .collect();
        let locs = (0..program.tables().loc_count()).map(LocId::from_index);
        let memory = locs
            .map(|loc| machine.peek(program.tables(), loc))
            .collect();
        Self { threads, memory }
    }
}

#[derive(Default)]
pub(super) struct Reached {
    states: FxHashSet<State>,
    pub(super) local_states: BTreeSet<StateId>,
    pub(super) violations: FxHashSet<ViolationKey>,
    /// Deadlocks that threads have a part in that wait in loops.
    pub(super) spinning: BTreeSet<Vec<(ThreadId, bool)>>,
}

/// More states than this are not worth the time.
const MOST_STATES: usize = 20_000;

impl Reached {
    /// Everything from the machine's state on; false if that is too much.
    fn walk(&mut self, program: &mut Program, machine: &mut Machine) -> bool {
        for thread in ending::threads(machine) {
            let Some(state) = machine.thread_state(thread) else {
                continue;
            };
            self.local_states.insert(state);
            if let Some(Stop::Fault(fault)) = stop_of(program, machine, thread) {
                let kind = ViolationKind::Fault(fault.clone());
                self.violations
                    .insert(ViolationKey::new(&kind, program.at(state)));
            }
        }
        if !self.states.insert(State::of(program, machine)) {
            return true;
        }
        if self.states.len() > MOST_STATES {
            return false;
        }
        let mark = machine.mark();
        let mut any = false;
        for thread in ending::threads(machine) {
            if machine.readiness(program, thread) != Readiness::Ready {
                continue;
            }
            any = true;
            let mut next = Some(Vec::new());
            while let Some(choices) = next {
                let end = machine.step(program, thread, &choices);
                next = other_choices(machine);
                for step in &machine.steps()[mark.steps()..] {
                    self.local_states.insert(step.state);
                }
                if let (StepEnd::Fault(fault), Some(state)) = (end, machine.thread_state(thread)) {
                    let kind = ViolationKind::Fault(fault);
                    self.violations
                        .insert(ViolationKey::new(&kind, program.at(state)));
                }
                let goes_on = self.walk(program, machine);
                machine.undo_to(mark);
                if !goes_on {
                    return false;
                }
            }
        }
        self.judge(program, machine, any);
        true
    }

    /// Is it a deadlock if the machine stays as it is?
    fn judge(&mut self, program: &mut Program, machine: &mut Machine, any_ready: bool) {
        let waiting = ending::deadlock(program, machine);
        if any_ready && !has_stopped(program, machine) {
            let mut seen = FxHashSet::default();
            let memory = State::of(program, machine).memory;
            let is_doomed = never_changes(program, machine, &memory, &mut seen);
            assert!(!is_doomed || waiting.is_some());
            // Where threads still change something, somewhere else is where they wait in the end.
            if !is_doomed {
                return;
            }
        }
        let Some(waiting) = waiting else {
            return;
        };
        if any_ready {
            self.spinning.insert(signature(&waiting));
        } else if !ending::is_complete(program, machine) {
            let at = waiting[0].at;
            let kind = ViolationKind::Deadlock { waiting };
            self.violations.insert(ViolationKey::new(&kind, at));
        }
    }
}

/// Who waits, and whether in a loop. Where in its loop a thread stands when the others are done is nobody's concern.
fn signature(waiting: &[Waiting]) -> Vec<(ThreadId, bool)> {
    let mut signature: Vec<_> = waiting.iter().map(|it| (it.thread, it.spins())).collect();
    signature.sort_unstable();
    signature
}

/// Has a thread stopped that might have helped?
fn has_stopped(program: &Program, machine: &mut Machine) -> bool {
    let mut threads = ending::threads(machine);
    threads.any(|thread| match machine.readiness(program, thread) {
        Readiness::Ended(ending) => ending != Ending::Finished,
        _ => false,
    })
}

/// Does everything stay as it is whatever the threads do, and does nobody finish or stop?
fn never_changes(
    program: &mut Program,
    machine: &mut Machine,
    memory: &[Value],
    seen: &mut FxHashSet<State>,
) -> bool {
    let state = State::of(program, machine);
    if state.memory != memory {
        return false;
    }
    if !seen.insert(state) {
        return true;
    }
    let mark = machine.mark();
    for thread in ending::threads(machine) {
        if machine.readiness(program, thread) != Readiness::Ready {
            continue;
        }
        let mut next = Some(Vec::new());
        while let Some(choices) = next {
            let end = machine.step(program, thread, &choices);
            next = other_choices(machine);
            let goes_on = end == StepEnd::Done
                && machine.is_pure_since(mark)
                && machine.readiness(program, thread) == Readiness::Ready
                && never_changes(program, machine, memory, seen);
            machine.undo_to(mark);
            if !goes_on {
                return false;
            }
        }
    }
    true
}

/// What the program can reach; none if that is too much. Walked until no new location or thread turns up on the way, which would
/// make states that are the same look different.
pub(super) fn reachable(program: &mut Program) -> Option<Reached> {
    loop {
        let mut machine = Machine::new(program);
        let before = program.tables().loc_count();
        let mut reached = Reached::default();
        if !reached.walk(program, &mut machine) {
            return None;
        }
        if program.tables().loc_count() == before {
            return Some(reached);
        }
    }
}

fn found_by(
    engine: EngineKind,
    program: &mut Program,
    reductions: Reductions,
    races: bool,
) -> Vec<crate::Violation> {
    let options = SearchOptions {
        checks: Checks {
            races,
            overflows: true,
            uninit: true,
            ..Checks::default()
        },
        reductions,
        keep_going: true,
        ..SearchOptions::default()
    };
    let outcome = check(program, engine, options).expect("violations are reproduced");
    match outcome.verdict {
        Verdict::Violation(found) => found,
        // Where no execution comes to its end, that is all there is to say.
        Verdict::Verified(verdict::Bound::Complete)
        | Verdict::Inconclusive(verdict::Reason::NothingEnds { bound: None }) => Vec::new(),
        other => panic!("{other:?}"),
    }
}

/// All but deadlocks that threads have a part in that wait in loops; and those.
fn sorted_out(
    found: &[crate::Violation],
) -> (FxHashSet<ViolationKey>, BTreeSet<Vec<(ThreadId, bool)>>) {
    let (mut others, mut spinning) = (FxHashSet::default(), BTreeSet::new());
    for violation in found {
        match &violation.kind {
            ViolationKind::Deadlock { waiting } if waiting.iter().any(Waiting::spins) => {
                spinning.insert(signature(waiting));
            }
            kind => {
                others.insert(ViolationKey::new(kind, violation.at));
            }
        }
    }
    (others, spinning)
}

/// All ways to leave pure iterations out.
fn reductions() -> impl Iterator<Item = Reductions> {
    let ways = [(true, false), (true, true), (false, false), (false, true)];
    ways.into_iter().map(|(awaits, ifaa)| Reductions {
        net_effect: true,
        purity: true,
        awaits,
        ifaa,
    })
}

fn ways() -> impl Iterator<Item = (EngineKind, Reductions)> {
    let of = |engine| {
        // Only `dpor` knows that fetch-and-adds are independent.
        reductions()
            .filter(move |reductions| engine == EngineKind::Dpor || !reductions.ifaa)
            .map(move |reductions| (engine, reductions))
    };
    // `graph` is compared with `dpor`, and with a brute force of its own (`graph/tests.rs`).
    let all = EngineKind::ALL.iter().copied();
    all.filter(|&engine| engine.knows_purity() && engine != EngineKind::Graph)
        .flat_map(of)
}

#[test]
fn no_local_state_is_lost() {
    for_each_program(250, GenOptions::spinning(), |_, built| {
        let mut program = built.program();
        let Some(reached) = reachable(&mut program) else {
            return;
        };
        lose_no_local_state(&mut program, &reached);
    });
}

fn lose_no_local_state(program: &mut Program, reached: &Reached) {
    program.learn_uses(false);
    for (engine, reductions) in ways() {
        let mut summary = Summary::default();
        let _ = match engine {
            EngineKind::Rf => rf::Search::new(program, reductions).run(program, &mut summary),
            EngineKind::Rvf => {
                let options = RvfOptions {
                    reductions,
                    ..RvfOptions::default()
                };
                rvf::Search::new(program, options).run(program, &mut summary)
            }
            EngineKind::Mcr => {
                let setup = Setup {
                    reductions,
                    ..Setup::default()
                };
                mcr::Search::new(program, setup).run(program, &mut summary)
            }
            _ => dpor::Search::new(program, reductions).run(program, &mut summary),
        };
        assert_eq!(summary.given_up, 0);
        let lost: Vec<_> = reached
            .local_states
            .difference(&summary.local_states)
            .map(|&state| (state, program.op(state)))
            .collect();
        assert!(lost.is_empty(), "{engine:?}, {reductions:?} loses {lost:?}");
        assert!(summary.local_states.is_subset(&reached.local_states));
    }
}

#[test]
fn no_fault_and_no_deadlock_is_lost() {
    let (mut spinning, mut not_spinning) = (0, 0);
    for_each_program(250, GenOptions::spinning(), |_, built| {
        let mut program = built.program();
        // The first search knows nothing of the program: sizes, say, turn out to be mixed while it runs.
        let found: Vec<_> = ways()
            .map(|(engine, reductions)| found_by(engine, &mut program, reductions, false))
            .collect();
        let Some(reached) = reachable(&mut program) else {
            return;
        };
        for (found, way) in found.iter().zip(ways()) {
            let (others, waiting) = sorted_out(found);
            assert_eq!(others, reached.violations, "{way:?}");
            assert_eq!(waiting, reached.spinning, "{way:?}");
        }
        spinning += u32::from(!reached.spinning.is_empty());
        not_spinning += u32::from(reached.spinning.is_empty());
    });
    assert!(spinning > 10 && not_spinning > 10);
}

/// Loops that store what is there already to memory that no other thread accesses.
#[test]
fn nothing_is_lost_where_threads_keep_what_they_have_seen() {
    let (mut spinning, mut not_spinning) = (0, 0);
    for_each_of(250, caching, |_, built| {
        let mut program = built.program();
        let found: Vec<_> = ways()
            .map(|(engine, reductions)| found_by(engine, &mut program, reductions, true))
            .collect();
        let Some(reached) = reachable(&mut program) else {
            return;
        };
        for (found, way) in found.iter().zip(ways()) {
            let (others, waiting) = sorted_out(found);
            assert_eq!(others, reached.violations, "{way:?}");
            assert_eq!(waiting, reached.spinning, "{way:?}");
        }
        lose_no_local_state(&mut program, &reached);
        spinning += u32::from(!reached.spinning.is_empty());
        not_spinning += u32::from(reached.spinning.is_empty());
    });
    assert!(spinning > 10 && not_spinning > 10);
}

/// All races of executions in which each thread completes one pure iteration at most.
struct Races {
    machine: Machine,
    detector: RaceDetector,
    found: FxHashSet<ViolationKey>,
    /// The states that each thread was in since it last changed memory.
    since: Vec<(ThreadId, StateId)>,
    left: u32,
}

impl Races {
    fn walk(&mut self, program: &mut Program, completed: &mut Vec<ThreadId>) {
        let mark = self.machine.mark();
        for thread in ending::threads(&self.machine) {
            if self.left == 0 {
                return;
            }
            if self.machine.readiness(program, thread) != Readiness::Ready {
                continue;
            }
            let from = self.machine.thread_state(thread).expect("it is ready");
            let mut next = Some(Vec::new());
            while let Some(choices) = next {
                let kept = self.since.clone();
                let _ = self.machine.step(program, thread, &choices);
                next = other_choices(&self.machine);
                let is_pure = self.machine.is_pure_since(mark)
                    && matches!(
                        program.op(from),
                        Op::Load { .. } | Op::Rmw { .. } | Op::Cas { .. } | Op::Sync { .. }
                    );
                if is_pure {
                    self.since.push((thread, from));
                } else {
                    self.since.retain(|&(other, _)| other != thread);
                }
                let now = self.machine.thread_state(thread);
                let closes = now.is_some_and(|now| self.since.contains(&(thread, now)));
                if closes && completed.contains(&thread) {
                    // Once was enough.
                } else {
                    for index in mark.steps()..self.machine.steps().len() {
                        let step = self.machine.steps()[index];
                        if let Some(race) = self.detector.push(program, step) {
                            let at = race.second.at;
                            let kind = ViolationKind::Race(race);
                            self.found.insert(ViolationKey::new(&kind, at));
                        }
                    }
                    if closes {
                        completed.push(thread);
                    }
                    self.left = self.left.saturating_sub(1);
                    self.walk(program, completed);
                    if closes {
                        completed.pop();
                    }
                }
                self.since = kept;
                self.machine.undo_to(mark);
                self.detector.truncate(mark.steps());
            }
        }
    }
}

/// Of several accesses that race with the read of a thread that waits, one is found.
#[test]
fn no_race_is_lost() {
    let options = GenOptions {
        max_threads: 2,
        max_ops_per_thread: 3,
        ..GenOptions::spinning()
    };
    for_each_program(150, options, |_, built| lose_no_race(built));
}

#[test]
fn no_race_of_a_round_that_others_build_on_is_lost() {
    for_each_of(600, glancing, |_, built| lose_no_race(built));
}

fn lose_no_race(built: &BuiltProgram) {
    let mut program = built.program();
    let mut races = Races {
        machine: Machine::new(&program),
        detector: RaceDetector::new(),
        found: FxHashSet::default(),
        since: Vec::new(),
        left: number("RADDLE_PROPTEST_STEPS", 60_000) as u32,
    };
    races.walk(&mut program, &mut Vec::new());
    let is_race = |key: &ViolationKey| matches!(key, ViolationKey::Race(..));
    // The others find a race if there is one.
    for (engine, reductions) in ways().filter(|(engine, _)| *engine != EngineKind::Dpor) {
        let found = found_by(engine, &mut built.program(), reductions, true);
        let (found, _) = sorted_out(&found);
        assert!(
            races.found.is_empty() || found.iter().any(is_race),
            "{engine:?}, {reductions:?}"
        );
    }
    for reductions in reductions() {
        let found = found_by(EngineKind::Dpor, &mut program, reductions, true);
        let (found, _) = sorted_out(&found);
        lose_none(&races.found, &found, reductions);
    }
}

/// Of several accesses that race with one, one is found at least.
fn lose_none(
    races: &FxHashSet<ViolationKey>,
    found: &FxHashSet<ViolationKey>,
    reductions: Reductions,
) {
    let places = |key: &ViolationKey| match *key {
        ViolationKey::Race(a, b) => [a, b],
        _ => [SrcId::NOWHERE; 2],
    };
    for lost in races.difference(found) {
        let at = places(lost);
        let mut known = found.iter().flat_map(places);
        let is_known = known.any(|place| at.contains(&place));
        assert!(is_known, "{reductions:?} loses {lost:?}");
    }
}

/// What memory holds in the end depends on the order of writes that nobody reads; whether a loop that looks at several
/// variables goes on for good depends on that.
#[test]
fn the_order_of_writes_that_nobody_reads_counts() {
    for first_stops in [false, true] {
        let mut b = ProgramBuilder::new("two writers");
        let (x, y) = (b.var("x", 4), b.var("y", 4));
        for value in [u64::from(first_stops), u64::from(!first_stops)] {
            b.thread(&format!("w{value}"), |t| t.store(x, value));
        }
        b.thread("q", |t| {
            t.while_(
                |t| {
                    let (a, b) = (t.load(x), t.load(y));
                    (a + b).is(0)
                },
                |_| {},
            );
        });
        let built = b.build();
        for (engine, reductions) in ways() {
            let found = found_by(engine, &mut built.program(), reductions, false);
            let (others, spinning) = sorted_out(&found);
            assert!(others.is_empty());
            assert_eq!(spinning.len(), 1, "{engine:?}, {reductions:?}");
        }
    }
}

/// All states that a program can be in, and which of them lead to which.
#[derive(Default)]
struct States {
    indices: FxHashMap<State, usize>,
    /// By state: who has not ended, and whether somebody can end in the next step.
    unended: Vec<Vec<ThreadId>>,
    ends: Vec<bool>,
    edges: Vec<(usize, usize)>,
    local_states: BTreeSet<StateId>,
}

impl States {
    /// The index of the machine's state; none if there are too many.
    fn walk(&mut self, program: &mut Program, machine: &mut Machine) -> Option<usize> {
        let state = State::of(program, machine);
        if let Some(&index) = self.indices.get(&state) {
            return Some(index);
        }
        let index = self.indices.len();
        if index >= 4_000 {
            return None;
        }
        self.indices.insert(state, index);
        let threads = ending::threads(machine);
        let is_unended = |&thread: &ThreadId| {
            matches!(
                machine.readiness(program, thread),
                Readiness::Ready | Readiness::Waiting
            )
        };
        self.unended.push(threads.filter(is_unended).collect());
        self.ends.push(false);
        let mark = machine.mark();
        for thread in ending::threads(machine) {
            if let Some(state) = machine.thread_state(thread) {
                self.local_states.insert(state);
            }
            if machine.readiness(program, thread) != Readiness::Ready {
                continue;
            }
            let end = machine.step(program, thread, &[]);
            assert_eq!(end, StepEnd::Done);
            if matches!(machine.readiness(program, thread), Readiness::Ended(_)) {
                self.ends[index] = true;
            }
            let to = self.walk(program, machine);
            machine.undo_to(mark);
            self.edges.push((index, to?));
        }
        Some(index)
    }

    /// Who waits for good where nobody can end any more.
    fn waiting_for_good(&self) -> BTreeSet<Vec<ThreadId>> {
        let mut ends = self.ends.clone();
        loop {
            let before = ends.iter().filter(|&&it| it).count();
            for &(from, to) in self.edges.iter().rev() {
                ends[from] |= ends[to];
            }
            if ends.iter().filter(|&&it| it).count() == before {
                break;
            }
        }
        let doomed = (0..ends.len()).filter(|&state| !ends[state]);
        let waiting = doomed.map(|state| self.unended[state].clone());
        waiting.filter(|threads| !threads.is_empty()).collect()
    }
}

fn all_states(program: &mut Program) -> Option<States> {
    loop {
        let before = program.tables().loc_count();
        let mut states = States::default();
        states.walk(program, &mut Machine::new(program))?;
        if program.tables().loc_count() == before {
            return Some(states);
        }
    }
}

/// Loops that take a lock and give it back: the same local states as all interleavings have, and the same threads wait for good.
#[test]
fn nothing_is_lost_where_threads_take_and_give_back() {
    nothing_is_lost(taking, &ORDERING_ALL);
}

/// Loops that change memory which no other thread accesses, and take that back or do not: with all engines that leave out iterations.
#[test]
fn nothing_is_lost_where_threads_set_and_take_back() {
    let engines = EngineKind::ALL.iter().copied();
    let engines: Vec<_> = engines.filter(|engine| engine.knows_purity()).collect();
    nothing_is_lost(setting, &engines);
}

#[test]
fn nothing_is_lost_where_threads_count_themselves() {
    nothing_is_lost(counting, &ORDERING_ALL);
}

/// Engines that leave out iterations which take something that others access and give it back.
const ORDERING_ALL: [EngineKind; 2] = [EngineKind::Dpor, EngineKind::Rf];

fn nothing_is_lost(family: fn(u64) -> BuiltProgram, engines: &[EngineKind]) {
    let (mut waiting, mut not_waiting) = (0, 0);
    for_each_of(300, family, |_, built| {
        let mut program = built.program();
        let Some(states) = all_states(&mut program) else {
            return;
        };
        let expected = states.waiting_for_good();
        waiting += u32::from(!expected.is_empty());
        not_waiting += u32::from(expected.is_empty());
        for &engine in engines {
            for reductions in reductions() {
                let found = found_by(engine, &mut built.program(), reductions, false);
                let threads = found.iter().map(|violation| match &violation.kind {
                    ViolationKind::Deadlock { waiting } => {
                        let mut threads: Vec<_> = waiting.iter().map(|it| it.thread).collect();
                        threads.sort_unstable();
                        threads
                    }
                    other => panic!("{other:?}"),
                });
                let threads: BTreeSet<_> = threads.collect();
                assert_eq!(threads, expected, "{engine:?}, {reductions:?}");
            }
        }
        program.learn_uses(false);
        for reductions in reductions() {
            let mut summary = Summary::default();
            let _ = dpor::Search::new(&program, reductions).run(&mut program, &mut summary);
            assert_eq!(summary.given_up, 0);
            assert_eq!(summary.local_states, states.local_states, "{reductions:?}");
        }
    });
    assert!(waiting > 10 && not_waiting > 10);
}

/// Races of all interleavings in which no thread takes more than so many steps.
struct RacesOfFew {
    machine: Machine,
    detector: RaceDetector,
    found: FxHashSet<ViolationKey>,
    taken: Vec<u32>,
    left: u32,
}

impl RacesOfFew {
    fn walk(&mut self, program: &mut Program) {
        let mark = self.machine.mark();
        for thread in ending::threads(&self.machine) {
            if self.left == 0 {
                return;
            }
            if self.machine.readiness(program, thread) != Readiness::Ready {
                continue;
            }
            self.taken
                .resize(self.machine.thread_count().max(self.taken.len()), 0);
            if self.taken[thread.index()] >= 12 {
                continue;
            }
            self.left -= 1;
            self.taken[thread.index()] += 1;
            let _ = self.machine.step(program, thread, &[]);
            for index in mark.steps()..self.machine.steps().len() {
                let step = self.machine.steps()[index];
                if let Some(race) = self.detector.push(program, step) {
                    let at = race.second.at;
                    let kind = ViolationKind::Race(race);
                    self.found.insert(ViolationKey::new(&kind, at));
                }
            }
            self.walk(program);
            self.taken[thread.index()] -= 1;
            self.machine.undo_to(mark);
            self.detector.truncate(mark.steps());
        }
    }
}

#[test]
fn no_race_is_lost_where_threads_take_and_give_back() {
    lose_none_of_few(taking);
}

#[test]
fn no_race_is_lost_where_threads_count_themselves() {
    lose_none_of_few(counting);
}

fn lose_none_of_few(family: fn(u64) -> BuiltProgram) {
    let mut any = 0;
    for_each_of(200, family, |_, built| {
        let mut program = built.program();
        let mut races = RacesOfFew {
            machine: Machine::new(&program),
            detector: RaceDetector::new(),
            found: FxHashSet::default(),
            taken: Vec::new(),
            left: number("RADDLE_PROPTEST_STEPS", 40_000) as u32,
        };
        races.walk(&mut program);
        any += u32::from(!races.found.is_empty());
        for reductions in reductions() {
            // Places have the same numbers in the same program only.
            let found = found_by(EngineKind::Dpor, &mut program, reductions, true);
            let (found, _) = sorted_out(&found);
            lose_none(&races.found, &found, reductions);
        }
    });
    assert!(any > 10);
}
