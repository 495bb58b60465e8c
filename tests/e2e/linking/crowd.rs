//! Two users of one partner at once: each call is made with the caller's own token, in a session of nobody else's.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::json;
use test_servers::soak;

use super::world::{CANCEL, Setting, World};

/// Calls in all, bookings and cancellations: in every run, and in a soak.
const CALLS: [usize; 2] = [1_500, 10_000];
/// Tokens that each user must have had by the end, so that there was a renewal under load.
const TOKENS_MIN: usize = 2;
/// Calls go on for so much longer at most until that is so.
const CALLS_MAX: usize = 20_000;
/// Who calls at once for each user.
const CALLERS: usize = 8;
/// Short enough that the users' tokens are renewed under load, seconds: in the second half of their life.
const TOKEN_SECONDS: u32 = 6;

#[tokio::test(flavor = "multi_thread")]
async fn tokens_and_sessions_of_two_users_are_never_crossed() {
    let world = World::start(Setting { token_seconds: TOKEN_SECONDS, ..Setting::default() }).await;
    let users = [("asha-7391", "subject-of-asha"), ("ravi-5502", "subject-of-ravi")];
    let mut options = Vec::new();
    for (user, subject) in users {
        world.link(user, subject).await;
        options.push(world.option(user).await);
    }
    let [short, long] = CALLS;
    let wanted = soak::choose(short, long);
    let (begun, calls) = (Instant::now(), AtomicUsize::new(0));
    let tokens = || users.map(|(_, subject)| world.partner.tokens_of(subject).len());
    let is_enough = || match calls.load(Ordering::SeqCst) {
        made if made < wanted => false,
        made => made >= CALLS_MAX || tokens().iter().all(|count| *count >= TOKENS_MIN),
    };
    let caller = async |who: usize, number: usize| {
        let (user, subject) = users[who];
        while !is_enough() {
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
    let tokens = tokens();
    let sessions = world.partner.sessions();
    eprintln!(
        "{made} calls in {:.1} s, {tokens:?} tokens, {} sessions, {} refused",
        begun.elapsed().as_secs_f64(),
        sessions.len(),
        world.partner.refused()
    );
    assert!(made >= wanted);
    assert!(tokens.iter().all(|count| *count >= TOKENS_MIN), "tokens were renewed under load: {tokens:?}");
    let shared: Vec<&BTreeSet<String>> = sessions.iter().filter(|subjects| subjects.len() != 1).collect();
    assert!(shared.is_empty(), "sessions of several users: {shared:?}");
    for (_, subject) in users {
        assert!(sessions.iter().any(|subjects| subjects.contains(subject)));
    }
    // Another user's reference books nothing, whoever has linked what.
    let stolen = world.book(users[0].0, &options[1], "stolen").await;
    assert_eq!(stolen.body["error"]["code"], "INVALID_REFERENCE", "{}", stolen.body);
}
