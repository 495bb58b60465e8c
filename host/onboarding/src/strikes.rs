//! Partners' health in service: its changes in the audit log, and the suspension of whoever has broken one rule three
//! times (spec 1, Forbidden fields; spec 2, Rules that must hold).
//!
//! Strikes are findings that were kept, of searches, calls and completion reports alike. Every process reads those that
//! are new, whichever process has found them, and tells [`Health`], which counts. So each of them comes to the same
//! judgement within moments of the others; the first to commit suspends, and the others find it done.
//!
//! The partner is told of each incident by mail, once, whichever process is the first: which rule, where, and what it sent.
//! An incident that suspends is told with the suspension.
//!
//! A lifted suspension is a pardon: what happened until then does not count again, neither in a process that runs on nor
//! in one that starts anew and reads all of it once more.
//!
//! Not here: the judgement itself (`health`), and what is a strike, which host and contracts say
//! ([`findings`](intent_gateway_domain::findings)).

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde_json::json;

use super::keeper::RecordKeeper;
use super::live::LivePartners;
use super::mail_texts::StrikeNotice;
use super::records::{Account, Connection, ToldStrike};
use super::{OnboardingError, mail_texts};
use crate::connection::ConnectionState;
use crate::connections::Suspending;
use crate::events::{EventData, Word};
use intent_gateway_domain::audit::{Actor, AuditDraft};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::findings::{DAY_MS, Finding, FindingQuery, KeptFinding, Severity, Source};
use intent_gateway_domain::health::{HealthChange, HealthEvent, STRIKE_WINDOW_MS, StrikeCounter, Strikes};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::plain_text::misleads;
use intent_gateway_domain::ports::{Evidence, HealthLog};
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, all, load};
use intent_gateway_domain::telemetry;

/// Strikes read in one go.
const STRIKES_READ: u32 = 500;
/// Characters of a rule's code in the reason of a suspension; contracts have named it.
const CODE_SHOWN_MAX_CHARS: usize = 60;
/// Characters of each incident in it; partners and orchestrators have named them. The audit log holds them whole.
const INCIDENT_SHOWN_MAX_CHARS: usize = 80;

/// Strikes of one code that are read to tell the partner of them: the latest.
const STRIKES_TOLD_OF: u32 = 100;
/// Incidents that one mail tells of, at most; the findings hold them all.
const TOLD_AT_ONCE_MAX: usize = 5;
/// Incidents that a partner was told of and that are remembered, at most.
const TOLD_MAX: usize = 64;
/// How old a strike may be that is still news, milliseconds: older ones were told, or nobody was there to tell them.
const NEWS_MAX_AGE_MS: u64 = DAY_MS;
/// Incidents that wait to be told, at most.
const NEWS_MAX: usize = 1_000;

/// How far a process has read the strikes, and who is struck out and not suspended yet.
#[derive(Debug, Default)]
pub struct StrikeWatch {
    /// Number of the last finding that was told.
    last: u64,
    /// At most as many as partners are followed.
    out: BTreeMap<PartnerId, HealthEvent>,
    /// What partners are to be told: one finding for each incident of a rule.
    news: BTreeMap<PartnerId, BTreeMap<(String, String), Finding>>,
}

impl StrikeWatch {
    /// Remembers an incident that its partner is to be told of.
    fn note(&mut self, finding: Finding, now: Timestamp) {
        let is_news = now.ms_since(finding.at_ms) <= NEWS_MAX_AGE_MS;
        if is_news && self.news.values().map(BTreeMap::len).sum::<usize>() < NEWS_MAX {
            let key = (finding.violation.code.clone(), incident(&finding).to_owned());
            self.news.entry(finding.partner.clone()).or_default().entry(key).or_insert(finding);
        }
    }
}

/// A strike that the platform team has seen to itself: no answer and no report shows it.
#[derive(Clone, Debug)]
pub struct StrikeOrder {
    /// The intent that the rule belongs to.
    pub intent: IntentId,
    /// Code of the rule.
    pub code: String,
    /// The partner's identifier of the order that it concerns.
    pub external_id: String,
    /// What was seen.
    pub reason: String,
}

/// The outcome of an attempt to suspend.
enum Attempt {
    Suspended,
    /// It gets no requests. Should it go live again, it is tried again.
    NotLive,
    /// The incidents are from before a suspension that was lifted at this time.
    Pardoned(Timestamp),
    /// It has no connection that could be suspended.
    NoConnection,
}

/// What partners' health in service leads to.
pub struct StrikeDesk {
    pub(crate) keeper: RecordKeeper,
    pub(crate) live: Arc<LivePartners>,
    /// `{base_url}` of the platform, where partners look for more.
    pub(crate) base_url: String,
}

impl StrikeDesk {
    /// Puts changes of partners' health into the audit log.
    ///
    /// # Errors
    /// [`OnboardingError::Store`]; then none of them is there.
    pub async fn record_health(&self, events: &[HealthEvent]) -> Result<(), OnboardingError> {
        self.keeper
            .step(async || {
                let change = Change { audit: events.iter().map(entry).collect(), ..Change::default() };
                Ok(Proposal::new(change, ()))
            })
            .await
    }

    /// Puts a strike of the platform team's own into the audit log, and hands over the finding that makes it count.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn record_strike(
        &self,
        partner: &PartnerId,
        order: &StrikeOrder,
        actor: &Actor,
    ) -> Result<Finding, OnboardingError> {
        let StrikeOrder { intent, code, external_id, reason } = order;
        self.keeper
            .step(async || {
                let detail = json!({"intent": intent, "code": code, "external_id": external_id, "reason": reason});
                let audit = vec![self.keeper.audit_entry(actor, "partner.strike_recorded", partner, detail)];
                Ok(Proposal::new(Change { audit, ..Change::default() }, ()))
            })
            .await?;
        let violation = Violation { pointer: String::new(), code: code.clone(), message: reason.clone() };
        Ok(Finding {
            at_ms: self.keeper.now(),
            partner: partner.clone(),
            intent: intent.to_string(),
            // Nobody has told which request the order came from.
            request_id: String::new(),
            source: Some(Source::Team),
            option_place: None,
            option_id: None,
            external_id: Some(external_id.clone()),
            severity: Severity::Strike,
            violation,
            excerpt: None,
        })
    }

    /// Tells the health of all partners what was found before this process started: pardons first, then the strikes that
    /// may still count. Nobody is suspended yet.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn recall(
        &self,
        evidence: &dyn Evidence,
        health: &dyn StrikeCounter,
        watch: &mut StrikeWatch,
    ) -> Result<(), OnboardingError> {
        let since = self.keeper.now().minus_ms(STRIKE_WINDOW_MS);
        for kept in all::<Connection>(&*self.keeper.store, None).await? {
            let Connection { account, pardoned_at_ms, .. } = kept.value;
            if let Some(until) = pardoned_at_ms.filter(|until| *until >= since) {
                health.pardon(&account, until);
            }
        }
        self.tell_strikes(evidence, health, watch).await
    }

    /// Tells the health of all partners the strikes that are new, suspends whoever is struck out by them, and tells the
    /// others what was found. One of the configuration cannot be suspended: that is told to the log.
    ///
    /// # Errors
    /// [`OnboardingError::Store`] when new strikes could not be read. Somebody who could not be suspended or told is no
    /// error of the others': it is logged, and tried again with the next call.
    pub async fn follow(
        &self,
        evidence: &dyn Evidence,
        health: &dyn StrikeCounter,
        watch: &mut StrikeWatch,
        log: &dyn HealthLog,
    ) -> Result<(), OnboardingError> {
        self.tell_strikes(evidence, health, watch).await?;
        let directory = self.live.directory();
        let due: Vec<HealthEvent> =
            watch.out.values().filter(|event| directory.find(&event.partner).is_some()).cloned().collect();
        for event in due {
            let partner = &event.partner;
            if self.live.is_configured(partner) {
                tracing::error!(%partner, "a partner of the configuration is struck out; only the configuration can take it out");
                watch.out.remove(partner);
                log.note_change(event);
                continue;
            }
            let attempt = match self.suspend_struck_out(evidence, &event).await {
                Ok(attempt) => attempt,
                // One whose records cannot be read keeps nobody else from being suspended.
                Err(error) => {
                    tracing::error!(%partner, error = %chain(&error), "struck out, and could not be suspended; tried again");
                    continue;
                }
            };
            match attempt {
                Attempt::Suspended => {
                    telemetry::health_changed(&event);
                    tracing::warn!(%partner, change = %detail(&event), "struck out: the partner was suspended");
                    self.live.apply_change().await;
                }
                Attempt::NotLive => {}
                Attempt::Pardoned(until) => {
                    health.pardon(partner, until);
                    watch.out.remove(partner);
                }
                Attempt::NoConnection => drop(watch.out.remove(partner)),
            }
        }
        self.tell_partners(evidence, watch).await;
        Ok(())
    }

    /// Tells partners by mail of the strikes that are new to them.
    async fn tell_partners(&self, evidence: &dyn Evidence, watch: &mut StrikeWatch) {
        for (partner, news) in std::mem::take(&mut watch.news) {
            let news: Vec<Finding> = news.into_values().collect();
            if let Err(error) = self.tell_partner(evidence, &partner, &news).await {
                tracing::error!(%partner, error = %chain(&error), "a partner could not be told of strikes; tried again");
                for finding in news {
                    watch.note(finding, self.keeper.now());
                }
            }
        }
    }

    /// Tells one partner of those strikes that nobody has told it of. One that is suspended is told no more: what led to
    /// that stood in the mail about it.
    async fn tell_partner(
        &self,
        evidence: &dyn Evidence,
        partner: &PartnerId,
        news: &[Finding],
    ) -> Result<(), OnboardingError> {
        let mut held: BTreeMap<&str, Vec<Finding>> = BTreeMap::new();
        for Finding { violation, .. } in news {
            if let Entry::Vacant(place) = held.entry(&violation.code) {
                place.insert(self.incidents(evidence, partner, &violation.code).await?);
            }
        }
        self.keeper
            .step(async || {
                let kept = load::<Connection>(&*self.keeper.store, partner.as_str()).await?;
                let Some(mut kept) = kept.filter(|kept| kept.value.state != ConnectionState::Suspended) else {
                    return Ok(Proposal::nothing(()));
                };
                let new = kept.value.take_untold(news);
                if new.is_empty() {
                    return Ok(Proposal::nothing(()));
                }
                let owner = self.keeper.require::<Account>(partner.as_str(), "account").await?.value;
                let told: Vec<ToldStrike> = new.iter().map(|finding| ToldStrike::of(finding)).collect();
                let more = new.len().saturating_sub(TOLD_AT_ONCE_MAX);
                let notices: Vec<StrikeNotice<'_>> = new
                    .into_iter()
                    .take(TOLD_AT_ONCE_MAX)
                    .map(|finding| {
                        let held = held.get(finding.violation.code.as_str()).into_iter().flatten();
                        let incidents = held.filter(|held| kept.value.holds_against(held)).count().max(1);
                        StrikeNotice { finding, incidents }
                    })
                    .collect();
                let text = mail_texts::strikes(&owner.business_name, partner, &self.base_url, &notices, more);
                let mut change = Change::default();
                let event = EventData::strikes(&notices, more);
                self.keeper.tell(&owner, Word { subject: "A strike was recorded", text, event }, &mut change)?;
                let detail = json!({"strikes": told});
                change.audit.push(self.keeper.audit_entry(&Actor::gateway(), "partner.strike_told", partner, detail));
                change.put(&kept);
                Ok(Proposal::new(change, ()))
            })
            .await
    }

    /// The incidents of one rule that still count, one finding each, the latest first.
    async fn incidents(
        &self,
        evidence: &dyn Evidence,
        partner: &PartnerId,
        code: &str,
    ) -> Result<Vec<Finding>, OnboardingError> {
        let since = self.keeper.now().minus_ms(STRIKE_WINDOW_MS);
        let strikes = FindingQuery {
            severity: Some(Severity::Strike),
            code: Some(code),
            ..FindingQuery::all(partner.as_str(), None, STRIKES_TOLD_OF)
        };
        let found = evidence.findings(strikes).await?.into_iter().map(|kept| kept.finding);
        let mut seen = HashSet::new();
        Ok(found.filter(|finding| finding.at_ms >= since && seen.insert(incident(finding).to_owned())).collect())
    }

    /// Has partners' health follow what was decided about the partners: whoever is not routed any more begins anew when
    /// it comes back, and a suspension that was lifted, here or elsewhere, is a pardon.
    ///
    /// # Errors
    /// [`OnboardingError::Store`].
    pub async fn settle(&self, health: &dyn StrikeCounter) -> Result<(), OnboardingError> {
        let routed: HashSet<PartnerId> =
            self.live.directory().all().into_iter().map(|partner| partner.id.clone()).collect();
        health.forget_calls(&|partner| routed.contains(partner));
        for partner in health.struck() {
            let kept = load::<Connection>(&*self.keeper.store, partner.as_str()).await?;
            if let Some(until) = kept.and_then(|kept| kept.value.pardoned_at_ms) {
                health.pardon(&partner, until);
            }
        }
        Ok(())
    }

    async fn tell_strikes(
        &self,
        evidence: &dyn Evidence,
        health: &dyn StrikeCounter,
        watch: &mut StrikeWatch,
    ) -> Result<(), OnboardingError> {
        // Ends: each page begins behind the one before, and fewer come in than are read.
        loop {
            let since = self.keeper.now().minus_ms(STRIKE_WINDOW_MS);
            let page = evidence.strikes(watch.last, since, STRIKES_READ).await?;
            let is_last = page.len() < STRIKES_READ as usize;
            for KeptFinding { number, finding } in page {
                let out = health.strike(&finding.partner, &finding.violation.code, incident(&finding), finding.at_ms);
                watch.out.extend(out.map(|event| (finding.partner.clone(), event)));
                watch.note(finding, self.keeper.now());
                watch.last = number;
            }
            if is_last {
                return Ok(());
            }
        }
    }

    async fn suspend_struck_out(
        &self,
        evidence: &dyn Evidence,
        event: &HealthEvent,
    ) -> Result<Attempt, OnboardingError> {
        let HealthEvent { partner, change: HealthChange::StruckOut(strikes), .. } = event else {
            return Ok(Attempt::NoConnection);
        };
        let mut incidents = self.incidents(evidence, partner, &strikes.code).await?;
        incidents.retain(|finding| strikes.incidents.iter().any(|counted| counted.id == incident(finding)));
        incidents.reverse();
        self.keeper
            .step(async || {
                let Some(mut kept) = load::<Connection>(&*self.keeper.store, partner.as_str()).await? else {
                    return Ok(Proposal::nothing(Attempt::NoConnection));
                };
                let Connection { pardoned_at_ms, state, .. } = &kept.value;
                if let Some(until) = pardoned_at_ms
                    && strikes.incidents.iter().any(|incident| incident.at_ms <= *until)
                {
                    return Ok(Proposal::nothing(Attempt::Pardoned(*until)));
                }
                if *state != ConnectionState::Live {
                    return Ok(Proposal::nothing(Attempt::NotLive));
                }
                let mut change = Change { audit: vec![entry(event)], ..Change::default() };
                let why = Suspending { reason: reason(strikes), incidents: &incidents, base_url: &self.base_url };
                self.keeper.suspend(&mut kept, why, &Actor::gateway(), &mut change).await?;
                Ok(Proposal::new(change, Attempt::Suspended))
            })
            .await
    }
}

impl Connection {
    /// Whether what was found counts against the partner still.
    fn holds_against(&self, finding: &Finding) -> bool {
        self.pardoned_at_ms.is_none_or(|until| finding.at_ms > until)
    }

    /// The strikes that the partner was not told of; from here on it was.
    fn take_untold<'a>(&mut self, news: &'a [Finding]) -> Vec<&'a Finding> {
        let is_new =
            |finding: &&Finding| self.holds_against(finding) && !self.told_strikes.contains(&ToldStrike::of(finding));
        let new: Vec<&Finding> = news.iter().filter(is_new).collect();
        self.told_strikes.extend(new.iter().map(|finding| ToldStrike::of(finding)));
        let surplus = self.told_strikes.len().saturating_sub(TOLD_MAX);
        self.told_strikes.drain(..surplus);
        new
    }
}

impl ToldStrike {
    fn of(finding: &Finding) -> Self {
        Self { code: finding.violation.code.clone(), incident: incident(finding).to_owned() }
    }
}

/// What a strike counts as an incident of: an order comes from one request; of two orders of one request, each is one.
fn incident(finding: &Finding) -> &str {
    finding.external_id.as_deref().unwrap_or(&finding.request_id)
}

/// A change of a partner's health as the audit log has it.
fn entry(event: &HealthEvent) -> AuditDraft {
    AuditDraft {
        at_ms: event.at_ms,
        actor: Actor::gateway(),
        action: event.action().to_owned(),
        subject: event.partner.to_string(),
        detail: detail(event),
    }
}

/// The numbers of a change.
fn detail(event: &HealthEvent) -> serde_json::Value {
    serde_json::to_value(&event.change).unwrap_or_else(|error| chain(&error).into())
}

/// What the partner is told.
fn reason(Strikes { code, incidents }: &Strikes) -> String {
    let cut = |text: &str, max| text.chars().filter(|c| !misleads(*c)).take(max).collect::<String>();
    let ids: Vec<String> = incidents.iter().map(|incident| cut(&incident.id, INCIDENT_SHOWN_MAX_CHARS)).collect();
    let (code, times) = (cut(code, CODE_SHOWN_MAX_CHARS), incidents.len());
    format!("{code}: {times} incidents within 90 days, in the requests or orders {}", ids.join(", "))
}
