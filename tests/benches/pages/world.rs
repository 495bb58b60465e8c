//! A gateway with its pages, a partner's server, and whoever looks at the pages.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};
use serde_json::{Value, json};
use tempfile::TempDir;
use test_servers::Server;
use test_servers::smtp::{SmtpOptions, SmtpServer};

use crate::fill;

pub(crate) const INTENT: &str = "auto.book_ac_service";
/// The contract's crate, whose samples are used.
const PACKAGE: &str = "auto-book-ac-service";
const TOOL: &str = "search_ac_service_slots";
const EMAIL: &str = "asha@coolcar.example";
/// Signs tokens and seals secrets.
const KEY: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0";
/// How long something may take that is waited for.
const SOON: Duration = Duration::from_secs(60);

/// A visitor's cookie, and the pages that it looks at.
pub(crate) type Visitor = (String, Vec<String>);

pub(crate) struct World {
    folder: TempDir,
    smtp: SmtpServer,
    partner: Server,
    gateway: Server,
    client: reqwest::Client,
    admin: String,
    account: String,
    /// The receipt of the one ranking that was made.
    ranking: String,
}

impl World {
    /// With one business whose manifest waits for its review, and whose server was probed.
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir_in(root().join("target")).expect("a temporary folder");
        let smtp = SmtpServer::start(folder.path(), &SmtpOptions::default()).expect("the SMTP server starts");
        let answer = root().join("plugins").join(PACKAGE).join("samples/payload.json");
        let mut command = Command::new(beside("partner-canned"));
        command.args(["--port", "0", "--intent", INTENT, "--tool", &format!("{TOOL}={}", answer.display())]);
        let partner = launch("the partner", &mut command);
        let contracts = folder.path().join("contracts");
        std::fs::create_dir(&contracts).expect("writable");
        let component = root().join("target/contracts").join(PACKAGE).with_extension("wasm");
        std::fs::copy(component, contracts.join("contract.wasm")).expect("`cargo xtask guests` builds it");
        let state = folder.path().join("state");
        let text = format!(
            "state_dir = {state:?}\n[server]\nlisten = \"127.0.0.1:0\"\ndrain_announce_ms = 0\nopen_requests_per_minute = 1000000\n\
             [platform]\nbase_url = \"https://gateway.example\"\n[contracts]\ndir = {contracts:?}\n\
             [mail]\nmode = \"smtp\"\nhost = \"127.0.0.1\"\nport = {}\ntls = \"none\"\nfrom = \"no-reply@gateway.example\"\n\
             [partner_client]\nallow_loopback_http = true\n[log]\nlevel = \"error\"\n[console]\nenabled = true\n\
             [auth]\nsigning_key = {KEY:?}\nmaster_key = {KEY:?}\n\
             [[partners]]\nid = \"bench\"\nname = \"Bench\"\nurl = {:?}\n\
             listings = [{{ intent = {INTENT:?}, service_area = [\"IN_ALL\"] }}]\n",
            smtp.port(),
            partner.url
        );
        std::fs::write(folder.path().join("gateway.toml"), text).expect("writable");
        let gateway = serve(folder.path());
        let admin = token(folder.path(), &["--role", "admin", "--subject", "bench"]);
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client");
        let mut world =
            Self { folder, smtp, partner, gateway, client, admin, account: String::new(), ranking: String::new() };
        world.open_business().await;
        world.ranking = world.search().await;
        world
    }

    /// The same on a store in which much is kept.
    pub(crate) async fn filled(self, orders: u64, partners: u64, contracts: u64) -> Self {
        let Self { folder, smtp, partner, gateway, client, admin, account, ranking } = self;
        gateway.stop().expect("it stops");
        let file = folder.path().join("state/gateway.db");
        fill::copy_business(&file, &account, partners);
        fill::copy_contract(&file, contracts);
        fill::copy_receipt(&file, orders);
        fill::keep_orders(&file, &account, partners, orders).await;
        let gateway = serve(folder.path());
        Self { folder, smtp, partner, gateway, client, admin, account, ranking }
    }

    /// Signs a person of the team and the business in, and says what each looks at.
    pub(crate) async fn sign_in(&self) -> [Visitor; 2] {
        let team = self.enter("/console/sign-in", &[("token", &self.admin)]).await;
        self.submit("/dashboard/sign-in", &[("email", EMAIL)]).await;
        let code = self.mailed_code(2).await;
        let partner = self.enter("/dashboard/sign-in/code", &[("email", EMAIL), ("code", &code)]).await;
        let orders = self.api("GET", "/api/v1/admin/orders?limit=1", &self.admin, None).await;
        let order = orders["orders"][0]["id"].as_str().unwrap_or_default().to_owned();
        let own = format!("/api/v1/business/tier1/accounts/{}/orders?limit=1", self.account);
        let own = self.api("GET", &own, &self.admin, None).await;
        let own = own["orders"][0]["id"].as_str().unwrap_or_default().to_owned();
        let reviews = self.api("GET", "/api/v1/admin/reviews?status=open&limit=1", &self.admin, None).await;
        let review = reviews["reviews"][0]["id"].as_str().unwrap_or_default().to_owned();
        let of_team = [
            "/console".to_owned(),
            "/console/intents".to_owned(),
            format!("/console/intents/{INTENT}"),
            "/console/partners".to_owned(),
            "/console/partners?status=sandbox".to_owned(),
            format!("/console/partners/{}", self.account),
            "/console/reviews".to_owned(),
            format!("/console/reviews/{review}"),
            "/console/orders".to_owned(),
            format!("/console/orders?partner={}", self.account),
            "/console/orders?open=true".to_owned(),
            "/console/orders?known_as=BK-77".to_owned(),
            format!("/console/orders/{order}"),
            "/console/rankings".to_owned(),
            format!("/console/rankings?intent={INTENT}"),
            format!("/console/rankings/{}", self.ranking),
            "/console/ledger".to_owned(),
            "/console/playground".to_owned(),
            "/console/approvals".to_owned(),
            "/console/audit".to_owned(),
            "/console/gateways".to_owned(),
            "/console/settings".to_owned(),
        ];
        let of_partner = [
            "/dashboard".to_owned(),
            "/dashboard/go-live".to_owned(),
            "/dashboard/go-live/profile".to_owned(),
            "/dashboard/go-live/manifest".to_owned(),
            "/dashboard/go-live/connection".to_owned(),
            "/dashboard/offers".to_owned(),
            "/dashboard/orders".to_owned(),
            format!("/dashboard/orders/{own}"),
            "/dashboard/money".to_owned(),
            "/dashboard/access".to_owned(),
        ];
        [(team, of_team.into()), (partner, of_partner.into())]
    }

    /// Asks for a page, whole; how long it is, bytes.
    pub(crate) async fn page(&self, path: &str, cookie: &str) -> usize {
        let asked = self.client.get(format!("{}{path}", self.gateway.url)).header(COOKIE, cookie).send().await;
        let answer = asked.expect("the gateway answers");
        assert_eq!(answer.status(), 200, "{path}");
        answer.bytes().await.expect("whole").len()
    }

    pub(crate) fn stop(self) {
        self.gateway.stop().expect("it stops");
        self.partner.stop().expect("it stops");
        self.smtp.stop().expect("it stops");
    }

    /// Makes the one ranking; its receipt, once that is kept.
    async fn search(&self) -> String {
        let request = std::fs::read_to_string(root().join("plugins").join(PACKAGE).join("samples/request.json"));
        let request: Value = serde_json::from_str(&request.expect("readable")).expect("JSON");
        let token = token(self.folder.path(), &["--role", "orchestrator", "--subject", "bench"]);
        let found = self.api("POST", &format!("/api/v1/intents/{INTENT}/search"), &token, Some(request)).await;
        assert!(found["options"].as_array().is_some_and(|options| !options.is_empty()), "{found}");
        let rankings = format!("/api/v1/admin/intents/{INTENT}/rankings");
        let deadline = Instant::now() + SOON;
        loop {
            let kept = self.api("GET", &rankings, &self.admin, None).await;
            if let Some(receipt) = kept["rankings"][0]["receipt"].as_str() {
                return receipt.to_owned();
            }
            assert!(Instant::now() < deadline, "the receipt is never kept");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn open_business(&mut self) {
        let body = json!({"email": EMAIL, "business_name": "CoolCar"});
        self.api("POST", "/api/v1/business/sign-up", "", Some(body)).await;
        let code = self.mailed_code(1).await;
        let body = json!({"email": EMAIL, "code": code});
        let entered = self.api("POST", "/api/v1/business/sign-up/verify", "", Some(body)).await;
        let text = |member: &str| entered[member].as_str().unwrap_or_else(|| panic!("{entered}")).to_owned();
        let (account, token) = (text("account_id"), text("token"));
        self.account.clone_from(&account);
        let profile = json!({
            "legal_name": "CoolCar Services Private Limited", "legal_entity_type": "private_limited", "gstin": "24AAACC1206D1ZM",
            "licences": [{"kind": "shop", "number": "KA/BLR/2024/1183"}], "privacy_policy_url": "https://coolcar.example/privacy",
        });
        self.api("PUT", &format!("/api/v1/business/tier1/accounts/{account}/profile"), &token, Some(profile)).await;
        let manifest = json!({
            "businessName": "CoolCar", "submitForReview": true,
            "intents": [{
                "intent": INTENT, "domain": "auto", "pricing": {"min": 499, "max": 6999, "currency": "INR"},
                "service_area": ["Bangalore"], "description": "Car AC service at the doorstep.",
                "ttbs_signals": {"time": 0.6, "taste": 0.5, "budget": 0.7, "safety": 0.8},
                "availability": "24x7", "intent_version": "1.0.0",
            }],
        });
        self.api("POST", &format!("/api/v1/business/tier1/manifest/{account}"), &token, Some(manifest)).await;
        let endpoint = json!({"kind": "mcp", "url": self.partner.url});
        self.api("PUT", &format!("/api/v1/business/tier1/connection/{account}"), &token, Some(endpoint)).await;
        self.api("POST", &format!("/api/v1/mcp-admin/{account}/probe"), &self.admin, Some(json!({}))).await;
    }

    /// The code of the mail of that number that has one.
    async fn mailed_code(&self, nth: usize) -> String {
        let deadline = Instant::now() + SOON;
        loop {
            let mails =
                self.smtp.mails().expect("readable").into_iter().filter(|mail| mail.text.contains("Your code is"));
            let texts: Vec<String> = mails.map(|mail| mail.text).collect();
            if let Some(text) = texts.get(nth - 1) {
                let is_code = |word: &&str| word.len() == 6 && word.bytes().all(|byte| byte.is_ascii_digit());
                return text.split_whitespace().find(is_code).expect("a code").to_owned();
            }
            assert!(Instant::now() < deadline, "no mail has come");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn api(&self, method: &str, path: &str, token: &str, body: Option<Value>) -> Value {
        let method = method.parse().expect("a method");
        let mut request = self.client.request(method, format!("{}{path}", self.gateway.url));
        if !token.is_empty() {
            request = request.bearer_auth(token);
        }
        if let Some(body) = &body {
            request = request.json(body);
        }
        let answer = request.send().await.expect("the gateway answers");
        let status = answer.status();
        let text = answer.text().await.expect("text");
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Sends a form that signs somebody in; the cookie.
    async fn enter(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let answer = self.submit(path, fields).await;
        let cookie = answer.headers().get(SET_COOKIE).and_then(|value| value.to_str().ok()).expect("a session");
        cookie.split(';').next().expect("its value").to_owned()
    }

    async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> reqwest::Response {
        let encoded = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        let pairs: Vec<String> =
            fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        let request = self.client.post(format!("{}{path}", self.gateway.url)).header("sec-fetch-site", "same-origin");
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(pairs.join("&"));
        request.send().await.expect("the gateway answers")
    }
}

/// The gateway's program.
fn program() -> PathBuf {
    std::env::var_os("BENCH_GATEWAY").map_or_else(|| root().join("target/release/intent-gateway"), PathBuf::from)
}

/// A program that lies beside the gateway's.
fn beside(name: &str) -> PathBuf {
    program().with_file_name(name)
}

fn serve(folder: &Path) -> Server {
    let mut command = Command::new(program());
    command.arg("serve").arg("--config").arg(folder.join("gateway.toml"));
    if !folder.join("state/installation").exists() {
        command.arg("--first-start");
    }
    let server = launch("the gateway", &mut command);
    server.wait_for_intents(1).expect("its contract goes live");
    server
}

fn token(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(program());
    let output = command.arg("token").args(arguments).arg("--config").arg(folder.join("gateway.toml")).output();
    String::from_utf8(output.expect("the gateway issues a token").stdout).expect("ASCII").trim().to_owned()
}

fn launch(name: &str, command: &mut Command) -> Server {
    Server::start(name, command, Stdio::inherit()).unwrap_or_else(|error| panic!("{error}"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the root folder").to_owned()
}
