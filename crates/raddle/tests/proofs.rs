//! `raddle check --proof` and `raddle verify-proof`.

mod common;

use common::{Scratch, check, raddle, says};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

fn verify(proof: &Path) -> Output {
    raddle().arg("verify-proof").arg(proof).output().unwrap()
}

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/programs")
        .join(name)
}

const STORE_BUFFERING: &str = "\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y; int a, b;
void *left(void *p) { atomic_store(&x, 1); a = atomic_load(&y); return p; }
int main(void) {
    pthread_t t; pthread_create(&t, 0, left, 0);
    atomic_store(&y, 1); b = atomic_load(&x);
    pthread_join(t, 0); assert(a || b); }
";

/// Programs of all sorts: what is verified has a proof that holds.
#[test]
fn programs_that_are_verified_have_proofs() {
    let scratch = Scratch::new("proofs");
    let proof = scratch.0.join("a.proof");
    let path = proof.to_str().unwrap();
    let mut proved = 0;
    for name in PROGRAMS {
        for memory in ["sc", "tso"] {
            let limit = ["--time-limit", "60", "--memory", memory];
            let args = ["--engine", "bmc", "--proof", path];
            let output = check(&program(name), &[&args[..], &limit].concat());
            let text = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(0), "{name}: {text}");
            says(&verify(&proof), 0, &["valid: verified"]);
            proved += 1;
        }
    }
    assert_eq!(proved, 2 * PROGRAMS.len());
}

const PROGRAMS: [&str; 5] = [
    "correct/barrier.c",
    "correct/objects_made_anew.c",
    "correct/early_purity.c",
    "correct/message_passing.c",
    "library/locks.c",
];

#[test]
fn a_proof_that_was_changed_is_refused() {
    let scratch = Scratch::new("spoilt-proof");
    let file = scratch.file("sb.c", STORE_BUFFERING);
    let proof = scratch.0.join("sb.proof");
    let args = ["--engine", "bmc", "--proof", proof.to_str().unwrap()];
    says(&check(&file, &args), 0, &["verified"]);
    says(
        &verify(&proof),
        0,
        &["valid: verified without a bound", "1 formula"],
    );
    let text = fs::read_to_string(&proof).unwrap();
    let lemma = text
        .lines()
        .position(|line| line.starts_with("t "))
        .unwrap();
    // A cycle without its last event is none.
    let mut lines: Vec<&str> = text.lines().collect();
    let shorter = lines[lemma].rsplit_once(' ').unwrap().0.to_owned();
    lines[lemma] = &shorter;
    fs::write(&proof, lines.join("\n")).unwrap();
    let place = format!("line {}: ", lemma + 1);
    says(&verify(&proof), 1, &["not valid", &place, "nothing orders"]);
    // One that ends early has no answer.
    let half: Vec<&str> = text.lines().take(lemma).collect();
    fs::write(&proof, half.join("\n")).unwrap();
    says(&verify(&proof), 1, &["not valid", "ends before an answer"]);
}

#[test]
fn only_what_is_verified_has_a_proof() {
    let scratch = Scratch::new("no-proof");
    let broken = STORE_BUFFERING.replace("a || b", "a && b");
    let file = scratch.file("sb.c", &broken);
    let proof = scratch.0.join("sb.proof");
    let path = proof.to_str().unwrap();
    let output = check(&file, &["--engine", "bmc", "--proof", path]);
    says(
        &output,
        1,
        &["is not written: only what is verified has a proof"],
    );
    assert!(!proof.exists());
    let output = check(&file, &["--engine", "dpor", "--proof", path]);
    says(
        &output,
        2,
        &[
            "`--proof` is for engine `bmc`, not for engine `dpor`",
            "add `--engine bmc`",
        ],
    );
    says(&verify(&proof), 2, &["cannot read", "--proof FILE"]);
}

/// What a bound covers has a proof up to the bound.
#[test]
fn a_bound_is_part_of_the_proof() {
    let scratch = Scratch::new("bounded-proof");
    let program = "#include <assert.h>\nint __VERIFIER_nondet_int(void);\n\
        int main(void) { int n = 1; while (__VERIFIER_nondet_int()) n = n * 3 + 1; assert(n != 0); }\n";
    let file = scratch.file("loop.c", program);
    let proof = scratch.0.join("loop.proof");
    let args = [
        "--engine",
        "bmc",
        "--unroll",
        "3",
        "--proof",
        proof.to_str().unwrap(),
    ];
    says(&check(&file, &args), 0, &["up to 3 iterations"]);
    says(
        &verify(&proof),
        0,
        &["valid: verified up to the bound that was asked for"],
    );
}
