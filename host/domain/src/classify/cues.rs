//! Which contracts an utterance wakes: an index over the cue words of all live contracts.
//!
//! A cue is a word or a phrase; it occurs in an utterance when its words stand there in a row, each spelt right or
//! nearly so (see `words`). Asking every cue of a thousand contracts would cost more than the contracts
//! themselves, so the words of the cues are found by their *deletion neighbourhood*: two words within `n` typos of
//! one another have a common rest after dropping at most `n` letters of each. The index holds the hash of every
//! such rest of every cue word; the rests of a word of the utterance lead to the few cue words that may be meant,
//! and those are compared in full. The result is exactly what a scan over all cues would find.
//!
//! An index never changes. Whoever publishes another set of contracts builds another index.

use std::collections::HashMap;

use super::words::{UTTERANCE_MAX_WORDS, are_alike, typos_allowed, words};

/// Neighbours that share a bucket on average: a bucket is searched from end to end.
const NEIGHBOURS_PER_BUCKET: usize = 4;
/// Bits of a hash that may choose a bucket: a million buckets are 4 MiB.
const BUCKET_BITS_MAX: u32 = 20;
/// Parameters of FNV-1a with 64 bits. The hash only narrows a search, so nothing depends on its strength.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// The cues of a set of contracts, ready to be found in an utterance.
#[derive(Debug)]
pub struct CueIndex {
    /// Every word of every cue, once.
    words: Vec<Box<[char]>>,
    /// The rests of all words, sorted by hash.
    neighbours: Vec<Neighbour>,
    /// Where the neighbours of each bucket begin; one more than there are buckets.
    buckets: Vec<u32>,
    bucket_bits: u32,
    cues: Vec<Cue>,
    /// For each word, the cues that are looked up by it.
    anchored: Vec<Vec<Anchor>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Neighbour {
    hash: u32,
    /// Index into the words.
    word: u32,
}

#[derive(Debug)]
struct Cue {
    /// Indices of its words, in order.
    words: Box<[u32]>,
    /// The contracts that have it, by their position in what the index was built from.
    contracts: Vec<u32>,
}

/// A cue is looked up by the rarest of its words, so that "book a table" does not make work whenever
/// somebody books anything.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    cue: u32,
    /// Which word of the cue it is.
    at: u32,
}

impl CueIndex {
    /// Builds an index from the cues of each contract. The contracts are known by their position from then on.
    pub fn build<'a>(contracts: impl IntoIterator<Item = &'a [String]>) -> Self {
        let mut index = Self {
            words: Vec::new(),
            neighbours: Vec::new(),
            buckets: Vec::new(),
            bucket_bits: 0,
            cues: Vec::new(),
            anchored: Vec::new(),
        };
        let mut word_numbers: HashMap<String, u32> = HashMap::new();
        let mut cue_numbers: HashMap<Box<[u32]>, u32> = HashMap::new();
        for (contract, cues) in contracts.into_iter().enumerate() {
            for cue in cues {
                let phrase = index.phrase(&cue.to_lowercase(), &mut word_numbers);
                if phrase.is_empty() {
                    continue;
                }
                let number = *cue_numbers.entry(phrase).or_insert_with_key(|phrase| {
                    index.cues.push(Cue { words: phrase.clone(), contracts: Vec::new() });
                    number_of(index.cues.len() - 1)
                });
                index.cues[number as usize].contracts.push(number_of(contract));
            }
        }
        index.anchor();
        index.spread();
        index
    }

    /// The contracts one of whose cues occurs, by position, in ascending order.
    #[must_use]
    pub fn select_by_cues(&self, utterance: &str) -> Vec<usize> {
        let lower = utterance.to_lowercase();
        let mut known: HashMap<&str, Vec<u32>> = HashMap::new();
        let said: Vec<&str> = words(&lower).take(UTTERANCE_MAX_WORDS).collect();
        for word in &said {
            known.entry(word).or_insert_with(|| self.meant_by(word));
        }
        let meant: Vec<&[u32]> = said.iter().map(|word| known[word].as_slice()).collect();
        let mut woken: Vec<usize> = Vec::new();
        for (position, word) in meant.iter().enumerate().flat_map(|(at, words)| words.iter().map(move |w| (at, *w))) {
            for anchor in &self.anchored[word as usize] {
                let cue = &self.cues[anchor.cue as usize];
                let window = position
                    .checked_sub(anchor.at as usize)
                    .and_then(|start| meant.get(start..start + cue.words.len()));
                let occurs = window
                    .is_some_and(|window| window.iter().zip(&cue.words).all(|(meant, wanted)| meant.contains(wanted)));
                if occurs {
                    woken.extend(cue.contracts.iter().map(|contract| *contract as usize));
                }
            }
        }
        woken.sort_unstable();
        woken.dedup();
        woken
    }

    /// The words of a cue, by number; new ones are taken up.
    fn phrase(&mut self, lower: &str, numbers: &mut HashMap<String, u32>) -> Box<[u32]> {
        words(lower)
            .map(|word| {
                *numbers.entry(word.to_owned()).or_insert_with(|| {
                    self.words.push(word.chars().collect());
                    number_of(self.words.len() - 1)
                })
            })
            .collect()
    }

    /// Files each cue under the word that the fewest cues have.
    fn anchor(&mut self) {
        let mut uses = vec![0_u32; self.words.len()];
        for word in self.cues.iter().flat_map(|cue| &cue.words) {
            uses[*word as usize] += 1;
        }
        self.anchored = vec![Vec::new(); self.words.len()];
        for (number, cue) in self.cues.iter().enumerate() {
            let rarest = cue.words.iter().enumerate().min_by_key(|(_, word)| uses[**word as usize]);
            if let Some((at, word)) = rarest {
                self.anchored[*word as usize].push(Anchor { cue: number_of(number), at: number_of(at) });
            }
        }
    }

    /// Lists the neighbourhood of every word and divides it into buckets.
    fn spread(&mut self) {
        for (number, word) in self.words.iter().enumerate() {
            let word_number = number_of(number);
            rests(word, &mut |hash| self.neighbours.push(Neighbour { hash, word: word_number }));
        }
        self.neighbours.sort_unstable();
        self.neighbours.dedup();
        let wanted = self.neighbours.len() / NEIGHBOURS_PER_BUCKET;
        self.bucket_bits = wanted.checked_ilog2().unwrap_or(0).min(BUCKET_BITS_MAX);
        let mut next = 0;
        for bucket in 0..1_u64 << self.bucket_bits {
            while self.neighbours.get(next).is_some_and(|one| u64::from(self.bucket(one.hash)) < bucket) {
                next += 1;
            }
            self.buckets.push(number_of(next));
        }
        self.buckets.push(number_of(self.neighbours.len()));
    }

    /// The bucket of a hash: its first bits, so that buckets lie in the order of the hashes.
    fn bucket(&self, hash: u32) -> u32 {
        hash.checked_shr(u32::BITS - self.bucket_bits).unwrap_or(0)
    }

    /// The words of cues that a word of an utterance may stand for.
    fn meant_by(&self, word: &str) -> Vec<u32> {
        let letters: Vec<char> = word.chars().collect();
        let mut meant = Vec::new();
        rests(&letters, &mut |hash| {
            let bucket = self.bucket(hash) as usize;
            let (start, end) = (self.buckets[bucket] as usize, self.buckets[bucket + 1] as usize);
            let same = self.neighbours[start..end].iter().filter(|one| one.hash == hash);
            meant.extend(same.map(|one| one.word));
        });
        meant.sort_unstable();
        meant.dedup();
        meant.retain(|number| are_alike(&letters, &self.words[*number as usize]));
        meant
    }
}

/// Positions and counts here are far below four thousand million: cues and their lengths are bounded where
/// contracts are checked.
fn number_of(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Hashes a word and what is left of it after dropping as many letters as it may have typos. The first letter
/// is never dropped, as words that differ in it are not alike.
fn rests(word: &[char], found: &mut impl FnMut(u32)) {
    let without = |dropped: [usize; 2]| {
        let kept = word.iter().enumerate().filter(|(at, _)| !dropped.contains(at));
        let hash = kept.fold(FNV_OFFSET, |hash, (_, letter)| (hash ^ u64::from(*letter)).wrapping_mul(FNV_PRIME));
        // The high half is the better mixed one; folding the low half in spreads short words too.
        (hash >> 32) as u32 ^ hash as u32
    };
    let none = usize::MAX;
    found(without([none, none]));
    let typos = typos_allowed(word.len());
    if typos >= 1 {
        (1..word.len()).for_each(|first| found(without([first, none])));
    }
    if typos >= 2 {
        for first in 1..word.len() {
            (first + 1..word.len()).for_each(|second| found(without([first, second])));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn index(contracts: &[&[&str]]) -> CueIndex {
        let owned: Vec<Vec<String>> =
            contracts.iter().map(|cues| cues.iter().map(ToString::to_string).collect()).collect();
        CueIndex::build(owned.iter().map(Vec::as_slice))
    }

    /// The meaning of the index, without one.
    fn scan(contracts: &[Vec<String>], utterance: &str) -> Vec<usize> {
        let letters =
            |text: &str| -> Vec<Vec<char>> { words(&text.to_lowercase()).map(|word| word.chars().collect()).collect() };
        let mut said = letters(utterance);
        said.truncate(UTTERANCE_MAX_WORDS);
        let occurs = |cue: &String| {
            let cue = letters(cue);
            !cue.is_empty()
                && said.windows(cue.len()).any(|window| window.iter().zip(&cue).all(|(word, cue)| are_alike(word, cue)))
        };
        (0..contracts.len()).filter(|number| contracts[*number].iter().any(occurs)).collect()
    }

    #[test]
    fn whole_words_and_phrases_wake() {
        let index = index(&[&["a/c", "air conditioner"], &["car"], &["insurance", "car"], &[]]);
        assert_eq!(index.select_by_cues("The A/C hums"), [0]);
        assert_eq!(index.select_by_cues("a car"), [1, 2]);
        assert_eq!(index.select_by_cues("cardigan, scar, place"), [] as [usize; 0]);
        assert_eq!(index.select_by_cues("air, conditioner"), [0]);
        assert_eq!(index.select_by_cues("conditioner air"), [] as [usize; 0]);
        assert_eq!(index.select_by_cues(""), [] as [usize; 0]);
    }

    #[test]
    fn a_misspelt_cue_wakes_all_the_same() {
        let index = index(&[&["air conditioner"], &["insurance"], &["yoga"]]);
        assert_eq!(index.select_by_cues("air condishner"), [] as [usize; 0]);
        assert_eq!(index.select_by_cues("air condtioner"), [0]);
        assert_eq!(index.select_by_cues("INSURENCE"), [1]);
        assert_eq!(index.select_by_cues("yoag"), [] as [usize; 0]);
    }

    #[test]
    fn an_index_without_cues_wakes_nobody() {
        assert_eq!(index(&[]).select_by_cues("car"), [] as [usize; 0]);
        assert_eq!(index(&[&["-", ""]]).select_by_cues("- car"), [] as [usize; 0]);
    }

    #[test]
    fn words_beyond_the_bound_are_not_looked_at() {
        let index = index(&[&["car"]]);
        let filler = "so ".repeat(UTTERANCE_MAX_WORDS - 1);
        assert_eq!(index.select_by_cues(&format!("{filler}car")), [0]);
        assert_eq!(index.select_by_cues(&format!("{filler}so car")), [] as [usize; 0]);
    }

    /// Words out of few letters, so that many are alike without being the same.
    fn word() -> impl Strategy<Value = String> {
        prop_oneof![
            8 => "[abc]{1,3}",
            8 => "[ab]{4,12}",
            4 => "k[ab]{7}",
            1 => "[aä]{3,6}",
            1 => "[AB]{22,27}",
        ]
    }

    fn phrase(most: usize) -> impl Strategy<Value = String> {
        prop::collection::vec(word(), 1..=most).prop_map(|words| words.join(" "))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn the_index_finds_what_a_scan_finds(
            contracts in prop::collection::vec(prop::collection::vec(phrase(3), 0..6), 0..12),
            utterance in phrase(12),
        ) {
            let index = CueIndex::build(contracts.iter().map(Vec::as_slice));
            prop_assert_eq!(index.select_by_cues(&utterance), scan(&contracts, &utterance));
        }

        /// Two letters wrong in a long cue, one in a shorter one, at any place but the first.
        #[test]
        fn any_allowed_slip_is_forgiven(cue in "[a-z]{5,14}", places in (1_usize..14, 1_usize..14), to in "[a-z]") {
            let letter = to.chars().next().expect("one letter");
            let mut said: Vec<char> = cue.chars().collect();
            let last = said.len() - 1;
            said[places.0.min(last)] = letter;
            if said.len() >= 8 {
                said.remove(places.1.min(last));
                prop_assume!(said.len() >= 8);
            }
            let said: String = said.into_iter().collect();
            prop_assert_eq!(index(&[&[&cue]]).select_by_cues(&said), [0]);
        }
    }
}
