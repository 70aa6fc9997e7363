//! Synchronisation objects that are used rightly, mostly: now and then one is made late, destroyed early, or given back by
//! a thread that does not hold it.

use super::Writer;
use std::fmt::Write;

/// What a program is about.
const MUTEXES: u32 = 0;
const LOCKS: u32 = 1;
const BARRIERS: u32 = 2;
const SEMAPHORES: u32 = 3;
pub(super) const SUBJECTS: u32 = 6;

impl Writer {
    /// Does something go wrong here?
    fn is_wrong(&mut self) -> bool {
        self.chance(6)
    }

    fn call(&mut self, call: &str) {
        self.line(&format!("call i32 @{}", full_name(call)));
    }

    /// Calls, and remembers or checks what is returned.
    fn ask(&mut self, call: &str) {
        let value = self.fresh();
        self.line(&format!("{value} = call i32 @{}", full_name(call)));
        self.keep(&value);
        if self.chance(30) {
            let wrong = self.pick(&["1", "16", "35", "110"]);
            self.line(&format!("call void @check(i32 {value}, i32 {wrong})"));
        }
    }

    /// What `main` does before it starts threads.
    pub(super) fn prepare(&mut self) {
        if self.chance(30) {
            let value = self.fresh();
            self.line(&format!("{value} = call i32 @__VERIFIER_nondet_bool()"));
            self.line(&format!("store i32 {value}, ptr @some"));
        }
        if self.chance(if self.discipline == BARRIERS { 95 } else { 50 }) {
            self.make();
        }
        if self.chance(15) {
            self.destroy();
            if self.chance(70) {
                self.make();
            }
        }
        if self.discipline == MUTEXES && self.chance(20) {
            self.call("mutex_lock(ptr @m)");
            if self.is_wrong() {
                self.make();
            }
            self.depth += 1;
        }
    }

    /// What `main` does when the threads are joined.
    pub(super) fn clean_up(&mut self) {
        if self.chance(40) {
            self.destroy();
        }
    }

    fn make(&mut self) {
        match self.discipline {
            MUTEXES => {
                let kind = self.pick(&["null", "@recursive", "@checking", "@some"]);
                self.call(&format!("mutex_init(ptr @m, ptr {kind})"));
            }
            LOCKS => self.call("rwlock_init(ptr @w, ptr null)"),
            BARRIERS => {
                let count = self.pick(&["2", "2", "2", "1", "0"]);
                self.call(&format!("barrier_init(ptr @b, ptr null, i32 {count})"));
            }
            SEMAPHORES => {
                let count = self.rng.below(3);
                self.call(&format!("sem_init(ptr @s, i32 0, i32 {count})"));
            }
            _ => self.call("cond_init(ptr @c, ptr null)"),
        }
    }

    fn destroy(&mut self) {
        let call = match self.discipline {
            MUTEXES => "mutex_destroy(ptr @m)",
            LOCKS => "rwlock_destroy(ptr @w)",
            BARRIERS => "barrier_destroy(ptr @b)",
            SEMAPHORES => "sem_destroy(ptr @s)",
            _ => "cond_destroy(ptr @c)",
        };
        self.call(call);
    }

    pub(super) fn use_something(&mut self) {
        if self.is_wrong() {
            return match self.chance(50) {
                true => self.make(),
                false => self.destroy(),
            };
        }
        if self.depth < 1 && self.chance(10) {
            return self.branch();
        }
        match self.discipline {
            MUTEXES => self.use_mutex(),
            LOCKS => self.use_lock(),
            BARRIERS => self.use_barrier(),
            SEMAPHORES => self.use_semaphore(),
            _ => self.use_condition(),
        }
    }

    /// If something was got, it is given back.
    fn if_got(&mut self, call: &str, unlock: &str) {
        let (got, bit) = (self.fresh(), self.fresh());
        self.next += 1;
        let at = self.next;
        self.line(&format!("{got} = call i32 @{}", full_name(call)));
        self.line(&format!("{bit} = icmp eq i32 {got}, 0"));
        self.line(&format!("br i1 {bit}, label %got{at}, label %not{at}"));
        let _ = writeln!(self.text, "got{at}:");
        self.store();
        self.ask(unlock);
        self.line(&format!("br label %not{at}"));
        let _ = writeln!(self.text, "not{at}:");
    }

    fn use_mutex(&mut self) {
        let unlock = "mutex_unlock(ptr @m)";
        match self.rng.below(10) {
            0..2 => self.if_got("mutex_trylock(ptr @m)", unlock),
            2 => {
                self.ask("mutex_lock(ptr @m)");
                self.ask("mutex_lock(ptr @m)");
                self.ask(unlock);
                self.ask(unlock);
            }
            _ => {
                if !self.is_wrong() {
                    self.ask("mutex_lock(ptr @m)");
                }
                if self.chance(30) {
                    self.update();
                }
                if self.is_wrong() {
                    self.make();
                }
                if !self.is_wrong() {
                    self.ask(unlock);
                }
            }
        }
    }

    fn use_lock(&mut self) {
        let unlock = "rwlock_unlock(ptr @w)";
        match self.rng.below(10) {
            0 => self.if_got("rwlock_trywrlock(ptr @w)", unlock),
            1 => self.if_got("rwlock_tryrdlock(ptr @w)", unlock),
            2 => {
                let calls = ["rwlock_rdlock(ptr @w)", "rwlock_wrlock(ptr @w)"];
                let (first, second) = (self.pick(&calls), self.pick(&calls[..1]));
                self.ask(first);
                self.ask(second);
                self.ask(unlock);
                self.ask(unlock);
            }
            way => {
                let call = if way < 7 { "rdlock" } else { "wrlock" };
                if !self.is_wrong() {
                    self.ask(&format!("rwlock_{call}(ptr @w)"));
                }
                if self.chance(30) {
                    self.update();
                }
                if !self.is_wrong() {
                    self.ask(unlock);
                }
            }
        }
    }

    /// Who meets whom has many answers, so there are not too many meetings.
    fn use_barrier(&mut self) {
        match self.chance(50) {
            true => self.ask("barrier_wait(ptr @b)"),
            false => self.update(),
        }
    }

    fn use_semaphore(&mut self) {
        match self.rng.below(5) {
            0 => self.if_got("sem_trywait(ptr @s)", "sem_post(ptr @s)"),
            1..3 => self.call("sem_wait(ptr @s)"),
            _ => self.ask("sem_post(ptr @s)"),
        }
    }

    fn use_condition(&mut self) {
        let way = self.rng.below(10);
        if way < 5 {
            let call = self.pick(&["signal", "signal", "broadcast"]);
            return self.call(&format!("cond_{call}(ptr @c)"));
        }
        self.call("mutex_lock(ptr @m)");
        match way {
            5 => self.update(),
            6 => {
                let call = self.pick(&["signal", "broadcast"]);
                self.call(&format!("cond_{call}(ptr @c)"));
            }
            7 => self.ask("cond_timedwait(ptr @c, ptr @m, ptr @never)"),
            _ => self.call("cond_wait(ptr @c, ptr @m)"),
        }
        self.call("mutex_unlock(ptr @m)");
    }
}

/// All but semaphores are functions of threads.
fn full_name(call: &str) -> String {
    match call.starts_with("sem_") {
        true => call.to_owned(),
        false => format!("pthread_{call}"),
    }
}
