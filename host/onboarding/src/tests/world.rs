//! A platform with one intent, one partner's server and a clock that the test sets.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_executor::block_on;
use intent_gateway_routing::golive::{GoLiveRunner, SAMPLE_TIMEOUT};
use intent_gateway_routing::selection::Directory;
use serde_json::{Value, json};

use crate::compliance::{LegalEntityType, Profile};

use crate::{LivePartners, Ports, Requester, Services, Settings};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Clock as _;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{
    Classification, Descriptor, Evaluation, OrderState, OrderWay, PointerElsewhere, Requirement, RequirementCheck,
    SearchSample,
};
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::mail::Mail;
use intent_gateway_domain::money::Rate;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::probe::{ProbeFailure, Step};
use intent_gateway_domain::store::{Change, Kind, Store as _, Write};
use intent_gateway_domain::vault::Vault;
use intent_gateway_ledger::completion::keyring::KeyRing;
use intent_gateway_testing::catalogue::Catalogue;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract::{ScriptedContract, accept_any_request, descriptor};
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::fleet::steady;
use intent_gateway_testing::journal::MemoryJournal;
use intent_gateway_testing::mail::{Letterbox, code_in};
use intent_gateway_testing::partners::ScriptedPartners;
use intent_gateway_testing::probe::{Pages, ProbedServer, shown_tool};
use intent_gateway_testing::store::MemoryStore;
use intent_gateway_testing::webhook::{Posted, ScriptedWebhook};

use super::results::Tallies;

pub(super) const INTENT: &str = "test.find_things";
/// For how long a confirmation of the tests' one requirement holds.
pub(super) const VALID_DAYS: u32 = 90;
pub(super) const TEAM: &str = "team@gateway.example";
pub(super) const START: Timestamp = Timestamp::from_ms(1_767_225_600_000);

/// What the world outside does; a test changes it as it goes.
pub(super) struct Outside {
    pub(super) clock: Arc<TestClock>,
    pub(super) server: Arc<ProbedServer>,
    pub(super) pages: Arc<Pages>,
    /// Its tools, as they are called.
    pub(super) calls: Arc<ScriptedPartners>,
    pub(super) letters: Arc<Letterbox>,
    pub(super) webhook: Arc<ScriptedWebhook>,
}

/// The intent of the tests, which wants one thing confirmed by people before a partner goes live, and another one that
/// nobody serves.
fn contracts() -> Arc<Catalogue> {
    let mut declared = descriptor("1.0.0");
    declared.completion.charged_statuses = vec!["completed".to_owned()];
    declared.go_live = vec![Requirement {
        code: "CERTIFICATE_SEEN".to_owned(),
        text: "The certificate was looked at.".to_owned(),
        check: RequirementCheck::ByHand,
        valid_days: Some(VALID_DAYS),
    }];
    declared.search.price_pointer = Some("/price_inr".to_owned());
    declared.order = Some(OrderWay {
        states: vec![OrderState {
            name: "booked".to_owned(),
            meaning: "It is booked.".to_owned(),
            closed: false,
            milestones: Vec::new(),
        }],
        steps: Vec::new(),
        amount: Some("total".to_owned()),
        due_after: Some("ends".to_owned()),
        history: Vec::new(),
    });
    let intent = IntentId::parse("test.find_others").expect("well formed");
    let mut other = Descriptor { intent, cues: vec!["other".to_owned()], ..descriptor("1.0.0") };
    other.search.tool = "search_others".to_owned();
    other.tools[0].name = "search_others".to_owned();
    let option = |number: u32| format!(r#"{{"thing_id":"t{number}"}}"#);
    let search = SearchSample { request: r#"{"near":"Pune"}"#.to_owned(), options: (1..=3).map(option).collect() };
    Catalogue::of([contract(declared).with_sample(search), contract(other)].map(Arc::new))
}

fn contract(declared: Descriptor) -> ScriptedContract {
    ScriptedContract::new(declared)
        .on_classify(|utterance, _| {
            let other = [("hotel", "travel.book_hotel"), ("neighbour", "test.find_others")];
            if let Some((word, intent)) = other.into_iter().find(|(word, _)| utterance.contains(word)) {
                let (intent, reason) = (intent.to_owned(), format!("a {word} is no thing"));
                let elsewhere = vec![PointerElsewhere { intent, score: 0.9, reason }];
                return Ok(Classification { score: 0.0, evidence: vec![], elsewhere, also: vec![] });
            }
            let score = if utterance.contains("thing") { 0.9 } else { 0.0 };
            Ok(Classification { score, evidence: vec![], elsewhere: vec![], also: vec![] })
        })
        .on_check_request(|context, _, arguments| Ok(accept_any_request(context, arguments)))
        .on_evaluate(|_, _, _| Ok(Evaluation::default()))
}

pub(super) struct World {
    pub(super) onboarding: Services,
    pub(super) store: Arc<MemoryStore>,
    pub(super) vault: Vault,
    pub(super) keys: Arc<KeyRing>,
    pub(super) books: Arc<Tallies>,
    pub(super) journal: Arc<MemoryJournal>,
    pub(super) outside: Outside,
}

pub(super) fn actor(role: &str) -> Actor {
    Actor::new(role, format!("the {role}"))
}

/// The same, who asks for a change without a token of a partner.
pub(super) fn asked_by(role: &str) -> Requester {
    Requester { actor: actor(role), session: None }
}

impl World {
    pub(super) fn new() -> Self {
        let outside = Outside {
            clock: TestClock::at(START.as_ms()),
            server: ProbedServer::showing([tool()]),
            pages: Arc::default(),
            calls: Arc::default(),
            letters: Arc::default(),
            webhook: Arc::default(),
        };
        outside.calls.reply_otherwise(|_, _| json!({"things": [{"thing_id": "t1"}]}).into());
        let store = Arc::new(MemoryStore::default());
        let vault = vault();
        let (books, journal) = (Arc::new(Tallies::default()), Arc::new(MemoryJournal::default()));
        let keys = Arc::new(KeyRing::new(store.clone(), vault.clone(), steady(outside.clock.clone()), []));
        let onboarding = Ports {
            store: store.clone(),
            vault: vault.clone(),
            clock: outside.clock.clone(),
            contracts: contracts(),
            probe: outside.server.clone(),
            golive: Arc::new(GoLiveRunner {
                calls: outside.calls.clone(),
                clock: outside.clock.clone(),
                timeout: SAMPLE_TIMEOUT,
            }),
            pages: outside.pages.clone(),
            mailer: outside.letters.clone(),
            webhooks: outside.webhook.clone(),
            keys: keys.clone(),
            books: books.clone(),
            journal: journal.clone(),
            live: Arc::new(LivePartners::new(
                store.clone(),
                Vec::new(),
                Arc::new(Directory::new(Vec::new())),
                outside.clock.clone(),
            )),
            settings: Settings {
                base_url: "https://gateway.example".to_owned(),
                reprobe_interval_ms: 24 * 60 * 60 * 1_000,
                rate: Rate::DEFAULT,
                team_email: Some(TEAM.to_owned()),
            },
        }
        .services();
        Self { onboarding, store, vault, keys, books, journal, outside }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.outside.clock.now()
    }

    pub(super) fn pass_ms(&self, ms: u64) {
        self.outside.clock.advance(ms);
    }

    /// The mails that are due, sent.
    pub(super) fn mails(&self) -> Vec<Mail> {
        block_on(self.onboarding.postman.deliver()).expect("the store works");
        self.outside.letters.take_mails()
    }

    /// Sends the events that are due, as often as some are; what was posted.
    pub(super) fn send_due(&self) -> Vec<Posted> {
        loop {
            let turns = block_on(self.onboarding.courier.take_turns(16)).expect("the store works");
            if turns.is_empty() {
                return self.outside.webhook.take_posted();
            }
            turns.into_iter().for_each(|turn| block_on(turn.run()));
        }
    }

    /// The code of the one mail that is due.
    pub(super) fn mailed_code(&self) -> String {
        let mails = self.mails();
        let [mail] = mails.as_slice() else { panic!("expected one mail, found {mails:?}") };
        code_in(mail).expect("a code")
    }

    /// An account that has just been opened.
    pub(super) fn account(&self) -> PartnerId {
        block_on(self.onboarding.accounts.sign_up("ops@coolcar.example", "CoolCar", "192.0.2.1")).expect("sent");
        let code = self.mailed_code();
        block_on(self.onboarding.accounts.verify("ops@coolcar.example", &code, "192.0.2.1")).expect("right").account.id
    }

    /// A connection as far as it gets before it is switched on: manifest approved, probed, tested.
    pub(super) fn ready(&self) -> PartnerId {
        let account = self.account();
        self.submit(&account, true);
        self.approve(&account);
        block_on(self.onboarding.connections.register(&account, &endpoint("a"), &asked_by("partner"))).expect("taken");
        block_on(self.onboarding.probes.run(&account, &actor("admin"))).expect("probed");
        self.test(&account);
        account
    }

    pub(super) fn live(&self) -> PartnerId {
        let account = self.ready();
        block_on(self.onboarding.connections.switch_on(&account, &actor("admin"))).expect("switched on");
        account
    }

    pub(super) fn submit(&self, account: &PartnerId, for_review: bool) -> super::super::Submitted {
        let body = manifest(for_review);
        block_on(self.onboarding.submissions.submit(account, &body, &actor("partner"))).expect("accepted")
    }

    /// The routed partners, with their intents.
    pub(super) fn routed(&self) -> BTreeMap<String, Vec<String>> {
        let kept = block_on(crate::live::stored_partners(&*self.store, self.now())).expect("readable").live;
        let routed = self.onboarding.live.directory().all();
        let ids = |partners: Vec<&PartnerId>| partners.into_iter().map(ToString::to_string).collect::<Vec<_>>();
        let (indexed, stored) = (routed.iter().map(|it| &it.id).collect(), kept.iter().map(|it| &it.id).collect());
        assert_eq!(ids(indexed), ids(stored), "the index is that of the store as soon as a step is taken");
        let intents = |it: &Partner| it.listings.iter().map(|listing| listing.intent.to_string()).collect();
        routed.iter().map(|it| (it.id.to_string(), intents(it))).collect()
    }

    /// Who is routed by another gateway over the same store.
    pub(super) fn another_gateway(&self) -> LivePartners {
        let directory = Arc::new(Directory::new(Vec::new()));
        LivePartners::new(self.store.clone(), Vec::new(), directory, self.outside.clock.clone())
    }

    /// The intents that the directory knows of a partner, routed or not.
    pub(super) fn known(&self, account: &PartnerId) -> Vec<String> {
        let known = self.onboarding.live.directory().find_known(account);
        let listings = known.iter().flat_map(|partner| &partner.listings);
        listings.map(|listing| listing.intent.to_string()).collect()
    }

    pub(super) fn actions(&self) -> Vec<String> {
        self.store.log().into_iter().map(|entry| entry.action).collect()
    }
}

pub(super) fn endpoint(path: &str) -> Endpoint {
    Endpoint::mcp(format!("https://coolcar.example/{path}"))
}

pub(super) fn manifest(for_review: bool) -> Value {
    json!({
        "businessName": "CoolCar",
        "submitForReview": for_review,
        "intents": [{
            "intent": INTENT,
            "domain": "test",
            "pricing": {"min": 100, "max": 900, "currency": "INR"},
            "service_area": ["Pune"],
            "ttbs_signals": {"time": 0.5, "taste": 0.5, "budget": 0.5, "safety": 0.5},
        }],
    })
}

pub(super) fn tool() -> Value {
    shown_tool("Finds things near the user.")
}

pub(super) fn failed_probe() -> ProbeFailure {
    ProbeFailure { step: Step::Initialize, code: "PARTNER_UNREACHABLE".to_owned(), message: "not reachable".to_owned() }
}

/// What a sound business says of itself.
pub(super) fn profile() -> Profile {
    Profile {
        legal_name: "CoolCar Services Private Limited".to_owned(),
        legal_entity_type: LegalEntityType::PrivateLimited,
        gstin: "24AAACC1206D1ZM".to_owned(),
        licences: Vec::new(),
        privacy_policy_url: "https://coolcar.example/privacy".to_owned(),
        grievance_officer: None,
    }
}

impl World {
    /// Puts what stands in one document in the place of what stands in another, and the other way round, as whoever
    /// writes to the database could.
    pub(super) fn swap_contents(&self, one: &str, other: &str) {
        let body = |key: &str| block_on(self.store.get(Kind::DocumentContents, key)).expect("readable").expect("there");
        let (mut first, mut second) = (body(one), body(other));
        std::mem::swap(&mut first.body, &mut second.body);
        let writes = [first, second].map(|document| Write::Put(Kind::DocumentContents, document)).into();
        block_on(self.store.commit(Change { writes, ..Change::default() })).expect("written");
    }
}
