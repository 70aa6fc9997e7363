//! What is left of a search as lines of words, for checkpoints.
//!
//! | line | |
//! |---|---|
//! | `begun BY_SOURCE THREADS ENTRIES` | what all who explore are told; entries of the journal are given by their places |
//! | `junction ABOVE OUTCOME COUNT SIGNALLED HAS_CHILD ORDER BEFORE` | a node, behind the one above it, which is given by its place among them |
//! | `outcomes JUNCTION FROM TO` | outcomes that nobody has explored; none if the node is gone on with |
//!
//! Threads that signal are `=NAME/NAME…`; a read without a causal map has `x`.

use super::Plan;
use super::tree::{Junction, JunctionId, Part, Tree, Way};
use crate::parallel::words::{Lines, flag, items, list, parsed};
use crate::rvf::RvfOptions;
use crate::rvf::signals::Threads;
use raddle_program::{Program, ThreadId};
use std::ops::Range;

fn name(program: &Program, thread: ThreadId) -> String {
    program.tables().thread_info(thread).name.to_string()
}

fn thread_of(program: &Program, word: &str) -> Option<ThreadId> {
    program.tables().thread_named(&parsed(word)?)
}

fn threads(program: &Program, threads: Threads) -> String {
    let names: Vec<String> = threads.iter().map(|it| name(program, it)).collect();
    format!("={}", names.join("/"))
}

fn threads_of(program: &Program, word: &str) -> Option<Threads> {
    let names = word.strip_prefix('=')?;
    let mut threads = Threads::default();
    for name in names.split('/').filter(|name| !name.is_empty()) {
        threads.insert(thread_of(program, name)?);
    }
    Some(threads)
}

/// None if a junction is not there, which would be a mistake.
pub(super) fn written(tree: &Tree, plan: &Plan, program: &Program) -> Option<Vec<String>> {
    let entries = plan.signalled.as_deref().unwrap_or_default();
    let mut lines = vec![format!(
        "begun {} {} {}",
        u8::from(plan.by_source),
        plan.threads,
        list(entries, usize::to_string)
    )];
    let mut junctions: Vec<(JunctionId, &Junction)> = tree.junctions().collect();
    junctions.sort_by_key(|(id, junction)| (junction.depth, *id));
    let place = |id: JunctionId| junctions.iter().position(|it| it.0 == id);
    for (_, junction) in &junctions {
        let (above, outcome) = match junction.above {
            Some((above, outcome)) => (place(above)?.to_string(), outcome),
            None => ("-".to_owned(), 0),
        };
        let Way {
            order,
            before,
            count,
        } = &junction.way;
        let order = list(order, |&thread| name(program, thread));
        let count = count.map_or("-".to_owned(), |count| count.to_string());
        let before = list(before, |defined| match defined {
            Some(writers) => threads(program, *writers),
            None => "x".to_owned(),
        });
        lines.push(format!(
            "junction {above} {outcome} {count} {} {} {order} {before}",
            threads(program, junction.signalled),
            u8::from(junction.has_child),
        ));
    }
    for Part { junction, outcomes } in tree.parts() {
        let (from, to) = (outcomes.start, outcomes.end);
        lines.push(format!("outcomes {} {from} {to}", place(*junction)?));
    }
    Some(lines)
}

fn optional<T>(word: &str, read: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    match word {
        "-" => Some(None),
        _ => read(word).map(Some),
    }
}

/// None if these lines say nothing.
pub(super) fn read(
    lines: &[String],
    options: RvfOptions,
    program: &Program,
) -> Option<(Tree, Plan)> {
    let mut lines = Lines::new(lines);
    let [by_source, known, entries] = lines.next("begun")?[..] else {
        return None;
    };
    let plan = Plan {
        options,
        by_source: flag(by_source)?,
        threads: parsed(known)?,
        signalled: Some(items(entries, parsed)?),
    };
    let mut tree = Tree::default();
    // For each junction, the outcomes that are not explored.
    let mut open: Vec<Vec<Range<usize>>> = Vec::new();
    while let Some(words) = lines.next("junction") {
        let junction = read_junction(&words, &tree, program)?;
        if let Some((above, outcome)) = junction.above {
            open[above].push(outcome..outcome + 1);
        }
        tree.add(junction);
        open.push(Vec::new());
    }
    while !lines.is_over() {
        let [junction, from, to] = lines.next("outcomes")?[..] else {
            return None;
        };
        let (junction, from, to): (usize, usize, usize) =
            (parsed(junction)?, parsed(from)?, parsed(to)?);
        open.get_mut(junction)?.push(from..to);
        let outcomes = from..to;
        tree.leave_part(Part { junction, outcomes });
    }
    for (id, outcomes) in open.into_iter().enumerate() {
        let count = tree.junction(id)?.way.count.unwrap_or(0);
        tree.open(id, counted(outcomes, count)?);
    }
    Some((tree, plan))
}

fn read_junction(words: &[&str], tree: &Tree, program: &Program) -> Option<Junction> {
    let [above, outcome, count, signalled, has_child, order, before] = *words else {
        return None;
    };
    let above: Option<JunctionId> = optional(above, parsed)?;
    let above = match above {
        Some(id) => Some((id, tree.junction(id)?)),
        // There is one root.
        None if tree.junctions().next().is_none() => None,
        None => return None,
    };
    let count: Option<usize> = optional(count, parsed)?;
    let defined = |word: &str| match word {
        "x" => Some(None),
        _ => threads_of(program, word).map(Some),
    };
    let outcome: usize = parsed(outcome)?;
    Some(Junction {
        above: above.map(|(id, _)| (id, outcome)),
        depth: above.map_or(0, |(_, above)| above.depth + 1),
        share: above.map_or(1.0, |(_, above)| above.share) / count.unwrap_or(1).max(1) as f64,
        way: Way {
            order: items(order, |word| thread_of(program, word))?,
            before: items(before, defined)?,
            count,
        },
        signalled: threads_of(program, signalled)?,
        has_child: flag(has_child)?,
        open: 0,
    })
}

/// How many outcomes these are, if each is there once, or it says that the node is gone on with.
fn counted(mut outcomes: Vec<Range<usize>>, count: usize) -> Option<usize> {
    if matches!(outcomes.as_slice(), [only] if *only == (0..0)) {
        return Some(0);
    }
    outcomes.sort_by_key(|it| it.start);
    let mut end = 0;
    for it in &outcomes {
        if it.start < end || it.end <= it.start || it.end > count {
            return None;
        }
        end = it.end;
    }
    let sum = outcomes.iter().map(Range::len).sum();
    (sum > 0).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn outcomes_are_there_once() {
        assert_eq!(counted(vec![2..4, 0..1], 4), Some(3));
        assert_eq!(counted(vec![0..0; 1], 4), Some(0));
        // Nobody would go on with the node.
        assert_eq!(counted(Vec::new(), 4), None);
        assert_eq!(counted(vec![0..2, 1..3], 4), None);
        assert_eq!(counted(vec![0..2, 0..0], 4), None);
        assert_eq!(counted(vec![3..5, 0..1], 4), None);
    }
}
