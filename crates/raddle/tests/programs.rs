//! Each program under `tests/programs/` is a test: its output must be that of the file `NAME.expected` beside it, all
//! engines must agree on the verdict, and each violation that an engine finds is saved and replayed in a process of its own.
//! The last holds for the programs under `benchmarks/`, too.
//!
//! A line `// raddle: ARGS` at the top of a program gives arguments, `// engines: NAMES` leaves engines out that do not
//! come to an end, `// bmc: refused` says that `bmc` refuses the program, `// bmc: inconclusive` that it has no
//! answer, `// bmc: endless` that it is not asked since it would go on for long. `RADDLE_BLESS=1` writes the expected outputs.

use libtest_mimic::{Arguments, Failed, Trial};
use raddle::bench::expected::{self, Expectation, Run};
use similar::TextDiff;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Something that tests do, and how often it must be done if all are run, so that it cannot come to nothing unnoticed. Slow machines
/// do less, because engines have a limit of time: so these are two thirds of what a quick one does.
struct Counted {
    what: &'static str,
    least: usize,
    done: AtomicUsize,
}

impl Counted {
    const fn new(what: &'static str, least: usize) -> Self {
        Self {
            what,
            least,
            done: AtomicUsize::new(0),
        }
    }

    fn count(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

static REPLAYED: Counted = Counted::new("violations saved and replayed", 1000);
static COMPARED: Counted = Counted::new("answers of an engine compared with those of another", 900);
static SOLVED: Counted = Counted::new("answers of bmc compared with those of executions", 400);
static CUT: Counted = Counted::new("answers not compared: interleavings are too many", 0);
/// Loops that spin for good have executions without end, which no number of executions stops.
static OPEN: Counted = Counted::new(
    "answers of bmc not compared: executions are too many or too long",
    0,
);

fn main() {
    let mut arguments = Arguments::from_args();
    // Each test is a process or three: more of them at once than processors would only wait.
    arguments.test_threads.get_or_insert_with(|| {
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
    });
    let root = root();
    let mut programs = Vec::new();
    collect(&root.join("tests/programs"), &mut programs);
    collect(&root.join("examples"), &mut programs);
    programs.sort();
    let mut tests: Vec<Trial> = programs
        .into_iter()
        .flat_map(|program| {
            let shown = relative(&program, &root);
            let (file, solved) = (program.clone(), program.clone());
            [
                timed(shown.clone(), move || prints_what_is_expected(&file)),
                timed(format!("{shown} (engines)"), move || {
                    engines_agree(&program)
                }),
                timed(format!("{shown} (bmc)"), move || bmc_agrees(&solved)),
            ]
        })
        .collect();
    tests.extend(benchmarks(&root.join("benchmarks")));
    let conclusion = libtest_mimic::run(&arguments, tests);
    let is_whole = conclusion.num_filtered_out == 0 && conclusion.num_ignored == 0;
    if is_whole && !arguments.list && !conclusion.has_failed() {
        for Counted { what, least, done } in [&REPLAYED, &COMPARED, &CUT, &SOLVED, &OPEN] {
            let done = done.load(Ordering::Relaxed);
            println!("{done} {what}");
            assert!(done >= *least, "{least} are expected");
        }
        tell_slowest();
    }
    conclusion.exit();
}

/// How long tests took.
static TIMES: Mutex<Vec<(Duration, String)>> = Mutex::new(Vec::new());

/// A test whose time is taken.
fn timed(name: String, test: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    let own = name.clone();
    Trial::test(name, move || {
        let start = Instant::now();
        let result = test();
        let mut times = TIMES.lock().unwrap_or_else(PoisonError::into_inner);
        times.push((start.elapsed(), own));
        result
    })
}

/// Those that a shorter run of all tests would begin with.
fn tell_slowest() {
    const TOLD: usize = 20;
    let mut times = TIMES.lock().unwrap_or_else(PoisonError::into_inner);
    let all: Duration = times.iter().map(|(time, _)| *time).sum();
    times.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    println!("of {:.0} s:", all.as_secs_f64());
    for (time, name) in times.iter().take(TOLD) {
        println!("{:6.1} s {name}", time.as_secs_f64());
    }
}

/// The smallest run with a violation of each benchmark.
fn benchmarks(directory: &Path) -> Vec<Trial> {
    let suite = expected::read(directory).expect("the expectations can be read");
    let mut tests = Vec::new();
    for program in suite.programs {
        let file = directory.join(format!("{}.c", program.name));
        let is_wrong = |run: &Run| run.verdict == Expectation::Violation;
        if let Some(run) = program.runs.into_iter().find(is_wrong) {
            let name = format!("benchmarks/{}.c (replay)", program.name);
            let checks = program.checks;
            tests.push(timed(name, move || {
                benchmark_replays(&file, &run, checks.as_deref())
            }));
        }
    }
    assert!(tests.len() >= 10, "there are benchmarks with violations");
    tests
}

fn benchmark_replays(program: &Path, run: &Run, checks: Option<&str>) -> Result<(), Failed> {
    let mut saved = Saved::default();
    let mut own = vec!["--".to_owned()];
    own.extend(run.macros());
    let unroll = run.unroll.map(|bound| bound.to_string());
    for (engine, _) in raddle::options::ENGINES {
        let mut more = vec!["--engine", engine, "--time-limit", "5"];
        more.extend(["--max-executions", "20000"]);
        if let Some(bound) = &unroll {
            more.extend(["--unroll", bound]);
        }
        if let Some(checks) = checks {
            more.extend(["--check", checks]);
        }
        saved.check(program, &own, &more)?;
    }
    Ok(())
}

/// Replays the executions that checks of one program save.
#[derive(Default)]
struct Saved {
    /// Those that were replayed: engines often find the same one.
    replayed: BTreeSet<String>,
}

impl Saved {
    /// Checks a program, and replays the violation that is found.
    fn check(&mut self, program: &Path, own: &[String], more: &[&str]) -> Result<Output, Failed> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("raddle-programs-{}-{number}.trace", std::process::id());
        let file = std::env::temp_dir().join(name);
        let trace = file.to_str().ok_or("a directory with a readable name")?;
        let mut more = more.to_vec();
        more.extend(["--trace", trace]);
        let output = check_with(program, own, &more);
        let result = match output.status.code() {
            Some(1) => self.replay(&file, &more),
            _ => Ok(()),
        };
        let _ = fs::remove_file(&file);
        result.map(|()| output)
    }

    fn replay(&mut self, file: &Path, more: &[&str]) -> Result<(), Failed> {
        let mut saved: serde_json::Value = serde_json::from_str(&fs::read_to_string(file)?)?;
        for name in ["engine", "checksum"] {
            saved[name].take();
        }
        REPLAYED.count();
        if !self.replayed.insert(saved.to_string()) {
            return Ok(());
        }
        let output = Command::new(env!("CARGO_BIN_EXE_raddle"))
            .args(["replay", "--quiet"])
            .arg(file)
            .current_dir(root())
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        if output.status.code() == Some(1) && text.contains("\nreproduced: ") {
            return Ok(());
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        Err(format!("{more:?}: {:?}: {text}{errors}", output.status.code()).into())
    }
}

fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    crates
        .ancestors()
        .nth(2)
        .expect("the crate lies two levels below the root")
        .to_owned()
}

fn relative(path: &Path, root: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string()
}

fn collect(directory: &Path, programs: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the directory is part of the repository") {
        let path = entry.expect("a directory can be listed").path();
        if path.is_dir() {
            collect(&path, programs);
        } else if matches!(
            path.extension().and_then(|extension| extension.to_str()),
            Some("c" | "cc" | "cpp")
        ) {
            programs.push(path);
        }
    }
}

/// Runs from the root with a relative path, so that no output depends on where the repository lies.
fn check(program: &Path, more: &[&str]) -> Output {
    check_with(program, &directive(program, "raddle"), more)
}

fn check_with(program: &Path, own: &[String], more: &[&str]) -> Output {
    let root = root();
    Command::new(env!("CARGO_BIN_EXE_raddle"))
        .arg("check")
        .arg(relative(program, &root))
        // What comes after `--` is for clang.
        .args(more)
        .args(own)
        .env_remove("NO_COLOR")
        .current_dir(root)
        .output()
        .expect("the binary was built")
}

/// The words of all lines at the top that begin with `// NAME: `.
fn directive(program: &Path, name: &str) -> Vec<String> {
    let text = fs::read_to_string(program).expect("the program can be read");
    let prefix = format!("// {name}: ");
    text.lines()
        .take_while(|line| line.starts_with("//"))
        .filter_map(|line| line.strip_prefix(&prefix))
        .flat_map(str::split_whitespace)
        .map(str::to_owned)
        .collect()
}

fn prints_what_is_expected(program: &Path) -> Result<(), Failed> {
    let output = check(program, &[]);
    let actual = normalised(&output);
    let file = program.with_extension(format!(
        "{}.expected",
        program.extension().unwrap_or_default().display()
    ));
    if std::env::var_os("RADDLE_BLESS").is_some() {
        fs::write(&file, &actual)?;
        return Ok(());
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    if expected == actual {
        return Ok(());
    }
    let diff = TextDiff::from_lines(&expected, &actual);
    Err(format!(
        "other output than expected (`cargo xtask bless` accepts it):\n{}",
        diff.unified_diff().header("expected", "actual")
    )
    .into())
}

/// Everything that a user or a script sees, without what differs from run to run.
fn normalised(output: &Output) -> String {
    let status = match output.status.code() {
        Some(code) => code.to_string(),
        None => output.status.to_string(),
    };
    let mut text = format!("exit status: {status}\n");
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        if bytes.is_empty() {
            continue;
        }
        text += &format!("---- {name}\n");
        for line in String::from_utf8_lossy(bytes).lines() {
            text += &without_times(line);
            text.push('\n');
        }
    }
    text
}

fn without_times(line: &str) -> String {
    // Whether the time for compiling is worth telling depends on the machine.
    if let Some((all, rest)) = line.split_once(" s of it compiling")
        && let Some((all, _)) = all.rsplit_once(" s, ")
    {
        return without_times(&format!("{all} s{rest}"));
    }
    for (before, after) in [
        ("; ", " s; engine "),
        ("(", " s; engine "),
        ("\"seconds\": ", ","),
        ("\"seconds_compiling\": ", ","),
        ("\"peak_memory_bytes\": ", ""),
    ] {
        if let Some(replaced) = without_number(line, before, after) {
            return replaced;
        }
    }
    line.to_owned()
}

/// Replaces the number between `before` and `after` by dots.
fn without_number(line: &str, before: &str, after: &str) -> Option<String> {
    let (start, _) = line.match_indices(before).find(|(start, _)| {
        let rest = line[start + before.len()..]
            .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | '-'));
        rest.starts_with(after) && rest.len() < line.len() - start - before.len()
    })?;
    let number = start + before.len();
    let rest = line[number..]
        .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | '-'));
    Some(format!("{}…{rest}", &line[..number]))
}

/// What engines must agree on. Which violation comes first is their own choice, so all are looked for.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    status: Option<i32>,
    verdict: String,
    /// The limit of executions that enumerating engines have here was reached.
    is_cut: bool,
    kinds: BTreeSet<String>,
}

/// They go through interleavings, of which there may be millions where others have few executions.
const ENUMERATING: [&str; 3] = ["naive", "icb", "bpor"];

fn answer(program: &Path, engine: &str, saved: &mut Saved) -> Result<Answer, Failed> {
    let mut more = vec!["--engine", engine, "--format", "json", "--keep-going"];
    // An engine that needs longer is not made for this program: `// engines:` must say so.
    more.extend(["--time-limit", "60"]);
    let own = directive(program, "raddle");
    let is_limited = own.iter().any(|arg| arg == "--max-executions");
    if ENUMERATING.contains(&engine) && !is_limited {
        more.extend(["--max-executions", "200000"]);
    }
    let output = saved.check(program, &own, &more)?;
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|error| {
        format!(
            "{engine}: no JSON ({error}): {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    })?;
    let more = json["more_violations"].as_array().into_iter().flatten();
    let violations = std::iter::once(&json["violation"]).chain(more);
    Ok(Answer {
        status: output.status.code(),
        is_cut: !is_limited && json["reason_kind"] == "execution-limit",
        verdict: json["verdict"].as_str().unwrap_or_default().to_owned(),
        kinds: violations
            .filter_map(|violation| violation["kind"].as_str())
            .map(str::to_owned)
            .collect(),
    })
}

fn engines_agree(program: &Path) -> Result<(), Failed> {
    let wanted = directive(program, "engines");
    let engines = raddle::options::ENGINES
        .iter()
        .map(|(name, _)| *name)
        // `bmc` tells of one violation only, and is compared below. `graph` does not answer for every program under sc, and `states` does not look for races.
        .filter(|name| !matches!(*name, "auto" | "bmc" | "graph" | "states"))
        .filter(|name| {
            let is_it = |wanted: &String| wanted.trim_end_matches(',') == *name;
            wanted.is_empty() || wanted.iter().any(is_it)
        });
    let mut first: Option<(&str, Answer)> = None;
    let mut saved = Saved::default();
    for engine in engines {
        let answer = answer(program, engine, &mut saved)?;
        match &first {
            None => first = Some((engine, answer)),
            // What it came to is a part of what there is.
            Some((_, expected)) if answer.is_cut && answer.kinds.is_subset(&expected.kinds) => {
                CUT.count();
            }
            Some((other, expected)) if *expected != answer => {
                return Err(format!("{other}: {expected:?}, but {engine}: {answer:?}").into());
            }
            // Where both run into a limit, nothing is compared.
            Some((_, expected)) if matches!(expected.status, Some(0 | 1)) => COMPARED.count(),
            Some(_) => {}
        }
    }
    Ok(())
}

/// `bmc` must say what engines say that run the program, under every memory model. Where they run into a limit, or into values
/// that they cannot try, there is nothing to compare. What it refuses or cannot answer, a line `// bmc:` at the top says.
fn bmc_agrees(program: &Path) -> Result<(), Failed> {
    let mut own = directive(program, "raddle");
    let special = directive(program, "bmc");
    // The first violation is enough.
    own.retain(|arg| !matches!(arg.as_str(), "--keep-going" | "--full" | "--quiet"));
    for option in ["--engine", "--memory", "--format", "--max-executions"] {
        if let Some(at) = own.iter().position(|arg| arg == option) {
            own.drain(at..at + 2);
        }
    }
    let asks_for = |what: &str| own.iter().any(|arg| arg.contains(what));
    let is_endless = special.first().is_some_and(|it| it == "endless");
    if asks_for("livelock") || is_endless {
        return Ok(());
    }
    for (memory, engine) in [("sc", "dpor"), ("tso", "naive"), ("pso", "naive")] {
        let mut saved = Saved::default();
        let mut run = |engine: &str, limit: &[&str]| {
            let mut more = vec!["--engine", engine, "--memory", memory, "--format", "json"];
            more.extend(limit);
            saved.check(program, &own, &more)
        };
        let expected = run(engine, &["--max-executions", "3000", "--time-limit", "2"])?;
        if !matches!(expected.status.code(), Some(0 | 1)) {
            OPEN.count();
            continue;
        }
        let found = run("bmc", &["--time-limit", "60"])?;
        let wanted = match special.first().map(String::as_str) {
            Some("refused") => Some(2),
            Some("inconclusive") => Some(3),
            _ => expected.status.code(),
        };
        if found.status.code() != wanted {
            return Err(format!(
                "{memory}: {engine}: {:?}, bmc: {:?} instead of {wanted:?}: {}{}",
                expected.status.code(),
                found.status.code(),
                String::from_utf8_lossy(&found.stdout),
                String::from_utf8_lossy(&found.stderr)
            )
            .into());
        }
        SOLVED.count();
    }
    Ok(())
}
