//! A version of the contract, as requests name it (spec 3, "Input").
//!
//! A shape and no rule: rules run on sound shapes only, so a rule could not tell a bad version beside other breaches.

use contract_sdk::json::Parser;
use contract_sdk::shape::{At, Described, Text, ValueDesc};
use contract_sdk::{Quoted, Shape, Violations, code};

/// Three numbers joined by dots, with or without the v that the specs write before them. The SDK's own text of a version
/// takes no v, and it has no format for one that does: so the schema shows a text that is not empty.
#[derive(Debug)]
pub struct VersionText<'a>(pub Text<'a>);

impl Described for VersionText<'_> {
    const DESC: ValueDesc = <Text<'static> as Described>::DESC;
}

impl<'a> Shape<'a> for VersionText<'a> {
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        let text = Text::read(from, at, out)?;
        if is_version(&text) {
            return Some(Self(text));
        }
        out.push(
            at,
            code::BAD_FORMAT,
            format_args!("Found {}; expected a semantic version, for example 1.0.0 or v1.0.0.", Quoted(&text)),
        );
        None
    }
}

fn is_version(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = text.strip_prefix('v').unwrap_or(text).split('.');
    parts.by_ref().take(3).filter(|part| is_number(part)).count() == 3 && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::{VersionText, is_version};
    use contract_sdk::shape::read_document;

    #[test]
    fn versions_are_three_numbers() {
        for sound in ["1.0.0", "v1.0.0", "10.20.30"] {
            assert!(is_version(sound), "{sound}");
        }
        for broken in ["", "v", "1.0", "1.0.0.0", "1..0", "1.0.x", "vv1.0.0", "latest", "1.0.0 ", "1.0.-1"] {
            assert!(!is_version(broken), "{broken}");
        }
    }

    #[test]
    fn what_is_no_version_is_told() {
        let told = |json: &str| read_document::<VersionText<'_>>(json).map(drop).unwrap_err().remove(0).message;
        let expected = r#"Found "1.0"; expected a semantic version, for example 1.0.0 or v1.0.0."#;
        assert_eq!(told(r#""1.0""#), expected);
        assert_eq!(told(r#"" ""#), "Found an empty text; expected: non-empty string.");
    }
}
