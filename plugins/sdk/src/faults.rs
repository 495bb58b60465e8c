//! A panic as the host hears of it: its text and its place, said before the trap that it ends in.

use std::panic;

use crate::bindings::intent_gateway::contract::faults::report;

/// Bytes of a panic's text that are told; the host keeps no more.
const MESSAGE_MAX_BYTES: usize = 8 * 1024;

/// Has every panic from here on told to the host.
pub(crate) fn tell_of_panics() {
    panic::set_hook(Box::new(|panic| {
        let text = panic.payload_as_str().unwrap_or("a panic without a text");
        let place = panic.location().map(ToString::to_string);
        report(&text[..text.floor_char_boundary(MESSAGE_MAX_BYTES)], place.as_deref());
    }));
}
