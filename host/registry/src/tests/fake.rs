//! A registry that a test makes up: it has what it is given, and keeps what it is sent, as one by version 1.1 of the distribution
//! specification does, with a list of referrers. What it is told to answer to an address comes before that.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use intent_gateway_domain::digest::Digest;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// What is answered.
#[derive(Clone)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Content,
}

#[derive(Clone)]
pub(super) enum Content {
    Whole(Bytes),
    /// Begins with some bytes, says nothing of its length, and never ends.
    Endless,
    /// Does not come.
    Silent,
    /// Says how long it is, and does not come.
    Promised(u64),
}

impl Reply {
    pub(super) fn new(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, headers: Vec::new(), body: Content::Whole(body.into()) }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn of(status: u16, body: Content) -> Self {
        Self { status, headers: Vec::new(), body }
    }
}

/// A request that was made.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) query: String,
    pub(super) authorization: Option<String>,
    pub(super) body: Bytes,
}

type Answering = Box<dyn Fn(&Seen) -> Option<Reply> + Send>;

#[derive(Default)]
struct State {
    first: Option<Answering>,
    content: HashMap<String, (String, Bytes)>,
    referrers: HashMap<String, Vec<Value>>,
    hides_subject: bool,
    seen: Vec<Seen>,
}

#[derive(Clone)]
pub(super) struct Fake {
    pub(super) port: u16,
    state: Arc<Mutex<State>>,
}

impl Fake {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let fake = Self { port, state: Arc::default() };
        let serving = fake.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().serve(TokioIo::new(stream)));
            }
        });
        fake
    }

    pub(super) async fn serve<S>(self, stream: S)
    where
        S: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    {
        let service = service_fn(move |request| self.clone().answer(request));
        // A client that breaks off is what some tests are about.
        let _ = hyper::server::conn::http1::Builder::new().serve_connection(stream, service).await;
    }

    /// One without a port, for a listener of the test's own.
    pub(super) fn unbound() -> Self {
        Self { port: 0, state: Arc::default() }
    }

    /// What to answer first of all; none of it for the rest.
    pub(super) fn answers(&self, first: impl Fn(&Seen) -> Option<Reply> + Send + 'static) {
        self.lock().first = Some(Box::new(first));
    }

    /// What to answer to each request of a path that ends so.
    pub(super) fn answers_at(&self, end: impl Into<String>, reply: Reply) {
        let end = end.into();
        self.answers(move |seen| seen.path.ends_with(&end).then(|| reply.clone()));
    }

    pub(super) fn name(&self) -> String {
        format!("oci://127.0.0.1:{}/team/contract", self.port)
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.lock().seen.clone()
    }

    /// What is kept under a path's last parts, for example `manifests/1.2.3`.
    pub(super) fn content(&self, path: &str) -> Option<Bytes> {
        self.lock().content.get(path).map(|(_, content)| content.clone())
    }

    pub(super) fn put(&self, path: &str, content: impl Into<Bytes>) {
        let media_type = "application/vnd.oci.image.manifest.v1+json".to_owned();
        self.lock().content.insert(path.to_owned(), (media_type, content.into()));
    }

    /// From then on it does not say of a manifest that it has listed it.
    pub(super) fn hide_subject(&self) {
        self.lock().hides_subject = true;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }

    async fn answer(self, request: Request<Incoming>) -> Result<Response<Stream>, Infallible> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let seen = Seen {
            method: parts.method.clone(),
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            authorization: header("authorization"),
            body,
        };
        let mut state = self.lock();
        state.seen.push(seen.clone());
        let first = state.first.as_ref().and_then(|first| first(&seen));
        let reply = first.unwrap_or_else(|| state.keep(&seen, header("content-type").unwrap_or_default()));
        let mut response = Response::new(Stream { content: Some(reply.body) });
        *response.status_mut() = StatusCode::from_u16(reply.status).expect("a status");
        for (name, value) in reply.headers {
            response.headers_mut().append(name, value.parse().expect("a header"));
        }
        if parts.method == Method::HEAD {
            response.body_mut().content = None;
        }
        Ok(response)
    }
}

impl State {
    /// What a registry does that does as it should.
    fn keep(&mut self, seen: &Seen, content_type: String) -> Reply {
        let path = seen.path.strip_prefix("/v2/team/contract/").unwrap_or_default().to_owned();
        match (&seen.method, path.split_once('/')) {
            (&Method::POST, _) => Reply::new(202, "").with("location", format!("{}1?state=x", seen.path)),
            (&Method::PUT, Some(("blobs", _))) => {
                let digest = format!("sha256:{}", Digest::of(&seen.body));
                if !seen.query.replace("%3A", ":").ends_with(&digest) {
                    return Reply::new(400, "");
                }
                self.content.insert(format!("blobs/{digest}"), (content_type, seen.body.clone()));
                Reply::new(201, "").with("location", "/")
            }
            (&Method::PUT, Some(("manifests", _))) => self.keep_manifest(path, seen, content_type),
            (_, Some(("referrers", subject))) => {
                let manifests = self.referrers.get(subject).cloned().unwrap_or_default();
                let index = json!({"schemaVersion": 2, "mediaType": crate::INDEX_TYPE, "manifests": manifests});
                Reply::new(200, index.to_string())
            }
            _ => match self.content.get(&path) {
                Some((content_type, content)) => Reply::new(200, content.clone())
                    .with("content-type", content_type.clone())
                    .with("docker-content-digest", format!("sha256:{}", Digest::of(content))),
                None => Reply::new(404, r#"{"errors":[{"code":"MANIFEST_UNKNOWN"}]}"#),
            },
        }
    }

    fn keep_manifest(&mut self, path: String, seen: &Seen, content_type: String) -> Reply {
        let digest = format!("sha256:{}", Digest::of(&seen.body));
        let manifest: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
        let kept = (content_type.clone(), seen.body.clone());
        self.content.insert(format!("manifests/{digest}"), kept.clone());
        self.content.insert(path, kept);
        let reply = Reply::new(201, "").with("location", "/");
        let Some(subject) = manifest["subject"]["digest"].as_str() else { return reply };
        let entry = json!({
            "mediaType": content_type,
            "digest": digest,
            "size": seen.body.len(),
            "artifactType": manifest["artifactType"],
        });
        let listed = self.referrers.entry(subject.to_owned()).or_default();
        if !listed.contains(&entry) {
            listed.push(entry);
        }
        if self.hides_subject { reply } else { reply.with("oci-subject", subject) }
    }
}

/// A body.
pub(super) struct Stream {
    content: Option<Content>,
}

impl Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.content.take() {
            None => Poll::Ready(None),
            Some(Content::Whole(bytes)) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            Some(Content::Endless) => {
                self.content = Some(Content::Endless);
                Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b' '; 8_192])))))
            }
            Some(content @ (Content::Silent | Content::Promised(_))) => {
                self.content = Some(content);
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            None => true,
            Some(Content::Whole(bytes)) => bytes.is_empty(),
            Some(_) => false,
        }
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        match &self.content {
            Some(Content::Whole(bytes)) => hyper::body::SizeHint::with_exact(bytes.len() as u64),
            Some(Content::Promised(bytes)) => hyper::body::SizeHint::with_exact(*bytes),
            None => hyper::body::SizeHint::with_exact(0),
            Some(_) => hyper::body::SizeHint::default(),
        }
    }
}
