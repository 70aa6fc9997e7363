//! Fences of every kind, in the right places and in wrong ones.

use super::*;

pub(super) fn tests() -> Vec<C11Test> {
    let mut all = message_passing();
    all.extend(sequential_consistency());
    all.extend(seqlock());
    all
}

/// Message passing with relaxed accesses but for the flag's, and what else the threads do.
fn mp(
    name: &str,
    writer: &[Action],
    reader: &[Action],
    allowed: [bool; 2],
    why: &'static str,
) -> C11Test {
    test(name, &[(writer, &[]), (reader, &[1, 0])], &[], allowed, why)
}

fn message_passing() -> Vec<C11Test> {
    let (data, flag) = (w(X, 1, RLX), w(Y, 1, RLX));
    let (look, take) = (r(Y, RLX), r(X, RLX));
    let late = "the store of x → the read of x: it comes too late";
    vec![
        mp(
            "MP fences",
            &[data, f(REL), flag],
            &[look, f(ACQ), take],
            FORBIDDEN,
            late,
        ),
        mp(
            "MP acq_rel fences",
            &[data, f(AR), flag],
            &[look, f(AR), take],
            FORBIDDEN,
            late,
        ),
        mp(
            "MP sc fences",
            &[data, f(SC), flag],
            &[look, f(SC), take],
            FORBIDDEN,
            late,
        ),
        mp(
            "MP release fence and acquire load",
            &[data, f(REL), flag],
            &[r(Y, ACQ), take],
            FORBIDDEN,
            late,
        ),
        mp(
            "MP release store and acquire fence",
            &[data, w(Y, 1, REL)],
            &[look, f(ACQ), take],
            FORBIDDEN,
            late,
        ),
        mp(
            "MP acquire fence at the writer",
            &[data, f(ACQ), flag],
            &[look, f(ACQ), take],
            ALLOWED,
            "an acquire fence does not release",
        ),
        mp(
            "MP release fence at the reader",
            &[data, f(REL), flag],
            &[look, f(REL), take],
            ALLOWED,
            "a release fence does not acquire",
        ),
        mp(
            "MP fence at the writer only",
            &[data, f(SC), flag],
            &[look, take],
            ALLOWED,
            "nobody acquires",
        ),
        mp(
            "MP fence at the reader only",
            &[data, flag],
            &[look, f(SC), take],
            ALLOWED,
            "nobody releases",
        ),
        mp(
            "MP release fence too early",
            &[f(REL), data, flag],
            &[look, f(ACQ), take],
            ALLOWED,
            "what comes after the fence it does not publish",
        ),
        mp(
            "MP acquire fence too early",
            &[data, f(REL), flag],
            &[f(ACQ), look, take],
            ALLOWED,
            "the fence comes before the read of the flag",
        ),
        mp(
            "MP acquire fence too late",
            &[data, f(REL), flag],
            &[look, take, f(ACQ)],
            ALLOWED,
            "the fence comes after the read of the data",
        ),
        test(
            "S fences",
            &[
                (&[w(X, 2, RLX), f(REL), w(Y, 1, RLX)], &[]),
                (&[r(Y, RLX), f(ACQ), w(X, 1, RLX)], &[1]),
            ],
            &[(X, 2)],
            FORBIDDEN,
            "the store of 2 → the store of 1, which must be newer",
        ),
        test(
            "ISA2 fence in the middle",
            &[
                (&[w(X, 1, RLX), w(Y, 1, REL)], &[]),
                (&[r(Y, RLX), f(AR), w(Z, 1, RLX)], &[1]),
                (&[r(Z, ACQ), r(X, RLX)], &[1, 0]),
            ],
            &[],
            FORBIDDEN,
            "the fence acquires what was read before it, and releases it with what is written after it",
        ),
        test(
            "WRC sc fences",
            &[
                (&[w(X, 1, RLX)], &[]),
                (&[r(X, RLX), f(SC), w(Y, 1, RLX)], &[1]),
                (&[r(Y, RLX), f(SC), r(X, RLX)], &[1, 0]),
            ],
            &[],
            FORBIDDEN,
            "the fences synchronise, so the read of 1 → the read of 0",
        ),
    ]
}

fn sequential_consistency() -> Vec<C11Test> {
    let sb = |name: &str, first: Option<Order>, second: Option<Order>, allowed, why| {
        let mut left = vec![w(X, 1, RLX)];
        left.extend(first.map(f));
        left.push(r(Y, RLX));
        let mut right = vec![w(Y, 1, RLX)];
        right.extend(second.map(f));
        right.push(r(X, RLX));
        test(name, &[(&left, &[0]), (&right, &[0])], &[], allowed, why)
    };
    let fence_cycle = "SC cycle of the two fences: each comes before the other by hb; rb; hb";
    vec![
        sb("SB sc fences", Some(SC), Some(SC), FORBIDDEN, fence_cycle),
        sb(
            "SB one sc fence",
            Some(SC),
            None,
            ALLOWED,
            "one fence makes no cycle",
        ),
        sb(
            "SB acq_rel fences",
            Some(AR),
            Some(AR),
            ALLOWED,
            "only SC fences order stores before loads",
        ),
        sb(
            "SB sc and acq_rel fence",
            Some(SC),
            Some(AR),
            ALLOWED,
            "one SC fence makes no cycle",
        ),
        test(
            "SB fence against sc accesses",
            &[
                (&[w(X, 1, SC), r(Y, SC)], &[0]),
                (&[w(Y, 1, RLX), f(SC), r(X, RLX)], &[0]),
            ],
            &[],
            FORBIDDEN,
            "SC cycle: the store (sb) the load, rb; hb to the fence, hb; rb to the store",
        ),
        test(
            "SB fence against an sc store",
            &[
                (&[w(X, 1, SC), r(Y, RLX)], &[0]),
                (&[w(Y, 1, RLX), f(SC), r(X, RLX)], &[0]),
            ],
            &[],
            ALLOWED,
            "rb begins at a load that is not SC and has no fence before it",
        ),
        test(
            "2+2W sc fences",
            &[
                (&[w(X, 1, RLX), f(SC), w(Y, 2, RLX)], &[]),
                (&[w(Y, 1, RLX), f(SC), w(X, 2, RLX)], &[]),
            ],
            &[(X, 1), (Y, 1)],
            FORBIDDEN,
            "SC cycle of the two fences by hb; mo; hb",
        ),
        test(
            "2+2W release fences",
            &[
                (&[w(X, 1, RLX), f(REL), w(Y, 2, RLX)], &[]),
                (&[w(Y, 1, RLX), f(REL), w(X, 2, RLX)], &[]),
            ],
            &[(X, 1), (Y, 1)],
            ALLOWED,
            "no reads, so nothing synchronises",
        ),
        test(
            "R sc fences",
            &[
                (&[w(X, 1, RLX), f(SC), w(Y, 1, RLX)], &[]),
                (&[w(Y, 2, RLX), f(SC), r(X, RLX)], &[0]),
            ],
            &[(Y, 2)],
            FORBIDDEN,
            "SC cycle of the two fences: hb; mo; hb there, hb; rb; hb back",
        ),
        test(
            "R one sc fence",
            &[
                (&[w(X, 1, RLX), w(Y, 1, RLX)], &[]),
                (&[w(Y, 2, RLX), f(SC), r(X, RLX)], &[0]),
            ],
            &[(Y, 2)],
            ALLOWED,
            "one fence makes no cycle",
        ),
        test(
            "IRIW sc fences",
            &[
                (&[w(X, 1, RLX)], &[]),
                (&[w(Y, 1, RLX)], &[]),
                (&[r(X, RLX), f(SC), r(Y, RLX)], &[1, 0]),
                (&[r(Y, RLX), f(SC), r(X, RLX)], &[1, 0]),
            ],
            &[],
            FORBIDDEN,
            "SC cycle of the two fences by hb; rb; rf; hb",
        ),
        test(
            "IRIW acq_rel fences",
            &[
                (&[w(X, 1, REL)], &[]),
                (&[w(Y, 1, REL)], &[]),
                (&[r(X, ACQ), f(AR), r(Y, ACQ)], &[1, 0]),
                (&[r(Y, ACQ), f(AR), r(X, ACQ)], &[1, 0]),
            ],
            &[],
            ALLOWED,
            "such fences do nothing for reads that acquire anyway",
        ),
        test(
            "RWC sc fences",
            &[
                (&[w(X, 1, RLX)], &[]),
                (&[r(X, RLX), f(SC), r(Y, RLX)], &[1, 0]),
                (&[w(Y, 1, RLX), f(SC), r(X, RLX)], &[0]),
            ],
            &[],
            FORBIDDEN,
            "SC cycle of the two fences: hb; rb; hb there, hb; rb; rf; hb back",
        ),
        test(
            "W+RWC sc fences",
            &[
                (&[w(X, 1, RLX), w(Z, 1, REL)], &[]),
                (&[r(Z, ACQ), f(SC), r(Y, RLX)], &[1, 0]),
                (&[w(Y, 1, RLX), f(SC), r(X, RLX)], &[0]),
            ],
            &[],
            FORBIDDEN,
            "SC cycle of the two fences: the store of x → the first fence",
        ),
        test(
            "W+RWC one sc fence",
            &[
                (&[w(X, 1, RLX), w(Z, 1, REL)], &[]),
                (&[r(Z, ACQ), r(Y, RLX)], &[1, 0]),
                (&[w(Y, 1, RLX), f(SC), r(X, RLX)], &[0]),
            ],
            &[],
            ALLOWED,
            "one fence makes no cycle",
        ),
    ]
}

/// A reader finds the same number before and after it read what a writer changes between two.
fn seqlock() -> Vec<C11Test> {
    let shape = |name: &str, release: bool, acquire: bool, allowed, why| {
        let mut writer = vec![w(X, 1, RLX)];
        writer.extend(release.then_some(f(REL)));
        writer.extend([w(Y, 1, RLX), w(X, 2, REL)]);
        let mut reader = vec![r(X, ACQ), r(Y, RLX)];
        reader.extend(acquire.then_some(f(ACQ)));
        reader.push(r(X, RLX));
        test(
            name,
            &[(&writer, &[]), (&reader, &[0, 1, 0])],
            &[],
            allowed,
            why,
        )
    };
    vec![
        shape(
            "seqlock",
            true,
            true,
            FORBIDDEN,
            "the fences synchronise through the data: the first number → the second read of it",
        ),
        shape(
            "seqlock without release fence",
            false,
            true,
            ALLOWED,
            "the data is not published with the first number",
        ),
        shape(
            "seqlock without acquire fence",
            true,
            false,
            ALLOWED,
            "the data is not acquired before the second read of the number",
        ),
    ]
}
