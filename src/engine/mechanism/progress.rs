//! Progress: the figure of a loop's own, taken at the end of an iteration.

use minijinja::Value;
use minijinja::value::{Serde, ValueKind};

use crate::engine::core::LoopCore;
use crate::engine::finish::End;
use crate::event::{Event, ExitReason, MechanismName, ProgressState};
use crate::mechanism::{Progress, ProgressSettings};
use crate::state::Frame;

impl LoopCore {
    /// Takes the figure, where the loop names one; the end of the loop, when it has not got better for too long.
    pub(in crate::engine) fn measure_progress(&self) -> Option<End> {
        let settings = self.program.mechanisms.progress.as_ref()?;
        let (figure, error) = match self.figure(settings) {
            Ok(figure) => (figure, None),
            Err(words) => (None, Some(words)),
        };
        let (verdict, state, tell) = {
            let mut memory = self.mechanism_memory();
            // A reload may have brought another figure, which has nothing to do with the old one.
            if memory.metric.as_ref().is_none_or(|(known, _)| known.asks_otherwise(settings)) {
                memory.metric = Some((settings.clone(), Progress::default()));
            }
            let (_, progress) = memory.metric.as_mut()?;
            let verdict = progress.measure(settings, figure);
            (verdict, progress.state.clone(), error.is_some() && progress.tell())
        };
        if let Some(words) = error.as_deref().filter(|_| tell) {
            let message = format!("mechanisms.progress.metric gives no figure: {words}");
            self.events.emit(Event::Warning { message });
        }
        self.decided(MechanismName::Progress, &verdict);
        self.state().seen.progress = Value::from(Serde(&state));
        let end = verdict.act.then(|| progress_end(settings, &state));
        self.events.emit(Event::Progress { grounds: verdict.grounds, state, ends: end.is_some(), error });
        end
    }

    /// The metric's number; none while it is `none`.
    fn figure(&self, settings: &ProgressSettings) -> Result<Option<f64>, String> {
        let value = self.eval(&settings.metric, &Frame::default()).map_err(|failure| failure.to_string())?;
        match value.kind() {
            ValueKind::None | ValueKind::Undefined => Ok(None),
            ValueKind::Number => match f64::try_from(value.clone()) {
                Ok(figure) if figure.is_finite() => Ok(Some(figure)),
                _ => Err(format!("`{}` is {value}", settings.metric)),
            },
            kind => Err(format!("`{}` is a {kind}, not a number; `| int` and `| float` make one", settings.metric)),
        }
    }
}

fn progress_end(settings: &ProgressSettings, state: &ProgressState) -> End {
    let (best, figure) = (state.best.unwrap_or_default(), state.figure.unwrap_or_default());
    let words = format!(
        "`{}` has not got better than {best} in {} iterations (the last figure: {figure})",
        settings.metric, state.stalled
    );
    End::failed(ExitReason::NoProgress, words)
}
