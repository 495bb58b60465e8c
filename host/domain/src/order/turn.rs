//! Whether a tool may be called now, by what its contract declares of the order's way.

use super::{NO_ORDER, Order};
use crate::clock::Timestamp;
use crate::contract::{Opening, OrderStep, Refusal, Violation};
use crate::datetime;
use crate::platform_code::PlatformCode;

/// A tool was called in a state in which it is not.
pub const OUT_OF_TURN: &str = "OUT_OF_TURN";
/// A tool was called after its time.
pub const TOO_LATE: &str = "TOO_LATE";

/// What a call does to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It opens one.
    Opens,
    /// It belongs to the one that there is.
    GoesOn,
}

/// Whether a call may be made, and what it does. `order` is the order that it is about; none where the call names an option of
/// which there is none, or each call opens one of its own.
///
/// # Errors
/// [`Refusal`] with the code that the contract gives for it, and one violation: [`OUT_OF_TURN`] or [`TOO_LATE`].
pub fn check(step: &OrderStep, order: Option<&Order>, now: Timestamp) -> Result<Turn, Refusal> {
    let Some(order) = order else {
        return match step.opening {
            Opening::Always | Opening::First => Ok(Turn::Opens),
            Opening::Never => Err(out_of_turn(step, NO_ORDER)),
        };
    };
    if !order.is_open || !step.states.contains(&order.state) {
        return Err(out_of_turn(step, &order.state));
    }
    for deadline in &step.deadlines {
        let until = order.kept.get(&deadline.kept).and_then(|kept| datetime::end_of(kept.as_str()?));
        if until.is_some_and(|until| now >= until) {
            return Err(refusal(&deadline.code, TOO_LATE, deadline.text.clone()));
        }
    }
    Ok(Turn::GoesOn)
}

fn out_of_turn(step: &OrderStep, state: &str) -> Refusal {
    let fitting = step.refusals.iter().find(|refusal| refusal.states.iter().any(|named| named == state));
    if let Some(fitting) = fitting {
        return refusal(&fitting.code, OUT_OF_TURN, fitting.text.clone());
    }
    let allowed = step.states.join(", ");
    let tool = &step.tool;
    let message = match state {
        NO_ORDER => format!("`{tool}` goes on with an order, and there is none yet of this option."),
        _ if step.opening == Opening::Always => {
            format!("`{tool}` opens an order of its own: call it with the reference of an option.")
        }
        state => format!("The order is `{state}`; `{tool}` is called where it is one of: {allowed}."),
    };
    refusal(PlatformCode::InvalidRequest.as_str(), OUT_OF_TURN, message)
}

fn refusal(code: &str, violation: &str, message: String) -> Refusal {
    let violation = Violation { pointer: String::new(), code: violation.to_owned(), message };
    Refusal { code: code.to_owned(), violations: vec![violation] }
}
