//! Runs one execution of a module given as LLVM IR text, threads in turn, and prints its operations.
//!
//! `cargo run -p raddle-program --example run_ll -- FILE.ll [--trace]`

#[path = "../tests/interp/driver.rs"]
#[allow(dead_code)]
mod driver;

fn main() {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next() else {
        eprintln!("usage: run_ll FILE.ll [--trace]");
        std::process::exit(2);
    };
    let with_trace = args.next().is_some();
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{path}: {error}");
            std::process::exit(2);
        }
    };
    let start = std::time::Instant::now();
    let run = driver::run(&text);
    if with_trace {
        for (thread, op) in &run.trace {
            println!("{thread:?} {op:?}");
        }
    }
    print!("{}", run.output);
    println!(
        "{:?} after {} operations, {} states, {:?}",
        run.end,
        run.trace.len(),
        run.program.state_count(),
        start.elapsed()
    );
}
