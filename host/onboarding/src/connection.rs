//! The states of a connection to a partner's server, and what may lead from one to another (spec 1, States and
//! transitions; design.md for the ways out of `probe_failed` and `suspended`).
//!
//! Pure: a transition knows nothing of who asked for it, and the guards of going live are in
//! [`onboarding`](crate).

use serde::{Deserialize, Serialize};

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ConnectionStatus))]
#[serde(rename_all = "snake_case")]
pub enum ConnectionState {
    /// Registered; no user's request reaches it.
    Sandbox,
    /// The last probe before going live failed.
    ProbeFailed,
    /// Users' requests are routed to it.
    Live,
    /// Taken out by the platform team.
    Suspended,
}

impl ConnectionState {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Sandbox, Self::ProbeFailed, Self::Live, Self::Suspended];

    /// As it is named on the wire and in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::ProbeFailed => "probe_failed",
            Self::Live => "live",
            Self::Suspended => "suspended",
        }
    }

    /// The state after an event.
    ///
    /// # Errors
    /// [`NotAllowed`] when the event cannot happen in this state.
    pub fn after(self, event: ConnectionEvent) -> Result<Self, NotAllowed> {
        use ConnectionEvent as E;
        match (self, event) {
            (Self::Sandbox | Self::ProbeFailed, E::ProbePassed) => Ok(Self::Sandbox),
            (Self::Sandbox | Self::ProbeFailed, E::ProbeFailed) => Ok(Self::ProbeFailed),
            // A server that once went live is not taken out by one bad minute of its network: what a later probe finds is
            // recorded, and changed tools are quarantined one by one.
            (Self::Live | Self::Suspended, E::ProbePassed | E::ProbeFailed) => Ok(self),
            (Self::Sandbox, E::SwitchedOn) => Ok(Self::Live),
            (Self::Live, E::Suspended) => Ok(Self::Suspended),
            (Self::Suspended, E::Lifted) => Ok(Self::Sandbox),
            // Another server has to go through probe and test itself; a suspension is not shaken off by moving.
            (Self::Live | Self::Sandbox, E::Moved) => Ok(Self::Sandbox),
            (Self::ProbeFailed | Self::Suspended, E::Moved) => Ok(self),
            (_, E::SwitchedOn | E::Suspended | E::Lifted) => Err(NotAllowed { state: self, event }),
        }
    }
}

/// What happens to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConnectionEvent {
    /// `initialize` and `tools/list` succeeded, and every listed intent has its tools.
    ProbePassed,
    /// A step of the probe failed, or a listed intent lacks a tool.
    ProbeFailed,
    /// The platform team switched it on, all guards passed.
    SwitchedOn,
    /// The platform team took it out.
    Suspended,
    /// The platform team lifted the suspension.
    Lifted,
    /// The partner registered another endpoint.
    Moved,
}

impl ConnectionEvent {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::ProbePassed, Self::ProbeFailed, Self::SwitchedOn, Self::Suspended, Self::Lifted, Self::Moved];

    fn as_words(self) -> &'static str {
        match self {
            Self::ProbePassed | Self::ProbeFailed => "probed",
            Self::SwitchedOn => "switched on",
            Self::Suspended => "suspended",
            Self::Lifted => "lifted out of suspension",
            Self::Moved => "moved to another endpoint",
        }
    }
}

/// The event cannot happen in the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a connection that is {} cannot be {}", .state.as_str(), .event.as_words())]
pub struct NotAllowed {
    /// Where the connection stands.
    pub state: ConnectionState,
    /// What was asked for.
    pub event: ConnectionEvent,
}

#[cfg(test)]
mod tests {
    use super::*;
    use ConnectionEvent as E;
    use ConnectionState as S;

    /// Every pair of state and event; `None` is refused.
    const TABLE: [(S, [Option<S>; 6]); 4] = [
        (S::Sandbox, [Some(S::Sandbox), Some(S::ProbeFailed), Some(S::Live), None, None, Some(S::Sandbox)]),
        (S::ProbeFailed, [Some(S::Sandbox), Some(S::ProbeFailed), None, None, None, Some(S::ProbeFailed)]),
        (S::Live, [Some(S::Live), Some(S::Live), None, Some(S::Suspended), None, Some(S::Sandbox)]),
        (S::Suspended, [Some(S::Suspended), Some(S::Suspended), None, None, Some(S::Sandbox), Some(S::Suspended)]),
    ];

    #[test]
    fn every_transition_is_as_the_table_says() {
        for (state, expected) in TABLE {
            for (event, expected) in E::ALL.into_iter().zip(expected) {
                assert_eq!(state.after(event).ok(), expected, "{state:?} {event:?}");
            }
        }
    }

    #[test]
    fn live_is_reached_from_the_sandbox_alone() {
        let mut reached: Vec<(S, E)> = Vec::new();
        for state in S::ALL {
            for event in E::ALL {
                if state != S::Live && state.after(event) == Ok(S::Live) {
                    reached.push((state, event));
                }
            }
        }
        assert_eq!(reached, [(S::Sandbox, E::SwitchedOn)]);
    }

    #[test]
    fn a_refusal_says_what_stands_in_the_way() {
        let refused = S::Suspended.after(E::SwitchedOn).expect_err("refused");
        assert_eq!(refused.to_string(), "a connection that is suspended cannot be switched on");
    }
}
