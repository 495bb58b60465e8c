//! The lexicons of the shipped contracts behind the host's port, without a sandbox: the words are judged here, not
//! WebAssembly.

use std::sync::Arc;

use auto_book_ac_service::classification::LEXICON as AC_SERVICE;
use contract_sdk::lexicon::Lexicon;
use finance_buy_motor_insurance::classification::LEXICON as MOTOR_INSURANCE;
use intent_gateway_domain::contract::{Classification, PointerElsewhere};
use intent_gateway_domain::id::IntentId;
use intent_gateway_testing::catalogue::Catalogue;
use intent_gateway_testing::contract::{ScriptedContract, descriptor};
use lifestyle_book_yoga_class::classification::LEXICON as YOGA_CLASS;

/// The shipped contracts.
pub(crate) fn shipped() -> Arc<Catalogue> {
    Catalogue::of([
        words_of("auto.book_ac_service", AC_SERVICE),
        words_of("finance.buy_motor_insurance", MOTOR_INSURANCE),
        words_of("lifestyle.book_yoga_class", YOGA_CLASS),
    ])
}

/// A contract of which only the words are there.
fn words_of(intent: &str, lexicon: Lexicon) -> Arc<ScriptedContract> {
    let mut declared = descriptor("1.0.0");
    declared.intent = IntentId::parse(intent).expect("an intent");
    declared.domain = declared.intent.domain().to_owned();
    declared.cues = lexicon.cues.iter().map(|cue| (*cue).to_owned()).collect();
    Arc::new(ScriptedContract::new(declared).on_classify(move |utterance, _| {
        let said = lexicon.classify(utterance);
        let elsewhere = said.elsewhere.into_iter().map(|pointer| PointerElsewhere {
            intent: pointer.intent,
            score: pointer.score,
            reason: pointer.reason,
        });
        let elsewhere = elsewhere.collect();
        Ok(Classification { score: said.score, evidence: said.evidence, elsewhere, also: said.also })
    }))
}
