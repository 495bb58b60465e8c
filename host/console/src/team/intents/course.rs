//! What is plotted of an intent: its last hour, and how the figures that bound its rollout went over the stages of it.

use axum::extract::Path;
use axum::response::Response;
use intent_gateway_api::rollouts::{Measure, Rollouts};
use intent_gateway_api::traffic::TrafficBody;

use super::track::measure_in_words;
use crate::api::segment;
use crate::failure::Failed;
use crate::plots::{self, Plot, Plotting};
use crate::visitor::{Team, Visitor};

/// A plot of a rollout: its name in addresses, its title, and what is in it.
type Drawn = (&'static str, &'static str, &'static [Measure]);

/// What goes into one plot is about as frequent, and of one sort.
const DRAWN: [Drawn; 4] = [
    ("failures", "How often the candidate fails", &[Measure::Faults, Measure::DeadlineMisses, Measure::Refused]),
    ("slow", "How often the candidate is slow", &[Measure::Slow]),
    (
        "empty",
        "How often the candidate shows nothing, or what was not announced",
        &[Measure::Empty, Measure::OutsideBudget],
    ),
    (
        "changed",
        "How often the candidate changes what is shown",
        &[Measure::FirstChanged, Measure::Dropped, Measure::Reordered],
    ),
];
/// That of the stages.
const STAGES: &str = "rollout";

fn source(intent: &str, what: &str) -> String {
    format!("/console/plots/intents/{}/{what}", segment(intent))
}

/// What came of searches, and how long their stages took.
pub(super) async fn hour_of(visitor: &Visitor, intent: &str) -> Result<[Plot; 2], Failed> {
    let address = format!("/api/v1/admin/traffic?intent={}", segment(intent));
    let body = visitor.api.get::<TrafficBody>(&address).await?;
    let one = body.intents.first();
    Ok([
        plots::answers(one, source(intent, "answers"), &address),
        plots::stages(one, source(intent, "stages"), &address),
    ])
}

/// How the latest rollout went; empty where this gateway has seen none. Each with its name in addresses.
pub(super) async fn course_of(visitor: &Visitor, intent: &str) -> Result<Vec<(&'static str, Plot)>, Failed> {
    let address = format!("/api/v1/admin/intents/{}/rollout?course=true", segment(intent));
    let rollouts = visitor.api.find::<Rollouts>(&address).await?;
    let Some(course) = rollouts.and_then(|rollouts| rollouts.course) else { return Ok(Vec::new()) };
    let in_words = |measure: Measure| measure_in_words(measure.as_str()).to_owned();
    let stages = (STAGES, plots::shares(&course, source(intent, STAGES), &address));
    let figures = DRAWN.into_iter().map(|(what, title, measures)| {
        (what, plots::figures(title, &course, measures, in_words, source(intent, what), &address))
    });
    Ok(std::iter::once(stages).chain(figures).collect())
}

pub(super) async fn send_plot(
    Plotting(Team(visitor)): Plotting<Team>,
    Path((intent, what)): Path<(String, String)>,
) -> Result<Response, Failed> {
    if let "answers" | "stages" = what.as_str() {
        let [answers, stages] = hour_of(&visitor, &intent).await?;
        return plots::send(if what == "answers" { &answers } else { &stages });
    }
    let course = course_of(&visitor, &intent).await?;
    let (_, plot) = course.iter().find(|(own, _)| *own == what).ok_or(Failed::NoPage)?;
    plots::send(plot)
}
