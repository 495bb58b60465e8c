//! The types and exports that `wit-bindgen` generates from `wit/contract.wit`.
//!
//! Nothing here is written by hand but the re-exports: authors find the types at the crate's root.

wit_bindgen::generate!({
    path: "../../wit",
    world: "intent-contract",
    pub_export_macro: true,
    export_macro_name: "export_component",
    default_bindings_module: "contract_sdk::bindings",
    runtime_path: "contract_sdk::wit_bindgen_rt",
    additional_derives: [PartialEq, Clone],
});

pub use exports::intent_gateway::contract::contract::*;
