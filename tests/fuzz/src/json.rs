//! A strict reader of JSON that keeps what others lose: members of one name, and their order. What the targets hold the
//! product's own readers against.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A value as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Array(Vec<Tree>),
    /// In the order in which they stand there; a name may occur twice.
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// What a strict reader takes: no half of a surrogate pair, no number beyond a 64-bit float, 127 levels. None for the rest.
    pub(crate) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The first member of this name, of an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.members().iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub(crate) fn members(&self) -> &[(String, Self)] {
        if let Self::Object(members) = self { members } else { &[] }
    }

    pub(crate) fn items(&self) -> &[Self] {
        if let Self::Array(items) = self { items } else { &[] }
    }

    /// Whether every value in it, itself included, meets the condition.
    pub(crate) fn all(&self, holds: &mut impl FnMut(&Self) -> bool) -> bool {
        holds(self)
            && self.items().iter().all(|item| item.all(holds))
            && self.members().iter().all(|(_, value)| value.all(holds))
    }

    /// Whether each object in it has one member of a name.
    pub(crate) fn has_no_repeats(&self) -> bool {
        self.all(&mut |value| {
            let mut names = HashSet::new();
            value.members().iter().all(|(name, _)| names.insert(name))
        })
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Number(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers are compared as floats alone")]
    fn visit_u64<E: Error>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers are compared as floats alone")]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value as f64))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut read = Vec::new();
        while let Some(item) = items.next_element()? {
            read.push(item);
        }
        Ok(Tree::Array(read))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Tree, A::Error> {
        let mut read = Vec::new();
        while let Some(member) = members.next_entry()? {
            read.push(member);
        }
        Ok(Tree::Object(read))
    }
}

/// What stands outside the strings of a text of valid JSON.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// Levels of objects and arrays.
    pub(crate) depth: usize,
    /// Characters of the longest number.
    pub(crate) longest_number: usize,
    /// Where objects begin: behind their brackets.
    pub(crate) objects: Vec<usize>,
}

impl Outline {
    pub(crate) fn of(text: &str) -> Self {
        let mut outline = Self::default();
        let (mut open, mut number, mut quoted, mut escaped) = (0_usize, 0, false, false);
        for (at, byte) in text.bytes().enumerate() {
            if quoted {
                quoted = escaped || byte != b'"';
                escaped = !escaped && byte == b'\\';
                continue;
            }
            number = if matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.') || number > 0 && matches!(byte, b'e' | b'E') {
                number + 1
            } else {
                0
            };
            outline.longest_number = outline.longest_number.max(number);
            match byte {
                b'"' => quoted = true,
                b'{' | b'[' => open += 1,
                b'}' | b']' => open = open.saturating_sub(1),
                _ => {}
            }
            if byte == b'{' {
                outline.objects.push(at + 1);
            }
            outline.depth = outline.depth.max(open);
        }
        outline
    }
}
