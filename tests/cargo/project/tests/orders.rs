use shop_core::Till;

#[test]
fn one_order() {
    let till = Till::new();
    shop::sell(&till);
    assert_eq!(till.sum(), 5);
}
