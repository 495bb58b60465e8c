//! Who gets in, for how long, and whose forms are taken.
#![expect(clippy::print_stderr, reason = "sizes are for whoever asks with --nocapture")]

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::PAGES;
use super::browser::{Browser, CONSOLE, DASHBOARD, form_token, links};
use crate::harness::{Gateway, GatewayOptions, ac_contract};
use crate::onboarding::{Platform, code};

/// Bytes of a page on its way, at most.
const PAGE_MAX_BYTES: usize = 60 * 1024;
/// Bytes of all scripts on their way, at most.
const SCRIPTS_MAX_BYTES: usize = 60 * 1024;
/// What a mail with a code says.
pub(super) const CODE_MAIL: &str = "Your code is";

fn with_pages() -> Gateway {
    Gateway::start(&GatewayOptions {
        contracts: vec![ac_contract()],
        extra: PAGES.to_owned(),
        ..GatewayOptions::default()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn there_are_no_pages_unless_somebody_wants_them() {
    let gateway = Gateway::start(&GatewayOptions::default());
    let mut browser = Browser::new(&gateway);
    for path in ["/console", "/console/sign-in", "/dashboard", "/dashboard/sign-up", "/console/assets/x"] {
        assert_eq!(browser.get(path).await.status, 404, "{path}");
    }
    assert!(!gateway.folder.path().join("state/console-code").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_code_of_a_start_opens_the_console_once() {
    let gateway = with_pages();
    let file = gateway.folder.path().join("state/console-code");
    assert_eq!(std::fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o600);
    let code = std::fs::read_to_string(&file).expect("readable").trim().to_owned();
    assert!(!gateway.log().contains(&code), "no log has it");

    let mut browser = Browser::new(&gateway);
    let asked = browser.get("/console").await;
    assert_eq!((asked.status, asked.location.as_deref()), (303, Some("/console/sign-in?to=%2Fconsole")));
    // Whatever looks at an address ahead of its reader uses nothing up.
    let page = browser.page(&format!("/console/sign-in?code={code}")).await;
    assert!(page.contains(&format!("value=\"{code}\"")), "{page}");
    let wrong = browser.submit("/console/sign-in", &[("code", "0123456789abcdef0123456789abcdef")]).await;
    assert_eq!(wrong.status, 401);
    assert!(wrong.text.contains("INVALID_AUTH") && browser.cookie.is_none(), "{}", wrong.text);

    let entered = browser.submit("/console/sign-in", &[("code", &code), ("to", "/console/audit")]).await;
    assert_eq!((entered.status, entered.location.as_deref()), (303, Some("/console/audit")), "{}", entered.text);
    let cookie = entered.set_cookie.expect("a session");
    assert!(
        cookie.starts_with("__Host-console=") && cookie.contains("; HttpOnly") && cookie.contains("; Secure"),
        "{cookie}"
    );
    assert!(browser.page("/console").await.contains("Nothing waits for the team."));
    assert!(!file.exists(), "it is used up");
    let again = Browser::new(&gateway).submit("/console/sign-in", &[("code", &code)]).await;
    assert_eq!(again.status, 401);
    let told = gateway.admin_get("/audit").await;
    let entries = told["entries"].as_array().expect("a list").iter();
    let entered: Vec<_> = entries.filter(|entry| entry["action"] == "console.entered").collect();
    assert_eq!(entered.len(), 1, "{told}");
    assert_eq!((&entered[0]["subject"], &entered[0]["detail"]["by"]), (&json!("console"), &json!("code")), "{told}");

    // A session outlives a restart of the gateway, and a start makes a new code.
    let cookie = browser.cookie.clone();
    drop(browser);
    let gateway = gateway.restart();
    let mut browser = Browser::new(&gateway);
    browser.cookie = cookie;
    assert_eq!(browser.get("/console").await.status, 200);
    assert_ne!(std::fs::read_to_string(&file).unwrap_or_default().trim(), code);

    let out = browser.act(CONSOLE, "/console/sign-out", &[]).await;
    assert_eq!((out.status, out.location.as_deref()), (303, Some("/console/sign-in")));
    assert!(out.set_cookie.is_some_and(|cookie| cookie.contains("Max-Age=0")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_opens_what_its_token_opens() {
    let gateway = with_pages();
    // No token of the team.
    for token in [gateway.orchestrator_token().to_owned(), gateway.token(&["--role", "partner", "--subject", "ptr_1"])]
    {
        let refused = Browser::new(&gateway).submit("/console/sign-in", &[("token", &token)]).await;
        assert_eq!((refused.status, refused.set_cookie), (403, None), "{}", refused.text);
    }
    let refused = Browser::new(&gateway).submit("/console/sign-in", &[("token", "x.y.z")]).await;
    assert_eq!((refused.status, refused.set_cookie), (401, None));

    let watcher = gateway.token(&["--role", "admin", "--subject", "asha", "--scope", "watch"]);
    let mut browser = Browser::of_team(&gateway, &watcher).await;
    let page = browser.page("/console").await;
    assert!(page.contains("auto.book_ac_service") && page.contains(">asha<"), "{page}");
    let shut = browser.get("/console/reviews").await;
    assert_eq!(shut.status, 403);
    assert!(shut.text.contains("SCOPE_REVIEW_NEEDED"), "{}", shut.text);

    // A session ends with its token.
    let brief = gateway.token(&["--role", "admin", "--subject", "asha", "--ttl", "1s"]);
    let mut browser = Browser::of_team(&gateway, &brief).await;
    let ended = crate::harness::eventually("the session goes on", &gateway, async || {
        let shown = browser.get("/console").await;
        (shown.status != 200).then_some(shown)
    })
    .await;
    assert_eq!((ended.status, ended.location.as_deref()), (303, Some("/console/sign-in?to=%2Fconsole")));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_sees_and_ends_ones_own_sessions_alone() {
    let gateway = with_pages();
    let token = |subject: &str| gateway.token(&["--role", "admin", "--subject", subject]);
    let (asha, ravi) = (token("asha"), token("ravi"));
    let mut here = Browser::of_team(&gateway, &asha).await;
    let mut there = Browser::of_team(&gateway, &asha).await;
    let mut other = Browser::of_team(&gateway, &ravi).await;
    let keys = |page: &str| -> Vec<String> {
        let found = page.split("name=\"key\" value=\"").skip(1);
        found.filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
    };
    let place = "/console/sessions";
    let page = here.page(place).await;
    assert!(page.contains("You are signed in at 2 browsers."), "{page}");
    let [key] = keys(&page).try_into().expect("the other one alone can be ended so");
    // By its key alone nobody ends a session of somebody else.
    assert_eq!(other.act(place, "/console/sessions/end", &[("key", &key)]).await.location.as_deref(), Some(place));
    assert_eq!(there.get("/console").await.status, 200);
    let ended = here.act(place, "/console/sessions/end", &[("key", &key)]).await;
    assert_eq!(ended.location.as_deref(), Some("/console/sessions?done=ended"));
    assert_eq!(there.get("/console").await.status, 303);
    assert_eq!(here.get("/console").await.status, 200);
    assert_eq!(here.act(place, "/console/sessions/end-all", &[]).await.status, 303);
    assert_eq!(here.get("/console").await.status, 303);
    assert_eq!(other.get("/console").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_of_elsewhere_does_nothing() {
    let gateway = with_pages();
    let mut asha = Browser::of_team(&gateway, gateway.admin_token()).await;
    let mut other = Browser::of_team(&gateway, gateway.admin_token()).await;
    let (own, foreign) = (form_token(&asha.page("/console").await), form_token(&other.page("/console").await));
    assert_ne!(own, foreign);
    let sign_out = "/console/sign-out";
    for (site, token) in [
        ("cross-site", own.as_str()),
        ("same-site", &own),
        ("none", &own),
        ("same-origin", &foreign),
        ("same-origin", ""),
    ] {
        let refused = asha.submit_from(site, sign_out, &[("form_token", token)]).await;
        assert_eq!(refused.status, 403, "{site} {token}");
        assert!(refused.text.contains("FORM_NOT_OF_THIS_SESSION"), "{}", refused.text);
        assert_eq!(asha.get("/console").await.status, 200, "still signed in");
    }
    // Signing somebody in from elsewhere is no less foreign.
    let token = gateway.admin_token().to_owned();
    let refused = Browser::new(&gateway).submit_from("cross-site", "/console/sign-in", &[("token", &token)]).await;
    assert_eq!((refused.status, refused.set_cookie), (403, None));
    assert_eq!(asha.submit(sign_out, &[("form_token", &own)]).await.status, 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_opens_its_own_face_alone_and_only_as_it_was_given() {
    let platform = Platform::start_with(None, PAGES);
    let gateway = &platform.gateway;
    let business = platform.sign_up("asha@coolcar.example").await;
    let mut partner = sign_in(&platform, &business.email, 1).await;
    assert!(partner.page(DASHBOARD).await.contains("CoolCar"));
    let cookie = partner.cookie.clone().expect("a session");
    let held = cookie.strip_prefix("__Host-dashboard=").expect("of the dashboard").to_owned();

    let mut browser = Browser::new(gateway);
    let mut flipped = held.clone();
    flipped.replace_range(..1, if held.starts_with('0') { "1" } else { "0" });
    for stolen in [
        format!("__Host-console={held}"),
        format!("__Host-dashboard={flipped}"),
        format!("__Host-dashboard={}", &held[1..]),
        format!("__Host-dashboard={}", held.split('.').next().unwrap_or_default()),
        format!("__Host-dashboard={held}; __Host-dashboard={held}"),
        format!("dashboard={held}"),
    ] {
        browser.cookie = Some(stolen.clone());
        for face in [CONSOLE, DASHBOARD] {
            let shown = browser.get(face).await;
            assert_eq!((shown.status, shown.text.as_str()), (303, ""), "{face} with {stolen}");
        }
    }
    // Whoever ends all sessions of the account ends those of its pages.
    let ended = platform
        .post(&format!("/api/v1/business/tier1/accounts/{}/sessions/end", business.id), &business.token, json!({}))
        .await;
    assert!(ended.status < 300, "{}", ended.body);
    let shown = partner.get(DASHBOARD).await;
    assert_eq!((shown.status, shown.location.as_deref()), (303, Some("/dashboard/sign-in")));
}

/// Signs in at the dashboard, with the `nth` code that is mailed to an address.
pub(super) async fn sign_in<'a>(platform: &'a Platform, email: &str, nth: usize) -> Browser<'a> {
    let mut browser = Browser::new(&platform.gateway);
    let sent = browser.submit("/dashboard/sign-in", &[("email", email)]).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    let mails = platform.mails_saying(email, CODE_MAIL, nth + 1).await;
    let code = code(&mails[nth]);
    // As somebody copies it out of a mail.
    let code = format!(" {} {} ", &code[..3], &code[3..]);
    let entered = browser.submit("/dashboard/sign-in/code", &[("email", email), ("code", &code)]).await;
    assert_eq!((entered.status, entered.location.as_deref()), (303, Some(DASHBOARD)), "{}", entered.text);
    browser
}

/// Every page that one leads to from the first one is shown to nobody without a session, and each is under the policy.
#[tokio::test(flavor = "multi_thread")]
async fn no_page_is_open_and_none_loads_or_runs_anything_foreign() {
    let platform = Platform::start_with(None, PAGES);
    let business = platform.sign_up("asha@coolcar.example").await;
    let mut stranger = Browser::new(&platform.gateway);
    let mut team = Browser::of_team(&platform.gateway, platform.gateway.admin_token()).await;
    let mut partner = sign_in(&platform, &business.email, 1).await;
    for (face, browser, least) in [(CONSOLE, &mut team, 9), (DASHBOARD, &mut partner, 6)] {
        let (mut seen, mut left) = (BTreeSet::new(), vec![face.to_owned()]);
        while let Some(path) = left.pop() {
            if !seen.insert(path.clone()) {
                continue;
            }
            let shown = browser.get(&path).await;
            assert_eq!(shown.status, 200, "{path}: {}", shown.text);
            for part in ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"] {
                assert!(shown.policy.contains(part), "{path}: {}", shown.policy);
            }
            for foreign in [" style=", "<style", "javascript:", " onclick", "src=\"http", "href=\"http", "url("] {
                assert!(!shown.text.contains(foreign), "{path} has {foreign}: {}", shown.text);
            }
            assert!(shown.text.len() < 300 * 1024, "{path}: {}", shown.text.len());
            let bytes = browser.compressed_bytes(&path).await;
            assert!(bytes <= PAGE_MAX_BYTES, "{path}: {bytes}");
            left.extend(links(&shown.text, face));
            let refused = stranger.get(&path).await;
            assert!(refused.status == 303 && refused.text.is_empty() || path.contains("/sign-"), "{path}: {refused:?}");
        }
        assert!(seen.len() >= least, "{seen:?}");
        let nothing = browser.get(&format!("{face}/no-such-page")).await;
        assert_eq!(nothing.status, 404);
        assert!(nothing.text.contains("There is no page at this address."), "{}", nothing.text);
    }
}

/// What pages load comes compressed, stays with the browser, and is named after its content.
#[tokio::test(flavor = "multi_thread")]
async fn scripts_are_small_and_kept() {
    let gateway = with_pages();
    let mut browser = Browser::of_team(&gateway, gateway.admin_token()).await;
    let mut loaded = BTreeSet::new();
    for path in ["/console", "/console/intents/auto.book_ac_service"] {
        let page = browser.page(path).await;
        let found =
            ["<script src=\"", "<link rel=\"stylesheet\" href=\""].into_iter().flat_map(|tag| page.split(tag).skip(1));
        loaded.extend(found.filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect::<Vec<_>>());
    }
    let scripts: Vec<_> = loaded.iter().filter(|address| address.ends_with(".js")).collect();
    assert!(!scripts.is_empty() && loaded.len() > scripts.len(), "{loaded:?}");
    let mut bytes = 0;
    for address in &scripts {
        bytes += browser.compressed_bytes(address).await;
    }
    assert!(bytes <= SCRIPTS_MAX_BYTES, "{bytes}");
    for address in &loaded {
        let answer = reqwest::get(format!("{}{address}", gateway.server.url)).await.expect("an answer");
        let kept = answer.headers().get("cache-control").and_then(|value| value.to_str().ok()).map(str::to_owned);
        assert_eq!((answer.status().as_u16(), kept.as_deref()), (200, Some("public, max-age=31536000, immutable")));
    }
    // Who is not signed in needs none.
    assert!(!Browser::new(&gateway).page("/console/sign-in").await.contains("<script"));
    eprintln!("scripts: {bytes} bytes");
}
