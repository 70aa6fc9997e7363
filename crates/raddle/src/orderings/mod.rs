//! `raddle orderings`: how strong the orderings of a program have to be.
//!
//! The program is compiled and read once. Then it is checked again and again, each time with other orderings for its own atomics
//! ([`raddle_program::Orderings`]), by the rule of `--engine auto`: sequential consistency first, and then execution graphs under the model
//! of the language. A stronger ordering only forbids executions and races, so what is verified with an ordering is verified with stronger ones.

mod trials;

use crate::Status;
use crate::check::source;
use crate::cli::{CheckArgs, Engine, Format};
use crate::error::Error;
use crate::options::{AnswerFormat, Options};
use crate::supervise::{Ended, Job};
use raddle_program::{Order, OrderOf, OrderSite, Orderings};
use raddle_report::orderings::{self as report, Change, Findings, Repair, Row, Trial};
use raddle_report::source::Sources;
use raddle_report::words;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use trials::Trials;

/// Finds out about the orderings of a program and prints the answer.
pub fn orderings(args: CheckArgs, interrupt: &AtomicBool) -> Result<Status, Error> {
    let only_check = [
        ("--engine", args.engine != Engine::Auto),
        ("--memory", args.memory.is_some()),
        ("--report", args.report.is_some()),
        ("--trace", args.trace.is_some()),
        ("--witness", args.witness.is_some()),
        ("--proof", args.proof.is_some()),
        ("--keep-going", args.keep_going),
        ("--full", args.full),
        ("--output", args.output),
        ("--json", args.json.is_some()),
        ("--checkpoint", args.checkpoint.is_some()),
        ("--cluster", args.cluster.cluster.is_some()),
        ("--format sarif", args.format == Format::Sarif),
    ];
    if let Some((option, _)) = only_check.into_iter().find(|(_, given)| *given) {
        return Err(Error::OnlyForCheck { option });
    }
    let options = Options::from_args(args)?;
    let job = Job::new(options.time_limit, options.memory_limit_bytes);
    let work = {
        let options = options.clone();
        move |job: &Job| found(&options, job)
    };
    let began = Instant::now();
    let (findings, checks) = match job.run(interrupt, work) {
        Ended::Returned(Ok(found)) => found,
        Ended::Returned(Err(Error::Compile(_))) if job.watch.is_raised() => (unfinished(&job), 0),
        Ended::Returned(Err(error)) => return Err(error),
        Ended::Abandoned => (unfinished(&job), 0),
        Ended::Panicked => return Ok(Status::Failure),
    };
    let file = options.project.file().display().to_string();
    let answer = report::Orderings {
        file: &file,
        findings,
        checks,
        elapsed: began.elapsed(),
    };
    let sources = Sources::new();
    crate::print(&match options.format {
        AnswerFormat::Text => report::text(&answer, &sources, options.color),
        AnswerFormat::Json | AnswerFormat::Sarif => report::json(&answer, &sources),
    })?;
    Ok(match &answer.findings {
        Findings::Broken { .. } => Status::Violation,
        findings if findings.has_unknown() => Status::Inconclusive,
        _ => Status::Verified,
    })
}

/// What can be told if the work has not come back.
fn unfinished(job: &Job) -> Findings {
    let reason = job.watch.reason();
    Findings::Unknown(reason.map_or_else(
        || "it was stopped".to_owned(),
        |reason| words::reason(&reason),
    ))
}

fn found(options: &Options, job: &Job) -> Result<(Findings, usize), Error> {
    let compiled = source(options, job).compile()?;
    let mut trials = Trials::new(options, job, compiled);
    let findings = match trials.check(&Orderings::new())? {
        Trial::Verified => weakened(&mut trials)?,
        Trial::Broken(what) => Findings::Broken {
            what,
            repair: repair(&mut trials)?,
        },
        Trial::Unknown(why) => Findings::Unknown(why),
    };
    Ok((findings, trials.count()))
}

// ---- programs that are verified

fn weakened(trials: &mut Trials<'_>) -> Result<Findings, Error> {
    let mut rows = Vec::new();
    for (site, place) in trials.sites().clone() {
        let tried = tried(trials, &site)?;
        rows.push(Row { site, place, tried });
    }
    let together = together(trials, &rows)?;
    Ok(Findings::Verified { rows, together })
}

/// What becomes of the program with each weaker ordering, as far as that does not follow from others.
fn tried(trials: &mut Trials<'_>, site: &OrderSite) -> Result<Vec<(Order, Trial)>, Error> {
    let mut tried: Vec<(Order, Trial)> = Vec::new();
    for order in weaker(site.of, site.order) {
        let is_known = tried
            .iter()
            .any(|(weaker, trial)| *trial == Trial::Verified && order.is_at_least(*weaker));
        if !is_known {
            let trial = trials.check(&Orderings::from([(site.clone(), order)]))?;
            tried.push((order, trial));
        }
    }
    Ok(tried)
}

/// The orderings that are weaker, weakest first.
fn weaker(of: OrderOf, than: Order) -> impl Iterator<Item = Order> {
    let choices = of.choices().iter().copied();
    choices.filter(move |&order| order != than && than.is_at_least(order))
}

/// The orderings that are stronger, weakest first.
fn stronger(of: OrderOf, than: Order) -> impl Iterator<Item = Order> {
    let choices = of.choices().iter().copied();
    choices.filter(move |&order| order != than && order.is_at_least(than))
}

/// Which of the orderings may be weakened at once: taken one after another, in the order of the source. None if all of them may.
fn together(trials: &mut Trials<'_>, rows: &[Row]) -> Result<Option<Vec<Change>>, Error> {
    let too_strong: Vec<&Row> = rows.iter().filter(|row| row.is_too_strong()).collect();
    let least = |row: &Row| (row.site.clone(), row.weakest()[0]);
    let all: Orderings = too_strong.iter().map(|row| least(row)).collect();
    if too_strong.len() < 2 || trials.check(&all)? == Trial::Verified {
        return Ok(None);
    }
    let mut kept = Orderings::new();
    let mut changes = Vec::new();
    for row in too_strong {
        for order in weaker(row.site.of, row.site.order) {
            let mut more = kept.clone();
            more.insert(row.site.clone(), order);
            if trials.check(&more)? == Trial::Verified {
                kept = more;
                changes.push(Change {
                    site: row.site.clone(),
                    place: row.place.clone(),
                    to: order,
                });
                break;
            }
        }
    }
    Ok(Some(changes))
}

// ---- programs that are broken

/// A set of stronger orderings that makes the program correct, of which none can be left out or weakened.
fn repair(trials: &mut Trials<'_>) -> Result<Repair, Error> {
    // What releases and acquires where it can is often enough, and is what people write.
    let half = |of: OrderOf, order: Order| {
        let strongest = match of {
            OrderOf::Load | OrderOf::Failure => Order::Acquire,
            OrderOf::Store => Order::Release,
            OrderOf::Update | OrderOf::Success | OrderOf::Fence => Order::AcqRel,
        };
        if strongest.is_at_least(order) {
            strongest
        } else {
            order
        }
    };
    let all = |_: OrderOf, _: Order| Order::SeqCst;
    let mut start = match everywhere(trials, &half)? {
        (Trial::Verified, map) => map,
        _ => match everywhere(trials, &all)? {
            (Trial::Verified, map) => map,
            (Trial::Broken(what), _) => return Ok(Repair::NotByOrderings(what)),
            (Trial::Unknown(why), _) => return Ok(Repair::Unknown(why)),
        },
    };
    for (site, strong) in start.clone() {
        let mut without = start.clone();
        without.remove(&site);
        if trials.check(&without)? == Trial::Verified {
            start = without;
            continue;
        }
        for order in stronger(site.of, site.order) {
            if order == strong {
                break;
            }
            let mut less = start.clone();
            less.insert(site.clone(), order);
            if trials.check(&less)? == Trial::Verified {
                start = less;
                break;
            }
        }
    }
    let places = trials.sites();
    let change = |(site, to): (OrderSite, Order)| Change {
        place: places.get(&site).cloned().flatten(),
        site,
        to,
    };
    Ok(Repair::By(start.into_iter().map(change).collect()))
}

/// The program with an ordering for each of its sites. Checking may find more of them.
fn everywhere(
    trials: &mut Trials<'_>,
    order: &dyn Fn(OrderOf, Order) -> Order,
) -> Result<(Trial, Orderings), Error> {
    loop {
        let known = trials.sites().len();
        let sites = trials.sites().keys().cloned();
        let strengthened = sites.filter_map(|site| {
            let to = order(site.of, site.order);
            (to != site.order).then_some((site, to))
        });
        let map: Orderings = strengthened.collect();
        let trial = trials.check(&map)?;
        // A site that was not known was not strengthened, and what is broken may be for that reason.
        if trials.sites().len() == known || trial == Trial::Verified {
            return Ok((trial, map));
        }
    }
}
