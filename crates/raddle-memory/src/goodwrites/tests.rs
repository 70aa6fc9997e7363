//! VerifySC against the enumeration of all interleavings.

use super::{CellId, Decisions, EventId, Heuristics, INIT, NewEvent, Ordinals, Problem};
use raddle_testing::generate::Random;

#[derive(Clone, Debug)]
struct Event {
    thread: usize,
    after: EventId,
    reads: Vec<(CellId, Ordinals)>,
    writes: Vec<(CellId, u64)>,
}

impl Event {
    fn push(&self, problem: &mut Problem) -> bool {
        problem.push(NewEvent {
            thread: self.thread,
            after: self.after,
            reads: &self.reads,
            writes: &self.writes,
            is_end: false,
        })
    }
}

/// The writes of each cell, in the order of their ordinals.
fn ordinal(events: &[Event], event: EventId, cell: CellId) -> Option<u32> {
    let writes = |event: &Event| event.writes.iter().any(|write| write.0 == cell);
    let earlier = &events[..event as usize];
    writes(&events[event as usize])
        .then(|| earlier.iter().filter(|event| writes(event)).count() as u32 + 1)
}

/// All witnesses, by brute force.
fn witnesses(events: &[Event]) -> Vec<Vec<EventId>> {
    fn visit(events: &[Event], order: &mut Vec<EventId>, found: &mut Vec<Vec<EventId>>) {
        if order.len() == events.len() {
            found.push(order.clone());
            return;
        }
        for id in 0..events.len() as EventId {
            let event = &events[id as usize];
            let earlier = &events[..id as usize];
            let ready = !order.contains(&id)
                && (event.after == INIT || order.contains(&event.after))
                && (0..).zip(earlier).all(|(other, earlier)| {
                    earlier.thread != event.thread || order.contains(&other)
                });
            let reads_well = || {
                event.reads.iter().all(|(cell, good)| {
                    let last = order.iter().rev();
                    let active = last
                        .clone()
                        .find_map(|&other| ordinal(events, other, *cell));
                    good.contains(active.unwrap_or(0))
                })
            };
            if ready && reads_well() {
                order.push(id);
                visit(events, order, found);
                order.pop();
            }
        }
    }
    let mut found = Vec::new();
    visit(events, &mut Vec::new(), &mut found);
    found
}

/// An event of a random thread with random good writes.
fn random_event(random: &mut Random, events: &[Event], threads: usize, cells: u32) -> Event {
    let thread = random.below(threads as u64) as usize;
    let is_first = !events.iter().any(|event| event.thread == thread);
    let after = if is_first && !events.is_empty() && random.percent(30) {
        random.below(events.len() as u64) as EventId
    } else {
        INIT
    };
    let mut event = Event {
        thread,
        after,
        reads: Vec::new(),
        writes: Vec::new(),
    };
    for cell in 0..cells {
        let weight = if event.reads.is_empty() && event.writes.is_empty() {
            45
        } else {
            15
        };
        if random.percent(weight) {
            let count = (0..events.len() as EventId)
                .filter(|&other| ordinal(events, other, cell).is_some())
                .count() as u32;
            let mut good: Ordinals = (0..=count).filter(|_| random.percent(40)).collect();
            if good.is_empty() {
                good.insert(random.below(u64::from(count) + 1) as u32);
            }
            event.reads.push((cell, good));
        }
        if random.percent(weight) {
            event.writes.push((cell, 0));
        }
    }
    event
}

/// Adds events one by one, keeps those with which there is a witness, and compares each answer with brute force.
fn check(seed: u64, heuristics: Heuristics, decisions: &mut Decisions) {
    let mut random = Random::new(seed);
    let mut problem = Problem::new(heuristics);
    let mut events: Vec<Event> = Vec::new();
    let (threads, cells) = (2 + random.below(3) as usize, 1 + random.below(3) as u32);
    for _ in 0..14 {
        if events.len() == 8 {
            break;
        }
        let event = random_event(&mut random, &events, threads, cells);
        let before = problem.order().to_vec();
        let mark = problem.mark();
        events.push(event.clone());
        let truth = witnesses(&events);
        let consistent = event.push(&mut problem);
        if consistent {
            for a in 0..events.len() as EventId {
                for b in 0..events.len() as EventId {
                    let place = |order: &[EventId], event| order.iter().position(|&e| e == event);
                    assert!(
                        a == b
                            || !problem.before(a, b)
                            || truth.iter().all(|order| place(order, a) < place(order, b)),
                        "seed {seed}: closure orders {a} before {b} in {events:?}"
                    );
                }
            }
        } else {
            decisions.closure += 1;
        }
        let kept = consistent.then(|| problem.solve(mark, decisions)).flatten();
        assert_eq!(kept.is_some(), !truth.is_empty(), "seed {seed}: {events:?}");
        match kept {
            Some(kept) => {
                assert!(truth.contains(&problem.order().to_vec()), "seed {seed}");
                assert_eq!(before[..kept], problem.order()[..kept], "seed {seed}");
                assert_eq!(before[kept..], *problem.replaced(), "seed {seed}");
            }
            None => {
                assert_eq!(problem.order(), before, "seed {seed}");
                problem.undo_to(mark);
                events.pop();
            }
        }
    }
    // Everything is taken back as it was.
    let counters = |problem: &Problem| -> Vec<(u32, u32)> {
        problem
            .cells
            .iter()
            .map(|cell| (cell.active, cell.held))
            .collect()
    };
    let (order, state) = (problem.order().to_vec(), counters(&problem));
    problem.retract_to(0);
    for &event in &order {
        assert!(problem.can_come_next(event), "seed {seed}");
        problem.emit(event);
    }
    assert_eq!(counters(&problem), state, "seed {seed}");
    problem.retract_to(0);
    problem.undo_to(super::ProblemMark::default());
    assert!(
        counters(&problem).iter().all(|&state| state == (0, 0)),
        "seed {seed}"
    );
}

fn cases(default: u64) -> u64 {
    std::env::var("RADDLE_PROPTEST_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[test]
fn answers_are_those_of_brute_force() {
    let mut decisions = Decisions::default();
    for seed in 0..cases(1500) {
        check(seed, Heuristics::default(), &mut decisions);
    }
    // All ways to decide are taken.
    let Decisions {
        closure,
        guided,
        found,
        refuted,
        ..
    } = decisions;
    assert!(
        [closure, guided, found, refuted]
            .iter()
            .all(|&count| count > 0),
        "{decisions:?}"
    );
}

#[test]
fn heuristics_change_no_answer() {
    for (closure, guidance) in [(false, true), (true, false), (false, false)] {
        for seed in 0..cases(400) {
            let heuristics = Heuristics { closure, guidance };
            check(seed, heuristics, &mut Decisions::default());
        }
    }
}

/// Two threads whose writes are good for each other's reads in one way only.
#[test]
fn closure_finds_the_contradiction_of_store_buffering() {
    let mut problem = Problem::new(Heuristics::default());
    let write = |thread, cell| Event {
        thread,
        after: INIT,
        reads: Vec::new(),
        writes: vec![(cell, 1)],
    };
    let read = |thread, cell| Event {
        thread,
        after: INIT,
        reads: vec![(cell, std::iter::once(0).collect())],
        writes: Vec::new(),
    };
    assert!(write(0, 0).push(&mut problem));
    assert!(write(1, 1).push(&mut problem));
    assert!(read(0, 1).push(&mut problem));
    assert!(!read(1, 0).push(&mut problem));
}

/// Forty writers of one value: any of them is good, nothing is ordered, and the guide is a witness.
#[test]
fn many_good_writes_order_nothing() {
    let mut problem = Problem::new(Heuristics::default());
    let mut decisions = Decisions::default();
    for thread in 0..40 {
        let write = [(0, 4)];
        let new = NewEvent {
            thread,
            after: INIT,
            reads: &[],
            writes: &write,
            is_end: false,
        };
        assert!(problem.push(new));
        problem.emit(thread as EventId);
    }
    for thread in 0..40 {
        let mark = problem.mark();
        let reads = [(0, (1..=40).collect())];
        let new = NewEvent {
            thread,
            after: INIT,
            reads: &reads,
            writes: &[],
            is_end: false,
        };
        assert!(problem.push(new));
        assert!(problem.solve(mark, &mut decisions).is_some());
    }
    assert_eq!((decisions.guided, decisions.found), (40, 0));
}

#[test]
fn sets_of_large_ordinals_are_sets() {
    let mut random = Random::new(7);
    for _ in 0..500 {
        let mut draw = || -> Vec<u32> {
            let base = 60 * random.below(40) as u32;
            let some = (0..random.below(6)).map(|_| base + random.below(200) as u32);
            some.collect()
        };
        let (one, other) = (draw(), draw());
        let of = |members: &[u32]| members.iter().copied().collect::<Ordinals>();
        let sorted = |members: &mut Vec<u32>| {
            members.sort_unstable();
            members.dedup();
        };
        let (mut union, mut common) = (of(&one), of(&one));
        union.union(&of(&other));
        common.intersect(&of(&other));
        let mut all: Vec<u32> = one.iter().chain(&other).copied().collect();
        sorted(&mut all);
        assert_eq!(union.iter().collect::<Vec<_>>(), all);
        all.retain(|member| one.contains(member) && other.contains(member));
        assert_eq!(common.iter().collect::<Vec<_>>(), all);
        assert_eq!(common.is_empty(), all.is_empty());
        assert!(one.iter().all(|&member| union.contains(member)));
        assert!(!union.contains(5000) && !common.contains(5000));
    }
}
