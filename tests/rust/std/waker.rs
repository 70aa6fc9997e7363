// A future that another thread completes: its waker unparks the executor.
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

#[derive(Default)]
struct State {
    value: Option<u32>,
    waker: Option<Waker>,
}

struct Value(Arc<Mutex<State>>);

impl Future for Value {
    type Output = u32;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u32> {
        let mut state = self.0.lock().unwrap();
        match state.value {
            Some(value) => Poll::Ready(value),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

fn main() {
    let state = Arc::new(Mutex::new(State::default()));
    let other = state.clone();
    let thread = thread::spawn(move || {
        let mut state = other.lock().unwrap();
        state.value = Some(5);
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    });
    assert_eq!(block_on(Value(state)), 5);
    thread.join().unwrap();
}
