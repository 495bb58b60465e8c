//! The ticket in a link that a user's browser opens: for which user and partner, and until when. It is complete in itself,
//! so that any replica takes it and nothing is kept before somebody opens it; and sealed, because addresses end up in logs.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::records::user_mark;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::user::User;
use intent_gateway_domain::vault::{NoEntropy, Sealed, Vault, random};

/// How long a ticket is good, milliseconds: ten minutes.
pub(crate) const TICKET_TTL_MS: u64 = 10 * 60 * 1_000;
/// Longest challenge that a ticket carries, bytes. Without it, the authorization server is looked for in the well-known
/// places.
const CHALLENGE_MAX_BYTES: usize = 1_024;
/// Longest ticket that is looked at, bytes.
const TICKET_MAX_BYTES: usize = 4 * 1024;
/// Random bytes by which a ticket is known again, so that it is used once.
const ID_BYTES: usize = 16;
/// Characters of a code on either side of its dash.
const CODE_HALF_CHARS: usize = 3;
/// What codes are written with: no letter or digit that is taken for another one (Crockford's Base32).
const CODE_ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Characters of an orchestrator's name that its users are shown.
const ORCHESTRATOR_MAX_CHARS: usize = 64;
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
    /// What the orchestrator is called whose user it is. Absent, as the next, in tickets of earlier releases, which are of
    /// no use any more.
    #[serde(rename = "o", default)]
    pub(super) orchestrator: String,
    /// Letters, digits, `-` and `_`, by which it is known again.
    #[serde(rename = "i", default)]
    pub(super) id: String,
}

impl Ticket {
    /// # Errors
    /// [`NoEntropy`] when the machine gives no random bytes.
    pub(super) fn new(
        vault: &Vault,
        partner: &PartnerId,
        user: &User,
        challenge: Option<&str>,
        now: Timestamp,
    ) -> Result<Self, NoEntropy> {
        let challenge = challenge.filter(|challenge| challenge.len() <= CHALLENGE_MAX_BYTES);
        Ok(Self {
            partner: partner.clone(),
            user: user_mark(vault, user),
            challenge: challenge.map(str::to_owned),
            expires_at_ms: now.plus_ms(TICKET_TTL_MS),
            orchestrator: user.orchestrator().chars().take(ORCHESTRATOR_MAX_CHARS).collect(),
            id: URL_SAFE_NO_PAD.encode(random::<ID_BYTES>(vault.entropy())?),
        })
    }

    /// What the orchestrator tells its user and the page shows, for example `K7Q-2XR`: another one for each ticket.
    pub(super) fn code(&self) -> String {
        let digest = Digest::of(format!("link-code/{}", self.id).as_bytes());
        let chars = digest.as_bytes().iter().map(|byte| char::from(CODE_ALPHABET[usize::from(byte % 32)]));
        let mut code: String = chars.take(2 * CODE_HALF_CHARS).collect();
        code.insert(CODE_HALF_CHARS, '-');
        code
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
    use intent_gateway_testing::users::user;

    #[test]
    fn a_ticket_opens_as_it_was_sealed_and_shows_nothing() {
        let vault = vault();
        let partner = PartnerId::parse("coolcar").expect("sound");
        let challenge = "Bearer resource_metadata=\"https://mcp.coolcar.example/m\"";
        let asha = user("asha");
        let ticket = Ticket::new(&vault, &partner, &asha, Some(challenge), Timestamp::from_ms(5)).expect("entropy");
        assert_eq!(ticket.orchestrator, "assistant");
        let other = Ticket::new(&vault, &partner, &asha, None, Timestamp::from_ms(5)).expect("entropy");
        assert_ne!(ticket.code(), other.code(), "each ticket has its own");
        let shown: Vec<bool> = ticket.code().bytes().map(|byte| CODE_ALPHABET.contains(&byte)).collect();
        assert_eq!(shown, [true, true, true, false, true, true, true]);
        assert_eq!(ticket.expires_at_ms, Timestamp::from_ms(600_005));
        let text = ticket.seal(&vault).expect("entropy");
        assert_eq!(Ticket::open(&vault, &text), Some(ticket));
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte)), "{text}");
        let mut altered = text.clone().into_bytes();
        altered[40] ^= 1;
        for bad in ["", "x.y", &String::from_utf8_lossy(&altered), &"a".repeat(5_000)] {
            assert_eq!(Ticket::open(&vault, bad), None, "{bad}");
        }
        let long = Ticket::new(&vault, &partner, &asha, Some(&"x".repeat(1_025)), Timestamp::from_ms(5));
        assert_eq!(long.expect("entropy").challenge, None);
        assert!(text.len() < 1_024, "{}", text.len());
    }
}
