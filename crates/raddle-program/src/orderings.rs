//! Orderings as they stand in the user's source: one for each atomic access and fence, two for a compare-exchange.
//!
//! An access inside a function of a library that does nothing else (`std::atomic<T>::store`, `AtomicUsize::store`) is the caller's, and so is its
//! ordering: the function switches over its argument, and the thread comes to the instruction of that ordering with the caller's position.

use crate::ids::{LocId, SrcId};
use crate::op::{Op, Order};
use crate::tables::Tables;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which ordering of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OrderOf {
    Load,
    Store,
    Update,
    /// Of a compare-exchange.
    Success,
    Failure,
    Fence,
}

impl OrderOf {
    /// The orderings that it may have, weaker ones first. A fence that is relaxed is none.
    #[must_use]
    pub fn choices(self) -> &'static [Order] {
        use Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        match self {
            Self::Load | Self::Failure => &[Relaxed, Acquire, SeqCst],
            Self::Store => &[Relaxed, Release, SeqCst],
            Self::Update | Self::Success | Self::Fence => {
                &[Relaxed, Acquire, Release, AcqRel, SeqCst]
            }
        }
    }
}

impl Order {
    /// Does it demand all that another one does?
    #[must_use]
    pub fn is_at_least(self, other: Self) -> bool {
        match (self, other) {
            (Self::Acquire, Self::Release) | (Self::Release, Self::Acquire) => false,
            _ => self >= other,
        }
    }
}

/// An ordering in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderSite {
    pub file: Arc<str>,
    pub line: u32,
    pub column: u32,
    pub of: OrderOf,
    /// As the source has it. Where that depends on an argument, each is a site.
    pub order: Order,
}

/// What is done at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met {
    pub at: SrcId,
    /// What is accessed there when a thread comes there first; none for fences.
    pub loc: Option<LocId>,
}

/// Orderings to run a program with instead of those of its source.
pub type Orderings = BTreeMap<OrderSite, Order>;

impl Op {
    /// The orderings of an atomic operation, or of a fence.
    #[must_use]
    pub fn orderings(&self) -> [Option<(OrderOf, Order)>; 2] {
        let one = |of, order: Order| [order.is_atomic().then_some((of, order)), None];
        match *self {
            Self::Load { order, .. } => one(OrderOf::Load, order),
            Self::Store { order, .. } => one(OrderOf::Store, order),
            Self::Rmw { order, .. } => one(OrderOf::Update, order),
            Self::Fence { order } => one(OrderOf::Fence, order),
            Self::Cas {
                success, failure, ..
            } => [
                Some((OrderOf::Success, success)),
                Some((OrderOf::Failure, failure)),
            ],
            _ => [None, None],
        }
    }

    /// The operation with one of its orderings replaced.
    pub fn set_ordering(&mut self, of: OrderOf, new: Order) {
        match (self, of) {
            (Self::Load { order, .. }, OrderOf::Load)
            | (Self::Store { order, .. }, OrderOf::Store)
            | (Self::Rmw { order, .. }, OrderOf::Update)
            | (Self::Fence { order }, OrderOf::Fence)
            | (Self::Cas { success: order, .. }, OrderOf::Success)
            | (Self::Cas { failure: order, .. }, OrderOf::Failure) => *order = new,
            _ => {}
        }
    }
}

impl Tables {
    /// The user's own operation at `at` has these orderings in the source.
    pub(crate) fn note_orderings(&mut self, at: SrcId, op: &Op) {
        for (of, order) in op.orderings().into_iter().flatten() {
            self.orderings
                .entry((at, of, order))
                .or_insert(op.accessed());
        }
    }

    /// The site of an ordering, if it is in the user's own code.
    #[must_use]
    pub fn order_site(&self, at: SrcId, of: OrderOf, order: Order) -> Option<OrderSite> {
        self.orderings
            .contains_key(&(at, of, order))
            .then(|| self.site_at(at, of, order))?
    }

    pub(crate) fn site_at(&self, at: SrcId, of: OrderOf, order: Order) -> Option<OrderSite> {
        let loc = self.source_loc(self.user_source(at)?)?;
        Some(OrderSite {
            file: Arc::from(&*loc.file),
            line: loc.line,
            column: loc.column,
            of,
            order,
        })
    }

    /// The orderings of the user's own atomics that threads came to so far.
    #[must_use]
    pub fn order_sites(&self) -> BTreeMap<OrderSite, Met> {
        let mut sites = BTreeMap::new();
        let mut met: Vec<_> = self.orderings.iter().collect();
        met.sort_unstable_by_key(|(key, _)| **key);
        for (&(at, of, order), &loc) in met {
            if let Some(site) = self.site_at(at, of, order) {
                sites.entry(site).or_insert(Met { at, loc });
            }
        }
        sites
    }

    /// Did threads come to atomics of the user's own?
    #[must_use]
    pub fn has_own_atomics(&self) -> bool {
        !self.orderings.is_empty()
    }
}
