//! Instructions of the host's own code over fakes, as valgrind counts them: `cargo xtask instructions` runs this.
//!
//! Everything is done once before it is counted, so that what happens on a first call alone (the processor looked at, tables
//! built) is not in the counts. What a benchmark returns is dropped after the counting.

// Files of the store, and what they go by: its engines are not built for this.
#[expect(dead_code, unreachable_pub, reason = "the store uses all of it")]
#[path = "../../../../host/store/src/error.rs"]
mod error;
#[expect(dead_code, unused_imports, unused_macros, reason = "likewise")]
mod evidence;
#[expect(dead_code, unused_imports, reason = "likewise")]
#[path = "../../../../host/store/src/packing/mod.rs"]
mod packing;
#[expect(dead_code, reason = "likewise")]
#[path = "../../../../host/store/src/value.rs"]
mod value;
mod world;

use std::hint::black_box;

use gungraun::{library_benchmark, library_benchmark_group, main};
use intent_gateway_api::search::SearchAnswer;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::forbidden::ForbiddenFields;
use intent_gateway_domain::receipt::Receipt;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::user_data::ranking_mark;
use intent_gateway_domain::vault::Mark;
use intent_gateway_ledger::completion::intake::Acknowledgement;
use intent_gateway_routing::calling::CallOutcome;
use intent_gateway_routing::payload::{self, SearchPayload};
use intent_gateway_routing::reference::{AskerMark, OptionReference, ReferenceSealer};
use intent_gateway_routing::scan::{Scanned, scan as scan_payload};
use intent_gateway_routing::search::SearchOutcome;
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::samples::{AC_SERVICE, MOTOR_INSURANCE, OPTIONS, Sample, YOGA_CLASS};
use intent_gateway_testing::users::{asker, user};

use crate::evidence::{PackedRows, rows};
use crate::packing::Packer;
use crate::world::World;

/// What a partner answered.
struct Answered {
    text: String,
    options_key: &'static str,
    fields: ForbiddenFields<'static>,
}

fn answered(sample: Sample) -> Answered {
    let answered =
        Answered { text: sample.payload(), options_key: sample.options_key, fields: ForbiddenFields::new(&[]) };
    scan_in(&answered);
    read_in(&answered);
    answered
}

fn scan_in(answered: &Answered) -> Scanned {
    scan_payload(&answered.text, Some(answered.options_key), &answered.fields).expect("the sample is flat")
}

fn read_in(answered: &Answered) -> SearchPayload {
    payload::read(&answered.text, answered.options_key, &answered.fields).expect("the sample is sound")
}

// The scan for forbidden fields alone.
#[library_benchmark]
#[bench::ac_service(args = (AC_SERVICE), setup = answered)]
#[bench::motor_insurance(args = (MOTOR_INSURANCE), setup = answered)]
#[bench::yoga_class(args = (YOGA_CLASS), setup = answered)]
fn scan(answered: Answered) -> (Answered, Scanned) {
    let scanned = scan_in(black_box(&answered));
    (answered, scanned)
}

// A payload taken apart, the scan included.
#[library_benchmark]
#[bench::ac_service(args = (AC_SERVICE), setup = answered)]
#[bench::motor_insurance(args = (MOTOR_INSURANCE), setup = answered)]
#[bench::yoga_class(args = (YOGA_CLASS), setup = answered)]
fn read_payload(answered: Answered) -> (Answered, SearchPayload) {
    let read = read_in(black_box(&answered));
    (answered, read)
}

/// A sealer, and what the options of an answer are bound to.
struct Unsealed {
    sealer: ReferenceSealer,
    references: Vec<OptionReference>,
}

fn unsealed(sample: Sample) -> Unsealed {
    let asker = AskerMark::of(&asker("user-1"));
    let references = (0..OPTIONS).map(|number| OptionReference {
        partner: "coolcar".to_owned(),
        intent: sample.intent.to_owned(),
        contract: Digest::of(b"contract"),
        request_id: "req-1".to_owned(),
        option_id: format!("option-{number}"),
        number: u32::try_from(number).expect("there are few"),
        receipt: Some("rank_0f1e2d3c4b5a69788796a5b4".to_owned()),
        asker: Some(asker),
        result_token: Some("bench".to_owned()),
        expires_at_ms: Timestamp::from_ms(4_070_908_800_000),
        answered_at_ms: Some(Timestamp::from_ms(1_777_939_200_000)),
        quoted: None,
    });
    let unsealed =
        Unsealed { sealer: ReferenceSealer::new(&Secret::new("key of the bench")), references: references.collect() };
    seal_in(&unsealed);
    unsealed
}

fn seal_in(unsealed: &Unsealed) -> Vec<String> {
    unsealed.references.iter().map(|reference| unsealed.sealer.seal(reference)).collect()
}

// The references of one answer.
#[library_benchmark]
#[bench::ac_service(args = (AC_SERVICE), setup = unsealed)]
fn seal(unsealed: Unsealed) -> (Unsealed, Vec<String>) {
    let sealed = seal_in(black_box(&unsealed));
    (unsealed, sealed)
}

/// A gateway that is about to be asked for the first time, after another one was asked the same.
fn searching(sample: Sample) -> World {
    let ready = || {
        let world = World::new(&sample);
        world.expect_search();
        world
    };
    ready().search();
    ready()
}

// A whole search.
#[library_benchmark]
#[bench::ac_service(args = (AC_SERVICE), setup = searching)]
#[bench::motor_insurance(args = (MOTOR_INSURANCE), setup = searching)]
#[bench::yoga_class(args = (YOGA_CLASS), setup = searching)]
fn search(world: World) -> (World, SearchOutcome) {
    let found = black_box(&world).search();
    (world, found)
}

fn found(sample: Sample) -> SearchOutcome {
    let found = searching(sample).search();
    answer_of(&found);
    found
}

/// As `http` writes it.
fn answer_of(found: &SearchOutcome) -> Vec<u8> {
    let answer = SearchAnswer::from(found);
    let mut bytes = Vec::with_capacity(answer.estimate_bytes());
    serde_json::to_writer(&mut bytes, &answer).expect("it is JSON");
    bytes
}

// The JSON of an answer.
#[library_benchmark]
#[bench::ac_service(args = (AC_SERVICE), setup = found)]
#[bench::motor_insurance(args = (MOTOR_INSURANCE), setup = found)]
#[bench::yoga_class(args = (YOGA_CLASS), setup = found)]
fn answer(found: SearchOutcome) -> (SearchOutcome, Vec<u8>) {
    let bytes = answer_of(black_box(&found));
    (found, bytes)
}

/// The receipt of a search, and what packs it: two users have asked the same before, so there are dictionaries.
fn kept(sample: Sample) -> (Receipt, Mark, Packer) {
    let world = searching(sample);
    world.search();
    let receipt = world.journal.only_receipt();
    let mut packer = Packer::new();
    packer.begin(1);
    let mark = |number| ranking_mark(&vault(), &user(&format!("user-{number}")));
    for number in 1..=4 {
        pack_receipt(&receipt, &mark(number), &mut packer, number);
    }
    (receipt, mark(5), packer)
}

fn pack_receipt(receipt: &Receipt, user: &Mark, packer: &mut Packer, number: u64) -> PackedRows {
    let rows = rows(receipt, Some(user)).expect("it can be kept");
    rows.pack(packer, number).expect("it is packed")
}

// The rows of a receipt, packed, as the store keeps them.
#[library_benchmark]
#[bench::ac_service(args = (AC_SERVICE), setup = kept)]
#[bench::motor_insurance(args = (MOTOR_INSURANCE), setup = kept)]
#[bench::yoga_class(args = (YOGA_CLASS), setup = kept)]
fn receipt((receipt, user, mut packer): (Receipt, Mark, Packer)) -> (PackedRows, Packer) {
    let packed = pack_receipt(black_box(&receipt), &user, &mut packer, 5);
    (packed, packer)
}

/// A gateway in which an option was found, and the option's reference.
fn shown(sample: Sample) -> (World, String) {
    let world = searching(sample);
    let mut found = world.search();
    world.expect_call();
    (world, found.options.swap_remove(0).reference)
}

fn booking(sample: Sample) -> (World, String) {
    let (other, option) = shown(sample);
    other.book(&option);
    shown(sample)
}

// A tool call that books, with its order opened and settled.
#[library_benchmark]
#[bench::ac_service(args = (AC_SERVICE), setup = booking)]
fn book((world, option): (World, String)) -> (World, String) {
    let booking = black_box(&world).book(&option);
    (world, booking)
}

fn booked(sample: Sample) -> (World, String) {
    let (world, option) = shown(sample);
    let booking = world.book(&option);
    (world, booking)
}

fn tracking(sample: Sample) -> (World, String) {
    let (other, booking) = booked(sample);
    other.track(&booking);
    booked(sample)
}

// A tool call that reads how a booking stands.
#[library_benchmark]
#[bench::ac_service(args = (AC_SERVICE), setup = tracking)]
fn track((world, booking): (World, String)) -> (World, CallOutcome) {
    let tracked = black_box(&world).track(&booking);
    (world, tracked)
}

fn reporting(sample: Sample) -> World {
    World::new(&sample).report();
    World::new(&sample)
}

// A completion report, from its signature to its entry.
#[library_benchmark]
#[bench::ac_service(args = (AC_SERVICE), setup = reporting)]
fn report(world: World) -> (World, Acknowledgement) {
    let taken = black_box(&world).report();
    (world, taken)
}

library_benchmark_group!(
    name = host,
    benchmarks = [scan, read_payload, seal, search, receipt, answer, book, track, report]
);
main!(library_benchmark_groups = host);
