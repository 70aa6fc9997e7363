//! Exceptions: landing pads, cleaning up, and what may not be left.

use crate::driver::{End, run, value_of};
use raddle_program::{Fault, Leaves, Op, Stop};

const HEAD: &str = r"
@_ZTIi = external constant ptr
@_ZTIl = external constant ptr
declare i32 @__gxx_personality_v0(...)
declare ptr @__cxa_allocate_exception(i64)
declare void @__cxa_throw(ptr, ptr, ptr)
declare ptr @__cxa_begin_catch(ptr)
declare void @__cxa_end_catch()
declare i32 @llvm.eh.typeid.for(ptr)
define void @throws(i32 %x) {
  %e = call ptr @__cxa_allocate_exception(i64 4)
  store i32 %x, ptr %e
  call void @__cxa_throw(ptr %e, ptr @_ZTIi, ptr null)
  unreachable
}
";

fn stop_of(text: &str) -> Stop {
    match run(text).end {
        End::Stopped(stop) => stop,
        other => panic!("not stopped: {other:?}"),
    }
}

#[test]
fn an_exception_lands_at_the_clause_for_its_type() {
    let text = r"
define i32 @main() personality ptr @__gxx_personality_v0 {
  invoke void @throws(i32 5) to label %ok unwind label %bad
ok:
  ret i32 1
bad:
  %before = phi i32 [ 30, %0 ]
  %lp = landingpad { ptr, i32 }
          catch ptr @_ZTIl
          catch ptr @_ZTIi
  %ptr = extractvalue { ptr, i32 } %lp, 0
  %sel = extractvalue { ptr, i32 } %lp, 1
  %wanted = call i32 @llvm.eh.typeid.for(ptr @_ZTIi)
  %same = icmp eq i32 %sel, %wanted
  br i1 %same, label %caught, label %other
caught:
  %obj = call ptr @__cxa_begin_catch(ptr %ptr)
  %x = load i32, ptr %obj
  call void @__cxa_end_catch()
  %sum = add i32 %x, %before
  ret i32 %sum
other:
  resume { ptr, i32 } %lp
}";
    assert_eq!(value_of(&format!("{HEAD}{text}")), 35);
}

#[test]
fn frames_are_cleaned_up_on_the_way() {
    // The variable that others could see ends with its frame, and the counter is increased by the pad that only cleans up.
    let text = r"
@cleaned = global i32 0
@kept = global ptr null
define void @between() personality ptr @__gxx_personality_v0 {
  %local = alloca i32
  store ptr %local, ptr @kept
  invoke void @throws(i32 1) to label %ok unwind label %bad
ok:
  ret void
bad:
  %lp = landingpad { ptr, i32 } cleanup
  %old = load i32, ptr @cleaned
  %new = add i32 %old, 7
  store i32 %new, ptr @cleaned
  resume { ptr, i32 } %lp
}
define i32 @main() personality ptr @__gxx_personality_v0 {
  invoke void @between() to label %ok unwind label %bad
ok:
  ret i32 1
bad:
  %lp = landingpad { ptr, i32 } catch ptr null
  %ptr = extractvalue { ptr, i32 } %lp, 0
  %obj = call ptr @__cxa_begin_catch(ptr %ptr)
  call void @__cxa_end_catch()
  %value = load i32, ptr @cleaned
  ret i32 %value
}";
    let done = run(&format!("{HEAD}{text}"));
    assert!(matches!(done.end, End::Finished(7)), "{:?}", done.end);
    // The variable, and the exception.
    let is_free = |(_, op): &&(_, Op)| matches!(op, Op::Free { .. });
    assert_eq!(done.trace.iter().filter(is_free).count(), 2);
}

#[test]
fn without_a_handler_nothing_is_unwound() {
    let text = r"
@cleaned = global i32 0
define i32 @main() personality ptr @__gxx_personality_v0 {
  invoke void @throws(i32 5) to label %ok unwind label %bad
ok:
  ret i32 1
bad:
  %lp = landingpad { ptr, i32 }
          cleanup
          catch ptr @_ZTIl
  store i32 1, ptr @cleaned
  resume { ptr, i32 } %lp
}";
    let done = run(&format!("{HEAD}{text}"));
    let is_cleaned = |(_, op): &(_, Op)| matches!(op, Op::Store { value: 1, .. });
    assert!(!done.trace.iter().any(is_cleaned));
    let fault = Fault::Exception {
        type_symbol: "_ZTIi".into(),
        message: "".into(),
        leaves: Leaves::Main,
    };
    assert_eq!(stop_of(&format!("{HEAD}{text}")), Stop::Fault(fault));
}

#[test]
fn a_filter_takes_what_it_does_not_name() {
    let text = r"
define i32 @main() personality ptr @__gxx_personality_v0 {
  invoke void @throws(i32 5) to label %ok unwind label %bad
ok:
  ret i32 1
bad:
  %lp = landingpad { ptr, i32 }
          filter [1 x ptr] [ptr @_ZTIl]
  %sel = extractvalue { ptr, i32 } %lp, 1
  %negative = icmp slt i32 %sel, 0
  %value = select i1 %negative, i32 2, i32 3
  ret i32 %value
}";
    assert_eq!(value_of(&format!("{HEAD}{text}")), 2);
    let named = text.replace("ptr @_ZTIl]", "ptr @_ZTIi]");
    assert!(matches!(
        stop_of(&format!("{HEAD}{named}")),
        Stop::Fault(Fault::Exception { .. })
    ));
}

#[test]
fn library_functions_that_call_back_may_be_left() {
    let text = r"
@numbers = global [2 x i32] [i32 4, i32 2]
declare void @qsort(ptr, i64, i64, ptr)
define i32 @compare(ptr %a, ptr %b) {
  call void @throws(i32 9)
  ret i32 0
}
define i32 @main() personality ptr @__gxx_personality_v0 {
  invoke void @qsort(ptr @numbers, i64 2, i64 4, ptr @compare) to label %ok unwind label %bad
ok:
  ret i32 1
bad:
  %lp = landingpad { ptr, i32 } catch ptr @_ZTIi
  ret i32 6
}";
    assert_eq!(value_of(&format!("{HEAD}{text}")), 6);
}
