// Money goes from one account to the other, and back, each with both locked.
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

fn transfer(accounts: &HashMap<&str, Mutex<i32>>, from: &str, to: &str) {
    let mut from = accounts[from].lock().unwrap();
    let mut to = accounts[to].lock().unwrap();
    *from -= 1;
    *to += 1;
}

fn main() {
    let accounts = [("a", Mutex::new(1)), ("b", Mutex::new(1))];
    let accounts = Arc::new(HashMap::from(accounts));
    let other = accounts.clone();
    let thread = thread::spawn(move || transfer(&other, "a", "b"));
    transfer(&accounts, "b", "a");
    thread.join().unwrap();
}
