//! Two gateways on one PostgreSQL: what is done at one holds at the other, and what both do at once is done once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use test_servers::postgres::Postgres;

use super::{LOOK, MASTER_KEY, Platform, SOON, code, manifest, settings};
use crate::harness::{Answer, Gateway, GatewayOptions, ac_contract, request};

/// How soon a change made at one gateway is in force at the others (issue: replicas).
const IN_FORCE_MAX: Duration = Duration::from_secs(1);
/// Accounts opened while both gateways send mail.
const ACCOUNTS_MIN: usize = 30;
/// Reviews that are decided at both gateways at once.
const REVIEWS: usize = 12;
/// What the second gateway writes as the sender of its mails, so that the two can be told apart.
const SECOND_SENDER: &str = "replica@gateway.example";

/// Two gateways with folders of their own, and the SMTP server that both send through.
struct Replicas {
    /// The first, as any test has it.
    platform: Platform,
    second: Gateway,
}

impl Replicas {
    /// Starts them on a new database; `None` where PostgreSQL is not installed.
    fn start() -> Option<Self> {
        let server = Postgres::shared().unwrap_or_else(|error| panic!("{error}"));
        let Some(server) = server else {
            eprintln!("PostgreSQL is not installed: replicas were not tested");
            return None;
        };
        let store = server.database().expect("a database");
        let platform = Platform::start(Some(&store));
        let extra = settings(Some(&store), platform.smtp.port()).replace("no-reply@gateway.example", SECOND_SENDER);
        assert!(extra.contains(SECOND_SENDER) && extra.contains(MASTER_KEY));
        let options = GatewayOptions { contracts: vec![ac_contract()], extra, ..GatewayOptions::default() };
        Some(Self { platform, second: Gateway::start(&options) })
    }

    fn both(&self) -> [&Gateway; 2] {
        [&self.platform.gateway, &self.second]
    }

    /// The same request to both at the same moment.
    async fn at_both(&self, path: &str, token: Option<&str>, bodies: [Value; 2]) -> [Answer; 2] {
        let [first, second] = self.both();
        let (one, other) = tokio::join!(
            first.call("POST", path, token, Some(&bodies[0])),
            second.call("POST", path, token, Some(&bodies[1]))
        );
        [one, other]
    }
}

/// Whether a search at a gateway calls a partner.
async fn calls(gateway: &Gateway, partner: &str) -> bool {
    let found = gateway.found(&request()).await;
    let partners = found["partners"].as_array().expect("a list");
    partners.iter().any(|outcome| outcome["partner"] == partner && outcome["status"] == "answered")
}

/// Searches until the partner is called, or not called any more. How long after `since` the first search began that
/// shows it.
async fn in_force(gateway: &Gateway, partner: &str, called: bool, since: Instant) -> Duration {
    loop {
        let begun = since.elapsed();
        if calls(gateway, partner).await == called {
            return begun;
        }
        assert!(since.elapsed() < SOON, "{partner} is still{} called", if called { " not" } else { "" });
        tokio::time::sleep(LOOK).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_done_at_one_gateway_holds_at_the_other() {
    let Some(replicas) = Replicas::start() else { return };
    let Replicas { platform, second } = &replicas;
    let ready = platform.ready("ops@coolcar.example").await;
    let business = &ready.business;

    // The account and its token are known.
    let overview = second.call("GET", &business.path("accounts"), Some(&business.token), None).await;
    assert_eq!((overview.status, &overview.body["account_id"]), (200, &json!(business.id)), "{}", overview.body);

    // Live traffic, both ways.
    assert!(!calls(second, &business.id).await);
    platform.admin(&business.admin_path("switch-on"), json!({})).await;
    let on = in_force(second, &business.id, true, Instant::now()).await;
    let reason = json!({"reason": "relabelled a top-up"});
    let suspend = business.admin_path("suspend");
    let suspended = second.call("POST", &suspend, Some(second.admin_token()), Some(&reason)).await;
    let since = Instant::now();
    assert_eq!(suspended.status, 200, "{}", suspended.body);
    let (off, off_there) = tokio::join!(
        in_force(&platform.gateway, &business.id, false, since),
        in_force(second, &business.id, false, since)
    );
    let measured = format!("switched on after {on:?}, suspended after {off:?}, where it was told after {off_there:?}");
    eprintln!("in force at the other gateway: {measured}");
    assert!([on, off, off_there].iter().all(|after| *after < IN_FORCE_MAX), "{measured}");

    // A secret that has leaked is refused at the other by the very next request.
    let credentials = business.path("credentials");
    let issued = platform.post(&credentials, &business.token, json!({})).await;
    let mut secret = issued.body["client_secret"].clone();
    let client_id = issued.body["client_id"].clone();
    let enter = async |gateway: &Gateway, secret: &Value| {
        let body = json!({"client_id": client_id, "client_secret": secret});
        gateway.call("POST", "/api/v1/business/token", None, Some(&body)).await.status
    };
    assert_eq!(enter(second, &secret).await, 200);
    for round in 0..10 {
        let [at, other] = if round % 2 == 0 { [&platform.gateway, second] } else { [second, &platform.gateway] };
        let body = json!({"at_once": true});
        let rotated = at.call("POST", &format!("{credentials}/rotate"), Some(&business.token), Some(&body)).await;
        assert_eq!(rotated.status, 200, "{}", rotated.body);
        assert_eq!(enter(other, &secret).await, 401, "round {round}");
        secret = rotated.body["client_secret"].clone();
        assert_eq!(enter(other, &secret).await, 200, "round {round}");
    }
}

impl Replicas {
    /// Asks for codes at both gateways, one after the other at each, until there are enough and both have sent some.
    async fn sign_ups(&self) -> Vec<String> {
        let deadline = Instant::now() + SOON;
        let stream = async |at: usize| {
            let mut addresses = Vec::new();
            loop {
                let email = format!("ops@business-{at}-{}.example", addresses.len());
                let body = json!({"email": email, "business_name": "CoolCar"});
                let sent = self.both()[at].call("POST", "/api/v1/business/sign-up", None, Some(&body)).await;
                assert_eq!(sent.status, 202, "{}", sent.body);
                addresses.push(email);
                if addresses.len() < ACCOUNTS_MIN / 2 {
                    continue;
                }
                if self.senders().len() == 2 {
                    return addresses;
                }
                assert!(Instant::now() < deadline, "not both gateways send mail: {:?}", self.senders());
                tokio::time::sleep(LOOK).await;
            }
        };
        let (mut one, other) = tokio::join!(stream(0), stream(1));
        one.extend(other);
        one
    }

    fn senders(&self) -> BTreeSet<String> {
        self.platform.smtp.mails().expect("readable").into_iter().map(|mail| mail.sender).collect()
    }

    /// Waits until so many mails have come to each address; their texts.
    async fn mails(&self, addresses: &[String], each: usize) -> BTreeMap<String, Vec<String>> {
        let deadline = Instant::now() + SOON;
        loop {
            let mut mails = BTreeMap::<String, Vec<String>>::new();
            for mail in self.platform.smtp.mails().expect("readable") {
                mails.entry(mail.recipients.join(",")).or_default().push(mail.text);
            }
            if addresses.iter().all(|address| mails.get(address).is_some_and(|mails| mails.len() >= each)) {
                return mails;
            }
            assert!(Instant::now() < deadline, "mails are missing: {:?}", mails.keys());
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Two admins reject the same review at once; exactly one does, and the partner hears of that one.
    async fn reject_twice(&self, account: &str, token: &str) -> String {
        let path = format!("/api/v1/business/tier1/manifest/{account}");
        let sent = self.platform.post(&path, token, manifest(true)).await;
        let review = sent.body["review"].as_str().unwrap_or_else(|| panic!("{}", sent.body));
        let path = format!("/api/v1/admin/reviews/{review}");
        let bodies =
            ["the first", "the second"].map(|who| json!({"decision": "reject", "notes": format!("says {who}")}));
        let admin = Some(self.platform.gateway.admin_token());
        let answers = self.at_both(&format!("{path}/decision"), admin, bodies).await;
        let mut statuses = answers.each_ref().map(|answer| answer.status);
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{answers:?}");
        let lost = answers.iter().find(|answer| answer.status == 409).expect("one");
        assert_eq!(lost.body["error"]["code"], "REVIEW_CLOSED", "{}", lost.body);
        let notes = if answers[0].status == 200 { "says the first" } else { "says the second" };
        for gateway in self.both() {
            let shown = gateway.call("GET", &path, admin, None).await;
            assert_eq!(shown.body["decision"]["notes"], notes, "{}", shown.body);
        }
        notes.to_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_both_gateways_do_at_once_is_done_once() {
    let Some(replicas) = Replicas::start() else { return };
    let addresses = replicas.sign_ups().await;
    let mails = replicas.mails(&addresses, 1).await;

    // The same code at both at the same moment opens the account once.
    let mut accounts = Vec::new();
    for address in &addresses {
        let body = json!({"email": address, "code": code(&mails[address][0])});
        let path = "/api/v1/business/sign-up/verify";
        let answers = replicas.at_both(path, None, [body.clone(), body]).await;
        let mut statuses = answers.each_ref().map(|answer| answer.status);
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 401], "{address}: {answers:?}");
        let entered = answers.into_iter().find(|answer| answer.status == 200).expect("one").body;
        assert_eq!(entered["created"], true, "{entered}");
        let text = |member: &str| entered[member].as_str().expect("a text").to_owned();
        accounts.push((text("account_id"), text("token"), address.clone()));
    }
    let listed = replicas.second.admin_get("/accounts?limit=500").await;
    assert_eq!(listed["accounts"].as_array().map(Vec::len), Some(addresses.len()));

    // Two admins, one review.
    let decided = join_all(
        accounts[..REVIEWS]
            .iter()
            .map(async |(account, token, address)| (address.clone(), replicas.reject_twice(account, token).await)),
    );
    let decided: BTreeMap<String, String> = decided.await.into_iter().collect();
    let told: Vec<String> = decided.keys().cloned().collect();
    replicas.mails(&told, 2).await;
    let verdict = replicas.second.admin_get("/audit/verify").await;
    assert_eq!(verdict["ok"], true, "{verdict}");

    // Every mail went out once. Once both gateways have stopped, no further one can come.
    let Replicas { platform: Platform { gateway, smtp, .. }, second } = replicas;
    assert!(gateway.server.stop() && second.server.stop(), "clean stops");
    let mails = smtp.mails().expect("readable");
    eprintln!("{} mails for {} addresses", mails.len(), addresses.len());
    for address in &addresses {
        let texts: Vec<&str> =
            mails.iter().filter(|mail| mail.recipients == [address.as_str()]).map(|mail| &*mail.text).collect();
        match decided.get(address) {
            None => assert_eq!(texts.len(), 1, "{address}: {texts:?}"),
            Some(notes) => {
                assert_eq!(texts.len(), 2, "{address}: {texts:?}");
                assert!(texts.iter().any(|text| text.contains(notes)), "{address}: {texts:?}");
            }
        }
    }
    assert_eq!(mails.len(), addresses.len() + decided.len());
}
