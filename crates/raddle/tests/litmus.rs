//! Litmus tests written in C, checked by the real binary: orderings must survive the compiler and the interpreter, and the
//! engines that know weak memory models must agree with the store-buffer machine.

use raddle_memory::{Machine, MemoryModel};
use raddle_program::{LocId, Op, Program, ThreadId};
use raddle_testing::generate::Random;
use raddle_testing::litmus::{C11Test, Litmus, Outcome, c11_tests, classics};
use raddle_testing::oracle::for_each_end;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const MODELS: [MemoryModel; 3] = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso];

/// A file of its own for each test.
fn write(name: &str, litmus: &Litmus, outcome: &Outcome) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("litmus");
    std::fs::create_dir_all(&directory).expect("the directory for temporary files can be written");
    let file = directory.join(format!("{}.c", name.replace([' ', '+'], "_")));
    std::fs::write(&file, litmus.to_c(outcome)).expect("the file can be written");
    file
}

/// Is there a violation?
fn violated(file: &Path, engine: &str, model: MemoryModel) -> bool {
    violated_by(file, engine, model, &[])
}

/// The same with arguments for the compiler.
fn violated_by(file: &Path, engine: &str, model: MemoryModel, compiler: &[&str]) -> bool {
    let output = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(["check", "--quiet", "--check", "assert"])
        .args(["--engine", engine, "--memory", model.name()])
        .arg(file)
        .arg("--")
        .args(compiler)
        .output()
        .expect("the binary was built");
    match output.status.code() {
        Some(0) => false,
        Some(1) => true,
        status => panic!(
            "{} under {}: {status:?} {}{}",
            file.display(),
            model.name(),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}

#[test]
fn classic_tests_in_c_have_their_well_known_answers() {
    for classic in classics() {
        let file = write(&classic.litmus.name, &classic.litmus, &classic.outcome);
        for (model, allowed) in MODELS.into_iter().zip(classic.allowed) {
            for engine in ["naive", "bmc"] {
                // Four threads have too many interleavings.
                if engine == "naive" && classic.litmus.threads.len() > 2 {
                    continue;
                }
                assert_eq!(
                    violated(&file, engine, model),
                    allowed,
                    "{} under {}, {engine}",
                    classic.litmus.name,
                    model.name()
                );
            }
        }
    }
}

/// A language, and its compiler's names of a standard with C++20's release sequences and of one with those before.
struct Language {
    extension: &'static str,
    standards: [&'static str; 2],
    text: fn(&Litmus, &Outcome) -> String,
}

/// A test of the memory model of C and C++, in one of the languages and by both rules for release sequences.
fn has_its_known_answer(test: &C11Test, language: &Language) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("litmus_c11");
    std::fs::create_dir_all(&directory).expect("the directory for temporary files can be written");
    let name = test.litmus.name.replace([' ', '+', ',', '.'], "_");
    let file = directory.join(format!("{name}.{}", language.extension));
    let text = (language.text)(&test.litmus, &test.outcome);
    std::fs::write(&file, text).expect("the file can be written");
    // Once is enough where the rules agree.
    let same = test.allowed[0] == test.allowed[1];
    let asked = language.standards.iter().zip(test.allowed);
    for (standard, allowed) in asked.take(if same { 1 } else { 2 }) {
        assert_eq!(
            violated_by(&file, "graph", MemoryModel::C11, &[standard]),
            allowed,
            "{} with {standard}: {}",
            test.litmus.name,
            test.why
        );
    }
}

#[test]
fn c11_tests_have_the_answers_that_are_known_by_argument() {
    let language = Language {
        extension: "c",
        standards: ["-std=c2x", "-std=c17"],
        text: Litmus::to_c,
    };
    for test in c11_tests() {
        has_its_known_answer(&test, &language);
    }
}

/// Compiling the headers of C++ takes a second each time, and the model was tried in C: every fourth test, and all where the standards differ, show that orderings survive this
/// compiler, too. `RADDLE_LITMUS=all` tries them all.
#[test]
fn c11_tests_have_these_answers_in_cpp() {
    let language = Language {
        extension: "cpp",
        standards: ["-std=c++20", "-std=c++17"],
        text: Litmus::to_cpp,
    };
    let all = std::env::var("RADDLE_LITMUS").is_ok_and(|which| which == "all");
    for (index, test) in c11_tests().iter().enumerate() {
        if all || index % 4 == 0 || test.allowed[0] != test.allowed[1] {
            has_its_known_answer(test, &language);
        }
    }
}

/// What the store-buffer machine can end in.
fn outcomes(litmus: &Litmus, model: MemoryModel) -> BTreeSet<Outcome> {
    let mut all = BTreeSet::new();
    let mut program = litmus.build().program();
    for_each_end(&mut program, model, |program, machine| {
        all.insert(ended_in(litmus, program, machine));
    });
    all
}

fn ended_in(litmus: &Litmus, program: &Program, machine: &mut Machine) -> Outcome {
    let tables = program.tables();
    let reads = (0..litmus.threads.len()).map(|index| {
        let state = machine.thread_state(ThreadId::from_index(index + 1));
        match state.map(|state| *program.op(state)) {
            Some(Op::Exit { value }) => litmus.unpacked(index, value),
            other => panic!("a thread has not finished: {other:?}"),
        }
    });
    let reads = reads.collect();
    let memory = (0..litmus.locations).map(|at| {
        let loc = (0..tables.loc_count()).map(LocId::from_index).find(|&loc| {
            let info = tables.loc_info(loc);
            info.size == 4 && *tables.object_info(info.object).name == *["x", "y", "z"][at]
        });
        Some(loc.map_or(0, |loc| machine.peek(tables, loc)))
    });
    Outcome {
        reads,
        memory: memory.collect(),
    }
}

/// Something that cannot happen, made of pieces of what can.
fn impossible(random: &mut Random, possible: &BTreeSet<Outcome>) -> Option<Outcome> {
    let all: Vec<&Outcome> = possible.iter().collect();
    (0..20).find_map(|_| {
        let mut mixed = random.pick(&all).clone();
        for thread in 0..mixed.reads.len() {
            mixed.reads[thread].clone_from(&random.pick(&all).reads[thread]);
        }
        for at in 0..mixed.memory.len() {
            mixed.memory[at] = random.pick(&all).memory[at];
        }
        (!possible.contains(&mixed)).then_some(mixed)
    })
}

/// The generated family: outcomes that only weaker models allow, and outcomes that none does. `RADDLE_PROPTEST_CASES` asks
/// for more tests than CI runs.
#[test]
fn bmc_decides_generated_tests_as_the_store_buffer_machine_does() {
    let asked = std::env::var("RADDLE_PROPTEST_CASES").ok();
    let cases = asked.and_then(|cases| cases.parse().ok()).unwrap_or(24);
    let mut questions = 0;
    for seed in 0..cases {
        let litmus = Litmus::generate(seed);
        let [sc, tso, pso] = MODELS.map(|model| outcomes(&litmus, model));
        let mut random = Random::new(seed);
        let weak = tso.difference(&sc).next().or(pso.difference(&tso).next());
        let asked = [weak.cloned(), impossible(&mut random, &pso)];
        for (index, outcome) in asked.into_iter().flatten().enumerate() {
            let file = write(&format!("{} {index}", litmus.name), &litmus, &outcome);
            questions += 1;
            for (model, possible) in MODELS.into_iter().zip([&sc, &tso, &pso]) {
                assert_eq!(
                    violated(&file, "bmc", model),
                    possible.contains(&outcome),
                    "{litmus:?} under {}: {outcome:?}",
                    model.name()
                );
            }
        }
    }
    assert!(questions >= cases / 4, "{questions} questions");
}
