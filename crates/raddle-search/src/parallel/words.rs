//! The words in which pieces are kept that share what is above them. A list is `ITEM,ITEM…`, and `-` if it is empty.

use raddle_program::ThreadName;
use std::str::FromStr;

pub(crate) fn list<T>(items: impl IntoIterator<Item = T>, word: impl Fn(T) -> String) -> String {
    let words: Vec<String> = items.into_iter().map(word).collect();
    match words.is_empty() {
        true => "-".to_owned(),
        false => words.join(","),
    }
}

pub(crate) fn items<T>(word: &str, item: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    match word {
        "-" => Some(Vec::new()),
        _ => word.split(',').map(item).collect(),
    }
}

pub(crate) fn parsed<T: FromStr>(word: &str) -> Option<T> {
    word.parse().ok()
}

pub(crate) fn flag(word: &str) -> Option<bool> {
    match word {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// Who goes on, and what is chosen: two words.
pub(crate) fn step(thread: &ThreadName, choices: &[u32]) -> String {
    format!("{thread} {}", list(choices, u32::to_string))
}

pub(crate) fn step_of(thread: &str, choices: &str) -> Option<(ThreadName, Box<[u32]>)> {
    let choices = items(choices, parsed)?;
    Some((parsed(thread)?, choices.into()))
}

/// Lines, one after the other.
pub(crate) struct Lines<'a> {
    left: &'a [String],
}

impl<'a> Lines<'a> {
    pub(crate) fn new(lines: &'a [String]) -> Self {
        Self { left: lines }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.left.is_empty()
    }

    /// The words behind the first of the next line, if that is this one.
    pub(crate) fn next(&mut self, kind: &str) -> Option<Vec<&'a str>> {
        let (line, left) = self.left.split_first()?;
        let mut words = line.split(' ');
        if words.next() != Some(kind) {
            return None;
        }
        self.left = left;
        Some(words.collect())
    }
}
