//! The event types and the envelope that orders them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::capability::{AsyncStatus, CapabilityKind, CapabilityRef, CatalogMatch, LoadOutcome};
use super::mechanism::{
    CheckpointState, Decision, Grounds, PerceptionState, PerceptionTrigger, ProgressState, ReflectionState,
    SpinConsequence, SpinOpinion, SpinState,
};
use super::parts::{
    CallPurpose, RepairNote, ReplySource, RunId, SectionProfile, SkillChange, StepStatus, ToolServerStatus, ToolStatus,
    Usage,
};
use super::reason::ExitReason;
use super::reload::{ReloadFinding, ReloadStatus};
use super::verification::{VerificationConsequence, VerificationOutcome, VerificationState, VerificationTrigger};

/// The version of the event format: raised when a field changes its meaning or goes away.
pub const EVENT_VERSION: u32 = 1;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// The run begins. What answers is named here, first of all.
    RunStarted {
        /// The loop's name.
        #[serde(rename = "loop")]
        loop_name: String,
        /// What answers: a model, a script or a recording.
        source: ReplySource,
        /// The main tier's `provider:model`.
        model: String,
        /// Bytes of the input.
        input_bytes: usize,
        /// The iteration limit.
        max_iterations: u32,
    },
    /// An iteration begins.
    IterationStarted {
        /// Counted from 1.
        iteration: u32,
        /// The limit.
        max_iterations: u32,
    },
    /// The prompt's make-up, before it is sent.
    PromptProfile {
        /// The iteration, from 1.
        iteration: u32,
        /// Each section in the order of the prompt.
        sections: Vec<SectionProfile>,
        /// Bytes of the whole request text.
        bytes: usize,
        /// Tokens of the whole request text.
        tokens: usize,
        /// Whether the token counts are estimates.
        estimated: bool,
        /// Bytes at the beginning that are the same as in the previous iteration's request.
        shared_prefix: usize,
    },
    /// Untrusted text held something shaped like a section delimiter, or the live nonce.
    Neutralised {
        /// The section that holds the text.
        section: String,
        /// Delimiter shapes that were made harmless.
        shapes: usize,
        /// Whether the section's nonce was drawn again.
        redrawn: bool,
    },
    /// A request goes out.
    ModelCallStarted {
        /// Counted from 1 in a run.
        call: u32,
        /// What for.
        purpose: CallPurpose,
        /// The tier, such as `main`.
        tier: String,
        /// `provider:model`.
        model: String,
        /// The attempt inside this call, from 1.
        attempt: u32,
    },
    /// Text arrives for a node that a person watches.
    Delta {
        /// `thought`, `answer`, or a node that the loop names.
        node: String,
        /// The text's media type.
        content_type: String,
        /// The text, to be appended to the node.
        text: String,
    },
    /// What was shown for a node while it streamed is not what counts; this is the whole text.
    Correction {
        /// The node.
        node: String,
        /// Its whole text.
        text: String,
    },
    /// A reply is complete.
    ModelCallFinished {
        /// The call's number.
        call: u32,
        /// The attempt that succeeded.
        attempt: u32,
        /// Why the model stopped, as far as the provider said.
        finish: Option<String>,
        /// Its tokens.
        usage: Usage,
        /// Its cost in US dollars, where a price is known.
        cost_usd: Option<f64>,
        /// From request to the last byte.
        duration_ms: u64,
    },
    /// A request failed.
    ModelCallFailed {
        /// The call's number.
        call: u32,
        /// The attempt that failed.
        attempt: u32,
        /// The class, such as `rate_limit`; `cancelled` when the run or the step was stopped before the reply was complete.
        class: String,
        /// What the provider said.
        message: String,
        /// Milliseconds until the next attempt; none when there will be no other.
        retry_in_ms: Option<u64>,
        /// The tokens of the failed attempt, where reported.
        usage: Usage,
        /// What the failed attempt cost in US dollars, where a price is known.
        cost_usd: Option<f64>,
    },
    /// Another model answers in place of one that failed.
    Fallback {
        /// The tier.
        tier: String,
        /// The model that failed, or that is left alone after failures.
        from: String,
        /// The model that is asked instead.
        to: String,
        /// The class of the failure; `breaker_open` when the first one was not asked at all.
        class: String,
    },
    /// The prompt was too long for the model, and older iterations made room.
    Shrunk {
        /// `summarise` or `drop`.
        how: String,
        /// Iterations that went.
        turns: usize,
        /// Bytes of the transcript before.
        before: usize,
        /// Bytes of the transcript after.
        after: usize,
    },
    /// A part of the prompt that should stay the same has changed: the provider's prompt cache starts afresh there.
    PrefixChanged {
        /// The iteration.
        iteration: u32,
        /// The first section that changed.
        section: String,
    },
    /// One action was taken from the reply.
    Action {
        /// The action's name.
        action: String,
        /// What the model calls this step.
        identifier: Option<String>,
        /// Its thought for people.
        thought: Option<String>,
        /// The validated parameters.
        params: Value,
        /// Names of the tags that came with it.
        tags: Vec<String>,
        /// What had to be repaired to read it.
        repairs: Vec<RepairNote>,
    },
    /// The reply gave no valid action.
    ActionRejected {
        /// The attempt inside the transaction, from 1.
        attempt: u32,
        /// The class, such as `missing_param` or `verify`.
        class: String,
        /// The words that go back to the model.
        message: String,
        /// Whether the model is asked again.
        will_retry: bool,
    },
    /// A step begins.
    StepStarted {
        /// Where it stands, such as `actions.extract.do[0]`.
        path: String,
        /// The verb.
        verb: String,
    },
    /// A step is over.
    StepFinished {
        /// Where it stands.
        path: String,
        /// The verb.
        verb: String,
        /// How it ended.
        status: StepStatus,
        /// Milliseconds that it took.
        duration_ms: u64,
        /// The failure's text.
        message: Option<String>,
    },
    /// A tool call begins.
    ToolStarted {
        /// Counted from 1 in a run.
        tool_call: u32,
        /// The tool.
        tool: String,
        /// The name that the model gave to this call.
        identifier: Option<String>,
        /// Its parameters.
        params: Value,
    },
    /// A tool call is over.
    ToolFinished {
        /// The call's number.
        tool_call: u32,
        /// The tool.
        tool: String,
        /// How it ended.
        status: ToolStatus,
        /// The result.
        result: Value,
        /// Milliseconds that it took.
        duration_ms: u64,
    },
    /// Something happened to an MCP server that the run uses.
    ToolServer {
        /// Its name in the workspace.
        server: String,
        /// What happened.
        status: ToolServerStatus,
        /// The tools that it brings, as loops name them; none when it is not there.
        tools: Vec<String>,
        /// What is wrong with it or with what it says, in words.
        problems: Vec<String>,
        /// Milliseconds that it took, or that the server lasted.
        duration_ms: u64,
    },
    /// Words for the model's next turn.
    Feedback {
        /// The text.
        text: String,
    },
    /// State variables were set.
    StateSet {
        /// The new values by name.
        values: Value,
    },
    /// An entry was added to the timeline.
    Timeline {
        /// The entry.
        entry: Value,
    },
    /// The evidence changed.
    Evidence {
        /// All of it, by id.
        evidence: Value,
    },
    /// The list of todos changed.
    Todo {
        /// The whole list.
        todo: Value,
    },
    /// A skill was loaded, looked at elsewhere, put away, or a file of it was read.
    Skill {
        /// The skill.
        skill: String,
        /// What happened.
        change: SkillChange,
        /// The lines that are shown; the file's path, or why it could not be read.
        detail: String,
    },
    /// A progress line for people.
    Status {
        /// The text.
        text: String,
    },
    /// An answer to the user.
    Answer {
        /// The text.
        text: String,
        /// Its media type.
        content_type: String,
        /// Whether it was already shown while it streamed.
        streamed: bool,
    },
    /// A file was delivered.
    Artifact {
        /// Its path inside the workspace.
        path: String,
        /// Its size.
        bytes: usize,
    },
    /// A loop's own event, from the `emit` verb.
    Emit {
        /// Its name.
        name: String,
        /// Its data.
        data: Value,
    },
    /// A question to the user.
    Ask {
        /// The question.
        question: String,
        /// Answers to choose from; empty when any text will do.
        options: Vec<String>,
    },
    /// The user's answer.
    Asked {
        /// What was answered; none when nobody could be asked.
        answer: Option<String>,
    },
    /// What the mechanisms decided after an action, each with its grounds: one event an iteration.
    Mechanisms {
        /// The iteration.
        iteration: u32,
        /// In the order in which they were made.
        decisions: Vec<Decision>,
    },
    /// Perception looked.
    ///
    /// When `changed` is true in the state, topics and keywords are new, and what is ranked by them is ranked again.
    Perception {
        /// What asked for it.
        trigger: PerceptionTrigger,
        /// The words of the step that asked.
        reason: Option<String>,
        /// Why it looked now.
        grounds: Grounds,
        /// Whether the state was written: not when the topics are the same as before.
        written: bool,
        /// What it knows now; none when the model failed.
        state: Option<PerceptionState>,
        /// Why the model gave nothing.
        error: Option<String>,
    },
    /// A reflection was made.
    Reflection {
        /// Why at this level.
        grounds: Grounds,
        /// What it says; none when the model failed.
        state: Option<ReflectionState>,
        /// Why the model gave nothing.
        error: Option<String>,
    },
    /// Spin detection found something, or asked the helper model.
    Spin {
        /// The rule and its numbers.
        grounds: Grounds,
        /// What it knows now.
        state: SpinState,
        /// What follows.
        consequence: SpinConsequence,
        /// What the helper model said, when it was asked.
        opinion: Option<SpinOpinion>,
        /// Why the helper model gave no opinion; the loop counts as not spinning then.
        error: Option<String>,
    },
    /// The figure of `mechanisms.progress` was taken, at the end of an iteration.
    Progress {
        /// The rule and its numbers.
        grounds: Grounds,
        /// How it moves.
        state: ProgressState,
        /// Whether the loop ends with `no_progress`.
        ends: bool,
        /// Why there is no figure.
        error: Option<String>,
    },
    /// The next prompt gets a checkpoint for open todos.
    TodoCheckpoint {
        /// The rule and its numbers.
        grounds: Grounds,
        /// What the checkpoint says.
        state: CheckpointState,
    },
    /// It was looked whether the goal is reached, or somebody asked for that in vain.
    Verification {
        /// What asked for it.
        trigger: VerificationTrigger,
        /// The words of whoever asked.
        reason: Option<String>,
        /// Why it was made now, or why not.
        grounds: Grounds,
        /// What it came to; `none` when none was made.
        outcome: VerificationOutcome,
        /// What is known now.
        state: VerificationState,
        /// What follows.
        consequence: VerificationConsequence,
        /// Why that follows, with the numbers.
        because: Grounds,
        /// Files that judge the loop and were not as they had been: what was put back, or put aside.
        restored: Vec<String>,
        /// Why the judge gave no verdict.
        error: Option<String>,
    },
    /// The verification gate found that the loop brought a file.
    FilePinned {
        /// Its path, relative to the workspace.
        path: String,
        /// Its size.
        bytes: u64,
    },
    /// Capabilities were searched.
    Capability {
        /// What was needed.
        queries: Vec<String>,
        /// What was found, the best first.
        found: Vec<CapabilityRef>,
        /// Whether the search alone may well have missed what was meant.
        unsure: bool,
        /// What a model chose from the catalog, where one was asked.
        catalog: Option<CatalogMatch>,
        /// What the model may use from now on that it could not before.
        added: Vec<CapabilityRef>,
    },
    /// Something was used by its name.
    Load {
        /// The name.
        identifier: String,
        /// What it is; none when there is nothing of this name.
        #[serde(rename = "type")]
        kind: Option<CapabilityKind>,
        /// What followed.
        outcome: LoadOutcome,
        /// Why it could not be used; the names that were found instead of an unknown one.
        detail: Option<String>,
    },
    /// A forge takes the work over, as a task of its own. The loop ends with `async`, the run when the forge is done.
    AsyncStarted {
        /// The forge.
        name: String,
        /// Its task: the events of its model have it.
        async_task: String,
        /// Milliseconds that its model may be silent.
        watchdog_ms: u64,
    },
    /// Work that was handed over is over.
    AsyncFinished {
        /// The forge.
        name: String,
        /// Its task.
        async_task: String,
        /// How it ended.
        status: AsyncStatus,
        /// The forge's output, or why there is none.
        result: Value,
        /// Milliseconds that it took.
        duration_ms: u64,
    },
    /// A sub-loop takes over.
    FocusOn {
        /// Its name.
        #[serde(rename = "loop")]
        loop_name: String,
        /// How deep it is: 1 inside the first loop.
        depth: u32,
        /// Whether it shares its parent's task (a loop as an action) or runs as its own.
        shared_task: bool,
    },
    /// A sub-loop is over.
    FocusOff {
        /// Its name.
        #[serde(rename = "loop")]
        loop_name: String,
        /// Its depth.
        depth: u32,
        /// Why it ended.
        reason: ExitReason,
    },
    /// Files that a loop uses were saved. They were read again and checked between two iterations.
    Reload {
        /// The loop.
        #[serde(rename = "loop")]
        loop_name: String,
        /// What became of the change.
        status: ReloadStatus,
        /// The version in force until now: SHA-256 over all files of the workspace that the loop uses. None before the
        /// first that can be used.
        before: Option<String>,
        /// The version that was found.
        after: String,
        /// The files that differ between the two.
        files: Vec<String>,
        /// Why the change was refused; warnings about one that was applied.
        findings: Vec<ReloadFinding>,
    },
    /// Something that the operator should know and that does not stop the run.
    Warning {
        /// The text.
        message: String,
    },
    /// The run is over: always the last event.
    RunFinished {
        /// Why.
        reason: ExitReason,
        /// The process exit code.
        exit_code: u8,
        /// What went wrong, for `error` and `fail`.
        error: Option<String>,
        /// Whether a `finish` hook turned a failure into a success with `ignore_error`.
        ignored: bool,
        /// Iterations begun.
        iterations: u32,
        /// Model calls, failed attempts left out.
        model_calls: u32,
        /// Tool calls.
        tool_calls: u32,
        /// Tokens of the whole run.
        usage: Usage,
        /// Cost in US dollars; none when no call had a price.
        cost_usd: Option<f64>,
        /// Milliseconds from start to end.
        duration_ms: u64,
    },
}

/// An event with its place in the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Envelope {
    /// The format's version, [`EVENT_VERSION`].
    pub v: u32,
    /// Counted from 1, without gaps.
    pub seq: u64,
    /// Milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The run.
    pub run: RunId,
    /// The task: the run itself, or a sub-loop that runs as its own task.
    pub task: String,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}
