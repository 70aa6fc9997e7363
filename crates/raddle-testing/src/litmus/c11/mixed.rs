//! SC accesses beside weaker ones, and shapes of known algorithms.

use super::*;

pub(super) fn tests() -> Vec<C11Test> {
    vec![
        test(
            "Z6.U",
            &[
                (&[w(X, 1, SC), w(Y, 1, REL)], &[]),
                (&[add(Y, 1, SC), r(Y, RLX)], &[1, 3]),
                (&[w(Y, 3, SC), r(X, SC)], &[0]),
            ],
            &[],
            ALLOWED,
            "the update reads a release that is not SC: that the store of x → the update is no part of psc, since the last step to it is to the same location",
        ),
        test(
            "Z6.U sc",
            &[
                (&[w(X, 1, SC), w(Y, 1, SC)], &[]),
                (&[add(Y, 1, SC), r(Y, SC)], &[1, 3]),
                (&[w(Y, 3, SC), r(X, SC)], &[0]),
            ],
            &[],
            FORBIDDEN,
            "SC cycle: store of x, store of y (sb), the update (mo), the store of 3 (mo), the read of x (sb), rb",
        ),
        test(
            "MP between sc accesses",
            &[
                (&[w(X, 1, SC), w(Y, 1, REL)], &[]),
                (&[r(Y, ACQ), r(Z, SC)], &[1, 0]),
                (&[w(Z, 1, SC), r(X, SC)], &[0]),
            ],
            &[],
            FORBIDDEN,
            "SC cycle: the store of x (sb, other location; hb; sb, other location) the read of z, rb to its store, sb, rb",
        ),
        test(
            "relaxed MP between sc accesses",
            &[
                (&[w(X, 1, SC), w(Y, 1, RLX)], &[]),
                (&[r(Y, RLX), r(Z, SC)], &[1, 0]),
                (&[w(Z, 1, SC), r(X, SC)], &[0]),
            ],
            &[],
            ALLOWED,
            "nothing leads from the store of x to the read of z",
        ),
        test(
            "release of another location",
            &[
                (&[w(X, 1, RLX), w(Z, 1, REL), w(Y, 1, RLX)], &[]),
                (&[r(Y, ACQ), r(X, RLX)], &[1, 0]),
            ],
            &[],
            ALLOWED,
            "what was read is no release",
        ),
        test(
            "acquire of another location",
            &[
                (&[w(X, 1, RLX), w(Z, 1, REL), w(Y, 1, RLX)], &[]),
                (&[r(Y, RLX), r(Z, ACQ), r(X, RLX)], &[1, 0, 0]),
            ],
            &[],
            ALLOWED,
            "the acquiring read reads the initial value",
        ),
        test(
            "acquire of the other location",
            &[
                (&[w(X, 1, RLX), w(Z, 1, REL), w(Y, 1, RLX)], &[]),
                (&[r(Y, RLX), r(Z, ACQ), r(X, RLX)], &[1, 1, 0]),
            ],
            &[],
            FORBIDDEN,
            "the acquiring read reads the release: the store of x → the read of x",
        ),
        test(
            "Dekker without fence in one thread",
            &[
                (&[w(X, 1, SC), f(SC), r(Y, RLX)], &[0]),
                (&[w(Y, 1, SC), r(X, RLX)], &[0]),
            ],
            &[],
            ALLOWED,
            "the second thread's read is not SC, and no fence comes before it",
        ),
        test(
            "Dekker with a fence in one thread, sc in the other",
            &[
                (&[w(X, 1, RLX), f(SC), r(Y, RLX)], &[0]),
                (&[w(Y, 1, SC), r(X, SC)], &[0]),
            ],
            &[],
            FORBIDDEN,
            "SC cycle: the fence, hb; rb to the store of y, sb the read of x, rb; hb back to the fence",
        ),
        test(
            "lock handed over by exchange",
            &[
                (&[exchange(Y, 1, ACQ), w(X, 1, RLX), w(Y, 0, REL)], &[0]),
                (&[exchange(Y, 1, ACQ), r(X, RLX)], &[0, 0]),
            ],
            &[(Y, 1)],
            FORBIDDEN,
            "the lock is free in the end of the first thread and taken in the end, so the second thread took it from the first, or before it: then the first would have found it taken",
        ),
        test(
            "lock handed over without release",
            &[
                (&[exchange(Y, 1, ACQ), w(X, 1, RLX), w(Y, 0, RLX)], &[0]),
                (&[exchange(Y, 1, ACQ), r(X, RLX)], &[0, 0]),
            ],
            &[(Y, 1)],
            ALLOWED,
            "the second thread acquires from a store that does not release",
        ),
        test(
            "reference count, relaxed decrements",
            &[
                (&[w(X, 1, RLX), add(Y, 1, RLX)], &[0]),
                (&[add(Y, 1, RLX), r(X, RLX)], &[1, 0]),
            ],
            &[],
            ALLOWED,
            "the last owner does not know of what the other did",
        ),
        test(
            "reference count, acq_rel decrements",
            &[
                (&[w(X, 1, RLX), add(Y, 1, AR)], &[0]),
                (&[add(Y, 1, AR), r(X, RLX)], &[1, 0]),
            ],
            &[],
            FORBIDDEN,
            "the second update acquires from the first",
        ),
        test(
            "reference count, release decrements and an acquire fence",
            &[
                (&[w(X, 1, RLX), add(Y, 1, REL)], &[0]),
                (&[add(Y, 1, REL), f(ACQ), r(X, RLX)], &[1, 0]),
            ],
            &[],
            FORBIDDEN,
            "the fence acquires what the update read",
        ),
        test(
            "published pointer, relaxed",
            &[
                (&[w(X, 1, RLX), w(Y, 1, RLX)], &[]),
                (&[cas(Y, 1, 2, RLX, RLX), r(X, RLX)], &[1, 0]),
            ],
            &[],
            ALLOWED,
            "dependencies do not order anything in this model",
        ),
    ]
}
