//! What comes before an event by `sb`, `rf`, `mo` and `rb` together, in time that is linear in the graph for most graphs.
//!
//! What comes before an event is a set of first events of each thread, because `sb` is part of it. At each place it is also a set of first writes of the
//! modification order: a write brings along all writes below it (`mo`) and all reads of those (`rb`). So of the writes to a place only the highest counts. Coherence
//! holds by construction: along a thread, what its events at a place write or read from does not go down in the modification order. So of a thread's reads
//! only the last one that reads from below is looked for, and whether a write is below is known from its index in its thread.

use super::event::{Ev, Kind, Place};
use super::store::Graph;
use raddle_program::{Op, Program};

/// Memory to work in.
#[derive(Default)]
pub(super) struct Past {
    /// How many events of each thread come before.
    before: Vec<u32>,
    /// Events that come before, and perhaps are not in `before` yet.
    todo: Vec<Ev>,
    /// Writes of which the writes and reads below have not been looked for, perhaps.
    raises: Vec<Ev>,
    places: Vec<Reached>,
    /// By place and thread: how many events of the thread there are up to its last write that is reached.
    counts: Vec<u32>,
    /// The round in which entries of `places` and `counts` are valid.
    round: u32,
}

/// How far the modification order of a place is reached.
#[derive(Clone, Copy, Default)]
struct Reached {
    round: u32,
    /// How many writes.
    writes: u32,
}

impl Past {
    /// Does a path of `sb`, `rf`, `mo` and `rb` lead from the event to itself?
    pub(super) fn leads_back(&mut self, program: &Program, graph: &Graph, event: Ev) -> bool {
        self.begin(graph);
        self.step_back(program, graph, event);
        let mut raised = 0;
        loop {
            while let Some(next) = self.todo.pop() {
                // All earlier events of the thread come with it.
                let known = self.before[next.of()];
                if next.index < known {
                    continue;
                }
                if next.thread == event.thread && next.index >= event.index {
                    return true;
                }
                self.before[next.of()] = next.index + 1;
                // From the last one: its writes are the highest of the thread.
                for index in (known..=next.index).rev() {
                    let thread = next.thread;
                    self.step_back(program, graph, Ev { thread, index });
                }
            }
            let Some(&write) = self.raises.get(raised) else {
                return false;
            };
            raised += 1;
            self.raise(graph, write);
        }
    }

    fn begin(&mut self, graph: &Graph) {
        let threads = graph.threads.len();
        self.before.clear();
        self.before.resize(threads, 0);
        self.todo.clear();
        self.raises.clear();
        let places = graph.locations.len();
        if self.places.len() < places || self.counts.len() < self.places.len() * threads {
            let places = places.next_power_of_two();
            self.places.clear();
            self.places.resize(places, Reached::default());
            self.counts.clear();
            self.counts.resize(places * threads, 0);
            self.round = 0;
        }
        self.round = match self.round.checked_add(1) {
            Some(round) => round,
            None => {
                self.places.fill(Reached::default());
                1
            }
        };
    }

    #[inline]
    fn note(&mut self, before: Ev) {
        if before.is_event() && before.index >= self.before[before.of()] {
            self.todo.push(before);
        }
    }

    /// Notes what comes right before an event.
    #[inline]
    fn step_back(&mut self, program: &Program, graph: &Graph, event: Ev) {
        let e = graph.event(event);
        match event.index.checked_sub(1) {
            Some(index) => self.note(Ev {
                thread: event.thread,
                index,
            }),
            None => self.note(graph.threads[event.of()].started_by),
        }
        match e.kind {
            Kind::Read => {
                self.note(e.source);
                // All additions of a block come before whoever reads from one.
                for &addition in graph.additions_up_to(e.place, e.source) {
                    self.note(addition);
                }
            }
            // All others that access the place happen before it or after it.
            Kind::Write if e.is_addition => {}
            Kind::Write if shares_bytes(program, e.place) => {
                for before in right_below(graph, event) {
                    self.note(before);
                }
            }
            Kind::Write => self.raises.push(event),
            Kind::Other => {
                if let Op::Join { thread } = *program.op(e.state)
                    && !e.is_fault
                    && let Some(last) = graph.threads[thread.index()].events.len().checked_sub(1)
                {
                    self.note(Ev::new(thread.index(), last));
                }
            }
            Kind::Fence => {}
        }
    }

    /// Notes the writes below this one, and the reads from them.
    fn raise(&mut self, graph: &Graph, write: Ev) {
        let place = graph.event(write).place;
        let threads = graph.threads.len();
        let row = place.index() * threads;
        let reached = &mut self.places[place.index()];
        if reached.round != self.round {
            *reached = Reached {
                round: self.round,
                writes: 0,
            };
            self.counts[row..row + threads].fill(0);
        }
        let from = reached.writes as usize;
        if write.index < self.counts[row + write.of()] {
            return;
        }
        let position = graph.position(place, write);
        reached.writes = position as u32;
        // What was the highest one is below another now.
        for below in from.max(1)..position {
            self.note(graph.write_at(place, below));
        }
        for reached in from + 1..=position {
            let reached = graph.write_at(place, reached);
            let count = &mut self.counts[row + reached.of()];
            *count = (*count).max(reached.index + 1);
        }
        for thread in 0..threads {
            if let Some(read) = self.last_from_below(graph, place, thread, write) {
                self.note(read);
            }
        }
    }

    /// The last event of a thread that reads from a write below `highest`, if events before it are not noted anyhow.
    fn last_from_below(
        &self,
        graph: &Graph,
        place: Place,
        thread: usize,
        highest: Ev,
    ) -> Option<Ev> {
        let counts = &self.counts[place.index() * graph.threads.len()..];
        let mut at = graph.last_here(place, thread);
        while let Some(event) = at {
            let e = graph.event(event);
            match e.kind {
                Kind::Write if event.index < counts[thread] => return None,
                Kind::Read if e.source == Ev::INIT => return Some(event),
                Kind::Read
                    if e.source.is_event()
                        && e.source != highest
                        && e.source.index < counts[e.source.of()] =>
                {
                    return Some(event);
                }
                _ => {}
            }
            at = graph.before_here(event);
        }
        None
    }
}

/// Is a place one of locations that overlap in part? Its plain accesses are in the order of stamps, and the argument above says nothing of them.
#[inline]
fn shares_bytes(program: &Program, place: Place) -> bool {
    place
        .loc()
        .is_some_and(|loc| program.tables().loc_info(loc).mixed)
}

/// The write before a write in the modification order, and whoever reads from it.
fn right_below(graph: &Graph, write: Ev) -> impl Iterator<Item = Ev> + '_ {
    let place = graph.event(write).place;
    let below = graph.write_at(place, graph.position(place, write) - 1);
    let reads = (0..graph.threads.len()).flat_map(move |thread| {
        let last = graph.last_here(place, thread);
        std::iter::successors(last, |&event| graph.before_here(event))
    });
    let is_from_below = move |&read: &Ev| {
        let e = graph.event(read);
        e.kind == Kind::Read && e.source == below && read != write
    };
    std::iter::once(below).chain(reads.filter(is_from_below))
}

/// The same by its definition, event by event.
#[cfg(test)]
pub(super) fn leads_back_by_definition(program: &Program, graph: &Graph, event: Ev) -> bool {
    let mut past = Past::default();
    past.begin(graph);
    past.step_back(program, graph, event);
    let mut known = std::collections::HashSet::new();
    loop {
        for write in std::mem::take(&mut past.raises) {
            past.todo.extend(right_below(graph, write));
        }
        let Some(next) = past.todo.pop() else {
            return false;
        };
        if next == event {
            return true;
        }
        if next.is_event() && known.insert((next.thread, next.index)) {
            past.step_back(program, graph, next);
        }
    }
}
