//! What to type instead, for those who name a file of a Cargo project to `raddle check`.

use std::ffi::OsStr;
use std::path::{Component, Path};

/// The command that checks a file, if it is part of a Cargo project.
pub(crate) fn command_for(file: &Path) -> Option<String> {
    let file = std::path::absolute(file).ok()?;
    let has_manifest = |directory: &&Path| directory.join("Cargo.toml").is_file();
    let package = file.ancestors().skip(1).find(has_manifest)?;
    let inside = file.strip_prefix(package).ok()?;
    let parts: Vec<&str> = inside
        .components()
        .filter_map(|part| match part {
            Component::Normal(part) => part.to_str(),
            _ => None,
        })
        .collect();
    let stem = file.file_stem().and_then(OsStr::to_str)?;
    Some(match parts.as_slice() {
        ["tests", _] => format!("cargo raddle test --test {stem}"),
        ["tests", name, ..] => format!("cargo raddle test --test {name}"),
        ["examples", _] => format!("cargo raddle run --example {stem}"),
        ["examples", name, ..] => format!("cargo raddle run --example {name}"),
        ["src", "bin", _] => format!("cargo raddle run --bin {stem}"),
        ["src", "bin", name, ..] => format!("cargo raddle run --bin {name}"),
        ["src", "main.rs"] => "cargo raddle run".to_owned(),
        _ => "cargo raddle test".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_package_has_its_command() {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let of = |file: &str| command_for(&package.join(file));
        for (file, command) in [
            ("tests/cli.rs", "cargo raddle test --test cli"),
            ("tests/browser/cdp.rs", "cargo raddle test --test browser"),
            ("examples/demo.rs", "cargo raddle run --example demo"),
            (
                "src/bin/cargo-raddle.rs",
                "cargo raddle run --bin cargo-raddle",
            ),
            ("src/main.rs", "cargo raddle run"),
            ("src/lib.rs", "cargo raddle test"),
            ("src/cargo/mod.rs", "cargo raddle test"),
        ] {
            assert_eq!(of(file).as_deref(), Some(command), "{file}");
        }
        assert_eq!(command_for(Path::new("/no/such/file.rs")), None);
    }
}
