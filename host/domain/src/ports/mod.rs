//! The ports of the domain: what it needs of the crates around it.
//!
//! Every future is boxed, so that the implementations can be chosen at start and replaced in tests.

mod contracts;
mod partners;
mod records;
mod sign_in;

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::mail::{Mail, MailError};

pub use contracts::*;
pub use partners::*;
pub use records::*;
pub use sign_in::*;

/// Threads for work that serves nobody.
pub trait Workers: Send + Sync {
    /// How many of them there are.
    fn count(&self) -> usize;

    /// Runs work on a thread of its own, to its end, whether anybody waits for it or not. It must not use what belongs to the
    /// runtime of the others: sockets, the store.
    fn run(&self, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()>;

    /// Processor time that the thread has used that asks.
    fn spent(&self) -> Duration;
}

/// Waits. A port, so that tests run in virtual time.
pub trait Timer: Send + Sync {
    /// Is ready when so much time has passed.
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()>;
}

/// Sends mail.
pub trait Mailer: Send + Sync {
    /// Hands one mail over. Success means that the next server has taken it, or that it is in the outbox; whether
    /// it is ever read, nobody can tell.
    fn send<'a>(&'a self, mail: &'a Mail) -> BoxFuture<'a, Result<(), MailError>>;
}
