//! Attacks that were made on the gateway and that it withstands, one file each: what an attacker does, and that nothing comes of it.

mod disguised_fields;
mod leaked_secret;
mod link_hijack;
mod misleading_text;
mod mixed_up_servers;
mod sign_in_lockout;
mod taken_slots;
mod unreadable_values;
mod unseen_change;
