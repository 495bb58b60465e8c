//! What counts as a word of an utterance, and when a misspelt word is still the wanted one.
//!
//! The contracts' SDK reads utterances by the same rules, so that what a contract would claim also wakes it. The
//! two share no code, because a contract knows nothing of the host; a test of the `tests` package compares them.

/// Words of an utterance that are looked at; people who ask for something use fewer.
pub(crate) const UTTERANCE_MAX_WORDS: usize = 200;

/// Letters from which a word may be misspelt by one letter.
const ONE_TYPO_FROM_LETTERS: usize = 5;
/// Letters from which it may be misspelt by two.
const TWO_TYPOS_FROM_LETTERS: usize = 8;
/// Longest word that is compared with typos; longer ones have to be exact.
const TYPO_MAX_LETTERS: usize = 24;

/// The words of a text in lower case: runs of letters and digits, so that an apostrophe or a slash parts words.
pub(super) fn words(lower: &str) -> impl Iterator<Item = &str> {
    lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// How many typos a word of so many letters may have.
pub(super) const fn typos_allowed(letters: usize) -> usize {
    match letters {
        TWO_TYPOS_FROM_LETTERS..=TYPO_MAX_LETTERS => 2,
        ONE_TYPO_FROM_LETTERS..TWO_TYPOS_FROM_LETTERS => 1,
        _ => 0,
    }
}

/// Whether two words are the same, spelt right or nearly so. The shorter one says how many typos are allowed.
pub(super) fn are_alike(word: &[char], wanted: &[char]) -> bool {
    if word == wanted {
        return true;
    }
    let allowed = typos_allowed(word.len()).min(typos_allowed(wanted.len()));
    allowed > 0
        && word.len().abs_diff(wanted.len()) <= allowed
        // A slip in the first letter is rare, and it would make "cooling" out of "pooling".
        && word.first() == wanted.first()
        && edits(word, wanted) <= allowed
}

/// Letters to insert, drop, change, or swap with their neighbour to make one word of the other. Neither is longer
/// than [`TYPO_MAX_LETTERS`].
fn edits(from: &[char], to: &[char]) -> usize {
    let mut before = [0; TYPO_MAX_LETTERS + 1];
    let mut last = [0; TYPO_MAX_LETTERS + 1];
    for (index, cell) in last.iter_mut().enumerate() {
        *cell = index;
    }
    for (row, letter) in from.iter().enumerate() {
        let mut now = [0; TYPO_MAX_LETTERS + 1];
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

    #[test]
    fn letters_and_digits_make_words() {
        let found: Vec<_> = words("my car's a/c (r134a) -- गाड़ी!").collect();
        assert_eq!(found[..6], ["my", "car", "s", "a", "c", "r134a"]);
        assert_eq!(words(" ,.! ").count(), 0);
    }

    #[test]
    fn the_shorter_word_says_how_many_typos_are_allowed() {
        for (word, wanted, expected) in [
            ("ac", "ac", true),
            ("yoag", "yoga", false),
            ("colling", "cooling", true),
            ("pooling", "cooling", false),
            ("insurence", "insurance", true),
            ("insurancee", "insurance", true),
            ("inshurence", "insurance", true),
            ("inshurens", "insurance", false),
            ("poliyc", "policy", true),
            ("plcy", "policy", false),
            ("servcing", "servicing", true),
            ("", "filter", false),
        ] {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(are_alike(&letters(word), &letters(wanted)), expected, "{word} for {wanted}");
            assert_eq!(are_alike(&letters(wanted), &letters(word)), expected, "{wanted} for {word}");
        }
        let long = vec!['a'; TYPO_MAX_LETTERS + 1];
        assert!(are_alike(&long, &long));
        assert!(!are_alike(&long, &long[1..]));
    }
}
