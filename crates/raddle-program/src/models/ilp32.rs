//! Which models know programs of the data model ILP32: what they read and write of the program's memory has the sizes that it has there.
//! The others are refused by name.

use super::{
    Model, atomics, c11, convert, environment, errno, heap, jumps, keys, locks, math, memory,
    process, pthread, random, semaphore, sort, stdio, strings, thread, time, verifier, waiting,
};

const TABLES: [&[Model]; 22] = [
    atomics::MODELS,
    c11::MODELS,
    convert::MODELS,
    environment::MODELS,
    errno::MODELS,
    heap::MODELS,
    jumps::MODELS,
    keys::MODELS,
    locks::MODELS,
    math::MODELS,
    memory::MODELS,
    process::MODELS,
    pthread::MODELS,
    random::MODELS,
    semaphore::MODELS,
    sort::MODELS,
    stdio::MODELS,
    strings::MODELS,
    thread::MODELS,
    time::MODELS,
    verifier::MODELS,
    waiting::MODELS,
];

/// Of these tables, those that do not.
const EXCEPT: [&str; 5] = [
    // Pointers to tables of pointers.
    "__ctype_b_loc",
    "__ctype_toupper_loc",
    "__ctype_tolower_loc",
    // Keep a pointer in the program's memory.
    "strtok_r",
    "__strtok_r",
];

/// Does the model know programs of the data model ILP32?
pub(crate) fn is_known(name: &str) -> bool {
    let mut models = TABLES.iter().copied().flatten();
    models.any(|model| model.name == name) && !EXCEPT.contains(&name)
}
