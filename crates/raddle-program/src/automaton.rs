//! Threads as automata that are computed once.
//!
//! Invariants
//! - A state belongs to one thread, and has exactly one operation. Edges are deterministic: one successor a value.
//! - States with equal [`Semantics::Local`] are one state, as long as the snapshot of the older one is kept. Losing a
//!   snapshot loses sharing, never an execution.
//! - Every state but a thread's start remembers the edge it was first reached by, so a dropped snapshot is recomputed by
//!   re-running the thread from the nearest ancestor that still has one.

use crate::coverage::{CodeCoverage, WeakOrderings};
use crate::fault::Stop;
use crate::first_bytes::FirstBytes;
use crate::ids::{SrcId, StateId, ThreadId};
use crate::journal::{Entry, Journal};
use crate::op::{Op, ReleaseSequences, SyncAction, Value};
use crate::tables::{SourceLoc, Tables};
use crate::uses::{Additions, Kinds, Overwritten, Uses};
use raddle_ir::debug::SourceTypeId;
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// What a thread arrives at: its local state at a visible operation.
#[derive(Clone, Debug)]
pub struct Transition<L> {
    pub local: L,
    /// For `Op::Spawn` the field `start` is ignored: it is filled in from `child`.
    pub op: Op,
    pub at: SrcId,
    /// What the thread printed on the way.
    pub output: Option<Box<str>>,
    /// The spawned thread's first visible operation, for `Op::Spawn`.
    pub child: Option<Box<Transition<L>>>,
    /// The function that the thread runs, if this is its start: for reports.
    pub entry: Option<Rc<str>>,
}

/// Runs the private code of threads. Must be a function of its arguments: the same local state and value give the same
/// transition, whatever was run before (the tables only name things).
pub trait Semantics {
    /// Everything of a thread that its future depends on. Two equal ones have equal futures. Must include the thread.
    type Local: Clone + Eq + Hash;

    /// Runs `main` up to its first visible operation.
    fn start(&mut self, tables: &mut Tables, kinds: Kinds) -> Transition<Self::Local>;

    /// Goes on after the operation at `local` returned `value`.
    fn resume(
        &mut self,
        tables: &mut Tables,
        local: &Self::Local,
        value: Value,
    ) -> Transition<Self::Local>;

    /// The thread of a local state.
    fn thread(&self, local: &Self::Local) -> ThreadId;

    /// Roughly how many bytes a snapshot takes.
    fn bytes(&self, local: &Self::Local) -> usize;

    /// Does the thread go on in the same way whatever its operation at `local` returns?
    fn ignores_result(&self, _local: &Self::Local) -> bool {
        false
    }

    /// Does the thread stay at `local`, where it does a compare-exchange, until that succeeds, whatever it finds till then?
    fn only_waits(&self, _local: &Self::Local) -> bool {
        false
    }

    /// Does what the thread does depend on the contents that its operation at `local`, a read, finds?
    fn needs_contents(&self, _local: &Self::Local) -> bool {
        false
    }

    /// Is what its operation at `local` allocates full of zeros?
    fn zeroes(&self, _local: &Self::Local) -> bool {
        false
    }

    /// The same program where memory that nobody has written holds these bytes, with the tables to start from; none if it knows no such memory.
    fn with_first_bytes(&self, _bytes: &FirstBytes) -> Option<(Self, Tables)>
    where
        Self: Sized,
    {
        None
    }

    /// What an address means that leads to no variable.
    fn meaning(&self, _tables: &Tables, _address: u64) -> Option<Meaning> {
        None
    }

    /// What of the code was run so far; none where there is no code to speak of.
    fn coverage(&mut self, _tables: &mut Tables) -> Option<CodeCoverage> {
        None
    }

    /// The weak orderings met so far.
    fn weak_orderings(&self) -> WeakOrderings {
        WeakOrderings::default()
    }

    /// Did a thread look at its clock so far while time passed for another one?
    fn has_several_clocks(&self) -> bool {
        false
    }

    /// What the code takes the memory for that the operation at `local` accesses or allocates.
    fn taken_for(&self, _local: &Self::Local) -> Option<TakenFor> {
        None
    }
}

/// What the code takes memory for: for reports. Memory from `malloc` has no type but this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenFor {
    /// An instruction accesses it, and nothing says as what.
    Unknown,
    /// It accesses what lies at this offset of something of this type.
    Part { of: SourceTypeId, offset: u64 },
    /// A block is allocated for one or several of this type.
    Block { of: SourceTypeId },
}

/// What an address means that leads to no variable: for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    Function(Rc<str>),
    /// The characters of a string literal, without the zero at its end.
    Text(Box<[u8]>),
}

/// The object-safe face of [`Expander`].
trait Expand {
    fn start(&mut self, skeleton: &mut Skeleton, kinds: Kinds) -> StateId;
    fn expand(&mut self, skeleton: &mut Skeleton, state: StateId, value: Value) -> StateId;
    fn snapshot_bytes(&self) -> usize;
    fn with_first_bytes(&self, bytes: &FirstBytes) -> Option<(Box<dyn Expand>, Tables)>;
    fn meaning(&self, tables: &Tables, address: u64) -> Option<Meaning>;
    fn taken_for(&self, state: StateId) -> Option<TakenFor>;
    fn coverage(&mut self, tables: &mut Tables) -> Option<CodeCoverage>;
    fn weak_orderings(&self) -> WeakOrderings;
    fn has_several_clocks(&self) -> bool;
}

const NO_EDGE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Edge {
    value: Value,
    target: StateId,
    /// The next edge of the same state.
    next: u32,
}

/// What is kept of every state for good.
#[derive(Clone, Copy)]
struct Node {
    thread: ThreadId,
    at: SrcId,
    /// The edge it was first reached by; itself for starts.
    parent: StateId,
    parent_value: Value,
}

/// What is known of what a state's operation returns.
#[derive(Clone, Copy)]
struct Results {
    /// Does the result not matter? Then there is one edge, labelled 0.
    ignored: bool,
    /// See [`Semantics::needs_contents`].
    needs_contents: bool,
    /// See [`Semantics::zeroes`].
    zeroes: bool,
    /// See [`Semantics::only_waits`]; also of states that are as good as such a one.
    only_waits: bool,
}

/// Operations and edges of all states.
#[derive(Default)]
struct Skeleton {
    ops: Vec<Op>,
    first_edge: Vec<u32>,
    edges: Vec<Edge>,
    nodes: Vec<Node>,
    /// States with many successors find them here: the list would be long.
    fans: FxHashMap<(StateId, Value), StateId>,
    results: Vec<Results>,
    /// Was the state reached by a second edge?
    reentered: Vec<bool>,
    /// Has any state an operation that can be in a data race?
    any_plain: bool,
    /// Does any thread start another, as far as is known?
    any_spawn: bool,
    outputs: FxHashMap<(StateId, Value), Box<str>>,
    /// What threads print before their first operation.
    start_outputs: FxHashMap<StateId, Box<str>>,
    /// What the threads run that are started in these states.
    entries: FxHashMap<StateId, Rc<str>>,
    tables: Tables,
    met_uses: Uses,
    known_uses: Uses,
    overwritten: Overwritten,
    /// Does somebody print in a way that others could notice?
    is_noticed: bool,
    journal: Journal,
    additions: Additions,
}

/// Past so many edges a state's successors are found by hashing.
const LONG_LIST: usize = 8;

impl Skeleton {
    fn add(&mut self, op: Op, node: Node, results: Results) -> StateId {
        let id = StateId::from_index(self.ops.len());
        self.ops.push(op);
        self.first_edge.push(NO_EDGE);
        self.any_plain |= op.is_plain();
        self.any_spawn |= matches!(op, Op::Spawn { .. });
        if self.any_spawn || node.thread != ThreadId::MAIN {
            self.met_uses.note(&op);
            self.overwritten.note(&self.tables, &op);
        }
        if let Op::Stop(stop) = op {
            self.is_noticed |= *self.tables.stop_info(stop) == Stop::Noticed;
        }
        self.reentered.push(false);
        self.results.push(results);
        self.nodes.push(node);
        id
    }

    /// Writes down that a thread can come to this state.
    fn note(&mut self, entry: Entry, to: StateId) {
        self.journal.entries.push(entry);
        let mut to = to;
        // The first thing that a thread does may be to start another.
        while let Op::Spawn { start, .. } = self.ops[to.index()] {
            self.journal.entries.push(Entry::Child { start });
            to = start;
        }
    }

    #[inline]
    fn find(&self, state: StateId, value: Value) -> Option<StateId> {
        let mut edge = self.first_edge[state.index()];
        let mut steps = 0;
        while edge != NO_EDGE {
            let Edge {
                value: label,
                target,
                next,
                ..
            } = self.edges[edge as usize];
            if label == value {
                return Some(target);
            }
            steps += 1;
            if steps == LONG_LIST {
                return self.fans.get(&(state, value)).copied();
            }
            edge = next;
        }
        None
    }

    /// Appends, so that the values met first stay at the front of the list.
    fn connect(&mut self, state: StateId, value: Value, target: StateId) {
        let new = self.edges.len() as u32;
        let mut edge = self.first_edge[state.index()];
        let mut steps = 0;
        if edge == NO_EDGE {
            self.first_edge[state.index()] = new;
        } else {
            loop {
                steps += 1;
                if steps == LONG_LIST {
                    self.fans.insert((state, value), target);
                    return;
                }
                let next = self.edges[edge as usize].next;
                if next == NO_EDGE {
                    break;
                }
                edge = next;
            }
            self.edges[edge as usize].next = new;
        }
        self.edges.push(Edge {
            value,
            target,
            next: NO_EDGE,
        });
    }
}

/// Snapshots of local states: a cache over the skeleton.
struct Expander<S: Semantics> {
    semantics: S,
    snapshots: Vec<Option<S::Local>>,
    /// States with a snapshot, by its hash: the snapshots themselves are kept once.
    interned: FxHashMap<u64, SmallVec<[StateId; 1]>>,
    bytes: usize,
    limit: usize,
}

fn hash_of(local: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    local.hash(&mut hasher);
    hasher.finish()
}

impl<S: Semantics + 'static> Expander<S> {
    fn new(semantics: S, limit: usize) -> Self {
        Self {
            semantics,
            snapshots: Vec::new(),
            interned: FxHashMap::default(),
            bytes: 0,
            limit,
        }
    }

    fn intern(
        &mut self,
        skeleton: &mut Skeleton,
        transition: Transition<S::Local>,
        from: Option<(StateId, Value)>,
    ) -> StateId {
        let Transition {
            local,
            mut op,
            at,
            output,
            child,
            entry: _,
        } = transition;
        let mut entry = None;
        if let Some(child) = child {
            entry.clone_from(&child.entry);
            let begin = self.intern(skeleton, *child, None);
            if let Op::Spawn { start, .. } = &mut op {
                *start = begin;
            }
        }
        let mut start_output = None;
        match (from, output) {
            (Some((state, value)), Some(text)) => {
                skeleton.outputs.insert((state, value), text);
            }
            (None, text) => start_output = text,
            _ => {}
        }
        let hash = hash_of(&local);
        if let Some(state) = self.find(hash, &local) {
            return state;
        }
        let id = StateId::from_index(skeleton.ops.len());
        if let Some(text) = start_output {
            skeleton.start_outputs.insert(id, text);
        }
        if let Some(entry) = entry {
            skeleton.entries.insert(id, entry);
        }
        let (parent, parent_value) = from.unwrap_or((id, 0));
        skeleton.add(
            op,
            Node {
                thread: self.semantics.thread(&local),
                at,
                parent,
                parent_value,
            },
            Results {
                ignored: self.semantics.ignores_result(&local),
                needs_contents: self.semantics.needs_contents(&local),
                zeroes: self.semantics.zeroes(&local),
                only_waits: self.semantics.only_waits(&local),
            },
        );
        self.bytes += self.semantics.bytes(&local);
        self.snapshots.push(Some(local));
        self.interned.entry(hash).or_default().push(id);
        id
    }

    /// The state with this snapshot.
    fn find(&self, hash: u64, local: &S::Local) -> Option<StateId> {
        let states = self.interned.get(&hash)?;
        let is_equal = |state: &&StateId| self.snapshots[state.index()].as_ref() == Some(local);
        states.iter().find(is_equal).copied()
    }

    /// Is the operation of `state` a compare-exchange that failed, and does the thread now do nothing but try the same until it succeeds, to
    /// come to where it would be had it succeeded at once? Then it might as well have stayed where it was: for `waits` there is
    /// one way out, and `state` has it, too. Whatever else `state` does when it finds something else it may do without having
    /// looked before.
    ///
    /// So the fast path of a lock is no different from its slow path.
    fn is_first_try(
        &mut self,
        skeleton: &mut Skeleton,
        (state, value): (StateId, Value),
        waits: StateId,
    ) -> bool {
        let Op::Cas { expected, .. } = skeleton.ops[state.index()] else {
            return false;
        };
        let tries_the_same = waits != state
            && value != expected
            && skeleton.ops[waits.index()] == skeleton.ops[state.index()]
            && !skeleton.outputs.contains_key(&(state, value));
        tries_the_same && skeleton.results[waits.index()].only_waits && {
            let one = self.successor(skeleton, state, expected);
            let other = self.successor(skeleton, waits, expected);
            let print = |state| skeleton.outputs.get(&(state, expected));
            one == other && print(state) == print(waits)
        }
    }

    fn successor(&mut self, skeleton: &mut Skeleton, state: StateId, value: Value) -> StateId {
        match skeleton.find(state, value) {
            Some(target) => target,
            None => self.expand(skeleton, state, value),
        }
    }

    /// The snapshot of `state`, recomputed where it was dropped.
    fn snapshot(&mut self, skeleton: &mut Skeleton, state: StateId) -> S::Local {
        let mut path = Vec::new();
        let mut ancestor = state;
        while self.snapshots[ancestor.index()].is_none() {
            let node = skeleton.nodes[ancestor.index()];
            path.push(node.parent_value);
            ancestor = node.parent;
        }
        let mut local = self.snapshots[ancestor.index()]
            .clone()
            .expect("starts keep their snapshots");
        for value in path.into_iter().rev() {
            local = self
                .semantics
                .resume(&mut skeleton.tables, &local, value)
                .local;
        }
        local
    }

    /// Drops every snapshot but those of thread starts.
    fn drop_snapshots(&mut self, skeleton: &Skeleton) {
        self.bytes = 0;
        self.interned.clear();
        for (index, slot) in self.snapshots.iter_mut().enumerate() {
            let is_start = skeleton.nodes[index].parent.index() == index;
            match slot {
                Some(local) if is_start => {
                    self.bytes += self.semantics.bytes(local);
                    let states = self.interned.entry(hash_of(local)).or_default();
                    states.push(StateId::from_index(index));
                }
                _ => *slot = None,
            }
        }
    }
}

impl<S: Semantics + 'static> Expand for Expander<S> {
    fn with_first_bytes(&self, bytes: &FirstBytes) -> Option<(Box<dyn Expand>, Tables)> {
        let (semantics, tables) = self.semantics.with_first_bytes(bytes)?;
        Some((Box::new(Self::new(semantics, self.limit)), tables))
    }

    fn start(&mut self, skeleton: &mut Skeleton, kinds: Kinds) -> StateId {
        let transition = self.semantics.start(&mut skeleton.tables, kinds);
        let to = self.intern(skeleton, transition, None);
        skeleton.note(Entry::Start { kinds, to }, to);
        to
    }

    fn expand(&mut self, skeleton: &mut Skeleton, state: StateId, value: Value) -> StateId {
        let local = self.snapshot(skeleton, state);
        let transition = self.semantics.resume(&mut skeleton.tables, &local, value);
        if self.bytes > self.limit {
            self.drop_snapshots(skeleton);
        }
        let known = skeleton.ops.len();
        let mut target = self.intern(skeleton, transition, Some((state, value)));
        let from = state;
        let to = target;
        skeleton.note(Entry::Edge { from, value, to }, to);
        if self.is_first_try(skeleton, (state, value), target) {
            skeleton.results[state.index()].only_waits = true;
            target = state;
        }
        if target.index() < known {
            skeleton.reentered[target.index()] = true;
        }
        skeleton.connect(state, value, target);
        target
    }

    fn snapshot_bytes(&self) -> usize {
        self.bytes
    }

    fn meaning(&self, tables: &Tables, address: u64) -> Option<Meaning> {
        self.semantics.meaning(tables, address)
    }

    fn taken_for(&self, state: StateId) -> Option<TakenFor> {
        let local = self.snapshots.get(state.index())?.as_ref()?;
        self.semantics.taken_for(local)
    }

    fn coverage(&mut self, tables: &mut Tables) -> Option<CodeCoverage> {
        self.semantics.coverage(tables)
    }

    fn weak_orderings(&self) -> WeakOrderings {
        self.semantics.weak_orderings()
    }

    fn has_several_clocks(&self) -> bool {
        self.semantics.has_several_clocks()
    }
}

/// A program: the automata of all its threads.
pub struct Program {
    skeleton: Skeleton,
    expander: Box<dyn Expand>,
    main: StateId,
    kinds: Kinds,
    first_bytes: FirstBytes,
}

/// Snapshots may take this much unless the caller says otherwise.
pub const DEFAULT_SNAPSHOT_LIMIT: usize = 1 << 30;

impl Program {
    /// Starts the automata of a program. `tables` must hold what `semantics` put there for its globals.
    pub fn new<S: Semantics + 'static>(semantics: S, tables: Tables) -> Self {
        Self::with_snapshot_limit(semantics, tables, DEFAULT_SNAPSHOT_LIMIT)
    }

    pub fn with_snapshot_limit<S: Semantics + 'static>(
        semantics: S,
        tables: Tables,
        limit: usize,
    ) -> Self {
        let mut skeleton = Skeleton {
            tables,
            ..Skeleton::default()
        };
        let mut expander = Expander::new(semantics, limit);
        let kinds = Kinds::default();
        let main = expander.start(&mut skeleton, kinds);
        Self {
            skeleton,
            expander: Box::new(expander),
            main,
            kinds,
            first_bytes: FirstBytes::default(),
        }
    }

    /// Where `main` starts.
    #[must_use]
    pub fn main(&self) -> StateId {
        self.main
    }

    /// How operations on mutexes come to know of which kind these are.
    #[must_use]
    pub fn kinds(&self) -> Kinds {
        self.kinds
    }

    /// Lets threads start anew, with other automata: whatever runs from [`Self::main`] on must be begun again. States that are known stay
    /// what they are.
    pub fn read_kinds(&mut self) {
        if self.kinds == Kinds::AsFound {
            self.kinds = Kinds::Read;
            self.main = self.expander.start(&mut self.skeleton, self.kinds);
        }
    }

    /// What memory is taken to hold that nobody has written.
    #[must_use]
    pub fn first_bytes(&self) -> &FirstBytes {
        &self.first_bytes
    }

    /// Lets memory that nobody has written hold these bytes. That is another program, of which nothing is known yet but source positions.
    pub fn assume_first_bytes(&mut self, bytes: FirstBytes) {
        if self.first_bytes == bytes {
            return;
        }
        let Some((expander, mut tables)) = self.expander.with_first_bytes(&bytes) else {
            return;
        };
        tables.keep_sources(&mut self.skeleton.tables);
        self.skeleton = Skeleton {
            tables,
            ..Skeleton::default()
        };
        self.expander = expander;
        self.first_bytes = bytes;
        self.main = self.expander.start(&mut self.skeleton, self.kinds);
    }

    /// Is somebody known to write where the kind of a mutex lies that somebody uses, or to print in a way that others could notice, and is that
    /// left out so far?
    #[inline]
    #[must_use]
    pub fn must_read_kinds(&self) -> bool {
        let skeleton = &self.skeleton;
        (skeleton.overwritten.is_any || skeleton.is_noticed) && self.kinds == Kinds::AsFound
    }

    pub(crate) fn additions(&self) -> &Additions {
        &self.skeleton.additions
    }

    pub(crate) fn additions_mut(&mut self) -> &mut Additions {
        &mut self.skeleton.additions
    }

    /// The next visible operation.
    #[inline]
    #[must_use]
    pub fn op(&self, state: StateId) -> &Op {
        &self.skeleton.ops[state.index()]
    }

    /// The state after the operation of `state` returned `value`.
    #[inline]
    pub fn after(&mut self, state: StateId, value: Value) -> StateId {
        let value = if self.ignores_result(state) { 0 } else { value };
        match self.skeleton.find(state, value) {
            Some(target) => target,
            None => self.expand(state, value),
        }
    }

    #[cold]
    fn expand(&mut self, state: StateId, value: Value) -> StateId {
        debug_assert!(
            !self.op(state).is_terminal(),
            "a finished thread was resumed"
        );
        self.expander.expand(&mut self.skeleton, state, value)
    }

    /// The function that the thread runs which is started in `state`.
    #[must_use]
    pub fn entry_at(&self, state: StateId) -> Option<&Rc<str>> {
        self.skeleton.entries.get(&state)
    }

    /// Does the thread go on in the same way whatever the operation of `state` returns?
    #[inline]
    #[must_use]
    pub fn ignores_result(&self, state: StateId) -> bool {
        self.skeleton.results[state.index()].ignored
    }

    /// Does what the thread does depend on the contents that its operation, a read, finds?
    #[inline]
    #[must_use]
    pub fn needs_contents(&self, state: StateId) -> bool {
        self.skeleton.results[state.index()].needs_contents
    }

    /// Does anything depend on the contents of memory that was allocated, as far as is known?
    #[must_use]
    pub fn needs_allocated_contents(&self) -> bool {
        let states = self.skeleton.ops.iter().zip(&self.skeleton.results);
        states
            .filter(|(_, results)| results.needs_contents)
            .any(|(op, _)| match *op {
                Op::Load { loc, .. } | Op::Rmw { loc, .. } | Op::Cas { loc, .. } => {
                    let tables = self.tables();
                    tables.starts_unwritten(tables.loc_info(loc))
                }
                _ => false,
            })
    }

    /// Does the thread wait in `state` for a lock of a library, by a compare-exchange that is tried until it succeeds?
    #[must_use]
    pub fn only_waits(&self, state: StateId) -> bool {
        self.skeleton.results[state.index()].only_waits
    }

    /// Is what the operation allocates full of zeros?
    #[must_use]
    pub fn zeroes(&self, state: StateId) -> bool {
        self.skeleton.results[state.index()].zeroes
    }

    /// Can there be data races, as far as the automata are known? As long as this says no, every access met is atomic.
    #[inline]
    #[must_use]
    pub fn has_plain_accesses(&self) -> bool {
        self.skeleton.any_plain
    }

    /// Do several edges lead to `state`? Every state that a thread can come back to is such a one, once an edge back to it
    /// was walked.
    #[must_use]
    pub(crate) fn is_reentered(&self, state: StateId) -> bool {
        self.skeleton.reentered[state.index()]
    }

    pub(crate) fn met_uses(&self) -> &Uses {
        &self.skeleton.met_uses
    }

    #[inline]
    pub(crate) fn known_uses(&self) -> &Uses {
        &self.skeleton.known_uses
    }

    pub(crate) fn know_uses(&mut self, uses: Uses) {
        self.skeleton.known_uses = uses;
    }

    pub(crate) fn note_learning(&mut self, minds_races: bool) {
        let journal = &mut self.skeleton.journal;
        journal.learned = Some((journal.entries.len(), minds_races));
    }

    /// What was found out so far, for others that have the same program.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.skeleton.journal
    }

    /// All edges that were walked so far, sorted.
    pub(crate) fn edges(&self) -> Vec<(StateId, StateId)> {
        let skeleton = &self.skeleton;
        let mut edges: Vec<(StateId, StateId)> = Vec::with_capacity(skeleton.edges.len());
        for (state, &first) in skeleton.first_edge.iter().enumerate() {
            let mut edge = first;
            while edge != NO_EDGE {
                let Edge { target, next, .. } = skeleton.edges[edge as usize];
                edges.push((StateId::from_index(state), target));
                edge = next;
            }
        }
        edges.extend(
            skeleton
                .fans
                .iter()
                .map(|(&(state, _), &target)| (state, target)),
        );
        edges.sort_unstable();
        edges
    }

    /// Where in the source the operation of `state` stands.
    #[must_use]
    pub fn at(&self, state: StateId) -> SrcId {
        self.skeleton.nodes[state.index()].at
    }

    /// What an address means that leads to no variable: a function, the text of a string literal.
    #[must_use]
    pub fn meaning(&self, address: u64) -> Option<Meaning> {
        self.expander.meaning(&self.skeleton.tables, address)
    }

    /// What the code takes the memory for that the operation of `state` accesses or allocates. None where a model of a
    /// library function does so, and where the snapshot of the state was dropped.
    #[must_use]
    pub fn taken_for(&self, state: StateId) -> Option<TakenFor> {
        self.expander.taken_for(state)
    }

    /// What of the user's code was run so far; none for programs without source.
    pub fn coverage(&mut self) -> Option<CodeCoverage> {
        self.expander.coverage(&mut self.skeleton.tables)
    }

    /// The first orderings weaker than `seq_cst` that threads came to so far.
    #[must_use]
    pub fn weak_orderings(&self) -> WeakOrderings {
        self.expander.weak_orderings()
    }

    /// Did a thread look at its clock so far while time passed for another one? Clocks know nothing of each other.
    #[must_use]
    pub fn has_several_clocks(&self) -> bool {
        self.expander.has_several_clocks()
    }

    /// The thread that `state` is a state of.
    #[must_use]
    pub fn thread(&self, state: StateId) -> ThreadId {
        self.skeleton.nodes[state.index()].thread
    }

    /// The state after the operation of `state` returned `value`, in an execution that was run.
    #[must_use]
    pub fn known_after(&self, state: StateId, value: Value) -> Option<StateId> {
        let value = if self.ignores_result(state) { 0 } else { value };
        self.skeleton.find(state, value)
    }

    /// What the operation of `state` returned if the thread came to `next`; none if several values lead there, or too many are known.
    #[must_use]
    pub fn returned(&self, state: StateId, next: StateId) -> Option<Value> {
        let skeleton = &self.skeleton;
        let mut edge = skeleton.first_edge[state.index()];
        let (mut found, mut edges) = (None, 0);
        while edge != NO_EDGE {
            let Edge {
                value,
                target,
                next: other,
                ..
            } = skeleton.edges[edge as usize];
            edges += 1;
            if target == next && found.replace(value).is_some() {
                return None;
            }
            edge = other;
        }
        // The rest of a long list is elsewhere.
        found.filter(|_| edges + 1 < LONG_LIST)
    }

    /// Is this the state that a thread starts in?
    pub(crate) fn is_start(&self, state: StateId) -> bool {
        self.skeleton.nodes[state.index()].parent == state
    }

    /// Is this the end of `main`, by a return from it?
    #[must_use]
    pub fn is_return_from_main(&self, state: StateId) -> bool {
        matches!(self.op(state), Op::Exit { .. }) && self.at(state) != SrcId::NOWHERE
    }

    /// What the thread prints between the operation of `state`, returning `value`, and its next one.
    #[must_use]
    pub fn output(&self, state: StateId, value: Value) -> Option<&str> {
        let value = if self.ignores_result(state) { 0 } else { value };
        self.skeleton
            .outputs
            .get(&(state, value))
            .map(AsRef::as_ref)
    }

    /// What a thread prints before its first operation, by the state it starts in.
    #[must_use]
    pub fn start_output(&self, start: StateId) -> Option<&str> {
        self.skeleton.start_outputs.get(&start).map(AsRef::as_ref)
    }

    /// Sets the rule by which release sequences go on; nothing else depends on it.
    pub fn set_release_sequences(&mut self, rule: ReleaseSequences) {
        self.skeleton.tables.release_sequences = rule;
    }

    /// Names a source position that no state has, for reports about something else than a run.
    pub fn intern_source(&mut self, loc: SourceLoc) -> SrcId {
        self.skeleton.tables.source(loc)
    }

    #[must_use]
    pub fn tables(&self) -> &Tables {
        &self.skeleton.tables
    }

    /// How many local states have been met.
    #[must_use]
    pub fn state_count(&self) -> usize {
        self.skeleton.ops.len()
    }

    /// Has a thread come to an attempt to have a lock or a token of a semaphore, which may fail, or asked for a semaphore's value? Such an
    /// operation tells of another thread's and does not synchronise with it.
    #[must_use]
    pub fn makes_attempts(&self) -> bool {
        self.skeleton.ops.iter().any(|op| match op {
            Op::Sync { action, .. } => action.is_try() || *action == SyncAction::SemGet,
            _ => false,
        })
    }

    /// Bytes that automata and snapshots take, roughly.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let skeleton = &self.skeleton;
        self.expander.snapshot_bytes()
            + skeleton.ops.len() * (size_of::<Op>() + size_of::<Node>() + 4)
            + skeleton.edges.len() * size_of::<Edge>()
            + skeleton.fans.len() * 32
            + skeleton.tables.arena().len()
    }
}
