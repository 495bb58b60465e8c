//! Rankings: found by their request, or by intent, time and partner; each explained from its receipt.

mod compare;
mod receipt;
mod under;
mod weights;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::{get, post};
use http::StatusCode;
use intent_gateway_api::evidence::{RankingList, RankingReceipts, RankingSummary};
use intent_gateway_api::intents::IntentList;
use intent_gateway_domain::datetime::instant_ms;

use crate::Console;
use crate::api::{segment, with_query};
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, show_with};
use crate::view::{Chip, Ident, Moment, Tone};
use crate::visitor::{Fields, Team};

const PLACE: &str = "/console/rankings";
const RECEIPTS_API: &str = "/api/v1/admin/receipts";

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/console/rankings", get(find_rankings))
        .route("/console/rankings/{receipt}", get(receipt::show_ranking))
        .route("/console/rankings/{receipt}/replay", post(receipt::replay_ranking).get(receipt::lead_to_ranking))
}

#[derive(Template)]
#[template(path = "team/rankings.html")]
struct RankingsPage {
    frame: Frame,
    /// What was looked for; empty where nothing was.
    request_id: String,
    receipts: Vec<String>,
    asked: Asked,
    /// Intents to choose from.
    intents: Vec<String>,
    /// Of the intent that is asked for.
    rankings: Vec<RankingSummary>,
    /// Address of the next page.
    next: Option<String>,
    problem: Option<Problem>,
}

/// Which rankings of an intent are asked for, as the address says it.
#[derive(Default)]
struct Asked {
    intent: String,
    partner: String,
    since: String,
    until: String,
    before: String,
}

impl Asked {
    fn of(fields: &Fields) -> Self {
        let [intent, partner, since, until, before] =
            ["intent", "partner", "since", "until", "before"].map(|name| fields.text(name).to_owned());
        Self { intent, partner, since, until, before }
    }

    /// The page that begins there.
    fn page(&self, before: &str) -> String {
        let Self { intent, partner, since, until, before: _ } = self;
        with_query(
            PLACE,
            &[("intent", intent), ("partner", partner), ("since", since), ("until", until), ("before", before)],
        )
    }

    /// What the API is asked.
    fn address(&self) -> String {
        let (since, until) = (in_ms(&self.since), in_ms(&self.until));
        let path = format!("/api/v1/admin/intents/{}/rankings", segment(&self.intent));
        let parts =
            [("partner", self.partner.as_str()), ("since_ms", &since), ("until_ms", &until), ("before", &self.before)];
        with_query(&path, &parts)
    }
}

/// A moment of a form, in UTC, in milliseconds; what is none is passed on, and refused.
fn in_ms(text: &str) -> String {
    // A browser writes a moment to the minute, or to the second where that is not 0.
    let whole = [format!("{text}Z"), format!("{text}:00Z")];
    whole.iter().find_map(|whole| instant_ms(whole)).map_or_else(|| text.to_owned(), |ms| ms.to_string())
}

impl RankingsPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        match (self.request_id.is_empty(), self.receipts.len()) {
            _ if self.problem.is_some() => "Nothing was looked for.".to_owned(),
            (true, _) if self.asked.intent.is_empty() => {
                "Why was this option first, and that one not shown?".to_owned()
            }
            (true, _) => match (self.rankings.len(), self.next.is_some()) {
                (0, true) => "None among those that were looked through. The next page goes on.".to_owned(),
                (0, false) => "No such ranking is kept.".to_owned(),
                (1, false) if self.asked.before.is_empty() => "One ranking is kept.".to_owned(),
                (shown, false) if self.asked.before.is_empty() => format!("{shown} rankings, the newest first."),
                (shown, _) => format!("{shown} rankings on this page, the newest first."),
            },
            (false, 0) => "No receipt of this request is kept.".to_owned(),
            (false, 1) => "One ranking of this request is kept.".to_owned(),
            (false, count) => format!("{count} rankings of this request are kept, the newest first."),
        }
    }

    fn first(&self) -> String {
        self.asked.page("")
    }
}

/// What was taken out, in a shape and words; nothing where nothing was.
fn dropped_chip(ranking: &RankingSummary) -> Option<Chip> {
    match (ranking.dropped, ranking.strikes) {
        (0, _) => None,
        (dropped, 0) => Some(Chip::new(Tone::Care, format!("{dropped} taken out"))),
        (dropped, strikes) => Some(Chip::new(Tone::Bad, format!("{dropped} taken out, {strikes} for a strike"))),
    }
}

async fn find_rankings(RawQuery(query): RawQuery, Team(visitor): Team) -> Result<Response, Failed> {
    let fields = Fields::parse(query.unwrap_or_default().as_bytes());
    let request_id = fields.text("request_id").to_owned();
    // Whoever has the identifier of what they want to see has no request to look it up by.
    if request_id.starts_with("rank_") {
        return Ok(lead_to(&format!("{PLACE}/{}", segment(&request_id))));
    }
    if request_id.starts_with("ord_") {
        return Ok(lead_to(&format!("/console/orders/{}", segment(&request_id))));
    }
    let catalogue = visitor.api.get_if_allowed::<IntentList>("/api/v1/intents").await?;
    let intents = catalogue.map(|catalogue| catalogue.intents).unwrap_or_default();
    let mut page = RankingsPage {
        frame: visitor.frame(PLACE, "Rankings"),
        request_id,
        receipts: Vec::new(),
        asked: Asked::of(&fields),
        intents: intents.into_iter().map(|intent| intent.intent.to_string()).collect(),
        rankings: Vec::new(),
        next: None,
        problem: None,
    };
    if !page.request_id.is_empty() {
        let address = with_query(RECEIPTS_API, &[("request_id", &page.request_id)]);
        match visitor.api.get::<RankingReceipts>(&address).await {
            Ok(found) => page.receipts = found.receipts,
            Err(error) => page.problem = Some(Problem::of_refusal(error)?),
        }
        page.frame = page.frame.json(address);
    } else if !page.asked.intent.is_empty() {
        let address = page.asked.address();
        match visitor.api.get::<RankingList>(&address).await {
            Ok(found) => {
                page.next = found.next.map(|next| page.asked.page(&next.to_string()));
                page.rankings = found.rankings;
            }
            Err(error) => page.problem = Some(Problem::of_refusal(error)?),
        }
        page.frame = page.frame.json(address);
    }
    let status = page.problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    Ok(show_with(status, &page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_forms_are_in_utc() {
        assert_eq!(in_ms("1970-01-02T00:00"), "86400000");
        assert_eq!(in_ms("1970-01-02T00:00:01"), "86401000");
        assert_eq!([in_ms(""), in_ms("yesterday")], ["", "yesterday"]);
    }

    #[test]
    fn an_address_says_what_is_asked_for() {
        let asked = Asked::of(&Fields::parse(b"intent=auto.fix&partner=a%26b&since=1970-01-02T00%3A00&before=9"));
        assert_eq!(
            asked.page("7"),
            "/console/rankings?intent=auto.fix&partner=a%26b&since=1970-01-02T00%3A00&before=7"
        );
        assert_eq!(asked.address(), "/api/v1/admin/intents/auto.fix/rankings?partner=a%26b&since_ms=86400000&before=9");
    }
}
