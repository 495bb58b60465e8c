//! Contracts over their whole life, with the catalogue that says which serve: loading, swapping, going back, restarting, and the
//! watched folder.

#[path = "support/running.rs"]
mod running;
mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::contract::About;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::ContractError;
use intent_gateway_domain::ports::Contract;
use intent_gateway_domain::store::{Change, Document, Kind, List, Store as _, Write};
use intent_gateway_domain::succession::Removal;
use intent_gateway_domain::versions::{
    ContractAdminError, LoadFailure, LoadOrder, Loaded, LoadedVersion, Origin, VersionAct, Whence,
};
use intent_gateway_sandbox::{SandboxConfig, StartError, StateError};
use intent_gateway_testing::store::MemoryStore;
use running::Running;
use support::{context, hostile, payloads};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

const INTENT: &str = "test.hostile";
/// Minutes that something may be late which a busy machine does beside the test.
const RETRIES: u32 = 200;

fn config() -> SandboxConfig {
    SandboxConfig { max_concurrent_instances: 8, faults_before_rollback: 3, ..SandboxConfig::default() }
}

struct Place {
    state: TempDir,
    folder: TempDir,
    store: Arc<MemoryStore>,
}

impl Place {
    fn new() -> Self {
        let folder = || TempDir::new().expect("a folder");
        Self { state: folder(), folder: folder(), store: Arc::default() }
    }

    async fn try_start(&self, config: SandboxConfig) -> Result<Arc<Running>, StartError> {
        let (state, folder) = (self.state.path().to_owned(), self.folder.path().to_owned());
        Running::start(config, state, Some(folder), self.store.clone()).await
    }

    async fn start(&self) -> Arc<Running> {
        self.try_start(config()).await.expect("it starts")
    }

    /// Stops a sandbox for good and starts the next on the same state.
    async fn restart(&self, sandbox: Arc<Running>) -> Arc<Running> {
        sandbox.stop().await;
        drop(sandbox);
        self.start().await
    }

    /// Puts a component into the folder as a writer should.
    fn put(&self, name: &str, bytes: &[u8]) {
        let partial = self.folder.path().join("partial");
        std::fs::write(&partial, bytes).expect("written");
        std::fs::rename(partial, self.folder.path().join(name)).expect("renamed");
    }

    fn compiled(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.state.path().join("compiled")).expect("the cache");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    }
}

fn upload() -> Origin {
    Origin::Upload("tester".to_owned())
}

fn actor(subject: &str) -> Actor {
    Actor::new("admin", subject)
}

/// An upload that is to go live.
fn order() -> LoadOrder {
    LoadOrder { origin: upload(), by: actor("tester"), activate: true, removal: Removal::Refused }
}

async fn load_as(sandbox: &Running, version: &str, mode: &str, order: LoadOrder) -> Result<Loaded, ContractAdminError> {
    sandbox.load(Bytes::from(hostile(version, mode)), order).await
}

async fn load(sandbox: &Running, version: &str, mode: &str) -> Result<LoadedVersion, ContractAdminError> {
    load_as(sandbox, version, mode, order()).await.map(|loaded| loaded.version)
}

async fn activate(sandbox: &Running, digest: Digest) -> Result<LoadedVersion, ContractAdminError> {
    sandbox.activate(digest, actor("releaser")).await
}

async fn unload(sandbox: &Running) -> Result<(), ContractAdminError> {
    sandbox.unload(INTENT, actor("releaser")).await
}

/// What has happened to a version: act, way and who.
fn history(sandbox: &Running, version: &str) -> Vec<(VersionAct, Whence, String)> {
    let found = sandbox.versions().into_iter().find(|loaded| loaded.version == version).expect("it is loaded");
    found.history.into_iter().map(|event| (event.act, event.whence, event.by.subject)).collect()
}

fn live(sandbox: &Running) -> String {
    sandbox.live(INTENT).map_or_else(String::new, |contract| contract.descriptor().version.to_string())
}

fn code(outcome: Result<LoadedVersion, ContractAdminError>) -> String {
    match outcome {
        Err(ContractAdminError::Rejected(failure)) => failure.code,
        other => panic!("{other:?}"),
    }
}

/// Asks again and again until the sandbox is as it should be. The bound only ends a test that hangs.
async fn until(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.unwrap_or_else(|_| panic!("never: {what}"));
}

/// What the answer tells of the version that gave it.
async fn told(contract: &Arc<dyn Contract>) -> Vec<String> {
    let evaluation = contract.evaluate(&context(), "{}", &payloads(), &[]).await.expect("it serves");
    evaluation.ranked.iter().map(|option| option.card.get().to_owned()).collect()
}

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

impl Place {
    /// Loses a component: the store's, and what was compiled of it. What it was.
    async fn lose(&self, digest: Digest) -> Document {
        let key = format!("{digest}/000");
        let part = self.store.get(Kind::ComponentParts, &key).await.expect("read").expect("it is there");
        let writes = vec![Write::Delete(Kind::ComponentParts, key, part.revision)];
        self.store.commit(Change { writes, ..Change::default() }).await.expect("removed");
        let name = digest.to_string();
        for path in self.compiled().into_iter().filter(|path| path.to_string_lossy().contains(&name)) {
            std::fs::remove_file(path).expect("removed");
        }
        Document { revision: 0, ..part }
    }

    async fn give_back(&self, part: Document) {
        let writes = vec![Write::Put(Kind::ComponentParts, part)];
        self.store.commit(Change { writes, ..Change::default() }).await.expect("written");
    }

    async fn components(&self) -> usize {
        let all = List { status: None, after: None, limit: 100 };
        self.store.list(Kind::ComponentParts, all).await.expect("read").len()
    }
}

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
