use super::{error, function};
use crate::ids::BlockId;
use crate::inst::{InstKind, Operand, Terminator};

#[test]
fn branches_and_phis() {
    let (_, body) = function(
        "define i32 @f(i1 %c) {
  br i1 %c, label %then, label %else, !prof !{}
then:                                             ; preds = %0
  br label %end
else:
  br label %end
end:
  %r = phi i32 [ 1, %then ], [ %later, %more ], [ 3, %else ], !dbg !{}
  %s = phi fast float [ 1.0, %then ], [ %s, %more ], [ 3.0, %else ]
  %done = icmp eq i32 %r, 3
  br i1 %done, label %more, label %out
more:
  %later = add i32 %r, 1
  br label %end
out:
  ret i32 %r
}",
    );
    let labels: Vec<&str> = body.blocks.iter().map(|b| &*b.label).collect();
    assert_eq!(labels, ["0", "then", "else", "end", "more", "out"]);
    let phi = &body.blocks[3].phis[0];
    let from: Vec<usize> = phi.incoming.iter().map(|(b, _)| b.index()).collect();
    assert_eq!(from, [1, 4, 2]);
    let Operand::Value(later) = phi.incoming[1].1 else {
        panic!("a value")
    };
    assert_eq!(
        body.blocks[4].insts[0].result,
        Some(later),
        "used before it is defined"
    );
    assert_eq!(
        body.blocks[3].phis[1].incoming[1].1,
        Operand::Value(body.blocks[3].phis[1].result)
    );
}

#[test]
fn numbers_are_given_in_order_of_the_text() {
    let (_, body) = function(
        "declare i32 @g()
define i32 @f(i32, i32 %named, i32 %1) {
  %3 = add i32 %0, %1
  call i32 @g()
  br label %5
5:
  %6 = add i32 %3, %4
  ret i32 %6
}",
    );
    let blocks: Vec<&str> = body.blocks.iter().map(|b| &*b.label).collect();
    assert_eq!(blocks, ["2", "5"]);
    let InstKind::Binary { lhs, rhs, .. } = body.blocks[1].insts[0].kind else {
        panic!("add")
    };
    assert_eq!(
        Some(lhs),
        body.blocks[0].insts[0].result.map(Operand::Value)
    );
    assert_eq!(
        Some(rhs),
        body.blocks[0].insts[1].result.map(Operand::Value)
    );
}

#[test]
fn newer_texts_may_leave_numbers_out() {
    let (_, body) = function("define i32 @f(i32 %5) {\n  %10 = add i32 %5, 1\n  ret i32 %10\n}");
    assert_eq!(&*body.blocks[0].label, "6");
}

#[test]
fn a_block_without_a_label_may_follow_a_terminator() {
    let (_, body) = function("define void @f() {\n  br label %1\n  ret void\n}");
    assert_eq!(
        body.blocks[0].terminator,
        Terminator::Br { target: BlockId(1) }
    );
}

#[test]
fn switches() {
    let (_, body) = function(
        "define void @f(i8 %x) {
  switch i8 %x, label %d [
    i8 0, label %a
    i8 -1, label %b
    i8 7, label %a
  ]
a:
  ret void
b:
  switch i8 %x, label %d []
d:
  ret void
}",
    );
    let Terminator::Switch { default, cases, .. } = &body.blocks[0].terminator else {
        panic!("switch")
    };
    assert_eq!(default.index(), 3);
    assert_eq!(
        *cases,
        [(0, BlockId(1)), (255, BlockId(2)), (7, BlockId(1))]
    );
}

#[test]
fn names_may_be_quoted() {
    let (_, body) = function(
        "define void @f(i32 %\"a b\") {
\"_ZN4core{{closure}}.exit\":
  %\"x\\22y\" = add i32 %\"a b\", 1
  %z = add i32 %\"x\\22y\", 1
  br label %\"last: one\"
\"last: one\":
  %plain = add i32 %\"z\", 1
  ret void
}",
    );
    assert_eq!(&*body.blocks[0].label, "_ZN4core{{closure}}.exit");
    assert_eq!(&*body.blocks[1].label, "last: one");
    assert_eq!(body.value_names[1].as_deref(), Some("x\"y"));
}

#[test]
fn what_has_no_meaning_here_keeps_its_successors() {
    let (_, body) = function(
        "define i32 @f(i32 %x) personality ptr @f {
  %r = callbr i32 asm \"jne $1\", \"=r,!i\"() to label %a [label %b, label %c], !srcloc !{}
a:
  %s = add i32 %r, 1
  br label %b
b:
  %cs = catchswitch within none [label %pad, label %pad2] unwind label %c
pad:
  %cp = catchpad within %cs [ptr null, i32 64, ptr null]
  catchret from %cp to label %c
pad2:
  %cp2 = catchpad within %cs []
  br label %c
c:
  %p = phi i32 [ 0, %0 ], [ 0, %b ], [ 0, %pad ], [ 0, %pad2 ]
  %cl = cleanuppad within none []
  cleanupret from %cl unwind to caller
}",
    );
    let others: Vec<(&str, usize)> = body
        .blocks
        .iter()
        .filter_map(|b| match &b.terminator {
            Terminator::Other { name, targets } => Some((&**name, targets.len())),
            _ => None,
        })
        .collect();
    assert_eq!(
        others,
        [
            ("callbr", 3),
            ("catchswitch", 3),
            ("catchret", 1),
            ("cleanupret", 0)
        ]
    );
    assert!(
        matches!(&body.blocks[0].insts[0].kind, InstKind::Other { name } if &**name == "callbr")
    );
}

#[test]
fn use_list_orders_are_passed_over() {
    let (_, body) = function(
        "define void @f(i32 %x, { i32, i32 } %y) {
  ret void
  uselistorder i32 %x, { 1, 0 }
  uselistorder { i32, i32 } %y, { 1, 0 }
  uselistorder_bb @f, %0, { 1, 0 }
}",
    );
    assert_eq!(body.blocks.len(), 1);
}

#[test]
fn blocks_must_be_whole() {
    for (body, expected) in [
        ("", "t.ll:2:1: a function without blocks"),
        (
            "  %x = add i32 1, 2\n",
            "t.ll:3:1: a block without a terminator",
        ),
        (
            "a:\nb:\n  ret void\n",
            "t.ll:3:1: a block without a terminator",
        ),
        (
            "a:\n  ret void\na:\n  ret void\n",
            "t.ll:4:1: block '%a' is defined twice",
        ),
        ("  br label %x\n", "t.ll:2:12: undefined block '%x'"),
        ("  br label %7\n", "t.ll:2:12: undefined block '%7'"),
        (
            "  fence seq_cst\n  %x = phi i32 [ 0, %a ]\n  ret void\n",
            "t.ll:3:3: a phi behind other instructions",
        ),
        (
            "  %x = ret void\n",
            "t.ll:2:3: a name for an instruction without a value",
        ),
        (
            "  ret i32 0\n",
            "t.ll:2:7: 'the function's result' has type void but is used as i32",
        ),
    ] {
        assert_eq!(error(&format!("define void @f() {{\n{body}}}")), expected);
    }
}
