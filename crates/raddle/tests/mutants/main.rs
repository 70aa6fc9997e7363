//! Mutants of the programs under `tests/programs/`: no engine may panic or end in an internal error, and no two may contradict each
//! other, under any memory model.
//!
//! A few mutants of some programs are tried with the other tests, and so is every one that once failed: `tests/mutants/` holds what was
//! left of those after shrinking. `cargo xtask mutants COUNT FIRST` tries others of all programs, and keeps those that fail.
//!
//! What a mutant is depends on its program and its number alone. So another program under `tests/programs/` changes nothing about the
//! mutants that are tried with the other tests.

mod compare;
mod ir;
mod mutate;
mod tally;

use compare::{CHECKS, Failure, compare};
use ir::Module;
use mutate::{Mutation, smaller};
use raddle_random::RandomIndex as Rng;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use tally::{Progress, Tally};

/// The programs whose mutants are tried with the other tests, and how many of each.
const TRIED: &str = include_str!("tried.txt");
const TRIED_OF_EACH: u64 = 4;
const MOST_MUTATIONS: usize = 4;
/// How often a failing mutant is tried anew while it is made smaller.
const MOST_TRIES: usize = 2_000;

fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = own.ancestors().nth(2);
    root.expect("the crate lies two levels below the root")
        .to_owned()
}

/// A program that is mutated, compiled when it is first needed.
struct Base {
    /// Below `tests/programs`.
    name: String,
    module: OnceLock<Module>,
}

impl Base {
    fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            module: OnceLock::new(),
        }
    }

    /// All programs, in the order of their names.
    fn all() -> Vec<Self> {
        let directory = programs();
        let mut files = Vec::new();
        collect(&directory, &mut files);
        files.sort();
        let name = |file: &PathBuf| {
            let name = file.strip_prefix(&directory).unwrap_or(file);
            name.to_str().expect("names are ASCII").to_owned()
        };
        files.iter().map(|file| Self::new(name(file))).collect()
    }

    fn module(&self) -> &Module {
        self.module
            .get_or_init(|| Module::parse(&compiled(&programs().join(&self.name))))
    }

    /// Where the random numbers of a mutant start (FNV-1a of the name).
    fn seed(&self, number: u64) -> u64 {
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        let name = self.name.bytes().fold(0xCBF2_9CE4_8422_2325, mix);
        Rng::new(name ^ Rng::new(number).next_u64()).next_u64()
    }
}

fn programs() -> PathBuf {
    root().join("tests/programs")
}

/// What clang makes of a program without optimisation, as for a check but for debug information.
fn compiled(file: &Path) -> String {
    let clang = std::env::var_os("RADDLE_CLANG").unwrap_or_else(|| "clang".into());
    let run = |more: &[&str]| {
        let mut command = Command::new(&clang);
        command.args(["-S", "-emit-llvm", "-O0", "-w", "-DRADDLE"]);
        command.args(["-fno-discard-value-names", "-Xclang", "-disable-O0-optnone"]);
        let is_narrow = file.parent().is_some_and(|it| it.ends_with("ilp32"));
        command.args(is_narrow.then_some("-m32"));
        let output = command.args(more).args(["-o", "-"]).arg(file).output();
        let output = output.expect("clang can be run");
        let text = output.status.success().then_some(output.stdout)?;
        Some(String::from_utf8(text).expect("IR is text"))
    };
    // Older versions say what pointers point to, unless told not to; newer ones do not know that option.
    let text = run(&["-mllvm", "-opaque-pointers"]).or_else(|| run(&[]));
    text.unwrap_or_else(|| panic!("{}: not compiled", file.display()))
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the directory is part of the repository") {
        let path = entry.expect("a directory can be listed").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "c") {
            files.push(path);
        }
    }
}

/// A program and what is changed in it.
struct Mutant<'a> {
    base: &'a Base,
    mutations: Vec<Mutation>,
    checks: usize,
}

impl<'a> Mutant<'a> {
    fn new(base: &'a Base, number: u64) -> Self {
        let rng = &mut Rng::new(base.seed(number));
        let count = 1 + rng.below(MOST_MUTATIONS);
        Self {
            base,
            mutations: (0..count).map(|_| Mutation::random(rng)).collect(),
            checks: rng.below(CHECKS.len()),
        }
    }

    fn module(&self) -> Module {
        let mut module = self.base.module().clone();
        for (serial, mutation) in self.mutations.iter().enumerate() {
            mutation.apply(&mut module, serial);
        }
        module
    }

    fn check(&self, module: &Module) -> Result<Tally, Failure> {
        let mut tally = Tally::default();
        compare(&module.to_string(), CHECKS[self.checks].1, &mut tally)?;
        Ok(tally)
    }

    /// Leaves out mutations, then parts of the program, as long as it fails in the same way.
    fn shrink(&mut self, class: &str) -> Module {
        let fails = |it: &Self, module: &Module| {
            it.check(module)
                .is_err_and(|failure| failure.class == class)
        };
        let mut at = 0;
        while at < self.mutations.len() {
            let left_out = self.mutations.remove(at);
            if !fails(self, &self.module()) {
                self.mutations.insert(at, left_out);
                at += 1;
            }
        }
        let mut module = self.module();
        let mut tries = 0..MOST_TRIES;
        loop {
            let found =
                smaller(&module).find(|smaller| tries.next().is_none() || fails(self, smaller));
            match found.filter(|_| !tries.is_empty()) {
                Some(smaller) => module = smaller,
                None => break,
            }
        }
        module
    }
}

/// What was left of a mutant that failed.
struct Kept {
    /// The name of the program, and the number of the mutant.
    of: (String, u64),
    text: String,
    failure: Failure,
}

fn try_one(base: &Base, number: u64) -> Result<Tally, Kept> {
    let mut mutant = Mutant::new(base, number);
    let failure = match mutant.check(&mutant.module()) {
        Ok(tally) => return Ok(tally),
        Err(failure) => failure,
    };
    let module = mutant.shrink(&failure.class);
    let mut text = String::new();
    let (checks, _) = CHECKS[mutant.checks];
    let _ = writeln!(text, "; checks: {checks}");
    let (name, mutations) = (&base.name, &mutant.mutations);
    let _ = writeln!(text, "; mutant {number} of {name}: {mutations:?}");
    let _ = writeln!(text, "; {}", failure.detail.replace('\n', " "));
    let _ = write!(text, "{module}");
    let of = (name.clone(), number);
    Err(Kept { of, text, failure })
}

/// What has come of mutants so far.
struct Tried {
    tally: Tally,
    failed: Vec<Kept>,
    progress: Progress,
}

/// Tries mutants, each given by its program and its number. By hand, it tells how far it has come, as if the first one had this number.
fn try_all(mutants: &[(&Base, u64)], by_hand: Option<u64>) -> (Tally, Vec<Kept>) {
    let next = AtomicUsize::new(0);
    let tried = Mutex::new(Tried {
        tally: Tally::default(),
        failed: Vec::new(),
        progress: Progress::new(mutants.len()),
    });
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    silence_workers();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(base, number)) = mutants.get(at) else {
                return;
            };
            let result = try_one(base, number);
            let mut tried = tried.lock().expect("nobody panics with it");
            match result {
                Ok(tally) => tried.tally.add(tally),
                Err(kept) => {
                    if by_hand.is_some() {
                        keep(&kept);
                    }
                    tried.failed.push(kept);
                }
            }
            let Some(first) = by_hand else { continue };
            let failed = tried.failed.len();
            if let Some(line) = tried.progress.done(at, first, failed) {
                println!("{line}\n{}", tried.tally);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let worker = std::thread::Builder::new()
                .name(WORKER.to_owned())
                .stack_size(STACK_BYTES);
            worker
                .spawn_scoped(scope, work)
                .expect("threads can be started");
        }
    });
    let mut tried = tried.into_inner().expect("nobody panicked");
    tried.failed.sort_by(|one, other| one.of.cmp(&other.of));
    (tried.tally, tried.failed)
}

/// The name of threads whose panics are caught, and told of in the end.
const WORKER: &str = "tries mutants";
/// As much as checks have: threads that start threads are encoded in each other.
const STACK_BYTES: usize = 256 << 20;

fn silence_workers() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(WORKER) {
            usual(panic);
        }
    }));
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a number"))
}

#[test]
fn no_engine_contradicts_another() {
    let bases: Vec<Base> = TRIED.lines().map(Base::new).collect();
    let mutants = |base| (0..TRIED_OF_EACH).map(move |number| (base, number));
    let mutants: Vec<(&Base, u64)> = bases.iter().flat_map(mutants).collect();
    let (tally, failed) = try_all(&mutants, None);
    none_failed(&failed);
    // Comparing nothing would be no test.
    let (verified, violations) = tally.answers();
    assert!(verified > 0 && violations > 0);
}

/// `cargo xtask mutants` says which.
#[test]
#[ignore = "tries other mutants by hand: cargo xtask mutants"]
fn no_engine_contradicts_another_by_hand() {
    let count = number("RADDLE_MUTANTS").unwrap_or(1000);
    let first = number("RADDLE_MUTANTS_FROM").unwrap_or(0);
    let mut bases = Base::all();
    if let Ok(program) = std::env::var("RADDLE_MUTANTS_OF") {
        bases.retain(|base| base.name == program);
        assert!(!bases.is_empty(), "there is no tests/programs/{program}");
    }
    // The first one of each program, then the second one of each, and so on.
    let each = bases.len() as u64;
    let mutants = (first..first + count).map(|at| (&bases[(at % each) as usize], at / each));
    let mutants: Vec<(&Base, u64)> = mutants.collect();
    let (_, failed) = try_all(&mutants, Some(first));
    println!("{count} mutants from {first} on: {} failed", failed.len());
    none_failed(&failed);
}

fn none_failed(failed: &[Kept]) {
    if let Some(Kept { of, text, .. }) = failed.first() {
        let count = failed.len();
        let (name, number) = of;
        panic!("{count} mutants fail, the first is number {number} of {name}:\n{text}");
    }
}

/// Writes down a mutant that fails, to be tried from now on.
fn keep(kept: &Kept) {
    let (program, number) = &kept.of;
    let class = kept.failure.class.replace(' ', "_");
    let stem = Path::new(program).file_stem().and_then(|it| it.to_str());
    let stem = stem.expect("names are ASCII");
    let directory = root().join("tests/mutants");
    let file = directory.join(format!("{class}_{stem}_{number}.ll"));
    let written = fs::create_dir_all(&directory).and_then(|()| fs::write(&file, &kept.text));
    written.expect("the corpus can be written");
    println!("{}: {}", file.display(), kept.failure.detail);
}

#[test]
fn mutants_that_failed_do_not() {
    let mut files: Vec<PathBuf> = fs::read_dir(root().join("tests/mutants"))
        .expect("the directory is part of the repository")
        .map(|entry| entry.expect("a directory can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ll"))
        .collect();
    files.sort();
    for file in files {
        let text = fs::read_to_string(&file).expect("the corpus can be read");
        let named = text.lines().next().unwrap_or_default();
        let named = named.trim_start_matches("; checks: ");
        let checks = CHECKS.iter().find(|(name, _)| *name == named);
        let (_, checks) = checks.unwrap_or_else(|| panic!("{}: no checks", file.display()));
        if let Err(failure) = compare(&text, *checks, &mut Tally::default()) {
            panic!("{}: {}", file.display(), failure.detail);
        }
    }
}
