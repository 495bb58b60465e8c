//! What each gateway has ready of an intent, and serves: a record for each gateway and intent, written by that gateway. What
//! counts is said by those alone that live.

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::fleet::{Gateway, LiveGateway};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::store::{Kind, List, Record, Store, StoreError, Versioned, page};
use intent_gateway_domain::versions::{StageFailure, WaitedFor};
use serde::{Deserialize, Serialize};

/// Rows of one intent that are read: as many gateways as may live, and as many that have died.
const ROWS_MAX: u32 = 512;

/// What a gateway has of an intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatewayState {
    pub intent: IntentId,
    pub gateway: String,
    /// The process: what an earlier one had ready is not.
    pub run: String,
    /// What it was asked to have ready last, and whether it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<Staged>,
    /// What serves there; absent where nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serving: Option<Serving>,
}

/// A version that was to be made ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staged {
    pub digest: Digest,
    pub at_ms: Timestamp,
    /// How long it took, milliseconds.
    pub took_ms: u64,
    /// Why it is not ready; absent where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<StageFailure>,
}

/// The version that serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serving {
    pub digest: Digest,
    pub since_ms: Timestamp,
    /// From the change of what is wanted until it served, milliseconds, by both gateways' clocks.
    pub took_ms: u64,
}

impl GatewayState {
    /// Whether this process has written it.
    pub(crate) fn is_of(&self, live: &LiveGateway) -> bool {
        let Gateway { id, run, .. } = &live.gateway;
        self.gateway == id.as_str() && self.run == run.as_str()
    }
}

impl Record for GatewayState {
    const KIND: Kind = Kind::ContractStates;

    fn key(&self) -> String {
        row_key(&self.intent, &self.gateway)
    }
}

/// An intent has no `/` in its name, so the rows of one follow each other.
pub(crate) fn row_key(intent: &IntentId, gateway: &str) -> String {
    format!("{intent}/{gateway}")
}

/// What all gateways have written of an intent, dead ones included: records whose keys are those of [`row_key`].
///
/// # Errors
/// [`StoreError`].
pub(crate) async fn rows<R: Record>(store: &dyn Store, intent: &IntentId) -> Result<Vec<Versioned<R>>, StoreError> {
    let after = row_key(intent, "");
    let rows = page::<R>(store, List { status: None, after: Some(&after), limit: ROWS_MAX }).await?;
    Ok(rows.into_iter().take_while(|row| row.value.key().starts_with(&after)).collect())
}

/// Whether every gateway that lives has a version ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Ready,
    /// Those that do not.
    NotReady(Vec<WaitedFor>),
}

/// Judges what gateways say of a version.
pub(crate) fn judge<'a>(
    digest: Digest,
    states: impl IntoIterator<Item = &'a GatewayState>,
    live: &[LiveGateway],
) -> Verdict {
    let states: Vec<&GatewayState> = states.into_iter().collect();
    let missing: Vec<WaitedFor> = live
        .iter()
        .filter_map(|one| {
            let waited_for = |failure| WaitedFor { gateway: one.gateway.id.to_string(), failure };
            let own = states.iter().find(|state| state.is_of(one));
            let staged = own.and_then(|state| state.staged.as_ref()).filter(|staged| staged.digest == digest);
            match staged {
                Some(Staged { failure: None, .. }) => None,
                Some(Staged { failure, .. }) => Some(waited_for(failure.clone())),
                None => Some(waited_for(None)),
            }
        })
        .collect();
    if missing.is_empty() { Verdict::Ready } else { Verdict::NotReady(missing) }
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::fleet::GatewayId;

    use super::*;

    fn id(text: &str) -> GatewayId {
        GatewayId::parse(text).expect("an identifier")
    }

    fn live(name: &str, run: &str) -> LiveGateway {
        let gateway = Gateway { id: id(name), run: id(run), name: name.to_owned(), version: "1".to_owned() };
        let now = Timestamp::from_ms(1);
        LiveGateway { gateway, started_at: now, renewed_at: now, left_ms: 1, duties: Vec::new() }
    }

    fn state(name: &str, run: &str, version: &str, failure: Option<&str>) -> GatewayState {
        let failure = failure.map(|code| StageFailure { code: code.to_owned(), message: String::new() });
        let digest = Digest::of(version.as_bytes());
        GatewayState {
            intent: IntentId::parse("test.things").expect("an intent"),
            gateway: name.to_owned(),
            run: run.to_owned(),
            staged: Some(Staged { digest, at_ms: Timestamp::from_ms(1), took_ms: 1, failure }),
            serving: None,
        }
    }

    #[test]
    fn a_version_is_ready_when_every_gateway_that_lives_says_so() {
        let wanted = Digest::of(b"v2");
        let (a, b) = (live("a", "1"), live("b", "1"));
        let both = [state("a", "1", "v2", None), state("b", "1", "v2", None)];
        let judge = |states: &[GatewayState], live: &[LiveGateway]| super::judge(wanted, states, live);
        let waits_for = |name: &str| Verdict::NotReady(vec![WaitedFor { gateway: name.to_owned(), failure: None }]);
        assert_eq!(judge(&both, &[a.clone(), b.clone()]), Verdict::Ready);
        assert_eq!(judge(&both[..1], &[a.clone(), b.clone()]), waits_for("b"));
        // Who is dead is not waited for.
        assert_eq!(judge(&both[..1], std::slice::from_ref(&a)), Verdict::Ready);
        // What an earlier process had ready, this one has not.
        assert_eq!(judge(&both, &[live("a", "2")]), waits_for("a"));
        // What was ready is another version.
        assert_eq!(judge(&[state("a", "1", "v1", None)], std::slice::from_ref(&a)), waits_for("a"));
        let Verdict::NotReady(failed) = judge(&[state("a", "1", "v2", Some("COMPILE_FAILED"))], &[a]) else {
            panic!("it is not ready")
        };
        assert_eq!(failed[0].failure.as_ref().map(|failure| failure.code.as_str()), Some("COMPILE_FAILED"));
        assert_eq!(judge(&[], &[]), Verdict::Ready, "nobody has to be waited for");
    }
}
