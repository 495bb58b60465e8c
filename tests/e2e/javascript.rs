//! A contract in another language: the host that runs the contracts in Rust loads and runs one in JavaScript, and
//! nothing in it knows the difference. `examples/contract-javascript` holds the contract.

#![expect(clippy::print_stderr, reason = "the times that the contract takes are for whoever asks with --nocapture")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Axes, CallContext, Candidate, Payload};
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_sandbox::{Engine, LoadedContract, SandboxConfig};
use jiff::ToSpan as _;
use serde_json::{Value, json};

use crate::harness::{Answer, Gateway, GatewayOptions, ac_contract, built};
use crate::scripted::{Behaviour, Scripted};

const INTENT: &str = "auto.book_pollution_check";
/// Calls that are timed; the fastest counts, since noise only ever adds.
const TIMED_CALLS: usize = 50;
/// Options of one answer, as many as the contract lets one partner send.
const OPTIONS: usize = 15;

/// The contract, built by `examples/contract-javascript`.
fn component() -> PathBuf {
    built("example-contracts/contract-javascript.wasm")
}

/// An instant of tomorrow in India.
fn tomorrow(hour: i64) -> String {
    let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(5).saturating_add(30.minutes()));
    let day = jiff::Zoned::now().with_time_zone(zone).start_of_day().expect("a day starts");
    (&day + (24 + hour).hours()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

fn request() -> Value {
    json!({
        "intent": INTENT,
        "user_location": {"city": "Pune", "pincode": "411001", "max_radius_km": 10},
        "vehicle": {"type": "car", "fuel_type": "petrol", "emission_norm": "bs3"},
        "service_preferences": {
            "doorstep_acceptable": false,
            "preferred_window": {"start": tomorrow(9), "end": tomorrow(19)}
        }
    })
}

fn centre(id: &str) -> Value {
    json!({
        "centre_id": id,
        "provider": {
            "provider_id": "p-1", "name": "Pune PUC Centre", "address": "1 Example Road, Pune",
            "provider_type": "testing_centre", "location": {"lat": 18.52, "lng": 73.85},
            "distance_from_user_km": 2.5, "state_authorised": true, "authorisation_number": "MH12/PUC/0001"
        },
        "slot_window": {"start": tomorrow(14), "end": tomorrow(15), "typical_duration_minutes": 15},
        "test": {
            "fuel_types": ["petrol", "cng"], "equipment_calibrated_on": &tomorrow(0)[..10], "uploads_to_vahan": true
        },
        "certificate": {"validity_months": 6, "issued_same_visit": true},
        "price": {"test_fee_inr": 100, "convenience_fee_inr": 0, "gst_inr": 18, "total_inr": 118},
        "logistics": {"doorstep_supported": false},
        "ratings": {"avg_rating": 4.5, "review_count": 120},
        "partner_reference": {"source": "scripted", "deeplink": "https://partner.example/centres/1"}
    })
}

fn with(mut option: Value, changes: &[(&str, Value)]) -> Value {
    for (pointer, value) in changes {
        *option.pointer_mut(pointer).expect("the member is there") = value.clone();
    }
    option
}

/// A gateway with contracts in its folder, and a partner of the JavaScript contract's intent.
async fn gateway_with(contracts: Vec<PathBuf>, centres: Value) -> (Gateway, Scripted) {
    let payload = json!({"result_token": "token-1", "expires_at": "2099-01-01T00:00:00Z", "centres": centres});
    let partner = Scripted::start(Behaviour::Payload(payload)).await;
    let mut entry = partner.entry("scripted");
    entry.intents = vec![INTENT.to_owned()];
    let gateway = Gateway::start(&GatewayOptions { partners: vec![entry], contracts, ..GatewayOptions::default() });
    (gateway, partner)
}

/// The AC contract and this one.
fn both() -> Vec<PathBuf> {
    vec![ac_contract(), component()]
}

async fn upload(gateway: &Gateway) -> Answer {
    let answer = gateway.upload(&std::fs::read(component()).expect("readable")).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer
}

async fn search(gateway: &Gateway, body: &Value) -> Answer {
    gateway.post(&format!("/api/v1/intents/{INTENT}/search"), body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_host_loads_lists_and_asks_it() {
    let (gateway, _partner) = gateway_with(vec![ac_contract()], json!([])).await;
    assert_eq!(search(&gateway, &request()).await.status, 404, "nobody serves the intent yet");
    let uploaded = upload(&gateway).await;
    let versions = gateway.admin_get("/contracts").await;
    let versions = versions["contracts"].as_array().expect("a list");
    let listed = versions.iter().find(|one| one["intent"] == INTENT).expect("it is listed");
    assert_eq!((&listed["digest"], &listed["live"]), (&uploaded.body["digest"], &json!(true)));
    assert!(versions.iter().any(|one| one["intent"] == "auto.book_ac_service" && one["live"] == true));

    for (utterance, decision, intent) in [
        ("bike ka pollution certificate banwana hai", "intent", json!(INTENT)),
        ("my PUC expires tomorrow", "intent", json!(INTENT)),
        ("my car's AC blows warm air", "intent", json!("auto.book_ac_service")),
        ("engine se kaala dhuan aa raha hai", "elsewhere", json!("auto.book_major_service")),
        ("what is the AQI and pollution level today", "none", Value::Null),
    ] {
        let classified = gateway.post("/api/v1/classify", &json!({"utterance": utterance})).await.body;
        assert_eq!((&classified["decision"], &classified["intent"]), (&json!(decision), &intent), "{classified}");
    }
    let also = gateway.post("/api/v1/classify", &json!({"utterance": "pollution check and car insurance"})).await.body;
    assert_eq!(also["also"], json!(["finance.buy_motor_insurance"]));

    let empty = search(&gateway, &request()).await;
    assert_eq!((empty.status, &empty.body["code"]), (200, &json!("NO_CENTRES_FOUND")), "{}", empty.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_ranks_shows_and_drops() {
    let (gateway, partner) = gateway_with(
        both(),
        json!([
            with(centre("near"), &[("/provider/distance_from_user_km", json!(1))]),
            centre("plain"),
            with(centre("unauthorised"), &[("/provider/state_authorised", json!(false))]),
            with(centre("boast"), &[("/certificate/validity_months", json!(12))]),
            with(centre("wordy"), &[("/price/gst_inr", json!("18"))]),
            with(centre("promise"), &[("/test", json!({"guaranteed_pass": true}))]),
            centre("plain"),
            with(centre("sum"), &[("/price/total_inr", json!(150))]),
        ]),
    )
    .await;
    let answer = search(&gateway, &request()).await;
    assert_eq!((answer.status, partner.calls()), (200, 1), "{}", answer.body);
    let options = answer.body["options"].as_array().expect("a list");
    let ids: Vec<_> = options.iter().map(|option| &option["option"]["centre_id"]).collect();
    assert_eq!(ids, ["near", "plain", "sum"]);
    assert_eq!((&options[0]["bookable"], &options[0]["card"]["badge"]), (&json!(true), &json!("Entered in VAHAN")));
    assert_eq!(answer.body["contract"]["version"], "1.0.0");

    let dropped = answer.body["dropped"].as_array().expect("a list").iter();
    let mut reasons: Vec<_> = dropped
        .map(|one| {
            let violation = &one["violations"][0];
            json!([one["option_id"], violation["code"], violation["pointer"], one["strike"]]).to_string()
        })
        .collect();
    reasons.sort();
    let expected = [
        json!(["boast", "VALIDITY_OVERSTATED", "/certificate/validity_months", true]),
        json!(["plain", "DUPLICATE_OPTION", "/centre_id", false]),
        json!(["promise", "FORBIDDEN_FIELD", "/test/guaranteed_pass", true]),
        json!(["unauthorised", "NOT_AUTHORISED", "/provider/state_authorised", false]),
        json!(["wordy", "WRONG_TYPE", "/price/gst_inr", false]),
    ];
    assert_eq!(reasons, expected.map(|reason| reason.to_string()));
    let findings = gateway.findings("scripted").await;
    let has = |code: &str| findings.iter().any(|finding| finding["violation"]["code"] == code);
    assert!(has("PRICE_SUM") && has("VALIDITY_OVERSTATED"), "{findings:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_request_is_refused_with_everything_and_calls_nobody() {
    let (gateway, partner) = gateway_with(both(), json!([centre("a")])).await;
    let mut bad = with(request(), &[("/vehicle/type", json!("boat")), ("/user_location/pincode", json!("4110"))]);
    bad["service_preferences"].as_object_mut().expect("an object").remove("doorstep_acceptable");
    let answer = search(&gateway, &bad).await;
    assert_eq!((answer.status, &answer.body["error"]["code"]), (400, &json!("INVALID_REQUEST")));
    let violations = answer.body["error"]["violations"].as_array().expect("a list");
    let found: Vec<_> = violations.iter().map(|v| json!([v["pointer"], v["code"]])).collect();
    assert_eq!(
        found,
        [
            json!(["/user_location/pincode", "BAD_FORMAT"]),
            json!(["/vehicle/type", "NOT_IN_VOCABULARY"]),
            json!(["/service_preferences/doorstep_acceptable", "REQUIRED"]),
        ]
    );
    let electric = search(&gateway, &with(request(), &[("/vehicle/fuel_type", json!("electric"))])).await;
    assert_eq!(electric.body["error"]["violations"][0]["code"], "VEHICLE_EXEMPT");
    // What JavaScript would read as the name of an inherited member is a value like any other.
    let mut odd = request();
    odd["ttbs_user_band"] = json!({"time": "constructor", "taste": "__proto__"});
    assert_eq!(search(&gateway, &odd).await.status, 200);
    assert_eq!(partner.calls(), 1);
}

/// The contract alone, in the sandbox as it is by default.
#[tokio::test(flavor = "multi_thread")]
async fn its_examples_hold_and_a_call_fits_the_default_limits() {
    let config = SandboxConfig::default();
    let bytes = std::fs::read(component()).expect("readable");
    let engine = Engine::new(&config).expect("the engine starts");
    let start = Instant::now();
    let contract = LoadedContract::compile(&engine, &bytes).await.expect("it loads");
    let compiled = start.elapsed();
    contract.run_examples().await.expect("its examples hold");

    let context = CallContext { request_id: "timed".to_owned(), now: Timestamp::from_ms(1_767_225_600_000) };
    let request = request().to_string();
    let option = |n: usize| {
        with(centre(&format!("c-{n}")), &[("/provider/distance_from_user_km", json!(n as f64 / 2.0))]).to_string()
    };
    let compact: Vec<_> = (0..OPTIONS).map(option).collect();
    // As Python writes JSON: not the way in which JavaScript does, so the contract has to look closer.
    let spaced: Vec<_> = compact.iter().map(|option| option.replace("\":", "\": ")).collect();
    let mut times = Vec::new();
    for options in [&compact[..0], &compact, &spaced] {
        let candidates = (0..).zip(options).map(|(number, json)| Candidate { number, json }).collect();
        let payloads = [Payload { declared: Axes::UNDECLARED, candidates }];
        let mut fastest = Duration::MAX;
        for _ in 0..TIMED_CALLS {
            let start = Instant::now();
            let evaluation = contract.evaluate(&context, &request, &payloads, &[]).await.expect("within the limits");
            fastest = fastest.min(start.elapsed());
            assert_eq!(evaluation.ranked.len(), options.len());
        }
        times.push(fastest);
    }
    eprintln!(
        "JavaScript contract: {} KB, compiled in {compiled:?}; evaluate with no option {:?}, {OPTIONS} options {:?}, \
         as many in another spelling {:?}",
        bytes.len() / 1000,
        times[0],
        times[1],
        times[2]
    );
    assert!(times.iter().all(|time| *time < config.deadline()), "{times:?}");
}

/// Reading takes time in proportion to the text, whatever the text is: one partner cannot use up a call that serves
/// all of them.
#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_partner_does_not_use_up_the_call() {
    /// Characters of an option that the contract still reads.
    const READ_MAX: usize = 4_096;
    /// Depth that the host lets pass.
    const DEPTH: usize = 64;
    let engine = Engine::new(&SandboxConfig::default()).expect("the engine starts");
    let bytes = std::fs::read(component()).expect("readable");
    let contract = LoadedContract::compile(&engine, &bytes).await.expect("it loads");
    let context = CallContext { request_id: "hostile".to_owned(), now: Timestamp::from_ms(1_767_225_600_000) };
    let request = request().to_string();
    let filled = |before: &str, piece: &str, after: &str| {
        format!("{before}{}{after}", piece.repeat((READ_MAX - before.len() - after.len()) / piece.len()))
    };
    let whole = centre("c").to_string();
    let long_link = |link: &str| whole.replace("https://partner.example/centres/1", link);
    let far = READ_MAX - whole.len();
    for (what, option, code) in [
        ("a member that occurs twice", whole.replacen('{', r#"{"price": {"total_inr": 1}, "#, 1), "DUPLICATE_KEY"),
        ("nothing but members", filled(r#"{"a":1"#, r#","a":1"#, "}"), "DUPLICATE_KEY"),
        ("escaped quotes", filled(r#"{"centre_id":""#, r"\u0022", r#""}"#), "REQUIRED"),
        ("backslashes", filled(r#"{"centre_id":"\\ud"#, r"\\", r#""}"#), "REQUIRED"),
        ("half a character", filled(r#"{"centre_id":""#, r"\ud83d", r#""}"#), "INVALID_JSON"),
        ("entries of the wrong kind", filled(r#"{"test":{"fuel_types":[0"#, ",0", "]}}"), "TOO_MANY_ITEMS"),
        ("a host without end", long_link(&format!("https://{}!", "a.".repeat(far / 2 - 10))), "BAD_FORMAT"),
        ("a user without end", long_link(&format!("https://{}", "a:".repeat(far / 2 - 10))), "BAD_FORMAT"),
        ("as deep as can be", format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH)), "WRONG_TYPE"),
        ("one character too many", filled("[", " ", "]") + &" ".repeat(READ_MAX), "TOO_LONG"),
    ] {
        let candidates = (0..).zip(std::iter::repeat_n(option.as_str(), OPTIONS));
        let candidates = candidates.map(|(number, json)| Candidate { number, json }).collect();
        let payloads = [Payload { declared: Axes::UNDECLARED, candidates }];
        let start = Instant::now();
        let evaluation = contract.evaluate(&context, &request, &payloads, &[]).await.expect("within the deadline");
        eprintln!("{OPTIONS} times {what}: {:?}", start.elapsed());
        assert_eq!(evaluation.dropped.len(), OPTIONS, "{what}");
        let codes: Vec<_> = evaluation.dropped[0].violations.iter().map(|violation| violation.code.as_str()).collect();
        assert!(codes.contains(&code), "{what}: {codes:?}");
    }
}
