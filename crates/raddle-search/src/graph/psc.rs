//! RC11's condition on sequentially consistent accesses and fences: `psc` has no cycle.
//!
//! Relations are matrices of bits. Rows are made for what the condition asks about: the sequentially consistent events, and what happens
//! before fences among them.

use super::bits::{Matrix, Numbers, members};
use super::event::{Ev, Event, Kind, Place};
use super::store::Graph;
use raddle_program::{Op, Order, Program};
use std::ops::Range;

/// Memory to work in.
#[derive(Default)]
pub(super) struct Psc {
    numbers: Numbers,
    events: Vec<Ev>,
    /// In the order of stamps.
    order: Vec<u32>,
    /// By event: what is before it in program order, also only at other places, and what happens before it.
    sb: Matrix,
    sb_elsewhere: Matrix,
    hb: Matrix,
    /// By event: what is before it, or before an earlier event of its thread, in program order and at another place than that one.
    begins: Matrix,
    /// One row: the events of the model.
    steps: Matrix,
    /// By event: what leads to it. Only of events that matter.
    eco: Matrix,
    scb: Matrix,
    psc: Matrix,
    /// One row for what happens before some events, one to collect in, one for the events whose rows of `scb` are there.
    scratch: Matrix,
    /// The sequentially consistent events, and of them the fences.
    strong: Vec<u32>,
    fences: Vec<u32>,
    left: Vec<u32>,
    /// The events at places, place after place, in modification order: reads behind the write that they read from.
    here: Vec<Here>,
    /// By event: where a write stands in the modification order of the present place.
    positions: Vec<u32>,
}

const HAPPENED: usize = 0;
const COLLECTED: usize = 1;
const RELATED: usize = 2;
const BEFORE: usize = 3;
const AT_PLACE: usize = 4;

/// An event at a place: a write at an even position, reads of it at the odd one behind it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Here {
    place: usize,
    position: u32,
    number: u32,
}

impl Here {
    fn is_write(self) -> bool {
        self.position.is_multiple_of(2)
    }
}

/// Is it an event of the model? Choices, allocations and the like are not: that a program has one must forbid nothing.
fn is_step(program: &Program, event: &Event) -> bool {
    event.kind != Kind::Other
        || matches!(program.op(event.state), Op::Spawn { .. } | Op::Join { .. })
}

impl Psc {
    pub(super) fn is_acyclic(&mut self, program: &Program, graph: &Graph) -> bool {
        self.lay_out(program, graph);
        let count = self.numbers.count;
        for matrix in [&mut self.eco, &mut self.scb, &mut self.psc] {
            matrix.clear(count, count);
        }
        self.scratch.clear(5, count);
        self.relate_at_places(graph);
        for index in 0..self.strong.len() {
            let y = self.strong[index] as usize;
            self.lead_to(graph, y);
        }
        self.has_no_cycle()
    }

    /// What leads to a sequentially consistent event by `psc`.
    fn lead_to(&mut self, graph: &Graph, y: usize) {
        let is_fence = self.is_fence(graph, y);
        self.relate(graph, y);
        // scb; hb?  (hb only before fences)
        self.scratch.clear_row(COLLECTED);
        self.scratch.add_row(COLLECTED, self.scb.row(y));
        if is_fence {
            for word in 0..self.hb.words_of_row() {
                let mut rest = self.hb.word(y, word);
                while let Some(end) = take_first(&mut rest, word) {
                    self.relate(graph, end);
                    self.scratch.add_row(COLLECTED, self.scb.row(end));
                }
            }
        }
        for &x in &self.strong {
            if self.scratch.has(COLLECTED, x as usize) {
                self.psc.insert(y, x as usize);
            }
        }
        for &x in &self.fences {
            let x = x as usize;
            let begins = || members(self.scratch.row(COLLECTED));
            if begins().any(|begin| self.hb.has(begin, x)) || is_fence && self.orders(x, y) {
                self.psc.insert(y, x);
            }
        }
    }

    /// `[F]; (hb ∪ hb; eco; hb); [F]`.
    fn orders(&self, x: usize, y: usize) -> bool {
        let leads = |end: usize| members(self.eco.row(end)).any(|begin| self.hb.has(begin, x));
        self.hb.has(y, x) || x != y && members(self.hb.row(y)).any(leads)
    }

    fn is_fence(&self, graph: &Graph, number: usize) -> bool {
        graph.event(self.events[number]).kind == Kind::Fence
    }

    /// Numbers the events; program order and happens-before.
    fn lay_out(&mut self, program: &Program, graph: &Graph) {
        self.numbers.number(graph);
        let count = self.numbers.count;
        self.events.clear();
        self.strong.clear();
        self.fences.clear();
        for (index, thread) in graph.threads.iter().enumerate() {
            for (at, event) in thread.events.iter().enumerate() {
                if event.order == Order::SeqCst {
                    self.strong.push(self.events.len() as u32);
                    if event.kind == Kind::Fence {
                        self.fences.push(self.events.len() as u32);
                    }
                }
                self.events.push(Ev::new(index, at));
            }
        }
        for matrix in [
            &mut self.sb,
            &mut self.hb,
            &mut self.sb_elsewhere,
            &mut self.begins,
        ] {
            matrix.clear(count, count);
        }
        self.steps.clear(1, count);
        for number in 0..count {
            let event = self.events[number];
            if is_step(program, graph.event(event)) {
                self.steps.insert(0, number);
            }
            let known = graph.event(event).known;
            for thread in 0..graph.threads.len() {
                let first = self.numbers.first(thread);
                let end = match thread == event.of() {
                    true => event.at(),
                    false => graph.clocks.get(known, thread as u32) as usize,
                };
                self.hb.insert_range(number, first, first + end);
            }
        }
        // Threads are started by others, so their program order goes on from there.
        self.order.clear();
        self.order.extend(0..count as u32);
        let events = &self.events;
        self.order
            .sort_unstable_by_key(|&number| graph.event(events[number as usize]).stamp);
        for index in 0..count {
            self.follow_program(program, graph, self.order[index] as usize);
        }
    }

    fn follow_program(&mut self, program: &Program, graph: &Graph, number: usize) {
        let event = self.events[number];
        let start = match event.at() {
            0 => graph.threads[event.of()].started_by,
            _ => self.events[number - 1],
        };
        let e = graph.event(event);
        let mut joined = Ev::NONE;
        if e.kind == Kind::Other
            && !e.is_fault
            && let Op::Join { thread } = *program.op(e.state)
        {
            let target = &graph.threads[thread.index()];
            joined = match target.events.len().checked_sub(1) {
                Some(last) => Ev::new(thread.index(), last),
                None => target.started_by,
            };
        }
        for earlier in [start, joined] {
            if earlier.is_event() {
                let earlier = self.numbers.of(earlier);
                self.sb.add_own_row(number, earlier);
                self.sb.insert(number, earlier);
            }
        }
        if self.steps.has(0, number) {
            self.sb_elsewhere.add_row(number, self.sb.row(number));
            self.sb_elsewhere.keep(number, self.steps.row(0));
            self.forget_here(graph, number, e.place);
        }
        self.begins.add_row(number, self.sb_elsewhere.row(number));
        if event.at() > 0 {
            self.begins.add_own_row(number, number - 1);
        }
    }

    /// Takes the events at a place away from what is before an event elsewhere.
    fn forget_here(&mut self, graph: &Graph, number: usize, place: Place) {
        if place == Place::NOWHERE {
            return;
        }
        for thread in 0..graph.threads.len() {
            let mut at = graph.last_here(place, thread);
            while let Some(here) = at {
                self.sb_elsewhere.remove(number, self.numbers.of(here));
                at = graph.before_here(here);
            }
        }
    }

    /// `eco` and `scb` that lead to an event.
    fn relate(&mut self, graph: &Graph, number: usize) {
        if self.scratch.has(RELATED, number) {
            return;
        }
        self.scratch.insert(RELATED, number);
        self.scb.add_row(number, self.sb.row(number));
        // sb|≠loc; hb; sb|≠loc: the last event of each thread says it for those before it, of what happens before it and of where that begins.
        self.scratch.clear_row(HAPPENED);
        for thread in 0..graph.threads.len() {
            let (first, end) = self.numbers.of_thread(graph, thread);
            if let Some(middle) = self.sb_elsewhere.last_between(number, first, end) {
                self.scratch.add_row(HAPPENED, self.hb.row(middle));
            }
        }
        for thread in 0..graph.threads.len() {
            let (first, end) = self.numbers.of_thread(graph, thread);
            if let Some(begin) = self.scratch.last_between(HAPPENED, first, end) {
                self.scb.add_row(number, self.begins.row(begin));
            }
        }
    }

    /// What leads to events from others at the same place: `mo`, `rb`, `rf` and what they make, and `hb`.
    fn relate_at_places(&mut self, graph: &Graph) {
        self.here.clear();
        for (number, &event) in self.events.iter().enumerate() {
            let e = graph.event(event);
            if matches!(e.kind, Kind::Read | Kind::Write) && !e.waits() && e.place != Place::NOWHERE
            {
                self.here.push(Here {
                    place: e.place.index(),
                    position: 0,
                    number: number as u32,
                });
            }
        }
        self.here.sort_unstable();
        self.positions.clear();
        self.positions.resize(self.events.len(), 0);
        let mut first = 0;
        while first < self.here.len() {
            let place = self.here[first].place;
            let rest = &self.here[first..];
            let end = first + rest.partition_point(|here| here.place == place);
            self.put_in_order(graph, first..end);
            self.relate_in_order(first..end);
            first = end;
        }
    }

    fn put_in_order(&mut self, graph: &Graph, range: Range<usize>) {
        let place = graph
            .event(self.events[self.here[range.start].number as usize])
            .place;
        for (position, &write) in (1..).zip(graph.writes(place)) {
            self.positions[self.numbers.of(write)] = position;
        }
        for here in &mut self.here[range.clone()] {
            let event = graph.event(self.events[here.number as usize]);
            here.position = match (event.kind, event.source) {
                (Kind::Write, _) => 2 * self.positions[here.number as usize],
                (_, Ev::INIT) => 1,
                (_, source) => 2 * self.positions[self.numbers.of(source)] + 1,
            };
        }
        self.here[range].sort_unstable();
    }

    fn relate_in_order(&mut self, range: Range<usize>) {
        self.scratch.clear_row(BEFORE);
        self.scratch.clear_row(AT_PLACE);
        let mut first = range.start;
        while first < range.end {
            let position = self.here[first].position;
            let rest = &self.here[first..range.end];
            let end = first + rest.partition_point(|here| here.position == position);
            // Reads of the same write are in no order.
            for here in &self.here[first..end] {
                self.eco
                    .add_row(here.number as usize, self.scratch.row(BEFORE));
            }
            for here in &self.here[first..end] {
                self.scratch.insert(BEFORE, here.number as usize);
            }
            first = end;
        }
        for here in &self.here[range.clone()] {
            self.scratch.insert(AT_PLACE, here.number as usize);
        }
        for here in &self.here[range] {
            let number = here.number as usize;
            self.scb
                .add_common(number, self.hb.row(number), self.scratch.row(AT_PLACE));
            if here.is_write() {
                self.scb.add_row(number, self.eco.row(number));
            }
        }
    }

    /// Takes away what nothing leads to, again and again.
    fn has_no_cycle(&mut self) -> bool {
        self.left.clear();
        self.left.extend_from_slice(&self.strong);
        loop {
            let count = self.left.len();
            let mut index = 0;
            while index < self.left.len() {
                let x = self.left[index] as usize;
                match self.left.iter().any(|&y| self.psc.has(x, y as usize)) {
                    true => index += 1,
                    false => {
                        self.left.swap_remove(index);
                    }
                }
            }
            if self.left.is_empty() {
                return true;
            }
            if self.left.len() == count {
                return false;
            }
        }
    }
}

/// Takes the first member of a word of a row.
fn take_first(rest: &mut u64, word: usize) -> Option<usize> {
    let bit = rest.trailing_zeros() as usize;
    (*rest != 0).then(|| {
        *rest &= *rest - 1;
        word * 64 + bit
    })
}
