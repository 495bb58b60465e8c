//! MotorQuote: one option of a search (spec 2). Every field is required.

use crate::cover::{AddonCode, IdvBasis, PolicyType};
use contract_sdk::common::PartnerReference;
use contract_sdk::shape::{Date, HttpsUrl, Inr, Text};
use contract_sdk::{SearchItem, Shape};

/// A quote for a policy.
#[derive(Debug, Shape)]
pub struct MotorQuote<'a> {
    /// The partner's identifier of the quote.
    pub quote_id: Text<'a>,
    /// Who insures.
    pub insurer: Insurer<'a>,
    /// Kind of policy.
    pub policy_type: PolicyType,
    /// Insured declared value in INR.
    #[shape(min = 0)]
    pub idv_inr: Inr,
    /// What the insured value is taken from.
    pub idv_basis: IdvBasis,
    /// What it costs.
    pub premium_breakdown: PremiumBreakdown,
    /// No-claim bonus applied, in percent.
    #[shape(min = 0, max = 50)]
    pub ncb_applied_pct: i64,
    /// Years of third-party cover in a bundle; 0 outside one.
    #[shape(one_of = [0, 3, 5])]
    pub long_term_tp_years: i64,
    /// Years that the policy lasts; in a bundle, its own-damage part.
    #[shape(min = 1, max = 3)]
    pub tenure_years: i64,
    /// First day of cover.
    pub policy_start_date: Date,
    /// Last day of cover.
    pub policy_end_date: Date,
    /// Addons in the quote; none where empty.
    pub addons_included: Vec<Addon<'a>>,
    /// Garages of the state that repair without payment by the user, at quote time.
    #[shape(min = 0)]
    pub cashless_garage_count_in_state: i64,
    /// Garages of the city that repair without payment by the user, at quote time.
    #[shape(min = 0)]
    pub cashless_garage_count_in_city: i64,
    /// The live directory of those garages.
    pub garage_directory_url: HttpsUrl<'a>,
    /// The wording of the policy, not a brochure.
    pub policy_wording_url: HttpsUrl<'a>,
    /// Whether the vehicle is inspected before the policy is issued.
    pub inspection_required: bool,
    /// Whether the policy can be issued at once.
    pub instant_issuance_possible: bool,
    /// Minutes until the policy is issued.
    #[shape(min = 1, max = 2880)]
    pub estimated_issuance_minutes: i64,
    /// Where the quote comes from.
    pub partner_reference: PartnerReference<'a>,
}

impl SearchItem for MotorQuote<'_> {
    fn id(&self) -> &str {
        &self.quote_id
    }
}

/// Who insures, and how it has served.
#[derive(Debug, Shape)]
pub struct Insurer<'a> {
    /// Identifier of the insurer.
    pub insurer_id: Text<'a>,
    /// Name shown to the user.
    pub name: Text<'a>,
    /// Name of the product.
    pub product_name: Text<'a>,
    /// The product's unique identification number, as approved by the regulator.
    pub product_uin: Text<'a>,
    /// Registration number at the regulator.
    pub irdai_registration_number: Text<'a>,
    /// Share of claims settled, in percent, by the regulator's latest publication.
    #[shape(min = 0, max = 100)]
    pub claim_settlement_ratio_pct: f64,
    /// Average days from the first report of a motor claim to its settlement.
    #[shape(min = 0)]
    pub motor_claim_settlement_days_avg: f64,
    /// Solvency ratio.
    #[shape(min = 1.0, max = 5.0)]
    pub solvency_ratio: f64,
}

/// What it costs, in INR.
#[derive(Debug, Shape)]
pub struct PremiumBreakdown {
    /// For own damage.
    #[shape(min = 0)]
    pub own_damage_premium_inr: Inr,
    /// For third parties, one year; never below the tariff.
    #[shape(min = 0)]
    pub third_party_premium_inr: Inr,
    /// For third parties, the years of a bundle beyond what third_party_premium_inr holds.
    #[shape(min = 0)]
    pub long_term_tp_premium_inr: Inr,
    /// For the addons.
    #[shape(min = 0)]
    pub addons_premium_inr: Inr,
    /// Taken off for years without a claim.
    #[shape(min = 0)]
    pub ncb_discount_inr: Inr,
    /// Taken off for other reasons.
    #[shape(min = 0)]
    pub other_discount_inr: Inr,
    /// Tax.
    #[shape(min = 0)]
    pub gst_inr: Inr,
    /// What the user pays in all.
    #[shape(min = 0)]
    pub total_payable_inr: Inr,
}

/// An addon in a quote.
#[derive(Debug, Shape)]
pub struct Addon<'a> {
    /// Which addon.
    pub code: AddonCode,
    /// The addon in words.
    pub label: Text<'a>,
    /// What it costs, in INR.
    #[shape(min = 0)]
    pub premium_inr: Inr,
}

impl MotorQuote<'_> {
    /// Whether an addon is in the quote.
    pub(crate) fn includes(&self, addon: AddonCode) -> bool {
        self.addons_included.iter().any(|included| included.code == addon)
    }
}
