//! Feeds in virtual time, over a tool that answers as each test says.

use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll};

use futures_executor::{LocalPool, LocalSpawner};
use futures_util::StreamExt as _;
use futures_util::task::{LocalSpawnExt as _, noop_waker_ref};
use proptest::prelude::*;
use serde_json::value::RawValue;

use super::*;
use crate::calling::CallOutcome;
use crate::pinned::PinnedContract;
use intent_gateway_domain::error::{CallFailure, NotCalled};
use intent_gateway_domain::progress::Listener;
use intent_gateway_outbound::policy::pace::track::BETWEEN_CALLS_MS;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract::{ScriptedContract, descriptor};
use intent_gateway_testing::directory::partner;
use intent_gateway_testing::users::{UNNAMED, asker};

const START_MS: u64 = 1_000_000;
const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;

/// What the partner does in one call.
#[derive(Clone)]
enum Step {
    /// Answers at once.
    Answer(String),
    /// Says a word every so many milliseconds, so often, and then answers.
    Stream(u64, usize, String),
    Fail(CallFailure),
    /// Never answers.
    Hang,
}

/// Answers each call with the next step, and the last one again and again. A port of this crate, so its fake is here.
struct Tool {
    clock: Arc<TestClock>,
    steps: Mutex<VecDeque<Step>>,
    called_at: Mutex<Vec<u64>>,
    dropped: Arc<AtomicU64>,
    refuses: Mutex<bool>,
}

/// Counts calls that were given up.
struct Dropped(Option<Arc<AtomicU64>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        if let Some(count) = &self.0 {
            count.fetch_add(1, Relaxed);
        }
    }
}

fn called(text: &str) -> CallOutcome {
    CallOutcome {
        request_id: "r1".to_owned(),
        contract: PinnedContract(Arc::new(ScriptedContract::new(descriptor("1.0.0")))),
        partner: Arc::new(partner("one", &[])),
        payload: RawValue::from_string(text.to_owned()).expect("JSON"),
        reference: None,
        advisory: None,
        by: None,
        order: None,
        notes: Vec::new(),
        elapsed: Duration::ZERO,
    }
}

impl Source for Tool {
    fn check<'a>(&'a self, _: &'a Subject) -> BoxFuture<'a, Result<(), PinnedFailure<CallError>>> {
        let refuses = *self.refuses.lock().expect("whole");
        async move { if refuses { Err(PinnedFailure::without_contract(CallError::InvalidReference)) } else { Ok(()) } }
            .boxed()
    }

    fn call<'a>(
        &'a self,
        _: &'a Subject,
        listener: Listener<'a>,
    ) -> BoxFuture<'a, Result<CallOutcome, PinnedFailure<CallError>>> {
        self.called_at.lock().expect("whole").push(self.clock.now().as_ms());
        let mut steps = self.steps.lock().expect("whole");
        let step = if steps.len() > 1 { steps.pop_front() } else { steps.front().cloned() };
        let step = step.expect("a step");
        async move {
            let mut watch = Dropped(Some(Arc::clone(&self.dropped)));
            let outcome = match step {
                Step::Answer(text) => Ok(called(&text)),
                Step::Stream(every_ms, words, text) => {
                    for word in 0..words {
                        self.clock.wait(Duration::from_millis(every_ms)).await;
                        listener.hear(&format!("{{\"progress\":{word}}}"));
                    }
                    Ok(called(&text))
                }
                Step::Fail(failure) => {
                    Err(PinnedFailure::without_contract(CallError::Partner { code: None, failure, link: None }))
                }
                Step::Hang => std::future::pending().await,
            };
            watch.0 = None;
            outcome
        }
        .boxed()
    }
}

/// A world in which nothing happens unless a test lets time pass.
struct World {
    clock: Arc<TestClock>,
    tool: Arc<Tool>,
    following: Following,
    pool: LocalPool,
    spawner: LocalSpawner,
}

impl World {
    fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        let clock = TestClock::at(START_MS);
        let tool = Arc::new(Tool {
            clock: clock.clone(),
            steps: Mutex::new(steps.into_iter().collect()),
            called_at: Mutex::default(),
            dropped: Arc::default(),
            refuses: Mutex::default(),
        });
        let following = Following::new(tool.clone(), clock.clone(), clock.clone());
        let pool = LocalPool::new();
        let spawner = pool.spawner();
        Self { clock, tool, following, pool, spawner }
    }

    fn follow_as(&mut self, subject: Subject, after: Option<EventId>) -> Result<Follower, FollowError> {
        let joined = self.pool.run_until(self.following.follow(subject, after))?;
        if let Some(driver) = joined.driver {
            self.spawner.spawn_local(driver).expect("the pool lives");
        }
        self.pool.run_until_stalled();
        Ok(joined.follower)
    }

    fn follow(&mut self, after: Option<EventId>) -> Follower {
        self.follow_as(subject(), after).expect("followed")
    }

    /// Lets time pass, from one thing that is waited for to the next.
    fn pass(&mut self, ms: u64) {
        let until_ms = self.clock.now().as_ms() + ms;
        self.pool.run_until_stalled();
        while self.clock.advance_to_next_wait(until_ms) {
            self.pool.run_until_stalled();
        }
        self.clock.set(until_ms);
    }

    /// When calls were made, milliseconds after the beginning.
    fn calls(&self) -> Vec<u64> {
        self.tool.called_at.lock().expect("whole").iter().map(|at_ms| at_ms - START_MS).collect()
    }

    fn given_up(&self) -> u64 {
        self.tool.dropped.load(Relaxed)
    }

    fn feeds(&self) -> usize {
        self.following.shared.feeds().by_key.len()
    }

    fn kept_bytes(&self) -> usize {
        self.following.shared.total.load(Relaxed)
    }
}

fn subject() -> Subject {
    Subject {
        intent: "mobility.book_ride".to_owned(),
        tool: "track_ride".to_owned(),
        reference: "bkg_1".to_owned(),
        arguments: r#"{"request_id":"r1"}"#.to_owned(),
        asker: asker("ann"),
        fallback_request_id: "r0".to_owned(),
        trace: None,
    }
}

/// Everything that is there to be read, and whether it is all.
fn read(follower: &mut Follower) -> (Vec<Delivery>, bool) {
    let mut context = Context::from_waker(noop_waker_ref());
    let mut deliveries = Vec::new();
    loop {
        match follower.poll_next_unpin(&mut context) {
            Poll::Ready(Some(delivery)) => deliveries.push(delivery),
            Poll::Ready(None) => return (deliveries, true),
            Poll::Pending => return (deliveries, false),
        }
    }
}

fn told(delivery: &Delivery) -> String {
    let text = match &delivery.event {
        Event::Progress(params) => format!("progress {}", params.get()),
        Event::Update(called) => format!("update {}", called.payload.get()),
        Event::Failed(failed) => match &failed.error {
            CallError::Partner { failure, .. } => format!("failed {}", failure.code()),
            other => format!("failed {other}"),
        },
        Event::End(end) => format!("end {}", end.reason()),
    };
    if delivery.missed == 0 { text } else { format!("{text} ({} missed)", delivery.missed) }
}

fn texts(follower: &mut Follower) -> Vec<String> {
    read(follower).0.iter().map(told).collect()
}

fn answer(number: usize) -> Step {
    Step::Answer(format!("{{\"at\":{number}}}"))
}

#[test]
fn a_partner_that_only_answers_is_asked_every_five_seconds_and_what_changes_is_told() {
    let mut world = World::new([answer(1), answer(1), answer(2)]);
    let mut follower = world.follow(None);
    assert_eq!(texts(&mut follower), [r#"update {"at":1}"#]);
    world.pass(9_999);
    assert_eq!(texts(&mut follower), [""; 0], "the same again is no news");
    world.pass(1);
    assert_eq!(texts(&mut follower), [r#"update {"at":2}"#]);
    assert_eq!(world.calls(), [0, 5_000, 10_000]);
}

#[test]
fn followers_of_one_order_share_its_calls_and_others_do_not() {
    let mut world = World::new([answer(1)]);
    let _first = world.follow(None);
    let another_request = Subject { arguments: r#"{ "request_id": "r2" }"#.to_owned(), ..subject() };
    let mut second = world.follow_as(another_request, None).expect("followed");
    assert_eq!(texts(&mut second), [r#"update {"at":1}"#], "who joins begins with the newest answer");
    assert_eq!(world.calls().len(), 1);
    let others = [
        Subject { asker: asker("bob"), ..subject() },
        Subject { asker: UNNAMED.clone(), ..subject() },
        Subject { reference: "bkg_2".to_owned(), ..subject() },
        Subject { arguments: r#"{"detail":true}"#.to_owned(), ..subject() },
        Subject { tool: "track_driver".to_owned(), ..subject() },
        Subject { intent: "food.order".to_owned(), ..subject() },
    ];
    for (number, other) in others.into_iter().enumerate() {
        let _follower = world.follow_as(other, None).expect("followed");
        assert_eq!(world.calls().len(), number + 2);
    }
}

#[test]
fn whoever_may_not_call_may_not_join() {
    let mut world = World::new([answer(1)]);
    let _first = world.follow(None);
    *world.tool.refuses.lock().expect("whole") = true;
    let refused = world.follow_as(subject(), None);
    assert!(matches!(refused, Err(FollowError::Refused(failed)) if failed.error == CallError::InvalidReference));
    assert_eq!(world.calls().len(), 1);
}

#[test]
fn a_partner_that_streams_is_listened_to_until_it_ends() {
    let mut world = World::new([Step::Stream(4_000, 3, "{}".to_owned())]);
    let mut follower = world.follow(None);
    world.pass(4_000);
    assert_eq!(texts(&mut follower), [r#"progress {"progress":0}"#]);
    let mut late = world.follow(None);
    assert_eq!(texts(&mut late), [r#"progress {"progress":0}"#], "the last word, as there is no answer yet");
    world.pass(8_000);
    let (deliveries, is_all) = read(&mut follower);
    let expected = [r#"progress {"progress":1}"#, r#"progress {"progress":2}"#, "update {}", "end complete"];
    assert_eq!(deliveries.iter().map(told).collect::<Vec<_>>(), expected);
    assert!(is_all);
    assert_eq!(world.calls().len(), 1);
}

#[test]
fn a_word_in_passing_makes_no_stream() {
    let mut world = World::new([Step::Stream(100, 1, "{}".to_owned())]);
    let mut follower = world.follow(None);
    world.pass(6_000);
    assert_eq!(texts(&mut follower), [r#"progress {"progress":0}"#, "update {}", r#"progress {"progress":0}"#]);
    assert_eq!(world.calls(), [0, 5_000]);
}

#[test]
fn a_failure_that_passes_is_told_and_the_tool_called_again_ever_later() {
    let mut world = World::new([Step::Fail(CallFailure::HttpStatus(503)), Step::Fail(CallFailure::Busy), answer(1)]);
    let mut follower = world.follow(None);
    world.pass(MINUTE);
    let told = texts(&mut follower);
    assert_eq!(told, ["failed PARTNER_HTTP_ERROR", "failed PARTNER_BUSY", r#"update {"at":1}"#]);
    assert_eq!(world.calls()[..4], [0, 5_000, 15_000, 20_000], "and as before once it is answered");
}

#[test]
fn a_call_that_is_put_off_has_not_failed() {
    let wait_ms = Some(2_000);
    let put_off = Step::Fail(CallFailure::NotCalled { why: NotCalled::PartnerRate, wait_ms });
    let mut world = World::new([put_off.clone(), answer(1)]);
    let mut follower = world.follow(None);
    world.pass(7_000);
    assert_eq!(texts(&mut follower), [r#"update {"at":1}"#]);
    assert_eq!(world.calls(), [0, 2_000, 7_000]);
    // Put off again and again, it has.
    let mut world = World::new([put_off]);
    let mut follower = world.follow(None);
    world.pass(MINUTE);
    assert_eq!(texts(&mut follower)[0], "failed RATE_LIMITED");
    assert_eq!(world.calls()[12], 24_000);
}

#[test]
fn a_failure_that_stands_ends_it() {
    let mut world = World::new([answer(1), Step::Fail(CallFailure::Unauthorized)]);
    let mut follower = world.follow(None);
    world.pass(MINUTE);
    let (deliveries, is_all) = read(&mut follower);
    assert_eq!(
        deliveries.iter().map(told).collect::<Vec<_>>(),
        [r#"update {"at":1}"#, "failed INVALID_AUTH", "end failed"]
    );
    assert!(is_all);
}

#[test]
fn a_partner_that_fails_and_fails_is_given_up() {
    let mut world = World::new([Step::Fail(CallFailure::Timeout(1))]);
    let mut follower = world.follow(None);
    world.pass(10 * MINUTE);
    let told = texts(&mut follower);
    assert_eq!(told.len(), 9);
    assert_eq!(told[8], "end unavailable");
    assert_eq!(world.calls().len(), 8);
    assert_eq!(world.feeds(), 0, "and forgotten");
    assert_eq!(texts(&mut world.follow(None)), ["failed PARTNER_TIMEOUT"], "who asks anew begins anew");
}

#[test]
fn nothing_is_followed_for_longer_than_an_hour() {
    let mut world = World::new([Step::Hang]);
    let mut follower = world.follow(None);
    world.pass(60 * MINUTE - 1);
    assert_eq!(read(&mut follower).0.len(), 0);
    world.pass(1);
    assert_eq!(texts(&mut follower), ["end time_limit"]);
    assert_eq!(world.given_up(), 1);
    let mut world = World::new([answer(1)]);
    let mut follower = world.follow(None);
    world.pass(60 * MINUTE);
    assert_eq!(texts(&mut follower), [r#"update {"at":1}"#, "end time_limit"]);
    assert_eq!(world.calls().len(), 720);
}

#[test]
fn the_call_of_an_order_that_nobody_follows_any_more_is_given_up_soon() {
    let mut world = World::new([Step::Hang]);
    drop(world.follow(None));
    world.pass(9_999);
    assert_eq!(world.given_up(), 0, "whoever comes back at once finds it");
    world.pass(1);
    assert_eq!(world.given_up(), 1);
    world.pass(MINUTE);
    assert_eq!((world.calls().len(), world.feeds(), world.kept_bytes()), (1, 0, 0));
}

#[test]
fn no_call_is_begun_for_nobody() {
    let mut world = World::new([answer(1), answer(2)]);
    drop(world.follow(None));
    world.pass(30 * SECOND);
    assert_eq!(world.calls(), [0]);
    let mut follower = world.follow(None);
    assert_eq!(texts(&mut follower), [r#"update {"at":1}"#, r#"update {"at":2}"#]);
    assert_eq!(world.calls(), [0, 30_000]);
    drop(follower);
    world.pass(2 * MINUTE);
    assert_eq!((world.calls().len(), world.feeds(), world.kept_bytes()), (2, 0, 0));
}

#[test]
fn whoever_comes_back_sees_each_event_once() {
    let mut world = World::new([Step::Stream(1_000, 20, "{}".to_owned())]);
    let mut follower = world.follow(None);
    world.pass(3_000);
    let (before, _) = read(&mut follower);
    drop(follower);
    // The partner goes on telling meanwhile.
    world.pass(5_000);
    let mut follower = world.follow(before.last().map(|delivery| delivery.id));
    world.pass(MINUTE);
    let (after, _) = read(&mut follower);
    let numbers: Vec<u64> = before.iter().chain(&after).map(|delivery| delivery.id.number).collect();
    assert_eq!(numbers, (1..=22).collect::<Vec<_>>());
    assert!(after.iter().all(|delivery| delivery.missed == 0));
    assert_eq!(world.calls().len(), 1);
}

#[test]
fn what_was_not_read_of_a_feed_that_has_ended_is_there_for_a_while() {
    let mut world = World::new([Step::Stream(5_000, 1, "{}".to_owned())]);
    let mut follower = world.follow(None);
    world.pass(5_000);
    let first = read(&mut follower).0[0].id;
    drop(follower);
    let mut back = world.follow(Some(first));
    let (rest, is_all) = read(&mut back);
    assert_eq!(rest.iter().map(told).collect::<Vec<_>>(), ["update {}", "end complete"]);
    assert!(is_all);
    // Whoever has seen the end begins anew, and so does everybody once it is forgotten.
    let end = rest.last().map(|delivery| delivery.id);
    assert_eq!(world.calls().len(), 1);
    let _anew = world.follow(end);
    assert_eq!(world.calls().len(), 2);
}

#[test]
fn an_identifier_from_elsewhere_resumes_nothing() {
    let mut world = World::new([answer(1)]);
    let mut first = world.follow(None);
    let id = read(&mut first).0[0].id;
    for after in [EventId { feed: id.feed ^ 1, number: 1 }, EventId { number: 9, ..id }] {
        assert_eq!(texts(&mut world.follow(Some(after))), [r#"update {"at":1}"#], "{after}");
    }
    assert_eq!(texts(&mut world.follow(Some(id))), [""; 0]);
}

#[test]
fn a_slow_follower_goes_on_at_the_newest_state_and_costs_nothing() {
    let mut world = World::new([answer(0), Step::Stream(10, 1_000, r#"{"at":9}"#.to_owned()), Step::Hang]);
    let (mut slow, mut fast) = (world.follow(None), world.follow(None));
    assert_eq!(texts(&mut slow), [r#"update {"at":0}"#]);
    let mut seen = 0;
    for _ in 0..160 {
        world.pass(100);
        seen += read(&mut fast).0.len();
        assert!(world.kept_bytes() < 64 * 1_024, "{}", world.kept_bytes());
    }
    assert_eq!(seen, 1 + 1_000 + 1 + 1, "the other one has seen everything");
    let told = texts(&mut slow);
    // What is left of the stream would tell of times long past; the answer after it is the state.
    assert_eq!(told, [r#"update {"at":9} (1000 missed)"#, "end complete"]);
}

#[test]
fn a_slow_follower_of_words_alone_gets_the_last_one() {
    let mut world = World::new([Step::Stream(10, 500, "{}".to_owned())]);
    let mut slow = world.follow(None);
    world.pass(4_000);
    assert_eq!(texts(&mut slow), [r#"progress {"progress":399} (399 missed)"#]);
}

#[test]
fn what_is_kept_is_bounded_in_bytes_over_all_feeds() {
    let large = format!("\"{}\"", "x".repeat(10 * 1024 * 1024));
    let mut world = World::new([Step::Answer(large)]);
    let mut followers = Vec::new();
    let refused = (0..10).find(|number| {
        let other = Subject { reference: format!("bkg_{number}"), ..subject() };
        match world.follow_as(other, None) {
            Ok(follower) => followers.push(follower),
            Err(error) => assert!(matches!(error, FollowError::Full), "{error}"),
        }
        followers.len() <= *number
    });
    assert_eq!(refused, Some(7));
    assert_eq!(read(&mut followers[5]).0.len(), 1);
    assert_eq!(told(&read(&mut followers[6]).0[1]), "end overloaded");
    drop(followers);
    world.pass(3 * MINUTE);
    assert_eq!(world.kept_bytes(), 0);
    let _again = world.follow(None);
}

#[test]
fn a_feed_whose_work_is_broken_off_says_so() {
    let mut world = World::new([answer(1)]);
    let mut follower = world.follow(None);
    world.pool = LocalPool::new();
    assert_eq!(texts(&mut follower), [r#"update {"at":1}"#, "end interrupted"]);
    assert_eq!(world.feeds(), 0);
}

proptest! {
    /// Whenever followers come and go, each sees numbers that grow without a gap it is not told of, and calls keep apart.
    #[test]
    fn nothing_is_told_twice_or_lost_unsaid(steps in prop::collection::vec((0_u64..8_000, 0_u8..4), 1..60)) {
        let mut world = World::new([answer(1), Step::Stream(300, 90, "{}".to_owned()), answer(2), answer(3)]);
        let mut follower = None;
        let mut last: Option<EventId> = None;
        for (ms, act) in steps {
            match (act, &mut follower) {
                (0, None) => follower = Some(world.follow(last)),
                (1, Some(_)) => follower = None,
                (2, Some(follower)) => {
                    for Delivery { id, missed, .. } in read(follower).0 {
                        if let Some(last) = last.filter(|last| last.feed == id.feed) {
                            prop_assert_eq!(id.number, last.number + 1 + missed);
                        }
                        last = Some(id);
                    }
                }
                _ => {}
            }
            world.pass(ms);
            let calls = world.calls();
            prop_assert!(calls.windows(2).all(|pair| pair[0] + BETWEEN_CALLS_MS <= pair[1]), "{:?}", calls);
        }
    }
}
