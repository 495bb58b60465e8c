//! The difference budget within a component: a custom section of its own.

use intent_gateway_domain::sections;

use crate::budget::{DifferenceBudget, InvalidBudget};

/// Name of the section.
pub const BUDGET_SECTION: &str = "intent-gateway:difference-budget";

/// The budget that a component declares; none where it declares none. What is no component declares none: whoever runs it says so.
///
/// # Errors
/// [`InvalidBudget`] where there is such a section, and it cannot be read.
pub fn read_budget(component: &[u8]) -> Result<Option<DifferenceBudget>, InvalidBudget> {
    sections::find(component, BUDGET_SECTION).map(DifferenceBudget::read).transpose()
}

/// A component with a budget in it, in the place of the one that it has.
///
/// # Errors
/// [`InvalidBudget`] where the text is none.
pub fn with_budget(component: &[u8], json: &[u8]) -> Result<Vec<u8>, InvalidBudget> {
    DifferenceBudget::read(json)?;
    let (without, _) = sections::take_out(component, BUDGET_SECTION);
    Ok(sections::append(&without, BUDGET_SECTION, json))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    #[test]
    fn a_budget_is_put_in_and_read_again_and_takes_the_place_of_the_one_before() {
        let plain = sections::append(EMPTY, "name", b"producers");
        assert_eq!(read_budget(&plain).expect("it is read"), None);
        let first = with_budget(&plain, br#"{"drops": ["A"]}"#).expect("a budget");
        assert!(first.starts_with(&plain), "the rest stays as it is");
        let second = with_budget(&first, br#"{"order": true}"#).expect("a budget");
        assert!(second.starts_with(&plain));
        let budget = read_budget(&second).expect("it is read").expect("there is one");
        assert_eq!((budget.order, budget.drops.is_empty()), (true, true));
    }

    #[test]
    fn a_bad_budget_is_an_error_and_other_bytes_declare_none() {
        for bad in ["", "[]", r#"{"drop": []}"#, r#"{"scores": ["taste", "smell"]}"#] {
            assert!(with_budget(EMPTY, bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(read_budget(&sections::append(EMPTY, BUDGET_SECTION, b"{")).is_err());
        assert_eq!(read_budget(b"").expect("none"), None);
    }
}
