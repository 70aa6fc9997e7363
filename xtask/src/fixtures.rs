//! LLVM IR of some test programs as different compilers write it, kept as test data: nobody who runs the tests needs
//! the compilers. `crates/raddle/tests/fixtures.rs` checks them against the `expected` beside them, written by hand.

use crate::tasks::{root, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs below `tests/programs`.
const PROGRAMS: &[&str] = &[
    "correct/barrier.c",
    "correct/c11_threads.c",
    "correct/gcc_atomics.c",
    "correct/heap_and_strings.c",
    "correct/message_passing.c",
    "correct/mixed_size.c",
    "correct/mutex_counter.c",
    "correct/producer_consumer.c",
    "correct/struct_fields.c",
    "correct/thread_local.c",
    "correct/treiber_stack.c",
    "correct/varargs.c",
    "cpp/atomic.cpp",
    "cpp/dynamic_cast.cpp",
    "cpp/exception_noexcept.cpp",
    "cpp/exception_types.cpp",
    "cpp/lock_guard.cpp",
    "cpp/race.cc",
    "wrong/deadlock_lock_order.c",
    "wrong/lost_signal.c",
    "wrong/lost_update.c",
    "wrong/null_dereference.c",
    "wrong/out_of_bounds.c",
    "wrong/race.c",
    "wrong/use_after_free.c",
];

/// The standard library of C++ makes the debug information of these larger than most other fixtures together.
const WITHOUT_DEBUG: &[&str] = &["cpp/atomic.cpp", "cpp/lock_guard.cpp"];

/// Typed and opaque pointers, each without optimisation and with it, both with and without debug information.
const CLANGS: &[(&str, &[&str])] = &[
    ("clang-14", &["-O0", "-g"]),
    ("clang-14", &["-O2"]),
    ("clang-16", &["-O0"]),
    ("clang-16", &["-O1", "-g"]),
    ("clang-19", &["-O0", "-g"]),
    ("clang-19", &["-O2"]),
];

/// What `raddle check` passes to clang besides level and `-g`. Where the level is not its own the names of values are left
/// out too, as clang does by itself.
const RADDLE: &[&str] = &["-fno-discard-value-names", "-Xclang", "-disable-O0-optnone"];

/// Programs below `tests/fixtures/rust`.
const RUST_PROGRAMS: &[&str] = &[
    "lost_update",
    "message_passing",
    "mutex_counter",
    "race",
    "treiber_stack",
];

/// The version that wrote the fixtures; another would write others.
const RUSTC: &str = "1.95";

pub(crate) fn generate() -> Result<(), String> {
    check_rustc()?;
    for program in PROGRAMS {
        for (clang, level) in CLANGS {
            if level.contains(&"-g") && WITHOUT_DEBUG.contains(program) {
                continue;
            }
            let source = Path::new("tests/programs").join(program);
            let name = format!("{clang}{}.ll", level.concat());
            let fixture = fixture(&Path::new(program).with_extension(""), &name)?;
            run(clang_command(clang, level, &source).arg("-o").arg(&fixture))?;
            check_paths(&fixture)?;
        }
    }
    for program in RUST_PROGRAMS {
        for (level, suffix) in [
            (&["-C", "opt-level=0", "-g"] as &[&str], "O0-g"),
            (&["-C", "opt-level=2"], "O2"),
        ] {
            let name = format!("rustc-{RUSTC}-{suffix}.ll");
            let fixture = fixture(&Path::new("rust").join(program), &name)?;
            run(rustc_command(level, program).arg("-o").arg(&fixture))?;
            check_paths(&fixture)?;
        }
    }
    println!("see `git diff` for what has changed");
    Ok(())
}

/// The path from the root to a fixture, in a directory that exists.
fn fixture(program: &Path, name: &str) -> Result<PathBuf, String> {
    let directory = Path::new("tests/fixtures").join(program);
    fs::create_dir_all(root().join(&directory))
        .map_err(|error| format!("cannot create {}: {error}", directory.display()))?;
    Ok(directory.join(name))
}

/// Compilers run in the root and get relative paths, and directories are left out: no fixture depends on where it was made.
fn clang_command(clang: &str, level: &[&str], source: &Path) -> Command {
    let mut command = Command::new(clang);
    if source.extension().is_some_and(|extension| extension != "c") {
        command.arg("--driver-mode=g++");
    }
    command
        .args(["-DRADDLE", "-S", "-emit-llvm"])
        .args(level)
        .arg("-ffile-prefix-map=/usr/=usr/")
        .arg(format!("-ffile-prefix-map={}=", root().display()));
    if level.contains(&"-O0") {
        command.args(RADDLE);
    }
    command.arg(source).current_dir(root());
    command
}

fn rustc_command(level: &[&str], program: &str) -> Command {
    let mut command = rustc();
    command
        .args(["--edition", "2024", "--crate-type", "lib"])
        .args(["--emit", "llvm-ir", "-C", "panic=abort"])
        .args(["-C", "codegen-units=1"])
        .args(level)
        .arg(format!("--remap-path-prefix={}=", root().display()))
        .arg(format!("tests/fixtures/rust/{program}.rs"))
        .current_dir(root());
    command
}

fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

fn check_rustc() -> Result<(), String> {
    let output = rustc()
        .arg("--version")
        .output()
        .map_err(|error| format!("cannot run rustc: {error}"))?;
    let version = String::from_utf8_lossy(&output.stdout);
    if version.starts_with(&format!("rustc {RUSTC}.")) {
        Ok(())
    } else {
        Err(format!(
            "the fixtures are written by rustc {RUSTC}, not {}: set RUSTC to one",
            version.trim()
        ))
    }
}

/// Fails if the fixture names a directory of the machine that made it.
fn check_paths(fixture: &Path) -> Result<(), String> {
    let text = fs::read_to_string(root().join(fixture))
        .map_err(|error| format!("cannot read {}: {error}", fixture.display()))?;
    let home = std::env::var_os("HOME").map(PathBuf::from);
    for directory in home.into_iter().chain([root()]) {
        let directory = directory.display().to_string();
        if directory.len() > 1 && text.contains(&directory) {
            return Err(format!("{} names {directory}", fixture.display()));
        }
    }
    Ok(())
}
