//! Calls of tools over fakes: what a reference opens, what reaches a partner, and what is made of its answer.

mod once;
mod orders;
mod outage;
mod pinned;
mod progress;
mod racing;
mod unrouted;

use std::sync::Arc;

use crate::calling::{CallError, CallOutcome, CallRequest, Caller, KeyedWrites, Unsettled, forget_attempts};
use crate::reference::{AskerMark, OptionReference, Reference, ReferenceSealer};
use crate::search::ShownRankings;
use futures_executor::block_on;
use intent_gateway_domain::clock::Clock as _;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Axes, CheckedResponse, Descriptor, Tool, ToolRole};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::endpoint::UnmappedItem;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::findings::{Severity, Source};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::limits::TOOL_CALL_TIMEOUT;
use intent_gateway_domain::ports::{Contract as _, Journal as _, ToolAnswer};
use intent_gateway_domain::receipt::{Receipt, ReceiptCandidate, ReceiptPayload, ReceiptScore};
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::store::{Change, Store as _, Versioned};
use intent_gateway_domain::user::Asker;
use intent_gateway_outbound::Outbound;
use intent_gateway_outbound::policy::idempotency::KeyedWrite;
use intent_gateway_outbound::policy::pace::track::Tracker;
use intent_gateway_testing::catalogue::Catalogue;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract::{
    ContractCall, ScriptedContract, accept_any_request, descriptor, platform, refusal, row, violation,
};
use intent_gateway_testing::directory::{GivenPartners, partner};
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::journal::MemoryJournal;
use intent_gateway_testing::partners::{Reply, ScriptedPartners};
use intent_gateway_testing::store::MemoryStore;
use intent_gateway_testing::users::{UNNAMED, asker};
use serde_json::value::RawValue;
use serde_json::{Value, json};

const INTENT: &str = "test.find_things";
const NOW: u64 = 1_767_225_600_000;
const START: Timestamp = Timestamp::from_ms(NOW);
const BOOK: &str = "book_thing";
const CANCEL: &str = "cancel_thing";
const KEYED: &str = "book_thing_once";
const TRACK: &str = "track_thing";
const RATE: &str = "rate_thing";

fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).expect("JSON")
}

/// The descriptor of the host's tests, with tools that book, cancel and rate.
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
        tool(RATE, ToolRole::Rate, json!({"order": {}, "stars": {}})),
        Tool {
            idempotency_key: Some("request_id".to_owned()),
            ..tool(KEYED, ToolRole::Create, json!({"thing_id": {}, "note": {}, "request_id": {}}))
        },
        tool(TRACK, ToolRole::Track, json!({"booking_id": {}})),
    ];
    descriptor.tools.extend(tools);
    descriptor.search.gone_code = Some("THING_GONE".to_owned());
    descriptor.errors = vec![row("THING_GONE", 409, None)];
    descriptor
}

/// Refuses what is `wrong`, and answers without a `booking_id`; finds a `total` odd.
fn contract(descriptor: Descriptor) -> Arc<ScriptedContract> {
    let contract = ScriptedContract::new(descriptor)
        .on_check_request(|context, _, arguments| {
            let prepared = accept_any_request(context, arguments);
            let arguments: Value = serde_json::from_str(arguments).expect("an object");
            if arguments["wrong"] == true {
                return Err(refusal("INVALID_REQUEST", [violation("/wrong", "X")]));
            }
            Ok(prepared)
        })
        .on_check_response(|_, exchange| {
            let payload: Value = serde_json::from_str(exchange.payload).expect("JSON");
            let Some(booking) = payload["booking_id"].as_str() else {
                return Err(refusal("INTERNAL_ERROR", [violation("/booking_id", "REQUIRED")]));
            };
            let findings = if payload["total"].is_null() { vec![] } else { vec![violation("/total", "TOTAL")] };
            Ok(CheckedResponse { reference: Some(booking.to_owned()), advisory: None, findings })
        });
    Arc::new(contract)
}

/// Everything around the caller.
struct World {
    contract: Arc<ScriptedContract>,
    catalogue: Arc<Catalogue>,
    clock: Arc<TestClock>,
    partners: Arc<ScriptedPartners>,
    directory: Arc<GivenPartners>,
    journal: Arc<MemoryJournal>,
    store: Arc<MemoryStore>,
    caller: Caller,
}

/// The ranking in which the option with the number 2 was quoted.
fn receipt(contract: Digest) -> Receipt {
    let candidates = [1, 2].map(|number| ReceiptCandidate { number, json: raw(&json!({"number": number})) });
    let partner = PartnerId::parse("alpha").expect("sound");
    let payload = ReceiptPayload { partner, declared: Axes::UNDECLARED, candidates: candidates.into() };
    let score =
        ReceiptScore { number: 2, id: "thing-1".to_owned(), total: 0.5, axes: Axes::UNDECLARED, completeness: 1.0 };
    Receipt {
        id: "rank_1".to_owned(),
        at_ms: START,
        request_id: "req-1".to_owned(),
        intent: IntentId::parse(INTENT).expect("sound"),
        version: "1.0.0".parse().expect("semver"),
        contract,
        arguments: raw(&json!({})),
        payloads: vec![payload],
        history: Vec::new(),
        ranked: vec![score],
        dropped: Vec::new(),
        bookable_until_ms: None,
        outcome: Digest::of(b""),
    }
}

fn sealer() -> ReferenceSealer {
    ReferenceSealer::new(&Secret::new("test key"))
}

impl World {
    /// One in which nothing is waited for.
    fn new() -> Self {
        Self::by(TestClock::jumping_at(NOW))
    }

    /// One in which time stands still.
    fn still() -> Self {
        Self::by(TestClock::at(NOW))
    }

    fn by(clock: Arc<TestClock>) -> Self {
        Self::of(clock, with_booking_tools())
    }

    fn of(clock: Arc<TestClock>, descriptor: Descriptor) -> Self {
        let contract = contract(descriptor);
        let partners = Arc::new(ScriptedPartners::default());
        partners.reply("alpha", json!({"booking_id": "BK-1"}));
        let (journal, store) = (Arc::new(MemoryJournal::default()), Arc::new(MemoryStore::default()));
        journal.keep(receipt(contract.digest()), None);
        let catalogue = Catalogue::of([contract.clone()]);
        let directory = GivenPartners::of(["alpha", "beta"].map(|id| partner(id, &[INTENT])));
        let caller = Caller {
            contracts: catalogue.clone(),
            directory: directory.clone(),
            outbound: Arc::new(Outbound::plain(partners.clone(), clock.clone())),
            journal: journal.clone(),
            evidence: journal.clone(),
            shown_rankings: ShownRankings::new(1024 * 1024),
            clock: clock.clone(),
            references: sealer(),
            memory: KeyedWrites { store: store.clone(), vault: vault(), timer: clock.clone() },
            tracker: Tracker::default(),
            unsettled: Unsettled::default(),
            timeout: TOOL_CALL_TIMEOUT,
        };
        Self { contract, catalogue, clock, partners, directory, journal, store, caller }
    }

    fn reference(&self) -> OptionReference {
        OptionReference {
            partner: "alpha".to_owned(),
            intent: INTENT.to_owned(),
            contract: self.contract.digest(),
            request_id: "req-1".to_owned(),
            option_id: "thing-1".to_owned(),
            number: 2,
            receipt: Some("rank_1".to_owned()),
            asker: Some(AskerMark::of(&asker("user-1"))),
            result_token: Some("token".to_owned()),
            expires_at_ms: START.plus_ms(1),
            answered_at_ms: None,
            quoted: None,
        }
    }

    fn call(&self, tool: &str, reference: &str, arguments: &Value) -> Result<CallOutcome, CallError> {
        self.call_as(&asker("user-1"), INTENT, tool, reference, arguments)
    }

    fn call_as(
        &self,
        asker: &Asker,
        intent: &str,
        tool: &str,
        reference: &str,
        arguments: &Value,
    ) -> Result<CallOutcome, CallError> {
        let arguments = arguments.to_string();
        let request = CallRequest { intent, arguments: &arguments, asker, ..request(tool, reference) };
        block_on(self.caller.call(request)).map_err(|failed| failed.error)
    }

    /// Books the option; the reference to the booking.
    fn book(&self) -> String {
        let booked = self.call(BOOK, &sealer().seal(&self.reference()), &json!({})).expect("passed");
        booked.reference.expect("one")
    }

    fn answers(&self, answer: impl Into<Reply>) {
        self.partners.reply("alpha", answer);
    }

    fn was_called(&self) -> usize {
        self.partners.calls().len()
    }

    /// What the contract was told of the option, each time that it judged an answer.
    fn quoted(&self) -> Vec<Option<String>> {
        let calls = self.contract.calls().into_iter();
        let quoted = calls.filter_map(|call| match call {
            ContractCall::CheckResponse { quoted, .. } => Some(quoted),
            _ => None,
        });
        quoted.collect()
    }
}

/// A call for nobody, without arguments.
fn request<'a>(tool: &'a str, reference: &'a str) -> CallRequest<'a> {
    CallRequest {
        intent: INTENT,
        tool,
        reference,
        arguments: "{}",
        asker: &UNNAMED,
        fallback_request_id: "made-up",
        trace: None,
        listener: None,
    }
}

#[test]
fn a_call_goes_to_the_partner_of_its_reference_and_gives_one_in_turn() {
    let world = World::new();
    let called = world.call(BOOK, &sealer().seal(&world.reference()), &json!({"note": 1.50})).expect("passed");
    assert_eq!((called.partner.id.as_str(), called.request_id.as_str()), ("alpha", "made-up"));
    assert_eq!(called.payload.get(), r#"{"booking_id":"BK-1"}"#);
    let [sent] = &world.partners.calls()[..] else { panic!("one call") };
    let arguments = json!({"note": 1.50, "thing_id": "thing-1", "request_id": "made-up"});
    assert_eq!((sent.partner.as_str(), sent.tool.as_str(), &sent.arguments), ("alpha", BOOK, &arguments));
    // The contract saw the option as it was quoted.
    assert_eq!(world.quoted(), [Some(r#"{"number":2}"#.to_owned())]);
    let Ok(Reference::Booking(booking)) = sealer().open(&called.reference.expect("one")) else { panic!("no booking") };
    assert_eq!((&*booking.booking_id, booking.member.as_deref()), ("BK-1", Some("booking_id")));
    assert_eq!(
        (booking.asker, booking.option),
        (Some(AskerMark::of(&asker("user-1"))), Some(("rank_1".to_owned(), 2)))
    );
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
    let code = |outcome: Result<CallOutcome, CallError>| outcome.map(|_| ()).expect_err("refused");
    let book = |reference: &str| code(world.call(BOOK, reference, &json!({})));
    assert_eq!(book("opt_x.y"), CallError::InvalidReference);
    assert_eq!(book(&ReferenceSealer::new(&Secret::new("other")).seal(&good)), CallError::InvalidReference);
    assert_eq!(book(&seal(&|reference| reference.intent = "test.other".to_owned())), CallError::InvalidReference);
    assert_eq!(book(&seal(&|reference| reference.asker = None)), CallError::InvalidReference);
    assert_eq!(
        book(&seal(&|reference| reference.expires_at_ms = START)),
        CallError::Expired(Some("THING_GONE".into()))
    );
    let nobody = book(&seal(&|reference| reference.partner = "gamma".to_owned()));
    assert!(matches!(nobody, CallError::PartnerGone(_)), "{nobody:?}");
    for stranger in [&UNNAMED, &asker("user-2")] {
        let refused = code(world.call_as(stranger, INTENT, BOOK, &sound, &json!({})));
        assert_eq!(refused, CallError::InvalidReference);
    }
    let unknown = code(world.call_as(&asker("user-1"), "test.other", BOOK, &sound, &json!({})));
    assert_eq!(unknown, CallError::InvalidIntent("test.other".to_owned()));
    for tool in ["search_things", "fly"] {
        assert_eq!(code(world.call(tool, &sound, &json!({}))), CallError::UnknownTool(tool.to_owned()));
    }
    for arguments in [json!([]), json!({"wrong": true}), json!({"thing_id": "thing-2"}), json!({"thing_id": 1})] {
        assert!(matches!(code(world.call(BOOK, &sound, &arguments)), CallError::Refused(_)), "{arguments}");
    }
    assert_eq!((world.was_called(), world.journal.found()), (0, vec![]));
}

#[test]
fn a_booking_reference_opens_that_booking_alone() {
    let world = World::new();
    let reference = world.book();
    // Long after the option has expired.
    world.clock.set(NOW + 1_000_000);
    world.call(CANCEL, &reference, &json!({})).expect("filled in");
    world.call(CANCEL, &reference, &json!({"booking_id": "BK-1"})).expect("named");
    let refused = world.call(CANCEL, &reference, &json!({"booking_id": "BK-2", "note": "BK-1"}));
    let Err(CallError::Refused(refusal)) = refused else { panic!("taken") };
    assert_eq!((&*refusal.violations[0].pointer, &*refusal.violations[0].code), ("/booking_id", "NOT_THE_REFERENCE"));
    // A tool that has no such member: some member must name it.
    assert!(world.call(RATE, &reference, &json!({"stars": 5})).is_err());
    world.call(RATE, &reference, &json!({"order": "BK-1"})).expect("named");
    assert_eq!(world.partners.calls()[1].arguments["booking_id"], "BK-1");
}

#[test]
fn a_partners_trouble_is_told_by_code_and_recorded_where_it_is_its_fault() {
    let told = |failure: CallFailure| {
        let world = World::new();
        world.answers(failure);
        let outcome = world.call(BOOK, &sealer().seal(&world.reference()), &json!({}));
        let Err(CallError::Partner { code, .. }) = outcome else { panic!("passed") };
        (code, world.journal.found())
    };
    let drop = |code: &str| vec![(Severity::Drop, code.to_owned())];
    let note = |told: &str, code: &str| (Some(told.to_owned()), vec![(Severity::Note, code.to_owned())]);
    assert_eq!(told(platform("THING_GONE")), note("THING_GONE", "ERROR_TEXT_WITHHELD"));
    assert_eq!(told(platform("PARTNER_MAINTENANCE")), note("PARTNER_MAINTENANCE", "ERROR_TEXT_WITHHELD"));
    let wordless = CallFailure::Platform { code: "THING_GONE".to_owned(), message: String::new(), field: None };
    assert_eq!(told(wordless), (Some("THING_GONE".to_owned()), vec![]));
    assert_eq!(told(platform("MADE_UP")), note("INTERNAL_ERROR", "UNKNOWN_ERROR_CODE"));
    let text_alone = CallFailure::UnknownCode { sent: None, message: "it broke".to_owned() };
    assert_eq!(told(text_alone), note("INTERNAL_ERROR", "ERROR_WITHOUT_CODE"));
    let asks_for_less = CallFailure::RateLimited { retry_after_ms: Some(2_000) };
    assert_eq!(told(asks_for_less), (None, vec![(Severity::Note, "PARTNER_RATE_LIMITED".to_owned())]));
    assert_eq!(told(CallFailure::Timeout(30_000)), (None, vec![]));
    assert_eq!(told(CallFailure::Protocol("x".to_owned())), (None, drop("PARTNER_PROTOCOL_ERROR")));
}

#[test]
fn arguments_that_hold_a_forbidden_field_reach_no_partner() {
    let world = World::new();
    let reference = sealer().seal(&world.reference());
    let refused = world.call(BOOK, &reference, &json!({"note": "{\"ad_bid\": 1}"}));
    let Err(CallError::Refused(refusal)) = refused else { panic!("{refused:?}") };
    assert_eq!((&*refusal.violations[0].pointer, &*refusal.violations[0].code), ("/note", "FORBIDDEN_FIELD"));
    assert_eq!((world.partners.calls().len(), world.journal.found()), (0, vec![]));
}

#[test]
fn an_answer_that_a_mapping_made_only_a_part_of_is_none() {
    let world = World::new();
    let unmapped = vec![UnmappedItem { position: 0, reason: "item 0 has no `code`".to_owned() }];
    world.answers(ToolAnswer { text: json!({"booking_id": "BK-1"}).to_string(), unmapped });
    let outcome = world.call(BOOK, &sealer().seal(&world.reference()), &json!({}));
    let Err(CallError::Partner { failure, .. }) = outcome else { panic!("passed") };
    assert_eq!(failure, CallFailure::Payload("item 0 has no `code`".to_owned()));
}

#[test]
fn an_answer_that_is_no_json_is_named() {
    let world = World::new();
    world.answers(ToolAnswer::of("<html>".to_owned()));
    let outcome = world.call(BOOK, &sealer().seal(&world.reference()), &json!({}));
    let Err(CallError::Partner { failure, .. }) = outcome else { panic!("passed") };
    assert_eq!(failure, CallFailure::Payload("it is HTML, expected JSON".to_owned()));
}

#[test]
fn an_answer_is_scanned_and_judged() {
    let world = World::new();
    let reference = sealer().seal(&world.reference());
    world.answers(json!({"booking_id": "BK-1", "deep": [{"padded_price": 1}]}));
    let Err(CallError::Partner { failure, .. }) = world.call(BOOK, &reference, &json!({})) else { panic!("passed") };
    assert_eq!(failure, CallFailure::Forbidden("/deep/0/padded_price".to_owned()));
    world.answers(json!({"": [{"ad_bid": 1}]}));
    assert!(world.call(BOOK, &reference, &json!({})).is_err(), "an empty name hides nothing");
    assert!(world.quoted().is_empty(), "the contract saw none of it");
    world.answers(json!({"total": 1}));
    let Err(CallError::Answer(refusal)) = world.call(BOOK, &reference, &json!({})) else { panic!("passed") };
    assert_eq!(refusal.violations[0].code, "REQUIRED");
    world.answers(json!({"booking_id": "BK-1", "total": 1}));
    world.call(BOOK, &reference, &json!({})).expect("passed, with a finding");
    world.answers(Reply::Text("no JSON".to_owned()));
    assert!(world.call(BOOK, &reference, &json!({})).is_err());
    world.answers(Reply::Text(format!("{}1{}", "[".repeat(65), "]".repeat(65))));
    assert!(world.call(BOOK, &reference, &json!({})).is_err());
    let expected = [
        (Severity::Strike, "FORBIDDEN_FIELD"),
        (Severity::Strike, "FORBIDDEN_FIELD"),
        (Severity::Drop, "REQUIRED"),
        (Severity::Note, "TOTAL"),
        (Severity::Drop, "PARTNER_PAYLOAD_INVALID"),
        (Severity::Drop, "PARTNER_PAYLOAD_INVALID"),
    ];
    assert_eq!(world.journal.found(), expected.map(|(severity, code)| (severity, code.to_owned())));
    let findings = world.journal.all_findings();
    assert_eq!((findings[0].option_id.as_deref(), &*findings[0].request_id), (Some("thing-1"), "made-up"));
    assert!(findings.iter().all(|finding| finding.source == Some(Source::Call)));
    let sent = |at: usize| findings[at].excerpt.as_deref();
    assert_eq!((sent(0), sent(3), sent(4)), (Some("1"), Some("1"), Some("no JSON")), "what the partner sent");
    assert_eq!(sent(5).map(|sent| sent.chars().count()), Some(131));
}
