//! A difference budget: what an author says that a version changes. Whatever else differs is outside it, and is named.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::difference::{Difference, OtherwiseDropped, RankDifference, SCORES};

/// Codes that a budget may name.
const CODES_MAX: usize = 200;
/// Receipts that are named of each kind of difference.
const RECEIPTS_NAMED_MAX: usize = 100;
/// Kinds of difference that are told apart.
const KINDS_MAX: usize = 200;
/// Bytes of a budget as it is written.
pub(crate) const BUDGET_MAX_BYTES: usize = 16 * 1024;

/// What a version may change. Everything that is not named stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DifferenceBudget {
    /// Codes of rules by which options may be taken out that were shown.
    pub drops: Vec<String>,
    /// Codes of rules by which options were taken out that may be shown now.
    pub keeps: Vec<String>,
    /// Codes with which requests may be refused that were taken.
    pub refuses: Vec<String>,
    /// Whether the order of the options may change that stay.
    pub order: bool,
    /// Scores that may change of options that stay: `total`, `time`, `taste`, `budget`, `safety`, `completeness`.
    pub scores: Vec<String>,
    /// Whether cards, findings and the wording of reasons may change.
    pub cards: bool,
    /// Whether the arguments that are sent to partners may change.
    pub requests: bool,
}

/// A text that is no difference budget.
#[derive(Debug, thiserror::Error)]
pub enum InvalidBudget {
    #[error("a difference budget has at most {BUDGET_MAX_BYTES} bytes")]
    TooLarge,
    #[error("this is no difference budget")]
    NoBudget(#[from] serde_json::Error),
    #[error("a difference budget names at most {CODES_MAX} codes of a kind")]
    TooManyCodes,
    #[error("there is no score `{0}`; the scores are {known}", known = SCORES.join(", "))]
    UnknownScore(String),
}

/// What was found outside a budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct BudgetReport {
    /// What was announced.
    pub budget: DifferenceBudget,
    /// Whether nothing else differs.
    pub holds: bool,
    /// What else differs, the most frequent first.
    pub outside: Vec<Outside>,
}

/// A difference that was not announced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Outside {
    /// What differs, for example `drops ABOVE_RANGE` or `order`.
    pub what: String,
    /// In how many receipts.
    pub count: u64,
    /// The receipts, at most 100.
    pub receipts: Vec<String>,
}

impl DifferenceBudget {
    /// Reads one from JSON.
    ///
    /// # Errors
    /// [`InvalidBudget`].
    pub fn read(json: &[u8]) -> Result<Self, InvalidBudget> {
        if json.len() > BUDGET_MAX_BYTES {
            return Err(InvalidBudget::TooLarge);
        }
        // A list would be read as the members in their order.
        let members: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(json)?;
        let budget: Self = serde_json::from_value(members.into())?;
        if [&budget.drops, &budget.keeps, &budget.refuses].iter().any(|codes| codes.len() > CODES_MAX) {
            return Err(InvalidBudget::TooManyCodes);
        }
        match budget.scores.iter().find(|score| !SCORES.contains(&score.as_str())) {
            Some(unknown) => Err(InvalidBudget::UnknownScore(unknown.clone())),
            None => Ok(budget),
        }
    }

    /// What of a difference is outside, each kind once.
    pub(crate) fn find_outside(&self, request: &RequestDifference, difference: &Difference) -> Vec<String> {
        let mut outside = Vec::new();
        match request {
            RequestDifference::None => {}
            RequestDifference::Refuses(code) if self.refuses.contains(code) => {}
            RequestDifference::Refuses(code) => outside.push(format!("refuses {code}")),
            RequestDifference::Fails(code) => outside.push(format!("fails {code}")),
            RequestDifference::Changes if self.requests => {}
            RequestDifference::Changes => outside.push("requests".to_owned()),
        }
        match difference {
            Difference::None | Difference::NotComparable(_) => {}
            Difference::Refuses(code) if self.refuses.contains(code) => {}
            Difference::Refuses(code) => outside.push(format!("refuses {code}")),
            Difference::Fails(code) => outside.push(format!("fails {code}")),
            Difference::Ranks(ranks) => self.find_outside_ranks(ranks, &mut outside),
        }
        outside.sort_unstable();
        outside.dedup();
        outside
    }

    fn find_outside_ranks(&self, ranks: &RankDifference, outside: &mut Vec<String>) {
        let mut note = |verb: &str, dropped: &[OtherwiseDropped], announced: &[String]| {
            for one in dropped {
                // A reason that was there before is not what takes the option out, or lets it in, now.
                let new = one.codes.iter().filter(|code| !one.before.contains(code));
                let gone = one.before.iter().filter(|code| !one.codes.contains(code));
                let unannounced = new.filter(|code| !announced.contains(code)).map(|code| format!("{verb} {code}"));
                outside.extend(unannounced);
                outside.extend(gone.filter(|code| !self.keeps.contains(code)).map(|code| format!("keeps {code}")));
                if one.codes.is_empty() && one.before.is_empty() {
                    outside.push(format!("{verb} without a reason"));
                }
            }
        };
        note("drops", &ranks.newly_dropped, &self.drops);
        note("keeps", &ranks.newly_kept, &self.keeps);
        note("drops", &ranks.dropped_for_other_reasons, &self.drops);
        if ranks.reordered && !self.order {
            outside.push("order".to_owned());
        }
        let changed = SCORES.iter().zip(&ranks.shifts).filter(|(_, shifts)| !shifts.is_empty());
        let unannounced = changed.filter(|(name, _)| !self.scores.iter().any(|score| score == *name));
        outside.extend(unannounced.map(|(name, _)| format!("scores {name}")));
        if ranks.only_wording && !self.cards {
            outside.push("cards".to_owned());
        }
    }
}

/// What the candidate makes of the arguments that a receipt holds, which are those that the version before has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestDifference {
    None,
    /// It refuses them.
    Refuses(String),
    Fails(String),
    /// It sends others to partners.
    Changes,
}

/// Counts what is outside a budget.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutsideTally(BTreeMap<String, Outside>);

impl OutsideTally {
    pub(crate) fn add(&mut self, what: String, receipt: &str) {
        self.take(Outside { what, count: 1, receipts: vec![receipt.to_owned()] });
    }

    fn take(&mut self, more: Outside) {
        // What comes beyond the bound is counted together.
        let what = match self.0.contains_key(&more.what) || self.0.len() < KINDS_MAX {
            true => more.what,
            false => "others".to_owned(),
        };
        let known = self.0.entry(what.clone()).or_insert_with(|| Outside { what, count: 0, receipts: Vec::new() });
        known.count += more.count;
        let room = RECEIPTS_NAMED_MAX - known.receipts.len().min(RECEIPTS_NAMED_MAX);
        known.receipts.extend(more.receipts.into_iter().take(room));
    }

    pub(crate) fn merge(&mut self, other: Self) {
        other.0.into_values().for_each(|more| self.take(more));
    }

    pub(crate) fn report(&self, budget: &DifferenceBudget) -> BudgetReport {
        let mut outside: Vec<Outside> = self.0.values().cloned().collect();
        outside.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.what.cmp(&b.what)));
        BudgetReport { budget: budget.clone(), holds: outside.is_empty(), outside }
    }
}
