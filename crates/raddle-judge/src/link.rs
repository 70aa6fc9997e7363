//! What those who explore pieces of one search tell each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What somebody who explores and all others know of each other without a lock. Its owner writes it with each execution, so no two of them share a line of
/// the cache, nor one that is fetched beside it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Link {
    call: AtomicBool,
    complete: AtomicU64,
    blocked: AtomicU64,
    /// How much of the tree is left of its piece: the bits of a fraction.
    left: AtomicU64,
}

impl Link {
    /// Only its owner calls this.
    pub fn set_left(&self, share: f64) {
        self.left.store(share.to_bits(), Ordering::Relaxed);
    }

    #[must_use]
    pub fn left(&self) -> f64 {
        f64::from_bits(self.left.load(Ordering::Relaxed))
    }

    /// Somebody wants something, or nobody does any more.
    pub fn set_call(&self, call: bool) {
        self.call.store(call, Ordering::Relaxed);
    }

    /// Does anybody want something?
    #[inline]
    #[must_use]
    pub fn is_called(&self) -> bool {
        self.call.load(Ordering::Relaxed)
    }

    /// An execution was counted. Only its owner calls this.
    #[inline]
    pub fn counted(&self, is_blocked: bool) {
        let counter = match is_blocked {
            true => &self.blocked,
            false => &self.complete,
        };
        counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (of(&self.complete), of(&self.blocked))
    }
}

#[cfg(test)]
mod tests {
    use super::Link;
    use std::sync::Arc;

    #[test]
    fn no_two_share_a_line_of_the_cache() {
        let links: Vec<Arc<Link>> = (0..8).map(|_| Arc::default()).collect();
        let mut places: Vec<usize> = links.iter().map(|it| Arc::as_ptr(it).addr()).collect();
        places.sort_unstable();
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 128));
        assert!(places.iter().all(|place| place % 128 == 0));
    }
}
