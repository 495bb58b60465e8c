//! What a policy covers: kinds of policy, bases of the insured value, addons, and which of them go together (spec 2).

use contract_sdk::Vocabulary;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum PolicyType {
    ThirdPartyOnly,
    Comprehensive,
    OwnDamageOnly,
    StandaloneOdWithSeparateTp,
    LongTermTpBundle,
}

impl PolicyType {
    /// Whether the policy pays for damage to the insured vehicle itself.
    pub const fn covers_own_damage(self) -> bool {
        !matches!(self, Self::ThirdPartyOnly)
    }

    /// Whether the policy must hold third-party cover, may hold it, or does not.
    pub const fn third_party(self) -> ThirdParty {
        match self {
            Self::ThirdPartyOnly | Self::Comprehensive | Self::LongTermTpBundle => ThirdParty::Held,
            // Its third-party cover is a policy of its own, which the quote may or may not sell along.
            Self::StandaloneOdWithSeparateTp => ThirdParty::Separate,
            Self::OwnDamageOnly => ThirdParty::None,
        }
    }
}

/// Where the third-party cover of a policy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThirdParty {
    Held,
    Separate,
    None,
}

/// What the insured declared value (IDV) is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum IdvBasis {
    InvoiceValue,
    MarketValue,
    DeclaredMax,
    Custom,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Vocabulary)]
pub enum AddonCode {
    ZeroDep,
    EngineProtect,
    #[value("rsa_24x7")]
    Rsa24x7,
    ReturnToInvoice,
    Consumables,
    NcbProtect,
    KeyReplacement,
    PassengerCover,
    TyreProtect,
    DailyAllowance,
    GeoExtensionNepalBhutan,
    BatteryProtectEv,
    ChargerProtectEv,
    EvAssistance,
}

impl AddonCode {
    /// Whether the addon is for electric vehicles only, as its name says.
    const fn needs_electric(self) -> bool {
        matches!(self, Self::BatteryProtectEv | Self::ChargerProtectEv | Self::EvAssistance)
    }

    /// Whether the addon widens the own-damage cover, so that there is nothing to widen without one: it pays more of
    /// the vehicle's repair or loss (depreciation, engine, invoice, consumables, keys, tyres, battery, charger), or
    /// hangs on such a claim (the bonus, the days in the garage). Help on the road, cover of people, and cover
    /// abroad are sold beside third-party cover as well.
    const fn needs_own_damage(self) -> bool {
        match self {
            Self::ZeroDep
            | Self::EngineProtect
            | Self::ReturnToInvoice
            | Self::Consumables
            | Self::NcbProtect
            | Self::KeyReplacement
            | Self::TyreProtect
            | Self::DailyAllowance
            | Self::BatteryProtectEv
            | Self::ChargerProtectEv => true,
            Self::Rsa24x7 | Self::PassengerCover | Self::GeoExtensionNepalBhutan | Self::EvAssistance => false,
        }
    }

    /// Why the addon cannot be had with such a policy on such a vehicle; `None` where it can.
    pub const fn clash(self, policy: PolicyType, electric: bool) -> Option<&'static str> {
        if self.needs_electric() && !electric {
            Some("is for electric vehicles only")
        } else if self.needs_own_damage() && !policy.covers_own_damage() {
            Some("needs own-damage cover, which third_party_only has not")
        } else {
            None
        }
    }
}
