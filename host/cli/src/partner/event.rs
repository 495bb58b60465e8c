//! `intent-gateway partner event`: what a business was told, and what became of sending it to its webhook.

use clap::{Args, Subcommand};
use intent_gateway_api as api;
use intent_gateway_api::account::WebhookBody;
use intent_gateway_api::event::{EventBody, EventsBody, TryBody};
use intent_gateway_domain::id::PartnerId;
use serde_json::json;

use super::arguments::Common;
use super::{open_for, tell};
use crate::access::parse_partner;
use crate::outcome::{CommandError, Verdict};
use crate::terminal::{Palette, harmless, table};

/// List what was told to a business's webhook; have it sent again; try the webhook; replace the secret.
#[derive(Debug, Subcommand)]
pub(crate) enum EventCommand {
    /// List events, the latest first, with what became of each.
    #[command(after_help = "Example:\n  intent-gateway partner event list --limit 10")]
    List(ListArgs),
    /// Show one event, with every try to deliver it.
    #[command(after_help = "Example:\n  intent-gateway partner event show evt_0199f2c1a7b40123456789abcdef")]
    Show(EventArgs),
    /// Have an event sent again, whatever became of it.
    #[command(after_help = "Example:\n  intent-gateway partner event replay evt_0199f2c1a7b40123456789abcdef")]
    Replay(EventArgs),
    /// Send an event that tells nothing, to try the webhook; at most ten in an hour.
    #[command(
        after_help = "`partner event show` tells what came of it.\n\nExample:\n  intent-gateway partner event test"
    )]
    Test(AccountArgs),
    /// Have events sent again after that was stopped.
    #[command(after_help = "What was not sent meanwhile is sent by `partner event replay`.")]
    Enable(AccountArgs),
    /// Replace the secret that events are signed with, or make the first one. It is printed once.
    #[command(
        after_help = "The secret before signs as well for 24 hours more, or not at all with --at-once, which takes a \
        token of a sign-in by a mailed code within the last 15 minutes."
    )]
    RotateSecret(RotateArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Only those before this one.
    #[arg(long, value_name = "EVENT", value_parser = parse_event)]
    before: Option<String>,
    /// How many, 1 to 100.
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
    #[command(flatten)]
    of: AccountArgs,
}

#[derive(Args, Debug)]
pub(crate) struct EventArgs {
    /// The event.
    #[arg(value_name = "EVENT", value_parser = parse_event)]
    event: String,
    #[command(flatten)]
    of: AccountArgs,
}

#[derive(Args, Debug)]
pub(crate) struct RotateArgs {
    /// End the secret before at once.
    #[arg(long)]
    at_once: bool,
    #[command(flatten)]
    of: AccountArgs,
}

#[derive(Args, Debug)]
pub(crate) struct AccountArgs {
    /// The account; without it, the one of a partner's token.
    #[arg(long, value_name = "ID", value_parser = parse_partner)]
    account: Option<PartnerId>,
    #[command(flatten)]
    common: Common,
}

/// Runs a command.
pub(super) fn run(command: &EventCommand) -> Result<Verdict, CommandError> {
    match command {
        EventCommand::List(ListArgs { before, limit, of }) => {
            let (gateway, account) = open_for(&of.common, of.account.as_ref())?;
            let before = before.as_ref().map(|before| format!("&before={before}")).unwrap_or_default();
            let answer = gateway.get(&format!("{}?limit={limit}{before}", events(&account)));
            tell(answer, of.common.json, |list: &EventsBody, _: Palette| table_of(list))?;
        }
        EventCommand::Show(EventArgs { event, of }) => {
            let (gateway, account) = open_for(&of.common, of.account.as_ref())?;
            let answer = gateway.get(&format!("{}/{event}", events(&account)));
            tell(answer, of.common.json, |event: &EventBody, _: Palette| text_of(event))?;
        }
        EventCommand::Replay(EventArgs { event, of }) => {
            let (gateway, account) = open_for(&of.common, of.account.as_ref())?;
            let answer = gateway.post(&format!("{}/{event}/replay", events(&account)), None);
            tell(answer, of.common.json, |event: &EventBody, _: Palette| text_of(event))?;
        }
        EventCommand::Test(of) => {
            let (gateway, account) = open_for(&of.common, of.account.as_ref())?;
            let answer = gateway.post(&format!("{}/test", webhook(&account)), None);
            tell(answer, of.common.json, |event: &EventBody, _: Palette| text_of(event))?;
        }
        EventCommand::Enable(of) => {
            let (gateway, account) = open_for(&of.common, of.account.as_ref())?;
            let answer = gateway.post(&format!("{}/enable", webhook(&account)), None);
            tell(answer, of.common.json, |webhook: &WebhookBody, _: Palette| {
                format!("events are sent to {} again", harmless(&webhook.webhook_url))
            })?;
        }
        EventCommand::RotateSecret(RotateArgs { at_once, of }) => {
            let (gateway, account) = open_for(&of.common, of.account.as_ref())?;
            let path = format!("{}/event-secret/rotate", webhook(&account));
            let answer = gateway.post(&path, Some(&json!({"at_once": at_once})));
            tell(answer, of.common.json, |webhook: &WebhookBody, _: Palette| {
                let secret = webhook.webhook_event_secret.as_deref().unwrap_or_default();
                format!("the secret, which is shown this once:\n{secret}")
            })?;
        }
    }
    Ok(Verdict::Clean)
}

fn table_of(list: &EventsBody) -> String {
    let row = |event: &EventBody| {
        let last = event.tries.last().map_or_else(String::new, answer_of);
        [event.event_id.clone(), type_of(event), event.timestamp.clone(), api::name(&event.state), last]
    };
    let rows: Vec<[String; 5]> = list.events.iter().map(row).collect();
    let more = list.next.as_ref().map(|next| format!("\nmore: --before {next}")).unwrap_or_default();
    format!("{}{more}", table(["event", "type", "at", "state", "last try"], &rows))
}

fn text_of(event: &EventBody) -> String {
    let mut lines =
        vec![format!("{} {} of {}: {}", event.event_id, type_of(event), event.timestamp, api::name(&event.state))];
    lines.extend(event.next_try_at.as_ref().map(|at| format!("tried next at {at}")));
    let line =
        |made: &TryBody| format!("{} {}: {} after {} ms", made.at, harmless(&made.url), answer_of(made), made.took_ms);
    lines.extend(event.tries.iter().map(line));
    lines.join("\n")
}

/// The type that an event is posted under.
fn type_of(event: &EventBody) -> String {
    let posted = serde_json::to_value(&event.event).unwrap_or_default();
    posted["type"].as_str().unwrap_or_default().to_owned()
}

/// What came of a try.
fn answer_of(made: &TryBody) -> String {
    let status = made.status.map(|status| status.to_string());
    status.or_else(|| made.error.as_deref().map(harmless)).unwrap_or_default()
}

fn events(account: &PartnerId) -> String {
    format!("/api/v1/business/tier1/accounts/{account}/events")
}

fn webhook(account: &PartnerId) -> String {
    format!("/api/v1/business/tier1/credentials/{account}/webhook")
}

/// An event's identifier goes into a path.
fn parse_event(text: &str) -> Result<String, String> {
    let fits = text.starts_with("evt_") && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if fits { Ok(text.to_owned()) } else { Err("an event's identifier begins with `evt_`".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_into_a_path_is_an_identifier() {
        assert!(parse_event("evt_0199f2c1a7b4").is_ok());
        for bad in ["", "doc_1", "evt_1/../x", "evt_1?x"] {
            assert!(parse_event(bad).is_err(), "{bad}");
        }
    }
}
