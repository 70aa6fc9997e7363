//! Why there is no answer, and what the user can do about it: limits, and what Raddle cannot run.

use super::violations::function;
use super::{executions, grouped, mebibytes, seconds};
use crate::names::demangled;
use raddle_judge::{Phase, Reason};
use raddle_program::{Limit, Unsupported};

/// What the program meets that Raddle cannot run.
#[must_use]
pub fn unsupported(what: &Unsupported) -> String {
    match what {
        Unsupported::UnknownFunction { name } => {
            format!(
                "`{}` is called, and Raddle does not know what it does",
                function(name)
            )
        }
        Unsupported::UnknownVariable { name } => {
            format!("`{}` is used, and defined nowhere", demangled(name))
        }
        Unsupported::NondetValue { function } => format!(
            "`{function}` returns any value, and engines that explore executions cannot try them all"
        ),
        // Some are said in words, and are no instruction.
        Unsupported::Instruction { what } if what.starts_with("a ") || what.starts_with("an ") => {
            format!("{what} is not supported")
        }
        Unsupported::Instruction { what } => {
            format!("the instruction `{what}` is not supported")
        }
        Unsupported::InlineAsm { text } => {
            format!("inline assembly is not supported: `{text}`")
        }
        Unsupported::Library { function, why } => {
            format!("`{function}` is called in a way that is not supported: {why}")
        }
        Unsupported::Unwind => "an exception is thrown, which this engine cannot follow".to_owned(),
        Unsupported::Threads { most } => format!("more than {most} threads are started"),
        Unsupported::Parse { message } => {
            format!("a function of the compiled program cannot be read: {message}")
        }
    }
}

/// What the user can do about it, in this language.
#[must_use]
pub fn unsupported_hint(what: &Unsupported, is_rust: bool) -> &'static str {
    match what {
        Unsupported::UnknownFunction { .. } | Unsupported::UnknownVariable { .. } if is_rust => {
            "leave it out while checking, or put something in its place: `cfg(raddle)` is set; an `extern \"C\" fn` of that name in Rust that does what matters here is enough"
        }
        Unsupported::InlineAsm { .. } if is_rust => {
            "use atomics instead, or leave it out while checking: `cfg(raddle)` is set; `cargo raddle --cfg-miri` sets `cfg(miri)` for dependencies, too"
        }
        Unsupported::Library { .. } if is_rust => {
            "call it differently while checking: `cfg(raddle)` is set"
        }
        Unsupported::UnknownFunction { .. } => {
            "name the file that defines it as well, or a build directory (`-p`); a stub that does what matters here is enough"
        }
        Unsupported::UnknownVariable { .. } => "name the file that defines it as well",
        Unsupported::NondetValue { .. } => {
            "`--engine bmc` takes any value into account; or narrow it to a few `__VERIFIER_nondet_bool()`"
        }
        Unsupported::Instruction { .. } => "rewrite the line, or report it as a missing feature",
        Unsupported::InlineAsm { .. } => {
            "use atomics instead, or leave it out while checking: Raddle defines the macro `RADDLE`, and `cfg(raddle)` in Rust"
        }
        Unsupported::Library { .. } => {
            "call it differently while checking: Raddle defines the macro `RADDLE`, and `cfg(raddle)` in Rust"
        }
        Unsupported::Unwind => "use an engine that explores executions, such as `--engine rf`",
        Unsupported::Threads { .. } => BOUND_THREADS,
        Unsupported::Parse { .. } => {
            "report it with the program; another version of clang (`RADDLE_CLANG`) may help"
        }
    }
}

/// Which limit was reached.
#[must_use]
pub fn reason(reason: &Reason) -> String {
    match reason {
        Reason::Executions { limit } => {
            format!("the limit of {} was reached", executions(*limit))
        }
        Reason::Time { limit, during } => {
            let limit = seconds(*limit);
            format!("the time limit of {limit} was reached{}", while_(*during))
        }
        Reason::Memory { limit, during } => {
            let bytes = mebibytes(limit.bytes);
            let whose = match limit.is_default {
                true => " (80 % of what there is)",
                false => "",
            };
            let during = while_(*during);
            format!("the memory limit of {bytes}{whose} was reached{during}")
        }
        Reason::Interrupted { during } => format!("it was interrupted{}", while_(*during)),
        Reason::Effort => "the effort that was allowed was not enough".to_owned(),
        Reason::NotLookedFor { what } => {
            format!("no violation was found, without looking for {what}")
        }
        Reason::Unwritten { line } => {
            let line = line
                .iter()
                .map(|line| format!(" ({line})"))
                .collect::<String>();
            format!(
                "no violation was found, but what happens depends on memory that nobody has written{line}, of which only zeroes were tried"
            )
        }
        Reason::Unrolled { bound } => {
            format!(
                "loops or calls go round more than {bound} times, the last bound that was tried"
            )
        }
        Reason::Threads { most } => {
            format!(
                "executions start more than {most} threads, more than this engine has in a formula"
            )
        }
        Reason::NothingEnds { bound: None } => {
            "no execution comes to its end: threads wait or spin for good, or assumptions fail"
                .to_owned()
        }
        Reason::NothingEnds { bound: Some(bound) } => format!(
            "no execution comes to its end within {bound} iteration{} of each loop, so nothing is known of what lies behind",
            if *bound == 1 { "" } else { "s" }
        ),
        Reason::NothingEndsWithin { threads } => format!(
            "no execution comes to its end with {threads} thread{}, so nothing is known of what lies behind",
            if *threads == 1 { "" } else { "s" }
        ),
        Reason::Thread { limit, thread, .. } => {
            // `T0` is `main`, `T2.1` the first thread that its second one starts.
            let path: Vec<String> = thread.path().iter().map(u32::to_string).collect();
            let path = if path.is_empty() {
                "0".to_owned()
            } else {
                path.join(".")
            };
            format!("{} in T{path}", thread_limit(limit))
        }
    }
}

/// What a check was busy with, where that is not what a user would expect.
fn while_(phase: Phase) -> &'static str {
    match phase {
        Phase::Exploring => "",
        Phase::Compiling => " while the compiler was running",
        Phase::Reading => " while the compiled program was read",
        Phase::Encoding => " while a formula was made of the program",
        Phase::Solving => " while the formula was being solved",
        Phase::Replaying => " while a violation was being reproduced",
        Phase::Simplifying => " while a violation was being simplified",
        Phase::Reporting => " while the report was written",
    }
}

/// What there is instead of an answer.
#[must_use]
pub fn found_so_far(reason: &Reason) -> &'static str {
    let (Reason::Time { during, .. }
    | Reason::Memory { during, .. }
    | Reason::Interrupted { during }) = reason
    else {
        return "no violation was found in the part that was explored";
    };
    match during {
        Phase::Compiling | Phase::Reading => "the program was not run",
        Phase::Exploring | Phase::Encoding | Phase::Solving => {
            "no violation was found in the part that was explored"
        }
        Phase::Replaying | Phase::Simplifying | Phase::Reporting => {
            "an execution that goes wrong was found, but could not be run again to make sure"
        }
    }
}

const BOUND_THREADS: &str = "`--threads N` checks executions of up to N threads";
/// An execution with more threads than this may be one that goes on starting them.
const MANY_THREADS: usize = 16;

/// What the user can do about a limit. `threads`: the most that an execution had so far.
#[must_use]
pub fn reason_hint(reason: &Reason, threads: usize) -> &'static str {
    match reason {
        Reason::Time { .. }
        | Reason::Memory { .. }
        | Reason::Interrupted { .. }
        | Reason::Executions { .. }
            if threads > MANY_THREADS =>
        {
            BOUND_THREADS
        }
        Reason::Executions { .. } => "raise `--max-executions`, or make the program smaller",
        Reason::Time { .. } => {
            "raise `--time-limit`, bound loops with `--unroll N`, or make the program smaller"
        }
        Reason::Memory { .. } => "raise `--memory-limit`, or make the program smaller",
        Reason::Interrupted { .. } => {
            "a program with fewer threads and rounds takes less time, `--unroll N` bounds loops, `--time-limit S` stops by itself"
        }
        Reason::Effort => "another engine may do better",
        Reason::NotLookedFor { .. } => "the rest of the property holds",
        Reason::Unwritten { .. } => {
            "`--check uninit` shows an execution; give the memory a value, or any value: `__VERIFIER_nondet_int()` and its kin"
        }
        Reason::Unrolled { .. } => {
            "`--unroll N` checks up to N rounds; loops that wait are better written as `__VERIFIER_assume`"
        }
        Reason::NothingEnds { bound: None } => {
            "`--check deadlock` says where threads wait for good; `raddle explain inconclusive` says more"
        }
        Reason::NothingEnds { bound: Some(_) } => "raise `--unroll`; is the loop meant to end?",
        Reason::Threads { .. } => BOUND_THREADS,
        Reason::NothingEndsWithin { .. } => "raise `--threads`",
        Reason::Thread { limit, .. } => match limit {
            Limit::Unroll { .. } => "raise `--unroll`",
            Limit::Threads { .. } => "raise `--threads`",
            Limit::Ids { what: "threads" } | Limit::NameClash { what: "threads" } => BOUND_THREADS,
            Limit::PrivateSteps { .. } => {
                "is this loop endless? `--unroll N` stops a loop after N iterations"
            }
            Limit::CallDepth { .. } => "is this recursion endless? bound it",
            Limit::Memory { .. } => "raise `--memory-limit`, or make the program smaller",
            Limit::Ids { .. } => "make the program smaller",
            Limit::NameClash { .. } => {
                "this is chance: start a thread or declare a variable more, or less, before them"
            }
        },
    }
}

fn thread_limit(limit: &Limit) -> String {
    match limit {
        Limit::Unroll { bound } => format!("a loop went round more than {bound} times"),
        Limit::Threads { bound } => format!("more than {bound} threads are started"),
        Limit::PrivateSteps { steps } => {
            format!(
                "{} steps were run without any effect on other threads",
                grouped(*steps)
            )
        }
        Limit::CallDepth { depth } => format!("calls nest deeper than {depth}"),
        Limit::Memory { bytes } => {
            format!("the threads' states need more than {}", mebibytes(*bytes))
        }
        Limit::Ids { what } => format!("there are more {what} than Raddle can count"),
        Limit::NameClash { what } => {
            format!("there are two {what} that Raddle gives the same place in memory")
        }
    }
}
