//! A business from sign-up to its first routed search to its suspension, over HTTP, with real SMTP, on each store.
#![expect(clippy::print_stderr, reason = "the stores and the figures are for whoever asks with --nocapture")]

mod access;
mod events;
mod flow;
mod kills;
mod replicas;
mod steps;
mod transitions;
mod upgrades;
mod wrapped;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use test_servers::postgres::Postgres;
use test_servers::smtp::{SmtpOptions, SmtpServer};

pub(crate) use self::access::resigned;
pub(crate) use self::flow::Page;
pub(crate) use self::steps::Ready;
use crate::harness::{Answer, Gateway, GatewayOptions, ac_contract, eventually};

pub(crate) const INTENT: &str = "auto.book_ac_service";
/// How long a mail or a change of who is routed may take.
const SOON: Duration = Duration::from_secs(20);
/// How often is looked whether it has come.
const LOOK: Duration = Duration::from_millis(20);

/// The stores that a test runs on; PostgreSQL where it is installed.
pub(crate) fn stores() -> Vec<(&'static str, Option<String>)> {
    let mut stores = vec![("SQLite", None)];
    match Postgres::shared() {
        Ok(Some(server)) => stores.push(("PostgreSQL", Some(server.database().expect("a database")))),
        Ok(None) => eprintln!("PostgreSQL is not installed: this test ran on SQLite alone"),
        Err(error) => panic!("{error}"),
    }
    stores
}

/// A gateway with a store and an SMTP server of its own.
pub(crate) struct Platform {
    pub(crate) gateway: Gateway,
    smtp: SmtpServer,
    #[expect(dead_code, reason = "the mails go with it")]
    mails: TempDir,
}

impl Platform {
    pub(crate) fn start(store: Option<&str>) -> Self {
        Self::start_with(store, "")
    }

    /// The same with more of the configuration.
    pub(crate) fn start_with(store: Option<&str>, more: &str) -> Self {
        let mails = tempfile::tempdir().expect("a temporary folder");
        let smtp = SmtpServer::start(mails.path(), &SmtpOptions::default()).expect("the SMTP server starts");
        let options = GatewayOptions {
            contracts: vec![ac_contract()],
            extra: format!("{}{more}", settings(store, smtp.port())),
            ..GatewayOptions::default()
        };
        Self { gateway: Gateway::start(&options), smtp, mails }
    }

    /// The same platform after its gateway was stopped and started again.
    pub(crate) fn restart(self) -> Self {
        Self { gateway: self.gateway.restart(), ..self }
    }

    /// Waits for a mail to an address, the `nth` of all, and returns its text.
    pub(crate) async fn mail(&self, to: &str, nth: usize) -> String {
        eventually(&format!("no mail {nth} to {to}"), &self.gateway, async || {
            let mails = self.smtp.mails().expect("readable").into_iter();
            let mut to_them = mails.filter(|mail| mail.recipients.iter().any(|recipient| recipient == to));
            to_them.nth(nth).map(|mail| mail.text)
        })
        .await
    }

    /// To whom mails went so far, one for each mail.
    pub(crate) fn recipients(&self) -> Vec<String> {
        let mails = self.smtp.mails().expect("readable");
        mails.into_iter().flat_map(|mail| mail.recipients).collect()
    }

    /// The texts of all mails to somebody that say something, once there are so many.
    pub(crate) async fn mails_saying(&self, to: &str, said: &str, count: usize) -> Vec<String> {
        eventually(&format!("no {count} mails to {to} say `{said}`"), &self.gateway, async || {
            let mails = self.smtp.mails().expect("readable").into_iter();
            let to_them = mails.filter(|mail| mail.recipients.iter().any(|recipient| recipient == to));
            let found: Vec<String> = to_them.map(|mail| mail.text).filter(|text| text.contains(said)).collect();
            (found.len() >= count).then_some(found)
        })
        .await
    }

    pub(crate) async fn post(&self, path: &str, token: &str, body: Value) -> Answer {
        self.gateway.call("POST", path, Some(token), Some(&body)).await
    }

    pub(crate) async fn put(&self, path: &str, token: &str, body: Value) -> Answer {
        self.gateway.call("PUT", path, Some(token), Some(&body)).await
    }

    async fn get(&self, path: &str, token: &str) -> Answer {
        self.gateway.call("GET", path, Some(token), None).await
    }

    /// What an admin does; it must succeed.
    pub(crate) async fn admin(&self, path: &str, body: Value) -> Value {
        let answer = self.post(path, self.gateway.admin_token(), body).await;
        assert!(answer.status < 300, "{path}: {} {}", answer.status, answer.body);
        answer.body
    }

    /// Opens an account.
    pub(crate) async fn sign_up(&self, email: &str) -> Business {
        let body = json!({"email": email, "business_name": "CoolCar"});
        let sent = self.gateway.call("POST", "/api/v1/business/sign-up", None, Some(&body)).await;
        assert_eq!(sent.status, 202, "{}", sent.body);
        let code = code(&self.mail(email, 0).await);
        let body = json!({"email": email, "code": code});
        let entered = self.gateway.call("POST", "/api/v1/business/sign-up/verify", None, Some(&body)).await;
        assert_eq!(entered.status, 200, "{}", entered.body);
        let text = |member: &str| entered.body[member].as_str().expect("a text").to_owned();
        assert_eq!(entered.body["account_id"], entered.body["partner_id"]);
        Business { id: text("account_id"), token: text("token"), email: email.to_owned(), code }
    }

    /// Waits until a search calls exactly these partners.
    pub(crate) async fn routed(&self, expected: &[&str]) {
        let deadline = Instant::now() + SOON;
        loop {
            let answer = self.gateway.search(&crate::harness::request()).await;
            let mut called: Vec<&str> = answer.body["partners"]
                .as_array()
                .map(|partners| partners.iter().filter_map(|partner| partner["partner"].as_str()).collect())
                .unwrap_or_default();
            called.sort_unstable();
            if called == expected {
                return;
            }
            assert!(Instant::now() < deadline, "expected {expected:?}, called {called:?}: {}", answer.body);
            tokio::time::sleep(LOOK).await;
        }
    }
}

pub(crate) fn settings(store: Option<&str>, smtp_port: u16) -> String {
    let store = store.map(|url| format!("url = {url:?}")).unwrap_or_default();
    format!(
        "[platform]\nbase_url = \"https://gateway.example\"\n[store]\n{store}\n\
         [auth]\nsigning_key = \"{SIGNING_KEY}\"\nmaster_key = \"{MASTER_KEY}\"\n\
         [mail]\nmode = \"smtp\"\nhost = \"127.0.0.1\"\nport = {smtp_port}\ntls = \"none\"\nfrom = \"no-reply@gateway.example\"\n"
    )
}

/// Another gateway on a platform's store, with a folder of its own.
pub(crate) fn replica(platform: &Platform, store: &str) -> Gateway {
    let extra = settings(Some(store), platform.smtp.port());
    Gateway::start(&GatewayOptions { contracts: vec![ac_contract()], extra, ..GatewayOptions::default() })
}

pub(crate) const SIGNING_KEY: &str = "end-to-end-signing-key-of-more-than-32-bytes";
pub(crate) const MASTER_KEY: &str = "end-to-end-master-key-of-more-than-32-bytes-too";

/// A business with an account.
pub(crate) struct Business {
    pub(crate) id: String,
    pub(crate) token: String,
    pub(crate) email: String,
    pub(crate) code: String,
}

impl Business {
    pub(crate) fn path(&self, resource: &str) -> String {
        format!("/api/v1/business/tier1/{resource}/{}", self.id)
    }

    pub(crate) fn admin_path(&self, step: &str) -> String {
        format!("/api/v1/mcp-admin/{}/{step}", self.id)
    }
}

/// The six digits in a mail.
pub(crate) fn code(text: &str) -> String {
    let digits = |word: &&str| word.len() == 6 && word.bytes().all(|byte| byte.is_ascii_digit());
    text.split_whitespace().find(digits).unwrap_or_else(|| panic!("no code in {text}")).to_owned()
}

pub(crate) fn manifest(for_review: bool) -> Value {
    json!({
        "businessName": "CoolCar",
        "submitForReview": for_review,
        "intents": [{
            "intent": INTENT,
            "domain": "auto",
            "pricing": {"min": 499, "max": 6999, "currency": "INR"},
            "service_area": ["Bangalore"],
            "description": "Car AC service at the doorstep or in the workshop.",
            "ttbs_signals": {"time": 0.6, "taste": 0.5, "budget": 0.7, "safety": 0.8},
            "availability": "24x7",
            "intent_version": "1.0.0",
        }],
    })
}
