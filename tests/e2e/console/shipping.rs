//! The team's daily ways by pages: a version that is tried on what was ranked, rolled out, made live and taken back; a complaint from its
//! order to the ranking that explains it; what a manifest changes; what the gateway runs by.

use serde_json::json;

use super::PAGES;
use super::browser::{Browser, links};
use super::entry::sign_in;
use super::journeys::{between, led_to};
use crate::calls::booking;
use crate::harness::{eventually, request, safety_first_contract};
use crate::onboarding::{INTENT, MASTER_KEY, Platform, SIGNING_KEY, manifest};

const RANKING: &str = "href=\"/console/rankings/";

/// A platform with two live partners.
async fn with_two_partners() -> (Platform, [crate::onboarding::Ready; 2]) {
    let platform = Platform::start_with(None, PAGES);
    let ready = [platform.ready("asha@coolcar.example").await, platform.ready("ravi@otherworkshop.example").await];
    for one in &ready {
        platform.admin(&one.business.admin_path("switch-on"), json!({})).await;
    }
    let mut ids = ready.each_ref().map(|one| one.business.id.as_str());
    ids.sort_unstable();
    platform.routed(&ids).await;
    (platform, ready)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_is_tried_rolled_out_and_taken_back_by_pages() {
    let (platform, _partners) = with_two_partners().await;
    let gateway = &platform.gateway;
    let mut team = Browser::of_team(gateway, gateway.admin_token()).await;
    let live = gateway.admin_get("/contracts").await["contracts"][0]["digest"].as_str().expect("a digest").to_owned();
    gateway.found(&request()).await;
    let component: &'static [u8] = std::fs::read(safety_first_contract()).expect("readable").leak();
    let path = "/api/v1/admin/contracts?activate=false";
    let loaded = gateway.post_file(path, "application/wasm", component, gateway.admin_token()).await;
    assert_eq!((loaded.status, &loaded.body["live"]), (201, &json!(false)), "{}", loaded.body);
    let next = loaded.body["digest"].as_str().expect("a digest").to_owned();

    // On one ranking: found by its intent, ranked by the other version.
    let list = format!("/console/rankings?intent={INTENT}&since=2000-01-01T00%3A00");
    let page = eventually("there is no receipt", gateway, async || {
        Some(team.page(&list).await).filter(|page| page.contains(RANKING))
    })
    .await;
    // Whoever waited until the partners were routed has searched as well.
    assert!(page.contains("One ranking is kept.") || page.contains("rankings, the newest first."), "{page}");
    let ranking = format!("/console/rankings/{}", between(&page, RANKING, "\""));
    let none = team.page(&format!("/console/rankings?intent={INTENT}&until=2000-01-01T00%3A00")).await;
    assert!(none.contains("No such ranking is kept.") && !none.contains(RANKING), "{none}");
    let bad = team.get("/console/rankings?intent=auto.book_ac_service&since=yesterday").await;
    assert!(bad.status == 400 && bad.text.contains("INVALID_REQUEST"), "{}", bad.text);
    assert!(team.page(&ranking).await.contains(&format!("<option value=\"{next}\"")), "it can be chosen");
    let replay = format!("{ranking}/replay");
    let under = team.act(&ranking, &replay, &[("under", &next)]).await;
    assert_eq!(under.status, 200, "{}", under.text);
    assert!(under.text.contains("As version 1.0.1 ranks it") && !under.text.contains("not the same"), "{}", under.text);
    assert!(under.text.contains("By how much more each score counts in the total"), "{}", under.text);
    let moved = ["stays 1st", ", is 1st"].iter().any(|words| under.text.contains(words));
    assert!(moved, "it says who is first: {}", under.text);
    let unknown = team.act(&ranking, &replay, &[("under", "9.9.9")]).await;
    assert!(unknown.status == 404 && unknown.text.contains("Options in their order"), "{}", unknown.text);

    // Rolled out, and taken back.
    let intent = format!("/console/intents/{INTENT}");
    let promote = format!("{intent}/promote");
    let fields = [("digest", next.as_str()), ("reason", "Safety first.")];
    let begun = team.act(&format!("{promote}?digest={next}"), &promote, &fields).await;
    assert_eq!(led_to(&begun), format!("{intent}?done=rollout"));
    assert!(team.page(&intent).await.contains("1.0.1"));
    let aborted = [("act", "abort"), ("reason", "Enough was seen.")];
    let rollout = format!("{intent}/rollout");
    assert_eq!(
        led_to(&team.act(&format!("{rollout}?act=abort"), &rollout, &aborted).await),
        format!("{intent}?done=rollout")
    );
    assert_eq!(team.get(&format!("{rollout}?act=abort")).await.status, 404, "there is none any more");

    // Made live, and back again.
    let activate = format!("{intent}/activate");
    for (digest, version) in [(&next, "1.0.1"), (&live, "1.0.0")] {
        let asked = format!("{activate}?digest={digest}");
        assert!(team.page(&asked).await.contains("Before"), "it says what changes");
        led_to(&team.act(&asked, &activate, &[("digest", digest)]).await);
        gateway.wait_for_version(version).await;
    }
    // A gateway says what serves there a moment after it does.
    eventually("version 1.0.0 does not serve", gateway, async || {
        team.page(&intent).await.contains("Version 1.0.0 serves at every gateway.").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_complaint_is_explained_in_three_clicks() {
    let (platform, _partners) = with_two_partners().await;
    let gateway = &platform.gateway;
    let found = gateway.found(&request()).await;
    let request_id = found["request_id"].as_str().expect("named");
    let mut options = found["options"].as_array().expect("a list").iter();
    let option = options.find(|option| option["bookable"] == true).expect("a bookable option");
    let body = json!({"reference": option["reference"], "arguments": booking(request_id)});
    let booked = gateway.post(&format!("/api/v1/intents/{INTENT}/tools/create_ac_service_booking"), &body).await;
    assert_eq!(booked.status, 200, "{}", booked.body);
    let mut team = Browser::of_team(gateway, gateway.admin_token()).await;

    // What the customer has said is entered; the order is opened; its ranking is opened.
    let found = eventually("the order is not listed", gateway, async || {
        let page = team.page(&format!("/console/orders?known_as={request_id}")).await;
        links(&page, "/console/orders/ord_").into_iter().next()
    })
    .await;
    let ranking = eventually("the order has no ranking", gateway, async || {
        links(&team.page(&found).await, "/console/rankings/rank_").into_iter().next()
    })
    .await;
    let page = team.page(&ranking).await;
    assert!(page.contains("Why this one stood above that one") && page.contains("stands above"), "{page}");
    // The order's own identifier leads there as well.
    let order = found.rsplit('/').next().expect("it ends");
    let shown = team.get(&format!("/console/rankings?request_id={order}")).await;
    assert_eq!(led_to(&shown), found);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_shows_what_a_manifest_changes() {
    let platform = Platform::start_with(None, PAGES);
    let ready = platform.ready("asha@coolcar.example").await;
    let gateway = &platform.gateway;
    let business = &ready.business;
    let mut changed = manifest(true);
    changed["intents"][0]["pricing"]["min"] = json!(599);
    changed["intents"][0]["service_area"] = json!(["Mysore", "Bangalore"]);
    changed["intents"][0]["description"] = json!("<script>alert(1)</script>");
    let sent = platform.post(&business.path("manifest"), &business.token, changed).await;
    let review = sent.body["review"].as_str().unwrap_or_else(|| panic!("{}", sent.body)).to_owned();
    let mut team = Browser::of_team(gateway, gateway.admin_token()).await;
    let page = team.page(&format!("/console/reviews/{review}")).await;
    let told = between(&page, "Against what is in force", "The whole manifest");
    for part in [
        "3 members differ from submission 1",
        "<code>/intents/auto.book_ac_service/pricing/min</code>",
        "<code>499</code></td><td><code>599</code>",
        "<code>/intents/auto.book_ac_service/service_area/-</code>",
        "added",
        "&#60;script&#62;alert(1)",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("<script"));
    // What is decided is in force, and differs from nothing.
    assert_eq!(platform.decide(&review, "approve").await.status, 200);
    let page = team.page(&format!("/console/reviews/{review}")).await;
    assert!(page.contains("This submission is the one in force."), "{page}");

    // Tools, as they were accepted and as they are.
    let page = team.page(&format!("/console/partners/{}", business.id)).await;
    assert!(page.contains("as accepted") && page.contains("search_ac_service"), "{page}");
    let mut partner = sign_in(&platform, &business.email, 1).await;
    let page = partner.page("/dashboard/go-live/connection").await;
    assert!(page.contains("as accepted") && page.contains("search_ac_service"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_team_sees_what_the_gateway_runs_by_and_no_secret_of_it() {
    let platform = Platform::start_with(None, PAGES);
    let gateway = &platform.gateway;
    let mut team = Browser::of_team(gateway, gateway.admin_token()).await;
    let page = team.page("/console/gateways").await;
    assert!(page.contains("One gateway lives, and each serves what is wanted."), "{page}");
    assert!(links(&page, "/console/settings").contains(&"/console/settings".to_owned()));
    let page = team.page("/console/settings").await;
    assert!(page.contains("<code>master_key</code>") && page.contains("set</span>"), "{page}");
    assert!(page.contains("gateway.toml:"), "it says where they were given");
    for secret in [MASTER_KEY, SIGNING_KEY] {
        assert!(!page.contains(secret));
    }
    let few = team.page("/console/settings?find=LISTEN&given=yes").await;
    assert!(few.contains("<code>listen</code>") && !few.contains("master_key"), "{few}");
    let watcher = gateway.token(&["--role", "admin", "--subject", "asha", "--scope", "watch"]);
    let mut watcher = Browser::of_team(gateway, &watcher).await;
    assert_eq!(watcher.get("/console/gateways").await.status, 200);
    let refused = watcher.get("/console/settings").await;
    assert!(refused.status == 403 && refused.text.contains("SCOPE_ALL_NEEDED"), "{}", refused.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partner_uploads_its_papers_and_writes_a_report_by_pages() {
    let platform = Platform::start_with(None, PAGES);
    let business = platform.sign_up("asha@coolcar.example").await;
    let mut partner = sign_in(&platform, &business.email, 1).await;
    let (place, to) = ("/dashboard/go-live/profile", "/dashboard/go-live/profile/documents");
    let pdf = ("../shop <b>.pdf", "application/pdf", &b"%PDF-1.7 the shop licence\r\n--"[..]);
    let kept = partner.upload(place, to, &[("kind", "shop")], Some(pdf)).await;
    assert_eq!(led_to(&kept), format!("{place}?done=saved"));
    let page = partner.page(place).await;
    assert!(page.contains("<td>shop _b_.pdf</td>") && !page.contains("<b>"), "{page}");
    // What is no such document, and what is too large, is refused with its reason.
    for (kind, file, status) in [
        ("shop", ("a.pdf", "application/pdf", &b"no paper"[..]), 400),
        ("passport", pdf, 400),
        ("shop", ("a.html", "text/html", &b"<p>"[..]), 415),
        ("shop", ("a.pdf", "application/pdf", &vec![b'x'; 5 * 1024 * 1024 + 1][..]), 413),
    ] {
        let refused = partner.upload(place, to, &[("kind", kind)], Some(file)).await;
        assert_eq!(refused.status, status, "{kind} {}: {}", file.0, refused.text);
    }
    assert_eq!(partner.upload(place, to, &[("kind", "shop")], None).await.status, 422);
    let foreign = partner.upload_with("0123", to, &[("kind", "shop")], Some(pdf)).await;
    assert!(foreign.status == 403 && foreign.text.contains("FORM_NOT_OF_THIS_SESSION"), "{}", foreign.text);
    assert_eq!(partner.page(place).await.matches("shop _b_.pdf").count(), 1);

    let page = partner.page("/dashboard/report?intent=auto.book_ac_service&external_id=it%27s&status=completed").await;
    assert!(
        page.contains("&#34;external_id&#34;:&#34;it&#39;s&#34;") && page.contains("report sign report.json"),
        "{page}"
    );
    assert!(page.contains(&format!("/api/v1/cpc/mcp_provider/{}", business.id)), "{page}");
    let page = partner.page("/dashboard/report?amount_inr=much").await;
    assert!(page.contains("amount_inr is no number: much") && !page.contains("report sign"), "{page}");
}
