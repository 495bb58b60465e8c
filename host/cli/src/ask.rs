//! What the commands that ask a gateway have in common: whom they ask, and how an answer is told.

use anyhow::Context as _;
use clap::Args;
use intent_gateway_domain::plain_text::escape_json;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;

use crate::access::GatewayArgs;
use crate::client::{Gateway, GatewayError};
use crate::outcome::{CommandError, fail, print_json};
use crate::print;

/// Whom to ask, and in which form to tell the answer.
#[derive(Args, Debug)]
pub(crate) struct AskArgs {
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
    /// Print JSON, as the gateway answers.
    #[arg(long)]
    pub(crate) json: bool,
}

impl AskArgs {
    pub(crate) fn open(&self) -> Result<Gateway, CommandError> {
        self.gateway.open().map(|(gateway, _)| gateway)
    }
}

/// Ends a command whose question was refused or not answered. With `json` the refusal is printed besides: a script branches
/// on its code, while a person reads the same on standard error.
pub(crate) fn refuse<T>(error: GatewayError, json: bool) -> Result<T, CommandError> {
    if let (GatewayError::Refused(refused), true) = (&error, json) {
        print_json(&json!({"error": refused}))?;
    }
    if let (GatewayError::Waits(approval), true) = (&error, json) {
        print_json(approval)?;
    }
    Err(fail(error))
}

/// Prints an answer: as it came, or as a text for people. Hands over what was read of it.
pub(crate) fn tell<T: DeserializeOwned>(
    answer: Result<Box<RawValue>, GatewayError>,
    json: bool,
    text: impl FnOnce(&T) -> String,
) -> Result<T, CommandError> {
    let answer = answer.or_else(|error| refuse(error, json))?;
    let read: T = serde_json::from_str(answer.get())
        .context("the gateway answered something else than expected; is it of this version?")
        .map_err(fail)?;
    if json {
        print(&escape_json(answer.get()));
    } else {
        print(&text(&read));
    }
    Ok(read)
}
