//! Where machines that explore one search meet: a NATS server with JetStream.
//!
//! This crate knows messages, not searches. A *run* is a stream of its own, in which messages stay; workers are given those of some subjects one by one, and whoever has not
//! said that it is done with one loses it to another after a while ([`Delivery`]). What counts is written by an **atomic batch** with a condition
//! ([`Cluster::commit`]): all of its messages are in the stream or none, and at most one batch that has a message of a given name ever is. Large things that never change
//! are objects, named by their contents.
//!
//! Everything here waits for its answer, and goes on when the server is away for a while: callers have threads of their own.

mod access;
mod batch;
mod error;
mod objects;
mod reader;
mod runs;

pub use access::Access;
pub use batch::{Committed, Message};
pub use error::ClusterError;
pub use reader::{Reader, Stored};
pub use runs::{Delivery, RunInfo};

use async_nats::jetstream;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// A connection to a server that can do what is needed.
#[derive(Clone)]
pub struct Cluster {
    runtime: Arc<tokio::runtime::Runtime>,
    client: async_nats::Client,
    jetstream: jetstream::Context,
    /// The first words of all subjects.
    prefix: String,
}

/// A request is repeated if there is no answer for this long.
const PATIENCE: Duration = Duration::from_secs(5);
/// After something has gone wrong that may be over soon.
const PAUSE: Duration = Duration::from_millis(200);

impl Cluster {
    pub fn connect(access: &Access) -> Result<Self, ClusterError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("nats")
            .enable_all()
            .build()
            .map_err(|error| ClusterError::Local(error.to_string()))?;
        let client = runtime.block_on(access.connect())?;
        // It has a task of its own.
        let inside = runtime.enter();
        let jetstream = jetstream::ContextBuilder::new()
            .timeout(PATIENCE)
            .build(client.clone());
        drop(inside);
        let cluster = Self {
            runtime: Arc::new(runtime),
            client,
            jetstream,
            prefix: access.prefix.clone(),
        };
        cluster
            .wait(cluster.jetstream.query_account())
            .map_err(|error| ClusterError::NoJetStream {
                what: error.to_string(),
            })?;
        Ok(cluster)
    }

    fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// What the stream of a run is called.
    fn stream_name(&self, run: &str) -> String {
        format!("{}-{run}", self.plain_prefix())
    }

    /// The prefix, in names that may have no dots.
    fn plain_prefix(&self) -> String {
        self.prefix.replace('.', "_")
    }

    /// The subject of a message of a run.
    #[must_use]
    pub fn subject(&self, run: &str, name: &str) -> String {
        format!("{}.{run}.{name}", self.prefix)
    }
}
