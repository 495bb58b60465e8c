//! A rollout as it is shown: its stages as steps, its bounds with what is known of each.

use askama::Template;
use askama::filters::HtmlSafe;
use intent_gateway_api::name;
use intent_gateway_api::rollouts::Rollout;

use crate::view::{Chip, Tone, count};

const MS_PER_MINUTE: u64 = 60_000;

/// A stage.
pub(super) struct Step {
    pub(super) chip: Chip,
    /// Whom the candidate serves in it.
    pub(super) share: String,
    /// What it takes to end.
    pub(super) takes: String,
    /// What was seen in it; empty before it has begun.
    pub(super) seen: String,
}

/// A bound.
pub(super) struct Bound {
    pub(super) what: String,
    pub(super) chip: Chip,
    pub(super) bound: String,
    pub(super) seen: String,
    /// Between which two the rate behind it is.
    pub(super) between: String,
    /// The same as a picture, with the bound as a line.
    pub(super) picture: GuardPicture,
    /// Receipts that show it.
    pub(super) receipts: Vec<String>,
}

/// Between which two a rate is, with its bound as a line, from nothing to a little more than the greatest of them.
#[derive(Template)]
#[template(
    source = r#"<svg class="guard" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label="{{ label }}"><rect class="ground" x="0" y="4" width="100" height="4"/><rect class="seen" x="{{ from }}" y="2" width="{{ length }}" height="8"/><line class="bound" x1="{{ bound }}" y1="0" x2="{{ bound }}" y2="12" vector-effect="non-scaling-stroke"/></svg>"#,
    ext = "html"
)]
pub(super) struct GuardPicture {
    from: String,
    length: String,
    bound: String,
    label: String,
}

impl HtmlSafe for GuardPicture {}

/// What is seen of a rate that is exactly known, in hundredths of the picture.
const LENGTH_MIN: f64 = 1.0;
/// How much of the picture is to the left of the greatest figure.
const GREATEST_AT: f64 = 90.0;

impl GuardPicture {
    fn new(at_least: f64, at_most: f64, bound: f64) -> Self {
        let greatest = at_most.max(bound).max(f64::MIN_POSITIVE);
        let place = |rate: f64| GREATEST_AT * rate / greatest;
        let (from, to) = (place(at_least), place(at_most));
        Self {
            from: format!("{from:.1}"),
            length: format!("{:.1}", (to - from).max(LENGTH_MIN)),
            bound: format!("{:.1}", place(bound)),
            label: format!("between {} and {}, at most {}", percent(at_least), percent(at_most), percent(bound)),
        }
    }
}

/// The stages of a rollout, in their order.
pub(super) fn steps(rollout: &Rollout) -> Vec<Step> {
    let stages = rollout.policy.stages.iter().enumerate();
    stages
        .map(|(place, stage)| Step {
            chip: stage_chip(place, rollout.stage, rollout.paused.is_some()),
            share: if stage.share_percent > 0.0 {
                format!("{} % of the users", stage.share_percent)
            } else {
                "Nobody; it ranks beside serving".to_owned()
            },
            takes: format!(
                "{} decisions and {} minutes; {} % of the rankings are compared.",
                count(stage.decisions),
                stage.minutes,
                stage.compare_percent
            ),
            seen: rollout.seen.get(place).map_or_else(String::new, |seen| {
                let (compared, served) = (count(seen.compared), count(seen.served));
                let (left_out, fell_back) = (count(seen.left_out), count(seen.fell_back));
                format!(
                    "Seen: {compared} compared, {left_out} left out, {served} served, {fell_back} that the live version took over."
                )
            }),
        })
        .collect()
}

/// Where a stage is, seen from the one that a rollout is in.
fn stage_chip(place: usize, reached: usize, is_paused: bool) -> Chip {
    match place.cmp(&reached) {
        std::cmp::Ordering::Less => Chip::new(Tone::Good, "passed"),
        std::cmp::Ordering::Equal if is_paused => Chip::new(Tone::Care, "paused"),
        std::cmp::Ordering::Equal => Chip::new(Tone::Moving, "now"),
        std::cmp::Ordering::Greater => Chip::new(Tone::Idle, "later"),
    }
}

/// What the stage still lacks, in words.
pub(super) fn missing(rollout: &Rollout) -> String {
    let (decisions, minutes) = (rollout.missing.decisions, rollout.missing.ms.div_ceil(MS_PER_MINUTE));
    match (decisions, minutes) {
        (0, 0) => "It has seen enough.".to_owned(),
        (0, minutes) => format!("It still takes {minutes} min."),
        (decisions, 0) => format!("It still takes {} decisions.", count(decisions)),
        (decisions, minutes) => format!("It still takes {} decisions and {minutes} min.", count(decisions)),
    }
}

/// The bounds that are set, with what is known of each.
pub(super) fn bounds(rollout: &Rollout) -> Vec<Bound> {
    let guards = rollout.guards.iter();
    guards
        .map(|guard| Bound {
            what: measure_in_words(guard.measure.as_str()).to_owned(),
            chip: verdict_chip(&name(&guard.verdict)),
            bound: percent(guard.bound),
            seen: format!("{} of {}", count(guard.hits), count(guard.of)),
            between: format!("{} to {}", percent(guard.at_least), percent(guard.at_most)),
            picture: GuardPicture::new(guard.at_least, guard.at_most, guard.bound),
            receipts: guard.receipts.clone(),
        })
        .collect()
}

/// What a measure counts. One that is new has its own name.
pub(super) fn measure_in_words(measure: &str) -> &str {
    match measure {
        "faults" => "it fails where the live version does not",
        "deadline_misses" => "it runs past its deadline where the live version does not",
        "slow" => "a ranking takes too much processor time",
        "refused" => "it refuses what the live version takes",
        "empty" => "it shows no option where the live version shows one",
        "first_changed" => "another option is first",
        "dropped" => "it takes out an option that the live version shows",
        "reordered" => "it orders differently what both show",
        "outside_budget" => "something differs that it does not announce",
        other => other,
    }
}

fn verdict_chip(verdict: &str) -> Chip {
    match verdict {
        "holds" => Chip::new(Tone::Good, "holds"),
        "broken" => Chip::new(Tone::Bad, "broken"),
        _ => Chip::new(Tone::Idle, "not known yet"),
    }
}

/// A rate, 0 to 1, in percent: bounds go down to hundredths of a percent.
pub(super) fn percent(rate: f64) -> String {
    format!("{:.2} %", 100.0 * rate)
}

/// How a rollout ended, in a shape and a word.
pub(super) fn end_chip(end: &str) -> Chip {
    match end {
        "live" => Chip::new(Tone::Good, "live"),
        "taken_back" => Chip::new(Tone::Bad, "taken back"),
        other => Chip::new(Tone::Idle, other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_behind_here_or_ahead() {
        let shown = [(0, false), (1, false), (1, true), (2, true)]
            .map(|(place, is_paused)| stage_chip(place, 1, is_paused).to_string());
        for (shown, word) in shown.iter().zip(["passed", "now", "paused", "later"]) {
            assert!(shown.contains(word), "{shown}");
        }
    }

    #[test]
    fn a_picture_has_the_bound_where_it_is() {
        let shown = GuardPicture::new(0.0, 0.01, 0.02).to_string();
        assert!(shown.contains(r#"x="0.0" y="2" width="45.0""#) && shown.contains(r#"x1="90.0""#), "{shown}");
        let nothing = GuardPicture::new(0.0, 0.0, 0.0).to_string();
        assert!(nothing.contains(r#"width="1.0""#) && nothing.contains(r#"x1="0.0""#), "{nothing}");
    }

    #[test]
    fn small_rates_can_be_told_apart() {
        assert_eq!([percent(0.0), percent(0.0001), percent(0.2)], ["0.00 %", "0.01 %", "20.00 %"]);
    }
}
