use super::*;
use crate::ids::{SrcId, ThreadId};
use crate::tables::{Exhausted, NewObject, Tables};
use std::collections::BTreeSet;

fn name(path: &[u32]) -> ThreadName {
    path.iter()
        .fold(ThreadName::default(), |name, &nth| name.child(nth))
}

fn block(kind: ObjectKind, size: u64, site: u64) -> NewObject {
    NewObject {
        kind,
        size,
        align: 16,
        name: "b".into(),
        at: SrcId::NOWHERE,
        source_type: None,
        init: None,
        site,
    }
}

#[test]
fn names_of_threads_are_read_as_they_are_written() {
    for path in [&[] as &[u32], &[1], &[2, 1], &[1, 1, 1, 7, u32::MAX]] {
        assert_eq!(name(path).to_string().parse(), Ok(name(path)));
    }
    for text in [
        "",
        "main.",
        "main.0",
        "main.01",
        "main.+1",
        "1",
        "Main",
        "main.1.",
        "main.4294967296",
        "main 1",
    ] {
        assert!(text.parse::<ThreadName>().is_err(), "{text}");
    }
}

/// All trees of threads that programs have: wide, nested pools, binary, chains.
#[test]
fn threads_of_usual_programs_have_numbers_of_their_own() {
    let mut paths: Vec<Vec<u32>> = vec![vec![]];
    paths.extend((1..5000).map(|nth| vec![nth]));
    for a in 1..16 {
        paths.extend((1..16).map(|b| vec![a, b]));
    }
    for depth in 2..6 {
        paths.extend(
            (0..1u32 << depth).map(|bits| (0..depth).map(|at| 1 + (bits >> at & 1)).collect()),
        );
    }
    paths.extend((1..2000).step_by(97).map(|length| vec![1; length]));
    paths.sort();
    paths.dedup();
    let numbers: Vec<ThreadNumbers> = paths
        .iter()
        .map(|path| ThreadNumbers::of(&name(path)))
        .collect();
    let threads: BTreeSet<u32> = numbers.iter().map(|it| it.thread).collect();
    assert_eq!(threads.len(), paths.len());
    // Nor do their objects meet, or anything else's.
    let mut ranges: Vec<(u32, u32)> = numbers
        .iter()
        .map(|it| {
            (
                it.allocation(1).unwrap(),
                it.thread_local((1 << (it.bits - 4)) - 1).unwrap(),
            )
        })
        .collect();
    ranges.sort_unstable();
    assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
    assert!(ranges.last().unwrap().1 < FIRST_QUEUE);
}

#[test]
fn codes_of_paths_are_all_different() {
    let mut codes = BTreeSet::new();
    let mut count = 0;
    let mut open = vec![vec![]];
    while let Some(path) = open.pop() {
        for nth in 1..=128 {
            let mut path: Vec<u32> = path.clone();
            path.push(nth);
            let Some(code) = path_code(&path) else {
                break;
            };
            assert!(code < CODED.end - CODED.start);
            codes.insert(code);
            count += 1;
            open.push(path);
        }
    }
    assert_eq!(codes.len(), count);
    assert!(count > 10_000);
}

/// Whatever else was met, and in which order: the class of mistakes that names are there to prevent.
#[test]
fn addresses_do_not_depend_on_the_order_of_discovery() {
    let made: Vec<(u32, NewObject)> = vec![
        (1, block(ObjectKind::Heap, 8, 0)),
        (1, block(ObjectKind::Heap, 16, 0)),
        (1, block(ObjectKind::Heap, 0, 0)),
        (1, block(ObjectKind::Heap, 100_000, 0)),
        (1, block(ObjectKind::Heap, 1 << 20, 0)),
        (1, block(ObjectKind::Stack, 8, 1)),
        (1, block(ObjectKind::Stack, 8, 2)),
        (2, block(ObjectKind::Heap, 8, 0)),
        (2, block(ObjectKind::Stack, 8, 1)),
    ];
    let addresses = |order: &[usize]| {
        let mut tables = Tables::new("main");
        let mut addresses = vec![0; made.len()];
        for &index in order {
            let (counter, new) = made[index].clone();
            let object = tables.allocated(ThreadId::MAIN, counter, new).unwrap();
            addresses[index] = tables.address(object, 0);
            // Known ones are the same objects, and addresses lead back.
            let (counter, new) = made[index].clone();
            assert_eq!(tables.allocated(ThreadId::MAIN, counter, new), Ok(object));
        }
        for (index, &address) in addresses.iter().enumerate() {
            let size = made[index].1.size;
            for offset in [-1, 0, 7, size as i64] {
                let (object, found) = tables.resolve(address.wrapping_add_signed(offset)).unwrap();
                let info = tables.object_info(object);
                assert_eq!(
                    (info.size, info.kind, found),
                    (size, made[index].1.kind, offset)
                );
            }
        }
        addresses
    };
    let forwards: Vec<usize> = (0..made.len()).collect();
    let backwards: Vec<usize> = (0..made.len()).rev().collect();
    assert_eq!(addresses(&forwards), addresses(&backwards));
}

#[test]
fn threads_have_the_same_handles_whoever_is_met_first() {
    let handles = |first: u32, second: u32| {
        let mut tables = Tables::new("main");
        let mut handle = |nth| {
            let parent = tables.thread(ThreadId::MAIN, nth, "f").unwrap();
            let child = tables.thread(parent, 1, "g").unwrap();
            assert_eq!(tables.thread_named(&name(&[nth, 1])), Some(child));
            (tables.handle_of_thread(child), nth)
        };
        let both = [handle(first), handle(second)];
        BTreeSet::from(both)
    };
    assert_eq!(handles(1, 2), handles(2, 1));
}

#[test]
fn sizes_and_sites_have_places_of_their_own() {
    let small: BTreeSet<u64> = (0..=SMALL)
        .map(|size| place(ObjectKind::Heap, size, 16, 0))
        .collect();
    assert_eq!(small.len() as u64, SMALL + 1);
    assert!(small.last().unwrap() + STRIDE < HASHED.start);
    for align in [1, 16, 4096, 1 << 21, 1 << 30] {
        for size in [0, 1, 64, 70_000, 1 << 30] {
            for kind in [ObjectKind::Heap, ObjectKind::Stack] {
                let place = place(kind, size, align, 5);
                assert!(place.is_multiple_of(align) && place.is_multiple_of(16));
                assert!(place + size <= 1 << 32);
            }
        }
    }
}

/// What cannot be told apart is an end of the thread, and the same one whichever was met first.
#[test]
fn names_that_clash_are_refused() {
    let at = |site| place(ObjectKind::Stack, 4, 4, site);
    let first = at(0);
    let same = (1..1_000_000).find(|&site| at(site) == first).unwrap();
    for (one, two) in [(0, same), (same, 0)] {
        let mut tables = Tables::new("main");
        let stack = |site| block(ObjectKind::Stack, 4, site);
        tables.allocated(ThreadId::MAIN, 1, stack(one)).unwrap();
        let clash = tables.allocated(ThreadId::MAIN, 1, stack(two));
        assert_eq!(clash, Err(Exhausted::NameClash { what: "objects" }));
        // As different objects of one thread there is nothing wrong with them.
        tables.allocated(ThreadId::MAIN, 2, stack(two)).unwrap();
    }
    // Long chains of threads are hashed.
    let number = |last: u32| ThreadNumbers::of(&name(&[1000, 1000, last])).thread;
    let first = number(1);
    let same = (2..1_000_000).find(|&last| number(last) == first).unwrap();
    let mut tables = Tables::new("main");
    let parent = tables.thread(ThreadId::MAIN, 1000, "f").unwrap();
    let parent = tables.thread(parent, 1000, "g").unwrap();
    tables.thread(parent, 1, "h").unwrap();
    let clash = tables.thread(parent, same, "h");
    assert_eq!(clash, Err(Exhausted::NameClash { what: "threads" }));
}
