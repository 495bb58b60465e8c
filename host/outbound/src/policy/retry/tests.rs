use proptest::prelude::*;

use super::*;
use intent_gateway_domain::contract::{PlatformError, ToolRole};
use intent_gateway_testing::contract::{descriptor, platform, row, tool};

const START: Timestamp = Timestamp::from_ms(1_000_000);

/// The error table of a shipped kind: 1 after 2 s, 2 exponential, 1 after 2 s.
fn table() -> Vec<PlatformError> {
    vec![
        row("RATE_LIMITED", 429, Some((1, 2_000, Backoff::Fixed))),
        row("INTERNAL_ERROR", 500, Some((2, 2_000, Backoff::Exponential))),
        row("INSURER_DOWN", 503, Some((1, 2_000, Backoff::Fixed))),
        row("SLOT_GONE", 409, None),
    ]
}

fn limited(retry_after_ms: Option<u64>) -> CallFailure {
    CallFailure::RateLimited { retry_after_ms }
}

/// What follows each of these failures, each try made at once when its wait is over.
fn follow(descriptor: &Descriptor, tool: &Tool, failures: &[CallFailure]) -> Vec<Retry> {
    let mut plan = Plan::new(descriptor, tool, START.plus_ms(30_000));
    let mut now = START;
    let step = |failure: &CallFailure| {
        let retry = plan.next(failure, now);
        if let Retry::After(wait_ms) | Retry::ReadFirst(wait_ms) = retry {
            now = now.plus_ms(wait_ms);
        }
        retry
    };
    failures.iter().map(step).collect()
}

#[test]
fn the_smaller_count_holds() {
    use Retry::{After, GiveUp};
    let failed = || CallFailure::HttpStatus(500);
    let down = || platform("INSURER_DOWN");
    for (name, (on_rate_limited, on_server_error), failures, expected) in [
        ("a search's 5xx", (1, 2), vec![failed(), failed(), failed()], vec![After(2_000), After(4_000), GiveUp]),
        (
            "a code that nobody knows",
            (1, 9),
            vec![CallFailure::UnknownCode { sent: None, message: String::new() }; 3],
            vec![After(2_000), After(4_000), GiveUp],
        ),
        ("a search's 429", (1, 2), vec![limited(None), limited(None)], vec![After(2_000), GiveUp]),
        ("the tool's is the smaller", (0, 1), vec![failed(), failed()], vec![After(2_000), GiveUp]),
        ("the row's is the smaller", (9, 9), vec![down(), down()], vec![After(2_000), GiveUp]),
        ("one row's count is not another's", (9, 3), vec![down(), failed()], vec![After(2_000), After(4_000)]),
        ("rows share the tool's count", (9, 1), vec![down(), failed()], vec![After(2_000), GiveUp]),
        ("kinds have their own", (1, 2), vec![limited(None), failed()], vec![After(2_000), After(2_000)]),
        ("nothing stated", (0, 0), vec![failed()], vec![GiveUp]),
        ("nothing stated, 429", (0, 2), vec![limited(Some(1))], vec![GiveUp]),
        ("a row that forbids it", (9, 9), vec![platform("SLOT_GONE")], vec![GiveUp]),
        ("a refusal", (9, 9), vec![CallFailure::HttpStatus(400)], vec![GiveUp]),
        ("no answer", (9, 9), vec![CallFailure::Timeout(1)], vec![GiveUp]),
        ("not reached", (9, 9), vec![CallFailure::Unreachable(String::new())], vec![GiveUp]),
        ("sign-in", (9, 9), vec![CallFailure::Unauthorized], vec![GiveUp]),
    ] {
        let mut descriptor = descriptor("1.0.0");
        descriptor.errors = table();
        let tool = tool("search_things", ToolRole::Search, on_rate_limited, on_server_error);
        assert_eq!(follow(&descriptor, &tool, &failures), expected, "{name}");
    }
}

#[test]
fn a_code_of_neither_kind_follows_its_row() {
    let mut descriptor = descriptor("1.0.0");
    descriptor.errors = vec![row("LOCKED", 423, Some((3, 500, Backoff::Exponential)))];
    let locked = vec![platform("LOCKED"); 4];
    let read = tool("search_things", ToolRole::Search, 1, 2);
    let waits = [Retry::After(500), Retry::After(1_000), Retry::GiveUp, Retry::GiveUp];
    assert_eq!(follow(&descriptor, &read, &locked), waits);
    let write = tool("create_thing", ToolRole::Create, 0, 0);
    assert_eq!(follow(&descriptor, &write, &locked), [Retry::GiveUp; 4]);
}

#[test]
fn without_a_row_the_tools_count_and_the_usual_wait_hold() {
    let descriptor = descriptor("1.0.0");
    let tool = tool("search_things", ToolRole::Search, 1, 2);
    let failures = vec![platform("PARTNER_MAINTENANCE"); 3];
    assert_eq!(follow(&descriptor, &tool, &failures), [Retry::After(2_000), Retry::After(4_000), Retry::GiveUp]);
}

#[test]
fn retry_after_is_kept_or_the_call_given_up() {
    let descriptor = descriptor("1.0.0");
    let tool = tool("search_things", ToolRole::Search, 1, 0);
    let first = |retry_after_ms| follow(&descriptor, &tool, &[limited(retry_after_ms)])[0];
    assert_eq!(first(Some(500)), Retry::After(2_000), "never sooner than the table's wait");
    assert_eq!(first(Some(7_000)), Retry::After(7_000));
    assert_eq!(first(Some(30_000 - TRY_MIN_MS)), Retry::After(30_000 - TRY_MIN_MS));
    assert_eq!(first(Some(30_000 - TRY_MIN_MS + 1)), Retry::GiveUp);
    assert_eq!(first(Some(u64::MAX)), Retry::GiveUp);
}

#[test]
fn a_retry_fits_into_the_time_that_is_left() {
    let descriptor = descriptor("1.0.0");
    let tool = tool("search_things", ToolRole::Search, 0, 9);
    let mut short = Plan::new(&descriptor, &tool, START.plus_ms(5_000));
    assert_eq!(short.next(&CallFailure::HttpStatus(502), START.plus_ms(1_000)), Retry::After(2_000));
    assert_eq!(short.next(&CallFailure::HttpStatus(502), START.plus_ms(3_000)), Retry::GiveUp);
    assert_eq!(short.retries(), 1, "what is not granted is not counted");
}

#[test]
fn three_tools_are_looked_after_first() {
    use Retry::{GiveUp, ReadFirst};
    let mut descriptor = descriptor("1.0.0");
    descriptor.errors = table();
    for name in READ_FIRST_TOOLS {
        let write = tool(name, ToolRole::Create, 0, 0);
        for open in [
            CallFailure::Timeout(10_000),
            CallFailure::Unreachable("reset".to_owned()),
            CallFailure::HttpStatus(502),
            CallFailure::Protocol("cut off".to_owned()),
            platform("INTERNAL_ERROR"),
            limited(None),
        ] {
            let failures = [open.clone(), CallFailure::Timeout(1)];
            assert_eq!(follow(&descriptor, &write, &failures), [ReadFirst(2_000), GiveUp], "{name}: {open:?}");
        }
        for settled in [
            platform("SLOT_GONE"),
            platform("INVALID_REQUEST"),
            CallFailure::Unauthorized,
            CallFailure::AddressRefused(String::new()),
            CallFailure::Busy,
        ] {
            assert_eq!(follow(&descriptor, &write, std::slice::from_ref(&settled)), [GiveUp], "{name}: {settled:?}");
        }
        let stated = tool(name, ToolRole::Create, 0, 2);
        let failures = vec![CallFailure::HttpStatus(500); 3];
        assert_eq!(follow(&descriptor, &stated, &failures), [ReadFirst(2_000), ReadFirst(4_000), GiveUp], "{name}");
    }
    let other = tool("create_thing", ToolRole::Create, 0, 0);
    assert_eq!(follow(&descriptor, &other, &[CallFailure::Timeout(1)]), [GiveUp]);
}

/// Any failure that a partner can cause.
fn failure() -> impl Strategy<Value = CallFailure> {
    prop_oneof![
        prop::option::of(0_u64..60_000).prop_map(|retry_after_ms| CallFailure::RateLimited { retry_after_ms }),
        (300_u16..600).prop_map(CallFailure::HttpStatus),
        Just(CallFailure::Timeout(1)),
        Just(CallFailure::Unreachable(String::new())),
        prop::sample::select(vec!["INTERNAL_ERROR", "INSURER_DOWN", "SLOT_GONE", "RATE_LIMITED", "UNHEARD_OF"])
            .prop_map(platform),
    ]
}

fn growth() -> impl Strategy<Value = Backoff> {
    prop_oneof![Just(Backoff::Fixed), Just(Backoff::Exponential)]
}

proptest! {
    #[test]
    fn no_plan_outlasts_its_deadline_or_its_counts(
        name in prop::sample::select(vec!["search_things", "checkout"]),
        (on_rate_limited, on_server_error) in (prop_oneof![0_u32..4, Just(u32::MAX)], prop_oneof![0_u32..4, Just(u32::MAX)]),
        rows in prop::collection::vec(
            prop::option::of((prop_oneof![0_u32..4, Just(u32::MAX)], prop_oneof![0_u32..5_000, Just(u32::MAX)], growth())),
            3,
        ),
        within_ms in 0_u64..40_000,
        steps in prop::collection::vec((failure(), 0_u64..8_000), 1..40),
    ) {
        let mut descriptor = descriptor("1.0.0");
        let codes = [("INTERNAL_ERROR", 500), ("INSURER_DOWN", 503), ("RATE_LIMITED", 429)];
        descriptor.errors = codes.into_iter().zip(rows).map(|((code, status), retry)| row(code, status, retry)).collect();
        let tool = tool(name, ToolRole::Search, on_rate_limited, on_server_error);
        let mut plan = Plan::new(&descriptor, &tool, START.plus_ms(within_ms));
        let deadline = START.plus_ms(within_ms);
        let (mut now, mut granted) = (START, 0);
        for (failure, took_ms) in steps {
            now = now.plus_ms(took_ms);
            match plan.next(&failure, now) {
                Retry::GiveUp => {}
                Retry::After(wait_ms) | Retry::ReadFirst(wait_ms) => {
                    if let CallFailure::RateLimited { retry_after_ms: Some(asked_ms) } = failure {
                        prop_assert!(wait_ms >= asked_ms);
                    }
                    now = now.plus_ms(wait_ms);
                    prop_assert!(now.plus_ms(TRY_MIN_MS) <= deadline);
                    granted += 1;
                }
            }
        }
        let stated = on_rate_limited.saturating_add(on_server_error);
        let most = if name == "checkout" { stated.max(1) } else { stated };
        prop_assert!(granted <= most.min(RETRIES_MAX));
        prop_assert_eq!(granted, plan.retries());
    }
}
