//! How far a pass has come, and what engines said: answers, and why there was none.

use crate::compare::Answer;
use raddle_search::{EngineKind, MemoryModel};
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

type Asked = (EngineKind, MemoryModel);

/// What engines said, by engine and memory model.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    of: Vec<(Asked, Said)>,
}

#[derive(Debug, Default)]
struct Said {
    verified: u32,
    violation: u32,
    /// Why there was no answer, and how often.
    open: BTreeMap<&'static str, u32>,
    time: Duration,
    longest: Duration,
}

impl Tally {
    fn said(&mut self, asked: Asked) -> &mut Said {
        let at = self.of.iter().position(|(known, _)| *known == asked);
        let at = at.unwrap_or_else(|| {
            self.of.push((asked, Said::default()));
            self.of.len() - 1
        });
        &mut self.of[at].1
    }

    pub(crate) fn count(&mut self, asked: Asked, answer: &Answer, time: Duration) {
        let said = self.said(asked);
        match answer {
            Answer::Verified => said.verified += 1,
            Answer::Violation(_) => said.violation += 1,
            Answer::Open(why) => *said.open.entry(why).or_default() += 1,
        }
        said.time += time;
        said.longest = said.longest.max(time);
    }

    /// The engine was not asked: it had no time for the memory model before.
    pub(crate) fn skip(&mut self, asked: Asked) {
        let open = &mut self.said(asked).open;
        *open.entry("not asked").or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (asked, more) in other.of {
            let said = self.said(asked);
            said.verified += more.verified;
            said.violation += more.violation;
            for (why, count) in more.open {
                *said.open.entry(why).or_default() += count;
            }
            said.time += more.time;
            said.longest = said.longest.max(more.longest);
        }
    }

    /// Answers in all: `verified`, and violations.
    pub(crate) fn answers(&self) -> (u32, u32) {
        let add = |(verified, violation), (_, said): &(Asked, Said)| {
            (verified + said.verified, violation + said.violation)
        };
        self.of.iter().fold((0, 0), add)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((engine, memory), said) in &self.of {
            let (time, longest) = (said.time.as_secs_f64(), said.longest.as_secs_f64());
            let (verified, violation) = (said.verified, said.violation);
            let (engine, memory) = (engine.name(), memory.name());
            write!(
                out,
                "  {engine:5} {memory:3}  {verified:6} verified {violation:6} violations"
            )?;
            write!(out, "  {time:8.1} s, at most {longest:4.1} s; open:")?;
            for (why, count) in &said.open {
                write!(out, " {why} {count},")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

/// Tells now and then how far a pass has come.
pub(crate) struct Progress {
    started: Instant,
    told: Instant,
    /// Which mutants are done, by index.
    done: Vec<bool>,
    count: usize,
    /// All before this are done: a pass that is stopped is taken up here.
    next: usize,
}

/// How often it is told.
const EVERY: Duration = Duration::from_secs(30);

impl Progress {
    pub(crate) fn new(mutants: usize) -> Self {
        let now = Instant::now();
        Self {
            started: now,
            told: now,
            done: vec![false; mutants],
            count: 0,
            next: 0,
        }
    }

    /// One more is done; a line about it if it is time for one.
    pub(crate) fn done(&mut self, at: usize, first: u64, failed: usize) -> Option<String> {
        self.done[at] = true;
        self.count += 1;
        while self.done.get(self.next) == Some(&true) {
            self.next += 1;
        }
        if self.told.elapsed() < EVERY && self.count < self.done.len() {
            return None;
        }
        self.told = Instant::now();
        let (count, all, seconds) = (
            self.count,
            self.done.len(),
            self.started.elapsed().as_secs_f64(),
        );
        let rate = count as f64 / seconds.max(0.001);
        let left = (all - count) as f64 / rate.max(0.001);
        let next = first + self.next as u64;
        Some(format!(
            "{count} of {all} mutants, {failed} failed; {seconds:.0} s, {rate:.2} a second, about {left:.0} s left; all before {next} are done"
        ))
    }
}
