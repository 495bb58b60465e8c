//! The gateway that runs, as a load balancer asks it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use intent_gateway_api::error::ErrorBody;
use intent_gateway_api::operations::{Health, Readiness, ReadyTrouble};
use serde_json::Value;
use ureq::tls::TlsConfig;

use crate::Order;
use crate::finding::{Area, Code, Finding};
use crate::store::within;

/// Largest answer that is read, bytes.
const ANSWER_MAX_BYTES: u64 = 1024 * 1024;

/// Whether a gateway answers, and what it says of itself.
pub(crate) async fn ask(order: Order<'_>) -> Vec<Finding> {
    let server = &order.config.server;
    let (base, certificate) = match order.gateway {
        Some(given) => (given.trim_end_matches('/').to_owned(), Certificate::Verified),
        None => match own_address(server.listen) {
            // The certificate is for a name, and nothing secret is said: any will do.
            Some(address) if server.tls().is_some() => (format!("https://{address}"), Certificate::Any),
            Some(address) => (format!("http://{address}"), Certificate::Verified),
            None => {
                return vec![Finding::skipped(Area::Gateway, "`server.listen` names no port: name it with --gateway")];
            }
        },
    };
    let absent = |why: String| vec![Finding::of(Area::Gateway, Code::GatewayAbsent, format!("{base}: {why}"))];
    let (status, answer) = match get_json(format!("{base}/ready"), certificate, order.wait).await {
        Ok(answered) => answered,
        Err(why) => return absent(why),
    };
    if let Ok(ErrorBody { error }) = serde_json::from_value(answer.clone()) {
        return vec![Finding::of(Area::Gateway, Code::GatewayTroubled, error.message).about(error.code)];
    }
    let Ok(ready) = serde_json::from_value::<Readiness>(answer) else {
        return absent(format!("it answers {status}, and not as a gateway does"));
    };
    let mut found: Vec<Finding> = ready.troubles.iter().map(tell).collect();
    let health = get_json(format!("{base}/health"), certificate, order.wait).await;
    let health = health.map(|(_, answer)| serde_json::from_value(answer));
    if let Ok(Ok(Health { warnings, .. })) = health {
        let warn = |code: &String| {
            Finding::of(Area::Gateway, Code::GatewayTroubled, "its answer to /health says so".to_owned()).about(code)
        };
        found.extend(warnings.iter().map(warn));
    }
    if found.is_empty() {
        let message = format!("{base} is {}; {} live", ready.status, count_intents(ready.live_intents));
        found.push(Finding::ok(Area::Gateway, message));
    }
    found
}

fn count_intents(intents: usize) -> String {
    if intents == 1 { "1 intent is".to_owned() } else { format!("{intents} intents are") }
}

fn tell(ReadyTrouble { code, subject, message }: &ReadyTrouble) -> Finding {
    let about = subject.as_ref().map_or_else(|| code.clone(), |subject| format!("{code} {subject}"));
    Finding::of(Area::Gateway, Code::GatewayTroubled, message.clone()).about(about)
}

/// Where this machine reaches a gateway that listens so.
fn own_address(listen: SocketAddr) -> Option<SocketAddr> {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    (listen.port() != 0).then(|| SocketAddr::new(ip, listen.port()))
}

/// Which certificate a server may show.
#[derive(Clone, Copy)]
pub(crate) enum Certificate {
    /// One that an authority of the web vouches for.
    Verified,
    /// Any.
    Any,
}

/// Asks for JSON: the status, whatever it is, and the answer.
///
/// # Errors
/// Why there is none, in words.
pub(crate) async fn get_json(url: String, certificate: Certificate, wait: Duration) -> Result<(u16, Value), String> {
    let asked = tokio::task::spawn_blocking(move || {
        let is_any = matches!(certificate, Certificate::Any);
        let config = ureq::Agent::config_builder()
            .tls_config(TlsConfig::builder().disable_verification(is_any).build())
            .timeout_global(Some(wait))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false);
        let agent: ureq::Agent = config.build().into();
        let mut response = agent.get(&url).header("accept", "application/json").call().map_err(|e| e.to_string())?;
        let status = response.status().as_u16();
        let body =
            response.body_mut().with_config().limit(ANSWER_MAX_BYTES).read_to_vec().map_err(|e| e.to_string())?;
        let answer = serde_json::from_slice(&body).map_err(|_| format!("it answers {status}, and no JSON"))?;
        Ok((status, answer))
    });
    // Its own time ends the wait, too; this is for a thread that was not given its turn.
    within(wait.saturating_mul(2), asked).await?.map_err(|panic| panic.to_string())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_that_listens_everywhere_is_asked_here() {
        let address = |text: &str| text.parse::<SocketAddr>().expect("an address");
        assert_eq!(own_address(address("0.0.0.0:8080")), Some(address("127.0.0.1:8080")));
        assert_eq!(own_address(address("[::]:8080")), Some(address("[::1]:8080")));
        assert_eq!(own_address(address("10.0.0.5:80")), Some(address("10.0.0.5:80")));
        assert_eq!(own_address(address("127.0.0.1:0")), None);
    }

    #[test]
    fn each_trouble_is_told_with_its_code_and_subject() {
        let trouble = |subject: Option<&str>| ReadyTrouble {
            code: "TASK_LATE".to_owned(),
            subject: subject.map(str::to_owned),
            message: "it is late".to_owned(),
        };
        assert_eq!(tell(&trouble(Some("probes"))).about.as_deref(), Some("TASK_LATE probes"));
        assert_eq!(tell(&trouble(None)).about.as_deref(), Some("TASK_LATE"));
    }
}
