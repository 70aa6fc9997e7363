//! What a frame gathers about the executions of a search besides violations: what the answer rests on.

use crate::ending;
use crate::replay;
use crate::verdict::{Coverage, Statistics, UnsupportedAt};
use raddle_memory::Machine;
use raddle_program::{Limit, Program, SrcId, ThreadId, Unsupported};

#[derive(Clone, Default)]
pub(crate) struct Gathered {
    /// What is beyond Raddle; each once a place in the user's code.
    pub(crate) unsupported: Vec<UnsupportedAt>,
    /// Did an execution come to its end? One that a fault ended did, whether it is looked for or not.
    pub(crate) any_end: bool,
    /// The bounds that cut executions, and where.
    pub(crate) unrolled: Option<u32>,
    pub(crate) crowded: Option<u32>,
    cuts: Vec<SrcId>,
}

impl Gathered {
    /// What was counted so far is explored again.
    pub(crate) fn restarted(&mut self) {
        self.any_end = false;
    }

    /// A thread was cut short here, by a bound that was asked for. False if that is known, or if it was not asked for.
    pub(crate) fn cut(&mut self, limit: &Limit, at: SrcId) -> bool {
        match *limit {
            Limit::Unroll { bound } => self.unrolled = self.unrolled.max(Some(bound)),
            Limit::Threads { bound } => self.crowded = self.crowded.max(Some(bound)),
            _ => return false,
        }
        let is_new = !self.cuts.contains(&at);
        if is_new {
            self.cuts.push(at);
        }
        is_new
    }

    /// An execution has ended in which not every thread has.
    pub(crate) fn blocked(&mut self, program: &Program, machine: &mut Machine) {
        self.any_end = self.any_end
            || ending::is_faulted(program, machine)
            || ending::is_crowded(program, machine);
    }

    /// Is it known that threads come to this?
    pub(crate) fn knows(&self, program: &Program, what: &Unsupported, at: SrcId) -> bool {
        let tables = program.tables();
        let place = |at: SrcId| tables.user_source(at).unwrap_or(at);
        let mut all = self.unsupported.iter();
        all.any(|known| known.what == *what && (known.at == at || place(known.at) == place(at)))
    }

    /// A thread has come to something that Raddle cannot run.
    pub(crate) fn out_of_reach(
        &mut self,
        program: &Program,
        machine: &Machine,
        what: Unsupported,
        (thread, at): (ThreadId, SrcId),
    ) {
        if self.knows(program, &what, at) {
            return;
        }
        let steps = machine.steps();
        let trace = replay::trace(program, steps, steps.len());
        self.unsupported.push(UnsupportedAt {
            what,
            thread,
            at,
            trace,
        });
    }

    /// All of it, when the search is over.
    pub(crate) fn coverage(mut self, program: &mut Program, statistics: &Statistics) -> Coverage {
        let code = program.coverage();
        let tables = program.tables();
        let place = |at: SrcId| {
            let at = tables.user_source(at).unwrap_or(at);
            let loc = tables.source_loc(at);
            loc.map(|loc| (loc.file.clone(), loc.line, loc.column))
        };
        // In the order of the source; what has no place there comes first, as it was met.
        self.unsupported
            .sort_by_cached_key(|unsupported| place(unsupported.at));
        self.cuts.sort_by_cached_key(|&at| place(at));
        Coverage {
            ended: Some(self.any_end),
            cuts: self.cuts,
            code,
            // A thread that is alone sees its own writes in order, whatever their orderings.
            weak: match statistics.threads {
                0 | 1 => Default::default(),
                _ => program.weak_orderings(),
            },
            unsupported: self.unsupported,
            unfinished: None,
            not_checked: Vec::new(),
            left_out: Vec::new(),
            endless: None,
            memory_because: None,
        }
    }
}
