//! Printing in C++: `std::cout << …` and what it ends in. String streams (`sstream.rs`) take the same functions; others are not made in the first place.

use super::errno::zero;
use super::format::{Count, Directive};
use super::sstream::manipulate;
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::{Order, mask, sign_extend};

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
    model("_ZNSo5writeEPKcl", write).returning(0),
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
    model("_ZNSolsEPFRSt8ios_baseS0_E", manipulate).returning(0),
    model("_ZNSo3putEc", put).returning(0),
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

fn returned(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(cx.arg(0)))
}

fn show(cx: &mut Script<'_, '_>, text: &[u8]) -> ModelResult {
    cx.put_styled(cx.arg(0), |_| text.to_vec())?;
    returned(cx)
}

fn c_string(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = cx.string(cx.arg(1))?;
    show(cx, &text)
}

fn character(cx: &mut Script<'_, '_>) -> ModelResult {
    show(cx, &[cx.arg(1) as u8])
}

/// A string begins with a pointer and a length.
fn string(cx: &mut Script<'_, '_>) -> ModelResult {
    let (address, len) = (
        cx.load(cx.arg(1), 8, Order::Plain)?,
        cx.load(cx.arg(1).wrapping_add(8), 8, Order::Plain)?,
    );
    let bytes = bytes_at(cx, address, len)?;
    show(cx, &bytes)
}

fn counted(cx: &mut Script<'_, '_>) -> ModelResult {
    let bytes = bytes_at(cx, cx.arg(1), cx.arg(2))?;
    show(cx, &bytes)
}

fn bytes_at(cx: &mut Script<'_, '_>, address: u64, len: u64) -> Result<Vec<u8>, Pause> {
    (0..len)
        .map(|at| cx.byte(address.wrapping_add(at)))
        .collect()
}

// ---- whatever the width is

fn put(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.put_plainly(cx.arg(0), &[cx.arg(1) as u8])?;
    returned(cx)
}

fn write(cx: &mut Script<'_, '_>) -> ModelResult {
    let bytes = bytes_at(cx, cx.arg(1), cx.arg(2))?;
    cx.put_plainly(cx.arg(0), &bytes)?;
    returned(cx)
}

fn end_line(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.put_plainly(cx.arg(0), b"\n")?;
    returned(cx)
}

// ---- numbers

/// The last letter of the name says which kind of number it is.
fn number(cx: &mut Script<'_, '_>) -> ModelResult {
    let value = cx.arg(1);
    let (size, is_signed) = match cx.function_name().chars().last() {
        Some('s') => (2, true),
        Some('i') => (4, true),
        Some('l' | 'x') => (8, true),
        Some('b') => return truth(cx),
        Some('t') => (2, false),
        Some('j') => (4, false),
        _ => (8, false),
    };
    cx.put_styled(cx.arg(0), |style| {
        let directive = Directive {
            plus: style.plus,
            alternate: style.shows_base,
            letter: match (style.base, is_signed) {
                (b'x', _) if style.upper => b'X',
                (b'd', false) => b'u',
                (base, _) => base,
            },
            ..Directive::default()
        };
        match style.base {
            b'd' if is_signed => directive.signed(sign_extend(value, size)),
            _ => directive.unsigned(value & mask(size)),
        }
    })?;
    returned(cx)
}

fn truth(cx: &mut Script<'_, '_>) -> ModelResult {
    let value = cx.arg(1) & 1 != 0;
    cx.put_styled(cx.arg(0), |style| match style.names_bools {
        true => value.to_string().into_bytes(),
        false => u8::from(value).to_string().into_bytes(),
    })?;
    returned(cx)
}

/// As `%g` writes it, unless the stream is told otherwise.
fn float(cx: &mut Script<'_, '_>) -> ModelResult {
    let is_float = cx.function_name().ends_with('f');
    let value = if is_float {
        f64::from(f32::from_bits(cx.arg(1) as u32))
    } else {
        f64::from_bits(cx.arg(1))
    };
    cx.put_styled(cx.arg(0), |style| {
        let directive = Directive {
            plus: style.plus,
            alternate: style.shows_point,
            precision: Some(Count::Number(style.precision)),
            letter: match style.upper {
                true => style.float.to_ascii_uppercase(),
                false => style.float,
            },
            ..Directive::default()
        };
        directive.float(value)
    })?;
    returned(cx)
}

fn pointer(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = format!("{:#x}", cx.arg(1));
    show(cx, text.as_bytes())
}

fn manipulator(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.call(cx.arg(1), &[cx.arg(0)])?;
    returned(cx)
}
