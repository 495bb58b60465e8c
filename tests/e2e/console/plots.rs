//! What went on in the last hour: by the API, and on pages.

use serde_json::{Value, json};

use super::PAGES;
use super::browser::{Browser, CONSOLE, DASHBOARD};
use super::entry::sign_in;
use super::walk::sampled;
use crate::harness::{Gateway, GatewayOptions, ac_contract, eventually, request, safety_first_contract};
use crate::onboarding::Platform;
use crate::rollouts::{load_beside, promote};

const INTENT: &str = "auto.book_ac_service";

fn sum(column: &Value) -> u64 {
    column.as_array().expect("a column").iter().filter_map(Value::as_u64).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_hour_is_told_to_whom_it_concerns() {
    let platform = Platform::start_with(None, PAGES);
    let gateway = &platform.gateway;
    let own = platform.ready("asha@coolcar.example").await;
    let other = platform.ready("ravi@otherworkshop.example").await;
    platform.admin(&own.business.admin_path("switch-on"), json!({})).await;
    platform.routed(&[&own.business.id]).await;
    gateway.found(&request()).await;
    sampled(&platform, &own.business.id).await;

    let all = gateway.admin_get("/traffic").await;
    let one = &all["intents"][0];
    assert_eq!((one["intent"].as_str(), &all["every_ms"]), (Some(INTENT), &json!(10_000)), "{all}");
    assert!(sum(&one["ok"]) >= 1 && one["stages"] == json!([]), "{all}");
    let of_one = gateway.admin_get(&format!("/traffic?intent={INTENT}")).await;
    let stages = of_one["intents"][0]["stages"].as_array().expect("stages");
    let call = stages.iter().find(|stage| stage["stage"] == "call").expect("partners are called");
    assert!(call["p99_ms"].as_array().expect("a column").iter().any(|took| took.as_f64() > Some(0.0)), "{call}");
    assert_eq!(gateway.admin_get("/traffic?intent=auto.none").await["intents"], json!([]));

    // A partner sees its own figures, with the targets, and nobody else's.
    let path = |id: &str| format!("/api/v1/business/tier1/accounts/{id}/traffic");
    let told = gateway.call("GET", &path(&own.business.id), Some(&own.business.token), None).await;
    let tool = &told.body["tools"][0];
    assert!(sum(&tool["calls"]) >= 1 && tool["targets"]["p95_ms"].as_u64() > Some(0), "{}", told.body);
    assert_eq!(gateway.admin_get(&format!("/partners/{}/traffic", own.business.id)).await, told.body);
    let refused = gateway.call("GET", &path(&own.business.id), Some(&other.business.token), None).await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    let quiet = gateway.call("GET", &path(&other.business.id), Some(&other.business.token), None).await;
    assert!(!quiet.body.to_string().contains(&own.business.id), "{}", quiet.body);

    // Pages say the same without a script, and give the data of what is drawn to whoever sees the page.
    let mut team = Browser::of_team(gateway, gateway.admin_token()).await;
    let mut partner = sign_in(&platform, &own.business.email, 1).await;
    let target = format!(", target</td><td class=\"number\" colspan=\"3\">{}</td>", tool["targets"]["p95_ms"]);
    for (is_team, page, said) in [
        (true, CONSOLE.to_owned(), format!("<td>{INTENT}</td><td class=\"number\">")),
        (true, format!("{CONSOLE}/intents/{INTENT}"), "<td>found something</td>".to_owned()),
        (true, format!("{CONSOLE}/partners/{}", own.business.id), target.clone()),
        (false, DASHBOARD.to_owned(), target),
    ] {
        let browser = if is_team { &mut team } else { &mut partner };
        let shown = browser.page(&page).await;
        assert!(shown.contains(&said), "{page} has no {said}: {shown}");
        let sources: Vec<_> =
            shown.split("data-plot=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect();
        assert!(!sources.is_empty(), "{shown}");
        for source in sources {
            let data: Value = serde_json::from_str(&browser.page(&source).await).expect("JSON");
            let rows = data["at"].as_array().expect("moments").len();
            let lines = data["lines"].as_array().expect("lines");
            assert!(rows > 0 && !lines.is_empty(), "{data}");
            assert!(lines.iter().all(|line| line["values"].as_array().is_some_and(|values| values.len() == rows)));
            assert_eq!(Browser::new(gateway).get(&source).await.status, 401, "{source}");
        }
    }
    assert_eq!(partner.get("/console/plots/traffic").await.status, 401);
    assert_eq!(team.get(&format!("{CONSOLE}/plots/intents/{INTENT}/none")).await.status, 404);
}

/// The addresses of what is plotted on a page.
fn sources(page: &str) -> Vec<String> {
    page.split("data-plot=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollout_is_plotted_over_its_stages_and_after_its_end() {
    let gateway = Gateway::start(&GatewayOptions {
        contracts: vec![ac_contract()],
        extra: PAGES.to_owned(),
        ..GatewayOptions::default()
    });
    let mut team = Browser::of_team(&gateway, gateway.admin_token()).await;
    let page = format!("{CONSOLE}/intents/{INTENT}");
    assert!(team.page(&page).await.contains("This gateway has seen no rollout of the intent since it started."));
    let course_of =
        async || gateway.admin_get(&format!("/intents/{INTENT}/rollout?course=true")).await["course"].clone();
    assert_eq!(course_of().await, Value::Null);
    let digest = load_beside(&gateway, std::fs::read(safety_first_contract()).expect("readable")).await;
    let stage = |share: f64| json!({"share_percent": share, "decisions": 1_000_000});
    promote(&gateway, &digest, json!({"stages": [stage(0.0), stage(25.0)]})).await;
    eventually("there is no sample", &gateway, async || Some(course_of().await).filter(|course| !course.is_null()))
        .await;
    let act = async |act: &str| {
        let order = json!({"act": act, "why": "the test"});
        gateway.admin_send(&format!("/intents/{INTENT}/rollout"), &order).await
    };
    assert_eq!(act("advance").await.status, 200);
    let course = eventually("the second stage has no sample", &gateway, async || {
        Some(course_of().await)
            .filter(|course| course["stage"].as_array().is_some_and(|stages| stages.contains(&json!(1))))
    })
    .await;
    assert_eq!((&course["candidate"], &course["stage"][0]), (&json!(digest), &json!(0)), "{course}");
    assert_eq!(course["share_percent"].as_array().and_then(|shares| shares.last()), Some(&json!(25.0)), "{course}");
    let faults = &course["figures"][0];
    assert_eq!((&faults["measure"], &faults["bound"]), (&json!("faults"), &json!(0.0)), "{course}");

    let check = async |team: &mut Browser<'_>| {
        let shown = team.page(&page).await;
        for told in ["Stages of the rollout, % of the users", "it fails where the live version does not, bound</td>"] {
            assert!(shown.contains(told), "{told}: {shown}");
        }
        let of_rollout = sources(&shown).into_iter().filter(|source| !source.ends_with("answers"));
        let of_rollout: Vec<_> = of_rollout.filter(|source| !source.ends_with("stages")).collect();
        assert_eq!(of_rollout.len(), 5, "{of_rollout:?}");
        for source in of_rollout {
            let data: Value = serde_json::from_str(&team.page(&source).await).expect("JSON");
            let rows = data["at"].as_array().expect("moments").len();
            let lines = data["lines"].as_array().expect("lines");
            assert!(rows >= 2 && !lines.is_empty(), "{source}: {data}");
            assert!(lines.iter().all(|line| line["values"].as_array().is_some_and(|values| values.len() == rows)));
            assert_eq!(Browser::new(&gateway).get(&source).await.status, 401, "{source}");
        }
    };
    check(&mut team).await;
    let aborted = act("abort").await;
    assert_eq!((aborted.status, &aborted.body["course"]), (200, &Value::Null), "{aborted:?}");
    check(&mut team).await;
}
