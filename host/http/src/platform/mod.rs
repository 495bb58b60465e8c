//! What the platform team does for partners: reviews, probes, tests, switches on, suspends; sees how they fare in service;
//! reads who serves, the audit log, orders, what is overdue of them, the receipts of rankings, and the faults of contracts; tells partners of
//! what will change.
//!
//! Contracts themselves are not here; they are in [`crate::admin`].

mod audit;
mod connections;
mod delivered;
mod documents;
mod faults;
mod gateways;
mod health;
mod ledger;
mod notices;
mod orders;
mod overdue;
mod receipts;
mod reviews;
mod revocations;
mod rollouts;
mod settings;

use std::sync::Arc;

use intent_gateway_domain::alias;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::Contracts;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::error::{Code, Refusal, refuse_intent};

pub(crate) use ledger::VERIFICATIONS_MAX;
pub(crate) use overdue::ORDER_BYTES as OVERDUE_ORDER_BYTES;

/// The intent that a body names, by its own name where it has an alias there.
pub(crate) fn intent(contracts: &dyn Contracts, name: &str) -> Result<IntentId, Refusal> {
    let name = IntentId::parse(name).map_err(|error| refuse_intent(error.to_string()))?;
    Ok(alias::resolve(contracts, &name))
}

/// Longest identifier that the gateway gives to a record, characters.
const ID_MAX_CHARS: usize = 64;

/// An identifier as the gateway writes those of its records; `name` is what there is none of otherwise.
fn require_id<'a>(id: &'a str, name: &str) -> Result<&'a str, Refusal> {
    let fits = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if fits && (1..=ID_MAX_CHARS).contains(&id.len()) {
        return Ok(id);
    }
    Err(Refusal::new(Code::NotFound).message(format!("There is no such {name}.")))
}

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::default()
        .routes(routes!(reviews::list_accounts))
        .routes(routes!(reviews::list_reviews))
        .routes(routes!(reviews::show_review))
        .routes(routes!(reviews::decide_review))
        .routes(routes!(documents::read))
        .routes(routes!(connections::list_connections))
        .routes(routes!(connections::count_connections))
        .routes(routes!(connections::show_connection))
        .routes(routes!(connections::probe))
        .routes(routes!(connections::test))
        .routes(routes!(connections::switch_on))
        .routes(routes!(connections::suspend))
        .routes(routes!(connections::lift))
        .routes(routes!(connections::accept_drift))
        .routes(routes!(delivered::list_delivered))
        .routes(routes!(gateways::list_gateways))
        .routes(routes!(settings::list_settings))
        .routes(routes!(health::list_health))
        .routes(routes!(health::show_health))
        .routes(routes!(health::strike))
        .routes(routes!(revocations::list_revocations, revocations::revoke))
        .routes(routes!(rollouts::promote))
        .routes(routes!(rollouts::show_rollout, rollouts::act))
        .routes(routes!(audit::list_entries))
        .routes(routes!(audit::verify))
        .routes(routes!(ledger::months))
        .routes(routes!(ledger::statement))
        .routes(routes!(ledger::trial_balance))
        .routes(routes!(ledger::list_entries))
        .routes(routes!(ledger::show_entry))
        .routes(routes!(ledger::take_back))
        .routes(routes!(ledger::correct))
        .routes(routes!(ledger::verify))
        .routes(routes!(orders::list_orders))
        .routes(routes!(orders::show_order))
        .routes(routes!(overdue::list_overdue))
        .routes(routes!(overdue::summarize_overdue))
        .routes(routes!(receipts::list_receipts))
        .routes(routes!(receipts::list_rankings))
        .routes(routes!(receipts::show_receipt))
        .routes(routes!(receipts::replay_receipt))
        .routes(routes!(notices::list_notices, notices::publish_notice))
        .routes(routes!(notices::show_notice))
        .routes(routes!(notices::withdraw_notice))
        .routes(routes!(faults::list_faults))
        .routes(routes!(faults::show_fault))
}

#[cfg(test)]
mod tests {
    use intent_gateway_testing::catalogue::Catalogue;
    use intent_gateway_testing::contract::{ScriptedContract, descriptor};

    use super::*;

    #[test]
    fn records_are_named_as_they_are() {
        assert!(require_id("rev_1800000000000_0123456789abcdef", "review").is_ok());
        for bad in ["", "a\0b", "a b", "../x", &"x".repeat(65)] {
            assert!(require_id(bad, "review").is_err(), "{bad}");
        }
    }

    #[test]
    fn intents_are_named_as_they_are() {
        let mut declared = descriptor("1.0.0");
        declared.aliases = vec![IntentId::parse("auto.mend").expect("well formed")];
        let own = declared.intent.clone();
        let contracts = Catalogue::of([Arc::new(ScriptedContract::new(declared))]);
        assert_eq!(intent(&*contracts, "auto.fix").expect("an intent").as_str(), "auto.fix");
        assert_eq!(intent(&*contracts, "auto.mend").expect("an intent"), own);
        assert_eq!(intent(&*contracts, "fix").expect_err("no intent").code(), "INVALID_INTENT");
    }
}
