//! The words for everything that an answer consists of: one place, so that the same thing is always called the same.

mod reasons;
mod violations;

use raddle_judge::verdict::Statistics;
use raddle_judge::{BlockedBy, BlockedCounts, Bound, MemoryModel};
use raddle_program::Program;
pub use reasons::{found_so_far, reason, reason_hint, unsupported, unsupported_hint};
use std::time::Duration;
pub use violations::{KINDS, headline, kind_description, violation_hint, violation_kind};
pub(crate) use violations::{MAIN_RETURNED, access, function, operands};

/// The data model of a program, as SV-COMP names it.
#[must_use]
pub fn data_model(program: &Program) -> &'static str {
    match program.tables().is_ilp32() {
        true => "ILP32",
        false => "LP64",
    }
}

/// The name of a cause for scripts. Stable.
#[must_use]
pub fn cause_name(cause: BlockedBy) -> &'static str {
    match cause {
        BlockedBy::Cut => "cut",
        BlockedBy::Assumption => "assumption",
        BlockedBy::Stopped => "stopped",
        BlockedBy::WakeUp => "wake-up",
        BlockedBy::Failure => "failure",
        BlockedBy::Unfinished => "unfinished",
        BlockedBy::Spinning => "spinning",
        BlockedBy::Waiting => "waiting",
    }
}

/// Why executions did not come to their end, in one line: `raddle explain blocked` says more. None if all did.
#[must_use]
pub fn blocked(complete: u64, by: &BlockedCounts) -> Option<String> {
    // What is cut short is counted beside the answer.
    let causes = by.iter().filter(|&(cause, _)| cause != BlockedBy::Cut);
    let causes: Vec<(BlockedBy, u64)> = causes.collect();
    let none_ends = complete == 0 && by.of(BlockedBy::Cut) == 0;
    let phrase = |cause| match cause {
        BlockedBy::Cut => "loops are cut short",
        BlockedBy::Assumption => "an assumption fails",
        BlockedBy::Stopped => "a thread stops early",
        BlockedBy::Unfinished => {
            "a thread is left in a loop whose other rounds are explored elsewhere"
        }
        BlockedBy::WakeUp => "a thread wakes up for nothing and waits again, which changes nothing",
        BlockedBy::Failure => {
            "an attempt comes to nothing, and other executions show what comes of it"
        }
        BlockedBy::Spinning => "threads wait for good in loops (`--check deadlock` says where)",
        BlockedBy::Waiting => "threads wait for good (`--check deadlock` says where)",
    };
    let text = match causes.as_slice() {
        [] => return None,
        &[(cause, count)] => {
            let which = match (none_ends, count) {
                (true, _) => "every execution is blocked".to_owned(),
                (_, 1) => "1 execution is blocked".to_owned(),
                (_, count) => format!("{} executions are blocked", grouped(count)),
            };
            format!("{which}: {}", phrase(cause))
        }
        several => {
            let which = match none_ends {
                true => "every execution is blocked".to_owned(),
                false => format!(
                    "{} executions are blocked",
                    grouped(several.iter().map(|(_, count)| count).sum())
                ),
            };
            let each = |&(cause, count): &(BlockedBy, u64)| {
                format!("in {} {}", grouped(count), phrase(cause))
            };
            let each: Vec<String> = several.iter().map(each).collect();
            format!("{which}: {}", each.join(", "))
        }
    };
    Some(text)
}

/// How often executions reached what Raddle cannot run.
pub(crate) fn out_of_reach(places: usize) -> String {
    match places {
        1 => "executions reach something that Raddle cannot run".to_owned(),
        _ => format!("executions reach {places} things that Raddle cannot run"),
    }
}

/// What was made of orderings weaker than `seq_cst`, which this memory model does not tell apart from stronger ones.
#[must_use]
pub fn weak_orderings(memory: MemoryModel) -> &'static str {
    match memory {
        MemoryModel::Sc => "atomics weaker than seq_cst were explored as seq_cst (memory sc)",
        MemoryModel::Tso => {
            "atomics weaker than seq_cst were explored as memory tso has them: loads are never reordered, stores reach memory in order"
        }
        MemoryModel::Pso => {
            "atomics weaker than seq_cst were explored as memory pso has them: loads are never reordered"
        }
        MemoryModel::C11 => "atomics weaker than seq_cst were explored as the language has them",
    }
}

/// What a `verified` covers.
#[must_use]
pub fn coverage(bound: &Bound) -> String {
    match bound {
        Bound::Complete => "no violation in any execution".to_owned(),
        Bound::UpTo {
            iterations: Some(iterations),
            threads: None,
        } => {
            format!("no violation in any execution of up to {iterations} iterations of each loop")
        }
        Bound::UpTo { .. } => {
            format!("no violation in any execution of {}", up_to(bound))
        }
    }
}

/// The bounds of an answer; empty if there is none.
pub(crate) fn up_to(bound: &Bound) -> String {
    let Bound::UpTo {
        iterations,
        threads,
    } = *bound
    else {
        return String::new();
    };
    let counted = |count: u32, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    };
    let iterations = iterations.map(|count| counted(count, "iteration", "iterations"));
    let threads = threads.map(|count| counted(count, "thread", "threads"));
    let iterations = match &threads {
        Some(_) => iterations.map(|iterations| iterations + " of each loop"),
        None => iterations,
    };
    let bounds: Vec<String> = threads.into_iter().chain(iterations).collect();
    format!("up to {}", bounds.join(" and "))
}

pub(crate) fn executions(count: u64) -> String {
    if count == 1 {
        "1 execution".to_owned()
    } else {
        format!("{} executions", grouped(count))
    }
}

/// Digits in groups of three: counts are compared by eye.
#[must_use]
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if time.subsec_nanos() == 0 {
        format!("{seconds:.0} s")
    } else if seconds < 10.0 {
        format!("{seconds:.2} s")
    } else {
        format!("{seconds:.1} s")
    }
}

/// The time that there was to wait: `24.1 s, 23.9 s of it compiling`. That part is told where it matters.
pub(crate) fn time_spent(statistics: &Statistics) -> String {
    const WORTH_TELLING: Duration = Duration::from_secs(1);
    let (all, part) = (statistics.waited(), statistics.preparation);
    let matters = part >= WORTH_TELLING && part >= all / 10;
    match matters {
        true => format!("{}, {} of it compiling", seconds(all), seconds(part)),
        false => seconds(all),
    }
}

pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::{grouped, seconds, time_spent};
    use raddle_judge::verdict::Statistics;
    use std::time::Duration;

    #[test]
    fn digits_are_grouped_from_the_right() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1 000");
        assert_eq!(grouped(1_234_567), "1 234 567");
    }

    #[test]
    fn compiling_is_part_of_the_time() {
        let spent = |compiling, searching| {
            time_spent(&Statistics {
                preparation: Duration::from_millis(compiling),
                elapsed: Duration::from_millis(searching),
                ..Statistics::default()
            })
        };
        assert_eq!(spent(23_900, 204), "24.1 s, 23.9 s of it compiling");
        assert_eq!(spent(290, 1), "0.29 s");
        assert_eq!(spent(1500, 60_010), "61.5 s");
    }

    #[test]
    fn times_have_as_many_digits_as_matter() {
        assert_eq!(seconds(Duration::from_secs(5)), "5 s");
        assert_eq!(seconds(Duration::from_millis(1234)), "1.23 s");
        assert_eq!(seconds(Duration::from_millis(123_456)), "123.5 s");
    }
}
