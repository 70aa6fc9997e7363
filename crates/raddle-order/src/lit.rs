//! Variables, literals and the view a theory has of their values.

use std::fmt;
use std::ops::Not;

/// A propositional variable. Variable 0 is the constant: it is true in every assignment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(pub(crate) u32);

impl Var {
    pub(crate) const CONST: Self = Self(0);

    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The variable with this number, for a theory that is driven by another solver.
    ///
    /// # Panics
    /// If the number does not fit 30 bits.
    #[must_use]
    pub fn from_index(index: usize) -> Self {
        assert!(index < 1 << 30, "too many variables");
        Self(u32::try_from(index).expect("30 bits"))
    }

    /// The literal that is true iff the variable is.
    #[must_use]
    pub fn positive(self) -> Lit {
        Lit(self.0 << 1)
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

/// A variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit(pub(crate) u32);

impl Lit {
    pub const TRUE: Self = Self(0);
    pub const FALSE: Self = Self(1);

    #[must_use]
    pub fn new(var: Var, negated: bool) -> Self {
        Self(var.0 << 1 | u32::from(negated))
    }

    #[must_use]
    pub fn var(self) -> Var {
        Var(self.0 >> 1)
    }

    #[must_use]
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// A dense number: `2 * variable + negated`.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    #[must_use]
    pub fn constant(value: bool) -> Self {
        if value { Self::TRUE } else { Self::FALSE }
    }

    #[must_use]
    pub fn is_constant(self) -> bool {
        self.var() == Var::CONST
    }

    /// This literal if `keep`, its negation otherwise.
    #[must_use]
    pub fn with_sign(self, keep: bool) -> Self {
        Self(self.0 ^ u32::from(!keep))
    }
}

impl Not for Lit {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

impl fmt::Debug for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TRUE => f.write_str("true"),
            Self::FALSE => f.write_str("false"),
            lit => write!(
                f,
                "{}{}",
                if lit.is_negated() { "-" } else { "" },
                lit.0 >> 1
            ),
        }
    }
}

/// Where clauses and variables go: a solver, or a recorder in tests.
pub trait ClauseSink {
    fn new_var(&mut self) -> Var;
    fn add_clause(&mut self, lits: &[Lit]);
}

/// The current partial assignment, by literal: 1 true, -1 false, 0 unassigned.
#[derive(Clone, Copy)]
pub struct Values<'a>(pub(crate) &'a [i8]);

impl<'a> Values<'a> {
    /// A view of values indexed by [`Lit::index`], for a theory that is driven by another solver.
    #[must_use]
    pub fn from_slice(values: &'a [i8]) -> Self {
        Self(values)
    }

    #[must_use]
    pub fn is_true(self, lit: Lit) -> bool {
        self.0[lit.index()] > 0
    }

    #[must_use]
    pub fn is_false(self, lit: Lit) -> bool {
        self.0[lit.index()] < 0
    }

    #[must_use]
    pub fn is_free(self, lit: Lit) -> bool {
        self.0[lit.index()] == 0
    }
}
