//! Which engine for a program of which nothing is known?
//!
//! `rf` never explores more classes than `dpor` without independent fetch-and-adds, often far fewer, and costs at most a few times
//! as much for each. `dpor` is better where the program does what `rf` has no good answer to: additions to a common variable
//! whose results nobody uses (independent for `dpor`), and events with many sources (atomic blocks, accesses of different
//! sizes to the same bytes: `rf` tries all combinations). Where threads meet in locks only, a reads-from class is an order of the
//! critical sections, which is what `dpor` explores, too, at less cost for each. Whether the program does one of these is seen in one execution. That may be wrong, which
//! costs time and nothing else: both engines give the same answers.

use crate::driver::Reductions;
use crate::verdict::EngineKind;
use raddle_memory::{Machine, Readiness, StepEnd, accesses};
use raddle_program::{LocId, Op, Program, RmwKind, SyncAction, ThreadId};
use rustc_hash::FxHashMap;

/// The execution is cut off after so many events: it may have no end.
const PROBE_EVENTS: usize = 10_000;
/// A thread goes on for so many events before the next one has its turn: long enough to get somewhere, short enough for all to
/// have a turn.
const QUANTUM: usize = 50;

/// The engine that is probably best for a program under sequential consistency.
#[must_use]
pub fn choose_engine(program: &mut Program, reductions: Reductions) -> EngineKind {
    let machine = probe(program);
    if has_wide_events(program, &machine)
        || (reductions.ifaa && adds(program, &machine))
        || meets_in_locks_only(program, &machine)
    {
        EngineKind::Dpor
    } else {
        EngineKind::Rf
    }
}

/// One execution: each thread has its turn, one after the other.
fn probe(program: &mut Program) -> Machine {
    let mut machine = Machine::new(program);
    let mut events = 0;
    let mut any = true;
    while any && events < PROBE_EVENTS {
        any = false;
        let mut index = 0;
        while index < machine.thread_count() {
            let thread = ThreadId::from_index(index);
            for _ in 0..QUANTUM {
                if machine.readiness(program, thread) != Readiness::Ready {
                    break;
                }
                if machine.step(program, thread, &[]) == StepEnd::EndlessBlock {
                    return machine;
                }
                any = true;
                events += 1;
            }
            index += 1;
        }
    }
    machine
}

/// Are there atomic blocks, or accesses of different sizes to the same bytes?
fn has_wide_events(program: &Program, machine: &Machine) -> bool {
    machine.steps().iter().any(|step| {
        let mut mixed = *program.op(step.state) == Op::AtomicBegin;
        accesses(program, step, |access| {
            mixed |= program.tables().loc_info(access.loc).mixed;
        });
        mixed
    })
}

/// Do two threads add to one location without looking at the result?
fn adds(program: &Program, machine: &Machine) -> bool {
    let mut first: Vec<(LocId, ThreadId)> = Vec::new();
    machine.steps().iter().any(|step| {
        let Op::Rmw {
            loc,
            kind: RmwKind::Add | RmwKind::Sub,
            ..
        } = *program.op(step.state)
        else {
            return false;
        };
        if !program.ignores_result(step.state) {
            return false;
        }
        match first.iter().find(|(added, _)| *added == loc) {
            Some(&(_, thread)) => thread != step.thread,
            None => {
                first.push((loc, step.thread));
                false
            }
        }
    })
}

/// What is known of a location that is no synchronisation object.
#[derive(Default)]
struct Shared {
    first: Option<ThreadId>,
    /// Somebody else has accessed it, with one of these locks in hand each time.
    locks: Option<Vec<LocId>>,
    is_written: bool,
}

/// Do several threads take locks, and is all that they share accessed with one of these in hand? As far as one execution tells (Savage et al., *Eraser*, TOCS 1997). What
/// is done before other threads start and after they are joined does not count.
fn meets_in_locks_only(program: &Program, machine: &Machine) -> bool {
    let mut held: FxHashMap<ThreadId, Vec<LocId>> = FxHashMap::default();
    let mut shared: FxHashMap<LocId, Shared> = FxHashMap::default();
    let mut takers: Vec<ThreadId> = Vec::new();
    let mut running = 0_usize;
    let mut meets = false;
    for step in machine.steps() {
        match *program.op(step.state) {
            Op::Spawn { .. } => running += 1,
            Op::Join { .. } => running = running.saturating_sub(1),
            Op::Sync { cell, action } => {
                let held = held.entry(step.thread).or_default();
                match action {
                    SyncAction::Lock { .. } | SyncAction::ReadLock | SyncAction::WriteLock => {
                        held.push(cell);
                        if !takers.contains(&step.thread) {
                            takers.push(step.thread);
                        }
                    }
                    SyncAction::Unlock { .. } | SyncAction::RwUnlock => {
                        held.retain(|&it| it != cell);
                    }
                    // The mutex is given back for a moment; it is taken again by an operation of its own.
                    SyncAction::CondRelease { mutex } => held.retain(|&it| it != mutex),
                    _ => {}
                }
            }
            _ if running > 0 => accesses(program, step, |access| {
                let it = shared.entry(access.loc).or_default();
                let first = *it.first.get_or_insert(step.thread);
                it.is_written |= access.mode.writes();
                if it.locks.is_none() && first == step.thread {
                    return;
                }
                let held = held.get(&step.thread).map_or(&[][..], Vec::as_slice);
                let locks = it.locks.get_or_insert_with(|| held.to_vec());
                locks.retain(|lock| held.contains(lock));
                meets |= it.is_written && locks.is_empty();
            }),
            _ => {}
        }
    }
    takers.len() > 1 && !meets
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_testing::builder::{Compare, ProgramBuilder};
    use raddle_testing::samples;

    fn choice(build: impl FnOnce(&mut ProgramBuilder)) -> EngineKind {
        let mut b = ProgramBuilder::new("choice");
        build(&mut b);
        choose_engine(&mut b.build().program(), Reductions::default())
    }

    #[test]
    fn rf_unless_something_speaks_against_it() {
        for built in [samples::fib_bench(2), samples::ttaslock(3)] {
            let chosen = choose_engine(&mut built.program(), Reductions::default());
            assert_eq!(chosen, EngineKind::Rf);
        }
    }

    #[test]
    fn dpor_where_threads_meet_in_locks_only() {
        let build = |has_flag: bool| {
            move |b: &mut ProgramBuilder| {
                let (m, x, flag) = (b.mutex("m"), b.var("x", 4), b.var("flag", 4));
                for name in ["p", "q"] {
                    b.thread(name, |t| {
                        t.lock(m);
                        let found = t.load_plain(x);
                        t.store_plain(x, found + 1);
                        t.unlock(m);
                        if has_flag {
                            t.store(flag, 1);
                        }
                    });
                }
                // Whoever has joined all others needs no lock.
                b.main(|t| {
                    t.store_plain(x, 1);
                    t.spawn_all();
                    t.join_all();
                    t.load_plain(x);
                });
            }
        };
        assert_eq!(choice(build(false)), EngineKind::Dpor);
        assert_eq!(choice(build(true)), EngineKind::Rf);
    }

    #[test]
    fn dpor_with_independent_fetch_and_adds() {
        let build = |b: &mut ProgramBuilder| {
            let x = b.var("x", 4);
            for name in ["p", "q"] {
                b.thread(name, |t| {
                    t.fetch_add(x, 1);
                });
            }
        };
        assert_eq!(choice(build), EngineKind::Dpor);
        let mut b = ProgramBuilder::new("choice");
        build(&mut b);
        let reductions = Reductions {
            ifaa: false,
            ..Reductions::default()
        };
        let chosen = choose_engine(&mut b.build().program(), reductions);
        assert_eq!(chosen, EngineKind::Rf);
    }

    #[test]
    fn dpor_where_blocks_are() {
        let chosen = choice(|b| {
            let x = b.var("x", 4);
            b.thread("p", |t| t.atomic(|t| t.store(x, 1)));
            b.thread("q", |t| t.store(x, 2));
        });
        assert_eq!(chosen, EngineKind::Dpor);
    }

    #[test]
    fn a_loop_without_end_does_not_matter() {
        let chosen = choice(|b| {
            let x = b.var("x", 4);
            b.thread("p", |t| t.while_(|t| t.load(x).is(0), |_| {}));
        });
        assert_eq!(chosen, EngineKind::Rf);
    }
}
