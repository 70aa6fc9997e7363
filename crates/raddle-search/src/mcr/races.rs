//! Data races in a model: section 3.3 of the paper, and those that a race makes possible.
//!
//! Two accesses race if both can come next. The first race of any execution shows in this way in the model of some execution, if
//! threads know of each other only by what synchronises. After a race, or a relaxed access, accesses can be unordered that
//! never come next together. They are looked for in models with such an event: an interleaving with one of the accesses, after which the other
//! comes last, and a set of *reached* events, which has the first access, is closed under everything that
//! synchronises, and has nothing of what precedes the second.

use super::encode::ReadsFrom;
use super::model::{Index, ModelEvent, Pair};
use super::solve::{PredictedRace, Query, Step};
use raddle_order::Lit;
use raddle_program::{SrcId, Value};
use rustc_hash::FxHashSet;

/// Looks for the races of all pairs whose places are not known to race.
pub(super) fn find(query: &mut Query<'_>) {
    let model = query.model();
    let known = query.context.known_races;
    let mut found: FxHashSet<(SrcId, SrcId)> = FxHashSet::default();
    let mut is_racy = model.pairs.iter().any(|pair| known.contains(&pair.at));
    for pair in &model.pairs {
        if query.solved.stopped {
            return;
        }
        if !known.contains(&pair.at)
            && !found.contains(&pair.at)
            && !pair.is_conditional
            && !query.encoding.before(pair.first, pair.second)
            && next_to_each_other(query, pair)
        {
            is_racy = true;
            found.insert(pair.at);
        }
    }
    find_unordered(query, is_racy || model.is_weak, &found);
}

/// Can both come next? Either may come first: an event that does several things may hide the race in one order.
fn next_to_each_other(query: &mut Query<'_>, pair: &Pair) -> bool {
    let model = query.model();
    let sides = [pair.first, pair.second].map(|index| &model.events[index as usize]);
    let encoding = &query.encoding;
    let assumptions = [
        encoding.included_before(sides[0]),
        encoding.included_before(sides[1]),
        !encoding.included[pair.first as usize],
        !encoding.included[pair.second as usize],
    ];
    if !query.ask(&assumptions) {
        return false;
    }
    let common = query.interleaving(None);
    for sides in [sides, [sides[1], sides[0]]] {
        let mut steps = common.clone();
        steps.extend(sides.map(step));
        let may_wait = sides.iter().any(|event| event.can_wait());
        query.solved.races.push(PredictedRace { steps, may_wait });
    }
    true
}

fn step(event: &ModelEvent) -> Step {
    (event.thread, event.choices.clone())
}

/// Pairs that nothing orders, though they do not come next together; all of them if there may be any, otherwise those with a
/// side that is not the same access whatever it reads.
fn find_unordered(query: &mut Query<'_>, all: bool, found: &FxHashSet<(SrcId, SrcId)>) {
    let model = query.model();
    let known = query.context.known_races;
    let left: Vec<&Pair> = model
        .pairs
        .iter()
        .filter(|pair| all || pair.is_conditional)
        .filter(|pair| !known.contains(&pair.at) && !found.contains(&pair.at))
        .filter(|pair| !query.encoding.before(pair.first, pair.second))
        .collect();
    if left.is_empty() {
        return;
    }
    let reached = Reached::new(query);
    for pair in left {
        for (first, second) in [(pair.first, pair.second), (pair.second, pair.first)] {
            if query.solved.stopped {
                return;
            }
            // Both are tried: of the accesses of an event the latest is reported.
            if let Some(steps) = reached.unordered(query, first, second) {
                let may_wait = query.model().events[second as usize].can_wait();
                query.solved.races.push(PredictedRace { steps, may_wait });
            }
        }
    }
}

/// Happens-before reachability from the first access, as literals.
struct Reached {
    /// By event: it happens after a reached one.
    events: Vec<Lit>,
    /// By cell and write: so does who acquires it.
    writes: Vec<Vec<Lit>>,
}

impl Reached {
    fn new(query: &mut Query<'_>) -> Self {
        let model = query.model();
        let solver = &mut query.encoding.solver;
        let events: Vec<Lit> = model.events.iter().map(|_| solver.new_lit()).collect();
        let writes: Vec<Vec<Lit>> = model
            .cells
            .iter()
            .map(|cell| cell.writes.iter().map(|_| solver.new_lit()).collect())
            .collect();
        let reached = Self { events, writes };
        for (index, event) in model.events.iter().enumerate() {
            for &before in event.parent.iter().chain(&event.after) {
                solver.clause(&[!reached.events[before as usize], reached.events[index]]);
            }
        }
        for (cell, model_cell) in model.cells.iter().enumerate() {
            for (position, &(event, _)) in model_cell.writes.iter().enumerate() {
                let of_event = model.events[event as usize].writes.iter();
                let write = of_event.clone().find(|write| write.cell as usize == cell);
                if let Some(source) = write.and_then(|write| write.releases) {
                    let write = reached.writes[cell][position];
                    solver.clause(&[!reached.events[source as usize], write]);
                }
            }
        }
        for position in 0..query.encoding.reads_from.len() {
            let reads_from = query.encoding.reads_from[position];
            reached.pass_on(query, reads_from);
        }
        reached
    }

    fn pass_on(&self, query: &mut Query<'_>, reads_from: ReadsFrom) {
        let model = query.model();
        let ReadsFrom {
            lit,
            cell,
            write,
            event: index,
            read,
        } = reads_from;
        let event = &model.events[index as usize];
        let writes = &model.cells[cell as usize].writes;
        let (source, _) = writes[write];
        let released = self.writes[cell as usize][write];
        let solver = &mut query.encoding.solver;
        if let Some(by) = event.reads[read].acquired_by {
            solver.clause(&[!lit, !released, self.events[by as usize]]);
        }
        if event.is_block && model.events[source as usize].is_block {
            let (from, to) = (self.events[source as usize], self.events[index as usize]);
            solver.clause(&[!lit, !from, to]);
        }
        let continues = event.writes.iter();
        if continues
            .clone()
            .any(|write| write.cell == cell && write.continues)
            && let Some(own) = writes.iter().position(|&(writer, _)| writer == index)
        {
            let own = self.writes[cell as usize][own];
            solver.clause(&[!lit, !released, own]);
        }
    }

    /// An interleaving with `first`, and with `second` at its end, not ordered after it.
    fn unordered(&self, query: &mut Query<'_>, first: Index, second: Index) -> Option<Vec<Step>> {
        let model = query.model();
        let event = &model.events[second as usize];
        let active = query.encoding.solver.new_lit();
        self.last_read(query, active, second);
        self.nothing_between(query, active, first, second);
        let mut assumptions = vec![
            active,
            query.encoding.included[first as usize],
            query.encoding.included_before(event),
            !query.encoding.included[second as usize],
            self.events[first as usize],
        ];
        assumptions.extend(event.parent.map(|parent| !self.events[parent as usize]));
        let possible = query.ask(&assumptions);
        let steps = possible.then(|| {
            let mut steps = query.interleaving(None);
            steps.push(step(event));
            steps
        });
        query.encoding.solver.clause(&[!active]);
        steps
    }

    /// The second access, after all others, may acquire something itself; if it depends on what it reads it reads that.
    fn last_read(&self, query: &mut Query<'_>, active: Lit, second: Index) {
        let model = query.model();
        let event = &model.events[second as usize];
        let reads: Vec<(u32, Vec<Value>, bool)> = event
            .reads
            .iter()
            .filter(|read| read.acquired_by == Some(second) || event.is_conditional)
            .filter_map(|read| {
                let cell = &model.cells[read.cell? as usize];
                let mut values = read.allowed.clone();
                if !event.is_conditional {
                    values = cell.writes.iter().map(|write| write.1).collect();
                    values.push(cell.initial);
                }
                Some((read.cell?, values, read.acquired_by == Some(second)))
            })
            .collect();
        if reads.is_empty() {
            return;
        }
        let encoding = &mut query.encoding;
        let subs: Vec<_> = reads.iter().map(|_| encoding.new_event(None)).collect();
        encoding.add_extra(event, &subs, true);
        for (&(cell, ref values, acquires), sub) in reads.iter().zip(subs) {
            let model_cell = &model.cells[cell as usize];
            let sources = encoding.sources(cell, values, (None, event));
            let lits = encoding.read_some(active, cell, sub, &sources);
            for (source, lit) in sources.into_iter().zip(lits) {
                let Some(position) = source else {
                    continue;
                };
                let writer = model_cell.writes[position].0 as usize;
                let solver = &mut encoding.solver;
                if acquires {
                    solver.clause(&[!active, !lit, !self.writes[cell as usize][position]]);
                }
                if event.is_block && model.events[writer].is_block {
                    solver.clause(&[!active, !lit, !self.events[writer]]);
                }
            }
        }
    }

    /// What else may race with the second access comes before the first, or not at all: the latest is reported.
    fn nothing_between(&self, query: &mut Query<'_>, active: Lit, first: Index, second: Index) {
        let model = query.model();
        for pair in &model.pairs {
            let other = match (pair.first, pair.second) {
                (a, b) if a == second => b,
                (a, b) if b == second => a,
                _ => continue,
            };
            // What always happens before the second does not race with it.
            if other == first || query.encoding.before(other, second) {
                continue;
            }
            let encoding = &mut query.encoding;
            let included = encoding.included[other as usize];
            let earlier = encoding.solver.new_lit();
            encoding.solver.clause(&[!active, !included, earlier]);
            match (
                encoding.anchor[other as usize],
                encoding.anchor[first as usize],
            ) {
                (Some(from), Some(to)) if from != to => {
                    encoding.solver.order_if(encoding.graph, from, to, earlier);
                }
                _ if encoding.before(first, other) => encoding.solver.clause(&[!earlier]),
                _ => {}
            }
        }
    }
}
