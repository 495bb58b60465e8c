//! A contract of `mobility.book_ride`, as small as can be: none that ships has a track tool, and streams are about those.
//!
//! It judges nothing but what the tests need: a ride is ranked by where it stands in the answer, a booking's answer names its
//! ride, and the answer to `track_ride` must have a `status`.

#![expect(unsafe_code, reason = "the generated exports hand out raw memory")]

wit_bindgen::generate!({ path: "../../../wit", world: "intent-contract" });

use exports::intent_gateway::contract::contract::*;

struct Ride;

/// What the examples are about.
const NOTHING: Subject = Subject { quoted: None, order: None };

/// The text of a member of a JSON object, where it is a text without escapes. Enough for the documents of the tests.
fn text_of<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = json.split_once(&format!("\"{name}\""))?;
    let (before, rest) = rest.split_once('"')?;
    let is_value = before.trim().trim_start_matches(':').trim().is_empty();
    rest.split('"').next().filter(|_| is_value)
}

/// A JSON object with a member in front.
fn with(json: &str, member: &str) -> String {
    match json.trim().strip_prefix('{').map(str::trim_start) {
        Some("}") => format!("{{{member}}}"),
        Some(rest) => format!("{{{member},{rest}"),
        None => json.to_owned(),
    }
}

impl Guest for Ride {
    fn describe() -> Descriptor {
        let quarter = Axes { time: 0.25, taste: 0.25, budget: 0.25, safety: 0.25 };
        Descriptor {
            intent: "mobility.book_ride".to_owned(),
            version: "1.0.0".to_owned(),
            domain: "mobility".to_owned(),
            agent: "MobilityAgent".to_owned(),
            title: "Rides".to_owned(),
            summary: "Books a ride and follows it.".to_owned(),
            search: SearchShape {
                tool: "get_ride_estimates".to_owned(),
                options_key: "rides".to_owned(),
                id_key: "ride_id".to_owned(),
                price_pointer: None,
                max_options: 15,
                empty_code: None,
                gone_code: None,
            },
            tools: tools(),
            ranking: Ranking {
                weights: quarter,
                declared_share: 0.2,
                completeness_share: 0.1,
                signals: Vec::new(),
                bands: Vec::new(),
            },
            vocabularies: Vec::new(),
            forbidden_fields: Vec::new(),
            rules: Vec::new(),
            errors: vec![
                error("RIDE_OVER", 410, "The ride is over and cannot be followed any more."),
                error("LOCATION_LOST", 503, "The vehicle cannot be located at the moment."),
            ],
            widget: Widget { widget_type: "generic_listings".to_owned(), preferred: None, slots: Vec::new() },
            completion: Completion {
                statuses: vec!["completed".to_owned()],
                charged_statuses: vec!["completed".to_owned()],
                amount_max_inr: 10_000,
                schema: "{}".to_owned(),
            },
            aliases: Vec::new(),
            order: None,
            data_lifetimes: Vec::new(),
            go_live: Vec::new(),
            cues: vec!["ride".to_owned()],
            pairs: Vec::new(),
            elsewhere: Vec::new(),
        }
    }

    fn classify(utterance: String, _locale: String) -> Classification {
        let score = if utterance.contains("ride") { 1.0 } else { 0.0 };
        Classification { score, evidence: vec!["ride".to_owned()], elsewhere: Vec::new(), also: Vec::new() }
    }

    fn check_request(
        context: Context,
        _tool: String,
        arguments: String,
        _about: Subject,
    ) -> Result<PreparedRequest, Refusal> {
        if !arguments.starts_with('{') || text_of(&arguments, "refuse").is_some() {
            return Err(refusal("/refuse", "REFUSED"));
        }
        let arguments = match text_of(&arguments, "request_id") {
            Some(_) => arguments,
            None => with(&arguments, &format!("\"request_id\":\"{}\"", context.request_id)),
        };
        let need = Need { city: None, postal_code: None, from_ms: None, until_ms: None };
        Ok(PreparedRequest { arguments, need, notes: Vec::new() })
    }

    fn evaluate(
        _context: Context,
        _request: String,
        payloads: Vec<Payload>,
        _history: Vec<PastOrder>,
    ) -> Result<Evaluation, Refusal> {
        let candidates: Vec<&Candidate> = payloads.iter().flat_map(|payload| &payload.candidates).collect();
        let mut ranked: Vec<RankedOption> = candidates.iter().filter_map(|candidate| rank(candidate)).collect();
        let taken: Vec<u32> = ranked.iter().map(|option| option.number).collect();
        let dropped = candidates.iter().filter(|candidate| !taken.contains(&candidate.number));
        let dropped = dropped.map(|candidate| DroppedOption {
            number: candidate.number,
            id: None,
            strike: false,
            violations: vec![violation("/ride_id", "REQUIRED")],
        });
        let dropped = dropped.collect();
        ranked.sort_by(|one, other| other.total.total_cmp(&one.total).then_with(|| one.id.cmp(&other.id)));
        Ok(Evaluation { ranked, dropped, findings: Vec::new() })
    }

    fn check_response(_context: Context, exchange: Exchange) -> Result<CheckedResponse, Refusal> {
        let ride = text_of(&exchange.payload, "ride_id").map(str::to_owned);
        if exchange.tool == "track_ride" && text_of(&exchange.payload, "status").is_none() {
            return Err(refusal("/status", "REQUIRED"));
        }
        Ok(CheckedResponse { reference: ride, advisory: None, findings: Vec::new() })
    }

    fn check_completion(_context: Context, _report: String, _about: Subject) -> Result<CheckedCompletion, Refusal> {
        Ok(CheckedCompletion {
            external_id: "ride-1".to_owned(),
            request_id: "request-1".to_owned(),
            status: "completed".to_owned(),
            amount_paise: 100,
            charged: true,
            late_minutes: None,
            findings: Vec::new(),
            strikes: Vec::new(),
        })
    }

    fn examples() -> Vec<Example> {
        let example = |name: &str, call| Example {
            name: name.to_owned(),
            call,
            expect: Expectation { accepted: true, codes: Vec::new(), order: Vec::new() },
        };
        let request =
            RequestExample { tool: "get_ride_estimates".to_owned(), arguments: "{}".to_owned(), about: NOTHING };
        let candidate = Candidate { number: 1, json: r#"{"ride_id":"a","fare":"9"}"#.to_owned() };
        let declared = Axes { time: 0.5, taste: 0.5, budget: 0.5, safety: 0.5 };
        let payloads = vec![Payload { declared, candidates: vec![candidate] }];
        let exchange = Exchange {
            tool: "track_ride".to_owned(),
            arguments: "{}".to_owned(),
            payload: r#"{"status":"on_the_way"}"#.to_owned(),
            about: NOTHING,
        };
        let report = CompletionExample { report: "{}".to_owned(), about: NOTHING };
        vec![
            example("a ride is claimed", ExampleCall::Classify("I need a ride".to_owned())),
            example("a request passes", ExampleCall::CheckRequest(request)),
            example(
                "a ride is ranked",
                ExampleCall::Evaluate(SearchExample { request: "{}".to_owned(), payloads, history: Vec::new() }),
            ),
            example("an answer passes", ExampleCall::CheckResponse(exchange)),
            example("a report passes", ExampleCall::CheckCompletion(report)),
        ]
    }
}

export!(Ride);

/// The cheaper the better, up to a fare of 100.
fn rank(candidate: &Candidate) -> Option<RankedOption> {
    let id = text_of(&candidate.json, "ride_id")?.to_owned();
    let fare: f64 = text_of(&candidate.json, "fare").and_then(|fare| fare.parse().ok()).unwrap_or(100.0);
    let total = (1.0 - fare / 100.0).clamp(0.0, 1.0);
    let card = r#"{"title":"A ride"}"#.to_owned();
    let axes = Axes { time: total, taste: total, budget: total, safety: total };
    Some(RankedOption { number: candidate.number, id, total, axes, completeness: 1.0, card })
}

fn tools() -> Vec<Tool> {
    let tool = |name: &str, role, schema: &str| Tool {
        name: name.to_owned(),
        role,
        purpose: "For tests.".to_owned(),
        latency: LatencyTargets { p50_ms: 100, p95_ms: 400, p99_ms: Some(800) },
        rate_per_minute: Some(600),
        idempotency_key: None,
        retry: RetryPolicy { on_rate_limited: 0, on_server_error: 0 },
        cache_seconds: None,
        orders_tool: None,
        request_schema: schema.to_owned(),
        response_schema: "{}".to_owned(),
    };
    let of_a_ride = r#"{"type":"object","properties":{"ride_id":{"type":"string"}}}"#;
    vec![
        tool("get_ride_estimates", ToolRole::Search, "{}"),
        tool("book_ride", ToolRole::Create, of_a_ride),
        tool("track_ride", ToolRole::Track, of_a_ride),
    ]
}

fn error(code: &str, http_status: u16, meaning: &str) -> PlatformError {
    PlatformError { code: code.to_owned(), http_status, meaning: meaning.to_owned(), retry: None }
}

fn violation(pointer: &str, code: &str) -> Violation {
    Violation { pointer: pointer.to_owned(), code: code.to_owned(), message: "For tests.".to_owned() }
}

fn refusal(pointer: &str, code: &str) -> Refusal {
    Refusal { code: "INVALID_REQUEST".to_owned(), violations: vec![violation(pointer, code)] }
}
