//! Contracts that take more memory than one instance may have: by several memories, each within the cap, and by many calls at
//! once, each within its own.

use futures_util::future::join_all;
use serde_json::json;

use crate::harness::{Gateway, GatewayOptions, ac_contract, request};
use crate::hostile_guests::hostile;
use crate::scripted::{Behaviour, Scripted};

const MIB: u64 = 1 << 20;
/// What an instance may have.
const INSTANCE_MAX_BYTES: u64 = 64 * MIB;
/// What all of them may have.
const SUM_MAX_BYTES: u64 = 256 * MIB;
/// What else a busy gateway may grow by.
const GROWTH_MAX_BYTES: u64 = 64 * MIB;

/// The component with a module besides, of which each instance makes an instance of its own.
fn with_module(mut component: Vec<u8>, module: &str) -> Vec<u8> {
    let module = wat::parse_str(module).expect("the text is a module");
    let number = u8::try_from(count_modules(&component)).expect("there are few");
    section(&mut component, 1, &module);
    // One instance of that module, which is given nothing.
    section(&mut component, 2, &[1, 0, number, 0]);
    component
}

fn section(component: &mut Vec<u8>, id: u8, content: &[u8]) {
    component.push(id);
    let mut length = content.len();
    while length > 0x7f {
        component.push(u8::try_from(length & 0x7f).expect("seven bits") | 0x80);
        length >>= 7;
    }
    component.push(u8::try_from(length).expect("seven bits"));
    component.extend_from_slice(content);
}

/// The modules of a component, none of which lies in a nested one.
fn count_modules(component: &[u8]) -> usize {
    let (mut rest, mut modules) = (&component[8..], 0);
    while let Some((id, after)) = rest.split_first() {
        let (mut length, mut digits) = (0, 0);
        while after[digits] > 0x7f {
            length |= usize::from(after[digits] & 0x7f) << (7 * digits);
            digits += 1;
        }
        length |= usize::from(after[digits]) << (7 * digits);
        modules += usize::from(*id == 1);
        rest = &after[digits + 1 + length..];
    }
    modules
}

/// A module that takes so many pages and writes to all of them, or traps where it is not given them.
fn taking(pages: u64) -> String {
    format!(
        "(module (memory 0) (func $take
            (if (i32.eq (memory.grow (i32.const {pages})) (i32.const -1)) (then unreachable))
            (memory.fill (i32.const 0) (i32.const 1) (i32.const {})))
            (start $take))",
        pages * 64 * 1024
    )
}

async fn gateway() -> (Gateway, Scripted) {
    let partner = Scripted::start(Behaviour::Payload(json!({"slots": [], "things": [{"thing_id": "a"}]}))).await;
    let extra = format!(
        "[sandbox]\nmemory_max_bytes = {INSTANCE_MAX_BYTES}\ninstances_memory_max_bytes = {SUM_MAX_BYTES}\n\
         wait_max_ms = 10000\n"
    );
    let mut entry = partner.entry("scripted");
    entry.intents.push("test.hostile".to_owned());
    let options =
        GatewayOptions { partners: vec![entry], contracts: vec![ac_contract()], extra, ..GatewayOptions::default() };
    (Gateway::start(&options), partner)
}

#[tokio::test(flavor = "multi_thread")]
async fn all_memories_of_an_instance_share_one_cap() {
    let (gateway, _partner) = gateway().await;
    let three = (0..3).fold(hostile("1.0.0", "honest"), |component, _| with_module(component, &taking(400)));
    let answer = gateway.upload(&three).await;
    assert_eq!((answer.status, &answer.body["error"]["code"]), (422, &json!("DESCRIBE_FAILED")), "{}", answer.body);
    let message = answer.body["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("more than 67108864 bytes of memory"), "{message}");
    // What is within it together is taken.
    let two = (0..2).fold(hostile("1.0.0", "honest"), |component, _| with_module(component, &taking(400)));
    assert_eq!(gateway.upload(&two).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_instances_share_one_sum_and_none_takes_the_part_of_another_contract() {
    let (gateway, _partner) = gateway().await;
    let greedy = with_module(hostile("1.0.0", "honest"), &taking(900));
    assert_eq!(gateway.upload(&greedy).await.status, 201);
    let search = |misdeed: &str| {
        let body = json!({"request_id": "r", "do": misdeed});
        let gateway = &gateway;
        async move { gateway.post("/api/v1/intents/test.hostile/search", &body).await }
    };
    let before = gateway.server.resident_bytes();
    let mut peak = before;
    let mut calls = Box::pin(join_all((0..12).map(|_| search("spin"))));
    let (mut served, ac) = (0, request());
    let answers = loop {
        tokio::select! {
            answers = &mut calls => break answers,
            // The other contract is served all the while.
            found = gateway.found(&ac) => {
                assert_eq!(found["contract"]["version"], "1.0.0");
                served += 1;
                peak = peak.max(gateway.server.resident_bytes());
            }
        }
    };
    assert!(served > 0, "the calls were over at once");
    assert!(peak < before + SUM_MAX_BYTES + GROWTH_MAX_BYTES, "{before} to {peak} bytes");
    for answer in answers {
        let code = answer.body["error"]["code"].as_str().unwrap_or_default();
        assert!(["CONTRACT_DEADLINE", "OVERLOADED"].contains(&code), "{}", answer.body);
    }
    // Calls that found no memory do not count against the version.
    assert_eq!(search("nothing").await.status, 200);
}
