//! Carries a plan out: begins each fault and ends it, and notes when that was.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use futures_util::future::join_all;

use crate::gateway::Gateway;
use crate::load::Load;
use crate::partners::{WELL, fault_of};
use crate::plan::{Kind, Place, Planned};
use crate::proxy::Fault;
use crate::record::Injected;
use crate::world::World;

/// How often connections to PostgreSQL are cut while they are cut.
const CUT_EVERY: Duration = Duration::from_millis(400);
/// How late each piece is that goes to PostgreSQL or comes from it.
const DATABASE_DELAY: Duration = Duration::from_millis(40);
/// By how much a clock is off, seconds.
const CLOCK_OFF_SECONDS: i64 = 3_600;

/// What a run injects into.
pub struct Injector {
    pub world: World,
    pub load: Arc<Load>,
    /// What is wrong at the moment, for whoever watches.
    current: Mutex<Vec<Kind>>,
}

impl Injector {
    #[must_use]
    pub fn new(world: World, load: Arc<Load>) -> Self {
        Self { world, load, current: Mutex::default() }
    }

    /// Carries a plan out; what was injected in the order of its beginning, and what did not go as it should.
    pub async fn carry_out(self: &Arc<Self>, plan: &[Planned]) -> (Vec<Injected>, Vec<String>) {
        let faults = plan.iter().map(|planned| {
            let (this, planned) = (Arc::clone(self), *planned);
            async move {
                let wait_ms = planned.at_ms.saturating_sub(this.load.now_ms());
                tokio::time::sleep(Duration::from_millis(wait_ms)).await;
                this.inject(&planned).await
            }
        });
        let (mut injected, mut wrong) = (Vec::new(), Vec::new());
        for (fault, done) in join_all(faults).await {
            if let Err(error) = done {
                wrong.push(format!("{} at {} s: {error:#}", fault.kind.name(), fault.began_ms / 1_000));
            }
            injected.push(fault);
        }
        (injected, wrong)
    }

    async fn inject(self: &Arc<Self>, planned: &Planned) -> (Injected, anyhow::Result<()>) {
        let began_ms = self.load.now_ms();
        self.current.lock().unwrap_or_else(PoisonError::into_inner).push(planned.kind);
        let done = self.begin_and_end(planned).await;
        self.current.lock().unwrap_or_else(PoisonError::into_inner).retain(|kind| *kind != planned.kind);
        let Planned { kind, place, .. } = *planned;
        (Injected { kind, place, began_ms, ended_ms: self.load.now_ms() }, done)
    }

    async fn begin_and_end(self: &Arc<Self>, planned: &Planned) -> anyhow::Result<()> {
        let lasts = tokio::time::sleep(Duration::from_millis(planned.lasts_ms));
        match (planned.kind, planned.place) {
            (Kind::Burst, _) => {
                self.load.burst(true);
                lasts.await;
                self.load.burst(false);
                Ok(())
            }
            (kind, Place::Partner(number)) => {
                let partner = self.world.partners.get(WELL.len() + number).context("there is no such partner")?;
                partner.proxy.set(fault_of(kind));
                lasts.await;
                partner.proxy.set(Fault::None);
                Ok(())
            }
            (kind, Place::Gateway(number)) => self.harm_gateway(kind, number, lasts).await,
            (kind, _) => self.harm_postgres(kind, lasts, planned.lasts_ms).await,
        }
    }

    async fn harm_gateway(&self, kind: Kind, number: usize, lasts: impl Future<Output = ()>) -> anyhow::Result<()> {
        let gateway = &self.world.gateways[number];
        let blocking = |work: fn(&Gateway) -> anyhow::Result<()>| {
            let gateways = Arc::clone(&self.world.gateways);
            tokio::task::spawn_blocking(move || work(&gateways[number]))
        };
        match kind {
            Kind::Kill => {
                gateway.kill();
                lasts.await;
                blocking(Gateway::start).await?
            }
            Kind::Roll => {
                let stopped = blocking(Gateway::stop).await?;
                let started = blocking(Gateway::start_next).await?;
                stopped.and(started)
            }
            Kind::Freeze => {
                gateway.freeze(true)?;
                lasts.await;
                gateway.freeze(false)
            }
            Kind::DiskFull => {
                gateway.fill_disk(true)?;
                lasts.await;
                gateway.fill_disk(false)
            }
            _ => {
                let off = if kind == Kind::ClockBack { -CLOCK_OFF_SECONDS } else { CLOCK_OFF_SECONDS };
                gateway.set_clock(off)?;
                lasts.await;
                gateway.set_clock(0)
            }
        }
    }

    async fn harm_postgres(
        self: &Arc<Self>,
        kind: Kind,
        lasts: impl Future<Output = ()>,
        lasts_ms: u64,
    ) -> anyhow::Result<()> {
        let blocking = |work: fn(&World) -> anyhow::Result<()>| {
            let this = Arc::clone(self);
            tokio::task::spawn_blocking(move || work(&this.world))
        };
        match kind {
            Kind::PostgresRestart | Kind::PostgresCrash => {
                let stopped = if kind == Kind::PostgresCrash {
                    blocking(|world| Ok(world.postgres.crash()?)).await?
                } else {
                    blocking(|world| Ok(world.postgres.stop()?)).await?
                };
                lasts.await;
                let started = blocking(|world| Ok(world.postgres.start_again()?)).await?;
                stopped.and(started)
            }
            Kind::PostgresFrozen => {
                self.world.postgres.freeze()?;
                lasts.await;
                Ok(self.world.postgres.thaw()?)
            }
            Kind::PostgresCut => {
                let times = lasts_ms / u64::try_from(CUT_EVERY.as_millis())?;
                for _ in 0..times {
                    self.world.database.cut();
                    tokio::time::sleep(CUT_EVERY).await;
                }
                Ok(())
            }
            _ => {
                self.world.database.delay(DATABASE_DELAY);
                lasts.await;
                self.world.database.delay(Duration::ZERO);
                Ok(())
            }
        }
    }

    /// Names of what is wrong at the moment.
    #[must_use]
    pub fn current(&self) -> String {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" and ")
    }
}
