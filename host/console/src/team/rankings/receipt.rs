//! One ranking: its options in their order with what their ranks are made of, two of them compared, what was taken out, whether the
//! same comes out again, and what another version makes of it.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::{Path, RawQuery};
use axum::response::Response;
use http::{Method, StatusCode};
use intent_gateway_api::contracts::{LoadedVersion, LoadedVersions};
use intent_gateway_api::evidence::{RankingReplay, RankingUnder};
use intent_gateway_api::partners::PartnerList;
use intent_gateway_domain::contract::Ranking;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::receipt::{Receipt, ReceiptScore};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::compare::{Comparison, Side, compare};
use super::under::Under;
use super::weights::{AXES, Weights};
use super::{PLACE, RECEIPTS_API};
use crate::api::{ApiError, Outcome, segment, with_query};
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, show_with};
use crate::members::{Differing, find_differing};
use crate::notices::with_notice;
use crate::view::{AxisBar, Chip, Ident, Moment, Tone, share};
use crate::visitor::{Fields, Sent, Team, Visitor};

/// The component that ranked is revoked; it runs where somebody says why.
const CONTRACT_REVOKED: &str = "CONTRACT_REVOKED";

/// What a receipt has beside itself.
#[derive(Deserialize)]
struct Signed {
    #[serde(default)]
    signed_by: Vec<String>,
}

/// What the live contract of an intent says of its rankings.
#[derive(Deserialize)]
struct LiveContract {
    digest: Digest,
    version: String,
    ranking: Ranking,
}

/// An option that was shown.
struct Shown {
    /// From 1.
    rank: usize,
    number: u32,
    id: String,
    partner: String,
    partner_name: String,
    total: String,
    completeness: String,
    bar: Option<AxisBar>,
    /// Address of its comparison with the first, or of the first with the second.
    compared: Option<String>,
}

/// An option that was taken out.
struct Dropped {
    number: u32,
    partner: String,
    partner_name: String,
    codes: Vec<String>,
    strike: bool,
}

struct Past {
    status: String,
    closed: Moment,
    attributes: String,
}

/// Two options that were chosen.
struct Picked {
    first: u32,
    second: u32,
    first_name: String,
    second_name: String,
    comparison: Comparison,
    differing: Vec<Differing>,
    unshown: usize,
}

/// What came of a replay.
struct Replayed {
    same: bool,
    expected: String,
    found: Option<String>,
    /// Where the two part first, in words.
    parts: Option<String>,
    differing: Vec<Differing>,
}

#[derive(Template)]
#[template(path = "team/ranking.html")]
struct RankingPage {
    frame: Frame,
    receipt: Receipt,
    signed_by: Vec<String>,
    options: Vec<Shown>,
    picked: Option<Picked>,
    /// What is to be known of the weights.
    weighed: String,
    /// Of each option's number: the partner and its name.
    offered_by: BTreeMap<u32, (String, String)>,
    dropped: Vec<Dropped>,
    history: Vec<Past>,
    arguments: String,
    replayed: Option<Replayed>,
    /// What another version makes of it, where one was asked for.
    under: Option<Under>,
    /// The version that was asked for.
    asked_under: String,
    /// Versions to choose from; none where the visitor's token does not open them.
    versions: Option<Vec<LoadedVersion>>,
    problem: Option<Problem>,
}

impl RankingPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        let options = match self.options.len() {
            0 => "No option was shown".to_owned(),
            1 => "One option was shown".to_owned(),
            count => format!("{count} options were shown"),
        };
        match self.dropped.len() {
            0 => format!("{options}, and none was taken out."),
            1 => format!("{options}, and one was taken out."),
            count => format!("{options}, and {count} were taken out."),
        }
    }

    fn axes(&self) -> [&'static str; 4] {
        AXES.map(|(_, name)| name)
    }

    fn at(&self) -> Moment {
        Moment::of(self.receipt.at_ms)
    }

    fn bookable_until(&self) -> Option<Moment> {
        self.receipt.bookable_until_ms.map(Moment::of)
    }

    /// The columns of an option's parts.
    fn parts(&self) -> impl Iterator<Item = &'static str> {
        self.axes().into_iter().chain(["completeness"])
    }

    /// Whose option it is, by its number: the partner and its name.
    fn offers(&self, number: &u32) -> (&str, &str) {
        self.offered_by.get(number).map_or(("", ""), |(partner, name)| (partner.as_str(), name.as_str()))
    }

    fn needs_reason(&self) -> bool {
        self.problem.as_ref().is_some_and(|problem| problem.code == CONTRACT_REVOKED)
    }
}

/// Each option that the contract saw, by its number: who offered it, and what.
type Offered<'a> = BTreeMap<u32, (&'a PartnerId, &'a RawValue)>;

/// All that a page of a ranking is made of.
struct Loaded {
    receipt: Receipt,
    signed_by: Vec<String>,
    live: Option<LiveContract>,
    names: BTreeMap<String, String>,
    versions: Option<Vec<LoadedVersion>>,
}

impl Loaded {
    async fn read(visitor: &Visitor, id: &str) -> Result<Self, Failed> {
        // Parts of a receipt are kept as they were written, which cannot be read from within another type.
        let text = visitor.api.get::<Box<RawValue>>(&receipt_address(id)).await?;
        let receipt = parse::<Receipt>(text.get())?;
        let Signed { signed_by } = parse(text.get())?;
        let intent = format!("/api/v1/intents/{}", segment(receipt.intent.as_str()));
        let (live, partners, versions) = tokio::try_join!(
            visitor.api.look::<LiveContract>(&intent),
            visitor.api.get_if_allowed::<PartnerList>("/api/v1/admin/partners"),
            visitor.api.get_if_allowed::<LoadedVersions>("/api/v1/admin/contracts"),
        )?;
        let versions = versions.map(|loaded| {
            let of_intent = |version: &LoadedVersion| version.intent == receipt.intent.as_str();
            loaded.contracts.into_iter().rev().filter(of_intent).collect()
        });
        let partners = partners.map(|list| list.partners).unwrap_or_default();
        let names = partners.into_iter().map(|partner| (partner.id, partner.name)).collect();
        Ok(Self { receipt, signed_by, live, names, versions })
    }

    /// What another version makes of it, beside what was shown.
    fn tell_under(&self, other: &RankingUnder) -> Under {
        let arguments = value_of(&self.receipt.arguments);
        let weights = self.live.as_ref().map(|live| Weights::of(&live.ranking, &arguments, &self.receipt.ranked));
        Under::of(&self.receipt, other, weights.as_ref(), |scores| Weights::of(&other.ranking, &arguments, scores))
    }

    fn name_of(&self, partner: &str) -> String {
        self.names.get(partner).cloned().unwrap_or_else(|| partner.to_owned())
    }

    /// As a page, with the two options that are asked for, or else the first two.
    fn into_page(self, visitor: &Visitor, asked: &Fields) -> RankingPage {
        let arguments = value_of(&self.receipt.arguments);
        let weights = self.live.as_ref().map(|live| Weights::of(&live.ranking, &arguments, &self.receipt.ranked));
        let offered = self.collect_offers();
        let partner_of =
            |number: u32| offered.get(&number).map_or_else(String::new, |(partner, _)| partner.to_string());
        let ranked = &self.receipt.ranked;
        let path = format!("{PLACE}/{}", segment(&self.receipt.id));
        let compared = |place: usize| {
            let other = usize::from(place == 0);
            let (one, other) = (ranked.get(place.min(other))?, ranked.get(place.max(other))?);
            let (one, other) = (one.number.to_string(), other.number.to_string());
            Some(format!("{}#compare", with_query(&path, &[("first", &one), ("second", &other)])))
        };
        let shown = ranked.iter().enumerate().map(|(place, score)| {
            let partner = partner_of(score.number);
            Shown {
                rank: place + 1,
                number: score.number,
                id: score.id.clone(),
                partner_name: self.name_of(&partner),
                partner,
                total: share(score.total),
                completeness: share(score.completeness),
                bar: weights.map(|weights| AxisBar::new(score.axes, weights.axes)),
                compared: compared(place),
            }
        });
        let dropped = self.receipt.dropped.iter().map(|dropped| {
            let partner = partner_of(dropped.number);
            Dropped {
                number: dropped.number,
                partner_name: self.name_of(&partner),
                partner,
                codes: dropped.codes.clone(),
                strike: dropped.strike,
            }
        });
        let history = self.receipt.history.iter().map(|past| Past {
            status: past.status.clone(),
            closed: Moment::of(past.closed_at_ms),
            attributes: past.attributes_json(),
        });
        let offered_by = offered
            .iter()
            .map(|(number, (partner, _))| (*number, (partner.to_string(), self.name_of(partner.as_str()))));
        RankingPage {
            offered_by: offered_by.collect(),
            frame: visitor.frame(PLACE, "Ranking").json(receipt_address(&self.receipt.id)),
            options: shown.collect(),
            picked: self.pick(asked, weights.as_ref(), &offered),
            weighed: self.tell_weights(weights.as_ref()),
            dropped: dropped.collect(),
            history: history.collect(),
            arguments: format!("{arguments:#}"),
            replayed: None,
            under: None,
            asked_under: asked.text("under").to_owned(),
            problem: None,
            versions: self.versions,
            signed_by: self.signed_by,
            receipt: self.receipt,
        }
    }

    fn collect_offers(&self) -> Offered<'_> {
        let payloads = self.receipt.payloads.iter();
        let candidates = payloads
            .flat_map(|payload| payload.candidates.iter().map(|one| (one.number, (&payload.partner, &*one.json))));
        candidates.collect()
    }

    fn pick(&self, asked: &Fields, weights: Option<&Weights>, offered: &Offered<'_>) -> Option<Picked> {
        let ranked = &self.receipt.ranked;
        let asked_for = |name: &str| {
            let number = asked.text(name).parse::<u32>().ok()?;
            ranked.iter().position(|score| score.number == number)
        };
        let first = asked_for("first").unwrap_or(0);
        let second = asked_for("second").filter(|second| *second != first).unwrap_or(usize::from(first == 0));
        let side = |place: usize| -> Option<Side<'_>> {
            let score: &ReceiptScore = ranked.get(place)?;
            let partner =
                offered.get(&score.number).map(|(partner, _)| self.name_of(partner.as_str())).unwrap_or_default();
            Some(Side { name: format!("Option {} of {partner}", score.id), place, score })
        };
        let (one, other) = (side(first)?, side(second)?);
        let json = |number: u32| offered.get(&number).map_or(Value::Null, |(_, json)| value_of(json));
        let (differing, unshown) = find_differing(&json(one.score.number), &json(other.score.number));
        Some(Picked {
            first: one.score.number,
            second: other.score.number,
            comparison: compare(&one, &other, weights),
            first_name: one.name,
            second_name: other.name,
            differing,
            unshown,
        })
    }

    /// What is to be known of the weights before anybody relies on them.
    fn tell_weights(&self, weights: Option<&Weights>) -> String {
        let (Some(live), Some(weights)) = (&self.live, weights) else {
            return "The weights are not known: no version of the intent is live, or your token does not open it."
                .to_owned();
        };
        let own = if live.digest == self.receipt.contract {
            "The weights are those of the version that ranked, which is live.".to_owned()
        } else {
            let ranked_by = &self.receipt.version;
            format!(
                "The weights are those of the live version {}; another component, {ranked_by}, has ranked.",
                live.version
            )
        };
        if weights.fit {
            format!("{own} With the user's bands they make every total here.")
        } else {
            format!("{own} They do not make the totals here, so take them for a hint.")
        }
    }
}

fn receipt_address(id: &str) -> String {
    format!("{RECEIPTS_API}/{}", segment(id))
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ApiError> {
    serde_json::from_str(text).map_err(|error| ApiError::Unreadable(error.into()))
}

/// A document that somebody wrote; one that cannot be taken apart is a text.
fn value_of(json: &RawValue) -> Value {
    serde_json::from_str(json.get()).unwrap_or_else(|_too_deep| json.get().into())
}

pub(super) async fn show_ranking(
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    Team(visitor): Team,
) -> Result<Response, Failed> {
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    let page = Loaded::read(&visitor, &id).await?.into_page(&visitor, &asked);
    Ok(show_with(StatusCode::OK, &page))
}

/// For whoever opens the address of a replay again.
pub(super) async fn lead_to_ranking(Path(id): Path<String>, Team(_visitor): Team) -> Response {
    lead_to(&format!("{PLACE}/{}", segment(&id)))
}

pub(super) async fn replay_ranking(
    Path(id): Path<String>,
    Sent(Team(visitor), fields): Sent<Team>,
) -> Result<Response, Failed> {
    let address = format!("{}/replay", receipt_address(&id));
    let parts = [("revoked_because", fields.text("reason")), ("under", fields.text("under"))];
    let outcome = visitor.api.send_text::<RankingReplay>(Method::POST, &with_query(&address, &parts), None).await;
    let (replay, problem) = match outcome {
        Ok(Outcome::Done(replay)) => (Some(replay), None),
        Ok(Outcome::Waits) => return Ok(lead_to(&with_notice(&format!("{PLACE}/{}", segment(&id)), "waits"))),
        Err(error) if error.is_refusal() => (None, Some(Problem::from(&error))),
        Err(error) => return Err(error.into()),
    };
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    let loaded = Loaded::read(&visitor, &id).await?;
    let under = replay.as_ref().and_then(|replay| replay.under.as_ref()).map(|under| loaded.tell_under(under));
    let page = loaded.into_page(&visitor, &fields);
    let page = match (replay, under) {
        // Another version may well come to another outcome: that is no verdict on the receipt.
        (Some(replay), Some(under)) => {
            let refused = find_refusal(&replay);
            RankingPage { under: Some(Under { sentence: refused.unwrap_or(under.sentence), ..under }), ..page }
        }
        (Some(replay), None) => RankingPage { replayed: Some(tell_replay(replay)?), ..page },
        (None, _) => RankingPage { problem, ..page },
    };
    Ok(show_with(status, &page))
}

/// What a version says that does not rank at all.
fn find_refusal(replay: &RankingReplay) -> Option<String> {
    let difference = serde_json::to_value(&replay.difference).ok().filter(|_| replay.found.is_none())?;
    let code = difference.get("code").and_then(Value::as_str)?;
    Some(format!("It refuses the request, with {code}, and shows nothing."))
}

fn tell_replay(replay: RankingReplay) -> Result<Replayed, ApiError> {
    let difference = serde_json::to_value(&replay.difference).map_err(|error| ApiError::Unreadable(error.into()))?;
    let place = difference.get("place").and_then(Value::as_u64).map_or(0, |place| place.saturating_add(1));
    let code = difference.get("code").and_then(Value::as_str).unwrap_or_default();
    let parts = difference.get("in").and_then(Value::as_str).map(|part| match part {
        "request" => format!("The contract refuses the request now, with {code}."),
        "ranked" => format!("They part first at place {place} of the options that are shown."),
        "dropped" => format!("They part first at place {place} of the options that are taken out."),
        _ => "They part in something of which the receipt has the digest alone: a card, a finding, or the wording of a reason."
            .to_owned(),
    });
    let side = |name: &str| difference.get(name).cloned().unwrap_or_default();
    let (differing, _) = find_differing(&side("expected"), &side("found"));
    Ok(Replayed {
        same: replay.same,
        expected: replay.expected.to_string(),
        found: replay.found.map(|found| found.to_string()),
        parts,
        differing,
    })
}
