//! A version that is compared with what was ranked, by a page: with its report, while it goes on, and beside another comparison.

use serde_json::json;

use super::PAGES;
use super::browser::{Browser, Event};
use crate::harness::{Gateway, GatewayOptions, eventually};
use crate::hostile_guests::hostile;
use crate::rollouts::load_beside;
use crate::scripted::{Behaviour, Scripted};

const INTENT: &str = "test.hostile";
const PAGE: &str = "/console/intents/test.hostile/compare";
const STREAM: &str = "/console/live/intents/test.hostile/compare";
/// Rankings of the test: a version that takes its whole time for each is at it for many seconds.
const RANKINGS: usize = 20;

fn is_fragment((name, data): &Event) -> bool {
    name.is_empty() && !data.is_empty()
}

/// A gateway with rankings of one version.
async fn with_rankings() -> (Gateway, Scripted) {
    let things = json!([{"thing_id": "a"}, {"thing_id": "b"}, {"thing_id": "<b>c"}]);
    let partner = Scripted::start(Behaviour::Payload(json!({"things": things}))).await;
    let mut entry = partner.entry("scripted");
    entry.intents = vec![INTENT.to_owned()];
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![entry],
        extra: format!("{PAGES}[sandbox]\ndeadline_ms = 1000\n"),
        ..GatewayOptions::default()
    });
    assert_eq!(gateway.upload(&hostile("1.0.0", "honest")).await.status, 201);
    for number in 0..RANKINGS {
        let request = json!({"request_id": format!("ranking-{number}")});
        let found = gateway.post(&format!("/api/v1/intents/{INTENT}/search"), &request).await;
        assert_eq!(found.status, 200, "{found:?}");
    }
    eventually("not every ranking is kept", &gateway, async || {
        let last = format!("/receipts?request_id=ranking-{}", RANKINGS - 1);
        let kept = gateway.admin_get(&last).await;
        kept["receipts"].as_array().is_some_and(|receipts| !receipts.is_empty()).then_some(())
    })
    .await;
    (gateway, partner)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_is_compared_by_a_page_and_the_report_is_told() {
    let (gateway, _partner) = with_rankings().await;
    let mut team = Browser::of_team(&gateway, gateway.admin_token()).await;
    let none = team.page(PAGE).await;
    assert!(none.contains("Every version that is loaded serves already."), "{none}");
    let digest = load_beside(&gateway, hostile("1.1.0", "1:exchange the first two")).await;
    let page = team.page(&format!("/console/intents/{INTENT}")).await;
    let address = format!("{PAGE}?digest={digest}");
    assert!(page.contains(&format!("href=\"{address}\"")), "the list of versions leads to it: {page}");
    assert!(team.page(&address).await.contains(&format!("<option value=\"{digest}\" selected>1.1.0</option>")));

    // Without scripts the answer to the form has the report.
    let fields = [("digest", digest.as_str()), ("against", "live"), ("days", "7"), ("limit", "1000")];
    let done = team.act(&address, PAGE, &fields).await;
    assert_eq!(done.status, 200, "{}", done.text);
    let sentence = format!("1.1.0 differs from 1.0.0 in {RANKINGS} of {RANKINGS} rankings, 100.00 %.");
    for told in [&sentence, "another option is first", "href=\"/console/rankings/", "selected>the live version"] {
        assert!(done.text.contains(told), "{told}: {}", done.text);
    }
    assert!(!done.text.contains("<b>c"), "{}", done.text);

    // With them it comes as a stream, which has no form in it.
    let mut heard = team.act_and_hear(&address, STREAM, &fields).await.expect("a stream");
    let (_, report) = heard.until(|event| is_fragment(event) && event.1.contains("Rankings")).await;
    assert!(report.contains(&sentence) && !report.contains("form_token"), "{report}");
    assert_eq!(heard.next().await, Some(("end".to_owned(), "complete".to_owned())));
    assert_eq!(heard.next().await, None);

    // What the API refuses is told in its place, and what is no form is refused.
    let odd = [("digest", "9"), ("against", "live"), ("days", "7"), ("limit", "1000")];
    let refused = team.act(&address, PAGE, &odd).await;
    assert!(refused.status == 400 && refused.text.contains("INVALID_REQUEST"), "{}", refused.text);
    assert_eq!(team.act(&address, PAGE, &[("digest", &digest), ("days", "none")]).await.status, 422);
    let foreign = team.submit(STREAM, &[("digest", &digest), ("form_token", "0123")]).await;
    assert_eq!(foreign.status, 403, "{}", foreign.text);
    let other = team.submit_from("cross-site", STREAM, &[("digest", &digest)]).await;
    assert_eq!(other.status, 403, "{}", other.text);
    assert_eq!(team.get("/console/intents/test.none/compare").await.status, 404);
    let watcher = gateway.token(&["--role", "admin", "--subject", "ravi", "--scope", "watch"]);
    let mut watcher = Browser::of_team(&gateway, &watcher).await;
    let refused = watcher.act(&address, PAGE, &fields).await;
    assert!(refused.status == 403 && refused.text.contains("SCOPE_SHIP_NEEDED"), "{}", refused.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_is_told_while_it_goes_on_and_nobody_begins_another() {
    let (gateway, _partner) = with_rankings().await;
    let mut team = Browser::of_team(&gateway, gateway.admin_token()).await;
    let digest = load_beside(&gateway, hostile("1.1.0", "1:spin")).await;
    let address = format!("{PAGE}?digest={digest}");
    let fields = [("digest", digest.as_str())];
    let mut heard = team.act_and_hear(&address, STREAM, &fields).await.expect("a stream");
    let (_, progress) = heard.until(is_fragment).await;
    assert!(progress.contains("data-under-way") && progress.contains("receipts are compared so far"), "{progress}");

    let second = team.act(&address, PAGE, &fields).await;
    assert_eq!(second.status, 409, "{}", second.text);
    assert!(second.text.contains("Another comparison is under way at this gateway"), "{}", second.text);
    let mut beside = team.act_and_hear(&address, STREAM, &fields).await.expect("a stream");
    let (_, refused) = beside.until(is_fragment).await;
    assert!(refused.contains("COMPARISON_UNDER_WAY"), "{refused}");

    // Whoever goes away stops it, and so does whoever signs out.
    drop(heard);
    let mut again = eventually("the comparison goes on", &gateway, async || {
        let mut heard = team.act_and_hear(&address, STREAM, &fields).await.expect("a stream");
        let (_, told) = heard.until(is_fragment).await;
        told.contains("data-under-way").then_some(heard)
    })
    .await;
    assert_eq!(team.act(&address, "/console/sign-out", &[]).await.status, 303);
    let (_, reason) = again.until(|(name, _)| name == "end").await;
    assert_eq!(reason, "closed");
}
