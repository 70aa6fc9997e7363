//! `compile_commands.json`: how a project compiles its sources, as build systems write it and clang-tidy reads it.

use super::ProjectError;
use crate::compile::Unit;
use serde::Deserialize;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

const FILE: &str = "compile_commands.json";

/// A command of the database.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) unit: Unit,
    /// The file without `.` and `..`, to compare it with.
    pub(crate) path: PathBuf,
    /// What the command writes, which tells what it is part of.
    output: Option<String>,
}

/// All commands for C and C++ sources, in the order of the file.
#[derive(Clone, Debug)]
pub(crate) struct Database {
    pub(crate) file: PathBuf,
    pub(crate) commands: Vec<Command>,
}

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    arguments: Option<Vec<String>>,
    command: Option<String>,
    output: Option<String>,
}

impl Database {
    /// Reads the database of a build directory, or the file itself.
    pub(crate) fn read(build: &Path) -> Result<Self, ProjectError> {
        let file = match build.is_dir() {
            true => build.join(FILE),
            false => build.to_owned(),
        };
        let text = std::fs::read(&file).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => ProjectError::NoDatabase { file: file.clone() },
            _ => ProjectError::Unreadable {
                file: file.clone(),
                error,
            },
        })?;
        let entries: Vec<Entry> =
            serde_json::from_slice(&text).map_err(|error| ProjectError::Malformed {
                file: file.clone(),
                what: error.to_string(),
            })?;
        // Directories may be relative to the file.
        let base = file.parent().unwrap_or(Path::new("")).to_owned();
        let mut commands = Vec::new();
        for (entry, number) in entries.into_iter().zip(1..) {
            let command = command(entry, &base).ok_or_else(|| ProjectError::Malformed {
                file: file.clone(),
                what: format!("entry {number} has neither `arguments` nor `command`"),
            })?;
            commands.extend(command);
        }
        if commands.is_empty() {
            return Err(ProjectError::Empty { file });
        }
        Ok(Self { file, commands })
    }

    /// The command for a file that the user names; the first, if there are several.
    pub(crate) fn command_for(&self, file: &Path) -> Option<&Command> {
        let wanted = normal(&std::path::absolute(file).ok()?);
        let real = |path: &Path| path.canonicalize().ok();
        let named = |command: &&Command| command.path == wanted;
        self.commands.iter().find(named).or_else(|| {
            let wanted = real(&wanted)?;
            (self.commands.iter()).find(|it| real(&it.path).as_ref() == Some(&wanted))
        })
    }

    /// The commands of a target: CMake writes what belongs to it to `TARGET.dir/`; else a source of that name, with or without extension.
    pub(crate) fn target(&self, name: &str) -> Vec<&Command> {
        let directory = format!("{name}.dir");
        let is_part = |command: &&Command| {
            let output = command.output.as_deref().unwrap_or_default();
            output.split('/').any(|part| part == directory)
        };
        let of_target: Vec<&Command> = self.commands.iter().filter(is_part).collect();
        if !of_target.is_empty() {
            return of_target;
        }
        let is_source = |command: &&Command| {
            let path = &command.path;
            path.ends_with(name) || path.file_stem() == Some(OsStr::new(name))
        };
        self.commands.iter().filter(is_source).collect()
    }

    /// Names that [`Self::target`] knows.
    pub(crate) fn targets(&self) -> Vec<String> {
        let mut names: Vec<String> = (self.commands.iter())
            .filter_map(|command| command.output.as_deref())
            .flat_map(|output| output.split('/').filter_map(|it| it.strip_suffix(".dir")))
            .map(str::to_owned)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// None if the entry has no command; Some(None) if it is for no source of ours, such as assembly.
fn command(entry: Entry, base: &Path) -> Option<Option<Command>> {
    let words = match (entry.arguments, entry.command) {
        (Some(arguments), _) => arguments,
        (None, Some(command)) => split(&command),
        (None, None) => return None,
    };
    let directory = base.join(&entry.directory);
    let directory = std::path::absolute(&directory).unwrap_or(directory);
    let path = normal(&directory.join(&entry.file));
    if !crate::compile::is_c_or_cxx(&path) {
        return Some(None);
    }
    let (compiler, args) = cleaned(&words, &entry.file, &directory);
    Some(Some(Command {
        output: entry.output.or_else(|| output(&words)),
        unit: Unit {
            // Absolute: the compiler runs elsewhere.
            file: path.clone(),
            directory: Some(directory),
            args,
            is_cxx: compiler.ends_with("++"),
            is_foreign: true,
            inline_bodies: false,
        },
        path,
    }))
}

/// A path without `.` and `..`, as far as that can be said without looking at links.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// Words of a command line, as a POSIX shell reads it.
fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(chars.by_ref().take_while(|&c| c != '\''));
            }
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => match chars.next() {
                            Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                            Some(c) => word.extend(['\\', c]),
                            None => {}
                        },
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn output(words: &[String]) -> Option<String> {
    let at = words.iter().position(|word| word == "-o")?;
    words.get(at + 1).cloned()
}

/// Flags that say what is to be made, and flags that would change what the program does: instrumentation, optimisation and what hangs on it.
const DROPPED: [&str; 13] = [
    "-c",
    "-S",
    "-E",
    "-M",
    "-MM",
    "-MD",
    "-MMD",
    "-MP",
    "-MG",
    "-pipe",
    "--coverage",
    "-emit-llvm",
    "--",
];
const DROPPED_PREFIXES: [&str; 14] = [
    "-g",
    "-O",
    "-Werror",
    "-pedantic-errors",
    "-flto",
    "-fsanitize",
    "-fno-sanitize",
    "-fprofile",
    "-ftest-coverage",
    "-fcoverage",
    "-fplugin",
    "-save-temps",
    "-D_FORTIFY_SOURCE",
    "-Wp,",
];
const DROPPED_WITH_VALUE: [&str; 4] = ["-o", "-MF", "-MT", "-MQ"];
/// Programs in front of the compiler.
const LAUNCHERS: [&str; 4] = ["ccache", "sccache", "distcc", "icecc"];

/// The compiler's name, and its arguments without what is for another purpose than ours, and without the source.
fn cleaned(words: &[String], source: &Path, directory: &Path) -> (String, Vec<OsString>) {
    let stem = |word: &String| {
        let name = Path::new(word).file_name().and_then(OsStr::to_str);
        name.unwrap_or_default().to_owned()
    };
    let launchers = (words.iter())
        .take_while(|word| LAUNCHERS.contains(&stem(word).as_str()))
        .count();
    let mut words = words.iter().skip(launchers);
    let compiler = words.next().map(stem).unwrap_or_default();
    // `g++-13`, `clang++-19`
    let unversioned = compiler.trim_end_matches(|c: char| c.is_ascii_digit() || "-.".contains(c));
    let wanted = normal(&directory.join(source));
    let mut args = Vec::new();
    while let Some(word) = words.next() {
        if DROPPED_WITH_VALUE.contains(&word.as_str()) {
            words.next();
            continue;
        }
        let begins = |prefix: &&str| word.starts_with(*prefix);
        let is_dropped = DROPPED.contains(&word.as_str())
            || DROPPED_PREFIXES.iter().any(begins)
            || DROPPED_WITH_VALUE[1..].iter().any(begins);
        let is_source = !word.starts_with('-') && normal(&directory.join(word)) == wanted;
        if !is_dropped && !is_source {
            args.push(OsString::from(word));
        }
    }
    (unversioned.to_owned(), args)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_as_a_shell_does() {
        assert_eq!(
            split(r#"cc -DA="a b" '-DB=\"x\"' -I/x\ y  "-DC=\"q\"" -c a.c"#),
            [
                "cc",
                "-DA=a b",
                r#"-DB=\"x\""#,
                "-I/x y",
                r#"-DC="q""#,
                "-c",
                "a.c"
            ]
        );
        assert_eq!(split("  "), [""; 0]);
    }

    #[test]
    fn what_is_left_of_a_command_says_how_to_read_the_source() {
        let words = split(
            "ccache /usr/bin/g++-13 -O2 -g3 -Wall -Werror=format -fsanitize=thread -MD -MT x -MFdep.d -D_FORTIFY_SOURCE=2 -Iinc -std=c++20 -o x.o -c ../src/a.cpp",
        );
        let (compiler, args) = cleaned(&words, Path::new("../src/a.cpp"), Path::new("/p/build"));
        assert_eq!(compiler, "g++");
        assert_eq!(args, ["-Wall", "-Iinc", "-std=c++20"]);
    }

    fn database(text: &str) -> Result<Database, ProjectError> {
        let number = text.len();
        let directory =
            std::env::temp_dir().join(format!("raddle-database-{number}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join(FILE), text).unwrap();
        let database = Database::read(&directory);
        std::fs::remove_dir_all(&directory).unwrap();
        database
    }

    #[test]
    fn both_forms_of_a_database_are_read() {
        let database = database(
            r#"[
            {"directory": "/p/build", "file": "../a.c", "command": "cc -DX -o CMakeFiles/tool.dir/a.c.o -c ../a.c"},
            {"directory": "/p/build", "file": "/p/b.cc", "arguments": ["c++", "-c", "/p/b.cc"], "output": "CMakeFiles/lib.dir/b.cc.o"},
            {"directory": "/p/build", "file": "/p/start.S", "command": "cc -c /p/start.S"}
        ]"#,
        )
        .unwrap();
        assert_eq!(database.commands.len(), 2);
        assert_eq!(database.targets(), ["lib", "tool"]);
        assert_eq!(database.target("tool")[0].path, Path::new("/p/a.c"));
        assert_eq!(database.target("tool")[0].unit.args, ["-DX"]);
        assert_eq!(database.target("b").len(), 1);
        assert!(database.target("b")[0].unit.is_cxx);
        assert!(database.target("nothing").is_empty());
        assert!(database.command_for(Path::new("/p/./x/../a.c")).is_some());
    }

    #[test]
    fn what_is_no_database_is_told() {
        for (text, message) in [
            ("[]", "there is no C or C++ source in it"),
            ("{}", "invalid type"),
            (
                r#"[{"directory": "/", "file": "a.c"}]"#,
                "entry 1 has neither",
            ),
            (r#"[{"file": "a.c"}]"#, "missing field `directory`"),
        ] {
            let error = database(text).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
