//! The web page in a real browser: it is loaded, stepped through with keys, and what is shown is looked at.
//!
//! Needs Chromium: `cargo xtask setup` installs it. Where there is none the test says so and passes, unless
//! `RADDLE_REQUIRE_BROWSER` is set, as `cargo xtask test` does.

mod cdp;
#[path = "../common/mod.rs"]
mod common;

use cdp::Browser;
use common::{Scratch, check, says};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The browser and a directory for it, or none with a word about why.
fn browser(test: &str) -> Option<(Scratch, Browser)> {
    let Some(program) = cdp::find() else {
        assert!(
            std::env::var_os("RADDLE_REQUIRE_BROWSER").is_none(),
            "no chromium found: `cargo xtask setup` installs it"
        );
        eprintln!("skipped: no chromium found (`cargo xtask setup` installs it)");
        return None;
    };
    let scratch = Scratch::new(&format!("browser-{test}"));
    let browser = Browser::start(&program, &scratch.0);
    Some((scratch, browser))
}

fn report(scratch: &Scratch, program: &Path, status: i32, more: &[&str]) -> PathBuf {
    let name = program.with_extension("html");
    let page = scratch.0.join(name.file_name().unwrap());
    let mut args = vec!["--report", page.to_str().unwrap()];
    args.extend(more);
    says(&check(program, &args), status, &[]);
    page
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name)
}

impl Browser {
    fn text(&mut self, selector: &str) -> String {
        let text = self.eval(&format!(
            "document.querySelector({selector:?})?.textContent"
        ));
        text.as_str().unwrap_or_default().to_owned()
    }

    fn count(&mut self, selector: &str) -> u64 {
        self.eval(&format!("document.querySelectorAll({selector:?}).length"))
            .as_u64()
            .unwrap()
    }

    /// The value that the page shows for a place in memory.
    fn memory(&mut self, name: &str) -> String {
        let row = format!(
            "[...document.querySelectorAll('#cells tr')].find((row) => row.cells[0].textContent === {name:?})?.cells[1].textContent"
        );
        self.eval(&row).as_str().unwrap_or("absent").to_owned()
    }
}

#[test]
fn a_user_steps_through_the_buggy_stack() {
    let Some((scratch, mut page)) = browser("stack") else {
        return;
    };
    let file = report(&scratch, &example("stack_bug.c"), 1, &["--engine", "dpor"]);
    page.resize(1400, 850);
    page.open(&file);
    assert_eq!(page.text("#badge"), "violation");
    assert!(
        page.text("#headline")
            .starts_with("data race: read of heap2.next")
    );
    assert_eq!(page.text("#lanes"), "T0 mainT1 popper");
    // It opens at the end of the execution.
    assert_eq!(page.text("#position"), "21 / 21");
    assert!(page.text(".row.now .text").starts_with("free heap2"));
    assert_eq!(page.text(".ln.here .no"), "31");
    assert_eq!(
        page.eval("document.querySelectorAll('#cells .dead').length > 0"),
        true
    );
    // Back to the start, and on by keys.
    page.press("Home");
    assert_eq!(page.text(".row.now .text"), "allocate heap1");
    assert_eq!(page.memory("heap1.value"), "0");
    page.press("ArrowRight");
    assert_eq!(page.text("#position"), "3 / 21");
    assert_eq!(page.text(".ln.here .no"), "18");
    assert_eq!(page.memory("heap1.value"), "1");
    assert_eq!(page.text("tr.changed .name"), "heap1.value");
    page.press("j");
    page.press("k");
    page.press("ArrowLeft");
    assert_eq!(page.text("#position"), "2 / 21");
    // The next switch is where the other thread begins.
    page.press("s");
    assert_eq!(page.text("#position"), "17 / 21");
    assert!(page.text(".row.now .text").starts_with("read top → &heap2"));
    assert_eq!(page.count(".who i"), 2);
    // Arrows come and go.
    let reads = page.count("#arrows path.rf");
    assert!(reads > 5, "{reads}");
    assert_eq!(
        page.eval("document.querySelector('#arrows path.rf.now').dataset.from"),
        "12"
    );
    page.press("r");
    assert_eq!(page.count("#arrows path.rf[d][data-from]"), 0);
    page.press("c");
    assert!(page.count("#arrows path.co[data-from]") > 0);
    page.press("h");
    assert!(page.count("#arrows path.hb[data-from]") > 0);
    // In the other thread the first access is not ordered with anything after the start of this one.
    assert_eq!(page.count(".row.unordered"), 2);
    // The step that tells nothing.
    let rows = page.count(".row");
    page.press("a");
    assert_eq!(page.count(".row"), rows + 1);
    // A mouse works too.
    page.eval("document.querySelectorAll('.row')[3].click()");
    assert_eq!(page.text("#position"), "4 / 21");
    page.eval("document.getElementById('last').click()");
    assert_eq!(page.text("#position"), "21 / 21");
    assert_eq!(page.eval("location.hash"), "#step=21");
    assert_eq!(page.errors, Vec::<String>::new());
}

#[test]
fn light_and_dark_wide_and_narrow() {
    let Some((scratch, mut page)) = browser("looks") else {
        return;
    };
    let file = report(
        &scratch,
        &example("philosophers.c"),
        1,
        &["--engine", "dpor"],
    );
    page.prefer("dark");
    page.open(&file);
    let back = "getComputedStyle(document.body).backgroundColor";
    assert_eq!(page.eval(back), "rgb(20, 22, 27)");
    page.press("t");
    assert_eq!(page.eval(back), "rgb(255, 255, 255)");
    page.press("t");
    assert_eq!(page.eval(back), "rgb(20, 22, 27)");
    // A deadlock ends with what each thread waits for.
    assert_eq!(page.count(".row.end"), 3);
    assert_eq!(page.count("#explanation li"), 3);
    page.press("ArrowLeft");
    page.press("ArrowLeft");
    page.press("ArrowLeft");
    assert_eq!(page.memory("forks[0]"), "held by T1");
    assert_eq!(page.memory("forks[1]"), "held by T2");
    for (width, height) in [
        (360, 740),
        (700, 900),
        (900, 700),
        (1300, 800),
        (2200, 1200),
    ] {
        page.resize(width, height);
        let wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(page.eval(wider), 0, "{width}");
        let seen = "document.querySelector('.row.now').getBoundingClientRect().height";
        assert_eq!(page.eval(seen), 26, "{width}");
    }
    assert_eq!(page.errors, Vec::<String>::new());
}

#[test]
fn store_buffers_and_output_are_shown() {
    let Some((scratch, mut page)) = browser("buffers") else {
        return;
    };
    let program = scratch.file(
        "sb.c",
        "#include <assert.h>\n#include <pthread.h>\n#include <stdio.h>\nint x, y, a, b;\n\
         void *left(void *p) { puts(\"left <b>\"); __atomic_store_n(&x, 1, 0); a = __atomic_load_n(&y, 0); return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, left, 0); __atomic_store_n(&y, 1, 0);\n\
         b = __atomic_load_n(&x, 0); pthread_join(t, 0); assert(a || b); return 0; }\n",
    );
    let file = report(
        &scratch,
        &program,
        1,
        &["--memory", "tso", "--engine", "naive"],
    );
    page.open(&file);
    assert_eq!(page.text("#output"), "left <b>\n");
    page.press("Home");
    page.press("ArrowRight");
    assert_eq!(page.text(".row.now .text"), "y = 1 (delayed)");
    assert_eq!(page.memory("y"), "0");
    assert_eq!(page.text(".buffer code"), "y = 1");
    while !page.text(".row.now .text").contains("becomes visible") {
        assert_ne!(page.eval("document.getElementById('next').disabled"), true);
        page.press("ArrowRight");
    }
    assert_eq!(page.memory("y"), "1");
    assert_eq!(page.errors, Vec::<String>::new());
}

#[test]
fn five_hundred_events_and_none() {
    let Some((scratch, mut page)) = browser("many") else {
        return;
    };
    let program = scratch.file(
        "many.c",
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int x;\n\
         static void *add(void *p) { for (int i = 0; i < 125; i++) { int seen = x; x = seen + 1; } return p; }\n\
         int main(void) { pthread_t a, b; pthread_create(&a, 0, add, 0); pthread_create(&b, 0, add, 0);\n\
         pthread_join(a, 0); pthread_join(b, 0); assert(x != 250); return 0; }\n",
    );
    let file = report(&scratch, &program, 1, &["--engine", "dpor"]);
    page.open(&file);
    assert!(page.text("#position").ends_with("/ 505"));
    let folded = page.count(".row");
    assert!(folded < 60, "{folded}");
    page.press("a");
    assert_eq!(page.count(".row"), 506);
    page.press("Home");
    for _ in 0..20 {
        page.press("ArrowRight");
    }
    assert_eq!(page.text("#position"), "21 / 505");
    page.press("End");
    // What is looked at is in sight.
    let seen = |pane: &str, target: &str| {
        format!(
            "(() => {{ const pane = document.querySelector({pane:?}).getBoundingClientRect(); \
             const target = document.querySelector({target:?}).getBoundingClientRect(); \
             return target.top >= pane.top && target.bottom <= pane.bottom && target.left >= pane.left; }})()"
        )
    };
    assert_eq!(page.eval(&seen("#timeline", ".row.now .event")), true);
    assert_eq!(page.eval(&seen("#code", ".ln.here .no")), true);
    assert_eq!(page.count("#arrows path.now"), 0);
    page.press("ArrowLeft");
    assert_eq!(page.count("#arrows path.now"), 1);
    page.press("ArrowLeft");
    assert_eq!(page.count("#arrows path.now"), 0);

    let file = report(&scratch, &example("stack.c"), 0, &["--engine", "dpor"]);
    page.open(&file);
    assert_eq!(page.text("#badge"), "verified");
    assert_eq!(page.text("#headline"), "no violation in any execution");
    assert_eq!(page.text("#numbers dd"), "4");
    assert_eq!(
        page.eval("getComputedStyle(document.getElementById('timeline')).display"),
        json!("none")
    );
    page.press("ArrowRight");
    assert_eq!(page.errors, Vec::<String>::new());
}

#[test]
fn an_execution_of_weak_memory_is_explained() {
    let Some((scratch, mut page)) = browser("message") else {
        return;
    };
    let file = report(&scratch, &example("message.c"), 1, &[]);
    page.resize(1400, 850);
    page.open(&file);
    let explanation = page.text("#explanation");
    for text in [
        "message → 0 is stale: step 2 wrote 42",
        "`flag` is written relaxed (step 3)",
        "store of flag: memory_order_release instead of memory_order_relaxed",
    ] {
        assert!(explanation.contains(text), "{explanation}");
    }
    assert!(page.text("#memory-of").starts_with("newest values"));
    // What the thread read, and what there was to be read.
    page.press("ArrowLeft");
    assert!(page.text(".row.now").contains("read message → 0"));
    assert_eq!(page.memory("message"), "42");
    assert_eq!(page.errors, Vec::<String>::new());
}

/// Two files, a line far to the right of its tabs, structs with members that the execution does not touch, three threads.
#[test]
fn several_files_long_lines_and_large_objects() {
    let Some((scratch, mut page)) = browser("files") else {
        return;
    };
    std::fs::create_dir_all(scratch.0.join("src")).unwrap();
    std::fs::create_dir_all(scratch.0.join("include")).unwrap();
    scratch.file(
        "include/ring.h",
        "struct slot { char tag; int value; };\n\
         struct ring { struct slot slots[12]; int tail; };\n\
         static void put(struct ring *ring, int value) {\n\
         \t\t\t\t\t\t\t\t\t\t\t\t\t\tstruct slot next = { 'x', value }; ring->slots[ring->tail] = next; ring->tail++;\n\
         }\n",
    );
    let program = scratch.file(
        "src/main.c",
        "#include \"../include/ring.h\"\n#include <assert.h>\n#include <pthread.h>\n\
         static struct ring ring;\nstatic pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;\n\
         static void *work(void *arg) { pthread_mutex_lock(&guard); for (int i = 0; i < 5; i++) put(&ring, i); pthread_mutex_unlock(&guard); return arg; }\n\
         int main(void) {\n\
         pthread_t a, b; pthread_create(&a, 0, work, 0); pthread_create(&b, 0, work, 0);\n\
         pthread_join(a, 0); pthread_join(b, 0); assert(ring.tail == 9); }\n",
    );
    let file = report(&scratch, &program, 1, &[]);
    page.resize(1200, 800);
    page.open(&file);
    // Paths lead straight to the file, and lines say which one they are of.
    let tabs = page.text("#files");
    assert!(
        tabs.contains("include/ring.h") && !tabs.contains(".."),
        "{tabs}"
    );
    page.press("Home");
    while page.text(".row.now .at") != "ring.h:4" {
        assert_ne!(page.eval("document.getElementById('next').disabled"), true);
        page.press("ArrowRight");
    }
    // What is done is in sight, and so are the numbers of lines that are shorter.
    let in_sight = "(() => { const pane = document.getElementById('code').getBoundingClientRect(); \
         const line = document.querySelector('.ln.here .tx'); const text = document.createRange(); \
         text.selectNodeContents(line); const word = [...line.querySelectorAll('span')][0].getBoundingClientRect(); \
         return [document.getElementById('code').scrollLeft > 0, word.left < pane.right, text.getBoundingClientRect().right > pane.left]; })()";
    assert_eq!(page.eval(in_sight), json!([true, true, true]));
    let numbers = "[...document.querySelectorAll('#code .no')].every((no) => Math.abs(no.getBoundingClientRect().left - \
         document.getElementById('code').getBoundingClientRect().left) < 1)";
    assert_eq!(page.eval(numbers), true);
    // Objects of many parts are shown in short, until somebody asks.
    assert_eq!(page.text("tr.group b"), "ring");
    let lines =
        "[...document.querySelectorAll('#cells tr.part')].filter((line) => !line.hidden).length";
    let in_short = page.eval(lines).as_u64().unwrap();
    assert!(in_short <= 2, "{in_short}");
    page.eval("document.querySelector('tr.group').click()");
    let all = page.eval(lines).as_u64().unwrap();
    assert!(all > 8, "{all}");
    assert_eq!(
        page.eval("[...document.querySelectorAll('#cells tr')].some((line) => line.textContent.includes('ring+'))"),
        false
    );
    // Only the present step has its arrows, and no text runs into another lane.
    let arrows = "[...document.querySelectorAll('#arrows path.rf[data-from]')].filter((path) => \
         getComputedStyle(path).visibility === 'visible' && !path.classList.contains('now')).length";
    assert_eq!(page.eval(arrows), 0);
    let beyond = "[...document.querySelectorAll('.row:not(.now) .event')].filter((cell) => { \
         const next = document.getElementById('lanes').children[Number(cell.dataset.lane) + 2]; \
         return next && cell.getBoundingClientRect().right > next.getBoundingClientRect().left + 4; }).length";
    assert_eq!(page.eval(beyond), 0);
    assert_eq!(page.errors, Vec::<String>::new());
}

#[test]
fn a_verified_program_shows_what_was_run() {
    let Some((scratch, mut page)) = browser("coverage") else {
        return;
    };
    let program = scratch.file(
        "covered.c",
        "#include <assert.h>\n#include <pthread.h>\nstatic int x;\nstatic void never(void) { x = 3; }\n\
         static void *work(void *arg) {\n    if (x == 5)\n        never();\n    x = 1;\n    return arg;\n}\n\
         int main(void) {\n    pthread_t thread;\n    pthread_create(&thread, 0, work, 0);\n    pthread_join(thread, 0);\n    assert(x == 1);\n}\n",
    );
    let file = report(&scratch, &program, 0, &[]);
    page.open(&file);
    assert_eq!(
        page.text("#covered"),
        "asserts reached1 of 1lines never run2functions never called1"
    );
    assert_eq!(page.text("#uncalled"), "never (line 4)");
    assert_eq!(
        page.eval(
            "[...document.querySelectorAll('.ln.missed .no')].map((no) => no.textContent).join()"
        ),
        "4,7"
    );
    assert_eq!(page.errors, Vec::<String>::new());
}
