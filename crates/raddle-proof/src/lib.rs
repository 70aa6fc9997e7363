//! Checks the proofs that `raddle check --engine bmc --proof FILE` writes. docs/proofs.md has the format, and says what a valid proof
//! means.
//!
//! This crate depends on nothing of Raddle: whatever is wrong in the solver, in its theory or in what it writes is not repeated here.
//!
//! | part | what it does |
//! |---|---|
//! | [`check`] | reads a file line by line, and keeps what is known of each formula |
//! | `clauses` | clauses with two watched literals; does a clause follow by unit propagation? |
//! | `orders` | what literals order; is this a cycle? |

mod clauses;
mod fault;
mod formula;
mod lit;
mod orders;
mod words;

pub use fault::{Fault, Invalid};
use formula::Formula;
use rustc_hash::FxHashMap;
use std::io::{self, BufRead};
use words::Words;

/// What a valid proof consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Does the answer hold without a bound?
    pub is_complete: bool,
    /// That the answer rests on.
    pub formulas: usize,
    pub clauses: u64,
    pub learnt: u64,
    pub lemmas: u64,
    pub deleted: u64,
    /// Clauses that another procedure vouches for.
    pub trusted: u64,
    pub questions: u64,
}

/// Why a proof was not accepted.
#[derive(Debug)]
pub enum Failure {
    /// It proves nothing.
    Invalid(Invalid),
    /// It could not be read to its end.
    Unreadable(io::Error),
    Interrupted,
}

/// The first line of every proof.
const HEADER: &str = "raddle-proof 1";
/// So many lines go by between two looks at whether to stop.
const LINES_BETWEEN_LOOKS: u64 = 1024;

/// Reads a proof to its end and checks every line. `stop` is asked now and then whether to give up.
pub fn check(mut proof: impl BufRead, stop: impl Fn() -> bool) -> Result<Summary, Failure> {
    let mut checker = Checker::default();
    let mut text = Vec::new();
    let mut line = 0;
    loop {
        text.clear();
        let read = proof.read_until(b'\n', &mut text);
        if read.map_err(Failure::Unreadable)? == 0 {
            break;
        }
        line += 1;
        if line % LINES_BETWEEN_LOOKS == 0 && stop() {
            return Err(Failure::Interrupted);
        }
        let fault = |what| Failure::Invalid(Invalid { line, what });
        let text = std::str::from_utf8(&text).map_err(|_| fault(Fault::NotText))?;
        let text = text.trim_end_matches(['\n', '\r']);
        checker.line(line, text).map_err(fault)?;
    }
    let what = match (line, checker.summary) {
        (0, _) => Fault::NoProof,
        (_, Some(summary)) => return Ok(summary),
        (_, None) => Fault::NoAnswer,
    };
    Err(Failure::Invalid(Invalid { line, what }))
}

#[derive(Default)]
struct Checker {
    formulas: FxHashMap<u32, Formula>,
    /// The one that lines are about.
    current: u32,
    counts: Summary,
    /// Of the answer, which is the last line.
    summary: Option<Summary>,
}

impl Checker {
    fn line(&mut self, number: u64, text: &str) -> Result<(), Fault> {
        if number == 1 {
            return match text == HEADER {
                true => Ok(()),
                false => Err(Fault::NoProof),
            };
        }
        if self.summary.is_some() {
            return Err(Fault::AfterAnswer);
        }
        let mut words = Words::new(text);
        let kind = words.next().unwrap_or_default();
        match kind {
            "c" => return Ok(()),
            "f" => {
                self.current = words.number()?;
                self.formulas.entry(self.current).or_default();
                return words.end();
            }
            "v" => {
                self.summary = Some(self.answer(words)?);
                return Ok(());
            }
            _ => {}
        }
        let formula = self.formulas.get_mut(&self.current);
        let formula = formula.ok_or(Fault::NoFormula)?;
        let counts = &mut self.counts;
        match kind {
            "i" => {
                counts.clauses += 1;
                formula.add(words.literals()?);
            }
            "x" => {
                counts.trusted += 1;
                formula.add(words.literals()?);
            }
            "l" => {
                counts.learnt += 1;
                formula.learn(words.literals()?)?;
            }
            "t" => {
                counts.lemmas += 1;
                let clause = words.literals()?;
                let graph = words.number()?;
                let cycle = words.numbers()?;
                return formula.lemma(clause, graph, &cycle);
            }
            "d" => {
                counts.deleted += 1;
                formula.delete(words.literals()?)?;
            }
            "n" => {
                counts.questions += 1;
                let name = words.next().ok_or(Fault::Short)?.to_owned();
                while !words.is_empty() {
                    formula.refuted(&words.literals()?)?;
                }
                formula.answer(name);
            }
            "g" | "e" | "k" | "o" | "r" | "w" => formula.fact(kind, &mut words)?,
            other => {
                return Err(Fault::UnknownLine {
                    kind: other.to_owned(),
                });
            }
        }
        words.end()
    }

    /// Is there all that the answer rests on?
    fn answer(&self, mut words: Words<'_>) -> Result<Summary, Fault> {
        let bound = words.next().ok_or(Fault::Short)?;
        let (is_complete, beyond) = match bound {
            "complete" => (true, &["cut"][..]),
            // Where nothing is cut at all, nothing is cut by other limits.
            "bounded" => (false, &["limit", "cut"][..]),
            other => {
                return Err(Fault::UnknownAnswer {
                    bound: other.to_owned(),
                });
            }
        };
        let formulas = words.numbers()?;
        let last = *formulas.last().ok_or(Fault::NothingAnswered)?;
        for &number in &formulas {
            let formula = self.formulas.get(&number);
            let formula = formula.ok_or(Fault::UnknownFormula { number })?;
            let beyond = if number == last { beyond } else { &[] };
            if let Some(question) = formula.unanswered(beyond) {
                return Err(Fault::Unanswered { number, question });
            }
        }
        Ok(Summary {
            is_complete,
            formulas: formulas.len(),
            ..self.counts
        })
    }
}
