//! Property files of the verification competition (SV-COMP): `CHECK( init(main()), LTL(G ! call(reach_error())) )`.

use crate::cli::Check;
use crate::error::Error;
use std::fmt;
use std::path::Path;

/// What a property file asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The formulas as they are written, for witnesses.
    pub specification: String,
    pub checks: Vec<Check>,
    /// Only calls of `reach_error` count, not failing assertions.
    pub only_error_calls: bool,
    /// A part that Raddle does not look for: without a violation there is no answer.
    pub unchecked: Option<&'static str>,
}

/// Why a file is no property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyError {
    Empty,
    /// A line that is not `CHECK( init(main()), LTL(…) )`.
    NoCheck {
        line: usize,
    },
    Unknown {
        line: usize,
        formula: String,
    },
}

impl fmt::Display for PropertyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "there is no property in it"),
            Self::NoCheck { line } => {
                write!(f, "line {line} is not `CHECK( init(main()), LTL(…) )`")
            }
            Self::Unknown { line, formula } => {
                write!(
                    f,
                    "line {line}: Raddle does not know the property `{formula}`"
                )
            }
        }
    }
}

/// Reads the file.
pub fn read(file: &Path) -> Result<Property, Error> {
    let text = std::fs::read_to_string(file).map_err(|error| Error::ReadProperty {
        file: file.into(),
        error,
    })?;
    parse(&text).map_err(|error| Error::Property {
        file: file.into(),
        error,
    })
}

fn parse(text: &str) -> Result<Property, PropertyError> {
    let mut property = Property {
        specification: String::new(),
        checks: Vec::new(),
        only_error_calls: false,
        unchecked: None,
    };
    for (index, line) in text.lines().enumerate() {
        let compact: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        if compact.is_empty() {
            continue;
        }
        let line = index + 1;
        let formula = compact
            .strip_prefix("CHECK(init(main()),LTL(")
            .and_then(|rest| rest.strip_suffix("))"))
            .ok_or(PropertyError::NoCheck { line })?;
        property.add(formula, line)?;
    }
    if property.specification.is_empty() {
        return Err(PropertyError::Empty);
    }
    Ok(property)
}

impl Property {
    fn add(&mut self, formula: &str, line: usize) -> Result<(), PropertyError> {
        let (check, written) = match formula {
            "G!call(reach_error())" | "G!call(__VERIFIER_error())" => {
                self.only_error_calls = true;
                (Some(Check::Assert), "G ! call(reach_error())")
            }
            "G!data-race" => (Some(Check::Race), "G ! data-race"),
            "G!overflow" => (Some(Check::Overflow), "G ! overflow"),
            "Gvalid-free" => (Some(Check::Memory), "G valid-free"),
            "Gvalid-deref" => (Some(Check::Memory), "G valid-deref"),
            "Gvalid-memtrack" => {
                self.unchecked = Some("valid-memtrack (memory that nothing points to any more)");
                (Some(Check::Memory), "G valid-memtrack")
            }
            "Gvalid-memcleanup" => {
                self.unchecked = Some("valid-memcleanup (memory that is not freed in the end)");
                (Some(Check::Memory), "G valid-memcleanup")
            }
            // Whatever else goes wrong is no violation of it, so nothing is looked for.
            "Fend" => {
                self.unchecked = Some("termination (executions without end)");
                (None, "F end")
            }
            _ => {
                let formula = formula.to_owned();
                return Err(PropertyError::Unknown { line, formula });
            }
        };
        if !check.is_none_or(|check| self.checks.contains(&check)) {
            self.checks.extend(check);
        }
        if !self.specification.is_empty() {
            self.specification += "\n";
        }
        self.specification += written;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_properties_of_the_competition_are_known() {
        let reach = parse("CHECK( init(main()), LTL(G ! call(reach_error())) )\n\n").unwrap();
        assert_eq!(reach.checks, [Check::Assert]);
        assert!(reach.only_error_calls && reach.unchecked.is_none());
        let safe = "CHECK( init(main()), LTL(G valid-free) )\nCHECK( init(main()), LTL(G valid-deref) )\nCHECK( init(main()), LTL(G valid-memtrack) )\n";
        let safe = parse(safe).unwrap();
        assert_eq!(safe.checks, [Check::Memory]);
        assert!(!safe.only_error_calls && safe.unchecked.is_some());
        assert_eq!(safe.specification.lines().count(), 3);
        let race = parse("CHECK( init(main()), LTL(G ! data-race) )").unwrap();
        assert_eq!(race.checks, [Check::Race]);
        let overflow = parse("CHECK(init(main()), LTL(G ! overflow))").unwrap();
        assert_eq!(overflow.checks, [Check::Overflow]);
        let cleanup = parse("CHECK( init(main()), LTL(G valid-memcleanup) )").unwrap();
        assert_eq!(cleanup.checks, [Check::Memory]);
        let ends = parse("CHECK( init(main()), LTL(F end) )").unwrap();
        assert!(ends.checks.is_empty() && !ends.only_error_calls);
        assert!(cleanup.unchecked.is_some() && ends.unchecked.is_some());
    }

    #[test]
    fn other_texts_are_errors() {
        assert_eq!(parse(" \n"), Err(PropertyError::Empty));
        assert_eq!(parse("\nhello"), Err(PropertyError::NoCheck { line: 2 }));
        let formula = "Gend".to_owned();
        assert_eq!(
            parse("CHECK( init(main()), LTL(G end) )"),
            Err(PropertyError::Unknown { line: 1, formula })
        );
    }
}
