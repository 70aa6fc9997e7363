//! The paper's figures, the guards, and what the transformations make of them.

use super::*;
use crate::inst::{Body, Call, InstKind, Terminator};
use crate::module::Module;
use crate::passes::testing::check::check_ssa;
use crate::passes::{Cfg, Dominators, Loops, prepare};
use crate::{parse_module, verify};

const GLOBALS: &str = "
@x = global i32 0, align 4
@y = global i32 0, align 4
@z = global i32 0, align 4
@p = global ptr null, align 8
@a = global [4 x i32] zeroinitializer, align 16
declare void @observe(i32)
declare i32 @yield()
";

fn calls(module: &Module, call: &Call) -> CallEffect {
    let name = crate::passes::intrinsics::called_function(module, call.callee)
        .map(|id| &*module.function(id).name);
    match name {
        Some("yield") => CallEffect::Nothing,
        _ => known_call(module, call),
    }
}

/// The function `f` of a text.
fn body(text: &str) -> (Module, Body) {
    let text = format!("{GLOBALS}\n{text}");
    let mut module = parse_module(text, "t.ll").expect("valid");
    let id = module.function_named("f").expect("defined");
    let body = module.parse_body(id).expect("valid");
    let body = prepare(&mut module, body);
    (module, body)
}

fn found(text: &str) -> Vec<PureLoop> {
    let (mut module, body) = body(text);
    let cfg = Cfg::new(&body);
    let loops = Loops::new(&cfg, &Dominators::new(&cfg));
    let atomics = &AtomicGlobals::of(&mut module);
    let around = Surroundings {
        calls: &calls,
        atomics,
    };
    analyse(&module, &body, &cfg, &loops, around)
}

fn eliminated(text: &str) -> (Body, usize) {
    let (mut module, mut body) = body(text);
    let atomics = &AtomicGlobals::of(&mut module);
    let around = Surroundings {
        calls: &calls,
        atomics,
    };
    let done = eliminate(&mut module, &mut body, around);
    verify(&module, &body).expect("valid");
    check_ssa(&body);
    (body, done)
}

fn count_loops(body: &Body) -> usize {
    let cfg = Cfg::new(body);
    Loops::new(&cfg, &Dominators::new(&cfg)).len()
}

/// Instructions of the block that a point is in, before it.
fn code_before(text: &str, condition: &Condition) -> usize {
    let (_, body) = body(text);
    let block = &body.blocks[condition.at.block.index()];
    assert!(condition.at.index <= block.insts.len());
    let loads = block.insts[..condition.at.index].iter();
    loads
        .filter(|inst| matches!(inst.kind, InstKind::Load { .. }))
        .count()
}

/// Figure 2: `do a = x while a != 1`.
const FIGURE_2: &str = "define i32 @f() {
  br label %loop
loop:
  %a = load atomic i32, ptr @x seq_cst, align 4
  %done = icmp eq i32 %a, 1
  br i1 %done, label %out, label %loop
out:
  ret i32 %a
}";

#[test]
fn a_spin_loop_is_pure_behind_its_load() {
    let loops = found(FIGURE_2);
    assert_eq!(loops.len(), 1);
    let [condition] = &loops[0].conditions[..] else {
        panic!("{loops:?}");
    };
    assert!(matches!(
        condition.literals[..],
        [Literal {
            atom: Atom::Is { bits: 1, .. },
            holds: false
        }]
    ));
    assert_eq!(condition.at.index, 1, "behind the load");
    assert!(!condition.saves_accesses);
    let (body, done) = eliminated(FIGURE_2);
    assert_eq!(done, 0, "nothing to be left out");
    assert_eq!(count_loops(&body), 1);
}

/// Figure 6: `do a = x; b = y; if a == 4 { z = b } while a >= 4`.
const FIGURE_6: &str = "define i32 @f() {
  br label %loop
loop:
  %a = load atomic i32, ptr @x seq_cst, align 4
  %b = load atomic i32, ptr @y seq_cst, align 4
  %four = icmp eq i32 %a, 4
  br i1 %four, label %write, label %test
write:
  store atomic i32 %b, ptr @z seq_cst, align 4
  br label %test
test:
  %again = icmp uge i32 %a, 4
  br i1 %again, label %loop, label %out
out:
  ret i32 %a
}";

#[test]
fn a_round_is_pure_on_one_way_only() {
    let loops = found(FIGURE_6);
    let [pure] = &loops[..] else {
        panic!("{loops:?}");
    };
    let [condition] = &pure.conditions[..] else {
        panic!("{loops:?}");
    };
    // a != 4 and a >= 4: the comparison with 4 is the last register to be known.
    assert_eq!(condition.literals.len(), 2);
}

/// As figure 6, with the comparison where the paper has the condition: behind the load of x.
#[test]
fn a_condition_is_used_as_soon_as_it_is_known() {
    let text = "define i32 @f() {
  br label %loop
loop:
  %a = load atomic i32, ptr @x seq_cst, align 4
  %again = icmp uge i32 %a, 4
  %b = load atomic i32, ptr @y seq_cst, align 4
  %four = icmp eq i32 %a, 4
  br i1 %four, label %write, label %test
write:
  store atomic i32 %b, ptr @z seq_cst, align 4
  br label %test
test:
  br i1 %again, label %loop, label %out
out:
  ret i32 %a
}";
    let loops = found(text);
    let [condition] = &loops[0].conditions[..] else {
        panic!("{loops:?}");
    };
    assert!(condition.saves_accesses);
    assert_eq!(code_before(text, condition), 1, "before the load of y");
    let (body, done) = eliminated(text);
    assert_eq!(done, 1);
    // The iteration goes back from the first half of the header.
    let header = BlockId(1);
    assert!(matches!(
        body.blocks[header.index()].terminator,
        Terminator::CondBr { then, .. } if then == header
    ));
}

#[test]
fn failing_compare_exchanges_are_pure() {
    let text = "define void @f() {
  br label %loop
loop:
  %pair = cmpxchg ptr @x, i32 0, i32 1 seq_cst seq_cst, align 4
  %ok = extractvalue { i32, i1 } %pair, 1
  br i1 %ok, label %out, label %loop
out:
  ret void
}";
    let loops = found(text);
    let [condition] = &loops[0].conditions[..] else {
        panic!("{loops:?}");
    };
    assert!(matches!(
        condition.literals[..],
        [Literal {
            atom: Atom::Exchanged(_),
            holds: false
        }]
    ));
}

#[test]
fn a_compare_exchange_that_goes_on_with_what_it_found_is_not() {
    let text = "define void @f(i32 %start) {
  br label %loop
loop:
  %expected = phi i32 [ %start, %0 ], [ %seen, %loop ]
  %new = add i32 %expected, 1
  %pair = cmpxchg ptr @x, i32 %expected, i32 %new seq_cst seq_cst, align 4
  %seen = extractvalue { i32, i1 } %pair, 0
  %ok = extractvalue { i32, i1 } %pair, 1
  br i1 %ok, label %out, label %loop
out:
  ret void
}";
    assert!(found(text).is_empty(), "what failed saw something else");
}

#[test]
fn test_and_test_and_set() {
    let text = "define void @f() {
  br label %loop
loop:
  %seen = load atomic i32, ptr @x seq_cst, align 4
  %free = icmp eq i32 %seen, 0
  br i1 %free, label %take, label %loop
take:
  %old = atomicrmw xchg ptr @x, i32 1 seq_cst, align 4
  %got = icmp eq i32 %old, 0
  br i1 %got, label %out, label %loop
out:
  ret void
}";
    let loops = found(text);
    assert_eq!(loops[0].conditions.len(), 2);
}

#[test]
fn counting_is_not_pure() {
    let text = "define void @f() {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %a = load atomic i32, ptr @x seq_cst, align 4
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, 3
  br i1 %more, label %loop, label %out
out:
  ret void
}";
    assert!(found(text).is_empty());
}

#[test]
fn a_register_that_gets_the_value_it_has_is_not_changed() {
    let text = "define i32 @f() {
  br label %loop
loop:
  %last = phi i32 [ 0, %0 ], [ %a, %loop ]
  %a = load atomic i32, ptr @x seq_cst, align 4
  %b = load atomic i32, ptr @y seq_cst, align 4
  %done = icmp eq i32 %b, 1
  br i1 %done, label %out, label %loop
out:
  ret i32 %last
}";
    let loops = found(text);
    let [condition] = &loops[0].conditions[..] else {
        panic!("{loops:?}");
    };
    let equal = |l: &Literal| l.holds && matches!(l.atom, Atom::Equal { .. });
    assert!(condition.literals.iter().any(equal));
}

#[test]
fn accesses_that_may_be_invalid_are_done() {
    let text = |ordering: &str, place: &str| {
        format!(
            "define i32 @f(ptr %q) {{
  br label %loop
loop:
  %a = load atomic i32, ptr @x seq_cst, align 4
  %b = load {ordering}
  %done = icmp eq i32 %a, 1
  br i1 %done, label %out, label %loop
out:
  ret i32 {place}
}}"
        )
    };
    for (load, loads_before) in [
        ("atomic i32, ptr @y seq_cst, align 4", 1),
        (
            "atomic i32, ptr getelementptr ([4 x i32], ptr @a, i64 0, i64 3) seq_cst, align 4",
            1,
        ),
        (
            "atomic i32, ptr getelementptr ([4 x i32], ptr @a, i64 0, i64 4) seq_cst, align 4",
            2,
        ),
        ("atomic i32, ptr %q seq_cst, align 4", 2),
        // It may be in a data race.
        ("i32, ptr @y, align 4", 2),
    ] {
        let text = text(load, "%b");
        let loops = found(&text);
        let [condition] = &loops[0].conditions[..] else {
            panic!("{loops:?}");
        };
        assert_eq!(code_before(&text, condition), loads_before, "{load}");
        assert_eq!(condition.saves_accesses, loads_before == 1);
    }
}

/// What somebody accesses plainly may be in a data race.
#[test]
fn atomic_accesses_that_may_race_are_done() {
    for (elsewhere, loads_before) in [
        ("store atomic i32 1, ptr @y seq_cst, align 4", 1),
        ("store i32 1, ptr @y, align 4", 2),
        ("%v = load i32, ptr @y, align 4", 2),
        ("store ptr @y, ptr @p, align 8", 2),
        ("store atomic ptr @y, ptr @p seq_cst, align 8", 2),
        (
            "%q = getelementptr i8, ptr @y, i64 0\n  store i8 1, ptr %q, align 1",
            2,
        ),
        (
            "%q = getelementptr i32, ptr @y, i64 0\n  store atomic i32 1, ptr %q seq_cst, align 4",
            1,
        ),
    ] {
        let text = format!(
            "define void @g() {{
  {elsewhere}
  ret void
}}
define i32 @f() {{
  br label %loop
loop:
  %a = load atomic i32, ptr @x seq_cst, align 4
  %b = load atomic i32, ptr @y seq_cst, align 4
  %done = icmp eq i32 %a, 1
  br i1 %done, label %out, label %loop
out:
  ret i32 %b
}}"
        );
        let loops = found(&text);
        let [condition] = &loops[0].conditions[..] else {
            panic!("{loops:?}");
        };
        assert_eq!(code_before(&text, condition), loads_before, "{elsewhere}");
    }
}

#[test]
fn rounds_that_closed_a_loop_inside_are_told_apart() {
    let text = "define i32 @f() {
  br label %outer
outer:
  br label %inner
inner:
  %a = load atomic i32, ptr @x seq_cst, align 4
  %again = icmp eq i32 %a, 7
  br i1 %again, label %write, label %behind
write:
  store atomic i32 1, ptr @z seq_cst, align 4
  br label %inner
behind:
  %b = load atomic i32, ptr @y seq_cst, align 4
  %done = icmp eq i32 %b, 1
  br i1 %done, label %out, label %outer
out:
  ret i32 %b
}";
    let loops = found(text);
    assert_eq!(loops.len(), 1, "the inner one writes");
    eliminated(text);
}

#[test]
fn conditions_are_seen_through_what_compilers_wrap_them_in() {
    // while (x == 0 && y == 0): a φ of the two, as clang writes it.
    let text = "define void @f() {
  br label %loop
loop:
  %a = load atomic i32, ptr @x seq_cst, align 4
  %first = icmp eq i32 %a, 0
  br i1 %first, label %second, label %end
second:
  %b = load atomic i32, ptr @y seq_cst, align 4
  %also = icmp eq i32 %b, 0
  br label %end
end:
  %both = phi i1 [ false, %loop ], [ %also, %second ]
  %wide = zext i1 %both to i8
  %narrow = trunc i8 %wide to i1
  br i1 %narrow, label %loop, label %out
out:
  ret void
}";
    let loops = found(text);
    let [condition] = &loops[0].conditions[..] else {
        panic!("{loops:?}");
    };
    assert_eq!(condition.literals.len(), 2);
    let (_, body) = body(text);
    let at = &body.blocks[condition.at.block.index()];
    assert!(at.phis.is_empty(), "known before the φ");
}

#[test]
fn switches() {
    let text = "define void @f() {
  br label %loop
loop:
  %a = load atomic i32, ptr @x seq_cst, align 4
  %b = load atomic i32, ptr @y seq_cst, align 4
  switch i32 %a, label %loop [ i32 1, label %out
                               i32 2, label %write ]
write:
  store atomic i32 %b, ptr @z seq_cst, align 4
  br label %loop
out:
  ret void
}";
    let loops = found(text);
    assert_eq!(loops[0].conditions.len(), 1);
    assert_eq!(loops[0].conditions[0].literals.len(), 2);
    eliminated(text);
}

#[test]
fn read_modify_writes() {
    for (op, pure) in [
        ("add ptr @x, i32 0", true),
        ("add ptr @x, i32 1", false),
        ("add ptr @x, i32 %n", true),
        ("or ptr @x, i32 4", true),
        ("umax ptr @x, i32 %n", true),
        ("nand ptr @x, i32 %n", false),
    ] {
        let text = format!(
            "define void @f(i32 %n) {{
  br label %loop
loop:
  %a = atomicrmw {op} seq_cst, align 4
  %b = load atomic i32, ptr @y seq_cst, align 4
  %done = icmp eq i32 %b, 1
  br i1 %done, label %out, label %loop
out:
  ret void
}}"
        );
        assert_eq!(!found(&text).is_empty(), pure, "{op}");
        eliminated(&text);
    }
}

#[test]
fn unknown_calls_and_stores_are_not_pure() {
    for what in [
        "call void @observe(i32 1)",
        "store atomic i32 0, ptr @y seq_cst, align 4",
    ] {
        let text = format!(
            "define void @f() {{
  br label %loop
loop:
  %a = load atomic i32, ptr @x seq_cst, align 4
  {what}
  %done = icmp eq i32 %a, 1
  br i1 %done, label %out, label %loop
out:
  ret void
}}"
        );
        assert!(found(&text).is_empty(), "{what}");
    }
}
