//! Proofs written by hand: what holds is accepted, and what is wrong is refused where it is wrong.

use raddle_proof::{Failure, Fault, Invalid, Summary, check};

/// Store buffering under sequential consistency: not both reads find what was there at first. Events 0 and 1 are the first contents,
/// 2 and 3 the accesses of one thread, 4 and 5 those of the other. Variable 2: the read 3 reads the first contents of `y`; 3: the read 5 reads
/// those of `x`; 4 and 5: they read what the other thread wrote; 6: both find zeros.
const STORE_BUFFERING: &str = "\
raddle-proof 1
c store buffering
f 1
i 1 0
g
e 0 1
e 1 1
e 2 1
e 3 1
e 4 1
e 5 1
o 1 0 2 1
o 1 1 4 1
o 1 2 3 1
o 1 4 5 1
r 1 1 1 3 2
r 1 1 0 5 3
r 1 1 4 3 4
r 1 1 2 5 5
w 1 0 2 1
w 1 1 4 1
i 2 4 0
i 3 5 0
i -6 -4 0
i -6 -5 0
t -2 -3 0 0 2 3 4 5
l -6 0
n fault 6 0
n deadlock
n spin
n refusal
n race
n cut
v complete 1
";

fn judged(proof: &str) -> Result<Summary, Invalid> {
    check(proof.as_bytes(), || false).map_err(|failure| match failure {
        Failure::Invalid(invalid) => invalid,
        other => panic!("{other:?}"),
    })
}

/// The proof with another line, or without it.
fn with(line: &str, other: Option<&str>) -> (u64, String) {
    let at = STORE_BUFFERING.lines().position(|it| it == line).unwrap();
    let mut lines: Vec<&str> = STORE_BUFFERING.lines().collect();
    match other {
        Some(other) => lines[at] = other,
        None => {
            lines.remove(at);
        }
    }
    (at as u64 + 1, lines.join("\n") + "\n")
}

#[track_caller]
fn refused(line: &str, other: Option<&str>, expected: Fault) -> u64 {
    let (at, proof) = with(line, other);
    let invalid = judged(&proof).unwrap_err();
    assert_eq!(invalid.what, expected);
    // Where the last line is missing, the last one that there is.
    assert!(invalid.line + 1 >= at);
    invalid.line
}

#[test]
fn what_holds_is_accepted() {
    let summary = judged(STORE_BUFFERING).unwrap();
    let expected = Summary {
        is_complete: true,
        formulas: 1,
        clauses: 5,
        learnt: 1,
        lemmas: 1,
        questions: 6,
        ..Summary::default()
    };
    assert_eq!(summary, expected);
}

#[test]
fn a_clause_that_is_not_there_is_missed() {
    for clause in ["i 2 4 0", "i 3 5 0", "i -6 -4 0", "i -6 -5 0"] {
        assert_eq!(refused(clause, None, Fault::DoesNotFollow), 26);
    }
    // Without the lemma, too.
    refused("t -2 -3 0 0 2 3 4 5", None, Fault::DoesNotFollow);
}

#[test]
fn another_literal_is_another_clause() {
    refused("i 2 4 0", Some("i -2 4 0"), Fault::DoesNotFollow);
    refused("l -6 0", Some("l 6 0"), Fault::DoesNotFollow);
    refused("n fault 6 0", Some("n fault -6 0"), Fault::NotRefuted);
    // The other read need not read what was there at first.
    let (from, to) = (5, 2);
    let no_order = Fault::NoOrder { graph: 0, from, to };
    refused(
        "t -2 -3 0 0 2 3 4 5",
        Some("t -2 0 0 2 3 4 5"),
        no_order.clone(),
    );
    refused("t -2 -3 0 0 2 3 4 5", Some("t -2 3 0 0 2 3 4 5"), no_order);
}

#[test]
fn a_lemma_is_a_cycle() {
    let lemma = "t -2 -3 0 0 2 3 4 5";
    refused(lemma, Some("t -2 -3 0 0"), Fault::NoCycle);
    for (cycle, graph, from, to) in [
        ("0 2 3 4", 0, 4, 2),
        ("0 2 3", 0, 3, 2),
        ("0 2 4 3 5", 0, 2, 4),
    ] {
        let other = format!("t -2 -3 0 {cycle}");
        refused(lemma, Some(&other), Fault::NoOrder { graph, from, to });
    }
    refused(
        lemma,
        Some("t -2 -3 0 1 2 3 4 5"),
        Fault::UnknownGraph { graph: 1 },
    );
    // Whose orders are not there either.
    let no_order = |from, to| Fault::NoOrder { graph: 0, from, to };
    refused("o 1 2 3 1", None, no_order(2, 3));
    refused("w 1 1 4 1", None, no_order(3, 4));
    refused("r 1 1 0 5 3", None, no_order(5, 2));
    refused("r 1 1 0 5 3", Some("r 0 1 0 5 3"), no_order(5, 2));
}

/// Two accesses of one block are one node; their order in it is a cycle if something else says otherwise.
#[test]
fn classes_are_nodes() {
    let proof = |order: &str| {
        format!(
            "raddle-proof 1\nf 1\ni 1 0\ng\ne 0 1\ne 1 1\ne 2 1\nk 0 0 1\n{order}\nt -2 0 0 0\n\
             n fault 2 0\nn deadlock\nn spin\nn refusal\nn race\nn cut\nv complete 1\n"
        )
    };
    assert!(judged(&proof("o 1 1 0 2")).is_ok());
    let invalid = judged(&proof("o 1 0 1 2")).unwrap_err();
    let expected = Fault::NoOrder {
        graph: 0,
        from: 0,
        to: 0,
    };
    assert_eq!(invalid.what, expected);
    // Between others they are one: 2 comes behind the second and before the first.
    let around = proof("o 1 1 2 1\no 1 2 0 2").replace("t -2 0 0 0", "t -2 0 0 0 2");
    assert!(judged(&around).is_ok());
}

#[test]
fn clauses_that_are_deleted_are_gone() {
    let kept = "l -6 0";
    let deleted = |line: &str| with(kept, Some(&format!("{line}\n{kept}"))).1;
    let judge = |line: &str| judged(&deleted(line)).map_err(|invalid| invalid.what);
    assert_eq!(judge("d 5 3 0"), Err(Fault::DoesNotFollow));
    assert_eq!(judge("d -3 -2 0"), Err(Fault::DoesNotFollow));
    assert_eq!(judge("d 3 6 0"), Err(Fault::NotThere));
}

#[test]
fn an_answer_rests_on_its_questions() {
    let unanswered = |question| Fault::Unanswered {
        number: 1,
        question,
    };
    for question in ["deadlock", "spin", "refusal", "race", "cut"] {
        refused(&format!("n {question}"), None, unanswered(question));
    }
    refused("n fault 6 0", None, unanswered("fault"));
    let (_, bounded) = with("v complete 1", Some("v bounded 1"));
    assert!(!judged(&bounded).unwrap().is_complete);
    let neither = bounded.replace("n cut\n", "");
    assert_eq!(judged(&neither).unwrap_err().what, unanswered("limit"));
    let limit = bounded.replace("n cut\n", "n limit\n");
    assert!(judged(&limit).is_ok());
    refused("v complete 1", Some("v complete"), Fault::NothingAnswered);
    let number = 2;
    refused(
        "v complete 1",
        Some("v complete 2"),
        Fault::UnknownFormula { number },
    );
    refused("v complete 1", None, Fault::NoAnswer);
}

#[test]
fn what_is_no_proof_is_refused() {
    for (proof, line, what) in [
        ("", 0, Fault::NoProof),
        ("p cnf 1 1\n", 1, Fault::NoProof),
        ("raddle-proof 1\ni 1 0\n", 2, Fault::NoFormula),
        ("raddle-proof 1\nf 1\ni 1\n", 3, Fault::NoEnd),
        ("raddle-proof 1\nf 1\ni 1 0 2\n", 3, Fault::Long),
        ("raddle-proof 1\nf 1\ne 0\n", 3, Fault::NoEnd),
        (
            "raddle-proof 1\nf 1\ne 1 1\n",
            3,
            Fault::EventNumber {
                event: 1,
                expected: 0,
            },
        ),
        (
            "raddle-proof 1\nf 1\no 1 0 1 1\n",
            3,
            Fault::UnknownGraph { graph: 0 },
        ),
        (
            "raddle-proof 1\nf 1\ng\no 1 0 1 1\n",
            4,
            Fault::UnknownEvent { event: 0 },
        ),
        (
            "raddle-proof 1\nf 1\ni 999999999 0\n",
            3,
            Fault::NoNumber {
                word: "999999999".to_owned(),
            },
        ),
        (
            "raddle-proof 1\nf 1\nz\n",
            3,
            Fault::UnknownLine {
                kind: "z".to_owned(),
            },
        ),
    ] {
        assert_eq!(
            judged(proof).unwrap_err(),
            Invalid { line, what },
            "{proof}"
        );
    }
}
