//! Which graphs are consistent.
//!
//! Coherence, atomicity and the absence of thin-air values hold by construction: reads and writes are offered only what `hb` allows
//! ([`Graph::floor`]), an update goes right behind its source, and an event is added after what it depends on. What is left is what
//! a model says of the order of all locations together. Reading from the last write, and writing behind it, is consistent in every
//! model, so that need not be looked at (maximal extensibility).

use super::bits::{Matrix, Numbers, members};
use super::event::{Ev, Event, Kind, Place};
use super::store::Graph;
use raddle_memory::MemoryModel;
use raddle_program::{Op, Order, Program};

/// Judges graphs. What it keeps is memory to work in.
pub(super) struct Judge {
    pub(super) memory: MemoryModel,
    numbers: Numbers,
    events: Vec<Ev>,
    /// By event: what is before it in program order, what happens before it, what `eco` and `scb` lead from.
    sb: Matrix,
    sb_elsewhere: Matrix,
    hb: Matrix,
    eco: Matrix,
    scb: Matrix,
    psc: Matrix,
    scratch: Matrix,
    strong: Vec<usize>,
    before: Vec<u32>,
    todo: Vec<Ev>,
}

/// Is it an event of the model? Choices, allocations and the like are not: that a program has one must forbid nothing.
fn is_step(program: &Program, event: &Event) -> bool {
    event.kind != Kind::Other
        || matches!(program.op(event.state), Op::Spawn { .. } | Op::Join { .. })
}

impl Judge {
    pub(super) fn new(memory: MemoryModel) -> Self {
        Self {
            memory,
            numbers: Numbers::default(),
            events: Vec::new(),
            sb: Matrix::default(),
            sb_elsewhere: Matrix::default(),
            hb: Matrix::default(),
            eco: Matrix::default(),
            scb: Matrix::default(),
            psc: Matrix::default(),
            scratch: Matrix::default(),
            strong: Vec::new(),
            before: Vec::new(),
            todo: Vec::new(),
        }
    }

    /// Is the graph consistent, given that it was before `changed` was added, or made to read from another write?
    pub(super) fn accepts(&mut self, program: &Program, graph: &Graph, changed: &[Ev]) -> bool {
        match self.memory {
            MemoryModel::C11 => graph.strong < 2 || self.psc_is_acyclic(program, graph),
            _ => changed
                .iter()
                .all(|&event| !self.is_before_itself(program, graph, event)),
        }
    }

    // ---- sequential consistency: sb, rf, mo and rb together have no cycle

    /// Does a path of `sb`, `rf`, `mo` and `rb` lead from the event to itself?
    fn is_before_itself(&mut self, program: &Program, graph: &Graph, event: Ev) -> bool {
        self.before.clear();
        self.before.resize(graph.threads.len(), 0);
        self.todo.clear();
        self.predecessors(program, graph, event);
        let mut found = false;
        while let Some(next) = self.todo.pop() {
            // All earlier events of the thread come with it.
            let known = self.before[next.of()];
            if next.index < known {
                continue;
            }
            self.before[next.of()] = next.index + 1;
            for index in known..=next.index {
                let at = Ev {
                    thread: next.thread,
                    index,
                };
                found |= at == event;
                self.predecessors(program, graph, at);
            }
            if found {
                return true;
            }
        }
        false
    }

    /// Notes what comes right before an event.
    fn predecessors(&mut self, program: &Program, graph: &Graph, event: Ev) {
        let mut note = |before: Ev| {
            if before.is_event() && before.index >= self.before[before.of()] {
                self.todo.push(before);
            }
        };
        let e = graph.event(event);
        match event.index.checked_sub(1) {
            Some(index) => note(Ev {
                thread: event.thread,
                index,
            }),
            None => note(graph.threads[event.of()].started_by),
        }
        match e.kind {
            Kind::Read => note(e.source),
            Kind::Write => {
                // The write before, and whoever reads from it.
                let position = graph.position(e.place, event);
                let earlier = graph.write_at(e.place, position - 1);
                note(earlier);
                for thread in 0..graph.threads.len() {
                    let mut at = graph.last_here(e.place, thread);
                    while let Some(other) = at {
                        let read = graph.event(other);
                        if read.kind == Kind::Read && read.source == earlier && other != event {
                            note(other);
                        }
                        at = graph.before_here(other);
                    }
                }
            }
            Kind::Other => {
                if let Op::Join { thread } = *program.op(e.state)
                    && !e.is_fault
                    && let Some(last) = graph.threads[thread.index()].events.len().checked_sub(1)
                {
                    note(Ev::new(thread.index(), last));
                }
            }
            Kind::Fence => {}
        }
    }

    // ---- RC11: psc has no cycle

    fn psc_is_acyclic(&mut self, program: &Program, graph: &Graph) -> bool {
        self.lay_out(program, graph);
        self.relate(graph);
        let count = self.numbers.count;
        self.psc.clear(count);
        self.scratch.clear(count);
        // Rows of `psc` are what leads to an event.
        for index in 0..self.strong.len() {
            let y = self.strong[index];
            let is_fence = self.is_fence(graph, y);
            // scb; hb?  (hb only before fences)
            let mut ends: Vec<usize> = vec![y];
            if is_fence {
                ends.extend(members(self.hb.row(y)));
            }
            for &end in &ends {
                self.scratch.add_row(y, self.scb.row(end));
            }
            let begins: Vec<usize> = members(self.scratch.row(y)).collect();
            for &begin in &begins {
                if self.is_strong(graph, begin) {
                    self.psc.insert(y, begin);
                }
            }
            for &x in &self.strong {
                if self.is_fence(graph, x) && begins.iter().any(|&begin| self.hb.has(begin, x)) {
                    self.psc.insert(y, x);
                }
            }
            if is_fence {
                self.add_fence_edges(graph, y);
            }
        }
        self.is_acyclic()
    }

    /// `[F]; (hb ∪ hb; eco; hb); [F]` that ends in fence `y`.
    fn add_fence_edges(&mut self, graph: &Graph, y: usize) {
        let before: Vec<usize> = members(self.hb.row(y)).collect();
        for &x in &self.strong {
            if !self.is_fence(graph, x) || x == y && !self.hb.has(y, x) {
                continue;
            }
            let leads =
                |&end: &usize| members(self.eco.row(end)).any(|begin| self.hb.has(begin, x));
            if self.hb.has(y, x) || before.iter().any(leads) {
                self.psc.insert(y, x);
            }
        }
    }

    fn is_strong(&self, graph: &Graph, number: usize) -> bool {
        let event = graph.event(self.events[number]);
        event.order == Order::SeqCst
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
        for (index, thread) in graph.threads.iter().enumerate() {
            for at in 0..thread.events.len() {
                if thread.events[at].order == Order::SeqCst {
                    self.strong.push(self.events.len());
                }
                self.events.push(Ev::new(index, at));
            }
        }
        for matrix in [&mut self.sb, &mut self.hb, &mut self.sb_elsewhere] {
            matrix.clear(count);
        }
        for number in 0..count {
            let event = self.events[number];
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
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&number| graph.event(self.events[number]).stamp);
        for number in order {
            self.follow_program(program, graph, number);
        }
    }

    fn follow_program(&mut self, program: &Program, graph: &Graph, number: usize) {
        let event = self.events[number];
        let mut before: Vec<usize> = Vec::new();
        match event.at() {
            0 => {
                let start = graph.threads[event.of()].started_by;
                before.extend(start.is_event().then(|| self.numbers.of(start)));
            }
            _ => before.push(number - 1),
        }
        let e = graph.event(event);
        if e.kind == Kind::Other
            && !e.is_fault
            && let Op::Join { thread } = *program.op(e.state)
        {
            let target = &graph.threads[thread.index()];
            match target.events.len().checked_sub(1) {
                Some(last) => before.push(self.numbers.first(thread.index()) + last),
                None => before.extend(
                    target
                        .started_by
                        .is_event()
                        .then(|| self.numbers.of(target.started_by)),
                ),
            }
        }
        for earlier in before {
            let row = self.sb.row(earlier).to_vec();
            self.sb.add_row(number, &row);
            self.sb.insert(number, earlier);
        }
        if !is_step(program, e) {
            return;
        }
        let row = self.sb.row(number).to_vec();
        self.sb_elsewhere.add_row(number, &row);
        for earlier in members(&row) {
            let other = graph.event(self.events[earlier]);
            let is_here = e.place != Place::NOWHERE && other.place == e.place;
            if is_here || !is_step(program, other) {
                self.sb_elsewhere.remove(number, earlier);
            }
        }
    }

    /// `eco` and `scb`, from what lies before each event.
    fn relate(&mut self, graph: &Graph) {
        let count = self.numbers.count;
        self.eco.clear(count);
        self.scb.clear(count);
        for number in 0..count {
            self.relate_at_place(graph, number);
        }
        // sb|≠loc; hb; sb|≠loc
        self.scratch.clear(count);
        for number in 0..count {
            let happened: Vec<usize> = members(self.hb.row(number)).collect();
            for middle in happened {
                let row = self.sb_elsewhere.row(middle).to_vec();
                self.scratch.add_row(number, &row);
            }
        }
        for number in 0..count {
            let last: Vec<usize> = members(self.sb_elsewhere.row(number)).collect();
            for middle in last {
                let row = self.scratch.row(middle).to_vec();
                self.scb.add_row(number, &row);
            }
            let row = self.sb.row(number).to_vec();
            self.scb.add_row(number, &row);
        }
    }

    /// What leads to an event from others at the same place: `mo`, `rb`, `rf` and what they make, and `hb`.
    fn relate_at_place(&mut self, graph: &Graph, number: usize) {
        let this = self.events[number];
        let e = graph.event(this);
        if e.place == Place::NOWHERE || e.waits() {
            return;
        }
        let is_write = e.kind == Kind::Write;
        let own = match is_write {
            true => graph.position(e.place, this),
            false => graph.position(e.place, e.source),
        };
        for other in 0..self.numbers.count {
            let from = self.events[other];
            let f = graph.event(from);
            if f.place != e.place || other == number || f.waits() {
                continue;
            }
            if self.hb.has(number, other) {
                self.scb.insert(number, other);
            }
            let position = match f.kind {
                Kind::Write => graph.position(f.place, from),
                _ => graph.position(f.place, f.source),
            };
            match (f.kind, is_write) {
                (Kind::Write, true) | (Kind::Read, true) if position < own => {
                    self.scb.insert(number, other);
                    self.eco.insert(number, other);
                }
                (Kind::Write, false) if position <= own => self.eco.insert(number, other),
                // A read before another: there is a write between them.
                (Kind::Read, false) if position < own => self.eco.insert(number, other),
                _ => {}
            }
        }
    }

    /// Does `psc` have no cycle?
    fn is_acyclic(&mut self) -> bool {
        // Takes away what nothing leads to, again and again.
        let mut left = self.strong.clone();
        loop {
            let leads = |x: &usize, left: &[usize]| left.iter().any(|&y| self.psc.has(*x, y));
            let stay: Vec<usize> = left.iter().copied().filter(|x| leads(x, &left)).collect();
            if stay.is_empty() {
                return true;
            }
            if stay.len() == left.len() {
                return false;
            }
            left = stay;
        }
    }
}
