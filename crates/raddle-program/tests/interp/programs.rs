//! Whole programs with threads.

use crate::driver::{End, load, run, run_with};
use raddle_program::{Fault, InterpOptions, OnMainReturn, Op, Stop};

const SPIN: &str = r"
@x = global i32 0

define i32 @main() {
  br label %wait
wait:
  %value = load atomic i32, ptr @x seq_cst, align 4
  %again = icmp eq i32 %value, 0
  br i1 %again, label %wait, label %done
done:
  ret i32 %value
}
";

#[test]
fn a_spinning_loop_comes_back_to_the_same_state() {
    let mut program = load(SPIN, InterpOptions::default());
    let start = program.main();
    assert!(matches!(program.op(start), Op::Load { .. }));
    let again = program.after(start, 0);
    assert_eq!(again, start);
    let done = program.after(start, 7);
    assert_eq!(*program.op(done), Op::Exit { value: 7 });
}
