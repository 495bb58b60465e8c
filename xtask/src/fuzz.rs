//! Fuzzes the HTTP API with schemathesis: a gateway with live contracts and partners, every route of its OpenAPI document,
//! and answers judged against that document.
//!
//! How it is fuzzed is in `tests/tools/schemathesis.toml`. A finding fails the run and is told with the request that shows
//! it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};
use serde_json::Value;
use test_servers::soak;

use crate::command::{root, run, step};
use crate::gateway::{self, Gateway};
use crate::{accounts, guests, tools};

/// How long is fuzzed at most, seconds: in every run, and in a soak. Within it the seed decides what is tried.
const FUZZ_SECONDS: [&str; 2] = ["45", "600"];
/// The configuration of schemathesis, from the project's root.
const CONFIGURATION: &str = "tests/tools/schemathesis.toml";
/// Folder of the gateway, its log and the report.
const FOLDER: &str = "target/api-fuzz";
/// Variable by which the configuration gets the token.
const TOKEN: &str = "API_FUZZ_TOKEN";
/// The limit on routes without a token would leave most of them unfuzzed: one client asks them all.
const SETTINGS: [(&str, &str); 1] = [("INTENT_GATEWAY__SERVER__OPEN_REQUESTS_PER_MINUTE", "1000000")];
/// Operations that must have been called with success at least once, or the run has proved nothing of them.
const REACHED: [&str; 15] = [
    "GET /api/v1/intents/{intent}",
    "POST /api/v1/intents/{intent}/search",
    "POST /api/v1/classify",
    "GET /api/v1/admin/contracts",
    "POST /api/v1/admin/contracts/{digest}/activate",
    "GET /api/v1/admin/partners/{partner}/findings",
    "GET /api/v1/admin/reviews/{review}",
    "GET /api/v1/admin/audit/verify",
    "POST /api/v1/mcp-admin/{id}/probe",
    "POST /api/v1/mcp-admin/{id}/test",
    "GET /api/v1/business/tier1/accounts/{account_id}",
    "PUT /api/v1/business/tier1/connection/{account_id}",
    "POST /api/v1/business/tier1/manifest/{account_id}",
    "PUT /api/v1/business/tier1/credentials/{account_id}/webhook",
    "POST /api/v1/business/tier1/credentials/{account_id}/test-call",
];
/// Variable by which the hooks get the file that they leave their counts in.
const SUCCESSES: &str = "API_FUZZ_SUCCESSES";
/// Variable by which the hooks get the address of a partner's server: what is invented would be looked up in the world.
const PARTNER: &str = "API_FUZZ_PARTNER";
/// What the log of a gateway holds once a thread of it has panicked.
const PANIC: &str = "panicked at";

/// Fuzzes the API as an admin, who may call everything.
pub(crate) fn run_all() -> anyhow::Result<()> {
    tools::install_python()?;
    guests::build_all()?;
    gateway::build("debug")?;
    let folder = root().join(FOLDER);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot clear {FOLDER}"))?;
    }
    std::fs::create_dir_all(&folder)?;
    let partners = gateway::start_rust_partners(&folder)?;
    let gateway = Gateway::start("debug", &folder, &partners, &SETTINGS)?;
    let contracts = guests::list_shipped()?;
    for contract in &contracts {
        gateway.ship(contract)?;
    }
    let live = |loaded: &[Value]| loaded.iter().filter(|one| one["live"] == true).count();
    gateway.wait_for("every contract", |loaded| live(loaded) == contracts.len())?;

    let partner = partners.first().context("there are partners in Rust")?;
    let made = accounts::make(&gateway, &folder.join("state/outbox.jsonl"), &partner.server.url)?;
    write_dictionary(&folder.join("accounts.dict"), &[&made.full, &made.bare])?;
    write_dictionary(&folder.join("connected.dict"), &[&made.full])?;
    write_dictionary(&folder.join("reviews.dict"), &[&made.review])?;

    step("Fuzzing the API");
    let mut schemathesis = Command::new(tools::program("schemathesis"));
    schemathesis.current_dir(root());
    schemathesis.env(TOKEN, gateway.admin_token()).env(PARTNER, &partner.server.url);
    let [short, long] = FUZZ_SECONDS;
    schemathesis.args(["--config-file", CONFIGURATION, "run", "--max-time", soak::choose(short, long)]);
    let successes = folder.join("successes.json");
    schemathesis.env(SUCCESSES, &successes).arg(format!("{}/openapi.json", gateway.server.url));
    run(&mut schemathesis)?;
    let successes = std::fs::read(&successes).context("the fuzzer left no counts")?;
    check_reach(&serde_json::from_slice(&successes).context("the fuzzer's counts cannot be read")?)?;

    gateway.server.stop().context("the gateway did not survive the fuzzing")?;
    let log = std::fs::read_to_string(folder.join("gateway.log")).context("the gateway's log cannot be read")?;
    if let Some(line) = log.lines().find(|line| line.contains(PANIC)) {
        bail!("the gateway panicked: {line}");
    }
    Ok(())
}

/// Writes identifiers that exist as a dictionary in libFuzzer's format, one quoted word a line.
fn write_dictionary(path: &Path, words: &[&str]) -> anyhow::Result<()> {
    let lines: String = words.iter().map(|word| format!("\"{word}\"\n")).collect();
    std::fs::write(path, lines).with_context(|| format!("cannot write {}", path.display()))
}

/// Whether the fuzzer came through to what the operations do.
fn check_reach(successes: &BTreeMap<String, u64>) -> anyhow::Result<()> {
    let missed: Vec<&str> = REACHED.into_iter().filter(|operation| !successes.contains_key(*operation)).collect();
    if !missed.is_empty() {
        bail!("the fuzzer never called with success: {}", missed.join(", "));
    }
    for (operation, count) in successes {
        eprintln!("   {count:>6} successes of {operation}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_that_never_succeeded_fails_the_run() {
        let mut successes: BTreeMap<String, u64> = REACHED.iter().map(|one| ((*one).to_owned(), 1)).collect();
        assert!(check_reach(&successes).is_ok());
        successes.remove(REACHED[1]);
        assert!(check_reach(&successes).is_err_and(|error| error.to_string().contains(REACHED[1])));
    }
}
