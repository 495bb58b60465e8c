//! Attacks from outside, one file each: what an attacker does, and that nothing comes of it.

mod taken_slots;
