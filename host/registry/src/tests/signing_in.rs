//! Passwords and tokens, as registries ask for them.

use bytes::Bytes;
use http::Method;
use intent_gateway_domain::secret::Secret;
use serde_json::json;

use super::fake::{Content, Fake, Reply, Seen};
use super::{anonymous, by_tag, component, open, push, told};
use crate::{BrokenRule, CredentialFiles, Credentials, Options, RegistryError};

const PASSWORD: &str = "hunter-2-hunter";
/// `robot:hunter-2-hunter`.
const BASIC: &str = "Basic cm9ib3Q6aHVudGVyLTItaHVudGVy";

fn password() -> Options {
    let credentials = Credentials::Password { user: "robot".to_owned(), password: Secret::new(PASSWORD) };
    Options { credentials, ..anonymous() }
}

fn challenge(text: &str) -> Reply {
    Reply::new(401, r#"{"errors":[{"code":"UNAUTHORIZED"}]}"#).with("www-authenticate", text)
}

/// A registry that sends for tokens, `pull` or `pull,push`, to its own path `/token`.
async fn with_tokens(realm: impl Fn(u16) -> String, token: impl Fn(&Seen) -> Reply + Send + 'static) -> Fake {
    let fake = Fake::start().await;
    let asked = format!(r#"Basic realm="x", Bearer realm="{}",service="the registry""#, realm(fake.port));
    fake.answers(move |seen| {
        if seen.path == "/token" {
            return Some(token(seen));
        }
        let reads = matches!(seen.method, Method::GET | Method::HEAD);
        let accepted = match seen.authorization.as_deref() {
            Some("Bearer push") => true,
            Some("Bearer pull") => reads,
            _ => false,
        };
        (!accepted).then(|| challenge(&asked))
    });
    fake
}

fn own_realm(port: u16) -> String {
    format!("http://127.0.0.1:{port}/token")
}

fn grant(seen: &Seen) -> Reply {
    let token = if seen.query.contains("push") { "push" } else { "pull" };
    Reply::new(200, json!({"token": token, "expires_in": 300}).to_string())
}

#[tokio::test]
async fn a_password_is_sent_where_it_is_asked_for() {
    let fake = Fake::start().await;
    fake.answers(|seen| (seen.authorization.as_deref() != Some(BASIC)).then(|| challenge("Basic realm=\"x\"")));
    push(&open(&fake.name(), &password()), &component("a"), None).await.expect("pushed");
    let registry = open(&fake.name(), &password());
    let before = fake.seen().len();
    registry.pull(&by_tag("1.2.3")).await.expect("pulled");
    registry.pull(&by_tag("1.2.3")).await.expect("pulled");
    let unsigned = fake.seen()[before..].iter().filter(|seen| seen.authorization.is_none()).count();
    assert_eq!(unsigned, 1, "it is asked for once");
    for options in [anonymous(), {
        let credentials = Credentials::Password { user: "robot".to_owned(), password: Secret::new("wr0ng-wr0ng") };
        Options { credentials, ..anonymous() }
    }] {
        let error = open(&fake.name(), &options).pull(&by_tag("1.2.3")).await.expect_err("refused");
        assert_eq!(error.code(), "REGISTRY_REFUSED");
        assert!(!told(&error).contains("wr0ng") && !format!("{options:?}").contains("wr0ng"));
    }
}

#[tokio::test]
async fn a_token_of_the_callers_is_sent_at_once_and_not_twice() {
    let fake = with_tokens(own_realm, grant).await;
    let with = |token: &str| Options { credentials: Credentials::Token(Secret::new(token)), ..anonymous() };
    push(&open(&fake.name(), &with("push")), &component("a"), None).await.expect("pushed");
    assert!(fake.seen().iter().all(|seen| seen.authorization.as_deref() == Some("Bearer push")));
    let before = fake.seen().len();
    let error = open(&fake.name(), &with("wr0ng")).pull(&by_tag("1.2.3")).await.expect_err("refused");
    assert_eq!((error.code(), fake.seen().len() - before), ("REGISTRY_REFUSED", 1), "no server of tokens is asked");
    assert!(!told(&error).contains("wr0ng"));
}

#[tokio::test]
async fn a_token_is_fetched_for_what_is_done_and_kept() {
    let fake = with_tokens(own_realm, grant).await;
    push(&open(&fake.name(), &password()), &component("a"), None).await.expect("pushed");
    let registry = open(&fake.name(), &password());
    let before = fake.seen().len();
    registry.pull(&by_tag("1.2.3")).await.expect("pulled");
    registry.pull(&by_tag("1.2.3")).await.expect("pulled");
    let asked: Vec<Seen> = fake.seen()[before..].iter().filter(|seen| seen.path == "/token").cloned().collect();
    assert_eq!(asked.len(), 1, "it is kept");
    assert_eq!(asked[0].authorization.as_deref(), Some(BASIC));
    assert_eq!(asked[0].query, "service=the+registry&scope=repository%3Ateam%2Fcontract%3Apull");
    assert!(fake.seen().iter().any(|seen| seen.query.ends_with("contract%3Apull%2Cpush")));
    // Nobody's password goes where none was asked for with one.
    let registry = open(&fake.name(), &anonymous());
    registry.pull(&by_tag("1.2.3")).await.expect("pulled");
    let asked = fake.seen().into_iter().rfind(|seen| seen.path == "/token").expect("it was asked");
    assert_eq!(asked.authorization, None);
}

#[tokio::test]
async fn a_token_that_is_over_is_fetched_anew() {
    let fake = with_tokens(own_realm, grant).await;
    push(&open(&fake.name(), &password()), &component("a"), None).await.expect("pushed");
    let registry = open(&fake.name(), &password());
    registry.tags().await.err();
    // From here on another one is good.
    let asked = format!(r#"Bearer realm="{}""#, own_realm(fake.port));
    fake.answers(move |seen| match seen.authorization.as_deref() {
        _ if seen.path == "/token" => Some(Reply::new(200, r#"{"access_token":"second"}"#)),
        Some("Bearer second") => None,
        _ => Some(challenge(&asked)),
    });
    registry.pull(&by_tag("1.2.3")).await.expect("pulled");
}

#[tokio::test]
async fn an_identity_is_traded_for_a_token() {
    let folder = tempfile::tempdir().expect("a folder");
    let fake = with_tokens(own_realm, |seen| {
        let is_trade = seen.method == Method::POST && seen.authorization.is_none();
        let form = String::from_utf8_lossy(&seen.body).into_owned();
        if is_trade && form.contains("grant_type=refresh_token") && form.contains("refresh_token=r3fresh%26") {
            Reply::new(200, r#"{"access_token":"push"}"#)
        } else {
            Reply::new(400, form)
        }
    })
    .await;
    let file = folder.path().join("config.json");
    let host = format!("127.0.0.1:{}", fake.port);
    let auths = json!({"auths": {host: {"auth": "PHRva2VuPjo=", "identitytoken": "r3fresh&"}}});
    std::fs::write(&file, auths.to_string()).expect("written");
    let files = CredentialFiles::new(vec![file]);
    let options = Options { credentials: Credentials::Files(files), ..anonymous() };
    push(&open(&fake.name(), &options), &component("a"), None).await.expect("pushed");
}

#[tokio::test]
async fn a_server_of_tokens_may_not_do_as_it_likes() {
    let elsewhere = Fake::start().await;
    let redirect = format!("http://127.0.0.1:{}/token", elsewhere.port);
    let cases: Vec<(Reply, &str)> = vec![
        (Reply::new(307, "").with("location", redirect), "REGISTRY_INVALID"),
        (Reply::new(200, "no JSON s3cret"), "REGISTRY_INVALID"),
        (Reply::new(200, "{}"), "REGISTRY_INVALID"),
        (Reply::new(200, r#"{"token":"a\nb: s3cret"}"#), "REGISTRY_INVALID"),
        (Reply::new(200, format!("{}{{}}", " ".repeat(64 * 1024))), "ARTIFACT_TOO_LARGE"),
        (Reply::of(200, Content::Endless), "ARTIFACT_TOO_LARGE"),
        (Reply::new(401, "s3cret"), "REGISTRY_REFUSED"),
        (Reply::new(400, "s3cret"), "REGISTRY_REFUSED"),
        (Reply::new(404, ""), "REGISTRY_INVALID"),
        (Reply::new(503, ""), "REGISTRY_UNREACHABLE"),
        // A token that is none is asked for once, and not for ever.
        (Reply::new(200, r#"{"token":"other"}"#), "REGISTRY_REFUSED"),
    ];
    for (reply, expected) in cases {
        let shown = reply.status;
        let fake = with_tokens(own_realm, move |_| reply.clone()).await;
        let error = open(&fake.name(), &password()).pull(&by_tag("1.2.3")).await.expect_err("no token");
        assert_eq!(error.code(), expected, "{shown}: {error}");
        assert!(!told(&error).contains("s3cret") && !told(&error).contains(PASSWORD), "{error:?}");
        assert!(fake.seen().len() <= 3);
    }
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn credentials_go_to_no_server_of_tokens_in_the_clear() {
    for realm in ["http://auth.example/token", "ftp://auth.example/token", "/token", "", "http://127.0.0.1.example/"] {
        let fake = with_tokens(|_| realm.to_owned(), grant).await;
        let error = open(&fake.name(), &password()).pull(&by_tag("1.2.3")).await.expect_err("no token");
        assert!(matches!(error, RegistryError::Protocol { what: BrokenRule::TokenServer, .. }), "{realm}: {error}");
        assert!(!fake.seen().iter().any(|seen| seen.authorization.is_some()));
    }
}

#[tokio::test]
async fn strange_challenges_are_a_plain_no() {
    for text in ["", "Negotiate", "Bearer", "Bearer service=\"x\"", "Digest realm=\"x\", nonce=\"y\"", "Basic, \"", "="]
    {
        let fake = Fake::start().await;
        fake.answers(move |_| Some(challenge(text)));
        let error = open(&fake.name(), &password()).pull(&by_tag("1.2.3")).await.expect_err("refused");
        assert_eq!(error.code(), "REGISTRY_REFUSED", "{text}");
    }
}

#[tokio::test]
async fn a_refused_upload_is_sent_again_with_credentials_as_a_whole() {
    let fake = Fake::start().await;
    let wanted: Bytes = component("a").into();
    // Only what is put is protected.
    fake.answers(|seen| {
        let is_open = seen.method != Method::PUT || seen.authorization.as_deref() == Some(BASIC);
        (!is_open).then(|| challenge("basic realm=x"))
    });
    let pushed = push(&open(&fake.name(), &password()), &wanted, None).await.expect("pushed");
    assert_eq!(fake.content(&format!("blobs/sha256:{}", pushed.component)), Some(wanted));
}
