//! Rules between the members of a request (spec 3, "Input"). Those on options are in `judge`.

use crate::ranking::budget_band;
use crate::request::YogaClassRequest;
use contract_sdk::{Quoted, RequestRules, UserBands, code};

pub(crate) fn request_rules(request: &YogaClassRequest<'_>, rules: &mut RequestRules) {
    // It is read only where `ttbs_user_band` states no budget. The bands that stand there are noted by the SDK.
    let stated = UserBands::of(&request.ttbs_user_band).budget;
    if let Some(band) = request.preferences.budget_band.as_deref().filter(|_| stated.is_none()) {
        rules.note_if(
            budget_band(band).is_none(),
            code::UNKNOWN_BAND,
            "/preferences/budget_band",
            format_args!("{} is no band of the budget; it counts as neutral.", Quoted(band)),
        );
    }
}
