//! Keeps a job within its limits, whatever it is busy with.
//!
//! There are two layers. Everything that may take long asks the job's [`Watch`] whether it is time to stop, and then comes back with
//! what it has. But a check is made of many kinds of work, and a promise that rests on every one of them asking in time is
//! none. So the job has a thread of its own, and this one waits for it with an eye on the clock, on memory and on Ctrl-C. When one of
//! them says so, the job is told to stop and has a moment to do so in an orderly way ([`grace`]); after that it is left to itself, and the
//! answer is made from what it had published. The compiler is ended at once.

use crate::Status;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use raddle_search::watch::{self, Cause};
use raddle_search::{MemoryLimit, Watch};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The job looks whether it should stop, and so does its supervisor: at least this often.
const TICK: Duration = Duration::from_millis(10);
/// Near the limit of memory it looks more often, but not more often than this.
const SHORTEST_TICK: Duration = Duration::from_micros(500);
/// No program touches new memory faster than so many bytes a second.
const FASTEST_GROWTH: f64 = 8e9;
/// A job that was stopped because of its memory may use a little more of it on its way out, as a fraction of the limit.
const MEMORY_SLACK: f64 = 0.02;
/// The system takes back so many bytes a second when a process ends; whoever waits for the process waits for that, too.
const FASTEST_RETURN: f64 = 8e9;
/// A process is gone this long after its time limit, the system's part included.
const LATEST_END: Duration = Duration::from_millis(900);
/// How long a job may take that has to write what is left; whoever does not want to wait presses Ctrl-C twice.
const TIME_TO_SAVE: Duration = Duration::from_secs(30);
/// What is checked may be nested deeply.
const STACK_BYTES: usize = 256 << 20;

/// A piece of work with limits, as both sides know it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Job {
    pub(crate) watch: Arc<Watch>,
    /// The compilers that are running: their processes and process groups.
    compilers: Arc<Mutex<Vec<u32>>>,
    /// An answer that counts if there is no time for a better one.
    said: Arc<Mutex<Option<(String, Status)>>>,
    /// It writes what is left when it is told to stop.
    saves: bool,
}

/// How a job ended.
pub(crate) enum Ended<T> {
    Returned(T),
    /// It was told to stop and did not.
    Abandoned,
    /// What there is to say has been said.
    Panicked,
}

impl Job {
    /// A job whose time begins to run now. Without a limit of memory it gets most of what the machine has.
    pub(crate) fn new(time: Option<Duration>, memory_bytes: Option<u64>) -> Self {
        let memory = match memory_bytes {
            Some(bytes) => Some(MemoryLimit {
                bytes,
                is_default: false,
            }),
            None => crate::machine::most_memory().map(|bytes| MemoryLimit {
                bytes,
                is_default: true,
            }),
        };
        Self {
            watch: Arc::new(Watch::new(time, memory)),
            compilers: Arc::default(),
            said: Arc::default(),
            saves: false,
        }
    }

    /// A job that has to write what is left when it is told to stop may take its time for that.
    pub(crate) fn with_time_to_save(self, saves: bool) -> Self {
        Self { saves, ..self }
    }

    fn grace(&self, cause: Cause, memory: u64) -> Duration {
        match self.saves {
            true => TIME_TO_SAVE,
            false => grace(cause).saturating_sub(time_to_return(memory)),
        }
    }

    /// Leaves an answer in case that there is no time for a better one. The first counts.
    pub(crate) fn say(&self, text: String, status: Status) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.get_or_insert((text, status));
    }

    pub(crate) fn said(&self) -> Option<(String, Status)> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.clone()
    }

    /// Runs a compiler to its end, or to that of the job.
    pub(crate) fn run_compiler(&self, command: &mut Command) -> io::Result<Output> {
        let child = {
            let mut compilers = self.compilers();
            if self.watch.is_over() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            // In a group of its own: whatever it starts ends with it.
            let child = command.process_group(0).spawn()?;
            compilers.push(child.id());
            child
        };
        let process = child.id();
        let output = child.wait_with_output();
        self.compilers().retain(|it| *it != process);
        output
    }

    fn compilers(&self) -> std::sync::MutexGuard<'_, Vec<u32>> {
        (self.compilers.lock()).unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that this process and its compilers have.
    fn memory(&self) -> u64 {
        let compilers = self.compilers().clone();
        let compilers = compilers.into_iter();
        watch::resident_bytes()
            + (compilers.map(crate::machine::resident_bytes_of_tree)).sum::<u64>()
    }

    fn end_compilers(&self) {
        for &group in &*self.compilers() {
            // If it has ended by itself, that is all the better.
            let _ = killpg(Pid::from_raw(group.cast_signed()), Signal::SIGKILL);
        }
    }

    /// Runs the work on a thread of its own, and comes back when the limits say so.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        interrupt: &AtomicBool,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Ended<T> {
        let (sender, receiver) = mpsc::channel();
        let job = self.clone();
        let started = thread::Builder::new()
            .name("check".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                let result = work(&job);
                // Nobody waits any more if it took too long.
                let _ = sender.send(result);
            });
        if let Err(error) = started {
            crate::tell(format_args!("error: cannot start a thread: {error}"));
            return Ended::Panicked;
        }
        let mut tick = SHORTEST_TICK;
        let mut give_up: Option<Instant> = None;
        loop {
            match receiver.recv_timeout(tick) {
                Ok(result) => return Ended::Returned(result),
                Err(RecvTimeoutError::Disconnected) => return Ended::Panicked,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let memory = self.memory();
            self.look_around(interrupt, memory);
            tick = self.next_tick(memory);
            let Some(cause) = self.watch.cause() else {
                continue;
            };
            self.end_compilers();
            let now = Instant::now();
            let mut until = *give_up.get_or_insert_with(|| now + self.grace(cause, memory));
            if interrupt.load(Ordering::Relaxed) {
                until = until.min(now + self.grace(Cause::Interrupted, memory));
                give_up = Some(until);
            }
            if now >= until || self.is_far_over(memory) {
                return Ended::Abandoned;
            }
            tick = SHORTEST_TICK;
        }
    }

    /// Raises the flag if there is a reason.
    fn look_around(&self, interrupt: &AtomicBool, memory: u64) {
        if interrupt.load(Ordering::Relaxed) {
            self.watch.raise(Cause::Interrupted);
        }
        let limit = self.watch.memory_limit();
        if limit.is_some_and(|limit| memory > limit.bytes) {
            self.watch.raise(Cause::Memory);
        }
        // The more memory there is to give back, the earlier it has to end: with what the system needs it would be late.
        let end = self.watch.deadline().map(|at| at + LATEST_END);
        let gone = Instant::now() + grace(Cause::Time).max(time_to_return(memory));
        if end.is_some_and(|end| gone >= end) {
            self.watch.raise(Cause::Time);
        }
        // Raises it itself.
        let _ = self.watch.is_over();
    }

    /// Until when nothing can happen that should be seen.
    fn next_tick(&self, memory: u64) -> Duration {
        let mut tick = TICK;
        if let Some(limit) = self.watch.memory_limit() {
            let left = limit.bytes.saturating_sub(memory);
            tick = tick.min(Duration::from_secs_f64(left as f64 / FASTEST_GROWTH));
        }
        if let Some(deadline) = self.watch.deadline() {
            tick = tick.min(deadline.saturating_duration_since(Instant::now()));
        }
        tick.max(SHORTEST_TICK)
    }

    /// Is there so much memory in use that there is no time to wait?
    fn is_far_over(&self, memory: u64) -> bool {
        let limit = self.watch.memory_limit();
        limit.is_some_and(|limit| memory as f64 > limit.bytes as f64 * (1.0 + MEMORY_SLACK))
    }
}

/// How long the system takes to end a process that has so much memory.
fn time_to_return(memory: u64) -> Duration {
    Duration::from_secs_f64(memory as f64 / FASTEST_RETURN)
}

/// How long a job that was told to stop may take to say what it has.
fn grace(cause: Cause) -> Duration {
    match cause {
        // The process has to end, too, within what a user takes for at once.
        Cause::Interrupted => Duration::from_millis(60),
        Cause::Time | Cause::Memory => Duration::from_millis(500),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_search::{Phase, Reason};

    fn never() -> AtomicBool {
        AtomicBool::new(false)
    }

    #[test]
    fn what_comes_back_in_time_is_the_result() {
        let job = Job::new(None, None);
        let Ended::Returned(seven) = job.run(&never(), |_| 7) else {
            panic!("it was fast enough");
        };
        assert_eq!(seven, 7);
        assert!(!job.watch.is_raised());
    }

    #[test]
    fn a_job_that_does_not_listen_is_left_alone() {
        // Long enough for the job to begin on a busy machine.
        let limit = Duration::from_millis(500);
        let job = Job::new(Some(limit), None);
        let ended = job.run(&never(), |job| {
            job.watch.enter(Phase::Encoding);
            loop {
                thread::sleep(TICK);
            }
        });
        assert!(matches!(ended, Ended::<()>::Abandoned));
        let during = Phase::Encoding;
        assert_eq!(job.watch.reason(), Some(Reason::Time { limit, during }));
    }

    #[test]
    fn a_job_that_listens_says_what_it_has() {
        for (job, interrupt) in [
            (Job::new(Some(Duration::from_millis(10)), None), never()),
            (Job::new(None, Some(1)), never()),
            (Job::new(None, None), AtomicBool::new(true)),
        ] {
            let ended = job.run(&interrupt, |job| {
                while !job.watch.is_raised() {
                    thread::yield_now();
                }
                "half"
            });
            // With one byte there is no time for last words.
            let no_time = job.watch.cause() == Some(Cause::Memory);
            assert!(matches!(ended, Ended::Returned("half")) || no_time);
        }
    }

    #[test]
    fn the_compiler_ends_with_its_job_and_so_does_what_it_started() {
        let job = Job::new(Some(Duration::from_millis(50)), None);
        let ended = job.run(&never(), |job| {
            let mut command = Command::new("sh");
            command.args(["-c", "sleep 1000 & sleep 1000"]);
            command.stdout(std::process::Stdio::piped());
            job.run_compiler(&mut command)
                .map(|output| output.status.success())
        });
        assert!(matches!(ended, Ended::Returned(Ok(false))));
        let mut late = Command::new("true");
        assert!(job.run_compiler(&mut late).is_err());
    }

    #[test]
    fn a_panic_is_no_answer() {
        let ended = Job::new(None, None).run(&never(), |_| {
            // Without the message of a real one.
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(matches!(ended, Ended::<()>::Panicked));
    }
}
