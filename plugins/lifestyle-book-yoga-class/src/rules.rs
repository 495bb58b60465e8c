//! Rules between the members of a request (spec 3, "Input"). Those on options are in `judge`.

use crate::request::YogaClassRequest;
use contract_sdk::{Quoted, RequestRules, code};

pub(crate) fn request_rules(request: &YogaClassRequest<'_>, rules: &mut RequestRules) {
    let version = &*request.intent_version;
    rules.refuse_if(
        !is_version(version),
        code::BAD_FORMAT,
        "/intent_version",
        format_args!("Found {}; expected a semantic version, for example 1.0.0 or v1.0.0.", Quoted(version)),
    );
}

/// Whether a text is three numbers joined by dots, with or without the v that the specs write before them.
fn is_version(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = text.strip_prefix('v').unwrap_or(text).split('.');
    parts.by_ref().take(3).filter(|part| is_number(part)).count() == 3 && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::is_version;

    #[test]
    fn versions_are_three_numbers() {
        for sound in ["1.0.0", "v1.0.0", "10.20.30"] {
            assert!(is_version(sound), "{sound}");
        }
        for broken in ["", "v", "1.0", "1.0.0.0", "1..0", "1.0.x", "vv1.0.0", "latest", "1.0.0 ", "1.0.-1"] {
            assert!(!is_version(broken), "{broken}");
        }
    }
}
