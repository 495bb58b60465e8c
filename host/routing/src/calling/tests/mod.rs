//! Calls of tools over played ports: what a reference opens, what reaches a partner, and what is made of its answer.

mod once;
mod words;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::calling::{CallError, Called, Caller, Judged, Memory, Order, forget_attempts};
use crate::reference::{OptionReference, Reference, ReferenceSealer, UserMark};
use futures_executor::block_on;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::contract::{
    Axes, CallContext, CheckedCompletion, CheckedResponse, Classification, Descriptor, Evaluation, Exchange, Need,
    Payload, PlatformError, PreparedRequest, Refusal, Tool, ToolRole, Violation,
};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::endpoint::{Endpoint, Mappings};
use intent_gateway_domain::error::{CallFailure, ContractError, ContractFault};
use intent_gateway_domain::findings::{Finding, KeptFinding, Severity};
use intent_gateway_domain::id::{IntentId, PartnerId, UserId};
use intent_gateway_domain::partner::{Listing, Partner};
use intent_gateway_domain::ports::{
    Contract, Contracts, Evidence, Journal, PartnerCalls, PartnerDirectory, Selection, Timer, ToolAnswer, ToolCall,
};
use intent_gateway_domain::receipt::{Receipt, ReceiptCandidate, ReceiptPayload, ReceiptScore};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::store::{Change, Store as _, StoreError, Versioned};
use intent_gateway_outbound::Outbound;
use intent_gateway_outbound::policy::idempotency::KeyedWrite;
use intent_gateway_outbound::policy::pace::track::Tracker;
use intent_gateway_testing::contract::descriptor;
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::store::MemoryStore;
use serde_json::value::RawValue;
use serde_json::{Value, json};

const INTENT: &str = "test.find_things";
const NOW: u64 = 1_767_225_600_000;

fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).expect("JSON")
}

/// The descriptor of the crate's tests, with tools that book, cancel and rate.
fn with_booking_tools() -> Descriptor {
    let mut descriptor = descriptor("1.0.0");
    let search = descriptor.tools[0].clone();
    let tool = |name: &str, role: ToolRole, properties: Value| Tool {
        name: name.to_owned(),
        role,
        request_schema: raw(&json!({"properties": properties})),
        ..search.clone()
    };
    let tools = [
        tool(BOOK, ToolRole::Create, json!({"thing_id": {}, "note": {}})),
        tool(CANCEL, ToolRole::Cancel, json!({"booking_id": {}})),
        tool("rate_thing", ToolRole::Rate, json!({"order": {}, "stars": {}})),
        Tool {
            idempotency_key: Some("request_id".to_owned()),
            ..tool(KEYED, ToolRole::Create, json!({"thing_id": {}, "note": {}, "request_id": {}}))
        },
        tool(TRACK, ToolRole::Track, json!({"booking_id": {}})),
    ];
    descriptor.tools.extend(tools);
    descriptor.search.gone_code = Some("THING_GONE".to_owned());
    descriptor.errors = vec![PlatformError {
        code: "THING_GONE".to_owned(),
        http_status: 409,
        meaning: "gone".to_owned(),
        retry: None,
    }];
    descriptor
}

/// A contract that hands everything through, and remembers what it was asked.
struct Played {
    descriptor: Descriptor,
    digest: Digest,
    quoted: Mutex<Vec<Option<String>>>,
}

impl Contract for Played {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn digest(&self) -> Digest {
        self.digest
    }

    fn classify<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<Classification, ContractFault>> {
        unreachable!("nothing is classified here")
    }

    fn check_request<'a>(
        &'a self,
        context: &'a CallContext,
        _: &'a str,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<PreparedRequest, ContractError>> {
        let mut arguments: Value = serde_json::from_str(arguments).expect("an object");
        if arguments["wrong"] == true {
            let violation = Violation { pointer: "/wrong".into(), code: "X".into(), message: "It is wrong.".into() };
            let refusal = Refusal { code: "INVALID_REQUEST".into(), violations: vec![violation] };
            return async { Err(ContractError::Refused(refusal)) }.boxed();
        }
        if arguments["request_id"].is_null() {
            arguments["request_id"] = context.request_id.clone().into();
        }
        let arguments = raw(&arguments);
        async { Ok(PreparedRequest { arguments, need: Need::default(), notes: vec![] }) }.boxed()
    }

    fn evaluate<'a>(
        &'a self,
        _: &'a CallContext,
        _: &'a str,
        _: &'a [Payload<'a>],
    ) -> BoxFuture<'a, Result<Evaluation, ContractError>> {
        unreachable!("nothing is ranked here")
    }

    fn check_response<'a>(
        &'a self,
        _: &'a CallContext,
        exchange: Exchange<'a>,
    ) -> BoxFuture<'a, Result<CheckedResponse, ContractError>> {
        self.quoted.lock().expect("no panic").push(exchange.quoted.map(str::to_owned));
        let payload: Value = serde_json::from_str(exchange.payload).expect("JSON");
        let Some(booking) = payload["booking_id"].as_str() else {
            let violation =
                Violation { pointer: "/booking_id".into(), code: "REQUIRED".into(), message: "Missing.".into() };
            let refusal = Refusal { code: "INTERNAL_ERROR".into(), violations: vec![violation] };
            return async { Err(ContractError::Refused(refusal)) }.boxed();
        };
        let finding = Violation { pointer: "/total".into(), code: "TOTAL".into(), message: "Odd.".into() };
        let findings = if payload["total"].is_null() { vec![] } else { vec![finding] };
        let checked = CheckedResponse { reference: Some(booking.to_owned()), advisory: None, findings };
        async { Ok(checked) }.boxed()
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

/// Everything around the caller.
struct World {
    contract: Arc<Played>,
    now_ms: AtomicU64,
    answer: Mutex<Result<String, CallFailure>>,
    called: Mutex<Vec<(String, Value)>>,
    findings: Mutex<Vec<Finding>>,
    partners: Mutex<Vec<Arc<Partner>>>,
    store: Arc<MemoryStore>,
    tracker: Tracker<Judged>,
}

/// Waiting lets the virtual time pass.
impl Timer for World {
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.now_ms.fetch_add(u64::try_from(time.as_millis()).expect("short"), Ordering::Relaxed);
        async {}.boxed()
    }
}

impl Contracts for World {
    fn live(&self, intent: &str) -> Option<Arc<dyn Contract>> {
        (intent == INTENT).then(|| self.contract.clone() as Arc<dyn Contract>)
    }

    fn loaded(&self, digest: Digest) -> Option<Arc<dyn Contract>> {
        (digest == self.contract.digest).then(|| self.contract.clone() as Arc<dyn Contract>)
    }

    fn all(&self) -> Vec<Arc<dyn Contract>> {
        Vec::new()
    }

    fn woken(&self, _: &str) -> Vec<Arc<dyn Contract>> {
        Vec::new()
    }
}

impl PartnerDirectory for World {
    fn select(&self, _: &str, _: &Need, _: u64) -> Selection {
        unreachable!("nothing is searched here")
    }

    fn all(&self) -> Vec<Arc<Partner>> {
        self.partners.lock().expect("no panic").clone()
    }
}

impl PartnerCalls for World {
    fn call<'a>(
        &'a self,
        partner: &'a Arc<Partner>,
        call: ToolCall<'a>,
    ) -> BoxFuture<'a, Result<ToolAnswer, CallFailure>> {
        let arguments = serde_json::from_str(call.arguments).expect("JSON");
        self.called.lock().expect("no panic").push((partner.id.to_string(), arguments));
        let answer = self.answer.lock().expect("no panic").clone();
        async { answer.map(|text| ToolAnswer { text }) }.boxed()
    }
}

impl Journal for World {
    fn record(&self, finding: Finding) {
        self.findings.lock().expect("no panic").push(finding);
    }

    fn keep(&self, _: Receipt) {}
}

impl Evidence for World {
    fn findings<'a>(
        &'a self,
        _: &'a str,
        _: Option<u64>,
        _: u32,
    ) -> BoxFuture<'a, Result<Vec<KeptFinding>, StoreError>> {
        async { Ok(Vec::new()) }.boxed()
    }

    fn strikes(&self, _: u64, _: u64, _: u32) -> BoxFuture<'_, Result<Vec<KeptFinding>, StoreError>> {
        unreachable!("no call looks for strikes")
    }

    fn receipt<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Receipt>, StoreError>> {
        let candidates = [1, 2].map(|number| ReceiptCandidate { number, json: raw(&json!({"number": number})) });
        let partner = PartnerId::parse("alpha").expect("sound");
        let payload = ReceiptPayload { partner, declared: Axes::UNDECLARED, candidates: candidates.into() };
        let score =
            ReceiptScore { number: 2, id: "thing-1".to_owned(), total: 0.5, axes: Axes::UNDECLARED, completeness: 1.0 };
        let receipt = Receipt {
            id: id.to_owned(),
            at_ms: NOW,
            request_id: "req-1".to_owned(),
            intent: IntentId::parse(INTENT).expect("sound"),
            version: "1.0.0".parse().expect("semver"),
            contract: self.contract.digest,
            arguments: raw(&json!({})),
            payloads: vec![payload],
            ranked: vec![score],
            dropped: Vec::new(),
            outcome: Digest::of(b""),
        };
        async move { Ok((receipt.id == "rank_1").then_some(receipt)) }.boxed()
    }

    fn receipts_of<'a>(&'a self, _: &'a str, _: u32) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        async { Ok(Vec::new()) }.boxed()
    }

    fn forget(&self, _: u64) -> BoxFuture<'_, Result<u64, StoreError>> {
        async { Ok(0) }.boxed()
    }
}

impl Clock for World {
    fn now_ms(&self) -> u64 {
        self.now_ms.load(Ordering::Relaxed)
    }
}

fn partner(id: &str) -> Arc<Partner> {
    let listing = Listing {
        intent: IntentId::parse(INTENT).expect("sound"),
        service_area: vec!["IN_ALL".to_owned()],
        availability: String::new(),
        declared: Axes::UNDECLARED,
    };
    Arc::new(Partner {
        id: PartnerId::parse(id).expect("sound"),
        name: id.to_owned(),
        endpoint: Endpoint::mcp("https://partner.example/mcp"),
        mappings: Mappings::new(),
        listings: vec![listing],
        token: None,
    })
}

fn sealer() -> ReferenceSealer {
    ReferenceSealer::new(&Secret::new("test key"))
}

fn user() -> UserId {
    UserId::parse("user-1").expect("sound")
}

impl World {
    fn new() -> Arc<Self> {
        let contract =
            Played { descriptor: with_booking_tools(), digest: Digest::of(b"played"), quoted: Mutex::default() };
        Arc::new(Self {
            contract: Arc::new(contract),
            now_ms: AtomicU64::new(NOW),
            answer: Mutex::new(Ok(json!({"booking_id": "BK-1"}).to_string())),
            called: Mutex::default(),
            findings: Mutex::default(),
            partners: Mutex::new(vec![partner("alpha"), partner("beta")]),
            store: Arc::default(),
            tracker: Tracker::default(),
        })
    }

    fn reference(&self) -> OptionReference {
        OptionReference {
            partner: "alpha".to_owned(),
            intent: INTENT.to_owned(),
            contract: self.contract.digest,
            request_id: "req-1".to_owned(),
            option_id: "thing-1".to_owned(),
            number: 2,
            receipt: Some("rank_1".to_owned()),
            user: Some(UserMark::of(&user())),
            result_token: Some("token".to_owned()),
            expires_at_ms: Some(NOW + 1),
        }
    }

    fn call(self: &Arc<Self>, tool: &str, reference: &str, arguments: &Value) -> Result<Called, CallError> {
        self.call_as(Some(&user()), INTENT, tool, reference, arguments)
    }

    fn call_as(
        self: &Arc<Self>,
        user: Option<&UserId>,
        intent: &str,
        tool: &str,
        reference: &str,
        arguments: &Value,
    ) -> Result<Called, CallError> {
        let caller = Caller {
            contracts: self.clone(),
            directory: self.clone(),
            outbound: Arc::new(Outbound::plain(self.clone(), self.clone())),
            journal: self.clone(),
            evidence: self.clone(),
            clock: self.clone(),
            references: sealer(),
            memory: Memory { store: self.store.clone(), vault: vault(), timer: self.clone() },
            tracker: self.tracker.clone(),
            timeout: Duration::from_secs(30),
        };
        let arguments = arguments.to_string();
        let order = Order {
            intent,
            tool,
            reference,
            arguments: &arguments,
            user,
            fallback_request_id: "made-up",
            trace: None,
            listener: None,
        };
        block_on(caller.call(order))
    }

    fn answers(&self, answer: Result<Value, CallFailure>) {
        *self.answer.lock().expect("no panic") = answer.map(|value| value.to_string());
    }

    fn was_called(&self) -> usize {
        self.called.lock().expect("no panic").len()
    }

    fn found(&self) -> Vec<(Severity, String)> {
        let findings = self.findings.lock().expect("no panic");
        findings.iter().map(|finding| (finding.severity, finding.violation.code.clone())).collect()
    }
}

const BOOK: &str = "book_thing";
const CANCEL: &str = "cancel_thing";
const KEYED: &str = "book_thing_once";
const TRACK: &str = "track_thing";

#[test]
fn a_call_goes_to_the_partner_of_its_reference_and_gives_one_in_turn() {
    let world = World::new();
    let called = world.call(BOOK, &sealer().seal(&world.reference()), &json!({"note": 1.50})).expect("passed");
    assert_eq!((called.partner.id.as_str(), called.request_id.as_str()), ("alpha", "made-up"));
    assert_eq!(called.payload.get(), r#"{"booking_id":"BK-1"}"#);
    let sent = world.called.lock().expect("no panic").clone();
    let arguments = json!({"note": 1.50, "thing_id": "thing-1", "request_id": "made-up"});
    assert_eq!(sent, [("alpha".to_owned(), arguments)]);
    // The contract saw the option as it was quoted.
    assert_eq!(*world.contract.quoted.lock().expect("no panic"), [Some(r#"{"number":2}"#.to_owned())]);
    let Ok(Reference::Booking(booking)) = sealer().open(&called.reference.expect("one")) else { panic!("no booking") };
    assert_eq!((&*booking.booking_id, booking.member.as_deref()), ("BK-1", Some("booking_id")));
    assert_eq!((booking.user, booking.option), (Some(UserMark::of(&user())), Some(("rank_1".to_owned(), 2))));
}

#[test]
fn what_a_reference_does_not_open_reaches_no_partner() {
    let world = World::new();
    let good = world.reference();
    let seal = |change: &dyn Fn(&mut OptionReference)| {
        let mut reference = good.clone();
        change(&mut reference);
        sealer().seal(&reference)
    };
    let sound = seal(&|_| {});
    let code = |outcome: Result<Called, CallError>| outcome.map(|_| ()).expect_err("refused");
    let book = |reference: &str| code(world.call(BOOK, reference, &json!({})));
    assert_eq!(book("opt_x.y"), CallError::InvalidReference);
    assert_eq!(book(&ReferenceSealer::new(&Secret::new("other")).seal(&good)), CallError::InvalidReference);
    assert_eq!(book(&seal(&|reference| reference.intent = "test.other".to_owned())), CallError::InvalidReference);
    assert_eq!(book(&seal(&|reference| reference.user = None)), CallError::InvalidReference);
    assert_eq!(
        book(&seal(&|reference| reference.expires_at_ms = Some(NOW))),
        CallError::Expired(Some("THING_GONE".into()))
    );
    assert_eq!(book(&seal(&|reference| reference.expires_at_ms = None)), CallError::NotBookable);
    let nobody = book(&seal(&|reference| reference.partner = "gamma".to_owned()));
    assert!(matches!(nobody, CallError::PartnerGone(_)), "{nobody:?}");
    let stranger = UserId::parse("user-2").expect("sound");
    for user in [None, Some(&stranger)] {
        let refused = code(world.call_as(user, INTENT, BOOK, &sound, &json!({})));
        assert_eq!(refused, CallError::InvalidReference);
    }
    let unknown = code(world.call_as(Some(&user()), "test.other", BOOK, &sound, &json!({})));
    assert_eq!(unknown, CallError::InvalidIntent("test.other".to_owned()));
    for tool in ["search_things", "fly"] {
        assert_eq!(code(world.call(tool, &sound, &json!({}))), CallError::UnknownTool(tool.to_owned()));
    }
    for arguments in [json!([]), json!({"wrong": true}), json!({"thing_id": "thing-2"}), json!({"thing_id": 1})] {
        assert!(matches!(code(world.call(BOOK, &sound, &arguments)), CallError::Refused(_)), "{arguments}");
    }
    assert_eq!((world.was_called(), world.found()), (0, vec![]));
}

#[test]
fn a_booking_reference_opens_that_booking_alone() {
    let world = World::new();
    let booked = world.call(BOOK, &sealer().seal(&world.reference()), &json!({})).expect("passed");
    let reference = booked.reference.expect("one");
    // Long after the option has expired.
    world.now_ms.store(NOW + 1_000_000, Ordering::Relaxed);
    world.call(CANCEL, &reference, &json!({})).expect("filled in");
    world.call(CANCEL, &reference, &json!({"booking_id": "BK-1"})).expect("named");
    let refused = world.call(CANCEL, &reference, &json!({"booking_id": "BK-2", "note": "BK-1"}));
    let Err(CallError::Refused(refusal)) = refused else { panic!("taken") };
    assert_eq!((&*refusal.violations[0].pointer, &*refusal.violations[0].code), ("/booking_id", "NOT_THE_REFERENCE"));
    // A tool that has no such member: some member must name it.
    assert!(world.call("rate_thing", &reference, &json!({"stars": 5})).is_err());
    world.call("rate_thing", &reference, &json!({"order": "BK-1"})).expect("named");
    let sent = world.called.lock().expect("no panic")[1].1.clone();
    assert_eq!(sent["booking_id"], "BK-1");
}

#[test]
fn a_partners_trouble_is_told_by_code_and_recorded_where_it_is_its_fault() {
    let platform = |code: &str| CallFailure::Platform { code: code.to_owned(), message: "no".to_owned(), field: None };
    let told = |failure: CallFailure| {
        let world = World::new();
        world.answers(Err(failure));
        let outcome = world.call(BOOK, &sealer().seal(&world.reference()), &json!({}));
        let Err(CallError::Partner { code, .. }) = outcome else { panic!("passed") };
        (code, world.found())
    };
    let drop = |code: &str| vec![(Severity::Drop, code.to_owned())];
    assert_eq!(told(platform("THING_GONE")), (Some("THING_GONE".to_owned()), vec![]));
    assert_eq!(told(platform("PARTNER_MAINTENANCE")), (Some("PARTNER_MAINTENANCE".to_owned()), vec![]));
    assert_eq!(told(platform("MADE_UP")), (Some("INTERNAL_ERROR".to_owned()), drop("UNLISTED_ERROR_CODE")));
    assert_eq!(told(CallFailure::Timeout(30_000)), (None, vec![]));
    assert_eq!(told(CallFailure::Protocol("x".to_owned())), (None, drop("PARTNER_PROTOCOL_ERROR")));
}

#[test]
fn an_answer_is_scanned_and_judged() {
    let world = World::new();
    let reference = sealer().seal(&world.reference());
    world.answers(Ok(json!({"booking_id": "BK-1", "deep": [{"padded_price": 1}]})));
    let Err(CallError::Partner { failure, .. }) = world.call(BOOK, &reference, &json!({})) else { panic!("passed") };
    assert_eq!(failure, CallFailure::Forbidden("/deep/0/padded_price".to_owned()));
    world.answers(Ok(json!({"": [{"ad_bid": 1}]})));
    assert!(world.call(BOOK, &reference, &json!({})).is_err(), "an empty name hides nothing");
    assert!(world.contract.quoted.lock().expect("no panic").is_empty(), "the contract saw none of it");
    world.answers(Ok(json!({"total": 1})));
    let Err(CallError::Answer(refusal)) = world.call(BOOK, &reference, &json!({})) else { panic!("passed") };
    assert_eq!(refusal.violations[0].code, "REQUIRED");
    world.answers(Ok(json!({"booking_id": "BK-1", "total": 1})));
    world.call(BOOK, &reference, &json!({})).expect("passed, with a finding");
    *world.answer.lock().expect("no panic") = Ok("no JSON".to_owned());
    assert!(world.call(BOOK, &reference, &json!({})).is_err());
    *world.answer.lock().expect("no panic") = Ok(format!("{}1{}", "[".repeat(65), "]".repeat(65)));
    assert!(world.call(BOOK, &reference, &json!({})).is_err());
    let expected = [
        (Severity::Strike, "FORBIDDEN_FIELD"),
        (Severity::Strike, "FORBIDDEN_FIELD"),
        (Severity::Drop, "REQUIRED"),
        (Severity::Note, "TOTAL"),
        (Severity::Drop, "PARTNER_PAYLOAD_INVALID"),
        (Severity::Drop, "PARTNER_PAYLOAD_INVALID"),
    ];
    assert_eq!(world.found(), expected.map(|(severity, code)| (severity, code.to_owned())));
    let findings = world.findings.lock().expect("no panic");
    assert_eq!((findings[0].option_id.as_deref(), &*findings[0].request_id), (Some("thing-1"), "made-up"));
}
