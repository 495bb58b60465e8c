//! What a browser does with pages, as far as it can be told without one: it holds a cookie, follows forms, and says where they come from.

use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE};
use reqwest::{Method, redirect};

use crate::harness::Gateway;

/// How long something that must come is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

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

    /// Bytes that a page or what it loads takes on its way, compressed as for a browser.
    pub(super) async fn compressed_bytes(&self, path: &str) -> usize {
        let asked = self.request(Method::GET, path).header(ACCEPT_ENCODING, "gzip, deflate, br, zstd");
        let response = asked.send().await.expect("the gateway answers");
        assert_eq!(response.status().as_u16(), 200, "{path}");
        assert_eq!(
            response.headers().get(CONTENT_ENCODING).map(|value| value.as_bytes()),
            Some(&b"gzip"[..]),
            "{path}"
        );
        response.bytes().await.expect("bytes").len()
    }

    /// What moves on a page, as long as it is open; the status where there is none.
    pub(super) async fn follow(&self, path: &str) -> Result<Live, u16> {
        Self::hear(self.request(Method::GET, path)).await
    }

    /// Sends a form that is answered by a stream, with what stands in each form of a page.
    pub(super) async fn act_and_hear(&mut self, page: &str, path: &str, fields: &[(&str, &str)]) -> Result<Live, u16> {
        let token = form_token(&self.page(page).await);
        let mut fields = fields.to_vec();
        fields.push(("form_token", &token));
        let request = self.request(Method::POST, path).header("sec-fetch-site", "same-origin");
        Self::hear(request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(encode(&fields))).await
    }

    async fn hear(request: reqwest::RequestBuilder) -> Result<Live, u16> {
        let asked = request.header("accept", "text/html, text/event-stream");
        let response = asked.header(ACCEPT_ENCODING, "gzip").send().await.expect("the gateway answers");
        if response.status().as_u16() != 200 {
            return Err(response.status().as_u16());
        }
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        assert_eq!((header("content-type"), header("content-encoding")), (Some("text/event-stream"), None));
        Ok(Live { response, unread: String::new() })
    }

    /// Sends a form with a file, or with none chosen.
    pub(super) async fn upload(
        &mut self,
        page: &str,
        path: &str,
        fields: &[(&str, &str)],
        file: Option<(&str, &str, &[u8])>,
    ) -> Shown {
        let token = form_token(&self.page(page).await);
        self.upload_with(&token, path, fields, file).await
    }

    /// The same with whatever stands for the session.
    pub(super) async fn upload_with(
        &mut self,
        token: &str,
        path: &str,
        fields: &[(&str, &str)],
        file: Option<(&str, &str, &[u8])>,
    ) -> Shown {
        let mut body = Vec::new();
        let mut add = |head: &str, content: &[u8]| {
            body.extend(format!("--boundary\r\ncontent-disposition: form-data; {head}\r\n\r\n").bytes());
            body.extend(content);
            body.extend(b"\r\n");
        };
        for (name, value) in fields.iter().chain(&[("form_token", token)]) {
            add(&format!("name=\"{name}\""), value.as_bytes());
        }
        let (name, media_type, content) = file.unwrap_or(("", "application/octet-stream", b""));
        add(&format!("name=\"file\"; filename=\"{name}\"\r\ncontent-type: {media_type}"), content);
        body.extend(b"--boundary--\r\n");
        let request = self.request(Method::POST, path).header("sec-fetch-site", "same-origin");
        self.send(request.header(CONTENT_TYPE, "multipart/form-data; boundary=boundary").body(body)).await
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

/// A stream of what moves on a page.
pub(super) struct Live {
    response: reqwest::Response,
    unread: String,
}

/// One event: its name, and its data.
pub(super) type Event = (String, String);

impl Live {
    /// The next event; `None` where the stream has ended.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some((event, rest)) = self.unread.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.unread = rest;
                let field = |name: &str| -> Vec<&str> {
                    event.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).collect()
                };
                if event.lines().any(|line| line.starts_with("data:")) {
                    return Some((field("event").concat(), field("data").join("\n")));
                }
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await.expect("something comes");
            let Ok(Some(chunk)) = chunk else { return None };
            self.unread.push_str(std::str::from_utf8(&chunk).expect("whole events"));
        }
    }

    /// The next that is what was looked for; nothing else but signs of life and what moves may come before.
    pub(super) async fn until(&mut self, is_it: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = self.next().await.expect("the stream goes on");
            if is_it(&event) {
                return event;
            }
            assert_ne!(event.0, "end", "{event:?}");
        }
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
