//! Random programs with atomic blocks that stop in their middle: behind an assumption, at a bound, at a fault that is not looked
//! for, at something that is not supported; with blocks in which nothing happens, or perhaps nothing; with threads that are started in a
//! block. All engines must answer what a walk over the states of the program says, which knows that a block that stops does not happen.

use raddle_bmc::BmcOptions;
use raddle_program::interp::view::View;
use raddle_program::interp::{InterpOptions, Interpreter};
use raddle_random::Random32 as Rng;
use raddle_search::driver::SearchOptions;
use raddle_search::{Checks, EngineKind, MemoryModel, Reason, Verdict};
use std::collections::BTreeSet;
use std::fmt::Write;

const VARIABLES: usize = 2;
const BOUND: u32 = 2;

/// Why a thread stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Assumption,
    /// A loop without end, which the bound cuts short.
    Loop,
    /// A fault that is not looked for.
    Fault,
    Unsupported,
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Store(usize, u32),
    Add(usize, u32),
    /// A store that happens or not.
    Perhaps(usize, u32),
    /// Goes wrong if the variable has this value.
    Forbid(usize, u32),
    /// Stops if the variable has this value; if `by_chance`, only perhaps.
    StopIf {
        variable: usize,
        value: u32,
        by_chance: bool,
        cause: Cause,
    },
}

/// What happens at once.
#[derive(Clone, Debug)]
struct Event {
    actions: Vec<Action>,
    is_block: bool,
}

type Thread = Vec<Event>;

struct Generated {
    threads: Vec<Thread>,
    /// The block at whose beginning `main` starts the others; none: they are there from the start.
    start: Option<usize>,
}

type Memory = [u32; VARIABLES];

fn action(rng: &mut Rng, causes: &[Cause], in_block: bool) -> Action {
    let variable = rng.below(VARIABLES as u32) as usize;
    let value = rng.below(3);
    match rng.below(if in_block { 9 } else { 5 }) {
        8 => Action::Perhaps(variable, value),
        0 | 1 => Action::Store(variable, value),
        2 => Action::Add(variable, 1),
        3 if rng.below(3) > 0 => Action::Add(variable, 1),
        3 | 4 => Action::Forbid(variable, 2 + value),
        _ => Action::StopIf {
            variable,
            value,
            by_chance: rng.below(2) == 0,
            cause: causes[rng.below(causes.len() as u32) as usize],
        },
    }
}

fn generate(seed: u64) -> Generated {
    let mut rng = Rng::new(seed);
    let all = [
        Cause::Assumption,
        Cause::Loop,
        Cause::Fault,
        Cause::Unsupported,
    ];
    // What is not supported is the answer wherever it is met and nothing goes wrong.
    let causes = if rng.below(4) == 0 {
        &all[..]
    } else {
        &all[..3]
    };
    let threads = 2 + rng.below(2);
    let mut made = Vec::new();
    for _ in 0..threads {
        let mut thread = Vec::new();
        for _ in 0..1 + rng.below(3) {
            let is_block = rng.below(2) == 0;
            let count = match is_block {
                true if rng.below(6) == 0 => 0,
                true => 1 + rng.below(4),
                false => 1,
            };
            let actions = (0..count).map(|_| action(&mut rng, causes, is_block));
            thread.push(Event {
                actions: actions.collect(),
                is_block,
            });
        }
        made.push(thread);
    }
    let start = (rng.below(3) == 0).then(|| rng.below(made[0].len() as u32) as usize);
    if let Some(start) = start {
        made[0][start].is_block = true;
    }
    Generated {
        threads: made,
        start,
    }
}

// ---- the walk

#[derive(Debug, Default)]
struct Truth {
    goes_wrong: bool,
    is_beyond: bool,
    stops_in_block: bool,
}

/// What memory holds, whether threads were started, and how far they have come: none where one has stopped.
type State = (Memory, bool, Vec<Option<usize>>);

/// What may become of memory: none if the thread stops.
fn outcomes(event: &Event, memory: Memory, truth: &mut Truth) -> Vec<Option<Memory>> {
    let mut ways = vec![memory];
    let mut found = Vec::new();
    for action in &event.actions {
        for memory in std::mem::take(&mut ways) {
            let mut next = memory;
            match *action {
                Action::Store(variable, value) => next[variable] = value,
                Action::Add(variable, value) => next[variable] += value,
                Action::Perhaps(variable, value) => {
                    ways.push(memory);
                    next[variable] = value;
                }
                Action::Forbid(variable, value) if memory[variable] == value => {
                    truth.goes_wrong = true;
                    found.push(None);
                    continue;
                }
                Action::Forbid(..) => {}
                Action::StopIf {
                    variable,
                    value,
                    by_chance,
                    cause,
                } if memory[variable] == value => {
                    truth.stops_in_block |= event.is_block;
                    truth.is_beyond |= cause == Cause::Unsupported;
                    found.push(None);
                    if !by_chance {
                        continue;
                    }
                }
                Action::StopIf { .. } => {}
            }
            ways.push(next);
        }
    }
    found.extend(ways.into_iter().map(Some));
    found
}

fn walk(program: &Generated) -> Truth {
    let threads = &program.threads;
    let mut truth = Truth::default();
    let start: State = (
        [0; VARIABLES],
        program.start.is_none(),
        vec![Some(0); threads.len()],
    );
    let mut seen = BTreeSet::from([start.clone()]);
    let mut open = vec![start];
    while let Some((memory, has_started, places)) = open.pop() {
        for (thread, place) in places.iter().enumerate() {
            let Some(place) = *place else { continue };
            if thread > 0 && !has_started {
                continue;
            }
            let Some(event) = threads[thread].get(place) else {
                continue;
            };
            for outcome in outcomes(event, memory, &mut truth) {
                let mut places = places.clone();
                places[thread] = outcome.map(|_| place + 1);
                let starts = thread == 0 && Some(place) == program.start && outcome.is_some();
                let next = (outcome.unwrap_or(memory), has_started || starts, places);
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    truth
}

// ---- the same as a program

struct Writer {
    text: String,
    names: u32,
}

impl Writer {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("strings can be written");
    }

    fn is(&mut self, variable: usize, value: u32) -> String {
        self.names += 1;
        let name = self.names;
        self.line(&format!(
            "%v{name} = load atomic i32, ptr @x{variable} seq_cst, align 4\n%c{name} = icmp eq i32 %v{name}, {value}"
        ));
        format!("%c{name}")
    }

    fn only_if(&mut self, condition: &str, write: impl FnOnce(&mut Self, u32)) {
        self.names += 1;
        let name = self.names;
        self.line(&format!(
            "br i1 {condition}, label %then{name}, label %out{name}\nthen{name}:"
        ));
        write(self, name);
        self.line(&format!("br label %out{name}\nout{name}:"));
    }

    fn stop(&mut self, cause: Cause, name: u32) {
        match cause {
            Cause::Assumption => self.line("call void @__VERIFIER_assume(i32 0)"),
            Cause::Loop => self.line(&format!(
                "br label %loop{name}\nloop{name}:\nstore atomic i32 7, ptr @x0 seq_cst, align 4\n%f{name} = load i32, ptr @for_ever\n%g{name} = icmp ne i32 %f{name}, 0\nbr i1 %g{name}, label %loop{name}, label %over{name}\nover{name}:"
            )),
            Cause::Fault => self.line("store i32 1, ptr null"),
            Cause::Unsupported => self.line("call void @mystery()"),
        }
    }

    fn action(&mut self, action: Action) {
        match action {
            Action::Store(variable, value) => self.line(&format!(
                "store atomic i32 {value}, ptr @x{variable} seq_cst, align 4"
            )),
            Action::Add(variable, value) => {
                self.names += 1;
                let name = self.names;
                self.line(&format!(
                    "%v{name} = atomicrmw add ptr @x{variable}, i32 {value} seq_cst"
                ));
            }
            Action::Perhaps(variable, value) => {
                self.names += 1;
                let choice = format!("%p{}", self.names);
                self.line(&format!(
                    "{choice} = call zeroext i1 @__VERIFIER_nondet_bool()"
                ));
                self.only_if(&choice, |writer, _| {
                    writer.action(Action::Store(variable, value));
                });
            }
            Action::Forbid(variable, value) => {
                let is = self.is(variable, value);
                self.only_if(&is, |writer, _| writer.line("call void @reach_error()"));
            }
            Action::StopIf {
                variable,
                value,
                by_chance,
                cause,
            } => {
                let is = self.is(variable, value);
                self.only_if(&is, |writer, name| {
                    if by_chance {
                        let choice = format!("%n{name}");
                        writer.line(&format!(
                            "{choice} = call zeroext i1 @__VERIFIER_nondet_bool()"
                        ));
                        writer.only_if(&choice, |writer, name| writer.stop(cause, name));
                    } else {
                        writer.stop(cause, name);
                    }
                });
            }
        }
    }

    fn start(&mut self, threads: usize) {
        for me in 1..threads {
            self.line(&format!(
                "%s{me} = call i32 @pthread_create(ptr %h, ptr null, ptr @t{me}, ptr null)"
            ));
        }
    }

    /// `start`: in which event it starts the others, and how many threads there are.
    fn thread(&mut self, thread: &Thread, start: Option<(usize, usize)>) {
        for (at, event) in thread.iter().enumerate() {
            if event.is_block {
                self.line("call void @__VERIFIER_atomic_begin()");
            }
            if let Some((first, threads)) = start
                && at == first
            {
                self.start(threads);
            }
            for &action in &event.actions {
                self.action(action);
            }
            if event.is_block {
                self.line("call void @__VERIFIER_atomic_end()");
            }
        }
    }
}

fn program_text(program: &Generated) -> String {
    let threads = &program.threads;
    let mut writer = Writer {
        text: String::from(
            "@x0 = global i32 0, align 4
@x1 = global i32 0, align 4
@for_ever = global i32 1, align 4
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare zeroext i1 @__VERIFIER_nondet_bool()
declare void @__VERIFIER_atomic_begin()
declare void @__VERIFIER_atomic_end()
declare void @__VERIFIER_assume(i32)
declare void @reach_error()
declare void @mystery()
",
        ),
        names: 0,
    };
    for (me, thread) in threads.iter().enumerate().skip(1) {
        writer.line(&format!("define ptr @t{me}(ptr %a) {{\nentry:"));
        writer.thread(thread, None);
        writer.line("ret ptr null\n}");
    }
    writer.line("define i32 @main() {\nentry:\n%h = alloca i64, align 8");
    if program.start.is_none() {
        writer.start(threads.len());
    }
    let start = program.start.map(|start| (start, threads.len()));
    writer.thread(&threads[0], start);
    writer.line("ret i32 0\n}");
    writer.text
}

fn parse(text: &str) -> raddle_ir::Module {
    raddle_ir::parse_module(text.to_owned(), "random").expect("well-formed")
}

fn search() -> SearchOptions {
    SearchOptions {
        checks: Checks {
            memory: false,
            ..Checks::default()
        },
        ..SearchOptions::default()
    }
}

fn by_enumeration(text: &str, engine: EngineKind) -> Verdict {
    let options = InterpOptions {
        unroll: Some(BOUND),
        ..InterpOptions::default()
    };
    let mut program = Interpreter::load(parse(text), options).expect("it has a main");
    match raddle_search::check(&mut program, engine, search()) {
        Ok(outcome) => outcome.verdict,
        Err(error) => panic!("{engine:?}: {error}\n{text}"),
    }
}

fn by_formula(text: &str) -> Verdict {
    let looked_at = InterpOptions {
        unroll: Some(1),
        ..InterpOptions::default()
    };
    let view = View::new(parse(text), looked_at).expect("it has a main");
    let mut program =
        Interpreter::load(parse(text), InterpOptions::default()).expect("it has a main");
    let options = BmcOptions {
        threads: None,
        memory: search().memory,
        unroll: Some(BOUND),
        exit_with_main: false,
        spurious_wakeups: false,
        spurious_failures: raddle_program::interp::SpuriousFailures::None,
        any_unwritten: false,
        silent_abort: false,
        effort: None,
        may_be_large: false,
        patience: raddle_bmc::PATIENCE,
    };
    match raddle_bmc::check(view, &mut program, options, search()) {
        Ok(outcome) => outcome.verdict,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// More of them by hand: `RADDLE_PROPTEST_CASES=20000 cargo test --release -p raddle-bmc --test blocks`.
#[test]
fn nobody_sees_a_block_that_stops() {
    let [mut wrong, mut fine, mut beyond, mut stopping] = [0; 4];
    let first = number("RADDLE_PROPTEST_SEED", 0);
    for seed in first..first + number("RADDLE_PROPTEST_CASES", 400) {
        let program = generate(seed);
        let truth = walk(&program);
        let text = program_text(&program);
        let exploring = EngineKind::exploring(MemoryModel::Sc);
        for engine in exploring.chain([EngineKind::Bmc]) {
            let verdict = match engine.explores() {
                true => by_enumeration(&text, engine),
                false => by_formula(&text),
            };
            let is_right = match &verdict {
                Verdict::Violation(_) => truth.goes_wrong,
                Verdict::Unsupported(_) => !truth.goes_wrong && truth.is_beyond,
                Verdict::Verified(_) | Verdict::Inconclusive(Reason::NothingEnds { .. }) => {
                    !truth.goes_wrong && !truth.is_beyond
                }
                Verdict::Inconclusive(_) => false,
            };
            assert!(
                is_right,
                "seed {seed}: {engine:?} says {verdict:?}, {truth:?}\n{text}"
            );
        }
        wrong += u32::from(truth.goes_wrong);
        beyond += u32::from(!truth.goes_wrong && truth.is_beyond);
        fine += u32::from(!truth.goes_wrong && !truth.is_beyond);
        stopping += u32::from(!truth.goes_wrong && truth.stops_in_block);
    }
    println!(
        "{wrong} wrong, {fine} fine, {beyond} beyond, {stopping} of these with blocks that stop"
    );
    assert!(wrong > fine / 20 && fine > wrong / 20 && beyond > 0);
    assert!(
        stopping > (fine + beyond) / 4,
        "{stopping} with blocks that stop"
    );
}
