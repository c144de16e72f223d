//! Progress: whether a figure of the loop's own still gets better.

use super::settings::ProgressSettings;
use super::throttle::Verdict;
use crate::document::Direction;
use crate::event::ProgressState;

/// The progress check's memory in one run of a loop.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// What is known: `progress` in templates.
    pub state: ProgressState,
    told: bool,
}

impl Progress {
    /// Takes the figure at the end of an iteration; the verdict acts when the loop is to end.
    ///
    /// The first figure is the one to beat. An iteration without a figure counts for nothing: a metric that cannot be
    /// read yet must not end a loop.
    pub fn measure(&mut self, settings: &ProgressSettings, figure: Option<f64>) -> Verdict {
        let Some(figure) = figure.filter(|figure| figure.is_finite()) else {
            return Verdict::no("no_figure").with("stalled", self.state.stalled).with("patience", settings.patience);
        };
        let state = &mut self.state;
        state.figure = Some(figure);
        let before = state.best;
        let better = before.is_none_or(|best| match settings.direction {
            Direction::Up => figure > best,
            Direction::Down => figure < best,
        });
        if better {
            state.best = Some(figure);
            state.stalled = 0;
        } else {
            state.stalled = state.stalled.saturating_add(1);
        }
        let verdict = match before {
            None => Verdict::no("first"),
            Some(_) if better => Verdict::no("better"),
            Some(_) if state.stalled < settings.patience => Verdict::no("patience"),
            Some(_) => Verdict::yes("no_progress"),
        };
        let verdict = before.into_iter().fold(verdict, |verdict, best| verdict.with("best", best));
        verdict.with("figure", figure).with("stalled", state.stalled).with("patience", settings.patience)
    }

    /// Whether to tell that there is no figure: once.
    pub fn tell(&mut self) -> bool {
        !std::mem::replace(&mut self.told, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(direction: Direction, patience: u32) -> ProgressSettings {
        ProgressSettings { metric: "state.figure".into(), direction, patience }
    }

    fn rules(settings: &ProgressSettings, figures: &[f64]) -> Vec<String> {
        let mut progress = Progress::default();
        let measured = figures.iter().map(|figure| progress.measure(settings, Some(*figure)));
        measured.map(|verdict| format!("{} {}", verdict.grounds.rule, verdict.act)).collect()
    }

    #[test]
    fn patience_counts_iterations_without_a_better_figure() {
        let down = settings(Direction::Down, 2);
        assert_eq!(
            rules(&down, &[9.0, 9.0, 7.0, 8.0, 7.0]),
            ["first false", "patience false", "better false", "patience false", "no_progress true"]
        );
        assert_eq!(
            rules(&settings(Direction::Up, 1), &[1.0, 2.0, 2.0]),
            ["first false", "better false", "no_progress true"]
        );
    }

    #[test]
    fn an_iteration_without_a_figure_counts_for_nothing() {
        let up = settings(Direction::Up, 2);
        let mut progress = Progress::default();
        for figure in [None, Some(f64::NAN), Some(1.0), None, Some(1.0), Some(f64::INFINITY)] {
            assert!(!progress.measure(&up, figure).act, "{figure:?}");
        }
        assert_eq!((progress.state.best, progress.state.stalled), (Some(1.0), 1));
        let verdict = progress.measure(&up, Some(0.0));
        let numbers: Vec<String> = verdict.grounds.numbers.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert!(verdict.act);
        assert_eq!(numbers, ["best=1", "figure=0", "patience=2", "stalled=2"]);
        assert!(progress.tell() && !progress.tell());
    }
}
