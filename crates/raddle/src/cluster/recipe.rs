//! How a program is made of its IR, and how it is searched: what a worker has to know besides the IR. It reads no file that the program came from.

use raddle_ir::parse_module;
use raddle_program::ReleaseSequences;
use raddle_program::interp::{
    InterpOptions, Interpreter, OnMainReturn, PanicPolicy, SpuriousFailures,
};
use raddle_search::parallel::{ProgramSource, Setup};
use raddle_search::{Checks, MemoryModel, Reductions, Watch};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recipe {
    unroll: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    threads: Option<u32>,
    leaves_out_pure_iterations: bool,
    exits_with_main: bool,
    any_panic: bool,
    spurious_wakeups: bool,
    /// 0 none, 1 locks, 2 all.
    spurious_failures: u8,
    leaves_out_idle_failures: bool,
    collapses_spins: bool,
    volatile_is_atomic: bool,
    malloc_may_fail: bool,
    same_thread_release_sequences: bool,
    check_overflow: bool,
    check_uninit: bool,
    check_every_byte: bool,
    silent_abort: bool,
    args: Vec<String>,
    env: Vec<String>,
    entry: String,
    memory: String,
    /// Assertions, memory, races, deadlocks, livelocks, overflows, uninit, only error calls.
    checks: [bool; 8],
    /// Purity, awaits, net effect, ifaa.
    reductions: [bool; 4],
    keep_going: bool,
}

impl Recipe {
    pub(super) fn new(
        options: &InterpOptions,
        memory: MemoryModel,
        checks: Checks,
        reductions: Reductions,
        keep_going: bool,
    ) -> Self {
        // Whoever adds an option has to say here how workers learn of it.
        let InterpOptions {
            unroll,
            threads,
            leaves_out_pure_iterations,
            on_main_return,
            panic,
            spurious_wakeups,
            spurious_failures,
            leaves_out_idle_failures,
            collapses_spins,
            volatile_is_atomic,
            malloc_may_fail,
            release_sequences,
            check_overflow,
            check_uninit,
            check_every_byte,
            svcomp_abort_silent,
            args,
            env,
            entry,
            // Engine `graph` does not have it.
            reuse_addresses: _,
            // `raddle check` with an engine that explores leaves these as they are.
            orderings: _,
            keeps_unwritten: _,
            first_bytes: _,
            max_private_steps: _,
            max_call_depth: _,
            snapshot_limit: _,
            wide_choices: _,
        } = options.clone();
        let Checks {
            assertions,
            memory: memory_checks,
            races,
            deadlocks,
            livelocks,
            overflows,
            uninit,
            only_error_calls,
        } = checks;
        let Reductions {
            purity,
            awaits,
            net_effect,
            ifaa,
        } = reductions;
        Self {
            unroll,
            threads,
            leaves_out_pure_iterations,
            exits_with_main: on_main_return == OnMainReturn::Exit,
            any_panic: panic == PanicPolicy::Any,
            spurious_wakeups,
            spurious_failures: match spurious_failures {
                SpuriousFailures::None => 0,
                SpuriousFailures::Locks => 1,
                SpuriousFailures::All => 2,
            },
            leaves_out_idle_failures,
            collapses_spins,
            volatile_is_atomic,
            malloc_may_fail,
            same_thread_release_sequences: release_sequences == ReleaseSequences::SameThread,
            check_overflow,
            check_uninit,
            check_every_byte,
            silent_abort: svcomp_abort_silent,
            args,
            env,
            entry,
            memory: memory.name().to_owned(),
            checks: [
                assertions,
                memory_checks,
                races,
                deadlocks,
                livelocks,
                overflows,
                uninit,
                only_error_calls,
            ],
            reductions: [purity, awaits, net_effect, ifaa],
            keep_going,
        }
    }

    fn interpretation(&self) -> InterpOptions {
        InterpOptions {
            unroll: self.unroll,
            threads: self.threads,
            leaves_out_pure_iterations: self.leaves_out_pure_iterations,
            on_main_return: match self.exits_with_main {
                true => OnMainReturn::Exit,
                false => OnMainReturn::Wait,
            },
            panic: match self.any_panic {
                true => PanicPolicy::Any,
                false => PanicPolicy::Unhandled,
            },
            spurious_wakeups: self.spurious_wakeups,
            spurious_failures: match self.spurious_failures {
                0 => SpuriousFailures::None,
                1 => SpuriousFailures::Locks,
                _ => SpuriousFailures::All,
            },
            leaves_out_idle_failures: self.leaves_out_idle_failures,
            collapses_spins: self.collapses_spins,
            volatile_is_atomic: self.volatile_is_atomic,
            malloc_may_fail: self.malloc_may_fail,
            release_sequences: match self.same_thread_release_sequences {
                true => ReleaseSequences::SameThread,
                false => ReleaseSequences::UpdatesOnly,
            },
            check_overflow: self.check_overflow,
            check_uninit: self.check_uninit,
            check_every_byte: self.check_every_byte,
            svcomp_abort_silent: self.silent_abort,
            args: self.args.clone(),
            env: self.env.clone(),
            entry: self.entry.clone(),
            ..InterpOptions::default()
        }
    }

    /// Makes the program, as often as it is asked for.
    pub(super) fn source(&self, ir: &Arc<str>) -> ProgramSource {
        let (ir, options) = (Arc::clone(ir), self.interpretation());
        Arc::new(move || {
            let module = parse_module(Arc::clone(&ir), "LLVM IR").ok()?;
            Interpreter::load(module, options.clone()).ok()
        })
    }

    /// None if the memory model is unknown.
    pub(super) fn setup(&self, watch: &Arc<Watch>) -> Option<Setup> {
        let models = [
            MemoryModel::Sc,
            MemoryModel::Tso,
            MemoryModel::Pso,
            MemoryModel::C11,
        ];
        let memory = models.into_iter().find(|it| it.name() == self.memory)?;
        let [
            assertions,
            memory_checks,
            races,
            deadlocks,
            livelocks,
            overflows,
            uninit,
            only_error_calls,
        ] = self.checks;
        let [purity, awaits, net_effect, ifaa] = self.reductions;
        Some(Setup {
            memory,
            checks: Checks {
                assertions,
                memory: memory_checks,
                races,
                deadlocks,
                livelocks,
                overflows,
                uninit,
                only_error_calls,
            },
            reductions: Reductions {
                purity,
                awaits,
                net_effect,
                ifaa,
            },
            keep_going: self.keep_going,
            leaves_values_to_formulas: false,
            reach: None,
            is_kept: false,
            watch: Arc::clone(watch),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Options that differ in every respect come back as they were.
    #[test]
    fn what_is_told_is_what_was_asked_for() {
        let options = InterpOptions {
            unroll: Some(3),
            threads: Some(5),
            leaves_out_pure_iterations: true,
            on_main_return: OnMainReturn::Exit,
            panic: PanicPolicy::Any,
            spurious_wakeups: true,
            spurious_failures: SpuriousFailures::Locks,
            leaves_out_idle_failures: true,
            collapses_spins: false,
            volatile_is_atomic: true,
            malloc_may_fail: true,
            release_sequences: ReleaseSequences::SameThread,
            check_overflow: true,
            check_uninit: true,
            check_every_byte: true,
            svcomp_abort_silent: true,
            args: vec!["program".to_owned(), "7".to_owned()],
            entry: "start".to_owned(),
            ..InterpOptions::default()
        };
        let reductions = Reductions {
            ifaa: false,
            ..Reductions::default()
        };
        let recipe = |options: &InterpOptions| {
            Recipe::new(
                options,
                MemoryModel::Tso,
                Checks::default(),
                reductions,
                true,
            )
        };
        let told = recipe(&options);
        let text = serde_json::to_string(&told).unwrap();
        let read: Recipe = serde_json::from_str(&text).unwrap();
        assert_eq!(read, told);
        assert_eq!(recipe(&read.interpretation()), told);
        assert_ne!(recipe(&InterpOptions::default()), told);
        let setup = read.setup(&Arc::new(Watch::new(None, None))).unwrap();
        assert_eq!(setup.checks, Checks::default());
        assert!(setup.keep_going && !setup.reductions.ifaa);
        assert_eq!(setup.memory, MemoryModel::Tso);
    }
}
