//! The gateway under load: on one processor, with one contract, and its log at the level that it has by default.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use chaos::partners::read_sample;
use jiff::Zoned;
use serde_json::{Value, json};
use test_servers::Server;

use crate::errand::{Errands, Place};
use crate::generator::Call;
use crate::{GATEWAY_CPU, on_cpu, root};

/// Callers, each with a token of its own subject. The first one is greedy.
pub(crate) const CALLERS: usize = 4;
/// What is asked beside the searches, all the time.
pub(crate) const PROBES: [&str; 2] = ["GET /ready", "an admin's call"];

const INTENT: &str = "auto.book_ac_service";
const PACKAGE: &str = "auto-book-ac-service";
const PARTNER: &str = "instant";
/// What the partner signs its reports with.
const SIGNING_KEY: &str = "whsec_6c1f0a9b3d5e7284c6a8e0f1b2d3c4a5968778695a4b3c2d1e0f9a8b7c6d5e4f";
/// Options of the partner's answer; the most that one may hold.
const OPTIONS: usize = 15;

pub(crate) struct Gateway {
    server: Server,
    /// It answers as long as this lives.
    _partner: Server,
    tokens: Vec<String>,
    admin: String,
    log: PathBuf,
    /// Everything that it keeps.
    pub(crate) state: PathBuf,
}

impl Gateway {
    pub(crate) async fn start(program: &Path, folder: &Path) -> Self {
        let own = std::env::current_exe().expect("this binary");
        let partner = start(Command::new(own).arg("serve-partner").arg(payload()).arg(booking()), Stdio::null());
        let contracts = folder.join("contracts");
        std::fs::create_dir(&contracts).expect("writable");
        let component = root().join("target/contracts").join(PACKAGE).with_extension("wasm");
        std::fs::copy(&component, contracts.join("contract.wasm")).expect("`cargo xtask guests` builds it");
        let (config, log, state) = (folder.join("gateway.toml"), folder.join("gateway.log"), folder.join("state"));
        let text = format!(
            "state_dir = {state:?}\n[server]\nlisten = \"127.0.0.1:0\"\n[contracts]\ndir = {contracts:?}\n\
             [partner_client]\nallow_loopback_http = true\n[outbound]\nrate_limits = false\nsearch_cache = false\n\
             [[partners]]\nid = {PARTNER:?}\nname = \"Instant\"\nurl = \"{}/mcp\"\nwebhook_signing_key = {SIGNING_KEY:?}\n\
             [[partners.listings]]\nintent = {INTENT:?}\nservice_area = [\"IN_ALL\"]\n",
            partner.url
        );
        std::fs::write(&config, text).expect("writable");
        let to = File::create(&log).expect("writable");
        let server = start(on_cpu(GATEWAY_CPU, program).arg("serve").arg("--config").arg(&config), to);
        server.wait_for_intents(1).expect("the contract goes live");
        let token = |role: &str, subject: &str| {
            let mut command = Command::new(program);
            // Good for longer than any measurement takes.
            command.args(["token", "--role", role, "--subject", subject, "--ttl", "24h", "--config"]).arg(&config);
            let token = command.output().expect("the gateway issues a token");
            assert!(token.status.success(), "{}", String::from_utf8_lossy(&token.stderr));
            String::from_utf8(token.stdout).expect("ASCII").trim().to_owned()
        };
        let tokens = (0..CALLERS).map(|caller| token("orchestrator", &format!("caller-{caller}"))).collect();
        Self { server, _partner: partner, tokens, admin: token("admin", "ops"), log, state }
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

    /// What users of each caller ask for. Of so many one books; none without a number.
    pub(crate) fn errands(&self, books_one_in: Option<usize>) -> Errands {
        let mut report = sample("completion-report.json");
        let quoted = sample("slot.json");
        report["amount_inr"] = quoted["estimated_price"]["labour_inr"].clone();
        report["service_scope_performed"] = quoted["service_scope"]["code"].clone();
        let place = Place {
            address: self.address().to_owned(),
            intent: INTENT,
            partner: PARTNER,
            signing_key: SIGNING_KEY,
            tokens: self.tokens.clone(),
        };
        Errands::new(place, books_one_in, [sample("request.json"), sample("create-arguments.json"), report])
    }

    /// Stops it; nothing of it goes on.
    pub(crate) fn stop(self) {
        self.server.stop().expect("it stops as it is told to");
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

/// A sample of the contract, moved to the days to come.
fn sample(name: &str) -> Value {
    let path = root().join("plugins").join(PACKAGE).join("samples").join(name);
    read_sample(&path, Zoned::now().date()).unwrap_or_else(|error| panic!("{error:#}"))
}

/// What the partner answers a booking with, JSON text, but for the names of slot and booking.
fn booking() -> String {
    let (mut booking, quoted) = (sample("booking.json"), sample("slot.json"));
    booking["total_estimate_inr"] = quoted["estimated_price"]["total_estimate_inr"].clone();
    booking["service_scope_confirmed"] = quoted["service_scope"]["code"].clone();
    booking.to_string()
}

/// What the partner finds, JSON text: the sample's option as often as an answer may hold one.
fn payload() -> String {
    let option = sample("slot.json");
    let options = (0..OPTIONS).map(|number| {
        let mut option = option.clone();
        option["slot_id"] = json!(format!("option-{number}"));
        option["provider"]["distance_from_user_km"] = json!(1.0 + number as f64 / 10.0);
        option
    });
    let options: Vec<Value> = options.collect();
    json!({"result_token": "bench", "expires_at": "2099-01-01T00:00:00Z", "slots": options}).to_string()
}
