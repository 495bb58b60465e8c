//! Bodies: JSON, compressed, with its size before it. Pure LZ4, for a receipt is written for every search and read for
//! every report.

use intent_gateway_domain::limits::PARTNER_BODY_MAX_BYTES;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::EngineError;

/// Bytes of a body before it is compressed: one partner's answer at most, and what is said about it. What claims to be
/// larger is not read.
pub(super) const BODY_MAX_BYTES: usize = 2 * PARTNER_BODY_MAX_BYTES;

/// A body of a value.
pub(super) fn pack(value: &impl Serialize) -> Result<Vec<u8>, EngineError> {
    let json = serde_json::to_vec(value).map_err(|error| EngineError::because("a body cannot be written", error))?;
    if json.len() > BODY_MAX_BYTES {
        return Err(EngineError::failed("a body is too large to be kept"));
    }
    Ok(lz4_flex::block::compress_prepend_size(&json))
}

/// The value of a body.
pub(super) fn unpack<T: DeserializeOwned>(body: &[u8]) -> Result<T, EngineError> {
    let unreadable = |error| EngineError::because("a body cannot be decompressed", error);
    let (size, compressed) = lz4_flex::block::uncompressed_size(body).map_err(unreadable)?;
    if size > BODY_MAX_BYTES {
        return Err(EngineError::failed("a body claims to be larger than any that was kept"));
    }
    let json = lz4_flex::block::decompress(compressed, size).map_err(unreadable)?;
    if json.len() != size {
        return Err(EngineError::failed("a body is not of the size that it claims"));
    }
    serde_json::from_slice(&json).map_err(|error| EngineError::because("a body cannot be read", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again() {
        let text = "a \u{0} ☂ ".repeat(1_000);
        let body = pack(&text).expect("it fits");
        assert!(body.len() < text.len() / 10, "{} bytes", body.len());
        assert_eq!(unpack::<String>(&body).expect("it is sound"), text);
    }

    #[test]
    fn what_is_too_large_or_damaged_is_refused() {
        assert!(pack(&"x".repeat(BODY_MAX_BYTES)).is_err());
        let body = pack(&"x".repeat(1_000)).expect("it fits");
        let claims = |bytes: u32| [&bytes.to_le_bytes()[..], &body[4..]].concat();
        for bad in [claims(u32::MAX), claims(10), claims(2_000), body[..3].to_vec(), body[..9].to_vec(), Vec::new()] {
            assert!(unpack::<String>(&bad).is_err(), "{bad:?}");
        }
        assert!(unpack::<u32>(&body).is_err(), "another form");
    }
}
