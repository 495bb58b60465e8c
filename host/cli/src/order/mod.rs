//! `intent-gateway order`: orders, asked of a gateway by the platform team or by an orchestrator. A partner asks for its own with
//! `partner orders`.

pub(crate) mod show;

use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use intent_gateway_api::orders::{OrderChanges, OrderDetail, OrderList, OrderRecord};
use intent_gateway_api::overdue::{OverdueList, OverdueSummary};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::user::Pseudonym;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::access::{is_orchestrators, parse_partner};
use crate::ask::{AskArgs, refuse, tell};
use crate::client::Gateway;
use crate::outcome::{CommandError, Verdict, exit_code, fail, usage};
use crate::search::parse_user;
use crate::values::parse_intent;

/// Where the platform team finds orders.
const OF_TEAM: &str = "/api/v1/admin/orders";
/// Where an orchestrator does.
const OF_ORCHESTRATOR: &str = "/api/v1/orders";
/// Where the platform team finds those that were not reported in time.
const OVERDUE: &str = "/api/v1/admin/overdue-orders";
/// What the identifiers of orders begin with.
const ID_PREFIX: &str = "ord_";
/// Orders of one page that may be asked for.
const PAGE_MAX: i64 = 500;
/// Longest text that an order is looked for by, characters.
const TEXT_MAX_CHARS: usize = 256;

/// Look at orders: what was ordered, how far it is, what happened to it.
#[derive(Debug, Subcommand)]
pub(crate) enum OrderCommand {
    /// List orders, newest first.
    #[command(
        after_help = "With the token of an orchestrator these are the orders of one of its users, or with no --user what was \
        ordered for nobody by name; with that of the platform team, all orders.\n\n\
        Examples:\n  intent-gateway order list --in-doubt\n  \
        intent-gateway order list --partner ptr_0123456789abcdef --open\n  \
        intent-gateway order list --known-as BK-2026-0042\n  \
        intent-gateway order list --user user-17 --intent auto.book_ac_service"
    )]
    List(ListArgs),
    /// Show an order: its state, its history, its receipts and findings, or what may be done with it next.
    #[command(
        after_help = "With the token of an orchestrator it is shown what the user may do next, and the reference to do it with; with \
        that of the platform team, the findings about it. The team may name it by anything that it is known by.\n\n\
        To the platform team the option and what the order keeps are shown with --json alone: they may be personal data.\n\n\
        Examples:\n  intent-gateway order show ord_019ab4c8f2000f1e2d3c4b5a6978\n  \
        intent-gateway order show BK-2026-0042\n  \
        intent-gateway order show ord_019ab4c8f2000f1e2d3c4b5a6978 --user user-17 --json | jq -r .next.reference"
    )]
    Show(ShowArgs),
    /// Tell an orchestrator which orders of its users have changed: each once, as it is now.
    #[command(
        after_help = "Without --after, all orders are told. The last line says what to go on with; nothing is missed in between. The \
        same as they come, as a stream: docs/streams.md\n\n\
        Examples:\n  intent-gateway order events\n  intent-gateway order events --json | jq -r .next"
    )]
    Events(EventsArgs),
    /// Show what was never reported: orders whose time is over and that no completion report has closed.
    #[command(
        after_help = "For the platform team: by partner, with what is at stake; with --orders, one by one. A partner sees its own with \
        `partner overdue`.\n\n\
        Examples:\n  intent-gateway order overdue\n  intent-gateway order overdue --orders --json"
    )]
    Overdue(OverdueArgs),
}

/// Which orders of a list.
#[derive(Args, Debug)]
pub(crate) struct FilterArgs {
    /// Only those of one intent.
    #[arg(long, value_name = "INTENT", value_parser = parse_intent)]
    intent: Option<IntentId>,
    /// Only those in one state.
    #[arg(long, value_name = "STATE", value_parser = parse_text)]
    state: Option<String>,
    /// Only those that a tool or a report can still change.
    #[arg(long, conflicts_with = "closed")]
    open: bool,
    /// Only those that nothing can change any more.
    #[arg(long)]
    closed: bool,
    /// Only those of which nobody knows whether the partner has them.
    #[arg(long)]
    in_doubt: bool,
    /// Only those before this one: the last line of a page says which.
    #[arg(long, value_name = "ORDER", value_parser = parse_text)]
    before: Option<String>,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=PAGE_MAX))]
    limit: u32,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Only those known by this: an order's or a partner's identifier, a request, a receipt. For the platform team.
    #[arg(long, value_name = "ID", value_parser = parse_text, conflicts_with = "user")]
    known_as: Option<String>,
    /// Only those at one partner. For the platform team.
    #[arg(long, value_name = "PARTNER", value_parser = parse_partner, conflicts_with = "user")]
    partner: Option<PartnerId>,
    /// The user whose orders they are. For an orchestrator.
    #[arg(long, value_name = "ID", value_parser = parse_user)]
    user: Option<Pseudonym>,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// The order; for the platform team, anything that it is known by.
    #[arg(value_name = "ORDER", value_parser = parse_text)]
    order: String,
    /// The user whose order it is. For an orchestrator.
    #[arg(long, value_name = "ID", value_parser = parse_user)]
    user: Option<Pseudonym>,
    #[command(flatten)]
    ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct EventsArgs {
    /// Only what has changed since: the cursor of an earlier answer.
    #[arg(long, value_name = "CURSOR", value_parser = parse_text)]
    after: Option<String>,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=PAGE_MAX))]
    limit: u32,
    #[command(flatten)]
    ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct OverdueArgs {
    /// List the orders one by one, the one opened first at the head.
    #[arg(long)]
    orders: bool,
    /// With --orders, only those behind this one: the last line of a page says which.
    #[arg(long, value_name = "ORDER", value_parser = parse_text, requires = "orders")]
    after: Option<String>,
    /// With --orders, at most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=PAGE_MAX))]
    limit: u32,
    #[command(flatten)]
    ask: AskArgs,
}

impl FilterArgs {
    /// As a gateway takes it.
    pub(crate) fn query(&self) -> String {
        let Self { intent, state, open, closed, in_doubt, before, limit } = self;
        let chosen = [
            intent.as_ref().map(|intent| format!("&intent={intent}")),
            state.as_ref().map(|state| format!("&state={}", encode(state))),
            (*open || *closed).then(|| format!("&open={open}")),
            in_doubt.then(|| "&in_doubt=true".to_owned()),
            before.as_ref().map(|before| format!("&before={}", encode(before))),
        ];
        format!("limit={limit}{}", chosen.into_iter().flatten().collect::<String>())
    }
}

/// A text goes into a path or a query.
pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

pub(crate) fn parse_text(text: &str) -> Result<String, String> {
    if (1..=TEXT_MAX_CHARS).contains(&text.chars().count()) {
        return Ok(text.to_owned());
    }
    Err(format!("expected 1 to {TEXT_MAX_CHARS} characters"))
}

/// Runs a command to its exit code.
pub(crate) fn run(command: &OrderCommand) -> ExitCode {
    exit_code(match command {
        OrderCommand::List(arguments) => list(arguments),
        OrderCommand::Show(arguments) => show_one(arguments),
        OrderCommand::Events(arguments) => events(arguments),
        OrderCommand::Overdue(arguments) => overdue(arguments),
    })
}

/// A gateway, and whether it is asked as an orchestrator: for a user, or with an orchestrator's token.
fn open(ask: &AskArgs, user: Option<&Pseudonym>) -> Result<(Gateway, bool), CommandError> {
    let (gateway, token): (Gateway, Secret) = ask.gateway.open()?;
    let asks_for_user = user.is_some() || is_orchestrators(&token);
    Ok((gateway.for_user(user.map(|user| user.as_str().to_owned())), asks_for_user))
}

fn list(arguments: &ListArgs) -> Result<Verdict, CommandError> {
    let ListArgs { known_as, partner, user, filter, ask } = arguments;
    let (gateway, asks_for_user) = open(ask, user.as_ref())?;
    let path = if asks_for_user {
        if known_as.is_some() || partner.is_some() {
            return Err(usage(anyhow!(
                "--known-as and --partner are for the platform team; the token is an orchestrator's"
            )));
        }
        format!("{OF_ORCHESTRATOR}?{}", filter.query())
    } else {
        let known_as = known_as.as_ref().map(|known_as| format!("&known_as={}", encode(known_as))).unwrap_or_default();
        let partner = partner.as_ref().map(|partner| format!("&partner={partner}")).unwrap_or_default();
        format!("{OF_TEAM}?{}{known_as}{partner}", filter.query())
    };
    tell(gateway.get(&path), ask.json, show::list)?;
    Ok(Verdict::Clean)
}

fn show_one(arguments: &ShowArgs) -> Result<Verdict, CommandError> {
    let ShowArgs { order, user, ask } = arguments;
    let (gateway, asks_for_user) = open(ask, user.as_ref())?;
    if asks_for_user {
        let answer = gateway.get(&format!("{OF_ORCHESTRATOR}/{}", encode(order)));
        tell(answer, ask.json, |order: &OrderDetail| show::detail(order))?;
    } else {
        let id = if order.starts_with(ID_PREFIX) { order.clone() } else { look_up(&gateway, order, ask.json)? };
        let answer = gateway.get(&format!("{OF_TEAM}/{}", encode(&id)));
        tell(answer, ask.json, |order: &OrderRecord| show::record(order))?;
    }
    Ok(Verdict::Clean)
}

/// The one order that is known by a text.
fn look_up(gateway: &Gateway, known_as: &str, json: bool) -> Result<String, CommandError> {
    let found = gateway.get(&format!("{OF_TEAM}?limit=20&known_as={}", encode(known_as)));
    let OrderList { mut orders, .. } = found.or_else(|error| refuse(error, json))?;
    match (orders.pop(), orders.as_slice()) {
        (None, _) => Err(fail(anyhow!("no order is known by `{known_as}`"))),
        (Some(order), []) => Ok(order.id),
        (Some(last), others) => {
            let ids: Vec<&str> = others.iter().chain([&last]).map(|order| order.id.as_str()).collect();
            Err(fail(anyhow!("several orders are known by `{known_as}`: {}", ids.join(", "))))
        }
    }
}

fn events(arguments: &EventsArgs) -> Result<Verdict, CommandError> {
    let EventsArgs { after, limit, ask } = arguments;
    let after = after.as_ref().map(|after| format!("&after={}", encode(after))).unwrap_or_default();
    let answer = ask.open()?.get(&format!("{OF_ORCHESTRATOR}/events?limit={limit}{after}"));
    tell(answer, ask.json, |changes: &OrderChanges| show::changes(changes))?;
    Ok(Verdict::Clean)
}

fn overdue(arguments: &OverdueArgs) -> Result<Verdict, CommandError> {
    let OverdueArgs { orders, after, limit, ask } = arguments;
    let gateway = ask.open()?;
    if *orders {
        let after = after.as_ref().map(|after| format!("&after={}", encode(after))).unwrap_or_default();
        let answer = gateway.get(&format!("{OVERDUE}?limit={limit}{after}"));
        tell(answer, ask.json, |list: &OverdueList| show::overdue(list))?;
    } else {
        let answer = gateway.get(&format!("{OVERDUE}/summary"));
        tell(answer, ask.json, |summary: &OverdueSummary| show::overdue_by_partner(summary))?;
    }
    Ok(Verdict::Clean)
}
