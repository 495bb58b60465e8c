//! `intent-gateway search`: what an orchestrator asks, and its answer drawn for a person.
//!
//! | question | module |
//! |---|---|
//! | what is read of the answer | `answer` |
//! | what a card says, whatever its widget | `card` |
//! | how the answer looks | `show` |
//!
//! Nothing here knows an intent: a card is read by the names that widgets have in common.

mod answer;
mod card;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use http::Method;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::limits::REQUEST_BODY_MAX_BYTES;
use intent_gateway_domain::user::Pseudonym;
use serde::Deserialize;
use serde_json::value::RawValue;

use self::answer::Answer;
use crate::ask::{AskArgs, tell};
use crate::client::{Gateway, GatewayError, JSON};
use crate::outcome::{CommandError, Verdict, exit_code, fail, usage};
use crate::terminal::Palette;
use crate::values::parse_intent;
use crate::{files, print};

#[derive(Args, Debug)]
pub(crate) struct SearchArgs {
    /// The intent.
    #[arg(value_name = "INTENT", value_parser = parse_intent)]
    intent: IntentId,
    #[command(flatten)]
    request: RequestArgs,
    /// On behalf of this user, by your own pseudonym; references are then good for this user alone.
    #[arg(long, value_name = "ID", value_parser = parse_user)]
    user: Option<Pseudonym>,
    /// Show so many of the options, best first.
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
    /// Print nothing but the reference of the best option, for `intent-gateway call`.
    #[arg(long, conflicts_with = "json")]
    best_reference: bool,
    #[command(flatten)]
    ask: AskArgs,
}

/// What is asked for.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct RequestArgs {
    /// File of the request, the intent's own input; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    request: Option<PathBuf>,
    /// Ask with the sample that the live contract brings.
    #[arg(long)]
    sample: bool,
}

pub(crate) fn parse_user(text: &str) -> Result<Pseudonym, String> {
    Pseudonym::parse(text).map_err(|error| error.to_string())
}

/// Runs the command to its exit code.
pub(crate) fn run(arguments: &SearchArgs) -> ExitCode {
    exit_code(search(arguments))
}

fn search(arguments: &SearchArgs) -> Result<Verdict, CommandError> {
    let SearchArgs { intent, request, user, top, best_reference, ask } = arguments;
    let gateway = ask.open()?.for_user(user.as_ref().map(|user| user.as_str().to_owned()));
    let body = match &request.request {
        Some(path) => files::read_json(path, REQUEST_BODY_MAX_BYTES).map_err(usage)?,
        None => sample(&gateway, intent)?,
    };
    let path = format!("/api/v1/intents/{intent}/search");
    let answer: Result<Box<RawValue>, GatewayError> = gateway.send_file(Method::POST, &path, JSON, body.as_bytes());
    let answer: Answer = if *best_reference {
        let answer = answer.map_err(fail)?;
        serde_json::from_str(answer.get()).map_err(fail)?
    } else {
        tell(answer, ask.json, |answer| show::answer(answer, *top, Palette::of_stdout()))?
    };
    let Some(best) = answer.options.first() else {
        if *best_reference {
            return Err(fail(anyhow!("there is no option [{}]", answer.code.as_deref().unwrap_or("no reason given"))));
        }
        return Ok(Verdict::Clean);
    };
    if *best_reference {
        print(&best.reference);
    }
    Ok(Verdict::Clean)
}

/// What is read of [`IntentDetail`](intent_gateway_api::intents::IntentDetail), which borrows from a contract and is only
/// written.
#[derive(Deserialize)]
struct Intent {
    sample_request: Option<Box<RawValue>>,
}

fn sample(gateway: &Gateway, intent: &IntentId) -> Result<String, CommandError> {
    let Intent { sample_request } = gateway.get(&format!("/api/v1/intents/{intent}")).map_err(fail)?;
    let sample = sample_request.ok_or_else(|| {
        fail(anyhow!(
            "the contract of {intent} brings no sample request; write one by its `request_schema`, and give --request"
        ))
    })?;
    Ok(sample.get().to_owned())
}
