//! Searches while a candidate serves a share of the users.

use std::sync::{Arc, Mutex};

use futures_executor::block_on;
use futures_util::StreamExt as _;
use intent_gateway_domain::contract::Descriptor;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{Contract, RolloutWatch, Served};
use intent_gateway_domain::share::Share;
use intent_gateway_domain::user::{Asker, Orchestrator, Pseudonym};
use intent_gateway_routing::search::{Rollouts, SearchError, SearchRequest, Searcher};
use intent_gateway_testing::contract::{ScriptedContract, accept_any_request};
use intent_gateway_testing::entropy::vault;
use serde_json::json;

use crate::support::{World, declared, evaluate, request, things};

/// What was told of candidates.
#[derive(Default)]
struct Heard(Mutex<Vec<&'static str>>);

impl RolloutWatch for Heard {
    fn served(&self, _: &IntentId, candidate: Digest, how: Served<'_>) {
        assert_eq!(candidate, Digest::of(b"candidate"));
        let told = match how {
            Served::ByCandidate => "candidate",
            Served::InItsPlace(_) => "in its place",
            Served::NotAtAll(_) => "not at all",
        };
        self.0.lock().expect("not poisoned").push(told);
    }
}

impl Heard {
    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().expect("not poisoned"))
    }
}

struct Tried {
    world: World,
    heard: Arc<Heard>,
}

/// How a candidate fails.
#[derive(Clone, Copy, PartialEq)]
enum Failing {
    Never,
    AtRequests,
    AtRankings,
    /// At rankings, and it makes something else of requests.
    Otherwise,
}

fn percent(percent: f64) -> Share {
    Share::of_percent(percent).expect("a share")
}

fn candidate(failing: Failing, change: impl FnOnce(&mut Descriptor)) -> Arc<dyn Contract> {
    let mut declared = declared();
    declared.version = "1.3.0".parse().expect("semver");
    change(&mut declared);
    let at_requests = failing == Failing::AtRequests;
    let at_rankings = matches!(failing, Failing::AtRankings | Failing::Otherwise);
    let otherwise = failing == Failing::Otherwise;
    let contract = ScriptedContract::new(declared)
        .with_digest(Digest::of(b"candidate"))
        .on_check_request(move |context, _, arguments| match at_requests {
            true => Err(ContractFault::trap("unreachable").into()),
            false if otherwise => Ok(accept_any_request(context, &arguments.replace("cheap", "dear"))),
            false => Ok(accept_any_request(context, arguments)),
        })
        .on_evaluate(move |_, _, payloads| match at_rankings {
            true => Err(ContractFault::DeadlineExceeded(200).into()),
            false => Ok(evaluate(payloads)),
        });
    Arc::new(contract)
}

impl Tried {
    fn of(failing: Failing, share: Share) -> Self {
        Self::declaring(failing, share, |_| ())
    }

    fn declaring(failing: Failing, share: Share, change: impl FnOnce(&mut Descriptor)) -> Self {
        let world = World::of(&[("p1", things(json!([{"id": "t-1", "rank": 0.5}])))]);
        world.catalogue.try_out(candidate(failing, change), share);
        Self { world, heard: Arc::default() }
    }

    fn searcher(&self) -> Searcher {
        let rollouts = Rollouts { vault: vault(), watch: self.heard.clone() };
        Searcher { rollouts: Some(rollouts), ..self.world.searcher() }
    }

    /// The version that answers a user, or an error.
    fn ask(&self, user: Option<&str>, body: &str) -> Result<String, SearchError> {
        let pseudonym = user.map(|user| Pseudonym::parse(user).expect("a pseudonym"));
        let asker = Asker::new(Orchestrator::new("issuer", "assistant"), pseudonym.as_ref());
        let outcome = block_on(self.searcher().search_for(SearchRequest { body, asker: &asker, ..request() }));
        let outcome = outcome.map_err(|failed| failed.error)?;
        let version = outcome.contract.descriptor().version.to_string();
        // Whatever is said of it, is said of the version that has ranked.
        let receipt = self.world.journal.all_receipts().pop().expect("it is kept");
        assert_eq!((receipt.version.to_string(), receipt.contract), (version.clone(), outcome.contract.digest()));
        Ok(version)
    }
}

#[test]
fn the_same_user_is_always_on_the_same_side_and_stays_when_the_share_grows() {
    let sides = |share: f64| -> Vec<bool> {
        let tried = Tried::of(Failing::Never, percent(share));
        let of_user = |user: u32| tried.ask(Some(&format!("user-{user}")), "{}").expect("an answer") == "1.3.0";
        let sides: Vec<bool> = (0..60).map(of_user).collect();
        assert_eq!(sides, (0..60).map(of_user).collect::<Vec<_>>(), "again, and on another day");
        sides
    };
    let [none, few, many, all] = [0.0, 25.0, 60.0, 100.0].map(sides);
    let count = |sides: &[bool]| sides.iter().filter(|side| **side).count();
    assert_eq!((count(&none), count(&all)), (0, 60));
    assert!((5..30).contains(&count(&few)) && (20..50).contains(&count(&many)), "{} {}", count(&few), count(&many));
    assert!(few.iter().zip(&many).all(|(few, many)| !few || *many));
}

#[test]
fn without_a_user_the_request_decides() {
    let tried = Tried::of(Failing::Never, percent(50.0));
    let side =
        |request: u32| tried.ask(None, &json!({"request_id": format!("r-{request}")}).to_string()).expect("an answer");
    let sides: Vec<String> = (0..40).map(side).collect();
    assert_eq!(sides, (0..40).map(side).collect::<Vec<_>>());
    assert!(sides.iter().any(|side| side == "1.3.0") && sides.iter().any(|side| side == "1.2.3"));
}

#[test]
fn what_the_candidate_ranks_is_told() {
    let tried = Tried::of(Failing::Never, percent(100.0));
    assert_eq!(tried.ask(Some("ann"), "{}"), Ok("1.3.0".to_owned()));
    assert_eq!(tried.heard.take(), ["candidate"]);
    let tried = Tried::of(Failing::Never, percent(0.0));
    assert_eq!(tried.ask(Some("ann"), "{}"), Ok("1.2.3".to_owned()));
    assert!(tried.heard.take().is_empty());
}

#[test]
fn where_the_candidate_fails_the_live_version_answers() {
    for failing in [Failing::AtRequests, Failing::AtRankings] {
        let tried = Tried::of(failing, percent(100.0));
        assert_eq!(tried.ask(Some("ann"), "{}"), Ok("1.2.3".to_owned()));
        assert_eq!(tried.heard.take(), ["in its place"]);
        assert_eq!(tried.world.partners.calls().len(), 1, "nobody is asked twice");
    }
}

#[test]
fn a_streamed_search_falls_back_before_it_has_shown_anything() {
    for failing in [Failing::AtRequests, Failing::AtRankings] {
        let tried = Tried::of(failing, percent(100.0));
        let stream = Arc::new(tried.searcher()).search_progressively(request(), tried.world.clock.clone());
        let snapshots: Vec<_> = block_on(async { stream.await.expect("begun").collect().await });
        assert!(!snapshots.is_empty());
        for snapshot in snapshots {
            let outcome = snapshot.expect("an answer").outcome;
            assert_eq!(
                (outcome.contract.descriptor().version.to_string().as_str(), outcome.options.len()),
                ("1.2.3", 1)
            );
        }
        assert_eq!(tried.heard.take(), ["in its place"]);
        let receipt = tried.world.journal.only_receipt();
        assert_eq!(receipt.version.to_string(), "1.2.3");
    }
}

#[test]
fn where_the_live_version_takes_the_request_otherwise_it_takes_nobody_s_place() {
    let tried = Tried::of(Failing::Otherwise, percent(100.0));
    assert!(matches!(tried.ask(Some("ann"), r#"{"wish": "cheap"}"#), Err(SearchError::Contract(_))));
    assert_eq!(tried.heard.take(), ["not at all"]);
    assert_eq!(tried.ask(Some("ann"), r#"{"wish": "good"}"#), Ok("1.2.3".to_owned()));
}

#[test]
fn where_the_live_version_reads_answers_otherwise_it_takes_nobody_s_place() {
    let tried = Tried::declaring(Failing::AtRankings, percent(100.0), |declared| declared.forbidden_fields.clear());
    assert!(matches!(tried.ask(Some("ann"), "{}"), Err(SearchError::Contract(_))));
    assert_eq!(tried.heard.take(), ["not at all"]);
}
