//! What a browser does with pages, as far as it can be told without one: it holds a cookie, follows forms, and says where they come from.

use reqwest::header::{CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE};
use reqwest::{Method, redirect};

use crate::harness::Gateway;

/// The two faces, by where they begin.
pub(super) const CONSOLE: &str = "/console";
pub(super) const DASHBOARD: &str = "/dashboard";

/// A page, or what came in its place.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) status: u16,
    /// Where the browser is led.
    pub(super) location: Option<String>,
    pub(super) set_cookie: Option<String>,
    pub(super) policy: String,
    pub(super) text: String,
}

/// Somebody before a browser.
pub(super) struct Browser<'a> {
    gateway: &'a Gateway,
    client: reqwest::Client,
    /// What it sends along; nothing before somebody has signed in.
    pub(super) cookie: Option<String>,
}

impl<'a> Browser<'a> {
    pub(super) fn new(gateway: &'a Gateway) -> Self {
        let client = reqwest::Client::builder().redirect(redirect::Policy::none()).build().expect("a client");
        Self { gateway, client, cookie: None }
    }

    /// One that has signed in at the console.
    pub(super) async fn of_team(gateway: &'a Gateway, token: &str) -> Self {
        let mut browser = Self::new(gateway);
        let entered = browser.submit("/console/sign-in", &[("token", token)]).await;
        assert_eq!((entered.status, entered.location.as_deref()), (303, Some(CONSOLE)), "{}", entered.text);
        browser
    }

    pub(super) async fn get(&mut self, path: &str) -> Shown {
        self.send(self.request(Method::GET, path)).await
    }

    /// A page that must be there.
    pub(super) async fn page(&mut self, path: &str) -> String {
        let shown = self.get(path).await;
        assert_eq!(shown.status, 200, "{path}: {:?} {}", shown.location, shown.text);
        shown.text
    }

    /// Sends a form from a page of the gateway.
    pub(super) async fn submit(&mut self, path: &str, fields: &[(&str, &str)]) -> Shown {
        self.submit_from("same-origin", path, fields).await
    }

    /// The same with what stands in each form of this session, taken from a page.
    pub(super) async fn act(&mut self, page: &str, path: &str, fields: &[(&str, &str)]) -> Shown {
        let token = form_token(&self.page(page).await);
        let mut fields = fields.to_vec();
        fields.push(("form_token", &token));
        self.submit(path, &fields).await
    }

    /// Sends a form from where a browser says that it comes from.
    pub(super) async fn submit_from(&mut self, site: &str, path: &str, fields: &[(&str, &str)]) -> Shown {
        let request = self.request(Method::POST, path).header("sec-fetch-site", site);
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(encode(fields));
        self.send(request).await
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.gateway.server.url));
        match &self.cookie {
            Some(cookie) => request.header(COOKIE, cookie),
            None => request,
        }
    }

    async fn send(&mut self, request: reqwest::RequestBuilder) -> Shown {
        let response = request.send().await.expect("the gateway answers");
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (location, set_cookie) = (header(LOCATION.as_str()), header(SET_COOKIE.as_str()));
        let policy = header("content-security-policy").unwrap_or_default();
        if let Some(set) = &set_cookie {
            self.cookie = set.split(';').next().map(str::to_owned);
        }
        let status = response.status().as_u16();
        Shown { status, location, set_cookie, policy, text: response.text().await.expect("text") }
    }
}

/// A form as browsers send it.
fn encode(fields: &[(&str, &str)]) -> String {
    let encoded = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let pairs = fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// What stands in each form of a page's session.
pub(super) fn form_token(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"form_token\" value=\"").unwrap_or_else(|| panic!("no form in {page}"));
    rest.split('"').next().expect("it ends").to_owned()
}

/// The addresses that a page leads to, of one face.
pub(super) fn links(page: &str, face: &str) -> Vec<String> {
    let found = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let own = found.filter(|address| address.strip_prefix(face).is_some_and(|rest| !rest.starts_with("/assets")));
    own.map(|address| address.replace("&#38;", "&")).collect()
}
