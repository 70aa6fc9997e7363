//! Files that are damaged, cut short or made up: Raddle answers within its limits, with a verdict or with an error that says where, and never panics.
//!
//! The real program is run on each, so that a stack that overflows is seen as well as a panic. A fixed few hundred are tried with the other tests;
//! `cargo xtask robust COUNT FIRST` tries COUNT modules and a fifth as many of the other files. What fails is kept in the temporary directory, and named.

#[path = "../common/mod.rs"]
mod common;
mod mutate;

use common::{Scratch, raddle};
use raddle_random::RandomIndex as Random;
use raddle_report::trace_file::{TraceFile, hex};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a check of a mutant is given, in seconds and MiB.
const TIME_LIMIT: &str = "2";
const MEMORY_LIMIT: &str = "600";
/// By then it must be over. The machine may have other things to do, and compilers have no limit here.
const AT_MOST: Duration = Duration::from_secs(20);
/// Modules, where all tests are run.
const FEW: usize = 250;

const ENGINES: &[&str] = &[
    "auto", "dpor", "rf", "graph", "bmc", "states", "rvf", "mcr", "icb", "bpor", "naive",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// How many modules, and the number of the first.
fn scale() -> (usize, usize) {
    let number = |name: &str, default| {
        let given = std::env::var(name).ok();
        given.map_or(default, |given| given.parse().expect("a number"))
    };
    (
        number("RADDLE_ROBUST", FEW),
        number("RADDLE_ROBUST_FROM", 0),
    )
}

/// What a command did.
struct Done {
    status: Option<i32>,
    printed: String,
    took: Duration,
}

/// Runs a command to its end, or to the moment when it should have come.
fn done(command: &mut Command) -> Done {
    let began = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipes: (_, _) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        pipes.1.read_to_end(&mut said).unwrap();
        said
    });
    let printer = std::thread::spawn(move || {
        let mut said = Vec::new();
        pipes.0.read_to_end(&mut said).unwrap();
        said
    });
    let mut tick = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        if began.elapsed() > AT_MOST {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        std::thread::sleep(tick);
        tick = (tick * 2).min(Duration::from_millis(20));
    };
    let took = began.elapsed();
    let mut printed = printer.join().unwrap();
    printed.extend(reader.join().unwrap());
    Done {
        status,
        printed: String::from_utf8_lossy(&printed).into_owned(),
        took,
    }
}

impl Done {
    /// What is wrong with it, if anything is.
    fn complaint(&self) -> Option<String> {
        let wrong = [
            "panicked",
            "overflowed its stack",
            "internal error",
            "RUST_BACKTRACE",
        ];
        let says = |text: &str| self.printed.contains(text);
        let what = match self.status {
            _ if wrong.iter().any(|text| says(text)) => "it failed".to_owned(),
            None if self.took > AT_MOST => format!("it did not end within {AT_MOST:?}"),
            None => "it was ended by a signal".to_owned(),
            Some(2)
                if !["error", "unsupported", "not reproduced"]
                    .iter()
                    .any(|it| says(it)) =>
            {
                "it does not say what is wrong".to_owned()
            }
            Some(0..=3) => return None,
            Some(status) => format!("its status is {status}"),
        };
        Some(format!("{what}:\n{}", self.printed))
    }
}

/// Runs one mutant of each number and tells of all that fail. Mutants are made from their number alone.
fn try_all(kind: &str, count: usize, run: impl Fn(usize, &Scratch) -> (Vec<PathBuf>, Done) + Sync) {
    let from = scale().1;
    let next = std::sync::atomic::AtomicUsize::new(from);
    let failures = std::sync::Mutex::new(Vec::new());
    let work = |worker: usize| {
        let scratch = Scratch::new(&format!("robust-{kind}-{worker}"));
        loop {
            let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if number >= from + count {
                break;
            }
            let (files, done) = run(number, &scratch);
            if let Some(complaint) = done.complaint() {
                let kept = kept(kind, number, &files);
                let text = format!("{kind} {number} ({}): {complaint}", kept.display());
                eprintln!("{text}");
                failures.lock().unwrap().push(text);
            }
        }
    };
    std::thread::scope(|scope| {
        for worker in 0..2 {
            scope.spawn(move || work(worker));
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} of {count} failed", failures.len());
}

/// Keeps the files of a mutant that failed.
fn kept(kind: &str, number: usize, files: &[PathBuf]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("raddle-robust/{kind}-{number}"));
    std::fs::create_dir_all(&folder).unwrap();
    for file in files {
        let name = file.file_name().expect("a file");
        std::fs::copy(file, folder.join(name)).unwrap();
    }
    folder
}

/// What clang makes of some programs, and mutants on which engines once differed.
fn modules(scratch: &Scratch) -> Vec<String> {
    let programs = [
        "correct/assembly_atomics.c",
        "correct/barrier.c",
        "correct/c11_threads.c",
        "library/semaphores.c",
        "library/strings.c",
        "weak/message_passing.c",
    ];
    let mut modules = Vec::new();
    for program in programs.map(|name| root().join("tests/programs").join(name)) {
        let made = scratch.0.join("made.ll");
        let clang = std::env::var("RADDLE_CLANG").unwrap_or_else(|_| "clang".to_owned());
        let status = Command::new(clang)
            .args(["-S", "-emit-llvm", "-g", "-O0", "-o"])
            .args([&made, &program])
            .status();
        assert!(status.unwrap().success(), "{}", program.display());
        modules.push(std::fs::read_to_string(&made).unwrap());
    }
    let folder = std::fs::read_dir(root().join("tests/mutants")).unwrap();
    let mut kept: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    kept.retain(|path| path.extension().is_some_and(|it| it == "ll"));
    kept.sort();
    modules.extend(
        kept.iter()
            .map(|path| std::fs::read_to_string(path).unwrap()),
    );
    modules
}

#[test]
fn damaged_modules() {
    let originals = Scratch::new("robust-modules");
    let modules = modules(&originals);
    try_all("ir", scale().0, |number, scratch| {
        let mut random = Random::new(number as u64);
        let module = &modules[random.below(modules.len())];
        let other = &modules[random.below(modules.len())];
        let file = scratch.file("mutant.ll", &mutate::text(module, other, &mut random));
        let mut command = raddle();
        command.arg("check").arg(&file);
        command.args(["--engine", ENGINES[number % ENGINES.len()]]);
        command.args(["--time-limit", TIME_LIMIT, "--memory-limit", MEMORY_LIMIT]);
        command.args(["--max-executions", "100", "--progress", "never"]);
        let beside = |name: &str| scratch.0.join(name);
        match random.below(6) {
            0 => drop(command.args(["--format", "json", "--keep-going"])),
            1 => drop(command.args(["--format", "sarif"])),
            2 => drop(command.arg("--report").arg(beside("report.html"))),
            3 => drop(command.arg("--full").arg("--trace").arg(beside("trace"))),
            4 => drop(command.args([
                "--output",
                "--check",
                "assert,memory,race,deadlock,uninit,overflow",
            ])),
            _ => {}
        }
        let done = done(&mut command);
        (vec![file], done)
    });
}

/// A violation of a small program, saved, with the program beside it.
fn saved_execution(scratch: &Scratch, program: &Path, more: &[&str]) -> (PathBuf, String) {
    let trace = scratch.0.join("saved");
    let mut command = raddle();
    command
        .arg("check")
        .arg(program)
        .args(more)
        .arg("--trace")
        .arg(&trace);
    let found = done(&mut command);
    assert_eq!(found.status, Some(1), "{}", found.printed);
    let text = std::fs::read_to_string(&trace).unwrap();
    (trace, text)
}

/// Two threads, a lock, memory from `malloc`, weak orderings, and a failing assert.
const WRONG: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
    atomic_int flag;\nint *data;\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
    void *f(void *a) {\n    pthread_mutex_lock(&m);\n    data = malloc(sizeof *data);\n    *data = 2;\n    pthread_mutex_unlock(&m);\n\
    \x20   atomic_store_explicit(&flag, 1, memory_order_relaxed);\n    return a;\n}\n\
    int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, f, 0);\n    if (atomic_load_explicit(&flag, memory_order_relaxed)) {\n\
    \x20       pthread_mutex_lock(&m);\n        assert(*data == 1);\n        pthread_mutex_unlock(&m);\n    }\n    pthread_join(t, 0);\n    return 0;\n}\n";

/// The module of that program: nothing is compiled for each mutant.
fn wrong_module(scratch: &Scratch) -> PathBuf {
    let source = scratch.file("wrong.c", WRONG);
    let module = scratch.0.join("wrong.ll");
    let clang = std::env::var("RADDLE_CLANG").unwrap_or_else(|_| "clang".to_owned());
    let status = Command::new(clang)
        .args(["-S", "-emit-llvm", "-g", "-O0", "-o"])
        .args([&module, &source])
        .status();
    assert!(status.unwrap().success());
    module
}

/// The execution with a checksum that fits.
fn sealed(file: TraceFile) -> TraceFile {
    let bare = TraceFile {
        file: String::new(),
        checksum: String::new(),
        ..file.clone()
    };
    let checksum = hex(&Sha256::digest(bare.render().as_bytes()));
    TraceFile { checksum, ..file }
}

#[test]
fn damaged_executions() {
    let originals = Scratch::new("robust-traces");
    let program = wrong_module(&originals);
    let models: [&[&str]; 3] = [
        &["--memory", "c11"],
        &["--memory", "sc", "--engine", "dpor"],
        &["--memory", "tso", "--engine", "graph"],
    ];
    let traces = models.map(|model| saved_execution(&originals, &program, model).1);
    try_all("trace", scale().0 / 5, |number, scratch| {
        let mut random = Random::new(number as u64);
        let trace = &traces[random.below(traces.len())];
        let mutant = match random.below(3) {
            0 => mutate::text(trace, &traces[0], &mut random),
            whole => {
                let mut value: Value = serde_json::from_str(trace).unwrap();
                mutate::json(&mut value, &mut random);
                let text = serde_json::to_string_pretty(&value).unwrap();
                // What is read only if nothing seems to have been changed.
                match TraceFile::parse(&text) {
                    Ok(file) if whole == 1 => sealed(file).render(),
                    _ => text,
                }
            }
        };
        let file = scratch.file("mutant.trace", &mutant);
        let done = done(raddle().arg("replay").arg(&file));
        (vec![file, program.clone()], done)
    });
}

/// A search that has more to do than a second.
const LONG: &str = "#include <pthread.h>\n#include <stdatomic.h>\natomic_int x, y;\n\
    void *f(void *a) { for (int i = 0; i < 9; i++) { x++; y += x; } return a; }\n\
    int main(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, 0); return 0; }\n";

fn with_checksum(text: &str) -> String {
    let body = text.rsplit_once("checksum ").map_or(text, |(body, _)| body);
    format!("{body}checksum {}\n", hex(&Sha256::digest(body.as_bytes())))
}

#[test]
fn damaged_checkpoints() {
    let originals = Scratch::new("robust-checkpoints");
    let program = originals.file("long.c", LONG);
    let checkpoints = ["graph", "dpor", "rf"].map(|engine| {
        let file = originals.0.join(engine);
        let mut command = raddle();
        command
            .arg("check")
            .arg(&program)
            .args(["--engine", engine, "--checkpoint"])
            .arg(&file);
        command.args(["--time-limit", "0.5", "--pieces-after", "1", "--quiet"]);
        let stopped = done(&mut command);
        assert_eq!(stopped.status, Some(3), "{}", stopped.printed);
        std::fs::read_to_string(&file).unwrap()
    });
    try_all("checkpoint", scale().0 / 5, |number, scratch| {
        let mut random = Random::new(number as u64);
        let checkpoint = &checkpoints[random.below(checkpoints.len())];
        let mutant = match random.below(4) {
            0 => mutate::text(checkpoint, &checkpoints[0], &mut random),
            _ => {
                let (first, rest) = checkpoint.split_once('\n').unwrap();
                let rest = mutate::text(rest, "", &mut random);
                with_checksum(&format!("{first}\n{rest}"))
            }
        };
        let file = scratch.file("mutant.checkpoint", &mutant);
        let mut command = raddle();
        command
            .arg("resume")
            .arg(&file)
            .args(["--time-limit", "0.2"]);
        let done = done(command.args(["--memory-limit", MEMORY_LIMIT]));
        (vec![file], done)
    });
}

#[test]
fn damaged_properties() {
    let properties = [
        "CHECK( init(main()), LTL(G ! call(reach_error())) )\n",
        "CHECK( init(main()), LTL(G ! data-race) )\n",
        "CHECK( init(main()), LTL(G valid-free) )\nCHECK( init(main()), LTL(G valid-deref) )\nCHECK( init(main()), LTL(G valid-memtrack) )\n",
        "CHECK( init(main()), LTL(G ! overflow) )\n",
        "CHECK( init(main()), LTL(F end) )\n",
    ];
    let originals = Scratch::new("robust-properties");
    let program = wrong_module(&originals);
    try_all("property", scale().0 / 5, |number, scratch| {
        let mut random = Random::new(number as u64);
        let property = properties[random.below(properties.len())];
        let other = properties[random.below(properties.len())];
        let file = scratch.file("mutant.prp", &mutate::text(property, other, &mut random));
        let mut command = raddle();
        command
            .arg("check")
            .arg(&program)
            .arg("--property")
            .arg(&file);
        let done = done(command.args(["--time-limit", TIME_LIMIT]));
        (vec![file], done)
    });
}

#[test]
fn damaged_proofs() {
    let originals = Scratch::new("robust-proofs");
    let program = originals.file(
        "right.c",
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\natomic_int x;\n\
         void *f(void *a) { x++; return a; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x++; pthread_join(t, 0); assert(x == 2); }\n",
    );
    let proof = originals.0.join("proof");
    let mut command = raddle();
    command
        .arg("check")
        .arg(&program)
        .args(["--engine", "bmc", "--proof"])
        .arg(&proof);
    let verified = done(&mut command);
    assert_eq!(verified.status, Some(0), "{}", verified.printed);
    let text = std::fs::read_to_string(&proof).unwrap();
    try_all("proof", scale().0 / 5, |number, scratch| {
        let mut random = Random::new(number as u64);
        let file = scratch.file("mutant.proof", &mutate::text(&text, &text, &mut random));
        let done = done(raddle().arg("verify-proof").arg(&file));
        (vec![file], done)
    });
}

#[test]
fn damaged_compile_databases() {
    let originals = Scratch::new("robust-databases");
    originals.file(
        "one.c",
        "int two(void);\nint main(void) { return two(); }\n",
    );
    originals.file("two.c", "int two(void) { return 0; }\n");
    let directory = originals.0.display().to_string();
    let database = serde_json::json!([
        { "directory": directory, "command": "cc -I. -DX=\"a b\" -O2 -c one.c -o CMakeFiles/both.dir/one.c.o", "file": "one.c" },
        { "directory": directory, "arguments": ["cc", "-c", "two.c", "-o", "CMakeFiles/both.dir/two.c.o"], "file": "two.c" },
    ]);
    // Each of these may run clang.
    try_all("database", scale().0 / 25, |number, scratch| {
        let mut random = Random::new(number as u64);
        let mutant = match random.below(3) {
            0 => mutate::text(&database.to_string(), "", &mut random),
            _ => {
                let mut value = database.clone();
                mutate::json(&mut value, &mut random);
                value.to_string()
            }
        };
        let file = scratch.file("compile_commands.json", &mutant);
        let mut command = raddle();
        command.args(["check", "both", "-p"]).arg(&scratch.0);
        command.args(["--no-cache", "--time-limit", "5"]);
        command.current_dir(&scratch.0);
        let done = done(&mut command);
        (vec![file], done)
    });
}
