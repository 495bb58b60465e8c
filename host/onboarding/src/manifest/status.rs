//! The status of a manifest and its transitions (spec 1, States and transitions).

use serde::{Deserialize, Serialize};

/// Where a manifest stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ManifestStatus))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Saved, shown to nobody.
    Draft,
    /// Waits for the platform team.
    PendingReview,
    /// Accepted. This alone sends no traffic.
    Approved,
    /// Sent back with notes on what to fix.
    Rejected,
}

impl Status {
    /// All of them, in the order of the specification.
    pub const ALL: [Self; 4] = [Self::Draft, Self::PendingReview, Self::Approved, Self::Rejected];

    /// As it is written on the wire and in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::PendingReview => "pending_review",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
        }
    }

    /// The status after the platform team's decision.
    ///
    /// # Errors
    /// [`NotPending`] unless the manifest waits for one.
    pub fn decide(self, decision: Decision) -> Result<Self, NotPending> {
        match (self, decision) {
            (Self::PendingReview, Decision::Accept) => Ok(Self::Approved),
            (Self::PendingReview, Decision::Reject) => Ok(Self::Rejected),
            (status, _) => Err(NotPending(status)),
        }
    }
}

/// What the platform team decides of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Accept,
    /// Changes are needed.
    Reject,
}

/// A decision on a manifest that waits for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a manifest that is {} waits for no decision", .0.as_str())]
pub struct NotPending(pub Status);

/// The status after a submission that passed its checks; `None` stands for a partner without a manifest.
///
/// A draft may be saved again as a draft. Once a manifest has been sent for review, every submission goes to the
/// reviewer, for it replaces the one before.
#[must_use]
pub(crate) fn next_on_submit(current: Option<Status>, submit_for_review: bool) -> Status {
    match current {
        None | Some(Status::Draft) if !submit_for_review => Status::Draft,
        _ => Status::PendingReview,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_submission_is_a_draft_only_until_it_was_sent_for_review() {
        for (current, submit_for_review, next) in [
            (None, false, Status::Draft),
            (None, true, Status::PendingReview),
            (Some(Status::Draft), false, Status::Draft),
            (Some(Status::Draft), true, Status::PendingReview),
            (Some(Status::PendingReview), false, Status::PendingReview),
            (Some(Status::PendingReview), true, Status::PendingReview),
            (Some(Status::Approved), false, Status::PendingReview),
            (Some(Status::Approved), true, Status::PendingReview),
            (Some(Status::Rejected), false, Status::PendingReview),
            (Some(Status::Rejected), true, Status::PendingReview),
        ] {
            assert_eq!(next_on_submit(current, submit_for_review), next, "{current:?} {submit_for_review}");
        }
    }

    #[test]
    fn only_what_is_pending_is_decided() {
        assert_eq!(Status::PendingReview.decide(Decision::Accept), Ok(Status::Approved));
        assert_eq!(Status::PendingReview.decide(Decision::Reject), Ok(Status::Rejected));
        for status in Status::ALL.into_iter().filter(|status| *status != Status::PendingReview) {
            for decision in [Decision::Accept, Decision::Reject] {
                assert_eq!(status.decide(decision), Err(NotPending(status)));
            }
        }
    }

    #[test]
    fn the_written_form_is_one() {
        for status in Status::ALL {
            assert_eq!(serde_json::to_value(status).expect("serialises"), status.as_str());
        }
    }
}
