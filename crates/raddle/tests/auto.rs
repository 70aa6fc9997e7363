//! `--engine auto` asks a formula where exploring takes long.

mod common;

use common::{Scratch, check, raddle, says};

/// Threads that take turns at a mutex, and note who had it: millions of classes of executions.
fn turns(claim: &str) -> String {
    format!(
        r"
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned count, turns;
static void *take(void *who) {{
    for (int i = 0; i < 4; i++) {{
        pthread_mutex_lock(&lock);
        count++;
        turns = turns * 4 + (unsigned)(unsigned long)who;
        pthread_mutex_unlock(&lock);
    }}
    return 0;
}}
int main(void) {{
    pthread_t threads[4];
    for (long i = 0; i < 4; i++) pthread_create(&threads[i], 0, take, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    assert({claim});
    return 0;
}}
"
    )
}

#[test]
fn a_formula_verifies_what_has_too_many_executions() {
    let scratch = Scratch::new("auto-verified");
    let file = scratch.file("turns.c", &turns("count == 16"));
    let output = check(&file, &["--format", "json"]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["verdict"], "verified");
    assert_eq!(answer["complete"], true);
    assert_eq!(answer["engine"], "bmc");
    // What was explored before is counted.
    assert_eq!(answer["executions"]["complete"], 65536);
}

#[test]
fn a_formula_finds_what_is_far_away_and_the_execution_can_be_saved() {
    let scratch = Scratch::new("auto-violation");
    // Backwards, and forwards, and so on: not where an exploration begins.
    let file = scratch.file("turns.c", &turns("turns != 0xE4B1E41B"));
    let saved = scratch.0.join("turns.trace");
    let output = check(&file, &["--trace", saved.to_str().unwrap()]);
    says(
        &output,
        1,
        &["engine bmc after 65 537 executions with dpor, memory sc"],
    );
    let output = raddle().arg("replay").arg(&saved).output().unwrap();
    says(&output, 1, &["turns != 0xE4B1E41B"]);
}

/// What is found, and by whom after how many executions, does not depend on who explores.
#[test]
fn any_number_of_workers_gives_the_same_answer() {
    let scratch = Scratch::new("auto-workers");
    for (name, claim) in [("verified", "count == 16"), ("far", "turns != 0xE4B1E41B")] {
        let file = scratch.file(&format!("{name}.c"), &turns(claim));
        let ask = |jobs| {
            let args = ["--format", "json", "--pieces-after", "8", "--jobs", jobs];
            let output = check(&file, &args);
            let mut answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            let members = answer.as_object_mut().unwrap();
            members.retain(|key, _| !key.starts_with("seconds") && key != "peak_memory_bytes");
            answer["coverage"] = serde_json::Value::Null;
            answer
        };
        assert_eq!(ask("3"), ask("1"), "{name}");
    }
}

/// Whoever compares explorations, or limits one, gets it.
#[test]
fn nobody_is_asked_where_the_exploration_is_what_is_wanted() {
    let scratch = Scratch::new("auto-limited");
    let file = scratch.file("turns.c", &turns("count == 16"));
    let output = check(&file, &["--max-executions", "70000"]);
    says(
        &output,
        3,
        &["the limit of 70 000 executions was reached", "engine dpor"],
    );
}

/// A value that cannot be tried in all its states, and beside it a violation that is too many rounds away for `bmc`.
#[test]
fn what_needs_no_wide_value_is_explored_where_a_formula_has_no_answer() {
    let scratch = Scratch::new("auto-rest");
    let text = r"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int __VERIFIER_nondet_int(void);
_Bool __VERIFIER_nondet_bool(void);
static atomic_int x;
static void *set(void *arg) { x = 1; return arg; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    if (!__VERIFIER_nondet_bool())
        return __VERIFIER_nondet_int() == 7;
    int rounds = 0;
    while (x < 100) {
        x++;
        rounds++;
    }
    assert(CLAIM);
    pthread_join(thread, 0);
    return 0;
}
";
    let wrong = scratch.file("wrong.c", &text.replace("CLAIM", "rounds < 99"));
    says(&check(&wrong, &[]), 1, &["rounds < 99", "engine rf"]);
    let right = scratch.file("right.c", &text.replace("CLAIM", "rounds < 300"));
    let bound = "more than 64 times, the last bound that was tried";
    says(&check(&right, &[]), 3, &[bound, "engine bmc"]);
}

/// Consumer and producer each keep a copy of the other one's index, and look at the index itself only when the copy says that there is nothing to do.
const CACHED: &str = "\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct queue {
    atomic_int written, taken;
    int cached_written, cached_taken; // the consumer's, the producer's
    int items[2];
};

static void *producer(void *arg) {
    struct queue *q = arg;
    for (int i = 0; i < 2; i++) {
        while (i - q->cached_taken == 1)
            q->cached_taken = atomic_load(&q->taken);
        q->items[i % 2] = i + 1;
        atomic_store(&q->written, i + 1);
    }
    return 0;
}

int main(void) {
    struct queue *q = calloc(1, sizeof *q);
    pthread_t p;
    pthread_create(&p, 0, producer, q);
    for (int i = 0; i < 2; i++) {
        while (q->cached_written == i)
            q->cached_written = atomic_load(&q->written);
        assert(q->items[i % 2] == i + 1);
        atomic_store(&q->taken, i + 1);
    }
    pthread_join(p, 0);
    assert(q->cached_taken <= 2);
    free(q);
}
";

/// Both threads keep their copy in the same variable.
const SHARED_CACHE: &str = "\
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int cache;

static void *other(void *arg) {
    cache = 0;
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    while (cache == 0)
        cache = atomic_load_explicit(&ready, memory_order_relaxed);
    pthread_join(t, 0);
}
";

#[test]
fn loops_that_keep_what_they_have_seen_come_to_an_end() {
    let scratch = Scratch::new("caching");
    let correct = scratch.file("correct.c", CACHED);
    let wrong = scratch.file("wrong.c", SHARED_CACHE);
    for engine in ["dpor", "rf", "rvf", "mcr", "graph"] {
        let args = ["--engine", engine, "--time-limit", "60"];
        says(&check(&correct, &args), 0, &["verified"]);
        says(&check(&wrong, &args), 1, &["data race on cache"]);
    }
}
