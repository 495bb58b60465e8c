//! What a call leaves in memory is not readable by the next, also where its pages went to the swap meanwhile.
//!
//! Swap is the whole machine's, and only root may add some: the test runs where `INTENT_GATEWAY_TEST_SWAP` is `required`. In a
//! process of its own, for it takes the memory of all that runs beside it.

mod support;

use std::path::PathBuf;
use std::process::Command;

use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_sandbox::{Engine, LoadedContract, SandboxConfig};
use support::{context, hostile, payloads};
use tempfile::TempDir;

/// How long a call stays after it has written, milliseconds: its pages go to the swap meanwhile.
const STAYS_MS: u64 = 300;
/// How often it is tried: a place serves the next call as a rule, and not always.
const ROUNDS: usize = 5;

/// Swap of the machine, as long as it lives.
struct Swap {
    file: PathBuf,
    _folder: TempDir,
}

impl Swap {
    fn begin() -> Option<Self> {
        if std::env::var("INTENT_GATEWAY_TEST_SWAP").ok()? != "required" {
            return None;
        }
        // Beside what is built: a file system in memory takes no swap.
        let folder = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target")).expect("a folder");
        let file = folder.path().join("swap");
        let path = file.to_str().expect("a path in UTF-8");
        run("fallocate", &["--length", "128MiB", path]);
        run("chmod", &["600", path]);
        run("mkswap", &[path]);
        run("swapon", &[path]);
        Some(Self { file, _folder: folder })
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        run("swapoff", &[self.file.to_str().expect("a path in UTF-8")]);
    }
}

fn run(program: &str, arguments: &[&str]) {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let output = Command::new(program).env("PATH", path).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Sends the memory that this process has for itself to the swap, as far as it is not in use this very moment.
#[expect(unsafe_code, reason = "only unsafe code advises the kernel on memory")]
fn page_out() {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("a process knows its memory");
    for line in maps.lines().filter(|line| line.contains(" rw-p ") && line.split_whitespace().count() == 5) {
        let (from, to) = line.split_whitespace().next().and_then(|range| range.split_once('-')).expect("a range");
        let [from, to] = [from, to].map(|address| usize::from_str_radix(address, 16).expect("an address"));
        // SAFETY: paging out changes nothing that the program could read. A range that is gone meanwhile is refused.
        let _ = unsafe {
            rustix::mm::madvise(
                std::ptr::with_exposed_provenance_mut(from),
                to - from,
                rustix::mm::Advice::LinuxPageOut,
            )
        };
    }
}

/// Bytes of this process that lie in the swap.
fn swapped_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a process knows its state");
    let line = status.lines().find_map(|line| line.strip_prefix("VmSwap:")).expect("a kernel with swap");
    line.split_whitespace().next().and_then(|kib| kib.parse().ok()).expect("a number")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_in_the_swap_reach_no_other_call() {
    let Some(_swap) = Swap::begin() else { return };
    let config = SandboxConfig { max_concurrent_instances: 1, deadline_ms: STAYS_MS, ..SandboxConfig::default() };
    let engine = Engine::new(&config).expect("the engine starts");
    let contract = LoadedContract::compile(&engine, &hostile("1.0.0", "honest")).await.expect("it loads");
    let mut most_swapped_kib = 0;
    for round in 0..ROUNDS {
        let leaving = {
            let contract = contract.clone();
            tokio::spawn(async move { contract.evaluate(&context(), "leave secrets", &payloads(), &[]).await })
        };
        while !leaving.is_finished() {
            page_out();
            most_swapped_kib = most_swapped_kib.max(swapped_kib());
            tokio::task::yield_now().await;
        }
        let left = leaving.await.expect("no panic");
        assert!(
            matches!(left, Err(ContractError::Fault(ContractFault::DeadlineExceeded(_)))),
            "it is stopped: {left:?}"
        );
        let looked = contract.evaluate(&context(), "look for secrets", &payloads(), &[]).await.expect("it looks");
        assert_eq!(looked.ranked[0].card.get(), r#"{"told":"0"}"#, "round {round}");
    }
    assert!(most_swapped_kib > 4 * 1024, "nothing was swapped out: {most_swapped_kib} KiB at most");
}
