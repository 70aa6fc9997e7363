//! What tests of the command line share.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory of its own for each test, removed in the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("raddle-test-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn raddle() -> Command {
    Command::new(env!("CARGO_BIN_EXE_raddle"))
}

pub fn check(file: &Path, args: &[&str]) -> Output {
    raddle().arg("check").arg(file).args(args).output().unwrap()
}

/// The status, and all of the texts in what was printed.
#[track_caller]
pub fn says(output: &Output, status: i32, texts: &[&str]) {
    let printed = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(status), "{printed}");
    for text in texts {
        assert!(printed.contains(text), "`{text}` is not in:\n{printed}");
    }
}
