//! For whoever asked: hands out what is left of a search, and hears what was done.

use super::args::ClusterArgs;
use super::ledger::{Event, Ledger};
use super::recipe::Recipe;
use super::record::{self, Begin, END, End, FORMAT, GIVEN, RADDLE};
use super::{connect, problem};
use crate::checkpoint;
use crate::cli::CheckArgs;
use crate::error::Error;
use crate::load::Loaded;
use crate::options::Options;
use crate::supervise::Job;
use raddle_cluster::{Cluster, ClusterError, Message, Reader, RunInfo};
use raddle_search::Watch;
use raddle_search::driver::EngineOptions;
use raddle_search::parallel::{Crew, Lost, News, Saved, divided};
use raddle_search::watch::Cause;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is handed out first, so that several can begin.
const FIRST_PIECES: usize = 16;
/// How often it is asked who is there.
const BETWEEN_COUNTS: Duration = Duration::from_secs(1);

/// Why it cannot go on.
type Problem = Arc<Mutex<Option<Error>>>;

struct Remote {
    cluster: Cluster,
    args: ClusterArgs,
    run: String,
    /// What all rounds have in common.
    begin: Begin,
    ir: Arc<str>,
    watch: Arc<Watch>,
    problem: Problem,
    reader: Option<Reader>,
    ledger: Ledger,
    round: u32,
    /// The round is there: somebody began it before.
    is_attached: bool,
    info: RunInfo,
    counted: Option<Instant>,
}

/// The command line of a run that was begun before.
pub(crate) fn attached_args(args: &ClusterArgs) -> Result<CheckArgs, Error> {
    let (Some(servers), Some(run)) = (&args.cluster, &args.attach) else {
        return Err(Error::Internal("there is no run to attach to".to_owned()));
    };
    let cluster = connect(&args.access, servers)?;
    let begin = first_round(&cluster, run)?;
    let mut check =
        checkpoint::check_args(&begin.args).map_err(|what| problem(what.to_string(), None))?;
    check.cluster = args.clone();
    Ok(check)
}

fn first_round(cluster: &Cluster, run: &str) -> Result<Begin, Error> {
    if !cluster.has_run(run)? {
        let run = run.to_owned();
        return Err(ClusterError::NoRun { run }.into());
    }
    let payload = cluster.message(run, "0.begin")?;
    let payload = payload.ok_or_else(|| problem(format!("run `{run}` has not begun"), None))?;
    record::begin(&payload).map_err(|what| problem(format!("run `{run}`: {what}"), None))
}

/// Checks with those of the cluster, if that is asked for.
pub(crate) fn explore_with<T>(
    options: &Options,
    loaded: &Loaded,
    job: &Job,
    mut engine_options: EngineOptions,
    check: impl FnOnce(EngineOptions) -> Result<T, Error>,
) -> Result<T, Error> {
    let Some(args) = &options.cluster else {
        return check(engine_options);
    };
    let servers = args.cluster.as_deref().unwrap_or_default();
    let cluster = connect(&args.access, servers)?;
    let problem = Problem::default();
    let mut remote = Remote {
        cluster: cluster.clone(),
        args: (**args).clone(),
        run: args.attach.clone().unwrap_or_else(new_run),
        begin: Begin {
            raddle_run: FORMAT,
            raddle: RADDLE.to_owned(),
            args: match &args.attach {
                Some(_) => Vec::new(),
                None => checkpoint::command_line()?,
            },
            file: options.project.file().display().to_string(),
            program: String::new(),
            known: String::new(),
            recipe: Recipe::new(
                &loaded.interpretation,
                options.memory,
                options.checks,
                options.reductions,
                options.keep_going,
            ),
            lease: args.lease,
            slice: args.slice,
            made: Vec::new(),
        },
        ir: Arc::clone(&loaded.ir),
        watch: Arc::clone(&job.watch),
        problem: Arc::clone(&problem),
        reader: None,
        ledger: Ledger::default(),
        round: 0,
        is_attached: false,
        info: RunInfo::default(),
        counted: None,
    };
    if let Some(division) = &mut engine_options.division {
        if args.attach.is_some() {
            division.saved = remote.attach()?;
        }
        let run = remote.run.clone();
        division.crew = Some(Box::new(remote));
        let checked = check(engine_options);
        if let Some(error) = problem
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            return Err(error);
        }
        tell_what_goes_on(&cluster, &run, servers, job);
        return checked;
    }
    check(engine_options)
}

/// The run goes on without whoever asked; or is over, since there is an answer.
fn tell_what_goes_on(cluster: &Cluster, run: &str, servers: &str, job: &Job) {
    if !cluster.has_run(run).unwrap_or(false) {
        return;
    }
    if job.watch.is_raised() {
        crate::tell(format_args!(
            "note: run {run} goes on: `raddle check --cluster {servers} --attach {run}` shows its answer, `raddle cluster cancel {run} --cluster {servers}` ends it"
        ));
        return;
    }
    // Workers would find out by themselves that nothing is left.
    let _ = end(cluster, run, End::Answered);
}

/// Says that nobody need look at a run any more.
pub(super) fn end(cluster: &Cluster, run: &str, end: End) -> Result<(), ClusterError> {
    let payload = record::render(cluster, &end, &Saved::default())?;
    let name = END.to_owned();
    cluster.commit(run, &[Message { name, payload }]).map(drop)
}

/// A name that no other run has; later ones come later.
fn new_run() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.unwrap_or_default();
    let seed = format!("{now:?} {}", std::process::id());
    format!("{:x}-{}", now.as_secs(), &checkpoint::digest(&seed)[..4])
}

impl Remote {
    fn lose<T>(&self, error: Error) -> Result<T, Lost> {
        let mut problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        problem.get_or_insert(error);
        self.watch.raise(Cause::Interrupted);
        Err(Lost)
    }

    /// Reads what is there, and takes up the last round that is searched in the same way.
    fn attach(&mut self) -> Result<Option<Saved>, Error> {
        let first = first_round(&self.cluster, &self.run)?;
        self.begin.args = first.args;
        let program = self.cluster.put_object(&self.ir)?;
        if program != first.program {
            return Err(problem(
                format!(
                    "run `{}` is of another program: the source has changed, or the compiler, or what it includes",
                    self.run
                ),
                None,
            ));
        }
        let mut round = 0;
        let mut last = None;
        while let Some(payload) = self.cluster.message(&self.run, &format!("{round}.begin"))? {
            let begin = record::begin(&payload)
                .map_err(|what| problem(format!("run `{}`: {what}", self.run), None))?;
            if begin.recipe == self.begin.recipe {
                last = Some((round, begin));
            }
            round += 1;
        }
        let Some((round, begin)) = last else {
            // It was searched in another way, and had its answer.
            self.run = new_run();
            return Ok(None);
        };
        let known = self.cluster.object(&begin.known)?;
        let saved = known.parse();
        let saved = saved.map_err(|_| problem(format!("run `{}` is damaged", self.run), None))?;
        (self.round, self.is_attached) = (round, true);
        Ok(Some(saved))
    }

    fn hand_out(&mut self, saved: &Saved) -> Result<(), ClusterError> {
        if self.reader.is_none() && !self.cluster.has_run(&self.run)? {
            let description = format!("Raddle {RADDLE}: {}", self.begin.file);
            self.cluster
                .create_run(&self.run, &description, GIVEN, self.args.lease())?;
            let (run, servers) = (&self.run, self.args.cluster.as_deref().unwrap_or_default());
            crate::tell(format_args!(
                "note: this is run {run}; `raddle worker --cluster {servers}` explores it, on any machine"
            ));
        }
        let known = Saved {
            pending: Vec::new(),
            ..saved.clone()
        };
        let round = self.round;
        let mut pending = saved.pending.clone();
        pending.sort_by_key(raddle_search::parallel::Piece::start);
        let intervals = divided(pending, FIRST_PIECES);
        let name = |index| record::piece_name(&format!("round {round}"), index);
        let begin = Begin {
            program: self.cluster.put_object(&self.ir)?,
            known: self.cluster.put_object(&known.render())?,
            made: (0..intervals.len()).map(name).collect(),
            ..self.begin.clone()
        };
        let mut messages = vec![Message {
            name: format!("{round}.begin"),
            payload: record::render(&self.cluster, &begin, &Saved::default())?,
        }];
        for (interval, name) in intervals.into_iter().zip(&begin.made) {
            messages.push(piece(&self.cluster, round, name, interval)?);
        }
        self.cluster.commit(&self.run, &messages).map(drop)
    }
}

/// The message of a piece.
pub(super) fn piece(
    cluster: &Cluster,
    round: u32,
    name: &str,
    interval: Vec<raddle_search::parallel::Piece>,
) -> Result<Message, ClusterError> {
    let saved = Saved {
        pending: interval,
        ..Saved::default()
    };
    Ok(Message {
        name: format!("{round}.piece.{name}"),
        payload: record::render(cluster, &record::piece_line(), &saved)?,
    })
}

impl Crew for Remote {
    fn begin(&mut self, saved: &Saved) -> Result<(), Lost> {
        if std::mem::take(&mut self.is_attached) {
            self.reader = Some(self.cluster.reader(&self.run));
            return Ok(());
        }
        if self.reader.is_some() {
            self.round += 1;
        }
        if let Err(error) = self.hand_out(saved) {
            return self.lose(error.into());
        }
        if self.reader.is_none() {
            self.reader = Some(self.cluster.reader(&self.run));
        }
        Ok(())
    }

    fn news(&mut self, moment: Duration) -> Result<News, Lost> {
        let Some(reader) = &mut self.reader else {
            return Err(Lost);
        };
        let stored = match reader.read(moment) {
            Ok(stored) => stored,
            Err(error) => return self.lose(error.into()),
        };
        let mut news = News::default();
        for stored in &stored {
            match self.ledger.read(&self.cluster, stored) {
                Event::Done(round, done) if round == self.round => news.done.push(done),
                Event::Nothing | Event::Done(..) => {}
                Event::Foreign(what) => {
                    crate::tell(format_args!("warning: run {}: {what}", self.run))
                }
                Event::Broken(what) => {
                    let error = problem(
                        format!("run `{}` cannot be finished: {what}", self.run),
                        Some("begin anew; `raddle cluster clean RUN` removes this one"),
                    );
                    return self.lose(error);
                }
            }
        }
        if self.ledger.end == Some(End::Cancelled) {
            return self.lose(problem(format!("run `{}` was cancelled", self.run), None));
        }
        if self.counted.is_none_or(|it| it.elapsed() > BETWEEN_COUNTS) {
            self.counted = Some(Instant::now());
            self.info = self.cluster.info(&self.run).unwrap_or(self.info);
        }
        news.workers = (self.info.taken + self.info.waiting) as usize;
        if let Some(round) = self.ledger.rounds.get(&self.round) {
            news.is_over = round.is_over();
            news.pieces = round.left();
            news.explored = round.explored();
        }
        Ok(news)
    }
}
