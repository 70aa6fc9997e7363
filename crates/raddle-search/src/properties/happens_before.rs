//! Races by their definition: every edge of happens-before is written down, and its closure is computed for each step as a
//! set of all steps before it. Shares nothing with the detector.

use raddle_memory::{Effect, MicroStep};
use raddle_program::{
    ChoiceOf, LocId, ObjectId, Op, Order, Program, ReleaseSequences, SyncAction, Tables, ThreadId,
};
use std::ops::Range;

struct Execution {
    steps: Vec<Step>,
    rule: ReleaseSequences,
}

impl std::ops::Deref for Execution {
    type Target = [Step];

    fn deref(&self) -> &[Step] {
        &self.steps
    }
}

/// What a step does, as far as races are concerned.
struct Step {
    thread: ThreadId,
    op: Op,
    value: u64,
    /// The step that began the atomic block it is in.
    block: Option<usize>,
    /// Bytes accessed; all of them for a free.
    bytes: Option<(ObjectId, Range<u64>)>,
    /// Of memory, not of synchronisation objects.
    reads: Option<Order>,
    writes: Option<Order>,
    is_sync: bool,
    /// The step from which on memory holds what it writes: itself, unless it is delayed.
    visible: usize,
}

fn bytes(tables: &Tables, loc: LocId) -> (ObjectId, Range<u64>) {
    let info = tables.loc_info(loc);
    (info.object, info.offset..info.offset + u64::from(info.size))
}

fn understand(program: &Program, steps: &[MicroStep]) -> Vec<Step> {
    let tables = program.tables();
    let mut blocks: Vec<(ThreadId, usize)> = Vec::new();
    let mut understood = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let op = match step.effect {
            // Nothing but that the store becomes visible, or nothing at all that others see.
            Effect::Flushed { .. } | Effect::Abandoned => Op::Choice {
                count: 1,
                of: ChoiceOf::Course,
            },
            Effect::Whole | Effect::Delayed => *program.op(step.state),
        };
        if op == Op::AtomicBegin {
            blocks.push((step.thread, index));
        }
        let (mut reads, mut writes, mut place) = (None, None, None);
        match op {
            Op::Load { loc, order } => (reads, place) = (Some(order), Some(bytes(tables, loc))),
            Op::Store { loc, order, .. } => {
                (writes, place) = (Some(order), Some(bytes(tables, loc)));
            }
            Op::Rmw { loc, order, .. } => {
                (reads, writes, place) = (Some(order), Some(order), Some(bytes(tables, loc)));
            }
            Op::Cas {
                loc,
                expected,
                success,
                failure,
                ..
            } => {
                place = Some(bytes(tables, loc));
                if step.value == expected {
                    (reads, writes) = (Some(success), Some(success));
                } else {
                    reads = Some(failure);
                }
            }
            Op::Free { object } => {
                place = Some((object, 0..u64::MAX));
                writes = Some(Order::Plain);
            }
            _ => {}
        }
        understood.push(Step {
            thread: step.thread,
            op,
            value: step.value,
            block: blocks
                .iter()
                .find(|(thread, _)| *thread == step.thread)
                .map(|(_, begin)| *begin),
            bytes: place,
            reads,
            writes,
            is_sync: matches!(op, Op::Sync { .. }),
            visible: if step.effect == Effect::Delayed {
                let flushed = |later: &MicroStep| {
                    matches!(later.effect, Effect::Flushed { store } if store as usize == index)
                };
                steps.iter().position(flushed).unwrap_or(usize::MAX)
            } else {
                index
            },
        });
        if op == Op::AtomicEnd {
            blocks.retain(|&(thread, _)| thread != step.thread);
        }
    }
    understood
}

/// For each step the latest earlier one that it races with.
pub(super) fn races(program: &Program, steps: &[MicroStep]) -> Vec<Option<usize>> {
    assert!(steps.len() <= 128, "a set of steps is 128 bits");
    let rule = program.tables().release_sequences;
    let steps = Execution {
        steps: understand(program, steps),
        rule,
    };
    let mut before: Vec<u128> = Vec::new();
    for later in 0..steps.len() {
        let direct = (0..later).filter(|&earlier| is_edge(&steps, earlier, later));
        let closure = direct.fold(0, |set, earlier| set | before[earlier] | 1 << earlier);
        before.push(closure);
    }
    (0..steps.len())
        .map(|later| {
            (0..later).rev().find(|&earlier| {
                before[later] >> earlier & 1 == 0 && conflict(&steps[earlier], &steps[later])
            })
        })
        .collect()
}

fn conflict(a: &Step, b: &Step) -> bool {
    let (Some((object_a, bytes_a)), Some((object_b, bytes_b))) = (&a.bytes, &b.bytes) else {
        return false;
    };
    let atomic = |step: &Step| step.reads.or(step.writes).is_some_and(Order::is_atomic);
    a.thread != b.thread
        && object_a == object_b
        && bytes_a.start < bytes_b.end
        && bytes_b.start < bytes_a.end
        && (a.writes.is_some() || b.writes.is_some())
        && !(atomic(a) && atomic(b))
        && !(a.block.is_some() && b.block.is_some())
}

fn is_edge(steps: &Execution, earlier: usize, later: usize) -> bool {
    let (a, b) = (&steps[earlier], &steps[later]);
    a.thread == b.thread
        || (a.block.is_some() && b.block.is_some() && block_edge(steps, earlier, later))
        || matches!(a.op, Op::Spawn { child, .. } if child == b.thread)
        || matches!(b.op, Op::Join { thread } if thread == a.thread)
        || (matches!(b.op, Op::Join { thread } if matches!(a.op, Op::Spawn { child, .. } if child == thread)))
        || (a.is_sync && b.is_sync && sync_edge(steps, earlier, later))
        || message_edge(steps, earlier, later)
}

/// Does `later` read what the block of `earlier` wrote?
fn block_edge(steps: &Execution, earlier: usize, later: usize) -> bool {
    steps[later].reads.is_some()
        && last_writes(steps, later)
            .into_iter()
            .any(|write| steps[write].block == steps[earlier].block)
}

/// Does a release on a synchronisation object come before an acquire of it?
fn sync_edge(steps: &Execution, earlier: usize, later: usize) -> bool {
    use SyncAction as A;
    let (a, b) = (&steps[earlier], &steps[later]);
    let (
        Op::Sync {
            cell: released,
            action: release,
        },
        Op::Sync {
            cell: acquired,
            action: acquire,
        },
    ) = (a.op, b.op)
    else {
        return false;
    };
    if let A::CondRelease { mutex } = release {
        return mutex == acquired
            && matches!(acquire, A::Lock { .. } | A::TryLock { .. })
            && b.value == 0;
    }
    if released != acquired {
        return false;
    }
    match (release, acquire) {
        (A::Unlock { .. }, A::Lock { .. } | A::TryLock { .. })
        | (A::SemPost, A::SemWait | A::SemTryWait) => a.value == 0 && b.value == 0,
        (A::Signal | A::Broadcast, A::CondAwait) => true,
        (A::OnceEnd, A::OnceBegin) => b.value == 1,
        (A::OnceAbort, A::OnceBegin) => true,
        (A::BarrierArrive, A::BarrierAwait { generation }) => a.value >> 1 == u64::from(generation),
        (A::BarrierArrive, A::BarrierArrive) => a.value | 1 == b.value,
        (A::RwUnlock, A::WriteLock | A::TryWriteLock) => b.value == 0,
        (A::RwUnlock, A::ReadLock | A::TryReadLock) => {
            b.value == 0 && is_writers_unlock(steps, earlier)
        }
        _ => false,
    }
}

/// Does an unlock of a reader-writer lock end a writer's hold? Then the thread's last operation on it was the lock.
fn is_writers_unlock(steps: &Execution, unlock: usize) -> bool {
    use SyncAction as A;
    let cell_of = |step: &Step| match step.op {
        Op::Sync { cell, action } => Some((cell, action)),
        _ => None,
    };
    let Some((cell, _)) = cell_of(&steps[unlock]) else {
        return false;
    };
    steps[..unlock]
        .iter()
        .rev()
        .filter(|step| step.thread == steps[unlock].thread && step.value == 0)
        .filter_map(cell_of)
        .find(|&(other, _)| other == cell)
        .is_some_and(|(_, action)| matches!(action, A::WriteLock | A::TryWriteLock))
}

/// Does `earlier`, a release write or fence, publish something that `later`, an acquire read or fence, learns?
fn message_edge(steps: &Execution, earlier: usize, later: usize) -> bool {
    // The reads through which `later` learns.
    let acquiring: Vec<usize> = match steps[later].op {
        Op::Fence { order } if order.acquires() => (0..later)
            .filter(|&read| {
                steps[read].thread == steps[later].thread
                    && steps[read].reads.is_some_and(Order::is_atomic)
            })
            .collect(),
        _ if steps[later].reads.is_some_and(Order::acquires) => vec![later],
        _ => return false,
    };
    acquiring
        .into_iter()
        .flat_map(|read| heads(steps, read))
        .any(|head| publishes(steps, earlier, head))
}

/// The last writes of the bytes that a step accesses.
fn last_writes(steps: &Execution, read: usize) -> Vec<usize> {
    let Some((object, range)) = steps[read].bytes.clone() else {
        return Vec::new();
    };
    let writes = |write: usize, byte: u64| {
        let step = &steps[write];
        step.writes.is_some()
            && !matches!(step.op, Op::Free { .. })
            && step
                .bytes
                .as_ref()
                .is_some_and(|(other, bytes)| *other == object && bytes.contains(&byte))
    };
    // The thread's own newest store that is still delayed, else the store that became visible last.
    let last_of = |byte: u64| {
        let all = || (0..read).filter(|&write| writes(write, byte));
        let own = |write: &usize| {
            steps[*write].thread == steps[read].thread && steps[*write].visible > read
        };
        all().rfind(own).or_else(|| {
            all()
                .filter(|&write| steps[write].visible < read)
                .max_by_key(|&write| steps[write].visible)
        })
    };
    range.filter_map(last_of).collect()
}

/// The writes whose release sequences a step reads from.
fn heads(steps: &Execution, read: usize) -> Vec<usize> {
    let writes = last_writes(steps, read);
    writes
        .into_iter()
        .flat_map(|write| heads_of(steps, write))
        .collect()
}

/// The writes whose release sequences a write belongs to.
fn heads_of(steps: &Execution, write: usize) -> Vec<usize> {
    let step = &steps[write];
    let is_atomic = step.writes.is_some_and(Order::is_atomic);
    let mut heads = vec![write];
    if is_atomic && steps.rule == ReleaseSequences::SameThread {
        let is_earlier = |&other: &usize| {
            let other = &steps[other];
            other.thread == step.thread && other.writes.is_some() && other.bytes == step.bytes
        };
        heads.extend((0..write).filter(is_earlier));
    }
    if step.reads.is_some() {
        let earlier = overwritten(steps, write);
        heads.extend(earlier.into_iter().flat_map(|write| heads_of(steps, write)));
    }
    heads
}

/// The writes that are the last of a write's bytes when it reaches memory.
fn overwritten(steps: &Execution, write: usize) -> Vec<usize> {
    let Some((object, range)) = steps[write].bytes.clone() else {
        return Vec::new();
    };
    let is_there = |other: &Step, byte: u64| {
        other.writes.is_some()
            && !matches!(other.op, Op::Free { .. })
            && other.visible < steps[write].visible
            && (other.bytes.as_ref())
                .is_some_and(|(of, bytes)| *of == object && bytes.contains(&byte))
    };
    let last = |byte| {
        (0..steps.len())
            .filter(|&other| is_there(&steps[other], byte))
            .max_by_key(|&other| steps[other].visible)
    };
    range.filter_map(last).collect()
}

/// Is what happened before `source` published by the write `head`: because that is a release, or follows a release fence?
fn publishes(steps: &Execution, source: usize, head: usize) -> bool {
    let order = steps[head].writes.unwrap_or(Order::Plain);
    (source == head && order.releases())
        || (source < head
            && order.is_atomic()
            && steps[source].thread == steps[head].thread
            && matches!(steps[source].op, Op::Fence { order } if order.releases()))
}
