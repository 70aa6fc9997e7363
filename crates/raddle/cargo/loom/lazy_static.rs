//! Statics that are made when they are first used.

use std::sync::LazyLock;

pub struct Lazy<T>(LazyLock<T>);

impl<T> Lazy<T> {
    pub const fn new(init: fn() -> T) -> Self {
        Self(LazyLock::new(init))
    }

    pub fn get(&self) -> &T {
        &self.0
    }
}
