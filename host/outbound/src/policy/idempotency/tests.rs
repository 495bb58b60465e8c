use proptest::prelude::*;

use super::*;
use intent_gateway_domain::user::{Orchestrator, Pseudonym};
use intent_gateway_domain::vault::Sealed;
use intent_gateway_testing::contract as test_support;
use intent_gateway_testing::contract::{descriptor, platform, row};
use intent_gateway_testing::users::{UNNAMED, asker};

const START: Timestamp = Timestamp::from_ms(1_000_000_000);
const CALL_MS: u64 = CALL_SETTLED_MS;

fn partner(name: &str) -> PartnerId {
    PartnerId::parse(name).expect("well formed")
}

fn tool(name: &str, role: ToolRole, key: Option<&str>) -> Tool {
    let mut tool = test_support::tool(name, role, 0, 0);
    tool.idempotency_key = key.map(str::to_owned);
    tool
}

fn read(arguments: &str) -> Result<Option<KeyedWrite>, KeyError> {
    let create = tool("create_thing", ToolRole::Create, Some("request_id"));
    KeyedWrite::read(&partner("one"), "a.b", &create, arguments, &UNNAMED)
}

fn write(arguments: &str) -> KeyedWrite {
    read(arguments).expect("well formed").expect("a key")
}

fn unknown(attempt: &Attempt) -> Attempt {
    attempt.clone().fail(Effect::Possible).expect("stays")
}

fn answer() -> SealedAnswer {
    SealedAnswer(Sealed::from_text("sealed".to_owned()))
}

#[test]
fn which_calls_have_a_key() {
    let read = |role, key, arguments| {
        KeyedWrite::read(&partner("one"), "a.b", &tool("some_tool", role, key), arguments, &UNNAMED)
            .expect("well formed")
    };
    for role in [ToolRole::Create, ToolRole::Modify, ToolRole::Cancel, ToolRole::Rate, ToolRole::Utility] {
        assert!(read(role, Some("k"), r#"{"k":"1"}"#).is_some(), "{role:?}");
        assert_eq!(read(role, None, r#"{"k":"1"}"#), None, "{role:?}");
        assert_eq!(read(role, Some("k"), r#"{"l":"1"}"#), None, "{role:?}");
    }
    for role in [ToolRole::Search, ToolRole::GetDetail, ToolRole::Track] {
        assert_eq!(read(role, Some("k"), r#"{"k":"1"}"#), None, "{role:?}");
    }
}

#[test]
fn which_keys_are_taken() {
    let longest = "é".repeat(KEY_MAX_CHARS);
    for key in [r#""a""#, "7", "-7", &format!("\"{longest}\"")] {
        assert!(read(&format!(r#"{{"request_id":{key}}}"#)).is_ok(), "{key}");
    }
    for key in [r#""""#, "null", "true", "1.5", "{}", "[]", &format!("\"{longest}x\"")] {
        assert!(matches!(read(&format!(r#"{{"request_id":{key}}}"#)), Err(KeyError::Key(_))), "{key}");
    }
    for arguments in ["[]", "{", r#"{"request_id":"a","request_id":"b"}"#] {
        assert!(matches!(read(arguments), Err(KeyError::Arguments(_))), "{arguments}");
    }
    assert_ne!(write(r#"{"request_id":"7"}"#).id(), write(r#"{"request_id":7}"#).id());
}

#[test]
fn a_key_belongs_to_one_partner_intent_tool_orchestrator_and_user() {
    let (create, cancel) =
        (tool("create_thing", ToolRole::Create, Some("k")), tool("cancel_thing", ToolRole::Cancel, Some("k")));
    let (ann, bob) = (asker("ann"), asker("bob"));
    let other = Asker::new(Orchestrator::new("test-issuer", "another"), Some(&Pseudonym::parse("ann").expect("sound")));
    let id = |name, intent, tool: &Tool, user| {
        let write = KeyedWrite::read(&partner(name), intent, tool, r#"{"k":"1"}"#, user);
        write.expect("well formed").expect("a key").id()
    };
    let ids = [
        id("one", "a.b", &create, &UNNAMED),
        id("two", "a.b", &create, &UNNAMED),
        id("one", "a.c", &create, &UNNAMED),
        id("one", "a.b", &cancel, &UNNAMED),
        id("one", "a.b", &create, &ann),
        id("one", "a.b", &create, &bob),
        id("one", "a.b", &create, &other),
    ];
    assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), ids.len());
    assert_eq!(id("one", "a.b", &create, &ann), ids[4]);
}

#[test]
fn every_case_of_the_table() {
    let first = write(r#"{"request_id":"r1","slot":1}"#);
    let same = write(r#"{"slot":1.0,"request_id":"r1"}"#);
    let other = write(r#"{"request_id":"r1","slot":2}"#);
    assert_eq!((same.id(), other.id()), (first.id(), first.id()));
    let pending = first.begin(None, START);
    let (unknown, done) = (unknown(&pending), pending.clone().succeed(answer()));
    let answer = answer();
    let (new, again) = (Ruling::GoesOut { again: false }, Ruling::GoesOut { again: true });
    let (over, day) = (START.plus_ms(CALL_MS), START.plus_ms(KEPT_MS));
    for (name, kept, now, expected, otherwise) in [
        ("nothing", None, START, new, new),
        ("under way", Some(&pending), START.plus_ms(1), Ruling::UnderWay(CALL_MS - 1), Ruling::Conflict),
        ("nearly over", Some(&pending), over.minus_ms(1), Ruling::UnderWay(1), Ruling::Conflict),
        ("left by a crash", Some(&pending), over, again, Ruling::Conflict),
        ("begun by a clock ahead", Some(&pending), START.minus_ms(60_000), Ruling::UnderWay(CALL_MS), Ruling::Conflict),
        ("unknown", Some(&unknown), START, again, Ruling::Conflict),
        ("done", Some(&done), START, Ruling::Done(&answer), Ruling::Conflict),
        ("done, nearly a day ago", Some(&done), day.minus_ms(1), Ruling::Done(&answer), Ruling::Conflict),
        ("done a day ago", Some(&done), day, new, new),
        ("unknown for a day", Some(&unknown), day, new, new),
        ("left a day ago", Some(&pending), day, new, new),
    ] {
        assert_eq!(same.judge(kept, now), expected, "{name}");
        assert_eq!(other.judge(kept, now), otherwise, "{name}, other arguments");
    }
}

#[test]
fn a_call_that_goes_out_again_keeps_its_day() {
    let first = write(r#"{"request_id":"r1"}"#);
    let unknown = unknown(&first.begin(None, START));
    let late = START.plus_ms(KEPT_MS - 1);
    let again = first.begin(Some(&unknown), late);
    assert_eq!((again.began_at_ms, &again.state), (START, &State::Pending(late)));
    // Its day ends while it is under way: it is not called a second time meanwhile.
    assert_eq!(first.judge(Some(&again), late.plus_ms(10)), Ruling::UnderWay(CALL_MS - 10));
    assert_eq!(first.judge(Some(&again), late.plus_ms(CALL_MS)), Ruling::GoesOut { again: false });
    assert_eq!(first.begin(Some(&again), late.plus_ms(CALL_MS)).began_at_ms, late.plus_ms(CALL_MS));
}

#[test]
fn what_a_failure_leaves_behind() {
    let mut descriptor = descriptor("1.0.0");
    descriptor.errors = vec![row("SLOT_GONE", 409, None)];
    for (failure, effect) in [
        (platform("SLOT_GONE"), Effect::None),
        (CallFailure::RateLimited { retry_after_ms: None }, Effect::None),
        (CallFailure::Busy, Effect::None),
        (platform("INTERNAL_ERROR"), Effect::Possible),
        (CallFailure::Timeout(1), Effect::Possible),
        (CallFailure::Payload(String::new()), Effect::Possible),
    ] {
        assert_eq!(Effect::of(&failure, &descriptor), effect, "{failure:?}");
    }
}

#[test]
fn a_refusal_tells_nothing_of_the_call_before() {
    let (first, other) = (write(r#"{"request_id":"r1","slot":1}"#), write(r#"{"request_id":"r1","slot":2}"#));
    let pending = first.begin(None, START);
    assert_eq!(pending.clone().fail(Effect::None), None);
    // The second call is refused: perhaps because the first one took the slot.
    for before in [unknown(&pending), pending] {
        let again = first.begin(Some(&before), START.plus_ms(CALL_MS));
        let refused = again.fail(Effect::None).expect("stays");
        assert_eq!(other.judge(Some(&refused), START.plus_ms(CALL_MS)), Ruling::Conflict);
        assert_eq!(first.judge(Some(&refused), START.plus_ms(CALL_MS)), Ruling::GoesOut { again: true });
    }
}

#[test]
fn it_is_kept_as_json_and_says_nothing_of_the_user() {
    let write = write(r#"{"request_id":"r1","contact_phone":"+919800000000"}"#);
    let pending = write.begin(None, START);
    for attempt in [pending.clone(), unknown(&pending), pending.succeed(answer())] {
        let text = serde_json::to_string(&attempt).expect("serialises");
        assert_eq!(serde_json::from_str::<Attempt>(&text).expect("reads back"), attempt);
        assert_eq!(attempt.key(), write.id().to_string());
        let shown = format!("{attempt:?}");
        assert!(!shown.contains("booking_id") && !text.contains("+9198"), "{shown} {text}");
    }
}

/// What happens to the one call that may be under way.
#[derive(Clone, Copy, Debug)]
enum Event {
    Ask { other_body: bool },
    Answered,
    Refused,
    Lost,
    Crash,
    Pass(u64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => any::<bool>().prop_map(|other_body| Event::Ask { other_body }),
        1 => Just(Event::Answered),
        1 => Just(Event::Refused),
        1 => Just(Event::Lost),
        1 => Just(Event::Crash),
        2 => (0_u64..60_000).prop_map(Event::Pass),
        1 => (KEPT_MS - 60_000..KEPT_MS + 60_000).prop_map(Event::Pass),
    ]
}

proptest! {
    /// Within a day, under one key: never two calls at a time, never other arguments after ones that may have landed, and one
    /// answer for ever.
    #[test]
    fn one_key_is_one_booking(events in prop::collection::vec(event(), 1..80)) {
        let writes = [write(r#"{"request_id":"r1","slot":1}"#), write(r#"{"request_id":"r1","slot":2}"#)];
        let mut kept: Option<Attempt> = None;
        // The call under way: when it began, and whether its process still lives.
        let mut call: Option<(Timestamp, bool)> = None;
        // The arguments that may have landed, with the time of the first call; whether more than one call was made of them.
        let (mut now, mut landed, mut repeated): (Timestamp, Option<(Digest, Timestamp)>, bool) = (START, None, false);
        for event in events {
            match event {
                Event::Ask { other_body } => {
                    let ask = &writes[usize::from(other_body)];
                    let within_a_day = landed.filter(|(_, since)| now.ms_since(*since) < KEPT_MS);
                    match ask.judge(kept.as_ref(), now) {
                        Ruling::GoesOut { again } => {
                            prop_assert!(call.is_none_or(|(began, lives)| !lives && now.ms_since(began) >= CALL_MS));
                            prop_assert!(within_a_day.is_none_or(|(body, _)| body == ask.body && again));
                            kept = Some(ask.begin(kept.as_ref(), now));
                            call = Some((now, true));
                            repeated = within_a_day.is_some();
                            landed = landed.filter(|_| within_a_day.is_some()).or(Some((ask.body, now)));
                        }
                        Ruling::UnderWay(wait_ms) => prop_assert!((1..=CALL_MS).contains(&wait_ms) && call.is_some()),
                        Ruling::Done(same) => {
                            prop_assert_eq!(same, &answer());
                            prop_assert!(within_a_day.is_some_and(|(body, _)| body == ask.body));
                        }
                        Ruling::Conflict => prop_assert_ne!(kept.as_ref().map(|kept| kept.body), Some(ask.body)),
                    }
                }
                Event::Answered | Event::Refused | Event::Lost => {
                    let Some((_, true)) = call else { continue };
                    call = None;
                    kept = match event {
                        Event::Answered => kept.map(|kept| kept.succeed(answer())),
                        Event::Lost => kept.and_then(|kept| kept.fail(Effect::Possible)),
                        _ => kept.and_then(|kept| kept.fail(Effect::None)),
                    };
                    if matches!(event, Event::Refused) && !repeated {
                        landed = None;
                    }
                }
                Event::Crash => call = call.map(|(began, _)| (began, false)),
                Event::Pass(ms) => {
                    // A living call ends within its time.
                    if call.is_none_or(|(began, lives)| !lives || now.plus_ms(ms) < began.plus_ms(CALL_MS)) {
                        now = now.plus_ms(ms);
                    }
                }
            }
        }
    }
}
