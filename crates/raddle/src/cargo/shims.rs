//! Crates that we bring along. Some take the place of others: `test` in test builds, `loom` and `shuttle` wherever they are used. `raddle` is
//! there for whoever wants to talk to Raddle.
//!
//! They are kept as source in this program, since they have to be compiled by the user's own compiler. They take their places behind cargo's
//! back, in rustc's arguments: a `[patch]` would change the project's Cargo.lock.

use super::wrapper::SHIMS;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where each file goes, and what is in it.
const FILES: &[(&str, &str)] = &[
    ("test/lib.rs", include_str!("../../cargo/test/lib.rs")),
    ("loom/lib.rs", include_str!("../../cargo/loom/lib.rs")),
    ("loom/alloc.rs", include_str!("../../cargo/loom/alloc.rs")),
    ("loom/cell.rs", include_str!("../../cargo/loom/cell.rs")),
    ("loom/future.rs", include_str!("../../cargo/loom/future.rs")),
    (
        "loom/lazy_static.rs",
        include_str!("../../cargo/loom/lazy_static.rs"),
    ),
    ("loom/model.rs", include_str!("../../cargo/loom/model.rs")),
    ("loom/thread.rs", include_str!("../../cargo/loom/thread.rs")),
    (
        "loom/sync/mod.rs",
        include_str!("../../cargo/loom/sync/mod.rs"),
    ),
    (
        "loom/sync/arc.rs",
        include_str!("../../cargo/loom/sync/arc.rs"),
    ),
    (
        "loom/sync/atomic.rs",
        include_str!("../../cargo/loom/sync/atomic.rs"),
    ),
    ("shuttle/lib.rs", include_str!("../../cargo/shuttle/lib.rs")),
    (
        "shuttle/future.rs",
        include_str!("../../cargo/shuttle/future.rs"),
    ),
    (
        "shuttle/model.rs",
        include_str!("../../cargo/shuttle/model.rs"),
    ),
    // Threads that nobody joins are waited for, with both.
    (
        "shuttle/threads.rs",
        include_str!("../../cargo/loom/thread.rs"),
    ),
    ("raddle/lib.rs", include_str!("../../cargo/raddle/lib.rs")),
];

/// Crates whose source is replaced wherever they are used: package and file.
const SUBSTITUTES: &[(&str, &str)] = &[("loom", "loom/lib.rs"), ("shuttle", "shuttle/lib.rs")];

/// Writes the sources, where they are missing or differ.
pub(crate) fn write(directory: &Path) -> io::Result<()> {
    for (name, text) in FILES {
        let file = directory.join(name);
        if fs::read_to_string(&file).is_ok_and(|there| there == *text) {
            continue;
        }
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(file, text)?;
    }
    Ok(())
}

fn directory() -> PathBuf {
    env::var_os(SHIMS).map(PathBuf::from).unwrap_or_default()
}

/// What is compiled in place of the crate that cargo is building now, if anything is. A crate's own unit tests are left as they are.
pub(crate) fn substitute(is_test: bool) -> Option<PathBuf> {
    let package = env::var("CARGO_PKG_NAME").ok().filter(|_| !is_test)?;
    let (_, file) = SUBSTITUTES.iter().find(|(name, _)| *name == package)?;
    Some(directory().join(file))
}

/// Makes reports take a crate for part of the standard library, in whose code nobody looks for mistakes.
pub(crate) fn remapped(directory: &Path) -> OsString {
    let mut arg = OsString::from("--remap-path-prefix=");
    arg.push(directory);
    arg.push("=/rustc/raddle");
    arg
}

/// Ends the work of LLVM where it would begin to make machine code, which nobody runs: a third of the time.
const NO_MACHINE_CODE: &str = "-Cllvm-args=--stop-before=pre-isel-intrinsic-lowering";

/// Arguments that make rustc faster, if this version of it understands them: these are options of LLVM, which may go any day.
pub(crate) fn faster(rustc: &OsStr) -> io::Result<Option<&'static str>> {
    let tried = directory().join("faster");
    let known = || fs::read_to_string(&tried).ok();
    let works = match known() {
        Some(result) => result == "yes",
        None => {
            let scratch = directory().join(format!("tried-{}", std::process::id()));
            fs::create_dir_all(&scratch)?;
            let source = scratch.join("nothing.rs");
            fs::write(&source, "pub fn nothing() {}\n")?;
            let output = Command::new(rustc)
                .args([
                    "--crate-type=lib",
                    "--emit=obj",
                    NO_MACHINE_CODE,
                    "--out-dir",
                ])
                .args([&scratch, &source])
                .output()?;
            let works = output.status.success();
            fs::remove_dir_all(scratch)?;
            fs::write(&tried, if works { "yes" } else { "no" })?;
            works
        }
    };
    Ok(works.then_some(NO_MACHINE_CODE))
}

/// The crate `test` for this compiler.
pub(crate) fn harness(rustc: &OsStr) -> io::Result<PathBuf> {
    compiled(rustc, "test")
}

/// The crate `raddle` for this compiler: what a program can ask of Raddle.
pub(crate) fn asking(rustc: &OsStr) -> io::Result<PathBuf> {
    compiled(rustc, "raddle")
}

/// One of our crates as a library. Compiled when it is first needed.
fn compiled(rustc: &OsStr, name: &str) -> io::Result<PathBuf> {
    let directory = directory().join(name);
    let file = format!("lib{name}.rlib");
    let library = directory.join(&file);
    if library.is_file() {
        return Ok(library);
    }
    // Several builds may want it at the same time.
    let unfinished = directory.join(format!("unfinished-{}", std::process::id()));
    fs::create_dir_all(&unfinished)?;
    let status = Command::new(rustc)
        .arg(directory.join("lib.rs"))
        .args(["--edition=2024", "-Copt-level=0", "-Cdebuginfo=2"])
        .args(["-Clinker-plugin-lto=yes", "-Cembed-bitcode=yes"])
        .arg(remapped(&directory))
        .arg("--out-dir")
        .arg(&unfinished)
        .status()?;
    if !status.success() {
        return Err(io::Error::other(format!(
            "Raddle's crate `{name}` does not compile with this version of rustc"
        )));
    }
    fs::rename(unfinished.join(file), &library)?;
    fs::remove_dir_all(unfinished)?;
    Ok(library)
}
