//! A user's browser, as far as linking needs one: it follows redirects, keeps cookies, and sends the forms of the
//! authorization server's login and consent.

use std::collections::BTreeMap;

use reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use reqwest::{Client, Method, Response, redirect};

/// Redirects followed for one page.
const REDIRECTS_MAX: usize = 16;

/// A browser with its own cookies.
pub(crate) struct Browser {
    client: Client,
    /// By origin and name.
    cookies: BTreeMap<(String, String), String>,
    /// What the address of the gateway stands for: there is no name server, and no TLS, in a test.
    gateway: (String, String),
}

/// A page that the browser shows.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) url: String,
    pub(crate) text: String,
    pub(crate) headers: reqwest::header::HeaderMap,
}

/// What the user does with the consent page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    Grant,
    Deny,
}

impl Page {
    /// Where a page of the gateway leads to by itself.
    pub(crate) fn leads_to(&self) -> String {
        assert_eq!(self.status, 200, "{self:?}");
        attribute(&self.text, "; url=", "").expect("an address").replace("&#38;", "&")
    }
}

impl Browser {
    pub(crate) fn new(named: &str, really: &str) -> Self {
        let client = Client::builder().redirect(redirect::Policy::none()).build().expect("a client");
        Self { client, cookies: BTreeMap::new(), gateway: (named.to_owned(), really.to_owned()) }
    }

    /// Whether the browser has a cookie whose name begins so.
    pub(crate) fn has_cookie(&self, prefix: &str) -> bool {
        self.cookies.keys().any(|(_, name)| name.starts_with(prefix))
    }

    /// Opens one address, and follows nothing.
    pub(crate) async fn open(&mut self, url: &str) -> Page {
        self.send(Method::GET, url, None).await
    }

    /// Opens the gateway's link, and says yes to what the page there asks; the page that follows.
    pub(crate) async fn confirm(&mut self, link: &str) -> Page {
        let asked = self.open(link).await;
        assert_eq!(asked.status, 200, "{asked:?}");
        let token = attribute(&asked.text, "value=\"", "").expect("a token");
        self.post(link, &format!("token={token}")).await
    }

    /// Sends a form.
    pub(crate) async fn post(&mut self, url: &str, form: &str) -> Page {
        self.send(Method::POST, url, Some(form)).await
    }

    /// Signs in as somebody and grants or denies what is asked for, from the gateway's link up to, and without, the address
    /// that the browser is sent back to.
    pub(crate) async fn sign_in(&mut self, link: &str, name: &str, consent: Consent) -> String {
        let location = self.confirm(link).await.leads_to();
        self.authorize(&location, name, consent).await
    }

    /// The same, from the authorization request on.
    pub(crate) async fn authorize(&mut self, location: &str, name: &str, consent: Consent) -> String {
        let asked = self.open(location).await;
        let mut page = self.follow(asked).await;
        for _ in 0..4 {
            if self.is_gateway(&page.url) {
                return page.url;
            }
            assert_eq!(page.status, 200, "{page:?}");
            page = if page.text.contains("name=\"login\"") {
                let body = format!("prompt=login&login={name}&password=any");
                self.submit(&page, &body).await
            } else if consent == Consent::Deny {
                let abort = attribute(&page.text, "href=\"", "abort").expect("a way out");
                let left = self.open(&abort).await;
                self.follow(left).await
            } else {
                self.submit(&page, "prompt=consent").await
            };
        }
        panic!("the sign-in does not end: {page:?}");
    }

    /// The whole way, to the gateway's last page.
    pub(crate) async fn link(&mut self, link: &str, name: &str) -> Page {
        let back = self.sign_in(link, name, Consent::Grant).await;
        self.open(&back).await
    }

    async fn submit(&mut self, page: &Page, body: &str) -> Page {
        let action = attribute(&page.text, "action=\"", "interaction").expect("a form");
        let sent = self.send(Method::POST, &action, Some(body)).await;
        self.follow(sent).await
    }

    /// Follows redirects as far as the gateway's address.
    async fn follow(&mut self, mut page: Page) -> Page {
        for _ in 0..REDIRECTS_MAX {
            let Some(next) = page.headers.get(LOCATION).map(|value| value.to_str().expect("ASCII").to_owned()) else {
                return page;
            };
            let base = reqwest::Url::parse(&page.url).expect("an address");
            let next = base.join(&next).expect("an address").to_string();
            if self.is_gateway(&next) {
                return Page { url: next, ..page };
            }
            page = self.open(&next).await;
        }
        panic!("too many redirects: {page:?}");
    }

    fn is_gateway(&self, url: &str) -> bool {
        url.starts_with(&self.gateway.0)
    }

    async fn send(&mut self, method: Method, url: &str, body: Option<&str>) -> Page {
        let origin = reqwest::Url::parse(url).expect("an address").origin().ascii_serialization();
        let really = url.replacen(&self.gateway.0, &self.gateway.1, 1);
        let mut request = self.client.request(method, really);
        let own = self.cookies.iter().filter(|((of, _), _)| *of == origin);
        let cookies: Vec<String> = own.map(|((_, name), value)| format!("{name}={value}")).collect();
        if !cookies.is_empty() {
            request = request.header(COOKIE, cookies.join("; "));
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/x-www-form-urlencoded").body(body.to_owned());
        }
        let response = request.send().await.expect("an answer");
        self.keep_cookies(&origin, &response);
        Page {
            status: response.status().as_u16(),
            url: url.to_owned(),
            headers: response.headers().clone(),
            text: response.text().await.expect("text"),
        }
    }

    fn keep_cookies(&mut self, origin: &str, response: &Response) {
        for value in response.headers().get_all(SET_COOKIE) {
            let text = value.to_str().expect("ASCII");
            let (name, value) = text.split(';').next().and_then(|pair| pair.split_once('=')).expect("a pair");
            let key = (origin.to_owned(), name.trim().to_owned());
            if value.is_empty() || text.contains("Max-Age=0") {
                self.cookies.remove(&key);
            } else {
                self.cookies.insert(key, value.to_owned());
            }
        }
    }
}

/// The first value of an attribute that holds a word.
fn attribute(text: &str, attribute: &str, word: &str) -> Option<String> {
    let values = text.split(attribute).skip(1).filter_map(|rest| rest.split('"').next());
    let mut values = values.filter(|value| value.contains(word));
    values.next().map(str::to_owned)
}
