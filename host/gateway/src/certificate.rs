//! The certificate that the listeners show: read at the start, and again while the gateway serves, so that one that was renewed is shown
//! without a restart.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use intent_gateway_config::Config;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::telemetry;
use intent_gateway_http::tls::ListenerTls;

use crate::readiness::TaskRounds;

/// How often it is looked whether the files are others.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// Reads certificate and key, where the listeners serve over TLS.
pub(crate) fn open(config: &Config) -> anyhow::Result<Option<Arc<ListenerTls>>> {
    let Some(files) = config.server.tls() else { return Ok(None) };
    let opened = ListenerTls::open(files).context("the listener cannot serve over TLS")?;
    telemetry::show_certificate_end(opened.ends_at());
    Ok(Some(Arc::new(opened)))
}

/// Reads the files again and again. Those that cannot be used change nothing, and are told each time.
pub(crate) async fn follow(tls: Arc<ListenerTls>, rounds: TaskRounds) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let read = read_again(&tls);
        rounds.note_result(&read);
    }
}

/// Reads the files again.
pub(crate) fn read_again(tls: &ListenerTls) -> anyhow::Result<()> {
    match tls.read_again() {
        Ok(true) => {
            telemetry::show_certificate_end(tls.ends_at());
            tracing::info!("the certificate of the listener was read again; new connections are shown it");
        }
        Ok(false) => {}
        Err(error) => {
            tracing::error!(error = %chain(&error), "the listener's certificate cannot be read again; the one before is shown");
            return Err(error.into());
        }
    }
    Ok(())
}
