//! What a formula is asked, and what may be made of the answers.

use super::Problem;
use crate::coverage::Ends;
use raddle_judge::Checks;
use raddle_order::bits::Bit;
use raddle_order::{Limits, Lit, Outcome, Stopped};
use raddle_program::SrcId;

/// A question was asked, and answered: in no execution. Made here alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsat(());

/// A question was not answered by no.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unsettled {
    /// There is an execution; [`Problem::found`] is about it until the next question.
    Found,
    GaveUp(Stopped),
}

impl Unsat {
    fn of(outcome: Outcome) -> Result<Self, Unsettled> {
        match outcome {
            Outcome::Unsat => Ok(Self(())),
            Outcome::Sat => Err(Unsettled::Found),
            Outcome::Unknown(why) => Err(Unsettled::GaveUp(why)),
        }
    }
}

impl Problem {
    /// Does a thread commit what is looked for?
    pub(crate) fn ask_for_fault(
        &mut self,
        checks: Checks,
        limits: &Limits<'_>,
    ) -> Result<Unsat, Unsettled> {
        let bad = self.encoding.errors.iter();
        let bad = bad.filter(|bad| checks.covers(&bad.fault));
        let bad: Vec<Bit> = bad.map(|bad| bad.guard).collect();
        self.ask_named("fault", &bad, limits)
    }

    /// Do threads wait for good, be it in loops? Unsat, if that is not looked for.
    pub(crate) fn ask_for_deadlock(
        &mut self,
        in_loops: bool,
        limits: &Limits<'_>,
    ) -> Result<Unsat, Unsettled> {
        let question = self
            .deadlock
            .and_then(|deadlock| deadlock.question(in_loops));
        let outcome = match &question {
            Some(question) => self.solver.solve(question, limits),
            None => Outcome::Unsat,
        };
        let never = Unsat::of(outcome)?;
        let groups: Vec<Vec<Lit>> = question.into_iter().collect();
        self.prove_no(if in_loops { "spin" } else { "deadlock" }, &groups);
        Ok(never)
    }

    /// Is there a data race? Unsat, if that is not looked for.
    pub(crate) fn ask_for_race(
        &mut self,
        checks: Checks,
        limits: &Limits<'_>,
    ) -> Result<Unsat, Unsettled> {
        let never = Unsat::of(match checks.races {
            true => self.race(limits),
            false => Outcome::Unsat,
        })?;
        let groups: Vec<Vec<Lit>> = self.race.into_iter().map(|asked| vec![asked]).collect();
        self.prove_no("race", &groups);
        Ok(never)
    }

    /// Is something met that cannot be encoded?
    pub(crate) fn ask_for_refusal(&mut self, limits: &Limits<'_>) -> Result<Unsat, Unsettled> {
        let refusals = self.encoding.refusals.iter();
        let refusals: Vec<Bit> = refusals.map(|refusal| refusal.guard).collect();
        self.ask_named("refusal", &refusals, limits)
    }

    /// Is a bound exceeded that is not less than this one?
    pub(crate) fn ask_for_cut(
        &mut self,
        bound: u32,
        limits: &Limits<'_>,
    ) -> Result<Unsat, Unsettled> {
        let cuts: Vec<Bit> = self.encoding.cuts.guards(bound).collect();
        let name = if bound == 0 { "cut" } else { "limit" };
        self.ask_named(name, &cuts, limits)
    }

    /// Would a thread start more than executions of the threads that were asked for have?
    pub(crate) fn ask_for_more_threads(&mut self, limits: &Limits<'_>) -> Result<Unsat, Unsettled> {
        let crowds: Vec<Bit> = self.encoding.crowds.iter().map(|it| it.guard).collect();
        self.ask_named("threads", &crowds, limits)
    }

    /// Where threads stop for that in the execution that answered the last question.
    pub(crate) fn found_crowds(&self) -> Vec<SrcId> {
        let solver = &self.solver;
        let mut reading = self.encoding.bits.read(|lit| solver.value(lit));
        let crowds = self.encoding.crowds.iter();
        let crowds = crowds.filter(|crowd| reading.bit(crowd.guard));
        crowds.map(|crowd| crowd.at).collect()
    }

    /// Asks for executions in which one of `conditions` holds. If there are none, proofs say so under this name.
    fn ask_named(
        &mut self,
        name: &'static str,
        conditions: &[Bit],
        limits: &Limits<'_>,
    ) -> Result<Unsat, Unsettled> {
        let never = Unsat::of(self.ask(conditions, limits))?;
        if self.solver.proof().is_some() {
            let lits = conditions.iter().map(|&condition| self.lit(condition));
            let groups: Vec<Vec<Lit>> = lits.map(|lit| vec![lit]).collect();
            self.prove_no(name, &groups);
        }
        Ok(never)
    }

    /// No execution fulfils all that one of `groups` says.
    fn prove_no(&mut self, name: &'static str, groups: &[Vec<Lit>]) {
        if let Some(proof) = self.solver.proof() {
            proof.no(name, groups);
        }
    }

    /// Where the execution that answered the last question exceeds its bound.
    pub(crate) fn found_cuts(&self) -> Vec<SrcId> {
        let solver = &self.solver;
        let mut reading = self.encoding.bits.read(|lit| solver.value(lit));
        let cuts = self.encoding.cuts.all.iter();
        let mut places: Vec<SrcId> = cuts
            .filter(|cut| reading.bit(cut.guard))
            .map(|cut| cut.at)
            .collect();
        places.dedup();
        places
    }

    /// Does every thread that is started finish, or the process exit? A fault that is not looked for is an end, too; so is that a thread would
    /// start more than were asked for, if all others have finished and there is one.
    pub(crate) fn ask_for_end(&mut self, limits: &Limits<'_>) -> Result<Ends, Stopped> {
        let encoding = &mut self.encoding;
        let open = encoding.any_open_block();
        let bits = &mut encoding.bits;
        let (mut all, mut any) = (Bit::TRUE, Bit::FALSE);
        for (index, thread) in encoding.threads.iter().enumerate() {
            let mine = encoding.crowds.iter().filter(|it| it.thread == index);
            let is_cut = bits.any(mine.map(|crowd| crowd.guard));
            let fine = bits.bit_or(!thread.started, thread.finished);
            let fine = bits.bit_or(fine, is_cut);
            all = bits.bit_and(all, fine);
            let finishes = bits.bit_and(thread.started, thread.finished);
            any = bits.bit_or(any, finishes);
        }
        let all = bits.bit_and(all, any);
        let faults = encoding.errors.iter().map(|bad| bad.guard);
        let exits = bits.any(encoding.exits.iter().copied());
        let exits = bits.bit_and(exits, !open);
        let ends = bits.any(faults.chain([exits, all]));
        match Unsat::of(self.ask_one(ends, limits, u64::MAX)) {
            Ok(Unsat(())) => Ok(Ends::None),
            Err(Unsettled::Found) => Ok(Ends::Some),
            Err(Unsettled::GaveUp(why)) => Err(why),
        }
    }
}
