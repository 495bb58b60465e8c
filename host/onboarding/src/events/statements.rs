//! Tells partners that the statement of a month is ready: once, some days after the month has ended, when late reports are in.

use std::sync::Arc;

use super::Word;
use super::record::{PartnerEvent, event_id};
use super::told::EventData;
use crate::OnboardingError;
use crate::keeper::RecordKeeper;
use crate::mail_texts;
use crate::records::Account;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::delivered::Deliveries;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, load};

/// Days after the end of a month from which on its statement counts as ready.
const READY_AFTER_DAYS: i8 = 2;
/// Partners that are looked at in one go.
const PAGE: u32 = 500;
/// Indian Standard Time, by which months are.
const IST_AHEAD_SECONDS: i32 = (5 * 60 + 30) * 60;

/// Tells of statements.
pub struct StatementNews {
    pub(crate) keeper: RecordKeeper,
    /// Who has entries.
    pub(crate) books: Arc<dyn Deliveries>,
}

/// A month whose statement is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ReadyMonth {
    /// As `2026-05`.
    name: String,
    /// When the month after it began.
    ended_at: Timestamp,
}

/// The month before that of `now`, once it counts as ready.
fn ready_month(now: Timestamp) -> Option<ReadyMonth> {
    let ist = jiff::tz::TimeZone::fixed(jiff::tz::Offset::from_seconds(IST_AHEAD_SECONDS).ok()?);
    let today = now.to_jiff()?.to_zoned(ist.clone()).date();
    if today.day() <= READY_AFTER_DAYS {
        return None;
    }
    let first = today.first_of_month();
    let before = first.yesterday().ok()?;
    let ended = first.to_zoned(ist).ok()?.timestamp().as_millisecond();
    let name = format!("{:04}-{:02}", before.year(), before.month());
    Some(ReadyMonth { name, ended_at: Timestamp::from_ms(u64::try_from(ended).ok()?) })
}

impl StatementNews {
    /// Tells all partners that have entries in the month before this one and were not told yet; how many were told. Safe to run on several
    /// gateways at once.
    ///
    /// # Errors
    /// [`OnboardingError::Store`] when the ledger cannot be read.
    pub async fn tell(&self) -> Result<usize, OnboardingError> {
        let Some(month) = ready_month(self.keeper.now()) else { return Ok(0) };
        let (mut told, mut after) = (0, None::<PartnerId>);
        loop {
            let partners = self.books.partners_of_month(&month.name, after.as_ref(), PAGE).await?;
            for partner in &partners {
                match self.tell_one(partner, &month).await {
                    Ok(is_news) => told += usize::from(is_news),
                    // One whose records cannot be read keeps nobody else from being told.
                    Err(error) => {
                        tracing::warn!(%partner, error = %chain(&error), "a partner could not be told of its statement");
                    }
                }
            }
            let is_last = partners.len() < PAGE as usize;
            after = partners.into_iter().next_back();
            if is_last {
                return Ok(told);
            }
        }
    }

    /// Whether it was told now.
    async fn tell_one(&self, partner: &PartnerId, month: &ReadyMonth) -> Result<bool, OnboardingError> {
        let keeper = &self.keeper;
        // One name for each partner and month, so that nobody is told twice.
        let mark = Digest::of(format!("{partner}/{}", month.name).as_bytes()).to_string();
        let id = event_id(month.ended_at, &mark[..16]);
        keeper
            .step(async || {
                let owner = load::<Account>(&*keeper.store, partner.as_str()).await?;
                let is_told = load::<PartnerEvent>(&*keeper.store, &id).await?.is_some();
                let Some(owner) = owner.filter(|_| !is_told) else { return Ok(Proposal::nothing(false)) };
                let text = mail_texts::statement(&owner.value.business_name, &month.name);
                let event = EventData::StatementReady { month: month.name.clone() };
                let mut change = Change::default();
                let word = Word { subject: "Your statement is ready", text, event };
                keeper.tell_as(id.clone(), &owner.value, word, &mut change)?;
                Ok(Proposal::new(change, true))
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        let at: jiff::Timestamp = text.parse().expect("a time");
        Timestamp::from_ms(u64::try_from(at.as_millisecond()).expect("after 1970"))
    }

    #[test]
    fn a_month_is_ready_from_its_third_day_after_on_by_indian_time() {
        assert_eq!(ready_month(at("2026-06-02T18:29:59Z")), None, "the second day still");
        let ready = ready_month(at("2026-06-02T18:30:00Z")).expect("the third day there");
        assert_eq!((ready.name.as_str(), ready.ended_at), ("2026-05", at("2026-05-31T18:30:00Z")));
        assert_eq!(ready_month(at("2027-01-15T00:00:00Z")).expect("ready").name, "2026-12");
    }
}
