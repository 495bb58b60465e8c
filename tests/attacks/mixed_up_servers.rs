//! A partner's own authorization server sends the user's browser on to an honest partner's, and hopes to get that one's code
//! and the verifier from the gateway (RFC 9700, 4.4). The honest server does not name itself in its answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use intent_gateway_domain::digest::Digest;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::harness::{Gateway, GatewayOptions, PartnerEntry, ac_contract};
use crate::linking::browser::Browser;
use crate::linking::partner::SignInPartner;
use crate::linking::world::PLAIN;

type Parameters = BTreeMap<String, String>;

/// An authorization server in which everybody is signed in and agrees.
struct Server {
    url: String,
    desk: Arc<Desk>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Desk {
    url: Mutex<String>,
    /// Redirect URIs, by client.
    clients: Mutex<BTreeMap<String, String>>,
    /// Authorization requests, by code.
    codes: Mutex<BTreeMap<String, Parameters>>,
    /// Set at the hostile one: the request to the honest one into which its users' requests are turned.
    copied: Mutex<Option<(String, Parameters)>>,
    /// What has come to the token endpoint with a code.
    redeemed: Mutex<Vec<Parameters>>,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let desk = Arc::new(Desk::default());
        url.clone_into(&mut desk.url.lock().expect("sound"));
        let router = Router::new()
            .route("/.well-known/oauth-authorization-server", get(metadata))
            .route("/register", post(register))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .with_state(desk.clone());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
        Self { url, desk, task }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn metadata(State(desk): State<Arc<Desk>>) -> Json<Value> {
    let url = desk.url.lock().expect("sound").clone();
    Json(json!({
        "issuer": url, "authorization_endpoint": format!("{url}/authorize"), "token_endpoint": format!("{url}/token"),
        "registration_endpoint": format!("{url}/register"), "code_challenge_methods_supported": ["S256"],
        "response_types_supported": ["code"], "token_endpoint_auth_methods_supported": ["none"],
    }))
}

async fn register(State(desk): State<Arc<Desk>>, Json(asked): Json<Value>) -> Response {
    let mut clients = desk.clients.lock().expect("sound");
    let client = format!("client-{}", clients.len());
    clients.insert(client.clone(), asked["redirect_uris"][0].as_str().expect("a text").to_owned());
    let registered = json!({"client_id": client, "token_endpoint_auth_method": "none"});
    (StatusCode::CREATED, Json(registered)).into_response()
}

async fn authorize(State(desk): State<Arc<Desk>>, Query(asked): Query<Parameters>) -> Response {
    if let Some((endpoint, copied)) = desk.copied.lock().expect("sound").clone() {
        // Its own state and challenge, in the name that the gateway has at the honest server.
        let mut sent = copied;
        for name in ["state", "code_challenge"] {
            sent.insert(name.to_owned(), asked[name].clone());
        }
        let sent = reqwest::Url::parse_with_params(&endpoint, sent).expect("an address");
        return Redirect::to(sent.as_str()).into_response();
    }
    if desk.clients.lock().expect("sound").get(&asked["client_id"]) != Some(&asked["redirect_uri"]) {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let mut codes = desk.codes.lock().expect("sound");
    let code = format!("code-{}", codes.len());
    let back = reqwest::Url::parse_with_params(&asked["redirect_uri"], [("code", &code), ("state", &asked["state"])]);
    codes.insert(code, asked);
    Redirect::to(back.expect("an address").as_str()).into_response()
}

async fn token(State(desk): State<Arc<Desk>>, form: String) -> Response {
    let asked = reqwest::Url::parse(&format!("http://form/?{form}")).expect("a form");
    let asked: Parameters = asked.query_pairs().into_owned().collect();
    desk.redeemed.lock().expect("sound").push(asked.clone());
    let known = desk.codes.lock().expect("sound").remove(&asked["code"]);
    let challenge = URL_SAFE_NO_PAD.encode(Digest::of(asked["code_verifier"].as_bytes()).as_bytes());
    match known.filter(|known| known["code_challenge"] == challenge) {
        Some(_) => Json(json!({"access_token": "honest-token", "token_type": "Bearer"})).into_response(),
        None => (StatusCode::BAD_REQUEST, Json(json!({"error": "invalid_grant"}))).into_response(),
    }
}

async fn offer(gateway: &Gateway, user: &str, partner: &str) -> String {
    let (token, body) = (gateway.orchestrator_token(), json!({"partner": partner}));
    let offered = gateway.call_for(user, "POST", "/api/v1/links", Some(token), Some(&body)).await;
    offered.body["link_url"].as_str().unwrap_or_else(|| panic!("{}", offered.body)).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_server_gets_no_code_of_an_honest_one() {
    let (honest, hostile) = (Server::start().await, Server::start().await);
    let partners = [SignInPartner::start(&honest.url).await, SignInPartner::start(&hostile.url).await];
    let entry = |id: &str, number: usize, issuer: &str| PartnerEntry {
        issuer: Some(issuer.to_owned()),
        ..PartnerEntry::new(id, &partners[number].url)
    };
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![entry("honest", 0, &honest.url), entry("hostile", 1, &hostile.url)],
        contracts: vec![ac_contract()],
        extra: format!("[linking]\nbase_url = {PLAIN:?}\n"),
        ..GatewayOptions::default()
    });
    let browser = || Browser::new(PLAIN, &gateway.server.url);
    // The attacker begins a link at the honest partner, and so learns what the gateway is called there.
    let seen = browser().confirm(&offer(&gateway, "attacker", "honest").await).await.leads_to();
    let seen = reqwest::Url::parse(&seen).expect("an address");
    let copied: Parameters = seen.query_pairs().into_owned().collect();
    *hostile.desk.copied.lock().expect("sound") = Some((format!("{}/authorize", honest.url), copied));

    let mut victim = browser();
    let location = victim.confirm(&offer(&gateway, "victim", "hostile").await).await.leads_to();
    // Both servers send the browser on: to the honest one, and from there to the gateway.
    let mut sent = location;
    for _ in 0..2 {
        let plain = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client");
        let answer = plain.get(&sent).send().await.expect("an answer");
        sent = answer.headers()["location"].to_str().expect("text").to_owned();
    }
    assert!(sent.starts_with(PLAIN) && sent.contains("code="), "the honest server gave a code: {sent}");
    let page = victim.open(&sent).await;
    assert!(page.status == 400 && page.text.contains("Code LINK_WRONG_ISSUER"), "{page:?}\n{}", gateway.log());
    assert!(hostile.desk.redeemed.lock().expect("sound").is_empty(), "no code and no verifier went there");
}
