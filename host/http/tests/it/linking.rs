//! Account linking over HTTP: pages and cookies for users' browsers, links for the orchestrator.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::secret::Secret;
use intent_gateway_http::Limits;
use intent_gateway_http::auth::Role;
use intent_gateway_linking::{
    self, AuthMethod, Authorizer, Client, Grant, LinkFailure, Linking, LinkingSetup, Provider,
};
use serde_json::{Value, json};

use crate::support::{Answer, Ask, Gateway, LIMITS, refused};

const SERVER: &str = "https://id.good.example";

/// An authorization server that grants what it is asked for; that of the partner `broken` is down. What servers do is for
/// the tests of `linking`, which play a whole one.
pub(crate) struct Granting;

impl Authorizer for Granting {
    fn discover<'a>(&'a self, endpoint: &'a str, _: Option<&'a str>) -> BoxFuture<'a, Result<Provider, LinkFailure>> {
        let found = match endpoint.contains("broken") {
            true => Err(LinkFailure::Unreachable("it is down at secret-place.example".to_owned())),
            false => Ok(Provider {
                resource: endpoint.to_owned(),
                issuer: SERVER.to_owned(),
                authorization_endpoint: format!("{SERVER}/authorize"),
                token_endpoint: format!("{SERVER}/token"),
                registration_endpoint: None,
                revocation_endpoint: None,
                scope: Some("book".to_owned()),
                names_issuer: false,
                takes_metadata_documents: true,
                auth_methods: Vec::new(),
            }),
        };
        async { found }.boxed()
    }

    fn register<'a>(&'a self, _: &'a Provider, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<Client, LinkFailure>> {
        let client = Client { client_id: "registered".to_owned(), client_secret: None, method: AuthMethod::None };
        async { Ok(client) }.boxed()
    }

    fn exchange<'a>(
        &'a self,
        _: &'a Provider,
        _: &'a Client,
        code: &'a Secret,
        _: &'a Secret,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Grant, LinkFailure>> {
        let granted = match code.expose() {
            "good" => Ok(Grant {
                access_token: Secret::new("access-token-never-shown"),
                refresh_token: Some(Secret::new("refresh-token-never-shown")),
                expires_in: Some(3_600),
                scope: None,
            }),
            _ => Err(LinkFailure::Refused { code: "invalid_grant".to_owned() }),
        };
        async { granted }.boxed()
    }

    fn refresh<'a>(
        &'a self,
        _: &'a Provider,
        _: &'a Client,
        _: &'a Secret,
    ) -> BoxFuture<'a, Result<Grant, LinkFailure>> {
        async { Err(LinkFailure::Refused { code: "invalid_grant".to_owned() }) }.boxed()
    }

    fn revoke<'a>(&'a self, _: &'a Provider, _: &'a Client, _: &'a Secret) -> BoxFuture<'a, Result<(), LinkFailure>> {
        async { Ok(()) }.boxed()
    }
}

/// Linking over the parts that a test's gateway has already.
pub(crate) fn linking(parts: impl FnOnce(intent_gateway_linking::Settings) -> LinkingSetup) -> Linking {
    Linking::new(parts(intent_gateway_linking::Settings {
        base_url: "https://gateway.example".to_owned(),
        client_name: "Gateway".to_owned(),
        clients: Vec::new(),
    }))
}

fn for_user(ask: Ask, user: &str) -> Ask {
    ask.role(Role::Orchestrator).header("x-user-id", user)
}

async fn offered(gateway: &Gateway, partner: &str) -> String {
    let body = json!({"partner": partner, "intent": crate::support::INTENT}).to_string();
    let answer = gateway.call(for_user(Ask::json("/api/v1/links", body), "asha")).await;
    let json = answer.json();
    assert_eq!(json["expires_at"], "2027-01-15T08:10:00Z", "{json}");
    let url = json["link_url"].as_str().unwrap_or_else(|| panic!("{json}"));
    url.strip_prefix("https://gateway.example").expect("the gateway's own address").to_owned()
}

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers.get(name).map_or("", |value| value.to_str().expect("text"))
}

/// The cookie of a browser that begins, and where it comes back to with a code.
async fn begun(gateway: &Gateway, path: &str) -> (String, String) {
    let answer = gateway.call(Ask::get(path)).await;
    assert_eq!(answer.status, 302, "{}", answer.text());
    let location = header(&answer, "location");
    assert!(location.starts_with("https://id.good.example/authorize?response_type=code&"), "{location}");
    assert_eq!((header(&answer, "cache-control"), header(&answer, "referrer-policy")), ("no-store", "no-referrer"));
    let state = location.split('&').find_map(|pair| pair.strip_prefix("state=")).expect("a state");
    let cookie = header(&answer, "set-cookie");
    assert!(
        cookie.starts_with("__Host-link-") && cookie.ends_with("; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure")
    );
    let cookie = cookie.split(';').next().expect("a pair").to_owned();
    (cookie, format!("/link/callback?state={state}&code=good"))
}

async fn links(gateway: &Gateway) -> Value {
    gateway.call(for_user(Ask::get("/api/v1/links"), "asha")).await.json()["links"].clone()
}

fn assert_page(answer: &Answer, status: u16, text: &str) {
    assert_eq!((answer.status.as_u16(), header(answer, "content-type")), (status, "text/html; charset=utf-8"));
    assert!(answer.text().contains(text), "{}", answer.text());
    assert!(header(answer, "content-security-policy").contains("frame-ancestors 'none'"));
    assert_eq!((header(answer, "cache-control"), header(answer, "referrer-policy")), ("no-store", "no-referrer"));
    assert!(!answer.text().contains("secret-place"), "{}", answer.text());
}

#[tokio::test]
async fn an_account_is_offered_linked_listed_and_unlinked() {
    let gateway = Gateway::new().await;
    let (cookie, back) = begun(&gateway, &offered(&gateway, "good").await).await;
    let without = gateway.call(Ask::get(&back)).await;
    assert_page(&without, 403, "Code LINK_OTHER_BROWSER");
    let linked = gateway.call(Ask::get(&back).header("cookie", &format!("a=b; {cookie}"))).await;
    assert_page(&linked, 200, "is linked");
    let (name, _) = cookie.split_once('=').expect("a pair");
    assert!(header(&linked, "set-cookie").starts_with(&format!("{name}=; Path=/; Max-Age=0")), "it is taken back");
    let again = gateway.call(Ask::get(&back).header("cookie", &cookie)).await;
    assert_page(&again, 400, "Code LINK_NOT_UNDER_WAY");

    let expected = json!([{
        "partner": "good", "since": "2027-01-15T08:00:00Z", "scope": "book", "expires_at": "2027-01-15T09:00:00Z",
        "renewable": true
    }]);
    assert_eq!(links(&gateway).await, expected);
    let path = "/api/v1/links/good";
    let other = gateway.call(for_user(Ask::new(http::Method::DELETE, path), "ravi")).await;
    assert_eq!(other.refusal(), refused(404, "NOT_FOUND"));
    let removed = gateway.call(for_user(Ask::new(http::Method::DELETE, path), "asha")).await;
    assert_eq!(removed.json(), json!({"partner": "good", "revocation": "unsupported"}));
    assert_eq!(links(&gateway).await, json!([]));
}

#[tokio::test]
async fn a_pseudonym_means_another_user_to_each_orchestrator() {
    let gateway = Gateway::new().await;
    let (cookie, back) = begun(&gateway, &offered(&gateway, "good").await).await;
    assert_page(&gateway.call(Ask::get(&back).header("cookie", &cookie)).await, 200, "is linked");
    let token = format!("Bearer {}", gateway.token_of(Role::Orchestrator, "another"));
    let of_another = |ask: Ask| ask.header("authorization", &token).header("x-user-id", "asha");
    let listed = gateway.call(of_another(Ask::get("/api/v1/links"))).await;
    assert_eq!(listed.json()["links"], json!([]));
    let removed = gateway.call(of_another(Ask::new(http::Method::DELETE, "/api/v1/links/good"))).await;
    assert_eq!(removed.refusal(), refused(404, "NOT_FOUND"));
    assert_eq!(links(&gateway).await.as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn refusals_are_pages_for_users_and_json_for_programs() {
    let gateway = Gateway::new().await;
    assert_page(&gateway.call(Ask::get("/link/none")).await, 400, "Code LINK_INVALID");
    assert_page(&gateway.call(Ask::get("/link/callback")).await, 400, "Code LINK_CALLBACK_INVALID");
    let down = offered(&gateway, "broken").await;
    assert_page(&gateway.call(Ask::get(&down)).await, 502, "Code LINK_SERVER_UNREACHABLE");
    let (cookie, back) = begun(&gateway, &offered(&gateway, "good").await).await;
    let bad = back.replace("code=good", "code=bad");
    assert_page(&gateway.call(Ask::get(&bad).header("cookie", &cookie)).await, 502, "Code LINK_REFUSED");
    let (cookie, back) = begun(&gateway, &offered(&gateway, "good").await).await;
    let denied = back.replace("code=good", "error=access_denied");
    assert_page(&gateway.call(Ask::get(&denied).header("cookie", &cookie)).await, 403, "Code LINK_DENIED");
    assert_eq!(links(&gateway).await, json!([]));

    for (body, user, expected) in [
        (json!({"partner": "good"}), None, refused(400, "INVALID_REQUEST")),
        (json!({}), Some("asha"), refused(400, "INVALID_REQUEST")),
        (json!({"partner": "nobody"}), Some("asha"), refused(404, "NOT_FOUND")),
        (json!({"partner": "good", "intent": "auto.other"}), Some("asha"), refused(409, "PARTNER_GONE")),
    ] {
        let ask = Ask::json("/api/v1/links", body.to_string()).role(Role::Orchestrator);
        let ask = user.into_iter().fold(ask, |ask, user| ask.header("x-user-id", user));
        assert_eq!(gateway.call(ask).await.refusal(), expected, "{body}");
    }
    let nobody = Ask::get("/api/v1/links").role(Role::Orchestrator);
    assert_eq!(gateway.call(nobody).await.refusal(), refused(400, "INVALID_REQUEST"));
}

#[tokio::test]
async fn the_layers_around_the_pages_answer_in_pages_too() {
    let gateway = Gateway::with(Limits { open_per_minute: std::num::NonZeroU32::MIN, ..LIMITS }).await;
    gateway.call(Ask::get("/link/none")).await;
    let limited = gateway.call(Ask::get("/link/none")).await;
    assert_page(&limited, 429, "Code RATE_LIMITED");
    assert!(limited.headers.contains_key("retry-after"));
    // Who may still sign up is another count.
    let signing_up = gateway.call(Ask::json("/api/v1/business/sign-in", r#"{"email":"ops@coolcar.example"}"#)).await;
    assert_eq!(signing_up.status, 202);
}

#[tokio::test]
async fn the_gateway_describes_itself_as_a_client() {
    let gateway = Gateway::new().await;
    let answer = gateway.call(Ask::get("/.well-known/oauth-client/intent-gateway.json")).await;
    let document = answer.json();
    let url = "https://gateway.example/.well-known/oauth-client/intent-gateway.json";
    assert_eq!((document["client_id"].as_str(), header(&answer, "content-type")), (Some(url), "application/json"));
    assert_eq!(document["redirect_uris"], json!(["https://gateway.example/link/callback"]));
    assert_eq!(document["token_endpoint_auth_method"], "none");
    assert_eq!(header(&answer, "cache-control"), "public, max-age=3600");
}
