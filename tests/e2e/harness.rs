//! Starts what a test needs and stops it with the test: gateway processes, partner processes, and a partner
//! that answers whatever the test wants, for the faults that no real partner would show on demand.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::Vault;
use intent_gateway_testing::entropy::NoRandomness;
use jiff::ToSpan as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::loaded;
use crate::onboarding::MASTER_KEY;

/// How long a change may take to be seen.
const SOON: Duration = Duration::from_secs(30);
/// How long work may take that gives way to all other work of the machine, other tests among it.
const WITH_WHAT_IS_LEFT: Duration = Duration::from_secs(600);
/// A client closes connections that were unused for so long, so that they do not count as something that a gateway keeps.
const CLIENT_IDLE_MAX: Duration = Duration::from_secs(5);
/// How long an answer may take, longer than any deadline that a gateway of the tests keeps.
const ANSWER_MAX: Duration = Duration::from_secs(120);
/// How often is looked whether it has come.
const LOOK: Duration = Duration::from_millis(20);

/// Every client of a test has the same address, so the bound on clients must not count.
const OPEN_REQUESTS_PER_MINUTE: u32 = 1_000_000;

/// The project's root folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the root folder").to_owned()
}

/// A file that `cargo xtask test` builds before these tests.
pub(crate) fn built(path: &str) -> PathBuf {
    let path = root().join("target").join(path);
    assert!(path.exists(), "{} is missing; `cargo xtask test` builds it", path.display());
    path
}

/// The shipped AC contract.
pub(crate) fn ac_contract() -> PathBuf {
    built("contracts/auto-book-ac-service.wasm")
}

/// The AC contract 1.0.1 of the demo, with other weights.
pub(crate) fn safety_first_contract() -> PathBuf {
    built("example-contracts/contract-safety-first.wasm")
}

/// A server whose log is a file; killed when dropped.
pub(crate) struct Server {
    inner: test_servers::Server,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(command: &mut Command, log: &Path) -> Self {
        let shown = format!("{command:?}");
        let file = std::fs::File::create(log).expect("the log can be written");
        match test_servers::Server::start(&shown, command, file) {
            Ok(inner) => Self { url: inner.url.clone(), inner },
            Err(error) => panic!("{error}; log: {}", std::fs::read_to_string(log).unwrap_or_default()),
        }
    }

    /// Sends SIGTERM and waits; whether it ended with success.
    pub(crate) fn stop(self) -> bool {
        has_stopped(self.inner.stop())
    }

    /// Waits for one that was told to stop; whether it ended with success.
    pub(crate) fn wait(self) -> bool {
        has_stopped(self.inner.wait())
    }

    /// The process's identifier.
    pub(crate) fn id(&self) -> u32 {
        self.inner.id()
    }

    /// Resident memory of the process in bytes.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.inner.id())).expect("Linux tells");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("VmRSS is there");
        line.trim().trim_end_matches(" kB").trim().parse::<u64>().expect("a number") * 1024
    }

    /// Kills the process (SIGKILL) at once, wherever it stands in its work.
    pub(crate) fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    /// Tells the process to stop (SIGTERM), and does not wait for it.
    pub(crate) fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Stops the process where it stands (SIGSTOP), until it is woken.
    pub(crate) fn freeze(&self) {
        self.signal(rustix::process::Signal::STOP);
    }

    /// Has a frozen process go on (SIGCONT).
    pub(crate) fn wake(&self) {
        self.signal(rustix::process::Signal::CONT);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let id = i32::try_from(self.inner.id()).ok().and_then(rustix::process::Pid::from_raw);
        let id = id.expect("a process has an identifier");
        rustix::process::kill_process(id, signal).expect("the process is there");
    }

    /// Number of open file descriptors of the process.
    pub(crate) fn open_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.inner.id())).expect("Linux tells").count()
    }
}

/// The vault of a gateway with this folder: under its development key, or else under that of the tests.
pub(crate) fn vault_of(folder: &Path) -> Vault {
    let key = std::fs::read_to_string(folder.join("state/dev-master-key"));
    let key = key.map_or_else(|_| MASTER_KEY.to_owned(), |key| key.trim().to_owned());
    Vault::new(&Secret::new(key), &[], Arc::new(NoRandomness))
}

fn has_stopped(stopped: Result<(), test_servers::ServerError>) -> bool {
    match stopped {
        Ok(()) => true,
        Err(test_servers::ServerError::StoppedBadly { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

/// A partner as the gateway's configuration names it.
#[derive(Clone)]
pub(crate) struct PartnerEntry {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) intents: Vec<String>,
    pub(crate) service_area: Vec<String>,
    pub(crate) availability: String,
    /// Signs its completion reports.
    pub(crate) signing_key: Option<String>,
    /// Where its users sign in.
    pub(crate) issuer: Option<String>,
}

impl PartnerEntry {
    pub(crate) fn new(id: &str, url: &str) -> Self {
        Self {
            id: id.to_owned(),
            url: url.to_owned(),
            intents: vec!["auto.book_ac_service".to_owned()],
            service_area: vec!["IN_ALL".to_owned()],
            availability: String::new(),
            signing_key: None,
            issuer: None,
        }
    }
}

/// What a test wants of its gateway beyond the defaults.
#[derive(Default)]
pub(crate) struct GatewayOptions {
    pub(crate) partners: Vec<PartnerEntry>,
    /// Components that are in the watched folder at the start.
    pub(crate) contracts: Vec<PathBuf>,
    /// More TOML, put before the partners.
    pub(crate) extra: String,
    /// More of the section `server`.
    pub(crate) server: String,
    /// More of the section `contracts`.
    pub(crate) trust: String,
}

/// A gateway process with its own folder, and clients of both roles.
pub(crate) struct Gateway {
    pub(crate) server: Server,
    pub(crate) folder: TempDir,
    client: reqwest::Client,
    orchestrator: String,
    admin: String,
}

/// The command that serves in a folder. The contracts that were put there, as if a gateway had kept them, look like the trace of a
/// store that was lost; the first start says that none was.
pub(crate) fn serve_in(folder: &Path) -> Command {
    let mut command = Command::new(built("debug/intent-gateway"));
    command.arg("serve").arg("--config").arg(folder.join("gateway.toml"));
    if !folder.join("state/installation").exists() {
        command.arg("--first-start");
    }
    command
}

/// The same where the store may have been lost, and that is meant.
pub(crate) fn serve_after_loss(folder: &Path) -> Command {
    let mut command = Command::new(built("debug/intent-gateway"));
    command.arg("serve").arg("--config").arg(folder.join("gateway.toml")).arg("--first-start");
    command
}

/// An HTTP answer in parts.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Gateway {
    pub(crate) fn start(options: &GatewayOptions) -> Self {
        Self::start_in(Self::folder_for(options))
    }

    /// A folder with all that a gateway needs, its contracts among it as an earlier one has left them.
    pub(crate) fn folder_for(options: &GatewayOptions) -> TempDir {
        let folder = Self::new_folder_for(options);
        loaded::put(options, &folder.path().join("state"));
        folder
    }

    /// The same for a gateway that loads its contracts from nothing.
    pub(crate) fn new_folder_for(options: &GatewayOptions) -> TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(folder.path().join("contracts")).expect("writable");
        for contract in &options.contracts {
            let name = contract.file_name().expect("a file");
            std::fs::copy(contract, folder.path().join("contracts").join(name)).expect("copied");
        }
        std::fs::write(folder.path().join("gateway.toml"), config(folder.path(), options)).expect("writable");
        folder
    }

    /// A gateway in a folder that an earlier one has used, when it has looked through its contracts.
    pub(crate) fn start_in(folder: TempDir) -> Self {
        let mut command = serve_in(folder.path());
        Self::start_by(&mut command, folder)
    }

    /// The same by a command of the test's own.
    pub(crate) fn start_by(command: &mut Command, folder: TempDir) -> Self {
        let gateway = Self::listen_by(command, folder);
        wait_for_folder(&gateway.folder.path().join("gateway.log"));
        gateway
    }

    /// The same as soon as it listens.
    pub(crate) fn listen_in(folder: TempDir) -> Self {
        let mut command = serve_in(folder.path());
        Self::listen_by(&mut command, folder)
    }

    fn listen_by(command: &mut Command, folder: TempDir) -> Self {
        let config = folder.path().join("gateway.toml");
        let server = Server::start(command, &folder.path().join("gateway.log"));
        let (orchestrator, admin) = (token(&config, &["--role", "orchestrator"]), token(&config, &["--role", "admin"]));
        Self { server, folder, client: client(), orchestrator, admin }
    }

    /// Stops the process and starts another one on the same folder.
    pub(crate) fn restart(self) -> Self {
        Self::start_in(self.stop())
    }

    /// Stops the process; its folder.
    pub(crate) fn stop(self) -> TempDir {
        let Self { server, folder, .. } = self;
        assert!(server.stop(), "a clean stop");
        folder
    }

    /// Starts another process on the folder of one that was killed.
    pub(crate) fn revive(self) -> Self {
        Self::start_in(self.leave_folder())
    }

    /// The folder of one that was killed, when the process is gone.
    pub(crate) fn leave_folder(self) -> TempDir {
        let Self { server, folder, .. } = self;
        drop(server);
        folder
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("gateway.log")).expect("the log is there")
    }

    async fn send(&self, request: reqwest::RequestBuilder, token: &str) -> Answer {
        self.try_send(request, token).await.expect("the gateway answers")
    }

    async fn try_send(&self, request: reqwest::RequestBuilder, token: &str) -> Result<Answer, reqwest::Error> {
        let request = if token.is_empty() { request } else { request.bearer_auth(token) };
        let response = request.send().await?;
        let status = response.status().as_u16();
        let is_text =
            response.headers().get("content-type").is_some_and(|value| value.as_bytes().starts_with(b"text/plain"));
        let bytes = response.bytes().await?;
        let body = match &bytes[..] {
            [] => Value::Null,
            text if is_text => Value::String(String::from_utf8_lossy(text).into_owned()),
            json => serde_json::from_slice(json).expect("JSON"),
        };
        Ok(Answer { status, body })
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        let request = self.client.post(format!("{}{path}", self.server.url)).json(body);
        self.send(request, &self.orchestrator).await
    }

    pub(crate) async fn search(&self, body: &Value) -> Answer {
        self.post("/api/v1/intents/auto.book_ac_service/search", body).await
    }

    /// A search that must succeed; its answer.
    pub(crate) async fn found(&self, body: &Value) -> Value {
        let answer = self.search(body).await;
        assert_eq!(answer.status, 200, "{}\n{}", answer.body, self.log());
        answer.body
    }

    pub(crate) async fn admin_get(&self, path: &str) -> Value {
        let answer = self.send(self.client.get(format!("{}/api/v1/admin{path}", self.server.url)), &self.admin).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    }

    /// The findings against a partner, once there are any: those of a search are kept a moment after its answer, all
    /// together.
    pub(crate) async fn findings(&self, partner: &str) -> Vec<Value> {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        loop {
            let kept = self.admin_get(&format!("/partners/{partner}/findings")).await;
            let findings = kept["findings"].as_array().expect("a list");
            if !findings.is_empty() || std::time::Instant::now() > deadline {
                return findings.clone();
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }

    /// A call with whatever token, or none.
    pub(crate) async fn call(&self, method: &str, path: &str, token: Option<&str>, body: Option<&Value>) -> Answer {
        self.try_call(method, path, token, body).await.expect("the gateway answers")
    }

    /// The same of a gateway that may be killed meanwhile; an error when the answer did not come, or not whole.
    pub(crate) async fn try_call(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<&Value>,
    ) -> Result<Answer, reqwest::Error> {
        self.try_send(self.asked(method, path, body), token.unwrap_or_default()).await
    }

    /// A call for a user, whom `x-user-id` names.
    pub(crate) async fn call_for(
        &self,
        user: &str,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<&Value>,
    ) -> Answer {
        self.try_call_for(user, method, path, token, body).await.expect("the gateway answers")
    }

    /// The same of a gateway that may be killed meanwhile.
    pub(crate) async fn try_call_for(
        &self,
        user: &str,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<&Value>,
    ) -> Result<Answer, reqwest::Error> {
        self.try_send(self.asked(method, path, body).header("x-user-id", user), token.unwrap_or_default()).await
    }

    /// Posts a file.
    pub(crate) async fn post_file(&self, path: &str, media_type: &str, file: &'static [u8], token: &str) -> Answer {
        let request = self.client.post(format!("{}{path}", self.server.url)).header("content-type", media_type);
        self.send(request.body(file), token).await
    }

    fn asked(&self, method: &str, path: &str, body: Option<&Value>) -> reqwest::RequestBuilder {
        let method = method.parse().expect("a method");
        let request = self.client.request(method, format!("{}{path}", self.server.url));
        match body {
            Some(body) => request.json(body),
            None => request,
        }
    }

    /// The admin's token.
    pub(crate) fn admin_token(&self) -> &str {
        &self.admin
    }

    /// The orchestrator's token.
    pub(crate) fn orchestrator_token(&self) -> &str {
        &self.orchestrator
    }

    /// Another token of this gateway.
    pub(crate) fn token(&self, arguments: &[&str]) -> String {
        token(&self.folder.path().join("gateway.toml"), arguments)
    }

    /// Posts a document as an admin.
    pub(crate) async fn admin_send(&self, path: &str, body: &Value) -> Answer {
        let request = self.client.post(format!("{}/api/v1/admin{path}", self.server.url)).json(body);
        self.send(request, &self.admin).await
    }

    pub(crate) async fn admin_post(&self, path: &str) -> Answer {
        self.send(self.client.post(format!("{}/api/v1/admin{path}", self.server.url)), &self.admin).await
    }

    pub(crate) async fn upload(&self, component: &[u8]) -> Answer {
        self.upload_as(component, &self.admin).await
    }

    /// Has a component compared, or what the query names; the events of the answer.
    pub(crate) async fn compare(&self, component: Option<Vec<u8>>, query: &str) -> String {
        let mut request = self.client.post(format!("{}/api/v1/admin/contracts/compare?{query}", self.server.url));
        if let Some(component) = component {
            request = request.header("content-type", "application/wasm").body(component);
        }
        self.hear(request).await
    }

    /// The events of an export of receipts.
    pub(crate) async fn export(&self, query: &str) -> String {
        self.hear(self.client.post(format!("{}/api/v1/admin/receipts/export?{query}", self.server.url))).await
    }

    async fn hear(&self, request: reqwest::RequestBuilder) -> String {
        let request = request.bearer_auth(&self.admin);
        let answer = request.send().await.expect("an answer");
        let status = answer.status();
        let text = answer.text().await.expect("a text");
        assert_eq!(status, 200, "{text}");
        text
    }

    /// An upload by the admin of a token. Dropped, it closes its connection.
    pub(crate) async fn upload_as(&self, component: &[u8], token: &str) -> Answer {
        let url = format!("{}/api/v1/admin/contracts", self.server.url);
        let request = self.client.post(url).header("content-type", "application/wasm").body(component.to_vec());
        self.send(request, token).await
    }

    /// Waits until a version of the AC contract is live.
    pub(crate) async fn wait_for_version(&self, version: &str) {
        eventually(&format!("{version} is not live"), self, async || {
            let versions = self.admin_get("/contracts").await;
            let versions = versions["contracts"].as_array().expect("a list");
            versions.iter().any(|one| one["version"] == version && one["live"] == true).then_some(())
        })
        .await;
    }
}

/// A client of a gateway or of a partner. One that never answers fails the test, and does not hold it for ever.
pub(crate) fn client() -> reqwest::Client {
    let client = reqwest::Client::builder().timeout(ANSWER_MAX).pool_idle_timeout(CLIENT_IDLE_MAX);
    client.build().expect("a client")
}

/// Looks again and again until there is what is looked for; `missing` says what is not there in time.
pub(crate) async fn eventually<T>(missing: &str, gateway: &Gateway, look: impl AsyncFnMut() -> Option<T>) -> T {
    look_until(SOON, missing, gateway, look).await
}

/// The same for what is done beside serving, with the lowest priority: a busy machine comes to it late.
pub(crate) async fn eventually_beside<T>(missing: &str, gateway: &Gateway, look: impl AsyncFnMut() -> Option<T>) -> T {
    look_until(WITH_WHAT_IS_LEFT, missing, gateway, look).await
}

async fn look_until<T>(
    time: Duration,
    missing: &str,
    gateway: &Gateway,
    mut look: impl AsyncFnMut() -> Option<T>,
) -> T {
    let deadline = Instant::now() + time;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "{missing}: {}", gateway.log());
        tokio::time::sleep(LOOK).await;
    }
}

/// Waits until a gateway has looked through its folder of contracts, which it begins when it listens. Compiling several takes
/// its time.
pub(crate) fn wait_for_folder(log: &Path) {
    let deadline = Instant::now() + ANSWER_MAX;
    loop {
        let said = std::fs::read_to_string(log).unwrap_or_default();
        if said.contains("the contract folder was looked through") {
            return;
        }
        assert!(Instant::now() < deadline, "the contract folder is not looked through: {said}");
        std::thread::sleep(LOOK);
    }
}

fn token(config: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(built("debug/intent-gateway"));
    let output = command.arg("token").args(arguments).arg("--config").arg(config).output().expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a token is ASCII").trim().to_owned()
}

fn config(folder: &Path, options: &GatewayOptions) -> String {
    // Nobody stands in front of most gateways who would have to be told of their end.
    let drain = if options.server.contains("drain_announce_ms") { "" } else { "drain_announce_ms = 0\n" };
    let mut text = format!(
        "state_dir = {:?}\n[server]\nlisten = \"127.0.0.1:0\"\n{drain}open_requests_per_minute = {}\n{}\n[contracts]\ndir = {:?}\n{}\n\
         [partner_client]\nallow_loopback_http = true\n{}\n",
        folder.join("state"),
        OPEN_REQUESTS_PER_MINUTE,
        options.server,
        folder.join("contracts"),
        options.trust,
        options.extra
    );
    // Most tests ask the same few partners more often in a second than a contract allows in a minute.
    if !options.extra.contains("[outbound]") {
        text.push_str("[outbound]\nrate_limits = false\n");
    }
    for partner in &options.partners {
        text.push_str(&format!(
            "[[partners]]\nid = {:?}\nname = {:?}\nurl = {:?}\n",
            partner.id, partner.id, partner.url
        ));
        if let Some(key) = &partner.signing_key {
            text.push_str(&format!("webhook_signing_key = {key:?}\n"));
        }
        if let Some(issuer) = &partner.issuer {
            text.push_str(&format!("sign_in = {{ issuer = {issuer:?} }}\n"));
        }
        for intent in &partner.intents {
            let PartnerEntry { service_area, availability, .. } = partner;
            text.push_str(&format!(
                "[[partners.listings]]\nintent = {intent:?}\nservice_area = {service_area:?}\n\
                 availability = {availability:?}\n"
            ));
        }
    }
    text
}

/// A Rust example partner with one of its catalogues.
pub(crate) fn rust_partner(catalogue: &str, folder: &Path) -> Server {
    rust_partner_with(catalogue, &[], folder)
}

/// The same with further arguments.
pub(crate) fn rust_partner_with(catalogue: &str, arguments: &[&str], folder: &Path) -> Server {
    let mut command = Command::new(built("debug/partner-rust"));
    command.args(["--catalogue", catalogue, "--port", "0"]).args(arguments);
    Server::start(&mut command, &folder.join(format!("partner-{catalogue}.log")))
}

/// A request that every contract rule accepts.
pub(crate) fn request() -> Value {
    let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(5).saturating_add(30.minutes()));
    let day = jiff::Zoned::now().with_time_zone(zone).start_of_day().expect("a day starts");
    let at = |hour: i64| (&day + (24 + hour).hours()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
    json!({
        "intent": "auto.book_ac_service",
        "user_location": {"lat": 12.9716, "lng": 77.5946, "max_radius_km": 25, "city": "Bengaluru"},
        "vehicle": {"type": "car", "year_of_manufacture": 2019, "ac_system_type": "automatic"},
        "ac_issue": {"category": "not_cooling", "user_description": "blows warm air", "last_serviced_months_ago": 14},
        "service_preferences": {
            "doorstep_acceptable": true,
            "preferred_window": {"start": at(9), "end": at(18)}
        }
    })
}
