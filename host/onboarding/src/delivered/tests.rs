//! What reports come to, and where declared signals are inflated.

use proptest::prelude::*;

use super::inflation::{SAFETY_AT_MOST, TIME_AT_MOST, on};
use super::*;
use intent_gateway_domain::contract::{Axes, Axis};

fn tally(partner: &str, status: &str, reports: u64, timed: u64, late_minutes: i64) -> Tally {
    Tally {
        partner: PartnerId::parse(partner).expect("well formed"),
        intent: IntentId::parse("test.find_things").expect("well formed"),
        status: status.to_owned(),
        reports,
        timed,
        late_minutes,
    }
}

fn charged(_: &IntentId) -> Option<Vec<String>> {
    Some(vec!["completed".to_owned(), "partly_completed".to_owned()])
}

/// So many orders carried out and cancelled, of which so many tell their lateness.
fn delivered(completed: u64, cancelled: u64, timed: u64, late_minutes: i64) -> Delivered {
    let rows = vec![
        tally("coolcar", "completed", completed, timed, late_minutes),
        tally("coolcar", "cancelled_by_user", cancelled, 0, 0),
    ];
    Delivered::sum_up(rows, charged).pop().expect("one partner and intent")
}

fn declared(time: f64, safety: f64) -> Axes {
    Axes { time, safety, ..Axes::UNDECLARED }
}

const ALL_AT_TOP: Axes = Axes { time: 1.0, taste: 1.0, budget: 1.0, safety: 1.0 };

fn axes(inflated: &[Inflated]) -> Vec<Axis> {
    inflated.iter().map(|inflated| inflated.axis).collect()
}

#[test]
fn reports_are_summed_up_by_partner_and_intent() {
    let rows = vec![
        tally("b", "completed", 3, 2, -4),
        tally("a", "completed", 5, 0, 0),
        tally("b", "partly_completed", 1, 1, 10),
        tally("b", "cancelled_by_user", 2, 0, 0),
        tally("b", "cancelled", 1, 0, 0),
        tally("b", "no_show", 1, 0, 0),
    ];
    let sums = Delivered::sum_up(rows.clone(), charged);
    let [a, b] = sums.as_slice() else { panic!("{sums:?}") };
    assert_eq!((a.partner.as_str(), a.reports(), a.completion_rate()), ("a", 5, Some(1.0)));
    assert_eq!((a.mean_late_minutes(), a.cancellations().count()), (None, 0));
    assert_eq!((b.reports(), b.completed, b.completion_rate()), (8, Some(4), Some(0.5)));
    assert_eq!(b.cancellations().collect::<Vec<_>>(), [("cancelled", 1), ("cancelled_by_user", 2)]);
    assert_eq!(b.mean_late_minutes(), Some(2.0));

    let unknown = Delivered::sum_up(rows, |_| None);
    assert!(unknown.iter().all(|sum| sum.completed.is_none() && sum.completion_rate().is_none()));
    assert_eq!(unknown[1].reports(), 8, "what was reported is known without a contract");
}

#[test]
fn time_is_held_against_lateness() {
    let cases = [
        // Mean lateness, declared, inflated. The scale: 0 min 1.0, 30 min 0.8, 120 min 0.3, 240 min 0.0.
        (-90, 1.0, false),
        (0, 1.0, false),
        (15, 1.0, false),
        (30, 1.0, true),
        (30, 0.9, false),
        (75, 0.8, true),
        (75, 0.65, false),
        (120, 0.5, true),
        (120, 0.4, false),
        (240, 0.2, true),
        (10_000, 0.2, true),
        (10_000, 0.1, false),
    ];
    for (late, time, inflated) in cases {
        let seen = delivered(20, 0, 20, 20 * late).inflation(&declared(time, 0.5));
        assert_eq!(axes(&seen), if inflated { vec![Axis::Time] } else { vec![] }, "{late} min, {time}: {seen:?}");
    }
    let seen = delivered(30, 0, 20, 1_200).inflation(&declared(1.0, 0.5));
    let told = |it: &Inflated| (it.declared, it.measure, it.delivered, it.reports);
    assert_eq!(seen.iter().map(told).collect::<Vec<_>>(), [(1.0, Measure::MeanLateMinutes, 60.0, 20)]);
    let at_most = seen[0].at_most.expect("on the scale");
    assert!((at_most - (0.8 - 0.5 / 3.0)).abs() < 1e-9, "{at_most}");
}

#[test]
fn safety_is_held_against_the_completion_rate() {
    for (completed, safety, inflated) in
        [(100, 1.0, false), (90, 1.0, false), (80, 1.0, false), (75, 1.0, true), (75, 0.9, false), (45, 0.7, true)]
    {
        let seen = delivered(completed, 100 - completed, 0, 0).inflation(&declared(0.5, safety));
        assert_eq!(axes(&seen), if inflated { vec![Axis::Safety] } else { vec![] }, "{completed}, {safety}");
    }
    let seen = delivered(45, 55, 0, 0).inflation(&declared(0.5, 0.7));
    assert_eq!((seen[0].measure, seen[0].delivered, seen[0].reports), (Measure::CompletionRate, 0.45, 100));
    assert_eq!(seen[0].at_most, Some(0.5));
}

#[test]
fn all_at_the_top_asks_for_near_perfect_delivery() {
    let every = vec![Axis::Time, Axis::Taste, Axis::Budget, Axis::Safety];
    assert!(delivered(98, 2, 98, 98 * 5).inflation(&ALL_AT_TOP).is_empty());
    let seen = delivered(97, 3, 0, 0).inflation(&ALL_AT_TOP);
    assert_eq!(axes(&seen), every);
    assert!(seen.iter().all(|it| it.measure == Measure::CompletionRate && it.at_most.is_none()), "{seen:?}");
    let seen = delivered(100, 0, 100, 600).inflation(&ALL_AT_TOP);
    assert_eq!(axes(&seen), every);
    assert!(seen.iter().all(|it| it.measure == Measure::MeanLateMinutes), "{seen:?}");
    let nearly = Axes { taste: 0.99, ..ALL_AT_TOP };
    assert!(delivered(97, 3, 0, 0).inflation(&nearly).is_empty());
    // What the scale bears out is told where it can be.
    let seen = delivered(50, 50, 0, 0).inflation(&ALL_AT_TOP);
    assert_eq!(seen.iter().filter_map(|it| it.at_most.map(|_| it.axis)).collect::<Vec<_>>(), [Axis::Safety]);
}

#[test]
fn a_few_reports_tell_nothing() {
    assert!(delivered(0, 19, 0, 0).inflation(&ALL_AT_TOP).is_empty());
    assert_eq!(delivered(0, 20, 0, 0).inflation(&ALL_AT_TOP).len(), 4);
    // Each measure by itself: 40 reports of which 19 tell their lateness.
    assert!(delivered(40, 0, 19, 19 * 600).inflation(&declared(1.0, 1.0)).is_empty());
    assert_eq!(delivered(40, 0, 20, 20 * 600).inflation(&declared(1.0, 1.0)).len(), 1);
}

#[test]
fn without_a_live_contract_nobody_knows_what_was_carried_out() {
    let unknown = Delivered { completed: None, ..delivered(0, 500, 0, 0) };
    assert!(unknown.inflation(&ALL_AT_TOP).is_empty());
}

fn signal() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..=1.0_f64, Just(1.0)]
}

fn signals() -> impl Strategy<Value = Axes> {
    let each = (signal(), signal(), signal(), signal());
    prop_oneof![each.prop_map(|(time, taste, budget, safety)| Axes { time, taste, budget, safety }), Just(ALL_AT_TOP),]
}

prop_compose! {
    /// Enough reports to be judged, those that tell their lateness being none or enough as well.
    fn sample()(
        completed in prop_oneof![0_u64..300, REPORTS_MIN..300],
        cancelled in prop_oneof![REPORTS_MIN..300, 0_u64..8],
        timed in prop_oneof![Just(0_u64), REPORTS_MIN..300],
        mean in -60_i64..400,
        rest in 0_i64..20,
    ) -> Delivered {
        // Enough in all, whatever was drawn.
        let cancelled = if completed < REPORTS_MIN { cancelled.max(REPORTS_MIN) } else { cancelled };
        let timed = timed.min(completed);
        let timed = if timed < REPORTS_MIN { 0 } else { timed };
        delivered(completed, cancelled, timed, if timed == 0 { 0 } else { timed as i64 * mean + rest })
    }
}

fn within(smaller: &[Inflated], larger: &[Inflated]) -> bool {
    axes(smaller).iter().all(|axis| axes(larger).contains(axis))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn more_orders_carried_out_inflate_nothing(before in sample(), more in 1_u64..400, signals in signals()) {
        let mut after = before.clone();
        *after.statuses.entry("completed".to_owned()).or_default() += more;
        after.completed = after.completed.map(|completed| completed + more);
        prop_assert!(within(&after.inflation(&signals), &before.inflation(&signals)));
    }

    #[test]
    fn the_scales_never_turn_back(
        late in -60.0..400.0_f64,
        less in 0.0..200.0_f64,
        rate in 0.0..=1.0_f64,
        lower in 0.0..1.0_f64,
    ) {
        prop_assert!(on(&TIME_AT_MOST, late) <= on(&TIME_AT_MOST, late - less));
        prop_assert!(on(&SAFETY_AT_MOST, rate) >= on(&SAFETY_AT_MOST, rate * lower));
    }

    #[test]
    fn less_lateness_inflates_nothing(before in sample(), minutes in 1_i64..10_000, signals in signals()) {
        let mut after = before.clone();
        after.late_minutes -= if after.timed == 0 { 0 } else { minutes };
        prop_assert!(within(&after.inflation(&signals), &before.inflation(&signals)));
    }

    #[test]
    fn a_lower_declaration_inflates_nothing(sample in sample(), high in signals(), by in signals()) {
        let Axes { time, taste, budget, safety } = high;
        let low = Axes {
            time: time * by.time,
            taste: taste * by.taste,
            budget: budget * by.budget,
            safety: safety * by.safety,
        };
        prop_assert!(within(&sample.inflation(&low), &sample.inflation(&high)));
    }

    #[test]
    fn whoever_keeps_every_promise_may_declare_anything(
        completed in 0_u64..1_000,
        timed: bool,
        early in 0_i64..60,
        signals in signals(),
    ) {
        let (timed, late) = if timed { (completed, -early * completed as i64) } else { (0, 0) };
        prop_assert_eq!(delivered(completed, 0, timed, late).inflation(&signals), vec![]);
    }

    #[test]
    fn what_is_told_can_be_kept(sample in sample(), signals in signals()) {
        for inflated in sample.inflation(&signals) {
            let text = serde_json::to_string(&inflated).expect("serialises");
            prop_assert_eq!(serde_json::from_str::<Inflated>(&text).expect("reads what it writes"), inflated);
        }
    }
}
