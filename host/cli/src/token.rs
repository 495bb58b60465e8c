//! `intent-gateway token`: issues a bearer token for people and scripts.

use std::sync::Arc;

use intent_gateway_domain::clock::SystemClock;

use crate::arguments::TokenArgs;
use intent_gateway_config::Config;
use intent_gateway_config::Keys;

/// A token as asked for, under the keys in force.
pub(crate) fn issue(config: &Config, arguments: &TokenArgs) -> anyhow::Result<String> {
    let keys = Keys::of(config)?;
    let tokens = keys.tokens(&config.auth.audience, Arc::new(SystemClock))?;
    Ok(tokens.issue(arguments.role.into(), &arguments.subject, arguments.ttl)?)
}
