//! `cargo xtask bench --against PATH…`: Raddle and other tools side by side.
//!
//! Tools run in turn, each several times, and the best run of each counts: what else the machine does then hits all of them. Times are processor
//! time, without what the tool takes for a program that does nothing. A row counts only if the tools explored equally many executions.

mod history;
mod measure;
mod rows;
mod tool;

use crate::tasks::root;
use measure::Measured;
use rows::Row;
use std::path::{Path, PathBuf};
use std::process::Command;
use tool::{Input, Kind, Tool};

#[derive(Debug)]
struct Args {
    /// The build to be measured, if it is there already.
    ours: Option<PathBuf>,
    peers: Vec<Tool>,
    engines: Vec<String>,
    programs: Vec<String>,
    runs: u32,
    keep: bool,
}

/// Measures what was asked for, with `raddle` as the tool that the others are compared with.
pub(crate) fn against(
    args: &[&str],
    build: impl FnOnce() -> Result<PathBuf, String>,
) -> Result<(), String> {
    let args = parse(args)?;
    let rows: Vec<Row> = rows::all().filter(|row| args.wants(*row)).collect();
    if rows.is_empty() {
        return Err(
            "no row is left: see xtask/src/bench/rows.rs for programs and engines".to_owned(),
        );
    }
    let mut tools = vec![Tool {
        name: "raddle".to_owned(),
        kind: Kind::Raddle,
        path: match &args.ours {
            Some(path) => path.clone(),
            None => build()?,
        },
    }];
    for (index, peer) in args.peers.iter().enumerate() {
        let mut peer = peer.clone();
        // Two builds of one tool, say.
        if tools.iter().any(|tool| tool.name == peer.name) {
            peer.name = format!("{}#{}", peer.name, index + 2);
        }
        tools.push(peer);
    }
    let work = measure::work_directory()?;
    let result = run_rows(&tools, &rows, args.runs, &work);
    // Whatever is left there is not worth an error.
    let _ = std::fs::remove_dir_all(&work);
    let done = result?;
    println!("{}", summary(&tools, &done));
    if args.keep {
        let file = history::append(&tools, &done)?;
        println!("added to {}", file.display());
    }
    Ok(())
}

fn parse(args: &[&str]) -> Result<Args, String> {
    let mut parsed = Args {
        ours: None,
        peers: Vec::new(),
        engines: Vec::new(),
        programs: Vec::new(),
        runs: 3,
        keep: true,
    };
    let mut left = args.iter().copied();
    while let Some(arg) = left.next() {
        let mut value = || left.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg {
            "--against" => parsed.peers.push(Tool::parse(value()?)?),
            "--ours" => parsed.ours = Some(Tool::parse(&format!("raddle={}", value()?))?.path),
            "--engine" => parsed.engines.push(value()?.to_owned()),
            "--runs" => {
                let text = value()?;
                let runs = text.parse().ok().filter(|&runs| runs > 0);
                parsed.runs = runs.ok_or_else(|| format!("not a number of runs: {text}"))?;
            }
            "--no-history" => parsed.keep = false,
            _ if arg.starts_with('-') => return Err(format!("no such option: {arg}")),
            // Several peers may follow one `--against`; other names are programs.
            _ if arg.contains(['/', '=']) => parsed.peers.push(Tool::parse(arg)?),
            _ => parsed.programs.push(arg.to_owned()),
        }
    }
    Ok(parsed)
}

impl Args {
    fn wants(&self, row: Row) -> bool {
        let among =
            |names: &[String], name: &str| names.is_empty() || names.iter().any(|n| n == name);
        let somebody =
            self.peers.is_empty() || self.peers.iter().any(|peer| peer.covers(row.engine));
        somebody && among(&self.engines, row.engine) && among(&self.programs, row.program)
    }
}

/// A row with what each tool did, if it can do it.
pub(crate) struct Done {
    row: Row,
    by_tool: Vec<Option<Result<Measured, String>>>,
}

impl Done {
    fn of(&self, tool: usize) -> Option<&Measured> {
        self.by_tool[tool].as_ref()?.as_ref().ok()
    }

    /// How many times as long as Raddle a tool takes, if the two did the same.
    fn ratio(&self, tool: usize) -> Option<f64> {
        let (ours, theirs) = (self.of(0)?, self.of(tool)?);
        let same = ours.answer.agrees(theirs.answer);
        same.then(|| theirs.seconds / ours.seconds)
    }
}

fn run_rows(tools: &[Tool], rows: &[Row], runs: u32, work: &Path) -> Result<Vec<Done>, String> {
    print!("{:24} {:>6} {:>12}", "program", "engine", "executions");
    for tool in tools {
        print!(" {:>16}", shortened(&tool.name, 16));
    }
    println!(
        "   (µs an execution, or seconds; times as long as {})",
        tools[0].name
    );
    let mut done = Vec::new();
    for &row in rows {
        let source = root().join(format!("benchmarks/{}.c", row.program));
        let row = measure_row(tools, row, &source, runs, work)?;
        println!("{}", line(&row));
        done.push(row);
    }
    Ok(done)
}

fn measure_row(
    tools: &[Tool],
    row: Row,
    source: &Path,
    runs: u32,
    work: &Path,
) -> Result<Done, String> {
    let nothing = work.join("nothing.c");
    measure::write_nothing(&nothing)?;
    let ir = work.join("program.ll");
    let nothing_ir = work.join("nothing.ll");
    if tools.iter().any(Tool::reads_ir) {
        compile(source, row.n, &ir)?;
        compile(&nothing, row.n, &nothing_ir)?;
    }
    let input = Input {
        source,
        ir: &ir,
        n: row.n,
    };
    let idle = Input {
        source: &nothing,
        ir: &nothing_ir,
        n: row.n,
    };
    let mut best: Vec<Option<Result<Measured, String>>> = tools.iter().map(|_| None).collect();
    let mut start_up = vec![f64::INFINITY; tools.len()];
    for _ in 0..runs {
        for (index, tool) in tools.iter().enumerate() {
            if !tool.covers(row.engine) || matches!(best[index], Some(Err(_))) {
                continue;
            }
            for mut command in tool.commands(row, &idle) {
                let run = measure::run(&mut command, work)?;
                start_up[index] = start_up[index].min(run.seconds);
            }
            for mut command in tool.commands(row, &input) {
                let run = measure::run(&mut command, work)?;
                let found = run.measured(tool);
                best[index] = Some(match (best[index].take(), found) {
                    (Some(Ok(old)), Ok(new)) => Ok(old.better(new)),
                    (Some(Ok(old)), Err(_)) => Ok(old),
                    (_, found) => found,
                });
            }
        }
    }
    for (measured, start_up) in best.iter_mut().zip(start_up) {
        if let Some(Ok(measured)) = measured {
            // Less than a microsecond cannot be told from nothing.
            measured.seconds = (measured.seconds - start_up).max(1e-6);
        }
    }
    Ok(Done { row, by_tool: best })
}

/// LLVM IR for tools that read nothing else, as optimised as they like it.
fn compile(source: &Path, n: u32, to: &Path) -> Result<(), String> {
    let clang = std::env::var("RADDLE_CLANG").unwrap_or_else(|_| "clang".to_owned());
    let mut command = Command::new(clang);
    command
        .args(["-O1", "-S", "-emit-llvm", "-w", &format!("-DN={n}"), "-o"])
        .args([to, source]);
    crate::tasks::run(&mut command)
}

fn line(done: &Done) -> String {
    let Row { engine, program, n } = done.row;
    let answer = done
        .of(0)
        .map_or("-".to_owned(), |ours| ours.answer.to_string());
    let mut line = format!("{:24} {engine:>6} {answer:>12}", format!("{program} {n}"));
    for (tool, measured) in done.by_tool.iter().enumerate() {
        let cell = match (measured, done.ratio(tool)) {
            (None, _) => String::new(),
            (Some(Err(why)), _) => why.clone(),
            (Some(Ok(measured)), ratio) => {
                let cost = cost(measured);
                match ratio {
                    _ if tool == 0 => cost,
                    Some(ratio) => format!("{cost} {ratio:.2}×"),
                    None => format!("{cost} has {}", measured.answer),
                }
            }
        };
        line += &format!(" {cell:>16}");
    }
    line
}

fn cost(measured: &Measured) -> String {
    match measured.answer.executions() {
        Some(executions) if executions > 0 => {
            format!("{:.2}", measured.seconds * 1e6 / executions as f64)
        }
        _ => format!("{:.2} s", measured.seconds),
    }
}

/// The geometric mean of each peer's ratios, and the least of them, by engine.
fn summary(tools: &[Tool], done: &[Done]) -> String {
    let mut lines = Vec::new();
    let mut engines: Vec<&str> = done.iter().map(|done| done.row.engine).collect();
    engines.dedup();
    for (index, tool) in tools.iter().enumerate().skip(1) {
        for engine in &engines {
            let rows = done.iter().filter(|done| done.row.engine == *engine);
            let ratios: Vec<f64> = rows.filter_map(|done| done.ratio(index)).collect();
            if let Some(mean) = geometric_mean(&ratios) {
                let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
                lines.push(format!(
                    "{} takes {mean:.2} times as long as `{engine}` (geometric mean of {} rows; least {least:.2})",
                    tool.name,
                    ratios.len()
                ));
            }
        }
    }
    lines.join("\n")
}

fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (sum / ratios.len() as f64).exp())
}

fn shortened(name: &str, most: usize) -> String {
    name.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::tool::Answer;
    use super::*;

    fn done(ours: u64, theirs: u64) -> Done {
        let measured = |complete, seconds| {
            let answer = Answer::Executions {
                complete,
                blocked: 0,
            };
            Some(Ok(Measured { answer, seconds }))
        };
        Done {
            row: rows::all().next().unwrap(),
            by_tool: vec![measured(ours, 0.5), measured(theirs, 2.0)],
        }
    }

    #[test]
    fn only_equal_counts_make_ratios() {
        assert_eq!(done(7, 7).ratio(1), Some(4.0));
        assert_eq!(done(7, 8).ratio(1), None);
        assert!(line(&done(7, 8)).contains("has 8"));
        assert_eq!(geometric_mean(&[]), None);
        assert!((geometric_mean(&[2.0, 8.0]).unwrap() - 4.0).abs() < 1e-9);
    }

    #[test]
    fn options_are_checked() {
        let args = parse(&[
            "--against",
            "raddle=/bin/sh",
            "genmc=/bin/sh",
            "--engine",
            "rf",
            "sigma",
        ])
        .unwrap();
        assert_eq!(args.peers.len(), 2);
        assert_eq!(rows::all().filter(|row| args.wants(*row)).count(), 1);
        assert!(parse(&["--against"]).unwrap_err().contains("needs a value"));
        assert!(
            parse(&["--runs", "0"])
                .unwrap_err()
                .contains("not a number of runs")
        );
        assert!(parse(&["--quick"]).unwrap_err().contains("no such option"));
    }
}
