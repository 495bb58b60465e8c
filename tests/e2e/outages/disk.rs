//! A disk that takes nothing more: a limit on the size of files, set on the running gateway, which needs no privileges. Its log
//! cannot be written then, either.

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::json;

use super::{World, reference};
use crate::harness::eventually;
use crate::onboarding::settings;

/// A port to which no mail is ever sent.
const NO_SMTP: u16 = 1;

/// From here on, the gateway can write to files up to this many bytes.
fn limit_files(world: &World, bytes: Option<u64>) {
    let pid = i32::try_from(world.gateway.server.id()).ok().and_then(Pid::from_raw).expect("a process");
    prlimit(Some(pid), Resource::Fsize, Rlimit { current: bytes, maximum: None }).expect("the limit is set");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_told_as_what_it_is_and_searches_go_on() {
    let world = World::start(settings(None, NO_SMTP)).await;
    assert_eq!(world.book("k-0").await.status, 200);
    assert_eq!(world.report("BK-k-0").await.status, 200);
    assert_eq!(world.troubles().await, [""; 0]);

    limit_files(&world, Some(0));
    let called = world.partner.calls();
    let refused = world.book("k-1").await;
    assert!(refused.is_outage(), "{refused:?}");
    assert_eq!(world.partner.calls(), called, "nobody was called");
    let refused = world.report("BK-1").await;
    assert!(refused.is_outage(), "{refused:?}");
    let sign_up = json!({"email": "asha@coolcar.example", "business_name": "Cool Car"});
    let refused = world.post("/api/v1/business/sign-up", &sign_up).await;
    assert!(refused.is_outage(), "{refused:?}");
    // The journal finds out with its first batch; from then on answers say what is not kept.
    let found = eventually("searches do not say what is not kept", &world.gateway, async || {
        let found = world.search().await;
        assert_eq!(found.status, 200, "{found:?}");
        (found.body["not_kept"] == json!(["receipt"])).then_some(found)
    });
    let shown_meanwhile = reference(&found.await);
    eventually("`/ready` does not show it", &world.gateway, async || {
        world.troubles().await.contains(&"STORE_UNAVAILABLE".to_owned()).then_some(())
    })
    .await;
    assert_eq!(world.get("/live").await.status, 200);
    let metrics = world.gateway.call("GET", "/api/v1/admin/metrics", Some(world.gateway.admin_token()), None).await;
    let metrics = metrics.body.as_str().expect("text");
    assert!(metrics.contains("intent_gateway_store_available 0"), "{metrics}");
    assert!(metrics.contains("intent_gateway_ready_troubles{code=\"STORE_UNAVAILABLE\"} 1"), "{metrics}");

    limit_files(&world, None);
    // Nothing has to be restarted, and nothing waits for longer than it takes.
    assert_eq!(world.book("k-1").await.status, 200);
    assert_eq!(world.report("BK-1").await.status, 200);
    let booked = world.book_by(&shown_meanwhile, "k-2").await;
    assert_eq!(booked.status, 200, "its reference says what was quoted: {booked:?}");
    eventually("`/ready` still shows it", &world.gateway, async || {
        (!world.troubles().await.contains(&"STORE_UNAVAILABLE".to_owned())).then_some(())
    })
    .await;
    // What was acknowledged is there.
    for key in ["k-0", "k-1", "k-2"] {
        assert_eq!(world.book(key).await.body["payload"]["booking_id"], format!("BK-{key}"));
    }
    assert!(world.gateway.server.stop(), "a clean stop");
}
