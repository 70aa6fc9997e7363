//! What refutations rest on, written down while they are found: docs/proofs.md has the format.
//!
//! A file holds the formulas of one answer. Their lines may alternate, since formulas take turns; whoever checks them is told of
//! every change. Nothing in here decides anything: what is written is what the solver did, and `raddle-proof` judges it.

use crate::lit::Lit;
use crate::order::{EventId, GraphId, GraphSet};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Of a formula, in the order in which they were begun; the first is 1.
pub type FormulaNumber = u32;

/// Where a clause comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Origin {
    /// It is part of the formula.
    #[default]
    Given,
    /// It follows from what is there by unit propagation.
    Derived,
    /// Another procedure says so, which is not written down.
    Trusted,
}

/// Why the theory excludes that some literals hold together: a cycle of nodes, each of which is a class's first event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    pub graph: u8,
    pub cycle: Vec<u32>,
}

/// A file that proofs are written to. Clones write to the same one.
#[derive(Clone)]
pub struct ProofFile(Arc<Mutex<Inner>>);

struct Inner {
    out: Box<dyn Write + Send>,
    formulas: FormulaNumber,
    current: FormulaNumber,
    /// The first thing that went wrong; nothing is written after it.
    failed: Option<io::Error>,
    line: Vec<u8>,
}

impl ProofFile {
    pub fn new(out: impl Write + Send + 'static) -> Self {
        let file = Self(Arc::new(Mutex::new(Inner {
            out: Box::new(out),
            formulas: 0,
            current: 0,
            failed: None,
            line: Vec::new(),
        })));
        file.with(|inner| inner.write(|line| line.extend_from_slice(b"raddle-proof 1")));
        file
    }

    /// A line that nobody checks.
    pub fn comment(&self, text: &str) {
        let text = text.replace('\n', " ");
        self.with(|inner| {
            inner.write(|line| {
                line.extend_from_slice(b"c ");
                line.extend_from_slice(text.as_bytes());
            });
        });
    }

    /// A formula whose lines go to this file.
    #[must_use]
    pub fn formula(&self) -> Proof {
        let number = self.with(|inner| {
            inner.formulas += 1;
            inner.formulas
        });
        let mut proof = Proof {
            file: self.clone(),
            number,
            origin: Origin::Given,
        };
        // The constant is a variable like others.
        proof.clause(&[Lit::TRUE]);
        proof
    }

    /// The answer rests on all questions of these formulas. `is_complete`: nothing is beyond the last one.
    pub fn answer(&self, is_complete: bool, formulas: &[FormulaNumber]) {
        self.with(|inner| {
            inner.write(|line| {
                let bound: &[u8] = if is_complete {
                    b"v complete"
                } else {
                    b"v bounded"
                };
                line.extend_from_slice(bound);
                for &formula in formulas {
                    number(line, formula);
                }
            });
        });
    }

    /// Everything is in the file, or this is why it is not.
    pub fn finish(&self) -> io::Result<()> {
        self.with(|inner| match inner.failed.take() {
            Some(error) => Err(error),
            None => inner.out.flush(),
        })
    }

    fn with<R>(&self, f: impl FnOnce(&mut Inner) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Inner {
    fn write(&mut self, fill: impl FnOnce(&mut Vec<u8>)) {
        if self.failed.is_some() {
            return;
        }
        self.line.clear();
        fill(&mut self.line);
        self.line.push(b'\n');
        self.failed = self.out.write_all(&self.line).err();
    }
}

/// The part of a proof that is about one formula.
pub struct Proof {
    file: ProofFile,
    number: FormulaNumber,
    origin: Origin,
}

impl Proof {
    #[must_use]
    pub fn number(&self) -> FormulaNumber {
        self.number
    }

    /// Where clauses that are added from now on come from.
    pub(crate) fn set_origin(&mut self, origin: Origin) {
        self.origin = origin;
    }

    /// A clause that a caller adds.
    pub(crate) fn clause(&mut self, lits: &[Lit]) {
        let kind = match self.origin {
            Origin::Given => b"i",
            Origin::Derived => b"l",
            Origin::Trusted => b"x",
        };
        self.line(kind, |line| literals(line, lits));
    }

    pub(crate) fn learnt(&mut self, lits: &[Lit]) {
        self.line(b"l", |line| literals(line, lits));
    }

    pub(crate) fn lemma(&mut self, lits: &[Lit], why: &Certificate) {
        self.line(b"t", |line| {
            literals(line, lits);
            number(line, why.graph.into());
            why.cycle.iter().for_each(|&node| number(line, node));
        });
    }

    pub(crate) fn deleted(&mut self, lits: &[Lit]) {
        self.line(b"d", |line| literals(line, lits));
    }

    pub(crate) fn graph(&mut self) {
        self.line(b"g", |_| {});
    }

    pub(crate) fn event(&mut self, event: EventId, guard: Lit) {
        self.line(b"e", |line| {
            number(line, event.0);
            literal(line, guard);
        });
    }

    pub(crate) fn class(&mut self, graph: GraphId, events: &[EventId]) {
        self.line(b"k", |line| {
            number(line, graph.index());
            events.iter().for_each(|event| number(line, event.0));
        });
    }

    pub(crate) fn order(&mut self, graphs: GraphSet, from: EventId, to: EventId, lit: Lit) {
        self.line(b"o", |line| order(line, graphs, [from, to], lit));
    }

    pub(crate) fn reads_from(
        &mut self,
        graphs: GraphSet,
        from_reads: GraphSet,
        write: EventId,
        read: EventId,
        lit: Lit,
    ) {
        self.line(b"r", |line| {
            number(line, from_reads.mask());
            order(line, graphs, [write, read], lit);
        });
    }

    pub(crate) fn serialises(
        &mut self,
        graphs: GraphSet,
        first: EventId,
        second: EventId,
        lit: Lit,
    ) {
        self.line(b"w", |line| order(line, graphs, [first, second], lit));
    }

    /// A question is answered by no: the literals of none of these groups can hold together.
    pub fn no(&mut self, question: &str, groups: &[Vec<Lit>]) {
        self.line(b"n ", |line| {
            line.extend_from_slice(question.as_bytes());
            groups.iter().for_each(|group| literals(line, group));
        });
    }

    fn line(&mut self, kind: &[u8], fill: impl FnOnce(&mut Vec<u8>)) {
        let formula = self.number;
        self.file.with(|inner| {
            if inner.current != formula {
                inner.current = formula;
                inner.write(|line| {
                    line.push(b'f');
                    number(line, formula);
                });
            }
            inner.write(|line| {
                line.extend_from_slice(kind);
                fill(line);
            });
        });
    }
}

fn order(line: &mut Vec<u8>, graphs: GraphSet, events: [EventId; 2], lit: Lit) {
    number(line, graphs.mask());
    events.iter().for_each(|event| number(line, event.0));
    literal(line, lit);
}

fn literals(line: &mut Vec<u8>, lits: &[Lit]) {
    lits.iter().for_each(|&lit| literal(line, lit));
    line.extend_from_slice(b" 0");
}

/// Variables are counted from 1, so that 0 can end a list.
fn literal(line: &mut Vec<u8>, lit: Lit) {
    line.extend_from_slice(if lit.is_negated() { b" -" } else { b" " });
    digits(line, lit.var().0 + 1);
}

fn number(line: &mut Vec<u8>, value: u32) {
    line.push(b' ');
    digits(line, value);
}

fn digits(line: &mut Vec<u8>, mut value: u32) {
    let start = line.len();
    loop {
        line.push(b'0' + (value % 10) as u8);
        value /= 10;
        if value == 0 {
            break;
        }
    }
    line[start..].reverse();
}
