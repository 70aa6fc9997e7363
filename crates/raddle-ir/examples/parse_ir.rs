//! Reads modules and all of their bodies, and says how fast: `cargo run --release --example parse_ir -- a.ll b.ll`.

use raddle_ir::{FuncId, parse_module, verify};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let mut failures = 0;
    for path in std::env::args().skip(1) {
        if let Err(message) = read(&path) {
            println!("{message}");
            failures += 1;
        }
    }
    if failures == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn read(path: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let bytes = text.len();
    let start = Instant::now();
    let mut module = parse_module(text, path).map_err(|e| e.to_string())?;
    let top = start.elapsed();
    let start = Instant::now();
    let mut blocks = 0;
    let mut insts = 0;
    let defined: Vec<_> = (0..module.functions.len())
        .map(FuncId::from_index)
        .filter(|&id| !module.function(id).is_declaration)
        .collect();
    let mut parsed = Vec::with_capacity(defined.len());
    for &id in &defined {
        parsed.push(module.parse_body(id).map_err(|e| e.to_string())?);
    }
    let bodies = start.elapsed();
    for (body, &id) in parsed.iter().zip(&defined) {
        let name = &module.function(id).name;
        verify(&module, body).map_err(|e| format!("{path}: @{name}: {e}"))?;
        blocks += body.blocks.len();
        insts += body.blocks.iter().map(|b| b.insts.len()).sum::<usize>();
    }
    let rate = |time: std::time::Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    println!(
        "{path}: {:.2} MB, {} functions, {} bodies, {} globals, {blocks} blocks, {insts} instructions, {} positions, \
         {} source types; top level {:.1?} ({:.0} MB/s), bodies {:.1?} ({:.0} MB/s in all)",
        bytes as f64 / 1e6,
        module.functions.len(),
        defined.len(),
        module.globals.len(),
        module.debug.locs.len(),
        module.debug.types.len(),
        top,
        rate(top),
        bodies,
        rate(top + bodies),
    );
    Ok(())
}
