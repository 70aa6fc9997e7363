//! What is left of a search, as text: lines of words.
//!
//! | line | |
//! |---|---|
//! | `start KINDS STATE` | `main` starts in this state; `KINDS`: 1 if threads read the kinds of mutexes |
//! | `edge STATE VALUE STATE` | an edge was walked |
//! | `child STATE` | the state that the line before leads to starts a thread here |
//! | `learned COUNT RACES` | of the lines so far, uses were learned of so many; 1 if races were minded |
//! | `part PLACE COMPLETE BLOCKED CUT THREADS EVENTS ENDED CAUSE…` | what was counted; the last are by cause |
//! | `note PATH` | something was noted in the part of the line before |
//! | `piece PATH FIRST END OF` | what is left |
//! | `search ENGINE KNOWN FIRST NEXT EVENTS THREADS CUTS` | the search of an engine whose workers share the top of the tree: how many of the lines about states there were when it began, when others are asked about it ([`Milestones`]); 1 if a bound has cut threads short |
//! | `look COMPLETE …` | what an engine had counted before this one explores everything again, as in `part` |
//! | other lines | what is left of that search: `workers/kept.rs` of `dpor`, `rf` and `rvf` |
//!
//! A path is `RANK/OF.RANK/OF…`, a place `RANK.RANK…`, and `-` if there are none.

use crate::verdict::{BlockedCounts, EngineKind};
use raddle_judge::frame::Milestones;
use raddle_judge::piece::{Part, Piece, Turn};
use raddle_program::journal::{Entry, Journal};
use raddle_program::{Kinds, StateId};
use std::fmt::{self, Write};
use std::str::FromStr;

/// What is left of a search, and what was counted till then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    pub journal: Journal,
    pub pending: Vec<Piece>,
    pub parts: Vec<Part>,
    /// For engines whose workers share the top of the tree.
    pub shared: Option<Shared>,
}

/// What is left of a search whose workers share the top of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    pub engine: EngineKind,
    /// So many entries of the journal were there when the search began.
    pub known: usize,
    pub milestones: Milestones,
    /// Has a bound that was asked for cut threads short?
    pub has_cuts: bool,
    /// What another engine had counted, if everything is explored again.
    pub first_look: Option<Part>,
    /// The pieces, and what is above them.
    pub lines: Vec<String>,
}

/// What lines of such a search begin with.
const SHARED: [&str; 17] = [
    "node",
    "stage",
    "done",
    "next",
    "branch",
    "chained",
    "refused",
    "junction",
    "run",
    "step",
    "at",
    "alternative",
    "needs",
    "extra",
    "first",
    "begun",
    "outcomes",
];

/// A line that is none of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadCheckpoint {
    /// From 1, of the text that was given.
    pub line: usize,
}

impl fmt::Display for BadCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of its contents says nothing", self.line)
    }
}

impl std::error::Error for BadCheckpoint {}

fn joined<T>(items: &[T], word: impl Fn(&T) -> String) -> String {
    match items {
        [] => "-".to_owned(),
        _ => items.iter().map(word).collect::<Vec<_>>().join("."),
    }
}

fn path_words(path: &[Turn]) -> String {
    joined(path, |turn| format!("{}/{}", turn.rank, turn.of))
}

fn split<T>(word: &str, item: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    match word {
        "-" => Some(Vec::new()),
        _ => word.split('.').map(item).collect(),
    }
}

fn path(word: &str) -> Option<Vec<Turn>> {
    split(word, |turn| {
        let (rank, of) = turn.split_once('/')?;
        let (rank, of) = (rank.parse().ok()?, of.parse().ok()?);
        (rank < of).then_some(Turn { rank, of })
    })
}

impl Saved {
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = String::new();
        let number = |state: StateId| state.index();
        for entry in &self.journal.entries {
            let written = match *entry {
                Entry::Start { kinds, to } => {
                    let reads = u8::from(kinds == Kinds::Read);
                    writeln!(text, "start {reads} {}", number(to))
                }
                Entry::Edge { from, value, to } => {
                    writeln!(text, "edge {} {value} {}", number(from), number(to))
                }
                Entry::Child { start } => writeln!(text, "child {}", number(start)),
            };
            written.expect("a string takes everything");
        }
        if let Some((count, races)) = self.journal.learned {
            text.push_str(&format!("learned {count} {}\n", u8::from(races)));
        }
        for part in &self.parts {
            let start = joined(&part.start, u32::to_string);
            text.push_str(&format!("part {start} {}\n", counts_words(part)));
            for note in &part.notes {
                text.push_str(&format!("note {}\n", path_words(note)));
            }
        }
        for piece in &self.pending {
            let path = path_words(&piece.path);
            let (ranks, of) = (&piece.ranks, piece.of);
            text.push_str(&format!(
                "piece {path} {} {} {of}\n",
                ranks.start, ranks.end
            ));
        }
        if let Some(shared) = &self.shared {
            text.push_str(&shared.render());
        }
        text
    }

    /// Reads one line.
    fn line(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split(' ').collect();
        let (&kind, words) = words.split_first()?;
        match (kind, words) {
            ("start", [kinds, to]) => self.journal.entries.push(Entry::Start {
                kinds: match flag(kinds)? {
                    true => Kinds::Read,
                    false => Kinds::AsFound,
                },
                to: state(to)?,
            }),
            ("edge", [from, value, to]) => self.journal.entries.push(Entry::Edge {
                from: state(from)?,
                value: parsed(value)?,
                to: state(to)?,
            }),
            ("child", [start]) => {
                let start = state(start)?;
                self.journal.entries.push(Entry::Child { start });
            }
            ("learned", [count, races]) => {
                let count = parsed(count)?;
                if count > self.journal.entries.len() {
                    return None;
                }
                self.journal.learned = Some((count, flag(races)?));
            }
            ("part", [start, counts @ ..]) => {
                let start = split(start, |rank| rank.parse().ok())?;
                let counted = counts_of(counts)?;
                self.parts.push(Part { start, ..counted });
            }
            ("note", [word]) => self.parts.last_mut()?.notes.push(path(word)?),
            ("piece", [word, first, end, of]) => {
                let (first, end, of): (u32, u32, u32) = (parsed(first)?, parsed(end)?, parsed(of)?);
                let is_some = first < end && end <= of;
                let path = path(word)?;
                let is_whole = of == 0 && path.is_empty();
                if !is_some && !is_whole {
                    return None;
                }
                let ranks = first..end;
                self.pending.push(Piece { path, ranks, of });
            }
            ("search", words) => self.shared = Some(Shared::new(words)?),
            ("look", counts) => self.shared.as_mut()?.first_look = Some(counts_of(counts)?),
            (kind, _) if SHARED.contains(&kind) => {
                self.shared.as_mut()?.lines.push(line.to_owned());
            }
            _ => return None,
        }
        Some(())
    }
}

impl Shared {
    fn render(&self) -> String {
        let Milestones {
            first,
            next,
            events,
            threads,
        } = self.milestones;
        let (engine, known, cuts) = (self.engine.name(), self.known, u8::from(self.has_cuts));
        let milestones = format!("{first} {next} {events} {threads}");
        let mut text = format!("search {engine} {known} {milestones} {cuts}\n");
        if let Some(first) = &self.first_look {
            text.push_str(&format!("look {}\n", counts_words(first)));
        }
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    fn new(words: &[&str]) -> Option<Self> {
        let [engine, known, first, next, events, threads, cuts] = words else {
            return None;
        };
        let mut all = EngineKind::ALL.iter().copied();
        Some(Self {
            engine: all.find(|it| it.name() == *engine)?,
            known: parsed(known)?,
            milestones: Milestones {
                first: parsed(first)?,
                next: parsed(next)?,
                events: parsed(events)?,
                threads: parsed(threads)?,
            },
            has_cuts: flag(cuts)?,
            first_look: None,
            lines: Vec::new(),
        })
    }
}

fn counts_words(part: &Part) -> String {
    let causes = part.blocked_by.numbers().iter();
    let causes: String = causes.map(|count| format!(" {count}")).collect();
    format!(
        "{} {} {} {} {} {}{causes}",
        part.complete,
        part.blocked,
        part.cut,
        part.threads,
        part.max_events,
        u8::from(part.any_end),
    )
}

fn counts_of(words: &[&str]) -> Option<Part> {
    let [complete, blocked, cut, threads, events, ended, causes @ ..] = words else {
        return None;
    };
    let causes: Option<Vec<u64>> = causes.iter().map(|count| parsed(count)).collect();
    Some(Part {
        complete: parsed(complete)?,
        blocked: parsed(blocked)?,
        blocked_by: BlockedCounts::from_numbers(&causes?)?,
        cut: parsed(cut)?,
        threads: parsed(threads)?,
        max_events: parsed(events)?,
        any_end: flag(ended)?,
        ..Part::default()
    })
}

fn parsed<T: FromStr>(word: &str) -> Option<T> {
    word.parse().ok()
}

fn flag(word: &str) -> Option<bool> {
    match word {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

fn state(word: &str) -> Option<StateId> {
    let index: u32 = parsed(word)?;
    Some(StateId::from_index(index as usize))
}

impl FromStr for Saved {
    type Err = BadCheckpoint;

    fn from_str(text: &str) -> Result<Self, BadCheckpoint> {
        let mut saved = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            let read = saved.line(line);
            read.ok_or(BadCheckpoint { line: line_number })?;
        }
        Ok(saved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Saved {
        let turn = |rank, of| Turn { rank, of };
        let state = StateId::from_index;
        Saved {
            journal: Journal {
                entries: vec![
                    Entry::Start {
                        kinds: Kinds::AsFound,
                        to: state(0),
                    },
                    Entry::Edge {
                        from: state(0),
                        value: u64::MAX,
                        to: state(2),
                    },
                    Entry::Child { start: state(1) },
                    Entry::Start {
                        kinds: Kinds::Read,
                        to: state(3),
                    },
                ],
                learned: Some((2, true)),
            },
            pending: vec![
                Piece::behind(&[turn(0, 2), turn(3, 4)]),
                Piece {
                    path: Vec::new(),
                    ranks: 1..2,
                    of: 2,
                },
                Piece::whole(),
            ],
            parts: vec![
                Part {
                    complete: 7,
                    max_events: 9,
                    notes: vec![vec![turn(0, 2)], Vec::new()],
                    ..Part::default()
                },
                Part {
                    start: vec![0, 1],
                    any_end: true,
                    ..Part::default()
                },
            ],
            shared: None,
        }
    }

    #[test]
    fn what_is_left_of_a_shared_search_is_read() {
        let counted = Part {
            complete: 5,
            threads: 3,
            ..Part::default()
        };
        let saved = Saved {
            shared: Some(Shared {
                engine: EngineKind::Dpor,
                known: 3,
                milestones: Milestones {
                    first: 65536,
                    next: 1 << 19,
                    events: 7,
                    threads: 9,
                },
                has_cuts: true,
                first_look: Some(counted),
                lines: vec!["node 0 pending main -".to_owned()],
            }),
            ..sample()
        };
        let text = saved.render();
        assert_eq!(text.parse(), Ok(saved));
        let early: Result<Saved, _> = "node 0 pending main -\n".parse();
        assert_eq!(early, Err(BadCheckpoint { line: 1 }));
        for bad in [
            "search dpor 1 2 3 4 0",
            "search best 0 1 2 3 4 0",
            "look 1 2",
            "leaf 3",
        ] {
            let read: Result<Saved, _> = format!("{text}{bad}\n").parse();
            assert!(read.is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let saved = sample();
        assert_eq!(saved.render().parse(), Ok(saved));
    }

    #[test]
    fn other_lines_are_refused() {
        let text = sample().render();
        for bad in [
            "piece 0/2 1 1 2",
            "piece 2/2 0 1 2",
            "piece - 0 3 2",
            "learned 9 1",
            "part - 1 2 3",
            "edge 1 2",
            "start 2 0",
            "",
            "nonsense",
        ] {
            let read: Result<Saved, _> = format!("{text}{bad}\n").parse();
            let line = text.lines().count() + 1;
            assert_eq!(read, Err(BadCheckpoint { line }), "{bad}");
        }
        let early: Result<Saved, _> = "note 0/2\n".parse();
        assert_eq!(early, Err(BadCheckpoint { line: 1 }));
    }
}
