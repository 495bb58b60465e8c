//! Descriptions of shapes: static tables of fields, types and bounds. They judge nothing themselves.

/// What a value must be.
#[derive(Debug, Clone, Copy)]
pub struct ValueDesc {
    pub kind: Kind,
    /// May be `null` although it must be there.
    pub nullable: bool,
}

impl ValueDesc {
    /// A value of this kind that may not be `null`.
    pub const fn of(kind: Kind) -> Self {
        Self { kind, nullable: false }
    }
}

/// The type of a value.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Boolean,
    /// The boolean `false` and nothing else.
    False,
    /// An integer by JSON Schema: 3 and 3.0, but not 3.5.
    Integer,
    /// Any finite number.
    Number,
    /// An amount in INR, at least 0, with at most two decimals.
    Amount,
    Text(TextFormat),
    Vocabulary(&'static VocabularyDesc),
    /// An object; its members are those of all lists.
    Object(&'static [&'static [FieldDesc]]),
    Array(&'static ValueDesc),
    /// Any JSON value, read by nobody.
    Any,
}

impl Kind {
    /// The type in words, for messages and field docs.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::False => "the boolean false",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Amount => "amount in INR",
            Self::Text(format) => format.label(),
            Self::Vocabulary(_) => "string of a vocabulary",
            Self::Object(_) => "object",
            Self::Array(_) => "array",
            Self::Any => "any value",
        }
    }
}

/// How a text must be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// Anything, the empty string included.
    Any,
    /// At least one character that is not blank.
    NonBlank,
    /// ISO 8601 with a capital `T` and an offset.
    DateTime,
    /// `YYYY-MM-DD`.
    Date,
    /// A URL with the scheme `https`.
    HttpsUrl,
    /// A URL with the scheme `http` or `https`.
    WebUrl,
    /// A phone number by E.164.
    Phone,
    /// A BCP 47 language tag.
    Locale,
    /// A version by semver.
    Semver,
}

impl TextFormat {
    /// The format in words, for messages and field docs.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Any => "string",
            Self::NonBlank => "non-empty string",
            Self::DateTime => "ISO 8601 datetime with offset",
            Self::Date => "ISO 8601 date",
            Self::HttpsUrl => "HTTPS URL",
            Self::WebUrl => "URL",
            Self::Phone => "phone number (E.164)",
            Self::Locale => "locale tag",
            Self::Semver => "semantic version",
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct VocabularyDesc {
    pub name: &'static str,
    pub values: &'static [&'static str],
}

/// A unit enum that stands for a controlled vocabulary. Derived with `#[derive(Vocabulary)]`.
pub trait Vocabulary: Sized {
    const DESC: VocabularyDesc;

    /// The variant that a value stands for; values match exactly.
    fn from_value(value: &str) -> Option<Self>;

    /// The value that this variant stands for.
    fn value(&self) -> &'static str;
}

/// One member of an object.
#[derive(Debug, Clone, Copy)]
pub struct FieldDesc {
    pub name: &'static str,
    /// What it says, for partners.
    pub doc: &'static str,
    pub required: bool,
    /// A rule of the contract reports that it is absent, by a code of its own.
    pub absence_ruled: bool,
    pub value: ValueDesc,
    pub bounds: Bounds,
}

/// Bounds beside a field. All are inclusive; those that do not fit the field's type fail the build.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// The only integers allowed.
    pub one_of: Option<&'static [i64]>,
    /// The only text allowed.
    pub equals: Option<&'static str>,
    /// Exact length in Unicode characters.
    pub len: Option<usize>,
    /// Least length in Unicode characters.
    pub min_len: Option<usize>,
    /// Greatest length in Unicode characters.
    pub max_len: Option<usize>,
    /// Exact number of entries.
    pub items: Option<usize>,
    pub min_items: Option<usize>,
    pub max_items: Option<usize>,
}

impl Bounds {
    /// No bound at all.
    pub const NONE: Self = Self {
        min: None,
        max: None,
        one_of: None,
        equals: None,
        len: None,
        min_len: None,
        max_len: None,
        items: None,
        min_items: None,
        max_items: None,
    };

    /// The same bounds, beside a value of a type that takes all of them. Part of `#[derive(Shape)]`.
    ///
    /// # Panics
    /// With the message, where one of them would have no effect; in a constant, that fails the build.
    #[doc(hidden)]
    #[must_use]
    pub const fn beside(self, value: ValueDesc, message: &'static str) -> Self {
        if !self.fit(&value.kind) {
            panic!("{}", message);
        }
        self
    }

    /// Whether a type takes all bounds that are set. Those of an array, but for its number of entries, are of its entries.
    const fn fit(&self, kind: &Kind) -> bool {
        let ranges = self.min.is_some() || self.max.is_some();
        let entries = self.items.is_some() || self.min_items.is_some() || self.max_items.is_some();
        match kind {
            Kind::Array(entry) => {
                let of_entries = Self { items: None, min_items: None, max_items: None, ..*self };
                of_entries.fit(&entry.kind)
            }
            Kind::Integer => !entries && !self.bounds_text(),
            Kind::Number => !entries && !self.bounds_text() && self.one_of.is_none(),
            Kind::Text(_) => !entries && !ranges && self.one_of.is_none(),
            _ => !entries && !ranges && !self.bounds_text() && self.one_of.is_none(),
        }
    }

    /// Whether any bound on the length of a text is set.
    #[inline]
    pub(crate) const fn bounds_text(&self) -> bool {
        self.len.is_some() || self.min_len.is_some() || self.max_len.is_some() || self.equals.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_takes_its_own_bounds() {
        const INTEGERS: ValueDesc = ValueDesc::of(Kind::Integer);
        let none = Bounds::NONE;
        let range = Bounds { min: Some(1.0), ..none };
        let choice = Bounds { one_of: Some(&[1, 2]), ..none };
        let length = Bounds { max_len: Some(3), ..none };
        let entries = Bounds { min_items: Some(1), ..none };
        let both = Bounds { max: Some(9.0), ..entries };
        for (kind, takes) in [
            (Kind::Integer, [true, true, false, false, false]),
            (Kind::Number, [true, false, false, false, false]),
            (Kind::Text(TextFormat::Any), [false, false, true, false, false]),
            (Kind::Array(&INTEGERS), [true, true, false, true, true]),
            (Kind::Boolean, [false; 5]),
            (Kind::Object(&[]), [false; 5]),
        ] {
            assert_eq!(
                [range, choice, length, entries, both].map(|bounds| bounds.fit(&kind)),
                takes,
                "{}",
                kind.label()
            );
            assert!(none.fit(&kind), "{}", kind.label());
        }
    }

    #[test]
    #[should_panic(expected = "`heat` has a bound")]
    fn a_bound_that_has_no_effect_is_told() {
        let range = Bounds { min: Some(1.0), ..Bounds::NONE };
        let _ = range.beside(ValueDesc::of(Kind::Boolean), "`heat` has a bound");
    }
}
