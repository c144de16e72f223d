//! Feeds records to the families: sorts them by agent, starts afresh where something was reset, works out fingerprints once.

use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use regex::Regex;
use serde_json::Value;

use super::Finding;
use super::family::{FAMILIES, Judged, Severity, chant};
use super::fingerprint::{Fingerprint, Noise, canonical, canonical_result, plain_key};
use super::lane::{Call, Lane, Passing, Question, Text};
use super::mask::Masker;
use super::ranges::Read;
use super::record::{Class, History, Kind, Record};
use super::settings::Settings;
use super::shape::{Shape, is_nod};
use super::words::{Words, count_up_to};

/// Settings made ready: patterns compiled, keys in their plain spelling. Made once, shared by any number of detectors.
#[derive(Debug, Clone)]
pub struct Rules(Arc<Ready>);

#[derive(Debug)]
struct Ready {
    settings: Settings,
    masker: Masker,
    transient: Option<Regex>,
    ignore_args: Vec<String>,
    ignore_results: Vec<String>,
    reach: usize,
}

/// Watches a history as it grows.
#[derive(Debug)]
pub struct Detector {
    rules: Rules,
    classes: BTreeMap<String, Class>,
    lanes: HashMap<Option<String>, Lane>,
    step: usize,
}

/// What a whole history shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// The first finding that decides.
    pub spin: Option<Finding>,
    /// The first finding of each family that only raises a suspicion.
    pub suspicions: Vec<Finding>,
}

/// Judges a whole history: what [`Detector::observe`] finds from its first record to its last.
#[must_use]
pub fn detect(history: &History, rules: &Rules) -> Verdict {
    let mut detector = Detector::new(rules).with_classes(history.classes.clone());
    let mut verdict = Verdict::default();
    for record in &history.records {
        for finding in detector.observe_all(record) {
            match finding.severity {
                Severity::Hard if verdict.spin.is_none() => verdict.spin = Some(finding),
                Severity::Suspicion if verdict.suspicions.iter().all(|known| known.family != finding.family) => {
                    verdict.suspicions.push(finding);
                }
                Severity::Hard | Severity::Suspicion => {}
            }
        }
    }
    verdict
}

impl Rules {
    /// Compiles the patterns of the settings.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let plain = |keys: &[String]| keys.iter().map(|key| plain_key(key)).collect();
        Self(Arc::new(Ready {
            masker: Masker::new(&settings.mask_results),
            // A document's expression was compiled when the document was read; one that a program gives and that does
            // not compile matches nothing, which makes the detector stricter and never blind.
            transient: Regex::new(&settings.transient).ok(),
            ignore_args: plain(&settings.ignore_args),
            ignore_results: plain(&settings.ignore_results),
            reach: settings.reach(),
            settings,
        }))
    }
}

impl Rules {
    /// Whether both make the same of a record: they differ in thresholds at most.
    fn read_alike(&self, other: &Self) -> bool {
        let plain = |settings: &Settings| Settings {
            window: 0,
            families: Settings::default().families,
            reset: Settings::default().reset,
            ..settings.clone()
        };
        Arc::ptr_eq(&self.0, &other.0) || plain(&self.0.settings) == plain(&other.0.settings)
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self::new(Settings::default())
    }
}

impl Detector {
    /// A detector that has seen nothing.
    #[must_use]
    pub fn new(rules: &Rules) -> Self {
        Self { rules: rules.clone(), classes: BTreeMap::new(), lanes: HashMap::new(), step: 0 }
    }

    /// Classes of tools that go before those of the settings.
    #[must_use]
    pub fn with_classes(self, classes: BTreeMap<String, Class>) -> Self {
        Self { classes, ..self }
    }

    /// Takes the next record; gives what it completes: the first family that decides, or else the first that suspects.
    pub fn observe(&mut self, record: &Record) -> Option<Finding> {
        let found = self.observe_all(record);
        let hard = found.iter().position(|finding| finding.severity == Severity::Hard);
        found.into_iter().nth(hard.unwrap_or(0))
    }

    /// Forgets everything but the count of records.
    pub fn reset(&mut self) {
        self.lanes.clear();
    }

    /// Takes the next record; gives all that it completes, in the order of the families.
    pub fn observe_all(&mut self, record: &Record) -> Vec<Finding> {
        self.step += 1;
        let step = self.step;
        let ready = &*self.rules.0;
        let settings = &ready.settings;
        if record.kind == Kind::User {
            if settings.reset.user_message {
                match &record.agent {
                    None => self.lanes.clear(),
                    Some(_) => drop(self.lanes.remove(&record.agent)),
                }
            }
            return Vec::new();
        }
        if !self.lanes.contains_key(&record.agent) {
            self.lanes.insert(record.agent.clone(), Lane::default());
        }
        let Some(lane) = self.lanes.get_mut(&record.agent) else { return Vec::new() };
        if is_idle(lane.last_time, record.time, settings.reset.idle_gap) {
            *lane = Lane::default();
        }
        lane.last_time = record.time.or(lane.last_time);
        match record.kind {
            Kind::Call => {
                let class = self.classes.get(&record.action).or_else(|| settings.classes.get(&record.action)).copied();
                ready.add_call(lane, record, step, class);
            }
            Kind::Say | Kind::Think => ready.add_text(lane, record, step),
            Kind::Event => {
                lane.events.push_back(step);
                lane.last = Some(Kind::Event);
                while lane.events.len() > ready.reach {
                    lane.events.pop_front();
                }
            }
            Kind::User => {}
        }
        let judged = FAMILIES.iter().filter_map(|family| {
            let mut judged = (family.judge)(lane, settings)?;
            lane.note_masks(family.name, &mut judged);
            Some((family.name, judged))
        });
        judged.map(|(family, Judged { severity, evidence })| Finding { step, family, severity, evidence }).collect()
    }

    /// Goes on by other rules and classes. What was seen stays, unless the rules read calls and results otherwise.
    pub fn adopt(&mut self, rules: &Rules, classes: BTreeMap<String, Class>) {
        if !self.rules.read_alike(rules) || self.classes != classes {
            self.reset();
        }
        self.rules = rules.clone();
        self.classes = classes;
    }

    pub(super) fn lanes(&self) -> impl Iterator<Item = &Lane> {
        self.lanes.values()
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.rules.0.settings
    }
}

fn is_idle(last: Option<f64>, now: Option<f64>, gap: Option<f64>) -> bool {
    matches!((last, now, gap), (Some(last), Some(now), Some(gap)) if now - last >= gap)
}

impl Ready {
    fn add_call(&self, lane: &mut Lane, record: &Record, step: usize, declared: Option<Class>) {
        let arguments = read_json(&record.arguments);
        let form = canonical(&arguments, &self.ignore_args);
        let shape = Shape::of(&record.action, &arguments, &self.ignore_args);
        let shown = shape.class.or(record.moved.then_some(Class::Poll));
        let class = declared.or(shown.filter(|_| !record.error)).unwrap_or_default();
        let noise = Noise { masker: &self.masker, ignored: &self.ignore_results, bare: arguments_are_empty(&form) };
        let read = record.observation.as_deref().map(|text| canonical_result(text, &noise));
        let (result, left_out) = read.map_or((None, Vec::new()), |read| (Some(read.text), read.left_out));
        let nods = result.as_deref().is_none_or(is_nod);
        let normal = matches!(class, Class::Normal | Class::SideEffect);
        let looks_changing = record.changes.unwrap_or(normal && (shape.payload || shape.texts == 0 || nods));
        let call = Call {
            step,
            action: Arc::from(record.action.as_str()),
            class,
            args: Fingerprint::of(&[record.action.as_bytes(), form.as_bytes()]),
            result: result.as_deref().map(|text| Fingerprint::of(&[&[u8::from(record.error)], text.as_bytes()])),
            error: record.error,
            passing: self.passing(record),
            batch: record.batch,
            finish: record.finish || self.settings.finish.contains(&record.action),
            changes: (looks_changing || record.moved) && !record.error,
            telling: result.as_deref().is_some_and(|text| count_up_to(text, TELLING) == TELLING),
            question: shape.question.map(|(text, rest)| Question {
                words: Words::of(&text),
                rest: Fingerprint::of(&[canonical(&Value::Object(rest), &self.ignore_args).as_bytes()]),
            }),
            plain: record.observation.as_deref().map_or(0, hash),
            left_out,
            repeats: false,
            new_lines: None,
        };
        let read = if record.error { None } else { Read::of(&record.action, &arguments, &self.ignore_args) };
        lane.push_call(call, self.reach, read);
    }

    fn add_text(&self, lane: &mut Lane, record: &Record, step: usize) {
        let set = &self.settings.families.chant;
        let noise = Noise { masker: &self.masker, ignored: &self.ignore_results, bare: false };
        let text = record.words();
        let refused = record.observation.as_deref().filter(|_| record.error);
        lane.push_text(Text {
            step,
            kind: record.kind,
            words: Words::of(text),
            refused: refused.map(|text| Fingerprint::of(&[canonical_result(text, &noise).text.as_bytes()])),
            chant: if set.enabled { chant::repeats(text, set) } else { None },
        });
    }

    fn passing(&self, record: &Record) -> Passing {
        let (Some(text), Some(transient)) = (record.observation.as_deref(), &self.transient) else {
            return Passing::No;
        };
        let head = text.char_indices().nth(LONGEST_ERROR).map_or(text, |(at, _)| &text[..at]);
        let short = head.len() == text.len();
        let found = transient.find_iter(head).count();
        match (record.error, found) {
            (true, 1..) => Passing::Error,
            // A result that is no error is an outage only when it says little else: twice over, in a line.
            (false, 2..) if short && count_up_to(text, 16) < 16 => Passing::Told,
            _ => Passing::No,
        }
    }
}

/// From how many words a result tells something.
const TELLING: usize = 4;
/// Characters of a result in which the words for an outage are looked for.
const LONGEST_ERROR: usize = 2000;

/// Whether the canonical form of arguments has none.
fn arguments_are_empty(form: &str) -> bool {
    matches!(form, "{}" | "null" | "")
}

/// The hash of a text, for this process only.
fn hash(text: &str) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    text.trim().hash(&mut hasher);
    hasher.finish()
}

/// Arguments that are JSON in a string are read, as some providers send them.
fn read_json(arguments: &Value) -> std::borrow::Cow<'_, Value> {
    match arguments.as_str().map(serde_json::from_str::<Value>) {
        Some(Ok(value)) => std::borrow::Cow::Owned(value),
        _ => std::borrow::Cow::Borrowed(arguments),
    }
}
