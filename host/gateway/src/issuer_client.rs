//! Asks the issuer at which the team signs in at the console.

use std::time::Duration;

use futures_util::future::BoxFuture;
use intent_gateway_console::{FetchError, Fetched, ProviderFetch};
use intent_gateway_domain::secret::Secret;
use ureq::Body;
use ureq::http::Response;

/// Wait for a whole answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of an answer: an issuer's document of itself, or its tokens.
const ANSWER_MAX_BYTES: u64 = 256 * 1024;

/// A client that follows no redirect: the configured address is the one whose owner is trusted.
pub(crate) struct IssuerClient(ureq::Agent);

impl IssuerClient {
    pub(crate) fn new() -> Self {
        let config = ureq::Agent::config_builder().timeout_global(Some(ANSWER_TIMEOUT)).max_redirects(0);
        // A refusal is an answer, too.
        Self(config.http_status_as_error(false).build().into())
    }
}

impl ProviderFetch for IssuerClient {
    fn get(&self, url: String) -> BoxFuture<'static, Result<Fetched, FetchError>> {
        let agent = self.0.clone();
        off_the_runtime(move || read(agent.get(&url).header("accept", "application/json").call()))
    }

    fn post_form(
        &self,
        url: String,
        authorization: Option<Secret>,
        form: Secret,
    ) -> BoxFuture<'static, Result<Fetched, FetchError>> {
        let agent = self.0.clone();
        off_the_runtime(move || {
            let mut request = agent
                .post(&url)
                .header("accept", "application/json")
                .header("content-type", "application/x-www-form-urlencoded");
            if let Some(authorization) = &authorization {
                request = request.header("authorization", authorization.expose());
            }
            read(request.send(form.expose()))
        })
    }
}

fn off_the_runtime(
    ask: impl FnOnce() -> Result<Fetched, FetchError> + Send + 'static,
) -> BoxFuture<'static, Result<Fetched, FetchError>> {
    Box::pin(
        async move { tokio::task::spawn_blocking(ask).await.unwrap_or_else(|panic| Err(FetchError(panic.into()))) },
    )
}

fn read(answer: Result<Response<Body>, ureq::Error>) -> Result<Fetched, FetchError> {
    let mut answer = answer.map_err(|error| FetchError(error.into()))?;
    let status = answer.status().as_u16();
    let body = answer.body_mut().with_config().limit(ANSWER_MAX_BYTES).read_to_vec();
    Ok(Fetched { status, body: body.map_err(|error| FetchError(error.into()))?.into() })
}
