//! Bodies of receipts are packed: zstd, with a dictionary of what earlier receipts of the same segment have in common
//! (`learning`). What a partner sends again and again costs some bytes then, and what differs from it little more than the
//! difference. A dictionary lies beside the receipts of its segment and goes with them.
//!
//! A packed text is a zstd frame, which tells its size, and four bytes of CRC-32 of the text: a dictionary has no name inside the
//! frame, so only this tells that it was the right one.

mod learning;
mod samples;

use std::cell::RefCell;

use zstd_safe::{CCtx, CDict, DCtx, SafeResult};

use crate::error::EngineError;

pub(crate) use learning::{NewDictionary, Packer, Sample, Subject};
pub(crate) use samples::skeleton;

/// How hard it is compressed: the least, for each search pays for it. What repeats is found all the same.
const LEVEL: i32 = 1;
/// What zstd's frames begin with, and no body that is packed in the form of before.
const FRAME_BEGINS: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

thread_local! {
    /// Large, and made once for each thread that reads.
    static READING: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

/// Whether a body is packed in this form.
pub(crate) fn is_packed(body: &[u8]) -> bool {
    body.starts_with(&FRAME_BEGINS)
}

fn pack(context: &mut CCtx<'static>, text: &[u8], dictionary: Option<&CDict<'static>>) -> Result<Vec<u8>, EngineError> {
    let mut packed = Vec::with_capacity(zstd_safe::compress_bound(text.len()) + size_of::<u32>());
    let done = match dictionary {
        Some(dictionary) => context.compress_using_cdict(&mut packed, text, dictionary),
        None => context.compress(&mut packed, text, LEVEL),
    };
    check_done(done)?;
    packed.extend_from_slice(&crc32fast::hash(text).to_le_bytes());
    packed.shrink_to_fit();
    Ok(packed)
}

/// The text of a body, which must not be longer than `max` bytes. `dictionary` is empty where it was packed without one.
///
/// # Errors
/// [`EngineError`] when the body is damaged, or was packed with another dictionary.
pub(crate) fn unpack(body: &[u8], dictionary: &[u8], max: usize) -> Result<Vec<u8>, EngineError> {
    let damaged = || EngineError::failed("a body is damaged, or its dictionary is not there");
    let (frame, sum) = body.split_last_chunk::<4>().ok_or_else(damaged)?;
    let size = zstd_safe::get_frame_content_size(frame).ok().flatten().ok_or_else(damaged)?;
    let size = usize::try_from(size).ok().filter(|size| *size <= max);
    let size = size.ok_or_else(|| EngineError::failed("a body claims to be larger than any that was kept"))?;
    let mut text = Vec::with_capacity(size);
    check_done(READING.with_borrow_mut(|context| context.decompress_using_dict(&mut text, frame, dictionary)))?;
    if text.len() != size || crc32fast::hash(&text) != u32::from_le_bytes(*sum) {
        return Err(damaged());
    }
    Ok(text)
}

fn check_done(done: SafeResult) -> Result<(), EngineError> {
    done.map(drop)
        .map_err(|code| EngineError::because("a body cannot be packed or unpacked", zstd_safe::get_error_name(code)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 1_000;

    #[test]
    fn what_is_packed_comes_out_again() {
        let mut context = CCtx::create();
        let dictionary = b"to be, or not to be, that is the question".repeat(8);
        let prepared = CDict::create(&dictionary, LEVEL);
        for text in [&b""[..], b"x", b"or not to be", &dictionary] {
            for (used, bytes) in [(None, &[][..]), (Some(&prepared), &dictionary[..])] {
                let body = pack(&mut context, text, used).expect("it packs");
                assert!(is_packed(&body));
                assert_eq!(unpack(&body, bytes, MAX).expect("it is sound"), text);
            }
        }
        let body = pack(&mut context, &dictionary, Some(&prepared)).expect("it packs");
        assert!(body.len() < 40, "{} bytes", body.len());
    }

    #[test]
    fn what_is_damaged_or_has_another_dictionary_is_refused() {
        let mut context = CCtx::create();
        let text = b"whether 'tis nobler in the mind to suffer".repeat(4);
        let prepared = CDict::create(&text, LEVEL);
        let body = pack(&mut context, &text, Some(&prepared)).expect("it packs");
        let other = b"the slings and arrows of outrageous fort.".repeat(4);
        for dictionary in [&[][..], &other, &text[..text.len() - 1]] {
            assert!(unpack(&body, dictionary, MAX).is_err());
        }
        for at in 0..body.len() {
            let mut changed = body.clone();
            changed[at] ^= 1;
            assert!(unpack(&changed, &text, MAX).map_or(true, |read| read == text), "byte {at}");
            assert!(unpack(&body[..at], &text, MAX).is_err(), "{at} bytes");
        }
        assert!(unpack(&body, &text, text.len() - 1).is_err(), "more than is read");
    }
}
