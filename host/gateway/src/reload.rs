//! SIGHUP: the configuration is read again, and what can take effect while the gateway serves does. What has changed is in the log,
//! what waits for a restart as well. A configuration that cannot be used changes nothing.

use std::sync::Arc;

use anyhow::Context as _;
use arc_swap::ArcSwap;
use intent_gateway_cli::ReadConfig;
use intent_gateway_config::{Config, Difference, MissingKey, PartnerEntry, SigningKeys, find_differences, settings};
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::signing_keys::SigningKeys as _;
use intent_gateway_http::auth::Tokens;
use intent_gateway_http::auth::issuers::Issuers;
use intent_gateway_http::tls::ListenerTls;
use intent_gateway_http::{LiveRates, Setting};
use intent_gateway_ledger::completion::intake::Intake;
use intent_gateway_ledger::completion::keyring::KeyRing;
use intent_gateway_onboarding::LivePartners;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::telemetry::LogLevel;
use crate::{certificate, issuer_keys};

/// The partners of a configuration, as requests are routed to them.
pub(crate) fn read_configured_partners(config: &Config) -> Vec<Arc<Partner>> {
    config.partners.iter().cloned().map(|entry| Arc::new(Partner::from(entry))).collect()
}

/// What can be set anew.
pub(crate) struct Reloadable {
    pub(crate) level: LogLevel,
    pub(crate) partners: Arc<LivePartners>,
    pub(crate) report_keys: Arc<KeyRing>,
    pub(crate) issuers: Arc<Issuers>,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) rates: Arc<LiveRates>,
    pub(crate) intake: Arc<Intake>,
    /// What the API tells of the configuration in force.
    pub(crate) settings: Arc<ArcSwap<Vec<Setting>>>,
    pub(crate) clock: Arc<dyn Clock>,
    /// What the listeners show, where they serve over TLS.
    pub(crate) tls: Option<Arc<ListenerTls>>,
}

/// Reads the configuration again whenever it is asked to.
pub(crate) struct Reload {
    pub(crate) read: ReadConfig,
    /// In force, and so not always what was read last.
    pub(crate) config: Config,
    pub(crate) parts: Reloadable,
}

impl Reload {
    /// Waits for SIGHUP, as `asked` tells of it, until `stop` is cancelled.
    pub(crate) async fn keep(mut self, asked: Arc<Notify>, stop: CancellationToken) {
        while stop.run_until_cancelled(asked.notified()).await.is_some() {
            if let Err(error) = self.run().await {
                tracing::error!(error = format!("{error:#}"), "SIGHUP: nothing was changed");
            }
        }
    }

    async fn run(&mut self) -> anyhow::Result<()> {
        let read = (self.read)().context("the configuration cannot be used")?;
        read.secret_files.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        let next = self.config.reload(&read);
        let (taken, left) = (find_differences(&self.config, &next)?, find_differences(&next, &read)?);
        self.apply(&next).await?;
        // Whoever has just renewed a certificate need not wait for the next look. One that cannot be used is told, and holds nothing up.
        if let Some(tls) = &self.parts.tls {
            let _ = certificate::read_again(tls);
        }
        self.config = next;
        for Difference { setting, before, after } in &taken {
            tracing::info!(setting, before, after, "SIGHUP: a setting has changed");
        }
        for Difference { setting, before, after } in &left {
            tracing::warn!(setting, before, after, "SIGHUP: a setting waits for a restart");
        }
        tracing::info!(changed = taken.len(), waiting = left.len(), "SIGHUP: the configuration was read");
        Ok(())
    }

    /// Puts a configuration in force. What may fail comes first.
    async fn apply(&self, next: &Config) -> anyhow::Result<()> {
        let Reloadable { level, issuers, tokens, rates, intake, settings: told, clock, .. } = &self.parts;
        let shown = settings(next)?;
        let keys = SigningKeys::of(next, MissingKey::Refuse)?;
        // Without the store neither the partners nor their keys can be put together.
        if let Err(error) = self.route(next).await {
            // Those of before count again; what cannot be read now is read when the store is there.
            let _ = self.route(&self.config).await;
            return Err(error);
        }
        level.set(&next.log.level)?;
        issuer_keys::replace(issuers, next, clock)?;
        keys.replace_in(tokens)?;
        rates.replace(next.server.rates(&next.quotas));
        intake.reports.replace(next.quotas.reports_per_minute);
        told.store(Arc::new(shown));
        Ok(())
    }

    /// Routes to the partners of a configuration, and takes reports under their keys.
    async fn route(&self, config: &Config) -> anyhow::Result<()> {
        let Reloadable { partners, report_keys, .. } = &self.parts;
        report_keys.replace_configured(config.partners.iter().filter_map(PartnerEntry::signing_key));
        partners.replace_configured(read_configured_partners(config));
        report_keys.refresh().await.context("the signing keys cannot be read")?;
        partners.refresh().await.context("the partners cannot be read")?;
        Ok(())
    }
}
