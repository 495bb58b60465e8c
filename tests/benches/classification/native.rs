//! The lexicons of the shipped contracts behind the host's port, without a sandbox: the words are judged here, not
//! WebAssembly.

use std::sync::Arc;

use auto_book_ac_service::classification::LEXICON as AC_SERVICE;
use contract_sdk::lexicon::Lexicon;
use finance_buy_motor_insurance::classification::LEXICON as MOTOR_INSURANCE;
use futures_util::future::BoxFuture;
use intent_gateway_domain::classify::CueIndex;
use intent_gateway_domain::contract::*;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::{ContractError, ContractFault};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::{Contract, Contracts};
use lifestyle_book_yoga_class::classification::LEXICON as YOGA_CLASS;

/// A contract of which only the words are there.
struct Words {
    descriptor: Descriptor,
    lexicon: Lexicon,
}

impl Words {
    fn of(intent: &str, lexicon: Lexicon) -> Self {
        Self { descriptor: descriptor(intent, lexicon.cues), lexicon }
    }
}

impl Contract for Words {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn digest(&self) -> Digest {
        Digest::of(self.descriptor.intent.as_str().as_bytes())
    }

    fn classify<'a>(&'a self, utterance: &'a str, _: &'a str) -> BoxFuture<'a, Result<Classification, ContractFault>> {
        let said = self.lexicon.classify(utterance);
        let elsewhere = said.elsewhere.into_iter().map(|pointer| PointerElsewhere {
            intent: pointer.intent,
            score: pointer.score,
            reason: pointer.reason,
        });
        let opinion = Classification {
            score: said.score,
            evidence: said.evidence,
            elsewhere: elsewhere.collect(),
            also: said.also,
        };
        Box::pin(std::future::ready(Ok(opinion)))
    }

    fn check_request<'a>(
        &'a self,
        _: &'a CallContext,
        _: &'a str,
        _: &'a str,
    ) -> BoxFuture<'a, Result<PreparedRequest, ContractError>> {
        unreachable!("only classification is measured")
    }

    fn evaluate<'a>(
        &'a self,
        _: &'a CallContext,
        _: &'a str,
        _: &'a [Payload<'a>],
    ) -> BoxFuture<'a, Result<Evaluation, ContractError>> {
        unreachable!("only classification is measured")
    }

    fn check_response<'a>(
        &'a self,
        _: &'a CallContext,
        _: Exchange<'a>,
    ) -> BoxFuture<'a, Result<CheckedResponse, ContractError>> {
        unreachable!("only classification is measured")
    }

    fn check_completion<'a>(
        &'a self,
        _: &'a CallContext,
        _: &'a str,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<CheckedCompletion, ContractError>> {
        unreachable!("only classification is measured")
    }
}

/// The shipped contracts.
pub(crate) struct Shipped {
    contracts: Vec<Arc<dyn Contract>>,
    cues: CueIndex,
}

impl Shipped {
    pub(crate) fn new() -> Self {
        let contracts: Vec<Arc<dyn Contract>> = vec![
            Arc::new(Words::of("auto.book_ac_service", AC_SERVICE)),
            Arc::new(Words::of("finance.buy_motor_insurance", MOTOR_INSURANCE)),
            Arc::new(Words::of("lifestyle.book_yoga_class", YOGA_CLASS)),
        ];
        let cues = CueIndex::build(contracts.iter().map(|contract| contract.descriptor().cues.as_slice()));
        Self { contracts, cues }
    }

    /// The cues of each.
    pub(crate) fn cues(&self) -> Vec<Vec<String>> {
        self.contracts.iter().map(|contract| contract.descriptor().cues.clone()).collect()
    }
}

impl Contracts for Shipped {
    fn live(&self, intent: &str) -> Option<Arc<dyn Contract>> {
        self.contracts.iter().find(|contract| contract.descriptor().intent.as_str() == intent).cloned()
    }

    fn find_loaded(&self, digest: Digest) -> Option<Arc<dyn Contract>> {
        self.contracts.iter().find(|contract| contract.digest() == digest).cloned()
    }

    fn all(&self) -> Vec<Arc<dyn Contract>> {
        self.contracts.clone()
    }

    fn select_by_cues(&self, utterance: &str) -> Vec<Arc<dyn Contract>> {
        self.cues.select_by_cues(utterance).into_iter().map(|number| Arc::clone(&self.contracts[number])).collect()
    }
}

/// A descriptor with nothing in it but what classification looks at.
fn descriptor(intent: &str, cues: &[&str]) -> Descriptor {
    let intent = IntentId::parse(intent).expect("an intent");
    let nothing = || serde_json::value::to_raw_value(&serde_json::json!({})).expect("JSON");
    let weights = Axes { time: 0.25, taste: 0.25, budget: 0.25, safety: 0.25 };
    Descriptor {
        domain: intent.domain().to_owned(),
        intent,
        version: "1.0.0".parse().expect("a version"),
        agent: String::new(),
        title: String::new(),
        summary: String::new(),
        search: SearchShape {
            tool: String::new(),
            options_key: String::new(),
            id_key: String::new(),
            max_options: 1,
            empty_code: None,
            gone_code: None,
        },
        tools: Vec::new(),
        ranking: Ranking {
            weights,
            declared_share: 0.0,
            completeness_share: 0.0,
            signals: Vec::new(),
            bands: Vec::new(),
        },
        vocabularies: Vec::new(),
        forbidden_fields: Vec::new(),
        rules: Vec::new(),
        errors: Vec::new(),
        widget: Widget { widget_type: String::new(), preferred: None, slots: Vec::new() },
        completion: Completion { statuses: Vec::new(), charged_statuses: Vec::new(), schema: nothing() },
        data_lifetimes: Vec::new(),
        go_live: Vec::new(),
        cues: cues.iter().map(|cue| (*cue).to_owned()).collect(),
        pairs: Vec::new(),
        elsewhere: Vec::new(),
    }
}
