//! A later version of `auto.book_ac_service` that puts safety first.
//!
//! It shows what a variant takes: another version and other weights, everything else as it is. The demo ships it
//! while searches are in flight.

use auto_book_ac_service::AcService;
use contract_sdk::{Contract, Ranking, Weights};

/// The contract with 75 % of the weight on safety.
pub struct SafetyFirst;

impl Contract for SafetyFirst {
    type Intent = AcService;
    const VERSION: &'static str = "1.0.1";
    const RANKING: Ranking = AcService::RANKING.with_weights(Weights::new(0.10, 0.05, 0.10, 0.75));
}

contract_sdk::export!(SafetyFirst);

#[cfg(test)]
mod tests {
    use super::SafetyFirst;
    use contract_sdk::engine;
    use contract_sdk::testing::problems;

    #[test]
    fn the_variant_is_consistent_and_keeps_the_examples() {
        assert_eq!(problems::<SafetyFirst>(), Vec::<String>::new());
        let descriptor = engine::describe::<SafetyFirst>();
        assert_eq!((descriptor.version.as_str(), descriptor.ranking.weights.safety), ("1.0.1", 0.75));
    }
}
