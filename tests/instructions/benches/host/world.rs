//! A gateway over fakes: one intent, one partner that answers with fifteen options, one user.

use std::sync::Arc;
use std::time::Duration;

use futures_executor::block_on;
use intent_gateway_domain::contract::{
    CheckedCompletion, CheckedResponse, Descriptor, Evaluation, Need, PreparedRequest, RankedOption,
};
use intent_gateway_domain::fair_slots::FairSlots;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::money::Rate;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::signing_keys::SigningKeys as _;
use intent_gateway_domain::user::Asker;
use intent_gateway_ledger::completion::REPORTS_IN_FLIGHT_MAX;
use intent_gateway_ledger::completion::intake::{Acknowledgement, Delivery, Intake};
use intent_gateway_ledger::completion::keyring::KeyRing;
use intent_gateway_ledger::completion::rate::ReportRate;
use intent_gateway_ledger::completion::signature::{Presented, Signer};
use intent_gateway_ledger::completion::test_reports::TestReports;
use intent_gateway_ledger::completion::unsigned::UnsignedReports;
use intent_gateway_outbound::Outbound;
use intent_gateway_routing::calling::{CallOutcome, CallRequest, Caller, KeyedWrites};
use intent_gateway_routing::reference::ReferenceSealer;
use intent_gateway_routing::search::{SearchOutcome, SearchRequest, Searcher, ShownRankings};
use intent_gateway_testing::catalogue::Catalogue;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract::{ScriptedContract, candidates, descriptor, ranked};
use intent_gateway_testing::desk::MemoryDesk;
use intent_gateway_testing::directory::{GivenPartners, partner};
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::fleet::steady;
use intent_gateway_testing::journal::MemoryJournal;
use intent_gateway_testing::orders::with_orders;
use intent_gateway_testing::partners::{Reply, ScriptedPartners};
use intent_gateway_testing::samples::{AC_SERVICE, OPTIONS, Sample};
use intent_gateway_testing::standings::GivenStandings;
use intent_gateway_testing::store::MemoryStore;
use intent_gateway_testing::users::asker;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The fifth of May 2026, a day after the sample of a report was closed.
const NOW_MS: u64 = 1_777_939_200_000;
/// How long partners of a search have.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(2);
const PARTNER: &str = "coolcar";
const PARTNER_KEY: &str = "whsec_of_coolcar";
/// What the partner's tools are called in `with_orders`.
const BOOK: &str = "book_thing";
const TRACK: &str = "track_thing";
/// A card as a contract writes it.
const CARD: &str = r#"{"header":"CoolCar Indiranagar","subheader":"4.6 (212), 2.1 km","image":null,"badges":["Doorstep","Genuine parts"],"price":"INR 1,499","cta":{"label":"Book","tool":"create_ac_booking"},"details":["Refrigerant top-up, 45 minutes","Today, 14:00 to 15:00"]}"#;

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).expect("valid JSON")
}

/// The descriptor of a sample's intent, as far as routing goes by it.
pub(crate) fn declared(sample: &Sample) -> Descriptor {
    let mut declared = descriptor("1.0.0");
    declared.intent = IntentId::parse(sample.intent).expect("well formed");
    sample.tool.clone_into(&mut declared.search.tool);
    sample.options_key.clone_into(&mut declared.search.options_key);
    sample.tool.clone_into(&mut declared.tools[0].name);
    declared.completion.amount_max_inr = 1_000_000;
    with_orders(declared)
}

/// A contract that passes whatever it is given, and does next to nothing for it: what is counted is the host's.
fn contract(sample: &Sample) -> ScriptedContract {
    ScriptedContract::new(declared(sample))
        .on_check_request(|_, _, arguments| {
            Ok(PreparedRequest { arguments: raw(arguments), need: Need::default(), notes: Vec::new() })
        })
        .on_evaluate(|_, _, payloads| {
            let rank = |number: u32| RankedOption {
                card: raw(CARD),
                ..ranked(number, &format!("option-{number}"), 1.0 - f64::from(number) / 100.0)
            };
            let ranked = candidates(payloads).map(|candidate| rank(candidate.number)).collect();
            Ok(Evaluation { ranked, ..Evaluation::default() })
        })
        .on_check_response(|_, _| {
            let reference = Some("BK-1".to_owned());
            Ok(CheckedResponse { reference, advisory: None, findings: Vec::new() })
        })
        .on_check_completion(|_, _, _| {
            Ok(CheckedCompletion {
                external_id: "booking-1".to_owned(),
                request_id: "req-1".to_owned(),
                status: "completed".to_owned(),
                amount_paise: 145_050,
                charged: true,
                late_minutes: None,
                findings: Vec::new(),
                strikes: Vec::new(),
            })
        })
}

/// The gateway, and what a request of each kind needs.
pub(crate) struct World {
    sample: Sample,
    request: String,
    asker: Asker,
    searcher: Searcher,
    caller: Caller,
    pub(crate) journal: Arc<MemoryJournal>,
    intake: Intake,
    report: String,
    signature: String,
    partners: Arc<ScriptedPartners>,
}

impl World {
    /// One in which nobody has asked yet.
    pub(crate) fn new(sample: &Sample) -> Self {
        let clock = TestClock::at(NOW_MS);
        let partners = Arc::new(ScriptedPartners::default());
        let (journal, contracts) = (Arc::new(MemoryJournal::default()), Catalogue::of([Arc::new(contract(sample))]));
        let searcher = Searcher {
            contracts: contracts.clone(),
            directory: GivenPartners::of([partner(PARTNER, &[sample.intent])]),
            outbound: Arc::new(Outbound::plain(partners.clone(), clock.clone())),
            journal: journal.clone(),
            clock: clock.clone(),
            references: ReferenceSealer::new(&Secret::new("key of the bench")),
            timeout: SEARCH_TIMEOUT,
            shown_rankings: ShownRankings::new(1024 * 1024),
            past_orders: None,
            rollouts: None,
        };
        let memory = KeyedWrites { store: Arc::new(MemoryStore::default()), vault: vault(), timer: clock.clone() };
        let caller = Caller::beside(&searcher, journal.clone(), memory);
        let standings = Arc::new(GivenStandings::default());
        let configured = [(PartnerId::parse(PARTNER).expect("well formed"), Secret::new(PARTNER_KEY))];
        let keys = KeyRing::new(Arc::new(MemoryStore::default()), vault(), steady(TestClock::at(0)), configured);
        block_on(keys.refresh()).expect("the keys are read");
        let intake = Intake {
            keys: Arc::new(keys),
            contracts,
            desk: Arc::new(MemoryDesk::default()),
            tests: TestReports { store: Arc::new(MemoryStore::default()), standings },
            unsigned: UnsignedReports::default(),
            journal: journal.clone(),
            in_flight: FairSlots::new(REPORTS_IN_FLIGHT_MAX),
            reports: ReportRate::default(),
            clock,
            rate: Rate::DEFAULT,
        };
        let mut report: Value = serde_json::from_str(&AC_SERVICE.read("completion-report.json")).expect("JSON");
        report["intent"] = sample.intent.into();
        let report = report.to_string();
        Self {
            signature: Signer::new(&Secret::new(PARTNER_KEY)).sign(NOW_MS, report.as_bytes()),
            request: sample.request(),
            asker: asker("user-1"),
            sample: *sample,
            searcher,
            caller,
            journal,
            intake,
            report,
            partners,
        }
    }

    /// A whole search.
    pub(crate) fn search(&self) -> SearchOutcome {
        let request = SearchRequest {
            intent: self.sample.intent,
            body: &self.request,
            asker: &self.asker,
            fallback_request_id: "req-1".to_owned(),
            trace: None,
        };
        let found = block_on(self.searcher.search_for(request)).map_err(|failed| failed.error).expect("it is answered");
        assert_eq!(found.options.len(), OPTIONS);
        found
    }

    fn call(&self, tool: &str, reference: &str, arguments: &str) -> CallOutcome {
        let request = CallRequest {
            intent: self.sample.intent,
            tool,
            reference,
            arguments,
            asker: &self.asker,
            fallback_request_id: "req-2",
            trace: None,
            listener: None,
        };
        block_on(self.caller.call(request)).map_err(|failed| failed.error).expect("it is answered")
    }

    /// From here on the partner answers searches.
    pub(crate) fn expect_search(&self) {
        self.partners.reply(PARTNER, Reply::Text(self.sample.payload()));
    }

    /// From here on the partner answers calls about a booking.
    pub(crate) fn expect_call(&self) {
        let booking = json!({"booking_id": "BK-1", "start": "2026-05-06T10:00:00+05:30", "total_inr": 1_499});
        self.partners.reply(PARTNER, booking);
    }

    /// Books an option; what names the booking.
    pub(crate) fn book(&self, option: &str) -> String {
        self.call(BOOK, option, r#"{"request_id":"req-2","note":"Ring twice."}"#).reference.expect("a booking")
    }

    /// Asks how a booking stands.
    pub(crate) fn track(&self, booking: &str) -> CallOutcome {
        self.call(TRACK, booking, "{}")
    }

    /// Takes the partner's report, from its signature to the booking.
    pub(crate) fn report(&self) -> Acknowledgement {
        let timestamp = NOW_MS.to_string();
        let presented = Presented { timestamp: Some(timestamp.as_bytes()), signature: Some(self.signature.as_bytes()) };
        let delivery = Delivery { partner: PARTNER, presented, body: self.report.as_bytes() };
        block_on(self.intake.take(delivery)).map_err(|error| error.to_string()).expect("it is booked")
    }
}
