//! A PostgreSQL that crashes, is stopped, freezes and takes reads alone, under bookings and reports: whoever is refused is told
//! that the store is down, no repeat is sent away as under way, and what was acknowledged is there, once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use intent_gateway_ledger::Books as _;
use intent_gateway_store::{Location, SqlStore};
use test_servers::postgres::Postgres;
use test_servers::soak;

use super::{REPEAT_AFTER, Refusals, World};
use crate::harness::vault_of;
use crate::onboarding::settings;

/// A port to which no mail is ever sent.
const NO_SMTP: u16 = 1;
/// Clients that book, and as many that report.
const CLIENTS: usize = 4;
/// How long each fault lasts, but for a frozen server, which is given up on when a transaction has waited for its turn.
const FAULT: Duration = Duration::from_secs(5);
const FREEZE: Duration = Duration::from_secs(20);
/// The time between two.
const BETWEEN: Duration = Duration::from_secs(3);

/// Books under one key after the other until told to stop, each until it is booked; what each key got.
async fn book(world: &World, client: usize, stop: &AtomicBool, refusals: &Refusals) -> BTreeMap<String, String> {
    let mut booked = BTreeMap::new();
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let key = format!("k-{client}-{number}");
        loop {
            let told = world.book(&key).await;
            if told.status == 200 {
                let booking = told.body["payload"]["booking_id"].as_str().expect("a booking").to_owned();
                booked.insert(key, booking);
                break;
            }
            refusals.take(&key, &told);
            tokio::time::sleep(REPEAT_AFTER).await;
        }
    }
    booked
}

/// Reports likewise; the receipt of each order.
async fn report(world: &World, client: usize, stop: &AtomicBool, refusals: &Refusals) -> BTreeMap<String, String> {
    let mut reported = BTreeMap::new();
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let order = format!("order-{client}-{number}");
        loop {
            let told = world.report(&order).await;
            if told.status == 200 {
                reported.insert(order, told.body["receipt_id"].as_str().expect("a receipt").to_owned());
                break;
            }
            refusals.take(&order, &told);
            tokio::time::sleep(REPEAT_AFTER).await;
        }
    }
    reported
}

/// Every fault in turn; how many were refused in each as an outage.
async fn inject(server: Postgres, refusals: &Refusals, rounds: usize) -> (Postgres, Vec<(&'static str, usize)>) {
    let mut met = Vec::new();
    for _ in 0..rounds {
        for fault in ["crash", "stop", "freeze", "read-only"] {
            tokio::time::sleep(BETWEEN).await;
            let before = refusals.outages();
            match fault {
                "crash" => server.crash().expect("it crashes"),
                "stop" => server.stop().expect("it stops"),
                "freeze" => server.freeze().expect("it freezes"),
                _ => set_read_only(&server, "on"),
            }
            tokio::time::sleep(if fault == "freeze" { FREEZE } else { FAULT }).await;
            match fault {
                "freeze" => server.thaw().expect("it goes on"),
                "read-only" => set_read_only(&server, "off"),
                _ => server.start_again().expect("it starts"),
            }
            met.push((fault, refusals.outages() - before));
        }
    }
    tokio::time::sleep(BETWEEN).await;
    (server, met)
}

fn set_read_only(server: &Postgres, on: &str) {
    server.run_statement(&format!("ALTER SYSTEM SET default_transaction_read_only = {on}")).expect("it is set");
    server.run_statement("SELECT pg_reload_conf()").expect("it is read");
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_happens_to_postgresql_is_told_honestly_and_nothing_acknowledged_is_lost() {
    let Some(server) = Postgres::start().expect("it starts") else {
        eprintln!("PostgreSQL is not installed: its outages were not tested");
        return;
    };
    let url = server.database().expect("a database");
    let world = World::start(settings(Some(&url), NO_SMTP)).await;
    let (stop, refusals) = (AtomicBool::new(false), Refusals::default());
    let faults = async {
        let injected = inject(server, &refusals, soak::choose(1, 5)).await;
        stop.store(true, Ordering::Relaxed);
        injected
    };
    let booking = join_all((0..CLIENTS).map(|client| book(&world, client, &stop, &refusals)));
    let reporting = join_all((0..CLIENTS).map(|client| report(&world, client, &stop, &refusals)));
    let ((_server, met), booked, reported) = tokio::join!(faults, booking, reporting);
    let booked: BTreeMap<String, String> = booked.into_iter().flatten().collect();
    let reported: BTreeMap<String, String> = reported.into_iter().flatten().collect();
    eprintln!("{} bookings, {} reports; refused: {refusals:?}; met: {met:?}", booked.len(), reported.len());
    assert!(met.iter().all(|(_, refused)| *refused > 0), "each fault was met: {met:?}");
    assert!(booked.len() >= CLIENTS && reported.len() >= CLIENTS, "and there was work between them");

    for (key, booking) in &booked {
        assert_eq!(booking, &format!("BK-{key}"));
        let again = world.book(key).await;
        assert_eq!(
            (again.status, again.body["payload"]["booking_id"].as_str()),
            (200, Some(booking.as_str())),
            "{again:?}"
        );
    }
    for (order, receipt) in &reported {
        let again = world.report(order).await;
        assert_eq!((again.status, again.body["receipt_id"].as_str()), (200, Some(receipt.as_str())), "{again:?}");
    }
    let location = Location::parse(&url).expect("an address");
    let vault = vault_of(world.gateway.folder.path());
    let store = SqlStore::open(&location, Some(&vault)).await.expect("the store opens");
    assert!(store.verify_ledger().await.expect("it reads").is_sound());
    let (entries, _) = store.head().await.expect("it reads");
    assert_eq!(entries, reported.len() as u64, "each order is charged once");
    assert!(!world.gateway.log().contains("panicked"), "{}", world.gateway.log());
}
