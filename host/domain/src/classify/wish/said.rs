//! The words of an utterance, with what they may do in it and where one part ends and another begins.

use std::ops::Range;

use super::vocabulary::{Roles, roles_of};
use crate::classify::words::UTTERANCE_MAX_WORDS;

/// What stands between two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    /// Nothing that parts them.
    None,
    /// A comma and the like: a part of the sentence ends.
    Comma,
    /// The sentence ends.
    Stop,
}

#[derive(Debug)]
struct Word<'a> {
    text: &'a str,
    /// Its first byte in the utterance.
    start: usize,
    roles: Roles,
    /// What stands before it.
    joint: Joint,
}

/// An utterance in lower case, word by word.
#[derive(Debug)]
pub(super) struct Said<'a>(Vec<Word<'a>>);

impl<'a> Said<'a> {
    pub(super) fn read(lower: &'a str) -> Self {
        let mut words: Vec<Word<'_>> = Vec::with_capacity(lower.len() / 4);
        let mut end = 0;
        let mut rest = lower.char_indices().peekable();
        while let Some((start, letter)) = rest.next() {
            if !letter.is_alphanumeric() {
                continue;
            }
            if words.len() == UTTERANCE_MAX_WORDS {
                break;
            }
            let joint = match words.last() {
                None => Joint::Stop,
                Some(last) => joint_of(&lower[end..start], last.text),
            };
            end = start + letter.len_utf8();
            while let Some((at, letter)) = rest.next_if(|(_, letter)| letter.is_alphanumeric()) {
                end = at + letter.len_utf8();
            }
            let text = &lower[start..end];
            words.push(Word { text, start, roles: roles_of(text), joint });
        }
        let mut said = Self(words);
        said.take_back_roles();
        said
    }

    /// Words that do another thing before or after certain others.
    fn take_back_roles(&mut self) {
        for at in 0..self.len() {
            let asks_to_know =
                matches!((self.word(at + 1), self.word(at + 2)), ("to", "know" | "understand" | "ask" | "hear"))
                    || self.reads(at + 1, &["to", "learn", "about"]);
            let tells = at > 0 && matches!(self.word(at - 1), "explain" | "samjha" | "bata" | "define" | "clear");
            let word = &mut self.0[at];
            if asks_to_know {
                word.roles = word.roles.without(Roles::WANT);
            }
            if tells {
                word.roles = word.roles.without(Roles::REQUEST);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The word at a place, or none as the empty text.
    pub(super) fn word(&self, at: usize) -> &'a str {
        self.0.get(at).map_or("", |word| word.text)
    }

    /// The word at a place, if it stands in this part of the sentence, or none as the empty text.
    pub(super) fn word_in(&self, part: &Range<usize>, at: usize) -> &'a str {
        if part.contains(&at) { self.word(at) } else { "" }
    }

    pub(super) fn has(&self, at: usize, roles: Roles) -> bool {
        self.0.get(at).is_some_and(|word| word.roles.meets(roles))
    }

    /// Whether one of the words has one of the roles.
    pub(super) fn holds(&self, words: Range<usize>, roles: Roles) -> bool {
        self.0.get(words).is_some_and(|words| words.iter().any(|word| word.roles.meets(roles)))
    }

    /// Whether one of the words is one of these.
    pub(super) fn says(&self, words: Range<usize>, any: &[&str]) -> bool {
        self.0.get(words).is_some_and(|words| words.iter().any(|word| any.contains(&word.text)))
    }

    /// Whether these words stand here in a row.
    pub(super) fn reads(&self, at: usize, phrase: &[&str]) -> bool {
        phrase.iter().enumerate().all(|(offset, word)| self.word(at + offset) == *word)
    }

    /// Where a sentence ends, from any of its words.
    pub(super) fn sentence_end(&self, at: usize) -> usize {
        (at + 1..self.len()).find(|next| self.0[*next].joint == Joint::Stop).unwrap_or(self.len())
    }

    /// Whether a part of a sentence begins here: after a sign, or with a word that joins it to the part before.
    pub(super) fn is_part_start(&self, at: usize) -> bool {
        self.0[at].joint != Joint::None || self.0[at].roles.meets(Roles::JOINING)
    }

    /// The parts of a sentence.
    pub(super) fn parts(&self, sentence: Range<usize>) -> Vec<Range<usize>> {
        let mut parts: Vec<Range<usize>> = Vec::new();
        for at in sentence {
            match parts.last_mut() {
                Some(part) if !self.is_part_start(at) => part.end = at + 1,
                _ => parts.push(at..at + 1),
            }
        }
        parts
    }

    /// Where the part of a word begins.
    pub(super) fn part_start(&self, at: usize) -> usize {
        (0..=at).rev().find(|start| self.is_part_start(*start)).unwrap_or(0)
    }

    /// Whether only words that lead into something stand before this one in its part.
    pub(super) fn is_led_into(&self, at: usize) -> bool {
        (self.part_start(at)..at).all(|before| self.has(before, Roles::LEAD_IN | Roles::JOINING))
    }

    /// Where what begins here ends: with the part, or where the user begins anew ("i", "just").
    pub(super) fn clause_end(&self, from: usize) -> usize {
        let ends = |at: &usize| self.is_part_start(*at) || self.has(*at, Roles::RESTART);
        (from..self.len()).find(ends).unwrap_or(self.len())
    }

    /// The bytes of a range of words, which is not empty.
    pub(super) fn bytes(&self, words: &Range<usize>) -> Range<usize> {
        let last = &self.0[words.end - 1];
        self.0[words.start].start..last.start + last.text.len()
    }
}

/// What the signs between two words say.
fn joint_of(between: &str, before: &str) -> Joint {
    // A full stop after one letter shortens a word ("a.m."), and one inside a number parts nothing.
    let full_stop = before.len() > 1 && between.starts_with('.') && between.len() > 1;
    if full_stop || between.contains(['?', '!', ';', '\n']) {
        Joint::Stop
    } else if between.contains([',', ':', '(', ')', '–', '—', '&', '+']) || between == " - " {
        Joint::Comma
    } else {
        Joint::None
    }
}
