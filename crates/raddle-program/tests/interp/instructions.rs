//! One instruction at a time.

use crate::driver::value_of;

#[test]
fn arithmetic() {
    assert_eq!(value_of("define i32 @main() {\n ret i32 7\n}"), 7);
}
