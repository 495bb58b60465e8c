//! Reads what stores keep, past the gateways, so that no answer is its own witness; and lets the gateway's own commands verify it.

use std::collections::BTreeSet;

use anyhow::Context as _;
use intent_gateway_domain::order::{Order, OrderedOption};
use intent_gateway_domain::store::Pages;
use intent_gateway_ledger::{Books as _, Entry};
use intent_gateway_store::{Location, SqlStore};

use crate::gateway::Gateway;
use crate::known::{Kept, KeptEntry, KeptOrder};

/// Entries that are read at once.
const ENTRIES_PAGE: u32 = 1_000;
/// Commands that look whether a store is sound.
const VERIFY: [[&str; 2]; 3] = [["ledger", "verify"], ["audit", "verify"], ["store", "check"]];

/// Reads what the store at an address keeps, of orders those whose name is wanted.
///
/// # Errors
/// Where it cannot be read.
pub async fn read(url: &str, is_wanted: impl Fn(&str) -> bool) -> anyhow::Result<Kept> {
    let store = SqlStore::open(&Location::parse(url)?, None).await.context("the store does not open")?;
    let (mut options, mut pages) = (BTreeSet::new(), Pages::<OrderedOption>::of(None));
    while let Some(page) = pages.next(&store).await.context("the ordered options")? {
        let names = page.into_iter().map(|kept| kept.value.order.as_str().to_owned());
        options.extend(names.filter(|name| is_wanted(name)));
    }
    let (mut orders, mut pages) = (Vec::new(), Pages::<Order>::of(None));
    while let Some(page) = pages.next(&store).await.context("the orders")? {
        let wanted = page.into_iter().filter(|kept| is_wanted(kept.value.id.as_str()));
        orders.extend(wanted.map(|kept| {
            let Order { id, partner, from, request_id, state, identifiers, report, .. } = kept.value;
            let id = id.as_str().to_owned();
            let (has_option, receipt) = (options.contains(&id), report.map(|report| report.receipt));
            let (partner, option) = (partner.as_str().to_owned(), from.option_id);
            KeptOrder { id, partner, key: request_id, option, identifiers, state, receipt, has_option }
        }));
    }
    let mut entries: Vec<Entry> = Vec::new();
    loop {
        let after = entries.last().map_or(0, |last| last.number);
        let page = store.entries(after, ENTRIES_PAGE).await.context("the entries")?;
        if page.is_empty() {
            break;
        }
        entries.extend(page);
    }
    store.close().await;
    let entries = entries.into_iter().map(|entry| KeptEntry {
        receipt: entry.receipt_id(),
        commission_paise: entry.posting.commission().map(intent_gateway_domain::money::Paise::get),
        partner: entry.posting.partner.as_str().to_owned(),
        external_id: entry.posting.external_id,
    });
    Ok(Kept { orders, entries: entries.collect() })
}

/// What the gateway's own commands say against the store of a gateway that has stopped.
#[must_use]
pub fn verify(gateway: &Gateway) -> Vec<String> {
    let run = |command: &[&str; 2]| {
        let failed = gateway.command(command).err()?;
        Some(format!("`{}` on the store of gateway {}: {failed:#}", command.join(" "), gateway.number + 1))
    };
    VERIFY.iter().filter_map(run).collect()
}
