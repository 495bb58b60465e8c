//! What onboarding looks at from outside: a partner's server as probes see it, and pages.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::ports::{PageFetch, PartnerProbe};
use intent_gateway_domain::probe::{FetchedPage, ProbeFailure, ProbeRecord, ProbeRequest, ProbeStep, Step};
use intent_gateway_domain::sign_in::SignInServer;
use serde_json::{Value, json};

/// How long every probe takes.
pub const PROBE_MS: u64 = 42;

/// The descriptor of the tool `search_things` of `test.find_things`, as a partner's server shows it.
#[must_use]
pub fn shown_tool(description: &str) -> Value {
    json!({
        "name": "search_things",
        "description": description,
        "inputSchema": { "type": "object", "properties": {}, "required": [] },
        "_meta": { "platform": { "intent": "test.find_things", "domain": "test" } },
    })
}

/// A partner's server that shows the tools that the test says, at every HTTPS address.
pub struct ProbedServer(Mutex<State>);

struct State {
    tools: Vec<Value>,
    failure: Option<ProbeFailure>,
    sign_in: Option<SignInServer>,
    during_next: Option<Box<dyn FnOnce() + Send>>,
}

impl ProbedServer {
    /// A server that shows these tools.
    pub fn showing(tools: impl IntoIterator<Item = Value>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State {
            tools: tools.into_iter().collect(),
            failure: None,
            sign_in: None,
            during_next: None,
        })))
    }

    /// From here on, it shows these tools.
    pub fn show(&self, tools: impl IntoIterator<Item = Value>) {
        self.state().tools = tools.into_iter().collect();
    }

    /// From here on, it shows its tools with a change.
    pub fn change_tools(&self, change: impl FnOnce(&mut Vec<Value>)) {
        change(&mut self.state().tools);
    }

    /// From here on, probes fail like this, before they see any tool.
    pub fn fail(&self, failure: ProbeFailure) {
        self.state().failure = Some(failure);
    }

    /// From here on, probes pass again.
    pub fn recover(&self) {
        self.state().failure = None;
    }

    /// From here on, it names this authorization server.
    pub fn name_server(&self, sign_in: Option<SignInServer>) {
        self.state().sign_in = sign_in;
    }

    /// Runs in the middle of the next probe.
    pub fn during_next_probe(&self, hook: impl FnOnce() + Send + 'static) {
        self.state().during_next = Some(Box::new(hook));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no test panics in it")
    }
}

impl PartnerProbe for ProbedServer {
    fn admits(&self, endpoint: &Endpoint) -> Result<(), CallFailure> {
        match endpoint.url().starts_with("https://") {
            true => Ok(()),
            false => Err(CallFailure::AddressRefused("plain HTTP is not allowed".to_owned())),
        }
    }

    fn probe<'a>(&'a self, request: ProbeRequest<'a>) -> BoxFuture<'a, ProbeRecord> {
        // The hook may change the server, so it runs without the lock.
        let hook = self.state().during_next.take();
        if let Some(hook) = hook {
            hook();
        }
        let state = self.state();
        let mut record = ProbeRecord::new(request.endpoint.clone(), request.now);
        record.ended_at_ms = record.ended_at_ms.plus_ms(PROBE_MS);
        let passed = state.failure.is_none();
        record.steps.push(ProbeStep { step: Step::Initialize, passed, elapsed_ms: PROBE_MS });
        record.failure.clone_from(&state.failure);
        if passed {
            record.tools.clone_from(&state.tools);
            record.sign_in.clone_from(&state.sign_in);
        }
        ready(record).boxed()
    }
}

/// A site of which every page is alike: there, of 4,000 bytes and in HTML, until the test says otherwise.
pub struct Pages {
    answer: Mutex<(u16, u64, &'static str)>,
    /// Who waits, while no page is answered.
    held: Mutex<Option<Vec<Waker>>>,
    asked: AtomicUsize,
}

impl Default for Pages {
    fn default() -> Self {
        let answer = Mutex::new((200, 4_000, "text/html; charset=utf-8"));
        Self { answer, held: Mutex::default(), asked: AtomicUsize::default() }
    }
}

impl Pages {
    /// From here on, pages have this status, so many bytes and this media type.
    pub fn answer(&self, status: u16, bytes: u64, content_type: &'static str) {
        *self.answer.lock().expect("no test panics in it") = (status, bytes, content_type);
    }

    /// From here on, no page is answered.
    pub fn hold(&self) {
        self.held.lock().expect("no test panics in it").get_or_insert_default();
    }

    /// Pages are answered again, those that are waited for too.
    pub fn release(&self) {
        let waiting = self.held.lock().expect("no test panics in it").take();
        waiting.into_iter().flatten().for_each(Waker::wake);
    }

    /// How many were asked for.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl PageFetch for Pages {
    fn fetch<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<FetchedPage, CallFailure>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        poll_fn(move |context| {
            if let Some(waiting) = self.held.lock().expect("no test panics in it").as_mut() {
                waiting.push(context.waker().clone());
                return Poll::Pending;
            }
            let (status, bytes, content_type) = *self.answer.lock().expect("no test panics in it");
            let content_type = Some(content_type.to_owned());
            Poll::Ready(Ok(FetchedPage { url: url.to_owned(), status, content_type, bytes }))
        })
        .boxed()
    }
}
