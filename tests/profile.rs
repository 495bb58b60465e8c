//! What a server does with its time while it is loaded: `perf` samples its stacks, for `cargo xtask profile`.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::cpu;

/// Samples in a second of CPU time of a thread: no divisor of anything that happens regularly.
const SAMPLES_PER_SECOND: &str = "1999";

/// `perf`, which samples a process.
pub struct Recording {
    perf: Child,
    process: u32,
    switches: cpu::Switches,
}

impl Recording {
    /// Begins to sample a process into a file.
    ///
    /// # Panics
    /// Where `perf` cannot be started.
    pub fn start(process: u32, file: &Path) -> Self {
        let mut command = Command::new("perf");
        command.args(["record", "--quiet", "--freq", SAMPLES_PER_SECOND, "--call-graph", "fp", "--pid"]);
        command.arg(process.to_string()).arg("--output").arg(file).stdin(Stdio::null());
        let perf = command.spawn().unwrap_or_else(|error| panic!("perf cannot be started: {error}"));
        Self { perf, process, switches: cpu::switches_of(process) }
    }

    /// Ends it, and prints as a line of JSON what the load showed: CPU time of the process for a call, the median time of a call,
    /// calls a second, and switches between threads for a call, warm-up included.
    ///
    /// # Panics
    /// Where `perf` has failed.
    #[expect(clippy::print_stdout, reason = "xtask reads it")]
    pub fn finish(mut self, run: &Loaded) {
        let switches = cpu::switches_of(self.process);
        let perf = Pid::from_child(&self.perf);
        kill_process(perf, Signal::INT).expect("perf still runs");
        let status = self.perf.wait().expect("it was started here");
        // It ends by the signal that it was told to end by.
        assert!(status.success() || status.code().is_none(), "perf failed: {status}");
        let us = |time: Duration| time.as_secs_f64() * 1e6;
        let per_call = |now: u64, before: u64| now.saturating_sub(before) as f64 / run.all_calls as f64;
        let told = json!({
            "cpu_us": us(run.cpu_per_call),
            "p50_us": us(run.p50),
            "per_second": run.per_second,
            "waits": per_call(switches.voluntary, self.switches.voluntary),
            "preempted": per_call(switches.involuntary, self.switches.involuntary),
        });
        println!("{told}");
    }
}

/// What a load showed.
pub struct Loaded {
    pub cpu_per_call: Duration,
    pub p50: Duration,
    pub per_second: f64,
    /// Calls from the beginning of the recording on, those of the warm-up among them.
    pub all_calls: u64,
}
