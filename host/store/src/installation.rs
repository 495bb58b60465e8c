//! The identity of the installation that a database belongs to: one row, made by the first gateway that starts on it, together
//! with an entry of the audit log. What follows from it is decided in [`intent_gateway_domain::installation`].

use intent_gateway_domain::audit::AuditDraft;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::installation::{InstallationId, StoreState};
use intent_gateway_domain::store::StoreError;

use crate::backup::TABLES;
use crate::engine::{Engine, Patience, Tx};
use crate::error::{EngineError, OpenError};
use crate::location::{Location, StorePlace};
use crate::migrate;
use crate::records::SqlStore;
use crate::tables;
use crate::value::Value;

const CLOCK: &str = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
const READ: &str = "SELECT id FROM installation";
/// The last step that was made; the table is refinery's.
const VERSION_READ: &str = "SELECT CAST(COALESCE(MAX(version), 0) AS BIGINT) FROM refinery_schema_history";
/// What is said of a database that is a file and is not there.
pub(crate) const ABSENT_FILE: &str = "there is no such file";

/// Versions of tables: each change of them is one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableVersions {
    /// Of the database.
    pub found: u64,
    /// The last that this program knows.
    pub known: u64,
}

/// Whether rows of a table show that something is kept. What every new database has shows nothing.
pub(crate) fn holds_content(table: &str) -> bool {
    !["counters", "chain_starts", "installation"].contains(&table)
}

/// What a transaction sees.
pub(crate) async fn read(tx: &mut Tx) -> Result<StoreState, EngineError> {
    let rows = tx.query(READ, Vec::new()).await?;
    let id = rows.first().map(|row| row.text(0)).transpose()?;
    let id: Option<InstallationId> = id
        .map(|id| id.parse().map_err(|error| EngineError::because("the identity of the store cannot be read", error)))
        .transpose()?;
    for table in TABLES.iter().filter(|table| holds_content(table.name)) {
        if !tx.query(table.first, Vec::new()).await?.is_empty() {
            return Ok(StoreState { id, is_empty: false });
        }
    }
    Ok(StoreState { id, is_empty: true })
}

impl Location {
    /// Whether it is a file that is not there. Of PostgreSQL only opening tells.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self.place(), StorePlace::Sqlite(path) if !path.exists())
    }
}

impl SqlStore {
    /// Refuses a database that has no tables of a gateway, without making any.
    pub(crate) async fn expect_tables(engine: &Engine) -> Result<(), OpenError> {
        let (sql, what) = match engine {
            Engine::Sqlite(_) => {
                ("SELECT name FROM sqlite_master WHERE name = 'counters'", "the file has no tables of a gateway")
            }
            Engine::Postgres(_) => (
                "SELECT table_name::text FROM information_schema.tables \
                 WHERE table_schema = current_schema() AND table_name = 'counters'",
                "the database has no tables of a gateway",
            ),
        };
        if engine.query(sql, Vec::new()).await?.is_empty() { Err(OpenError::Absent(what)) } else { Ok(()) }
    }

    /// Which version the tables of a database have, without bringing them to this gateway's as opening does.
    ///
    /// # Errors
    /// [`OpenError::Absent`] where no gateway has kept anything there, or that it cannot be reached or read.
    pub async fn versions(location: &Location) -> Result<TableVersions, OpenError> {
        if location.is_missing() {
            return Err(OpenError::Absent(ABSENT_FILE));
        }
        let engine = Engine::open(location, Patience::default()).await?;
        let found = async {
            Self::expect_tables(&engine).await?;
            let rows = engine.query(VERSION_READ, Vec::new()).await?;
            rows.first().map_or(Ok(0), |row| row.number(0)).map_err(OpenError::from)
        };
        let found = found.await;
        engine.close().await;
        Ok(TableVersions { found: found?, known: migrate::VERSION })
    }

    /// What the clock of the database's server shows; none for SQLite, which has this machine's.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails.
    pub async fn clock(&self) -> Result<Option<Timestamp>, StoreError> {
        let Engine::Postgres(engine) = &self.engine else { return Ok(None) };
        let rows = engine.query(CLOCK, Vec::new()).await.map_err(EngineError::into_store)?;
        rows.first().map(|row| row.time(0)).transpose().map_err(EngineError::into_store)
    }

    /// The identity, and whether there is anything else.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails.
    pub async fn state(&self) -> Result<StoreState, StoreError> {
        let read = async {
            let mut tx = self.engine.read().await?;
            let state = read(&mut tx).await;
            tx.rollback().await;
            state
        };
        read.await.map_err(EngineError::into_store)
    }

    /// Gives the store an identity in place of the one that it has, if any, and notes it in the audit log. Where another process
    /// has been faster, nothing is done. The identity that the store has then.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails, or there is no key for the audit log.
    pub async fn begin_installation(
        &self,
        former: Option<&InstallationId>,
        id: InstallationId,
        draft: AuditDraft,
    ) -> Result<InstallationId, StoreError> {
        let begun = async {
            let mut tx = self.engine.write().await?;
            match self.replace_id(&mut tx, former, id, draft).await {
                Ok(id) => tx.commit().await.map(|()| id),
                Err(error) => {
                    tx.rollback().await;
                    Err(error)
                }
            }
        };
        begun.await.map_err(EngineError::into_store)
    }

    async fn replace_id(
        &self,
        tx: &mut Tx,
        former: Option<&InstallationId>,
        id: InstallationId,
        draft: AuditDraft,
    ) -> Result<InstallationId, EngineError> {
        let found = read(tx).await?.id;
        if let Some(faster) = found.filter(|found| Some(found) != former) {
            return Ok(faster);
        }
        let at: Timestamp = draft.at_ms;
        tx.execute("DELETE FROM installation", Vec::new()).await?;
        let sql = "INSERT INTO installation (id, begun_at_ms) VALUES ($1, $2)";
        tx.execute(sql, vec![id.as_str().into(), Value::time(at)?]).await?;
        tables::append_audit(tx, vec![draft], &self.chains.audit).await?;
        Ok(id)
    }
}
