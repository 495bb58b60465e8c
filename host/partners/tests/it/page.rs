//! Pages that are live, that moved, and that lead where nobody may go.

use http::{HeaderValue, Response};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::limits::PAGE_MAX_BYTES;
use intent_gateway_domain::ports::PageFetch as _;
use intent_gateway_partners::{PartnerClient, PartnerClientConfig};

use crate::harness::*;

fn redirect(to: &str) -> Response<Body> {
    let mut response = status(302);
    response.headers_mut().insert("location", HeaderValue::from_str(to).expect("a header"));
    response
}

/// Answers by the last part of the path.
async fn site() -> Server {
    Server::scripted(|seen| async move {
        match seen.path.as_str() {
            "/privacy" => with_type("text/html; charset=utf-8", streamed(pieces(["<h1>".into(), "Privacy".into()]))),
            "/moved" => redirect("privacy"),
            "/twice" => redirect("/moved?x=1#y"),
            "/thrice" => redirect("/twice"),
            "/four" => redirect("/thrice"),
            "/circle" => redirect("/circle"),
            "/inside" => redirect("https://169.254.169.254/latest"),
            "/plain" => redirect("http://partner.example/privacy"),
            "/nowhere" => status(302),
            "/large" => raw_json(vec![b'x'; PAGE_MAX_BYTES + 1]),
            _ => status(404),
        }
    })
    .await
}

#[tokio::test]
async fn a_page_is_found_and_redirects_lead_to_it() {
    let server = site().await;
    let root = server.url.replace("/mcp", "");
    let page = client().fetch(&format!("{root}/privacy")).await.expect("a page");
    assert_eq!((page.status, page.bytes), (200, 11));
    assert_eq!(page.content_type.as_deref(), Some("text/html; charset=utf-8"));
    for start in ["moved", "twice", "thrice"] {
        let page = client().fetch(&format!("{root}/{start}")).await.expect(start);
        assert_eq!((page.status, page.url.as_str()), (200, format!("{root}/privacy").as_str()), "{start}");
    }
    assert_eq!(client().fetch(&format!("{root}/none")).await.expect("an answer").status, 404);
    assert_eq!(client().fetch(&format!("{root}/nowhere")).await.expect("an answer").status, 302);
    let large = client().fetch(&format!("{root}/large")).await.expect("an answer");
    assert_eq!(large.bytes, PAGE_MAX_BYTES as u64);
    assert!(server.state().seen.iter().all(|seen| seen.method == http::Method::GET));
    assert!(server.state().seen.iter().all(|seen| seen.header("authorization").is_none()));
}

#[tokio::test]
async fn redirects_are_few_and_each_is_judged() {
    let server = site().await;
    let root = server.url.replace("/mcp", "");
    assert_eq!(client().fetch(&format!("{root}/four")).await, Err(CallFailure::Redirect(302)));
    assert_eq!(client().fetch(&format!("{root}/circle")).await, Err(CallFailure::Redirect(302)));
    for start in ["inside", "plain"] {
        let outcome = client().fetch(&format!("{root}/{start}")).await;
        assert!(matches!(outcome, Err(CallFailure::AddressRefused(_))), "{start}: {outcome:?}");
    }
    let strict = PartnerClient::new(&PartnerClientConfig::default()).expect("valid settings");
    let before = server.state().accepted;
    let outcome = strict.fetch(&format!("{root}/privacy")).await;
    assert!(matches!(outcome, Err(CallFailure::AddressRefused(_))), "{outcome:?}");
    assert_eq!(server.state().accepted, before);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_never_comes_is_given_up() {
    let server = Server::scripted(|_| std::future::pending()).await;
    assert_eq!(client().fetch(&server.url).await, Err(CallFailure::Timeout(20_000)));
}
