//! Each check of the soak, where it has to fail: what it would overlook, the soak would as well.

use std::collections::BTreeSet;
use std::fs::File;
use std::hint::black_box;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use chaos::footprint::{Allowance, Footprint};
use chaos::proxy::Fault;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};

use super::checks::{has_options_of, in_time, is_booked, is_booked_or_refused};
use super::fleet::{Fleet, Rates};
use super::{GRACE, SEARCH_DEADLINE};
use crate::harness::Answer;

/// What is held too much, each well over what is allowed.
const ALLOWANCE: Allowance = Allowance { memory: 32 << 20, threads: 4, files: 8 };
const HELD_BYTES: usize = 128 << 20;
const HELD_THREADS: usize = 64;
const HELD_FILES: usize = 256;

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_with_a_call_is_seen() {
    let fleet = Fleet::start(&["well", "broken"], Rates::Off).await;
    let (answer, took) = fleet.search().await;
    assert_eq!(has_options_of(&answer, &["well", "broken"]), Vec::<String>::new());
    assert_eq!(in_time("a search", took, SEARCH_DEADLINE + GRACE), None);
    let reference = fleet.reference(&answer, "broken");

    // A partner that was taken for well, and a deadline that is shorter than the one that is kept.
    fleet.proxy("broken").set(Fault::Silent);
    let search = fleet.search();
    let watch = async {
        // The connection stands while the search waits: it is seen from both sides.
        while fleet.footprint().connections == 0 || fleet.left_open().is_empty() {
            tokio::task::yield_now().await;
        }
        let now = fleet.footprint();
        now.growth(&now, ALLOWANCE)
    };
    let ((answer, took), seen) = tokio::join!(search, watch);
    assert!(seen.iter().any(|breach| breach.starts_with("connections")), "{seen:?}");
    assert_eq!(has_options_of(&answer, &["well", "broken"]).len(), 1);
    assert!(in_time("a search", took, SEARCH_DEADLINE / 2).is_some());

    fleet.proxy("broken").set(Fault::Reset);
    let (answer, _) = fleet.book(&reference, "sabotage-1").await;
    assert!(is_booked(&answer).is_some(), "{}", answer.body);
    assert_eq!(is_booked_or_refused(&answer), None);

    // A connection that nobody closes.
    let (_, left) = fleet.settled(|footprint| footprint.growth(footprint, ALLOWANCE)).await;
    assert_eq!(left, Vec::<String>::new());
    let leaked = TcpStream::connect(("127.0.0.1", fleet.proxy("well").port)).await.expect("it listens");
    while fleet.left_open().is_empty() {
        tokio::task::yield_now().await;
    }
    drop(leaked);
}

#[test]
fn answers_that_say_nothing_are_seen() {
    let answer = |status, body| Answer { status, body };
    assert!(!has_options_of(&answer(503, json!({})), &[]).is_empty());
    assert!(is_booked_or_refused(&answer(200, json!({}))).is_some());
    assert!(is_booked_or_refused(&answer(502, json!({"error": {"code": "PARTNER_TIMEOUT"}}))).is_some());
    let error = json!({"error": {"code": "INTERNAL_ERROR", "message": "the gateway failed"}});
    assert!(is_booked_or_refused(&answer(500, error.clone())).is_some());
    assert_eq!(is_booked_or_refused(&answer(502, error)), None);
    assert!(in_time("a call", Duration::from_millis(2), Duration::from_millis(1)).is_some());
}

#[tokio::test]
async fn what_a_process_holds_too_much_is_seen() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound");
    let footprint = || Footprint::of(std::process::id(), &BTreeSet::from([address.port()])).expect("Linux tells");
    let before = footprint();
    assert_eq!(before.connections, 0);

    let memory = black_box(vec![1_u8; HELD_BYTES]);
    let files: Vec<File> = (0..HELD_FILES).map(|_| File::open("/dev/null").expect("it is there")).collect();
    let done = Arc::new(Barrier::new(HELD_THREADS + 1));
    let thread = |_| {
        let done = Arc::clone(&done);
        std::thread::spawn(move || done.wait())
    };
    let threads: Vec<_> = (0..HELD_THREADS).map(thread).collect();
    let connection = TcpStream::connect(address).await.expect("it listens");

    let growth = footprint().growth(&before, ALLOWANCE);
    for what in ["memory", "threads", "files", "connections"] {
        assert!(growth.iter().any(|breach| breach.starts_with(what)), "{what}: {growth:?}");
    }
    done.wait();
    threads.into_iter().for_each(|thread| drop(thread.join()));
    drop((memory, files, connection));
}
