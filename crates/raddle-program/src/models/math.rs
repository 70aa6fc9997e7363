//! `<math.h>`, as far as Rust's own functions reach. `errno` is left alone.

use super::{Model, ModelResult, Outcome, Script, model};
use crate::interp::float;

/// A function of `double`s, of which the `float` variant has an `f` at the end.
type Unary = (&'static str, fn(f64) -> f64);
type Binary = (&'static str, fn(f64, f64) -> f64);

const UNARY: &[Unary] = &[
    ("sqrt", f64::sqrt),
    ("cbrt", f64::cbrt),
    ("floor", f64::floor),
    ("ceil", f64::ceil),
    ("trunc", f64::trunc),
    ("round", f64::round),
    ("rint", f64::round_ties_even),
    ("nearbyint", f64::round_ties_even),
    ("exp", f64::exp),
    ("exp2", f64::exp2),
    ("log", f64::ln),
    ("log2", f64::log2),
    ("log10", f64::log10),
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("atan", f64::atan),
];

const BINARY: &[Binary] = &[
    ("pow", f64::powf),
    ("fmod", |a, b| a % b),
    ("fmin", float::lesser),
    ("fmax", float::greater),
    ("atan2", f64::atan2),
    ("hypot", f64::hypot),
];

macro_rules! models {
    ($run:ident: $($name:literal)*; $($rest:tt)*) => {
        &[$(model($name, $run), model(concat!($name, "f"), $run),)* $($rest)*]
    };
}

pub(super) const MODELS: &[Model] = models! {
    unary: "sqrt" "cbrt" "floor" "ceil" "trunc" "round" "rint" "nearbyint" "exp" "exp2" "log" "log2" "log10"
           "sin" "cos" "tan" "atan";
    model("fabs", absolute), model("fabsf", absolute),
    model("pow", binary), model("powf", binary),
    model("fmod", binary), model("fmodf", binary),
    model("fmin", binary), model("fminf", binary),
    model("fmax", binary), model("fmaxf", binary),
    model("atan2", binary), model("atan2f", binary),
    model("hypot", binary), model("hypotf", binary),
};

/// The function's name without the `f` of its `float` variant, and whether it had one.
fn stem(name: &str) -> (&str, bool) {
    let known = |name: &str| {
        UNARY.iter().any(|(other, _)| *other == name)
            || BINARY.iter().any(|(other, _)| *other == name)
    };
    match name.strip_suffix('f') {
        Some(stem) if !known(name) => (stem, true),
        _ => (name, false),
    }
}

fn argument(cx: &Script<'_, '_>, index: usize, is_float: bool) -> f64 {
    if is_float {
        f64::from(f32::from_bits(cx.arg(index) as u32))
    } else {
        f64::from_bits(cx.arg(index))
    }
}

/// Computing a `float` in `double` and rounding once more is as near as libraries promise.
fn result(value: f64, is_float: bool) -> ModelResult {
    Ok(Outcome::Return(if is_float {
        float::single_bits(value)
    } else {
        float::double_bits(value)
    }))
}

/// Of a NaN all bits but the sign are kept.
fn absolute(cx: &mut Script<'_, '_>) -> ModelResult {
    let sign = if cx.function_name() == "fabsf" {
        31
    } else {
        63
    };
    Ok(Outcome::Return(cx.arg(0) & !(1 << sign)))
}

fn unary(cx: &mut Script<'_, '_>) -> ModelResult {
    let (stem, is_float) = stem(cx.function_name());
    match UNARY.iter().find(|(name, _)| *name == stem) {
        Some((_, function)) => result(function(argument(cx, 0, is_float)), is_float),
        None => Err(cx.unsupported("this variant of the function")),
    }
}

fn binary(cx: &mut Script<'_, '_>) -> ModelResult {
    let (stem, is_float) = stem(cx.function_name());
    match BINARY.iter().find(|(name, _)| *name == stem) {
        Some((_, function)) => {
            let (a, b) = (argument(cx, 0, is_float), argument(cx, 1, is_float));
            result(function(a, b), is_float)
        }
        None => Err(cx.unsupported("this variant of the function")),
    }
}
