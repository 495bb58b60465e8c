//! The page to print. Every text goes through the template's escaping; the page loads nothing and runs nothing.

use std::sync::LazyLock;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use intent_gateway_api::ledger::RULE;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_ledger::bookkeeping::Outline;
use intent_gateway_ledger::{EntryKind, Line, Month, Totals, UnreportedLine};
use jiff::tz::Offset;

use super::RenderError;

/// Indian Standard Time, by which months are reckoned: five and a half hours ahead, all year.
const IST_AHEAD_SECONDS: i32 = (5 * 60 + 30) * 60;
/// What the page is laid out by.
const STYLE: &str = include_str!("../../templates/statement/print.css");
/// What stands after the lines.
pub(super) const END: &str = "</tbody>\n</table>\n</body>\n</html>\n";

/// What a browser may do with the page: lay it out by its own style sheet, and nothing else.
pub(super) static POLICY: LazyLock<String> = LazyLock::new(|| {
    let style = STANDARD.encode(Digest::of(STYLE.as_bytes()).as_bytes());
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
});

#[derive(Template)]
#[template(path = "statement/head.html")]
struct Head<'a> {
    style: &'a str,
    partner: &'a str,
    business_name: Option<&'a str>,
    month: Month,
    totals: &'a Totals,
    unreported: &'a [UnreportedLine],
    rule: &'a str,
}

#[derive(Template)]
#[template(path = "statement/lines.html")]
struct Lines<'a> {
    lines: &'a [Line],
}

pub(super) fn head(outline: &Outline) -> Result<String, RenderError> {
    let Outline { partner, business_name, month, totals, unreported, .. } = outline;
    let head = Head {
        style: STYLE,
        partner: partner.as_str(),
        business_name: business_name.as_deref(),
        month: *month,
        totals,
        unreported,
        rule: RULE,
    };
    Ok(head.render()?)
}

pub(super) fn lines(lines: &[Line]) -> Result<String, RenderError> {
    Ok(Lines { lines }.render()?)
}

/// What an entry is for, in words.
fn kind(line: &Line) -> String {
    match &line.kind {
        EntryKind::Charge => "charge".to_owned(),
        EntryKind::Memorandum => "no commission".to_owned(),
        EntryKind::Reversal { of, reason } => format!("takes back {of}: {reason}"),
    }
}

/// A moment in Indian Standard Time, to the minute.
fn ist(moment: &Timestamp) -> String {
    let offset = Offset::from_seconds(IST_AHEAD_SECONDS).unwrap_or(Offset::UTC);
    let local = offset.to_datetime(moment.to_jiff().unwrap_or(jiff::Timestamp::MAX));
    let (date, time) = (local.date(), local.time());
    format!("{date} {:02}:{:02}", time.hour(), time.minute())
}
