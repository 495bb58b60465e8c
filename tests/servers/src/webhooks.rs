//! Partners' webhooks for tests: receivers that verify events with the libraries of Standard Webhooks for Python and Node, which nobody
//! here wrote.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use crate::{Server, ServerError, tools};

const LOG_FILE: &str = "receiver.log";

/// Which library verifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verifier {
    Python,
    Node,
}

/// An event as it came.
#[derive(Clone, Debug, Deserialize)]
pub struct ReceivedEvent {
    /// `webhook-id`.
    pub id: String,
    /// Why the library did not take it; none where it did.
    pub refused: Option<String>,
    pub body: Value,
}

impl ReceivedEvent {
    /// The type of the event.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.body["type"].as_str().unwrap_or_default()
    }
}

/// A receiver that runs; killed when dropped.
#[derive(Debug)]
pub struct WebhookReceiver {
    server: Server,
    folder: PathBuf,
}

impl WebhookReceiver {
    /// Starts a receiver that keeps its files in `folder`, on a port of 127.0.0.1; on a free one where none is said.
    ///
    /// # Errors
    /// [`ServerError`] when it cannot be started; [`ServerError::NoTools`] where its library is not installed.
    pub fn start(verifier: Verifier, folder: &Path, port: Option<u16>) -> Result<Self, ServerError> {
        let mut command = match verifier {
            Verifier::Python => Command::new(tools::program("python")?),
            Verifier::Node => Command::new(tools::mcp_node()?),
        };
        command.arg(match verifier {
            Verifier::Python => tools::webhook_receiver("receiver.py")?,
            Verifier::Node => tools::webhook_receiver("receiver.mjs")?,
        });
        command.arg("--folder").arg(folder);
        if let Some(port) = port {
            command.args(["--port", &port.to_string()]);
        }
        let failed = |cause| {
            let name = "the webhook".to_owned();
            ServerError::Process { name, what: "prepared", cause }
        };
        let secrets = folder.join("secrets.txt");
        if !secrets.exists() {
            std::fs::write(&secrets, "").map_err(failed)?;
        }
        let log = File::create(folder.join(LOG_FILE)).map_err(failed)?;
        Ok(Self { server: Server::start("the webhook", &mut command, log)?, folder: folder.to_owned() })
    }

    /// Where it is called.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.server.address())
    }

    /// From here on it takes what one of these secrets has signed.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set_secrets(&self, secrets: &[&str]) -> std::io::Result<()> {
        std::fs::write(self.folder.join("secrets.txt"), secrets.join("\n"))
    }

    /// What has come, the earliest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn events(&self) -> std::io::Result<Vec<ReceivedEvent>> {
        read_events(&self.folder)
    }
}

/// What has come to the receivers of a folder, the earliest first. A line that is still being written is left out.
///
/// # Errors
/// When the file cannot be read.
pub fn read_events(folder: &Path) -> std::io::Result<Vec<ReceivedEvent>> {
    let text = match std::fs::read_to_string(folder.join("events.jsonl")) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole.map(|line| serde_json::from_str(line).map_err(std::io::Error::other)).collect()
}
