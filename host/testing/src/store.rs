//! A store in memory that keeps the port's promises: revisions, lookups that are unique, all or nothing. The links of its audit log
//! are plain digests. It passes the
//! suite of the real one (`host/store/tests/it`), all but what concerns a file or a server.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use intent_gateway_domain::audit::{self, AuditEntry};
use intent_gateway_domain::chain::{ChainCheck, ChainKeys};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::store::{
    Change, Changed, ChangedDocument, ClaimedMail, Document, Kind, List, MailFate, NAME_MAX_BYTES, Named, Newest,
    OutgoingMail, StatusCount, Store, StoreError, Write,
};

/// Rows of one answer, whatever the caller asks for.
const PAGE_MAX: u32 = 1_000;
/// Bytes of one record.
const DOCUMENT_MAX_BYTES: usize = 16 * 1024 * 1024;
/// Writes, entries and mails of one change.
const CHANGE_PARTS_MAX: usize = 1_000;

#[derive(Clone, Default)]
struct StoreState {
    records: BTreeMap<(Kind, String), Document>,
    /// Kind, name, key.
    names: BTreeSet<(Kind, String, String)>,
    /// Where each record stands in its feed.
    told: BTreeMap<(Kind, String), (String, u64)>,
    /// The number of the latest change that was told.
    last_told: u64,
    /// The highest revision at which a record of a kind was removed.
    removed: BTreeMap<Kind, u64>,
    audit: Vec<AuditEntry>,
    mail: BTreeMap<String, (OutgoingMail, u32)>,
    changes: u64,
}

#[derive(Default)]
struct State {
    kept: StoreState,
    /// Who waits for another number of changes, or for reads to be released.
    waiting: Vec<Waker>,
    /// Reads wait.
    holds_reads: bool,
    /// Each read lets others go on before it answers.
    yields_reads: bool,
    /// Commits still to be refused as conflicts.
    conflicts: u32,
    /// What the engine says instead of doing anything.
    broken: Option<String>,
    /// Nothing can be read or written.
    is_down: bool,
    /// Changes hold, and nobody is told.
    loses_answers: bool,
    work: StoreWork,
}

/// What a store was asked to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreWork {
    pub reads: usize,
    /// Records written or removed.
    pub writes: usize,
    pub mails: usize,
}

impl State {
    fn check_engine(&self) -> Result<(), StoreError> {
        if self.is_down {
            return Err(StoreError::Unavailable("it is down".to_owned(), None));
        }
        self.broken.as_deref().map_or(Ok(()), |message| Err(failed(message)))
    }
}

#[derive(Default)]
pub struct MemoryStore(Mutex<State>);

impl MemoryStore {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no test panics in it")
    }

    /// Every text that is kept, for a look at what must not be there.
    pub fn everything(&self) -> String {
        let StoreState { records, audit, mail, .. } = &self.state().kept;
        let records =
            records.values().map(|document| format!("{} {:?} {}\n", document.key, document.lookup, document.body));
        let audit = audit.iter().map(|entry| format!("{entry:?}\n"));
        let mail = mail.values().map(|(mail, _)| format!("{}\n", mail.sealed));
        records.chain(audit).chain(mail).collect()
    }

    /// Refuses the next commits, as if somebody else had changed the records just before each.
    pub fn conflict_next(&self, commits: u32) {
        self.state().conflicts = commits;
    }

    /// From here on, the engine fails with this message.
    pub fn break_engine(&self, message: &str) {
        self.state().broken = Some(message.to_owned());
    }

    /// From here on, the engine is down, or up again.
    pub fn set_down(&self, is_down: bool) {
        self.state().is_down = is_down;
    }

    /// From here on, changes hold and their connection breaks before that is said, or not any more.
    pub fn lose_answers(&self, loses: bool) {
        self.state().loses_answers = loses;
    }

    /// From here on, reads wait until they are released.
    pub fn hold_reads(&self) {
        self.state().holds_reads = true;
    }

    /// From here on, each read lets others go on before it answers, with what was there when it was asked: steps that are
    /// polled together take turns.
    pub fn yield_reads(&self) {
        self.state().yields_reads = true;
    }

    pub fn release_reads(&self) {
        let mut state = self.state();
        state.holds_reads = false;
        state.waiting.drain(..).for_each(Waker::wake);
    }

    /// What it was asked to do since this was last asked.
    pub fn take_work(&self) -> StoreWork {
        std::mem::take(&mut self.state().work)
    }

    pub fn log(&self) -> Vec<AuditEntry> {
        self.state().kept.audit.clone()
    }

    /// Changes the log behind the back of the port.
    pub fn forge_log(&self, forge: impl FnOnce(&mut Vec<AuditEntry>)) {
        forge(&mut self.state().kept.audit);
    }

    fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&StoreState) -> Result<T, StoreError>,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let mut state = self.state();
        state.work.reads += 1;
        let mut yields = state.yields_reads;
        let found = state.check_engine().and_then(|()| read(&state.kept));
        drop(state);
        async move {
            poll_fn(|context| {
                if std::mem::take(&mut yields) {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                self.poll_release(context)
            })
            .await;
            found
        }
        .boxed()
    }

    fn poll_release(&self, context: &Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if !state.holds_reads {
            return Poll::Ready(());
        }
        state.waiting.push(context.waker().clone());
        Poll::Pending
    }

    fn carry_out(&self, change: Change) -> Result<Vec<u64>, StoreError> {
        let mut state = self.state();
        state.check_engine()?;
        if state.conflicts > 0 {
            state.conflicts -= 1;
            return Err(StoreError::Conflict(change.writes.first().map_or(Kind::Accounts, Write::kind)));
        }
        check(&change)?;
        let mut next = state.kept.clone();
        let is_watched = change.is_watched();
        let Change { writes, audit, mail } = change;
        state.work.writes += writes.len();
        state.work.mails += mail.len();
        let revisions = writes.into_iter().map(|write| put(&mut next, write)).collect::<Result<_, _>>()?;
        for draft in audit {
            check_number(draft.at_ms.as_ms())?;
            let previous = next.audit.last().map_or_else(audit::genesis, |entry| entry.hash);
            let seq = next.audit.len() as u64 + 1;
            next.audit.push(audit::link(draft, seq, previous, &ChainKeys::default()));
        }
        for mail in mail {
            check_number(mail.not_before.as_ms())?;
            if next.mail.insert(mail.id.clone(), (mail, 0)).is_some() {
                return Err(failed("a mail of that identifier is kept already"));
            }
        }
        next.changes += u64::from(is_watched);
        state.kept = next;
        let wakers = std::mem::take(&mut state.waiting);
        let is_lost = state.loses_answers;
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        if is_lost {
            return Err(StoreError::Unavailable("the connection broke during the commit".to_owned(), None));
        }
        Ok(revisions)
    }
}

fn failed(message: &str) -> StoreError {
    StoreError::Engine(message.to_owned(), None)
}

/// Text that no engine can keep.
fn check_text(text: &str) -> Result<(), StoreError> {
    if text.contains('\0') { Err(failed("a text holds a NUL character")) } else { Ok(()) }
}

fn check_number(number: u64) -> Result<(), StoreError> {
    i64::try_from(number).map(|_| ()).map_err(|_| failed("a number is too large to be kept"))
}

/// Refuses what the engines refuse of any change.
fn check(change: &Change) -> Result<(), StoreError> {
    let Change { writes, audit, mail } = change;
    if writes.len() + audit.len() + mail.len() > CHANGE_PARTS_MAX {
        return Err(failed("a change has too many parts"));
    }
    for write in writes {
        match write {
            Write::Put(kind, document) => {
                let Document { key, lookup, status, body, names, feed, .. } = document;
                if names.iter().any(|name| !kind.has_names() || name.len() > NAME_MAX_BYTES) {
                    return Err(failed("a record has a name that cannot be kept"));
                }
                if feed.as_ref().is_some_and(|feed| !kind.has_feed() || feed.len() > NAME_MAX_BYTES) {
                    return Err(failed("a record has a feed that cannot be kept"));
                }
                feed.iter().try_for_each(|feed| check_text(feed))?;
                names.iter().try_for_each(|name| check_text(name))?;
                if body.len() > DOCUMENT_MAX_BYTES {
                    return Err(failed("a record is too large"));
                }
                [Some(key), lookup.as_ref(), status.as_ref(), Some(body)]
                    .into_iter()
                    .flatten()
                    .try_for_each(|text| check_text(text))?;
            }
            Write::Delete(_, key, _) => check_text(key)?,
        }
    }
    Ok(())
}

/// Carries out a write; the revision of the record.
fn put(kept: &mut StoreState, write: Write) -> Result<u64, StoreError> {
    let (kind, key, expected) = match &write {
        Write::Put(kind, document) => (*kind, document.key.clone(), document.revision),
        Write::Delete(kind, key, expected) => (*kind, key.clone(), *expected),
    };
    let at = (kind, key);
    if kept.records.get(&at).map_or(0, |document| document.revision) != expected {
        return Err(StoreError::Conflict(kind));
    }
    // A record that comes back begins above the revision at which any of its kind was removed.
    let removed = kept.removed.entry(kind).or_default();
    match write {
        Write::Put(_, document) => {
            let taken = |(other, kept): (&(Kind, String), &Document)| {
                *other != at && other.0 == kind && kept.lookup.is_some() && kept.lookup == document.lookup
            };
            if kept.records.iter().any(taken) {
                return Err(StoreError::Conflict(kind));
            }
            let revision = if expected == 0 { *removed + 1 } else { expected + 1 };
            kept.names.extend(document.names.into_iter().map(|name| (kind, name, at.1.clone())));
            if let Some(feed) = document.feed {
                kept.last_told += 1;
                kept.told.insert(at.clone(), (feed, kept.last_told));
            }
            kept.records.insert(at, Document { revision, names: Vec::new(), feed: None, ..document });
            Ok(revision)
        }
        // What is not there cannot be removed.
        Write::Delete(..) if kept.records.remove(&at).is_none() => Err(StoreError::Conflict(kind)),
        Write::Delete(..) => {
            *removed = expected.max(*removed);
            kept.names.retain(|(of, _, key)| (of, key) != (&at.0, &at.1));
            kept.told.remove(&at);
            Ok(expected)
        }
    }
}

impl Store for MemoryStore {
    fn get<'a>(&'a self, kind: Kind, key: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>> {
        self.read(|kept| {
            check_text(key)?;
            Ok(kept.records.get(&(kind, key.to_owned())).cloned())
        })
    }

    fn find<'a>(&'a self, kind: Kind, lookup: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>> {
        self.read(|kept| {
            check_text(lookup)?;
            let mut of_kind = kept.records.iter().filter(|((other, _), _)| *other == kind);
            let found = of_kind.find(|(_, document)| document.lookup.as_deref() == Some(lookup));
            Ok(found.map(|(_, document)| document.clone()))
        })
    }

    fn list<'a>(&'a self, kind: Kind, list: List<'a>) -> BoxFuture<'a, Result<Vec<Document>, StoreError>> {
        self.read(|kept| {
            [list.after, list.status].into_iter().flatten().try_for_each(check_text)?;
            let is_asked = |((other, key), document): &(&(Kind, String), &Document)| {
                *other == kind
                    && list.after.is_none_or(|after| key.as_str() > after)
                    && list.status.is_none_or(|status| document.status.as_deref() == Some(status))
            };
            let found = kept.records.iter().filter(is_asked).map(|(_, document)| document.clone());
            Ok(found.take(list.limit.min(PAGE_MAX) as usize).collect())
        })
    }

    fn newest<'a>(&'a self, kind: Kind, newest: Newest<'a>) -> BoxFuture<'a, Result<Vec<Document>, StoreError>> {
        self.read(|kept| {
            let Newest { status, before, limit } = newest;
            [before, status].into_iter().flatten().try_for_each(check_text)?;
            let is_asked = |((other, key), document): &(&(Kind, String), &Document)| {
                *other == kind
                    && before.is_none_or(|before| key.as_str() < before)
                    && status.is_none_or(|status| document.status.as_deref() == Some(status))
            };
            let found = kept.records.iter().rev().filter(is_asked).map(|(_, document)| document.clone());
            Ok(found.take(limit.min(PAGE_MAX) as usize).collect())
        })
    }

    fn count(&self, kind: Kind) -> BoxFuture<'_, Result<Vec<StatusCount>, StoreError>> {
        self.read(|kept| {
            let mut counts: BTreeMap<Option<String>, u64> = BTreeMap::new();
            for ((other, _), document) in &kept.records {
                if *other == kind {
                    *counts.entry(document.status.clone()).or_default() += 1;
                }
            }
            Ok(counts.into_iter().map(|(status, count)| StatusCount { status, count }).collect())
        })
    }

    fn named<'a>(&'a self, kind: Kind, named: Named<'a>) -> BoxFuture<'a, Result<Vec<Document>, StoreError>> {
        self.read(|kept| {
            let Named { name, before, limit } = named;
            [Some(name), before].into_iter().flatten().try_for_each(check_text)?;
            let of_name = kept.names.iter().rev().filter(|(of, its, _)| *of == kind && its == name);
            let keys = of_name.map(|(_, _, key)| key).filter(|key| before.is_none_or(|before| key.as_str() < before));
            let found = keys.filter_map(|key| kept.records.get(&(kind, key.clone())).cloned());
            Ok(found.take(limit.min(PAGE_MAX) as usize).collect())
        })
    }

    fn changed<'a>(
        &'a self,
        kind: Kind,
        changed: Changed<'a>,
    ) -> BoxFuture<'a, Result<Vec<ChangedDocument>, StoreError>> {
        self.read(|kept| {
            let Changed { feeds, after, limit } = changed;
            check_number(after)?;
            feeds.iter().try_for_each(|feed| check_text(feed))?;
            let is_asked = |((of, _), (feed, number)): &(&(Kind, String), &(String, u64))| {
                *of == kind && feeds.contains(&feed.as_str()) && *number > after
            };
            let told = kept.told.iter().filter(is_asked);
            let mut found: Vec<_> =
                told.filter_map(|(at, (_, number))| Some((*number, kept.records.get(at)?.clone()))).collect();
            found.sort_unstable_by_key(|(number, _)| *number);
            found.truncate(limit.min(PAGE_MAX) as usize);
            Ok(found)
        })
    }

    fn commit(&self, change: Change) -> BoxFuture<'_, Result<Vec<u64>, StoreError>> {
        ready(self.carry_out(change)).boxed()
    }

    fn audit_chain(&self) -> BoxFuture<'_, Result<ChainCheck, StoreError>> {
        self.read(|_| Ok(audit::chain(ChainKeys::default(), None)))
    }

    fn audit<'a>(
        &'a self,
        subject: Option<&'a str>,
        after: u64,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<AuditEntry>, StoreError>> {
        self.read(|kept| {
            check_number(after)?;
            subject.map_or(Ok(()), check_text)?;
            let entries = kept.audit.iter().filter(|entry| entry.seq > after);
            let entries = entries.filter(|entry| subject.is_none_or(|subject| entry.subject == subject));
            Ok(entries.take(limit.min(PAGE_MAX) as usize).cloned().collect())
        })
    }

    fn claim_mail(
        &self,
        now: Timestamp,
        lease_ms: u64,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<ClaimedMail>, StoreError>> {
        let mut state = self.state();
        let claimed = state.check_engine().map(|()| {
            let due = state.kept.mail.values_mut().filter(|(mail, _)| mail.not_before <= now);
            let mut due: Vec<_> = due.collect();
            due.sort_by_key(|(mail, _)| mail.not_before);
            let claim = |(mail, tries): &mut (OutgoingMail, u32)| {
                mail.not_before = now.plus_ms(lease_ms);
                *tries += 1;
                ClaimedMail { id: mail.id.clone(), sealed: mail.sealed.clone(), tries: *tries - 1 }
            };
            due.into_iter().take(limit.min(PAGE_MAX) as usize).map(claim).collect()
        });
        ready(claimed).boxed()
    }

    fn settle_mail<'a>(&'a self, id: &'a str, fate: MailFate) -> BoxFuture<'a, Result<(), StoreError>> {
        let mut state = self.state();
        let settled = state.check_engine().map(|()| match fate {
            MailFate::Done => drop(state.kept.mail.remove(id)),
            MailFate::Retry(at) => {
                if let Some((mail, _)) = state.kept.mail.get_mut(id) {
                    mail.not_before = at;
                }
            }
        });
        ready(settled).boxed()
    }

    fn changes(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.read(|kept| Ok(kept.changes))
    }

    fn wait_for_change(&self, seen: u64) -> BoxFuture<'_, u64> {
        poll_fn(move |context| {
            let mut state = self.state();
            if state.kept.changes != seen {
                return Poll::Ready(state.kept.changes);
            }
            state.waiting.push(context.waker().clone());
            Poll::Pending
        })
        .boxed()
    }
}
