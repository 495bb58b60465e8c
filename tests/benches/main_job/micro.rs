//! The parts of a search, each alone: instantiation, a contract call against the same Rust natively, the host's
//! scan, the load of compiled code.

use std::hint::black_box;
use std::time::{Duration, Instant};

use contract_sdk::bindings as wit;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{About, Axes, CallContext, Candidate, Payload};
use intent_gateway_domain::forbidden::ForbiddenFields;
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_routing::payload;
use intent_gateway_routing::scan::scan;
use intent_gateway_sandbox::{CompiledCache, Engine, LoadedContract, SandboxConfig};
use serde_json::value::RawValue;

use crate::subject::{SUBJECTS, Subject};
use crate::{line, verdict};

/// Rounds of each measurement; the best one counts, since noise only ever adds.
const ROUNDS: u32 = 15;
/// Time of one round.
const ROUND_TIME: Duration = Duration::from_millis(200);

/// Time of one call, the best round's mean.
pub(crate) fn measure(mut call: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let (start, mut calls) = (Instant::now(), 0_u32);
        while start.elapsed() < ROUND_TIME {
            call();
            calls += 1;
        }
        best = best.min(start.elapsed() / calls);
    }
    best
}

pub(crate) fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Measures the parts for each contract. Runs on the runtime's own thread, as a search does.
pub(crate) async fn run() {
    let engine = Engine::new(&SandboxConfig::default()).expect("the engine starts");
    println!("The parts; best of {ROUNDS} rounds");
    for subject in &SUBJECTS {
        parts(&engine, subject).await;
    }
}

async fn parts(engine: &Engine, subject: &Subject) {
    let text = subject.payload();
    let fields = ForbiddenFields::new(&[]);
    let options = payload::read(&text, subject.options_key, &fields).expect("the sample is sound").options;
    let component = subject.component();
    let contract = LoadedContract::compile(engine, &component).await.expect("the contract loads");
    let context = CallContext { request_id: "bench".to_owned(), now: Timestamp::from_ms(1_767_225_600_000) };
    let request = contract.check_request(&context, subject.tool, &subject.request(), About::default()).await;
    let request = request.expect("the sample is sound").arguments;

    println!(
        "\n{}: {} options, {} KB; component {} KB\n",
        subject.intent,
        options.len(),
        text.len() / 1000,
        component.len() / 1000
    );
    let instantiate = tokio::task::block_in_place(|| {
        let handle = tokio::runtime::Handle::current();
        measure(|| handle.block_on(contract.instantiate_only()).expect("an instance"))
    });
    line(
        "instantiate alone",
        &format!("{:.1} us", us(instantiate)),
        &format!("aim 5 us: {}", verdict(us(instantiate) <= 5.0)),
    );
    contract_calls(subject, &contract, &context, &request, &options);
    let scanned = measure(|| {
        black_box(scan(black_box(&text), Some(subject.options_key), &fields)).expect("the sample is flat");
    });
    line("scan in the host", &format!("{:.1} us", us(scanned)), "");
    let read = measure(|| {
        black_box(payload::read(black_box(&text), subject.options_key, &fields)).expect("the sample is sound");
    });
    line("take the payload apart, scan included", &format!("{:.1} us", us(read)), "");
    compiled_form(engine, &component).await;
}

fn contract_calls(
    subject: &Subject,
    contract: &LoadedContract,
    context: &CallContext,
    request: &RawValue,
    options: &[Box<RawValue>],
) {
    let wasm = evaluate_in_wasm(contract, context, request, options);
    let native = evaluate_natively(subject, context, request, options);
    let ratio = us(wasm) / us(native);
    line("evaluate, wasm, a fresh instance each", &format!("{:.1} us", us(wasm)), "");
    line(
        "evaluate, the same Rust natively",
        &format!("{:.1} us", us(native)),
        &format!("wasm/native {ratio:.2}, aim 1.6: {}", verdict(ratio <= 1.6)),
    );
    let empty = evaluate_in_wasm(contract, context, request, &[]);
    let empty_native = evaluate_natively(subject, context, request, &[]);
    let isolation = us(empty) - us(empty_native);
    line(
        "isolation (an empty evaluate, less the same natively)",
        &format!("{isolation:.1} us"),
        &format!("aim 20 us: {}", verdict(isolation <= 20.0)),
    );
    let check = check_request(subject, contract, context);
    line("check-request, wasm", &format!("{:.1} us", us(check)), "");
}

async fn compiled_form(engine: &Engine, component: &[u8]) {
    let state = tempfile::tempdir().expect("a temporary folder");
    let cache = CompiledCache::open(engine, state.path()).expect("the cache opens");
    let start = Instant::now();
    let digest = cache.fill(component).await.expect("the contract compiles");
    let compile = start.elapsed();
    let load = measure(|| assert!(cache.loads(digest)));
    line(
        "load of the compiled form, integrity checked",
        &format!("{:.0} us", us(load)),
        &format!("aim 1000 us: {}", verdict(us(load) <= 1000.0)),
    );
    line("compile, once for each component", &format!("{:.0} ms", us(compile) / 1e3), "");
}

fn payloads<'a>(options: &'a [Box<RawValue>]) -> [Payload<'a>; 1] {
    let candidates = (0..).zip(options).map(|(number, option)| Candidate { number, json: option.get() });
    [Payload { declared: Axes::UNDECLARED, candidates: candidates.collect() }]
}

fn evaluate_in_wasm(
    contract: &LoadedContract,
    context: &CallContext,
    request: &RawValue,
    options: &[Box<RawValue>],
) -> Duration {
    let payloads = payloads(options);
    tokio::task::block_in_place(|| {
        let handle = tokio::runtime::Handle::current();
        measure(|| {
            let evaluation =
                handle.block_on(contract.evaluate(context, request.get(), &payloads, &[])).expect("evaluated");
            assert_eq!(black_box(evaluation).ranked.len(), options.len());
        })
    })
}

/// The contract's own code, and all that the host does around it: nothing. Copies of the options are made in each
/// call, as the component's boundary makes them.
fn evaluate_natively(
    subject: &Subject,
    context: &CallContext,
    request: &RawValue,
    options: &[Box<RawValue>],
) -> Duration {
    let context = wit::Context { request_id: context.request_id.clone(), now_ms: context.now.as_ms() };
    measure(|| {
        let candidates =
            (0..).zip(options).map(|(number, option)| wit::Candidate { number, json: option.get().to_owned() });
        let declared = wit::Axes { time: 0.5, taste: 0.5, budget: 0.5, safety: 0.5 };
        let payloads = [wit::Payload { declared, candidates: candidates.collect() }];
        let evaluation = (subject.evaluate)(&context, request.get(), &payloads, &[]).expect("evaluated");
        assert_eq!(black_box(evaluation).ranked.len(), options.len());
    })
}

fn check_request(subject: &Subject, contract: &LoadedContract, context: &CallContext) -> Duration {
    let (request, tool) = (subject.request(), subject.tool);
    tokio::task::block_in_place(|| {
        let handle = tokio::runtime::Handle::current();
        measure(|| {
            black_box(
                handle.block_on(contract.check_request(context, tool, &request, About::default())).expect("checked"),
            );
        })
    })
}
