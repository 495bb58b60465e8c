//! What it costs to find the contracts that an utterance wakes, in a catalogue far larger than the shipped one.

use std::hint::black_box;
use std::time::{Duration, Instant};

use intent_gateway_domain::classify::CueIndex;
use intent_gateway_domain::limits::UTTERANCE_MAX_CHARS;

/// Contracts in the catalogue.
const CONTRACTS: usize = 1_000;
/// Cues of each.
const CUES_EACH: usize = 20;
/// How long each question is asked again and again.
const ASKING_TIME: Duration = Duration::from_millis(200);
/// Syllables that the cue words are made of: enough for some hundred thousand words of three.
const SYLLABLES: [&str; 48] = [
    "ba", "ke", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va", "we", "yi", "zo",
    "chu", "sha", "the", "bri", "clo", "dru", "fra", "gle", "kri", "plo", "pru", "sta", "tre", "vri", "blo", "cru",
    "fla", "gre", "kli", "pho", "slu", "spa", "ske", "tri", "kho", "dhu", "nga", "mbe", "sti",
];
/// What people ask in such a catalogue; most words are nobody's cue.
const UTTERANCES: [&str; 4] = [
    "my car's AC blows warm air, can somebody have a look at it tomorrow morning",
    "gaadi ka insurance khatam ho gaya, naya policy chahiye",
    "book a yoga clas for beginers near Indiranagar",
    "good morning, what is the weather like",
];

/// Letters of the words of the dearest question: as many as a word may have and still be misspelt.
const LONGEST_WORD: usize = 24;

/// Builds a catalogue around the cues of the shipped contracts and asks it.
pub(crate) fn run(shipped: Vec<Vec<String>>) {
    let made_up = CONTRACTS - shipped.len();
    let catalogue: Vec<Vec<String>> = (0..made_up).map(cues_of).chain(shipped).collect();
    let started = Instant::now();
    let index = CueIndex::build(catalogue.iter().map(Vec::as_slice));
    let built = started.elapsed();
    println!("{CONTRACTS} contracts: the shipped ones, and {made_up} with {CUES_EACH} cues each");
    println!("  building the index                  {:>9.1} ms, once for each publish", built.as_secs_f64() * 1e3);
    let mut own: Vec<String> = UTTERANCES.map(str::to_owned).to_vec();
    own.push(format!("please {} for me and {}", catalogue[7][0], misspelt(&catalogue[500][1])));
    own.push(dearest());
    for utterance in &own {
        let woken = index.select_by_cues(utterance).len();
        let (started, mut asked) = (Instant::now(), 0_u32);
        while started.elapsed() < ASKING_TIME {
            black_box(index.select_by_cues(black_box(utterance)));
            asked += 1;
        }
        let each = started.elapsed().as_secs_f64() / f64::from(asked.max(1));
        let shown: String = utterance.chars().take(80).collect();
        println!("  {:>7.1} us, {woken:>2} of {CONTRACTS} woken   {shown}", each * 1e6);
    }
}

/// Mostly words that no other contract has, one in four of them a phrase that begins with "book".
fn cues_of(contract: usize) -> Vec<String> {
    (0..CUES_EACH)
        .map(|cue| {
            let word = word(contract * CUES_EACH + cue);
            if cue % 4 == 0 { format!("book {word}") } else { word }
        })
        .collect()
}

/// The question that costs most within the bound on an utterance: long words, each with the most misspellings.
fn dearest() -> String {
    let words = (0..UTTERANCE_MAX_CHARS / (LONGEST_WORD + 1)).map(|number| {
        let mut word: String = (0..LONGEST_WORD / 2).map(|at| word(number * 31 + at)).collect();
        word.truncate(LONGEST_WORD);
        word
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A word for a number, spread over the syllables so that neighbours do not look alike.
fn word(number: usize) -> String {
    let spread = number.wrapping_mul(7_919) % (SYLLABLES.len().pow(3));
    let digits = [spread % 48, spread / 48 % 48, spread / (48 * 48)];
    digits.map(|digit| SYLLABLES[digit]).concat()
}

/// The word with two neighbouring letters swapped.
fn misspelt(word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let middle = letters.len() / 2;
    letters.swap(middle, middle + 1);
    letters.into_iter().collect()
}
