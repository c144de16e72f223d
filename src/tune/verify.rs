//! The verification gate in a replay.

use std::time::Duration;

use super::replay::{End, Run, What};
use crate::document::Judge;
use crate::event::{
    ExitReason, Grounds, MechanismName, PerceptionTrigger, VerificationConsequence as Consequence, VerificationState,
    VerificationTrigger as Trigger,
};
use crate::mechanism::verification::{Finding, Gate};

impl Run<'_> {
    /// Time passes until an action is over. The watchdog wakes on the way, when nothing happens for long.
    pub(super) fn pass(&mut self, time: Duration) {
        let over = self.now.at + time;
        while let Some(left) = self.gate.until_watchdog(&self.candidate.settings.verification, self.now) {
            if self.now.at + left >= over || self.out.end.is_some() {
                break;
            }
            self.now.at += left;
            self.verify(Trigger::Watchdog);
            self.gate.active(self.now);
        }
        self.now.at = self.now.at.max(over);
    }

    /// Whether the loop may end, now that the agent wants to.
    pub(super) fn may_end(&mut self) -> bool {
        self.verify(Trigger::Finish) != Consequence::Refused
    }

    /// Looks whether the goal is reached, where the gate's throttles let it, and does what follows.
    pub(super) fn verify(&mut self, trigger: Trigger) -> Consequence {
        let settings = &self.candidate.settings.verification;
        let verdict = self.gate.should_verify(settings, trigger, self.now);
        if !verdict.act {
            let (consequence, because) = Gate::unasked(trigger, &verdict);
            self.follow(consequence, because);
            return consequence;
        }
        self.gate.begin();
        let reached = self.reached.is_some();
        // What programs say is true, and costs no call. A model is asked when they have nothing against it.
        let by_programs = settings.judge == Judge::Checks || (settings.judge == Judge::Both && !reached);
        let asked = self.now.at;
        let satisfied = if by_programs {
            reached
        } else {
            let question = self.question(MechanismName::Verification);
            let first = reached && !std::mem::replace(&mut self.looked_since, reached);
            let satisfied = self.ai.done(question, reached, first);
            self.ask(question);
            satisfied
        };
        let state = VerificationState {
            satisfied,
            missing: if satisfied { Vec::new() } else { self.ai.missing(&self.topics) },
            next_movements: if satisfied { Vec::new() } else { self.ai.movements(self.now.iteration) },
            ..VerificationState::default()
        };
        let finding = Finding { satisfied: Some(satisfied), by_programs, news: false, state };
        let (consequence, because) = self.gate.conclude(settings, trigger, finding, self.now);
        let ends = matches!(consequence, Consequence::Satisfied | Consequence::Unverified);
        if by_programs {
            self.mark_at(asked, MechanismName::Verification, What::Check, !ends, verdict.grounds);
        } else {
            self.called(MechanismName::Verification, asked, !ends, verdict.grounds);
        }
        self.follow(consequence, because);
        if !ends {
            self.perceive(PerceptionTrigger::Verification);
        }
        consequence
    }

    /// Ends the loop, where that follows.
    fn follow(&mut self, consequence: Consequence, because: Grounds) {
        let reason = match consequence {
            Consequence::Satisfied => ExitReason::Satisfied,
            Consequence::Unverified => ExitReason::Unverified,
            Consequence::Continue | Consequence::Refused => return,
        };
        if reason == ExitReason::Satisfied {
            match self.reached {
                Some(_) => self.out.goal = self.lag(self.history.goal_at, self.reached),
                None => self.out.false_alarms += 1,
            }
        }
        self.mark(MechanismName::Verification, What::End, false, because);
        self.out.end = Some(End { reason, iteration: self.now.iteration });
    }
}
