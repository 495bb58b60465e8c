//! The band in which a vehicle may be insured: its insured declared value, IDV (spec 2, `IDV_OUT_OF_RANGE`; "IDV
//! bounds enforced" of the go-live requirements).
//!
//! The spec asks for a band and gives no figures. They are those of the motor tariff: the listed price of the vehicle,
//! less what the tariff takes off for its age ([`SCHEDULE`]). A request states one price, `invoice_value_inr`, and of the
//! vehicle's age only years, so the ends of the band are bounds that hold whatever is left open:
//!
//! - The lower end goes by the greatest age that the years allow, the upper end by the least.
//! - Both ends have a leeway of [`LEEWAY_PCT`].
//! - A newly purchased vehicle may be insured up to its invoice, without depreciation and without leeway: that is what
//!   `invoice_value` among the bases of the IDV means, and nothing new is worth more.
//! - Beyond five years insurer and owner agree on the value; an end whose age is greater is open.
//! - Without a price there is no band. The invoice of a used vehicle's first policy is the price of a used vehicle, to
//!   which the schedule does not apply: no band either.

use crate::request::{MotorInsuranceRequest, PurchaseContext};
use contract_sdk::shape::{Date, Inr};

/// What is taken off the price of a vehicle up to and including an age.
#[derive(Debug, Clone, Copy)]
pub struct Depreciation {
    pub up_to_months: i64,
    pub pct: i64,
}

/// Where [`SCHEDULE`] is from.
pub const SOURCE: &str =
    "India Motor Tariff, General Regulation 8 (IDV), which insurers have kept since rates were freed";

/// The schedule of age-wise depreciation for fixing the IDV. Beyond its last row the value is agreed.
pub const SCHEDULE: [Depreciation; 6] = [
    Depreciation { up_to_months: 6, pct: 5 },
    Depreciation { up_to_months: 12, pct: 15 },
    Depreciation { up_to_months: 24, pct: 20 },
    Depreciation { up_to_months: 36, pct: 30 },
    Depreciation { up_to_months: 48, pct: 40 },
    Depreciation { up_to_months: 60, pct: 50 },
];

/// By how much, in percent, an IDV may lie above or below what the schedule gives. The figure is this project's own: insurers
/// let an owner choose up to some 15 % more or less, and the other 10 % are for what lies between an invoice and the
/// listed price on the first day of the policy (taxes, accessories, new price lists).
pub const LEEWAY_PCT: i64 = 25;

/// The least and the greatest IDV in INR; an end that is `None` is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Band {
    pub least: Option<i64>,
    pub most: Option<i64>,
}

impl Band {
    /// The band of the vehicle on the first day of a policy; `None` where the request does not allow for one.
    pub fn of(request: &MotorInsuranceRequest<'_>, starts: Date) -> Option<Self> {
        let Inr(price) = request.vehicle.invoice_value_inr.value().filter(|price| price.0 > 0)?;
        let age = request.age_months(starts)?;
        let least = pct_left(*age.end()).map(|left| share(price, left, 100 - LEEWAY_PCT).0);
        let most = match request.purchase_context {
            PurchaseContext::NewlyPurchased => Some(price),
            PurchaseContext::Switching | PurchaseContext::LapsedFresh => {
                pct_left(*age.start()).map(|left| share(price, left, 100 + LEEWAY_PCT).1)
            }
            PurchaseContext::UsedVehicleFirstPolicy => return None,
        };
        Some(Self { least, most })
    }
}

/// What the schedule leaves of the price at an age, in percent; `None` where the value is agreed.
fn pct_left(months: i64) -> Option<i64> {
    SCHEDULE.iter().find(|row| months <= row.up_to_months).map(|row| 100 - row.pct)
}

/// A percentage of a percentage of the price, in whole rupees: rounded down, and rounded up.
fn share(price: i64, left_pct: i64, leeway_pct: i64) -> (i64, i64) {
    const WHOLE: i128 = 100 * 100;
    let parts = i128::from(price) * i128::from(left_pct) * i128::from(leeway_pct);
    let rupees = |amount: i128| i64::try_from(amount).unwrap_or(i64::MAX);
    (rupees(parts / WHOLE), rupees((parts + WHOLE - 1) / WHOLE))
}
