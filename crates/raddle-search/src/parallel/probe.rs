//! How many executions are there? An estimate, from random probes of the tree (Knuth, *Estimating the efficiency of backtrack programs*, 1975).
//!
//! A probe goes from the root to a leaf, and takes any of the ways at each node with the same probability. If there were *n₁*, *n₂*… ways, the leaf stands for *n₁·n₂·…* of them, and
//! the mean over all probes is the number of leaves: without bias, whatever the tree looks like, and with an error that the probes themselves tell. A graph that turns out to be
//! inconsistent, or that another way leads to, is no leaf that counts.
//!
//! Probes have a program of their own: the search does not know of them.

use super::{ProgramSource, Setup};
use crate::frame::Frame;
use crate::graph;
use raddle_judge::link::Link;
use raddle_judge::piece::share;
use raddle_program::Program;
use std::sync::Arc;

/// How many executions there are, as far as probes tell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    pub probes: u64,
    pub executions: f64,
    /// The standard error of that.
    pub error: f64,
}

impl Estimate {
    /// In 19 of 20 cases it is in this range, if there were enough probes.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        let spread = 1.96 * self.error;
        (
            (self.executions - spread).max(1.0),
            self.executions + spread,
        )
    }

    /// The error, as a fraction.
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        self.error / self.executions.max(1.0)
    }
}

/// Sends probes into the tree of a search.
pub struct Prober {
    program: Program,
    setup: Setup,
    frame: Frame,
    probes: u64,
    /// Mean and sum of squared differences from it (Welford 1962).
    mean: f64,
    squares: f64,
}

/// One frame is for so many probes.
const PROBES_OF_FRAME: u64 = 1024;

/// The tree depends on what was explored before: probes tell nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTree;

impl Prober {
    /// None if the program cannot be made.
    #[must_use]
    pub fn new(source: &ProgramSource, setup: Setup) -> Option<Self> {
        let mut program = source()?;
        if setup.reductions.purity {
            program.learn_uses(setup.checks.races);
        }
        // Nothing that is found ends a probe.
        let setup = Setup {
            keep_going: true,
            ..setup
        };
        Some(Self {
            frame: Frame::of_worker(&setup, Arc::<Link>::default()),
            program,
            setup,
            probes: 0,
            mean: 0.0,
            squares: 0.0,
        })
    }

    pub fn probe(&mut self) -> Result<(), NoTree> {
        // What a frame remembers of all that it was told need not grow.
        if self.probes.is_multiple_of(PROBES_OF_FRAME) {
            self.frame = Frame::of_worker(&self.setup, Arc::default());
        }
        // An odd factor: seeds differ in all of their bits.
        let seed = (self.probes + 1).wrapping_mul(0xd134_2543_de82_ef95);
        let Setup {
            memory, reductions, ..
        } = self.setup;
        let counted = |frame: &Frame| frame.counted().complete + frame.counted().blocked;
        let before = counted(&self.frame);
        let (program, frame) = (&mut self.program, &mut self.frame);
        let (path, is_tree) = graph::Search::probe(program, memory, reductions, frame, seed);
        if !is_tree || self.setup.watch.is_raised() {
            return Err(NoTree);
        }
        let weight = match counted(&self.frame) > before {
            true => 1.0 / share(&path),
            false => 0.0,
        };
        self.probes += 1;
        let difference = weight - self.mean;
        self.mean += difference / self.probes as f64;
        self.squares += difference * (weight - self.mean);
        Ok(())
    }

    /// None before there are some.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        (self.probes >= 32 && self.mean > 0.0).then(|| {
            let count = self.probes as f64;
            Estimate {
                probes: self.probes,
                executions: self.mean,
                error: (self.squares / (count - 1.0) / count).sqrt(),
            }
        })
    }
}
