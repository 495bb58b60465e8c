//! What is wanted of one intent: its versions, which of them serves, and which one is to serve when every gateway has it
//! ready. One record, shared by all gateways; each function here makes the next state of it and says what has happened.

use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::store::{Kind, Record};
use intent_gateway_domain::succession::RemovedValue;
use intent_gateway_domain::versions::{
    ContractEvent, HISTORY_MAX, Origin, ReleasePolicy, VersionAct, VersionEvent, VersionName, Whence,
};
use intent_gateway_rollout::{EndedRollout, RolloutEnd};
use intent_gateway_signing::Signatures;
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rollout::Rollout;

/// Retired versions of an intent that are kept, and bytes of their components; the first go first.
const RETIRED_MAX: usize = 500;
const RETIRED_MAX_BYTES: usize = 512 * 1024 * 1024;

/// The feed that tells of every change of every entry.
pub(crate) const FEED: &str = "contracts";

/// What is wanted of an intent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub intent: IntentId,
    /// The version that serves; absent when the intent is out of service.
    pub live: Option<Digest>,
    /// The versions that served before, latest last.
    pub previous: Vec<Digest>,
    /// All versions, in the order in which they were loaded.
    pub versions: Vec<EntryVersion>,
    /// The version that is to serve once every gateway has it ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coming: Option<Coming>,
    /// The version that is to serve everybody step by step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollout: Option<Rollout>,
    /// How the one before ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_rollout: Option<EndedRollout>,
    /// What a new version does that is found in a folder.
    #[serde(default)]
    pub policy: ReleasePolicy,
    /// Versions that had to make room, and may still be needed by what was judged under them; latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retired: Vec<RetiredVersion>,
}

/// A version that is in no list any more, and whose component is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetiredVersion {
    pub digest: Digest,
    pub version: Version,
    pub component_bytes: usize,
    /// When it had to make room, milliseconds since the epoch.
    pub retired_at_ms: Timestamp,
    /// Who has signed it, as it was loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signatures: Option<Signatures>,
}

/// A version of an intent's contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryVersion {
    pub digest: Digest,
    pub version: Version,
    pub component_bytes: usize,
    /// Other names of the intent that it declares.
    pub aliases: Vec<IntentId>,
    pub origin: Origin,
    pub loaded_at_ms: Timestamp,
    pub loaded_by: Actor,
    /// Who has signed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signatures: Option<Signatures>,
    /// Names of the keys of these that were trusted when it was loaded, or signed anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signed_by: Vec<String>,
    /// What has happened to it, oldest first: at most [`HISTORY_MAX`] events, of which the first is its loading.
    pub history: Vec<VersionEvent>,
}

/// A version that is to serve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coming {
    pub digest: Digest,
    /// Since when, milliseconds since the epoch.
    pub since_ms: Timestamp,
    pub whence: Whence,
    /// Who wants it.
    pub by: Actor,
    /// From where that was asked, with which scope, and who has approved it: for the audit log alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
}

impl Record for Entry {
    const KIND: Kind = Kind::Contracts;

    fn key(&self) -> String {
        self.intent.to_string()
    }

    fn feed(&self) -> Option<String> {
        Some(FEED.to_owned())
    }
}

/// A change that somebody or something makes, at one time.
#[derive(Clone, Debug)]
pub struct Doing {
    pub at_ms: Timestamp,
    pub whence: Whence,
    pub by: Actor,
}

impl Doing {
    fn event(&self, act: VersionAct) -> VersionEvent {
        VersionEvent { at_ms: self.at_ms, act, whence: self.whence, by: self.by.clone(), why: None }
    }

    /// Asks for a version to serve once it is ready everywhere.
    fn ask_for(&self, digest: Digest) -> Coming {
        let Actor { from, scope, approved_by, .. } = self.by.clone();
        Coming { digest, since_ms: self.at_ms, whence: self.whence, by: self.by.clone(), from, scope, approved_by }
    }
}

impl Coming {
    /// The change that was asked for, made now.
    #[must_use]
    pub fn doing(&self, at_ms: Timestamp) -> Doing {
        let Self { whence, by, from, scope, approved_by, .. } = self.clone();
        Doing { at_ms, whence, by: Actor { from, scope, approved_by, ..by } }
    }
}

impl EntryVersion {
    fn note(&mut self, event: VersionEvent) {
        if self.history.len() == HISTORY_MAX {
            // The first tells of the loading.
            self.history.remove(1);
        }
        self.history.push(event);
    }

    pub(crate) fn name(&self) -> VersionName {
        VersionName { version: self.version.clone(), digest: self.digest }
    }
}

impl Entry {
    /// An intent of which nothing is known yet.
    #[must_use]
    pub fn new(intent: IntentId) -> Self {
        Self {
            intent,
            live: None,
            previous: Vec::new(),
            versions: Vec::new(),
            coming: None,
            rollout: None,
            last_rollout: None,
            policy: ReleasePolicy::default(),
            retired: Vec::new(),
        }
    }

    #[must_use]
    pub fn version(&self, digest: Digest) -> Option<&EntryVersion> {
        self.versions.iter().find(|version| version.digest == digest)
    }

    /// The content that has a number.
    #[must_use]
    pub fn numbered(&self, number: &Version) -> Option<Digest> {
        let listed = self.versions.iter().map(|version| (&version.version, version.digest));
        let retired = self.retired.iter().map(|version| (&version.version, version.digest));
        listed.chain(retired).find(|(version, _)| *version == number).map(|(_, digest)| digest)
    }

    #[must_use]
    pub fn is_live(&self, digest: Digest) -> bool {
        self.live == Some(digest)
    }

    pub(crate) fn live_name(&self) -> Option<VersionName> {
        Some(self.version(self.live?)?.name())
    }

    /// The version to go back to.
    #[must_use]
    pub fn last_good(&self) -> Option<Digest> {
        self.previous.iter().rev().copied().find(|digest| self.version(*digest).is_some())
    }

    /// Adds a version that was never loaded.
    pub fn add(&mut self, version: EntryVersion, removed: Vec<RemovedValue>, doing: &Doing) -> ContractEvent {
        let digest = version.digest;
        self.retired.retain(|retired| retired.digest != digest);
        self.versions.push(version);
        let before = self.live_name();
        let mut event = self.note(digest, VersionAct::Loaded, doing, before);
        event.removed = removed;
        event
    }

    /// Puts a version in service; the one before it becomes the first to go back to. Nothing is coming any more, and a rollout is
    /// at its end.
    pub fn serve(&mut self, digest: Digest, doing: &Doing) -> Vec<ContractEvent> {
        let before = self.live_name();
        let mut events: Vec<_> = self.conclude_rollout(Some(digest), doing).into_iter().collect();
        self.put_in_service(digest);
        events.push(self.note(digest, VersionAct::WentLive, doing, before));
        events
    }

    fn put_in_service(&mut self, digest: Digest) {
        self.previous.extend(self.live.replace(digest));
        self.previous.retain(|previous| *previous != digest);
        self.coming = None;
    }

    /// Asks for a version to serve once every gateway has it ready. What was asked for before is not wanted any more.
    pub fn ask_for(&mut self, digest: Digest, doing: &Doing) -> Vec<ContractEvent> {
        let mut events: Vec<_> = self.withdraw(doing).into_iter().collect();
        self.coming = Some(doing.ask_for(digest));
        let live = self.live_name();
        events.push(self.note(digest, VersionAct::AskedFor, doing, live));
        events
    }

    /// Nobody wants the coming version any more.
    pub fn withdraw(&mut self, doing: &Doing) -> Option<ContractEvent> {
        let digest = self.coming.take()?.digest;
        let live = self.live_name();
        Some(self.note(digest, VersionAct::Withdrawn, doing, live))
    }

    /// Takes the intent out of service, and withdraws what was to serve. Nothing where it was so already.
    pub fn take_out(&mut self, doing: &Doing) -> Vec<ContractEvent> {
        let mut events: Vec<_> = self.withdraw(doing).into_iter().collect();
        events.extend(self.conclude_rollout(None, doing));
        let before = self.live_name();
        if let Some(last) = self.live.take() {
            self.previous.push(last);
            events
                .extend(self.version(last).is_some().then(|| self.note(last, VersionAct::LeftService, doing, before)));
        }
        events
    }

    /// The live version gives way to the last good one, and is none to go back to. Nothing where it is not live, or there is no
    /// other.
    pub fn roll_back(&mut self, failing: Digest, doing: &Doing) -> Option<(Digest, Vec<ContractEvent>)> {
        let good = self.last_good().filter(|_| self.is_live(failing))?;
        let before = self.live_name();
        let coming = self.coming.take();
        let overtaken = self.conclude_rollout(Some(good), doing);
        self.put_in_service(good);
        self.coming = coming;
        self.previous.retain(|previous| *previous != failing);
        let left = self.note(failing, VersionAct::LeftService, doing, before.clone());
        let went_live = self.note(good, VersionAct::WentLive, doing, before);
        Some((good, overtaken.into_iter().chain([left, went_live]).collect()))
    }

    /// Takes versions out of service that are not trusted any more: what was to serve is withdrawn, and the last version that is
    /// still trusted serves in the place of the live one, if there is one.
    pub fn revoke(&mut self, is_revoked: impl Fn(Digest) -> bool, doing: &Doing) -> Vec<ContractEvent> {
        self.previous.retain(|digest| !is_revoked(*digest));
        let mut events = Vec::new();
        if self.coming.as_ref().is_some_and(|coming| is_revoked(coming.digest)) {
            events.extend(self.withdraw(doing));
        }
        if self.rollout.as_ref().is_some_and(|rollout| is_revoked(rollout.digest)) {
            events.extend(self.end_rollout(RolloutEnd::TakenBack, "it is revoked".to_owned(), Vec::new(), doing));
        }
        let Some(live) = self.live.filter(|live| is_revoked(*live)) else { return events };
        match self.roll_back(live, doing) {
            Some((_, rolled_back)) => events.extend(rolled_back),
            None => {
                let before = self.live_name();
                events.extend(self.conclude_rollout(None, doing));
                self.live = None;
                events.push(self.note(live, VersionAct::LeftService, doing, before));
            }
        }
        events
    }

    /// Takes the signatures of somebody more to a version; nothing where they are known.
    pub fn take_signatures(
        &mut self,
        digest: Digest,
        signatures: &Signatures,
        signed_by: Vec<String>,
        doing: &Doing,
    ) -> Option<ContractEvent> {
        let version = self.versions.iter_mut().find(|version| version.digest == digest)?;
        let merged = version.signatures.as_ref().map_or_else(|| signatures.clone(), |known| known.merged(signatures));
        if version.signatures.as_ref() == Some(&merged) {
            return None;
        }
        version.signatures = Some(merged);
        let new = signed_by.into_iter().filter(|name| !version.signed_by.contains(name)).collect::<Vec<_>>();
        version.signed_by.extend(new);
        let live = self.live_name();
        Some(self.note(digest, VersionAct::Signed, doing, live))
    }

    /// What is known of who has signed a version, listed or retired, and when it was taken.
    #[must_use]
    pub fn signatures_of(&self, digest: Digest) -> Option<(Option<&Signatures>, Timestamp)> {
        let listed = self.version(digest).map(|version| (version.signatures.as_ref(), version.loaded_at_ms));
        let retired = || self.retired.iter().find(|version| version.digest == digest);
        listed.or_else(|| retired().map(|version| (version.signatures.as_ref(), version.retired_at_ms)))
    }

    /// Retires versions beyond the bound, the oldest that can be spared first.
    pub fn shrink(&mut self, kept: usize, now: Timestamp) -> Vec<EntryVersion> {
        let mut evicted = Vec::new();
        while self.versions.len() > kept {
            let digests: Vec<Digest> = self.versions.iter().map(|version| version.digest).collect();
            let coming = self.coming.as_ref().map(|it| it.digest);
            let tried_out = self.rollout.as_ref().map(|it| it.digest);
            let needed: Vec<Digest> = [self.live, coming, tried_out].into_iter().flatten().collect();
            let Some(spared) = find_dispensable(&digests, &needed, self.last_good()) else { break };
            let gone = self.versions.remove(spared);
            self.previous.retain(|previous| *previous != gone.digest);
            let EntryVersion { digest, version, component_bytes, signatures, .. } = gone.clone();
            self.retired.push(RetiredVersion { digest, version, component_bytes, retired_at_ms: now, signatures });
            evicted.push(gone);
        }
        evicted
    }

    /// Forgets versions that were retired before a time, and the first ones beyond the bounds.
    pub fn forget_retired(&mut self, before: Timestamp) -> Vec<RetiredVersion> {
        let mut bytes = 0_usize;
        let fits = |version: &&RetiredVersion| {
            bytes = bytes.saturating_add(version.component_bytes);
            bytes <= RETIRED_MAX_BYTES
        };
        let kept = self.retired.iter().rev().take(RETIRED_MAX).take_while(fits).count();
        let excess = self.retired.len() - kept;
        let is_over = |(at, version): (usize, &RetiredVersion)| at < excess || version.retired_at_ms < before;
        let over: Vec<_> = self
            .retired
            .iter()
            .enumerate()
            .filter(|(at, version)| is_over((*at, version)))
            .map(|(_, it)| it.clone())
            .collect();
        self.retired.retain(|version| !over.contains(version));
        over
    }

    /// Notes what happened to a version, after `before` served. It is one of the entry's.
    fn note(&mut self, digest: Digest, act: VersionAct, doing: &Doing, before: Option<VersionName>) -> ContractEvent {
        self.note_why(digest, act, doing, before, None)
    }

    /// The same, with why.
    pub(crate) fn note_why(
        &mut self,
        digest: Digest,
        act: VersionAct,
        doing: &Doing,
        before: Option<VersionName>,
        why: Option<String>,
    ) -> ContractEvent {
        let event = VersionEvent { why, ..doing.event(act) };
        let live_after = self.live_name();
        let (mut version, mut origin, mut signed_by) = (Version::new(0, 0, 0), Origin::Kept, Vec::new());
        if let Some(noted) = self.versions.iter_mut().find(|version| version.digest == digest) {
            noted.note(event.clone());
            (version, origin, signed_by) = (noted.version.clone(), noted.origin.clone(), noted.signed_by.clone());
        }
        ContractEvent {
            intent: self.intent.clone(),
            version,
            digest,
            origin,
            event,
            live_before: before,
            live_after,
            signed_by,
            removed: Vec::new(),
            detail: Value::Null,
        }
    }
}

/// Which of the versions, oldest first, can be spared: never one that is needed or the newest, and the one to go back to only
/// where nothing else is left. Many that are loaded and never live must not take it away.
fn find_dispensable(loaded: &[Digest], needed: &[Digest], last_good: Option<Digest>) -> Option<usize> {
    let (_, older) = loaded.split_last()?;
    let find =
        |keeps: Option<Digest>| older.iter().position(|digest| !needed.contains(digest) && Some(*digest) != keeps);
    find(last_good).or_else(|| find(None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(text: &str) -> Digest {
        Digest::of(text.as_bytes())
    }

    fn doing(at_ms: u64, whence: Whence) -> Doing {
        Doing { at_ms: Timestamp::from_ms(at_ms), whence, by: Actor::new("admin", "ann") }
    }

    fn version(number: u64) -> EntryVersion {
        EntryVersion {
            digest: digest(&number.to_string()),
            version: Version::new(1, number, 0),
            component_bytes: 1,
            aliases: Vec::new(),
            origin: Origin::Upload("ann".to_owned()),
            loaded_at_ms: Timestamp::from_ms(number),
            loaded_by: Actor::new("admin", "ann"),
            signatures: None,
            signed_by: Vec::new(),
            history: Vec::new(),
        }
    }

    /// An entry with so many versions, the last of which serves.
    fn entry(versions: u64) -> Entry {
        let mut entry = Entry::new(IntentId::parse("test.things").expect("an intent"));
        for number in 0..versions {
            entry.add(version(number), Vec::new(), &doing(number, Whence::Upload));
            entry.serve(digest(&number.to_string()), &doing(number, Whence::Upload));
        }
        entry
    }

    fn acts(events: &[ContractEvent]) -> Vec<(VersionAct, u64)> {
        events.iter().map(|event| (event.event.act, event.version.minor)).collect()
    }

    #[test]
    fn the_version_to_go_back_to_is_the_last_that_is_spared() {
        let [a, b, c, d] = ["a", "b", "c", "d"].map(digest);
        let goes =
            |loaded: &[Digest], needed: &[Digest], good| find_dispensable(loaded, needed, good).map(|at| loaded[at]);
        // `a` served until `d` came; the others never did.
        assert_eq!(goes(&[a, b, c, d], &[d], Some(a)), Some(b));
        assert_eq!(goes(&[a, b, c], &[a], None), Some(b));
        assert_eq!(goes(&[a, b, c], &[c], Some(b)), Some(a));
        // With room for two, the newcomer takes the place of the one to go back to.
        assert_eq!(goes(&[a, b, c], &[b], Some(a)), Some(a));
        assert_eq!(goes(&[a, b], &[a], None), None);
        // Nor does one go that is about to serve.
        assert_eq!(goes(&[a, b, c], &[a, b], None), None);
        assert_eq!(goes(&[], &[], None), None);
    }

    #[test]
    fn a_version_that_is_asked_for_serves_later_and_can_be_withdrawn() {
        let mut entry = entry(2);
        let [first, second] = ["0", "1"].map(digest);
        let asked = entry.ask_for(first, &doing(5, Whence::Activation));
        assert_eq!(acts(&asked), [(VersionAct::AskedFor, 0)]);
        assert_eq!((entry.live, entry.coming.as_ref().map(|it| it.digest)), (Some(second), Some(first)));
        let again = entry.ask_for(second, &doing(6, Whence::Activation));
        assert_eq!(acts(&again), [(VersionAct::Withdrawn, 0), (VersionAct::AskedFor, 1)]);
        entry.ask_for(first, &doing(7, Whence::Activation));
        let went_live = entry.coming.clone().expect("it is coming").doing(Timestamp::from_ms(9));
        let event = entry.serve(first, &went_live).remove(0);
        assert_eq!((event.event.whence, event.event.at_ms.as_ms()), (Whence::Activation, 9));
        assert_eq!((entry.live, entry.coming.clone(), &entry.previous[..]), (Some(first), None, &[second][..]));
        assert!(entry.withdraw(&doing(9, Whence::Activation)).is_none());
    }

    #[test]
    fn who_asked_and_from_where_is_in_the_audit_log_when_it_goes_live() {
        let mut entry = entry(1);
        let by =
            Actor { from: Some("192.0.2.1".to_owned()), scope: Some("ship".to_owned()), ..Actor::new("admin", "bob") };
        entry.ask_for(digest("0"), &Doing { by: by.clone(), ..doing(5, Whence::Activation) });
        let kept: Entry = serde_json::from_str(&serde_json::to_string(&entry).expect("JSON")).expect("it is read");
        assert_eq!(kept.coming.expect("it is coming").doing(Timestamp::from_ms(6)).by, by);
    }

    #[test]
    fn a_roll_back_goes_to_the_last_good_version_and_not_back_again() {
        let mut entry = entry(3);
        let [first, second, third] = ["0", "1", "2"].map(digest);
        let (good, events) = entry.roll_back(third, &doing(9, Whence::RollBack)).expect("there is one");
        assert_eq!((good, entry.live), (second, Some(second)));
        assert_eq!(acts(&events), [(VersionAct::LeftService, 2), (VersionAct::WentLive, 1)]);
        assert_eq!(events[1].live_before.as_ref().map(|it| it.digest), Some(third));
        assert!(entry.roll_back(third, &doing(9, Whence::RollBack)).is_none(), "it does not serve");
        assert_eq!(entry.roll_back(second, &doing(9, Whence::RollBack)).map(|(good, _)| good), Some(first));
        assert!(entry.roll_back(first, &doing(9, Whence::RollBack)).is_none(), "there is nothing else");
    }

    #[test]
    fn what_is_revoked_gives_way_to_the_last_version_that_is_not() {
        let mut entry = entry(4);
        entry.ask_for(digest("0"), &doing(5, Whence::Activation));
        let revoked = [digest("3"), digest("2"), digest("0")];
        let events = entry.revoke(|digest| revoked.contains(&digest), &doing(6, Whence::Revocation));
        let expected = [(VersionAct::Withdrawn, 0), (VersionAct::LeftService, 3), (VersionAct::WentLive, 1)];
        assert_eq!(acts(&events), expected);
        assert_eq!((entry.live, entry.coming.is_none(), entry.last_good()), (Some(digest("1")), true, None));
        assert!(entry.revoke(|digest| revoked.contains(&digest), &doing(7, Whence::Revocation)).is_empty());
        let events = entry.revoke(|_| true, &doing(8, Whence::Revocation));
        assert_eq!((acts(&events), entry.live), (vec![(VersionAct::LeftService, 1)], None));
    }

    #[test]
    fn what_is_out_of_service_stays_out_until_somebody_says_otherwise() {
        let mut entry = entry(2);
        entry.ask_for(digest("0"), &doing(3, Whence::Activation));
        let events = entry.take_out(&doing(4, Whence::Unloading));
        assert_eq!(acts(&events), [(VersionAct::Withdrawn, 0), (VersionAct::LeftService, 1)]);
        assert!(entry.take_out(&doing(4, Whence::Unloading)).is_empty());
        assert_eq!((entry.live, entry.last_good()), (None, Some(digest("1"))));
        entry.serve(digest("1"), &doing(5, Whence::Activation));
        assert_eq!(entry.live, Some(digest("1")));
    }

    #[test]
    fn a_history_is_bounded_and_keeps_the_loading() {
        let mut entry = entry(1);
        for ms in 1..200 {
            entry.serve(digest("0"), &doing(ms, Whence::Activation));
        }
        let history = &entry.versions[0].history;
        assert_eq!(history.len(), HISTORY_MAX);
        assert_eq!((history[0].act, history[0].at_ms.as_ms()), (VersionAct::Loaded, 0));
        assert_eq!(history[HISTORY_MAX - 1].at_ms.as_ms(), 199);
    }

    #[test]
    fn versions_beyond_the_bound_go_and_a_coming_one_stays() {
        let mut entry = entry(4);
        entry.ask_for(digest("0"), &doing(9, Whence::Activation));
        let gone: Vec<_> =
            entry.shrink(3, Timestamp::from_ms(10)).into_iter().map(|version| version.version.minor).collect();
        assert_eq!(gone, [1]);
        assert_eq!(entry.previous, [digest("0"), digest("2")]);
    }

    #[test]
    fn a_retired_version_keeps_its_number_until_it_is_forgotten_or_loaded_again() {
        let mut entry = entry(4);
        entry.shrink(2, Timestamp::from_ms(10));
        let retired = |entry: &Entry| entry.retired.iter().map(|it| it.version.minor).collect::<Vec<_>>();
        assert_eq!(retired(&entry), [0, 1]);
        assert_eq!(entry.numbered(&Version::new(1, 1, 0)), Some(digest("1")));
        entry.add(version(1), Vec::new(), &doing(11, Whence::Upload));
        assert_eq!(retired(&entry), [0]);
        assert!(entry.forget_retired(Timestamp::from_ms(10)).is_empty());
        assert_eq!(entry.forget_retired(Timestamp::from_ms(11)).len(), 1);
        assert_eq!(entry.numbered(&Version::new(1, 0, 0)), None);
    }

    #[test]
    fn retired_versions_take_only_so_much_room() {
        let mut entry = entry(6);
        for (version, bytes) in entry.versions.iter_mut().zip([1, 1, RETIRED_MAX_BYTES - 1, 1]) {
            version.component_bytes = bytes;
        }
        entry.shrink(2, Timestamp::from_ms(10));
        let gone = entry.forget_retired(Timestamp::EPOCH);
        assert_eq!(gone.iter().map(|version| version.version.minor).collect::<Vec<_>>(), [0, 1]);
    }
}
