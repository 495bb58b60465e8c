//! Server processes that run for as long as a test, a bench or the demo needs them: started, waited for, stopped.
//!
//! Every server of this project, the gateway and the example partners alike, prints `listening on URL` once it can be
//! called. What they do, only the modules below know.

pub mod clock;
pub mod haproxy;
pub mod postgres;
pub mod power_loss;
pub mod registry;
pub mod secrets;
pub mod smtp;
pub mod soak;
pub mod tools;
pub mod webhooks;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long a server may take until it listens. Python's imports are slow on a cold disk.
const START_MAX: Duration = Duration::from_secs(60);
/// How long a server may take to stop when asked.
const STOP_MAX: Duration = Duration::from_secs(60);
/// How often a gateway is asked whether it is ready.
const READY_POLL: Duration = Duration::from_millis(10);
/// How often a server that was asked to stop is looked at.
const STOP_POLL: Duration = Duration::from_millis(5);

/// A server did not do as it should.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The process could not be started, asked or waited for.
    #[error("{name}: the process cannot be {what}")]
    Process {
        /// The server's name.
        name: String,
        /// What was tried.
        what: &'static str,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
    /// It ended instead of listening.
    #[error("{name} ended with {status} before it listened; see its log")]
    Ended {
        /// The server's name.
        name: String,
        /// How.
        status: ExitStatus,
    },
    /// It runs and prints no address.
    #[error("{0} printed no address within {seconds} s", seconds = START_MAX.as_secs())]
    Silent(String),
    /// Its contracts do not go live.
    #[error("{name} had not {live} live intents within {seconds} s", seconds = START_MAX.as_secs())]
    NotReady {
        /// The server's name.
        name: String,
        /// How many were waited for.
        live: usize,
    },
    /// It ended with a failure when asked to stop.
    #[error("{name} stopped with {status}")]
    StoppedBadly {
        /// The server's name.
        name: String,
        /// How.
        status: ExitStatus,
    },
    /// It did not stop when asked.
    #[error("{0} did not stop within {seconds} s", seconds = STOP_MAX.as_secs())]
    Stuck(String),
    /// The tools that only tests need are not there.
    #[error("{} is missing; `cargo xtask test --only \"test tools\"` installs it", .0.display())]
    NoTools(PathBuf),
}

/// A running server; killed when dropped.
#[derive(Debug)]
pub struct Server {
    /// What follows `listening on ` in the line that it printed.
    pub url: String,
    name: String,
    child: Child,
}

impl Server {
    /// Starts a server and waits until it listens. What it writes to stderr goes to `log`.
    ///
    /// # Errors
    /// [`ServerError`] when it cannot be started or does not listen in time.
    pub fn start(name: &str, command: &mut Command, log: impl Into<Stdio>) -> Result<Self, ServerError> {
        let process = |what| move |cause| ServerError::Process { name: name.to_owned(), what, cause };
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn().map_err(process("started"))?;
        let (sender, receiver) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            // The thread goes on reading, so that the server never blocks on a full pipe; it ends with the pipe.
            std::thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if let Some(url) = line.trim().strip_prefix("listening on ") {
                        // The receiver is gone once the first line has come.
                        let _ = sender.send(url.to_owned());
                    }
                }
            });
        }
        // From here on, leaving early kills the process.
        let mut server = Self { url: String::new(), name: name.to_owned(), child };
        match receiver.recv_timeout(START_MAX) {
            Ok(url) => server.url = url,
            Err(mpsc::RecvTimeoutError::Timeout) => return Err(ServerError::Silent(name.to_owned())),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                let status = server.child.wait().map_err(process("waited for"))?;
                return Err(ServerError::Ended { name: name.to_owned(), status });
            }
        }
        Ok(server)
    }

    /// The process identifier.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// `host:port` of the URL.
    #[must_use]
    pub fn address(&self) -> &str {
        let rest = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest);
        rest.split('/').next().unwrap_or(rest)
    }

    /// Waits until `/ready` of a gateway names so many live intents: it listens before it has looked through its folder of
    /// contracts.
    ///
    /// # Errors
    /// [`ServerError`] when they are not live in time.
    pub fn wait_for_intents(&self, live: usize) -> Result<(), ServerError> {
        // Troubles may follow.
        let named = [format!("\"live_intents\":{live}}}"), format!("\"live_intents\":{live},")];
        let deadline = Instant::now() + START_MAX;
        while Instant::now() < deadline {
            let answer = exchange(self.address(), "/ready");
            let answer = answer.map_err(|cause| self.process_error("asked whether it is ready", cause))?;
            if named.iter().any(|named| answer.contains(named)) {
                return Ok(());
            }
            std::thread::park_timeout(READY_POLL);
        }
        Err(ServerError::NotReady { name: self.name.clone(), live })
    }

    /// Asks the server to stop (SIGTERM) and waits until it has.
    ///
    /// # Errors
    /// [`ServerError`] when it does not stop in time, or not with success.
    pub fn stop(self) -> Result<(), ServerError> {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        asked.map_err(|cause| self.process_error("asked to stop", cause))?;
        self.wait()
    }

    /// Waits until a server that was asked to stop has.
    ///
    /// # Errors
    /// [`ServerError`] when it does not stop in time, or not with success.
    pub fn wait(mut self) -> Result<(), ServerError> {
        let deadline = Instant::now() + STOP_MAX;
        while Instant::now() < deadline {
            match self.child.try_wait().map_err(|cause| self.process_error("waited for", cause))? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(ServerError::StoppedBadly { name: self.name.clone(), status }),
                None => std::thread::park_timeout(STOP_POLL),
            }
        }
        Err(ServerError::Stuck(self.name.clone()))
    }

    fn process_error(&self, what: &'static str, cause: std::io::Error) -> ServerError {
        ServerError::Process { name: self.name.clone(), what, cause }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error here means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One GET; the answer whole, head and body.
pub(crate) fn exchange(address: &str, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_server_is_started_asked_and_stopped() {
        let script = "echo hello; echo 'listening on http://127.0.0.1:80/mcp'; exec sleep 60";
        let server = Server::start("sleeper", &mut shell(script), Stdio::null()).unwrap();
        assert_eq!((server.url.as_str(), server.address()), ("http://127.0.0.1:80/mcp", "127.0.0.1:80"));
        // `sleep` does not end with success when asked to stop.
        assert!(matches!(server.stop(), Err(ServerError::StoppedBadly { .. })));
        let polite = "trap 'exit 0' TERM; echo listening on x; while :; do sleep 0.01; done";
        Server::start("polite", &mut shell(polite), Stdio::null()).unwrap().stop().unwrap();
    }

    #[test]
    fn a_server_that_ends_early_is_told_from_a_silent_one() {
        let ended = Server::start("ended", &mut shell("echo no; exit 3"), Stdio::null());
        assert!(matches!(ended, Err(ServerError::Ended { .. })), "{ended:?}");
        let none = Server::start("none", &mut Command::new("/no/such/program"), Stdio::null());
        assert!(matches!(none, Err(ServerError::Process { .. })), "{none:?}");
    }
}
