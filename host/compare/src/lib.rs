//! Compares versions of a contract before anybody is served by a new one: what was ranked, as receipts have it, is evaluated
//! again by a candidate, and every difference is counted.
//!
//! A contract is a pure function of its arguments, so two evaluations of one version differ in nothing, and every difference
//! between two versions is theirs.
//!
//! | question | module |
//! |---|---|
//! | what a version makes of a receipt | `judged` |
//! | where two outcomes of one receipt differ | `difference` |
//! | how alike two rankings are | `similarity` |
//! | which differences an author has announced | `budget`; where a component says so: `embedded` |
//! | what many differences come to | `tally` |
//! | what is told of it | `report` |
//! | how many receipts are compared beside everything else | `run` |
//! | who may compare what, and when | `service` |
//! | receipts for authors, without the people whose they are | `export` |
//! | what of live traffic is compared while a candidate is tried out | `shadow` |
//!
//! Not here: where receipts are kept, the threads, and how a report looks to a person.

mod budget;
mod difference;
mod distribution;
mod embedded;
mod export;
mod judged;
mod report;
mod run;
mod service;
mod shadow;
mod similarity;
mod tally;

#[cfg(test)]
mod tests;

pub use budget::{BudgetReport, DifferenceBudget, InvalidBudget, Outside};
pub use distribution::Distribution;
pub use embedded::{BUDGET_SECTION, read_budget, with_budget};
pub use export::{ExportError, ExportEvent, ExportOrder, ExportSummary, Exports, ReceiptsHeading, USERS_MIN};
pub use judged::{Judged, Ranking};
pub use report::{
    BaselineName, CallTimes, CodeCount, ComparedVersion, ComparisonReport, Example, ExampleRow, PartnerShare,
    RuleChange, ScoreShift,
};
pub use run::{Baseline, Comparer, KeptReceipts, Progress, ReceiptSource, RunError, run};
pub use service::{Against, Candidate, Comparison, ComparisonError, ComparisonOrder, Comparisons};
pub use shadow::{Shadow, ShadowedJournal};
pub use similarity::{kendall_tau_b, overlap, rank_biased_overlap};
pub use tally::Tally;
