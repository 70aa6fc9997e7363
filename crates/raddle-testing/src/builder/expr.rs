//! Arithmetic on a thread's registers.

use raddle_program::op::Value;
use std::fmt;
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Sub};
use std::rc::Rc;

/// A private variable of one thread: 64 bit, 0 at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reg(pub(super) u32);

impl Reg {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
}

impl BinaryOp {
    fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
            Self::Shr => ">>",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
        }
    }

    fn apply(self, a: Value, b: Value) -> Value {
        match self {
            Self::Add => a.wrapping_add(b),
            Self::Sub => a.wrapping_sub(b),
            Self::Mul => a.wrapping_mul(b),
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
            Self::Shr => a.checked_shr(b as u32).unwrap_or(0),
            Self::Eq => Value::from(a == b),
            Self::Ne => Value::from(a != b),
            Self::Lt => Value::from(a < b),
            Self::Le => Value::from(a <= b),
        }
    }
}

/// An expression: wrapping, unsigned; comparisons give 0 or 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    Const(Value),
    Reg(Reg),
    Binary(BinaryOp, Rc<Expr>, Rc<Expr>),
}

impl Expr {
    fn binary(op: BinaryOp, a: impl Into<Self>, b: impl Into<Self>) -> Self {
        Self::Binary(op, Rc::new(a.into()), Rc::new(b.into()))
    }

    pub(super) fn eval(&self, regs: &[Value]) -> Value {
        match self {
            Self::Const(value) => *value,
            Self::Reg(reg) => regs[reg.index()],
            Self::Binary(op, a, b) => op.apply(a.eval(regs), b.eval(regs)),
        }
    }

    pub(super) fn for_each_reg(&self, f: &mut dyn FnMut(Reg)) {
        match self {
            Self::Const(_) => {}
            Self::Reg(reg) => f(*reg),
            Self::Binary(_, a, b) => {
                a.for_each_reg(f);
                b.for_each_reg(f);
            }
        }
    }
}

/// Comparisons, for registers and expressions alike.
pub trait Compare: Into<Expr> {
    fn is(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Eq, self, other)
    }
    fn differs(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Ne, self, other)
    }
    fn below(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Lt, self, other)
    }
    fn at_most(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Le, self, other)
    }
    fn shifted_right(self, bits: u32) -> Expr {
        Expr::binary(BinaryOp::Shr, self, bits)
    }
}

impl Compare for Reg {}
impl Compare for Expr {}

impl From<Reg> for Expr {
    fn from(reg: Reg) -> Self {
        Self::Reg(reg)
    }
}

impl From<Value> for Expr {
    fn from(value: Value) -> Self {
        Self::Const(value)
    }
}

impl From<u32> for Expr {
    fn from(value: u32) -> Self {
        Self::Const(value.into())
    }
}

/// Negative numbers wrap, as they do in memory.
impl From<i32> for Expr {
    fn from(value: i32) -> Self {
        Self::Const(i64::from(value).cast_unsigned())
    }
}

macro_rules! operators {
    ($($trait:ident :: $method:ident => $op:ident),*) => {$(
        impl<R: Into<Expr>> $trait<R> for Reg {
            type Output = Expr;
            fn $method(self, other: R) -> Expr {
                Expr::binary(BinaryOp::$op, self, other)
            }
        }
        impl<R: Into<Expr>> $trait<R> for Expr {
            type Output = Expr;
            fn $method(self, other: R) -> Expr {
                Expr::binary(BinaryOp::$op, self, other)
            }
        }
    )*};
}

operators!(
    Add::add => Add,
    Sub::sub => Sub,
    Mul::mul => Mul,
    BitAnd::bitand => And,
    BitOr::bitor => Or,
    BitXor::bitxor => Xor
);

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn operand(e: &Expr, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match e {
                Expr::Binary(..) => write!(f, "({e})"),
                _ => write!(f, "{e}"),
            }
        }
        match self {
            // Small negative numbers read better signed.
            Self::Const(value) if *value > Value::MAX - 1000 => {
                write!(f, "{}", value.cast_signed())
            }
            Self::Const(value) => write!(f, "{value}"),
            Self::Reg(reg) => write!(f, "{reg}"),
            Self::Binary(op, a, b) => {
                operand(a, f)?;
                write!(f, " {} ", op.symbol())?;
                operand(b, f)
            }
        }
    }
}
