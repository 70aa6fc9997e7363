//! `raddle check`: from a source file to an answer.

use crate::Status;
use crate::auto;
use crate::checkpoint;
use crate::cli::{CheckArgs, OnMainReturn, Panics, name_of};
use crate::cluster;
use crate::compile;
use crate::error::Error;
use crate::load::{Compiled, Loaded, Source};
use crate::options::{self, AnswerFormat, Options};
use crate::progress::{self, Clock, Estimator, StatusLine};
use crate::project;
use crate::proof;
use crate::supervise::{Ended, Job};
use crate::turns;
use crate::unwritten;
use raddle_bmc::{BmcOptions, Conflicts, Workers};
use raddle_program::interp::SpuriousFailures;
use raddle_program::{Program, Unsupported};
use raddle_report::source::Sources;
use raddle_report::text::Look;
use raddle_report::trace_file::{RunOptions, SavedProgram, TraceFile};
use raddle_report::witness::{self, Task};
use raddle_report::{Report, html, json, sarif, text, words};
use raddle_search::driver::{self, EngineOptions, Limits, SearchOptions, ViolationSink};
use raddle_search::parallel::Setup;
use raddle_search::{
    Check, EngineKind, LeftOut, MemoryModel, Outcome, Phase, Reason, Trace, UnsupportedAt, Verdict,
    Violation, ViolationKind,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Checks a program and prints the answer on standard output.
pub fn check(mut args: CheckArgs, interrupt: &AtomicBool) -> Result<Status, Error> {
    if args.cluster.attach.is_some() {
        args = cluster::attached_args(&args.cluster)?;
    }
    check_as(Options::from_args(args)?, interrupt)
}

/// Does what was asked for, and prints the answer on standard output.
pub(crate) fn check_as(options: Options, interrupt: &AtomicBool) -> Result<Status, Error> {
    let files = [
        &options.json,
        &options.report,
        &options.trace,
        &options.witness,
        &options.proof,
    ];
    for file in files.into_iter().flatten() {
        can_be_written(file)?;
    }
    let job = Job::new(options.time_limit, options.memory_limit_bytes);
    let job = job.with_time_to_save(options.checkpoint.is_some());
    let work = {
        let options = options.clone();
        move |job: &Job| reported(&options, job)
    };
    let answer = match job.run(interrupt, work) {
        Ended::Returned(Ok(answer)) => answer,
        // A compiler that was ended is no error of the program.
        Ended::Returned(Err(Error::Compile(_))) if job.watch.is_raised() => {
            unfinished(&options, &job)?
        }
        Ended::Returned(Err(error)) => return Err(error),
        Ended::Abandoned => match job.said() {
            Some((text, status)) => {
                abandoned_midway(&job);
                Told {
                    text,
                    status,
                    written: Ok(()),
                }
            }
            None => unfinished(&options, &job)?,
        },
        Ended::Panicked => return Ok(Status::Failure),
    };
    crate::print(&answer.text)?;
    answer.written?;
    Ok(answer.status)
}

/// All that there is to tell.
struct Told {
    text: String,
    status: Status,
    /// Whether what was asked for besides is there.
    written: Result<(), Error>,
}

fn reported(options: &Options, job: &Job) -> Result<Told, Error> {
    let Checked { loaded, outcome } = checked(options, job)?;
    job.watch.enter(Phase::Reporting);
    let file = options.project.file().display().to_string();
    let report = Report {
        outcome: &outcome,
        program: &loaded.program,
        file: &file,
    };
    let origin = Origin {
        fingerprint: &loaded.fingerprint,
        on_main_return: loaded.on_main_return,
    };
    let told = told(options, &report, origin);
    tell_where_looked(options, &outcome);
    // The process ends now, and gives it all back at once.
    std::mem::forget(loaded);
    Ok(told)
}

/// Where definitions were looked for, if one is missing.
fn tell_where_looked(options: &Options, outcome: &Outcome) {
    let is_missing = |it: &UnsupportedAt| matches!(it.what, Unsupported::UnknownFunction { .. });
    let Some(linked) = options.project.linked() else {
        return;
    };
    let is_project = linked.units.len() > 1 || options.project.build.is_some();
    if is_project
        && matches!(&outcome.verdict, Verdict::Unsupported(all) if all.iter().any(is_missing))
    {
        let looked_at = project::looked_at(&linked, options.project.build.as_deref());
        crate::tell(format_args!("note: {looked_at}"));
    }
}

/// What saved executions tell of the program besides.
#[derive(Clone, Copy)]
struct Origin<'a> {
    fingerprint: &'a str,
    on_main_return: OnMainReturn,
}

fn told(options: &Options, report: &Report<'_>, origin: Origin<'_>) -> Told {
    let sources = Sources::new();
    // Files first: an answer on the screen says that all is done. But it is too dear to be lost if they cannot be written.
    let written = write_files(options, report, &sources, origin);
    Told {
        text: answer(options, report, &sources),
        status: status(&report.outcome.verdict),
        written,
    }
}

/// Says at once what was found, in few words: there may be no time for more.
fn short_answer(options: &Options, job: &Job) -> ViolationSink {
    let (options, job) = (options.clone(), job.clone());
    Box::new(move |program, violation| {
        if unwritten::is_unasked(&options, violation) {
            return;
        }
        let short = Violation {
            trace: Trace::default(),
            ..violation.clone()
        };
        let verdict = Verdict::Violation(vec![short]);
        let outcome = job.watch.outcome(options.engine, options.memory, verdict);
        let report = Report {
            outcome: &outcome,
            program,
            file: &options.project.file().display().to_string(),
        };
        let options = Options {
            quiet: true,
            ..options.clone()
        };
        let text = answer(&options, &report, &Sources::new());
        job.say(text, status(&outcome.verdict));
    })
}

/// Says why an answer is short.
fn abandoned_midway(job: &Job) {
    if let Some(reason) = job.watch.reason() {
        let reason = words::reason(&reason);
        crate::tell(format_args!(
            "note: {reason}: this is all there was time to say"
        ));
    }
}

/// What can be told about a check that has not come back.
fn unfinished(options: &Options, job: &Job) -> Result<Told, Error> {
    if options.progress {
        progress::erase();
    }
    let outcome = unfinished_outcome(options, job)?;
    // Nothing of the program is part of such an answer.
    let nothing = Program::nothing();
    let report = Report {
        outcome: &outcome,
        program: &nothing,
        file: &options.project.file().display().to_string(),
    };
    let origin = Origin {
        fingerprint: "",
        on_main_return: OnMainReturn::Wait,
    };
    Ok(told(options, &report, origin))
}

/// What is known about a check that has not come back.
pub(crate) fn unfinished_outcome(options: &Options, job: &Job) -> Result<Outcome, Error> {
    let outcome = job.watch.unfinished(options.engine, options.memory);
    outcome
        .ok_or_else(|| Error::Internal("internal error: a check was left for no reason".to_owned()))
}

/// A program, and what can be said about it.
pub(crate) struct Checked {
    pub(crate) loaded: Loaded,
    pub(crate) outcome: Outcome,
}

pub(crate) fn checked(options: &Options, job: &Job) -> Result<Checked, Error> {
    let began = Instant::now();
    let mut checked = match unwritten::matters(options) {
        true => unwritten::checked(options, job)?,
        false => by_engine(options, job)?,
    };
    if let (Verdict::Inconclusive(_), Some(file)) = (&checked.outcome.verdict, &options.checkpoint)
        && job.watch.is_raised()
    {
        checkpoint::tell_what_is_kept(file);
    }
    if !options.spurious_wakeups {
        let left_out = &mut checked.outcome.coverage.left_out;
        left_out.push(LeftOut::SpuriousWakeups);
    }
    if !options.spurious_failures {
        let left_out = &mut checked.outcome.coverage.left_out;
        left_out.push(LeftOut::SpuriousFailures);
    }
    if options.volatile_is_atomic {
        let left_out = &mut checked.outcome.coverage.left_out;
        left_out.push(LeftOut::RacesOfVolatile);
    }
    if !options.checks.races {
        let outcome = &mut checked.outcome;
        let is_sc = outcome.memory == MemoryModel::Sc;
        let left_out = match outcome.memory {
            MemoryModel::C11 => Some(LeftOut::RacesAsRelaxed),
            _ => (is_sc && options.follows_language).then_some(LeftOut::RacesAsSc),
        };
        outcome.coverage.left_out.extend(left_out);
    }
    // Whatever is no part of the search went before it.
    let statistics = &mut checked.outcome.statistics;
    statistics.preparation = began.elapsed().saturating_sub(statistics.elapsed);
    if let (Verdict::Verified(_), Some(property)) = (&checked.outcome.verdict, &options.property)
        && let Some(what) = property.unchecked
    {
        checked.outcome.verdict = Verdict::Inconclusive(Reason::NotLookedFor { what });
    }
    Ok(checked)
}

pub(crate) fn by_engine(options: &Options, job: &Job) -> Result<Checked, Error> {
    match options.engine {
        Some(engine) if engine.explores() => explore(options, engine, job),
        Some(_) if turns::are_taken(options) => turns::check(options, job),
        Some(_) => solve(&source(options, job).compile()?, options, job, None),
        None => auto::check(options, job),
    }
}

/// What `bmc` may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) conflicts: Conflicts,
    pub(crate) may_be_large: bool,
}

/// Engine `bmc` looks at the module itself; the program is for replaying.
pub(crate) fn solve(
    compiled: &Compiled,
    options: &Options,
    job: &Job,
    effort: Option<Effort>,
) -> Result<Checked, Error> {
    let options = &match options.every_byte {
        true => unwritten::for_formulas(options),
        false => options.clone(),
    };
    let source = Source {
        purity: false,
        idle_failures: true,
        wide_choices: true,
        ..source(options, job)
    };
    let (mut loaded, view) = compiled.load_with_view(&source)?;
    // What was found is replayed in full: bounds are the formula's.
    if options.unroll.is_some() {
        let unbounded = Source {
            unroll: None,
            ..source
        };
        loaded = compiled.load(&unbounded)?;
    }
    let bmc = BmcOptions {
        memory: options.memory,
        unroll: options.unroll,
        threads: options.threads,
        exit_with_main: loaded.on_main_return == OnMainReturn::Exit,
        spurious_wakeups: options.spurious_wakeups,
        spurious_failures: spurious_failures(options.spurious_failures, options.memory),
        any_unwritten: options.any_unwritten,
        silent_abort: options.silent_abort,
        effort: effort.map(|it| it.conflicts),
        may_be_large: effort.is_some_and(|it| it.may_be_large),
        patience: raddle_bmc::PATIENCE,
    };
    let search = search_options(options, job);
    let _alive = options
        .progress
        .then(|| Clock::start("solving", options::error_columns()));
    let proof = options
        .proof
        .as_deref()
        .map(proof::Begun::new)
        .transpose()?;
    let file = proof.as_ref().map(|proof| proof.file.clone());
    let workers = Some(Workers {
        again: compiled.view_again(&source),
        jobs: options.jobs,
    });
    let outcome = raddle_bmc::check_with(view, &mut loaded.program, bmc, search, workers, file)
        .map_err(|error| Error::Internal(error.to_string()))?;
    if let Some(proof) = proof {
        proof.finish(&outcome.verdict)?;
    }
    Ok(Checked { loaded, outcome })
}

pub(crate) fn source<'a>(options: &'a Options, job: &'a Job) -> Source<'a> {
    Source {
        job,
        project: &options.project,
        unroll: options.unroll,
        threads: options.threads,
        purity: leaves_out_pure_iterations(options),
        on_main_return: options.on_main_return,
        panic: options.panic,
        spurious_wakeups: options.spurious_wakeups,
        spurious_failures: spurious_failures(options.spurious_failures, options.memory),
        idle_failures: explores_idle_failures(options, options.engine),
        every_look: !options.reductions.purity,
        volatile_is_atomic: options.volatile_is_atomic,
        malloc_may_fail: options.malloc_may_fail,
        reuse_addresses: options.reuse_addresses,
        checks: options.checks,
        silent_abort: options.silent_abort,
        wide_choices: false,
        every_byte: options.every_byte,
        keeps_unwritten: options.any_unwritten,
    }
}

/// What may fail for no reason under a memory model.
pub(crate) fn spurious_failures(explored: bool, memory: MemoryModel) -> SpuriousFailures {
    match memory {
        _ if !explored => SpuriousFailures::None,
        MemoryModel::Sc | MemoryModel::C11 => SpuriousFailures::All,
        MemoryModel::Tso | MemoryModel::Pso => SpuriousFailures::Locks,
    }
}

/// Engines that do not know what a loop that only waits is are who the others are compared with: they have all of them.
fn explores_idle_failures(options: &Options, engine: Option<EngineKind>) -> bool {
    !(options.reductions.purity && engine.is_none_or(EngineKind::knows_purity))
}

fn leaves_out_pure_iterations(options: &Options) -> bool {
    options.reductions.purity && options.engine.is_none_or(EngineKind::knows_purity)
}

fn explore(options: &Options, engine: EngineKind, job: &Job) -> Result<Checked, Error> {
    let mut loaded = source(options, job).load()?;
    let engine_options = engine_options(options, &loaded)?;
    let search = estimating(search_options(options, job), engine, &loaded);
    let mut program = std::mem::replace(&mut loaded.program, Program::nothing());
    let check = |engine_options| {
        let checked = driver::check_with(&mut program, engine, engine_options, search);
        checked.map_err(|error| checkpoint::failed(options, &error))
    };
    let outcome = cluster::explore_with(options, &loaded, job, engine_options, check)?;
    loaded.program = program;
    Ok(Checked { loaded, outcome })
}

/// What single engines are told.
pub(crate) fn engine_options(options: &Options, loaded: &Loaded) -> Result<EngineOptions, Error> {
    Ok(EngineOptions {
        jobs: options.jobs,
        division: Some(checkpoint::division(options, loaded)?),
        ..EngineOptions::default()
    })
}

pub(crate) fn search_options(options: &Options, job: &Job) -> SearchOptions {
    let mut status_line = StatusLine::new(options::error_columns());
    SearchOptions {
        memory: options.memory,
        checks: options.checks,
        reductions: options.reductions,
        limits: Limits {
            executions: options.max_executions,
            ..Limits::default()
        },
        keep_going: options.keep_going,
        watch: Some(Arc::clone(&job.watch)),
        reproduced: Some(short_answer(options, job)),
        progress: options
            .progress
            .then(|| Box::new(move |progress: &_| status_line.show(progress)) as _),
        ..SearchOptions::default()
    }
}

/// Has the status line say how many executions there are, too, where that can be estimated.
pub(crate) fn estimating(
    mut search: SearchOptions,
    engine: EngineKind,
    loaded: &Loaded,
) -> SearchOptions {
    if search.progress.is_some() && engine == EngineKind::Graph {
        let setup = Setup {
            memory: search.memory,
            checks: search.checks,
            reductions: search.reductions,
            keep_going: true,
            leaves_values_to_formulas: search.leaves_values_to_formulas,
            reach: None,
            is_kept: false,
            watch: search.watch(),
        };
        let estimator = Estimator::start(&loaded.again, setup);
        let mut status_line = StatusLine::new(options::error_columns()).with_estimator(estimator);
        search.progress = Some(Box::new(move |progress: &_| status_line.show(progress)));
    }
    search
}

fn answer(options: &Options, report: &Report<'_>, sources: &Sources) -> String {
    match options.format {
        AnswerFormat::Text => text::render(
            report,
            sources,
            Look {
                color: options.color,
                columns: options.columns,
                quiet: options.quiet,
                full: options.full,
                output: options.output,
            },
        ),
        AnswerFormat::Json => json::render(report, sources),
        AnswerFormat::Sarif => sarif::render(report, sources),
    }
}

// ---- files

/// What was asked for besides the answer.
fn write_files(
    options: &Options,
    report: &Report<'_>,
    sources: &Sources,
    origin: Origin<'_>,
) -> Result<(), Error> {
    if let Some(file) = &options.json {
        write(file, &json::render(report, sources))?;
    }
    if let Some(file) = &options.report {
        write(file, &html::render(report, sources))?;
    }
    if let Some(file) = &options.proof
        && !matches!(report.outcome.verdict, Verdict::Verified(_))
    {
        proof::is_not_written(file);
    }
    let Verdict::Violation(violations) = &report.outcome.verdict else {
        for file in options.trace.iter().chain(&options.witness) {
            crate::tell(format_args!(
                "note: {} is not written: there is no violation to show in it",
                file.display()
            ));
        }
        return Ok(());
    };
    let violation = &violations[0];
    if let Some(file) = &options.trace {
        let trace = TraceFile::new(
            report,
            violation,
            run_options(options, report.outcome.engine, origin.on_main_return),
            saved_program(options)?,
            origin.fingerprint.to_owned(),
        );
        write(file, &trace.render())?;
    }
    if let Some(file) = &options.witness {
        let program = options.project.file();
        let contents = std::fs::read(program).map_err(|error| Error::Read {
            file: program.to_owned(),
            error,
        })?;
        let task = Task {
            contents: &contents,
            specification: specification(options, violation),
            language: compile::language(program),
        };
        write(file, &witness::render(report, sources, violation, &task))?;
    }
    Ok(())
}

/// The property that a violation breaks, in the words of the competition.
fn specification<'a>(options: &'a Options, violation: &Violation) -> &'a str {
    if let Some(property) = &options.property {
        return &property.specification;
    }
    match &violation.kind {
        ViolationKind::Race(_) => "G ! data-race",
        ViolationKind::Fault(fault) => match driver::check_of(fault) {
            Check::Overflow => "G ! overflow",
            Check::Memory => "G valid-free\nG valid-deref",
            _ => "G ! call(reach_error())",
        },
        ViolationKind::Deadlock { .. } | ViolationKind::Livelock { .. } => "G ! deadlock",
    }
}

fn run_options(options: &Options, engine: EngineKind, on_main_return: OnMainReturn) -> RunOptions {
    RunOptions {
        check: options.check_names.clone(),
        unroll: options.unroll,
        threads: options.threads,
        purity: options.reductions.purity && engine.knows_purity(),
        on_main_return: name_of(on_main_return),
        spurious_wakeups: options.spurious_wakeups,
        spurious_failures: options.spurious_failures,
        idle_failures: explores_idle_failures(options, Some(engine)),
        every_look: !options.reductions.purity,
        volatile_is_atomic: options.volatile_is_atomic,
        malloc_may_fail: options.malloc_may_fail,
        reuse_addresses: options.reuse_addresses,
        any_panic: options.panic == Panics::Any,
        silent_abort: options.silent_abort,
        // The program knows.
        reads_kinds: false,
        first_bytes: Vec::new(),
    }
}

/// What the program is, for a saved execution.
fn saved_program(options: &Options) -> Result<SavedProgram, Error> {
    let text = |arg: &std::ffi::OsString| {
        arg.to_str()
            .map(str::to_owned)
            .ok_or_else(|| Error::ArgumentNotText { arg: arg.clone() })
    };
    let project = &options.project;
    let clang_args: Result<Vec<String>, Error> = options.clang_args.iter().map(text).collect();
    Ok(SavedProgram {
        clang_args: clang_args?,
        more_files: (project.units.iter().skip(1))
            .map(|unit| unit.file.display().to_string())
            .collect(),
        build: (project.build.as_ref()).map(|build| build.display().to_string()),
        entry: project.entry.clone(),
        args: project.args.clone(),
        env: project.env.clone(),
    })
}

/// Whether a file can be written is found out before anything is done for it. It is left as it was.
fn can_be_written(file: &Path) -> Result<(), Error> {
    let found = std::fs::metadata(file);
    let is_new = found.is_err();
    if found.is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        // Opening a pipe waits for somebody to read it.
        return Ok(());
    }
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    options.open(file).map_err(|error| Error::Write {
        file: file.into(),
        error,
    })?;
    if is_new {
        // Whoever cannot remove it finds an empty file.
        let _ = std::fs::remove_file(file);
    }
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(file, text).map_err(|error| Error::Write {
        file: file.into(),
        error,
    })
}

pub(crate) fn status(verdict: &Verdict) -> Status {
    match verdict {
        Verdict::Verified(_) => Status::Verified,
        Verdict::Violation(_) => Status::Violation,
        Verdict::Unsupported(_) => Status::Failure,
        Verdict::Inconclusive(_) => Status::Inconclusive,
    }
}
