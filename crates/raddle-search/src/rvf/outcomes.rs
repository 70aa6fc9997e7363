//! All that the next event of a thread can do: lines 17-21 of algorithm 2, for events that read several cells.
//!
//! For each cell that it reads, the event chooses one of the values that visible writes wrote there: these writes are good
//! for it. What it reads next may depend on that, so the ways to do an event form a tree, which is walked path by path.
//!
//! If the causal map is defined for the event, some writes are *old*: the event was explored with all of its cells read from
//! old writes. It now reads at least one cell from a new one. To keep the ways disjoint, the cells before the first that is
//! read from a new write are read from old ones.

use super::Search;
use super::effect::CellsChanged;
use super::ends::Spin;
use super::event::{Event, Part};
use crate::listener::Listener;
use crate::rf::event::Cell;
use raddle_memory::consistency::CellId;
use raddle_memory::goodwrites::{Ordinal, Ordinals};
use raddle_program::{Op, Order, Program, Tables, ThreadId, Value};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// One way to read a cell.
#[derive(Clone, Debug)]
struct Way {
    value: Value,
    good: Ordinals,
    /// These writes are not forbidden by the causal map.
    is_new: bool,
}

#[derive(Debug)]
enum Decision {
    Read { ways: Vec<Way>, taken: usize },
    Choice { taken: u32, count: u32 },
}

/// A path in the tree of what an event can do.
#[derive(Debug, Default)]
pub(super) struct Path {
    decisions: Vec<Decision>,
    /// How many decisions the present walk has met.
    met: usize,
    /// A cell was read from a new write; or all writes are new.
    is_new: bool,
    /// Only what the memory holds at the end of the present trace is looked at.
    only_present: bool,
    /// The operation can make its thread know of what others did before.
    synchronises: bool,
}

impl Path {
    /// The path along what memory holds at the end of the present trace.
    pub(super) fn present() -> Self {
        Self {
            is_new: true,
            only_present: true,
            ..Self::default()
        }
    }

    pub(super) fn choose(&mut self, count: u32) -> u32 {
        if self.decisions.len() == self.met {
            self.decisions.push(Decision::Choice { taken: 0, count });
        }
        self.met += 1;
        match self.decisions[self.met - 1] {
            Decision::Choice { taken, .. } => taken,
            Decision::Read { .. } => 0,
        }
    }

    /// Goes to the next path. False if there is none.
    fn advance(&mut self) -> bool {
        while let Some(last) = self.decisions.last_mut() {
            match last {
                Decision::Read { ways, taken } if *taken + 1 < ways.len() => {
                    *taken += 1;
                    return true;
                }
                Decision::Choice { taken, count } if *taken + 1 < *count => {
                    *taken += 1;
                    return true;
                }
                _ => {
                    self.decisions.pop();
                }
            }
        }
        false
    }
}

/// Which writes an event may read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allowed {
    ByCausalMap,
    Everything,
}

/// What an event can do.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    /// In the order in which they are to be tried.
    pub(super) events: Vec<Event>,
    /// Ways in which it would have to wait.
    pub(super) waiting: Vec<Event>,
}

impl Search {
    /// Is a write of a cell forbidden to the next event of a thread, as a source?
    fn is_old(&self, thread: ThreadId, id: CellId, ordinal: Ordinal) -> bool {
        let Some(map) = self.maps.of(thread) else {
            return false;
        };
        let Some(write) = (ordinal as usize).checked_sub(1) else {
            return true;
        };
        let (writer, index) = self.problem.place(self.problem.writes(id)[write].event);
        map.get(writer).is_some_and(|&count| index <= count)
    }

    /// Takes the next decision of a path: how a cell is read.
    pub(super) fn decide(
        &self,
        tables: &Tables,
        event: &Event,
        (id, part): (CellId, Part),
        is_exact: bool,
        path: &mut Path,
    ) -> (Value, Ordinals) {
        if path.decisions.len() == path.met {
            let ways = self.ways(tables, event, (id, part), is_exact, path);
            path.decisions.push(Decision::Read { ways, taken: 0 });
        }
        path.met += 1;
        let Decision::Read { ways, taken } = &path.decisions[path.met - 1] else {
            return (0, Ordinals::default());
        };
        let way = &ways[*taken];
        path.is_new |= way.is_new;
        (way.value, way.good.clone())
    }

    fn ways(
        &self,
        tables: &Tables,
        event: &Event,
        (id, part): (CellId, Part),
        is_exact: bool,
        path: &Path,
    ) -> Vec<Way> {
        let writes = self.problem.writes(id);
        let value_of = |ordinal: Ordinal| match (ordinal as usize).checked_sub(1) {
            Some(write) => writes[write].value,
            None => Self::initial(tables, part),
        };
        let active = self.problem.active(id);
        let mut ways: Vec<Way> = Vec::new();
        let mut add = |ordinal: Ordinal| {
            let value = value_of(ordinal);
            // Once a cell was read from a new write, it does not matter any more.
            let is_new = path.is_new || !self.is_old(event.thread, id, ordinal);
            let same = |way: &&mut Way| !is_exact && way.value == value && way.is_new == is_new;
            match ways.iter_mut().find(same) {
                Some(way) => way.good.insert(ordinal),
                None => ways.push(Way {
                    value,
                    good: std::iter::once(ordinal).collect(),
                    is_new,
                }),
            }
        };
        if path.only_present {
            add(active);
        } else {
            let mut visible: SmallVec<[Ordinal; 16]> = SmallVec::new();
            self.problem
                .visible(id, event.parent, |ordinal| visible.push(ordinal));
            visible.sort_unstable();
            visible.into_iter().for_each(add);
            // What the trace at hand would give comes first.
            if let Some(first) = ways.iter().position(|way| way.good.contains(active)) {
                ways[..=first].rotate_right(1);
            }
        }
        ways
    }

    /// Are the sources of a read told apart even if they wrote the same? They are where the order in which threads synchronise
    /// is to be known.
    pub(super) fn is_exact(&self, tables: &Tables, event: &Event, part: Part, path: &Path) -> bool {
        if !self.by_source {
            return false;
        }
        let Cell::Loc(loc) = part.cell else {
            return true;
        };
        let is_life = tables.object_info(tables.loc_info(loc).object).life == Some(loc);
        !is_life && (event.is_block || path.synchronises)
    }

    /// All that the next event of a thread can do. That may be very much: a block with 30 choices has 2³⁰ ways.
    pub(super) fn outcomes(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        thread: ThreadId,
        allowed: Allowed,
    ) -> ControlFlow<(), Result<Outcomes, CellsChanged>> {
        let state = self.threads[thread.index()].state;
        let is_fresh = allowed == Allowed::Everything || self.maps.of(thread).is_none();
        // A lock is free, whoever left it so.
        let is_sync = matches!(program.op(state), Op::Sync { .. });
        let mut found = Outcomes::default();
        let mut path = Path {
            synchronises: synchronises(program.op(state)),
            ..Path::default()
        };
        loop {
            listener.busy()?;
            path.met = 0;
            path.is_new = is_fresh;
            let mut event = match self.effect(program, thread, &mut path) {
                Ok(event) => event,
                Err(changed) => return ControlFlow::Continue(Err(changed)),
            };
            if path.is_new {
                match self.spin(program, &event) {
                    Some(Spin::Waits) => event.waits = true,
                    Some(Spin::Ends) => event.ends_thread = true,
                    None => {}
                }
                let waits = event.waits;
                let list = if waits {
                    &mut found.waiting
                } else {
                    &mut found.events
                };
                if self.options.heuristics.merging || is_sync {
                    merge(list, event);
                } else {
                    list.push(event);
                }
            }
            if !path.advance() {
                return ControlFlow::Continue(Ok(found));
            }
        }
    }
}

/// Can the operation make its thread know of what others did before?
fn synchronises(op: &Op) -> bool {
    match op {
        Op::Load { order, .. } | Op::Rmw { order, .. } => *order != Order::Plain,
        Op::Cas {
            success, failure, ..
        } => *success != Order::Plain || *failure != Order::Plain,
        _ => true,
    }
}

/// Adds a way to do an event. If there is one with the same effect that reads one cell from other writes, they become one.
/// Blocks are kept apart: what they do on their way may differ.
fn merge(events: &mut Vec<Event>, event: Event) {
    let differing = |other: &Event| -> Option<usize> {
        if event.is_block || other.reads.len() != event.reads.len() || !other.does_the_same(&event)
        {
            return None;
        }
        let mut differing = None;
        for (position, (a, b)) in other.reads.iter().zip(&event.reads).enumerate() {
            if a.part != b.part || a.is_exact != b.is_exact {
                return None;
            }
            if a.good != b.good {
                if differing.is_some() || a.is_exact {
                    return None;
                }
                differing = Some(position);
            }
        }
        differing
    };
    for other in events.iter_mut() {
        if let Some(position) = differing(other) {
            return other.reads[position]
                .good
                .union(&event.reads[position].good);
        }
    }
    events.push(event);
}
