//! All messages of a run, in the order in which they were written.

use crate::runs::{Missing, missing, stream_missing};
use crate::{Cluster, ClusterError, PATIENCE};
use async_nats::jetstream::consumer::{self, AckPolicy, DeliverPolicy, PullConsumer};
use async_nats::jetstream::stream;
use futures_util::StreamExt;
use std::time::{Duration, Instant};

/// A message of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The last words of its subject.
    pub name: String,
    pub payload: Vec<u8>,
    pub sequence: u64,
}

/// Reads a run from its beginning, and what is written meanwhile.
pub struct Reader {
    cluster: Cluster,
    run: String,
    /// What to read next.
    next: u64,
    consumer: Option<PullConsumer>,
    /// The last message that the consumer gave; a gap means that some are lost.
    last_given: u64,
    missing_since: Option<Instant>,
}

const AT_ONCE: usize = 500;
/// The server forgets a consumer that nobody uses for this long.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);
const TIME_TO_START: Duration = Duration::from_secs(10);

impl Cluster {
    #[must_use]
    pub fn reader(&self, run: &str) -> Reader {
        Reader {
            cluster: self.clone(),
            run: run.to_owned(),
            next: 1,
            consumer: None,
            last_given: 0,
            missing_since: None,
        }
    }
}

impl Reader {
    /// What has been written since, waiting so long for something. Nothing if the server is away.
    pub fn read(&mut self, wait: Duration) -> Result<Vec<Stored>, ClusterError> {
        let cluster = self.cluster.clone();
        let mut stored = Vec::new();
        let fetched = cluster.wait(self.fetch(wait, &mut stored));
        match fetched {
            Ok(()) => self.missing_since = None,
            Err(problem) => {
                self.consumer = None;
                match problem {
                    Missing::Server => self.missing_since = None,
                    Missing::Run => {
                        let since = *self.missing_since.get_or_insert_with(Instant::now);
                        if since.elapsed() > TIME_TO_START {
                            return Err(ClusterError::NoRun {
                                run: self.run.clone(),
                            });
                        }
                    }
                }
                if stored.is_empty() {
                    std::thread::sleep(wait.min(crate::PAUSE));
                }
            }
        }
        Ok(stored)
    }

    /// Has everything been read that is there now?
    pub fn is_at_end(&mut self) -> Result<bool, ClusterError> {
        let cluster = self.cluster.clone();
        let last = cluster.wait(async {
            let stream = self.stream().await?;
            let info = stream.get_info().await.map_err(|_| Missing::Server)?;
            Ok(info.state.last_sequence)
        });
        Ok(match last {
            Ok(last) => self.next > last,
            Err(Missing::Server | Missing::Run) => false,
        })
    }

    async fn stream(&self) -> Result<stream::Stream<()>, Missing> {
        let name = self.cluster.stream_name(&self.run);
        let stream = self.cluster.jetstream.get_stream_no_info(name).await;
        stream.map_err(|error| stream_missing(&error))
    }

    async fn fetch(&mut self, wait: Duration, stored: &mut Vec<Stored>) -> Result<(), Missing> {
        let consumer = match self.consumer.take() {
            Some(consumer) => consumer,
            None => {
                self.last_given = 0;
                let config = consumer::pull::Config {
                    deliver_policy: DeliverPolicy::ByStartSequence {
                        start_sequence: self.next,
                    },
                    ack_policy: AckPolicy::None,
                    inactive_threshold: FORGOTTEN_AFTER,
                    memory_storage: true,
                    ..consumer::pull::Config::default()
                };
                let made = self.stream().await?.create_consumer(config).await;
                made.map_err(|error| match error.kind() {
                    stream::ConsumerErrorKind::JetStream(error) => missing(error.error_code()),
                    _ => Missing::Server,
                })?
            }
        };
        // One that may have to be waited for, and then all that are there.
        let first = consumer.batch().max_messages(1).expires(wait).messages();
        let first = first.await.map_err(|_| Missing::Server)?;
        self.take(first, wait + PATIENCE, stored).await?;
        if !stored.is_empty() {
            let others = consumer.fetch().max_messages(AT_ONCE).messages();
            let others = others.await.map_err(|_| Missing::Server)?;
            self.take(others, PATIENCE, stored).await?;
        }
        self.consumer = Some(consumer);
        Ok(())
    }

    /// Takes the messages of a batch to its end.
    async fn take(
        &mut self,
        mut batch: consumer::pull::Batch,
        patience: Duration,
        stored: &mut Vec<Stored>,
    ) -> Result<(), Missing> {
        let start = self.cluster.subject(&self.run, "");
        loop {
            let message = match tokio::time::timeout(patience, batch.next()).await {
                Ok(Some(message)) => message.map_err(|_| Missing::Server)?,
                Ok(None) => return Ok(()),
                Err(_) => return Err(Missing::Server),
            };
            let info = message.info().map_err(|_| Missing::Server)?;
            if info.consumer_sequence != self.last_given + 1 {
                return Err(Missing::Server);
            }
            self.last_given = info.consumer_sequence;
            self.next = info.stream_sequence + 1;
            let name = message.subject.strip_prefix(&start);
            stored.push(Stored {
                name: name.unwrap_or(&message.subject).to_owned(),
                payload: message.payload.to_vec(),
                sequence: info.stream_sequence,
            });
        }
    }
}
