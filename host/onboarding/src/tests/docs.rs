//! What docs/onboarding.md lists is what the code knows, no more and no less.

use std::collections::BTreeSet;

use crate::compliance::requirements;
use crate::compliance::{DocumentKind, LegalEntityType, LicenceKind};
use crate::manifest::PHONE_LIMITS;
use crate::next::STEP_CODES;

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/onboarding.md");
    std::fs::read_to_string(path).expect("the page is there")
}

/// The rows of the table under a head, each as it is written.
fn rows(page: &str, head: &str) -> BTreeSet<String> {
    let table = page.split(&format!("\n{head}\n")).nth(1).unwrap_or_else(|| panic!("no table `{head}`"));
    table.lines().skip(1).take_while(|line| line.starts_with('|')).map(str::to_owned).collect()
}

/// What stands in backquotes in the first column.
fn first_column(rows: &BTreeSet<String>) -> BTreeSet<String> {
    let cells = rows.iter().filter_map(|row| row.split('|').nth(1).map(str::to_owned));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn licences_by_domain() {
    let known = requirements().map(|(domain, code, kinds)| {
        let kinds: Vec<String> = kinds.iter().map(|kind| format!("`{}`", kind.as_str())).collect();
        let shown = match kinds.is_empty() {
            true => "`grievance_officer` in the profile".to_owned(),
            false => format!("a licence of the kind {}", kinds.join(" or ")),
        };
        format!("| `{domain}` | `{code}` | {shown} |")
    });
    assert_eq!(rows(&page(), "| domain | item of the checklist | what shows it |"), known.collect());
}

#[test]
fn kinds_of_licences_and_legal_forms() {
    let kinds = first_column(&rows(&page(), "| kind | licence |"));
    assert_eq!(kinds, LicenceKind::ALL.map(|kind| kind.as_str().to_owned()).into());
    for form in LegalEntityType::ALL {
        assert!(page().contains(&format!("`{}`", form.as_str())), "{form:?}");
    }
}

#[test]
fn steps() {
    let documented = first_column(&rows(&page(), "| step | whose turn | when |"));
    assert_eq!(documented, STEP_CODES.map(str::to_owned).into());
}

#[test]
fn kinds_of_documents() {
    let documented = first_column(&rows(&page(), "| document | what it is |"));
    assert_eq!(documented, DocumentKind::ALL.map(|kind| kind.as_str().to_owned()).into());
}

#[test]
fn limits_of_the_phone() {
    let documented = first_column(&rows(&page(), "| limit | means |"));
    assert_eq!(documented, PHONE_LIMITS.map(|(code, _)| code.to_owned()).into());
}
