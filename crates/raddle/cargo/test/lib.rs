//! What `cargo raddle` gives to test builds in place of the compiler's own crate `test`.
//!
//! rustc makes a `main` of a crate's tests that hands a table of them to `test::test_main_static`. This one runs a single test, in the
//! main thread, without looking at arguments, starting threads or capturing output: there is nothing in a checked execution but
//! the test. Which one it is, `cargo raddle` writes into [`RADDLE_TEST`] in the compiled program.
//!
//! The names of types and fields are those that rustc's generated code uses; `repr(C)` is for `cargo raddle`, which reads the table.
#![crate_name = "test"]
#![crate_type = "rlib"]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{ExitCode, Termination};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

pub use std::hint::black_box;

#[repr(C)]
pub struct TestDescAndFn {
    pub desc: TestDesc,
    pub testfn: TestFn,
}

#[repr(C)]
pub struct TestDesc {
    pub name: TestName,
    pub source_file: &'static str,
    pub start_line: usize,
    pub should_panic: ShouldPanic,
    pub ignore: bool,
    pub ignore_message: Option<&'static str>,
    pub start_col: usize,
    pub end_line: usize,
    pub end_col: usize,
    pub compile_fail: bool,
    pub no_run: bool,
    pub test_type: TestType,
}

#[repr(C)]
pub enum TestName {
    StaticTestName(&'static str),
}
pub use TestName::StaticTestName;

#[repr(C)]
pub enum ShouldPanic {
    No,
    Yes,
    YesWithMessage(&'static str),
}

pub enum TestType {
    UnitTest,
    IntegrationTest,
    DocTest,
    Unknown,
}

#[repr(C)]
pub enum TestFn {
    StaticTestFn(fn() -> Result<(), String>),
    StaticBenchFn(fn(&mut Bencher) -> Result<(), String>),
}
pub use TestFn::{StaticBenchFn, StaticTestFn};

/// Runs what is to be measured, once.
pub struct Bencher {
    pub bytes: u64,
}

impl Bencher {
    pub fn iter<T, F: FnMut() -> T>(&mut self, mut inner: F) {
        black_box(inner());
    }
}

/// The test to run. Null in what the compiler writes.
#[unsafe(no_mangle)]
pub static RADDLE_TEST: AtomicPtr<TestDescAndFn> = AtomicPtr::new(std::ptr::null_mut());

/// Is it enough if some execution panics? A test of loom's that should panic does so when one of the executions of its model has. `cargo
/// raddle` then looks for that, and nothing is caught here.
#[unsafe(no_mangle)]
pub static RADDLE_SOME_EXECUTION_FAILS: AtomicBool = AtomicBool::new(false);

pub fn assert_test_result<T: Termination>(result: T) -> Result<(), String> {
    if result.report() == ExitCode::SUCCESS {
        Ok(())
    } else {
        Err("the test returned an error".to_owned())
    }
}

pub fn test_main_static(_: &[&TestDescAndFn]) {
    let test = RADDLE_TEST.load(Ordering::SeqCst);
    if !test.is_null() {
        // SAFETY: it points to one of the constants in the table of tests.
        run(unsafe { &*test });
    }
}

pub fn test_main_static_abort(tests: &[&TestDescAndFn]) {
    test_main_static(tests);
}

fn run(test: &TestDescAndFn) {
    let expected = match test.desc.should_panic {
        _ if RADDLE_SOME_EXECUTION_FAILS.load(Ordering::SeqCst) => {
            let _ = call(test);
            return;
        }
        ShouldPanic::No => {
            // What is asserted is what reports say.
            let the_test_returned_ok = call(test).is_ok();
            assert!(the_test_returned_ok);
            return;
        }
        ShouldPanic::Yes => None,
        ShouldPanic::YesWithMessage(text) => Some(text),
    };
    let result = catch_unwind(AssertUnwindSafe(|| call(test)));
    let the_test_panicked = result.is_err();
    assert!(the_test_panicked);
    if let (Some(expected), Err(payload)) = (expected, result) {
        let message = message(&*payload);
        let the_message_is_as_expected = message.is_some_and(|message| message.contains(expected));
        assert!(the_message_is_as_expected);
    }
}

fn call(test: &TestDescAndFn) -> Result<(), String> {
    match test.testfn {
        TestFn::StaticTestFn(function) => function(),
        TestFn::StaticBenchFn(function) => function(&mut Bencher { bytes: 0 }),
    }
}

fn message(payload: &(dyn Any + Send)) -> Option<&str> {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}
