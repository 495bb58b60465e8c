//! Orders, without the calls that make them.

use std::sync::LazyLock;

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::order::{Opened, Order, OrderId, OrderedFrom, Owner};

use intent_gateway_domain::vault::Vault;

use crate::entropy::vault;
use crate::users::asker;

/// One for all of them, so that no identifier comes twice.
static VAULT: LazyLock<Vault> = LazyLock::new(vault);

/// An order of one user that its partner knows by these identifiers: found under `search`, made under `request`.
///
/// # Panics
/// When partner or intent are none.
#[must_use]
pub fn booked(partner: &str, intent: &str, search: &str, request: &str, identifiers: &[&str], at: Timestamp) -> Order {
    let vault = &*VAULT;
    let opened = Opened {
        id: OrderId::new(vault, at).expect("entropy"),
        partner: PartnerId::parse(partner).expect("well formed"),
        intent: IntentId::parse(intent).expect("well formed"),
        contract: Digest::of(b"1.0.0"),
        owner: Owner::of(vault, &asker("ann")),
        from: OrderedFrom {
            option_id: "option-1".to_owned(),
            receipt: Some("rank_1".to_owned()),
            number: 0,
            request_id: search.to_owned(),
        },
        request_id: request.to_owned(),
        is_sole: false,
    };
    let mut order = Order::open(opened, at);
    "booked".clone_into(&mut order.state);
    order.identifiers = identifiers.iter().map(|identifier| (*identifier).to_owned()).collect();
    order
}
