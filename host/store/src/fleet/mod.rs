//! The leases of gateways and of duties, in a transaction each: what they mean is decided by
//! [`LeaseBook`](intent_gateway_domain::fleet::rules::LeaseBook), by the database's clock. [`counts`] has what gateways count together.
//!
//! Gateways renew one after the other, under a lock of their own: they wait for nobody who writes records, or a long
//! transaction would make the living look dead.

pub(crate) mod counts;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::{Clock as _, SystemClock, Timestamp};
use intent_gateway_domain::fleet::rules::{DutyLease, GatewayLease, Lease, LeaseBook};
use intent_gateway_domain::fleet::{Gateway, GatewayId, Granted, Leases, LiveGateway, Renewal};
use intent_gateway_domain::store::StoreError;

use crate::engine::Tx;
use crate::error::EngineError;
use crate::records::SqlStore;
use crate::value::{Row, Value};

const NOW_ON_POSTGRES: &str = "SELECT FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint";
const GATEWAYS: &str = "SELECT id, run, name, version, started_ms, renewed_ms, ends_ms, length_ms FROM gateway_leases";
const DUTIES: &str = "SELECT duty, gateway, run, renewed_ms, ends_ms, length_ms FROM duty_leases";
const PUT_GATEWAY: &str = "INSERT INTO gateway_leases (id, run, name, version, started_ms, renewed_ms, ends_ms, length_ms) \
                           VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO UPDATE SET run = excluded.run, \
                           name = excluded.name, version = excluded.version, started_ms = excluded.started_ms, \
                           renewed_ms = excluded.renewed_ms, ends_ms = excluded.ends_ms, length_ms = excluded.length_ms";
const PUT_DUTY: &str = "INSERT INTO duty_leases (duty, gateway, run, renewed_ms, ends_ms, length_ms) \
                        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (duty) DO UPDATE SET gateway = excluded.gateway, \
                        run = excluded.run, renewed_ms = excluded.renewed_ms, ends_ms = excluded.ends_ms, \
                        length_ms = excluded.length_ms";
const DELETE_GATEWAY: &str = "DELETE FROM gateway_leases WHERE id = $1";
const DELETE_DUTY: &str = "DELETE FROM duty_leases WHERE duty = $1";

impl Leases for SqlStore {
    fn renew<'a>(&'a self, renewal: &'a Renewal) -> BoxFuture<'a, Result<Granted, StoreError>> {
        let renew = |book: &mut LeaseBook, now| {
            book.renew(renewal, now).map_err(|error| EngineError::because("a lease cannot be given", error))
        };
        self.change_leases(renew).map(|granted| granted.map_err(EngineError::into_store)).boxed()
    }

    fn give_back<'a>(&'a self, run: &'a GatewayId) -> BoxFuture<'a, Result<(), StoreError>> {
        let give_back = |book: &mut LeaseBook, _| {
            book.give_back(run);
            Ok(())
        };
        self.change_leases(give_back).map(|done| done.map_err(EngineError::into_store)).boxed()
    }

    fn live(&self) -> BoxFuture<'_, Result<Vec<LiveGateway>, StoreError>> {
        async move {
            let mut tx = self.engine.read().await?;
            let read = async { Ok::<_, EngineError>((read(&mut tx).await?, now(&mut tx).await?)) }.await;
            tx.rollback().await;
            read.map(|(book, now)| book.live(now))
        }
        .map(|live| live.map_err(EngineError::into_store))
        .boxed()
    }
}

impl SqlStore {
    async fn change_leases<T>(
        &self,
        change: impl FnOnce(&mut LeaseBook, Timestamp) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let mut tx = self.engine.change_leases().await?;
        let changed = async {
            let before = read(&mut tx).await?;
            let mut after = before.clone();
            let changed = change(&mut after, now(&mut tx).await?)?;
            write_difference(&mut tx, &before, after).await?;
            Ok(changed)
        }
        .await;
        match changed {
            Ok(changed) => {
                tx.commit().await?;
                Ok(changed)
            }
            Err(error) => {
                tx.rollback().await;
                Err(error)
            }
        }
    }
}

/// The time by the clock that all gateways share: the server's, or that of the one machine on which the file is.
async fn now(tx: &mut Tx) -> Result<Timestamp, EngineError> {
    match tx {
        Tx::Sqlite(_) => Ok(SystemClock.now()),
        Tx::Postgres(_) => {
            let rows = tx.query(NOW_ON_POSTGRES, Vec::new()).await?;
            rows.first().ok_or_else(|| EngineError::failed("the database does not tell the time"))?.time(0)
        }
    }
}

async fn read(tx: &mut Tx) -> Result<LeaseBook, EngineError> {
    let gateways = tx.query(GATEWAYS, Vec::new()).await?.iter().map(gateway_lease).collect::<Result<_, _>>()?;
    let duties = tx.query(DUTIES, Vec::new()).await?.iter().map(duty_lease).collect::<Result<_, _>>()?;
    Ok(LeaseBook { gateways, duties })
}

async fn write_difference(tx: &mut Tx, before: &LeaseBook, after: LeaseBook) -> Result<(), EngineError> {
    for gone in &before.gateways {
        if !after.gateways.iter().any(|kept| kept.gateway.id == gone.gateway.id) {
            tx.execute(DELETE_GATEWAY, vec![gone.gateway.id.as_str().into()]).await?;
        }
    }
    for gone in &before.duties {
        if !after.duties.iter().any(|kept| kept.duty == gone.duty) {
            tx.execute(DELETE_DUTY, vec![gone.duty.as_str().into()]).await?;
        }
    }
    for new in after.gateways.into_iter().filter(|kept| !before.gateways.contains(kept)) {
        let GatewayLease { gateway: Gateway { id, run, name, version }, started_at, lease } = new;
        let mut values = vec![id.as_str().into(), run.as_str().into(), name.into(), version.into()];
        values.push(Value::time(started_at)?);
        values.extend(lease_values(lease)?);
        tx.execute(PUT_GATEWAY, values).await?;
    }
    for new in after.duties.into_iter().filter(|kept| !before.duties.contains(kept)) {
        let mut values = vec![new.duty.into(), new.gateway.as_str().into(), new.run.as_str().into()];
        values.extend(lease_values(new.lease)?);
        tx.execute(PUT_DUTY, values).await?;
    }
    Ok(())
}

fn lease_values(lease: Lease) -> Result<[Value; 3], EngineError> {
    Ok([Value::time(lease.renewed_at)?, Value::time(lease.ends_at)?, Value::number(lease.length_ms)?])
}

/// A lease out of its columns, of which this is the first.
fn lease(row: &Row, first: usize) -> Result<Lease, EngineError> {
    Ok(Lease { renewed_at: row.time(first)?, ends_at: row.time(first + 1)?, length_ms: row.number(first + 2)? })
}

fn id(row: &Row, column: usize) -> Result<GatewayId, EngineError> {
    let unreadable = |error| EngineError::because("an identifier of a gateway cannot be read", error);
    GatewayId::parse(&row.text(column)?).map_err(unreadable)
}

fn gateway_lease(row: &Row) -> Result<GatewayLease, EngineError> {
    let gateway = Gateway { id: id(row, 0)?, run: id(row, 1)?, name: row.text(2)?, version: row.text(3)? };
    Ok(GatewayLease { gateway, started_at: row.time(4)?, lease: lease(row, 5)? })
}

fn duty_lease(row: &Row) -> Result<DutyLease, EngineError> {
    Ok(DutyLease { duty: row.text(0)?, gateway: id(row, 1)?, run: id(row, 2)?, lease: lease(row, 3)? })
}
