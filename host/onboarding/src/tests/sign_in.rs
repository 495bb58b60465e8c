//! Where a partner's users sign in: what holds, what has to be looked at, and what a decision changes.

use std::collections::BTreeSet;

use futures_executor::block_on;
use futures_util::future::join_all;

use super::world::{World, actor, asked_by, endpoint};
use crate::records::{Connection, ReviewStatus, ReviewSubject};
use crate::{ConnectionSignIn, DecisionOrder, OnboardingError, ReviewVerdict};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::ports::SignInServers as _;
use intent_gateway_domain::sign_in::SignInServer;
use intent_gateway_domain::store::{Change, Store as _, Versioned, load};

fn server(name: &str) -> SignInServer {
    SignInServer {
        issuer: format!("https://id.{name}.example"),
        resource: Some(format!("https://mcp.{name}.example/mcp")),
        origins: BTreeSet::from([format!("https://id.{name}.example")]),
    }
}

impl World {
    fn sign_in(&self, account: &PartnerId) -> ConnectionSignIn {
        self.connection(account).sign_in
    }

    /// What tokens of the partner's users may be used for, as calls are told.
    fn in_force(&self, account: &PartnerId) -> Option<SignInServer> {
        self.onboarding.live.directory().find(account).expect("routed").sign_in.clone()
    }

    /// A user's browser finds that the partner names this server.
    fn admit(&self, account: &PartnerId, named: &SignInServer) -> bool {
        let partner = self.onboarding.live.directory().find(account).expect("routed");
        block_on(self.onboarding.sign_ins.admit(&partner, named))
    }

    fn decide_sign_in(&self, review: &str, verdict: ReviewVerdict) -> Result<(), OnboardingError> {
        let order = DecisionOrder { verdict, notes: "looked at".to_owned(), confirmed: BTreeSet::new() };
        block_on(self.onboarding.reviews.decide(review, &order, &actor("admin"))).map(drop)
    }

    /// Another account, whose endpoint is registered and was not probed yet.
    fn registered(&self, name: &str) -> PartnerId {
        self.mails();
        let email = format!("ops@{name}.example");
        block_on(self.onboarding.accounts.sign_up(&email, name, "192.0.2.1")).expect("sent");
        let code = self.mailed_code();
        let account = block_on(self.onboarding.accounts.verify(&email, &code, "192.0.2.1")).expect("right").account.id;
        let asked = asked_by("partner");
        block_on(self.onboarding.connections.register(&account, &endpoint(name), &asked)).expect("taken");
        account
    }

    /// Another account whose server names this one.
    fn keep_other(&self, like: &PartnerId, id: &str, named: &SignInServer) {
        let connection = Connection {
            account: PartnerId::parse(id).expect("sound"),
            sign_in: ConnectionSignIn { approved: Some(named.clone()), named: None, review: None },
            ..self.connection(like)
        };
        let mut change = Change::default();
        change.put(&Versioned::new(connection));
        block_on(self.store.commit(change)).expect("kept");
    }
}

#[test]
fn the_first_server_holds_and_another_one_waits_for_a_review() {
    let world = World::new();
    world.outside.server.name_server(Some(server("coolcar")));
    let account = world.live();
    assert_eq!(world.in_force(&account), Some(server("coolcar")));
    assert!(world.admit(&account, &server("coolcar")));
    world.mails();

    assert!(!world.admit(&account, &server("other")));
    assert_eq!(world.in_force(&account), None, "nobody's token is used meanwhile");
    let review = world.sign_in(&account).review.expect("a review");
    assert_eq!(world.mails().len(), 1);
    assert!(!world.admit(&account, &server("other")));
    assert_eq!(world.sign_in(&account).review.as_deref(), Some(review.as_str()), "one review is enough");
    assert!(world.mails().is_empty());
    world.decide_sign_in(&review, ReviewVerdict::Approve).expect("decided");
    assert_eq!(world.in_force(&account), Some(server("other")));
    assert!(!world.admit(&account, &server("coolcar")), "what held before is another one now");
}

#[test]
fn a_rejected_server_waits_until_the_approved_one_is_back() {
    let world = World::new();
    world.outside.server.name_server(Some(server("coolcar")));
    let account = world.live();
    assert!(!world.admit(&account, &server("other")));
    let review = world.sign_in(&account).review.expect("a review");
    world.decide_sign_in(&review, ReviewVerdict::Reject).expect("decided");
    assert!(!world.admit(&account, &server("other")));
    assert_eq!(world.in_force(&account), None);
    assert!(world.admit(&account, &server("coolcar")));
    assert_eq!(world.in_force(&account), Some(server("coolcar")));
}

#[test]
fn a_server_of_somebody_else_is_never_taken_unseen() {
    let mut wide = server("third");
    wide.origins.extend(server("honest").origins);
    let same_resource = SignInServer { resource: server("honest").resource, ..server("third") };
    for named in [server("honest"), wide, same_resource] {
        let world = World::new();
        let account = world.live();
        world.keep_other(&account, "honest", &server("honest"));
        assert!(!world.admit(&account, &named), "{named:?}");
        assert_eq!(world.in_force(&account), None);
        let id = world.sign_in(&account).review.expect("a review");
        let review = block_on(world.onboarding.reviews.get(&id)).expect("there").review;
        let ReviewSubject::SignIn { shared_with, .. } = review.subject else { panic!("{review:?}") };
        assert_eq!(shared_with.iter().map(PartnerId::as_str).collect::<Vec<_>>(), ["honest"]);
        // Two that truly share a server work once somebody has said so.
        world.decide_sign_in(&id, ReviewVerdict::Approve).expect("decided");
        assert!(world.admit(&account, &named));
    }
}

#[test]
fn a_decision_concerns_what_was_reviewed_and_no_other_server() {
    let world = World::new();
    world.outside.server.name_server(Some(server("coolcar")));
    let account = world.live();
    assert!(!world.admit(&account, &server("other")));
    let former = world.sign_in(&account).review.expect("a review");
    assert!(!world.admit(&account, &server("third")));
    let status = block_on(world.onboarding.reviews.get(&former)).expect("there").review.status;
    assert_eq!(status, ReviewStatus::Superseded);
    let closed = world.decide_sign_in(&former, ReviewVerdict::Approve);
    assert!(matches!(closed, Err(OnboardingError::OutOfStep { code: "REVIEW_CLOSED", .. })), "{closed:?}");
    assert_eq!(world.in_force(&account), None);
}

#[test]
fn a_probe_notes_another_server_and_another_address_forgets_what_held() {
    let world = World::new();
    world.outside.server.name_server(Some(server("coolcar")));
    let account = world.live();
    world.outside.server.name_server(Some(server("other")));
    block_on(world.onboarding.probes.run(&account, &actor("admin"))).expect("probed");
    assert_eq!(world.in_force(&account), None);
    let review = world.sign_in(&account).review.expect("a review");
    block_on(world.onboarding.connections.register(&account, &endpoint("b"), &asked_by("partner"))).expect("taken");
    assert_eq!(world.sign_in(&account), ConnectionSignIn::default());
    let status = block_on(world.onboarding.reviews.get(&review)).expect("there").review.status;
    assert_eq!(status, ReviewStatus::Superseded);
}

#[test]
fn a_connection_of_an_earlier_release_has_nothing_approved() {
    let world = World::new();
    let account = world.live();
    let kept = block_on(load::<Connection>(&*world.store, account.as_str())).expect("readable").expect("there");
    let mut shape = serde_json::to_value(&kept.value).expect("serialises");
    shape.as_object_mut().expect("an object").remove("sign_in").expect("new in this release");
    let older: Connection = serde_json::from_value(shape).expect("still readable");
    assert_eq!(older.sign_in, ConnectionSignIn::default());
}

#[test]
fn a_server_that_is_first_named_after_going_live_waits_for_a_review() {
    let by_link = |world: &World, account: &PartnerId| assert!(!world.admit(account, &server("victim")));
    let by_probe = |world: &World, account: &PartnerId| {
        world.outside.server.name_server(Some(server("victim")));
        block_on(world.onboarding.probes.run(account, &actor("admin"))).expect("probed");
    };
    let moved = |world: &World, account: &PartnerId| {
        let asked = asked_by("partner");
        block_on(world.onboarding.connections.register(account, &endpoint("b"), &asked)).expect("taken");
        by_probe(world, account);
    };
    type Way<'a> = &'a dyn Fn(&World, &PartnerId);
    let ways: [Way<'_>; 3] = [&by_link, &by_probe, &moved];
    for name_it in ways {
        let world = World::new();
        let account = world.live();
        assert_eq!(world.sign_in(&account), ConnectionSignIn::default());
        name_it(&world, &account);
        let sign_in = world.sign_in(&account);
        assert_eq!((&sign_in.approved, &sign_in.named), (&None, &Some(server("victim"))));
        let id = sign_in.review.expect("a review");
        let review = block_on(world.onboarding.reviews.get(&id)).expect("there").review;
        let ReviewSubject::SignIn { before, shared_with, .. } = review.subject else { panic!("{review:?}") };
        assert!(before.is_none() && shared_with.is_empty());
        assert!(!world.actions().iter().any(|action| action == "connection.sign_in_taken"));
        world.decide_sign_in(&id, ReviewVerdict::Approve).expect("decided");
        assert_eq!(world.sign_in(&account).approved, Some(server("victim")));
    }
}

#[test]
fn what_is_taken_before_going_live_is_among_the_notes_of_the_probe() {
    let world = World::new();
    world.outside.server.name_server(Some(server("coolcar")));
    let account = world.ready();
    assert_eq!(world.sign_in(&account).approved, Some(server("coolcar")));
    let notes = world.connection(&account).probe.expect("probed").record.notes;
    let expected = [
        "users sign in with the issuer https://id.coolcar.example",
        "users' tokens are for the resource https://mcp.coolcar.example/mcp",
        "users' tokens come from https://id.coolcar.example",
    ];
    assert_eq!(notes, expected);
}

#[test]
fn two_partners_that_name_one_server_at_the_same_moment_do_not_both_get_it() {
    let world = World::new();
    let [one, other] = ["one", "other"].map(|name| world.registered(name));
    world.outside.server.name_server(Some(server("coolcar")));
    world.store.yield_reads();
    let admin = actor("admin");
    let probes = [&one, &other].map(|account| world.onboarding.probes.run(account, &admin));
    for probed in block_on(join_all(probes)) {
        probed.expect("probed");
    }
    let sign_ins = [&one, &other].map(|account| world.sign_in(account));
    let taken = sign_ins.iter().filter(|sign_in| sign_in.in_force().is_some()).count();
    assert!(taken <= 1, "{sign_ins:?}");
    assert!(sign_ins.iter().all(|sign_in| sign_in.in_force().is_some() != sign_in.review.is_some()), "{sign_ins:?}");
}

#[test]
fn a_server_that_was_noted_and_not_judged_is_judged_by_the_next_probe() {
    let world = World::new();
    let account = world.registered("coolcar");
    let mut kept = block_on(load::<Connection>(&*world.store, account.as_str())).expect("readable").expect("there");
    kept.value.sign_in.named = Some(server("coolcar"));
    let mut change = Change::default();
    change.put(&kept);
    block_on(world.store.commit(change)).expect("kept");
    world.outside.server.name_server(Some(server("coolcar")));
    let probed = block_on(world.onboarding.probes.run(&account, &actor("admin"))).expect("probed");
    assert_eq!(probed.sign_in.in_force(), Some(&server("coolcar")));
}

#[test]
fn the_server_of_a_partner_that_can_undo_its_move_is_taken_by_nobody_else_unseen() {
    let world = World::new();
    world.outside.server.name_server(Some(server("coolcar")));
    let account = world.live();
    block_on(world.onboarding.connections.register(&account, &endpoint("b"), &asked_by("partner"))).expect("taken");
    let other = world.registered("other");
    let probed = block_on(world.onboarding.probes.run(&other, &actor("admin"))).expect("probed");
    assert_eq!(probed.sign_in.in_force(), None);
    let id = probed.sign_in.review.expect("a review");
    let review = block_on(world.onboarding.reviews.get(&id)).expect("there").review;
    let ReviewSubject::SignIn { shared_with, .. } = review.subject else { panic!("{review:?}") };
    assert_eq!(shared_with, BTreeSet::from([account]));
}
