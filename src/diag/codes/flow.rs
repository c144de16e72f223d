//! Codes about what follows what, and what ends a loop.

codes! {
    /// `then: done` stands outside `hooks.init`.
    ///
    /// `done` ends a loop before its first iteration, since there is nothing to do.
    /// Elsewhere write `exit` for success or `fail` for failure.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   close: { description: Close the last ticket., then: done }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   close: { description: Close the last ticket., then: exit }
    /// ```
    DONE_OUTSIDE_INIT = "done-outside-init", Error;

    /// Nothing that the loop offers can end it.
    ///
    /// No offered action ends the loop: neither `finish` nor `directly_answer` is offered, and no action or step says `then: exit` or `then: fail`.
    /// It would run until a limit stops it.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// builtins: []
    /// actions:
    ///   close: { description: Close a ticket. }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// builtins: [finish]
    /// actions:
    ///   close: { description: Close a ticket. }
    /// ```
    ENDLESS_LOOP = "endless-loop", Warning;

    /// Limits that contradict each other.
    ///
    /// One limit can never be reached because of another, or leaves no room to work.
    /// Change one of them.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// limits: { max_total_tokens: 1000, max_reply_tokens: 2000 }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// limits: { max_total_tokens: 50000, max_reply_tokens: 2000 }
    /// ```
    LIMIT_CONFLICT = "limit-conflict", Warning;

    /// Loops call each other in a circle.
    ///
    /// A loop that is an action of itself, directly or through others, would nest until the depth limit ends it.
    /// Remove one `from_loop` of the chain that the message shows.
    ///
    /// ## Bad
    ///
    /// ```yaml loops/triage.yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions: { study: { from_loop: study } }
    /// ```
    ///
    /// ```yaml loops/study.yaml
    /// name: study
    /// description: Studies one ticket.
    /// prompt: { instruction: Study a ticket. }
    /// actions: { sort: { from_loop: triage } }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml loops/triage.yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions: { study: { from_loop: study } }
    /// ```
    ///
    /// ```yaml loops/study.yaml
    /// name: study
    /// description: Studies one ticket.
    /// prompt: { instruction: Study a ticket. }
    /// ```
    LOOP_CYCLE = "loop-cycle", Error;

    /// A step that can never run.
    ///
    /// An earlier step of the same list ends the handler whenever it is reached.
    /// Remove the later step, or give the earlier one a condition.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   close:
    ///     description: Close the last ticket.
    ///     do:
    ///       - { answer: All closed., then: exit }
    ///       - feedback: Some are open.
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   close:
    ///     description: Close the last ticket.
    ///     do:
    ///       - { when: not input, answer: All closed., then: exit }
    ///       - feedback: Some are open.
    /// ```
    UNREACHABLE_STEP = "unreachable-step", Error adjustable;

    /// A step's verb that does not exist.
    ///
    /// The reference lists the verbs.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   close:
    ///     description: Close a ticket.
    ///     do: [{ feedbak: Closed. }]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   close:
    ///     description: Close a ticket.
    ///     do: [{ feedback: Closed. }]
    /// ```
    UNKNOWN_VERB = "unknown-verb", Error;
}
