//! The gateway under load: on one processor, with one contract, and its log at the level that it has by default.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use test_servers::Server;

use crate::generator::Call;
use crate::{GATEWAY_CPU, on_cpu, root};

/// Callers, each with a token of its own subject. The first one is greedy.
pub(crate) const CALLERS: usize = 4;
/// What is asked beside the searches, all the time.
pub(crate) const PROBES: [&str; 2] = ["GET /ready", "an admin's call"];

const INTENT: &str = "auto.book_ac_service";
const PACKAGE: &str = "auto-book-ac-service";
/// Options of the partner's answer; the most that one may hold.
const OPTIONS: usize = 15;

pub(crate) struct Gateway {
    server: Server,
    /// It answers as long as this lives.
    _partner: Server,
    tokens: Vec<String>,
    admin: String,
    log: PathBuf,
}

impl Gateway {
    pub(crate) async fn start(program: &Path, folder: &Path) -> Self {
        let own = std::env::current_exe().expect("this binary");
        let partner = start(Command::new(own).arg("serve-partner").arg(payload()), Stdio::null());
        let contracts = folder.join("contracts");
        std::fs::create_dir(&contracts).expect("writable");
        let component = root().join("target/contracts").join(PACKAGE).with_extension("wasm");
        std::fs::copy(&component, contracts.join("contract.wasm")).expect("`cargo xtask guests` builds it");
        let (config, log) = (folder.join("gateway.toml"), folder.join("gateway.log"));
        let text = format!(
            "state_dir = {:?}\n[server]\nlisten = \"127.0.0.1:0\"\n[contracts]\ndir = {contracts:?}\n\
             [partner_client]\nallow_loopback_http = true\n[outbound]\nrate_limits = false\nsearch_cache = false\n\
             [[partners]]\nid = \"instant\"\nname = \"Instant\"\nurl = \"{}/mcp\"\n\
             [[partners.listings]]\nintent = {INTENT:?}\nservice_area = [\"IN_ALL\"]\n",
            folder.join("state"),
            partner.url
        );
        std::fs::write(&config, text).expect("writable");
        let to = File::create(&log).expect("writable");
        let server = start(on_cpu(GATEWAY_CPU, program).arg("serve").arg("--config").arg(&config), to);
        server.wait_for_intents(1).expect("the contract goes live");
        let token = |role: &str, subject: &str| {
            let mut command = Command::new(program);
            command.args(["token", "--role", role, "--subject", subject, "--config"]).arg(&config);
            let token = command.output().expect("the gateway issues a token");
            assert!(token.status.success(), "{}", String::from_utf8_lossy(&token.stderr));
            String::from_utf8(token.stdout).expect("ASCII").trim().to_owned()
        };
        let tokens = (0..CALLERS).map(|caller| token("orchestrator", &format!("caller-{caller}"))).collect();
        Self { server, _partner: partner, tokens, admin: token("admin", "ops"), log }
    }

    pub(crate) fn address(&self) -> &str {
        self.server.address()
    }

    pub(crate) fn process(&self) -> u32 {
        self.server.id()
    }

    pub(crate) fn log_bytes(&self) -> u64 {
        std::fs::metadata(&self.log).expect("the log is there").len()
    }

    /// A search of each caller.
    pub(crate) fn searches(&self) -> Vec<Call> {
        let body = sample("request.json");
        let path = format!("/api/v1/intents/{INTENT}/search");
        self.tokens.iter().map(|token| Call::post(&path, self.address(), token, &body)).collect()
    }

    /// What is asked beside, in the order of [`PROBES`].
    pub(crate) fn probes(&self) -> Vec<Call> {
        let get = |path: &str, token| Call::get(path, self.address(), token);
        vec![get("/ready", None), get("/api/v1/admin/contracts", Some(self.admin.as_str()))]
    }
}

fn start(command: &mut Command, log: impl Into<Stdio>) -> Server {
    Server::start("a server of the bench", command, log).unwrap_or_else(|error| panic!("{error}"))
}

fn sample(name: &str) -> String {
    let path = root().join("plugins").join(PACKAGE).join("samples").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()))
}

/// What the partner finds, JSON text: the sample's option as often as an answer may hold one.
fn payload() -> String {
    let option: Value = serde_json::from_str(&sample("slot.json")).expect("the sample is JSON");
    let options = (0..OPTIONS).map(|number| {
        let mut option = option.clone();
        option["slot_id"] = json!(format!("option-{number}"));
        option["provider"]["distance_from_user_km"] = json!(1.0 + number as f64 / 10.0);
        option
    });
    let options: Vec<Value> = options.collect();
    json!({"result_token": "bench", "expires_at": "2099-01-01T00:00:00Z", "slots": options}).to_string()
}
