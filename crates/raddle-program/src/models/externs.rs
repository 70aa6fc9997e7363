//! Variables of libraries that programs refer to.

use crate::fault::Stop;
use crate::interp::machine::Machine;
use raddle_ir::module::{Global, Symbol};
use raddle_ir::{FuncId, Function, GlobalId, Module, Type, TypeId};

/// Room for a `FILE`, where nobody looks inside, and for the end of a list, of zeros.
const FILE_SIZE: u64 = 216;

/// Does nobody ever write to this variable?
pub(crate) fn is_constant(name: &str) -> bool {
    matches!(
        name,
        "stdin" | "stdout" | "stderr" | "__libc_single_threaded"
    ) || name == super::rust::OUTPUT_TABLE
        || super::stdexcept::is_constant(name)
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
        "environ" | "__environ" if super::environment::is_empty_for_good(machine) => "environment",
        super::rust::OUTPUT_TABLE => return Ok(Some(machine.output_table())),
        _ => return machine.library_variable(name),
    };
    let address = machine.named_global(stream, FILE_SIZE)?;
    let number = machine.number_of(address)?;
    let word = machine.word_size() as usize;
    Ok(Some(number.to_le_bytes()[..word].to_vec()))
}

/// Declares a variable of so many bytes that nobody writes to.
pub(super) fn declare_variable(module: &mut Module, name: &str, size: u64) {
    if module.symbols.contains_key(name) {
        return;
    }
    let element = module.types.intern(Type::Int(8));
    let ty = module.types.intern(Type::Array { element, len: size });
    let id = GlobalId::from_index(module.globals.len());
    module.globals.push(Global {
        name: name.into(),
        ty,
        initializer: None,
        is_constant: true,
        thread_local: false,
        align: 16,
        source_type: None,
        source_name: None,
        declared_at: None,
    });
    module.symbols.insert(name.into(), Symbol::Global(id));
}

/// Declares a function, which has a model.
pub(super) fn declare_function(module: &mut Module, name: &str, ret: TypeId, params: &[TypeId]) {
    if module.symbols.contains_key(name) {
        return;
    }
    let ty = module.types.intern(Type::Function {
        ret,
        params: params.into(),
        varargs: false,
    });
    let id = FuncId::from_index(module.functions.len());
    module.functions.push(Function {
        name: name.into(),
        ty,
        is_declaration: true,
        param_nocapture: vec![false; params.len()],
        param_byval: vec![None; params.len()],
        defined_at: None,
    });
    module.symbols.insert(name.into(), Symbol::Function(id));
}
