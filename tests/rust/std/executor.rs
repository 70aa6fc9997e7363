// A future that another thread completes, and an executor that parks until it is woken.
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[derive(Default)]
struct State {
    value: Option<u32>,
    waker: Option<Waker>,
}

struct Answer(Arc<Mutex<State>>);

impl Future for Answer {
    type Output = u32;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {
        let mut state = self.0.lock().unwrap();
        match state.value {
            Some(value) => Poll::Ready(value),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

fn main() {
    let state = Arc::new(Mutex::new(State::default()));
    let other = Arc::clone(&state);
    let thread = thread::spawn(move || {
        let mut state = other.lock().unwrap();
        state.value = Some(42);
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    });
    assert_eq!(block_on(Answer(state)), 42);
    thread.join().unwrap();
}
