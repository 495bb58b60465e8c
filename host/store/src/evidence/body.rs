//! Bodies of receipts as JSON, packed (`packing`). Those from before there were dictionaries are LZ4, with their size before them.

use intent_gateway_domain::limits::PARTNER_BODY_MAX_BYTES;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::EngineError;
use crate::packing;

/// Bytes of a body before it is packed: one partner's answer at most, and what is said about it. What claims to be
/// larger is not read.
pub(super) const BODY_MAX_BYTES: usize = 2 * PARTNER_BODY_MAX_BYTES;

/// The text of a body, to be packed.
pub(super) fn write(value: &impl Serialize) -> Result<Vec<u8>, EngineError> {
    let json = serde_json::to_vec(value).map_err(|error| EngineError::because("a body cannot be written", error))?;
    if json.len() > BODY_MAX_BYTES {
        return Err(EngineError::failed("a body is too large to be kept"));
    }
    Ok(json)
}

/// The value of a body that was packed with a dictionary, which is empty where there was none.
pub(super) fn unpack<T: DeserializeOwned>(body: &[u8], dictionary: &[u8]) -> Result<T, EngineError> {
    let json = match packing::is_packed(body) {
        true => packing::unpack(body, dictionary, BODY_MAX_BYTES)?,
        false => unpack_of_before(body)?,
    };
    serde_json::from_slice(&json).map_err(|error| EngineError::because("a body cannot be read", error))
}

fn unpack_of_before(body: &[u8]) -> Result<Vec<u8>, EngineError> {
    let unreadable = |error| EngineError::because("a body cannot be decompressed", error);
    let (size, compressed) = lz4_flex::block::uncompressed_size(body).map_err(unreadable)?;
    if size > BODY_MAX_BYTES {
        return Err(EngineError::failed("a body claims to be larger than any that was kept"));
    }
    let json = lz4_flex::block::decompress(compressed, size).map_err(unreadable)?;
    if json.len() != size {
        return Err(EngineError::failed("a body is not of the size that it claims"));
    }
    Ok(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_not_kept() {
        assert!(write(&"x".repeat(BODY_MAX_BYTES)).is_err());
        assert_eq!(write(&"x").expect("it fits"), b"\"x\"");
    }

    /// A body of before, as `lz4_flex` has made it.
    fn of_before(text: &str) -> Vec<u8> {
        lz4_flex::block::compress_prepend_size(format!("\"{text}\"").as_bytes())
    }

    #[test]
    fn bodies_of_before_are_read() {
        let text = "a ☂ ".repeat(1_000);
        assert_eq!(unpack::<String>(&of_before(&text), &[]).expect("it is sound"), text);
    }

    #[test]
    fn damaged_bodies_of_before_are_refused() {
        let body = of_before(&"x".repeat(1_000));
        let claims = |bytes: u32| [&bytes.to_le_bytes()[..], &body[4..]].concat();
        for bad in [claims(u32::MAX), claims(10), claims(2_000), body[..3].to_vec(), body[..9].to_vec(), Vec::new()] {
            assert!(unpack::<String>(&bad, &[]).is_err(), "{bad:?}");
        }
        assert!(unpack::<u32>(&body, &[]).is_err(), "another form");
    }
}
