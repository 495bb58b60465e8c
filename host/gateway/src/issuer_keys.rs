//! Fetches the key sets of outside issuers. Which address may be asked is checked with the configuration.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use intent_gateway_domain::clock::Clock;
use intent_gateway_http::auth::issuers::Issuers;
use intent_gateway_http::auth::{JwksError, JwksFetch};

use intent_gateway_config::Config;

/// Wait for a whole answer; the caller gives up at the same time, and this ends the thread that waits.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The issuers that are configured.
pub(crate) fn issuers(config: &Config, clock: &Arc<dyn Clock>) -> anyhow::Result<Issuers> {
    let issuers = Issuers::default();
    replace(&issuers, config, clock)?;
    Ok(issuers)
}

/// Takes the issuers of another configuration into service in place of those that there are.
pub(crate) fn replace(issuers: &Issuers, config: &Config, clock: &Arc<dyn Clock>) -> anyhow::Result<()> {
    let configs = config.auth.issuers.iter().map(intent_gateway_config::IssuerEntry::config).collect();
    let fetch: Arc<dyn JwksFetch> = Arc::new(KeySets::new());
    Ok(issuers.replace(configs, &fetch, clock)?)
}

/// A client that follows no redirect: the configured address is the one whose owner is trusted.
struct KeySets(ureq::Agent);

impl KeySets {
    fn new() -> Self {
        let config = ureq::Agent::config_builder().timeout_global(Some(ANSWER_TIMEOUT)).max_redirects(0);
        Self(config.build().into())
    }
}

/// The answer is not one that holds a key set.
#[derive(Debug, thiserror::Error)]
#[error("status {0}")]
struct Status(u16);

impl JwksFetch for KeySets {
    fn fetch<'a>(
        &'a self,
        url: &'a str,
        max_bytes: usize,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Bytes, JwksError>> + Send + 'a>> {
        let (agent, url) = (self.0.clone(), url.to_owned());
        // At most one at a time for each issuer.
        let fetched = tokio::task::spawn_blocking(move || read(&agent, &url, max_bytes));
        Box::pin(async move { fetched.await.unwrap_or_else(|panic| Err(JwksError::Fetch(panic.into()))) })
    }
}

fn read(agent: &ureq::Agent, url: &str, max_bytes: usize) -> Result<Bytes, JwksError> {
    let request = agent.get(url).header("accept", "application/json, application/jwk-set+json");
    let mut response = request.call().map_err(|error| JwksError::Fetch(error.into()))?;
    let status = response.status().as_u16();
    if status != 200 {
        return Err(JwksError::Fetch(Status(status).into()));
    }
    let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX);
    match response.body_mut().with_config().limit(limit).read_to_vec() {
        Ok(body) => Ok(body.into()),
        Err(ureq::Error::BodyExceedsLimit(_)) => Err(JwksError::TooLarge),
        Err(error) => Err(JwksError::Fetch(error.into())),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// What comes of one answer, given as HTTP/1.1 text.
    async fn read_answer(answer: &str) -> Result<Bytes, JwksError> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/keys", listener.local_addr().expect("an address"));
        let answer = answer.to_owned();
        let serve = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let mut head = [0_u8; 4_096];
            let read = stream.read(&mut head).await.expect("a request");
            stream.write_all(answer.as_bytes()).await.expect("written");
            String::from_utf8_lossy(&head[..read]).into_owned()
        });
        let result = KeySets::new().fetch(&url, 64).await;
        let head = serve.await.expect("no panic");
        assert!(head.starts_with("GET /keys HTTP/1.1\r\n") && head.contains("application/jwk-set+json"), "{head}");
        result
    }

    #[tokio::test]
    async fn takes_success_of_bounded_size_and_nothing_else() {
        let ok = |body: &str| format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        assert_eq!(read_answer(&ok("{}")).await.expect("fetched"), "{}");
        assert!(matches!(read_answer(&ok(&"x".repeat(65))).await, Err(JwksError::TooLarge)));
        let moved = "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
        for bad in [moved, "HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n", "HTTP/1.1 204 None\r\n\r\n", "nonsense"] {
            assert!(matches!(read_answer(bad).await, Err(JwksError::Fetch(_))), "{bad}");
        }
    }
}
