//! `test-call` (spec 1, Endpoints): lets a partner see that its token works and which intent a wish belongs to. The
//! options are a stub: sandbox traffic never reaches users, and none of it reaches a partner.

use std::sync::Arc;

use super::OnboardingError;
use super::keeper::RecordKeeper;
use intent_gateway_domain::classify::classify;
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::limits::UTTERANCE_MAX_CHARS;
use intent_gateway_domain::ports::Contracts;

use super::records::Account;

/// What a test call comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCall {
    /// The intent that the wish belongs to; `None` when no live intent claims it.
    pub intent: Option<String>,
    /// One or two sentences for a person.
    pub note: String,
}

/// Calls with which partners try out their token.
pub struct TestCalls {
    pub(crate) keeper: RecordKeeper,
    pub(crate) contracts: Arc<dyn Contracts>,
}

impl TestCalls {
    /// Finds the intent of a wish, given in words or as an intent's identifier.
    ///
    /// # Errors
    /// [`OnboardingError::Refused`] for an empty or overlong wish, and with `INVALID_INTENT` for an identifier that names
    /// no live intent.
    pub async fn call(&self, account: &PartnerId, user_intent: &str) -> Result<TestCall, OnboardingError> {
        self.keeper.require::<Account>(account.as_str(), "account").await?;
        let wish = user_intent.trim();
        if wish.is_empty() || wish.chars().count() > UTTERANCE_MAX_CHARS {
            let message = format!("user_intent is 1 to {UTTERANCE_MAX_CHARS} characters");
            return Err(OnboardingError::invalid("/user_intent", "INVALID_TEXT", message));
        }
        let intent = match IntentId::parse(wish) {
            Ok(intent) if self.contracts.live(intent.as_str()).is_some() => Some(intent.to_string()),
            Ok(intent) => return Err(OnboardingError::unknown_intent("/user_intent", intent.as_str())),
            Err(_) => classify(&*self.contracts, wish, "").await.intent,
        };
        let note = match &intent {
            Some(intent) => format!(
                "Stub: `{intent}` would be asked of its live partners. The options are made up; no partner was called."
            ),
            None => "Stub: no live intent claims this wish, so nobody would be called.".to_owned(),
        };
        Ok(TestCall { intent, note })
    }
}
