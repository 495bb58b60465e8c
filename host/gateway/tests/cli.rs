//! The binary as a person or a script meets it: exit codes, what is printed where, and the way it stops.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

fn gateway(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_intent-gateway"));
    command.current_dir(folder).stdin(Stdio::null());
    // Settings of whoever runs the tests must not reach them.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("INTENT_GATEWAY_") {
            command.env_remove(name);
        }
    }
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    gateway(folder).args(arguments).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// A serving gateway on a free port.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut child = gateway(folder)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        let address = line.trim_end().strip_prefix("listening on http://").map(str::to_owned);
        let address = address.unwrap_or_else(|| {
            let mut log = String::new();
            let _ = child.stderr.take().map(|mut stderr| stderr.read_to_string(&mut log));
            panic!("no address in {line:?}; the log: {log}")
        });
        Self { child, address }
    }

    /// One GET; status and body.
    fn get(&self, path: &str, token: Option<&str>) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).expect("the listener is there");
        let authorization = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n{authorization}\r\n")
            .expect("written");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, serde_json::from_str(body).expect("JSON"))
    }

    /// A search whose body the gateway has begun to wait for.
    fn begin_search(&self, token: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("the listener is there");
        write!(
            stream,
            "POST /api/v1/intents/auto.fix/search HTTP/1.1\r\nhost: here\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n"
        )
        .expect("written");
        let mut go_on = [0; "HTTP/1.1 100 Continue\r\n\r\n".len()];
        stream.read_exact(&mut go_on).expect("the gateway asks for the body");
        assert!(text(&go_on).starts_with("HTTP/1.1 100"));
        stream
    }

    fn terminate(&self) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("the process is there");
    }

    /// Reads the log up to a line with these words.
    fn read_log_until(&mut self, words: &str) {
        let stderr = self.child.stderr.take().expect("piped");
        let mut lines = BufReader::new(stderr);
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            assert_ne!(lines.read_line(&mut line).expect("the log"), 0, "the log never says {words:?}");
        }
        self.child.stderr = Some(lines.into_inner());
    }

    /// Ends it by SIGTERM; exit code and log.
    fn stop(self) -> (Option<i32>, String) {
        self.terminate();
        self.wait()
    }

    /// Exit code and the rest of the log.
    fn wait(mut self) -> (Option<i32>, String) {
        let mut log = String::new();
        self.child.stderr.take().expect("piped").read_to_string(&mut log).expect("the log");
        (self.child.wait().expect("it ends").code(), log)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Only for a test that failed before it stopped the gateway itself.
        let _ = self.child.kill();
    }
}

#[test]
fn serves_takes_its_own_tokens_and_stops_on_sigterm() {
    let folder = tempfile::tempdir().expect("a folder");
    let serving = Serving::start(folder.path(), &["--json"]);
    assert_eq!(serving.get("/health", None).0, 200);
    let (status, body) = serving.get("/ready", None);
    assert_eq!((status, &body["error"]["code"]), (503, &Value::from("NO_LIVE_CONTRACT")));

    let issued = run(folder.path(), &["token", "--role", "orchestrator", "--subject", "demo", "--ttl", "5m"]);
    assert!(issued.status.success(), "{}", text(&issued.stderr));
    assert!(issued.stderr.is_empty());
    let token = text(&issued.stdout);
    let token = token.trim_end();
    assert_eq!(token.split('.').count(), 3, "{token}");
    let (status, body) = serving.get("/api/v1/intents", Some(token));
    assert_eq!((status, body), (200, serde_json::json!({ "intents": [] })));
    assert_eq!(serving.get("/api/v1/intents", None).0, 401);
    assert_eq!(serving.get("/api/v1/admin/contracts", Some(token)).0, 403);

    let (code, log) = serving.stop();
    assert_eq!(code, Some(0), "{log}");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    let said = |words: &str| lines.iter().any(|line| line["message"].as_str().is_some_and(|said| said.contains(words)));
    assert!(said("DEVELOPMENT KEY") && said("stopped; every request"), "{log}");
    assert!(!log.contains(token));
}

#[test]
fn a_signal_lets_finish_what_is_under_way_and_a_second_one_does_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let token = text(&run(folder.path(), &["token", "--role", "orchestrator"]).stdout);
    let token = token.trim_end();

    let mut serving = Serving::start(folder.path(), &[]);
    let mut search = serving.begin_search(token);
    serving.terminate();
    serving.read_log_until("draining");
    search.write_all(b"{}").expect("written");
    let mut answer = String::new();
    search.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 404") && answer.contains("INVALID_INTENT"), "{answer}");
    assert_eq!(serving.wait().0, Some(0));

    let mut serving = Serving::start(folder.path(), &[]);
    let _search = serving.begin_search(token);
    serving.terminate();
    serving.read_log_until("draining");
    serving.terminate();
    assert_eq!(serving.wait().0, Some(130));
}

#[test]
fn a_token_is_good_only_under_its_own_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let serving = Serving::start(folder.path(), &[]);
    let issued = run(folder.path(), &["token", "--role", "admin", "--state-dir", "elsewhere"]);
    let (status, body) = serving.get("/api/v1/intents", Some(text(&issued.stdout).trim_end()));
    assert_eq!((status, &body["error"]["code"]), (401, &Value::from("INVALID_AUTH")));
    let (_, log) = serving.stop();
    assert!(log.contains("names no key"), "{log}");
}

#[test]
fn a_wrong_command_line_or_configuration_ends_with_2() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("bad.toml"), "[server]\nlisen = 1\nmax = 2\n").expect("written");
    for (arguments, told) in [
        (&["serve", "--config", "bad.toml"][..], "unknown key `server.max`"),
        (&["config", "check", "--config", "bad.toml"], "unknown key `server.lisen`"),
        (&["serve", "--config", "none.toml"], "cannot read the configuration file none.toml"),
        (&["serve", "--contracts-dir", "none"], "create it first"),
        (&["serve", "--listen", "nowhere"], "--listen"),
        (&["token"], "--role"),
        (&["token", "--role", "admin", "--subject", "two words"], "visible ASCII"),
        (&["fly"], "unrecognized subcommand"),
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(told), "{arguments:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn config_check_prints_what_is_in_force() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("g.toml"), "[server]\nmax_connections = 9\n").expect("written");
    let output = gateway(folder.path())
        .args(["config", "check", "--config", "g.toml"])
        .env("INTENT_GATEWAY__SERVER__LISTEN", "0.0.0.0:99")
        .env("INTENT_GATEWAY__AUTH__SIGNING_KEY", "a-key-that-nobody-must-read-anywhere")
        .output()
        .expect("the binary runs");
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(shown.contains("max_connections = 9") && shown.contains("listen = \"0.0.0.0:99\""), "{shown}");
    assert!(shown.contains("signing_key = \"(redacted)\"") && !shown.contains("nobody-must-read"), "{shown}");
    assert!(!folder.path().join("state").exists(), "checking leaves nothing behind");

    let wrong = gateway(folder.path())
        .args(["config", "check"])
        .env("INTENT_GATEWAY__SERVER__LISTENS", "0.0.0.0:99")
        .output()
        .expect("the binary runs");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("unknown key `server.listens`"), "{}", text(&wrong.stderr));
}

#[test]
fn an_address_in_use_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    let output = run(folder.path(), &["serve", "--listen", &address]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains(&format!("cannot listen on {address}")), "{}", text(&output.stderr));
}

#[test]
fn says_its_version_and_helps() {
    let folder = tempfile::tempdir().expect("a folder");
    let version = run(folder.path(), &["--version"]);
    assert_eq!(text(&version.stdout).trim_end(), format!("intent-gateway {}", env!("CARGO_PKG_VERSION")));
    let help = text(&run(folder.path(), &["serve", "--help"]).stdout);
    assert!(help.contains("Examples:") && help.contains("--allow-loopback-partners"), "{help}");
}
