//! The skills that are loaded, and the part of each that the prompt shows: together they fit a budget of tokens.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::Serialize;

use crate::model::tokens::Counter;

/// A skill that a loop may load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OfferedSkill {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
}

/// The least share of the budget that is worth showing. With more skills than have this much each, the oldest goes.
const LEAST_SHARE: usize = 250;

/// The loaded skills of a loop.
#[derive(Debug, Clone, Default)]
pub struct LoadedSkills {
    loaded: IndexMap<String, Loaded>,
    /// What is shown, made anew at each change: a prompt only reads it.
    views: Vec<SkillView>,
    epoch: u64,
}

#[derive(Debug, Clone)]
struct Loaded {
    text: Arc<str>,
    files: Arc<[String]>,
    /// The first line that is shown, from 0.
    first: usize,
}

/// What a prompt shows of a loaded skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkillView {
    /// The skill.
    pub name: String,
    /// The lines that are shown.
    pub text: String,
    /// The first of them, from 1; 0 when the skill has no text.
    pub first_line: usize,
    /// The last of them.
    pub last_line: usize,
    /// How many lines there are.
    pub lines: usize,
    /// The files that can be loaded, as paths from the skill's folder.
    pub files: Arc<[String]>,
}

impl LoadedSkills {
    /// Loads a skill, or puts a new text in the place of the known one. Gives the names of skills that had to go.
    pub fn load(&mut self, name: &str, text: &Arc<str>, files: &Arc<[String]>, budget: usize) -> Vec<String> {
        match self.loaded.get_mut(name) {
            Some(known) if known.text == *text && known.files == *files => return Vec::new(),
            Some(known) => (known.text, known.files) = (Arc::clone(text), Arc::clone(files)),
            None => {
                let fresh = Loaded { text: Arc::clone(text), files: Arc::clone(files), first: 0 };
                self.loaded.insert(name.to_owned(), fresh);
            }
        }
        let most = (budget / LEAST_SHARE).max(1);
        let surplus = self.loaded.len().saturating_sub(most);
        let gone = self.loaded.drain(..surplus).map(|(name, _)| name).collect();
        self.show(budget);
        gone
    }

    /// Shows a loaded skill from this line on, from 1. False when the skill is not loaded.
    pub fn look_from(&mut self, name: &str, line: usize, budget: usize) -> bool {
        let Some(loaded) = self.loaded.get_mut(name) else { return false };
        let lines = loaded.text.lines().count();
        loaded.first = line.saturating_sub(1).min(lines.saturating_sub(1));
        self.show(budget);
        true
    }

    /// Drops a skill.
    pub fn remove(&mut self, name: &str, budget: usize) {
        if self.loaded.shift_remove(name).is_some() {
            self.show(budget);
        }
    }

    /// The names of the loaded skills, the first loaded first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.loaded.keys().map(String::as_str)
    }

    /// What is shown of a skill; none when it is not loaded.
    #[must_use]
    pub fn view(&self, name: &str) -> Option<&SkillView> {
        self.views.iter().find(|view| view.name == name)
    }

    /// Another number than before means that something else is shown.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    fn show(&mut self, budget: usize) {
        let sizes: Vec<usize> = self.loaded.values().map(|skill| tokens(&skill.text)).collect();
        let shares = shares(&sizes, budget);
        let shown = self.loaded.iter().zip(shares).map(|((name, skill), share)| view(name, skill, share));
        self.views = shown.collect();
        self.epoch += 1;
    }
}

/// By an estimate, so that what is shown does not depend on which model answers.
fn tokens(text: &str) -> usize {
    Counter::ESTIMATE.count(text)
}

/// Divides a budget: what needs less than an equal share leaves the rest to the others.
fn shares(sizes: &[usize], budget: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&at| sizes[at]);
    let mut shares = vec![0; sizes.len()];
    let mut left = budget;
    for (done, &at) in order.iter().enumerate() {
        shares[at] = sizes[at].min(left / (sizes.len() - done));
        left -= shares[at];
    }
    shares
}

/// As many lines from the first one on as fit, at least one.
fn view(name: &str, skill: &Loaded, share: usize) -> SkillView {
    let lines: Vec<&str> = skill.text.lines().collect();
    let mut text = String::new();
    let mut last = skill.first;
    for line in &lines[skill.first.min(lines.len())..] {
        let separator = if last == skill.first { "" } else { "\n" };
        let longer = format!("{text}{separator}{line}");
        if last > skill.first && tokens(&longer) > share {
            break;
        }
        text = longer;
        last += 1;
    }
    // A single line may be longer than all that may be shown.
    if last == skill.first + 1 && tokens(&text) > share {
        text = cut(&text, share);
    }
    let first_line = if lines.is_empty() { 0 } else { skill.first + 1 };
    SkillView {
        name: name.to_owned(),
        text,
        first_line,
        last_line: last,
        lines: lines.len(),
        files: Arc::clone(&skill.files),
    }
}

/// The beginning of a line, with a mark that it goes on.
fn cut(line: &str, share: usize) -> String {
    let mut end = line.len();
    while end > 0 && tokens(&line[..end]) > share {
        end = line.floor_char_boundary(end * 3 / 4);
    }
    format!("{} [… the line goes on for {} bytes …]", &line[..end], line.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize) -> Arc<str> {
        (1..=count).map(|n| format!("line number {n}\n")).collect::<String>().into()
    }

    fn loaded(skills: &[(&str, usize)], budget: usize) -> LoadedSkills {
        let mut all = LoadedSkills::default();
        for (name, count) in skills {
            all.load(name, &lines(*count), &Arc::default(), budget);
        }
        all
    }

    #[test]
    fn a_short_skill_is_shown_whole_and_leaves_its_rest_to_a_long_one() {
        let all = loaded(&[("short", 3), ("long", 1000)], 2000);
        let (short, long) = (all.view("short").unwrap(), all.view("long").unwrap());
        assert_eq!((short.first_line, short.last_line, short.lines), (1, 3, 3));
        assert_eq!(short.text, "line number 1\nline number 2\nline number 3");
        assert!(long.last_line < long.lines && long.last_line > 200, "{long:?}");
        let shown = tokens(&short.text) + tokens(&long.text);
        assert!((1900..=2000).contains(&shown), "{shown}");
    }

    #[test]
    fn two_long_skills_have_half_each() {
        let all = loaded(&[("a", 1000), ("b", 1000)], 2000);
        assert_eq!(all.view("a").unwrap().last_line, all.view("b").unwrap().last_line);
    }

    #[test]
    fn a_view_moves_and_stays_inside() {
        let mut all = loaded(&[("long", 1000)], 500);
        let epoch = all.epoch();
        assert!(all.look_from("long", 400, 500) && all.epoch() > epoch);
        let view = all.view("long").unwrap();
        assert!(view.first_line == 400 && view.text.starts_with("line number 400\n"), "{view:?}");
        assert!(all.look_from("long", 9999, 500));
        assert_eq!((all.view("long").unwrap().first_line, all.view("long").unwrap().last_line), (1000, 1000));
        assert!(all.look_from("long", 0, 500));
        assert_eq!(all.view("long").unwrap().first_line, 1);
        assert!(!all.look_from("other", 1, 500));
    }

    #[test]
    fn loading_again_changes_nothing_and_another_text_does() {
        let mut all = loaded(&[("a", 3)], 1000);
        let epoch = all.epoch();
        assert!(all.load("a", &lines(3), &Arc::default(), 1000).is_empty() && all.epoch() == epoch);
        all.load("a", &lines(5), &Arc::default(), 1000);
        assert_eq!((all.view("a").unwrap().lines, all.names().count()), (5, 1));
    }

    #[test]
    fn the_oldest_goes_when_no_share_would_be_worth_showing() {
        let mut all = loaded(&[("a", 900), ("b", 900), ("c", 900), ("d", 900)], 1000);
        assert_eq!(all.load("e", &lines(900), &Arc::default(), 1000), ["a"]);
        assert_eq!(all.names().collect::<Vec<_>>(), ["b", "c", "d", "e"]);
        all.remove("c", 1000);
        assert_eq!(all.names().collect::<Vec<_>>(), ["b", "d", "e"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_with_a_mark() {
        let mut all = LoadedSkills::default();
        all.load("x", &"word ".repeat(5000).into(), &Arc::default(), 300);
        let view = all.view("x").unwrap();
        assert!(view.text.contains("[… the line goes on for ") && tokens(&view.text) < 400, "{}", view.text.len());
        all.load("empty", &"".into(), &Arc::default(), 600);
        assert_eq!((all.view("empty").unwrap().first_line, all.view("empty").unwrap().last_line), (0, 0));
    }
}
