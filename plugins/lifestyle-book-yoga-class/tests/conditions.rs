//! Disclosed conditions (spec 3, "Rules that must hold"): what does not suit loses taste and is told on the card.

use contract_sdk::bindings::Evaluation;
use contract_sdk::example::with;
use contract_sdk::shape::Vocabulary;
use contract_sdk::{sample, testing};
use lifestyle_book_yoga_class::YogaClass;
use lifestyle_book_yoga_class::conditions::{PARTS, SHARE, TABLE};
use lifestyle_book_yoga_class::vocabulary::{DifficultyLevel, MedicalCondition, TemperatureKind, YogaStyle};
use serde_json::{Value, json};

/// An intermediate user who wants any style and discloses these.
fn user(conditions: &[&str]) -> Value {
    let styles: Vec<&str> = <YogaStyle as Vocabulary>::DESC.values.to_vec();
    with(
        sample!("request"),
        &[
            ("/user_yoga_profile/medical_conditions_disclosed", json!(conditions)),
            ("/yoga_intent/yoga_styles_acceptable", json!(styles)),
        ],
    )
}

/// A studio with one class of this style, temperature and level, fit for everybody by its own word.
fn class(style: &str, temperature: &str, level: &str) -> Value {
    let place = |member: &str| format!("/yoga_class_catalog/0/{member}");
    let changes = [
        (place("yoga_style"), json!(style)),
        (place("temperature_kind"), json!(temperature)),
        (place("difficulty_level"), json!(level)),
        (place("postpartum_friendly"), json!(true)),
        (place("prenatal_friendly"), json!(true)),
        (place("back_pain_friendly"), json!(true)),
        (
            place("description"),
            json!("An hour for everybody. Tell us of an aching back, and of all else, before we begin."),
        ),
    ];
    let changes: Vec<_> = changes.iter().map(|(pointer, value)| (pointer.as_str(), value.clone())).collect();
    with(sample!("option"), &changes)
}

fn evaluate(request: &Value, option: &Value) -> Evaluation {
    testing::evaluate::<YogaClass>(request, std::slice::from_ref(option))
}

/// The taste by the rules, and the notice of the card.
fn seen(request: &Value, option: &Value) -> (f64, Value) {
    let found = evaluate(request, option);
    assert_eq!((found.dropped.len(), found.ranked.len()), (0, 1), "nothing is dropped: {found:?}");
    let card: Value = serde_json::from_str(&found.ranked[0].card).expect("a card is JSON");
    // What partners declare has a fifth of the axis, and is neutral here.
    ((found.ranked[0].axes.taste - 0.2 * 0.5) / 0.8, card["notice"].clone())
}

#[test]
fn each_row_lowers_taste_for_what_does_not_suit_and_says_so() {
    let others = |values: &[&'static str], bad: &[&str]| -> &'static str {
        values.iter().find(|value| !bad.contains(value)).expect("something suits")
    };
    for advice in &TABLE {
        let condition = advice.condition.value();
        let styles: Vec<_> = advice.styles.iter().map(Vocabulary::value).collect();
        let temperatures: Vec<_> = advice.temperatures.iter().map(Vocabulary::value).collect();
        let levels: Vec<_> = advice.levels.iter().map(Vocabulary::value).collect();
        // Hatha at room temperature for everybody suits every condition.
        let good = (others(&["hatha"], &styles), others(&["room_temp"], &temperatures), others(&["mixed"], &levels));
        let (healthy, ill) = (user(&[]), user(&[condition]));
        let check = |class: &Value, part: f64| {
            let ((before, nothing), (after, notice)) = (seen(&healthy, class), seen(&ill, class));
            let part = if advice.lowers_taste { part } else { 0.0 };
            assert!((after - before * (1.0 - SHARE * part)).abs() < 1e-12, "{condition}: {before} {after}");
            assert_eq!((nothing, notice), (Value::Null, Value::from(advice.notice)), "{condition}");
        };
        let suits = class(good.0, good.1, good.2);
        assert_eq!(seen(&ill, &suits), seen(&healthy, &suits), "{condition}");
        for style in &styles {
            check(&class(style, good.1, good.2), PARTS[0]);
        }
        for temperature in &temperatures {
            check(&class(good.0, temperature, good.2), PARTS[1]);
        }
        for level in &levels {
            check(&class(good.0, good.1, level), PARTS[2]);
        }
    }
}

#[test]
fn the_worst_of_several_conditions_counts_and_each_notice_is_told_once() {
    let class = class("power_yoga", "hot_yoga_40c", "advanced");
    let (taste, notice) = seen(&user(&["diabetes", "back_pain", "mild_back_pain", "knee_problem"]), &class);
    let (healthy, _) = seen(&user(&["none"]), &class);
    assert!((taste - healthy * (1.0 - SHARE)).abs() < 1e-12);
    let notice = notice.as_str().expect("a notice");
    for advice in &TABLE {
        let told = matches!(
            advice.condition,
            MedicalCondition::Diabetes
                | MedicalCondition::BackPain
                | MedicalCondition::MildBackPain
                | MedicalCondition::KneeProblem
        );
        assert_eq!(notice.matches(advice.notice).count(), usize::from(told), "{:?}", advice.condition);
    }
}

#[test]
fn a_disclosed_birth_counts_as_a_disclosed_pregnancy_does() {
    let unfit =
        with(class("hatha", "room_temp", "mixed"), &[("/yoga_class_catalog/0/postpartum_friendly", json!(false))]);
    let found = evaluate(&user(&["postpartum"]), &unfit);
    let codes: Vec<_> = found.dropped.iter().flat_map(|one| &one.violations).map(|one| one.code.as_str()).collect();
    assert_eq!(codes, ["NOT_POSTPARTUM_FRIENDLY"]);
    assert_eq!(evaluate(&user(&[]), &unfit).dropped.len(), 0);
}

/// What is stated of the time since the birth counts before the disclosure, which does not tell it.
#[test]
fn a_birth_that_is_stated_as_long_ago_only_scores() {
    let fit = class("hatha", "room_temp", "mixed");
    let unfit = with(fit.clone(), &[("/yoga_class_catalog/0/postpartum_friendly", json!(false))]);
    let stated =
        |stage: &str| with(user(&["postpartum"]), &[("/user_yoga_profile/pregnant_or_postpartum", json!(stage))]);
    let over = stated("postpartum_over_6mo");
    assert!(seen(&over, &unfit).0 < seen(&over, &fit).0);
    for stage in ["none", "pregnant_t1", "pregnant_t2", "postpartum_under_6mo"] {
        assert_eq!(evaluate(&stated(stage), &unfit).dropped.len(), 1, "{stage}");
    }
}

#[test]
fn every_condition_has_its_row_or_drops() {
    for value in <MedicalCondition as Vocabulary>::DESC.values {
        let rows = TABLE.iter().filter(|advice| advice.condition.value() == *value).count();
        let expected = usize::from(!matches!(*value, "none" | "pregnancy"));
        assert_eq!(rows, expected, "{value}");
    }
}

/// The table as the docs show it.
fn table() -> String {
    let list = |values: Vec<&str>| if values.is_empty() { "-".to_owned() } else { values.join(", ") };
    let mut text = String::from(
        "| condition | styles | temperatures | levels | lowers taste | why |\n|---|---|---|---|---|---|\n",
    );
    for advice in &TABLE {
        text.push_str(&format!(
            "| `{}` | {} | {} | {} | {} | {} |\n",
            advice.condition.value(),
            list(advice.styles.iter().map(Vocabulary::value).collect()),
            list(advice.temperatures.iter().map(<TemperatureKind as Vocabulary>::value).collect()),
            list(advice.levels.iter().map(<DifficultyLevel as Vocabulary>::value).collect()),
            if advice.lowers_taste { "yes" } else { "no" },
            advice.reason,
        ));
    }
    text
}

#[test]
fn the_docs_show_the_table() {
    let docs = include_str!("../../../docs/yoga-conditions.md");
    assert!(docs.contains(&table()), "docs/yoga-conditions.md should hold:\n{}", table());
}
