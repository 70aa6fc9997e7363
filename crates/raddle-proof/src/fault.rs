//! What can be wrong with a proof.

use std::fmt;

/// Where a proof is wrong, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Counted from 1.
    pub line: u64,
    pub what: Fault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    NoProof,
    NotText,
    Short,
    Long,
    NoNumber {
        word: String,
    },
    NoEnd,
    UnknownLine {
        kind: String,
    },
    UnknownAnswer {
        bound: String,
    },
    NoFormula,
    UnknownFormula {
        number: u32,
    },
    UnknownGraph {
        graph: u32,
    },
    UnknownEvent {
        event: u32,
    },
    EventNumber {
        event: u32,
        expected: u32,
    },
    /// A clause that is said to follow does not.
    DoesNotFollow,
    /// A step of a cycle that nothing orders.
    NoOrder {
        graph: u32,
        from: u32,
        to: u32,
    },
    NoCycle,
    NotThere,
    /// What is asked may be possible.
    NotRefuted,
    NothingAnswered,
    Unanswered {
        number: u32,
        question: &'static str,
    },
    AfterAnswer,
    NoAnswer,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProof => {
                f.write_str("this is no proof of Raddle (the first line must be `raddle-proof 1`)")
            }
            Self::NotText => f.write_str("not text"),
            Self::Short => f.write_str("the line is too short"),
            Self::Long => f.write_str("the line goes on after its end"),
            Self::NoNumber { word } => write!(f, "`{word}` is not a number that can stand here"),
            Self::NoEnd => f.write_str("a list of literals does not end in 0"),
            Self::UnknownLine { kind } => write!(f, "a line cannot begin with `{kind}`"),
            Self::UnknownAnswer { bound } => write!(f, "an answer cannot be `{bound}`"),
            Self::NoFormula => f.write_str("no formula has been begun"),
            Self::UnknownFormula { number } => write!(f, "there is no formula {number}"),
            Self::UnknownGraph { graph } => write!(f, "there is no graph {graph}"),
            Self::UnknownEvent { event } => write!(f, "there is no event {event}"),
            Self::EventNumber { event, expected } => {
                write!(
                    f,
                    "event {event} is out of turn: the next one is {expected}"
                )
            }
            Self::DoesNotFollow => {
                f.write_str("the clause does not follow from those before it by unit propagation")
            }
            Self::NoOrder { graph, from, to } => write!(
                f,
                "in graph {graph}, nothing orders {from} before {to} where the clause is false"
            ),
            Self::NoCycle => f.write_str("the lemma has no cycle"),
            Self::NotThere => f.write_str("the clause that is deleted is not there"),
            Self::NotRefuted => {
                f.write_str("what is asked is not refuted: unit propagation finds no contradiction")
            }
            Self::NothingAnswered => f.write_str("the answer rests on no formula"),
            Self::Unanswered { number, question } => {
                write!(
                    f,
                    "question `{question}` of formula {number} is not answered"
                )
            }
            Self::AfterAnswer => f.write_str("something follows the answer"),
            Self::NoAnswer => f.write_str("the file ends before an answer"),
        }
    }
}
