#![cfg(loom)]

use flag::Flag;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Arc, Notify};
use loom::thread;

loom::lazy_static! {
    static ref MADE: AtomicUsize = AtomicUsize::new(1);
}

loom::thread_local! {
    static MINE: std::cell::Cell<u32> = std::cell::Cell::new(7);
}

fn set_and_get(order: Ordering) {
    loom::model(move || {
        let flag = Arc::new(Flag::new());
        let other = flag.clone();
        let writer = thread::spawn(move || other.set(3, order));
        if let Some(value) = flag.get() {
            assert_eq!(value, 3);
        }
        writer.join().unwrap();
    });
}

#[test]
fn what_is_released_is_seen() {
    set_and_get(Ordering::Release);
}

#[test]
#[should_panic]
fn without_release_there_is_a_race() {
    set_and_get(Ordering::Relaxed);
}

#[test]
#[should_panic]
fn one_of_two_comes_first() {
    loom::model(|| {
        let turn = Arc::new(AtomicUsize::new(0));
        let other = turn.clone();
        let first = thread::spawn(move || other.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst));
        // Only in some executions.
        assert!(turn.compare_exchange(0, 2, Ordering::SeqCst, Ordering::SeqCst).is_ok());
        let _ = first.join();
    });
}

#[test]
#[should_panic]
fn a_test_that_should_fail_and_does_not() {
    loom::model(|| {});
}

#[test]
fn threads_that_nobody_joins_end_with_the_model() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(1);
    builder.check(|| {
        let notify = Arc::new(Notify::new());
        let other = notify.clone();
        drop(thread::spawn(move || other.notify()));
        notify.wait();
    });
}

#[test]
fn futures_run_to_their_end() {
    loom::model(|| {
        MINE.with(|mine| assert_eq!(mine.get(), 7));
        let sum = loom::future::block_on(async { MADE.fetch_add(1, Ordering::SeqCst) + 1 });
        assert_eq!(sum, 2);
        loom::skip_branch();
    });
}

#[test]
fn there_are_as_many_threads_as_loom_allows() {
    loom::model(|| {
        let threads: Vec<_> = (1..loom::MAX_THREADS).map(|number| thread::spawn(move || number)).collect();
        let sum: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(sum, 10);
    });
}
