//! What a partner tells before its answer, and how long a call that is listened to holds its turn.

use std::pin::pin;
use std::task::{Context, Poll};

use futures_util::task::noop_waker_ref;

use super::*;
use intent_gateway_domain::progress::Listener;
use intent_gateway_outbound::policy::pace::track::{BETWEEN_CALLS_MS, TrackDecision};

/// Says these words of each call, and never answers.
struct Talking(Vec<String>);

impl PartnerCalls for Talking {
    fn call<'a>(&'a self, _: &'a Arc<Partner>, call: ToolCall<'a>) -> BoxFuture<'a, Result<ToolAnswer, CallFailure>> {
        for word in &self.0 {
            call.progress.expect("somebody listens").tell(word, std::time::Instant::now());
        }
        std::future::pending().boxed()
    }
}

/// Waits until the world's time has come; looked at whenever it is polled.
struct Until(Arc<World>);

impl Timer for Until {
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        let world = Arc::clone(&self.0);
        let at_ms = world.now_ms() + u64::try_from(time.as_millis()).expect("short");
        std::future::poll_fn(move |_| if world.now_ms() >= at_ms { Poll::Ready(()) } else { Poll::Pending }).boxed()
    }
}

impl World {
    fn caller(self: &Arc<Self>, words: &[String]) -> Caller {
        Caller {
            contracts: self.clone(),
            directory: self.clone(),
            outbound: Arc::new(Outbound::plain(Arc::new(Talking(words.to_vec())), self.clone())),
            journal: self.clone(),
            evidence: self.clone(),
            clock: self.clone(),
            references: sealer(),
            memory: Memory { store: self.store.clone(), vault: vault(), timer: Arc::new(Until(self.clone())) },
            tracker: self.tracker.clone(),
            timeout: Duration::from_secs(30),
        }
    }

    fn booked(self: &Arc<Self>) -> String {
        let booked = self.call(BOOK, &sealer().seal(&self.reference()), &json!({})).expect("passed");
        booked.reference.expect("one")
    }
}

fn order<'a>(tool: &'a str, reference: &'a str, user: &'a UserId, listener: Option<Listener<'a>>) -> Order<'a> {
    Order {
        intent: INTENT,
        tool,
        reference,
        arguments: "{}",
        user: Some(user),
        fallback_request_id: "made-up",
        trace: None,
        listener,
    }
}

#[test]
fn words_are_scanned_as_answers_are_and_the_token_is_kept_back() {
    let world = World::new();
    let (reference, user, heard) = (world.booked(), user(), Mutex::new(Vec::new()));
    let hear = |params: &str| heard.lock().expect("no panic").push(params.to_owned());
    let deep = format!(r#"{{"progressToken":1,"deep":{}{}}}"#, "[".repeat(100), "]".repeat(100));
    let caller = world.caller(&[
        r#"{"progressToken":1,"progress":0.10}"#.to_owned(),
        r#"{"progressToken":1,"offer":{"ad_bid":1}}"#.to_owned(),
        r#"{"progressToken":1,"kickback_amount":2}"#.to_owned(),
        deep,
    ]);
    let mut call = pin!(caller.call(order(TRACK, &reference, &user, Some(Listener::new(&hear)))));
    assert!(call.as_mut().poll(&mut Context::from_waker(noop_waker_ref())).is_pending());
    assert_eq!(*heard.lock().expect("no panic"), [r#"{"progress":0.10}"#]);
    assert_eq!(world.found(), [(Severity::Strike, "FORBIDDEN_FIELD".to_owned())], "one call is one incident");
}

#[test]
fn a_call_that_is_listened_to_gives_its_turn_back_in_time() {
    let world = World::new();
    let (reference, user, hear) = (world.booked(), user(), |_: &str| ());
    let caller = world.caller(&[]);
    let alpha = PartnerId::parse("alpha").expect("sound");
    let mut call = pin!(caller.call(order(TRACK, &reference, &user, Some(Listener::new(&hear)))));
    let mut context = Context::from_waker(noop_waker_ref());
    let others = || world.tracker.ask(&alpha, "track_thing BK-1", Some(&user), world.now_ms());
    assert!(call.as_mut().poll(&mut context).is_pending());
    world.now_ms.fetch_add(BETWEEN_CALLS_MS - 1, Ordering::Relaxed);
    assert!(call.as_mut().poll(&mut context).is_pending());
    assert!(matches!(others(), TrackDecision::Wait(_)));
    world.now_ms.fetch_add(1, Ordering::Relaxed);
    assert!(call.as_mut().poll(&mut context).is_pending(), "it goes on all the same");
    assert!(matches!(others(), TrackDecision::Call(_)));
}

#[test]
fn what_may_be_followed_is_told_without_a_call() {
    let world = World::new();
    let (reference, user) = (world.booked(), user());
    let before = world.was_called();
    let caller = world.caller(&[]);
    let may = |tool, reference: &str| block_on(caller.may_follow(order(tool, reference, &user, None)));
    assert_eq!(may(TRACK, &reference), Ok(()));
    assert_eq!(may(CANCEL, &reference), Err(CallError::UnknownTool(CANCEL.to_owned())));
    assert_eq!(may(TRACK, "bkg_x.y"), Err(CallError::InvalidReference));
    let expired = OptionReference { expires_at_ms: Some(NOW), ..world.reference() };
    assert!(matches!(may(TRACK, &sealer().seal(&expired)), Err(CallError::Expired(_))));
    let stranger = UserId::parse("stranger").expect("sound");
    let outcome = block_on(caller.may_follow(order(TRACK, &reference, &stranger, None)));
    assert_eq!(outcome, Err(CallError::InvalidReference));
    assert_eq!(world.was_called(), before);
}
