//! The tests of a compiled test crate, found in its IR, and the program that runs one of them.
//!
//! `cargo/test/lib.rs` defines what is read here: the table that rustc makes consists of its `TestDescAndFn`.

use super::irtext::{IrText, name_at};
use rustc_hash::FxHashMap;

/// The path of `test::test_main_static`, as both ways of mangling spell it.
const STARTS_TESTS: &str = "4test16test_main_static";
/// The variable that says which test is run.
const SELECTED: &str = "RADDLE_TEST";

/// The variable that says that a failure of some execution is what is expected.
const SOME_FAILS: &str = "@RADDLE_SOME_EXECUTION_FAILS = global [1 x i8] ";
/// Parts of the names of functions that run a model of loom's, or what shuttle calls a test.
const MODELS: [&str; 2] = ["4loom5model", "7shuttle5model"];
/// How a program begins that is expected to fail.
const FAILS: &str = "; expected: some execution fails\n";

/// Offsets in `TestDescAndFn`.
mod offset {
    pub(super) const NAME: usize = 8;
    pub(super) const SOURCE_FILE: usize = 24;
    pub(super) const START_LINE: usize = 40;
    pub(super) const SHOULD_PANIC: usize = 48;
    pub(super) const EXPECTED: usize = 56;
    pub(super) const IGNORE: usize = 72;
    pub(super) const IGNORE_MESSAGE: usize = 80;
}

/// A test as the compiler describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Test {
    /// `module::function`.
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) line: u64,
    pub(crate) should_panic: bool,
    /// What the panic's message contains.
    pub(crate) expected_panic: Option<String>,
    /// With the reason, which may be empty.
    pub(crate) ignored: Option<String>,
    /// The constant that describes it.
    symbol: String,
}

#[cfg(test)]
impl Test {
    /// A test that should panic, with this text.
    pub(crate) fn should_panic(expected: Option<&str>) -> Self {
        Self {
            name: "panics".to_owned(),
            file: "src/lib.rs".to_owned(),
            line: 1,
            should_panic: true,
            expected_panic: expected.map(str::to_owned),
            ignored: None,
            symbol: "test".to_owned(),
        }
    }
}

/// Why no tests can be read from a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable(pub(crate) String);

/// The tests of a module, in the order of their names as the compiler sorts them.
pub(crate) fn tests(module: &IrText<'_>) -> Result<Vec<Test>, Unreadable> {
    let table = table(module).ok_or_else(|| {
        Unreadable("nothing in it starts tests: is it built with `harness = false`?".to_owned())
    })?;
    let Some(table) = table.symbol else {
        return Ok(Vec::new());
    };
    let entries = constant(module, &table)?;
    let mut tests = Vec::new();
    for symbol in entries.pointers.values() {
        tests.push(test(module, symbol)?);
    }
    Ok(tests)
}

/// The module that runs a single test, without the others.
pub(crate) fn program_of(module: &IrText<'_>, test: &Test) -> Result<String, Unreadable> {
    let missing = |what: &str| Unreadable(format!("{what} is missing"));
    let table = table(module).ok_or_else(|| missing("the table of tests"))?;
    let selected = module
        .definition(SELECTED)
        .ok_or_else(|| missing(SELECTED))?;
    let selected = selected.replacen(
        "[8 x i8] zeroinitializer",
        &format!("ptr @{}", quoted(&test.symbol)),
        1,
    );
    let start = table
        .caller
        .replacen(&table.argument, "(ptr align 8 null, i64 0)", 1);
    let mut replaced = FxHashMap::default();
    replaced.insert(SELECTED, selected);
    replaced.insert(table.caller_name, start);
    let mut program = module.reached_from(&["main"], &replaced);
    if test.should_panic && runs_a_model(&program) {
        let unset = format!("{SOME_FAILS}zeroinitializer");
        if !program.contains(&unset) {
            return Err(missing(SOME_FAILS));
        }
        program = program.replacen(&unset, &format!("{SOME_FAILS}c\"\\01\""), 1);
        program.insert_str(0, FAILS);
    }
    Ok(program)
}

/// Is this the program of a test that passes if some execution fails?
pub(crate) fn is_expected_to_fail(program: &str) -> bool {
    program.starts_with(FAILS)
}

/// Does a test run a model of loom's, or the like of shuttle's? Then it panics if one of the model's executions does.
fn runs_a_model(program: &str) -> bool {
    let functions = program.lines().filter(|line| line.starts_with("define "));
    functions
        .filter_map(|line| Some(name_at(line, line.find('@')? + 1).0))
        .any(|name| MODELS.iter().any(|part| name.contains(part)))
}

fn quoted(symbol: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-$._".contains(&byte);
    match symbol.bytes().all(plain) {
        true => symbol.to_owned(),
        false => format!("\"{symbol}\""),
    }
}

/// Where the table of tests is handed over.
struct Table<'t> {
    /// The function that does it, and its text.
    caller_name: &'t str,
    caller: &'t str,
    /// `(ptr align 8 @table, i64 5)`
    argument: String,
    /// None if there are no tests.
    symbol: Option<String>,
}

fn table<'t>(module: &IrText<'t>) -> Option<Table<'t>> {
    module.definitions().find_map(|text| {
        if !text.starts_with("define ") {
            return None;
        }
        let (caller_name, _) = name_at(text, text.find('@')? + 1);
        // It has a twin for another way to start tests, which passes on its own parameters.
        if caller_name.contains(STARTS_TESTS) {
            return None;
        }
        let call = text
            .match_indices(STARTS_TESTS)
            .map(|(at, _)| &text[at..])
            .find(|rest| {
                rest.split('\n')
                    .next()
                    .is_some_and(|line| line.contains("(ptr "))
            })?;
        let argument = &call[call.find('(')?..];
        let end = argument.find(", !dbg").or_else(|| argument.find('\n'))?;
        let argument = argument[..end].trim_end();
        let symbol = argument
            .find('@')
            .map(|at| name_at(argument, at + 1).0.to_owned());
        Some(Table {
            caller_name,
            caller: text,
            argument: argument.to_owned(),
            symbol,
        })
    })
}

fn test(module: &IrText<'_>, symbol: &str) -> Result<Test, Unreadable> {
    let description = constant(module, symbol)?;
    let text = |offset| string(module, &description, offset);
    let ignored = description.bytes.get(offset::IGNORE) == Some(&1);
    let message = match description.pointers.contains_key(&offset::IGNORE_MESSAGE) {
        true => text(offset::IGNORE_MESSAGE)?,
        false => String::new(),
    };
    let expected = description.pointers.contains_key(&offset::EXPECTED);
    Ok(Test {
        expected_panic: expected.then(|| text(offset::EXPECTED)).transpose()?,
        name: text(offset::NAME)?,
        file: text(offset::SOURCE_FILE)?,
        line: description.number(offset::START_LINE),
        should_panic: description.bytes.get(offset::SHOULD_PANIC) != Some(&0),
        ignored: ignored.then_some(message),
        symbol: symbol.to_owned(),
    })
}

/// A `&'static str`: a pointer and a length.
fn string(module: &IrText<'_>, at: &Bytes, offset: usize) -> Result<String, Unreadable> {
    let length = usize::try_from(at.number(offset + 8)).unwrap_or(usize::MAX);
    if length == 0 {
        return Ok(String::new());
    }
    let unknown = || {
        Unreadable(format!(
            "no text at offset {offset} of a test's description"
        ))
    };
    let symbol = at.pointers.get(&offset).ok_or_else(unknown)?;
    let bytes = constant(module, symbol)?.bytes;
    let text = bytes.get(..length).ok_or_else(unknown)?;
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// The contents of a constant.
#[derive(Default)]
struct Bytes {
    /// Zero where there is a pointer, or nothing at all.
    bytes: Vec<u8>,
    pointers: std::collections::BTreeMap<usize, String>,
}

impl Bytes {
    fn number(&self, offset: usize) -> u64 {
        let bytes = self.bytes.get(offset..offset + 8);
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, u64::from_le_bytes)
    }
}

/// Reads a constant as rustc writes data: a packed struct, or an array, of byte arrays and pointers.
fn constant(module: &IrText<'_>, symbol: &str) -> Result<Bytes, Unreadable> {
    let unknown = || Unreadable(format!("the constant @{symbol} has an unknown shape"));
    let text = module.definition(symbol).ok_or_else(unknown)?;
    let value = text.find(" constant ").ok_or_else(unknown)? + " constant ".len();
    let text = &text[value..];
    if text.starts_with("ptr ") {
        // A table of one.
        let mut bytes = Bytes::default();
        let end = text.find(", align").unwrap_or(text.len());
        read_fields(&text[..end], &mut bytes).ok_or_else(unknown)?;
        return Ok(bytes);
    }
    // Behind the type, which has the same brackets as the value.
    let type_end = closing(text).ok_or_else(unknown)?;
    let mut bytes = Bytes::default();
    let value = text[type_end..].trim_start();
    if value.starts_with("c\"") {
        read_string(value, &mut bytes.bytes).ok_or_else(unknown)?;
        return Ok(bytes);
    }
    let end = closing(value).ok_or_else(unknown)?;
    read_fields(&value[..end], &mut bytes).ok_or_else(unknown)?;
    Ok(bytes)
}

/// Where the bracket that a text begins with is closed.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_string = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'<' | b'{' | b'[' => depth += 1,
            b'>' | b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// `<{ [8 x i8] c"…", ptr @x, [4 x i8] undef }>` or `[ptr @x, ptr @y]`.
fn read_fields(text: &str, into: &mut Bytes) -> Option<()> {
    let inner = text
        .trim_start_matches(['<', '{'])
        .trim_end_matches(['>', '}'])
        .trim();
    let is_array = inner.starts_with("[ptr ");
    let mut rest = if is_array {
        inner.strip_prefix('[')?.strip_suffix(']')?
    } else {
        inner
    };
    while !rest.is_empty() {
        if let Some(value) = rest.strip_prefix("ptr ") {
            let at = into.bytes.len();
            into.bytes.resize(at + 8, 0);
            rest = if let Some(name) = value.strip_prefix('@') {
                let (name, end) = name_at(name, 0);
                into.pointers.insert(at, name.to_owned());
                &value[end + 1..]
            } else {
                value.strip_prefix("null")?
            };
        } else {
            let count = rest.strip_prefix('[')?;
            let end = count.find(" x i8] ")?;
            let length: usize = count[..end].parse().ok()?;
            let value = &count[end + " x i8] ".len()..];
            rest = if value.starts_with("c\"") {
                let end = read_string(value, &mut into.bytes)?;
                &value[end..]
            } else {
                into.bytes.resize(into.bytes.len() + length, 0);
                let words = ["zeroinitializer", "undef", "poison"];
                words.iter().find_map(|word| value.strip_prefix(word))?
            };
        }
        rest = rest.trim_start_matches([',', ' ']);
    }
    Some(())
}

/// `c"text\00"`; returns where it ends.
fn read_string(text: &str, into: &mut Vec<u8>) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 2;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' if bytes.get(at + 1) == Some(&b'\\') => {
                into.push(b'\\');
                at += 2;
            }
            b'\\' => {
                into.push(u8::from_str_radix(text.get(at + 1..at + 3)?, 16).ok()?);
                at += 3;
            }
            &byte => {
                into.push(byte);
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = r#"
@name_a = private unnamed_addr constant [8 x i8] c"tests::a", align 1
@name_b = private unnamed_addr constant [8 x i8] c"tests::b", align 1
@file = private unnamed_addr constant [10 x i8] c"src/lib.rs", align 1
@slow = private unnamed_addr constant [4 x i8] c"slow", align 1
@test_a = private unnamed_addr constant <{ [8 x i8], ptr, [8 x i8], ptr, [20 x i8], [20 x i8], [1 x i8], [7 x i8], ptr, [35 x i8], ptr }> <{ [8 x i8] zeroinitializer, ptr @name_a, [8 x i8] c"\08\00\00\00\00\00\00\00", ptr @file, [20 x i8] c"\0A\00\00\00\00\00\00\00\15\00\00\00\00\00\00\00\00\00\00\00", [20 x i8] undef, [1 x i8] c"\01", [7 x i8] undef, ptr @slow, [35 x i8] c"\04\00\00\00\00\00\00\00\08\00\00\00\00\00\00\00\15\00\00\00\00\00\00\00\0F\00\00\00\00\00\00\00\00\00\00", ptr @run_a }>, align 8
@test_b = private unnamed_addr constant <{ [8 x i8], ptr, [8 x i8], ptr, [20 x i8], [20 x i8], [1 x i8], [7 x i8], [8 x i8], ptr }> <{ [8 x i8] zeroinitializer, ptr @name_b, [8 x i8] c"\08\00\00\00\00\00\00\00", ptr @file, [20 x i8] c"\0A\00\00\00\00\00\00\00\\\00\00\00\00\00\00\00\01\00\00\00", [20 x i8] undef, [1 x i8] zeroinitializer, [7 x i8] undef, [8 x i8] zeroinitializer, ptr @run_b }>, align 8
@table = private unnamed_addr constant <{ ptr, ptr }> <{ ptr @test_a, ptr @test_b }>, align 8
@RADDLE_TEST = global [8 x i8] zeroinitializer, align 8
define void @run_a() {
  ret void
}
define void @run_b() {
  ret void
}
define i32 @main() {
  call void @_ZN4test16test_main_static17h52E(ptr align 8 @table, i64 2), !dbg !9
  ret i32 0
}
define void @_ZN4test16test_main_static17h52E(ptr align 8 %0, i64 %1) {
  %2 = load ptr, ptr @RADDLE_TEST
  ret void
}
define void @_ZN4test22test_main_static_abort17h53E(ptr align 8 %0, i64 %1) {
  call void @_ZN4test16test_main_static17h52E(ptr align 8 %0, i64 %1)
  ret void
}
"#;

    #[test]
    fn tests_are_what_the_compiler_says_of_them() {
        let found = tests(&IrText::new(MODULE)).unwrap();
        let [a, b] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!((a.name.as_str(), a.line), ("tests::a", 21));
        assert_eq!(a.ignored.as_deref(), Some("slow"));
        assert!(!a.should_panic);
        assert_eq!((b.file.as_str(), b.line), ("src/lib.rs", 92));
        assert_eq!(b.ignored, None);
        assert!(b.should_panic);
    }

    #[test]
    fn the_program_of_a_test_has_that_test_and_no_other() {
        let module = IrText::new(MODULE);
        let found = tests(&module).unwrap();
        let program = program_of(&module, &found[1]).unwrap();
        assert!(program.contains("@RADDLE_TEST = global ptr @test_b, align 8"));
        assert!(program.contains("define void @run_b"), "{program}");
        assert!(!program.contains("run_a"), "{program}");
        assert!(!program.contains("@table"), "{program}");
        raddle_ir::parse_module(program, "one test").unwrap();
    }

    #[test]
    fn models_of_loom_should_fail_in_some_execution() {
        let flag = "@RADDLE_SOME_EXECUTION_FAILS = global [1 x i8] zeroinitializer, align 1\n";
        let model = "define void @_ZN4loom5model7Builder5check17h1E() {\n  ret void\n}\n";
        let calls = "define void @run_b() {\n  call void @_ZN4loom5model7Builder5check17h1E()\n";
        let reads = "  %3 = load i8, ptr @RADDLE_SOME_EXECUTION_FAILS\n  ret void\n}\n";
        let module = MODULE.replace(
            "define void @run_b() {\n  ret void\n}\n",
            &format!("{flag}{model}{calls}{reads}"),
        );
        let module = IrText::new(&module);
        let found = tests(&module).unwrap();
        let program = program_of(&module, &found[1]).unwrap();
        assert!(is_expected_to_fail(&program));
        assert!(program.contains("@RADDLE_SOME_EXECUTION_FAILS = global [1 x i8] c\"\\01\""));
        let other = program_of(&module, &found[0]).unwrap();
        assert!(!is_expected_to_fail(&other));
    }

    #[test]
    fn a_table_of_one_is_a_table() {
        let one = MODULE.replace(
            "<{ ptr, ptr }> <{ ptr @test_a, ptr @test_b }>",
            "ptr @test_b",
        );
        let found = tests(&IrText::new(&one)).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name, "tests::b");
    }

    #[test]
    fn a_crate_without_tests_has_none_and_one_without_a_harness_is_told_apart() {
        let empty = MODULE.replace("(ptr align 8 @table, i64 2)", "(ptr align 8 null, i64 0)");
        assert_eq!(tests(&IrText::new(&empty)), Ok(Vec::new()));
        let own_main = "define i32 @main() {\n  ret i32 0\n}\n";
        assert!(tests(&IrText::new(own_main)).is_err());
    }
}
