use proptest::prelude::*;

use super::*;
use intent_gateway_domain::fleet::shared::SharedBackOff;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract as test_support;
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::fleet::{MemoryCounts, fleet_of, set_live};
use intent_gateway_testing::users::user;

const LEASE_MS: u64 = 10_000;

const START: Timestamp = Timestamp::from_ms(1_000_000);

fn partner(name: &str) -> PartnerId {
    PartnerId::parse(name).expect("well formed")
}

fn tool(role: ToolRole, rate_per_minute: u32) -> Tool {
    let mut tool = test_support::tool("some_tool", role, 0, 0);
    tool.rate_per_minute = Some(rate_per_minute);
    tool
}

/// Whether a call may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Call,
    Wait(u64, HeldBy),
}

fn admit(pace: &Pace, call: &PacedCall<'_>, now: Timestamp) -> Decision {
    pace.admit(call, now).map_or_else(|HeldCall { wait_ms, by }| Decision::Wait(wait_ms, by), |_| Decision::Call)
}

/// A call for one user or none at one partner, in the same intent.
fn call<'a>(partner: &'a PartnerId, tool: &'a Tool, user: Option<&'a User>) -> PacedCall<'a> {
    PacedCall { partner, intent: "test.find_things", tool, user, is_repeat: false }
}

#[test]
fn each_role_has_its_rate() {
    let (one, other, ann, bob) = (partner("one"), partner("other"), user("ann"), user("bob"));
    let wait = |ms| Decision::Wait(ms, HeldBy::UserRate);
    for (role, at, expected) in [
        (ToolRole::Search, [0, 999, 1_000], [Decision::Call, wait(1), Decision::Call]),
        (ToolRole::Create, [0, 59_999, 60_000], [Decision::Call, wait(1), Decision::Call]),
        (ToolRole::Cancel, [0, 0, 0], [Decision::Call; 3]),
        (ToolRole::Modify, [0, 0, 0], [Decision::Call; 3]),
        (ToolRole::Track, [0, 0, 0], [Decision::Call; 3]),
        (ToolRole::Rate, [0, 0, 0], [Decision::Call; 3]),
        (ToolRole::Utility, [0, 0, 0], [Decision::Call; 3]),
    ] {
        let (pace, tool) = (Pace::default(), tool(role, 600));
        let seen = at.map(|at_ms| admit(&pace, &call(&one, &tool, Some(&ann)), START.plus_ms(at_ms)));
        assert_eq!(seen, expected, "{role:?}");
        // Another user, another partner, and no user at all are not held back by it.
        let last = START.plus_ms(at[2]);
        for paced in [call(&one, &tool, Some(&bob)), call(&other, &tool, Some(&ann)), call(&one, &tool, None)] {
            assert_eq!(admit(&pace, &paced, last), Decision::Call, "{role:?}");
        }
    }
}

#[test]
fn details_are_counted_over_all_partners() {
    let (one, other, ann) = (partner("one"), partner("other"), user("ann"));
    let (pace, tool) = (Pace::default(), tool(ToolRole::GetDetail, 600));
    for step in 0..5 {
        let partner = if step % 2 == 0 { &one } else { &other };
        assert_eq!(admit(&pace, &call(partner, &tool, Some(&ann)), START.plus_ms(step * 10)), Decision::Call);
    }
    let held = admit(&pace, &call(&one, &tool, Some(&ann)), START.plus_ms(100));
    assert_eq!(held, Decision::Wait(900, HeldBy::UserRate));
    assert_eq!(admit(&pace, &call(&one, &tool, Some(&ann)), START.plus_ms(1_000)), Decision::Call);
}

#[test]
fn users_are_never_added_up_where_the_intent_states_no_rate() {
    let (one, pace) = (partner("one"), Pace::default());
    let create = Tool { rate_per_minute: None, ..tool(ToolRole::Create, 1) };
    for number in 0..100 {
        let user = user(&format!("user-{number}"));
        assert_eq!(admit(&pace, &call(&one, &create, Some(&user)), START), Decision::Call, "{number}");
    }
    let ann = user("user-0");
    let held = admit(&pace, &call(&one, &create, Some(&ann)), START.plus_ms(1));
    assert_eq!(held, Decision::Wait(59_999, HeldBy::UserRate));
}

#[test]
fn a_retry_counts_for_the_partner_alone() {
    let (one, ann) = (partner("one"), user("ann"));
    let (pace, tool) = (Pace::default(), tool(ToolRole::Create, 2));
    let first = call(&one, &tool, Some(&ann));
    let again = PacedCall { is_repeat: true, ..first };
    assert_eq!(admit(&pace, &first, START), Decision::Call);
    assert_eq!(admit(&pace, &again, START.plus_ms(2_000)), Decision::Call);
    assert_eq!(admit(&pace, &again, START.plus_ms(4_000)), Decision::Wait(56_000, HeldBy::PartnerRate));
}

#[test]
fn what_came_to_nothing_gives_the_user_the_turn_back() {
    let (one, ann, bob) = (partner("one"), user("ann"), user("bob"));
    let (pace, create) = (Pace::default(), tool(ToolRole::Create, 2));
    let first = call(&one, &create, Some(&ann));
    let slot = pace.admit(&first, START).expect("admitted").user.expect("her own");
    pace.give_back(slot);
    assert_eq!(admit(&pace, &first, START), Decision::Call);
    let held = admit(&pace, &call(&one, &create, Some(&bob)), START.plus_ms(1));
    assert_eq!(held, Decision::Wait(59_999, HeldBy::PartnerRate), "the partner was called twice all the same");
    let other = Tool { name: "another".to_owned(), rate_per_minute: Some(3), ..create.clone() };
    let repeat = PacedCall { is_repeat: true, ..call(&one, &other, Some(&ann)) };
    assert!(
        matches!(pace.admit(&repeat, START), Ok(Admitted { user: None, .. })),
        "a repeated call takes no slot of the user"
    );
    assert_eq!(admit(&pace, &call(&one, &other, Some(&ann)), START), Decision::Call, "each tool by itself");
    assert_eq!(
        admit(&pace, &call(&one, &other, Some(&ann)), START.plus_ms(1)),
        Decision::Wait(59_999, HeldBy::UserRate)
    );
}

#[test]
fn a_call_that_came_to_nothing_gives_back_its_own_slot() {
    let (one, ann) = (partner("one"), user("ann"));
    let (pace, detail) = (Pace::default(), tool(ToolRole::GetDetail, 600));
    let ask = |at_ms| pace.admit(&call(&one, &detail, Some(&ann)), START.plus_ms(at_ms));
    let first = ask(0).expect("admitted").user.expect("her own");
    for at_ms in [900; 4] {
        assert!(ask(at_ms).is_ok());
    }
    pace.give_back(first);
    assert!(ask(950).is_ok());
    // Five were made since 900, and none of them was given back.
    assert_eq!(ask(1_000).err(), Some(HeldCall { wait_ms: 900, by: HeldBy::UserRate }));
}

#[test]
fn a_call_that_is_taken_back_was_never_counted() {
    let (one, ann, bob) = (partner("one"), user("ann"), user("bob"));
    let (pace, search) = (Pace::default(), tool(ToolRole::Search, 1));
    let admitted = pace.admit(&call(&one, &search, Some(&ann)), START).expect("admitted");
    pace.take_back(admitted);
    assert_eq!(admit(&pace, &call(&one, &search, Some(&ann)), START), Decision::Call);
    assert_eq!(
        admit(&pace, &call(&one, &search, Some(&bob)), START.plus_ms(1)),
        Decision::Wait(59_999, HeldBy::PartnerRate)
    );
}

#[test]
fn a_partners_rate_is_divided_among_the_gateways() {
    let clock = TestClock::at(0);
    let fleet = fleet_of(3, clock, LEASE_MS, &[]);
    let (one, pace, search) = (partner("one"), Pace::new(fleet.clone(), None), tool(ToolRole::Search, 7));
    let admitted = |at_ms| {
        let count = (0..9).filter(|_| admit(&pace, &call(&one, &search, None), START.plus_ms(at_ms)) == Decision::Call);
        count.count()
    };
    assert_eq!(admitted(0), 2);
    set_live(&fleet, 1, LEASE_MS, &[]);
    assert_eq!(admitted(0), 5, "what the others had is there again");
    set_live(&fleet, 9, LEASE_MS, &[]);
    assert_eq!(admitted(1), 0, "what was made before counts");
    assert_eq!(admitted(60_000), 1, "never less than one");
}

#[test]
fn a_partner_that_asked_another_gateway_is_left_alone_here_too() {
    let (one, tool, clock) = (partner("one"), tool(ToolRole::Cancel, 600), TestClock::at(0));
    let fleet = fleet_of(2, clock.clone(), LEASE_MS, &[]);
    let sharing = || Some(Sharing::new(MemoryCounts::new(clock.clone()), vault()));
    let (here, there) = (Pace::new(fleet.clone(), sharing()), Pace::new(fleet.clone(), sharing()));
    here.note_rate_limit(&one, START, None, START);
    let told = here.take_untold(START.plus_ms(100));
    assert_eq!(told, [SharedBackOff { partner: one.clone(), times: 1, wait_ms: 900 }]);
    assert_eq!(here.take_untold(START.plus_ms(100)), [], "once");
    // The clocks of two gateways may be as far apart as they like.
    let now = START.plus_ms(5_000_000);
    there.hear_back_off(&told[0], now);
    assert_eq!(admit(&there, &call(&one, &tool, None), now.plus_ms(1)), Decision::Wait(899, HeldBy::BackOff));
    assert_eq!(admit(&there, &call(&one, &tool, None), now.plus_ms(900)), Decision::Call);
    // The round goes on where the other gateway was.
    there.note_rate_limit(&one, now.plus_ms(900), None, now.plus_ms(900));
    assert_eq!(admit(&there, &call(&one, &tool, None), now.plus_ms(900)), Decision::Wait(4_000, HeldBy::BackOff));
    assert_eq!(there.take_untold(now.plus_ms(900))[0].times, 2);
    set_live(&fleet, 1, LEASE_MS, &[]);
    clock.advance(120_000);
    here.note_rate_limit(&one, START.plus_ms(60_000), None, START.plus_ms(60_000));
    assert_eq!(here.take_untold(START.plus_ms(60_000)), [], "who is alone tells nobody");
}

#[test]
fn a_partners_rate_is_per_tool_and_intent_for_all_users() {
    let (one, other, users) = (partner("one"), partner("other"), ["a", "b", "c"].map(user));
    let (pace, search) = (Pace::default(), tool(ToolRole::Search, 2));
    let seen = [0, 1, 2].map(|who| admit(&pace, &call(&one, &search, Some(&users[who])), START));
    assert_eq!(seen, [Decision::Call, Decision::Call, Decision::Wait(60_000, HeldBy::PartnerRate)]);
    let mut cancel = tool(ToolRole::Cancel, 2);
    cancel.name = "cancel_thing".to_owned();
    let elsewhere = PacedCall { intent: "test.other", ..call(&one, &search, None) };
    for paced in [call(&one, &cancel, None), call(&other, &search, None), elsewhere] {
        assert_eq!(admit(&pace, &paced, START), Decision::Call, "{paced:?}");
    }
}

#[test]
fn what_is_held_back_is_not_counted() {
    let (one, ann, bob) = (partner("one"), user("ann"), user("bob"));
    let (pace, tool) = (Pace::default(), tool(ToolRole::Search, 2));
    assert_eq!(admit(&pace, &call(&one, &tool, Some(&ann)), START), Decision::Call);
    for _ in 0..10 {
        // Held by the user's rate: the partner's stays as it is.
        assert_eq!(admit(&pace, &call(&one, &tool, Some(&ann)), START), Decision::Wait(1_000, HeldBy::UserRate));
    }
    assert_eq!(admit(&pace, &call(&one, &tool, Some(&bob)), START), Decision::Call);
    // The longest wait is told.
    assert_eq!(admit(&pace, &call(&one, &tool, Some(&ann)), START), Decision::Wait(60_000, HeldBy::PartnerRate));
}

#[test]
fn a_partner_that_asked_to_slow_down_is_left_alone() {
    let (one, other) = (partner("one"), partner("other"));
    let (pace, tool) = (Pace::default(), tool(ToolRole::Cancel, 600));
    assert_eq!(pace.counts().left_alone_ms(&one, START), None);
    pace.note_rate_limit(&one, START, Some(2_500), START);
    assert_eq!(pace.counts().left_alone_ms(&one, START.plus_ms(500)), Some(2_000));
    assert_eq!(admit(&pace, &call(&one, &tool, None), START.plus_ms(500)), Decision::Wait(2_000, HeldBy::BackOff));
    assert_eq!(admit(&pace, &call(&other, &tool, None), START), Decision::Call);
    assert_eq!(pace.counts().left_alone_ms(&one, START.plus_ms(2_500)), None);
    assert_eq!(admit(&pace, &call(&one, &tool, None), START.plus_ms(2_500)), Decision::Call);
    pace.note_rate_limit(&one, START.plus_ms(2_500), None, START.plus_ms(2_600));
    assert_eq!(pace.counts().left_alone_ms(&one, START.plus_ms(2_600)), Some(4_000));
    pace.note_answer(&one, START.plus_ms(6_600));
    pace.note_rate_limit(&one, START.plus_ms(7_000), None, START.plus_ms(7_000));
    assert_eq!(pace.counts().left_alone_ms(&one, START.plus_ms(7_000)), Some(1_000));
}

#[test]
fn counts_are_bounded() {
    let (one, tool) = (partner("one"), tool(ToolRole::Search, u32::MAX));
    let pace = Pace::default();
    for number in 0..USERS_MAX {
        let user = user(&number.to_string());
        assert_eq!(admit(&pace, &call(&one, &tool, Some(&user)), START), Decision::Call);
    }
    let late = user("late");
    assert_eq!(admit(&pace, &call(&one, &tool, Some(&late)), START), Decision::Wait(1_000, HeldBy::Crowded));
    assert_eq!(admit(&pace, &call(&one, &tool, Some(&late)), START.plus_ms(1_000)), Decision::Call);
    assert!(pace.counts().users.len() < 10, "what has ended is forgotten");
}

proptest! {
    #[test]
    fn no_rate_is_ever_exceeded(
        steps in prop::collection::vec((0_usize..2, 0_usize..3, 0_usize..3, 0_u64..400), 1..400),
    ) {
        let partners = ["one", "other"].map(partner);
        let users = ["a", "b", "c"].map(user);
        let tools = [tool(ToolRole::Search, 20), tool(ToolRole::GetDetail, 90), tool(ToolRole::Create, 90)];
        let tools = ["search", "get", "create"].into_iter().zip(tools).map(|(name, tool)| Tool { name: name.to_owned(), ..tool });
        let tools: Vec<Tool> = tools.collect();
        let pace = Pace::default();
        let (mut now, mut made) = (START, Vec::<(Timestamp, usize, usize, usize)>::new());
        for (partner, user, tool, step_ms) in steps {
            now = now.plus_ms(step_ms);
            let within = |per_ms: u64, same: &dyn Fn(usize, usize, usize) -> bool| {
                let recent = made.iter().filter(|(at, ..)| at.plus_ms(per_ms) > now);
                recent.filter(|(_, p, u, t)| same(*p, *u, *t)).count()
            };
            let full = within(60_000, &|p, _, t| (p, t) == (partner, tool)) >= tools[tool].rate_per_minute.map_or(usize::MAX, |rate| rate as usize)
                || match tool {
                    0 => within(1_000, &|p, u, t| (p, u, t) == (partner, user, 0)) >= 1,
                    1 => within(1_000, &|_, u, t| (u, t) == (user, 1)) >= 5,
                    _ => within(60_000, &|p, u, t| (p, u, t) == (partner, user, 2)) >= 1,
                };
            let decision = admit(&pace, &call(&partners[partner], &tools[tool], Some(&users[user])), now);
            if decision == Decision::Call {
                prop_assert!(!full);
                made.push((now, partner, user, tool));
            } else {
                // 90 a minute are remembered in groups, which may hold a call back a second longer.
                prop_assert!(full || tool > 0);
            }
        }
    }
}
