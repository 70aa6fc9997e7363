//! Random programs whose loops may come to nothing: `bmc`, which leaves such rounds out, must say what the enumeration of all
//! executions says, under every memory model. An assumption, or a test, ends each loop after a few rounds, so that there is an end
//! to the enumeration.

use raddle_bmc::BmcOptions;
use raddle_program::interp::view::View;
use raddle_program::interp::{InterpOptions, Interpreter};
use raddle_random::Random32 as Rng;
use raddle_search::driver::{Limits, Reductions, SearchOptions};
use raddle_search::{Checks, EngineKind, MemoryModel, Verdict};
use std::fmt::Write;

/// Programs with more executions are left out.
const MOST_EXECUTIONS: u64 = 40_000;

/// Flags that one thread writes mostly, flags and data that all write.
const OWN: [&str; 2] = ["@own0", "@own1"];
const FLAGS: [&str; 2] = ["@x", "@y"];

struct Thread<'a> {
    rng: &'a mut Rng,
    me: usize,
    text: String,
    /// The block that is written now, and how many names were given.
    block: String,
    names: u32,
}

impl Thread<'_> {
    fn name(&mut self, what: &str) -> String {
        self.names += 1;
        format!("{what}{}", self.names)
    }

    fn line(&mut self, line: &str) {
        writeln!(self.text, "  {line}").expect("strings can be written");
    }

    fn begin(&mut self, block: &str) {
        writeln!(self.text, "{block}:").expect("strings can be written");
        self.block = block.to_owned();
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.rng.below(100) < percent
    }

    fn pick<'b>(&mut self, from: &[&'b str]) -> &'b str {
        from[self.rng.below(from.len() as u32) as usize]
    }

    fn load(&mut self, from: &str, order: &str) -> String {
        let value = self.name("%v");
        if order == "plain" {
            self.line(&format!("{value} = load i32, ptr {from}, align 4"));
        } else {
            self.line(&format!(
                "{value} = load atomic i32, ptr {from} {order}, align 4"
            ));
        }
        value
    }

    fn store(&mut self, to: &str, value: u32, order: &str) {
        if order == "plain" {
            self.line(&format!("store i32 {value}, ptr {to}, align 4"));
        } else {
            self.line(&format!(
                "store atomic i32 {value}, ptr {to} {order}, align 4"
            ));
        }
    }

    fn store_order(&mut self) -> &'static str {
        self.pick(&["seq_cst", "seq_cst", "seq_cst", "release", "monotonic"])
    }

    fn load_order(&mut self) -> &'static str {
        self.pick(&["seq_cst", "seq_cst", "acquire", "monotonic", "monotonic"])
    }

    /// A flag of the other thread, mostly.
    fn foreign(&mut self) -> &'static str {
        match self.rng.below(4) {
            0 | 1 => OWN[1 - self.me],
            2 => FLAGS[0],
            _ => FLAGS[1],
        }
    }

    /// A branch: to `then` if the value is the number.
    fn leave_if(&mut self, value: &str, number: u32, then: &str) {
        let (test, next) = (self.name("%t"), self.name("b"));
        self.line(&format!("{test} = icmp eq i32 {value}, {number}"));
        self.line(&format!("br i1 {test}, label %{then}, label %{next}"));
        self.begin(&next);
    }

    fn wrong_if_both(&mut self, (a, is_a): (&str, u32), (b, is_b): (&str, u32)) {
        let names = ["%t", "%t", "%t"].map(|what| self.name(what));
        let (bad, next) = (self.name("bad"), self.name("b"));
        self.line(&format!("{} = icmp eq i32 {a}, {is_a}", names[0]));
        self.line(&format!("{} = icmp eq i32 {b}, {is_b}", names[1]));
        self.line(&format!("{} = and i1 {}, {}", names[2], names[0], names[1]));
        self.line(&format!("br i1 {}, label %{bad}, label %{next}", names[2]));
        self.begin(&bad);
        self.line("call void @reach_error()");
        self.line("unreachable");
        self.begin(&next);
    }

    fn looping(&mut self, rounds: u32) {
        let [header, out] = ["loop", "out"].map(|what| self.name(what));
        let [i, next] = ["%i", "%n"].map(|what| self.name(what));
        let latch = self.name("latch");
        let before = self.block.clone();
        self.line(&format!("br label %{header}"));
        self.begin(&header);
        self.line(&format!(
            "{i} = phi i32 [ 0, %{before} ], [ {next}, %{latch} ]"
        ));
        let by_assumption = self.chance(75);
        let bound = |thread: &mut Self| {
            let few = thread.name("%t");
            thread.line(&format!("{few} = icmp slt i32 {i}, {rounds}"));
            if by_assumption {
                let wide = thread.name("%w");
                thread.line(&format!("{wide} = zext i1 {few} to i32"));
                thread.line(&format!("call void @__VERIFIER_assume(i32 {wide})"));
            } else {
                let go_on = thread.name("b");
                thread.line(&format!("br i1 {few}, label %{go_on}, label %{out}"));
                thread.begin(&go_on);
            }
        };
        let is_early = self.chance(50);
        if is_early {
            bound(self);
        }
        let own = OWN[self.me];
        let withdraws = self.chance(60);
        if withdraws {
            let order = self.store_order();
            self.store(own, 1, order);
        }
        for _ in 0..1 + self.rng.below(2) {
            let (flag, order) = (self.foreign(), self.load_order());
            let found = self.load(flag, order);
            let wanted = self.rng.below(2);
            self.leave_if(&found, wanted, &out);
        }
        if self.chance(40) {
            let order = self.pick(&["plain", "monotonic", "acquire"]);
            self.load("@d", order);
        }
        if self.chance(15) {
            let order = self.store_order();
            self.store(FLAGS[0], 1, order);
        }
        if self.chance(15) {
            let old = self.name("%v");
            self.line(&format!(
                "{old} = cmpxchg ptr @y, i32 1, i32 0 seq_cst monotonic, align 4"
            ));
        }
        if withdraws && self.chance(85) {
            let order = self.store_order();
            self.store(own, 0, order);
        }
        if !is_early {
            bound(self);
        }
        self.line(&format!("br label %{latch}"));
        self.begin(&latch);
        self.line(&format!("{next} = add nsw i32 {i}, 1"));
        self.line(&format!("br label %{header}"));
        self.begin(&out);
        if withdraws && self.chance(50) {
            let order = self.store_order();
            self.store(own, 0, order);
        }
    }

    fn anything(&mut self, rounds: u32) {
        let loops = self.me == 0 || self.chance(30);
        for _ in 0..self.rng.below(if loops { 2 } else { 3 }) {
            self.simple();
        }
        if loops {
            self.looping(rounds);
        }
        for _ in 0..1 + self.rng.below(2) {
            self.simple();
        }
    }

    fn simple(&mut self) {
        let order = self.store_order();
        match self.rng.below(6) {
            0 | 1 => {
                let flag = self.pick(&FLAGS);
                self.store(flag, 1, order);
            }
            2 => {
                let value = self.rng.below(2);
                self.store(OWN[self.me], value, order);
            }
            3 => {
                let order = self.pick(&["plain", "plain", "monotonic", "release"]);
                self.store("@d", 1, order);
            }
            4 if self.chance(20) => self.store(OWN[1 - self.me], 1, order),
            _ => {
                let (first, second) = (self.foreign(), self.pick(&["@x", "@y", "@d"]));
                let orders = [self.load_order(), self.load_order()];
                let (a, b) = (self.load(first, orders[0]), self.load(second, orders[1]));
                let (is_a, is_b) = (self.rng.below(2), self.rng.below(2));
                self.wrong_if_both((&a, is_a), (&b, is_b));
            }
        }
    }
}

impl Thread<'_> {
    /// What this thread wrote in rounds that it went on after has consequences for itself.
    fn is_seen(&mut self, rounds: u32) {
        if self.me == 0 {
            self.looping(rounds);
            let found = self.load("@x", "seq_cst");
            self.wrong_if_both((&found, 1), (&found, 1));
            return;
        }
        let orders = [self.load_order(), self.load_order()];
        let (a, b) = (self.load(OWN[0], orders[0]), self.load(OWN[0], orders[1]));
        let (is_a, is_b) = if self.chance(80) { (1, 0) } else { (0, 1) };
        let out = self.name("out");
        self.leave_if(&a, 1 - is_a, &out);
        self.leave_if(&b, 1 - is_b, &out);
        let order = self.store_order();
        self.store("@x", 1, order);
        self.line(&format!("br label %{out}"));
        self.begin(&out);
    }

    /// The second thread waits for the first, which waits for the second and looks at what that is going to write.
    fn is_raced_with(&mut self, rounds: u32) {
        let order = self.pick(&["monotonic", "monotonic", "release"]);
        self.store(FLAGS[self.me], self.me as u32, order);
        self.waiting(FLAGS[1 - self.me], rounds);
        if self.me == 0 {
            self.store("@x", 1, order);
        } else {
            let order = self.pick(&["plain", "plain", "monotonic"]);
            self.store("@d", 1, order);
        }
    }

    fn waiting(&mut self, flag: &str, rounds: u32) {
        let [header, out, latch] = ["loop", "out", "latch"].map(|what| self.name(what));
        let [i, next, few, wide] = ["%i", "%n", "%t", "%w"].map(|what| self.name(what));
        let before = self.block.clone();
        self.line(&format!("br label %{header}"));
        self.begin(&header);
        self.line(&format!(
            "{i} = phi i32 [ 0, %{before} ], [ {next}, %{latch} ]"
        ));
        let found = self.load(flag, "monotonic");
        self.leave_if(&found, 1, &out);
        if self.me == 0 {
            let order = self.pick(&["plain", "plain", "monotonic"]);
            self.load("@d", order);
        }
        self.line(&format!("{few} = icmp slt i32 {i}, {rounds}"));
        self.line(&format!("{wide} = zext i1 {few} to i32"));
        self.line(&format!("call void @__VERIFIER_assume(i32 {wide})"));
        self.line(&format!("br label %{latch}"));
        self.begin(&latch);
        self.line(&format!("{next} = add nsw i32 {i}, 1"));
        self.line(&format!("br label %{header}"));
        self.begin(&out);
    }
}

fn thread(rng: &mut Rng, (me, rounds, kind): (usize, u32, u32)) -> String {
    let mut thread = Thread {
        rng,
        me,
        text: String::new(),
        block: String::new(),
        names: 0,
    };
    thread.begin("entry");
    match kind {
        0 => thread.is_seen(rounds),
        1 => thread.is_raced_with(rounds),
        _ => thread.anything(rounds),
    }
    thread.line("ret ptr null");
    format!("define ptr @t{me}(ptr %a) {{\n{}}}\n", thread.text)
}

fn generate(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let rounds = 1 + rng.below(3);
    let kind = rng.below(5);
    let mut text = String::new();
    for variable in OWN.iter().chain(&FLAGS).chain(&["@d"]) {
        writeln!(text, "{variable} = global i32 0, align 4").expect("strings can be written");
    }
    text.push_str(
        "declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare void @__VERIFIER_assume(i32)
declare void @reach_error()
",
    );
    for me in 0..2 {
        text.push_str(&thread(&mut rng, (me, rounds, kind)));
    }
    text.push_str(
        "define i32 @main() {
  %h = alloca i64, align 8
  %c0 = call i32 @pthread_create(ptr %h, ptr null, ptr @t0, ptr null)
  %c1 = call i32 @pthread_create(ptr %h, ptr null, ptr @t1, ptr null)
  ret i32 0
}
",
    );
    text
}

fn parse(text: &str) -> raddle_ir::Module {
    raddle_ir::parse_module(text.to_owned(), "random").expect("well-formed")
}

fn by_enumeration(text: &str, search: SearchOptions) -> Verdict {
    let mut program =
        Interpreter::load(parse(text), InterpOptions::default()).expect("it has a main");
    let outcome = raddle_search::check(&mut program, EngineKind::Naive, search);
    outcome.expect("violations are reproduced").verdict
}

fn by_formula(text: &str, search: SearchOptions) -> Verdict {
    let looked_at = InterpOptions {
        unroll: Some(1),
        ..InterpOptions::default()
    };
    let view = View::new(parse(text), looked_at).expect("it has a main");
    let mut program =
        Interpreter::load(parse(text), InterpOptions::default()).expect("it has a main");
    let options = BmcOptions {
        threads: None,
        memory: search.memory,
        unroll: None,
        exit_with_main: false,
        spurious_wakeups: false,
        spurious_failures: raddle_program::interp::SpuriousFailures::None,
        any_unwritten: false,
        silent_abort: false,
        effort: None,
        may_be_large: false,
        patience: raddle_bmc::PATIENCE,
    };
    match raddle_bmc::check(view, &mut program, options, search) {
        Ok(outcome) => outcome.verdict,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn no_violation_is_lost_with_rounds_that_come_to_nothing() {
    let (mut violations, mut verified) = (0, 0);
    let first = number("RADDLE_PROPTEST_SEED", 0);
    for seed in first..first + number("RADDLE_PROPTEST_CASES", 400) {
        let text = generate(seed);
        for memory in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso] {
            for races in [false, true] {
                let checks = Checks {
                    assertions: !races,
                    races,
                    ..Checks::default()
                };
                let search = |purity| SearchOptions {
                    checks,
                    memory,
                    limits: Limits {
                        executions: Some(MOST_EXECUTIONS),
                        ..Limits::default()
                    },
                    reductions: Reductions {
                        purity,
                        ..Reductions::default()
                    },
                    ..SearchOptions::default()
                };
                let expected = match by_enumeration(&text, search(true)) {
                    Verdict::Verified(_) => true,
                    Verdict::Violation(_) => false,
                    _ => continue,
                };
                for purity in [true, false] {
                    let found = match by_formula(&text, search(purity)) {
                        Verdict::Verified(_) => true,
                        Verdict::Violation(_) => false,
                        other => panic!("seed {seed}: {other:?}\n{text}"),
                    };
                    assert_eq!(
                        found,
                        expected,
                        "seed {seed}, {}, races: {races}, purity: {purity}\n{text}",
                        memory.name()
                    );
                }
                verified += u32::from(expected);
                violations += u32::from(!expected);
            }
        }
    }
    assert!(verified > violations / 20, "{verified} verified");
    assert!(violations > verified / 20, "{violations} violations");
}
