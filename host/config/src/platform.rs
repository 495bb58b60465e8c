//! `[platform]` and `[store]`: what the platform is called from outside, and where its records are.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::Path;

use intent_gateway_domain::growth::thinning::{AGES_MAX, ThinningRules, UnusedRule};
use intent_gateway_domain::growth::{DiskThresholds, ReceiptBounds, SEGMENT_MIN_BYTES, SEGMENTS_OF_A_BOUND};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::installation::InstallationId;
use intent_gateway_domain::money::Rate;
use intent_gateway_domain::secret::Secret;
use intent_gateway_onboarding::Settings;
use intent_gateway_onboarding::compliance::is_email_address;
use intent_gateway_store::Location;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the SQLite file in the state folder.
const STORE_FILE: &str = "gateway.db";
/// Longest time between two scheduled probes, hours: a month.
const REPROBE_MAX_HOURS: u64 = 31 * 24;
const MS_PER_HOUR: u64 = 60 * 60 * 1_000;

/// The platform as partners see it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlatformSection {
    /// Public address of the gateway; partners' completion addresses begin with it.
    pub base_url: String,
    /// Time between two scheduled probes of a live partner.
    pub(crate) reprobe_interval_hours: u64,
    /// The rate of the listing agreement, in hundredths of a per cent of `amount_inr`; the same for every business.
    pub(crate) commission_basis_points: u16,
    /// Where the platform team is told of what it has confirmed and what ends.
    pub(crate) team_email: Option<String>,
}

impl Default for PlatformSection {
    fn default() -> Self {
        Self {
            base_url: "http://localhost:8080".to_owned(),
            reprobe_interval_hours: 24,
            commission_basis_points: Rate::DEFAULT.basis_points(),
            team_email: None,
        }
    }
}

impl PlatformSection {
    pub fn settings(&self) -> Settings {
        Settings {
            base_url: self.base_url.trim_end_matches('/').to_owned(),
            reprobe_interval_ms: self.reprobe_interval_hours * MS_PER_HOUR,
            rate: self.rate(),
            team_email: self.team_email.clone(),
        }
    }

    /// The rate of the listing agreement. It was checked when the configuration was loaded.
    pub fn rate(&self) -> Rate {
        Rate::from_basis_points(self.commission_basis_points).unwrap_or_default()
    }

    pub(crate) fn check(&self, problems: &mut Vec<String>) {
        if let Err(error) = Rate::from_basis_points(self.commission_basis_points) {
            problems.push(format!("`platform.commission_basis_points`: {error}"));
        }
        if let Some(address) = self.team_email.as_ref().filter(|address| !is_email_address(address)) {
            problems
                .push(format!("`platform.team_email` is `{address}`; expected an e-mail address: `name@host.example`"));
        }
        let uri = self.base_url.parse::<http::Uri>().ok();
        let fits = |uri: &http::Uri| {
            matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some() && uri.query().is_none()
        };
        if !uri.as_ref().is_some_and(fits) {
            problems.push(format!("`platform.base_url` is `{}`; expected `https://host`", self.base_url));
        }
        if !(1..=REPROBE_MAX_HOURS).contains(&self.reprobe_interval_hours) {
            problems.push(format!(
                "`platform.reprobe_interval_hours` is {}; expected 1 to {REPROBE_MAX_HOURS}",
                self.reprobe_interval_hours
            ));
        }
    }
}

/// Longest time that findings and receipts may be kept, days: ten years.
const KEEP_MAX_DAYS: u64 = 10 * 366;
const MS_PER_DAY: u64 = 24 * MS_PER_HOUR;

/// What is kept of findings and rankings.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct EvidenceSection {
    /// How long; a completion report that comes later is compared with nothing.
    pub(crate) keep_days: u64,
    /// How much room receipts take; the oldest go first.
    pub(crate) receipts_max_bytes: u64,
    /// How many findings are kept; the oldest go first, but for strikes.
    pub findings_max: u64,
    /// Receipts are not kept while less is free on the disk of the store.
    pub(crate) receipts_free_min_bytes: u64,
    /// Findings of searches and calls are not kept while less is free there.
    pub(crate) findings_free_min_bytes: u64,
    /// How many of the receipts to which nothing points stay: one in so many; 0 for none.
    pub(crate) thin_receipts_to_one_in: Option<u64>,
    /// At which age the others go.
    pub(crate) thin_receipts_after_days: u64,
    /// What is kept of some intents for a shorter time.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, IntentEvidence>")]
    pub(crate) intents: BTreeMap<IntentId, IntentEvidence>,
}

/// What is kept of one intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IntentEvidence {
    /// How long receipts to which nothing points.
    pub(crate) receipts_keep_days: u64,
}

const GIB: u64 = 1024 * 1024 * 1024;
/// Bounds of `evidence.receipts_max_bytes`: a few segments, and more than a disk has.
const RECEIPTS_BYTES: RangeInclusive<u64> = SEGMENTS_OF_A_BOUND * SEGMENT_MIN_BYTES..=1 << 50;
/// Bounds of `evidence.thin_receipts_to_one_in`.
const ONE_IN: RangeInclusive<u64> = 0..=1_000_000;
/// Bounds of `evidence.findings_max`: those that a partner's list shows, and more than a disk has.
const FINDINGS: RangeInclusive<u64> = 10_000..=1_000_000_000;

impl Default for EvidenceSection {
    fn default() -> Self {
        Self {
            keep_days: 90,
            // Half of the smallest disk that is usual for a server: three million searches of one partner.
            receipts_max_bytes: 20 * GIB,
            // About two gigabytes.
            findings_max: 2_000_000,
            receipts_free_min_bytes: GIB,
            findings_free_min_bytes: GIB / 4,
            thin_receipts_to_one_in: None,
            // Reports about what was ordered elsewhere come within days.
            thin_receipts_after_days: 7,
            intents: BTreeMap::new(),
        }
    }
}

impl EvidenceSection {
    pub fn keep_ms(&self) -> u64 {
        self.keep_days * MS_PER_DAY
    }

    /// How many receipts are kept.
    pub fn bounds(&self) -> ReceiptBounds {
        ReceiptBounds { keep_ms: self.keep_ms(), max_bytes: self.receipts_max_bytes }
    }

    /// Which receipts go before their segment does.
    pub fn thinning(&self) -> ThinningRules {
        let after_ms = self.thin_receipts_after_days * MS_PER_DAY;
        let own = |(intent, own): (&IntentId, &IntentEvidence)| (intent.clone(), own.receipts_keep_days * MS_PER_DAY);
        ThinningRules {
            intents: self.intents.iter().map(own).collect(),
            unused: self.thin_receipts_to_one_in.map(|keep_one_in| UnusedRule { keep_one_in, after_ms }),
        }
    }

    /// What is not kept when the disk is nearly full.
    pub fn thresholds(&self) -> DiskThresholds {
        DiskThresholds { receipts: self.receipts_free_min_bytes, findings: self.findings_free_min_bytes }
    }

    pub(crate) fn check(&self, orders: &OrdersSection, problems: &mut Vec<String>) {
        let mut expect = |key: &str, found: u64, bounds: RangeInclusive<u64>| {
            if !bounds.contains(&found) {
                let (min, max) = bounds.into_inner();
                problems.push(format!("`evidence.{key}` is {found}; expected {min} to {max}"));
            }
        };
        expect("keep_days", self.keep_days, 1..=KEEP_MAX_DAYS);
        expect("thin_receipts_to_one_in", self.thin_receipts_to_one_in.unwrap_or_default(), ONE_IN);
        expect("thin_receipts_after_days", self.thin_receipts_after_days, 1..=KEEP_MAX_DAYS);
        for (intent, own) in &self.intents {
            let key = format!("intents.\"{}\".receipts_keep_days", intent.as_str());
            expect(&key, own.receipts_keep_days, 1..=self.keep_days);
        }
        expect("receipts_max_bytes", self.receipts_max_bytes, RECEIPTS_BYTES);
        expect("findings_max", self.findings_max, FINDINGS);
        if self.findings_free_min_bytes > self.receipts_free_min_bytes {
            problems.push(format!(
                "`evidence.findings_free_min_bytes` is {}; expected no more than `evidence.receipts_free_min_bytes`, which is {}: \
                 receipts are given up first",
                self.findings_free_min_bytes, self.receipts_free_min_bytes
            ));
        }
        let ages: BTreeSet<u64> = self.intents.values().map(|own| own.receipts_keep_days).collect();
        if ages.len() > AGES_MAX {
            problems.push(format!(
                "`evidence.intents` has {} different `receipts_keep_days`; expected {AGES_MAX} at most: all receipts are written \
                 anew for each",
                ages.len()
            ));
        }
        if !self.thinning().is_empty() && orders.keep_days < self.keep_days {
            problems.push(format!(
                "`orders.keep_days` is {}; expected no less than `evidence.keep_days`, which is {}: receipts are thinned, and those \
                 with an order are known by it",
                orders.keep_days, self.keep_days
            ));
        }
    }
}

/// Shortest time that closed orders may be kept, days: the month whose statements they belong to.
const KEEP_ORDERS_MIN_DAYS: u64 = 31;

/// What is kept of orders.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct OrdersSection {
    /// How long one that is closed, from its opening on.
    pub(crate) keep_days: u64,
}

impl Default for OrdersSection {
    fn default() -> Self {
        Self { keep_days: 400 }
    }
}

impl OrdersSection {
    pub fn keep_ms(&self) -> u64 {
        self.keep_days * MS_PER_DAY
    }

    pub(crate) fn check(&self, problems: &mut Vec<String>) {
        let bounds = KEEP_ORDERS_MIN_DAYS..=KEEP_MAX_DAYS;
        if !bounds.contains(&self.keep_days) {
            let (min, max) = bounds.into_inner();
            problems.push(format!("`orders.keep_days` is {}; expected {min} to {max}", self.keep_days));
        }
    }
}

/// The policies of calls to partners that can be switched off, for tests under load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutboundSection {
    /// The contracts' rates a tool, the users' own, and leaving a partner alone that asked to slow down.
    pub rate_limits: bool,
    /// Serving a partner's answer again, as long as the contract says.
    pub search_cache: bool,
}

impl Default for OutboundSection {
    fn default() -> Self {
        Self { rate_limits: true, search_cache: true }
    }
}

/// Where records are kept.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct StoreSection {
    /// `sqlite://PATH` or `postgres://...`; by default a SQLite file in the state folder.
    #[serde(serialize_with = "super::redact")]
    #[schemars(with = "Option<String>")]
    pub url: Option<Secret>,
    /// The identity that the store must have.
    #[schemars(with = "Option<String>")]
    pub installation_id: Option<InstallationId>,
}

impl StoreSection {
    /// Where the records are. The address was checked when the configuration was loaded.
    pub fn location(&self, state_dir: &Path) -> Result<Location, intent_gateway_store::OpenError> {
        match &self.url {
            Some(url) => Location::parse(url.expose()),
            None => Ok(Location::file(state_dir.join(STORE_FILE))),
        }
    }

    /// Whether several processes may share the records.
    pub(crate) fn is_shared(&self) -> bool {
        self.url.as_ref().is_some_and(|url| url.expose().starts_with("postgres"))
    }

    pub(crate) fn check(&self, problems: &mut Vec<String>) {
        if let Some(Err(error)) = self.url.as_ref().map(|url| Location::parse(url.expose())) {
            problems.push(format!("`store.url` cannot be used: {error}"));
        }
    }
}
