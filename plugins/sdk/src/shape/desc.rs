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

/// Bounds beside a field. All are inclusive; those that do not fit the field's type have no effect.
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

    /// Whether any bound on the length of a text is set.
    #[inline]
    pub(crate) const fn bounds_text(&self) -> bool {
        self.len.is_some() || self.min_len.is_some() || self.max_len.is_some() || self.equals.is_some()
    }
}
