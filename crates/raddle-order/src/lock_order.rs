//! Mutexes: the sections of one mutex are in one order.
//!
//! A mutex could be a cell that is read and written, but then the solver has to rediscover in every corner of the search
//! that its sections are in a row: sections are pairwise ordered, reads-from chains are counted by exhaustion, and the time
//! for four threads that count to four each is out of reach. Here the row itself is in the formula: a literal says that a
//! section is at the `k`-th position.
//!
//! - A section that happens has exactly one position, a position at most one section, and no position is left out.
//! - Positions are separated by *bounds*, events in a fixed row. A section that has position `k` lies between bounds `k` and `k+1`:
//!   one conditional edge for its lock, one for its unlock. Nothing says how two sections are ordered; the row does.
//! - Sections of one thread have positions in program order.
//! - After a section that is never left there are no positions.
//!
//! What is only touched inside of the sections of one mutex has one value at each bound. [`LockOrder::carry`] says so: a section
//! with position `k` finds the value of bound `k` and leaves that of bound `k+1`. That is what makes proofs short: what is known
//! of the value at one bound follows from the bound before by looking at each section once, whatever the order of all the
//! others was. A section without the variable need not be mentioned, if it carries the value over (see there).
//!
//! Everything here is definition (new literals for what an execution has anyway), so no execution is lost and none added.

use crate::bits::{Bits, Word};
use crate::lit::Lit;
use crate::order::{EventId, GraphId};
use crate::solver::OrderSolver;

/// One critical section, in the order in which they were entered into [`LockOrder`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Section(u32);

impl Section {
    fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy)]
struct Entry {
    /// Sections of one thread are in program order.
    thread: u32,
    guard: Lit,
    enter: EventId,
}

/// What a section does to a variable that only sections of this mutex touch.
#[derive(Clone, Debug)]
pub struct Passage {
    pub section: Section,
    /// What the section finds.
    pub found: Word,
    /// What it leaves.
    pub left: Word,
}

/// The sections of one mutex.
#[derive(Default)]
pub struct LockOrder {
    sections: Vec<Entry>,
    /// By section: the unlocks that may end it, and whether they happen.
    leaves: Vec<Vec<(EventId, Lit)>>,
    /// Sections of different threads that are ordered in any case.
    ordered: Vec<(Section, Section)>,
    /// Literals that say that the first of two sections comes before the second.
    links: Vec<(Section, Section, Lit)>,
    /// By section and position.
    at: Vec<Vec<Lit>>,
    /// By position: does any section have it?
    taken: Vec<Lit>,
}

impl LockOrder {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// `enter` is an event at which the mutex is locked; it happens iff `guard` holds. Sections of one thread are to be
    /// told in program order.
    pub fn enter(&mut self, thread: u32, enter: EventId, guard: Lit) -> Section {
        assert!(self.at.is_empty(), "the positions have been given out");
        let section = Section(u32::try_from(self.sections.len()).expect("few sections"));
        self.sections.push(Entry {
            thread,
            guard,
            enter,
        });
        self.leaves.push(Vec::new());
        section
    }

    /// `leave` is an event at which the section is left, if `guard` holds, which must imply the guard of the section. Of
    /// several such events of a section at most one may happen. A section that is never left is followed by none.
    pub fn leave(&mut self, section: Section, leave: EventId, guard: Lit) {
        self.leaves[section.index()].push((leave, guard));
    }

    /// The sections are of different threads, but ordered like this whenever both happen.
    pub fn order(&mut self, first: Section, second: Section) {
        self.ordered.push((first, second));
    }

    /// `lit` implies that both sections happen, and that `first` comes before `second`.
    pub fn link(&mut self, first: Section, second: Section, lit: Lit) {
        self.links.push((first, second, lit));
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.sections.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// The section is at position `position`, counted from 0. After [`connect`](Self::connect).
    #[must_use]
    pub fn at(&self, section: Section, position: usize) -> Lit {
        self.at[section.index()][position]
    }

    /// Some section is at position `position`. After [`connect`](Self::connect).
    #[must_use]
    pub fn taken(&self, position: usize) -> Lit {
        self.taken[position]
    }

    /// All sections are there: gives out the positions. `graph` is the order in which they happen.
    pub fn connect(&mut self, solver: &mut OrderSolver, graph: GraphId) {
        let count = self.sections.len();
        let late = self.positions_of_sections(solver);
        self.at = (0..count)
            .map(|section| at_turns(solver, self.sections[section].guard, &late[section]))
            .collect();
        self.taken = (0..count)
            .map(|position| self.sections_at(solver, position))
            .collect();
        for position in 1..count {
            solver.clause(&[!self.taken[position], self.taken[position - 1]]);
        }
        self.place(solver, graph);
    }

    /// By section and `k`: its position is the `k`-th or a later one. Entry 0 is true, the last one false.
    fn positions_of_sections(&self, solver: &mut OrderSolver) -> Vec<Vec<Lit>> {
        let count = self.sections.len();
        let mut late: Vec<Vec<Lit>> = Vec::with_capacity(count);
        for (index, section) in self.sections.iter().enumerate() {
            let earliest = self.certain(section.thread, 0..index);
            let latest = count - 1 - self.certain(section.thread, index + 1..count);
            let own: Vec<Lit> = (0..=count)
                .map(|position| match position {
                    0 => Lit::TRUE,
                    _ if position == count => Lit::FALSE,
                    _ if section.guard != Lit::TRUE => solver.new_lit(),
                    _ if position <= earliest => Lit::TRUE,
                    _ if position > latest => Lit::FALSE,
                    _ => solver.new_lit(),
                })
                .collect();
            for position in 1..count {
                solver.clause(&[!own[position + 1], own[position]]);
                // No position is position 0 where it does not happen, so that nothing is left open.
                solver.clause(&[section.guard, !own[position]]);
            }
            late.push(own);
        }
        for (later, section) in self.sections.iter().enumerate() {
            let before = (0..later)
                .rev()
                .filter(|&at| self.sections[at].thread == section.thread);
            for earlier in before {
                self.put_in_order(solver, &late, earlier, later);
                // The one before it has said the rest.
                if self.sections[earlier].guard == Lit::TRUE {
                    break;
                }
            }
        }
        for &(first, second) in &self.ordered {
            self.put_in_order(solver, &late, first.index(), second.index());
        }
        for &(first, second, lit) in &self.links {
            let (first, second) = (&late[first.index()], &late[second.index()]);
            for position in 0..count {
                solver.clause(&[!lit, !first[position], second[position + 1]]);
            }
        }
        late
    }

    /// The position of `earlier` comes before that of `later`.
    fn put_in_order(
        &self,
        solver: &mut OrderSolver,
        late: &[Vec<Lit>],
        earlier: usize,
        later: usize,
    ) {
        let (a, b) = (self.sections[earlier].guard, self.sections[later].guard);
        for position in 0..self.sections.len() {
            solver.clause(&[!a, !b, !late[earlier][position], late[later][position + 1]]);
        }
    }

    /// How many sections of the thread in this range happen in any case.
    fn certain(&self, thread: u32, range: std::ops::Range<usize>) -> usize {
        let of_thread = |section: &&Entry| section.thread == thread && section.guard == Lit::TRUE;
        self.sections[range].iter().filter(of_thread).count()
    }

    /// At most one section has the position; the literal that says that one has.
    fn sections_at(&self, solver: &mut OrderSolver, position: usize) -> Lit {
        let mut some = Lit::FALSE;
        for row in &self.at {
            let at = row[position];
            if at == Lit::FALSE {
                continue;
            }
            if some == Lit::FALSE {
                some = at;
                continue;
            }
            solver.clause(&[!some, !at]);
            let either = solver.new_lit();
            solver.clause(&[!some, either]);
            solver.clause(&[!at, either]);
            solver.clause(&[!either, some, at]);
            some = either;
        }
        // Sections that happen in any case take all positions.
        if self.is_certain() {
            solver.clause(&[some]);
        }
        some
    }

    /// Every section lies between the bounds of its position.
    fn place(&self, solver: &mut OrderSolver, graph: GraphId) {
        let count = self.sections.len();
        let bounds: Vec<EventId> = (0..=count).map(|_| solver.new_event(Lit::TRUE)).collect();
        for pair in bounds.windows(2) {
            solver.order(graph, pair[0], pair[1]);
        }
        for (index, row) in self.at.iter().enumerate() {
            for (position, &at) in row.iter().enumerate() {
                if at == Lit::FALSE {
                    continue;
                }
                solver.order_if(graph, bounds[position], self.sections[index].enter, at);
                // An unlock that does not happen ends nothing: there is another one, or no position follows.
                for &(leave, guard) in &self.leaves[index] {
                    let ends = both(solver, at, guard, self.sections[index].guard);
                    solver.order_if(graph, leave, bounds[position + 1], ends);
                }
                if position + 1 < count {
                    let left = self.leaves[index].iter().map(|&(_, guard)| guard);
                    let clause: Vec<Lit> = left.chain([!at, !self.taken[position + 1]]).collect();
                    solver.clause(&clause);
                }
                // Early positions first: what holds after them depends on them only.
                solver.prefer(at, (count - position) as f64);
            }
        }
        for position in 0..count {
            let row = self.at.iter().map(|row| row[position]);
            let free = (!self.is_certain()).then_some(!self.taken[position]);
            let cases: Vec<Lit> = row.filter(|&at| at != Lit::FALSE).chain(free).collect();
            solver.cases(&cases);
        }
    }

    /// A variable that only sections of this mutex touch, and that is `initial` before the first of them: what it is after
    /// all of them. Sections that are not among the passages must leave it as it is. What happens before all sections or
    /// after all of them, by the order of the threads alone, may touch it too: that gives `initial` and uses the result.
    ///
    /// After [`connect`](Self::connect).
    pub fn carry(
        &self,
        solver: &mut OrderSolver,
        bits: &mut Bits,
        initial: &Word,
        passages: &[Passage],
    ) -> Word {
        let values = self.values(solver, bits, initial);
        self.carry_through(solver, bits, &values, passages);
        values[self.sections.len()].clone()
    }

    /// What a variable is at each bound: `initial`, then as many unknown words as there are positions.
    pub fn values(&self, solver: &mut OrderSolver, bits: &mut Bits, initial: &Word) -> Vec<Word> {
        let mut values = vec![initial.clone()];
        values.resize_with(self.sections.len() + 1, || {
            bits.fresh(initial.width(), solver)
        });
        values
    }

    /// As [`carry`](Self::carry), with the words that [`values`](Self::values) made.
    pub fn carry_through(
        &self,
        solver: &mut OrderSolver,
        bits: &mut Bits,
        values: &[Word],
        passages: &[Passage],
    ) {
        for (position, pair) in values.windows(2).enumerate() {
            let (value, next) = (&pair[0], &pair[1]);
            let mut touched = Vec::new();
            for passage in passages {
                let at = self.at(passage.section, position);
                if at != Lit::FALSE {
                    bits.require_equal_if(at, &passage.found, value, solver);
                    bits.require_equal_if(at, &passage.left, next, solver);
                    touched.push(at);
                }
            }
            self.keep(solver, bits, touched, value, next);
        }
    }

    /// Nobody who touches the variable has the position: the value stays.
    fn keep(
        &self,
        solver: &mut OrderSolver,
        bits: &mut Bits,
        mut touched: Vec<Lit>,
        value: &Word,
        next: &Word,
    ) {
        if touched.len() == self.sections.len() && self.is_certain() {
            return;
        }
        let stays = solver.new_lit();
        bits.require_equal_if(stays, value, next, solver);
        touched.push(stays);
        solver.clause(&touched);
    }

    fn is_certain(&self) -> bool {
        self.sections
            .iter()
            .all(|section| section.guard == Lit::TRUE)
    }
}

/// By position: the section has it. `late` is the section's row of [`LockOrder::positions_of_sections`].
fn at_turns(solver: &mut OrderSolver, guard: Lit, late: &[Lit]) -> Vec<Lit> {
    let at = |pair: &[Lit]| {
        let [now, later] = [pair[0], pair[1]];
        if now == Lit::FALSE || later == Lit::TRUE {
            return Lit::FALSE;
        }
        let at = solver.new_lit();
        solver.clause(&[!at, guard]);
        solver.clause(&[!at, now]);
        solver.clause(&[!at, !later]);
        solver.clause(&[!guard, !now, later, at]);
        at
    };
    late.windows(2).map(at).collect()
}

/// `guard` implies `section`, and so does `at`: the literal for both of the former.
fn both(solver: &mut OrderSolver, at: Lit, guard: Lit, section: Lit) -> Lit {
    if guard == section {
        return at;
    }
    let both = solver.new_lit();
    solver.clause(&[!both, at]);
    solver.clause(&[!both, guard]);
    solver.clause(&[both, !at, !guard]);
    both
}
