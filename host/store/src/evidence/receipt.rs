//! How a receipt becomes rows, and rows a receipt: one row for the ranking, and one for each partner's answer, so that a
//! completion report is compared with what its partner has quoted and nobody else's answer is read for it. Bodies are packed
//! once it is known in which segment the receipt will lie, for the dictionaries are the segment's.

use std::collections::HashMap;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Axes, PastOrder};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::receipt::{
    KeptReceipt, QuotedOptions, Receipt, ReceiptCandidate, ReceiptDrop, ReceiptPayload, ReceiptScore,
};
use intent_gateway_domain::vault::Mark;
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::body::{unpack, write};
use super::{keepable_name, time};
use crate::error::{Cause, EngineError};
use crate::packing::{NewDictionary, Packer, Sample, Subject, skeleton};
use crate::value::{Row, Value};

/// The columns of a receipt, in the order in which [`receipt`] reads them; [`rows`] gives them without the number.
macro_rules! columns {
    () => {
        "number, id, at_ms, request_id, intent, version, contract, outcome, body, user_mark, dictionary"
    };
}
pub(crate) use columns;

/// The columns of a partner's answer, the receipt's number and its place first.
macro_rules! part_columns {
    () => {
        "receipt, place, partner, request_id, intent, at_ms, shown, quoted, body, dictionary"
    };
}
pub(crate) use part_columns;

/// Where the user's mark stands among a receipt's columns.
pub(crate) const USER: usize = 9;
/// How many columns a receipt has.
pub(crate) const COUNT: usize = 11;
/// Where a receipt's dictionary stands in rows that have it: after the columns.
const DICTIONARY: usize = COUNT;

/// Bytes of the shown options of one partner and ranking that a report is compared with: a hundred times what one has.
/// An option beyond is kept, and not compared with.
const QUOTED_MAX_BYTES: usize = 256 * 1024;

/// A receipt on its way into the store.
pub(crate) struct ReceiptRows {
    pub(crate) id: String,
    pub(crate) at: Timestamp,
    intent: String,
    user: Option<String>,
    /// The columns of `receipts` from its identifier to what stands before the body.
    header: Vec<Value>,
    /// Text of the body.
    body: Vec<u8>,
    parts: Vec<PartRows>,
}

/// A partner's answer on its way into the store.
struct PartRows {
    partner: String,
    /// The columns of `receipt_parts` from the place to what stands before the bodies.
    header: Vec<Value>,
    /// Texts of the quoted options and of the body.
    quoted: Vec<u8>,
    body: Vec<u8>,
}

/// The rows of a receipt.
pub(crate) struct PackedRows {
    /// The columns of `receipts` after the number.
    pub(crate) header: Vec<Value>,
    /// The columns of `receipt_parts` after the receipt's number, for each part.
    pub(crate) parts: Vec<Vec<Value>>,
    /// The dictionary that this receipt has made.
    pub(crate) dictionary: Option<NewDictionary>,
}

impl ReceiptRows {
    /// Packs it, to be kept under a number.
    pub(crate) fn pack(&self, packer: &mut Packer, number: u64) -> Result<PackedRows, EngineError> {
        let mut packer = packer.receipt(number, self.user.as_deref());
        let subject = Subject::Ranking(self.intent.clone());
        let (dictionary, [body]) = packer.pack(&subject, [&self.body], || ranking_sample(&self.body))?;
        let mut header = self.header.clone();
        header.extend([body.into(), Value::Text(self.user.clone()), reference(dictionary)?]);
        let mut parts = Vec::with_capacity(self.parts.len());
        for PartRows { partner, header, quoted, body } in &self.parts {
            let subject = Subject::Answer(self.intent.clone(), partner.clone());
            let sample = || Sample { fixed: Vec::new(), common: [quoted.as_slice(), body].concat() };
            let (dictionary, packed) = packer.pack(&subject, [quoted, body], sample)?;
            let mut part = header.clone();
            part.extend(packed.map(Value::from));
            part.push(reference(dictionary)?);
            parts.push(part);
        }
        Ok(PackedRows { header, parts, dictionary: packer.finish() })
    }
}

/// A dictionary's number as a column that may be empty.
fn reference(dictionary: Option<u64>) -> Result<Value, EngineError> {
    dictionary.map_or(Ok(Value::Integer(None)), Value::number)
}

/// What of a receipt's body can be in a dictionary: how a request is built, and the scores that others have got as well. What
/// the user asked for and took before is not.
fn ranking_sample(body: &[u8]) -> Sample {
    let Ok(SampledBody { arguments, ranked, dropped }) = serde_json::from_slice(body) else { return Sample::default() };
    let fixed = format!("{{\"arguments\":{}", skeleton(arguments.get())).into_bytes();
    Sample { fixed, common: [ranked.get(), dropped.get()].concat().into_bytes() }
}

/// What a receipt's own body holds, on its way into the store.
#[derive(Serialize)]
struct WrittenBody<'a> {
    arguments: &'a RawValue,
    #[serde(skip_serializing_if = "<[PastOrder]>::is_empty")]
    history: &'a [PastOrder],
    ranked: &'a [ReceiptScore],
    dropped: &'a [ReceiptDrop],
    #[serde(skip_serializing_if = "Option::is_none")]
    bookable_until_ms: Option<Timestamp>,
}

/// The same as it is read.
#[derive(Deserialize)]
struct Body {
    arguments: Box<RawValue>,
    /// Absent in bodies from before contracts were told of past orders.
    #[serde(default)]
    history: Vec<PastOrder>,
    ranked: Vec<ReceiptScore>,
    dropped: Vec<ReceiptDrop>,
    /// Absent in bodies from before it was noted.
    #[serde(default)]
    bookable_until_ms: Option<Timestamp>,
}

/// What is looked at of a receipt's body for a dictionary.
#[derive(Deserialize)]
struct SampledBody<'a> {
    #[serde(borrow)]
    arguments: &'a RawValue,
    #[serde(borrow)]
    ranked: &'a RawValue,
    #[serde(borrow)]
    dropped: &'a RawValue,
}

/// What says of a receipt's body until when something can be booked by it.
#[derive(Deserialize)]
struct BookableBody {
    #[serde(default)]
    bookable_until_ms: Option<Timestamp>,
}

/// What the body of a partner's answer holds, on its way into the store.
#[derive(Serialize)]
struct WrittenPart<'a> {
    declared: Axes,
    candidates: Vec<WrittenCandidate<'a>>,
}

/// An option; its text is absent where it is among the quoted ones.
#[derive(Serialize)]
struct WrittenCandidate<'a> {
    number: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<&'a RawValue>,
}

/// What the body of a partner's answer holds, as it is read.
#[derive(Deserialize)]
struct PartBody {
    declared: Axes,
    candidates: Vec<KeptCandidate>,
}

/// An option; its text is absent where it is among the quoted ones.
#[derive(Deserialize)]
struct KeptCandidate {
    number: u32,
    #[serde(default)]
    json: Option<Box<RawValue>>,
}

/// A receipt as rows, under the mark of its user.
pub(crate) fn rows(receipt: &Receipt, user: Option<&Mark>) -> Result<ReceiptRows, EngineError> {
    let Receipt {
        id,
        at_ms,
        request_id,
        intent,
        version,
        contract,
        arguments,
        payloads,
        history,
        ranked,
        dropped,
        bookable_until_ms,
        outcome,
    } = receipt;
    let request_id = keepable_name(request_id);
    let ranks: HashMap<u32, usize> = ranked.iter().enumerate().map(|(rank, score)| (score.number, rank)).collect();
    let part = |(place, payload): (u32, &ReceiptPayload)| {
        let partner = payload.partner.as_str().to_owned();
        let (shown, quoted, body) = split(payload, &ranks)?;
        let header = vec![
            place.into(),
            partner.as_str().into(),
            request_id.as_str().into(),
            intent.as_str().into(),
            time(*at_ms),
            shown.into(),
        ];
        Ok(PartRows { partner, header, quoted, body })
    };
    let parts = (0..).zip(payloads).map(part).collect::<Result<_, EngineError>>()?;
    let bookable_until_ms = *bookable_until_ms;
    let body = write(&WrittenBody { arguments, history, ranked, dropped, bookable_until_ms })?;
    let header = vec![
        id.as_str().into(),
        time(*at_ms),
        request_id.as_str().into(),
        intent.as_str().into(),
        version.to_string().into(),
        contract.to_string().into(),
        outcome.to_string().into(),
    ];
    let user = user.map(|mark| mark.as_str().to_owned());
    Ok(ReceiptRows { id: id.clone(), at: *at_ms, intent: intent.as_str().to_owned(), user, header, body, parts })
}

/// An answer as the number of options shown, those of them that a report is compared with, and the rest.
fn split(payload: &ReceiptPayload, ranks: &HashMap<u32, usize>) -> Result<(u32, Vec<u8>, Vec<u8>), EngineError> {
    let ReceiptPayload { partner: _, declared, candidates } = payload;
    let rank = |number: u32| ranks.get(&number).copied().unwrap_or(usize::MAX);
    let mut shown: Vec<(u32, usize)> = candidates
        .iter()
        .filter(|one| ranks.contains_key(&one.number))
        .map(|one| (one.number, one.json.get().len()))
        .collect();
    shown.sort_by_key(|(number, _)| rank(*number));
    let mut bytes = 0;
    let fits = |(_, size): &&(u32, usize)| {
        bytes += size;
        bytes <= QUOTED_MAX_BYTES
    };
    let order: HashMap<u32, usize> =
        (0..).zip(shown.iter().take_while(fits)).map(|(at, (number, _))| (*number, at)).collect();
    let mut quoted: Vec<&ReceiptCandidate> = Vec::with_capacity(order.len());
    let mut written = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let is_quoted = order.contains_key(&candidate.number);
        if is_quoted {
            quoted.push(candidate);
        }
        let json = (!is_quoted).then_some(&*candidate.json);
        written.push(WrittenCandidate { number: candidate.number, json });
    }
    quoted.sort_by_key(|one| rank(one.number));
    let count = u32::try_from(shown.len()).unwrap_or(u32::MAX);
    Ok((count, write(&quoted)?, write(&WrittenPart { declared: *declared, candidates: written })?))
}

/// A receipt out of its rows: its columns and its dictionary, and of each part partner, quoted options, body, request, intent, time
/// and dictionary. An erased one has an empty body, which no other has.
pub(crate) fn receipt(header: &Row, parts: &[Row]) -> Result<KeptReceipt, EngineError> {
    let body = header.bytes(8)?;
    if body.is_empty() {
        return Ok(KeptReceipt::Erased);
    }
    let Body { arguments, history, ranked, dropped, bookable_until_ms } =
        unpack(body, header.bytes_if_any(DICTIONARY)?)?;
    Ok(KeptReceipt::Whole(Box::new(Receipt {
        id: header.text(1)?,
        at_ms: header.time(2)?,
        request_id: header.text(3)?,
        intent: IntentId::parse(&header.text(4)?).map_err(|error| unreadable(error.into()))?,
        version: version(&header.text(5)?)?,
        contract: digest(&header.text(6)?)?,
        arguments,
        payloads: parts.iter().map(payload).collect::<Result<_, _>>()?,
        history,
        ranked,
        dropped,
        bookable_until_ms,
        outcome: digest(&header.text(7)?)?,
    })))
}

/// Until when something can be booked by a receipt, out of its body; none where it does not say.
pub(crate) fn read_bookable_until(body: &[u8], dictionary: &[u8]) -> Result<Option<Timestamp>, EngineError> {
    unpack(body, dictionary).map(|BookableBody { bookable_until_ms }| bookable_until_ms)
}

fn payload(part: &Row) -> Result<ReceiptPayload, EngineError> {
    let partner = PartnerId::parse(&part.text(0)?).map_err(|error| unreadable(error.into()))?;
    let dictionary = part.bytes_if_any(6)?;
    let quoted: Vec<ReceiptCandidate> = unpack(part.bytes(1)?, dictionary)?;
    let mut quoted: HashMap<u32, Box<RawValue>> = quoted.into_iter().map(|one| (one.number, one.json)).collect();
    let PartBody { declared, candidates } = unpack(part.bytes(2)?, dictionary)?;
    let whole = |KeptCandidate { number, json }| {
        // An option that is the text `null` reads as none.
        let json = json.or_else(|| quoted.remove(&number)).unwrap_or_else(|| RawValue::NULL.to_owned());
        ReceiptCandidate { number, json }
    };
    Ok(ReceiptPayload { partner, declared, candidates: candidates.into_iter().map(whole).collect() })
}

/// One of the shown options out of a part, of which the row holds these and the dictionary.
pub(crate) fn read_shown(part: &Row, number: u32) -> Result<Option<Box<RawValue>>, EngineError> {
    let options: Vec<ReceiptCandidate> = unpack(part.bytes(0)?, part.bytes_if_any(1)?)?;
    Ok(options.into_iter().find(|option| option.number == number).map(|option| option.json))
}

/// What a partner has quoted, out of a row of identifier, time, version, contract, quoted options and their dictionary.
pub(crate) fn read_quoted(row: &Row) -> Result<QuotedOptions, EngineError> {
    let options: Vec<ReceiptCandidate> = unpack(row.bytes(4)?, row.bytes_if_any(5)?)?;
    Ok(QuotedOptions {
        receipt: row.text(0)?,
        at: row.time(1)?,
        version: version(&row.text(2)?)?,
        contract: digest(&row.text(3)?)?,
        options: options.into_iter().map(|option| option.json).collect(),
    })
}

fn version(text: &str) -> Result<Version, EngineError> {
    text.parse().map_err(|error: semver::Error| unreadable(error.into()))
}

fn digest(text: &str) -> Result<Digest, EngineError> {
    text.parse().map_err(|error| EngineError::because("a digest of a receipt cannot be read", error))
}

fn unreadable(error: Cause) -> EngineError {
    EngineError::because("a receipt cannot be read", error)
}
