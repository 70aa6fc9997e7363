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

/// What the harness asserts where no panic came.
const NO_PANIC: &str = "the_test_panicked";
/// What it asserts where another panic came, if it can tell.
const OTHER_PANIC: &str = "the_message_is_as_expected";

/// What is said of a model of loom's none of whose executions fails.
const NOTHING_FAILS: &str = "the test should panic, and no execution of its model does";

/// A test of loom's that should panic does so when one execution of its model fails, in whatever way.
pub(crate) fn judged_as_model(mut answer: Answer) -> Answer {
    match answer.status {
        Status::Violation => passed(answer),
        Status::Verified => {
            answer.status = Status::Violation;
            answer.message = Some(NOTHING_FAILS.to_owned());
            answer
                .text
                .insert_str(0, &format!("violation: {NOTHING_FAILS}\n"));
            answer
        }
        Status::Inconclusive | Status::Failure => answer,
    }
}

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
    let is_refuted = |message: &String| message.contains(NO_PANIC) || message.contains(OTHER_PANIC);
    if !only_panics || is_caught || messages.iter().any(is_refuted) {
        return answer;
    }
    // All that was seen are panics; but there may be more to see.
    let mut notes = json["notes"].as_array().into_iter().flatten();
    if let Some(unfinished) = notes.find(|note| note["kind"] == "unfinished") {
        answer.status = Status::Inconclusive;
        answer.message = Some(text(unfinished));
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(status: Status) -> Answer {
        Answer {
            status,
            executions: Some(1),
            seconds: 0.0,
            message: None,
            text: String::new(),
        }
    }

    fn judge(json: &Value, expected: Option<&str>) -> Status {
        let test = Test::should_panic(expected);
        judged(answer(Status::Violation), Some(json), &test).status
    }

    fn panics(messages: &[&str]) -> Value {
        let mut all = messages
            .iter()
            .map(|it| json!({"kind": "panic", "message": it}));
        let first = all.next();
        let more: Vec<Value> = all.collect();
        json!({
            "violation": first,
            "more_violations": more,
            "executions": {"complete": 0, "blocked": 2},
            "notes": [],
        })
    }

    #[test]
    fn a_test_should_panic_in_every_execution() {
        assert_eq!(judge(&panics(&["a", "b"]), None), Status::Verified);
        let mut some = panics(&["a"]);
        some["executions"]["complete"] = json!(1);
        assert_eq!(judge(&some, None), Status::Violation);
        assert_eq!(judge(&panics(&["a", NO_PANIC]), None), Status::Violation);
        assert_eq!(judge(&panics(&[OTHER_PANIC]), Some("a")), Status::Violation);
        let mut race = panics(&["a"]);
        race["violation"]["kind"] = json!("race");
        assert_eq!(judge(&race, None), Status::Violation);
    }

    #[test]
    fn what_was_not_finished_is_not_passed() {
        let mut unfinished = panics(&["a"]);
        unfinished["notes"] =
            json!([{"kind": "unfinished", "message": "the time limit was reached"}]);
        assert_eq!(judge(&unfinished, None), Status::Inconclusive);
    }

    #[test]
    fn the_text_is_the_expected_one() {
        assert_eq!(
            judge(&panics(&["it is boom"]), Some("boom")),
            Status::Verified
        );
        assert_eq!(
            judge(&panics(&["boom", "other"]), Some("boom")),
            Status::Inconclusive
        );
    }

    #[test]
    fn a_model_should_fail_in_some_execution() {
        let judged = |status| judged_as_model(answer(status)).status;
        assert_eq!(judged(Status::Violation), Status::Verified);
        assert_eq!(judged(Status::Verified), Status::Violation);
        assert_eq!(judged(Status::Inconclusive), Status::Inconclusive);
        assert_eq!(judged(Status::Failure), Status::Failure);
    }
}
