//! Mail in development: each one is a JSON line at the end of a file that only its owner can read.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::mail::{Mail, MailError};
use intent_gateway_domain::ports::Mailer;
use jiff::Timestamp;
use lettre::message::Mailbox;
use serde::Serialize;
use tokio::fs::OpenOptions;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::Mutex;

use crate::MailSetupError;
use crate::message;

/// Bits of a file's mode: its owner reads and writes, nobody else does anything. Mails hold codes.
const MODE: u32 = 0o600;
/// Largest outbox, bytes. Nobody reads so many mails of a development machine.
const FILE_MAX_BYTES: u64 = 16 * 1024 * 1024;

/// One mail in the file.
#[derive(Serialize)]
struct Line<'a> {
    /// When it was sent, RFC 3339, UTC.
    at: String,
    from: String,
    #[serde(flatten)]
    mail: &'a Mail,
}

/// Writes mails into a file.
pub(crate) struct Outbox {
    path: PathBuf,
    sender: Mailbox,
    clock: Arc<dyn Clock>,
    /// Held while a line is written, so that lines do not mix.
    writing: Mutex<()>,
}

impl Outbox {
    /// Makes the file if it is not there, and makes it private if it is.
    pub(crate) fn open(path: PathBuf, sender: Mailbox, clock: Arc<dyn Clock>) -> Result<Self, MailSetupError> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let open = || {
            let file = std::fs::OpenOptions::new().create(true).append(true).mode(MODE).open(&path)?;
            file.set_permissions(Permissions::from_mode(MODE))
        };
        open().map_err(|error| MailSetupError::Outbox { path: path.display().to_string(), error })?;
        Ok(Self { path, sender, clock, writing: Mutex::new(()) })
    }

    async fn append(&self, line: &[u8]) -> io::Result<()> {
        let _writing = self.writing.lock().await;
        // Opened anew for each mail, so that the file may be moved away or removed at any time.
        let mut file = OpenOptions::new().create(true).append(true).mode(MODE).open(&self.path).await?;
        if file.metadata().await?.len() >= FILE_MAX_BYTES {
            let full = format!("it holds {FILE_MAX_BYTES} bytes; move it away");
            return Err(io::Error::new(io::ErrorKind::StorageFull, full));
        }
        file.write_all(line).await?;
        file.flush().await
    }

    async fn write(&self, mail: &Mail) -> Result<(), MailError> {
        // What no server would take must not seem to work here.
        message::check(mail)?;
        let failed = |error: &dyn std::fmt::Display| {
            MailError::Temporary(format!("the outbox {} cannot be written: {error}", self.path.display()))
        };
        let now_ms = i64::try_from(self.clock.now().as_ms()).unwrap_or(i64::MAX);
        let at = Timestamp::from_millisecond(now_ms).map_err(|error| failed(&error))?;
        let line = Line { at: at.to_string(), from: self.sender.to_string(), mail };
        let mut line = serde_json::to_vec(&line).map_err(|error| failed(&error))?;
        line.push(b'\n');
        self.append(&line).await.map_err(|error| failed(&error))?;
        tracing::info!(subject = %mail.subject, "mail is in the outbox");
        Ok(())
    }
}

impl Mailer for Outbox {
    fn send<'a>(&'a self, mail: &'a Mail) -> BoxFuture<'a, Result<(), MailError>> {
        self.write(mail).boxed()
    }
}
