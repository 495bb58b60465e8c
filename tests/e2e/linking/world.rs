//! A gateway, a partner that wants users to sign in, and its authorization server, all of them real.

use std::process::Command;

use serde_json::{Value, json};
use test_servers::tools::{linking_provider, mcp_node};

use super::browser::{Browser, Consent, Page};
use super::partner::SignInPartner;
use crate::calls::booking;
use crate::harness::{Answer, Gateway, GatewayOptions, PartnerEntry, Server, ac_contract, request};

/// What the gateway is called; a browser of these tests knows where it really is.
pub(super) const HTTPS: &str = "https://gateway.example";
pub(super) const PLAIN: &str = "http://localhost:8080";
pub(super) const CREATE: &str = "create_ac_service_booking";
pub(super) const CANCEL: &str = "cancel_ac_service_booking";
const INTENT: &str = "/api/v1/intents/auto.book_ac_service";
/// The partner.
pub(super) const PARTNER: &str = "coolcar";

pub(super) struct World {
    pub(super) gateway: Gateway,
    pub(super) partner: SignInPartner,
    pub(super) provider: Server,
    pub(super) named: &'static str,
    client: reqwest::Client,
}

/// How a world differs from the usual one.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    /// What the gateway is called.
    pub(super) named: &'static str,
    /// How long access tokens last.
    pub(super) token_seconds: u32,
    /// Whether the authorization server takes client ID metadata documents.
    pub(super) documents: bool,
}

impl Default for Setting {
    fn default() -> Self {
        Self { named: PLAIN, token_seconds: 3_600, documents: false }
    }
}

impl World {
    pub(super) async fn start(setting: Setting) -> Self {
        let Setting { named, token_seconds, documents } = setting;
        let logs = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new(mcp_node().expect("Node is there"));
        command.arg(linking_provider().expect("the provider is there")).arg(token_seconds.to_string());
        if documents {
            command.arg("--documents");
        }
        let provider = Server::start(&mut command, &logs.path().join("provider.log"));
        let partner = SignInPartner::start(&provider.url).await;
        let gateway = Gateway::start(&GatewayOptions {
            partners: vec![PartnerEntry::new(PARTNER, &partner.url)],
            contracts: vec![ac_contract()],
            extra: format!(
                "[linking]\nbase_url = {named:?}\n[outbound]\nrate_limits = false\nsearch_cache = false\n\
                 [auth]\nmaster_key = {MASTER_KEY:?}\n"
            ),
        });
        let client = reqwest::Client::new();
        if documents {
            let told = client.post(format!("{}/test/gateway", provider.url)).body(gateway.server.url.clone());
            assert!(told.send().await.expect("an answer").status().is_success());
        }
        Self { gateway, partner, provider, named, client }
    }

    pub(super) fn browser(&self) -> Browser {
        Browser::new(self.named, &self.gateway.server.url)
    }

    /// A request of the orchestrator for a user.
    pub(super) async fn ask(&self, method: &str, path: &str, user: &str, body: Option<&Value>) -> Answer {
        let url = format!("{}{path}", self.gateway.server.url);
        let mut request = self.client.request(method.parse().expect("a method"), url);
        request = request.bearer_auth(self.gateway.orchestrator_token()).header("x-user-id", user);
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.expect("an answer");
        let status = response.status().as_u16();
        Answer { status, body: response.json().await.expect("JSON") }
    }

    /// The reference of the one option that a search for a user finds.
    pub(super) async fn option(&self, user: &str) -> String {
        let found = self.ask("POST", &format!("{INTENT}/search"), user, Some(&request())).await;
        let reference = found.body["options"][0]["reference"].as_str();
        reference.unwrap_or_else(|| panic!("{}\n{}", found.body, self.gateway.log())).to_owned()
    }

    pub(super) async fn call(&self, tool: &str, user: &str, reference: &str, arguments: Value) -> Answer {
        let body = json!({"reference": reference, "arguments": arguments});
        self.ask("POST", &format!("{INTENT}/tools/{tool}"), user, Some(&body)).await
    }

    /// Books an option for a user; `id` names the request.
    pub(super) async fn book(&self, user: &str, option: &str, id: &str) -> Answer {
        self.call(CREATE, user, option, booking(id)).await
    }

    /// The subject that a booking of the user is made for.
    pub(super) async fn subject(&self, user: &str, option: &str, id: &str) -> String {
        let booked = self.book(user, option, id).await;
        assert_eq!(booked.status, 200, "{}\n{}", booked.body, self.gateway.log());
        booked.body["payload"]["echoed_subject"].as_str().expect("a text").to_owned()
    }

    /// An address where a user links an account.
    pub(super) async fn offer(&self, user: &str) -> String {
        let offered = self.ask("POST", "/api/v1/links", user, Some(&json!({"partner": PARTNER}))).await;
        assert_eq!(offered.status, 200, "{}", offered.body);
        offered.body["link_url"].as_str().expect("a text").to_owned()
    }

    /// A user links the account of a subject.
    pub(super) async fn link(&self, user: &str, subject: &str) -> Page {
        let page = self.browser().link(&self.offer(user).await, subject).await;
        assert_eq!(page.status, 200, "{}\n{}", page.text, self.gateway.log());
        page
    }

    /// A user's browser that is about to come back; with the address that it comes back to.
    pub(super) async fn coming_back(&self, user: &str, consent: Consent) -> (Browser, String) {
        let mut browser = self.browser();
        let back = browser.sign_in(&self.offer(user).await, &format!("{user}-at-partner"), consent).await;
        (browser, back)
    }

    pub(super) async fn links(&self, user: &str) -> Vec<Value> {
        let listed = self.ask("GET", "/api/v1/links", user, None).await;
        assert_eq!(listed.status, 200, "{}", listed.body);
        listed.body["links"].as_array().expect("a list").clone()
    }

    /// What the authorization server has counted.
    pub(super) async fn counts(&self) -> Value {
        let url = format!("{}/test/counts", self.provider.url);
        self.client.get(url).send().await.expect("an answer").json().await.expect("JSON")
    }

    /// A request to the authorization server in the partner's name.
    pub(super) async fn revoke_at_server(&self, client_id: &str, token: &str) -> u16 {
        let asked = self.client.post(format!("{}/token/revocation", self.provider.url));
        let asked = asked.header("content-type", "application/x-www-form-urlencoded");
        let asked = asked.body(format!("token={token}&client_id={client_id}"));
        asked.send().await.expect("an answer").status().as_u16()
    }
}

/// Seals what is in the store; of a test alone.
pub(super) const MASTER_KEY: &str = "a-master-key-of-the-tests-of-linking";
