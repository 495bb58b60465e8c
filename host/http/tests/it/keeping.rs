//! A store in memory, and the other ports of onboarding, as fakes.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::audit::{AuditEntry, genesis, link};
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::mail::{Mail, MailError};
use intent_gateway_domain::ports::{Mailer, PageFetch, PartnerProbe};
use intent_gateway_domain::probe::{FetchedPage, ProbeFailure, ProbeRecord, ProbeRequest, ProbeStep, Step};
use intent_gateway_domain::store::*;
use intent_gateway_domain::vault::{Entropy, NoEntropy};
use serde_json::{Value, json};

use crate::support::INTENT;

type Documents = BTreeMap<(&'static str, String), Document>;

/// Keeps everything until the test ends.
#[derive(Default)]
pub(crate) struct MemoryStore {
    documents: Mutex<Documents>,
    pub(crate) log: Mutex<Vec<AuditEntry>>,
    mail: Mutex<HashMap<String, ClaimedMail>>,
    changes: AtomicU64,
    /// Set for an engine that fails.
    pub(crate) broken: AtomicBool,
}

impl MemoryStore {
    fn engine(&self) -> Result<(), StoreError> {
        match self.broken.load(Ordering::Relaxed) {
            true => Err(StoreError::Engine("cannot write /secret/gateway.db".to_owned(), None)),
            false => Ok(()),
        }
    }

    fn carry_out(&self, change: Change) -> Result<(), StoreError> {
        self.engine()?;
        let mut documents = self.documents.lock().expect("no test panics in it");
        let mut next = documents.clone();
        for write in &change.writes {
            let (Write::Put(kind, Document { key, .. }) | Write::Delete(kind, key, _)) = write;
            let place = (kind.name(), key.clone());
            let held = next.get(&place).map_or(0, |document| document.revision);
            match write {
                Write::Put(_, document) if document.revision == held => {
                    next.insert(place, Document { revision: held + 1, ..document.clone() });
                }
                Write::Delete(_, _, revision) if *revision == held => drop(next.remove(&place)),
                _ => return Err(StoreError::Conflict(*kind)),
            }
        }
        *documents = next;
        let mut log = self.log.lock().expect("no test panics in it");
        for draft in change.audit {
            let (seq, previous) = log.last().map_or((0, genesis()), |entry| (entry.seq, entry.hash));
            log.push(link(draft, seq + 1, previous));
        }
        let mut mail = self.mail.lock().expect("no test panics in it");
        for OutgoingMail { id, sealed, .. } in change.mail {
            mail.insert(id.clone(), ClaimedMail { id, sealed, tries: 0 });
        }
        self.changes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl Store for MemoryStore {
    fn get<'a>(&'a self, kind: Kind, key: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>> {
        let documents = self.documents.lock().expect("no test panics in it");
        let found = self.engine().map(|()| documents.get(&(kind.name(), key.to_owned())).cloned());
        std::future::ready(found).boxed()
    }

    fn find<'a>(&'a self, kind: Kind, lookup: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>> {
        let documents = self.documents.lock().expect("no test panics in it");
        let mut own = documents.iter().filter(|((name, _), _)| *name == kind.name()).map(|(_, document)| document);
        let found = own.find(|document| document.lookup.as_deref() == Some(lookup)).cloned();
        std::future::ready(self.engine().map(|()| found)).boxed()
    }

    fn list<'a>(&'a self, kind: Kind, list: List<'a>) -> BoxFuture<'a, Result<Vec<Document>, StoreError>> {
        let documents = self.documents.lock().expect("no test panics in it");
        let own = documents.iter().filter(|((name, _), _)| *name == kind.name()).map(|(_, document)| document);
        let found = own
            .filter(|document| list.status.is_none_or(|status| document.status.as_deref() == Some(status)))
            .filter(|document| list.after.is_none_or(|after| document.key.as_str() > after))
            .take(list.limit as usize)
            .cloned()
            .collect();
        std::future::ready(self.engine().map(|()| found)).boxed()
    }

    fn commit(&self, change: Change) -> BoxFuture<'_, Result<(), StoreError>> {
        std::future::ready(self.carry_out(change)).boxed()
    }

    fn audit<'a>(
        &'a self,
        subject: Option<&'a str>,
        after: u64,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<AuditEntry>, StoreError>> {
        let log = self.log.lock().expect("no test panics in it");
        let found = log
            .iter()
            .filter(|entry| entry.seq > after && subject.is_none_or(|subject| entry.subject == subject))
            .take(limit as usize)
            .cloned()
            .collect();
        std::future::ready(self.engine().map(|()| found)).boxed()
    }

    fn claim_mail(
        &self,
        _now_ms: u64,
        _lease_ms: u64,
        _limit: u32,
    ) -> BoxFuture<'_, Result<Vec<ClaimedMail>, StoreError>> {
        let mail = self.mail.lock().expect("no test panics in it");
        std::future::ready(Ok(mail.values().cloned().collect())).boxed()
    }

    fn settle_mail<'a>(&'a self, id: &'a str, _fate: MailFate) -> BoxFuture<'a, Result<(), StoreError>> {
        self.mail.lock().expect("no test panics in it").remove(id);
        std::future::ready(Ok(())).boxed()
    }

    fn changes(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        std::future::ready(Ok(self.changes.load(Ordering::Relaxed))).boxed()
    }

    fn wait_for_change(&self, _seen: u64) -> BoxFuture<'_, u64> {
        std::future::pending().boxed()
    }
}

/// Counts instead of drawing lots: what it gives differs from call to call and is the same in every run.
#[derive(Default)]
pub(crate) struct Counting(AtomicU64);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        let seed = self.0.fetch_add(1, Ordering::Relaxed);
        let digest = intent_gateway_domain::digest::Digest::of(&seed.to_be_bytes());
        for (byte, source) in bytes.iter_mut().zip(digest.as_bytes().iter().cycle()) {
            *byte = *source;
        }
        Ok(())
    }
}

/// Keeps what was sent.
#[derive(Default)]
pub(crate) struct Letterbox(pub(crate) Mutex<Vec<Mail>>);

impl Letterbox {
    /// The code in the last mail to an address.
    pub(crate) fn code_to(&self, address: &str) -> Option<String> {
        let mails = self.0.lock().expect("no test panics in it");
        let last = mails.iter().rev().find(|mail| mail.to == address)?;
        let digits = |word: &&str| word.len() == 6 && word.bytes().all(|byte| byte.is_ascii_digit());
        last.text.split_whitespace().find(digits).map(str::to_owned)
    }
}

impl Mailer for Letterbox {
    fn send<'a>(&'a self, mail: &'a Mail) -> BoxFuture<'a, Result<(), MailError>> {
        self.0.lock().expect("no test panics in it").push(mail.clone());
        std::future::ready(Ok(())).boxed()
    }
}

/// A partner's server as probes see it.
pub(crate) struct Seen {
    /// Its tools; none for a server that is down.
    pub(crate) tools: Mutex<Option<Vec<Value>>>,
}

impl Default for Seen {
    fn default() -> Self {
        Self { tools: Mutex::new(Some(vec![tool("Finds things near a place.")])) }
    }
}

/// The descriptor of the one tool that the intent asks for.
pub(crate) fn tool(description: &str) -> Value {
    json!({
        "name": "search_things",
        "description": description,
        "inputSchema": { "type": "object" },
        "_meta": { "platform": { "intent": INTENT, "domain": "test" } },
    })
}

impl PartnerProbe for Seen {
    fn admits(&self, endpoint: &Endpoint) -> Result<(), CallFailure> {
        match endpoint.url().starts_with("https://") {
            true => Ok(()),
            false => Err(CallFailure::AddressRefused("plain HTTP is not allowed".to_owned())),
        }
    }

    fn probe<'a>(&'a self, request: ProbeRequest<'a>) -> BoxFuture<'a, ProbeRecord> {
        let mut record = ProbeRecord::new(request.endpoint.clone(), request.now_ms);
        record.ended_at_ms += 42;
        let tools = self.tools.lock().expect("no test panics in it").clone();
        record.steps.push(ProbeStep { step: Step::Initialize, passed: tools.is_some(), elapsed_ms: 42 });
        match tools {
            Some(tools) => record.tools = tools,
            None => {
                record.failure = Some(ProbeFailure {
                    step: Step::Initialize,
                    code: "PARTNER_UNREACHABLE".to_owned(),
                    message: "no connection".to_owned(),
                });
            }
        }
        std::future::ready(record).boxed()
    }
}

/// Every page is there.
pub(crate) struct Pages;

impl PageFetch for Pages {
    fn fetch<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<FetchedPage, CallFailure>> {
        let content_type = Some("text/html".to_owned());
        std::future::ready(Ok(FetchedPage { url: url.to_owned(), status: 200, content_type, bytes: 4_000 })).boxed()
    }
}

/// All of them.
pub(crate) struct Kept {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) letters: Arc<Letterbox>,
    pub(crate) seen: Arc<Seen>,
}
