//! The binary as a person or a script meets it: exit codes, what is printed where, and the way it stops.

mod doctor;
mod lost_state;
mod onboarding;
mod operating;
mod shipped;
mod tls;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::mem;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};

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
    command.env("INTENT_GATEWAY_PROFILES", folder.join("profiles.toml"));
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
    stderr: BufReader<ChildStderr>,
    /// What was read of the log, from the start.
    log: String,
}

impl Serving {
    /// One that stops without an announcement.
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::announcing(folder, arguments, 0)
    }

    /// One that announces its end for so many milliseconds.
    fn announcing(folder: &Path, arguments: &[&str], announce_ms: u32) -> Self {
        let mut child = gateway(folder)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .env("INTENT_GATEWAY__SERVER__DRAIN_ANNOUNCE_MS", announce_ms.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        let url = line.trim_end().strip_prefix("listening on ").unwrap_or_default();
        let address =
            ["http://", "https://"].into_iter().find_map(|scheme| url.strip_prefix(scheme)).map(str::to_owned);
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let mut log = String::new();
        let address = address.unwrap_or_else(|| {
            let _ = stderr.read_to_string(&mut log);
            panic!("no address in {line:?}; the log: {log}")
        });
        Self { child, address, stderr, log }
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

    /// Waits until the folder of contracts was looked through: the gateway listens before.
    fn wait_for_contracts(&mut self) {
        self.read_log_until("the contract folder was looked through");
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
        self.signal(rustix::process::Signal::TERM);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).expect("the process is there");
    }

    /// Reads the log up to a line with these words.
    fn read_log_until(&mut self, words: &str) {
        loop {
            let read = self.log.len();
            assert_ne!(self.stderr.read_line(&mut self.log).expect("the log"), 0, "the log never says {words:?}");
            if self.log[read..].contains(words) {
                return;
            }
        }
    }

    /// Ends it by SIGTERM; exit code and log.
    fn stop(self) -> (Option<i32>, String) {
        self.terminate();
        self.wait()
    }

    /// Exit code and log, from the start.
    fn wait(mut self) -> (Option<i32>, String) {
        self.stderr.read_to_string(&mut self.log).expect("the log");
        (self.child.wait().expect("it ends").code(), mem::take(&mut self.log))
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
    let token = text(&run(folder.path(), &["token", "--role", "orchestrator", "--create-key"]).stdout);
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
fn a_shutdown_is_announced_while_requests_are_still_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut serving = Serving::announcing(folder.path(), &[], 3_600_000);
    assert_eq!(serving.get("/live", None), (200, serde_json::json!({ "status": "live" })));
    // A connection that the client keeps.
    let mut kept = TcpStream::connect(&serving.address).expect("the listener is there");
    serving.terminate();
    serving.read_log_until("a shutdown is announced");
    let (status, body) = serving.get("/ready", None);
    assert_eq!((status, &body["error"]["code"]), (503, &Value::from("DRAINING")));
    assert_eq!(serving.get("/live", None).0, 200, "new connections are taken");
    write!(kept, "GET /health HTTP/1.1\r\nhost: here\r\n\r\n").expect("written");
    let mut answer = String::new();
    kept.read_to_string(&mut answer).expect("it ends after the answer");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("connection: close"), "{answer}");
    serving.terminate();
    assert_eq!(serving.wait().0, Some(130), "a second signal cuts it short");

    let serving = Serving::announcing(folder.path(), &[], 1);
    assert_eq!(serving.stop().0, Some(0), "it goes on by itself");
}

#[test]
fn a_disk_that_takes_nothing_is_told_before_anything_begins() {
    let folder = tempfile::tempdir().expect("a folder");
    let limited = |state_dir: &str| {
        let command = gateway(folder.path());
        let program = command.get_program().to_owned();
        let mut limited = Command::new("sh");
        limited.current_dir(folder.path()).stdin(Stdio::null()).args(["-c", "ulimit -f 64 && exec \"$@\"", "sh"]);
        limited.arg(program).args(["serve", "--listen", "127.0.0.1:0", "--state-dir", state_dir]);
        limited.output().expect("the binary runs")
    };
    let refused = limited("state");
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(
        said.contains("the state folder") && said.contains("cannot be written to") && said.contains("ulimit -f"),
        "{said}"
    );
    // No file stands in the place of a folder.
    std::fs::write(folder.path().join("file"), "x").expect("written");
    let refused = gateway(folder.path())
        .args(["serve", "--listen", "127.0.0.1:0", "--state-dir", "file"])
        .output()
        .expect("the binary runs");
    assert!(text(&refused.stderr).contains("the state folder"), "{}", text(&refused.stderr));
}

#[test]
fn a_token_is_good_only_under_its_own_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let serving = Serving::start(folder.path(), &[]);
    let issued = run(folder.path(), &["token", "--role", "admin", "--state-dir", "elsewhere", "--create-key"]);
    let (status, body) = serving.get("/api/v1/intents", Some(text(&issued.stdout).trim_end()));
    assert_eq!((status, &body["error"]["code"]), (401, &Value::from("INVALID_AUTH")));
    let (_, log) = serving.stop();
    assert!(log.contains("names no key"), "{log}");
}

#[test]
fn a_wrong_command_line_or_configuration_ends_with_2() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("short.toml"), "[auth]\ntoken_life_max_s = 60\n").expect("written");
    std::fs::write(folder.path().join("bad.toml"), "[server]\nlisen = 1\nmax = 2\n").expect("written");
    for (arguments, told) in [
        (&["serve", "--config", "bad.toml"][..], "unknown key `server.max`"),
        (&["config", "check", "--config", "bad.toml"], "unknown key `server.lisen`"),
        (&["serve", "--config", "none.toml"], "cannot read the configuration file none.toml"),
        (&["serve", "--contracts-dir", "none"], "create it first"),
        (&["serve", "--listen", "nowhere"], "--listen"),
        (&["token"], "--role"),
        (&["token", "--role", "admin", "--subject", "two words"], "visible ASCII"),
        (&["token", "--role", "admin", "--scope", "watch,root"], "expected one of watch, review, ship, ledger, all"),
        (&["token", "--role", "admin", "--ttl", "61s", "--config", "short.toml"], "`auth.token_life_max_s`, 60"),
        (&["token", "--role", "orchestrator", "--scope", "watch"], "--scope goes with --role admin"),
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
        .env("INTENT_GATEWAY__SERVER__LISTEN", "127.0.0.9:99")
        .env("INTENT_GATEWAY__AUTH__SIGNING_KEY", "a-key-that-nobody-must-read-anywhere")
        .output()
        .expect("the binary runs");
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(shown.contains("max_connections = 9") && shown.contains("listen = \"127.0.0.9:99\""), "{shown}");
    assert!(shown.contains("signing_key = \"(redacted)\"") && !shown.contains("nobody-must-read"), "{shown}");
    assert!(!folder.path().join("state").exists(), "checking leaves nothing behind");

    let wrong = gateway(folder.path())
        .args(["config", "check"])
        .env("INTENT_GATEWAY__SERVER__LISTENS", "127.0.0.9:99")
        .output()
        .expect("the binary runs");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("unknown key `server.listens`"), "{}", text(&wrong.stderr));
}

#[test]
fn helps_with_examples() {
    let folder = tempfile::tempdir().expect("a folder");
    let help = text(&run(folder.path(), &["serve", "--help"]).stdout);
    assert!(help.contains("Examples:") && help.contains("--allow-loopback-partners"), "{help}");
}

/// A component that `cargo xtask guests` built.
fn built(name: &str) -> String {
    let path = format!("{}/../../target/{name}", env!("CARGO_MANIFEST_DIR"));
    assert!(Path::new(&path).is_file(), "{path} is not there; run `cargo xtask guests` first");
    path
}

fn ac_contract() -> String {
    built("contracts/auto-book-ac-service.wasm")
}

/// The guest that misbehaves, in this mode, as a file in the folder.
fn hostile(folder: &Path, version: &str, mode: &str) -> String {
    const MARKER: &[u8] = b"@@hostile-guest@@";
    const SETTINGS_BYTES: usize = 64;
    let mut bytes = std::fs::read(built("hostile-guests/hostile-guest.wasm")).expect("readable");
    let start = bytes.windows(MARKER.len()).position(|window| window == MARKER).expect("the guest has its settings");
    let room = &mut bytes[start + MARKER.len()..start + SETTINGS_BYTES];
    room.fill(b' ');
    let settings = format!("{version};{mode};");
    room[..settings.len()].copy_from_slice(settings.as_bytes());
    let path = folder.join(format!("{version}-{mode}.wasm"));
    std::fs::write(&path, bytes).expect("written");
    path.to_str().expect("a plain path").to_owned()
}

/// Runs a command of the kit that prints JSON.
fn plugin(folder: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = run(folder, &[&["plugin"], arguments, &["--json"]].concat());
    let shown = text(&output.stdout);
    let json = serde_json::from_str(&shown);
    let json = json.unwrap_or_else(|error| panic!("{error} in {shown:?}; {}", text(&output.stderr)));
    (output.status.code(), json)
}

fn outcome<'a>(report: &'a Value, check: &str) -> &'a Value {
    let checks = report["checks"].as_array().expect("a list");
    checks.iter().find(|one| one["name"] == check).unwrap_or_else(|| panic!("no check {check}: {report}"))
}

#[test]
fn a_component_is_shown_measured_and_documented() {
    let folder = tempfile::tempdir().expect("a folder");
    let component = ac_contract();
    let (code, shown) = plugin(folder.path(), &["inspect", &component]);
    assert_eq!((code, &shown["descriptor"]["intent"]), (Some(0), &Value::from("auto.book_ac_service")));
    assert_eq!(shown["imports"], serde_json::json!(["intent-gateway:contract/faults@1.0.0"]));
    assert_eq!(shown["digest"].as_str().map(str::len), Some(64));
    let people = text(&run(folder.path(), &["plugin", "inspect", &component]).stdout);
    for part in ["search_ac_service_slots", "resolution_rate 25 %", "refrigerant_type", "SLOT_GONE", "AcServiceWidget"]
    {
        assert!(people.contains(part), "{part} is not in {people}");
    }
    assert!(!people.contains('\u{1b}'), "no colour where nobody looks");

    let (code, bench) = plugin(folder.path(), &["bench", &component, "--seconds", "0.2"]);
    let entries = bench["entries"].as_array().expect("a list");
    assert_eq!(code, Some(0));
    assert!(entries.iter().any(|one| one["entry"] == "evaluate" && one["p99_us"].as_f64() >= one["p50_us"].as_f64()));
    assert!(entries.iter().all(|one| one["calls"].as_u64() > Some(0)), "{bench}");
    // The same each time, and more than an instance that is never called.
    let fuel = |bench: &Value| -> Vec<u64> {
        let entries = bench["entries"].as_array().expect("a list").iter();
        entries.map(|one| one["fuel"].as_u64().expect("a count")).collect()
    };
    let (first, (_, again)) = (fuel(&bench), plugin(folder.path(), &["bench", &component, "--seconds", "0.2"]));
    assert_eq!(fuel(&again), first);
    let [instantiate, calls @ ..] = &first[..] else { panic!("no entries: {bench}") };
    assert_eq!(entries[0]["entry"], "instantiate");
    assert!(calls.iter().all(|call| call > instantiate && *call > 1_000), "{bench}");
    let people = text(&run(folder.path(), &["plugin", "bench", &component, "--seconds", "0.2"]).stdout);
    let evaluate = people.lines().find(|line| line.trim_start().starts_with("evaluate")).expect("a row");
    let position = entries.iter().position(|one| one["entry"] == "evaluate").expect("an entry");
    assert!(
        people.contains("fuel") && evaluate.split_whitespace().any(|cell| cell == first[position].to_string()),
        "{people}"
    );

    let page = run(folder.path(), &["plugin", "docs", &component, "--out", "deep/page.md"]);
    assert!(page.status.success() && page.stdout.is_empty(), "{}", text(&page.stderr));
    let page = std::fs::read_to_string(folder.path().join("deep/page.md")).expect("written");
    assert!(page.contains("| `/provider/distance_from_user_km` | number | yes | 0 to 30 |"), "{page}");
    assert!(page.contains("\"slots\": ["), "a sample answer");
    assert_eq!(text(&run(folder.path(), &["plugin", "docs", &component]).stdout), page);
}

#[test]
fn a_sound_contract_passes_every_check() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, report) = plugin(folder.path(), &["check", &ac_contract(), "--fuzz-seconds", "0.5", "--seed", "7"]);
    assert_eq!((code, &report["passed"]), (Some(0), &Value::from(true)), "{report}");
    assert_eq!(report["fuzz"]["seed"], 7);
    let by_entry = report["fuzz"]["by_entry"].as_object().expect("an object");
    for entry in ["classify", "evaluate", "check-completion", "check-response cancel_ac_service_booking"] {
        assert!(by_entry.get(entry).is_some_and(|tried| tried.as_u64() > Some(0)), "{entry}: {by_entry:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0, "nothing is written for a sound contract");
}

#[test]
fn what_is_wrong_with_a_component_is_told_all_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |file: &str| plugin(folder.path(), &["check", file, "--fuzz-seconds", "0"]);
    std::fs::write(folder.path().join("module.wasm"), [&b"\0asm"[..], &[1, 0, 0, 0]].concat()).expect("written");
    for (file, stage, problems) in [
        ("module.wasm".to_owned(), "component", 1),
        (hostile(folder.path(), "1.0.0", "bad-descriptor"), "descriptor", 10),
        (hostile(folder.path(), "1.0.0", "describe-spins"), "descriptor", 1),
        (hostile(folder.path(), "1.0.0", "example-fails"), "examples", 1),
        (hostile(folder.path(), "1.0.0", "example-missing"), "examples", 1),
        (hostile(folder.path(), "1.0.0", "example-traps"), "time", 1),
    ] {
        let (code, report) = check(&file);
        assert_eq!((code, &report["passed"]), (Some(1), &Value::from(false)), "{file}: {report}");
        let check = outcome(&report, stage);
        assert_eq!(check["outcome"], "failed", "{file}: {report}");
        assert!(check["problems"].as_array().map(Vec::len) >= Some(problems), "{file}: {check}");
    }
    // What comes before it holds, what comes after it was not reached.
    let (_, report) = check("module.wasm");
    assert_eq!(
        (&outcome(&report, "size")["outcome"], &outcome(&report, "fuzz")["outcome"]),
        (&Value::from("passed"), &Value::from("skipped"))
    );
    assert_eq!(run(folder.path(), &["plugin", "check", "none.wasm"]).status.code(), Some(2));
    assert_eq!(run(folder.path(), &["plugin", "inspect", "module.wasm"]).status.code(), Some(1));
}

#[test]
fn the_fuzz_catches_a_contract_that_odd_input_brings_down() {
    let folder = tempfile::tempdir().expect("a folder");
    // It hands broken arguments on as they are, and each of its examples holds.
    let careless = hostile(folder.path(), "1.0.0", "honest");
    let arguments = ["check", careless.as_str(), "--fuzz-seconds", "2", "--seed", "3"];
    let (code, report) = plugin(folder.path(), &arguments);
    assert_eq!((code, &outcome(&report, "examples")["outcome"]), (Some(1), &Value::from("passed")), "{report}");
    let failures = report["fuzz"]["failures"].as_array().expect("a list");
    let found = failures.iter().find(|one| one["code"] == "CONTRACT_INVALID_OUTPUT").expect("it is caught");
    assert!(outcome(&report, "fuzz")["problems"][0].as_str().is_some_and(|told| told.contains("seed 3")), "{report}");
    let kept = folder.path().join(format!("fuzz-contract-invalid-output-{}.json", found["execution"]));
    let kept: Value = serde_json::from_slice(&std::fs::read(kept).expect("the input is kept")).expect("JSON");
    assert_eq!(&kept, found);
    assert!(kept["input"]["arguments"].is_string(), "{kept}");
    // The seed gives it again.
    let (_, again) = plugin(folder.path(), &arguments);
    assert_eq!(again["fuzz"]["failures"][0], report["fuzz"]["failures"][0]);

    let (_, report) = plugin(folder.path(), &["check", &hostile(folder.path(), "1.0.0", "example-traps")]);
    let failures = report["fuzz"]["failures"].as_array().expect("a list");
    assert!(failures.iter().any(|one| one["entry"] == "evaluate" && one["code"] == "CONTRACT_TRAP"), "{report}");
}

#[test]
fn a_version_is_compared_with_a_file_or_a_gateway() {
    let folder = tempfile::tempdir().expect("a folder");
    let (old, new) = (hostile(folder.path(), "1.0.0", "honest"), hostile(folder.path(), "1.0.1", "honest"));
    let words = hostile(folder.path(), "1.0.1", "more-words");
    let version = |more: &[&str]| {
        let (_, report) = plugin(folder.path(), &[&["check", "--fuzz-seconds", "0"], more].concat());
        let check = outcome(&report, "version");
        (check["outcome"].as_str().expect("a text").to_owned(), check.clone())
    };
    assert_eq!(version(&[&new, "--against", &old]).0, "passed");
    assert_eq!(version(&[&old, "--against", &new]).0, "failed");
    let (outcome, check) = version(&[&words, "--against", &old]);
    assert_eq!(outcome, "failed");
    assert!(check["problems"][0].as_str().is_some_and(|told| told.contains("vocabulary `kind`")), "{check}");
    assert_eq!(version(&[&new]).0, "skipped");

    let watched = folder.path().join("contracts");
    std::fs::create_dir(&watched).expect("made");
    std::fs::copy(&old, watched.join("one.wasm")).expect("copied");
    let mut serving = Serving::start(folder.path(), &["--contracts-dir", "contracts"]);
    serving.wait_for_contracts();
    let token = |role: &str| text(&run(folder.path(), &["token", "--role", role]).stdout).trim_end().to_owned();
    let (gateway, admin) = (format!("http://{}/", serving.address), token("admin"));
    let there = |file: &str| version(&[file, "--gateway", &gateway, "--token", &admin]);
    assert_eq!(there(&new).0, "passed");
    assert_eq!(there(&words).0, "failed");
    let (outcome, check) = there(&old);
    assert!(outcome == "passed" && check["seen"].as_str().is_some_and(|seen| seen.contains("already")), "{check}");
    let (outcome, check) = there(&ac_contract());
    assert!(outcome == "passed" && check["seen"].as_str().is_some_and(|seen| seen.contains("first")), "{check}");

    let check = ["plugin", "check", &new, "--gateway", &gateway, "--token"];
    let refused = run(folder.path(), &[&check[..], &["not-a-token"]].concat());
    assert_eq!(refused.status.code(), Some(2));
    let told = text(&refused.stderr);
    assert!(told.contains("401") && !told.contains("not-a-token"), "{told}");
    assert_eq!(run(folder.path(), &check[..5]).status.code(), Some(2), "a gateway without a token");
    serving.stop();
}

#[test]
fn a_contract_is_scaffolded_once_and_under_a_proper_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let sdk = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugins/sdk");
    let new = |arguments: &[&str]| run(folder.path(), &[&["plugin", "new"], arguments].concat());
    let told = |output: Output| (output.status.code(), text(&output.stderr));
    let made = new(&["home.book_plumber", "--sdk", sdk]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    assert_eq!(text(&made.stdout).trim_end(), "home-book-plumber");
    let lib = std::fs::read_to_string(folder.path().join("home-book-plumber/src/lib.rs")).expect("written");
    assert!(lib.contains("pub struct BookPlumberContract;") && lib.contains("\"home.book_plumber\""), "{lib}");
    let (code, message) = told(new(&["home.book_plumber", "--sdk", sdk]));
    assert!(code == Some(2) && message.contains("is there already"), "{message}");
    let (code, message) = told(new(&["other.thing"]));
    assert!(code == Some(2) && message.contains("--sdk"), "{message}");
    for bad in ["plumber", "Home.book", "home.book-plumber", "home.", "a.b.c"] {
        let (code, message) = told(new(&[bad, "--sdk", sdk]));
        assert!(code == Some(2) && message.contains("lower snake case"), "{bad}: {message}");
    }
}

#[test]
fn cases_are_tried_on_a_component() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases = folder.path().join("mine/cases");
    std::fs::create_dir_all(&cases).expect("made");
    let case = |name: &str, claimed: &str| {
        let text = serde_json::json!({"about": "x", "call": "classify", "claimed": [claimed]}).to_string();
        std::fs::write(cases.join(name), text).expect("written");
    };
    case("good.json", "my car's AC blows warm air");
    let component = ac_contract();
    let arguments = ["test", "mine", "--component", component.as_str()];
    let (code, report) = plugin(folder.path(), &arguments);
    assert_eq!((code, &report["cases"]), (Some(0), &Value::from(1)), "{report}");
    assert!(report.get("gaps").is_none());
    let (code, report) = plugin(folder.path(), &[&arguments[..], &["--coverage"]].concat());
    assert_eq!(code, Some(1), "a gap is a finding");
    assert!(report["gaps"].as_array().map(Vec::len) > Some(50));
    case("wrong.json", "a pot of tea");
    let (code, report) = plugin(folder.path(), &["test", "mine/cases", "--component", &component]);
    assert_eq!((code, report["failures"].as_array().map(Vec::len)), (Some(1), Some(1)), "{report}");
    let people = run(folder.path(), &[&["plugin"], &arguments[..]].concat());
    assert!(text(&people.stdout).contains("✘ wrong.json"), "{}", text(&people.stdout));
    for (wrong, told) in
        [(["test", "none", "--component", &component], "none"), (["test", "mine", "--component", "x"], "build")]
    {
        let output = run(folder.path(), &[&["plugin"], &wrong[..]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(told), "{}", text(&output.stderr));
    }
}

#[test]
fn the_author_is_helped() {
    let folder = tempfile::tempdir().expect("a folder");
    for command in ["new", "build", "check", "test", "bench", "inspect", "docs"] {
        let help = text(&run(folder.path(), &["plugin", command, "--help"]).stdout);
        assert!(help.contains("Example"), "{command}: {help}");
    }
    assert_eq!(run(folder.path(), &["plugin"]).status.code(), Some(2));
    let nothing = run(folder.path(), &["plugin", "build"]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(text(&nothing.stderr).contains("there is no Cargo.toml"), "{}", text(&nothing.stderr));
}

#[test]
fn output_that_nobody_reads_is_no_failure_and_output_that_is_lost_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = gateway(folder.path())
        .args(["config", "check"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let left = child.wait_with_output().expect("it ends");
    assert_eq!((left.status.code(), text(&left.stderr).as_str()), (Some(0), ""));

    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has one");
    let lost = gateway(folder.path()).args(["config", "check"]).stdout(full).output().expect("the binary runs");
    assert_eq!(lost.status.code(), Some(1));
    assert!(text(&lost.stderr).contains("could not be written"), "{}", text(&lost.stderr));
}
