//! What other parts of the gateway ask of accounts: the names of businesses, for statements, and who was ever live.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::ports::{BusinessNames, Standings};
use intent_gateway_domain::store::{Store, StoreError, load};

use crate::records::{Account, Connection};

/// Reads names out of the accounts.
pub struct AccountNames(pub Arc<dyn Store>);

impl BusinessNames for AccountNames {
    fn business_name<'a>(&'a self, partner: &'a PartnerId) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        Box::pin(async move {
            let account = load::<Account>(&*self.0, partner.as_str()).await?;
            Ok(account.map(|account| account.value.business_name))
        })
    }
}

/// Reads out of the connections who was ever live.
pub struct ConnectionStandings {
    pub store: Arc<dyn Store>,
    /// Partners of the configuration, which are always live.
    pub configured: HashSet<PartnerId>,
}

impl Standings for ConnectionStandings {
    fn was_ever_live<'a>(&'a self, partner: &'a PartnerId) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            if self.configured.contains(partner) {
                return Ok(true);
            }
            let connection = load::<Connection>(&*self.store, partner.as_str()).await?;
            Ok(connection.is_some_and(|connection| connection.value.first_live_at_ms.is_some()))
        })
    }
}
