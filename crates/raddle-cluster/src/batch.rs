//! Atomic batches (NATS's ADR-50): all messages are written or none, on a condition.

use crate::{Cluster, ClusterError, PATIENCE, PAUSE};
use async_nats::header::{
    NATS_BATCH_COMMIT, NATS_BATCH_COMMIT_FINAL, NATS_BATCH_ID, NATS_BATCH_SEQUENCE,
    NATS_EXPECTED_LAST_SUBJECT_SEQUENCE,
};
use async_nats::{Client, HeaderMap, Request};
use serde::Deserialize;

/// Something to be written into the stream of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The last words of its subject. No message of a run may have it yet.
    pub name: String,
    pub payload: String,
}

/// Has a batch been written?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Committed {
    Yes,
    /// There is another message with the name of the first one.
    Taken,
}

/// How the server answers a message that is published.
#[derive(Debug, Deserialize)]
struct Reply {
    error: Option<ApiError>,
}

#[derive(Debug, Deserialize)]
struct ApiError {
    err_code: u64,
    #[serde(default)]
    description: String,
}

/// What came of one attempt.
enum Attempt {
    Committed,
    /// There is a message with one of the names.
    Taken,
    /// Nobody can say: it may be written or not.
    Unknown,
    Refused(ApiError),
}

/// The error codes of the server that say what to do; others may be over soon.
mod code {
    pub(super) const WRONG_LAST_SEQUENCE: [u64; 2] = [10071, 10164];
    pub(super) const FOR_GOOD: [u64; 6] = [
        10054, // larger than the server takes
        10059, // no such stream
        10174, // atomic batches are turned off
        10199, // too many messages
        10109, // sealed
        10110, // purged, or another policy
    ];
    pub(super) const NO_STREAM: u64 = 10059;
}

impl Cluster {
    /// Writes all of these, unless there is a message with the name of one of them. Goes on trying while the server is away.
    pub fn commit(&self, run: &str, messages: &[Message]) -> Result<Committed, ClusterError> {
        let most = self.client.max_payload();
        if let Some(large) = messages.iter().find(|it| it.payload.len() + 1024 > most) {
            let bytes = large.payload.len();
            return Err(ClusterError::TooLarge { bytes, most });
        }
        let first = &messages[0];
        loop {
            match self.wait(self.attempt(run, messages)) {
                Attempt::Committed => return Ok(Committed::Yes),
                Attempt::Unknown => std::thread::sleep(PAUSE),
                Attempt::Taken => {
                    // An attempt whose answer was lost may have been ours.
                    return match self.message(run, &first.name)? {
                        Some(stored) if stored == first.payload.as_bytes() => Ok(Committed::Yes),
                        Some(_) => Ok(Committed::Taken),
                        None => Err(ClusterError::Refused {
                            what: format!("there is a message that run `{run}` has yet to write"),
                        }),
                    };
                }
                Attempt::Refused(error) if error.err_code == code::NO_STREAM => {
                    return Err(ClusterError::NoRun {
                        run: run.to_owned(),
                    });
                }
                Attempt::Refused(error) if code::FOR_GOOD.contains(&error.err_code) => {
                    return Err(ClusterError::Refused {
                        what: format!("{} ({})", error.description, error.err_code),
                    });
                }
                // Too many batches at once, no disk space, no leader yet…
                Attempt::Refused(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    async fn attempt(&self, run: &str, messages: &[Message]) -> Attempt {
        let id = self.client.new_inbox();
        let id: String = id.chars().rev().take(22).collect();
        let last = messages.len();
        let mut refused = None;
        for (index, message) in messages.iter().enumerate() {
            let sequence = index + 1;
            let mut headers = HeaderMap::new();
            headers.insert(NATS_BATCH_ID, id.as_str());
            headers.insert(NATS_BATCH_SEQUENCE, sequence.to_string());
            headers.insert(NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, "0");
            if sequence == last {
                headers.insert(NATS_BATCH_COMMIT, NATS_BATCH_COMMIT_FINAL);
            }
            let subject = self.subject(run, &message.name);
            let payload = message.payload.clone().into_bytes();
            if sequence != 1 && sequence != last {
                let sent = self
                    .client
                    .publish_with_headers(subject, headers, payload.into());
                if sent.await.is_err() {
                    return Attempt::Unknown;
                }
                continue;
            }
            match ask(&self.client, subject, headers, payload).await {
                Some(Reply { error: None }) => {}
                Some(Reply { error: Some(error) }) => {
                    refused = Some(error);
                    break;
                }
                None => return Attempt::Unknown,
            }
        }
        match refused {
            None => Attempt::Committed,
            Some(error) if code::WRONG_LAST_SEQUENCE.contains(&error.err_code) => Attempt::Taken,
            Some(error) => Attempt::Refused(error),
        }
    }
}

/// None: there is no answer. One that says nothing is that to a message in the middle of a batch.
async fn ask(
    client: &Client,
    subject: String,
    headers: HeaderMap,
    payload: Vec<u8>,
) -> Option<Reply> {
    let request = Request::new()
        .headers(headers)
        .payload(payload.into())
        .timeout(Some(PATIENCE));
    let reply = client.send_request(subject, request).await.ok()?;
    match reply.payload.is_empty() {
        true => Some(Reply { error: None }),
        false => serde_json::from_slice(&reply.payload).ok(),
    }
}
