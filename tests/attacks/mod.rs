//! Attacks from outside, one file each: what an attacker does, and that nothing comes of it.

mod link_hijack;
mod mixed_up_servers;
mod taken_slots;
