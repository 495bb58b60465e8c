//! Receipts are read: over all segments and the tables of before, as if they were one table.
//!
//! On PostgreSQL that is a view. On SQLite each file is asked, the newest first, and the tables of before last; what is in order
//! of time is put in order once more in the end, for a receipt that was kept late may lie in a later segment.
//!
//! A file that is not there any more may have another in its place: who meets that looks at the list of segments anew.

use std::ops::ControlFlow;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::receipt::{
    KeptReceipt, MarkedReceipt, QuotedOptions, RANKINGS_OF_REQUEST_MAX, RECEIPTS_LOOKED_THROUGH_MAX, ReceiptsBack,
};
use intent_gateway_domain::user_data::UserRanking;
use intent_gateway_domain::vault::Mark;
use serde_json::value::RawValue;

use super::statements::{OF_ALL, OF_FILE, Place, Whole, put_together};
use super::{FILE, files_of_kept_by, first_number, kept};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::evidence::{keepable_name, read_quoted, read_shown, receipt, receipt_columns};
use crate::postgres::Postgres;
use crate::records::SqlStore;
use crate::sqlite::{Batch, OpenSegments};
use crate::value::{Column, Row, Value};

/// Receipts of all intents that are looked at for a page of those of one.
const LOOKED_AT_ONCE: u32 = 64;
/// How much later than the end of its segment a receipt's time may be: clocks of gateways differ.
const CLOCKS_DIFFER_MS: u64 = 60 * 60 * 1_000;

/// The statements below say it as a figure.
const _: () = assert!(RANKINGS_OF_REQUEST_MAX == 3);

const HAS_ID: &str = "SELECT number FROM receipts WHERE id = $1";

/// What a partner has quoted in the latest rankings of a request. The order of the tables is the order of the search.
const QUOTED: &str = "SELECT id, part.at_ms, version, contract, quoted, \
                      (SELECT bytes FROM receipt_dictionaries AS known WHERE known.number = part.dictionary), \
                      ranking.number FROM receipt_parts AS part CROSS JOIN receipts AS ranking WHERE part.request_id = $1 AND part.intent = $2 AND partner = $3 \
                      AND shown > 0 AND ranking.number = receipt ORDER BY part.at_ms DESC, receipt DESC LIMIT 3";
/// The same for many at once.
const QUOTED_OF_MANY: &str = "SELECT id, part.at_ms, version, contract, quoted, \
                              (SELECT bytes FROM receipt_dictionaries AS known WHERE known.number = part.dictionary), \
                              all_receipts.number, place FROM UNNEST($1, $2, $3) \
                              WITH ORDINALITY AS wanted (the_request, the_intent, the_partner, place) \
                              CROSS JOIN LATERAL (SELECT receipt, at_ms, quoted, dictionary FROM all_receipt_parts \
                              WHERE request_id = the_request AND intent = the_intent AND partner = the_partner \
                              AND shown > 0 ORDER BY at_ms DESC, receipt DESC LIMIT 3) AS part \
                              JOIN all_receipts ON all_receipts.number = receipt ORDER BY place, part.at_ms DESC, receipt DESC";
const NUMBER: usize = 6;
const PLACE: usize = 7;

/// For which orders it is asked what was quoted: request, intent and partner of each.
pub(crate) type Questions = Vec<Vec<Value>>;
/// What was quoted, question by question, newest first.
pub(crate) type Quotes = Vec<Vec<QuotedOptions>>;

impl SqlStore {
    /// Asks every segment on SQLite, the newest first, and the tables of before last.
    pub(super) async fn ask_files<T: Default + Send + 'static>(
        &self,
        ask: impl Fn(&Batch<'_>, &mut T) -> Result<ControlFlow<()>, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let look = move |segments: &mut OpenSegments| {
            let files = segments.on_database(files_of_kept_by)?;
            let (mut found, answer) = ask_kept_files(segments, files, &ask)?;
            if answer.is_continue() {
                segments.on_database(|tx| ask(tx, &mut found).map(drop))?;
            }
            Ok(found)
        };
        self.receipts.files()?.read(look).await
    }

    /// Asks the file of a segment on SQLite; none where it is not kept any more, or its file was removed by hand.
    pub(crate) async fn ask_segment<T: Send + 'static>(
        &self,
        segment: u64,
        ask: impl Fn(&mut OpenSegments, u64) -> Result<Option<T>, EngineError> + Send + 'static,
    ) -> Result<Option<T>, EngineError> {
        let number = Value::number(segment)?;
        let look = move |segments: &mut OpenSegments| {
            let mut missing = None;
            loop {
                let file = |tx: &Batch<'_>| tx.query(FILE, [&number])?.first().map(|row| row.number(0)).transpose();
                let file = segments.on_database(file)?.filter(|file| missing != Some(*file));
                let Some(file) = file else { return Ok(None) };
                let found = ask(segments, file)?;
                if found.is_some() {
                    return Ok(found);
                }
                missing = Some(file);
            }
        };
        self.receipts.files()?.read(look).await
    }

    pub(crate) async fn read_receipt(&self, id: &str) -> Result<Option<KeptReceipt>, EngineError> {
        let id = Value::from(keepable_name(id));
        let rows = match &self.engine {
            Engine::Sqlite(_) => {
                let ask = move |tx: &Batch<'_>, found: &mut Vec<Row>| {
                    *found = tx.query(OF_FILE.receipt, [&id])?;
                    Ok(if found.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
                };
                self.ask_files(ask).await?
            }
            Engine::Postgres(engine) => engine.query(OF_ALL.receipt, vec![id]).await?,
        };
        let found = put_together(rows)?;
        found.first().map(|Whole { header, parts }| receipt(header, parts)).transpose()
    }

    pub(crate) async fn read_option(
        &self,
        receipt: &str,
        partner: &PartnerId,
        number: u32,
    ) -> Result<Option<Box<RawValue>>, EngineError> {
        let values: Vec<Value> = vec![keepable_name(receipt).into(), partner.as_str().into()];
        let rows = match &self.engine {
            Engine::Sqlite(_) => {
                let ask = move |tx: &Batch<'_>, found: &mut Vec<Row>| {
                    *found = tx.query(OF_FILE.shown, &values)?;
                    // A partner that was not in the ranking is looked for in vain in all of them, which nobody does.
                    Ok(if found.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
                };
                self.ask_files(ask).await?
            }
            Engine::Postgres(engine) => engine.query(OF_ALL.shown, values).await?,
        };
        rows.first().map_or(Ok(None), |part| read_shown(part, number))
    }

    /// Identifiers of an intent's latest receipts.
    pub(crate) async fn read_recent(&self, intent: &IntentId, limit: u32) -> Result<Vec<String>, EngineError> {
        let most = RECEIPTS_LOOKED_THROUGH_MAX as usize;
        let rows = match &self.engine {
            Engine::Sqlite(_) => {
                let ask = move |tx: &Batch<'_>, found: &mut Vec<Row>| {
                    let left = u32::try_from(most - found.len()).unwrap_or_default();
                    found.extend(tx.query(OF_FILE.recent, &[left.into()])?);
                    Ok(if found.len() >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
                };
                self.ask_files(ask).await?
            }
            Engine::Postgres(engine) => engine.query(OF_ALL.recent, vec![RECEIPTS_LOOKED_THROUGH_MAX.into()]).await?,
        };
        let mut ids = Vec::new();
        for row in rows {
            if ids.len() == limit as usize {
                break;
            }
            if row.text(1)? == intent.as_str() {
                ids.push(row.text(0)?);
            }
        }
        Ok(ids)
    }

    /// An intent's receipts since a time, from `before` back.
    pub(crate) async fn read_back(
        &self,
        intent: &IntentId,
        since: Timestamp,
        before: Option<u64>,
    ) -> Result<ReceiptsBack, EngineError> {
        let segments: Vec<(u64, Timestamp)> =
            kept(&self.engine).await?.iter().map(|known| (known.segment.number, known.segment.begun)).collect();
        let earliest = since.minus_ms(CLOCKS_DIFFER_MS);
        let begun = segments.iter().rev().find(|(_, begun)| *begun <= earliest);
        let floor = begun.map_or(0, |(number, _)| first_number(*number));
        let mut below = before.unwrap_or(u64::MAX).min(i64::MAX.unsigned_abs());
        // Ends: every turn goes back by a segment.
        loop {
            let is_below = |(number, _): &&(u64, Timestamp)| first_number(*number) + 1 < below;
            let (place, from) = match (&self.engine, segments.iter().rev().find(is_below)) {
                (Engine::Sqlite(_), Some((number, _))) => (Place::Segment(*number), first_number(*number)),
                _ => (Place::Tables, 0),
            };
            let values = vec![Value::number(below)?, LOOKED_AT_ONCE.into(), intent.as_str().into()];
            let found = put_together(self.ask_at(place, |ask| ask.of_intent, values).await?)?;
            let last = found.last().map(|whole| whole.header.number(0)).transpose()?;
            let reached = last.unwrap_or(from + 1).max(from + 1);
            let next = (reached > floor + 1 && (last.is_some() || from > 0)).then_some(reached);
            if last.is_some() || next.is_none() {
                let admits = |whole: &Whole| {
                    Ok::<_, EngineError>(whole.header.text(4)? == intent.as_str() && whole.header.time(2)? >= since)
                };
                let mut receipts = Vec::new();
                for whole in &found {
                    if admits(whole)? {
                        receipts.extend(readable_receipt(whole)?);
                    }
                }
                return Ok(ReceiptsBack { receipts, next });
            }
            below = reached;
        }
    }

    /// Identifiers of the receipts of a request, newest first.
    pub(crate) async fn read_of_request(&self, request_id: &str, limit: u32) -> Result<Vec<String>, EngineError> {
        let values: Vec<Value> = vec![keepable_name(request_id).into(), limit.into()];
        let mut rows = match &self.engine {
            Engine::Sqlite(_) => {
                let ask = move |tx: &Batch<'_>, found: &mut Vec<Row>| {
                    found.extend(tx.query(OF_FILE.of_request, &values)?);
                    Ok(ControlFlow::Continue(()))
                };
                self.ask_files(ask).await?
            }
            Engine::Postgres(engine) => engine.query(OF_ALL.of_request, values).await?,
        };
        newest_first(&mut rows, 1, 2)?;
        rows.iter().take(limit as usize).map(|row| row.text(0)).collect()
    }

    /// The rankings under a mark with a number below `before`, the greatest number first.
    pub(crate) async fn read_of_user(
        &self,
        mark: &Mark,
        before: Value,
        limit: u32,
    ) -> Result<Vec<UserRanking>, EngineError> {
        let (mark, most) = (mark.as_str().to_owned(), limit as usize);
        let rows = match &self.engine {
            Engine::Sqlite(_) => {
                let ask = move |tx: &Batch<'_>, found: &mut Vec<Row>| {
                    let left = u32::try_from(most - found.len()).unwrap_or_default();
                    found.extend(tx.query(OF_FILE.of_user, &[mark.as_str().into(), before.clone(), left.into()])?);
                    Ok(if found.len() >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
                };
                self.ask_files(ask).await?
            }
            Engine::Postgres(engine) => engine.query(OF_ALL.of_user, vec![mark.into(), before, limit.into()]).await?,
        };
        let ranking =
            |row: &Row| Ok(UserRanking { number: row.number(0)?, id: row.text(1)?, request_id: row.text(2)? });
        rows.iter().map(ranking).collect()
    }

    /// The segment of a receipt's file on SQLite; 0 where it lies in the tables of before, or nowhere.
    pub(crate) async fn segment_with(&self, id: &str) -> Result<u64, EngineError> {
        let id = keepable_name(id);
        let ask = move |tx: &Batch<'_>, found: &mut u64| {
            let Some(number) = tx.query(HAS_ID, &[id.as_str().into()])?.first().map(|row| row.number(0)).transpose()?
            else {
                return Ok(ControlFlow::Continue(()));
            };
            *found = super::segment_of(number);
            Ok(ControlFlow::Break(()))
        };
        self.ask_files(ask).await
    }
}

/// Asks every segment on SQLite, the newest first: what was found, and whether that is enough. `files` are those of the list.
fn ask_kept_files<T: Default>(
    segments: &mut OpenSegments,
    mut files: Vec<u64>,
    ask: &impl Fn(&Batch<'_>, &mut T) -> Result<ControlFlow<()>, EngineError>,
) -> Result<(T, ControlFlow<()>), EngineError> {
    loop {
        let (mut found, mut is_complete) = (T::default(), true);
        for file in files.iter().rev() {
            match segments.on(*file, |tx| ask(tx, &mut found))? {
                Some(ControlFlow::Break(())) => return Ok((found, ControlFlow::Break(()))),
                Some(ControlFlow::Continue(())) => {}
                None => is_complete = false,
            }
        }
        // Where a file is missing and the list is the same, it was removed by hand: it holds nothing.
        let listed = if is_complete { files.clone() } else { segments.on_database(files_of_kept_by)? };
        if listed == files {
            return Ok((found, ControlFlow::Continue(())));
        }
        files = listed;
    }
}

/// What partners have quoted for each of many orders on PostgreSQL.
pub(crate) async fn read_quoted_of_tables(engine: &Postgres, questions: Questions) -> Result<Quotes, EngineError> {
    if questions.is_empty() {
        return Ok(Vec::new());
    }
    let mut found: Vec<Vec<Row>> = std::iter::repeat_with(Vec::new).take(questions.len()).collect();
    for row in engine.query_columns(QUOTED_OF_MANY, &Column::of_rows(questions)?).await? {
        // Places count from 1.
        let place = usize::try_from(row.number(PLACE)?).unwrap_or_default();
        let rows = found.get_mut(place.wrapping_sub(1));
        rows.ok_or_else(|| EngineError::failed("an answer is to no question"))?.push(row);
    }
    read_quotes(found)
}

/// What partners have quoted for each of many orders on SQLite. Which files there are, and what the tables of before have, was
/// read with the questions.
pub(crate) fn read_quoted_of_files(
    segments: &mut OpenSegments,
    questions: &Questions,
    QuotesOfDatabase { files, mut rows }: QuotesOfDatabase,
) -> Result<Quotes, EngineError> {
    let ask = |tx: &Batch<'_>, found: &mut Vec<Vec<Row>>| {
        add_quotes(tx, questions, found)?;
        Ok(ControlFlow::Continue(()))
    };
    let (found, _) = ask_kept_files(segments, files, &ask)?;
    rows.iter_mut().zip(found).for_each(|(rows, found)| rows.extend(found));
    read_quotes(rows)
}

/// What SQLite's database has of what was quoted, and which files of receipts are to be asked besides.
#[derive(Default)]
pub(crate) struct QuotesOfDatabase {
    files: Vec<u64>,
    rows: Vec<Vec<Row>>,
}

impl QuotesOfDatabase {
    pub(crate) fn read(tx: &Batch<'_>, questions: &Questions) -> Result<Self, EngineError> {
        if questions.is_empty() {
            return Ok(Self::default());
        }
        let mut rows = Vec::new();
        add_quotes(tx, questions, &mut rows)?;
        Ok(Self { files: files_of_kept_by(tx)?, rows })
    }
}

fn add_quotes(tx: &Batch<'_>, questions: &Questions, found: &mut Vec<Vec<Row>>) -> Result<(), EngineError> {
    found.resize_with(questions.len(), Vec::new);
    for (question, rows) in questions.iter().zip(found) {
        rows.extend(tx.query(QUOTED, question)?);
    }
    Ok(())
}

fn read_quotes(rows: Vec<Vec<Row>>) -> Result<Quotes, EngineError> {
    let read = |mut rows: Vec<Row>| {
        newest_first(&mut rows, 1, NUMBER)?;
        Ok(rows.iter().take(RANKINGS_OF_REQUEST_MAX as usize).filter_map(readable_quote).collect())
    };
    rows.into_iter().map(read).collect()
}

/// A receipt that is not erased, and whose it is. One that is damaged keeps nobody from reading the others.
fn readable_receipt(Whole { header, parts }: &Whole) -> Result<Option<MarkedReceipt>, EngineError> {
    let user = header.optional_text(receipt_columns::USER)?.map(Mark::from_kept);
    Ok(match receipt(header, parts) {
        Ok(kept) => kept.whole().map(|receipt| MarkedReceipt { receipt, user }),
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a receipt cannot be read");
            None
        }
    })
}

/// What was quoted, out of its row. No report, and none of its batch, waits for ever because a receipt is damaged: it counts as
/// not kept.
fn readable_quote(row: &Row) -> Option<QuotedOptions> {
    let quoted = read_quoted(row);
    if let Err(error) = &quoted {
        tracing::error!(error = error as &dyn std::error::Error, "what a partner has quoted cannot be read");
    }
    quoted.ok()
}

/// Puts rows in order by the columns of their time and of their number, the latest first.
fn newest_first(rows: &mut [Row], time: usize, number: usize) -> Result<(), EngineError> {
    // A column that is no number would be so in all of them.
    rows.iter().try_for_each(|row| row.integer(time).and_then(|_| row.integer(number)).map(drop))?;
    let key = |row: &Row| (row.integer(time).unwrap_or_default(), row.integer(number).unwrap_or_default());
    rows.sort_by_key(|row| std::cmp::Reverse(key(row)));
    Ok(())
}
