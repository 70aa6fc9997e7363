//! What was compiled before, by content: a file an entry in the user's directory for caches.
//!
//! An entry is never changed, only written whole under a name that tells what it was made from. What cannot be read is compiled
//! again, and what cannot be written is not kept: a cache is no reason to fail.

use super::Compiled;
use sha2::{Digest, Sha256};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Entries that were used longest ago go when all take more than this.
const MOST_BYTES: u64 = 1 << 30;
/// Begins every entry; with a version, since other versions may have other entries.
const MAGIC: &str = "raddle compiled 1";

/// What an entry was made from.
pub(super) struct Key(String);

impl Key {
    pub(super) fn new(args: &[&OsStr], contents: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            // With its length, so that parts cannot be mistaken for others.
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        for arg in args {
            part(arg.as_bytes());
        }
        for contents in contents {
            part(contents);
        }
        Self(raddle_report::trace_file::hex(&hash.finalize()))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Cache {
    directory: PathBuf,
}

impl Cache {
    /// The user's own; none if there is no place for it.
    pub(crate) fn of_user() -> Option<Self> {
        let absolute = |name: &str| {
            let path = env::var_os(name).map(PathBuf::from)?;
            path.is_absolute().then_some(path)
        };
        let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
        Some(Self {
            directory: caches?.join("raddle").join("compiled"),
        })
    }

    fn file(&self, key: &Key) -> PathBuf {
        self.directory.join(&key.0)
    }

    pub(super) fn get(&self, key: &Key) -> Option<Compiled> {
        let file = self.file(key);
        let entry = fs::read(&file).ok()?;
        let compiled = parse(&entry)?;
        if let Ok(file) = fs::File::options().append(true).open(&file) {
            // It was of use now: others go first.
            let _ = file.set_modified(SystemTime::now());
        }
        Some(compiled)
    }

    pub(super) fn put(&self, key: &Key, compiled: &Compiled) {
        if fs::create_dir_all(&self.directory).is_err() {
            return;
        }
        let mut entry = format!(
            "{MAGIC} {} {}\n",
            compiled.messages.len(),
            compiled.ir.len()
        );
        entry.push_str(&compiled.ir);
        let mut entry = entry.into_bytes();
        entry.extend_from_slice(&compiled.messages);
        // Whoever looks for it finds all of it or nothing.
        let file = self.file(key);
        let unfinished = file.with_extension(format!("{}", std::process::id()));
        let written = fs::write(&unfinished, entry).and_then(|()| fs::rename(&unfinished, &file));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        shrink(&self.directory, MOST_BYTES);
    }
}

fn parse(entry: &[u8]) -> Option<Compiled> {
    let end = memchr::memchr(b'\n', entry)?;
    let head = std::str::from_utf8(&entry[..end]).ok()?;
    let (messages, ir) = head.strip_prefix(MAGIC)?.trim().split_once(' ')?;
    let (messages, ir): (usize, usize) = (messages.parse().ok()?, ir.parse().ok()?);
    let rest = &entry[end + 1..];
    if rest.len() != ir.checked_add(messages)? {
        return None;
    }
    Some(Compiled {
        ir: String::from_utf8(rest[..ir].to_vec()).ok()?,
        messages: rest[ir..].to_vec(),
    })
}

/// Takes the oldest entries out until the rest is no more than three quarters of `most`, if all are more than that.
fn shrink(directory: &Path, most: u64) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let about = entry.metadata().ok()?;
            Some((about.modified().ok()?, about.len(), entry.path()))
        })
        .collect();
    let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
    if total <= most {
        return;
    }
    files.sort_unstable();
    for (_, bytes, file) in files {
        if total <= most / 4 * 3 {
            break;
        }
        if fs::remove_file(file).is_ok() {
            total -= bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(name: &str) -> Cache {
        let directory = env::temp_dir().join(format!("raddle-cache-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        Cache { directory }
    }

    fn key(text: &str) -> Key {
        Key::new(&[OsStr::new("-O0")], &[text.as_bytes()])
    }

    #[test]
    fn what_was_put_is_found_and_nothing_else() {
        let cache = cache("found");
        assert!(cache.get(&key("a")).is_none());
        let compiled = Compiled {
            ir: "define void @f()\n".to_owned(),
            messages: b"warning: \xff".to_vec(),
        };
        cache.put(&key("a"), &compiled);
        let found = cache.get(&key("a")).unwrap();
        assert_eq!(
            (&found.ir, &found.messages),
            (&compiled.ir, &compiled.messages)
        );
        assert!(cache.get(&key("b")).is_none());
        // Parts do not run together.
        assert_ne!(
            Key::new(&[], &[b"ab", b"c"]).0,
            Key::new(&[], &[b"a", b"bc"]).0
        );
        fs::remove_dir_all(&cache.directory).unwrap();
    }

    #[test]
    fn an_entry_that_is_damaged_is_none() {
        let cache = cache("damaged");
        let compiled = Compiled::silent("define void @f()\n".to_owned());
        cache.put(&key("a"), &compiled);
        let file = cache.file(&key("a"));
        let whole = fs::read(&file).unwrap();
        fs::write(&file, &whole[..whole.len() - 1]).unwrap();
        assert!(cache.get(&key("a")).is_none());
        fs::write(&file, "something else\n").unwrap();
        assert!(cache.get(&key("a")).is_none());
        fs::remove_dir_all(&cache.directory).unwrap();
    }

    #[test]
    fn the_oldest_entries_go_first() {
        let cache = cache("shrink");
        for name in ["a", "b", "c", "d"] {
            cache.put(&key(name), &Compiled::silent("x".repeat(1000)));
        }
        let old = fs::File::options()
            .append(true)
            .open(cache.file(&key("c")))
            .unwrap();
        old.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        shrink(&cache.directory, 4096);
        assert!(cache.get(&key("c")).is_none());
        assert!(cache.get(&key("d")).is_some());
        fs::remove_dir_all(&cache.directory).unwrap();
    }
}
