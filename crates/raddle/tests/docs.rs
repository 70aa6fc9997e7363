//! Documentation that is not true is a bug: the files it names exist, and the output it shows is what Raddle prints.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    crates
        .ancestors()
        .nth(2)
        .expect("the crate lies two levels below the root")
        .to_owned()
}

fn documents() -> Vec<PathBuf> {
    let root = root();
    let at_the_top = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"];
    let mut documents: Vec<PathBuf> = at_the_top.iter().map(|name| root.join(name)).collect();
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                documents.push(path);
            }
        }
    }
    documents
}

/// What stands between each `open` and the next `close`.
fn between<'a>(text: &'a str, open: &'a str, close: char) -> impl Iterator<Item = &'a str> {
    text.match_indices(open).filter_map(move |(at, _)| {
        let rest = &text[at + open.len()..];
        rest.find(close).map(|end| &rest[..end])
    })
}

#[test]
fn files_that_are_named_exist() {
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        let directory = document.parent().unwrap();
        for link in between(&text, "](", ')').filter(|link| !link.starts_with("http")) {
            let file = link.split('#').next().unwrap_or(link);
            assert!(
                file.is_empty() || directory.join(file).exists(),
                "{} links to {link}, which does not exist",
                document.display()
            );
        }
        for top in ["crates", "tests", "examples", "docs", "xtask"] {
            for rest in between(&text, &format!("`{top}/"), '`').map(str::to_owned) {
                assert!(
                    root().join(top).join(&rest).exists(),
                    "{} names {top}/{rest}, which does not exist",
                    document.display()
                );
            }
        }
    }
}

/// The outputs of examples are compared with `examples/*.expected` elsewhere; those files are what the README must show.
#[test]
fn the_readme_shows_real_output() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    for example in ["stack_bug.c", "stack.c", "message.c"] {
        let command = format!("$ raddle check examples/{example}\n");
        let (_, rest) = readme.split_once(&command).unwrap();
        let (shown, _) = rest.split_once("```").unwrap();
        let expected =
            fs::read_to_string(root().join(format!("examples/{example}.expected"))).unwrap();
        let (_, expected) = expected.split_once("---- stdout\n").unwrap();
        let shown: Vec<&str> = shown.lines().collect();
        let expected: Vec<&str> = expected.lines().collect();
        assert_eq!(shown.len(), expected.len(), "{example}");
        for (shown, expected) in shown.iter().zip(expected) {
            // The time, which no file keeps, stands for itself.
            let same = match expected.split_once('…') {
                Some((before, after)) => shown.starts_with(before) && shown.ends_with(after),
                None => *shown == expected,
            };
            assert!(
                same,
                "{example}: README shows\n{shown}\nbut it is\n{expected}"
            );
        }
    }
}
