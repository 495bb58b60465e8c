//! Versions that are loaded, swapped, taken out and displaced.

use std::sync::Arc;

use bytes::Bytes;
use intent_gateway_domain::contract::About;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::ContractError;
use intent_gateway_domain::succession::Removal;
use intent_gateway_domain::versions::{ContractAdminError, LoadFailure, LoadOrder, Origin};
use intent_gateway_sandbox::SandboxConfig;
use tokio_util::sync::CancellationToken;

use crate::place::{INTENT, Place, activate, code, config, live, load, load_as, order, told, unload, until, upload};
use crate::running::Running;
use crate::support::{context, hostile, payloads};

#[tokio::test]
async fn a_version_is_loaded_replaced_and_brought_back() {
    let place = Place::new();
    let sandbox = place.start().await;
    assert!(sandbox.live(INTENT).is_none());

    let first = load(&sandbox, "1.0.0", "honest").await.expect("it loads");
    assert!(first.live);
    let pinned = sandbox.live(INTENT).expect("it is live");
    let second = load(&sandbox, "1.0.1", "honest").await.expect("it loads");
    assert_eq!(live(&sandbox), "1.0.1");
    // What was pinned before the swap is what it was.
    assert_eq!(told(&pinned).await[0], r#"{"told":"1.0.0"}"#);

    assert!(activate(&sandbox, first.digest).await.expect("it goes back").live);
    assert_eq!(live(&sandbox), "1.0.0");
    // The same content again is the version that is there already, and stays as it is.
    let again = load_as(&sandbox, "1.0.1", "honest", order()).await.expect("it is known");
    assert_eq!((again.version.digest, again.known, again.version.live), (second.digest, true, false));
    assert_eq!(sandbox.versions().len(), 2);
    assert_eq!(live(&sandbox), "1.0.0");
    assert!(load_as(&sandbox, "1.0.0", "honest", order()).await.is_ok_and(|it| it.known && it.version.live));
    activate(&sandbox, second.digest).await.expect("it goes live by an act of its own");

    unload(&sandbox).await.expect("it is taken out");
    assert!(sandbox.live(INTENT).is_none() && sandbox.all().is_empty());
    assert!(matches!(unload(&sandbox).await, Err(ContractAdminError::Unknown(_))));
    assert!(matches!(activate(&sandbox, Digest::of(b"?")).await, Err(ContractAdminError::Unknown(_))));
    assert!(activate(&sandbox, second.digest).await.is_ok());
}

#[tokio::test]
async fn what_an_utterance_wakes_follows_what_is_live() {
    let woken = |sandbox: &Running, utterance: &str| -> Vec<String> {
        sandbox.select_by_cues(utterance).iter().map(|contract| contract.descriptor().version.to_string()).collect()
    };
    let place = Place::new();
    let sandbox = place.start().await;
    assert!(woken(&sandbox, "a thing").is_empty());
    let first = load(&sandbox, "1.0.0", "honest").await.expect("it loads");
    assert_eq!(woken(&sandbox, "The THNIG, please"), ["1.0.0"]);
    assert!(woken(&sandbox, "nothing").is_empty());
    load(&sandbox, "1.0.1", "honest").await.expect("it loads");
    assert_eq!(woken(&sandbox, "a thing"), ["1.0.1"]);
    activate(&sandbox, first.digest).await.expect("it goes back");
    assert_eq!(woken(&sandbox, "a thing"), ["1.0.0"]);
    let sandbox = place.restart(sandbox).await;
    assert_eq!(woken(&sandbox, "a thing"), ["1.0.0"]);
    unload(&sandbox).await.expect("it is taken out");
    assert!(woken(&sandbox, "a thing").is_empty());
}

#[tokio::test]
async fn a_load_that_fails_leaves_the_version_before_it_serving() {
    let place = Place::new();
    let sandbox = place.start().await;
    load(&sandbox, "1.1.0", "honest").await.expect("it loads");
    for (version, mode, expected) in [
        ("1.1.0", "other-content", "VERSION_REUSED"),
        ("1.0.9", "honest", "VERSION_NOT_ABOVE"),
        ("1.1.1", "more-words", "VOCABULARY_CHANGED"),
        ("1.2.0", "bad-descriptor", "DESCRIPTOR_INVALID"),
        ("1.2.0", "example-fails", "EXAMPLE_FAILED"),
        ("1.2.0", "describe-traps", "DESCRIBE_FAILED"),
    ] {
        assert_eq!(code(load(&sandbox, version, mode).await), expected);
        assert_eq!(live(&sandbox), "1.1.0");
        let LoadFailure { code, message, origin, digest, .. } = sandbox.failures().remove(0);
        assert_eq!((code.as_str(), origin, digest), (expected, upload(), Some(Digest::of(&hostile(version, mode)))));
        assert!(!message.is_empty());
    }
    let failure = &sandbox.failures()[1];
    assert_eq!((failure.intent.as_deref(), failure.version.as_deref()), (Some(INTENT), Some("1.2.0")));
    // A minor version may add words.
    let latest = load(&sandbox, "1.2.0", "more-words").await.expect("it loads");
    // A number names one content even where the version that has it does not serve.
    activate(&sandbox, sandbox.versions()[0].digest).await.expect("it goes back");
    assert_eq!(code(load(&sandbox, "1.2.0", "honest").await), "VERSION_REUSED");
    assert_eq!(live(&sandbox), "1.1.0");
    activate(&sandbox, latest.digest).await.expect("it goes live again");
}

#[tokio::test]
async fn values_go_only_where_the_upload_says_so() {
    let place = Place::new();
    let sandbox = place.start().await;
    load(&sandbox, "1.0.0", "more-words").await.expect("it loads");
    let Err(ContractAdminError::Rejected(refused)) = load(&sandbox, "1.1.0", "honest").await else { panic!("taken") };
    assert_eq!(refused.code, "VOCABULARY_VALUES_REMOVED");
    let removed: Vec<_> = refused.removed.iter().map(|it| (it.vocabulary.as_str(), it.value.as_str())).collect();
    assert_eq!(removed, [("kind", "c")]);
    assert!(refused.message.contains("`allow_removed_values=true`"), "{}", refused.message);
    assert_eq!(live(&sandbox), "1.0.0");
    // The folder has no way to say so, and says how it is done.
    place.put("a.wasm", &hostile("1.1.0", "honest"));
    let told = |sandbox: &Running| sandbox.failures()[0].clone();
    until("the file is refused", || matches!(told(&sandbox).origin, Origin::Folder(_))).await;
    assert_eq!((told(&sandbox).code.as_str(), live(&sandbox).as_str()), ("VOCABULARY_VALUES_REMOVED", "1.0.0"));

    let allowed = LoadOrder { removal: Removal::Allowed, ..order() };
    let loaded = load_as(&sandbox, "1.1.0", "honest", allowed).await.expect("it is meant");
    assert_eq!((&loaded.removed, loaded.known), (&refused.removed, false));
    assert_eq!(live(&sandbox), "1.1.0");
}

/// The component with another intent, whose name is as long.
fn renamed(component: Vec<u8>) -> Bytes {
    let (from, to) = (INTENT.as_bytes(), b"test.another");
    assert_eq!(from.len(), to.len());
    let mut bytes = component;
    for start in 0..bytes.len() - from.len() {
        if bytes[start..].starts_with(from) {
            bytes[start..start + from.len()].copy_from_slice(to);
        }
    }
    Bytes::from(bytes)
}

#[tokio::test]
async fn an_alias_leads_to_its_intent_and_to_no_other() {
    let place = Place::new();
    let sandbox = place.start().await;
    let first = load(&sandbox, "1.0.0", "also-named").await.expect("it loads");
    let by_alias = |sandbox: &Running| sandbox.live("test.other").map(|live| live.descriptor().intent.to_string());
    assert_eq!(by_alias(&sandbox).as_deref(), Some(INTENT));
    let sandbox = place.restart(sandbox).await;
    assert_eq!(by_alias(&sandbox).as_deref(), Some(INTENT));
    // A version without it: only the live one's aliases count, and a loaded one's are taken all the same.
    load(&sandbox, "1.1.0", "honest").await.expect("it loads");
    assert_eq!(by_alias(&sandbox), None);
    let other = sandbox.load(renamed(hostile("1.0.0", "also-named")), order()).await;
    let Err(ContractAdminError::Rejected(failure)) = other else { panic!("taken") };
    assert_eq!(failure.code, "ALIAS_TAKEN");
    assert!(failure.message.contains("`test.other` is taken by `test.hostile` 1.0.0"), "{}", failure.message);
    activate(&sandbox, first.digest).await.expect("it goes back");
    assert_eq!(by_alias(&sandbox).as_deref(), Some(INTENT));
    // Without the alias the other intent stands beside it, and then its name is taken, too.
    sandbox.load(renamed(hostile("1.0.0", "honest")), order()).await.expect("no name means two");
    unload(&sandbox).await.expect("it is taken out");
    assert_eq!(by_alias(&sandbox), None);
}

#[tokio::test]
async fn a_version_can_be_loaded_without_serving() {
    let place = Place::new();
    let sandbox = place.start().await;
    load(&sandbox, "1.0.0", "honest").await.expect("it loads");
    let idle = LoadOrder { activate: false, ..order() };
    let next = load_as(&sandbox, "1.1.0", "honest", idle).await.expect("it loads").version;
    assert!(!next.live);
    assert_eq!(live(&sandbox), "1.0.0");
    activate(&sandbox, next.digest).await.expect("it goes live");
    assert_eq!(live(&sandbox), "1.1.0");
}

#[tokio::test]
async fn only_so_many_versions_are_kept() {
    let place = Place::new();
    let config = SandboxConfig { versions_kept_per_intent: 2, ..config() };
    let sandbox = place.try_start(config).await.expect("it starts");
    for version in ["1.0.0", "1.0.1", "1.0.2"] {
        load(&sandbox, version, "honest").await.expect("it loads");
    }
    let kept: Vec<_> = sandbox.versions().into_iter().map(|version| version.version).collect();
    assert_eq!(kept, ["1.0.1", "1.0.2"]);
    assert_eq!(place.compiled().len(), 2);
    assert_eq!(place.components().await, 3, "what it judged may be looked at again");
}

#[tokio::test]
async fn versions_that_never_served_do_not_push_out_the_one_to_go_back_to() {
    let place = Place::new();
    let sandbox = place.try_start(SandboxConfig { versions_kept_per_intent: 3, ..config() }).await.expect("it starts");
    load(&sandbox, "1.0.0", "honest").await.expect("it loads");
    for version in ["1.0.1", "1.0.2"] {
        let inactive = LoadOrder { activate: false, ..order() };
        load_as(&sandbox, version, "honest", inactive).await.expect("it loads");
    }
    load(&sandbox, "1.0.3", "honest").await.expect("it loads");
    let kept: Vec<_> = sandbox.versions().into_iter().map(|version| version.version).collect();
    assert_eq!(kept, ["1.0.0", "1.0.2", "1.0.3"]);
    let failing = sandbox.live(INTENT).expect("live");
    for _ in 0..3 {
        assert!(failing.evaluate(&context(), "trap", &payloads(), &[]).await.is_err());
    }
    until("the version is taken out", || live(&sandbox) == "1.0.0").await;
}

#[tokio::test]
async fn a_version_that_keeps_failing_is_taken_out() {
    let place = Place::new();
    let sandbox = place.start().await;
    load(&sandbox, "1.0.0", "honest").await.expect("it loads");
    load(&sandbox, "1.1.0", "honest").await.expect("it loads");
    let failing = sandbox.live(INTENT).expect("live");
    let fail = async |times: usize| {
        for _ in 0..times {
            let outcome = failing.evaluate(&context(), "trap", &payloads(), &[]).await;
            assert!(matches!(outcome, Err(ContractError::Fault(_))));
        }
    };
    // So few of so many say nothing of a rate.
    for _ in 0..1_000 {
        assert!(failing.evaluate(&context(), "{}", &payloads(), &[]).await.is_ok());
    }
    // A success in between starts the count again, if it is one of the function that fails.
    fail(2).await;
    assert!(failing.evaluate(&context(), "{}", &payloads(), &[]).await.is_ok());
    fail(2).await;
    let refused = failing.check_request(&context(), "search_things", "refuse", About::default()).await;
    assert!(matches!(refused, Err(ContractError::Refused(_))));
    // Whatever was reported by now has been worked on when this change has been made.
    activate(&sandbox, failing.digest()).await.expect("it is live already");
    assert!(sandbox.failures().is_empty(), "{:?}", sandbox.failures());
    fail(1).await;
    until("the version is taken out", || live(&sandbox) == "1.0.0").await;
    assert_eq!(sandbox.failures()[0].code, "TAKEN_OUT");
    let counted = sandbox.versions().into_iter().find(|version| version.version == "1.1.0").expect("still loaded");
    assert_eq!((counted.calls, counted.faults), (1_007, 5));

    // The last one standing stays, however it fails: there is nothing to go back to.
    let last = sandbox.live(INTENT).expect("live");
    for _ in 0..7 {
        assert!(last.evaluate(&context(), "trap", &payloads(), &[]).await.is_err());
    }
    let sandbox = place.restart(sandbox).await;
    assert_eq!(live(&sandbox), "1.0.0");
}

#[tokio::test]
async fn a_version_that_fails_one_call_in_ten_is_taken_out_within_a_hundred() {
    let place = Place::new();
    let sandbox = place.start().await;
    load(&sandbox, "1.0.0", "honest").await.expect("it loads");
    load(&sandbox, "1.1.0", "honest").await.expect("it loads");
    let failing = sandbox.live(INTENT).expect("live");
    for call in 0..100 {
        let asked = if call % 10 == 9 { "trap" } else { "{}" };
        let outcome = failing.evaluate(&context(), asked, &payloads(), &[]).await;
        assert_eq!(outcome.is_err(), call % 10 == 9);
    }
    until("the version is taken out", || live(&sandbox) == "1.0.0").await;
    let told = &sandbox.failures()[0].message;
    assert!(told.contains("the last 1 in a row; version 1.0.0 serves again"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn swapping_fails_no_call_and_mixes_no_versions() {
    let place = Place::new();
    let sandbox = place.start().await;
    let first = load(&sandbox, "1.0.0", "honest").await.expect("it loads").digest;
    let second = load(&sandbox, "1.1.0", "honest").await.expect("it loads").digest;
    let done = CancellationToken::new();
    let callers: Vec<_> = (0..4)
        .map(|_| {
            let (sandbox, done) = (Arc::clone(&sandbox), done.clone());
            tokio::spawn(async move {
                let mut calls = 0_u32;
                while !done.is_cancelled() {
                    let contract = sandbox.live(INTENT).expect("always live");
                    let expected = format!(r#"{{"told":"{}"}}"#, contract.descriptor().version);
                    assert!(told(&contract).await.iter().all(|card| *card == expected));
                    calls += 1;
                    // A call that finds a free instance never waits; without this the callers would keep both
                    // threads of the runtime to themselves, as no request that comes through a socket does.
                    tokio::task::yield_now().await;
                }
                calls
            })
        })
        .collect();
    for turn in 0..50 {
        activate(&sandbox, if turn % 2 == 0 { first } else { second }).await.expect("it swaps");
    }
    done.cancel();
    for caller in callers {
        assert!(caller.await.expect("no call failed") > 0);
    }
}
