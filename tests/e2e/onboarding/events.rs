//! Events at partners' webhooks: verified by the libraries of Standard Webhooks for Python and Node, and none lost with a gateway that is
//! killed or loses its power.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use futures_util::future::join_all;
use serde_json::{Value, json};
use test_servers::power_loss;
use test_servers::webhooks::{ReceivedEvent, Verifier, WebhookReceiver, read_events};

use super::{Business, Platform, stores};
use crate::harness::{Gateway, eventually, serve_after_loss, serve_in};

impl Platform {
    /// Saves where events go, and has the receiver know its secret.
    async fn listen(&self, business: &Business, receiver: &WebhookReceiver) -> String {
        let saved = self.put(&webhook(business), &business.token, json!({"webhook_url": receiver.url()})).await;
        assert_eq!(saved.status, 200, "{}", saved.body);
        let secret = saved.body["webhook_event_secret"].as_str().expect("a secret").to_owned();
        receiver.set_secrets(&[&secret]).expect("written");
        secret
    }

    async fn events(&self, business: &Business) -> Vec<Value> {
        let listed = self.get(&format!("{}/events?limit=100", business.path("accounts")), &business.token).await;
        assert_eq!(listed.status, 200, "{}", listed.body);
        listed.body["events"].as_array().expect("a list").clone()
    }

    /// Waits until no event waits; what the account lists then.
    async fn wait_until_settled(&self, business: &Business) -> Vec<Value> {
        eventually("events are still on their way", &self.gateway, async || {
            let events = self.events(business).await;
            events.iter().all(|event| event["state"] != "waiting").then_some(events)
        })
        .await
    }
}

fn webhook(business: &Business) -> String {
    format!("{}/webhook", business.path("credentials"))
}

/// Each event that was taken, once, with its type.
fn find_taken(events: &[ReceivedEvent]) -> BTreeMap<String, String> {
    let taken = events.iter().filter(|event| event.refused.is_none());
    taken.map(|event| (event.id.clone(), event.kind().to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn both_libraries_verify_what_happens_to_a_partner() {
    for (name, store) in stores() {
        let platform = Platform::start(store.as_deref());
        let folder = tempfile::tempdir().expect("a folder");
        let python = WebhookReceiver::start(Verifier::Python, folder.path(), None).expect("the webhook starts");
        let ready = platform.ready("asha@coolcar.example").await;
        let business = &ready.business;
        let unsent = platform.wait_until_settled(business).await;
        assert!(unsent.iter().all(|event| event["state"] == "unsent" && event["tries"] == json!([])), "{unsent:?}");
        let first = platform.listen(business, &python).await;

        // What the team and the partner do is told, signed by both secrets while one takes the other's place.
        let issued = platform.post(&business.path("credentials"), &business.token, json!({})).await;
        assert_eq!(issued.status, 201, "{}", issued.body);
        for path in ["webhook/rotate", "rotate"] {
            let path = format!("{}/{path}", business.path("credentials"));
            assert_eq!(platform.post(&path, &business.token, json!({})).await.status, 200, "{path}");
        }
        let rotate = format!("{}/event-secret/rotate", webhook(business));
        let rotated = platform.post(&rotate, &business.token, json!({})).await;
        let second = rotated.body["webhook_event_secret"].as_str().expect("a secret").to_owned();
        assert_ne!(first, second);
        assert_eq!(rotated.body["webhook_signing_key"], "(redacted)");
        platform.admin(&business.admin_path("switch-on"), json!({})).await;
        platform.admin(&business.admin_path("suspend"), json!({"reason": "<script>alert(1)</script>"})).await;
        platform.admin(&business.admin_path("lift"), json!({"reason": "mended"})).await;
        let review = unsent.iter().find(|event| event["type"] == "review.decided").expect("a review was decided");
        let replay =
            format!("{}/events/{}/replay", business.path("accounts"), review["event_id"].as_str().expect("named"));
        let replayed = platform.post(&replay, &business.token, json!({})).await;
        assert_eq!((replayed.status, &replayed.body["state"]), (202, &json!("waiting")), "{}", replayed.body);
        let listed = platform.wait_until_settled(business).await;
        let told = find_taken(&python.events().expect("readable"));
        let is_delivered = |event: &&Value| event["state"] == "delivered";
        let delivered: BTreeSet<&str> =
            listed.iter().filter(is_delivered).filter_map(|event| event["event_id"].as_str()).collect();
        assert_eq!(delivered, told.keys().map(String::as_str).collect(), "{name}");
        let kinds: BTreeSet<&str> = told.values().map(String::as_str).collect();
        let expected =
            ["account.changed", "connection.changed", "connection.suspended", "key.expiring", "review.decided"];
        assert_eq!(kinds, BTreeSet::from(expected), "{name}");

        // Another address, another library; the second secret alone.
        let other = tempfile::tempdir().expect("a folder");
        let node = WebhookReceiver::start(Verifier::Node, other.path(), None).expect("the webhook starts");
        node.set_secrets(&[&second]).expect("written");
        let moved = platform.put(&webhook(business), &business.token, json!({"webhook_url": node.url()})).await;
        assert_eq!((moved.status, &moved.body["webhook_event_secret"]), (200, &json!("(redacted)")), "{}", moved.body);
        let test = format!("{}/test", webhook(business));
        let sent = platform.post(&test, &business.token, json!({})).await;
        assert_eq!((sent.status, &sent.body["type"]), (202, &json!("webhook.test")), "{}", sent.body);
        for event in &listed {
            let id = event["event_id"].as_str().expect("named");
            let replay = format!("{}/events/{id}/replay", business.path("accounts"));
            assert_eq!(platform.post(&replay, &business.token, json!({})).await.status, 202, "{event}");
        }
        let listed = platform.wait_until_settled(business).await;
        assert!(listed.iter().all(|event| event["state"] == "delivered"), "{name}: {listed:?}");
        let told = node.events().expect("readable");
        assert!(told.iter().all(|event| event.refused.is_none()), "{name}: {told:?}");
        assert_eq!(find_taken(&told).len(), listed.len(), "{name}");
        for event in &told {
            let id = json!(event.id);
            let listed = listed.iter().find(|listed| listed["event_id"] == id).expect("listed");
            for member in ["type", "timestamp", "data"] {
                assert_eq!(event.body[member], listed[member], "{name}");
            }
        }

        // Nobody else's business.
        let stranger = platform.sign_up("ravi@farcars.example").await;
        let theirs = format!("{}/events", business.path("accounts"));
        assert_eq!(platform.get(&theirs, &stranger.token).await.status, 403);
        let crossed = format!("{}/events/{}", stranger.path("accounts"), told[0].id);
        assert_eq!(platform.get(&crossed, &stranger.token).await.status, 404);
    }
}

/// How the gateway ends that has acknowledged events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Kill,
    /// The power goes, and what was not synced with it.
    PowerLoss,
    /// The same on a disk that takes no sync for one: all of it is lost, or the test proves nothing.
    UnsyncedPowerLoss,
}

/// Has a gateway acknowledge events that nobody takes, ends it on the way, and starts another one. What was acknowledged, and the
/// platform after it.
async fn acknowledge_and_end(
    end: End,
    disk: &Path,
    listens_at: &Path,
) -> (Vec<Value>, Platform, Business, WebhookReceiver) {
    let store = format!("sqlite://{}", disk.join("gateway.db").display());
    let mut platform = Platform::start(Some(&store));
    let business = platform.sign_up("asha@coolcar.example").await;
    let receiver = WebhookReceiver::start(Verifier::Python, listens_at, None).expect("the webhook starts");
    platform.listen(&business, &receiver).await;
    let port = receiver.url().rsplit([':', '/']).find_map(|part| part.parse().ok()).expect("a port");
    drop(receiver);
    let folder = platform.gateway.stop();
    let mut command = serve_in(folder.path());
    match end {
        End::Kill => {}
        End::PowerLoss => power_loss::watch(&mut command, disk).expect("it is watched"),
        End::UnsyncedPowerLoss => power_loss::watch_ignoring_syncs(&mut command, disk).expect("it is watched"),
    }
    platform.gateway = Gateway::start_by(&mut command, folder);
    let test = format!("{}/test", webhook(&business));
    let posts = (0..8).map(|number| {
        let (platform, test, token) = (&platform, &test, &business.token);
        async move {
            let body = json!({});
            let answer = platform.gateway.try_call("POST", test, Some(token), Some(&body)).await;
            if number == 5 {
                platform.gateway.server.kill();
            }
            answer.ok().filter(|answer| answer.status == 202).map(|answer| answer.body["event_id"].clone())
        }
    });
    let acknowledged: Vec<Value> = join_all(posts).await.into_iter().flatten().collect();
    assert!(!acknowledged.is_empty(), "something was acknowledged before the end");
    let folder = platform.gateway.leave_folder();
    if end != End::Kill {
        power_loss::roll_back(disk).expect("it is rolled back");
    }
    // A gateway refuses to start on a store that has gone back; here it is to show what is missing.
    let mut command =
        if end == End::UnsyncedPowerLoss { serve_after_loss(folder.path()) } else { serve_in(folder.path()) };
    platform.gateway = Gateway::start_by(&mut command, folder);
    let receiver = WebhookReceiver::start(Verifier::Python, listens_at, Some(port)).expect("the webhook starts");
    (acknowledged, platform, business, receiver)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_event_is_lost_with_a_gateway_that_is_killed_or_loses_its_power() {
    for end in [End::Kill, End::PowerLoss] {
        let (disk, folder) = (tempfile::tempdir().expect("a disk"), tempfile::tempdir().expect("a folder"));
        let (acknowledged, platform, _, _receiver) = acknowledge_and_end(end, disk.path(), folder.path()).await;
        let missing = format!("{end:?}: not all of {} acknowledged events came", acknowledged.len());
        eventually(&missing, &platform.gateway, async || {
            let told = find_taken(&read_events(folder.path()).expect("readable"));
            acknowledged.iter().all(|id| told.contains_key(id.as_str().unwrap_or_default())).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_lost_on_a_disk_that_syncs_nothing() {
    let (disk, folder) = (tempfile::tempdir().expect("a disk"), tempfile::tempdir().expect("a folder"));
    let (acknowledged, platform, business, _receiver) =
        acknowledge_and_end(End::UnsyncedPowerLoss, disk.path(), folder.path()).await;
    let kept = platform.events(&business).await;
    assert!(acknowledged.iter().any(|id| kept.iter().all(|event| event["event_id"] != *id)), "{kept:?}");
}
