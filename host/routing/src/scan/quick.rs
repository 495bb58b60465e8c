//! The quick pass over the bytes of an answer: whether they are JSON, whether anything may be wrong with it, and where its parts
//! are. It does not recurse.

use std::ops::Range;

use intent_gateway_domain::forbidden::{ForbiddenFields, Kind};
use intent_gateway_domain::json_string::special_bytes;
use intent_gateway_domain::limits::{
    ANSWER_NAME_MAX_CHARS, ANSWER_TEXT_MAX_CHARS, OPTIONS_READ_MAX, PAYLOAD_MAX_DEPTH,
};

use super::names::{KnownNames, OpenNames, fingerprint};
use super::text::{SHORT_NUMBER_CHARS, escape, is_unwanted, may_be_json, number_flaw};

const DELETE: u8 = 0x7f;

/// The parts of a search payload, each as it stands there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    /// Whether the payload is a bare array of options.
    pub(crate) bare: bool,
    pub(crate) result_token: Option<Range<usize>>,
    pub(crate) expires_at: Option<Range<usize>>,
    /// The first [`OPTIONS_READ_MAX`].
    pub(crate) options: Vec<Range<usize>>,
    /// Options beyond them.
    pub(crate) unread: usize,
}

/// Whether a text is JSON in which nothing can be wrong. False tells nothing.
pub(super) fn is_harmless(json: &str, fields: &ForbiddenFields<'_>) -> bool {
    let mut pass = Pass::over(json, fields);
    pass.value().and_then(|_| pass.end()).is_some()
}

/// Where the parts are of a search payload in which nothing can be wrong. None tells nothing.
pub(crate) fn outline(json: &str, options_key: &str, fields: &ForbiddenFields<'_>) -> Option<Outline> {
    let mut pass = Pass::over(json, fields);
    let outline = pass.payload(options_key)?;
    pass.end()?;
    Some(outline)
}

/// Each step begins where the one before ended. It gives none where the text is not JSON, or where something may be wrong.
struct Pass<'t, 'f> {
    json: &'t str,
    bytes: &'t [u8],
    /// Position of the next byte.
    at: usize,
    fields: &'f ForbiddenFields<'f>,
    is_ascii: bool,
    names: OpenNames,
    known: KnownNames<'t>,
    /// A bit for each object or array that is open, the innermost last; set for an object.
    kinds: u64,
    depth: usize,
}

// A bit for each level.
const _: () = assert!(PAYLOAD_MAX_DEPTH <= 64);

impl<'t, 'f> Pass<'t, 'f> {
    fn over(json: &'t str, fields: &'f ForbiddenFields<'f>) -> Self {
        let bytes = json.as_bytes();
        // Nearly every answer is in ASCII without the character 0x7f, and is asked once; 0xff, which would pass, is in no text.
        let is_ascii = bytes.iter().fold(0, |seen, byte| seen | byte.wrapping_add(1)) < 0x80;
        Self {
            json,
            bytes,
            at: 0,
            fields,
            is_ascii,
            names: OpenNames::default(),
            known: KnownNames::new(),
            kinds: 0,
            depth: 0,
        }
    }

    fn payload(&mut self, options_key: &str) -> Option<Outline> {
        let mut outline = Outline::default();
        if self.peek()? == b'[' {
            outline.bare = true;
            self.options(&mut outline)?;
            return Some(outline);
        }
        // Names are compared by `name`, so that each part comes once.
        let mut has_options = false;
        self.open(b'{')?;
        let mut is_first = true;
        while self.goes_on(b'}', &mut is_first)? {
            match self.name()? {
                b"result_token" => outline.result_token = Some(self.value()?),
                b"expires_at" => outline.expires_at = Some(self.value()?),
                name if name == options_key.as_bytes() => {
                    has_options = true;
                    self.options(&mut outline)?;
                }
                _ => {
                    self.value()?;
                }
            }
        }
        has_options.then_some(outline)
    }

    fn options(&mut self, outline: &mut Outline) -> Option<()> {
        self.open(b'[')?;
        let mut is_first = true;
        while self.goes_on(b']', &mut is_first)? {
            let option = self.value()?;
            if outline.options.len() < OPTIONS_READ_MAX {
                outline.options.push(option);
            } else {
                outline.unread += 1;
            }
        }
        Some(())
    }

    /// Whether the object or array that was opened has another member or element; where it has none, it is closed.
    fn goes_on(&mut self, end: u8, is_first: &mut bool) -> Option<bool> {
        let sign = self.peek()?;
        if sign == end {
            self.close();
            return Some(false);
        }
        if !std::mem::take(is_first) {
            if sign != b',' {
                return None;
            }
            self.at += 1;
        }
        Some(true)
    }

    /// Goes through the next value, whatever is in it; where it stands.
    fn value(&mut self) -> Option<Range<usize>> {
        let outside = self.depth;
        let mut sign = self.peek()?;
        let from = self.at;
        loop {
            match sign {
                b'{' | b'[' => {
                    self.open(sign)?;
                    let next = self.peek()?;
                    // Each closing sign is its opening one and two.
                    if next == sign + 2 {
                        self.close();
                    } else {
                        sign = self.next_value(sign == b'{')?;
                        continue;
                    }
                }
                b'"' => self.text()?,
                b'-' | b'0'..=b'9' => self.number()?,
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                _ => return None,
            }
            // The value is over, and with it perhaps what it is in.
            loop {
                if self.depth == outside {
                    return Some(from..self.at);
                }
                let in_object = self.kinds & 1 == 1;
                match (self.peek()?, in_object) {
                    (b',', _) => {
                        self.at += 1;
                        sign = self.next_value(in_object)?;
                        break;
                    }
                    (b'}', true) | (b']', false) => self.close(),
                    _ => return None,
                }
            }
        }
    }

    /// The first byte of the next value, behind its name in an object.
    #[inline]
    fn next_value(&mut self, in_object: bool) -> Option<u8> {
        if in_object {
            self.name()?;
        }
        self.peek()
    }

    /// Goes through the name of a member and the colon after it; the name.
    fn name(&mut self) -> Option<&'t [u8]> {
        if self.peek()? != b'"' {
            return None;
        }
        let from = self.at + 1;
        let end = find_mark(self.bytes, from)?;
        // Neither escapes nor control characters.
        if self.bytes[end] != b'"' {
            return None;
        }
        self.at = end + 1;
        if self.peek()? != b':' {
            return None;
        }
        self.at += 1;
        let name = &self.bytes[from..end];
        let print = fingerprint(name);
        let is_odd =
            self.names.is_repeated(print) || !self.known.contains(print, name) && self.is_odd_name(print, name);
        (!is_odd).then_some(name)
    }

    /// Whether something may be wrong with a name, or with the value that is next under this name.
    fn is_odd_name(&mut self, print: u32, name: &'t [u8]) -> bool {
        if name.len() > ANSWER_NAME_MAX_CHARS || !(self.is_ascii || name.is_ascii()) {
            return true;
        }
        if self.fields.broken_by_ascii(name, || Kind::Other).is_none() {
            self.known.add(print, name);
            return false;
        }
        let value = || kind_of(trim_start(&self.bytes[self.at..]));
        self.fields.broken_by_ascii(name, value).is_some()
    }

    fn text(&mut self) -> Option<()> {
        let from = self.at + 1;
        let mut end = find_mark(self.bytes, from)?;
        while self.bytes[end] != b'"' {
            end = find_mark(self.bytes, end + self.escape(end)?)?;
        }
        self.at = end + 1;
        let content = &self.bytes[from..end];
        let is_odd = content.len() > ANSWER_TEXT_MAX_CHARS
            || may_be_json(content)
            || !self.is_ascii && has_unwanted(&self.json[from..end]);
        (!is_odd).then_some(())
    }

    /// How long the escape is that begins here.
    fn escape(&self, at: usize) -> Option<usize> {
        let text = &self.bytes[at..];
        let [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' | b'u', ..] = text else { return None };
        match escape(text) {
            (length, Some(escaped)) if !is_unwanted(escaped) => Some(length),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<()> {
        let from = self.at;
        self.at += usize::from(self.bytes[from] == b'-');
        // A zero stands alone.
        if self.bytes.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        let has_exponent = matches!(self.bytes.get(self.at), Some(b'e' | b'E'));
        if has_exponent {
            self.at += 1;
            self.at += usize::from(matches!(self.bytes.get(self.at), Some(b'+' | b'-')));
            self.digits()?;
        }
        let is_long = has_exponent || self.at - from > SHORT_NUMBER_CHARS;
        (!is_long || number_flaw(&self.json[from..self.at]).is_none()).then_some(())
    }

    /// Goes through one digit or more.
    fn digits(&mut self) -> Option<()> {
        let from = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        (self.at > from).then_some(())
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.bytes[self.at..].starts_with(word).then(|| self.at += word.len())
    }

    fn open(&mut self, sign: u8) -> Option<()> {
        if self.peek()? != sign || self.depth == PAYLOAD_MAX_DEPTH {
            return None;
        }
        self.at += 1;
        self.depth += 1;
        self.kinds = self.kinds << 1 | u64::from(sign == b'{');
        self.names.open();
        Some(())
    }

    fn close(&mut self) {
        self.at += 1;
        self.depth -= 1;
        self.kinds >>= 1;
        self.names.close();
    }

    /// The next byte that is not a blank.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Nothing may come any more.
    fn end(&mut self) -> Option<()> {
        let is_over = self.peek().is_none();
        (is_over && (self.is_ascii || memchr::memchr(DELETE, self.bytes).is_none())).then_some(())
    }
}

/// The next quote, backslash or control character. Nearly every string is short, so that nothing is got ready for long ones.
#[inline]
fn find_mark(bytes: &[u8], from: usize) -> Option<usize> {
    let mut rest = bytes.get(from..)?;
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        let found = special_bytes(u64::from_le_bytes(*word));
        if found != 0 {
            return Some(bytes.len() - rest.len() + (found.trailing_zeros() / u8::BITS) as usize);
        }
        rest = after;
    }
    let mark = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))?;
    Some(bytes.len() - rest.len() + mark)
}

/// Whether a text that is not in ASCII holds what none may hold.
fn has_unwanted(text: &str) -> bool {
    !text.is_ascii() && text.contains(is_unwanted)
}

/// Without the blanks of JSON in front.
pub(super) fn trim_start(bytes: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    &bytes[bytes.iter().position(|byte| !blank(byte)).unwrap_or(bytes.len())..]
}

/// By the first bytes of a value of JSON.
pub(super) fn kind_of(value: &[u8]) -> Kind {
    if value.starts_with(b"false") {
        Kind::False
    } else if value.starts_with(b"null") {
        Kind::Null
    } else if value.starts_with(b"\"\"") {
        Kind::EmptyString
    } else {
        Kind::Other
    }
}
