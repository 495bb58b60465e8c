//! Users who wait as they are told, and a partner that asks to slow down for a while: in virtual time, over thousands of courses.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use proptest::prelude::*;

use super::back_off::{BACK_OFF_MS, BACK_OFF_TRIES, LEFT_ALONE_MS};
use super::*;
use intent_gateway_testing::contract as test_support;
use intent_gateway_testing::users::user;

const START: Timestamp = Timestamp::from_ms(1_000_000);
/// Users of a course, at most.
const USERS: usize = 4;

fn partner() -> PartnerId {
    PartnerId::parse("one").expect("well formed")
}

/// A tool without a rate of the partner's own: what holds calls back is the user's, or the back-off.
fn tool(role: ToolRole) -> Tool {
    Tool { rate_per_minute: None, ..test_support::tool("some_tool", role, 0, 0) }
}

fn call<'a>(partner: &'a PartnerId, tool: &'a Tool, user: &'a User) -> PacedCall<'a> {
    PacedCall { partner, intent: "test.find_things", tool, user: Some(user), is_repeat: false }
}

/// Calls at most that meet with a request to slow down in a span of so long, where one is made as soon as each wait is over
/// and none is under way beside it.
fn asked_max(span_ms: u64) -> usize {
    let round = (0..=BACK_OFF_TRIES as usize).map(|time| {
        if time == BACK_OFF_TRIES as usize { LEFT_ALONE_MS } else { BACK_OFF_MS[time.min(BACK_OFF_MS.len() - 1)] }
    });
    let mut waited_ms = 0;
    let waits = round.collect::<Vec<_>>().into_iter().cycle().take_while(|wait_ms| {
        let is_within = waited_ms <= span_ms;
        waited_ms += wait_ms;
        is_within
    });
    waits.count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// One who comes again after the wait that was told is let through: nobody is put off twice by a rate of their own. What came
    /// to nothing is given back, and does not count.
    #[test]
    fn whoever_waits_as_told_gets_the_turn_and_no_window_holds_more(
        role in prop_oneof![Just(ToolRole::Search), Just(ToolRole::Create), Just(ToolRole::GetDetail)],
        steps in prop::collection::vec((0..USERS, 0_u64..30_000, any::<bool>(), 0_u8..5), 1..150),
    ) {
        let (pace, partner, tool) = (Pace::default(), partner(), tool(role));
        let users: Vec<User> = (0..USERS).map(|number| user(&number.to_string())).collect();
        let (most, per_ms) = match role {
            ToolRole::Search => (SEARCHES_PER_SECOND, SECOND_MS),
            ToolRole::Create => (CREATES_PER_MINUTE, MINUTE_MS),
            _ => (GETS_PER_SECOND, SECOND_MS),
        };
        let mut made: Vec<(usize, Timestamp)> = Vec::new();
        let mut now = START;
        for (who, later_ms, is_soon, comes_to_nothing) in steps {
            now = now.plus_ms(if is_soon { later_ms % 300 } else { later_ms });
            let within = |made: &[(usize, Timestamp)], now: Timestamp| {
                made.iter().filter(|(of, at)| *of == who && at.plus_ms(per_ms) > now).count()
            };
            let paced = call(&partner, &tool, &users[who]);
            let slot = match pace.admit(&paced, now) {
                Ok(admitted) => admitted.user,
                Err(held) => {
                    prop_assert!(held.by == HeldBy::UserRate && (1..=per_ms).contains(&held.wait_ms), "{held:?}");
                    prop_assert_eq!(within(&made, now), most as usize, "held back although there is room");
                    now = now.plus_ms(held.wait_ms);
                    let again = pace.admit(&paced, now);
                    prop_assert!(again.is_ok(), "{again:?} after the wait that was told");
                    again.ok().and_then(|admitted| admitted.user)
                }
            };
            if comes_to_nothing == 0 {
                pace.give_back(slot.expect("the user's own"));
            } else {
                made.push((who, now));
            }
            let within = within(&made, now);
            prop_assert!(within <= most as usize, "{within} calls of one user in {per_ms} ms");
        }
    }

    /// A partner that asks to slow down for a while is called a bounded number of times, and called again soon after.
    #[test]
    fn a_partner_that_asks_to_slow_down_is_left_alone_and_called_again(
        storm_ms in 1_000_u64..400_000,
        calls_ms in 1_u64..2_000,
        gaps in prop::collection::vec(1_u64..1_500, 1..8),
        retry_after_ms in prop::option::of(1_u64..90_000),
    ) {
        let (pace, partner, tool) = (Pace::default(), partner(), tool(ToolRole::Cancel));
        let user = user("ann");
        let mut under_way: BinaryHeap<Reverse<(u64, u64)>> = BinaryHeap::new();
        let (mut now_ms, mut asked, mut at_once) = (0, 0, 0);
        // An answer to a call that began after it last asked to slow down.
        let (mut answered_ms, mut last_asked_ms) = (None, 0);
        let longest_ms = LEFT_ALONE_MS.max(retry_after_ms.unwrap_or(0));
        let bound_ms = storm_ms + calls_ms + longest_ms + 1_500;
        for step in 0_usize.. {
            now_ms += gaps[step % gaps.len()];
            while under_way.peek().is_some_and(|Reverse((ends_ms, _))| *ends_ms <= now_ms) {
                let Some(Reverse((ends_ms, began_ms))) = under_way.pop() else { break };
                let (started, ended) = (START.plus_ms(began_ms), START.plus_ms(ends_ms));
                if began_ms < storm_ms {
                    asked += 1;
                    last_asked_ms = ends_ms;
                    pace.note_rate_limit(&partner, started, retry_after_ms, ended);
                } else {
                    pace.note_answer(&partner, started);
                    if began_ms > last_asked_ms {
                        answered_ms.get_or_insert(ends_ms);
                    }
                }
            }
            if now_ms > bound_ms + calls_ms + 10_000 {
                break;
            }
            match pace.admit(&call(&partner, &tool, &user), START.plus_ms(now_ms)) {
                Ok(_) => {
                    under_way.push(Reverse((now_ms + calls_ms, now_ms)));
                    at_once = at_once.max(under_way.len());
                }
                Err(held) => {
                    prop_assert!(held.by == HeldBy::BackOff && held.wait_ms <= longest_ms, "{held:?}");
                    prop_assert!(answered_ms.is_none(), "it answers again, and a call is held back");
                }
            }
        }
        // Those that were under way together when it asked for the first time, and after each wait again, count as one.
        let most = asked_max(storm_ms + calls_ms) * at_once;
        prop_assert!(asked <= most, "{asked} calls met with it in {storm_ms} ms, at most {most}");
        prop_assert!(
            answered_ms.is_some_and(|at_ms| at_ms <= bound_ms + calls_ms),
            "called again at {answered_ms:?}, at most {}", bound_ms + calls_ms
        );
    }
}
