#[cfg(raddle)]
#[test]
fn every_price_is_tried() {
    let price = raddle::below(4);
    raddle::assume(price != 2);
    assert!(price != 2);
}

#[cfg(raddle)]
#[test]
fn some_price_is_wrong() {
    let (price, is_free) = (raddle::below(4), raddle::any::<bool>());
    assert!(price != 3 || is_free);
}

mod with_shuttle {
    use shuttle::sync::atomic::{AtomicU32, Ordering};
    use shuttle::sync::{Arc, Mutex};
    use shuttle::{future, thread};

    #[test]
    fn a_lock_is_enough() {
        shuttle::check_random(
            || {
                let sum = Arc::new(Mutex::new(0));
                let other = Arc::clone(&sum);
                let thread = thread::spawn(move || *other.lock().unwrap() += 1);
                *sum.lock().unwrap() += 1;
                thread.join().unwrap();
                assert_eq!(*sum.lock().unwrap(), 2);
            },
            100,
        );
    }

    #[test]
    #[should_panic]
    fn loads_and_stores_are_not() {
        shuttle::check_dfs(
            || {
                let sum = Arc::new(AtomicU32::new(0));
                let other = Arc::clone(&sum);
                let add = |sum: &AtomicU32| sum.store(sum.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
                let thread = thread::spawn(move || add(&other));
                add(&sum);
                thread.join().unwrap();
                assert_eq!(sum.load(Ordering::SeqCst), 2);
            },
            None,
        );
    }

    #[test]
    fn tasks_end() {
        shuttle::check_pct(
            || {
                let task = future::spawn(async { 7 });
                assert_eq!(future::block_on(task).unwrap(), 7);
            },
            100,
            3,
        );
    }
}
