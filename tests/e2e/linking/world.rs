//! A gateway, a partner that wants users to sign in, and its authorization server, all of them real.

use std::process::Command;

use serde_json::{Value, json};
use test_servers::tools::{linking_provider, mcp_node};

use super::browser::{Browser, Consent, Page};
use super::partner::SignInPartner;
use crate::calls::booking;
use crate::harness::{Answer, Gateway, GatewayOptions, PartnerEntry, Server, ac_contract, client, request};

/// What the gateway is called; a browser of these tests knows where it really is.
pub(crate) const HTTPS: &str = "https://gateway.example";
pub(crate) const PLAIN: &str = "http://localhost:8080";
pub(crate) const CREATE: &str = "create_ac_service_booking";
pub(crate) const CANCEL: &str = "cancel_ac_service_booking";
pub(crate) const INTENT: &str = "/api/v1/intents/auto.book_ac_service";
/// The partner.
pub(crate) const PARTNER: &str = "coolcar";

pub(crate) struct World {
    pub(crate) gateway: Gateway,
    pub(crate) partner: SignInPartner,
    pub(crate) provider: Server,
    pub(crate) named: &'static str,
    client: reqwest::Client,
    settings: String,
}

/// How a world differs from the usual one.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    /// What the gateway is called.
    pub(crate) named: &'static str,
    /// How long access tokens last.
    pub(crate) token_seconds: u32,
    /// Whether the authorization server takes client ID metadata documents.
    pub(crate) documents: bool,
    /// A PostgreSQL database in place of the gateway's own file.
    pub(crate) store: Option<&'a str>,
}

impl Default for Setting<'_> {
    fn default() -> Self {
        Self { named: PLAIN, token_seconds: 3_600, documents: false, store: None }
    }
}

impl World {
    pub(crate) async fn start(setting: Setting<'_>) -> Self {
        let Setting { named, token_seconds, documents, store } = setting;
        let logs = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new(mcp_node().expect("Node is there"));
        command.arg(linking_provider().expect("the provider is there")).arg(token_seconds.to_string());
        if documents {
            command.arg("--documents");
        }
        let provider = Server::start(&mut command, &logs.path().join("provider.log"));
        let partner = SignInPartner::start(&provider.url).await;
        let store = store.map(|url| format!("[store]\nurl = {url:?}\n")).unwrap_or_default();
        let settings = format!(
            "[linking]\nbase_url = {named:?}\n[outbound]\nrate_limits = false\nsearch_cache = false\n\
             [auth]\nmaster_key = {MASTER_KEY:?}\nsigning_key = {SIGNING_KEY:?}\n{store}"
        );
        let gateway = gateway(&partner, &provider.url, &settings);
        let world = Self { gateway, partner, provider, named, client: client(), settings };
        world.tell("gateway", &world.gateway.server.url).await;
        world
    }

    /// Another gateway over the same parts.
    pub(crate) fn replica(&self) -> Gateway {
        gateway(&self.partner, &self.provider.url, &self.settings)
    }

    pub(crate) fn browser(&self) -> Browser {
        Browser::new(self.named, &self.gateway.server.url)
    }

    /// A request of the orchestrator for a user.
    pub(crate) async fn ask(&self, method: &str, path: &str, user: &str, body: Option<&Value>) -> Answer {
        let token = self.gateway.orchestrator_token();
        self.gateway.call_for(user, method, path, Some(token), body).await
    }

    /// The reference of the one option that a search for a user finds.
    pub(crate) async fn option(&self, user: &str) -> String {
        let found = self.ask("POST", &format!("{INTENT}/search"), user, Some(&request())).await;
        let reference = found.body["options"][0]["reference"].as_str();
        reference.unwrap_or_else(|| panic!("{}\n{}", found.body, self.gateway.log())).to_owned()
    }

    pub(crate) async fn call(&self, tool: &str, user: &str, reference: &str, arguments: Value) -> Answer {
        let body = json!({"reference": reference, "arguments": arguments});
        self.ask("POST", &format!("{INTENT}/tools/{tool}"), user, Some(&body)).await
    }

    /// Books an option for a user; `id` names the request.
    pub(crate) async fn book(&self, user: &str, option: &str, id: &str) -> Answer {
        self.call(CREATE, user, option, booking(id)).await
    }

    /// The subject that a booking of the user is made for.
    pub(crate) async fn subject(&self, user: &str, option: &str, id: &str) -> String {
        let booked = self.book(user, option, id).await;
        assert_eq!(booked.status, 200, "{}\n{}", booked.body, self.gateway.log());
        booked.body["payload"]["echoed_subject"].as_str().expect("a text").to_owned()
    }

    /// An address where a user links an account.
    pub(crate) async fn offer(&self, user: &str) -> String {
        let offered = self.ask("POST", "/api/v1/links", user, Some(&json!({"partner": PARTNER}))).await;
        assert_eq!(offered.status, 200, "{}", offered.body);
        offered.body["link_url"].as_str().expect("a text").to_owned()
    }

    /// A user links the account of a subject.
    pub(crate) async fn link(&self, user: &str, subject: &str) -> Page {
        let page = self.browser().link(&self.offer(user).await, subject).await;
        assert_eq!(page.status, 200, "{}\n{}", page.text, self.gateway.log());
        page
    }

    /// A user's browser that is about to come back; with the address that it comes back to.
    pub(crate) async fn coming_back(&self, user: &str, consent: Consent) -> (Browser, String) {
        let mut browser = self.browser();
        let back = browser.sign_in(&self.offer(user).await, &format!("{user}-at-partner"), consent).await;
        (browser, back)
    }

    pub(crate) async fn links(&self, user: &str) -> Vec<Value> {
        let listed = self.ask("GET", "/api/v1/links", user, None).await;
        assert_eq!(listed.status, 200, "{}", listed.body);
        listed.body["links"].as_array().expect("a list").clone()
    }

    /// What the authorization server tells a test: `counts` or `secrets`.
    pub(crate) async fn told(&self, what: &str) -> Value {
        let url = format!("{}/test/{what}", self.provider.url);
        self.client.get(url).send().await.expect("an answer").json().await.expect("JSON")
    }

    /// Tells the authorization server something: `gateway`, or a token to `forget`.
    pub(crate) async fn tell(&self, what: &str, text: &str) {
        let told = self.client.post(format!("{}/test/{what}", self.provider.url)).body(text.to_owned());
        assert!(told.send().await.expect("an answer").status().is_success());
    }

    /// Posts a form to the authorization server.
    pub(crate) async fn post_to_server(&self, path: &str, form: &str) -> String {
        let asked = self.client.post(format!("{}{path}", self.provider.url));
        let asked = asked.header("content-type", "application/x-www-form-urlencoded").body(form.to_owned());
        asked.send().await.expect("an answer").text().await.expect("text")
    }

    /// What the audit log has done to links.
    pub(crate) async fn audited(&self) -> Vec<String> {
        let page = self.gateway.admin_get("/audit?limit=100").await;
        let entries = page["entries"].as_array().expect("a list").iter();
        let actions = entries.filter_map(|entry| entry["action"].as_str());
        actions.filter(|action| action.starts_with("link")).map(str::to_owned).collect()
    }

    /// The same world with a gateway that has started anew.
    pub(crate) fn restarted(self) -> Self {
        Self { gateway: self.gateway.restart(), ..self }
    }
}

fn gateway(partner: &SignInPartner, issuer: &str, settings: &str) -> Gateway {
    Gateway::start(&GatewayOptions {
        partners: vec![PartnerEntry { issuer: Some(issuer.to_owned()), ..PartnerEntry::new(PARTNER, &partner.url) }],
        contracts: vec![ac_contract()],
        extra: settings.to_owned(),
        ..GatewayOptions::default()
    })
}

/// Signs tokens and seals references; of a test alone.
const SIGNING_KEY: &str = "a-signing-key-of-the-tests-of-linking";
/// Seals what is in the store; likewise.
const MASTER_KEY: &str = "a-master-key-of-the-tests-of-linking";
