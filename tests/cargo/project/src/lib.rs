//! A shop whose customers are threads.
#![deny(warnings)]

use shop_core::Till;

include!(concat!(env!("OUT_DIR"), "/stock.rs"));

pub fn sell(till: &Till) {
    till.add(shop_macros::price!());
}

/// Looks, and takes what it saw: others may have taken it meanwhile.
pub fn sell_carelessly(till: &Till) {
    till.set(till.sum() + shop_macros::price!());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    fn both(sell: fn(&Till)) -> u32 {
        let till = Arc::new(Till::new());
        let other = Arc::clone(&till);
        let customer = thread::spawn(move || sell(&other));
        sell(&till);
        customer.join().unwrap();
        till.sum()
    }

    #[test]
    fn everything_is_paid() {
        assert_eq!(both(sell), STOCK * 5);
    }

    #[test]
    fn careless_sales_are_lost() {
        assert_eq!(both(sell_carelessly), STOCK * 5);
    }

    #[test]
    #[should_panic]
    fn nothing_is_free() {
        assert_eq!(shop_macros::price!(), 0);
    }

    #[test]
    #[should_panic]
    fn careless_sales_are_not_always_lost() {
        assert_eq!(both(sell_carelessly), STOCK * 5);
    }

    #[test]
    #[ignore = "takes long"]
    fn stocktaking() {}

    #[test]
    fn good_news() -> Result<(), String> {
        Ok(())
    }

    #[test]
    fn bad_news() -> Result<(), String> {
        Err("sold out".to_owned())
    }

    #[test]
    #[cfg(feature = "discount")]
    fn discounts() {
        assert!(cfg!(raddle) && cfg!(stocked));
    }
}
