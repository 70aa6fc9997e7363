//! Programs of several sources, with and without a compile database.

mod common;

use common::{Scratch, raddle, says};
use std::ffi::OsStr;
use std::path::Path;
use std::process::Output;

const HEADER: &str = "\
typedef struct cell cell;
cell *cell_new(void);
void cell_put(cell *c, int value);
int cell_get(cell *c);
";

/// It has a static function and a static variable that the other source has, too.
const CELL: &str = "\
#include \"cell.h\"
#include <pthread.h>
#include <stdlib.h>
struct cell { pthread_mutex_t m; int value; };
static int count = 1;
static int helper(int x) { return x; }
cell *cell_new(void) {
  cell *c = calloc(1, sizeof *c);
  pthread_mutex_init(&c->m, 0);
  return c;
}
void cell_put(cell *c, int value) {
#ifndef BROKEN
  pthread_mutex_lock(&c->m);
#endif
  c->value = helper(value) * count;
#ifndef BROKEN
  pthread_mutex_unlock(&c->m);
#endif
}
int cell_get(cell *c) {
  pthread_mutex_lock(&c->m);
  int value = c->value;
  pthread_mutex_unlock(&c->m);
  return value;
}
";

const MAIN: &str = "\
#include \"cell.h\"
#include <assert.h>
#include <pthread.h>
#include <string.h>
static int count = 7;
static void helper(cell *c) { cell_put(c, count); }
static void *putter(void *c) { helper(c); return 0; }
void check_cell(void) {
  pthread_t t;
  cell *c = cell_new();
  pthread_create(&t, 0, putter, c);
  int value = cell_get(c);
  assert(value == 0 || value == 7);
  pthread_join(t, 0);
}
int main(int argc, char **argv) {
  if (argc > 1) assert(strcmp(argv[1], \"-x\") == 0 && argc == 3);
  check_cell();
}
";

/// A program of two sources, and a database in `build` that names both and one that nobody needs.
fn project(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    for directory in ["src", "build"] {
        std::fs::create_dir_all(scratch.0.join(directory)).unwrap();
    }
    scratch.file("src/cell.h", HEADER);
    scratch.file("src/cell.c", CELL);
    scratch.file("src/main.c", MAIN);
    scratch.file(
        "src/unused.c",
        "int cell_get_twice(void) { return cell_missing(); }\n",
    );
    let build = scratch.0.join("build");
    let entry = |file: &str, target: &str| {
        format!(
            r#"{{"directory": "{}", "file": "../src/{file}", "command": "gcc -O2 -fconserve-stack -I../src -o CMakeFiles/{target}.dir/{file}.o -c ../src/{file}"}}"#,
            build.display()
        )
    };
    let entries = [
        entry("unused.c", "other"),
        entry("cell.c", "cells"),
        entry("main.c", "tool"),
    ];
    scratch.file(
        "build/compile_commands.json",
        &format!("[{}]", entries.join(",")),
    );
    scratch
}

fn check(scratch: &Scratch, args: &[&str]) -> Output {
    raddle()
        .arg("check")
        .args(args)
        .current_dir(&scratch.0)
        .env("XDG_CACHE_HOME", scratch.0.join("cache"))
        .output()
        .unwrap()
}

#[test]
fn several_sources_are_linked() {
    let scratch = project("linked");
    let files = ["src/main.c", "src/cell.c"];
    says(&check(&scratch, &files), 0, &["verified"]);
    let broken = [files[0], files[1], "--trace", "t", "--", "-DBROKEN"];
    says(
        &check(&scratch, &broken),
        1,
        &["data race", "src/cell.c:23", "cell.c:16"],
    );
    let replay = raddle()
        .args(["replay", "t"])
        .current_dir(&scratch.0)
        .output();
    says(&replay.unwrap(), 1, &["reproduced: the saved execution"]);
    let twice = [files[0], files[1], files[1]];
    says(
        &check(&scratch, &twice),
        2,
        &["`cell_new` is defined in src/cell.c and in src/cell.c"],
    );
    says(
        &check(&scratch, &["src/main.c", "src/unused.c"]),
        2,
        &[
            "`cell_new` is called, and Raddle does not know what it does",
            "note: definitions were looked for in src/main.c, src/unused.c",
        ],
    );
}

#[test]
fn a_compile_database_says_how_sources_are_compiled_and_where_definitions_are() {
    let scratch = project("database");
    for program in [
        &["-p", "build"][..],
        &["-p", "build", "tool"],
        &["-p", "build", "src/main.c"],
    ] {
        says(&check(&scratch, program), 0, &["verified"]);
    }
    // A file that is not in it, and a function to begin with.
    scratch.file("client.c", &MAIN.replace("int main", "int other"));
    let begin = [
        "-p",
        "build",
        "client.c",
        "--entry",
        "check_cell",
        "--",
        "-Isrc",
    ];
    says(&check(&scratch, &begin), 0, &["verified"]);
    let broken = ["-p", "build", "--trace", "t", "--", "-DBROKEN"];
    says(&check(&scratch, &broken), 1, &["data race"]);
    says(
        &check(&scratch, &["-p", "build", "nothing"]),
        2,
        &[
            "`nothing` is no file, and no target of",
            "targets: cells, other, tool",
        ],
    );
    says(
        &check(&scratch, &["-p", "src"]),
        2,
        &[
            "compile_commands.json: no such file",
            "CMAKE_EXPORT_COMPILE_COMMANDS",
        ],
    );
    let gone = MAIN.replace("cell_new()", "cell_gone()");
    scratch.file("gone.c", &format!("struct cell *cell_gone(void);\n{gone}"));
    let missing = ["-p", "build", "gone.c", "--", "-Isrc"];
    says(
        &check(&scratch, &missing),
        2,
        &["`cell_gone` is called", "of the 4 sources known from build"],
    );
}

#[test]
fn arguments_for_the_program_are_not_for_clang() {
    let scratch = project("arguments");
    let files = ["src/main.c", "src/cell.c"];
    let all = |more: &[&'static str]| [&files[..], more].concat();
    says(
        &check(&scratch, &all(&["--args", "-x", "y"])),
        0,
        &["verified"],
    );
    says(&check(&scratch, &all(&["--args", "-x"])), 1, &["argc is 2"]);
    let both = all(&["--args", "-x", "y", "--", "-DBROKEN"]);
    says(&check(&scratch, &both), 1, &["data race"]);
    says(
        &check(&scratch, &all(&["--entry", "nothing"])),
        2,
        &["the program defines no function `nothing`"],
    );
    says(
        &check(&scratch, &all(&["--entry", "putter"])),
        2,
        &["cannot begin with `putter`, which has parameters"],
    );
}

fn entries(cache: &Path) -> usize {
    std::fs::read_dir(cache).map_or(0, Iterator::count)
}

#[test]
fn what_was_compiled_is_kept_and_what_it_was_made_from_tells_whether_it_holds() {
    let scratch = project("cache");
    let cache = scratch.0.join("cache/raddle/compiled");
    let files = ["src/main.c", "src/cell.c"];
    let without = [files[0], files[1], "--no-cache"];
    says(&check(&scratch, &without), 0, &["verified"]);
    assert_eq!(entries(&cache), 0);
    says(&check(&scratch, &files), 0, &["verified"]);
    assert_eq!(entries(&cache), 2);
    says(&check(&scratch, &files), 0, &["verified"]);
    assert_eq!(entries(&cache), 2);
    // A header changes, and with it one of the sources: what the other one sees of it is the same.
    scratch.file("src/cell.h", &format!("{HEADER}#define BROKEN\n"));
    says(&check(&scratch, &files), 1, &["data race"]);
    assert_eq!(entries(&cache), 3);
}

#[test]
fn bitcode_is_read_where_llvm_is_there() {
    let on_path = |name: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|it| it.join(name).is_file())
    };
    let scratch = Scratch::new("bitcode");
    scratch.file("main.bc", "this is none");
    if !on_path("llvm-dis") || !on_path("llvm-as") {
        let nowhere = raddle()
            .args([OsStr::new("check"), scratch.0.join("main.bc").as_os_str()])
            .env("PATH", "")
            .output();
        says(
            &nowhere.unwrap(),
            2,
            &["LLVM bitcode is read through `llvm-dis`"],
        );
        return;
    }
    says(
        &check(&scratch, &["main.bc"]),
        2,
        &["`llvm-dis` cannot read this"],
    );
    scratch.file("main.ll", "define i32 @main() {\n  ret i32 0\n}\n");
    let assembled = std::process::Command::new("llvm-as")
        .args(["main.ll", "-o", "main.bc"])
        .current_dir(&scratch.0)
        .status();
    assert!(assembled.unwrap().success());
    says(&check(&scratch, &["main.bc"]), 0, &["verified"]);
}
