//! rmcp's transport over hyper, as short as one can be: connections are kept, and every answer is JSON.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::{Request, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};

use crate::clients::{Headers, pool};

/// Why a message got no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("the partner cannot be reached")]
    Send(#[source] hyper_util::client::legacy::Error),
    #[error("the answer broke off")]
    Body(#[source] hyper::Error),
}

/// The transport.
#[derive(Clone)]
pub(crate) struct OverHyper {
    client: Client<HttpConnector, Full<Bytes>>,
    uri: Uri,
}

impl OverHyper {
    pub(crate) fn new(url: &str) -> Self {
        Self { client: pool(), uri: url.parse().expect("an address") }
    }
}

impl StreamableHttpClient for OverHyper {
    type Error = Failure;

    async fn post_message(
        &self,
        _uri: Arc<str>,
        message: ClientJsonRpcMessage,
        _session: Option<Arc<str>>,
        _authorization: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<Failure>> {
        let mut request = Request::new(Full::from(serde_json::to_vec(&message)?));
        *request.method_mut() = hyper::Method::POST;
        *request.uri_mut() = self.uri.clone();
        request.headers_mut().extend(headers);
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let response = self.client.request(request).await.map_err(|error| failed(Failure::Send(error)))?;
        let status = response.status();
        let body = response.into_body().collect().await.map_err(|error| failed(Failure::Body(error)))?.to_bytes();
        match status {
            StatusCode::ACCEPTED => Ok(StreamableHttpPostResponse::Accepted),
            _ => {
                let message: ServerJsonRpcMessage = serde_json::from_slice(&body)?;
                Ok(StreamableHttpPostResponse::Json(message, None))
            }
        }
    }

    async fn delete_session(
        &self,
        _uri: Arc<str>,
        _session: Arc<str>,
        _authorization: Option<String>,
        _headers: Headers,
    ) -> Result<(), StreamableHttpError<Failure>> {
        Err(StreamableHttpError::ServerDoesNotSupportDeleteSession)
    }

    async fn get_stream(
        &self,
        _uri: Arc<str>,
        _session: Option<Arc<str>>,
        _last_event_id: Option<String>,
        _authorization: Option<String>,
        _headers: Headers,
    ) -> Result<BoxStream<'static, Result<sse_stream::Sse, SseError>>, StreamableHttpError<Failure>> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

fn failed(failure: Failure) -> StreamableHttpError<Failure> {
    StreamableHttpError::Client(failure)
}
