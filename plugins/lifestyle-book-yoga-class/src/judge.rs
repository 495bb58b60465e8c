//! The hard filters (spec 3, "TTBS rules"), judged class by class, and the choice of a class, slot and instructor.
//!
//! An option stays while one slot passes everything: the studio, the slot's class, and the instructor who is
//! assigned to it. Among the slots that pass, the one that serves the user best is chosen for the scores and the
//! card. An option without such a slot is dropped, with everything that stood in the way.
//!
//! A slot that names no class of the catalogue, or no instructor of the list, cannot be judged: it is left aside
//! with a finding. Preferences are not filters; they are in [`crate::taste`].

use crate::conditions::Notices;
use crate::findings;
use crate::option::{Offer, YogaClassItem, YogaClassOption, YogaInstructorProfile, YogaSlotOption};
use crate::ranking;
use crate::request::{UserYogaProfile, YogaClassRequest};
use crate::taste::{self, ClassTaste, InstructorTaste, StudioTaste};
use crate::vocabulary::{ClassKind, YogaStyle};
use contract_sdk::ItemRules;

/// What an option offers a user: positions in its lists, and what the scores need to know of them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Choice {
    pub(crate) class: usize,
    pub(crate) slot: usize,
    pub(crate) instructor: usize,
    /// The time signal of the slot, 0..=1.
    pub(crate) slot_fit: f64,
    /// The taste of studio, class and instructor together, 0..=1.
    pub(crate) taste: f64,
    /// What the card says of the class to a user with a condition.
    pub(crate) notices: Notices,
}

/// Everything that is judged of one option.
pub(crate) fn item_rules(request: &YogaClassRequest<'_>, offer: &Offer<'_>, rules: &mut ItemRules) {
    let option = &offer.option;
    let studio_passes = studio_passes(&request.user_yoga_profile, option, rules);
    let mut judge = Judge::new(request, option);
    for (index, slot) in option.available_slots.iter().enumerate() {
        judge.place(index, slot, rules);
    }
    match &judge.best {
        Some(best) => offer.choose(best.choice),
        None => judge.tell_class_faults(rules),
    }
    judge.tell_instructor_faults(studio_passes && judge.best.is_some(), rules);
    judge.tell_power_yoga(rules);
    findings::of(option, |code, pointer, message| rules.finding_if(true, code, pointer, message));
}

/// The filters on the studio as a whole.
fn studio_passes(profile: &UserYogaProfile<'_>, option: &YogaClassOption<'_>, rules: &mut ItemRules) -> bool {
    let trust = &option.yoga_studio.trust;
    rules.drop_if(
        !trust.first_aid_kit_present,
        "NO_FIRST_AID_KIT",
        "/yoga_studio/trust/first_aid_kit_present",
        "The studio must have a first-aid kit.",
    );
    rules.drop_if(
        !trust.fire_safety_compliant,
        "FIRE_SAFETY",
        "/yoga_studio/trust/fire_safety_compliant",
        "The studio must comply with fire safety.",
    );
    let is_special = |class: &YogaClassItem<'_>| class.class_kind == ClassKind::PrenatalClass;
    let lacks_prenatal = profile.needs_special_prenatal_class() && !option.yoga_class_catalog.iter().any(is_special);
    rules.drop_if(
        lacks_prenatal,
        "PRENATAL_CLASS_REQUIRED",
        "/yoga_class_catalog",
        "In the third trimester the studio must give a class of kind prenatal_class.",
    );
    trust.first_aid_kit_present && trust.fire_safety_compliant && !lacks_prenatal
}

/// A filter on a class, by what the user discloses.
struct ClassFilter {
    code: &'static str,
    /// The member of the class that it looks at.
    member: &'static str,
    message: &'static str,
    fails: fn(&UserYogaProfile<'_>, &YogaClassItem<'_>) -> bool,
}

/// The taste hard filters but for the style, which is the class's ticket to be looked at.
const CLASS_FILTERS: [ClassFilter; 5] = [
    ClassFilter {
        code: "NOT_PRENATAL_FRIENDLY",
        member: "prenatal_friendly",
        message: "A pregnant user needs a prenatal-friendly class.",
        fails: |user, class| user.needs_prenatal() && !class.prenatal_friendly,
    },
    ClassFilter {
        code: "NOT_POSTPARTUM_FRIENDLY",
        member: "postpartum_friendly",
        message: "A user who has given birth lately needs a postpartum-friendly class.",
        fails: |user, class| user.needs_postpartum() && !class.postpartum_friendly,
    },
    ClassFilter {
        code: "TOO_ADVANCED",
        member: "difficulty_level",
        message: "An advanced class is too much for a beginner or novice.",
        fails: |user, class| user.is_new_to_yoga() && class.is_advanced(),
    },
    ClassFilter {
        code: "TOO_EASY",
        member: "difficulty_level",
        message: "A beginners' class is too little for an advanced user or a teacher.",
        fails: |user, class| user.is_far_on() && class.is_for_beginners(),
    },
    ClassFilter {
        code: "NOT_BACK_PAIN_FRIENDLY",
        member: "back_pain_friendly",
        message: "A user with back pain needs a back-pain-friendly class.",
        fails: |user, class| user.has_back_pain() && !class.back_pain_friendly,
    },
];

/// A filter on an instructor, by the class that is to be taught.
struct InstructorFilter {
    code: &'static str,
    /// The member of the instructor that it looks at.
    member: &'static str,
    message: &'static str,
    /// Failing it is a severe breach, told even where the user is served by another class.
    is_breach: bool,
    fails: fn(&YogaClassItem<'_>, &InstructorState) -> bool,
}

/// The safety hard filters on instructors.
const INSTRUCTOR_FILTERS: [InstructorFilter; 3] = [
    InstructorFilter {
        code: "INSTRUCTOR_UNCHECKED",
        member: "kyc/background_check_passed",
        message: "An instructor must have passed the background check.",
        is_breach: false,
        fails: |_, instructor| !instructor.is_checked,
    },
    InstructorFilter {
        code: "INSTRUCTOR_NOT_CERTIFIED",
        member: "certifications",
        message: "An advanced class needs an instructor with a registry 200-hour certification or its equivalent.",
        is_breach: false,
        fails: |class, instructor| class.is_advanced() && !instructor.is_certified,
    },
    InstructorFilter {
        code: "PRENATAL_NOT_CERTIFIED",
        member: "specializations",
        message: "A prenatal class needs an instructor who is prenatal_certified.",
        is_breach: true,
        fails: |class, instructor| class.is_prenatal() && !instructor.is_prenatal_certified,
    },
];

/// What is known of a class while slots are placed.
struct ClassState {
    /// Its style was asked for.
    is_asked: bool,
    /// There if it passes every filter on classes.
    taste: Option<ClassTaste>,
    has_slot: bool,
}

/// What is known of an instructor while slots are placed.
struct InstructorState {
    is_checked: bool,
    is_certified: bool,
    is_prenatal_certified: bool,
    taste: InstructorTaste,
    /// Bit n: failed filter n for a class that the user could have taken.
    failed: u8,
}

impl InstructorState {
    fn of(request: &YogaClassRequest<'_>, instructor: &YogaInstructorProfile<'_>) -> Self {
        Self {
            is_checked: instructor.kyc.background_check_passed,
            is_certified: instructor.is_certified(),
            is_prenatal_certified: instructor.is_prenatal_certified(),
            taste: InstructorTaste::of(request, instructor),
            failed: 0,
        }
    }
}

/// The best slot so far.
struct Best {
    /// A prenatal class for a user in the third trimester goes before any other class.
    is_special: bool,
    /// The part of the total that depends on the choice.
    worth: f64,
    choice: Choice,
}

/// Judges the classes and slots of one option.
struct Judge<'r, 'q, 'o, 'a> {
    request: &'r YogaClassRequest<'q>,
    option: &'o YogaClassOption<'a>,
    studio: StudioTaste,
    shares: ranking::ChoiceShares,
    classes: Vec<ClassState>,
    class_index: Index<'o>,
    instructors: Vec<InstructorState>,
    instructor_index: Index<'o>,
    best: Option<Best>,
}

impl<'r, 'q, 'o, 'a> Judge<'r, 'q, 'o, 'a> {
    fn new(request: &'r YogaClassRequest<'q>, option: &'o YogaClassOption<'a>) -> Self {
        let user = &request.user_yoga_profile;
        let state = |class: &YogaClassItem<'_>| {
            let is_asked = request.yoga_intent.asks_for(class.yoga_style);
            let passes = is_asked && !CLASS_FILTERS.iter().any(|filter| (filter.fails)(user, class));
            let taste = passes.then(|| ClassTaste::of(request, &option.yoga_studio, class));
            ClassState { is_asked, taste, has_slot: false }
        };
        Self {
            request,
            option,
            studio: StudioTaste::of(request, option),
            shares: ranking::ChoiceShares::of(request),
            classes: option.yoga_class_catalog.iter().map(state).collect(),
            class_index: Index::of(option.yoga_class_catalog.iter().map(|class| &*class.class_id)),
            instructors: option.instructors.iter().map(|one| InstructorState::of(request, one)).collect(),
            instructor_index: Index::of(option.instructors.iter().map(|one| &*one.instructor_id)),
            best: None,
        }
    }

    /// Judges a slot, and keeps it if it is the best so far.
    fn place(&mut self, index: usize, slot: &YogaSlotOption<'_>, rules: &mut ItemRules) {
        let class = self.class_index.find(&slot.class_id);
        let instructor = self.instructor_index.find(&slot.instructor_id_assigned);
        rules.finding_if(
            class.is_none(),
            "UNKNOWN_CLASS",
            format_args!("/available_slots/{index}/class_id"),
            "The slot names no class of the catalogue.",
        );
        rules.finding_if(
            instructor.is_none(),
            "UNKNOWN_INSTRUCTOR",
            format_args!("/available_slots/{index}/instructor_id_assigned"),
            "The slot names no instructor of the list.",
        );
        let (Some(class), Some(instructor)) = (class, instructor) else {
            return;
        };
        let item = &self.option.yoga_class_catalog[class];
        let (class_state, instructor_state) = (&mut self.classes[class], &mut self.instructors[instructor]);
        class_state.has_slot = true;
        let mut passes = true;
        for (bit, filter) in INSTRUCTOR_FILTERS.iter().enumerate() {
            if (class_state.taste.is_some() || filter.is_breach) && (filter.fails)(item, instructor_state) {
                instructor_state.failed |= 1 << bit;
                passes = false;
            }
        }
        let Some(class_taste) = class_state.taste.as_ref().filter(|_| passes) else {
            return;
        };
        let user = &self.request.user_yoga_profile;
        let choice = Choice {
            class,
            slot: index,
            instructor,
            slot_fit: ranking::slot_fit(self.request, slot.starts()),
            taste: taste::blend(&self.studio, class_taste, &instructor_state.taste),
            notices: class_taste.notices,
        };
        let is_special = user.needs_special_prenatal_class() && item.class_kind == ClassKind::PrenatalClass;
        let worth = self.shares.worth(&choice);
        // Equals stay in the order of the document.
        let is_better = self.best.as_ref().is_none_or(|best| (is_special, worth) > (best.is_special, best.worth));
        if is_better {
            self.best = Some(Best { is_special, worth, choice });
        }
    }

    /// Why no class will do. Only classes of an asked style are looked at, unless there is none.
    #[cold]
    fn tell_class_faults(&self, rules: &mut ItemRules) {
        let user = &self.request.user_yoga_profile;
        rules.drop_if(
            !self.classes.iter().any(|class| class.is_asked),
            "STYLE_ABSENT",
            "/yoga_class_catalog",
            "The catalogue has no class of an acceptable style.",
        );
        for (index, (class, state)) in self.option.yoga_class_catalog.iter().zip(&self.classes).enumerate() {
            if !state.is_asked {
                continue;
            }
            for filter in &CLASS_FILTERS {
                rules.drop_if(
                    (filter.fails)(user, class),
                    filter.code,
                    format_args!("/yoga_class_catalog/{index}/{}", filter.member),
                    filter.message,
                );
            }
            rules.drop_if(
                state.taste.is_some() && !state.has_slot,
                "NO_SLOT",
                format_args!("/yoga_class_catalog/{index}"),
                "No slot names this class together with an instructor of the list.",
            );
        }
    }

    /// Which instructors may not teach what they are assigned to. Where the option stays because of another slot,
    /// only a breach is told, as a finding.
    fn tell_instructor_faults(&self, stays: bool, rules: &mut ItemRules) {
        for (index, state) in self.instructors.iter().enumerate().filter(|(_, state)| state.failed != 0) {
            for (bit, filter) in INSTRUCTOR_FILTERS.iter().enumerate() {
                let failed = state.failed & (1 << bit) != 0;
                let pointer = format_args!("/instructors/{index}/{}", filter.member);
                if stays {
                    rules.finding_if(failed && filter.is_breach, filter.code, pointer, filter.message);
                } else if filter.is_breach {
                    rules.strike_if(failed, filter.code, pointer, filter.message);
                } else {
                    rules.drop_if(failed && self.best.is_none(), filter.code, pointer, filter.message);
                }
            }
        }
    }

    /// A user with back pain must not come to power yoga unwarned. The description is the only place where a class
    /// can warn, so one that never mentions the back does not.
    fn tell_power_yoga(&self, rules: &mut ItemRules) {
        if !self.request.user_yoga_profile.has_back_pain() {
            return;
        }
        for (index, (class, state)) in self.option.yoga_class_catalog.iter().zip(&self.classes).enumerate() {
            rules.finding_if(
                state.taste.is_some() && class.yoga_style == YogaStyle::PowerYoga && !mentions_back(&class.description),
                "POWER_YOGA_UNWARNED",
                format_args!("/yoga_class_catalog/{index}/description"),
                "Power yoga is offered as back-pain-friendly without a word of warning.",
            );
        }
    }
}

/// Whether a text has the word "back" or one that starts with it, in any case.
fn mentions_back(text: &str) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric())
        .any(|word| word.as_bytes().get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"back")))
}

/// Positions by identifier. A hostile payload could hold thousands of slots and classes, so looking through the
/// list for each slot will not do. Of equal identifiers the first counts.
pub(crate) struct Index<'o> {
    sorted: Vec<(&'o str, usize)>,
}

impl<'o> Index<'o> {
    pub(crate) fn of(ids: impl Iterator<Item = &'o str>) -> Self {
        let mut sorted: Vec<_> = ids.zip(0..).collect();
        sorted.sort_unstable();
        Self { sorted }
    }

    pub(crate) fn find(&self, id: &str) -> Option<usize> {
        let place = self.sorted.partition_point(|(known, _)| *known < id);
        self.sorted.get(place).filter(|(known, _)| *known == id).map(|(_, index)| *index)
    }
}

#[cfg(test)]
mod tests {
    use super::{Index, mentions_back};

    #[test]
    fn the_first_of_equal_identifiers_counts() {
        let index = Index::of(["b", "a", "b", "c"].into_iter());
        assert_eq!([index.find("a"), index.find("b"), index.find("c")], [Some(1), Some(0), Some(3)]);
        assert_eq!((index.find(""), index.find("bb"), index.find("d")), (None, None, None));
    }

    #[test]
    fn a_warning_names_the_back() {
        assert!(mentions_back("Not for an aching back."));
        assert!(mentions_back("BACKACHE? Ask first."));
        assert!(!mentions_back("Feedback is welcome; bac"));
        assert!(!mentions_back(""));
    }
}
