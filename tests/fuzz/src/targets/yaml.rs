//! Manifests in YAML, as the command line reads them.
//!
//! Written as JSON and read again, what was read is the same. Each value stands on a line that there is; so does an error.
//!
//! Input: the text.

use intent_gateway_domain::limits::PAYLOAD_MAX_DEPTH;
use serde_json::Value;

// The file itself: its crate, the command line, brings everything that there is, down to the compiler of contracts.
#[path = "../../../../host/cli/src/manifest/yaml.rs"]
mod reader;

/// Reads one text.
///
/// # Panics
/// Where what was read is not what it says.
pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // What stands behind the last end of a line is a line, too; and an end may be a carriage return.
    let last_line = text.split(['\n', '\r']).count() + 1;
    let (value, lines) = match reader::parse(text) {
        Ok(read) => read,
        Err(error) => {
            assert!(error.line <= last_line && !error.problem.is_empty(), "{error}");
            return;
        }
    };
    check_lines(
        &value,
        String::new(),
        &|pointer| {
            let line = lines.of(pointer);
            assert!(line <= last_line, "{pointer} stands on line {line} of {last_line}");
        },
        0,
    );
    let written = serde_json::to_string(&value).expect("a value of JSON");
    match reader::parse(&written) {
        Ok((again, _)) => assert_eq!(again, value, "{written}"),
        Err(error) => panic!("{written} is not read: {error}"),
    }
}

fn check_lines(value: &Value, pointer: String, check: &impl Fn(&str), depth: usize) {
    check(&pointer);
    let is_nested = value.is_array() || value.is_object();
    assert!(!is_nested || depth < PAYLOAD_MAX_DEPTH, "deeper than the bound");
    let child = |name: &str| format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                check_lines(item, child(&index.to_string()), check, depth + 1);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                check_lines(member, child(name), check, depth + 1);
            }
        }
        _ => {}
    }
}
