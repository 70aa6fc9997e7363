//! From sources of reads to known bits.

use super::Source;
use crate::bits::{Flow, ReadFlow, Word};
use crate::order::EventId;
use crate::solver::OrderSolver;
use rustc_hash::FxHashMap;

/// Where the values of reads come from: what [`Bits::require_known`](crate::bits::Bits::require_known) needs. `sources` are
/// those of [`Memory::connect`](super::Memory::connect), `value_of` gives what events read and write; events without a value
/// are left out, if no read that has one reads from them.
///
/// # Panics
/// If a read has a value and a write that it may read from has none.
pub fn flow<'a>(
    solver: &OrderSolver,
    sources: &[Source],
    value_of: impl Fn(EventId) -> Option<&'a Word>,
) -> Flow {
    let mut flow = Flow::default();
    let mut positions: FxHashMap<EventId, usize> = FxHashMap::default();
    for of_read in sources.chunk_by(|a, b| a.read == b.read) {
        let read = of_read[0].read;
        let Some(value) = value_of(read) else {
            continue;
        };
        let possible = of_read
            .iter()
            .filter(|source| solver.fixed_value(source.lit) != Some(false));
        let sources = possible.map(|source| {
            *positions.entry(source.write).or_insert_with(|| {
                let written = value_of(source.write).expect("a write that is read has a value");
                flow.writes.push(written.clone());
                flow.writes.len() - 1
            })
        });
        let sources = sources.collect();
        flow.reads.push(ReadFlow {
            guard: solver.guard(read),
            value: value.clone(),
            sources,
        });
    }
    flow
}
