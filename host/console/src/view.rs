//! How single values are shown: moments, states, identifiers, amounts, scores. Each writes its own markup, and escapes what it is given.

use askama::Template;
use askama::filters::HtmlSafe;
use intent_gateway_api::name;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Axes;
use serde::Serialize;

/// What a state means to whoever looks, as a colour and a shape beside its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// ● It is as it should be.
    Good,
    /// ◔ It is on its way.
    Moving,
    /// ○ Nothing happens.
    Idle,
    /// ▲ Somebody should look.
    Care,
    /// ■ It is stopped, or failed.
    Bad,
}

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Moving => "moving",
            Self::Idle => "idle",
            Self::Care => "care",
            Self::Bad => "bad",
        }
    }

    fn shape(self) -> char {
        match self {
            Self::Good => '●',
            Self::Moving => '◔',
            Self::Idle => '○',
            Self::Care => '▲',
            Self::Bad => '■',
        }
    }
}

/// A state: its shape and its word.
#[derive(Template)]
#[template(
    source = r#"<span class="chip {{ tone.class() }}"><span aria-hidden="true">{{ tone.shape() }}</span> {{ word }}</span>"#,
    ext = "html"
)]
pub(crate) struct Chip {
    tone: Tone,
    word: String,
}

impl Chip {
    pub(crate) fn new(tone: Tone, word: impl Into<String>) -> Self {
        Self { tone, word: word.into() }
    }
}

impl HtmlSafe for Chip {}

/// A moment, in UTC, to the second.
#[derive(Template)]
#[template(source = r#"<time datetime="{{ exact }}">{{ shown }}</time>"#, ext = "html")]
pub(crate) struct Moment {
    exact: String,
    shown: String,
}

impl Moment {
    /// As the API writes moments.
    pub(crate) fn of_text(exact: &str) -> Self {
        let shown = match (exact.get(..10), exact.get(11..19)) {
            (Some(day), Some(clock)) if exact.ends_with('Z') => format!("{day} {clock} UTC"),
            _ => exact.to_owned(),
        };
        Self { exact: exact.to_owned(), shown }
    }

    pub(crate) fn of(at: Timestamp) -> Self {
        Self::of_text(&intent_gateway_api::time(at))
    }
}

impl HtmlSafe for Moment {}

/// An identifier or a digest: cut in the middle where it is long, whole for whoever points at it or copies it. The button that copies
/// it is for scripts alone, and not shown without.
#[derive(Template)]
#[template(
    source = r#"{% if is_cut %}<code class="id" title="{{ whole }}">{{ head }}…{{ tail }}</code>{% if !is_linked %}{{ CopyButton::of(whole) }}{% endif %}{% else %}<code class="id">{{ whole }}</code>{% endif %}"#,
    ext = "html"
)]
pub(crate) struct Ident {
    whole: String,
    head: String,
    tail: String,
    is_cut: bool,
    is_linked: bool,
}

/// Where a notice stands, in a shape and a word.
pub(crate) fn notice_chip(state: &str) -> Chip {
    match state {
        "upcoming" => Chip::new(Tone::Moving, "upcoming"),
        "in_effect" => Chip::new(Tone::Good, "in effect"),
        other => Chip::new(Tone::Idle, other),
    }
}

/// Copies an identifier.
#[derive(Template)]
#[template(
    source = r#"<button type="button" class="copy" data-copy="{{ whole }}" aria-label="Copy {{ whole }}"><svg viewBox="0 0 16 16" aria-hidden="true"><rect x="5.5" y="1.5" width="9" height="10" rx="1.5"/><path d="M10.5 11.5v2a1 1 0 0 1-1 1h-7a1 1 0 0 1-1-1v-8a1 1 0 0 1 1-1h3"/></svg></button>"#,
    ext = "html"
)]
struct CopyButton<'a> {
    whole: &'a str,
}

impl<'a> CopyButton<'a> {
    fn of(whole: &'a str) -> Self {
        Self { whole }
    }
}

impl HtmlSafe for CopyButton<'_> {}

/// Characters of an identifier that are shown.
const IDENT_MAX_CHARS: usize = 26;
/// Of these, how many of its end.
const IDENT_TAIL_CHARS: usize = 6;

impl Ident {
    pub(crate) fn new(whole: impl Into<String>) -> Self {
        let whole = whole.into();
        let count = whole.chars().count();
        let is_cut = count > IDENT_MAX_CHARS;
        let head = whole.chars().take(IDENT_MAX_CHARS - IDENT_TAIL_CHARS - 1).collect();
        let tail = whole.chars().skip(count.saturating_sub(IDENT_TAIL_CHARS)).collect();
        Self { whole, head, tail, is_cut, is_linked: false }
    }

    /// The same within a link, where no button can stand; [`Ident::copy`] comes after it.
    pub(crate) fn linked(whole: impl Into<String>) -> Self {
        Self { is_linked: true, ..Self::new(whole) }
    }

    /// The button of an identifier that is cut.
    pub(crate) fn copy(whole: impl Into<String>) -> Copying {
        let Self { whole, is_cut, .. } = Self::new(whole);
        Copying { whole, is_cut }
    }
}

impl HtmlSafe for Ident {}

/// The button beside a link that shows an identifier.
#[derive(Template)]
#[template(source = r#"{% if is_cut %}{{ CopyButton::of(whole) }}{% endif %}"#, ext = "html")]
pub(crate) struct Copying {
    whole: String,
    is_cut: bool,
}

impl HtmlSafe for Copying {}

/// What an option's rank is made of: a segment for each axis, as long as its weight times its score.
#[derive(Template)]
#[template(
    source = r#"<svg class="axes" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="{{ label }}">{% for segment in segments %}<rect class="axis-{{ segment.name }}" x="{{ segment.from }}" y="0" width="{{ segment.length }}" height="8"><title>{{ segment.name }}: {{ segment.score }} of {{ segment.weight }}</title></rect>{% endfor %}</svg>"#,
    ext = "html"
)]
pub(crate) struct AxisBar {
    segments: Vec<Segment>,
    label: String,
}

struct Segment {
    name: &'static str,
    from: String,
    length: String,
    score: String,
    weight: String,
}

impl AxisBar {
    pub(crate) fn new(scores: Axes, weights: Axes) -> Self {
        let axes = [
            ("time", scores.time, weights.time),
            ("taste", scores.taste, weights.taste),
            ("budget", scores.budget, weights.budget),
            ("safety", scores.safety, weights.safety),
        ];
        let mut from = 0.0;
        let mut segments = Vec::new();
        for (name, score, weight) in axes {
            let length = 100.0 * score * weight;
            segments.push(Segment {
                name,
                from: format!("{from:.2}"),
                length: format!("{length:.2}"),
                score: share(score),
                weight: share(weight),
            });
            from += length;
        }
        let label = segments.iter().map(|one| format!("{} {}", one.name, one.score)).collect::<Vec<_>>().join(", ");
        Self { segments, label }
    }
}

impl HtmlSafe for AxisBar {}

/// How a tool stands against what was accepted of it.
pub(crate) fn standing_chip(standing: &impl Serialize) -> Chip {
    let (tone, word) = match name(standing).as_str() {
        "as_accepted" => (Tone::Good, "as accepted"),
        "changed" => (Tone::Care, "changed"),
        "new" => (Tone::Moving, "new"),
        "gone" => (Tone::Bad, "gone"),
        _ => (Tone::Idle, "not seen"),
    };
    Chip::new(tone, word)
}

/// What of a tool is another, in words.
pub(crate) fn change_in_words(change: &impl Serialize) -> &'static str {
    match name(change).as_str() {
        "SCHEMA_CHANGED" => "schema",
        "DESCRIPTION_CHANGED" => "description",
        "TERMS_CHANGED" => "terms",
        _ => "something else",
    }
}

/// A share or a score, to three digits.
pub(crate) fn share(value: f64) -> String {
    format!("{value:.3}")
}

/// A count with its thousands apart.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push('\u{202f}');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_text() {
        let hostile = "<b onclick='x'>\"&";
        for shown in [
            Chip::new(Tone::Good, hostile).to_string(),
            Moment::of_text(hostile).to_string(),
            Ident::new(hostile).to_string(),
            Ident::new(hostile.repeat(9)).to_string(),
            Ident::linked(hostile.repeat(9)).to_string(),
            Ident::copy(hostile.repeat(9)).to_string(),
        ] {
            assert!(!shown.contains("<b ") && !shown.contains("'x'"), "{shown}");
        }
    }

    #[test]
    fn moments_identifiers_and_counts_are_short() {
        let at = Moment::of(Timestamp::from_ms(1_779_000_000_123));
        assert!(at.to_string().contains(">2026-05-17 06:40:00 UTC<"), "{at}");
        assert!(Ident::new("ptr_0123456789").to_string().contains(">ptr_0123456789<"));
        let long = Ident::new("0123456789abcdef0123456789abcdef").to_string();
        assert!(
            long.contains(">0123456789abcdef012…abcdef<")
                && long.contains("title=\"0123456789abcdef0123456789abcdef\"")
        );
        assert!(long.contains("data-copy=\"0123456789abcdef0123456789abcdef\""));
        assert!(!Ident::linked("0123456789abcdef0123456789abcdef").to_string().contains("<button"));
        assert_eq!(Ident::copy("short").to_string(), "");
        assert_eq!([count(7), count(1_234), count(1_234_567)], ["7", "1\u{202f}234", "1\u{202f}234\u{202f}567"]);
    }

    #[test]
    fn a_bar_is_as_long_as_the_total() {
        let axes = |time, taste, budget, safety| Axes { time, taste, budget, safety };
        let bar = AxisBar::new(axes(1.0, 0.5, 0.0, 1.0), axes(0.25, 0.25, 0.25, 0.25)).to_string();
        assert!(bar.contains(r#"class="axis-safety" x="37.50" y="0" width="25.00""#), "{bar}");
        assert!(bar.contains(r#"aria-label="time 1.000, taste 0.500, budget 0.000, safety 1.000""#), "{bar}");
    }
}
