//! The card of an insurer that does not exist: no registration number is of this form. It shows how a card is written, and the
//! case files are held to it.

use super::{AddonRow, AgeBand, Rate, RateCard};
use crate::cover::AddonCode;
use crate::vehicle::VehicleKind;

pub(super) const CARD: RateCard = RateCard {
    irdai_registration_number: "IRDAI-EX-000",
    effective_from: "2026-01-01",
    source: "made up for the case files",
    rows: &[
        AddonRow {
            addon: AddonCode::ZeroDep,
            vehicles: &[VehicleKind::Car],
            ages: &[
                AgeBand { up_to_months: 36, rate: Rate::OfIdv { inr_per_lakh: 200 } },
                AgeBand { up_to_months: 60, rate: Rate::OfIdv { inr_per_lakh: 300 } },
            ],
        },
        AddonRow {
            addon: AddonCode::Rsa24x7,
            vehicles: &[],
            ages: &[AgeBand { up_to_months: AgeBand::ANY, rate: Rate::Fixed { inr: 600 } }],
        },
    ],
};
