//! JSON Pointers (RFC 6901).

use std::fmt::{self, Display, Write as _};

/// The step to a member of an object: a slash and the member's name, escaped.
pub(crate) struct MemberStep<'n>(pub(crate) &'n str);

impl Display for MemberStep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('/')?;
        for letter in self.0.chars() {
            match letter {
                '~' => f.write_str("~0")?,
                '/' => f.write_str("~1")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::MemberStep;
    use serde_json::json;

    #[test]
    fn a_step_leads_to_its_member() {
        for name in ["plain", "", "a/b", "m~n", "~1", "~/", "é"] {
            let document = json!({name: 1, "other": 2});
            assert_eq!(document.pointer(&MemberStep(name).to_string()), Some(&json!(1)), "{name}");
        }
    }
}
