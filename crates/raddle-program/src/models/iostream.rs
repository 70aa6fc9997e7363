//! Printing in C++: `std::cout << …` and what it ends in. Streams to anything else are not made in the first place.

use super::errno::zero;
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::{Order, sign_extend};

/// `operator<<` returns its stream.
pub(super) const MODELS: &[Model] = &[
    model("_ZNSt8ios_base4InitC1Ev", zero),
    model("_ZNSt8ios_base4InitD1Ev", zero),
    // (ostream, const char *), and its signed and unsigned kin
    model("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", c_string).returning(0),
    model("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKa", c_string).returning(0),
    model("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKh", c_string).returning(0),
    // (ostream, char)
    model("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c", character).returning(0),
    model("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_a", character).returning(0),
    model("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_h", character).returning(0),
    // (ostream, const std::string &)
    model(
        "_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostreamIT_T0_ES7_RKNSt7__cxx1112basic_stringIS4_S5_T1_EE",
        string,
    )
    .returning(0),
    // (ostream, const char *, length)
    model(
        "_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l",
        counted,
    )
    .returning(0),
    model("_ZNSo5writeEPKcl", counted).returning(0),
    // members of std::ostream
    model("_ZNSolsEs", number).returning(0),
    model("_ZNSolsEi", number).returning(0),
    model("_ZNSolsEl", number).returning(0),
    model("_ZNSolsEx", number).returning(0),
    model("_ZNSolsEt", number).returning(0),
    model("_ZNSolsEj", number).returning(0),
    model("_ZNSolsEm", number).returning(0),
    model("_ZNSolsEy", number).returning(0),
    model("_ZNSolsEb", number).returning(0),
    model("_ZNSolsEd", float).returning(0),
    model("_ZNSolsEf", float).returning(0),
    model("_ZNSolsEPKv", pointer).returning(0),
    model("_ZNSolsEPFRSoS_E", manipulator).returning(0),
    model("_ZNSolsEPFRSt8ios_baseS0_E", returned).returning(0),
    model("_ZNSo3putEc", character).returning(0),
    model("_ZNSo5flushEv", returned).returning(0),
    // std::endl and std::flush
    model(
        "_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_",
        end_line,
    )
    .returning(0),
    model(
        "_ZSt5flushIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_",
        returned,
    )
    .returning(0),
];

fn show(cx: &mut Script<'_, '_>, text: &str) -> ModelResult {
    cx.print(text)?;
    returned(cx)
}

fn returned(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(cx.arg(0)))
}

fn c_string(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = cx.text(cx.arg(1))?;
    show(cx, &text)
}

fn character(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = char::from(cx.arg(1) as u8).to_string();
    show(cx, &text)
}

/// A string begins with a pointer and a length.
fn string(cx: &mut Script<'_, '_>) -> ModelResult {
    let (address, len) = (
        cx.load(cx.arg(1), 8, Order::Plain)?,
        cx.load(cx.arg(1).wrapping_add(8), 8, Order::Plain)?,
    );
    show_counted(cx, address, len)
}

fn counted(cx: &mut Script<'_, '_>) -> ModelResult {
    show_counted(cx, cx.arg(1), cx.arg(2))
}

fn show_counted(cx: &mut Script<'_, '_>, address: u64, len: u64) -> ModelResult {
    let bytes: Result<Vec<u8>, Pause> = (0..len)
        .map(|at| cx.byte(address.wrapping_add(at)))
        .collect();
    show(cx, &String::from_utf8_lossy(&bytes?))
}

/// The last letter of the name says which kind of number it is.
fn number(cx: &mut Script<'_, '_>) -> ModelResult {
    let value = cx.arg(1);
    let text = match cx.function_name().chars().last() {
        Some('s') => sign_extend(value, 2).to_string(),
        Some('i') => sign_extend(value, 4).to_string(),
        Some('l' | 'x') => value.cast_signed().to_string(),
        _ => value.to_string(),
    };
    show(cx, &text)
}

/// As `%g` writes it.
fn float(cx: &mut Script<'_, '_>) -> ModelResult {
    let is_float = cx.function_name().ends_with('f');
    let value = if is_float {
        f64::from(f32::from_bits(cx.arg(1) as u32))
    } else {
        f64::from_bits(cx.arg(1))
    };
    let directive = super::format::Directive {
        letter: b'g',
        ..Default::default()
    };
    let text = directive.float(value);
    show(cx, &String::from_utf8_lossy(&text))
}

fn pointer(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = format!("{:#x}", cx.arg(1));
    show(cx, &text)
}

fn manipulator(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.call(cx.arg(1), &[cx.arg(0)])?;
    returned(cx)
}

fn end_line(cx: &mut Script<'_, '_>) -> ModelResult {
    show(cx, "\n")
}
