//! Rankings that users see while their search goes on. A search leaves one receipt, at its end; until then, a booking out of
//! what it has shown is compared with what is kept here.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;

use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::receipt::Receipt;

/// The newest ranking of each search that goes on, by the identifier that its receipt will have. As many as searches are
/// streamed at once. Clones share them.
#[derive(Clone, Default)]
pub struct OpenRankings(Arc<Mutex<HashMap<String, Receipt>>>);

impl fmt::Debug for OpenRankings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenRankings").field("open", &self.rankings().len()).finish()
    }
}

impl OpenRankings {
    /// Puts a ranking in the place of the one before it.
    pub(super) fn replace(&self, ranking: Receipt) {
        self.rankings().insert(ranking.id.clone(), ranking);
    }

    /// The search is over: gives its newest ranking out.
    pub(super) fn close(&self, id: &str) -> Option<Receipt> {
        self.rankings().remove(id)
    }

    /// An option that a search has shown which still goes on.
    pub(crate) fn option(&self, ranking: &str, partner: &PartnerId, number: u32) -> Option<Box<RawValue>> {
        self.rankings().get(ranking)?.shown_option(partner, number).map(ToOwned::to_owned)
    }

    /// They are whole after every step, so they can be used after a panic.
    fn rankings(&self) -> MutexGuard<'_, HashMap<String, Receipt>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
