//! The twenty most likely mistakes of a newcomer. Each gets one message that says what is wrong, and what to do next.

mod common;

use common::{Scratch, check, raddle, says};
use std::path::Path;

fn run(args: &[&str]) -> std::process::Output {
    raddle().args(args).output().unwrap()
}

/// Checks a program that is given as text.
fn program(test: &str, text: &str, args: &[&str]) -> std::process::Output {
    let scratch = Scratch::new(test);
    check(&scratch.file("a.c", text), args)
}

const EMPTY_MAIN: &str = "int main(void) { return 0; }\n";

// ---- the command line

#[test]
fn m01_no_command() {
    says(
        &run(&["prog.c"]),
        2,
        &[
            "unrecognized subcommand 'prog.c'",
            "help: to check a program: `raddle check prog.c`",
        ],
    );
}

#[test]
fn m02_a_file_that_is_not_there() {
    says(
        &run(&["check", "nowhere.c"]),
        2,
        &["nowhere.c: no such file", "help: check the path"],
    );
}

#[test]
fn m03_arguments_for_clang_without_dashes() {
    says(
        &program("m03", EMPTY_MAIN, &["-Iinclude"]),
        2,
        &[
            "unexpected argument '-I'",
            "help: arguments for clang go after `--`",
        ],
    );
}

#[test]
fn m04_several_files() {
    let scratch = Scratch::new("m04");
    let main = scratch.file("a.c", EMPTY_MAIN);
    let missing = scratch.0.join("b.c");
    let output = raddle().arg("check").args([&main, &missing]).output();
    says(&output.unwrap(), 2, &["b.c: no such file"]);
    let rust = scratch.file("b.rs", "fn main() {}");
    let output = raddle().arg("check").args([&main, &rust]).output();
    says(
        &output.unwrap(),
        2,
        &["a Rust program is not linked with other sources"],
    );
    says(
        &run(&["check"]),
        2,
        &["required arguments were not provided", "<FILE"],
    );
}

#[test]
fn m05_a_misspelt_option_or_value() {
    let output = program("m05", EMPTY_MAIN, &["--engine", "dpro"]);
    says(
        &output,
        2,
        &[
            "invalid value 'dpro'",
            "possible values",
            "similar value exists: 'dpor'",
        ],
    );
    let output = program("m05b", EMPTY_MAIN, &["--chek", "race"]);
    says(
        &output,
        2,
        &[
            "unexpected argument '--chek'",
            "similar argument exists: '--check'",
        ],
    );
}

// ---- the file

#[test]
fn m06_a_compiled_program_instead_of_its_source() {
    let scratch = Scratch::new("m06");
    for (name, help) in [
        ("a.out", "help: Raddle needs the source"),
        ("a.o", "help: Raddle needs the source"),
        ("a.h", "help: name the file that includes it"),
        ("a.py", "help: C: .c .i"),
    ] {
        let file = scratch.file(name, "\u{7f}ELF");
        says(&check(&file, &[]), 2, &["unknown kind of file", help]);
    }
    says(
        &check(&scratch.0, &[]),
        2,
        &["this is a directory", "help: name the file"],
    );
}

#[test]
fn m07_a_missing_include_path() {
    says(
        &program("m07", "#include \"queue.h\"\nint main(void) {}\n", &[]),
        2,
        &[
            "'queue.h' file not found",
            "help: say where the header lies: `raddle check ",
            "-- -IDIRECTORY`",
        ],
    );
}

#[test]
fn m08_a_program_that_does_not_compile() {
    says(
        &program("m08", "int main(void) { return x; }\n", &[]),
        2,
        &[
            "undeclared identifier 'x'",
            "the program does not compile",
            "help: see clang's messages above",
        ],
    );
}

#[test]
fn m09_an_argument_that_clang_does_not_know() {
    says(
        &program("m09", EMPTY_MAIN, &["--", "-fmagic"]),
        2,
        &["unknown argument", "help: what follows `--` goes to clang"],
    );
}

#[test]
fn m10_a_file_without_main() {
    says(
        &program("m10", "void test(void) {}\n", &[]),
        2,
        &["no function `main`", "help: "],
    );
}

#[test]
fn m11_no_clang() {
    let scratch = Scratch::new("m11");
    let file = scratch.file("a.c", EMPTY_MAIN);
    let mut command = raddle();
    command
        .arg("check")
        .arg(&file)
        .env("PATH", "")
        .env_remove("RADDLE_CLANG");
    says(
        &command.output().unwrap(),
        2,
        &[
            "no clang found",
            "help: install it (`apt-get install clang`)",
        ],
    );
}

#[test]
fn m11_another_compiler_in_place_of_clang() {
    let scratch = Scratch::new("m11-other");
    let file = scratch.file("a.c", EMPTY_MAIN);
    let mut command = raddle();
    command.arg("check").arg(&file).env("RADDLE_CLANG", "true");
    says(
        &command.output().unwrap(),
        2,
        &["true`, which is no clang", "help: set it to a clang"],
    );
}

/// An answer may take hours: that a file cannot be written is told before.
#[test]
fn m11_a_report_that_cannot_be_written() {
    let scratch = Scratch::new("m11-report");
    let file = scratch.file("a.c", EMPTY_MAIN);
    let nowhere = scratch.0.join("no/such/directory/report.html");
    let mut command = raddle();
    command.arg("check").arg(&file).arg("--report").arg(nowhere);
    let output = command.output().unwrap();
    says(&output, 2, &["cannot write ", "help: is the directory"]);
    assert!(output.stdout.is_empty());
}

// ---- what cannot be run

#[test]
fn m12_an_unknown_function() {
    says(
        &program(
            "m12",
            "void frobnicate(int);\nint main(void) { frobnicate(1); }\n",
            &[],
        ),
        2,
        &[
            "`frobnicate` is called, and Raddle does not know what it does",
            "a.c:2:",
            "help: name the file that defines it as well",
        ],
    );
}

#[test]
fn m13_a_nondeterministic_integer() {
    says(
        &program(
            "m13",
            "int __VERIFIER_nondet_int(void);\nint main(void) { return __VERIFIER_nondet_int(); }\n",
            &["--engine", "dpor"],
        ),
        2,
        &[
            "`__VERIFIER_nondet_int` returns any value",
            "help: ",
            "__VERIFIER_nondet_bool",
        ],
    );
}

#[test]
fn m14_inline_assembly() {
    says(
        &program(
            "m14",
            "int main(void) { __asm__ volatile(\"hlt\"); }\n",
            &[],
        ),
        2,
        &[
            "inline assembly is not supported",
            "help: use atomics instead",
            "Raddle defines the macro `RADDLE`",
        ],
    );
}

#[test]
fn m15_random_numbers() {
    says(
        &program(
            "m15",
            "#include <stdlib.h>\nint main(void) { return rand(); }\n",
            &["--engine", "rf"],
        ),
        2,
        &["`rand` returns any value", "help: `--engine bmc`"],
    );
}

// ---- what does not end

#[test]
fn m16_an_endless_loop_of_one_thread() {
    says(
        &program(
            "m16",
            "int main(void) { for (;;) {} }\n",
            &["--time-limit", "60"],
        ),
        3,
        &["inconclusive: ", "help: is this loop endless? `--unroll N`"],
    );
}

#[test]
fn m17_an_endless_loop_of_all_threads() {
    says(
        &program(
            "m17",
            "#include <stdatomic.h>\nstatic atomic_int x;\nint main(void) { for (;;) x++; }\n",
            &["--time-limit", "0.2"],
        ),
        3,
        &[
            "inconclusive: the time limit of 0.20 s",
            "help: raise `--time-limit`, bound loops with `--unroll N`",
        ],
    );
}

// ---- bugs that newcomers meet first

#[test]
fn m18_a_flag_that_is_not_atomic() {
    let text = "#include <pthread.h>\nint ready, data;\n\
         void *writer(void *p) { data = 1; ready = 1; return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, writer, 0); while (!ready) {} return data; }\n";
    says(
        &program("m18", text, &[]),
        1,
        &[
            "data race on ready",
            " of ready by ",
            "help: let one mutex protect both accesses, or make both atomic",
        ],
    );
}

#[test]
fn m19_a_forgotten_join() {
    let text = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\natomic_int done;\n\
         void *work(void *p) { done = 1; return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); assert(done == 1); }\n";
    says(
        &program("m19", text, &[]),
        1,
        &["assertion failed: done == 1", "done is 0", "← initial"],
    );
    // A local variable that the thread still uses when its function has returned.
    let text = "#include <pthread.h>\nvoid *work(void *p) { *(int *)p = 1; return 0; }\n\
         void start(void) { int x; pthread_t t; pthread_create(&t, 0, work, &x); }\n\
         int main(void) { start(); return 0; }\n";
    says(
        &program("m19b", text, &["--check", "memory"]),
        1,
        &["after the end of its life"],
    );
}

#[test]
fn m20_a_lock_that_is_never_unlocked() {
    let text = "#include <pthread.h>\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
         void *work(void *p) { pthread_mutex_lock(&m); return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); pthread_mutex_lock(&m); }\n";
    says(
        &program("m20", text, &[]),
        1,
        &[
            "deadlock: T0 (main) waits for good",
            "waits to lock m",
            "held by T1 (work) since step",
            "help: raddle explain deadlock",
        ],
    );
}

/// Whatever is wrong with the input, it is no panic.
#[test]
fn nothing_is_a_panic() {
    let replayed = run(&["replay", Path::new(file!()).to_str().unwrap()]);
    says(&replayed, 2, &["help: "]);
    for args in [
        &["check"][..],
        &["replay"],
        &["explain", "nothing"],
        &["man", "x"],
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("internal error"), "{said}");
    }
}
