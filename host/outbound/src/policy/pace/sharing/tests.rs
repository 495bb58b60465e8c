use futures_executor::block_on;
use intent_gateway_domain::clock::Clock as _;
use intent_gateway_domain::contract::{Tool, ToolRole};
use intent_gateway_domain::fleet::Fleet;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::user::User;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::contract as test_support;
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::fleet::{MemoryCounts, fleet_of, set_live};
use intent_gateway_testing::users::user;

use super::super::Admitted;
use super::*;

const LEASE_MS: u64 = 10_000;

/// Two gateways on one store, in one time.
struct World {
    clock: Arc<TestClock>,
    counts: Arc<MemoryCounts>,
    fleet: Fleet,
    gateways: [Pace; 2],
    partner: PartnerId,
    user: User,
}

impl World {
    fn new(live: usize) -> Self {
        // Whoever waits in vain has waited.
        let clock = TestClock::jumping_at(1_000_000);
        let counts = MemoryCounts::new(clock.clone());
        let fleet = fleet_of(live, clock.clone(), LEASE_MS, &[]);
        let gateway = || Pace::new(fleet.clone(), Some(Sharing::new(counts.clone(), vault())));
        let partner = PartnerId::parse("one").expect("well formed");
        Self { gateways: [gateway(), gateway()], clock, counts, fleet, partner, user: user("ann") }
    }

    fn call<'a>(&'a self, tool: &'a Tool) -> PacedCall<'a> {
        let (partner, user) = (&self.partner, Some(&self.user));
        PacedCall { partner, intent: "test.find_things", tool, user, is_repeat: false }
    }

    /// As the step of a call does it.
    fn admit(&self, gateway: usize, tool: &Tool) -> Result<Admitted, HeldCall> {
        let (pace, call) = (&self.gateways[gateway], self.call(tool));
        let mut admitted = pace.admit(&call, self.clock.now())?;
        let slot = admitted.user.as_mut().expect("the user has a rate");
        match block_on(pace.take_shared_turn(&call, slot, &*self.clock)) {
            Ok(()) => Ok(admitted),
            Err(held) => {
                pace.take_back(admitted);
                Err(held)
            }
        }
    }

    fn held(&self, gateway: usize, tool: &Tool) -> Option<u64> {
        self.admit(gateway, tool).err().map(|held| {
            assert_eq!(held.by, HeldBy::UserRate);
            held.wait_ms
        })
    }
}

fn tool(role: ToolRole) -> Tool {
    Tool { rate_per_minute: None, ..test_support::tool("some_tool", role, 0, 0) }
}

#[test]
fn a_turn_is_one_over_all_gateways() {
    let (world, search, create) = (World::new(2), tool(ToolRole::Search), tool(ToolRole::Create));
    assert_eq!([world.held(0, &search), world.held(1, &search)], [None, Some(1_000)]);
    assert_eq!([world.held(1, &create), world.held(0, &create)], [None, Some(60_000)], "each rate by itself");
    world.clock.advance(1_000);
    assert_eq!([world.held(1, &search), world.held(0, &search)], [None, Some(1_000)]);
    let detail = tool(ToolRole::GetDetail);
    let seen: Vec<_> = (0..7).map(|number| world.held(number % 2, &detail)).collect();
    assert_eq!(seen, [None, None, None, None, None, Some(1_000), Some(1_000)]);
}

#[test]
fn what_another_gateway_refused_is_counted_nowhere() {
    let (world, create) = (World::new(2), tool(ToolRole::Create));
    let admitted = world.admit(0, &create).expect("the first");
    assert_eq!(world.held(1, &create), Some(60_000));
    // It came to nothing: the user may make another one, at either.
    block_on(world.gateways[0].give_back_turn(admitted.user.expect("her own"), &*world.clock));
    assert_eq!([world.held(1, &create), world.held(0, &create)], [None, Some(60_000)]);
}

#[test]
fn who_is_alone_asks_nobody() {
    let (world, create) = (World::new(1), tool(ToolRole::Create));
    assert_eq!([world.held(0, &create), world.held(1, &create)], [None, None]);
    assert_eq!(world.counts.asked(), 0);
    set_live(&world.fleet, 2, LEASE_MS, &[]);
    world.clock.advance(60_000);
    assert_eq!([world.held(0, &create), world.held(1, &create)], [None, Some(60_000)]);
    // The other has gone; what it has counted counts for as long as it would have.
    set_live(&world.fleet, 1, LEASE_MS, &[]);
    world.clock.advance(59_999);
    assert_eq!(world.held(1, &create), Some(1));
    world.clock.advance(1);
    let asked = world.counts.asked();
    assert_eq!(world.held(1, &create), None);
    assert_eq!(world.counts.asked(), asked);
}

#[test]
fn a_store_that_does_not_answer_holds_nobody_up_for_long() {
    let (world, search) = (World::new(2), tool(ToolRole::Search));
    for begin in [MemoryCounts::set_down, MemoryCounts::set_hanging] {
        begin(&world.counts, true);
        let (begun, asked) = (world.clock.now(), world.counts.asked());
        assert_eq!([world.held(0, &search), world.held(1, &search)], [None, None], "each counts for itself");
        assert!(world.held(1, &search).is_some(), "and goes on to count");
        assert!(world.clock.now().ms_since(begun) <= 2 * TURN_MAX.as_millis() as u64);
        assert_eq!(world.counts.asked(), asked + 2);
        world.clock.advance(PAUSE_MS - 2 * TURN_MAX.as_millis() as u64);
        let other = PacedCall { user: Some(&user("bob")), ..world.call(&search) };
        let mut admitted = world.gateways[0].admit(&other, world.clock.now()).expect("his first");
        let slot = admitted.user.as_mut().expect("his own");
        let turn = block_on(world.gateways[0].take_shared_turn(&other, slot, &*world.clock));
        assert_eq!((turn, world.counts.asked()), (Ok(()), asked + 2), "the store is left alone for a while");
        begin(&world.counts, false);
        world.clock.advance(5_000);
        assert_eq!([world.held(0, &search), world.held(1, &search)], [None, Some(1_000)]);
        world.clock.advance(5_000);
    }
}
