//! A program, checked with orderings other than those of its source.

use crate::auto;
use crate::check::source;
use crate::error::Error;
use crate::load::Compiled;
use crate::options::Options;
use crate::supervise::Job;
use raddle_program::{OrderSite, Orderings, Program};
use raddle_report::names::Names;
use raddle_report::orderings::Trial;
use raddle_report::words;
use raddle_search::driver::{self, Limits, SearchOptions};
use raddle_search::{EngineKind, MemoryModel, Outcome, Trace, Verdict, choose_engine};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A program that is checked once more may have so many times the executions of the program as it is, with each engine,
const TIMES: u64 = 20;
/// or so many, if that is more.
const EXECUTIONS: u64 = 20_000;

pub(super) struct Trials<'a> {
    options: &'a Options,
    job: &'a Job,
    compiled: Compiled,
    /// The orderings that threads came to in some check, and what is accessed with them.
    sites: BTreeMap<OrderSite, Option<String>>,
    /// Answers so far: the same question may come up again.
    known: BTreeMap<Orderings, Trial>,
    /// How many executions the program as it is has with one engine, at most.
    executions: Option<u64>,
}

impl<'a> Trials<'a> {
    pub(super) fn new(options: &'a Options, job: &'a Job, compiled: Compiled) -> Self {
        Self {
            options,
            job,
            compiled,
            sites: BTreeMap::new(),
            known: BTreeMap::new(),
            executions: None,
        }
    }

    /// How many times the program was checked.
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    pub(super) fn sites(&self) -> &BTreeMap<OrderSite, Option<String>> {
        &self.sites
    }

    /// Checks the program with these orderings, by the rule of `auto`: whatever is wrong under sequential consistency is wrong under
    /// the model of the language; if nothing is, and a weak ordering was met, that is explored.
    pub(super) fn check(&mut self, orderings: &Orderings) -> Result<Trial, Error> {
        if let Some(known) = self.known.get(orderings) {
            return Ok(known.clone());
        }
        let trial = self.judged(orderings)?;
        self.known.insert(orderings.clone(), trial.clone());
        Ok(trial)
    }

    fn judged(&mut self, orderings: &Orderings) -> Result<Trial, Error> {
        if let Some(reason) = self.job.watch.reason() {
            return Ok(Trial::Unknown(words::reason(&reason)));
        }
        let mut program = self.program(orderings)?;
        let engine = choose_engine(&mut program, self.options.reductions);
        let outcome = self.explored(&mut program, engine, MemoryModel::Sc)?;
        if !auto::needs_graphs(&outcome, &program) {
            return Ok(self.trial(&program, &outcome));
        }
        let mut program = self.program(orderings)?;
        let outcome = self.explored(&mut program, EngineKind::Graph, MemoryModel::C11)?;
        Ok(self.trial(&program, &outcome))
    }

    fn program(&self, orderings: &Orderings) -> Result<Program, Error> {
        let source = source(self.options, self.job);
        self.compiled.program(&source, orderings)
    }

    fn explored(
        &mut self,
        program: &mut Program,
        engine: EngineKind,
        memory: MemoryModel,
    ) -> Result<Outcome, Error> {
        // Only the program as it is is checked without a limit of its own.
        let is_first = self.known.is_empty();
        let limit = self.executions.filter(|_| !is_first);
        let limit = limit.map(|it| (it * TIMES).max(EXECUTIONS));
        let search = SearchOptions {
            memory,
            checks: self.options.checks,
            reductions: self.options.reductions,
            limits: Limits {
                executions: self.options.max_executions.or(limit),
                ..Limits::default()
            },
            watch: Some(Arc::clone(&self.job.watch)),
            verdict_only: true,
            ..SearchOptions::default()
        };
        let outcome = driver::check(program, engine, search)
            .map_err(|error| Error::Internal(error.to_string()))?;
        let names = Names::new(program, &Trace::default());
        for (site, met) in program.tables().order_sites() {
            let place = met.loc.map(|loc| names.location(loc));
            self.sites.entry(site).or_insert(place);
        }
        if is_first {
            let statistics = &outcome.statistics;
            let executions = statistics.complete + statistics.blocked;
            self.executions = self.executions.max(Some(executions));
        }
        Ok(outcome)
    }

    fn trial(&self, program: &Program, outcome: &Outcome) -> Trial {
        match &outcome.verdict {
            Verdict::Verified(_) => Trial::Verified,
            Verdict::Violation(violations) => {
                let first = &violations[0];
                let names = Names::new(program, &first.trace);
                Trial::Broken(words::headline(&names, program, &first.kind))
            }
            Verdict::Inconclusive(reason) => Trial::Unknown(words::reason(reason)),
            Verdict::Unsupported(unsupported) => Trial::Unknown(match unsupported.first() {
                Some(first) => words::unsupported(&first.what),
                None => "something cannot be run".to_owned(),
            }),
        }
    }
}
