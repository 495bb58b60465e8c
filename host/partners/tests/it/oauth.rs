//! Authorization servers that behave, and that do not: found, registered with, asked for tokens.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};

use futures_util::stream::{self, StreamExt as _};
use http::{HeaderValue, Method, Response};
use intent_gateway_domain::secret::Secret;
use intent_gateway_linking::{AuthMethod, Authorizer as _, Client, Grant, LinkFailure, Provider};
use intent_gateway_partners::{PartnerClient, PartnerClientConfig};
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::harness::*;

const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";
const ROOT_RESOURCE: &str = "/.well-known/oauth-protected-resource";
const METADATA: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// A partner and its authorization server in one: what is at each path, with `ORIGIN` for its own address.
#[derive(Clone, Default)]
struct Site(Arc<Mutex<BTreeMap<&'static str, Content>>>);

#[derive(Clone)]
enum Content {
    Json(u16, String),
    Redirect(&'static str),
    Huge,
    Never,
    Trickle,
}

impl Site {
    /// One that describes itself in full.
    fn sound() -> Self {
        let site = Self::default();
        site.put(RESOURCE, &resource());
        site.put(METADATA, &metadata());
        site
    }

    fn put(&self, path: &'static str, document: &Value) {
        self.answer(path, 200, document);
    }

    fn answer(&self, path: &'static str, status: u16, document: &Value) {
        self.set(path, Content::Json(status, document.to_string()));
    }

    fn set(&self, path: &'static str, content: Content) {
        self.0.lock().expect("the site").insert(path, content);
    }

    fn remove(&self, path: &str) {
        self.0.lock().expect("the site").remove(path);
    }

    async fn serve(&self) -> Server {
        let site = self.clone();
        Server::scripted(move |seen| {
            let found = site.0.lock().expect("the site").get(seen.path.as_str()).cloned();
            let origin = format!("http://{}", seen.header("host").expect("a host"));
            async move { found.map_or_else(|| status(404), |content| response(content, &origin)) }
        })
        .await
    }
}

fn response(content: Content, origin: &str) -> Response<Body> {
    match content {
        Content::Json(code, text) => {
            let mut response = raw_json(text.replace("ORIGIN", origin));
            *response.status_mut() = code.try_into().expect("a status");
            response
        }
        Content::Redirect(to) => {
            let mut response = status(302);
            response.headers_mut().insert("location", HeaderValue::from_static(to));
            response
        }
        Content::Huge => raw_json(format!("{{\"x\": \"{}\"}}", "x".repeat(100_000))),
        Content::Never => with_type("application/json", streamed(stream::pending())),
        Content::Trickle => with_type("application/json", streamed(pieces(["{".to_owned()]).chain(stream::pending()))),
    }
}

fn resource() -> Value {
    json!({
        "resource": "ORIGIN/mcp",
        "authorization_servers": ["ORIGIN"],
        "scopes_supported": ["book", "read"],
    })
}

fn metadata() -> Value {
    json!({
        "issuer": "ORIGIN",
        "authorization_endpoint": "ORIGIN/authorize",
        "token_endpoint": "ORIGIN/token",
        "registration_endpoint": "ORIGIN/register",
        "revocation_endpoint": "ORIGIN/revoke",
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["plain", "S256"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
        "scopes_supported": ["book", "offline_access"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
    })
}

/// A document with some members replaced, or taken away by null.
fn with(mut document: Value, members: Value) -> Value {
    let object = document.as_object_mut().expect("an object");
    for (name, value) in members.as_object().expect("an object") {
        match value {
            Value::Null => object.remove(name),
            value => object.insert(name.clone(), value.clone()),
        };
    }
    document
}

fn origin(server: &Server) -> String {
    server.url.replace("/mcp", "")
}

async fn discover(server: &Server, challenge: Option<&str>) -> Result<Provider, LinkFailure> {
    let challenge = challenge.map(|text| text.replace("ORIGIN", &origin(server)));
    client().discover(&server.url, challenge.as_deref()).await
}

fn asked(server: &Server) -> Vec<String> {
    server.state().seen.iter().map(|seen| seen.path.clone()).collect()
}

#[tokio::test]
async fn a_partner_that_describes_itself_is_understood() {
    let server = Site::sound().serve().await;
    let origin = origin(&server);
    let provider = discover(&server, Some("Bearer")).await.expect("a provider");
    let expected = Provider {
        resource: format!("{origin}/mcp"),
        issuer: origin.clone(),
        authorization_endpoint: format!("{origin}/authorize"),
        token_endpoint: format!("{origin}/token"),
        registration_endpoint: Some(format!("{origin}/register")),
        revocation_endpoint: Some(format!("{origin}/revoke")),
        scope: Some("book read offline_access".to_owned()),
        names_issuer: true,
        takes_metadata_documents: true,
        auth_methods: vec!["client_secret_basic".to_owned(), "none".to_owned()],
    };
    assert_eq!(provider, expected);
    assert_eq!(asked(&server), [RESOURCE, METADATA]);
    let state = server.state();
    assert!(state.seen.iter().all(|seen| seen.method == Method::GET && seen.header("authorization").is_none()));
}

#[tokio::test]
async fn what_the_challenge_says_comes_first() {
    let site = Site::sound();
    site.remove(RESOURCE);
    site.put("/custom.json", &resource());
    let server = site.serve().await;
    let challenge = r#"Bearer error="invalid_token", scope="pay", resource_metadata="ORIGIN/custom.json""#;
    let provider = discover(&server, Some(challenge)).await.expect("a provider");
    assert_eq!(provider.scope.as_deref(), Some("pay offline_access"));
    assert_eq!(asked(&server), ["/custom.json", METADATA]);
    let unnamed = r#"Bearer scope="", resource_metadata="ORIGIN/custom.json""#;
    let provider = discover(&server, Some(unnamed)).await.expect("a provider");
    assert_eq!(provider.scope.as_deref(), Some("book read offline_access"));
    let nowhere = r#"Bearer resource_metadata="ORIGIN/nowhere.json""#;
    assert!(matches!(discover(&server, Some(nowhere)).await, Err(LinkFailure::Protocol(_))));
}

#[tokio::test]
async fn the_well_known_places_are_tried_in_order() {
    let site = Site::default();
    site.put(ROOT_RESOURCE, &with(resource(), json!({"resource": "ORIGIN", "authorization_servers": ["ORIGIN/t/1"]})));
    site.put("/t/1/.well-known/openid-configuration", &with(metadata(), json!({"issuer": "ORIGIN/t/1"})));
    // A page in place of a 404, and a redirect to one.
    site.set(RESOURCE, Content::Json(200, "<html></html>".to_owned()));
    site.set("/.well-known/oauth-authorization-server/t/1", Content::Redirect("/sign-in"));
    let server = site.serve().await;
    let provider = discover(&server, None).await.expect("a provider");
    assert_eq!(provider.resource, origin(&server));
    let places = [
        RESOURCE,
        ROOT_RESOURCE,
        "/.well-known/oauth-authorization-server/t/1",
        "/.well-known/openid-configuration/t/1",
        "/t/1/.well-known/openid-configuration",
    ];
    assert_eq!(asked(&server), places);
}

#[tokio::test]
async fn the_first_usable_of_several_servers_is_taken() {
    let site = Site::sound();
    let servers = json!(["https://10.0.0.1", "ORIGIN/none", "ORIGIN"]);
    site.put(RESOURCE, &with(resource(), json!({"authorization_servers": servers})));
    let server = site.serve().await;
    let provider = discover(&server, None).await.expect("a provider");
    assert_eq!(provider.issuer, origin(&server));
    for none in [json!([]), json!(null)] {
        site.put(RESOURCE, &with(resource(), json!({"authorization_servers": none})));
        assert!(matches!(discover(&server, None).await, Err(LinkFailure::Unusable(_))), "{none}");
    }
    let too_many = json!(["ORIGIN/1", "ORIGIN/2", "ORIGIN/3", "ORIGIN/4", "ORIGIN"]);
    site.put(RESOURCE, &with(resource(), json!({"authorization_servers": too_many})));
    assert!(matches!(discover(&server, None).await, Err(LinkFailure::Unusable(_))));
}

#[tokio::test]
async fn a_partner_of_before_is_its_own_authorization_server() {
    let site = Site::default();
    site.put(METADATA, &metadata());
    let server = site.serve().await;
    let origin = origin(&server);
    let provider = discover(&server, Some(r#"Bearer scope="book""#)).await.expect("a provider");
    assert_eq!((provider.resource.as_str(), provider.issuer.as_str()), (server.url.as_str(), origin.as_str()));
    assert_eq!(provider.scope.as_deref(), Some("book offline_access"));
    // As servers write it that build addresses from parts.
    site.put(METADATA, &with(metadata(), json!({"issuer": "ORIGIN/"})));
    assert_eq!(discover(&server, None).await.expect("a provider").issuer, format!("{origin}/"));
    site.put(METADATA, &with(metadata(), json!({"issuer": "ORIGIN/other"})));
    assert!(matches!(discover(&server, None).await, Err(LinkFailure::Unusable(_))));

    site.remove(METADATA);
    let provider = discover(&server, None).await.expect("a provider");
    let expected = Provider {
        resource: server.url.clone(),
        issuer: origin.clone(),
        authorization_endpoint: format!("{origin}/authorize"),
        token_endpoint: format!("{origin}/token"),
        registration_endpoint: Some(format!("{origin}/register")),
        revocation_endpoint: None,
        scope: None,
        names_issuer: false,
        takes_metadata_documents: false,
        auth_methods: Vec::new(),
    };
    assert_eq!(provider, expected);
}

#[tokio::test]
async fn a_server_that_may_not_be_trusted_is_not_used() {
    let unusable = [
        json!({"issuer": "https://attacker.example"}),
        json!({"issuer": "ORIGIN/"}),
        json!({"code_challenge_methods_supported": null}),
        json!({"code_challenge_methods_supported": ["plain"]}),
        json!({"response_types_supported": ["token"]}),
        json!({"token_endpoint": "ORIGIN/token#x"}),
    ];
    let refused = [
        json!({"authorization_endpoint": "javascript:alert(1)"}),
        json!({"token_endpoint": "http://as.example/token"}),
        json!({"token_endpoint": "https://169.254.169.254/token"}),
        json!({"registration_endpoint": "https://192.168.0.1/register"}),
        json!({"revocation_endpoint": "/revoke"}),
    ];
    let broken = [json!({"token_endpoint": null}), json!({"issuer": 1})];
    let site = Site::sound();
    let server = site.serve().await;
    for members in unusable {
        site.put(METADATA, &with(metadata(), members.clone()));
        let outcome = discover(&server, None).await;
        assert!(matches!(outcome, Err(LinkFailure::Unusable(_))), "{members}: {outcome:?}");
    }
    for members in refused {
        site.put(METADATA, &with(metadata(), members.clone()));
        let outcome = discover(&server, None).await;
        assert!(matches!(outcome, Err(LinkFailure::AddressRefused(_))), "{members}: {outcome:?}");
    }
    for members in broken {
        site.put(METADATA, &with(metadata(), members.clone()));
        let outcome = discover(&server, None).await;
        assert!(matches!(outcome, Err(LinkFailure::Protocol(_))), "{members}: {outcome:?}");
    }
    assert!(!asked(&server).iter().any(|path| path == OPENID), "what is wrong is not looked for elsewhere");
}

#[tokio::test]
async fn metadata_of_another_resource_is_not_used() {
    let site = Site::sound();
    let server = site.serve().await;
    for elsewhere in ["https://evil.example/mcp", "ORIGIN/mc", "ORIGIN/mcp/1", "ORIGIN/mcp?x=1", "ORIGIN/mcp#x", "mcp"]
    {
        site.put(RESOURCE, &with(resource(), json!({"resource": elsewhere})));
        let outcome = discover(&server, None).await;
        assert!(matches!(outcome, Err(LinkFailure::Unusable(_))), "{elsewhere}: {outcome:?}");
    }
    site.put(RESOURCE, &with(resource(), json!({"resource": null})));
    assert!(matches!(discover(&server, None).await, Err(LinkFailure::Protocol(_))));
    assert!(asked(&server).iter().all(|path| path == RESOURCE), "nothing is asked beyond the resource's metadata");
}

#[tokio::test]
async fn addresses_of_sign_ins_are_guarded() {
    let server = Site::sound().serve().await;
    for inside in ["https://169.254.169.254/latest", "http://partner.example/x", "https://user@p.example/", "x"] {
        let challenge = format!(r#"Bearer resource_metadata="{inside}""#);
        let outcome = discover(&server, Some(&challenge)).await;
        assert!(matches!(outcome, Err(LinkFailure::AddressRefused(_))), "{inside}: {outcome:?}");
    }
    let strict = PartnerClient::new(&PartnerClientConfig::default()).expect("valid settings");
    let provider = discover(&server, None).await.expect("a provider");
    let before = server.state().seen.len();
    assert!(matches!(strict.discover(&server.url, None).await, Err(LinkFailure::AddressRefused(_))));
    // What was kept from before is judged anew.
    let (public, secret) = (public(), Secret::new("s"));
    let outcomes = [
        strict.register(&provider, "us", "https://g.example/cb").await.map(drop),
        strict.refresh(&provider, &public, &secret).await.map(drop),
        strict.revoke(&provider, &public, &secret).await,
    ];
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Err(LinkFailure::AddressRefused(_)))), "{outcomes:?}");
    assert_eq!(server.state().seen.len(), before);
}

#[tokio::test]
async fn a_server_in_trouble_is_told_from_one_that_is_not_there() {
    let site = Site::sound();
    let server = site.serve().await;
    for (place, code) in [(RESOURCE, 503), (METADATA, 500), (METADATA, 429)] {
        let before = site.0.lock().expect("the site").get(place).cloned().expect("a document");
        site.answer(place, code, &json!({}));
        let outcome = discover(&server, None).await;
        assert!(matches!(outcome, Err(LinkFailure::Unreachable(_))), "{place} {code}: {outcome:?}");
        site.set(place, before);
    }
    for (content, expected) in [
        (Content::Huge, LinkFailure::Protocol("the answer is larger than 65536 bytes".to_owned())),
        (Content::Redirect("https://as.example/"), LinkFailure::Unusable("it has no metadata".to_owned())),
        (Content::Json(200, "page".to_owned()), LinkFailure::Unusable("it has no metadata".to_owned())),
    ] {
        site.set(METADATA, content);
        assert_eq!(discover(&server, None).await, Err(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_given_up() {
    let site = Site::sound();
    let server = site.serve().await;
    let provider = discover(&server, None).await.expect("a provider");
    let ten_seconds = LinkFailure::Unreachable("no answer within 10000 ms".to_owned());
    for content in [Content::Never, Content::Trickle] {
        site.set(METADATA, content.clone());
        site.set("/token", content);
        assert_eq!(discover(&server, None).await, Err(ten_seconds.clone()));
        let outcome = client().refresh(&provider, &public(), &Secret::new("r")).await.map(drop);
        assert_eq!(outcome, Err(ten_seconds.clone()));
    }
    // Several such servers together have a bound too.
    let slow = json!(["ORIGIN", "ORIGIN/1", "ORIGIN/2", "ORIGIN/3"]);
    site.put(RESOURCE, &with(resource(), json!({"authorization_servers": slow})));
    for place in ["/.well-known/oauth-authorization-server/1", "/.well-known/oauth-authorization-server/2"] {
        site.set(place, Content::Never);
    }
    site.set("/.well-known/oauth-authorization-server/3", Content::Never);
    let outcome = discover(&server, None).await;
    assert_eq!(outcome, Err(LinkFailure::Unreachable("no answer within 30000 ms".to_owned())));
}

#[tokio::test]
async fn names_of_servers_are_judged_by_their_addresses() {
    let site = Site::sound();
    site.put(RESOURCE, &with(resource(), json!({"authorization_servers": ["https://as.example"]})));
    let server = site.serve().await;
    let config = PartnerClientConfig { allow_loopback_http: true, ..Default::default() };
    let inside = ResolvesTo(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 5)));
    let client = PartnerClient::with_resolver(&config, Arc::new(inside)).expect("valid settings");
    let refused = client.discover(&server.url, None).await;
    assert_eq!(refused, Err(LinkFailure::AddressRefused("the name leads to no public address".to_owned())));
    // One that leads nowhere is told alike.
    let nowhere = PartnerClient::with_resolver(&config, Arc::new(LeadsNowhere)).expect("valid settings");
    assert_eq!(nowhere.discover(&server.url, None).await, refused);
}

fn public() -> Client {
    Client { client_id: "us".to_owned(), client_secret: None, method: AuthMethod::None }
}

fn confidential(method: AuthMethod) -> Client {
    Client { client_id: "us & them".to_owned(), client_secret: Some(Secret::new("p:w d")), method }
}

/// The fields of the last form that was posted to a path, in order.
fn form(server: &Server, path: &str) -> Vec<(String, String)> {
    let state = server.state();
    let seen = state.seen.iter().rfind(|seen| seen.path == path).expect("a request");
    assert_eq!(seen.method, Method::POST);
    assert_eq!(seen.header("content-type"), Some("application/x-www-form-urlencoded"));
    form_urlencoded::parse(&seen.body).into_owned().collect()
}

fn authorization(server: &Server) -> Option<String> {
    server.state().seen.last().expect("a request").header("authorization").map(str::to_owned)
}

fn pairs(fields: &[(&str, &str)]) -> Vec<(String, String)> {
    fields.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[tokio::test]
async fn the_gateway_registers_itself() {
    let site = Site::sound();
    site.answer("/register", 201, &json!({"client_id": "c1", "token_endpoint_auth_method": "none", "more": []}));
    let server = site.serve().await;
    let provider = discover(&server, None).await.expect("a provider");
    let registered = client().register(&provider, "Gateway", "https://g.example/cb").await.expect("a client");
    assert_eq!((registered.client_id.as_str(), registered.method), ("c1", AuthMethod::None));
    assert!(registered.client_secret.is_none());
    let sent = server.state().seen.last().expect("a request").message.clone();
    let expected = json!({
        "client_name": "Gateway",
        "redirect_uris": ["https://g.example/cb"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "application_type": "web",
        "token_endpoint_auth_method": "none",
    });
    assert_eq!(sent, expected);

    site.answer("/register", 200, &json!({"client_id": "c2", "client_secret": "top secret"}));
    let outcome = client().register(&provider, "Gateway", "https://g.example/cb").await;
    assert!(matches!(outcome, Err(LinkFailure::Protocol(_))), "a secret with a space: {outcome:?}");
    site.answer("/register", 200, &json!({"client_id": "c2", "client_secret": "top-secret"}));
    let registered = client().register(&provider, "Gateway", "https://g.example/cb").await.expect("a client");
    assert_eq!(registered.method, AuthMethod::ClientSecretBasic);
    assert!(!format!("{registered:?}").contains("top-secret"));
}

#[tokio::test]
async fn a_registration_may_be_refused() {
    let site = Site::sound();
    let server = site.serve().await;
    let provider = discover(&server, None).await.expect("a provider");
    let refused = |code: &str| LinkFailure::Refused { code: code.to_owned() };
    let register = async || client().register(&provider, "us", "https://g.example/cb").await.map(drop);
    site.answer("/register", 400, &json!({"error": "invalid_redirect_uri", "error_description": "no"}));
    assert_eq!(register().await, Err(refused("invalid_redirect_uri")));
    for (status, body) in [(403, json!({})), (200, json!({})), (201, json!({"client_id": ""})), (404, json!(null))] {
        site.answer("/register", status, &body);
        let outcome = register().await;
        assert!(matches!(outcome, Err(LinkFailure::Protocol(_))), "{status} {body}: {outcome:?}");
    }
    let closed = Provider { registration_endpoint: None, ..provider.clone() };
    let outcome = client().register(&closed, "us", "https://g.example/cb").await;
    assert!(matches!(outcome, Err(LinkFailure::Unusable(_))));
}

fn granted() -> Value {
    json!({
        "access_token": "access-1",
        "token_type": "bearer",
        "expires_in": 3600,
        "refresh_token": "refresh-1",
        "scope": "book",
    })
}

async fn exchange(provider: &Provider, as_client: &Client) -> Result<Grant, LinkFailure> {
    let (code, verifier) = (Secret::new("co+de"), Secret::new("verifier"));
    client().exchange(provider, as_client, &code, &verifier, "https://g.example/cb").await
}

#[tokio::test]
async fn a_code_becomes_tokens_and_they_are_renewed() {
    let site = Site::sound();
    site.put("/token", &granted());
    let server = site.serve().await;
    let provider = discover(&server, None).await.expect("a provider");
    let resource = format!("{}/mcp", origin(&server));
    let grant = exchange(&provider, &public()).await.expect("a grant");
    assert_eq!(grant.access_token.expose(), "access-1");
    assert_eq!(grant.refresh_token.as_ref().map(Secret::expose), Some("refresh-1"));
    assert_eq!((grant.expires_in, grant.scope.as_deref()), (Some(3_600), Some("book")));
    assert!(!format!("{grant:?}").contains("access-1"));
    let expected = [
        ("grant_type", "authorization_code"),
        ("code", "co+de"),
        ("code_verifier", "verifier"),
        ("redirect_uri", "https://g.example/cb"),
        ("resource", &resource),
        ("client_id", "us"),
    ];
    assert_eq!(form(&server, "/token"), pairs(&expected));
    assert_eq!(authorization(&server), None);

    site.put("/token", &json!({"access_token": "access-2", "token_type": "Bearer", "refresh_token": null}));
    let (post, old) = (confidential(AuthMethod::ClientSecretPost), Secret::new("refresh-1"));
    let grant = client().refresh(&provider, &post, &old).await.expect("a grant");
    assert_eq!(grant.access_token.expose(), "access-2");
    assert!(grant.refresh_token.is_none() && grant.expires_in.is_none() && grant.scope.is_none());
    let refresh = [("grant_type", "refresh_token"), ("refresh_token", "refresh-1"), ("resource", &resource)];
    let mut expected = pairs(&refresh);
    expected.extend(pairs(&[("client_id", "us & them"), ("client_secret", "p:w d")]));
    assert_eq!(form(&server, "/token"), expected);
    assert_eq!(authorization(&server), None);

    let basic = confidential(AuthMethod::ClientSecretBasic);
    client().refresh(&provider, &basic, &old).await.expect("a grant");
    assert_eq!(form(&server, "/token"), pairs(&refresh));
    // `us+%26+them:p%3Aw+d`
    assert_eq!(authorization(&server).as_deref(), Some("Basic dXMrJTI2K3RoZW06cCUzQXcrZA=="));
    let without = Client { client_secret: None, ..basic };
    assert!(matches!(client().refresh(&provider, &without, &old).await, Err(LinkFailure::Unusable(_))));
}

#[tokio::test]
async fn a_grant_may_be_refused() {
    let site = Site::sound();
    let server = site.serve().await;
    let provider = discover(&server, None).await.expect("a provider");
    for (status, code) in [(400, "invalid_grant"), (401, "invalid_client"), (200, "bad_verification_code")] {
        site.answer("/token", status, &json!({"error": code, "error_description": "ask again"}));
        assert_eq!(exchange(&provider, &public()).await.map(drop), Err(LinkFailure::Refused { code: code.to_owned() }));
    }
    for status in [500, 503, 429] {
        site.answer("/token", status, &json!({"error": "invalid_grant"}));
        let outcome = exchange(&provider, &public()).await;
        assert!(matches!(outcome, Err(LinkFailure::Unreachable(_))), "{status}: {outcome:?}");
    }
}

/// Whatever is wrong with an answer, nothing of what it holds is told.
#[tokio::test]
async fn a_grant_that_is_none_is_not_taken() {
    let site = Site::sound();
    let server = site.serve().await;
    let provider = discover(&server, None).await.expect("a provider");
    let wrong = [
        json!({"access_token": null}),
        json!({"access_token": ""}),
        json!({"access_token": 5_318_008}),
        json!({"access_token": "hush hush"}),
        json!({"access_token": "hush\n"}),
        json!({"access_token": "hush".repeat(5_000)}),
        json!({"refresh_token": "hush hush"}),
        json!({"refresh_token": ["hush"]}),
        json!({"token_type": null}),
        json!({"token_type": "DPoP"}),
        json!({"expires_in": "hush"}),
        json!({"expires_in": -1}),
        json!({"scope": "hush\n"}),
        json!({"scope": "hush ".repeat(1_000)}),
        json!({"error": "hush hush"}),
    ];
    let answers = wrong.into_iter().map(|members| Content::Json(200, with(granted(), members).to_string()));
    let others = [
        Content::Json(200, "hush".to_owned()),
        Content::Json(200, String::new()),
        Content::Json(404, "hush".to_owned()),
        Content::Redirect("https://as.example/token"),
        Content::Huge,
    ];
    for content in answers.chain(others) {
        let shown = match &content {
            Content::Json(status, text) => format!("{status} {}", text.get(..200).unwrap_or(text)),
            _ => "another answer".to_owned(),
        };
        site.set("/token", content);
        let failure = exchange(&provider, &public()).await.expect_err(&shown);
        assert!(matches!(failure, LinkFailure::Protocol(_)), "{shown}: {failure:?}");
        let told = format!("{failure} {failure:?}");
        assert!(!["hush", "5318008", "access-1", "refresh-1"].iter().any(|secret| told.contains(secret)), "{told}");
    }
}

#[tokio::test]
async fn tokens_are_ended() {
    let site = Site::sound();
    site.set("/revoke", Content::Json(200, String::new()));
    let server = site.serve().await;
    let provider = discover(&server, None).await.expect("a provider");
    let token = Secret::new("refresh-1");
    assert_eq!(client().revoke(&provider, &public(), &token).await, Ok(()));
    assert_eq!(form(&server, "/revoke"), pairs(&[("token", "refresh-1"), ("client_id", "us")]));
    site.answer("/revoke", 400, &json!({"error": "unsupported_token_type"}));
    let refused = LinkFailure::Refused { code: "unsupported_token_type".to_owned() };
    assert_eq!(client().revoke(&provider, &public(), &token).await, Err(refused));
    site.remove("/revoke");
    assert!(matches!(client().revoke(&provider, &public(), &token).await, Err(LinkFailure::Protocol(_))));
    let without = Provider { revocation_endpoint: None, ..provider };
    assert!(matches!(client().revoke(&without, &public(), &token).await, Err(LinkFailure::Unusable(_))));
}
