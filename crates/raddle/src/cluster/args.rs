//! What can be typed about clusters. Options that say who asks are named as in NATS's own tools, and so are the variables of the environment that stand for them.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Who asks, and how.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Access to the NATS server")]
pub struct AccessArgs {
    /// A credentials file (JWT and seed) [environment: NATS_CREDS]
    #[arg(long, value_name = "FILE")]
    pub creds: Option<PathBuf>,

    /// A file with the seed of an NKey [environment: NATS_NKEY]
    #[arg(long, value_name = "FILE")]
    pub nkey: Option<PathBuf>,

    /// A user, or without password a token [environment: NATS_USER]
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,

    /// The user's password [environment: NATS_PASSWORD]
    #[arg(long, value_name = "PASSWORD")]
    pub password: Option<String>,

    /// TLS: certificates of authorities to trust [environment: NATS_CA]
    #[arg(long, value_name = "FILE")]
    pub tlsca: Option<PathBuf>,

    /// TLS: a certificate to show [environment: NATS_CERT]
    #[arg(long, value_name = "FILE")]
    pub tlscert: Option<PathBuf>,

    /// TLS: the key of that certificate [environment: NATS_KEY]
    #[arg(long, value_name = "FILE")]
    pub tlskey: Option<PathBuf>,

    /// The first words of all subjects, and of the names of streams and buckets
    #[arg(long, value_name = "WORDS", default_value = "raddle")]
    pub subject_prefix: String,
}

/// `raddle check` on a cluster.
#[derive(Clone, Debug, Default, Args)]
pub struct ClusterArgs {
    /// Have the program checked by all who run `raddle worker` with this NATS server (engine graph)
    #[arg(long, value_name = "nats://HOST")]
    pub cluster: Option<String>,

    /// Show the progress and the answer of a run that was begun before; its command line counts
    #[arg(long, value_name = "RUN", requires = "cluster")]
    pub attach: Option<String>,

    /// Somebody who has not been heard of for so many seconds has lost its piece
    #[arg(long, value_name = "S", default_value_t = 30.0, hide = true)]
    pub lease: f64,

    /// What has been explored is written after so many seconds at the latest
    #[arg(long, value_name = "S", default_value_t = 30.0, hide = true)]
    pub slice: f64,

    #[command(flatten)]
    pub access: AccessArgs,
}

impl ClusterArgs {
    /// Names of the options, for commands that have no use for them.
    pub const IDS: [&'static str; 12] = [
        "cluster",
        "attach",
        "lease",
        "slice",
        "creds",
        "nkey",
        "user",
        "password",
        "tlsca",
        "tlscert",
        "tlskey",
        "subject_prefix",
    ];

    #[cfg(feature = "cluster")]
    pub(crate) fn lease(&self) -> std::time::Duration {
        std::time::Duration::from_secs_f64(self.lease.clamp(0.5, 3600.0))
    }
}

#[derive(Debug, Args)]
pub struct WorkerArgs {
    /// The NATS server
    #[arg(long, value_name = "nats://HOST")]
    pub cluster: String,

    /// Pieces that are explored at a time [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,

    /// End when there is nothing left to explore
    #[arg(long)]
    pub exit_when_idle: bool,

    #[command(flatten)]
    pub access: AccessArgs,
}

#[derive(Debug, Subcommand)]
pub enum ClusterCommand {
    /// List the runs, and how far they are
    Status(StatusArgs),
    /// Have nobody explore a run any more
    Cancel(RunArgs),
    /// Remove a run, or all that are answered or cancelled, and the programs that nobody needs any more
    Clean(CleanArgs),
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// The NATS server
    #[arg(long, value_name = "nats://HOST")]
    pub cluster: String,

    #[command(flatten)]
    pub access: AccessArgs,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    pub run: String,

    /// The NATS server
    #[arg(long, value_name = "nats://HOST")]
    pub cluster: String,

    #[command(flatten)]
    pub access: AccessArgs,
}

#[derive(Debug, Args)]
pub struct CleanArgs {
    /// Whatever its state is; without it, all that are answered or cancelled
    pub run: Option<String>,

    /// The NATS server
    #[arg(long, value_name = "nats://HOST")]
    pub cluster: String,

    #[command(flatten)]
    pub access: AccessArgs,
}

#[cfg(feature = "cluster")]
impl AccessArgs {
    pub(super) fn access(&self, servers: &str) -> raddle_cluster::Access {
        let text =
            |given: &Option<String>, name: &str| given.clone().or_else(|| std::env::var(name).ok());
        let file = |given: &Option<PathBuf>, name: &str| {
            given
                .clone()
                .or_else(|| std::env::var_os(name).map(PathBuf::from))
        };
        raddle_cluster::Access {
            servers: servers.to_owned(),
            creds: file(&self.creds, "NATS_CREDS"),
            nkey: file(&self.nkey, "NATS_NKEY"),
            user: text(&self.user, "NATS_USER"),
            password: text(&self.password, "NATS_PASSWORD"),
            tls_ca: file(&self.tlsca, "NATS_CA"),
            tls_cert: file(&self.tlscert, "NATS_CERT"),
            tls_key: file(&self.tlskey, "NATS_KEY"),
            prefix: self.subject_prefix.clone(),
        }
    }
}
