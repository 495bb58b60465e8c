//! The go-live requirements of every contract that ships: a partner that does all that the spec asks meets them, and
//! one that misses a thing misses the requirement that asks for it and no other.

use std::sync::Arc;
use std::time::Duration;

use intent_gateway_domain::clock::SystemClock;
use intent_gateway_domain::golive::GoLiveCheck as _;
use intent_gateway_domain::golive::{Confirmation, GoLiveReport, ItemState, PLATFORM_CODES};
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_routing::golive::GoLiveRunner;
use intent_gateway_sandbox::{Engine, LoadedContract, SandboxConfig};
use intent_gateway_testing::directory::partner;
use intent_gateway_testing::partners::ScriptedPartners;
use serde_json::{Value, json};

use crate::harness::{built, root};

/// What a partner answers: the options for a request.
type Catalogue = dyn Fn(&Value) -> Vec<Value> + Send + Sync;

/// A contract that ships.
#[derive(Clone, Copy)]
struct Subject {
    intent: &'static str,
    package: &'static str,
    options_key: &'static str,
}

const AC: Subject = Subject { intent: "auto.book_ac_service", package: "auto-book-ac-service", options_key: "slots" };
const INSURANCE: Subject =
    Subject { intent: "finance.buy_motor_insurance", package: "finance-buy-motor-insurance", options_key: "quotes" };
const YOGA: Subject =
    Subject { intent: "lifestyle.book_yoga_class", package: "lifestyle-book-yoga-class", options_key: "options" };

impl Subject {
    /// A sample of the contract with changes at some pointers.
    fn sample(self, name: &str, changes: &[(&str, Value)]) -> Value {
        let path = root().join("plugins").join(self.package).join("samples").join(name);
        let mut sample =
            serde_json::from_slice(&std::fs::read(path).expect("the sample is there")).expect("it is JSON");
        change(&mut sample, changes);
        sample
    }

    async fn check(self, samples: &[Value], catalogue: Arc<Catalogue>) -> GoLiveReport {
        let component = std::fs::read(built(&format!("contracts/{}.wasm", self.package))).expect("readable");
        let engine = Engine::new(&SandboxConfig::default()).expect("the engine starts");
        let contract = LoadedContract::compile(&engine, &component).await.expect("the contract loads");
        let confirmed: Vec<_> = contract
            .descriptor()
            .go_live
            .iter()
            .filter(|requirement| requirement.check.is_for_people(&contract.descriptor().search.tool))
            .map(|requirement| Confirmation { code: requirement.code.clone(), note: "seen".to_owned() })
            .collect();
        let calls = ScriptedPartners::default();
        calls.reply_with("alpha", move |call, _| {
            let options = catalogue(&call.arguments);
            json!({"result_token": "t", "expires_at": "2099-01-01T00:00:00Z", self.options_key: options}).into()
        });
        let runner =
            GoLiveRunner { calls: Arc::new(calls), clock: Arc::new(SystemClock), timeout: Duration::from_secs(30) };
        let samples: Vec<String> = samples.iter().map(Value::to_string).collect();
        runner
            .run(Arc::new(partner("alpha", &[self.intent])), Arc::new(contract), &samples, &confirmed)
            .await
            .expect("the samples are sound")
    }
}

fn change(document: &mut Value, changes: &[(&str, Value)]) {
    for (pointer, value) in changes {
        *document.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is not there")) = value.clone();
    }
}

/// The items that failed, with what was seen.
fn failures(report: &GoLiveReport) -> Vec<(&str, &str)> {
    assert!(report.items.iter().all(|item| item.state != ItemState::ByHand), "all was confirmed that can be");
    let failed = report.items.iter().filter(|item| item.state == ItemState::Failed);
    failed.map(|item| (item.code.as_str(), item.detail.as_str())).collect()
}

fn ac_samples() -> Vec<Value> {
    let systems = ["manual", "automatic", "climate_control", "dual_zone", "manual"];
    systems.map(|system| AC.sample("request.json", &[("/vehicle/ac_system_type", json!(system))])).to_vec()
}

/// Slots in a row, half an hour apart, at some providers in turn.
fn slots(count: usize, providers: usize) -> Arc<Catalogue> {
    Arc::new(move |_| {
        let slot = |number: usize| {
            let start = format!("2026-05-04T{:02}:{:02}:00+05:30", 9 + number / 2, number % 2 * 30);
            AC.sample(
                "slot.json",
                &[
                    ("/slot_id", json!(format!("slot-{number}"))),
                    ("/provider/provider_id", json!(format!("provider-{}", number % providers))),
                    ("/slot_window/start", json!(start)),
                    ("/slot_window/end", json!("2026-05-04T19:00:00+05:30")),
                ],
            )
        };
        (0..count).map(slot).collect()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn of_car_ac_service() {
    let report = AC.check(&ac_samples(), slots(8, 3)).await;
    assert_eq!(failures(&report), []);
    assert!(report.passed());
    assert_eq!(report.items.len(), PLATFORM_CODES.len() + 8);

    let report = AC.check(&ac_samples(), slots(8, 2)).await;
    let seen = "2 of 3 providers, 8 of 8 slots seen in the best 24 hours";
    assert_eq!(failures(&report), [("CATALOGUE_DEPTH", seen)]);

    let report = AC.check(&ac_samples()[..3], slots(8, 3)).await;
    let (values, samples) =
        ("3 of 4 values found; no sample asks for: dual_zone", "3 of 5 samples that a percentile takes");
    assert_eq!(failures(&report), [("AC_SYSTEMS_COVERED", values), ("SEARCH_LATENCY", samples)]);
}

/// A sample of each kind that the requirements ask for.
fn insurance_samples() -> Vec<Value> {
    let new = |changes: &[(&str, Value)]| INSURANCE.sample("request-new.json", changes);
    let old = |changes: &[(&str, Value)]| INSURANCE.sample("request.json", changes);
    vec![
        old(&[]),
        new(&[]),
        new(&[
            ("/vehicle/type", json!("two_wheeler")),
            ("/vehicle/subtype", json!("scooter")),
            ("/vehicle/engine_cc", json!(110)),
            ("/buyer_preferences/long_term_tp_years", json!(5)),
        ]),
        old(&[
            ("/vehicle/fuel_type", json!("electric")),
            ("/vehicle/kw_rating", json!(60)),
            ("/vehicle/battery_kwh", json!(40.5)),
        ]),
        old(&[("/purchase_context", json!("lapsed_fresh")), ("/previous_policy/lapse_days", json!(120))]),
        old(&[
            ("/purchase_context", json!("used_vehicle_first_policy")),
            ("/previous_policy/has_prior_policy", json!(false)),
            ("/previous_policy/insurer_name", json!(null)),
            ("/previous_policy/expiry_date", json!(null)),
        ]),
    ]
}

/// Quotes of some insurers for whatever is asked, changed in the end.
fn quotes(insurers: usize, spoil: fn(&Value, &mut Value)) -> Arc<Catalogue> {
    Arc::new(move |request| {
        let years = &request["buyer_preferences"]["long_term_tp_years"];
        let used = request["purchase_context"] == "used_vehicle_first_policy";
        let inspected = used || request["previous_policy"]["lapse_days"].as_i64() > Some(90);
        let quote = |number: usize| {
            let name = if *years == json!(0) { "quote.json" } else { "quote-bundle.json" };
            let mut quote = INSURANCE.sample(
                name,
                &[
                    ("/quote_id", json!(format!("quote-{number}"))),
                    ("/insurer/insurer_id", json!(format!("insurer-{number}"))),
                    ("/long_term_tp_years", years.clone()),
                    ("/inspection_required", json!(inspected)),
                ],
            );
            if inspected {
                let none = [("/ncb_applied_pct", json!(0)), ("/premium_breakdown/ncb_discount_inr", json!(0))];
                change(&mut quote, &none);
            }
            spoil(request, &mut quote);
            quote
        };
        (0..insurers).map(quote).collect()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn of_motor_insurance() {
    let report = INSURANCE.check(&insurance_samples(), quotes(5, |_, _| {})).await;
    assert_eq!(failures(&report), []);
    assert!(report.passed());
    assert_eq!(report.items.len(), PLATFORM_CODES.len() + 14);

    let report = INSURANCE.check(&insurance_samples(), quotes(4, |_, _| {})).await;
    assert_eq!(failures(&report), [("INSURERS", "4 of 5 insurers seen")]);

    let careless = |_: &Value, quote: &mut Value| quote["inspection_required"] = json!(false);
    let report = INSURANCE.check(&insurance_samples(), quotes(5, careless)).await;
    let [("INSPECTIONS", detail)] = failures(&report)[..] else { panic!("{report:?}") };
    let vain = "asked for without an option: a lapse of more than 90 days, a used vehicle's first policy";
    assert_eq!(detail, format!("{vain}; breaches of `INSPECTION_OMITTED`: 10"));

    // One insurer underbids the tariff, for cars that are not electric.
    let underbidding = |request: &Value, quote: &mut Value| {
        if request["vehicle"]["fuel_type"] == "petrol" && quote["insurer"]["insurer_id"] == "insurer-0" {
            quote["premium_breakdown"]["third_party_premium_inr"] = json!(100);
            quote["premium_breakdown"]["long_term_tp_premium_inr"] = json!(0);
        }
    };
    let report = INSURANCE.check(&insurance_samples(), quotes(5, underbidding)).await;
    let codes: Vec<_> = failures(&report).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["TP_FLOOR_KEPT"]);

    let overvaluing = |request: &Value, quote: &mut Value| {
        if let Some(invoice) = request["vehicle"]["invoice_value_inr"].as_i64() {
            quote["idv_inr"] = json!(invoice + 1);
        }
    };
    let undervaluing = |request: &Value, quote: &mut Value| {
        if let Some(invoice) = request["vehicle"]["invoice_value_inr"].as_i64() {
            quote["idv_inr"] = json!(invoice / 2);
        }
    };
    let valuings: [fn(&Value, &mut Value); 2] = [overvaluing, undervaluing];
    for valuing in valuings {
        let report = INSURANCE.check(&insurance_samples(), quotes(5, valuing)).await;
        let codes: Vec<_> = failures(&report).into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, ["IDV_BOUNDS"]);
    }
}

/// Two studios, the second without what is at the pointer.
fn studios(lacking: Option<&'static str>) -> Arc<Catalogue> {
    Arc::new(move |_| {
        let studio = |id: &str| YOGA.sample("option.json", &[("/yoga_studio/identity/id", json!(id))]);
        let mut second = studio("studio-2");
        if let Some(pointer) = lacking {
            change(&mut second, &[(pointer, json!(false))]);
        }
        vec![studio("studio-1"), second]
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn of_yoga_classes() {
    let samples = vec![YOGA.sample("request.json", &[]); 5];
    let report = YOGA.check(&samples, studios(None)).await;
    assert_eq!(failures(&report), []);
    assert!(report.passed());
    assert_eq!(report.items.len(), PLATFORM_CODES.len() + 15);

    for (pointer, code, breach) in [
        ("/yoga_studio/trust/first_aid_kit_present", "STUDIOS_SAFE", "breaches of `NO_FIRST_AID_KIT`: 5"),
        ("/yoga_studio/trust/fire_safety_compliant", "STUDIOS_SAFE", "breaches of `FIRE_SAFETY`: 5"),
    ] {
        let report = YOGA.check(&samples, studios(Some(pointer))).await;
        assert_eq!(failures(&report), [(code, breach)]);
    }
}
