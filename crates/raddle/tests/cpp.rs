//! Reports about C++ programs, in which most steps are the standard library's. Which steps these are depends on its version:
//! what is looked at here does not.

mod common;

use common::{Scratch, check, says};

fn report(test: &str, program: &str) -> String {
    let scratch = Scratch::new(test);
    let file = scratch.file("a.cpp", program);
    let output = check(&file, &["--engine", "rf"]);
    says(&output, 1, &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains(".h:"), "a line of a header is shown: {text}");
    assert!(!text.contains("vtable"), "{text}");
    text
}

#[track_caller]
fn tells(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn threads_have_the_names_of_their_functions_and_locks_the_lines_of_their_callers() {
    let text = report(
        "cpp-names",
        "#include <mutex>\n#include <thread>\nstatic std::mutex a, b;\n\
         static void left() {\n std::lock_guard<std::mutex> first(a);\n std::lock_guard<std::mutex> second(b);\n}\n\
         static void right() {\n std::lock_guard<std::mutex> first(b);\n std::lock_guard<std::mutex> second(a);\n}\n\
         int main() { std::thread one(left), two(right); one.join(); two.join(); return 0; }\n",
    );
    tells(
        &text,
        &[
            "violation: deadlock: T1 and T2 wait for each other",
            "a.cpp:6:30",
            "T1 (left) waits to lock b (line 6), held by T2 (right) since step ",
            "T2 (right) waits to lock a (line 10), held by T1 (left) since step ",
            " T1 left ",
            " T2 right",
            " 5: lock a",
            " 9: lock b",
        ],
    );
}

#[test]
fn what_containers_do_is_told_of_the_line_that_uses_them() {
    let text = report(
        "cpp-containers",
        "#include <thread>\n#include <vector>\nint main() {\n std::vector<int> results;\n\
         std::thread one([&results] { results.push_back(1); });\n\
         std::thread two([&results] { results.push_back(2); });\n\
         one.join(); two.join(); return 0; }\n",
    );
    tells(
        &text,
        &[
            "data race on results._M_finish: write by T1 (std::thread@5), read by T2 (std::thread@6)",
            "second access: read of results._M_finish by T2",
        ],
    );
    // A container looks at itself again and again: once is enough.
    let reads = text.matches("5: read results._M_finish → null").count();
    assert_eq!(reads, 1, "{text}");
}

/// What is only reached through a library still is what threads do to each other.
#[test]
fn what_threads_do_to_each_other_in_libraries_is_shown() {
    let text = report(
        "cpp-shared",
        "#include <cassert>\n#include <mutex>\n#include <thread>\n#include <vector>\n\
         static std::mutex m;\nstatic std::vector<int> items;\n\
         static bool empty() { std::lock_guard<std::mutex> guard(m); return items.empty(); }\n\
         static void pop() { std::lock_guard<std::mutex> guard(m); assert(!items.empty()); items.pop_back(); }\n\
         static void take() { if (!empty()) pop(); }\n\
         int main() { items.push_back(7); std::thread one(take), two(take); one.join(); two.join(); return 0; }\n",
    );
    tells(
        &text,
        &[
            "assertion failed: !items.empty()",
            " 7: lock m",
            " 7: read items._M_finish → ",
            " 8: items._M_finish = ",
            " 8: read items._M_finish → ",
        ],
    );
}
