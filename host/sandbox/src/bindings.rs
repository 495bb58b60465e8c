//! Rust types of `wit/contract.wit`, generated. Only `convert`, `checks` and `component` look in here;
//! everybody else speaks the domain's types.
//!
//! Exports are called through typed functions that `component` looks up itself: the generated wrappers
//! would check the types of all seven functions on every instantiation, where a call needs one.

#![allow(dead_code, unreachable_pub, missing_docs, clippy::all, reason = "generated code")]

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "intent-contract",
    ownership: Borrowing { duplicate_if_necessary: true },
    exports: { default: async },
});

pub(crate) use exports::intent_gateway::contract::contract::*;
