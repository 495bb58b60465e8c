//! A gateway's database in the hands of somebody who may write to it, and has neither its keys nor its log: the rows, the triggers
//! out of the way, and links made as anybody can make them, with SHA-256 and no key.

use std::path::Path;
use std::process::Command;

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use test_servers::postgres::Postgres;

use crate::completion::{NO_SMTP, Reporter, ac_report, key_of, reporter_entry};
use crate::harness::{Gateway, GatewayOptions, ac_contract, built, eventually};
use crate::onboarding::settings;

/// Who has reported orders.
const REPORTER: &str = "alpha";
/// Orders that are reported.
const REPORTS: usize = 3;
/// The columns of the audit log, all as texts.
const AUDIT: &str =
    "SELECT CAST(seq AS TEXT), CAST(at_ms AS TEXT), role, actor, action, subject, detail FROM audit_log ORDER BY seq";
/// The columns of the ledger, all as texts; what is taken back is not read, for nothing is.
const LEDGER: &str = "SELECT CAST(number AS TEXT), CAST(posted_at_ms AS TEXT), CAST(closed_at_ms AS TEXT), partner, intent, external_id, \
                      request_id, status, judge, month, CAST(amount AS TEXT), CAST(rate AS TEXT), CAST(stand_in AS TEXT), \
                      COALESCE(CAST(late_minutes AS TEXT), ''), report, CAST(kind AS TEXT), CAST(receivable AS TEXT), \
                      CAST(revenue AS TEXT) FROM ledger ORDER BY number";

/// The database of a gateway that has served.
pub(super) struct Database {
    engine: Engine,
    /// Its configuration and its keys, which the attacker does not see.
    folder: TempDir,
}

enum Engine {
    Sqlite(String),
    Postgres(String),
}

/// One database of each engine that is here, each of a gateway that has booked reports and kept an audit log.
pub(super) async fn databases() -> Vec<Database> {
    let mut databases = vec![Database::new(Engine::Sqlite).await];
    if let Some(server) = Postgres::shared().unwrap_or_else(|error| panic!("{error}")) {
        let url = server.database().expect("a database");
        databases.push(Database::new(|_| Engine::Postgres(url)).await);
    }
    databases
}

impl Database {
    async fn new(engine: impl FnOnce(String) -> Engine) -> Self {
        let store = tempfile::tempdir().expect("a temporary folder").keep();
        let engine = engine(store.join("gateway.db").display().to_string());
        let url = match &engine {
            Engine::Sqlite(path) => format!("sqlite://{path}"),
            Engine::Postgres(url) => url.clone(),
        };
        let folder = Gateway::folder_for(&GatewayOptions {
            partners: vec![reporter_entry(REPORTER)],
            contracts: vec![ac_contract()],
            extra: settings(Some(&url), NO_SMTP),
            ..GatewayOptions::default()
        });
        let gateway = Gateway::start_in(folder);
        let reporter = Reporter::new(&gateway.server.url, REPORTER, &key_of(REPORTER));
        for order in 0..REPORTS {
            let answer = reporter.report(&ac_report(&format!("BK-{order}"), "req-1")).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
            // An entry of the audit log, whoever the user is.
            let token = gateway.orchestrator_token();
            let answer = gateway.call_for("asha", "DELETE", "/api/v1/user-data", Some(token), None).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
        }
        let database = Self { engine, folder: gateway.stop() };
        for chain in ["audit", "ledger"] {
            assert_eq!(database.verify(chain, &[]), Ok(()), "it is sound before the attack");
        }
        database
    }

    /// The same once the gateway has anchored what is there, which it does a moment after it has started.
    pub(super) async fn anchored(self) -> Self {
        let Self { engine, folder } = self;
        let gateway = Gateway::start_in(folder);
        eventually("no anchors", &gateway, async || {
            let log = gateway.log();
            ["anchor1:audit:", "anchor1:ledger:"].iter().all(|anchor| log.contains(anchor)).then_some(())
        })
        .await;
        Self { engine, folder: gateway.stop() }
    }

    /// Starts the gateway, which finds by itself that a chain is not as it was written, and stops it.
    pub(super) async fn assert_found_by_gateway(self, chain: &str) -> Self {
        let Self { engine, folder } = self;
        let gateway = Gateway::start_in(folder);
        eventually("nothing is found", &gateway, async || {
            let log = gateway.log();
            log.lines()
                .any(|line| line.contains("A CHAIN IS NOT AS IT WAS WRITTEN") && line.contains(chain))
                .then_some(())
        })
        .await;
        let token = gateway.admin_token();
        let metrics = gateway.call("GET", "/api/v1/admin/metrics", Some(token), None).await.body;
        let gauge = format!("intent_gateway_chain_sound{{chain=\"{chain}\"}} 0");
        assert!(metrics.as_str().expect("a text").contains(&gauge), "{metrics}");
        let verified = gateway.admin_get(&format!("/{chain}/verify")).await;
        assert!(verified["ok"] == false || verified["sound"] == false, "{verified}");
        Self { engine, folder: gateway.stop() }
    }

    /// Whether a verification is content, or else what it says.
    pub(super) fn verify(&self, chain: &str, more: &[&str]) -> Result<(), String> {
        let mut command = Command::new(built("debug/intent-gateway"));
        command.args([chain, "verify", "--config"]).arg(self.folder.path().join("gateway.toml")).args(more);
        let output = command.output().expect("it runs");
        let said = [&output.stdout[..], &output.stderr].concat();
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&said).into_owned()) }
    }

    /// The log of the gateway, which the attacker cannot write to.
    pub(super) fn log(&self) -> String {
        self.folder.path().join("gateway.log").display().to_string()
    }

    /// Removes what the gateway has anchored in its state folder.
    pub(super) fn remove_own_anchors(&self) {
        std::fs::remove_file(self.folder.path().join("state/anchors")).expect("they are there");
    }

    /// Starts the gateway and stops it.
    pub(super) fn serve_again(self, keep_log: &Path) -> Self {
        let Self { engine, folder } = self;
        std::fs::copy(folder.path().join("gateway.log"), keep_log).expect("the log is kept");
        Self { engine, folder: Gateway::start_in(folder).stop() }
    }

    /// Runs statements, with nothing in their way.
    pub(super) async fn run(&self, sql: &str) {
        match &self.engine {
            Engine::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path).expect("the file opens");
                for (table, triggers) in [("audit_log", 2), ("ledger", 3)] {
                    for name in ["keeps", "stays", "follows"].into_iter().take(triggers) {
                        let drop = format!("DROP TRIGGER IF EXISTS {table}_{name}");
                        connection.execute_batch(&drop).expect("whoever owns the file can do it");
                    }
                }
                connection.execute_batch(sql).expect("it is done");
            }
            Engine::Postgres(url) => {
                let disable = "ALTER TABLE audit_log DISABLE TRIGGER ALL; ALTER TABLE ledger DISABLE TRIGGER ALL;";
                let (client, connection) =
                    tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("connected");
                let driver = tokio::spawn(connection);
                client.batch_execute(&format!("{disable} {sql}")).await.expect("whoever owns the database can do it");
                drop(client);
                driver.await.expect("it ends").expect("it ends well");
            }
        }
    }

    /// Rows of texts.
    async fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        match &self.engine {
            Engine::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path).expect("the file opens");
                let mut statement = connection.prepare(sql).expect("it is understood");
                let columns = statement.column_count();
                let row = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
                let rows = statement.query_map([], row).expect("it is asked");
                rows.collect::<Result<_, _>>().expect("texts")
            }
            Engine::Postgres(url) => {
                let (client, connection) =
                    tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("connected");
                let driver = tokio::spawn(connection);
                let said = client.simple_query(sql).await.expect("it is asked");
                drop(client);
                driver.await.expect("it ends").expect("it ends well");
                let row = |row: &tokio_postgres::SimpleQueryRow| {
                    (0..row.len()).map(|column| row.get(column).unwrap_or_default().to_owned()).collect()
                };
                let rows = said.iter().filter_map(|message| match message {
                    tokio_postgres::SimpleQueryMessage::Row(found) => Some(row(found)),
                    _ => None,
                });
                rows.collect()
            }
        }
    }

    /// How many entries a chain has.
    pub(super) async fn count(&self, table: &str) -> usize {
        self.rows(&format!("SELECT CAST(COUNT(*) AS TEXT) FROM {table}")).await[0][0].parse().expect("a number")
    }

    /// Makes every link of the audit log anew, from what its rows say now.
    pub(super) async fn link_audit_anew(&self) {
        let mut previous: [u8; 32] = Sha256::digest("intent-gateway audit log").into();
        let mut sql = String::new();
        for row in self.rows(AUDIT).await {
            let mut hasher = Sha256::new();
            hasher.update(previous);
            row[..2].iter().for_each(|number| hasher.update(number.parse::<u64>().expect("a number").to_be_bytes()));
            row[2..].iter().for_each(|text| feed(&mut hasher, text));
            previous = hasher.finalize().into();
            sql.push_str(&format!("UPDATE audit_log SET hash = '{}' WHERE seq = {};", hex(&previous), row[0]));
        }
        self.run(&sql).await;
    }

    /// Makes every link of the ledger anew, from what its rows say now.
    pub(super) async fn link_ledger_anew(&self) {
        let mut previous: [u8; 32] = Sha256::digest("intent-gateway commission ledger").into();
        let mut sql = String::new();
        for row in self.rows(LEDGER).await {
            previous = link_of_entry(previous, &row);
            sql.push_str(&format!("UPDATE ledger SET hash = '{}' WHERE number = {};", hex(&previous), row[0]));
        }
        self.run(&sql).await;
    }
}

fn link_of_entry(previous: [u8; 32], row: &[String]) -> [u8; 32] {
    let number = |column: usize| row[column].parse::<i64>().expect("a number");
    let mut hasher = Sha256::new();
    hasher.update(previous);
    (0..3).for_each(|column| hasher.update(number(column).to_be_bytes()));
    hasher.update(0_u64.to_be_bytes());
    row[3..9].iter().for_each(|text| feed(&mut hasher, text));
    feed(&mut hasher, "");
    let (year, month) = row[9].split_once('-').expect("a month");
    hasher.update(year.parse::<i16>().expect("a year").to_be_bytes());
    hasher.update(month.parse::<i8>().expect("a month").to_be_bytes());
    hasher.update(number(10).to_be_bytes());
    hasher.update(u16::try_from(number(11)).expect("a rate").to_be_bytes());
    let is_charge = number(15) == 1;
    let late: Option<i32> = row[13].parse().ok();
    hasher.update([u8::from(number(12) != 0), u8::from(!is_charge), u8::from(late.is_some())]);
    hasher.update(late.unwrap_or_default().to_be_bytes());
    hasher.update(unhex(&row[14]));
    hasher.update(if is_charge { 2_u64 } else { 0 }.to_be_bytes());
    if is_charge {
        for (account, column) in [(0_u8, 16), (1, 17)] {
            hasher.update([account]);
            hasher.update(number(column).to_be_bytes());
        }
    }
    hasher.finalize().into()
}

fn feed(hasher: &mut Sha256, text: &str) {
    hasher.update((text.len() as u64).to_be_bytes());
    hasher.update(text);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("ASCII"));
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal")).collect()
}
