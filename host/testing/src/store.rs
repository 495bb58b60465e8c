//! A store in memory that keeps the port's promises: revisions, lookups that are unique, all or nothing.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::audit::{self, AuditEntry};
use intent_gateway_domain::store::{
    Change, ClaimedMail, Document, Kind, List, MailFate, OutgoingMail, Store, StoreError, Write,
};

#[derive(Clone, Default)]
struct StoreState {
    records: BTreeMap<(Kind, String), Document>,
    audit: Vec<AuditEntry>,
    mail: BTreeMap<String, (OutgoingMail, u32)>,
    changes: u64,
    /// Commits still to be refused as conflicts.
    conflicts: u32,
}

#[derive(Default)]
pub struct MemoryStore(Mutex<StoreState>);

impl MemoryStore {
    fn kept(&self) -> MutexGuard<'_, StoreState> {
        self.0.lock().expect("not poisoned")
    }

    /// Every text that is kept, for a look at what must not be there.
    pub fn everything(&self) -> String {
        let kept = self.kept();
        let records =
            kept.records.values().map(|document| format!("{} {:?} {}\n", document.key, document.lookup, document.body));
        let audit = kept.audit.iter().map(|entry| format!("{entry:?}\n"));
        let mail = kept.mail.values().map(|(mail, _)| format!("{}\n", mail.sealed));
        records.chain(audit).chain(mail).collect()
    }

    /// Refuses the next commits, as if somebody else had changed the records just before each.
    pub fn conflict_next(&self, commits: u32) {
        self.kept().conflicts = commits;
    }

    pub fn log(&self) -> Vec<AuditEntry> {
        self.kept().audit.clone()
    }
}

fn put(kept: &mut StoreState, write: Write) -> Result<(), StoreError> {
    let (kind, key, expected) = match &write {
        Write::Put(kind, document) => (*kind, document.key.clone(), document.revision),
        Write::Delete(kind, key, expected) => (*kind, key.clone(), *expected),
    };
    let at = (kind, key);
    if kept.records.get(&at).map_or(0, |document| document.revision) != expected {
        return Err(StoreError::Conflict(kind));
    }
    match write {
        Write::Put(_, document) => {
            let taken = |(other, kept): (&(Kind, String), &Document)| {
                *other != at && other.0 == kind && kept.lookup.is_some() && kept.lookup == document.lookup
            };
            if kept.records.iter().any(taken) {
                return Err(StoreError::Conflict(kind));
            }
            kept.records.insert(at, Document { revision: expected + 1, ..document });
        }
        Write::Delete(..) => {
            kept.records.remove(&at);
        }
    }
    Ok(())
}

impl Store for MemoryStore {
    fn get<'a>(&'a self, kind: Kind, key: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>> {
        let found = self.kept().records.get(&(kind, key.to_owned())).cloned();
        async { Ok(found) }.boxed()
    }

    fn find<'a>(&'a self, kind: Kind, lookup: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>> {
        let kept = self.kept();
        let mut of_kind = kept.records.iter().filter(|((other, _), _)| *other == kind);
        let found = of_kind.find(|(_, document)| document.lookup.as_deref() == Some(lookup));
        let found = found.map(|(_, document)| document.clone());
        async { Ok(found) }.boxed()
    }

    fn list<'a>(&'a self, kind: Kind, list: List<'a>) -> BoxFuture<'a, Result<Vec<Document>, StoreError>> {
        let kept = self.kept();
        let found: Vec<Document> = kept
            .records
            .iter()
            .filter(|((other, key), document)| {
                *other == kind
                    && list.after.is_none_or(|after| key.as_str() > after)
                    && list.status.is_none_or(|status| document.status.as_deref() == Some(status))
            })
            .map(|(_, document)| document.clone())
            .take(list.limit as usize)
            .collect();
        async { Ok(found) }.boxed()
    }

    fn commit(&self, change: Change) -> BoxFuture<'_, Result<(), StoreError>> {
        let mut kept = self.kept();
        if kept.conflicts > 0 {
            kept.conflicts -= 1;
            let kind = change.writes.first().map_or(Kind::Accounts, Write::kind);
            return async move { Err(StoreError::Conflict(kind)) }.boxed();
        }
        let mut next = kept.clone();
        let watched = change.is_watched();
        let Change { writes, audit, mail } = change;
        let outcome = writes.into_iter().try_for_each(|write| put(&mut next, write));
        if outcome.is_ok() {
            for draft in audit {
                let previous = next.audit.last().map_or_else(audit::genesis, |entry| entry.hash);
                let seq = next.audit.len() as u64 + 1;
                next.audit.push(audit::link(draft, seq, previous));
            }
            next.mail.extend(mail.into_iter().map(|mail| (mail.id.clone(), (mail, 0))));
            next.changes += u64::from(watched);
            *kept = next;
        }
        async { outcome }.boxed()
    }

    fn audit<'a>(
        &'a self,
        subject: Option<&'a str>,
        after: u64,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<AuditEntry>, StoreError>> {
        let kept = self.kept();
        let entries = kept.audit.iter().filter(|entry| entry.seq > after);
        let entries = entries.filter(|entry| subject.is_none_or(|subject| entry.subject == subject));
        let entries: Vec<AuditEntry> = entries.take(limit as usize).cloned().collect();
        async { Ok(entries) }.boxed()
    }

    fn claim_mail(
        &self,
        now_ms: u64,
        lease_ms: u64,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<ClaimedMail>, StoreError>> {
        let mut kept = self.kept();
        let due = kept.mail.values_mut().filter(|(mail, _)| mail.not_before_ms <= now_ms).take(limit as usize);
        let claimed = due
            .map(|(mail, tries)| {
                mail.not_before_ms = now_ms + lease_ms;
                *tries += 1;
                ClaimedMail { id: mail.id.clone(), sealed: mail.sealed.clone(), tries: *tries - 1 }
            })
            .collect();
        async { Ok(claimed) }.boxed()
    }

    fn settle_mail<'a>(&'a self, id: &'a str, fate: MailFate) -> BoxFuture<'a, Result<(), StoreError>> {
        let mut kept = self.kept();
        match fate {
            MailFate::Done => drop(kept.mail.remove(id)),
            MailFate::Retry(at) => {
                if let Some((mail, _)) = kept.mail.get_mut(id) {
                    mail.not_before_ms = at;
                }
            }
        }
        async { Ok(()) }.boxed()
    }

    fn changes(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        let changes = self.kept().changes;
        async move { Ok(changes) }.boxed()
    }

    fn wait_for_change(&self, _: u64) -> BoxFuture<'_, u64> {
        unreachable!("nobody waits for changes here")
    }
}
