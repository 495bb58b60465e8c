//! A machine whose clock is set an hour ahead: the gateway, its metrics and the doctor say so, and again once it is right.

use std::process::Command;

use serde_json::Value;
use test_servers::clock::{OwnClock, find_library, is_demanded};
use test_servers::postgres::Postgres;

use crate::completion::NO_SMTP;
use crate::fleet::metrics;
use crate::harness::{Gateway, GatewayOptions, built, eventually, serve_in};
use crate::onboarding::settings;

const AHEAD_S: i64 = 3_600;

/// Whether the gateway itself says that its clock was set.
async fn warns(gateway: &Gateway) -> bool {
    let health = gateway.call("GET", "/health", None, None).await.body;
    health["warnings"].as_array().is_some_and(|warnings| warnings.iter().any(|code| code == "CLOCK_WAS_SET"))
}

/// The value of a metric whose name and labels begin a line.
async fn metric(gateway: &Gateway, series: &str) -> Option<f64> {
    let all = metrics(gateway).await;
    all.lines().find_map(|line| line.strip_prefix(series)?.trim().parse().ok())
}

/// What the doctor finds of the clock, with its exit code.
fn examine(gateway: &Gateway, clock: &OwnClock) -> (Value, Option<i32>) {
    let mut doctor = Command::new(built("debug/intent-gateway"));
    doctor.args(["doctor", "--offline", "--json", "--gateway", &gateway.server.url, "--config"]);
    clock.give_to(doctor.arg(gateway.folder.path().join("gateway.toml")));
    let output = doctor.output().expect("it runs");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let findings = answer["findings"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let of_clock = findings.iter().find(|finding| finding["area"] == "clock").expect("it looks at the clock");
    (of_clock.clone(), output.status.code())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_set_is_told_by_gateway_metrics_and_doctor() {
    let (library, server) = (find_library(), Postgres::shared().expect("it starts, where it is demanded"));
    assert!(library.is_some() || !is_demanded(), "libfaketime is not installed (Debian: apt-get install libfaketime)");
    let (Some(library), Some(server)) = (library, server) else {
        eprintln!("libfaketime or PostgreSQL is not installed: a clock that is set was not tested");
        return;
    };
    let store = server.database().expect("a database");
    let extra = settings(Some(&store), NO_SMTP);
    let folder = Gateway::folder_for(&GatewayOptions { extra, ..GatewayOptions::default() });
    let clock = OwnClock::make(library, folder.path()).expect("written");
    let mut command = serve_in(folder.path());
    clock.give_to(&mut command);
    let gateway = Gateway::start_by(&mut command, folder);
    assert!(!warns(&gateway).await);
    let (found, _) = examine(&gateway, &clock);
    assert_eq!((&found["state"], &found["code"]), (&"ok".into(), &Value::Null), "{found}");

    clock.set(AHEAD_S).expect("set");
    eventually("it does not warn of its clock", &gateway, async || warns(&gateway).await.then_some(())).await;
    // The database's clock is that of the machine: behind the gateway's.
    let of_store = "intent_gateway_clock_offset_seconds{clock=\"store\"}";
    eventually("its metrics do not tell the difference", &gateway, async || {
        metric(&gateway, of_store).await.filter(|seconds| (seconds + AHEAD_S as f64).abs() < 30.0)
    })
    .await;
    let jumps = metric(&gateway, "intent_gateway_clock_jumps_total").await;
    assert!(jumps.is_some_and(|jumps| jumps >= 1.0), "{jumps:?}");
    let (found, code) = examine(&gateway, &clock);
    assert_eq!((&found["code"], code), (&"CLOCK_DIFFERS".into(), Some(1)), "{found}");

    clock.set(0).expect("set");
    eventually("it still warns of its clock", &gateway, async || (!warns(&gateway).await).then_some(())).await;
    eventually("its metrics still tell a difference", &gateway, async || {
        metric(&gateway, of_store).await.filter(|seconds| seconds.abs() < 30.0)
    })
    .await;
    let (found, _) = examine(&gateway, &clock);
    assert_eq!(found["state"], "ok", "{found}");
}
