//! A whole way on pages alone: a business from its sign-up to live traffic, a search whose ranking is explained, a suspension.

use serde_json::json;

use super::PAGES;
use super::browser::{Browser, Shown};
use super::entry::sign_in;
use crate::harness::{GatewayOptions, ac_contract, eventually, request, rust_partner};
use crate::onboarding::{Business, Page, Platform, code, manifest};

/// What a hostile business calls itself.
const NAME: &str = "Cool<script>alert(1)</script>\"'&Car";
const EMAIL: &str = "asha@coolcar.example";

/// The answer to a form that was taken.
pub(super) fn led_to(shown: &Shown) -> &str {
    assert_eq!(shown.status, 303, "{}", shown.text);
    shown.location.as_deref().expect("it leads on")
}

/// A part of a page between two texts.
pub(super) fn between<'a>(page: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("no {before} in {page}"));
    rest.split(after).next().expect("the rest")
}

/// Signs a business up by pages.
async fn sign_up<'a>(platform: &'a Platform, email: &str, name: &str) -> (Browser<'a>, Business) {
    let mut browser = Browser::new(&platform.gateway);
    let free = browser.submit("/dashboard/sign-up", &[("email", "asha@gmail.com"), ("business_name", name)]).await;
    assert!((400..500).contains(&free.status) && free.text.contains("asha@gmail.com"), "{}", free.text);
    let sent = browser.submit("/dashboard/sign-up", &[("email", email), ("business_name", name)]).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    let code = code(&platform.mail(email, 0).await);
    let wrong = browser.submit("/dashboard/sign-in/code", &[("email", email), ("code", "000000")]).await;
    assert!(wrong.status == 401 || code == "000000", "{}", wrong.text);
    let entered = browser.submit("/dashboard/sign-in/code", &[("email", email), ("code", &code)]).await;
    assert_eq!(led_to(&entered), "/dashboard");
    let id = between(&browser.page("/dashboard").await, "<dt>Partner</dt><dd><code>", "<").to_owned();
    let token = platform.gateway.token(&["--role", "partner", "--subject", &id]);
    (browser, Business { id, token, email: email.to_owned(), code })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_business_goes_live_and_out_again_by_pages() {
    let platform = Platform::start_with(None, PAGES);
    let server = rust_partner("oem", platform.gateway.folder.path());
    let privacy = Page::start().await;
    let (mut partner, business) = sign_up(&platform, EMAIL, NAME).await;

    // The papers.
    let place = "/dashboard/go-live/profile";
    let bad =
        partner.act(place, place, &[("legal_name", "CoolCar Services Private Limited"), ("gstin", "nothing")]).await;
    assert!((400..500).contains(&bad.status) && bad.text.contains("CoolCar Services Private Limited"), "{}", bad.text);
    let saved = partner
        .act(
            place,
            place,
            &[
                ("legal_name", "CoolCar Services Private Limited"),
                ("legal_entity_type", "private_limited"),
                ("gstin", "24AAACC1206D1ZM"),
                ("privacy_policy_url", &format!("{}/privacy", privacy.url)),
                ("licence_kind", "shop"),
                ("licence_number", "KA/BLR/2024/1183"),
                ("licence_until", ""),
                ("licence_kind", "refrigerant_handling"),
                ("licence_number", "RHC-2026-0042"),
                ("licence_until", ""),
            ],
        )
        .await;
    led_to(&saved);
    let issued = partner.act("/dashboard/access", "/dashboard/access/credentials", &[]).await;
    assert_eq!(issued.status, 200, "{}", issued.text);
    assert!(issued.text.contains("shown-once") && issued.text.contains("platform_sandbox_"), "{}", issued.text);
    assert!(!partner.page("/dashboard/access").await.contains("shown-once"), "a secret is shown once");
    let hooked = partner
        .act("/dashboard/access", "/dashboard/access/webhook", &[("webhook_url", "https://api.coolcar.example/hook")])
        .await;
    assert!(hooked.status == 200 && hooked.text.contains("shown-once"), "{}", hooked.text);

    // The manifest: what is wrong is told at its line.
    let place = "/dashboard/go-live/manifest";
    let good = serde_json::to_string_pretty(&manifest(true)).expect("JSON");
    let wrong = good.replace("\"min\": 499", "\"min\": -499");
    let line = wrong.lines().position(|line| line.contains("\"min\": -499")).expect("there") + 1;
    let told = partner.act(place, place, &[("manifest", &wrong), ("act", "review")]).await;
    assert!((400..500).contains(&told.status) && told.text.contains(&format!("Line {line}")), "{}", told.text);
    led_to(&partner.act(place, place, &[("manifest", &good), ("act", "review")]).await);
    let place = "/dashboard/go-live/connection";
    led_to(&partner.act(place, place, &[("kind", "mcp"), ("url", &server.url)]).await);

    // The team's side.
    let mut team = Browser::of_team(&platform.gateway, platform.gateway.admin_token()).await;
    let id = &business.id;
    let at = format!("/console/partners/{id}");
    assert_eq!(led_to(&team.act(&at, &format!("{at}/probe"), &[]).await), format!("{at}?done=probed"));
    assert_eq!(platform.test(&business).await["passed"], true);
    let review = between(&team.page("/console").await, "href=\"/console/reviews/", "\"").to_owned();
    let place = format!("/console/reviews/{review}");
    let page = team.page(&place).await;
    let confirmed: Vec<&str> =
        page.split("name=\"confirmed\" value=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(!confirmed.is_empty(), "{page}");
    let early = team.act(&place, &place, &[("decision", "approve"), ("notes", "As agreed.")]).await;
    assert!((400..500).contains(&early.status) && early.text.contains("As agreed."), "{}", early.text);
    let mut fields = vec![("decision", "approve"), ("notes", "As agreed.")];
    fields.extend(confirmed.iter().map(|code| ("confirmed", *code)));
    assert!(led_to(&team.act(&place, &place, &fields).await).ends_with("done=approved"));
    let switch_on = format!("{at}/switch-on");
    assert!(team.page(&switch_on).await.contains("Before"), "it says what changes");
    assert!(led_to(&team.act(&switch_on, &switch_on, &[]).await).ends_with("done=switched-on"));
    platform.routed(&[id]).await;

    // From a request to its explained ranking, and its replay.
    let found = platform.gateway.found(&request()).await;
    let of_request = format!("/console/rankings?request_id={}", found["request_id"].as_str().expect("named"));
    let linked = "href=\"/console/rankings/";
    // No search waits for its receipt to be kept.
    let page = eventually("there is no receipt", &platform.gateway, async || {
        Some(team.page(&of_request).await).filter(|page| page.contains(linked))
    })
    .await;
    let receipt = between(&page, linked, "\"").to_owned();
    let ranking = format!("/console/rankings/{receipt}");
    let page = team.page(&ranking).await;
    assert!(page.contains("class=\"axis-safety\"") && page.contains(id.as_str()), "{page}");
    let option = found["options"][0]["option"]["id"].as_str().or(found["options"][0]["id"].as_str());
    assert!(option.is_none_or(|option| page.contains(option)), "{page}");
    let replayed = team.act(&ranking, &format!("{ranking}/replay"), &[]).await;
    assert!(replayed.status == 200 && replayed.text.contains("same"), "{}", replayed.text);

    // The playground says of which intent an utterance is, and what a search answers.
    let tried = team.page("/console/playground?utterance=my+car+AC+blows+warm+air").await;
    assert!(tried.contains("It is for auto.book_ac_service."), "{tried}");
    let fields = [("intent", "auto.book_ac_service"), ("request", &request().to_string())];
    let searched = team.act("/console/playground", "/console/playground/search", &fields).await;
    assert!(searched.status == 200 && searched.text.contains("why they stand so"), "{}", searched.text);
    let fields = [("intent", "auto.book_ac_service"), ("request", "{\"vehicle\": 1}")];
    let refused = team.act("/console/playground", "/console/playground/search", &fields).await;
    assert!((400..500).contains(&refused.status) && refused.text.contains("/vehicle"), "{}", refused.text);

    // What will change is announced, and seen by the partner.
    let place = "/console/notices";
    let fields = [
        ("kind", "other"),
        ("title", "A pause <script>"),
        ("text", "For an hour."),
        ("version", ""),
        ("intents", "auto.book_ac_service"),
        ("takes_effect_at", "2020-01-01T00:00:00Z"),
    ];
    let late = team.act(place, place, &fields).await;
    assert!((400..500).contains(&late.status) && late.text.contains("NOTICE_TOO_SHORT"), "{}", late.text);
    let ahead = (jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24)).to_string();
    let mut fields = fields;
    fields[5].1 = &ahead;
    assert!(led_to(&team.act(place, place, &fields).await).ends_with("done=published"));
    let seen = partner.page("/dashboard/notices").await;
    assert!(seen.contains("One thing will change.") && seen.contains("A pause &#60;script&#62;"), "{seen}");
    platform.mails_saying(&business.email, "For an hour.", 1).await;
    let notice = between(&team.page(place).await, "href=\"/console/notices/", "\"").to_owned();
    let notice = format!("{place}/{notice}");
    let withdrawn = team.act(&notice, &format!("{notice}/withdraw"), &[("reason", "No pause is needed.")]).await;
    assert!(led_to(&withdrawn).ends_with("done=notice-withdrawn"));
    assert!(partner.page("/dashboard/notices").await.contains("No pause is needed."));
    platform.mails_saying(&business.email, "No pause is needed.", 1).await;

    // Every page that has the name shows it as text.
    for (browser, path) in [(&mut partner, "/dashboard"), (&mut team, at.as_str())] {
        let page = browser.page(path).await;
        assert!(page.contains("Cool&#60;script&#62;alert(1)") && !page.contains("<script>"), "{page}");
    }

    // Out again, with a reason that the partner is told.
    let suspend = format!("{at}/suspend");
    let unsaid = team.act(&suspend, &suspend, &[("reason", "")]).await;
    assert!((400..500).contains(&unsaid.status), "{}", unsaid.text);
    let long = "Not honoured. ".repeat(40);
    let told = team.act(&suspend, &suspend, &[("reason", &long)]).await;
    assert!(
        (400..500).contains(&told.status) && told.text.contains(long.trim()),
        "what was typed stays: {}",
        told.text
    );
    led_to(&team.act(&suspend, &suspend, &[("reason", "Bookings were not honoured.")]).await);
    platform.routed(&[]).await;
    assert!(partner.page("/dashboard").await.contains("suspended"));
    let audit = team.page(&format!("/console/audit?subject={id}")).await;
    assert!(audit.contains("connection.suspended") && audit.contains("Bookings were not honoured."), "{audit}");
}

/// Nothing of another partner, and nothing of any rank, is on a partner's page.
#[tokio::test(flavor = "multi_thread")]
async fn a_partner_sees_nothing_of_others() {
    let platform = Platform::start_with(None, PAGES);
    let own = platform.ready(EMAIL).await;
    let other = platform.ready("ravi@otherworkshop.example").await;
    for business in [&own.business, &other.business] {
        platform.admin(&business.admin_path("switch-on"), json!({})).await;
    }
    let mut ids = [own.business.id.as_str(), &other.business.id];
    ids.sort_unstable();
    platform.routed(&ids).await;
    let found = platform.gateway.found(&request()).await;
    assert!(found["options"].as_array().is_some_and(|options| options.len() > 1), "{found}");

    let mut partner = sign_in(&platform, EMAIL, 1).await;
    let (mut seen, mut left) = (Vec::new(), vec!["/dashboard".to_owned()]);
    while let Some(path) = left.pop() {
        if seen.contains(&path) {
            continue;
        }
        let page = partner.page(&path).await;
        for hidden in [other.business.id.as_str(), &other.business.email, "rank_", "/console/"] {
            let page = page.replace("/console/assets/", "");
            assert!(!page.contains(hidden), "{path} has {hidden}: {page}");
        }
        left.extend(super::browser::links(&page, "/dashboard"));
        seen.push(path);
    }
    assert!(seen.len() > 8, "{seen:?}");
    // Nor by another's address, nor by a page of the team.
    for path in ["/console", "/console/partners", &format!("/console/partners/{}", other.business.id)] {
        assert_eq!(partner.get(path).await.status, 303, "{path}");
    }
}

/// Pages may have an address of their own; they are nowhere else then.
#[tokio::test(flavor = "multi_thread")]
async fn pages_can_have_an_address_of_their_own() {
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
    let gateway = crate::harness::Gateway::start(&GatewayOptions {
        contracts: vec![ac_contract()],
        extra: format!("{PAGES}listen = \"127.0.0.1:{port}\"\n"),
        ..GatewayOptions::default()
    });
    assert_eq!(Browser::new(&gateway).get("/console/sign-in").await.status, 404);
    let own = reqwest::get(format!("http://127.0.0.1:{port}/console/sign-in")).await.expect("it answers");
    assert_eq!(own.status(), 200);
    let api = reqwest::get(format!("http://127.0.0.1:{port}/health")).await.expect("it answers");
    assert_eq!(api.status(), 404, "the API is not there");
}
