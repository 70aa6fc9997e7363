// Two transfers that lock two accounts in different orders.
use std::sync::{Arc, Mutex};
use std::thread;

fn transfer(from: &Mutex<i64>, to: &Mutex<i64>, amount: i64) {
    let mut from = from.lock().unwrap();
    let mut to = to.lock().unwrap();
    *from -= amount;
    *to += amount;
}

fn main() {
    let checking = Arc::new(Mutex::new(10));
    let savings = Arc::new(Mutex::new(10));
    let (from, to) = (checking.clone(), savings.clone());
    let payer = thread::Builder::new().name("payer".into());
    let payer = payer.spawn(move || transfer(&from, &to, 1)).unwrap();
    transfer(&savings, &checking, 2);
    payer.join().unwrap();
}
