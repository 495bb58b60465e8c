//! The statements, and how rows become what the port speaks of. Names of tables come from the port's own list of kinds,
//! never from a caller.

use intent_gateway_domain::anchor::ChainName;
use intent_gateway_domain::audit::{Actor, AuditDraft, AuditEntry, link};
use intent_gateway_domain::chain::{ChainKeys, Link, Linked as _};
use intent_gateway_domain::store::{ClaimedMail, Document, Kind, OutgoingMail};

use crate::chains;
use crate::engine::{Engine, Session};
use crate::error::EngineError;
use crate::feed;
use crate::value::{Column, Row, Value};

/// A kind's statements. `concat!` makes them constants, so that both engines can keep them prepared.
pub(crate) struct Statements {
    pub(crate) by_key: &'static str,
    pub(crate) by_lookup: &'static str,
    pub(crate) page: &'static str,
    pub(crate) page_of_status: &'static str,
    pub(crate) newest: &'static str,
    pub(crate) newest_of_status: &'static str,
    pub(crate) counts: &'static str,
    pub(crate) named: &'static str,
    pub(crate) changed: &'static str,
    pub(crate) insert: &'static str,
    pub(crate) update: &'static str,
    pub(crate) delete: &'static str,
}

macro_rules! statements {
    ($table:literal) => {
        &Statements {
            by_key: concat!("SELECT key, revision, lookup, status, body FROM ", $table, " WHERE key = $1"),
            by_lookup: concat!("SELECT key, revision, lookup, status, body FROM ", $table, " WHERE lookup = $1"),
            page: concat!(
                "SELECT key, revision, lookup, status, body FROM ",
                $table,
                " WHERE key > $1 ORDER BY key LIMIT $2"
            ),
            page_of_status: concat!(
                "SELECT key, revision, lookup, status, body FROM ",
                $table,
                " WHERE status = $3 AND key > $1 ORDER BY key LIMIT $2"
            ),
            newest: concat!(
                "SELECT key, revision, lookup, status, body FROM ",
                $table,
                " WHERE key < $1 ORDER BY key DESC LIMIT $2"
            ),
            newest_of_status: concat!(
                "SELECT key, revision, lookup, status, body FROM ",
                $table,
                " WHERE status = $3 AND key < $1 ORDER BY key DESC LIMIT $2"
            ),
            counts: concat!("SELECT status, COUNT(*) FROM ", $table, " GROUP BY status ORDER BY status"),
            named: concat!(
                "SELECT kept.key, revision, lookup, status, body FROM record_names AS names JOIN ",
                $table,
                " AS kept ON kept.key = names.key WHERE kind = '",
                $table,
                "' AND name = $1 AND names.key < $2 ORDER BY names.key DESC LIMIT $3"
            ),
            changed: concat!(
                "SELECT kept.key, revision, lookup, status, body, number FROM record_changes AS changes JOIN ",
                $table,
                " AS kept ON kept.key = changes.key WHERE kind = '",
                $table,
                "' AND feed = $1 AND number > $2 ORDER BY number LIMIT $3"
            ),
            insert: concat!(
                "INSERT INTO ",
                $table,
                " (key, revision, lookup, status, body) VALUES ($1, 1 + COALESCE((SELECT value FROM counters WHERE name = 'removed/",
                $table,
                "'), 0), $2, $3, $4) ON CONFLICT DO NOTHING RETURNING revision"
            ),
            update: concat!(
                "UPDATE ",
                $table,
                " SET revision = revision + 1, lookup = $3, status = $4, body = $5 WHERE key = $1 AND revision = $2"
            ),
            delete: concat!("DELETE FROM ", $table, " WHERE key = $1 AND revision = $2"),
        }
    };
}

/// The statements of a kind. A test holds them against the kinds' names.
pub(crate) fn of(kind: Kind) -> &'static Statements {
    match kind {
        Kind::Accounts => statements!("accounts"),
        Kind::EmailCodes => statements!("email_codes"),
        Kind::Credentials => statements!("credentials"),
        Kind::Webhooks => statements!("webhooks"),
        Kind::Manifests => statements!("manifests"),
        Kind::Reviews => statements!("reviews"),
        Kind::Connections => statements!("connections"),
        Kind::Links => statements!("links"),
        Kind::PendingLinks => statements!("pending_links"),
        Kind::LinkClients => statements!("link_clients"),
        Kind::Attempts => statements!("attempts"),
        Kind::Documents => statements!("documents"),
        Kind::DocumentContents => statements!("document_contents"),
        Kind::Orders => statements!("orders"),
        Kind::OrderedOptions => statements!("ordered_options"),
        Kind::TestReports => statements!("test_reports"),
        Kind::Approvals => statements!("approvals"),
        Kind::Contracts => statements!("contracts"),
        Kind::ContractNames => statements!("contract_names"),
        Kind::ComponentParts => statements!("component_parts"),
        Kind::ContractStates => statements!("contract_states"),
        Kind::ContractRevocations => statements!("contract_revocations"),
        Kind::RolloutEvidence => statements!("rollout_evidence"),
        Kind::WebSessions => statements!("web_sessions"),
        Kind::PartnerEvents => statements!("partner_events"),
        Kind::QueuedEvents => statements!("queued_events"),
        Kind::Notices => statements!("notices"),
    }
}

/// Adds names of one record to SQLite, a JSON array of them: a record that has names has about a dozen, and each statement
/// is a way to the writer's thread and back. `WHERE TRUE` tells `ON CONFLICT` from a join's `ON`.
pub(crate) const ADD_NAMES_ON_SQLITE: &str = "INSERT INTO record_names (kind, name, key) \
                                              SELECT $1, value, $2 FROM json_each($3) WHERE TRUE ON CONFLICT DO NOTHING";
/// Adds names of any records to PostgreSQL.
pub(crate) const ADD_NAMES_ON_POSTGRES: &str =
    "INSERT INTO record_names (kind, name, key) SELECT * FROM UNNEST($1, $2, $3) ON CONFLICT DO NOTHING";
const REMOVE_NAMES: &str = "DELETE FROM record_names WHERE kind = $1 AND key = $2";

/// A record out of its row.
pub(crate) fn document(row: &Row) -> Result<Document, EngineError> {
    Ok(Document {
        key: row.text(0)?,
        revision: row.number(1)?,
        lookup: row.optional_text(2)?,
        status: row.optional_text(3)?,
        body: row.text(4)?,
        names: Vec::new(),
        feed: None,
    })
}

/// Keeps a record at the revision after the expected one, which is told; none when it is at another. A new record counts on from
/// those that were removed.
pub(crate) async fn put(tx: &mut impl Session, kind: Kind, document: Document) -> Result<Option<u64>, EngineError> {
    let Document { key, revision, lookup, status, body, names, feed } = document;
    let told = feed.map(|feed| (key.clone(), feed));
    let named = key.clone();
    let (lookup, status) = (Value::Text(lookup), Value::Text(status));
    let kept = if revision == 0 {
        let rows = tx.query(of(kind).insert, vec![key.into(), lookup, status, body.into()]).await?;
        rows.first().map(|row| row.number(0)).transpose()?
    } else {
        let values = vec![key.into(), Value::number(revision)?, lookup, status, body.into()];
        (tx.execute(of(kind).update, values).await? == 1).then_some(revision + 1)
    };
    if kept.is_some() {
        add_names(tx, kind, &named, names).await?;
        if let Some((key, feed)) = told {
            feed::tell(tx, kind, key, feed).await?;
        }
    }
    Ok(kept)
}

/// Adds names of a record.
async fn add_names(tx: &mut impl Session, kind: Kind, key: &str, names: Vec<String>) -> Result<(), EngineError> {
    if names.is_empty() {
        return Ok(());
    }
    if let Some(tx) = tx.as_postgres() {
        return tx
            .query_columns(ADD_NAMES_ON_POSTGRES, &Column::of_rows(rows_of_names(kind, key, names)?)?)
            .await
            .map(drop);
    }
    tx.execute(ADD_NAMES_ON_SQLITE, values_of_names(kind, key, &names)?).await.map(drop)
}

/// The values of [`ADD_NAMES_ON_SQLITE`].
pub(crate) fn values_of_names(kind: Kind, key: &str, names: &[String]) -> Result<Vec<Value>, EngineError> {
    names.iter().try_for_each(|name| Value::from(name.as_str()).check())?;
    let names = serde_json::to_string(names).map_err(|error| EngineError::because("names cannot be written", error))?;
    Ok(vec![kind.name().into(), key.into(), names.into()])
}

/// The rows of [`ADD_NAMES_ON_POSTGRES`].
pub(crate) fn rows_of_names(kind: Kind, key: &str, names: Vec<String>) -> Result<Vec<Vec<Value>>, EngineError> {
    names.iter().try_for_each(|name| Value::from(name.as_str()).check())?;
    Ok(names.into_iter().map(|name| vec![kind.name().into(), name.into(), key.into()]).collect())
}

/// Removes a record; the revision that it had, or none when it is at another.
pub(crate) async fn delete(
    tx: &mut impl Session,
    kind: Kind,
    key: String,
    revision: u64,
) -> Result<Option<u64>, EngineError> {
    let number = Value::number(revision)?;
    let rows = tx.execute(of(kind).delete, vec![key.as_str().into(), number.clone()]).await?;
    if rows != 1 {
        return Ok(None);
    }
    if kind.has_names() {
        tx.execute(REMOVE_NAMES, vec![kind.name().into(), key.as_str().into()]).await?;
    }
    if kind.has_feed() {
        feed::forget(tx, kind, key).await?;
    }
    let sql = "INSERT INTO counters (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE \
               SET value = excluded.value WHERE excluded.value > counters.value";
    tx.execute(sql, vec![format!("removed/{}", kind.name()).into(), number]).await?;
    Ok(Some(revision))
}

/// The number of watched changes so far.
pub(crate) async fn changes(engine: &Engine) -> Result<u64, EngineError> {
    let rows = engine.query("SELECT value FROM counters WHERE name = 'changes'", Vec::new()).await?;
    rows.first().ok_or_else(|| EngineError::failed("the counter of changes is gone"))?.number(0)
}

/// Counts one more, and tells the others when the transaction commits.
pub(crate) async fn count_change(tx: &mut impl Session) -> Result<u64, EngineError> {
    let sql = "UPDATE counters SET value = value + 1 WHERE name = 'changes' RETURNING value";
    let rows = tx.query(sql, Vec::new()).await?;
    let count = rows.first().ok_or_else(|| EngineError::failed("the counter of changes is gone"))?.number(0)?;
    // Other processes on SQLite find out by looking. It travels with the commit.
    if let Some(tx) = tx.as_postgres() {
        tx.notify().await?;
    }
    Ok(count)
}

/// Appends entries to the log, each after the one before.
pub(crate) async fn append_audit(
    tx: &mut impl Session,
    drafts: Vec<AuditDraft>,
    keys: &ChainKeys,
) -> Result<(), EngineError> {
    let keys = chains::require(keys)?;
    let last = tx.query(chains::last(ChainName::Audit), Vec::new()).await?;
    let (mut seq, Link { mut hash, .. }) = chains::head(last.first(), ChainName::Audit)?;
    for draft in drafts {
        seq += 1;
        let entry = link(draft, seq, hash, keys);
        hash = entry.hash;
        let link = entry.link().to_string();
        let sql = "INSERT INTO audit_log (seq, at_ms, role, actor, action, subject, detail, hash) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let AuditEntry { at_ms, actor, action, subject, detail, .. } = entry;
        let values = vec![
            Value::number(seq)?,
            Value::time(at_ms)?,
            actor.role.into(),
            actor.subject.into(),
            action.into(),
            subject.into(),
            detail.into(),
            link.into(),
        ];
        tx.execute(sql, values).await?;
    }
    Ok(())
}

/// An entry of the log out of its row.
pub(crate) fn audit_entry(row: &Row) -> Result<AuditEntry, EngineError> {
    let Link { hash, key } = chains::parse(&row.text(7)?)?;
    Ok(AuditEntry {
        seq: row.number(0)?,
        at_ms: row.time(1)?,
        actor: Actor::new(row.text(2)?, row.text(3)?),
        action: row.text(4)?,
        subject: row.text(5)?,
        detail: row.text(6)?,
        hash,
        key,
    })
}

/// Keeps a mail to be sent.
pub(crate) async fn put_mail(tx: &mut impl Session, mail: OutgoingMail) -> Result<(), EngineError> {
    let OutgoingMail { id, sealed, not_before } = mail;
    let sql = "INSERT INTO mail (id, sealed, not_before_ms, tries) VALUES ($1, $2, $3, 0)";
    tx.execute(sql, vec![id.into(), sealed.into(), Value::time(not_before)?]).await.map(drop)
}

/// A mail out of its row.
pub(crate) fn claimed_mail(row: &Row) -> Result<ClaimedMail, EngineError> {
    let tries = row.number(2)?.try_into().map_err(|_| EngineError::failed("a mail was tried too often"))?;
    Ok(ClaimedMail { id: row.text(0)?, sealed: row.text(1)?, tries })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_own_table() {
        for kind in Kind::ALL {
            let Statements { by_key, by_lookup, page, page_of_status, newest, .. } = of(kind);
            let Statements { newest_of_status, counts, named, changed, insert, update, delete, .. } = of(kind);
            let lists = [page, page_of_status, newest, newest_of_status, counts, named, changed];
            for sql in lists.into_iter().chain([by_key, by_lookup, insert, update, delete]) {
                assert!(sql.contains(&format!(" {} ", kind.name())), "{sql}");
            }
            for sql in [named, changed] {
                assert!(sql.contains(&format!("kind = '{}'", kind.name())), "{sql}");
            }
            assert!(insert.contains(&format!("'removed/{}'", kind.name())), "{insert}");
        }
    }
}
