//! The exceptions of libstdc++: their classes, constructors and texts, and the functions by which its headers throw them.
//!
//! Classes of the library are declared in a module at most; their tables of virtual functions, and what these refer to, are made here. An
//! object has its table first, then a pointer to its text, if its class has one, then an error code.

use super::exceptions::refuse_where_asked;
use super::externs::{declare_function, declare_variable};
use super::{Model, ModelResult, Outcome, Pause, Script, model};
use crate::fault::Stop;
use crate::interp::machine::Machine;
use crate::interp::memory::read_bytes;
use crate::op::Order;
use crate::tables::Tables;
use raddle_ir::module::Symbol;
use raddle_ir::{Module, Type};

/// A class of the library.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Class {
    /// Mangled, as in `_ZTI…`.
    pub(crate) name: &'static str,
    pub(crate) base: Option<&'static str>,
    /// What `what` says where objects have no text.
    text: &'static str,
    size: u64,
}

const fn derived(name: &'static str, base: &'static str, text: &'static str, size: u64) -> Class {
    Class {
        name,
        base: Some(base),
        text,
        size,
    }
}

const EXCEPTION: &str = "St9exception";
/// A table, a text, a number and its category.
const TEXT: u64 = 8;
const CODE: u64 = 16;
const CATEGORY: u64 = 24;

macro_rules! classes {
    (
        plain: [$(($plain:literal, $base:literal, $text:literal)),* $(,)?],
        texts: [$(($name:literal, $parent:literal, $size:literal)),* $(,)?],
    ) => {
        const CLASSES: &[Class] = &[
            Class { name: EXCEPTION, base: None, text: "std::exception", size: 8 },
            Class { name: "St16nested_exception", base: None, text: "", size: 16 },
            $(derived($plain, $base, $text, 8),)*
            $(derived($name, $parent, "", $size),)*
        ];

        pub(super) const CLASS_MODELS: &[Model] = &[
            model("_ZNSt9exceptionD0Ev", delete_plain).capturing(&[0]),
            model("_ZNSt9exceptionD1Ev", nothing),
            model("_ZNSt9exceptionD2Ev", nothing),
            model("_ZNKSt9exception4whatEv", what_of_class),
            $(
                model(concat!("_ZN", $plain, "D0Ev"), delete_plain).capturing(&[0]),
                model(concat!("_ZN", $plain, "D1Ev"), nothing),
                model(concat!("_ZN", $plain, "D2Ev"), nothing),
                model(concat!("_ZNK", $plain, "4whatEv"), what_of_class),
            )*
            $(
                model(concat!("_ZN", $name, "C1EPKc"), construct),
                model(concat!("_ZN", $name, "C2EPKc"), construct),
                model(concat!("_ZN", $name, "C1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"), construct_of_string),
                model(concat!("_ZN", $name, "C2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"), construct_of_string),
                model(concat!("_ZN", $name, "C1ERKS_"), copy),
                model(concat!("_ZN", $name, "C2ERKS_"), copy),
                model(concat!("_ZN", $name, "C1EOS_"), copy),
                model(concat!("_ZN", $name, "C2EOS_"), copy),
                model(concat!("_ZN", $name, "aSERKS_"), assign),
                model(concat!("_ZN", $name, "aSEOS_"), assign),
                model(concat!("_ZN", $name, "D0Ev"), delete_with_text).capturing(&[0]),
                model(concat!("_ZN", $name, "D1Ev"), destroy_with_text),
                model(concat!("_ZN", $name, "D2Ev"), destroy_with_text),
                model(concat!("_ZNK", $name, "4whatEv"), what_of_object),
            )*
        ];
    };
}

classes! {
    plain: [
        ("St9bad_alloc", "St9exception", "std::bad_alloc"),
        ("St20bad_array_new_length", "St9bad_alloc", "std::bad_array_new_length"),
        ("St8bad_cast", "St9exception", "std::bad_cast"),
        ("St10bad_typeid", "St9exception", "std::bad_typeid"),
        ("St13bad_exception", "St9exception", "std::bad_exception"),
        ("St17bad_function_call", "St9exception", "bad_function_call"),
        ("St12bad_weak_ptr", "St9exception", "bad_weak_ptr"),
    ],
    texts: [
        ("St11logic_error", "St9exception", 16),
        ("St12domain_error", "St11logic_error", 16),
        ("St16invalid_argument", "St11logic_error", 16),
        ("St12length_error", "St11logic_error", 16),
        ("St12out_of_range", "St11logic_error", 16),
        ("St12future_error", "St11logic_error", 32),
        ("St13runtime_error", "St9exception", 16),
        ("St11range_error", "St13runtime_error", 16),
        ("St14overflow_error", "St13runtime_error", 16),
        ("St15underflow_error", "St13runtime_error", 16),
        ("St12system_error", "St13runtime_error", 32),
    ],
}

pub(super) const MODELS: &[Model] = &[
    model("_ZNSt16nested_exceptionD1Ev", destroy_nested),
    model("_ZNSt16nested_exceptionD2Ev", destroy_nested),
    model("_ZNSt16nested_exceptionD0Ev", delete_nested).capturing(&[0]),
    // what headers call
    model("_ZSt17__throw_bad_allocv", throw_plain),
    model("_ZSt16__throw_bad_castv", throw_plain),
    model("_ZSt18__throw_bad_typeidv", throw_plain),
    model("_ZSt21__throw_bad_exceptionv", throw_plain),
    model("_ZSt28__throw_bad_array_new_lengthv", throw_plain),
    model("_ZSt25__throw_bad_function_callv", throw_plain),
    model("__cxa_bad_cast", throw_plain),
    model("__cxa_bad_typeid", throw_plain),
    model("__cxa_throw_bad_array_new_length", throw_plain),
    model("__cxa_throw_bad_array_length", throw_plain),
    model("_ZSt19__throw_logic_errorPKc", throw_text),
    model("_ZSt20__throw_domain_errorPKc", throw_text),
    model("_ZSt24__throw_invalid_argumentPKc", throw_text),
    model("_ZSt20__throw_length_errorPKc", throw_text),
    model("_ZSt20__throw_out_of_rangePKc", throw_text),
    model("_ZSt24__throw_out_of_range_fmtPKcz", throw_text),
    model("_ZSt21__throw_runtime_errorPKc", throw_text),
    model("_ZSt19__throw_range_errorPKc", throw_text),
    model("_ZSt22__throw_overflow_errorPKc", throw_text),
    model("_ZSt23__throw_underflow_errorPKc", throw_text),
    model("_ZSt20__throw_system_errori", throw_system_error),
    model("_ZSt20__throw_future_errori", throw_future_error),
    // error codes
    model("_ZNSt3_V216generic_categoryEv", generic_category),
    model("_ZNSt3_V215system_categoryEv", system_category),
    model("_ZSt15future_categoryv", future_category),
    model(CATEGORY_FUNCTIONS[0], nothing),
    model(CATEGORY_FUNCTIONS[1], category_name),
    model(CATEGORY_FUNCTIONS[2], category_message),
    model(CATEGORY_FUNCTIONS[3], category_condition),
    model(CATEGORY_FUNCTIONS[4], category_is_condition),
    model(CATEGORY_FUNCTIONS[5], category_is_code),
];

/// Is it one of the functions that categories of errors are declared with?
pub(super) fn is_of_category(name: &str) -> bool {
    CATEGORY_FUNCTIONS.contains(&name)
}

/// What categories of errors are asked, under names of our own. (The message of old strings has no model.)
const CATEGORY_FUNCTIONS: [&str; 7] = [
    "std::error_category (destructor)",
    "std::error_category::name",
    "std::error_category::message",
    "std::error_category::default_error_condition",
    "std::error_category::equivalent (condition)",
    "std::error_category::equivalent (code)",
    "std::error_category::message of an old string",
];
/// Their order in the table of virtual functions.
const CATEGORY_TABLE: [usize; 8] = [0, 0, 1, 6, 2, 3, 4, 5];
const CATEGORIES: [&str; 3] = ["generic", "system", "future"];

/// A variable with all texts, one after the other, and one with the categories.
const TEXTS: &str = "texts of library classes";
const CATEGORY_OBJECTS: &str = "error categories";
/// The offset to the top, the type, two destructors and `what`.
const TABLE_SIZE: u64 = 40;
const TYPE_SIZE: u64 = 16;
/// The objects, and one table for all of them.
const CATEGORIES_SIZE: u64 = 8 * (CATEGORIES.len() + CATEGORY_TABLE.len()) as u64;

/// The class of the library with this mangled name.
pub(super) fn class(name: &str) -> Option<&'static Class> {
    CLASSES.iter().find(|class| class.name == name)
}

/// Declares what tables of virtual functions refer to, in modules that may throw: functions have their numbers from the start.
pub(crate) fn declare(module: &mut Module) {
    let throws = |name: &str| {
        matches!(
            name,
            "__cxa_throw" | "__cxa_begin_catch" | "__gxx_personality_v0" | "__dynamic_cast"
        ) || name.contains("__throw_")
    };
    if !module
        .functions
        .iter()
        .any(|it| it.is_declaration && throws(&it.name))
    {
        return;
    }
    for class in CLASSES {
        for name in class.virtual_functions().into_iter().flatten() {
            declare_virtual(module, &name);
        }
        declare_variable(module, &format!("_ZTI{}", class.name), TYPE_SIZE);
        declare_variable(module, &format!("_ZTV{}", class.name), TABLE_SIZE);
    }
    for name in CATEGORY_FUNCTIONS {
        declare_virtual(module, name);
    }
    let texts = texts().map(|text| text.len() as u64 + 1).sum();
    declare_variable(module, TEXTS, texts);
    declare_variable(module, CATEGORY_OBJECTS, CATEGORIES_SIZE);
}

/// Is it a variable that is declared here, and that nobody writes to?
pub(super) fn is_constant(name: &str) -> bool {
    name.starts_with("_ZTI")
        || name.starts_with("_ZTV")
        || name == TEXTS
        || name == CATEGORY_OBJECTS
}

fn texts() -> impl Iterator<Item = &'static str> {
    let of_classes = CLASSES.iter().flat_map(|class| [class.name, class.text]);
    of_classes.chain(CATEGORIES)
}

fn declare_virtual(module: &mut Module, name: &str) {
    let pointer = module.types.intern(Type::Ptr);
    declare_function(module, name, pointer, &[pointer]);
}

impl Class {
    /// The two destructors and `what`, as the table has them.
    fn virtual_functions(&self) -> [Option<String>; 3] {
        let name = self.name;
        let what = (name != "St16nested_exception").then(|| {
            // Those that have a text inherit it from two classes.
            let owner = match self.base {
                Some(base)
                    if !matches!(name, "St12future_error")
                        && self.size > 8
                        && base != EXCEPTION =>
                {
                    if is_logic_error(self) {
                        "St11logic_error"
                    } else {
                        "St13runtime_error"
                    }
                }
                _ => name,
            };
            format!("_ZNK{owner}4whatEv")
        });
        [
            Some(format!("_ZN{name}D1Ev")),
            Some(format!("_ZN{name}D0Ev")),
            what,
        ]
    }
}

fn is_logic_error(class: &Class) -> bool {
    class.base == Some("St11logic_error")
}

impl Machine<'_> {
    fn symbol_address(&mut self, name: &str) -> Result<Option<u64>, Stop> {
        match self.world.module.symbols.get(name) {
            Some(&Symbol::Function(function)) => Ok(Some(Tables::function_address(function.0))),
            Some(&Symbol::Global(global)) => self.global_address(global).map(Some),
            _ => Ok(None),
        }
    }

    fn library_address(&mut self, name: &str) -> Result<u64, Stop> {
        Ok(self.symbol_address(name)?.unwrap_or(0))
    }

    /// The description of a class of the library.
    pub(crate) fn type_of_library_class(&mut self, name: &str) -> Result<u64, Stop> {
        self.library_address(&format!("_ZTI{name}"))
    }

    /// The address of a text that the library has.
    fn library_text(&mut self, wanted: &str) -> Result<u64, Stop> {
        let before = texts().take_while(|&text| text != wanted);
        let offset: u64 = before.map(|text| text.len() as u64 + 1).sum();
        Ok(self.library_address(TEXTS)? + offset)
    }

    /// What objects of a class of the library point to: the first function in its table.
    fn table_of_library_class(&mut self, class: &Class) -> Result<u64, Stop> {
        Ok(self.library_address(&format!("_ZTV{}", class.name))? + 16)
    }

    /// The contents of a variable that the library has for its classes.
    pub(super) fn library_variable(&mut self, name: &str) -> Result<Option<Vec<u8>>, Stop> {
        let mut words = Vec::new();
        if let Some(class) = name.strip_prefix("_ZTV").and_then(class) {
            words.extend([0, self.type_of_library_class(class.name)?]);
            for function in class.virtual_functions() {
                let function = function.unwrap_or_default();
                words.push(self.library_address(&function)?);
            }
        } else if let Some(class) = name.strip_prefix("_ZTI").and_then(class) {
            words.extend([0, self.library_text(class.name)?]);
        } else if name == CATEGORY_OBJECTS {
            let objects = self.library_address(CATEGORY_OBJECTS)?;
            let table = objects + 8 * CATEGORIES.len() as u64;
            words.extend(CATEGORIES.map(|_| table));
            for at in CATEGORY_TABLE {
                words.push(self.library_address(CATEGORY_FUNCTIONS[at])?);
            }
        } else if name == TEXTS {
            let text = texts().flat_map(|text| text.bytes().chain([0]));
            return Ok(Some(text.collect()));
        } else {
            return Ok(None);
        }
        Ok(Some(words.into_iter().flat_map(u64::to_le_bytes).collect()))
    }

    fn category(&mut self, index: usize) -> Result<u64, Stop> {
        Ok(self.library_address(CATEGORY_OBJECTS)? + 8 * index as u64)
    }
}

// ---- objects

impl Script<'_, '_> {
    /// A copy of `len` characters in memory of its own, with an end.
    fn own_text(&mut self, from: u64, len: u64) -> Result<u64, Pause> {
        const WORD: usize = 8;
        let mut bytes = self.bytes_at(from, len)?;
        bytes.resize((bytes.len() + 1).next_multiple_of(WORD), 0);
        let text = self.allocate(bytes.len() as u64, 16)?;
        if text == 0 {
            return Err(self.unsupported("a text of that length"));
        }
        for (index, word) in bytes.chunks(WORD).enumerate() {
            let place = text.wrapping_add((WORD * index) as u64);
            let word = read_bytes(word, 0, 8);
            self.store(place, 8, word, Order::Plain)?;
        }
        Ok(text)
    }

    fn text_length(&mut self, text: u64) -> Result<u64, Pause> {
        Ok(self.string(text)?.len() as u64)
    }

    /// Throws an object of a class of the library, with a text and an error code where it has them.
    pub(super) fn throw_library(
        &mut self,
        name: &str,
        text: Option<u64>,
        code: Option<(i32, usize)>,
    ) -> ModelResult {
        refuse_where_asked(self)?;
        let Some(class) = class(name) else {
            return Err(self.unsupported("an exception that is not known"));
        };
        let object = self.new_exception(class.size)?;
        let table = self.machine.table_of_library_class(class)?;
        self.store(object, 8, table, Order::Plain)?;
        if class.size > TEXT {
            let from = match text {
                Some(text) => text,
                None => self.machine.library_text("")?,
            };
            let len = self.text_length(from)?;
            let own = self.own_text(from, len)?;
            self.store(object + TEXT, 8, own, Order::Plain)?;
        }
        if let Some((number, category)) = code {
            let category = self.machine.category(category)?;
            let number = u64::from(number.cast_unsigned());
            self.store(object + CODE, 4, number, Order::Plain)?;
            self.store(object + CATEGORY, 8, category, Order::Plain)?;
        }
        let type_info = self.machine.type_of_library_class(name)?;
        let destructor = self.machine.library_address(&format!("_ZN{name}D1Ev"))?;
        self.throw_object(object, type_info, destructor)
    }

    /// What an exception says of itself, if it is one of those that say something.
    pub(super) fn what(&mut self, type_info: u64, object: u64) -> Result<String, Pause> {
        let exception = self.machine.type_of_library_class(EXCEPTION)?;
        let object = match self.caught_as(exception, type_info, object) {
            Ok(Some(object)) => object,
            Ok(None) | Err(Pause::Stop(_)) => return Ok(String::new()),
            Err(pause) => return Err(pause),
        };
        let table = self.load(object, 8, Order::Plain)?;
        let what = self.load(table.wrapping_add(16), 8, Order::Plain)?;
        let text = self.call(what, &[object])?;
        self.text_in_pieces(text)
    }

    /// [`Script::text`] by accesses that are as wide as they can be.
    fn text_in_pieces(&mut self, text: u64) -> Result<String, Pause> {
        const LONGEST: usize = 1000;
        let size = match self.object_at(text) {
            Some((object, _)) => self.tables().object_info(object).size,
            None => return self.text(text),
        };
        let mut bytes = Vec::new();
        while !bytes.contains(&0) && bytes.len() < LONGEST {
            let at = text.wrapping_add(bytes.len() as u64);
            let offset = self
                .object_at(at)
                .map_or(0, |(_, offset)| offset)
                .cast_unsigned();
            let rest = size.saturating_sub(offset);
            let fits = |width: &&u8| {
                let width = u64::from(**width);
                width <= rest && offset.is_multiple_of(width)
            };
            let width = *[8, 4, 2].iter().find(fits).unwrap_or(&1);
            let value = self.load(at, width, Order::Plain)?;
            bytes.extend(&value.to_le_bytes()[..usize::from(width)]);
        }
        let end = bytes.iter().position(|&byte| byte == 0);
        bytes.truncate(end.unwrap_or(LONGEST));
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The class whose member function is called: `_ZN…` up to what is done.
    fn class_of_function(&self) -> &'static Class {
        let name = self.function_name();
        let name = name.strip_prefix("_ZNK").or(name.strip_prefix("_ZN"));
        let rest = name.unwrap_or_default();
        let found = CLASSES.iter().filter(|class| rest.starts_with(class.name));
        let longest = found.max_by_key(|class| class.name.len());
        longest.unwrap_or(&CLASSES[0])
    }
}

fn nothing(_: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Void)
}

fn delete_plain(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.free(cx.arg(0))?;
    Ok(Outcome::Void)
}

/// `(this, text)`.
fn construct(cx: &mut Script<'_, '_>) -> ModelResult {
    let len = cx.text_length(cx.arg(1))?;
    construct_with(cx, cx.arg(1), len)
}

/// `(this, string)`: a string begins with its characters and their number.
fn construct_of_string(cx: &mut Script<'_, '_>) -> ModelResult {
    let from = cx.load(cx.arg(1), 8, Order::Plain)?;
    let len = cx.load(cx.arg(1).wrapping_add(8), 8, Order::Plain)?;
    construct_with(cx, from, len)
}

fn construct_with(cx: &mut Script<'_, '_>, from: u64, len: u64) -> ModelResult {
    let class = cx.class_of_function();
    let table = cx.machine.table_of_library_class(class)?;
    cx.store(cx.arg(0), 8, table, Order::Plain)?;
    let text = cx.own_text(from, len)?;
    cx.store(cx.arg(0).wrapping_add(TEXT), 8, text, Order::Plain)?;
    Ok(Outcome::Void)
}

/// `(this, other)`.
fn copy(cx: &mut Script<'_, '_>) -> ModelResult {
    let from = cx.load(cx.arg(1).wrapping_add(TEXT), 8, Order::Plain)?;
    let class = cx.class_of_function();
    if class.size > CODE {
        let (to, other) = (cx.arg(0).wrapping_add(CODE), cx.arg(1).wrapping_add(CODE));
        cx.copy_overlapping(to, other, class.size - CODE)?;
    }
    let len = cx.text_length(from)?;
    construct_with(cx, from, len)
}

fn assign(cx: &mut Script<'_, '_>) -> ModelResult {
    let from = cx.load(cx.arg(1).wrapping_add(TEXT), 8, Order::Plain)?;
    let old = cx.load(cx.arg(0).wrapping_add(TEXT), 8, Order::Plain)?;
    let len = cx.text_length(from)?;
    let text = cx.own_text(from, len)?;
    cx.store(cx.arg(0).wrapping_add(TEXT), 8, text, Order::Plain)?;
    cx.free(old)?;
    Ok(Outcome::Return(cx.arg(0)))
}

fn destroy_with_text(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = cx.load(cx.arg(0).wrapping_add(TEXT), 8, Order::Plain)?;
    cx.free(text)?;
    Ok(Outcome::Void)
}

fn delete_with_text(cx: &mut Script<'_, '_>) -> ModelResult {
    destroy_with_text(cx)?;
    delete_plain(cx)
}

fn what_of_class(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = cx.class_of_function().text;
    Ok(Outcome::Return(cx.machine.library_text(text)?))
}

fn what_of_object(cx: &mut Script<'_, '_>) -> ModelResult {
    let text = cx.load(cx.arg(0).wrapping_add(TEXT), 8, Order::Plain)?;
    Ok(Outcome::Return(text))
}

/// A nested exception is a table and an `exception_ptr`.
fn destroy_nested(cx: &mut Script<'_, '_>) -> ModelResult {
    cx.release_pointer(cx.arg(0).wrapping_add(8))?;
    Ok(Outcome::Void)
}

fn delete_nested(cx: &mut Script<'_, '_>) -> ModelResult {
    destroy_nested(cx)?;
    delete_plain(cx)
}

// ---- functions that throw

/// Functions whose names say what they throw.
fn throw_plain(cx: &mut Script<'_, '_>) -> ModelResult {
    let name = cx.function_name();
    let class = match name {
        "__cxa_throw_bad_array_length" => Some("St20bad_array_new_length"),
        _ => CLASSES
            .iter()
            .filter(|class| class.size == TEXT && name.contains(short(class)))
            .map(|class| class.name)
            .max_by_key(|name| name.len()),
    };
    cx.throw_library(class.unwrap_or(EXCEPTION), None, None)
}

/// `(text)`.
fn throw_text(cx: &mut Script<'_, '_>) -> ModelResult {
    let name = cx.function_name();
    let class = CLASSES
        .iter()
        .find(|class| class.size == CODE && name.contains(short(class)));
    let class = class.map_or(EXCEPTION, |class| class.name);
    cx.throw_library(class, Some(cx.arg(0)), None)
}

/// The name in the source.
fn short(class: &Class) -> &'static str {
    class
        .name
        .trim_start_matches("St")
        .trim_start_matches(|c: char| c.is_ascii_digit())
}

fn throw_system_error(cx: &mut Script<'_, '_>) -> ModelResult {
    let number = cx.arg_i32(0);
    cx.throw_library("St12system_error", None, Some((number, 0)))
}

fn throw_future_error(cx: &mut Script<'_, '_>) -> ModelResult {
    let number = cx.arg_i32(0);
    cx.throw_library("St12future_error", None, Some((number, 2)))
}

// ---- error codes

fn generic_category(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(cx.machine.category(0)?))
}

fn system_category(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(cx.machine.category(1)?))
}

fn future_category(cx: &mut Script<'_, '_>) -> ModelResult {
    Ok(Outcome::Return(cx.machine.category(2)?))
}

/// Which category an object is.
fn category_index(cx: &mut Script<'_, '_>, object: u64) -> Result<usize, Pause> {
    let first = cx.machine.category(0)?;
    let index = object.wrapping_sub(first) / 8;
    Ok((index as usize).min(CATEGORIES.len() - 1))
}

fn category_name(cx: &mut Script<'_, '_>) -> ModelResult {
    let index = category_index(cx, cx.arg(0))?;
    Ok(Outcome::Return(cx.machine.library_text(CATEGORIES[index])?))
}

/// `(result, this, number)`: a string.
fn category_message(cx: &mut Script<'_, '_>) -> ModelResult {
    let (result, category) = (cx.arg(0), cx.arg(1));
    let number = cx.arg_i32(2);
    let text = match (category_index(cx, category)?, number) {
        (2, 1) => "Future already retrieved".to_owned(),
        (2, 2) => "Promise already satisfied".to_owned(),
        (2, 3) => "No associated state".to_owned(),
        (2, 4) => "Broken promise".to_owned(),
        (2, _) => "Unknown error".to_owned(),
        _ => format!("error {number}"),
    };
    cx.store_string(result, &text)?;
    Ok(Outcome::Void)
}

/// `(this, number)`: a number and its category.
fn category_condition(cx: &mut Script<'_, '_>) -> ModelResult {
    let number = cx.arg(1) & 0xFFFF_FFFF;
    Ok(Outcome::Values(vec![number, cx.arg(0)]))
}

/// `(this, number, condition)`.
fn category_is_condition(cx: &mut Script<'_, '_>) -> ModelResult {
    equals(cx, cx.arg(2), cx.arg(1))
}

/// `(this, code, number)`.
fn category_is_code(cx: &mut Script<'_, '_>) -> ModelResult {
    equals(cx, cx.arg(1), cx.arg(2))
}

fn equals(cx: &mut Script<'_, '_>, code: u64, number: u64) -> ModelResult {
    let value = cx.load(code, 4, Order::Plain)?;
    let category = cx.load(code.wrapping_add(8), 8, Order::Plain)?;
    let is_same = value == number & 0xFFFF_FFFF && category == cx.arg(0);
    Ok(Outcome::Return(u64::from(is_same)))
}

impl Script<'_, '_> {
    /// Makes a `std::string`: characters, their number, and room for fifteen of them, or how many there is room for elsewhere.
    fn store_string(&mut self, at: u64, text: &str) -> Result<(), Pause> {
        const ROOM: usize = 15;
        let bytes = text.as_bytes();
        let own = at.wrapping_add(16);
        let characters = if bytes.len() <= ROOM {
            own
        } else {
            self.store(own, 8, bytes.len() as u64, Order::Plain)?;
            self.allocate(bytes.len() as u64 + 1, 16)?
        };
        for (offset, &byte) in bytes.iter().chain(&[0]).enumerate() {
            let place = characters.wrapping_add(offset as u64);
            self.store(place, 1, u64::from(byte), Order::Plain)?;
        }
        self.store(at, 8, characters, Order::Plain)?;
        self.store(at.wrapping_add(8), 8, bytes.len() as u64, Order::Plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_classes_themselves() {
        for known in CLASSES {
            assert!(
                known.base.is_none_or(|base| class(base).is_some()),
                "{}",
                known.name
            );
            let length: String = known.name[2..]
                .chars()
                .take_while(char::is_ascii_digit)
                .collect();
            assert_eq!(length.parse(), Ok(short(known).len()), "{}", known.name);
        }
    }

    #[test]
    fn tables_refer_to_models() {
        for known in CLASSES {
            for name in known.virtual_functions().into_iter().flatten() {
                assert!(super::super::lookup(&name).is_some(), "{name}");
            }
        }
    }
}
