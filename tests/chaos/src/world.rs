//! Everything that a run needs: a PostgreSQL with a proxy before it, partners, and three gateways.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use tempfile::TempDir;
use test_servers::clock::find_library;
use test_servers::postgres::Postgres;

use crate::database::DatabaseProxy;
use crate::gateway::{Common, Gateway};
use crate::partners::{FAULTY, Partner, Samples, WELL};
use crate::plan::{GATEWAYS, Kind, ON_SQLITE};

/// The contract that is served, from the project's root; `cargo xtask guests` builds it.
const CONTRACT: &str = "target/contracts/auto-book-ac-service.wasm";
/// Its samples, from the project's root.
const SAMPLES: &str = "plugins/auto-book-ac-service/samples";
/// What runs.
pub struct World {
    pub gateways: Arc<Vec<Gateway>>,
    pub partners: Vec<Partner>,
    pub samples: Arc<Samples>,
    pub database: DatabaseProxy,
    pub postgres: Postgres,
    /// The store of the first two gateways, past the proxy.
    pub postgres_url: String,
    /// It goes with the run, unless it is to be looked at.
    pub folder: TempDir,
}

impl World {
    /// Starts everything. `program` is the gateway, `next` what it goes on with once it was rolled, `root` the project's folder, `kinds`
    /// what will go wrong. Each gateway has a clock of its own where clocks will be wrong.
    ///
    /// # Errors
    /// Where something cannot be started; PostgreSQL must be installed.
    pub async fn start(root: &Path, program: &Path, next: Option<&Path>, kinds: &[Kind]) -> anyhow::Result<Self> {
        let postgres = tokio::task::spawn_blocking(Postgres::start).await??;
        let postgres = postgres.context("PostgreSQL is not installed; on Debian: apt-get install postgresql")?;
        let database = DatabaseProxy::start(&postgres.socket()).await?;
        let postgres_url = postgres.database()?;
        let name = postgres_url.split(['/', '?']).nth(3).context("the address names a database")?;
        let proxied = format!("postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable", database.port);
        let samples = Arc::new(Samples::read(&root.join(SAMPLES))?);
        let mut partners = Vec::new();
        for id in WELL.into_iter().chain(FAULTY) {
            partners.push(Partner::start(id, Arc::clone(&samples)).await?);
        }
        // On a real disk: /tmp may be memory.
        let folder = TempDir::with_prefix_in("chaos-", root.join("target")).context("a folder for the run")?;
        let sets_clocks = kinds.iter().any(|kind| [Kind::ClockBack, Kind::ClockAhead].contains(kind));
        let clock = find_library().filter(|_| sets_clocks);
        let contract = root.join(CONTRACT);
        let common = Common { program, next, contract: &contract, partners: &partners, clock: clock.as_deref() };
        let mut gateways = Vec::new();
        for number in 0..GATEWAYS {
            let store = (number != ON_SQLITE).then(|| proxied.clone());
            let own = folder.path().join(format!("gateway-{}", number + 1));
            gateways.push(Gateway::prepare(number, own, store, &common)?);
        }
        let gateways = Arc::new(gateways);
        for number in 0..GATEWAYS {
            let gateways = Arc::clone(&gateways);
            tokio::task::spawn_blocking(move || gateways[number].start()).await??;
        }
        Ok(Self { gateways, partners, samples, database, postgres, postgres_url, folder })
    }
}
