//! Custom sections of a component: names and bytes that no engine runs.
//!
//! A component is a header of eight bytes and sections, each with a number, a length and its bytes; that of a custom section, whose
//! number is 0, begins with its name (WebAssembly core specification, 5.5.3; the component model takes it over). Nothing here says
//! whether the rest is a component: what cannot be read ends the list.

/// Name of the section that holds signatures of a component.
pub const SIGNATURES_SECTION: &str = "intent-gateway:signatures";

const HEADER_BYTES: usize = 8;
const CUSTOM: u8 = 0;

/// The content of the first custom section of a name.
#[must_use]
pub fn find<'a>(component: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut sections = Sections(component.get(HEADER_BYTES..)?);
    let section = sections.find(|section| section.name() == Some(name))?;
    section.named().map(|(_, content)| content)
}

/// A component without the custom sections of a name, and what these held, in their order.
#[must_use]
pub fn take_out<'a>(component: &'a [u8], name: &str) -> (Vec<u8>, Vec<&'a [u8]>) {
    let head = component.len().min(HEADER_BYTES);
    let (mut without, mut found) = (component[..head].to_vec(), Vec::new());
    let mut sections = Sections(&component[head..]);
    for section in sections.by_ref() {
        match section.named() {
            Some((_, content)) if section.name() == Some(name) => found.push(content),
            _ => without.extend_from_slice(section.whole),
        }
    }
    // What cannot be read stays where it is.
    without.extend_from_slice(sections.0);
    (without, found)
}

/// A component with a custom section at its end.
#[must_use]
pub fn append(component: &[u8], name: &str, content: &[u8]) -> Vec<u8> {
    let mut section = Vec::new();
    write_length(&mut section, name.len());
    section.extend_from_slice(name.as_bytes());
    section.extend_from_slice(content);
    let mut with = component.to_vec();
    with.push(CUSTOM);
    write_length(&mut with, section.len());
    with.extend_from_slice(&section);
    with
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
    fn a_section_is_appended_found_and_taken_out_again() {
        let long = vec![7; 300];
        let plain = component(&[(1, b"types"), (0, b"\x04nameproducers"), (2, &long)]);
        assert_eq!((find(&plain, "ours"), find(&plain, "name")), (None, Some(&b"producers"[..])));
        let with = append(&append(&plain, "ours", b"one"), "ours", &long);
        assert_eq!(find(&with, "ours"), Some(&b"one"[..]));
        assert_eq!(take_out(&with, "ours"), (plain.clone(), vec![&b"one"[..], &long]));
        assert_eq!(take_out(&plain, "ours"), (plain.clone(), Vec::new()));
        // In the middle as well.
        let middle = component(&[(1, b"types"), (0, b"\x04oursone"), (2, &long)]);
        assert_eq!(take_out(&middle, "ours"), (component(&[(1, b"types"), (2, &long)]), vec![&b"one"[..]]));
    }

    #[test]
    fn what_cannot_be_read_stays() {
        for bytes in [
            &b""[..],
            b"\0asm",
            &[HEADER, &[0, 200]].concat(),
            &[HEADER, &[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0]].concat(),
        ] {
            assert_eq!(take_out(bytes, "ours"), (bytes.to_vec(), Vec::new()));
        }
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
            let all = [HEADER, &bytes].concat();
            let (without, found) = take_out(&all, "");
            prop_assert!(without.len() <= all.len());
            prop_assert!(found.iter().all(|content| content.len() < all.len()));
        }
    }
}
