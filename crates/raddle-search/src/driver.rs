//! Checks a program with an engine: begins anew where what an engine has found out says so, and has the frame make the verdict.

pub use crate::engines::EngineOptions;
use crate::engines::{Setup, exploring};
use crate::parallel::Division;
pub use raddle_judge::checks::{ViolationKey, check_of};
use raddle_judge::listener::Listener;
pub use raddle_judge::options::{
    InternalError, Limits, MilestoneSink, Opinion, Progress, ProgressSink, Reductions,
    SearchOptions, ViolationSink,
};
use raddle_judge::{EngineKind, Frame, Outcome, Phase};
use raddle_memory::Machine;
use raddle_program::{Program, ThreadId};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Checks a program.
pub fn check(
    program: &mut Program,
    kind: EngineKind,
    options: SearchOptions,
) -> Result<Outcome, InternalError> {
    check_with(program, kind, EngineOptions::default(), options)
}

/// Checks a program, with something to say to single engines.
pub fn check_with(
    program: &mut Program,
    mut kind: EngineKind,
    mut engine_options: EngineOptions,
    options: SearchOptions,
) -> Result<Outcome, InternalError> {
    let (reductions, memory) = (options.reductions, options.memory);
    let watch = options.watch();
    if !kind.supports(memory) {
        return Err(InternalError::ModelNotSupported {
            engine: kind,
            memory,
        });
    }
    watch.set_engine(kind);
    watch.enter(Phase::Exploring);
    let leaves_out = reductions.purity && kind.knows_purity();
    let minds_races = options.checks.races;
    engine_options.division = division(engine_options.division, kind, &options);
    let division = &mut engine_options.division;
    let saved = division.as_ref().and_then(|it| it.saved.as_ref());
    if let Some(saved) = saved {
        let is_of_engine = saved.shared.is_some() == (kind != EngineKind::Graph);
        if !is_of_engine || program.retrace(&saved.journal).is_err() {
            return Err(InternalError::ForeignCheckpoint);
        }
    }
    let resumes = saved.is_some();
    let shared = saved.and_then(|saved| saved.shared.as_ref());
    let left_to = shared.map(|shared| (shared.engine, shared.first_look.clone()));
    let mut setup = Setup {
        memory,
        reductions,
        races: minds_races,
        watch: Arc::clone(&watch),
        options: engine_options,
    };
    let mut frame = Frame::of_search(options, watch);
    // `main` may stop before it does anything.
    let start = Machine::with_model(program, memory);
    let mut flow = frame.arrived(program, &start, ThreadId::MAIN);
    if leaves_out && !resumes {
        program.learn_uses(minds_races);
    }
    let mut engine = kind;
    if let Some((kept, first_look)) = left_to {
        engine = kept;
        match &first_look {
            Some(first) => frame.resume_look(first),
            None => kind = kept,
        }
    }
    while flow.is_continue() {
        let explore = exploring(engine).ok_or(InternalError::DoesNotExplore { engine })?;
        flow = explore(&mut setup, program, &mut frame);
        // Operations may have been taken for independent that are not.
        if (program.must_read_kinds() || frame.take_kinds_met()) && frame.begins_anew() {
            program.read_kinds();
            flow = ControlFlow::Continue(());
            continue;
        }
        // Additions may have been left in any order that are looked at meanwhile.
        if program.learn_additions() && frame.begins_anew() {
            flow = ControlFlow::Continue(());
            continue;
        }
        if flow.is_break() {
            break;
        }
        // Whether two accesses race may be another matter in an execution of the same class.
        if engine.leaves_writes_unordered() && frame.minds_order_of_writes() {
            (kind, engine) = (EngineKind::Dpor, EngineKind::Dpor);
            frame.restarted();
            continue;
        }
        // Iterations may have been left out that cannot be, by what is known now.
        if leaves_out && program.learn_uses(minds_races) {
            frame.restarted();
            continue;
        }
        // So may be whether a loop goes on for good.
        if !engine.leaves_writes_unordered() || !frame.may_have_missed_deadlock() {
            break;
        }
        engine = EngineKind::Dpor;
        frame.look_again();
    }
    debug_assert!(
        flow.is_continue() || frame.has_reason(),
        "an engine stops only when told to"
    );
    frame.conclude(program, kind)
}

/// How the search is cut into pieces, if it is.
fn division(
    division: Option<Division>,
    kind: EngineKind,
    options: &SearchOptions,
) -> Option<Division> {
    // Whoever leads `graph` asks nobody.
    let asks = options.milestones.is_some() && kind == EngineKind::Graph;
    let is_sequential = options.limits.executions.is_some() || asks;
    division.filter(|it| kind.descriptor().has_workers && it.is_wanted() && !is_sequential)
}
