//! What reads find.

use super::clocks::Row;
use super::event::{Ev, Kind, Place};
use super::store::Graph;
use raddle_program::op::mask;
use raddle_program::{LocId, Program, Tables, Value};

/// The initial contents of a place.
fn initial(tables: &Tables, place: Place) -> Value {
    let Some(loc) = place.loc() else {
        return 0;
    };
    let info = tables.loc_info(loc);
    let size = if info.is_sync() { 8 } else { info.size };
    let start = info.arena as usize;
    let arena = tables.arena();
    let mut bytes = [0; 8];
    bytes[..usize::from(size)].copy_from_slice(&arena[start..start + usize::from(size)]);
    Value::from_le_bytes(bytes)
}

/// `below` with the bytes of `value`, at `from`, laid over it as far as `to` has them.
fn laid_over(tables: &Tables, below: Value, to: LocId, value: Value, from: LocId) -> Value {
    let (to, from) = (tables.loc_info(to), tables.loc_info(from));
    let keep = mask(to.size);
    let (mask, value) = (mask(from.size), value & mask(from.size));
    let merged = if from.offset >= to.offset {
        let shift = 8 * (from.offset - to.offset);
        match shift < 64 {
            true => (below & !(mask << shift)) | value << shift,
            false => below,
        }
    } else {
        let shift = 8 * (to.offset - from.offset);
        match shift < 64 {
            true => (below & !(mask >> shift)) | value >> shift,
            false => below,
        }
    };
    merged & keep
}

impl Graph {
    /// What a read of `place` finds that reads from `write`.
    #[inline]
    pub(super) fn value_from(&self, program: &Program, place: Place, write: Ev) -> Value {
        if write.is_event() {
            let event = self.event(write);
            if event.is_addition {
                return self.sum(program, place, write);
            }
            if event.place == place {
                return event.value;
            }
            return self.shared_value(program, place, write);
        }
        initial(program.tables(), place)
    }

    /// The same if the write is one to another location that shares bytes with the place.
    #[cold]
    fn shared_value(&self, program: &Program, place: Place, write: Ev) -> Value {
        let tables = program.tables();
        let end = self.position(place, write);
        let mut value = initial(tables, place);
        let Some(to) = place.loc() else {
            return value;
        };
        for &earlier in &self.writes(place)[..end] {
            let event = self.event(earlier);
            if let Some(from) = event.place.loc() {
                value = laid_over(tables, value, to, event.value, from);
            }
        }
        value
    }

    /// What a plain read finds where sizes are mixed: each byte from its last write. All of them happen before, or there is a race. Also the last
    /// of these writes.
    pub(super) fn mixed_value(&self, program: &Program, place: Place) -> (Value, Ev) {
        let tables = program.tables();
        let mut value = initial(tables, place);
        let Some(to) = place.loc() else {
            return (value, Ev::INIT);
        };
        let mut last: Vec<Ev> = Vec::new();
        for loc in std::iter::once(to).chain(tables.overlaps(to).iter().copied()) {
            let own = |write: &&Ev| self.event(**write).place.loc() == Some(loc);
            last.extend(self.writes(Place::of(loc)).iter().rev().find(own));
        }
        last.sort_by_key(|&write| self.event(write).stamp);
        for &write in &last {
            let event = self.event(write);
            if let Some(from) = event.place.loc() {
                value = laid_over(tables, value, to, event.value, from);
            }
        }
        (value, last.last().copied().unwrap_or(Ev::INIT))
    }

    /// A byte of memory, if somebody has written it: in the graph's last writes.
    pub(super) fn written_byte(&self, program: &Program, arena: u32) -> Option<u8> {
        let tables = program.tables();
        let mut newest: Option<(u32, u8)> = None;
        for (index, location) in self.locations.iter().enumerate().skip(1) {
            let Some(&last) = location.writes.last() else {
                continue;
            };
            let info = tables.loc_info(LocId(index as u32 - 1));
            let event = self.event(last);
            if info.is_sync() || event.kind != Kind::Write || event.place.index() != index {
                continue;
            }
            if (info.arena..info.arena + u32::from(info.size)).contains(&arena) {
                let value = self.value_from(program, event.place, last);
                let byte = (value >> (8 * (arena - info.arena))) as u8;
                if newest.is_none_or(|(stamp, _)| stamp < event.stamp) {
                    newest = Some((event.stamp, byte));
                }
            }
        }
        newest.map(|(_, byte)| byte)
    }

    /// The first position in the modification order that an access which knows `known` may read from, or go behind: later than all
    /// that it knows to be overwritten (coherence). It comes at `before` in its thread.
    #[inline]
    pub(super) fn floor(&self, place: Place, before: Ev, known: Row) -> usize {
        let mut floor = 0;
        for other in 0..self.threads.len() {
            let mut last = self.last_here(place, other);
            while let Some(event) = last {
                if self.is_earlier(event, before, known) && !self.event(event).waits() {
                    let write = match self.event(event).kind {
                        Kind::Write => event,
                        _ => self.event(event).source,
                    };
                    floor = floor.max(self.position(place, write));
                    break;
                }
                last = self.before_here(event);
            }
        }
        // Where sizes are mixed, plain writes to other locations have their place here, too.
        let location = self.locations.get(place.index());
        let Some(location) = location.filter(|location| location.is_shared) else {
            return floor;
        };
        let mut writes = location.writes.iter().enumerate().rev();
        let foreign = writes.find(|(_, write)| {
            self.event(**write).place != place && self.is_earlier(**write, before, known)
        });
        foreign.map_or(floor, |(position, _)| floor.max(position + 1))
    }

    /// Does an event happen before one that comes at `before` in its thread and knows `known`?
    #[inline]
    pub(super) fn is_earlier(&self, event: Ev, before: Ev, known: Row) -> bool {
        match event.thread == before.thread {
            true => event.index < before.index,
            false => self.is_known(event, known),
        }
    }
}
