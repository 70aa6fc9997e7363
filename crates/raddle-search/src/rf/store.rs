//! Where events are kept, shared by the trace and the alternatives that need them.

use super::event::Event;

pub(super) type StoreId = u32;

struct Slot {
    event: Event,
    /// How many keep it.
    users: u32,
}

/// Events with counts of their users; places are used again.
#[derive(Default)]
pub(super) struct Store {
    slots: Vec<Slot>,
    free: Vec<StoreId>,
}

impl Store {
    /// Keeps an event for one user.
    #[inline]
    pub(super) fn insert(&mut self, event: Event) -> StoreId {
        let slot = Slot { event, users: 1 };
        match self.free.pop() {
            Some(id) => {
                self.slots[id as usize] = slot;
                id
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as StoreId - 1
            }
        }
    }

    #[inline]
    pub(super) fn event(&self, id: StoreId) -> &Event {
        &self.slots[id as usize].event
    }

    pub(super) fn event_mut(&mut self, id: StoreId) -> &mut Event {
        &mut self.slots[id as usize].event
    }

    /// There is one more user.
    pub(super) fn keep(&mut self, id: StoreId) {
        self.slots[id as usize].users += 1;
    }

    /// An event with the same contents that has one user, who may change it; `id` has one user less.
    pub(super) fn take(&mut self, id: StoreId) -> StoreId {
        if self.slots[id as usize].users == 1 {
            return id;
        }
        self.release(id);
        let event = self.event(id).clone();
        self.insert(event)
    }

    /// There is one user less.
    pub(super) fn release(&mut self, id: StoreId) {
        let slot = &mut self.slots[id as usize];
        slot.users -= 1;
        if slot.users == 0 {
            self.free.push(id);
        }
    }
}
