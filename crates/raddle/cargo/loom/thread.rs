//! Threads. A model ends when all of them have, also those whose handles are gone.

use std::io;
use std::sync::{Mutex, PoisonError};

pub use std::thread::{
    AccessError, LocalKey, Result, Thread, ThreadId, current, panicking, park, park_timeout,
    sleep, yield_now,
};

type Rest = Vec<Box<dyn FnOnce() + Send>>;

/// What is left to join when a model ends.
static REST: Mutex<Rest> = Mutex::new(Vec::new());

fn rest() -> std::sync::MutexGuard<'static, Rest> {
    REST.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn join_the_rest() {
    loop {
        let Some(join) = rest().pop() else {
            return;
        };
        join();
    }
}

/// loom's threads take turns, so it lets them share what real threads must not. Here this is a race where it matters, and Raddle says so.
struct Shared<T>(T);

// SAFETY: see above.
unsafe impl<T> Send for Shared<T> {}

impl<F> Shared<F> {
    fn into_inner(self) -> F {
        self.0
    }
}

type Handle<T> = std::thread::JoinHandle<Shared<T>>;

pub struct JoinHandle<T> {
    /// Present until it is joined.
    handle: Option<Handle<T>>,
    /// What becomes of it if nobody joins it.
    keep: fn(Handle<T>),
}

fn keep<T: 'static>(handle: Handle<T>) {
    let join = move || {
        if handle.join().is_err() {
            panic!("a thread that nobody joined has panicked");
        }
    };
    rest().push(Box::new(join));
}

impl<T> JoinHandle<T> {
    fn handle(&self) -> &Handle<T> {
        self.handle.as_ref().expect("only `join` takes it")
    }

    pub fn join(mut self) -> Result<T> {
        let handle = self.handle.take().expect("it is joined once");
        handle.join().map(Shared::into_inner)
    }

    pub fn thread(&self) -> &Thread {
        self.handle().thread()
    }

    pub fn is_finished(&self) -> bool {
        self.handle().is_finished()
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            (self.keep)(handle);
        }
    }
}

impl<T> std::fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    let f = Shared(f);
    JoinHandle {
        handle: Some(std::thread::spawn(move || Shared(f.into_inner()()))),
        keep: keep::<T>,
    }
}

#[derive(Debug)]
pub struct Builder(std::thread::Builder);

impl Builder {
    pub fn new() -> Self {
        Self(std::thread::Builder::new())
    }

    pub fn name(self, name: String) -> Self {
        Self(self.0.name(name))
    }

    pub fn stack_size(self, size: usize) -> Self {
        Self(self.0.stack_size(size))
    }

    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + 'static,
        T: 'static,
    {
        let f = Shared(f);
        Ok(JoinHandle {
            handle: Some(self.0.spawn(move || Shared(f.into_inner()()))?),
            keep: keep::<T>,
        })
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}
