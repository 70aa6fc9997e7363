//! How to reach a server, and as whom: named as in NATS's own tools.

use crate::error::{ClusterError, OLDEST};
use async_nats::{ConnectOptions, ServerAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Where the server is, and who asks.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// `nats://HOST:PORT`, or several, separated by commas.
    pub servers: String,
    /// A file with credentials (JWT and seed).
    pub creds: Option<PathBuf>,
    /// A file with a seed.
    pub nkey: Option<PathBuf>,
    /// A user, or a token if there is no password.
    pub user: Option<String>,
    pub password: Option<String>,
    /// Certificates of those whom to trust, and one's own.
    pub tls_ca: Option<PathBuf>,
    pub tls_cert: Option<PathBuf>,
    pub tls_key: Option<PathBuf>,
    /// The first words of all subjects.
    pub prefix: String,
}

/// The longest pause before another attempt to connect.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

impl Access {
    fn addresses(&self) -> Result<Vec<ServerAddr>, ClusterError> {
        let address = |text: &str| {
            text.trim()
                .parse::<ServerAddr>()
                .map_err(|error| ClusterError::Access {
                    what: format!("`{text}` is no address of a NATS server: {error}"),
                })
        };
        self.servers.split(',').map(address).collect()
    }

    fn check_prefix(&self) -> Result<(), ClusterError> {
        let is_word = |word: &str| {
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            !word.is_empty() && word.chars().all(fits)
        };
        match self.prefix.split('.').all(is_word) {
            true => Ok(()),
            false => Err(ClusterError::Access {
                what: format!(
                    "`{}` is no prefix of subjects: letters, digits, `-`, `_`, and dots between words",
                    self.prefix
                ),
            }),
        }
    }

    async fn options(&self) -> Result<ConnectOptions, ClusterError> {
        let unreadable = |file: &PathBuf, error: std::io::Error| ClusterError::Access {
            what: format!("cannot use {}: {error}", file.display()),
        };
        let mut options = ConnectOptions::new()
            .name("raddle")
            .connection_timeout(crate::PATIENCE)
            .request_timeout(Some(crate::PATIENCE))
            .ping_interval(Duration::from_secs(10))
            .reconnect_delay_callback(|attempts| {
                Duration::from_millis(50 * attempts as u64).min(LONGEST_PAUSE)
            });
        if let Some(file) = &self.creds {
            let given = options.credentials_file(file).await;
            options = given.map_err(|error| unreadable(file, error))?;
        }
        if let Some(file) = &self.nkey {
            let seed = std::fs::read_to_string(file).map_err(|error| unreadable(file, error))?;
            options = options.nkey(seed.trim().to_owned());
        }
        match (&self.user, &self.password) {
            (Some(user), Some(password)) => {
                options = options.user_and_password(user.clone(), password.clone());
            }
            (Some(token), None) => options = options.token(token.clone()),
            (None, _) => {}
        }
        if let Some(file) = &self.tls_ca {
            options = options
                .add_root_certificates(file.clone())
                .require_tls(true);
        }
        match (&self.tls_cert, &self.tls_key) {
            (Some(cert), Some(key)) => {
                options = options
                    .add_client_certificate(cert.clone(), key.clone())
                    .require_tls(true);
            }
            (None, None) => {}
            _ => {
                return Err(ClusterError::Access {
                    what: "a certificate needs its key: `--tlscert` and `--tlskey` go together"
                        .to_owned(),
                });
            }
        }
        Ok(options)
    }

    pub(crate) async fn connect(&self) -> Result<async_nats::Client, ClusterError> {
        self.check_prefix()?;
        let addresses = self.addresses()?;
        let options = self.options().await?;
        let client = options.connect(addresses).await.map_err(|error| {
            let mut what = error.to_string();
            // What is wrong lies below.
            let mut cause = std::error::Error::source(&error);
            while let Some(inner) = cause {
                let text = inner.to_string();
                if !what.contains(&text) {
                    what = format!("{what}: {text}");
                }
                cause = inner.source();
            }
            ClusterError::Connect {
                server: self.servers.clone(),
                what,
            }
        })?;
        let (major, minor, patch) = OLDEST;
        match client.is_server_compatible(major, minor, patch) {
            true => Ok(client),
            false => Err(ClusterError::OldServer {
                version: client.server_info().version,
            }),
        }
    }
}
