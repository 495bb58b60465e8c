//! What other parts of the gateway ask of accounts: the names of businesses, for statements.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::ports::BusinessNames;
use intent_gateway_domain::store::{Store, StoreError, load};

use crate::records::Account;

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
