//! What the author of an intent contract depends on.

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
pub use policy::{About, ErrorRow, Forbidden, Lifetime, Retry, Search, Slot, ToolPolicy, WidgetTable};
pub use ranking::{
    AxisSignals, BandFactor, COMPLETENESS_SHARE, DECLARED_SHARE, Ranking, Signal, Signals, Span, UserBands, Weights,
    unit,
};
pub use rules::{AnswerRules, ItemRules, ReportRules, RequestRules};
pub use shape::{Shape, Vocabulary};
pub use violations::{MAX_QUOTED_CHARS, MAX_VIOLATIONS, Quoted, Violations};
#[doc(hidden)]
pub use wit_bindgen::rt as wit_bindgen_rt;
