use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use futures_executor::block_on;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::world::{INTENT, World, actor, manifest};
use crate::delivered::{DELIVERED_WINDOW_MS, REPORTS_MIN};
use crate::records::{Manifests, Review, ReviewStatus, ReviewSubject};
use crate::results::REPORTS_BETWEEN_REVIEWS;
use crate::{DecisionOrder, ReviewVerdict};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Axes, Axis};
use intent_gateway_domain::delivered::{Deliveries, Tally};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::store::{StoreError, all, load};
use intent_gateway_ledger::Month;

type Answer<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Books of which only what was delivered is read; each row with the time at which it was posted. Not those of `testing`:
/// the sums of a thousand reports are given at once, and something may happen in the middle of a look at them.
#[derive(Default)]
pub(super) struct Tallies {
    rows: Mutex<Vec<(Timestamp, Tally)>>,
    /// Runs in the middle of the next look at a review that was decided.
    meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Tallies {
    pub(super) fn report(&self, world: &World, partner: &PartnerId, status: &str, reports: u64) {
        let tally = Tally {
            partner: partner.clone(),
            intent: IntentId::parse(INTENT).expect("well formed"),
            status: status.to_owned(),
            reports,
            timed: 0,
            late_minutes: 0,
        };
        self.rows.lock().expect("not poisoned").push((world.now(), tally));
    }
}

impl Deliveries for Tallies {
    fn sum_delivered<'a>(&'a self, partner: Option<&'a PartnerId>, since: Timestamp) -> Answer<'a, Vec<Tally>> {
        let hook = partner.and_then(|_| self.meanwhile.lock().expect("not poisoned").take());
        if let Some(hook) = hook {
            hook();
        }
        let rows = self.rows.lock().expect("not poisoned");
        let fits =
            |(at, row): &&(Timestamp, Tally)| *at >= since && partner.is_none_or(|partner| row.partner == *partner);
        let found: Vec<Tally> = rows.iter().filter(fits).map(|(_, row)| row.clone()).collect();
        async { Ok(found) }.boxed()
    }

    fn partners_of_month<'a>(
        &'a self,
        month: &'a str,
        after: Option<&'a PartnerId>,
        limit: u32,
    ) -> Answer<'a, Vec<PartnerId>> {
        let rows = self.rows.lock().expect("not poisoned");
        let of_month = |at: &Timestamp| Month::at(*at).to_string() == month;
        let partners: BTreeSet<_> = rows.iter().filter(|(at, _)| of_month(at)).map(|(_, row)| &row.partner).collect();
        let left = partners.into_iter().filter(|partner| after.is_none_or(|after| *partner > after));
        let found = left.take(limit as usize).cloned().collect();
        async { Ok(found) }.boxed()
    }
}

/// A partner whose approved manifest declares this `safety`, and the reports that it sends.
struct Case {
    world: World,
    books: Arc<Tallies>,
    partner: PartnerId,
}

impl Case {
    fn new(safety: f64) -> Self {
        let world = World::new();
        let partner = world.account();
        let case = Self { books: world.books.clone(), world, partner };
        case.declare(safety);
        case
    }

    fn declare(&self, safety: f64) {
        // Reviews are in the order of their times.
        self.world.pass_ms(1);
        let signals = json!({"time": 0.5, "taste": 0.5, "budget": 0.5, "safety": safety});
        self.submit(signals);
        self.world.approve(&self.partner);
    }

    fn submit(&self, signals: Value) {
        let mut body = manifest(true);
        body["intents"][0]["ttbs_signals"] = signals;
        block_on(self.world.onboarding.submissions.submit(&self.partner, &body, &actor("partner"))).expect("accepted");
    }

    /// Half of so many orders are cancelled.
    fn half_cancelled(&self, reports: u64) {
        self.books.report(&self.world, &self.partner, "completed", reports / 2);
        self.books.report(&self.world, &self.partner, "cancelled_by_partner", reports - reports / 2);
    }

    fn look(&self) -> usize {
        block_on(self.world.onboarding.results.review_inflation()).expect("the store works")
    }

    fn reviews(&self) -> Vec<Review> {
        let all = block_on(all::<Review>(&*self.world.store, None)).expect("readable").into_iter();
        all.map(|kept| kept.value).filter(|review| matches!(review.subject, ReviewSubject::Inflation { .. })).collect()
    }

    fn statuses(&self) -> Vec<ReviewStatus> {
        self.reviews().iter().map(|review| review.status).collect()
    }

    fn decide(&self, verdict: ReviewVerdict) {
        self.world.pass_ms(1);
        let open = self.reviews().into_iter().find(|review| review.status == ReviewStatus::Open).expect("an open one");
        let order = DecisionOrder { verdict, notes: "Look into it.".to_owned(), confirmed: Default::default() };
        block_on(self.world.onboarding.reviews.decide(&open.id, &order, &actor("admin"))).expect("decided");
        self.world.pass_ms(1);
    }
}

#[test]
fn inflated_signals_are_raised_once() {
    let case = Case::new(0.9);
    drop(case.world.mails());
    assert_eq!(case.look(), 0, "nothing was reported");
    case.half_cancelled(REPORTS_MIN - 1);
    assert_eq!(case.look(), 0, "too little was reported");
    case.half_cancelled(1);
    assert_eq!(case.look(), 1);
    let [review] = case.reviews().try_into().expect("one");
    let ReviewSubject::Inflation { intent, declared, inflated } = &review.subject else { unreachable!() };
    assert_eq!((intent.as_str(), declared.safety), (INTENT, 0.9));
    assert_eq!(inflated.iter().map(|it| (it.axis, it.reports)).collect::<Vec<_>>(), [(Axis::Safety, REPORTS_MIN)]);
    assert_eq!((&review.account, review.status), (&case.partner, ReviewStatus::Open));
    assert_eq!(case.world.actions().last().map(String::as_str), Some("manifest.signals_inflated"));
    assert!(case.world.mails().is_empty(), "the partner is told once it is decided");

    let before = case.world.store.everything();
    case.half_cancelled(500);
    assert_eq!(case.look(), 0);
    assert_eq!(case.world.store.everything(), before, "looking again changes nothing");
}

#[test]
fn sound_signals_are_let_alone() {
    let case = Case::new(0.6);
    case.half_cancelled(500);
    assert_eq!((case.look(), case.reviews().len()), (0, 0));
    let case = Case::new(0.9);
    case.books.report(&case.world, &case.partner, "completed", 500);
    assert_eq!((case.look(), case.reviews().len()), (0, 0));
    // What is long ago counts no more.
    let case = Case::new(0.9);
    case.half_cancelled(500);
    case.world.pass_ms(DELIVERED_WINDOW_MS + 1);
    assert_eq!((case.look(), case.reviews().len()), (0, 0));
}

#[test]
fn only_what_is_in_force_is_judged() {
    let world = World::new();
    let case = Case { partner: world.account(), books: world.books.clone(), world };
    case.half_cancelled(500);
    assert_eq!(case.look(), 0, "no manifest");
    case.submit(json!({"time": 0.5, "taste": 0.5, "budget": 0.5, "safety": 0.9}));
    assert_eq!(case.look(), 0, "none that is approved");
    let stranger = PartnerId::parse("configured").expect("well formed");
    case.books.report(&case.world, &stranger, "cancelled", 500);
    assert_eq!(case.look(), 0, "nobody to send it back to");
    case.world.approve(&case.partner);
    assert_eq!(case.look(), 1);
}

#[test]
fn a_rejection_sends_the_signals_back() {
    let case = Case::new(0.9);
    case.half_cancelled(30);
    case.look();
    drop(case.world.mails());
    let before = block_on(load::<Manifests>(&*case.world.store, case.partner.as_str())).expect("readable");
    case.decide(ReviewVerdict::Reject);
    assert_eq!(case.statuses(), [ReviewStatus::Rejected]);
    let mails = case.world.mails();
    let [mail] = mails.as_slice() else { panic!("{mails:?}") };
    for part in [INTENT, "safety: declared 0.9; 50 % of 30 orders were completed", "ttbs_signals", "Look into it."] {
        assert!(mail.text.contains(part), "{part}: {}", mail.text);
    }
    let after = block_on(load::<Manifests>(&*case.world.store, case.partner.as_str())).expect("readable");
    let in_force = |kept: Option<intent_gateway_domain::store::Versioned<Manifests>>| {
        kept.and_then(|kept| kept.value.approved).map(|it| it.number)
    };
    assert_eq!(in_force(after), in_force(before), "what is in force stays so");
}

#[test]
fn what_was_decided_is_let_alone_until_enough_is_new() {
    for verdict in [ReviewVerdict::Approve, ReviewVerdict::Reject] {
        let case = Case::new(0.9);
        case.half_cancelled(100);
        assert_eq!(case.look(), 1);
        case.decide(verdict);
        assert_eq!(case.look(), 0);
        case.half_cancelled(REPORTS_BETWEEN_REVIEWS - 1);
        assert_eq!(case.look(), 0, "{verdict:?}");
        case.books.report(&case.world, &case.partner, "completed", 1);
        assert_eq!(case.look(), 1, "{verdict:?}");
        assert_eq!(case.look(), 0);
        let decided = if verdict == ReviewVerdict::Approve { ReviewStatus::Approved } else { ReviewStatus::Rejected };
        assert_eq!(case.statuses(), [decided, ReviewStatus::Open]);
    }
    let case = Case::new(0.9);
    case.half_cancelled(30);
    case.look();
    case.decide(ReviewVerdict::Approve);
    assert!(case.world.mails().iter().any(|mail| mail.text.contains("were compared with your reports, and stand")));
    case.books.report(&case.world, &case.partner, "completed", 500);
    assert_eq!(case.look(), 0, "by now it is borne out");
}

#[test]
fn signals_that_were_corrected_are_judged_anew() {
    // Corrected while the review is open: there is nothing left to decide.
    let case = Case::new(0.9);
    case.half_cancelled(30);
    case.look();
    case.declare(0.5);
    assert_eq!((case.look(), case.statuses()), (0, vec![ReviewStatus::Superseded]));
    let before = case.world.store.everything();
    assert_eq!(case.look(), 0);
    assert_eq!(case.world.store.everything(), before);

    // Replaced by others that are inflated, too: a review of its own.
    case.declare(1.0);
    assert_eq!(case.look(), 1);
    case.declare(0.95);
    assert_eq!(case.look(), 1);
    use ReviewStatus::{Open, Superseded};
    assert_eq!(case.statuses(), [Superseded, Superseded, Open]);

    // After a decision no number of reports has to be waited for.
    case.decide(ReviewVerdict::Reject);
    case.declare(0.85);
    assert_eq!(case.look(), 1);
    assert_eq!(case.statuses().last(), Some(&Open));
}

#[test]
fn a_submission_does_not_hide_the_review() {
    let case = Case::new(0.9);
    case.half_cancelled(30);
    case.look();
    // Sent for review, not in force yet.
    case.submit(json!({"time": 0.5, "taste": 0.5, "budget": 0.5, "safety": 0.5}));
    assert_eq!((case.look(), case.statuses()), (0, vec![ReviewStatus::Open]));
}

#[test]
fn of_two_gateways_one_raises_it() {
    let case = Case::new(0.9);
    case.half_cancelled(100);
    case.look();
    case.decide(ReviewVerdict::Approve);
    case.half_cancelled(100);
    // The other one raises it after this one has read the records, while it asks what came since the decision.
    let shared = Arc::new(case);
    let other = shared.clone();
    let other = move || std::thread::spawn(move || assert_eq!(other.look(), 1)).join().expect("raised");
    *shared.books.meanwhile.lock().expect("not poisoned") = Some(Box::new(other));
    assert_eq!(shared.look(), 0);
    assert!(shared.books.meanwhile.lock().expect("not poisoned").is_none(), "the other one had its turn");
    assert_eq!(shared.statuses(), [ReviewStatus::Approved, ReviewStatus::Open]);
}

#[test]
fn what_was_delivered_stands_beside_what_is_declared() {
    let case = Case::new(0.9);
    case.half_cancelled(30);
    let stranger = PartnerId::parse("a-stranger").expect("well formed");
    case.books.report(&case.world, &stranger, "completed", 4);
    case.look();
    let compared = block_on(case.world.onboarding.results.compare(None)).expect("readable");
    let [of_stranger, of_partner] = compared.as_slice() else { panic!("{compared:?}") };
    assert_eq!((of_stranger.declared, of_stranger.inflated.len(), &of_stranger.review), (None, 0, &None));
    assert_eq!(of_partner.declared, Some(Axes { safety: 0.9, ..Axes::UNDECLARED }));
    assert_eq!(of_partner.inflated.len(), 1);
    assert_eq!(of_partner.review.as_deref(), Some(case.reviews()[0].id.as_str()));
    assert_eq!(of_partner.delivered.completion_rate(), Some(0.5));
    let one = block_on(case.world.onboarding.results.compare(Some(&stranger))).expect("readable");
    assert_eq!(one.len(), 1);
}
