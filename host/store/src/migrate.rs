//! Brings the tables to this gateway's version when it starts: all steps in one transaction, one process at a time. A
//! step that was released is never edited; a change of the tables is a new step.

use refinery_core::error::Kind;
use refinery_core::traits::r#async::{AsyncMigrate, AsyncQuery, AsyncTransaction};
use refinery_core::{Migration, Runner, SchemaVersion};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::engine::{Engine, Tx};
use crate::error::{EngineError, OpenError};
use crate::value::Row;

/// A step: its name, what both engines run, then what each says in its own way.
struct Step {
    name: &'static str,
    both: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

const STEPS: [Step; 26] = [
    Step {
        name: "V1__records",
        both: include_str!("../migrations/V1__records.sql"),
        sqlite: include_str!("../migrations/V1__records.sqlite.sql"),
        postgres: include_str!("../migrations/V1__records.postgres.sql"),
    },
    Step {
        name: "V2__ledger",
        both: include_str!("../migrations/V2__ledger.sql"),
        sqlite: include_str!("../migrations/V2__ledger.sqlite.sql"),
        postgres: include_str!("../migrations/V2__ledger.postgres.sql"),
    },
    Step {
        name: "V3__evidence",
        both: include_str!("../migrations/V3__evidence.sql"),
        sqlite: include_str!("../migrations/V3__evidence.sqlite.sql"),
        postgres: include_str!("../migrations/V3__evidence.postgres.sql"),
    },
    Step {
        name: "V4__strikes",
        both: include_str!("../migrations/V4__strikes.sql"),
        sqlite: include_str!("../migrations/V4__strikes.sqlite.sql"),
        postgres: include_str!("../migrations/V4__strikes.postgres.sql"),
    },
    Step {
        name: "V5__linking",
        both: include_str!("../migrations/V5__linking.sql"),
        sqlite: include_str!("../migrations/V5__linking.sqlite.sql"),
        postgres: include_str!("../migrations/V5__linking.postgres.sql"),
    },
    Step {
        name: "V6__attempts",
        both: include_str!("../migrations/V6__attempts.sql"),
        sqlite: include_str!("../migrations/V6__attempts.sqlite.sql"),
        postgres: include_str!("../migrations/V6__attempts.postgres.sql"),
    },
    Step {
        name: "V7__documents",
        both: include_str!("../migrations/V7__documents.sql"),
        sqlite: include_str!("../migrations/V7__documents.sqlite.sql"),
        postgres: include_str!("../migrations/V7__documents.postgres.sql"),
    },
    Step {
        name: "V8__findings",
        both: include_str!("../migrations/V8__findings.sql"),
        sqlite: include_str!("../migrations/V8__findings.sqlite.sql"),
        postgres: include_str!("../migrations/V8__findings.postgres.sql"),
    },
    Step {
        name: "V9__faults",
        both: include_str!("../migrations/V9__faults.sql"),
        sqlite: include_str!("../migrations/V9__faults.sqlite.sql"),
        postgres: include_str!("../migrations/V9__faults.postgres.sql"),
    },
    Step {
        name: "V10__orders",
        both: include_str!("../migrations/V10__orders.sql"),
        sqlite: include_str!("../migrations/V10__orders.sqlite.sql"),
        postgres: include_str!("../migrations/V10__orders.postgres.sql"),
    },
    Step {
        name: "V11__test_reports",
        both: include_str!("../migrations/V11__test_reports.sql"),
        sqlite: include_str!("../migrations/V11__test_reports.sqlite.sql"),
        postgres: include_str!("../migrations/V11__test_reports.postgres.sql"),
    },
    Step {
        name: "V12__order_changes",
        both: include_str!("../migrations/V12__order_changes.sql"),
        sqlite: include_str!("../migrations/V12__order_changes.sqlite.sql"),
        postgres: include_str!("../migrations/V12__order_changes.postgres.sql"),
    },
    Step {
        name: "V13__user_data",
        both: include_str!("../migrations/V13__user_data.sql"),
        sqlite: include_str!("../migrations/V13__user_data.sqlite.sql"),
        postgres: include_str!("../migrations/V13__user_data.postgres.sql"),
    },
    Step {
        name: "V14__chain_starts",
        both: include_str!("../migrations/V14__chain_starts.sql"),
        sqlite: include_str!("../migrations/V14__chain_starts.sqlite.sql"),
        postgres: include_str!("../migrations/V14__chain_starts.postgres.sql"),
    },
    Step {
        name: "V15__approvals",
        both: include_str!("../migrations/V15__approvals.sql"),
        sqlite: include_str!("../migrations/V15__approvals.sqlite.sql"),
        postgres: include_str!("../migrations/V15__approvals.postgres.sql"),
    },
    Step {
        name: "V16__receipt_segments",
        both: include_str!("../migrations/V16__receipt_segments.sql"),
        sqlite: include_str!("../migrations/V16__receipt_segments.sqlite.sql"),
        postgres: include_str!("../migrations/V16__receipt_segments.postgres.sql"),
    },
    Step {
        name: "V17__fleet",
        both: include_str!("../migrations/V17__fleet.sql"),
        sqlite: include_str!("../migrations/V17__fleet.sqlite.sql"),
        postgres: include_str!("../migrations/V17__fleet.postgres.sql"),
    },
    Step {
        name: "V18__installation",
        both: include_str!("../migrations/V18__installation.sql"),
        sqlite: include_str!("../migrations/V18__installation.sqlite.sql"),
        postgres: include_str!("../migrations/V18__installation.postgres.sql"),
    },
    Step {
        name: "V19__thinned_segments",
        both: include_str!("../migrations/V19__thinned_segments.sql"),
        sqlite: include_str!("../migrations/V19__thinned_segments.sqlite.sql"),
        postgres: include_str!("../migrations/V19__thinned_segments.postgres.sql"),
    },
    Step {
        name: "V20__contracts",
        both: include_str!("../migrations/V20__contracts.sql"),
        sqlite: include_str!("../migrations/V20__contracts.sqlite.sql"),
        postgres: include_str!("../migrations/V20__contracts.postgres.sql"),
    },
    Step {
        name: "V21__revocations",
        both: include_str!("../migrations/V21__revocations.sql"),
        sqlite: include_str!("../migrations/V21__revocations.sqlite.sql"),
        postgres: include_str!("../migrations/V21__revocations.postgres.sql"),
    },
    Step {
        name: "V22__rollouts",
        both: include_str!("../migrations/V22__rollouts.sql"),
        sqlite: include_str!("../migrations/V22__rollouts.sqlite.sql"),
        postgres: include_str!("../migrations/V22__rollouts.postgres.sql"),
    },
    Step {
        name: "V23__receipt_dictionaries",
        both: include_str!("../migrations/V23__receipt_dictionaries.sql"),
        sqlite: include_str!("../migrations/V23__receipt_dictionaries.sqlite.sql"),
        postgres: include_str!("../migrations/V23__receipt_dictionaries.postgres.sql"),
    },
    Step {
        name: "V24__web_sessions",
        both: include_str!("../migrations/V24__web_sessions.sql"),
        sqlite: include_str!("../migrations/V24__web_sessions.sqlite.sql"),
        postgres: include_str!("../migrations/V24__web_sessions.postgres.sql"),
    },
    Step {
        name: "V25__partner_events",
        both: include_str!("../migrations/V25__partner_events.sql"),
        sqlite: include_str!("../migrations/V25__partner_events.sqlite.sql"),
        postgres: include_str!("../migrations/V25__partner_events.postgres.sql"),
    },
    Step {
        name: "V26__notices",
        both: include_str!("../migrations/V26__notices.sql"),
        sqlite: include_str!("../migrations/V26__notices.sqlite.sql"),
        postgres: include_str!("../migrations/V26__notices.postgres.sql"),
    },
];

/// The version of the tables that this gateway knows: that of the last step.
pub(crate) const VERSION: u64 = 26;
const LAST: SchemaVersion = VERSION as SchemaVersion;

/// The step that makes room for the starts of chains.
const CHAIN_STARTS: SchemaVersion = 14;

/// What was done to the tables.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Migrated {
    /// There is room for the starts of chains, and was none before: the chains have none yet.
    pub(crate) has_new_chain_starts: bool,
}

/// Brings the tables up to date; does nothing where they are.
pub(crate) async fn run(engine: &Engine) -> Result<Migrated, OpenError> {
    let steps = STEPS.iter().map(|Step { name, both, sqlite, postgres }| {
        let own = match engine {
            Engine::Sqlite(_) => sqlite,
            Engine::Postgres(_) => postgres,
        };
        Migration::unapplied(name, &format!("{both}\n{own}"))
    });
    let steps = steps.collect::<Result<Vec<_>, _>>().map_err(|error| OpenError::Migration(error.into()))?;
    let mut tx = engine.migrate().await?;
    let migrated = apply(&mut tx, &steps).await;
    match migrated {
        Ok(migrated) => {
            tx.commit().await?;
            Ok(migrated)
        }
        Err(error) => {
            tx.rollback().await;
            Err(error)
        }
    }
}

async fn apply(tx: &mut Tx, steps: &[Migration]) -> Result<Migrated, OpenError> {
    let runner = Runner::new(steps);
    let failed = |error: refinery_core::Error| match error.kind() {
        Kind::MissingVersion(step) if step.version() > LAST => {
            OpenError::Newer { found: step.version().unsigned_abs(), known: VERSION }
        }
        _ => OpenError::Migration(error.into()),
    };
    let done = runner.run_async(tx).await.map_err(failed)?;
    for step in done.applied_migrations() {
        tracing::info!(%step, "the database was migrated");
    }
    let has_new_chain_starts = done.applied_migrations().iter().any(|step| step.version() == CHAIN_STARTS);
    Ok(Migrated { has_new_chain_starts })
}

impl AsyncTransaction for Tx {
    type Error = EngineError;

    async fn execute<'a, T: Iterator<Item = &'a str> + Send + 'a>(
        &'a mut self,
        statements: T,
    ) -> Result<usize, EngineError> {
        let mut count = 0;
        for statement in statements {
            self.batch(statement).await?;
            count += 1;
        }
        Ok(count)
    }
}

impl AsyncQuery<Vec<Migration>> for Tx {
    async fn query<'a>(&'a mut self, sql: &'a str) -> Result<Vec<Migration>, EngineError> {
        let applied = |row: Row| {
            let version = row.number(0)?.try_into().map_err(|_| EngineError::failed("a version is too large"))?;
            let time = OffsetDateTime::parse(&row.text(2)?, &Rfc3339);
            let time = time.map_err(|error| EngineError::because("a time of a migration cannot be read", error))?;
            let checksum = row.text(3)?.parse();
            let checksum = checksum
                .map_err(|error: std::num::ParseIntError| EngineError::because("a checksum cannot be read", error))?;
            Ok(Migration::applied(version, row.text(1)?, time, checksum))
        };
        self.query_foreign(sql).await?.into_iter().map(applied).collect()
    }
}

impl AsyncMigrate for Tx {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_last_step() {
        let last = STEPS.last().expect("there are steps").name;
        assert!(last.starts_with(&format!("V{VERSION}__")), "{last}");
    }
}
