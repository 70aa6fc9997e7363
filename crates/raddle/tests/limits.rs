//! Limits of time and memory, and Ctrl-C, hold whatever Raddle is busy with.
//!
//! What is said about how long it took is generous: the machine may have other things to do.

mod common;

use common::{Scratch, check, raddle, says};
use raddle_search::{EngineKind, MemoryModel};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Far more than any limit here, far less than what the programs would take.
const AT_MOST: Duration = Duration::from_secs(20);

fn every_engine() -> impl Iterator<Item = &'static str> {
    std::iter::once("auto").chain(EngineKind::ALL.iter().map(|engine| engine.name()))
}

/// A thread with much to do on its own.
const PRIVATE: &str = "#include <pthread.h>\n\
    static unsigned x;\n\
    static unsigned spin(unsigned long n) { unsigned s = 1; for (unsigned long i = 0; i < n; i++) s = s * 3 + 1; return s; }\n\
    void *f(void *a) { for (int i = 0; i < 1000; i++) x += spin(2000000); return a; }\n\
    int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); }\n";

/// More executions than anybody can explore, and more than one formula can say.
const MANY: &str = "#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_uint x[8];\n\
    static void *f(void *p) { unsigned long k = (unsigned long)p; for (unsigned i = 0; i < 40; i++) x[(i * k + x[i & 7]) & 7] = x[(i + k) & 7] * 3 + i; return p; }\n\
    int main(void) { pthread_t t[5]; for (unsigned long i = 0; i < 5; i++) pthread_create(&t[i], 0, f, (void *)(i + 1)); return 0; }\n";

/// Two primes to be found.
const HARD: &str = "#include <assert.h>\nunsigned long __VERIFIER_nondet_ulong(void);\n\
    int main(void) { unsigned long x = __VERIFIER_nondet_ulong(), y = __VERIFIER_nondet_ulong();\n\
    if (x > 1 && y > 1 && x < (1ul << 32) && y < (1ul << 32)) assert(x * y != 9223372014706262389ul); return 0; }\n";

/// Takes clang minutes.
const TEMPLATES: &str = "template<int N, int M> struct F { enum : unsigned { v = F<N-1, 2*M>::v + F<N-1, 2*M+1>::v }; };\n\
    template<int M> struct F<0, M> { enum : unsigned { v = M }; };\n\
    int main() { return F<26, 0>::v == 0; }\n";

/// Memory without end, in few events.
const GROWS: &str = "#include <stdatomic.h>\n#include <stdlib.h>\natomic_long n;\n\
    int main(void) { for (;;) { long *p = calloc(1, 1 << 20); p[n & 8191] = n; n++; } }\n";

const WRONG: &str = "#include <assert.h>\n#include <stdatomic.h>\n#include <pthread.h>\n\
    atomic_int x;\nvoid *f(void *a) { x = 1; return a; }\n\
    int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); assert(x == 0); pthread_join(t, 0); }\n";

/// The check must be over soon.
#[track_caller]
fn soon(run: impl FnOnce() -> Output) -> Output {
    let began = Instant::now();
    let output = run();
    let took = began.elapsed();
    assert!(took < AT_MOST, "it took {took:?}");
    output
}

#[test]
fn private_code_of_a_thread_ends_in_time() {
    let scratch = Scratch::new("limits-private");
    let file = scratch.file("a.c", PRIVATE);
    for engine in every_engine() {
        let output = soon(|| check(&file, &["--time-limit", "1", "--engine", engine]));
        says(
            &output,
            3,
            &["inconclusive: the time limit of 1 s was reached"],
        );
        assert!(output.stderr.is_empty());
    }
}

#[test]
fn searches_end_in_time() {
    let scratch = Scratch::new("limits-search");
    let file = scratch.file("a.c", MANY);
    for engine in every_engine() {
        let output = soon(|| check(&file, &["--time-limit", "1.5", "--engine", engine]));
        says(
            &output,
            3,
            &["inconclusive: the time limit of 1.5", " was reached"],
        );
    }
}

#[test]
fn formulas_end_in_time_and_the_answer_says_what_was_done() {
    let scratch = Scratch::new("limits-formula");
    let (large, hard) = (scratch.file("large.c", MANY), scratch.file("hard.c", HARD));
    for memory in ["sc", "pso"] {
        let limited = ["--time-limit", "3", "--engine", "bmc", "--memory", memory];
        let output = soon(|| check(&hard, &limited));
        says(&output, 3, &["while the formula was being solved"]);
        let output = soon(|| check(&large, &limited));
        says(&output, 3, &["the time limit of 3 s was reached while "]);
    }
    let json = ["--time-limit", "3", "--engine", "bmc", "--format", "json"];
    let output = soon(|| check(&hard, &json));
    says(
        &output,
        3,
        &[
            "\"verdict\": \"inconclusive\"",
            "\"reason\": \"the time limit of 3 s was reached while the formula was being solved\"",
        ],
    );
}

#[test]
fn the_compiler_ends_in_time() {
    let scratch = Scratch::new("limits-compiler");
    let file = scratch.file("a.cpp", TEMPLATES);
    for format in ["text", "json", "sarif"] {
        let output = soon(|| check(&file, &["--time-limit", "1", "--format", format]));
        says(
            &output,
            3,
            &["the time limit of 1 s was reached while the compiler was running"],
        );
    }
    let output = soon(|| check(&file, &["--memory-limit", "130"]));
    says(
        &output,
        3,
        &["the memory limit of 130 MiB was reached while the compiler was running"],
    );
}

#[test]
fn memory_stays_within_its_limit() {
    let scratch = Scratch::new("limits-memory");
    let file = scratch.file("a.c", GROWS);
    let limit = 300_u64;
    for engine in EngineKind::exploring(MemoryModel::Sc).map(EngineKind::name) {
        let limited = ["--memory-limit", "300", "--format", "json"];
        let limited = [&limited[..], &["--time-limit", "60", "--engine", engine]].concat();
        let output = check(&file, &limited);
        says(&output, 3, &["the memory limit of 300 MiB was reached"]);
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let peak = answer["peak_memory_bytes"].as_u64().unwrap() >> 20;
        assert!(peak <= limit * 105 / 100 + 8, "{engine}: {peak} MiB");
    }
}

/// A report that cannot be written, since nobody reads what it is written to: the violation is known, and is told.
#[test]
fn a_violation_is_not_lost_when_there_is_no_time_to_write_about_it() {
    let scratch = Scratch::new("limits-report");
    let file = scratch.file("a.c", WRONG);
    let pipe = scratch.0.join("report.html");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let report = pipe.to_str().unwrap();
    for (format, engine) in [("text", "auto"), ("json", "dpor"), ("sarif", "bmc")] {
        let limited = ["--time-limit", "4", "--report", report, "--format", format];
        let output = soon(|| check(&file, &[&limited[..], &["--engine", engine]].concat()));
        says(
            &output,
            1,
            &[
                "assertion failed: x == 0",
                "note: the time limit of 4 s was reached while the report was written",
            ],
        );
        if format != "text" {
            serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap();
        }
    }
}

#[test]
fn every_engine_of_a_comparison_has_its_time() {
    let scratch = Scratch::new("limits-compare");
    let file = scratch.file("a.c", PRIVATE);
    let limited = ["compare", "--time-limit", "0.7"];
    let output = raddle().args(limited).arg(&file).output().unwrap();
    says(&output, 3, &["dpor", "mcr", "bmc", "naive"]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        printed.matches("the time limit of 0.70 s").count(),
        9,
        "{printed}"
    );
}

// ---- Ctrl-C

/// A compiler that says that it runs, and then takes its time.
fn slow_compiler(scratch: &Scratch) -> PathBuf {
    let started = scratch.0.join("started");
    let script = format!(
        "#!/bin/sh\necho $$ > {}.new && mv {0}.new {0}\nsleep 1000\n",
        started.display()
    );
    let compiler = scratch.file("slow-clang", &script);
    let mut permissions = std::fs::metadata(&compiler).unwrap().permissions();
    permissions.set_mode(0o755);
    std::fs::set_permissions(&compiler, permissions).unwrap();
    compiler
}

/// Starts a command, sends a signal when it is ready, and waits for its end, which must come soon.
#[track_caller]
fn signalled(command: &mut Command, signal: &str, is_ready: impl Fn() -> bool) -> Output {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !is_ready() {
        sleep(Duration::from_millis(20));
    }
    let id = child.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status().unwrap();
    assert!(sent.success());
    soon(|| child.wait_with_output().unwrap())
}

#[test]
fn ctrl_c_ends_the_compiler_too() {
    let scratch = Scratch::new("limits-ctrl-c-compiler");
    let compiler = slow_compiler(&scratch);
    let file = scratch.file("a.c", WRONG);
    let started = scratch.0.join("started");
    for signal in ["-INT", "-TERM"] {
        let mut command = raddle();
        command
            .arg("check")
            .arg(&file)
            .env("RADDLE_CLANG", &compiler);
        let output = signalled(&mut command, signal, || started.exists());
        says(
            &output,
            3,
            &[
                "inconclusive: it was interrupted while the compiler was running",
                "the program was not run",
            ],
        );
        let id = std::fs::read_to_string(&started).unwrap();
        let process = Path::new("/proc").join(id.trim());
        assert!(!process.exists(), "{} is still there", process.display());
        std::fs::remove_file(&started).unwrap();
    }
}

#[test]
fn ctrl_c_ends_a_replay() {
    let scratch = Scratch::new("limits-ctrl-c-replay");
    let file = scratch.file("a.c", WRONG);
    let trace = scratch.0.join("a.trace");
    let output = check(&file, &["--trace", trace.to_str().unwrap()]);
    says(&output, 1, &["violation"]);
    let compiler = slow_compiler(&scratch);
    let started = scratch.0.join("started");
    let mut command = raddle();
    command
        .arg("replay")
        .arg(&trace)
        .env("RADDLE_CLANG", &compiler);
    let output = signalled(&mut command, "-INT", || started.exists());
    says(&output, 3, &["inconclusive: it was interrupted"]);
}

#[test]
fn ctrl_c_ends_private_code() {
    let scratch = Scratch::new("limits-ctrl-c-private");
    let file = scratch.file("a.c", PRIVATE);
    // `bmc` gives such loops up after a counted number of rounds.
    for engine in ["rf", "dpor"] {
        let mut command = raddle();
        command.arg("check").arg(&file).args(["--engine", engine]);
        // Whatever it is at then.
        let began = Instant::now();
        let output = signalled(&mut command, "-INT", || began.elapsed().as_secs() >= 2);
        says(&output, 3, &["inconclusive: it was interrupted"]);
    }
}
