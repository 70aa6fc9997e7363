//! What orderings have to do with an execution that was run: why a read was allowed to return an old value, and which orderings would forbid the
//! execution.
//!
//! Both are found on the graph of the execution. For the second, orderings of the user's own accesses and fences are made stronger in the graph, and
//! the axioms judge it again. That is monotone: a stronger ordering adds to `hb` and to `psc` and takes nothing away. So it is enough to try the
//! strongest ordering of an access to see whether it could help at all, and the weakest that does is told.

use super::placed::GraphRun;
use super::{Schedule, ScheduleStep};
use crate::verdict::{OrderAdvice, Strengthening, Trace, Unsynchronised, Violation, ViolationKind};
use crate::watch::Watch;
use raddle_memory::axioms::{self, EventId, EventKind, PlainAccesses, Relation};
use raddle_memory::{Effect, MemoryModel};
use raddle_program::{Op, Order, OrderOf, OrderSite, Program, SrcId, StateId, Value};
use std::collections::{BTreeMap, VecDeque};

/// So many sets of orderings are told.
const REMEDIES: usize = 4;
/// Judging a graph takes time with the cube of its events. So much is spent on one execution.
const EFFORT: u64 = 3_000_000_000;
/// For longer executions there is no advice: judging them once takes more than that.
const MOST: u64 = 64 * EFFORT;

// ---- old values

/// How a read was reached that does not synchronise.
#[derive(Clone, Copy)]
struct Way {
    /// The write that it reads from,
    by: EventId,
    /// which is known to this one, or is it.
    before: EventId,
}

impl GraphRun {
    /// The reads on the way from a write to a read that did not see it, along `hb` and what is read, that do not synchronise; as few as
    /// there can be.
    pub(super) fn unsynchronised(
        &self,
        write: EventId,
        read: EventId,
        happens_before: &Relation,
    ) -> Vec<Unsynchronised> {
        let size = self.graph.events.len();
        // Breadth first by the number of such reads: what is reached by `hb` costs nothing.
        let mut ways: Vec<Option<Way>> = vec![None; size];
        let mut is_reached = vec![false; size];
        let mut queue = VecDeque::from([write]);
        is_reached[write] = true;
        while let Some(event) = queue.pop_front() {
            let later = happens_before.after(event);
            let known: Vec<EventId> = std::iter::once(event).chain(later).collect();
            if known.contains(&read) {
                return self.way_to(event, &ways, happens_before, read);
            }
            for &writer in &known {
                for reader in self.readers_of(writer).filter(|&reader| reader != read) {
                    if !is_reached[reader] {
                        is_reached[reader] = true;
                        ways[reader] = Some(Way {
                            by: writer,
                            before: event,
                        });
                        queue.push_back(reader);
                    }
                }
            }
        }
        Vec::new()
    }

    /// Atomic reads of an atomic write.
    fn readers_of(&self, write: EventId) -> impl Iterator<Item = EventId> + '_ {
        let is_atomic = |event: EventId| {
            let access = self.graph.memory(event);
            access.is_some_and(|access| access.order.is_atomic())
        };
        (write + 1..self.graph.events.len()).filter(move |&event| {
            let access = self.graph.memory(event);
            let reads = access.and_then(|access| access.reads.as_ref());
            is_atomic(write)
                && is_atomic(event)
                && reads.is_some_and(|reads| reads.sources().any(|source| source == Some(write)))
        })
    }

    /// The reads by which `event` was reached, first to last. `end` is known to it.
    fn way_to(
        &self,
        mut event: EventId,
        ways: &[Option<Way>],
        happens_before: &Relation,
        mut end: EventId,
    ) -> Vec<Unsynchronised> {
        let mut found = Vec::new();
        while let Some(way) = ways[event] {
            found.push(Unsynchronised {
                write: self.of_event[way.by],
                read: self.of_event[event],
                releases: self.releases(way.by),
                acquires: self.acquires(event, end, happens_before),
            });
            (event, end) = (way.before, way.by);
        }
        found.reverse();
        found
    }

    fn order_at(&self, event: EventId) -> Option<Order> {
        match &self.graph.events[event].kind {
            EventKind::Memory(access) => Some(access.order),
            EventKind::Fence(order) => Some(*order),
            _ => None,
        }
    }

    fn is_fence(&self, event: EventId, wanted: fn(Order) -> bool) -> bool {
        matches!(self.graph.events[event].kind, EventKind::Fence(order) if wanted(order))
    }

    fn releases(&self, write: EventId) -> bool {
        let thread = self.graph.events[write].thread;
        self.order_at(write).is_some_and(Order::releases)
            || (0..write).any(|event| {
                self.graph.events[event].thread == thread && self.is_fence(event, Order::releases)
            })
    }

    fn acquires(&self, read: EventId, next: EventId, happens_before: &Relation) -> bool {
        let thread = self.graph.events[read].thread;
        self.order_at(read).is_some_and(Order::acquires)
            || (read + 1..self.graph.events.len()).any(|event| {
                self.graph.events[event].thread == thread
                    && self.is_fence(event, Order::acquires)
                    && (event == next || happens_before.has(event, next))
            })
    }
}

// ---- what would forbid an execution

/// What stronger orderings would do about a violation. None where they have no part in it: an execution without weak orderings of the user's, or
/// one that sequential consistency allows, unless it is a race.
#[must_use]
pub fn advise(program: &mut Program, violation: &Violation, watch: &Watch) -> Option<OrderAdvice> {
    let length = violation.trace.steps.len() as u64;
    if length.pow(3) > MOST || !has_weak_orderings(program, &violation.trace) {
        return None;
    }
    let is_race = matches!(violation.kind, ViolationKind::Race(_));
    let run = match violation.schedule.memory {
        MemoryModel::C11 => run_graph(program, &violation.schedule, PlainAccesses::Race)
            .or_else(|| run_graph(program, &violation.schedule, PlainAccesses::AreRelaxed))?,
        MemoryModel::Sc if is_race => {
            let schedule = as_graph(program, &violation.trace)?;
            let run = run_graph(program, &schedule, PlainAccesses::Race)?;
            is_same(&run, &violation.trace).then_some(run)?
        }
        _ => return None,
    };
    let goal = match &violation.kind {
        ViolationKind::Race(race) => {
            let event = |step: usize| run.steps.get(step).map(|did| did.event);
            Goal::Order(event(race.first.step)?, event(race.second.step)?)
        }
        _ => Goal::Forbid,
    };
    let is_sc = axioms::is_sequentially_consistent(&run.graph);
    if is_sc && !is_race {
        return None;
    }
    let mut trials = Trials::new(program, run, goal, watch);
    if trials.weak.is_empty() || trials.is_met(&[]) {
        return None;
    }
    let remedies = trials.remedies();
    Some(OrderAdvice { is_sc, remedies })
}

/// Is there an ordering of the user's that could be stronger?
fn has_weak_orderings(program: &Program, trace: &Trace) -> bool {
    trace.steps.iter().any(|step| {
        let weak = used_ordering(program, step.state, step.value);
        weak.is_some_and(|weak| !stronger(weak.of, weak.from).is_empty())
    })
}

/// The ordering of an operation that was done, if it is one of the user's.
struct Used {
    site: OrderSite,
    of: OrderOf,
    from: Order,
    at: SrcId,
}

fn used_ordering(program: &Program, state: StateId, value: Value) -> Option<Used> {
    let op = *program.op(state);
    let at = program.at(state);
    let [first, second] = op.orderings();
    let (of, from) = match (op, second) {
        (Op::Cas { expected, .. }, Some(failure)) if value != expected => failure,
        _ => first?,
    };
    let site = program.tables().order_site(at, of, from)?;
    Some(Used { site, of, from, at })
}

/// All that are stronger, weaker ones first.
fn stronger(of: OrderOf, from: Order) -> Vec<Order> {
    let choices = of.choices().iter().copied();
    choices
        .filter(|&order| order != from && order.is_at_least(from))
        .collect()
}

fn run_graph(program: &mut Program, schedule: &Schedule, plain: PlainAccesses) -> Option<GraphRun> {
    let mut run = GraphRun::new(program, plain);
    for step in &schedule.steps {
        run.step(program, step).ok()?;
    }
    axioms::judge(&run.graph).is_ok().then_some(run)
}

/// The graph that an interleaving is: the last write is read, and writes come behind each other.
fn as_graph(program: &Program, trace: &Trace) -> Option<Schedule> {
    let mut steps = Vec::with_capacity(trace.steps.len());
    for (index, step) in trace.steps.iter().enumerate() {
        if step.effect != Effect::Whole {
            return None;
        }
        let op = *program.op(step.state);
        let writes_to = |loc| {
            let mut earlier = trace.steps[..index].iter();
            earlier.rposition(|other| other.wrote.is_some_and(|(wrote, _)| wrote == loc))
        };
        let reads = match op {
            Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => step
                .reads_from
                .filter(|&from| trace.steps[from].wrote.is_some_and(|(to, _)| to == loc)),
            Op::Sync { .. } => step.reads_from,
            _ => None,
        };
        let after = match op {
            Op::Store { loc, .. } => writes_to(loc),
            _ => None,
        };
        steps.push(ScheduleStep::Place {
            thread: step.thread,
            choices: match op {
                Op::Choice { .. } => vec![step.value as u32],
                _ => Vec::new(),
            },
            reads: reads.map(|step| step as u32),
            after: after.map(|step| step as u32),
        });
    }
    Some(Schedule {
        memory: MemoryModel::C11,
        steps,
    })
}

fn is_same(run: &GraphRun, trace: &Trace) -> bool {
    let steps = run.steps.iter().zip(&trace.steps);
    steps.into_iter().all(|(did, step)| {
        (did.thread, did.state, did.value) == (step.thread, step.state, step.value)
    })
}

/// What is to be reached.
#[derive(Clone, Copy)]
enum Goal {
    /// The graph is no execution.
    Forbid,
    /// Nor is it if these two are ordered.
    Order(EventId, EventId),
}

/// An ordering that could be stronger.
struct Weak {
    of: OrderOf,
    from: Order,
    step: usize,
    at: SrcId,
    events: Vec<EventId>,
    /// All that are stronger, weaker ones first.
    stronger: Vec<Order>,
}

/// A change: which of the weak orderings, and which of its stronger ones.
type Change = (usize, usize);

struct Trials<'a> {
    run: GraphRun,
    goal: Goal,
    weak: Vec<Weak>,
    /// How many graphs may still be judged.
    left: u64,
    watch: &'a Watch,
}

impl<'a> Trials<'a> {
    fn new(program: &Program, run: GraphRun, goal: Goal, watch: &'a Watch) -> Self {
        let mut sites: BTreeMap<OrderSite, Weak> = BTreeMap::new();
        for (step, did) in run.steps.iter().enumerate() {
            let Some(used) = used_ordering(program, did.state, did.value) else {
                continue;
            };
            let Used { site, of, from, at } = used;
            let weak = sites.entry(site).or_insert_with(|| Weak {
                of,
                from,
                step,
                at,
                events: Vec::new(),
                stronger: stronger(of, from),
            });
            weak.events.push(did.event);
        }
        let size = run.graph.events.len().max(16) as u64;
        let mut weak: Vec<Weak> = sites
            .into_values()
            .filter(|weak| !weak.stronger.is_empty())
            .collect();
        weak.sort_by_key(|weak| weak.step);
        Self {
            left: (EFFORT / size.pow(3)).max(1),
            run,
            goal,
            weak,
            watch,
        }
    }

    /// Is the goal met with these changes?
    fn is_met(&mut self, changes: &[Change]) -> bool {
        if self.left == 0 || self.watch.is_over() {
            return false;
        }
        self.left -= 1;
        let mut graph = self.run.graph.clone();
        for &(index, order) in changes {
            let weak = &self.weak[index];
            for &event in &weak.events {
                match &mut graph.events[event].kind {
                    EventKind::Memory(access) => access.order = weak.stronger[order],
                    EventKind::Fence(old) => *old = weak.stronger[order],
                    _ => {}
                }
            }
        }
        match (axioms::judge(&graph), self.goal) {
            (Err(_), _) => true,
            (Ok(judged), Goal::Order(a, b)) => {
                judged.happens_before.has(a, b) || judged.happens_before.has(b, a)
            }
            (Ok(_), Goal::Forbid) => false,
        }
    }

    fn strongest(&self, index: usize) -> Change {
        (index, self.weak[index].stronger.len() - 1)
    }

    fn remedies(&mut self) -> Vec<Vec<Strengthening>> {
        let all: Vec<Change> = (0..self.weak.len()).map(|it| self.strongest(it)).collect();
        if !self.is_met(&all) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for index in 0..self.weak.len() {
            self.try_set(vec![self.strongest(index)], &mut found);
        }
        if found.is_empty() {
            for first in 0..self.weak.len() {
                for second in first + 1..self.weak.len() {
                    let pair = vec![self.strongest(first), self.strongest(second)];
                    self.try_set(pair, &mut found);
                }
            }
        }
        if found.is_empty() {
            let least = {
                let few = self.without_superfluous(all);
                self.weakened(few)
            };
            found.push(least);
        }
        // Weak ones first: what costs least is told first.
        found.sort_by_key(|set| set.iter().map(|&(_, order)| order).sum::<usize>());
        found.truncate(REMEDIES);
        let told = found.iter().map(|set| self.told(set));
        told.collect()
    }

    fn try_set(&mut self, set: Vec<Change>, found: &mut Vec<Vec<Change>>) {
        if self.is_met(&set) {
            let least = self.weakened(set);
            found.push(least);
        }
    }

    /// A set that is met, without those that it does not need.
    fn without_superfluous(&mut self, mut set: Vec<Change>) -> Vec<Change> {
        let mut index = 0;
        while index < set.len() {
            let mut fewer = set.clone();
            fewer.remove(index);
            if self.is_met(&fewer) {
                set = fewer;
            } else {
                index += 1;
            }
        }
        set
    }

    /// The same changes, each to the weakest ordering that does.
    fn weakened(&mut self, mut set: Vec<Change>) -> Vec<Change> {
        for index in 0..set.len() {
            let strongest = set[index].1;
            for order in 0..strongest {
                let mut weaker = set.clone();
                weaker[index].1 = order;
                if self.is_met(&weaker) {
                    set = weaker;
                    break;
                }
            }
        }
        set
    }

    fn told(&self, set: &[Change]) -> Vec<Strengthening> {
        let told = set.iter().map(|&(index, order)| {
            let weak = &self.weak[index];
            Strengthening {
                step: weak.step,
                at: weak.at,
                of: weak.of,
                from: weak.from,
                to: weak.stronger[order],
            }
        });
        told.collect()
    }
}
