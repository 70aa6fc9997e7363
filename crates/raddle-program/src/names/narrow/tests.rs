use super::*;
use crate::ids::{SrcId, ThreadId};
use crate::tables::{NewObject, ObjectKind, Tables};
use std::collections::BTreeSet;

fn object(kind: ObjectKind, size: u64, site: u64) -> NewObject {
    NewObject {
        kind,
        size,
        align: 16,
        name: "o".into(),
        at: SrcId::NOWHERE,
        source_type: None,
        init: None,
        site,
    }
}

fn tables(globals: &[(u64, u64)], sites: impl IntoIterator<Item = u64>) -> Tables {
    let mut tables = Tables::new("main");
    tables.set_layout(Layout::new(globals.iter().copied(), sites));
    tables
}

#[test]
fn lists_of_small_products_have_numbers_without_gaps() {
    for (dimensions, limit) in [(2, 7), (3, 4)] {
        let most = 1 << (limit + 1);
        let mut lists: Vec<Vec<u32>> = vec![Vec::new()];
        for _ in 0..dimensions {
            let extend = |list: &Vec<u32>| {
                let list = list.clone();
                (1..most).map(move |part| [&list[..], &[part]].concat())
            };
            lists = lists.iter().flat_map(extend).collect();
        }
        let numbers: Vec<u64> = lists
            .iter()
            .filter_map(|list| direct(list, limit))
            .collect();
        let different: BTreeSet<u64> = numbers.iter().copied().collect();
        assert_eq!(different.len(), numbers.len());
        assert_eq!(numbers.len() as u64, count_of(dimensions, limit));
        assert_eq!(different.last(), Some(&(count_of(dimensions, limit) - 1)));
    }
}

#[test]
fn there_is_room_for_all_cells() {
    let end = CLASSES.iter().fold(u64::from(MADE), |end, class| {
        assert!(class.before + class.largest < class.cell && class.before.is_power_of_two());
        end.next_multiple_of(class.cell.into()) + u64::from(class.cell) * class.cells()
    });
    assert!(end <= u64::from(END), "{end:#x}");
    let mut ranges: Vec<Range<u32>> = REGIONS.iter().map(|region| region.at.clone()).collect();
    ranges.extend([NAMED, GLOBALS, MADE..END]);
    ranges.sort_by_key(|range| range.start);
    assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start));
}

#[test]
fn what_has_its_address_by_a_rule_goes_there_and_back() {
    let owner = |owner: u32, index: u32| u64::from(owner << COUNTER_BITS | index) << 32;
    for (owner, index) in [
        (FUNCTION_THREAD, 0),
        (FUNCTION_THREAD, 65_535),
        (PRIVATE_THREAD, 0),
        (PRIVATE_THREAD, MANY_FIRST - 1),
        (PRIVATE_THREAD, MANY_FIRST),
        (PRIVATE_THREAD, 2000),
        (PRIVATE_THREAD, FIRST_LOCAL + 3),
    ]
    .map(|(thread, index)| (owner(thread, index), index))
    {
        for offset in [0, 1, 1000] {
            let address = (owner | OFFSET_BIAS) + offset;
            let narrow = narrow_of_rule(address).flatten().unwrap();
            assert_eq!(wide_of_rule(narrow), Some(address), "{index}");
        }
        assert_eq!(
            narrow_of_rule((owner | OFFSET_BIAS) + (1 << 20)),
            Some(None)
        );
    }
    for number in [0, 7, 0xFF_FFFF, 0xFFFF_FFFF] {
        assert_eq!(wide_of_rule(number), Some(number.into()));
        assert_eq!(narrow_of_rule(number.into()), Some(Some(number)));
    }
}

/// All that programs of this kind usually make, whatever is met first.
#[test]
fn objects_have_cells_of_their_own() {
    let globals = [(4, 4), (100_000, 16), (0, 1), (8, 4096)];
    let sites: Vec<u64> = (1..20).map(|site| stable_hash([site])).collect();
    let mut made: Vec<(u32, u32, NewObject)> = Vec::new();
    for thread in 0..6 {
        for counter in 1..40 {
            for size in [0, 4, 8, 12, 24, 100] {
                made.push((thread, counter, object(ObjectKind::Heap, size, 0)));
            }
            if counter < 4 {
                made.push((thread, counter, object(ObjectKind::Heap, 4096, 0)));
            }
            for &site in sites.iter().take(8) {
                made.push((thread, counter, object(ObjectKind::Stack, 4, site)));
            }
        }
    }
    made.push((0, 1000, object(ObjectKind::Heap, 8, 0)));
    for align in [64, 256, 4096, 1 << 16] {
        let new = NewObject {
            align,
            ..object(ObjectKind::Heap, 60 + align, 0)
        };
        made.push((1, 50, new));
    }
    made.push((0, 3, object(ObjectKind::Heap, 20 << 20, 0)));
    made.push((0, 4, object(ObjectKind::Heap, 300_000, 0)));
    let narrow = |order: &mut dyn Iterator<Item = usize>| {
        let mut tables = tables(&globals, sites.clone());
        let threads: Vec<ThreadId> = (1..6)
            .map(|nth| tables.thread(ThreadId::MAIN, nth, "t").unwrap())
            .collect();
        let mut cells = vec![(0, 0); made.len()];
        for index in order {
            let (thread, counter, new) = made[index].clone();
            let (size, align) = (new.size, new.align);
            let thread = match thread {
                0 => ThreadId::MAIN,
                nth => threads[nth as usize - 1],
            };
            let object = tables.allocated(thread, counter, new).unwrap();
            let address = tables.address(object, 0);
            let first = tables.narrow(address).expect("it has a cell");
            assert!(u64::from(first).is_multiple_of(align));
            for offset in [-4, 0, 1, size as i64] {
                let address = tables.address(object, offset);
                let narrow = tables.narrow(address).unwrap();
                assert_eq!(narrow, first.wrapping_add_signed(offset as i32));
                assert_eq!(tables.widen(narrow), address);
            }
            assert_eq!(tables.narrow(tables.address(object, 1 << 28)), None);
            cells[index] = (first, size);
        }
        for (index, &(size, align)) in globals.iter().enumerate() {
            let new = NewObject {
                align,
                ..object(ObjectKind::Global, size, 0)
            };
            let object = tables.global(index as u32, new).unwrap();
            let first = tables.narrow(tables.address(object, 0)).unwrap();
            assert!(u64::from(first).is_multiple_of(align));
            assert_eq!(tables.widen(first), tables.address(object, 0));
            cells.push((first, size));
        }
        cells
    };
    let cells = narrow(&mut (0..made.len()));
    assert_eq!(cells, narrow(&mut (0..made.len()).rev()));
    let mut sorted = cells;
    sorted.sort_unstable();
    let is_apart = |pair: &[(u32, u64)]| u64::from(pair[0].0) + pair[0].1 < u64::from(pair[1].0);
    assert!(sorted.windows(2).all(is_apart));
}

/// Where there is no cell, or another object has it, there is no narrow address; never that of another object.
#[test]
fn what_has_no_cell_has_no_narrow_address() {
    let mut tables = tables(&[(600 << 20, 4), (4, 4)], []);
    for (index, has_cell) in [(0, false), (1, true)] {
        let size = if index == 0 { 600 << 20 } else { 4 };
        let global = tables
            .global(index, object(ObjectKind::Global, size, 0))
            .unwrap();
        let narrow = tables.narrow(tables.address(global, 0));
        assert_eq!(narrow.is_some(), has_cell);
    }
    let large = object(ObjectKind::Heap, 500 << 20, 0);
    let large = tables.allocated(ThreadId::MAIN, 1, large).unwrap();
    assert_eq!(tables.narrow(tables.address(large, 0)), None);
    // Of large blocks the size has no part in it.
    let [one, two] = [1 << 20, 2 << 20].map(|size| {
        let new = object(ObjectKind::Heap, size, 0);
        tables.allocated(ThreadId::MAIN, 2, new).unwrap()
    });
    let first = tables.narrow(tables.address(one, 0)).unwrap();
    assert_eq!(tables.narrow(tables.address(two, 0)), None);
    assert_eq!(tables.widen(first), tables.address(one, 0));
    // An address that nobody has is a number.
    assert_eq!(tables.widen(0xC000_0000), 0xC000_0000);
    // Nor have pointers of eight bytes anything to do with it.
    assert!(!Tables::new("main").is_ilp32());
}
