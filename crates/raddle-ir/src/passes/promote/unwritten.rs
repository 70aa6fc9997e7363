//! Variables that may be read before they are written.
//!
//! As SSA values they would be `undef` there, of which nothing is known. Who gives memory any contents keeps them in memory instead.

use super::collect::{Candidate, Event, Placed, Range};
use crate::passes::cfg::Cfg;

/// Bytes of a variable, as bits. Larger variables stay in memory.
type Bytes = u128;

/// Pins all that may be read before it is written.
pub(super) fn pin_unwritten(candidates: &mut [Candidate], events: &[Placed], cfg: &Cfg) {
    for (index, candidate) in candidates.iter_mut().enumerate() {
        let is_large = candidate.size > u64::from(Bytes::BITS);
        candidate.pinned |= is_large || is_read_unwritten(index, events, cfg);
    }
}

/// Which bytes an event of a variable reads, and which it writes. None if they are all undefined then.
fn effect(event: &Event, of: usize) -> Option<(Bytes, Bytes)> {
    let mut reads = 0;
    let mut writes = 0;
    match *event {
        Event::Load(candidate, range) if candidate == of => reads = bytes(range),
        Event::Store(candidate, range) if candidate == of => writes = bytes(range),
        Event::Fill {
            candidate, range, ..
        } if candidate == of => writes = bytes(range),
        Event::Copy(copy) => {
            if copy.from == of {
                reads = bytes(copy.from_range);
            }
            if copy.to == of {
                writes = bytes(copy.to_range);
            }
        }
        Event::Undefine(candidate) if candidate == of => return None,
        _ => {}
    }
    Some((reads, writes))
}

fn bytes((start, end): Range) -> Bytes {
    (start..end.min(u64::from(Bytes::BITS))).fold(0, |bytes, at| bytes | 1 << at)
}

/// Goes round until it is known what is written in every case at the end of each block.
fn is_read_unwritten(candidate: usize, events: &[Placed], cfg: &Cfg) -> bool {
    let order = cfg.reverse_postorder();
    let blocks = order.iter().map(|block| block.index() + 1).max();
    let mut written_after = vec![Bytes::MAX; blocks.unwrap_or(0)];
    let is_about = |event: &Event| effect(event, candidate) != Some((0, 0));
    let events: Vec<&Placed> = events
        .iter()
        .filter(|(.., event)| is_about(event))
        .collect();
    loop {
        let mut changed = false;
        let mut is_read = false;
        for &block in order {
            let before = cfg.predecessors(block).iter();
            let before = before.map(|before| written_after[before.index()]);
            // Nothing comes before the first block.
            let mut written = before.reduce(|one, other| one & other).unwrap_or(0);
            for (.., event) in events.iter().filter(|(at, ..)| *at == block) {
                match effect(event, candidate) {
                    Some((reads, writes)) => {
                        is_read |= reads & !written != 0;
                        written |= writes;
                    }
                    None => written = 0,
                }
            }
            changed |= std::mem::replace(&mut written_after[block.index()], written) != written;
        }
        if !changed {
            return is_read;
        }
    }
}
