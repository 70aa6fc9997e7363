//! Dense, typed `u32` ids. An id of one kind cannot index a table of another.

use std::fmt;

/// Defines a dense `u32` id.
#[macro_export]
macro_rules! define_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into its table.
            #[inline]
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of the `index`-th entry of a table.
            ///
            /// # Panics
            /// If the table has more than `u32::MAX` entries.
            #[inline]
            #[must_use]
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than u32::MAX entries in one table"))
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

define_id!(
    /// A type in the module's [`crate::TypeTable`].
    TypeId,
    "type"
);
define_id!(
    /// An interned constant of the module.
    ConstId,
    "const"
);
define_id!(
    /// A global variable of the module.
    GlobalId,
    "@g"
);
define_id!(
    /// A function of the module, defined or declared.
    FuncId,
    "@f"
);
define_id!(
    /// An SSA value of one function body: parameters first, then instruction results.
    ValueId,
    "%"
);
define_id!(
    /// A basic block of one function body. The entry block is block 0.
    BlockId,
    "bb"
);
define_id!(
    /// A source position in the module's [`crate::DebugInfo`].
    DebugLocId,
    "loc"
);

/// Ids print the same in `Display` position where a message needs them.
impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bb{}", self.0)
    }
}
