//! No route can be reached without the right token: every operation of the document is tried with each wrong one.

use std::time::Duration;

use http::Method;
use intent_gateway_domain::secret::Secret;
use intent_gateway_http::auth::{Role, Tokens};
use serde_json::Value;

use crate::support::{AUDIENCE, Ask, Gateway, KEY, NOW_MS, refused};

/// What stands for every parameter of a path.
const ANY: &str = "x";

/// An operation of the document and the roles that it names.
struct Operation {
    method: Method,
    path: String,
    roles: Vec<String>,
}

fn operations(document: &Value) -> Vec<Operation> {
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("a path item") {
            let alternatives = operation["security"].as_array().unwrap_or_else(|| panic!("{path} says nothing"));
            let roles = alternatives
                .iter()
                .flat_map(|alternative| alternative["bearer"].as_array().cloned().unwrap_or_default())
                .map(|role| role.as_str().expect("a role").to_owned())
                .collect();
            let method = method.to_uppercase().parse().expect("a method");
            // Any value does for a parameter: the guard comes before the handler.
            let path = path.split('/').map(|part| if part.starts_with('{') { ANY } else { part });
            operations.push(Operation { method, path: path.collect::<Vec<_>>().join("/"), roles });
        }
    }
    operations
}

fn with_token(operation: &Operation, token: &str) -> Ask {
    Ask::new(operation.method.clone(), &operation.path).header("authorization", &format!("Bearer {token}"))
}

/// Under it are routes that take a signature in place of a token.
const SIGNED: &str = "/api/v1/cpc/";
/// The routes under `/api` through which a business gets its first token, or gets rid of a stolen one.
const OPEN: [&str; 5] = [
    "/api/v1/business/sign-in",
    "/api/v1/business/sign-up",
    "/api/v1/business/sign-up/verify",
    "/api/v1/business/token",
    "/api/v1/business/undo",
];

#[tokio::test]
async fn every_api_route_is_guarded_and_no_other() {
    let gateway = Gateway::new().await;
    for Operation { path, roles, .. } in operations(&gateway.document) {
        let without_token = OPEN.contains(&path.as_str()) || path.starts_with(SIGNED);
        assert_eq!(roles.is_empty(), !path.starts_with("/api/") || without_token, "{path}");
    }
}

#[tokio::test]
async fn no_route_takes_a_missing_forged_expired_or_unsigned_token() {
    let gateway = Gateway::new().await;
    let issue = |tokens: &Tokens| tokens.issue(Role::Admin, "tester", Duration::from_secs(60)).expect("issued");
    let foreign = [Secret::new("another key of at least thirty-two bytes")];
    let forged = issue(&Tokens::new(&foreign, AUDIENCE, gateway.clock.clone()).expect("a usable key"));
    let elsewhere = issue(&Tokens::new(&[Secret::new(KEY)], "elsewhere", gateway.clock.clone()).expect("a usable key"));
    gateway.clock.set(NOW_MS - 3_600_000);
    let expired = issue(&gateway.tokens);
    gateway.clock.set(NOW_MS);
    let good = issue(&gateway.tokens);
    let unsigned = unsigned(&good);

    for operation in operations(&gateway.document).iter().filter(|operation| !operation.roles.is_empty()) {
        let name = format!("{} {}", operation.method, operation.path);
        let answer = gateway.call(Ask::new(operation.method.clone(), &operation.path)).await;
        assert_eq!(answer.refusal(), refused(401, "INVALID_AUTH"), "{name} without a token");
        assert_eq!(answer.headers["www-authenticate"], "Bearer", "{name}");
        for token in [&forged, &elsewhere, &expired, &unsigned, "x.y.z"] {
            let answer = gateway.call(with_token(operation, token)).await;
            assert_eq!(answer.refusal(), refused(401, "INVALID_AUTH"), "{name} with {token}");
            assert_eq!(answer.headers["www-authenticate"], r#"Bearer error="invalid_token""#, "{name}");
        }
    }
}

/// The same claims with the algorithm `none` and without a signature.
fn unsigned(token: &str) -> String {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let (head, rest) = token.split_once('.').expect("a head");
    let head = String::from_utf8(URL_SAFE_NO_PAD.decode(head).expect("base64")).expect("UTF-8");
    let claims = rest.split('.').next().expect("claims");
    format!("{}.{claims}.", URL_SAFE_NO_PAD.encode(head.replace("HS256", "none")))
}

#[tokio::test]
async fn every_route_takes_the_roles_that_it_names_and_no_other() {
    let gateway = Gateway::new().await;
    for operation in operations(&gateway.document).iter().filter(|operation| !operation.roles.is_empty()) {
        for role in [Role::Partner, Role::Orchestrator, Role::Admin] {
            // A partner of the account that the path names.
            let answer = gateway.call(with_token(operation, &gateway.token_of(role, ANY))).await;
            let name = format!("{} {} as {role:?}", operation.method, operation.path);
            if operation.roles.iter().any(|named| named == role.as_str()) {
                assert!(![401, 403].contains(&answer.status.as_u16()), "{name}: {}", answer.status);
            } else {
                assert_eq!(answer.refusal(), refused(403, "FORBIDDEN"), "{name}");
            }
        }
    }
}

#[tokio::test]
async fn no_route_takes_the_token_of_another_account() {
    let gateway = Gateway::new().await;
    let token = gateway.token_of(Role::Partner, "another");
    // What every partner may know is no account's.
    let shared = |path: &str| ["/api/v1/intents", "/api/v1/intents/x"].contains(&path);
    for operation in operations(&gateway.document).iter().filter(|operation| !operation.roles.is_empty()) {
        let answer = gateway.call(with_token(operation, &token)).await;
        if shared(&operation.path) {
            assert!(operation.roles.iter().any(|role| role == "partner"), "{}", operation.path);
            continue;
        }
        assert_eq!(answer.refusal(), refused(403, "FORBIDDEN"), "{} {}", operation.method, operation.path);
    }
}
