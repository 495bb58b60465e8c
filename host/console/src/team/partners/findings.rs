//! What was found in a partner's answers and reports, added up by rule.

use std::collections::BTreeMap;

use intent_gateway_api::evidence::{FindingsSummary, RuleCountBody};
use intent_gateway_domain::findings::Severity;

use crate::view::{Chip, Tone};

/// How often one rule was broken.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BrokenRule {
    pub(super) intent: String,
    pub(super) code: String,
    pub(super) severity: Severity,
    pub(super) count: u64,
    /// The latest day on which it was.
    pub(super) last_day: String,
}

/// The rules that were broken, the one that was most often first.
pub(super) fn by_rule(summary: &FindingsSummary) -> Vec<BrokenRule> {
    add_up(&summary.counts)
}

fn add_up(counts: &[RuleCountBody]) -> Vec<BrokenRule> {
    let mut rules = BTreeMap::<_, BrokenRule>::new();
    for RuleCountBody { day, intent, code, severity, count } in counts {
        let rule = rules.entry((intent, code, severity.as_str())).or_insert_with(|| BrokenRule {
            intent: intent.clone(),
            code: code.clone(),
            severity: *severity,
            count: 0,
            last_day: String::new(),
        });
        rule.count = rule.count.saturating_add(*count);
        if *day > rule.last_day {
            rule.last_day.clone_from(day);
        }
    }
    let mut rules: Vec<_> = rules.into_values().collect();
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.count));
    rules
}

/// What became of it, in a shape and a word.
pub(super) fn severity_chip(severity: &Severity) -> Chip {
    match severity {
        Severity::Note => Chip::new(Tone::Idle, "noted"),
        Severity::Drop => Chip::new(Tone::Care, "dropped"),
        Severity::Strike => Chip::new(Tone::Bad, "strike"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_one_rule_are_added_up() {
        let of = |day: &str, code: &str, count| RuleCountBody {
            day: day.to_owned(),
            intent: "auto.fix".to_owned(),
            code: code.to_owned(),
            severity: Severity::Drop,
            count,
        };
        let rules = add_up(&[of("2026-05-21", "A", 2), of("2026-05-20", "A", 3), of("2026-05-20", "B", 9)]);
        let shown: Vec<_> = rules.iter().map(|rule| (rule.code.as_str(), rule.count, rule.last_day.as_str())).collect();
        assert_eq!(shown, [("B", 9, "2026-05-20"), ("A", 5, "2026-05-21")]);
    }
}
