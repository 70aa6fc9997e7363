//! The order in which variables are decided: a binary heap by activity that knows where each variable sits.

use crate::lit::Var;

const ABSENT: u32 = u32::MAX;
const RESCALE_ABOVE: f64 = 1e100;

pub(super) struct VarHeap {
    activity: Vec<f64>,
    increment: f64,
    heap: Vec<Var>,
    position: Vec<u32>,
}

impl VarHeap {
    pub(super) fn new() -> Self {
        Self {
            activity: Vec::new(),
            increment: 1.0,
            heap: Vec::new(),
            position: Vec::new(),
        }
    }

    /// Makes room for the next variable, which is not in the heap yet.
    pub(super) fn add_var(&mut self) {
        self.activity.push(0.0);
        self.position.push(ABSENT);
    }

    /// Ties go to the older variable: the order is total, hence the search deterministic.
    pub(super) fn before(&self, a: Var, b: Var) -> bool {
        let (x, y) = (self.activity[a.index()], self.activity[b.index()]);
        x > y || (x == y && a < b)
    }

    pub(super) fn insert(&mut self, var: Var) {
        if self.position[var.index()] != ABSENT {
            return;
        }
        self.position[var.index()] = index32(self.heap.len());
        self.heap.push(var);
        self.sift_up(self.heap.len() - 1);
    }

    pub(super) fn peek(&self) -> Option<Var> {
        self.heap.first().copied()
    }

    pub(super) fn pop(&mut self) -> Option<Var> {
        let top = *self.heap.first()?;
        let last = self.heap.pop().expect("not empty");
        self.position[top.index()] = ABSENT;
        if last != top {
            self.heap[0] = last;
            self.position[last.index()] = 0;
            self.sift_down(0);
        }
        Some(top)
    }

    pub(super) fn bump(&mut self, var: Var, factor: f64) {
        let activity = &mut self.activity[var.index()];
        *activity += self.increment * factor;
        if *activity > RESCALE_ABOVE {
            self.rescale();
        }
        if self.position[var.index()] != ABSENT {
            self.sift_up(self.position[var.index()] as usize);
        }
    }

    pub(super) fn decay(&mut self, factor: f64) {
        self.increment /= factor;
    }

    fn rescale(&mut self) {
        for activity in &mut self.activity {
            *activity /= RESCALE_ABOVE;
        }
        self.increment /= RESCALE_ABOVE;
    }

    fn sift_up(&mut self, mut at: usize) {
        let var = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / 2;
            if !self.before(var, self.heap[parent]) {
                break;
            }
            self.place(at, self.heap[parent]);
            at = parent;
        }
        self.place(at, var);
    }

    fn sift_down(&mut self, mut at: usize) {
        let var = self.heap[at];
        loop {
            let left = 2 * at + 1;
            if left >= self.heap.len() {
                break;
            }
            let right = left + 1;
            let child = if right < self.heap.len() && self.before(self.heap[right], self.heap[left])
            {
                right
            } else {
                left
            };
            if !self.before(self.heap[child], var) {
                break;
            }
            self.place(at, self.heap[child]);
            at = child;
        }
        self.place(at, var);
    }

    fn place(&mut self, at: usize, var: Var) {
        self.heap[at] = var;
        self.position[var.index()] = index32(at);
    }
}

fn index32(at: usize) -> u32 {
    u32::try_from(at).expect("variables fit 32 bits")
}
