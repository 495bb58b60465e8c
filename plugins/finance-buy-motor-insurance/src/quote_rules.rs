//! Rules on a quote against the request (spec 2). What harms the user or breaks the law takes the quote out; sums
//! and dates that do not agree with each other are findings.

use crate::cover::{PolicyType, ThirdParty};
use crate::dates::is_years_apart;
use crate::insured_value::Band;
use crate::quote::{MotorQuote, PremiumBreakdown};
use crate::rate_cards::{self, Sale};
use crate::request::{MotorInsuranceRequest, PurchaseContext};
use crate::tariff;
use contract_sdk::shape::Inr;
use contract_sdk::{ItemRules, SearchRequest, Vocabulary};

/// By how much the parts of a premium may miss its total, in INR: partners round each part.
pub(crate) const PREMIUM_TOLERANCE_INR: u64 = 1;

/// Days of lapse beyond which a bonus is lost and the vehicle is inspected.
const LONG_LAPSE_DAYS: i64 = 90;

/// Least settlement ratio in percent, by the user's safety band (spec 2, TTBS ranking rules).
const RATIO_FLOOR_PCT: f64 = 92.0;
/// The relaxed floor of the band `fast`.
const RATIO_FLOOR_FAST_PCT: f64 = 90.0;

/// Rules on one quote, in the order of its members.
pub(crate) fn item_rules(request: &MotorInsuranceRequest<'_>, quote: &MotorQuote<'_>, rules: &mut ItemRules) {
    check_settlement_ratio(request, quote, rules);
    check_policy_type(request, quote, rules);
    check_insured_value(request, quote, rules);
    check_third_party(request, quote, rules);
    check_premium(quote, rules);
    check_no_claim_bonus(request, quote, rules);
    check_bundle_years(request, quote, rules);
    check_dates(quote, rules);
    check_addons(request, quote, rules);
    check_rate_cards(request, quote, rules);
    check_inspection(request, quote, rules);
}

/// The band sets the floor: `fast` relaxes it, `flexible` and no band at all have none.
fn check_settlement_ratio(request: &MotorInsuranceRequest<'_>, quote: &MotorQuote<'_>, rules: &mut ItemRules) {
    let floor = match request.bands().safety {
        Some("fast") => RATIO_FLOOR_FAST_PCT,
        Some("balanced" | "good" | "great") => RATIO_FLOOR_PCT,
        _ => return,
    };
    let ratio = quote.insurer.claim_settlement_ratio_pct;
    rules.drop_if(
        ratio < floor,
        "RATIO_BELOW_FLOOR",
        "/insurer/claim_settlement_ratio_pct",
        format_args!("{ratio} % is below the {floor} % that the user's safety band asks for."),
    );
}

/// A quote is for the kind of policy asked for. A comprehensive policy with long-term third-party cover and a bundle
/// are the same cover, so for a new car or two-wheeler either answers the other.
fn check_policy_type(request: &MotorInsuranceRequest<'_>, quote: &MotorQuote<'_>, rules: &mut ItemRules) {
    let (wanted, found) = (request.buyer_preferences.target_policy_type, quote.policy_type);
    let is_full = |policy| matches!(policy, PolicyType::Comprehensive | PolicyType::LongTermTpBundle);
    let same_cover = quote.long_term_tp_years > 0 && is_full(wanted) && is_full(found);
    rules.drop_if(
        found != wanted && !same_cover,
        "POLICY_TYPE_MISMATCH",
        "/policy_type",
        format_args!("{} was asked for; this is {}.", wanted.value(), found.value()),
    );
}

/// The insured value lies within its band. Third-party cover alone insures no value, so there may be little or none.
fn check_insured_value(request: &MotorInsuranceRequest<'_>, quote: &MotorQuote<'_>, rules: &mut ItemRules) {
    let Some(band) = Band::of(request, quote.policy_start_date) else { return };
    let (Inr(insured), code, at) = (quote.idv_inr, "IDV_OUT_OF_RANGE", "/idv_inr");
    if let Some(most) = band.most {
        let message =
            format_args!("{insured} INR are insured; by its invoice and age the vehicle is worth {most} at most.");
        rules.finding_if(insured > most, code, at, message);
    }
    if let Some(least) = band.least.filter(|_| quote.policy_type.covers_own_damage()) {
        let message =
            format_args!("{insured} INR are insured; by its invoice and age the vehicle is worth {least} at least.");
        rules.finding_if(insured < least, code, at, message);
    }
}

/// No third-party premium below the tariff: a year's premium not below the year's rate, and a bundle's two
/// third-party parts together not below the bundle's rate, however they are split. A bundle far above its rate is a
/// finding only: less is against the law, more is in the total by which quotes are ranked.
fn check_third_party(request: &MotorInsuranceRequest<'_>, quote: &MotorQuote<'_>, rules: &mut ItemRules) {
    let premium = &quote.premium_breakdown;
    let (Inr(annual), Inr(long_term)) = (premium.third_party_premium_inr, premium.long_term_tp_premium_inr);
    let sold = match quote.policy_type.third_party() {
        ThirdParty::Held => true,
        ThirdParty::Separate => annual > 0 || long_term > 0,
        ThirdParty::None => false,
    };
    if !sold {
        return;
    }
    below_floor(request, quote, 0, (annual, "/premium_breakdown/third_party_premium_inr"), rules);
    let years = quote.long_term_tp_years;
    if years > 0 {
        let whole = annual.saturating_add(long_term);
        let at = "/premium_breakdown/long_term_tp_premium_inr";
        below_floor(request, quote, years, (whole, at), rules);
        if let Some(ceiling) = tariff::IN_FORCE.ceiling_inr(&request.vehicle, years) {
            rules.finding_if(
                whole > ceiling,
                "TP_ABOVE_CEILING",
                at,
                format_args!("{whole} INR is above {ceiling} INR, the most that a bundle of {years} years comes to."),
            );
        }
    }
}

/// Drops a quote whose premium is below the rate for so many years of a bundle; 0 asks for the year's rate.
fn below_floor(
    request: &MotorInsuranceRequest<'_>,
    quote: &MotorQuote<'_>,
    bundle_years: i64,
    (premium, at): (i64, &str),
    rules: &mut ItemRules,
) {
    let tariff = tariff::IN_FORCE;
    if let Some(floor) = tariff.floor_inr(&request.vehicle, bundle_years, quote.policy_start_date) {
        let from = tariff.effective_from;
        rules.drop_if(
            premium < floor,
            "TP_BELOW_FLOOR",
            at,
            format_args!("{premium} INR is below the {floor} INR of the tariff in force from {from}."),
        );
    }
}

/// The parts of a premium add up to its total, and the addons to their part.
fn check_premium(quote: &MotorQuote<'_>, rules: &mut ItemRules) {
    let premium = &quote.premium_breakdown;
    let (sum, Inr(total)) = (sum_inr(premium), premium.total_payable_inr);
    rules.finding_if(
        sum.abs_diff(total) > PREMIUM_TOLERANCE_INR,
        "PREMIUM_SUM",
        "/premium_breakdown/total_payable_inr",
        format_args!("The parts add up to {sum} INR, the total says {total} INR."),
    );
    let addons = quote.addons_included.iter().fold(0_i64, |sum, addon| sum.saturating_add(addon.premium_inr.0));
    let Inr(stated) = premium.addons_premium_inr;
    rules.finding_if(
        addons.abs_diff(stated) > PREMIUM_TOLERANCE_INR,
        "ADDONS_SUM",
        "/premium_breakdown/addons_premium_inr",
        format_args!("The addons add up to {addons} INR, their premium says {stated} INR."),
    );
}

/// What the parts come to. Amounts have no upper bound in the spec, so sums must not overflow.
fn sum_inr(premium: &PremiumBreakdown) -> i64 {
    let added = [
        premium.own_damage_premium_inr,
        premium.third_party_premium_inr,
        premium.long_term_tp_premium_inr,
        premium.addons_premium_inr,
        premium.gst_inr,
    ];
    let taken_off = premium.ncb_discount_inr.0.saturating_add(premium.other_discount_inr.0);
    added.iter().fold(0_i64, |sum, part| sum.saturating_add(part.0)).saturating_sub(taken_off)
}

/// A bonus needs a prior policy, no claim, no long lapse, and is never more than what may be carried forward.
fn check_no_claim_bonus(request: &MotorInsuranceRequest<'_>, quote: &MotorQuote<'_>, rules: &mut ItemRules) {
    let (previous, found) = (&request.previous_policy, quote.ncb_applied_pct);
    let at = "/ncb_applied_pct";
    let lapsed = previous.lapse_days(quote.policy_start_date).is_some_and(|days| days > LONG_LAPSE_DAYS);
    let why = if !previous.has_prior_policy {
        Some("there was no prior policy")
    } else if previous.has_claims() {
        Some("a claim was filed")
    } else if lapsed {
        Some("the policy lapsed for more than 90 days")
    } else {
        None
    };
    if let Some(why) = why {
        rules.drop_if(
            found > 0,
            "NCB_NOT_EARNED",
            at,
            format_args!("A bonus of {found} % is applied, although {why}."),
        );
    } else if let Some(stated) = previous.ncb_pct_carry_forward {
        // A negative figure is no reason to refuse a quote without a bonus.
        let most = stated.max(0);
        rules.drop_if(
            found > most,
            "NCB_ABOVE_CARRY_FORWARD",
            at,
            format_args!("A bonus of {found} % is applied; {most} % may be carried forward."),
        );
    }
    rules.finding_if(
        found == 0 && quote.premium_breakdown.ncb_discount_inr.0 > 0,
        "NCB_DISCOUNT_WITHOUT_BONUS",
        "/premium_breakdown/ncb_discount_inr",
        "A no-claim discount is taken off, although no bonus is applied.",
    );
}

/// A bundle lasts as long as the vehicle needs: 3 years for new cars, 5 for new two-wheelers, none for all else.
fn check_bundle_years(request: &MotorInsuranceRequest<'_>, quote: &MotorQuote<'_>, rules: &mut ItemRules) {
    let found = quote.long_term_tp_years;
    let needed = request.needed_bundle_years().unwrap_or(request.buyer_preferences.long_term_tp_years);
    let third_party = quote.policy_type.third_party();
    let sound = match third_party {
        ThirdParty::Held => found == needed,
        ThirdParty::Separate => found == needed || found == 0,
        ThirdParty::None => found == 0,
    };
    let expected = if third_party == ThirdParty::None { 0 } else { needed };
    let code = if expected > 0 { "LONG_TERM_TP_REQUIRED" } else { "LONG_TERM_TP_NOT_ALLOWED" };
    rules.drop_if(
        !sound,
        code,
        "/long_term_tp_years",
        format_args!("Found {found}; {} of this vehicle has {expected}.", quote.policy_type.value()),
    );
    rules.drop_if(
        sound && quote.policy_type == PolicyType::LongTermTpBundle && found == 0,
        "LONG_TERM_TP_NOT_ALLOWED",
        "/policy_type",
        "A long-term bundle is for new cars and new two-wheelers.",
    );
}

/// A policy ends after it starts, and as late as it says that it lasts.
fn check_dates(quote: &MotorQuote<'_>, rules: &mut ItemRules) {
    let (start, end) = (quote.policy_start_date, quote.policy_end_date);
    let at = "/policy_end_date";
    rules.drop_if(end <= start, "DATE_ORDER", at, "The policy must end after it starts.");
    let lasts = |years: i64| years > 0 && is_years_apart(start, end, years);
    rules.finding_if(
        end > start && !lasts(quote.tenure_years) && !lasts(quote.long_term_tp_years),
        "TENURE_MISMATCH",
        at,
        format_args!("The policy does not end {} years after it starts.", quote.tenure_years),
    );
}

/// Addons that cannot be had with this policy or for this vehicle. That one which was asked for is not there only
/// lowers the score.
fn check_addons(request: &MotorInsuranceRequest<'_>, quote: &MotorQuote<'_>, rules: &mut ItemRules) {
    for (index, addon) in quote.addons_included.iter().enumerate() {
        if let Some(clash) = addon.code.clash(quote.policy_type, request.vehicle.is_electric()) {
            rules.drop_if(
                true,
                "ADDON_INCOMPATIBLE",
                format_args!("/addons_included/{index}/code"),
                format_args!("{} {clash}.", addon.code.value()),
            );
        }
    }
}

/// An addon costs what its insurer has published, where that is known. Cards hold the premium of one year.
fn check_rate_cards(request: &MotorInsuranceRequest<'_>, quote: &MotorQuote<'_>, rules: &mut ItemRules) {
    if quote.tenure_years != 1 {
        return;
    }
    let age_months = request.age_months(quote.policy_start_date);
    for (index, addon) in quote.addons_included.iter().enumerate() {
        let sale = Sale {
            irdai_registration_number: &quote.insurer.irdai_registration_number,
            addon: addon.code,
            vehicle: request.vehicle.kind(),
            starts: quote.policy_start_date,
            age_months: age_months.clone(),
            idv_inr: quote.idv_inr.0,
        };
        let (published, Inr(found)) = (rate_cards::published_inr(rate_cards::KNOWN, &sale), addon.premium_inr);
        rules.finding_if(
            !published.is_empty() && published.iter().all(|inr| found.abs_diff(*inr) > PREMIUM_TOLERANCE_INR),
            "ADDON_OFF_RATE_CARD",
            format_args!("/addons_included/{index}/premium_inr"),
            format_args!("{} costs {found} INR; the insurer's rate card says {published:?}.", addon.code.value()),
        );
    }
}

/// A vehicle is inspected after a long lapse, after a claim, and for a used vehicle's first policy.
fn check_inspection(request: &MotorInsuranceRequest<'_>, quote: &MotorQuote<'_>, rules: &mut ItemRules) {
    let previous = &request.previous_policy;
    let lapse = previous.lapse_days(quote.policy_start_date).filter(|days| *days > LONG_LAPSE_DAYS);
    let why = if request.purchase_context == PurchaseContext::UsedVehicleFirstPolicy {
        "it is a used vehicle's first policy"
    } else if lapse.is_some() {
        "the policy lapsed for more than 90 days"
    } else if previous.has_claims() {
        "a claim was filed"
    } else {
        return;
    };
    rules.drop_if(
        !quote.inspection_required,
        "INSPECTION_OMITTED",
        "/inspection_required",
        format_args!("The vehicle must be inspected: {why}."),
    );
}
