//! A component that is loaded by a page: what is told of one that is taken, and of one that is not.

use super::PAGES;
use super::browser::{Browser, links};
use crate::harness::{Gateway, GatewayOptions, ac_contract, safety_first_contract};
use crate::hostile_guests::hostile;
use crate::onboarding::INTENT;

const FORM: &str = "/console/intents/load";
const COMPONENT: &str = "/console/intents/load/component";
const WASM: &str = "application/wasm";
/// The largest component that the API takes, bytes, and what may stand beside it in a form.
const FORM_MAX_BYTES: usize = 64 * 1024 * 1024 + 64 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn a_component_is_loaded_by_a_page_and_serves_nobody() {
    let gateway = Gateway::start(&GatewayOptions { extra: PAGES.to_owned(), ..GatewayOptions::default() });
    let mut team = Browser::of_team(&gateway, gateway.admin_token()).await;
    let none = team.page("/console/intents").await;
    assert!(none.contains("No intent is served") && links(&none, FORM).contains(&FORM.to_owned()), "{none}");

    // The first version of an intent.
    let component = std::fs::read(ac_contract()).expect("readable");
    let file = ("auto <b>.wasm", "application/octet-stream", &component[..]);
    let loaded = team.upload(FORM, COMPONENT, &[], Some(file)).await;
    assert_eq!(loaded.status, 200, "{}", loaded.text);
    let versions = gateway.admin_get("/contracts").await;
    let digest = versions["contracts"][0]["digest"].as_str().expect("a digest").to_owned();
    for told in [&format!("{INTENT} 1.0.0 is loaded. It serves nobody yet."), "loaded, not live", "nobody", &digest] {
        assert!(loaded.text.contains(told), "{told}: {}", loaded.text);
    }
    assert_eq!(versions["contracts"][0]["live"], false, "{versions}");
    let again = team.upload(FORM, COMPONENT, &[], Some(file)).await;
    assert!(again.status == 200 && again.text.contains("was loaded before. It stays as it was."), "{}", again.text);
    let page = team.page(&format!("/console/intents/{INTENT}")).await;
    assert!(page.contains("The intent is out of service.") && page.contains(&digest), "{page}");
    assert!(links(&page, FORM).contains(&FORM.to_owned()), "it leads to the form");

    // The next one is loaded beside it.
    let next = std::fs::read(safety_first_contract()).expect("readable");
    let loaded = team.upload(FORM, COMPONENT, &[], Some(("next.wasm", WASM, &next))).await;
    assert!(loaded.text.contains(&format!("{INTENT} 1.0.1 is loaded. It serves nobody yet.")), "{}", loaded.text);
    assert_eq!(team.get(COMPONENT).await.location.as_deref(), Some(FORM));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_loaded_is_told_with_its_reason() {
    let gateway = Gateway::start(&GatewayOptions { extra: PAGES.to_owned(), ..GatewayOptions::default() });
    let mut team = Browser::of_team(&gateway, gateway.admin_token()).await;
    let failing = hostile("1.0.0", "example-fails");
    for (name, content, code, said) in [
        ("<b>.wasm", &b"hello"[..], "NOT_A_COMPONENT", "&#60;b&#62;.wasm was not loaded. What serves goes on."),
        ("failing.wasm", &failing[..], "EXAMPLE_FAILED", "options are ranked"),
    ] {
        let refused = team.upload(FORM, COMPONENT, &[], Some((name, WASM, content))).await;
        assert!(refused.status == 422 && refused.text.contains(code), "{name}: {}", refused.text);
        assert!(refused.text.contains(said) && !refused.text.contains("<b>"), "{name}: {}", refused.text);
        // The form is there for the next try, as it was ticked.
        assert!(!refused.text.contains(" checked") && refused.text.contains(COMPONENT), "{}", refused.text);
    }
    let ticked = [("allow_removed_values", "on")];
    let refused = team.upload(FORM, COMPONENT, &ticked, Some(("a.wasm", WASM, b"hello"))).await;
    assert!(refused.text.contains("name=\"allow_removed_values\" checked"), "{}", refused.text);
    let page = team.page("/console/intents").await;
    assert!(page.contains("NOT_A_COMPONENT") && page.contains("EXAMPLE_FAILED"), "the list has them: {page}");

    assert_eq!(team.upload(FORM, COMPONENT, &[], None).await.status, 422, "no file was chosen");
    let large = vec![0; FORM_MAX_BYTES + 1];
    let refused = team.upload(FORM, COMPONENT, &[], Some(("large.wasm", WASM, &large))).await;
    assert!(refused.status == 413 && refused.text.contains("FORM_NOT_TAKEN"), "{}", refused.text);
    let foreign = team.upload_with("0123", COMPONENT, &[], Some(("a.wasm", WASM, b"hello"))).await;
    assert!(foreign.status == 403 && foreign.text.contains("FORM_NOT_OF_THIS_SESSION"), "{}", foreign.text);

    // Whoever may only look is refused by the API, on the same page.
    let watcher = gateway.token(&["--role", "admin", "--subject", "ravi", "--scope", "watch"]);
    let mut watcher = Browser::of_team(&gateway, &watcher).await;
    let component = std::fs::read(ac_contract()).expect("readable");
    let refused = watcher.upload(FORM, COMPONENT, &[], Some(("a.wasm", WASM, &component))).await;
    assert!(refused.status == 403 && refused.text.contains("SCOPE_SHIP_NEEDED"), "{}", refused.text);
    assert_eq!(gateway.admin_get("/contracts").await["contracts"], serde_json::json!([]));
}
