//! Components of a few kilobytes that are costly to compile: as uploads, which used to hold up those of others and the end of
//! the process, and in the watched folder, where they kept a gateway from listening.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Answer, Gateway, GatewayOptions, ac_contract, eventually, request, safety_first_contract};

/// Well below what a bomb would take, and well above what must not wait for one.
const PROMPT: Duration = Duration::from_secs(20);
/// By how much a gateway may grow that refuses bombs, bytes.
const GROWTH_MAX_BYTES: u64 = 128 << 20;

fn component(module: &str) -> Vec<u8> {
    wat::parse_str(format!("(component (core module {module}))")).expect("the text is a component")
}

/// Functions with so many local variables, all of which are carried through so many nested loops.
fn carrying(functions: usize, locals: usize, loops: usize) -> Vec<u8> {
    let mut body = String::from("(func (local");
    body.push_str(&" i32".repeat(locals));
    body.push_str(") ");
    body.push_str(&"loop ".repeat(loops));
    for local in 0..locals {
        write!(body, "(local.set {local} (i32.add (local.get {local}) (i32.const 1))) ").expect("a string takes it");
    }
    body.push_str(&"(br_if 0 (local.get 0)) end ".repeat(loops));
    body.push(')');
    component(&body.repeat(functions))
}

/// Within every bound that is known beforehand, and minutes of work.
fn slow() -> Vec<u8> {
    carrying(40, 3_000, 60)
}

fn gateway() -> Gateway {
    Gateway::start(&GatewayOptions { contracts: vec![ac_contract()], ..GatewayOptions::default() })
}

fn refusal(answer: &Answer) -> (u16, &str, &str) {
    let error = &answer.body["error"];
    (answer.status, error["code"].as_str().unwrap_or_default(), error["message"].as_str().unwrap_or_default())
}

/// The processes that the gateway has started and that have not ended.
fn compiling(gateway: &Gateway) -> Vec<u32> {
    let parent = gateway.server.id().to_string();
    let processes = std::fs::read_dir("/proc").expect("Linux tells").filter_map(Result::ok);
    let is_child = |id: &u32| {
        // It may have ended since. Behind the name, which stands in brackets, come the state and the parent.
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        fields.next().is_some_and(|state| state != "Z") && fields.next() == Some(parent.as_str())
    };
    processes.filter_map(|process| process.file_name().to_str()?.parse().ok()).filter(is_child).collect()
}

async fn until_compiling(gateway: &Gateway) -> u32 {
    eventually("nothing is compiled", gateway, async || compiling(gateway).first().copied()).await
}

async fn until_idle(gateway: &Gateway) {
    eventually("it is compiled all the same", gateway, async || compiling(gateway).is_empty().then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_be_counted_is_refused_before_it_is_compiled() {
    let gateway = gateway();
    let before = gateway.server.resident_bytes();
    let memories = wat::parse_str(format!("(component {})", "(core module (memory 256))".repeat(40)));
    let memories = memories.expect("the text is a component");
    for (what, bytes, code, told) in [
        ("locals in loops", carrying(1, 1_000, 400), "COMPILE_TOO_COSTLY", "65 loops in each other"),
        ("functions", component(&"(func)".repeat(100_001)), "COMPILE_TOO_COSTLY", "100001 functions"),
        ("memories", memories, "COMPILE_FAILED", "bytes of memory"),
    ] {
        let start = Instant::now();
        let answer = gateway.upload(&bytes).await;
        let (status, refused, message) = refusal(&answer);
        assert_eq!((status, refused), (422, code), "{what}: {message}");
        assert!(message.contains(told), "{what}: {message}");
        assert!(start.elapsed() < PROMPT, "{what}: {:?} for {} bytes", start.elapsed(), bytes.len());
    }
    let after = gateway.server.resident_bytes();
    assert!(after < before + GROWTH_MAX_BYTES, "{before} to {after} bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn time_and_memory_of_the_rest_are_bounded_outside_the_gateway() {
    // One function of almost two megabytes: nothing of it is beyond a bound, and its translation is a hundred times as large.
    let add = "(local.set 0 (i32.add (local.get 0) (i32.const 1)))";
    let long = component(&format!("(func (local i32) {})", add.repeat(290_000)));
    for (bytes, setting, told) in [
        (slow(), "compile_timeout_ms = 2000", "`sandbox.compile_timeout_ms`, 2000 ms"),
        (long, "compile_memory_max_bytes = 268435456", "`sandbox.compile_memory_max_bytes`, 268435456 bytes"),
    ] {
        let extra = format!("[sandbox]\n{setting}\n");
        let gateway = Gateway::start(&GatewayOptions { extra, ..GatewayOptions::default() });
        let before = gateway.server.resident_bytes();
        let answer = gateway.upload(&bytes).await;
        let (status, code, message) = refusal(&answer);
        assert_eq!((status, code), (422, "COMPILE_TOO_COSTLY"), "{message}");
        assert!(message.contains(told), "{message}");
        assert!(compiling(&gateway).is_empty(), "{told}");
        let failures = gateway.admin_get("/contracts/failures").await;
        assert_eq!(failures["failures"][0]["code"], "COMPILE_TOO_COSTLY");
        let after = gateway.server.resident_bytes();
        assert!(after < before + GROWTH_MAX_BYTES, "{before} to {after} bytes");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bomb_of_one_admin_does_not_hold_up_another_and_goes_with_its_caller() {
    let gateway = gateway();
    let (mallory, honest) =
        (gateway.token(&["--role", "admin", "--subject", "mallory"]), gateway.token(&["--role", "admin"]));
    let bomb = slow();
    let mut bombs =
        Box::pin(futures_util::future::join(gateway.upload_as(&bomb, &mallory), gateway.upload_as(&bomb, &mallory)));
    let process = tokio::select! {
        answers = &mut bombs => panic!("the bombs were answered: {answers:?}"),
        process = until_compiling(&gateway) => process,
    };
    // What compiles knows nothing of the gateway, and is held down: first of all it sees to that itself.
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{process}/{name}")).expect("it compiles");
    eventually("it has no limits", &gateway, async || {
        let limits = read("limits");
        let holds = |name: &str, limit: &str| limits.lines().any(|line| line.starts_with(name) && line.contains(limit));
        (holds("Max address space", " 1073741824 ") && holds("Max cpu time", " 60 ")).then_some(())
    })
    .await;
    assert_eq!(read("environ"), "");

    let start = Instant::now();
    let contract = std::fs::read(safety_first_contract()).expect("readable");
    let answer = tokio::select! {
        answers = &mut bombs => panic!("the bombs were answered: {answers:?}"),
        answer = gateway.upload_as(&contract, &honest) => answer,
    };
    assert_eq!((answer.status, &answer.body["live"]), (201, &Value::Bool(true)), "{}", answer.body);
    assert!(start.elapsed() < PROMPT, "{:?}", start.elapsed());
    assert!(!compiling(&gateway).is_empty(), "the bomb is still compiled");
    drop(bombs);
    until_idle(&gateway).await;
    let failures = gateway.admin_get("/contracts/failures").await;
    assert_eq!(failures["failures"].as_array().map(Vec::len), Some(0), "nobody has been told anything: {failures}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_waits_for_no_compilation() {
    let gateway = gateway();
    let bomb = slow();
    let start = {
        let upload = gateway.upload(&bomb);
        tokio::pin!(upload);
        tokio::select! {
            answer = &mut upload => panic!("the bomb was answered: {answer:?}"),
            _ = until_compiling(&gateway) => {}
        }
        let start = Instant::now();
        gateway.server.terminate();
        let answer = upload.await;
        assert_eq!((answer.status, refusal(&answer).1), (503, "DRAINING"), "{}", answer.body);
        start
    };
    assert!(gateway.server.wait(), "a clean stop");
    assert!(start.elapsed() < PROMPT, "{:?}", start.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bomb_in_the_watched_folder_keeps_no_gateway_from_listening_nor_from_ending() {
    let options = GatewayOptions { contracts: vec![ac_contract()], ..GatewayOptions::default() };
    let folder = Gateway::start(&options).stop();
    std::fs::write(folder.path().join("contracts/bomb.wasm"), slow()).expect("writable");
    let start = Instant::now();
    let gateway = Gateway::listen_in(folder);
    assert!(start.elapsed() < PROMPT, "{:?}", start.elapsed());
    until_compiling(&gateway).await;
    // What the catalogue has serves meanwhile.
    assert_eq!(gateway.found(&request()).await["contract"]["version"], "1.0.0");
    assert!(!gateway.log().contains("was looked through"), "{}", gateway.log());
    let start = Instant::now();
    assert!(gateway.server.stop(), "a clean stop");
    assert!(start.elapsed() < PROMPT, "{:?}", start.elapsed());
}
