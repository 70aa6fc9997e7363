use super::*;
use crate::parse_module;
use crate::passes::intrinsics::called_function;
use crate::passes::print::print_body;

fn is_pause(module: &Module, call: &Call) -> bool {
    is_call_of(module, call, "pause")
}

fn is_call_of(module: &Module, call: &Call, name: &str) -> bool {
    called_function(module, call.callee).is_some_and(|id| &*module.function(id).name == name)
}

fn collapsed(text: &str) -> String {
    let mut module = parse_module(text, "test").expect("a module");
    let function = module.function_named("f").expect("a function");
    let body = module.parse_body(function).expect("a body");
    let mut body = crate::passes::prepare(&mut module, body);
    let mut looks_of = |module: &mut Module, call: &Call| {
        let looks = [("look", 1), ("look_twice", 2)];
        let known = looks
            .iter()
            .find(|(name, _)| is_call_of(module, call, name));
        known.map(|&(_, looks)| looks)
    };
    collapse_counted_spins(&mut module, &mut body, &is_pause, &mut looks_of);
    print_body(&module, &body)
}

const SPIN: &str = "
declare void @pause()
define i32 @f(ptr %x) {
  br label %spin
spin:
  %left = phi i32 [ 100, %0 ], [ %next, %spin ]
  call void @pause()
  %next = add i32 %left, -1
  %v = load atomic i32, ptr %x monotonic, align 4
  %ready = icmp ne i32 %v, 7
  %over = icmp eq i32 %next, 0
  %stop = select i1 %ready, i1 true, i1 %over
  br i1 %stop, label %out, label %spin
out:
  ret i32 %v
}
";

#[test]
fn counted_looks_are_one_look() {
    let text = collapsed(SPIN);
    assert!(!text.contains("phi"), "{text}");
    // What is counted for something else stays.
    let returned = SPIN.replace("ret i32 %v", "ret i32 %next");
    assert!(collapsed(&returned).contains("phi"));
    // So does what writes, and what never ends.
    let stores = SPIN.replace("call void @pause()", "store i32 1, ptr %x");
    assert!(collapsed(&stores).contains("phi"));
    let endless = SPIN.replace("i32 %left, -1", "i32 %left, 0");
    assert!(collapsed(&endless).contains("phi"));
    // And what looks twice: the first look of a round may be older than the second.
    let twice = SPIN.replace(
        "call void @pause()",
        "%w = load atomic i32, ptr %x monotonic, align 4",
    );
    assert!(collapsed(&twice).contains("phi"));
}

/// As clang has `for (i = 0; i < 100; i++) if (look(x)) return 1; return 0;`.
const FOR: &str = "
declare void @pause()
declare i32 @look(ptr)
declare i32 @look_twice(ptr)
declare i32 @other()
define i32 @f(ptr %x) {
  br label %head
head:
  %i = phi i32 [ 0, %0 ], [ %next, %latch ]
  %more = icmp slt i32 %i, 100
  br i1 %more, label %body, label %over
body:
  %v = call i32 @look(ptr %x)
  %ready = icmp ne i32 %v, 0
  br i1 %ready, label %out, label %latch
latch:
  call void @pause()
  %next = add i32 %i, 1
  br label %head
over:
  ret i32 0
out:
  ret i32 1
}
";

/// Is the counter 100 after its first round?
fn jumps(text: &str) -> bool {
    collapsed(text).contains("[ 100, ")
}

#[test]
fn a_counter_that_is_tested_first_jumps_to_its_end() {
    assert!(jumps(FOR), "{}", collapsed(FOR));
    // Whether the bound was reached may be asked behind the loop, but not which round it was.
    let asked = FOR.replace(
        "ret i32 1",
        "%c = icmp eq i32 %i, 100\n  %r = zext i1 %c to i32\n  ret i32 %r",
    );
    assert!(jumps(&asked), "{}", collapsed(&asked));
    assert!(!jumps(&asked.replace("eq i32 %i, 100", "eq i32 %i, 5")));
    assert!(!jumps(&FOR.replace("ret i32 1", "ret i32 %i")));
    // No round at all, or one that looks twice, or does something that is not known.
    assert!(!jumps(&FOR.replace("slt i32 %i, 100", "slt i32 %i, 0")));
    assert!(!jumps(
        &FOR.replace("call i32 @look(", "call i32 @look_twice(")
    ));
    assert!(!jumps(
        &FOR.replace("call void @pause()", "call i32 @other()")
    ));
    assert!(!jumps(
        &FOR.replace("call void @pause()", "%w = call i32 @look(ptr %x)")
    ));
}

#[test]
fn a_look_may_be_a_call_that_says_where_to_go_if_it_throws() {
    let invoked = FOR
        .replace("@f(ptr %x)", "@f(ptr %x) personality ptr @other")
        .replace(
            "  %v = call i32 @look(ptr %x)\n",
            "  %v = invoke i32 @look(ptr %x) to label %seen unwind label %pad\nseen:\n",
        )
        .replace(
            "over:\n",
            "pad:\n  %p = landingpad { ptr, i32 } cleanup\n  resume { ptr, i32 } %p\nover:\n",
        );
    assert!(jumps(&invoked), "{}", collapsed(&invoked));
    assert!(!jumps(
        &invoked.replace("invoke i32 @look(ptr %x)", "invoke i32 @other()")
    ));
}

#[test]
fn the_bound_may_be_one_of_two_conditions() {
    // `while (i < 100 && !look(x)) i++;`
    let both = "
declare i32 @look(ptr)
define i32 @f(ptr %x) {
  br label %head
head:
  %i = phi i32 [ 0, %0 ], [ %next, %latch ]
  %more = icmp slt i32 %i, 100
  br i1 %more, label %right, label %end
right:
  %v = call i32 @look(ptr %x)
  %waits = icmp eq i32 %v, 0
  br label %end
end:
  %goes = phi i1 [ false, %head ], [ %waits, %right ]
  br i1 %goes, label %latch, label %out
latch:
  %next = add i32 %i, 1
  br label %head
out:
  ret i32 0
}
";
    assert!(jumps(both), "{}", collapsed(both));
    // Here another look follows when the bound is reached.
    let looks = both.replace("[ false, %head ]", "[ true, %head ]");
    assert!(!jumps(&looks));
}

#[test]
fn what_a_round_found_may_be_carried_out_of_the_loop() {
    let carried = FOR
        .replace(
            "  %more = icmp",
            "  %last = phi i32 [ 7, %0 ], [ %v, %latch ]\n  %more = icmp",
        )
        .replace("ret i32 0", "ret i32 %last");
    assert!(jumps(&carried), "{}", collapsed(&carried));
    // A round that depends on what another one found is none of those.
    let depends = carried.replace("icmp ne i32 %v, 0", "icmp ne i32 %v, %last");
    assert!(!jumps(&depends));
}
