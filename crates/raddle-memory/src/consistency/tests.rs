use super::{CellId, EventId, Graph, INIT, NewEvent, Phases};
use raddle_testing::generate::Random;

const X: CellId = 0;
const Y: CellId = 1;
const Z: CellId = 2;

/// An event of a thread: a write of a value, or a read of one. Values are unique, so they name writes.
#[derive(Clone, Copy, Debug)]
enum Act {
    W(CellId, u32),
    R(CellId, u32),
}
use Act::{R, W};

struct Built {
    graph: Graph,
    /// Ids by value written.
    writers: Vec<EventId>,
    count: EventId,
}

/// Adds threads event by event; a read waits for the event it reads from. `None` if P-I finds a cycle.
fn build(threads: &[Vec<Act>]) -> Option<Built> {
    let mut built = Built {
        graph: Graph::new(),
        writers: vec![INIT; 64],
        count: 0,
    };
    let mut done = vec![0; threads.len()];
    loop {
        let mut progress = false;
        for (thread, acts) in threads.iter().enumerate() {
            while let Some(&act) = acts.get(done[thread]) {
                let id = built.count;
                let (read, write) = match act {
                    W(cell, value) => {
                        built.writers[value as usize] = id;
                        (None, Some(cell))
                    }
                    R(_, value) if value > 0 && built.writers[value as usize] == INIT => break,
                    R(cell, value) => (Some((cell, built.writers[value as usize])), None),
                };
                let new = NewEvent {
                    id,
                    thread,
                    after: INIT,
                    reads: read.as_slice(),
                    writes: write.as_slice(),
                };
                if !built.graph.push(new) {
                    return None;
                }
                built.count += 1;
                done[thread] += 1;
                progress = true;
            }
        }
        if !progress {
            break;
        }
    }
    let all = threads
        .iter()
        .zip(&done)
        .all(|(acts, &done)| acts.len() == done);
    all.then_some(built)
}

/// Figure 5: the order of x=4 before x=3 is hidden from saturation.
fn figure_5([x, y, z]: [CellId; 3], [first, second]: [u32; 2], base: u32) -> Vec<Vec<Act>> {
    let [one, two, five, six] = [base + 1, base + 2, base + 5, base + 6];
    vec![
        vec![W(z, one), W(y, two)],
        vec![R(z, one), R(y, two), W(x, first)],
        vec![W(x, second)],
        vec![R(x, second), W(z, six), R(y, two)],
        vec![R(x, second), W(y, five), R(z, one)],
    ]
}

#[test]
fn example_5_2_hidden_order() {
    let threads = figure_5([X, Y, Z], [3, 4], 10);
    let mut built = build(&threads).expect("saturation finds no cycle");
    let [w3, w4] = [3, 4].map(|value: usize| built.writers[value]);
    assert!(!built.graph.before(w3, w4) && !built.graph.before(w4, w3));
    // A guide that orders x=3 before x=4 leads both attempts of P-II astray.
    let mut guide: Vec<EventId> = (0..built.count).collect();
    guide.sort_by_key(|&event| (event == w4) as u32 + 2 * (event > w4 && event > w3) as u32);
    let mut phases = Phases::default();
    assert_eq!(built.graph.complete_witness(&guide, &mut phases), Some(0));
    assert_eq!(phases.decided_consistent, 1, "{phases:?}");
    assert!(built.graph.position(w4) < built.graph.position(w3));
    // One that orders them rightly is followed.
    built.graph.retract_to(0);
    guide.sort_by_key(|&event| event == w3);
    let _ = built.graph.complete_witness(&guide, &mut phases);
    assert!(phases.guided == 1 || phases.ordered == 1, "{phases:?}");
}

#[test]
fn example_5_2_inconsistent_without_cycle() {
    // The second copy hides the order of x=3 before x=4. Both x=3 and x=4 are written once, after what each copy demands.
    let mut threads = figure_5([X, Y, Z], [3, 4], 10);
    let copy = figure_5([X, 3, 4], [4, 3], 20);
    threads[2].splice(0..0, copy[1][..2].iter().copied());
    threads.extend([copy[0].clone(), copy[3].clone(), copy[4].clone()]);
    let mut built = build(&threads).expect("saturation finds no cycle");
    let guide: Vec<EventId> = (0..built.count).collect();
    let mut phases = Phases::default();
    assert_eq!(built.graph.complete_witness(&guide, &mut phases), None);
    assert_eq!(phases.decided_inconsistent, 1, "{phases:?}");
    assert!(built.graph.order().is_empty());
}

/// An event that reads and writes several cells.
#[derive(Clone, Debug)]
struct Wide {
    thread: usize,
    reads: Vec<(CellId, EventId)>,
    writes: Vec<CellId>,
}

/// Is there an order of all events in which every read gets what it should? By trying all.
fn is_consistent(events: &[Wide], done: &mut Vec<usize>, last: &mut Vec<EventId>) -> bool {
    if done.len() == events.len() {
        return true;
    }
    for (id, event) in events.iter().enumerate() {
        let first_of_thread = events[..id]
            .iter()
            .enumerate()
            .all(|(other, wide)| wide.thread != event.thread || done.contains(&other));
        let reads = event
            .reads
            .iter()
            .all(|&(cell, source)| last[cell as usize] == source);
        if done.contains(&id) || !first_of_thread || !reads {
            continue;
        }
        let before = last.clone();
        for &cell in &event.writes {
            last[cell as usize] = id as EventId;
        }
        done.push(id);
        let found = is_consistent(events, done, last);
        done.pop();
        *last = before;
        if found {
            return true;
        }
    }
    false
}

/// A trace in which each event reads from events before it; consistent or not.
fn random_trace(random: &mut Random) -> Vec<Wide> {
    let cells = 1 + random.below(3) as CellId;
    let threads = 2 + random.below(3);
    let count = 3 + random.below(6);
    let mut events: Vec<Wide> = Vec::new();
    for _ in 0..count {
        let mut event = Wide {
            thread: random.below(threads) as usize,
            reads: Vec::new(),
            writes: Vec::new(),
        };
        for cell in 0..cells {
            if random.percent(40) {
                let mut sources: Vec<EventId> = (0..events.len() as EventId)
                    .filter(|&id| events[id as usize].writes.contains(&cell))
                    .collect();
                sources.push(INIT);
                event.reads.push((cell, random.pick(&sources)));
            }
            if random.percent(40) {
                event.writes.push(cell);
            }
        }
        events.push(event);
    }
    events
}

#[test]
fn all_phases_together_are_exact() {
    let mut seen = Phases::default();
    for seed in 0..6000 {
        let mut random = Random::new(seed);
        let events = random_trace(&mut random);
        let expected = is_consistent(&events, &mut Vec::new(), &mut vec![INIT; 3]);
        let mut graph = Graph::new();
        let mut marks = Vec::new();
        let saturated = events.iter().enumerate().all(|(id, event)| {
            marks.push(graph.mark());
            graph.push(NewEvent {
                id: id as EventId,
                thread: event.thread,
                after: INIT,
                reads: &event.reads,
                writes: &event.writes,
            })
        });
        // A guide that has nothing to do with the trace.
        let mut guide: Vec<EventId> = (0..events.len() as EventId).collect();
        for position in (1..guide.len()).rev() {
            guide.swap(position, random.below(position as u64 + 1) as usize);
        }
        let found = saturated && graph.complete_witness(&guide, &mut seen).is_some();
        assert_eq!(found, expected, "seed {seed}: {events:?}");
        if found {
            check_witness(&events, graph.order());
        }
        // Undoing part of it and adding it again gives the same clocks.
        if saturated {
            graph.retract_to(0);
            let clocks = graph.clocks.clone();
            let from = random.below(events.len() as u64) as usize;
            graph.undo_to(marks[from]);
            for (id, event) in events.iter().enumerate().skip(from) {
                graph.push(NewEvent {
                    id: id as EventId,
                    thread: event.thread,
                    after: INIT,
                    reads: &event.reads,
                    writes: &event.writes,
                });
            }
            assert_eq!(clocks, graph.clocks, "seed {seed}");
        }
    }
    assert!(seen.guided > 1000, "{seen:?}");
}

fn check_witness(events: &[Wide], order: &[EventId]) {
    assert_eq!(order.len(), events.len());
    let mut last = [INIT; 3];
    for &id in order {
        let event = &events[id as usize];
        for &(cell, source) in &event.reads {
            assert_eq!(last[cell as usize], source);
        }
        for &cell in &event.writes {
            last[cell as usize] = id;
        }
    }
}
