//! Account linking over HTTP: pages and cookies for users' browsers, links for the orchestrator.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::secret::Secret;
use intent_gateway_http::Rates;
use intent_gateway_http::auth::Role;
use intent_gateway_linking::{
    self, AuthMethod, Authorizer, Client, Grant, LinkFailure, Linking, LinkingSetup, Provider,
};
use serde_json::{Value, json};

use crate::support::{Answer, Ask, Gateway, RATES, refused};

pub(crate) const SERVER: &str = "https://id.good.example";

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
                names_issuer: true,
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
    let code = json["link_code"].as_str().unwrap_or_else(|| panic!("{json}"));
    assert_eq!(code.len(), 7, "{code}");
    let url = json["link_url"].as_str().unwrap_or_else(|| panic!("{json}"));
    url.strip_prefix("https://gateway.example").expect("the gateway's own address").to_owned()
}

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers.get(name).map_or("", |value| value.to_str().expect("text"))
}

/// The cookie of a browser that is asked whether to begin, and the token of the page's form.
async fn asked(gateway: &Gateway, path: &str) -> (String, String) {
    let answer = gateway.call(Ask::get(path)).await;
    assert_page(&answer, 200, "Link your account at");
    let text = answer.text();
    let token = text.split("value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a token");
    let cookie = header(&answer, "set-cookie").split(';').next().expect("a pair");
    (cookie.to_owned(), token.to_owned())
}

async fn confirmed(gateway: &Gateway, path: &str, token: &str, cookie: &str) -> Answer {
    let form = Ask::new(http::Method::POST, path).header("content-type", "application/x-www-form-urlencoded");
    gateway.call(form.header("cookie", cookie).body(format!("token={token}"))).await
}

/// The cookie of a browser that begins, and where it comes back to with a code.
async fn begun(gateway: &Gateway, path: &str) -> (String, String) {
    let (cookie, token) = asked(gateway, path).await;
    let answer = confirmed(gateway, path, &token, &cookie).await;
    assert_page(&answer, 200, "Going on to id.good.example");
    let text = answer.text().replace("&#38;", "&");
    let location = text.split("; url=").nth(1).and_then(|rest| rest.split('"').next()).expect("an address");
    assert!(location.starts_with("https://id.good.example/authorize?response_type=code&"), "{location}");
    let state = location.split('&').find_map(|pair| pair.strip_prefix("state=")).expect("a state");
    let back = location.split('&').find_map(|pair| pair.strip_prefix("redirect_uri=")).expect("a way back");
    let back = back.replace("%3A", ":").replace("%2F", "/");
    let back = back.strip_prefix("https://gateway.example").expect("the gateway's own address");
    let cookie = header(&answer, "set-cookie");
    assert!(
        cookie.starts_with("__Host-link-") && cookie.ends_with("; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure")
    );
    let cookie = cookie.split(';').next().expect("a pair").to_owned();
    (cookie, format!("{back}?state={state}&code=good&iss=https%3A%2F%2Fid.good.example"))
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
async fn nothing_begins_without_the_consent_of_the_browser_that_was_asked() {
    let gateway = Gateway::new().await;
    let path = offered(&gateway, "good").await;
    let (cookie, token) = asked(&gateway, &path).await;
    let (other_cookie, other_token) = asked(&gateway, &path).await;
    let (foreign_cookie, foreign_token) = asked(&gateway, &offered(&gateway, "good").await).await;
    for (token, cookie) in [
        (&*token, "a=b"),
        (&*token, &*other_cookie),
        (&*other_token, &*cookie),
        (&*foreign_token, &*foreign_cookie),
        ("", &*cookie),
    ] {
        assert_page(&confirmed(&gateway, &path, token, cookie).await, 403, "Code LINK_OTHER_BROWSER");
    }
    let json = Ask::json(&path, format!("token={token}")).header("cookie", &cookie);
    assert_page(&gateway.call(json).await, 415, "Code UNSUPPORTED_MEDIA_TYPE");
    let long = confirmed(&gateway, &path, &"a".repeat(2_000), &cookie).await;
    assert_page(&long, 413, "Code PAYLOAD_TOO_LARGE");
    assert_page(&confirmed(&gateway, &path, &token, &cookie).await, 200, "Going on to");
    // Once.
    assert_page(&confirmed(&gateway, &path, &token, &cookie).await, 410, "Code LINK_USED");
    assert_page(&gateway.call(Ask::get(&path)).await, 410, "Code LINK_USED");
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
    let (cookie, token) = asked(&gateway, &down).await;
    // It uses the link up no more than looking at it does.
    for _ in 0..2 {
        assert_page(&confirmed(&gateway, &down, &token, &cookie).await, 502, "Code LINK_SERVER_UNREACHABLE");
    }
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
    let gateway = Gateway::with(Rates { open_per_minute: std::num::NonZeroU32::MIN, ..RATES }).await;
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
    let documents = "/.well-known/oauth-client";
    let tag = format!("document-{}", "0a".repeat(16));
    // The second is from before each server had an address of its own: nothing is linked where it leads.
    for (name, back) in [(format!("{tag}.json"), format!("/{tag}")), ("intent-gateway.json".to_owned(), String::new())]
    {
        let answer = gateway.call(Ask::get(&format!("{documents}/{name}"))).await;
        let document = answer.json();
        let url = format!("https://gateway.example{documents}/{name}");
        assert_eq!(
            (document["client_id"].as_str(), header(&answer, "content-type")),
            (Some(&*url), "application/json")
        );
        assert_eq!(document["redirect_uris"], json!([format!("https://gateway.example/link/callback{back}")]));
        assert_eq!(document["token_endpoint_auth_method"], "none");
        assert_eq!(header(&answer, "cache-control"), "public, max-age=3600");
    }
    // No document leads to where a server sends browsers back to that knows the gateway otherwise.
    let registered = "0a".repeat(16);
    for name in [format!("{registered}.json"), tag.clone(), "document-0A.json".to_owned(), format!("{tag}0.json")] {
        let answer = gateway.call(Ask::get(&format!("{documents}/{name}"))).await;
        assert_eq!(answer.refusal(), refused(404, "NOT_FOUND"), "{name}");
    }
}
