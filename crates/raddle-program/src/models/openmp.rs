//! OpenMP, by the functions that clang compiles its pragmas to (`__kmpc_*`) and those that programs call (`omp_*`).
//!
//! A parallel region is a *team*: a block of shared memory with a barrier and a few counters, and threads that run the region's function.
//! The thread that comes to the region is number 0, starts the others, and joins them. What a thread knows about its team is part of its local
//! state (`TEAM`). There are two threads unless the program asks for another number, and regions inside of regions have one.
//!
//! The runtime's own counters order nothing (they are relaxed): only what OpenMP says orders what the program does. Tasks are threads of
//! their own, which are joined where OpenMP waits for them; whoever creates a task goes on at once, or not, as the scheduler likes.

pub(super) mod dependences;
pub(super) mod loops;
pub(super) mod ordered;
pub(super) mod tasks;

use super::errno::zero;
use super::{Entry, Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::{MutexKind, Op, Order, SyncAction};

pub(super) const MODELS: &[Model] = &[
    model("__kmpc_fork_call", fork).capturing(&PASSED_ON),
    model(WORKER, worker),
    model("__kmpc_global_thread_num", thread_number),
    model("__kmpc_push_num_threads", push_size),
    model("__kmpc_serialized_parallel", begin_serial),
    model("__kmpc_end_serialized_parallel", end_serial),
    model("__kmpc_barrier", barrier),
    model("__kmpc_cancel_barrier", barrier),
    model("__kmpc_critical", critical).capturing(&[2]),
    model("__kmpc_critical_with_hint", critical).capturing(&[2]),
    model("__kmpc_end_critical", end_critical).capturing(&[2]),
    model("__kmpc_reduce", reduce).capturing(&[6]),
    model("__kmpc_reduce_nowait", reduce).capturing(&[6]),
    model("__kmpc_end_reduce", end_reduce).capturing(&[2]),
    model("__kmpc_end_reduce_nowait", end_critical).capturing(&[2]),
    model("__kmpc_single", single),
    model("__kmpc_end_single", zero),
    model("__kmpc_copyprivate", copy_private).capturing(&[3]),
    model("__kmpc_master", master),
    model("__kmpc_end_master", zero),
    model("__kmpc_masked", master),
    model("__kmpc_end_masked", zero),
    model("__kmpc_flush", flush),
    model("omp_get_thread_num", thread_number),
    model("omp_get_num_threads", team_size),
    model("omp_get_max_threads", most_threads),
    model("omp_get_num_procs", most_threads),
    model("omp_set_num_threads", set_size),
    model("omp_in_parallel", in_parallel),
    model("omp_set_dynamic", zero),
    model("omp_set_nested", zero),
    model("omp_init_lock", init_lock).capturing(&[0]),
    model("omp_init_nest_lock", init_nest_lock).capturing(&[0]),
    model("omp_destroy_lock", destroy_lock).capturing(&[0]),
    model("omp_destroy_nest_lock", destroy_lock).capturing(&[0]),
    model("omp_set_lock", set_lock).capturing(&[0]),
    model("omp_set_nest_lock", set_lock).capturing(&[0]),
    model("omp_unset_lock", unset_lock).capturing(&[0]),
    model("omp_unset_nest_lock", unset_lock).capturing(&[0]),
    model("omp_test_lock", test_lock).capturing(&[0]),
];

/// The variables that a region shares are passed behind the function.
const PASSED_ON: [u8; 40] = {
    let mut params = [0; 40];
    let mut index = 0;
    while index < params.len() {
        params[index] = index as u8 + 3;
        index += 1;
    }
    params
};

/// What the other threads of a team run.
const WORKER: &str = "OpenMP::worker";

/// Kind of thread values.
const TEAM: u32 = 13;
/// Keys: what a thread knows about its team. Teams around it are further up, by `LEVEL`.
const ADDRESS: u64 = 0;
const NUMBER: u64 = 1;
const SIZE: u64 = 2;
/// How many `single` constructs and loops with a schedule it came to.
const SINGLES: u64 = 3;
const LOOPS: u64 = 4;
/// The present loop with a schedule.
const LOWER: u64 = 5;
const UPPER: u64 = 6;
const STEP: u64 = 7;
const CHUNK: u64 = 8;
/// How it is scheduled, if its iterations have an order; how many chunks the thread has taken of it, which iteration it does, and whether that has had its turn.
const KIND: u64 = 9;
const TAKEN: u64 = 10;
const TURN: u64 = 11;
const PASSED: u64 = 12;
const VALUES_OF_A_TEAM: u64 = 16;
/// How many teams are around the present one.
const NESTING: u64 = 1 << 16;
/// The number of threads that was asked for: of the next team, and of all.
const NEXT_SIZE: u64 = NESTING + 1;
const EVERY_SIZE: u64 = NESTING + 2;
/// The tasks that it waits for: how many, then their threads.
const TASKS: u64 = 1 << 20;
/// Where the present group of tasks begins.
const GROUP: u64 = NESTING + 3;
/// Did the thread have a team before?
const HAD_TEAM: u64 = NESTING + 4;

/// A team in memory: its barrier, what a thread passes to the others, which `single` is next, the next chunk of each loop; and, where loops have an order, the turns of
/// their iterations.
const BARRIER: u64 = 0;
const PASSED_COPY: u64 = 56;
const NEXT_SINGLE: u64 = 64;
const NEXT_CHUNKS: u64 = 72;
const MOST_LOOPS: u64 = 32;
const TURNS: u64 = NEXT_CHUNKS + 8 * MOST_LOOPS;
const MOST_ORDERED_LOOPS: u64 = 8;
const MOST_TURNS: u64 = 64;

const THREADS: u64 = 2;
const MOST_THREADS: u64 = 64;

impl Script<'_, '_> {
    fn of_team(&mut self, key: u64) -> Result<u64, Pause> {
        let level = self.thread_value(TEAM, NESTING)?;
        self.thread_value(TEAM, level * VALUES_OF_A_TEAM + key)
    }

    fn set_of_team(&mut self, key: u64, value: u64) -> Result<(), Pause> {
        let level = self.thread_value(TEAM, NESTING)?;
        self.set_thread_value(TEAM, level * VALUES_OF_A_TEAM + key, value)
    }

    /// Makes the thread a member of a team; 0 for one of which it is the only member.
    fn enter_team(&mut self, team: u64, number: u64, size: u64) -> Result<(), Pause> {
        let level = self.thread_value(TEAM, NESTING)? + 1;
        self.set_thread_value(TEAM, NESTING, level)?;
        self.set_of_team(ADDRESS, team)?;
        self.set_of_team(NUMBER, number)?;
        self.set_of_team(SIZE, size)
    }

    fn leave_team(&mut self) -> Result<(), Pause> {
        for key in 0..VALUES_OF_A_TEAM {
            if self.of_team(key)? != 0 {
                self.set_of_team(key, 0)?;
            }
        }
        let level = self.thread_value(TEAM, NESTING)?;
        self.set_thread_value(TEAM, NESTING, level.saturating_sub(1))
    }

    fn refuse_formulas(&mut self) -> Result<(), Pause> {
        match self.asks() {
            true => Err(self.unsupported("OpenMP is for engines that explore executions")),
            false => Ok(()),
        }
    }

    /// The threads of a team keep their thread-local variables from one region to the next, where the next one has as many. Here they are new ones.
    fn keeps_thread_locals(&mut self) -> Result<(), Pause> {
        if self.thread_value(TEAM, HAD_TEAM)? == 0 {
            return self.set_thread_value(TEAM, HAD_TEAM, 1);
        }
        let globals = &self.machine.world.module.globals;
        match globals
            .iter()
            .any(|global| global.thread_local && global.initializer.is_some())
        {
            true => Err(self.unsupported(
                "thread-local variables (threadprivate) that last from one region to the next",
            )),
            false => Ok(()),
        }
    }

    /// Calls a region's function with the places of the thread's number and its arguments.
    fn run_region(&mut self, function: u64, args: &[u64]) -> Result<(), Pause> {
        let number = self.of_team(NUMBER)?;
        let place = self.thread_object("OpenMP thread number", 8)?;
        self.store(place, 4, number, Order::Plain)?;
        let mut all = vec![place, place + 4];
        all.extend_from_slice(args);
        self.call(function, &all)?;
        self.join_tasks(0)
    }

    /// Waits for the tasks that the thread has created, those from `first` on.
    fn join_tasks(&mut self, first: u64) -> Result<(), Pause> {
        let mut count = self.thread_value(TEAM, TASKS)?;
        while count > first {
            let handle = self.thread_value(TEAM, TASKS + count)?;
            let thread = self.thread_of(handle)?;
            self.op(Op::Join { thread })?;
            self.set_thread_value(TEAM, TASKS + count, 0)?;
            count -= 1;
            self.set_thread_value(TEAM, TASKS, count)?;
        }
        match first {
            0 => self.forget_dependences(),
            _ => Ok(()),
        }
    }
}

// ---- regions

/// `(place, how many, function, what it shares …)`.
fn fork(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    let function = cx.arg(2);
    let args: Vec<u64> = (3..cx.arg_count()).map(|index| cx.arg(index)).collect();
    let is_nested = cx.of_team(ADDRESS)? != 0;
    let size = match (cx.thread_value(TEAM, NEXT_SIZE)?, most(cx)?) {
        _ if is_nested => 1,
        (0, most) => most,
        (asked, _) => asked,
    };
    if size > MOST_THREADS {
        return Err(cx.unsupported("so many threads"));
    }
    cx.set_thread_value(TEAM, NEXT_SIZE, 0)?;
    if size == 1 {
        cx.enter_team(0, 0, 1)?;
        cx.run_region(function, &args)?;
        cx.leave_team()?;
        return Ok(Outcome::Void);
    }
    cx.keeps_thread_locals()?;
    let module = &cx.machine.world.module;
    let has_order = module.function_named("__kmpc_ordered").is_some();
    let turns = u64::from(has_order) * 8 * MOST_ORDERED_LOOPS * MOST_TURNS;
    let team = cx.allocate(TURNS + turns, 16)?;
    let count = size as u32;
    cx.sync(team + BARRIER, SyncAction::BarrierInit { count })?;
    let entry = Entry::Model(WORKER);
    let mut handles = Vec::new();
    for number in 1..size {
        let handle = cx.new_thread(&entry)?;
        let mut passed = vec![function, team, number, size];
        passed.extend_from_slice(&args);
        cx.start_thread(handle, &entry, &passed)?;
        handles.push(handle);
    }
    cx.enter_team(team, 0, size)?;
    cx.run_region(function, &args)?;
    cx.leave_team()?;
    for handle in handles {
        let thread = cx.thread_of(handle)?;
        cx.op(Op::Join { thread })?;
    }
    cx.free(team)?;
    Ok(Outcome::Void)
}

fn worker(cx: &mut Script<'_, '_>) -> ModelResult {
    let (function, team) = (cx.arg(0), cx.arg(1));
    let args: Vec<u64> = (4..cx.arg_count()).map(|index| cx.arg(index)).collect();
    cx.enter_team(team, cx.arg(2), cx.arg(3))?;
    cx.run_region(function, &args)?;
    cx.run_destructors()?;
    Ok(Outcome::ExitThread(0))
}

/// A region whose `if` says no: the program calls its function itself.
fn begin_serial(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    cx.enter_team(0, 0, 1)?;
    Ok(Outcome::Void)
}

fn end_serial(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.leave_team()?;
    Ok(Outcome::Void)
}

fn most(cx: &mut Script<'_, '_>) -> Result<u64, Pause> {
    Ok(match cx.thread_value(TEAM, EVERY_SIZE)? {
        0 => THREADS,
        asked => asked,
    })
}

fn push_size(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    cx.set_thread_value(TEAM, NEXT_SIZE, cx.arg(2) & 0xFFFF_FFFF)?;
    Ok(Outcome::Void)
}

fn set_size(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    cx.set_thread_value(TEAM, EVERY_SIZE, cx.arg(0) & 0xFFFF_FFFF)?;
    Ok(Outcome::Void)
}

fn thread_number(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    Ok(Outcome::Return(cx.of_team(NUMBER)?))
}

fn team_size(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    Ok(Outcome::Return(cx.of_team(SIZE)?.max(1)))
}

fn most_threads(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    Ok(Outcome::Return(most(cx)?))
}

fn in_parallel(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    Ok(Outcome::Return(u64::from(cx.of_team(SIZE)? > 1)))
}

// ---- waiting and excluding

fn barrier(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    pass_barrier(cx)?;
    Ok(Outcome::Return(0))
}

fn pass_barrier(cx: &mut Script<'_, '_>) -> Result<(), Pause> {
    cx.join_tasks(0)?;
    let team = cx.of_team(ADDRESS)?;
    if team == 0 {
        return Ok(());
    }
    let arrived = cx.sync(team + BARRIER, SyncAction::BarrierArrive)?;
    if arrived & 1 == 0 {
        let generation = (arrived >> 1) as u32;
        cx.sync(team + BARRIER, SyncAction::BarrierAwait { generation })?;
    }
    Ok(())
}

const LOCK: SyncAction = SyncAction::Lock {
    kind: Some(MutexKind::Normal),
};
const UNLOCK: SyncAction = SyncAction::Unlock {
    kind: Some(MutexKind::Normal),
};

/// `(place, thread, lock)`.
fn critical(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.sync(cx.arg(2), LOCK)?;
    Ok(Outcome::Void)
}

fn end_critical(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.sync(cx.arg(2), UNLOCK)?;
    Ok(Outcome::Void)
}

/// `(place, thread, how many, size, list, function, lock)`: the thread adds its part itself, one after the other.
fn reduce(cx: &mut Script<'_, '_>) -> ModelResult {
    const BY_ITSELF: u64 = 1;
    cx.sync(cx.arg(6), LOCK)?;
    Ok(Outcome::Return(BY_ITSELF))
}

fn end_reduce(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    cx.sync(cx.arg(2), UNLOCK)?;
    pass_barrier(cx)?;
    Ok(Outcome::Void)
}

/// The first thread that comes to the construct does it.
fn single(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    let team = cx.of_team(ADDRESS)?;
    if team == 0 {
        return Ok(Outcome::Return(1));
    }
    let own = cx.of_team(SINGLES)?;
    cx.set_of_team(SINGLES, own + 1)?;
    let orders = (Order::Relaxed, Order::Relaxed);
    let next = cx.cas(team + NEXT_SINGLE, 8, (own, own + 1), orders)?;
    Ok(Outcome::Return(u64::from(next == own)))
}

/// `(place, thread, size, data, function, did it?)`: the thread that did a `single` passes its values to the others.
fn copy_private(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    let team = cx.of_team(ADDRESS)?;
    if team == 0 {
        return Ok(Outcome::Void);
    }
    let did_it = cx.arg(5) & 0xFFFF_FFFF != 0;
    if did_it {
        cx.store(team + PASSED_COPY, 8, cx.arg(3), Order::Plain)?;
    }
    pass_barrier(cx)?;
    if !did_it {
        let from = cx.load(team + PASSED_COPY, 8, Order::Plain)?;
        cx.call(cx.arg(4), &[cx.arg(3), from])?;
    }
    pass_barrier(cx)?;
    Ok(Outcome::Void)
}

fn master(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    Ok(Outcome::Return(u64::from(cx.of_team(NUMBER)? == 0)))
}

fn flush(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.op(Op::Fence {
        order: Order::SeqCst,
    })?;
    Ok(Outcome::Void)
}

// ---- locks

fn init_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    init_kind(cx, MutexKind::Normal)
}

fn init_nest_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    init_kind(cx, MutexKind::Recursive)
}

fn init_kind(cx: &mut Script<'_, '_>, kind: MutexKind) -> ModelResult {
    cx.sync(cx.arg(0), SyncAction::MutexInit { kind })?;
    Ok(Outcome::Void)
}

fn destroy_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.sync(cx.arg(0), SyncAction::MutexDestroy)?;
    Ok(Outcome::Void)
}

fn set_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.sync(cx.arg(0), LOCK)?;
    Ok(Outcome::Void)
}

fn unset_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.sync(cx.arg(0), UNLOCK)?;
    Ok(Outcome::Void)
}

fn test_lock(cx: &mut Script<'_, '_>) -> ModelResult {
    let action = SyncAction::TryLock {
        kind: Some(MutexKind::Normal),
    };
    Ok(Outcome::Return(u64::from(cx.sync(cx.arg(0), action)? == 0)))
}
