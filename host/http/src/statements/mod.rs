//! How a statement is written: JSON, CSV, or a page to print; part by part, so that none is held in memory as a whole.
//!
//! The commands write statements by this module too. Not here: what is on a statement (`ledger`), who may read it
//! (the routes), what sends it (`answer`).

pub(crate) mod answer;
mod page;

use intent_gateway_api::ledger::{LineBody, StatementBody};
use intent_gateway_ledger::bookkeeping::Outline;
use intent_gateway_ledger::{Line, Statement, Totals};

/// A form of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object.
    Json,
    /// One row for each line under a row of names (RFC 4180).
    Csv,
    /// A page to print, without scripts and without anything from elsewhere.
    Html,
}

/// A statement could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    #[error("a part of a statement did not serialise")]
    Json(#[from] serde_json::Error),
    #[error("a part of a page did not render")]
    Page(#[from] askama::Error),
}

impl Format {
    /// All of them, the one that is used where nothing is asked for first.
    pub const ALL: [Self; 3] = [Self::Json, Self::Csv, Self::Html];

    /// Its name, in a query and as the ending of a file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Html => "html",
        }
    }

    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Html => "text/html; charset=utf-8",
        }
    }

    /// What stands before the lines.
    ///
    /// # Errors
    /// [`RenderError`].
    pub fn head(self, outline: &Outline) -> Result<String, RenderError> {
        match self {
            Self::Json => {
                let mut head = serde_json::to_string(&StatementBody::head(outline))?;
                // The lines are the last member, and follow.
                head.truncate(head.len() - Self::Json.end().len());
                Ok(head)
            }
            Self::Csv => Ok(csv(outline, Vec::new())),
            Self::Html => page::head(outline),
        }
    }

    /// The next lines; `first` when none were written before.
    ///
    /// # Errors
    /// [`RenderError`].
    pub fn lines(self, outline: &Outline, lines: Vec<Line>, first: bool) -> Result<String, RenderError> {
        match self {
            Self::Json => {
                let mut text = String::new();
                for (index, line) in lines.into_iter().enumerate() {
                    if index > 0 || !first {
                        text.push(',');
                    }
                    text.push_str(&serde_json::to_string(&LineBody::from(line))?);
                }
                Ok(text)
            }
            Self::Csv => {
                let names = csv(outline, Vec::new()).len();
                Ok(csv(outline, lines).split_off(names))
            }
            Self::Html => page::lines(&lines),
        }
    }

    /// What stands after them.
    #[must_use]
    pub fn end(self) -> &'static str {
        match self {
            Self::Json => "]}",
            Self::Csv => "",
            Self::Html => page::END,
        }
    }
}

/// The row of names, and these lines below it.
fn csv(outline: &Outline, lines: Vec<Line>) -> String {
    let Outline { partner, month, .. } = outline;
    Statement { partner: partner.clone(), month: *month, totals: Totals::default(), lines }.to_csv()
}
