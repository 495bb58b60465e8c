//! Classification by a lexicon: weighted groups of phrases for and against, declared as tables.
//!
//! Deterministic and explainable: the same words give the same score, and the evidence is the words that gave it.
//! A phrase matches whole words in a row, whatever their case and punctuation. Words of five letters may be
//! misspelt by one letter, words of eight by two, the first letter excepted. A word that the lexicon itself contains
//! is never read as a misspelling of another: where "police" is in a table, it does not stand for "policy".
//!
//! The score is `1 - product(1 - weight)` over the claims that match, times `1 - weight` of each referral
//! that matches. From 0.5 the contract claims the utterance.
//!
//! ```
//! use contract_sdk::any_of;
//! use contract_sdk::lexicon::{AnyOf, Claim, Lexicon, vehicles};
//!
//! const WASH: AnyOf = &["wash", "washed", "cleaning"];
//! const CAR: AnyOf = any_of![vehicles::CAR, vehicles::CAR_MODELS, &["limousine"]];
//! const LEXICON: Lexicon = Lexicon {
//!     cues: WASH,
//!     claims: &[Claim { name: "car wash", weight: 0.8, all: &[CAR, WASH] }],
//!     referrals: &[],
//!     pairs: &[],
//! };
//!
//! let found = LEXICON.classify("Clening of my car, please");
//! assert_eq!(found.evidence, ["clening", "car"]);
//! assert!(found.score >= 0.5);
//! ```

#[rustfmt::skip]
pub mod vehicles;

use std::collections::BTreeSet;

use crate::bindings::{Classification, PointerElsewhere};

/// Words of an utterance that are looked at; people who ask for something use fewer.
pub const MAX_WORDS: usize = 200;

/// Letters from which a word may be misspelt by one letter, and from which by two.
const ONE_TYPO_FROM: usize = 5;
const TWO_TYPOS_FROM: usize = 8;

/// Longest word that is compared with typos; longer ones have to be exact.
const MAX_TYPO_LETTERS: usize = 24;

/// Words before a phrase that say that it is not wanted, and words that may stand between.
const REFUSING: &[&str] = &["no", "not", "skip", "without", "bina"];
const FILLERS: &[&str] = &["a", "an", "the", "any", "my"];
/// Words after it that say so.
const REFUSED: &[[&str; 2]] = &[
    ["not", "needed"],
    ["not", "required"],
    ["not", "wanted"],
    ["nahi", "chahiye"],
    ["nahin", "chahiye"],
    ["nhi", "chahiye"],
    ["nahi", "karna"],
    ["nahi", "karwana"],
];

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
    /// Phrases that ask for it, unless the user declines them ("no cab", "cab nahi chahiye").
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

/// Joins groups of phrases into one: `any_of![CAR, &["limousine"]]`.
#[macro_export]
macro_rules! any_of {
    ($($group:expr),+ $(,)?) => {{
        const GROUPS: &[$crate::lexicon::AnyOf] = &[$($group),+];
        const JOINED: [&str; $crate::lexicon::phrases_in(GROUPS)] = $crate::lexicon::join(GROUPS);
        &JOINED
    }};
}

/// How many phrases some groups hold. Part of [`any_of!`].
#[doc(hidden)]
#[must_use]
pub const fn phrases_in(groups: &[AnyOf]) -> usize {
    let (mut count, mut group) = (0, 0);
    while group < groups.len() {
        count += groups[group].len();
        group += 1;
    }
    count
}

/// The phrases of some groups. Part of [`any_of!`].
#[doc(hidden)]
#[must_use]
pub const fn join<const COUNT: usize>(groups: &[AnyOf]) -> [&'static str; COUNT] {
    let mut joined = [""; COUNT];
    let (mut at, mut group) = (0, 0);
    while group < groups.len() {
        let mut phrase = 0;
        while phrase < groups[group].len() {
            joined[at] = groups[group][phrase];
            (at, phrase) = (at + 1, phrase + 1);
        }
        group += 1;
    }
    joined
}

impl Lexicon {
    /// Judges an utterance.
    #[must_use]
    pub fn classify(&self, utterance: &str) -> Classification {
        let lower = utterance.to_lowercase();
        let said = self.read(&lower);
        let mut doubt = 1.0;
        let mut evidence: BTreeSet<(usize, &str)> = BTreeSet::new();
        for claim in self.claims {
            if let Some(found) = all_occur(claim.all, &said) {
                doubt *= 1.0 - claim.weight;
                evidence.extend(found);
            }
        }
        let mut score = 1.0 - doubt;
        let mut elsewhere = Vec::new();
        for referral in self.referrals {
            if any_occurs(referral.unless, &said).is_some() || all_occur(referral.all, &said).is_none() {
                continue;
            }
            score *= 1.0 - referral.weight;
            elsewhere.extend(referral.intent.map(|intent| PointerElsewhere {
                intent: intent.to_owned(),
                score: referral.weight,
                reason: referral.reason.to_owned(),
            }));
        }
        elsewhere
            .sort_by(|left, right| right.score.total_cmp(&left.score).then_with(|| left.intent.cmp(&right.intent)));
        elsewhere.dedup_by(|later, earlier| later.intent == earlier.intent);
        let also = self.pairs.iter().filter(|pair| is_wished(pair.any, &said));
        Classification {
            score,
            evidence: evidence.into_iter().map(|(_, word)| word.to_owned()).collect(),
            elsewhere,
            also: also.map(|pair| pair.intent.to_owned()).collect(),
        }
    }

    /// What may be said without a cue, and so would not wake the contract: claims by name, referrals by reason. A
    /// claim is heard when each phrase of one of its groups has a cue in it. For a contract's tests.
    #[must_use]
    pub fn unheard(&self) -> Vec<&'static str> {
        let has_cue = |phrase: &&str| {
            let phrase: Vec<&str> = words(phrase).collect();
            self.cues.iter().any(|cue| {
                let cue: Vec<&str> = words(cue).collect();
                !cue.is_empty() && phrase.windows(cue.len()).any(|window| window == cue)
            })
        };
        let heard = |all: &[AnyOf]| all.iter().any(|group| group.iter().all(has_cue));
        let claims = self.claims.iter().filter(|claim| !heard(claim.all)).map(|claim| claim.name);
        // A referral to no intent only lowers a score, so it need not wake anybody.
        let named = self.referrals.iter().filter(|referral| referral.intent.is_some());
        claims.chain(named.filter(|referral| !heard(referral.all)).map(|referral| referral.reason)).collect()
    }

    /// The words of an utterance, each marked if the lexicon spells it.
    fn read<'a>(&self, lower: &'a str) -> Vec<Said<'a>> {
        let mut said: Vec<Said<'_>> = words(lower)
            .take(MAX_WORDS)
            .map(|word| Said { word, letters: word.chars().count(), known: false })
            .collect();
        for own in self.phrases().flat_map(words) {
            for one in said.iter_mut().filter(|one| one.word == own) {
                one.known = true;
            }
        }
        said
    }

    fn phrases(&self) -> impl Iterator<Item = &'static str> {
        let claims = self.claims.iter().flat_map(|claim| claim.all).copied();
        let referrals =
            self.referrals.iter().flat_map(|referral| referral.all.iter().chain([&referral.unless])).copied();
        let pairs = self.pairs.iter().map(|pair| pair.any);
        claims.chain(referrals).chain(pairs).flatten().copied()
    }
}

/// A word of an utterance.
struct Said<'a> {
    word: &'a str,
    letters: usize,
    /// Whether it stands in the lexicon as it is.
    known: bool,
}

/// The words of a text: runs of letters and digits. An apostrophe or a slash parts words.
fn words(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// One phrase of each group: the words of the utterance with their positions.
fn all_occur<'a>(groups: &[AnyOf], said: &[Said<'a>]) -> Option<Vec<(usize, &'a str)>> {
    let mut found = Vec::new();
    for group in groups {
        let (start, length) = any_occurs(group, said)?;
        found.extend((start..start + length).map(|at| (at, said[at].word)));
    }
    Some(found)
}

/// Whether one of the phrases occurs and is not declined: "no cab", "skip the general service", "cab nahi chahiye".
fn is_wished(phrases: AnyOf, said: &[Said<'_>]) -> bool {
    let is_declined = |(start, length): (usize, usize)| {
        let before = said[..start].iter().rev().find(|one| !FILLERS.contains(&one.word));
        let after: Vec<&str> = said[start + length..].iter().take(2).map(|one| one.word).collect();
        before.is_some_and(|one| REFUSING.contains(&one.word)) || REFUSED.iter().any(|refused| after == *refused)
    };
    any_occurs(phrases, said).is_some_and(|found| !is_declined(found))
}

/// Where the first phrase that occurs begins, and how many words it has.
fn any_occurs(phrases: AnyOf, said: &[Said<'_>]) -> Option<(usize, usize)> {
    phrases.iter().find_map(|phrase| {
        let wanted = words(phrase);
        let length = wanted.clone().count();
        if length == 0 {
            return None;
        }
        let occurs = |window: &[Said<'_>]| window.iter().zip(wanted.clone()).all(|(word, want)| word.means(want));
        said.windows(length).position(occurs).map(|start| (start, length))
    })
}

impl Said<'_> {
    /// Whether the wanted word was said, spelt right or nearly so.
    fn means(&self, wanted: &str) -> bool {
        if self.word == wanted {
            return true;
        }
        // A slip in the first letter is rare, and it would make "cooling" out of "pooling".
        self.word.chars().next() == wanted.chars().next()
            && (!self.known || self.is_plural_of(wanted))
            && self.is_near(wanted)
    }

    /// Whether the two differ by a plural's `s` only: a table that has one of them means both.
    fn is_plural_of(&self, wanted: &str) -> bool {
        self.word.strip_suffix('s') == Some(wanted) || wanted.strip_suffix('s') == Some(self.word)
    }

    fn is_near(&self, wanted: &str) -> bool {
        let wanted_letters = wanted.chars().count();
        let allowed = match self.letters.min(wanted_letters) {
            TWO_TYPOS_FROM.. => 2,
            ONE_TYPO_FROM.. => 1,
            _ => return false,
        };
        self.letters.max(wanted_letters) <= MAX_TYPO_LETTERS
            && self.letters.abs_diff(wanted_letters) <= allowed
            && edits(self.word, wanted) <= allowed
    }
}

/// Letters to insert, drop, change, or swap with their neighbour to make one word of the other. Neither is longer
/// than [`MAX_TYPO_LETTERS`].
fn edits(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
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
            if row > 0 && column > 0 && *letter == to[column - 1] && from[row - 1] == *other {
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
        assert_eq!(found.evidence, ["brew", "tea"]);
        assert_eq!(found.also, ["food.biscuit"]);
        assert!(LEXICON.classify("put the kettle-on for a cup of char").score > 0.79);
        assert_eq!(LEXICON.classify("team brewery").score, 0.0);
    }

    #[test]
    fn a_pair_that_is_declined_is_not_proposed() {
        for utterance in [
            "brew tea, no biscuits",
            "brew tea and skip the biscuits",
            "tea brew karo, biscuits nahi chahiye",
            "brew tea, biscuits not needed",
        ] {
            assert!(LEXICON.classify(utterance).also.is_empty(), "{utterance}");
        }
        assert_eq!(LEXICON.classify("brew tea, not coffee, and biscuits").also, ["food.biscuit"]);
    }

    #[test]
    fn referrals_take_away_unless_excepted() {
        let found = LEXICON.classify("brew tea or coffee");
        assert!(found.score < 0.5);
        assert_eq!(found.elsewhere[0].intent, "food.coffee");
        assert!(LEXICON.classify("brew tea instead of coffee").elsewhere.is_empty());
    }

    #[test]
    fn what_the_lexicon_spells_is_no_misspelling() {
        let policy = Lexicon {
            cues: &["policy"],
            claims: &[Claim { name: "policy", weight: 0.8, all: &[&["policy", "filter"]] }],
            referrals: &[],
            pairs: &[],
        };
        assert!(policy.classify("police").score > 0.5);
        const POLICE: Referral = Referral {
            intent: None,
            reason: "A matter for the police.",
            weight: 0.1,
            all: &[&["police", "filters"], &["station"]],
            unless: &[],
        };
        let careful = Lexicon { referrals: &[POLICE], ..policy };
        assert_eq!(careful.classify("police").score, 0.0);
        assert!(careful.classify("poliyc").score > 0.5);
        // A plural is the same word.
        assert!(careful.classify("filters").score > 0.5);
    }

    #[test]
    fn what_has_no_cue_is_named() {
        assert_eq!(LEXICON.unheard(), ["tea wanted", "Coffee is not tea."]);
        assert!(Lexicon { cues: &["tea", "char", "coffee"], ..LEXICON }.unheard().is_empty());
        assert_eq!(Lexicon { cues: &["brew", "kettle"], ..LEXICON }.unheard(), ["Coffee is not tea."]);
    }

    #[test]
    fn evidence_is_what_was_said_in_order_and_once() {
        let twice = Lexicon {
            claims: &[
                Claim { name: "tea", weight: 0.3, all: &[&["cup of char", "tea"]] },
                Claim { name: "brew", weight: 0.3, all: &[&["brew"], &["tea", "cup of char"]] },
            ],
            referrals: &[],
            ..LEXICON
        };
        assert_eq!(twice.classify("brew a cup of char").evidence, ["brew", "cup", "of", "char"]);
    }

    #[test]
    fn letters_are_counted_and_not_bytes() {
        // Four letters in eight bytes: too short for a slip.
        let said = Said { word: "čššž", letters: 4, known: false };
        assert!(!said.means("čšžž"));
        let said = Said { word: "čšššš", letters: 5, known: false };
        assert!(said.means("čšžšš"));
    }

    #[test]
    fn groups_are_joined_in_order() {
        const JOINED: AnyOf = any_of![&["a", "b"], &[], &["c"]];
        assert_eq!(JOINED, ["a", "b", "c"]);
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
            let said = Said { word, letters: word.chars().count(), known: false };
            assert_eq!(said.means(wanted), expected, "{word} for {wanted}");
        }
    }
}
