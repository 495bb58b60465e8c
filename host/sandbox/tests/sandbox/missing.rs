//! Components that are gone, and the watched folder from which they come back.

use intent_gateway_domain::versions::{LoadOrder, Origin};

use crate::place::{INTENT, Place, activate, live, load, load_as, order, unload, until, upload};
use crate::running::Running;
use crate::support::hostile;

#[tokio::test]
async fn a_component_that_is_gone_is_taken_anew_from_the_folder() {
    let place = Place::new();
    place.put("hostile.wasm", &hostile("1.0.0", "honest"));
    let sandbox = place.start().await;
    let digest = sandbox.live(INTENT).expect("live").digest();
    place.lose(digest).await;
    let sandbox = place.restart(sandbox).await;
    assert_eq!(sandbox.live(INTENT).map(|live| live.digest()), Some(digest));
    assert!(sandbox.failures().is_empty() && sandbox.missing().is_empty());
    // A file of another content is none of it.
    place.put("hostile.wasm", &hostile("1.0.0", "forever"));
    sandbox.stop().await;
    drop(sandbox);
    for path in place.compiled() {
        std::fs::remove_file(path).expect("removed");
    }
    let sandbox = place.start().await;
    assert!(sandbox.missing().iter().any(|missing| missing.digest == digest && missing.ought_to_serve));
}

#[tokio::test]
async fn what_is_missing_is_named_stays_in_the_catalogue_and_comes_back() {
    let place = Place::new();
    let sandbox = place.start().await;
    load(&sandbox, "1.0.0", "honest").await.expect("it loads");
    let second = load(&sandbox, "1.1.0", "honest").await.expect("it loads").digest;
    let component = place.lose(second).await;
    let sandbox = place.restart(sandbox).await;
    assert_eq!(live(&sandbox), "1.0.0", "the rest serves");
    let [missing] = &sandbox.missing()[..] else { panic!("one is missing") };
    assert_eq!((missing.intent.as_str(), missing.digest, missing.origin.clone()), (INTENT, second, upload()));
    assert_eq!((missing.ought_to_serve, missing.serving.as_deref()), (true, Some("1.0.0")));
    assert_eq!(missing.code, "COMPONENT_UNREADABLE");

    // A change of something else does not make it forgotten.
    let inactive = LoadOrder { activate: false, ..order() };
    load_as(&sandbox, "1.0.1", "honest", inactive).await.expect("it loads");
    place.give_back(component).await;
    let sandbox = place.restart(sandbox).await;
    assert_eq!((live(&sandbox).as_str(), sandbox.missing().len()), ("1.1.0", 0));
}

#[tokio::test]
async fn what_is_missing_does_not_come_back_over_somebody_elses_choice() {
    let place = Place::new();
    let sandbox = place.start().await;
    let first = load(&sandbox, "1.0.0", "honest").await.expect("it loads").digest;
    let second = load(&sandbox, "1.1.0", "honest").await.expect("it loads").digest;
    let component = place.lose(second).await;
    let sandbox = place.restart(sandbox).await;
    load(&sandbox, "1.0.1", "honest").await.expect("it goes live");
    assert!(!sandbox.missing()[0].ought_to_serve);
    place.give_back(component).await;
    let sandbox = place.restart(sandbox).await;
    assert_eq!((live(&sandbox).as_str(), sandbox.versions().len()), ("1.0.1", 3));

    // All of an intent is missing: it can be given up.
    for version in sandbox.versions() {
        place.lose(version.digest).await;
    }
    let sandbox = place.restart(sandbox).await;
    assert_eq!((live(&sandbox).as_str(), sandbox.missing().len()), ("", 3));
    assert_eq!(sandbox.missing().iter().filter(|missing| missing.ought_to_serve).count(), 1);
    unload(&sandbox).await.expect("it is given up");
    assert!(sandbox.missing().iter().all(|missing| !missing.ought_to_serve));
    // Loaded again it is missing no more.
    assert_eq!(load(&sandbox, "1.0.0", "honest").await.expect("it is known").digest, first);
    activate(&sandbox, first).await.expect("it goes live");
    assert_eq!((live(&sandbox).as_str(), sandbox.missing().len()), ("1.0.0", 2));
}

#[tokio::test]
async fn an_intent_that_should_be_live_and_is_not_is_missed() {
    let place = Place::new();
    let sandbox = place.start().await;
    let loaded = load(&sandbox, "1.0.0", "honest").await.expect("it loads");
    assert!(sandbox.missing_intents().is_empty());
    place.lose(loaded.digest).await;
    let sandbox = place.restart(sandbox).await;
    assert!(sandbox.live(INTENT).is_none());
    assert_eq!(sandbox.missing_intents().into_iter().collect::<Vec<_>>(), [INTENT]);
    load(&sandbox, "1.0.0", "honest").await.expect("it loads anew");
    assert!(sandbox.missing_intents().is_empty());

    // What was taken out of service is missed by nobody, before and after a restart.
    unload(&sandbox).await.expect("it is taken out");
    assert!(sandbox.missing_intents().is_empty());
    let sandbox = place.restart(sandbox).await;
    assert!(sandbox.missing_intents().is_empty());
    drop(sandbox);

    // A component in the folder that is refused, while nothing else serves its intent.
    let place = Place::new();
    place.put("bad.wasm", &hostile("1.0.0", "example-fails"));
    let sandbox = place.start().await;
    let refused = sandbox.failures().into_iter().any(|failure| failure.intent.as_deref() == Some(INTENT));
    assert!(refused, "{:?}", sandbox.failures());
    assert_eq!(sandbox.missing_intents().len(), 1);
}

#[tokio::test]
async fn the_folder_is_read_at_the_start_and_watched() {
    let place = Place::new();
    // Out of order on purpose: versions are taken lowest first.
    place.put("a.wasm", &hostile("1.1.0", "honest"));
    place.put("b.wasm", &hostile("1.0.0", "honest"));
    place.put("readme.txt", b"not looked at");
    place.put("c.cwasm", b"compiled elsewhere");
    let sandbox = place.start().await;
    assert_eq!(live(&sandbox), "1.1.0");
    assert_eq!(sandbox.versions().len(), 2);
    let codes = |sandbox: &Running| sandbox.failures().into_iter().map(|failure| failure.code).collect::<Vec<_>>();
    assert_eq!(codes(&sandbox), ["COMPILED_INPUT_REFUSED"]);

    place.put("a.wasm", &hostile("1.2.0", "honest"));
    until("the changed file serves", || live(&sandbox) == "1.2.0").await;
    place.put("d.wasm", b"no component");
    until("the broken file is told", || codes(&sandbox)[0] == "NOT_A_COMPONENT").await;
    let broken = place.folder.path().join("d.wasm").display().to_string();
    assert_eq!(sandbox.failures()[0].origin, Origin::Folder(broken));
    // Written in place, in two parts: only the whole is taken.
    let bytes = hostile("1.3.0", "honest");
    std::fs::write(place.folder.path().join("d.wasm"), &bytes[..bytes.len() / 2]).expect("written");
    std::fs::write(place.folder.path().join("d.wasm"), &bytes).expect("written");
    until("the rewritten file serves", || live(&sandbox) == "1.3.0").await;
    assert_eq!(codes(&sandbox), ["NOT_A_COMPONENT", "COMPILED_INPUT_REFUSED"]);
    // Taking a file away takes nothing out.
    std::fs::remove_file(place.folder.path().join("d.wasm")).expect("removed");
    place.put("a.wasm", &hostile("1.4.0", "honest"));
    until("the next change is seen", || live(&sandbox) == "1.4.0").await;
    assert_eq!(sandbox.versions().len(), 5);
}
