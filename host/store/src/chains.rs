//! The links of the audit log and of the ledger: the keys that make them, and the record of where they begin.
//!
//! The record is made once for each chain, together with its table: before the first entry of a new store, at the end of what an
//! older gateway has written otherwise. Where it is missing later, somebody has removed it, and every verification says so. Only a
//! gateway that starts makes it then, for a command without a key may have made the table; it says so in the log, and not where
//! links are under a key already. What was anchored shows whether that was right.

use intent_gateway_domain::anchor::ChainName;
use intent_gateway_domain::audit;
use intent_gateway_domain::chain::{ChainCheck, ChainKeys, ChainStart, Link};
use intent_gateway_domain::vault::Vault;
use intent_gateway_ledger as ledger;

use crate::engine::{Engine, Tx};
use crate::error::EngineError;
use crate::value::{Row, Value};

const START: &str = "SELECT number, hash, seal FROM chain_starts WHERE chain = $1";
const BEGUN: &str = "SELECT chain FROM chain_starts";
/// What shows that the audit log has entries: the identity of the store is noted there.
const BEGUN_INSTALLATION: &str = "SELECT id FROM installation LIMIT 1";
/// What shows that the ledger has entries: an order that a report has closed, by the name that it has only then. `0` comes after
/// `/`.
const REPORTED_ORDER: &str =
    "SELECT name FROM record_names WHERE kind = 'orders' AND name >= 'past/' AND name < 'past0' LIMIT 1";
const INSERT: &str = "INSERT INTO chain_starts (chain, number, hash, seal) VALUES ($1, $2, $3, $4)";

/// The keys of both chains.
#[derive(Clone, Default)]
pub(crate) struct Chains {
    pub(crate) audit: ChainKeys,
    pub(crate) ledger: ChainKeys,
}

impl Chains {
    /// Those of a vault, or none: then chains can be read, and nothing can be added to them.
    pub(crate) fn of(vault: Option<&Vault>) -> Self {
        let keys = |chain: ChainName| vault.map(|vault| vault.chain_keys(chain.as_str())).unwrap_or_default();
        Self { audit: keys(ChainName::Audit), ledger: keys(ChainName::Ledger) }
    }

    fn keys(&self, chain: ChainName) -> &ChainKeys {
        match chain {
            ChainName::Audit => &self.audit,
            ChainName::Ledger => &self.ledger,
        }
    }

    /// Sees to it that both chains have their start, where there is a key to make it with.
    pub(crate) async fn begin(&self, engine: &Engine) -> Result<(), EngineError> {
        let begun = engine.query(BEGUN, Vec::new()).await?;
        if begun.len() == ChainName::ALL.len() || self.audit.is_empty() {
            return Ok(());
        }
        let mut tx = engine.write().await?;
        match self.begin_in(&mut tx).await {
            Ok(()) => tx.commit().await,
            Err(error) => {
                tx.rollback().await;
                Err(error)
            }
        }
    }

    /// The same within a transaction.
    pub(crate) async fn begin_in(&self, tx: &mut Tx) -> Result<(), EngineError> {
        for chain in ChainName::ALL {
            self.insert_start(tx, chain).await?;
        }
        Ok(())
    }

    async fn insert_start(&self, tx: &mut Tx, chain: ChainName) -> Result<(), EngineError> {
        let (number, link) = head(tx.query(last(chain), Vec::new()).await?.first(), chain)?;
        if !tx.query(START, vec![chain.as_str().into()]).await?.is_empty() {
            return Ok(());
        }
        if link.key.is_some() {
            tracing::error!(%chain, "the record of where links under a key begin is missing: somebody has removed it");
            return Ok(());
        }
        let Some(start) = ChainStart::new(self.keys(chain), number, link.hash) else { return Ok(()) };
        let values = vec![
            chain.as_str().into(),
            Value::number(start.number)?,
            start.hash.to_string().into(),
            start.seal.to_string().into(),
        ];
        tx.execute(INSERT, values).await?;
        if number > 0 {
            tracing::warn!(
                %chain, number, hash = %link.hash,
                "links are under a key from this entry on; this happens once in the life of a store"
            );
        }
        Ok(())
    }

    /// The chain from before its first entry on.
    pub(crate) async fn follow(&self, tx: &mut Tx, chain: ChainName) -> Result<ChainCheck, EngineError> {
        let must_have_entries = !tx.query(shows_entries(chain), Vec::new()).await?.is_empty();
        let start = tx.query(START, vec![chain.as_str().into()]).await?;
        Ok(self.check(chain, start.first())?.that_has_entries(must_have_entries))
    }

    /// The same outside a transaction.
    pub(crate) async fn read(&self, engine: &Engine, chain: ChainName) -> Result<ChainCheck, EngineError> {
        let must_have_entries = !engine.query(shows_entries(chain), Vec::new()).await?.is_empty();
        let start = engine.query(START, vec![chain.as_str().into()]).await?;
        Ok(self.check(chain, start.first())?.that_has_entries(must_have_entries))
    }

    fn check(&self, chain: ChainName, row: Option<&Row>) -> Result<ChainCheck, EngineError> {
        let start = |row: &Row| {
            Ok::<_, EngineError>(ChainStart {
                number: row.number(0)?,
                hash: parse(&row.text(1)?)?.hash,
                seal: parse(&row.text(2)?)?,
            })
        };
        let (keys, start) = (self.keys(chain).clone(), row.map(start).transpose()?);
        Ok(match chain {
            ChainName::Audit => audit::chain(keys, start),
            ChainName::Ledger => ledger::chain(keys, start),
        })
    }
}

/// Refuses to add to a chain without a key: whatever is added so, anybody could have.
pub(crate) fn require(keys: &ChainKeys) -> Result<&ChainKeys, EngineError> {
    if keys.is_empty() {
        return Err(EngineError::failed("the store was opened without a key, and takes no entries"));
    }
    Ok(keys)
}

/// The statement that finds what shows that a chain has entries.
fn shows_entries(chain: ChainName) -> &'static str {
    match chain {
        ChainName::Audit => BEGUN_INSTALLATION,
        ChainName::Ledger => REPORTED_ORDER,
    }
}

/// The statement for a chain's last entry.
pub(crate) fn last(chain: ChainName) -> &'static str {
    match chain {
        ChainName::Audit => "SELECT seq, hash FROM audit_log ORDER BY seq DESC LIMIT 1",
        ChainName::Ledger => "SELECT number, hash FROM ledger ORDER BY number DESC LIMIT 1",
    }
}

/// Number and link of a chain's last entry, out of its row.
pub(crate) fn head(row: Option<&Row>, chain: ChainName) -> Result<(u64, Link), EngineError> {
    let genesis = || match chain {
        ChainName::Audit => audit::genesis(),
        ChainName::Ledger => ledger::genesis(),
    };
    match row {
        Some(row) => Ok((row.number(0)?, parse(&row.text(1)?)?)),
        None => Ok((0, Link::plain(genesis()))),
    }
}

/// A link as it is kept.
pub(crate) fn parse(text: &str) -> Result<Link, EngineError> {
    text.parse().map_err(|error| EngineError::because("a link of a chain cannot be read", error))
}
