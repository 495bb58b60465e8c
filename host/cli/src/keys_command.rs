//! `intent-gateway keys`: which keys the gateway holds, a new one in place of one, and what is stored sealed anew.

use std::sync::Mutex;

use anyhow::{Context as _, ensure};
use clap::{Args, Subcommand, ValueEnum};
use intent_gateway_domain::approval::Approval;
use intent_gateway_domain::reseal::{Resealed, reseal_all};
use intent_gateway_domain::signing_keys::Webhook;
use intent_gateway_domain::web_session::WebSession;
use intent_gateway_outbound::policy::idempotency::Attempt;
use intent_gateway_store::SqlStore;
use serde_json::json;

use crate::arguments::FileArg;
use crate::outcome::{CommandError, print_json};
use crate::print;
use crate::store_command::with_store;
use crate::terminal::table;
use intent_gateway_config::{Config, KeyName, Keys, list_keys, rotate_key};

/// List and rotate the gateway's own keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Show which keys there are, by identifier, and what each is used for; never a key itself.
    #[command(after_help = "Example:\n  intent-gateway keys list --config gateway.toml")]
    List(KeysArgs),
    /// Make a new key; the current one goes to the former ones, which still verify and open.
    #[command(after_help = "The key and its former ones must come from files (`auth.signing_key_file` and \
        `auth.previous_signing_keys_file`, and so on). Gateways read them when they start. How long a former key has to stay is in \
        docs/keys.md.\n\n\
        Examples:\n  intent-gateway keys rotate signing --config gateway.toml\n  \
        intent-gateway keys rotate master --config gateway.toml && intent-gateway keys reseal --config gateway.toml")]
    Rotate(RotateArgs),
    /// Seal what is stored anew, under the current master key. It can be stopped and run again.
    #[command(after_help = "Gateways that serve on the store must have been started with the current master key.\n\n\
        Example:\n  intent-gateway keys reseal --config gateway.toml")]
    Reseal(KeysArgs),
}

#[derive(Args, Debug)]
pub(crate) struct KeysArgs {
    #[command(flatten)]
    config: FileArg,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RotateArgs {
    /// Which key.
    #[arg(value_name = "NAME", value_enum)]
    name: NameArg,
    #[command(flatten)]
    config: FileArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum NameArg {
    /// Signs tokens.
    Signing,
    /// Seals references to options and bookings.
    Reference,
    /// Seals what is stored.
    Master,
}

impl From<NameArg> for KeyName {
    fn from(name: NameArg) -> Self {
        match name {
            NameArg::Signing => Self::Signing,
            NameArg::Reference => Self::Reference,
            NameArg::Master => Self::Master,
        }
    }
}

impl KeysCommand {
    /// Where the configuration is.
    pub(crate) fn file(&self) -> &FileArg {
        match self {
            Self::List(arguments) | Self::Reseal(arguments) => &arguments.config,
            Self::Rotate(arguments) => &arguments.config,
        }
    }
}

/// Runs a command under a configuration.
pub(crate) fn run(config: &Config, command: &KeysCommand) -> anyhow::Result<()> {
    match command {
        KeysCommand::List(arguments) => list(config, arguments.json),
        KeysCommand::Rotate(arguments) => {
            let name = KeyName::from(arguments.name);
            rotate_key(config, name)?;
            let next = match name {
                KeyName::Signing | KeyName::Reference => "restart every gateway with the files",
                KeyName::Master => "restart every gateway with the files, then run `intent-gateway keys reseal`",
            };
            print(&format!("the {} key is a new one; {next}", name.as_str()));
            Ok(())
        }
        KeysCommand::Reseal(arguments) => with_store(config, async |store| reseal(store, config, arguments.json).await),
    }
}

fn list(config: &Config, json: bool) -> anyhow::Result<()> {
    let views = list_keys(config)?;
    let uses = |name: KeyName, is_current: bool| match (name, is_current) {
        (KeyName::Signing, true) => "signs, verifies",
        (KeyName::Signing, false) => "verifies",
        (KeyName::Reference | KeyName::Master, true) => "seals, opens",
        (KeyName::Reference | KeyName::Master, false) => "opens",
    };
    if json {
        let keys = views.iter().map(|view| {
            json!({"name": view.name.as_str(), "id": view.id, "current": view.is_current, "source": view.source})
        });
        return print_json(&json!({ "keys": keys.collect::<Vec<_>>() })).map_err(CommandError::into_error);
    }
    let rows: Vec<[String; 4]> = views
        .into_iter()
        .map(|view| [view.name.as_str().to_owned(), view.id, uses(view.name, view.is_current).to_owned(), view.source])
        .collect();
    print(&table(["key", "id", "use", "from"], &rows));
    Ok(())
}

async fn reseal(store: &SqlStore, config: &Config, json: bool) -> anyhow::Result<()> {
    let vault = Keys::find_vault(config)?.context("there is no master key")?;
    // One line a batch, for whoever waits; results go to standard output.
    let told = Mutex::new(Vec::<(&'static str, Resealed)>::new());
    let tell = |kind: &'static str, so_far: Resealed| {
        let Ok(mut told) = told.lock() else { return };
        match told.last_mut().filter(|(last, _)| *last == kind) {
            Some(last) => last.1 = so_far,
            None => told.push((kind, so_far)),
        }
        crate::complain(&format!("{kind}: {} looked at, {} sealed anew", so_far.seen, so_far.resealed));
    };
    let mut all = Resealed::default();
    let stopped = "it stopped before its end; run it again, and it goes on";
    all += reseal_all::<Webhook>(store, &vault, &tell).await.context(stopped)?;
    all += reseal_all::<Attempt>(store, &vault, &tell).await.context(stopped)?;
    all += reseal_all::<Approval>(store, &vault, &tell).await.context(stopped)?;
    all += reseal_all::<WebSession>(store, &vault, &tell).await.context(stopped)?;
    all += intent_gateway_linking::reseal(store, &vault, &tell).await.context(stopped)?;
    all += intent_gateway_onboarding::reseal_documents(store, &vault, &tell).await.context(stopped)?;
    all += store.reseal_mail(&vault, intent_gateway_onboarding::mail_context, &tell).await.context(stopped)?;
    all += store.reseal_inputs(&vault, &tell).await.context(stopped)?;
    let told = told.into_inner().unwrap_or_default();
    if json {
        let kinds = told.iter().map(|(kind, done)| {
            json!({"records": kind, "seen": done.seen, "resealed": done.resealed, "unreadable": done.unreadable})
        });
        print_json(&json!({ "kinds": kinds.collect::<Vec<_>>() })).map_err(CommandError::into_error)?;
    } else {
        let number = |number: u64| number.to_string();
        let rows: Vec<[String; 4]> = told
            .iter()
            .map(|(kind, done)| [(*kind).to_owned(), number(done.seen), number(done.resealed), number(done.unreadable)])
            .collect();
        print(&table(["records", "looked at", "sealed anew", "unreadable"], &rows));
    }
    ensure!(all.unreadable == 0, "{} records are under a key that is not configured, or were changed", all.unreadable);
    Ok(())
}
