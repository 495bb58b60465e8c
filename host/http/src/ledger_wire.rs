//! The bodies of the ledger's routes.
//!
//! Amounts are in INR with two decimals, times ISO 8601 in UTC, months by Indian Standard Time.

use intent_gateway_domain::money::Paise;
use intent_gateway_ledger::bookkeeping::{Mark, Outline, Soundness, fault_code, fault_entry};
use intent_gateway_ledger::{self, Account, Balances, Entry, EntryKind, Fault, Leg, Line, Posting, TrialBalance};
use serde::Serialize;
use utoipa::ToSchema;

use crate::onboarding_wire::time;
use crate::statements::RULE;

/// What an entry is for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KindName {
    /// Commission on an order.
    Charge,
    /// A report on which no commission is due.
    Memorandum,
    /// Takes another entry back.
    Reversal,
}

/// An entry's kind, and what it takes back for which reason.
fn kind(kind: &EntryKind) -> (KindName, Option<u64>, Option<&str>) {
    match kind {
        EntryKind::Charge => (KindName::Charge, None, None),
        EntryKind::Memorandum => (KindName::Memorandum, None, None),
        EntryKind::Reversal { of, reason } => (KindName::Reversal, Some(*of), Some(reason)),
    }
}

/// The months of which a partner has statements with lines.
#[derive(Serialize, ToSchema)]
pub(crate) struct MonthsBody {
    /// The partner.
    pub(crate) partner: String,
    /// `YYYY-MM`, latest first.
    #[schema(example = json!(["2026-05"]))]
    pub(crate) months: Vec<String>,
}

/// The totals of a statement.
#[derive(Serialize, ToSchema)]
pub(crate) struct TotalsBody {
    /// Charges, those taken back included.
    charges: u64,
    /// Reports without commission, those taken back included.
    memoranda: u64,
    /// Entries taken back.
    reversals: u64,
    /// Sum of the amounts on which commission is due, after reversals.
    #[serde(serialize_with = "Paise::serialize_inr")]
    #[schema(value_type = f64)]
    charged_amount_inr: Paise,
    /// The commission due, after reversals.
    #[serde(serialize_with = "Paise::serialize_inr")]
    #[schema(value_type = f64)]
    commission_inr: Paise,
}

/// A statement down to its lines.
#[derive(Serialize)]
pub(crate) struct StatementHead<'a> {
    partner: &'a str,
    business_name: Option<&'a str>,
    month: String,
    rule: &'static str,
    totals: TotalsBody,
}

impl<'a> From<&'a Outline> for StatementHead<'a> {
    fn from(outline: &'a Outline) -> Self {
        let Outline { partner, business_name, month, totals, .. } = outline;
        let intent_gateway_ledger::Totals { charges, memoranda, reversals, charged_amount_inr, commission_inr } =
            *totals;
        Self {
            partner: partner.as_str(),
            business_name: business_name.as_deref(),
            month: month.to_string(),
            rule: RULE,
            totals: TotalsBody { charges, memoranda, reversals, charged_amount_inr, commission_inr },
        }
    }
}

/// What a partner owes for the orders of one month.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of a body that is written part by part")]
pub(crate) struct StatementBody<'a> {
    /// The partner.
    partner: &'a str,
    /// Its business name; null where it has no account.
    #[schema(required)]
    business_name: Option<&'a str>,
    /// The month in which the orders closed, by Indian Standard Time.
    #[schema(example = "2026-05")]
    month: &'a str,
    /// How commission is reckoned.
    rule: &'a str,
    /// Totals of the lines.
    totals: TotalsBody,
    /// One line for each entry, in the order of the ledger.
    lines: Vec<LineBody<'a>>,
}

/// One entry as the partner reads it.
#[derive(Serialize, ToSchema)]
pub(crate) struct LineBody<'a> {
    /// Number of the entry.
    number: u64,
    /// When it was booked.
    posted_at: String,
    /// When the order closed.
    closed_at: String,
    /// The intent of the order.
    intent: &'a str,
    /// The partner's identifier of the order.
    external_id: &'a str,
    /// The request that the order came from.
    request_id: &'a str,
    /// The reported status.
    status: &'a str,
    /// What the entry is for.
    kind: KindName,
    /// Number of the entry that it takes back.
    #[schema(required)]
    reverses: Option<u64>,
    /// Why it was taken back.
    #[schema(required)]
    reason: Option<&'a str>,
    /// The reported amount.
    #[serde(serialize_with = "Paise::serialize_inr")]
    #[schema(value_type = f64)]
    amount_inr: Paise,
    /// The rate in force, basis points (1/100 of a per cent).
    rate_basis_points: u16,
    /// The commission, below zero where it is taken back.
    #[serde(serialize_with = "Paise::serialize_inr")]
    #[schema(value_type = f64)]
    commission_inr: Paise,
}

impl<'a> From<&'a Line> for LineBody<'a> {
    fn from(line: &'a Line) -> Self {
        let (kind, reverses, reason) = kind(&line.kind);
        Self {
            number: line.number,
            posted_at: time(line.posted_at_ms),
            closed_at: time(line.closed_at_ms),
            intent: line.intent.as_str(),
            external_id: &line.external_id,
            request_id: &line.request_id,
            status: &line.status,
            kind,
            reverses,
            reason,
            amount_inr: line.amount_inr,
            rate_basis_points: line.rate_basis_points.basis_points(),
            commission_inr: line.commission_inr,
        }
    }
}

/// An account, of the entry's partner.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AccountName {
    /// What the partner owes the platform.
    PartnerReceivable,
    /// What the platform has earned from the partner's orders.
    CommissionRevenue,
}

/// One side of an entry.
#[derive(Serialize, ToSchema)]
pub(crate) struct LegBody {
    /// The account.
    account: AccountName,
    /// A debit above zero, a credit below.
    #[serde(serialize_with = "Paise::serialize_inr")]
    #[schema(value_type = f64)]
    amount_inr: Paise,
}

impl From<&Leg> for LegBody {
    fn from(leg: &Leg) -> Self {
        let account = match leg.account {
            Account::PartnerReceivable => AccountName::PartnerReceivable,
            Account::CommissionRevenue => AccountName::CommissionRevenue,
        };
        Self { account, amount_inr: leg.amount }
    }
}

/// Which version of the contract judged a report.
#[derive(Serialize, ToSchema)]
pub(crate) struct JudgeBody {
    /// The version.
    version: String,
    /// It is not known to be the version that routed the order; this one was live at the time.
    stand_in: bool,
}

/// An entry of the ledger.
#[derive(Serialize, ToSchema)]
pub(crate) struct EntryBody<'a> {
    /// Its place, from 1, without gaps.
    number: u64,
    /// When it was booked.
    posted_at: String,
    /// Who reported, and whose accounts are concerned.
    partner: &'a str,
    /// The intent of the order.
    intent: &'a str,
    /// The partner's identifier of the order.
    external_id: &'a str,
    /// The request that the order came from.
    request_id: &'a str,
    /// The reported status.
    status: &'a str,
    /// When the order closed.
    closed_at: String,
    /// The month whose statement lists it, by Indian Standard Time.
    #[schema(example = "2026-05")]
    month: String,
    /// The reported amount.
    #[serde(serialize_with = "Paise::serialize_inr")]
    #[schema(value_type = f64)]
    amount_inr: Paise,
    /// The rate in force, basis points (1/100 of a per cent).
    rate_basis_points: u16,
    /// Who judged the report.
    judged_by: JudgeBody,
    /// By how many minutes the service began late, below zero where early; null where the report does not tell.
    #[schema(required)]
    late_minutes: Option<i32>,
    /// SHA-256 of the report's content.
    report: String,
    /// What the entry is for.
    kind: KindName,
    /// Number of the entry that it takes back.
    #[schema(required)]
    reverses: Option<u64>,
    /// Why it was taken back.
    #[schema(required)]
    reason: Option<&'a str>,
    /// Debits and credits, in sum zero.
    legs: Vec<LegBody>,
    /// Identifier of the receipt for the report.
    receipt_id: String,
    /// SHA-256 over this entry and the hash of the one before.
    hash: String,
}

impl<'a> From<&'a Entry> for EntryBody<'a> {
    fn from(entry: &'a Entry) -> Self {
        let Posting { judged_by, .. } = &entry.posting;
        let posting = &entry.posting;
        let (kind, reverses, reason) = kind(&posting.kind);
        Self {
            number: entry.number,
            posted_at: time(posting.posted_at_ms),
            partner: posting.partner.as_str(),
            intent: posting.intent.as_str(),
            external_id: &posting.external_id,
            request_id: &posting.request_id,
            status: &posting.status,
            closed_at: time(posting.closed_at_ms),
            month: posting.month.to_string(),
            amount_inr: posting.amount,
            rate_basis_points: posting.rate.basis_points(),
            judged_by: JudgeBody { version: judged_by.version.to_string(), stand_in: judged_by.stand_in },
            late_minutes: posting.late_minutes,
            report: posting.report.to_string(),
            kind,
            reverses,
            reason,
            legs: posting.legs.iter().map(LegBody::from).collect(),
            receipt_id: entry.receipt_id(),
            hash: entry.hash.to_string(),
        }
    }
}

/// A part of the ledger, in its order.
#[derive(Serialize, ToSchema)]
pub(crate) struct EntryPage<'a> {
    /// This page's.
    pub(crate) entries: Vec<EntryBody<'a>>,
    /// What to ask the next page with, as `after`; null when this was the last.
    #[schema(required)]
    pub(crate) next: Option<u64>,
}

/// An entry, and what has become of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct EntryDetail<'a> {
    /// The entry.
    pub(crate) entry: EntryBody<'a>,
    /// Number of the entry that took it back; null while it stands.
    #[schema(required)]
    pub(crate) taken_back_by: Option<u64>,
}

/// Books what is right. At least one of `amount_inr` and `status` is to be another than the entry's.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document's shape of a body that is read member by member")]
pub(crate) struct CorrectionRequest {
    /// Why, for the partner's statement and the audit log.
    #[schema(min_length = 1, max_length = 500)]
    reason: String,
    /// The right amount, at most two decimals.
    #[schema(minimum = 0, example = 1499.50)]
    amount_inr: Option<f64>,
    /// The right status, one that the intent's contract lists.
    status: Option<String>,
}

/// A correction that is in the ledger.
#[derive(Serialize, ToSchema)]
pub(crate) struct CorrectedBody<'a> {
    /// Takes the wrong entry back.
    pub(crate) reversal: EntryBody<'a>,
    /// Books what is right.
    pub(crate) replacement: EntryBody<'a>,
}

/// The accounts of one partner, or of all.
#[derive(Serialize, ToSchema)]
pub(crate) struct BalanceBody<'a> {
    /// The partner.
    partner: &'a str,
    /// What the partner owes.
    #[serde(serialize_with = "Paise::serialize_inr")]
    #[schema(value_type = f64)]
    partner_receivable_inr: Paise,
    /// What was earned; a credit, so below zero.
    #[serde(serialize_with = "Paise::serialize_inr")]
    #[schema(value_type = f64)]
    commission_revenue_inr: Paise,
}

/// The balances of all accounts.
#[derive(Serialize, ToSchema)]
pub struct TrialBalanceBody<'a> {
    /// Whether the accounts of each partner sum to nothing.
    balanced: bool,
    /// Sum of what all partners owe; null where it does not fit into 64 bits.
    #[schema(value_type = Option<f64>, required)]
    partner_receivable_inr: Option<Box<serde_json::value::RawValue>>,
    /// Sum of all that was earned, below zero; null likewise.
    #[schema(value_type = Option<f64>, required)]
    commission_revenue_inr: Option<Box<serde_json::value::RawValue>>,
    /// By partner.
    partners: Vec<BalanceBody<'a>>,
}

impl<'a> From<&'a TrialBalance> for TrialBalanceBody<'a> {
    fn from(trial: &'a TrialBalance) -> Self {
        let sum = |of: fn(&Balances) -> Paise| -> Option<Paise> { trial.partners().map(|(_, held)| of(held)).sum() };
        let row = |(partner, held): (&'a intent_gateway_domain::id::PartnerId, &Balances)| BalanceBody {
            partner: partner.as_str(),
            partner_receivable_inr: held.partner_receivable,
            commission_revenue_inr: held.commission_revenue,
        };
        Self {
            balanced: trial.is_zero(),
            partner_receivable_inr: sum(|held| held.partner_receivable).map(Paise::to_inr_json),
            commission_revenue_inr: sum(|held| held.commission_revenue).map(Paise::to_inr_json),
            partners: trial.partners().map(row).collect(),
        }
    }
}

/// What is wrong with the ledger.
#[derive(Serialize, ToSchema)]
pub(crate) struct FaultBody {
    /// Stable code.
    #[schema(example = "ENTRY_CHANGED")]
    code: &'static str,
    /// The entry at which it shows.
    entry: u64,
    /// One sentence for a person.
    message: String,
}

impl From<&Fault> for FaultBody {
    fn from(fault: &Fault) -> Self {
        Self { code: fault_code(fault), entry: fault_entry(fault), message: fault.to_string() }
    }
}

/// Whether the ledger is sound, by its stored entries alone.
#[derive(Serialize, ToSchema)]
pub struct VerifiedBody {
    /// Whether everything holds.
    sound: bool,
    /// Entries looked at.
    entries: u64,
    /// Number and hash of the last, with a colon between. Kept elsewhere, it shows later whether the end was cut off.
    head: String,
    /// Whether the accounts of each partner sum to nothing.
    balanced: bool,
    /// The head that was expected and that no entry is; null where none was expected, or it is there.
    #[schema(required)]
    missing_head: Option<String>,
    /// What is wrong, at most 1000 faults.
    faults: Vec<FaultBody>,
    /// How many more there are.
    faults_unlisted: u64,
}

impl From<&Soundness> for VerifiedBody {
    fn from(soundness: &Soundness) -> Self {
        let Soundness { found, missing } = soundness;
        Self {
            sound: soundness.is_sound(),
            entries: found.entries,
            head: Mark::from(found.head).to_string(),
            balanced: found.trial.is_zero(),
            missing_head: missing.map(|missing| missing.to_string()),
            faults: found.faults.iter().map(FaultBody::from).collect(),
            faults_unlisted: found.faults_unlisted,
        }
    }
}
