//! Saved executions: what is written is repeated, and nothing that a file holds makes Raddle panic.

mod common;

use common::{Scratch, check, raddle, says};
use std::fs;
use std::path::Path;
use std::process::Output;

/// Two increments of which one is lost, with output.
const LOST: &str = r#"#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int x;
static void *add(void *name) {
    printf("%s begins\n", (char *)name);
    int seen = x;
    x = seen + 1;
    printf("%s wrote %d\n", (char *)name, seen + 1);
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, "left");
    pthread_create(&b, 0, add, "right");
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 2);
    return 0;
}
"#;

fn replay(trace: &Path) -> Output {
    raddle().arg("replay").arg(trace).output().unwrap()
}

/// A program that goes wrong, and its saved execution.
fn saved(scratch: &Scratch, more: &[&str]) -> (std::path::PathBuf, std::path::PathBuf) {
    let file = scratch.file("lost.c", LOST);
    let trace = scratch.0.join("lost.trace");
    let mut args = vec!["--engine", "dpor", "--trace", trace.to_str().unwrap()];
    args.extend(more);
    says(&check(&file, &args), 1, &["assertion failed: x == 2"]);
    (file, trace)
}

#[test]
fn a_saved_execution_is_repeated_with_its_output() {
    let scratch = Scratch::new("replay");
    let (_, trace) = saved(&scratch, &[]);
    let first = replay(&trace);
    says(
        &first,
        1,
        &[
            "assertion failed: x == 2",
            "prints \"left begins\\n\"",
            "prints \"right wrote 1\\n\"",
            "reproduced: the saved execution of 9 events",
        ],
    );
    assert_eq!(first.stdout, replay(&trace).stdout);
}

#[test]
fn executions_with_delayed_stores_are_repeated() {
    let scratch = Scratch::new("replay-tso");
    let file = scratch.file(
        "sb.c",
        "#include <assert.h>\n#include <pthread.h>\nint x, y, a, b;\n\
         void *left(void *p) { __atomic_store_n(&x, 1, 0); a = __atomic_load_n(&y, 0); return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, left, 0); __atomic_store_n(&y, 1, 0);\n\
         b = __atomic_load_n(&x, 0); pthread_join(t, 0); assert(a || b); return 0; }\n",
    );
    let trace = scratch.0.join("sb.trace");
    let args = [
        "--memory",
        "tso",
        "--engine",
        "naive",
        "--trace",
        trace.to_str().unwrap(),
    ];
    says(&check(&file, &args), 1, &["becomes visible"]);
    let text = fs::read_to_string(&trace).unwrap();
    assert!(text.contains("\"flush\": \"main"), "{text}");
    says(&replay(&trace), 1, &["becomes visible", "reproduced"]);
}

#[test]
fn every_kind_of_violation_is_repeated() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/wrong");
    let scratch = Scratch::new("replay-kinds");
    for (program, more) in [
        ("race", &[] as &[&str]),
        ("use_after_free", &[]),
        ("double_free", &[]),
        ("deadlock_lock_order", &[]),
        ("lost_signal", &[]),
        ("unlock_not_owned", &[]),
        ("null_dereference", &[]),
        ("livelock", &["--check", "livelock"]),
        ("overflow", &["--check", "overflow"]),
        ("reach_error", &[]),
    ] {
        let file = programs.join(format!("{program}.c"));
        let trace = scratch.0.join(program);
        let mut args = vec!["--engine", "dpor", "--trace", trace.to_str().unwrap()];
        args.extend(more);
        says(&check(&file, &args), 1, &[]);
        says(&replay(&trace), 1, &["reproduced: the saved execution"]);
    }
}

#[test]
fn a_changed_program_is_said_to_have_changed() {
    let scratch = Scratch::new("replay-changed");
    let (file, trace) = saved(&scratch, &[]);
    // A comment is no change to the program, although lines move.
    fs::write(
        &file,
        LOST.replace("static atomic", "// one\nstatic atomic"),
    )
    .unwrap();
    says(&replay(&trace), 1, &["assertion failed"]);
    // A fix: the execution is not there any more.
    let fixed = LOST.replace("int seen = x;\n    x = seen + 1;", "int seen = x++;");
    fs::write(&file, fixed).unwrap();
    says(
        &replay(&trace),
        3,
        &[
            "warning: ",
            "has changed since the execution was saved",
            "not reproduced: the execution took another way at event 3: expected `line 8: read x → 0`, got `line 8: x += 1 (0 → 1)`",
            "the change may well have removed the bug",
        ],
    );
    // The same steps, and nothing wrong any more.
    fs::write(&file, LOST.replace("x == 2", "x >= 1")).unwrap();
    says(
        &replay(&trace),
        3,
        &["has changed", "not reproduced: the execution runs through"],
    );
    // The same steps, with other values.
    fs::write(&file, LOST.replace("seen + 1;", "seen + 5;")).unwrap();
    says(
        &replay(&trace),
        1,
        &["from event 5 on this is another execution", "x = 5"],
    );
    // The same steps, and something else is wrong.
    fs::write(&file, LOST.replace("x == 2", "x > 7")).unwrap();
    says(
        &replay(&trace),
        3,
        &[
            "not reproduced: the execution ends in `assertion failed: x > 7`, and not in `assertion failed: x == 2`",
        ],
    );
    fs::remove_file(&file).unwrap();
    says(&replay(&trace), 2, &["no such file"]);
}

#[test]
fn a_trace_is_found_beside_its_program() {
    let scratch = Scratch::new("replay-beside");
    let file = scratch.file("lost.c", LOST);
    let output = raddle()
        .args(["check", "lost.c", "--trace", "lost.trace"])
        .current_dir(&scratch.0)
        .output()
        .unwrap();
    says(&output, 1, &[]);
    says(
        &replay(&file.with_file_name("lost.trace")),
        1,
        &["reproduced"],
    );
}

#[test]
fn without_a_violation_nothing_is_saved() {
    let scratch = Scratch::new("replay-none");
    let file = scratch.file("a.c", "int main(void) { return 0; }\n");
    let trace = scratch.0.join("a.trace");
    says(
        &check(&file, &["--trace", trace.to_str().unwrap()]),
        0,
        &["is not written: there is no violation"],
    );
    assert!(!trace.exists());
    let nowhere = scratch.0.join("no/such/directory/a.trace");
    let wrong = scratch.file("lost.c", LOST);
    says(
        &check(&wrong, &["--trace", nowhere.to_str().unwrap()]),
        2,
        &["cannot write", "help: is the directory there"],
    );
}

#[test]
fn files_that_are_no_traces_are_errors() {
    let scratch = Scratch::new("replay-bad");
    let (_, trace) = saved(&scratch, &[]);
    const MAIN: &str = "\"run\": \"main\"";
    let good = fs::read_to_string(&trace).unwrap();
    for (text, message) in [
        ("", "this is no saved execution"),
        ("{}", "`raddle_trace` is missing"),
        ("\u{0}\u{1}\u{2}", "this is no saved execution"),
        ("{\"raddle_trace\": 99}", "version 99"),
        ("{\"raddle_trace\": 1}", "version 1"),
        ("{\"raddle_trace\": 2}", "damaged: missing field"),
    ] {
        says(
            &replay(&scratch.file("bad.trace", text)),
            2,
            &[message, "help: "],
        );
    }
    for (old, new, message) in [
        (MAIN, "\"run\": 0", "damaged"),
        (
            MAIN,
            "\"run\": \"main.0\"",
            "`main.0` is no name of a thread",
        ),
        (MAIN, "\"run\": \"main.1x\"", "damaged: event 1"),
        (
            MAIN,
            "\"walk\": \"main\"",
            "event 1 of the schedule must have one of",
        ),
        (
            "\"memory\": \"sc\"",
            "\"memory\": \"mystery\"",
            "no memory model `mystery`",
        ),
        ("lost.c", "gone.c", "no such file"),
    ] {
        let text = good.replacen(old, new, 1);
        assert_ne!(text, good, "{old}");
        says(&replay(&scratch.file("bad.trace", &text)), 2, &[message]);
    }
    // What can be read may still be no execution of the program: that is said of the file, not of the program.
    for (old, new, message) in [
        (MAIN, "\"run\": \"main.77\"", "at event 1: expected `"),
        (MAIN, "\"run\": \"main.77\"", "got no thread `main.77`"),
        (
            MAIN,
            "\"flush\": \"main\"",
            "got no delayed store of T0 (main)",
        ),
        (
            "\"run\": \"main.2\"",
            "\"run\": \"main.1\"",
            "took another way at event ",
        ),
        ("x == 2", "y == 2", "and not in `assertion failed: y == 2`"),
    ] {
        let text = good.replacen(old, new, 1);
        assert_ne!(text, good, "{old}");
        says(
            &replay(&scratch.file("edited.trace", &text)),
            3,
            &[message, "cause: the trace file was damaged or edited"],
        );
    }
    says(
        &replay(&scratch.0.join("missing")),
        2,
        &["cannot read", "help: "],
    );
    says(&replay(&scratch.0), 2, &["cannot read"]);
}
