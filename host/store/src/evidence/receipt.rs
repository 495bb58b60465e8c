//! How a receipt becomes rows, and rows a receipt: one row for the ranking, and one for each partner's answer, so that a
//! completion report is compared with what its partner has quoted and nobody else's answer is read for it.

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

use super::body::{pack, unpack};
use super::{keepable_name, time};
use crate::error::{Cause, EngineError};
use crate::value::{Row, Value};

/// The columns of a receipt, in the order in which [`receipt`] reads them; [`rows`] gives them without the number.
macro_rules! columns {
    () => {
        "number, id, at_ms, request_id, intent, version, contract, outcome, body, user_mark"
    };
}
pub(crate) use columns;

/// The columns of a partner's answer, the receipt's number and its place first. [`receipt`] reads partner, quoted options and body.
macro_rules! part_columns {
    () => {
        "receipt, place, partner, request_id, intent, at_ms, shown, quoted, body"
    };
}
pub(crate) use part_columns;

/// Where the user's mark stands among a receipt's columns.
pub(crate) const USER: usize = 9;
/// Where the time stands in [`ReceiptRows::header`].
pub(crate) const AT_MS: usize = 1;

/// Bytes of the shown options of one partner and ranking that a report is compared with: a hundred times what one has.
/// An option beyond is kept, and not compared with.
const QUOTED_MAX_BYTES: usize = 256 * 1024;

/// A receipt as rows, without the number that the store gives it.
pub(crate) struct ReceiptRows {
    pub(crate) id: String,
    /// The columns of `receipts` after the number.
    pub(crate) header: Vec<Value>,
    /// The columns of `receipt_parts` after the receipt's number, for each part.
    pub(crate) parts: Vec<Vec<Value>>,
}

/// What a receipt's own body holds.
#[derive(Serialize, Deserialize)]
struct Body {
    arguments: Box<RawValue>,
    /// Absent in bodies from before contracts were told of past orders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    history: Vec<PastOrder>,
    ranked: Vec<ReceiptScore>,
    dropped: Vec<ReceiptDrop>,
    /// Absent in bodies from before it was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bookable_until_ms: Option<Timestamp>,
}

/// What says of a receipt's body until when something can be booked by it.
#[derive(Deserialize)]
struct BookableBody {
    #[serde(default)]
    bookable_until_ms: Option<Timestamp>,
}

/// What the body of a partner's answer holds.
#[derive(Serialize, Deserialize)]
struct PartBody {
    declared: Axes,
    candidates: Vec<KeptCandidate>,
}

/// An option; its text is absent where it is among the quoted ones.
#[derive(Serialize, Deserialize)]
struct KeptCandidate {
    number: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    json: Option<Box<RawValue>>,
}

/// A receipt as rows, under the mark of its user.
pub(crate) fn rows(receipt: Receipt, user: Option<&Mark>) -> Result<ReceiptRows, EngineError> {
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
    let request_id = keepable_name(&request_id);
    let ranks: HashMap<u32, usize> = ranked.iter().enumerate().map(|(rank, score)| (score.number, rank)).collect();
    let part = |(place, payload): (u32, ReceiptPayload)| {
        let partner = payload.partner.as_str().into();
        let (shown, quoted, body) = split(payload, &ranks)?;
        Ok(vec![
            place.into(),
            partner,
            request_id.as_str().into(),
            intent.as_str().into(),
            time(at_ms),
            shown.into(),
            quoted.into(),
            body.into(),
        ])
    };
    let parts = (0..).zip(payloads).map(part).collect::<Result<_, EngineError>>()?;
    let body = pack(&Body { arguments, history, ranked, dropped, bookable_until_ms })?;
    let header = vec![
        id.as_str().into(),
        time(at_ms),
        request_id.as_str().into(),
        intent.as_str().into(),
        version.to_string().into(),
        contract.to_string().into(),
        outcome.to_string().into(),
        body.into(),
        Value::Text(user.map(|mark| mark.as_str().to_owned())),
    ];
    Ok(ReceiptRows { id, header, parts })
}

/// An answer as the number of options shown, those of them that a report is compared with, and the rest.
fn split(payload: ReceiptPayload, ranks: &HashMap<u32, usize>) -> Result<(u32, Vec<u8>, Vec<u8>), EngineError> {
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
    let mut quoted: Vec<ReceiptCandidate> = Vec::with_capacity(order.len());
    let keep = |ReceiptCandidate { number, json }| {
        if order.contains_key(&number) {
            quoted.push(ReceiptCandidate { number, json });
            return KeptCandidate { number, json: None };
        }
        KeptCandidate { number, json: Some(json) }
    };
    let candidates = candidates.into_iter().map(keep).collect();
    quoted.sort_by_key(|one| rank(one.number));
    let count = u32::try_from(shown.len()).unwrap_or(u32::MAX);
    Ok((count, pack(&quoted)?, pack(&PartBody { declared, candidates })?))
}

/// A receipt out of its rows, which begin with partner, quoted options and body. An erased one has an empty body, which no other has.
pub(crate) fn receipt(header: &Row, parts: &[Row]) -> Result<KeptReceipt, EngineError> {
    let body = header.bytes(8)?;
    if body.is_empty() {
        return Ok(KeptReceipt::Erased);
    }
    let Body { arguments, history, ranked, dropped, bookable_until_ms } = unpack(body)?;
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
pub(crate) fn read_bookable_until(body: &[u8]) -> Result<Option<Timestamp>, EngineError> {
    unpack(body).map(|BookableBody { bookable_until_ms }| bookable_until_ms)
}

fn payload(part: &Row) -> Result<ReceiptPayload, EngineError> {
    let partner = PartnerId::parse(&part.text(0)?).map_err(|error| unreadable(error.into()))?;
    let quoted: Vec<ReceiptCandidate> = unpack(part.bytes(1)?)?;
    let mut quoted: HashMap<u32, Box<RawValue>> = quoted.into_iter().map(|one| (one.number, one.json)).collect();
    let PartBody { declared, candidates } = unpack(part.bytes(2)?)?;
    let whole = |KeptCandidate { number, json }| {
        // An option that is the text `null` reads as none.
        let json = json.or_else(|| quoted.remove(&number)).unwrap_or_else(|| RawValue::NULL.to_owned());
        ReceiptCandidate { number, json }
    };
    Ok(ReceiptPayload { partner, declared, candidates: candidates.into_iter().map(whole).collect() })
}

/// One of the shown options out of a part, of which the row holds these alone.
pub(crate) fn read_shown(part: &Row, number: u32) -> Result<Option<Box<RawValue>>, EngineError> {
    let options: Vec<ReceiptCandidate> = unpack(part.bytes(0)?)?;
    Ok(options.into_iter().find(|option| option.number == number).map(|option| option.json))
}

/// What a partner has quoted, out of a row of identifier, time, version, contract and quoted options.
pub(crate) fn read_quoted(row: &Row) -> Result<QuotedOptions, EngineError> {
    let options: Vec<ReceiptCandidate> = unpack(row.bytes(4)?)?;
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
