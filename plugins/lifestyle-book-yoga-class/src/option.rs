//! The rest of an option: classes, slots, instructors, the pass, and the blocks that are inherited and not shown
//! (spec 3, YogaClassOption, YogaClassItem, YogaInstructorProfile).

use crate::judge::Choice;
use crate::studio::YogaStudio;
use crate::vocabulary::{
    Certification, CertifyingAuthority, ClassKind, DifficultyLevel, PassInclusion, PassKind, Prop, Specialization,
    TemperatureKind, TrainedInLineage, YogaStyle,
};
use contract_sdk::json::Parser;
use contract_sdk::shape::{At, DateTime, Described, False, Inr, LocaleTag, RawJson, Text, ValueDesc, WebUrl};
use contract_sdk::{SearchItem, Shape, Violations};
use std::borrow::Cow;
use std::cell::Cell;

/// One option of a search: a studio with its classes, slots, instructors and pass.
#[derive(Debug, Shape)]
pub struct YogaClassOption<'a> {
    /// The studio.
    pub yoga_studio: YogaStudio<'a>,
    /// The classes that it gives.
    #[shape(min_items = 1)]
    pub yoga_class_catalog: Vec<YogaClassItem<'a>>,
    /// The slots that can be booked.
    #[shape(min_items = 1)]
    pub available_slots: Vec<YogaSlotOption<'a>>,
    /// The people who teach.
    #[shape(min_items = 1)]
    pub instructors: Vec<YogaInstructorProfile<'a>>,
    /// What a visit costs and includes.
    pub session_pass: SessionPass,
    /// The fare, as in the gym session intent.
    pub fare: Option<RawJson<'a>>,
    /// The terms of cancellation, as in the gym session intent.
    pub cancellation: Option<RawJson<'a>>,
    /// How fresh the data is, as in the gym session intent.
    pub freshness: Option<RawJson<'a>>,
    /// The provider, as in the gym session intent.
    pub provider: Option<RawJson<'a>>,
}

/// An option, and the class, slot and instructor that the rules chose in it for the user who asks.
///
/// An option offers many classes, and only the request tells which of them will do. The choice is made where the
/// hard filters are, once, and kept here for the scores and the card. Until then it is the first of each list; no
/// list of an option is empty.
#[derive(Debug)]
pub struct Offer<'a> {
    /// The document.
    pub option: YogaClassOption<'a>,
    choice: Cell<Choice>,
}

impl SearchItem for Offer<'_> {
    fn id(&self) -> &str {
        &self.option.yoga_studio.identity.id
    }

    /// Share of the inherited blocks (fare, cancellation, freshness, provider) that are there and say something.
    /// All other fields are required, so nothing else can be incomplete.
    fn completeness(&self) -> f64 {
        let YogaClassOption { fare, cancellation, freshness, provider, .. } = &self.option;
        let blocks = [fare, cancellation, freshness, provider];
        let told = blocks.into_iter().flatten().filter(|RawJson(json)| says_something(json)).count();
        told as f64 / INHERITED_BLOCKS
    }
}

impl<'a> Offer<'a> {
    pub(crate) fn choose(&self, choice: Choice) {
        self.choice.set(choice);
    }

    pub(crate) fn choice(&self) -> Choice {
        self.choice.get()
    }

    pub(crate) fn class(&self) -> &YogaClassItem<'a> {
        &self.option.yoga_class_catalog[self.choice().class]
    }

    pub(crate) fn slot(&self) -> &YogaSlotOption<'a> {
        &self.option.available_slots[self.choice().slot]
    }

    pub(crate) fn instructor(&self) -> &YogaInstructorProfile<'a> {
        &self.option.instructors[self.choice().instructor]
    }
}

impl Described for Offer<'_> {
    const DESC: ValueDesc = <YogaClassOption<'static> as Described>::DESC;
}

impl<'a> Shape<'a> for Offer<'a> {
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        YogaClassOption::read(from, at, out).map(|option| Self { option, choice: Cell::default() })
    }
}

/// A class of the catalogue.
#[derive(Debug, Shape)]
pub struct YogaClassItem<'a> {
    /// The partner's identifier of the class.
    pub class_id: Text<'a>,
    /// Style.
    pub yoga_style: YogaStyle,
    /// Name shown to the user.
    pub class_name: Text<'a>,
    /// What happens in the class.
    #[shape(min_len = 80)]
    pub description: Cow<'a, str>,
    /// Kind of class.
    pub class_kind: ClassKind,
    /// How long it takes.
    #[shape(min = 30)]
    pub duration_minutes: i64,
    /// How difficult it is.
    pub difficulty_level: DifficultyLevel,
    /// Most people that are let in.
    #[shape(min = 1)]
    pub class_size_max: i64,
    /// True average attendance.
    #[shape(min = 1)]
    pub class_size_typical: i64,
    /// How warm the room is.
    pub temperature_kind: TemperatureKind,
    /// Props that are there, hygienic and undamaged.
    pub props_provided: Vec<Prop>,
    /// Whether it is fit for pregnant people.
    pub prenatal_friendly: bool,
    /// Whether it is fit for people who have given birth.
    pub postpartum_friendly: bool,
    /// Whether it is fit for people with back pain.
    pub back_pain_friendly: bool,
    /// Photo of the class.
    pub photo_url: WebUrl<'a>,
    /// Always false: photos show what is there.
    pub photo_ai_generated: False,
    /// When the class usually takes place; may be empty.
    pub recurring_schedule: Vec<RecurringTime<'a>>,
}

impl YogaClassItem<'_> {
    /// An advanced class: by its level, or because it lets nobody else in.
    pub(crate) fn is_advanced(&self) -> bool {
        self.difficulty_level == DifficultyLevel::Advanced || self.class_kind == ClassKind::AdvancedOnly
    }

    /// A beginners' class: by its level, or because it lets nobody else in.
    pub(crate) fn is_for_beginners(&self) -> bool {
        self.difficulty_level == DifficultyLevel::Beginner || self.class_kind == ClassKind::BeginnersOnly
    }

    /// A class for pregnant people, by its kind or its style, not one that merely suits them.
    pub(crate) fn is_prenatal(&self) -> bool {
        self.class_kind == ClassKind::PrenatalClass || self.yoga_style == YogaStyle::Prenatal
    }
}

/// When a class usually takes place.
#[derive(Debug, Shape)]
pub struct RecurringTime<'a> {
    /// Day of the week; the values are those of the gym session intent.
    pub day_of_week: Text<'a>,
    /// When it starts.
    pub start_iso_time: Text<'a>,
}

/// A slot. The rest of its shape is that of the gym session intent, so a start is read from any usual member.
#[derive(Debug, Shape)]
pub struct YogaSlotOption<'a> {
    /// The class of the catalogue that is given.
    pub class_id: Text<'a>,
    /// The instructor who gives it.
    pub instructor_id_assigned: Text<'a>,
    /// When it starts, if this is a datetime with offset.
    pub start_iso: LooseTime,
    /// The same under another name.
    pub start: LooseTime,
    /// The same under another name.
    pub starts_at: LooseTime,
    /// The same under another name.
    pub scheduled_for_iso: LooseTime,
}

impl YogaSlotOption<'_> {
    /// When the slot starts, where it says so.
    pub(crate) fn starts(&self) -> Option<DateTime> {
        let LooseTime(start) = self.start_iso;
        start.or(self.start.0).or(self.starts_at.0).or(self.scheduled_for_iso.0)
    }
}

/// A datetime where the member is one. Anything else, and absence, says nothing and breaks nothing.
#[derive(Debug, Clone, Copy)]
pub struct LooseTime(pub Option<DateTime>);

impl Described for LooseTime {
    const DESC: ValueDesc = <RawJson<'static> as Described>::DESC;
    const OPTIONAL: bool = true;
}

impl<'a> Shape<'a> for LooseTime {
    fn absent() -> Option<Self> {
        Some(Self(None))
    }

    fn read(from: &mut Parser<'a>, _: &At<'_>, _: &mut Violations) -> Option<Self> {
        if from.peek() == b'"' {
            return Some(Self(DateTime::parse(&from.string())));
        }
        from.skip();
        Some(Self(None))
    }
}

/// Someone who teaches.
#[derive(Debug, Shape)]
pub struct YogaInstructorProfile<'a> {
    /// The partner's identifier of the instructor.
    pub instructor_id: Text<'a>,
    /// Name shown to the user.
    pub display_name: Text<'a>,
    /// Photo.
    pub photo_url: WebUrl<'a>,
    /// Always false: photos show who is there.
    pub photo_ai_generated: False,
    /// Gender; the values are those of the gym session intent.
    pub gender: Text<'a>,
    /// Age band; the values are those of the gym session intent.
    pub age_band: Text<'a>,
    /// How the instructor is employed; the values are those of the gym session intent.
    pub employed_kind: Text<'a>,
    /// Years of teaching.
    #[shape(min = 0)]
    pub experience_years: i64,
    /// Years of practice.
    #[shape(min = 0)]
    pub years_of_personal_practice: i64,
    /// What the instructor is specialised in.
    #[shape(min_items = 1)]
    pub specializations: Vec<Specialization>,
    /// What the instructor is certified as; may be empty. A registry certification needs an active registration.
    pub certifications: Vec<Certification>,
    /// Who certified the instructor; may be empty.
    pub certifying_authorities: Vec<CertifyingAuthority>,
    /// Lineage; it must be verifiable by a certificate or a documented chain of teachers.
    pub trained_in_lineage: TrainedInLineage,
    /// Languages.
    #[shape(min_items = 1)]
    pub languages_spoken: Vec<LocaleTag<'a>>,
    /// What students say.
    pub ratings: InstructorRatings,
    /// What has been verified.
    pub kyc: InstructorKyc,
    /// Price of a private session in INR.
    #[shape(min = 0)]
    pub private_session_inr: Inr,
}

impl YogaInstructorProfile<'_> {
    /// Holds a registry 200-hour or what is worth one.
    pub(crate) fn is_certified(&self) -> bool {
        self.certifications.iter().any(|held| held.equals_registry_200())
    }

    /// Holds the prenatal certificate.
    pub(crate) fn is_prenatal_certified(&self) -> bool {
        self.specializations.contains(&Specialization::PrenatalCertified)
    }
}

/// What students say of an instructor.
#[derive(Debug, Shape)]
pub struct InstructorRatings {
    /// Mean rating.
    #[shape(min = 0, max = 5)]
    pub rating_avg: f64,
    /// Number of ratings.
    pub rating_count: i64,
    /// Classes taught in all.
    pub classes_taught_total: i64,
    /// Classes taught in the past 30 days.
    pub classes_taught_30day: i64,
}

/// What has been verified of an instructor.
#[derive(Debug, Shape)]
pub struct InstructorKyc {
    /// Identity by Aadhaar.
    pub aadhaar_verified: bool,
    /// Identity by PAN.
    pub pan_verified: bool,
    /// Background check; without one there is no class.
    pub background_check_passed: bool,
    /// When the background was checked.
    pub background_check_iso: DateTime,
}

/// What a visit costs and includes.
#[derive(Debug, Shape)]
pub struct SessionPass {
    /// Kind of pass.
    pub pass_kind: PassKind,
    /// Price in INR.
    #[shape(min = 0)]
    pub pass_inr: Inr,
    /// What is included.
    #[shape(min_items = 1)]
    pub pass_includes: Vec<PassInclusion>,
    /// Whether props are included.
    pub props_included: bool,
    /// Whether the shower is included.
    pub shower_included: bool,
    /// Days that the pass is good for.
    #[shape(min = 1)]
    pub validity_days: i64,
}

/// The blocks of the inherited option whose shape is not shown.
const INHERITED_BLOCKS: f64 = 4.0;

/// Whether a JSON value is more than null or an empty text, array or object.
fn says_something(json: &str) -> bool {
    let inside = match json.as_bytes() {
        b"null" => return false,
        [b'"' | b'[' | b'{', inside @ .., _] => inside,
        _ => return true,
    };
    !inside.trim_ascii().is_empty()
}

#[cfg(test)]
mod tests {
    use super::says_something;

    #[test]
    fn empty_values_say_nothing() {
        for empty in ["null", "\"\"", "\" \"", "[]", "[ ]", "{}", "{\n}"] {
            assert!(!says_something(empty), "{empty}");
        }
        for told in ["0", "false", "\"a\"", "[0]", "{\"a\":null}", "-1"] {
            assert!(says_something(told), "{told}");
        }
    }
}
