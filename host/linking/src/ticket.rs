//! The ticket in a link that a user's browser opens: for which user and partner, and until when. It is complete in itself,
//! so that any replica takes it and nothing is kept before somebody opens it; and sealed, because addresses end up in logs.

use serde::{Deserialize, Serialize};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::{NoEntropy, Sealed, Vault};

/// How long a ticket is good, milliseconds: ten minutes.
pub(crate) const TICKET_TTL_MS: u64 = 10 * 60 * 1_000;
/// Longest challenge that a ticket carries, bytes. Without it, the authorization server is looked for in the well-known
/// places.
const CHALLENGE_MAX_BYTES: usize = 1_024;
/// Longest ticket that is looked at, bytes.
const TICKET_MAX_BYTES: usize = 4 * 1024;
/// What tickets are sealed for.
const CONTEXT: &str = "link-ticket";

/// What a ticket says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ticket {
    #[serde(rename = "p")]
    pub(super) partner: PartnerId,
    /// The user's mark.
    #[serde(rename = "u")]
    pub(super) user: String,
    #[serde(rename = "c", skip_serializing_if = "Option::is_none")]
    pub(super) challenge: Option<String>,
    /// Milliseconds since the epoch.
    #[serde(rename = "e")]
    pub(super) expires_at_ms: Timestamp,
}

impl Ticket {
    pub(super) fn new(partner: &PartnerId, user: String, challenge: Option<&str>, now: Timestamp) -> Self {
        let challenge = challenge.filter(|challenge| challenge.len() <= CHALLENGE_MAX_BYTES);
        Self {
            partner: partner.clone(),
            user,
            challenge: challenge.map(str::to_owned),
            expires_at_ms: now.plus_ms(TICKET_TTL_MS),
        }
    }

    /// As text for an address: letters, digits, `.`, `-` and `_`.
    pub(super) fn seal(&self, vault: &Vault) -> Result<String, NoEntropy> {
        let text = serde_json::to_string(self).expect("strings and a number always serialise");
        vault.seal(CONTEXT, &Secret::new(text)).map(Sealed::into_text)
    }

    /// None for anything that was not sealed here.
    pub(super) fn open(vault: &Vault, text: &str) -> Option<Self> {
        if text.len() > TICKET_MAX_BYTES {
            return None;
        }
        let opened = vault.open(CONTEXT, &Sealed::from_text(text.to_owned())).ok()?;
        serde_json::from_str(opened.expose()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use intent_gateway_testing::entropy::vault;

    #[test]
    fn a_ticket_opens_as_it_was_sealed_and_shows_nothing() {
        let vault = vault();
        let partner = PartnerId::parse("coolcar").expect("sound");
        let challenge = "Bearer resource_metadata=\"https://mcp.coolcar.example/m\"";
        let ticket = Ticket::new(&partner, "ab".repeat(32), Some(challenge), Timestamp::from_ms(5));
        assert_eq!(ticket.expires_at_ms, Timestamp::from_ms(600_005));
        let text = ticket.seal(&vault).expect("entropy");
        assert_eq!(Ticket::open(&vault, &text), Some(ticket));
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte)), "{text}");
        let mut altered = text.clone().into_bytes();
        altered[40] ^= 1;
        for bad in ["", "x.y", &String::from_utf8_lossy(&altered), &"a".repeat(5_000)] {
            assert_eq!(Ticket::open(&vault, bad), None, "{bad}");
        }
        let long = Ticket::new(&partner, "ab".repeat(32), Some(&"x".repeat(1_025)), Timestamp::from_ms(5));
        assert_eq!(long.challenge, None);
        assert!(text.len() < 1_024, "{}", text.len());
    }
}
