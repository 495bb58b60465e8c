//! Scopes: which part of the platform team's work an admin's token opens.
//!
//! Not here: which route needs which scope, which [`crate::route_scopes`] says.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// One part of the platform team's work. A token names one or several; none but [`Scope::All`] holds another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Looks at what shows no personal data of users: contracts, connections, health, metrics, the audit log.
    Watch,
    /// Decides about partners: accounts, reviews, probes, suspensions, documents, findings; looks at orders and receipts.
    Review,
    /// Loads, activates and unloads contracts, and looks at their faults.
    Ship,
    /// Reads and corrects the ledger and statements.
    Ledger,
    /// All of that, what an orchestrator may do, and the keys and endpoints of partners.
    All,
}

impl Scope {
    /// Every one of them.
    pub const EVERY: [Self; 5] = [Self::Watch, Self::Review, Self::Ship, Self::Ledger, Self::All];

    /// The scope as tokens and the OpenAPI document name it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Watch => "watch",
            Self::Review => "review",
            Self::Ship => "ship",
            Self::Ledger => "ledger",
            Self::All => "all",
        }
    }

    /// The scope of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::EVERY.into_iter().find(|scope| scope.as_str() == name)
    }

    /// The code of the refusal of a token that lacks the scope, status 403.
    #[must_use]
    pub fn code_of_lack(self) -> &'static str {
        match self {
            Self::Watch => "SCOPE_WATCH_NEEDED",
            Self::Review => "SCOPE_REVIEW_NEEDED",
            Self::Ship => "SCOPE_SHIP_NEEDED",
            Self::Ledger => "SCOPE_LEDGER_NEEDED",
            Self::All => "SCOPE_ALL_NEEDED",
        }
    }

    /// The challenge that goes with it (RFC 6750, section 3).
    pub(crate) fn challenge(self) -> &'static str {
        match self {
            Self::Watch => r#"Bearer error="insufficient_scope", scope="watch""#,
            Self::Review => r#"Bearer error="insufficient_scope", scope="review""#,
            Self::Ship => r#"Bearer error="insufficient_scope", scope="ship""#,
            Self::Ledger => r#"Bearer error="insufficient_scope", scope="ledger""#,
            Self::All => r#"Bearer error="insufficient_scope", scope="all""#,
        }
    }
}

/// The scopes that a token names; it may be none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes(BTreeSet<Scope>);

impl Scopes {
    /// Reads the claim `scope`: names set off by spaces (RFC 8693, section 4.2). `None` where there is no name, or one that is no
    /// scope.
    #[must_use]
    pub fn parse(claim: &str) -> Option<Self> {
        let scopes: Option<BTreeSet<Scope>> = claim.split_ascii_whitespace().map(Scope::parse).collect();
        scopes.filter(|scopes| !scopes.is_empty()).map(Self)
    }

    /// Whether they open what needs a scope.
    #[must_use]
    pub fn cover(&self, needed: Scope) -> bool {
        self.0.contains(&needed) || self.0.contains(&Scope::All)
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().collect())
    }
}

/// As the claim `scope` writes them.
impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, scope) in self.0.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{}", scope.as_str())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_opens_itself_and_all_opens_everything() {
        for needed in Scope::EVERY {
            for given in Scope::EVERY {
                let expected = given == needed || given == Scope::All;
                assert_eq!(Scopes::from_iter([given]).cover(needed), expected, "{given:?} for {needed:?}");
            }
            assert!(!Scopes::default().cover(needed));
            assert!(needed.code_of_lack().contains(&needed.as_str().to_uppercase()));
            assert!(needed.challenge().ends_with(&format!("scope=\"{}\"", needed.as_str())));
        }
        let two = Scopes::from_iter([Scope::Ship, Scope::Watch]);
        assert!(two.cover(Scope::Watch) && two.cover(Scope::Ship) && !two.cover(Scope::Ledger));
    }

    #[test]
    fn claims_are_read_strictly() {
        for text in ["watch", "watch ship", "all"] {
            assert_eq!(Scopes::parse(text).expect("scopes").to_string(), text);
        }
        assert_eq!(Scopes::parse("ship  watch ship").expect("scopes").to_string(), "watch ship");
        for bad in ["", " ", "Watch", "watch,ship", "watch root", "*"] {
            assert_eq!(Scopes::parse(bad), None, "{bad:?}");
        }
    }
}
