//! Codes about what a run may touch, and values that must not become structure.

codes! {
    /// Middleware repeats or leaves out calls that must happen once.
    ///
    /// A tool without `effect` must not be called twice for one call of the model.
    /// `retry` may do so, and `cache` may not call it at all.
    /// Say what the tool does to the world with `effect: pure` or `effect: idempotent`, or take the layer away.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// kind: tool
    /// name: send_mail
    /// description: Sends a mail.
    /// do: [{ run: [mail, "a@example.com"] }]
    /// middleware: [{ retry: 2 }]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// kind: tool
    /// name: whois
    /// description: Registration data of a domain.
    /// effect: pure
    /// do: [{ run: [whois, example.com] }]
    /// middleware: [{ retry: 2 }]
    /// ```
    MIDDLEWARE_EFFECT = "middleware-effect", Warning;

    /// A layer of middleware stands where it does not belong.
    ///
    /// The first layer of a list is innermost.
    /// `recover` always is, wherever it is written.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// kind: tool
    /// name: whois
    /// description: Registration data of a domain.
    /// effect: pure
    /// do: [{ run: [whois, example.com] }]
    /// middleware: [{ timeout: 10s }, { recover: true }]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// kind: tool
    /// name: whois
    /// description: Registration data of a domain.
    /// effect: pure
    /// do: [{ run: [whois, example.com] }]
    /// middleware: [{ recover: true }, { timeout: 10s }]
    /// ```
    MIDDLEWARE_ORDER = "middleware-order", Warning;

    /// A section delimiter is written by hand.
    ///
    /// The engine wraps every section in delimiters with a fresh nonce.
    /// One that is written into a template is not recognised, or can be forged.
    /// Declare a section under `prompt.sections` and write only its text.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt:
    ///   instruction: |
    ///     Sort the tickets.
    ///     <|QUEUES_ab12|> billing, bugs, other <|QUEUES_END_ab12|>
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt:
    ///   instruction: Sort the tickets.
    ///   sections:
    ///     - { name: QUEUES, tier: semi_dynamic, text: "billing, bugs, other" }
    /// ```
    DELIMITER_IN_TEMPLATE = "delimiter-in-template", Warning;

    /// A value may be taken for a program's option.
    ///
    /// An argument of `run` begins with a template, so its value may begin with `-`.
    /// The step refuses such a value when it runs.
    /// Put an item `--` before it, give the parameter a `pattern` that excludes it, or write `allow_dash: true`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   look:
    ///     description: Look a customer up.
    ///     params: { customer: string! }
    ///     do: [{ run: [customers, "{{ params.customer }}"] }]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   look:
    ///     description: Look a customer up.
    ///     params: { customer: string! }
    ///     do: [{ run: [customers, --, "{{ params.customer }}"] }]
    /// ```
    OPTION_INJECTION = "option-injection", Warning;

    /// An MCP server is set up in a way that cannot work.
    ///
    /// A server is either a program that the engine starts (`command`, one list, which no shell takes apart) or an address (`url`).
    /// Its tools are named `mcp_SERVER_TOOL`, so the server's name is made of letters, digits, `-` and `_`, and none begins with the name of another and a `_`.
    /// A check starts no server: `loopwright mcp list` does.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// kind: workspace
    /// mcp:
    ///   files: { command: ["npx -y @modelcontextprotocol/server-filesystem ."] }
    ///   web: { url: "https://mcp.example.com/mcp", env: { DEBUG: "1" } }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// kind: workspace
    /// mcp:
    ///   files: { command: [npx, -y, "@modelcontextprotocol/server-filesystem", "."] }
    ///   web: { url: "https://mcp.example.com/mcp", headers: { Authorization: { env: MCP_TOKEN, prefix: "Bearer " } } }
    /// ```
    MCP_SERVER = "mcp-server", Error;

    /// A rule of the policy can never decide anything.
    ///
    /// The first rule that matches a call decides.
    /// This one matches no call, or stands after one that matches every call.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// kind: workspace
    /// policy:
    ///   - { tool: "*", decision: deny }
    ///   - { tool: grep, decision: allow }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// kind: workspace
    /// policy:
    ///   - { tool: grep, decision: allow }
    ///   - { tool: "*", decision: deny }
    /// ```
    POLICY = "policy", Warning;

    /// A value becomes a part of a script.
    ///
    /// `run` uses no shell, so a value is one argument and nothing more.
    /// In `[sh, -c, "echo {{ params.x }}"]` that argument is a program, and whoever chooses the value writes it.
    /// Keep templates out of the script and pass values as further items: `[sh, -c, 'echo "$1"', sh, --, "{{ params.x }}"]`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   note:
    ///     description: Note something.
    ///     params: { text: string! }
    ///     do: [{ run: [sh, -c, "echo {{ params.text }} >> notes"] }]
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// actions:
    ///   note:
    ///     description: Note something.
    ///     params: { text: string! }
    ///     do: [{ run: [sh, -c, 'echo "$1" >> notes', sh, --, "{{ params.text }}"] }]
    /// ```
    SCRIPT_INJECTION = "script-injection", Warning;
}
