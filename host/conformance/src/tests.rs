//! A shop whose server does everything right passes; one fault at a time, and each is found where it is, and nowhere else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures_executor::block_on;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{
    CheckedResponse, DroppedOption, Evaluation, KeptValue, Opening, OrderOutcome, OrderSource, OrderState, OrderStep,
    OrderWay, Tool, ToolRole,
};
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::secret::Secret;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract::{
    ScriptedContract, accept_any_request, candidates, descriptor, platform, ranked, refusal, row, tool, violation,
};
use intent_gateway_testing::partners::{RecordedCall, Reply, ScriptedPartners};
use intent_gateway_testing::probe::ProbedServer;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::material::{Material, Shown};
use crate::orders::CUT_OFF_AFTER;
use crate::report::{Check, Code, Outcome, Report};
use crate::{ConformanceError, PARTNER, Subject, examine};

const NOW_MS: u64 = 1_790_000_000_000;
const BOOK: &str = "book_thing";
const CANCEL: &str = "cancel_thing";
const SEARCH: &str = "search_things";
const TOKEN: &str = "of-the-shop";

/// What a shop does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    LacksTool,
    AnswersUnknownTool,
    TakesEveryToken,
    FailsToSearch,
    SellsPlaces,
    OffersNonsense,
    ReadsTooStrictly,
    AnswersEmptySearches,
    ServesFew,
    BreaksOnBadBookings,
    BooksUnknownThings,
    NamesNoBooking,
    SellsPlacesInBookings,
    ForgetsCutOffCalls,
    BooksTwice,
    OverlooksOtherBody,
    CancelsNothing,
}

/// A shop with two things, as a partner's server.
struct Shop {
    fault: Fault,
    /// Bookings by their keys: thing and booking.
    booked: Mutex<BTreeMap<String, (String, String)>>,
    /// The bookings so far.
    made: Mutex<Vec<String>>,
    searches: Mutex<usize>,
}

/// Searches of a shop that serves few: all but those at once.
const FEW_SEARCHES: usize = 9;

impl Shop {
    fn reply(&self, call: &RecordedCall) -> Reply {
        let answered = match call.tool.as_str() {
            _ if call.bearer.as_deref().is_some_and(|token| token != TOKEN) && self.fault != Fault::TakesEveryToken => {
                Err(CallFailure::SignInRequired { challenge: "Bearer".to_owned() })
            }
            SEARCH => self.search(&call.arguments),
            BOOK => self.book(call),
            CANCEL => self.cancel(&call.arguments),
            _ if self.fault == Fault::AnswersUnknownTool => Ok(json!({})),
            _ => Err(platform("METHOD_NOT_FOUND")),
        };
        answered.into()
    }

    fn search(&self, arguments: &Value) -> Result<Value, CallFailure> {
        let number = {
            let mut searches = self.searches.lock().expect("no test panics in it");
            *searches += 1;
            *searches
        };
        let is_known = |member: &String| ["where", "request_id"].contains(&member.as_str());
        let is_strict = self.fault == Fault::ReadsTooStrictly;
        match self.fault {
            Fault::FailsToSearch => return Err(CallFailure::HttpStatus(500)),
            Fault::ServesFew if number > FEW_SEARCHES => return Err(CallFailure::RateLimited { retry_after_ms: None }),
            _ if is_strict && !arguments.as_object().is_some_and(|members| members.keys().all(is_known)) => {
                return Err(platform("INVALID_REQUEST"));
            }
            Fault::AnswersEmptySearches => {}
            _ if arguments["where"].is_null() => return Err(platform("INVALID_REQUEST")),
            _ => {}
        }
        let mut things = [json!({"thing_id": "t-81", "price_inr": 100}), json!({"thing_id": "t-82", "price_inr": 200})];
        match self.fault {
            Fault::SellsPlaces => things[1]["padded_price"] = json!(250),
            Fault::OffersNonsense => things[1]["price_inr"] = json!(-1),
            _ => {}
        }
        Ok(json!({"result_token": "rt", "expires_at": "2026-12-31T00:00:00Z", "things": things}))
    }

    fn book(&self, call: &RecordedCall) -> Result<Value, CallFailure> {
        let text = |member: &str| call.arguments[member].as_str().map(str::to_owned);
        let Some(thing) = text("thing_id") else {
            return Err(match self.fault {
                Fault::BreaksOnBadBookings => CallFailure::HttpStatus(500),
                _ => platform("INVALID_REQUEST"),
            });
        };
        if !["t-81", "t-82"].contains(&thing.as_str()) && self.fault != Fault::BooksUnknownThings {
            return Err(platform("THING_GONE"));
        }
        let key = text("request_id").ok_or_else(|| platform("INVALID_REQUEST"))?;
        let mut booked = self.booked.lock().expect("no test panics in it");
        let known = booked.get(&key).filter(|_| self.fault != Fault::BooksTwice).cloned();
        let booking = match known {
            Some((of, booking)) if of == thing || self.fault == Fault::OverlooksOtherBody => {
                if self.fault == Fault::ForgetsCutOffCalls {
                    return Err(platform("IDEMPOTENCY_CONFLICT"));
                }
                booking
            }
            Some(_) => return Err(platform("IDEMPOTENCY_CONFLICT")),
            None => {
                let mut made = self.made.lock().expect("no test panics in it");
                let booking = format!("bk-400{}", made.len() + 1);
                made.push(booking.clone());
                booked.insert(key, (thing.clone(), booking.clone()));
                booking
            }
        };
        // The caller has gone meanwhile.
        if call.timeout <= CUT_OFF_AFTER {
            return Err(CallFailure::Timeout(0));
        }
        Ok(match self.fault {
            Fault::NamesNoBooking => json!({"thing_id": thing}),
            Fault::SellsPlacesInBookings => json!({"booking_id": booking, "padded_price": 1}),
            _ => json!({"booking_id": booking}),
        })
    }

    fn cancel(&self, arguments: &Value) -> Result<Value, CallFailure> {
        let made = self.made.lock().expect("no test panics in it");
        let is_known = made.iter().any(|booking| arguments["booking_id"] == *booking);
        match self.fault {
            Fault::CancelsNothing => Err(platform("INTERNAL_ERROR")),
            _ if !is_known => Err(platform("INVALID_REQUEST")),
            _ => Ok(json!({"booking_id": arguments["booking_id"]})),
        }
    }
}

/// What each tool requires.
const REQUIRED: [(&str, &[&str]); 3] =
    [(SEARCH, &["where"]), (CANCEL, &["request_id", "booking_id"]), (BOOK, &["request_id", "thing_id"])];

fn schema(name: &str) -> Value {
    let required = REQUIRED.iter().find(|(tool, _)| *tool == name).expect("a tool of the shop").1;
    let properties: Value = required.iter().map(|member| ((*member).to_owned(), json!({"type": "string"}))).collect();
    json!({"type": "object", "required": required, "properties": properties})
}

fn declared_tool(name: &str, role: ToolRole) -> Tool {
    Tool {
        request_schema: RawValue::from_string(schema(name).to_string()).expect("it is JSON"),
        idempotency_key: (role != ToolRole::Search).then(|| "request_id".to_owned()),
        ..tool(name, role, 0, 0)
    }
}

fn way() -> OrderWay {
    let state =
        |name: &str, closed| OrderState { name: name.to_owned(), meaning: String::new(), closed, milestones: vec![] };
    let step = |tool: &str, opening, states: &[&str], to: &str| OrderStep {
        tool: tool.to_owned(),
        opening,
        states: states.iter().map(ToString::to_string).collect(),
        refusals: vec![],
        deadlines: vec![],
        keeps: vec![KeptValue {
            name: "booking_id".to_owned(),
            source: OrderSource::Answer,
            pointer: "/booking_id".to_owned(),
            identifies: true,
        }],
        outcomes: vec![OrderOutcome { from: vec![], pointer: None, values: vec![], state: to.to_owned() }],
    };
    OrderWay {
        states: vec![state("booked", false), state("cancelled", true)],
        steps: vec![step(BOOK, Opening::Always, &[], "booked"), step(CANCEL, Opening::Never, &["booked"], "cancelled")],
        amount: None,
        due_after: None,
        history: vec![],
    }
}

fn contract() -> ScriptedContract {
    let mut declared = descriptor("1.0.0");
    declared.tools = vec![
        declared_tool(SEARCH, ToolRole::Search),
        // It ends an order, and is named before what opens one.
        declared_tool(CANCEL, ToolRole::Cancel),
        declared_tool(BOOK, ToolRole::Create),
    ];
    declared.errors = vec![row("THING_GONE", 410, None)];
    declared.order = Some(way());
    ScriptedContract::new(declared)
        .on_check_request(|context, _, arguments| Ok(accept_any_request(context, arguments)))
        .on_evaluate(|_, _, payloads| {
            let mut evaluation = Evaluation::default();
            for candidate in candidates(payloads) {
                let option: Value = serde_json::from_str(candidate.json).expect("an option");
                let id = option["thing_id"].as_str().expect("an identifier").to_owned();
                match option["price_inr"].as_f64() {
                    Some(price) if price >= 0.0 => evaluation.ranked.push(ranked(candidate.number, &id, 0.5)),
                    _ => evaluation.dropped.push(DroppedOption {
                        number: candidate.number,
                        id: Some(id),
                        strike: false,
                        violations: vec![violation("/price_inr", "OUT_OF_RANGE")],
                    }),
                }
            }
            Ok(evaluation)
        })
        .on_check_response(|_, exchange| {
            let answer: Value = serde_json::from_str(exchange.payload).expect("it was scanned");
            let reference = answer["booking_id"].as_str().map(str::to_owned);
            if reference.is_none() {
                return Err(refusal("INTERNAL_ERROR", [violation("/booking_id", "REQUIRED")]));
            }
            Ok(CheckedResponse { reference, advisory: None, findings: vec![] })
        })
}

fn shown_tools(fault: Fault) -> Vec<Value> {
    let names = [SEARCH, BOOK, CANCEL];
    let shown = names.iter().filter(|name| fault != Fault::LacksTool || **name != CANCEL).map(|name| {
        json!({
            "name": name,
            "description": "Deals with things.",
            "inputSchema": schema(name),
            "_meta": {"platform": {"intent": "test.find_things", "domain": "test"}},
        })
    });
    shown.collect()
}

fn subject(fault: Fault) -> Subject {
    let shop = Shop { fault, booked: Mutex::default(), made: Mutex::default(), searches: Mutex::default() };
    let partners = Arc::new(ScriptedPartners::default());
    partners.reply_with(PARTNER, move |call, _| shop.reply(call));
    let examples = [
        Shown::Arguments { tool: SEARCH, arguments: r#"{"where": "here"}"# },
        Shown::Arguments { tool: BOOK, arguments: r#"{"request_id": "r-1", "thing_id": "t-1"}"# },
        Shown::Arguments { tool: CANCEL, arguments: r#"{"request_id": "r-1", "booking_id": "b-1"}"# },
        Shown::Option(r#"{"thing_id": "t-1", "price_inr": 1}"#),
    ];
    let clock = TestClock::at(NOW_MS);
    Subject {
        calls: partners,
        probe: ProbedServer::showing(shown_tools(fault)),
        material: Material::of_examples(SEARCH, examples, Timestamp::from_ms(NOW_MS)),
        clock,
        endpoint: Endpoint::mcp("https://shop.example/mcp"),
        token: Some(Secret::new(TOKEN)),
        contract: Arc::new(contract()),
        places_orders: true,
    }
}

fn quiet(_: &Check) {}

fn try_shop(subject: &Subject) -> Report<'static> {
    block_on(examine(subject, &quiet)).expect("it can be tried")
}

fn list_checks(report: &Report<'_>, outcome: Outcome) -> Vec<(Code, Option<String>)> {
    let found = report.checks.iter().filter(|check| check.outcome == outcome);
    found.map(|check| (check.code, check.tool.clone())).collect()
}

#[test]
fn a_shop_that_does_everything_right_passes_everything() {
    let report = try_shop(&subject(Fault::None));
    assert!(report.holds());
    let passed = list_checks(&report, Outcome::Passed);
    assert_eq!(passed.len(), report.checks.len(), "{:#?}", report.checks);
    // The shop has no server whose times could be measured, and is measured all the same.
    for code in Code::ALL {
        assert!(passed.iter().any(|(passed, _)| *passed == code), "{code:?} was not checked");
    }
}

#[test]
fn each_fault_is_found_where_it_is() {
    let book = Some(BOOK);
    for (fault, code, tool) in [
        (Fault::LacksTool, Code::ToolsComplete, None),
        (Fault::AnswersUnknownTool, Code::UnknownToolRefused, None),
        (Fault::TakesEveryToken, Code::WrongTokenRefused, Some(SEARCH)),
        (Fault::FailsToSearch, Code::SearchAnswered, Some(SEARCH)),
        (Fault::SellsPlaces, Code::NoForbiddenFields, Some(SEARCH)),
        (Fault::OffersNonsense, Code::OptionsValid, Some(SEARCH)),
        (Fault::ReadsTooStrictly, Code::UnknownMembersTaken, Some(SEARCH)),
        (Fault::AnswersEmptySearches, Code::BadArgumentsRefused, Some(SEARCH)),
        (Fault::ServesFew, Code::SearchesAtOnce, Some(SEARCH)),
        (Fault::BreaksOnBadBookings, Code::BadArgumentsRefused, book),
        (Fault::BooksUnknownThings, Code::UnknownIdentifierRefused, book),
        (Fault::NamesNoBooking, Code::AnswerValid, book),
        (Fault::SellsPlacesInBookings, Code::NoForbiddenFields, book),
        (Fault::ForgetsCutOffCalls, Code::CutOffCallRepeated, book),
        (Fault::BooksTwice, Code::KeyRepeated, book),
        (Fault::OverlooksOtherBody, Code::KeyWithOtherBody, book),
    ] {
        let report = try_shop(&subject(fault));
        assert!(!report.holds());
        let expected = vec![(code, tool.map(str::to_owned))];
        let failed = list_checks(&report, Outcome::Failed);
        let failed: Vec<_> = failed.into_iter().filter(|found| !is_followed_by(fault, found)).collect();
        assert_eq!(failed, expected, "{fault:?}: {:#?}", report.checks);
    }
}

/// What a fault leads to besides: two bookings under one key cannot be told from other arguments.
fn is_followed_by(fault: Fault, found: &(Code, Option<String>)) -> bool {
    fault == Fault::BooksTwice && found.0 == Code::KeyWithOtherBody
}

#[test]
fn an_order_that_is_not_cancelled_is_told() {
    let report = try_shop(&subject(Fault::CancelsNothing));
    let failed: Vec<_> = list_checks(&report, Outcome::Failed).into_iter().map(|(code, _)| code).collect();
    assert_eq!(failed, [Code::BadArgumentsRefused, Code::UnknownIdentifierRefused, Code::AnswerValid]);
    let left = report.checks.iter().find(|check| check.code == Code::OrderClosed).expect("it is told");
    assert_eq!((left.outcome, left.detail.as_str()), (Outcome::Noted, "bk-4001 is left `booked`"));
}

#[test]
fn without_orders_only_searches_are_made() {
    let mut subject = subject(Fault::None);
    subject.places_orders = false;
    let report = try_shop(&subject);
    let skipped = list_checks(&report, Outcome::Skipped);
    assert_eq!(skipped, [CANCEL, BOOK].map(|tool| (Code::AnswerValid, Some(tool.to_owned()))));
    assert!(report.checks.iter().all(|check| check.code != Code::OrderClosed));
}

#[test]
fn a_request_that_the_contract_refuses_is_no_fault_of_the_server() {
    let mut subject = subject(Fault::None);
    let refuse = |_: &_, _: &str, _: &str| Err(refusal("INVALID_REQUEST", [violation("/where", "REQUIRED")]));
    subject.contract = Arc::new(contract().on_check_request(refuse));
    let error = block_on(examine(&subject, &quiet)).err();
    assert!(matches!(error, Some(ConformanceError::Requests(_))), "{error:?}");
}
