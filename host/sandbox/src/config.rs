//! The sandbox's settings: one struct, validated once at start.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

/// Size of a page of WebAssembly linear memory in bytes.
const WASM_PAGE_BYTES: usize = 64 * 1024;
/// Smallest and largest memory cap of an instance in bytes. The lower bound leaves room for a Rust guest's stack.
const MEMORY_CAP_BYTES: (usize, usize) = (2 * 1024 * 1024, 1024 * 1024 * 1024);
/// Most memory that all instances together may be given, bytes.
const INSTANCES_MEMORY_CAP_BYTES: usize = 1024 * 1024 * 1024 * 1024;
/// Smallest and largest output cap in bytes.
const OUTPUT_CAP_BYTES: (usize, usize) = (64 * 1024, 64 * 1024 * 1024);
/// Longest deadline or wait that may be set, milliseconds.
const WAIT_CAP_MS: u64 = 60_000;
/// Most instances that may run at a time: each reserves address space for its memories.
const INSTANCES_CAP: u32 = 2_048;
/// Most calls that may be set to wait for an instance.
const WAITING_CAP: u32 = 65_536;
/// Shortest and longest time that compiling a component may be given, milliseconds.
const COMPILE_TIMEOUT_MS: (u64, u64) = (1_000, 600_000);
/// Smallest and largest memory that compiling a component may be given, bytes. The lower bound leaves room for the program.
const COMPILE_MEMORY_BYTES: (usize, usize) = (256 * 1024 * 1024, 64 * 1024 * 1024 * 1024);
/// Longest time after which unused code may be set to give its memory back, minutes: a week.
const CODE_UNUSED_CAP_MINUTES: u64 = 10_080;
/// Most versions of an intent that may be kept.
const VERSIONS_CAP: usize = 100;

/// Limits on contracts and on what is kept of them. Every field has a default.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SandboxConfig {
    /// A call of a contract is stopped when it has run this long, milliseconds. Time in which the machine runs
    /// something else hardly counts.
    pub deadline_ms: u64,
    /// Linear memories and tables of one instance together, bytes; a whole number of 64 KiB pages.
    pub memory_max_bytes: usize,
    /// Memory of all instances of the process together, bytes; at least twice that of one.
    pub instances_memory_max_bytes: usize,
    /// What one call may return, bytes as the host stores it.
    pub output_max_bytes: usize,
    /// Instances that may run at a time, over all contracts.
    pub max_concurrent_instances: u32,
    /// Calls that may wait for an instance; one more is refused at once.
    pub max_waiting_calls: u32,
    /// A call waits this long for an instance, milliseconds, and is refused then.
    pub wait_max_ms: u64,
    /// Faults in a row after which a version is taken out for the last good one. After as many faults in all it is taken out as well
    /// once it is known to fail more often than once in 200 calls.
    pub faults_before_rollback: u32,
    /// Loaded versions kept for each intent, the live one and the one to go back to included.
    pub versions_kept_per_intent: usize,
    /// The code of a contract that was not called for this long gives its memory back, minutes; 0 for never. The next call fetches it
    /// from the state folder.
    pub code_unused_minutes: u64,
    /// Compiling a component is ended after this time, milliseconds.
    pub compile_timeout_ms: u64,
    /// Address space of a process that compiles a component, bytes. Two may run at a time.
    pub compile_memory_max_bytes: usize,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        Self {
            deadline_ms: 200,
            memory_max_bytes: 64 * 1024 * 1024,
            instances_memory_max_bytes: 1024 * 1024 * 1024,
            output_max_bytes: 4 * 1024 * 1024,
            max_concurrent_instances: 256,
            max_waiting_calls: 1_024,
            wait_max_ms: 1_000,
            faults_before_rollback: 5,
            versions_kept_per_intent: 8,
            code_unused_minutes: 10,
            compile_timeout_ms: 60_000,
            compile_memory_max_bytes: 1024 * 1024 * 1024,
        }
    }
}

/// A setting is out of its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("sandbox setting `{field}` is {value}; expected {expected}")]
pub struct InvalidConfig {
    /// Name of the field.
    pub field: &'static str,
    /// What was set.
    pub value: u64,
    /// What may be set.
    pub expected: String,
}

impl SandboxConfig {
    /// Checks every field against its range.
    ///
    /// # Errors
    /// The first field out of range.
    pub fn validate(&self) -> Result<(), InvalidConfig> {
        in_range("deadline_ms", self.deadline_ms, 1, WAIT_CAP_MS)?;
        in_range("wait_max_ms", self.wait_max_ms, 0, WAIT_CAP_MS)?;
        in_range("memory_max_bytes", wide(self.memory_max_bytes), wide(MEMORY_CAP_BYTES.0), wide(MEMORY_CAP_BYTES.1))?;
        if !self.memory_max_bytes.is_multiple_of(WASM_PAGE_BYTES) {
            return Err(InvalidConfig {
                field: "memory_max_bytes",
                value: wide(self.memory_max_bytes),
                expected: format!("a multiple of {WASM_PAGE_BYTES}"),
            });
        }
        in_range(
            "instances_memory_max_bytes",
            wide(self.instances_memory_max_bytes),
            wide(2 * self.memory_max_bytes),
            wide(INSTANCES_MEMORY_CAP_BYTES),
        )?;
        in_range("output_max_bytes", wide(self.output_max_bytes), wide(OUTPUT_CAP_BYTES.0), wide(OUTPUT_CAP_BYTES.1))?;
        in_range("max_concurrent_instances", self.max_concurrent_instances.into(), 1, INSTANCES_CAP.into())?;
        in_range("max_waiting_calls", self.max_waiting_calls.into(), 0, WAITING_CAP.into())?;
        in_range("faults_before_rollback", self.faults_before_rollback.into(), 1, u32::MAX.into())?;
        in_range("versions_kept_per_intent", wide(self.versions_kept_per_intent), 2, wide(VERSIONS_CAP))?;
        in_range("code_unused_minutes", self.code_unused_minutes, 0, CODE_UNUSED_CAP_MINUTES)?;
        in_range("compile_timeout_ms", self.compile_timeout_ms, COMPILE_TIMEOUT_MS.0, COMPILE_TIMEOUT_MS.1)?;
        let (least, most) = (wide(COMPILE_MEMORY_BYTES.0), wide(COMPILE_MEMORY_BYTES.1));
        in_range("compile_memory_max_bytes", wide(self.compile_memory_max_bytes), least, most)
    }

    /// After how long without a call the code of a contract gives its memory back.
    pub(crate) fn code_unused(&self) -> Option<Duration> {
        (self.code_unused_minutes > 0).then(|| Duration::from_secs(60 * self.code_unused_minutes))
    }

    /// The deadline of a serving call.
    #[must_use]
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms)
    }
}

fn wide(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

fn in_range(field: &'static str, value: u64, least: u64, most: u64) -> Result<(), InvalidConfig> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(InvalidConfig { field, value, expected: format!("{least} to {most}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_valid() {
        assert_eq!(SandboxConfig::default().validate(), Ok(()));
    }

    #[test]
    fn each_range_is_enforced() {
        let base = SandboxConfig::default;
        let broken = [
            ("deadline_ms", SandboxConfig { deadline_ms: 0, ..base() }),
            ("wait_max_ms", SandboxConfig { wait_max_ms: WAIT_CAP_MS + 1, ..base() }),
            ("memory_max_bytes", SandboxConfig { memory_max_bytes: 1, ..base() }),
            ("memory_max_bytes", SandboxConfig { memory_max_bytes: 64 * 1024 * 1024 + 1, ..base() }),
            (
                "instances_memory_max_bytes",
                SandboxConfig { instances_memory_max_bytes: 2 * base().memory_max_bytes - 1, ..base() },
            ),
            ("output_max_bytes", SandboxConfig { output_max_bytes: 0, ..base() }),
            ("max_concurrent_instances", SandboxConfig { max_concurrent_instances: 0, ..base() }),
            ("max_waiting_calls", SandboxConfig { max_waiting_calls: WAITING_CAP + 1, ..base() }),
            ("faults_before_rollback", SandboxConfig { faults_before_rollback: 0, ..base() }),
            ("versions_kept_per_intent", SandboxConfig { versions_kept_per_intent: 1, ..base() }),
            ("code_unused_minutes", SandboxConfig { code_unused_minutes: CODE_UNUSED_CAP_MINUTES + 1, ..base() }),
            ("compile_timeout_ms", SandboxConfig { compile_timeout_ms: 999, ..base() }),
            ("compile_memory_max_bytes", SandboxConfig { compile_memory_max_bytes: 1024, ..base() }),
        ];
        for (field, config) in broken {
            assert_eq!(config.validate().map_err(|error| error.field), Err(field));
        }
    }

    #[test]
    fn unknown_keys_are_refused() {
        assert!(serde_json::from_str::<SandboxConfig>(r#"{"deadline_ms": 50}"#).is_ok());
        assert!(serde_json::from_str::<SandboxConfig>(r#"{"deadline": 50}"#).is_err());
    }
}
