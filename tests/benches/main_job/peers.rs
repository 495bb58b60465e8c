//! Who is measured beside the gateway: nginx as a plain proxy, and the same job in Node by hand (`node/search.mjs`).
//! Where a program is missing, a line says so, and the others are measured without it.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sha2::Sha256;
use tempfile::TempDir;
use test_servers::Server;

use crate::root;

/// The intent that the job in Node is written for.
pub(crate) const INTENT: &str = "auto.book_ac_service";

/// Where Debian's package puts nginx, which is not on every path.
const NGINX_PROGRAM: &str = "/usr/sbin/nginx";
const NGINX_WORKERS: usize = 2;
/// Requests of one connection: nginx closes it after a thousand unless it is told otherwise.
const NGINX_REQUESTS_MAX: u32 = 1_000_000_000;
/// How long nginx may take to start and to stop.
const NGINX_MAX: Duration = Duration::from_secs(10);
/// How often it is looked at meanwhile.
const NGINX_POLL: Duration = Duration::from_millis(10);

/// What the tokens of the job in Node are signed with. It opens nothing outside this machine.
const TOKEN_SECRET: &str = "bench-of-the-main-job-not-for-use-anywhere-else";
/// How long a token holds: longer than any load.
const TOKEN_SECONDS: u64 = 3_600;

/// A running nginx that passes everything on to one server; it ends when this is dropped.
pub(crate) struct Nginx {
    address: SocketAddr,
    master: Child,
    folder: TempDir,
}

impl Nginx {
    /// Starts it in front of `host:port`; `None` where it is not installed.
    pub(crate) fn start(to: &str) -> Option<Self> {
        let Some(program) = find_nginx() else {
            println!("(nginx is not installed: no search is measured beside it)");
            return None;
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let address = free_address();
        let config = folder.path().join("nginx.conf");
        std::fs::write(&config, configuration(folder.path(), address, to)).expect("writable");
        let mut command = Command::new(program);
        // It opens a log before it has read where its own is: that of the machine, unless `-e` names another.
        command.arg("-e").arg(log_of(folder.path())).arg("-p").arg(folder.path()).arg("-c").arg(&config);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let master = command.spawn().unwrap_or_else(|error| panic!("nginx cannot be started: {error}"));
        let mut nginx = Self { address, master, folder };
        nginx.wait_until_up();
        Some(nginx)
    }

    /// `host:port` on which it listens.
    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }

    /// The master and its workers, who do the work.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let mut processes = self.workers();
        processes.push(self.master.id());
        processes
    }

    fn workers(&self) -> Vec<u32> {
        let master = self.master.id();
        let children = std::fs::read_to_string(format!("/proc/{master}/task/{master}/children")).expect("Linux tells");
        children.split_whitespace().map(|child| child.parse().expect("a number")).collect()
    }

    fn wait_until_up(&mut self) {
        let deadline = Instant::now() + NGINX_MAX;
        // The master listens before it has workers.
        while self.workers().len() < NGINX_WORKERS || TcpStream::connect(self.address).is_err() {
            let ended = self.master.try_wait().expect("it was started here");
            if ended.is_some() || Instant::now() > deadline {
                let log = std::fs::read_to_string(log_of(self.folder.path())).unwrap_or_default();
                panic!("nginx is not up ({ended:?}): {log}");
            }
            std::thread::park_timeout(NGINX_POLL);
        }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Killed, the master would leave its workers behind. An error here means that it has ended already.
        let _ = kill_process(Pid::from_child(&self.master), Signal::TERM);
        let deadline = Instant::now() + NGINX_MAX;
        while matches!(self.master.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::park_timeout(NGINX_POLL);
        }
        // Likewise.
        let _ = self.master.kill();
        let _ = self.master.wait();
    }
}

/// A proxy that keeps its connections and writes no answer to a file. All that it writes lies below a folder, so that
/// it runs as anybody.
fn configuration(folder: &Path, address: SocketAddr, to: &str) -> String {
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary: String =
        kinds.iter().map(|kind| format!("    {kind}_temp_path {:?};\n", folder.join(kind))).collect();
    format!(
        "daemon off;\nmaster_process on;\nworker_processes {NGINX_WORKERS};\npid {:?};\nerror_log {:?};\n\
         events {{\n    worker_connections 1024;\n}}\n\
         http {{\n    access_log off;\n{temporary}    keepalive_requests {NGINX_REQUESTS_MAX};\n    \
         client_body_buffer_size 64k;\n    \
         upstream partner {{\n        server {to};\n        keepalive 64;\n        \
         keepalive_requests {NGINX_REQUESTS_MAX};\n    }}\n    \
         server {{\n        listen {address};\n        \
         location / {{\n            proxy_pass http://partner;\n            proxy_http_version 1.1;\n            \
         proxy_set_header Connection \"\";\n            proxy_buffer_size 32k;\n            \
         proxy_buffers 8 32k;\n            proxy_max_temp_file_size 0;\n        }}\n    }}\n}}\n",
        folder.join("nginx.pid"),
        log_of(folder)
    )
}

fn log_of(folder: &Path) -> PathBuf {
    folder.join("error.log")
}

fn find_nginx() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("nginx"));
    on_path.chain([PathBuf::from(NGINX_PROGRAM)]).find(|program| program.is_file())
}

/// An address that was free a moment ago; the system does not hand it out again at once.
fn free_address() -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("it is bound")
}

/// The same job in Node by hand, which runs until this is dropped.
pub(crate) struct ByHand {
    pub(crate) server: Server,
    /// A token for it.
    pub(crate) token: String,
    /// Where its receipts lie.
    _folder: TempDir,
}

impl ByHand {
    /// Starts it with the partner at a URL; `None` where Node is not installed.
    pub(crate) fn start(partner: &str) -> Option<Self> {
        if !has_node() {
            println!("(Node is not installed: no search is measured beside one by hand)");
            return None;
        }
        // On a real disk: the build's folder, for /tmp may be memory, and a load leaves hundreds of megabytes.
        let folder = TempDir::new_in(root().join("target")).expect("a temporary folder");
        let mut command = Command::new("node");
        command.env("SEARCH_TOKEN_SECRET", TOKEN_SECRET).env("NODE_ENV", "production");
        command.arg(root().join("tests/benches/main_job/node/search.mjs")).args(["--partner", partner]);
        command.arg("--receipts").arg(folder.path().join("receipts.jsonl"));
        let server = Server::start("the search in Node", &mut command, Stdio::inherit());
        let server = server.unwrap_or_else(|error| panic!("{error}"));
        Some(Self { server, token: issue_token(), _folder: folder })
    }
}

fn has_node() -> bool {
    let mut command = Command::new("node");
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// A JSON Web Token (RFC 7519) signed with HS256.
fn issue_token() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is not before 1970").as_secs();
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let head = part(json!({"alg": "HS256", "typ": "JWT"}));
    let claims = part(json!({"sub": "bench", "role": "orchestrator", "exp": now + TOKEN_SECONDS}));
    let signed = format!("{head}.{claims}");
    let keyed = Hmac::<Sha256>::new_from_slice(TOKEN_SECRET.as_bytes()).expect("HMAC takes keys of any length");
    let signature = keyed.chain_update(signed.as_bytes()).finalize().into_bytes();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}
