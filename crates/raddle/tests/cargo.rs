//! `cargo raddle` on the projects in `tests/cargo`, as users start it. Building takes most of the time: each project is built once.

mod common;

use common::{Scratch, says};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A project of its own: building must not leave anything in the source.
struct Project {
    scratch: Scratch,
}

impl Project {
    fn new(name: &str) -> Self {
        // Two tests may have the same project.
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let scratch = Scratch::new(&format!("cargo-{name}-{number}"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cargo");
        copy(&source.join(name), &scratch.0);
        Self { scratch }
    }

    fn path(&self) -> &Path {
        &self.scratch.0
    }

    fn cargo_raddle(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
        command
            .arg("raddle")
            .args(args)
            .current_dir(self.path())
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_TARGET_DIR");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.cargo_raddle(args).output().unwrap()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() == "target" {
            continue;
        }
        let target: PathBuf = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => {
                fs::copy(entry.path(), target).unwrap();
            }
        }
    }
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_tests_of_a_project_are_checked_each_by_itself() {
    let project = Project::new("project");
    let output = project.run(&["test", "--junit", "results.xml", "--trace", "traces"]);
    says(
        &output,
        1,
        &[
            "running 7 tests: unit tests of shop (src/lib.rs)",
            "test tests::everything_is_paid ... ok (",
            "test tests::careless_sales_are_lost ... FAILED (",
            "test tests::nothing_is_free - should panic ... ok (",
            "test tests::careless_sales_are_not_always_lost - should panic ... FAILED (",
            "test tests::stocktaking ... ignored, takes long",
            "test tests::good_news ... ok (",
            "test tests::bad_news ... FAILED (",
            "running 1 test: tests of shop (tests/orders.rs)",
            // As many as with `raddle check`: the same functions of the library are replaced.
            "test one_order ... ok (15 executions;",
            "---- tests::careless_sales_are_lost (src/lib.rs:38) ----",
            // Although the profile asks for no debug information.
            "src/lib.rs:39:9",
            "assertion failed: the_test_returned_ok",
            "assertion failed: the_test_panicked",
            "tests::careless_sales_are_lost (shop): FAILED",
            "test result: FAILED. 4 passed; 3 failed; 0 inconclusive; 1 ignored; 0 filtered out;",
        ],
    );
    let junit = fs::read_to_string(project.path().join("results.xml")).unwrap();
    assert!(
        junit.contains(
            "<testsuite name=\"shop::shop\" tests=\"7\" failures=\"3\" errors=\"0\" skipped=\"1\">"
        ),
        "{junit}"
    );
    let trace = project
        .path()
        .join("traces/shop.tests.careless_sales_are_lost.trace");
    let replayed = common::raddle()
        .arg("replay")
        .arg(trace)
        .current_dir(project.path())
        .output()
        .unwrap();
    says(&replayed, 1, &["reproduced"]);

    // Nothing is built again.
    let filtered = project.run(&["test", "paid", "order", "--skip", "one"]);
    says(
        &filtered,
        0,
        &[
            "test tests::everything_is_paid ... ok (",
            "test result: ok. 1 passed; 0 failed; 0 inconclusive; 0 ignored; 7 filtered out;",
        ],
    );
    let compiled = String::from_utf8_lossy(&filtered.stderr).into_owned();
    assert!(!compiled.contains("Compiling"), "{compiled}");
    let exact = project.run(&["test", "--", "--exact", "tests::everything_is_pai"]);
    says(&exact, 0, &["0 passed", "8 filtered out"]);
    let ignored = project.run(&["test", "--lib", "--ignored"]);
    says(
        &ignored,
        0,
        &["test tests::stocktaking ... ok (", "1 passed"],
    );

    let listed = project.run(&["test", "--list", "--workspace"]);
    says(
        &listed,
        0,
        &[
            "unit tests of shop-core (core/src/lib.rs):",
            "  a_new_till_is_empty: test",
            "9 tests",
        ],
    );
    let bounded = project.run(&["test", "paid", "--engine", "nonsense"]);
    says(&bounded, 2, &["invalid value 'nonsense'"]);
}

#[test]
fn packages_features_and_programs_are_chosen_as_with_cargo() {
    let project = Project::new("project");
    let member = project.run(&["test", "-p", "shop-core"]);
    says(
        &member,
        0,
        &["test a_new_till_is_empty ... ok (", "1 passed"],
    );
    let feature = project.run(&["test", "--features", "discount", "--lib", "discounts"]);
    says(&feature, 0, &["test tests::discounts ... ok ("]);
    let example = project.run(&["run", "--example", "closed"]);
    says(
        &example,
        1,
        &["violation: deadlock", "examples/closed.rs:6"],
    );
    let unknown = project.run(&["run", "--bin", "nonsense"]);
    says(&unknown, 2, &["no bin target named `nonsense`"]);
    let program = project.run(&["run", "--format", "json", "--max-executions", "1"]);
    assert!(
        printed(&program).contains("\"threads\": 2"),
        "{}",
        printed(&program)
    );
}

#[test]
fn a_loom_suite_runs_as_it_is() {
    let project = Project::new("loom-suite");
    let output = project
        .cargo_raddle(&["test"])
        .env("RUSTFLAGS", "--cfg loom")
        .output()
        .unwrap();
    says(
        &output,
        1,
        &[
            "test what_is_released_is_seen ... ok (",
            "test without_release_there_is_a_race - should panic ... ok (",
            "test one_of_two_comes_first - should panic ... ok (",
            "test a_test_that_should_fail_and_does_not - should panic ... FAILED (",
            "the test should panic, and no execution of its model does",
            "test futures_run_to_their_end ... ok (",
            "test there_are_as_many_threads_as_loom_allows ... ok (",
            "1 failed",
        ],
    );
    let said = printed(&output);
    assert!(
        !said.contains("threads_that_nobody_joins_end_with_the_model ... FAILED"),
        "{said}"
    );
}

#[test]
fn programs_ask_and_are_told() {
    let project = Project::new("asking");
    let tests = project.run(&["test"]);
    says(
        &tests,
        1,
        &[
            "test every_price_is_tried ... ok (",
            "test some_price_is_wrong ... FAILED (",
            "test with_shuttle::a_lock_is_enough ... ok (",
            "test with_shuttle::loads_and_stores_are_not - should panic ... ok (",
            "test with_shuttle::tasks_end ... ok (",
            "assertion failed: price != 3 || is_free",
        ],
    );
    let alone = project.run(&["run", "--", "--workers", "1"]);
    says(&alone, 0, &["verified"]);
    let two = project.run(&["run", "--trace", "two.trace", "--", "--workers", "2"]);
    says(&two, 1, &["too many workers"]);
    // The arguments are saved with the execution.
    let trace = project.path().join("two.trace");
    let replayed = common::raddle()
        .arg("replay")
        .arg(trace)
        .current_dir(project.path())
        .output()
        .unwrap();
    says(&replayed, 1, &["reproduced"]);
}

#[test]
fn what_cannot_be_checked_is_said() {
    let nowhere = Project::new("broken");
    fs::remove_file(nowhere.path().join("Cargo.toml")).unwrap();
    let output = nowhere.run(&["test"]);
    says(
        &output,
        2,
        &[
            "error: could not find `Cargo.toml`",
            "help: ",
            "`raddle check FILE.rs`",
        ],
    );

    let broken = Project::new("broken");
    let output = broken.run(&["test"]);
    says(
        &output,
        2,
        &[
            "mismatched types",
            "error: the project does not compile",
            "help: ",
        ],
    );
    let programs = broken.run(&["run"]);
    says(&programs, 2, &["error: "]);

    let bare = Project::new("bare");
    let output = bare.run(&["test"]);
    says(
        &output,
        2,
        &[
            "test tests::calls_what_is_not_there ... not checked (",
            "`of_another_library`",
            "test tests::counts_cycles ... not checked (",
            "`rdtsc`",
            "test result: incomplete.",
        ],
    );
    let output = bare.run(&["run"]);
    says(
        &output,
        2,
        &["`bare` cannot be checked: there is no `main`", "help: "],
    );
}

#[test]
fn the_toolchain_is_looked_at() {
    let project = Project::new("broken");
    let fine = project.run(&["setup"]);
    says(&fine, 0, &["rustc: ", "project: ", "All is there"]);
    let script_of = |name: &str, script: &str| {
        let file = project
            .scratch
            .file(name, &format!("#!/bin/sh\n{script}\n"));
        let mut permissions = fs::metadata(&file).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
        fs::set_permissions(&file, permissions).unwrap();
        file
    };
    let fake = |version: &str| {
        let said = ["rustc ", "host: x86_64-unknown-linux-gnu\nrelease: "]
            .map(|it| format!("{it}{version}"));
        script_of(
            &format!("rustc-{version}"),
            &format!("echo '{}'", said.join("\n")),
        )
    };
    let with = |rustc: PathBuf| {
        let mut command = project.cargo_raddle(&["setup"]);
        command.env("RUSTC", rustc).output().unwrap()
    };
    says(
        &with(fake("1.40.0")),
        2,
        &["rustc 1.40.0 is too old", "help: "],
    );
    says(
        &with(fake("1.999.0")),
        0,
        &["warning: rustc 1.999.0 is newer than all"],
    );
    let missing = script_of(
        "rustc-missing",
        "echo \"error: toolchain '1.70.0' is not installed\" >&2\nexit 1",
    );
    says(
        &with(missing),
        2,
        &[
            ": toolchain '1.70.0' is not installed",
            "help: install it with `rustup toolchain install`",
        ],
    );
    says(
        &with(PathBuf::from("/no/such/rustc")),
        2,
        &["cannot run /no/such/rustc", "help: "],
    );
}

#[test]
fn files_of_a_project_are_checked_by_cargo() {
    let project = Project::new("project");
    let check = |file: &str| {
        let mut command = common::raddle();
        let command = command.arg("check").arg(file).current_dir(project.path());
        command.output().unwrap()
    };
    for file in [".", "Cargo.toml"] {
        says(
            &check(file),
            2,
            &["this is a Cargo project", "help: `cargo raddle test`"],
        );
    }
    for (file, command) in [
        ("tests/orders.rs", "`cargo raddle test --test orders`"),
        ("src/main.rs", "`cargo raddle run`"),
        ("src/lib.rs", "`cargo raddle test`"),
    ] {
        says(&check(file), 2, &["does not compile", command]);
    }
    let alone = Scratch::new("cargo-alone");
    let file = alone.file("needs.rs", "use some_crate::x;\nfn main() {}\n");
    says(
        &common::check(&file, &[]),
        2,
        &["checked as a Cargo project: `cargo raddle run`"],
    );
    let file = alone.file("tests.rs", "#[test]\nfn test() {}\n");
    says(
        &common::check(&file, &[]),
        2,
        &["a single file is run from `main` on"],
    );
}
