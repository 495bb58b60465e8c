//! Comparisons as the gateway offers them: one at a time, of a component that somebody hands in or of one that is loaded.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{
    Contract, ContractAdmin, ContractIntake, Contracts, Evidence, Workers, find_version,
};
use intent_gateway_domain::versions::{ContractAdminError, Origin};

use crate::budget::{DifferenceBudget, InvalidBudget};
use crate::embedded::read_budget;
use crate::report::ComparisonReport;
use crate::run::{Baseline, Comparer, KeptReceipts, Progress, RunError, Turn, run};

/// What is compared.
#[derive(Clone, Debug)]
pub enum Candidate {
    /// A component, which is examined and not loaded.
    Component(Bytes),
    /// One of the catalogue.
    Known(Digest),
}

/// With what it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// What the live version makes of it; what was shown where none is live.
    Live,
    /// What was shown, by whichever version.
    Shown,
    /// What this version makes of it.
    Version(Digest),
}

impl fmt::Display for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Live => f.write_str("live"),
            Self::Shown => f.write_str("shown"),
            Self::Version(digest) => digest.fmt(f),
        }
    }
}

/// A comparison that somebody asks for.
#[derive(Clone, Debug)]
pub struct ComparisonOrder {
    pub candidate: Candidate,
    pub against: Against,
    /// Receipts of rankings from here on.
    pub since: Timestamp,
    /// At most so many, the latest.
    pub limit: u64,
    pub by: Actor,
}

/// Why nothing is compared.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonError {
    /// One at a time.
    #[error("another comparison is under way")]
    UnderWay,
    #[error("there is no contract {0}")]
    Unknown(Digest),
    #[error("the candidate is a contract of {candidate}, and what it is to be compared with one of {other}")]
    OtherIntent { candidate: IntentId, other: IntentId },
    #[error("the difference budget in the candidate cannot be read")]
    Budget(#[from] InvalidBudget),
    #[error(transparent)]
    Catalogue(#[from] ContractAdminError),
}

/// A comparison that is under way. Dropped, it stops.
pub struct Comparison {
    pub intent: IntentId,
    /// The candidate.
    pub candidate: Digest,
    pub progress: Arc<Progress>,
    pub running: BoxFuture<'static, Result<ComparisonReport, RunError>>,
}

/// Compares.
pub struct Comparisons {
    contracts: Arc<dyn Contracts>,
    catalogue: Arc<dyn ContractAdmin>,
    intake: Arc<dyn ContractIntake>,
    evidence: Arc<dyn Evidence>,
    workers: Arc<dyn Workers>,
    /// What a call may take that serves somebody.
    deadline: Duration,
    is_under_way: Arc<AtomicBool>,
}

impl Comparisons {
    #[must_use]
    pub fn new(
        contracts: Arc<dyn Contracts>,
        catalogue: Arc<dyn ContractAdmin>,
        intake: Arc<dyn ContractIntake>,
        evidence: Arc<dyn Evidence>,
        workers: Arc<dyn Workers>,
        deadline: Duration,
    ) -> Self {
        Self { contracts, catalogue, intake, evidence, workers, deadline, is_under_way: Arc::default() }
    }

    /// Begins a comparison: examines the candidate, and finds what it is compared with.
    ///
    /// # Errors
    /// [`ComparisonError`].
    pub async fn begin(&self, order: ComparisonOrder) -> Result<Comparison, ComparisonError> {
        let turn = Turn::take(&self.is_under_way).ok_or(ComparisonError::UnderWay)?;
        let ComparisonOrder { candidate, against, since, limit, by } = order;
        let (candidate, budget) = self.find_candidate(candidate, &by).await?;
        let intent = candidate.descriptor().intent.clone();
        let baseline = match against {
            Against::Shown => Baseline::Shown,
            Against::Live => self.contracts.live(intent.as_str()).map_or(Baseline::Shown, Baseline::Version),
            Against::Version(digest) => {
                let found = find_version(&*self.contracts, digest).await.ok_or(ComparisonError::Unknown(digest))?;
                let other = &found.descriptor().intent;
                if *other != intent {
                    return Err(ComparisonError::OtherIntent { candidate: intent, other: other.clone() });
                }
                Baseline::Version(found)
            }
        };
        let digest = candidate.digest();
        let comparer = Arc::new(Comparer::new(candidate, baseline, budget, self.deadline));
        let source = Arc::new(KeptReceipts::since(self.evidence.clone(), intent.clone(), since, limit));
        let (progress, workers) = (Arc::new(Progress::default()), self.workers.clone());
        let told = progress.clone();
        let running = Box::pin(async move {
            let _turn = turn;
            let tally = run(comparer.clone(), source, workers, told).await?;
            Ok(comparer.report(&tally))
        });
        Ok(Comparison { intent, candidate: digest, progress, running })
    }

    async fn find_candidate(
        &self,
        candidate: Candidate,
        by: &Actor,
    ) -> Result<(Arc<dyn Contract>, Option<DifferenceBudget>), ComparisonError> {
        match candidate {
            Candidate::Component(component) => {
                let budget = read_budget(&component)?;
                let origin = Origin::Upload(by.subject.clone());
                let examined = self.intake.examine(component, &origin, by).await?;
                Ok((examined, budget))
            }
            Candidate::Known(digest) => {
                let found = find_version(&*self.contracts, digest).await.ok_or(ComparisonError::Unknown(digest))?;
                let component = self.catalogue.component(digest).await?;
                let budget = component.as_deref().map(read_budget).transpose()?.flatten();
                Ok((found, budget))
            }
        }
    }
}
