//! Variables of libraries that programs refer to.

use crate::fault::Stop;
use crate::interp::machine::Machine;

/// Room for a `FILE`. Nobody looks inside.
const FILE_SIZE: u64 = 216;

/// Does nobody ever write to this variable?
pub(crate) fn is_constant(name: &str) -> bool {
    matches!(
        name,
        "stdin" | "stdout" | "stderr" | "__libc_single_threaded"
    ) || super::stdexcept::is_constant(name)
}

/// The size of a variable that is declared with less than it has: descriptions of types.
pub(crate) fn size(name: &str) -> Option<u64> {
    const TYPE_INFO: u64 = 16;
    name.starts_with("_ZTI").then_some(TYPE_INFO)
}

/// The contents of a variable that a library defines, if it is known; zeros follow.
pub(crate) fn contents(machine: &mut Machine<'_>, name: &str) -> Result<Option<Vec<u8>>, Stop> {
    let stream = match name {
        "stdin" => "standard input",
        "stdout" => "standard output",
        "stderr" => "standard error",
        // There may always be another thread.
        "__libc_single_threaded" => return Ok(Some(Vec::new())),
        // What `std::call_once` hands to the function that it calls in a roundabout way.
        "_ZSt15__once_callable" | "_ZSt11__once_call" => return Ok(Some(Vec::new())),
        _ => return machine.library_variable(name),
    };
    let address = machine.named_global(stream, FILE_SIZE)?;
    Ok(Some(address.to_le_bytes().to_vec()))
}
