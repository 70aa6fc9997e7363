//! A search that explores a piece: how it gets there, what it gives away, and what it tells the others.

use super::tree::{Branch, NamedStep, Stage, TopId, Tree, Way};
use crate::dpor::execution::{EventId, NO_EVENT};
use crate::dpor::insertion::Place;
use crate::dpor::races::Goal;
use crate::dpor::wakeup::{NodeId, Step};
use crate::dpor::{Held, Search, Sleeper, SleeperId};
use crate::listener::Listener;
use crate::parallel::room::{Failure, Room};
use raddle_memory::{Machine, Readiness};
use raddle_program::{Op, Program};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A sequence to explore from a prefix that others know as well, and that nothing covers which this search knows of.
#[derive(Debug)]
pub(in crate::dpor) struct Found {
    first: EventId,
    sequence: Vec<EventId>,
    goal: Goal,
}

/// What a search that explores a piece knows of the others.
pub(in crate::dpor) struct Company {
    room: Arc<Room<Tree>>,
    /// The prefixes that lead to the piece, and the piece.
    nodes: Vec<TopId>,
    /// What was known of the tree when it was last looked at.
    version: u64,
    found: Vec<Found>,
}

/// Why a piece cannot be explored.
#[derive(Clone, Copy, Debug)]
pub(in crate::dpor) enum NoPiece {
    /// The tree that everybody has is not the one that is met.
    Diverged,
    /// Somebody is asleep where it begins: an atomic block, with some of the choices inside (deviation 1).
    Sleepers,
}

impl Company {
    pub(in crate::dpor) fn new(room: Arc<Room<Tree>>) -> Self {
        Self {
            room,
            nodes: Vec::new(),
            version: 0,
            found: Vec::new(),
        }
    }

    /// The piece was explored.
    pub(in crate::dpor) fn done(&self) {
        if let Some(&piece) = self.nodes.last() {
            self.room.change(|tree| tree.done(piece));
        }
    }
}

impl Search {
    /// Others may go on with what is left of the piece.
    pub(in crate::dpor) fn give_back(&self, program: &Program) {
        let left = self.left(program);
        if let Some(company) = &self.company
            && let Some(&piece) = company.nodes.last()
        {
            company.room.change(|tree| tree.put_back(piece, left));
        }
    }

    // ---- on the way to a piece

    /// Goes to a piece.
    pub(in crate::dpor) fn go_to(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
        way: Way,
        version: u64,
    ) -> ControlFlow<(), Result<(), NoPiece>> {
        self.leave(program, listener);
        self.scratch.undo_to(self.scratch_start);
        self.cut = way.nodes.len() - 1;
        if let Some(company) = &mut self.company {
            company.nodes = way.nodes;
            company.version = version;
        }
        for stage in &way.stages {
            if self.set_up(program, stage).is_none() {
                return ControlFlow::Continue(Err(NoPiece::Diverged));
            }
            if stage.next.is_some() {
                self.descend(program, listener)?;
                let done = self.execution.events[self.execution.len() - 1];
                let choices = self.execution.choices(done.choices);
                self.scratch.step(program, done.thread, choices);
            }
        }
        ControlFlow::Continue(match self.has_inherited_sleepers(self.cut) {
            true => Err(NoPiece::Sleepers),
            false => Ok(()),
        })
    }

    /// Takes everything back.
    fn leave(&mut self, program: &Program, listener: &mut impl Listener) {
        while self.execution.len() > 0 {
            self.levels.pop();
            self.execution.pop(program);
        }
        self.sleepers.clear();
        self.sleeping.clear();
        self.held.clear();
        let root = self.levels[0].root;
        while self.trees.first_child(root).is_some() {
            self.trees.remove_first_child(root);
        }
        self.machine.undo_to(self.scratch_start);
        self.shared = 0;
        listener.undone(0);
    }

    /// Makes the last level what the stage says. The scratch machine is there.
    fn set_up(&mut self, program: &mut Program, stage: &Stage) -> Option<()> {
        for named in &stage.done {
            let mark = self.scratch.mark();
            let step = self.try_step(program, named)?;
            self.scratch.undo_to(mark);
            self.sleeping.push(self.sleepers.len() as SleeperId);
            self.held.push(Held::Unknown);
            self.sleepers.push(Sleeper {
                step,
                woken_by: NO_EVENT,
            });
        }
        let root = self.levels.last()?.root;
        if let Some(next) = &stage.next {
            let thread = program.tables().thread_named(&next.thread)?;
            let choices = self.execution.choice_id(&next.choices);
            let step = Step {
                choices,
                ..Step::unknown(thread)
            };
            if self.machine.readiness(program, thread) != Readiness::Ready {
                return None;
            }
            let rightmost = self.trees.last_child(root);
            self.trees.add_child(root, rightmost, step);
        }
        for branch in &stage.pending {
            self.add_branch(program, root, branch)?;
        }
        Some(())
    }

    /// Adds to a wakeup tree what the scratch machine can do, and takes it back.
    fn add_branch(&mut self, program: &mut Program, parent: NodeId, branch: &Branch) -> Option<()> {
        let mark = self.scratch.mark();
        let step = self.try_step(program, &branch.step)?;
        let rightmost = self.trees.last_child(parent);
        let node = self.trees.add_child(parent, rightmost, step);
        for child in &branch.children {
            self.add_branch(program, node, child)?;
        }
        self.scratch.undo_to(mark);
        Some(())
    }

    /// Does a step on the scratch machine.
    fn try_step(&mut self, program: &mut Program, named: &NamedStep) -> Option<Step> {
        let machine: &mut Machine = &mut self.scratch;
        let thread = program.tables().thread_named(&named.thread)?;
        if machine.readiness(program, thread) != Readiness::Ready {
            return None;
        }
        let state = machine.thread_state(thread)?;
        let is_block = machine.is_in_block(thread) || matches!(program.op(state), Op::AtomicBegin);
        let mark = machine.mark();
        machine.step(program, thread, &named.choices);
        let taken: Vec<u32> = machine.chosen().iter().map(|chosen| chosen.taken).collect();
        let footprint = self.execution.footprints.of_event(program, machine, mark);
        Some(Step {
            thread,
            choices: self.execution.choice_id(&taken),
            is_block,
            footprint,
        })
    }

    // ---- what is left of a piece

    /// Is anybody asleep at the beginning of a prefix?
    fn has_inherited_sleepers(&self, level: usize) -> bool {
        let own = self.levels[level].first_sleeper;
        self.sleep_set(level).iter().any(|&sleeper| sleeper < own)
    }

    /// What is left of the piece that is being explored, between two executions.
    pub(in crate::dpor) fn left(&self, program: &Program) -> Vec<Stage> {
        let levels = self.cut..self.levels.len();
        levels.map(|level| self.stage(program, level)).collect()
    }

    fn stage(&self, program: &Program, level: usize) -> Stage {
        let next = self.levels.get(level + 1);
        let end = next.map_or(self.sleepers.len(), |next| next.first_sleeper as usize);
        let done = &self.sleepers[self.levels[level].first_sleeper as usize..end];
        let mut children = self.children(self.levels[level].root);
        Stage {
            done: done.iter().map(|it| self.name(program, &it.step)).collect(),
            next: next.and_then(|_| children.next().map(|node| self.name_of(program, node))),
            pending: children.map(|node| self.branch(program, node)).collect(),
        }
    }

    fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.trees.first_child(node), |&child| {
            self.trees.next_sibling(child)
        })
    }

    fn branch(&self, program: &Program, node: NodeId) -> Branch {
        let children = self.children(node);
        Branch {
            step: self.name_of(program, node),
            children: children.map(|child| self.branch(program, child)).collect(),
        }
    }

    fn name_of(&self, program: &Program, node: NodeId) -> NamedStep {
        self.name(program, &self.trees.step(node))
    }

    fn name(&self, program: &Program, step: &Step) -> NamedStep {
        NamedStep {
            thread: program.tables().thread_info(step.thread).name.clone(),
            choices: self.execution.choices(step.choices).into(),
        }
    }

    /// Where to cut the piece, to give away what is pending at its highest prefix that has anything: what is behind that on the way, up to where
    /// nobody is asleep, is what the search goes on with. Goes to the next leaf first.
    pub(in crate::dpor) fn find_cut(
        &mut self,
        program: &mut Program,
        listener: &mut impl Listener,
    ) -> ControlFlow<(), Option<usize>> {
        let mut root = self.levels[self.levels.len() - 1].root;
        while let Some(child) = self.trees.first_child(root) {
            self.descend(program, listener)?;
            root = child;
        }
        let last = self.levels.len() - 1;
        let has_more = |&level: &usize| self.children(self.levels[level].root).nth(1).is_some();
        let highest = (self.cut..last).find(has_more);
        let cut = highest.and_then(|highest| {
            (highest + 1..=last).find(|&level| !self.has_inherited_sleepers(level))
        });
        ControlFlow::Continue(cut)
    }

    /// Makes what is above `cut` known to all.
    pub(in crate::dpor) fn cut_at(&mut self, program: &Program, cut: usize) {
        let stages = (self.cut..cut).map(|level| self.stage(program, level));
        let stages = stages.collect();
        if let Some(company) = &mut self.company
            && let Some(&piece) = company.nodes.last()
        {
            let room = &company.room;
            let nodes = room.change(|tree| tree.split(piece, stages));
            company.nodes.extend(nodes);
            self.cut = cut;
        }
    }

    // ---- what others have to know

    /// Nothing that is known here covers the sequence that the buffer had, followed by `goal`: that is for all to know.
    pub(in crate::dpor) fn postpone(&mut self, first: EventId, goal: Goal) {
        let sequence = self.buffers.whole.clone();
        if let Some(company) = &mut self.company {
            company.found.push(Found {
                first,
                sequence,
                goal,
            });
        }
    }

    /// Adds what was found to the tree that all know, unless something covers it that others have found. The execution is that in which it was found.
    pub(in crate::dpor) fn tell_found(&mut self, program: &mut Program) {
        let Some(company) = &mut self.company else {
            return;
        };
        if company.found.is_empty() {
            return;
        }
        let found = std::mem::take(&mut company.found);
        let room = Arc::clone(&company.room);
        let told = room.change(|tree| {
            self.catch_up(program, tree)?;
            for found in &found {
                self.tell(program, tree, found)?;
            }
            if let Some(company) = &mut self.company {
                company.version = tree.version();
            }
            Some(())
        });
        if told.is_none() {
            room.fail(Failure::Diverged);
        }
    }

    fn tell(&mut self, program: &Program, tree: &mut Tree, found: &Found) -> Option<()> {
        let Found {
            first,
            ref sequence,
            goal,
        } = *found;
        self.rebuild_sequence(sequence);
        let Place::Open(parent, rightmost, walk) = self.place(program.tables(), first, &goal)
        else {
            return Some(());
        };
        self.shorten(program.tables(), first, &goal, walk.last.is_some());
        let leaf = self.append(parent, rightmost, walk.last);
        let root = self.levels[first as usize].root;
        let name = |search: &Self, node| search.name_of(program, node);
        let known = self.trees.path(root, parent).map(|node| name(self, node));
        let mut known: Vec<NamedStep> = known.collect();
        known.reverse();
        let new = self.trees.path(parent, leaf).map(|node| name(self, node));
        let mut new: Vec<NamedStep> = new.collect();
        new.reverse();
        let from = *self.company.as_ref()?.nodes.get(first as usize)?;
        tree.append(from, &known, new)
    }

    /// Takes notice of what others have added to the prefixes that lead to this piece.
    fn catch_up(&mut self, program: &mut Program, tree: &Tree) -> Option<()> {
        let company = self.company.as_ref()?;
        if company.version == tree.version() {
            return Some(());
        }
        let nodes = company.nodes.clone();
        let mut missing: Vec<(usize, NodeId, Branch)> = Vec::new();
        for (level, way) in nodes.windows(2).enumerate() {
            let others = tree.children_behind(way[0], Some(way[1]));
            let known: Vec<NodeId> = self.children(self.levels[level].root).skip(1).collect();
            self.compare(
                tree,
                (level, self.levels[level].root),
                &known,
                others,
                &mut missing,
            );
        }
        for (level, parent, branch) in missing {
            self.scratch.undo_to(self.scratch_start);
            for id in 0..level as EventId {
                let event = self.execution.event(id);
                let choices = self.execution.choices(event.choices);
                self.scratch.step(program, event.thread, choices);
            }
            let root = self.levels[level].root;
            let mut way: Vec<NodeId> = self.trees.path(root, parent).collect();
            while let Some(node) = way.pop() {
                let step = self.trees.step(node);
                let choices = self.execution.choices(step.choices);
                self.scratch.step(program, step.thread, choices);
            }
            self.add_branch(program, parent, &branch)?;
        }
        Some(())
    }

    /// What is missing among `known`, the children of `parent` in the wakeup tree of a level.
    fn compare(
        &self,
        tree: &Tree,
        (level, parent): (usize, NodeId),
        known: &[NodeId],
        others: &[TopId],
        missing: &mut Vec<(usize, NodeId, Branch)>,
    ) {
        for (position, &other) in others.iter().enumerate() {
            match known.get(position) {
                None => missing.push((level, parent, tree.branch(other))),
                Some(_) if tree.covers(other) => {}
                Some(&node) => {
                    let below: Vec<NodeId> = self.children(node).collect();
                    let others = tree.children_behind(other, None);
                    self.compare(tree, (level, node), &below, others, missing);
                }
            }
        }
    }
}
