//! What the author of an intent contract depends on.
//!
//! A contract says what a request must hold, what a partner must answer, how options are ranked and shown, and
//! what a completion report must say. It is a pure function, built as one WebAssembly component that imports
//! nothing but the way to say why it panicked. The author writes shapes, rules, signals and tables; this crate does the
//! rest. The same code runs natively, for unit tests and benches.
//!
//! A panic fails the call and counts against the version. Its text and place reach the platform team
//! (`intent-gateway contract failures`), so they are worth writing well; a text that repeats the input is not.
//!
//! # The parts
//!
//! | to declare | write | see |
//! |---|---|---|
//! | an object | a struct with `#[derive(Shape)]`, bounds beside each field | [`shape`], [`macro@Shape`] |
//! | a closed list of values | a unit enum with `#[derive(Vocabulary)]` | [`macro@Vocabulary`] |
//! | a rule between fields | one line in a rules function | [`ItemRules`], [`RequestRules`], [`AnswerRules`], [`ReportRules`] |
//! | the same in words, for partners | one row | [`RuleRow`] |
//! | a ranking | constant tables, checked while building | [`Signals`], [`Weights`], [`Ranking`], [`Span`] |
//! | how an option is shown | a struct with `#[derive(CardJson)]`, its texts by `text!` | [`card`], [`macro@CardJson`], [`text!`] |
//! | which utterances are meant | a [`lexicon::Lexicon`] | [`lexicon`] |
//! | a tool that is not a search | a type that implements [`Tool`] | [`Tool`], [`ToolPolicy`] |
//! | the way of an order, from the booking to the report | a constant table | [`order`], [`OrderWay`], [`Subject`] |
//! | what the host asks of a request and an option | [`SearchRequest`], [`SearchItem`] | the same |
//! | the intent as a whole | [`contract!`], which names the parts | [`contract!`], [`Intent`] |
//! | another version or ranking of it | a type that implements [`Contract`] | [`Contract`] |
//! | what a partner shows before its traffic goes live | one row | [`Requirement`], [`GoLiveCheck`] |
//! | what must hold before the contract goes live | [`example`]s | [`example`] |
//! | its tests | calls and what is expected of them; every field broken once | [`testing`] |
//!
//! # A whole contract
//!
//! In a crate of its own each part is in the file of its concern, and the paths in `contract!` say which. Here all parts
//! are in one file, so the paths are plain names.
//!
//! ```
//! use contract_sdk::bindings::{Axes, Axis, Example, Need, ToolRole};
//! use contract_sdk::common::TtbsUserBand;
//! use contract_sdk::lexicon::{Claim, Lexicon};
//! use contract_sdk::shape::{Inr, Text};
//! use contract_sdk::{
//!     About, AxisSignals, BandFactor, CardJson, ErrorRow, Forbidden, ItemRules, PastOrder, Ranking, Search, SearchItem,
//!     SearchRequest, Shape, Signals, Slot, Span, ToolEntry, ToolPolicy, UserBands, Vocabulary, Weights, WidgetTable, example,
//!     text,
//! };
//!
//! /// What the user asks for.
//! #[derive(Shape)]
//! pub struct Request<'a> {
//!     /// Always food.order_tea.
//!     #[shape(equals = "food.order_tea")]
//!     pub intent: Text<'a>,
//!     /// Identifier of the request.
//!     pub request_id: Option<Text<'a>>,
//!     /// What the user likes.
//!     pub leaf: Leaf,
//!     /// What the user cares for.
//!     pub ttbs_user_band: Option<TtbsUserBand<'a>>,
//! }
//!
//! impl SearchRequest for Request<'_> {
//!     fn need(&self) -> Need {
//!         Need::default()
//!     }
//!
//!     fn bands(&self) -> UserBands<'_> {
//!         UserBands::of(&self.ttbs_user_band)
//!     }
//! }
//!
//! /// Kinds of tea.
//! #[derive(Clone, Copy, PartialEq, Vocabulary)]
//! pub enum Leaf {
//!     Black,
//!     Green,
//!     #[value("oolong_tea")]
//!     Oolong,
//! }
//!
//! /// One offer.
//! #[derive(Shape)]
//! pub struct Offer<'a> {
//!     /// The partner's identifier of the offer.
//!     pub offer_id: Text<'a>,
//!     /// The kind of tea.
//!     pub leaf: Leaf,
//!     /// Minutes until it is served.
//!     #[shape(min = 1, max = 60)]
//!     pub minutes: i64,
//!     /// Price of a pot.
//!     #[shape(min = 0)]
//!     pub total_inr: Inr,
//! }
//!
//! impl SearchItem for Offer<'_> {
//!     fn id(&self) -> &str {
//!         &self.offer_id
//!     }
//! }
//!
//! /// How an offer is shown.
//! #[derive(CardJson)]
//! pub struct Card<'i> {
//!     header: &'i str,
//!     subline: String,
//!     price: i64,
//! }
//!
//! impl<'i> Card<'i> {
//!     fn of(offer: &'i Offer<'_>) -> Self {
//!         Card { header: &offer.offer_id, subline: text!("in {} min", offer.minutes), price: offer.total_inr.0 }
//!     }
//! }
//!
//! /// Nothing beyond the common members of a report.
//! #[derive(Shape)]
//! pub struct Extra {}
//!
//! const AMOUNT_MAX_INR: u32 = 100_000;
//! const ABOUT: About = About {
//!     intent: "food.order_tea",
//!     aliases: &[],
//!     version: "1.0.0",
//!     agent: "FoodAgent",
//!     title: "Tea",
//!     summary: "Orders a pot of tea.",
//! };
//! const SEARCH: Search = Search {
//!     policy: ToolPolicy {
//!         name: "search_tea",
//!         role: ToolRole::Search,
//!         purpose: "Finds pots of tea.",
//!         p50_ms: 600,
//!         p95_ms: 1500,
//!         p99_ms: Some(3000),
//!         rate_per_minute: Some(60),
//!         idempotency_key: Some("request_id"),
//!         retries_on_rate_limited: 1,
//!         retries_on_server_error: 2,
//!         cache_seconds: Some(60),
//!         ..ToolPolicy::PLAIN
//!     },
//!     options_key: "offers",
//!     id_key: "offer_id",
//!     price_pointer: Some("/total_inr"),
//!     max_options: 15,
//!     empty_code: None,
//!     gone_code: None,
//! };
//! const TOOLS: &[ToolEntry] = &[];
//! const ERRORS: &[ErrorRow] = &[
//!     ErrorRow::INVALID_REQUEST,
//!     ErrorRow::INTERNAL_ERROR,
//! ];
//! const FORBIDDEN: &[Forbidden] = &[];
//! const WIDGET: WidgetTable = WidgetTable {
//!     widget_type: "generic_listings",
//!     preferred: None,
//!     slots: &[
//!         Slot { name: "header", source: "offer_id" },
//!         Slot { name: "subline", source: "minutes" },
//!         Slot { name: "price", source: "total_inr" },
//!     ],
//! };
//! const LEXICON: Lexicon = Lexicon {
//!     cues: &["tea"],
//!     claims: &[Claim { name: "tea", weight: 0.8, all: &[&["tea"]] }],
//!     referrals: &[],
//!     pairs: &[],
//! };
//!
//! fn item_rules(request: &Request<'_>, offer: &Offer<'_>, rules: &mut ItemRules) {
//!     rules.drop_if(
//!         offer.leaf != request.leaf,
//!         "OTHER_LEAF",
//!         "/leaf",
//!         format_args!("{} was asked for.", request.leaf.value()),
//!     );
//! }
//!
//! const ONE: &Signals<1> = &Signals::new([("constant", 1.0)]);
//! const TIME: &Signals<1> = &Signals::new([("minutes", 1.0)]);
//! const BUDGET: &Signals<1> = &Signals::new([("total", 1.0)]);
//! const RANKING: Ranking = Ranking::new(
//!     Weights::new(0.5, 0.0, 0.5, 0.0),
//!     AxisSignals { time: TIME.list(), taste: ONE.list(), budget: BUDGET.list(), safety: ONE.list() },
//!     &[BandFactor { axis: Axis::Time, value: "fast", factor: 2.0 }],
//! );
//!
//! /// The least and the greatest price: no offer is cheap by itself.
//! pub struct Prices(Span);
//!
//! impl Prices {
//!     fn of(offers: &[Offer<'_>], _: &[PastOrder<'_>]) -> Self {
//!         Prices(Span::of(offers.iter().map(|offer| offer.total_inr.0 as f64)))
//!     }
//! }
//!
//! fn score(_: &Request<'_>, offer: &Offer<'_>, prices: &Prices) -> Axes {
//!     Axes {
//!         time: TIME.blend([1.0 - offer.minutes as f64 / 60.0]),
//!         taste: ONE.blend([1.0]),
//!         budget: BUDGET.blend([prices.0.lower_is_better(offer.total_inr.0 as f64)]),
//!         safety: ONE.blend([1.0]),
//!     }
//! }
//!
//! fn examples() -> Vec<Example> {
//!     let request = r#"{"intent":"food.order_tea","leaf":"green"}"#;
//!     let offer = |id: &str, leaf: &str, minutes: i64| {
//!         format!(r#"{{"offer_id":"{id}","leaf":"{leaf}","minutes":{minutes},"total_inr":90}}"#)
//!     };
//!     vec![
//!         example::classify("tea", "a pot of tea").accepts(),
//!         example::request("which leaf?", "search_tea", r#"{"intent":"food.order_tea"}"#).refuses(&["REQUIRED"]),
//!         example::search(
//!             "the faster one first, black tea not at all",
//!             request,
//!             [offer("slow", "green", 20), offer("fast", "green", 5), offer("other", "black", 1)],
//!         )
//!         .ranks(&["fast", "slow"], &["OTHER_LEAF"]),
//!         // A contract that ships has an accepted and a refused example of each function.
//!     ]
//! }
//!
//! contract_sdk::contract! {
//!     /// The contract of `food.order_tea`.
//!     pub struct Tea;
//!
//!     use {ABOUT, SEARCH, TOOLS, ERRORS, FORBIDDEN, LEXICON};
//!     use {Request<'_>, Offer<'_> as Item, item_rules};
//!     use {RANKING, Prices as Scale, score};
//!     use {WIDGET, Card<'_>};
//!     use {Extra as ReportExtra, AMOUNT_MAX_INR, examples};
//! }
//!
//! contract_sdk::export!(Tea);
//!
//! // In the tests of the contract:
//! for case in examples() {
//!     contract_sdk::testing::run::<Tea>(&case).unwrap();
//! }
//! ```
//!
//! # A variant of a contract
//!
//! Another crate depends on the contract's, without the feature that makes its exports, and ships it with
//! another version and other weights:
//!
//! ```text
//! use auto_book_ac_service::AcService;
//! use contract_sdk::{Contract, Ranking, Weights};
//!
//! pub struct SafetyFirst;
//!
//! impl Contract for SafetyFirst {
//!     type Intent = AcService;
//!     const VERSION: &'static str = "1.0.1";
//!     const RANKING: Ranking = AcService::RANKING.with_weights(Weights::new(0.10, 0.05, 0.10, 0.75));
//! }
//!
//! contract_sdk::export!(SafetyFirst);
//! ```
//!
//! # Decisions
//!
//! - **One declaration per shape.** The reader, the JSON Schema, the field docs and the list that tests walk all
//!   come from the struct, so they cannot disagree.
//! - **A parser of its own** ([`json`]). Shapes know what should come next and ask for it. Put in the place of
//!   `serde_json`'s visitors, it took a third off the evaluation of 15 options natively, a fifth in a guest, and
//!   200 KB off the component. Property tests compare it with `serde_json` on sound, broken and random text.
//! - **Violations first, rules after.** Rules between fields run only on documents whose shape is sound, so that a
//!   rule deals with values and every rule is one line.
//! - **Null and absence differ.** `Option` may be absent but not null, [`shape::Nullable`] may be null but not
//!   absent.
//! - **Intent and contract differ.** [`Intent`] is what an intent is; [`Contract`] is what ships, with a version
//!   and a ranking. Every intent is a contract; a variant is a second contract over the same intent.
//! - **Arguments are refused as `INVALID_REQUEST`, answers as `INTERNAL_ERROR`.** The first is the caller's fault,
//!   the second the partner's; the violations say what it was. Where the intent's error table has a code for just one
//!   condition, its rule refuses under that code (`refuse_as`).
//! - **An identifier counts once per answer**, and the first option that carries it counts, even if that option is
//!   itself dropped: otherwise a partner could choose by breaking the first.
//! - **A crate whose contract others build on** makes its exports under a feature that is on by default, since a
//!   component has one contract. Build one component per call of cargo: features are unified over a build.

extern crate self as contract_sdk;

#[cfg(target_arch = "wasm32")]
mod alloc;
pub mod bindings;
pub mod card;
pub mod code;
pub mod common;
mod completion;
mod contract;
pub mod docs;
pub mod engine;
pub mod example;
#[doc(hidden)]
pub mod export;
#[cfg(target_arch = "wasm32")]
mod faults;
pub mod json;
pub mod lexicon;
pub mod order;
mod pointer;
mod policy;
mod ranking;
mod rules;
pub mod schema;
pub mod shape;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
mod violations;

pub use card::CardJson;
pub use completion::Report;
pub use contract::{Contract, Intent, Item, SearchItem, SearchRequest, Tool, ToolEntry};
pub use contract_sdk_derive::{CardJson, Shape, Vocabulary, contract, text};
pub use order::{
    KeptValue, Order, OrderDeadline, OrderOutcome, OrderRefusal, OrderState, OrderStep, OrderWay, PastOrder, Subject,
};
pub use policy::{
    About, ErrorRow, Forbidden, GoLiveCheck, Lifetime, Minimum, Occasion, RequestTest, Requirement, Retry, RuleRow,
    Search, Slot, ToolPolicy, WidgetTable, Window,
};
pub use ranking::{
    AxisSignals, BandFactor, COMPLETENESS_SHARE, DECLARED_SHARE, NEUTRAL, Ranking, Signal, Signals, Span, USUAL_BANDS,
    UserBands, Weights, unit, with_band,
};
pub use rules::{AnswerRules, ItemRules, ReportRules, RequestRules};
pub use shape::{Shape, Vocabulary};
pub use violations::{MAX_QUOTED_CHARS, MAX_VIOLATIONS, Quoted, Violations};
#[doc(hidden)]
pub use wit_bindgen::rt as wit_bindgen_rt;
