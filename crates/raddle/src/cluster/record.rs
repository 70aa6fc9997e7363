//! What is in the stream of a run. Each message is a line of JSON that says what it is, what a checkpoint would hold of it ([`Saved`]), and a checksum.
//!
//! | name | what |
//! |---|---|
//! | `K.begin` | round K of the search begins: how, and with which pieces |
//! | `K.piece.NAME` | an interval of the tree, to be explored |
//! | `K.done.NAME` | what came of it, and the names of what is left |
//! | `K.found.NAME` | nothing behind this place counts any more; for workers, who then need not explore it |
//! | `end` | the run is answered, or cancelled |
//!
//! A search has several rounds if it finds out something that makes it begin anew.

use super::recipe::Recipe;
use crate::checkpoint::digest;
use raddle_cluster::{Cluster, ClusterError};
use raddle_search::parallel::{Piece, Saved};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The format that this version writes.
pub(super) const FORMAT: u64 = 1;
pub(super) const RADDLE: &str = env!("CARGO_PKG_VERSION");
/// More than this is kept as an object.
const MOST_IN_MESSAGE: usize = 256 << 10;
const CHECKSUM: &str = "checksum ";

/// The names of messages that are given to workers.
pub(super) const GIVEN: &str = "*.piece.*";
pub(super) const END: &str = "end";

/// How a round begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Begin {
    pub(super) raddle_run: u64,
    /// The version of Raddle: another one may explore in another order.
    pub(super) raddle: String,
    /// The command line, from `check` on.
    pub(super) args: Vec<String>,
    pub(super) file: String,
    /// Objects: the IR, and what was known and counted when the round began.
    pub(super) program: String,
    pub(super) known: String,
    pub(super) recipe: Recipe,
    pub(super) lease: f64,
    pub(super) slice: f64,
    /// Names of pieces.
    pub(super) made: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PieceLine {
    pub(super) raddle_piece: u64,
    pub(super) raddle: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DoneLine {
    pub(super) raddle_done: u64,
    /// Who did it, and what it had told of the program before.
    pub(super) worker: String,
    pub(super) told: usize,
    pub(super) ending: String,
    /// Names of pieces: what is left.
    pub(super) made: Vec<String>,
}

/// Nothing behind this counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) ending: String,
    pub(super) place: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum End {
    Answered,
    Cancelled,
}

/// The name of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name<'a> {
    Begin(u32),
    Piece(u32, &'a str),
    Done(u32, &'a str),
    Found(u32),
    End,
}

impl<'a> Name<'a> {
    pub(super) fn parse(name: &'a str) -> Option<Self> {
        let words: Vec<&str> = name.split('.').collect();
        Some(match words[..] {
            [END] => Self::End,
            [round, "begin"] => Self::Begin(round.parse().ok()?),
            [round, "piece", name] => Self::Piece(round.parse().ok()?, name),
            [round, "done", name] => Self::Done(round.parse().ok()?, name),
            [round, "found", _] => Self::Found(round.parse().ok()?),
            _ => return None,
        })
    }
}

/// The name of the `index`-th of the pieces that are made of one piece, or of a round.
pub(super) fn piece_name(of: &str, index: usize) -> String {
    digest(&format!("{of}/{index}"))[..32].to_owned()
}

/// A message that nobody can make sense of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It has been changed, or was never one of Raddle's.
    Damaged,
    OtherVersion {
        found: String,
    },
    /// It refers to something that is not there.
    Object(String),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged => {
                f.write_str("it is none that Raddle has written (its checksum does not fit)")
            }
            Self::OtherVersion { found } => write!(
                f,
                "it is of Raddle {found}, and this is Raddle {RADDLE}, which may explore in another order"
            ),
            Self::Object(what) => f.write_str(what),
        }
    }
}

/// A message: its line, and what a checkpoint would hold.
pub(super) fn render(
    cluster: &Cluster,
    line: &impl Serialize,
    saved: &Saved,
) -> Result<String, ClusterError> {
    let line =
        serde_json::to_string(line).map_err(|error| ClusterError::Local(error.to_string()))?;
    let mut body = saved.render();
    if body.len() > MOST_IN_MESSAGE {
        body = format!("object {}\n", cluster.put_object(&body)?);
    }
    let text = format!("{line}\n{body}");
    Ok(format!("{text}{CHECKSUM}{}\n", digest(&text)))
}

/// The line and the rest of a message, if its checksum fits.
fn checked(payload: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(payload).ok()?;
    let at = text.rfind(CHECKSUM)?;
    let (text, checksum) = text.split_at(at);
    let checksum = checksum.strip_prefix(CHECKSUM)?.strip_suffix('\n')?;
    (checksum == digest(text)).then_some(())?;
    text.split_once('\n')
}

/// What a message says, without what it refers to.
pub(super) fn line<T: DeserializeOwned>(payload: &[u8]) -> Result<T, Unreadable> {
    let (line, _) = checked(payload).ok_or(Unreadable::Damaged)?;
    serde_json::from_str(line).map_err(|_| Unreadable::Damaged)
}

/// What a checkpoint would hold of a message.
pub(super) fn saved(cluster: &Cluster, payload: &[u8]) -> Result<Saved, Unreadable> {
    let (_, body) = checked(payload).ok_or(Unreadable::Damaged)?;
    let fetched;
    let body = match body.strip_prefix("object ") {
        Some(name) => {
            let object = cluster.object(name.trim());
            fetched = object.map_err(|error| Unreadable::Object(error.to_string()))?;
            &fetched
        }
        None => body,
    };
    body.parse().map_err(|_| Unreadable::Damaged)
}

/// The interval of a piece.
pub(super) fn interval(cluster: &Cluster, payload: &[u8]) -> Result<Vec<Piece>, Unreadable> {
    let piece: PieceLine = line(payload)?;
    if piece.raddle != RADDLE || piece.raddle_piece != FORMAT {
        let found = piece.raddle;
        return Err(Unreadable::OtherVersion { found });
    }
    let interval = saved(cluster, payload)?.pending;
    match interval.is_empty() {
        true => Err(Unreadable::Damaged),
        false => Ok(interval),
    }
}

/// The line of a piece.
pub(super) fn piece_line() -> PieceLine {
    PieceLine {
        raddle_piece: FORMAT,
        raddle: RADDLE.to_owned(),
    }
}

/// How a round of a run begins; an error if it is of another version.
pub(super) fn begin(payload: &[u8]) -> Result<Begin, Unreadable> {
    let any: serde_json::Value = line(payload)?;
    let version = any.get("raddle").and_then(|it| it.as_str());
    let format = any.get("raddle_run").and_then(|it| it.as_u64());
    match (version, format) {
        (Some(RADDLE), Some(FORMAT)) => {
            serde_json::from_value(any).map_err(|_| Unreadable::Damaged)
        }
        (Some(found), Some(_)) => Err(Unreadable::OtherVersion {
            found: found.to_owned(),
        }),
        _ => Err(Unreadable::Damaged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> String {
        let text = format!(
            "{}\npiece - 0 1 2\n",
            serde_json::to_string(&piece_line()).unwrap()
        );
        format!("{text}{CHECKSUM}{}\n", digest(&text))
    }

    #[test]
    fn messages_that_were_changed_are_refused() {
        let message = message();
        assert!(line::<PieceLine>(message.as_bytes()).is_ok());
        for at in 0..message.len() {
            let mut bytes = message.clone().into_bytes();
            bytes[at] ^= 1;
            assert!(line::<PieceLine>(&bytes).is_err(), "{at}");
            assert!(
                line::<PieceLine>(&message.as_bytes()[..at]).is_err(),
                "{at}"
            );
        }
        for bad in ["", "nonsense", "{}\n", "\u{0}\n\n"] {
            assert_eq!(line::<PieceLine>(bad.as_bytes()), Err(Unreadable::Damaged));
        }
    }

    #[test]
    fn names_are_what_they_were() {
        assert_eq!(Name::parse("3.begin"), Some(Name::Begin(3)));
        assert_eq!(Name::parse("0.done.ab"), Some(Name::Done(0, "ab")));
        assert_eq!(Name::parse("end"), Some(Name::End));
        for bad in ["", "0", "x.begin", "0.piece", "0.piece.a.b", "0.other.a"] {
            assert_eq!(Name::parse(bad), None, "{bad}");
        }
        assert_ne!(piece_name("a", 1), piece_name("a", 2));
        assert_eq!(piece_name("a", 1).len(), 32);
    }
}
