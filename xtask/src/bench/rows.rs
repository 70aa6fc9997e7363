//! What is measured: programs of `benchmarks/`, with a size at which an engine takes some tenths of a second.

#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The engine of Raddle; peers are asked in the mode that tells the same executions apart.
    pub(super) engine: &'static str,
    pub(super) program: &'static str,
    pub(super) n: u32,
}

/// All rows, by engine.
pub(super) fn all() -> impl Iterator<Item = Row> {
    let of = |engine, rows: &'static [(&'static str, u32)]| {
        rows.iter()
            .map(move |&(program, n)| Row { engine, program, n })
    };
    of("dpor", DPOR).chain(of("rf", RF)).chain(of("bmc", BMC))
}

const DPOR: &[(&str, u32)] = &[
    ("control-flow", 7),
    ("exponential-bug", 5),
    ("redundant-co", 7),
    ("monabsex1", 6),
    ("casrot", 11),
    ("readers", 15),
    ("reorder", 6),
    ("floating-read", 8),
    ("lastwrite", 9),
    ("sigma", 7),
    ("opt-lock", 11),
    ("fib-bench", 5),
    ("lastzero", 14),
    ("approxds-append", 5),
    ("race-parametric", 5),
    ("circular-buffer", 8),
];

const RF: &[(&str, u32)] = &[
    ("circular-buffer", 8),
    ("monabsex1", 6),
    ("myexample", 6),
    ("approxds-append", 5),
    ("sigma", 8),
    ("readers", 13),
    ("fib-bench", 4),
    ("casrot", 10),
    ("exponential-bug", 5),
    ("opt-lock", 100),
];

const BMC: &[(&str, u32)] = &[("fib-bench", 5), ("fib-bench", 6), ("fib-bench", 8)];

#[cfg(test)]
mod tests {
    #[test]
    fn every_row_has_a_program() {
        for row in super::all() {
            let file = crate::tasks::root().join(format!("benchmarks/{}.c", row.program));
            assert!(file.is_file(), "{}", file.display());
        }
    }
}
