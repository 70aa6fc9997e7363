//! Runs: a stream each, and a consumer that gives its pieces to workers.

use crate::{Cluster, ClusterError, PAUSE};
use async_nats::jetstream::consumer::{self, AckPolicy, PullConsumer};
use async_nats::jetstream::{AckKind, ErrorCode, context, message, stream};
use futures_util::StreamExt;
use std::time::{Duration, Instant};

/// How many messages of a run wait for whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunInfo {
    /// Nobody has been given them.
    pub pending: u64,
    /// Somebody has, and is not done.
    pub taken: u64,
    /// Those who wait for one.
    pub waiting: u64,
}

/// A message that somebody was given.
pub struct Delivery {
    /// The last words of its subject.
    pub name: String,
    pub payload: Vec<u8>,
    /// Its place in the stream.
    pub sequence: u64,
    /// So often it has been given to somebody, this time included.
    pub deliveries: u64,
    acker: message::Acker,
}

const CONSUMER: &str = "workers";
/// No stream may be missing for longer than it takes a server to start.
const TIME_TO_START: Duration = Duration::from_secs(10);

impl Cluster {
    /// Makes a stream for a run. Messages of these names (`*` is any word) are given to workers, each of which may keep one for `lease` without saying anything.
    pub fn create_run(
        &self,
        run: &str,
        description: &str,
        given: &str,
        lease: Duration,
    ) -> Result<(), ClusterError> {
        let config = stream::Config {
            name: self.stream_name(run),
            description: Some(description.to_owned()),
            subjects: vec![self.subject(run, ">")],
            allow_direct: true,
            allow_atomic_publish: true,
            // Nobody relies on ids of messages.
            duplicate_window: Duration::from_millis(100),
            ..stream::Config::default()
        };
        let workers = consumer::pull::Config {
            durable_name: Some(CONSUMER.to_owned()),
            filter_subject: self.subject(run, given),
            ack_policy: AckPolicy::Explicit,
            ack_wait: lease,
            max_waiting: 100_000,
            max_ack_pending: 1_000_000,
            ..consumer::pull::Config::default()
        };
        let made = self.wait(async {
            let stream = self.jetstream.create_stream(config).await;
            let stream = stream.map_err(|error| error.to_string())?;
            let consumer = stream.create_consumer(workers).await;
            consumer.map(drop).map_err(|error| error.to_string())
        });
        made.map_err(|what| ClusterError::Refused { what })
    }

    /// The names of all runs, in order.
    pub fn runs(&self) -> Result<Vec<String>, ClusterError> {
        let start = format!("{}-", self.plain_prefix());
        let names = self.wait(async {
            let mut names = Vec::new();
            let mut all = self.jetstream.stream_names();
            while let Some(name) = all.next().await {
                let name = name.map_err(|error| error.to_string())?;
                names.extend(name.strip_prefix(&start).map(str::to_owned));
            }
            Ok(names)
        });
        let mut names = names.map_err(|what: String| ClusterError::Refused { what })?;
        names.sort();
        Ok(names)
    }

    pub fn delete_run(&self, run: &str) -> Result<(), ClusterError> {
        match self.wait(self.jetstream.delete_stream(self.stream_name(run))) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.why(run, &error)),
        }
    }

    /// Asks until there is an answer. Only a server that has been up for a while can say that something is not there.
    fn insist<T>(
        &self,
        run: &str,
        mut attempt: impl AsyncFnMut() -> Result<T, Missing>,
    ) -> Result<T, ClusterError> {
        let mut missing_since = None;
        loop {
            match self.wait(attempt()) {
                Ok(done) => return Ok(done),
                Err(Missing::Run) => {
                    let since = *missing_since.get_or_insert_with(Instant::now);
                    if since.elapsed() > TIME_TO_START {
                        return Err(ClusterError::NoRun {
                            run: run.to_owned(),
                        });
                    }
                }
                Err(Missing::Server) => missing_since = None,
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Is there such a run?
    pub fn has_run(&self, run: &str) -> Result<bool, ClusterError> {
        Ok(self.runs()?.iter().any(|it| it == run))
    }

    /// The message of a run that has this name.
    pub fn message(&self, run: &str, name: &str) -> Result<Option<Vec<u8>>, ClusterError> {
        self.insist(run, async || self.last(run, name).await)
    }

    /// The last message of a run that has such a name (`*` is any word), unless the server is away.
    #[must_use]
    pub fn peek(&self, run: &str, name: &str) -> Option<Vec<u8>> {
        self.wait(self.last(run, name)).ok().flatten()
    }

    async fn last(&self, run: &str, name: &str) -> Result<Option<Vec<u8>>, Missing> {
        let subject = self.subject(run, name);
        let stream = self
            .jetstream
            .get_stream_no_info(self.stream_name(run))
            .await;
        let stream = stream.map_err(|error| stream_missing(&error))?;
        match stream.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => Ok(Some(message.payload.to_vec())),
            Err(error) => match error.kind() {
                stream::LastRawMessageErrorKind::NoMessageFound => Ok(None),
                stream::LastRawMessageErrorKind::JetStream(error) => {
                    Err(missing(error.error_code()))
                }
                _ => Err(Missing::Server),
            },
        }
    }

    /// How many wait for whom, unless the server is away.
    #[must_use]
    pub fn info(&self, run: &str) -> Option<RunInfo> {
        self.wait(async {
            let consumer = self.consumer(run).await.ok()?;
            let info = consumer.cached_info();
            Some(RunInfo {
                pending: info.num_pending,
                taken: info.num_ack_pending as u64,
                waiting: info.num_waiting as u64,
            })
        })
    }

    async fn consumer(&self, run: &str) -> Result<PullConsumer, Missing> {
        let name = self.stream_name(run);
        let found = self
            .jetstream
            .get_consumer_from_stream(CONSUMER, name)
            .await;
        found.map_err(|error| match error.kind() {
            stream::ConsumerErrorKind::JetStream(error) => missing(error.error_code()),
            _ => Missing::Server,
        })
    }

    /// Waits so long for a piece. None: there was none, or the server is away.
    pub fn pull(&self, run: &str, wait: Duration) -> Result<Option<Delivery>, ClusterError> {
        let start = self.subject(run, "");
        let pulled = self.wait(async {
            let consumer = self.consumer(run).await?;
            let fetch = consumer.batch().max_messages(1).expires(wait).messages();
            let mut batch = fetch.await.map_err(|_| Missing::Server)?;
            // The server may go away with it.
            let next = tokio::time::timeout(wait + Duration::from_secs(2), batch.next());
            let Ok(Some(message)) = next.await else {
                return Ok(None);
            };
            let (message, acker) = message.map_err(|_| Missing::Server)?.split();
            let reply = message.reply.as_deref().unwrap_or_default();
            let (deliveries, sequence) = (reply_number(reply, 4), reply_number(reply, 5));
            Ok(Some(Delivery {
                name: message
                    .subject
                    .strip_prefix(&start)
                    .unwrap_or(&message.subject)
                    .to_owned(),
                payload: message.payload.to_vec(),
                sequence,
                deliveries,
                acker,
            }))
        });
        match pulled {
            Ok(delivery) => Ok(delivery),
            Err(Missing::Run) => Err(ClusterError::NoRun {
                run: run.to_owned(),
            }),
            Err(Missing::Server) => Ok(None),
        }
    }

    /// Nobody else need be given it any more. That may be lost; then somebody is, and finds out that it is done.
    pub fn done_with(&self, delivery: &Delivery) {
        let _ = self.wait(delivery.acker.ack());
        let _ = self.wait(self.client.flush());
    }

    /// Somebody else shall have it at once.
    pub fn give_back(&self, delivery: &Delivery) {
        let _ = self.wait(delivery.acker.ack_with(AckKind::Nak(None)));
        let _ = self.wait(self.client.flush());
    }

    /// Nobody can do anything with it.
    pub fn give_up(&self, delivery: &Delivery) {
        let _ = self.wait(delivery.acker.ack_with(AckKind::Term));
    }

    /// Somebody is still at it.
    pub fn renew(&self, delivery: &Delivery) {
        let _ = self.wait(delivery.acker.ack_with(AckKind::Progress));
    }

    fn why(&self, run: &str, error: &context::DeleteStreamError) -> ClusterError {
        match error.kind() {
            context::DeleteStreamErrorKind::JetStream(error)
                if error.error_code() == ErrorCode::STREAM_NOT_FOUND =>
            {
                ClusterError::NoRun {
                    run: run.to_owned(),
                }
            }
            _ => ClusterError::Refused {
                what: error.to_string(),
            },
        }
    }
}

/// What is away.
pub(crate) enum Missing {
    Run,
    Server,
}

pub(crate) fn missing(code: ErrorCode) -> Missing {
    match code {
        ErrorCode::STREAM_NOT_FOUND | ErrorCode::CONSUMER_NOT_FOUND => Missing::Run,
        _ => Missing::Server,
    }
}

pub(crate) fn stream_missing(error: &context::GetStreamError) -> Missing {
    match error.kind() {
        context::GetStreamErrorKind::JetStream(error) => missing(error.error_code()),
        _ => Missing::Server,
    }
}

/// A number in the subject for answers: `$JS.ACK.[DOMAIN.ACCOUNT.]STREAM.CONSUMER.DELIVERIES.STREAM_SEQUENCE.CONSUMER_SEQUENCE.TIME.PENDING[.TOKEN]`.
fn reply_number(reply: &str, word: usize) -> u64 {
    let words: Vec<&str> = reply.split('.').collect();
    let word = if words.len() > 9 { word + 2 } else { word };
    words.get(word).and_then(|it| it.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::reply_number;

    #[test]
    fn numbers_are_found_in_both_forms_of_the_subject() {
        let short = "$JS.ACK.raddle-1.workers.2.17.30.1700000000.5";
        let long = "$JS.ACK.hub.ACCOUNT.raddle-1.workers.2.17.30.1700000000.5.token";
        for reply in [short, long] {
            assert_eq!((reply_number(reply, 4), reply_number(reply, 5)), (2, 17));
        }
    }
}
