//! How a comparison of two versions looks to a person: as text, and as one page with plots.

use askama::Template;
use intent_gateway_compare::{
    BaselineName, CallTimes, CodeCount, ComparisonReport, Distribution, Example, Outside, PartnerShare,
};
use jiff::Timestamp;

use crate::text::Page;

/// Rows of a table of partners.
const PARTNERS_SHOWN: usize = 20;
/// Receipts that are named for a difference that was not announced.
const RECEIPTS_SHOWN: usize = 3;

fn share(part: u64, of: u64) -> String {
    if of == 0 { "–".to_owned() } else { format!("{:.2} %", part as f64 * 100.0 / of as f64) }
}

fn time(ms: Option<intent_gateway_domain::clock::Timestamp>) -> String {
    let at = ms.and_then(|at| i64::try_from(at.as_ms()).ok()).and_then(|ms| Timestamp::from_millisecond(ms).ok());
    at.map_or_else(|| "–".to_owned(), |at| at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}

fn baseline(report: &ComparisonReport) -> String {
    match &report.baseline {
        BaselineName::Shown => "what was shown".to_owned(),
        BaselineName::Version(version) => version.version.to_string(),
    }
}

fn codes(counts: &[CodeCount]) -> String {
    let told: Vec<String> = counts.iter().map(|CodeCount { code, count }| format!("{code} {count}")).collect();
    if told.is_empty() { "–".to_owned() } else { told.join(", ") }
}

fn receipts_of(outside: &Outside) -> String {
    let named = outside.receipts.iter().take(RECEIPTS_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if outside.receipts.len() > RECEIPTS_SHOWN { format!("{named}, …") } else { named }
}

fn place(place: Option<u64>) -> String {
    place.map_or_else(|| "–".to_owned(), |place| place.to_string())
}

fn score(score: Option<f64>) -> String {
    score.map_or_else(|| "–".to_owned(), |score| format!("{score:.3}"))
}

fn code(code: &str) -> &str {
    if code.is_empty() { "(without a reason)" } else { code }
}

/// A comparison as plain text.
#[must_use]
pub fn text(report: &ComparisonReport) -> String {
    let mut page = Page::default();
    page.heading(&format!("{} {} against {}", report.intent, report.candidate.version, baseline(report)));
    let of = report.receipts;
    let mut pairs = vec![
        (
            "receipts",
            format!("{of}, {} options, {} to {}", report.options, time(report.first_at_ms), time(report.last_at_ms)),
        ),
        ("differ", format!("{} ({})", report.different, share(report.different, of))),
    ];
    if report.different > 0 {
        pairs.extend([
            ("another option is first", format!("{} ({})", report.first_changed, share(report.first_changed, of))),
            ("another order of what both keep", format!("{} ({})", report.reordered, share(report.reordered, of))),
            ("nothing is shown any more", report.newly_empty.to_string()),
            ("only cards, findings or words", report.only_wording.to_string()),
            ("refused to rank", codes(&report.refused)),
            ("failed", codes(&report.failed)),
            ("requests refused", codes(&report.requests_refused)),
            ("requests with other arguments", report.requests_changed.to_string()),
        ]);
    }
    if !report.not_comparable.is_empty() {
        pairs.push(("not comparable", codes(&report.not_comparable)));
    }
    page.pairs(&pairs);
    if !report.rules.is_empty() {
        page.heading("Options taken out or kept otherwise, by rule");
        let mut rows = vec![["", "taken out", "kept", "other reasons"].map(str::to_owned)];
        rows.extend(report.rules.iter().map(|rule| {
            let [dropped, kept, other] =
                [rule.newly_dropped, rule.newly_kept, rule.other_reasons].map(|count| count.to_string());
            [code(&rule.code).to_owned(), dropped, kept, other]
        }));
        page.rows([false, true, true, true], &rows);
    }
    page.heading("Likeness of rankings, 1 where they are the same");
    let mut rows = vec![["", "mean", "least"].map(str::to_owned)];
    for (name, figures) in [
        ("first three", &report.overlap_of_three),
        ("rank-biased overlap (p = 0.9)", &report.rank_biased_overlap),
        ("Kendall's tau-b", &report.kendall_tau_b),
    ] {
        let shown = |figure: f64| if figures.count == 0 { "–".to_owned() } else { format!("{figure:.4}") };
        rows.push([name.to_owned(), shown(figures.mean), shown(figures.min)]);
    }
    page.rows([false, true, true], &rows);
    if !report.scores.is_empty() {
        page.heading("Scores, by how much they are higher, where they have changed");
        let mut rows = vec![["", "options", "mean", "least", "most"].map(str::to_owned)];
        rows.extend(report.scores.iter().map(|one| {
            let [mean, min, max] = [one.shift.mean, one.shift.min, one.shift.max].map(|shift| format!("{shift:+.4}"));
            [one.score.clone(), one.shift.count.to_string(), mean, min, max]
        }));
        page.rows([false, true, true, true, true], &rows);
    }
    let changed: Vec<&PartnerShare> = report.changed_partners().collect();
    if !changed.is_empty() {
        page.heading("Partners' shares of the first three");
        let mut rows = vec![["", "before", "after"].map(str::to_owned)];
        rows.extend(changed.iter().take(PARTNERS_SHOWN).map(|partner| {
            let [before, after] =
                [partner.share_before, partner.share_after].map(|share| format!("{:.2} %", share * 100.0));
            [partner.partner.clone(), before, after]
        }));
        page.rows([false, true, true], &rows);
        if changed.len() > PARTNERS_SHOWN {
            page.line(&format!("  and {} more", changed.len() - PARTNERS_SHOWN));
        }
    }
    page.heading("Processor time of a ranking, µs");
    let mut rows = vec![["", "median", "99 %", "most", "too slow"].map(str::to_owned)];
    let row = |name: String, times: &CallTimes| {
        let [median, most_of_all, most] =
            [times.p50_us, times.p99_us, times.max_us].map(|micros| format!("{micros:.0}"));
        [name, median, most_of_all, most, times.too_slow.to_string()]
    };
    rows.push(row(report.candidate.version.to_string(), &report.candidate_times));
    rows.extend(report.baseline_times.iter().map(|times| row(baseline(report), times)));
    page.rows([false, true, true, true, true], &rows);
    for Example { receipt, at_ms, rank_biased_overlap, options } in &report.worst {
        page.heading(&format!("{receipt}, {}, overlap {rank_biased_overlap:.3}", time(Some(*at_ms))));
        let mut rows =
            vec![["before", "after", "score before", "score after", "partner", "option", ""].map(str::to_owned)];
        rows.extend(options.iter().map(|row| {
            [
                place(row.place_before),
                place(row.place_after),
                score(row.total_before),
                score(row.total_after),
                row.partner.clone(),
                row.option.clone(),
                row.codes_after.join(", "),
            ]
        }));
        page.rows([true, true, true, true, false, false, false], &rows);
    }
    if let Some(budget) = &report.budget {
        let verdict = if budget.holds { "✔ nothing differs but what was announced" } else { "✘ not announced:" };
        page.heading(verdict);
        let rows: Vec<[String; 3]> = budget
            .outside
            .iter()
            .map(|outside| [outside.what.clone(), outside.count.to_string(), receipts_of(outside)])
            .collect();
        page.rows([false, true, false], &rows);
    }
    page.finish()
}

/// A bar of a plot, in the plot's units.
struct Bar {
    x: f64,
    y: f64,
    height: f64,
    count: u64,
    label: String,
}

struct Plot {
    title: String,
    from: String,
    to: String,
    mean: String,
    bars: Vec<Bar>,
}

const PLOT_HEIGHT: f64 = 80.0;
const BAR_WIDTH: f64 = 15.0;

fn plot(title: &str, figures: &Distribution) -> Plot {
    let most = figures.bars.iter().copied().max().unwrap_or_default().max(1);
    let width = (figures.to - figures.from) / figures.bars.len() as f64;
    let bar = |(at, count): (usize, &u64)| {
        // By the logarithm: what is rare is what matters.
        let height = ((*count + 1) as f64).ln() / ((most + 1) as f64).ln() * PLOT_HEIGHT;
        let from = (at as f64).mul_add(width, figures.from);
        Bar {
            x: at as f64 * BAR_WIDTH,
            y: PLOT_HEIGHT - height,
            height,
            count: *count,
            label: format!("{from:.2} to {:.2}", from + width),
        }
    };
    Plot {
        title: title.to_owned(),
        from: format!("{:.1}", figures.from),
        to: format!("{:.1}", figures.to),
        mean: format!("{:.4}", figures.mean),
        bars: figures.bars.iter().enumerate().map(bar).collect(),
    }
}

#[derive(Template)]
#[template(path = "comparison.html")]
struct ComparisonPage<'a> {
    report: &'a ComparisonReport,
    baseline: String,
    period: [String; 2],
    plots: Vec<Plot>,
    partners: Vec<&'a PartnerShare>,
    is_clean: bool,
}

/// A comparison as one page of HTML, which needs nothing beside itself.
///
/// # Errors
/// [`askama::Error`] when it cannot be written, which does not happen.
pub fn html(report: &ComparisonReport) -> Result<String, askama::Error> {
    let mut plots = vec![
        plot("Overlap of the first three", &report.overlap_of_three),
        plot("Rank-biased overlap (p = 0.9)", &report.rank_biased_overlap),
        plot("Kendall's tau-b", &report.kendall_tau_b),
    ];
    plots.extend(report.scores.iter().map(|one| plot(&format!("Shift of score {}", one.score), &one.shift)));
    let page = ComparisonPage {
        report,
        baseline: baseline(report),
        period: [time(report.first_at_ms), time(report.last_at_ms)],
        plots,
        partners: report.changed_partners().take(PARTNERS_SHOWN).collect(),
        is_clean: report.is_clean(),
    };
    page.render()
}

#[cfg(test)]
mod tests {
    use intent_gateway_compare::{BudgetReport, ComparedVersion, DifferenceBudget, ExampleRow, RuleChange};
    use intent_gateway_domain::digest::Digest;

    use super::*;

    fn report() -> ComparisonReport {
        let empty = || Distribution::between(0.0, 1.0);
        let mut overlap = empty();
        [1.0, 1.0, 0.5].into_iter().for_each(|figure| overlap.add(figure));
        let version = |number: &str| ComparedVersion {
            version: number.parse().expect("semver"),
            digest: Digest::of(number.as_bytes()),
        };
        let at = |ms| Some(intent_gateway_domain::clock::Timestamp::from_ms(ms));
        ComparisonReport {
            intent: "test.find_things".to_owned(),
            candidate: version("1.1.0"),
            baseline: BaselineName::Version(version("1.0.0")),
            first_at_ms: at(1_767_225_600_000),
            last_at_ms: at(1_767_225_661_000),
            receipts: 3,
            options: 9,
            same: 2,
            different: 1,
            not_comparable: Vec::new(),
            requests_refused: Vec::new(),
            requests_changed: 0,
            refused: Vec::new(),
            failed: Vec::new(),
            first_changed: 1,
            reordered: 0,
            only_wording: 0,
            newly_empty: 0,
            rules: vec![RuleChange { code: "TOO_DEAR".to_owned(), newly_dropped: 2, newly_kept: 0, other_reasons: 0 }],
            overlap_of_three: overlap.clone(),
            rank_biased_overlap: overlap,
            kendall_tau_b: empty(),
            scores: Vec::new(),
            partners: vec![PartnerShare {
                partner: "alpha".to_owned(),
                places_before: 4,
                places_after: 2,
                share_before: 0.5,
                share_after: 0.25,
            }],
            candidate_times: CallTimes { calls: 3, p50_us: 80.0, p99_us: 99.6, max_us: 120.0, too_slow: 0 },
            baseline_times: None,
            budget: Some(BudgetReport {
                budget: DifferenceBudget::default(),
                holds: false,
                outside: vec![Outside {
                    what: "drops TOO_DEAR".to_owned(),
                    count: 1,
                    receipts: vec!["rank_1".to_owned()],
                }],
            }),
            worst: vec![Example {
                receipt: "rank_1".to_owned(),
                at_ms: intent_gateway_domain::clock::Timestamp::from_ms(1_767_225_600_000),
                rank_biased_overlap: 0.5,
                options: vec![ExampleRow {
                    partner: "alpha".to_owned(),
                    option: "<b>t1</b>".to_owned(),
                    place_before: Some(1),
                    place_after: None,
                    total_before: Some(0.75),
                    total_after: None,
                    codes_before: Vec::new(),
                    codes_after: vec!["TOO_DEAR".to_owned()],
                }],
            }],
        }
    }

    #[test]
    fn the_text_tells_what_differs() {
        let text = text(&report());
        for line in [
            "test.find_things 1.1.0 against 1.0.0",
            "3, 9 options, 2026-01-01 00:00:00 UTC to 2026-01-01 00:01:01 UTC",
            "1 (33.33 %)",
            "TOO_DEAR          2     0              0",
            "alpha  50.00 %  25.00 %",
            "✘ not announced:\n  drops TOO_DEAR  1  rank_1",
            "1      –         0.750            –  alpha    <b>t1</b>  TOO_DEAR",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(!report().is_clean());
    }

    #[test]
    fn the_page_is_whole_and_text_in_it_stays_text() {
        let page = html(&report()).expect("it is written");
        assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
        assert!(!page.contains("<b>t1") && page.contains("t1"), "an option's name is no markup");
        assert!(
            !page.contains("http://") && !page.contains("https://") && !page.contains("<script"),
            "it needs nothing else"
        );
        assert_eq!(page.matches("<svg").count(), 3);
    }
}
