//! OpenMP, by the functions that clang compiles its pragmas to (`__kmpc_*`) and those that programs call (`omp_*`).
//!
//! A parallel region is a *team*: a block of shared memory with a barrier and a few counters, and threads that run the region's function.
//! The thread that comes to the region is number 0, starts the others, and joins them. What a thread knows about its team is part of its local
//! state (`TEAM`). There are two threads unless the program asks for another number, and regions inside of regions have one.
//!
//! The runtime's own counters order nothing (they are relaxed): only what OpenMP says orders what the program does. Tasks are threads of
//! their own, which are joined where OpenMP waits for them; whoever creates a task goes on at once, or not, as the scheduler likes.

use super::errno::zero;
use super::{Entry, Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::{MutexKind, Op, Order, RmwKind, SyncAction};

pub(super) const MODELS: &[Model] = &[
    model("__kmpc_fork_call", fork).capturing(&PASSED_ON),
    model(WORKER, worker),
    model(TASK, run_task),
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
    model("__kmpc_master", master),
    model("__kmpc_end_master", zero),
    model("__kmpc_masked", master),
    model("__kmpc_end_masked", zero),
    model("__kmpc_flush", flush),
    model("__kmpc_for_static_init_4", static_loop),
    model("__kmpc_for_static_init_4u", static_loop),
    model("__kmpc_for_static_init_8", static_loop),
    model("__kmpc_for_static_init_8u", static_loop),
    model("__kmpc_for_static_fini", zero),
    model("__kmpc_dispatch_init_4", begin_dynamic),
    model("__kmpc_dispatch_init_4u", begin_dynamic),
    model("__kmpc_dispatch_init_8", begin_dynamic),
    model("__kmpc_dispatch_init_8u", begin_dynamic),
    model("__kmpc_dispatch_next_4", next_chunk),
    model("__kmpc_dispatch_next_4u", next_chunk),
    model("__kmpc_dispatch_next_8", next_chunk),
    model("__kmpc_dispatch_next_8u", next_chunk),
    model("__kmpc_omp_task_alloc", task_alloc),
    model("__kmpc_omp_task", start_task).capturing(&[2]),
    model("__kmpc_omp_task_begin_if0", zero),
    model("__kmpc_omp_task_complete_if0", zero),
    model("__kmpc_omp_taskwait", wait_for_tasks),
    model("__kmpc_omp_taskyield", zero),
    model("__kmpc_taskgroup", begin_group),
    model("__kmpc_end_taskgroup", end_group),
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

/// What the other threads of a team run, and what tasks run.
const WORKER: &str = "OpenMP::worker";
const TASK: &str = "OpenMP::task";

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

/// A team in memory: its barrier, which `single` is next, and the next chunk of each loop.
const BARRIER: u64 = 0;
const NEXT_SINGLE: u64 = 64;
const NEXT_CHUNKS: u64 = 72;
const MOST_LOOPS: u64 = 32;
const TEAM_BYTES: u64 = NEXT_CHUNKS + 8 * MOST_LOOPS;

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
        Ok(())
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
    let team = cx.allocate(TEAM_BYTES, 16)?;
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

// ---- loops

/// What the name of a function says about the numbers that it works with.
struct Numbers {
    size: u8,
    signed: bool,
}

impl Numbers {
    fn of(name: &str) -> Self {
        let bare = name.trim_end_matches('u');
        Self {
            size: if bare.ends_with('4') { 4 } else { 8 },
            signed: bare.len() == name.len(),
        }
    }

    fn read(&self, bits: u64) -> i128 {
        match (self.size, self.signed) {
            (4, true) => i128::from(bits as u32 as i32),
            (4, false) => i128::from(bits as u32),
            (_, true) => i128::from(bits as i64),
            (_, false) => i128::from(bits),
        }
    }

    /// Steps are signed whatever the numbers are.
    fn step(&self, bits: u64) -> i128 {
        match self.size {
            4 => i128::from(bits as u32 as i32),
            _ => i128::from(bits as i64),
        }
    }
}

/// How many iterations there are from `lower` to `upper`.
fn trips(lower: i128, upper: i128, step: i128) -> i128 {
    match step {
        0 => 0,
        _ => ((upper - lower) / step + 1).max(0) * i128::from((upper - lower) * step.signum() >= 0),
    }
}

/// `(place, thread, schedule, last?, lower, upper, stride, step, chunk)`: bounds become those of the thread's part.
fn static_loop(cx: &mut Script<'_, '_>) -> ModelResult {
    const CHUNKED: u64 = 33;
    const KIND: u64 = 0xFFFF;
    cx.refuse_formulas()?;
    let numbers = Numbers::of(cx.function_name());
    let (last_at, lower_at, upper_at, stride_at) = (cx.arg(3), cx.arg(4), cx.arg(5), cx.arg(6));
    let size = numbers.size;
    let lower = numbers.read(cx.load(lower_at, size, Order::Plain)?);
    let upper = numbers.read(cx.load(upper_at, size, Order::Plain)?);
    let (step, chunk) = (numbers.step(cx.arg(7)), numbers.step(cx.arg(8)).max(1));
    let number = i128::from(cx.of_team(NUMBER)?);
    let threads = i128::from(cx.of_team(SIZE)?.max(1));
    let trips = trips(lower, upper, step);
    let (from, to, stride, is_last) = match (trips, cx.arg(2) & KIND) {
        (0, _) => (lower, upper, step, false),
        (_, CHUNKED) => {
            // Chunks that no loop has may be as long as numbers go; of the results 64 bits are stored.
            let length = chunk.wrapping_mul(step);
            let from = lower.wrapping_add(number.wrapping_mul(length));
            let last = (trips - 1) / chunk % threads;
            let to = from.wrapping_add(length).wrapping_sub(step);
            (from, to, length.wrapping_mul(threads), number == last)
        }
        _ => {
            let (part, rest) = (trips / threads, trips % threads);
            let first = number * part + number.min(rest);
            let count = part + i128::from(number < rest);
            let from = lower + first * step;
            let to = from + (count - 1) * step;
            let last = trips.min(threads) - 1;
            (from, to, trips * step, number == last)
        }
    };
    cx.store_if_wanted(last_at, 4, u64::from(is_last))?;
    cx.store(lower_at, size, from as u64, Order::Plain)?;
    cx.store(upper_at, size, to as u64, Order::Plain)?;
    cx.store(stride_at, size, stride as u64, Order::Plain)?;
    Ok(Outcome::Void)
}

/// `(place, thread, schedule, lower, upper, step, chunk)`: whoever asks first gets the next chunk.
fn begin_dynamic(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    let number = cx.of_team(LOOPS)?;
    if number >= MOST_LOOPS {
        return Err(cx.unsupported("so many loops with a schedule in one region"));
    }
    cx.set_of_team(LOOPS, number + 1)?;
    for (key, argument) in [(LOWER, 3), (UPPER, 4), (STEP, 5), (CHUNK, 6)] {
        cx.set_of_team(key, cx.arg(argument))?;
    }
    Ok(Outcome::Void)
}

/// `(place, thread, last?, lower, upper, stride)`: 0 if there is none left.
fn next_chunk(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    let numbers = Numbers::of(cx.function_name());
    let lower = numbers.read(cx.of_team(LOWER)?);
    let upper = numbers.read(cx.of_team(UPPER)?);
    let step = numbers.step(cx.of_team(STEP)?);
    let chunk = numbers.step(cx.of_team(CHUNK)?).max(1);
    let team = cx.of_team(ADDRESS)?;
    let trips = trips(lower, upper, step);
    let first = match team {
        // All at once.
        0 => {
            let begun = cx.of_team(SINGLES)?;
            cx.set_of_team(SINGLES, 1 - begun.min(1))?;
            if begun == 0 { 0 } else { trips }
        }
        _ => {
            let place = team + NEXT_CHUNKS + 8 * (cx.of_team(LOOPS)?.saturating_sub(1));
            let begun = cx.rmw(place, 8, RmwKind::Add, 1, Order::Relaxed)?;
            i128::from(begun).saturating_mul(chunk)
        }
    };
    if first >= trips {
        return Ok(Outcome::Return(0));
    }
    let count = match team {
        0 => trips,
        _ => chunk.min(trips - first),
    };
    let (from, size) = (lower + first * step, numbers.size);
    let to = from + (count - 1) * step;
    cx.store_if_wanted(cx.arg(2), 4, u64::from(first + count == trips))?;
    cx.store(cx.arg(3), size, from as u64, Order::Plain)?;
    cx.store(cx.arg(4), size, to as u64, Order::Plain)?;
    cx.store_if_wanted(cx.arg(5), size, step as u64)?;
    Ok(Outcome::Return(1))
}

// ---- tasks

/// `(place, thread, flags, size, size of what it shares, function)`: a block that begins with where the shared part is, and the function.
fn task_alloc(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    let own = cx.arg(3).checked_next_multiple_of(16);
    let sizes = own.and_then(|own| Some((own, own.checked_add(cx.arg(4))?)));
    let (own, size) = sizes.ok_or_else(|| cx.unsupported("a task of that size"))?;
    let task = cx.allocate(size, 16)?;
    cx.store(task, 8, task + own, Order::Plain)?;
    cx.store(task + 8, 8, cx.arg(5), Order::Plain)?;
    Ok(Outcome::Return(task))
}

/// `(place, thread, task)`.
fn start_task(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    let entry = Entry::Model(TASK);
    let handle = cx.new_thread(&entry)?;
    cx.start_thread(handle, &entry, &[cx.arg(2)])?;
    let count = cx.thread_value(TEAM, TASKS)? + 1;
    cx.set_thread_value(TEAM, TASKS, count)?;
    cx.set_thread_value(TEAM, TASKS + count, handle)?;
    Ok(Outcome::Return(0))
}

fn run_task(cx: &mut Script<'_, '_>) -> ModelResult {
    let task = cx.arg(0);
    let function = cx.load(task.wrapping_add(8), 8, Order::Plain)?;
    cx.call(function, &[0, task])?;
    // Its own tasks may outlive it; who waits for them then is not modelled.
    if cx.thread_value(TEAM, TASKS)? != 0 {
        return Err(cx.unsupported("a task that ends without having waited for its own tasks"));
    }
    cx.free(task)?;
    cx.run_destructors()?;
    Ok(Outcome::ExitThread(0))
}

fn wait_for_tasks(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    cx.join_tasks(0)?;
    Ok(Outcome::Return(0))
}

fn begin_group(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.refuse_formulas()?;
    let count = cx.thread_value(TEAM, TASKS)?;
    if cx.thread_value(TEAM, GROUP)? != 0 {
        return Err(cx.unsupported("a group of tasks in another one"));
    }
    cx.set_thread_value(TEAM, GROUP, count + 1)?;
    Ok(Outcome::Void)
}

fn end_group(cx: &mut Script<'_, '_>) -> ModelResult {
    let first = cx.thread_value(TEAM, GROUP)?.saturating_sub(1);
    cx.join_tasks(first)?;
    cx.set_thread_value(TEAM, GROUP, 0)?;
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
