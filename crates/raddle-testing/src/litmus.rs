//! Litmus tests: a few threads that load and store a few variables, and a question about what they can end in. They are
//! what memory models are compared on.
//!
//! A [`Litmus`] is data, so that it can be made into a program of the builder, into C, and into whatever else a memory model
//! is checked with. Every thread returns what its loads returned, four bits for each, the first lowest.

mod c11;
mod classics;
mod random;

pub use c11::{C11Test, c11_tests};
pub use classics::{Classic, classics};

use crate::builder::{BuiltProgram, Compare, Expr, Place, ProgramBuilder, Reg, ThreadBuilder};
use raddle_program::op::{Order, RmwKind, Value};
use std::fmt::Write;

/// One operation of a thread. Locations are numbered from 0; all are 0 at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Load {
        at: usize,
        order: Order,
    },
    Store {
        at: usize,
        value: Value,
        order: Order,
    },
    Exchange {
        at: usize,
        value: Value,
        order: Order,
    },
    Add {
        at: usize,
        value: Value,
        order: Order,
    },
    Cas {
        at: usize,
        expected: Value,
        new: Value,
        order: Order,
        /// Its ordering if it fails, where that is not simply what is left of `order` without a store.
        failure: Option<Order>,
    },
    Fence(Order),
}

impl Action {
    /// The location that it accesses.
    #[must_use]
    pub fn location(&self) -> Option<usize> {
        match *self {
            Self::Load { at, .. }
            | Self::Store { at, .. }
            | Self::Exchange { at, .. }
            | Self::Add { at, .. }
            | Self::Cas { at, .. } => Some(at),
            Self::Fence(_) => None,
        }
    }

    /// Does it return what it read?
    #[must_use]
    pub fn reads(&self) -> bool {
        !matches!(self, Self::Store { .. } | Self::Fence(_))
    }
}

/// What an execution ended in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outcome {
    /// By thread, what its reads returned, in program order.
    pub reads: Vec<Vec<Value>>,
    /// By location, what memory holds at the end; `None` in a question that does not care.
    pub memory: Vec<Option<Value>>,
}

impl Outcome {
    /// Is `other`, which says everything, an answer to the question `self`?
    #[must_use]
    pub fn admits(&self, other: &Self) -> bool {
        self.reads == other.reads
            && self
                .memory
                .iter()
                .zip(&other.memory)
                .all(|(wanted, found)| wanted.is_none() || wanted == found)
    }
}

/// The threads of a litmus test.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Litmus {
    pub name: String,
    pub locations: usize,
    pub threads: Vec<Vec<Action>>,
}

/// Bits of each value in what a thread returns.
const BITS: usize = 4;

impl Litmus {
    fn location_name(at: usize) -> String {
        ["x", "y", "z"]
            .get(at)
            .map_or_else(|| format!("v{at}"), |&name| name.to_owned())
    }

    /// What a thread returns if its reads returned these.
    #[must_use]
    pub fn packed(reads: &[Value]) -> Value {
        let fields = reads.iter().enumerate();
        fields.fold(0, |all, (index, value)| all | value << (BITS * index))
    }

    /// What the reads of a thread returned, given what the thread returned.
    #[must_use]
    pub fn unpacked(&self, thread: usize, returned: Value) -> Vec<Value> {
        let reads = self.threads[thread].iter().filter(|action| action.reads());
        let field = |(index, _)| returned >> (BITS * index) & ((1 << BITS) - 1);
        reads.enumerate().map(field).collect()
    }

    /// The program, and its variables. `main` spawns the threads, joins them and does what `end` says with what they returned
    /// and with the variables.
    fn program(
        &self,
        end: impl FnOnce(&mut ThreadBuilder, &[Reg], &[Place]),
    ) -> (BuiltProgram, Vec<Place>) {
        let mut builder = ProgramBuilder::new(&self.name);
        let places: Vec<Place> = (0..self.locations)
            .map(|at| builder.var(&Self::location_name(at), 4))
            .collect();
        let mut threads = Vec::new();
        for (index, actions) in self.threads.iter().enumerate() {
            let body = |t: &mut ThreadBuilder| run(t, actions, &places);
            threads.push(builder.child(&format!("thread{}", index + 1), body));
        }
        builder.main(|main| {
            let handles: Vec<Reg> = threads.iter().map(|&thread| main.spawn(thread)).collect();
            let returned: Vec<Reg> = handles.iter().map(|&handle| main.join(handle)).collect();
            end(main, &returned, &places);
        });
        (builder.build(), places)
    }

    /// The program without a question: threads exit with what they read.
    #[must_use]
    pub fn build(&self) -> BuiltProgram {
        self.program(|_, _, _| {}).0
    }

    /// The program with the assertion that it does not end like this: it fails if and only if it can.
    #[must_use]
    pub fn forbidding(&self, outcome: &Outcome) -> BuiltProgram {
        let end = |main: &mut ThreadBuilder, returned: &[Reg], places: &[Place]| {
            let mut other = Expr::from(0u32);
            for (&register, reads) in returned.iter().zip(&outcome.reads) {
                other = other | register.differs(Self::packed(reads));
            }
            for (&place, wanted) in places.iter().zip(&outcome.memory) {
                if let Some(wanted) = *wanted {
                    let last = main.load(place);
                    other = other | last.differs(wanted);
                }
            }
            main.assert(other);
        };
        self.program(end).0
    }

    /// The same in C.
    #[must_use]
    pub fn to_c(&self, outcome: &Outcome) -> String {
        let mut text = format!("// {}\n", self.name);
        text += "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdint.h>\n\n";
        let names: Vec<String> = (0..self.locations).map(Self::location_name).collect();
        let _ = writeln!(text, "static atomic_int {};\n", names.join(", "));
        for (index, actions) in self.threads.iter().enumerate() {
            let _ = writeln!(text, "static void *thread{}(void *arg) {{", index + 1);
            let mut returned = vec!["(intptr_t)arg".to_owned()];
            for action in actions {
                let result = format!("r{}", returned.len());
                let shift = BITS * (returned.len() - 1);
                text += &statement(action, &names, &result);
                if action.reads() {
                    returned.push(format!("(intptr_t){result} << {shift}"));
                }
            }
            let _ = writeln!(text, "    return (void *)({});\n}}\n", returned.join(" | "));
        }
        text += "int main(void) {\n";
        let count = self.threads.len();
        let _ = writeln!(
            text,
            "    pthread_t threads[{count}];\n    void *returned[{count}];"
        );
        for index in 0..count {
            let _ = writeln!(
                text,
                "    pthread_create(&threads[{index}], 0, thread{}, 0);",
                index + 1
            );
        }
        for index in 0..count {
            let _ = writeln!(
                text,
                "    pthread_join(threads[{index}], &returned[{index}]);"
            );
        }
        let mut wanted: Vec<String> = Vec::new();
        for (index, reads) in outcome.reads.iter().enumerate() {
            let value = Self::packed(reads);
            wanted.push(format!("(intptr_t)returned[{index}] == {value:#x}"));
        }
        for (name, value) in names.iter().zip(&outcome.memory) {
            if let Some(value) = value {
                wanted.push(format!("{name} == {value}"));
            }
        }
        let _ = writeln!(
            text,
            "    assert(!({}));\n    return 0;\n}}",
            wanted.join(" && ")
        );
        text
    }
}

impl Litmus {
    /// The same in C++, with its own atomics and threads.
    #[must_use]
    pub fn to_cpp(&self, outcome: &Outcome) -> String {
        let mut text = format!("// {}\n", self.name);
        text += "#include <atomic>\n#include <cassert>\n#include <thread>\n\n";
        let names: Vec<String> = (0..self.locations).map(Self::location_name).collect();
        for name in &names {
            let _ = writeln!(text, "static std::atomic<int> {name}{{0}};");
        }
        for index in 1..=self.threads.len() {
            let _ = writeln!(text, "static long returned{index};");
        }
        for (index, actions) in self.threads.iter().enumerate() {
            let _ = writeln!(text, "\nstatic void thread{}() {{", index + 1);
            let mut returned = vec!["0".to_owned()];
            for action in actions {
                let result = format!("r{}", returned.len());
                let shift = BITS * (returned.len() - 1);
                text += &cpp_statement(action, &names, &result);
                if action.reads() {
                    returned.push(format!("(long){result} << {shift}"));
                }
            }
            let _ = writeln!(
                text,
                "    returned{} = {};\n}}",
                index + 1,
                returned.join(" | ")
            );
        }
        text += "\nint main() {\n";
        for index in 1..=self.threads.len() {
            let _ = writeln!(text, "    std::thread t{index}(thread{index});");
        }
        for index in 1..=self.threads.len() {
            let _ = writeln!(text, "    t{index}.join();");
        }
        let mut wanted: Vec<String> = Vec::new();
        for (index, reads) in outcome.reads.iter().enumerate() {
            let value = Self::packed(reads);
            wanted.push(format!("returned{} == {value:#x}", index + 1));
        }
        for (name, value) in names.iter().zip(&outcome.memory) {
            if let Some(value) = value {
                wanted.push(format!("{name}.load() == {value}"));
            }
        }
        let wanted = wanted.join(" && ");
        let _ = writeln!(text, "    assert(!({wanted}));\n    return 0;\n}}");
        text
    }
}

fn cpp_statement(action: &Action, names: &[String], result: &str) -> String {
    let order = |order: Order| format!("std::{}", c_order(order));
    match *action {
        Action::Load { at, order: o } => {
            format!("    int {result} = {}.load({});\n", names[at], order(o))
        }
        Action::Store {
            at,
            value,
            order: o,
        } => {
            format!("    {}.store({value}, {});\n", names[at], order(o))
        }
        Action::Exchange {
            at,
            value,
            order: o,
        } => format!(
            "    int {result} = {}.exchange({value}, {});\n",
            names[at],
            order(o)
        ),
        Action::Add {
            at,
            value,
            order: o,
        } => format!(
            "    int {result} = {}.fetch_add({value}, {});\n",
            names[at],
            order(o)
        ),
        Action::Cas {
            at,
            expected,
            new,
            order: o,
            failure,
        } => format!(
            "    int {result} = {expected};\n    \
             {}.compare_exchange_strong({result}, {new}, {}, {});\n",
            names[at],
            order(o),
            order(failure.unwrap_or_else(|| without_store(o)))
        ),
        Action::Fence(o) => format!("    std::atomic_thread_fence({});\n", order(o)),
    }
}

/// The code of a thread.
fn run(t: &mut ThreadBuilder, actions: &[Action], places: &[Place]) {
    let mut returned = Expr::from(0u32);
    let mut scale: Value = 1;
    for action in actions {
        let read = match *action {
            Action::Load { at, order } => t.load_order(places[at], order),
            Action::Store { at, value, order } => {
                t.store_order(places[at], value, order);
                continue;
            }
            Action::Exchange { at, value, order } => {
                t.rmw(places[at], RmwKind::Exchange, value, order)
            }
            Action::Add { at, value, order } => t.rmw(places[at], RmwKind::Add, value, order),
            Action::Cas {
                at,
                expected,
                new,
                order,
                failure,
            } => {
                let failure = failure.unwrap_or_else(|| without_store(order));
                t.cas_order(places[at], expected, new, order, failure).0
            }
            Action::Fence(order) => {
                t.fence(order);
                continue;
            }
        };
        returned = returned + Expr::from(read) * Expr::from(scale);
        scale <<= BITS;
    }
    t.exit(returned);
}

/// The ordering of a compare-exchange that fails: it stores nothing.
fn without_store(order: Order) -> Order {
    match order {
        Order::Release => Order::Relaxed,
        Order::AcqRel => Order::Acquire,
        other => other,
    }
}

fn statement(action: &Action, names: &[String], result: &str) -> String {
    match *action {
        Action::Load { at, order } => format!(
            "    int {result} = atomic_load_explicit(&{}, {});\n",
            names[at],
            c_order(order)
        ),
        Action::Store { at, value, order } => format!(
            "    atomic_store_explicit(&{}, {value}, {});\n",
            names[at],
            c_order(order)
        ),
        Action::Exchange { at, value, order } => format!(
            "    int {result} = atomic_exchange_explicit(&{}, {value}, {});\n",
            names[at],
            c_order(order)
        ),
        Action::Add { at, value, order } => format!(
            "    int {result} = atomic_fetch_add_explicit(&{}, {value}, {});\n",
            names[at],
            c_order(order)
        ),
        Action::Cas {
            at,
            expected,
            new,
            order,
            failure,
        } => format!(
            "    int {result} = {expected};\n    \
             atomic_compare_exchange_strong_explicit(&{}, &{result}, {new}, {}, {});\n",
            names[at],
            c_order(order),
            c_order(failure.unwrap_or_else(|| without_store(order)))
        ),
        Action::Fence(order) => format!("    atomic_thread_fence({});\n", c_order(order)),
    }
}

/// C has no plain atomics.
fn c_order(order: Order) -> &'static str {
    match order {
        Order::Plain | Order::Relaxed => "memory_order_relaxed",
        Order::Acquire => "memory_order_acquire",
        Order::Release => "memory_order_release",
        Order::AcqRel => "memory_order_acq_rel",
        Order::SeqCst => "memory_order_seq_cst",
    }
}
