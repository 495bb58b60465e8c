//! A gateway with example partners around it, as the demo and the benches run it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::Value;
use test_servers::Server;

use crate::command::{cargo, exists, output, root, run, step};
use crate::tools::install_list;

/// How long a shipped contract may take to serve.
pub(crate) const SWAP_MAX: Duration = Duration::from_secs(30);

/// A partner of the demo.
pub(crate) struct DemoPartner {
    /// Identifier in the gateway.
    pub(crate) id: &'static str,
    /// Display name.
    pub(crate) name: &'static str,
    /// What it claims of itself: time, taste, budget, safety.
    pub(crate) declared: [f64; 4],
    /// What it serves.
    pub(crate) intent: &'static str,
    /// Where it serves.
    pub(crate) area: &'static str,
    pub(crate) server: Server,
}

/// Cargo's folder for a profile.
pub(crate) fn binary(profile: &str, name: &str) -> PathBuf {
    root().join("target").join(profile).join(name)
}

/// The intent of the example partners that hold a catalogue.
pub(crate) const AC_SERVICE: &str = "auto.book_ac_service";

/// Builds the gateway and the partners in Rust.
pub(crate) fn build(profile: &str) -> anyhow::Result<()> {
    step("Building the gateway and the partners in Rust");
    run(&mut build_command(profile))
}

/// The command that builds them. For the demo and the tests it is all programs of the workspace, as in the documents: then
/// dependencies have the features that the tests ask for, and are compiled once for all.
pub(crate) fn build_command(profile: &str) -> Command {
    let mut build = cargo();
    build.args(["build", "--locked"]);
    if profile == "release" {
        build.args(["--release", "--package", "intent-gateway", "--package", "partner-rust"]);
        build.args(["--package", "partner-canned", "--package", "signing-sample"]);
        build.args(["--features", "intent-gateway/jemalloc"]);
    } else {
        // But for this program, which runs.
        build.args(["--workspace", "--bins", "--exclude", "xtask"]);
    }
    build
}

fn log_file(folder: &Path, name: &str) -> anyhow::Result<File> {
    let path = folder.join(name).with_extension("log");
    File::create(&path).with_context(|| format!("cannot create {}", path.display()))
}

/// Partners that answer with the samples of a contract: identifier, name, intent, search tool, package.
const CANNED: [(&str, &str, &str, &str, &str); 2] = [
    ("policy-desk", "Policy Desk", "finance.buy_motor_insurance", "search_motor_quotes", "finance-buy-motor-insurance"),
    ("yoga-circle", "Yoga Circle", "lifestyle.book_yoga_class", "search_providers", "lifestyle-book-yoga-class"),
];

/// Starts the partners in Rust.
pub(crate) fn start_rust_partners(folder: &Path) -> anyhow::Result<Vec<DemoPartner>> {
    let mut partners = Vec::new();
    let rust: [(&str, &str, &str, [f64; 4]); 4] = [
        ("oem", "oem-cool", "OEM Cool Care", [0.5, 0.8, 0.3, 0.9]),
        ("garage", "garage-nine", "Garage Nine", [0.6, 0.5, 0.7, 0.6]),
        ("doorstep", "doorstep-chill", "Doorstep Chill", [0.9, 0.6, 0.6, 0.5]),
        ("dishonest", "too-good", "Too Good Motors", [1.0, 1.0, 1.0, 1.0]),
    ];
    for (catalogue, id, name, declared) in rust {
        let mut command = Command::new(binary("debug", "partner-rust"));
        command.args(["--catalogue", catalogue, "--port", "0"]);
        let server = Server::start(name, &mut command, log_file(folder, id)?)?;
        partners.push(DemoPartner { id, name, declared, intent: AC_SERVICE, area: "Bengaluru", server });
    }
    for (id, name, intent, tool, package) in CANNED {
        let answer = root().join("plugins").join(package).join("samples/payload.json");
        let mut command = Command::new(binary("debug", "partner-canned"));
        command.args(["--port", "0", "--intent", intent, "--tool", &format!("{tool}={}", answer.display())]);
        let server = Server::start(name, &mut command, log_file(folder, id)?)?;
        partners.push(DemoPartner { id, name, declared: [0.5; 4], intent, area: "IN_ALL", server });
    }
    Ok(partners)
}

/// Starts the Rust partners, and the others where their runtimes are found.
pub(crate) fn start_partners(folder: &Path) -> anyhow::Result<Vec<DemoPartner>> {
    step("Starting partners");
    let mut partners = start_rust_partners(folder)?;
    if let Some(server) = typescript_partner(folder)? {
        let declared = [0.6, 0.6, 0.6, 0.6];
        partners.push(DemoPartner {
            id: "typescript",
            name: "AC Specialist (TypeScript)",
            declared,
            intent: AC_SERVICE,
            area: "IN_ALL",
            server,
        });
    }
    if let Some(server) = python_partner(folder)? {
        let declared = [0.5, 0.7, 0.5, 0.8];
        partners.push(DemoPartner {
            id: "python",
            name: "Neighbourhood AC (Python)",
            declared,
            intent: AC_SERVICE,
            area: "IN_ALL",
            server,
        });
    }
    for partner in &partners {
        eprintln!("   {:<32} {}", partner.name, partner.server.url);
    }
    Ok(partners)
}

/// Installs an example partner that runs on Node; false where there is no Node.
pub(crate) fn install_node(partner: &str) -> anyhow::Result<bool> {
    install_packages(&root().join("examples").join(partner))
}

/// Installs the packages that a folder locks, unless they are there; false where there is no Node.
pub(crate) fn install_packages(home: &Path) -> anyhow::Result<bool> {
    if !exists("node") || !exists("npm") {
        return Ok(false);
    }
    if !home.join("node_modules/.package-lock.json").exists() {
        run(Command::new("npm").current_dir(home).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
    }
    Ok(true)
}

/// Installs what the example partners need, where their runtimes are found.
pub(crate) fn install_partners() -> anyhow::Result<()> {
    install_node("partner-typescript")?;
    install_python("partner-python", "mcp")?;
    Ok(())
}

fn typescript_partner(folder: &Path) -> anyhow::Result<Option<Server>> {
    if !install_node("partner-typescript")? {
        eprintln!("   (no Node found: the TypeScript partner is left out)");
        return Ok(None);
    }
    let mut command = Command::new("node");
    command.current_dir(root().join("examples/partner-typescript"));
    command.args(["--import", "tsx", "src/main.ts", "--port", "0"]);
    Server::start("the TypeScript partner", &mut command, log_file(folder, "typescript")?).map(Some).map_err(Into::into)
}

/// Installs an example partner in Python, which needs `module`, and returns its interpreter; none where there is no
/// Python.
pub(crate) fn install_python(partner: &str, module: &str) -> anyhow::Result<Option<PathBuf>> {
    if !exists("python3") {
        return Ok(None);
    }
    let home = root().join("examples").join(partner);
    let python = home.join(".venv/bin/python");
    if output(Command::new(&python).args(["-c", &format!("import {module}")])).is_err() {
        run(Command::new("python3").current_dir(&home).args(["-m", "venv", "--clear", ".venv"]))?;
        install_list(&python, &home.join("requirements.txt"))?;
    }
    Ok(Some(python))
}

fn python_partner(folder: &Path) -> anyhow::Result<Option<Server>> {
    let Some(python) = install_python("partner-python", "mcp")? else {
        eprintln!("   (no Python found: the Python partner is left out)");
        return Ok(None);
    };
    let mut command = Command::new(python);
    command.current_dir(root().join("examples/partner-python")).args(["server.py", "--port", "0"]);
    Server::start("the Python partner", &mut command, log_file(folder, "python")?).map(Some).map_err(Into::into)
}

/// A gateway that runs, with tokens for its callers.
pub(crate) struct Gateway {
    pub(crate) server: Server,
    pub(crate) config: PathBuf,
    pub(crate) contracts: PathBuf,
    orchestrator: String,
    admin: String,
    agent: ureq::Agent,
}

impl Gateway {
    /// Starts a gateway on the embedded defaults, in a folder of its own, with these partners. `settings` are
    /// variables of its environment, which go before its configuration.
    pub(crate) fn start(
        profile: &str,
        folder: &Path,
        partners: &[DemoPartner],
        settings: &[(&str, &str)],
    ) -> anyhow::Result<Self> {
        Self::start_program(&binary(profile, "intent-gateway"), folder, partners, settings)
    }

    /// The same with a program that lies elsewhere.
    pub(crate) fn start_program(
        program: &Path,
        folder: &Path,
        partners: &[DemoPartner],
        settings: &[(&str, &str)],
    ) -> anyhow::Result<Self> {
        step("Starting the gateway");
        let contracts = folder.join("contracts");
        std::fs::create_dir_all(&contracts)?;
        let config = folder.join("gateway.toml");
        std::fs::write(&config, config_text(folder, &contracts, partners))?;
        let mut command = Command::new(program);
        command.arg("serve").arg("--config").arg(&config).envs(settings.iter().copied());
        let server = Server::start("the gateway", &mut command, log_file(folder, "gateway")?)?;
        let token = |role: &str| {
            output(Command::new(program).args(["token", "--role", role, "--subject", "demo", "--config"]).arg(&config))
        };
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(60)))
            .http_status_as_error(false)
            .build()
            .into();
        eprintln!("   {}", server.url);
        Ok(Self {
            config: config.clone(),
            contracts,
            orchestrator: token("orchestrator")?,
            admin: token("admin")?,
            agent,
            server,
        })
    }

    /// Ships a component: copies it into the watched folder under a name of its own, in one step.
    pub(crate) fn ship(&self, component: &Path) -> anyhow::Result<()> {
        let name = component.file_name().context("a component has a name")?;
        let partial = self.contracts.join(name).with_extension("partial");
        std::fs::copy(component, &partial).with_context(|| format!("cannot copy {}", component.display()))?;
        Ok(std::fs::rename(&partial, self.contracts.join(name))?)
    }

    /// Waits until the loaded contracts are as wanted; `what` names it where they are not in time.
    pub(crate) fn wait_for(&self, what: &str, wanted: impl Fn(&[Value]) -> bool) -> anyhow::Result<()> {
        let deadline = Instant::now() + SWAP_MAX;
        while Instant::now() < deadline {
            if self.get("/api/v1/admin/contracts")?["contracts"].as_array().is_some_and(|loaded| wanted(loaded)) {
                return Ok(());
            }
            std::thread::park_timeout(Duration::from_millis(50));
        }
        let failures = self.get("/api/v1/admin/contracts/failures")?;
        bail!("{what} is not live after {} s; failures: {failures}", SWAP_MAX.as_secs())
    }

    /// A token of the platform team.
    pub(crate) fn admin_token(&self) -> &str {
        &self.admin
    }

    /// Posts JSON as the orchestrator; the status and the answer.
    pub(crate) fn post(&self, path: &str, body: &Value) -> anyhow::Result<(u16, Value)> {
        self.send("POST", path, Some(&self.orchestrator), body)
    }

    /// Sends JSON, with a token where there is one; the status and the answer.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: &Value,
    ) -> anyhow::Result<(u16, Value)> {
        let mut request = ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.server.url));
        request = request.header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut response = self.agent.run(request.body(serde_json::to_vec(body)?)?)?;
        Ok((response.status().as_u16(), response.body_mut().read_json()?))
    }

    /// Posts bytes as they are, with the headers that a partner signs with; the status and the answer.
    pub(crate) fn post_signed(
        &self,
        path: &str,
        headers: &[(&str, String)],
        body: Vec<u8>,
    ) -> anyhow::Result<(u16, Value)> {
        let mut request = ureq::http::Request::builder().method("POST").uri(format!("{}{path}", self.server.url));
        request = request.header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let mut response = self.agent.run(request.body(body)?)?;
        Ok((response.status().as_u16(), response.body_mut().read_json()?))
    }

    /// Reads JSON as an admin.
    pub(crate) fn get(&self, path: &str) -> anyhow::Result<Value> {
        let request = self.agent.get(format!("{}{path}", self.server.url));
        let mut response = request.header("authorization", format!("Bearer {}", self.admin)).call()?;
        let body: Value = response.body_mut().read_json()?;
        if !response.status().is_success() {
            bail!("GET {path} answered {}: {body}", response.status());
        }
        Ok(body)
    }
}

/// The key that a partner of the demo signs its completion reports with. It opens nothing outside this machine.
pub(crate) fn signing_key(partner: &str) -> String {
    format!("whsec_demo_{partner}_not_for_use_anywhere_else")
}

fn config_text(folder: &Path, contracts: &Path, partners: &[DemoPartner]) -> String {
    use std::fmt::Write as _;
    let mut text = format!(
        "state_dir = {:?}\n\n[server]\nlisten = \"127.0.0.1:0\"\ndrain_announce_ms = 0\n\n[contracts]\ndir = {contracts:?}\n\n\
         # Local partners speak plain HTTP on loopback; never switch this on in production.\n\
         [partner_client]\nallow_loopback_http = true\n\n\
         # Searches in flight all the time ask a partner more often than a contract allows in a minute.\n\
         [outbound]\nrate_limits = false\n",
        folder.join("state")
    );
    for partner in partners {
        let [time, taste, budget, safety] = partner.declared;
        write!(
            text,
            "\n[[partners]]\nid = {:?}\nname = {:?}\nurl = {:?}\nwebhook_signing_key = {:?}\n\n[[partners.listings]]\n\
             intent = {:?}\nservice_area = [{:?}]\n\
             ttbs_signals = {{ time = {time}, taste = {taste}, budget = {budget}, safety = {safety} }}\n",
            partner.id,
            partner.name,
            partner.server.url,
            signing_key(partner.id),
            partner.intent,
            partner.area
        )
        .expect("writing to a string does not fail");
    }
    text
}
