//! Source files, read when a report shows a line of them.

use raddle_program::{SourceLoc, SrcId, Tables};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// Source texts by path. Files that cannot be read are remembered as absent: a report then does without their lines.
#[derive(Debug, Default)]
pub struct Sources {
    texts: RefCell<BTreeMap<Box<str>, Option<Rc<str>>>>,
    /// Paths below this directory are shown relative to it.
    root: Option<PathBuf>,
}

impl Sources {
    /// Sources whose paths are shown relative to the current directory.
    #[must_use]
    pub fn new() -> Self {
        Self {
            texts: RefCell::default(),
            root: std::env::current_dir().ok(),
        }
    }

    /// Provides a text without any file: for tests, and for input that did not come from a file.
    pub fn insert(&self, file: &str, text: &str) {
        self.texts
            .borrow_mut()
            .insert(file.into(), Some(text.into()));
    }

    /// The text of a file, if it can be read.
    #[must_use]
    pub fn text(&self, file: &str) -> Option<Rc<str>> {
        self.texts
            .borrow_mut()
            .entry(file.into())
            .or_insert_with(|| std::fs::read_to_string(file).ok().map(Into::into))
            .clone()
    }

    /// The path as a report shows it.
    #[must_use]
    pub fn display<'a>(&self, file: &'a str) -> Cow<'a, str> {
        let shown = match without_detours(file) {
            Some(direct) => Cow::Owned(direct),
            None => Cow::Borrowed(file),
        };
        let relative = self
            .root
            .as_deref()
            .and_then(|root| Path::new(&*shown).strip_prefix(root).ok())
            .and_then(Path::to_str)
            .filter(|relative| !relative.is_empty());
        match (relative, &shown) {
            (None, _) => shown,
            // It is an end of the path.
            (Some(relative), Cow::Borrowed(file)) => {
                Cow::Borrowed(&file[file.len() - relative.len()..])
            }
            (Some(relative), Cow::Owned(_)) => Cow::Owned(relative.to_owned()),
        }
    }

    /// `file:line:column`, or `None` if no position is known.
    #[must_use]
    pub fn place(&self, tables: &Tables, at: SrcId) -> Option<String> {
        let loc = position(tables, at)?;
        let file = self.display(&loc.file);
        Some(if loc.column == 0 {
            format!("{file}:{}", loc.line)
        } else {
            format!("{file}:{}:{}", loc.line, loc.column)
        })
    }

    /// `file:line`, or `None` if no position is known.
    #[must_use]
    pub fn line(&self, tables: &Tables, at: SrcId) -> Option<String> {
        let loc = position(tables, at)?;
        Some(format!("{}:{}", self.display(&loc.file), loc.line))
    }

    /// The column in characters: compilers count bytes.
    pub(crate) fn column(&self, loc: &SourceLoc) -> u32 {
        let count = || {
            let text = self.text(&loc.file)?;
            let line = text.lines().nth(loc.line.checked_sub(1)? as usize)?;
            let before = line.get(..loc.column.checked_sub(1)? as usize)?;
            u32::try_from(before.chars().count() + 1).ok()
        };
        count().unwrap_or(loc.column)
    }

    /// The bytes of the word (or else the one character) that a position points at.
    #[must_use]
    pub(crate) fn span(&self, loc: &SourceLoc) -> Option<(Rc<str>, std::ops::Range<usize>)> {
        let text = self.text(&loc.file)?;
        let line_start: usize = text
            .split_inclusive('\n')
            .take(usize::try_from(loc.line).ok()?.checked_sub(1)?)
            .map(str::len)
            .sum();
        let line = text.get(line_start..)?.lines().next()?;
        // Columns count bytes from 1; 0 means that only the line is known.
        let column = usize::try_from(loc.column).ok()?.saturating_sub(1);
        let rest = line.get(column..).filter(|rest| !rest.is_empty())?;
        let word = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        let length = if loc.column == 0 {
            rest.trim_end().len()
        } else {
            word.max(rest.chars().next().map_or(1, char::len_utf8))
        };
        let start = line_start + column;
        Some((text.clone(), start..start + length))
    }
}

/// The path without `.` and `dir/..`, as `#include "../queue.h"` leaves them in it, if it has any and still leads to the same file: `dir` may be a link.
fn without_detours(file: &str) -> Option<String> {
    let is_detour = |part: Component<'_>| matches!(part, Component::ParentDir);
    let path = Path::new(file);
    if !path.components().any(is_detour) && !file.contains("/./") && !file.starts_with("./") {
        return None;
    }
    let mut direct = PathBuf::new();
    for part in path.components() {
        let last = direct.components().next_back();
        match (part, last) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                direct.pop();
            }
            (part, _) => direct.push(part),
        }
    }
    let is_same = std::fs::canonicalize(path).ok()? == std::fs::canonicalize(&direct).ok()?;
    direct.to_str().filter(|_| is_same).map(str::to_owned)
}

/// A position with a line number, if there is one. What a library does is told of the line that called it.
pub(crate) fn position(tables: &Tables, at: SrcId) -> Option<&SourceLoc> {
    let user = tables.user_source(at).unwrap_or(at);
    tables.source_loc(user).filter(|loc| loc.line != 0)
}

/// Is the position one that users wrote, or was it called from there?
pub(crate) fn is_known(tables: &Tables, at: SrcId) -> bool {
    tables
        .user_source(at)
        .and_then(|user| tables.source_loc(user))
        .is_some_and(|loc| loc.line != 0)
}

/// Did users not write what is done there?
pub(crate) fn is_library(tables: &Tables, at: SrcId) -> bool {
    tables
        .source_loc(at)
        .is_none_or(|loc| loc.line == 0 || loc.is_library())
}

/// Is it a line of Rust?
pub(crate) fn is_rust(tables: &Tables, at: SrcId) -> bool {
    position(tables, at).is_some_and(|loc| {
        let extension = Path::new(&*loc.file).extension();
        extension.is_some_and(|extension| extension == "rs")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_characters() {
        let sources = Sources::default();
        sources.insert("a.c", "x;\n/* é */ y;\n");
        let loc = |line, column| SourceLoc {
            file: "a.c".into(),
            line,
            column,
            function: None,
            inlined_at: None,
        };
        assert_eq!(sources.column(&loc(1, 2)), 2);
        assert_eq!(sources.column(&loc(2, 10)), 9);
        // What does not fit the text is left as it is.
        assert_eq!(sources.column(&loc(2, 5)), 5);
        assert_eq!(sources.column(&loc(9, 7)), 7);
        assert_eq!(sources.column(&loc(1, 0)), 0);
    }
}
