//! Plain data that is handed from thread to thread, in more or less sound ways.

use super::Writer;
use std::fmt::Write;

impl Writer {
    /// Plain data is accessed.
    pub(super) fn data(&mut self) {
        let value = self.fresh();
        if self.shape.frees && self.chance(60) {
            let block = self.fresh();
            self.line(&format!("{block} = load ptr, ptr @h"));
            let is_end = !self.freed && self.chance(30);
            self.freed |= is_end;
            if is_end {
                self.line(&format!("call void @free(ptr {block})"));
            } else if self.chance(70) {
                self.line(&format!("store i32 1, ptr {block}"));
            } else {
                self.line(&format!("{value} = load i32, ptr {block}"));
            }
        } else if self.chance(50) {
            self.line("store i32 1, ptr @x");
        } else {
            self.line(&format!("{value} = load i32, ptr @x"));
        }
    }

    fn flag(&mut self) -> &'static str {
        self.pick(&["@f", "@f", "@g"])
    }

    pub(super) fn fence(&mut self) {
        let order = self.pick(&["seq_cst", "release", "acquire", "acq_rel"]);
        self.line(&format!("fence {order}"));
    }

    /// A flag is set.
    fn publish(&mut self) {
        if self.chance(25) {
            self.fence();
        }
        let flag = self.flag();
        match self.rng.below(10) {
            0..6 => {
                let order = self.pick(&["monotonic", "release", "release", "seq_cst"]);
                self.line(&format!("store atomic i32 1, ptr {flag} {order}, align 4"));
            }
            6..8 => self.pass_on(flag),
            8 => self.line(&format!("store i32 1, ptr {flag}")),
            9 if self.shape.mixes => self.line("store atomic i8 1, ptr @f release, align 1"),
            _ => self.line("store atomic i32 2, ptr @f release, align 4"),
        }
    }

    /// A flag is updated by any kind of update.
    fn pass_on(&mut self, flag: &str) {
        let old = self.fresh();
        if self.chance(50) {
            let order = self.pick(&["monotonic", "release", "acquire", "acq_rel", "seq_cst"]);
            let op = self.pick(&["add", "xchg", "or"]);
            self.line(&format!("{old} = atomicrmw {op} ptr {flag}, i32 1 {order}"));
            self.keep(&old);
            return;
        }
        let pair = self.fresh();
        let success = self.pick(&["monotonic", "release", "acquire", "acq_rel", "seq_cst"]);
        let failure = self.pick(&["monotonic", "acquire", "seq_cst"]);
        let expected = self.rng.below(2);
        self.line(&format!(
            "{pair} = cmpxchg ptr {flag}, i32 {expected}, i32 1 {success} {failure}"
        ));
        self.line(&format!("{old} = extractvalue {{ i32, i1 }} {pair}, 0"));
        self.keep(&old);
    }

    /// If a flag is set, something is done.
    fn consume(&mut self) {
        let flag = self.flag();
        if self.chance(70) {
            let (value, order) = (
                self.fresh(),
                self.pick(&["monotonic", "acquire", "acquire"]),
            );
            self.line(&format!(
                "{value} = load atomic i32, ptr {flag} {order}, align 4"
            ));
            self.line(&format!("store i32 {value}, ptr %r0"));
        } else {
            self.pass_on(flag);
        }
        if self.chance(25) {
            self.fence();
        }
        let (value, bit) = (self.fresh(), self.fresh());
        self.next += 1;
        let at = self.next;
        self.line(&format!("{value} = load i32, ptr %r0"));
        self.line(&format!("{bit} = icmp ne i32 {value}, 0"));
        self.line(&format!("br i1 {bit}, label %then{at}, label %end{at}"));
        let _ = writeln!(self.text, "then{at}:");
        if self.chance(70) {
            self.data();
        } else {
            self.publish();
        }
        self.line(&format!("br label %end{at}"));
        let _ = writeln!(self.text, "end{at}:");
    }

    /// Data between two calls.
    fn data_between(&mut self, first: &str, second: &str) {
        self.line(first);
        self.data();
        self.line(second);
    }

    /// Data, if something is got without waiting.
    fn try_for(&mut self, call: &str, unlock: Option<&str>) {
        let (got, bit) = (self.fresh(), self.fresh());
        self.next += 1;
        let at = self.next;
        self.line(&format!("{got} = call i32 @{call}"));
        self.line(&format!("{bit} = icmp eq i32 {got}, 0"));
        self.line(&format!("br i1 {bit}, label %got{at}, label %not{at}"));
        let _ = writeln!(self.text, "got{at}:");
        self.data();
        if let Some(unlock) = unlock {
            self.line(unlock);
        }
        self.line(&format!("br label %not{at}"));
        let _ = writeln!(self.text, "not{at}:");
    }

    /// What threads wait at.
    fn wait(&mut self) {
        let unlock = "call i32 @pthread_rwlock_unlock(ptr @w)";
        let is_disciplined = !self.chance(10);
        let ways: &[u32] = match self.discipline {
            _ if !is_disciplined => &[0, 1, 2, 3, 4, 5, 6, 7, 8],
            0 => &[0, 1, 7],
            1 => &[2, 3, 9],
            2 => &[4, 5, 5, 6],
            _ => &[8],
        };
        let way = ways[self.rng.below(ways.len() as u32) as usize];
        match way {
            0 => {
                self.line("call i32 @sem_wait(ptr @s)");
                self.data();
            }
            1 => {
                self.data();
                self.line("call i32 @sem_post(ptr @s)");
            }
            2 => self.data_between("call i32 @pthread_rwlock_rdlock(ptr @w)", unlock),
            3 => self.data_between("call i32 @pthread_rwlock_wrlock(ptr @w)", unlock),
            4 => {
                let unlock = "call i32 @pthread_mutex_unlock(ptr @m)";
                self.line("call i32 @pthread_mutex_lock(ptr @m)");
                self.data_between("call i32 @pthread_cond_wait(ptr @c, ptr @m)", unlock);
            }
            5 => {
                let call = self.pick(&["signal", "broadcast"]);
                let unlock = "call i32 @pthread_mutex_unlock(ptr @m)";
                self.data_between("call i32 @pthread_mutex_lock(ptr @m)", unlock);
                self.line(&format!("call i32 @pthread_cond_{call}(ptr @c)"));
            }
            6 => {
                let unlock = "call i32 @pthread_mutex_unlock(ptr @m)";
                self.data_between("call i32 @pthread_mutex_lock(ptr @m)", unlock);
            }
            7 => self.try_for("sem_trywait(ptr @s)", None),
            9 => self.try_for("pthread_rwlock_trywrlock(ptr @w)", Some(unlock)),
            _ => {
                self.line("call i32 @pthread_barrier_wait(ptr @b)");
                self.data();
            }
        }
    }

    pub(super) fn hand_over(&mut self) {
        match self.rng.below(100) {
            0..90 if self.shape.waits => self.wait(),
            0..15 => self.data(),
            15..50 => self.publish(),
            50..85 => self.consume(),
            85..90 => self.fence(),
            90..95 => {
                self.line("call void @__VERIFIER_atomic_begin()");
                self.publish();
                self.data();
                self.line("call void @__VERIFIER_atomic_end()");
            }
            _ => {
                self.line("call void @__VERIFIER_atomic_begin()");
                self.consume();
                self.line("call void @__VERIFIER_atomic_end()");
            }
        }
    }
}
