//! A contract of `test.hostile` that does as it should until a request names a misdeed.
//!
//! What it declares is decided by a block of text in its data, which tests overwrite in the built component:
//! one build gives every version and every kind of bad descriptor. What it does in `evaluate` is decided by
//! the request's text: the name of a misdeed, or an object with that name under `do`.

#![expect(unsafe_code, reason = "the generated exports hand out raw memory")]

use std::mem::ManuallyDrop;

wit_bindgen::generate!({ path: "../../../wit", world: "intent-contract" });

use exports::intent_gateway::contract::contract::*;
use intent_gateway::contract::faults;

/// Version and mode, to be overwritten: `@@hostile-guest@@<version>;<mode>;` padded with blanks.
#[used]
static SETTINGS: [u8; 64] = *b"@@hostile-guest@@1.0.0;honest;                                  ";
/// Length of the marker that tests look for.
const MARKER_BYTES: usize = 17;
/// What the examples are about.
const NOTHING: Subject = Subject { quoted: None, order: None };
/// Each takes about two nanoseconds.
const TURNS_OF_A_DAWDLE: u64 = 20_000_000;
/// One MiB.
const MIB: usize = 1024 * 1024;

fn settings() -> (&'static str, &'static str) {
    let settings: &'static [u8; 64] = std::hint::black_box(&SETTINGS);
    let text = std::str::from_utf8(&settings[MARKER_BYTES..]).unwrap_or_default();
    let mut parts = text.split(';');
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

/// The misdeed that a request names.
fn misdeed(request: &str) -> &str {
    match request.split_once("\"do\":\"") {
        Some((_, rest)) => rest.split('"').next().unwrap_or_default(),
        None => request,
    }
}

/// The misdeed of a version that is faulty by itself, as its mode says: `<one request in how many>:<misdeed>`. Its examples, which
/// name no request, pass.
fn fault_of(mode: &'static str, request: &str) -> Option<&'static str> {
    let (one_in, misdeed) = mode.split_once(':')?;
    // FNV-1a: the same requests each time, and about as many as they should be.
    let hash = request
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let is_chosen = (hash >> 32).is_multiple_of(one_in.parse().ok()?);
    (request.contains("request_id") && is_chosen).then_some(misdeed)
}

struct Hostile;

impl Guest for Hostile {
    fn describe() -> Descriptor {
        let (version, mode) = settings();
        match mode {
            "describe-traps" => panic!("as asked"),
            "describe-tells" => tell_and_trap("the table of leaves is empty"),
            "describe-spins" => spin(),
            _ => {}
        }
        let bad = mode == "bad-descriptor";
        Descriptor {
            intent: "test.hostile".to_owned(),
            version: if bad { "one".to_owned() } else { version.to_owned() },
            domain: if bad { "auto" } else { "test" }.to_owned(),
            agent: "TestAgent".to_owned(),
            title: "Hostile".to_owned(),
            summary: "Misbehaves on request.".to_owned(),
            search: SearchShape {
                tool: "search_things".to_owned(),
                options_key: if bad { "" } else { "things" }.to_owned(),
                id_key: "thing_id".to_owned(),
                price_pointer: bad.then(|| "thing_inr".to_owned()),
                max_options: if bad { 0 } else { 15 },
                empty_code: None,
                gone_code: None,
            },
            tools: tools(bad),
            ranking: ranking(bad),
            vocabularies: vec![vocabulary(mode)],
            forbidden_fields: Vec::new(),
            rules: Vec::new(),
            errors: vec![PlatformError {
                code: "FEE_DUE".to_owned(),
                http_status: if bad { 99 } else { 200 },
                meaning: "An advisory.".to_owned(),
                retry: None,
            }],
            widget: Widget { widget_type: "generic_listings".to_owned(), preferred: None, slots: Vec::new() },
            completion: Completion {
                statuses: vec!["completed".to_owned(), "cancelled".to_owned()],
                charged_statuses: vec![if bad { "sold" } else { "completed" }.to_owned()],
                amount_max_inr: if bad { 0 } else { 10_000 },
                schema: if bad { "[]" } else { "{}" }.to_owned(),
            },
            aliases: if mode == "also-named" { vec!["test.other".to_owned()] } else { Vec::new() },
            order: None,
            data_lifetimes: Vec::new(),
            go_live: if bad { vec![go_live()] } else { Vec::new() },
            cues: if bad { Vec::new() } else { vec!["thing".to_owned()] },
            pairs: vec!["test.paired".to_owned()],
            elsewhere: Vec::new(),
        }
    }

    fn classify(utterance: String, _locale: String) -> Classification {
        if utterance.contains("telling") {
            tell_and_trap("no tea\nis left");
        }
        let also = if utterance.contains("unpaired") { vec!["test.unpaired".to_owned()] } else { Vec::new() };
        let score = if utterance.contains("thing") { 1.0 } else { 0.0 };
        Classification {
            score: if utterance.contains("nan") { f64::NAN } else { score },
            evidence: vec!["thing".to_owned()],
            elsewhere: Vec::new(),
            also,
        }
    }

    fn check_request(
        _context: Context,
        _tool: String,
        arguments: String,
        _about: Subject,
    ) -> Result<PreparedRequest, Refusal> {
        match arguments.as_str() {
            "refuse" => Err(refusal(vec![violation("INVALID_THING")])),
            "refuse without violations" => Err(refusal(Vec::new())),
            "refuse with a bad code" => Err(refusal(vec![violation("invalid thing")])),
            _ => Ok(PreparedRequest {
                arguments: match arguments.as_str() {
                    "bad arguments" => "[]".to_owned(),
                    object if object.starts_with('{') => arguments,
                    _ => "{}".to_owned(),
                },
                need: Need { city: None, postal_code: None, from_ms: None, until_ms: None },
                notes: Vec::new(),
            }),
        }
    }

    fn evaluate(
        _context: Context,
        request: String,
        payloads: Vec<Payload>,
        _history: Vec<PastOrder>,
    ) -> Result<Evaluation, Refusal> {
        let whole = request;
        let (version, mode) = settings();
        let request = fault_of(mode, &whole).unwrap_or_else(|| misdeed(&whole));
        match request {
            "dawdle" => dawdle(),
            "spin" => spin(),
            "repeat" => tell_and_trap(&whole),
            "trap" => panic!("as asked"),
            "tell" => tell_and_trap("no tea\nis left"),
            "tell twice" => {
                faults::report("the first", None);
                tell_and_trap("the second")
            }
            "tell at length" => tell_and_trap(&"☂".repeat(MIB / 3)),
            "tell without end" => tell_and_trap(&"x".repeat(8 * MIB)),
            "tell in control characters" => {
                faults::report("\u{1b}[2Jgone\r\u{202e}\0", Some("\u{7}src\n"));
                trap()
            }
            "tell in bad utf8" => tell_in_bad_utf8(),
            "tell and answer" => faults::report("all is well", None),
            "memory" => hoard(),
            "leave secrets" => leave_secrets(),
            "look for secrets" => return Ok(evaluation(&payloads, count_secrets().to_string())),
            "stack" => return Ok(evaluation(&payloads, deep(u32::MAX).to_string())),
            "giant" => return Ok(evaluation(&payloads, "x".repeat(2 * MIB))),
            "aliased" => return Err(aliased()),
            "bad utf8" => return Err(bad_utf8()),
            _ => {}
        }
        let mut evaluation = evaluation(&payloads, version.to_owned());
        tamper(request, &mut evaluation);
        Ok(evaluation)
    }

    fn check_response(_context: Context, exchange: Exchange) -> Result<CheckedResponse, Refusal> {
        let advisory = match exchange.payload.as_str() {
            "advise" => Some("FEE_DUE".to_owned()),
            "advise wrongly" => Some("NO_SUCH_CODE".to_owned()),
            _ => None,
        };
        Ok(CheckedResponse { reference: Some("booking-1".to_owned()), advisory, findings: Vec::new() })
    }

    fn check_completion(_context: Context, report: String, _about: Subject) -> Result<CheckedCompletion, Refusal> {
        let (status, amount_paise) = match report.as_str() {
            "unlisted" => ("sold", 100),
            "uncharged" => ("cancelled", 100),
            "negative" => ("completed", -1),
            _ => ("completed", 100),
        };
        Ok(CheckedCompletion {
            external_id: "order-1".to_owned(),
            request_id: "request-1".to_owned(),
            status: status.to_owned(),
            amount_paise,
            charged: true,
            late_minutes: None,
            findings: Vec::new(),
            strikes: Vec::new(),
        })
    }

    fn examples() -> Vec<Example> {
        let (_, mode) = settings();
        let example = |name: &str, call| Example {
            name: name.to_owned(),
            call,
            expect: Expectation { accepted: true, codes: Vec::new(), order: Vec::new() },
        };
        let mut examples = vec![
            example("a thing is claimed", ExampleCall::Classify("find me a thing".to_owned())),
            example(
                "a request passes",
                ExampleCall::CheckRequest(RequestExample {
                    tool: "search_things".to_owned(),
                    arguments: "{}".to_owned(),
                    about: NOTHING,
                }),
            ),
            example("options are ranked", ExampleCall::Evaluate(search_example())),
            example(
                "an answer passes",
                ExampleCall::CheckResponse(Exchange {
                    tool: "book_thing".to_owned(),
                    arguments: "{}".to_owned(),
                    payload: "{}".to_owned(),
                    about: NOTHING,
                }),
            ),
            example(
                "a report passes",
                ExampleCall::CheckCompletion(CompletionExample { report: "{}".to_owned(), about: NOTHING }),
            ),
        ];
        examples[2].expect.order = vec!["first".to_owned(), "second".to_owned()];
        match mode {
            "example-fails" => examples[2].expect.order.reverse(),
            "example-missing" => examples.truncate(3),
            "example-tells" => {
                if let ExampleCall::Evaluate(search) = &mut examples[2].call {
                    search.request = "tell".to_owned();
                }
            }
            "example-traps" => {
                if let ExampleCall::Evaluate(search) = &mut examples[2].call {
                    search.request = "trap".to_owned();
                }
            }
            _ => {}
        }
        examples
    }
}

export!(Hostile);

fn tools(bad: bool) -> Vec<Tool> {
    let tool = |name: &str, role| Tool {
        name: name.to_owned(),
        role,
        purpose: "For tests.".to_owned(),
        latency: LatencyTargets { p50_ms: 1, p95_ms: 2, p99_ms: None },
        rate_per_minute: Some(60),
        idempotency_key: None,
        retry: RetryPolicy { on_rate_limited: 0, on_server_error: 0 },
        cache_seconds: None,
        orders_tool: None,
        request_schema: if bad { "no JSON" } else { "{}" }.to_owned(),
        response_schema: "{}".to_owned(),
    };
    let role = if bad { ToolRole::Utility } else { ToolRole::Search };
    vec![tool("search_things", role), tool(if bad { "search_things" } else { "book_thing" }, ToolRole::Create)]
}

/// A requirement on a tool that there is not.
fn go_live() -> Requirement {
    let check = RequirementCheck::WithinLatency("search_nothing".to_owned());
    Requirement { code: "LATENCY".to_owned(), text: "It is quick.".to_owned(), check, valid_days: None }
}

fn ranking(bad: bool) -> Ranking {
    Ranking {
        weights: Axes { time: if bad { 0.5 } else { 0.25 }, taste: 0.25, budget: 0.25, safety: 0.25 },
        declared_share: if bad { 2.0 } else { 0.2 },
        completeness_share: 0.1,
        signals: vec![Signal { axis: Axis::Time, name: "speed".to_owned(), weight: if bad { 0.9 } else { 1.0 } }],
        bands: Vec::new(),
    }
}

fn vocabulary(mode: &str) -> Vocabulary {
    let mut values = vec!["a".to_owned(), "b".to_owned()];
    if mode == "more-words" {
        values.push("c".to_owned());
    }
    Vocabulary { name: "kind".to_owned(), values }
}

fn search_example() -> SearchExample {
    let candidate = |number, json: &str| Candidate { number, json: json.to_owned() };
    SearchExample {
        request: "{}".to_owned(),
        payloads: vec![Payload {
            declared: Axes { time: 0.5, taste: 0.5, budget: 0.5, safety: 0.5 },
            candidates: vec![candidate(7, "first"), candidate(3, "second")],
        }],
        history: Vec::new(),
    }
}

fn violation(code: &str) -> Violation {
    Violation { pointer: "/thing".to_owned(), code: code.to_owned(), message: "For tests.".to_owned() }
}

fn refusal(violations: Vec<Violation>) -> Refusal {
    Refusal { code: "INVALID_REQUEST".to_owned(), violations }
}

/// All options, in the order given, each with its text as identifier and `told` in its card.
fn evaluation(payloads: &[Payload], told: String) -> Evaluation {
    let candidates = payloads.iter().flat_map(|payload| &payload.candidates);
    let ranked = candidates.enumerate().map(|(place, candidate)| {
        let score = 1.0 / (place as f64 + 1.0);
        RankedOption {
            number: candidate.number,
            id: candidate.json.clone(),
            total: score,
            axes: Axes { time: score, taste: score, budget: score, safety: score },
            completeness: 1.0,
            card: format!("{{\"told\":\"{told}\"}}"),
        }
    });
    Evaluation { ranked: ranked.collect(), dropped: Vec::new(), findings: Vec::new() }
}

/// Makes one promise of the interface untrue.
fn tamper(misdeed: &str, evaluation: &mut Evaluation) {
    let Some(first) = evaluation.ranked.first_mut() else { return };
    match misdeed {
        "unknown number" => first.number = 99_999,
        "same number twice" => {
            let number = first.number;
            evaluation.ranked.iter_mut().for_each(|option| option.number = number);
        }
        "lost option" => drop(evaluation.ranked.pop()),
        "nan total" => first.total = f64::NAN,
        "infinite axis" => first.axes.safety = f64::INFINITY,
        "completeness above one" => first.completeness = 1.5,
        "worst first" => evaluation.ranked.reverse(),
        "card is no json" => first.card = "{".to_owned(),
        "card is no object" => first.card = "[1]".to_owned(),
        "dropped without reason" => {
            let dropped = evaluation.ranked.remove(0);
            evaluation.dropped.push(DroppedOption {
                number: dropped.number,
                id: None,
                strike: false,
                violations: Vec::new(),
            });
        }
        "drop the first" => drop_first(evaluation),
        "drop all" => (0..evaluation.ranked.len()).for_each(|_| drop_first(evaluation)),
        "exchange the first two" => exchange(&mut evaluation.ranked, 0, 1),
        "exchange the last two" => exchange(&mut evaluation.ranked, 1, 2),
        "finding on nothing" => {
            evaluation.findings.push(Finding { number: 99_999, violation: violation("ODD_THING") });
        }
        "finding with a bad pointer" => {
            let mut violation = violation("ODD_THING");
            violation.pointer = "thing".to_owned();
            evaluation.findings.push(Finding { number: first.number, violation });
        }
        _ => {}
    }
}

/// Takes the best option out, and says why.
fn drop_first(evaluation: &mut Evaluation) {
    let first = evaluation.ranked.remove(0);
    let violations = vec![violation("ODD_THING")];
    evaluation.dropped.push(DroppedOption { number: first.number, id: None, strike: false, violations });
}

/// Two options in each other's places, with the scores of those.
fn exchange(ranked: &mut [RankedOption], one: usize, other: usize) {
    let scores = [one, other].map(|place| (ranked[place].total, ranked[place].axes));
    ranked.swap(one, other);
    for (place, (total, axes)) in [one, other].into_iter().zip(scores) {
        (ranked[place].total, ranked[place].axes) = (total, axes);
    }
}

/// A trap without a panic.
fn trap() -> ! {
    std::process::abort()
}

/// Says why before it traps, as the SDK's panic hook does.
fn tell_and_trap(message: &str) -> ! {
    faults::report(message, Some("src/tea.rs:7:9"));
    trap()
}

#[expect(unsafe_code, reason = "only unsafe code makes a string that is no UTF-8")]
fn tell_in_bad_utf8() -> ! {
    let bytes = std::hint::black_box([0xff, 0xfe]);
    // SAFETY: broken on purpose; nothing here reads it as text before the host does.
    faults::report(unsafe { str::from_utf8_unchecked(&bytes) }, None);
    trap()
}

fn spin() -> ! {
    let mut turns = 0_u64;
    loop {
        turns = std::hint::black_box(turns.wrapping_add(1));
    }
}

/// Some ten milliseconds of a processor.
fn dawdle() {
    let mut state = std::hint::black_box(1_u64);
    for _ in 0..TURNS_OF_A_DAWDLE {
        // Xorshift, of which no end is known without going there.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    std::hint::black_box(state);
}

fn hoard() -> ! {
    let mut hoard = Vec::new();
    loop {
        hoard.push(std::hint::black_box(vec![1_u8; MIB]));
    }
}

/// How much memory secrets are left in, bytes: more than stays resident, and less than an instance has.
const SECRETS_BYTES: usize = 4 * MIB;

/// What is left there again and again. Made anew each time, so that it stands nowhere else.
fn secret() -> u64 {
    std::hint::black_box(0x5ec2_e700_0000_0000) | std::hint::black_box(0x1234_5678)
}

/// Fills memory with secrets, and stays until it is stopped.
fn leave_secrets() -> ! {
    let secrets = vec![secret(); SECRETS_BYTES / size_of::<u64>()];
    std::hint::black_box(&secrets);
    spin()
}

/// How many secrets of others stand in memory that was never written here.
#[expect(unsafe_code, reason = "only unsafe code reads memory that was not written")]
fn count_secrets() -> usize {
    let unwritten: Vec<u64> = Vec::with_capacity(SECRETS_BYTES / size_of::<u64>());
    let secret = secret();
    let is_secret = |place: &usize| {
        // SAFETY: within the capacity; what stands there is some number, and is read as it is.
        unsafe { std::ptr::read_volatile(unwritten.as_ptr().add(*place)) == secret }
    };
    (0..unwritten.capacity()).filter(is_secret).count()
}

/// Recursion that the optimiser cannot turn into a loop.
fn deep(left: u32) -> u64 {
    let frame = std::hint::black_box([left; 64]);
    if left == 0 { 0 } else { deep(left - 1) + u64::from(frame[0]) }
}

/// Four thousand strings of one MiB that share their bytes: little memory here, four GiB for a host that
/// copies each. The strings are never freed, which a host that refuses them does not mind.
#[expect(unsafe_code, reason = "only unsafe code makes strings that share their bytes")]
fn aliased() -> Refusal {
    let shared = ManuallyDrop::new("x".repeat(MIB));
    let violations = (0..4_096).map(|_| Violation {
        pointer: String::new(),
        code: "ALIASED".to_owned(),
        // SAFETY: the bytes live until the instance ends, and nothing writes to or frees them: the host stops
        // reading long before it would hand them back.
        message: unsafe { String::from_raw_parts(shared.as_ptr().cast_mut(), MIB, MIB) },
    });
    refusal(violations.collect())
}

#[expect(unsafe_code, reason = "only unsafe code makes a string that is no UTF-8")]
fn bad_utf8() -> Refusal {
    let mut violation = violation("BAD_TEXT");
    // SAFETY: broken on purpose; nothing here reads it as text before the host does.
    violation.message = unsafe { String::from_utf8_unchecked(vec![0xff, 0xfe]) };
    refusal(vec![violation])
}
