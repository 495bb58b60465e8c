//! A test call tells which intent a wish belongs to, and what that intent looks like.

use futures_executor::block_on;

use super::world::{INTENT, World};
use crate::{OnboardingError, TestCall};
use intent_gateway_domain::id::PartnerId;

impl World {
    fn try_wish(&self, account: &PartnerId, wish: &str) -> TestCall {
        block_on(self.onboarding.test_calls.call(account, wish)).expect("answered")
    }
}

#[test]
fn what_is_decided_on_comes_with_a_sample_of_its_own() {
    let world = World::new();
    let account = world.account();
    for wish in ["I need a thing", INTENT] {
        let call = world.try_wish(&account, wish);
        assert_eq!(call.intent.as_deref(), Some(INTENT), "{wish}");
        let sample = call.sample.expect("the contract shows one");
        assert_eq!((sample.tool.as_str(), sample.search.request.as_str()), ("search_things", r#"{"near":"Pune"}"#));
        assert_eq!(sample.search.options.len(), 2, "two are enough");
        assert!(call.note.contains("form of a ride") && call.note.contains("`sample`"), "{}", call.note);
    }
    let bare = world.try_wish(&account, "test.find_others");
    assert_eq!((bare.intent.as_deref(), bare.sample), (Some("test.find_others"), None));
    assert!(bare.note.contains("form of a ride") && bare.note.contains("GET /api/v1/intents"), "{}", bare.note);
}

#[test]
fn what_nobody_decides_on_is_not_ok() {
    let world = World::new();
    let account = world.account();
    let nobody = world.try_wish(&account, "good morning");
    assert_eq!((nobody.intent, nobody.sample), (None, None));
    // A contract knows whose it is: of one that nobody here serves, or of one that does not claim it.
    for (wish, whose) in [("a thing in a hotel", "travel.book_hotel"), ("a thing of a neighbour", "test.find_others")] {
        let elsewhere = world.try_wish(&account, wish);
        assert_eq!((elsewhere.intent, elsewhere.sample), (None, None), "{wish}");
        assert!(elsewhere.note.contains(whose), "{}", elsewhere.note);
    }
    let unknown = block_on(world.onboarding.test_calls.call(&account, "travel.book_hotel"));
    assert!(matches!(unknown, Err(OnboardingError::Refused(refusal)) if refusal.code == "INVALID_INTENT"));
}
