//! Documents: what may be uploaded, who may read it, and until when it may be taken away.

use std::sync::Arc;

use futures_executor::block_on;

use super::world::{World, actor};
use crate::compliance::{DOCUMENT_MAX_BYTES, DOCUMENTS_MAX, DocumentKind, MediaType};
use crate::{DecisionOrder, Document, OnboardingError, ReviewVerdict, Upload, reseal_documents};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::reseal::Resealed;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::Vault;
use intent_gateway_testing::entropy::Counting;

const PDF: &[u8] = b"%PDF-1.7 the shop licence";
const OTHER_PDF: &[u8] = b"%PDF-1.7 another page";

fn pdf(bytes: &[u8]) -> Upload<'_> {
    let (kind, media_type) = (DocumentKind::Shop, MediaType::Pdf);
    Upload { kind, file_name: "../licence.pdf", media_type, bytes }
}

fn code_of<T: std::fmt::Debug>(outcome: Result<T, OnboardingError>) -> String {
    match outcome {
        Err(OnboardingError::Refused(refusal)) => refusal.violations[0].code.clone(),
        Err(OnboardingError::OutOfStep { code, .. }) => code.to_owned(),
        Err(OnboardingError::NotFound(what)) => format!("no {what}"),
        other => panic!("expected a refusal, found {other:?}"),
    }
}

impl World {
    fn upload(&self, account: &PartnerId, bytes: &[u8]) -> Result<Document, OnboardingError> {
        block_on(self.onboarding.documents.add(account, pdf(bytes), &actor("partner")))
    }

    fn replace(&self, account: &PartnerId, id: &str, by: &str) -> Result<Document, OnboardingError> {
        block_on(self.onboarding.documents.replace(account, id, pdf(OTHER_PDF), &actor(by)))
    }

    fn take_away(&self, account: &PartnerId, id: &str, by: &str) -> Result<(), OnboardingError> {
        block_on(self.onboarding.documents.remove(account, id, &actor(by)))
    }

    fn read(&self, account: &PartnerId, id: &str) -> Result<Vec<u8>, OnboardingError> {
        block_on(self.onboarding.documents.read(account, id, &actor("admin"))).map(|(_, bytes)| bytes)
    }

    fn listed(&self, account: &PartnerId) -> Vec<Document> {
        block_on(self.onboarding.documents.list(account)).expect("there")
    }
}

#[test]
fn a_document_is_kept_sealed_and_read_by_the_team_on_record() {
    let world = World::new();
    let account = world.account();
    let kept = world.upload(&account, PDF).expect("kept");
    assert_eq!((kept.file_name.as_str(), kept.size_bytes), ("licence.pdf", PDF.len() as u64));
    assert_eq!(world.listed(&account), std::slice::from_ref(&kept));
    let everything = world.store.everything();
    assert!(!everything.contains("%PDF") && !everything.contains("the shop licence"), "nothing stands in plain");
    assert_eq!(world.upload(&account, PDF).expect("the same"), kept, "a repeated upload makes no second one");
    assert_eq!(world.read(&account, &kept.id).expect("opened"), PDF);
    let log = world.actions();
    assert_eq!(log.last().map(String::as_str), Some("document.read"));
    assert_eq!(code_of(world.read(&account, "doc_0")), "no document");
    assert_eq!(code_of(world.upload(&PartnerId::parse("ptr_0").expect("well formed"), PDF)), "no account");

    let replaced = world.replace(&account, &kept.id, "partner").expect("nothing was submitted");
    assert_eq!((&replaced.id, replaced.digest == kept.digest), (&kept.id, false));
    assert_eq!(world.read(&account, &kept.id).expect("opened"), OTHER_PDF);
    world.take_away(&account, &kept.id, "partner").expect("nothing was submitted");
    assert!(world.listed(&account).is_empty());
    assert_eq!(code_of(world.read(&account, &kept.id)), "no document");
    assert_eq!(code_of(world.take_away(&account, &kept.id, "partner")), "no document");
}

#[test]
fn only_files_of_three_forms_and_bounded_size_are_kept() {
    let world = World::new();
    let account = world.account();
    for bad in [&b""[..], b"<html><script>", b"%PDF", b"\x89PNG\r\n\x1a\n"] {
        assert_eq!(code_of(world.upload(&account, bad)), "NOT_THAT_FORM", "{bad:?}");
    }
    let mut large = PDF.to_vec();
    large.resize(DOCUMENT_MAX_BYTES, b' ');
    world.upload(&account, &large).expect("as large as it may be");
    large.push(b' ');
    assert_eq!(code_of(world.upload(&account, &large)), "TOO_LONG");
    for number in 1..DOCUMENTS_MAX {
        world.upload(&account, format!("%PDF-{number}").as_bytes()).expect("kept");
    }
    assert_eq!(code_of(world.upload(&account, b"%PDF-more")), "TOO_MANY_DOCUMENTS");
    assert_eq!(world.listed(&account).len(), DOCUMENTS_MAX);
}

#[test]
fn nothing_is_taken_away_that_a_decision_hangs_on() {
    let world = World::new();
    let account = world.account();
    let seen = world.upload(&account, PDF).expect("kept").id;
    let review = world.submit(&account, true).review.expect("under review");
    let added = world.upload(&account, b"%PDF-late").expect("more can be added").id;
    for id in [&seen, &added] {
        assert_eq!(code_of(world.replace(&account, id, "partner")), "DOCUMENT_IN_USE");
        assert_eq!(code_of(world.take_away(&account, id, "partner")), "DOCUMENT_IN_USE");
    }
    let notes = "another scan".to_owned();
    let order = DecisionOrder { verdict: ReviewVerdict::Reject, notes, confirmed: [].into() };
    block_on(world.onboarding.reviews.decide(&review, &order, &actor("admin"))).expect("decided");
    world.take_away(&account, &added, "partner").expect("it is decided");

    world.submit(&account, true);
    world.approve(&account);
    assert_eq!(code_of(world.take_away(&account, &seen, "partner")), "DOCUMENT_IN_USE");
    let later = world.upload(&account, b"%PDF-later").expect("kept").id;
    world.take_away(&account, &later, "partner").expect("the approval does not rest on it");
    world.take_away(&account, &seen, "admin").expect("the platform team may tidy up");
}

#[test]
fn what_was_moved_in_the_store_does_not_open() {
    let world = World::new();
    let account = world.account();
    let (one, other) = (world.upload(&account, PDF).expect("kept"), world.upload(&account, OTHER_PDF).expect("kept"));
    world.swap_contents(&one.id, &other.id);
    for id in [&one.id, &other.id] {
        assert!(matches!(world.read(&account, id), Err(OnboardingError::Sealed(_))));
    }
}

#[test]
fn documents_are_sealed_anew_under_the_current_master_key() {
    let world = World::new();
    let account = world.account();
    let files = [PDF, OTHER_PDF];
    let ids = files.map(|bytes| world.upload(&account, bytes).expect("kept").id);
    let entropy = Arc::new(Counting::default());
    let (first, second) = (Secret::new("m".repeat(32)), Secret::new("n".repeat(32)));
    let reseal = |current: &Secret, previous: &[Secret]| {
        let vault = Vault::new(current, previous, entropy.clone());
        block_on(reseal_documents(&*world.store, &vault, &|_, _| {})).expect("done")
    };
    assert_eq!(reseal(&second, std::slice::from_ref(&first)), Resealed { seen: 2, resealed: 2, unreadable: 0 });
    assert!(ids.iter().all(|id| world.read(&account, id).is_err()), "the world has the former key alone");
    assert_eq!(reseal(&second, &[]), Resealed { seen: 2, resealed: 0, unreadable: 0 });
    // Back under the key that the world has: what was sealed is what comes out.
    assert_eq!(reseal(&first, &[second]), Resealed { seen: 2, resealed: 2, unreadable: 0 });
    assert_eq!(ids.map(|id| world.read(&account, &id).expect("opened")), files);
}
