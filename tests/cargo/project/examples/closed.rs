//! Waits for a customer who never comes.

fn main() {
    let (sender, customers) = std::sync::mpsc::channel::<u32>();
    let _open = sender.clone();
    customers.recv().unwrap();
    drop(sender);
}
