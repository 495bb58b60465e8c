//! A request is judged by one contract to its end, whatever is activated meanwhile.

use futures_executor::LocalPool;
use futures_util::task::LocalSpawnExt as _;
use futures_util::{FutureExt as _, StreamExt as _};

use super::*;
use crate::following::{Delivery, End, Event, Following, Subject};

/// A later version, in which the names and codes are others.
fn newer() -> Arc<ScriptedContract> {
    let mut newer = with_booking_tools();
    newer.version = "2.0.0".parse().expect("semver");
    newer.search.id_key = "item_id".to_owned();
    newer.search.gone_code = Some("ITEM_GONE".to_owned());
    newer.errors = vec![row("THING_GONE", 503, None)];
    contract(newer)
}

#[test]
fn an_option_is_booked_and_expires_by_the_contract_that_ranked_it() {
    let world = World::new();
    world.catalogue.activate(newer());
    let reference = sealer().seal(&world.reference());
    world.call(BOOK, &reference, &json!({})).expect("the identifier is filled in");
    assert_eq!(world.partners.calls()[0].arguments["thing_id"], "thing-1");
    world.clock.advance(1);
    let expired = world.call(BOOK, &reference, &json!({}));
    assert_eq!(expired.err(), Some(CallError::Expired(Some("THING_GONE".to_owned()))));
}

#[test]
fn a_contract_that_is_gone_is_stood_in_for_by_the_live_one() {
    let world = World::new();
    let reference = sealer().seal(&OptionReference { expires_at_ms: START, ..world.reference() });
    world.catalogue.activate(newer());
    world.catalogue.unload(world.contract.digest());
    let expired = world.call(BOOK, &reference, &json!({}));
    assert_eq!(expired.err(), Some(CallError::Expired(Some("ITEM_GONE".to_owned()))));
}

#[test]
fn whether_a_failure_passes_is_asked_of_the_contract_that_was_called_under() {
    let world = World::still();
    let reference = world.book();
    let (catalogue, next) = (world.catalogue.clone(), newer());
    world.partners.reply_with("alpha", move |_, _| {
        catalogue.activate(next.clone());
        platform("THING_GONE").into()
    });
    let subject = Subject {
        intent: INTENT.to_owned(),
        tool: TRACK.to_owned(),
        reference,
        arguments: "{}".to_owned(),
        asker: asker("user-1"),
        fallback_request_id: "made-up".to_owned(),
        trace: None,
    };
    let World { caller, clock, .. } = world;
    let following = Following::new(Arc::new(caller), clock.clone(), clock);
    let mut pool = LocalPool::new();
    let joined = pool.run_until(following.follow(subject, None)).expect("followed");
    pool.spawner().spawn_local(joined.driver.expect("the first")).expect("the pool lives");
    pool.run_until_stalled();
    let mut follower = joined.follower;
    let told: Vec<Delivery> = std::iter::from_fn(|| follower.next().now_or_never().flatten()).collect();
    let events: Vec<&Event> = told.iter().map(|delivery| &delivery.event).collect();
    assert!(matches!(events[..], [Event::Failed(_), Event::End(End::Failed)]), "a conflict does not pass: {events:?}");
}

#[test]
fn a_failure_names_the_contract_that_it_was_judged_under() {
    let world = World::new();
    let reference = sealer().seal(&world.reference());
    let (catalogue, next) = (world.catalogue.clone(), newer());
    world.partners.reply_with("alpha", move |_, _| {
        catalogue.activate(next.clone());
        platform("THING_GONE").into()
    });
    let user = asker("user-1");
    let request = CallRequest { asker: &user, ..request(BOOK, &reference) };
    let failed = block_on(world.caller.call(request)).expect_err("gone");
    assert_eq!(
        failed.descriptor().and_then(|descriptor| descriptor.error("THING_GONE")).expect("listed").http_status,
        409
    );
    assert!(matches!(failed.error, CallError::Partner { code: Some(code), .. } if code == "THING_GONE"));
}
