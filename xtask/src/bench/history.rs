//! What was measured before: `benchmarks/history.jsonl`, one line of JSON for each run of `cargo xtask bench --against`.
//!
//! Seconds of different lines are of different machines and days. Ratios inside a line are what can be compared.

use super::Done;
use super::tool::{Answer, Tool};
use crate::tasks::root;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) fn append(tools: &[Tool], done: &[Done]) -> Result<PathBuf, String> {
    let file = root().join("benchmarks/history.jsonl");
    let line = record(tools, done);
    let cannot = |error| format!("cannot write {}: {error}", file.display());
    let mut open = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&file)
        .map_err(cannot)?;
    writeln!(open, "{line}").map_err(cannot)?;
    Ok(file)
}

fn record(tools: &[Tool], done: &[Done]) -> Value {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH);
    let rows: Vec<Value> = done.iter().map(|done| row(tools, done)).collect();
    json!({
        "unix_time": seconds.map_or(0, |time| time.as_secs()),
        "commit": commit(),
        "processor": processor(),
        "tools": tools.iter().map(|tool| &tool.name).collect::<Vec<_>>(),
        "rows": rows,
    })
}

fn row(tools: &[Tool], done: &Done) -> Value {
    let mut by_tool = serde_json::Map::new();
    for (index, (tool, measured)) in tools.iter().zip(&done.by_tool).enumerate() {
        let value = match measured {
            None => continue,
            Some(Err(why)) => json!({ "error": why }),
            Some(Ok(measured)) => {
                let answer = match measured.answer {
                    Answer::Executions { complete, blocked } => json!([complete, blocked]),
                    Answer::Correct(correct) => json!(correct),
                };
                json!({ "answer": answer, "seconds": measured.seconds, "ratio": done.ratio(index) })
            }
        };
        by_tool.insert(tool.name.clone(), value);
    }
    json!({ "program": done.row.program, "n": done.row.n, "engine": done.row.engine, "tools": by_tool })
}

fn commit() -> Value {
    let output = Command::new("git")
        .args(["describe", "--always", "--dirty"])
        .current_dir(root())
        .output();
    match output {
        Ok(output) if output.status.success() => {
            json!(String::from_utf8_lossy(&output.stdout).trim())
        }
        _ => Value::Null,
    }
}

fn processor() -> Value {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    line.map_or(Value::Null, |line| {
        json!(line.trim_start_matches([' ', '\t', ':']))
    })
}
