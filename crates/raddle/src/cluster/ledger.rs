//! What the stream of a run says. Whoever reads all of it knows what was made, what is done, and so when all is done.
//!
//! Only pieces count that somebody has said to have made: those named where a round begins, and those that are left of a piece that counts. So a message that was put into the stream by somebody else, or a
//! second time, changes nothing but that it is told of.

use super::record::{self, Begin, DoneLine, End, Found, Name, Unreadable};
use raddle_cluster::{Cluster, Stored};
use raddle_search::parallel::{Done, Ending, Piece, Place, share_of, start};
use std::collections::{BTreeMap, BTreeSet};

/// A round of a search.
pub(super) struct Round {
    pub(super) begin: Begin,
    /// What was made and is not done: where it begins, and how much of the tree it is.
    open: BTreeMap<String, Option<(Place, f64)>>,
    pub(super) made: usize,
    pub(super) done: usize,
    /// Executions that were counted since the round began.
    pub(super) executions: u64,
    /// Nothing that begins behind this place counts.
    bound: Option<Place>,
    /// The round cannot be finished in pieces.
    has_failed: bool,
}

/// What a stream says.
#[derive(Default)]
pub(super) struct Ledger {
    pub(super) rounds: BTreeMap<u32, Round>,
    pub(super) end: Option<End>,
    /// Records of pieces that nobody had made: whoever makes one of these could not say that it is done.
    taken: BTreeSet<(u32, String)>,
}

/// What somebody who reads a stream learns from a message.
pub(super) enum Event {
    Nothing,
    /// A piece of this round is done.
    Done(u32, Done),
    /// None of Raddle's, or none that counts: to be told of.
    Foreign(String),
    /// A message that is needed cannot be read.
    Broken(String),
}

impl Round {
    fn new(begin: Begin) -> Self {
        Self {
            open: begin.made.iter().map(|name| (name.clone(), None)).collect(),
            made: begin.made.len(),
            begin,
            done: 0,
            executions: 0,
            bound: None,
            has_failed: false,
        }
    }

    fn counts(&self, place: &Option<(Place, f64)>) -> bool {
        match (&self.bound, place) {
            (Some(bound), Some((start, _))) => start <= bound,
            _ => true,
        }
    }

    /// How many pieces are left.
    pub(super) fn left(&self) -> usize {
        self.open.values().filter(|it| self.counts(it)).count()
    }

    /// Is nothing left: are all pieces done that count?
    pub(super) fn is_over(&self) -> bool {
        self.has_failed || self.left() == 0
    }

    /// How much has been explored, as far as the shape of the tree tells.
    pub(super) fn explored(&self) -> f64 {
        let left = self.open.values().filter(|it| self.counts(it)).flatten();
        (1.0 - left.map(|(_, share)| share).sum::<f64>()).clamp(0.0, 1.0)
    }

    fn piece(&mut self, name: &str, interval: &[Piece]) {
        if let Some(place) = self.open.get_mut(name) {
            *place = Some((start(interval), share_of(interval)));
        }
    }

    fn done(&mut self, name: &str, line: &DoneLine, done: &Done) {
        self.open.remove(name);
        self.done += 1;
        self.executions += done.part.complete + done.part.blocked;
        for name in &line.made {
            self.open.insert(name.clone(), None);
            self.made += 1;
        }
        match done.ending {
            Ending::Explored => {}
            Ending::Found | Ending::Kinds => {
                let start = &done.part.start;
                if self.bound.as_ref().is_none_or(|bound| start < bound) {
                    self.bound = Some(start.clone());
                }
            }
            Ending::Indivisible | Ending::Diverged => self.has_failed = true,
        }
    }
}

impl Ledger {
    pub(super) fn read(&mut self, cluster: &Cluster, stored: &Stored) -> Event {
        let event = self.understand(cluster, stored);
        let is_taken = |(number, name): &&(u32, String)| {
            let round = self.rounds.get(number);
            round.is_some_and(|round| round.open.contains_key(name))
        };
        match self.taken.iter().find(is_taken) {
            Some((number, name)) => Event::Broken(format!(
                "there was a message `{number}.done.{name}` before that piece was made, which is none of Raddle's"
            )),
            None => event,
        }
    }

    fn understand(&mut self, cluster: &Cluster, stored: &Stored) -> Event {
        let told = |what: &dyn std::fmt::Display| {
            format!(
                "message {} of the stream (`{}`): {what}",
                stored.sequence, stored.name
            )
        };
        let Some(name) = Name::parse(&stored.name) else {
            return Event::Foreign(told(&"it is none of Raddle's, and does not count"));
        };
        let read = match name {
            Name::End => record::line(&stored.payload).map(|end| {
                self.end = Some(end);
                Event::Nothing
            }),
            Name::Begin(round) => record::begin(&stored.payload).map(|begin| {
                self.rounds.insert(round, Round::new(begin));
                Event::Nothing
            }),
            Name::Found(_) => record::line::<Found>(&stored.payload).map(|_| Event::Nothing),
            Name::Piece(round, name) => match self.open(round, name) {
                Some(round) => record::interval(cluster, &stored.payload).map(|interval| {
                    round.piece(name, &interval);
                    Event::Nothing
                }),
                None => Ok(Event::Foreign(told(
                    &"nobody has made this piece; it does not count",
                ))),
            },
            Name::Done(number, name) => match self.open(number, name) {
                Some(round) => done(cluster, &stored.payload).map(|(line, done)| {
                    round.done(name, &line, &done);
                    Event::Done(number, done)
                }),
                None => {
                    self.taken.insert((number, name.to_owned()));
                    Ok(Event::Foreign(told(
                        &"it is about a piece that nobody has made, or that is done; it does not count",
                    )))
                }
            },
        };
        read.unwrap_or_else(|what| Event::Broken(told(&what)))
    }

    /// The round, if this piece of it is to be done.
    fn open(&mut self, round: u32, name: &str) -> Option<&mut Round> {
        let round = self.rounds.get_mut(&round)?;
        round.open.contains_key(name).then_some(round)
    }
}

fn done(cluster: &Cluster, payload: &[u8]) -> Result<(DoneLine, Done), Unreadable> {
    let line: DoneLine = record::line(payload)?;
    let saved = record::saved(cluster, payload)?;
    let known = Ending::ALL.iter().find(|(_, name)| *name == line.ending);
    let (Some(&(ending, _)), [part]) = (known, &saved.parts[..]) else {
        return Err(Unreadable::Damaged);
    };
    let done = Done {
        part: part.clone(),
        ending,
        worker: line.worker.clone(),
        entries: saved.journal.entries,
    };
    Ok((line, done))
}
