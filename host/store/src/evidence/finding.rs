//! How a finding becomes a row, and a row a finding.

use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::findings::{Finding, KeptFinding, RuleCount, Severity, Source, day_start};
use intent_gateway_domain::id::PartnerId;

use super::{keepable, time};
use crate::error::EngineError;
use crate::value::{Row, Value};

/// The columns of a finding, in the order in which [`kept`] reads them; [`values`] gives them without the number.
macro_rules! columns {
    () => {
        "number, at_ms, partner, intent, request_id, option_id, external_id, severity, pointer, code, message, source, \
         option_place, excerpt"
    };
}
pub(super) use columns;

/// Bytes of each text. Partners and contracts have written them; what is longer is cut.
const TEXT_MAX_BYTES: usize = 2 * 1024;

/// A text of a finding as it is kept and looked for.
pub(super) fn keepable_text(text: &str) -> String {
    keepable(text, TEXT_MAX_BYTES)
}

/// A finding as a row without its number. Every finding has one, for a booking must not fail for what was found.
pub(crate) fn values(finding: &Finding) -> Vec<Value> {
    let text = |text: &str| Value::from(keepable_text(text));
    let optional = |text: &Option<String>| Value::Text(text.as_deref().map(keepable_text));
    let Finding {
        at_ms,
        partner,
        intent,
        request_id,
        source,
        option_place,
        option_id,
        external_id,
        severity,
        violation,
        excerpt,
    } = finding;
    let Violation { pointer, code, message } = violation;
    vec![
        time(*at_ms),
        partner.as_str().into(),
        text(intent),
        text(request_id),
        optional(option_id),
        optional(external_id),
        severity.as_str().into(),
        text(pointer),
        text(code),
        text(message),
        Value::Text(source.map(|source| source.as_str().to_owned())),
        Value::Integer(option_place.map(i64::from)),
        optional(excerpt),
    ]
}

/// A finding out of its row.
pub(super) fn read_kept(row: &Row) -> Result<KeptFinding, EngineError> {
    let partner = PartnerId::parse(&row.text(2)?);
    let severity = row.text(7)?;
    let finding = Finding {
        at_ms: row.time(1)?,
        partner: partner.map_err(|error| EngineError::because("the partner of a finding cannot be read", error))?,
        intent: row.text(3)?,
        request_id: row.text(4)?,
        // One that a later release has added is as good as none.
        source: row.optional_text(11)?.and_then(|source| Source::parse(&source)),
        option_place: row.optional_integer(12)?.and_then(|place| u32::try_from(place).ok()),
        option_id: row.optional_text(5)?,
        external_id: row.optional_text(6)?,
        severity: read_severity(&severity)?,
        violation: Violation { pointer: row.text(8)?, code: row.text(9)?, message: row.text(10)? },
        excerpt: row.optional_text(13)?,
    };
    Ok(KeptFinding { number: row.number(0)?, finding })
}

fn read_severity(name: &str) -> Result<Severity, EngineError> {
    Severity::parse(name).ok_or_else(|| EngineError::failed("the severity of a finding is not known"))
}

/// A count out of its row: day, intent, code, severity, count.
pub(super) fn read_count(row: &Row) -> Result<RuleCount, EngineError> {
    Ok(RuleCount {
        day: day_start(row.number(0)?),
        intent: row.text(1)?,
        code: row.text(2)?,
        severity: read_severity(&row.text(3)?)?,
        count: row.number(4)?,
    })
}
