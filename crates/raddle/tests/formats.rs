//! Formats for other tools: SARIF, witnesses, property files.

mod common;

use common::{Scratch, check, says};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name)
}

fn sarif(file: &Path, status: i32, more: &[&str]) -> Value {
    let mut args = vec!["--format", "sarif", "--engine", "dpor"];
    args.extend(more);
    let output = check(file, &args);
    says(&output, status, &[]);
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    valid(&log);
    log
}

/// The members of an object, and no other ones.
#[track_caller]
fn members(value: &Value, required: &[&str], optional: &[&str]) {
    let object = value.as_object().unwrap_or_else(|| panic!("{value}"));
    for name in required {
        assert!(object.contains_key(*name), "{name} is missing in {value:#}");
    }
    for name in object.keys() {
        assert!(
            required.contains(&name.as_str()) || optional.contains(&name.as_str()),
            "{name} is none of the members that are meant: {value:#}"
        );
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// What the schema of SARIF 2.1.0 demands of the parts that Raddle writes. (The schema itself is not ours to distribute.)
fn valid(log: &Value) {
    members(log, &["$schema", "version", "runs"], &[]);
    assert_eq!(log["version"], "2.1.0");
    for run in list(&log["runs"]) {
        members(
            run,
            &["tool", "results", "invocations"],
            &["artifacts", "columnKind", "properties"],
        );
        let units = ["utf16CodeUnits", "unicodeCodePoints"];
        assert!(units.contains(&run["columnKind"].as_str().unwrap()));
        let driver = &run["tool"]["driver"];
        members(driver, &["name"], &["version", "semanticVersion", "rules"]);
        for rule in list(&driver["rules"]) {
            members(
                rule,
                &["id"],
                &["shortDescription", "help", "defaultConfiguration"],
            );
            message(&rule["shortDescription"]);
            message(&rule["help"]);
        }
        for invocation in list(&run["invocations"]) {
            members(
                invocation,
                &["executionSuccessful"],
                &["exitCode", "toolExecutionNotifications"],
            );
            assert!(invocation["executionSuccessful"].is_boolean());
            for notification in list(&invocation["toolExecutionNotifications"]) {
                members(notification, &["message"], &["level", "locations"]);
                message(&notification["message"]);
                list(&notification["locations"]).iter().for_each(location);
            }
        }
        for result in list(&run["results"]) {
            valid_result(result, list(&driver["rules"]));
        }
    }
}

fn valid_result(result: &Value, rules: &[Value]) {
    members(
        result,
        &[
            "message",
            "ruleId",
            "ruleIndex",
            "kind",
            "level",
            "locations",
        ],
        &["codeFlows", "relatedLocations"],
    );
    message(&result["message"]);
    assert_eq!(
        (&result["kind"], &result["level"]),
        (&"fail".into(), &"error".into())
    );
    let index = result["ruleIndex"].as_u64().unwrap() as usize;
    assert_eq!(rules[index]["id"], result["ruleId"]);
    list(&result["locations"]).iter().for_each(location);
    list(&result["relatedLocations"]).iter().for_each(location);
    for flow in list(&result["codeFlows"]) {
        members(flow, &["threadFlows"], &[]);
        let mut orders = Vec::new();
        assert!(!list(&flow["threadFlows"]).is_empty());
        for thread in list(&flow["threadFlows"]) {
            members(thread, &["locations"], &["id", "message"]);
            assert!(!list(&thread["locations"]).is_empty());
            for step in list(&thread["locations"]) {
                members(step, &["location"], &["executionOrder", "importance"]);
                let importance = ["essential", "important", "unimportant"];
                assert!(importance.contains(&step["importance"].as_str().unwrap()));
                orders.push(step["executionOrder"].as_u64().unwrap());
                location(&step["location"]);
            }
        }
        // Every step has a place of its own.
        orders.sort_unstable();
        let count = orders.len() as u64;
        assert_eq!(orders, (1..=count).collect::<Vec<_>>());
    }
}

fn message(value: &Value) {
    members(value, &["text"], &[]);
    assert!(!value["text"].as_str().unwrap().is_empty());
}

fn location(value: &Value) {
    members(value, &[], &["physicalLocation", "message"]);
    let Some(place) = value.get("physicalLocation") else {
        return;
    };
    members(place, &["artifactLocation", "region"], &[]);
    let uri = place["artifactLocation"]["uri"].as_str().unwrap();
    assert!(!uri.is_empty() && !uri.contains([' ', '\\']), "{uri}");
    members(&place["region"], &["startLine"], &["startColumn"]);
    assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
    let column = &place["region"]["startColumn"];
    assert!(column.is_null() || column.as_u64().unwrap() >= 1);
}

#[test]
fn sarif_has_violations_with_their_executions() {
    let log = sarif(&example("stack_bug.c"), 1, &["--engine", "dpor"]);
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "race");
    assert_eq!(list(&result["relatedLocations"]).len(), 1);
    assert_eq!(list(&result["codeFlows"][0]["threadFlows"]).len(), 2);
    let log = sarif(&example("philosophers.c"), 1, &["--keep-going"]);
    assert_eq!(log["runs"][0]["results"][0]["ruleId"], "deadlock");
}

#[test]
fn sarif_says_what_else_there_is_to_say() {
    let log = sarif(&example("stack.c"), 0, &[]);
    assert_eq!(log["runs"][0]["results"], Value::Array(Vec::new()));
    let log = sarif(&example("stack.c"), 3, &["--max-executions", "1"]);
    let notification = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"][0];
    assert_eq!(notification["level"], "warning");
    let scratch = Scratch::new("sarif");
    let unknown = scratch.file("a b.c", "void f(void);\nint main(void) { f(); }\n");
    let log = sarif(&unknown, 2, &[]);
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(
        invocation["toolExecutionNotifications"][0]["level"],
        "error"
    );
}

const CHOICE: &str = "_Bool __VERIFIER_nondet_bool(void);\nvoid reach_error(void) {}\nvoid abort(void);\n\
                      int main(void) {\n    if (__VERIFIER_nondet_bool())\n        abort();\n    if (__VERIFIER_nondet_bool())\n        reach_error();\n    return 0;\n}\n";

#[test]
fn witnesses_name_the_target_and_the_values_on_the_way() {
    let scratch = Scratch::new("witness");
    let file = scratch.file("choice.c", CHOICE);
    let property = scratch.file(
        "unreach-call.prp",
        "CHECK( init(main()), LTL(G ! call(reach_error())) )\n",
    );
    let witness = scratch.0.join("witness.yml");
    let args = [
        "--property",
        property.to_str().unwrap(),
        "--witness",
        witness.to_str().unwrap(),
    ];
    says(&check(&file, &args), 1, &["`reach_error` is reached"]);
    let text = fs::read_to_string(&witness).unwrap();
    for part in [
        "- entry_type: \"violation_sequence\"\n",
        "    format_version: \"2.2\"\n",
        "      name: \"Raddle\"\n",
        "      specification: \"G ! call(reach_error())\"\n",
        "      data_model: \"LP64\"\n      language: \"C\"\n",
        "              value: \"\\\\result == 0\"\n",
        "              value: \"\\\\result == 1\"\n",
        "            type: \"target\"\n            action: \"follow\"\n            thread_id: 0\n            location:\n",
        "              line: 8\n",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert_eq!(text.matches("- segment:").count(), 3);
    // The target is the last segment, and has no constraint.
    let (_, last) = text.rsplit_once("- segment:").unwrap();
    assert!(last.contains("target") && !last.contains("constraint"));
}

#[test]
fn a_race_ends_in_a_segment_with_two_targets() {
    let scratch = Scratch::new("race-witness");
    let file = scratch.file(
        "race.c",
        "#include <pthread.h>\nint x;\nvoid *add(void *p) {\n    x++;\n    return p;\n}\n\
         int main(void) {\n    pthread_t a, b;\n    pthread_create(&a, 0, add, 0);\n    pthread_create(&b, 0, add, 0);\n\
             pthread_join(a, 0);\n    pthread_join(b, 0);\n}\n",
    );
    let race = "CHECK( init(main()), LTL(G ! data-race) )\n";
    let property = scratch.file("no-data-race.prp", race);
    let witness = scratch.0.join("witness.yml");
    let args = [
        "--property",
        property.to_str().unwrap(),
        "--witness",
        witness.to_str().unwrap(),
    ];
    says(&check(&file, &args), 1, &["data race"]);
    let text = fs::read_to_string(&witness).unwrap();
    assert_eq!(text.matches("- segment:").count(), 1, "{text}");
    assert_eq!(text.matches("type: \"target\"").count(), 2, "{text}");
    for part in [
        "thread_id: 1\n",
        "thread_id: 2\n",
        "specification: \"G ! data-race\"",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert_eq!(text.matches("              line: 4\n").count(), 2, "{text}");
}

#[test]
fn properties_decide_what_is_looked_for() {
    let scratch = Scratch::new("property");
    let property = |name: &str, formulas: &[&str]| {
        let line = |formula: &&str| format!("CHECK( init(main()), LTL({formula}) )\n");
        let text: String = formulas.iter().map(line).collect();
        scratch.file(name, &text)
    };
    let with =
        |file: &Path, property: &Path| check(file, &["--property", property.to_str().unwrap()]);
    let unreach = property("unreach-call.prp", &["G ! call(reach_error())"]);
    let race = property("no-data-race.prp", &["G ! data-race"]);
    let overflow = property("no-overflow.prp", &["G ! overflow"]);
    let safe = property(
        "valid-memsafety.prp",
        &["G valid-free", "G valid-deref", "G valid-memtrack"],
    );
    // A failing assertion is no call of `reach_error`, and neither is `abort`.
    let aborts = scratch.file(
        "a.c",
        "#include <assert.h>\n#include <stdlib.h>\nint main(int n, char **v) { (void)v; if (n > 1) abort(); assert(n == 2); }\n",
    );
    says(&with(&aborts, &unreach), 0, &["verified"]);
    says(&check(&aborts, &[]), 1, &["assertion failed"]);
    says(&with(&example("stack_bug.c"), &race), 1, &["data race"]);
    says(&with(&example("stack_bug.c"), &unreach), 0, &["verified"]);
    says(
        &with(&example("stack_bug.c"), &safe),
        1,
        &["use after free"],
    );
    // Leaks are not looked for, so this is no proof.
    says(
        &with(&example("stack.c"), &safe),
        3,
        &["inconclusive: no violation was found, without looking for valid-memtrack"],
    );
    let adds = scratch.file(
        "b.c",
        "int main(void) { volatile int x = 2147483647; x = x + 1; return 0; }\n",
    );
    says(&with(&adds, &overflow), 1, &["overflow"]);
    says(&with(&adds, &safe), 3, &[]);
    // Neither is whether executions end, nor is anything else a violation of that.
    let ends = property("termination.prp", &["F end"]);
    let cleanup = property("valid-memcleanup.prp", &["G valid-memcleanup"]);
    let choice = scratch.file("c.c", CHOICE);
    let termination = "without looking for termination";
    says(&with(&choice, &ends), 3, &[termination]);
    let freed = "without looking for valid-memcleanup";
    says(&with(&choice, &cleanup), 3, &[freed]);
}

#[test]
fn wrong_properties_are_errors() {
    let scratch = Scratch::new("bad-property");
    let file = scratch.file("a.c", "int main(void) { return 0; }\n");
    let with = |property: &Path| check(&file, &["--property", property.to_str().unwrap()]);
    let term = scratch.file("t.prp", "CHECK( init(main()), LTL(G end) )\n");
    says(
        &with(&term),
        2,
        &[
            "t.prp: line 1: Raddle does not know the property `Gend`",
            "help: known are",
        ],
    );
    says(
        &with(&scratch.file("e.prp", "")),
        2,
        &["there is no property in it"],
    );
    says(
        &with(&scratch.0.join("none.prp")),
        2,
        &["cannot read the property"],
    );
    let both = check(&file, &["--property", "x.prp", "--check", "race"]);
    says(&both, 2, &["cannot be used with"]);
}

/// A value of full range is chosen in pieces, which are nobody's business.
#[test]
fn witnesses_and_json_tell_values_of_full_range_as_the_program_gets_them() {
    let scratch = Scratch::new("wide-witness");
    let file = scratch.file(
        "wide.c",
        "#include <assert.h>\n\
         int __VERIFIER_nondet_int(void);\n\
         unsigned long __VERIFIER_nondet_ulong(void);\n\
         int main(void) {\n\
         \x20   int a = __VERIFIER_nondet_int();\n\
         \x20   unsigned long b = __VERIFIER_nondet_ulong();\n\
         \x20   assert(a != -123456 || b != 0xFFFFFFFFFFFFFFF0ul);\n\
         \x20   return 0;\n\
         }\n",
    );
    let witness = scratch.0.join("witness.yml");
    let args = ["--witness", witness.to_str().unwrap(), "--format", "json"];
    let output = check(&file, &args);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let steps = answer["violation"]["trace"].as_array().unwrap();
    let values: Vec<String> = steps.iter().map(|step| step["value"].to_string()).collect();
    assert_eq!(values, ["-123456", "18446744073709551600"]);
    let text = fs::read_to_string(&witness).unwrap();
    for value in values {
        assert!(text.contains(&format!("\\\\result == {value}\"")), "{text}");
    }
    assert_eq!(text.matches("- segment:").count(), 3);
}
