//! Reviews: the queue, and one with its documents, its checklist and the form that decides it.

use std::collections::BTreeSet;
use std::sync::Arc;

use askama::Template;
use askama::filters::HtmlSafe;
use axum::Router;
use axum::extract::{Path, RawQuery};
use axum::response::Response;
use axum::routing::get;
use http::{Method, StatusCode};
use intent_gateway_api::manifest::ManifestsBody;
use intent_gateway_api::name;
use intent_gateway_api::review::{ChecklistItem, DecisionRequest, PrivacyBody, ReviewBody, ReviewList};

use crate::Console;
use crate::api::{segment, with_query};
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, render, show, show_with};
use crate::live::{Follower, follow};
use crate::members::{Differing, find_edits};
use crate::notices::with_notice;
use crate::view::{self, Chip, Ident, Moment, Tone, share};
use crate::visitor::{Fields, Sent, Team, Visitor};

/// The item of the checklist that the gateway sees for itself.
const PRIVACY_POLICY: &str = "PRIVACY_POLICY";
/// In the navigation.
const PLACE: &str = "/console/reviews";
/// The status that is shown where none is chosen: what waits for the team.
const OPEN: &str = "open";
/// Chooses all of them.
const ALL: &str = "all";

/// The statuses to choose from, as the API names them, and in words.
const STATUSES: [(&str, &str); 5] =
    [(OPEN, "Open"), ("approved", "Approved"), ("rejected", "Rejected"), ("superseded", "Superseded"), (ALL, "All")];

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new().route(PLACE, get(show_reviews)).route("/console/reviews/{review}", get(show_review).post(decide))
}

#[derive(Template)]
#[template(path = "team/reviews.html")]
struct ReviewsPage {
    frame: Frame,
    moves: ReviewsMoves,
}

impl ReviewsPage {
    fn statuses(&self) -> &'static [(&'static str, &'static str)] {
        &STATUSES
    }
}

/// The list.
#[derive(Template)]
#[template(path = "team/reviews-moves.html")]
struct ReviewsMoves {
    /// The status that is chosen.
    chosen: String,
    list: ReviewList,
}

impl HtmlSafe for ReviewsMoves {}

impl ReviewsMoves {
    /// The answer in one line.
    fn lead(&self) -> String {
        let what = match self.chosen.as_str() {
            OPEN => "wait for the team",
            ALL => "in all",
            chosen => chosen,
        };
        match (self.list.reviews.len(), self.list.next.is_some()) {
            (0, _) if self.chosen == OPEN => "No review waits for the team.".to_owned(),
            (0, _) => "There is no such review.".to_owned(),
            (1, _) if self.chosen == OPEN => "One review waits for the team.".to_owned(),
            (1, _) => "One review.".to_owned(),
            (shown, false) => format!("{shown} reviews {what}."),
            (shown, true) => format!("More than {shown} reviews {what}."),
        }
    }

    /// The address of the next page of the same status.
    fn next(&self) -> Option<String> {
        let after = self.list.next.as_deref()?;
        Some(with_query(PLACE, &[("status", &self.chosen), ("after", after)]))
    }
}

/// A status, in a shape and a word.
fn status_chip(status: &str) -> Chip {
    match status {
        OPEN => Chip::new(Tone::Care, "open"),
        "approved" => Chip::new(Tone::Good, "approved"),
        "rejected" => Chip::new(Tone::Bad, "rejected"),
        other => Chip::new(Tone::Idle, other),
    }
}

/// Which reviews a page shows.
#[derive(Clone)]
struct Shown {
    status: String,
    after: String,
}

impl Shown {
    fn read(query: Option<&str>) -> Self {
        let asked = Fields::parse(query.unwrap_or_default().as_bytes());
        let status = asked.find("status").unwrap_or(OPEN).to_owned();
        Self { status, after: asked.text("after").to_owned() }
    }

    /// Where the API lists them.
    fn address(&self) -> String {
        let status = if self.status == ALL { "" } else { self.status.as_str() };
        with_query("/api/v1/admin/reviews", &[("limit", "50"), ("status", status), ("after", &self.after)])
    }

    async fn moves(self, visitor: &Visitor) -> Result<ReviewsMoves, Failed> {
        let list = visitor.api.get::<ReviewList>(&self.address()).await?;
        Ok(ReviewsMoves { chosen: self.status, list })
    }
}

async fn show_reviews(Team(visitor): Team, RawQuery(query): RawQuery) -> Result<Response, Failed> {
    let shown = Shown::read(query.as_deref());
    let live = with_query("/console/live/reviews", &[("status", &shown.status), ("after", &shown.after)]);
    let frame = visitor.frame(PLACE, "Reviews").json(shown.address()).live(live);
    let moves = shown.moves(&visitor).await?;
    Ok(show(&ReviewsPage { frame, moves }))
}

pub(super) async fn follow_reviews(RawQuery(query): RawQuery, follower: Follower<Team>) -> Result<Response, Failed> {
    let shown = Shown::read(query.as_deref());
    follow(follower, move |visitor| {
        let shown = shown.clone();
        Box::pin(async move { render(&shown.moves(&visitor).await?) })
    })
    .await
}

/// What somebody has put into the form.
#[derive(Default)]
struct Typed {
    decision: String,
    notes: String,
    /// Codes of the items that are ticked.
    confirmed: BTreeSet<String>,
}

/// What a submission changes of the manifest that is in force.
struct Edits {
    /// The answer in one line.
    sentence: String,
    members: Vec<Differing>,
    unshown: usize,
}

impl Edits {
    /// None where the review shows no submission.
    fn of(review: &ReviewBody, manifests: Option<&ManifestsBody>) -> Option<Self> {
        let submitted = review.submission.as_ref()?;
        let say = |sentence: String| Self { sentence, members: Vec::new(), unshown: 0 };
        let Some(manifests) = manifests else { return Some(say("What is in force cannot be read.".to_owned())) };
        let Some(approved) = &manifests.approved else {
            return Some(say("No manifest of the business is in force: everything is new.".to_owned()));
        };
        if approved.number == submitted.number {
            return Some(say("This submission is the one in force.".to_owned()));
        }
        // Both were read as JSON, so they can be written as JSON.
        let write = |manifest| serde_json::to_value(manifest).unwrap_or_default();
        let (members, unshown) = find_edits(&write(&approved.manifest), &write(&submitted.manifest));
        let number = approved.number;
        let sentence = match members.len() + unshown {
            0 => format!("Nothing differs from submission {number}, which is in force."),
            1 => format!("One member differs from submission {number}, which is in force."),
            count => format!("{count} members differ from submission {number}, which is in force."),
        };
        Some(Self { sentence, members, unshown })
    }
}

/// What has become of a member, in a shape and a word.
fn edit_chip(member: &Differing) -> Chip {
    let tone = match member.word() {
        "added" => Tone::Good,
        "removed" => Tone::Bad,
        _ => Tone::Care,
    };
    Chip::new(tone, member.word())
}

/// How long a page waits for the privacy policy. What takes longer is shown when it is there.
const POLICY_WAIT_MS: &str = "50";

/// What stands in the way of an approval. It moves: a privacy policy may take seconds to be fetched.
#[derive(Template)]
#[template(path = "team/review-moves.html")]
struct ReviewMoves {
    is_open: bool,
    status: String,
    checklist: Vec<ChecklistItem>,
    policy: Option<PrivacyBody>,
}

impl HtmlSafe for ReviewMoves {}

impl ReviewMoves {
    fn of(review: &ReviewBody) -> Self {
        let status = review.review.status.as_str().to_owned();
        let (checklist, policy) = (review.checklist.clone(), review.privacy_policy.clone());
        Self { is_open: status == OPEN, status, checklist, policy }
    }

    /// Whether the privacy policy has yet to be seen.
    fn is_fetching(&self) -> bool {
        self.checklist.iter().any(|item| name(&item.state) == "by_hand" && item.code == PRIVACY_POLICY)
    }

    /// The answer in one line.
    fn lead(&self) -> String {
        if !self.is_open {
            return format!("The review is {}.", self.status);
        }
        let by_hand = self.checklist.iter().filter(|item| can_be_confirmed(item)).count();
        let failed = self.checklist.iter().filter(|item| name(&item.state) == "failed").count();
        match (by_hand, failed) {
            (0, 0) if self.is_fetching() => "The privacy policy is being fetched.".to_owned(),
            (0, 0) => "It can be decided: nothing stands in the way.".to_owned(),
            (0, failed) => format!("It cannot be approved yet: {}.", items(failed, "stands", "stand", "in the way")),
            (by_hand, 0) => format!("Before it is approved, {}.", items(by_hand, "has", "have", "to be confirmed")),
            (by_hand, failed) => format!(
                "It cannot be approved yet: {}, and {}.",
                items(failed, "stands", "stand", "in the way"),
                items(by_hand, "has", "have", "to be confirmed")
            ),
        }
    }
}

#[derive(Template)]
#[template(path = "team/review.html")]
struct ReviewPage {
    frame: Frame,
    moves: ReviewMoves,
    review: ReviewBody,
    /// None where the review shows no manifest.
    edits: Option<Edits>,
    typed: Typed,
    /// Why it was not decided so.
    problem: Option<Problem>,
}

impl ReviewPage {
    /// What was submitted, as it is written.
    fn manifest(&self) -> Option<String> {
        let submission = self.review.submission.as_ref()?;
        // A manifest was read as JSON, so it can be written as JSON.
        serde_json::to_string_pretty(&submission.manifest).ok()
    }
}

fn items(count: usize, one: &str, many: &str, rest: &str) -> String {
    match count {
        1 => format!("one item {one} {rest}"),
        count => format!("{count} items {many} {rest}"),
    }
}

/// Whether a person can confirm an item. Whether the privacy policy is there, the gateway sees for itself.
fn can_be_confirmed(item: &ChecklistItem) -> bool {
    name(&item.state) == "by_hand" && item.code != PRIVACY_POLICY
}

/// How an item of the checklist stands, and by whom it is checked.
fn item_chip(state: &str) -> Chip {
    match state {
        "passed" => Chip::new(Tone::Good, "checked by the gateway"),
        "confirmed" => Chip::new(Tone::Good, "confirmed by a person"),
        "failed" => Chip::new(Tone::Bad, "missing or wrong"),
        "by_hand" => Chip::new(Tone::Care, "a person has to look"),
        other => Chip::new(Tone::Idle, other),
    }
}

/// The address of a review in the API.
fn review_of(id: &str) -> String {
    format!("/api/v1/admin/reviews/{}", segment(id))
}

/// A review, soon.
async fn read(visitor: &Visitor, address: &str) -> Result<ReviewBody, Failed> {
    Ok(visitor.api.get(&with_query(address, &[("wait_ms", POLICY_WAIT_MS)])).await?)
}

pub(super) async fn follow_review(Path(id): Path<String>, follower: Follower<Team>) -> Result<Response, Failed> {
    let address = review_of(&id);
    follow(follower, move |visitor| {
        let address = address.clone();
        Box::pin(async move { render(&ReviewMoves::of(&read(&visitor, &address).await?)) })
    })
    .await
}

async fn page(visitor: &Visitor, id: &str, typed: Typed, problem: Option<Problem>) -> Result<Response, Failed> {
    let address = review_of(id);
    let review = read(visitor, &address).await?;
    let manifests = match &review.submission {
        Some(_) => {
            let of_account = format!("/api/v1/business/tier1/manifest/{}", segment(&review.account.account_id));
            visitor.api.look::<ManifestsBody>(&of_account).await?
        }
        None => None,
    };
    let edits = Edits::of(&review, manifests.as_ref());
    let title = format!("Review of {}: {}", review.account.business_name, review.review.subject.kind);
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    let moves = ReviewMoves::of(&review);
    let mut frame = visitor.frame(PLACE, title).json(address);
    if moves.is_open {
        frame = frame.live(format!("/console/live/reviews/{}", segment(id)));
    }
    let page = ReviewPage { frame, moves, review, edits, typed, problem };
    Ok(show_with(status, &page))
}

async fn show_review(Team(visitor): Team, Path(id): Path<String>) -> Result<Response, Failed> {
    page(&visitor, &id, Typed::default(), None).await
}

async fn decide(Path(id): Path<String>, Sent(Team(visitor), fields): Sent<Team>) -> Result<Response, Failed> {
    let typed = Typed {
        decision: fields.text("decision").to_owned(),
        notes: fields.text("notes").to_owned(),
        confirmed: fields.all("confirmed").map(str::to_owned).collect(),
    };
    let order = DecisionRequest {
        decision: fields.word("decision").ok_or(Failed::Form(StatusCode::UNPROCESSABLE_ENTITY))?,
        notes: fields.find("notes").map(str::to_owned),
        confirmed: typed.confirmed.iter().cloned().collect(),
    };
    let done = if typed.decision == "approve" { "approved" } else { "rejected" };
    match visitor.api.send::<ReviewBody>(Method::POST, &format!("{}/decision", review_of(&id)), &order).await {
        Ok(outcome) => Ok(lead_to(&with_notice(&format!("{PLACE}/{}", segment(&id)), outcome.notice(done)))),
        Err(error) => page(&visitor, &id, typed, Some(Problem::of_refusal(error)?)).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_item_is_one() {
        assert_eq!(items(1, "has", "have", "to be confirmed"), "one item has to be confirmed");
        assert_eq!(items(2, "has", "have", "to be confirmed"), "2 items have to be confirmed");
    }
}
