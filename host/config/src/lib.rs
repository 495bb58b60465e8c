//! The configuration: one struct per component, from defaults, file, environment and flags.
//!
//! Everything is checked at start, and every problem is told at once. Units are in the names of the keys; each key
//! is described in `docs/configuration.md`, which a test holds against this module.

mod anchors;
mod console;
mod environment;
mod exposure;
mod fleet;
mod init;
mod issuers;
mod keys;
mod layers;
mod linking;
mod load;
mod log;
mod marker;
mod open;
mod partners;
mod paths;
mod platform;
mod quotas;
mod reload;
mod rotation;
mod schema;
mod search;
mod secret_files;
mod server;
mod settings;
mod show;
mod sources;
mod streams;
mod telemetry;
#[cfg(test)]
mod tests;
mod writable;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::user::Orchestrator;
use intent_gateway_http::auth::{KEY_MIN_BYTES, TokenRules};
use intent_gateway_mail::MailConfig;
use intent_gateway_partners::PartnerClientConfig;
use intent_gateway_registry::Source;
use intent_gateway_sandbox::SandboxConfig;
use intent_gateway_signing::{IntentPattern, PublicKey, TrustPolicy, TrustedKey};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

pub use self::anchors::{AnchorsSection, anchor_keys, append_anchors, put_own_anchors_aside, read_anchors};
pub use self::console::{ConsoleSection, SignInBearer, TeamSignIn};
pub use self::fleet::FleetSection;
pub use self::init::{InitError, init};
pub use self::issuers::IssuerEntry;
pub use self::keys::{KeyError, Keys, MissingKey, SigningKeys};
pub use self::linking::LinkingSection;
pub use self::load::{ConfigError, Overrides, load};
pub use self::log::{LogFormat, LogSection, log_filter};
pub use self::open::{look_outside, open_store, open_to_restore, start_on_store};
pub use self::partners::PartnerEntry;
pub use self::platform::{EvidenceSection, OrdersSection, OutboundSection, PlatformSection, StoreSection};
pub use self::quotas::QuotasSection;
pub use self::reload::{Difference, find_differences};
pub use self::rotation::{KeyName, KeyView, RotateError, list_keys, rotate_key};
pub use self::schema::make_schema;
pub use self::search::SearchSection;
pub use self::secret_files::SecretFiles;
pub use self::server::ServerSection;
pub use self::settings::{Origins, settings};
pub use self::show::show;
pub use self::sources::SourceSection;
pub use self::streams::StreamsSection;
pub use self::telemetry::TelemetrySection;
pub use self::writable::{NotWritable, check_writable};

/// Longest time that a setting of the server may name, milliseconds: an hour.
const WAIT_MAX_MS: u64 = 60 * 60 * 1_000;
/// Most connections or requests that may be set.
const COUNT_MAX: usize = 1_000_000;
/// Bounds of `auth.token_life_max_s`, seconds: a minute, and a leap year.
const TOKEN_LIFE_S: RangeInclusive<u64> = 60..=366 * 24 * 60 * 60;
/// What stands in place of a secret.
const REDACTED: &str = "(redacted)";

/// Everything that can be set.
#[derive(Clone, Debug)]
pub struct Config {
    /// Keys in development, loaded contracts, their compiled forms.
    pub state_dir: PathBuf,
    pub server: ServerSection,
    pub quotas: QuotasSection,
    pub auth: AuthSection,
    pub platform: PlatformSection,
    pub store: StoreSection,
    pub anchors: AnchorsSection,
    pub fleet: FleetSection,
    pub evidence: EvidenceSection,
    pub orders: OrdersSection,
    pub outbound: OutboundSection,
    pub linking: LinkingSection,
    pub mail: MailConfig,
    pub contracts: ContractsSection,
    pub search: SearchSection,
    pub streams: StreamsSection,
    pub console: ConsoleSection,
    pub sandbox: SandboxConfig,
    pub partner_client: PartnerClientConfig,
    pub log: LogSection,
    pub telemetry: TelemetrySection,
    pub partners: Vec<PartnerEntry>,
    /// Where secrets were read from; no setting itself.
    pub secret_files: SecretFiles,
    /// Where settings were given; no setting itself.
    pub origins: Origins,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            state_dir: PathBuf::from(paths::STATE_DIR_DEFAULT),
            server: ServerSection::default(),
            quotas: QuotasSection::default(),
            auth: AuthSection::default(),
            platform: PlatformSection::default(),
            store: StoreSection::default(),
            anchors: AnchorsSection::default(),
            fleet: FleetSection::default(),
            evidence: EvidenceSection::default(),
            orders: OrdersSection::default(),
            outbound: OutboundSection::default(),
            linking: LinkingSection::default(),
            mail: MailConfig::default(),
            contracts: ContractsSection::default(),
            search: SearchSection::default(),
            streams: StreamsSection::default(),
            console: ConsoleSection::default(),
            sandbox: SandboxConfig::default(),
            partner_client: PartnerClientConfig::default(),
            log: LogSection::default(),
            telemetry: TelemetrySection::default(),
            partners: Vec::new(),
            secret_files: SecretFiles::default(),
            origins: Origins::default(),
        }
    }
}

/// Keys and tokens.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuthSection {
    /// Signs and accepts tokens.
    #[serde(serialize_with = "redact")]
    #[schemars(with = "Option<String>")]
    pub signing_key: Option<Secret>,
    /// Accepted besides, during a rotation.
    #[serde(serialize_with = "all_redacted")]
    #[schemars(with = "Vec<String>")]
    pub(crate) previous_signing_keys: Vec<Secret>,
    /// Seals option references.
    #[serde(serialize_with = "redact")]
    #[schemars(with = "Option<String>")]
    pub(crate) reference_key: Option<Secret>,
    /// Open what was sealed before a rotation.
    #[serde(serialize_with = "all_redacted")]
    #[schemars(with = "Vec<String>")]
    pub(crate) previous_reference_keys: Vec<Secret>,
    /// Seals secrets in the store.
    #[serde(serialize_with = "redact")]
    #[schemars(with = "Option<String>")]
    pub master_key: Option<Secret>,
    /// Open what was sealed before a rotation.
    #[serde(serialize_with = "all_redacted")]
    #[schemars(with = "Vec<String>")]
    pub(crate) previous_master_keys: Vec<Secret>,
    /// Audience of tokens.
    pub audience: String,
    /// Whose tokens are accepted besides.
    pub issuers: Vec<IssuerEntry>,
    /// Whether an admin's token must name its scopes.
    pub(crate) scope_required: bool,
    /// Whether what an admin cannot undo waits for a second person.
    pub second_person: bool,
    /// Longest life of an admin's or an orchestrator's token.
    token_life_max_s: Option<u64>,
    /// Whose users those are that were kept under a pseudonym alone.
    pub(crate) unassigned_users: Option<OrchestratorEntry>,
}

/// An orchestrator, by the claims of its token.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OrchestratorEntry {
    /// Issuer of its tokens; the gateway's own where it is absent.
    #[serde(default = "own_issuer")]
    issuer: String,
    /// Subject of its tokens.
    orchestrator: String,
}

fn own_issuer() -> String {
    intent_gateway_http::auth::ISSUER.to_owned()
}

impl AuthSection {
    /// What is asked of all tokens.
    pub fn token_rules(&self) -> TokenRules {
        let life_max = self.token_life_max_s.map_or(Duration::MAX, Duration::from_secs);
        TokenRules { scope_required: self.scope_required, life_max }
    }

    /// The orchestrator to whose users belongs what was kept under a pseudonym alone.
    pub fn unassigned_users_of(&self) -> Option<Orchestrator> {
        let OrchestratorEntry { issuer, orchestrator } = self.unassigned_users.clone()?;
        Some(Orchestrator::new(issuer, orchestrator).with_unassigned())
    }
}

impl Default for AuthSection {
    fn default() -> Self {
        Self {
            signing_key: None,
            previous_signing_keys: Vec::new(),
            reference_key: None,
            previous_reference_keys: Vec::new(),
            master_key: None,
            previous_master_keys: Vec::new(),
            audience: "intent-gateway".to_owned(),
            issuers: Vec::new(),
            scope_required: false,
            second_person: false,
            token_life_max_s: None,
            unassigned_users: None,
        }
    }
}

fn redact<S: Serializer>(secret: &Option<Secret>, serializer: S) -> Result<S::Ok, S::Error> {
    secret.as_ref().map(|_| REDACTED).serialize(serializer)
}

fn all_redacted<S: Serializer>(secrets: &[Secret], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(secrets.iter().map(|_| REDACTED))
}

impl AuthSection {
    fn check(&self, allow_loopback_http: bool, problems: &mut Vec<String>) {
        let keys = [
            ("signing_key", self.signing_key.as_ref()),
            ("reference_key", self.reference_key.as_ref()),
            ("master_key", self.master_key.as_ref()),
        ];
        let previous = self.previous_signing_keys.iter().map(|key| ("previous_signing_keys", Some(key)));
        let references = self.previous_reference_keys.iter().map(|key| ("previous_reference_keys", Some(key)));
        let masters = self.previous_master_keys.iter().map(|key| ("previous_master_keys", Some(key)));
        for (name, key) in keys.into_iter().chain(previous).chain(references).chain(masters) {
            let Some(bytes) = key.map(|key| key.expose().len()) else { continue };
            if bytes < KEY_MIN_BYTES {
                problems.push(format!(
                    "`auth.{name}` has {bytes} bytes; at least {KEY_MIN_BYTES} are needed (make one with \
                     `openssl rand -hex 32`)"
                ));
            }
        }
        if self.signing_key.is_none() && !self.previous_signing_keys.is_empty() {
            problems.push("`auth.previous_signing_keys` needs a new `auth.signing_key` beside it".to_owned());
        }
        if self.master_key.is_none() && !self.previous_master_keys.is_empty() {
            problems.push("`auth.previous_master_keys` needs a new `auth.master_key` beside it".to_owned());
        }
        if self.reference_key.is_none() && !self.previous_reference_keys.is_empty() {
            problems.push("`auth.previous_reference_keys` needs a new `auth.reference_key` beside it".to_owned());
        }
        if self.audience.is_empty() {
            problems.push("`auth.audience` is empty".to_owned());
        }
        if let Some(value) = self.token_life_max_s.filter(|value| !TOKEN_LIFE_S.contains(value)) {
            let (least, most) = (TOKEN_LIFE_S.start(), TOKEN_LIFE_S.end());
            problems.push(format!("`auth.token_life_max_s` is {value}; expected {least} to {most}"));
        }
        issuers::check(&self.issuers, allow_loopback_http, problems);
    }
}

/// Where contracts come from.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContractsSection {
    /// Folder that is watched for `*.wasm`.
    pub dir: Option<PathBuf>,
    /// For how long a gateway that cannot read the catalogue serves what it last heard is to serve.
    max_stale_minutes: u64,
    /// Whether components are taken only if a trusted key has signed them.
    require_signature: bool,
    /// Keys whose signatures are trusted.
    trusted_keys: Vec<TrustedKeySection>,
    /// Registries and layouts that are followed.
    sources: Vec<SourceSection>,
    /// Time between two looks at them.
    sources_poll_seconds: u64,
}

/// A key whose signatures are trusted.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedKeySection {
    /// How people call it.
    name: String,
    #[schemars(with = "String")]
    public_key: PublicKey,
    /// What it may sign, for example `auto.*`; everything where it names nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    intents: Vec<IntentPattern>,
    /// The first day on which what it has signed may be loaded, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    from: Option<Day>,
    /// The last day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    until: Option<Day>,
}

/// Most minutes of `contracts.max_stale_minutes`: a week.
const MAX_STALE_MAX_MINUTES: u64 = 7 * 24 * 60;

impl Default for ContractsSection {
    fn default() -> Self {
        Self {
            dir: None,
            max_stale_minutes: 60,
            require_signature: false,
            trusted_keys: Vec::new(),
            sources: Vec::new(),
            sources_poll_seconds: 60,
        }
    }
}

impl ContractsSection {
    /// For how long a gateway that cannot read the catalogue serves on, milliseconds.
    #[must_use]
    pub fn max_stale_ms(&self) -> u64 {
        self.max_stale_minutes * 60_000
    }

    /// The sources that are followed.
    ///
    /// # Errors
    /// What is wrong with one; not after the check.
    pub fn sources(&self) -> Result<Vec<Source>, String> {
        self.sources.iter().map(SourceSection::source).collect()
    }

    /// Time between two looks at them.
    #[must_use]
    pub fn sources_poll(&self) -> Duration {
        Duration::from_secs(self.sources_poll_seconds)
    }

    /// Whose components are taken.
    #[must_use]
    pub fn trust(&self) -> TrustPolicy {
        let trusted = |key: &TrustedKeySection| TrustedKey {
            name: key.name.clone(),
            key: key.public_key,
            intents: key.intents.clone(),
            from: key.from.and_then(|day| start_of(day.0)),
            until: key.until.and_then(|day| start_of(day.0.tomorrow().ok()?)),
        };
        TrustPolicy {
            keys: self.trusted_keys.iter().map(trusted).collect(),
            requires_signature: self.require_signature,
        }
    }

    fn check(&self, problems: &mut Vec<String>) {
        for (at, key) in self.trusted_keys.iter().enumerate() {
            let others = &self.trusted_keys[..at];
            if key.name.is_empty() || others.iter().any(|other| other.name == key.name) {
                problems.push(format!("`contracts.trusted_keys` names `{}` twice, or not at all", key.name));
            }
            if others.iter().any(|other| other.public_key == key.public_key) {
                problems.push(format!("`contracts.trusted_keys` has the key of `{}` twice", key.name));
            }
            if key.from.zip(key.until).is_some_and(|(from, until)| from > until) {
                problems.push(format!("`contracts.trusted_keys`: the key `{}` is valid on no day", key.name));
            }
        }
        if self.require_signature && self.trusted_keys.is_empty() {
            problems.push(
                "`contracts.require_signature` is true and no key is trusted; name one in `contracts.trusted_keys`"
                    .to_owned(),
            );
        }
        sources::check(&self.sources, self.sources_poll(), problems);
        if let Some(dir) = self.dir.as_ref().filter(|dir| !dir.is_dir()) {
            problems.push(format!("`contracts.dir` is `{}`, which is no folder; create it first", dir.display()));
        }
        if !(1..=MAX_STALE_MAX_MINUTES).contains(&self.max_stale_minutes) {
            let stale = self.max_stale_minutes;
            problems.push(format!("`contracts.max_stale_minutes` is {stale}; expected 1 to {MAX_STALE_MAX_MINUTES}"));
        }
    }
}

/// A day, `2026-12-31`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
struct Day(Date);

impl TryFrom<String> for Day {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| format!("`{text}` is no day such as `2026-12-31`"))
    }
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        day.0.to_string()
    }
}

/// When a day begins, UTC.
fn start_of(day: Date) -> Option<Timestamp> {
    let start = day.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond();
    Some(Timestamp::from_ms(u64::try_from(start).unwrap_or_default()))
}

impl Config {
    /// Every problem that the values have.
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.state_dir.as_os_str().is_empty() {
            problems.push("`state_dir` is empty".to_owned());
        }
        self.server.check(&mut problems);
        self.quotas.check(&mut problems);
        self.auth.check(self.partner_client.allow_loopback_http, &mut problems);
        self.platform.check(&mut problems);
        self.store.check(&mut problems);
        self.anchors.check(&mut problems);
        self.fleet.check(&mut problems);
        self.evidence.check(&self.orders, &mut problems);
        self.orders.check(&mut problems);
        self.linking.check(&mut problems);
        problems.extend(self.mail.validate().err().map(|error| format!("mail: {error}")));
        if self.store.is_shared() && (self.auth.master_key.is_none() || self.auth.signing_key.is_none()) {
            problems.push(
                "`store.url` is a PostgreSQL that others may share; set `auth.master_key` and `auth.signing_key`, the same \
                 for all of them"
                    .to_owned(),
            );
        }
        self.contracts.check(&mut problems);
        self.search.check(&self.server, &mut problems);
        self.streams.check(&self.server, &mut problems);
        self.console.check(&self.server, &self.auth.issuers, &mut problems);
        self.log.check(&mut problems);
        self.telemetry.check(&self.server, &mut problems);
        problems.extend(self.sandbox.validate().err().map(|error| error.to_string()));
        problems.extend(self.partner_client.validate().err().map(|error| format!("partner_client: {error}")));
        partners::check(&self.partners, self.partner_client.allow_loopback_http, &mut problems);
        problems
    }
}
