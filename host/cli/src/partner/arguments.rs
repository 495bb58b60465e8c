//! The arguments of the platform team's commands about partners.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use intent_gateway_domain::findings::{Severity, Source};
use intent_gateway_domain::golive::Confirmation;
use intent_gateway_domain::id::{IntentId, PartnerId};

use super::conformance::ConformanceArgs;
use super::document::DocumentCommand;
use super::event::EventCommand;
use crate::access::{GatewayArgs, parse_partner};
use crate::order::{FilterArgs, parse_text};
use crate::values::parse_intent;

/// Accounts or reviews of one page that may be asked for.
const PAGE_MAX: i64 = 500;

/// Look at partners; probe, test, switch on, suspend their connections.
#[derive(Debug, Subcommand)]
pub(crate) enum PartnerCommand {
    /// List the partners' accounts, or the connections in one state.
    #[command(
        after_help = "Examples:\n  intent-gateway partner list\n  intent-gateway partner list --state live --json"
    )]
    List(ListArgs),
    /// Show where a partner stands, and what is next.
    #[command(after_help = "A partner may look at itself: with its own token, or with its credentials in \
        INTENT_GATEWAY_CLIENT_ID and INTENT_GATEWAY_CLIENT_SECRET.\n\n\
        Examples:\n  intent-gateway partner status ptr_0123456789abcdef\n  intent-gateway partner status")]
    Status(StatusArgs),
    /// Upload documents for the review, list and remove them; read them, as the platform team.
    #[command(subcommand)]
    Document(DocumentCommand),
    /// List what was told to a business's webhook; have it sent again; try the webhook; replace the secret.
    #[command(subcommand)]
    Event(EventCommand),
    /// Show what will change for a partner, and has changed lately.
    #[command(after_help = "A partner may look at itself: with its own token, or with its credentials in \
        INTENT_GATEWAY_CLIENT_ID and INTENT_GATEWAY_CLIENT_SECRET.\n\nExample:\n  intent-gateway partner notices")]
    Notices(StatusArgs),
    /// Probe a partner's server: `initialize`, `tools/list`, and no call.
    #[command(after_help = "Exit codes: 0 the probe passed, 1 it failed.\n\n\
        Example:\n  intent-gateway partner probe ptr_0123456789abcdef")]
    Probe(PartnerArgs),
    /// Try a server on your own machine before you sign up: every tool, its errors, keys and times. No gateway is asked.
    #[command(
        after_help = "One order is made at the server and cancelled again, unless --no-orders is given. Run it against a server \
        whose orders mean nothing.\n\
        What tools are called with are the contract's own examples, with their dates moved to the present and \
        with the identifiers that the server gives. Exit codes: 0 nothing failed, 1 something did, 2 it could not be tried.\n\n\
        Examples:\n  intent-gateway partner conformance http://127.0.0.1:8101/mcp --contract auto-book-ac-service.wasm\n  \
        intent-gateway partner conformance http://127.0.0.1:8101/mcp --contract auto-book-ac-service.wasm --request mine.json --no-orders"
    )]
    Conformance(ConformanceArgs),
    /// Run an intent's go-live requirements against a partner.
    #[command(
        after_help = "Each sample is a request of the intent, as an orchestrator would send it; it is searched with \
        at this one partner. Requirements that no machine can judge are confirmed with a note.\n\
        Exit codes: 0 everything holds, 1 something does not, or waits for a person.\n\n\
        Examples:\n  intent-gateway partner test ptr_0123456789abcdef --intent auto.book_ac_service \
        --samples samples/*.json\n  \
        intent-gateway partner test ptr_0123456789abcdef --intent auto.book_ac_service \
        --confirm 'REFRIGERANT_CERTIFICATE=seen, valid until 2027-03'"
    )]
    Test(TestArgs),
    /// Switch a connection on: from then on, requests of users are routed to it.
    #[command(
        after_help = "Needed: a probe that passed, a manifest that is approved, a test that passed for each of its \
        intents. What is missing is told.\n\n\
        Example:\n  intent-gateway partner switch-on ptr_0123456789abcdef"
    )]
    SwitchOn(PartnerArgs),
    /// Show how partners fare in service: how long they take, who is out of a pool, the strikes against them.
    #[command(after_help = "Calls are those of the gateway that is asked, since it started; strikes are those of all \
        gateways.\n\n\
        Examples:\n  intent-gateway partner health\n  intent-gateway partner health ptr_0123456789abcdef --json")]
    Health(HealthArgs),
    /// Show what was found in a partner's answers and reports: what was dropped and why, with what was sent.
    #[command(after_help = "A partner may look at itself: with its own token, or with its credentials in \
        INTENT_GATEWAY_CLIENT_ID and INTENT_GATEWAY_CLIENT_SECRET.\n\n\
        Examples:\n  intent-gateway partner findings ptr_0123456789abcdef --severity strike\n  \
        intent-gateway partner findings --source report\n  intent-gateway partner findings --summary")]
    Findings(FindingsArgs),
    /// Show what was ordered at a partner, newest first; with --order, one order and what its report is expected to say.
    #[command(after_help = "A partner may look at itself: with its own token, or with its credentials in \
        INTENT_GATEWAY_CLIENT_ID and INTENT_GATEWAY_CLIENT_SECRET.\n\n\
        Examples:\n  intent-gateway partner orders --open\n  intent-gateway partner orders --order BK-2026-0042\n  \
        intent-gateway partner orders ptr_0123456789abcdef --in-doubt")]
    Orders(OrdersArgs),
    /// List a partner's orders whose time is over and that no completion report has closed.
    #[command(after_help = "A partner may look at itself, as with `findings`.\n\n\
        Examples:\n  intent-gateway partner overdue ptr_0123456789abcdef\n  \
        intent-gateway partner overdue --json")]
    Overdue(StatusArgs),
    /// List the completion reports that were taken as tests, because their sender was never live.
    #[command(
        after_help = "They are in no ledger and cost nothing. A partner may look at itself, as with `findings`.\n\n\
        Examples:\n  intent-gateway partner test-reports ptr_0123456789abcdef\n  \
        intent-gateway partner test-reports --json"
    )]
    TestReports(StatusArgs),
    /// Record a strike that no answer and no report shows. Three of one code within 90 days suspend the partner.
    #[command(
        after_help = "Example:\n  intent-gateway partner strike ptr_0123456789abcdef --intent auto.book_ac_service \
        --code WARRANTY_DECLINED --order BK-2026-0042 --reason 'the user was asked to pay for the re-service'"
    )]
    Strike(StrikeArgs),
    /// Take a live connection out. The partner is told the reason by mail.
    #[command(
        after_help = "Example:\n  intent-gateway partner suspend ptr_0123456789abcdef --reason 'paid placement in answers'"
    )]
    Suspend(ReasonArgs),
    /// Lift a suspension: back to the sandbox, through probe, test and approval again.
    #[command(after_help = "Example:\n  intent-gateway partner lift ptr_0123456789abcdef --reason 'the field is gone'")]
    Lift(ReasonArgs),
    /// Take a live partner's changed tools as the last probe saw them, and route their intents again.
    #[command(
        after_help = "Example:\n  intent-gateway partner accept-drift ptr_0123456789abcdef --reason 'one field more'"
    )]
    AcceptDrift(ReasonArgs),
}

/// Decide what waits for the platform team.
#[derive(Debug, Subcommand)]
pub(crate) enum ReviewCommand {
    /// List the reviews, oldest first.
    #[command(after_help = "Examples:\n  intent-gateway review list\n  intent-gateway review list --status rejected")]
    List(ReviewListArgs),
    /// Show a review with its checklist. The privacy policy is fetched anew while it is open.
    #[command(after_help = "Example:\n  intent-gateway review show rev_1763715600000_0123456789abcdef")]
    Show(ReviewArgs),
    /// Approve. Every item of the checklist must have passed, or be confirmed here.
    #[command(after_help = "Example:\n  intent-gateway review approve rev_1763715600000_0123456789abcdef \
        --confirm LEGAL_ENTITY --confirm VERIFY_WHOLE_COUNTRY:auto.book_ac_service:auto.book_ac_service")]
    Approve(ApproveArgs),
    /// Send back. The partner gets the notes by mail.
    #[command(after_help = "Example:\n  intent-gateway review reject rev_1763715600000_0123456789abcdef \
        --notes 'The service area names cities that you do not serve.'")]
    Reject(RejectArgs),
}

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum StateArg {
    /// Registered; no user's request reaches it.
    Sandbox,
    /// The last probe before going live failed.
    ProbeFailed,
    /// Users' requests are routed to it.
    Live,
    /// Taken out.
    Suspended,
}

/// Where a review stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum ReviewStatusArg {
    /// To be decided.
    Open,
    /// Accepted.
    Approved,
    /// Sent back.
    Rejected,
    /// What it was about was replaced.
    Superseded,
}

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum SeverityArg {
    /// It stayed.
    Note,
    /// It was dropped or refused.
    Drop,
    /// It counts towards suspension.
    Strike,
}

/// Where something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum SourceArg {
    /// In answers to searches.
    Search,
    /// In answers of other tools.
    Call,
    /// In completion reports.
    Report,
    /// By the platform team itself.
    Team,
}

impl From<SeverityArg> for Severity {
    fn from(severity: SeverityArg) -> Self {
        match severity {
            SeverityArg::Note => Self::Note,
            SeverityArg::Drop => Self::Drop,
            SeverityArg::Strike => Self::Strike,
        }
    }
}

impl From<SourceArg> for Source {
    fn from(source: SourceArg) -> Self {
        match source {
            SourceArg::Search => Self::Search,
            SourceArg::Call => Self::Call,
            SourceArg::Report => Self::Report,
            SourceArg::Team => Self::Team,
        }
    }
}

impl StateArg {
    /// As it is named on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::ProbeFailed => "probe_failed",
            Self::Live => "live",
            Self::Suspended => "suspended",
        }
    }
}

impl ReviewStatusArg {
    /// As it is named on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Superseded => "superseded",
        }
    }
}

/// What every command has.
#[derive(Args, Debug)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
    /// Print JSON, as the gateway answers.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PartnerArgs {
    /// The account.
    #[arg(value_name = "ID", value_parser = parse_partner)]
    pub(crate) id: PartnerId,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    /// The account; without it, the one of a partner's token.
    #[arg(value_name = "ID", value_parser = parse_partner)]
    pub(crate) id: Option<PartnerId>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Only connections in this state.
    #[arg(long)]
    pub(crate) state: Option<StateArg>,
    /// Only what comes after this account.
    #[arg(long, value_name = "ID", value_parser = parse_partner)]
    pub(crate) after: Option<PartnerId>,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=PAGE_MAX))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args, Debug)]
pub(crate) struct HealthArgs {
    /// The partner; without it, all of them.
    #[arg(value_name = "ID", value_parser = parse_partner, conflicts_with_all = ["after", "limit"])]
    pub(crate) id: Option<PartnerId>,
    /// Only what comes after this partner.
    #[arg(long, value_name = "ID", value_parser = parse_partner)]
    pub(crate) after: Option<PartnerId>,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=PAGE_MAX))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args, Debug)]
pub(crate) struct OrdersArgs {
    /// The partner; without it, the one of a partner's token.
    #[arg(value_name = "ID", value_parser = parse_partner)]
    pub(crate) id: Option<PartnerId>,
    /// Show one order: by its identifier, by any that the partner has given it, or by a request of it.
    #[arg(long, value_name = "ORDER", value_parser = parse_text)]
    pub(crate) order: Option<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args, Debug)]
pub(crate) struct FindingsArgs {
    /// The partner; without it, the one of a partner's token.
    #[arg(value_name = "ID", value_parser = parse_partner)]
    pub(crate) id: Option<PartnerId>,
    /// Only those so grave.
    #[arg(long)]
    pub(crate) severity: Option<SeverityArg>,
    /// Only those found there.
    #[arg(long)]
    pub(crate) source: Option<SourceArg>,
    /// Only those of one intent.
    #[arg(long, value_name = "INTENT", value_parser = parse_intent)]
    pub(crate) intent: Option<IntentId>,
    /// Only those of one rule.
    #[arg(long, value_name = "CODE", value_parser = parse_code)]
    pub(crate) code: Option<String>,
    /// Only what comes before this number.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) before: Option<u64>,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=PAGE_MAX))]
    pub(crate) limit: u32,
    /// Count them by rule and day instead, and show strikes and latencies beside their targets.
    #[arg(long, conflicts_with_all = ["severity", "source", "intent", "code", "before", "limit"])]
    pub(crate) summary: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args, Debug)]
pub(crate) struct StrikeArgs {
    /// The partner.
    #[arg(value_name = "ID", value_parser = parse_partner)]
    pub(crate) id: PartnerId,
    /// The intent that the rule belongs to.
    #[arg(long, value_name = "INTENT", value_parser = parse_intent)]
    pub(crate) intent: IntentId,
    /// Code of the rule that was broken.
    #[arg(long, value_name = "CODE")]
    pub(crate) code: String,
    /// The order concerned, as the partner names it: one incident, however often it is told.
    #[arg(long, value_name = "ID")]
    pub(crate) order: String,
    /// What was seen.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// The account.
    #[arg(value_name = "ID", value_parser = parse_partner)]
    pub(crate) id: PartnerId,
    /// The intent.
    #[arg(long, value_name = "INTENT", value_parser = parse_intent)]
    pub(crate) intent: IntentId,
    /// Files of sample requests: one each, or several in a JSON array.
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present = "confirm")]
    pub(crate) samples: Vec<PathBuf>,
    /// A requirement that a person has looked at, and what was seen; may be given again.
    #[arg(long, value_name = "CODE=NOTE", value_parser = parse_confirmation)]
    pub(crate) confirm: Vec<Confirmation>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args, Debug)]
pub(crate) struct ReasonArgs {
    /// The account.
    #[arg(value_name = "ID", value_parser = parse_partner)]
    pub(crate) id: PartnerId,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args, Debug)]
pub(crate) struct ReviewListArgs {
    /// Only those that stand so.
    #[arg(long, default_value = "open")]
    pub(crate) status: ReviewStatusArg,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=PAGE_MAX))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args, Debug)]
pub(crate) struct ReviewArgs {
    /// The review.
    #[arg(value_name = "REVIEW", value_parser = parse_review)]
    pub(crate) review: String,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args, Debug)]
pub(crate) struct ApproveArgs {
    /// The review.
    #[arg(value_name = "REVIEW", value_parser = parse_review)]
    pub(crate) review: String,
    /// An item of the checklist that a person has looked at; may be given again.
    #[arg(long, value_name = "CODE")]
    pub(crate) confirm: Vec<String>,
    /// What the partner is told.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) notes: String,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args, Debug)]
pub(crate) struct RejectArgs {
    /// The review.
    #[arg(value_name = "REVIEW", value_parser = parse_review)]
    pub(crate) review: String,
    /// What the partner has to mend.
    #[arg(long, value_name = "TEXT")]
    pub(crate) notes: String,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// A rule's code goes into a query.
fn parse_code(text: &str) -> Result<String, String> {
    let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if fits { Ok(text.to_owned()) } else { Err("a rule's code is of letters, digits and underscores".to_owned()) }
}

/// A review's identifier goes into a path.
fn parse_review(text: &str) -> Result<String, String> {
    let fits = text.starts_with("rev_") && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if fits { Ok(text.to_owned()) } else { Err("a review's identifier begins with `rev_`".to_owned()) }
}

fn parse_confirmation(text: &str) -> Result<Confirmation, String> {
    match text.split_once('=') {
        Some((code, note)) if !code.trim().is_empty() && !note.trim().is_empty() => {
            Ok(Confirmation { code: code.trim().to_owned(), note: note.trim().to_owned() })
        }
        _ => Err("expected a requirement's code and what was seen: `CODE=NOTE`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use intent_gateway_onboarding::connection::ConnectionState;
    use intent_gateway_onboarding::records::ReviewStatus;

    use super::*;

    #[test]
    fn a_confirmation_says_what_was_seen() {
        let parsed = parse_confirmation("CERTIFICATE = seen; serial=12").expect("fits");
        assert_eq!((parsed.code.as_str(), parsed.note.as_str()), ("CERTIFICATE", "seen; serial=12"));
        for bad in ["", "CERTIFICATE", "CERTIFICATE=", "CERTIFICATE= ", "=seen"] {
            assert!(parse_confirmation(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_goes_into_a_path_is_an_identifier() {
        assert!(parse_review("rev_1763715600000_0123456789abcdef").is_ok());
        for bad in ["", "ptr_1", "rev_1/../../x", "rev_1?x", "rev_%2e"] {
            assert!(parse_review(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_goes_into_a_query_is_a_code() {
        assert!(parse_code("FORBIDDEN_FIELD").is_ok());
        for bad in ["", "A B", "A&limit=1", "A%20"] {
            assert!(parse_code(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn findings_are_named_as_on_the_wire() {
        let name = |named: Option<clap::builder::PossibleValue>| named.map(|named| named.get_name().to_owned());
        for value in SeverityArg::value_variants() {
            assert_eq!(name(value.to_possible_value()).as_deref(), Some(Severity::from(*value).as_str()));
        }
        for value in SourceArg::value_variants() {
            assert_eq!(name(value.to_possible_value()).as_deref(), Some(Source::from(*value).as_str()));
        }
        assert_eq!((SeverityArg::value_variants().len(), SourceArg::value_variants().len()), (3, 4));
    }

    #[test]
    fn states_are_named_as_on_the_wire() {
        let state = |value: &StateArg| value.to_possible_value().map(|named| named.get_name().to_owned());
        let states: Vec<_> = StateArg::value_variants().iter().filter_map(state).collect();
        assert_eq!(states, ConnectionState::ALL.map(ConnectionState::as_str));
        for value in StateArg::value_variants() {
            assert_eq!(state(value).as_deref(), Some(value.as_str()));
        }
        for value in ReviewStatusArg::value_variants() {
            let named = value.to_possible_value().expect("none is skipped");
            assert_eq!(named.get_name(), value.as_str());
            assert!(serde_json::from_value::<ReviewStatus>(value.as_str().into()).is_ok());
        }
    }
}
