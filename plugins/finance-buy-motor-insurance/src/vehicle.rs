//! The vehicle to insure: its block of the input, and what follows from what it is (spec 2).

use contract_sdk::shape::{Date, Inr, Nullable, RuledNullable, Text};
use contract_sdk::{Shape, Vocabulary};
use std::ops::RangeInclusive;

#[derive(Debug, Shape)]
pub struct Vehicle<'a> {
    /// What kind of vehicle it is.
    #[shape(rename = "type")]
    pub vehicle_type: VehicleType,
    /// Kind of vehicle within its type.
    pub subtype: Option<VehicleSubtype>,
    /// Maker.
    pub make: Option<Text<'a>>,
    /// Model.
    pub model: Option<Text<'a>>,
    /// Variant of the model.
    pub variant: Option<Text<'a>>,
    /// What it runs on.
    pub fuel_type: FuelType,
    /// Engine size in cc.
    pub engine_cc: Option<i64>,
    /// Motor power in kW; never null for an electric vehicle.
    pub kw_rating: RuledNullable<i64>,
    /// Battery in kWh; never null for an electric vehicle.
    pub battery_kwh: RuledNullable<f64>,
    /// Calendar year in which it was built.
    pub year_of_manufacture: Option<i64>,
    /// Calendar year in which it was first registered.
    pub year_of_first_registration: Option<i64>,
    /// Registration number.
    pub registration_number: Option<Text<'a>>,
    /// State or territory of registration.
    pub registration_state: RegistrationState,
    /// Regional transport office.
    pub rto_office: Option<Text<'a>>,
    /// The last four characters of the chassis number, and no more.
    #[shape(len = 4)]
    pub chassis_number_last4: Option<Text<'a>>,
    /// The last four characters of the engine number, and no more.
    #[shape(len = 4)]
    pub engine_number_last4: Option<Text<'a>>,
    /// What the invoice says, in INR; never null for a newly purchased vehicle.
    #[shape(min = 0)]
    pub invoice_value_inr: RuledNullable<Inr>,
    /// How many people it carries, the driver among them; asked of private vehicles, and of use for taxis and buses.
    pub carrying_capacity_persons: Option<i64>,
    /// How much it carries, in tonnes; for commercial vehicles only.
    pub carrying_capacity_tonnes: Option<Nullable<f64>>,
}

impl Vehicle<'_> {
    /// What the vehicle is, as far as bundles and the tariff care.
    pub fn kind(&self) -> VehicleKind {
        match self.vehicle_type {
            VehicleType::Car => VehicleKind::Car,
            VehicleType::TwoWheeler => VehicleKind::TwoWheeler,
            // A private subtype does not make a commercial vehicle private: no bundle is for it.
            VehicleType::Commercial => self
                .subtype
                .filter(|subtype| subtype.belongs_to(VehicleType::Commercial))
                .map_or(VehicleKind::OtherCommercial, VehicleSubtype::kind),
            VehicleType::Ev => self.subtype.map_or(VehicleKind::ElectricUnspecified, VehicleSubtype::kind),
        }
    }

    /// Whether it is electric. Any member that says so is believed: the electric tariff is the lower one.
    pub fn is_electric(&self) -> bool {
        self.vehicle_type == VehicleType::Ev
            || self.fuel_type == FuelType::Electric
            || self.subtype.is_some_and(VehicleSubtype::is_electric)
    }

    /// The least and the greatest age that the vehicle may have on a day, in months, a month that has begun counting
    /// whole. Only years are stated, so it may date from the last day of the later one or from the first day of the
    /// earlier one. `None` where no year is stated.
    pub(crate) fn age_months(&self, on: Date) -> Option<RangeInclusive<i64>> {
        let years = || [self.year_of_manufacture, self.year_of_first_registration].into_iter().flatten();
        let (earliest, latest) = (years().min()?, years().max()?);
        let (year, month, day) = on.civil();
        let months_since = |built: i64| year.saturating_sub(built).saturating_mul(12);
        let least = months_since(latest).saturating_add(month - 12);
        let greatest = months_since(earliest).saturating_add(month - i64::from(day == 1));
        Some(least.max(0)..=greatest.max(0))
    }

    /// By what the tariff bands the vehicle: the motor's power in kW or the engine's size in cc.
    pub(crate) fn size(&self, electric: bool) -> Option<f64> {
        let size = if electric { self.kw_rating.value() } else { self.engine_cc };
        size.map(|size| size as f64)
    }
}

/// What a vehicle is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VehicleKind {
    Car,
    TwoWheeler,
    /// Electric, and neither known to be a car nor a two-wheeler.
    ElectricUnspecified,
    Taxi,
    SchoolBus,
    GoodsCarrier {
        heavy: bool,
    },
    OtherCommercial,
}

impl VehicleKind {
    /// Years of third-party cover that such a vehicle needs when it is new (spec 2, anti-fabrication preamble);
    /// `None` where the kind does not tell.
    pub const fn bundle_years(self) -> Option<i64> {
        match self {
            Self::Car => Some(3),
            Self::TwoWheeler => Some(5),
            Self::ElectricUnspecified => None,
            Self::Taxi | Self::SchoolBus | Self::GoodsCarrier { .. } | Self::OtherCommercial => Some(0),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum VehicleType {
    Car,
    TwoWheeler,
    Commercial,
    Ev,
}

/// Kinds of vehicle within their types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum VehicleSubtype {
    PrivateCar,
    Suv,
    Mpv,
    Hatchback,
    Sedan,
    Scooter,
    Motorcycle,
    Moped,
    EScooter,
    EMotorcycle,
    Taxi,
    SchoolBus,
    GoodsCarrierLcv,
    GoodsCarrierHcv,
    PassengerCarrier,
    ECar,
    EBikeCommercial,
}

impl VehicleSubtype {
    /// What such a vehicle is.
    pub const fn kind(self) -> VehicleKind {
        match self {
            Self::PrivateCar | Self::Suv | Self::Mpv | Self::Hatchback | Self::Sedan | Self::ECar => VehicleKind::Car,
            Self::Scooter | Self::Motorcycle | Self::Moped | Self::EScooter | Self::EMotorcycle => {
                VehicleKind::TwoWheeler
            }
            Self::Taxi => VehicleKind::Taxi,
            Self::SchoolBus => VehicleKind::SchoolBus,
            Self::GoodsCarrierLcv => VehicleKind::GoodsCarrier { heavy: false },
            Self::GoodsCarrierHcv => VehicleKind::GoodsCarrier { heavy: true },
            Self::PassengerCarrier | Self::EBikeCommercial => VehicleKind::OtherCommercial,
        }
    }

    /// Whether the subtype itself says that the vehicle is electric.
    pub const fn is_electric(self) -> bool {
        matches!(self, Self::EScooter | Self::EMotorcycle | Self::ECar | Self::EBikeCommercial)
    }

    /// Whether a vehicle of this type can be of this subtype. An `ev` may be any private vehicle, or the commercial
    /// one that is electric by its name; the other commercial ones are `commercial` with an electric `fuel_type`.
    pub const fn belongs_to(self, vehicle_type: VehicleType) -> bool {
        match (vehicle_type, self.kind()) {
            (VehicleType::Car, kind) => matches!(kind, VehicleKind::Car),
            (VehicleType::TwoWheeler, kind) => matches!(kind, VehicleKind::TwoWheeler),
            (VehicleType::Commercial, kind) => !matches!(kind, VehicleKind::Car | VehicleKind::TwoWheeler),
            (VehicleType::Ev, VehicleKind::Car | VehicleKind::TwoWheeler) => true,
            (VehicleType::Ev, _) => self.is_electric(),
        }
    }
}

/// What a vehicle runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum FuelType {
    Petrol,
    Diesel,
    Cng,
    Lpg,
    Electric,
    Hybrid,
}

/// States and territories of India, by the codes of number plates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum RegistrationState {
    #[value("AP")]
    Ap,
    #[value("AR")]
    Ar,
    #[value("AS")]
    As,
    #[value("BR")]
    Br,
    #[value("CG")]
    Cg,
    #[value("GA")]
    Ga,
    #[value("GJ")]
    Gj,
    #[value("HR")]
    Hr,
    #[value("HP")]
    Hp,
    #[value("JH")]
    Jh,
    #[value("KA")]
    Ka,
    #[value("KL")]
    Kl,
    #[value("MP")]
    Mp,
    #[value("MH")]
    Mh,
    #[value("MN")]
    Mn,
    #[value("ML")]
    Ml,
    #[value("MZ")]
    Mz,
    #[value("NL")]
    Nl,
    #[value("OD")]
    Od,
    #[value("PB")]
    Pb,
    #[value("RJ")]
    Rj,
    #[value("SK")]
    Sk,
    #[value("TN")]
    Tn,
    #[value("TS")]
    Ts,
    #[value("TR")]
    Tr,
    #[value("UP")]
    Up,
    #[value("UK")]
    Uk,
    #[value("WB")]
    Wb,
    #[value("AN")]
    An,
    #[value("CH")]
    Ch,
    #[value("DN")]
    Dn,
    #[value("DD")]
    Dd,
    #[value("DL")]
    Dl,
    #[value("JK")]
    Jk,
    #[value("LA")]
    La,
    #[value("LD")]
    Ld,
    #[value("PY")]
    Py,
}
