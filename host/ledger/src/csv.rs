//! A statement as CSV (RFC 4180), for a spreadsheet.

use std::fmt::{self, Write as _};

use super::{EntryKind, Line, Statement};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::plain_text::misleads;

const HEADER: &str = "number,posted_at,closed_at,intent,external_id,request_id,status,kind,reverses,amount_inr,\
                      rate_percent,commission_inr\r\n";

impl Statement {
    /// One row for each line under a row of names. Totals are not in it, so that a column can be summed.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut csv = HEADER.to_owned();
        for line in &self.lines {
            // Writing to a String cannot fail.
            let _ = row(&mut csv, line);
        }
        csv
    }
}

fn row(csv: &mut String, line: &Line) -> fmt::Result {
    let (kind, reverses) = match &line.kind {
        EntryKind::Charge => ("charge", String::new()),
        EntryKind::Memorandum => ("memorandum", String::new()),
        EntryKind::Reversal { of, .. } => ("reversal", of.to_string()),
    };
    let rate = line.rate_basis_points.basis_points();
    let [posted_at, closed_at] = [line.posted_at_ms, line.closed_at_ms].map(utc);
    write!(csv, "{},{posted_at},{closed_at},{}", line.number, line.intent)?;
    for text in [&line.external_id, &line.request_id, &line.status] {
        write!(csv, ",{}", Cell(text))?;
    }
    write!(csv, ",{kind},{reverses},{},{}.{:02},{}\r\n", line.amount_inr, rate / 100, rate % 100, line.commission_inr)
}

/// A time by ISO 8601 in UTC; those past the year 9999 as its end.
fn utc(time: Timestamp) -> jiff::Timestamp {
    time.to_jiff().unwrap_or(jiff::Timestamp::MAX)
}

/// A text of a partner. Quoted where it must be; where a spreadsheet would take it for a formula, an apostrophe goes in
/// front. What would mislead its reader, such as a character that turns the direction of the row, is spelt out.
struct Cell<'a>(&'a str);

impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let guard = if self.0.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
        let quote = if self.0.contains([',', '"', '\r', '\n']) { "\"" } else { "" };
        write!(f, "{quote}{guard}")?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\"\"")?,
                // Ends of lines and tabs have their place in a cell.
                '\t' | '\r' | '\n' => f.write_char(c)?,
                c if misleads(c) => write!(f, "{}", c.escape_default())?,
                c => f.write_char(c)?,
            }
        }
        f.write_str(quote)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_says_what_it_holds() {
        let cases = [
            ("BK-1", "BK-1"),
            ("=1+1", "'=1+1"),
            ("a,\"b\"", "\"a,\"\"b\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("BK\u{202e}4-1", "BK\\u{202e}4-1"),
            ("BK\u{200b}\u{0}", "BK\\u{200b}\\u{0}"),
        ];
        for (text, cell) in cases {
            assert_eq!(Cell(text).to_string(), cell, "{text:?}");
        }
    }
}
