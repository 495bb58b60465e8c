//! What the author of an intent contract depends on.
//!
//! A contract says what a request must hold, what a partner must answer, how options are ranked and shown, and
//! what a completion report must say. It is a pure function, built as one WebAssembly component that imports
//! nothing. The author writes shapes, rules, signals and tables; this crate does the rest. The same code runs
//! natively, for unit tests and benches.
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
//! | which utterances are meant | a [`lexicon::Lexicon`] | [`lexicon`] |
//! | a tool that is no search | a type that implements [`Tool`] | [`Tool`], [`ToolPolicy`] |
//! | the intent as a whole | a type that implements [`Intent`] | [`Intent`] |
//! | another version or ranking of it | a type that implements [`Contract`] | [`Contract`] |
//! | what a partner shows before its traffic goes live | one row | [`Requirement`], [`GoLiveCheck`] |
//! | what must hold before the contract goes live | [`example`]s | [`example`] |
//!
//! # A whole contract
//!
//! ```
//! use contract_sdk::bindings::{Axes, Axis, Example, Need, ToolRole};
//! use contract_sdk::common::TtbsUserBand;
//! use contract_sdk::lexicon::{Claim, Lexicon};
//! use contract_sdk::shape::{Inr, Text};
//! use contract_sdk::{
//!     About, AxisSignals, BandFactor, ErrorRow, Forbidden, Intent, ItemRules, Ranking, Search, Shape, Signals, Slot,
//!     Span, ToolEntry, ToolPolicy, UserBands, Vocabulary, Weights, WidgetTable, example,
//! };
//! use serde::Serialize;
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
//! /// How an offer is shown.
//! #[derive(Serialize)]
//! pub struct Card<'i> {
//!     header: &'i str,
//!     price: i64,
//! }
//!
//! /// Nothing beyond the common members of a report.
//! #[derive(Shape)]
//! pub struct Extra {}
//!
//! const ONE: &Signals<1> = &Signals::new([("constant", 1.0)]);
//! const TIME: &Signals<1> = &Signals::new([("minutes", 1.0)]);
//! const BUDGET: &Signals<1> = &Signals::new([("total", 1.0)]);
//!
//! pub struct Tea;
//!
//! impl Intent for Tea {
//!     type Request<'a> = Request<'a>;
//!     type Item<'a> = Offer<'a>;
//!     type ReportExtra<'a> = Extra;
//!     type Card<'i> = Card<'i>;
//!     type Scale = Span;
//!
//!     const ABOUT: About = About {
//!         intent: "food.order_tea",
//!         version: "1.0.0",
//!         agent: "FoodAgent",
//!         title: "Tea",
//!         summary: "Orders a pot of tea.",
//!     };
//!     const SEARCH: Search = Search {
//!         policy: ToolPolicy {
//!             name: "search_tea",
//!             role: ToolRole::Search,
//!             purpose: "Finds pots of tea.",
//!             p50_ms: 600,
//!             p95_ms: 1500,
//!             p99_ms: Some(3000),
//!             rate_per_minute: 60,
//!             idempotency_key: Some("request_id"),
//!             retries_on_rate_limited: 1,
//!             retries_on_server_error: 2,
//!             cache_seconds: Some(60),
//!             orders_tool: None,
//!         },
//!         options_key: "offers",
//!         id_key: "offer_id",
//!         max_options: 15,
//!         empty_code: None,
//!         gone_code: None,
//!     };
//!     const TOOLS: &'static [ToolEntry] = &[];
//!     const RANKING: Ranking = Ranking::new(
//!         Weights::new(0.5, 0.0, 0.5, 0.0),
//!         AxisSignals { time: TIME.list(), taste: ONE.list(), budget: BUDGET.list(), safety: ONE.list() },
//!         &[BandFactor { axis: Axis::Time, value: "fast", factor: 2.0 }],
//!     );
//!     const ERRORS: &'static [ErrorRow] = &[
//!         ErrorRow::new("INVALID_REQUEST", 400, "The payload is malformed."),
//!         ErrorRow::new("INTERNAL_ERROR", 500, "The partner failed."),
//!     ];
//!     const FORBIDDEN: &'static [Forbidden] = &[];
//!     const WIDGET: WidgetTable = WidgetTable {
//!         widget_type: "generic_listings",
//!         preferred: None,
//!         slots: &[Slot { name: "header", source: "offer_id" }, Slot { name: "price", source: "total_inr" }],
//!     };
//!     const LEXICON: Lexicon = Lexicon {
//!         cues: &["tea"],
//!         claims: &[Claim { name: "tea", weight: 0.8, all: &[&["tea"]] }],
//!         referrals: &[],
//!         pairs: &[],
//!     };
//!
//!     fn need(_: &Request<'_>) -> Need {
//!         Need { city: None, postal_code: None, from_ms: None, until_ms: None }
//!     }
//!
//!     fn bands<'r>(request: &'r Request<'_>) -> UserBands<'r> {
//!         request.ttbs_user_band.as_ref().map(TtbsUserBand::chosen).unwrap_or_default()
//!     }
//!
//!     fn item_id<'i>(offer: &'i Offer<'_>) -> &'i str {
//!         &offer.offer_id
//!     }
//!
//!     fn item_rules(request: &Request<'_>, offer: &Offer<'_>, rules: &mut ItemRules) {
//!         rules.drop_if(
//!             offer.leaf != request.leaf,
//!             "OTHER_LEAF",
//!             "/leaf",
//!             format_args!("{} was asked for.", request.leaf.value()),
//!         );
//!     }
//!
//!     fn scale(_: &Request<'_>, pool: &[Offer<'_>]) -> Span {
//!         Span::of(pool.iter().map(|offer| offer.total_inr.0 as f64))
//!     }
//!
//!     fn score(_: &Request<'_>, offer: &Offer<'_>, prices: &Span) -> Axes {
//!         Axes {
//!             time: TIME.blend([1.0 - offer.minutes as f64 / 60.0]),
//!             taste: ONE.blend([1.0]),
//!             budget: BUDGET.blend([prices.lower_is_better(offer.total_inr.0 as f64)]),
//!             safety: ONE.blend([1.0]),
//!         }
//!     }
//!
//!     fn card<'i>(offer: &'i Offer<'_>) -> Card<'i> {
//!         Card { header: &offer.offer_id, price: offer.total_inr.0 }
//!     }
//!
//!     fn examples() -> Vec<Example> {
//!         let request = r#"{"intent":"food.order_tea","leaf":"green"}"#;
//!         let offer = |id: &str, leaf: &str, minutes: i64| {
//!             format!(r#"{{"offer_id":"{id}","leaf":"{leaf}","minutes":{minutes},"total_inr":90}}"#)
//!         };
//!         vec![
//!             example::classify("tea", "a pot of tea").accepted(),
//!             example::request("which leaf?", "search_tea", r#"{"intent":"food.order_tea"}"#).refused(&["REQUIRED"]),
//!             example::search(
//!                 "the faster one first, black tea not at all",
//!                 request,
//!                 [offer("slow", "green", 20), offer("fast", "green", 5), offer("other", "black", 1)],
//!             )
//!             .ranked(&["fast", "slow"], &["OTHER_LEAF"]),
//!             // A contract that ships has an accepted and a refused example of each function.
//!         ]
//!     }
//! }
//!
//! contract_sdk::export!(Tea);
//!
//! // In the tests of the contract:
//! for case in Tea::examples() {
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
pub mod code;
pub mod common;
mod completion;
mod contract;
pub mod docs;
pub mod engine;
pub mod example;
#[doc(hidden)]
pub mod export;
pub mod json;
pub mod lexicon;
mod policy;
mod ranking;
mod rules;
pub mod schema;
pub mod shape;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
mod violations;

pub use completion::Report;
pub use contract::{Contract, Intent, Item, Tool, ToolEntry};
pub use contract_sdk_derive::{Shape, Vocabulary};
pub use policy::{
    About, ErrorRow, Forbidden, GoLiveCheck, Lifetime, Minimum, Occasion, RequestTest, Requirement, Retry, RuleRow,
    Search, Slot, ToolPolicy, WidgetTable, Window,
};
pub use ranking::{
    AxisSignals, BandFactor, COMPLETENESS_SHARE, DECLARED_SHARE, Ranking, Signal, Signals, Span, UserBands, Weights,
    unit,
};
pub use rules::{AnswerRules, ItemRules, ReportRules, RequestRules};
pub use shape::{Shape, Vocabulary};
pub use violations::{MAX_QUOTED_CHARS, MAX_VIOLATIONS, Quoted, Violations};
#[doc(hidden)]
pub use wit_bindgen::rt as wit_bindgen_rt;
