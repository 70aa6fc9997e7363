//! Pieces as lines of words, for checkpoints.
//!
//! | line | |
//! |---|---|
//! | `chained CODES`, `refused CODES` | what is known about waiting, by the codes of locations |
//! | `junction FINGERPRINTS` | the alternatives that are claimed at a node; junctions are counted from 0 |
//! | `run` | begins a trace |
//! | `step THREAD CHOICES POS MARKED BRANCHING ENDS FINGERPRINT` | an event of it, in the order of a witness |
//! | `at POS UPDATE OP POSTPONED JUNCTION` | a node of it; an update is `CODE:POS`, an operation `THREAD/INDEX` |
//! | `alternative END SHARE BRANCHING POSTPONED` | a piece: what is left is explored behind so many events of the trace |
//! | `needs EVENT`, `extra EVENT`, `first EVENT` | what it begins with; an event is `THREAD CHOICES PARENT READS FINGERPRINT`, a read `CODE:POS` |
//!
//! A position is a number, `-` for none, or `+` for the event that an alternative brings along.

use super::pieces::{NamedEvent, NamedNode, NamedOp, NamedStep, Piece, Run};
use super::{Junction, Pieces, Plan};
use crate::driver::Reductions;
use crate::parallel::words::{Lines, flag, items, list, parsed, step, step_of};
use crate::rf::codes::Codes;
use crate::rf::event::{Branching, Cell, EXTRA, Fingerprint, NO_EVENT, Pos};
use raddle_program::{LocId, Program};
use rustc_hash::FxHashMap;
use std::sync::Arc;

const BRANCHINGS: [(&str, Branching); 4] = [
    ("none", Branching::None),
    ("reads", Branching::Reads),
    ("successor", Branching::Successor),
    ("chained", Branching::Chained),
];

// ---- written

/// Gives things that are shared numbers, in the order in which they are met.
struct Numbered<'a, T> {
    numbers: FxHashMap<*const T, usize>,
    all: Vec<&'a Arc<T>>,
}

impl<'a, T> Numbered<'a, T> {
    fn of(things: impl Iterator<Item = &'a Arc<T>>) -> Self {
        let (mut numbers, mut all) = (FxHashMap::default(), Vec::new());
        for thing in things {
            numbers.entry(Arc::as_ptr(thing)).or_insert_with(|| {
                all.push(thing);
                all.len() - 1
            });
        }
        Self { numbers, all }
    }

    fn number(&self, thing: &Arc<T>) -> usize {
        self.numbers[&Arc::as_ptr(thing)]
    }
}

fn branching(it: Branching) -> &'static str {
    let known = BRANCHINGS.iter().find(|(_, branching)| *branching == it);
    known.map_or("none", |(word, _)| word)
}

fn position(pos: Pos) -> String {
    match pos {
        NO_EVENT => "-".to_owned(),
        EXTRA => "+".to_owned(),
        pos => pos.to_string(),
    }
}

fn at_cell((code, pos): (u64, Pos)) -> String {
    format!("{code}:{}", position(pos))
}

fn op((thread, index): &NamedOp) -> String {
    format!("{thread}/{index}")
}

fn event(it: &NamedEvent) -> String {
    format!(
        "{} {} {} {:x}",
        step(&it.thread, &it.choices),
        position(it.parent),
        list(it.reads.iter().copied(), at_cell),
        it.fingerprint
    )
}

fn codes_of(program: &Program) -> Codes {
    let mut codes = Codes::default();
    codes.refresh(program.tables());
    codes
}

pub(super) fn written(pieces: &Pieces, plan: &Plan, program: &Program) -> Vec<String> {
    let codes = codes_of(program);
    let locs = |all: &[LocId]| list(all, |&loc| codes.cell(Cell::Loc(loc)).to_string());
    let mut lines = vec![
        format!("chained {}", locs(&plan.chained)),
        format!("refused {}", locs(&plan.refused)),
    ];
    let runs = Numbered::of(pieces.pending.values().map(|piece| &piece.run));
    let nodes = runs.all.iter().flat_map(|run| &run.nodes);
    let junctions = Numbered::of(nodes.filter_map(|node| node.junction.as_ref()));
    for junction in &junctions.all {
        let mut claimed: Vec<Fingerprint> = junction.claimed().iter().copied().collect();
        claimed.sort_unstable();
        let claimed = list(claimed, |print| format!("{print:x}"));
        lines.push(format!("junction {claimed}"));
    }
    let mut of_run: Vec<Vec<&Piece>> = vec![Vec::new(); runs.all.len()];
    for piece in pieces.pending.values() {
        of_run[runs.number(&piece.run)].push(piece);
    }
    for (run, pieces) in runs.all.iter().zip(of_run) {
        lines.push("run".to_owned());
        lines.extend(run.steps.iter().map(step_line));
        lines.extend(run.nodes.iter().map(|node| node_line(node, &junctions)));
        for piece in pieces {
            write_piece(piece, &mut lines);
        }
    }
    lines
}

fn step_line(it: &NamedStep) -> String {
    format!(
        "step {} {} {} {} {} {:x}",
        step(&it.thread, &it.choices),
        it.pos,
        u8::from(it.marked),
        branching(it.branching),
        u8::from(it.ends_thread),
        it.fingerprint
    )
}

fn node_line(it: &NamedNode, junctions: &Numbered<'_, Junction>) -> String {
    let junction = it.junction.iter();
    format!(
        "at {} {} {} {} {}",
        it.pos,
        list(it.update, at_cell),
        op(&it.op),
        list(&it.postponed, op),
        list(junction, |it| junctions.number(it).to_string())
    )
}

fn write_piece(piece: &Piece, lines: &mut Vec<String>) {
    lines.push(format!(
        "alternative {} {} {} {}",
        piece.end,
        piece.share,
        branching(piece.branching),
        list(&piece.postponed, op)
    ));
    let needed = piece.needed.iter();
    lines.extend(needed.map(|it| format!("needs {}", event(it))));
    let extra = piece.extra.iter();
    lines.extend(extra.map(|it| format!("extra {}", event(it))));
    lines.push(format!("first {}", event(&piece.first)));
}

// ---- read

fn branching_of(word: &str) -> Option<Branching> {
    let known = BRANCHINGS.iter().find(|(name, _)| *name == word);
    known.map(|&(_, branching)| branching)
}

fn fingerprint_of(word: &str) -> Option<Fingerprint> {
    Fingerprint::from_str_radix(word, 16).ok()
}

fn position_of(word: &str) -> Option<Pos> {
    match word {
        "-" => Some(NO_EVENT),
        "+" => Some(EXTRA),
        _ => parsed(word),
    }
}

fn cell_of(word: &str) -> Option<(u64, Pos)> {
    let (code, pos) = word.split_once(':')?;
    Some((parsed(code)?, position_of(pos)?))
}

fn op_of(word: &str) -> Option<NamedOp> {
    let (thread, index) = word.split_once('/')?;
    Some((parsed(thread)?, parsed(index)?))
}

/// At most one.
fn one<T>(word: &str, item: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    let mut items = items(word, item)?;
    (items.len() <= 1).then(|| items.pop())
}

/// An event that may speak of so many positions.
fn event_of(words: &[&str], known: usize, has_extra: bool) -> Option<NamedEvent> {
    let &[thread, choices, parent, reads, fingerprint] = words else {
        return None;
    };
    let (thread, choices) = step_of(thread, choices)?;
    let (parent, reads) = (position_of(parent)?, items(reads, cell_of)?);
    let is_known = |pos: Pos| pos == NO_EVENT || (pos as usize) < known;
    let mut sources = reads.iter().map(|&(_, pos)| pos);
    let are_known = sources.all(|pos| is_known(pos) || has_extra && pos == EXTRA);
    (is_known(parent) && are_known).then_some(())?;
    Some(NamedEvent {
        thread,
        choices,
        parent,
        reads: reads.into(),
        fingerprint: fingerprint_of(fingerprint)?,
    })
}

pub(super) fn read(
    lines: &[String],
    reductions: Reductions,
    program: &Program,
) -> Option<(Pieces, Plan)> {
    let mut lines = Lines::new(lines);
    let codes = codes_of(program);
    let loc_of = |word: &str| {
        let code: u64 = parsed(word)?;
        let mut locs = (0..program.tables().loc_count()).map(LocId::from_index);
        locs.find(|&loc| codes.cell(Cell::Loc(loc)) == code)
    };
    let mut locs_of = |kind| match lines.next(kind)?[..] {
        [codes] => items(codes, loc_of),
        _ => None,
    };
    let plan = Plan {
        reductions,
        chained: locs_of("chained")?,
        refused: locs_of("refused")?,
    };
    let mut junctions = Vec::new();
    while let Some(words) = lines.next("junction") {
        let [claimed] = words[..] else { return None };
        let claimed = items(claimed, fingerprint_of)?;
        junctions.push(Arc::new(Junction::new(claimed.into_iter())));
    }
    let mut pieces = Pieces::default();
    while lines.next("run").is_some() {
        let run = Arc::new(read_run(&mut lines, &junctions)?);
        while let Some(words) = lines.next("alternative") {
            let piece = read_piece(&mut lines, &words, &run)?;
            pieces.add(vec![piece]);
        }
    }
    lines.is_over().then_some((pieces, plan))
}

fn read_run(lines: &mut Lines<'_>, junctions: &[Arc<Junction>]) -> Option<Run> {
    let mut run = Run::default();
    while let Some(words) = lines.next("step") {
        let [thread, choices, pos, marked, branching, ends, fingerprint] = words[..] else {
            return None;
        };
        let (thread, choices) = step_of(thread, choices)?;
        run.steps.push(NamedStep {
            thread,
            choices,
            pos: parsed(pos)?,
            marked: flag(marked)?,
            branching: branching_of(branching)?,
            ends_thread: flag(ends)?,
            fingerprint: fingerprint_of(fingerprint)?,
        });
    }
    while let Some(words) = lines.next("at") {
        let [pos, update, op, postponed, junction] = words[..] else {
            return None;
        };
        let junction_of = |word: &str| junctions.get(parsed::<usize>(word)?).cloned();
        run.nodes.push(NamedNode {
            pos: parsed(pos)?,
            update: one(update, cell_of)?,
            op: op_of(op)?,
            postponed: items(postponed, op_of)?,
            junction: one(junction, junction_of)?,
        });
    }
    Some(run)
}

fn read_piece(lines: &mut Lines<'_>, words: &[&str], run: &Arc<Run>) -> Option<Piece> {
    let &[end, share, branching, postponed] = words else {
        return None;
    };
    let end: usize = parsed(end)?;
    let mut needed: Vec<NamedEvent> = Vec::new();
    while let Some(words) = lines.next("needs") {
        needed.push(event_of(&words, end + needed.len(), false)?);
    }
    let known = end + needed.len();
    let extra = match lines.next("extra") {
        Some(words) => Some(event_of(&words, known, false)?),
        None => None,
    };
    let first = event_of(&lines.next("first")?, known, extra.is_some())?;
    (end <= run.steps.len()).then_some(Piece {
        run: Arc::clone(run),
        end,
        first,
        branching: branching_of(branching)?,
        extra,
        needed,
        postponed: items(postponed, op_of)?,
        share: parsed(share)?,
    })
}
