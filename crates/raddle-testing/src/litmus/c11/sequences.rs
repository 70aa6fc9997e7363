//! Release sequences, and orderings of read-modify-writes.

use super::*;

pub(super) fn tests() -> Vec<C11Test> {
    let mut all = sequences();
    all.extend(updates());
    all
}

const LATE: &str = "the store of x → the read of x: it comes too late";

fn sequences() -> Vec<C11Test> {
    let publish: &[Action] = &[w(X, 1, RLX), w(Y, 1, REL)];
    let through = |name: &str, link: (&[Action], &[Value]), last: Value, allowed, why| {
        test(
            name,
            &[(publish, &[]), link, (&[r(Y, ACQ), r(X, RLX)], &[last, 0])],
            &[],
            allowed,
            why,
        )
    };
    vec![
        through(
            "RS relaxed addition",
            (&[add(Y, 1, RLX)], &[1]),
            2,
            FORBIDDEN,
            LATE,
        ),
        through(
            "RS relaxed exchange",
            (&[exchange(Y, 2, RLX)], &[1]),
            2,
            FORBIDDEN,
            LATE,
        ),
        through(
            "RS relaxed compare-exchange",
            (&[cas(Y, 1, 2, RLX, RLX)], &[1]),
            2,
            FORBIDDEN,
            LATE,
        ),
        through(
            "RS two relaxed additions",
            (&[add(Y, 1, RLX), add(Y, 1, RLX)], &[1, 2]),
            3,
            FORBIDDEN,
            LATE,
        ),
        through(
            "RS store of another thread",
            (&[r(Y, RLX), w(Y, 2, RLX)], &[1]),
            2,
            ALLOWED,
            "a store of another thread ends the sequence",
        ),
        through(
            "RS update of another value",
            (&[w(Y, 5, RLX), add(Y, 1, RLX)], &[5]),
            6,
            ALLOWED,
            "the update reads from no release",
        ),
        test(
            "RS store of the same thread",
            &[
                (&[w(X, 1, RLX), w(Y, 1, REL), w(Y, 2, RLX)], &[]),
                (&[r(Y, ACQ), r(X, RLX)], &[2, 0]),
            ],
            &[],
            SINCE_20,
            "since C++20 only updates continue a release sequence",
        ),
        test(
            "RS store of another thread between two",
            &[
                (&[w(X, 1, RLX), w(Y, 1, REL), w(Y, 2, RLX)], &[]),
                (&[w(Y, 3, RLX)], &[]),
                (&[r(Y, RLX), r(Y, RLX), r(Y, ACQ), r(X, RLX)], &[1, 3, 2, 0]),
            ],
            &[],
            SINCE_20,
            "[W]; sb|loc; [W] goes on behind a store of another thread",
        ),
        test(
            "RS update of a later store, between stores of others",
            &[
                (&[w(X, 1, RLX), w(Y, 1, REL), w(Y, 2, RLX)], &[]),
                (&[add(Y, 5, RLX)], &[2]),
                (&[w(Y, 9, RLX)], &[]),
                (&[r(Y, RLX), r(Y, ACQ), r(X, RLX)], &[9, 7, 0]),
            ],
            &[],
            SINCE_20,
            "the update continues what the second store continues",
        ),
        test(
            "RS store of the same thread and update",
            &[
                (&[w(X, 1, RLX), w(Y, 1, REL), w(Y, 2, RLX)], &[]),
                (&[add(Y, 1, RLX)], &[2]),
                (&[r(Y, ACQ), r(X, RLX)], &[3, 0]),
            ],
            &[],
            SINCE_20,
            "the update continues what the second store continues",
        ),
        test(
            "RS update and store of the same thread",
            &[
                (&[w(X, 1, RLX), add(Y, 1, REL), w(Y, 5, RLX)], &[0]),
                (&[r(Y, ACQ), r(X, RLX)], &[5, 0]),
            ],
            &[],
            SINCE_20,
            "an update may begin a release sequence, too",
        ),
        test(
            "RS fences",
            &[
                (&[w(X, 1, RLX), f(REL), w(Y, 1, RLX)], &[]),
                (&[add(Y, 1, RLX)], &[1]),
                (&[r(Y, RLX), f(ACQ), r(X, RLX)], &[2, 0]),
            ],
            &[],
            FORBIDDEN,
            "the store behind the release fence begins a sequence",
        ),
        test(
            "RS fence and later store",
            &[
                (&[w(X, 1, RLX), f(REL), w(Y, 1, RLX), w(Y, 2, RLX)], &[]),
                (&[r(Y, ACQ), r(X, RLX)], &[2, 0]),
            ],
            &[],
            FORBIDDEN,
            "the fence makes every later store a release",
        ),
        test(
            "RS two releases",
            &[
                (&[w(X, 1, RLX), w(Y, 1, REL)], &[]),
                (&[w(Z, 1, RLX), add(Y, 1, REL)], &[1]),
                (&[r(Y, ACQ), r(X, RLX), r(Z, RLX)], &[2, 0, 1]),
            ],
            &[],
            FORBIDDEN,
            "an update that releases still continues the sequence of the first release",
        ),
        test(
            "RS two releases, the second",
            &[
                (&[w(X, 1, RLX), w(Y, 1, REL)], &[]),
                (&[w(Z, 1, RLX), add(Y, 1, REL)], &[1]),
                (&[r(Y, ACQ), r(X, RLX), r(Z, RLX)], &[2, 1, 0]),
            ],
            &[],
            FORBIDDEN,
            "and begins its own",
        ),
    ]
}

fn updates() -> Vec<C11Test> {
    let publish: &[Action] = &[w(X, 1, RLX), w(Y, 1, REL)];
    let reader = |name: &str, take: Action, allowed, why| {
        test(
            name,
            &[(publish, &[]), (&[take, r(X, RLX)], &[1, 0])],
            &[],
            allowed,
            why,
        )
    };
    let writer = |name: &str, give: &[Action], reads: &[Value], allowed, why| {
        test(
            name,
            &[(give, reads), (&[r(Y, ACQ), r(X, RLX)], &[1, 0])],
            &[],
            allowed,
            why,
        )
    };
    let with_update = |name: &str, order, allowed, why| {
        test(
            name,
            &[
                (&[w(X, 1, RLX), add(Z, 0, order), r(Y, RLX)], &[0, 0]),
                (&[w(Y, 1, RLX), add(Z, 0, order), r(X, RLX)], &[0, 0]),
            ],
            &[],
            allowed,
            why,
        )
    };
    vec![
        reader(
            "MP failing cas that acquires",
            cas(Y, 5, 6, RLX, ACQ),
            FORBIDDEN,
            LATE,
        ),
        reader(
            "MP failing cas that does not",
            cas(Y, 5, 6, ACQ, RLX),
            ALLOWED,
            "the ordering of success does not count",
        ),
        reader(
            "MP successful cas that acquires",
            cas(Y, 1, 6, ACQ, RLX),
            FORBIDDEN,
            LATE,
        ),
        reader(
            "MP successful cas that does not",
            cas(Y, 1, 6, RLX, ACQ),
            ALLOWED,
            "the ordering of failure does not count",
        ),
        reader("MP acquiring addition", add(Y, 1, ACQ), FORBIDDEN, LATE),
        reader(
            "MP releasing addition as reader",
            add(Y, 1, REL),
            ALLOWED,
            "it does not acquire",
        ),
        reader(
            "MP sc exchange as reader",
            exchange(Y, 7, SC),
            FORBIDDEN,
            LATE,
        ),
        writer(
            "MP releasing addition",
            &[w(X, 1, RLX), add(Y, 1, REL)],
            &[0],
            FORBIDDEN,
            LATE,
        ),
        writer(
            "MP acquiring addition as writer",
            &[w(X, 1, RLX), add(Y, 1, ACQ)],
            &[0],
            ALLOWED,
            "it does not release",
        ),
        writer(
            "MP release fence and addition",
            &[w(X, 1, RLX), f(REL), add(Y, 1, RLX)],
            &[0],
            FORBIDDEN,
            LATE,
        ),
        with_update(
            "SB acq_rel updates of a third",
            AR,
            FORBIDDEN,
            "one of the updates reads the other, and acquires what came before it",
        ),
        test(
            "SB acq_rel updates of a third, in turn",
            &[
                (&[w(X, 1, RLX), exchange(Z, 1, AR), r(Y, RLX)], &[0, 0]),
                (&[w(Y, 1, RLX), exchange(Z, 2, AR), r(X, RLX)], &[1, 0]),
            ],
            &[],
            FORBIDDEN,
            "the second update acquires from the first: the store of x → the read of x",
        ),
        test(
            "SB rlx updates of a third, in turn",
            &[
                (&[w(X, 1, RLX), exchange(Z, 1, RLX), r(Y, RLX)], &[0, 0]),
                (&[w(Y, 1, RLX), exchange(Z, 2, RLX), r(X, RLX)], &[1, 0]),
            ],
            &[],
            ALLOWED,
            "relaxed updates synchronise nothing",
        ),
        test(
            "SB exchanges",
            &[
                (&[exchange(X, 1, AR), r(Y, ACQ)], &[0, 0]),
                (&[exchange(Y, 1, AR), r(X, ACQ)], &[0, 0]),
            ],
            &[],
            ALLOWED,
            "no read reads a release, whatever x86 makes of it",
        ),
        test(
            "SB sc exchanges",
            &[
                (&[exchange(X, 1, SC), r(Y, SC)], &[0, 0]),
                (&[exchange(Y, 1, SC), r(X, SC)], &[0, 0]),
            ],
            &[],
            FORBIDDEN,
            "SC cycle of all four: sb, rb, sb, rb",
        ),
        test(
            "SB sc exchanges and relaxed loads",
            &[
                (&[exchange(X, 1, SC), r(Y, RLX)], &[0, 0]),
                (&[exchange(Y, 1, SC), r(X, RLX)], &[0, 0]),
            ],
            &[],
            ALLOWED,
            "rb begins at loads that are not SC",
        ),
    ]
}
