//! What a partner tells before its answer, and how long a call that is listened to holds its turn.

use std::pin::pin;
use std::task::Context;

use futures_util::task::noop_waker_ref;
use intent_gateway_domain::progress::Listener;
use intent_gateway_outbound::policy::pace::track::{BETWEEN_CALLS_MS, TrackDecision};
use intent_gateway_testing::partners::RecordedProgress;

use super::*;

impl World {
    /// From here on, the partner says this of each call, and never answers.
    fn talks(&self, messages: &[String]) {
        let messages = messages.to_vec();
        self.partners.reply_with("alpha", move |_, progress| {
            let progress = progress.expect("somebody listens");
            messages.iter().for_each(|message| progress.tell(message, std::time::Instant::now()));
            Reply::Silence
        });
    }
}

#[test]
fn words_are_scanned_as_answers_are_and_the_token_is_kept_back() {
    let world = World::still();
    let (reference, user, heard) = (world.book(), asker("user-1"), RecordedProgress::default());
    let hear = |params: &str| heard.hear(params);
    let deep = format!(r#"{{"progressToken":1,"deep":{}{}}}"#, "[".repeat(100), "]".repeat(100));
    world.talks(&[
        r#"{"progressToken":1,"progress":0.10}"#.to_owned(),
        r#"{"progressToken":1,"offer":{"ad_bid":1}}"#.to_owned(),
        r#"{"progressToken":1,"kickback_amount":2}"#.to_owned(),
        deep,
    ]);
    let request = CallRequest { asker: &user, listener: Some(Listener::new(&hear)), ..request(TRACK, &reference) };
    let mut call = pin!(world.caller.call(request));
    assert!(call.as_mut().poll(&mut Context::from_waker(noop_waker_ref())).is_pending());
    assert_eq!(heard.messages(), [r#"{"progress":0.10}"#]);
    assert_eq!(world.journal.found(), [(Severity::Strike, "FORBIDDEN_FIELD".to_owned())], "one call is one incident");
}

#[test]
fn a_call_that_is_listened_to_gives_its_turn_back_in_time() {
    let world = World::still();
    let (reference, user, heard) = (world.book(), asker("user-1"), RecordedProgress::default());
    let hear = |params: &str| heard.hear(params);
    world.talks(&[]);
    let alpha = PartnerId::parse("alpha").expect("sound");
    let request = CallRequest { asker: &user, listener: Some(Listener::new(&hear)), ..request(TRACK, &reference) };
    let mut call = pin!(world.caller.call(request));
    let mut context = Context::from_waker(noop_waker_ref());
    let others = || world.caller.tracker.ask(&alpha, "track_thing BK-1", &user, world.clock.now());
    assert!(call.as_mut().poll(&mut context).is_pending());
    world.clock.advance(BETWEEN_CALLS_MS - 1);
    assert!(call.as_mut().poll(&mut context).is_pending());
    assert!(matches!(others(), TrackDecision::Wait(_)));
    world.clock.advance(1);
    assert!(call.as_mut().poll(&mut context).is_pending(), "it goes on all the same");
    assert!(matches!(others(), TrackDecision::Call(_)));
}

#[test]
fn what_may_be_followed_is_told_without_a_call() {
    let world = World::still();
    let (reference, user) = (world.book(), asker("user-1"));
    let before = world.was_called();
    let may_for = |asker: &Asker, tool, reference: &str| {
        let request = CallRequest { asker, ..request(tool, reference) };
        block_on(world.caller.may_follow(request)).map_err(|failed| failed.error)
    };
    let may = |tool, reference: &str| may_for(&user, tool, reference);
    assert_eq!(may(TRACK, &reference), Ok(()));
    assert_eq!(may(CANCEL, &reference), Err(CallError::UnknownTool(CANCEL.to_owned())));
    assert_eq!(may(TRACK, "bkg_x.y"), Err(CallError::InvalidReference));
    let expired = OptionReference { expires_at_ms: START, ..world.reference() };
    assert!(matches!(may(TRACK, &sealer().seal(&expired)), Err(CallError::Expired(_))));
    let stranger = asker("stranger");
    assert_eq!(may_for(&stranger, TRACK, &reference), Err(CallError::InvalidReference));
    assert_eq!(world.was_called(), before);
}
