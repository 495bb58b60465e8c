//! Each step of onboarding taken, refused and raced, over a store that keeps the port's promises.

mod accounts;
mod confirmations;
mod connections;
mod credentials;
mod docs;
mod documents;
mod drift;
mod events;
mod mail;
mod next;
mod notices;
mod results;
mod retests;
mod reviews;
mod sessions;
mod sign_in;
mod strikes;
mod test_calls;
mod unreported;
mod value_use;
mod world;
