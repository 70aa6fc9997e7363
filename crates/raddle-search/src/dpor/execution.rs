//! The current execution as DPOR sees it: events with their footprints, the happens-before relation as vector clocks, and
//! the races of each event.
//!
//! Everything grows and shrinks with the execution: pushing an event costs what that event touches, popping it restores the
//! tables, and nothing is recomputed for the prefix that an execution shares with the one before it.
//!
//! Invariants
//! - `clock(e)[t]` is the index of the last event of thread `t` that happens before `e` (or is `e`); indices count from 1.
//! - For each location the last event that wrote it is known, and those that read it, or added to it, since.
//! - The races of an event are the earlier events that it could have come before (definition 2 of the paper, and lines 7-22
//!   of its algorithm 1 for events that may have to wait); they do not depend on what follows.

mod noticing;
mod waiting;

use super::footprint::{FootprintId, Footprints};
use super::settled::Settled;
use crate::driver::Reductions;
use crate::purity::Attempt;
use raddle_memory::cells::life::ALIVE;
use raddle_memory::perform::life_of;
use raddle_memory::{Access, AccessMode, Machine, Mark};
use raddle_program::{LocId, Op, Program, StateId, ThreadId};
use rustc_hash::FxHashMap;

/// The choices taken inside an event, interned; 0 for none.
pub(super) type ChoiceId = u32;

/// Index of an event in the execution.
pub(super) type EventId = u32;

pub(super) const NO_EVENT: EventId = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) thread: ThreadId,
    /// Counts the thread's events from 1.
    pub(super) index: u32,
    /// No other event of the exploration has this number.
    pub(super) serial: u64,
    /// The local state that it left.
    pub(super) state: StateId,
    pub(super) choices: ChoiceId,
    pub(super) footprint: FootprintId,
    /// What the first two locations of the footprint held before, where `before_known`.
    before: [u64; 2],
    before_known: bool,
    /// Is it a whole atomic block, or the rest of one?
    pub(super) is_block: bool,
    /// Did it leave memory as it was?
    pub(super) is_pure: bool,
    /// Does the thread go no further, because its iteration was pure?
    pub(super) ends_thread: bool,
    /// The machine before it.
    pub(super) mark: Mark,
    /// The thread's event before this one, or the event that spawned the thread.
    pub(super) parent: EventId,
    touches: u32,
    reads: u32,
    races: u32,
}

/// A race of `second` with the earlier `first`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Race {
    pub(super) first: EventId,
    pub(super) second: EventId,
    /// What `second` will access when it is run before `first`. `None`: that has to be found out by running it, and also
    /// whether it can be run.
    pub(super) last: Option<FootprintId>,
    pub(super) settled: Settled,
}

/// What the later event of a race will access when it is run before the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    /// What it accesses in the execution.
    Same,
    /// The same, but for how it accesses its first location.
    Mode(AccessMode),
    /// That has to be found out by running it, and also whether it can be run.
    Run,
}

/// What a location looked like before an event touched it.
#[derive(Clone, Copy, Debug)]
struct Touch {
    loc: LocId,
    before: LocState,
}

#[derive(Clone, Copy, Debug)]
struct ReadNode {
    event: EventId,
    next: u32,
}

const NO_READ: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct LocState {
    last_write: EventId,
    readers: u32,
    /// Additions since the last write: they conflict with reads and writes, not with each other.
    adders: u32,
}

impl LocState {
    const UNTOUCHED: Self = Self {
        last_write: NO_EVENT,
        readers: NO_READ,
        adders: NO_READ,
    };
}

/// What is known of an event before it is pushed.
pub(super) struct NewEvent {
    pub(super) thread: ThreadId,
    pub(super) state: StateId,
    pub(super) choices: ChoiceId,
    pub(super) footprint: FootprintId,
    pub(super) before: Option<[u64; 2]>,
    pub(super) is_block: bool,
    pub(super) is_pure: bool,
    pub(super) ends_thread: bool,
    pub(super) mark: Mark,
}

#[derive(Debug)]
pub(super) struct Execution {
    pub(super) events: Vec<Event>,
    /// Those of the events, and what is left of clocks of events that are gone.
    clocks: Vec<u32>,
    /// Length of a clock.
    width: usize,
    last_of_thread: Vec<EventId>,
    spawned_by: Vec<EventId>,
    locs: Vec<LocState>,
    touches: Vec<Touch>,
    reads: Vec<ReadNode>,
    races: Vec<Race>,
    /// Those about which something may be to do in this execution, in their order: indices of `races`.
    open_races: Vec<u32>,
    candidates: Vec<EventId>,
    choices: ChoiceTable,
    /// How many events there have been, in all executions.
    serial: u64,
    /// How many events chose.
    chose: u32,
    /// Has anybody ever added to a location, independently of others?
    any_added: bool,
    /// For each state, how many events left it.
    left: Vec<u32>,
    pub(super) footprints: Footprints,
    /// Do threads await what they spin on?
    pub(super) awaits: bool,
    /// May an iteration take back what it changed?
    pub(super) minds_changes: bool,
}

#[derive(Debug)]
struct ChoiceTable {
    lists: Vec<Box<[u32]>>,
    ids: FxHashMap<Box<[u32]>, ChoiceId>,
}

impl Default for ChoiceTable {
    fn default() -> Self {
        let none: Box<[u32]> = Box::default();
        Self {
            lists: vec![none.clone()],
            ids: std::iter::once((none, 0)).collect(),
        }
    }
}

impl Execution {
    pub(super) fn new(reductions: Reductions) -> Self {
        Self {
            events: Vec::new(),
            clocks: Vec::new(),
            width: 0,
            last_of_thread: Vec::new(),
            spawned_by: Vec::new(),
            locs: Vec::new(),
            touches: Vec::new(),
            reads: Vec::new(),
            races: Vec::new(),
            open_races: Vec::new(),
            candidates: Vec::new(),
            choices: ChoiceTable::default(),
            serial: 0,
            chose: 0,
            any_added: false,
            left: Vec::new(),
            footprints: Footprints::new(reductions.ifaa),
            awaits: reductions.purity && reductions.awaits,
            minds_changes: reductions.net_effect,
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    #[inline]
    pub(super) fn event(&self, id: EventId) -> &Event {
        &self.events[id as usize]
    }

    pub(super) fn choices(&self, id: ChoiceId) -> &[u32] {
        &self.choices.lists[id as usize]
    }

    pub(super) fn choice_id(&mut self, choices: &[u32]) -> ChoiceId {
        if let Some(&id) = self.choices.ids.get(choices) {
            return id;
        }
        let id = self.choices.lists.len() as ChoiceId;
        let list: Box<[u32]> = choices.into();
        self.choices.lists.push(list.clone());
        self.choices.ids.insert(list, id);
        id
    }

    /// Does `a` happen before `b` (both in the execution, `a` earlier)?
    #[inline]
    pub(super) fn before(&self, a: EventId, b: EventId) -> bool {
        let Event { thread, index, .. } = self.events[a as usize];
        self.clocks[b as usize * self.width + thread.index()] >= index
    }

    /// For each thread, how many of its events happen before an event.
    #[inline]
    pub(super) fn clock(&self, event: EventId) -> &[u32] {
        &self.clocks[event as usize * self.width..][..self.width]
    }

    /// Length of a clock.
    #[inline]
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Does `a` happen before whatever `thread` does next, its next operation's own conflicts left aside?
    #[inline]
    pub(super) fn before_next_of(&self, a: EventId, thread: ThreadId) -> bool {
        let parent = self.parent_of_next(thread);
        parent != NO_EVENT && (a == parent || self.before(a, parent))
    }

    /// Is the thread blocked behind its last event?
    #[inline]
    pub(super) fn ends_thread(&self, thread: ThreadId) -> bool {
        let last = self.last_of(thread);
        last != NO_EVENT && self.event(last).ends_thread
    }

    /// The last event of a thread.
    #[inline]
    pub(super) fn last_of(&self, thread: ThreadId) -> EventId {
        self.last_of_thread
            .get(thread.index())
            .copied()
            .unwrap_or(NO_EVENT)
    }

    pub(super) fn parent_of_next(&self, thread: ThreadId) -> EventId {
        match self.last_of_thread.get(thread.index()) {
            Some(&event) if event != NO_EVENT => event,
            _ => self
                .spawned_by
                .get(thread.index())
                .copied()
                .unwrap_or(NO_EVENT),
        }
    }

    /// Is the event at a position the one with this number?
    #[inline]
    pub(super) fn is_still(&self, event: EventId, serial: u64) -> bool {
        self.events
            .get(event as usize)
            .is_some_and(|event| event.serial == serial)
    }

    /// The races that are not settled for good, in the order of their second events.
    #[inline]
    pub(super) fn open_race(&self, position: usize) -> Option<&Race> {
        let race = *self.open_races.get(position)?;
        Some(&self.races[race as usize])
    }

    pub(super) fn settle(&mut self, position: usize, settled: Settled) {
        self.races[self.open_races[position] as usize].settled = settled;
    }

    /// Forgets races that are settled for good.
    pub(super) fn close_races(&mut self) {
        let races = &self.races;
        self.open_races
            .retain(|&race| !matches!(races[race as usize].settled, Settled::ForGood));
    }

    /// Did a thread leave this state before?
    #[inline]
    pub(super) fn was_left(&self, state: StateId) -> bool {
        self.left.get(state.index()).is_some_and(|&count| count > 0)
    }

    /// Has any event made a choice?
    pub(super) fn has_choices(&self) -> bool {
        self.chose != 0
    }

    /// Calls `f` for the events after `first` that do not happen after it: notdep(first, E).
    #[inline]
    pub(super) fn for_independent(&self, first: EventId, mut f: impl FnMut(EventId, &Event)) {
        let Event { thread, index, .. } = self.events[first as usize];
        let next = first as usize + 1;
        let mut at = next * self.width + thread.index();
        for (position, event) in self.events[next..].iter().enumerate() {
            if self.clocks[at] < index {
                f((next + position) as EventId, event);
            }
            at += self.width;
        }
    }

    #[inline]
    fn ensure_thread(&mut self, thread: ThreadId) {
        if self.last_of_thread.len() <= thread.index() {
            self.add_thread(thread);
        }
    }

    #[cold]
    fn add_thread(&mut self, thread: ThreadId) {
        let needed = thread.index() + 1;
        if self.last_of_thread.len() < needed {
            self.last_of_thread.resize(needed, NO_EVENT);
            self.spawned_by.resize(needed, NO_EVENT);
        }
        if self.width < needed {
            let width = needed.next_power_of_two().max(4);
            let mut clocks = vec![0; width * self.events.len()];
            for (old, new) in self
                .clocks
                .chunks_exact(self.width.max(1))
                .zip(clocks.chunks_exact_mut(width))
            {
                new[..self.width].copy_from_slice(old);
            }
            self.clocks = clocks;
            self.width = width;
        }
    }

    #[inline]
    fn loc_state(&self, loc: LocId) -> LocState {
        match self.locs.get(loc.index()) {
            Some(&state) => state,
            None => LocState::UNTOUCHED,
        }
    }

    /// Appends an event that the machine has just done.
    pub(super) fn push(&mut self, program: &mut Program, machine: &mut Machine, new: NewEvent) {
        self.ensure_thread(new.thread);
        let op = *program.op(new.state);
        let id = self.events.len() as EventId;
        let parent = self.parent_of_next(new.thread);
        self.start_clock(parent);
        if let Op::Join { thread } = op
            && let Some(&last) = self.last_of_thread.get(thread.index())
        {
            // A thread without events of its own was at least spawned.
            let last = if last == NO_EVENT {
                self.spawned_by[thread.index()]
            } else {
                last
            };
            self.join_clock(last);
        }
        self.find_races(program, machine, &new, op);
        let index = match self.last_of_thread[new.thread.index()] {
            NO_EVENT => 1,
            last => self.events[last as usize].index + 1,
        };
        self.finish_clock(new.thread, index);
        let races = self.races.len() as u32;
        self.serial += 1;
        self.chose += u32::from(new.choices != 0);
        for position in 0..self.candidates.len() {
            let first = self.candidates[position];
            let last = match new.is_block {
                true => Last::Run,
                false => self.last_of_race(program, machine, first, new.thread, op),
            };
            let last = match last {
                Last::Same => Some(new.footprint),
                Last::Mode(mode) => Some(self.footprints.with_first_mode(new.footprint, mode)),
                Last::Run => None,
            };
            self.open_races.push(self.races.len() as u32);
            self.races.push(Race {
                first,
                second: id,
                last,
                settled: Settled::No,
            });
        }
        let touches = self.touches.len() as u32;
        let reads = self.reads.len() as u32;
        for position in 0..self.footprints.accesses(new.footprint).len() {
            self.touch(id, self.footprints.accesses(new.footprint)[position]);
        }
        self.last_of_thread[new.thread.index()] = id;
        if self.left.len() <= new.state.index() {
            self.left.resize(new.state.index() + 1, 0);
        }
        self.left[new.state.index()] += 1;
        self.events.push(Event {
            thread: new.thread,
            index,
            serial: self.serial,
            state: new.state,
            choices: new.choices,
            footprint: new.footprint,
            before: new.before.unwrap_or_default(),
            before_known: new.before.is_some(),
            is_block: new.is_block,
            is_pure: new.is_pure,
            ends_thread: new.ends_thread,
            mark: new.mark,
            parent,
            touches,
            reads,
            races,
        });
        match new.is_block {
            false => self.note_spawn(id, op),
            true => {
                for step in &machine.steps()[new.mark.steps()..] {
                    self.note_spawn(id, *program.op(step.state));
                }
            }
        }
    }

    /// Removes the last event.
    pub(super) fn pop(&mut self, program: &Program) -> Event {
        let event = self.events.pop().expect("an event to take back");
        while self.touches.len() > event.touches as usize {
            let touch = self.touches.pop().expect("the length was checked");
            self.locs[touch.loc.index()] = touch.before;
        }
        self.chose -= u32::from(event.choices != 0);
        self.left[event.state.index()] -= 1;
        self.reads.truncate(event.reads as usize);
        self.races.truncate(event.races as usize);
        while self
            .open_races
            .last()
            .is_some_and(|&race| race >= event.races)
        {
            self.open_races.pop();
        }
        self.last_of_thread[event.thread.index()] = if event.index == 1 {
            NO_EVENT
        } else {
            event.parent
        };
        let id = self.events.len() as EventId;
        if event.is_block {
            for by in &mut self.spawned_by {
                *by = if *by == id { NO_EVENT } else { *by };
            }
        } else if let Op::Spawn { child, .. } = *program.op(event.state) {
            self.spawned_by[child.index()] = NO_EVENT;
        }
        event
    }

    /// What a thread does comes after what started it: an event that may be a whole atomic block.
    #[inline]
    fn note_spawn(&mut self, id: EventId, op: Op) {
        if let Op::Spawn { child, .. } = op {
            self.ensure_thread(child);
            self.spawned_by[child.index()] = id;
        }
    }

    /// Begins the clock of the next event: that of its parent.
    fn start_clock(&mut self, parent: EventId) {
        let next = self.events.len() * self.width;
        if self.clocks.len() < next + self.width {
            self.clocks.resize(next + self.width, 0);
        }
        let (clocks, clock) = self.clocks.split_at_mut(next);
        if parent == NO_EVENT {
            clock[..self.width].fill(0);
        } else {
            let parent = &clocks[parent as usize * self.width..][..self.width];
            for (mine, theirs) in clock.iter_mut().zip(parent) {
                *mine = *theirs;
            }
        }
    }

    /// Joins the clock of an event into that of the next one.
    fn join_clock(&mut self, event: EventId) {
        if event == NO_EVENT {
            return;
        }
        let start = event as usize * self.width;
        let (clocks, next) = self.clocks.split_at_mut(self.events.len() * self.width);
        for (mine, theirs) in next.iter_mut().zip(&clocks[start..start + self.width]) {
            *mine = (*mine).max(*theirs);
        }
    }

    fn finish_clock(&mut self, thread: ThreadId, index: u32) {
        self.clocks[self.events.len() * self.width + thread.index()] = index;
    }

    /// Does an event happen before the next one, as far as its clock knows?
    #[inline]
    fn before_next(&self, event: EventId) -> bool {
        let Event { thread, index, .. } = self.events[event as usize];
        self.clocks[self.events.len() * self.width + thread.index()] >= index
    }

    /// Leaves the races of the new event in `candidates`, and the clocks of all that it conflicts with in its clock.
    fn find_races(&mut self, program: &mut Program, machine: &mut Machine, new: &NewEvent, op: Op) {
        self.candidates.clear();
        for position in 0..self.footprints.accesses(new.footprint).len() {
            let access = self.footprints.accesses(new.footprint)[position];
            self.add_candidates(program, access);
        }
        if self.candidates.is_empty() {
            return;
        }
        let mut races = std::mem::take(&mut self.candidates);
        let waits_at = match op {
            Op::Sync { cell, action } if action.may_wait() => Some(cell),
            _ if new.is_block => None,
            _ => Attempt::of(program, new.state)
                .filter(|attempt| attempt.can_wait(program))
                .map(|attempt| attempt.loc),
        };
        let waits_at = waits_at.filter(|&loc| !self.has_additions(loc));
        // Only a writer of the location that it waits at can be one before which the thread could not go on.
        let writer = waits_at.map_or(NO_EVENT, |loc| self.loc_state(loc).last_write);
        self.adjacent_only(&mut races);
        if let (Some(loc), Some(position)) =
            (waits_at, races.iter().position(|&event| event == writer))
        {
            races.remove(position);
            self.waiting_races(program, machine, (new.thread, new.state), loc, &mut races);
            races.sort_unstable();
            races.dedup();
        } else if let Some(loc) = waits_at
            && waits_unless_dead(program, machine, new.thread, op)
        {
            // It did not wait because the object is dead, so nothing makes it go on before the `free`: there it would have to wait.
            self.waiting_races(program, machine, (new.thread, new.state), loc, &mut races);
            races.sort_unstable();
            races.dedup();
        }
        self.candidates = races;
    }

    /// Reduces conflicting events to those that are in a race with the new one: not known to happen before it, also not
    /// through another of them. Joins the clocks of all into its clock.
    fn adjacent_only(&mut self, events: &mut Vec<EventId>) {
        if let [event] = **events {
            match self.before_next(event) {
                true => events.clear(),
                false => self.join_clock(event),
            }
            return;
        }
        let mut kept = 0;
        for position in 0..events.len() {
            let event = events[position];
            events[kept] = event;
            kept += usize::from(!self.before_next(event));
        }
        events.truncate(kept);
        if events.len() > 1 {
            events.sort_unstable();
            events.dedup();
        }
        // The clocks of later events cover earlier ones that happen before them.
        let mut kept = events.len();
        for position in (0..events.len()).rev() {
            let event = events[position];
            if !self.before_next(event) {
                self.join_clock(event);
                kept -= 1;
                events[kept] = event;
            }
        }
        events.drain(..kept);
    }

    fn add_candidates(&mut self, program: &Program, access: Access) {
        self.add_candidates_at(access.loc, access.mode);
        if program.tables().loc_info(access.loc).mixed {
            // Additions commute only if they add to exactly the same bytes.
            let mode = match access.mode {
                AccessMode::Add => AccessMode::Update,
                mode => mode,
            };
            for &other in program.tables().overlaps(access.loc) {
                self.add_candidates_at(other, mode);
            }
        }
    }

    fn add_candidates_at(&mut self, loc: LocId, mode: AccessMode) {
        let LocState {
            last_write,
            readers,
            adders,
        } = self.loc_state(loc);
        if last_write != NO_EVENT {
            self.candidates.push(last_write);
        }
        if mode.writes() {
            self.add_listed(readers);
        }
        if mode != AccessMode::Add {
            self.add_listed(adders);
        }
    }

    fn add_listed(&mut self, mut node: u32) {
        while node != NO_READ {
            let ReadNode { event, next } = self.reads[node as usize];
            self.candidates.push(event);
            node = next;
        }
    }

    fn touch(&mut self, id: EventId, access: Access) {
        if self.locs.len() <= access.loc.index() {
            self.locs
                .resize(access.loc.index() + 1, LocState::UNTOUCHED);
        }
        let before = self.locs[access.loc.index()];
        self.touches.push(Touch {
            loc: access.loc,
            before,
        });
        let slot = &mut self.locs[access.loc.index()];
        let node = self.reads.len() as u32;
        match access.mode {
            AccessMode::Read => {
                slot.readers = node;
                self.reads.push(ReadNode {
                    event: id,
                    next: before.readers,
                });
            }
            AccessMode::Add => {
                self.any_added = true;
                slot.adders = node;
                self.reads.push(ReadNode {
                    event: id,
                    next: before.adders,
                });
            }
            AccessMode::Write | AccessMode::Update => {
                *slot = LocState {
                    last_write: id,
                    ..LocState::UNTOUCHED
                };
            }
        }
    }
}

/// Would the operation on a synchronisation object, which is dead, have to wait if it were not?
fn waits_unless_dead(program: &Program, machine: &mut Machine, thread: ThreadId, op: Op) -> bool {
    let Op::Sync { cell, action } = op else {
        return false;
    };
    let tables = program.tables();
    let is_dead = life_of(tables, cell).is_some_and(|life| machine.peek(tables, life) != ALIVE);
    is_dead && {
        let word = machine.sync_word(program, cell, action);
        machine.would_wait(word, action, thread)
    }
}
