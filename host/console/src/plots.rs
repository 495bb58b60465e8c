//! Figures over the last hour: drawn where scripts run, and as a table of what is last, least and most for everybody.
//!
//! The data of a plot has an address of its own, from which the script reads it again while the page is open.

use std::sync::Arc;

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::FromRequestParts;
use axum::response::{IntoResponse as _, Response};
use http::request::Parts;
use http::{HeaderValue, StatusCode, header};
use intent_gateway_api::rollouts::{CourseFigure, Measure, RolloutCourse};
use intent_gateway_api::traffic::{IntentTraffic, PartnerTraffic, TrafficBody};
use intent_gateway_domain::datetime;
use intent_gateway_http::inside::Page;
use serde::Serialize;

use crate::Console;
use crate::failure::Failed;
use crate::visitor::{OfFace, Visitor};

const QUIET_HOUR: &str = "Nothing went on in the last hour.";

/// Rates are shown in percent.
const PERCENT: f64 = 100.0;
/// Lines of one plot. What is most comes first; the rest is in the API.
const LINES_MAX: usize = 8;

/// A plot, with all that is said of it.
#[derive(Template, Serialize)]
#[template(path = "plot.html")]
pub(crate) struct Plot {
    pub(crate) title: &'static str,
    unit: &'static str,
    /// Where the script reads it.
    #[serde(skip)]
    source: String,
    /// Where the API tells it.
    #[serde(skip)]
    api: String,
    /// Seconds since the epoch.
    at: Vec<u64>,
    lines: Vec<Line>,
    /// Lines that do not move: targets, bounds.
    bounds: Vec<Bound>,
    /// The sentence that stands in place of a plot without a line.
    #[serde(skip)]
    empty: &'static str,
}

#[derive(Serialize)]
struct Line {
    label: String,
    values: Vec<Option<f64>>,
}

#[derive(Serialize)]
struct Bound {
    label: String,
    value: f64,
}

impl HtmlSafe for Plot {}

impl Line {
    fn of_counts(label: impl Into<String>, counts: &[u32]) -> Self {
        Self { label: label.into(), values: counts.iter().map(|count| Some(f64::from(*count))).collect() }
    }

    fn known(&self) -> impl Iterator<Item = f64> {
        self.values.iter().flatten().copied()
    }

    fn last(&self) -> String {
        shown(self.values.last().copied().flatten())
    }

    fn least(&self) -> String {
        shown(self.known().reduce(f64::min))
    }

    fn most(&self) -> String {
        shown(self.known().reduce(f64::max))
    }
}

/// A figure for people.
fn shown(value: Option<f64>) -> String {
    match value {
        None => "none".to_owned(),
        Some(value) if value.fract() == 0.0 => format!("{value:.0}"),
        // Rates are bounded by hundredths of a percent.
        Some(value) if value.abs() < 1.0 => format!("{value:.3}"),
        Some(value) => format!("{value:.1}"),
    }
}

/// Searches of all intents, every ten seconds: a line for each of those with the most.
pub(crate) fn traffic(body: &TrafficBody, source: &str, api: &str) -> Plot {
    let mut intents: Vec<&IntentTraffic> = body.intents.iter().collect();
    let all = |one: &IntentTraffic| searches(one).iter().map(|count| u64::from(*count)).sum::<u64>();
    intents.sort_by_key(|one| std::cmp::Reverse(all(one)));
    let longest = body.intents.iter().max_by_key(|one| one.at.len());
    let at = longest.map(|one| seconds(&one.at)).unwrap_or_default();
    let line = |one: &&IntentTraffic| {
        let line = Line::of_counts(one.intent.clone(), &searches(one));
        // An intent that was quiet at first has no samples of then.
        let before = std::iter::repeat_n(None, at.len().saturating_sub(line.values.len()));
        Line { values: before.chain(line.values).collect(), ..line }
    };
    let lines = intents.iter().take(LINES_MAX).map(line).collect();
    Plot {
        title: "Searches by intent",
        unit: "in 10 s",
        source: source.to_owned(),
        api: api.to_owned(),
        at,
        lines,
        bounds: Vec::new(),
        empty: QUIET_HOUR,
    }
}

fn searches(one: &IntentTraffic) -> Vec<u32> {
    let columns = [&one.ok, &one.empty, &one.refused, &one.failed, &one.overloaded];
    (0..one.at.len()).map(|row| columns.iter().filter_map(|column| column.get(row)).sum()).collect()
}

/// What searches of one intent came to.
pub(crate) fn answers(one: Option<&IntentTraffic>, source: String, api: &str) -> Plot {
    let lines = one.map(|one| {
        let columns = [
            ("found something", &one.ok),
            ("empty", &one.empty),
            ("refused", &one.refused),
            ("failed", &one.failed),
            ("no place", &one.overloaded),
        ];
        columns.map(|(label, counts)| Line::of_counts(label, counts)).into()
    });
    Plot {
        title: "Searches by what came of them",
        unit: "in 10 s",
        source,
        api: api.to_owned(),
        at: one.map(|one| seconds(&one.at)).unwrap_or_default(),
        lines: lines.unwrap_or_default(),
        bounds: Vec::new(),
        empty: QUIET_HOUR,
    }
}

/// How long the stages of one intent took.
pub(crate) fn stages(one: Option<&IntentTraffic>, source: String, api: &str) -> Plot {
    let line = |stage: &intent_gateway_api::traffic::StageTraffic| Line {
        label: stage.stage.clone(),
        values: stage.p99_ms.clone(),
    };
    Plot {
        title: "Time by stage, 99th percentile",
        unit: "ms",
        source,
        api: api.to_owned(),
        at: one.map(|one| seconds(&one.at)).unwrap_or_default(),
        lines: one.map(|one| one.stages.iter().map(line).collect()).unwrap_or_default(),
        bounds: Vec::new(),
        empty: QUIET_HOUR,
    }
}

/// How long a partner's tools took, with their targets.
pub(crate) fn latency(body: &PartnerTraffic, source: String, api: String) -> Plot {
    let longest = body.tools.iter().max_by_key(|tool| tool.at.len());
    let at = longest.map(|tool| seconds(&tool.at)).unwrap_or_default();
    let tools = || body.tools.iter().take(LINES_MAX);
    let line = |tool: &intent_gateway_api::traffic::ToolTraffic| {
        let before = std::iter::repeat_n(None, at.len().saturating_sub(tool.p95_ms.len()));
        Line { label: tool.tool.clone(), values: before.chain(tool.p95_ms.iter().copied()).collect() }
    };
    let bound = |tool: &intent_gateway_api::traffic::ToolTraffic| {
        let target = tool.targets.as_ref()?.p95_ms;
        Some(Bound { label: format!("{}, target", tool.tool), value: f64::from(target) })
    };
    let (lines, bounds) = (tools().map(line).collect(), tools().filter_map(bound).collect());
    Plot { title: "Time of calls, 95th percentile", unit: "ms", source, api, at, lines, bounds, empty: QUIET_HOUR }
}

/// How often something happened in a rollout, for some of what is bounded, with the bounds. Before anything might have happened, nothing
/// is known.
pub(crate) fn figures(
    title: &'static str,
    course: &RolloutCourse,
    measures: &[Measure],
    in_words: impl Fn(Measure) -> String,
    source: String,
    api: &str,
) -> Plot {
    let chosen = || course.figures.iter().filter(|figure| measures.contains(&figure.measure));
    let rate = |(hits, of): (&u64, &u64)| (*of > 0).then(|| PERCENT * *hits as f64 / *of as f64);
    let line = |figure: &CourseFigure| Line {
        label: in_words(figure.measure),
        values: figure.hits.iter().zip(&figure.of).map(rate).collect(),
    };
    let bound = |figure: &CourseFigure| Bound {
        label: format!("{}, bound", in_words(figure.measure)),
        value: PERCENT * figure.bound,
    };
    Plot {
        title,
        unit: "% of what might have",
        source,
        api: api.to_owned(),
        at: course_seconds(course),
        lines: chosen().map(line).collect(),
        bounds: chosen().map(bound).collect(),
        empty: "Nothing of it is bounded in this rollout.",
    }
}

/// Whom the candidate of a rollout served, as its stages went.
pub(crate) fn shares(course: &RolloutCourse, source: String, api: &str) -> Plot {
    let line = Line {
        label: "users whom the candidate serves".to_owned(),
        values: course.share_percent.iter().copied().map(Some).collect(),
    };
    Plot {
        title: "Stages of the rollout",
        unit: "% of the users",
        source,
        api: api.to_owned(),
        at: course_seconds(course),
        lines: vec![line],
        bounds: Vec::new(),
        empty: "",
    }
}

fn course_seconds(course: &RolloutCourse) -> Vec<u64> {
    course.at_ms.iter().map(|ms| ms / 1_000).collect()
}

/// Moments as the API writes them, in seconds.
fn seconds(at: &[String]) -> Vec<u64> {
    let second = |text: &String| datetime::instant_ms(text).and_then(|ms| u64::try_from(ms / 1_000).ok());
    at.iter().map(|text| second(text).unwrap_or_default()).collect()
}

/// A visitor whose page is open, and reads the data of a plot again: that is no use of the session.
pub(crate) struct Plotting<V>(pub(crate) V);

impl<V: OfFace> FromRequestParts<Arc<Console>> for Plotting<V> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, console: &Arc<Console>) -> Result<Self, Response> {
        match Visitor::unnoted(parts, console, V::FACE).await {
            Ok(Some((_, visitor))) => Ok(Self(V::of(visitor))),
            // A script asks: it is told, and led nowhere.
            Ok(None) => {
                let mut response = StatusCode::UNAUTHORIZED.into_response();
                response.extensions_mut().insert(Page);
                Err(response)
            }
            Err(failed) => Err(failed.into_response()),
        }
    }
}

/// The data of a plot, for the script.
pub(crate) fn send(plot: &Plot) -> Result<Response, Failed> {
    let text = serde_json::to_vec(plot).map_err(|error| crate::api::ApiError::Unreadable(error.into()))?;
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], text).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intent(name: &str, ok: &[u32], first: u64) -> IntentTraffic {
        let zeros = vec![0; ok.len()];
        let moment =
            |nth: u64| intent_gateway_api::time(intent_gateway_domain::clock::Timestamp::from_ms(nth * 10_000));
        IntentTraffic {
            intent: name.to_owned(),
            at: (first..first + ok.len() as u64).map(moment).collect(),
            ok: ok.to_vec(),
            empty: zeros.clone(),
            refused: zeros.clone(),
            failed: zeros.clone(),
            overloaded: zeros,
            stages: Vec::new(),
        }
    }

    #[test]
    fn lines_end_together_and_the_busiest_is_first() {
        let intents = vec![intent("a", &[1, 2, 1], 5), intent("b<b>", &[9], 7)];
        let plot = traffic(&TrafficBody { every_ms: 10_000, intents }, "/x", "/api");
        assert_eq!(plot.at, [50, 60, 70]);
        let lines: Vec<_> = plot.lines.iter().map(|line| (line.label.as_str(), line.values.clone())).collect();
        assert_eq!(lines, [("b<b>", vec![None, None, Some(9.0)]), ("a", vec![Some(1.0), Some(2.0), Some(1.0)])]);
        let text = plot.render().expect("a table");
        assert!(text.contains("b&#60;b&#62;") && !text.contains("<b>"), "{text}");
        assert!(text.contains("data-plot=\"/x\""), "{text}");
    }

    #[test]
    fn small_figures_can_be_told_apart() {
        assert_eq!([0.0, 0.01, 7.0, 7.25].map(|value| shown(Some(value))), ["0", "0.010", "7", "7.2"]);
    }

    #[test]
    fn a_plot_without_anything_says_so() {
        let text = stages(None, "/x".to_owned(), "/api").render().expect("a sentence");
        assert!(text.contains("Nothing went on in the last hour.") && !text.contains("data-plot"), "{text}");
    }
}
