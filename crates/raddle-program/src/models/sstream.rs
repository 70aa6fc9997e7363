//! String streams of libstdc++: `std::ostringstream`, `std::istringstream`, `std::stringstream`.
//!
//! A stream is laid out as the library does it where the program's own code looks: pointers to a table with the way to the virtual base, and in that base precision,
//! width, flags, state and fill. The text lies where the library has its buffer: a length, a position to read from, a capacity, and up to [`INLINE`] bytes; longer
//! texts are on the heap. Accesses are plain, so threads that share a stream without a lock are in a data race.

use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::op::{Order, sign_extend};

macro_rules! concat_ostring {
    ($rest:literal) => {
        concat!(
            "_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE",
            $rest
        )
    };
}
macro_rules! concat_istring {
    ($rest:literal) => {
        concat!(
            "_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE",
            $rest
        )
    };
}
macro_rules! concat_string {
    ($rest:literal) => {
        concat!(
            "_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE",
            $rest
        )
    };
}
pub(super) const MODELS: &[Model] = &[
    model(concat_ostring!("C1Ev"), make),
    model(concat_ostring!("C1ESt13_Ios_Openmode"), make),
    model(concat_ostring!("C1ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode"), make_of),
    model(concat_ostring!("C1EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode"), make_of),
    model(concat_ostring!("D1Ev"), end),
    model(concat_ostring!("3strERKNS_12basic_stringIcS2_S3_EE"), set_text),
    model(concat_ostring!("3strEONS_12basic_stringIcS2_S3_EE"), set_text),
    model(concat_istring!("C1Ev"), make),
    model(concat_istring!("C1ESt13_Ios_Openmode"), make),
    model(concat_istring!("C1ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode"), make_of),
    model(concat_istring!("C1EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode"), make_of),
    model(concat_istring!("D1Ev"), end),
    model(concat_istring!("3strERKNS_12basic_stringIcS2_S3_EE"), set_text),
    model(concat_istring!("3strEONS_12basic_stringIcS2_S3_EE"), set_text),
    model(concat_string!("C1Ev"), make),
    model(concat_string!("C1ESt13_Ios_Openmode"), make),
    model(concat_string!("C1ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode"), make_of),
    model(concat_string!("C1EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode"), make_of),
    model(concat_string!("D1Ev"), end),
    model(concat_string!("3strERKNS_12basic_stringIcS2_S3_EE"), set_text),
    model(concat_string!("3strEONS_12basic_stringIcS2_S3_EE"), set_text),
    // (result, stream)
    model("_ZNKSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEv", text),
    model("_ZNKRSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEv", text),
    model("_ZNOSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEv", text),
    model("_ZNKSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strEv", text),
    model("_ZNKRSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strEv", text),
    model("_ZNKSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strEv", text),
    model("_ZNKRSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strEv", text),
    model("_ZNOSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strEv", text),
    // the state, of the virtual base
    model("_ZNKSt9basic_iosIcSt11char_traitsIcEE4goodEv", is_good),
    model("_ZNKSt9basic_iosIcSt11char_traitsIcEEcvbEv", has_not_failed),
    model("_ZNKSt9basic_iosIcSt11char_traitsIcEE3eofEv", is_at_end),
    model("_ZNKSt9basic_iosIcSt11char_traitsIcEE4failEv", has_failed),
    model("_ZNKSt9basic_iosIcSt11char_traitsIcEEntEv", has_failed),
    model("_ZNSt9basic_iosIcSt11char_traitsIcEE5clearESt12_Ios_Iostate", set_state),
    // manipulators: (stream, number)
    model("_ZStlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_St5_Setw", set_width).returning(0),
    model("_ZStlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_St13_Setprecision", set_precision)
        .returning(0),
    model("_ZStlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_St8_SetfillIS3_E", set_fill)
        .returning(0),
    model("_ZNSirsEPFRSt8ios_baseS0_E", manipulate).returning(0),
    model("_ZNSirsEPFRSiS_E", apply).returning(0),
    // input: (stream, result)
    model("_ZNSirsERs", number).returning(0),
    model("_ZNSirsERi", number).returning(0),
    model("_ZNSirsERl", number).returning(0),
    model("_ZNSirsERx", number).returning(0),
    model("_ZNSirsERt", number).returning(0),
    model("_ZNSirsERj", number).returning(0),
    model("_ZNSirsERm", number).returning(0),
    model("_ZNSirsERy", number).returning(0),
    model("_ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_RS3_", character).returning(0),
    model(
        "_ZStrsIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE",
        word,
    )
    .returning(0),
    model(
        "_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE",
        line,
    )
    .returning(0),
    model(
        "_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EES4_",
        line,
    )
    .returning(0),
    model("_ZSt2wsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_", skip_spaces).returning(0),
    model("_ZNSi3getEv", get),
    model("_ZNSi4peekEv", peek),
];

/// Where parts of a stream lie in its virtual base, `std::basic_ios<char>`.
const PRECISION: u64 = 8;
const WIDTH: u64 = 16;
const FLAGS: u64 = 24;
const STATE: u64 = 32;
const FILL: u64 = 224;
/// Where the text lies in the buffer, which is before the base.
const BUFFER: u64 = 104;
const HEAP: u64 = 0;
const LENGTH: u64 = 8;
const READ: u64 = 16;
const CAPACITY: u64 = 24;
const BYTES: u64 = 32;
/// So many bytes have room in the stream itself.
const INLINE: u64 = BUFFER - BYTES;

/// Flags of `std::ios_base`.
const BOOLALPHA: u64 = 1;
const DEC: u64 = 1 << 1;
const FIXED: u64 = 1 << 2;
const HEX: u64 = 1 << 3;
const INTERNAL: u64 = 1 << 4;
const LEFT: u64 = 1 << 5;
const OCT: u64 = 1 << 6;
const SCIENTIFIC: u64 = 1 << 8;
const SHOW_BASE: u64 = 1 << 9;
const SHOW_POINT: u64 = 1 << 10;
const SHOW_SIGN: u64 = 1 << 11;
const SKIP_SPACES: u64 = 1 << 12;
const UPPER: u64 = 1 << 14;

/// Parts of a stream's state.
const BAD: u64 = 1;
const AT_END: u64 = 2;
const FAILED: u64 = 4;

/// The ways from a part of a stream to its virtual base: of an output stream, of an input stream, of the input part of one for both.
/// The output part of that is as far away as in the first.
const WAYS: [u64; 3] = [112, 120, 128];

/// A stream, by the address of its virtual base.
#[derive(Clone, Copy)]
pub(super) struct Stream(u64);

impl Stream {
    fn buffer(self) -> u64 {
        self.0.wrapping_sub(BUFFER)
    }
}

/// How a stream writes.
pub(super) struct Style {
    pub(super) plus: bool,
    /// As letters of `printf`.
    pub(super) base: u8,
    pub(super) float: u8,
    pub(super) shows_base: bool,
    pub(super) shows_point: bool,
    pub(super) precision: usize,
    pub(super) upper: bool,
    pub(super) names_bools: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            plus: false,
            base: b'd',
            float: b'g',
            shows_base: false,
            shows_point: false,
            precision: 6,
            upper: false,
            names_bools: false,
        }
    }
}

fn make(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.make_stream(cx.arg(0))?;
    Ok(Outcome::Void)
}

/// `(stream, string, mode)`: output goes to the beginning of it, unless the mode says otherwise.
fn make_of(cx: &mut Script<'_, '_>) -> ModelResult {
    const AT_END_MODE: u64 = 2;
    let is_input = cx.function_name().contains("istringstream");
    if !is_input && cx.arg(2) & AT_END_MODE == 0 {
        return Err(cx.unsupported("a string stream that overwrites the string it is made of"));
    }
    let stream = cx.make_stream(cx.arg(0))?;
    let bytes = cx.string_bytes(cx.arg(1))?;
    cx.append_text(stream, &bytes)?;
    Ok(Outcome::Void)
}

fn end(cx: &mut Script<'_, '_>) -> ModelResult {
    let stream = cx.stream_at(cx.arg(0))?;
    if cx.load(stream.buffer().wrapping_add(CAPACITY), 8, Order::Plain)? != 0 {
        let block = cx.load(stream.buffer().wrapping_add(HEAP), 8, Order::Plain)?;
        cx.free(block)?;
    }
    Ok(Outcome::Void)
}

fn text(cx: &mut Script<'_, '_>) -> ModelResult {
    let stream = cx.stream_at(cx.arg(1))?;
    let bytes = cx.text_from(stream, 0)?;
    let to = cx.arg(0);
    // An empty string, to begin with.
    cx.store(to, 8, to.wrapping_add(16), Order::Plain)?;
    cx.assign_string(to, &bytes)?;
    Ok(Outcome::Void)
}

/// `(stream, string)`.
fn set_text(cx: &mut Script<'_, '_>) -> ModelResult {
    let stream = cx.stream_at(cx.arg(0))?;
    let bytes = cx.string_bytes(cx.arg(1))?;
    let is_output = !cx.function_name().contains("istringstream");
    if is_output && !bytes.is_empty() {
        return Err(cx.unsupported("a string stream that overwrites the string it is given"));
    }
    cx.store(stream.buffer().wrapping_add(LENGTH), 8, 0, Order::Plain)?;
    cx.store(stream.buffer().wrapping_add(READ), 8, 0, Order::Plain)?;
    cx.append_text(stream, &bytes)?;
    Ok(Outcome::Void)
}

// ---- state

fn state(cx: &mut Script<'_, '_>) -> Result<u64, Pause> {
    cx.load(cx.arg(0).wrapping_add(STATE), 4, Order::Plain)
}

fn is_good(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(u64::from(state(cx)? == 0)))
}

fn has_failed(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(u64::from(state(cx)? & (BAD | FAILED) != 0)))
}

fn has_not_failed(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(u64::from(state(cx)? & (BAD | FAILED) == 0)))
}

fn is_at_end(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(u64::from(state(cx)? & AT_END != 0)))
}

fn set_state(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.store(cx.arg(0).wrapping_add(STATE), 4, cx.arg(1), Order::Plain)?;
    Ok(Outcome::Void)
}

// ---- manipulators

fn set(cx: &mut Script<'_, '_>, field: u64, size: u8, value: u64) -> ModelResult {
    if let Some(stream) = cx.string_stream(cx.arg(0))? {
        cx.store(stream.0.wrapping_add(field), size, value, Order::Plain)?;
    }
    Ok(Outcome::Return(cx.arg(0)))
}

fn set_width(cx: &mut Script<'_, '_>) -> ModelResult {
    let width = sign_extend(cx.arg(1), 4).cast_unsigned();
    set(cx, WIDTH, 8, width)
}

fn set_precision(cx: &mut Script<'_, '_>) -> ModelResult {
    let precision = sign_extend(cx.arg(1), 4).cast_unsigned();
    set(cx, PRECISION, 8, precision)
}

fn set_fill(cx: &mut Script<'_, '_>) -> ModelResult {
    set(cx, FILL, 1, cx.arg(1) & 0xFF)
}

/// `(stream, manipulator of its base)`.
pub(super) fn manipulate(cx: &mut Script<'_, '_>) -> ModelResult {
    if let Some(stream) = cx.string_stream(cx.arg(0))? {
        cx.call(cx.arg(1), &[stream.0])?;
    }
    Ok(Outcome::Return(cx.arg(0)))
}

/// `(stream, manipulator)`.
fn apply(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.call(cx.arg(1), &[cx.arg(0)])?;
    Ok(Outcome::Return(cx.arg(0)))
}

// ---- input

fn number(cx: &mut Script<'_, '_>) -> ModelResult {
    let Some(rest) = cx.input(true)? else {
        return Ok(Outcome::Return(cx.arg(0)));
    };
    let stream = cx.stream_at(cx.arg(0))?;
    let base = match cx.load(stream.0.wrapping_add(FLAGS), 4, Order::Plain)? {
        flags if flags & HEX != 0 => 16,
        flags if flags & OCT != 0 => 8,
        _ => 10,
    };
    let sign = rest
        .iter()
        .take(1)
        .filter(|byte| b"+-".contains(byte))
        .count();
    let digits = rest[sign..].iter();
    let digits = digits
        .take_while(|byte| char::from(**byte).is_digit(base))
        .count();
    let text = String::from_utf8_lossy(&rest[..sign + digits]).into_owned();
    let (size, range) = match cx.function_name().chars().last() {
        Some('s') => (2, i128::from(i16::MIN)..=i128::from(i16::MAX)),
        Some('t') => (2, 0..=i128::from(u16::MAX)),
        Some('i') => (4, i128::from(i32::MIN)..=i128::from(i32::MAX)),
        Some('j') => (4, 0..=i128::from(u32::MAX)),
        Some('l' | 'x') => (8, i128::from(i64::MIN)..=i128::from(i64::MAX)),
        _ => (8, 0..=i128::from(u64::MAX)),
    };
    let mut failed = digits == 0;
    let value = match i128::from_str_radix(&text, base) {
        Ok(value) if range.contains(&value) => value,
        Ok(value) => {
            failed = true;
            value.clamp(*range.start(), *range.end())
        }
        Err(_) => 0,
    };
    cx.store(cx.arg(1), size, value as u64, Order::Plain)?;
    cx.consume(stream, sign + digits, rest.len(), failed)
}

fn character(cx: &mut Script<'_, '_>) -> ModelResult {
    let Some(rest) = cx.input(true)? else {
        return Ok(Outcome::Return(cx.arg(0)));
    };
    let stream = cx.stream_at(cx.arg(0))?;
    match rest.first() {
        Some(&byte) => {
            cx.put_byte(cx.arg(1), byte)?;
            cx.skip(stream, 1)?;
            Ok(Outcome::Return(cx.arg(0)))
        }
        None => cx.consume(stream, 0, 0, true),
    }
}

fn word(cx: &mut Script<'_, '_>) -> ModelResult {
    let Some(rest) = cx.input(true)? else {
        return Ok(Outcome::Return(cx.arg(0)));
    };
    let stream = cx.stream_at(cx.arg(0))?;
    let len = rest.iter().take_while(|byte| !is_space(**byte)).count();
    cx.assign_string(cx.arg(1), &rest[..len])?;
    cx.consume(stream, len, rest.len(), len == 0)
}

/// `(stream, string, end of a line)`.
fn line(cx: &mut Script<'_, '_>) -> ModelResult {
    let Some(rest) = cx.input(false)? else {
        return Ok(Outcome::Return(cx.arg(0)));
    };
    let stream = cx.stream_at(cx.arg(0))?;
    let end = match cx.arg_count() {
        3 => cx.arg(2) as u8,
        _ => b'\n',
    };
    let len = rest.iter().take_while(|byte| **byte != end).count();
    cx.assign_string(cx.arg(1), &rest[..len])?;
    if len < rest.len() {
        cx.skip(stream, len.saturating_add(1))?;
        return Ok(Outcome::Return(cx.arg(0)));
    }
    cx.consume(stream, len, len, len == 0)
}

fn skip_spaces(cx: &mut Script<'_, '_>) -> ModelResult {
    let stream = cx.stream_at(cx.arg(0))?;
    let position = cx.load(stream.buffer().wrapping_add(READ), 8, Order::Plain)?;
    let rest = cx.text_from(stream, position)?;
    let len = rest.iter().take_while(|byte| is_space(**byte)).count();
    cx.consume(stream, len, rest.len(), false)
}

fn get(cx: &mut Script<'_, '_>) -> ModelResult {
    next(cx, 1)
}

fn peek(cx: &mut Script<'_, '_>) -> ModelResult {
    next(cx, 0)
}

fn next(cx: &mut Script<'_, '_>, taken: usize) -> ModelResult {
    const EOF: u64 = 0xFFFF_FFFF;
    let Some(rest) = cx.input(false)? else {
        return Ok(Outcome::Return(EOF));
    };
    let stream = cx.stream_at(cx.arg(0))?;
    match rest.first() {
        Some(&byte) => {
            cx.skip(stream, taken)?;
            Ok(Outcome::Return(byte.into()))
        }
        None => {
            cx.consume(stream, 0, 0, taken > 0)?;
            Ok(Outcome::Return(EOF))
        }
    }
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0B
}

impl Script<'_, '_> {
    fn make_stream(&mut self, at: u64) -> Result<Stream, Pause> {
        if self.asks() {
            return Err(self.unsupported("string streams are for engines that explore executions"));
        }
        if let Some((object, 0)) = self.object_at(at)
            && self.tables().object_info(object).kind == crate::tables::ObjectKind::Heap
        {
            // It might be deleted as something more general, by its table of functions.
            return Err(self.unsupported("a string stream that is a heap block of its own"));
        }
        let name = self.function_name();
        let kind = match () {
            () if name.contains("ostringstream") => 0,
            () if name.contains("istringstream") => 1,
            () => 2,
        };
        let table = self.machine.string_stream_table(&WAYS)?;
        let entry = |kind: usize| table + 32 * kind as u64 + 24;
        self.store(at, 8, entry(kind), Order::Plain)?;
        if kind == 2 {
            self.store(at.wrapping_add(16), 8, entry(0), Order::Plain)?;
        }
        let stream = Stream(at.wrapping_add(WAYS[kind]));
        for field in [HEAP, LENGTH, READ, CAPACITY] {
            self.store(stream.buffer().wrapping_add(field), 8, 0, Order::Plain)?;
        }
        self.store(stream.0.wrapping_add(PRECISION), 8, 6, Order::Plain)?;
        self.store(stream.0.wrapping_add(WIDTH), 8, 0, Order::Plain)?;
        self.store(
            stream.0.wrapping_add(FLAGS),
            4,
            DEC | SKIP_SPACES,
            Order::Plain,
        )?;
        self.store(stream.0.wrapping_add(FLAGS + 4), 4, 0, Order::Plain)?;
        self.store(stream.0.wrapping_add(STATE), 4, 0, Order::Plain)?;
        self.store(stream.0.wrapping_add(FILL), 1, b' '.into(), Order::Plain)?;
        Ok(stream)
    }

    /// The stream that a pointer to its input or output part leads to.
    fn stream_at(&mut self, part: u64) -> Result<Stream, Pause> {
        let table = self.load(part, 8, Order::Plain)?;
        let way = self.load(table.wrapping_sub(24), 8, Order::Plain)?;
        Ok(Stream(part.wrapping_add(way)))
    }

    /// The same, if it is none of the standard streams.
    pub(super) fn string_stream(&mut self, part: u64) -> Result<Option<Stream>, Pause> {
        if self.asks() {
            return Ok(None);
        }
        if let Some((object, _)) = self.object_at(part) {
            let standard = ["cout", "cerr", "clog", "cin"];
            let name = std::rc::Rc::clone(&self.tables().object_info(object).name);
            if standard.iter().any(|stream| name.ends_with(stream)) {
                return Ok(None);
            }
        }
        self.stream_at(part).map(Some)
    }

    /// Bytes of the text from a position on.
    fn text_from(&mut self, stream: Stream, position: u64) -> Result<Vec<u8>, Pause> {
        let len = self.load(stream.buffer().wrapping_add(LENGTH), 8, Order::Plain)?;
        let bytes = self.text_place(stream)?;
        (position..len)
            .map(|at| self.byte(bytes.wrapping_add(at)))
            .collect()
    }

    fn text_place(&mut self, stream: Stream) -> Result<u64, Pause> {
        match self.load(stream.buffer().wrapping_add(CAPACITY), 8, Order::Plain)? {
            0 => Ok(stream.buffer().wrapping_add(BYTES)),
            _ => self.load(stream.buffer().wrapping_add(HEAP), 8, Order::Plain),
        }
    }

    fn append_text(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), Pause> {
        let len = self.load(stream.buffer().wrapping_add(LENGTH), 8, Order::Plain)?;
        let capacity = self.load(stream.buffer().wrapping_add(CAPACITY), 8, Order::Plain)?;
        let needed = len.saturating_add(bytes.len() as u64);
        let old = self.text_place(stream)?;
        let mut place = old;
        if needed > capacity.max(INLINE) {
            let room = needed.saturating_mul(2).min(1 << 40).next_power_of_two();
            place = self.allocate(room, 16)?;
            let before = self.text_from(stream, 0)?;
            self.put_bytes(place, &before)?;
            if capacity != 0 {
                self.free(old)?;
            }
            self.store(stream.buffer().wrapping_add(HEAP), 8, place, Order::Plain)?;
            self.store(
                stream.buffer().wrapping_add(CAPACITY),
                8,
                room,
                Order::Plain,
            )?;
        }
        self.put_bytes(place.wrapping_add(len), bytes)?;
        self.store(
            stream.buffer().wrapping_add(LENGTH),
            8,
            needed,
            Order::Plain,
        )
    }

    /// Writes to a string stream as its flags say, or shows what goes to a standard one.
    pub(super) fn put_styled(
        &mut self,
        part: u64,
        make: impl FnOnce(&Style) -> Vec<u8>,
    ) -> Result<(), Pause> {
        let Some(stream) = self.string_stream(part)? else {
            let text = make(&Style::default());
            return self.print(&String::from_utf8_lossy(&text));
        };
        let flags = self.load(stream.0.wrapping_add(FLAGS), 4, Order::Plain)?;
        let style = Style {
            plus: flags & SHOW_SIGN != 0,
            base: match flags {
                _ if flags & HEX != 0 => b'x',
                _ if flags & OCT != 0 => b'o',
                _ => b'd',
            },
            shows_base: flags & SHOW_BASE != 0,
            shows_point: flags & SHOW_POINT != 0,
            float: match flags {
                _ if flags & FIXED != 0 => b'f',
                _ if flags & SCIENTIFIC != 0 => b'e',
                _ => b'g',
            },
            precision: self.load(stream.0.wrapping_add(PRECISION), 8, Order::Plain)? as usize,
            upper: flags & UPPER != 0,
            names_bools: flags & BOOLALPHA != 0,
        };
        let mut text = make(&style);
        let width = self.load(stream.0.wrapping_add(WIDTH), 8, Order::Plain)?;
        let missing = (width as usize).saturating_sub(text.len());
        if missing > 0 {
            let fill = self.load(stream.0.wrapping_add(FILL), 1, Order::Plain)? as u8;
            let signs = || text.iter().take_while(|byte| b"+-".contains(byte)).count();
            let at = match flags {
                _ if flags & LEFT != 0 => text.len(),
                _ if flags & INTERNAL != 0 => signs(),
                _ => 0,
            };
            text.splice(at..at, vec![fill; missing]);
        }
        self.store(stream.0.wrapping_add(WIDTH), 8, 0, Order::Plain)?;
        self.append_text(stream, &text)
    }

    /// Writes to a string stream, or shows what goes to a standard one.
    pub(super) fn put_plainly(&mut self, part: u64, text: &[u8]) -> Result<(), Pause> {
        match self.string_stream(part)? {
            Some(stream) => self.append_text(stream, text),
            None => self.print(&String::from_utf8_lossy(text)),
        }
    }

    // ---- input

    /// What is left to read, if the stream is in order: behind spaces, where they are skipped. A stream that is at its end fails.
    fn input(&mut self, skips: bool) -> Result<Option<Vec<u8>>, Pause> {
        let Some(stream) = self.string_stream(self.arg(0))? else {
            return Err(self.unsupported("input from a standard stream"));
        };
        let state = self.load(stream.0.wrapping_add(STATE), 4, Order::Plain)?;
        if state != 0 {
            self.store(
                stream.0.wrapping_add(STATE),
                4,
                state | FAILED,
                Order::Plain,
            )?;
            return Ok(None);
        }
        let position = self.load(stream.buffer().wrapping_add(READ), 8, Order::Plain)?;
        let mut rest = self.text_from(stream, position)?;
        let flags = self.load(stream.0.wrapping_add(FLAGS), 4, Order::Plain)?;
        if skips && flags & SKIP_SPACES != 0 {
            let spaces = rest.iter().take_while(|byte| is_space(**byte)).count();
            self.skip(stream, spaces)?;
            rest.drain(..spaces);
        }
        Ok(Some(rest))
    }

    fn skip(&mut self, stream: Stream, count: usize) -> Result<(), Pause> {
        let position = self.load(stream.buffer().wrapping_add(READ), 8, Order::Plain)?;
        self.store(
            stream.buffer().wrapping_add(READ),
            8,
            position + count as u64,
            Order::Plain,
        )
    }

    /// So many of the bytes that were left are read; whoever comes to the end notices.
    fn consume(&mut self, stream: Stream, count: usize, left: usize, failed: bool) -> ModelResult {
        self.skip(stream, count)?;
        let mut state = self.load(stream.0.wrapping_add(STATE), 4, Order::Plain)?;
        if count == left {
            state |= AT_END;
        }
        if failed {
            state |= FAILED;
        }
        self.store(stream.0.wrapping_add(STATE), 4, state, Order::Plain)?;
        Ok(Outcome::Return(self.arg(0)))
    }

    // ---- strings

    /// The bytes of a `std::string`.
    fn string_bytes(&mut self, string: u64) -> Result<Vec<u8>, Pause> {
        let from = self.load(string, 8, Order::Plain)?;
        let len = self.load(string.wrapping_add(8), 8, Order::Plain)?;
        (0..len)
            .map(|at| self.byte(from.wrapping_add(at)))
            .collect()
    }

    /// Gives a `std::string` new contents.
    fn assign_string(&mut self, string: u64, bytes: &[u8]) -> Result<(), Pause> {
        const SHORT: u64 = 15;
        let len = bytes.len() as u64;
        let local = string.wrapping_add(16);
        let mut place = self.load(string, 8, Order::Plain)?;
        let capacity = match place == local {
            true => SHORT,
            false => self.load(local, 8, Order::Plain)?,
        };
        if len > capacity {
            let block = self.allocate(len.saturating_add(1), 16)?;
            if place != local {
                self.free(place)?;
            }
            self.store(string, 8, block, Order::Plain)?;
            self.store(local, 8, len, Order::Plain)?;
            place = block;
        }
        self.put_bytes(place, bytes)?;
        self.put_byte(place.wrapping_add(len), 0)?;
        self.store(string.wrapping_add(8), 8, len, Order::Plain)
    }
}
