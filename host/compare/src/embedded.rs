//! The difference budget within a component: a custom section of its own, which no engine runs.
//!
//! A component is a header of eight bytes and sections, each with a number, a length and its bytes; that of a custom section, whose
//! number is 0, begins with its name (WebAssembly core specification, 5.5.3; the component model takes it over).

use crate::budget::{DifferenceBudget, InvalidBudget};

/// Name of the section.
pub const BUDGET_SECTION: &str = "intent-gateway:difference-budget";
const HEADER_BYTES: usize = 8;
const CUSTOM: u8 = 0;

/// The budget that a component declares; none where it declares none. What is no component declares none: whoever runs it says so.
///
/// # Errors
/// [`InvalidBudget`] where there is such a section, and it cannot be read.
pub fn read_budget(component: &[u8]) -> Result<Option<DifferenceBudget>, InvalidBudget> {
    find_section(component, BUDGET_SECTION).map(DifferenceBudget::read).transpose()
}

/// A component with a budget in it, in the place of the one that it has.
///
/// # Errors
/// [`InvalidBudget`] where the text is none.
pub fn with_budget(component: &[u8], json: &[u8]) -> Result<Vec<u8>, InvalidBudget> {
    DifferenceBudget::read(json)?;
    let mut with = Vec::with_capacity(component.len() + json.len() + BUDGET_SECTION.len() + 16);
    with.extend_from_slice(&component[..component.len().min(HEADER_BYTES)]);
    for section in Sections(component.get(HEADER_BYTES..).unwrap_or_default()) {
        if section.name() != Some(BUDGET_SECTION) {
            with.extend_from_slice(section.whole);
        }
    }
    let mut content = Vec::new();
    write_length(&mut content, BUDGET_SECTION.len());
    content.extend_from_slice(BUDGET_SECTION.as_bytes());
    content.extend_from_slice(json);
    with.push(CUSTOM);
    write_length(&mut with, content.len());
    with.extend_from_slice(&content);
    Ok(with)
}

fn find_section<'a>(component: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut sections = Sections(component.get(HEADER_BYTES..)?);
    let section = sections.find(|section| section.name() == Some(name))?;
    section.named().map(|(_, content)| content)
}

/// The sections of a component, one after the other, as far as they can be read.
struct Sections<'a>(&'a [u8]);

struct Section<'a> {
    number: u8,
    content: &'a [u8],
    whole: &'a [u8],
}

impl<'a> Section<'a> {
    fn named(&self) -> Option<(&'a [u8], &'a [u8])> {
        if self.number != CUSTOM {
            return None;
        }
        let (length, rest) = read_length(self.content)?;
        rest.split_at_checked(length)
    }

    fn name(&self) -> Option<&'a str> {
        self.named().and_then(|(name, _)| std::str::from_utf8(name).ok())
    }
}

impl<'a> Iterator for Sections<'a> {
    type Item = Section<'a>;

    fn next(&mut self) -> Option<Section<'a>> {
        let all = self.0;
        let (number, rest) = all.split_first()?;
        let (length, rest) = read_length(rest)?;
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(Section { number: *number, content, whole: &all[..all.len() - rest.len()] })
    }
}

/// An unsigned number of at most 32 bits in LEB128, and what follows it.
fn read_length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0_u32;
    for (at, byte) in bytes.iter().enumerate().take(5) {
        let bits = u32::from(byte & 0x7f);
        let shift = 7 * u32::try_from(at).ok()?;
        if bits.leading_zeros() < shift {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Some((usize::try_from(value).ok()?, &bytes[at + 1..]));
        }
    }
    None
}

fn write_length(bytes: &mut Vec<u8>, length: usize) {
    let mut left = length;
    loop {
        let low = u8::try_from(left & 0x7f).unwrap_or_default();
        left >>= 7;
        if left == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEADER: &[u8] = b"\0asm\x0d\0\x01\0";

    fn component(sections: &[(u8, &[u8])]) -> Vec<u8> {
        let mut bytes = HEADER.to_vec();
        for (number, content) in sections {
            bytes.push(*number);
            write_length(&mut bytes, content.len());
            bytes.extend_from_slice(content);
        }
        bytes
    }

    #[test]
    fn a_budget_is_put_in_and_read_again_and_takes_the_place_of_the_one_before() {
        let long = vec![7; 300];
        let plain = component(&[(1, b"types"), (0, b"\x04nameproducers"), (2, &long)]);
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
            assert!(with_budget(&component(&[]), bad.as_bytes()).is_err(), "{bad}");
        }
        let named =
            [&[u8::try_from(BUDGET_SECTION.len()).expect("short")][..], BUDGET_SECTION.as_bytes(), b"{"].concat();
        assert!(read_budget(&component(&[(0, &named)])).is_err());
        assert_eq!(read_budget(b"").expect("none"), None);
        // A length beyond the end, and one of more than 32 bits.
        assert_eq!(read_budget(&[HEADER, &[0, 200]].concat()).expect("none"), None);
        assert_eq!(read_budget(&[HEADER, &[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0]].concat()).expect("none"), None);
    }

    proptest! {
        #[test]
        fn lengths_are_read_as_they_are_written(length in 0_usize..=0xffff_ffff, after in proptest::collection::vec(any::<u8>(), 0..4)) {
            let mut bytes = Vec::new();
            write_length(&mut bytes, length);
            bytes.extend_from_slice(&after);
            prop_assert_eq!(read_length(&bytes), Some((length, &after[..])));
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_budget(&[HEADER, &bytes].concat());
            let _ = with_budget(&bytes, b"{}");
        }
    }
}
