//! `raddle worker`: explores pieces of whatever runs there are.
//!
//! Each of its threads takes a piece, explores it, and writes what came of it, with what is left, in one atomic batch on condition that nobody has done so before. The main thread looks after them: it
//! says to the server that they are alive, tells one of them to stop and divide what it has when others wait for something to do, and all of them when it is
//! time to leave.

use super::args::WorkerArgs;
use super::record::{self, Begin, DoneLine, FORMAT, Found, Name, Unreadable};
use super::{connect, crew};
use crate::Status;
use crate::checkpoint::digest;
use crate::error::Error;
use crate::options::processors;
use crate::supervise::Job;
use raddle_cluster::{Cluster, ClusterError, Committed, Delivery, Message};
use raddle_search::Watch;
use raddle_search::parallel::{Ending, Explored, Explorer, Link, Place, Saved, divided, start};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What somebody says who waits for a piece.
const PULL: Duration = Duration::from_secs(1);
/// The main thread looks around this often.
const TICK: Duration = Duration::from_millis(100);
const BETWEEN_LISTS: Duration = Duration::from_millis(500);
/// Nobody is asked to divide what it has just begun.
const SHORTEST: Duration = Duration::from_millis(300);
/// So many pieces are made of one, if so many wait.
const MOST_AT_ONCE: usize = 32;
/// Nothing is left if nothing has been for this long.
const IDLE: Duration = Duration::from_secs(2);
/// Whoever cannot reach the server leaves what it has to others.
const TIME_TO_LEAVE: Duration = Duration::from_secs(10);
/// Threads of programs call each other however deep.
const STACK_BYTES: usize = 256 << 20;

/// A piece that somebody explores.
struct Held {
    delivery: Delivery,
    link: Arc<Link>,
    run: String,
    round: u32,
    start: Place,
    begin: Arc<Begin>,
    since: Instant,
    renewed: Mutex<Instant>,
    /// So many are to be made of what is left.
    wanted: AtomicUsize,
    /// Nobody wants it any more.
    is_dropped: AtomicBool,
}

struct Shared {
    cluster: Cluster,
    watch: Arc<Watch>,
    /// By thread.
    held: Vec<Mutex<Option<Arc<Held>>>>,
    runs: Mutex<Vec<String>>,
    /// Runs that this version cannot help with.
    refused: Mutex<BTreeSet<String>>,
    /// Nothing behind these places counts.
    bounds: Mutex<BTreeMap<(String, u32), Place>>,
    stop: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn work(args: WorkerArgs, interrupt: &AtomicBool) -> Result<Status, Error> {
    let cluster = connect(&args.access, &args.cluster)?;
    let jobs = args.jobs.map_or_else(processors, |jobs| jobs as usize);
    let shared = Arc::new(Shared {
        watch: Job::new(None, None).watch,
        held: (0..jobs).map(|_| Mutex::default()).collect(),
        runs: Mutex::new(open_runs(&cluster).unwrap_or_default()),
        refused: Mutex::default(),
        bounds: Mutex::default(),
        stop: AtomicBool::new(false),
        cluster,
    });
    let mut threads = Vec::new();
    for index in 0..jobs {
        let shared = Arc::clone(&shared);
        let builder = thread::Builder::new().stack_size(STACK_BYTES);
        let started = builder.spawn(move || Thread::new(&shared, index).run());
        threads.push(started.map_err(|error| Error::Internal(error.to_string()))?);
    }
    shared.look_after(args.exit_when_idle, interrupt);
    let told = Instant::now();
    while !threads.iter().all(thread::JoinHandle::is_finished) && told.elapsed() < TIME_TO_LEAVE {
        shared.call_all();
        thread::sleep(Duration::from_millis(20));
    }
    match shared.watch.reason() {
        Some(reason) => {
            let reason = raddle_report::words::reason(&reason);
            crate::tell(format_args!("error: this worker has left: {reason}"));
            Ok(Status::Failure)
        }
        None => Ok(Status::Verified),
    }
}

/// Runs that have not ended.
fn open_runs(cluster: &Cluster) -> Option<Vec<String>> {
    let mut runs = cluster.runs().ok()?;
    runs.retain(|run| cluster.peek(run, record::END).is_none());
    Some(runs)
}

impl Shared {
    fn look_after(&self, exit_when_idle: bool, interrupt: &AtomicBool) {
        let mut listed = Instant::now();
        let mut busy = Instant::now();
        while !self.stop.load(Ordering::Relaxed) {
            thread::sleep(TICK);
            if interrupt.load(Ordering::Relaxed) || self.watch.is_raised() {
                break;
            }
            let held = self.held();
            if listed.elapsed() > BETWEEN_LISTS {
                listed = Instant::now();
                if let Some(runs) = open_runs(&self.cluster) {
                    *lock(&self.runs) = runs;
                    self.learn_bounds(&held);
                    if !held.is_empty() || self.is_anything_left() {
                        busy = Instant::now();
                    }
                } else {
                    busy = Instant::now();
                }
                self.divide(&held);
            }
            for held in &held {
                self.look_at(held);
            }
            if exit_when_idle && busy.elapsed() > IDLE {
                break;
            }
        }
        self.stop.store(true, Ordering::Relaxed);
    }

    fn held(&self) -> Vec<Arc<Held>> {
        self.held.iter().filter_map(|it| lock(it).clone()).collect()
    }

    fn call_all(&self) {
        for held in self.held() {
            held.link.set_call(true);
        }
    }

    /// The runs that this version can help with.
    fn runs(&self) -> Vec<String> {
        let refused = lock(&self.refused);
        let runs = lock(&self.runs);
        runs.iter()
            .filter(|it| !refused.contains(*it))
            .cloned()
            .collect()
    }

    fn is_anything_left(&self) -> bool {
        let mut infos = self.runs().into_iter().map(|run| self.cluster.info(&run));
        infos.any(|info| info.is_none_or(|info| info.pending + info.taken > 0))
    }

    fn is_behind_bound(&self, run: &str, round: u32, start: &Place) -> bool {
        let bounds = lock(&self.bounds);
        let bound = bounds.get(&(run.to_owned(), round));
        bound.is_some_and(|bound| start > bound)
    }

    fn learn_bounds(&self, held: &[Arc<Held>]) {
        let rounds: BTreeSet<(&str, u32)> =
            held.iter().map(|it| (it.run.as_str(), it.round)).collect();
        for (run, round) in rounds {
            let payload = self.cluster.peek(run, &format!("{round}.found.*"));
            // Whoever has missed one only does what nobody needs.
            if let Some(Ok(found)) = payload.map(|it| record::line::<Found>(&it)) {
                let place = match found.ending == Ending::Indivisible.name() {
                    true => Place::new(),
                    false => found.place,
                };
                let mut bounds = lock(&self.bounds);
                let bound = bounds.entry((run.to_owned(), round));
                let bound = bound.or_insert_with(|| place.clone());
                if place < *bound {
                    *bound = place;
                }
            }
        }
    }

    /// Says that it is alive, and ends what nobody wants or what takes long.
    fn look_at(&self, held: &Held) {
        let mut renewed = lock(&held.renewed);
        if renewed.elapsed().as_secs_f64() > held.begin.lease / 3.0 {
            *renewed = Instant::now();
            self.cluster.renew(&held.delivery);
        }
        let is_open = lock(&self.runs).contains(&held.run);
        if !is_open || self.is_behind_bound(&held.run, held.round, &held.start) {
            held.is_dropped.store(true, Ordering::Relaxed);
            held.link.set_call(true);
        }
        if held.since.elapsed().as_secs_f64() > held.begin.slice {
            held.link.set_call(true);
        }
    }

    /// If somebody waits for something to do, whoever has been at it for the longest gives a part away.
    fn divide(&self, held: &[Arc<Held>]) {
        let runs: BTreeSet<&str> = held.iter().map(|it| it.run.as_str()).collect();
        for run in runs {
            let info = self.cluster.info(run).unwrap_or_default();
            let hungry = info.waiting.saturating_sub(info.pending) as usize;
            let of_run = held.iter().filter(|it| it.run == run);
            let longest = of_run.min_by_key(|it| it.since);
            if let Some(held) = longest
                && hungry > 0
                && held.since.elapsed() > SHORTEST
            {
                let wanted = (hungry + 1).min(MOST_AT_ONCE);
                held.wanted.store(wanted, Ordering::Relaxed);
                held.link.set_call(true);
            }
        }
    }
}

/// A program that a thread has for a round.
struct Own {
    run: String,
    round: u32,
    begin: Arc<Begin>,
    explorer: Explorer,
    name: String,
    /// So much of what it has found out is in the stream.
    told: usize,
}

struct Thread<'a> {
    shared: &'a Shared,
    index: usize,
    own: Option<Own>,
    /// Programs that it has had.
    count: usize,
}

impl<'a> Thread<'a> {
    fn new(shared: &'a Shared, index: usize) -> Self {
        Self {
            shared,
            index,
            own: None,
            count: 0,
        }
    }

    fn run(&mut self) {
        let mut turn = self.index;
        while !self.shared.stop.load(Ordering::Relaxed) {
            let runs = self.shared.runs();
            if runs.is_empty() {
                thread::sleep(TICK);
                continue;
            }
            turn += 1;
            let run = &runs[turn % runs.len()];
            match self.shared.cluster.pull(run, PULL) {
                Ok(Some(delivery)) => self.take(run, delivery),
                Ok(None) => {}
                // It was removed.
                Err(_) => thread::sleep(TICK),
            }
        }
    }

    /// Explores a piece, or says why not.
    fn take(&mut self, run: &str, delivery: Delivery) {
        let cluster = &self.shared.cluster;
        let told = |what: &dyn std::fmt::Display| {
            crate::tell(format_args!(
                "warning: run {run}, message {} (`{}`): {what}",
                delivery.sequence, delivery.name
            ));
        };
        let delivered = delivery.name.clone();
        let Some(Name::Piece(round, name)) = Name::parse(&delivered) else {
            told(&"this is no piece");
            return cluster.give_up(&delivery);
        };
        // Whoever was to say that it is done may have been too late.
        if delivery.deliveries > 1
            && matches!(
                cluster.message(run, &format!("{round}.done.{name}")),
                Ok(Some(_))
            )
        {
            return cluster.done_with(&delivery);
        }
        let interval = match record::interval(cluster, &delivery.payload) {
            Ok(interval) => interval,
            Err(what @ Unreadable::Damaged) => {
                told(&what);
                return cluster.give_up(&delivery);
            }
            Err(what) => {
                told(&what);
                return self.refuse(run, &delivery);
            }
        };
        let start = start(&interval);
        if self.shared.is_behind_bound(run, round, &start) {
            return cluster.done_with(&delivery);
        }
        if let Err(what) = self.prepare(run, round) {
            told(&what);
            return self.refuse(run, &delivery);
        }
        let Some(own) = &mut self.own else { return };
        let held = Arc::new(Held {
            delivery,
            link: Arc::default(),
            run: run.to_owned(),
            round,
            start,
            begin: Arc::clone(&own.begin),
            since: Instant::now(),
            renewed: Mutex::new(Instant::now()),
            wanted: AtomicUsize::new(1),
            is_dropped: AtomicBool::new(false),
        });
        *lock(&self.shared.held[self.index]) = Some(Arc::clone(&held));
        // Whoever leaves takes nothing any more.
        held.link.set_call(self.shared.stop.load(Ordering::Relaxed));
        let explored = own.explorer.explore(interval, &held.link);
        let settled = match held.is_dropped.load(Ordering::Relaxed) {
            true => Ok(()),
            false => self.settle(&held, name, explored),
        };
        *lock(&self.shared.held[self.index]) = None;
        match settled {
            Ok(()) => cluster.done_with(&held.delivery),
            Err(ClusterError::NoRun { .. }) => {}
            Err(error) => {
                crate::tell(format_args!("warning: run {run}: {error}"));
                self.refuse(run, &held.delivery);
            }
        }
    }

    /// Leaves a run to others.
    fn refuse(&self, run: &str, delivery: &Delivery) {
        if lock(&self.shared.refused).insert(run.to_owned()) {
            crate::tell(format_args!("warning: run {run} is left to others"));
        }
        self.shared.cluster.give_back(delivery);
    }

    /// Has the program for a round.
    fn prepare(&mut self, run: &str, round: u32) -> Result<(), String> {
        if matches!(&self.own, Some(own) if own.run == run && own.round == round) {
            return Ok(());
        }
        let cluster = &self.shared.cluster;
        let payload = cluster.message(run, &format!("{round}.begin"));
        let payload = payload.map_err(|error| error.to_string())?;
        let payload = payload.ok_or("its round has not begun")?;
        let begin = record::begin(&payload).map_err(|what| what.to_string())?;
        let object = |name: &str| cluster.object(name).map_err(|error| error.to_string());
        let ir: Arc<str> = object(&begin.program)?.into();
        let known: Result<Saved, _> = object(&begin.known)?.parse();
        let known = known.map_err(|_| "what is known of the program cannot be read")?;
        let setup = begin.recipe.setup(&self.shared.watch);
        let setup = setup.ok_or("its memory model is unknown")?;
        let explorer = Explorer::new(&begin.recipe.source(&ir), setup, &known.journal);
        let explorer = explorer.ok_or("the program is not the one that it was")?;
        self.count += 1;
        let now = std::time::SystemTime::now();
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let seed = format!(
            "{host} {} {now:?} {} {}",
            std::process::id(),
            self.index,
            self.count
        );
        self.own = Some(Own {
            run: run.to_owned(),
            round,
            begin: Arc::new(begin),
            explorer,
            name: digest(&seed)[..16].to_owned(),
            told: 0,
        });
        Ok(())
    }

    /// Writes what came of a piece, unless somebody else has.
    fn settle(&mut self, held: &Held, name: &str, explored: Explored) -> Result<(), ClusterError> {
        let cluster = &self.shared.cluster;
        let round = held.round;
        let Some(own) = &mut self.own else {
            return Ok(());
        };
        let Explored { part, ending, left } = explored;
        let wanted = held.wanted.load(Ordering::Relaxed);
        let left = match left.is_empty() {
            true => Vec::new(),
            false => divided(left, wanted),
        };
        let entries = own.explorer.entries(own.told).to_vec();
        let told = own.told + entries.len();
        let line = DoneLine {
            raddle_done: FORMAT,
            worker: own.name.clone(),
            told: own.told,
            ending: ending.name().to_owned(),
            made: (0..left.len())
                .map(|index| record::piece_name(name, index))
                .collect(),
        };
        let mut saved = Saved::default();
        saved.journal.entries = entries;
        let place = part.start.clone();
        saved.parts.push(part);
        let mut messages = vec![Message {
            name: format!("{round}.done.{name}"),
            payload: record::render(cluster, &line, &saved)?,
        }];
        for (interval, name) in left.into_iter().zip(&line.made) {
            messages.push(crew::piece(cluster, round, name, interval)?);
        }
        if ending != Ending::Explored {
            let found = Found {
                ending: line.ending.clone(),
                place,
            };
            messages.push(Message {
                name: format!("{round}.found.{name}"),
                payload: record::render(cluster, &found, &Saved::default())?,
            });
        }
        if cluster.commit(&held.run, &messages)? == Committed::Yes {
            own.told = told;
        }
        if ending == Ending::Kinds {
            // What it has found out must not be known where it is not met.
            self.own = None;
        }
        Ok(())
    }
}
