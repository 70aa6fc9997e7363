//! The top of the tree as lines of words, for checkpoints.
//!
//! | line | |
//! |---|---|
//! | `node DEPTH KIND THREAD CHOICES` | a prefix, behind those above it and to its left; `KIND` is `inner`, `pending`, `split` or `done` |
//! | `stage` | what is left at the next prefix of the piece of the node before, which was begun |
//! | `done THREAD CHOICES` | was explored there |
//! | `next THREAD CHOICES` | is where the way goes on |
//! | `branch DEPTH THREAD CHOICES` | is pending there: a node of a wakeup tree |

use super::tree::{Branch, Kind, NamedStep, ROOT, Stage, TopId, Tree};
use crate::parallel::words::{Lines, parsed, step, step_of};

fn named((thread, choices): (raddle_program::ThreadName, Box<[u32]>)) -> NamedStep {
    NamedStep { thread, choices }
}

fn words(it: &NamedStep) -> String {
    step(&it.thread, &it.choices)
}

impl Kind {
    fn word(self) -> Option<&'static str> {
        match self {
            Self::Inner => Some("inner"),
            Self::Pending => Some("pending"),
            Self::Split => Some("split"),
            Self::Done => Some("done"),
            Self::Taken => None,
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        let all = [Self::Inner, Self::Pending, Self::Split, Self::Done];
        all.into_iter().find(|kind| kind.word() == Some(word))
    }
}

impl Tree {
    /// None while somebody explores a piece.
    pub(in crate::dpor) fn written(&self) -> Option<Vec<String>> {
        let mut lines = Vec::new();
        let mut open = vec![ROOT];
        while let Some(id) = open.pop() {
            let node = self.node(id);
            let (depth, kind) = (node.depth, node.kind.word()?);
            lines.push(format!("node {depth} {kind} {}", words(&node.step)));
            for stage in &node.begun {
                write_stage(stage, &mut lines);
            }
            open.extend(node.children.iter().rev());
        }
        Some(lines)
    }

    /// None if these lines say nothing.
    pub(in crate::dpor) fn read(lines: &[String]) -> Option<Self> {
        let mut lines = Lines::new(lines);
        let mut tree: Option<Self> = None;
        // The way from the root to the last node.
        let mut way: Vec<TopId> = Vec::new();
        while !lines.is_over() {
            let words = lines.next("node")?;
            let [depth, kind, thread, choices] = words[..] else {
                return None;
            };
            let (depth, kind): (usize, Kind) = (parsed(depth)?, Kind::of_word(kind)?);
            let step = named(step_of(thread, choices)?);
            let mut begun = Vec::new();
            while lines.next("stage").is_some() {
                begun.push(read_stage(&mut lines)?);
            }
            let id = match (&mut tree, depth) {
                (None, 0) => {
                    tree = Some(Self::beginning_with(kind, begun));
                    ROOT
                }
                (Some(tree), 1..) if depth <= way.len() => {
                    way.truncate(depth);
                    let id = tree.restore(*way.last()?, step, kind);
                    tree.node_mut(id).begun = begun;
                    id
                }
                _ => return None,
            };
            way.push(id);
        }
        tree
    }

    fn beginning_with(kind: Kind, begun: Vec<Stage>) -> Self {
        let mut tree = Self::new(begun);
        tree.node_mut(ROOT).kind = kind;
        if kind != Kind::Pending {
            tree.pending.clear();
        }
        tree
    }

    fn restore(&mut self, parent: TopId, step: NamedStep, kind: Kind) -> TopId {
        let id = self.add(parent, step, kind);
        if kind == Kind::Split {
            self.opened(parent);
        }
        id
    }
}

fn write_stage(stage: &Stage, lines: &mut Vec<String>) {
    lines.push("stage".to_owned());
    let done = stage.done.iter();
    lines.extend(done.map(|step| format!("done {}", words(step))));
    let next = stage.next.iter();
    lines.extend(next.map(|step| format!("next {}", words(step))));
    let mut open: Vec<(usize, &Branch)> = stage.pending.iter().rev().map(|it| (0, it)).collect();
    while let Some((depth, branch)) = open.pop() {
        lines.push(format!("branch {depth} {}", words(&branch.step)));
        let children = branch.children.iter().rev();
        open.extend(children.map(|child| (depth + 1, child)));
    }
}

fn read_stage(lines: &mut Lines<'_>) -> Option<Stage> {
    let two = |words: Vec<&str>| match words[..] {
        [thread, choices] => step_of(thread, choices).map(named),
        _ => None,
    };
    let mut stage = Stage::default();
    while let Some(words) = lines.next("done") {
        stage.done.push(two(words)?);
    }
    if let Some(words) = lines.next("next") {
        stage.next = Some(two(words)?);
    }
    while let Some(words) = lines.next("branch") {
        let [depth, thread, choices] = words[..] else {
            return None;
        };
        let depth: usize = parsed(depth)?;
        let mut siblings = &mut stage.pending;
        for _ in 0..depth {
            siblings = &mut siblings.last_mut()?.children;
        }
        siblings.push(Branch {
            step: named(step_of(thread, choices)?),
            children: Vec::new(),
        });
    }
    Some(stage)
}
