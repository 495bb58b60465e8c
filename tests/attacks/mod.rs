//! Attacks that were made on the gateway and that it withstands, one file each: what an attacker does, and that nothing comes of it.

mod audit_actor_changed;
mod audit_entry_removed;
mod chain_cut_off;
mod chain_passed_for_old;
mod compile_bombs;
mod database;
mod development_settings;
mod disguised_fields;
mod endless_token;
mod example_keys;
mod huge_commission;
mod leaked_secret;
mod ledger_divided;
mod link_hijack;
mod memory_of_instances;
mod misleading_text;
mod mixed_up_servers;
mod postgres_impostor;
mod readable_reference;
mod scoped_token;
mod sign_in_lockout;
mod smuggled_request;
mod taken_slots;
mod unreadable_values;
mod unseen_change;
mod used_up_quota;
