//! Programs that run a text as a script: a value inside of it writes the script.

use crate::check::context::{Cx, Subject};
use crate::check::steps::{Place, each, judging_programs, lists};
use crate::check::values::Declared;
use crate::diag::{Diagnostic, codes};
use crate::document::is_template;
use crate::syntax::Node;
use crate::template::walk::walk;

pub(super) fn check(cx: &mut Cx<'_>, subject: Subject<'_>) {
    for run in judging_programs(subject.node()) {
        of_run(cx, run, &Declared::of(subject, Place::AfterIteration));
    }
    for list in lists(subject.node()) {
        let declared = Declared::of(subject, list.place);
        each(list.node, &mut |step| {
            if let Some(run) = step.node.get("run") {
                of_run(cx, run, &declared);
            }
        });
    }
}

/// How a program is given its script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As the value of one of these options; without it and without a file, from standard input.
    Option { letters: &'static str, words: &'static [&'static str], stdin: bool },
    /// As its first argument that is no option.
    First,
    /// All arguments after this many make one command line.
    Rest(usize),
    /// Everything after one of these words.
    After(&'static [&'static str]),
}

const fn option(letters: &'static str, words: &'static [&'static str]) -> Form {
    Form::Option { letters, words, stdin: true }
}

/// Programs by name, without a version at the end.
const INTERPRETERS: &[(&[&str], Form)] = &[
    (&["sh", "bash", "dash", "ash", "zsh", "ksh", "fish"], option("c", &["--command"])),
    (&["python", "pypy", "sqlplus"], option("c", &[])),
    (&["perl"], option("eE", &[])),
    (&["ruby", "osascript", "lua", "luajit", "Rscript", "groovy", "julia", "elixir"], option("e", &["--eval"])),
    (&["node", "nodejs", "bun"], option("ep", &["--eval", "--print"])),
    (&["php"], option("r", &["--run"])),
    (&["psql"], option("c", &["--command"])),
    (&["mysql", "mariadb"], option("e", &["--execute"])),
    (&["clickhouse-client"], option("q", &["--query"])),
    (&["mongosh", "mongo"], Form::Option { letters: "", words: &["--eval"], stdin: true }),
    (&["su", "runuser"], Form::Option { letters: "c", words: &["--command"], stdin: true }),
    (&["deno"], Form::After(&["eval"])),
    (&["pwsh", "powershell"], Form::After(&["-command", "-c", "-encodedcommand", "-e", "-ec"])),
    (&["cmd"], Form::After(&["/c", "/k", "/r"])),
    (&["awk", "gawk", "mawk", "nawk"], Form::First),
    (&["ssh", "sqlite3"], Form::Rest(1)),
    (&["watch"], Form::Rest(0)),
];

/// Programs that run another one, which stands among their arguments.
const WRAPPERS: &[&str] = &[
    "busybox",
    "chroot",
    "chrt",
    "command",
    "doas",
    "docker",
    "env",
    "exec",
    "find",
    "flock",
    "ionice",
    "kubectl",
    "nerdctl",
    "nice",
    "nohup",
    "nsenter",
    "parallel",
    "podman",
    "setpriv",
    "setsid",
    "stdbuf",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "toybox",
    "unshare",
    "uv",
    "poetry",
    "xargs",
];

/// Interpreters that hand further arguments to the script.
const TAKES_ARGUMENTS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "ash",
    "zsh",
    "ksh",
    "fish",
    "python",
    "pypy",
    "perl",
    "ruby",
    "node",
    "php",
    "osascript",
    "lua",
];
/// What the operator or the engine says, and nobody else.
const OWN: &[&str] = &["env", "nonce", "now", "os", "run", "workspace"];

/// Options of `ssh` that stand before their value.
const SSH_VALUES: &str = "BbcDEeFIiJLlmOopQRSWw";

fn of_run(cx: &mut Cx<'_>, run: &Node, declared: &Declared<'_>) {
    let items = run.get("argv").unwrap_or(run).items();
    let Some((program, form, rest)) = interpreter(items) else { return };
    let mut found: Vec<&Node> = Vec::new();
    match form {
        Form::Option { letters, words, stdin } => {
            let mut script = None;
            for (at, item) in rest.iter().enumerate() {
                match item.as_str().and_then(|text| script_option(text, letters, words)) {
                    Some(true) => script = rest.get(at + 1),
                    Some(false) => script = Some(item),
                    None => continue,
                }
                break;
            }
            found.extend(script);
            // A positional argument names a file with the script, or a database.
            let has_file = || rest.iter().any(|item| item.as_str().is_some_and(|text| !text.starts_with('-')));
            let database = matches!(program, "psql" | "mysql" | "mariadb" | "mongosh" | "mongo" | "su" | "runuser");
            let reads_stdin = rest.iter().any(|item| matches!(item.as_str(), Some("-s" | "-")));
            if stdin && script.is_none() && (database || reads_stdin || !has_file()) {
                found.extend(run.get("stdin"));
            }
        }
        Form::First => {
            let takes_value = |text: &str| matches!(text, "-v" | "-F" | "-f" | "--field-separator" | "--assign");
            let mut rest = rest.iter();
            while let Some(item) = rest.next() {
                match item.as_str() {
                    Some(text) if takes_value(text) => drop(rest.next()),
                    Some(text) if text.starts_with('-') => {}
                    _ => {
                        found.push(item);
                        break;
                    }
                }
            }
        }
        Form::Rest(skipped) => {
            let rest = positional(rest, if program == "ssh" { SSH_VALUES } else { "" });
            found.extend(rest.into_iter().skip(skipped));
            if program == "sqlite3" && found.is_empty() {
                found.extend(run.get("stdin"));
            }
        }
        Form::After(words) => {
            let is_word = |item: &&Node| {
                item.as_str().is_some_and(|text| words.iter().any(|word| word.eq_ignore_ascii_case(text)))
            };
            let at = rest.iter().position(|item| is_word(&item));
            match at {
                Some(at) => found.extend(&rest[at + 1..]),
                None => found.extend(run.get("stdin").filter(|_| rest.iter().all(|item| item.as_str() == Some("-")))),
            }
        }
    }
    for item in found {
        if item.as_str().is_some_and(|text| writes_script(text, declared)) {
            report(cx, item, program, matches!(form, Form::Rest(_)));
        }
    }
}

fn report(cx: &mut Cx<'_>, item: &Node, program: &str, joined: bool) {
    let message = format!("a value would become a part of the script that `{program}` runs");
    let help = if joined {
        "write the command without templates, and hand the values over on standard input: `stdin`"
    } else if TAKES_ARGUMENTS.iter().any(|name| program.starts_with(name)) {
        "write the script without templates, and hand the values over as further items: in `sh -c` they are `$0`, `$1`, …"
    } else {
        "write the script without templates, and hand the values over as variables: `env`, or the program's own"
    };
    cx.push(Diagnostic::warning(codes::SCRIPT_INJECTION, item.span, message).help(help));
}

/// The interpreter among the arguments, and what stands after it: the program itself, or one that a wrapper runs.
fn interpreter(items: &[Node]) -> Option<(&str, Form, &[Node])> {
    let name = |item: &'_ Node| item.as_str().map(|text| bare(text).to_owned());
    let first = name(items.first()?)?;
    let wrapped = WRAPPERS.contains(&first.as_str());
    let last = if wrapped { items.len() } else { 1 };
    items[..last].iter().enumerate().find_map(|(at, item)| {
        let program = bare(item.as_str()?);
        let unversioned = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let is = |names: &[&str]| names.contains(&program) || names.contains(&unversioned);
        INTERPRETERS.iter().find(|(names, _)| is(names)).map(|(_, form)| (program, *form, &items[at + 1..]))
    })
}

/// The name of a program without its folder and `.exe`.
fn bare(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Whether an argument is the option for a script: `Some(true)` when the script is the next argument, and `Some(false)`
/// when it stands in this one.
fn script_option(text: &str, letters: &str, words: &[&str]) -> Option<bool> {
    for word in words {
        match text.strip_prefix(word) {
            Some("") => return Some(true),
            Some(rest) if rest.starts_with('=') => return Some(false),
            _ => {}
        }
    }
    let short = text.strip_prefix('-').filter(|short| !short.starts_with('-'))?;
    let cluster: String = short.chars().take_while(char::is_ascii_alphanumeric).collect();
    let at = cluster.find(|c| letters.contains(c))?;
    // `-ec` is two options; what stands behind the letter and is no other option is the script.
    Some(short.len() == cluster.len() && (at + 1 == cluster.len() || cluster.len() <= 4))
}

/// The arguments that are no options; `values` are the letters of those that stand before a value.
fn positional<'a>(items: &'a [Node], values: &str) -> Vec<&'a Node> {
    let mut found = Vec::new();
    let mut rest = items.iter();
    while let Some(item) = rest.next() {
        match item.as_str().and_then(|text| text.strip_prefix('-')) {
            Some(option) if found.is_empty() => {
                let mut letters = option.chars();
                if let (Some(letter), None) = (letters.next(), letters.next())
                    && values.contains(letter)
                {
                    rest.next();
                }
            }
            _ => found.push(item),
        }
    }
    found
}

/// Whether a script holds a value that could be more than a number or one of a few words.
fn writes_script(text: &str, declared: &Declared<'_>) -> bool {
    is_template(text)
        && walk(text).map_or(true, |walked| {
            walked.variables.iter().any(|used| !OWN.contains(&used.root()) && !declared.is_choice(&used.path))
        })
}

#[cfg(test)]
mod tests {
    use super::{bare, script_option};

    #[test]
    fn options_for_scripts_are_told_apart() {
        for (text, found) in [
            ("-c", Some(true)),
            ("-ec", Some(true)),
            ("-cx", Some(true)),
            ("-c{{ x }}", Some(false)),
            ("--command={{ x }}", Some(false)),
            ("--command", Some(true)),
            ("--color", None),
            ("-x", None),
            ("script", None),
        ] {
            assert_eq!(script_option(text, "c", &["--command"]), found, "{text}");
        }
        assert_eq!((bare("/usr/bin/env"), bare("C:\\x\\cmd.exe")), ("env", "cmd"));
    }
}
