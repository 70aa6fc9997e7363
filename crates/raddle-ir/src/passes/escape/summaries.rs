//! What functions do with their parameters.

use super::flow::Flow;
use crate::ids::{FuncId, ValueId};
use crate::module::Module;
use crate::passes::BodyProvider;
use rustc_hash::FxHashMap;

/// What becomes of an address that is passed to a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParamSummary {
    /// It may be seen by other threads, or be used after the call other than through the result.
    pub captured: bool,
    /// The result of the call may carry it.
    pub returned: bool,
}

impl ParamSummary {
    /// The worst. A captured address always counts as returned, so that summaries only grow while they are computed.
    pub const CAPTURED: Self = Self {
        captured: true,
        returned: true,
    };
}

/// The analysis, with the summaries found so far. Bodies must not change as long as it lives.
pub struct Escapes<'o> {
    oracle: &'o dyn Fn(&str, usize) -> bool,
    /// Absent for functions without body.
    summaries: FxHashMap<FuncId, Option<Vec<ParamSummary>>>,
}

impl<'o> Escapes<'o> {
    /// `does_not_capture(name, index)` says of functions without body that the argument of that index is neither written
    /// to any memory, nor kept beyond the call, nor shown to another thread. It may be returned. The question is also
    /// asked about arguments past the last parameter.
    #[must_use]
    pub fn new(does_not_capture: &'o dyn Fn(&str, usize) -> bool) -> Self {
        Self {
            oracle: does_not_capture,
            summaries: FxHashMap::default(),
        }
    }

    pub(super) fn oracle(&self) -> &'o dyn Fn(&str, usize) -> bool {
        self.oracle
    }

    /// What `function` does with its parameter of that index.
    pub fn param(
        &mut self,
        module: &mut Module,
        bodies: &mut dyn BodyProvider,
        function: FuncId,
        index: usize,
    ) -> ParamSummary {
        self.summarise_all(module, bodies, &[function]);
        self.summary(function, index).unwrap_or_else(|| {
            match (self.oracle)(&module.function(function).name, index) {
                true => ParamSummary::default(),
                false => ParamSummary::CAPTURED,
            }
        })
    }

    /// The summary, once computed; `None` for functions without body.
    pub(super) fn summary(&self, function: FuncId, index: usize) -> Option<ParamSummary> {
        match self.summaries.get(&function) {
            Some(Some(params)) => {
                Some(params.get(index).copied().unwrap_or(ParamSummary::CAPTURED))
            }
            Some(None) => None,
            // Never asked for in a run that was preceded by discovery; the safe answer costs nothing.
            None => Some(ParamSummary::CAPTURED),
        }
    }

    /// Computes the summaries of `roots` and everything they pass parameters on to.
    pub(super) fn summarise_all(
        &mut self,
        module: &mut Module,
        bodies: &mut dyn BodyProvider,
        roots: &[FuncId],
    ) {
        for &root in roots {
            self.summarise(module, bodies, root);
        }
    }

    /// Tarjan's algorithm over the calls that pass parameters on, without recursion. A component is complete, and its
    /// callees summarised, when it is left.
    fn summarise(&mut self, module: &mut Module, bodies: &mut dyn BodyProvider, root: FuncId) {
        if self.summaries.contains_key(&root) {
            return;
        }
        let mut search = Search::default();
        self.visit(module, bodies, root, &mut search);
        while let Some(top) = search.path.last_mut() {
            if let Some(&callee) = top.callees.get(top.next) {
                top.next += 1;
                if self.summaries.contains_key(&callee) {
                    continue;
                }
                match search.numbers.get(&callee) {
                    Some(&number) => top.low = top.low.min(number),
                    None => self.visit(module, bodies, callee, &mut search),
                }
                continue;
            }
            let Some(done) = search.path.pop() else { break };
            if let Some(parent) = search.path.last_mut() {
                parent.low = parent.low.min(done.low);
            }
            if done.low == done.number {
                let start = search
                    .open
                    .iter()
                    .position(|&f| f == done.function)
                    .unwrap_or(0);
                let component = search.open.split_off(start);
                self.solve(module, bodies, &component);
            }
        }
    }

    fn visit(
        &mut self,
        module: &mut Module,
        bodies: &mut dyn BodyProvider,
        function: FuncId,
        search: &mut Search,
    ) {
        let Some(body) = bodies.body(module, function) else {
            self.summaries.insert(function, None);
            return;
        };
        let flow = Flow::new(module, body, self.oracle);
        let mut callees = Vec::new();
        for param in (0..body.param_count).map(ValueId) {
            flow.discover(flow.uses(param), &mut callees);
        }
        let number = search.numbers.len();
        search.numbers.insert(function, number);
        search.open.push(function);
        search.path.push(Frame {
            function,
            number,
            low: number,
            callees,
            next: 0,
        });
    }

    /// The least fixpoint of a component, from "nothing is captured or returned" up.
    fn solve(&mut self, module: &mut Module, bodies: &mut dyn BodyProvider, component: &[FuncId]) {
        for &function in component {
            let count = bodies.body(module, function).map(|body| body.param_count);
            let nothing = count.map(|count| vec![ParamSummary::default(); count as usize]);
            self.summaries.insert(function, nothing);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &function in component {
                let Some(body) = bodies.body(module, function) else {
                    continue;
                };
                let flow = Flow::new(module, body, self.oracle);
                let mut params = Vec::new();
                for param in (0..body.param_count).map(ValueId) {
                    let (summary, _) = flow.run(flow.uses(param), &mut |callee, index| {
                        self.summary(callee, index)
                    });
                    params.push(summary);
                }
                let new = Some(params);
                if self.summaries.get(&function) != Some(&new) {
                    self.summaries.insert(function, new);
                    changed = true;
                }
            }
        }
    }
}

/// One function on the path of the search.
struct Frame {
    function: FuncId,
    number: usize,
    /// The smallest number reachable by at most one edge back into the open components.
    low: usize,
    callees: Vec<FuncId>,
    next: usize,
}

#[derive(Default)]
struct Search {
    path: Vec<Frame>,
    /// Functions whose component is not complete yet.
    open: Vec<FuncId>,
    numbers: FxHashMap<FuncId, usize>,
}
