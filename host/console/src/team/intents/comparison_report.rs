//! The report of a comparison, in words and tables.

use askama::Template;
use askama::filters::HtmlSafe;
use intent_gateway_api::contracts::{BaselineName, CallTimes, CodeCount, ComparisonReport};

use super::track::percent;
use crate::view::{self, Chip, Ident, Moment, Tone};

/// Partners of the table.
const PARTNERS_SHOWN: usize = 20;
/// Receipts that are named of something that was not announced.
const RECEIPTS_SHOWN: usize = 3;

#[derive(Template)]
#[template(path = "team/comparison-report.html")]
pub(super) struct ReportPart {
    report: ComparisonReport,
}

impl HtmlSafe for ReportPart {}

/// A count with the thing that is counted.
struct Counted {
    what: &'static str,
    figure: String,
}

/// Times of a version.
struct Times {
    version: String,
    calls: String,
    median: String,
    most: String,
    longest: String,
    too_slow: String,
}

/// A figure of how like two rankings are.
struct Likeness {
    what: &'static str,
    mean: String,
    least: String,
}

impl ReportPart {
    pub(super) fn of(report: ComparisonReport) -> Self {
        Self { report }
    }

    /// What it comes to.
    pub(super) fn sentence(&self) -> String {
        let ComparisonReport { candidate, receipts, different, .. } = &self.report;
        let (version, against) = (&candidate.version, self.baseline());
        match (*receipts, *different) {
            (0, _) => format!("There was nothing to compare {version} with: no receipt of that time is kept."),
            (receipts, 0) => {
                format!("{version} differs from {against} in none of {} rankings.", view::count(receipts))
            }
            (receipts, different) => format!(
                "{version} differs from {against} in {} of {} rankings, {}.",
                view::count(different),
                view::count(receipts),
                rate(different, receipts)
            ),
        }
    }

    /// Whether it does what its author says.
    fn verdict(&self) -> Chip {
        let ComparisonReport { failed, budget, receipts, .. } = &self.report;
        match budget {
            _ if !failed.is_empty() => Chip::new(Tone::Bad, "it fails"),
            _ if *receipts == 0 => Chip::new(Tone::Idle, "nothing was compared"),
            Some(budget) if !budget.holds => Chip::new(Tone::Bad, "something differs that was not announced"),
            Some(_) => Chip::new(Tone::Good, "nothing differs but what was announced"),
            None => Chip::new(Tone::Good, "it fails nowhere; its author has not said what may differ"),
        }
    }

    /// What it was compared with.
    fn baseline(&self) -> String {
        match &self.report.baseline {
            BaselineName::Shown => "what was shown".to_owned(),
            BaselineName::Version(version) => version.version.to_string(),
        }
    }

    /// What changed, and in how many rankings.
    fn changes(&self) -> Vec<Counted> {
        let report = &self.report;
        let of_all = |count: u64| format!("{}, {}", view::count(count), rate(count, report.receipts));
        let counted = |what, figure| Counted { what, figure };
        let mut changes = vec![
            counted("something differs", of_all(report.different)),
            counted("another option is first", of_all(report.first_changed)),
            counted("what both keep is in another order", of_all(report.reordered)),
            counted("nothing is shown any more", of_all(report.newly_empty)),
            counted("only cards, findings or words differ", of_all(report.only_wording)),
            counted("it refuses to rank", codes(&report.refused)),
            counted("it fails", codes(&report.failed)),
            counted("it refuses the request", codes(&report.requests_refused)),
            counted("it asks partners otherwise", view::count(report.requests_changed)),
        ];
        if !report.not_comparable.is_empty() {
            let figure = codes(&report.not_comparable);
            changes.push(counted("the other one does not rank it any more, so it counts nowhere", figure));
        }
        changes
    }

    fn likeness(&self) -> [Likeness; 3] {
        let report = &self.report;
        [
            ("first three options in common", &report.overlap_of_three),
            ("rank-biased overlap (p = 0.9)", &report.rank_biased_overlap),
            ("Kendall's tau-b", &report.kendall_tau_b),
        ]
        .map(|(what, figures)| {
            let shown = |figure: f64| if figures.count == 0 { "none".to_owned() } else { format!("{figure:.4}") };
            Likeness { what, mean: shown(figures.mean), least: shown(figures.min) }
        })
    }

    fn times(&self) -> Vec<Times> {
        let own = (self.report.candidate.version.to_string(), &self.report.candidate_times);
        let other = self.report.baseline_times.iter().map(|times| (self.baseline(), times));
        std::iter::once(own).chain(other).map(|(version, times)| Times::of(version, times)).collect()
    }

    /// How many partners with another share there are beside those that are shown.
    fn more_partners(&self) -> usize {
        self.report.changed_partners().count().saturating_sub(PARTNERS_SHOWN)
    }
}

impl Times {
    fn of(version: String, times: &CallTimes) -> Self {
        let micros = |time: f64| format!("{time:.0}");
        Self {
            version,
            calls: view::count(times.calls),
            median: micros(times.p50_us),
            most: micros(times.p99_us),
            longest: micros(times.max_us),
            too_slow: view::count(times.too_slow),
        }
    }
}

fn rate(part: u64, of: u64) -> String {
    if of == 0 { "none".to_owned() } else { percent(part as f64 / of as f64) }
}

fn codes(counts: &[CodeCount]) -> String {
    let told: Vec<_> =
        counts.iter().map(|CodeCount { code, count }| format!("{code} {}", view::count(*count))).collect();
    if told.is_empty() { "0".to_owned() } else { told.join(", ") }
}

/// The name of a rule.
fn rule(code: &str) -> &str {
    if code.is_empty() { "without a reason" } else { code }
}

fn place(place: &Option<u64>) -> String {
    place.map_or_else(|| "not shown".to_owned(), |place| place.to_string())
}

fn score(score: &Option<f64>) -> String {
    score.map_or_else(String::new, view::share)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn report(of: &Value) -> ReportPart {
        let figures = json!({"count": 4, "mean": 0.75, "min": 0.5, "max": 1.0, "from": 0.0, "to": 1.0, "bars": []});
        let times = json!({"calls": 4, "p50_us": 80.4, "p99_us": 99.6, "max_us": 120.0, "too_slow": 0});
        let version = |number: &str| json!({"version": number, "digest": "ab".repeat(32)});
        let mut text = json!({
            "intent": "test.find_things", "candidate": version("1.1.0"),
            "baseline": {"is": "version", "version": "1.0.0", "digest": "ab".repeat(32)},
            "first_at_ms": 1, "last_at_ms": 2, "receipts": 4, "options": 12, "same": 3, "different": 1,
            "not_comparable": [], "requests_refused": [], "requests_changed": 0, "refused": [], "failed": [],
            "first_changed": 1, "reordered": 0, "only_wording": 0, "newly_empty": 0, "scores": [], "budget": null,
            "candidate_times": times, "baseline_times": null,
        });
        text["rules"] = json!([{"code": "TOO_DEAR", "newly_dropped": 2, "newly_kept": 0, "other_reasons": 0}]);
        for figure in ["overlap_of_three", "rank_biased_overlap", "kendall_tau_b"] {
            text[figure] = figures.clone();
        }
        text["partners"] = json!([
            {"partner": "ptr_a", "places_before": 3, "places_after": 2, "share_before": 0.75, "share_after": 0.5},
            {"partner": "ptr_b", "places_before": 1, "places_after": 1, "share_before": 0.25, "share_after": 0.25},
        ]);
        let row = json!({
            "partner": "ptr_a", "option": "<b>t1</b>", "place_before": 1, "place_after": null, "total_before": 0.75,
            "total_after": null, "codes_before": [], "codes_after": ["TOO_DEAR"],
        });
        text["worst"] = json!([{"receipt": "rank_1", "at_ms": 1, "rank_biased_overlap": 0.5, "options": [row]}]);
        for (name, value) in of.as_object().into_iter().flatten() {
            text[name] = value.clone();
        }
        ReportPart::of(serde_json::from_value(text).expect("a report"))
    }

    #[test]
    fn a_report_tells_what_differs_and_what_others_wrote_is_text() {
        let part = report(&json!({}));
        assert_eq!(part.sentence(), "1.1.0 differs from 1.0.0 in 1 of 4 rankings, 25.00 %.");
        let text = part.render().expect("a report");
        for told in
            ["<td>1, 25.00 %</td>", "TOO_DEAR", "75.00 %", "50.00 %", "href=\"/console/rankings/rank_1\"", "not shown"]
        {
            assert!(text.contains(told), "{told}: {text}");
        }
        assert!(!text.contains("<b>t1") && !text.contains("ptr_b"), "{text}");
    }

    #[test]
    fn a_report_says_first_what_is_wrong() {
        let verdict = |of: Value| report(&of).verdict().to_string();
        assert!(verdict(json!({})).contains("its author has not said what may differ"));
        assert!(verdict(json!({"failed": [{"code": "TRAP", "count": 1}]})).contains("it fails<"));
        let outside = json!({"budget": {"budget": {}, "holds": false,
            "outside": [{"what": "drops TOO_DEAR", "count": 9, "receipts": ["rank_1", "rank_2", "rank_3", "rank_4"]}]}});
        assert!(verdict(outside.clone()).contains("not announced"));
        let text = report(&outside).render().expect("a report");
        assert!(text.contains("rank_3") && !text.contains("rank_4") && text.contains("and 1 more"), "{text}");
        let none = json!({"receipts": 0, "different": 0});
        assert!(report(&none).sentence().contains("nothing to compare"));
        assert!(verdict(none).contains("nothing was compared"));
    }
}
