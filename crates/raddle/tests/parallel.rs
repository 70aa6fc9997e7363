//! `--jobs`, `--checkpoint` and `raddle resume`, through the command line.

mod common;

use common::{Scratch, check, raddle, says};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

fn benchmark(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../benchmarks/{name}.c"))
}

/// What is told, but for times and memory.
fn answer(output: &Output) -> Value {
    let mut told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        panic!("{error}: {said}")
    });
    let members = told.as_object_mut().unwrap();
    members.retain(|key, _| !key.starts_with("seconds") && key != "peak_memory_bytes");
    told
}

fn json(file: &Path, args: &[&str]) -> Value {
    let mut all = vec!["--format", "json", "--progress", "never"];
    all.extend(args);
    answer(&check(file, &all))
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_workers() {
    for (name, size) in [
        ("fib-bench", "-DN=4"),
        ("readers", "-DN=13"),
        ("lastzero", "-DN=10"),
    ] {
        let file = benchmark(name);
        let ask = |jobs| {
            let mut args = vec!["--engine", "graph", "--memory", "sc", "--jobs", jobs];
            args.extend(["--", size]);
            json(&file, &args)
        };
        let alone = ask("1");
        assert_eq!(alone["verdict"], "verified");
        for jobs in ["2", "3", "8"] {
            assert_eq!(ask(jobs), alone, "{name}, {jobs} workers");
        }
    }
}

/// What several workers of `dpor`, `rf` and `rvf` find is told by one.
#[test]
fn workers_who_share_the_top_of_the_tree_give_the_answers_of_one() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
    let files = [
        (benchmark("fib-bench"), "-DN=3"),
        (benchmark("lastzero"), "-DN=8"),
        (benchmark("sigma"), "-DN=4"),
        (programs.join("wrong/kind_of_mutex_in_block.c"), "-DN=1"),
    ];
    for (file, size) in files {
        assert!(file.exists(), "{}", file.display());
        for more in [
            ["--engine", "dpor"].as_slice(),
            &["--engine", "dpor", "--keep-going"],
            &["--engine", "dpor", "--unroll", "2"],
            &["--engine", "rf", "--keep-going"],
            &["--engine", "rf", "--unroll", "2"],
            &["--engine", "rvf", "--keep-going"],
            &["--engine", "rvf", "--unroll", "2"],
        ] {
            assert_same_in_pieces(&file, &[more, &["--", size]].concat());
        }
    }
}

/// Which check of consistency has the last word depends on who was first: only one worker tells it.
fn without_work(told: &mut Value) {
    let told = told.as_object_mut().unwrap();
    told.remove("consistency");
    told.remove("verify_sc");
}

/// With one worker and with several, who begin with the first execution.
fn assert_same_in_pieces(file: &Path, args: &[&str]) {
    let ask = |jobs| {
        let pieces = ["--pieces-after", "0", "--jobs", jobs];
        let mut told = json(file, &[pieces.as_slice(), args].concat());
        without_work(&mut told);
        told
    };
    let alone = ask("1");
    for jobs in ["2", "3", "8"] {
        let name = file.display();
        assert_eq!(ask(jobs), alone, "{name}, {args:?}, {jobs} workers");
    }
}

/// Programs of the papers that `dpor`, `rf` and `rvf` are measured on, with locks, loops that wait, updates and more, at sizes that take a moment each.
#[test]
fn workers_count_what_one_counts() {
    for (name, sizes) in [
        ("circular-buffer", &["-DN=4"][..]),
        ("lastzero", &["-DN=7"]),
        ("readers", &["-DN=8"]),
        ("casrot", &["-DN=7"]),
        ("fib-bench", &["-DN=3"]),
        ("lastwrite", &["-DN=5"]),
        ("sigma", &["-DN=5"]),
        ("floating-read", &["-DN=5"]),
        ("control-flow", &["-DN=4"]),
        ("opt-lock", &["-DN=5"]),
        ("race-parametric", &["-DN=3"]),
        ("exponential-bug", &["-DN=2"]),
        ("parker", &["-DN=6"]),
        ("lamport", &["-DN=2"]),
        ("reorder", &["-DN=4", "-DNO_ASSERT=1"]),
        ("approxds-append", &["-DN=4"]),
        ("myexample", &["-DN=4"]),
        ("redundant-co", &["-DN=3"]),
        ("airline", &["-DN=4"]),
        ("mcslock", &["-DN=2"]),
        ("twalock", &["-DN=3"]),
        ("ttaslock", &["-DN=3"]),
        ("mutex", &["-DN=2"]),
        ("mutex-musl", &["-DN=2"]),
        ("linuxrwlocks", &["-DN=2"]),
        ("seqlock", &["-DN=3"]),
        ("mpmc-queue", &["-DN=3", "-DBOUND=4"]),
        ("treiber-stack", &["-DN=3", "-DBOUND=4"]),
        ("ms-queue", &["-DN=2"]),
        ("sortnet", &["-DN=3"]),
        ("safestack", &["-DA=2", "-DB=1", "-DBOUND=4"]),
        ("stringbuf", &["-DN=1"]),
    ] {
        for engine in ["dpor", "rf", "rvf"] {
            let args = [&["--engine", engine, "--"], sizes].concat();
            assert_same_in_pieces(&benchmark(name), &args);
        }
    }
}

/// What programs are found to do late, and what makes a search begin anew, is the same for everybody.
#[test]
fn small_programs_have_the_same_answers_in_pieces() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
    for name in [
        "wrong/kind_of_mutex_in_block.c",
        "wrong/kind_of_mutex_misused_in_block.c",
        "correct/release_sequence_behind_others.c",
    ] {
        let file = programs.join(name);
        assert!(file.exists(), "{name}");
        for memory in ["sc", "c11"] {
            let ask = |jobs| {
                let limits = ["--memory", memory, "--engine", "graph", "--keep-going"];
                let pieces = ["--pieces-after", "0", "--jobs", jobs];
                json(&file, &[limits.as_slice(), &pieces].concat())
            };
            let alone = ask("1");
            for jobs in ["2", "3"] {
                assert_eq!(ask(jobs), alone, "{name}, {memory}, {jobs} workers");
            }
        }
    }
}

/// Threads in a ring store and look at their neighbour's store. Only in the last of 511 executions do all of them see it.
const LATE: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_int x[9]; static int seen[9];\n\
    static void *f(void *p) { int k = (int)(long)p; atomic_store(&x[k], 1); seen[k] = atomic_load(&x[(k + 1) % 9]); return 0; }\n\
    int main(void) { pthread_t t[9]; for (long i = 0; i < 9; i++) pthread_create(&t[i], 0, f, (void *)i);\n\
    int all = 0; for (int i = 0; i < 9; i++) { pthread_join(t[i], 0); all += seen[i]; } assert(all < 9); }\n";

/// The same, and they count themselves in every order: nobody comes to the end of that.
const LONG: &str = "#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_int x[16], sum;\n\
    static void *f(void *p) { int k = (int)(long)p; atomic_store(&x[k], 1); if (!atomic_load(&x[(k + 1) % 16])) p = atomic_fetch_add(&sum, 1) < 9 ? p : 0; return p; }\n\
    int main(void) { pthread_t t[16]; for (long i = 0; i < 16; i++) pthread_create(&t[i], 0, f, (void *)i);\n\
    for (int i = 0; i < 16; i++) pthread_join(t[i], 0); }\n";

#[test]
fn the_violation_is_the_first_of_the_sequential_search() {
    let scratch = Scratch::new("parallel-violation");
    let file = scratch.file("late.c", LATE);
    let ask = |jobs| {
        let args = ["--engine", "graph", "--memory", "sc", "--jobs", jobs];
        let output = check(
            &file,
            &[&args[..], &["--format", "json", "--progress", "never"]].concat(),
        );
        assert_eq!(output.status.code(), Some(1));
        let mut told = answer(&output);
        // How far others were is no part of it.
        told["coverage"] = Value::Null;
        told
    };
    let alone = ask("1");
    let before = alone["executions"]["complete"].as_u64().unwrap();
    assert!(before > 400, "found after {before} executions");
    for jobs in ["2", "3"] {
        assert_eq!(ask(jobs), alone, "{jobs} workers");
    }
}

/// Begins a search, and does something to its process after a while.
fn disturbed(args: &[&str], after: Duration, signal: Signal) -> Output {
    let mut command = raddle();
    command
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let process = Pid::from_raw(child.id().cast_signed());
    sleep(after);
    // It may have ended by itself.
    let _ = kill(process, signal);
    child.wait_with_output().unwrap()
}

/// Searches that are kept: how they are asked for, and a size that takes some seconds.
const KEPT: [(&[&str], &str); 5] = [
    (&["--engine", "graph", "--memory", "sc"], "-DN=5"),
    (&["--engine", "dpor"], "-DN=4"),
    (&["--engine", "rf"], "-DN=4"),
    (&["--engine", "rvf"], "-DN=4"),
    // Which is `rf`, and asks nobody: there are not enough executions.
    (&["--memory", "sc"], "-DN=4"),
];

/// What is told, whoever explored.
fn kept_answer(output: &Output) -> Value {
    let mut told = answer(output);
    without_work(&mut told);
    told
}

#[test]
fn a_search_that_is_interrupted_or_killed_goes_on_to_the_same_counts() {
    for (engine, size) in KEPT {
        goes_on_to_the_same_counts(engine, size);
    }
}

fn goes_on_to_the_same_counts(engine: &[&str], size: &str) {
    let scratch = Scratch::new("parallel-resume");
    let file = benchmark("fib-bench");
    let file = file.to_str().unwrap();
    let checkpoint = scratch.0.join("search.checkpoint");
    let checkpoint = checkpoint.to_str().unwrap();
    let told = ["--format", "json", "--progress", "never"];
    let alone = check(
        Path::new(file),
        &[engine, &told, &["--jobs", "1", "--", size]].concat(),
    );
    let first: Vec<&str> = [
        &["check", file, "--checkpoint", checkpoint][..],
        engine,
        &told,
        &["--", size],
    ]
    .concat();
    let mut output = disturbed(&first, Duration::from_millis(700), Signal::SIGINT);
    let signals = [Signal::SIGTERM, Signal::SIGKILL, Signal::SIGINT];
    let mut rounds = 0;
    while output.status.code() != Some(0) {
        if !Path::new(checkpoint).exists() {
            // It was stopped before the search began.
            output = disturbed(
                &first,
                Duration::from_millis(700 * (rounds + 1)),
                Signal::SIGINT,
            );
            rounds += 1;
            continue;
        }
        let jobs = (1 + rounds % 3).to_string();
        let signal = signals[rounds as usize % signals.len()];
        let after = Duration::from_millis(400 * (rounds + 1));
        output = disturbed(&["resume", checkpoint, "--jobs", &jobs], after, signal);
        rounds += 1;
        assert!(rounds < 100, "{}", String::from_utf8_lossy(&output.stderr));
    }
    let told = kept_answer(&output);
    assert_eq!(told, kept_answer(&alone), "{engine:?}, {rounds} rounds");
}

/// `RADDLE_STOPS=50 cargo test -p raddle --test parallel any_moment` tries more of them.
#[test]
fn a_search_that_is_stopped_at_any_moment_ends_with_the_same_counts() {
    for (engine, _) in KEPT {
        ends_with_the_same_counts(engine);
    }
}

fn ends_with_the_same_counts(engine: &[&str]) {
    let scratch = Scratch::new("parallel-moments");
    let file = benchmark("fib-bench");
    let file = file.to_str().unwrap();
    let checkpoint = scratch.0.join("search.checkpoint");
    let kept = checkpoint.to_str().unwrap();
    let told = ["--format", "json", "--progress", "never"];
    let alone = check(
        Path::new(file),
        &[engine, &told, &["--jobs", "1", "--", "-DN=4"]].concat(),
    );
    let alone = kept_answer(&alone);
    let stops = std::env::var("RADDLE_STOPS").map_or(3, |it| it.parse().unwrap());
    let mut random = raddle_random::Random::new(19);
    let mut kept_count = 0;
    for stop in 0..stops {
        let jobs = (1 + random.below(3)).to_string();
        let first = [
            &["check", file, "--checkpoint", kept][..],
            engine,
            &told,
            &["--pieces-after", "0", "--jobs", &jobs],
            &["--", "-DN=4"],
        ]
        .concat();
        let signal = [Signal::SIGINT, Signal::SIGTERM][random.below(2) as usize];
        let after = Duration::from_millis(100 + random.below(900));
        let mut output = disturbed(&first, after, signal);
        kept_count += u32::from(checkpoint.exists());
        while output.status.code() != Some(0) {
            let jobs = (1 + random.below(3)).to_string();
            output = match checkpoint.exists() {
                true => raddle()
                    .args(["resume", kept, "--jobs", &jobs])
                    .output()
                    .unwrap(),
                false => raddle().args(&first).output().unwrap(),
            };
            let is_answer = matches!(output.status.code(), Some(0 | 3));
            assert!(is_answer, "{}", String::from_utf8_lossy(&output.stderr));
        }
        let told = kept_answer(&output);
        assert_eq!(told, alone, "{engine:?}, stop {stop}, after {after:?}");
        let _ = fs::remove_file(&checkpoint);
    }
    eprintln!("{engine:?}: {kept_count} of {stops} searches had begun when they were stopped");
}

#[test]
fn checkpoints_that_do_not_fit_are_refused() {
    for engine in ["graph", "dpor", "rf", "rvf"] {
        only_what_fits_is_taken_up(engine);
    }
}

fn only_what_fits_is_taken_up(engine: &str) {
    let scratch = Scratch::new("parallel-refused");
    let program = scratch.file("long.c", LONG);
    let checkpoint = scratch.0.join("search.checkpoint");
    // The compiler may take all of the time on a machine that is busy.
    for seconds in ["2", "4", "8", "16", "32"] {
        let limit = [
            "--engine",
            engine,
            "--memory",
            "sc",
            "--time-limit",
            seconds,
        ];
        let kept = ["--checkpoint", checkpoint.to_str().unwrap()];
        let output = check(&program, &[&limit[..], &kept].concat());
        says(&output, 3, &[]);
        if checkpoint.exists() {
            says(&output, 3, &["what is left is kept in", "raddle resume"]);
            break;
        }
    }
    let resume = |file: &Path| raddle().arg("resume").arg(file).output().unwrap();
    let text = fs::read_to_string(&checkpoint).unwrap();
    let half = scratch.file("half.checkpoint", &text[..text.len() / 2]);
    says(&resume(&half), 2, &["this checkpoint is damaged"]);
    let changed = scratch.file(
        "changed.checkpoint",
        &text.replacen("part - ", "part - 1", 1),
    );
    says(&resume(&changed), 2, &["this checkpoint is damaged"]);
    let other = scratch.file("other.checkpoint", "int main(void) {}\n");
    says(&resume(&other), 2, &["this is no checkpoint of Raddle"]);
    let newer = text.replacen("\"raddle_checkpoint\":2", "\"raddle_checkpoint\":9", 1);
    let newer = scratch.file("newer.checkpoint", &newer);
    says(&resume(&newer), 2, &["this checkpoint has format 9"]);
    says(&resume(&scratch.0.join("none")), 2, &["cannot read"]);
    let path = checkpoint.to_str().unwrap();
    let again = raddle()
        .args(["resume", path, "--time-limit", "1"])
        .output();
    says(&again.unwrap(), 3, &["the time limit of 1 s"]);
    fs::write(&program, LONG.replace("< 9 ?", "< 8 ?")).unwrap();
    says(
        &resume(&checkpoint),
        2,
        &["this checkpoint is of another program"],
    );
    let nowhere = check(
        &program,
        &[
            "--engine",
            engine,
            "--checkpoint",
            "/nowhere/search.checkpoint",
        ],
    );
    says(&nowhere, 2, &["cannot write /nowhere/search.checkpoint"]);
}
