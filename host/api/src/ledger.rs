//! The ledger: entries, statements, balances, and whether all is sound.

use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::limits::DAY_MS;
use intent_gateway_domain::money::{Paise, Total, inr};
use intent_gateway_ledger::bookkeeping::{Mark, Outline, Soundness, fault_code, fault_entry};
use intent_gateway_ledger::completion::test_reports::{TEST_REPORT_KEPT_MS, TestReport};
use intent_gateway_ledger::{
    Account, Balances, Entry, EntryKind, Fault, Judge, Leg, Line, Totals, TrialBalance, UnreportedLine,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::audit::LinksBody;
use crate::read::{Body, Members};
use crate::time;

/// Written above the lines of every statement.
pub const RULE: &str = "The commission of a line is its rate of its amount, the net supplier revenue, rounded \
                        half up to the paisa. It is due on the statuses that the intent's contract charges; \
                        other reports are listed without commission.";

/// What an entry is for.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum KindName {
    /// Commission on an order.
    Charge,
    /// A report on which no commission is due.
    Memorandum,
    /// Takes another entry back.
    Reversal,
}

/// An entry's kind, and what it takes back for which reason.
fn split_kind(kind: EntryKind) -> (KindName, Option<u64>, Option<String>) {
    match kind {
        EntryKind::Charge => (KindName::Charge, None, None),
        EntryKind::Memorandum => (KindName::Memorandum, None, None),
        EntryKind::Reversal { of, reason } => (KindName::Reversal, Some(of), Some(reason)),
    }
}

/// The months of which a partner has statements with lines.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct MonthsBody {
    /// The partner.
    pub partner: String,
    /// `YYYY-MM`, latest first.
    #[schema(example = json!(["2026-05"]))]
    pub months: Vec<String>,
}

/// What a partner owes for the orders of one month.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StatementBody {
    /// The partner.
    pub partner: String,
    /// Its business name; null where it has no account.
    #[schema(required)]
    pub business_name: Option<String>,
    /// The month in which the orders closed, by Indian Standard Time.
    #[schema(example = "2026-05")]
    pub month: String,
    /// How commission is reckoned.
    pub rule: String,
    /// Totals of the lines.
    pub totals: Totals,
    /// Orders whose reports were due in the month and have not come; they are in no total.
    #[serde(default)]
    pub unreported: Vec<UnreportedBody>,
    /// One line for each entry, in the order of the ledger.
    pub lines: Vec<LineBody>,
}

impl StatementBody {
    /// A statement without its lines.
    #[must_use]
    pub fn head(outline: &Outline) -> Self {
        let Outline { partner, business_name, month, totals, unreported, .. } = outline;
        Self {
            partner: partner.to_string(),
            business_name: business_name.clone(),
            month: month.to_string(),
            rule: RULE.to_owned(),
            totals: *totals,
            unreported: unreported.iter().map(UnreportedBody::from).collect(),
            lines: Vec::new(),
        }
    }
}

/// An order whose report has not come.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct UnreportedBody {
    /// The gateway's identifier of the order.
    #[schema(example = "ord_019ab4c8f2000f1e2d3c4b5a6978")]
    pub order: String,
    /// The partner's; null where its answers gave none.
    #[schema(required)]
    pub external_id: Option<String>,
    /// The intent of the order.
    pub intent: String,
    /// When the report was due.
    pub due_at: String,
    /// The commission on what the user pays, at most what is due; null where that is not known.
    #[serde(with = "inr::option")]
    #[schema(required, value_type = Option<f64>)]
    pub at_stake_inr: Option<Paise>,
}

impl From<&UnreportedLine> for UnreportedBody {
    fn from(line: &UnreportedLine) -> Self {
        Self {
            order: line.order.to_string(),
            external_id: line.external_id.clone(),
            intent: line.intent.to_string(),
            due_at: time(line.due_at_ms),
            at_stake_inr: line.at_stake,
        }
    }
}

/// The completion reports that were taken as tests, because their sender was never live. None of them is in the ledger.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TestReportsBody {
    /// The partner.
    pub partner: String,
    /// How long each is kept, days.
    pub kept_days: u64,
    /// Newest first, at most 200.
    pub reports: Vec<TestReportBody>,
}

/// A completion report that was taken as a test.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TestReportBody {
    /// Its receipt.
    #[schema(example = "test_0f1e2d3c4b5a69788796a5b4")]
    pub receipt_id: String,
    /// When it was taken.
    pub taken_at: String,
    /// When the order closed.
    pub closed_at: String,
    /// The intent of the order.
    pub intent: String,
    /// The partner's identifier of the order.
    pub external_id: String,
    /// The request that the order is said to come from.
    pub request_id: String,
    /// The reported status.
    pub status: String,
    /// The reported amount.
    #[serde(with = "inr")]
    #[schema(value_type = f64)]
    pub amount_inr: Paise,
    /// Whether commission would be due on it.
    pub would_be_charged: bool,
}

impl TestReportsBody {
    /// Of what is kept of a partner.
    #[must_use]
    pub fn of(partner: &PartnerId, reports: Vec<TestReport>) -> Self {
        Self {
            partner: partner.to_string(),
            kept_days: TEST_REPORT_KEPT_MS / DAY_MS,
            reports: reports.into_iter().map(TestReportBody::from).collect(),
        }
    }
}

impl From<TestReport> for TestReportBody {
    fn from(report: TestReport) -> Self {
        Self {
            receipt_id: report.receipt_id(),
            taken_at: time(report.at_ms),
            closed_at: time(report.closed_at_ms),
            intent: report.intent.to_string(),
            external_id: report.external_id,
            request_id: report.request_id,
            status: report.status,
            amount_inr: report.amount,
            would_be_charged: report.would_be_charged,
        }
    }
}

/// One entry as the partner reads it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct LineBody {
    /// Number of the entry.
    pub number: u64,
    /// When it was booked.
    pub posted_at: String,
    /// When the order closed.
    pub closed_at: String,
    /// The intent of the order.
    pub intent: String,
    /// The partner's identifier of the order.
    pub external_id: String,
    /// The request that the order came from.
    pub request_id: String,
    /// The reported status.
    pub status: String,
    /// What the entry is for.
    pub kind: KindName,
    /// Number of the entry that it takes back.
    #[schema(required)]
    pub reverses: Option<u64>,
    /// Why it was taken back.
    #[schema(required)]
    pub reason: Option<String>,
    /// The reported amount.
    #[serde(with = "inr")]
    #[schema(value_type = f64)]
    pub amount_inr: Paise,
    /// The rate in force, basis points (1/100 of a per cent).
    pub rate_basis_points: u16,
    /// The commission, below zero where it is taken back.
    #[serde(with = "inr")]
    #[schema(value_type = f64)]
    pub commission_inr: Paise,
}

impl From<Line> for LineBody {
    fn from(line: Line) -> Self {
        let (kind, reverses, reason) = split_kind(line.kind);
        Self {
            number: line.number,
            posted_at: time(line.posted_at_ms),
            closed_at: time(line.closed_at_ms),
            intent: line.intent.to_string(),
            external_id: line.external_id,
            request_id: line.request_id,
            status: line.status,
            kind,
            reverses,
            reason,
            amount_inr: line.amount_inr,
            rate_basis_points: line.rate_basis_points.basis_points(),
            commission_inr: line.commission_inr,
        }
    }
}

/// One side of an entry.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct LegBody {
    /// The account.
    pub account: Account,
    /// A debit above zero, a credit below.
    #[serde(with = "inr")]
    #[schema(value_type = f64)]
    pub amount_inr: Paise,
}

impl From<Leg> for LegBody {
    fn from(Leg { account, amount }: Leg) -> Self {
        Self { account, amount_inr: amount }
    }
}

/// Which version of the contract judged a report.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct JudgeBody {
    /// The version.
    pub version: String,
    /// It is not known to be the version that routed the order; this one was live at the time.
    pub stand_in: bool,
}

/// An entry of the ledger.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct EntryBody {
    /// Its place, from 1, without gaps.
    pub number: u64,
    /// When it was booked.
    pub posted_at: String,
    /// Who reported, and whose accounts are concerned.
    pub partner: String,
    /// The intent of the order.
    pub intent: String,
    /// The partner's identifier of the order.
    pub external_id: String,
    /// The request that the order came from.
    pub request_id: String,
    /// The reported status.
    pub status: String,
    /// When the order closed.
    pub closed_at: String,
    /// The month whose statement lists it, by Indian Standard Time.
    #[schema(example = "2026-05")]
    pub month: String,
    /// The reported amount.
    #[serde(with = "inr")]
    #[schema(value_type = f64)]
    pub amount_inr: Paise,
    /// The rate in force, basis points (1/100 of a per cent).
    pub rate_basis_points: u16,
    /// Who judged the report.
    pub judged_by: JudgeBody,
    /// By how many minutes the service began late, below zero where early; null where the report does not tell.
    #[schema(required)]
    pub late_minutes: Option<i32>,
    /// SHA-256 of the report's content.
    pub report: String,
    /// What the entry is for.
    pub kind: KindName,
    /// Number of the entry that it takes back.
    #[schema(required)]
    pub reverses: Option<u64>,
    /// Why it was taken back.
    #[schema(required)]
    pub reason: Option<String>,
    /// Debits and credits, in sum zero.
    pub legs: Vec<LegBody>,
    /// Identifier of the receipt for the report.
    pub receipt_id: String,
    /// Over this entry and the hash of the one before: HMAC-SHA-256, or SHA-256 where it has no key.
    pub hash: String,
    /// Which key the hash is under; null for an entry from before there were keys.
    #[schema(required)]
    pub key: Option<String>,
}

impl From<Entry> for EntryBody {
    fn from(entry: Entry) -> Self {
        let receipt_id = entry.receipt_id();
        let Entry { number, posting, hash, key } = entry;
        let Judge { version, stand_in } = posting.judged_by;
        let (kind, reverses, reason) = split_kind(posting.kind);
        Self {
            number,
            posted_at: time(posting.posted_at_ms),
            partner: posting.partner.to_string(),
            intent: posting.intent.to_string(),
            external_id: posting.external_id,
            request_id: posting.request_id,
            status: posting.status,
            closed_at: time(posting.closed_at_ms),
            month: posting.month.to_string(),
            amount_inr: posting.amount,
            rate_basis_points: posting.rate.basis_points(),
            judged_by: JudgeBody { version: version.to_string(), stand_in },
            late_minutes: posting.late_minutes,
            report: posting.report.to_string(),
            kind,
            reverses,
            reason,
            legs: posting.legs.into_iter().map(LegBody::from).collect(),
            receipt_id,
            hash: hash.to_string(),
            key: key.map(|key| key.to_string()),
        }
    }
}

/// A part of the ledger, in its order.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct EntryPage {
    /// This page's.
    pub entries: Vec<EntryBody>,
    /// What to ask the next page with, as `after`; null when this was the last.
    #[schema(required)]
    pub next: Option<u64>,
}

/// An entry, and what has become of it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct EntryDetail {
    /// The entry.
    pub entry: EntryBody,
    /// Number of the entry that took it back; null while it stands.
    #[schema(required)]
    pub taken_back_by: Option<u64>,
}

/// Books what is right. At least one of `amount_inr` and `status` is to be another than the entry's.
#[derive(Debug, ToSchema)]
pub struct CorrectionRequest {
    /// Why, for the partner's statement and the audit log.
    #[schema(min_length = 1, max_length = 500)]
    pub reason: String,
    /// The right amount, at most two decimals.
    #[schema(value_type = Option<f64>, minimum = 0, example = 1499.50)]
    pub amount_inr: Option<Paise>,
    /// The right status, one that the intent's contract lists.
    pub status: Option<String>,
}

impl Body for CorrectionRequest {
    fn read(members: &mut Members<'_>) -> Option<Self> {
        let (reason, status) = (members.text("reason"), members.optional_text("status"));
        Some(Self { amount_inr: members.optional_amount("amount_inr"), reason: reason?, status })
    }
}

/// A correction that is in the ledger.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct CorrectedBody {
    /// Takes the wrong entry back.
    pub reversal: EntryBody,
    /// Books what is right.
    pub replacement: EntryBody,
}

/// The accounts of one partner, or of all.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct BalanceBody {
    /// The partner.
    pub partner: String,
    /// What the partner owes.
    #[serde(with = "inr")]
    #[schema(value_type = f64)]
    pub partner_receivable_inr: Total,
    /// What was earned; a credit, so below zero.
    #[serde(with = "inr")]
    #[schema(value_type = f64)]
    pub commission_revenue_inr: Total,
}

/// The balances of all accounts.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TrialBalanceBody {
    /// Whether the accounts of each partner sum to nothing.
    pub balanced: bool,
    /// Sum of what all partners owe.
    #[serde(with = "inr")]
    #[schema(value_type = f64)]
    pub partner_receivable_inr: Total,
    /// Sum of all that was earned, below zero.
    #[serde(with = "inr")]
    #[schema(value_type = f64)]
    pub commission_revenue_inr: Total,
    /// By partner.
    pub partners: Vec<BalanceBody>,
}

impl From<&TrialBalance> for TrialBalanceBody {
    fn from(trial: &TrialBalance) -> Self {
        let sum = |of: fn(&Balances) -> Total| -> Total { trial.partners().map(|(_, held)| of(held)).sum() };
        let row = |(partner, held): (&PartnerId, &Balances)| BalanceBody {
            partner: partner.to_string(),
            partner_receivable_inr: held.partner_receivable,
            commission_revenue_inr: held.commission_revenue,
        };
        Self {
            balanced: trial.is_zero(),
            partner_receivable_inr: sum(|held| held.partner_receivable),
            commission_revenue_inr: sum(|held| held.commission_revenue),
            partners: trial.partners().map(row).collect(),
        }
    }
}

/// What is wrong with the ledger.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct FaultBody {
    /// Stable code.
    #[schema(example = "ENTRY_CHANGED")]
    pub code: String,
    /// The entry at which it shows.
    pub entry: u64,
    /// One sentence for a person.
    pub message: String,
}

impl From<&Fault> for FaultBody {
    fn from(fault: &Fault) -> Self {
        Self { code: fault_code(fault).to_owned(), entry: fault_entry(fault), message: fault.to_string() }
    }
}

/// Whether the ledger is sound, by its stored entries and what was anchored of them.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct VerifiedBody {
    /// Whether everything was checked, and holds.
    pub sound: bool,
    /// Entries looked at.
    pub entries: u64,
    /// Number and hash of the last, with a colon between. Kept elsewhere, it shows later whether the end was cut off.
    pub head: String,
    /// What the entries could be checked with.
    pub links: LinksBody,
    /// Whether the accounts of each partner sum to nothing.
    pub balanced: bool,
    /// The head that was expected and that no entry is; null where none was expected, or it is there.
    #[schema(required)]
    pub missing_head: Option<String>,
    /// What is wrong, at most 1000 faults.
    pub faults: Vec<FaultBody>,
    /// How many more there are.
    pub faults_unlisted: u64,
}

impl From<&Soundness> for VerifiedBody {
    fn from(soundness: &Soundness) -> Self {
        let Soundness { found, missing } = soundness;
        Self {
            sound: soundness.is_sound(),
            entries: found.entries,
            head: Mark::from(found.head).to_string(),
            links: LinksBody::new(found.links, found.anchors),
            balanced: found.trial.is_zero(),
            missing_head: missing.map(|missing| missing.to_string()),
            faults: found.faults.iter().map(FaultBody::from).collect(),
            faults_unlisted: found.faults_unlisted,
        }
    }
}
