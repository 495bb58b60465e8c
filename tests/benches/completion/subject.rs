//! Who is measured. Each is a process of its own; all run for as long as the bench does, for an idle one costs nothing.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use test_servers::Server;
use test_servers::postgres::Postgres;

use crate::disk::bytes_below;
use crate::gateway::{Gateway, sample, start_partner};
use crate::load::Run;
use crate::reports::{Quoted, SIGNING_KEY};
use crate::{root, start, start_own};

pub(crate) const BARE: &str = "bare hyper, 202";
pub(crate) const VERIFYING: &str = "hyper, signature and JSON";
pub(crate) const SQLITE: &str = "gateway, SQLite";
pub(crate) const SQLITE_ORDERS: &str = "gateway, SQLite, orders";
pub(crate) const POSTGRES: &str = "gateway, PostgreSQL";
pub(crate) const POSTGRES_ORDERS: &str = "gateway, PostgreSQL, orders";
pub(crate) const NODE_EACH: &str = "Node, a commit for each report";
pub(crate) const NODE_GROUP: &str = "Node, group commit";

/// One server, and what it has shown.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    pub(crate) server: Server,
    kept: Option<Kept>,
    gateway: Option<Gateway>,
    /// Whether the gateway knows the orders that are reported.
    has_orders: bool,
    /// Each run with the number of its connections.
    pub(crate) runs: Vec<(usize, Run)>,
}

/// What a server keeps.
struct Kept {
    folder: PathBuf,
    /// How large it was before the first report.
    bytes_before: u64,
}

impl Subject {
    fn new(name: &'static str, server: Server) -> Self {
        Self { name, server, kept: None, gateway: None, has_orders: false, runs: Vec::new() }
    }

    fn keeping(self, folder: PathBuf, bytes_before: u64) -> Self {
        Self { kept: Some(Kept { folder, bytes_before }), ..self }
    }

    /// Prepares for the reports of these numbers.
    pub(crate) async fn prepare(&mut self, quoted: &Quoted, numbers: Range<u64>) {
        let (Some(gateway), true) = (&self.gateway, self.has_orders) else { return };
        let kept = self.kept.as_mut().expect("a gateway keeps what it has");
        let bytes = bytes_below(&kept.folder);
        gateway.keep_orders(quoted, numbers).await;
        // What the orders take is not the reports'.
        kept.bytes_before += bytes_below(&kept.folder).saturating_sub(bytes);
    }

    /// Whether it is a gateway: it takes fewer reports than servers that keep nothing.
    pub(crate) fn is_gateway(&self) -> bool {
        self.gateway.is_some()
    }

    /// Whether the same report may be sent again and cost as much.
    pub(crate) fn keeps_nothing(&self) -> bool {
        self.kept.is_none()
    }

    /// Stops the server, which folds logs into files; bytes on the disk for each acknowledged report.
    pub(crate) async fn finish(self) -> Option<f64> {
        let acknowledged = self.runs.iter().map(|(_, run)| run.acknowledged).sum::<u64>();
        let Kept { folder, bytes_before } = self.kept?;
        self.server.stop().unwrap_or_else(|error| panic!("{error}"));
        let bytes = bytes_below(&folder).saturating_sub(bytes_before) as f64 / acknowledged as f64;
        if let Some(gateway) = self.gateway {
            gateway.check(acknowledged, self.has_orders).await;
        }
        Some(bytes)
    }
}

/// All that are measured.
pub(crate) struct Fleet {
    pub(crate) subjects: Vec<Subject>,
    /// What the gateways have quoted.
    pub(crate) quoted: Quoted,
    partner: Server,
    /// They run for as long as they are held.
    postgres: Vec<Postgres>,
    folder: TempDir,
}

impl Fleet {
    /// Starts those whose name contains `wanted`. On a real disk: the build's folder, for /tmp may be memory.
    pub(crate) async fn start(wanted: &str) -> Self {
        let folder = TempDir::new_in(root().join("target")).expect("a temporary folder");
        let partner = start_partner();
        let wanted = |name: &str| name.contains(wanted);
        let quoted = Quoted::of(&sample("slot-best.json"));
        let mut fleet = Self { subjects: Vec::new(), quoted, partner, postgres: Vec::new(), folder };
        for (name, argument) in [(BARE, "serve-bare"), (VERIFYING, "serve-verifying")] {
            if wanted(name) {
                fleet.subjects.push(Subject::new(name, start_own(&[argument])));
            }
        }
        for name in [SQLITE, SQLITE_ORDERS] {
            if wanted(name) {
                fleet.add_gateway(name, None).await;
            }
        }
        for name in [POSTGRES, POSTGRES_ORDERS] {
            if wanted(name) {
                fleet.add_postgres(name).await;
            }
        }
        for (name, commit) in [(NODE_EACH, "each"), (NODE_GROUP, "group")] {
            if wanted(name) {
                fleet.add_node(name, commit);
            }
        }
        fleet
    }

    fn make_folder(&self, name: &str) -> PathBuf {
        let folder = self.folder.path().join(name);
        std::fs::create_dir(&folder).expect("writable");
        folder
    }

    /// One whose databases are a server of its own, so that its files are counted.
    async fn add_postgres(&mut self, name: &'static str) {
        let postgres = Postgres::start().unwrap_or_else(|error| panic!("{error}"));
        let Some(postgres) = postgres else {
            println!("(PostgreSQL is not installed: `{name}` is left out)");
            return;
        };
        let url = postgres.database().unwrap_or_else(|error| panic!("{error}"));
        let data = postgres.folder().join("data/base");
        self.postgres.push(postgres);
        self.add_gateway(name, Some((url, data))).await;
    }

    async fn add_gateway(&mut self, name: &'static str, postgres: Option<(String, PathBuf)>) {
        let folder = self.make_folder(name);
        let (url, kept) = match postgres {
            Some((url, data)) => (Some(url), data),
            None => (None, folder.join("state")),
        };
        let gateway = Gateway::prepare(&folder, &self.partner, url);
        let server = gateway.start();
        self.quoted = gateway.search(&server).await;
        // Stopped, it has kept every ranking.
        server.stop().unwrap_or_else(|error| panic!("{error}"));
        let bytes_before = bytes_below(&kept);
        let mut subject = Subject::new(name, gateway.start()).keeping(kept, bytes_before);
        subject.gateway = Some(gateway);
        subject.has_orders = [SQLITE_ORDERS, POSTGRES_ORDERS].contains(&name);
        self.subjects.push(subject);
    }

    fn add_node(&mut self, name: &'static str, commit: &str) {
        let home = root().join("tests/benches/completion/node");
        let Some(node) = node(&home) else {
            println!("(Node is not installed in {}: `{name}` is left out)", home.display());
            return;
        };
        let folder = self.make_folder(name);
        let mut command = Command::new(node);
        command.env("WEBHOOK_SIGNING_KEY", SIGNING_KEY).env("NODE_ENV", "production").arg(home.join("server.js"));
        command.arg("--database").arg(folder.join("reports.db")).args(["--commit", commit]);
        self.subjects.push(Subject::new(name, start(name, &mut command)).keeping(folder, 0));
    }
}

/// The Node that `package.json` pins.
fn node(home: &Path) -> Option<PathBuf> {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        _ => return None,
    };
    let node = home.join(format!("node_modules/node-linux-{architecture}/bin/node"));
    node.exists().then_some(node)
}
