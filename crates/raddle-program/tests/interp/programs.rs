//! Whole programs with threads.

use crate::driver::{End, load, run, run_with};
use raddle_program::{
    Fault, InterpOptions, Interpreter, Limit, LoadError, OnMainReturn, Op, PanicEnd, Stop,
    Unsupported,
};

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
    let object = program.tables().loc_info(loc_of(program.op(start))).object;
    assert_eq!(&*program.tables().object_info(object).name, "x");
}

#[test]
fn spinning_through_calls_comes_back_too() {
    let text = "@x = global i32 0\ndefine i32 @ready(ptr %out) {\n %v = load atomic i32, ptr @x acquire, align 4\n store i32 %v, ptr %out\n ret i32 %v\n}\ndefine i32 @main() {\n %own = alloca i32\n br label %wait\nwait:\n %v = call i32 @ready(ptr %own)\n %again = icmp eq i32 %v, 0\n br i1 %again, label %wait, label %done\ndone:\n %r = load i32, ptr %own\n ret i32 %r\n}";
    let mut program = load(text, InterpOptions::default());
    let start = program.main();
    assert_eq!(program.after(start, 0), start);
    let done = program.after(start, 3);
    assert_eq!(*program.op(done), Op::Exit { value: 3 });
}

fn loc_of(op: &Op) -> raddle_program::LocId {
    match op {
        Op::Load { loc, .. } | Op::Store { loc, .. } => *loc,
        other => panic!("no access: {other:?}"),
    }
}

#[test]
fn dead_registers_do_not_tell_states_apart() {
    // The first load's value is dead at the second one, whatever it was.
    let text = "@x = global i32 0\n@y = global i32 0\ndefine i32 @main() {\n %a = load i32, ptr @x\n %b = add i32 %a, 1\n %c = load i32, ptr @y\n ret i32 %c\n}";
    let mut program = load(text, InterpOptions::default());
    let start = program.main();
    assert_eq!(program.after(start, 1), program.after(start, 2));
}

#[test]
fn states_that_only_differ_in_their_operation_are_different() {
    let text = "@x = global i32 0\n@y = global i32 0\ndefine i32 @main() {\n %a = load i32, ptr @x\n store i32 %a, ptr @y\n ret i32 0\n}";
    let mut program = load(text, InterpOptions::default());
    let start = program.main();
    let (one, two) = (program.after(start, 1), program.after(start, 2));
    assert_ne!(one, two);
    assert_eq!(program.after(one, 0), program.after(two, 0));
}

#[test]
fn unrolling_cuts_loops_that_may_not_end() {
    let options = InterpOptions {
        unroll: Some(3),
        ..InterpOptions::default()
    };
    let mut program = load(SPIN, options.clone());
    let mut state = program.main();
    for _ in 0..4 {
        assert!(matches!(program.op(state), Op::Load { .. }));
        state = program.after(state, 0);
    }
    let Op::Stop(stop) = *program.op(state) else {
        panic!("not cut: {:?}", program.op(state));
    };
    let expected = Stop::Limit(Limit::Unroll { bound: 3 });
    assert_eq!(*program.tables().stop_info(stop), expected);

    let counted = "@x = global i32 0\ndefine i32 @main() {\n br label %loop\nloop:\n %i = phi i32 [ 0, %0 ], [ %n, %loop ]\n store i32 %i, ptr @x\n %n = add nsw i32 %i, 1\n %c = icmp slt i32 %n, 10\n br i1 %c, label %loop, label %done\ndone:\n ret i32 %n\n}";
    assert_eq!(run_with(counted, options).end, End::Finished(10));
}

pub(crate) const THREADS: &str = r#"
@mutex = global [40 x i8] zeroinitializer, align 8
@counter = global i32 0, align 4
@message = private constant [7 x i8] c"%d %s\0A\00"
@word = private constant [5 x i8] c"done\00"

define ptr @worker(ptr %arg) {
  %own = alloca i32
  store i32 0, ptr %own
  call i32 @pthread_mutex_lock(ptr @mutex)
  %old = load i32, ptr @counter
  %by = load i32, ptr %arg
  %new = add nsw i32 %old, %by
  store i32 %new, ptr @counter
  call i32 @pthread_mutex_unlock(ptr @mutex)
  %wide = sext i32 %by to i64
  %result = inttoptr i64 %wide to ptr
  ret ptr %result
}

define i32 @main() {
  %one = alloca i32
  %two = alloca i32
  %t1 = alloca i64
  %t2 = alloca i64
  %r = alloca ptr
  store i32 1, ptr %one
  store i32 2, ptr %two
  call i32 @pthread_create(ptr %t1, ptr null, ptr @worker, ptr %one)
  call i32 @pthread_create(ptr %t2, ptr null, ptr @worker, ptr %two)
  %h1 = load i64, ptr %t1
  call i32 @pthread_join(i64 %h1, ptr null)
  %h2 = load i64, ptr %t2
  call i32 @pthread_join(i64 %h2, ptr %r)
  %v = load ptr, ptr %r
  %n = ptrtoint ptr %v to i64
  %c = load i32, ptr @counter
  call i32 (ptr, ...) @printf(ptr @message, i32 %c, ptr @word)
  %t = trunc i64 %n to i32
  %s = add i32 %t, %c
  ret i32 %s
}

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @printf(ptr, ...)
"#;

#[test]
fn threads_run_lock_and_are_joined() {
    let done = run(THREADS);
    assert_eq!(done.end, End::Finished(5));
    assert_eq!(done.output, "3 done\n");
    assert_eq!(done.program.tables().thread_count(), 3);
    let allocs = done
        .trace
        .iter()
        .filter(|(_, op)| matches!(op, Op::Alloc { .. }));
    // The arguments are shared; the handles and the result are not.
    assert_eq!(allocs.count(), 2);
}

#[test]
fn a_thread_that_starts_by_starting_itself_does_not_run_ahead_without_end() {
    let text = "define ptr @again(ptr %x) {\n %t = alloca i64\n call i32 @pthread_create(ptr %t, ptr null, ptr @again, ptr null)\n ret ptr null\n}\ndefine i32 @main() {\n call ptr @again(ptr null)\n ret i32 0\n}\ndeclare i32 @pthread_create(ptr, ptr, ptr, ptr)";
    let end = run(text).end;
    assert!(
        matches!(
            end,
            End::Stopped(Stop::Limit(Limit::Ids { .. } | Limit::NameClash { .. })) | End::TooLong
        ),
        "{end:?}"
    );
}

#[test]
fn private_variables_are_seen_through_calls() {
    let text = "define void @set(ptr %p, i32 %v) {\n store i32 %v, ptr %p\n ret void\n}\ndefine i32 @main() {\n %x = alloca i32\n call void @set(ptr %x, i32 42)\n %v = load i32, ptr %x\n ret i32 %v\n}";
    let done = run(text);
    assert_eq!(done.end, End::Finished(42));
    assert!(done.trace.is_empty(), "{:?}", done.trace);
}

#[test]
fn byval_arguments_are_copies() {
    let text = "%s = type { i64, i64, i64 }\ndefine i64 @f(ptr byval(%s) align 8 %p) {\n %a = load i64, ptr %p\n %n = add i64 %a, 1\n store i64 %n, ptr %p\n %b = load i64, ptr %p\n ret i64 %b\n}\ndefine i64 @main() {\n %x = alloca %s\n store i64 5, ptr %x\n %r = call i64 @f(ptr byval(%s) align 8 %x)\n %o = load i64, ptr %x\n %m = mul i64 %o, 10\n %z = add i64 %m, %r\n ret i64 %z\n}";
    assert_eq!(run(text).end, End::Finished(56));
}

#[test]
fn variadic_arguments_are_read_in_order() {
    // What clang makes of va_arg on x86-64, for a struct it may not keep in registers: the overflow area alone.
    let text = "%list = type { i32, i32, ptr, ptr }\ndefine i64 @sum(i32 %n, ...) {\n %l = alloca [1 x %list]\n call void @llvm.va_start.p0(ptr %l)\n %ap = getelementptr %list, ptr %l, i32 0, i32 2\n %a = load ptr, ptr %ap\n %b = getelementptr i8, ptr %a, i64 8\n store ptr %b, ptr %ap\n %x = load i32, ptr %a\n %y = load double, ptr %b\n %yi = fptosi double %y to i64\n %xi = zext i32 %x to i64\n %g = load i32, ptr %l\n %gi = zext i32 %g to i64\n %r = add i64 %xi, %yi\n %s = add i64 %r, %gi\n call void @llvm.va_end.p0(ptr %l)\n ret i64 %s\n}\ndefine i64 @main() {\n %r = call i64 (i32, ...) @sum(i32 2, i32 100, double 7.0)\n ret i64 %r\n}\ndeclare void @llvm.va_start.p0(ptr)\ndeclare void @llvm.va_end.p0(ptr)";
    assert_eq!(run(text).end, End::Finished(155));
}

#[test]
fn copies_follow_the_fields() {
    let text = "%s = type { i32, i32, ptr }\n@a = global %s { i32 1, i32 2, ptr @a }\n@b = global %s zeroinitializer\ndefine i32 @main() {\n call void @llvm.memcpy.p0.p0.i64(ptr @b, ptr @a, i64 16, i1 false)\n %v = load i32, ptr getelementptr (%s, ptr @b, i32 0, i32 1)\n ret i32 %v\n}\ndeclare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)";
    let done = run(text);
    assert_eq!(done.end, End::Finished(2));
    // Three loads, three stores, and the load of `main`: no location overlaps another.
    assert_eq!(done.trace.len(), 7);
    let tables = done.program.tables();
    for index in 0..tables.loc_count() {
        let loc = raddle_program::LocId::from_index(index);
        assert!(!tables.loc_info(loc).mixed, "{:?}", tables.loc_info(loc));
    }
}

#[test]
fn heap_blocks_live_and_die() {
    let text = "define i32 @main() {\n %p = call ptr @malloc(i64 8)\n store i64 7, ptr %p\n %q = call ptr @realloc(ptr %p, i64 16)\n %v = load i32, ptr %q\n call void @free(ptr %q)\n ret i32 %v\n}\ndeclare ptr @malloc(i64)\ndeclare ptr @realloc(ptr, i64)\ndeclare void @free(ptr)";
    let done = run(text);
    assert_eq!(done.end, End::Finished(7));
    let text = "@g = global i32 0\ndefine i32 @main() {\n call void @free(ptr @g)\n ret i32 0\n}\ndeclare void @free(ptr)";
    let end = run(text).end;
    assert!(matches!(
        end,
        End::Stopped(Stop::Fault(Fault::InvalidFree { .. }))
    ));
}

#[test]
fn atomic_functions_are_one_block() {
    let text = "@x = global i32 0\ndefine void @__VERIFIER_atomic_inc() {\n call void @__VERIFIER_atomic_begin()\n %v = load i32, ptr @x\n %n = add i32 %v, 1\n store i32 %n, ptr @x\n call void @__VERIFIER_atomic_end()\n ret void\n}\ndefine i32 @main() {\n call void @__VERIFIER_atomic_inc()\n %v = load i32, ptr @x\n ret i32 %v\n}\ndeclare void @__VERIFIER_atomic_begin()\ndeclare void @__VERIFIER_atomic_end()";
    let done = run(text);
    assert_eq!(done.end, End::Finished(1));
    let ops: Vec<&Op> = done.trace.iter().map(|(_, op)| op).collect();
    assert!(matches!(
        ops[..],
        [
            Op::AtomicBegin,
            Op::Load { .. },
            Op::Store { .. },
            Op::AtomicEnd,
            Op::Load { .. }
        ]
    ));
}

#[test]
fn ends_of_programs() {
    let with = |lines: &str| {
        format!(
            "define i32 @main() {{\n {lines}\n}}\ndeclare void @exit(i32)\ndeclare void @abort()\ndeclare void @__VERIFIER_assume(i32)\ndeclare void @mystery()\n@t = constant [2 x i8] c\"c\\00\"\ndeclare void @__assert_fail(ptr, ptr, i32, ptr)\ndeclare void @pthread_exit(ptr)"
        )
    };
    let end = |lines: &str| run(&with(lines)).end;
    assert_eq!(
        end("call void @exit(i32 3)\n unreachable"),
        End::ExitProcess(3)
    );
    assert_eq!(
        end("call void @abort()\n unreachable"),
        End::Stopped(Stop::Fault(Fault::Abort))
    );
    assert_eq!(
        end("call void @__VERIFIER_assume(i32 0)\n ret i32 0"),
        End::Blocked
    );
    assert_eq!(
        end("call void @pthread_exit(ptr null)\n unreachable"),
        End::Finished(0)
    );
    let condition = "c".into();
    assert_eq!(
        end("call void @__assert_fail(ptr @t, ptr null, i32 0, ptr null)\n unreachable"),
        End::Stopped(Stop::Fault(Fault::Assertion {
            condition,
            comparison: None
        }))
    );
    let name = "mystery".into();
    assert_eq!(
        end("call void @mystery()\n ret i32 0"),
        End::Stopped(Stop::Unsupported(Unsupported::UnknownFunction { name }))
    );
    let options = InterpOptions {
        on_main_return: OnMainReturn::Exit,
        svcomp_abort_silent: true,
        ..InterpOptions::default()
    };
    assert_eq!(
        run_with(&with("ret i32 4"), options.clone()).end,
        End::ExitProcess(4)
    );
    assert_eq!(
        run_with(&with("call void @abort()\n unreachable"), options).end,
        End::ExitProcess(134)
    );
}

#[test]
fn limits_are_kept() {
    let endless = "define i32 @main() {\n br label %l\nl:\n br label %l\n}";
    let options = InterpOptions {
        max_private_steps: 1000,
        max_call_depth: 50,
        ..InterpOptions::default()
    };
    let limit = Limit::PrivateSteps { steps: 1000 };
    assert_eq!(
        run_with(endless, options.clone()).end,
        End::Stopped(Stop::Limit(limit))
    );
    let deep = "define i32 @main() {\n %v = call i32 @main()\n ret i32 %v\n}";
    let limit = Limit::CallDepth { depth: 50 };
    assert_eq!(
        run_with(deep, options).end,
        End::Stopped(Stop::Limit(limit))
    );
}

#[test]
fn deep_recursion_is_fine() {
    let text = "define i64 @f(i64 %n) {\n %z = icmp eq i64 %n, 0\n br i1 %z, label %a, label %b\na:\n ret i64 0\nb:\n %m = sub i64 %n, 1\n %r = call i64 @f(i64 %m)\n %s = add i64 %r, %n\n ret i64 %s\n}\ndefine i64 @main() {\n %r = call i64 @f(i64 9000)\n ret i64 %r\n}";
    assert_eq!(run(text).end, End::Finished(9000 * 9001 / 2));
}

#[test]
fn a_module_without_main_cannot_be_run() {
    let module = raddle_ir::parse::parse_module("declare i32 @main()", "x.ll").unwrap();
    let error = Interpreter::load(module, InterpOptions::default()).err();
    assert_eq!(
        error,
        Some(LoadError::NoEntry {
            name: "main".to_owned()
        })
    );
}

#[test]
fn thread_locals_that_nobody_shows_are_private() {
    let text = "@t = thread_local global i32 5\ndefine i32 @main() {\n %p = call ptr @llvm.threadlocal.address.p0(ptr @t)\n %a = load i32, ptr %p\n %b = add i32 %a, 1\n store i32 %b, ptr %p\n %c = load i32, ptr @t\n ret i32 %c\n}\ndeclare ptr @llvm.threadlocal.address.p0(ptr)";
    let done = run(text);
    assert_eq!(done.end, End::Finished(6));
    assert!(done.trace.is_empty());
    let shown = format!(
        "@where = global ptr null\n{}",
        text.replace("%a = load", "store ptr %p, ptr @where\n %a = load")
    );
    let done = run(&shown);
    assert_eq!(done.end, End::Finished(6));
    assert_eq!(done.trace.len(), 4);
}

#[test]
fn rust_panics_are_faults() {
    let text = "@m = private constant [4 x i8] c\"oops\"\ndefine i32 @main() {\n call void @_ZN4core9panicking5panic17h0123456789abcdefE(ptr @m, i64 4, ptr null)\n unreachable\n}\ndeclare void @_ZN4core9panicking5panic17h0123456789abcdefE(ptr, i64, ptr)";
    let (message, end) = ("oops".into(), PanicEnd::Here);
    assert_eq!(
        run(text).end,
        End::Stopped(Stop::Fault(Fault::Panic { message, end }))
    );
}
