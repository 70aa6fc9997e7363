//! What depends on the language of a program, and on its version.

use crate::cli::OnMainReturn;
use crate::compile::{self, Unit};
use raddle_program::ReleaseSequences;
use std::ffi::OsString;
use std::path::Path;

/// What becomes of other threads when `main` returns, if nobody says so: Rust programs end. C programs do, too, but those that
/// forget to join their threads are what people want to hear of.
pub(crate) fn on_main_return(file: &Path, ir: &str) -> OnMainReturn {
    match is_rust(file, ir) {
        true => OnMainReturn::Exit,
        false => OnMainReturn::Wait,
    }
}

/// Which writes continue a release sequence. Where the version of the language is not known the newest rule holds: it orders
/// less.
pub(crate) fn release_sequences(units: &[Unit], ir: &str) -> ReleaseSequences {
    let is_old = |unit: &Unit| {
        if is_rust(&unit.file, ir) {
            false
        } else if compile::is_ir(&unit.file) {
            languages(ir).is_some_and(|mut all| all.all(is_old_language))
        } else {
            // Raddle asks for C++17, and clang takes C17 by itself.
            standard(&unit.args).is_none_or(|standard| is_old_standard(&standard))
        }
    };
    match units.iter().all(is_old) {
        true => ReleaseSequences::SameThread,
        false => ReleaseSequences::UpdatesOnly,
    }
}

/// rustc names modules after its units of code generation.
fn is_rust(file: &Path, ir: &str) -> bool {
    const NAME: &str = "source_filename = ";
    let name = || ir.lines().take(5).find(|line| line.starts_with(NAME));
    compile::language(file) == "Rust" || name().is_some_and(|name| name.contains("-cgu."))
}

/// The last `-std=` of a command line.
fn standard(args: &[OsString]) -> Option<String> {
    let mut last = None;
    let mut args = args.iter().filter_map(|arg| arg.to_str());
    while let Some(arg) = args.next() {
        if arg == "--std" {
            last = args.next();
        } else if let Some(standard) = arg
            .strip_prefix("-std=")
            .or_else(|| arg.strip_prefix("--std="))
        {
            last = Some(standard);
        }
    }
    last.map(str::to_owned)
}

/// Is this a version of C up to C17, or of C++ up to C++17?
fn is_old_standard(standard: &str) -> bool {
    const OLD_C: [&str; 13] = [
        "89", "90", "99", "9x", "11", "1x", "17", "18", "1990", "199409", "1999", "2011", "2017",
    ];
    const OLD_CPP: [&str; 8] = ["98", "03", "0x", "11", "1y", "14", "1z", "17"];
    let without = |prefixes: [&str; 2]| {
        let mut prefixes = prefixes.into_iter();
        prefixes.find_map(|prefix| standard.strip_prefix(prefix))
    };
    if let Some(version) = without(["gnu++", "c++"]) {
        return OLD_CPP.contains(&version);
    }
    let version = without(["gnu", "c"]).or_else(|| standard.strip_prefix("iso9899:"));
    version.is_some_and(|version| OLD_C.contains(&version) || version == "2018")
}

/// The languages that debug information names; none if it names none.
fn languages(ir: &str) -> Option<impl Iterator<Item = &str>> {
    const LANGUAGE: &str = "DICompileUnit(language: ";
    let mut found = ir
        .match_indices(LANGUAGE)
        .map(|(at, _)| {
            let rest = &ir[at + LANGUAGE.len()..];
            let end = rest.find([',', ')']).unwrap_or(rest.len());
            &rest[..end]
        })
        .peekable();
    found.peek().is_some().then_some(found)
}

/// Does the name tell an old version? Compilers use the names of older ones for those that DWARF 5 has no name for: what is
/// called C11 may be C23, and C++14 may be C++20.
fn is_old_language(language: &str) -> bool {
    matches!(
        language,
        "DW_LANG_C17"
            | "DW_LANG_C_plus_plus"
            | "DW_LANG_C_plus_plus_03"
            | "DW_LANG_C_plus_plus_11"
            | "DW_LANG_C_plus_plus_17"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(file: &str, args: &[&str], ir: &str) -> ReleaseSequences {
        let unit = Unit {
            file: file.into(),
            directory: None,
            args: args.iter().map(OsString::from).collect(),
            is_cxx: false,
            is_foreign: false,
            inline_bodies: false,
        };
        release_sequences(&[unit], ir)
    }

    #[test]
    fn the_version_of_the_language_tells_which_rule_holds() {
        use ReleaseSequences::{SameThread, UpdatesOnly};
        assert_eq!(rule("a.c", &[], ""), SameThread);
        assert_eq!(rule("a.cpp", &["-O1"], ""), SameThread);
        assert_eq!(rule("a.rs", &[], ""), UpdatesOnly);
        for old in [
            "c11",
            "gnu17",
            "c18",
            "c++11",
            "gnu++17",
            "c++1z",
            "iso9899:2011",
        ] {
            assert_eq!(
                rule("a.c", &[&format!("-std={old}")], ""),
                SameThread,
                "{old}"
            );
        }
        for new in [
            "c2x", "gnu23", "c++20", "c++2a", "gnu++20", "gnu++2b", "c++26",
        ] {
            assert_eq!(
                rule("a.c", &[&format!("-std={new}")], ""),
                UpdatesOnly,
                "{new}"
            );
        }
        // The last one counts.
        assert_eq!(
            rule("a.c", &["-std=c++20", "--std", "c++17"], ""),
            SameThread
        );
        assert_eq!(rule("a.c", &["-std=c++17", "--std=c++20"], ""), UpdatesOnly);
    }

    #[test]
    fn where_the_version_is_not_known_the_newest_rule_holds() {
        use ReleaseSequences::{SameThread, UpdatesOnly};
        let unit =
            |language| format!("!0 = distinct !DICompileUnit(language: {language}, file: !1)\n");
        assert_eq!(rule("a.ll", &[], ""), UpdatesOnly);
        assert_eq!(rule("a.ll", &[], &unit("DW_LANG_C11")), UpdatesOnly);
        assert_eq!(
            rule("a.ll", &[], &unit("DW_LANG_C_plus_plus_14")),
            UpdatesOnly
        );
        assert_eq!(
            rule("a.ll", &[], &unit("DW_LANG_C_plus_plus_17")),
            SameThread
        );
        let both = unit("DW_LANG_C17") + &unit("DW_LANG_C_plus_plus_20");
        assert_eq!(rule("a.ll", &[], &both), UpdatesOnly);
    }

    #[test]
    fn rust_programs_end_with_main() {
        let of = |file: &str, ir: &str| on_main_return(Path::new(file), ir);
        assert_eq!(of("a.rs", ""), OnMainReturn::Exit);
        assert_eq!(of("a.c", ""), OnMainReturn::Wait);
        assert_eq!(of("a.ll", ""), OnMainReturn::Wait);
        let ir = "; ModuleID = 'a'\nsource_filename = \"a.1234-cgu.0\"\n";
        assert_eq!(of("a.ll", ir), OnMainReturn::Exit);
    }
}
