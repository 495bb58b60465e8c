//! Classification by a lexicon: weighted groups of phrases for and against, declared as tables.
//!
//! Deterministic and explainable: the same words give the same score, and the evidence says which words
//! they were. A phrase matches whole words in a row, whatever their case and punctuation. Words of five
//! letters and more may be misspelt a little.
//!
//! The score is `1 - product(1 - weight)` over the claims that match, times `1 - weight` of each referral
//! that matches. From 0.5 the contract claims the utterance.

use crate::bindings::{Classification, PointerElsewhere};

/// Words of an utterance that are looked at; people who ask for something use fewer.
pub const MAX_WORDS: usize = 200;

/// Letters from which a word may be misspelt by one letter, and from which by two.
const ONE_TYPO_FROM: usize = 5;
const TWO_TYPOS_FROM: usize = 8;

/// Longest word that is compared with typos; longer ones have to be exact.
const MAX_TYPO_LETTERS: usize = 24;

/// Phrases any of which will do.
pub type AnyOf = &'static [&'static str];

/// A reason to claim an utterance.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// What the user is after, for example "AC not cooling".
    pub name: &'static str,
    /// 0..=1: how much it says.
    pub weight: f64,
    /// One phrase of each group must occur.
    pub all: &'static [AnyOf],
}

/// A reason to leave an utterance to another intent.
#[derive(Debug, Clone, Copy)]
pub struct Referral {
    /// The intent it belongs to, where there is one.
    pub intent: Option<&'static str>,
    /// One sentence: why.
    pub reason: &'static str,
    /// 0..=1: how much of the score it takes away.
    pub weight: f64,
    /// One phrase of each group must occur.
    pub all: &'static [AnyOf],
    /// The referral does not hold if one of these occurs.
    pub unless: AnyOf,
}

/// An intent that is proposed together with this one.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    pub intent: &'static str,
    /// Phrases that ask for it.
    pub any: AnyOf,
}

/// The words by which a contract knows its utterances.
#[derive(Debug, Clone, Copy)]
pub struct Lexicon {
    /// Lower-case words one of which occurs in every utterance that may concern the contract.
    pub cues: &'static [&'static str],
    pub claims: &'static [Claim],
    pub referrals: &'static [Referral],
    pub pairs: &'static [Pair],
}

impl Lexicon {
    /// Judges an utterance.
    pub fn classify(&self, utterance: &str) -> Classification {
        let lower = utterance.to_lowercase();
        let said: Vec<&str> = words(&lower).take(MAX_WORDS).collect();
        let mut doubt = 1.0;
        let mut evidence: Vec<String> = Vec::new();
        for claim in self.claims {
            if let Some(found) = all_occur(claim.all, &said) {
                doubt *= 1.0 - claim.weight;
                evidence.push(format!("{}: {}", claim.name, found.join(" + ")));
            }
        }
        let mut score = 1.0 - doubt;
        let mut elsewhere = Vec::new();
        for referral in self.referrals {
            if any_occurs(referral.unless, &said).is_some() {
                continue;
            }
            if let Some(found) = all_occur(referral.all, &said) {
                score *= 1.0 - referral.weight;
                evidence.push(format!("not here: {}", found.join(" + ")));
                elsewhere.extend(referral.intent.map(|intent| PointerElsewhere {
                    intent: intent.to_owned(),
                    score: referral.weight,
                    reason: referral.reason.to_owned(),
                }));
            }
        }
        elsewhere
            .sort_by(|left, right| right.score.total_cmp(&left.score).then_with(|| left.intent.cmp(&right.intent)));
        elsewhere.dedup_by(|later, earlier| later.intent == earlier.intent);
        let also = self.pairs.iter().filter(|pair| any_occurs(pair.any, &said).is_some());
        Classification { score, evidence, elsewhere, also: also.map(|pair| pair.intent.to_owned()).collect() }
    }
}

/// The words of a text: runs of letters and digits. An apostrophe or a slash parts words.
fn words(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn all_occur(groups: &[AnyOf], said: &[&str]) -> Option<Vec<String>> {
    groups.iter().map(|group| any_occurs(group, said)).collect()
}

/// The first phrase that occurs, in the words of the utterance.
fn any_occurs(phrases: AnyOf, said: &[&str]) -> Option<String> {
    phrases.iter().find_map(|phrase| {
        let wanted = words(phrase);
        let length = wanted.clone().count();
        if length == 0 {
            return None;
        }
        let found = said
            .windows(length)
            .find(|window| window.iter().zip(wanted.clone()).all(|(word, want)| alike(word, want)))?;
        Some(found.join(" "))
    })
}

/// Whether a word is the wanted one, spelt right or nearly so.
fn alike(word: &str, wanted: &str) -> bool {
    if word == wanted {
        return true;
    }
    let shorter = word.len().min(wanted.len());
    let allowed = match shorter {
        TWO_TYPOS_FROM.. => 2,
        ONE_TYPO_FROM.. => 1,
        _ => return false,
    };
    word.len().max(wanted.len()) <= MAX_TYPO_LETTERS
        && word.len().abs_diff(wanted.len()) <= allowed
        // A slip in the first letter is rare, and it would make "cooling" out of "pooling".
        && word.as_bytes().first() == wanted.as_bytes().first()
        && edits(word.as_bytes(), wanted.as_bytes()) <= allowed
}

/// Letters to insert, drop, change, or swap with their neighbour to make one word of the other.
fn edits(from: &[u8], to: &[u8]) -> usize {
    let mut before = [0; MAX_TYPO_LETTERS + 1];
    let mut last = [0; MAX_TYPO_LETTERS + 1];
    for (index, cell) in last.iter_mut().enumerate() {
        *cell = index;
    }
    for (row, letter) in from.iter().enumerate() {
        let mut now = [0; MAX_TYPO_LETTERS + 1];
        now[0] = row + 1;
        for (column, other) in to.iter().enumerate() {
            let change = last[column] + usize::from(letter != other);
            let mut least = change.min(last[column + 1] + 1).min(now[column] + 1);
            if row > 0 && column > 0 && letter == &to[column - 1] && &from[row - 1] == other {
                least = least.min(before[column - 1] + 1);
            }
            now[column + 1] = least;
        }
        before = last;
        last = now;
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEXICON: Lexicon = Lexicon {
        cues: &["tea"],
        claims: &[Claim { name: "tea wanted", weight: 0.8, all: &[&["tea", "cup of char"], &["brew", "kettle on"]] }],
        referrals: &[Referral {
            intent: Some("food.coffee"),
            reason: "Coffee is not tea.",
            weight: 0.9,
            all: &[&["coffee"]],
            unless: &["instead of coffee"],
        }],
        pairs: &[Pair { intent: "food.biscuit", any: &["biscuits"] }],
    };

    #[test]
    fn every_group_must_occur() {
        assert_eq!(LEXICON.classify("Tea?").score, 0.0);
        let found = LEXICON.classify("Please BREW some tea, and biscuits!");
        assert!(found.score > 0.79);
        assert_eq!(found.evidence, ["tea wanted: tea + brew"]);
        assert_eq!(found.also, ["food.biscuit"]);
        assert!(LEXICON.classify("put the kettle-on for a cup of char").score > 0.79);
        assert_eq!(LEXICON.classify("team brewery").score, 0.0);
    }

    #[test]
    fn referrals_take_away_unless_excepted() {
        let found = LEXICON.classify("brew tea or coffee");
        assert!(found.score < 0.5);
        assert_eq!(found.elsewhere[0].intent, "food.coffee");
        assert!(LEXICON.classify("brew tea instead of coffee").elsewhere.is_empty());
    }

    #[test]
    fn long_words_may_be_misspelt_a_little() {
        for (word, wanted, expected) in [
            ("compresser", "compressor", true),
            ("comprasser", "compressor", true),
            ("refridgerant", "refrigerant", true),
            ("cooilng", "cooling", true),
            ("colling", "cooling", true),
            ("pooling", "cooling", false),
            ("vent", "went", false),
            ("vemt", "vent", false),
            ("smell", "shells", false),
            ("filter", "filters", true),
            ("", "filter", false),
        ] {
            assert_eq!(alike(word, wanted), expected, "{word} for {wanted}");
        }
    }
}
