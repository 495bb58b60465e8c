use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_executor::block_on;
use futures_util::FutureExt as _;
use futures_util::future::{self, Future};
use futures_util::task::noop_waker;
use proptest::prelude::*;

use super::super::arguments::Arguments;
use super::*;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract as test_support;

const START: Timestamp = Timestamp::from_ms(1_000_000);

/// A cache in virtual time, and a partner that counts its calls.
struct Bench {
    cache: AnswerCache<String>,
    clock: Arc<TestClock>,
    calls: Arc<AtomicUsize>,
}

impl Bench {
    fn new() -> Self {
        let clock = TestClock::at(START.as_ms());
        let cache = AnswerCache::new(Arc::clone(&clock) as Arc<dyn Clock>);
        Self { cache, clock, calls: Arc::default() }
    }

    fn at(&self, ms: u64) {
        self.clock.set(START.plus_ms(ms).as_ms());
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// Asks; the partner would answer at once.
    fn ask(&self, question: Question, bytes: usize, expires_at: Option<Timestamp>) -> Source {
        let calls = Arc::clone(&self.calls);
        let call = move || {
            calls.fetch_add(1, Ordering::Relaxed);
            future::ready(Ok(Fetched { answer: "here".to_owned(), bytes })).boxed()
        };
        let (answer, source) = block_on(self.cache.get(question, call)).expect("an answer");
        assert_eq!(*answer, "here");
        if let Some(expires_at) = expires_at {
            self.cache.end_by(question, expires_at);
        }
        source
    }

    /// Asks; the partner answers when the sender says so.
    fn asking(&self, question: Question) -> (impl Future<Output = Got> + use<>, Reply) {
        let (reply, answer) = oneshot();
        let calls = Arc::clone(&self.calls);
        let call = move || {
            calls.fetch_add(1, Ordering::Relaxed);
            answer.boxed()
        };
        let cache = self.cache.clone();
        (Box::pin(async move { cache.get(question, call).await }), reply)
    }
}

type Got = Result<(Arc<String>, Source), CallFailure>;
type Reply = Arc<Mutex<(Option<Result<Fetched<String>, CallFailure>>, Option<Waker>)>>;

/// A future that is ready when its reply is given.
fn oneshot() -> (Reply, impl Future<Output = Result<Fetched<String>, CallFailure>> + Send + 'static) {
    let reply = Reply::default();
    let given = Arc::clone(&reply);
    let answer = future::poll_fn(move |context| {
        let mut given = given.lock().expect("whole");
        match given.0.take() {
            Some(answer) => Poll::Ready(answer),
            None => {
                given.1 = Some(context.waker().clone());
                Poll::Pending
            }
        }
    });
    (reply, answer)
}

fn give(reply: &Reply, answer: Result<Fetched<String>, CallFailure>) {
    let waker = {
        let mut reply = reply.lock().expect("whole");
        reply.0 = Some(answer);
        reply.1.take()
    };
    if let Some(waker) = waker {
        waker.wake();
    }
}

fn fetched(answer: &str) -> Result<Fetched<String>, CallFailure> {
    Ok(Fetched { answer: answer.to_owned(), bytes: answer.len() })
}

fn poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    match future.poll_unpin(&mut Context::from_waker(&noop_waker())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

fn tool(role: ToolRole, cache_seconds: Option<u32>) -> Tool {
    let mut tool = test_support::tool("search_things", role, 0, 0);
    tool.cache_seconds = cache_seconds;
    tool
}

fn question_of(tool: &Tool, partner: &str, intent: &str, arguments: &str, user: Option<&str>) -> Option<Question> {
    let partner = PartnerId::parse(partner).expect("well formed");
    let user = user.map(intent_gateway_testing::users::user);
    Question::of(&partner, intent, tool, Arguments::read(arguments).ok()?.digest(), user.as_ref())
}

/// A question that is kept for a minute.
fn question(name: &str) -> Question {
    let arguments = format!(r#"{{"name":"{name}"}}"#);
    question_of(&tool(ToolRole::Search, Some(60)), "one", "a.b", &arguments, None).expect("kept")
}

#[test]
fn what_makes_two_questions_the_same() {
    let search = tool(ToolRole::Search, Some(60));
    let ask = |partner, intent, arguments, user| question_of(&search, partner, intent, arguments, user);
    let plain = ask("one", "a.b", r#"{"request_id":"r1","x":{"y":1}}"#, None);
    assert!(plain.is_some());
    assert_eq!(ask("one", "a.b", r#"{"x":{"y":1.0},"request_id":"r1"}"#, None), plain);
    let plain = ask("one", "a.b", r#"{"x":{"y":1}}"#, None);
    for other in [
        ask("one", "a.b", r#"{"request_id":"r1","x":{"y":1}}"#, None),
        ask("one", "a.b", r#"{"request_id":"r2","x":{"y":1}}"#, None),
        ask("two", "a.b", r#"{"x":{"y":1}}"#, None),
        ask("one", "a.c", r#"{"x":{"y":1}}"#, None),
        ask("one", "a.b", r#"{"x":{"y":2}}"#, None),
        ask("one", "a.b", r#"{"x":{"y":1,"request_id":"r1"}}"#, None),
        ask("one", "a.b", r#"{"x":{"y":1}}"#, Some("ann")),
        ask("one", "a.b", r#"{"x":{"y":1}}"#, Some("bob")),
    ] {
        assert!(other.is_some() && other != plain, "{other:?}");
    }
    assert_ne!(ask("one", "a.b", "{}", Some("ann")), ask("one", "a.b", "{}", Some("bob")));
    let mut other_tool = search.clone();
    other_tool.name = "search_others".to_owned();
    assert_ne!(question_of(&other_tool, "one", "a.b", r#"{"x":{"y":1}}"#, None), plain);
}

#[test]
fn what_has_no_question() {
    let ask = |role, seconds, arguments| question_of(&tool(role, seconds), "one", "a.b", arguments, None);
    for role in
        [ToolRole::Create, ToolRole::Modify, ToolRole::Cancel, ToolRole::Track, ToolRole::Rate, ToolRole::Utility]
    {
        assert_eq!(ask(role, Some(60), "{}"), None, "{role:?}");
    }
    assert_eq!(ask(ToolRole::Search, None, "{}"), None);
    assert_eq!(ask(ToolRole::Search, Some(0), "{}"), None);
    for arguments in ["[]", "{", r#"{"a":1,"a":2}"#] {
        assert_eq!(ask(ToolRole::Search, Some(60), arguments), None, "{arguments}");
    }
    assert!(ask(ToolRole::GetDetail, Some(60), "{}").is_some());
}

#[test]
fn an_answer_is_served_for_its_time() {
    for (seconds, ms) in [(1, 1_000), (30, 30_000), (60, 60_000), (61, 60_000), (u32::MAX, 60_000)] {
        let bench = Bench::new();
        let question = question_of(&tool(ToolRole::Search, Some(seconds)), "one", "a.b", "{}", None).expect("kept");
        let asked = [0, 1, ms - 1, ms].map(|at_ms| {
            bench.at(at_ms);
            bench.ask(question, 1, None)
        });
        assert_eq!(asked, [Source::Called, Source::Kept, Source::Kept, Source::Called], "{seconds}");
    }
}

#[test]
fn an_answer_ends_when_it_says() {
    let bench = Bench::new();
    let question = question("x");
    let asked = [0, 4_999, 5_000].map(|at_ms| {
        bench.at(at_ms);
        bench.ask(question, 1, Some(START.plus_ms(5_000)))
    });
    assert_eq!(asked, [Source::Called, Source::Kept, Source::Called]);
    // One that has ended already, and a clock that was set back.
    bench.at(10_000);
    assert_eq!([(); 2].map(|()| bench.ask(question, 1, Some(START))), [Source::Called; 2]);
    assert_eq!(bench.ask(question, 1, None), Source::Called);
    bench.at(9_999);
    assert_eq!(bench.ask(question, 1, None), Source::Called);
}

#[test]
fn who_asks_the_same_joins_the_call() {
    let bench = Bench::new();
    let (mut first, reply) = bench.asking(question("x"));
    assert!(poll(&mut first).is_none());
    let (mut second, _never) = bench.asking(question("x"));
    let (mut other, _none) = bench.asking(question("y"));
    assert!(poll(&mut second).is_none() && poll(&mut other).is_none());
    assert_eq!(bench.calls(), 2);
    give(&reply, fetched("one answer"));
    let (answer, source) = poll(&mut second).expect("landed").expect("an answer");
    assert_eq!((answer.as_str(), source), ("one answer", Source::Joined));
    let (answer, source) = poll(&mut first).expect("landed").expect("an answer");
    assert_eq!((answer.as_str(), source), ("one answer", Source::Called));
    assert!(poll(&mut other).is_none());
    assert_eq!(bench.cache.calls.under_way(), 1);
}

#[test]
fn who_leaves_cancels_nothing_and_the_last_one_everything() {
    let bench = Bench::new();
    let (mut first, reply) = bench.asking(question("x"));
    assert!(poll(&mut first).is_none());
    let (mut second, _never) = bench.asking(question("x"));
    assert!(poll(&mut second).is_none());
    drop(first);
    give(&reply, fetched("still here"));
    let (answer, _) = poll(&mut second).expect("landed").expect("an answer");
    assert_eq!(*answer, "still here");

    let (mut alone, reply) = bench.asking(question("y"));
    assert!(poll(&mut alone).is_none());
    assert_eq!((Arc::strong_count(&reply), bench.cache.calls.under_way()), (2, 1));
    drop(alone);
    assert_eq!((Arc::strong_count(&reply), bench.cache.calls.under_way()), (1, 0), "the call is dropped");
    assert_eq!(bench.ask(question("y"), 1, None), Source::Called);
}

/// A waker that tells whether it was woken.
#[derive(Default)]
struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn others_are_woken_when_the_one_who_drove_has_left() {
    let bench = Bench::new();
    let bell = Arc::new(Bell::default());
    let (mut first, reply) = bench.asking(question("x"));
    let (mut second, _never) = bench.asking(question("x"));
    assert!(poll(&mut first).is_none());
    assert!(second.poll_unpin(&mut Context::from_waker(&Waker::from(Arc::clone(&bell)))).is_pending());
    assert!(poll(&mut first).is_none(), "the first was the last to drive the call");
    drop(first);
    give(&reply, fetched("woken"));
    assert!(bell.0.load(Ordering::Relaxed));
    let (answer, _) = poll(&mut second).expect("landed").expect("an answer");
    assert_eq!(*answer, "woken");
}

#[test]
fn a_failure_goes_to_all_who_wait_and_is_not_kept() {
    let bench = Bench::new();
    let (mut first, reply) = bench.asking(question("x"));
    assert!(poll(&mut first).is_none());
    let (mut second, _never) = bench.asking(question("x"));
    assert!(poll(&mut second).is_none());
    give(&reply, Err(CallFailure::HttpStatus(503)));
    assert_eq!(poll(&mut first).expect("landed"), Err(CallFailure::HttpStatus(503)));
    assert_eq!(poll(&mut second).expect("landed"), Err(CallFailure::HttpStatus(503)));
    assert_eq!(bench.cache.calls.under_way(), 0);
    assert_eq!(bench.ask(question("x"), 1, None), Source::Called);
    assert_eq!(bench.ask(question("x"), 1, None), Source::Kept);
}

#[test]
fn what_is_kept_is_bounded() {
    let bench = Bench::new();
    assert_eq!(bench.ask(question("large"), ENTRY_MAX_BYTES + 1, None), Source::Called);
    assert_eq!(bench.ask(question("large"), ENTRY_MAX_BYTES, None), Source::Called);
    assert_eq!(bench.ask(question("large"), ENTRY_MAX_BYTES, None), Source::Kept);
    for number in 0..ENTRIES_MAX_BYTES / ENTRY_MAX_BYTES {
        bench.at(1 + u64::try_from(number).expect("small"));
        bench.ask(question(&number.to_string()), ENTRY_MAX_BYTES, None);
    }
    assert_eq!(bench.cache.lock().bytes(), ENTRIES_MAX_BYTES);
    assert_eq!(bench.ask(question("0"), ENTRY_MAX_BYTES, None), Source::Kept);
    assert_eq!(bench.ask(question("large"), 1, None), Source::Called, "the oldest went");

    let bench = Bench::new();
    for number in 0..=ENTRIES_MAX {
        bench.ask(question(&number.to_string()), 1, Some(START.plus_ms(1_000 + u64::try_from(number).expect("small"))));
    }
    let kept = bench.cache.lock();
    assert_eq!((kept.len(), kept.bytes()), (ENTRIES_MAX, ENTRIES_MAX));
    drop(kept);
    bench.at(60_000);
    bench.ask(question("new"), 5, None);
    let kept = bench.cache.lock();
    assert_eq!((kept.len(), kept.bytes()), (1, 5));
}

proptest! {
    /// A random crowd asks, leaves, and gets answers and failures. At any time there is at most one call per question, and
    /// nobody is served what is older than its time.
    #[test]
    fn one_call_at_a_time_and_nothing_stale(
        steps in prop::collection::vec((0_u8..5, 0_usize..2, 0_usize..8, 0_u64..9_000), 1..150),
    ) {
        let bench = Bench::new();
        let questions = [question("a"), question("b")];
        let mut waiting: Vec<(usize, _, u64)> = Vec::new();
        let mut replies: [Option<Reply>; 2] = [None, None];
        let mut at_ms = 0;
        for (act, which, who, step_ms) in steps {
            at_ms += step_ms;
            bench.at(at_ms);
            match act {
                0 | 1 => {
                    let before = bench.calls();
                    let (mut asking, reply) = bench.asking(questions[which]);
                    match poll(&mut asking) {
                        Some(got) => {
                            let (answer, source) = got.expect("only answers are kept");
                            let answered_at_ms: u64 = answer.parse().expect("a time");
                            prop_assert_eq!(source, Source::Kept);
                            prop_assert!(at_ms < answered_at_ms + 60_000);
                        }
                        None => waiting.push((which, asking, at_ms)),
                    }
                    if bench.calls() > before {
                        let under_way = replies[which].as_ref().is_some_and(|reply| Arc::strong_count(reply) > 1);
                        prop_assert!(!under_way, "two calls for one question");
                        replies[which] = Some(reply);
                    }
                }
                2 if !waiting.is_empty() => drop(waiting.swap_remove(who % waiting.len())),
                3 | 4 => {
                    let Some(reply) = replies[which].take() else { continue };
                    let failed = act == 4;
                    give(&reply, if failed { Err(CallFailure::Busy) } else { fetched(&at_ms.to_string()) });
                    let mut left = Vec::new();
                    for (asked, mut asking, since_ms) in waiting {
                        if asked != which {
                            left.push((asked, asking, since_ms));
                            continue;
                        }
                        match poll(&mut asking).expect("all who wait get it") {
                            Ok((answer, _)) => prop_assert!(!failed && *answer == at_ms.to_string()),
                            Err(failure) => prop_assert!(failed && failure == CallFailure::Busy),
                        }
                    }
                    waiting = left;
                }
                _ => {}
            }
            let asked = |which| waiting.iter().any(|(asked, ..)| *asked == which);
            let expected = [0, 1].into_iter().filter(|which| asked(*which)).count();
            prop_assert_eq!(bench.cache.calls.under_way(), expected);
        }
    }
}
