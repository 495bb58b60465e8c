//! Where the values of a JSON text are. Mutations work on the text itself, since a parsed document cannot hold what a
//! partner may well send: a key twice, a number beyond all floats, an escape without its other half.

use std::ops::Range;

/// Values looked for in one text; what lies behind them is left as it is.
const VALUES_MAX: usize = 20_000;

/// The JSON type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    Text,
    /// A number, a boolean or null.
    Plain,
}

/// One value in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Bytes of the value.
    pub(super) value: Range<usize>,
    /// Bytes of the key with its quotes, for a member of an object.
    pub(super) key: Option<Range<usize>>,
    pub(super) kind: Kind,
    /// Whether it is an entry of an array or a member of an object, and so may be taken out.
    pub(super) nested: bool,
}

impl Place {
    /// From the key, where there is one, to the end of the value.
    pub(super) fn whole(&self) -> Range<usize> {
        self.key.as_ref().map_or(self.value.start, |key| key.start)..self.value.end
    }
}

/// The values of a text, and how deep they nest. Forgiving: a text that is no JSON has the values up to its fault.
#[derive(Debug, Default)]
pub(super) struct Spans {
    pub(super) places: Vec<Place>,
    pub(super) depth: usize,
}

impl Spans {
    pub(super) fn of(text: &str) -> Self {
        let mut spans = Self::default();
        Scanner { bytes: text.as_bytes(), at: 0, open: Vec::new(), key: None }.scan(&mut spans);
        spans
    }
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Indices of the places of the objects and arrays that are open.
    open: Vec<usize>,
    /// The text just read, if a colon follows it: the key of the value that comes next.
    key: Option<Range<usize>>,
}

impl Scanner<'_> {
    fn scan(&mut self, spans: &mut Spans) {
        while let Some(&byte) = self.bytes.get(self.at) {
            if spans.places.len() >= VALUES_MAX {
                break;
            }
            match byte {
                b'{' | b'[' => {
                    let kind = if byte == b'{' { Kind::Object } else { Kind::Array };
                    self.value(self.at..self.at + 1, kind, spans);
                    self.open.push(spans.places.len() - 1);
                    spans.depth = spans.depth.max(self.open.len());
                    self.at += 1;
                }
                b'}' | b']' => {
                    self.at += 1;
                    if let Some(place) = self.open.pop().and_then(|open| spans.places.get_mut(open)) {
                        place.value.end = self.at;
                    }
                }
                b'"' => self.text(spans),
                b':' | b',' | b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                _ => {
                    let start = self.at;
                    let ends = |byte: &u8| b"{}[]\",: \t\r\n".contains(byte);
                    let length = self.bytes[start..].iter().position(ends).unwrap_or(self.bytes.len() - start);
                    self.at = start + length;
                    self.value(start..self.at, Kind::Plain, spans);
                }
            }
        }
        // What is still open ends with the text.
        for open in self.open.drain(..) {
            if let Some(place) = spans.places.get_mut(open) {
                place.value.end = self.bytes.len();
            }
        }
    }

    fn text(&mut self, spans: &mut Spans) {
        let start = self.at;
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'"' => break,
                b'\\' => self.at += 1,
                _ => {}
            }
        }
        self.at = self.at.min(self.bytes.len());
        let after = self.bytes[self.at..].iter().find(|byte| !byte.is_ascii_whitespace());
        if after == Some(&b':') {
            self.key = Some(start..self.at);
        } else {
            self.value(start..self.at, Kind::Text, spans);
        }
    }

    fn value(&mut self, value: Range<usize>, kind: Kind, spans: &mut Spans) {
        spans.places.push(Place { value, key: self.key.take(), kind, nested: !self.open.is_empty() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_found() {
        let text = r#"{"a": [1, "x\"]", {"b" : null}], "c":true}"#;
        let spans = Spans::of(text);
        let found: Vec<_> = spans.places.iter().map(|place| (&text[place.whole()], place.kind)).collect();
        assert_eq!(
            found,
            [
                (text, Kind::Object),
                (r#""a": [1, "x\"]", {"b" : null}]"#, Kind::Array),
                ("1", Kind::Plain),
                (r#""x\"]""#, Kind::Text),
                (r#"{"b" : null}"#, Kind::Object),
                (r#""b" : null"#, Kind::Plain),
                (r#""c":true"#, Kind::Plain),
            ]
        );
        assert_eq!(spans.depth, 3);
        assert!(!spans.places[0].nested && spans.places[1].nested);
    }

    #[test]
    fn broken_texts_do_no_harm() {
        for text in ["", "{", "\"", "\"\\", "{\"a\":[", "]]", "{\"a\" 1}", "äöü", "{\"ä\":\"ö\\"] {
            for place in Spans::of(text).places {
                assert!(text.get(place.whole()).is_some(), "{text}");
            }
        }
    }
}
