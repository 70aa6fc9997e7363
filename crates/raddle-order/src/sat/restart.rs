//! When to restart, and how to pick phases meanwhile.
//!
//! Two modes alternate, each a little longer than the one before: *focused* restarts often, whenever recent clauses have
//! worse glue than usual, and finds refutations; *stable* restarts rarely, returns to the phases of the best trail seen,
//! and finds models.

/// An exponential moving average that is exact while it has few samples.
struct Average {
    value: f64,
    weight: f64,
    target: f64,
}

impl Average {
    fn new(window: f64) -> Self {
        Self {
            value: 0.0,
            weight: 1.0,
            target: 1.0 / window,
        }
    }

    fn add(&mut self, sample: f64) {
        self.value += self.weight * (sample - self.value);
        self.weight = (self.weight / (1.0 + self.weight)).max(self.target);
    }
}

pub(super) struct Restarts {
    fast: Average,
    slow: Average,
    since: u64,
    stable: bool,
    mode_left: u64,
    mode_length: u64,
}

const FOCUSED_MARGIN: f64 = 1.12;
const STABLE_MARGIN: f64 = 1.25;
const FOCUSED_GAP: u64 = 10;
const STABLE_GAP: u64 = 64;
const FIRST_MODE: u64 = 1000;

impl Restarts {
    pub(super) fn new() -> Self {
        Self {
            fast: Average::new(32.0),
            slow: Average::new(4096.0),
            since: 0,
            stable: false,
            mode_left: FIRST_MODE,
            mode_length: FIRST_MODE,
        }
    }

    pub(super) fn is_stable(&self) -> bool {
        self.stable
    }

    /// A clause with this glue was learnt. True if the mode changed.
    pub(super) fn learnt(&mut self, glue: u32) -> bool {
        self.fast.add(f64::from(glue));
        self.slow.add(f64::from(glue));
        self.since += 1;
        self.mode_left -= 1;
        if self.mode_left > 0 {
            return false;
        }
        self.stable = !self.stable;
        if !self.stable {
            self.mode_length += FIRST_MODE;
        }
        self.mode_left = self.mode_length;
        true
    }

    pub(super) fn is_due(&self) -> bool {
        let (margin, gap) = if self.stable {
            (STABLE_MARGIN, STABLE_GAP)
        } else {
            (FOCUSED_MARGIN, FOCUSED_GAP)
        };
        self.since >= gap && self.fast.value > margin * self.slow.value
    }

    pub(super) fn restarted(&mut self) {
        self.since = 0;
    }
}
