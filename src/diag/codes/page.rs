//! A code's page: its parts, as they are read from the doc comment.

/// A file of an example.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct File {
    /// `yaml`, `toml` or `jinja`.
    pub language: String,
    /// Its path in the workspace.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// What a person reads about a code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// One line, with a period.
    pub summary: String,
    /// Why it is reported and what to do.
    pub explanation: String,
    /// What `check --fix` does about it; empty when it does nothing.
    pub fix: String,
    /// The files of a workspace in which it is found.
    pub bad: Vec<File>,
    /// The same without it.
    pub good: Vec<File>,
    /// What stands under other headings: a mistake of the page.
    pub(super) unknown: String,
}

impl Page {
    /// Reads a doc comment, in which each line still begins with the space after the slashes.
    pub(super) fn parse(text: &str) -> Self {
        let mut page = Page::default();
        let mut part = "";
        let mut lines = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
        page.summary = lines.next().unwrap_or_default().to_owned();
        while let Some(line) = lines.next() {
            if let Some(heading) = line.strip_prefix("## ") {
                part = heading;
            } else if let Some(info) = line.strip_prefix("```") {
                let text = lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
                match part {
                    "Bad" => page.bad.push(file(info, text)),
                    "Good" => page.good.push(file(info, text)),
                    _ => page.unknown.push_str(&format!("{line}\n")),
                }
            } else {
                let prose = match part {
                    "" => &mut page.explanation,
                    "Fix" => &mut page.fix,
                    _ => &mut page.unknown,
                };
                prose.push_str(line.trim_end());
                prose.push('\n');
            }
        }
        for prose in [&mut page.explanation, &mut page.fix, &mut page.unknown] {
            *prose = prose.trim().to_owned();
        }
        page
    }

    /// The page as Markdown, without the summary.
    pub fn markdown(&self) -> String {
        let mut text = format!("{}\n", self.explanation);
        if !self.fix.is_empty() {
            text.push_str(&format!("\n`check --fix` repairs it: {}\n", self.fix));
        }
        for (title, files) in self.examples() {
            text.push_str(&format!("\n{title}:\n"));
            for file in files {
                if files.len() > 1 {
                    text.push_str(&format!("\n`{}`:\n", file.path));
                }
                text.push_str(&format!("\n```{}\n{}```\n", file.language, file.text));
            }
        }
        text
    }

    /// The examples, each with what is said about it; none for a code that no text shows.
    pub fn examples(&self) -> impl Iterator<Item = (&'static str, &[File])> {
        let both = [("This is found", self.bad.as_slice()), ("This is not", self.good.as_slice())];
        both.into_iter().filter(|(_, files)| !files.is_empty())
    }
}

/// A file by what stands after its fence: the language, and a path where it matters.
fn file(info: &str, text: String) -> File {
    let (language, path) = info.split_once(' ').unwrap_or((info, ""));
    let path = match (path, language) {
        ("", "jinja") => "prompts/example.md.j2".to_owned(),
        ("", _) if text.contains("kind: workspace\n") => "loopwright.yaml".to_owned(),
        ("", _) => format!("loops/example.{language}"),
        (path, _) => path.to_owned(),
    };
    File { language: language.to_owned(), path, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_from_its_comment() {
        let page = Page::parse(
            " A thing.\n\n Why.\n\n ```text\n odd\n ```\n\n ## Bad\n\n ```yaml loops/a.yaml\n a:\n   b: 1\n\n c: 2\n ```\n \
             ## Good\n ```jinja\n x\n ```\n ```yaml\n kind: workspace\n ```\n ## Fix\n\n Removes it.\n ## Odd\n more\n",
        );
        let file = |language: &str, path: &str, text: &str| File {
            language: language.into(),
            path: path.into(),
            text: text.into(),
        };
        assert_eq!(
            (page.summary.as_str(), page.explanation.as_str(), page.fix.as_str()),
            ("A thing.", "Why.", "Removes it.")
        );
        assert_eq!(page.bad, [file("yaml", "loops/a.yaml", "a:\n  b: 1\n\nc: 2\n")]);
        assert_eq!(
            page.good,
            [file("jinja", "prompts/example.md.j2", "x\n"), file("yaml", "loopwright.yaml", "kind: workspace\n")]
        );
        assert_eq!(page.unknown, "```text\n\nmore");
    }
}
