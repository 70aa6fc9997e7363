//! Pieces in names that mean the same in every program, and how a search gets to one.
//!
//! The prefix of a piece is told as an execution, which the machine runs again. The events that its alternative begins with were found in another
//! execution; they are simulated again, from what they read. Fingerprints tell whether all of them are the same.

use super::{Junction, Pieces};
use crate::listener::Listener;
use crate::parallel::room::Stock;
use crate::rf::awaits::OpName;
use crate::rf::event::{Branching, Cell, EXTRA, Event, Fingerprint, NO_EVENT, Pos};
use crate::rf::simulate::{Plan, Start};
use crate::rf::store::StoreId;
use crate::rf::{Alternative, Node, Search, Seen};
use raddle_memory::Readiness;
use raddle_program::{Op, Program, Tables, ThreadId, ThreadName};
use smallvec::SmallVec;
use std::ops::ControlFlow;
use std::sync::Arc;

/// An operation of a thread.
pub(super) type NamedOp = (ThreadName, u32);

/// An event of a trace.
#[derive(Debug)]
pub(super) struct NamedStep {
    pub(super) thread: ThreadName,
    pub(super) choices: Box<[u32]>,
    /// Its position in the trace.
    pub(super) pos: Pos,
    pub(super) marked: bool,
    pub(super) branching: Branching,
    pub(super) ends_thread: bool,
    pub(super) fingerprint: Fingerprint,
}

/// A node that others know, or whose alternative has postponed something.
#[derive(Debug)]
pub(super) struct NamedNode {
    pub(super) pos: usize,
    /// By the code of the cell.
    pub(super) update: Option<(u64, Pos)>,
    pub(super) op: NamedOp,
    pub(super) postponed: Vec<NamedOp>,
    pub(super) junction: Option<Arc<Junction>>,
}

/// A trace. Its prefixes lead to pieces: what is causally before something in a prefix is in it, so the order of a witness, without what is behind the
/// prefix, is that of a witness, too.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// In the order of a witness.
    pub(super) steps: Vec<NamedStep>,
    pub(super) nodes: Vec<NamedNode>,
}

impl Run {
    /// The events of a prefix.
    fn prefix(&self, end: usize) -> impl Iterator<Item = &NamedStep> {
        self.steps.iter().filter(move |it| (it.pos as usize) < end)
    }
}

/// An event that an alternative begins with. Positions are those of the prefix, and after it those of the events that the alternative needs.
#[derive(Debug)]
pub(super) struct NamedEvent {
    pub(super) thread: ThreadName,
    pub(super) choices: Box<[u32]>,
    pub(super) parent: Pos,
    /// By the codes of cells.
    pub(super) reads: SmallVec<[(u64, Pos); 2]>,
    pub(super) fingerprint: Fingerprint,
}

/// An alternative of a node, with all that follows.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(super) run: Arc<Run>,
    /// The node: so many events of the trace come before it.
    pub(super) end: usize,
    pub(super) first: NamedEvent,
    pub(super) branching: Branching,
    pub(super) extra: Option<NamedEvent>,
    pub(super) needed: Vec<NamedEvent>,
    pub(super) postponed: Vec<NamedOp>,
    /// How much of the search it is, as far as its shape tells.
    pub(super) share: f64,
}

impl Piece {
    /// The length of its prefix.
    pub(super) fn depth(&self) -> usize {
        self.end
    }
}

fn name_of(tables: &Tables, thread: ThreadId) -> ThreadName {
    tables.thread_info(thread).name.clone()
}

fn name_op(tables: &Tables, (thread, index): OpName) -> NamedOp {
    (name_of(tables, thread), index)
}

fn op_named(tables: &Tables, (name, index): &NamedOp) -> Option<OpName> {
    Some((tables.thread_named(name)?, *index))
}

// ---- what is given away

impl Search {
    /// Makes junctions of the nodes up to one, and pieces of what is pending there. From now on the search explores what is behind.
    pub(super) fn cut_behind(&mut self, program: &Program, last: usize) -> Vec<Piece> {
        self.join_up_to(last);
        let run = self.named_run(program, last);
        self.pieces_at(program, &run, last, self.share)
    }

    /// Makes pieces of all that is pending.
    pub(super) fn cut_everywhere(&mut self, program: &Program) -> Vec<Piece> {
        let Some(last) = self.nodes.len().checked_sub(1) else {
            return Vec::new();
        };
        let shares: Vec<f64> = (self.cut..=last)
            .map(|pos| {
                self.join_up_to(pos);
                self.share
            })
            .collect();
        let first = self.cut - shares.len();
        let run = self.named_run(program, last);
        let nodes = (first..=last).zip(shares);
        nodes
            .flat_map(|(node, share)| self.pieces_at(program, &run, node, share))
            .collect()
    }

    /// Makes junctions of the nodes up to one, where there is anything to be found.
    fn join_up_to(&mut self, last: usize) {
        for pos in self.cut..=last {
            let is_open = self.trace.len() as usize > pos && self.is_open(pos as Pos);
            let node = &mut self.nodes[pos];
            if is_open || !node.pending.is_empty() {
                let junction = || Arc::new(Junction::new(node.seen.iter()));
                node.shared.get_or_insert_with(junction);
            }
            self.share /= node.branches();
        }
        self.cut = self.cut.max(last + 1);
    }

    /// Tells of what was found at nodes that others know as well.
    pub(in crate::rf) fn tell_found(&mut self, program: &Program) {
        self.found_above = false;
        let mut found = Vec::new();
        let nodes = 0..self.cut;
        let last = nodes.rev().find(|&it| !self.nodes[it].pending.is_empty());
        if let Some(last) = last {
            let run = self.named_run(program, last);
            for node in 0..=last {
                // Nobody has expected them.
                found.extend(self.pieces_at(program, &run, node, 0.0));
            }
        }
        self.tell(found);
    }

    pub(super) fn tell(&self, pieces: Vec<Piece>) {
        if let Some(company) = &self.company
            && !pieces.is_empty()
        {
            company.room.change(|stock: &mut Pieces| stock.add(pieces));
        }
    }

    /// Makes pieces of what is pending at a node of a run.
    fn pieces_at(
        &mut self,
        program: &Program,
        run: &Arc<Run>,
        node: usize,
        share: f64,
    ) -> Vec<Piece> {
        let pending = std::mem::take(&mut self.nodes[node].pending);
        let name = |alternative| self.name(program, (run, node), alternative, share);
        let pieces = pending.iter().map(name).collect();
        for alternative in pending {
            let needed = alternative.needed.iter().map(|&(_, id)| id);
            let events = needed.chain([alternative.first]).chain(alternative.extra);
            for id in events {
                self.trace.store.release(id);
            }
        }
        pieces
    }

    /// What comes before a node, in the order of the present witness, and the nodes up to it.
    fn named_run(&self, program: &Program, node: usize) -> Arc<Run> {
        let tables = program.tables();
        let order = self.trace.graph.order().iter().chain(&self.tail);
        let events = order.filter(|&&pos| (pos as usize) < node);
        let steps: Vec<NamedStep> = events
            .map(|&pos| {
                let event = self.trace.event(pos);
                NamedStep {
                    thread: name_of(tables, event.thread),
                    choices: self.choices[event.choices as usize].clone(),
                    pos,
                    marked: event.marked,
                    branching: event.branching,
                    ends_thread: event.ends_thread,
                    fingerprint: event.fingerprint,
                }
            })
            .collect();
        debug_assert_eq!(steps.len(), node, "the witness has all events");
        let nodes = self.nodes[..=node].iter().enumerate();
        let known = nodes.filter(|(_, it)| it.shared.is_some() || !it.postponed.is_empty());
        let nodes = known.map(|(pos, node)| {
            let code = |(cell, pos)| (self.trace.codes.cell(cell), pos);
            let postponed = node.postponed.iter();
            NamedNode {
                pos,
                update: node.update.map(code),
                op: name_op(tables, node.op),
                postponed: postponed.map(|&op| name_op(tables, op)).collect(),
                junction: node.shared.clone(),
            }
        });
        Arc::new(Run {
            nodes: nodes.collect(),
            steps,
        })
    }

    fn name(
        &self,
        program: &Program,
        (run, end): (&Arc<Run>, usize),
        alternative: &Alternative,
        share: f64,
    ) -> Piece {
        let tables = program.tables();
        let node = end as Pos;
        let needed = &alternative.needed;
        let place = |old: Pos| match needed.iter().position(|&(pos, _)| pos == old) {
            Some(nth) if old >= node => node + nth as Pos,
            _ => old,
        };
        let event = |id: StoreId| {
            let event = self.trace.store.event(id);
            let reads = event.reads.iter();
            NamedEvent {
                thread: name_of(tables, event.thread),
                choices: self.choices[event.choices as usize].clone(),
                parent: place(event.parent),
                reads: reads
                    .map(|read| (self.trace.codes.cell(read.cell), place(read.source)))
                    .collect(),
                fingerprint: event.fingerprint,
            }
        };
        let postponed = alternative.postponed.iter();
        Piece {
            run: Arc::clone(run),
            end,
            first: event(alternative.first),
            branching: self.trace.store.event(alternative.first).branching,
            extra: alternative.extra.map(event),
            needed: needed.iter().map(|&(_, id)| event(id)).collect(),
            postponed: postponed.map(|&op| name_op(tables, op)).collect(),
            share,
        }
    }
}

// ---- on the way to a piece

/// Reads as another search says.
struct Named<'a> {
    event: &'a NamedEvent,
    chosen: usize,
    extra: Option<Event>,
}

impl Plan for Named<'_> {
    fn source(&mut self, search: &mut Search, _: &Program, cell: Cell) -> Option<Pos> {
        let codes = &search.trace.codes;
        let whole = match cell {
            // Bytes with one source are noted as one.
            Cell::Byte(loc, _) => Cell::Loc(loc),
            _ => cell,
        };
        let of = |cell: Cell| {
            let code = codes.cell(cell);
            let mut reads = self.event.reads.iter();
            reads.find(|read| read.0 == code).map(|read| read.1)
        };
        of(cell).or_else(|| of(whole))
    }

    fn choose(&mut self, _: u32) -> u32 {
        self.chosen += 1;
        let choices = &self.event.choices;
        choices.get(self.chosen - 1).copied().unwrap_or(0)
    }

    fn extra(&self) -> Option<&Event> {
        self.extra.as_ref()
    }
}

impl Search {
    /// Goes to where the alternative of a piece is the only thing that is pending. None if the piece is no part of the tree.
    pub(super) fn go_to(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        piece: &Piece,
    ) -> ControlFlow<(), Option<()>> {
        self.clear(listener);
        for step in piece.run.prefix(piece.end) {
            if self.redo(program, listener, step)?.is_none() {
                return ControlFlow::Continue(None);
            }
        }
        let arranged = self.arrange(program, &piece.run, piece.end);
        ControlFlow::Continue(arranged.and_then(|()| self.bring(program, piece)))
    }

    /// Takes everything back.
    fn clear(&mut self, listener: &mut impl Listener) {
        if let Some(&start) = self.marks.first() {
            self.machine.undo_to(start);
        }
        listener.undone(0);
        self.renew_trace();
        self.nodes.clear();
        self.marks.clear();
        self.tail.clear();
        self.spawned_by.clear();
        self.renewed.clear();
        self.awaits.forget_waiting();
        self.found_above = false;
    }

    fn renew_trace(&mut self) -> crate::rf::trace::Trace {
        let chained = self.trace.chained().to_vec();
        let renewed = self.trace.renewed(chained);
        std::mem::replace(&mut self.trace, renewed)
    }

    /// Runs an event of a prefix, and adds it to the trace.
    fn redo(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        step: &NamedStep,
    ) -> ControlFlow<(), Option<()>> {
        let thread = program.tables().thread_named(&step.thread);
        let ready =
            |&thread: &ThreadId| self.machine.readiness(program, thread) == Readiness::Ready;
        let Some(thread) = thread.filter(ready) else {
            return ControlFlow::Continue(None);
        };
        let Some((before, end, mut event)) = self.perform(program, thread, &step.choices) else {
            return ControlFlow::Continue(None);
        };
        if event.fingerprint != step.fingerprint {
            return ControlFlow::Continue(None);
        }
        event.marked = step.marked;
        event.branching = step.branching;
        event.ends_thread = step.ends_thread;
        self.awaits.any_ended |= step.ends_thread;
        let pos = self.trace.len();
        for child in event.spawned() {
            crate::rf::note_spawn(&mut self.spawned_by, child, pos);
        }
        self.trace.place(event);
        if !self.trace.add(program, pos) {
            return ControlFlow::Continue(None);
        }
        self.trace.graph.emit(pos);
        self.marks.push(before.mark);
        listener.stepped(program, &mut self.machine, thread, end)?;
        ControlFlow::Continue(Some(()))
    }

    /// Gives the events of a prefix, which are in the order of its witness, their positions in the trace.
    fn arrange(&mut self, program: &Program, run: &Run, end: usize) -> Option<()> {
        let steps: Vec<&NamedStep> = run.prefix(end).collect();
        if steps.len() != end {
            return None;
        }
        let nodes = &run.nodes;
        let run = self.renew_trace();
        let place = |old: Pos| match old {
            NO_EVENT => NO_EVENT,
            _ => steps[old as usize].pos,
        };
        let mut by_position: Vec<Pos> = vec![NO_EVENT; steps.len()];
        for (old, step) in steps.iter().enumerate() {
            *by_position.get_mut(step.pos as usize)? = old as Pos;
        }
        for old in by_position {
            let mut event = (old != NO_EVENT).then(|| run.event(old).clone())?;
            event.parent = place(event.parent);
            for read in &mut event.reads {
                read.source = place(read.source);
            }
            self.trace.place(event);
        }
        for step in &steps {
            self.trace.add(program, step.pos).then_some(())?;
            self.trace.graph.emit(step.pos);
        }
        for spawned in &mut self.spawned_by {
            *spawned = place(*spawned);
        }
        self.nodes.resize_with(end, Node::default);
        for named in nodes.iter().filter(|it| it.pos < end) {
            let event = self.trace.event(named.pos as Pos);
            self.nodes[named.pos] = self.node(program, named, event)?;
        }
        Some(())
    }

    /// A node at which this event is.
    fn node(&self, program: &Program, named: &NamedNode, event: &Event) -> Option<Node> {
        let tables = program.tables();
        let cell_of = |code: u64| {
            let reads = event.reads.iter().map(|read| read.cell);
            let writes = event.writes.iter().map(|write| write.cell);
            let mut cells = event.primary.into_iter().chain(reads).chain(writes);
            cells.find(|&cell| self.trace.codes.cell(cell) == code)
        };
        let update = match named.update {
            Some((code, pos)) => Some((cell_of(code)?, pos)),
            None => None,
        };
        let mut seen = Seen::default();
        if let Some(junction) = &named.junction {
            junction.claimed().iter().for_each(|&it| seen.insert(it));
        }
        let postponed = named.postponed.iter().map(|op| op_named(tables, op));
        Some(Node {
            base: named.pos,
            update,
            op: op_named(tables, &named.op)?,
            postponed: postponed.collect::<Option<_>>()?,
            seen,
            shared: named.junction.clone(),
            ..Node::default()
        })
    }

    /// Makes the alternative of a piece the only one that is pending, at a node behind its prefix.
    fn bring(&mut self, program: &mut Program, piece: &Piece) -> Option<()> {
        let end = self.trace.len();
        for named in &piece.needed {
            let mut event = self.simulate_named(program, named, None)?;
            event.marked = true;
            self.trace.place(event);
        }
        let extra = match &piece.extra {
            Some(named) => Some(self.simulate_named(program, named, None)?),
            None => None,
        };
        let mut first = self.simulate_named(program, &piece.first, extra.as_ref())?;
        first.branching = piece.branching;
        let needed = (end..self.trace.len()).map(|pos| (pos, self.trace.share(pos)));
        let needed = needed.collect();
        self.trace.truncate(end);
        let mut nodes = piece.run.nodes.iter();
        let named = nodes.find(|it| it.pos == end as usize)?;
        let mut node = self.node(program, named, &first)?;
        let postponed = piece.postponed.iter();
        let tables = program.tables();
        node.pending.push(Alternative {
            first: self.trace.store.insert(first),
            extra: extra.map(|extra| self.trace.store.insert(extra)),
            needed,
            postponed: postponed
                .map(|op| op_named(tables, op))
                .collect::<Option<_>>()?,
        });
        self.nodes.push(node);
        self.cut = self.nodes.len();
        self.share = Pieces::share(piece);
        self.is_between = true;
        Some(())
    }

    fn simulate_named(
        &mut self,
        program: &mut Program,
        named: &NamedEvent,
        extra: Option<&Event>,
    ) -> Option<Event> {
        let start = self.start_named(program, named)?;
        let mut plan = Named {
            event: named,
            chosen: 0,
            extra: extra.cloned(),
        };
        let event = self.simulate(program, start, &mut plan)?;
        (event.fingerprint == named.fingerprint).then_some(event)
    }

    /// Where an event begins. The machine has run the prefix, and nothing of what the alternative needs.
    fn start_named(&self, program: &Program, named: &NamedEvent) -> Option<Start> {
        let thread = program.tables().thread_named(&named.thread)?;
        let parent = named.parent;
        debug_assert_ne!(parent, EXTRA, "an event of another thread");
        let before = (parent < self.trace.len()).then(|| self.trace.event(parent));
        let (index, state, inside) = match before {
            Some(before) if before.thread == thread => {
                (before.index + 1, before.after, before.ends_inside)
            }
            before => {
                let state = self.machine.thread_state(thread);
                let spawned = || match *program.op(before?.state) {
                    Op::Spawn { child, start } if child == thread => Some(start),
                    _ => None,
                };
                (1, state.or_else(spawned)?, false)
            }
        };
        Some(Start {
            thread,
            index,
            state,
            parent,
            inside,
        })
    }
}
