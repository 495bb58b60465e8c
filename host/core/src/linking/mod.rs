//! Account linking: a user signs in at a partner once, and the partner is called with that user's own token from then on
//! (spec 1, Authentication, rule 1).

mod port;

pub use port::{AuthMethod, Authorizer, Client, Grant, LinkFailure, Provider};
