//! What was seen of a candidate. Evidence of two gateways, merged, is that of both.

use std::collections::BTreeMap;

use intent_gateway_domain::rates::Counted;
use serde::{Deserialize, Serialize};

/// Receipts that are named of a measure.
const EXAMPLES_MAX: usize = 5;

/// What is counted of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RolloutMeasure))]
pub enum Measure {
    /// It fails where the live version does not, deadlines apart.
    Faults,
    /// It runs past its deadline where the live version does not.
    DeadlineMisses,
    /// It takes more processor time than is called slow.
    Slow,
    /// It refuses what the live version takes.
    Refused,
    /// It leaves no option where the live version has one.
    Empty,
    /// Another option is first.
    FirstChanged,
    /// It takes an option out that the live version shows.
    Dropped,
    /// It orders differently what both show.
    Reordered,
    /// Something differs that its difference budget does not announce.
    OutsideBudget,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Faults,
        Self::DeadlineMisses,
        Self::Slow,
        Self::Refused,
        Self::Empty,
        Self::FirstChanged,
        Self::Dropped,
        Self::Reordered,
        Self::OutsideBudget,
    ];

    /// Its name in policies and answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Faults => "faults",
            Self::DeadlineMisses => "deadline_misses",
            Self::Slow => "slow",
            Self::Refused => "refused",
            Self::Empty => "empty",
            Self::FirstChanged => "first_changed",
            Self::Dropped => "dropped",
            Self::Reordered => "reordered",
            Self::OutsideBudget => "outside_budget",
        }
    }
}

/// What was seen of a candidate since its rollout began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// By stage.
    pub stages: Vec<StageCount>,
    pub measures: BTreeMap<Measure, Counted>,
    /// Receipts in which a measure was hit, the first ones.
    pub examples: BTreeMap<Measure, Vec<String>>,
}

/// What was seen in one stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RolloutStageCount))]
pub struct StageCount {
    /// Rankings that were compared.
    pub compared: u64,
    /// Rankings that would have been compared, but there was too much to do.
    pub left_out: u64,
    /// Searches that the candidate has answered.
    pub served: u64,
    /// Searches in which it failed, and that the live version has answered in its place.
    pub fell_back: u64,
}

impl Evidence {
    /// What was seen in a stage.
    #[must_use]
    pub fn of_stage(&self, stage: usize) -> StageCount {
        self.stages.get(stage).copied().unwrap_or_default()
    }

    /// The counts of a stage, to be added to.
    pub fn at_stage(&mut self, stage: usize) -> &mut StageCount {
        if self.stages.len() <= stage {
            self.stages.resize(stage + 1, StageCount::default());
        }
        &mut self.stages[stage]
    }

    /// Notes an occasion of a measure, with the receipt that shows it.
    pub fn note(&mut self, measure: Measure, is_hit: bool, receipt: Option<&str>) {
        self.measures.entry(measure).or_default().add(is_hit);
        if let Some(receipt) = receipt.filter(|_| is_hit) {
            let examples = self.examples.entry(measure).or_default();
            if examples.len() < EXAMPLES_MAX {
                examples.push(receipt.to_owned());
            }
        }
    }

    #[must_use]
    pub fn counted(&self, measure: Measure) -> Counted {
        self.measures.get(&measure).copied().unwrap_or_default()
    }

    #[must_use]
    pub fn examples(&self, measure: Measure) -> &[String] {
        self.examples.get(&measure).map_or(&[], Vec::as_slice)
    }

    /// Adds what another gateway has seen.
    pub fn merge(&mut self, other: &Self) {
        for (stage, count) in other.stages.iter().enumerate() {
            let own = self.at_stage(stage);
            own.compared += count.compared;
            own.left_out += count.left_out;
            own.served += count.served;
            own.fell_back += count.fell_back;
        }
        for (measure, counted) in &other.measures {
            self.measures.entry(*measure).or_default().merge(*counted);
        }
        for (measure, receipts) in &other.examples {
            let own = self.examples.entry(*measure).or_default();
            let room = EXAMPLES_MAX.saturating_sub(own.len());
            own.extend(receipts.iter().take(room).cloned());
        }
    }
}
