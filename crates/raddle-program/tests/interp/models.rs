//! Library models.

use crate::driver::{End, load, run, value_of};
use raddle_program::{ComparedAs, Comparison, Fault, InterpOptions, Op, Stop, Unsupported, models};

fn stop_of(text: &str) -> Stop {
    match run(text).end {
        End::Stopped(stop) => stop,
        other => panic!("not stopped: {other:?}"),
    }
}

#[test]
fn strings_in_shared_memory_are_resumed_byte_by_byte() {
    let text = r#"
@text = global [16 x i8] zeroinitializer
@word = private constant [5 x i8] c"loom\00"
@more = private constant [3 x i8] c"er\00"
declare ptr @strcpy(ptr, ptr)
declare ptr @strcat(ptr, ptr)
declare i64 @strlen(ptr)
declare i32 @strcmp(ptr, ptr)
define i64 @main() {
  %a = call ptr @strcpy(ptr @text, ptr @word)
  %b = call ptr @strcat(ptr @text, ptr @more)
  %len = call i64 @strlen(ptr @text)
  %order = call i32 @strcmp(ptr @text, ptr @word)
  %positive = icmp sgt i32 %order, 0
  %bit = zext i1 %positive to i64
  %shifted = shl i64 %len, 1
  %sum = or i64 %shifted, %bit
  ret i64 %sum
}"#;
    assert_eq!(value_of(text), 6 << 1 | 1);
}

#[test]
fn progress_of_a_long_loop_is_all_that_a_state_remembers() {
    // At the n-th byte a thread knows where it is, not what it saw: all strings of one length lead to one state.
    let text = "@text = global [64 x i8] zeroinitializer\ndeclare i64 @strlen(ptr)\ndefine i64 @main() {\n %len = call i64 @strlen(ptr @text)\n ret i64 %len\n}";
    let mut program = load(text, InterpOptions::default());
    let start = program.main();
    let (a, b) = (program.after(start, 65), program.after(start, 66));
    assert_eq!(a, b);
    let end = program.after(a, 0);
    assert_eq!(*program.op(end), Op::Exit { value: 1 });
}

#[test]
fn sorting_calls_back() {
    let text = r"
@numbers = global [4 x i32] [i32 4, i32 2, i32 3, i32 1]
declare void @qsort(ptr, i64, i64, ptr)
define i32 @compare(ptr %a, ptr %b) {
  %x = load i32, ptr %a
  %y = load i32, ptr %b
  %order = sub i32 %x, %y
  ret i32 %order
}
define i32 @main() {
  call void @qsort(ptr @numbers, i64 4, i64 4, ptr @compare)
  %second = getelementptr i32, ptr @numbers, i64 1
  %value = load i32, ptr %second
  ret i32 %value
}";
    assert_eq!(value_of(text), 2);
}

#[test]
fn a_format_reads_its_arguments() {
    let text = r#"
@format = private constant [14 x i8] c"%d %s %.1f %c\00"
@word = private constant [5 x i8] c"warp\00"
declare i32 @printf(ptr, ...)
define i32 @main() {
  %len = call i32 (ptr, ...) @printf(ptr @format, i32 -3, ptr @word, double 2.5, i32 33)
  ret i32 %len
}"#;
    assert_eq!(run(text).output, "-3 warp 2.5 !");
    assert_eq!(value_of(text), 13);
}

#[test]
fn streams_are_constants_and_other_foreign_variables_are_refused() {
    let text = "@stdout = external global ptr\n@stderr = external global ptr\ndefine i1 @main() {\n %a = load ptr, ptr @stdout\n %b = load ptr, ptr @stderr\n %c = icmp eq ptr %a, %b\n ret i1 %c\n}";
    assert_eq!(value_of(text), 0);
    assert!(run(text).trace.iter().all(|(_, op)| op.is_terminal()));
    let text = "@foreign = external global i32\ndefine i32 @main() {\n %a = load i32, ptr @foreign\n ret i32 %a\n}";
    let name = "foreign".into();
    let expected = Unsupported::UnknownVariable { name };
    assert_eq!(stop_of(text), Stop::Unsupported(expected));
}

#[test]
fn deadlines_and_sleeping_move_the_clock() {
    let text = r"
@lock = global [40 x i8] zeroinitializer
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_timedlock(ptr, ptr)
declare i32 @usleep(i32)
declare i64 @time(ptr)
define i64 @main() {
  %deadline = alloca [2 x i64]
  %start = call i64 @time(ptr null)
  %late = add i64 %start, 5
  store i64 %late, ptr %deadline
  %a = call i32 @pthread_mutex_lock(ptr @lock)
  %b = call i32 @usleep(i32 2000000)
  %same = call i64 @time(ptr null)
  %c = call i32 @pthread_mutex_timedlock(ptr @lock, ptr %deadline)
  %end = call i64 @time(ptr null)
  %slept = sub i64 %same, %start
  %waited = sub i64 %end, %start
  %scaled = mul i64 %slept, 100
  %sum = add i64 %scaled, %waited
  ret i64 %sum
}";
    assert_eq!(value_of(text), 205);
}

#[test]
fn time_passes_for_who_looks_again_from_the_same_place() {
    let text = r"
declare i64 @time(ptr)
define i64 @main() {
entry:
  %start = call i64 @time(ptr null)
  %still = call i64 @time(ptr null)
  %zero = sub i64 %still, %start
  br label %loop
loop:
  %round = phi i64 [ 0, %entry ], [ %next, %loop ]
  %now = call i64 @time(ptr null)
  %next = add i64 %round, 1
  %passed = sub i64 %now, %start
  %late = icmp sge i64 %passed, 5
  br i1 %late, label %end, label %loop
end:
  %scaled = mul i64 %zero, 100
  %sum = add i64 %scaled, %next
  ret i64 %sum
}";
    // It stands still, moves by 1 s, stands still, moves by 10 s.
    assert_eq!(value_of(text), 4);
}

#[test]
fn sleeping_without_looking_comes_back_to_the_same_state() {
    let slots = |sleeps: usize| {
        let sleep = " call i32 @sleep(i32 1)\n".repeat(sleeps);
        let text = format!(
            "declare i32 @sleep(i32)\ndeclare i64 @time(ptr)\ndefine i64 @main() {{\n%a = call i64 @time(ptr null)\n{sleep}%b = call i64 @time(ptr null)\n%c = sub i64 %b, %a\nret i64 %c\n}}"
        );
        value_of(&text)
    };
    assert_eq!(slots(0), 0);
    assert_eq!(slots(1), 1);
    assert_eq!(slots(2), 365 * 24 * 3600);
    assert_eq!(slots(3), slots(2));
}

#[test]
fn models_of_the_interpreter_are_out_of_reach() {
    let text = "declare i64 @raddle.thread_exit(i64, i64)\ndefine i64 @main() {\n %a = call i64 @raddle.thread_exit(i64 0, i64 7777)\n ret i64 %a\n}";
    assert!(matches!(
        stop_of(text),
        Stop::Unsupported(Unsupported::UnknownFunction { .. })
    ));
}

#[test]
fn assertions_name_their_condition() {
    let text = "@c = private constant [6 x i8] c\"x > 0\\00\"\ndeclare void @__assert_fail(ptr, ptr, i32, ptr)\ndefine i32 @main() {\n call void @__assert_fail(ptr @c, ptr null, i32 1, ptr null)\n unreachable\n}";
    let condition = "x > 0".into();
    assert_eq!(
        stop_of(text),
        Stop::Fault(Fault::Assertion {
            condition,
            comparison: None
        })
    );
}

/// Whatever a model is called with and whatever its operations return, it comes to some end or goes on: it never panics.
#[test]
fn no_model_panics_on_nonsense() {
    let arguments = [
        "i64 0",
        "i64 -1",
        "i64 7",
        "ptr @room",
        "ptr @small",
        "ptr @text",
        "ptr @function",
        "double 0x7FF8000000000000",
    ];
    for (index, name) in models::names().enumerate() {
        // A pattern stands for the names that match it.
        let name = name.trim_matches('*');
        let endings: &[&str] = if models::lookup(name).is_some() {
            &["", "4", "16", "add_8"]
        } else {
            &[""]
        };
        for ending in endings {
            for count in [0, 1, 3, 6] {
                for first in 0..arguments.len() {
                    let args: Vec<&str> = (0..count)
                        .map(|at| arguments[(first + at * (1 + index % 5)) % arguments.len()])
                        .collect();
                    walk(&format!("{name}{ending}"), &args.join(", "));
                }
            }
        }
    }
}

/// Calls a function and follows a few of the ways it may go.
fn walk(name: &str, args: &str) {
    const STEPS: usize = 40;
    let text = format!(
        "@room = global [64 x i8] zeroinitializer\n@small = global [3 x i8] zeroinitializer\n@text = private constant [9 x i8] c\"%*.*d%n \\00\"\ndefine i64 @function(i64 %a, i64 %b) {{\n ret i64 %a\n}}\ndeclare i64 @\"{name}\"(...)\ndefine i64 @main() {{\n %r = call i64 (...) @\"{name}\"({args})\n ret i64 %r\n}}\n"
    );
    let options = InterpOptions {
        max_private_steps: 20_000,
        ..InterpOptions::default()
    };
    let mut program = load(&text, options);
    for value in [0, 1, u64::MAX] {
        let mut state = program.main();
        for _ in 0..STEPS {
            if program.op(state).is_terminal() {
                break;
            }
            state = program.after(state, value);
        }
    }
}

fn comparison(body: &str) -> Option<Comparison> {
    let text = format!(
        "@c = private constant [2 x i8] c\"c\\00\"\n@x = global i32 7\ndeclare void @__assert_fail(ptr, ptr, i32, ptr)\ndefine i32 @main() {{\n{body}\nno:\n call void @__assert_fail(ptr @c, ptr null, i32 1, ptr null)\n unreachable\nyes:\n ret i32 0\n}}"
    );
    match stop_of(&text) {
        Stop::Fault(Fault::Assertion { comparison, .. }) => comparison,
        other => panic!("{other:?}"),
    }
}

#[test]
fn assertions_tell_what_they_compared() {
    let found = comparison(
        " %a = load i32, ptr @x\n %b = icmp slt i32 %a, 3\n br i1 %b, label %yes, label %no",
    );
    let kind = ComparedAs::Integer {
        bits: 32,
        signed: Some(true),
    };
    assert_eq!(
        found,
        Some(Comparison {
            left: 7,
            right: Some(3),
            kind,
            part: 0,
            parts: 1
        })
    );
    // The second of two parts, behind a negation.
    let found = comparison(
        " %a = load i32, ptr @x\n %b = icmp eq i32 %a, 7\n br i1 %b, label %more, label %no\nmore:\n %d = load i32, ptr @x\n %e = icmp ne i32 %d, 0\n %f = xor i1 %e, true\n br i1 %f, label %yes, label %no",
    )
    .unwrap();
    assert_eq!(
        (found.left, found.right, found.part, found.parts),
        (7, None, 1, 2)
    );
}

/// Values that may have been forgotten are not told.
#[test]
fn assertions_do_not_guess() {
    let later = " %a = load i32, ptr @x\n %b = icmp slt i32 %a, 3\n %z = load i32, ptr @x\n br i1 %b, label %yes, label %no";
    assert_eq!(comparison(later), None);
    let constant = " br i1 false, label %yes, label %no";
    assert_eq!(comparison(constant), None);
}
