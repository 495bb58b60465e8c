//! Fuzz targets: one for each kind of input that comes from outside. Each calls what the product itself calls and asserts
//! what must hold whatever the input is (docs/fuzzing.md).
//!
//! A target is a function of bytes, so that whatever drives it can: libFuzzer, guided by coverage (`main.rs`), and a test
//! that tries the corpus and edits of it (`tests/replay.rs`). It panics where something does not hold.

mod json;
mod targets;

use targets::component::failure;

/// The variable that names the target to the engine.
pub const VARIABLE: &str = "INTENT_GATEWAY_FUZZ_TARGET";

/// One kind of input.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Names the folder of its corpus, too.
    pub name: &'static str,
    /// Tries one input.
    ///
    /// # Panics
    /// Where something does not hold.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 12] = [
    Target { name: "answer_scan", run: targets::answer_scan::run },
    Target { name: "search_payload", run: targets::search_payload::run },
    Target { name: "reference", run: targets::reference::run },
    Target { name: "manifest", run: targets::manifest::run },
    Target { name: "yaml", run: targets::yaml::run },
    Target { name: "report_signature", run: targets::report_signature::run },
    Target { name: "completion_report", run: targets::completion_report::run },
    Target { name: "oauth_answer", run: targets::oauth_answer::run },
    Target { name: "event_stream", run: targets::event_stream::run },
    Target { name: "component", run: targets::component::run },
    Target { name: "signed_component", run: targets::signed_component::run },
    Target { name: "oci_manifest", run: targets::oci_manifest::run },
];

/// The target of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Target> {
    static LISTED: [Target; TARGETS.len()] = TARGETS;
    LISTED.iter().find(|target| target.name == name)
}
