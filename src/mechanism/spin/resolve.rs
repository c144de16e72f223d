//! Settings from a document: what it says over the defaults.

use super::record::Class;
use super::settings::{Families, Settings};
use crate::document::{Spin, SpinClass};

/// Puts the thresholds that a document gives in place of the defaults.
macro_rules! put {
    ($to:expr, $from:expr, $($family:ident: $($count:ident)* $(/ $share:ident)?;)*) => {$(
        $to.$family.enabled = $from.$family.enabled.unwrap_or($to.$family.enabled);
        $($to.$family.$count = number($from.$family.$count, $to.$family.$count);)*
        $($to.$family.$share = $from.$family.$share.unwrap_or($to.$family.$share);)?
    )*};
}

impl From<&Spin> for Settings {
    fn from(spin: &Spin) -> Self {
        let base = Self::default();
        let mut reset = base.reset;
        if let Some(given) = &spin.reset_on {
            reset.user_message = given.user_message.unwrap_or(reset.user_message);
            reset.new_result = given.new_result.unwrap_or(reset.new_result);
            reset.idle_gap = match given.idle_gap {
                Some(gap) if gap.0.is_zero() => None,
                Some(gap) => Some(gap.0.as_secs_f64()),
                None => reset.idle_gap,
            };
        }
        let mut classes = base.classes;
        classes.extend(spin.classes.iter().map(|(name, class)| (name.clone(), Class::from(*class))));
        let masks = spin.mask_results.as_ref();
        Self {
            window: number(spin.window, base.window),
            ignore_args: spin.ignore_args.clone().unwrap_or(base.ignore_args),
            ignore_results: spin.ignore_results.clone().unwrap_or(base.ignore_results),
            mask_results: masks
                .map_or(base.mask_results, |masks| masks.iter().map(|mask| mask.name().to_owned()).collect()),
            transient: spin.transient.as_ref().map_or(base.transient, |pattern| pattern.0.clone()),
            reset,
            classes,
            finish: spin.finish_actions.clone().unwrap_or(base.finish),
            families: families(spin, base.families),
        }
    }
}

impl From<SpinClass> for Class {
    fn from(class: SpinClass) -> Self {
        match class {
            SpinClass::Normal => Self::Normal,
            SpinClass::Poll => Self::Poll,
            SpinClass::Wait => Self::Wait,
            SpinClass::Enumerate => Self::Enumerate,
            SpinClass::SideEffect => Self::SideEffect,
        }
    }
}

fn number(given: Option<u32>, default: usize) -> usize {
    given.and_then(|number| usize::try_from(number).ok()).unwrap_or(default)
}

fn families(spin: &Spin, mut to: Families) -> Families {
    let from = &spin.families;
    put! { to, from,
        error: n transient_n;
        exact: n poll_n;
        side_effect: n;
        cycle: max_period repeats;
        scattered: n window;
        refused_finish: n;
        same_error: n;
        any_error: n;
        coverage: n / min_new;
        monologue: same thoughts any / similarity;
        chant: chunk n max_periods;
        event_storm: n;
        paraphrase: n stale;
        no_progress: n errors;
        no_news: n decide;
        same_result: n;
        few_results: n;
    }
    to.same_action.n = number(spin.same_action, to.same_action.n);
    to
}
