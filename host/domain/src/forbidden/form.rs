//! Names of members under which they are compared with forbidden ones, so that a disguise changes nothing.
//!
//! A form has letters and digits alone, in lower case. Separators, accents and what cannot be seen are gone; letters of other
//! scripts and signs that look like a Latin letter stand for that letter (UTS #39, Confusable Detection); `i`, `l`, `1` and
//! `|` are one letter, and so are `o` and `0`. Two names of one form are the same name; a part of a name is never one.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

use crate::unseen::is_unseen;

/// Bytes of a form; a name whose form is longer has none.
pub(super) const FORM_MAX_BYTES: usize = 64;

/// What an ASCII character is in a form; 0 where it is passed over. `m` is written as `rn`, which looks like it.
const LETTERS: [u8; 128] = letters();

const fn letters() -> [u8; 128] {
    let mut table = [0; 128];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = match byte.to_ascii_lowercase() {
            b'0' => b'o',
            b'1' | b'i' | b'l' | b'|' => b'l',
            other if other.is_ascii_alphanumeric() => other,
            _ => 0,
        };
        byte += 1;
    }
    table
}

/// The form of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    bytes: [u8; FORM_MAX_BYTES],
    length: usize,
}

impl Form {
    const EMPTY: Self = Self { bytes: [0; FORM_MAX_BYTES], length: 0 };

    /// The form of an ASCII name. None where nothing is left of it, or too much, or where it has other characters.
    pub(super) const fn of_ascii(name: &[u8]) -> Option<Self> {
        let mut form = Self::EMPTY;
        let mut at = 0;
        while at < name.len() {
            if name[at] >= 128 || !form.push(name[at]) {
                return None;
            }
            at += 1;
        }
        if form.length == 0 { None } else { Some(form) }
    }

    /// The forms of any name: as it is, in lower and in upper case, since a letter may look like another one in one case alone.
    pub(super) fn of(name: &str) -> impl Iterator<Item = Self> {
        let (ascii, others) = if name.is_ascii() {
            (Self::of_ascii(name.as_bytes()), None)
        } else {
            let plain: String = name.nfkd().filter(|c| !is_passed_over(*c)).map(plain_letter).collect();
            (None, Some([plain.to_lowercase(), plain.to_uppercase(), plain].map(|name| Self::of_skeleton(&name))))
        };
        ascii.into_iter().chain(others.into_iter().flatten().flatten())
    }

    fn of_skeleton(name: &str) -> Option<Self> {
        let mut form = Self::EMPTY;
        for letter in skeleton(name).flat_map(char::to_lowercase).nfkd() {
            let fits = match u8::try_from(letter) {
                Ok(ascii) if ascii.is_ascii() => form.push(ascii),
                // A letter that looks like no Latin one: the name is another.
                _ => is_passed_over(letter) || !letter.is_alphanumeric(),
            };
            if !fits {
                return None;
            }
        }
        (form.length > 0).then_some(form)
    }

    /// Whether it is the form of a name, which says nothing of names that are not in ASCII. It ends at the first letter that
    /// differs.
    pub(super) fn is_of_ascii(&self, name: &[u8]) -> bool {
        let mut left = &self.bytes[..self.length];
        for byte in name {
            let Some(letter) = LETTERS.get(usize::from(*byte)) else { return false };
            left = match (letter, left) {
                (0, left) | (b'm', [b'r', b'n', left @ ..]) => left,
                (letter, [first, left @ ..]) if letter == first => left,
                _ => return false,
            };
        }
        left.is_empty()
    }

    /// Adds an ASCII character. Whether there was room for it.
    const fn push(&mut self, ascii: u8) -> bool {
        match LETTERS[ascii as usize] {
            0 => true,
            b'm' => self.add(b'r') && self.add(b'n'),
            letter => self.add(letter),
        }
    }

    const fn add(&mut self, letter: u8) -> bool {
        if self.length == FORM_MAX_BYTES {
            return false;
        }
        self.bytes[self.length] = letter;
        self.length += 1;
        true
    }

    /// Its first and its last letter.
    const fn ends(&self) -> (u8, u8) {
        (self.bytes[0], self.bytes[self.length - 1])
    }
}

/// Whether a character is part of no name: a mark on another one, or one that is not seen.
fn is_passed_over(c: char) -> bool {
    is_combining_mark(c) || is_unseen(c)
}

/// The letter that a character stands for which neither Unicode's decompositions nor its confusables know: letters in filled circles
/// and squares, the halves of flags, small capitals, letters with a hook or a stroke and turned ones.
fn plain_letter(c: char) -> char {
    /// Each kind in the order of the alphabet; a blank where there is none.
    const KINDS: [(&str, &str); 2] = [
        ("abcdeghijklmnoprstuvwyz", "ᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ"),
        ("abdfgklmnprsvxzadeosuiaehmrtwy", "ᶏᶀᶁᶂᶃᶄᶅᶆᶇᶈᶉᶊᶌᶍᶎⱥᶑᶒⱺȿᶙᶖɐǝɥɯɹʇʍʎ"),
    ];
    let of_alphabet = |first: char| char::from_u32(u32::from(c) - u32::from(first) + u32::from('a')).unwrap_or(c);
    match c {
        '\u{1f150}'..='\u{1f169}' => of_alphabet('\u{1f150}'),
        '\u{1f170}'..='\u{1f189}' => of_alphabet('\u{1f170}'),
        '\u{1f1e6}'..='\u{1f1ff}' => of_alphabet('\u{1f1e6}'),
        _ => {
            KINDS.iter().find_map(|(plain, drawn)| plain.chars().nth(drawn.chars().position(|d| d == c)?)).unwrap_or(c)
        }
    }
}

/// The first and last letters of several forms: nearly every name is told from all of them by these two.
#[derive(Clone, Debug)]
pub(super) struct Ends([u64; 128]);

impl Ends {
    pub(super) fn of<'f>(forms: impl Iterator<Item = &'f Form>) -> Self {
        let mut ends = Self([0; 128]);
        for (first, last) in forms.map(Form::ends) {
            ends.0[usize::from(first)] |= Self::bit(last);
        }
        ends
    }

    /// Whether one of the forms may be that of this name; never false where one is.
    #[inline]
    pub(super) fn may_be(&self, name: &[u8]) -> bool {
        let letter = |byte: &u8| LETTERS.get(usize::from(*byte)).copied().unwrap_or(0);
        // Nearly every name begins and ends with a letter.
        let (mut first, mut last) = (name.first().map_or(0, letter), name.last().map_or(0, letter));
        if first == 0 || last == 0 {
            let mut letters = name.iter().map(letter).filter(|letter| *letter != 0);
            let Some(found) = letters.next() else { return false };
            (first, last) = (found, letters.next_back().unwrap_or(found));
        }
        let (first, last) = (if first == b'm' { b'r' } else { first }, if last == b'm' { b'n' } else { last });
        self.0[usize::from(first)] & Self::bit(last) != 0
    }

    /// Of letters and digits; some two share one, which makes a name suspect at worst.
    fn bit(letter: u8) -> u64 {
        1 << (letter % 64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_same(one: &str, other: &str) -> bool {
        Form::of(one).any(|form| Form::of(other).any(|another| form == another))
    }

    #[test]
    fn a_disguise_changes_no_form() {
        for disguised in [
            "ad_bid",
            "AD_BID",
            "adBid",
            "ad-bid",
            "ad bid",
            "ad.bid",
            "a.d-b_i d",
            "_ad_bid_",
            "ad/bid$",
            "ad_b1d",
            "ad_b|d",
            // Cyrillic а and і, capital А and І.
            "\u{430}d_b\u{456}d",
            "\u{410}D_B\u{406}D",
            // Greek capital alpha and beta.
            "\u{391}d_\u{392}id",
            // Cherokee, full width, mathematical, circled.
            "\u{13aa}d_bid",
            "\u{ff41}\u{ff44}\u{ff3f}\u{ff42}\u{ff49}\u{ff44}",
            "\u{1d41a}\u{1d41d}_\u{1d41b}\u{1d422}\u{1d41d}",
            "\u{24d0}d_bid",
            // What is not seen: no width, soft hyphen, a mark, fillers, a tag, NUL, DEL, a variant.
            "ad\u{200b}_bid",
            "a\u{ad}d_bid",
            "a\u{345}d_bid",
            "ad_\u{3164}bid",
            "ad_\u{115f}bid",
            "ad_bid\u{e0041}",
            "ad\0_bid",
            "ad_bid\u{7f}",
            "ad\u{fe0f}_bid",
            // Accents, and letters with a stroke or a hook.
            "\u{e1}d_bid",
            "a\u{111}_bid",
            "\u{2c65}\u{1d81}_bid",
            // Cherokee in lower case, small capitals, turned.
            "a\u{ab70}_bid",
            "ᴀᴅ_ʙɪᴅ",
            "ɐd_bid",
            // In filled squares and circles, as halves of flags.
            "\u{1f170}\u{1f173}_\u{1f171}\u{1f178}\u{1f173}",
            "\u{1f150}\u{1f153}_\u{1f151}\u{1f158}\u{1f153}",
            "\u{1f1e6}\u{1f1e9}_\u{1f1e7}\u{1f1ee}\u{1f1e9}",
        ] {
            assert!(is_same("ad_bid", disguised), "{disguised:?}");
        }
        assert!(is_same("promotion_priority", "Prornotion-Pri0rity"));
        assert!(is_same("sponsored_rank", "sp0nsored_rank"));
    }

    #[test]
    fn other_names_have_other_forms() {
        for other in ["ad_bids", "bad_bid", "ad", "bid", "ad_bid_policy", "head_bidder", "ab_did", "", "_", "अद_bid"]
        {
            assert!(!is_same("ad_bid", other), "{other:?}");
        }
        for nothing in ["", "_", "--. ", "\u{200b}", "\u{301}", &"a".repeat(65), &"m".repeat(33), &"а".repeat(65)] {
            assert_eq!(Form::of(nothing).count(), 0, "{nothing:?}");
        }
        assert!(Form::of_ascii("नाम".as_bytes()).is_none());
    }

    #[test]
    fn a_name_in_ascii_has_the_form_that_is_made_of_it() {
        let names = ["ad_bid", "AD-BID", "ad_bids", "d_bid", "rnediurn", "Medium", "mm", "rnrn", "", "_"];
        for (one, other) in names.iter().flat_map(|one| names.map(|other| (*one, other))) {
            let Some(form) = Form::of_ascii(one.as_bytes()) else { continue };
            assert_eq!(form.is_of_ascii(other.as_bytes()), is_same(one, other), "{one} {other}");
        }
        assert!(!Form::of("ad_bid").any(|form| form.is_of_ascii("\u{430}d_bid".as_bytes())));
    }

    #[test]
    fn the_ends_never_clear_a_form_that_is_there() {
        let names = ["ad_bid", "Medium", "_1a", "norm", "0x9"];
        let forms: Vec<Form> = names.iter().flat_map(|name| Form::of(name)).collect();
        let ends = Ends::of(forms.iter());
        assert!(names.iter().all(|name| ends.may_be(name.as_bytes())));
        assert!(ends.may_be(b"rnediurn") && ends.may_be(b"AD-BID ") && ends.may_be(b"Ox9"));
        assert!(!ends.may_be(b"price") && !ends.may_be(b"_") && !ends.may_be(b""));
    }
}
