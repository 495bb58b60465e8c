//! The reader: one pass over the JSON text, every violation collected.

use super::desc::{Bounds, FieldDesc, Kind, ValueDesc, Vocabulary};
use crate::bindings::Violation;
use crate::code;
use crate::json::{Number, Parser};
use crate::pointer::MemberStep;
use crate::violations::{Quoted, Violations};
use std::borrow::Cow;
use std::fmt::{self, Display};

/// The place where a reader stands: a list linked through the stack, written out only when a violation is.
#[derive(Debug, Clone, Copy)]
pub struct At<'p> {
    parent: Option<&'p At<'p>>,
    /// The member that stands here, or whose array has its entry here.
    field: &'static FieldDesc,
    /// Of the entry; `None` for the member itself.
    index: Option<usize>,
}

/// What stands for the member that a whole document is of.
static NO_FIELD: FieldDesc = FieldDesc {
    name: "",
    doc: "",
    required: true,
    absence_ruled: false,
    value: ValueDesc::of(Kind::Any),
    bounds: Bounds::NONE,
};

impl<'p> At<'p> {
    /// The whole document.
    pub const ROOT: At<'static> = At { parent: None, field: &NO_FIELD, index: None };

    /// A member of the object at this place.
    #[inline]
    pub fn member(&'p self, field: &'static FieldDesc) -> At<'p> {
        At { parent: Some(self), field, index: None }
    }

    /// An entry of the array at this place; the array's bounds hold for it.
    #[inline]
    pub fn entry(&'p self, index: usize) -> At<'p> {
        At { parent: Some(self), field: self.field, index: Some(index) }
    }

    /// The bounds that hold here.
    #[inline]
    pub fn bounds(&self) -> &'static Bounds {
        &self.field.bounds
    }
}

impl Display for At<'_> {
    /// The JSON Pointer (RFC 6901) of the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parent) = self.parent else {
            return Ok(());
        };
        parent.fmt(f)?;
        match self.index {
            Some(index) => write!(f, "/{index}"),
            None => MemberStep(self.field.name).fmt(f),
        }
    }
}

/// A type with a description that does not depend on the document it borrows from.
pub trait Described {
    /// What a value of this type must be.
    const DESC: ValueDesc;

    /// Whether a member of this type may be absent.
    const OPTIONAL: bool = false;

    /// Whether a rule of the contract reports that it is absent, and not whoever reads the shape.
    const ABSENCE_RULED: bool = false;
}

/// A type that is read from JSON with every violation recorded. Derived for objects and vocabularies.
pub trait Shape<'a>: Described + Sized {
    /// The value of a member that is absent; `None` where it must be there.
    fn absent() -> Option<Self> {
        None
    }

    /// Reads the value that comes next. `None` says that it is broken, which has then been recorded here
    /// or, where the text is not JSON, by the parser. Either way the value is consumed.
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self>;
}

/// The static list of an object's members.
pub trait Fields {
    /// In the order of declaration.
    const FIELDS: &'static [FieldDesc];
}

/// A shape that is an object: members are found by index and gathered in a partial value.
///
/// Several objects of this kind can be read from the same members, see [`crate::Report`].
pub trait ObjectShape<'a>: Shape<'a> + Fields {
    /// The members read so far.
    type Partial: Default;

    /// Number of declared members.
    const COUNT: usize;

    /// The index of a declared member.
    fn index(name: &str) -> Option<usize>;

    /// Reads the members that come in the order of declaration, as senders nearly always write them. `first`
    /// says whether no member has been read; so does the answer.
    fn in_order(
        partial: &mut Self::Partial,
        first: bool,
        from: &mut Parser<'a>,
        at: &At<'_>,
        out: &mut Violations,
    ) -> bool;

    /// Reads the value of the member of this index.
    fn member(partial: &mut Self::Partial, index: usize, from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations);

    /// The whole value, once all members are read.
    fn finish(partial: Self::Partial, at: &At<'_>, out: &mut Violations) -> Option<Self>;
}

/// One member while its object is being read.
pub struct Member<T>(Option<Option<T>>);

impl<T> Default for Member<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Member<T> {
    /// Reads the member's value; a second occurrence is a violation and is not judged.
    #[inline]
    pub fn read<'a>(&mut self, field: &'static FieldDesc, from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations)
    where
        T: Shape<'a>,
    {
        let here = at.member(field);
        if self.0.is_some() {
            return twice(from, &here, out);
        }
        self.0 = Some(T::read(from, &here, out));
    }

    /// The value, or what stands for its absence.
    #[inline]
    pub fn finish<'a>(self, field: &'static FieldDesc, at: &At<'_>, out: &mut Violations) -> Option<T>
    where
        T: Shape<'a>,
    {
        match self.0 {
            Some(value) => value,
            None => {
                let value = T::absent();
                if value.is_none() {
                    report_missing(&T::DESC, &at.member(field), out);
                } else if T::ABSENCE_RULED {
                    out.leave_to_rules(&at.member(field));
                }
                value
            }
        }
    }
}

#[cold]
#[inline(never)]
fn twice(from: &mut Parser<'_>, at: &At<'_>, out: &mut Violations) {
    out.push(at, code::DUPLICATE_KEY, "The member occurs twice in its object; once is expected.");
    from.skip();
}

#[cold]
#[inline(never)]
fn report_missing(desc: &ValueDesc, at: &At<'_>, out: &mut Violations) {
    out.push(at, code::REQUIRED, format_args!("Missing; expected: {}.", desc.kind.label()));
}

/// Reads an object. Members that nobody declared pass.
pub fn read_object<'a, T: ObjectShape<'a>>(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<T> {
    if from.peek() != b'{' {
        return wrong_type::<T>(from, at, out);
    }
    from.open();
    let mut partial = T::Partial::default();
    let mut first = T::in_order(&mut partial, true, from, at, out);
    while from.more(b'}', first) {
        match T::index(&from.key()) {
            Some(index) => T::member(&mut partial, index, from, at, out),
            None => from.skip(),
        }
        first = false;
    }
    T::finish(partial, at, out)
}

/// Reads a whole document.
///
/// # Errors
/// All violations; never an empty list.
pub fn read_document<'a, T: Shape<'a>>(json: &'a str) -> Result<T, Vec<Violation>> {
    let mut out = Violations::new();
    let mut parser = Parser::new(json);
    let value = T::read(&mut parser, &At::ROOT, &mut out);
    match (parser.end(), value) {
        (Ok(()), Some(value)) if out.is_empty() => Ok(value),
        (Ok(()), _) => Err(out.into_list()),
        // What was found before the text broke is of no use: the sender has to fix the text first.
        (Err(broken), _) => {
            let mut only = Violations::new();
            only.push(&At::ROOT, code::INVALID_JSON, format_args!("Not a JSON document: {broken}."));
            Err(only.into_list())
        }
    }
}

/// Reads one text out of a document that may otherwise be broken: a member by its name, or, where `place` starts with
/// `/`, the member that this JSON Pointer leads to, through objects only.
pub fn read_text_member<'a>(json: &'a str, place: &str) -> Option<Cow<'a, str>> {
    read_member(json, place, |from| (from.peek() == b'"').then(|| from.string()))
}

/// Reads one number out of a document, as [`read_text_member`] reads a text.
pub fn read_number_member(json: &str, place: &str) -> Option<f64> {
    let number = |from: &mut Parser<'_>| match from.number() {
        Number::Int(number) => number as f64,
        Number::Float(number) => number,
    };
    read_member(json, place, |from| matches!(from.peek(), b'-' | b'0'..=b'9').then(|| number(from)))
}

/// Reads one value; `take` reads a value that it wants, and leaves any other to be skipped.
fn read_member<'a, T>(json: &'a str, place: &str, take: impl Fn(&mut Parser<'a>) -> Option<T>) -> Option<T> {
    let mut from = Parser::new(json);
    let found = member_below(&mut from, place.strip_prefix('/').unwrap_or(place), &take);
    from.end().ok().and(found)
}

/// Reads to the end of the value at hand, and keeps the value that the path leads to.
fn member_below<'a, T>(from: &mut Parser<'a>, path: &str, take: &impl Fn(&mut Parser<'a>) -> Option<T>) -> Option<T> {
    if from.peek() != b'{' {
        from.skip();
        return None;
    }
    let (key, deeper) = match path.split_once('/') {
        Some((key, deeper)) => (key, Some(deeper)),
        None => (path, None),
    };
    from.open();
    let mut found = None;
    let mut first = true;
    while from.more(b'}', first) {
        first = false;
        if from.key() != key || found.is_some() {
            from.skip();
        } else if let Some(deeper) = deeper {
            found = member_below(from, deeper, take);
        } else {
            found = take(from);
            if found.is_none() {
                from.skip();
            }
        }
    }
    found
}

/// Reads a value of a vocabulary.
pub fn read_vocabulary<V: Vocabulary + Described>(
    from: &mut Parser<'_>,
    at: &At<'_>,
    out: &mut Violations,
) -> Option<V> {
    if from.peek() != b'"' {
        return wrong_type::<V>(from, at, out);
    }
    let text = from.string();
    let found = V::from_value(&text);
    if found.is_none() {
        unknown_value(<V as Vocabulary>::DESC.values, &text, at, out);
    }
    found
}

#[cold]
#[inline(never)]
fn unknown_value(values: &[&str], found: &str, at: &At<'_>, out: &mut Violations) {
    let values = values.join(", ");
    out.push(at, code::NOT_IN_VOCABULARY, format_args!("Found {}; expected one of: {values}.", Quoted(found)));
}

/// Consumes a value of another type than declared, and records it.
#[inline]
pub(super) fn wrong_type<T: Described>(from: &mut Parser<'_>, at: &At<'_>, out: &mut Violations) -> Option<T> {
    record_wrong_type(&T::DESC, from, at, out);
    None
}

#[cold]
#[inline(never)]
fn record_wrong_type(desc: &ValueDesc, from: &mut Parser<'_>, at: &At<'_>, out: &mut Violations) {
    let kind = match from.peek() {
        b'[' => "an array",
        b'{' => "an object",
        b'"' => "the string ",
        b'n' => "",
        b't' | b'f' => "the boolean ",
        _ => "the number ",
    };
    let raw = from.raw();
    let shown = match raw.as_bytes().first() {
        Some(b'[' | b'{') => "",
        _ => raw,
    };
    let cut = shown.char_indices().nth(crate::MAX_QUOTED_CHARS).map_or(shown.len(), |(cut, _)| cut);
    let or_null = if desc.nullable { " or null" } else { "" };
    let expected = desc.kind.label();
    out.push(at, code::WRONG_TYPE, format_args!("Found {kind}{}; expected: {expected}{or_null}.", &shown[..cut]));
}

#[cfg(test)]
mod tests {
    use super::{read_document, read_text_member};
    use crate::bindings::Violation;
    use crate::shape::{Fields as _, Text};
    use crate::{Shape, Vocabulary};

    #[derive(Debug, PartialEq, Vocabulary)]
    enum Colour {
        Red,
        Green,
        GreyGreen,
    }

    /// An object of each kind of member.
    #[derive(Debug, PartialEq, Shape)]
    struct Thing<'a> {
        /// A text.
        name: Text<'a>,
        /// A number.
        #[shape(min = 0, max = 9)]
        size: i64,
        /// Perhaps a word.
        colour: Option<Colour>,
        /// Perhaps an object.
        part: Option<Part>,
        /// A name that JSON escapes.
        #[shape(rename = "a \"b\"")]
        quoted: Option<i64>,
    }

    /// An object in an object.
    #[derive(Debug, PartialEq, Shape)]
    struct Part {
        /// Whether it fits.
        fits: bool,
    }

    /// The places and codes of what is wrong.
    fn wrong(found: Vec<Violation>) -> Vec<(String, String)> {
        found.into_iter().map(|one| (one.pointer, one.code)).collect()
    }

    #[test]
    fn members_are_found_in_any_order_and_however_they_are_spaced() {
        assert_eq!(Thing::FIELDS.len(), 5);
        let members = [
            "\"name\":\"n\"",
            "\"size\":1",
            "\"colour\":\"grey_green\"",
            "\"part\":{\"fits\":true}",
            "\"a \\\"b\\\"\":2",
        ];
        for start in 0..members.len() {
            for step in 1..members.len() {
                let order: Vec<&str> = (0..members.len()).map(|place| members[(start + place * step) % 5]).collect();
                for (comma, colon) in [(",", ":"), (", ", ": "), (" ,", " :"), (" , ", " : "), (",\n  ", "\t:")] {
                    let inside = order.join(comma).replace("\":", &format!("\"{colon}"));
                    for json in
                        [format!("{{{inside}}}"), format!("{{ {inside} }}"), format!("{{\"other\":[1],{inside}}}")]
                    {
                        let thing: Thing<'_> = read_document(&json).unwrap_or_else(|found| panic!("{json}: {found:?}"));
                        assert_eq!(
                            (&*thing.name, thing.size, thing.colour),
                            ("n", 1, Some(Colour::GreyGreen)),
                            "{json}"
                        );
                        assert_eq!((thing.part, thing.quoted), (Some(Part { fits: true }), Some(2)), "{json}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_breaks_an_object_is_told_at_its_place() {
        for (json, expected) in [
            ("{}", vec![("/name", "REQUIRED"), ("/size", "REQUIRED")]),
            (r#"{"size":1,"name":"n","size":2}"#, vec![("/size", "DUPLICATE_KEY")]),
            (r#"{"name":"n","name":"n","size":1}"#, vec![("/name", "DUPLICATE_KEY")]),
            (r#"{"name":"n", "size":1 ,"size" : 12}"#, vec![("/size", "DUPLICATE_KEY")]),
            (r#"{"size":10,"name":"n"}"#, vec![("/size", "OUT_OF_RANGE")]),
            (r#"{"name":"n","size":1,"part":{"fits":0}}"#, vec![("/part/fits", "WRONG_TYPE")]),
            (r#"{"name":"n","size":1,"colour":"greygreen"}"#, vec![("/colour", "NOT_IN_VOCABULARY")]),
        ] {
            let found = wrong(read_document::<Thing<'_>>(json).expect_err(json));
            let found: Vec<_> = found.iter().map(|(pointer, code)| (&**pointer, &**code)).collect();
            assert_eq!(found, expected, "{json}");
        }
        for (json, told) in [
            (r#"{"name":"n""size":1}"#, "expected a comma or a closing bracket after 11 bytes"),
            (r#"{"name":"n";"size":1}"#, "expected a comma or a closing bracket after 11 bytes"),
            (r#"{"name":"n",,"size":1}"#, "expected a key after 12 bytes"),
            (r#"{"name":"n","size":1,}"#, "expected a key after 21 bytes"),
            (r#"{,"name":"n"}"#, "expected a key after 1 bytes"),
            (r#"{"name" "n"}"#, "expected a colon after 8 bytes"),
            (r#"{ "name" "n"}"#, "expected a colon after 9 bytes"),
            (r#"{"name":"n","size"}"#, "expected a colon after 18 bytes"),
            (r#"{"name":"n","size":1"#, "expected a comma or a closing bracket after 20 bytes"),
            ("{", "expected a value or a closing bracket after 1 bytes"),
            (r#"{"name":"n","size":1,"part":{"fits":tru}}"#, "expected true after 36 bytes"),
        ] {
            let found = read_document::<Thing<'_>>(json).expect_err(json);
            assert_eq!(found[0].message, format!("Not a JSON document: {told}."), "{json}");
        }
    }

    #[test]
    fn texts_are_found_by_name_and_by_pointer() {
        let json = r#"{"x":[{"id":"no"}],"id":1,"id":"a","studio":{"y":{"id":"no"},"identity":{"id":"b"}},"z":null}"#;
        let read = |place| read_text_member(json, place);
        assert_eq!(read("id").as_deref(), Some("a"));
        assert_eq!(read("/id").as_deref(), Some("a"));
        assert_eq!(read("/studio/identity/id").as_deref(), Some("b"));
        for absent in ["no", "/x/0/id", "/studio/id", "/studio/identity", "/studio/identity/id/more", "/z/id"] {
            assert_eq!(read(absent), None, "{absent}");
        }
        assert_eq!(read_text_member("[]", "id"), None);
        assert_eq!(read_text_member(r#"{"id":"a""#, "id"), None);
    }
}
