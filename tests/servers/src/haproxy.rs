//! A real HAProxy in front of servers, which follows their `/ready` and repeats nothing: what fails behind it, its client sees.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::exchange;

/// Set to `required` where tests must not go without HAProxy.
const DEMAND: &str = "INTENT_GATEWAY_TEST_HAPROXY";
/// Where Debian's package puts it, which is not on every path.
const DEBIAN_PROGRAM: &str = "/usr/sbin/haproxy";
/// How long it may take until it, or a server behind it, is up.
const UP_MAX: Duration = Duration::from_secs(60);
/// How often that is looked for.
const LOOK: Duration = Duration::from_millis(20);
/// How often it asks each server, and how many failures it takes to leave one out.
const CHECK_MS: u32 = 500;
const FAILURES: u32 = 3;

/// The proxy cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum HaproxyError {
    /// It is not installed, and it must be.
    #[error("HAProxy is not installed and {DEMAND}=required; on Debian: apt-get install haproxy")]
    Missing,
    /// It cannot be started.
    #[error("HAProxy: {what} failed")]
    Step {
        /// What was tried.
        what: &'static str,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
    /// It, or a server behind it, does not come up.
    #[error("HAProxy: {0} is not up in time")]
    NotUp(String),
}

/// A running proxy; it ends when this is dropped.
#[derive(Debug)]
pub struct Haproxy {
    address: SocketAddr,
    statistics: SocketAddr,
    child: Child,
    _folder: TempDir,
}

impl Haproxy {
    /// How long a server that says 503 at `/ready` may still get requests.
    pub const NOTICES_WITHIN: Duration = Duration::from_millis((CHECK_MS * (FAILURES + 1)) as u64);

    /// Starts it in front of servers; `None` where it is not installed: the caller says so and goes on without.
    ///
    /// # Errors
    /// [`HaproxyError`] when it is installed and does not start, or is not installed where the environment demands it.
    pub fn start(servers: &[SocketAddr]) -> Result<Option<Self>, HaproxyError> {
        let Some(program) = find_program() else {
            let is_required = std::env::var_os(DEMAND).is_some_and(|demand| demand == "required");
            return if is_required { Err(HaproxyError::Missing) } else { Ok(None) };
        };
        let folder = tempfile::tempdir().map_err(step("a folder"))?;
        let (address, statistics) = (free_address()?, free_address()?);
        let config = folder.path().join("haproxy.cfg");
        std::fs::write(&config, configuration(address, statistics, servers)).map_err(step("its configuration"))?;
        let log = std::fs::File::create(folder.path().join("log")).map_err(step("its log"))?;
        let child = Command::new(program)
            .arg("-db")
            .arg("-f")
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(step("the program"))?;
        let proxy = Self { address, statistics, child, _folder: folder };
        for number in 0..servers.len() {
            proxy.wait_until_up(number)?;
        }
        Ok(Some(proxy))
    }

    /// Where it listens.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until it sends requests to a server, by its place.
    ///
    /// # Errors
    /// [`HaproxyError::NotUp`] when it does not in time.
    pub fn wait_until_up(&self, server: usize) -> Result<(), HaproxyError> {
        let deadline = Instant::now() + UP_MAX;
        let name = format!("server{server}");
        while !self.is_up(&name) {
            if Instant::now() > deadline {
                return Err(HaproxyError::NotUp(name));
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    fn is_up(&self, server: &str) -> bool {
        let Ok(answer) = exchange(&self.statistics.to_string(), "/;csv") else { return false };
        let row = answer.lines().find(|line| line.starts_with(&format!("gateways,{server},")));
        // The eighteenth column is the status.
        row.and_then(|row| row.split(',').nth(17)).is_some_and(|status| status == "UP")
    }
}

impl Drop for Haproxy {
    fn drop(&mut self) {
        // An error here means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Idle connections are shared among clients, and nothing is tried twice: a connection that a server closes under a request is a
/// request that fails.
fn configuration(address: SocketAddr, statistics: SocketAddr, servers: &[SocketAddr]) -> String {
    let servers: String =
        servers.iter().enumerate().map(|(number, server)| format!("    server server{number} {server}\n")).collect();
    format!(
        "defaults\n    mode http\n    retries 0\n    timeout connect 2s\n    timeout client 60s\n    timeout server 60s\n    timeout check 5s\n\
         frontend in\n    bind {address}\n    default_backend gateways\n\
         frontend statistics\n    bind {statistics}\n    stats enable\n    stats uri /\n\
         backend gateways\n    balance roundrobin\n    http-reuse always\n    option httpchk GET /ready\n    \
         http-check expect status 200\n    default-server check inter {CHECK_MS}ms fall {FAILURES} rise 1\n{servers}"
    )
}

fn find_program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("haproxy"));
    std::iter::once(PathBuf::from(DEBIAN_PROGRAM)).chain(on_path).find(|program| program.is_file())
}

/// An address that was free a moment ago; the system does not hand it out again at once.
fn free_address() -> Result<SocketAddr, HaproxyError> {
    TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).map_err(step("a port"))
}

fn step(what: &'static str) -> impl Fn(std::io::Error) -> HaproxyError {
    move |cause| HaproxyError::Step { what, cause }
}
