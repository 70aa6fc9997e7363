//! Recipes written with the builder.

use super::recipe::{Operand, Piece, Recipe, Spin};
use crate::builder::{
    BuiltProgram, Compare, Expr, Place, ProgramBuilder, Reg, SyncVar, ThreadBuilder, ThreadDef,
    deref,
};
use raddle_program::op::{Order, RmwKind};

/// What pieces refer to.
struct Names {
    places: Vec<Place>,
    flag: Place,
    pointer: Place,
    mutexes: [SyncVar; 2],
    cond: SyncVar,
    rwlock: SyncVar,
    once: SyncVar,
    sem: Option<SyncVar>,
    barrier: Option<SyncVar>,
    threads: Vec<Option<ThreadDef>>,
}

fn contains(pieces: &[Piece], wanted: &dyn Fn(&Piece) -> bool) -> bool {
    pieces.iter().any(|piece| {
        wanted(piece)
            || match piece {
                Piece::Locked(_, inner, _)
                | Piece::TryLocked(_, inner)
                | Piece::RwLocked(_, inner)
                | Piece::Once(inner)
                | Piece::Choice(inner)
                | Piece::SpinLocked(_, inner)
                | Piece::Atomic(inner) => contains(inner, wanted),
                Piece::If(_, then, otherwise) => {
                    contains(then, wanted) || contains(otherwise, wanted)
                }
                _ => false,
            }
    })
}

pub(super) fn emit(recipe: &Recipe, seed: u64) -> BuiltProgram {
    let mut p = ProgramBuilder::new(&format!("seed {seed}"));
    let mut places: Vec<Place> = (0..recipe.variables)
        .map(|index| p.var(&format!("x{index}"), 4))
        .collect();
    let flag = places[0];
    if recipe.mixed {
        let w = p.object("w", 4);
        places.extend([w.at(0, 4), w.at(0, 2), w.at(2, 2)]);
    }
    let uses = |wanted: &dyn Fn(&Piece) -> bool| recipe.codes.iter().any(|c| contains(c, wanted));
    // Semaphores and barriers cost `main` an event each: only where they are used.
    let sem =
        uses(&|piece| matches!(piece, Piece::SemWait | Piece::SemPost)).then(|| p.sem("s", 0));
    let barrier = uses(&|piece| matches!(piece, Piece::Barrier)).then(|| p.barrier("b", 2));
    let mut names = Names {
        places,
        flag,
        pointer: p.var("p", 8),
        mutexes: [p.mutex("m0"), p.mutex("m1")],
        cond: p.cond("c"),
        rwlock: p.rwlock("l"),
        once: p.once("o"),
        sem,
        barrier,
        threads: vec![None; recipe.codes.len()],
    };
    // A code spawns only codes after it.
    for (index, pieces) in recipe.codes.iter().enumerate().skip(1).rev() {
        let def = p.child(&format!("t{index}"), |t| {
            Emitter::new(t, &names).pieces(pieces)
        });
        names.threads[index] = Some(def);
    }
    p.main(|t| Emitter::new(t, &names).pieces(&recipe.codes[0]));
    p.build()
}

struct Emitter<'a> {
    t: &'a mut ThreadBuilder,
    names: &'a Names,
    last: Option<Reg>,
    handles: Vec<Option<Reg>>,
}

impl<'a> Emitter<'a> {
    fn new(t: &'a mut ThreadBuilder, names: &'a Names) -> Self {
        Self {
            t,
            names,
            last: None,
            handles: vec![None; names.threads.len()],
        }
    }

    fn pieces(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            self.piece(piece);
        }
    }

    /// Pieces in a block of their own: what they load is not seen behind it.
    fn nested(t: &mut ThreadBuilder, names: &Names, last: Option<Reg>, pieces: &[Piece]) {
        let mut inner = Emitter::new(t, names);
        inner.last = last;
        inner.pieces(pieces);
    }

    fn last(&self) -> Expr {
        self.last.map_or(Expr::Const(0), Expr::from)
    }

    /// For conditions: a constant would decide too much.
    fn something_read(&mut self) -> Reg {
        match self.last {
            Some(last) => last,
            None => {
                let reg = self.t.load(self.names.flag);
                self.last = Some(reg);
                reg
            }
        }
    }

    fn operand(&self, operand: Operand) -> Expr {
        match operand {
            Operand::Const(value) => value.into(),
            // Kept small, so that values coincide now and then.
            Operand::LastPlus(value) => (self.last() + value) & 3,
        }
    }

    fn piece(&mut self, piece: &Piece) {
        let names = self.names;
        match piece {
            Piece::Load(var, order) => {
                let reg = self.t.load_order(names.places[*var as usize], *order);
                self.last = Some(reg);
            }
            Piece::Store(var, value, order) => {
                let value = self.operand(*value);
                self.t
                    .store_order(names.places[*var as usize], value, *order);
            }
            Piece::Rmw(var, kind, operand, order) => {
                let operand = self.operand(*operand);
                let reg = self
                    .t
                    .rmw(names.places[*var as usize], *kind, operand, *order);
                self.last = Some(reg);
            }
            Piece::Cas(var, expected, new, success, failure) => {
                let new = self.operand(*new);
                let place = names.places[*var as usize];
                let (_, done) = self.t.cas_order(place, *expected, new, *success, *failure);
                self.last = Some(done);
            }
            Piece::Fence(order) => self.t.fence(*order),
            Piece::Assume(value) => {
                let cond = self.something_read().differs(*value);
                self.t.assume(cond);
            }
            Piece::Assert(value) => {
                let cond = self.something_read().differs(*value);
                self.t.assert(cond);
            }
            Piece::Spawn(code) => {
                if let Some(def) = names.threads[*code] {
                    self.handles[*code] = Some(self.t.spawn(def));
                }
            }
            Piece::Join(code) => {
                if let Some(handle) = self.handles[*code] {
                    self.t.join(handle);
                }
            }
            Piece::Exit => {
                let value = self.last();
                self.t.exit(value);
            }
            Piece::ExitProcess => self.t.exit_process(0),
            Piece::Locked(..)
            | Piece::TryLocked(..)
            | Piece::RwLocked(..)
            | Piece::Once(_)
            | Piece::If(..)
            | Piece::Choice(_)
            | Piece::SpinLocked(..)
            | Piece::Atomic(_) => self.compound(piece),
            Piece::Spin(spin) => self.spin(*spin),
            Piece::Wait | Piece::Signal(_) | Piece::SemWait | Piece::SemPost | Piece::Barrier => {
                self.synchronisation(piece)
            }
            Piece::Publish | Piece::Follow(..) | Piece::Release(_) => self.heap(piece),
        }
    }

    fn compound(&mut self, piece: &Piece) {
        let (names, last) = (self.names, self.last);
        match piece {
            Piece::Locked(mutex, inner, unlocks) => {
                let mutex = names.mutexes[*mutex as usize];
                self.t.lock(mutex);
                self.pieces(inner);
                if *unlocks {
                    self.t.unlock(mutex);
                }
            }
            Piece::TryLocked(mutex, inner) => {
                let mutex = names.mutexes[*mutex as usize];
                let got = self.t.try_lock(mutex);
                self.t.if_(got, |t| {
                    Self::nested(t, names, last, inner);
                    t.unlock(mutex);
                });
            }
            Piece::SpinLocked(mutex, inner) => {
                let mutex = names.mutexes[*mutex as usize];
                self.t.while_(|t| t.try_lock(mutex).is(0), |_| {});
                self.pieces(inner);
                self.t.unlock(mutex);
            }
            Piece::RwLocked(writes, inner) => {
                if *writes {
                    self.t.write_lock(names.rwlock);
                } else {
                    self.t.read_lock(names.rwlock);
                }
                self.pieces(inner);
                self.t.rw_unlock(names.rwlock);
            }
            Piece::Once(inner) => {
                self.t
                    .once(names.once, |t| Self::nested(t, names, last, inner));
            }
            Piece::If(value, then, otherwise) => {
                let cond = self.last().is(*value);
                self.t.if_else(
                    cond,
                    |t| Self::nested(t, names, last, then),
                    |t| Self::nested(t, names, last, otherwise),
                );
            }
            Piece::Choice(inner) => {
                let choice = self.t.choice(2);
                self.t.if_(choice, |t| Self::nested(t, names, last, inner));
            }
            Piece::Atomic(inner) => self.t.atomic(|t| Self::nested(t, names, last, inner)),
            _ => {}
        }
    }

    fn spin(&mut self, spin: Spin) {
        let place = |var: u32| self.names.places[var as usize];
        let pointer = self.names.pointer;
        let t = &mut *self.t;
        match spin {
            Spin::Until(var, value, order) => {
                t.while_(|t| t.load_order(place(var), order).differs(value), |_| {});
            }
            Spin::While(var, value, order) => {
                t.while_(|t| t.load_order(place(var), order).is(value), |_| {});
            }
            Spin::TestAndSet(var, order) => {
                let set =
                    |t: &mut ThreadBuilder| t.rmw(place(var), RmwKind::Exchange, 1, order).is(1);
                t.while_(set, |_| {});
            }
            Spin::CompareExchange(var, value, order) => {
                let exchange = |t: &mut ThreadBuilder| {
                    let (_, done) = t.cas_order(place(var), value, 2, order, Order::Relaxed);
                    done.is(0)
                };
                t.while_(exchange, |_| {});
            }
            Spin::Both(first, second, value) => t.loop_(|t| {
                let a = t.load(place(first));
                let b = t.load(place(second));
                t.if_(a.is(value), |t| {
                    t.if_(b.differs(value), ThreadBuilder::break_)
                });
            }),
            Spin::TestFirst(first, second, value) => t.loop_(|t| {
                let a = t.load(place(first));
                t.if_(a.is(value), |t| {
                    let (_, done) = t.cas(place(second), value, 2);
                    t.if_(done.is(1), ThreadBuilder::break_);
                });
            }),
            Spin::Stable(first, second) => t.loop_(|t| {
                let a = t.load(place(first));
                let b = t.load(place(second));
                t.if_(Expr::from(a).is(b), ThreadBuilder::break_);
            }),
            Spin::Block(order) => {
                let block = t.load_order(pointer, Order::Acquire);
                t.if_(block.differs(0), |t| {
                    t.while_(|t| t.load_order(deref(block, 4), order).is(0), |_| {});
                });
            }
            Spin::Bounded(first, second, value) => {
                for _ in 0..2 {
                    let b = t.load(place(second));
                    t.if_(b.differs(value), |t| {
                        t.fetch_add(place(first), 1);
                    });
                }
            }
        }
    }

    fn synchronisation(&mut self, piece: &Piece) {
        let names = self.names;
        match piece {
            Piece::Wait => {
                let mutex = names.mutexes[0];
                self.t.lock(mutex);
                let flag = self.t.load(names.flag);
                self.t.if_(flag.is(0), |t| t.wait(names.cond, mutex));
                self.t.unlock(mutex);
            }
            Piece::Signal(true) => self.t.broadcast(names.cond),
            Piece::Signal(false) => self.t.signal(names.cond),
            Piece::SemWait => {
                if let Some(sem) = names.sem {
                    self.t.sem_wait(sem);
                }
            }
            Piece::SemPost => {
                if let Some(sem) = names.sem {
                    self.t.sem_post(sem);
                }
            }
            Piece::Barrier => {
                if let Some(barrier) = names.barrier {
                    self.t.barrier(barrier);
                }
            }
            _ => {}
        }
    }

    fn heap(&mut self, piece: &Piece) {
        let pointer = self.names.pointer;
        match *piece {
            Piece::Publish => {
                let block = self.t.alloc(8);
                self.t.store_order(pointer, block, Order::Release);
            }
            Piece::Follow(stores, order) => {
                let block = self.t.load_order(pointer, Order::Acquire);
                let value = self.t.reg();
                self.t.if_(block.differs(0), |t| {
                    if stores {
                        t.store_plain(deref(block, 4), 1);
                    } else {
                        let loaded = t.load_order(deref(block, 4), order);
                        t.set(value, loaded);
                    }
                });
                self.last = Some(value);
            }
            Piece::Release(takes) => {
                let block = if takes {
                    self.t.exchange(pointer, 0)
                } else {
                    self.t.load(pointer)
                };
                self.t.free(block);
            }
            _ => {}
        }
    }
}
