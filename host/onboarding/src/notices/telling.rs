//! Tells partners of notices.

use super::desk::{Notices, concerns, read_offered};
use super::record::{Notice, NoticeStage, OPEN, Telling};
use crate::OnboardingError;
use crate::events::{EventData, PartnerEvent, Word, event_id};
use crate::mail_texts;
use crate::records::Account;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, List, Pages, StoreError, load, page};

/// Accounts that are gone through between two notes of how far it has come.
const PAGE: u32 = 100;

/// How far a stage has come with a page of accounts.
struct Step<'a> {
    stage: NoticeStage,
    /// The last account of the pages before.
    before: Option<&'a str>,
    /// That of this one.
    last: Option<PartnerId>,
    told: u64,
    is_end: bool,
}

impl Notices {
    /// Tells everything that is due of all notices; how many partners were told something. Safe to run on several gateways at once, and to
    /// end in the middle: what was told is not told again.
    ///
    /// # Errors
    /// [`OnboardingError::Store`]; what is untold is told with the next look.
    pub async fn tell(&self) -> Result<u64, OnboardingError> {
        let (mut told, mut open) = (0, Pages::<Notice>::of(Some(OPEN)));
        while let Some(notices) = open.next(&*self.keeper.store).await? {
            for notice in notices {
                told += self.tell_one(&notice.value.id).await?;
            }
        }
        Ok(told)
    }

    /// Tells what is due of one notice.
    async fn tell_one(&self, id: &str) -> Result<u64, OnboardingError> {
        let mut told = 0;
        loop {
            let notice = self.get(id).await?;
            let Some(place) = notice.due_telling(self.keeper.now()) else { return Ok(told) };
            told += self.tell_page(&notice, place).await?;
        }
    }

    /// Goes through the next accounts, and notes it.
    async fn tell_page(&self, notice: &Notice, place: usize) -> Result<u64, OnboardingError> {
        let telling = &notice.tellings[place];
        let after = telling.after.as_ref().map(PartnerId::as_str);
        let accounts = page::<Account>(&*self.keeper.store, List { status: None, after, limit: PAGE }).await?;
        let mut told = 0;
        for account in accounts.iter().map(|kept| &kept.value.id) {
            match self.tell_partner(notice, place, account).await {
                Ok(is_news) => told += u64::from(is_news),
                // One whose records cannot be read keeps nobody else from being told.
                Err(OnboardingError::Store(error @ StoreError::Corrupt(..))) => {
                    tracing::warn!(partner = %account, error = %chain(&error), "a partner could not be told of a notice");
                }
                Err(error) => return Err(error),
            }
        }
        let last = accounts.last().map(|kept| kept.value.id.clone());
        let step = Step { stage: telling.stage, before: after, last, told, is_end: accounts.len() < PAGE as usize };
        self.note(&notice.id, step).await?;
        Ok(told)
    }

    /// Notes how far a stage has come, unless somebody else has noted it or the stage was called off.
    async fn note(&self, id: &str, step: Step<'_>) -> Result<(), OnboardingError> {
        self.keeper
            .step(async || {
                let mut kept = self.keeper.require::<Notice>(id, "notice").await?;
                let telling = kept.value.tellings.iter_mut().find(|telling| telling.stage == step.stage);
                let is_as_read = |telling: &&mut Telling| {
                    telling.ended_at_ms.is_none() && telling.after.as_ref().map(PartnerId::as_str) == step.before
                };
                let Some(telling) = telling.filter(is_as_read) else { return Ok(Proposal::nothing(())) };
                telling.after = step.last.clone().or(telling.after.take());
                telling.told += step.told;
                telling.ended_at_ms = step.is_end.then(|| self.keeper.now());
                let mut change = Change::default();
                change.put(&kept);
                Ok(Proposal::new(change, ()))
            })
            .await
    }

    /// Whether a partner was told now.
    async fn tell_partner(&self, notice: &Notice, place: usize, partner: &PartnerId) -> Result<bool, OnboardingError> {
        let keeper = &self.keeper;
        let telling = &notice.tellings[place];
        // One name for each partner, notice and stage, so that nobody is told twice.
        let name = |stage: NoticeStage, due_at| {
            let mark = Digest::of(format!("{partner}/{}/{}", notice.id, stage.as_str()).as_bytes()).to_string();
            event_id(due_at, &mark[..16])
        };
        let id = name(telling.stage, telling.due_at_ms);
        let needed = notice.find_cut_publication().filter(|_| telling.stage == NoticeStage::Withdrawn);
        let needed = needed.map(|published_at| name(NoticeStage::Published, published_at));
        keeper
            .step(async || {
                let owner = load::<Account>(&*keeper.store, partner.as_str()).await?;
                let is_told = load::<PartnerEvent>(&*keeper.store, &id).await?.is_some();
                let Some(owner) = owner.filter(|_| !is_told) else { return Ok(Proposal::nothing(false)) };
                // Nobody is told that something is off of which it has never heard.
                if let Some(needed) = &needed
                    && load::<PartnerEvent>(&*keeper.store, needed).await?.is_none()
                {
                    return Ok(Proposal::nothing(false));
                }
                if !notice.intents.is_empty() && !concerns(notice, &read_offered(keeper, partner).await?) {
                    return Ok(Proposal::nothing(false));
                }
                let (subject, text) = mail_texts::notice(&owner.value.business_name, notice, telling.stage);
                let word = Word { subject: &subject, text, event: EventData::notice(notice, telling.stage) };
                let mut change = Change::default();
                keeper.tell_as(id.clone(), &owner.value, word, &mut change)?;
                Ok(Proposal::new(change, true))
            })
            .await
    }
}
