//! `cargo xtask demo`: the product doing its job on real input, from nothing, in one command.

pub(crate) mod order;
mod shown;

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use jiff::{ToSpan as _, Zoned};
use serde_json::{Value, json};

use crate::command::{root, step};
use crate::gateway::{self, Gateway, SWAP_MAX};
use crate::guests;
use crate::progress::{run_logged, show_time};
use shown::{array, text, text_list};

/// How many searches run at once while the contract is swapped.
const SEARCHERS: usize = 4;
const UTTERANCE: &str = "my car's AC blows warm air";
/// Contracts that are shipped later, with their packages.
const MORE_INTENTS: [(&str, &str); 2] = [
    ("finance.buy_motor_insurance", "finance-buy-motor-insurance"),
    ("lifestyle.book_yoga_class", "lifestyle-book-yoga-class"),
];
/// Options that are shown of each of them.
const SHOWN_OF_MORE: usize = 3;
const TWO_WISHES: &str = "I bought a scooter and need insurance for it, and book me a yoga class tomorrow morning";

/// How long each part took, in the order in which they ran.
#[derive(Default)]
struct Timings(Vec<(&'static str, Duration)>);

impl Timings {
    /// Does a part and keeps its time.
    fn measure<T>(&mut self, what: &'static str, part: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
        let begun = Instant::now();
        let outcome = part()?;
        self.0.push((what, begun.elapsed()));
        Ok(outcome)
    }
}

/// Runs the demo; with `keep`, leaves everything running until Ctrl-C.
pub(crate) fn run(keep: bool) -> anyhow::Result<()> {
    build()?;
    let mut timings = Timings::default();
    let folder = root().join("target/demo");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).context("cannot clear the folder of an earlier demo")?;
    }
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("request.json"), serde_json::to_vec_pretty(&request())?)?;
    let partners = gateway::start_partners(&folder)?;
    let gateway = Gateway::start("debug", &folder, &partners, &[])?;

    step("Shipping the contract of auto.book_ac_service 1.0.0");
    timings.measure("a contract from file to live", || {
        gateway.ship(&guests::component_path(guests::CONTRACTS, "auto-book-ac-service"))?;
        wait_for_version(&gateway, gateway::AC_SERVICE, "1.0.0")
    })?;

    step(&format!("Classifying \"{UTTERANCE}\""));
    let (_, classified) =
        timings.measure("classification", || gateway.post("/api/v1/classify", &json!({"utterance": UTTERANCE})))?;
    println!("   {} ({})", classified["intent"].as_str().unwrap_or("no intent"), text(&classified, "decision"));

    step("Searching");
    let before = timings.measure("search, first", || search(&gateway))?;
    shown::show_partners(&before);
    shown::show_options(&before);
    shown::show_dropped(&before);

    step("Booking the best option, and the report when the work is done");
    order::run(&gateway, &before, &folder, &mut timings)?;

    step("What version 1.0.1, which puts safety first, would have made of the searches so far");
    compare(&gateway)?;

    step("Shipping version 1.0.1 with searches in flight");
    let after = swap_under_load(&gateway)?;
    shown::show_options(&after);
    shown::show_movement(&before, &after);

    more_intents(&gateway)?;
    timings.measure("search, warm", || search(&gateway))?;
    step("How long the parts took, each as the caller saw it, in a build without optimisation");
    shown::show_timings(&timings.0);

    if keep {
        show_hints(&gateway, &folder);
        wait_for_interrupt(&gateway);
    } else {
        gateway.server.stop()?;
    }
    println!("\nThe demo went through. Logs and state: target/demo");
    Ok(())
}

/// Builds contracts, gateway and partners, with what the compilers say in a file.
fn build() -> anyhow::Result<()> {
    step("Building; what the compilers say goes to target/demo-build.log");
    let log = root().join("target/demo-build.log");
    std::fs::create_dir_all(root().join("target"))?;
    if log.exists() {
        std::fs::remove_file(&log).context("cannot clear the log of an earlier build")?;
    }
    // Most of it is waiting for the network, which costs the compilers nothing.
    let installing = std::thread::spawn(gateway::install_partners);
    let mut contracts = Command::new(std::env::current_exe()?);
    let first = run_logged(contracts.current_dir(root()).arg("guests"), "the contracts", &log)?;
    let second = run_logged(&mut gateway::build_command("debug"), "the gateway and the partners", &log)?;
    eprintln!("   {} in all; the next time it is faster", show_time(first + second));
    installing.join().map_err(|_| anyhow::anyhow!("the installing of the example partners panicked"))?
}

/// A car AC request: a Bengaluru hatchback that blows warm air, any time tomorrow.
pub(crate) fn request() -> Value {
    let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(5).saturating_add(30.minutes()));
    let tomorrow = Zoned::now().with_time_zone(zone).start_of_day().and_then(|day| day.checked_add(1.day()));
    let tomorrow = tomorrow.expect("tomorrow exists");
    let at = |hour: i64| (&tomorrow + hour.hours()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
    json!({
        "intent": "auto.book_ac_service",
        "user_locale": "en-IN",
        "user_currency": "INR",
        "user_location": {"lat": 12.9716, "lng": 77.5946, "max_radius_km": 25, "city": "Bengaluru"},
        "vehicle": {
            "type": "car", "make": "Maruti Suzuki", "model": "Baleno", "variant": "Zeta",
            "fuel_type": "petrol", "year_of_manufacture": 2019, "registration_number_last4": "4821",
            "current_odometer_km": 41_200, "ac_system_type": "automatic"
        },
        "ac_issue": {"category": "not_cooling", "user_description": UTTERANCE, "last_serviced_months_ago": 14},
        "service_preferences": {
            "doorstep_acceptable": true,
            "preferred_window": {"start": at(9), "end": at(18)},
            "loaner_vehicle_required": false,
            "authorised_only": false
        },
        "ttbs_user_band": {"time": "balanced", "taste": "balanced", "budget": "good", "safety": "balanced"}
    })
}

fn search(gateway: &Gateway) -> anyhow::Result<Value> {
    let (status, answer) = gateway.post("/api/v1/intents/auto.book_ac_service/search", &request())?;
    if status != 200 {
        bail!("the search answered {status}: {answer}");
    }
    Ok(answer)
}

fn version(answer: &Value) -> String {
    answer["contract"]["version"].as_str().unwrap_or("?").to_owned()
}

fn wait_for_version(gateway: &Gateway, intent: &str, wanted: &str) -> anyhow::Result<()> {
    let is_it = |one: &Value| one["live"] == true && one["intent"] == intent && one["version"] == wanted;
    gateway.wait_for(&format!("{intent} {wanted}"), |loaded| loaded.iter().any(is_it))
}

/// Ships two more intents to the gateway that serves, and lets one utterance ask for both.
fn more_intents(gateway: &Gateway) -> anyhow::Result<()> {
    step("Shipping two more intents while it serves: motor insurance and yoga classes");
    for (intent, package) in MORE_INTENTS {
        gateway.ship(&guests::component_path(guests::CONTRACTS, package))?;
        wait_for_version(gateway, intent, "1.0.0")?;
    }
    let (_, classified) = gateway.post("/api/v1/classify", &json!({"utterance": TWO_WISHES}))?;
    println!("   \"{TWO_WISHES}\": {}, also {}", text(&classified, "intent"), text_list(&classified["also"]));
    for (intent, package) in MORE_INTENTS {
        let sample = root().join("plugins").join(package).join("samples/request.json");
        let request: Value = serde_json::from_slice(&std::fs::read(&sample)?)?;
        let (status, answer) = gateway.post(&format!("/api/v1/intents/{intent}/search"), &request)?;
        if status != 200 || array(&answer, "options").is_empty() {
            bail!("the search of {intent} answered {status}: {answer}");
        }
        println!("\n   {intent}: {} options, the best:", array(&answer, "options").len());
        shown::show_best(&answer, SHOWN_OF_MORE);
    }
    Ok(())
}

/// Ships the next version while searches run; returns the first whole answer of the new version.
fn swap_under_load(gateway: &Gateway) -> anyhow::Result<Value> {
    let (stop, searches, switched) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let failures: Mutex<Vec<String>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..SEARCHERS {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    match search(gateway) {
                        Ok(answer) => {
                            if version(&answer) == "1.0.1" {
                                switched.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                        Err(error) => failures.lock().expect("no searcher panics").push(format!("{error:#}")),
                    }
                    searches.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let shipped = guests::component_path(guests::EXAMPLES, "contract-safety-first");
        let outcome = gateway.ship(&shipped).and_then(|()| wait_for_version(gateway, gateway::AC_SERVICE, "1.0.1"));
        // Until every searcher has met the new version, the old one is still being asked.
        let deadline = Instant::now() + SWAP_MAX;
        while outcome.is_ok() && switched.load(Ordering::Relaxed) < SEARCHERS * 2 && Instant::now() < deadline {
            std::thread::park_timeout(Duration::from_millis(10));
        }
        stop.store(true, Ordering::Relaxed);
        outcome
    })?;
    let failures = failures.into_inner().expect("no searcher panics");
    println!(
        "   {} searches, {} of them by 1.0.1, {} failed",
        searches.load(Ordering::Relaxed),
        switched.load(Ordering::Relaxed),
        failures.len()
    );
    if let Some(failure) = failures.first() {
        bail!("a search failed during the swap: {failure}");
    }
    search(gateway)
}

/// Compares the next version with what was ranked so far; nobody is served by it.
fn compare(gateway: &Gateway) -> anyhow::Result<()> {
    let next = guests::component_path(guests::EXAMPLES, "contract-safety-first");
    let mut compare = Command::new(gateway::binary("debug", "intent-gateway"));
    compare.args(["contract", "compare"]).arg(next).args(["--gateway", &gateway.server.url]);
    crate::command::run(compare.env("INTENT_GATEWAY_TOKEN", gateway.admin_token()))?;
    // The same as its author sees it, who has receipts in which nobody can be told.
    let receipts = gateway.config.with_file_name("receipts.jsonl");
    let mut export = Command::new(gateway::binary("debug", "intent-gateway"));
    export.args(["receipt", "export", "auto.book_ac_service", "--out"]).arg(&receipts);
    export.args(["--gateway", &gateway.server.url]).env("INTENT_GATEWAY_TOKEN", gateway.admin_token());
    crate::command::run(&mut export)?;
    let mut compare = Command::new(gateway::binary("debug", "intent-gateway"));
    compare.args(["plugin", "compare"]).arg(guests::component_path(guests::EXAMPLES, "contract-safety-first"));
    crate::command::run(compare.arg("--receipts").arg(&receipts))
}

fn show_hints(gateway: &Gateway, folder: &Path) {
    let url = &gateway.server.url;
    let config = gateway.config.display();
    println!(
        "\nRunning at {url} until Ctrl-C. Try:\n\n  \
         export TOKEN=$(target/debug/intent-gateway token --role admin --config {config})\n  \
         curl -s -H \"authorization: Bearer $TOKEN\" {url}/api/v1/intents | head -c 600\n  \
         curl -s -H \"authorization: Bearer $TOKEN\" {url}/api/v1/admin/contracts\n  \
         curl -s -H \"authorization: Bearer $TOKEN\" {url}/api/v1/admin/partners/too-good/findings\n  \
         curl -s -H \"authorization: Bearer $TOKEN\" -H 'content-type: application/json' -d @{} \\\n    \
         {url}/api/v1/intents/auto.book_ac_service/search",
        folder.join("request.json").display()
    );
}

/// The gateway gets the same Ctrl-C from the terminal; its end is this command's end.
fn wait_for_interrupt(gateway: &Gateway) {
    while gateway.get("/api/v1/admin/contracts").is_ok() {
        std::thread::park_timeout(Duration::from_secs(1));
    }
}
