//! A later version of `auto.book_ac_service`: the same rules, ranked with safety first.
//!
//! The demo ships it while searches are in flight. It also shows how little a variant of a contract takes.

use auto_book_ac_service::AcService;
use contract_sdk::{Contract, Intent, Ranking, Weights};

/// The variant.
pub struct SafetyFirst;

impl Contract for SafetyFirst {
    type Intent = AcService;
    const VERSION: &'static str = "1.0.1";
    const RANKING: Ranking = <AcService as Intent>::RANKING.with_weights(Weights::new(0.10, 0.05, 0.10, 0.75));
}

contract_sdk::export!(SafetyFirst);
