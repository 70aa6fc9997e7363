//! Literals as files have them: a variable's number, or its negation.

use rustc_hash::FxHashMap;

/// `2 * variable + negated`; variables are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Lit(u32);

/// More variables than any solver has are a mistake.
const MOST_VARIABLES: u32 = 1 << 28;

impl Lit {
    pub(crate) fn from_number(number: i32) -> Option<Self> {
        let variable = number.unsigned_abs();
        let fits = (1..MOST_VARIABLES).contains(&variable);
        fits.then_some(Self(variable << 1 | u32::from(number < 0)))
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn variable(self) -> u32 {
        self.0 >> 1
    }

    /// The same of the variable's other number, if it has one.
    pub(crate) fn renamed(self, numbers: &FxHashMap<u32, u32>) -> Option<Self> {
        let number = numbers.get(&self.variable())?;
        Some(Self(number << 1 | self.0 & 1))
    }
}

impl std::ops::Not for Lit {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}
