//! What the command line says when something is wrong with the input, and with which exit status.

mod common;

use common::{Scratch, check, raddle, says};
use std::path::Path;

const EMPTY_MAIN: &str = "int main(void) { return 0; }\n";

#[test]
fn a_correct_program_has_status_0() {
    let scratch = Scratch::new("correct");
    let file = scratch.file("a.c", EMPTY_MAIN);
    says(
        &check(&file, &[]),
        0,
        &["verified: no violation in any execution"],
    );
}

#[test]
fn a_missing_file() {
    says(
        &check(Path::new("no/such/file.c"), &[]),
        2,
        &[
            "error: no/such/file.c: no such file",
            "help: check the path",
        ],
    );
}

#[test]
fn a_directory() {
    let scratch = Scratch::new("directory");
    says(
        &check(&scratch.0, &[]),
        2,
        &["this is a directory", "help: name the file"],
    );
}

#[test]
fn an_empty_file() {
    let scratch = Scratch::new("empty");
    let file = scratch.file("a.c", "");
    says(&check(&file, &[]), 2, &["the file is empty"]);
}

#[test]
fn an_unknown_kind_of_file() {
    let scratch = Scratch::new("kind");
    let file = scratch.file("a.txt", "hello");
    says(
        &check(&file, &[]),
        2,
        &["unknown kind of file: `.txt`", "help: C: .c .i"],
    );
}

#[test]
fn a_program_that_does_not_compile() {
    let scratch = Scratch::new("compile");
    let file = scratch.file("a.c", "int main(void) { return x; }\n");
    says(
        &check(&file, &[]),
        2,
        &[
            "use of undeclared identifier",
            "the program does not compile",
        ],
    );
}

#[test]
fn arguments_after_two_dashes_reach_clang() {
    let scratch = Scratch::new("clang-args");
    let file = scratch.file(
        "a.c",
        "#include <assert.h>\nint main(void) { assert(N == 2); return 0; }\n",
    );
    says(&check(&file, &["--", "-DN=2"]), 0, &[]);
    says(
        &check(&file, &["--", "-DN=3"]),
        1,
        &["assertion failed: N == 2"],
    );
}

#[test]
fn the_macro_raddle_is_defined() {
    let scratch = Scratch::new("macro");
    let file = scratch.file("a.c", "#ifndef RADDLE\n#error\n#endif\nint main(void) {}\n");
    says(&check(&file, &[]), 0, &[]);
}

#[test]
fn no_clang_on_the_path() {
    let scratch = Scratch::new("no-clang");
    let file = scratch.file("a.c", EMPTY_MAIN);
    let output = raddle()
        .arg("check")
        .arg(&file)
        .env("PATH", "")
        .env_remove("RADDLE_CLANG")
        .output()
        .unwrap();
    says(
        &output,
        2,
        &["no clang found", "apt-get install clang", "RADDLE_CLANG"],
    );
}

#[test]
fn a_clang_that_does_not_exist() {
    let scratch = Scratch::new("bad-clang");
    let file = scratch.file("a.c", EMPTY_MAIN);
    let output = raddle()
        .arg("check")
        .arg(&file)
        .env("RADDLE_CLANG", "/nowhere/clang")
        .output()
        .unwrap();
    says(
        &output,
        2,
        &["RADDLE_CLANG is set to `/nowhere/clang`, which does not exist"],
    );
}

#[test]
fn a_program_without_main() {
    let scratch = Scratch::new("no-main");
    let file = scratch.file("a.c", "int x;\n");
    says(&check(&file, &[]), 2, &["no function `main`"]);
}

#[test]
fn malformed_ir() {
    let scratch = Scratch::new("bad-ir");
    let file = scratch.file("a.ll", "define void @main( {\n");
    says(
        &check(&file, &[]),
        2,
        &["cannot read the LLVM IR", "a.ll:2:1: expected"],
    );
}

#[test]
fn an_engine_that_is_not_there() {
    let scratch = Scratch::new("engine");
    let file = scratch.file("a.c", EMPTY_MAIN);
    says(
        &check(&file, &["--engine", "magic"]),
        2,
        &["invalid value 'magic' for '--engine"],
    );
}

#[test]
fn an_unknown_function_matters_only_where_it_is_called() {
    let scratch = Scratch::new("unknown");
    let reached = scratch.file(
        "reached.c",
        "int f(void);\nint main(void) { return f(); }\n",
    );
    says(
        &check(&reached, &[]),
        2,
        &[
            "`f` is called",
            "reached.c:2:",
            "help: name the file that defines it",
        ],
    );
    let not_reached = scratch.file(
        "not_reached.c",
        "int f(void);\nint main(int n, char **v) { (void)v; return n > 9 ? f() : 0; }\n",
    );
    says(&check(&not_reached, &[]), 0, &["verified"]);
}

#[test]
fn limits_are_inconclusive() {
    let scratch = Scratch::new("limits");
    let file = scratch.file("a.c", EMPTY_MAIN);
    says(&check(&file, &["--time-limit", "-1"]), 2, &["--time-limit"]);
    let endless = scratch.file(
        "b.c",
        "#include <stdatomic.h>\nstatic atomic_int x;\nint main(void) { for (;;) atomic_fetch_add(&x, 1); }\n",
    );
    says(
        &check(&endless, &["--time-limit", "0.2"]),
        3,
        &[
            "inconclusive: the time limit of 0.20 s was reached",
            "help: raise",
        ],
    );
}

#[test]
fn colours_come_when_asked_for() {
    let scratch = Scratch::new("color");
    let file = scratch.file("a.c", EMPTY_MAIN);
    assert!(!check(&file, &[]).stdout.contains(&0x1b));
    assert!(check(&file, &["--color", "always"]).stdout.contains(&0x1b));
}

#[test]
fn topics_are_explained() {
    let output = raddle().args(["explain", "race"]).output().unwrap();
    says(&output, 0, &["data races"]);
    let output = raddle().args(["explain", "nonsense"]).output().unwrap();
    says(
        &output,
        2,
        &[
            "there is no topic `nonsense`",
            "help: `raddle explain` lists all topics",
        ],
    );
}

/// Every engine, check and kind of violation that users meet has a text.
#[test]
fn nothing_that_users_meet_is_unexplained() {
    for topic in [
        "auto",
        "naive",
        "assert",
        "memory",
        "race",
        "deadlock",
        "livelock",
        "overflow",
        "assertion",
        "null-dereference",
        "out-of-bounds",
        "use-after-free",
        "double-free",
        "invalid-free",
        "misuse",
        "division-by-zero",
    ] {
        let output = raddle().args(["explain", topic]).output().unwrap();
        assert!(output.status.success(), "{topic}");
    }
}

#[test]
fn engines_are_compared_in_one_table() {
    let scratch = Scratch::new("compare");
    let correct = scratch.file(
        "a.c",
        "#include <stdatomic.h>\n#include <pthread.h>\nstatic atomic_int x;\nstatic void *f(void *p) { x++; return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x++; pthread_join(t, 0); return 0; }\n",
    );
    let compare = |file: &Path, args: &[&str]| {
        let output = raddle().arg("compare").arg(file).args(args).output();
        output.unwrap()
    };
    let output = compare(&correct, &[]);
    let engines = raddle::options::ENGINES.iter();
    // One of them does not look for races, which is what is asked for.
    let engines: Vec<&str> = engines
        .filter(|(_, kind)| kind.makes(raddle_search::Check::Race))
        .map(|(name, _)| *name)
        .collect();
    says(&output, 0, &engines);
    says(&output, 0, &["engine  ", "verified"]);
    let output = compare(&correct, &["--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json.as_array().unwrap().len(), engines.len());
    assert_eq!(json[0]["verdict"], "verified");
    let wrong = scratch.file("b.c", "#include <stdlib.h>\nint main(void) { abort(); }\n");
    says(&compare(&wrong, &[]), 1, &["violation", "abort"]);
    let tso = compare(&correct, &["--memory", "tso"]);
    says(&tso, 0, &["naive", "graph", "bmc"]);
    // A race that only some engines look for is no disagreement.
    let race = scratch.file(
        "r.c",
        "#include <pthread.h>\nint x;\nvoid *f(void *p) { x = 1; return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x = 2; pthread_join(t, 0); return 0; }\n",
    );
    says(&compare(&race, &[]), 1, &["race"]);
    says(
        &compare(&correct, &["--engine", "dpor"]),
        2,
        &["`--engine` is an option of `raddle check` only"],
    );
    // `bmc` explores no executions, so the limit does not keep it from an answer; but it does not look for livelocks.
    let limited = ["--max-executions", "1", "--no-ifaa"];
    says(
        &compare(&correct, &limited),
        0,
        &["inconclusive", "verified"],
    );
    let limited = [&limited[..], &["--check", "assert,livelock"]].concat();
    says(
        &compare(&correct, &limited),
        3,
        &[
            "inconclusive",
            "the limit of 1 execution was reached",
            "without looking for livelocks",
        ],
    );
}

const ENDLESS: &str = "#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int x;\n\
     static void *f(void *p) { for (int i = 0; i < 9; i++) x += i; return p; }\n\
     int main(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, 0); return x; }\n";

/// The rate and what is left, but only for people who watch.
#[test]
fn progress_is_shown_on_terminals_only() {
    let scratch = Scratch::new("progress");
    let file = scratch.file("a.c", ENDLESS);
    for engine in ["dpor", "rf", "rvf"] {
        let limited = ["--time-limit", "3", "--no-ifaa", "--engine", engine];
        let output = check(&file, &limited);
        says(&output, 3, &["the time limit"]);
        assert!(output.stderr.is_empty());
        let output = check(&file, &[&limited[..], &["--progress", "always"]].concat());
        let shown = String::from_utf8_lossy(&output.stderr);
        for part in [" executions", "/s, ", " explored"] {
            assert!(shown.contains(part), "{engine}, {part}: {shown}");
        }
        // It is wiped away in the end.
        assert!(shown.ends_with("\r\u{1b}[K"), "{shown:?}");
    }
}

/// Two primes to be found, which takes a solver long.
const HARD: &str = "#include <assert.h>\nunsigned long __VERIFIER_nondet_ulong(void);\n\
     int main(void) { unsigned long x = __VERIFIER_nondet_ulong(), y = __VERIFIER_nondet_ulong();\n\
     if (x > 1 && y > 1 && x < (1ul << 32) && y < (1ul << 32)) assert(x * y != 9223372014706262389ul); return 0; }\n";

/// A formula that grows for minutes.
const LARGE: &str = "#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int x[64];\n\
     static void *f(void *p) { for (int i = 0; i < 63; i++) for (int j = 0; j < 63; j++) x[(i * j + x[j]) & 63] = x[i] + j; return p; }\n\
     int main(void) { pthread_t t[3]; for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, f, 0); return 0; }\n";

/// Engine `bmc` has no executions to count, but it shows that it is alive, and heeds Ctrl-C while it writes its formula and
/// while it solves it.
#[test]
fn an_interrupted_solver_is_inconclusive() {
    for (name, text) in [("hard", HARD), ("large", LARGE)] {
        let scratch = Scratch::new(&format!("interrupt-{name}"));
        let file = scratch.file("a.c", text);
        let (shown, output) = interrupted(&file, &["--engine", "bmc"]);
        assert!(shown.starts_with("\rsolving, "), "{shown:?}");
        assert!(shown.ends_with("\r\u{1b}[K"), "{shown:?}");
        says(&output, 3, &["inconclusive: it was interrupted while "]);
    }
}

/// Runs a check, interrupts it when it shows its first status line, and waits for its end.
fn interrupted(file: &std::path::Path, args: &[&str]) -> (String, std::process::Output) {
    let mut child = raddle()
        .arg("check")
        .arg(file)
        .args(["--progress", "always"])
        .args(args)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut error = child.stderr.take().unwrap();
    let mut shown = vec![0];
    std::io::Read::read_exact(&mut error, &mut shown).unwrap();
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    std::io::Read::read_to_end(&mut error, &mut shown).unwrap();
    let output = child.wait_with_output().unwrap();
    (String::from_utf8_lossy(&shown).into_owned(), output)
}

/// Ctrl-C is no crash: what was done so far is told.
#[test]
fn an_interrupted_search_is_inconclusive() {
    let scratch = Scratch::new("interrupt");
    let file = scratch.file("a.c", ENDLESS);
    let (_, output) = interrupted(&file, &["--no-ifaa"]);
    says(
        &output,
        3,
        &[
            "inconclusive: it was interrupted (",
            " executions",
            "no violation was found in the part",
        ],
    );
}

#[test]
fn completions_and_manual_pages_are_printed() {
    let run = |args: &[&str]| raddle().args(args).output().unwrap();
    says(
        &run(&["completions", "bash"]),
        0,
        &["complete -F _raddle", "--memory"],
    );
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        says(&run(&["completions", shell]), 0, &["raddle"]);
    }
    says(&run(&["completions", "cmd"]), 2, &["invalid value 'cmd'"]);
    says(&run(&["man"]), 0, &[".TH raddle 1", "compare", "Examples"]);
    says(
        &run(&["man", "check"]),
        0,
        &[".TH raddle-check 1", "time\\-limit"],
    );
    says(
        &run(&["man", "cook"]),
        2,
        &["there is no command `cook`", "help: commands: check"],
    );
}

#[test]
fn help_has_examples() {
    for args in [&["--help"][..], &["check", "--help"]] {
        let output = raddle().args(args).output().unwrap();
        says(&output, 0, &["Examples:", "raddle check "]);
    }
}

/// Four bytes or eight: what is asked for, what clang is told, and what the program was compiled for must be one.
#[test]
fn the_data_model_is_the_programs() {
    let scratch = Scratch::new("data-model");
    let file = scratch.file(
        "size.c",
        "void reach_error(void); int main(void) { if (sizeof(long) == 4) reach_error(); return 0; }\n",
    );
    says(&check(&file, &[]), 0, &["verified"]);
    says(&check(&file, &["--data-model", "LP64"]), 0, &["verified"]);
    let named = ["memory sc, data model ILP32"];
    says(&check(&file, &["--data-model", "ILP32"]), 1, &named);
    says(&check(&file, &["--", "-m32"]), 1, &named);
    says(
        &check(&file, &["--data-model", "ilp32", "--", "-m32"]),
        1,
        &named,
    );
    let json = ["--data-model", "ILP32", "--format", "json"];
    says(&check(&file, &json), 1, &["\"data_model\": \"ILP32\""]);
    for (model, other) in [("LP64", "-m32"), ("ILP32", "-m64")] {
        let both = check(&file, &["--data-model", model, "--", other]);
        says(&both, 2, &["contradicts what is given to clang"]);
    }
    // IR says itself what it is for.
    let layout = "e-m:e-p:32:32-p270:32:32-p271:32:32-p272:64:64-f64:32:64-f80:32-n8:16:32-S128";
    let text = format!(
        "target datalayout = \"{layout}\"\ntarget triple = \"i386-pc-linux-gnu\"\ndefine i32 @main() {{\n  ret i32 0\n}}\n"
    );
    let ir = scratch.file("main.ll", &text);
    says(&check(&ir, &[]), 0, &["data model ILP32"]);
    says(&check(&ir, &["--data-model", "ILP32"]), 0, &["verified"]);
    let other = check(&ir, &["--data-model", "LP64"]);
    says(&other, 2, &["compiled for the data model ILP32"]);
    // The execution that is saved knows how its program was compiled.
    let trace = scratch.0.join("size.trace");
    let path = trace.to_str().unwrap();
    says(
        &check(&file, &["--data-model", "ILP32", "--trace", path]),
        1,
        &[],
    );
    let replayed = raddle().arg("replay").arg(&trace).output().unwrap();
    says(&replayed, 1, &[]);
}

#[test]
fn only_c_has_a_data_model_of_32_bits() {
    let scratch = Scratch::new("narrow-languages");
    for (name, text, language) in [
        ("a.cpp", "int main() {}\n", "C++"),
        ("a.rs", "fn main() {}\n", "Rust"),
    ] {
        let file = scratch.file(name, text);
        let expected = format!("{language} programs of the data model ILP32");
        says(&check(&file, &["--data-model", "ILP32"]), 2, &[&expected]);
        says(&check(&file, &["--", "-m32"]), 2, &[&expected]);
    }
    let ir = "target datalayout = \"e-m:e-p:32:32-n8:16:32-S128\"\n\
              define void @_Z1fv() {\n  ret void\n}\n\
              define i32 @main() {\n  ret i32 0\n}\n";
    let ir = scratch.file("cxx.ll", ir);
    says(
        &check(&ir, &[]),
        2,
        &["C++ programs of the data model ILP32"],
    );
    let header = scratch.file(
        "h.c",
        "#include \"bits/no-such-header.h\"\nint main(void) {}\n",
    );
    says(
        &check(&header, &["--data-model", "ILP32"]),
        2,
        &["libc6-dev-i386"],
    );
}
