//! Scopes of admins' tokens: the table holds the operations that an admin may call, and opens each to its scope alone.

use std::collections::BTreeSet;
use std::time::Duration;

use http::Method;
use intent_gateway_http::auth::{Role, Scope, Scopes, TokenRules};
use intent_gateway_http::route_scopes::ROUTES;

use crate::support::{Answer, Ask, Gateway, refused};

/// What stands for each parameter of a path; the scope is looked at before the handler is.
const ANY: &str = "x";

/// Every operation of the document that takes an admin's token: its path's template, its method, the scope that it names.
fn operations(gateway: &Gateway) -> Vec<(String, Method, Option<String>)> {
    let mut found = Vec::new();
    for (path, item) in gateway.document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("a path item") {
            let alternatives = operation["security"].as_array().expect("security");
            let roles = alternatives.iter().flat_map(|one| one["bearer"].as_array().into_iter().flatten());
            let scope = operation["x-admin-scope"].as_str().map(str::to_owned);
            if roles.into_iter().any(|role| role == "admin") {
                found.push((path.clone(), method.to_uppercase().parse().expect("a method"), scope));
            } else {
                assert_eq!(scope, None, "{method} {path} is not for admins");
            }
        }
    }
    found
}

async fn ask(gateway: &Gateway, template: &str, method: &Method, token: &str) -> Answer {
    let path = template.split('/').map(|part| if part.starts_with('{') { ANY } else { part }).collect::<Vec<_>>();
    gateway.call(Ask::new(method.clone(), &path.join("/")).header("authorization", &format!("Bearer {token}"))).await
}

#[tokio::test]
async fn the_table_holds_every_operation_that_takes_an_admins_token() {
    let gateway = Gateway::new().await;
    let documented: BTreeSet<(String, String, Option<String>)> =
        operations(&gateway).into_iter().map(|(path, method, scope)| (path, method.to_string(), scope)).collect();
    let listed = ROUTES
        .iter()
        .map(|(path, method, scope)| ((*path).to_owned(), method.to_string(), Some(scope.as_str().to_owned())));
    assert_eq!(listed.collect::<BTreeSet<_>>(), documented);
}

#[tokio::test]
async fn each_operation_takes_its_scope_and_all_and_no_other() {
    let gateway = Gateway::new().await;
    for (path, method, needed) in ROUTES {
        for given in Scope::EVERY {
            let answer = ask(&gateway, path, &method, &gateway.scoped_token(&[given].into_iter().collect())).await;
            let name = format!("{method} {path} with {given:?}");
            if given == needed || given == Scope::All {
                assert!(![401, 403].contains(&answer.status.as_u16()), "{name}: {}", answer.status);
                continue;
            }
            assert_eq!(answer.refusal(), refused(403, needed.code_of_lack()), "{name}");
            let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{}\"", needed.as_str());
            assert_eq!(answer.headers["www-authenticate"], challenge.as_str(), "{name}");
        }
    }
}

#[tokio::test]
async fn a_token_of_two_scopes_opens_both_and_no_third() {
    let gateway = Gateway::new().await;
    let scopes: Scopes = [Scope::Watch, Scope::Ledger].into_iter().collect();
    let token = gateway.scoped_token(&scopes);
    for (path, method, needed) in ROUTES {
        let answer = ask(&gateway, path, &method, &token).await;
        assert_eq!(answer.status.as_u16() == 403, !scopes.cover(needed), "{method} {path}: {}", answer.status);
    }
}

#[tokio::test]
async fn where_a_scope_is_required_a_token_without_one_opens_nothing() {
    let gateway = Gateway::with_rules(TokenRules { scope_required: true, ..TokenRules::default() }).await;
    let admin = gateway.token(Role::Admin);
    for (path, method, needed) in ROUTES {
        let answer = ask(&gateway, path, &method, &admin).await;
        assert_eq!(answer.refusal(), refused(403, needed.code_of_lack()), "{method} {path}");
    }
    let scoped = gateway.scoped_token(&[Scope::Watch].into_iter().collect());
    assert_eq!(ask(&gateway, "/api/v1/admin/contracts", &Method::GET, &scoped).await.status.as_u16(), 200);
    // Other roles have no scopes, and need none.
    let orchestrator = gateway.tokens.issue(Role::Orchestrator, "o", Duration::from_secs(60)).expect("issued");
    assert_eq!(ask(&gateway, "/api/v1/intents", &Method::GET, &orchestrator).await.status.as_u16(), 200);
}

#[tokio::test]
async fn head_needs_what_get_needs() {
    let gateway = Gateway::new().await;
    for (scope, status) in [(Scope::Watch, 200), (Scope::Ship, 403)] {
        let token = format!("Bearer {}", gateway.scoped_token(&[scope].into_iter().collect()));
        let head = Ask::new(Method::HEAD, "/api/v1/admin/contracts").header("authorization", &token);
        let answer = gateway.send(head).await;
        assert_eq!(answer.status.as_u16(), status, "{scope:?}");
    }
}
