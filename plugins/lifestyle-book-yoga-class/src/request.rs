//! The input of a search: what the platform sends to providers (spec 3, "Input").
//!
//! Required is what the spec marks so, and the blocks that hold it. `search_area` and `context` come from the gym
//! session intent, whose document is not shown: they must be objects, and their members pass as they come.

use crate::INTENT;
use crate::ranking::budget_band;
use crate::version::VersionText;
use crate::vocabulary::{
    ClassKind, MedicalCondition, MusicDuringClassKind, PregnantOrPostpartum, Prop, SessionKind, StudioKind,
    TemperatureKind, YogaExperienceLevel, YogaGoal, YogaStyle,
};
use contract_sdk::bindings::Need;
use contract_sdk::common::{SessionContext, TtbsUserBand};
use contract_sdk::shape::{DateTime, Inr, RawObject, Text, read_text_member};
use contract_sdk::{SearchRequest, Shape, UserBands};
use std::borrow::Cow;

#[derive(Debug, Shape)]
pub struct YogaClassRequest<'a> {
    /// Always lifestyle.book_yoga_class.
    #[shape(equals = INTENT)]
    pub intent: Text<'a>,
    /// Version of the contract that the request is written by, for example 1.0.0 or v1.0.0.
    pub intent_version: VersionText<'a>,
    /// Identifier of the request; the platform fills it in.
    pub request_id: Option<Text<'a>>,
    /// Where the user looks for a class. Members city, and pincode or postal_code, are read where they are texts.
    pub search_area: RawObject<'a>,
    /// The context of the request, as in the gym session intent.
    pub context: RawObject<'a>,
    /// When the class should start.
    pub scheduled_for_iso: Option<DateTime>,
    /// How long the class should take.
    pub duration_minutes: Option<i64>,
    /// Kind of session.
    pub session_kind: SessionKind,
    /// Who practises.
    pub user_yoga_profile: UserYogaProfile<'a>,
    /// What the user wants to practise.
    pub yoga_intent: YogaIntent,
    /// Where, with whom and for how much.
    pub preferences: Preferences<'a>,
    /// What the user cares for, per axis.
    pub ttbs_user_band: Option<TtbsUserBand<'a>>,
    /// The platform's session.
    pub session_context: Option<SessionContext<'a>>,
}

/// Milliseconds of a minute.
const MINUTE_MS: i64 = 60_000;

impl SearchRequest for YogaClassRequest<'_> {
    /// Where and when. The shape of `search_area` is not shown, so what cannot
    /// be read of it restricts nothing.
    fn need(&self) -> Need {
        let text = |name| read_text_member(self.search_area.0, name).filter(|text| !text.trim().is_empty());
        let until = self.scheduled_for_iso.zip(self.duration_minutes.filter(|minutes| *minutes > 0));
        Need {
            city: text("city").map(Cow::into_owned),
            postal_code: text("pincode").or_else(|| text("postal_code")).map(Cow::into_owned),
            from_ms: self.scheduled_for_iso.and_then(DateTime::epoch_ms),
            until_ms: until.and_then(|(start, minutes)| {
                u64::try_from(start.ms.saturating_add(minutes.saturating_mul(MINUTE_MS))).ok()
            }),
        }
    }

    /// The bands that the user chose. `preferences.budget_band` stands in for an absent budget band, if it is one.
    fn bands(&self) -> UserBands<'_> {
        let mut bands = UserBands::of(&self.ttbs_user_band);
        bands.budget = bands.budget.or_else(|| self.preferences.budget_band.as_deref().and_then(budget_band));
        bands
    }
}

/// Who practises.
#[derive(Debug, Shape)]
pub struct UserYogaProfile<'a> {
    /// Gender; the values are those of the gym session intent.
    pub gender: Option<Text<'a>>,
    /// Age band; the values are those of the gym session intent.
    pub age_band: Option<Text<'a>>,
    /// How far the user has come.
    pub yoga_experience_level: YogaExperienceLevel,
    /// Years of practice.
    #[shape(min = 0)]
    pub years_of_practice: i64,
    /// What the user discloses of their health; may be empty.
    pub medical_conditions_disclosed: Vec<MedicalCondition>,
    /// What the user practises for.
    #[shape(min_items = 1)]
    pub yoga_goals: Vec<YogaGoal>,
    /// Weight in kg.
    pub weight_kg: Option<f64>,
    /// Whether the user is pregnant or has given birth; drives the prenatal filter.
    pub pregnant_or_postpartum: PregnantOrPostpartum,
}

impl UserYogaProfile<'_> {
    pub(crate) fn discloses(&self, condition: MedicalCondition) -> bool {
        self.medical_conditions_disclosed.contains(&condition)
    }

    /// Whether only prenatal-friendly classes will do. A disclosed pregnancy counts too, since a disclosed
    /// condition must lead to an appropriate class.
    pub(crate) fn needs_prenatal(&self) -> bool {
        use PregnantOrPostpartum::{PregnantT1, PregnantT2, PregnantT3};
        matches!(self.pregnant_or_postpartum, PregnantT1 | PregnantT2 | PregnantT3)
            || self.discloses(MedicalCondition::Pregnancy)
    }

    /// Whether a studio without a class of kind prenatal_class is out of the question.
    pub(crate) fn needs_special_prenatal_class(&self) -> bool {
        self.pregnant_or_postpartum == PregnantOrPostpartum::PregnantT3
    }

    /// Whether only postpartum-friendly classes will do. A disclosed `postpartum` counts too, as a pregnancy does. It does
    /// not tell how long ago the birth was, so where more than six months are stated, these count.
    pub(crate) fn needs_postpartum(&self) -> bool {
        match self.pregnant_or_postpartum {
            PregnantOrPostpartum::PostpartumUnder6mo => true,
            PregnantOrPostpartum::PostpartumOver6mo => false,
            _ => self.discloses(MedicalCondition::Postpartum),
        }
    }

    /// Whether only back-pain-friendly classes will do; mild pain counts.
    pub(crate) fn has_back_pain(&self) -> bool {
        self.discloses(MedicalCondition::BackPain) || self.discloses(MedicalCondition::MildBackPain)
    }

    /// Whether an advanced class is out of reach.
    pub(crate) fn is_new_to_yoga(&self) -> bool {
        matches!(self.yoga_experience_level, YogaExperienceLevel::Beginner | YogaExperienceLevel::Novice)
    }

    /// Whether a beginners' class has nothing to give.
    pub(crate) fn is_far_on(&self) -> bool {
        matches!(self.yoga_experience_level, YogaExperienceLevel::Advanced | YogaExperienceLevel::TeacherLevel)
    }
}

/// What the user wants to practise.
#[derive(Debug, Shape)]
pub struct YogaIntent {
    /// Styles that will do.
    #[shape(min_items = 1)]
    pub yoga_styles_acceptable: Vec<YogaStyle>,
    /// The style that the user likes best.
    pub yoga_style_preferred: YogaStyle,
    /// Kinds of class that will do.
    #[shape(min_items = 1)]
    pub class_kind_acceptable: Vec<ClassKind>,
    /// The kind of class that the user likes best.
    pub class_kind_preferred: Option<ClassKind>,
    /// How warm the room may be.
    #[shape(min_items = 1)]
    pub temperature_kind_acceptable: Vec<TemperatureKind>,
    /// Most people in a class.
    #[shape(min = 1)]
    pub max_class_size: i64,
    /// Least skill of instructors, on the scale of ratings.
    #[shape(min = 1, max = 5)]
    pub min_instructor_skill: i64,
    /// Props that the class must provide; may be empty.
    pub props_required: Vec<Prop>,
}

impl YogaIntent {
    /// Whether a style was asked for. The preferred one is, even where it is not repeated among the acceptable.
    pub(crate) fn asks_for(&self, style: YogaStyle) -> bool {
        style == self.yoga_style_preferred || self.yoga_styles_acceptable.contains(&style)
    }
}

/// Where, with whom and for how much.
#[derive(Debug, Shape)]
pub struct Preferences<'a> {
    /// Kinds of studio that will do.
    #[shape(min_items = 1)]
    pub studio_kind_acceptable: Vec<StudioKind>,
    /// The kind of studio that the user likes best.
    pub studio_kind_preferred: Option<StudioKind>,
    /// Gender of the instructor, by the same values as in the instructor's profile.
    pub instructor_gender_preference: Option<Text<'a>>,
    /// Least experience of the instructor in years.
    pub instructor_min_experience_years: Option<i64>,
    /// Whether the instructor should hold one of the acceptable certifications.
    pub instructor_certifications_required: bool,
    /// Certifications or certifying authorities that count, for example registry_200 or iyengar_body.
    #[shape(min_items = 1)]
    pub instructor_certification_authority_acceptable: Vec<Text<'a>>,
    /// Whether the user wants a shower.
    pub shower_required: Option<bool>,
    /// Whether the user wants a locker.
    pub locker_required: Option<bool>,
    /// Whether the user wants air-conditioning or a fan.
    pub ac_or_fan_required: Option<bool>,
    /// Whether the user wants parking.
    pub parking_required: Option<bool>,
    /// What the user wants to hear during the class.
    pub music_during_class_kind: MusicDuringClassKind,
    /// Whether the user wants a class of their own gender alone.
    pub single_gender_class_required: Option<bool>,
    /// Budget band, for example ok, good or great.
    pub budget_band: Option<Cow<'a, str>>,
    /// The most that the user means to spend, in INR.
    pub budget_max_inr_total: Option<Inr>,
    /// Whether the user wants to pay online.
    pub online_payment_required: Option<bool>,
    /// Whether a first class on trial is welcome but not a must.
    pub trial_first_class_optional: bool,
}
