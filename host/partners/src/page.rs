//! Fetches a page to see whether it is live: the one place where redirects are followed, a few, each to an address that
//! is judged like the first.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue, LOCATION};
use http::{Method, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::limits::{PAGE_MAX_BYTES, PAGE_REDIRECTS_MAX, PAGE_TIMEOUT};
use intent_gateway_domain::partner_error::{clean, protocol};
use intent_gateway_domain::ports::PageFetch;
use intent_gateway_domain::probe::FetchedPage;
use url::Url;

use crate::client::PartnerClient;
use crate::connections::ReceivedBody;
use crate::exchange::{broken, release};

/// Characters kept of a media type.
const MEDIA_TYPE_MAX_CHARS: usize = 100;

impl PageFetch for PartnerClient {
    fn fetch<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<FetchedPage, CallFailure>> {
        Box::pin(async move {
            match tokio::time::timeout(PAGE_TIMEOUT, self.fetch_page(url)).await {
                Ok(outcome) => outcome,
                Err(_) => Err(CallFailure::Timeout(u64::try_from(PAGE_TIMEOUT.as_millis()).unwrap_or(u64::MAX))),
            }
        })
    }
}

impl PartnerClient {
    async fn fetch_page(&self, url: &str) -> Result<FetchedPage, CallFailure> {
        let mut uri = self.policy().endpoint(url)?;
        let mut status = 0;
        for _ in 0..=PAGE_REDIRECTS_MAX {
            let response = self.get(&uri).await?;
            status = response.status().as_u16();
            if !response.status().is_redirection() {
                return read(&uri, response).await;
            }
            let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let Some(location) = location else { return read(&uri, response).await };
            let next = Url::parse(&uri.to_string()).and_then(|base| base.join(location));
            let next = next.map_err(|_| protocol("a redirect to no address"))?;
            uri = self.policy().endpoint(next.as_str())?;
            release(response.into_body());
        }
        Err(CallFailure::Redirect(status))
    }

    async fn get(&self, uri: &Uri) -> Result<Response<ReceivedBody>, CallFailure> {
        let mut request = Request::new(Full::new(Bytes::new()));
        *request.method_mut() = Method::GET;
        *request.uri_mut() = uri.clone();
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("text/html, application/pdf;q=0.9, */*;q=0.5"));
        self.wire().exchange(request).await
    }
}

async fn read(uri: &Uri, response: Response<ReceivedBody>) -> Result<FetchedPage, CallFailure> {
    let status = response.status().as_u16();
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.map(|text| clean(text).chars().take(MEDIA_TYPE_MAX_CHARS).collect());
    let mut body = response.into_body();
    let mut bytes = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| broken(&error))?;
        bytes += frame.data_ref().map_or(0, Bytes::len);
        // That there is more is all that anybody wants to know of it.
        if bytes >= PAGE_MAX_BYTES {
            bytes = PAGE_MAX_BYTES;
            break;
        }
    }
    Ok(FetchedPage { url: uri.to_string(), status, content_type, bytes: bytes as u64 })
}
