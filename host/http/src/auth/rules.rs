//! What the gateway asks of every token, whoever has issued it.

use std::time::Duration;

use super::{Caller, Role, Scope, Scopes, TokenError};

/// Rules for tokens, besides their signatures and times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenRules {
    /// Whether an admin's token that names no scope opens nothing; it opens everything otherwise.
    pub scope_required: bool,
    /// Longest life of an admin's or an orchestrator's token, from its issue to its end; unbounded where nothing is set, for outside
    /// issuers have rules of their own. Partners' tokens end with their sessions.
    pub life_max: Duration,
}

impl Default for TokenRules {
    fn default() -> Self {
        Self { scope_required: false, life_max: Duration::MAX }
    }
}

impl TokenRules {
    /// The caller with the scopes that count where its token names none.
    ///
    /// # Errors
    /// [`TokenError::LifeTooLong`] where the token lives longer than it may.
    pub(super) fn complete(self, caller: Caller) -> Result<Caller, TokenError> {
        if caller.role != Role::Partner && caller.token_life > self.life_max {
            return Err(TokenError::LifeTooLong(self.life_max.as_secs()));
        }
        let unnamed = || if self.scope_required { Scopes::default() } else { Scopes::from_iter([Scope::All]) };
        let scopes = (caller.role == Role::Admin).then(|| caller.scopes.unwrap_or_else(unnamed));
        Ok(Caller { scopes, ..caller })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn caller(role: Role, scopes: Option<Scopes>) -> Caller {
        Caller { subject: "asha".to_owned(), role, issuer: None, session: None, scopes, token_life: HOUR }
    }

    #[test]
    fn a_token_without_a_scope_opens_everything_unless_one_is_required() {
        let (free, strict) = (TokenRules::default(), TokenRules { scope_required: true, ..TokenRules::default() });
        let scopes = |rules: TokenRules, named| {
            rules.complete(caller(Role::Admin, named)).expect("accepted").scopes.expect("an admin's")
        };
        assert!(scopes(free, None).cover(Scope::All));
        assert_eq!(scopes(strict, None), Scopes::default());
        let named = Some(Scopes::from_iter([Scope::Ship]));
        for rules in [free, strict] {
            assert_eq!(Some(scopes(rules, named.clone())), named);
            // An issuer's token whose claim gives none.
            assert_eq!(scopes(rules, Some(Scopes::default())), Scopes::default());
            for role in [Role::Partner, Role::Orchestrator] {
                assert_eq!(rules.complete(caller(role, named.clone())).expect("accepted").scopes, None);
            }
        }
    }

    #[test]
    fn only_partners_tokens_may_live_longer() {
        let rules = TokenRules { life_max: HOUR, ..TokenRules::default() };
        let complete = |role, token_life| rules.complete(Caller { token_life, ..caller(role, None) });
        for role in [Role::Admin, Role::Orchestrator] {
            assert!(complete(role, HOUR).is_ok());
            let refused = complete(role, HOUR + Duration::from_secs(1));
            assert!(matches!(refused, Err(TokenError::LifeTooLong(3_600))), "{role:?}");
        }
        assert!(complete(Role::Partner, Duration::MAX).is_ok());
    }
}
