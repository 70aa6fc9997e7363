//! Every operation against the arithmetic of Rust, on random and on special numbers: constants must fold to the result, bit
//! for bit, and so must gates over unknown operands whose values are put in afterwards. Questions to the solver at the end.

use super::{Bit, Bits, Floats, Format, Rounding, Word};
use crate::lit::Lit;
use crate::sat::{Limits, Outcome, Solver};
use crate::theory::NoTheory;
use raddle_random::Random32 as Rng;

type Build = fn(&mut Floats<'_>, &[Word]) -> Word;
type Expect = fn(Format, &[f64]) -> f64;

/// The number that bits stand for: exact, for all formats.
fn decode(format: Format, bits: u128) -> f64 {
    match format {
        Format::DOUBLE => f64::from_bits(bits as u64),
        Format::SINGLE => f64::from(f32::from_bits(bits as u32)),
        Format::BFLOAT => f64::from(f32::from_bits((bits as u32) << 16)),
        _ => {
            let sign = if bits >> 15 & 1 == 1 { -1.0 } else { 1.0 };
            let (exponent, fraction) = (bits >> 10 & 31, (bits & 1023) as f64);
            match exponent {
                0 => sign * fraction * 2f64.powi(-24),
                31 if fraction == 0.0 => sign * f64::INFINITY,
                31 => f64::NAN,
                _ => sign * (1024.0 + fraction) * 2f64.powi(exponent as i32 - 25),
            }
        }
    }
}

/// The nearest number of a format: for the small ones by looking at the two numbers around it.
fn encode(format: Format, value: f64) -> u128 {
    if value.is_nan() {
        return format.nan().as_constant().expect("a constant");
    }
    match format {
        Format::DOUBLE => return u128::from(value.to_bits()),
        Format::SINGLE => return u128::from((value as f32).to_bits()),
        _ => {}
    }
    let sign = u128::from(value.is_sign_negative()) << (format.width() - 1);
    let magnitude = value.abs();
    let infinity = format.top() << format.fraction;
    if magnitude.is_infinite() {
        return sign | infinity;
    }
    // The largest that is not above.
    let (mut low, mut high) = (0, infinity);
    while high - low > 1 {
        let middle = u128::midpoint(low, high);
        if decode(format, middle) <= magnitude {
            low = middle;
        } else {
            high = middle;
        }
    }
    // Infinity is where the next number would be.
    let above = match high == infinity {
        true => 2f64.powi(format.bias() as i32 + 1),
        false => decode(format, high),
    };
    let half = f64::midpoint(decode(format, low), above);
    let up = magnitude > half || magnitude == half && low & 1 == 1;
    sign | if up { high } else { low }
}

/// Rounded once: where `f64` cannot hold the sum, its last bit says that there is more.
fn fma(format: Format, a: f64, b: f64, c: f64) -> f64 {
    match format {
        Format::DOUBLE => return a.mul_add(b, c),
        Format::SINGLE => return f64::from((a as f32).mul_add(b as f32, c as f32)),
        _ => {}
    }
    let product = a * b;
    let sum = product + c;
    let back = sum - product;
    let lost = (product - (sum - back)) + (c - back);
    if !sum.is_finite() || lost == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    let away = (lost > 0.0) == (sum > 0.0);
    f64::from_bits(if away {
        sum.to_bits() + 1
    } else {
        sum.to_bits() - 1
    })
}

/// The order in which -0 comes before +0.
fn least(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a.total_cmp(&b).is_lt() => a,
        _ => b,
    }
}

/// Operations whose result in `f64`, rounded once more, is that of the narrower format: so it is for these, since `f64` has
/// more than twice the bits of all others.
#[rustfmt::skip]
fn operations() -> Vec<(&'static str, usize, Build, Expect)> {
    vec![
        ("add", 2, |f, v| f.add(&v[0], &v[1]), |_, v| v[0] + v[1]),
        ("sub", 2, |f, v| f.sub(&v[0], &v[1]), |_, v| v[0] - v[1]),
        ("mul", 2, |f, v| f.mul(&v[0], &v[1]), |_, v| v[0] * v[1]),
        ("div", 2, |f, v| f.div(&v[0], &v[1]), |_, v| v[0] / v[1]),
        ("sqrt", 1, |f, v| f.sqrt(&v[0]), |_, v| v[0].sqrt()),
        ("min", 2, |f, v| f.min(&v[0], &v[1]), |_, v| least(v[0], v[1])),
        ("max", 2, |f, v| f.max(&v[0], &v[1]), |_, v| -least(-v[0], -v[1])),
        ("floor", 1, |f, v| f.to_integral(&v[0], Rounding::Down), |_, v| v[0].floor()),
        ("ceil", 1, |f, v| f.to_integral(&v[0], Rounding::Up), |_, v| v[0].ceil()),
        ("trunc", 1, |f, v| f.to_integral(&v[0], Rounding::TowardsZero), |_, v| v[0].trunc()),
        ("rint", 1, |f, v| f.to_integral(&v[0], Rounding::Nearest), |_, v| v[0].round_ties_even()),
        ("round", 1, |f, v| f.to_integral(&v[0], Rounding::NearestAway), |_, v| v[0].round()),
        ("fma", 3, |f, v| f.fma(&v[0], &v[1], &v[2]), |format, v| fma(format, v[0], v[1], v[2])),
    ]
}

const FORMATS: [Format; 4] = [Format::HALF, Format::BFLOAT, Format::SINGLE, Format::DOUBLE];

fn mask(width: usize) -> u128 {
    (1 << width) - 1
}

/// Zeros, infinities, NaNs, ones, the least and the largest of each kind, whole numbers, ties, and anything.
fn interesting(rng: &mut Rng, format: Format) -> u128 {
    let (fraction, top) = (format.fraction, format.top());
    let random = u128::from(rng.next_u64());
    let sign = (random & 1) << (format.width() - 1);
    let near = u128::from(rng.below(4));
    let magnitude = match rng.below(12) {
        0 => near,
        1 => (top << fraction) + [0, 1, 1 << (fraction - 1), 2][near as usize],
        2 => (top << fraction) - 1 - near,
        3 => (1 << fraction) - 2 + near,
        4 => random >> 1 & mask(fraction),
        // Around one, with few bits, first or last.
        5 => (format.bias() - 2 + near) << fraction | (random >> 40 & 7),
        6 => (format.bias() - 2 + near) << fraction | (random >> 40 & 7) << (fraction - 3),
        // Where whole numbers end.
        7 => (format.bias() + fraction as u128 - near) << fraction | random >> 8 & mask(fraction),
        8 | 9 => (format.bias() - 4 + (random >> 60)) << fraction | random >> 1 & mask(fraction),
        _ => random >> 1,
    };
    sign | magnitude & mask(format.width() - 1)
}

/// Operands for one operation; a third is often near the product of the others, so that they cancel out.
fn operands(rng: &mut Rng, format: Format, count: usize) -> Vec<u128> {
    let mut numbers: Vec<u128> = (0..count).map(|_| interesting(rng, format)).collect();
    if count > 1 && rng.below(8) == 0 {
        numbers[1] = numbers[0] ^ u128::from(rng.below(4));
    }
    if count == 3 && rng.below(2) == 0 {
        let product = decode(format, numbers[0]) * decode(format, numbers[1]);
        numbers[2] = encode(format, -product) ^ u128::from(rng.below(2));
    }
    numbers
}

fn folded(format: Format, build: Build, numbers: &[u128]) -> u128 {
    let mut bits = Bits::new();
    let words: Vec<Word> = (numbers.iter())
        .map(|&number| Word::constant(format.width(), number))
        .collect();
    let result = build(&mut bits.floats(format), &words);
    assert_eq!(bits.num_gates(), 1, "constants make no gates");
    result.as_constant().expect("a constant")
}

/// Gates over unknown operands, to be read with any values.
struct Circuit {
    bits: Bits,
    inputs: Vec<Lit>,
    result: Word,
}

impl Circuit {
    fn new(widths: &[usize], build: impl FnOnce(&mut Bits, &[Word]) -> Word) -> Self {
        let (mut solver, mut bits) = (Solver::new(NoTheory), Bits::new());
        let words: Vec<Word> = (widths.iter())
            .map(|&width| bits.fresh(width, &mut solver))
            .collect();
        let result = build(&mut bits, &words);
        let inputs = words.iter().flat_map(|word| word.bits().to_vec());
        let inputs = inputs.map(|bit| bits.lit(bit, &mut solver)).collect();
        Self {
            bits,
            inputs,
            result,
        }
    }

    /// The result for operands, one after the other from the least significant bit.
    fn value(&self, operands: &[(usize, u128)]) -> u128 {
        let values = operands
            .iter()
            .flat_map(|&(width, value)| (0..width).map(move |at| value >> at & 1 == 1));
        let set: rustc_hash::FxHashMap<Lit, bool> =
            self.inputs.iter().copied().zip(values).collect();
        let mut reading = self.bits.read(|lit| set[&lit]);
        reading.word(&self.result)
    }
}

#[test]
fn arithmetic_is_that_of_the_processor() {
    let mut rng = Rng::new(754);
    for format in FORMATS {
        for (name, count, build, expect) in operations() {
            let widths = vec![format.width(); count];
            let circuit = Circuit::new(&widths, |bits, words| {
                build(&mut bits.floats(format), words)
            });
            for round in 0..600 {
                let numbers = operands(&mut rng, format, count);
                let values: Vec<f64> = numbers.iter().map(|&n| decode(format, n)).collect();
                let expected = encode(format, expect(format, &values));
                let found = folded(format, build, &numbers);
                assert_eq!(
                    found, expected,
                    "{format:?} {name} of {values:?} ({numbers:x?}): {found:x}, not {expected:x}"
                );
                if round % 4 == 0 {
                    let numbers: Vec<_> = numbers.iter().map(|&n| (format.width(), n)).collect();
                    assert_eq!(circuit.value(&numbers), expected, "{name} of {values:?}");
                }
            }
        }
    }
}

#[test]
fn remainders_are_those_of_the_processor() {
    let mut rng = Rng::new(12);
    for format in FORMATS.into_iter().filter(|format| format.has_remainder()) {
        for _ in 0..300 {
            let numbers = operands(&mut rng, format, 2);
            let (a, b) = (decode(format, numbers[0]), decode(format, numbers[1]));
            let found = folded(format, |f, v| f.rem(&v[0], &v[1]), &numbers);
            assert_eq!(found, encode(format, a % b), "{format:?}: {a} % {b}");
        }
    }
    assert!(!Format::DOUBLE.has_remainder());
}

#[test]
fn comparisons_are_those_of_the_processor() {
    type Holds = fn(f64, f64) -> bool;
    let comparisons: [(&str, Build, Holds); 4] = [
        ("<", |f, v| bit(f.lt(&v[0], &v[1])), |a, b| a < b),
        ("<=", |f, v| bit(f.le(&v[0], &v[1])), |a, b| a <= b),
        ("==", |f, v| bit(f.equal(&v[0], &v[1])), |a, b| a == b),
        (
            "unordered",
            |f, v| bit(f.unordered(&v[0], &v[1])),
            |a, b| a.is_nan() || b.is_nan(),
        ),
    ];
    let mut rng = Rng::new(3);
    for format in FORMATS {
        for (name, build, expect) in comparisons {
            for _ in 0..1000 {
                let numbers = operands(&mut rng, format, 2);
                let (a, b) = (decode(format, numbers[0]), decode(format, numbers[1]));
                let found = folded(format, build, &numbers) == 1;
                assert_eq!(found, expect(a, b), "{format:?}: {a} {name} {b}");
            }
        }
    }
}

fn bit(value: Bit) -> Word {
    Word::from_bits(vec![value])
}

#[test]
fn signs_are_bits() {
    let mut rng = Rng::new(8);
    for format in FORMATS {
        let sign = 1 << (format.width() - 1);
        for _ in 0..100 {
            let numbers = operands(&mut rng, format, 2);
            let (a, b) = (numbers[0], numbers[1]);
            let magnitude = a & !sign;
            assert_eq!(folded(format, |f, v| f.neg(&v[0]), &[a]), a ^ sign);
            assert_eq!(folded(format, |f, v| f.abs(&v[0]), &[a]), magnitude);
            let copied = folded(format, |f, v| f.copysign(&v[0], &v[1]), &numbers);
            assert_eq!(copied, magnitude | b & sign);
        }
    }
}

#[test]
fn every_number_is_of_one_class() {
    let mut rng = Rng::new(81);
    for format in FORMATS {
        for _ in 0..200 {
            let number = interesting(&mut rng, format);
            let word = Word::constant(format.width(), number);
            let is_of = |mask| {
                let mut bits = Bits::new();
                bits.floats(format).is_of_class(&word, mask) == Bit::TRUE
            };
            let classes: Vec<u32> = (0..10).filter(|&at| is_of(1 << at)).collect();
            let value = decode(format, number);
            let negative = number >> (format.width() - 1) == 1;
            let normal = (number >> format.fraction & format.top()) > 0;
            let quiet = number >> (format.fraction - 1) & 1;
            let expected = match (value.is_nan(), value.is_infinite(), value == 0.0, normal) {
                (true, ..) => quiet as u32,
                (_, true, ..) => [9, 2][usize::from(negative)],
                (_, _, true, _) => [6, 5][usize::from(negative)],
                (.., true) => [8, 3][usize::from(negative)],
                (.., false) => [7, 4][usize::from(negative)],
            };
            assert_eq!(classes, [expected], "{format:?} {value}");
        }
    }
}

#[test]
fn formats_are_converted() {
    let mut rng = Rng::new(16);
    for from in FORMATS {
        for to in FORMATS {
            for _ in 0..400 {
                let number = interesting(&mut rng, from);
                let mut bits = Bits::new();
                let word = Word::constant(from.width(), number);
                let found = bits.floats(from).convert(&word, to).as_constant();
                let value = decode(from, number);
                let expected = encode(to, value);
                assert_eq!(found, Some(expected), "{from:?} to {to:?}: {value}");
            }
            let circuit = Circuit::new(&[from.width()], |bits, v| {
                bits.floats(from).convert(&v[0], to)
            });
            for _ in 0..100 {
                let number = interesting(&mut rng, from);
                let expected = encode(to, decode(from, number));
                assert_eq!(circuit.value(&[(from.width(), number)]), expected);
            }
        }
    }
}

#[test]
fn integers_become_numbers() {
    let mut rng = Rng::new(64);
    for _ in 0..500 {
        let shift = rng.below(64);
        let value = rng.next_u64() >> shift;
        let word = Word::constant(64, u128::from(value));
        let mut bits = Bits::new();
        let mut to = |format, is_signed| {
            let number = bits.floats(format).from_int(&word, is_signed);
            number.as_constant().expect("a constant")
        };
        let signed = value.cast_signed();
        assert_eq!(
            to(Format::DOUBLE, false),
            u128::from((value as f64).to_bits())
        );
        assert_eq!(
            to(Format::DOUBLE, true),
            u128::from((signed as f64).to_bits())
        );
        assert_eq!(
            to(Format::SINGLE, false),
            u128::from((value as f32).to_bits())
        );
        assert_eq!(
            to(Format::SINGLE, true),
            u128::from((signed as f32).to_bits())
        );
        // What `f64` cannot hold is beyond the range.
        assert_eq!(to(Format::HALF, true), encode(Format::HALF, signed as f64));
        let narrow = Word::constant(8, u128::from(value));
        let byte = bits
            .floats(Format::HALF)
            .from_int(&narrow, true)
            .as_constant();
        assert_eq!(byte, Some(encode(Format::HALF, f64::from(value as i8))));
    }
    let most = Word::constant(128, u128::MAX);
    let found = Bits::new().floats(Format::SINGLE).from_int(&most, false);
    assert_eq!(
        found.as_constant(),
        Some(u128::from((u128::MAX as f32).to_bits()))
    );
}

#[test]
fn numbers_become_integers() {
    let mut rng = Rng::new(65);
    for format in FORMATS {
        for width in [1, 8, 32, 33, 64, 128] {
            for is_signed in [false, true] {
                let build = |bits: &mut Bits, word: &Word, saturate| {
                    bits.floats(format).to_int(word, width, is_signed, saturate)
                };
                for _ in 0..150 {
                    let number = interesting(&mut rng, format);
                    let word = Word::constant(format.width(), number);
                    let value = decode(format, number);
                    let whole = value.trunc();
                    let bound = 2f64.powi(width as i32 - i32::from(is_signed));
                    let least = if is_signed { -bound } else { 0.0 };
                    let all = u128::MAX >> (128 - width);
                    let exact = if is_signed {
                        (whole as i128).cast_unsigned() & all
                    } else {
                        whole as u128
                    };
                    let (saturated, plain) = match () {
                        () if value.is_nan() => (0, 0),
                        () if whole < least => (if is_signed { 1 << (width - 1) } else { 0 }, 0),
                        () if whole >= bound => (if is_signed { all >> 1 } else { all }, 0),
                        () => (exact, exact),
                    };
                    let mut bits = Bits::new();
                    let found = build(&mut bits, &word, true).as_constant();
                    assert_eq!(found, Some(saturated), "{format:?} {value} to {width}");
                    let found = build(&mut bits, &word, false).as_constant();
                    assert_eq!(found, Some(plain), "{format:?} {value} to {width}");
                }
            }
        }
    }
}

// ---- questions to the solver

struct Question {
    solver: Solver<NoTheory>,
    bits: Bits,
}

impl Question {
    fn new() -> Self {
        Self {
            solver: Solver::new(NoTheory),
            bits: Bits::new(),
        }
    }

    fn unknown(&mut self, format: Format) -> Word {
        self.bits.fresh(format.width(), &mut self.solver)
    }

    fn demand(&mut self, condition: Bit) {
        self.bits.require(condition, &mut self.solver);
    }

    fn is(&mut self, format: Format, word: &Word, value: f64) {
        let value = Word::constant(format.width(), encode(format, value));
        let equal = self.bits.floats(format).equal(word, &value);
        self.demand(equal);
    }

    fn answer(&mut self) -> Outcome {
        self.solver.solve(&[], &Limits::default())
    }

    fn value(&self, format: Format, word: &Word) -> f64 {
        let mut reading = self.bits.read(|lit| self.solver.model_value(lit));
        decode(format, reading.word(word))
    }
}

#[test]
fn operands_are_found_for_results() {
    for format in [Format::SINGLE, Format::DOUBLE] {
        let mut question = Question::new();
        let x = question.unknown(format);
        let sum = question.bits.floats(format).add(&x, &x);
        question.is(format, &sum, 3.0);
        assert_eq!(question.answer(), Outcome::Sat);
        assert_eq!(question.value(format, &x), 1.5);
    }
    let format = Format::SINGLE;
    let mut question = Question::new();
    let x = question.unknown(format);
    let square = question.bits.floats(format).mul(&x, &x);
    question.is(format, &square, 6.25);
    assert_eq!(question.answer(), Outcome::Sat);
    assert_eq!(question.value(format, &x).abs(), 2.5);
    let three = Word::constant(32, encode(format, 3.0));
    let third = question.bits.floats(format).div(&x, &three);
    question.is(format, &third, 1.0);
    assert_eq!(question.answer(), Outcome::Unsat);
}

#[test]
fn no_number_is_without_an_answer() {
    let format = Format::SINGLE;
    let mut question = Question::new();
    let x = question.unknown(format);
    // 16777217 is between two numbers: x + 1 == x has answers, and all of them are large (or infinite).
    let one = Word::constant(32, encode(format, 1.0));
    let sum = question.bits.floats(format).add(&x, &one);
    let equal = question.bits.floats(format).equal(&sum, &x);
    question.demand(equal);
    assert_eq!(question.answer(), Outcome::Sat);
    let size = question.bits.floats(format).abs(&x);
    let limit = Word::constant(32, encode(format, 16_777_216.0));
    let less = question.bits.floats(format).lt(&size, &limit);
    question.demand(less);
    assert_eq!(question.answer(), Outcome::Unsat);
}

#[test]
fn the_order_of_operands_does_not_matter() {
    let mut question = Question::new();
    let format = Format::DOUBLE;
    let (x, y) = (question.unknown(format), question.unknown(format));
    let mut floats = question.bits.floats(format);
    assert_eq!(floats.mul(&x, &y), floats.mul(&y, &x));
    assert_eq!(floats.add(&x, &y), floats.add(&y, &x));
}
