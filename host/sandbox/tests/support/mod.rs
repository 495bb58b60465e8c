//! What the sandbox's tests share: the hostile guest in all its versions, and options to rank.

#![allow(dead_code, reason = "each test binary uses its own part")]

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Axes, CallContext, Candidate, Payload};

/// Marker before the settings in the guest's data.
const MARKER: &[u8] = b"@@hostile-guest@@";
/// Length of the settings, marker included.
const SETTINGS_BYTES: usize = 64;

/// The hostile guest as it was built.
fn built() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/hostile-guests/hostile-guest.wasm");
    std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}; run `cargo xtask guests` first"))
}

/// The hostile guest, declaring this version and built in this mode.
pub(crate) fn hostile(version: &str, mode: &str) -> Vec<u8> {
    let mut bytes = built();
    let start = bytes.windows(MARKER.len()).position(|window| window == MARKER).expect("the guest has its settings");
    let settings = format!("{version};{mode};");
    let room = &mut bytes[start + MARKER.len()..start + SETTINGS_BYTES];
    assert!(settings.len() <= room.len(), "the settings fit");
    room.fill(b' ');
    room[..settings.len()].copy_from_slice(settings.as_bytes());
    bytes
}

pub(crate) fn context() -> CallContext {
    CallContext { request_id: "request-1".to_owned(), now: Timestamp::from_ms(1_767_225_600_000) }
}

/// One payload of three options, numbered 4, 2 and 9.
pub(crate) fn payloads() -> Vec<Payload<'static>> {
    let candidate = |number, json| Candidate { number, json };
    vec![Payload {
        declared: Axes::UNDECLARED,
        candidates: vec![candidate(4, "a"), candidate(2, "b"), candidate(9, "c")],
    }]
}
