use super::*;
use crate::machine::{MemoryModel, Readiness};
use raddle_testing::generate::{GenOptions, Random, generate};
use rustc_hash::FxHashMap;

/// The number does not depend on the way, nor on where it was looked at before.
#[test]
fn contents_have_one_number() {
    for seed in 0..60 {
        let built = generate(seed, &GenOptions::default());
        let mut program = built.program();
        let mut random = Random::new(seed);
        let mut seen: FxHashMap<Vec<(usize, u8)>, MemoryNumber> = FxHashMap::default();
        let mut scratch = Vec::new();
        for _ in 0..40 {
            let mut machine = Machine::with_model(&program, MemoryModel::Sc);
            let (mut mark, mut number) = (Mark::default(), MemoryNumber::default());
            loop {
                let ready: Vec<ThreadId> = (0..machine.thread_count())
                    .map(ThreadId::from_index)
                    .filter(|&thread| machine.readiness(&program, thread) == Readiness::Ready)
                    .collect();
                if ready.is_empty() {
                    break;
                }
                let thread = random.pick(&ready);
                machine.step(&mut program, thread, &[]);
                if random.below(3) > 0 {
                    number = machine.memory_number(mark, number, &mut scratch);
                    mark = machine.mark();
                }
            }
            let number = machine.memory_number(mark, number, &mut scratch);
            let whole =
                machine.memory_number(Mark::default(), MemoryNumber::default(), &mut scratch);
            assert_eq!(number, whole, "seed {seed}");
            let first = program.tables().arena();
            let bytes = machine.memory.iter().take(machine.known).zip(first);
            let contents: Vec<(usize, u8)> = bytes
                .enumerate()
                .filter(|(_, (now, first))| now != first)
                .map(|(at, (now, _))| (at, *now))
                .collect();
            let known = *seen.entry(contents).or_insert(number);
            assert_eq!(number, known, "seed {seed}");
        }
        let mut numbers: Vec<u128> = seen.values().map(|number| number.0).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), seen.len(), "seed {seed}");
    }
}
