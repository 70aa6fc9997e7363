//! Conditions on registers in disjunctive normal form, kept small.

use crate::constant::Constant;
use crate::ids::{TypeId, ValueId};
use crate::inst::{BinaryOp, Body, CastOp, Inst, InstKind, IntPredicate, Operand};
use crate::module::Module;
use crate::types::Type;

/// Something that is true or false of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// The register, an `i1`, is true.
    True(ValueId),
    /// The register holds this integer, or the null pointer (0).
    Is {
        ty: TypeId,
        value: ValueId,
        bits: u128,
    },
    /// Both hold the same integer or pointer.
    Equal {
        ty: TypeId,
        lhs: Operand,
        rhs: Operand,
    },
    /// The compare-exchange with this result stored its new value.
    Exchanged(ValueId),
    /// The read-modify-write with this result left memory as it was.
    Unchanged(ValueId),
}

impl Atom {
    /// Calls `visit` with the registers that it is about.
    pub(super) fn registers(self, mut visit: impl FnMut(ValueId)) {
        match self {
            Self::True(value)
            | Self::Is { value, .. }
            | Self::Exchanged(value)
            | Self::Unchanged(value) => visit(value),
            Self::Equal { lhs, rhs, .. } => {
                lhs.value().into_iter().chain(rhs.value()).for_each(visit);
            }
        }
    }
}

/// An atom, or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Literal {
    pub atom: Atom,
    pub holds: bool,
}

impl Literal {
    pub(super) fn negated(self) -> Self {
        Self {
            holds: !self.holds,
            ..self
        }
    }
}

/// A literal that may turn out to be a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Always,
    Never,
    If(Literal),
    /// It is not known when it holds, nor when it does not.
    Unknown,
}

impl Truth {
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Always => Self::Never,
            Self::Never => Self::Always,
            Self::If(literal) => Self::If(literal.negated()),
            Self::Unknown => Self::Unknown,
        }
    }

    fn known(holds: bool) -> Self {
        if holds { Self::Always } else { Self::Never }
    }
}

/// Makes literals, each condition in one form only, so that a condition and its negation are recognised.
pub(super) struct Literals<'a> {
    pub(super) module: &'a Module,
    /// The defining instruction of each register that has one.
    pub(super) definitions: Vec<Option<&'a Inst>>,
}

impl<'a> Literals<'a> {
    pub(super) fn new(module: &'a Module, body: &'a Body) -> Self {
        let mut definitions = vec![None; body.value_types.len()];
        for inst in body.blocks.iter().flat_map(|block| &block.insts) {
            if let Some(result) = inst.result {
                definitions[result.index()] = Some(inst);
            }
        }
        Self {
            module,
            definitions,
        }
    }

    fn definition(&self, value: ValueId) -> Option<&'a InstKind> {
        self.definitions[value.index()].map(|inst| &inst.kind)
    }

    /// The bits of a constant integer or null pointer.
    pub(super) fn constant(&self, operand: Operand) -> Option<u128> {
        let Operand::Const(id) = operand else {
            return None;
        };
        match self.module.constant(id) {
            Constant::Int(_, bits) => Some(*bits),
            Constant::Null => Some(0),
            Constant::Zero(ty) if matches!(self.module.types.get(*ty), Type::Int(_)) => Some(0),
            _ => None,
        }
    }

    /// That an `i1` is true. Looks through what compilers wrap conditions in.
    pub(super) fn is_true(&self, condition: Operand) -> Truth {
        let value = match condition {
            Operand::Value(value) => value,
            Operand::Const(_) => {
                return match self.constant(condition) {
                    Some(bits) => Truth::known(bits & 1 == 1),
                    None => Truth::Unknown,
                };
            }
        };
        let plain = Truth::If(Literal {
            atom: Atom::True(value),
            holds: true,
        });
        match self.definition(value) {
            Some(InstKind::ICmp {
                predicate: predicate @ (IntPredicate::Eq | IntPredicate::Ne),
                ty,
                lhs,
                rhs,
            }) => {
                let equal = self.equal(*ty, *lhs, *rhs);
                if *predicate == IntPredicate::Eq {
                    equal
                } else {
                    equal.negated()
                }
            }
            Some(InstKind::ExtractValue {
                aggregate: Operand::Value(pair),
                indices,
                ..
            }) if indices[..] == [1] && self.is_compare_exchange(*pair) => Truth::If(Literal {
                atom: Atom::Exchanged(*pair),
                holds: true,
            }),
            Some(InstKind::Binary {
                op: BinaryOp::Xor,
                lhs,
                rhs,
                ..
            }) if self.constant(*rhs) == Some(1) => self.is_true(*lhs).negated(),
            Some(InstKind::Cast {
                op: CastOp::Trunc,
                value: wide,
                ..
            }) => match self.widened_bit(*wide) {
                Some(bit) => self.is_true(bit),
                None => plain,
            },
            Some(InstKind::Freeze { value, .. }) if value.value().is_some() => self.is_true(*value),
            _ => plain,
        }
    }

    /// The `i1` that an operand is the zero-extension of.
    fn widened_bit(&self, operand: Operand) -> Option<Operand> {
        match self.definition(operand.value()?)? {
            InstKind::Cast {
                op: CastOp::ZExt,
                from,
                value,
                ..
            } if *self.module.types.get(*from) == Type::Int(1) => Some(*value),
            InstKind::Cast {
                op: CastOp::ZExt,
                value,
                ..
            } => self.widened_bit(*value),
            _ => None,
        }
    }

    fn is_compare_exchange(&self, pair: ValueId) -> bool {
        matches!(self.definition(pair), Some(InstKind::CmpXchg { .. }))
    }

    /// That two integers or pointers are the same.
    pub(super) fn equal(&self, ty: TypeId, lhs: Operand, rhs: Operand) -> Truth {
        if lhs == rhs && lhs.value().is_some() {
            return Truth::Always;
        }
        match (self.constant(lhs), self.constant(rhs)) {
            (Some(a), Some(b)) => return Truth::known(a == b),
            (None, Some(bits)) => return self.is(ty, lhs, bits),
            (Some(bits), None) => return self.is(ty, rhs, bits),
            (None, None) => {}
        }
        if !self.is_comparable(ty) {
            return Truth::Unknown;
        }
        if self.steps_from(lhs, rhs) || self.steps_from(rhs, lhs) {
            return Truth::Never;
        }
        // Constants on the right, otherwise the older register on the left.
        let swap = match (lhs, rhs) {
            (Operand::Const(_), Operand::Value(_)) => true,
            (Operand::Value(a), Operand::Value(b)) => b < a,
            (_, Operand::Const(_)) => false,
        };
        let (lhs, rhs) = if swap { (rhs, lhs) } else { (lhs, rhs) };
        if lhs.value().is_none() {
            return Truth::Unknown;
        }
        let atom = self
            .exchange_of(lhs, rhs)
            .or_else(|| self.exchange_of(rhs, lhs))
            .unwrap_or(Atom::Equal { ty, lhs, rhs });
        Truth::If(Literal { atom, holds: true })
    }

    /// That an operand holds an integer, or that a pointer is null (0).
    pub(super) fn is(&self, ty: TypeId, operand: Operand, bits: u128) -> Truth {
        if let Some(known) = self.constant(operand) {
            return Truth::known(known == bits);
        }
        let Operand::Value(value) = operand else {
            return Truth::Unknown;
        };
        if !self.is_comparable(ty) {
            return Truth::Unknown;
        }
        if let Some(bit) = self.widened_bit(operand) {
            return match bits {
                0 => self.is_true(bit).negated(),
                1 => self.is_true(bit),
                _ => Truth::Never,
            };
        }
        if *self.module.types.get(ty) == Type::Int(1) {
            let truth = self.is_true(operand);
            return if bits == 1 { truth } else { truth.negated() };
        }
        let expected = self
            .exchange_found(value)
            .filter(|&(_, expected)| self.constant(expected) == Some(bits));
        let atom = match expected {
            Some((pair, _)) => Atom::Exchanged(pair),
            None => Atom::Is { ty, value, bits },
        };
        Truth::If(Literal { atom, holds: true })
    }

    fn is_comparable(&self, ty: TypeId) -> bool {
        matches!(self.module.types.get(ty), Type::Int(1..=128) | Type::Ptr)
    }

    /// The literal, read where the registers in it stand for others: `instead` gives these.
    pub(super) fn substitute(
        &self,
        literal: Literal,
        instead: impl Fn(ValueId) -> Option<Operand>,
    ) -> Truth {
        let of = |operand: Operand| operand.value().and_then(&instead).unwrap_or(operand);
        let truth = match literal.atom {
            Atom::True(value) => match instead(value) {
                Some(other) => self.is_true(other),
                None => return Truth::If(literal),
            },
            Atom::Is { ty, value, bits } => match instead(value) {
                Some(other) => self.is(ty, other, bits),
                None => return Truth::If(literal),
            },
            Atom::Equal { ty, lhs, rhs } => self.equal(ty, of(lhs), of(rhs)),
            // Results of instructions: nothing stands for them.
            Atom::Exchanged(_) | Atom::Unchanged(_) => return Truth::If(literal),
        };
        if literal.holds {
            truth
        } else {
            truth.negated()
        }
    }

    /// A compare-exchange stored if and only if what it found is what it expected.
    fn exchange_of(&self, found: Operand, expected: Operand) -> Option<Atom> {
        let (pair, wanted) = self.exchange_found(found.value()?)?;
        (wanted == expected).then_some(Atom::Exchanged(pair))
    }

    /// The compare-exchange that found `value`, and what it expected.
    fn exchange_found(&self, value: ValueId) -> Option<(ValueId, Operand)> {
        let InstKind::ExtractValue {
            aggregate: Operand::Value(pair),
            indices,
            ..
        } = self.definition(value)?
        else {
            return None;
        };
        match self.definition(*pair)? {
            InstKind::CmpXchg { expected, .. } if indices[..] == [0] => Some((*pair, *expected)),
            _ => None,
        }
    }

    /// Is `next` the other operand plus or minus something that is not 0?
    fn steps_from(&self, next: Operand, other: Operand) -> bool {
        let Some(InstKind::Binary {
            op: BinaryOp::Add | BinaryOp::Sub,
            lhs,
            rhs,
            ..
        }) = next.value().and_then(|value| self.definition(value))
        else {
            return false;
        };
        *lhs == other && self.constant(*rhs).is_some_and(|step| step != 0)
    }
}

/// An instruction of a loop: the position of its block in the reverse post-order, and its index there. Within an iteration that closes
/// no loop inside, what comes later is larger.
pub(super) type Place = (u32, usize);

/// A conjunction of literals: one way in which an iteration is pure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conjunction {
    pub(super) literals: Vec<Literal>,
    /// The last place on the way that a run may stop at: the condition must not be used before.
    pub(super) not_before: Option<Place>,
    /// The last access of memory on the way.
    pub(super) last_access: Option<Place>,
}

/// Conditions with more literals, or of more conjunctions, are dropped.
const MOST_LITERALS: usize = 16;
const MOST_CONJUNCTIONS: usize = 24;

/// What to add to a conjunction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// It held already.
    Implied,
    Narrower,
    /// It cannot hold together with the others.
    Contradiction,
}

impl Conjunction {
    pub(super) fn empty() -> Self {
        Self {
            literals: Vec::new(),
            not_before: None,
            last_access: None,
        }
    }

    pub(super) fn add(&mut self, new: Literal) -> Added {
        for &known in &self.literals {
            match implication(known, new) {
                Some(true) => return Added::Implied,
                Some(false) => return Added::Contradiction,
                None => {}
            }
        }
        // What the new one implies need not be said any more.
        self.literals
            .retain(|&known| implication(new, known) != Some(true));
        self.literals.push(new);
        Added::Narrower
    }
}

/// Whether `b` holds if `a` does, where that is known.
fn implication(a: Literal, b: Literal) -> Option<bool> {
    if a.atom == b.atom {
        return Some(a.holds == b.holds);
    }
    // One integer means not another.
    match (a.atom, b.atom) {
        (
            Atom::Is {
                value: x,
                bits: one,
                ..
            },
            Atom::Is {
                value: y,
                bits: other,
                ..
            },
        ) if a.holds && x == y && one != other => Some(!b.holds),
        _ => None,
    }
}

/// A disjunction of conjunctions: the forward purity condition at a place, for iterations that end by one back edge.
#[derive(Clone, Debug)]
pub(super) struct Disjunction {
    pub(super) ways: Vec<Conjunction>,
    /// Does some way from here to the back edge lack a conjunction, or have one that asks for more than going that way?
    pub(super) is_partial: bool,
}

impl Disjunction {
    /// No way leads to the back edge.
    pub(super) fn none() -> Self {
        Self {
            ways: Vec::new(),
            is_partial: false,
        }
    }

    /// Ways may lead to the back edge, but nothing is known of them.
    pub(super) fn unknown() -> Self {
        Self {
            ways: Vec::new(),
            is_partial: true,
        }
    }

    /// The back edge itself.
    pub(super) fn here() -> Self {
        Self {
            ways: vec![Conjunction::empty()],
            is_partial: false,
        }
    }

    /// Adds what decides to go this way: it narrows the ways, and leaves nothing out.
    pub(super) fn decide(&mut self, truth: Truth) {
        self.restrict(truth, false);
    }

    /// Adds what makes a step on the way pure: where it does not hold, the way is taken and not pure.
    pub(super) fn demand(&mut self, truth: Truth) {
        self.restrict(truth, true);
    }

    fn restrict(&mut self, truth: Truth, leaves_out: bool) {
        match truth {
            Truth::Always => {}
            // A way that is never taken has nothing to be left out.
            Truth::Never if !leaves_out => *self = Self::none(),
            Truth::Never | Truth::Unknown => {
                self.is_partial |= !self.ways.is_empty();
                self.ways.clear();
            }
            Truth::If(literal) => {
                let partial = &mut self.is_partial;
                self.ways.retain_mut(|way| {
                    let added = way.add(literal);
                    *partial |= leaves_out && added != Added::Implied;
                    added != Added::Contradiction
                });
            }
        }
        self.shrink();
    }

    /// Rewrites all literals.
    pub(super) fn substitute(&mut self, rewrite: impl Fn(Literal) -> Truth) {
        let ways = std::mem::take(&mut self.ways);
        for mut way in ways {
            let literals = std::mem::take(&mut way.literals);
            let mut one = Self {
                ways: vec![way],
                is_partial: false,
            };
            for literal in literals {
                match rewrite(literal) {
                    // Unlike where it is decided which way to go, nothing is known of this way any more.
                    Truth::Unknown => one = Self::unknown(),
                    truth => one.decide(truth),
                }
            }
            self.or(one);
        }
    }

    /// A place that a run may stop at comes before all this.
    pub(super) fn stop_at(&mut self, place: Place) {
        for way in &mut self.ways {
            way.not_before.get_or_insert(place);
        }
    }

    /// An access of memory comes before all this.
    pub(super) fn access_at(&mut self, place: Place) {
        for way in &mut self.ways {
            way.last_access.get_or_insert(place);
        }
    }

    /// Either.
    pub(super) fn or(&mut self, other: Self) {
        self.is_partial |= other.is_partial;
        for way in other.ways {
            self.include(way);
        }
        self.shrink();
    }

    /// Adds a way, joined with those that differ from it in one decision only.
    fn include(&mut self, mut new: Conjunction) {
        loop {
            if let Some(known) = self.ways.iter_mut().find(|way| covers(way, &new)) {
                known.last_access = known.last_access.max(new.last_access);
                return;
            }
            self.ways.retain(|way| !covers(&new, way));
            let joined = self.ways.iter().enumerate().find_map(|(index, way)| {
                let joined = join(way, &new)?;
                Some((index, joined))
            });
            match joined {
                Some((index, joined)) => {
                    self.ways.remove(index);
                    new = joined;
                }
                None => break,
            }
        }
        self.ways.push(new);
    }

    fn shrink(&mut self) {
        let before = self.ways.len();
        self.ways.retain(|way| way.literals.len() <= MOST_LITERALS);
        self.ways.truncate(MOST_CONJUNCTIONS);
        self.is_partial |= self.ways.len() != before;
    }
}

/// Is `b` of no use beside `a`, because `a` holds whenever it does, and is known no later?
fn covers(a: &Conjunction, b: &Conjunction) -> bool {
    a.not_before <= b.not_before && a.literals.iter().all(|l| b.literals.contains(l))
}

/// `(A and x) or (A and not x)` is `A`.
fn join(a: &Conjunction, b: &Conjunction) -> Option<Conjunction> {
    if a.literals.len() != b.literals.len() || a.not_before != b.not_before {
        return None;
    }
    let mut differing = a.literals.iter().filter(|l| !b.literals.contains(l));
    let (&only, None) = (differing.next()?, differing.next()) else {
        return None;
    };
    if !b.literals.contains(&only.negated()) {
        return None;
    }
    let rest = a.literals.iter().filter(|&&l| l != only);
    Some(Conjunction {
        literals: rest.copied().collect(),
        not_before: a.not_before,
        last_access: a.last_access.max(b.last_access),
    })
}
