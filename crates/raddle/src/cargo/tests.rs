//! `cargo raddle test`: which tests there are, what becomes of them, and what is said about it.

use super::build::{Built, Order};
use super::cli::TestArgs;
use super::error::CargoError;
use super::irtext::IrText;
use super::junit;
use super::listing::{self, Test};
use super::project::{Project, Toolchain};
use super::runner::{self, Answer, Case, Ended};
use super::wrapper::Wanted;
use crate::Status;
use crate::options;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A crate of tests, with the text that its tests are cut out of.
pub(crate) struct Suite {
    pub(crate) built: Built,
    pub(crate) title: String,
    text: String,
    /// Those that were asked for.
    pub(crate) tests: Vec<Test>,
    filtered_out: usize,
}

pub(crate) fn test(
    args: &TestArgs,
    passed_on: &[OsString],
    interrupt: &AtomicBool,
) -> Result<Status, CargoError> {
    let toolchain = Toolchain::find()?;
    let warning = toolchain.check()?;
    let project = Project::find(args.build.manifest_path.as_deref())?;
    if let Some(warning) = warning {
        crate::tell(format_args!("warning: {warning}"));
    }
    let mut targets = args.targets();
    if targets.is_empty() {
        // Not the examples, which are no tests, nor those in documentation.
        targets.push("--tests".into());
    }
    let order = Order {
        wanted: Wanted::Tests,
        command: &["test", "--no-run"],
        targets,
        options: &args.build,
    };
    let built = order.build(&project, &toolchain)?;
    let suites = suites(built, args, &project.root)?;
    if args.list {
        return list(&suites);
    }
    check(&suites, args, passed_on, &project, interrupt)
}

fn suites(built: Vec<Built>, args: &TestArgs, root: &Path) -> Result<Vec<Suite>, CargoError> {
    let mut suites = Vec::new();
    for built in built {
        let title = built.title(root);
        let Some(module) = &built.module else {
            crate::tell(format_args!(
                "note: {title} are left out: they run in the compiler, as procedural macros do"
            ));
            continue;
        };
        let text = fs::read_to_string(module).map_err(|error| CargoError::Read {
            file: module.clone(),
            error,
        })?;
        let all = match listing::tests(&IrText::new(&text)) {
            Ok(all) => all,
            Err(listing::Unreadable(what)) => {
                crate::tell(format_args!("note: {title} are left out: {what}"));
                continue;
            }
        };
        let (tests, others): (Vec<Test>, Vec<Test>) =
            all.into_iter().partition(|test| is_asked_for(test, args));
        suites.push(Suite {
            title,
            text,
            tests,
            filtered_out: others.len(),
            built,
        });
    }
    // As cargo does: unit tests first.
    let order = |suite: &Suite| {
        let built = &suite.built;
        let rank = match built.kind.as_str() {
            "test" | "bench" => 2,
            "bin" | "example" => 1,
            _ => 0,
        };
        (built.package.clone(), rank, built.source.clone())
    };
    suites.sort_by_cached_key(order);
    Ok(suites)
}

fn is_asked_for(test: &Test, args: &TestArgs) -> bool {
    let matches = |filter: &String| match args.exact {
        true => test.name == *filter,
        false => test.name.contains(filter.as_str()),
    };
    (args.filters.is_empty() || args.filters.iter().any(matches))
        && !args.skip.iter().any(matches)
        && (!args.ignored || test.ignored.is_some())
}

fn list(suites: &[Suite]) -> Result<Status, CargoError> {
    let mut out = String::new();
    let mut count = 0;
    for suite in suites.iter().filter(|suite| !suite.tests.is_empty()) {
        let _ = writeln!(out, "{}:", suite.title);
        for test in &suite.tests {
            let _ = writeln!(out, "  {}: test", test.name);
        }
        count += suite.tests.len();
    }
    let _ = writeln!(out, "{}", counted(count, "test"));
    print(&out)?;
    Ok(Status::Verified)
}

/// What became of a test.
pub(crate) struct Checked<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) test: &'a Test,
    pub(crate) ended: Ended,
}

#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    inconclusive: usize,
    refused: usize,
    ignored: usize,
}

impl Counts {
    fn add(&mut self, ended: &Ended) {
        let counter = match ended {
            Ended::Ignored => &mut self.ignored,
            Ended::NotChecked => return,
            Ended::Checked(answer) => match answer.status {
                Status::Verified => &mut self.passed,
                Status::Violation => &mut self.failed,
                Status::Inconclusive => &mut self.inconclusive,
                Status::Failure => &mut self.refused,
            },
        };
        *counter += 1;
    }

    fn status(&self) -> Status {
        if self.failed > 0 {
            Status::Violation
        } else if self.refused > 0 {
            Status::Failure
        } else if self.inconclusive > 0 {
            Status::Inconclusive
        } else {
            Status::Verified
        }
    }
}

fn check(
    suites: &[Suite],
    args: &TestArgs,
    passed_on: &[OsString],
    project: &Project,
    interrupt: &AtomicBool,
) -> Result<Status, CargoError> {
    for directory in args.report.iter().chain(&args.trace) {
        fs::create_dir_all(directory).map_err(|error| CargoError::Write {
            file: directory.clone(),
            error,
        })?;
    }
    let began = Instant::now();
    let modules: Vec<IrText<'_>> = suites
        .iter()
        .map(|suite| IrText::new(&suite.text))
        .collect();
    let cases: Vec<Case<'_>> = suites
        .iter()
        .zip(&modules)
        .flat_map(|(suite, module)| {
            let cases = suite.tests.iter();
            cases.map(move |test| Case {
                suite,
                module,
                test,
                is_left_out: test.ignored.is_some() && !args.ignored && !args.include_ignored,
            })
        })
        .collect();
    let runner = runner::Runner {
        args,
        passed_on,
        root: &project.root,
        color: options::color(args.color),
        interrupt,
    };
    let mut counts = Counts::default();
    let mut results: Vec<Checked<'_>> = Vec::new();
    let mut said: Option<*const Suite> = None;
    runner.run(&cases, |case, ended| {
        if said != Some(std::ptr::from_ref(case.suite)) {
            said = Some(case.suite);
            let count = counted(case.suite.tests.len(), "test");
            print(&format!("\nrunning {count}: {}\n", case.suite.title))?;
        }
        print(&line(case, &ended))?;
        counts.add(&ended);
        results.push(Checked {
            suite: case.suite,
            test: case.test,
            ended,
        });
        Ok(())
    })?;
    let filtered_out = suites.iter().map(|suite| suite.filtered_out).sum();
    print(&summary(&results, &counts, filtered_out, began.elapsed()))?;
    if let Some(file) = &args.junit {
        let text = junit::render(&results);
        fs::write(file, text).map_err(|error| CargoError::Write {
            file: file.clone(),
            error,
        })?;
    }
    Ok(counts.status())
}

/// `test tests::lost ... FAILED (3 executions; 0.02 s)`
fn line(case: &Case<'_>, ended: &Ended) -> String {
    let name = &case.test.name;
    let panics = match case.test.should_panic {
        true => " - should panic",
        false => "",
    };
    match ended {
        Ended::NotChecked => format!("test {name} ... not checked\n"),
        Ended::Ignored => match case.test.ignored.as_deref() {
            Some("") | None => format!("test {name} ... ignored\n"),
            Some(reason) => format!("test {name} ... ignored, {reason}\n"),
        },
        Ended::Checked(answer) => {
            let word = word(answer);
            let executions = counted_executions(answer);
            let seconds = answer.seconds;
            let mut line = format!("test {name}{panics} ... {word} ({executions}{seconds:.2} s)");
            if matches!(answer.status, Status::Inconclusive | Status::Failure)
                && let Some(message) = &answer.message
            {
                let lines: Vec<&str> = message.lines().map(str::trim).collect();
                let _ = write!(line, ": {}", lines.join(" "));
            }
            line + "\n"
        }
    }
}

pub(crate) fn word(answer: &Answer) -> &'static str {
    match answer.status {
        Status::Verified => "ok",
        Status::Violation => "FAILED",
        Status::Inconclusive => "inconclusive",
        Status::Failure => "not checked",
    }
}

fn counted_executions(answer: &Answer) -> String {
    match answer.executions {
        Some(1) => "1 execution; ".to_owned(),
        Some(count) => format!("{count} executions; "),
        None => String::new(),
    }
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

/// The reports of all that did not pass, and the last line.
fn summary(
    results: &[Checked<'_>],
    counts: &Counts,
    filtered_out: usize,
    elapsed: Duration,
) -> String {
    let mut out = String::new();
    let told = |result: &&Checked<'_>| match &result.ended {
        Ended::Checked(answer) => answer.status != Status::Verified,
        _ => false,
    };
    let not_passed: Vec<&Checked<'_>> = results.iter().filter(told).collect();
    for result in &not_passed {
        if let Ended::Checked(answer) = &result.ended {
            let test = result.test;
            let _ = writeln!(
                out,
                "\n---- {} ({}:{}) ----",
                test.name, test.file, test.line
            );
            out.push_str(answer.text.trim_end());
            out.push('\n');
        }
    }
    if !not_passed.is_empty() {
        out.push_str("\nnot passed:\n");
        for result in &not_passed {
            if let Ended::Checked(answer) = &result.ended {
                let suite = &result.suite.built;
                let name = &result.test.name;
                let _ = writeln!(out, "    {name} ({}): {}", suite.target, word(answer));
            }
        }
    }
    let word = match counts.status() {
        Status::Verified => "ok",
        Status::Violation => "FAILED",
        Status::Inconclusive | Status::Failure => "incomplete",
    };
    let _ = write!(
        out,
        "\ntest result: {word}. {} passed; {} failed; {} inconclusive; ",
        counts.passed, counts.failed, counts.inconclusive
    );
    if counts.refused > 0 {
        let _ = write!(out, "{} not checked; ", counts.refused);
    }
    let _ = writeln!(
        out,
        "{} ignored; {filtered_out} filtered out; finished in {:.2} s",
        counts.ignored,
        elapsed.as_secs_f64()
    );
    out
}

pub(crate) fn print(text: &str) -> Result<(), CargoError> {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(CargoError::Output)
}
