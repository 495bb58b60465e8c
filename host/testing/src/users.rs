//! Users of one orchestrator.

use std::sync::LazyLock;

use intent_gateway_domain::user::{Asker, Orchestrator, Pseudonym, User};

/// The orchestrator whose users these are.
#[must_use]
pub fn orchestrator() -> Orchestrator {
    Orchestrator::new("test-issuer", "assistant")
}

/// The user whom it names so.
///
/// # Panics
/// When the name is not a pseudonym.
#[must_use]
pub fn user(name: &str) -> User {
    User::new(&orchestrator(), &Pseudonym::parse(name).expect("well formed"))
}

/// It asks for the user whom it names so.
///
/// # Panics
/// As [`user`].
#[must_use]
pub fn asker(name: &str) -> Asker {
    Asker::new(orchestrator(), Some(&Pseudonym::parse(name).expect("well formed")))
}

/// It asks and names nobody.
pub static UNNAMED: LazyLock<Asker> = LazyLock::new(|| Asker::new(orchestrator(), None));
