//! Codes about what can be known of a loop before it runs.

codes! {
    /// Who should judge whether the goal is reached cannot.
    ///
    /// `judge: checks` and `judge: both` need `checks`, and with `judge: model` the checks would never run.
    /// Without `judge`, checks decide where there are some, and a model where there are none.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// mechanisms:
    ///   verification: { judge: both }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// mechanisms:
    ///   verification: { judge: both, checks: [{ run: [make, check] }] }
    /// ```
    JUDGE_CONFLICT = "judge-conflict", Error;

    /// A budget is smaller than one worst-case iteration.
    ///
    /// In one iteration the model may be asked again as often as `action_retries` allows, and each reply may have `max_reply_tokens`.
    /// A budget below that may end the run within its first iteration.
    /// `check --cost` shows the whole worst case.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// limits: { max_total_tokens: 5000, max_reply_tokens: 2000, action_retries: 2 }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// limits: { max_total_tokens: 100000, max_reply_tokens: 2000, action_retries: 2 }
    /// ```
    BUDGET_TOO_SMALL = "budget-too-small", Warning;

    /// A condition is always true, or never.
    ///
    /// The expression uses no name, so it decides nothing.
    /// `when: "false"` is often left over from a trial.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// hooks:
    ///   init: [{ status: Sorting., when: "1 == 2" }]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// hooks:
    ///   init: [{ status: Sorting., when: input }]
    /// ```
    CONSTANT_CONDITION = "constant-condition", Warning;

    /// An expression gives a value of the wrong type.
    ///
    /// `for_each` and `for` need a list, `in` needs one on its right, and `metric` needs a number.
    /// The run would fail at this place.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state: { open: 3 }
    /// hooks:
    ///   init: [{ for_each: state.open, status: "Ticket {{ item }}." }]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state: { open: 3 }
    /// hooks:
    ///   init: [{ for_each: range(state.open), status: "Ticket {{ item }}." }]
    /// ```
    EXPRESSION_TYPE = "expression-type", Error;

    /// A condition is about state that nothing changes.
    ///
    /// The condition of a step that ends the loop, or of an action, is about state variables that no step sets.
    /// It holds from the beginning, or never.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state: { open: 3 }
    /// hooks:
    ///   after_iteration: [{ when: state.open == 0, then: exit }]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state: { open: 3 }
    /// actions:
    ///   close:
    ///     description: Close a ticket.
    ///     do: [{ set: { open: "{{ state.open - 1 }}" } }]
    /// hooks:
    ///   after_iteration: [{ when: state.open == 0, then: exit }]
    /// ```
    FROZEN_CONDITION = "frozen-condition", Warning;

    /// The outcome of a comparison is known before it is made.
    ///
    /// The two sides have different types, or the word is none that the value can be.
    /// Such a comparison is never true, and its opposite always.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// hooks:
    ///   finish: [{ status: Out of time., when: reason == 'max_iteration' }]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// hooks:
    ///   finish: [{ status: Out of time., when: reason == 'max_iterations' }]
    /// ```
    IMPOSSIBLE_COMPARISON = "impossible-comparison", Warning;

    /// A name is not there on every way that leads here.
    ///
    /// A step with `when` or `on_error` may give no result, and a parameter or tag that is not required may be left out.
    /// Templates are strict, so using it then fails.
    /// Ask with `is defined`, or give a value with `| default(...)`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   close:
    ///     description: Close a ticket.
    ///     params: { id: string!, note: string }
    ///     do: [{ feedback: "Closed {{ params.id }}: {{ params.note }}" }]
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
    ///     params: { id: string!, note: string }
    ///     do: [{ feedback: "Closed {{ params.id }}: {{ params.note | default('no note') }}" }]
    /// ```
    MAYBE_UNDEFINED = "maybe-undefined", Warning;

    /// Two actions have a parameter of the same name and of different types.
    ///
    /// A model may write the parameters of an action at top level, where those of all actions look alike.
    /// Small models then mix up the types.
    /// Give one of the two another name, or both the same type.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   close: { description: Close a ticket., params: { ticket: integer! } }
    ///   open: { description: Open a ticket., params: { ticket: string! } }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   close: { description: Close a ticket., params: { ticket: integer! } }
    ///   open: { description: Open a ticket., params: { title: string! } }
    /// ```
    PARAM_CLASH = "param-clash", Warning;

    /// A secret stands in a document.
    ///
    /// Whoever reads the file can use it, and so can whoever reads its history.
    /// Take it out, have its provider replace it, and name the environment variable that holds the new one.
    /// The value is not shown in any finding.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// hooks:
    ///   init: [{ http: { url: "https://robot:k3vq81x@tickets.example.org/open" } }]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// env: [TICKETS_KEY]
    /// hooks:
    ///   init: [{ http: { url: "https://tickets.example.org/open", headers: { Authorization: "Bearer {{ env.TICKETS_KEY }}" } } }]
    /// ```
    SECRET = "secret", Warning;

    /// An action is named or declared, and never offered.
    ///
    /// Its `when` is never true, hooks forbid it for every turn, or `next_actions` names a built-in action that `builtins` leaves out.
    /// Remove the action, or what keeps it away.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   close: { description: Close a ticket., when: "false" }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   close: { description: Close a ticket., when: input }
    /// ```
    UNREACHABLE_ACTION = "unreachable-action", Warning;

    /// A value from outside chooses a program, a host or a file.
    ///
    /// What a model, a web page or a program wrote may be chosen by whoever wrote what they read.
    /// Write the program, the host and the folder out, and put values into arguments, into `query`, or below a fixed folder.
    /// Where the choice is meant, give the parameter an `enum` or a `pattern`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   fetch:
    ///     description: Fetch a ticket.
    ///     params: { host: string! }
    ///     do: [{ http: "https://{{ params.host }}/ticket" }]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   fetch:
    ///     description: Fetch a ticket.
    ///     params: { id: string! }
    ///     do: [{ http: { url: "https://tickets.example.org/ticket", query: { id: "{{ params.id }}" } } }]
    /// ```
    UNTRUSTED_TARGET = "untrusted-target", Warning;

    /// A state variable that nothing reads and nothing sets.
    ///
    /// No template, expression, step or other loop uses it, while others are used.
    /// Remove it, or use it.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// state: { closed: 0, colsed: 0 }
    /// actions:
    ///   close:
    ///     description: Close a ticket.
    ///     do: [{ set: { closed: "{{ state.closed + 1 }}" } }]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: "Sort the tickets. Closed: {{ state.closed }}." }
    /// state: { closed: 0 }
    /// actions:
    ///   close:
    ///     description: Close a ticket.
    ///     do: [{ set: { closed: "{{ state.closed + 1 }}" } }]
    /// ```
    UNUSED_STATE = "unused-state", Info;
}
