//! What engines there are, and what each of them can do. Who asks an engine for something looks here first.

use crate::checks::Check;
use raddle_memory::MemoryModel::{self, C11, Pso, Sc, Tso};

/// What others know about an engine.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    pub name: &'static str,
    /// Does it run executions, one after another? Those that do can be asked about any program, the others about modules only.
    pub explores: bool,
    /// Does it run each execution that it tells from others? Otherwise there is no number of them to speak of.
    pub counts_executions: bool,
    /// The memory models that it knows.
    pub models: &'static [MemoryModel],
    /// Those of them under which it refuses no program that others explore.
    pub whole_models: &'static [MemoryModel],
    /// Does it recognise iterations of loops in which a thread only waits?
    pub knows_purity: bool,
    /// Does it leave the order of writes open that nobody reads, or whose values are the same?
    pub leaves_writes_unordered: bool,
    /// Does it take executions for the same in which reads find the same values, whether somebody wrote them or not?
    pub compares_values: bool,
    /// Can several explore at the same time?
    pub has_workers: bool,
    /// Can what is left of a search be kept, and gone on with?
    pub has_checkpoints: bool,
    /// Checks that it does not make.
    pub lacks: &'static [Check],
    /// Options of the command line that mean nothing to it.
    pub refuses: &'static [&'static str],
}

/// An engine that explores under sequential consistency, and does nothing special.
const PLAIN: Descriptor = Descriptor {
    name: "",
    explores: true,
    counts_executions: true,
    models: &[Sc],
    whole_models: &[Sc],
    knows_purity: false,
    leaves_writes_unordered: false,
    compares_values: false,
    has_workers: false,
    has_checkpoints: false,
    lacks: &[],
    refuses: &[],
};

/// Written once, so that no list of engines can lack one.
macro_rules! engines {
    ($($kind:ident { $($field:ident: $value:expr),* $(,)? })*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum EngineKind {
            $($kind,)*
        }

        impl EngineKind {
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];

            #[must_use]
            pub const fn descriptor(self) -> &'static Descriptor {
                match self {
                    $(Self::$kind => {
                        const IT: Descriptor = Descriptor { $($field: $value,)* ..PLAIN };
                        &IT
                    })*
                }
            }
        }
    };
}

engines! {
    Naive {
        name: "naive",
        models: &[Sc, Tso, Pso],
        whole_models: &[Sc, Tso, Pso],
    }
    Dpor {
        name: "dpor",
        knows_purity: true,
        has_workers: true,
        has_checkpoints: true,
    }
    Rf {
        name: "rf",
        knows_purity: true,
        leaves_writes_unordered: true,
        has_workers: true,
        has_checkpoints: true,
        refuses: &["--reuse-addresses"],
    }
    Rvf {
        name: "rvf",
        knows_purity: true,
        leaves_writes_unordered: true,
        compares_values: true,
        has_workers: true,
        has_checkpoints: true,
        refuses: &["--reuse-addresses"],
    }
    Mcr {
        name: "mcr",
        knows_purity: true,
        leaves_writes_unordered: true,
        compares_values: true,
        has_workers: true,
        refuses: &["--reuse-addresses"],
    }
    Icb {
        name: "icb",
    }
    Bpor {
        name: "bpor",
    }
    // It refuses atomics of several sizes, and takes atomic blocks for critical sections of one lock: under the model of the language
    // nobody says better, under other models others do.
    Graph {
        name: "graph",
        models: &[Sc, Tso, Pso, C11],
        whole_models: &[C11],
        knows_purity: true,
        has_workers: true,
        has_checkpoints: true,
        refuses: &["--reuse-addresses"],
    }
    // What it finds depends on states alone, and a race on how one came there.
    States {
        name: "states",
        counts_executions: false,
        models: &[Sc, Tso, Pso],
        whole_models: &[],
        lacks: &[Check::Race, Check::Livelock],
        refuses: &["--reuse-addresses"],
    }
    // It asks a formula, which has one violation or none, and whose blocks of memory are always there.
    Bmc {
        name: "bmc",
        explores: false,
        counts_executions: false,
        models: &[Sc, Tso, Pso],
        whole_models: &[],
        has_workers: true,
        lacks: &[Check::Livelock],
        refuses: &["--keep-going", "--max-executions", "--malloc-may-fail", "--reuse-addresses"],
    }
}

impl EngineKind {
    #[must_use]
    pub fn name(self) -> &'static str {
        self.descriptor().name
    }

    /// See [`Descriptor::explores`].
    #[must_use]
    pub fn explores(self) -> bool {
        self.descriptor().explores
    }

    /// See [`Descriptor::counts_executions`].
    #[must_use]
    pub fn counts_executions(self) -> bool {
        self.descriptor().counts_executions
    }

    /// The engines that explore executions under this memory model, and can be compared with each other on every program.
    pub fn exploring(memory: MemoryModel) -> impl Iterator<Item = Self> {
        let all = Self::ALL.iter().copied();
        all.filter(move |engine| engine.explores() && engine.handles_everything(memory))
    }

    /// Does it answer for every program under this memory model that others answer for?
    #[must_use]
    pub fn handles_everything(self, memory: MemoryModel) -> bool {
        self.descriptor().whole_models.contains(&memory)
    }

    /// See [`Descriptor::knows_purity`].
    #[must_use]
    pub fn knows_purity(self) -> bool {
        self.descriptor().knows_purity
    }

    /// See [`Descriptor::leaves_writes_unordered`].
    #[must_use]
    pub fn leaves_writes_unordered(self) -> bool {
        self.descriptor().leaves_writes_unordered
    }

    /// Does the engine know this memory model?
    #[must_use]
    pub fn supports(self, memory: MemoryModel) -> bool {
        self.descriptor().models.contains(&memory)
    }

    /// Does it make this check?
    #[must_use]
    pub fn makes(self, check: Check) -> bool {
        !self.descriptor().lacks.contains(&check)
    }

    /// Does it do what this option of the command line asks for?
    #[must_use]
    pub fn takes(self, option: &str) -> bool {
        !self.descriptor().refuses.contains(&option)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_make_sense() {
        for &engine in EngineKind::ALL {
            let it = engine.descriptor();
            assert!(!it.name.is_empty() && !it.models.is_empty(), "{engine:?}");
            let known = |model| it.models.contains(model);
            assert!(it.whole_models.iter().all(known), "{engine:?}");
            // A search that can be kept is one in pieces.
            assert!(it.has_workers || !it.has_checkpoints, "{engine:?}");
            let same_name = EngineKind::ALL
                .iter()
                .filter(|other| other.name() == it.name);
            assert_eq!(same_name.count(), 1, "{engine:?}");
        }
    }
}
