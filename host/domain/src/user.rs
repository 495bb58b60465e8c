//! Whom a request is for: a user, as one orchestrator names them.
//!
//! A pseudonym says nothing by itself: two orchestrators may name different people alike. So a user is the issuer of the
//! token, the orchestrator that the token names, and the pseudonym; whatever is kept for a user is kept under all three.
//!
//! Records from before that, kept under the pseudonym alone, belong to the one orchestrator that the configuration names
//! (`auth.unassigned_users`), and to nobody else.

use std::fmt;
use std::sync::Arc;

/// Longest pseudonym, characters.
pub(crate) const PSEUDONYM_MAX_CHARS: usize = 128;

/// A user as the orchestrator names them (`x-user-id`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pseudonym(Arc<str>);

/// The text is not a pseudonym.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a user's identifier is 1 to {PSEUDONYM_MAX_CHARS} visible ASCII characters")]
pub struct InvalidPseudonym;

impl Pseudonym {
    /// Checks the form.
    ///
    /// # Errors
    /// [`InvalidPseudonym`] when the text is empty, too long or holds other characters.
    pub fn parse(text: &str) -> Result<Self, InvalidPseudonym> {
        let fits = (1..=PSEUDONYM_MAX_CHARS).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidPseudonym)
        }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Who asks on behalf of users.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Orchestrator {
    /// Issuer of its token.
    issuer: Arc<str>,
    /// Subject of its token.
    subject: Arc<str>,
    /// Whether what is kept under a pseudonym alone belongs to its users.
    has_unassigned: bool,
}

impl Orchestrator {
    /// The orchestrator that a token names.
    #[must_use]
    pub fn new(issuer: impl Into<Arc<str>>, subject: impl Into<Arc<str>>) -> Self {
        Self { issuer: issuer.into(), subject: subject.into(), has_unassigned: false }
    }

    /// The same, to whose users belongs what is kept under a pseudonym alone.
    #[must_use]
    pub fn with_unassigned(self) -> Self {
        Self { has_unassigned: true, ..self }
    }

    /// A text that no other orchestrator has.
    #[must_use]
    pub fn key(&self) -> Arc<str> {
        key_of(&[&self.issuer, &self.subject])
    }

    /// Whether both are the same issuer's same subject.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        (&self.issuer, &self.subject) == (&other.issuer, &other.subject)
    }
}

/// Who asks, and for which user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    /// Who asks.
    pub orchestrator: Orchestrator,
    /// For whom; absent where the orchestrator names nobody.
    pub user: Option<User>,
    key: Arc<str>,
}

impl Asker {
    /// An orchestrator that asks for a user, or for nobody whom it names.
    #[must_use]
    pub fn new(orchestrator: Orchestrator, pseudonym: Option<&Pseudonym>) -> Self {
        let user = pseudonym.map(|pseudonym| User::new(&orchestrator, pseudonym));
        let key = match &user {
            Some(user) => Arc::clone(&user.key),
            None => orchestrator.key(),
        };
        Self { orchestrator, user, key }
    }

    /// A text that no other asker has.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What records from before were kept under that belong to this asker: the pseudonym, or the empty text for those that
    /// named nobody.
    #[must_use]
    pub fn unassigned(&self) -> Option<&str> {
        match &self.user {
            Some(user) => user.unassigned(),
            None => self.orchestrator.has_unassigned.then_some(""),
        }
    }
}

/// A user of one orchestrator.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct User {
    key: Arc<str>,
    orchestrator: Arc<str>,
    unassigned: Option<Pseudonym>,
}

impl fmt::Debug for User {
    /// Without the pseudonym: it is a person's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("User")
    }
}

impl User {
    /// The user whom an orchestrator names so.
    #[must_use]
    pub fn new(orchestrator: &Orchestrator, pseudonym: &Pseudonym) -> Self {
        let Orchestrator { issuer, subject, has_unassigned } = orchestrator;
        Self {
            key: key_of(&[issuer, subject, pseudonym.as_str()]),
            orchestrator: Arc::clone(subject),
            unassigned: has_unassigned.then(|| pseudonym.clone()),
        }
    }

    /// What the orchestrator is called whose user it is: the subject of its token.
    #[must_use]
    pub fn orchestrator(&self) -> &str {
        &self.orchestrator
    }

    /// A text that no other user has. It holds the pseudonym, so it is marked or digested before it is kept.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What records from before were kept under, if they belong to this user.
    #[must_use]
    pub fn unassigned(&self) -> Option<&str> {
        self.unassigned.as_ref().map(Pseudonym::as_str)
    }

    /// What this user's records may be kept under: the present text first.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        [Some(self.key()), self.unassigned()].into_iter().flatten()
    }
}

/// The parts as one text, from which they can be told apart again.
fn key_of(parts: &[&str]) -> Arc<str> {
    serde_json::to_string(parts).expect("texts always serialise").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pseudonym(text: &str) -> Pseudonym {
        Pseudonym::parse(text).expect("sound")
    }

    #[test]
    fn nobody_is_taken_for_anybody_else() {
        let asked =
            [("i", "a", Some("ann")), ("i", "b", Some("ann")), ("j", "a", Some("ann")), ("i", "a", Some("bob"))];
        let more = [("i", "a", None), ("i", "b", None), ("i\",\"a", "ann", None), ("i", "a\",\"ann", None)];
        let keys: std::collections::BTreeSet<String> = asked
            .into_iter()
            .chain(more)
            .map(|(issuer, subject, name)| {
                let name = name.map(pseudonym);
                Asker::new(Orchestrator::new(issuer, subject), name.as_ref()).key().to_owned()
            })
            .collect();
        assert_eq!(keys.len(), 8);
    }

    #[test]
    fn what_was_kept_before_belongs_to_one_orchestrator_alone() {
        let ann = pseudonym("ann");
        let heir = Orchestrator::new("i", "a").with_unassigned();
        let user = User::new(&heir, &ann);
        assert_eq!(user.keys().collect::<Vec<_>>(), [r#"["i","a","ann"]"#, "ann"]);
        assert_eq!(Asker::new(heir, None).unassigned(), Some(""));
        let other = Asker::new(Orchestrator::new("i", "b"), Some(&ann));
        assert_eq!(other.unassigned(), None);
        assert_eq!(other.user.expect("named").keys().count(), 1);
    }

    #[test]
    fn pseudonyms() {
        assert!(Pseudonym::parse(&"x".repeat(128)).is_ok());
        for bad in ["", "a b", "ä", &"x".repeat(129)] {
            assert_eq!(Pseudonym::parse(bad), Err(InvalidPseudonym), "{bad}");
        }
    }
}
