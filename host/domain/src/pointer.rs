//! JSON Pointers (RFC 6901): how a member's name is written as a step of one, and read back.

/// The pointer to a member of what `at` points to.
#[must_use]
pub fn child(at: &str, key: &str) -> String {
    format!("{at}/{}", escape(key))
}

/// A member's name as a step.
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The member's name that a step stands for.
#[must_use]
pub fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// The names that a pointer leads through, outermost first.
pub fn steps(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(unescape)
}

#[cfg(test)]
mod tests {
    use super::{child, steps, unescape};
    use serde_json::json;

    #[test]
    fn a_step_leads_to_its_member_and_is_read_back() {
        for name in ["plain", "", "a/b", "m~n", "~1", "~/", "~01", "é"] {
            let document = json!({ name: {"within": 1}, "other": 2 });
            let pointer = child(&child("", name), "within");
            assert_eq!(document.pointer(&pointer), Some(&json!(1)), "{name}");
            assert_eq!(steps(&pointer).collect::<Vec<_>>(), [name, "within"]);
        }
        assert_eq!(unescape("~01"), "~1");
        assert_eq!(steps("").count(), 0);
    }
}
