//! Floating point: on numbers only, computed by the interpreter. A value that may be one of a few becomes a table.

use super::{Encoder, unsupported};
use crate::value::Sym;
use raddle_ir::inst::{BinaryOp, CastOp, FloatPredicate};
use raddle_ir::{FloatKind, TypeId};
use raddle_program::Stop;
use raddle_program::interp::view::{float_binary, float_compare};

fn beyond() -> Stop {
    unsupported("floating-point arithmetic on values that are not known")
}

impl Encoder<'_> {
    pub(super) fn float_binary(
        &mut self,
        op: BinaryOp,
        kind: FloatKind,
        a: &Sym,
        b: &Sym,
    ) -> Result<Vec<Sym>, Stop> {
        let slots = [a.clone(), b.clone()];
        let values = self.tabulate(&slots, &[a.width()], |_, numbers| {
            Ok(vec![float_binary(op, kind, numbers[0], numbers[1])?])
        })?;
        values.ok_or_else(beyond)
    }

    pub(super) fn float_compare(
        &mut self,
        predicate: FloatPredicate,
        kind: FloatKind,
        a: &Sym,
        b: &Sym,
    ) -> Result<Vec<Sym>, Stop> {
        let slots = [a.clone(), b.clone()];
        let values = self.tabulate(&slots, &[1], |_, numbers| {
            let holds = float_compare(predicate, kind, numbers[0], numbers[1])?;
            Ok(vec![u64::from(holds)])
        })?;
        values.ok_or_else(beyond)
    }

    pub(super) fn float_cast(
        &mut self,
        op: CastOp,
        from: TypeId,
        to: TypeId,
        values: &[Sym],
    ) -> Result<Vec<Sym>, Stop> {
        let widths = self.view.layout(to)?.widths;
        let values = self.tabulate(values, &widths, |encoder, numbers| {
            encoder.view.cast(op, from, to, numbers)
        })?;
        values.ok_or_else(beyond)
    }
}
