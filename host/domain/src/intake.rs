//! What becomes of a version that was found and that nobody asked for: in the watched folder, or in a registry.

use crate::contract::Descriptor;
use crate::versions::IntakeStanding;

/// Whether a look is the first since the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// What is there already was put there before; what is known already stays as it was left.
    First,
    /// A change is somebody's act.
    Later,
}

/// Whether a version that was found goes live by itself; where it does not, the log says why.
#[must_use]
pub fn goes_live(descriptor: &Descriptor, standing: IntakeStanding, look: Look) -> bool {
    let Descriptor { intent, version, .. } = descriptor;
    match standing {
        IntakeStanding::Open => true,
        // An intent that was taken out of service stays out when the gateway restarts.
        IntakeStanding::OutOfService => look == Look::Later,
        IntakeStanding::ByHand => {
            tracing::info!(%intent, %version, "versions of the intent go live by hand alone; this one is loaded");
            false
        }
        IntakeStanding::Changing => {
            tracing::warn!(
                %intent,
                %version,
                "another version of the intent is about to go live; this one is loaded, and goes live when somebody says so"
            );
            false
        }
    }
}
