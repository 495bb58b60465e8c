//! Two users of one partner at once: each call is made with the caller's own token, in a session of nobody else's.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::json;

use super::world::{CANCEL, Setting, World};

/// Calls in all, bookings and cancellations.
const CALLS: usize = 10_000;
/// Who calls at once for each user.
const CALLERS: usize = 8;
/// Short enough that the users' tokens are renewed under load, seconds.
const TOKEN_SECONDS: u32 = 12;

#[tokio::test(flavor = "multi_thread")]
async fn tokens_and_sessions_of_two_users_are_never_crossed() {
    let world = World::start(Setting { token_seconds: TOKEN_SECONDS, ..Setting::default() }).await;
    let users = [("asha-7391", "subject-of-asha"), ("ravi-5502", "subject-of-ravi")];
    let mut options = Vec::new();
    for (user, subject) in users {
        world.link(user, subject).await;
        options.push(world.option(user).await);
    }
    let (begun, calls) = (Instant::now(), AtomicUsize::new(0));
    let caller = async |who: usize, number: usize| {
        let (user, subject) = users[who];
        while calls.load(Ordering::SeqCst) < CALLS {
            let id = format!("{user}-{number}-{}", calls.fetch_add(2, Ordering::SeqCst));
            let booked = world.book(user, &options[who], &id).await;
            assert_eq!(booked.status, 200, "{}\n{}", booked.body, world.gateway.log());
            assert_eq!(booked.body["payload"]["echoed_subject"], subject, "{id}");
            let reference = booked.body["reference"].as_str().expect("a text");
            let cancel = json!({"request_id": format!("{id}-c"), "reason_code": "changed_plans"});
            let cancelled = world.call(CANCEL, user, reference, cancel).await;
            assert_eq!(cancelled.status, 200, "{}\n{}", cancelled.body, world.gateway.log());
            assert_eq!(cancelled.body["payload"]["echoed_subject"], subject, "{id}");
            let booking = cancelled.body["payload"]["booking_id"].as_str().expect("a text");
            assert!(booking.ends_with(&format!("-of-{subject}")), "{booking}");
        }
    };
    let callers = (0..2 * CALLERS).map(|number| caller(number % 2, number));
    futures_util::future::join_all(callers).await;

    let made = calls.load(Ordering::SeqCst);
    let tokens = users.map(|(_, subject)| world.partner.tokens_of(subject).len());
    let sessions = world.partner.sessions();
    eprintln!(
        "{made} calls in {:.1} s, {tokens:?} tokens, {} sessions, {} refused",
        begun.elapsed().as_secs_f64(),
        sessions.len(),
        world.partner.refused()
    );
    assert!(made >= CALLS);
    assert!(tokens.iter().all(|count| *count >= 2), "tokens were renewed under load: {tokens:?}");
    let shared: Vec<&BTreeSet<String>> = sessions.iter().filter(|subjects| subjects.len() != 1).collect();
    assert!(shared.is_empty(), "sessions of several users: {shared:?}");
    for (_, subject) in users {
        assert!(sessions.iter().any(|subjects| subjects.contains(subject)));
    }
    // Another user's reference books nothing, whoever has linked what.
    let stolen = world.book(users[0].0, &options[1], "stolen").await;
    assert_eq!(stolen.body["error"]["code"], "INVALID_REFERENCE", "{}", stolen.body);
}
