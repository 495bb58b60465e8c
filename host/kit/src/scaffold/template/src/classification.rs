//! Which utterances are meant.

use contract_sdk::lexicon::{Claim, Lexicon, Referral};

/// The words of the contract. A phrase matches whole words in a row; longer words may be misspelt a little.
pub const LEXICON: Lexicon = Lexicon {
    // One of these occurs in every utterance that may concern the contract; it is asked only then.
    cues: &["{{words}}"],
    // The contract claims an utterance from 0.5 on. One phrase of each group must occur.
    claims: &[Claim { name: "wanted", weight: 0.8, all: &[&["{{words}}"]] }],
    // What only sounds like it.
    referrals: &[Referral {
        intent: None,
        reason: "Who asks for a job is looking for no service.",
        weight: 0.9,
        all: &[&["job as", "salary of", "become a", "training as"]],
        unless: &[],
    }],
    pairs: &[],
};
