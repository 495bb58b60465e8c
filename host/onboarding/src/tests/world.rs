//! A platform with one intent, one partner's server and a clock that the test sets.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use futures_executor::block_on;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_routing::golive::{GoLiveRunner, SAMPLE_TIMEOUT};
use intent_gateway_routing::selection::Directory;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::compliance::{LegalEntityType, Profile};

use crate::{LivePartners, Ports, Services, Settings};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::{Clock, Timestamp};
use intent_gateway_domain::contract::{
    CallContext, CheckedCompletion, CheckedResponse, Classification, Descriptor, Evaluation, Exchange, Need, Payload,
    PreparedRequest, Requirement, RequirementCheck,
};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::error::{CallFailure, ContractError, ContractFault};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::mail::{Mail, MailError};
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{
    Contract, Contracts, Mailer, PageFetch, PartnerCalls, PartnerProbe, ToolAnswer, ToolCall,
};
use intent_gateway_domain::probe::{FetchedPage, ProbeFailure, ProbeRecord, ProbeRequest, Step};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::Vault;
use intent_gateway_ledger::completion::keyring::KeyRing;
use intent_gateway_testing::contract::descriptor;
use intent_gateway_testing::entropy::Counting;
use intent_gateway_testing::store::MemoryStore;

use super::results::Tallies;

pub(super) const INTENT: &str = "test.find_things";
pub(super) const START_MS: u64 = 1_767_225_600_000;

/// What the world outside does; a test changes it as it goes.
pub(super) struct Outside {
    pub(super) now_ms: AtomicU64,
    pub(super) tools: Mutex<Vec<Value>>,
    pub(super) probe_failure: Mutex<Option<ProbeFailure>>,
    /// Status, bytes and media type of every page.
    pub(super) page: Mutex<(u16, u64, &'static str)>,
    pub(super) mail: Mutex<Vec<Mail>>,
    pub(super) mail_failure: Mutex<Option<MailError>>,
    /// Runs in the middle of the next probe.
    pub(super) during_probe: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Clock for Outside {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.now_ms.load(Ordering::SeqCst))
    }
}

impl PartnerProbe for Outside {
    fn admits(&self, endpoint: &Endpoint) -> Result<(), CallFailure> {
        match endpoint.url().starts_with("https://") {
            true => Ok(()),
            false => Err(CallFailure::AddressRefused("HTTPS is required".to_owned())),
        }
    }

    fn probe<'a>(&'a self, request: ProbeRequest<'a>) -> BoxFuture<'a, ProbeRecord> {
        if let Some(hook) = self.during_probe.lock().expect("not poisoned").take() {
            hook();
        }
        let mut record = ProbeRecord::new(request.endpoint.clone(), request.now_ms);
        record.tools.clone_from(&self.tools.lock().expect("not poisoned"));
        record.failure.clone_from(&self.probe_failure.lock().expect("not poisoned"));
        async { record }.boxed()
    }
}

impl PartnerCalls for Outside {
    fn call<'a>(&'a self, _: &'a Arc<Partner>, _: ToolCall<'a>) -> BoxFuture<'a, Result<ToolAnswer, CallFailure>> {
        async { Ok(ToolAnswer { text: json!({"things": [{"thing_id": "t1"}]}).to_string() }) }.boxed()
    }
}

impl PageFetch for Outside {
    fn fetch<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<FetchedPage, CallFailure>> {
        let (status, bytes, content_type) = *self.page.lock().expect("not poisoned");
        let content_type = Some(content_type.to_owned());
        async move { Ok(FetchedPage { url: url.to_owned(), status, content_type, bytes }) }.boxed()
    }
}

impl Mailer for Outside {
    fn send<'a>(&'a self, mail: &'a Mail) -> BoxFuture<'a, Result<(), MailError>> {
        let outcome = match self.mail_failure.lock().expect("not poisoned").clone() {
            Some(failure) => Err(failure),
            None => {
                self.mail.lock().expect("not poisoned").push(mail.clone());
                Ok(())
            }
        };
        async { outcome }.boxed()
    }
}

/// The contract of the one intent; it wants one thing confirmed by people before a partner goes live.
struct Scripted(Descriptor);

impl Contract for Scripted {
    fn descriptor(&self) -> &Descriptor {
        &self.0
    }

    fn digest(&self) -> Digest {
        Digest::of(b"scripted")
    }

    fn classify<'a>(&'a self, text: &'a str, _: &'a str) -> BoxFuture<'a, Result<Classification, ContractFault>> {
        let score = if text.contains("thing") { 0.9 } else { 0.0 };
        async move { Ok(Classification { score, evidence: vec![], elsewhere: vec![], also: vec![] }) }.boxed()
    }

    fn check_request<'a>(
        &'a self,
        context: &'a CallContext,
        _: &'a str,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<PreparedRequest, ContractError>> {
        let mut request: Value = serde_json::from_str(arguments).expect("valid JSON");
        request["request_id"] = context.request_id.clone().into();
        let arguments = to_raw_value(&request).expect("valid JSON");
        async { Ok(PreparedRequest { arguments, need: Need::default(), notes: vec![] }) }.boxed()
    }

    fn evaluate<'a>(
        &'a self,
        _: &'a CallContext,
        _: &'a str,
        _: &'a [Payload<'a>],
    ) -> BoxFuture<'a, Result<Evaluation, ContractError>> {
        async { Ok(Evaluation::default()) }.boxed()
    }

    fn check_response<'a>(
        &'a self,
        _: &'a CallContext,
        _: Exchange<'a>,
    ) -> BoxFuture<'a, Result<CheckedResponse, ContractError>> {
        unreachable!("nothing is booked here")
    }

    fn check_completion<'a>(
        &'a self,
        _: &'a CallContext,
        _: &'a str,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<CheckedCompletion, ContractError>> {
        unreachable!("nothing is reported here")
    }
}

/// The intent of the tests, and another one that nobody serves.
struct Live([Arc<Scripted>; 2]);

impl Contracts for Live {
    fn live(&self, intent: &str) -> Option<Arc<dyn Contract>> {
        let found = self.0.iter().find(|contract| contract.descriptor().intent.as_str() == intent);
        found.map(|contract| contract.clone() as Arc<dyn Contract>)
    }

    fn find_loaded(&self, digest: Digest) -> Option<Arc<dyn Contract>> {
        self.all().into_iter().find(|contract| contract.digest() == digest)
    }

    fn all(&self) -> Vec<Arc<dyn Contract>> {
        self.0.iter().map(|contract| contract.clone() as Arc<dyn Contract>).collect()
    }

    fn select_by_cues(&self, utterance: &str) -> Vec<Arc<dyn Contract>> {
        if utterance.contains("thing") { self.live(INTENT).into_iter().collect() } else { Vec::new() }
    }
}

pub(super) struct World {
    pub(super) onboarding: Services,
    pub(super) store: Arc<MemoryStore>,
    pub(super) vault: Vault,
    pub(super) keys: Arc<KeyRing>,
    pub(super) books: Arc<Tallies>,
    pub(super) outside: Arc<Outside>,
}

pub(super) fn actor(role: &str) -> Actor {
    Actor { role: role.to_owned(), subject: format!("the {role}") }
}

impl World {
    pub(super) fn new() -> Self {
        let outside = Arc::new(Outside {
            now_ms: AtomicU64::new(START_MS),
            tools: Mutex::new(vec![tool()]),
            probe_failure: Mutex::default(),
            page: Mutex::new((200, 4_000, "text/html; charset=utf-8")),
            mail: Mutex::default(),
            mail_failure: Mutex::default(),
            during_probe: Mutex::default(),
        });
        let mut contract = descriptor("1.0.0");
        contract.completion.charged_statuses = vec!["completed".to_owned()];
        contract.go_live = vec![Requirement {
            code: "CERTIFICATE_SEEN".to_owned(),
            text: "The certificate was looked at.".to_owned(),
            check: RequirementCheck::ByHand,
        }];
        let intent = IntentId::parse("test.find_others").expect("well formed");
        let mut other = Descriptor { intent, ..descriptor("1.0.0") };
        other.search.tool = "search_others".to_owned();
        other.tools[0].name = "search_others".to_owned();
        let store = Arc::new(MemoryStore::default());
        let master = Secret::new("a master key of more than 32 bytes");
        let vault = Vault::new(&master, &[], Arc::new(Counting::default()));
        let books = Arc::new(Tallies::default());
        let keys = Arc::new(KeyRing::new(store.clone(), vault.clone(), []));
        let onboarding = Ports {
            store: store.clone(),
            vault: vault.clone(),
            clock: outside.clone(),
            contracts: Arc::new(Live([Arc::new(Scripted(contract)), Arc::new(Scripted(other))])),
            probe: outside.clone(),
            golive: Arc::new(GoLiveRunner { calls: outside.clone(), clock: outside.clone(), timeout: SAMPLE_TIMEOUT }),
            pages: outside.clone(),
            mailer: outside.clone(),
            keys: keys.clone(),
            books: books.clone(),
            live: Arc::new(LivePartners::new(store.clone(), Vec::new(), Arc::new(Directory::new(Vec::new())))),
            settings: Settings {
                base_url: "https://gateway.example".to_owned(),
                reprobe_interval_ms: 24 * 60 * 60 * 1_000,
            },
        }
        .services();
        Self { onboarding, store, vault, keys, books, outside }
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.outside.now().as_ms()
    }

    pub(super) fn pass_ms(&self, ms: u64) {
        self.outside.now_ms.fetch_add(ms, Ordering::SeqCst);
    }

    /// The mails that are due, sent.
    pub(super) fn mails(&self) -> Vec<Mail> {
        block_on(self.onboarding.postman.deliver()).expect("the store works");
        std::mem::take(&mut *self.outside.mail.lock().expect("not poisoned"))
    }

    /// The code of the one mail that is due.
    pub(super) fn mailed_code(&self) -> String {
        let mails = self.mails();
        let [mail] = mails.as_slice() else { panic!("expected one mail, found {mails:?}") };
        let digits = |word: &&str| word.len() == 6 && word.bytes().all(|byte| byte.is_ascii_digit());
        mail.text.split_whitespace().find(digits).expect("a code").to_owned()
    }

    /// An account that has just been opened.
    pub(super) fn account(&self) -> PartnerId {
        block_on(self.onboarding.accounts.sign_up("ops@coolcar.example", "CoolCar")).expect("sent");
        let code = self.mailed_code();
        block_on(self.onboarding.accounts.verify("ops@coolcar.example", &code)).expect("right").account.id
    }

    /// A connection as far as it gets before it is switched on: manifest approved, probed, tested.
    pub(super) fn ready(&self) -> PartnerId {
        let account = self.account();
        self.submit(&account, true);
        self.approve(&account);
        block_on(self.onboarding.connections.register(&account, &endpoint("a"), &actor("partner"))).expect("taken");
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
        let kept = block_on(crate::live::live_partners(&*self.store)).expect("readable");
        let routed = self.onboarding.live.directory().all();
        let ids = |partners: Vec<&PartnerId>| partners.into_iter().map(ToString::to_string).collect::<Vec<_>>();
        let (indexed, stored) = (routed.iter().map(|it| &it.id).collect(), kept.iter().map(|it| &it.id).collect());
        assert_eq!(ids(indexed), ids(stored), "the index is that of the store as soon as a step is taken");
        let intents = |it: &Partner| it.listings.iter().map(|listing| listing.intent.to_string()).collect();
        routed.iter().map(|it| (it.id.to_string(), intents(it))).collect()
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
    json!({
        "name": "search_things",
        "description": "Finds things near the user.",
        "inputSchema": {"type": "object", "properties": {}, "required": []},
        "_meta": {"platform": {"intent": INTENT, "domain": "test"}},
    })
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
