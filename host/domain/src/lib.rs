//! What every crate of the host speaks of: identifiers, money, digests, secrets, contracts, partners, findings, receipts,
//! records, errors and limits, the rules that belong to one of these alone, and the ports to the world outside.
//!
//! Not here, on purpose: IO, an async runtime, wasmtime, rmcp, SQL, HTTP; and any capability: searching is in `routing`,
//! a partner's way in `onboarding`, reports and entries in `ledger`, users' accounts at partners in `linking`.

pub mod accesses;
pub mod alias;
pub mod anchor;
pub mod approval;
pub mod audit;
pub mod availability;
pub mod canonical;
pub mod chain;
pub mod classify;
pub mod clock;
pub mod contract;
pub mod datetime;
pub mod delivered;
pub mod digest;
pub mod endpoint;
pub mod error;
pub mod error_text;
pub mod expiring_map;
pub mod fair_slots;
pub mod faults;
pub mod findings;
pub mod forbidden;
pub mod golive;
pub mod growth;
pub mod health;
pub mod id;
pub mod json_schema;
pub mod limits;
pub mod mail;
pub mod money;
pub mod nearest;
pub mod not_json;
pub mod order;
pub mod partner;
pub mod partner_error;
pub mod place;
pub mod plain_text;
pub mod platform_code;
pub mod pointer;
pub mod ports;
pub mod probe;
pub mod progress;
pub mod receipt;
pub mod reseal;
#[cfg(feature = "schema")]
pub mod schema;
pub mod secret;
pub mod sign_in;
pub mod signing_keys;
pub mod single_flight;
pub mod steps;
pub mod store;
pub mod succession;
pub mod supervise;
pub mod telemetry;
pub mod trace;
pub mod unseen;
pub mod user;
pub mod user_data;
pub mod vault;
pub mod versions;
pub mod violations;
