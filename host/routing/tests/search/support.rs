//! A gateway's search over fakes: one intent, partners that answer as the test says.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_executor::block_on;
use intent_gateway_domain::contract::*;
use intent_gateway_domain::error::{CallFailure, ContractError, ContractFault};
use intent_gateway_domain::secret::Secret;
use intent_gateway_outbound::Outbound;
use intent_gateway_routing::calling::{CallRequest, Caller, KeyedWrites};
use intent_gateway_routing::reference::ReferenceSealer;
use intent_gateway_routing::search::{PastOrders, SearchError, SearchOutcome, SearchRequest, Searcher, ShownRankings};
use intent_gateway_testing::catalogue::Catalogue;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract::{
    ContractCall, ScriptedContract, accept_any_request, candidates, descriptor, ranked, refusal, row, tool, violation,
};
use intent_gateway_testing::directory::{GivenPartners, partner};
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::journal::MemoryJournal;
use intent_gateway_testing::partners::ScriptedPartners;
use intent_gateway_testing::store::MemoryStore;
use intent_gateway_testing::users::UNNAMED;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

pub(crate) const NOW_MS: u64 = 1_767_225_600_000;
pub(crate) const INTENT: &str = "test.find_things";
const SEARCH: &str = "search_things";
const BOOK: &str = "book_thing";

/// Ways in which a ranking is not what the options say; a real contract is a pure function.
#[derive(Clone)]
pub(crate) enum Deviation {
    /// One unit in the last place of a total.
    Score,
    Drop,
    Card,
    Refusal,
    Fault(ContractFault),
}

type Deviates = Arc<Mutex<Option<Deviation>>>;

pub(crate) fn declared() -> Descriptor {
    let mut declared = descriptor("1.2.3");
    declared.search.id_key = "id".to_owned();
    declared.search.max_options = 3;
    declared.errors = vec![row("NO_THINGS", 422, None)];
    declared.forbidden_fields[0].name = "padded".to_owned();
    // Its orders have no steps, so a booking opens none.
    declared.order = Some(OrderWay {
        states: Vec::new(),
        steps: Vec::new(),
        amount: None,
        due_after: None,
        history: vec!["kind".to_owned()],
    });
    declared.tools.push(tool(BOOK, ToolRole::Create, 0, 0));
    declared.tools[1].request_schema = to_raw_value(&json!({"properties": {"id": {}}})).expect("valid JSON");
    declared
}

/// Ranks by the option's own `rank`, drops those that say so, notes those that say `note`; takes any booking.
fn contract(declared: Descriptor, deviates: Deviates) -> ScriptedContract {
    ScriptedContract::new(declared)
        .on_check_request(|context, tool, arguments| {
            assert!([SEARCH, BOOK].contains(&tool), "{tool}");
            let request: Value = serde_json::from_str(arguments).expect("valid JSON");
            if request["bad"] == true {
                return Err(refusal("INVALID_REQUEST", [violation("/x", "BAD")]));
            }
            Ok(accept_any_request(context, arguments))
        })
        .on_check_response(|_, _| Ok(CheckedResponse { reference: None, advisory: None, findings: vec![] }))
        .on_evaluate(move |_, _, payloads| {
            let mut evaluation = evaluate(payloads);
            match deviates.lock().expect("not poisoned").clone() {
                Some(Deviation::Score) => evaluation.ranked[1].total = evaluation.ranked[1].total.next_up(),
                Some(Deviation::Drop) => evaluation.dropped.clear(),
                Some(Deviation::Card) => evaluation.ranked[0].card = to_raw_value("another").expect("valid JSON"),
                Some(Deviation::Refusal) => return Err(refusal("LATER", [])),
                Some(Deviation::Fault(fault)) => return Err(ContractError::Fault(fault)),
                None => {}
            }
            Ok(evaluation)
        })
}

pub(crate) fn evaluate(payloads: &[Payload<'_>]) -> Evaluation {
    let mut evaluation = Evaluation::default();
    for candidate in candidates(payloads) {
        let option: Value = serde_json::from_str(candidate.json).expect("valid JSON");
        let (number, id) = (candidate.number, option["id"].as_str().unwrap_or_default());
        let is_lonely = option["drops_in_company"] == true && candidates(payloads).count() > 1;
        if option["drop"] == true || is_lonely {
            let (strike, violations) = (option["strike"] == true, vec![violation("/x", "SCRIPTED")]);
            evaluation.dropped.push(DroppedOption { number, id: Some(id.to_owned()), strike, violations });
            continue;
        }
        if option["note"] == true {
            evaluation.findings.push(OptionFinding { number, violation: violation("/x", "NOTED") });
        }
        let card = to_raw_value(&json!({"header": option["id"]})).expect("valid JSON");
        let total = option["rank"].as_f64().unwrap_or(0.0);
        evaluation.ranked.push(RankedOption { card, ..ranked(number, id, total) });
    }
    evaluation.ranked.sort_by(|a, b| b.total.total_cmp(&a.total));
    evaluation
}

/// What a partner answers.
pub(crate) type Answer = Result<Value, CallFailure>;

pub(crate) struct World {
    pub(crate) contract: Arc<ScriptedContract>,
    pub(crate) deviates: Deviates,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) directory: Arc<GivenPartners>,
    pub(crate) partners: Arc<ScriptedPartners>,
    pub(crate) journal: Arc<MemoryJournal>,
    /// Where users' past orders are.
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) clock: Arc<TestClock>,
}

/// A search of an orchestrator that names nobody.
pub(crate) fn request() -> SearchRequest<'static> {
    let fallback_request_id = "made-up".to_owned();
    SearchRequest { intent: INTENT, body: "{}", asker: &UNNAMED, fallback_request_id, trace: None }
}

impl World {
    /// Partners and what each of them answers.
    pub(crate) fn of(answers: &[(&str, Answer)]) -> Self {
        Self::declaring(answers, |_| ())
    }

    /// The same where the contract declares something else.
    pub(crate) fn declaring(answers: &[(&str, Answer)], change: impl FnOnce(&mut Descriptor)) -> Self {
        let mut declared = declared();
        change(&mut declared);
        let deviates = Deviates::default();
        let contract = Arc::new(contract(declared, deviates.clone()));
        let partners = Arc::new(ScriptedPartners::default());
        for (id, answer) in answers {
            partners.reply(id, answer.clone());
        }
        Self {
            catalogue: Catalogue::of([contract.clone()]),
            directory: GivenPartners::of(answers.iter().map(|(id, _)| partner(id, &[INTENT]))),
            contract,
            deviates,
            partners,
            journal: Arc::default(),
            store: Arc::default(),
            clock: TestClock::at(NOW_MS),
        }
    }

    /// From here on, each ranking deviates like this.
    pub(crate) fn deviate(&self, deviation: impl Into<Option<Deviation>>) {
        *self.deviates.lock().expect("not poisoned") = deviation.into();
    }

    pub(crate) fn searcher(&self) -> Searcher {
        Searcher {
            contracts: self.catalogue.clone(),
            directory: self.directory.clone(),
            outbound: Arc::new(Outbound::plain(self.partners.clone(), self.clock.clone())),
            journal: self.journal.clone(),
            clock: self.clock.clone(),
            references: sealer(),
            timeout: Duration::from_secs(1),
            shown_rankings: ShownRankings::new(1024 * 1024),
            past_orders: Some(PastOrders { store: self.store.clone(), vault: vault(), timer: self.clock.clone() }),
            rollouts: None,
        }
    }

    pub(crate) fn search(&self, body: &Value) -> Result<SearchOutcome, SearchError> {
        let body = body.to_string();
        block_on(self.search_as(SearchRequest { body: &body, ..request() }))
    }

    pub(crate) async fn search_as(&self, request: SearchRequest<'_>) -> Result<SearchOutcome, SearchError> {
        self.searcher().search_for(request).await.map_err(|failed| failed.error)
    }

    /// Calls tools beside a searcher.
    pub(crate) fn caller(&self, searcher: &Searcher) -> Caller {
        let store = Arc::new(MemoryStore::default());
        let memory = KeyedWrites { store, vault: vault(), timer: self.clock.clone() };
        Caller::beside(searcher, self.journal.clone(), memory)
    }

    /// Books an option; what the contract was told of it.
    pub(crate) fn book(&self, caller: &Caller, reference: &str) -> Option<String> {
        let request = CallRequest {
            intent: INTENT,
            tool: BOOK,
            reference,
            arguments: "{}",
            asker: &UNNAMED,
            fallback_request_id: "made-up",
            trace: None,
            listener: None,
        };
        block_on(caller.call(request)).expect("booked");
        let Some(ContractCall::CheckResponse { quoted, .. }) = self.contract.calls().pop() else {
            panic!("judged last")
        };
        quoted
    }

    /// What the contract was given to rank, each time.
    pub(crate) fn evaluations(&self) -> Vec<ContractCall> {
        let calls = self.contract.calls();
        calls.into_iter().filter(|call| matches!(call, ContractCall::Evaluate { .. })).collect()
    }
}

/// An answer with these options, which are good for ten minutes.
pub(crate) fn things(options: Value) -> Answer {
    Ok(json!({"result_token": "t", "expires_at": "2026-01-01T00:10:00Z", "things": options}))
}

pub(crate) fn sealer() -> ReferenceSealer {
    ReferenceSealer::new(&Secret::new("test key"))
}

pub(crate) fn ids(outcome: &SearchOutcome) -> Vec<&str> {
    outcome.options.iter().map(|choice| choice.ranked.id.as_str()).collect()
}
