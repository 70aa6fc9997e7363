//! All states in which a program can end, by going through every state of the machine once. Unlike [`super::enumerate`] it
//! knows nothing of dependence or of classes, and it works under every memory model.

use raddle_judge::interleavings::{other_choices, possible};
use raddle_memory::{Machine, MemoryModel};
use raddle_program::Program;
use rustc_hash::FxHashSet;

/// Calls `f` once for each state of the machine in which nothing more can happen.
pub fn for_each_end(
    program: &mut Program,
    memory: MemoryModel,
    mut f: impl FnMut(&mut Program, &mut Machine),
) {
    let machine = Machine::with_model(program, memory);
    let mut seen = FxHashSet::default();
    let mut open = vec![machine];
    while let Some(mut machine) = open.pop() {
        if !seen.insert(machine.key(program)) {
            continue;
        }
        let next = possible(program, &mut machine);
        if next.is_empty() {
            f(program, &mut machine);
            continue;
        }
        let mark = machine.mark();
        for next in next {
            let mut choices = Some(Vec::new());
            while let Some(taken) = choices {
                next.step(program, &mut machine, &taken);
                choices = other_choices(&machine);
                open.push(machine.clone());
                machine.undo_to(mark);
            }
        }
    }
}
