//! A real SMTP server for tests: `smtp_server.py` on aiosmtpd, which nobody here wrote. It keeps each mail as a file, and
//! its reader of messages is Python's, so that a mail is judged by other eyes than those that made it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::{Server, ServerError, tools};

/// Mails of one server that are read; no test sends more.
const MAILS_MAX: usize = 10_000;
/// The server's log, beside its mails.
const LOG_FILE: &str = "server.log";

/// What the server demands of its clients.
#[derive(Clone, Debug, Default)]
pub struct SmtpOptions {
    /// Demands TLS with this certificate.
    pub tls: Option<SmtpTls>,
    /// Demands this user and password.
    pub login: Option<(String, String)>,
}

/// The server's certificate, as PEM files.
#[derive(Clone, Debug)]
pub struct SmtpTls {
    /// The certificate.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// TLS from the first byte; otherwise by STARTTLS.
    pub implicit: bool,
}

/// A mail as the server took it.
#[derive(Clone, Debug, Deserialize)]
pub struct ReceivedMail {
    /// Sender of the envelope.
    pub sender: String,
    /// Recipients of the envelope.
    pub recipients: Vec<String>,
    /// Names and decoded values of the headers, in their order.
    pub headers: Vec<(String, String)>,
    /// The decoded body.
    pub text: String,
    /// The message as it came.
    pub raw: String,
    /// Whether it came over TLS that STARTTLS began.
    pub tls: bool,
    /// Who had signed in.
    pub user: Option<String>,
    /// What the client called itself.
    pub hello: String,
    /// Which of the server's connections it came by, counted from 1.
    pub connection: u64,
}

impl ReceivedMail {
    /// The first header of a name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut named = self.headers.iter().filter(|(given, _)| given.eq_ignore_ascii_case(name));
        named.next().map(|(_, value)| value.as_str())
    }
}

/// A mail that was kept cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MailboxError {
    /// The folder or a file in it cannot be read.
    #[error("the mails in {} cannot be read", .0.display())]
    Unreadable(PathBuf, #[source] std::io::Error),
    /// A file is not a mail.
    #[error("{} is no mail", .0.display())]
    NoMail(PathBuf, #[source] serde_json::Error),
}

/// A running SMTP server; killed when dropped.
#[derive(Debug)]
pub struct SmtpServer {
    server: Server,
    folder: PathBuf,
}

impl SmtpServer {
    /// Starts a server on a free port of 127.0.0.1 that keeps its mails in `folder`.
    ///
    /// # Errors
    /// [`ServerError`] when it cannot be started; [`ServerError::NoTools`] where its Python is not installed.
    pub fn start(folder: &Path, options: &SmtpOptions) -> Result<Self, ServerError> {
        let mut command = Command::new(tools::program("python")?);
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("smtp_server.py")).arg("--folder").arg(folder);
        if let Some(SmtpTls { certificate, key, implicit }) = &options.tls {
            command.arg("--certificate").arg(certificate).arg("--key").arg(key);
            if *implicit {
                command.arg("--implicit-tls");
            }
        }
        if let Some((user, password)) = &options.login {
            command.args(["--user", user]).env("SMTP_PASSWORD", password);
        }
        let log = File::create(folder.join(LOG_FILE)).map_err(|cause| {
            let name = "the SMTP server".to_owned();
            ServerError::Process { name, what: "logged", cause }
        })?;
        let server = Server::start("the SMTP server", &mut command, log)?;
        Ok(Self { server, folder: folder.to_owned() })
    }

    /// The port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.server.address().rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or_default()
    }

    /// The mails taken so far, oldest first. A mail is kept before its sender is told so.
    ///
    /// # Errors
    /// [`MailboxError`] when one cannot be read.
    pub fn mails(&self) -> Result<Vec<ReceivedMail>, MailboxError> {
        let unreadable = |error| MailboxError::Unreadable(self.folder.clone(), error);
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(unreadable)?.take(MAILS_MAX) {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                paths.push(path);
            }
        }
        paths.sort();
        let read = |path: PathBuf| {
            let bytes = std::fs::read(&path).map_err(|error| MailboxError::Unreadable(path.clone(), error))?;
            serde_json::from_slice(&bytes).map_err(|error| MailboxError::NoMail(path, error))
        };
        paths.into_iter().map(read).collect()
    }

    /// Asks the server to stop and waits until it has.
    ///
    /// # Errors
    /// [`ServerError`] when it does not stop in time, or not with success.
    pub fn stop(self) -> Result<(), ServerError> {
        self.server.stop()
    }
}
