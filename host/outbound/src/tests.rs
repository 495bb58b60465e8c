//! Calls in virtual time, over played partners: what reaches them, when, and with whose token.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Instant;

use futures_executor::block_on;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all, ready};

use super::*;
use crate::policy::pace::sharing::Sharing;
use intent_gateway_domain::contract::{RetryPolicy, ToolRole};
use intent_gateway_domain::error::NotCalled;
use intent_gateway_domain::health::HealthChange;
use intent_gateway_domain::progress::Listener;
use intent_gateway_domain::secret::Secret;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract::{PassiveContract, descriptor};
use intent_gateway_testing::directory::partner;
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::fleet::{MemoryCounts, fleet_of};
use intent_gateway_testing::health::RecordedHealth;
use intent_gateway_testing::partners::{RecordedCall, Reply, ScriptedPartners};
use intent_gateway_testing::users;

const NOW: Timestamp = Timestamp::from_ms(1_767_225_600_000);
const WITHIN: Duration = Duration::from_secs(30);
/// When a partner that is listened to says its first word.
const WORD_AFTER: Duration = Duration::from_secs(5);

type Outcome = Result<String, CallFailure>;

/// What the one partner's server does.
struct Server {
    /// What it answers, in turn; the last stays.
    script: Mutex<VecDeque<Outcome>>,
    /// A token without which it answers with a 401.
    wants: Mutex<Option<&'static str>>,
    /// When it was called, milliseconds since the beginning.
    called_at: Mutex<Vec<u64>>,
}

impl Server {
    fn reply(&self, call: &RecordedCall, progress: Option<&Progress<'_>>) -> Reply {
        if let Some(progress) = progress {
            progress.tell("{}", Instant::now() + WORD_AFTER);
            progress.tell("{}", Instant::now() + 2 * WORD_AFTER);
        }
        let wants = *self.wants.lock().expect("whole");
        if wants.is_some_and(|wanted| call.bearer.as_deref() != Some(wanted)) {
            return CallFailure::SignInRequired { challenge: "Bearer".to_owned() }.into();
        }
        let mut script = self.script.lock().expect("whole");
        let next = if script.len() > 1 { script.pop_front() } else { script.front().cloned() };
        next.expect("a script").map_or_else(Reply::Failure, Reply::Text)
    }
}

/// The user's tokens: the next is what replaces one. No other test plays them.
#[derive(Default)]
struct Tokens(Mutex<VecDeque<&'static str>>);

impl UserTokens for Tokens {
    fn token<'a>(&'a self, _: &'a Partner, _: &'a User) -> BoxFuture<'a, Result<Option<Secret>, CallFailure>> {
        let first = self.0.lock().expect("whole").front().map(|token| Secret::new(*token));
        ready(Ok(first)).boxed()
    }

    fn replace_token<'a>(
        &'a self,
        _: &'a Partner,
        _: &'a User,
        refused: &'a Secret,
    ) -> BoxFuture<'a, Result<Option<Secret>, CallFailure>> {
        let mut tokens = self.0.lock().expect("whole");
        assert_eq!(tokens.pop_front(), Some(refused.expose()), "the one that was given out");
        ready(Ok(tokens.front().map(|token| Secret::new(*token)))).boxed()
    }

    fn link(&self, partner: &PartnerId, user: &User, challenge: Option<&str>) -> Option<SignInLink> {
        let url = format!("{partner}/{}/{}", user.key(), challenge.unwrap_or("-"));
        Some(SignInLink { url, code: "ABC-DEF".to_owned() })
    }
}

/// Everything around a call.
struct World {
    clock: Arc<TestClock>,
    server: Arc<Server>,
    calls: Arc<ScriptedPartners>,
    changes: Arc<RecordedHealth>,
    tokens: Arc<Tokens>,
}

impl World {
    fn new(script: impl IntoIterator<Item = Outcome>) -> Self {
        // Time passes when it is waited for.
        let clock = TestClock::jumping_at(NOW.as_ms());
        let server = Arc::new(Server {
            script: Mutex::new(script.into_iter().collect()),
            wants: Mutex::default(),
            called_at: Mutex::default(),
        });
        let calls = Arc::new(ScriptedPartners::default());
        let (watch, called) = (clock.clone(), server.clone());
        calls.reply_with("alpha", move |call, progress| {
            called.called_at.lock().expect("whole").push(watch.now().ms_since(NOW));
            called.reply(call, progress)
        });
        Self { clock, server, calls, changes: Arc::default(), tokens: Arc::default() }
    }
}

/// A gateway's way out, over a world.
struct Bench {
    world: World,
    health: Arc<Health>,
    outbound: Arc<Outbound>,
    contract: Arc<PassiveContract>,
}

impl Bench {
    fn new(script: impl IntoIterator<Item = Outcome>) -> Self {
        Self::with_pace(World::new(script), Arc::default())
    }

    fn with_pace(world: World, pace: Arc<Pace>) -> Self {
        let health = Arc::new(Health::new(7));
        let policies = Policies {
            timer: world.clock.clone(),
            health: health.clone(),
            log: world.changes.clone(),
            tokens: world.tokens.clone(),
            sign_ins: SignIns::default(),
            pace: Some(pace),
            cache: Some(AnswerCache::new(world.clock.clone())),
        };
        let outbound = Arc::new(Outbound::new(world.calls.clone(), world.clock.clone(), policies));
        let mut descriptor = descriptor("1.0.0");
        let search = descriptor.tools[0].clone();
        let tool = |name: &str, role| Tool { name: name.to_owned(), role, cache_seconds: None, ..search.clone() };
        let retry = RetryPolicy { on_rate_limited: 1, on_server_error: 2 };
        descriptor.tools = vec![
            Tool { retry, rate_per_minute: Some(60), cache_seconds: Some(60), ..search.clone() },
            Tool {
                retry: RetryPolicy { on_rate_limited: 0, on_server_error: 0 },
                rate_per_minute: Some(30),
                ..tool("book_thing", ToolRole::Create)
            },
            Tool { retry, rate_per_minute: Some(1), ..tool("hold_thing", ToolRole::Create) },
            Tool { retry, rate_per_minute: Some(30), ..tool("cancel_thing", ToolRole::Cancel) },
        ];
        descriptor.errors.clear();
        Self { world, health, outbound, contract: Arc::new(PassiveContract(descriptor)) }
    }

    fn outbound_call(&self, tool: &str, arguments: &str, user: Option<&str>) -> OutboundCall {
        OutboundCall {
            contract: self.contract.clone(),
            context: CallContext { request_id: "req-1".to_owned(), now: NOW },
            partner: Arc::new(partner("alpha", &[])),
            tool: Arc::from(tool),
            arguments: Arc::new(PreparedArguments::new(arguments, self.contract.0.tool(tool).expect("there"))),
            user: user.map(users::user),
            within: WITHIN,
            is_repeat: false,
            trace: None,
        }
    }

    fn call(&self, tool: &str, arguments: &str, user: Option<&str>) -> Result<PartnerAnswer, CallFailure> {
        block_on(self.outbound.call(self.outbound_call(tool, arguments, user), None))
    }

    fn search(&self, arguments: &str) -> Result<PartnerAnswer, CallFailure> {
        self.call("search_things", arguments, None)
    }

    /// When the partner was called, milliseconds since the beginning.
    fn times(&self) -> Vec<u64> {
        self.world.server.called_at.lock().expect("whole").clone()
    }

    fn tokens(&self) -> Vec<Option<String>> {
        self.world.calls.calls().into_iter().map(|call| call.bearer).collect()
    }

    fn pass(&self, ms: u64) {
        self.world.clock.advance(ms);
    }
}

fn good() -> Outcome {
    Ok("{}".to_owned())
}

fn limited() -> Outcome {
    Err(CallFailure::RateLimited { retry_after_ms: None })
}

fn not_called(outcome: Result<PartnerAnswer, CallFailure>) -> (NotCalled, Option<u64>) {
    match outcome {
        Err(CallFailure::NotCalled { why, wait_ms }) => (why, wait_ms),
        other => panic!("expected none, got {other:?}"),
    }
}

#[test]
fn a_failed_search_is_tried_again_as_its_tool_says() {
    let broken = || Err(CallFailure::HttpStatus(500));
    let bench = Bench::new([broken(), broken(), good()]);
    assert!(bench.search(r#"{"a":1}"#).is_ok());
    assert_eq!(bench.times(), [0, 2_000, 6_000], "twice, after 2 s and twice that");
    let bench = Bench::new([broken()]);
    assert_eq!(bench.search(r#"{"a":1}"#).err(), Some(CallFailure::HttpStatus(500)));
    assert_eq!(bench.times().len(), 3);
    let bench = Bench::new([broken()]);
    assert!(bench.call("book_thing", "{}", None).is_err());
    assert_eq!(bench.times(), [0], "a tool that states no retry has none");
}

#[test]
fn a_partner_that_asks_to_slow_down_is_left_alone_and_its_retry_waits() {
    let bench = Bench::new([limited(), good()]);
    assert!(bench.search(r#"{"a":1}"#).is_ok());
    assert_eq!(bench.times(), [0, 2_000]);

    let bench = Bench::new([limited()]);
    assert_eq!(bench.search(r#"{"a":1}"#).err(), limited().err());
    assert_eq!(bench.times(), [0, 2_000]);
    // The second RATE_LIMITED began a wait of 4 s: other searches go on without the partner.
    let (why, wait_ms) = not_called(bench.search(r#"{"a":2}"#));
    assert_eq!((why, wait_ms), (NotCalled::BackOff, Some(4_000)));
    bench.pass(4_000);
    assert!(bench.search(r#"{"a":3}"#).is_err());
    assert_eq!(bench.times()[2], 6_000);

    let bench = Bench::new([Err(CallFailure::RateLimited { retry_after_ms: Some(9_000) }), good()]);
    assert!(bench.search(r#"{"a":1}"#).is_ok());
    assert_eq!(bench.times(), [0, 9_000], "Retry-After is honoured");
    let bench = Bench::new([Err(CallFailure::RateLimited { retry_after_ms: Some(60_000) }), good()]);
    assert!(bench.search(r#"{"a":1}"#).is_err(), "as far as there is time");
    assert_eq!(bench.times(), [0]);
}

#[test]
fn rates_hold_for_partners_and_users() {
    let bench = Bench::new([good()]);
    for number in 0..60 {
        assert!(bench.search(&format!(r#"{{"a":{number}}}"#)).is_ok());
    }
    assert_eq!(not_called(bench.search(r#"{"a":60}"#)).0, NotCalled::PartnerRate);
    assert!(bench.search(r#"{"a":1}"#).is_ok(), "what is kept costs the partner nothing");
    assert!(bench.call("cancel_thing", "{}", None).is_ok(), "each tool has its own");

    let bench = Bench::new([good()]);
    let ann = Some("ann");
    assert!(bench.call("search_things", r#"{"a":1}"#, ann).is_ok());
    assert!(bench.call("search_things", r#"{"a":2}"#, ann).is_ok(), "it is held back for its turn");
    assert_eq!(bench.times(), [0, 1_000]);
    assert!(bench.call("book_thing", "{}", ann).is_ok());
    let (why, wait_ms) = not_called(bench.call("book_thing", "{}", ann));
    assert_eq!((why, wait_ms), (NotCalled::UserRate, Some(60_000)));
    assert!(bench.call("book_thing", "{}", Some("bob")).is_ok(), "another user");
    let gone = CallFailure::Platform { code: "INVALID_REQUEST".to_owned(), message: "no".to_owned(), field: None };
    bench.pass(60_000);
    bench.world.server.script.lock().expect("whole").push_front(Err(gone));
    assert!(bench.call("book_thing", "{}", ann).is_err());
    assert!(bench.call("book_thing", "{}", ann).is_ok(), "what was refused came to nothing");
    let again = OutboundCall { is_repeat: true, ..bench.outbound_call("book_thing", "{}", ann) };
    assert!(block_on(bench.outbound.call(again, None)).is_ok(), "a repeated call is no new wish");
}

#[test]
fn a_users_rates_hold_over_two_gateways() {
    let world = World::new([good()]);
    let clock = world.clock.clone();
    let counts = MemoryCounts::new(clock.clone());
    let fleet = fleet_of(2, clock, 10_000, &[]);
    let pace = || Arc::new(Pace::new(fleet.clone(), Some(Sharing::new(counts.clone(), vault()))));
    let there = Bench::with_pace(
        World {
            calls: world.calls.clone(),
            server: world.server.clone(),
            clock: world.clock.clone(),
            ..World::new([])
        },
        pace(),
    );
    let here = Bench::with_pace(world, pace());
    let ann = Some("ann");
    assert!(here.call("search_things", r#"{"a":1}"#, ann).is_ok());
    assert!(there.call("search_things", r#"{"a":2}"#, ann).is_ok(), "it is held back for its turn");
    assert_eq!(here.times(), [0, 1_000]);
    assert!(there.call("book_thing", "{}", ann).is_ok());
    assert_eq!(not_called(here.call("book_thing", "{}", ann)), (NotCalled::UserRate, Some(60_000)));
    let gone = CallFailure::Platform { code: "INVALID_REQUEST".to_owned(), message: "no".to_owned(), field: None };
    here.pass(60_000);
    here.world.server.script.lock().expect("whole").push_front(Err(gone));
    assert!(here.call("book_thing", "{}", ann).is_err());
    assert!(there.call("book_thing", "{}", ann).is_ok(), "what was refused came to nothing");
}

#[test]
fn answers_are_served_again_and_writes_never() {
    let bench = Bench::new([good()]);
    let first = bench.search(r#"{"a":1,"b":2}"#).expect("called");
    let second = bench.search(r#"{ "b": 2, "a": 1 }"#).expect("kept");
    assert_eq!((first.source, second.source), (Source::Called, Source::Kept));
    second.end_by(NOW.plus_ms(10_000));
    bench.pass(9_999);
    assert_eq!(bench.search(r#"{"a":1,"b":2}"#).expect("kept").source, Source::Kept);
    bench.pass(1);
    assert_eq!(bench.search(r#"{"a":1,"b":2}"#).expect("called").source, Source::Called, "its own time was over");
    assert_eq!(bench.search(r#"{"a":1,"a":1,"b":2}"#).expect("called").source, Source::Called, "no one value");
    for _ in 0..2 {
        assert_eq!(bench.call("book_thing", "{}", None).expect("called").source, Source::Called);
    }
    let bench = Bench::new([good()]);
    let call = bench.outbound_call("search_things", r#"{"a":1}"#, None);
    let both = block_on(join_all([bench.outbound.call(call.clone(), None), bench.outbound.call(call, None)]));
    assert!(both.iter().all(Result::is_ok) && bench.times() == [0], "one call for both");
}

#[test]
fn a_token_goes_only_where_it_is_wanted() {
    let bench = Bench::new([good()]);
    bench.world.tokens.0.lock().expect("whole").extend(["old", "new"]);
    assert!(bench.call("cancel_thing", "{}", Some("ann")).is_ok());
    assert_eq!(bench.tokens(), [None], "a tool that needs no sign-in");

    *bench.world.server.wants.lock().expect("whole") = Some("new");
    bench.world.calls.take_calls();
    assert!(bench.call("cancel_thing", "{}", Some("ann")).is_ok());
    let token = |text: &str| Some(text.to_owned());
    assert_eq!(bench.tokens(), [None, token("old"), token("new")], "asked without, with hers, with what replaced it");
    assert!(bench.call("cancel_thing", "{}", Some("ann")).is_ok());
    assert_eq!(bench.tokens()[3..], [token("new")], "what the tool wants is remembered");
    let failure = bench.call("cancel_thing", "{}", None).expect_err("nobody signs in");
    assert_eq!(bench.tokens()[4..], [None]);
    let partner = PartnerId::parse("alpha").expect("sound");
    let ann = users::user("ann");
    assert_eq!(
        bench.outbound.sign_in_link(&partner, Some(&ann), &failure).map(|link| link.url).as_deref(),
        Some(r#"alpha/["test-issuer","assistant","ann"]/Bearer"#)
    );
    assert_eq!(bench.outbound.sign_in_link(&partner, None, &failure), None);
    assert_eq!(bench.outbound.sign_in_link(&partner, Some(&ann), &CallFailure::Busy), None);

    // Nothing replaces the last one: it is tried no more than once.
    *bench.world.server.wants.lock().expect("whole") = Some("another");
    bench.world.calls.take_calls();
    assert!(bench.call("cancel_thing", "{}", Some("ann")).is_err());
    assert_eq!(bench.tokens(), [token("new")]);
}

#[test]
fn an_answer_to_a_users_token_is_served_to_nobody_else() {
    let bench = Bench::new([Ok(r#"{"for":"ann"}"#.to_owned()), Ok(r#"{"for":"bob"}"#.to_owned())]);
    bench.world.tokens.0.lock().expect("whole").push_back("token");
    *bench.world.server.wants.lock().expect("whole") = Some("token");
    let ask = |user| bench.call("search_things", r#"{"a":1}"#, Some(user)).expect("answered");
    assert_eq!(ask("ann").answer.text, r#"{"for":"ann"}"#);
    bench.pass(1_000);
    let bob = ask("bob");
    assert_eq!((bob.source, bob.answer.text.as_str()), (Source::Called, r#"{"for":"bob"}"#));
    assert_eq!((ask("ann").source, ask("bob").source), (Source::Kept, Source::Kept));
}

#[test]
fn a_server_that_is_down_is_not_called() {
    let bench = Bench::new([Err(CallFailure::Unreachable("gone".to_owned()))]);
    for _ in 0..5 {
        assert!(bench.call("cancel_thing", "{}", None).is_err());
    }
    let (why, wait_ms) = not_called(bench.call("cancel_thing", "{}", None));
    assert_eq!(why, NotCalled::Down);
    assert!(wait_ms.is_some_and(|wait_ms| (4_000..=5_000).contains(&wait_ms)), "the breaker's first wait: {wait_ms:?}");
    assert_eq!(bench.times().len(), 5);
    let changes = bench.world.changes.events();
    assert!(changes.iter().any(|event| matches!(event.change, HealthChange::Opened(_))), "{changes:?}");
    let intent = bench.contract.0.intent.clone();
    let alpha = PartnerId::parse("alpha").expect("sound");
    assert_eq!(bench.outbound.admit_search(&intent, [&alpha].into_iter()), [Err(LeftOut::Down)]);
    // After the wait one call is let through, and the server is up.
    bench.pass(5_000);
    bench.world.server.script.lock().expect("whole").extend([good()]);
    bench.world.server.script.lock().expect("whole").pop_front();
    assert!(bench.call("cancel_thing", "{}", None).is_ok());
    assert_eq!(bench.outbound.admit_search(&intent, [&alpha].into_iter()), [Ok(())]);
}

#[test]
fn a_call_has_at_most_thirty_seconds() {
    let bench = Bench::new([Err(CallFailure::HttpStatus(500)), good()]);
    let call = OutboundCall { within: Duration::from_secs(3_600), ..bench.outbound_call("cancel_thing", "{}", None) };
    assert!(block_on(bench.outbound.call(call, None)).is_ok());
    let timeouts: Vec<_> = bench.world.calls.calls().iter().map(|call| call.timeout.as_secs()).collect();
    assert_eq!(timeouts, [30, 28], "waits included");
}

#[test]
fn a_partner_that_streams_is_as_quick_as_its_first_word() {
    let bench = Bench::new([good()]);
    let hear = |_: &str| ();
    let progress = Progress::new(Listener::new(&hear));
    for _ in 0..2 {
        let call = bench.outbound_call("cancel_thing", "{}", None);
        assert!(block_on(bench.outbound.call(call, Some(&progress))).is_ok());
    }
    let views = bench.health.view(NOW);
    let took = views[0].intents[0].tools[0].window.p50_ms;
    assert!((5_000..6_000).contains(&took), "{took}");
}

#[test]
fn a_turn_is_given_back_where_the_retry_may_not_go_out() {
    let bench = Bench::new([limited()]);
    let hold = || bench.call("hold_thing", "{}", Some("ann"));
    assert_eq!(hold().err(), limited().err(), "the failure before the retry stands");
    assert_eq!(bench.times(), [0], "the partner's rate has room for one call");
    assert_eq!(not_called(hold()).0, NotCalled::PartnerRate, "it failed, so the user's has room again");
}

#[test]
fn without_policies_a_call_goes_out_at_once_and_once() {
    let world = World::new([limited()]);
    let bench = Bench::new([good()]);
    let plain = Arc::new(Outbound::plain(world.calls.clone(), world.clock.clone()));
    let call = bench.outbound_call("search_things", r#"{"a":1}"#, Some("ann"));
    assert!(block_on(plain.call(call, None)).is_err());
    assert_eq!(world.calls.calls().len(), 1);
}
