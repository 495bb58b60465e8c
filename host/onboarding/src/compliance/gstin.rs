//! The tax registration number (GSTIN) and the account number (PAN) inside it, by their published structure.
//!
//! A GSTIN has fifteen characters: state code (2), PAN (10), the number of the registration under that PAN within the
//! state (1), `Z` (1), check character (1). Not here: whether it is registered; the tax portal knows.

use std::fmt;

/// The characters of a GSTIN in the order of their values, 0 to 35.
const ALPHABET: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// Characters of a GSTIN.
const GSTIN_LENGTH: usize = 15;
/// Highest code of a state or union territory (38 is Ladakh).
const STATE_CODE_MAX: u8 = 38;
/// Codes beyond the states: other territory, and the centre's own jurisdiction.
const OTHER_CODES: [u8; 2] = [97, 99];

/// A permanent account number: five letters, of which the fourth tells the kind of its holder, four digits, a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pan(String);

/// The text is no PAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidPan {
    /// Not five letters, four digits, one letter.
    #[error("a PAN is five letters, four digits and a letter")]
    Form,
    /// The fourth letter stands for no kind of holder.
    #[error("the fourth letter of a PAN tells the kind of its holder; {0} tells none")]
    Holder(char),
    /// The four digits count from 0001.
    #[error("the digits of a PAN count from 0001")]
    Serial,
}

/// Who holds a PAN, by its fourth letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PanHolder {
    /// A: association of persons.
    Association,
    /// B: body of individuals.
    BodyOfIndividuals,
    /// C: company.
    Company,
    /// F: firm, limited liability partnerships included.
    Firm,
    /// G: government.
    Government,
    /// H: Hindu undivided family.
    UndividedFamily,
    /// J: artificial juridical person.
    ArtificialPerson,
    /// L: local authority.
    LocalAuthority,
    /// P: person.
    Person,
    /// T: trust.
    Trust,
}

impl Pan {
    /// Checks the structure. Blanks around it and lower case are forgiven.
    ///
    /// # Errors
    /// [`InvalidPan`], the first rule broken.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidPan> {
        let text = text.trim().to_ascii_uppercase();
        let bytes = text.as_bytes();
        let letters = |range: std::ops::Range<usize>| bytes[range].iter().all(u8::is_ascii_uppercase);
        if bytes.len() != 10 || !letters(0..5) || !bytes[5..9].iter().all(u8::is_ascii_digit) || !letters(9..10) {
            return Err(InvalidPan::Form);
        }
        let letter = char::from(bytes[3]);
        if holder_of(letter).is_none() {
            return Err(InvalidPan::Holder(letter));
        }
        if &bytes[5..9] == b"0000" {
            return Err(InvalidPan::Serial);
        }
        Ok(Self(text))
    }

    /// Who holds it.
    #[must_use]
    pub(crate) fn holder(&self) -> PanHolder {
        // A parsed number has such a letter.
        self.0.chars().nth(3).and_then(holder_of).unwrap_or(PanHolder::Person)
    }
}

fn holder_of(letter: char) -> Option<PanHolder> {
    Some(match letter {
        'A' => PanHolder::Association,
        'B' => PanHolder::BodyOfIndividuals,
        'C' => PanHolder::Company,
        'F' => PanHolder::Firm,
        'G' => PanHolder::Government,
        'H' => PanHolder::UndividedFamily,
        'J' => PanHolder::ArtificialPerson,
        'L' => PanHolder::LocalAuthority,
        'P' => PanHolder::Person,
        'T' => PanHolder::Trust,
        _ => return None,
    })
}

impl fmt::Display for PanHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Association => "an association of persons",
            Self::BodyOfIndividuals => "a body of individuals",
            Self::Company => "a company",
            Self::Firm => "a firm",
            Self::Government => "a government body",
            Self::UndividedFamily => "an undivided family",
            Self::ArtificialPerson => "an artificial juridical person",
            Self::LocalAuthority => "a local authority",
            Self::Person => "a person",
            Self::Trust => "a trust",
        })
    }
}

/// A tax registration number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gstin {
    text: String,
    pan: Pan,
}

/// The text is no GSTIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidGstin {
    /// Another length.
    #[error("a GSTIN has fifteen characters")]
    Length,
    /// Other characters than letters and digits.
    #[error("a GSTIN consists of letters and digits")]
    Characters,
    /// The first two characters.
    #[error("a GSTIN begins with the code of a state: 01 to 38, 97 or 99")]
    State,
    /// Characters 3 to 12.
    #[error("characters 3 to 12 of a GSTIN are a PAN")]
    Pan(#[source] InvalidPan),
    /// Character 13.
    #[error("character 13 of a GSTIN is a digit from 1 or a letter")]
    Registration,
    /// Character 14.
    #[error("character 14 of a GSTIN is Z")]
    Default,
    /// Character 15.
    #[error("the check character of the GSTIN does not fit; it was probably mistyped")]
    Checksum,
}

impl InvalidGstin {
    /// Stable code.
    #[must_use]
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Length => "GSTIN_LENGTH",
            Self::Characters => "GSTIN_CHARACTERS",
            Self::State => "GSTIN_STATE",
            Self::Pan(_) => "GSTIN_PAN",
            Self::Registration => "GSTIN_REGISTRATION",
            Self::Default => "GSTIN_DEFAULT",
            Self::Checksum => "GSTIN_CHECKSUM",
        }
    }
}

impl Gstin {
    /// Checks structure and check character. Blanks around it and lower case are forgiven.
    ///
    /// # Errors
    /// [`InvalidGstin`], the first rule broken.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidGstin> {
        let text = text.trim().to_ascii_uppercase();
        let bytes = text.as_bytes();
        if text.chars().count() != GSTIN_LENGTH {
            return Err(InvalidGstin::Length);
        }
        if !bytes.iter().all(u8::is_ascii_alphanumeric) {
            return Err(InvalidGstin::Characters);
        }
        let state = text[..2].parse::<u8>().map_err(|_| InvalidGstin::State)?;
        if !(1..=STATE_CODE_MAX).contains(&state) && !OTHER_CODES.contains(&state) {
            return Err(InvalidGstin::State);
        }
        let pan = Pan::parse(&text[2..12]).map_err(InvalidGstin::Pan)?;
        if bytes[12] == b'0' {
            return Err(InvalidGstin::Registration);
        }
        if bytes[13] != b'Z' {
            return Err(InvalidGstin::Default);
        }
        if check_character(&bytes[..14]) != Some(bytes[14]) {
            return Err(InvalidGstin::Checksum);
        }
        Ok(Self { text, pan })
    }

    /// The number as text, in upper case.
    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The account number of its holder.
    #[must_use]
    pub(crate) fn pan(&self) -> &Pan {
        &self.pan
    }
}

/// The check character over the first fourteen: values are weighted 1, 2, 1, 2 and so on; of each product quotient and
/// remainder by 36 are added up; the check character completes the sum to a multiple of 36.
fn check_character(body: &[u8]) -> Option<u8> {
    let mut sum = 0;
    for (index, character) in body.iter().enumerate() {
        let value = ALPHABET.iter().position(|known| known == character)?;
        let product = value * (1 + index % 2);
        sum += product / ALPHABET.len() + product % ALPHABET.len();
    }
    ALPHABET.get((ALPHABET.len() - sum % ALPHABET.len()) % ALPHABET.len()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that businesses print on their invoices, and the example of the common validation libraries.
    const PUBLISHED: [&str; 10] = [
        "27AAPFU0939F1ZV",
        "29AAGCB7383J1Z4",
        "24AAACC1206D1ZM",
        "27AASCS2460H1Z0",
        "33AAACH7409R1Z8",
        "07AAGFF2194N1Z1",
        "27AAACR5055K1Z7",
        "29AABCI1681G1ZK",
        "27AAACM3025E1ZZ",
        "19AAACI5950L1Z7",
    ];

    #[test]
    fn published_numbers_pass() {
        for number in PUBLISHED {
            assert_eq!(Gstin::parse(number).map(|gstin| gstin.as_str().to_owned()).as_deref(), Ok(number));
        }
        assert_eq!(Gstin::parse(" 27aapfu0939f1zv ").expect("forgiven").pan().0, "AAPFU0939F");
    }

    #[test]
    fn each_rule_refuses() {
        for (number, error) in [
            ("", InvalidGstin::Length),
            ("27AAPFU0939F1Z", InvalidGstin::Length),
            ("27AAPFU0939F1ZVV", InvalidGstin::Length),
            ("27AAPFU-939F1ZV", InvalidGstin::Characters),
            ("27AAPFU0939F1Zé", InvalidGstin::Characters),
            ("00AAPFU0939F1ZV", InvalidGstin::State),
            ("39AAPFU0939F1ZV", InvalidGstin::State),
            ("98AAPFU0939F1ZV", InvalidGstin::State),
            ("A7AAPFU0939F1ZV", InvalidGstin::State),
            ("271APFU0939F1ZV", InvalidGstin::Pan(InvalidPan::Form)),
            ("27AAPFUO939F1ZV", InvalidGstin::Pan(InvalidPan::Form)),
            ("27AAPFU093991ZV", InvalidGstin::Pan(InvalidPan::Form)),
            ("27AAPXU0939F1ZV", InvalidGstin::Pan(InvalidPan::Holder('X'))),
            ("27AAPFU0000F1ZV", InvalidGstin::Pan(InvalidPan::Serial)),
            ("27AAPFU0939F0ZV", InvalidGstin::Registration),
            ("27AAPFU0939F1YV", InvalidGstin::Default),
            ("27AAPFU0939F1ZO", InvalidGstin::Checksum),
        ] {
            assert_eq!(Gstin::parse(number), Err(error), "{number}");
        }
    }

    #[test]
    fn every_state_code_has_its_numbers() {
        let with_code = |code: u8| {
            let body = format!("{code:02}AAPFU0939F1Z");
            let check = check_character(body.as_bytes()).expect("in the alphabet");
            Gstin::parse(&format!("{body}{}", char::from(check)))
        };
        for code in 0..=99 {
            let exists = (1..=38).contains(&code) || code == 97 || code == 99;
            assert_eq!(with_code(code).is_ok(), exists, "{code}");
        }
    }

    /// What the check character is for: every slip of one character is found, and every swap of two neighbours but
    /// those that the sum cannot tell apart.
    #[test]
    fn slips_of_the_pen_are_found() {
        for number in PUBLISHED {
            for at in 0..GSTIN_LENGTH {
                for wrong in ALPHABET {
                    let mut slip = number.as_bytes().to_vec();
                    slip[at] = *wrong;
                    let text = String::from_utf8(slip).expect("ASCII");
                    assert_eq!(Gstin::parse(&text).is_ok(), text == number, "{text}");
                }
            }
        }
        assert_eq!(Gstin::parse("27AAPFU9039F1ZV"), Err(InvalidGstin::Checksum));
    }

    #[test]
    fn account_numbers() {
        for (number, holder) in [
            ("AAPFU0939F", PanHolder::Firm),
            ("AAACR5055K", PanHolder::Company),
            ("ACUPA7085R", PanHolder::Person),
            ("aahtt0001a", PanHolder::Trust),
        ] {
            assert_eq!(Pan::parse(number).map(|pan| pan.holder()), Ok(holder));
        }
        for (number, error) in [
            ("ABMPA32111", InvalidPan::Form),
            ("234123412347", InvalidPan::Form),
            ("ABMXA3211G", InvalidPan::Holder('X')),
            ("ABMPA0000G", InvalidPan::Serial),
            ("ABMPÄ321G", InvalidPan::Form),
        ] {
            assert_eq!(Pan::parse(number), Err(error), "{number}");
        }
    }
}
