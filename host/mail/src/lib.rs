//! Sends the platform's mail: by SMTP, or into an outbox file in development. The only user of lettre.
//!
//! Not here: what a mail says, when it is sent again after [`MailError::Temporary`], and who may be written to. The port
//! is `domain::ports::Mailer`.
//!
//! [`MailError::Temporary`]: intent_gateway_domain::mail::MailError::Temporary

mod config;
mod message;
mod outbox;
mod smtp;

use std::path::Path;
use std::sync::Arc;

use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::ports::Mailer;

pub use crate::config::{MailConfig, MailConfigError, MailMode, MailTls};
use crate::outbox::Outbox;
use crate::smtp::Smtp;

/// File of the outbox in the state folder, where the configuration names no other.
pub const OUTBOX_FILE: &str = "outbox.jsonl";

/// Mail could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum MailSetupError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] MailConfigError),
    /// The outbox cannot be written.
    #[error("the outbox {path} cannot be written")]
    Outbox {
        /// The file.
        path: String,
        /// Why not.
        #[source]
        error: std::io::Error,
    },
    /// The file of certificates cannot be read.
    #[error("`ca_file` {path} cannot be read")]
    CaFile {
        /// The file.
        path: String,
        /// Why not.
        #[source]
        error: std::io::Error,
    },
    /// TLS could not be set up.
    #[error("TLS could not be set up")]
    Tls(#[source] lettre::transport::smtp::Error),
}

/// Mail could not be sent now.
#[derive(Debug, thiserror::Error)]
pub enum MailTrialError {
    /// It could not even be set up.
    #[error(transparent)]
    Setup(#[from] MailSetupError),
    /// The server cannot be reached, is not trusted, or takes no login.
    #[error("{0}")]
    Server(String),
}

/// Greets the SMTP server of a configuration and, where a user is set, signs in; no mail is sent.
///
/// # Errors
/// [`MailTrialError`] with what the server or the network said. It waits no longer than a mail would.
pub async fn try_server(config: &MailConfig, clock: Arc<dyn Clock>) -> Result<(), MailTrialError> {
    let sender = config.validate().map_err(MailSetupError::from)?;
    Smtp::new(config, sender, clock)?.greet().await.map_err(MailTrialError::Server)
}

/// The mailer that the configuration asks for. No connection is made before the first mail.
///
/// # Errors
/// [`MailSetupError`] when the configuration is wrong, or a file that it names cannot be used.
pub fn mailer(config: &MailConfig, state_dir: &Path, clock: Arc<dyn Clock>) -> Result<Arc<dyn Mailer>, MailSetupError> {
    let sender = config.validate()?;
    match config.mode {
        MailMode::Outbox => {
            let path = config.outbox_file.clone().unwrap_or_else(|| state_dir.join(OUTBOX_FILE));
            tracing::warn!(path = %path.display(), "no mail leaves this machine: mails are written to the outbox file");
            Ok(Arc::new(Outbox::open(path, sender, clock)?))
        }
        MailMode::Smtp => Ok(Arc::new(Smtp::new(config, sender, clock)?)),
    }
}
