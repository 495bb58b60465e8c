//! How a finding becomes a row, and a row a finding.

use intent_gateway_domain::contract::Violation;
use intent_gateway_domain::findings::{Finding, KeptFinding, Severity};
use intent_gateway_domain::id::PartnerId;

use super::{keepable, time};
use crate::error::EngineError;
use crate::value::{Row, Value};

/// The columns of a finding, in the order in which [`kept`] reads them; [`values`] gives them without the number.
macro_rules! columns {
    () => {
        "number, at_ms, partner, intent, request_id, option_id, external_id, severity, pointer, code, message"
    };
}
pub(super) use columns;

/// Bytes of each text. Partners and contracts have written them; what is longer is cut.
const TEXT_MAX_BYTES: usize = 2 * 1024;

/// A finding as a row without its number. Every finding has one, for a booking must not fail for what was found.
pub(crate) fn values(finding: &Finding) -> Vec<Value> {
    let text = |text: &str| Value::from(keepable(text, TEXT_MAX_BYTES));
    let optional = |text: &Option<String>| Value::Text(text.as_deref().map(|text| keepable(text, TEXT_MAX_BYTES)));
    let Finding { at_ms, partner, intent, request_id, option_id, external_id, severity, violation } = finding;
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
    ]
}

/// A finding out of its row.
pub(super) fn read_kept(row: &Row) -> Result<KeptFinding, EngineError> {
    let partner = PartnerId::parse(&row.text(2)?);
    let severity = row.text(7)?;
    let known = [Severity::Note, Severity::Drop, Severity::Strike];
    let finding = Finding {
        at_ms: row.time(1)?,
        partner: partner.map_err(|error| EngineError::because("the partner of a finding cannot be read", error))?,
        intent: row.text(3)?,
        request_id: row.text(4)?,
        option_id: row.optional_text(5)?,
        external_id: row.optional_text(6)?,
        severity: known
            .into_iter()
            .find(|known| known.as_str() == severity)
            .ok_or_else(|| EngineError::failed("the severity of a finding is not known"))?,
        violation: Violation { pointer: row.text(8)?, code: row.text(9)?, message: row.text(10)? },
    };
    Ok(KeptFinding { number: row.number(0)?, finding })
}
