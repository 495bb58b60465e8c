//! What a restart finds again: versions, who made them, what was compiled.

use std::path::Path;
use std::time::Duration;

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::versions::{Origin, VersionAct, Whence};
use intent_gateway_sandbox::{StartError, StateError};

use crate::place::{
    INTENT, Place, RETRIES, activate, actor, code, config, history, live, load, told, unload, until, upload,
};
use crate::support::{context, hostile, payloads};

#[tokio::test]
async fn a_known_file_put_back_changes_nothing() {
    let place = Place::new();
    place.put("a.wasm", &hostile("1.0.0", "honest"));
    place.put("b.wasm", &hostile("1.1.0", "honest"));
    let sandbox = place.start().await;
    place.put("c.wasm", &hostile("1.0.0", "honest"));
    // Looked at in order of their names, so the first is done when the second serves.
    place.put("d.wasm", &hostile("1.2.0", "honest"));
    until("the new file serves", || live(&sandbox) == "1.2.0").await;
    let went_live = (VersionAct::WentLive, Whence::Folder, "gateway".to_owned());
    let loaded = (VersionAct::Loaded, Whence::Folder, "gateway".to_owned());
    assert_eq!(history(&sandbox, "1.0.0"), [loaded, went_live], "once, at the start");
}

#[tokio::test]
async fn who_when_and_whence_are_kept_over_a_restart() {
    let place = Place::new();
    place.put("a.wasm", &hostile("1.0.0", "honest"));
    let sandbox = place.start().await;
    let first = sandbox.versions()[0].clone();
    load(&sandbox, "1.1.0", "honest").await.expect("it loads");
    activate(&sandbox, first.digest).await.expect("it goes back");
    activate(&sandbox, first.digest).await.expect("it is live already");
    activate(&sandbox, sandbox.versions()[1].digest).await.expect("it goes live again");
    let failing = sandbox.live(INTENT).expect("live");
    for _ in 0..3 {
        assert!(failing.evaluate(&context(), "trap", &payloads(), &[]).await.is_err());
    }
    until("the version is taken out", || live(&sandbox) == "1.0.0").await;
    unload(&sandbox).await.expect("it is taken out of service");

    let event = |act, whence, by: &str| (act, whence, by.to_owned());
    use VersionAct::{LeftService, Loaded, WentLive};
    let expected = [
        event(Loaded, Whence::Folder, "gateway"),
        event(WentLive, Whence::Folder, "gateway"),
        event(WentLive, Whence::Activation, "releaser"),
        event(WentLive, Whence::RollBack, "gateway"),
        event(LeftService, Whence::Unloading, "releaser"),
    ];
    let of_second = [
        event(Loaded, Whence::Upload, "tester"),
        event(WentLive, Whence::Upload, "tester"),
        event(WentLive, Whence::Activation, "releaser"),
        event(LeftService, Whence::RollBack, "gateway"),
    ];
    assert_eq!(history(&sandbox, "1.0.0"), expected);
    assert_eq!(history(&sandbox, "1.1.0"), of_second);

    // The audit log has all of it, and a restart is no event.
    let logged = |place: &Place| place.store.log().len();
    assert_eq!(logged(&place), expected.len() + of_second.len());
    let sandbox = place.restart(sandbox).await;
    assert_eq!(logged(&place), expected.len() + of_second.len());

    assert_eq!(history(&sandbox, "1.0.0"), expected);
    assert_eq!(history(&sandbox, "1.1.0"), of_second);
    let restored = sandbox.versions()[0].clone();
    assert_eq!((restored.origin, restored.loaded_at_ms), (first.origin, first.loaded_at_ms));
    assert_eq!((restored.loaded_by, sandbox.versions()[1].loaded_by.clone()), (Actor::gateway(), actor("tester")));
}

#[tokio::test]
async fn the_state_folder_of_an_earlier_release_is_taken_over() {
    let place = Place::new();
    let (first, second) = (hostile("1.0.0", "honest"), hostile("1.1.0", "honest"));
    let digests = [&first, &second].map(|component| Digest::of(component));
    let components = place.state.path().join("components");
    std::fs::create_dir(&components).expect("made");
    for (component, digest) in [&first, &second].into_iter().zip(digests) {
        std::fs::write(components.join(format!("{digest}.wasm")), component).expect("written");
    }
    let file = place.state.path().join("live.json");
    let intent = serde_json::json!({"live": digests[1], "previous": [digests[0]], "versions": digests});
    std::fs::write(&file, serde_json::json!({"layout": 1, "intents": {INTENT: intent}}).to_string()).expect("written");

    let sandbox = place.start().await;
    assert_eq!(live(&sandbox), "1.1.0");
    let taken_over = [(VersionAct::Loaded, Whence::TakenOver, "gateway".to_owned())];
    assert_eq!(history(&sandbox, "1.0.0"), taken_over);
    assert!(sandbox.versions().iter().all(|it| it.origin == Origin::Kept));
    assert!(!file.exists() && !components.exists());
    activate(&sandbox, digests[0]).await.expect("it goes back");
    let sandbox = place.restart(sandbox).await;
    assert_eq!(live(&sandbox), "1.0.0");

    // With histories, as the last release before the catalogue wrote it; its version is lower than what serves.
    let event = serde_json::json!({"at_ms": 7, "act": "loaded", "whence": "upload", "by": actor("tester")});
    let provenance = serde_json::json!({"origin": upload(), "loaded_at_ms": 7, "loaded_by": actor("tester")});
    let third = hostile("0.9.0", "honest");
    let digest = Digest::of(&third);
    let version = serde_json::json!({"digest": digest, "provenance": provenance, "history": [event]});
    let intent = serde_json::json!({"live": digest, "previous": [], "versions": [version]});
    let kept = serde_json::json!({"layout": 2, "intents": {INTENT: intent}, "events": {"last": 0, "waiting": []}});
    sandbox.stop().await;
    drop(sandbox);
    std::fs::create_dir(&components).expect("made");
    std::fs::write(components.join(format!("{digest}.wasm")), third).expect("written");
    std::fs::write(&file, kept.to_string()).expect("written");
    let sandbox = place.start().await;
    assert_eq!(live(&sandbox), "1.0.0");
    let loaded = (VersionAct::Loaded, Whence::Upload, "tester".to_owned());
    assert_eq!(history(&sandbox, "0.9.0"), [loaded, taken_over[0].clone()]);

    // What a later release has written is not read as something else.
    sandbox.stop().await;
    drop(sandbox);
    std::fs::write(&file, r#"{"layout":3,"intents":{}}"#).expect("written");
    assert!(matches!(place.try_start(config()).await, Err(StartError::State(StateError::Layout { found: 3, .. }))));
    std::fs::write(&file, "{").expect("written");
    assert!(matches!(place.try_start(config()).await, Err(StartError::State(StateError::Damaged { .. }))));
}

#[tokio::test]
async fn a_restart_serves_the_same_versions_without_compiling() {
    let place = Place::new();
    let sandbox = place.start().await;
    let first = load(&sandbox, "1.0.0", "honest").await.expect("it loads");
    load(&sandbox, "1.1.0", "honest").await.expect("it loads");
    activate(&sandbox, first.digest).await.expect("it goes back");
    let compiled = place.compiled();
    assert_eq!(compiled.len(), 2);
    let written = |path: &Path| std::fs::metadata(path).and_then(|metadata| metadata.modified()).expect("a time");
    let before: Vec<_> = compiled.iter().map(|path| written(path)).collect();

    let sandbox = place.restart(sandbox).await;
    assert_eq!(live(&sandbox), "1.0.0");
    assert_eq!(sandbox.versions().len(), 2);
    assert!(sandbox.versions().iter().all(|version| version.origin == upload()));
    let after: Vec<_> = compiled.iter().map(|path| written(path)).collect();
    assert_eq!(before, after);

    unload(&sandbox).await.expect("it is taken out");
    let sandbox = place.restart(sandbox).await;
    assert!(sandbox.live(INTENT).is_none());
    assert_eq!(sandbox.versions().len(), 2);
}

/// Another file under the same name: the one before may be in use.
fn replace(path: &Path, bytes: &[u8]) {
    std::fs::remove_file(path).expect("removed");
    std::fs::write(path, bytes).expect("written");
}

/// What is in memory of the files of a folder, KiB.
fn resident_kib(folder: &Path) -> u64 {
    let maps = std::fs::read_to_string("/proc/self/smaps").expect("what is mapped");
    let folder = folder.to_str().expect("a name");
    let (mut is_of_folder, mut sum) = (false, 0);
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some("Rss:"), Some(kib)) if is_of_folder => sum += kib.parse::<u64>().expect("a number"),
            (Some(range), _) if range.contains('-') && !range.ends_with(':') => is_of_folder = line.contains(folder),
            _ => {}
        }
    }
    sum
}

/// Lets the clock jump, a minute at a time, and lets others work for a moment after each.
async fn pass_minutes(minutes: u32) {
    for _ in 0..minutes {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(60)).await;
        tokio::time::resume();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn code_that_nobody_calls_gives_its_memory_back_until_it_is_called() {
    // On the disk: a file system in memory has nothing to give back.
    let state = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let place = Place { state, ..Place::new() };
    let sandbox = place.start().await;
    load(&sandbox, "1.0.0", "honest").await.expect("it loads");
    let folder = place.state.path().join("compiled");
    let contract = sandbox.live(INTENT).expect("live");
    told(&contract).await;
    let in_use = resident_kib(&folder);
    assert!(in_use > 0, "the code is mapped from its file");

    // It is called again before the time is over.
    for _ in 0..2 {
        pass_minutes(9).await;
        assert!(resident_kib(&folder) * 2 > in_use);
        told(&contract).await;
    }
    pass_minutes(10).await;
    // One look more, for the last one was made at some time within the minutes.
    for _ in 0..RETRIES {
        pass_minutes(1).await;
        if resident_kib(&folder) * 4 < in_use {
            break;
        }
    }
    assert!(resident_kib(&folder) * 4 < in_use, "the code is given back");
    // It is whole when it is called again.
    assert_eq!(told(&contract).await[0], r#"{"told":"1.0.0"}"#);
    let whole = std::fs::metadata(&place.compiled()[0]).expect("the entry").len() / 1_024;
    let resident = resident_kib(&folder);
    assert!(resident >= whole, "it was fetched as a whole: {resident} of {whole} KiB");
}

#[tokio::test]
async fn what_nobody_kept_leaves_no_file() {
    let place = Place::new();
    let sandbox = place.start().await;
    load(&sandbox, "1.0.0", "honest").await.expect("it loads");
    assert_eq!(code(load(&sandbox, "0.9.0", "honest").await), "VERSION_NOT_ABOVE");
    until("only what is kept has a file", || place.compiled().len() == 1).await;
    // What a process left that ended in the middle of it.
    std::fs::write(place.state.path().join("compiled/new-left"), "half").expect("written");
    let sandbox = place.restart(sandbox).await;
    assert_eq!((live(&sandbox), place.compiled().len()), ("1.0.0".to_owned(), 1));
}

#[tokio::test]
async fn compiled_code_that_was_tampered_with_is_compiled_again() {
    let place = Place::new();
    let mut sandbox = place.start().await;
    load(&sandbox, "1.0.0", "honest").await.expect("it loads");
    let entry = place.compiled().remove(0);
    let good = std::fs::read(&entry).expect("the entry");
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    let shortened = good[..good.len() - 1].to_vec();
    let foreign = wasmtime::Engine::default()
        .precompile_component(&wat::parse_str("(component)").expect("a component"))
        .expect("it compiles");
    for bad in [flipped(0), flipped(20), flipped(good.len() / 2), shortened, foreign, Vec::new()] {
        replace(&entry, &bad);
        sandbox = place.restart(sandbox).await;
        assert_eq!(live(&sandbox), "1.0.0");
        assert_ne!(std::fs::read(&entry).expect("the entry"), bad, "the entry is replaced");
    }
    // The entry of one component under the name of another is as foreign as any.
    let second = load(&sandbox, "1.1.0", "honest").await.expect("it loads");
    let other = place.compiled().into_iter().find(|path| *path != entry).expect("a second entry");
    replace(&other, &std::fs::read(&entry).expect("the entry"));
    let sandbox = place.restart(sandbox).await;
    assert_eq!(sandbox.live(INTENT).expect("live").digest(), second.digest);
    assert_eq!(told(&sandbox.live(INTENT).expect("live")).await[0], r#"{"told":"1.1.0"}"#);
}

#[tokio::test]
async fn a_state_folder_is_used_by_one_alone() {
    let place = Place::new();
    let _sandbox = place.start().await;
    assert!(matches!(place.try_start(config()).await, Err(StartError::State(StateError::InUse(_)))));
}

#[tokio::test]
async fn a_choice_of_the_platform_team_outlives_a_restart() {
    let place = Place::new();
    place.put("a.wasm", &hostile("1.0.0", "honest"));
    place.put("b.wasm", &hostile("1.1.0", "honest"));
    let sandbox = place.start().await;
    let old = sandbox.versions()[0].digest;
    activate(&sandbox, old).await.expect("it goes back");
    // What was known stays as it was left; what is new and higher is a release.
    let sandbox = place.restart(sandbox).await;
    assert_eq!(live(&sandbox), "1.0.0");
    sandbox.stop().await;
    drop(sandbox);
    place.put("c.wasm", &hostile("1.2.0", "honest"));
    let sandbox = place.start().await;
    assert_eq!(live(&sandbox), "1.2.0");
    // An intent that was taken out of service stays out.
    unload(&sandbox).await.expect("it is taken out");
    sandbox.stop().await;
    drop(sandbox);
    place.put("c.wasm", &hostile("1.3.0", "honest"));
    let sandbox = place.start().await;
    assert!(sandbox.live(INTENT).is_none());
    assert_eq!(sandbox.versions().len(), 4);
}
