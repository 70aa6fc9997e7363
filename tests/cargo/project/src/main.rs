fn main() {
    let till = shop_core::Till::new();
    std::thread::scope(|customers| {
        customers.spawn(|| shop::sell(&till));
    });
    assert_eq!(till.sum(), 5);
}
