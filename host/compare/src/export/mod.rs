//! Receipts for authors of contracts, without the people whose rankings they are: what an author needs to compare versions where no
//! gateway is.
//!
//! All receipts are read twice. The first time it is counted which values of arguments many people have given ([`commons`]); the
//! second time all others are replaced ([`mask`]), and the version that has ranked ranks again, so that a receipt holds what would
//! have come of it. What it does not rank any more is left out.

mod commons;
mod heading;
mod mask;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use futures_channel::mpsc::{self, Receiver, Sender};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::CallContext;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{Contract, Contracts, Evidence, Workers, find_version};
use intent_gateway_domain::receipt::{MarkedReceipt, Receipt, identifier};
use intent_gateway_domain::store::StoreError;
use intent_gateway_domain::vault::{NoEntropy, Vault};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::commons::Commons;
use self::mask::Mask;
use crate::judged::Judged;
use crate::report::CodeCount;
use crate::run::{KeptReceipts, ReceiptSource, RunError, Turn, check_request, send};

pub use self::commons::USERS_MIN;
pub use self::heading::ReceiptsHeading;

/// What is waiting for whoever takes it.
const EVENTS_WAITING: usize = 4;
/// Pages that are read ahead.
const PAGES_WAITING: usize = 2;
/// The version that has ranked is not there any more.
const CONTRACT_GONE: &str = "CONTRACT_GONE";

/// Which receipts somebody asks for.
#[derive(Clone, Debug)]
pub struct ExportOrder {
    pub intent: IntentId,
    /// Receipts of rankings from here on.
    pub since: Timestamp,
    /// At most so many, the latest.
    pub limit: u64,
}

/// Why nothing is exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// One at a time.
    #[error("another export is under way")]
    UnderWay,
    #[error("no key can be made")]
    NoEntropy(#[from] NoEntropy),
}

/// What an export tells, piece by piece.
#[derive(Debug)]
pub enum ExportEvent {
    /// Receipts that were looked through for what many people have given. There are no more of them after the first receipt.
    Counted(u64),
    /// A receipt without its person.
    Receipt(Box<Receipt>),
    /// The end.
    Done(ExportSummary),
    /// It came to no end.
    Failed(RunError),
}

/// What came of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ExportSummary {
    /// Receipts that were exported.
    pub receipts: u64,
    /// Those of them whose options come in another order, or are taken out otherwise, than they were shown: for what was replaced
    /// had a part in it.
    pub changed: u64,
    /// Receipts that were left out, by code: `CONTRACT_GONE`, or what the version that has ranked says to the request now.
    pub left_out: Vec<CodeCount>,
}

/// Exports receipts.
pub struct Exports {
    contracts: Arc<dyn Contracts>,
    evidence: Arc<dyn Evidence>,
    workers: Arc<dyn Workers>,
    vault: Vault,
    is_under_way: Arc<AtomicBool>,
}

/// A receipt, and the version that has ranked it.
type Ranked = (MarkedReceipt, Option<Arc<dyn Contract>>);

impl Exports {
    #[must_use]
    pub fn new(
        contracts: Arc<dyn Contracts>,
        evidence: Arc<dyn Evidence>,
        workers: Arc<dyn Workers>,
        vault: Vault,
    ) -> Self {
        Self { contracts, evidence, workers, vault, is_under_way: Arc::default() }
    }

    /// Begins an export. Dropped, it stops.
    ///
    /// # Errors
    /// [`ExportError`].
    pub fn begin(&self, order: ExportOrder) -> Result<BoxStream<'static, ExportEvent>, ExportError> {
        let turn = Turn::take(&self.is_under_way).ok_or(ExportError::UnderWay)?;
        let mut key = [0; 32];
        self.vault.entropy().fill(&mut key)?;
        let (events, told) = mpsc::channel(EVENTS_WAITING);
        let (contracts, evidence, workers) = (self.contracts.clone(), self.evidence.clone(), self.workers.clone());
        let running = async move {
            let _turn = turn;
            let ExportOrder { intent, since, limit } = order;
            let receipts = || KeptReceipts::since(evidence.clone(), intent.clone(), since, limit);
            let mut last = events.clone();
            let exported = async {
                let commons = count(&receipts(), &*workers, events.clone()).await?;
                write(&receipts(), &*contracts, &*workers, Export { key, commons, events }).await
            };
            // Who has gone away is told nothing.
            let _ = send(&mut last, exported.await.map_or_else(ExportEvent::Failed, ExportEvent::Done)).await;
        };
        let running = stream::once(running).filter_map(|()| std::future::ready(None));
        Ok(stream::select(told, running).boxed())
    }
}

/// Counts on a thread beside those that serve what many people have given.
async fn count(
    receipts: &KeptReceipts,
    workers: &dyn Workers,
    mut events: Sender<ExportEvent>,
) -> Result<Commons, RunError> {
    let (mut pages, mut taken): (_, Receiver<Vec<MarkedReceipt>>) = mpsc::channel(PAGES_WAITING);
    let counted = Arc::new(Mutex::new(None));
    let kept = counted.clone();
    let work = workers.run(Box::pin(async move {
        let (mut commons, mut number) = (Commons::default(), 0);
        while let Some(page) = taken.next().await {
            page.iter().for_each(|marked| commons.count(marked));
            number += page.len() as u64;
            // How far it is matters less than that it goes on.
            let _ = events.try_send(ExportEvent::Counted(number));
        }
        *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(commons);
    }));
    let read = async {
        while let Some(page) = receipts.next().await? {
            if send(&mut pages, page).await.is_err() {
                break;
            }
        }
        drop(pages);
        Ok::<_, StoreError>(())
    };
    let (read, ()) = futures_util::future::join(read, work).await;
    read?;
    let commons = counted.lock().unwrap_or_else(PoisonError::into_inner).take();
    commons.ok_or(RunError::WorkersLost(1))
}

/// What a worker needs to write receipts.
struct Export {
    key: [u8; 32],
    commons: Commons,
    events: Sender<ExportEvent>,
}

/// Writes on a thread beside those that serve.
async fn write(
    receipts: &KeptReceipts,
    contracts: &dyn Contracts,
    workers: &dyn Workers,
    export: Export,
) -> Result<ExportSummary, RunError> {
    let (mut pages, mut taken): (_, Receiver<Vec<Ranked>>) = mpsc::channel(PAGES_WAITING);
    let done = Arc::new(Mutex::new(None));
    let kept = done.clone();
    let work = workers.run(Box::pin(async move {
        let mut writer =
            Writer { export, schemas: HashMap::new(), summary: ExportSummary::default(), left: BTreeMap::new() };
        'all: while let Some(page) = taken.next().await {
            for (marked, contract) in page {
                if writer.write(&marked.receipt, contract.as_deref()).await.is_err() {
                    break 'all;
                }
            }
        }
        *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(writer.end());
    }));
    let read = async {
        // An intent has few versions, and each of them many receipts.
        let mut versions: HashMap<Digest, Option<Arc<dyn Contract>>> = HashMap::new();
        while let Some(page) = receipts.next().await? {
            let mut ranked = Vec::with_capacity(page.len());
            for marked in page {
                let digest = marked.receipt.contract;
                let contract = match versions.get(&digest) {
                    Some(known) => known.clone(),
                    None => {
                        let found = find_version(contracts, digest).await;
                        let beside = found.map(|found| found.beside_serving().unwrap_or(found));
                        versions.entry(digest).or_insert(beside).clone()
                    }
                };
                ranked.push((marked, contract));
            }
            if send(&mut pages, ranked).await.is_err() {
                break;
            }
        }
        drop(pages);
        Ok::<_, StoreError>(())
    };
    let (read, ()) = futures_util::future::join(read, work).await;
    read?;
    let done = done.lock().unwrap_or_else(PoisonError::into_inner).take();
    done.ok_or(RunError::WorkersLost(1))
}

/// Writes receipts without their persons, and counts.
struct Writer {
    export: Export,
    /// The schemas of requests, by the version that has them.
    schemas: HashMap<Digest, Arc<Value>>,
    summary: ExportSummary,
    left: BTreeMap<String, u64>,
}

impl Writer {
    /// Writes one. Fails where nobody takes it any more.
    async fn write(&mut self, receipt: &Receipt, contract: Option<&dyn Contract>) -> Result<(), mpsc::SendError> {
        let written = match contract {
            Some(contract) => self.take_person_out(receipt, contract).await,
            None => Err(CONTRACT_GONE.to_owned()),
        };
        match written {
            Ok(written) => {
                let same = (&written.ranked, &written.dropped) == (&receipt.ranked, &receipt.dropped);
                self.summary.receipts += 1;
                self.summary.changed += u64::from(!same);
                send(&mut self.export.events, ExportEvent::Receipt(Box::new(written))).await
            }
            Err(code) => {
                *self.left.entry(code).or_default() += 1;
                Ok(())
            }
        }
    }

    /// The receipt without its person, as the version that has ranked it ranks it so.
    async fn take_person_out(&mut self, receipt: &Receipt, contract: &dyn Contract) -> Result<Receipt, String> {
        let schema = self.schemas.entry(receipt.contract).or_insert_with(|| Arc::new(request_schema(contract))).clone();
        let mask = Mask::new(&self.export.key, &self.export.commons, &schema);
        let unreadable = |error: serde_json::Error| {
            tracing::error!(receipt = receipt.id, %error, "a receipt holds what is no JSON");
            "UNREADABLE".to_owned()
        };
        let mut masked = mask.apply(receipt).map_err(unreadable)?;
        masked.arguments = check_request(contract, &masked).await.map_err(code_of)?;
        match Judged::anew(&masked, contract).await {
            Judged::Ranked(ranking) => {
                let context = CallContext { request_id: masked.request_id.clone(), now: masked.at_ms };
                masked.id = identifier(&context, masked.contract, ranking.outcome);
                (masked.ranked, masked.dropped, masked.outcome) = (ranking.ranked, ranking.dropped, ranking.outcome);
                Ok(masked)
            }
            other => Err(code_of(other)),
        }
    }

    fn end(self) -> ExportSummary {
        let left_out = self.left.into_iter().map(|(code, count)| CodeCount { code, count }).collect();
        ExportSummary { left_out, ..self.summary }
    }
}

fn code_of(judged: Judged) -> String {
    match judged {
        Judged::Refused { code } | Judged::Failed { code } => code,
        // It is asked for where it is not this.
        Judged::Ranked(_) => String::new(),
    }
}

/// The schema of a search's arguments; one that says nothing where there is none.
fn request_schema(contract: &dyn Contract) -> Value {
    let descriptor = contract.descriptor();
    let tool = descriptor.tools.iter().find(|tool| tool.name == descriptor.search.tool);
    tool.and_then(|tool| serde_json::from_str(tool.request_schema.get()).ok()).unwrap_or_default()
}
