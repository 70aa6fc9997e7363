//! Numbers, as the source would write them.

use std::fmt::{Display, Formatter, LowerExp, Result};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Whole(i128),
    Single(f32),
    Double(f64),
}

impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match *self {
            Self::Whole(value) => write!(f, "{value}"),
            Self::Single(value) => floating(value, f64::from(value), f),
            Self::Double(value) => floating(value, value, f),
        }
    }
}

/// As few digits as tell the number from all others of its type; with an exponent where there would be many zeros.
fn floating(value: impl Display + LowerExp, size: f64, f: &mut Formatter<'_>) -> Result {
    let size = size.abs();
    if size.is_finite() && size != 0.0 && !(1e-5..1e17).contains(&size) {
        write!(f, "{value:e}")
    } else {
        write!(f, "{value}")
    }
}

impl Number {
    /// What scripts get. JSON has no words for infinities and for what is no number: they are strings.
    pub(crate) fn to_json(self) -> serde_json::Value {
        let value = match self {
            Self::Whole(value) => {
                return match i64::try_from(value) {
                    Ok(value) => value.into(),
                    Err(_) => (value as u64).into(),
                };
            }
            // The digits of the `float`, not those of the `double` that has the same value.
            Self::Single(value) => value.to_string().parse().unwrap_or(f64::from(value)),
            Self::Double(value) => value,
        };
        match serde_json::Number::from_f64(value) {
            Some(number) => number.into(),
            None => self.to_string().into(),
        }
    }

    /// The C expression which says that `what` is this number.
    pub(crate) fn is_value_of(self, what: &str) -> String {
        let (value, literal) = match self {
            Self::Whole(value) => return format!("{what} == {value}"),
            Self::Single(value) => (f64::from(value), format!("{value:?}f")),
            Self::Double(value) => (value, format!("{value:?}")),
        };
        if value.is_nan() {
            format!("{what} != {what}")
        } else if value.is_infinite() {
            format!("{what} == {:?} / 0.0", value.signum())
        } else {
            format!("{what} == {literal}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn numbers_are_written_as_in_the_source() {
        let shown = |number: Number| number.to_string();
        assert_eq!(shown(Number::Whole(-3)), "-3");
        assert_eq!(shown(Number::Single(0.1)), "0.1");
        assert_eq!(shown(Number::Double(50.0)), "50");
        assert_eq!(shown(Number::Double(-0.0)), "-0");
        assert_eq!(shown(Number::Double(2.5e-300)), "2.5e-300");
        assert_eq!(shown(Number::Single(1e38)), "1e38");
        assert_eq!(shown(Number::Double(f64::NEG_INFINITY)), "-inf");
    }

    #[test]
    fn scripts_get_numbers_where_there_are_any() {
        assert_eq!(Number::Single(0.1).to_json().to_string(), "0.1");
        assert_eq!(
            Number::Whole(i128::from(u64::MAX)).to_json().to_string(),
            "18446744073709551615"
        );
        assert_eq!(
            Number::Double(f64::INFINITY).to_json().to_string(),
            "\"inf\""
        );
    }

    #[test]
    fn witnesses_are_c() {
        let said = |number: Number| number.is_value_of("x");
        assert_eq!(said(Number::Whole(7)), "x == 7");
        assert_eq!(said(Number::Single(0.1)), "x == 0.1f");
        assert_eq!(said(Number::Double(1.0)), "x == 1.0");
        assert_eq!(said(Number::Double(1e300)), "x == 1e300");
        assert_eq!(said(Number::Single(f32::NAN)), "x != x");
        assert_eq!(said(Number::Double(f64::NEG_INFINITY)), "x == -1.0 / 0.0");
    }
}
