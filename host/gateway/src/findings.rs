//! Findings against partners, kept in memory: the latest of each partner, until there is a store.

use std::collections::VecDeque;

use dashmap::DashMap;
use intent_gateway_core::findings::Finding;
use intent_gateway_core::limits::FINDINGS_KEPT_PER_PARTNER;
use intent_gateway_core::ports::Findings;

/// Bounded per partner; the partners themselves are those of the directory.
#[derive(Default)]
pub(crate) struct MemoryFindings {
    /// Oldest first.
    by_partner: DashMap<String, VecDeque<Finding>>,
}

impl Findings for MemoryFindings {
    fn record(&self, finding: Finding) {
        let mut kept = self.by_partner.entry(finding.partner.as_str().to_owned()).or_default();
        if kept.len() == FINDINGS_KEPT_PER_PARTNER {
            kept.pop_front();
        }
        kept.push_back(finding);
    }

    fn of(&self, partner: &str) -> Vec<Finding> {
        self.by_partner.get(partner).map(|kept| kept.iter().rev().cloned().collect()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_core::contract::Violation;
    use intent_gateway_core::findings::Severity;
    use intent_gateway_core::id::PartnerId;

    use super::*;

    fn finding(partner: &str, at_ms: u64) -> Finding {
        Finding {
            at_ms,
            partner: PartnerId::parse(partner).expect("well formed"),
            intent: "auto.fix".to_owned(),
            request_id: "r".to_owned(),
            option_id: None,
            severity: Severity::Drop,
            violation: Violation { pointer: String::new(), code: "BAD".to_owned(), message: "bad".to_owned() },
        }
    }

    #[test]
    fn keeps_the_latest_of_each_partner() {
        let findings = MemoryFindings::default();
        for at_ms in 0..=FINDINGS_KEPT_PER_PARTNER as u64 {
            findings.record(finding("a", at_ms));
        }
        findings.record(finding("b", 7));
        let kept = findings.of("a");
        assert_eq!(kept.len(), FINDINGS_KEPT_PER_PARTNER);
        assert_eq!(kept.first().map(|finding| finding.at_ms), Some(FINDINGS_KEPT_PER_PARTNER as u64));
        assert_eq!(kept.last().map(|finding| finding.at_ms), Some(1));
        assert_eq!(findings.of("b").len(), 1);
        assert!(findings.of("c").is_empty());
    }
}
