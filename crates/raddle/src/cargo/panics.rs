//! Tests that should panic.
//!
//! The test harness catches the panic and looks at it, if panics unwind. As long as they do not, a panic is a violation wherever it happens, and
//! such a test passes if every execution ends in one.

use super::listing::Test;
use super::runner::Answer;
use crate::Status;
use serde_json::Value;

/// All violations have to be known.
pub(crate) const OPTIONS: [&str; 1] = ["--keep-going"];

/// What the harness says where no panic came.
const NO_PANIC: &str = "test did not panic as expected";

/// Makes of the answer about a program the answer about a test that should panic.
pub(crate) fn judged(mut answer: Answer, json: Option<&Value>, test: &Test) -> Answer {
    let Some(json) = json.filter(|_| answer.status == Status::Violation) else {
        return answer;
    };
    let more = json["more_violations"].as_array();
    let violations = std::iter::once(&json["violation"]).chain(more.into_iter().flatten());
    let text = |violation: &Value| violation["message"].as_str().unwrap_or_default().to_owned();
    let messages: Vec<String> = violations.clone().map(text).collect();
    let only_panics = violations.clone().all(|it| it["kind"] == "panic");
    let is_caught = json["executions"]["complete"].as_u64() != Some(0);
    if !only_panics || is_caught || messages.iter().any(|message| message.contains(NO_PANIC)) {
        return answer;
    }
    let Some(expected) = &test.expected_panic else {
        return passed(answer);
    };
    if messages.iter().all(|message| message.contains(expected)) {
        return passed(answer);
    }
    answer.status = Status::Inconclusive;
    answer.message = Some(format!(
        "it panics, but the panic's text may not be the expected `{expected}`"
    ));
    answer
}

fn passed(answer: Answer) -> Answer {
    Answer {
        status: Status::Verified,
        message: None,
        ..answer
    }
}
