//! HTTP to one registry: TLS, bounds on what is read, and which redirects are followed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, LOCATION};
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use url::Url;

use crate::credentials::HUB_HOSTS;
use crate::error::{BrokenRule, Cause, RegistryError};
use crate::manifest::as_u64;
use crate::name::{Repository, is_loopback};

/// Wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Redirects that are followed: from a registry to where its blobs are, and one of either of them.
const REDIRECTS_MAX: usize = 3;
/// Bytes of an error's body that are read for its code.
const ERROR_BODY_MAX_BYTES: usize = 16 * 1024;
/// Characters of such a code.
const ERROR_CODE_MAX_CHARS: usize = 64;
/// Where Docker Hub answers.
const HUB_ADDRESS: &str = "registry-1.docker.io";
const USER_AGENT: &str = concat!("intent-gateway/", env!("CARGO_PKG_VERSION"));

/// Where plain HTTP is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlainHttp {
    /// To this machine alone.
    #[default]
    Loopback,
    /// Nowhere.
    Never,
    /// To the registry, wherever it is: whoever is between sees and changes everything but what a digest names.
    Insecure,
}

/// Requests to a registry and to where it sends.
pub(crate) struct Transport {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    base: Url,
    plain: PlainHttp,
    place: String,
}

impl Transport {
    pub(crate) fn new(
        repository: &Repository,
        plain: PlainHttp,
        authorities: Option<&Path>,
    ) -> Result<Self, RegistryError> {
        let place = repository.host.clone();
        let failed = |cause: Cause| RegistryError::Setup { place: place.clone(), cause };
        let is_plain = match plain {
            PlainHttp::Loopback => repository.is_loopback(),
            PlainHttp::Never => false,
            PlainHttp::Insecure => true,
        };
        let scheme = if is_plain { "http" } else { "https" };
        // Docker Hub answers under another name than it is called by.
        let host = if HUB_HOSTS.contains(&place.as_str()) { HUB_ADDRESS } else { &place };
        let base = Url::parse(&format!("{scheme}://{host}/")).map_err(|error| failed(error.into()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(error.into()))?
            .with_root_certificates(roots(authorities).map_err(failed)?)
            .with_no_client_auth();
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(connector);
        let client = Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector);
        Ok(Self { client, base, plain, place })
    }

    /// The registry's host, for errors.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// An address at the registry. The path begins with a slash; its parts were checked when the name was.
    pub(crate) fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(path);
        url
    }

    /// An address that the registry named, absolute or not. It must be at the registry itself.
    pub(crate) fn own_address(&self, at: &Url, text: &str, header: &'static str) -> Result<Url, RegistryError> {
        match at.join(text) {
            Ok(url) if url.origin() == self.base.origin() => Ok(url),
            _ => Err(self.broken(BrokenRule::Address(header))),
        }
    }

    /// Whether what is sent there is seen by nobody else.
    pub(crate) fn is_protected(&self, url: &Url) -> bool {
        match url.scheme() {
            "https" => true,
            "http" => match self.plain {
                PlainHttp::Never => false,
                PlainHttp::Loopback => self.base.scheme() == "http" && url.host_str().is_some_and(is_loopback),
                PlainHttp::Insecure => true,
            },
            _ => false,
        }
    }

    /// Sends a request; redirects are followed where it reads. Credentials go to no other origin.
    pub(crate) async fn send(&self, ask: &Ask, authorization: Option<&HeaderValue>) -> Result<Answer, RegistryError> {
        let mut url = ask.url.clone();
        for _ in 0..=REDIRECTS_MAX {
            let authorization = authorization.filter(|_| url.origin() == ask.url.origin());
            let response = self.send_once(ask, &url, authorization).await?;
            let may_follow = ask.follows && (ask.method == Method::GET || ask.method == Method::HEAD);
            if !response.status().is_redirection() || !may_follow {
                return Ok(Answer { url, response });
            }
            let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let target = target.and_then(|target| url.join(target).ok()).filter(|target| self.is_protected(target));
            url = target.ok_or_else(|| self.broken(BrokenRule::Redirect))?;
        }
        Err(self.broken(BrokenRule::Redirect))
    }

    async fn send_once(
        &self,
        ask: &Ask,
        url: &Url,
        authorization: Option<&HeaderValue>,
    ) -> Result<Response<Incoming>, RegistryError> {
        let uri: Uri = url.as_str().parse().map_err(|_| self.broken(BrokenRule::Address("location")))?;
        let mut request = Request::new(Full::new(ask.body.clone()));
        *request.method_mut() = ask.method.clone();
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.insert(http::header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        if let Some(accept) = ask.accept {
            headers.insert(http::header::ACCEPT, HeaderValue::from_static(accept));
        }
        if let Some(content_type) = ask.content_type {
            headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        if let Some(authorization) = authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        self.client.request(request).await.map_err(|error| self.unreachable(error))
    }

    /// Reads a body that may have at most so many bytes.
    pub(crate) async fn read(&self, answer: Answer, what: &'static str, max: usize) -> Result<Vec<u8>, RegistryError> {
        let too_large = || RegistryError::TooLarge { what, limit: as_u64(max), unit: "bytes" };
        let body = answer.response.into_body();
        // What says that it is too large is not begun.
        if body.size_hint().lower() > as_u64(max) {
            return Err(too_large());
        }
        match Limited::new(body, max).collect().await {
            Ok(collected) => Ok(collected.to_bytes().into()),
            Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
            Err(cause) => Err(RegistryError::Unreachable { place: self.place.clone(), cause }),
        }
    }

    /// The error that a status stands for. Of the body only a code of the distribution specification is taken: the rest of it may
    /// repeat what was sent, credentials included.
    pub(crate) async fn refusal(&self, answer: Answer, wanted: &str) -> RegistryError {
        let status = answer.response.status();
        let body = Limited::new(answer.response.into_body(), ERROR_BODY_MAX_BYTES).collect().await;
        let code = body.ok().and_then(|body| error_code(&body.to_bytes()));
        let place = self.place.clone();
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => RegistryError::Refused { place, status, code },
            StatusCode::NOT_FOUND => RegistryError::NotFound { place, what: wanted.to_owned() },
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => RegistryError::Busy { place, status, code },
            status if status.is_server_error() => RegistryError::Busy { place, status, code },
            status => RegistryError::Protocol { place, what: BrokenRule::Status(status) },
        }
    }

    pub(crate) fn broken(&self, what: BrokenRule) -> RegistryError {
        RegistryError::Protocol { place: self.place.clone(), what }
    }

    pub(crate) fn unreachable(&self, cause: impl Into<Cause>) -> RegistryError {
        RegistryError::Unreachable { place: self.place.clone(), cause: cause.into() }
    }
}

/// A request. It can be sent again: a first refusal says how to sign in.
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) accept: Option<&'static str>,
    pub(crate) content_type: Option<&'static str>,
    pub(crate) body: Bytes,
    /// Whether redirects are followed.
    pub(crate) follows: bool,
}

impl Ask {
    pub(crate) fn new(method: Method, url: Url) -> Self {
        Self { method, url, accept: None, content_type: None, body: Bytes::new(), follows: true }
    }
}

/// An answer, and where it came from in the end.
pub(crate) struct Answer {
    pub(crate) url: Url,
    pub(crate) response: Response<Incoming>,
}

impl Answer {
    pub(crate) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }
}

/// Mozilla's roots, and those of a file.
fn roots(authorities: Option<&Path>) -> Result<RootCertStore, Cause> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.into() };
    if let Some(path) = authorities {
        let before = roots.len();
        for certificate in CertificateDer::pem_file_iter(path)? {
            roots.add(certificate?)?;
        }
        if roots.len() == before {
            return Err(format!("{} holds no certificate", path.display()).into());
        }
    }
    Ok(roots)
}

/// The first code of an error's body.
fn error_code(body: &[u8]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(body).ok()?;
    let code = value.get("errors")?.get(0)?.get("code")?.as_str()?;
    let fits = code.len() <= ERROR_CODE_MAX_CHARS && code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    fits.then(|| code.to_owned())
}
