//! Where events are kept, shared by the trace and the alternatives that need them.

use super::event::Event;

pub(super) type StoreId = u32;

/// Events with counts of their users; places are used again.
#[derive(Default)]
pub(super) struct Store {
    events: Vec<Event>,
    /// How many keep each of them.
    users: Vec<u32>,
    free: Vec<StoreId>,
}

impl Store {
    /// Keeps an event for one user.
    #[inline]
    pub(super) fn insert(&mut self, event: Event) -> StoreId {
        match self.free.pop() {
            Some(id) => {
                self.events[id as usize] = event;
                self.users[id as usize] = 1;
                id
            }
            None => {
                self.events.push(event);
                self.users.push(1);
                self.events.len() as StoreId - 1
            }
        }
    }

    #[inline]
    pub(super) fn event(&self, id: StoreId) -> &Event {
        &self.events[id as usize]
    }

    pub(super) fn event_mut(&mut self, id: StoreId) -> &mut Event {
        &mut self.events[id as usize]
    }

    /// There is one more user.
    pub(super) fn keep(&mut self, id: StoreId) {
        self.users[id as usize] += 1;
    }

    /// An event with the same contents that has one user, who may change it; `id` has one user less.
    pub(super) fn take(&mut self, id: StoreId) -> StoreId {
        if self.users[id as usize] == 1 {
            return id;
        }
        self.release(id);
        let event = self.event(id).clone();
        self.insert(event)
    }

    /// There is one user less.
    pub(super) fn release(&mut self, id: StoreId) {
        let users = &mut self.users[id as usize];
        *users -= 1;
        if *users == 0 {
            self.free.push(id);
        }
    }
}
