//! Which dictionaries there are, and how they come to be: of the ranking of an intent, and of the answers of a partner to it.
//!
//! A dictionary is made of what two receipts have in common that are of different users, so that nothing in it is of one
//! person alone; a user who is erased leaves nothing behind in it that another did not get as well. It is made by the receipt
//! that shows what is common, and has that receipt's number.

use std::collections::{HashMap, HashSet};
use std::hash::RandomState;

use zstd_safe::{CCtx, CDict};

use super::samples::{keep_marked, marks};
use super::{LEVEL, pack};
use crate::error::EngineError;

/// What a smaller one would save is not worth its row.
const DICTIONARY_MIN_BYTES: usize = 256;
const DICTIONARY_MAX_BYTES: usize = 256 * 1024;
/// What all dictionaries take that are in use, tables included. Where there is no room, it is packed without one.
const HELD_MAX_BYTES: usize = 32 * 1024 * 1024;
/// Subjects whose first receipt was seen and whose second was not.
const WAITING_MAX: usize = 256;
/// How often two receipts of a subject may have too little in common.
const TRIES_MAX: u32 = 8;
/// A dictionary that saves little is made anew once this many times its own bytes were written with it: so what dictionaries take is
/// a small part of the whole.
const WRITTEN_BEFORE_RENEWAL: usize = 16;
/// It saves little when more than one byte in so many has to be written.
const WORTHWHILE: usize = 8;

/// What a dictionary is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    /// The rankings of an intent.
    Ranking(String),
    /// The answers of a partner, the intent first.
    Answer(String, String),
}

enum Learned {
    /// One receipt was seen, or several of the same user.
    First {
        user: Option<String>,
        marks: HashSet<u64>,
        tries: u32,
    },
    Known(Dictionary),
    /// Receipts have nothing in common.
    Nothing,
}

struct Dictionary {
    number: u64,
    prepared: CDict<'static>,
    bytes: usize,
    /// Bytes of texts, and of what was written for them.
    texts: usize,
    written: usize,
}

impl Dictionary {
    fn is_outdated(&self) -> bool {
        self.written > WRITTEN_BEFORE_RENEWAL * self.bytes && self.written > self.texts / WORTHWHILE
    }
}

/// What a receipt has made while it was packed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NewDictionary {
    /// That of the receipt.
    pub(crate) number: u64,
    pub(crate) bytes: Vec<u8>,
}

/// Packs receipts for one segment after the other.
pub(crate) struct Packer {
    /// The file or partition that it packs for.
    place: u64,
    /// Whether it is not known that all it has packed was kept.
    is_open: bool,
    subjects: HashMap<Subject, Learned>,
    waiting: usize,
    held: usize,
    hasher: RandomState,
    context: CCtx<'static>,
}

impl Packer {
    pub(crate) fn new() -> Self {
        Self {
            place: 0,
            is_open: false,
            subjects: HashMap::new(),
            waiting: 0,
            held: 0,
            hasher: RandomState::new(),
            context: CCtx::create(),
        }
    }

    /// Begins to pack for a file or partition. What was learned for another is forgotten, and what was learned from receipts that
    /// were not kept.
    pub(crate) fn begin(&mut self, place: u64) {
        if self.place != place || self.is_open {
            self.subjects.clear();
            (self.waiting, self.held) = (0, 0);
        }
        (self.place, self.is_open) = (place, true);
    }

    /// All that was packed since it began is kept, dictionaries included.
    pub(crate) fn finish(&mut self) {
        self.is_open = false;
    }

    /// Begins to pack a receipt, under its number.
    pub(crate) fn receipt<'a>(&'a mut self, number: u64, user: Option<&'a str>) -> ReceiptPacker<'a> {
        ReceiptPacker { packer: self, number, user, made: None }
    }

    fn learn(&mut self, subject: &Subject, learned: Learned) {
        let waits = |learned: &Learned| usize::from(matches!(learned, Learned::First { .. }));
        let takes = |learned: &Learned| match learned {
            Learned::Known(dictionary) => dictionary.prepared.sizeof(),
            Learned::First { .. } | Learned::Nothing => 0,
        };
        self.waiting += waits(&learned);
        self.held += takes(&learned);
        if let Some(before) = self.subjects.insert(subject.clone(), learned) {
            self.waiting -= waits(&before);
            self.held -= takes(&before);
        }
    }
}

/// Packs the texts of one receipt.
pub(crate) struct ReceiptPacker<'p> {
    packer: &'p mut Packer,
    number: u64,
    user: Option<&'p str>,
    made: Option<NewDictionary>,
}

impl ReceiptPacker<'_> {
    /// Packs texts of one subject with its dictionary; the dictionary's number, if there is one. `fixed` and `sample` give what
    /// may be in a dictionary as it is, and what may be in it as far as another user's has it too; both are asked rarely.
    ///
    /// # Errors
    /// [`EngineError`] when a text cannot be packed.
    pub(crate) fn pack<const N: usize>(
        &mut self,
        subject: &Subject,
        texts: [&[u8]; N],
        sample: impl FnOnce() -> Sample,
    ) -> Result<(Option<u64>, [Vec<u8>; N]), EngineError> {
        self.prepare(subject, sample);
        let Packer { subjects, context, .. } = &mut *self.packer;
        let mut dictionary = match subjects.get_mut(subject) {
            Some(Learned::Known(dictionary)) => Some(dictionary),
            _ => None,
        };
        let mut packed = [const { Vec::new() }; N];
        for (to, text) in packed.iter_mut().zip(texts) {
            *to = pack(context, text, dictionary.as_ref().map(|dictionary| &dictionary.prepared))?;
            if let Some(dictionary) = &mut dictionary {
                dictionary.texts += text.len();
                dictionary.written += to.len();
            }
        }
        Ok((dictionary.map(|dictionary| dictionary.number), packed))
    }

    /// The dictionary that this receipt has made, to be kept with it.
    pub(crate) fn finish(self) -> Option<NewDictionary> {
        self.made
    }

    /// Learns from a receipt, if there is something to be learned.
    fn prepare(&mut self, subject: &Subject, sample: impl FnOnce() -> Sample) {
        let has_room = self.packer.waiting < WAITING_MAX && self.packer.held < HELD_MAX_BYTES;
        let user = || self.user.map(str::to_owned);
        let learned = match self.packer.subjects.get(subject) {
            Some(Learned::Nothing) => return,
            Some(Learned::Known(dictionary)) if !dictionary.is_outdated() => return,
            None | Some(Learned::Known(_)) if !has_room => return,
            None | Some(Learned::Known(_)) => {
                let marks = marks(&self.packer.hasher, &sample().common);
                Learned::First { user: user(), marks, tries: 0 }
            }
            // A receipt makes one dictionary, for that has its number.
            Some(Learned::First { user: first, .. })
                if self.made.is_some() || (first.is_some() && first.as_deref() == self.user) =>
            {
                return;
            }
            Some(Learned::First { marks: first, tries, .. }) => {
                let Sample { fixed, common } = sample();
                let shared = keep_marked(&self.packer.hasher, &common, first);
                let mut bytes = fixed;
                bytes.extend(shared);
                bytes.truncate(DICTIONARY_MAX_BYTES);
                match tries + 1 {
                    _ if bytes.len() >= DICTIONARY_MIN_BYTES => {
                        let prepared = CDict::create(&bytes, LEVEL);
                        let (number, length) = (self.number, bytes.len());
                        self.made = Some(NewDictionary { number, bytes });
                        Learned::Known(Dictionary { number, prepared, bytes: length, texts: 0, written: 0 })
                    }
                    TRIES_MAX => Learned::Nothing,
                    tries => Learned::First { user: user(), marks: marks(&self.packer.hasher, &common), tries },
                }
            }
        };
        self.packer.learn(subject, learned);
    }
}

/// What a dictionary can be made of.
#[derive(Default)]
pub(crate) struct Sample {
    /// What is nobody's, and goes into it as it is.
    pub(crate) fixed: Vec<u8>,
    /// What goes into it as far as somebody else's receipt has it as well.
    pub(crate) common: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(common: &str) -> Sample {
        Sample { fixed: b"fixed,".to_vec(), common: common.as_bytes().to_vec() }
    }

    /// Text of many fragments, all of them other than those of another seed.
    fn text(seed: u32) -> String {
        let number =
            |at: u32| (seed * 1_000 + at).wrapping_mul(2_654_435_761).rotate_left(16).wrapping_mul(2_246_822_519);
        (0..200).map(|at| format!("{:x},", number(at))).collect()
    }

    /// Packs one text of a subject; the dictionary that it was packed with, and the one that it has made.
    fn pack_one(packer: &mut Packer, number: u64, user: &str, text: &str) -> (Option<u64>, Option<NewDictionary>) {
        let subject = Subject::Ranking("auto.fix".to_owned());
        let mut receipt = packer.receipt(number, Some(user));
        let (used, [_]) = receipt.pack(&subject, [text.as_bytes()], || sample(text)).expect("it packs");
        (used, receipt.finish())
    }

    #[test]
    fn a_dictionary_is_made_of_what_two_users_have_in_common() {
        let mut packer = Packer::new();
        packer.begin(1);
        let both = text(1);
        assert_eq!(pack_one(&mut packer, 1, "ann", &format!("ann,{both}")), (None, None));
        assert_eq!(pack_one(&mut packer, 2, "ann", &format!("ann,{both}")), (None, None), "the same user");
        let (used, made) = pack_one(&mut packer, 3, "bob", &format!("bob,{both}"));
        assert_eq!(used, Some(3));
        assert_eq!(made.expect("a dictionary"), NewDictionary { number: 3, bytes: format!("fixed,{both}").into() });
        assert_eq!(pack_one(&mut packer, 4, "ann", &both), (Some(3), None));
    }

    #[test]
    fn what_was_not_kept_and_what_is_of_another_file_is_forgotten() {
        let mut packer = Packer::new();
        let learn = |packer: &mut Packer| {
            pack_one(packer, 1, "ann", &text(1));
            pack_one(packer, 2, "bob", &text(1)).0
        };
        packer.begin(1);
        assert_eq!(learn(&mut packer), Some(2));
        packer.begin(1);
        assert_eq!(pack_one(&mut packer, 3, "ann", &text(1)), (None, None), "it did not finish");
        assert!(pack_one(&mut packer, 4, "bob", &text(1)).1.is_some());
        packer.finish();
        packer.begin(1);
        assert_eq!(pack_one(&mut packer, 5, "ann", &text(1)), (Some(4), None));
        packer.finish();
        packer.begin(2);
        assert_eq!(pack_one(&mut packer, 6, "ann", &text(1)), (None, None), "another file");
    }

    #[test]
    fn a_receipt_makes_one_dictionary() {
        let mut packer = Packer::new();
        packer.begin(1);
        let subjects = [Subject::Ranking("i".to_owned()), Subject::Answer("i".to_owned(), "p".to_owned())];
        let made: Vec<bool> = (1..=3)
            .map(|number| {
                let mut receipt = packer.receipt(number, None);
                for subject in &subjects {
                    receipt.pack(subject, [b"x"], || sample(&text(1))).expect("it packs");
                }
                receipt.finish().is_some()
            })
            .collect();
        assert_eq!(made, [false, true, true]);
    }

    #[test]
    fn what_has_nothing_in_common_is_not_looked_at_for_ever() {
        let mut packer = Packer::new();
        packer.begin(1);
        let mut looks = 0;
        for number in 1..100 {
            let mut receipt = packer.receipt(number, None);
            let subject = Subject::Ranking("i".to_owned());
            let look = || {
                looks += 1;
                sample(&text(u32::try_from(number).expect("small")))
            };
            receipt.pack(&subject, [b"x"], look).expect("it packs");
        }
        assert_eq!(looks, TRIES_MAX + 1);
        assert_eq!((packer.waiting, packer.held), (0, 0));
    }

    #[test]
    fn a_dictionary_that_saves_little_is_made_anew() {
        let mut packer = Packer::new();
        packer.begin(1);
        let mut made = Vec::new();
        for number in 1..=400 {
            // From the fiftieth on the partner sends something else.
            let seed = if number < 50 { 1 } else { 2 };
            let (used, new) = pack_one(&mut packer, number, &format!("user {number}"), &text(seed));
            made.extend(new.map(|new| new.number));
            assert_eq!(used.is_none(), number == 1 || (made.len() == 1 && number > 50 && used.is_none()), "{number}");
        }
        assert_eq!(made.len(), 2, "{made:?}");
        assert!(made[1] > 50 && packer.held < HELD_MAX_BYTES);
    }

    #[test]
    fn there_is_room_for_so_many() {
        let mut packer = Packer::new();
        packer.begin(1);
        for at in 0..2 * u64::try_from(WAITING_MAX).expect("small") {
            let mut receipt = packer.receipt(at + 1, None);
            let subject = Subject::Answer("i".to_owned(), format!("partner {at}"));
            receipt.pack(&subject, [b"x"], || sample("x")).expect("it packs");
        }
        assert_eq!((packer.waiting, packer.subjects.len()), (WAITING_MAX, WAITING_MAX));
    }
}
