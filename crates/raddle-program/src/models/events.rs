//! Waiting for files: `eventfd`, `epoll` and `poll`.
//!
//! An event is a count with the lock of a file. What `epoll_create` makes has a lock of its own and a list of the descriptors that it watches; whoever makes something there that
//! can be read takes that lock, and wakes those who wait. It is taken before the locks of files, and never with one of them in hand.

use super::errno::{EAGAIN, EBADF, EEXIST, EINVAL, ENOENT, int};
use super::files::{DOES_NOT_WAIT, EPOLL, EVENT, File, LOCK, Moved, PIPE, READ_WRITE, UNLOCK};
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::{Order, SyncAction};

pub(super) const MODELS: &[Model] = &[
    model("eventfd", make_event),
    model("eventfd_read", read_count),
    model("eventfd_write", write_count),
    model("epoll_create", make_epoll),
    model("epoll_create1", make_epoll),
    model("epoll_ctl", control),
    model("epoll_wait", wait),
    model("epoll_pwait", wait),
    model("poll", poll),
    model("fcntl", control_file),
    model("fcntl64", control_file),
    model("ioctl", control_device),
    model("getrlimit", limits),
    model("getrlimit64", limits),
];

/// What can be done with a file, for `epoll` and `poll` alike.
const READABLE: u64 = 1;
const WRITABLE: u64 = 4;
const HUNG_UP: u64 = 0x10;
const INVALID: u64 = 0x20;

/// Descriptors that can be watched.
const DESCRIPTORS: std::ops::Range<u64> = 3..67;
/// An event of `epoll`: what happened, and what the program has attached, in packed form.
const EVENT_BYTES: u64 = 12;
const ATTACHED: u64 = 4;

impl File {
    /// Of what `epoll_create` made: how a descriptor is watched, plus 1; and what the program has attached.
    fn interest(self, descriptor: u64) -> u64 {
        self.byte(16 * descriptor)
    }
}

// ---- events

/// `(first count, flags)`.
fn make_event(cx: &mut Script<'_, '_>) -> ModelResult {
    const ONE_BY_ONE: u64 = 1;
    if cx.asks() {
        return Err(cx.refuse_files());
    }
    let (count, flags) = (cx.arg(0) & 0xFFFF_FFFF, cx.arg(1));
    let event = cx.new_file("event", EVENT)?;
    cx.store(event.written(), 8, count, Order::Relaxed)?;
    cx.store(event.taken(), 8, flags & ONE_BY_ONE, Order::Relaxed)?;
    let descriptor = cx.new_descriptor(event, READ_WRITE | flags & DOES_NOT_WAIT)?;
    int(descriptor as i32)
}

/// `(descriptor, count)`.
fn read_count(cx: &mut Script<'_, '_>) -> ModelResult {
    let bytes = cx.read_file(cx.arg(0), 8)?;
    match bytes {
        Ok(bytes) => {
            cx.put_bytes(cx.arg(1), &bytes)?;
            int(0)
        }
        Err(error) => cx.fail(error),
    }
}

fn write_count(cx: &mut Script<'_, '_>) -> ModelResult {
    match cx.write_file(cx.arg(0), &cx.arg(1).to_le_bytes())? {
        Moved::Bytes(_) => int(0),
        Moved::Failed(error) => cx.fail(error),
    }
}

impl Script<'_, '_> {
    /// With the lock in hand: what the event counts, or one of it.
    pub(super) fn read_event(
        &mut self,
        event: File,
        (flags, len): (u64, u64),
    ) -> Result<Result<Vec<u8>, u64>, Pause> {
        if len < 8 {
            return Ok(Err(EINVAL));
        }
        let count = loop {
            match self.load(event.written(), 8, Order::Relaxed)? {
                0 if flags & DOES_NOT_WAIT != 0 => return Ok(Err(EAGAIN)),
                0 => self.wait_for_change(event)?,
                count => break count,
            }
        };
        let read = match self.load(event.taken(), 8, Order::Relaxed)? {
            0 => count,
            _ => 1,
        };
        self.store(event.written(), 8, count.wrapping_sub(read), Order::Relaxed)?;
        Ok(Ok(read.to_le_bytes().to_vec()))
    }

    /// With the lock in hand: adds to what the event counts.
    pub(super) fn write_event(&mut self, event: File, bytes: &[u8]) -> Result<Moved, Pause> {
        let Ok(added) = <[u8; 8]>::try_from(bytes) else {
            return Ok(Moved::Failed(EINVAL));
        };
        let added = u64::from_le_bytes(added);
        let count = self.load(event.written(), 8, Order::Relaxed)?;
        let Some(sum) = count.checked_add(added).filter(|&sum| sum < u64::MAX) else {
            return Err(self.unsupported("an event that counts so far"));
        };
        self.store(event.written(), 8, sum, Order::Relaxed)?;
        self.sync(event.changed(), SyncAction::Broadcast)?;
        Ok(Moved::Bytes(8))
    }

    // ---- who is told

    /// Does the program watch files?
    fn watches(&self) -> bool {
        let module = &self.machine.world.module;
        module.function_named("epoll_ctl").is_some()
    }

    /// Something has happened to a file that may be watched. Its lock is free.
    pub(super) fn tell_watcher(&mut self, file: File) -> Result<(), Pause> {
        if !self.watches() {
            return Ok(());
        }
        self.sync(file.kind(), LOCK)?;
        let watcher = self.load(file.watched_by(), 8, Order::Relaxed)?;
        self.sync(file.kind(), UNLOCK)?;
        if watcher != 0 {
            let watcher = File(watcher);
            self.sync(watcher.kind(), LOCK)?;
            self.sync(watcher.changed(), SyncAction::Broadcast)?;
            self.sync(watcher.kind(), UNLOCK)?;
        }
        Ok(())
    }

    /// A descriptor is closed: it is not watched any more.
    pub(super) fn forget_watched(&mut self, file: File, descriptor: u64) -> Result<(), Pause> {
        if !self.watches() {
            return Ok(());
        }
        self.sync(file.kind(), LOCK)?;
        let watcher = self.load(file.watched_by(), 8, Order::Relaxed)?;
        self.sync(file.kind(), UNLOCK)?;
        if watcher != 0 {
            let watcher = File(watcher);
            self.sync(watcher.kind(), LOCK)?;
            let place = watcher.interest(descriptor & 0xFFFF_FFFF);
            if self.load(place, 8, Order::Relaxed)? != 0 {
                self.store(place, 8, 0, Order::Relaxed)?;
            }
            self.sync(watcher.kind(), UNLOCK)?;
        }
        Ok(())
    }

    /// What can be done with a file now. Its lock is free.
    fn state_of(&mut self, file: File, flags: u64) -> Result<u64, Pause> {
        self.sync(file.kind(), LOCK)?;
        let kind = self.load(file.kind(), 8, Order::Relaxed)?;
        let written = self.load(file.written(), 8, Order::Relaxed)?;
        let state = match kind {
            EVENT => (READABLE * u64::from(written > 0)) | WRITABLE,
            PIPE if flags & (super::files::WRITE_ONLY | READ_WRITE) != 0 => WRITABLE,
            PIPE => {
                let taken = self.load(file.taken(), 8, Order::Relaxed)?;
                let has_ended = self.load(file.writers(), 8, Order::Relaxed)? == 0;
                (READABLE * u64::from(written > taken)) | (HUNG_UP * u64::from(has_ended))
            }
            EPOLL => return Err(self.unsupported("waiting for what epoll_create made")),
            _ => READABLE | WRITABLE,
        };
        self.sync(file.kind(), UNLOCK)?;
        Ok(state)
    }
}

// ---- epoll

/// `(flags)`, or how many descriptors there will be.
fn make_epoll(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.asks() {
        return Err(cx.refuse_files());
    }
    let epoll = cx.new_file("epoll", EPOLL)?;
    let descriptor = cx.new_descriptor(epoll, READ_WRITE)?;
    int(descriptor as i32)
}

impl Script<'_, '_> {
    fn epoll_at(&mut self, descriptor: u64) -> Result<Result<File, u64>, Pause> {
        if self.asks() {
            return Err(self.refuse_files());
        }
        let Some((_, epoll, _)) = self.opened(descriptor)? else {
            return Ok(Err(EBADF));
        };
        Ok(match self.load(epoll.kind(), 8, Order::Relaxed)? {
            EPOLL => Ok(epoll),
            _ => Err(EINVAL),
        })
    }

    fn watch(&mut self, file: File, epoll: File) -> Result<(), Pause> {
        self.sync(file.kind(), LOCK)?;
        let watcher = self.load(file.watched_by(), 8, Order::Relaxed)?;
        if watcher != 0 && watcher != epoll.0 {
            return Err(self.unsupported("a file that several instances of epoll watch"));
        }
        self.store(file.watched_by(), 8, epoll.0, Order::Relaxed)?;
        self.sync(file.kind(), UNLOCK)?;
        Ok(())
    }
}

/// `(epoll, what, descriptor, event)`.
fn control(cx: &mut Script<'_, '_>) -> ModelResult {
    const ADD: u64 = 1;
    const DELETE: u64 = 2;
    const CHANGE: u64 = 3;
    const KNOWN: u64 = READABLE | WRITABLE | HUNG_UP | 8 | 2 | 0x2000;
    let epoll = match cx.epoll_at(cx.arg(0))? {
        Ok(epoll) => epoll,
        Err(error) => return cx.fail(error),
    };
    let (what, descriptor) = (cx.arg(1) & 0xFFFF_FFFF, cx.arg(2) & 0xFFFF_FFFF);
    let Some((_, file, _)) = cx.opened(descriptor)? else {
        return cx.fail(EBADF);
    };
    if what != DELETE {
        let asked = cx.load(cx.arg(3), 4, Order::Plain)?;
        if asked & !KNOWN != 0 {
            return Err(cx.unsupported("epoll events of this kind (edges, one shot)"));
        }
        cx.watch(file, epoll)?;
    }
    cx.sync(epoll.kind(), LOCK)?;
    let place = epoll.interest(descriptor);
    let is_watched = cx.load(place, 8, Order::Relaxed)? != 0;
    let error = match (what, is_watched) {
        (ADD, true) => Some(EEXIST),
        (DELETE | CHANGE, false) => Some(ENOENT),
        (ADD | CHANGE, _) => {
            let asked = cx.load(cx.arg(3), 4, Order::Plain)?;
            let attached = cx.load(cx.arg(3).wrapping_add(ATTACHED), 8, Order::Plain)?;
            cx.store(place, 8, asked + 1, Order::Relaxed)?;
            cx.store(place + 8, 8, attached, Order::Relaxed)?;
            cx.sync(epoll.changed(), SyncAction::Broadcast)?;
            None
        }
        (DELETE, true) => {
            cx.store(place, 8, 0, Order::Relaxed)?;
            None
        }
        _ => Some(EINVAL),
    };
    cx.sync(epoll.kind(), UNLOCK)?;
    match error {
        Some(error) => cx.fail(error),
        None => int(0),
    }
}

/// `(epoll, events, how many, milliseconds, …)`. Whoever would give up after a while looks once: being told later is the same as looking later.
fn wait(cx: &mut Script<'_, '_>) -> ModelResult {
    let epoll = match cx.epoll_at(cx.arg(0))? {
        Ok(epoll) => epoll,
        Err(error) => return cx.fail(error),
    };
    let (events, most, timeout) = (cx.arg(1), cx.arg_i32(2), cx.arg_i32(3));
    let Some(most) = u64::try_from(most).ok().filter(|&most| most > 0) else {
        return cx.fail(EINVAL);
    };
    cx.sync(epoll.kind(), LOCK)?;
    let ready = loop {
        let ready = cx.ready(epoll, most)?;
        if !ready.is_empty() || timeout >= 0 {
            break ready;
        }
        cx.wait_for_change(epoll)?;
    };
    cx.sync(epoll.kind(), UNLOCK)?;
    for (index, &(what, attached)) in (0..).zip(&ready) {
        let event = events.wrapping_add(EVENT_BYTES * index);
        cx.store(event, 4, what, Order::Plain)?;
        cx.store(event.wrapping_add(ATTACHED), 8, attached, Order::Plain)?;
    }
    if ready.is_empty() {
        cx.sleep_milliseconds(timeout)?;
    }
    int(ready.len() as i32)
}

impl Script<'_, '_> {
    /// With the lock of what `epoll_create` made in hand: what happened, and what the program has attached to it.
    fn ready(&mut self, epoll: File, most: u64) -> Result<Vec<(u64, u64)>, Pause> {
        let mut ready = Vec::new();
        for descriptor in DESCRIPTORS {
            let place = epoll.interest(descriptor);
            let asked = match self.load(place, 8, Order::Relaxed)? {
                0 => continue,
                asked => (asked - 1) | HUNG_UP,
            };
            let Some((_, file, flags)) = self.opened(descriptor)? else {
                continue;
            };
            let state = self.state_of(file, flags)? & asked;
            if state != 0 {
                let attached = self.load(place + 8, 8, Order::Relaxed)?;
                ready.push((state, attached));
                if ready.len() as u64 == most {
                    break;
                }
            }
        }
        Ok(ready)
    }

    fn sleep_milliseconds(&mut self, milliseconds: i32) -> Result<(), Pause> {
        match u64::try_from(milliseconds) {
            Ok(milliseconds) if milliseconds > 0 => {
                self.sleep(milliseconds.saturating_mul(1_000_000))
            }
            _ => Ok(()),
        }
    }
}

// ---- poll, and the rest

/// `(list, how many, milliseconds)`. Nothing ever happens to the standard streams. Who waits for good does so for one file.
fn poll(cx: &mut Script<'_, '_>) -> ModelResult {
    const ENTRY: u64 = 8;
    let (list, count, timeout) = (cx.arg(0), cx.arg(1), cx.arg_i32(2));
    let mut files = Vec::new();
    let mut found = 0;
    for index in 0..count {
        let entry = list.wrapping_add(ENTRY * index);
        let descriptor = cx.load(entry, 4, Order::Plain)?;
        let is_file = (descriptor as u32).cast_signed() >= 3;
        let mut state = 0;
        if is_file {
            if cx.asks() {
                return Err(cx.refuse_files());
            }
            let asked = cx.load(entry.wrapping_add(4), 2, Order::Plain)?;
            match cx.opened(descriptor)? {
                Some((_, file, flags)) => {
                    state = cx.state_of(file, flags)? & (asked | HUNG_UP);
                    files.push((entry, file, (flags, asked)));
                }
                None => state = INVALID,
            }
        }
        found += i32::from(state != 0);
        cx.store(entry.wrapping_add(6), 2, state, Order::Plain)?;
    }
    if found > 0 || timeout >= 0 {
        if found == 0 {
            cx.sleep_milliseconds(timeout)?;
        }
        return int(found);
    }
    let [(entry, file, (flags, asked))] = files[..] else {
        return Err(cx.unsupported("poll without a timeout for other than one file"));
    };
    loop {
        let state = cx.state_of(file, flags)? & (asked | HUNG_UP);
        if state != 0 {
            cx.store(entry.wrapping_add(6), 2, state, Order::Plain)?;
            return int(1);
        }
        cx.wait_for_more(file)?;
    }
}

impl Script<'_, '_> {
    /// Waits until something can be read from a file which is a pipe or an event.
    fn wait_for_more(&mut self, file: File) -> Result<(), Pause> {
        self.sync(file.kind(), LOCK)?;
        loop {
            let is_pipe = self.load(file.kind(), 8, Order::Relaxed)? == PIPE;
            let written = self.load(file.written(), 8, Order::Relaxed)?;
            let taken = match is_pipe {
                true => self.load(file.taken(), 8, Order::Relaxed)?,
                false => 0,
            };
            let has_ended = is_pipe && self.load(file.writers(), 8, Order::Relaxed)? == 0;
            if written > taken || has_ended {
                break;
            }
            self.wait_for_change(file)?;
        }
        self.sync(file.kind(), UNLOCK)?;
        Ok(())
    }
}

/// `(descriptor, what, argument)`: whether operations wait; what is kept when a process becomes another one is no matter.
fn control_file(cx: &mut Script<'_, '_>) -> ModelResult {
    const GET_KEPT: u64 = 1;
    const SET_KEPT: u64 = 2;
    const GET_FLAGS: u64 = 3;
    const SET_FLAGS: u64 = 4;
    let what = cx.arg(1) & 0xFFFF_FFFF;
    // Nothing becomes of what is done with a standard stream.
    if cx.arg(0) & 0xFFFF_FFFF < DESCRIPTORS.start && what <= SET_FLAGS {
        return int(0);
    }
    if cx.asks() {
        return Err(cx.refuse_files());
    }
    let Some((descriptor, _, flags)) = cx.opened(cx.arg(0))? else {
        return cx.fail(EBADF);
    };
    match what {
        GET_KEPT | SET_KEPT => int(0),
        GET_FLAGS => int(flags as i32),
        SET_FLAGS => {
            let set = flags & !DOES_NOT_WAIT | cx.arg(2) & DOES_NOT_WAIT;
            cx.store(descriptor.flags(), 8, set.wrapping_add(1), Order::Relaxed)?;
            int(0)
        }
        _ => Err(cx.unsupported("fcntl of this kind")),
    }
}

/// `(descriptor, what, argument)`.
fn control_device(cx: &mut Script<'_, '_>) -> ModelResult {
    const NOT_KEPT: u64 = 0x5451;
    const KEPT: u64 = 0x5450;
    const SET_WAITING: u64 = 0x5421;
    if cx.asks() {
        return Err(cx.refuse_files());
    }
    let Some((descriptor, _, flags)) = cx.opened(cx.arg(0))? else {
        return cx.fail(EBADF);
    };
    match cx.arg(1) & 0xFFFF_FFFF {
        NOT_KEPT | KEPT => int(0),
        SET_WAITING => {
            let set = match cx.load(cx.arg(2), 4, Order::Plain)? {
                0 => flags & !DOES_NOT_WAIT,
                _ => flags | DOES_NOT_WAIT,
            };
            cx.store(descriptor.flags(), 8, set.wrapping_add(1), Order::Relaxed)?;
            int(0)
        }
        _ => Err(cx.unsupported("ioctl of this kind")),
    }
}

/// `(of what, limits)`: there are none.
fn limits(cx: &mut Script<'_, '_>) -> ModelResult {
    const NONE: u64 = u64::MAX;
    cx.store(cx.arg(1), 8, NONE, Order::Plain)?;
    cx.store(cx.arg(1).wrapping_add(8), 8, NONE, Order::Plain)?;
    Ok(Outcome::Return(0))
}
