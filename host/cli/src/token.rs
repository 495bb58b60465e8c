//! `intent-gateway token`: issues a bearer token for people and scripts.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use intent_gateway_domain::clock::SystemClock;

use crate::arguments::{Command, TokenArgs};
use crate::outcome::{CommandError, Verdict, exit_code, fail, usage};
use crate::print;
use intent_gateway_config::{Config, KeyError, MissingKey, SigningKeys};
use intent_gateway_http::auth::Role;

/// Life of a token for which none is asked.
const TTL_DEFAULT: Duration = Duration::from_secs(60 * 60);

/// Runs the command to its exit code.
pub(crate) fn run(command: &Command, arguments: &TokenArgs) -> ExitCode {
    let issued = crate::load(command).map_err(usage).and_then(|config| issue(&config, arguments));
    exit_code(issued.map(|token| {
        print(&token);
        Verdict::Clean
    }))
}

/// A token as asked for, under the keys in force.
fn issue(config: &Config, arguments: &TokenArgs) -> Result<String, CommandError> {
    let TokenArgs { role, subject, scopes, ttl, .. } = arguments;
    let role = Role::from(*role);
    if role != Role::Admin && !scopes.is_empty() {
        return Err(usage(anyhow::anyhow!("--scope goes with --role admin; the other roles have no scopes")));
    }
    let life_max = if role == Role::Partner { Duration::MAX } else { config.auth.token_rules().life_max };
    let ttl = ttl.unwrap_or(TTL_DEFAULT.min(life_max));
    if ttl > life_max {
        let seconds = life_max.as_secs();
        return Err(usage(anyhow::anyhow!(
            "--ttl is longer than `auth.token_life_max_s`, {seconds}: no gateway takes it"
        )));
    }
    let missing = if arguments.create_key { MissingKey::Make } else { MissingKey::Refuse };
    let keys = SigningKeys::of(config, missing).map_err(|error| match error {
        KeyError::Missing(_) => usage(error),
        other => fail(other),
    })?;
    let tokens = keys.tokens(&config.auth.audience, Arc::new(SystemClock)).map_err(fail)?;
    let issued = match scopes.as_slice() {
        [] => tokens.issue(role, subject, ttl),
        scopes => tokens.issue_scoped(subject, ttl, &scopes.iter().copied().collect()),
    };
    issued.map_err(fail)
}
