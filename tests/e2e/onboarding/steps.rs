//! A business taken in one go to where other tests begin: everything is done but the switch-on.

use serde_json::json;

use super::flow::{Page, profile};
use super::{Business, Platform, manifest};
use crate::harness::{Server, rust_partner};

/// A business that is approved, probed and tested, with the servers that it runs.
pub(crate) struct Ready {
    pub(crate) business: Business,
    #[expect(dead_code, reason = "it answers for as long as this lives")]
    server: Server,
    #[expect(dead_code, reason = "it answers for as long as this lives")]
    page: Page,
}

impl Platform {
    /// Takes a new business to the brink of live traffic.
    pub(crate) async fn ready(&self, email: &str) -> Ready {
        let server = rust_partner("oem", self.gateway.folder.path());
        let url = server.url.clone();
        self.ready_at(email, server, &url).await
    }

    /// The same, called at another address than the server's own: something may stand in front of it.
    pub(crate) async fn ready_at(&self, email: &str, server: Server, url: &str) -> Ready {
        let business = self.sign_up(email).await;
        let page = Page::start().await;
        let review = self.submit(&business, &page).await;
        let endpoint = json!({"kind": "mcp", "url": url});
        let registered = self.put(&business.path("connection"), &business.token, endpoint).await;
        assert_eq!(registered.status, 200, "{}", registered.body);
        self.judge(&business, &review).await;
        Ready { business, server, page }
    }

    /// Hands in a business's papers and its manifest; the review that it opens.
    pub(crate) async fn submit(&self, business: &Business, page: &Page) -> String {
        let papers = profile(&format!("{}/privacy", page.url));
        let kept = self.put(&format!("{}/profile", business.path("accounts")), &business.token, papers).await;
        assert_eq!(kept.status, 200, "{}", kept.body);
        let sent = self.post(&business.path("manifest"), &business.token, manifest(true)).await;
        sent.body["review"].as_str().unwrap_or_else(|| panic!("{}", sent.body)).to_owned()
    }

    /// Probes and tests a connection, and approves the manifest.
    async fn judge(&self, business: &Business, review: &str) {
        let probed = self.admin(&business.admin_path("probe"), json!({})).await;
        assert_eq!(probed["ok"], true, "{probed}");
        let tested = self.test(business).await;
        assert_eq!(tested["passed"], true, "{tested}");
        let decided = self.decide(review, "approve").await;
        assert_eq!(decided.status, 200, "{}", decided.body);
    }

    /// Takes a business whose suspension was lifted back to live traffic.
    pub(crate) async fn back(&self, ready: &Ready) {
        let open = self.gateway.admin_get("/reviews?status=open").await;
        let review = open["reviews"][0]["id"].as_str().unwrap_or_else(|| panic!("{open}"));
        self.judge(&ready.business, review).await;
        self.admin(&ready.business.admin_path("switch-on"), json!({})).await;
    }
}
