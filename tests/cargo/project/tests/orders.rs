use shop_core::Till;
use std::sync::mpsc;

#[test]
fn one_order() {
    let (orders, received) = mpsc::channel();
    let customer = std::thread::spawn(move || orders.send(1).unwrap());
    let till = Till::new();
    for _ in 0..received.recv().unwrap() {
        shop::sell(&till);
    }
    assert_eq!(till.sum(), 5);
    customer.join().unwrap();
}
