//! The taste axis: the six signals of the spec, and the preferences that lower it (spec 3, "TTBS rules").
//!
//! Taste is the blend of the signals times what the preferences leave of it: `1 - 0.3 x share missed`. With every
//! preference met, taste is the spec's blend and nothing else. No preference drops an option. A class that does not suit
//! a condition of the user loses a share of that ([`crate::conditions`]).
//!
//! The parts are computed once per studio, class and instructor, since an option may have many slots.

use crate::conditions::{self, Notices};
use crate::option::{YogaClassItem, YogaClassOption, YogaInstructorProfile};
use crate::request::YogaClassRequest;
use crate::studio::YogaStudio;
use crate::vocabulary::{PassKind, PregnantOrPostpartum, SessionKind, Specialization, YogaLineage, YogaStyle};
use contract_sdk::shape::Vocabulary;
use contract_sdk::{NEUTRAL, Signals, unit};

/// The signals and their weights.
pub(crate) const TASTE: &Signals<6> = &Signals::new([
    ("instructor_skill_score", 0.25),
    ("recent_30day_score", 0.15),
    ("specialization_matches_style", 0.20),
    ("certification_acceptable", 0.20),
    ("lineage_matches_style", 0.10),
    ("props_satisfied", 0.10),
]);

/// What preferences can take from the taste at most.
const PREFERENCE_SHARE: f64 = 0.3;
/// What an acceptable value is worth where another is preferred.
const ACCEPTABLE: f64 = 0.8;
/// Best score of a rating.
const MAX_SCORE: f64 = 5.0;

/// Preferences that the request states, and how far they are met. Which of them are stated depends on the request
/// alone, so the shares of different classes and instructors compare.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    met: f64,
    stated: f64,
}

impl Tally {
    fn add(&mut self, met: f64) {
        self.met += unit(met);
        self.stated += 1.0;
    }

    fn add_if(&mut self, stated: bool, met: f64) {
        if stated {
            self.add(met);
        }
    }
}

/// What a studio brings to the taste.
pub(crate) struct StudioTaste {
    skill: f64,
    recent: f64,
    preferences: Tally,
}

impl StudioTaste {
    pub(crate) fn of(request: &YogaClassRequest<'_>, option: &YogaClassOption<'_>) -> Self {
        let studio = &option.yoga_studio;
        let wishes = &request.preferences;
        let (ratings, amenities) = (&studio.ratings, &studio.amenities);
        let mut preferences = Tally::default();
        preferences.add(rate_match(
            studio.identity.studio_kind,
            &wishes.studio_kind_acceptable,
            wishes.studio_kind_preferred,
        ));
        preferences.add(ratings.instructor_skill_score / request.yoga_intent.min_instructor_skill as f64);
        let asked = |flag: Option<bool>| flag == Some(true);
        let showers = amenities.showers_count > 0 || amenities.showers_with_hot_water;
        let lockers = amenities.lockers_count > 0 || amenities.locker_secure_lock;
        preferences.add_if(asked(wishes.shower_required), f64::from(showers));
        preferences.add_if(asked(wishes.locker_required), f64::from(lockers));
        preferences
            .add_if(asked(wishes.ac_or_fan_required), f64::from(amenities.air_conditioning || amenities.fan_only));
        preferences.add_if(asked(wishes.parking_required), f64::from(amenities.parking_available));
        preferences.add_if(asked(wishes.single_gender_class_required), f64::from(single_gender_hours(request, studio)));
        if let Some(kind) = pass_kind_for(request.session_kind) {
            preferences.add(f64::from(option.session_pass.pass_kind == kind));
        }
        Self {
            skill: ratings.instructor_skill_score / MAX_SCORE,
            recent: ratings.recent_30day_score / MAX_SCORE,
            preferences,
        }
    }
}

/// Whether there are hours for the user's gender alone. The values of gender are not shown; where it is neither of
/// the two that have hours of their own, either will do.
fn single_gender_hours(request: &YogaClassRequest<'_>, studio: &YogaStudio<'_>) -> bool {
    let (female, male) =
        (studio.amenities.female_only_class_hours_available, studio.amenities.male_only_class_hours_available);
    match request.user_yoga_profile.gender.as_deref() {
        Some("female") => female,
        Some("male") => male,
        _ => female || male,
    }
}

/// The pass that a kind of session is sold with; workshops and introductions to retreats have none of their own.
const fn pass_kind_for(session: SessionKind) -> Option<PassKind> {
    match session {
        SessionKind::DropInClass => Some(PassKind::SingleClass),
        SessionKind::TrialClass => Some(PassKind::TrialClass),
        SessionKind::PrivateSession => Some(PassKind::PrivateWithInstructor),
        SessionKind::GuestPass => Some(PassKind::GuestPass),
        SessionKind::ThemedWorkshop | SessionKind::RetreatIntro => None,
    }
}

/// What a class brings to the taste.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClassTaste {
    /// What the user's conditions leave of the taste.
    suits: f64,
    pub(crate) notices: Notices,
    style: YogaStyle,
    lineage: f64,
    props: f64,
    preferences: Tally,
}

impl ClassTaste {
    pub(crate) fn of(request: &YogaClassRequest<'_>, studio: &YogaStudio<'_>, class: &YogaClassItem<'_>) -> Self {
        let intent = &request.yoga_intent;
        let mut preferences = Tally::default();
        preferences.add(rate_match(
            class.yoga_style,
            &intent.yoga_styles_acceptable,
            Some(intent.yoga_style_preferred),
        ));
        preferences.add(rate_match(class.class_kind, &intent.class_kind_acceptable, intent.class_kind_preferred));
        preferences.add(f64::from(intent.temperature_kind_acceptable.contains(&class.temperature_kind)));
        preferences.add(room(class, intent.max_class_size));
        if let Some(asked) = request.duration_minutes.filter(|minutes| *minutes > 0) {
            preferences.add(1.0 - (class.duration_minutes as f64 - asked as f64).abs() / asked as f64);
        }
        let recovering = request.user_yoga_profile.pregnant_or_postpartum == PregnantOrPostpartum::PostpartumOver6mo;
        preferences.add_if(recovering, f64::from(class.postpartum_friendly));
        let (suits, notices) = conditions::suit(&request.user_yoga_profile, class);
        Self {
            suits,
            notices,
            style: class.yoga_style,
            lineage: lineage_fit(studio.identity.yoga_lineage, class.yoga_style),
            props: share_of_props(request, class),
            preferences,
        }
    }
}

/// 1 where never more come than the user wants, half where only the average stays below.
fn room(class: &YogaClassItem<'_>, most: i64) -> f64 {
    (f64::from(class.class_size_max <= most) + f64::from(class.class_size_typical <= most)) / 2.0
}

/// Share of the required props that the class provides.
fn share_of_props(request: &YogaClassRequest<'_>, class: &YogaClassItem<'_>) -> f64 {
    let required = &request.yoga_intent.props_required;
    if required.is_empty() {
        return 1.0;
    }
    let provided = required.iter().filter(|prop| class.props_provided.contains(prop)).count();
    provided as f64 / required.len() as f64
}

/// What a gender preference says where there is none. The inherited values are not shown; these are the usual words.
const NO_WISH: [&str; 3] = ["any", "no_preference", "none"];

/// What an instructor brings to the taste.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InstructorTaste {
    /// The styles of all specializations.
    styles: StyleSet,
    certified: f64,
    preferences: Tally,
}

impl InstructorTaste {
    pub(crate) fn of(request: &YogaClassRequest<'_>, instructor: &YogaInstructorProfile<'_>) -> Self {
        let wishes = &request.preferences;
        let styles = instructor.specializations.iter().fold(0, |styles, held| styles | styles_of(*held));
        let accepted = |value: &str| {
            wishes.instructor_certification_authority_acceptable.iter().any(|acceptable| **acceptable == *value)
        };
        let certified = instructor.certifications.iter().any(|held| accepted(held.value()))
            || instructor.certifying_authorities.iter().any(|held| accepted(held.value()));
        let mut preferences = Tally::default();
        let gender = wishes.instructor_gender_preference.as_deref().filter(|wish| !NO_WISH.contains(wish));
        if let Some(gender) = gender {
            preferences.add(f64::from(*instructor.gender == *gender));
        }
        if let Some(years) = wishes.instructor_min_experience_years {
            preferences.add(f64::from(instructor.experience_years >= years));
        }
        preferences.add_if(wishes.instructor_certifications_required, f64::from(certified));
        Self { styles, certified: f64::from(certified), preferences }
    }
}

/// The taste of a studio, a class and an instructor together.
pub(crate) fn blend(studio: &StudioTaste, class: &ClassTaste, instructor: &InstructorTaste) -> f64 {
    let signals = TASTE.blend([
        studio.skill,
        studio.recent,
        specialization_fit(instructor.styles, class.style),
        instructor.certified,
        class.lineage,
        class.props,
    ]);
    let parts = [studio.preferences, class.preferences, instructor.preferences];
    let (met, stated) = parts.iter().fold((0.0, 0.0), |(met, stated), part| (met + part.met, stated + part.stated));
    // At least the kinds of studio and class are always stated.
    signals * (1.0 - PREFERENCE_SHARE * (1.0 - met / stated)) * class.suits
}

/// 1 for what is preferred, or for anything acceptable where nothing is; a little less for what is only acceptable.
fn rate_match<V: PartialEq>(found: V, acceptable: &[V], preferred: Option<V>) -> f64 {
    match preferred {
        Some(preferred) if preferred == found => 1.0,
        Some(_) if acceptable.contains(&found) => ACCEPTABLE,
        Some(_) => 0.0,
        None => f64::from(acceptable.contains(&found)),
    }
}

/// A set of styles; bit n is the style that the vocabulary lists at n.
type StyleSet = u32;

const fn set(styles: &[YogaStyle]) -> StyleSet {
    let mut bits = 0;
    let mut index = 0;
    while index < styles.len() {
        bits |= 1 << styles[index] as u32;
        index += 1;
    }
    bits
}

const fn holds(styles: StyleSet, style: YogaStyle) -> bool {
    styles & (1 << style as u32) != 0
}

/// Which styles a specialization is for. Teaching Sanskrit goes with mantra; rehabilitation of the back with the
/// gentle, supported styles.
const fn styles_of(specialization: Specialization) -> StyleSet {
    use YogaStyle as Style;
    match specialization {
        Specialization::HathaSpecialist => set(&[Style::Hatha]),
        Specialization::VinyasaSpecialist => set(&[Style::Vinyasa, Style::PowerYoga]),
        Specialization::IyengarCertified => set(&[Style::Iyengar]),
        Specialization::AshtangaCertified => set(&[Style::Ashtanga, Style::PowerYoga]),
        Specialization::KundaliniCertified => set(&[Style::Kundalini]),
        Specialization::PrenatalCertified => set(&[Style::Prenatal]),
        Specialization::PostpartumCertified => set(&[Style::Postpartum]),
        Specialization::YinSpecialist => set(&[Style::Yin, Style::Restorative]),
        Specialization::MeditationTeacher => set(&[Style::Meditative]),
        Specialization::MantraChanting => set(&[Style::Mantra, Style::Bhakti]),
        Specialization::SanskritTeacher => set(&[Style::Mantra]),
        Specialization::SeniorYogaSpecialist => set(&[Style::ChairYoga]),
        Specialization::BackPainRehabYoga => set(&[Style::Restorative, Style::ChairYoga]),
    }
}

/// Styles for which the vocabulary has no specialization: nobody can show one, so nobody is better or worse.
const WITHOUT_SPECIALIST: StyleSet = set(&[
    YogaStyle::HotYoga,
    YogaStyle::HotSequenceStyle,
    YogaStyle::StyleBrandA,
    YogaStyle::Sivananda,
    YogaStyle::AerialYoga,
    YogaStyle::AquaYoga,
]);

fn specialization_fit(styles: StyleSet, style: YogaStyle) -> f64 {
    if holds(WITHOUT_SPECIALIST, style) { NEUTRAL } else { f64::from(holds(styles, style)) }
}

/// Styles that belong to no lineage of the vocabulary; again nobody is better or worse.
const WITHOUT_LINEAGE: StyleSet = set(&[
    YogaStyle::AerialYoga,
    YogaStyle::AquaYoga,
    YogaStyle::ChairYoga,
    YogaStyle::Prenatal,
    YogaStyle::Postpartum,
]);

/// Which styles a lineage stands for. A mixed studio is half at home in each.
fn lineage_fit(lineage: YogaLineage, style: YogaStyle) -> f64 {
    use YogaStyle as Style;
    let styles = match lineage {
        YogaLineage::Mixed => return NEUTRAL,
        YogaLineage::Iyengar | YogaLineage::IyengarFounderLineage => set(&[Style::Iyengar, Style::Restorative]),
        YogaLineage::Ashtanga => set(&[Style::Ashtanga, Style::PowerYoga]),
        YogaLineage::Sivananda => set(&[Style::Sivananda, Style::Hatha, Style::Bhakti]),
        YogaLineage::Kundalini => set(&[Style::Kundalini, Style::Mantra, Style::Meditative]),
        YogaLineage::HathaTraditional => {
            set(&[Style::Hatha, Style::Yin, Style::Restorative, Style::Meditative, Style::Mantra, Style::Bhakti])
        }
        YogaLineage::VinyasaModern => set(&[Style::Vinyasa, Style::PowerYoga, Style::HotYoga]),
        YogaLineage::ModernLineage => {
            set(&[Style::Vinyasa, Style::PowerYoga, Style::HotYoga, Style::HotSequenceStyle, Style::Yin])
        }
        YogaLineage::PartnerMethod => set(&[Style::StyleBrandA]),
    };
    if holds(WITHOUT_LINEAGE, style) { NEUTRAL } else { f64::from(holds(styles, style)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_style() -> impl Iterator<Item = YogaStyle> {
        YogaStyle::DESC.values.iter().filter_map(|value| YogaStyle::from_value(value))
    }

    #[test]
    fn every_style_has_a_specialist_or_needs_none() {
        let specialists = Specialization::DESC.values.iter().filter_map(|value| Specialization::from_value(value));
        let served = specialists.fold(0, |styles, held| styles | styles_of(held));
        assert_eq!(served & WITHOUT_SPECIALIST, 0);
        assert!(every_style().all(|style| holds(served | WITHOUT_SPECIALIST, style)));
        assert_eq!(specialization_fit(styles_of(Specialization::YinSpecialist), YogaStyle::Yin), 1.0);
        assert_eq!(specialization_fit(styles_of(Specialization::YinSpecialist), YogaStyle::Hatha), 0.0);
        assert_eq!(specialization_fit(0, YogaStyle::HotYoga), NEUTRAL);
    }

    #[test]
    fn every_style_has_a_lineage_or_needs_none() {
        let lineages = || YogaLineage::DESC.values.iter().filter_map(|value| YogaLineage::from_value(value));
        for style in every_style() {
            let best = lineages().map(|lineage| lineage_fit(lineage, style)).fold(0.0, f64::max);
            assert_eq!(best, if holds(WITHOUT_LINEAGE, style) { NEUTRAL } else { 1.0 }, "{style:?}");
            assert_eq!(lineage_fit(YogaLineage::Mixed, style), NEUTRAL);
        }
    }

    #[test]
    fn the_preferred_is_liked_best() {
        assert_eq!(rate_match(1, &[1, 2], Some(1)), 1.0);
        assert_eq!(rate_match(1, &[2], Some(1)), 1.0);
        assert_eq!(rate_match(2, &[1, 2], Some(1)), ACCEPTABLE);
        assert_eq!(rate_match(3, &[1, 2], Some(1)), 0.0);
        assert_eq!((rate_match(2, &[1, 2], None), rate_match(3, &[1, 2], None)), (1.0, 0.0));
    }
}
