//! Checks tests, several at a time, each in a process of its own: limits of time and memory hold for each, and whatever becomes of one
//! is nothing to the others. What is said comes in the order of the tests, whichever is first to end.

use super::cli::TestArgs;
use super::error::CargoError;
use super::irtext::IrText;
use super::listing::{self, Test};
use super::panics;
use super::tests::Suite;
use crate::Status;
use crate::options::processors;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What a test gets unless somebody says otherwise.
const TIME_LIMIT: &str = "--time-limit=60";
/// How often it is looked at whether somebody wants to stop.
const TICK: Duration = Duration::from_millis(20);

/// A test to be checked.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) module: &'a IrText<'a>,
    pub(crate) test: &'a Test,
    pub(crate) is_left_out: bool,
}

/// What became of it.
pub(crate) enum Ended {
    Ignored,
    /// Somebody wanted to stop before.
    NotChecked,
    Checked(Answer),
}

pub(crate) struct Answer {
    pub(crate) status: Status,
    pub(crate) executions: Option<u64>,
    pub(crate) seconds: f64,
    /// What is wrong, in one line.
    pub(crate) message: Option<String>,
    /// All that is said about it.
    pub(crate) text: String,
}

pub(crate) struct Runner<'a> {
    pub(crate) args: &'a TestArgs,
    /// Options of `raddle check`.
    pub(crate) passed_on: &'a [OsString],
    /// Positions in debug information are relative to it.
    pub(crate) root: &'a Path,
    pub(crate) color: bool,
    pub(crate) interrupt: &'a AtomicBool,
}

/// The checks that run now.
#[derive(Default)]
struct Running {
    processes: Mutex<BTreeSet<u32>>,
    /// Nothing is started any more.
    stopped: AtomicBool,
}

impl Running {
    fn run(&self, command: &mut Command) -> io::Result<Option<Output>> {
        let child = {
            let mut processes = self.processes();
            if self.stopped.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let child = command.spawn()?;
            processes.insert(child.id());
            child
        };
        let id = child.id();
        let output = child.wait_with_output();
        self.processes().remove(&id);
        output.map(Some)
    }

    /// Starts nothing any more, and ends what runs.
    fn stop(&self) {
        let processes = self.processes();
        self.stopped.store(true, Ordering::Relaxed);
        for &id in processes.iter() {
            // If it has ended by itself, that is all the better.
            let _ = kill(Pid::from_raw(id.cast_signed()), Signal::SIGTERM);
        }
    }

    fn processes(&self) -> std::sync::MutexGuard<'_, BTreeSet<u32>> {
        self.processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Runner<'_> {
    /// Checks all tests, and tells `ended` of each in order.
    pub(crate) fn run<'c>(
        &self,
        cases: &'c [Case<'c>],
        mut ended: impl FnMut(&Case<'c>, Ended) -> Result<(), CargoError>,
    ) -> Result<(), CargoError> {
        let jobs = self.jobs().min(cases.len().max(1));
        let next = AtomicUsize::new(0);
        let running = Running::default();
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..jobs {
                let (sender, next, running) = (sender.clone(), &next, &running);
                scope.spawn(move || {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(case) = cases.get(index) else {
                            return;
                        };
                        let result = self.case(index, case, running, jobs);
                        if sender.send((index, result)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let result = self.collect(cases, &receiver, &running, &mut ended);
            // Whatever happened, nothing is left behind.
            if result.is_err() {
                running.stop();
            }
            result
        })
    }

    fn collect<'c>(
        &self,
        cases: &'c [Case<'c>],
        receiver: &mpsc::Receiver<(usize, Result<Ended, CargoError>)>,
        running: &Running,
        ended: &mut dyn FnMut(&Case<'c>, Ended) -> Result<(), CargoError>,
    ) -> Result<(), CargoError> {
        let mut early: BTreeMap<usize, Ended> = BTreeMap::new();
        let mut told = 0;
        loop {
            match receiver.recv_timeout(TICK) {
                Ok((index, result)) => {
                    early.insert(index, result?);
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.interrupt.load(Ordering::Relaxed) {
                running.stop();
            }
            while let Some(result) = early.remove(&told) {
                let failed =
                    matches!(&result, Ended::Checked(answer) if answer.status == Status::Violation);
                if failed && self.args.fail_fast {
                    running.stop();
                }
                ended(&cases[told], result)?;
                told += 1;
            }
        }
    }

    fn jobs(&self) -> usize {
        self.args.jobs.map_or_else(processors, |jobs| jobs as usize)
    }

    fn case(
        &self,
        index: usize,
        case: &Case<'_>,
        running: &Running,
        jobs: usize,
    ) -> Result<Ended, CargoError> {
        if case.is_left_out {
            return Ok(Ended::Ignored);
        }
        let (program, is_model) = program(case)?;
        let answer_file = program.with_extension(format!("{index}.json"));
        let mut command = self.command(case, &program, &answer_file, jobs)?;
        if case.test.should_panic && !is_model && !self.is_given("--keep-going") {
            command.args(panics::OPTIONS);
        }
        let began = Instant::now();
        let output = running
            .run(&mut command)
            .map_err(|error| CargoError::Start { error })?;
        let Some(output) = output else {
            return Ok(Ended::NotChecked);
        };
        let json: Option<Value> = fs::read(&answer_file)
            .ok()
            .and_then(|json| serde_json::from_slice(&json).ok());
        // It was for us only.
        let _ = fs::remove_file(&answer_file);
        let mut answer = read(&output, json.as_ref(), began.elapsed());
        if is_model {
            answer = panics::judged_as_model(answer);
        } else if case.test.should_panic {
            answer = panics::judged(answer, json.as_ref(), case.test);
        }
        Ok(Ended::Checked(answer))
    }

    fn command(
        &self,
        case: &Case<'_>,
        program: &Path,
        answer: &Path,
        jobs: usize,
    ) -> Result<Command, CargoError> {
        let exe = std::env::current_exe().map_err(|error| CargoError::Start { error })?;
        let mut command = Command::new(exe);
        command.arg("check").arg(program);
        if !self.is_given("--time-limit") {
            command.arg(TIME_LIMIT);
        }
        if !self.is_given("--memory-limit")
            && let Some(bytes) = crate::machine::most_memory()
        {
            let mebibytes = (bytes >> 20) / jobs as u64;
            command.arg(format!("--memory-limit={}", mebibytes.max(1)));
        }
        // Processors that other tests leave free.
        let workers = (processors() / jobs).max(1);
        command
            .args(["--jobs", &workers.to_string()])
            .args(["--progress", "never", "--color"])
            .arg(if self.color { "always" } else { "never" })
            .arg("--json")
            .arg(answer)
            .args(self.passed_on);
        if self.args.nocapture {
            command.arg("--output");
        }
        for (option, directory, extension) in [
            ("--report", &self.args.report, "html"),
            ("--trace", &self.args.trace, "trace"),
        ] {
            if let Some(directory) = directory {
                let here = std::env::current_dir().map_err(|error| CargoError::Start { error })?;
                let name = format!(
                    "{}.{}.{extension}",
                    case.suite.built.target,
                    file_name(case.test)
                );
                command.arg(option).arg(here.join(directory).join(name));
            }
        }
        command
            .current_dir(self.root)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Ok(command)
    }

    fn is_given(&self, option: &str) -> bool {
        let starts = |arg: &OsString| arg.to_str().is_some_and(|arg| arg.starts_with(option));
        self.passed_on.iter().any(starts)
    }
}

/// The program that runs a test, as a file, and whether it is expected to fail. It is kept as long as the tests do not change.
fn program(case: &Case<'_>) -> Result<(PathBuf, bool), CargoError> {
    let module = case.suite.built.module.clone().unwrap_or_default();
    let directory = module.with_extension("tests");
    let file = directory.join(format!("{}.ll", file_name(case.test)));
    let modified = |file: &Path| fs::metadata(file).and_then(|file| file.modified()).ok();
    if modified(&file).is_some_and(|written| modified(&module).is_some_and(|it| it <= written)) {
        let text = fs::read_to_string(&file).map_err(|error| CargoError::Read {
            file: file.clone(),
            error,
        })?;
        let fails = listing::is_expected_to_fail(&text);
        return Ok((file, fails));
    }
    let text =
        listing::program_of(case.module, case.test).map_err(|unreadable| CargoError::Listing {
            file: module,
            what: unreadable.0,
        })?;
    let fails = listing::is_expected_to_fail(&text);
    let unfinished = file.with_extension("part");
    fs::create_dir_all(&directory)
        .and_then(|()| fs::write(&unfinished, text))
        .and_then(|()| fs::rename(&unfinished, &file))
        .map_err(|error| CargoError::Write {
            file: file.clone(),
            error,
        })?;
    Ok((file, fails))
}

/// `tests::lost` as a file's name. Identifiers may be long, and not of this alphabet.
fn file_name(test: &Test) -> String {
    const LONGEST: usize = 120;
    let name: String = test
        .name
        .replace("::", ".")
        .chars()
        .map(|c| match c.is_alphanumeric() || "._-".contains(c) {
            true => c,
            false => '_',
        })
        .collect();
    if name.len() <= LONGEST {
        return name;
    }
    let start: String = name.chars().take(LONGEST / 2).collect();
    let hash = raddle_report::trace_file::fingerprint(&test.name);
    format!("{start}-{hash}")
}

/// What a process has said.
fn read(output: &Output, answer: Option<&Value>, elapsed: Duration) -> Answer {
    let status = match output.status.code() {
        Some(0) => Status::Verified,
        Some(1) => Status::Violation,
        Some(3) => Status::Inconclusive,
        _ => Status::Failure,
    };
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    let of = |path: &str| answer.and_then(|answer| answer.pointer(path));
    let string = |path: &str| of(path).and_then(Value::as_str).map(str::to_owned);
    let message = string("/violation/message")
        .or_else(|| string("/unsupported/0/message"))
        .or_else(|| string("/reason"))
        .or_else(|| text.lines().next().map(str::to_owned));
    let count = |path: &str| of(path).and_then(Value::as_u64);
    let executions = count("/executions/complete")
        .map(|complete| complete + count("/executions/blocked").unwrap_or(0));
    Answer {
        status,
        executions,
        seconds: elapsed.as_secs_f64(),
        message: message.filter(|_| status != Status::Verified),
        text,
    }
}
