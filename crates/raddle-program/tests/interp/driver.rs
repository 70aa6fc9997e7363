//! Runs one execution of a program: threads in turn, one operation each, sequentially consistent. Just enough of a memory
//! to try whole programs without any engine.

use raddle_ir::parse::parse_module;
use raddle_program::{
    InterpOptions, Interpreter, Op, Program, StateId, Stop, SyncAction, ThreadId, op,
};
use std::collections::{BTreeMap, HashMap};

/// How an execution ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    /// All threads finished; the value of `main`.
    Finished(u64),
    ExitProcess(i32),
    Stopped(Stop),
    /// An object was used while it was not alive.
    Dead,
    /// Some thread waits for good, or an assumption failed.
    Blocked,
    TooLong,
}

/// One execution.
pub(crate) struct Run {
    pub(crate) end: End,
    pub(crate) output: String,
    pub(crate) trace: Vec<(ThreadId, Op)>,
    pub(crate) program: Program,
}

struct Thread {
    state: StateId,
    done: Option<u64>,
}

#[derive(Default)]
struct Memory {
    bytes: Vec<u8>,
    /// Owner and how often it holds the mutex.
    mutexes: HashMap<u32, (ThreadId, u32)>,
    alive: HashMap<u32, bool>,
    used_dead: bool,
}

const MAX_STEPS: usize = 200_000;

pub(crate) fn load(text: &str, options: InterpOptions) -> Program {
    let module = parse_module(text, "test.ll").expect("the test's text parses");
    Interpreter::load(module, options).expect("the test has a main")
}

pub(crate) fn run(text: &str) -> Run {
    run_with(text, InterpOptions::default())
}

pub(crate) fn run_with(text: &str, options: InterpOptions) -> Run {
    execute(load(text, options))
}

/// What `main` returned.
pub(crate) fn value_of(text: &str) -> u64 {
    match run(text).end {
        End::Finished(value) => value,
        other => panic!("the program did not finish: {other:?}\n{text}"),
    }
}

pub(crate) fn execute(mut program: Program) -> Run {
    let mut threads = BTreeMap::from([(
        ThreadId::MAIN,
        Thread {
            state: program.main(),
            done: None,
        },
    )]);
    let mut memory = Memory::default();
    let mut output = program
        .start_output(program.main())
        .unwrap_or("")
        .to_owned();
    let mut trace = Vec::new();
    let mut turn = ThreadId::MAIN;
    let mut exclusive = None;
    let mut waiting = 0;
    let end = loop {
        if trace.len() > MAX_STEPS {
            break End::TooLong;
        }
        if memory.used_dead {
            break End::Dead;
        }
        let state = threads[&turn].state;
        let op = *program.op(state);
        match op {
            Op::Stop(id) => break End::Stopped(program.tables().stop_info(id).clone()),
            Op::ExitProcess { code } => break End::ExitProcess(code),
            Op::Exit { value } => {
                threads.get_mut(&turn).expect("running").done = Some(value);
            }
            _ => {}
        }
        let value = match op {
            Op::Exit { .. } | Op::AssumeFailed => None,
            Op::Spawn { child, start } => {
                output.push_str(program.start_output(start).unwrap_or(""));
                let thread = Thread {
                    state: start,
                    done: None,
                };
                threads.insert(child, thread);
                Some(0)
            }
            Op::Join { thread } => threads.get(&thread).and_then(|thread| thread.done),
            _ => memory.perform(&program, turn, op),
        };
        if let Some(value) = value {
            waiting = 0;
            trace.push((turn, op));
            threads.get_mut(&turn).expect("running").state = program.after(state, value);
            output.push_str(program.output(state, value).unwrap_or(""));
            match op {
                Op::AtomicBegin => exclusive = Some(turn),
                Op::AtomicEnd => exclusive = None,
                _ => {}
            }
        } else {
            waiting += 1;
        }
        if waiting > threads.len() {
            let finished = threads.values().all(|thread| thread.done.is_some());
            break match threads[&ThreadId::MAIN].done {
                Some(value) if finished => End::Finished(value),
                _ => End::Blocked,
            };
        }
        if exclusive.is_none() || value.is_none() {
            let mut after = threads.range(ThreadId(turn.0 + 1)..);
            turn = after.next().map_or(ThreadId::MAIN, |(&id, _)| id);
        }
    };
    Run {
        end,
        output,
        trace,
        program,
    }
}

impl Memory {
    fn place(&mut self, program: &Program, loc: raddle_program::LocId) -> (usize, u8) {
        let arena = program.tables().arena();
        if arena.len() > self.bytes.len() {
            self.bytes.extend_from_slice(&arena[self.bytes.len()..]);
        }
        let info = program.tables().loc_info(loc);
        let object = program.tables().object_info(info.object);
        if let Some(life) = object.life {
            // Thread-local variables are alive from the start.
            let is_alive = self.alive.get(&life.0).copied();
            self.used_dead |= !is_alive.unwrap_or(!object.kind.has_lifetime());
        }
        (info.arena as usize, info.size)
    }

    fn read(&mut self, program: &Program, loc: raddle_program::LocId) -> u64 {
        let (start, size) = self.place(program, loc);
        let mut buffer = [0; 8];
        buffer[..usize::from(size)].copy_from_slice(&self.bytes[start..start + usize::from(size)]);
        u64::from_le_bytes(buffer)
    }

    fn write(&mut self, program: &Program, loc: raddle_program::LocId, value: u64) {
        let (start, size) = self.place(program, loc);
        assert_eq!(
            value & op::mask(size),
            value,
            "a value wider than its place"
        );
        let size = usize::from(size);
        self.bytes[start..start + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }

    /// The value an operation returns; none if it has to wait.
    fn perform(&mut self, program: &Program, thread: ThreadId, op: Op) -> Option<u64> {
        Some(match op {
            Op::Load { loc, .. } => self.read(program, loc),
            Op::Store { loc, value, .. } => {
                self.write(program, loc, value);
                0
            }
            Op::Rmw {
                loc, kind, operand, ..
            } => {
                let old = self.read(program, loc);
                let size = program.tables().loc_info(loc).size;
                self.write(program, loc, kind.apply(old, operand, size));
                old
            }
            Op::Cas {
                loc, expected, new, ..
            } => {
                let old = self.read(program, loc);
                if old == expected {
                    self.write(program, loc, new);
                }
                old
            }
            Op::Sync { cell, action } => return self.sync(thread, cell.0, action),
            Op::Alloc { object } | Op::Free { object } => {
                let life = program.tables().object_info(object).life.expect("lives");
                let lives = matches!(op, Op::Alloc { .. });
                let before = self.alive.insert(life.0, lives);
                self.used_dead |= before != if lives { None } else { Some(true) };
                0
            }
            _ => 0,
        })
    }

    fn sync(&mut self, thread: ThreadId, cell: u32, action: SyncAction) -> Option<u64> {
        let held = self.mutexes.get(&cell).copied();
        Some(match (action, held) {
            (SyncAction::Lock { .. } | SyncAction::TryLock { .. }, None) => {
                self.mutexes.insert(cell, (thread, 1));
                0
            }
            (SyncAction::Lock { .. }, Some(_)) => return None,
            (SyncAction::TryLock { .. }, Some(_)) => 16,
            (SyncAction::Unlock { .. }, _) => {
                self.mutexes.remove(&cell);
                0
            }
            _ => 0,
        })
    }
}
