//! What of an utterance is a wish: all but questions for information and what the user declines.
//!
//! "How does a car AC work" wants an answer and no garage; "no insurance, just fix the AC" wants one thing and not the
//! other. Contracts hear neither part, so none has to tell them from wishes by its own words. What is left out is found by
//! the words that people ask and decline with, in English and in Hindi as it is written in Latin letters. No rule knows an
//! intent. In doubt a part stays in:
//!
//! 1. A question is for information if it asks what something is, means or does, how it works, why it is so, since when,
//!    or whether something is true of it (`questions`). It is none where it asks for a price, a time or a place, is about
//!    something of the user's own, or holds a request: "what does a yoga class near me cost", "why is my AC so loud".
//!    What a word means, how things differ and how they work is information even about the user's own things.
//! 2. It reaches to the end of its sentence, or to the part that wishes for something.
//! 3. Where the wish beside it names its object by a pronoun ("What is hot yoga? Book me one."), nothing is left out as a
//!    question: it says what is wished.
//! 4. What is declined is a bare thing after words that decline wishes (`refusals`): "I don't need", "not looking for",
//!    "forget the", "nahi chahiye". Declining a part or a quality of it ("not in the morning", "not at home") declines no
//!    wish. A plain "no" declines only beside what is wanted instead ("just", "only"), or with "needed", "please",
//!    "thanks": alone it is a complaint or a fact ("no cold air", "no insurance on my bike").
//!
//! Pure, and bounded by [`UTTERANCE_MAX_WORDS`](super::words::UTTERANCE_MAX_WORDS): what comes after is left as it is.

mod questions;
mod refusals;
mod said;
mod vocabulary;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use self::said::Said;
use self::vocabulary::Roles;

/// The utterance without what is not a wish; the utterance itself where all of it may be one.
pub(super) fn keep_wishes(utterance: &str) -> Cow<'_, str> {
    // Of ASCII letters only, so that a place in the one text is the same place in the other.
    let lower = utterance.to_ascii_lowercase();
    let said = Said::read(&lower);
    if !said.holds(0..said.len(), Roles::ASKING | Roles::DECLINING) {
        return Cow::Borrowed(utterance);
    }
    let mut left_out = refusals::find_refusals(&said);
    left_out.extend(questions::find_questions(&said, &left_out));
    if left_out.is_empty() {
        return Cow::Borrowed(utterance);
    }
    left_out.sort_unstable_by_key(|words| words.start);
    Cow::Owned(cut(utterance, left_out.iter().map(|words| said.bytes(words))))
}

/// The text without some ranges, in ascending order of their starts, and with a comma in place of each: what stood apart
/// does not become a phrase, and two wishes stay two.
fn cut(text: &str, ranges: impl Iterator<Item = Range<usize>>) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        if range.start >= from {
            kept.push_str(&text[from..range.start]);
            kept.push(',');
        }
        from = from.max(range.end);
    }
    kept.push_str(&text[from..]);
    kept
}
