//! A secret that stands in pages, written so that no two pages have it alike.
//!
//! Pages are compressed, and show what others have written. Who can have a visitor open pages with text of their own, and sees how long
//! the encrypted answers are, could otherwise guess a secret that stands in each of them piece by piece (BREACH). So it is written as a
//! random pad and as its exclusive or with that pad: both differ in each page.

use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::{Entropy, NoEntropy, hex, random};

/// Bytes of a secret that is masked, at most: the marks of forms have so many characters.
const SECRET_MAX_BYTES: usize = 64;

/// A secret as it stands in one page.
pub(crate) fn mask(secret: &Secret, entropy: &dyn Entropy) -> Result<Secret, NoEntropy> {
    let pad = random::<SECRET_MAX_BYTES>(entropy)?;
    let bytes = secret.expose().as_bytes();
    debug_assert!(bytes.len() <= SECRET_MAX_BYTES, "the end of it would not be masked");
    let masked: Vec<u8> = bytes.iter().zip(pad).map(|(byte, pad)| byte ^ pad).collect();
    Ok(Secret::new(hex(&pad[..masked.len()]) + &hex(&masked)))
}

/// Whether a text is a secret as some page has it.
pub(crate) fn matches(secret: &Secret, presented: &str) -> bool {
    let Some(bytes) = unhex(presented) else { return false };
    let (pad, masked) = bytes.split_at(bytes.len() / 2);
    let unmasked: Vec<u8> = pad.iter().zip(masked).map(|(pad, byte)| pad ^ byte).collect();
    // Whoever sends something else than text has not sent the secret.
    std::str::from_utf8(&unmasked).is_ok_and(|text| secret.matches(text))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if text.len() > 4 * SECRET_MAX_BYTES || !text.len().is_multiple_of(4) {
        return None;
    }
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.as_bytes().chunks(2).map(|pair| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use intent_gateway_testing::entropy::Counting;

    use super::*;

    #[test]
    fn no_two_pages_have_it_alike_and_each_is_taken() {
        let secret = Secret::new("0123456789abcdef".repeat(4));
        let entropy = Counting::default();
        let shown: Vec<_> = (0..8).map(|_| mask(&secret, &entropy).expect("bytes")).collect();
        for (place, one) in shown.iter().enumerate() {
            assert!(matches(&secret, one.expose()));
            assert!(!one.expose().contains("0123456789abcdef"), "{}", one.expose());
            assert!(shown[..place].iter().all(|other| other.expose()[..16] != one.expose()[..16]));
        }
        let text = shown[0].expose();
        for wrong in
            ["", secret.expose(), &text[4..], &format!("{text}0000"), &text.replace('0', "g"), &"0".repeat(9_999)]
        {
            assert!(!matches(&secret, wrong), "{wrong}");
        }
        assert!(!matches(&Secret::new("another"), text) && !matches(&secret, &text.replacen(&text[..1], "x", 1)));
    }
}
