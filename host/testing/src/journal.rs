//! A journal in memory that remembers all it was told, and is the evidence of it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::findings::{
    COUNTS_MAX, Finding, FindingQuery, FindingsAbout, KeptFinding, RuleCount, Severity, day_number, day_start,
};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::ports::{Evidence, Journal, ReceiptFate};
use intent_gateway_domain::receipt::{KeptReceipt, MarkedReceipt, RECEIPTS_LOOKED_THROUGH_MAX, Receipt, ReceiptsBack};
use intent_gateway_domain::store::StoreError;
use intent_gateway_domain::user::User;
use intent_gateway_domain::user_data::{ErasedEvidence, UserEvidence, UserRanking, ranking_mark};
use intent_gateway_domain::vault::Mark;

use crate::entropy::vault;

/// Findings and receipts, oldest first. A finding's number is its place, from 1.
#[derive(Default)]
pub struct MemoryJournal {
    findings: Mutex<Vec<Finding>>,
    receipts: Mutex<Vec<Receipt>>,
    /// Whose the receipts are, by their identifiers.
    users: Mutex<BTreeMap<String, Mark>>,
    erased: Mutex<BTreeSet<String>>,
    /// What becomes of what comes; unset, it is kept.
    fate: Mutex<Option<ReceiptFate>>,
    was_late: AtomicBool,
}

impl MemoryJournal {
    /// From here on this becomes of receipts, and it is known. Doubtful ones are lost, as they are while the store is down.
    ///
    /// # Panics
    /// When another test panicked in it.
    pub fn set_fate(&self, fate: ReceiptFate) {
        *self.fate.lock().expect("no test panics in it") = Some(fate);
    }

    /// Says whether receipts have come late a moment ago.
    pub fn set_late(&self, was_late: bool) {
        self.was_late.store(was_late, Ordering::Relaxed);
    }

    pub fn all_findings(&self) -> Vec<Finding> {
        self.findings.lock().expect("no test panics in it").clone()
    }

    /// Severity and code of each finding.
    pub fn found(&self) -> Vec<(Severity, String)> {
        let findings = self.all_findings();
        findings.into_iter().map(|finding| (finding.severity, finding.violation.code)).collect()
    }

    /// The findings against a partner.
    pub fn findings_of(&self, partner: &str) -> Vec<Finding> {
        self.all_findings().into_iter().filter(|finding| finding.partner.as_str() == partner).collect()
    }

    pub fn all_receipts(&self) -> Vec<Receipt> {
        self.receipts.lock().expect("no test panics in it").clone()
    }

    /// Changes the receipts behind the back of the port.
    pub fn alter_receipts(&self, alter: impl FnOnce(&mut Vec<Receipt>)) {
        alter(&mut self.receipts.lock().expect("no test panics in it"));
    }

    /// The only receipt.
    ///
    /// # Panics
    /// When there is none, or another.
    pub fn only_receipt(&self) -> Receipt {
        let mut receipts = self.all_receipts();
        assert_eq!(receipts.len(), 1, "one receipt is expected");
        receipts.remove(0)
    }

    fn numbered(&self) -> impl DoubleEndedIterator<Item = KeptFinding> {
        let findings = self.all_findings().into_iter().enumerate();
        let kept = |(index, finding)| KeptFinding { number: index as u64 + 1, finding };
        findings.map(kept).collect::<Vec<_>>().into_iter()
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, Result<T, StoreError>> {
    std::future::ready(Ok(value)).boxed()
}

impl Journal for MemoryJournal {
    fn receipt_fate(&self) -> ReceiptFate {
        self.fate.lock().expect("no test panics in it").unwrap_or(ReceiptFate::KeptSoon)
    }

    fn was_late_within(&self, _span: Duration) -> bool {
        self.was_late.load(Ordering::Relaxed)
    }

    fn record(&self, finding: Finding) {
        if self.receipt_fate() == ReceiptFate::Doubtful {
            return;
        }
        self.findings.lock().expect("no test panics in it").push(finding);
    }

    fn keep_shared(&self, receipt: Arc<Receipt>, user: Option<&User>) {
        if self.receipt_fate() == ReceiptFate::Doubtful {
            return;
        }
        if let Some(user) = user {
            let mark = ranking_mark(&vault(), user);
            self.users.lock().expect("no test panics in it").insert(receipt.id.clone(), mark);
        }
        self.receipts.lock().expect("no test panics in it").push(Arc::unwrap_or_clone(receipt));
    }
}

impl Evidence for MemoryJournal {
    fn findings<'a>(&'a self, query: FindingQuery<'a>) -> BoxFuture<'a, Result<Vec<KeptFinding>, StoreError>> {
        let newest_first = self.numbered().rev();
        let page =
            newest_first.filter(|kept| query.admits(&kept.finding) && query.before.is_none_or(|end| kept.number < end));
        ready(page.take(query.limit as usize).collect())
    }

    fn findings_about<'a>(&'a self, about: FindingsAbout<'a>) -> BoxFuture<'a, Result<Vec<KeptFinding>, StoreError>> {
        let found = self.numbered().rev().filter(|kept| about.admits(&kept.finding));
        ready(found.take(about.limit as usize).collect())
    }

    fn counts<'a>(
        &'a self,
        partner: &'a PartnerId,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<RuleCount>, StoreError>> {
        let mut counts: BTreeMap<(Reverse<u64>, String, String, &'static str), u64> = BTreeMap::new();
        for Finding { at_ms, partner: own, intent, severity, violation, .. } in self.all_findings() {
            if own == *partner && at_ms >= since {
                let key = (Reverse(day_number(at_ms)), intent, violation.code, severity.as_str());
                *counts.entry(key).or_default() += 1;
            }
        }
        let row = |((Reverse(day), intent, code, severity), count)| RuleCount {
            day: day_start(day),
            intent,
            code,
            severity: Severity::parse(severity).expect("one of them"),
            count,
        };
        ready(counts.into_iter().map(row).take(COUNTS_MAX as usize).collect())
    }

    fn strikes(&self, after: u64, since: Timestamp, limit: u32) -> BoxFuture<'_, Result<Vec<KeptFinding>, StoreError>> {
        let strikes = self.numbered().filter(|kept| kept.finding.severity == Severity::Strike);
        let page = strikes.filter(|kept| kept.number > after && kept.finding.at_ms >= since);
        ready(page.take(limit as usize).collect())
    }

    fn receipt<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<KeptReceipt>, StoreError>> {
        if self.erased.lock().expect("no test panics in it").contains(id) {
            return ready(Some(KeptReceipt::Erased));
        }
        let found = self.all_receipts().into_iter().find(|receipt| receipt.id == id);
        ready(found.map(|receipt| KeptReceipt::Whole(Box::new(receipt))))
    }

    fn recent_receipts<'a>(
        &'a self,
        intent: &'a IntentId,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        let looked_through = self.all_receipts().into_iter().rev().take(RECEIPTS_LOOKED_THROUGH_MAX as usize);
        let of_intent = looked_through.filter(|receipt| receipt.intent == *intent);
        ready(of_intent.take(limit as usize).map(|receipt| receipt.id).collect())
    }

    fn receipts_of<'a>(&'a self, request_id: &'a str, limit: u32) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        let newest_first = self.all_receipts().into_iter().rev();
        let of_request = newest_first.filter(|receipt| receipt.request_id == request_id);
        ready(of_request.take(limit as usize).map(|receipt| receipt.id).collect())
    }

    /// A receipt's number is its place, from 1; two make a page.
    fn receipts_back<'a>(
        &'a self,
        intent: &'a IntentId,
        since: Timestamp,
        before: Option<u64>,
    ) -> BoxFuture<'a, Result<ReceiptsBack, StoreError>> {
        let numbered =
            (1..).zip(self.all_receipts()).filter(|(number, _)| before.is_none_or(|before| *number < before));
        let page: Vec<(u64, Receipt)> = numbered.collect::<Vec<_>>().into_iter().rev().take(2).collect();
        let next = page.last().map(|(number, _)| *number).filter(|number| *number > 1);
        let erased = self.erased.lock().expect("no test panics in it").clone();
        let admits =
            |receipt: &Receipt| receipt.intent == *intent && receipt.at_ms >= since && !erased.contains(&receipt.id);
        let users = self.users.lock().expect("no test panics in it");
        let marked = |receipt: Receipt| MarkedReceipt { user: users.get(&receipt.id).cloned(), receipt };
        let receipts = page.into_iter().map(|(_, receipt)| receipt).filter(admits).map(marked).collect();
        ready(ReceiptsBack { receipts, next })
    }

    fn forget(&self, _: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
        panic!("no test expects that anything is forgotten here: finding numbers are places in the list")
    }
}

/// A receipt's number is its place, from 1; an erased one keeps its place.
impl UserEvidence for MemoryJournal {
    fn rankings_of<'a>(
        &'a self,
        mark: &'a Mark,
        before: Option<u64>,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<UserRanking>, StoreError>> {
        let users = self.users.lock().expect("no test panics in it");
        let numbered = (1..).zip(self.all_receipts()).filter(|(number, _)| before.is_none_or(|end| *number < end));
        let own = numbered.filter(|(_, receipt)| users.get(&receipt.id) == Some(mark));
        let mut own: Vec<UserRanking> =
            own.map(|(number, Receipt { id, request_id, .. })| UserRanking { number, id, request_id }).collect();
        own.reverse();
        own.truncate(limit as usize);
        ready(own)
    }

    fn mark_rankings<'a>(&'a self, receipts: &'a [String], mark: &'a Mark) -> BoxFuture<'a, Result<(), StoreError>> {
        let erased = self.erased.lock().expect("no test panics in it");
        let mut users = self.users.lock().expect("no test panics in it");
        for receipt in receipts.iter().filter(|receipt| !erased.contains(*receipt)) {
            users.entry(receipt.clone()).or_insert_with(|| mark.clone());
        }
        ready(())
    }

    fn erase_rankings<'a>(&'a self, rankings: &'a [UserRanking]) -> BoxFuture<'a, Result<ErasedEvidence, StoreError>> {
        for ranking in rankings {
            self.users.lock().expect("no test panics in it").remove(&ranking.id);
            self.erased.lock().expect("no test panics in it").insert(ranking.id.clone());
        }
        ready(ErasedEvidence { receipts: rankings.len() as u64, ..ErasedEvidence::default() })
    }

    /// Nothing is found here: what becomes of findings is told by the store's suite.
    fn erase_found<'a>(&'a self, _: &'a [String]) -> BoxFuture<'a, Result<ErasedEvidence, StoreError>> {
        ready(ErasedEvidence::default())
    }
}
