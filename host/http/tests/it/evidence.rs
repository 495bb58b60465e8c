//! A journal and its evidence, in memory.

use std::sync::Mutex;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::findings::{Finding, KeptFinding};
use intent_gateway_domain::ports::{Evidence, Journal};
use intent_gateway_domain::receipt::Receipt;
use intent_gateway_domain::store::StoreError;

/// What searches have shown, oldest first.
#[derive(Default)]
pub(crate) struct MemoryEvidence {
    pub(crate) findings: Mutex<Vec<Finding>>,
    pub(crate) receipts: Mutex<Vec<Receipt>>,
}

impl Journal for MemoryEvidence {
    fn record(&self, finding: Finding) {
        self.findings.lock().expect("no test panics in it").push(finding);
    }

    fn keep(&self, receipt: Receipt) {
        self.receipts.lock().expect("no test panics in it").push(receipt);
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, Result<T, StoreError>> {
    std::future::ready(Ok(value)).boxed()
}

impl Evidence for MemoryEvidence {
    fn findings<'a>(
        &'a self,
        partner: &'a str,
        before: Option<u64>,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<KeptFinding>, StoreError>> {
        let findings = self.findings.lock().expect("no test panics in it");
        let numbered = findings.iter().enumerate().rev().map(|(index, finding)| (index as u64 + 1, finding));
        let asked = numbered.filter(|(number, finding)| {
            finding.partner.as_str() == partner && before.is_none_or(|before| *number < before)
        });
        let page = asked.take(limit as usize).map(|(number, finding)| KeptFinding { number, finding: finding.clone() });
        ready(page.collect())
    }

    fn strikes(&self, _: u64, _: Timestamp, _: u32) -> BoxFuture<'_, Result<Vec<KeptFinding>, StoreError>> {
        unreachable!("no route looks for new strikes")
    }

    fn receipt<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Receipt>, StoreError>> {
        let receipts = self.receipts.lock().expect("no test panics in it");
        ready(receipts.iter().find(|receipt| receipt.id == id).cloned())
    }

    fn receipts_of<'a>(&'a self, request_id: &'a str, limit: u32) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        let receipts = self.receipts.lock().expect("no test panics in it");
        let of_request = receipts.iter().rev().filter(|receipt| receipt.request_id == request_id);
        ready(of_request.take(limit as usize).map(|receipt| receipt.id.clone()).collect())
    }

    fn forget(&self, _before: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>> {
        unreachable!("no route forgets")
    }
}
