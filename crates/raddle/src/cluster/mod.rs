//! `raddle check --cluster`, `raddle worker` and `raddle cluster`: one search on many machines, which meet on a NATS server (docs/cluster.md).
//!
//! | part | what it does |
//! |---|---|
//! | [`args`] | what can be typed |
//! | `recipe` | how the program is made of its IR, and how it is searched: all that a worker needs |
//! | `record` | messages: what is in the stream of a run |
//! | `ledger` | what a stream says: what was made, what is done, what is left |
//! | `crew` | for whoever asked: hands out pieces, hears what is done |
//! | `worker` | explores pieces |
//! | `admin` | `raddle cluster status`, `cancel`, `clean` |
//!
//! A build without feature `cluster` knows the options, and says what to type.

pub mod args;

#[cfg(feature = "cluster")]
mod admin;
#[cfg(feature = "cluster")]
mod crew;
#[cfg(feature = "cluster")]
mod ledger;
#[cfg(feature = "cluster")]
mod recipe;
#[cfg(feature = "cluster")]
mod record;
#[cfg(feature = "cluster")]
mod worker;

#[cfg(feature = "cluster")]
pub(crate) use crew::{attached_args, explore_with};
#[cfg(feature = "cluster")]
pub use {admin::admin, worker::work};

#[cfg(not(feature = "cluster"))]
pub use without::{admin, work};
#[cfg(not(feature = "cluster"))]
pub(crate) use without::{attached_args, explore_with};

/// A build that cannot.
#[cfg(not(feature = "cluster"))]
mod without {
    use super::args::{ClusterArgs, ClusterCommand, WorkerArgs};
    use crate::Status;
    use crate::cli::CheckArgs;
    use crate::error::Error;
    use crate::load::Loaded;
    use crate::options::Options;
    use crate::supervise::Job;
    use raddle_search::driver::EngineOptions;
    use std::sync::atomic::AtomicBool;

    pub fn work(_: WorkerArgs, _: &AtomicBool) -> Result<Status, Error> {
        Err(Error::WithoutCluster)
    }

    pub fn admin(_: &ClusterCommand) -> Result<Status, Error> {
        Err(Error::WithoutCluster)
    }

    pub(crate) fn attached_args(_: &ClusterArgs) -> Result<CheckArgs, Error> {
        Err(Error::WithoutCluster)
    }

    pub(crate) fn explore_with<T>(
        options: &Options,
        _: &Loaded,
        _: &Job,
        engine_options: EngineOptions,
        check: impl FnOnce(EngineOptions) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match &options.cluster {
            Some(_) => Err(Error::WithoutCluster),
            None => check(engine_options),
        }
    }
}

#[cfg(feature = "cluster")]
impl From<raddle_cluster::ClusterError> for crate::error::Error {
    fn from(error: raddle_cluster::ClusterError) -> Self {
        Self::Cluster {
            what: error.to_string(),
            hint: error.hint().map(str::to_owned),
        }
    }
}

/// Something is wrong with a run.
#[cfg(feature = "cluster")]
fn problem(what: impl Into<String>, hint: Option<&str>) -> crate::error::Error {
    crate::error::Error::Cluster {
        what: what.into(),
        hint: hint.map(str::to_owned),
    }
}

#[cfg(feature = "cluster")]
fn connect(
    args: &args::AccessArgs,
    servers: &str,
) -> Result<raddle_cluster::Cluster, crate::error::Error> {
    Ok(raddle_cluster::Cluster::connect(&args.access(servers))?)
}
