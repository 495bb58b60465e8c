//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use intent_gateway_http::auth::{Role, SUBJECT_MAX_CHARS, Scope, TTL_MAX_SECONDS};

use crate::access::{GatewayArgs, has_default_profile};
use crate::approval::ApprovalCommand;
use crate::audit::AuditCommand;
use crate::call::CallArgs;
use crate::classify::ClassifyArgs;
use crate::contract::ContractCommand;
use crate::doctor::DoctorArgs;
use crate::findings::FindingsArgs;
use crate::gateway::GatewayCommand;
use crate::init::InitArgs;
use crate::keys_command::KeysCommand;
use crate::ledger::{LedgerCommand, StatementArgs};
use crate::man_pages::ManPagesArgs;
use crate::manifest::ManifestCommand;
use crate::notice::NoticeCommand;
use crate::order::OrderCommand;
use crate::partner::{PartnerCommand, ReviewCommand};
#[cfg(feature = "author")]
use crate::plugin::PluginCommand;
use crate::profile::ProfileCommand;
use crate::receipt::ReceiptCommand;
use crate::report::ReportCommand;
use crate::search::SearchArgs;
use crate::store_command::StoreCommand;
use crate::user::UserCommand;
use intent_gateway_config::{Config, ConfigError, Overrides};
use intent_gateway_sandbox::CompileLimits;

/// Routes an assistant's requests by intent to partner businesses, under hot-loaded contracts.
#[derive(Debug, Parser)]
#[command(
    name = "intent-gateway",
    version,
    after_help = "Commands that ask a gateway take its address and a token from --gateway and --token, from --profile, \
        from the environment (INTENT_GATEWAY_URL, INTENT_GATEWAY_TOKEN, or a partner's INTENT_GATEWAY_CLIENT_ID and \
        INTENT_GATEWAY_CLIENT_SECRET), or from the default profile: docs/command-line.md\n\
        Settings of `serve` come from the defaults, then the file, then the environment \
        (INTENT_GATEWAY__SERVER__LISTEN and so on), then the flags: docs/configuration.md"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve until SIGTERM or Ctrl-C, then finish what is under way.
    #[command(after_help = "Examples:\n  intent-gateway serve --config gateway.toml\n  \
        intent-gateway serve --listen 127.0.0.1:0 --contracts-dir contracts --allow-loopback-partners")]
    Serve(ServeArgs),
    /// Write a configuration to begin with, with keys of its own; no file is written over.
    #[command(
        after_help = "The keys are beside it, in a folder of its name (`gateway.keys`), readable by their owner alone.\n\n\
        Examples:\n  intent-gateway init\n  intent-gateway init /etc/intent-gateway/gateway.toml"
    )]
    Init(InitArgs),
    /// Print a bearer token signed with the configured key.
    #[command(
        after_help = "Without `auth.signing_key` the key is the one in the state folder, which `serve` makes when it \
        first starts. Where there is none, `token` makes none unless told.\n\n\
        Examples:\n  intent-gateway token --role admin\n  \
        curl -H \"Authorization: Bearer $(intent-gateway token --role orchestrator)\" \
        http://127.0.0.1:8080/api/v1/intents\n  \
        intent-gateway token --role partner --subject ptr_0123456789abcdef --ttl 15m"
    )]
    Token(TokenArgs),
    /// Look at the configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Look at everything that a gateway needs, and say what is wrong and what to do.
    #[command(
        after_help = "It looks at the configuration, keys, files, disks, store, clock, contracts, partners, issuers of tokens, registries, \
        mail server, and at the gateway that runs. It sends no mail and calls no tool. Each finding has a code: docs/doctor.md\n\n\
        Exit codes: 0 there is no problem, 1 there is one, 2 the configuration cannot be used.\n\n\
        Examples:\n  intent-gateway doctor --config gateway.toml\n  \
        intent-gateway doctor --config gateway.toml --offline --json"
    )]
    Doctor(DoctorArgs),
    /// Write contracts: scaffold, build, check, test, bench, look at them.
    #[cfg(feature = "author")]
    #[command(subcommand)]
    Plugin(PluginCommand),
    /// The author's commands are in another build. Kept to say so.
    #[cfg(not(feature = "author"))]
    #[command(hide = true, disable_help_flag = true)]
    Plugin(ElsewhereArgs),
    /// Check and submit a partner's manifest.
    #[command(subcommand)]
    Manifest(ManifestCommand),
    /// Look at partners; probe, test, switch on, suspend their connections.
    #[command(subcommand)]
    Partner(PartnerCommand),
    /// Decide what waits for the platform team.
    #[command(subcommand)]
    Review(ReviewCommand),
    /// Decide what somebody else of the platform team has asked for and nobody could undo.
    #[command(subcommand)]
    Approval(ApprovalCommand),
    /// Tell partners ahead of what will change.
    #[command(subcommand)]
    Notice(NoticeCommand),
    /// Look at the gateways that share a store.
    #[command(subcommand)]
    Gateway(GatewayCommand),
    /// Look at the contracts of a running gateway; load, activate, roll back, retire them.
    #[command(subcommand)]
    Contract(ContractCommand),
    /// Tell which intent an utterance is, and which words say so.
    #[command(after_help = "Example:\n  intent-gateway classify \"my car's AC blows warm air\"")]
    Classify(ClassifyArgs),
    /// Search: ask the partners, and show what they offer, best first; what was dropped and why; who did not answer.
    #[command(
        after_help = "Exit codes: 0 the search was made, whether there are options or not, 1 it was refused or failed; \
        with --best-reference also where there is no option.\n\n\
        Examples:\n  intent-gateway search auto.book_ac_service --sample\n  \
        intent-gateway search auto.book_ac_service --request request.json --user user-17\n  \
        intent-gateway search auto.book_ac_service --request - --json | jq '.options[].card'"
    )]
    Search(SearchArgs),
    /// Call a tool by the reference of an option or of a booking: book, follow, cancel.
    #[command(
        after_help = "Examples:\n  intent-gateway call create_ac_service_booking opt_auto.book_ac_service.Qx7 --arguments booking.json\n  \
        intent-gateway call cancel_ac_service_booking bkg_auto.book_ac_service.Zk2 --arguments '{\"reason\": \"found_better\"}' --user user-17"
    )]
    Call(CallArgs),
    /// Look at orders: what was ordered, how far it is, what happened to it.
    #[command(subcommand)]
    Order(OrderCommand),
    /// Export or erase what is kept of one of your users.
    #[command(subcommand)]
    User(UserCommand),
    /// Show what was found in a partner's answers and completion reports, newest first.
    #[command(after_help = "Example:\n  intent-gateway findings ptr_0123456789abcdef")]
    Findings(FindingsArgs),
    /// Show what a partner owes for a month; without a month, which months there are.
    #[command(
        after_help = "A partner sees its own, by its token or credentials; the platform team names the partner. With --config \
        the statement is drawn up out of the store of that configuration.\n\n\
        Examples:\n  intent-gateway statement\n  intent-gateway statement 2026-05\n  \
        intent-gateway statement 2026-05 --partner ptr_0123456789abcdef --format html\n  \
        intent-gateway statement 2026-05 --partner ptr_0123456789abcdef --format csv --config gateway.toml"
    )]
    Statement(StatementArgs),
    /// Sign completion reports, and check signatures of them.
    #[command(subcommand)]
    Report(ReportCommand),
    /// Read the commission ledger, and verify that every entry of it holds.
    #[command(subcommand)]
    Ledger(LedgerCommand),
    /// Look into rankings: what was ranked, how it came out, and whether it still does.
    #[command(subcommand)]
    Receipt(ReceiptCommand),
    /// Back up, restore and check the store.
    #[command(subcommand)]
    Store(StoreCommand),
    /// Look at the gateway's own keys, and rotate them.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Read the audit log, and verify that nobody has changed it.
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Look at the file of profiles: gateways by name, each with what is shown to it.
    #[command(subcommand)]
    Profile(ProfileCommand),
    /// Print a script by which a shell completes these commands.
    #[command(after_help = "Examples:\n  \
        intent-gateway shell-completions bash > ~/.local/share/bash-completion/completions/intent-gateway\n  \
        intent-gateway shell-completions fish > ~/.config/fish/completions/intent-gateway.fish")]
    ShellCompletions(ShellArgs),
    /// Write the help of these commands as pages for `man`.
    #[command(after_help = "Example:\n  intent-gateway man-pages /usr/local/share/man/man1")]
    ManPages(ManPagesArgs),
    /// Compile a component from standard input to standard output; the gateway starts it so for each component.
    #[command(name = COMPILE_CONTRACT, hide = true)]
    CompileContract(CompileArgs),
    /// Was renamed. Kept to say so, since the word means two things.
    #[command(hide = true, disable_help_flag = true)]
    Completion(ElsewhereArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ShellArgs {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: Shell,
}

/// The command that compiles, as the gateway starts it.
pub(crate) const COMPILE_CONTRACT: &str = "compile-contract";

#[derive(Args, Debug)]
pub(crate) struct CompileArgs {
    /// Address space, bytes.
    memory_max_bytes: u64,
    /// Time of a processor, seconds.
    cpu_max_seconds: u64,
}

impl CompileArgs {
    pub(crate) fn limits(&self) -> CompileLimits {
        let &Self { memory_max_bytes, cpu_max_seconds } = self;
        CompileLimits { memory_max_bytes, cpu_max_seconds }
    }
}

#[derive(Args, Debug)]
pub(crate) struct ElsewhereArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _rest: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Check the configuration and print what is in force, secrets redacted.
    #[command(after_help = "Example:\n  intent-gateway config check --config gateway.toml")]
    Check(FileArg),
    /// Print a JSON Schema of the configuration file: every key, its type, its default and what it means.
    #[command(
        after_help = "Editors with support for TOML take it, for example by a first line `#:schema ./gateway.schema.json` in the file.\n\n\
        Example:\n  intent-gateway config schema > gateway.schema.json"
    )]
    Schema,
}

/// The configuration file.
const CONFIG: &str = "INTENT_GATEWAY_CONFIG";

/// Where the configuration is.
#[derive(Args, Clone, Debug)]
pub(crate) struct FileArg {
    /// Configuration file (TOML); without one, the defaults hold [env: INTENT_GATEWAY_CONFIG].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder for keys, loaded contracts and their compiled forms.
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

impl FileArg {
    /// The configuration file that is named.
    fn path(&self) -> Option<PathBuf> {
        self.config.clone().or_else(configured)
    }

    fn is_on_command_line(&self) -> bool {
        self.config.is_some() || self.state_dir.is_some()
    }
}

/// The configuration file that the environment names.
fn configured() -> Option<PathBuf> {
    std::env::var_os(CONFIG).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// What a command reads that works as well without a gateway: a gateway's answers, or the store of a configuration.
#[derive(Args, Debug)]
pub(crate) struct SourceArgs {
    #[command(flatten)]
    file: FileArg,
    #[command(flatten)]
    gateway: GatewayArgs,
}

impl SourceArgs {
    /// The gateway to ask; none where the store of a configuration is to be opened. What is named on the command line
    /// comes before what the environment names, and that before a profile that is only there.
    pub(crate) fn gateway(&self) -> Option<&GatewayArgs> {
        let asks = if self.gateway.is_on_command_line() {
            true
        } else if self.file.is_on_command_line() {
            false
        } else if self.gateway.is_named() {
            true
        } else {
            configured().is_none() && has_default_profile()
        };
        asks.then_some(&self.gateway)
    }
}

#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    file: FileArg,
    /// Address to listen on; port 0 takes a free one.
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// Folder that is watched for contracts (*.wasm).
    #[arg(long, value_name = "DIR")]
    contracts_dir: Option<PathBuf>,
    /// Permit partners on loopback addresses, over plain HTTP too. For development only.
    #[arg(long)]
    allow_loopback_partners: bool,
    /// Log directives, for example `info` or `info,intent_gateway_http::access=debug`.
    #[arg(long, value_name = "DIRECTIVES")]
    log_level: Option<String>,
    /// Log as JSON, one object a line.
    #[arg(long)]
    json: bool,
    /// Begin anew although something shows that there was a store here: its loss is meant. Once, then without it.
    #[arg(long)]
    pub(crate) first_start: bool,
}

/// What `serve` is told that is not a setting.
pub struct ServeOptions {
    /// The loss of the store is meant.
    pub first_start: bool,
    /// Reads the configuration as it was read for the start: the file as it is by then, with the same environment and flags.
    pub read_again: ReadConfig,
}

/// Reads a configuration.
pub type ReadConfig = Box<dyn Fn() -> Result<Config, ConfigError> + Send + Sync>;

#[derive(Args, Debug)]
pub(crate) struct TokenArgs {
    #[command(flatten)]
    file: FileArg,
    /// What the bearer may do.
    #[arg(long, value_enum)]
    pub(crate) role: RoleArg,
    /// Whom the token is for: a partner's account, or the name under which an admin's doings are recorded.
    #[arg(long, default_value = "developer", value_parser = parse_subject)]
    pub(crate) subject: String,
    /// Which part of the platform team's work an admin's token opens; several are set off by commas. Without it, everything.
    #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',', value_parser = parse_scope)]
    pub(crate) scopes: Vec<Scope>,
    /// How long it lives: a number and `s`, `m`, `h` or `d`. Without it an hour, or as long as `auth.token_life_max_s` allows, where
    /// that is less.
    #[arg(long, value_parser = parse_ttl)]
    pub(crate) ttl: Option<Duration>,
    /// Make a development key where the state folder has none.
    #[arg(long)]
    pub(crate) create_key: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RoleArg {
    /// Runs the account that `--subject` names.
    Partner,
    /// Lists intents, classifies, searches.
    Orchestrator,
    /// All of that, and runs the platform.
    Admin,
}

impl From<RoleArg> for Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::Partner => Self::Partner,
            RoleArg::Orchestrator => Self::Orchestrator,
            RoleArg::Admin => Self::Admin,
        }
    }
}

impl Command {
    pub(crate) fn config_file(&self) -> Option<PathBuf> {
        self.file().and_then(FileArg::path)
    }

    /// What the flags set.
    pub(crate) fn overrides(&self) -> Overrides {
        let mut overrides = Overrides::default();
        if let Some(state_dir) = self.file().and_then(|file| file.state_dir.as_ref()) {
            overrides.set("state_dir", state_dir);
        }
        if let Self::Serve(serve) = self {
            if let Some(listen) = serve.listen {
                overrides.set("server.listen", listen);
            }
            if let Some(dir) = &serve.contracts_dir {
                overrides.set("contracts.dir", dir);
            }
            if serve.allow_loopback_partners {
                overrides.set("partner_client.allow_loopback_http", true);
            }
            if let Some(level) = &serve.log_level {
                overrides.set("log.level", level);
            }
            if serve.json {
                overrides.set("log.format", "json");
            }
        }
        overrides
    }

    /// None for the commands that have nothing to do with a gateway's configuration.
    fn file(&self) -> Option<&FileArg> {
        fn of_store(source: &SourceArgs) -> Option<&FileArg> {
            source.gateway().is_none().then_some(&source.file)
        }
        match self {
            Self::Serve(serve) => Some(&serve.file),
            Self::Doctor(doctor) => Some(&doctor.file),
            Self::Token(token) => Some(&token.file),
            Self::Config(ConfigCommand::Check(file)) => Some(file),
            Self::Store(command) => Some(command.file()),
            Self::Keys(command) => Some(command.file()),
            Self::Audit(command) => of_store(command.source()),
            Self::Ledger(command) => of_store(command.source()),
            Self::Statement(arguments) => of_store(&arguments.source),
            Self::Init(_)
            | Self::Plugin(_)
            | Self::Manifest(_)
            | Self::Partner(_)
            | Self::Review(_)
            | Self::Approval(_)
            | Self::Notice(_)
            | Self::Gateway(_)
            | Self::Contract(_)
            | Self::Classify(_)
            | Self::Search(_)
            | Self::Call(_)
            | Self::User(_)
            | Self::Findings(_)
            | Self::Report(_)
            | Self::Receipt(_)
            | Self::Profile(_)
            | Self::ManPages(_)
            | Self::ShellCompletions(_)
            | Self::Order(_)
            | Self::CompileContract(_)
            | Self::Completion(_)
            | Self::Config(ConfigCommand::Schema) => None,
        }
    }
}

/// Seconds in each unit that a life may be given in.
const TTL_UNITS: [(char, u64); 4] = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400)];

fn parse_ttl(text: &str) -> Result<Duration, String> {
    let expected = || "expected a number and a unit: `90s`, `15m`, `1h`, `7d`".to_owned();
    let split = |(unit, seconds)| text.strip_suffix(unit).map(|number| (number, seconds));
    let (number, seconds) = TTL_UNITS.into_iter().find_map(split).ok_or_else(expected)?;
    let number: u64 = number.parse().map_err(|_| expected())?;
    let whole = number.checked_mul(seconds).ok_or_else(expected)?;
    if (1..=TTL_MAX_SECONDS).contains(&whole) {
        Ok(Duration::from_secs(whole))
    } else {
        Err(format!("expected 1 s to {} days", TTL_MAX_SECONDS / 86_400))
    }
}

fn parse_scope(text: &str) -> Result<Scope, String> {
    Scope::parse(text).ok_or_else(|| format!("expected one of {}", Scope::EVERY.map(Scope::as_str).join(", ")))
}

fn parse_subject(text: &str) -> Result<String, String> {
    let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
    if visible && (1..=SUBJECT_MAX_CHARS).contains(&text.len()) {
        Ok(text.to_owned())
    } else {
        Err(format!("expected 1 to {SUBJECT_MAX_CHARS} visible ASCII characters"))
    }
}

#[cfg(test)]
mod tests;
