//! What the gateway asks of every token, whoever has issued it.

use super::{Caller, Role, Scope, Scopes};

/// Rules for tokens, besides their signatures and times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TokenRules {
    /// Whether an admin's token that names no scope opens nothing; it opens everything otherwise.
    pub scope_required: bool,
}

impl TokenRules {
    /// The caller with the scopes that count where its token names none.
    pub(super) fn complete(self, caller: Caller) -> Caller {
        let unnamed = || if self.scope_required { Scopes::default() } else { Scopes::from_iter([Scope::All]) };
        let scopes = (caller.role == Role::Admin).then(|| caller.scopes.unwrap_or_else(unnamed));
        Caller { scopes, ..caller }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(role: Role, scopes: Option<Scopes>) -> Caller {
        Caller { subject: "asha".to_owned(), role, issuer: None, session: None, scopes }
    }

    #[test]
    fn a_token_without_a_scope_opens_everything_unless_one_is_required() {
        let (free, strict) = (TokenRules::default(), TokenRules { scope_required: true });
        let scopes = |rules: TokenRules, named| rules.complete(caller(Role::Admin, named)).scopes.expect("an admin's");
        assert!(scopes(free, None).cover(Scope::All));
        assert_eq!(scopes(strict, None), Scopes::default());
        let named = Some(Scopes::from_iter([Scope::Ship]));
        for rules in [free, strict] {
            assert_eq!(Some(scopes(rules, named.clone())), named);
            // An issuer's token whose claim gives none.
            assert_eq!(scopes(rules, Some(Scopes::default())), Scopes::default());
            for role in [Role::Partner, Role::Orchestrator] {
                assert_eq!(rules.complete(caller(role, named.clone())).scopes, None);
            }
        }
    }
}
