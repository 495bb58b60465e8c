//! The card of an option: the class, slot and instructor that were chosen in it for the user (spec 3, "Endpoints",
//! widget). Style, kind and level are values of the vocabularies, since the widget filters by them.

use crate::option::{Offer, YogaClassItem};
use crate::vocabulary::{ClassKind, DifficultyLevel, YogaStyle};
use contract_sdk::common::Price;
use contract_sdk::shape::Vocabulary;
use contract_sdk::{CardJson, Slot, WidgetTable, text};

/// The widget and how its fields are filled.
pub const WIDGET: WidgetTable = WidgetTable {
    widget_type: "yoga_class_options",
    preferred: None,
    slots: &[
        Slot { name: "class_name", source: "class_name of the class that was chosen for the user" },
        Slot { name: "studio", source: "yoga_studio.identity.name" },
        Slot { name: "distance_km", source: "yoga_studio.distance_from_user_km" },
        Slot { name: "rating", source: "yoga_studio.ratings.overall_score" },
        Slot { name: "style", source: "yoga_style of the class" },
        Slot { name: "class_kind", source: "class_kind of the class" },
        Slot { name: "level", source: "difficulty_level of the class" },
        Slot { name: "duration_minutes", source: "duration_minutes of the class" },
        Slot { name: "starts", source: "start of the slot, as local day and time; null where it is not told" },
        Slot { name: "instructor", source: "display_name of the instructor of the slot" },
        Slot { name: "price", source: "session_pass.pass_inr" },
        Slot { name: "badges", source: "what the class and its instructor are fit for, by their own data" },
        Slot {
            name: "notice",
            source: "what a user must know of the class by the conditions disclosed; null where nothing speaks against it",
        },
        Slot { name: "photo_url", source: "photo_url of the class" },
        Slot { name: "class_id", source: "class_id of the class, for booking" },
        Slot { name: "instructor_id", source: "instructor_id of the instructor, for booking" },
    ],
};

/// A card; its keys are those of [`WIDGET`].
#[derive(CardJson)]
pub struct Card<'i> {
    class_name: &'i str,
    studio: &'i str,
    distance_km: f64,
    rating: f64,
    style: &'static str,
    class_kind: &'static str,
    level: &'static str,
    duration_minutes: i64,
    starts: Option<String>,
    instructor: &'i str,
    price: Price,
    badges: Vec<&'static str>,
    notice: Option<String>,
    photo_url: &'i str,
    class_id: &'i str,
    instructor_id: &'i str,
}

impl<'i> Card<'i> {
    pub(crate) fn of(offer: &'i Offer<'_>) -> Self {
        let studio = &offer.option.yoga_studio;
        let (class, instructor) = (offer.class(), offer.instructor());
        Self {
            class_name: &class.class_name,
            studio: &studio.identity.name,
            distance_km: studio.distance_from_user_km,
            rating: studio.ratings.overall_score,
            style: YogaStyle::value(&class.yoga_style),
            class_kind: ClassKind::value(&class.class_kind),
            level: DifficultyLevel::value(&class.difficulty_level),
            duration_minutes: class.duration_minutes,
            starts: offer.slot().starts().map(|start| text!("{start}")),
            instructor: &instructor.display_name,
            price: offer.option.session_pass.pass_inr.into(),
            badges: badges(class, instructor.is_certified()),
            notice: offer.choice().notices.text(),
            photo_url: &class.photo_url,
            class_id: &class.class_id,
            instructor_id: &instructor.instructor_id,
        }
    }
}

/// Facts, never praise: the platform gives no badges of its own choice.
fn badges(class: &YogaClassItem<'_>, is_certified: bool) -> Vec<&'static str> {
    let facts = [
        (class.prenatal_friendly, "Prenatal-friendly"),
        (class.postpartum_friendly, "Postpartum-friendly"),
        (class.back_pain_friendly, "Back-pain-friendly"),
        (is_certified, "Certified instructor"),
    ];
    facts.into_iter().filter_map(|(holds, badge)| holds.then_some(badge)).collect()
}
