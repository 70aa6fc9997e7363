//! Workers build a program each from clones of one module, and hand each other executions in names.

use raddle_ir::Module;
use raddle_memory::axioms::PlainAccesses;
use raddle_program::{InterpOptions, Interpreter, ObjectKind, Program, ThreadName};
use raddle_search::replay::{self, Schedule};
use raddle_search::{EngineKind, SearchOptions, Verdict, check};
use std::collections::BTreeMap;
use std::thread;

/// Threads that threads start, in an order that depends on the execution, and blocks whose size does.
const PROGRAM: &str = "
@x = global i32 0
@y = global i32 0
@z = global i32 0
define ptr @c(ptr %p) {
  %b = call ptr @malloc(i64 8)
  %old = atomicrmw add ptr @x, i32 1 seq_cst
  ret ptr null
}
define ptr @d(ptr %p) {
  %s = load atomic i32, ptr @x seq_cst, align 4
  %zero = icmp eq i32 %s, 0
  %size = select i1 %zero, i64 16, i64 8
  %b = call ptr @malloc(i64 %size)
  br i1 %zero, label %set, label %end
set:
  store atomic i32 1, ptr @y seq_cst, align 4
  br label %end
end:
  ret ptr null
}
define ptr @a(ptr %p) {
  %t = alloca i64
  %s = load atomic i32, ptr @z seq_cst, align 4
  %no = icmp eq i32 %s, 0
  br i1 %no, label %end, label %go
go:
  call i32 @pthread_create(ptr %t, ptr null, ptr @c, ptr null)
  %h = load i64, ptr %t
  call i32 @pthread_join(i64 %h, ptr null)
  %seen = load atomic i32, ptr @y seq_cst, align 4
  %fine = icmp eq i32 %seen, 0
  br i1 %fine, label %end, label %bad
bad:
  call void @abort()
  unreachable
end:
  ret ptr null
}
define ptr @b(ptr %p) {
  %t = alloca i64
  store atomic i32 1, ptr @z seq_cst, align 4
  %s = load atomic i32, ptr @y seq_cst, align 4
  call i32 @pthread_create(ptr %t, ptr null, ptr @d, ptr null)
  %h = load i64, ptr %t
  call i32 @pthread_join(i64 %h, ptr null)
  ret ptr null
}
define i32 @main() {
  %s = alloca i64
  %t = alloca i64
  call i32 @pthread_create(ptr %s, ptr null, ptr @a, ptr null)
  call i32 @pthread_create(ptr %t, ptr null, ptr @b, ptr null)
  %h = load i64, ptr %s
  call i32 @pthread_join(i64 %h, ptr null)
  %i = load i64, ptr %t
  call i32 @pthread_join(i64 %i, ptr null)
  ret i32 0
}
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare ptr @malloc(i64)
declare void @abort()
";

const ENGINES: [EngineKind; 7] = [
    EngineKind::Naive,
    EngineKind::Dpor,
    EngineKind::Rf,
    EngineKind::Rvf,
    EngineKind::Mcr,
    EngineKind::Icb,
    EngineKind::Bpor,
];

fn load(module: Module) -> Program {
    Interpreter::load(module, InterpOptions::default()).expect("it has a `main`")
}

fn explore(program: &mut Program, engine: EngineKind) -> Verdict {
    let options = SearchOptions {
        keep_going: true,
        ..SearchOptions::default()
    };
    let outcome = check(program, engine, options).expect("violations are reproduced");
    outcome.verdict
}

/// Where heap blocks lie, by who made them and their size; handles of threads.
type Named = (BTreeMap<(ThreadName, u64), u64>, BTreeMap<ThreadName, u64>);

fn named(program: &Program) -> Named {
    let tables = program.tables();
    let objects = (0..tables.object_count()).map(|index| {
        let id = raddle_program::ObjectId::from_index(index);
        tables.object_info(id)
    });
    let blocks = objects
        .filter(|info| info.kind == ObjectKind::Heap)
        .map(|info| {
            let thread = info.thread.expect("somebody allocated it");
            let thread = tables.thread_info(thread).name.clone();
            ((thread, info.size), info.address)
        })
        .collect();
    let threads = (0..tables.thread_count()).map(raddle_program::ThreadId::from_index);
    let handles = threads
        .map(|id| {
            (
                tables.thread_info(id).name.clone(),
                tables.handle_of_thread(id),
            )
        })
        .collect();
    (blocks, handles)
}

#[test]
fn executions_of_one_worker_are_those_of_any_other() {
    let module = raddle_ir::parse_module(PROGRAM.to_owned(), "text").expect("good IR");
    let worker = |engine: EngineKind| -> (Vec<Schedule<ThreadName>>, Named) {
        let mut program = load(module.clone());
        let Verdict::Violation(found) = explore(&mut program, engine) else {
            panic!("{engine:?} finds the violation");
        };
        let schedules = found.iter().map(|it| it.schedule.named(program.tables()));
        (schedules.collect(), named(&program))
    };
    let found: Vec<_> = thread::scope(|scope| {
        let workers = ENGINES.map(|engine| scope.spawn(move || worker(engine)));
        workers.map(|it| it.join().expect("no panic")).into()
    });
    let (blocks, handles) = &found[0].1;
    assert_eq!((blocks.len(), handles.len()), (3, 5));
    for (schedules, names) in &found {
        assert_eq!(names, &found[0].1);
        for schedule in schedules {
            // On a fresh program, and on one that another engine has explored.
            for engine in [None, Some(EngineKind::Naive), Some(EngineKind::Rf)] {
                let mut program = load(module.clone());
                if let Some(engine) = engine {
                    explore(&mut program, engine);
                }
                let (done, mut replayed) =
                    replay::replay_named(&mut program, schedule, PlainAccesses::Race);
                assert_eq!(done.named(program.tables()), *schedule);
                let wrong = replay::violations(&mut program, &mut replayed);
                assert!(!wrong.is_empty());
            }
        }
    }
}
