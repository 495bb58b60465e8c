//! The journal of faults: takes faults of contracts, and keeps them a moment later.
//!
//! Nobody waits for it. What a burst repeats is counted in memory and added to what is kept every few seconds. What cannot
//! be kept is told in the log and lost: the metrics have counted it all the same.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::faults::{FaultNote, INPUT_MAX_BYTES, seal_input};
use intent_gateway_domain::ports::FaultLog;
use intent_gateway_domain::supervise;
use intent_gateway_domain::vault::Vault;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::NewFault;
use super::burst::{Bursts, Counted, Ticket};
use crate::batching;
use crate::records::SqlStore;
use crate::retry::write_again;

/// Faults that wait, at most; each with its input.
const QUEUE_MAX: usize = 64;
/// How often what was counted is added to what is kept.
const COUNT_EVERY: Duration = Duration::from_secs(5);

/// Where faults of contracts are handed in. Dropped, it writes what it has taken and ends.
pub struct FaultJournal {
    clock: Arc<dyn Clock>,
    bursts: Arc<Mutex<Bursts>>,
    queue: mpsc::Sender<QueuedFault>,
    closing: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

/// A fault that is to be kept, its input not sealed yet: that is work, and not for a thread that serves.
struct QueuedFault {
    ticket: Ticket,
    fault: NewFault,
    input: Option<Vec<u8>>,
}

impl fmt::Debug for FaultJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FaultJournal")
    }
}

impl FaultJournal {
    /// Opens the journal of a store, on the runtime that this is called from.
    #[must_use]
    pub fn open(store: Arc<SqlStore>, vault: Vault, clock: Arc<dyn Clock>) -> Self {
        let (queue, taken) = mpsc::channel(QUEUE_MAX);
        let (bursts, closing) = (Arc::new(Mutex::new(Bursts::default())), CancellationToken::new());
        let keeper = Keeper {
            store,
            vault: Arc::new(vault),
            clock: clock.clone(),
            bursts: bursts.clone(),
            numbers: HashMap::new(),
        };
        let task = tokio::spawn(keeper.serve(taken, closing.clone()));
        Self { clock, bursts, queue, closing, task: Mutex::new(Some(task)) }
    }

    /// Takes no more, and returns once all that was taken is kept and counted, or lost.
    pub async fn close(&self) {
        self.closing.cancel();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task
            && let Err(error) = task.await
        {
            tracing::error!(%error, "the journal of faults ended badly");
        }
    }
}

impl FaultLog for FaultJournal {
    fn note(&self, note: FaultNote<'_>) {
        let at = self.clock.now();
        let Some(ticket) = lock(&self.bursts).add(note.intent, note.kind(), at) else { return };
        // A call is made of texts and numbers, which JSON has words for.
        let input = serde_json::to_vec(&note.call.to_input()).unwrap_or_default();
        let FaultNote { intent, version, contract, fault, call } = note;
        let queued = QueuedFault {
            ticket,
            fault: NewFault {
                at,
                intent: intent.clone(),
                version: version.clone(),
                contract,
                function: call.function(),
                request_id: call.context().map(|context| context.request_id.clone()),
                code: fault.code(),
                fault: fault.to_string(),
                told: fault.told().cloned(),
                input_bytes: input.len(),
                input: None,
            },
            input: (input.len() <= INPUT_MAX_BYTES).then_some(input),
        };
        if self.queue.try_send(queued).is_err() {
            tracing::warn!(%intent, "a fault of a contract is not kept: too many wait");
        }
    }
}

fn lock(bursts: &Mutex<Bursts>) -> MutexGuard<'_, Bursts> {
    bursts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the task works on.
struct Keeper {
    store: Arc<SqlStore>,
    vault: Arc<Vault>,
    clock: Arc<dyn Clock>,
    bursts: Arc<Mutex<Bursts>>,
    /// Numbers of the faults with which more may be counted.
    numbers: HashMap<Ticket, u64>,
}

impl Keeper {
    /// Keeps fault after fault, until nobody can hand in any more and all is written.
    async fn serve(mut self, mut queue: mpsc::Receiver<QueuedFault>, closing: CancellationToken) {
        let mut counting = tokio::time::interval(COUNT_EVERY);
        loop {
            tokio::select! {
                taken = batching::next(&mut queue, &closing) => match taken {
                    Some(taken) => self.keep(taken).await,
                    None => break,
                },
                _ = counting.tick() => self.count().await,
            }
        }
        self.count().await;
    }

    async fn keep(&mut self, queued: QueuedFault) {
        let ticket = queued.ticket;
        let intent = queued.fault.intent.clone();
        let (store, vault) = (self.store.clone(), self.vault.clone());
        // A panic costs this fault and not the journal.
        match supervise::catch("contract_faults", write(store, vault, queued)).await.ok().flatten() {
            Some(number) => {
                // One that has waited for longer than its burst went on is not counted with any more.
                if lock(&self.bursts).holds(ticket) {
                    self.numbers.insert(ticket, number);
                }
            }
            None => tracing::warn!(%intent, "a fault of a contract was not kept"),
        }
    }

    /// Adds what was counted to what is kept. Counts of a fault that is lost are lost with it.
    async fn count(&mut self) {
        let counted = lock(&self.bursts).drain(self.clock.now(), |ticket| self.numbers.contains_key(&ticket));
        let mut repeats = Vec::new();
        for Counted { ticket, repeats: more, is_over } in counted {
            let number = if is_over { self.numbers.remove(&ticket) } else { self.numbers.get(&ticket).copied() };
            repeats.extend(number.filter(|_| more.is_any()).map(|number| (number, more)));
        }
        if !repeats.is_empty()
            && let Err(error) = self.store.count_repeats(repeats).await
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "repeated faults of contracts were not counted");
        }
    }
}

/// Seals the input and keeps the fault, trying again a few times; its number.
async fn write(store: Arc<SqlStore>, vault: Arc<Vault>, queued: QueuedFault) -> Option<u64> {
    let QueuedFault { mut fault, input, .. } = queued;
    if let Some(input) = input {
        let (intent, contract, at) = (fault.intent.clone(), fault.contract, fault.at);
        let sealing =
            tokio::task::spawn_blocking(move || seal_input(&vault, &intent, contract, at, &input)).await.ok()?;
        match sealing {
            Ok(sealed) => fault.input = Some(sealed),
            Err(error) => tracing::warn!(%error, "the input of a fault is not kept"),
        }
    }
    write_again("a fault of a contract", || store.keep_fault(fault.clone()), |_| false).await
}
