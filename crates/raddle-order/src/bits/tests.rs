//! Every operation against Rust arithmetic: all operands at widths up to 4, random ones above, always three ways - by
//! constant folding, by evaluating the gates of a model, and by the clauses (the wrong result is unsatisfiable).

use super::{Bit, Bits, Word};
use crate::lit::{ClauseSink, Lit};
use crate::sat::{Limits, Outcome, Solver};
use crate::theory::NoTheory;
use raddle_random::Random32 as Rng;

type Build = fn(&mut Bits, &Word, &Word) -> Word;
type Expect = fn(usize, u128, u128) -> u128;

fn mask(width: usize) -> u128 {
    u128::MAX >> (128 - width)
}

fn signed(width: usize, value: u128) -> i128 {
    (value << (128 - width)).cast_signed() >> (128 - width)
}

fn from_signed(width: usize, value: i128) -> u128 {
    value.cast_unsigned() & mask(width)
}

fn fits(width: usize, value: i128) -> bool {
    signed(width, from_signed(width, value)) == value
}

fn bit(value: Bit) -> Word {
    Word::from_bits(vec![value])
}

fn sdiv(width: usize, a: u128, b: u128) -> u128 {
    let (x, y) = (signed(width, a), signed(width, b));
    match y {
        0 if x >= 0 => mask(width),
        0 => 1,
        _ => from_signed(width, x.wrapping_div(y)),
    }
}

fn srem(width: usize, a: u128, b: u128) -> u128 {
    let (x, y) = (signed(width, a), signed(width, b));
    if y == 0 {
        a
    } else {
        from_signed(width, x.wrapping_rem(y))
    }
}

fn ashr(width: usize, a: u128, b: u128) -> u128 {
    from_signed(width, signed(width, a) >> b.min(width as u128 - 1))
}

#[rustfmt::skip]
fn operations() -> Vec<(&'static str, Build, Expect)> {
    vec![
        ("add", |c, a, b| c.add(a, b), |w, a, b| a.wrapping_add(b) & mask(w)),
        ("sub", |c, a, b| c.sub(a, b), |w, a, b| a.wrapping_sub(b) & mask(w)),
        ("mul", |c, a, b| c.mul(a, b), |w, a, b| a.wrapping_mul(b) & mask(w)),
        ("udiv", |c, a, b| c.udiv(a, b), |w, a, b| a.checked_div(b).unwrap_or(mask(w))),
        ("urem", |c, a, b| c.urem(a, b), |_, a, b| a.checked_rem(b).unwrap_or(a)),
        ("sdiv", |c, a, b| c.sdiv(a, b), sdiv),
        ("srem", |c, a, b| c.srem(a, b), srem),
        ("neg", |c, a, _| c.neg(a), |w, a, _| a.wrapping_neg() & mask(w)),
        ("shl", |c, a, b| c.shl(a, b), |w, a, b| if b < w as u128 { a << b & mask(w) } else { 0 }),
        ("lshr", |c, a, b| c.lshr(a, b), |w, a, b| if b < w as u128 { a >> b } else { 0 }),
        ("ashr", |c, a, b| c.ashr(a, b), ashr),
        ("shift overflow", |c, _, b| bit(c.shift_overflows(b)), |w, _, b| (b >= w as u128).into()),
        ("and", |c, a, b| c.and(a, b), |_, a, b| a & b),
        ("or", |c, a, b| c.or(a, b), |_, a, b| a | b),
        ("xor", |c, a, b| c.xor(a, b), |_, a, b| a ^ b),
        ("not", |_, a, _| a.not(), |w, a, _| !a & mask(w)),
        ("eq", |c, a, b| bit(c.eq(a, b)), |_, a, b| (a == b).into()),
        ("ne", |c, a, b| bit(c.ne(a, b)), |_, a, b| (a != b).into()),
        ("ult", |c, a, b| bit(c.ult(a, b)), |_, a, b| (a < b).into()),
        ("ule", |c, a, b| bit(c.ule(a, b)), |_, a, b| (a <= b).into()),
        ("slt", |c, a, b| bit(c.slt(a, b)), |w, a, b| (signed(w, a) < signed(w, b)).into()),
        ("sle", |c, a, b| bit(c.sle(a, b)), |w, a, b| (signed(w, a) <= signed(w, b)).into()),
        ("is zero", |c, a, _| bit(c.is_zero(a)), |_, a, _| (a == 0).into()),
        ("ite", |c, a, b| { let s = a.sign(); c.ite(s, b, a) }, |w, a, b| if signed(w, a) < 0 { b } else { a }),
        ("concat", |_, a, b| a.concat(b), |w, a, b| a | b << w),
        ("zext", |_, a, _| a.zext(a.width() + 3), |_, a, _| a),
        ("sext", |_, a, _| a.sext(a.width() + 3), |w, a, _| from_signed(w + 3, signed(w, a))),
        ("extract", |_, a, _| a.extract(a.width() / 2, a.width()), |w, a, _| a >> (w / 2)),
        ("uadd overflow", |c, a, b| bit(c.uadd_overflows(a, b)), |w, a, b| (a + b > mask(w)).into()),
        ("usub overflow", |c, a, b| bit(c.usub_overflows(a, b)), |_, a, b| (a < b).into()),
        ("umul overflow", |c, a, b| bit(c.umul_overflows(a, b)), |w, a, b| (a * b > mask(w)).into()),
        ("sadd overflow", |c, a, b| bit(c.sadd_overflows(a, b)), |w, a, b| (!fits(w, signed(w, a) + signed(w, b))).into()),
        ("ssub overflow", |c, a, b| bit(c.ssub_overflows(a, b)), |w, a, b| (!fits(w, signed(w, a) - signed(w, b))).into()),
        ("smul overflow", |c, a, b| bit(c.smul_overflows(a, b)), |w, a, b| (!fits(w, signed(w, a) * signed(w, b))).into()),
        ("sdiv overflow", |c, a, b| bit(c.sdiv_overflows(a, b)), |w, a, b| (signed(w, b) == -1 && !fits(w, -signed(w, a))).into()),
    ]
}

/// One operation on words of unknown value.
struct Bench {
    solver: Solver<NoTheory>,
    bits: Bits,
    a: Word,
    b: Word,
    result: Word,
    expected: Word,
    differs: Lit,
}

impl Bench {
    fn new(width: usize, build: Build) -> Self {
        let (mut solver, mut bits) = (Solver::new(NoTheory), Bits::new());
        let (a, b) = (
            bits.fresh(width, &mut solver),
            bits.fresh(width, &mut solver),
        );
        let result = build(&mut bits, &a, &b);
        let expected = bits.fresh(result.width(), &mut solver);
        let differs = bits.ne(&result, &expected);
        let differs = bits.lit(differs, &mut solver);
        Self {
            solver,
            bits,
            a,
            b,
            result,
            expected,
            differs,
        }
    }

    fn is(&mut self, word: &Word, value: u128, assumptions: &mut Vec<Lit>) {
        for (at, &bit) in word.bits().iter().enumerate() {
            let lit = self.bits.lit(bit, &mut self.solver);
            assumptions.push(lit.with_sign(value >> at & 1 == 1));
        }
    }

    fn check(&mut self, name: &str, a: u128, b: u128, expected: u128) {
        let mut assumptions = Vec::new();
        let (left, right, wanted) = (self.a.clone(), self.b.clone(), self.expected.clone());
        self.is(&left, a, &mut assumptions);
        self.is(&right, b, &mut assumptions);
        self.is(&wanted, expected, &mut assumptions);
        assert_eq!(
            self.solver.solve(&assumptions, &Limits::default()),
            Outcome::Sat
        );
        let read = self
            .bits
            .read(|lit| self.solver.model_value(lit))
            .word(&self.result);
        assert_eq!(
            read,
            expected,
            "{name} of {a} and {b} at width {}",
            self.a.width()
        );
        assumptions.push(self.differs);
        assert_eq!(
            self.solver.solve(&assumptions, &Limits::default()),
            Outcome::Unsat,
            "{name} of {a} and {b}"
        );
    }
}

fn check_folding(name: &str, width: usize, build: Build, a: u128, b: u128, expected: u128) {
    let mut bits = Bits::new();
    let result = build(
        &mut bits,
        &Word::constant(width, a),
        &Word::constant(width, b),
    );
    assert_eq!(
        result.as_constant(),
        Some(expected),
        "{name} of the constants {a} and {b} at width {width}"
    );
    assert_eq!(bits.num_gates(), 1, "constants make no gates");
}

#[test]
fn all_operands_of_narrow_words() {
    for width in 1..=4 {
        for (name, build, expect) in operations() {
            let mut bench = Bench::new(width, build);
            for (a, b) in (0..1 << width).flat_map(|a| (0..1 << width).map(move |b| (a, b))) {
                let expected = expect(width, a, b);
                check_folding(name, width, build, a, b, expected);
                bench.check(name, a, b, expected);
            }
        }
    }
}

fn interesting(rng: &mut Rng, width: usize) -> u128 {
    let random = u128::from(rng.next_u64());
    let value = match rng.below(6) {
        0 => random % 4,
        1 => random % (width as u128 + 2),
        2 => u128::MAX - random % 4,
        3 => (1 << (width - 1)) + random % 3,
        _ => random,
    };
    value & mask(width)
}

#[test]
fn random_operands_of_wide_words() {
    let mut rng = Rng::new(99);
    for width in [5, 8, 13, 16, 32, 64] {
        for (name, build, expect) in operations() {
            let heavy = width > 16 && ["div", "rem", "mul"].iter().any(|part| name.contains(part));
            let mut bench = Bench::new(width, build);
            for _ in 0..if heavy { 3 } else { 12 } {
                let (a, b) = (interesting(&mut rng, width), interesting(&mut rng, width));
                let expected = expect(width, a, b);
                check_folding(name, width, build, a, b, expected);
                bench.check(name, a, b, expected);
            }
        }
    }
}

#[test]
fn operands_are_found_for_results() {
    let mut rng = Rng::new(4);
    for width in [8, 16] {
        for (name, build, expect) in operations().into_iter().take(11) {
            for _ in 0..3 {
                let (a, b) = (interesting(&mut rng, width), interesting(&mut rng, width));
                let mut bench = Bench::new(width, build);
                let mut assumptions = vec![!bench.differs];
                let (right, wanted) = (bench.b.clone(), bench.expected.clone());
                bench.is(&right, b, &mut assumptions);
                bench.is(&wanted, expect(width, a, b), &mut assumptions);
                assert_eq!(
                    bench.solver.solve(&assumptions, &Limits::default()),
                    Outcome::Sat,
                    "{name}"
                );
                let found = bench
                    .bits
                    .read(|lit| bench.solver.model_value(lit))
                    .word(&bench.a);
                assert_eq!(
                    expect(width, found, b),
                    expect(width, a, b),
                    "{name} of {found} and {b}"
                );
            }
        }
    }
}

/// A divisor that is known gives another circuit.
#[test]
fn all_operands_of_divisions_by_constants() {
    for width in [1, 3, 5] {
        for (name, build, expect) in operations() {
            if !["div", "rem"].iter().any(|part| name.contains(part)) {
                continue;
            }
            for b in 0..1 << width {
                let (mut solver, mut bits) = (Solver::new(NoTheory), Bits::new());
                let a = bits.fresh(width, &mut solver);
                let result = build(&mut bits, &a, &Word::constant(width, b));
                let inputs: Vec<Lit> = a
                    .bits()
                    .iter()
                    .map(|&bit| bits.lit(bit, &mut solver))
                    .collect();
                for value in 0..1 << width {
                    let is_set = |lit: Lit| {
                        let at = inputs.iter().position(|&input| input == lit);
                        at.is_some_and(|at| value >> at & 1 == 1)
                    };
                    let found = bits.read(is_set).word(&result);
                    assert_eq!(
                        found,
                        expect(width, value, b),
                        "{name} of {value} and {b}, {width} bits"
                    );
                }
            }
        }
    }
}

#[test]
fn the_same_gate_is_made_once() {
    let (mut solver, mut bits) = (Solver::new(NoTheory), Bits::new());
    let (a, b) = (bits.fresh(32, &mut solver), bits.fresh(32, &mut solver));
    let first = bits.add(&a, &b);
    let gates = bits.num_gates();
    assert_eq!(bits.add(&b, &a), first);
    assert_eq!(bits.num_gates(), gates);
    let difference = bits.sub(&first, &first);
    assert_eq!(difference.as_constant(), Some(0));
    let same = bits.eq(&first, &first);
    assert_eq!(same, Bit::TRUE);
    let power = bits.mul(&a, &Word::constant(32, 8));
    assert_eq!(
        power,
        Word::constant(3, 0).concat(&a.extract(0, 29)),
        "by a power of two is a shift"
    );
    let var = solver.new_var();
    let bit = bits.from_lit(!var.positive());
    assert_eq!(
        bits.lit(bit, &mut solver),
        !var.positive(),
        "a literal stays itself"
    );
}

#[test]
fn requirements_split_into_clauses() {
    let (mut solver, mut bits) = (Solver::new(NoTheory), Bits::new());
    let [a, b, c] = [(); 3].map(|()| bits.fresh_bit(&mut solver));
    let vars = solver.num_vars();
    let either = bits.bit_or(a, b);
    let all = bits.bit_and(either, !c);
    bits.require(all, &mut solver);
    assert_eq!(solver.num_vars(), vars, "no gate needs a variable");
    let not_a = bits.lit(!a, &mut solver);
    assert_eq!(solver.solve(&[not_a], &Limits::default()), Outcome::Sat);
    let mut reading = bits.read(|lit| solver.model_value(lit));
    assert!(reading.bit(b) && !reading.bit(c) && reading.bit(all));
}
