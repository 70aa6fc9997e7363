//! Files in memory, on a disk that is empty at first, and pipes. ([`super::events`]: who waits for several of them.)
//!
//! A file is known by a hash of its path, which is taken as it is: there are no directories. Its contents, and the bytes under way in a pipe, lie in an object that has a
//! lock of its own, taken by whoever reads or writes. So those who use the same file are ordered, as by the kernel's locks; users of different files are not.
//! Engines that predict what a thread could read may have it read what does not fit together, so no number that was read is relied on.
//! Descriptors are never given out twice: whoever uses a closed one is told so (`EBADF`), whatever was opened since.

use super::errno::{EAGAIN, EBADF, EEXIST, EINVAL, ENOENT, ESPIPE, int};
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::names::hash_text;
use crate::op::{MutexKind, Order, RmwKind, SyncAction};

pub(super) const MODELS: &[Model] = &[
    model("open", open),
    model("open64", open),
    model("openat", open_at),
    model("openat64", open_at),
    model("creat", create),
    model("close", close),
    model("read", read),
    model("write", write),
    model("lseek", seek),
    model("lseek64", seek),
    model("pipe", pipe),
    model("pipe2", pipe_with_flags),
    model("unlink", remove),
    model("remove", remove),
    model("access", access),
];

/// How long a file may be, and how much may be under way in a pipe.
const MOST_BYTES: u64 = 4096;
const MOST_DESCRIPTORS: u64 = 64;
/// The first number that is no standard stream's.
const FIRST: u64 = 3;

/// Flags of `open`.
pub(super) const WRITE_ONLY: u64 = 1;
pub(super) const READ_WRITE: u64 = 2;
pub(super) const CREATE: u64 = 0o100;
const EXCLUSIVE: u64 = 0o200;
pub(super) const TRUNCATE: u64 = 0o1000;
pub(super) const APPEND: u64 = 0o2000;
/// Who would have to wait fails instead.
pub(super) const DOES_NOT_WAIT: u64 = 0o4000;

/// Of descriptors that read random numbers: zeros ([`Script::random_bytes`]). Who asks the system for them has this as a last way.
const RANDOM: u64 = 1 << 40;

fn is_random(path: &str) -> bool {
    matches!(path, "/dev/random" | "/dev/urandom")
}

pub(super) const LOCK: SyncAction = SyncAction::Lock {
    kind: Some(MutexKind::Normal),
};
pub(super) const UNLOCK: SyncAction = SyncAction::Unlock {
    kind: Some(MutexKind::Normal),
};

/// A file or a pipe, by its address. What is in it is only touched with its lock in hand.
#[derive(Clone, Copy)]
pub(super) struct File(pub(super) u64);

impl File {
    /// 0: not there, or what it is. The lock is there, too.
    pub(super) fn kind(self) -> u64 {
        self.0
    }

    /// The condition variable of those who wait for bytes.
    pub(super) fn changed(self) -> u64 {
        self.0 + 8
    }

    /// Its size; in a pipe how many bytes were ever written; what an event counts.
    pub(super) fn written(self) -> u64 {
        self.0 + 16
    }

    /// In a pipe: how many bytes were ever read. Of an event: is it read one by one?
    pub(super) fn taken(self) -> u64 {
        self.0 + 24
    }

    fn readers(self) -> u64 {
        self.0 + 32
    }

    pub(super) fn writers(self) -> u64 {
        self.0 + 40
    }

    /// Who is to be told when something can be read: 0, or what `epoll_create` made.
    pub(super) fn watched_by(self) -> u64 {
        self.0 + 48
    }

    pub(super) fn byte(self, at: u64) -> u64 {
        self.0 + HEADER + at % MOST_BYTES
    }
}

const HEADER: u64 = 56;
const FILE: u64 = 1;
pub(super) const PIPE: u64 = 2;
/// What `eventfd` and `epoll_create` make.
pub(super) const EVENT: u64 = 3;
pub(super) const EPOLL: u64 = 4;

/// An open file, by the address of what is known of it: the file, the position, and how it was opened, plus 1.
#[derive(Clone, Copy)]
pub(super) struct Descriptor(u64);

impl Descriptor {
    fn position(self) -> u64 {
        self.0 + 8
    }

    pub(super) fn flags(self) -> u64 {
        self.0 + 16
    }
}

/// What a write comes to.
pub(super) enum Moved {
    Bytes(u64),
    /// An error number.
    Failed(u64),
}

/// `(path, flags, mode)`.
fn open(cx: &mut Script<'_, '_>) -> ModelResult {
    open_with(cx, 0, None)
}

/// `(directory, path, flags, mode)`.
fn open_at(cx: &mut Script<'_, '_>) -> ModelResult {
    open_with(cx, 1, None)
}

fn create(cx: &mut Script<'_, '_>) -> ModelResult {
    open_with(cx, 0, Some(CREATE | TRUNCATE | WRITE_ONLY))
}

fn open_with(cx: &mut Script<'_, '_>, path: usize, flags: Option<u64>) -> ModelResult {
    let flags = flags.unwrap_or_else(|| cx.arg(path + 1) & 0xFFFF_FFFF);
    if cx.asks() && flags & CREATE != 0 {
        return Err(cx.refuse_files());
    }
    let path = cx.text(cx.arg(path))?;
    if cx.asks() {
        return match is_random(&path) {
            false => cx.fail(ENOENT),
            true => Err(cx.refuse_files()),
        };
    }
    match cx.open_file(&path, flags)? {
        Ok(descriptor) => int(descriptor as i32),
        Err(error) => cx.fail(error),
    }
}

fn close(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.asks() || cx.arg(0) & 0xFFFF_FFFF < FIRST {
        return int(0);
    }
    match cx.close_file(cx.arg(0))? {
        true => int(0),
        false => cx.fail(EBADF),
    }
}

/// `(descriptor, buffer, length)`.
fn read(cx: &mut Script<'_, '_>) -> ModelResult {
    let (to, len) = (cx.arg(1), cx.arg(2));
    let moved = match cx.read_file(cx.arg(0), len)? {
        Ok(bytes) => {
            cx.put_bytes(to, &bytes)?;
            Moved::Bytes(bytes.len() as u64)
        }
        Err(error) => Moved::Failed(error),
    };
    cx.moved(&moved)
}

fn write(cx: &mut Script<'_, '_>) -> ModelResult {
    let (descriptor, from, len) = (cx.arg(0), cx.arg(1), cx.arg(2));
    let mut bytes = Vec::new();
    for at in 0..len {
        bytes.push(cx.byte(from.wrapping_add(at))?);
    }
    let moved = cx.write_file(descriptor, &bytes)?;
    cx.moved(&moved)
}

/// `(descriptor, offset, from where)`.
fn seek(cx: &mut Script<'_, '_>) -> ModelResult {
    match cx.seek_file(cx.arg(0), cx.arg(1), cx.arg(2))? {
        Moved::Bytes(position) => Ok(Outcome::Return(position)),
        Moved::Failed(error) => {
            cx.set_errno(error)?;
            Ok(Outcome::Return(u64::MAX))
        }
    }
}

fn pipe(cx: &mut Script<'_, '_>) -> ModelResult {
    make_pipe(cx, 0)
}

/// `(two descriptors, flags)`.
fn pipe_with_flags(cx: &mut Script<'_, '_>) -> ModelResult {
    make_pipe(cx, cx.arg(1) & DOES_NOT_WAIT)
}

fn make_pipe(cx: &mut Script<'_, '_>, flags: u64) -> ModelResult {
    if cx.asks() {
        return Err(cx.refuse_files());
    }
    let pipe = cx.new_file("pipe", PIPE)?;
    let reads = cx.new_descriptor(pipe, flags)?;
    let writes = cx.new_descriptor(pipe, WRITE_ONLY | flags)?;
    cx.store(cx.arg(0), 4, reads, Order::Plain)?;
    cx.store(cx.arg(0).wrapping_add(4), 4, writes, Order::Plain)?;
    int(0)
}

fn remove(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.asks() {
        return cx.fail(ENOENT);
    }
    let file = cx.file_at(cx.arg(0))?;
    cx.sync(file.kind(), LOCK)?;
    let kind = cx.load(file.kind(), 8, Order::Relaxed)?;
    if kind != 0 {
        if cx.load(file.readers(), 8, Order::Relaxed)? != 0 {
            return Err(cx.unsupported("removing a file that is open"));
        }
        cx.store(file.kind(), 8, 0, Order::Relaxed)?;
    }
    cx.sync(file.kind(), UNLOCK)?;
    match kind {
        0 => cx.fail(ENOENT),
        _ => int(0),
    }
}

fn access(cx: &mut Script<'_, '_>) -> ModelResult {
    if cx.asks() {
        return cx.fail(ENOENT);
    }
    let file = cx.file_at(cx.arg(0))?;
    match cx.load(file.kind(), 8, Order::Relaxed)? {
        0 => cx.fail(ENOENT),
        _ => int(0),
    }
}

impl Script<'_, '_> {
    pub(super) fn refuse_files(&self) -> Pause {
        self.unsupported("files are for engines that explore executions")
    }

    /// A new pipe, or something like it.
    pub(super) fn new_file(&mut self, name: &str, kind: u64) -> Result<File, Pause> {
        let count = self.library_object(&format!("number of {name}s"), 0, 8)?;
        let number = self.rmw(count, 8, RmwKind::Add, 1, Order::Relaxed)?;
        let file = File(self.library_object(name, number, HEADER + MOST_BYTES)?);
        self.store(file.kind(), 8, kind, Order::Relaxed)?;
        self.store(file.readers(), 8, 1, Order::Relaxed)?;
        self.store(file.writers(), 8, 1, Order::Relaxed)?;
        Ok(file)
    }

    fn library_object(&mut self, name: &str, number: u64, size: u64) -> Result<u64, Pause> {
        let tables = self.tables();
        let object = tables.library_object(name, number, size)?;
        Ok(tables.address(object, 0))
    }

    fn file_at(&mut self, path: u64) -> Result<File, Pause> {
        let path = self.text(path)?;
        self.file_of(&path)
    }

    fn file_of(&mut self, path: &str) -> Result<File, Pause> {
        let file = self.library_object("file", hash_text(path), HEADER + MOST_BYTES)?;
        Ok(File(file))
    }

    /// A descriptor, or an error number.
    pub(super) fn open_file(&mut self, path: &str, flags: u64) -> Result<Result<u64, u64>, Pause> {
        let file = self.file_of(path)?;
        if is_random(path) {
            return self.new_descriptor(file, flags | RANDOM).map(Ok);
        }
        self.sync(file.kind(), LOCK)?;
        let is_there = self.load(file.kind(), 8, Order::Relaxed)? != 0;
        let error = match (is_there, flags & CREATE != 0) {
            (false, false) => Some(ENOENT),
            (true, true) if flags & EXCLUSIVE != 0 => Some(EEXIST),
            _ => None,
        };
        if error.is_none() {
            self.store(file.kind(), 8, FILE, Order::Relaxed)?;
            if !is_there || flags & TRUNCATE != 0 {
                self.store(file.written(), 8, 0, Order::Relaxed)?;
            }
            self.rmw(file.readers(), 8, RmwKind::Add, 1, Order::Relaxed)?;
        }
        self.sync(file.kind(), UNLOCK)?;
        match error {
            Some(error) => Ok(Err(error)),
            None => self.new_descriptor(file, flags).map(Ok),
        }
    }

    pub(super) fn new_descriptor(&mut self, file: File, flags: u64) -> Result<u64, Pause> {
        let count = self.library_object("number of open files", 0, 8)?;
        let made = self.rmw(count, 8, RmwKind::Add, 1, Order::Relaxed)?;
        let number = FIRST.saturating_add(made);
        if number >= FIRST + MOST_DESCRIPTORS {
            return Err(self.unsupported("so many open files"));
        }
        let descriptor = self.descriptor(number)?;
        self.store(descriptor.position(), 8, 0, Order::Relaxed)?;
        self.store(descriptor.flags(), 8, flags + 1, Order::Relaxed)?;
        self.store(descriptor.0, 8, file.0, Order::Release)?;
        Ok(number)
    }

    fn descriptor(&mut self, number: u64) -> Result<Descriptor, Pause> {
        Ok(Descriptor(self.library_object("open file", number, 24)?))
    }

    /// What a number stands for, and how it was opened.
    pub(super) fn opened(&mut self, number: u64) -> Result<Option<(Descriptor, File, u64)>, Pause> {
        let number = number & 0xFFFF_FFFF;
        if !(FIRST..FIRST + MOST_DESCRIPTORS).contains(&number) {
            return Ok(None);
        }
        let descriptor = self.descriptor(number)?;
        // Who knows the number sees what was opened, whichever way it was told.
        match self.load(descriptor.0, 8, Order::Acquire)? {
            0 => Ok(None),
            file => {
                let flags = self.load(descriptor.flags(), 8, Order::Relaxed)?;
                let flags = flags.wrapping_sub(1);
                Ok(Some((descriptor, File(file), flags)))
            }
        }
    }

    /// Was it open?
    pub(super) fn close_file(&mut self, number: u64) -> Result<bool, Pause> {
        let Some((descriptor, file, flags)) = self.opened(number)? else {
            return Ok(false);
        };
        if self.rmw(descriptor.0, 8, RmwKind::Exchange, 0, Order::Relaxed)? == 0 {
            return Ok(false);
        }
        self.sync(file.kind(), LOCK)?;
        let is_pipe = self.load(file.kind(), 8, Order::Relaxed)? == PIPE;
        let users = match is_pipe && flags & WRITE_ONLY != 0 {
            true => file.writers(),
            false => file.readers(),
        };
        self.rmw(users, 8, RmwKind::Sub, 1, Order::Relaxed)?;
        if is_pipe {
            self.sync(file.changed(), SyncAction::Broadcast)?;
        }
        self.sync(file.kind(), UNLOCK)?;
        self.forget_watched(file, number)?;
        self.tell_watcher(file)?;
        Ok(true)
    }

    pub(super) fn put_bytes(&mut self, to: u64, bytes: &[u8]) -> Result<(), Pause> {
        for (at, &byte) in (0..).zip(bytes) {
            self.put_byte(to.wrapping_add(at), byte)?;
        }
        Ok(())
    }

    /// Up to `len` bytes, or an error number. If there are none in a pipe, they are waited for as long as somebody can write to it.
    pub(super) fn read_file(
        &mut self,
        number: u64,
        len: u64,
    ) -> Result<Result<Vec<u8>, u64>, Pause> {
        // Standard input is at its end.
        if number & 0xFFFF_FFFF == 0 {
            return Ok(Ok(Vec::new()));
        }
        if self.asks() {
            return Err(self.refuse_files());
        }
        let Some((descriptor, file, flags)) = self.opened(number)? else {
            return Ok(Err(EBADF));
        };
        if flags & (WRITE_ONLY | READ_WRITE) == WRITE_ONLY {
            return Ok(Err(EBADF));
        }
        if flags & RANDOM != 0 {
            return Ok(Ok(vec![0; len.min(MOST_BYTES) as usize]));
        }
        self.sync(file.kind(), LOCK)?;
        let kind = self.load(file.kind(), 8, Order::Relaxed)?;
        let bytes = match kind {
            EPOLL => Err(EINVAL),
            EVENT => self.read_event(file, (flags, len))?,
            _ => {
                let at = match kind {
                    PIPE => file.taken(),
                    _ => descriptor.position(),
                };
                self.read_bytes((file, kind == PIPE), at, (flags, len))?
            }
        };
        self.sync(file.kind(), UNLOCK)?;
        Ok(bytes)
    }

    /// With the lock in hand: bytes from the position at an address.
    fn read_bytes(
        &mut self,
        (file, is_pipe): (File, bool),
        at: u64,
        (flags, len): (u64, u64),
    ) -> Result<Result<Vec<u8>, u64>, Pause> {
        let (from, count) = loop {
            let from = self.load(at, 8, Order::Relaxed)?;
            let there = self
                .load(file.written(), 8, Order::Relaxed)?
                .saturating_sub(from);
            let waits = is_pipe && there == 0 && len > 0;
            if !waits || self.load(file.writers(), 8, Order::Relaxed)? == 0 {
                break (from, there.min(len).min(MOST_BYTES));
            }
            if flags & DOES_NOT_WAIT != 0 {
                return Ok(Err(EAGAIN));
            }
            self.wait_for_change(file)?;
        };
        let mut bytes = Vec::new();
        for index in 0..count {
            bytes.push(self.load(file.byte(from.wrapping_add(index)), 1, Order::Relaxed)? as u8);
        }
        self.store(at, 8, from.wrapping_add(count), Order::Relaxed)?;
        Ok(Ok(bytes))
    }

    /// Gives the lock of a file away until it has changed.
    pub(super) fn wait_for_change(&mut self, file: File) -> Result<(), Pause> {
        let mutex = self.cell(file.kind())?;
        self.sync(file.changed(), SyncAction::CondRelease { mutex })?;
        self.sync(file.changed(), SyncAction::CondAwait)?;
        self.sync(file.kind(), LOCK)?;
        Ok(())
    }

    pub(super) fn write_file(&mut self, number: u64, bytes: &[u8]) -> Result<Moved, Pause> {
        if matches!(number & 0xFFFF_FFFF, 1 | 2) {
            self.print(&String::from_utf8_lossy(bytes))?;
            return Ok(Moved::Bytes(bytes.len() as u64));
        }
        if self.asks() {
            return Err(self.refuse_files());
        }
        let Some((descriptor, file, flags)) = self.opened(number)? else {
            return Ok(Moved::Failed(EBADF));
        };
        if flags & (WRITE_ONLY | READ_WRITE) == 0 {
            return Ok(Moved::Failed(EBADF));
        }
        self.sync(file.kind(), LOCK)?;
        let kind = self.load(file.kind(), 8, Order::Relaxed)?;
        if kind == EVENT {
            let moved = self.write_event(file, bytes)?;
            self.sync(file.kind(), UNLOCK)?;
            self.tell_watcher(file)?;
            return Ok(moved);
        }
        let is_pipe = kind == PIPE;
        let written = self.load(file.written(), 8, Order::Relaxed)?;
        let (from, kept_from) = if is_pipe {
            if self.load(file.readers(), 8, Order::Relaxed)? == 0 {
                return Err(self.unsupported("writing to a pipe that nobody can read (SIGPIPE)"));
            }
            (written, self.load(file.taken(), 8, Order::Relaxed)?)
        } else if flags & APPEND != 0 {
            (written, 0)
        } else {
            (self.load(descriptor.position(), 8, Order::Relaxed)?, 0)
        };
        let end = from.saturating_add(bytes.len() as u64);
        if end.saturating_sub(kept_from) > MOST_BYTES || from > written {
            return Err(self.unsupported("files with holes or of more than 4096 bytes"));
        }
        for (index, &byte) in (0..).zip(bytes) {
            self.store(
                file.byte(from.wrapping_add(index)),
                1,
                byte.into(),
                Order::Relaxed,
            )?;
        }
        self.store(file.written(), 8, end.max(written), Order::Relaxed)?;
        if is_pipe {
            self.sync(file.changed(), SyncAction::Broadcast)?;
        } else {
            self.store(descriptor.position(), 8, end, Order::Relaxed)?;
        }
        self.sync(file.kind(), UNLOCK)?;
        if is_pipe {
            self.tell_watcher(file)?;
        }
        Ok(Moved::Bytes(bytes.len() as u64))
    }

    pub(super) fn seek_file(&mut self, number: u64, by: u64, from: u64) -> Result<Moved, Pause> {
        if self.asks() {
            return Err(self.refuse_files());
        }
        let Some((descriptor, file, _)) = self.opened(number)? else {
            return Ok(Moved::Failed(EBADF));
        };
        if self.load(file.kind(), 8, Order::Relaxed)? == PIPE {
            return Ok(Moved::Failed(ESPIPE));
        }
        let base = match from & 0xFFFF_FFFF {
            0 => 0,
            1 => self.load(descriptor.position(), 8, Order::Relaxed)?,
            _ => self.load(file.written(), 8, Order::Relaxed)?,
        };
        let position = base.wrapping_add(by);
        self.store(descriptor.position(), 8, position, Order::Relaxed)?;
        Ok(Moved::Bytes(position))
    }

    fn moved(&mut self, moved: &Moved) -> ModelResult {
        match *moved {
            Moved::Bytes(count) => Ok(Outcome::Return(count)),
            Moved::Failed(error) => {
                self.set_errno(error)?;
                Ok(Outcome::Return(u64::MAX))
            }
        }
    }
}
