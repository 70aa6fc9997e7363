//! `raddle cluster status`, `cancel` and `clean`.

use super::args::ClusterCommand;
use super::crew;
use super::ledger::{Event, Ledger};
use super::record::{self, End};
use super::{connect, problem};
use crate::Status;
use crate::error::Error;
use raddle_cluster::{Cluster, ClusterError};
use raddle_report::words::grouped;
use std::fmt::Write;
use std::time::Duration;

pub fn admin(command: &ClusterCommand) -> Result<Status, Error> {
    match command {
        ClusterCommand::Status(args) => {
            let cluster = connect(&args.access, &args.cluster)?;
            crate::print(&status(&cluster)?)?;
        }
        ClusterCommand::Cancel(args) => {
            let cluster = connect(&args.access, &args.cluster)?;
            must_exist(&cluster, &args.run)?;
            crew::end(&cluster, &args.run, End::Cancelled)?;
            match ended(&cluster, &args.run)? {
                Some(End::Answered) => {
                    let run = &args.run;
                    return Err(problem(format!("run `{run}` has its answer"), None));
                }
                _ => crate::print(&format!("run {} is cancelled\n", args.run))?,
            }
        }
        ClusterCommand::Clean(args) => {
            let cluster = connect(&args.access, &args.cluster)?;
            crate::print(&clean(&cluster, args.run.as_deref())?)?;
        }
    }
    Ok(Status::Verified)
}

fn must_exist(cluster: &Cluster, run: &str) -> Result<(), Error> {
    match cluster.has_run(run)? {
        true => Ok(()),
        false => Err(ClusterError::NoRun {
            run: run.to_owned(),
        }
        .into()),
    }
}

/// How a run has ended, if it has.
pub(super) fn ended(cluster: &Cluster, run: &str) -> Result<Option<End>, ClusterError> {
    let payload = cluster.message(run, record::END)?;
    // What cannot be read was not written by Raddle: nobody shall work for it.
    Ok(payload.map(|it| record::line(&it).unwrap_or(End::Cancelled)))
}

fn status(cluster: &Cluster) -> Result<String, Error> {
    let runs = cluster.runs()?;
    if runs.is_empty() {
        return Ok("there are no runs\n".to_owned());
    }
    let mut text = format!(
        "{:<16} {:<10} {:>14} {:>9} {:>9} {:>8}  {}\n",
        "run", "state", "executions", "explored", "left", "workers", "program"
    );
    for run in runs {
        let ledger = read_all(cluster, &run)?;
        let info = cluster.info(&run).unwrap_or_default();
        let state = match ledger.end {
            Some(End::Answered) => "answered",
            Some(End::Cancelled) => "cancelled",
            None => "open",
        };
        let Some((_, round)) = ledger.rounds.last_key_value() else {
            let _ = writeln!(text, "{run:<16} {state:<10} (not begun)");
            continue;
        };
        let explored = format!("{:.1} %", round.explored() * 100.0);
        let _ = writeln!(
            text,
            "{run:<16} {state:<10} {:>14} {explored:>9} {:>9} {:>8}  {}",
            grouped(round.executions),
            round.left(),
            info.taken + info.waiting,
            round.begin.file,
        );
    }
    Ok(text)
}

fn read_all(cluster: &Cluster, run: &str) -> Result<Ledger, Error> {
    let mut reader = cluster.reader(run);
    let mut ledger = Ledger::default();
    while !reader.is_at_end()? {
        for stored in reader.read(Duration::from_millis(200))? {
            match ledger.read(cluster, &stored) {
                Event::Nothing | Event::Done(..) => {}
                Event::Foreign(what) | Event::Broken(what) => {
                    crate::tell(format_args!("warning: run {run}: {what}"));
                }
            }
        }
    }
    Ok(ledger)
}

fn clean(cluster: &Cluster, run: Option<&str>) -> Result<String, Error> {
    let mut text = String::new();
    if let Some(run) = run {
        must_exist(cluster, run)?;
    }
    let mut is_anybody_left = false;
    for other in cluster.runs()? {
        let goes = match run {
            Some(run) => run == other,
            None => ended(cluster, &other)?.is_some(),
        };
        is_anybody_left |= !goes;
        if goes {
            cluster.delete_run(&other)?;
            let _ = writeln!(text, "run {other} is removed");
        }
    }
    // Any message of a run may refer to an object.
    if !is_anybody_left {
        let removed = cluster.remove_objects()?;
        let _ = writeln!(
            text,
            "{removed} programs and what was known of them are removed"
        );
    }
    Ok(text)
}
