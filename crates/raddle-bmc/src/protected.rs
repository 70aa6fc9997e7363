//! What critical sections find, whatever the order they come in.
//!
//! The variables that a mutex protects, and its sections as steps that change them, are a machine by themselves
//! ([`raddle_order::machine`]). Violations that depend on what a section finds are refuted there if no order of sections leads to
//! them; everything else that the program does only leaves fewer orders.
//!
//! What a thread remembers from one section to the next is a variable of the machine as well. What that is, is not looked up in the
//! program, but found in the formula: the fewest bits from which the rest of the thread's sections can be computed.

use crate::carried::Carrier;
use crate::events::ErrorCondition;
use crate::problem::Problem;
use raddle_order::Limits;
use raddle_order::bits::{Bit, Levels, Meaning};
use raddle_order::lock_order::Section;
use raddle_order::machine::{Machine, Step};
use raddle_order::proof::Origin;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

/// States that are looked at for each conflict that the solver may have.
const STATES_FOR_A_CONFLICT: u64 = 1024;
/// More states than this take too much memory.
const MOST_STATES: usize = 1 << 20;
/// So many bits that a thread remembers are too many.
const MOST_REMEMBERED: usize = 64;

/// A section of a machine.
struct Work {
    thread: usize,
    entered: Bit,
    /// It is entered only by those who have been in the one before it, in the same thread.
    follows: bool,
    /// Cells that it touches, and what it finds and leaves there.
    touched: Vec<usize>,
    found: Vec<Bit>,
    left: Vec<Bit>,
    /// What its reads return.
    reads: Vec<(Bit, Bit)>,
    /// Violations that depend on what it finds.
    bad: Vec<Bit>,
    /// What its thread remembers when it comes, if that is known.
    remembers: Vec<Bit>,
}

impl Problem {
    /// Excludes those of `conditions` that do not hold in any order of the sections of a mutex. `effort` is in conflicts of the
    /// solver.
    pub(crate) fn leave_out_safe(
        &mut self,
        conditions: &mut Vec<Bit>,
        limits: &Limits<'_>,
        effort: u64,
    ) {
        let most = usize::try_from(effort.saturating_mul(STATES_FOR_A_CONFLICT));
        let most = most.map_or(MOST_STATES, |most| most.min(MOST_STATES));
        let carriers = std::mem::take(&mut self.carriers);
        for carrier in &carriers {
            let is_asked = |bad: &ErrorCondition| conditions.contains(&bad.guard);
            if !self.encoding.errors.iter().any(is_asked) {
                break;
            }
            let (works, threads) = self.works(carrier, conditions);
            let asked: Vec<Bit> = works.iter().flat_map(|work| work.bad.clone()).collect();
            if asked.is_empty() {
                continue;
            }
            let machine = self.machine(carrier, &works, &threads);
            if machine.is_some_and(|machine| machine.is_safe(most, || is_over(limits))) {
                self.exclude(&asked, Origin::Trusted);
                conditions.retain(|condition| !asked.contains(condition));
            }
        }
        self.carriers = carriers;
    }

    /// The sections of a mutex, and the threads that they are of.
    fn works(&mut self, carrier: &Carrier, conditions: &[Bit]) -> (Vec<Work>, Vec<usize>) {
        let reads = self.reads_by_bit();
        let sections = carrier.sections.iter();
        let mut works: Vec<Work> = sections
            .map(|&(index, section)| self.work(carrier, index, section, &reads))
            .collect();
        let mut threads: Vec<usize> = works.iter().map(|work| work.thread).collect();
        threads.sort_unstable();
        threads.dedup();
        for &thread in &threads {
            self.look_back(&mut works, thread, conditions);
        }
        (works, threads)
    }

    /// The machine, unless it begins in several states.
    fn machine(&mut self, carrier: &Carrier, works: &[Work], threads: &[usize]) -> Option<Machine> {
        let mut places = Vec::new();
        let mut initial = Vec::new();
        for cell in &carrier.cells {
            places.push(initial.len());
            for &bit in cell.values[0].bits() {
                initial.push(self.encoding.bits.known_value(bit)?);
            }
        }
        let mut memories = Vec::new();
        for &thread in threads {
            let of_thread = works.iter().filter(|work| work.thread == thread);
            let room = of_thread.map(|work| work.remembers.len()).max();
            memories.push(initial.len()..initial.len() + room.unwrap_or(0));
            initial.resize(initial.len() + room.unwrap_or(0), false);
        }
        let steps = (0..works.len()).map(|at| {
            let thread = threads.iter().position(|&of| of == works[at].thread)?;
            Some(self.step(
                carrier,
                works,
                at,
                &places,
                (thread, memories[thread].clone()),
            ))
        });
        let steps = steps.collect::<Option<Vec<Step>>>()?;
        Some(Machine::new(initial, steps))
    }

    /// By bit: how many reads return it.
    fn reads_by_bit(&self) -> FxHashMap<Bit, usize> {
        let mut reads = FxHashMap::default();
        let accesses = self.encoding.steps.iter().flat_map(|step| &step.accesses);
        for access in accesses.filter(|access| !access.is_write) {
            for &bit in access.value.bits() {
                *reads.entry(bit).or_insert(0) += 1;
            }
        }
        reads
    }

    /// What a section does to the cells.
    fn work(
        &mut self,
        carrier: &Carrier,
        index: usize,
        section: Section,
        all_reads: &FxHashMap<Bit, usize>,
    ) -> Work {
        let (thread, lock) = {
            let section = &self.encoding.sections[index];
            (section.thread, section.lock)
        };
        let mut work = Work {
            thread,
            entered: self.encoding.steps[lock].guard,
            follows: false,
            touched: Vec::new(),
            found: Vec::new(),
            left: Vec::new(),
            reads: Vec::new(),
            bad: Vec::new(),
            remembers: Vec::new(),
        };
        let bits = &mut self.encoding.bits;
        // By bit: what the section's reads that return it find there, and how many they are.
        let mut found: BTreeMap<Bit, (Bit, usize)> = BTreeMap::new();
        for (position, cell) in carrier.cells.iter().enumerate() {
            let mut passages = cell.passages.iter();
            if let Some(passage) = passages.find(|passage| passage.section == section) {
                work.touched.push(position);
                work.found.extend_from_slice(passage.found.bits());
                work.left.extend_from_slice(passage.left.bits());
            }
            let mine = cell.reads.iter();
            for read in mine.filter(|read| read.section == Some(section)) {
                for (&value, &there) in read.value.bits().iter().zip(read.there.bits()) {
                    let here = bits.bit_and(read.guard, there);
                    let (all, count) = found.entry(value).or_insert((Bit::FALSE, 0));
                    *all = bits.bit_or(*all, here);
                    *count += 1;
                }
            }
        }
        for (value, (all, count)) in found {
            // A load that may also be of other cells is taken as it is.
            if all_reads.get(&value) == Some(&count) {
                work.reads.push((value, all));
            }
        }
        work
    }

    /// Finds what the sections of a thread remember of earlier ones, and which violations depend on what they find.
    fn look_back(&mut self, works: &mut [Work], thread: usize, conditions: &[Bit]) {
        let mine: Vec<usize> = (0..works.len())
            .filter(|&at| works[at].thread == thread)
            .collect();
        let bits = &self.encoding.bits;
        let mut given = FxHashMap::default();
        for (level, &at) in mine.iter().enumerate() {
            let reads = works[at].reads.iter().map(|(value, _)| value);
            for &bit in works[at].found.iter().chain(reads) {
                if bit.as_constant().is_none() {
                    given.insert(bit, level as u32 + 1);
                }
            }
        }
        let levels = bits.levels(&given);
        for bad in &self.encoding.errors {
            let level = levels.of(bad.guard) as usize;
            if bad.thread == thread && level > 0 && conditions.contains(&bad.guard) {
                let work = &mut works[mine[level - 1]];
                if bits.plainly_implies(bad.guard, work.entered) {
                    work.bad.push(bad.guard);
                }
            }
        }
        let mut needed: Vec<Bit> = Vec::new();
        for level in (0..mine.len()).rev() {
            let at = mine[level];
            let before = level
                .checked_sub(1)
                .map(|before| works[mine[before]].entered);
            let entered = works[at].entered;
            works[at].follows = before.is_some_and(|before| bits.plainly_implies(entered, before));
            let work = &works[at];
            let roots = work.left.iter().chain(&work.bad).chain(&needed);
            let reads = work.reads.iter().map(|(_, definition)| definition);
            let roots: Vec<Bit> = roots.chain(reads).copied().collect();
            let level = level as u32 + 1;
            needed = match work.follows {
                true => self.remembered(&roots, &levels, level, entered),
                false => Vec::new(),
            };
            works[at].remembers = needed.clone();
        }
    }

    fn remembered(&self, roots: &[Bit], levels: &Levels, level: u32, entered: Bit) -> Vec<Bit> {
        let bits = &self.encoding.bits;
        let cut = bits.narrowest(roots, levels, level, entered, MOST_REMEMBERED);
        cut.unwrap_or_default()
    }

    /// A section as a step. `places`: by cell, its first bit; `memory`: the bits that the thread remembers things in.
    fn step(
        &mut self,
        carrier: &Carrier,
        works: &[Work],
        at: usize,
        places: &[usize],
        (thread, memory): (usize, Range<usize>),
    ) -> Step {
        let work = &works[at];
        let mut others = works[at + 1..].iter();
        let next = others.find(|next| next.thread == work.thread);
        let keeps: &[Bit] = next.map_or(&[], |next| &next.remembers);
        let padded = |bits: &[Bit]| {
            let padding = std::iter::repeat_n(Bit::FALSE, memory.len() - bits.len());
            bits.iter().copied().chain(padding).collect::<Vec<Bit>>()
        };
        let mut meaning = Meaning::default();
        for bit in work.found.iter().copied().chain(padded(&work.remembers)) {
            meaning.input(bit);
        }
        for &(value, definition) in &work.reads {
            meaning.define(value, definition);
        }
        let mut results = work.left.clone();
        results.extend(padded(keeps));
        results.extend_from_slice(&work.bad);
        let cells = work.touched.iter().flat_map(|&cell| {
            let width = carrier.cells[cell].values[0].width();
            places[cell]..places[cell] + width
        });
        Step {
            thread,
            follows: work.follows,
            touched: cells.chain(memory.clone()).collect(),
            function: self.encoding.bits.function(meaning, work.entered, &results),
        }
    }
}

fn is_over(limits: &Limits<'_>) -> bool {
    limits.is_interrupted()
        || limits
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
}
