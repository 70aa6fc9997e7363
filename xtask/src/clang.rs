//! What is needed besides Rust: clang, and for one test each a browser and valgrind.

use crate::tasks::run;
use std::process::{Command, Stdio};

/// Makes sure that there is a clang that Raddle finds: the same places in the same order as `raddle check`.
pub(crate) fn setup() -> Result<(), String> {
    if let Some(version) = usable() {
        println!("clang: {version}");
        return Ok(());
    }
    if !answers("apt-get", "--version") {
        return Err(
            "no clang found, and no apt-get to install it with: install clang 14 or newer, or set RADDLE_CLANG to one"
                .to_owned(),
        );
    }
    println!("no clang found: installing it with apt-get");
    apt_get(&["update"])?;
    apt_get(&[
        "install",
        "-y",
        "--no-install-recommends",
        "clang",
        "libc6-dev",
        "libstdc++-12-dev",
    ])
    .or_else(|_| apt_get(&["install", "-y", "clang"]))?;
    match usable() {
        Some(version) => {
            println!("clang: {version}");
            Ok(())
        }
        None => Err("apt-get installed clang, but it does not run".to_owned()),
    }
}

/// Makes sure that there is a browser for the test of web pages. That is no reason to stop: the test says that it is skipped.
pub(crate) fn browser() -> bool {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    wish(&names, "chromium", "the test of web pages")
}

/// The same for the test that counts instructions.
pub(crate) fn valgrind() -> bool {
    wish(
        &["valgrind"],
        "valgrind",
        "the test that counts instructions",
    )
}

/// Installs a package if none of the programs is there. Are they there in the end?
fn wish(programs: &[&str], package: &str, who: &str) -> bool {
    let there = || programs.iter().any(|name| answers(name, "--version"));
    if there() {
        return true;
    }
    println!("no {package} found, which {who} needs");
    if answers("apt-get", "--version") {
        println!("installing it with apt-get");
        let installed = apt_get(&["update"])
            .and_then(|()| apt_get(&["install", "-y", "--no-install-recommends", package]));
        if let Err(message) = installed {
            println!("{message}");
        }
    }
    if !there() {
        println!("no {package}: {who} will be skipped");
    }
    there()
}

/// The first line of `clang --version`.
fn usable() -> Option<String> {
    if let Some(named) = std::env::var_os("RADDLE_CLANG").filter(|named| !named.is_empty()) {
        return version(&named.to_string_lossy());
    }
    version("clang").or_else(|| (14..=30).rev().find_map(|n| version(&format!("clang-{n}"))))
}

fn version(clang: &str) -> Option<String> {
    let output = Command::new(clang).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next()?.to_owned();
    output.status.success().then_some(line)
}

fn apt_get(args: &[&str]) -> Result<(), String> {
    let mut command = if is_root() {
        Command::new("apt-get")
    } else if answers("sudo", "--version") {
        let mut sudo = Command::new("sudo");
        sudo.arg("apt-get");
        sudo
    } else {
        return Err(format!(
            "not root, and no sudo: ask somebody who may to run `apt-get {}`",
            args.join(" ")
        ));
    };
    run(command.args(args).env("DEBIAN_FRONTEND", "noninteractive"))
}

fn is_root() -> bool {
    Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout.starts_with(b"0"))
}

fn answers(program: &str, arg: &str) -> bool {
    Command::new(program)
        .arg(arg)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
