//! Sends a statement: which form is asked for, and a body that is read from the ledger as fast as it is taken.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http::{HeaderMap, HeaderValue, header};
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_ledger::Month;
use intent_gateway_ledger::bookkeeping::{Bookkeeping, BookkeepingError, Outline, lines};
use serde::Deserialize;

use super::{Format, RenderError, page};
use crate::error::{Code, Refusal};

/// Which form is asked for in the query.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FormatQuery {
    format: Option<String>,
}

/// What a request for a statement says.
pub(crate) struct StatementQuery<'a> {
    /// Whose statement.
    pub(crate) partner: &'a PartnerId,
    /// The month, as the path has it.
    pub(crate) month: &'a str,
    /// The form, by the query.
    pub(crate) query: Result<Query<FormatQuery>, QueryRejection>,
    /// Or by `Accept`.
    pub(crate) headers: &'a HeaderMap,
}

/// Draws the statement up and begins to send it.
pub(crate) async fn statement(bookkeeping: &Arc<Bookkeeping>, wanted: StatementQuery<'_>) -> Result<Response, Refusal> {
    let month: Month = wanted.month.parse().map_err(|_| {
        Refusal::new(Code::InvalidRequest).message("A month is written `YYYY-MM`, for example `2026-05`.")
    })?;
    let format = format(wanted.query, wanted.headers)?;
    let outline = bookkeeping.statement(wanted.partner, month).await?;
    let head = format.head(&outline).map_err(|error| Refusal::new(Code::InternalError).internal(chain(&error)))?;
    let headers = headers(format, &outline);
    let mut response = Response::new(Body::from_stream(body(bookkeeping.clone(), format, outline, head)));
    response.headers_mut().extend(headers);
    Ok(response)
}

fn headers(format: Format, outline: &Outline) -> Vec<(http::HeaderName, HeaderValue)> {
    let Outline { partner, month, .. } = outline;
    let mut headers = vec![
        (header::CONTENT_TYPE, HeaderValue::from_static(format.media_type())),
        (header::VARY, HeaderValue::from_static("accept")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    // Identifiers of partners are letters, digits, `-` and `_`, which a file name and a header take as they are.
    let file = match format {
        Format::Json => None,
        Format::Csv => Some(format!("attachment; filename=\"statement-{partner}-{month}.csv\"")),
        Format::Html => Some(format!("inline; filename=\"statement-{partner}-{month}.html\"")),
    };
    let file = file.and_then(|file| HeaderValue::from_str(&file).ok());
    headers.extend(file.map(|file| (header::CONTENT_DISPOSITION, file)));
    if format == Format::Html {
        let policy = HeaderValue::from_str(&page::POLICY).ok();
        headers.extend(policy.map(|policy| (header::CONTENT_SECURITY_POLICY, policy)));
        headers.push((header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")));
    }
    headers
}

/// Where the body is.
enum Part {
    Head(String),
    /// After the line of this number.
    Lines(u64),
    End,
}

/// A statement that broke off; the connection is closed before its end, so that nobody takes a part for the whole.
#[derive(Debug, thiserror::Error)]
enum BrokeOff {
    #[error("the ledger could not be read")]
    Ledger(#[from] BookkeepingError),
    #[error("a part could not be written")]
    Render(#[from] RenderError),
}

fn body(
    bookkeeping: Arc<Bookkeeping>,
    format: Format,
    outline: Outline,
    head: String,
) -> impl Stream<Item = io::Result<Bytes>> {
    stream::try_unfold(Some(Part::Head(head)), move |part| {
        let (bookkeeping, outline) = (bookkeeping.clone(), outline.clone());
        async move {
            let Some(part) = part else { return Ok(None) };
            let next = next(&bookkeeping, format, &outline, part).await;
            next.map(Some).map_err(|error| {
                tracing::error!(error = chain(&error), "a statement broke off");
                io::Error::other(error)
            })
        }
    })
}

async fn next(
    bookkeeping: &Bookkeeping,
    format: Format,
    outline: &Outline,
    part: Part,
) -> Result<(Bytes, Option<Part>), BrokeOff> {
    let after = match part {
        Part::Head(head) => return Ok((head.into(), Some(Part::Lines(0)))),
        Part::End => return Ok((format.end().into(), None)),
        Part::Lines(after) => after,
    };
    let page = lines(&*bookkeeping.books, outline, after).await?;
    let rest = page.last().map_or(Part::End, |last| Part::Lines(last.number));
    Ok((format.lines(outline, page, after == 0)?.into(), Some(rest)))
}

/// The form that is asked for: by the query, else by `Accept`, else JSON.
fn format(query: Result<Query<FormatQuery>, QueryRejection>, headers: &HeaderMap) -> Result<Format, Refusal> {
    let refused =
        || Refusal::new(Code::InvalidRequest).message("The query parameter is `format`: `json`, `csv` or `html`.");
    let Query(FormatQuery { format }) = query.map_err(|_| refused())?;
    match format {
        Some(name) => Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(refused),
        None => Ok(choose_format(headers)),
    }
}

/// The form that `Accept` rates highest, the first of those rated alike (RFC 9110, section 12.5.1); JSON where it takes
/// none of them, for an answer in another form says more than a refusal.
fn choose_format(headers: &HeaderMap) -> Format {
    let ranges: Vec<&str> = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .collect();
    let rated = Format::ALL.map(|format| (rating(&ranges, format), format));
    let mut best = (0, Format::Json);
    for (rating, format) in rated {
        if rating > best.0 {
            best = (rating, format);
        }
    }
    best.1
}

/// How much a form is wanted, in thousandths: by the range that names it most closely.
fn rating(ranges: &[&str], format: Format) -> u16 {
    let essence = format.media_type().split(';').next().unwrap_or_default();
    let family = essence.split('/').next().unwrap_or_default();
    let rated = ranges.iter().filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let name = parts.next()?.to_ascii_lowercase();
        let closeness = match name.as_str() {
            "*/*" => 0,
            name if name.strip_suffix("/*") == Some(family) => 1,
            name if name == essence => 2,
            _ => return None,
        };
        let weight = parts.find_map(|parameter| parameter.strip_prefix("q=").or(parameter.strip_prefix("Q=")));
        Some((closeness, weight.map_or(Some(1_000), thousandths)?))
    });
    rated.max_by_key(|(closeness, _)| *closeness).map_or(0, |(_, weight)| weight)
}

/// A weight from 0 to 1 with at most three decimals.
fn thousandths(weight: &str) -> Option<u16> {
    let (whole, decimals) = weight.split_once('.').unwrap_or((weight, ""));
    let fits = matches!(whole, "0" | "1") && decimals.len() <= 3 && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let value: u16 = format!("{whole}{decimals:0<3}").parse().ok().filter(|_| fits)?;
    (value <= 1_000).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(accept: &[&'static str]) -> Format {
        let headers = accept.iter().map(|value| (header::ACCEPT, HeaderValue::from_static(value)));
        choose_format(&headers.collect())
    }

    #[test]
    fn the_form_follows_accept() {
        let cases: [(&[&str], Format); 13] = [
            (&[], Format::Json),
            (&["*/*"], Format::Json),
            (&["text/csv"], Format::Csv),
            (&["TEXT/CSV;header=present"], Format::Csv),
            (&["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"], Format::Html),
            (&["text/*"], Format::Csv),
            (&["text/*;q=0.5, text/html"], Format::Html),
            (&["text/html;q=0.2, application/json;q=0.3"], Format::Json),
            (&["application/json;q=0, text/html;q=0.001"], Format::Html),
            (&["*/*;q=0.1", "text/csv;q=0.2"], Format::Csv),
            (&["image/png"], Format::Json),
            (&["text/html;q=2"], Format::Json),
            (&["text/csv;q=0"], Format::Json),
        ];
        for (accept, expected) in cases {
            assert_eq!(chosen(accept), expected, "{accept:?}");
        }
    }
}
