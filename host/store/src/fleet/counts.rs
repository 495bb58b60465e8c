//! What gateways count together. Calls that come while others are counted are counted with the next ones, in one statement, so that a
//! search that asks twenty partners goes to the database once or twice.
//!
//! On PostgreSQL one statement takes the turns: a row is locked, looked at in its latest version and written, in the order of
//! the marks, so that two gateways never wait for each other. It is sent once: what nobody knows the outcome of is not
//! counted again. SQLite has one writer, and decides by [`CallTimes`].

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::{Clock as _, SystemClock, Timestamp};
use intent_gateway_domain::fleet::shared::{
    BACK_OFFS_MAX, CALLS_MAX, CallTimes, SharedBackOff, SharedCounts, SharedRate, SharedTurn,
};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::store::StoreError;
use intent_gateway_ledger::DeskError;
use tokio_util::sync::CancellationToken;

use crate::batching::{Queue, Rules};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::postgres::Postgres;
use crate::records::SqlStore;
use crate::sqlite::{Batch, Sqlite};
use crate::value::{Column, Row, Value};

/// Calls that wait to be counted, at most.
const QUEUE_MAX: usize = 4_096;
/// Calls of one statement, at most.
const BATCH_MAX: usize = 256;
/// Rows that are forgotten in one statement, at most.
const FORGET_MAX: u32 = 10_000;

const RULES: Rules = Rules { name: "shared calls", queue_max: QUEUE_MAX, batch_max: BATCH_MAX, lingers: false };

macro_rules! now {
    () => {
        "FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint"
    };
}

/// The call that bounds a rate of so many: that many before the next one.
macro_rules! bounding {
    ($calls:literal) => {
        concat!(
            "(CASE ",
            $calls,
            " WHEN 1 THEN kept.t1 WHEN 2 THEN kept.t2 WHEN 3 THEN kept.t3 WHEN 4 THEN kept.t4 ELSE kept.t5 END)"
        )
    };
}

/// A call that lies a second ahead was counted before the clock was set back; see `AHEAD_MAX_MS`.
const TAKE: &str = concat!(
    "INSERT INTO shared_calls AS kept (mark, calls, per_ms, t1, t2, t3, t4, t5) SELECT mark, calls, per_ms, ",
    now!(),
    ", 0, 0, 0, 0 FROM UNNEST($1, $2, $3) AS asked (mark, calls, per_ms) ORDER BY mark ON CONFLICT (mark) DO UPDATE SET \
     calls = excluded.calls, per_ms = excluded.per_ms, t1 = ",
    now!(),
    ", t2 = kept.t1, t3 = kept.t2, t4 = kept.t3, t5 = kept.t4 WHERE ",
    bounding!("excluded.calls"),
    " + excluded.per_ms <= ",
    now!(),
    " OR ",
    bounding!("excluded.calls"),
    " > ",
    now!(),
    " + 1000 RETURNING mark, t1"
);
const WAITS: &str = concat!(
    "SELECT mark, GREATEST(1, ",
    bounding!("kept.calls"),
    " + per_ms - ",
    now!(),
    ")::bigint FROM shared_calls AS kept WHERE mark = ANY($1)"
);
/// What is older than the call that goes moves up by one place. SQLite counts parameters by where they first appear.
const GIVE_BACK: &str = "UPDATE shared_calls SET t1 = CASE WHEN t1 <= $1 THEN t2 ELSE t1 END, \
                         t2 = CASE WHEN t2 <= $1 THEN t3 ELSE t2 END, t3 = CASE WHEN t3 <= $1 THEN t4 ELSE t3 END, \
                         t4 = CASE WHEN t4 <= $1 THEN t5 ELSE t4 END, t5 = CASE WHEN t5 <= $1 THEN 0 ELSE t5 END \
                         WHERE mark = $2 AND $1 IN (t1, t2, t3, t4, t5)";
const TELL: &str = "INSERT INTO shared_back_offs AS kept (partner, times, until_ms) VALUES ($1, $2, $3) \
                    ON CONFLICT (partner) DO UPDATE SET times = excluded.times, until_ms = excluded.until_ms \
                    WHERE excluded.until_ms >= kept.until_ms";
const BACK_OFFS: &str = "SELECT partner, times, until_ms FROM shared_back_offs WHERE until_ms > $1 \
                         ORDER BY until_ms DESC LIMIT $2";
const FORGET_CALLS: &str = "DELETE FROM shared_calls WHERE mark IN \
                            (SELECT mark FROM shared_calls WHERE t1 + per_ms <= $1 LIMIT $2)";
const FORGET_BACK_OFFS: &str = "DELETE FROM shared_back_offs WHERE until_ms <= $1";
const CALL_TIMES: &str = "SELECT t1, t2, t3, t4, t5 FROM shared_calls WHERE mark = $1";
const PUT_CALL_TIMES: &str = "INSERT INTO shared_calls (mark, calls, per_ms, t1, t2, t3, t4, t5) \
                              VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (mark) DO UPDATE SET \
                              calls = excluded.calls, per_ms = excluded.per_ms, t1 = excluded.t1, t2 = excluded.t2, \
                              t3 = excluded.t3, t4 = excluded.t4, t5 = excluded.t5";

/// Where turns are taken. Dropped, it finishes what it has taken.
pub struct CallCounts {
    store: Arc<SqlStore>,
    queue: Queue<SharedRate, SharedTurn>,
    closing: CancellationToken,
}

impl CallCounts {
    /// Opens the queue, on the runtime that this is called from.
    #[must_use]
    pub fn open(store: Arc<SqlStore>) -> Self {
        let closing = CancellationToken::new();
        let engine = store.engine.clone();
        let work = move |rates| {
            let engine = engine.clone();
            async move { take_all(&engine, rates).await.map_err(EngineError::into_store) }.boxed()
        };
        Self { store, queue: Queue::open(RULES, closing.clone(), Box::new(work)), closing }
    }

    /// Takes no more, and returns once all that was taken has its answer.
    pub async fn close(&self) {
        self.closing.cancel();
        self.queue.finish().await;
    }

    async fn change(&self, sql: &'static str, values: Vec<Value>) -> Result<u64, EngineError> {
        match &self.store.engine {
            Engine::Sqlite(sqlite) => sqlite.batch(move |batch| Ok(batch.execute(sql, &values)? as u64)).await,
            Engine::Postgres(postgres) => postgres.execute(sql, values).await,
        }
    }

    async fn now(&self) -> Result<Timestamp, EngineError> {
        match &self.store.engine {
            Engine::Sqlite(_) => Ok(SystemClock.now()),
            Engine::Postgres(postgres) => {
                let rows = postgres.query(concat!("SELECT ", now!()), Vec::new()).await?;
                rows.first().ok_or_else(|| EngineError::failed("the database does not tell the time"))?.time(0)
            }
        }
    }

    async fn tell(&self, told: &[SharedBackOff]) -> Result<(), EngineError> {
        let now = self.now().await?;
        for SharedBackOff { partner, times, wait_ms } in told {
            let until = Value::time(now.plus_ms(*wait_ms))?;
            self.change(TELL, vec![partner.as_str().into(), (*times).into(), until]).await?;
        }
        Ok(())
    }

    async fn read_back_offs(&self) -> Result<Vec<SharedBackOff>, EngineError> {
        let now = self.now().await?;
        let limit = u32::try_from(BACK_OFFS_MAX).unwrap_or(u32::MAX);
        let rows = self.store.engine.query(BACK_OFFS, vec![Value::time(now)?, limit.into()]).await?;
        let back_off = |row: &Row| {
            let unreadable = |error| EngineError::because("a partner's identifier cannot be read", error);
            let partner = PartnerId::parse(&row.text(0)?).map_err(unreadable)?;
            let times = u32::try_from(row.number(1)?).unwrap_or(u32::MAX);
            Ok(SharedBackOff { partner, times, wait_ms: row.time(2)?.ms_since(now) })
        };
        rows.iter().map(back_off).collect()
    }

    async fn forget(&self) -> Result<u64, EngineError> {
        let now = Value::time(self.now().await?)?;
        self.change(FORGET_BACK_OFFS, vec![now.clone()]).await?;
        let mut forgotten = 0;
        loop {
            let some = self.change(FORGET_CALLS, vec![now.clone(), FORGET_MAX.into()]).await?;
            forgotten += some;
            if some < u64::from(FORGET_MAX) {
                return Ok(forgotten);
            }
        }
    }
}

impl SharedCounts for CallCounts {
    fn take(&self, rate: SharedRate) -> BoxFuture<'_, Result<SharedTurn, StoreError>> {
        let not_taken = |error| match error {
            DeskError::Full => StoreError::Busy,
            error => StoreError::Engine("a call was not counted".to_owned(), Some(Box::new(error))),
        };
        async move { self.queue.submit(rate).await.map_err(not_taken) }.boxed()
    }

    fn give_back<'a>(&'a self, mark: &'a str, at: Timestamp) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            let values = vec![Value::time(at)?, mark.into()];
            self.change(GIVE_BACK, values).await.map(drop)
        }
        .map(|done| done.map_err(EngineError::into_store))
        .boxed()
    }

    fn tell_back_offs<'a>(&'a self, told: &'a [SharedBackOff]) -> BoxFuture<'a, Result<(), StoreError>> {
        self.tell(told).map(|told| told.map_err(EngineError::into_store)).boxed()
    }

    fn back_offs(&self) -> BoxFuture<'_, Result<Vec<SharedBackOff>, StoreError>> {
        self.read_back_offs().map(|found| found.map_err(EngineError::into_store)).boxed()
    }

    fn forget_ended(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.forget().map(|forgotten| forgotten.map_err(EngineError::into_store)).boxed()
    }
}

async fn take_all(engine: &Engine, rates: Vec<SharedRate>) -> Result<Vec<SharedTurn>, EngineError> {
    for rate in &rates {
        Value::from(rate.mark.as_str()).check()?;
    }
    match engine {
        Engine::Sqlite(sqlite) => take_on_sqlite(sqlite, rates).await,
        Engine::Postgres(postgres) => take_on_postgres(postgres, rates).await,
    }
}

async fn take_on_sqlite(sqlite: &Sqlite, rates: Vec<SharedRate>) -> Result<Vec<SharedTurn>, EngineError> {
    let take = |batch: &Batch<'_>, rate: &SharedRate, now: Timestamp| {
        let mark = Value::from(rate.mark.as_str());
        let mut times = CallTimes::default();
        if let Some(row) = batch.query(CALL_TIMES, [&mark])?.first() {
            for (place, time) in times.0.iter_mut().enumerate() {
                *time = row.number(place)?;
            }
        }
        let turn = times.take(rate.calls, rate.per_ms, now);
        if let SharedTurn::Taken(_) = turn {
            let mut values = vec![mark, rate.calls.into(), Value::number(rate.per_ms)?];
            for time in times.0 {
                values.push(Value::number(time)?);
            }
            batch.execute(PUT_CALL_TIMES, &values)?;
        }
        Ok(turn)
    };
    sqlite
        .batch(move |batch| {
            let now = SystemClock.now();
            rates.iter().map(|rate| take(batch, rate, now)).collect()
        })
        .await
}

/// No statement may write a row twice, so each takes one call of each mark.
async fn take_on_postgres(postgres: &Postgres, rates: Vec<SharedRate>) -> Result<Vec<SharedTurn>, EngineError> {
    let mut turns: Vec<Option<SharedTurn>> = vec![None; rates.len()];
    let mut left: Vec<usize> = (0..rates.len()).collect();
    // Ends: the first of those that are left is always taken along.
    while !left.is_empty() {
        let mut marks = BTreeSet::new();
        let (now, later): (Vec<usize>, Vec<usize>) = left.into_iter().partition(|at| marks.insert(&rates[*at].mark));
        let row = |at: &usize| {
            let SharedRate { mark, calls, per_ms } = &rates[*at];
            let calls = (*calls).clamp(1, u32::try_from(CALLS_MAX).unwrap_or(1));
            Ok::<_, EngineError>(vec![mark.as_str().into(), calls.into(), Value::number(*per_ms)?])
        };
        let rows = now.iter().map(row).collect::<Result<_, _>>()?;
        let taken = postgres.change_columns(TAKE, &Column::of_rows(rows)?).await?;
        let mut taken =
            taken.iter().map(|row| Ok((row.text(0)?, row.time(1)?))).collect::<Result<Vec<_>, EngineError>>()?;
        taken.sort_unstable();
        let mut held = Vec::new();
        for at in now {
            match taken.binary_search_by(|(mark, _)| mark.cmp(&rates[at].mark)) {
                Ok(place) => turns[at] = Some(SharedTurn::Taken(taken[place].1)),
                Err(_) => held.push(at),
            }
        }
        if !held.is_empty() {
            let marks = held.iter().map(|at| vec![rates[*at].mark.as_str().into()]).collect();
            let waits = postgres.query_columns(WAITS, &Column::of_rows(marks)?).await?;
            let waits =
                waits.iter().map(|row| Ok((row.text(0)?, row.number(1)?))).collect::<Result<Vec<_>, EngineError>>()?;
            for at in held {
                let wait_ms = waits.iter().find(|(mark, _)| *mark == rates[at].mark).map_or(1, |(_, wait_ms)| *wait_ms);
                turns[at] = Some(SharedTurn::Wait(wait_ms));
            }
        }
        left = later;
    }
    turns.into_iter().map(|turn| turn.ok_or_else(|| EngineError::failed("a call was left out"))).collect()
}
