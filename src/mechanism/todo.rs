//! Todo checkpoints: a look at the open todos instead of a model call.

use super::settings::TodoSettings;
use super::throttle::Verdict;

/// What the list of todos says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Todos that are not done.
    pub open: u32,
    /// The id of the one that is worked on: the one marked so, or else the first open one.
    pub current: Option<String>,
}

/// The memory of todo checkpoints in one run of a loop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checkpoints {
    held: bool,
    current: Option<String>,
    /// Effective iterations on the current todo.
    iterations: u32,
}

impl Checkpoints {
    /// Whether an action that would end the loop is held back, now that it was chosen.
    ///
    /// Once in a run: whoever wants to end in spite of open todos has a reason. And not in the last iteration, where
    /// holding it back would turn a result into none.
    #[must_use]
    pub fn should_hold(&self, settings: &TodoSettings, plan: &Plan, last_iteration: bool) -> Verdict {
        let verdict = match () {
            () if !settings.enabled => return Verdict::no("off"),
            () if plan.open == 0 => Verdict::no("no_open_todos"),
            () if self.held => Verdict::no("held_before"),
            () if last_iteration => Verdict::no("last_iteration"),
            () => Verdict::yes("finish"),
        };
        verdict.with("open", plan.open)
    }

    /// An action was held back.
    pub fn hold(&mut self) {
        self.held = true;
    }

    /// An action begins with this plan.
    pub fn begin(&mut self, plan: &Plan) {
        self.follow(plan);
    }

    /// An action is over; the verdict acts when the current todo has been the same for too long. Only an *effective*
    /// iteration counts: one whose action was done and did not fail.
    pub fn end(&mut self, settings: &TodoSettings, plan: &Plan, effective: bool) -> Verdict {
        if !settings.enabled {
            return Verdict::no("off");
        }
        if plan.current.is_none() {
            self.follow(plan);
            return Verdict::no("no_open_todos").with("open", plan.open);
        }
        let same = self.follow(plan);
        self.iterations += u32::from(same && effective);
        let told = self.iterations;
        let rule = match () {
            () if !same => Verdict::no("moved_on"),
            () if told < settings.stale_after => Verdict::no("stale_after"),
            () => {
                self.iterations = 0;
                Verdict::yes("stale")
            }
        };
        rule.with("iterations", told).with("stale_after", settings.stale_after).with("open", plan.open)
    }

    /// Whether the current todo is still the one that it was.
    fn follow(&mut self, plan: &Plan) -> bool {
        let same = self.current == plan.current;
        if !same {
            self.current.clone_from(&plan.current);
            self.iterations = 0;
        }
        same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: TodoSettings = TodoSettings { enabled: true, stale_after: 3 };

    fn plan(open: u32, current: &str) -> Plan {
        Plan { open, current: Some(current.to_owned()) }
    }

    fn rule(verdict: &Verdict) -> (bool, &str) {
        (verdict.act, &verdict.grounds.rule)
    }

    #[test]
    fn the_first_wish_to_finish_is_held_back_and_the_second_goes_through() {
        let mut todos = Checkpoints::default();
        assert_eq!(rule(&todos.should_hold(&ON, &Plan::default(), false)), (false, "no_open_todos"));
        assert_eq!(rule(&todos.should_hold(&ON, &plan(2, "1"), true)), (false, "last_iteration"));
        assert_eq!(rule(&todos.should_hold(&ON, &plan(2, "1"), false)), (true, "finish"));
        todos.hold();
        assert_eq!(rule(&todos.should_hold(&ON, &plan(2, "1"), false)), (false, "held_before"));
        let off = TodoSettings { enabled: false, ..ON };
        assert_eq!(rule(&Checkpoints::default().should_hold(&off, &plan(2, "1"), false)), (false, "off"));
        assert_eq!(rule(&Checkpoints::default().end(&off, &plan(2, "1"), true)), (false, "off"));
    }

    #[test]
    fn a_todo_is_stale_after_so_many_effective_iterations_and_again_after_as_many() {
        let mut todos = Checkpoints::default();
        let mut seen = Vec::new();
        let mut step = |before: &str, after: &str, effective: bool| {
            todos.begin(&plan(2, before));
            let verdict = todos.end(&ON, &plan(2, after), effective);
            seen.push(format!("{} {:?}", verdict.grounds.rule, verdict.grounds.numbers["iterations"]));
            verdict.act
        };
        step("1", "1", true);
        step("1", "1", false);
        step("1", "2", true);
        let mut acts: Vec<bool> = (0..7).map(|_| step("2", "2", true)).collect();
        assert_eq!(acts.split_off(1), [false, true, false, false, true, false]);
        assert_eq!(seen[..3], ["stale_after Whole(1)", "stale_after Whole(1)", "moved_on Whole(0)"]);
        assert_eq!(rule(&todos.end(&ON, &Plan::default(), true)), (false, "no_open_todos"));
    }
}
