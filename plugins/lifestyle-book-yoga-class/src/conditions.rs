//! What a disclosed condition asks of a class (spec 3, "Rules that must hold": it leads to an appropriate class).
//!
//! One table. A class that does not suit loses taste and gets a notice on its card, and nothing more: what drops a class
//! is in `judge`. Back pain, pregnancy and birth drop there; back pain and birth have their notices here. The reasons are
//! those of general advice to teachers; they are not a medical judgement. `docs/yoga-conditions.md` shows the table, and a
//! test compares.

use crate::option::YogaClassItem;
use crate::request::UserYogaProfile;
use crate::vocabulary::{DifficultyLevel, MedicalCondition, TemperatureKind, YogaStyle};

/// What does not suit a condition.
pub struct Advice {
    pub condition: MedicalCondition,
    pub styles: &'static [YogaStyle],
    pub temperatures: &'static [TemperatureKind],
    pub levels: &'static [DifficultyLevel],
    /// Whether a class that does not suit loses taste.
    pub lowers_taste: bool,
    /// Why, for the docs.
    pub reason: &'static str,
    /// What the card says of a class that does not suit.
    pub notice: &'static str,
}

const HOT: &[TemperatureKind] = &[TemperatureKind::HotYoga40c];
const WARM: &[TemperatureKind] = &[TemperatureKind::HotYoga40c, TemperatureKind::WarmStudio];
const COLD: &[TemperatureKind] = &[TemperatureKind::CoolStudio];
const ADVANCED: &[DifficultyLevel] = &[DifficultyLevel::Advanced];
const ABOVE_BEGINNERS: &[DifficultyLevel] = &[DifficultyLevel::Intermediate, DifficultyLevel::Advanced];

/// Of back pain, mild or not: power yoga is told of, and what drops a class is elsewhere.
const BACK_PAIN: Advice = Advice {
    condition: MedicalCondition::BackPain,
    styles: &[YogaStyle::PowerYoga],
    temperatures: &[],
    levels: &[],
    lowers_taste: false,
    reason: "Fast, strong bends load the back. A class that is not back-pain-friendly is dropped.",
    notice: "Power yoga strains the back: talk to the instructor before the class.",
};

/// Every condition that asks for something. The order is that of the notices.
pub const TABLE: [Advice; 12] = {
    use MedicalCondition as C;
    use YogaStyle::{AerialYoga, Ashtanga, HotSequenceStyle, HotYoga, Kundalini, PowerYoga, StyleBrandA, Vinyasa};
    [
        BACK_PAIN,
        Advice { condition: C::MildBackPain, ..BACK_PAIN },
        Advice {
            condition: C::Hypertension,
            styles: &[HotYoga, HotSequenceStyle, PowerYoga, Ashtanga, AerialYoga],
            temperatures: HOT,
            levels: ADVANCED,
            lowers_taste: true,
            reason: "Heat, held effort and hanging upside down raise the blood pressure.",
            notice: "You disclosed high blood pressure: ask the instructor about heat, strain and inversions before the class.",
        },
        Advice {
            condition: C::HeartCondition,
            styles: &[HotYoga, HotSequenceStyle, PowerYoga, Ashtanga, Vinyasa, Kundalini, AerialYoga],
            temperatures: WARM,
            levels: ADVANCED,
            lowers_taste: true,
            reason: "Heat, a fast flow and held breath make the heart work harder.",
            notice: "You disclosed a heart condition: ask your doctor and the instructor before the class.",
        },
        Advice {
            condition: C::RecentSurgery,
            styles: &[HotYoga, HotSequenceStyle, PowerYoga, Ashtanga, Vinyasa, Kundalini, AerialYoga],
            temperatures: HOT,
            levels: ABOVE_BEGINNERS,
            lowers_taste: true,
            reason: "Wounds need rest from strain, stretch and sweat.",
            notice: "You disclosed a recent surgery: ask your doctor and the instructor before the class.",
        },
        Advice {
            condition: C::Hernia,
            styles: &[PowerYoga, Ashtanga, Kundalini, AerialYoga, HotSequenceStyle],
            temperatures: &[],
            levels: ADVANCED,
            lowers_taste: true,
            reason: "Core work, abdominal breathing and deep backbends press on the belly wall.",
            notice: "You disclosed a hernia: ask the instructor to leave out what presses on the belly.",
        },
        Advice {
            condition: C::KneeProblem,
            styles: &[Ashtanga, PowerYoga, Vinyasa, HotSequenceStyle],
            temperatures: &[],
            levels: ADVANCED,
            lowers_taste: true,
            reason: "Lunges, jumps and lotus seats load and twist the knee.",
            notice: "You disclosed a knee problem: ask the instructor about lunges, jumps and kneeling before the class.",
        },
        Advice {
            condition: C::ShoulderProblem,
            styles: &[Vinyasa, Ashtanga, PowerYoga, AerialYoga],
            temperatures: &[],
            levels: ADVANCED,
            lowers_taste: true,
            reason: "Planks, handstands and hanging carry the body on the shoulders.",
            notice: "You disclosed a shoulder problem: ask the instructor about planks and weight on the arms before the class.",
        },
        Advice {
            condition: C::Arthritis,
            styles: &[Ashtanga, PowerYoga, Vinyasa, HotSequenceStyle, AerialYoga],
            temperatures: COLD,
            levels: ADVANCED,
            lowers_taste: true,
            reason: "Fast changes and long weight on one joint irritate it; cold makes joints stiff.",
            notice: "You disclosed arthritis: ask the instructor for variants that spare the joints.",
        },
        Advice {
            condition: C::Diabetes,
            styles: &[HotYoga, HotSequenceStyle, PowerYoga],
            temperatures: HOT,
            levels: ADVANCED,
            lowers_taste: true,
            reason: "Heat and long effort move the blood sugar and hide its signs.",
            notice: "You disclosed diabetes: tell the instructor, and bring what you need against low blood sugar.",
        },
        Advice {
            condition: C::Postpartum,
            styles: &[HotYoga, HotSequenceStyle, PowerYoga, Ashtanga, AerialYoga],
            temperatures: HOT,
            levels: ADVANCED,
            lowers_taste: true,
            reason: "Belly and pelvic floor heal first. A class that is not postpartum-friendly is dropped, unless the birth was \
                 over six months ago.",
            notice: "You disclosed a recent birth: ask the instructor to leave out what strains belly and pelvic floor.",
        },
        Advice {
            condition: C::Other,
            styles: &[HotYoga, HotSequenceStyle, PowerYoga, StyleBrandA],
            temperatures: HOT,
            levels: ADVANCED,
            lowers_taste: true,
            reason: "What is not named may concern any strain; the hottest and hardest classes ask most of a body.",
            notice: "You disclosed a condition: tell the instructor of it before the class.",
        },
    ]
};

/// What a class that does not suit in any respect loses of its taste.
pub const SHARE: f64 = 0.4;
/// How much of that goes with the style, the temperature and the level.
pub const PARTS: [f64; 3] = [0.5, 0.25, 0.25];

/// The notices of a class; bit n is row n of the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Notices(u16);

impl Notices {
    /// The texts, each once; `None` where there is none.
    pub(crate) fn text(self) -> Option<String> {
        let mut texts: Vec<&str> = Vec::new();
        for (row, advice) in TABLE.iter().enumerate() {
            if self.0 & (1 << row) != 0 && !texts.contains(&advice.notice) {
                texts.push(advice.notice);
            }
        }
        (!texts.is_empty()).then(|| texts.join(" "))
    }
}

/// How a class suits the conditions of a user: what is left of its taste, 0..=1, and what its card says.
///
/// Where several conditions speak against a class, the one that does most counts for the taste.
pub(crate) fn suit(user: &UserYogaProfile<'_>, class: &YogaClassItem<'_>) -> (f64, Notices) {
    let (mut worst, mut notices) = (0.0_f64, Notices::default());
    for (row, advice) in TABLE.iter().enumerate().filter(|(_, advice)| user.discloses(advice.condition)) {
        let against = [
            advice.styles.contains(&class.yoga_style),
            advice.temperatures.contains(&class.temperature_kind),
            advice.levels.contains(&class.difficulty_level),
        ];
        if against.contains(&true) {
            notices.0 |= 1 << row;
        }
        if advice.lowers_taste {
            let sum = against.iter().zip(PARTS).map(|(against, part)| f64::from(*against) * part).sum();
            worst = worst.max(sum);
        }
    }
    (1.0 - SHARE * worst, notices)
}
