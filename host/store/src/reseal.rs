//! What is sealed outside records, sealed anew under the current master key: mail on its way, inputs of contracts' faults. Records:
//! [`intent_gateway_domain::reseal`].

use intent_gateway_domain::faults::reseal_input;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::reseal::{ResealStopped, Resealed, Tell};
use intent_gateway_domain::vault::{NoEntropy, ResealError, Sealed, Vault};

use crate::error::EngineError;
use crate::records::SqlStore;
use crate::value::{Row, Value};

/// Rows that are read and written at once. An input may be large.
const BATCH: u32 = 50;
const MAILS: &str = "SELECT id, sealed FROM mail WHERE id > $1 ORDER BY id LIMIT $2";
/// Only where it is as it was read.
const MAIL: &str = "UPDATE mail SET sealed = $3 WHERE id = $1 AND sealed = $2";
const INPUTS: &str = "SELECT number, input, intent, contract, at_ms FROM contract_faults \
                      WHERE number > $1 AND input IS NOT NULL ORDER BY number LIMIT $2";
const INPUT: &str = "UPDATE contract_faults SET input = $3 WHERE number = $1 AND input = $2";

/// Statements for rows of one kind, and the column of their key as a value to go on after.
struct Rows {
    kind: &'static str,
    list: &'static str,
    update: &'static str,
    first: Value,
    key: fn(&Row) -> Result<Value, EngineError>,
}

/// Seals what a row holds anew, if that has to be; the outer failure is of the row.
type Reseal<'a> = &'a (dyn Fn(&Row, &Sealed) -> Result<Outcome, EngineError> + Sync);
type Outcome = Result<Option<Sealed>, ResealError>;

impl SqlStore {
    /// Seals mail on its way anew; `context` says what a mail of an identifier is sealed for.
    ///
    /// # Errors
    /// [`ResealStopped`]; it can be run again, and goes on.
    pub async fn reseal_mail(
        &self,
        vault: &Vault,
        context: fn(&str) -> String,
        tell: Tell<'_>,
    ) -> Result<Resealed, ResealStopped> {
        let key = |row: &Row| row.text(0).map(Value::from);
        let rows = Rows { kind: "mail", list: MAILS, update: MAIL, first: "".into(), key };
        let reseal = |row: &Row, sealed: &Sealed| Ok(vault.reseal(&context(&row.text(0)?), sealed));
        self.reseal_rows(rows, &reseal, tell).await
    }

    /// Seals the inputs of contracts' faults anew.
    ///
    /// # Errors
    /// [`ResealStopped`]; it can be run again, and goes on.
    pub async fn reseal_inputs(&self, vault: &Vault, tell: Tell<'_>) -> Result<Resealed, ResealStopped> {
        let key = |row: &Row| row.number(0).and_then(Value::number);
        let rows = Rows { kind: "contract_faults", list: INPUTS, update: INPUT, first: 0_i64.into(), key };
        let reseal = |row: &Row, sealed: &Sealed| {
            let broken = || EngineError::failed("a fault of a contract cannot be read");
            let intent = IntentId::parse(&row.text(2)?).map_err(|_| broken())?;
            let contract = row.text(3)?.parse().map_err(|_| broken())?;
            Ok(reseal_input(vault, &intent, contract, row.time(4)?, sealed))
        };
        self.reseal_rows(rows, &reseal, tell).await
    }

    async fn reseal_rows(&self, rows: Rows, reseal: Reseal<'_>, tell: Tell<'_>) -> Result<Resealed, ResealStopped> {
        let Rows { kind, list, update, first, key } = rows;
        let (mut so_far, mut after) = (Resealed::default(), first);
        loop {
            let found = self.engine.query(list, vec![after, BATCH.into()]).await.map_err(stopped)?;
            let (mut done, mut updates) = (Resealed::default(), Vec::new());
            for row in &found {
                done.seen += 1;
                let kept = row.text(1).map_err(stopped)?;
                match reseal(row, &Sealed::from_text(kept.clone())).map_err(stopped)? {
                    Ok(None) => {}
                    Ok(Some(anew)) => {
                        updates.push(vec![key(row).map_err(stopped)?, kept.into(), anew.into_text().into()]);
                    }
                    Err(ResealError::Unreadable(_)) => done.unreadable += 1,
                    Err(ResealError::NoEntropy(NoEntropy)) => return Err(NoEntropy.into()),
                }
            }
            done.resealed = self.update(update, updates).await.map_err(stopped)?;
            so_far += done;
            tell(kind, so_far);
            match found.last() {
                Some(last) if found.len() == BATCH as usize => after = key(last).map_err(stopped)?,
                _ => return Ok(so_far),
            }
        }
    }

    /// Carries out updates in one transaction; how many rows they have changed.
    async fn update(&self, sql: &'static str, updates: Vec<Vec<Value>>) -> Result<u64, EngineError> {
        let mut changed = 0;
        if updates.is_empty() {
            return Ok(changed);
        }
        let mut tx = self.engine.write().await?;
        for values in updates {
            match tx.execute(sql, values).await {
                Ok(rows) => changed += rows,
                Err(error) => {
                    tx.rollback().await;
                    return Err(error);
                }
            }
        }
        tx.commit().await.map(|()| changed)
    }
}

fn stopped(error: EngineError) -> ResealStopped {
    ResealStopped::Store(error.into_store())
}
