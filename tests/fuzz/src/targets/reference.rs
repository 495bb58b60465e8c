//! References that come back from outside (`opt_…`, `bkg_…`).
//!
//! What opens was sealed, under this key, and is what was sealed.
//!
//! Input: whether the text is a sealed one that is edited, or the input's own; then edits of position and byte, or the text.

use std::sync::LazyLock;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::secret::Secret;
use intent_gateway_routing::reference::{OptionReference, Quote, Reference, ReferenceSealer};

/// What is sealed.
const SEALED: usize = 3;

struct Sealed {
    sealer: ReferenceSealer,
    /// Under another key.
    stranger: ReferenceSealer,
    texts: Vec<(String, OptionReference)>,
}

static KEPT: LazyLock<Sealed> = LazyLock::new(|| {
    let sealer = ReferenceSealer::new(&Secret::new("a key of the fuzz target"));
    let stranger = ReferenceSealer::new(&Secret::new("another key of the fuzz target"));
    let texts = (0..SEALED).map(option).map(|option| (sealer.seal(&option), option)).collect();
    Sealed { sealer, stranger, texts }
});

/// Opens one text.
///
/// # Panics
/// Where something opens that was not sealed, or what was sealed does not open as it was.
pub(crate) fn run(data: &[u8]) {
    let [how, rest @ ..] = data else { return };
    let text = match usize::from(*how).checked_sub(1) {
        None => String::from_utf8_lossy(rest).into_owned(),
        Some(chosen) => {
            let mut text = KEPT.texts[chosen % SEALED].0.clone().into_bytes();
            edit(&mut text, rest);
            String::from_utf8_lossy(&text).into_owned()
        }
    };
    let sealed = KEPT.texts.iter().find(|(sealed, _)| *sealed == text).map(|(_, option)| option);
    match (KEPT.sealer.open(&text), sealed) {
        (Ok(Reference::Option(opened)), Some(option)) => assert_eq!(opened, *option),
        (Err(_), None) => {}
        (Ok(opened), _) => panic!("{text} was never sealed and opens as {opened:?}"),
        (Err(_), Some(_)) => panic!("{text} was sealed and does not open"),
    }
    assert!(KEPT.stranger.open(&text).is_err(), "{text} opens under another key");
}

/// A byte at a time: replaced, inserted, or removed.
fn edit(text: &mut Vec<u8>, edits: &[u8]) {
    for edit in edits.chunks_exact(4) {
        let [kind, high, low, byte] = edit else { continue };
        let at = (usize::from(*high) << 8 | usize::from(*low)) % (text.len() + 1);
        match kind % 4 {
            0 if at < text.len() => text[at] = *byte,
            1 => text.insert(at, *byte),
            2 if at < text.len() => drop(text.remove(at)),
            3 => text.truncate(at),
            _ => {}
        }
    }
}

fn option(number: usize) -> OptionReference {
    OptionReference {
        partner: "coolcar".to_owned(),
        intent: "auto.book_ac_service".to_owned(),
        contract: Digest::of(b"contract"),
        request_id: format!("request-{number}"),
        option_id: "slot-1".repeat(number),
        number: u32::try_from(number).expect("few"),
        receipt: (number > 0).then(|| "rank_1".to_owned()),
        asker: None,
        result_token: (number > 1).then(|| "a token\u{0} of the partner's: ☀".to_owned()),
        expires_at_ms: Timestamp::from_ms(1_779_264_000_123),
        answered_at_ms: (number > 0).then_some(Timestamp::EPOCH),
        quoted: (number > 1).then(|| Quote::of("{}")),
    }
}
