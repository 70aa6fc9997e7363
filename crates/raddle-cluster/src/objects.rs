//! Large things that never change, named by their contents.

use crate::{Cluster, ClusterError, PAUSE};
use async_nats::jetstream::object_store::{self, ObjectStore};
use futures_util::StreamExt;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use tokio::io::AsyncReadExt;

/// So often something is asked for again that goes wrong.
const ATTEMPTS: usize = 25;

#[must_use]
pub(crate) fn name_of(contents: &[u8]) -> String {
    let mut name = String::new();
    for byte in Sha256::digest(contents) {
        write!(name, "{byte:02x}").expect("a string takes everything");
    }
    name
}

impl Cluster {
    fn bucket(&self) -> String {
        format!("{}-objects", self.plain_prefix())
    }

    async fn objects(&self) -> Result<ObjectStore, String> {
        if let Ok(store) = self.jetstream.get_object_store(self.bucket()).await {
            return Ok(store);
        }
        let config = object_store::Config {
            bucket: self.bucket(),
            description: Some("programs that Raddle checks, and what is known of them".to_owned()),
            ..object_store::Config::default()
        };
        let made = self.jetstream.create_object_store(config).await;
        made.map_err(|error| error.to_string())
    }

    /// Keeps something, and says what it is called.
    pub fn put_object(&self, contents: &str) -> Result<String, ClusterError> {
        let name = name_of(contents.as_bytes());
        let put = async || {
            let store = self.objects().await?;
            if store.info(&name).await.is_ok_and(|info| !info.deleted) {
                return Ok(());
            }
            let put = store.put(name.as_str(), &mut contents.as_bytes()).await;
            put.map(drop).map_err(|error| error.to_string())
        };
        self.several_times(&name, put)?;
        Ok(name)
    }

    /// What has this name.
    pub fn object(&self, name: &str) -> Result<String, ClusterError> {
        let get = async || {
            let store = self.objects().await?;
            let mut object = store.get(name).await.map_err(|error| error.to_string())?;
            let mut contents = Vec::new();
            let read = object.read_to_end(&mut contents).await;
            read.map_err(|error| error.to_string())?;
            match name_of(&contents) == name {
                true => String::from_utf8(contents).map_err(|error| error.to_string()),
                false => Err("its contents are not what its name says".to_owned()),
            }
        };
        self.several_times(name, get)
    }

    /// Removes all of them.
    pub fn remove_objects(&self) -> Result<usize, ClusterError> {
        let mut removed = 0;
        self.wait(async {
            let store = self.objects().await?;
            let mut list = store.list().await.map_err(|error| error.to_string())?;
            while let Some(info) = list.next().await {
                let info = info.map_err(|error| error.to_string())?;
                let deleted = store.delete(&info.name).await;
                deleted.map_err(|error| error.to_string())?;
                removed += 1;
            }
            Ok(())
        })
        .map_err(|what: String| ClusterError::Refused { what })?;
        Ok(removed)
    }

    fn several_times<T>(
        &self,
        name: &str,
        mut attempt: impl AsyncFnMut() -> Result<T, String>,
    ) -> Result<T, ClusterError> {
        let mut what = String::new();
        for _ in 0..ATTEMPTS {
            match self.wait(attempt()) {
                Ok(done) => return Ok(done),
                Err(error) => what = error,
            }
            std::thread::sleep(PAUSE);
        }
        Err(ClusterError::Object {
            name: name.to_owned(),
            what,
        })
    }
}
