//! Which partners a search calls: live ones that list the intent, serve the user's place, and are open at the hour
//! that counts (spec 1, Manifest).
//!
//! The rules, each on its own:
//!
//! - *Intent*: the partner lists it. Whoever hands partners over hands over live ones only.
//! - *Place* (see [`place`](intent_gateway_domain::place)): the service area is the whole country, or holds the user's city or postal
//!   code. A request that names neither leaves nobody out.
//! - *Hour* (see [`availability`](intent_gateway_domain::availability)): the partner is open at some time inside the window that the
//!   user asks for, or now. Hours that cannot be read leave nobody out.
//! - *Bound*: beyond [`FAN_OUT_MAX`](intent_gateway_domain::limits::FAN_OUT_MAX) partners, each search calls others in turn. Nothing
//!   else decides whose turn it is.
//!
//! A [`Directory`] holds one immutable snapshot, which is replaced whole; a search asks the one that it finds. Beside the
//! index of live partners it has those whose server is known: no search sees them, but what was booked there can be followed
//! and cancelled.

mod bits;
mod index;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;

use self::index::Index;
use intent_gateway_domain::availability::WeekWindow;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::Need;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{PartnerDirectory, PartnerIndex, Selection};

/// The partners of one moment.
#[derive(Debug)]
struct Partners {
    live: Index,
    known: HashMap<PartnerId, Arc<Partner>>,
}

impl Partners {
    fn of(live: Vec<Arc<Partner>>, known: Vec<Arc<Partner>>) -> Self {
        let known = known.into_iter().map(|partner| (partner.id.clone(), partner)).collect();
        Self { live: Index::build(live), known }
    }
}

/// The live partners, ready to be chosen from, and those that are known besides.
#[derive(Debug)]
pub struct Directory {
    partners: ArcSwap<Partners>,
    /// Searches that found more partners than one may call.
    turns: AtomicU64,
}

impl Directory {
    /// Takes live partners in any order.
    #[must_use]
    pub fn new(partners: Vec<Arc<Partner>>) -> Self {
        Self { partners: ArcSwap::from_pointee(Partners::of(partners, Vec::new())), turns: AtomicU64::new(0) }
    }
}

impl PartnerIndex for Directory {
    fn replace(&self, live: Vec<Arc<Partner>>, known: Vec<Arc<Partner>>) {
        self.partners.store(Arc::new(Partners::of(live, known)));
    }
}

impl PartnerDirectory for Directory {
    fn select(&self, intent: &str, need: &Need, now: Timestamp) -> Selection {
        let partners = self.partners.load();
        partners.live.select(intent, need, WeekWindow::wanted(need, now), || self.turns.fetch_add(1, Ordering::Relaxed))
    }

    fn find_known(&self, id: &PartnerId) -> Option<Arc<Partner>> {
        let known = self.partners.load().known.get(id).cloned();
        known.or_else(|| self.find(id))
    }

    fn all(&self) -> Vec<Arc<Partner>> {
        self.partners.load().live.partners().to_vec()
    }
}
