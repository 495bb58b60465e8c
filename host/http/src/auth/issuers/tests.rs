//! Tokens signed with real keys of each kind, against an issuer whose key set is a variable.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::secret::Secret;
use intent_gateway_testing::clock::TestClock;
use jsonwebtoken::Header;
use serde_json::json;
use tokio::sync::Notify;

use super::*;
use crate::auth::jwks::JwksError;
use crate::auth::test_keys::{Pair, member};
use crate::auth::test_sessions::NoneEnded;
use crate::auth::{Access, Scopes, TokenRules, Tokens};

const NOW_MS: u64 = 1_800_000_000_000;
const NOW: u64 = NOW_MS / 1_000;
const ISS: &str = "https://id.example";
const AUDIENCE: &str = "gateway";
const MINUTE_MS: u64 = 60_000;
const HOUR_MS: u64 = 60 * MINUTE_MS;

fn claims() -> Value {
    json!({ "iss": ISS, "aud": AUDIENCE, "sub": "asha", "iat": NOW, "exp": NOW + 600, "roles": ["staff", "operators"] })
}

fn with(name: &str, value: impl Into<Value>) -> Value {
    let mut claims = claims();
    claims[name] = value.into();
    claims
}

/// Answers with the document that is set, and counts how often it was asked. A port of this crate, so its fake is here.
#[derive(Default)]
struct Site {
    document: Mutex<Option<Bytes>>,
    fetches: AtomicUsize,
    /// Set for an answer that waits until it is opened.
    gate: Mutex<Option<Arc<Notify>>>,
    asked: Notify,
}

impl Site {
    fn shows(&self, keys: &[Value]) {
        *self.document.lock().expect("no panic") = Some(json!({ "keys": keys }).to_string().into());
    }

    fn is_down(&self) {
        *self.document.lock().expect("no panic") = None;
    }

    fn fetches(&self) -> usize {
        self.fetches.load(Ordering::Relaxed)
    }
}

impl JwksFetch for Site {
    fn fetch<'a>(&'a self, url: &'a str, _max_bytes: usize) -> BoxFuture<'a, Result<Bytes, JwksError>> {
        assert_eq!(url, "https://id.example/keys");
        self.fetches.fetch_add(1, Ordering::Relaxed);
        self.asked.notify_one();
        let gate = self.gate.lock().expect("no panic").clone();
        async move {
            if let Some(gate) = gate {
                gate.notified().await;
            }
            let document = self.document.lock().expect("no panic").clone();
            document.ok_or_else(|| JwksError::Fetch("connection refused".into()))
        }
        .boxed()
    }
}

struct Setting {
    site: Arc<Site>,
    clock: Arc<TestClock>,
    issuers: Arc<Issuers>,
}

fn config() -> IssuerConfig {
    IssuerConfig {
        issuer: ISS.to_owned(),
        jwks_url: "https://id.example/keys".to_owned(),
        audience: AUDIENCE.to_owned(),
        algorithms: SignatureAlgorithm::ALL.to_vec(),
        roles: RoleRule::Claim {
            claim: "roles".to_owned(),
            roles: BTreeMap::from([("operators".to_owned(), Role::Admin), ("business".to_owned(), Role::Partner)]),
        },
        scopes: None,
    }
}

impl Setting {
    fn new(keys: &[Value]) -> Self {
        Self::of(vec![config()], keys)
    }

    fn of(configs: Vec<IssuerConfig>, keys: &[Value]) -> Self {
        let (site, clock) = (Arc::new(Site::default()), TestClock::at(NOW_MS));
        site.shows(keys);
        let (fetch, port): (Arc<dyn JwksFetch>, Arc<dyn Clock>) = (site.clone(), clock.clone());
        let issuers = Arc::new(Issuers::new(configs, &fetch, &port).expect("usable"));
        Self { site, clock, issuers }
    }

    async fn verify(&self, token: &str) -> Result<Caller, TokenError> {
        self.issuers.named_in(token).expect("it names a configured issuer").verify(token).await
    }

    fn later(&self, ms: u64) {
        self.clock.advance(ms);
    }
}

fn invalid(result: &Result<Caller, TokenError>) -> bool {
    matches!(result, Err(TokenError::Invalid(_)))
}

#[tokio::test]
async fn takes_a_good_token_of_every_algorithm() {
    let ([rsa, _], ec, ed) = (Pair::shared_rsa(), Pair::p256(), Pair::ed25519());
    let setting = Setting::new(&[rsa.shown_as("r"), ec.shown_as("c"), ed.shown_as("d")]);
    let tokens = [
        rsa.sign(Algorithm::RS256, "r", &claims()),
        rsa.sign(Algorithm::PS256, "r", &claims()),
        ec.sign(Algorithm::ES256, "c", &claims()),
        ed.sign(Algorithm::EdDSA, "d", &claims()),
    ];
    let expected = Caller {
        subject: "asha".to_owned(),
        role: Role::Admin,
        issuer: Some(ISS.into()),
        session: None,
        scopes: None,
        token_life: Duration::from_secs(600),
    };
    for token in tokens {
        assert_eq!(setting.verify(&token).await.expect("accepted"), expected);
    }
    assert_eq!(setting.site.fetches(), 1, "the keys are kept");
}

#[tokio::test]
async fn refuses_what_other_keys_signed() {
    let ([rsa, other_rsa], ec, ed) = (Pair::shared_rsa(), Pair::p256(), Pair::ed25519());
    let setting = Setting::new(&[rsa.shown_as("r"), ec.shown_as("c"), ed.shown_as("d")]);
    for forged in [
        other_rsa.sign(Algorithm::RS256, "r", &claims()),
        other_rsa.sign(Algorithm::PS256, "r", &claims()),
        Pair::p256().sign(Algorithm::ES256, "c", &claims()),
        Pair::ed25519().sign(Algorithm::EdDSA, "d", &claims()),
    ] {
        assert!(invalid(&setting.verify(&forged).await));
    }
    // One key's identifier over another's signature.
    let crossed = ed.sign(Algorithm::EdDSA, "c", &claims());
    assert!(matches!(setting.verify(&crossed).await, Err(TokenError::UnknownKey)));

    // Claims altered under the old signature.
    let good = ec.sign(Algorithm::ES256, "c", &with("roles", "business"));
    let [head, _, signature] = good.split('.').collect::<Vec<_>>()[..] else { panic!("three parts") };
    let altered = format!("{head}.{}.{signature}", URL_SAFE_NO_PAD.encode(claims().to_string()));
    assert!(invalid(&setting.verify(&altered).await));
}

#[tokio::test]
async fn refuses_a_public_key_used_as_a_shared_secret_and_no_algorithm_at_all() {
    let [rsa, _] = Pair::shared_rsa();
    let setting = Setting::new(&[rsa.shown_as("r")]);
    let modulus = rsa.jwk["n"].as_str().expect("a modulus");
    for secret in [modulus.as_bytes().to_vec(), URL_SAFE_NO_PAD.decode(modulus).expect("base64"), Vec::new()] {
        for algorithm in [Algorithm::HS256, Algorithm::HS384, Algorithm::HS512] {
            let token = Pair::secret(&secret).sign(algorithm, "r", &claims());
            assert!(matches!(setting.verify(&token).await, Err(TokenError::Algorithm)), "{algorithm:?}");
        }
    }
    for none in ["none", "None", "NONE", ""] {
        let head = URL_SAFE_NO_PAD.encode(json!({ "alg": none, "typ": "JWT", "kid": "r" }).to_string());
        let token = format!("{head}.{}.", URL_SAFE_NO_PAD.encode(claims().to_string()));
        assert!(invalid(&setting.verify(&token).await), "{none}");
    }
}

#[tokio::test]
async fn an_algorithm_that_is_not_the_issuers_or_the_keys_is_refused() {
    let [rsa, _] = Pair::shared_rsa();
    let only = IssuerConfig { algorithms: vec![SignatureAlgorithm::Ps256], ..config() };
    let setting = Setting::of(vec![only], &[rsa.shown_as("r")]);
    let token = rsa.sign(Algorithm::RS256, "r", &claims());
    assert!(matches!(setting.verify(&token).await, Err(TokenError::Algorithm)));
    let token = rsa.sign(Algorithm::RS512, "r", &claims());
    assert!(matches!(setting.verify(&token).await, Err(TokenError::Algorithm)));

    let mut bound = rsa.shown_as("r");
    bound["alg"] = "PS256".into();
    let setting = Setting::new(&[bound]);
    assert!(setting.verify(&rsa.sign(Algorithm::PS256, "r", &claims())).await.is_ok());
    let token = rsa.sign(Algorithm::RS256, "r", &claims());
    assert!(matches!(setting.verify(&token).await, Err(TokenError::UnknownKey)));
}

#[tokio::test]
async fn times_are_those_of_the_clock_port() {
    let ec = Pair::p256();
    let setting = Setting::new(&[ec.shown_as("c")]);
    let verify = async |claims: Value| setting.verify(&ec.sign(Algorithm::ES256, "c", &claims)).await;
    assert!(verify(with("exp", NOW - 29)).await.is_ok());
    assert!(matches!(verify(with("exp", NOW - 31)).await, Err(TokenError::Expired)));
    assert!(verify(with("exp", 1.8e9 + 600.5)).await.is_ok(), "a fraction is allowed");
    assert!(verify(with("nbf", NOW + 29)).await.is_ok());
    assert!(matches!(verify(with("nbf", NOW + 31)).await, Err(TokenError::NotYetValid)));
    assert!(matches!(verify(with("iat", NOW + 31)).await, Err(TokenError::NotYetValid)));
    assert!(verify(with("iat", Value::Null)).await.is_ok());
    for bad in [json!("soon"), json!([NOW + 600])] {
        assert!(invalid(&verify(with("exp", bad.clone())).await), "{bad}");
    }
    for none in [Value::Null, json!(-1)] {
        assert!(matches!(verify(with("exp", none.clone())).await, Err(TokenError::Endless)), "{none}");
    }
}

#[tokio::test]
async fn a_life_is_counted_from_the_issue_or_else_from_now() {
    let ec = Pair::p256();
    let setting = Setting::new(&[ec.shown_as("c")]);
    let life = async |claims: Value| {
        let caller = setting.verify(&ec.sign(Algorithm::ES256, "c", &claims)).await.expect("accepted");
        caller.token_life.as_secs()
    };
    let mut claims = with("iat", NOW - 1_000);
    assert_eq!(life(claims.clone()).await, 1_600);
    claims["iat"] = Value::Null;
    assert_eq!(life(claims.clone()).await, 600);
    claims["exp"] = json!(1_000_000_000_000_000_u64);
    assert!(life(claims).await > 900_000_000_000_000);
}

#[tokio::test]
async fn another_audience_or_issuer_is_refused() {
    let (ec, other) = (Pair::p256(), Pair::p256());
    let neighbour = IssuerConfig { issuer: "https://other.example".to_owned(), ..config() };
    let setting = Setting::of(vec![config(), neighbour], &[ec.shown_as("c")]);
    let sign = |claims: &Value| ec.sign(Algorithm::ES256, "c", claims);
    assert!(setting.verify(&sign(&with("aud", json!(["else", AUDIENCE])))).await.is_ok());
    for bad in [json!("elsewhere"), json!([]), Value::Null, json!("Gateway"), json!(3)] {
        assert!(invalid(&setting.verify(&sign(&with("aud", bad.clone()))).await), "{bad}");
    }
    for unknown in [json!("https://id.example/"), json!("https://evil.example"), Value::Null, json!([ISS])] {
        assert!(setting.issuers.named_in(&sign(&with("iss", unknown.clone()))).is_none(), "{unknown}");
    }
    // Two issuers with the same key set here, so the name alone tells them apart.
    let caller = setting.verify(&sign(&with("iss", "https://other.example"))).await.expect("accepted");
    assert_eq!(caller.issuer.as_deref(), Some("https://other.example"));
    assert!(invalid(&setting.verify(&other.sign(Algorithm::ES256, "c", &claims())).await));
    assert!(setting.issuers.named_in(&"x".repeat(TOKEN_MAX_BYTES + 1)).is_none());
}

#[tokio::test]
async fn subjects_and_critical_extensions() {
    let ec = Pair::p256();
    let setting = Setting::new(&[ec.shown_as("c")]);
    for bad in ["", "two words", "line\nbreak", "\u{e9}", &"x".repeat(256)] {
        let token = ec.sign(Algorithm::ES256, "c", &with("sub", bad));
        assert!(matches!(setting.verify(&token).await, Err(TokenError::Subject)), "{bad}");
    }
    let header =
        Header { kid: Some("c".to_owned()), crit: Some(vec!["b64".to_owned()]), ..Header::new(Algorithm::ES256) };
    let token = ec.sign_under(&header, &claims());
    assert!(matches!(setting.verify(&token).await, Err(TokenError::Critical)));
    let nameless = ec.sign_under(&Header::new(Algorithm::ES256), &claims());
    assert!(matches!(setting.verify(&nameless).await, Err(TokenError::UnknownKey)));
}

#[tokio::test]
async fn an_unknown_key_is_looked_for_once_a_minute_and_a_rotated_one_is_found() {
    let (old, new) = (Pair::p256(), Pair::p256());
    let setting = Setting::new(&[old.shown_as("old")]);
    let (by_old, by_new) = (old.sign(Algorithm::ES256, "old", &claims()), new.sign(Algorithm::ES256, "new", &claims()));
    assert!(setting.verify(&by_old).await.is_ok());
    for _ in 0..100 {
        assert!(matches!(setting.verify(&by_new).await, Err(TokenError::UnknownKey)));
    }
    assert_eq!(setting.site.fetches(), 1);

    setting.site.shows(&[new.shown_as("new")]);
    setting.later(MINUTE_MS - 1);
    assert!(setting.verify(&by_new).await.is_err(), "not within the minute");
    setting.later(1);
    assert!(setting.verify(&by_new).await.is_ok());
    assert!(matches!(setting.verify(&by_old).await, Err(TokenError::UnknownKey)), "a withdrawn key is gone");
    assert_eq!(setting.site.fetches(), 2);
}

#[tokio::test]
async fn keys_are_fetched_again_each_hour_and_a_withdrawn_one_goes() {
    let (old, new) = (Pair::p256(), Pair::p256());
    let setting = Setting::new(&[old.shown_as("old")]);
    let mut lasting = claims();
    lasting["exp"] = (NOW + 1_000_000).into();
    let token = old.sign(Algorithm::ES256, "old", &lasting);
    assert!(setting.verify(&token).await.is_ok());
    setting.later(HOUR_MS);
    assert!(setting.verify(&token).await.is_ok());
    assert_eq!(setting.site.fetches(), 1);

    // Past the hour the request goes on with the key that is held, and the fetch runs beside it.
    setting.later(1);
    assert!(setting.verify(&token).await.is_ok());
    setting.site.asked.notified().await;
    setting.site.asked.notified().await;
    assert_eq!(setting.site.fetches(), 2);

    // When nobody asked for an hour more, the request waits for what is true now.
    setting.site.shows(&[new.shown_as("new")]);
    setting.later(2 * HOUR_MS + 1);
    assert!(matches!(setting.verify(&token).await, Err(TokenError::UnknownKey)));
}

#[tokio::test]
async fn an_issuer_that_is_down_costs_nothing_for_a_day() {
    let ec = Pair::p256();
    let setting = Setting::new(&[ec.shown_as("c")]);
    let token = ec.sign(Algorithm::ES256, "c", &with("exp", NOW + 1_000_000));
    assert!(setting.verify(&token).await.is_ok());
    setting.site.is_down();
    setting.later(12 * HOUR_MS);
    for _ in 0..10 {
        assert!(setting.verify(&token).await.is_ok(), "the keys that are held still serve");
    }
    assert_eq!(setting.site.fetches(), 2, "one failed fetch is enough for a minute");
    setting.later(12 * HOUR_MS);
    assert!(setting.verify(&token).await.is_ok());
    setting.later(1);
    assert!(matches!(setting.verify(&token).await, Err(TokenError::UnknownKey)), "not for ever");
    // A set that cannot be read, or has no key to use, is as good as none.
    setting.site.shows(&[]);
    setting.later(MINUTE_MS);
    assert!(setting.verify(&token).await.is_err());
    setting.site.shows(&[ec.shown_as("c")]);
    setting.later(MINUTE_MS);
    assert!(setting.verify(&token).await.is_ok(), "and back again");
}

#[tokio::test]
async fn an_issuer_that_never_answered_gives_no_tokens() {
    let ec = Pair::p256();
    let setting = Setting::new(&[]);
    setting.site.is_down();
    let token = ec.sign(Algorithm::ES256, "c", &claims());
    assert!(matches!(setting.verify(&token).await, Err(TokenError::UnknownKey)));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_come_is_given_up() {
    let ec = Pair::p256();
    let setting = Setting::new(&[ec.shown_as("c")]);
    *setting.site.gate.lock().expect("no panic") = Some(Arc::new(Notify::new()));
    let start = tokio::time::Instant::now();
    let token = ec.sign(Algorithm::ES256, "c", &claims());
    assert!(matches!(setting.verify(&token).await, Err(TokenError::UnknownKey)));
    assert_eq!(start.elapsed(), Duration::from_secs(5));
}

#[tokio::test]
async fn many_at_once_make_one_fetch_which_outlives_the_one_that_began_it() {
    let ec = Pair::p256();
    let setting = Setting::new(&[ec.shown_as("c")]);
    let gate = Arc::new(Notify::new());
    *setting.site.gate.lock().expect("no panic") = Some(gate.clone());
    let token = ec.sign(Algorithm::ES256, "c", &claims());

    // The first asks, and hangs up.
    {
        let first = setting.verify(&token);
        tokio::pin!(first);
        tokio::select! {
            biased;
            _ = &mut first => panic!("the gate is shut"),
            () = setting.site.asked.notified() => {}
        }
    }
    let others = futures_util::future::join_all((0..50).map(|_| setting.verify(&token)));
    let (results, ()) = tokio::join!(others, async { gate.notify_one() });
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(setting.site.fetches(), 1);
}

#[tokio::test]
async fn only_sound_keys_for_signatures_are_taken() {
    let ([rsa, _], ec, ed) = (Pair::shared_rsa(), Pair::p256(), Pair::ed25519());
    let change = |pair: &Pair, name: &str, value: Value| {
        let mut jwk = pair.shown_as("k");
        jwk[name] = value;
        jwk
    };
    let short = |bytes: usize| Value::from(URL_SAFE_NO_PAD.encode(vec![0x81_u8; bytes]));
    let cases = [
        (rsa, Algorithm::RS256, "use", json!("enc")),
        (rsa, Algorithm::RS256, "key_ops", json!(["encrypt"])),
        (rsa, Algorithm::RS256, "alg", json!("RSA-OAEP")),
        (rsa, Algorithm::RS256, "alg", json!("HS256")),
        (rsa, Algorithm::RS256, "n", short(128)),
        (rsa, Algorithm::RS256, "n", short(1_024)),
        (rsa, Algorithm::RS256, "e", short(9)),
        (rsa, Algorithm::RS256, "kty", json!("oct")),
        (rsa, Algorithm::RS256, "kid", json!("x".repeat(300))),
        (rsa, Algorithm::RS256, "kid", Value::Null),
        (rsa, Algorithm::RS256, "n", json!(7)),
        (&ec, Algorithm::ES256, "crv", json!("P-384")),
        (&ec, Algorithm::ES256, "x", short(31)),
        (&ec, Algorithm::ES256, "y", short(33)),
        (&ec, Algorithm::ES256, "y", json!("not base64!")),
        (&ed, Algorithm::EdDSA, "crv", json!("X25519")),
        (&ed, Algorithm::EdDSA, "x", short(16)),
        (&ed, Algorithm::EdDSA, "x", short(64)),
    ];
    for (pair, algorithm, name, value) in cases {
        // Beside a good key, so that the set as a whole is taken.
        let setting = Setting::new(&[change(pair, name, value.clone()), Pair::p256().shown_as("good")]);
        let refused = setting.verify(&pair.sign(algorithm, "k", &claims())).await;
        assert!(matches!(refused, Err(TokenError::UnknownKey)), "{name} = {value}: {refused:?}");
    }
    // A point that is not on the curve is found out when it is used.
    let setting = Setting::new(&[change(&ec, "y", short(32))]);
    assert!(invalid(&setting.verify(&ec.sign(Algorithm::ES256, "k", &claims())).await));
}

#[tokio::test]
async fn zeros_before_the_numbers_of_an_rsa_key_do_no_harm() {
    let [rsa, _] = Pair::shared_rsa();
    let mut key = rsa.shown_as("k");
    for name in ["n", "e"] {
        let padded = [&[0, 0], member(&rsa.jwk, name).as_slice()].concat();
        key[name] = URL_SAFE_NO_PAD.encode(padded).into();
    }
    let setting = Setting::new(&[key]);
    for algorithm in [Algorithm::RS256, Algorithm::PS256] {
        assert!(setting.verify(&rsa.sign(algorithm, "k", &claims())).await.is_ok(), "{algorithm:?}");
    }
}

#[tokio::test]
async fn a_key_set_is_bounded() {
    let ec = Pair::p256();
    let mut many: Vec<_> = (0..64).map(|n| ec.shown_as(&format!("k{n}"))).collect();
    many.push(ec.shown_as("beyond"));
    let setting = Setting::new(&many);
    assert!(setting.verify(&ec.sign(Algorithm::ES256, "k63", &claims())).await.is_ok());
    assert!(setting.verify(&ec.sign(Algorithm::ES256, "beyond", &claims())).await.is_err());

    let mut large = ec.shown_as("k");
    large["x5c"] = "x".repeat(300 * 1024).into();
    let setting = Setting::new(&[large]);
    assert!(setting.verify(&ec.sign(Algorithm::ES256, "k", &claims())).await.is_err());
}

#[test]
fn roles_come_from_claims() {
    let role = |claim: &str, claims: Value| {
        let roles = BTreeMap::from([
            ("ops".to_owned(), Role::Admin),
            ("assistant".to_owned(), Role::Orchestrator),
            ("gateway business".to_owned(), Role::Partner),
            ("shop".to_owned(), Role::Partner),
        ]);
        let rule = RoleRule::Claim { claim: claim.to_owned(), roles };
        rule.role_of(claims.as_object().expect("an object"))
    };
    assert_eq!(role("role", json!({ "role": "ops" })), Some(Role::Admin));
    assert_eq!(role("role", json!({ "role": "gateway business" })), Some(Role::Partner));
    assert_eq!(role("scope", json!({ "scope": "openid assistant email" })), Some(Role::Orchestrator));
    assert_eq!(role("roles", json!({ "roles": ["shop", "assistant", 3, "x"] })), Some(Role::Orchestrator));
    assert_eq!(role("roles", json!({ "roles": ["assistant", "ops"] })), Some(Role::Admin));
    assert_eq!(role("/realm_access/roles", json!({ "realm_access": { "roles": ["shop"] } })), Some(Role::Partner));
    assert_eq!(role("/a~1b", json!({ "a/b": "ops" })), Some(Role::Admin));
    // A name that looks like a path is one only with its slash; namespaced claims are plain names.
    assert_eq!(role("https://x.example/roles", json!({ "https://x.example/roles": "ops" })), Some(Role::Admin));
    for none in [json!({}), json!({ "role": "OPS" }), json!({ "role": { "ops": 1 } }), json!({ "role": [["ops"]] })] {
        assert_eq!(role("role", none.clone()), None, "{none}");
    }
    assert_eq!(RoleRule::Fixed(Role::Orchestrator).role_of(&Map::new()), Some(Role::Orchestrator));
}

#[test]
fn configurations_are_checked() {
    let site: Arc<dyn JwksFetch> = Arc::new(Site::default());
    let clock: Arc<dyn Clock> = TestClock::at(NOW_MS);
    let new = |configs: Vec<IssuerConfig>| Issuers::new(configs, &site, &clock).map(|_| ());
    assert_eq!(new(vec![config(), config()]), Err(IssuerError::Twice(ISS.to_owned())));
    assert_eq!(new(vec![IssuerConfig { issuer: ISSUER.to_owned(), ..config() }]), Err(IssuerError::OwnName));
    let many = (0..17).map(|n| IssuerConfig { issuer: n.to_string(), ..config() }).collect();
    assert_eq!(new(many), Err(IssuerError::TooMany(17)));
    let missing = |config: IssuerConfig| match new(vec![config]) {
        Err(IssuerError::Missing { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    assert_eq!(missing(IssuerConfig { issuer: String::new(), ..config() }), "issuer");
    assert_eq!(missing(IssuerConfig { audience: String::new(), ..config() }), "audience");
    assert_eq!(missing(IssuerConfig { jwks_url: String::new(), ..config() }), "jwks_url");
    assert_eq!(missing(IssuerConfig { algorithms: Vec::new(), ..config() }), "algorithms");
    let empty = RoleRule::Claim { claim: "roles".to_owned(), roles: BTreeMap::new() };
    assert_eq!(missing(IssuerConfig { roles: empty, ..config() }), "roles");
    let empty = Some(ScopeRule { claim: "roles".to_owned(), scopes: BTreeMap::new() });
    assert_eq!(missing(IssuerConfig { scopes: empty, ..config() }), "scopes");
}

#[tokio::test]
async fn an_admins_scopes_are_what_the_configured_claim_means() {
    let ec = Pair::p256();
    let scopes = ["shippers", "watchers"].map(str::to_owned).into_iter().zip([Scope::Ship, Scope::Watch]).collect();
    let rule = ScopeRule { claim: "/access/groups".to_owned(), scopes };
    let setting = Setting::of(vec![IssuerConfig { scopes: Some(rule), ..config() }], &[ec.shown_as("c")]);
    let scopes =
        async |claims: Value| setting.verify(&ec.sign(Algorithm::ES256, "c", &claims)).await.expect("accepted").scopes;
    let both = with("access", json!({"groups": ["shippers", "watchers", "else"]}));
    assert_eq!(scopes(both).await, Some([Scope::Ship, Scope::Watch].into_iter().collect()));
    let words = with("access", json!({"groups": "else watchers"}));
    assert_eq!(scopes(words).await, Some([Scope::Watch].into_iter().collect()));
    // Neither a claim that says nothing nor its absence opens anything, and no other claim counts.
    for claims in [with("access", json!({"groups": ["else"]})), with("access", Value::Null), with("scope", "all")] {
        assert_eq!(scopes(claims).await, Some(Scopes::default()));
    }
    let mut partner = with("roles", "business");
    partner["access"] = json!({"groups": ["shippers"]});
    assert_eq!(scopes(partner).await, None);
    // Without a rule the issuer's own `scope` is about something else.
    let setting = Setting::new(&[ec.shown_as("c")]);
    let token = ec.sign(Algorithm::ES256, "c", &with("scope", "watch openid"));
    assert_eq!(setting.verify(&token).await.expect("accepted").scopes, None);
}

#[tokio::test]
async fn both_kinds_of_tokens_are_admitted_side_by_side() {
    let ec = Pair::p256();
    let setting = Setting::new(&[ec.shown_as("c")]);
    let key = Secret::new("0123456789abcdef0123456789abcdef");
    let tokens = Arc::new(Tokens::new(&[key], AUDIENCE, setting.clock.clone()).expect("usable"));
    let sessions = Arc::new(NoneEnded);
    let rules = TokenRules::default();
    let access = Access { tokens: tokens.clone(), issuers: setting.issuers.clone(), sessions, rules };
    let admit = async |token: &str, required: Role| {
        let value = format!("Bearer {token}").parse().expect("a header value");
        let headers = http::HeaderMap::from_iter([(http::header::AUTHORIZATION, value)]);
        let caller = access.identify(&headers).await.map_err(|refusal| refusal.code().to_owned())?;
        caller.require(required).map(|()| caller).map_err(|refusal| refusal.code().to_owned())
    };
    let own = tokens.issue(Role::Partner, "ptr_1", Duration::from_secs(60)).expect("issued");
    assert_eq!(admit(&own, Role::Partner).await.expect("admitted").issuer, None);
    assert_eq!(admit(&own, Role::Orchestrator).await, Err("FORBIDDEN".to_owned()));
    let outside = |claims: &Value| ec.sign(Algorithm::ES256, "c", claims);
    assert_eq!(admit(&outside(&claims()), Role::Admin).await.expect("admitted").name(), "https://id.example#asha");
    assert_eq!(admit(&outside(&with("roles", "business")), Role::Admin).await, Err("FORBIDDEN".to_owned()));
    assert_eq!(admit(&outside(&with("roles", "nobody")), Role::Partner).await, Err("FORBIDDEN".to_owned()));
    // An outside key cannot speak for the gateway, nor the gateway's for an outside issuer.
    assert_eq!(admit(&outside(&with("iss", ISSUER)), Role::Admin).await, Err("INVALID_AUTH".to_owned()));
    let posing = Pair::secret(b"0123456789abcdef0123456789abcdef").sign(Algorithm::HS256, "c", &claims());
    assert_eq!(admit(&posing, Role::Admin).await, Err("INVALID_AUTH".to_owned()));
}

#[tokio::test]
async fn issuers_are_replaced_and_those_that_stay_keep_their_keys() {
    let pair = Pair::p256();
    let setting = Setting::new(&[pair.shown_as("c")]);
    let token = pair.sign(Algorithm::ES256, "c", &claims());
    assert!(setting.verify(&token).await.is_ok());
    let (fetch, clock): (Arc<dyn JwksFetch>, Arc<dyn Clock>) = (setting.site.clone(), setting.clock.clone());
    let other = IssuerConfig { issuer: "https://other.example".to_owned(), ..config() };
    setting.issuers.replace(vec![other.clone(), config()], &fetch, &clock).expect("usable");
    assert!(setting.verify(&token).await.is_ok());
    assert_eq!(setting.site.fetches(), 1, "one that stays is not asked again");
    let twice = setting.issuers.replace(vec![other.clone(), other.clone()], &fetch, &clock);
    assert_eq!(twice, Err(IssuerError::Twice(other.issuer.clone())));
    assert!(setting.verify(&token).await.is_ok(), "a refusal changes nothing");
    setting.issuers.replace(vec![other], &fetch, &clock).expect("usable");
    assert!(setting.issuers.named_in(&token).is_none(), "it is none any more");
}
