//! Servers that run for as long as a step needs them: started, waited for, stopped.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, bail};

/// How long a server may take until it listens. Python's imports are slow on a cold disk.
const START_MAX: Duration = Duration::from_secs(60);
/// How long a server may take to stop when asked.
const STOP_MAX: Duration = Duration::from_secs(10);

/// A running server; stopped when dropped.
pub(crate) struct Server {
    name: String,
    child: Child,
    /// What follows `listening on ` in the line that it printed.
    pub(crate) url: String,
}

impl Server {
    /// Starts a server and waits for its line `listening on URL`. Its log goes to `log`.
    pub(crate) fn start(name: &str, command: &mut Command, log: std::fs::File) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let stdout = child.stdout.take().context("stdout is piped")?;
        let (sender, receiver) = mpsc::channel();
        // The thread goes on reading, so that the server never blocks on a full pipe; it ends with the pipe.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Some(url) = line.trim().strip_prefix("listening on ") {
                    // The receiver is gone once the first line has come.
                    let _ = sender.send(url.to_owned());
                }
            }
        });
        let mut server = Self { name: name.to_owned(), child, url: String::new() };
        match receiver.recv_timeout(START_MAX) {
            Ok(url) => server.url = url,
            Err(_) => bail!("{name} does not listen: {}", server.fate()),
        }
        Ok(server)
    }

    fn fate(&mut self) -> String {
        match self.child.try_wait() {
            Ok(Some(status)) => format!("it ended with {status}; see its log"),
            _ => format!("it printed no address within {} s", START_MAX.as_secs()),
        }
    }

    /// Asks the server to stop and waits; returns whether it ended by itself, with success.
    pub(crate) fn stop(mut self) -> anyhow::Result<()> {
        let pid = self.child.id().to_string();
        crate::command::run(Command::new("kill").args(["-TERM", &pid]))?;
        let deadline = std::time::Instant::now() + STOP_MAX;
        while std::time::Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                if status.success() {
                    return Ok(());
                }
                bail!("{} ended with {status}", self.name);
            }
            std::thread::park_timeout(Duration::from_millis(10));
        }
        bail!("{} did not stop within {} s", self.name, STOP_MAX.as_secs())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error here means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
