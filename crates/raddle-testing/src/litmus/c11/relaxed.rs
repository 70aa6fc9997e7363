//! Coherence, atomicity, and the classic shapes with one ordering each.

use super::*;

pub(super) fn tests() -> Vec<C11Test> {
    let mut all = coherence();
    all.extend(atomicity());
    all.extend(two_threads());
    all.extend(more_threads());
    all
}

fn coherence() -> Vec<C11Test> {
    vec![
        test(
            "CoRR",
            &[(&[w(X, 1, RLX)], &[]), (&[r(X, RLX), r(X, RLX)], &[1, 0])],
            &[],
            FORBIDDEN,
            "the second read comes too late for 0: the thread has read 1 before",
        ),
        test(
            "CoRR forwards",
            &[(&[w(X, 1, RLX)], &[]), (&[r(X, RLX), r(X, RLX)], &[0, 1])],
            &[],
            ALLOWED,
            "reads may go forward in the modification order",
        ),
        test(
            "CoRR2",
            &[
                (&[w(X, 1, RLX)], &[]),
                (&[w(X, 2, RLX)], &[]),
                (&[r(X, RLX), r(X, RLX)], &[1, 2]),
                (&[r(X, RLX), r(X, RLX)], &[2, 1]),
            ],
            &[],
            FORBIDDEN,
            "the two writes have one order for everybody",
        ),
        test(
            "CoWW",
            &[(&[w(X, 1, RLX), w(X, 2, RLX)], &[])],
            &[(X, 1)],
            FORBIDDEN,
            "writes of a thread are in its order",
        ),
        test(
            "CoWR",
            &[(&[w(X, 1, RLX), r(X, RLX)], &[2]), (&[w(X, 2, RLX)], &[])],
            &[(X, 1)],
            FORBIDDEN,
            "2 is older than the thread's own 1",
        ),
        test(
            "CoWR own",
            &[(&[w(X, 1, RLX), r(X, RLX)], &[0])],
            &[],
            FORBIDDEN,
            "a thread sees its own write",
        ),
        test(
            "CoRW1",
            &[(&[r(X, RLX), w(X, 1, RLX)], &[1])],
            &[],
            FORBIDDEN,
            "a read before the write that it reads",
        ),
        test(
            "CoRW2",
            &[(&[r(X, RLX), w(X, 1, RLX)], &[2]), (&[w(X, 2, RLX)], &[])],
            &[(X, 2)],
            FORBIDDEN,
            "a write is newer than what its thread has read before",
        ),
    ]
}

fn atomicity() -> Vec<C11Test> {
    vec![
        test(
            "two exchanges",
            &[
                (&[exchange(X, 1, RLX)], &[0]),
                (&[exchange(X, 2, RLX)], &[0]),
            ],
            &[],
            FORBIDDEN,
            "only one update comes right behind the initial value",
        ),
        test(
            "two additions",
            &[(&[add(X, 1, RLX)], &[0]), (&[add(X, 1, RLX)], &[0])],
            &[],
            FORBIDDEN,
            "only one update comes right behind the initial value",
        ),
        test(
            "two additions one after the other",
            &[(&[add(X, 1, RLX)], &[0]), (&[add(X, 1, RLX)], &[1])],
            &[(X, 2)],
            ALLOWED,
            "the second reads the first",
        ),
        test(
            "two compare-exchanges",
            &[
                (&[cas(X, 0, 1, RLX, RLX)], &[0]),
                (&[cas(X, 0, 2, RLX, RLX)], &[0]),
            ],
            &[],
            FORBIDDEN,
            "both succeed, so both come right behind the initial value",
        ),
        test(
            "a store in an addition",
            &[(&[add(X, 1, RLX)], &[0]), (&[w(X, 5, RLX)], &[])],
            &[(X, 1)],
            FORBIDDEN,
            "the store would lie between the update and what it reads",
        ),
        test(
            "a store after an addition",
            &[(&[add(X, 1, RLX)], &[0]), (&[w(X, 5, RLX)], &[])],
            &[(X, 5)],
            ALLOWED,
            "the store is newer",
        ),
        test(
            "a failed compare-exchange is a read",
            &[
                (&[w(X, 1, RLX), w(Y, 1, RLX)], &[]),
                (&[r(Y, RLX), cas(X, 1, 2, RLX, RLX)], &[1, 0]),
            ],
            &[],
            ALLOWED,
            "it may find an old value, like any read; it does not write",
        ),
        test(
            "a failed compare-exchange comes too late",
            &[
                (&[w(X, 1, RLX), w(Y, 1, REL)], &[]),
                (&[r(Y, ACQ), cas(X, 1, 2, RLX, RLX)], &[1, 0]),
            ],
            &[],
            FORBIDDEN,
            "the store of 1 happens before it",
        ),
    ]
}

/// Store buffering, with these orderings of stores and loads in the first thread and in the second.
fn sb(name: &str, orders: [(Order, Order); 2], allowed: [bool; 2], why: &'static str) -> C11Test {
    let [(a, b), (c, d)] = orders;
    test(
        name,
        &[
            (&[w(X, 1, a), r(Y, b)], &[0]),
            (&[w(Y, 1, c), r(X, d)], &[0]),
        ],
        &[],
        allowed,
        why,
    )
}

/// Message passing.
fn mp(name: &str, store: Order, load: Order, allowed: [bool; 2], why: &'static str) -> C11Test {
    test(
        name,
        &[
            (&[w(X, 1, RLX), w(Y, 1, store)], &[]),
            (&[r(Y, load), r(X, RLX)], &[1, 0]),
        ],
        &[],
        allowed,
        why,
    )
}

fn load_buffering(name: &str, load: Order, store: Order) -> C11Test {
    test(
        name,
        &[
            (&[r(X, load), w(Y, 1, store)], &[1]),
            (&[r(Y, load), w(X, 1, store)], &[1]),
        ],
        &[],
        FORBIDDEN,
        "each read comes before the write that it causes: RC11 has no cycles of program order and reads-from",
    )
}

fn two_threads() -> Vec<C11Test> {
    let two_two = |name: &str, order, allowed, why| {
        test(
            name,
            &[
                (&[w(X, 1, order), w(Y, 2, order)], &[]),
                (&[w(Y, 1, order), w(X, 2, order)], &[]),
            ],
            &[(X, 1), (Y, 1)],
            allowed,
            why,
        )
    };
    let r_shape = |name: &str, store, load, allowed, why| {
        test(
            name,
            &[
                (&[w(X, 1, store), w(Y, 1, store)], &[]),
                (&[w(Y, 2, store), r(X, load)], &[0]),
            ],
            &[(Y, 2)],
            allowed,
            why,
        )
    };
    let s_shape = |name: &str, store, load, allowed, why| {
        test(
            name,
            &[
                (&[w(X, 2, RLX), w(Y, 1, store)], &[]),
                (&[r(Y, load), w(X, 1, RLX)], &[1]),
            ],
            &[(X, 2)],
            allowed,
            why,
        )
    };
    let nothing = "nothing orders anything";
    vec![
        sb("SB rlx", [(RLX, RLX); 2], ALLOWED, nothing),
        sb(
            "SB rel acq",
            [(REL, ACQ); 2],
            ALLOWED,
            "no read reads a release",
        ),
        sb(
            "SB sc",
            [(SC, SC); 2],
            FORBIDDEN,
            "SC cycle of all four: sb, rb, sb, rb",
        ),
        sb(
            "SB sc stores",
            [(SC, ACQ); 2],
            ALLOWED,
            "rb begins at reads that are not SC",
        ),
        sb(
            "SB sc loads",
            [(REL, SC); 2],
            ALLOWED,
            "rb ends at writes that are not SC",
        ),
        sb(
            "SB one thread sc",
            [(SC, SC), (RLX, RLX)],
            ALLOWED,
            "two of the four are not SC",
        ),
        mp("MP rlx", RLX, RLX, ALLOWED, nothing),
        mp(
            "MP rel acq",
            REL,
            ACQ,
            FORBIDDEN,
            "the store of x → the read of x: it comes too late",
        ),
        mp("MP rel rlx", REL, RLX, ALLOWED, "nobody acquires"),
        mp("MP rlx acq", RLX, ACQ, ALLOWED, "nobody releases"),
        mp(
            "MP sc",
            SC,
            SC,
            FORBIDDEN,
            "SC accesses release and acquire",
        ),
        load_buffering("LB rlx", RLX, RLX),
        load_buffering("LB acq rel", ACQ, REL),
        two_two("2+2W rlx", RLX, ALLOWED, nothing),
        two_two(
            "2+2W rel",
            REL,
            ALLOWED,
            "no reads, so nothing synchronises",
        ),
        two_two(
            "2+2W sc",
            SC,
            FORBIDDEN,
            "SC cycle of all four: sb, mo, sb, mo",
        ),
        r_shape("R rlx", RLX, RLX, ALLOWED, nothing),
        r_shape("R rel acq", REL, ACQ, ALLOWED, "the read reads no release"),
        r_shape(
            "R sc",
            SC,
            SC,
            FORBIDDEN,
            "SC cycle of all four: sb, mo, sb, rb",
        ),
        s_shape("S rlx", RLX, RLX, ALLOWED, nothing),
        s_shape(
            "S rel acq",
            REL,
            ACQ,
            FORBIDDEN,
            "the store of 2 → the store of 1, which must be newer",
        ),
        s_shape("S rel rlx", REL, RLX, ALLOWED, "nobody acquires"),
    ]
}

fn more_threads() -> Vec<C11Test> {
    let iriw = |name: &str, store, load, allowed, why| {
        test(
            name,
            &[
                (&[w(X, 1, store)], &[]),
                (&[w(Y, 1, store)], &[]),
                (&[r(X, load), r(Y, load)], &[1, 0]),
                (&[r(Y, load), r(X, load)], &[1, 0]),
            ],
            &[],
            allowed,
            why,
        )
    };
    let wrc = |name: &str, first, store, load, allowed, why| {
        test(
            name,
            &[
                (&[w(X, 1, RLX)], &[]),
                (&[r(X, first), w(Y, 1, store)], &[1]),
                (&[r(Y, load), r(X, RLX)], &[1, 0]),
            ],
            &[],
            allowed,
            why,
        )
    };
    let isa2 = |name: &str, orders: [Order; 4], allowed, why| {
        let [a, b, c, d] = orders;
        test(
            name,
            &[
                (&[w(X, 1, RLX), w(Y, 1, a)], &[]),
                (&[r(Y, b), w(Z, 1, c)], &[1]),
                (&[r(Z, d), r(X, RLX)], &[1, 0]),
            ],
            &[],
            allowed,
            why,
        )
    };
    let rwc = |name: &str, store, load, allowed, why| {
        test(
            name,
            &[
                (&[w(X, 1, store)], &[]),
                (&[r(X, load), r(Y, load)], &[1, 0]),
                (&[w(Y, 1, store), r(X, load)], &[0]),
            ],
            &[],
            allowed,
            why,
        )
    };
    let writes = |name: &str, order, allowed, why| {
        test(
            name,
            &[
                (&[w(X, 2, order), w(Y, 1, order)], &[]),
                (&[w(Y, 2, order), w(Z, 1, order)], &[]),
                (&[w(Z, 2, order), w(X, 1, order)], &[]),
            ],
            &[(X, 2), (Y, 2), (Z, 2)],
            allowed,
            why,
        )
    };
    let z6 = |name: &str, store, load, allowed, why| {
        test(
            name,
            &[
                (&[w(X, 1, store), w(Y, 1, store)], &[]),
                (&[w(Y, 2, store), w(Z, 1, store)], &[]),
                (&[r(Z, load), r(X, load)], &[1, 0]),
            ],
            &[(Y, 2)],
            allowed,
            why,
        )
    };
    let w_rwc = |name: &str, store, load, allowed, why| {
        test(
            name,
            &[
                (&[w(X, 1, store), w(Y, 1, store)], &[]),
                (&[r(Y, load), r(Z, load)], &[1, 0]),
                (&[w(Z, 1, store), r(X, load)], &[0]),
            ],
            &[],
            allowed,
            why,
        )
    };
    let nothing = "nothing orders anything";
    vec![
        w_rwc("W+RWC rlx", RLX, RLX, ALLOWED, nothing),
        w_rwc(
            "W+RWC rel acq",
            REL,
            ACQ,
            ALLOWED,
            "the last thread acquires nothing",
        ),
        w_rwc(
            "W+RWC sc",
            SC,
            SC,
            FORBIDDEN,
            "SC cycle: sb, the write of y and its read, sb, rb to the write of z, sb, rb to the write of x",
        ),
        iriw("IRIW rlx", RLX, RLX, ALLOWED, nothing),
        iriw(
            "IRIW rel acq",
            REL,
            ACQ,
            ALLOWED,
            "the writes are not ordered, and the readers learn of one each",
        ),
        iriw(
            "IRIW sc",
            SC,
            SC,
            FORBIDDEN,
            "SC cycle: reads of one thread (sb), rb, the write → its read, and the same again",
        ),
        iriw("IRIW sc stores", SC, ACQ, ALLOWED, "the reads are not SC"),
        iriw(
            "IRIW sc loads",
            REL,
            SC,
            ALLOWED,
            "rb ends at writes that are not SC",
        ),
        wrc("WRC rlx", RLX, RLX, RLX, ALLOWED, nothing),
        wrc(
            "WRC rel acq",
            ACQ,
            REL,
            ACQ,
            FORBIDDEN,
            "the read of 1 → the read of 0: that comes too late",
        ),
        wrc(
            "WRC rlx, rel acq",
            RLX,
            REL,
            ACQ,
            FORBIDDEN,
            "the same: how x was read does not matter",
        ),
        wrc(
            "WRC rel rlx",
            ACQ,
            REL,
            RLX,
            ALLOWED,
            "the last thread does not acquire",
        ),
        isa2("ISA2 rlx", [RLX; 4], ALLOWED, nothing),
        isa2(
            "ISA2 rel acq",
            [REL, ACQ, REL, ACQ],
            FORBIDDEN,
            "happens-before is transitive",
        ),
        isa2(
            "ISA2 rlx in the middle",
            [REL, RLX, REL, ACQ],
            ALLOWED,
            "the second thread does not acquire",
        ),
        isa2(
            "ISA2 rlx at the end",
            [REL, ACQ, RLX, ACQ],
            ALLOWED,
            "the second thread does not release",
        ),
        rwc("RWC rlx", RLX, RLX, ALLOWED, nothing),
        rwc(
            "RWC rel acq",
            REL,
            ACQ,
            ALLOWED,
            "the last thread acquires nothing",
        ),
        rwc(
            "RWC sc",
            SC,
            SC,
            FORBIDDEN,
            "SC cycle: rb to the write of x, its read, sb, rb to the write of y, sb",
        ),
        writes("3.2W rlx", RLX, ALLOWED, nothing),
        writes(
            "3.2W rel",
            REL,
            ALLOWED,
            "no reads, so nothing synchronises",
        ),
        writes(
            "3.2W sc",
            SC,
            FORBIDDEN,
            "SC cycle of all six: sb, mo, sb, mo, sb, mo",
        ),
        z6(
            "Z6.3 rel acq",
            REL,
            ACQ,
            ALLOWED,
            "the order of the writes of y orders nothing",
        ),
        z6(
            "Z6.3 sc",
            SC,
            SC,
            FORBIDDEN,
            "SC cycle of all six: sb, mo, sb, rf (hb), sb, rb",
        ),
        test(
            "LB of three",
            &[
                (&[r(X, RLX), w(Y, 1, RLX)], &[1]),
                (&[r(Y, RLX), w(Z, 1, RLX)], &[1]),
                (&[r(Z, RLX), w(X, 1, RLX)], &[1]),
            ],
            &[],
            FORBIDDEN,
            "each read comes before the write that it causes",
        ),
    ]
}
