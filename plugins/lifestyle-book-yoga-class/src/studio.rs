//! `yoga_studio`: the block of an option that says who offers the class (spec 3, table of `yoga_studio`).
//! Every field is required; each group of the table is an object.

use crate::vocabulary::{StudioFloorKind, StudioKind, YogaLineage};
use contract_sdk::Shape;
use contract_sdk::shape::{Date, DateTime, False, Inr, RawJson, Text, WebUrl};

#[derive(Debug, Shape)]
pub struct YogaStudio<'a> {
    /// Who it is.
    pub identity: Identity<'a>,
    /// Where it is.
    pub address: Address<'a>,
    /// Distance from the user in km.
    pub distance_from_user_km: f64,
    /// What earlier visitors say.
    pub ratings: StudioRatings,
    /// When it is open.
    pub operating_hours: OperatingHours<'a>,
    /// What it has.
    pub amenities: Amenities<'a>,
    /// Why it can be trusted.
    pub trust: Trust<'a>,
    /// What it looks like.
    pub photos: Photos<'a>,
}

/// Who the studio is.
#[derive(Debug, Shape)]
pub struct Identity<'a> {
    /// The partner's identifier of the studio; it also names the option.
    pub id: Text<'a>,
    /// The partner's identifier of the merchant.
    pub merchant_id: Text<'a>,
    /// Name shown to the user.
    pub name: Text<'a>,
    /// Brand.
    pub brand: Text<'a>,
    /// Kind of studio.
    pub studio_kind: StudioKind,
    /// Age of the studio's account with the partner in days.
    #[shape(min = 0)]
    pub partner_account_age_days: i64,
    /// Classes offered in the past 30 days.
    #[shape(min = 0)]
    pub total_classes_offered_30day: i64,
    /// Members who are active.
    #[shape(min = 0)]
    pub total_active_members: i64,
    /// Calendar year in which it was founded.
    pub founded_year: i64,
    /// Lineage; it must be verifiable by a certificate or a documented chain of teachers.
    pub yoga_lineage: YogaLineage,
}

/// Where the studio is.
#[derive(Debug, Shape)]
pub struct Address<'a> {
    /// House and street.
    pub line_1: Text<'a>,
    /// Neighbourhood.
    pub neighborhood: Text<'a>,
    /// City.
    pub city: Text<'a>,
    /// Postal code.
    pub pincode: Text<'a>,
    /// What it is near to.
    pub landmark: Text<'a>,
    /// Latitude in degrees.
    pub lat: f64,
    /// Longitude in degrees.
    pub lng: f64,
    /// Identifier of the place on a map.
    pub map_place_id: Text<'a>,
}

/// What earlier visitors say of the studio.
#[derive(Debug, Shape)]
pub struct StudioRatings {
    /// Mean of all ratings.
    #[shape(min = 0, max = 5)]
    pub overall_score: f64,
    /// Mean of the past 30 days.
    #[shape(min = 0, max = 5)]
    pub recent_30day_score: f64,
    /// Cleanliness.
    #[shape(min = 0, max = 5)]
    pub cleanliness_score: f64,
    /// Skill of the instructors.
    #[shape(min = 0, max = 5)]
    pub instructor_skill_score: f64,
    /// Ambience.
    #[shape(min = 0, max = 5)]
    pub ambience_score: f64,
    /// Number of ratings.
    #[shape(min = 0)]
    pub overall_count: i64,
    /// Share of the classes of the past 30 days that began on time.
    #[shape(min = 0, max = 1)]
    pub on_time_30day_pct: f64,
}

/// When the studio is open.
#[derive(Debug, Shape)]
pub struct OperatingHours<'a> {
    /// Whether it is open at the time of the answer.
    pub is_open_now: bool,
    /// When it opens next.
    pub next_open_iso: DateTime,
    /// When it closes next.
    pub next_close_iso: DateTime,
    /// Whether it never closes.
    pub is_24x7: bool,
    /// One entry for each day of the week, as in the gym session intent.
    #[shape(items = 7)]
    pub hours_of_operation: Vec<RawJson<'a>>,
}

/// What the studio has.
#[derive(Debug, Shape)]
pub struct Amenities<'a> {
    /// Air-conditioning.
    pub air_conditioning: bool,
    /// Fans and no air-conditioning.
    pub fan_only: bool,
    /// Daylight.
    pub natural_lighting: bool,
    /// Showers with hot water.
    pub showers_with_hot_water: bool,
    /// Lockers with a secure lock.
    pub locker_secure_lock: bool,
    /// Parking.
    pub parking_available: bool,
    /// Filtered drinking water.
    pub drinking_water_filtered: bool,
    /// A zone where silence is kept.
    pub quiet_zone_strict: bool,
    /// A room for silent meditation.
    pub silent_meditation_room: bool,
    /// A floor on which nobody slips.
    pub floor_anti_slip: bool,
    /// Cameras on the premises.
    pub cctv_in_premises: bool,
    /// A panic button on the floor.
    pub panic_button_at_floor: bool,
    /// Access by wheelchair.
    pub wheelchair_accessible: bool,
    /// Childcare.
    pub childcare_available: bool,
    /// Hours with classes for women only.
    pub female_only_class_hours_available: bool,
    /// Hours with classes for men only.
    pub male_only_class_hours_available: bool,
    /// Number of showers.
    #[shape(min = 0)]
    pub showers_count: i64,
    /// Number of lockers.
    #[shape(min = 0)]
    pub lockers_count: i64,
    /// Number of changing rooms.
    #[shape(min = 0)]
    pub changing_rooms_count: i64,
    /// Kind of parking; the values are those of the gym session intent.
    pub parking_kind: Text<'a>,
    /// Kind of floor.
    pub studio_floor_kind: StudioFloorKind,
}

/// Why the studio can be trusted.
#[derive(Debug, Shape)]
pub struct Trust<'a> {
    /// Number of the municipal licence.
    pub municipal_license_number: Text<'a>,
    /// Last day of the municipal licence.
    pub municipal_license_valid_until: Date,
    /// When the last safety audit took place.
    pub safety_audit_iso: DateTime,
    /// Its result.
    #[shape(min = 0, max = 100)]
    pub safety_audit_score: i64,
    /// Share of the staff whose identity is verified, in percent.
    #[shape(min = 0, max = 100)]
    pub employee_kyc_pct: i64,
    /// Insurance cover in INR.
    pub insurance_coverage_inr: Inr,
    /// A defibrillator.
    pub aed_defibrillator_present: bool,
    /// A first-aid kit; without one there is no booking.
    pub first_aid_kit_present: bool,
    /// Fire safety as the law asks; without it there is no booking.
    pub fire_safety_compliant: bool,
    /// Whether the platform's field team has been there.
    pub platform_field_team_audited: bool,
}

/// What the studio looks like.
#[derive(Debug, Shape)]
pub struct Photos<'a> {
    /// Small photo.
    pub thumbnail_url: WebUrl<'a>,
    /// Large photo.
    pub hero_url: WebUrl<'a>,
    /// Photos of the floor.
    pub studio_floor_photos_url: WebUrl<'a>,
    /// Photos of the instructors.
    pub instructors_photos_url: WebUrl<'a>,
    /// Always false: photos show what is there.
    pub ai_generated_photos: False,
}
