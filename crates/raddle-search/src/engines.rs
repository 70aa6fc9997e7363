//! The engines that explore, behind one door.

use crate::parallel::{Division, shared};
use crate::rvf::{self, RvfHeuristics, RvfOptions};
use crate::states::{self, Cycles};
use crate::{dpor, graph, icb, mcr, parallel, rf};
use raddle_judge::interleavings::{self, Sequence};
use raddle_judge::verdict::{EngineKind, MemoryModel, Work};
use raddle_judge::{Frame, Reductions, Watch};
use raddle_program::Program;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What single engines are told, besides what all are.
#[derive(Default)]
pub struct EngineOptions {
    /// Worker threads of engine `mcr`; 0 is as good as 1.
    pub jobs: usize,
    /// Engines with workers: explore in pieces, by several workers or at several times. Not with a limit on executions, which means the first ones of
    /// the sequential search.
    pub division: Option<Division>,
    /// Engine `states`: what going through states may cost ([`crate::states`]).
    pub most_effort: Option<u64>,
    /// Engine `rvf`: heuristics that change no answer.
    pub rvf: RvfHeuristics,
}

/// What an engine works with.
pub(crate) struct Setup {
    pub(crate) memory: MemoryModel,
    pub(crate) reductions: Reductions,
    /// Are data races looked for?
    pub(crate) races: bool,
    pub(crate) watch: Arc<Watch>,
    pub(crate) options: EngineOptions,
}

/// Explores all executions that its classes tell apart, and tells the frame of them. It stops early only when the frame says so.
pub(crate) type Explore = fn(&mut Setup, &mut Program, &mut Frame) -> ControlFlow<()>;

/// Every engine that explores.
const EXPLORING: &[(EngineKind, Explore)] = &[
    (EngineKind::Naive, |setup, program, frame| {
        interleavings::explore(program, setup.memory, Sequence::Ascending, frame)
    }),
    (EngineKind::Dpor, |setup, program, frame| {
        let division = setup.options.division.as_mut();
        shared::explore::<dpor::Search>(program, &setup.reductions, frame, division).0
    }),
    (EngineKind::Rf, |setup, program, frame| {
        let plan = rf::Plan::new(setup.reductions);
        let division = setup.options.division.as_mut();
        let (flow, search) = shared::explore::<rf::Search>(program, &plan, frame, division);
        // What several did depends on who was first.
        if let Some(search) = search {
            frame.set_work(Work::Consistency(search.phases()));
        }
        flow
    }),
    (EngineKind::Rvf, |setup, program, frame| {
        let options = RvfOptions {
            reductions: setup.reductions,
            heuristics: setup.options.rvf,
            races: setup.races,
        };
        let plan = rvf::Plan::new(options);
        let division = setup.options.division.as_mut();
        let (flow, search) = shared::explore::<rvf::Search>(program, &plan, frame, division);
        // What several did depends on who was first.
        if let Some(search) = search {
            frame.set_work(Work::Verify(search.decisions()));
        }
        flow
    }),
    (EngineKind::Mcr, |setup, program, frame| {
        let setup = mcr::Setup {
            reductions: setup.reductions,
            races: setup.races,
            jobs: setup.options.jobs,
            watch: Arc::clone(&setup.watch),
        };
        let mut search = mcr::Search::new(program, setup);
        let flow = search.run(program, frame);
        frame.set_work(Work::Causality(search.statistics()));
        flow
    }),
    (EngineKind::Icb, |_, program, frame| {
        icb::explore(program, frame)
    }),
    (EngineKind::Bpor, |_, program, frame| {
        icb::bounded::explore(program, frame)
    }),
    (EngineKind::States, |setup, program, frame| {
        let most = setup.options.most_effort;
        let explored = states::explore(program, setup.memory, most, frame);
        frame.set_work(Work::States(explored.states));
        if explored.exits {
            frame.has_exits();
        }
        if explored.cycles == Cycles::Some {
            frame.has_cycles();
        }
        match explored.has_more {
            true => frame.has_done_enough(),
            false => explored.flow,
        }
    }),
    (
        EngineKind::Graph,
        |setup, program, frame| match &mut setup.options.division {
            Some(division) => parallel::explore(program, frame, division),
            None => graph::explore(program, setup.memory, setup.reductions, frame),
        },
    ),
];

/// How the engine explores, if it does.
pub(crate) fn exploring(kind: EngineKind) -> Option<Explore> {
    let mut all = EXPLORING.iter();
    all.find(|(engine, _)| *engine == kind)
        .map(|&(_, explore)| explore)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an engine says of itself is so.
    #[test]
    fn those_who_explore_are_here() {
        for &engine in EngineKind::ALL {
            assert_eq!(exploring(engine).is_some(), engine.explores(), "{engine:?}");
        }
    }
}
