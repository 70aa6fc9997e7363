//! What a program that `cargo raddle` checks can ask of Raddle. The crate is there whenever `cfg(raddle)` is set, without being a dependency:
//!
//! ```ignore
//! #[cfg(raddle)]
//! let is_full: bool = raddle::any();
//! ```
#![crate_name = "raddle"]
#![crate_type = "rlib"]

unsafe extern "C" {
    fn __VERIFIER_nondet_bool() -> bool;
    fn __VERIFIER_nondet_uchar() -> u8;
    fn __VERIFIER_assume(condition: i32);
}

/// Types with few values, all of which are tried.
pub trait Any {
    fn any() -> Self;
}

impl Any for bool {
    fn any() -> Self {
        // SAFETY: it takes nothing and returns a `bool`.
        unsafe { __VERIFIER_nondet_bool() }
    }
}

impl Any for u8 {
    fn any() -> Self {
        // SAFETY: it takes nothing and returns a byte.
        unsafe { __VERIFIER_nondet_uchar() }
    }
}

impl Any for i8 {
    fn any() -> Self {
        u8::any() as i8
    }
}

impl<T: Any> Any for Option<T> {
    fn any() -> Self {
        bool::any().then(T::any)
    }
}

impl<T: Any, const N: usize> Any for [T; N] {
    fn any() -> Self {
        std::array::from_fn(|_| T::any())
    }
}

impl Any for () {
    fn any() -> Self {}
}

impl<A: Any, B: Any> Any for (A, B) {
    fn any() -> Self {
        (A::any(), B::any())
    }
}

/// Any value: each is tried.
pub fn any<T: Any>() -> T {
    T::any()
}

/// Any number below `count`: each is tried.
///
/// # Panics
/// If there is none.
#[track_caller]
pub fn below(count: u8) -> u8 {
    assert!(count > 0, "no number is below 0");
    // Bit by bit: there are hardly more executions than numbers.
    let mut number = 0;
    for bit in 0..(count - 1).checked_ilog2().map_or(0, |highest| highest + 1) {
        number |= u8::from(bool::any()) << bit;
    }
    assume(number < count);
    number
}

/// Executions in which the condition does not hold are of no interest: this one ends here, and nothing is said of it.
pub fn assume(condition: bool) {
    // SAFETY: it takes a number and returns only if that is not 0.
    unsafe { __VERIFIER_assume(i32::from(condition)) }
}
