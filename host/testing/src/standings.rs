//! Who was ever live, as a test says.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::{BoxFuture, FutureExt as _};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::ports::Standings;
use intent_gateway_domain::store::StoreError;

/// Everybody was live, or nobody.
pub struct GivenStandings(AtomicBool);

impl Default for GivenStandings {
    /// Everybody was.
    fn default() -> Self {
        Self(AtomicBool::new(true))
    }
}

impl GivenStandings {
    /// From here on everybody was live, or nobody was.
    pub fn set(&self, was_live: bool) {
        self.0.store(was_live, Ordering::Relaxed);
    }
}

impl Standings for GivenStandings {
    fn was_ever_live<'a>(&'a self, _: &'a PartnerId) -> BoxFuture<'a, Result<bool, StoreError>> {
        let was_live = self.0.load(Ordering::Relaxed);
        async move { Ok(was_live) }.boxed()
    }
}
