//! Contracts for tests: a small valid descriptor, a contract that does what a test scripts, and one that judges nothing.

use std::future::ready;
use std::sync::Mutex;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use intent_gateway_domain::contract::*;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::{CallFailure, ContractError, ContractFault};
use intent_gateway_domain::ports::Contract;

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).expect("valid JSON")
}

/// A descriptor of `test.find_things` with one search tool.
pub fn descriptor(version: &str) -> Descriptor {
    Descriptor {
        intent: intent_gateway_domain::id::IntentId::parse("test.find_things").expect("well formed"),
        version: version.parse().expect("semver"),
        domain: "test".to_owned(),
        agent: "TestAgent".to_owned(),
        title: "Test".to_owned(),
        summary: "Finds things.".to_owned(),
        search: SearchShape {
            tool: "search_things".to_owned(),
            options_key: "things".to_owned(),
            id_key: "thing_id".to_owned(),
            price_pointer: Some("/price_inr".to_owned()),
            max_options: 15,
            empty_code: Some("NO_THINGS".to_owned()),
            gone_code: None,
        },
        tools: vec![Tool {
            name: "search_things".to_owned(),
            role: ToolRole::Search,
            purpose: "Finds things.".to_owned(),
            latency: LatencyTargets { p50_ms: 600, p95_ms: 1_500, p99_ms: None },
            rate_per_minute: Some(60),
            idempotency_key: None,
            retry: RetryPolicy { on_rate_limited: 0, on_server_error: 0 },
            cache_seconds: None,
            orders_tool: None,
            request_schema: raw("{}"),
            response_schema: raw("{}"),
        }],
        ranking: Ranking {
            weights: Axes { time: 0.25, taste: 0.25, budget: 0.25, safety: 0.25 },
            declared_share: 0.2,
            completeness_share: 0.1,
            signals: Vec::new(),
            bands: Vec::new(),
        },
        vocabularies: Vec::new(),
        forbidden_fields: vec![ForbiddenField {
            name: "padded_price".to_owned(),
            breach: Breach::Present,
            reason: "Prices are not padded.".to_owned(),
        }],
        rules: Vec::new(),
        errors: Vec::new(),
        widget: Widget { widget_type: "generic_listings".to_owned(), preferred: None, slots: Vec::new() },
        completion: Completion {
            statuses: vec![],
            charged_statuses: vec![],
            amount_max_inr: u32::MAX,
            schema: raw("{}"),
        },
        aliases: Vec::new(),
        order: None,
        data_lifetimes: Vec::new(),
        go_live: Vec::new(),
        cues: vec!["thing".to_owned()],
        pairs: Vec::new(),
        elsewhere: Vec::new(),
    }
}

/// A contract that declares and judges nothing.
pub struct PassiveContract(pub Descriptor);

impl Contract for PassiveContract {
    fn descriptor(&self) -> &Descriptor {
        &self.0
    }

    fn digest(&self) -> Digest {
        Digest::of(b"inert")
    }

    fn classify<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<Classification, ContractFault>> {
        unreachable!("nothing is classified here")
    }

    fn check_request<'a>(
        &'a self,
        _: &'a CallContext,
        _: &'a str,
        _: &'a str,
        _: About<'a>,
    ) -> BoxFuture<'a, Result<PreparedRequest, ContractError>> {
        unreachable!("no request is checked here")
    }

    fn evaluate<'a>(
        &'a self,
        _: &'a CallContext,
        _: &'a str,
        _: &'a [Payload<'a>],
        _: &'a [PastOrder],
    ) -> BoxFuture<'a, Result<Evaluation, ContractError>> {
        unreachable!("nothing is ranked here")
    }

    fn check_response<'a>(
        &'a self,
        _: &'a CallContext,
        _: Exchange<'a>,
    ) -> BoxFuture<'a, Result<CheckedResponse, ContractError>> {
        unreachable!("no answer is judged here")
    }

    fn check_completion<'a>(
        &'a self,
        _: &'a CallContext,
        _: &'a str,
        _: About<'a>,
    ) -> BoxFuture<'a, Result<CheckedCompletion, ContractError>> {
        unreachable!("nothing is reported here")
    }
}

type Later<'a, T, E> = BoxFuture<'a, Result<T, E>>;
type OnClassify = Box<dyn for<'a> Fn(&'a str, &'a str) -> Later<'a, Classification, ContractFault> + Send + Sync>;
type OnCheckRequest =
    Box<dyn for<'a> Fn(&'a CallContext, &'a str, &'a str) -> Later<'a, PreparedRequest, ContractError> + Send + Sync>;
type OnEvaluate = Box<
    dyn for<'a> Fn(&'a CallContext, &'a str, &'a [Payload<'a>]) -> Later<'a, Evaluation, ContractError> + Send + Sync,
>;
type OnCheckResponse =
    Box<dyn for<'a> Fn(&'a CallContext, Exchange<'a>) -> Later<'a, CheckedResponse, ContractError> + Send + Sync>;
type OnCheckCompletion = Box<
    dyn for<'a> Fn(&'a CallContext, &'a str, About<'a>) -> Later<'a, CheckedCompletion, ContractError> + Send + Sync,
>;

/// A contract that does what its test has scripted, and remembers each call. A function without a script panics when it is
/// called.
pub struct ScriptedContract {
    descriptor: Descriptor,
    digest: Digest,
    on_classify: Option<OnClassify>,
    on_check_request: Option<OnCheckRequest>,
    on_evaluate: Option<OnEvaluate>,
    on_check_response: Option<OnCheckResponse>,
    on_check_completion: Option<OnCheckCompletion>,
    sample: Option<SearchSample>,
    calls: Mutex<Vec<ContractCall>>,
}

/// One call of a [`ScriptedContract`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContractCall {
    Classify {
        utterance: String,
        locale: String,
    },
    CheckRequest {
        context: CallContext,
        tool: String,
        arguments: String,
        order: Option<OrderView>,
    },
    Evaluate {
        context: CallContext,
        request: String,
        options: Vec<String>,
        history: Vec<PastOrder>,
    },
    CheckResponse {
        context: CallContext,
        tool: String,
        payload: String,
        quoted: Option<String>,
        order: Option<OrderView>,
    },
    CheckCompletion {
        context: CallContext,
        report: String,
        quoted: Option<String>,
        order: Option<OrderView>,
    },
}

impl ScriptedContract {
    /// A contract that declares this. Its digest is that of its intent and version.
    #[must_use]
    pub fn new(descriptor: Descriptor) -> Self {
        Self {
            digest: Digest::of(format!("{} {}", descriptor.intent, descriptor.version).as_bytes()),
            descriptor,
            on_classify: None,
            on_check_request: None,
            on_evaluate: None,
            on_check_response: None,
            on_check_completion: None,
            sample: None,
            calls: Mutex::default(),
        }
    }

    #[must_use]
    pub fn with_digest(self, digest: Digest) -> Self {
        Self { digest, ..self }
    }

    /// The contract shows this out of its examples.
    #[must_use]
    pub fn with_sample(self, sample: SearchSample) -> Self {
        Self { sample: Some(sample), ..self }
    }

    /// The script gets the utterance and the locale.
    #[must_use]
    pub fn on_classify(
        self,
        script: impl Fn(&str, &str) -> Result<Classification, ContractFault> + Send + Sync + 'static,
    ) -> Self {
        let script: OnClassify = Box::new(move |utterance, locale| ready(script(utterance, locale)).boxed());
        Self { on_classify: Some(script), ..self }
    }

    /// The script gets the context, the tool and the arguments.
    #[must_use]
    pub fn on_check_request(
        self,
        script: impl Fn(&CallContext, &str, &str) -> Result<PreparedRequest, ContractError> + Send + Sync + 'static,
    ) -> Self {
        self.on_check_request_later(move |context, tool, arguments| ready(script(context, tool, arguments)).boxed())
    }

    /// Likewise, with an answer that takes its time.
    #[must_use]
    pub fn on_check_request_later(
        self,
        script: impl for<'a> Fn(&'a CallContext, &'a str, &'a str) -> Later<'a, PreparedRequest, ContractError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self { on_check_request: Some(Box::new(script)), ..self }
    }

    /// The script gets the context, the request and the options of all partners.
    #[must_use]
    pub fn on_evaluate(
        self,
        script: impl Fn(&CallContext, &str, &[Payload<'_>]) -> Result<Evaluation, ContractError> + Send + Sync + 'static,
    ) -> Self {
        let script: OnEvaluate =
            Box::new(move |context, request, payloads| ready(script(context, request, payloads)).boxed());
        Self { on_evaluate: Some(script), ..self }
    }

    #[must_use]
    pub fn on_check_response(
        self,
        script: impl Fn(&CallContext, Exchange<'_>) -> Result<CheckedResponse, ContractError> + Send + Sync + 'static,
    ) -> Self {
        let script: OnCheckResponse = Box::new(move |context, exchange| ready(script(context, exchange)).boxed());
        Self { on_check_response: Some(script), ..self }
    }

    /// The script gets the context, the report and what it is about.
    #[must_use]
    pub fn on_check_completion(
        self,
        script: impl Fn(&CallContext, &str, About<'_>) -> Result<CheckedCompletion, ContractError> + Send + Sync + 'static,
    ) -> Self {
        let script: OnCheckCompletion =
            Box::new(move |context, report, about| ready(script(context, report, about)).boxed());
        Self { on_check_completion: Some(script), ..self }
    }

    /// Every call so far, in its order.
    pub fn calls(&self) -> Vec<ContractCall> {
        self.calls.lock().expect("no test panics in it").clone()
    }

    /// Every call since they were last taken.
    pub fn take_calls(&self) -> Vec<ContractCall> {
        std::mem::take(&mut *self.calls.lock().expect("no test panics in it"))
    }

    /// How often it was made to rank.
    pub fn evaluations(&self) -> usize {
        self.calls().iter().filter(|call| matches!(call, ContractCall::Evaluate { .. })).count()
    }

    fn record(&self, call: ContractCall) {
        self.calls.lock().expect("no test panics in it").push(call);
    }

    fn unexpected(&self, function: &str) -> ! {
        panic!("the test scripts no `{function}` for {} {}", self.descriptor.intent, self.descriptor.version)
    }
}

impl Contract for ScriptedContract {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn digest(&self) -> Digest {
        self.digest
    }

    fn sample(&self) -> Later<'_, Option<SearchSample>, ContractFault> {
        ready(Ok(self.sample.clone())).boxed()
    }

    fn classify<'a>(&'a self, utterance: &'a str, locale: &'a str) -> Later<'a, Classification, ContractFault> {
        let Some(script) = &self.on_classify else { self.unexpected("classify") };
        self.record(ContractCall::Classify { utterance: utterance.to_owned(), locale: locale.to_owned() });
        script(utterance, locale)
    }

    fn check_request<'a>(
        &'a self,
        context: &'a CallContext,
        tool: &'a str,
        arguments: &'a str,
        about: About<'a>,
    ) -> Later<'a, PreparedRequest, ContractError> {
        let Some(script) = &self.on_check_request else { self.unexpected("check_request") };
        self.record(ContractCall::CheckRequest {
            context: context.clone(),
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            order: about.order.cloned(),
        });
        script(context, tool, arguments)
    }

    fn evaluate<'a>(
        &'a self,
        context: &'a CallContext,
        request: &'a str,
        payloads: &'a [Payload<'a>],
        history: &'a [PastOrder],
    ) -> Later<'a, Evaluation, ContractError> {
        let Some(script) = &self.on_evaluate else { self.unexpected("evaluate") };
        let options = candidates(payloads).map(|candidate| candidate.json.to_owned()).collect();
        let (context_kept, request_kept, history) = (context.clone(), request.to_owned(), history.to_vec());
        self.record(ContractCall::Evaluate { context: context_kept, request: request_kept, options, history });
        script(context, request, payloads)
    }

    fn check_response<'a>(
        &'a self,
        context: &'a CallContext,
        exchange: Exchange<'a>,
    ) -> Later<'a, CheckedResponse, ContractError> {
        let Some(script) = &self.on_check_response else { self.unexpected("check_response") };
        self.record(ContractCall::CheckResponse {
            context: context.clone(),
            tool: exchange.tool.to_owned(),
            payload: exchange.payload.to_owned(),
            quoted: exchange.about.quoted.map(str::to_owned),
            order: exchange.about.order.cloned(),
        });
        script(context, exchange)
    }

    fn check_completion<'a>(
        &'a self,
        context: &'a CallContext,
        report: &'a str,
        about: About<'a>,
    ) -> Later<'a, CheckedCompletion, ContractError> {
        let Some(script) = &self.on_check_completion else { self.unexpected("check_completion") };
        self.record(ContractCall::CheckCompletion {
            context: context.clone(),
            report: report.to_owned(),
            quoted: about.quoted.map(str::to_owned),
            order: about.order.cloned(),
        });
        script(context, report, about)
    }
}

/// Takes any object for a request, and fills in the request's identifier where it brings none.
pub fn accept_any_request(context: &CallContext, arguments: &str) -> PreparedRequest {
    let mut request: serde_json::Value = serde_json::from_str(arguments).expect("an object");
    if request["request_id"].is_null() {
        request["request_id"] = context.request_id.clone().into();
    }
    PreparedRequest { arguments: raw(&request.to_string()), need: Need::default(), notes: Vec::new() }
}

/// The options of all payloads, in their order.
pub fn candidates<'a>(payloads: &'a [Payload<'a>]) -> impl Iterator<Item = &'a Candidate<'a>> {
    payloads.iter().flat_map(|payload| &payload.candidates)
}

/// An option that passed, with an empty card.
pub fn ranked(number: u32, id: &str, total: f64) -> RankedOption {
    RankedOption { number, id: id.to_owned(), total, axes: Axes::UNDECLARED, completeness: 1.0, card: raw("{}") }
}

/// A breach of a rule.
pub fn violation(pointer: &str, code: &str) -> Violation {
    Violation { pointer: pointer.to_owned(), code: code.to_owned(), message: format!("{code} at {pointer}") }
}

/// A refusal for such breaches.
pub fn refusal(code: &str, violations: impl IntoIterator<Item = Violation>) -> ContractError {
    ContractError::Refused(Refusal { code: code.to_owned(), violations: violations.into_iter().collect() })
}

/// A tool that is tried again so often after a 429 and after a 5xx.
pub fn tool(name: &str, role: ToolRole, on_rate_limited: u32, on_server_error: u32) -> Tool {
    let mut tool = descriptor("1.0.0").tools.remove(0);
    tool.name = name.to_owned();
    tool.role = role;
    tool.retry = RetryPolicy { on_rate_limited, on_server_error };
    tool
}

/// A row of an error table; a retry is how often, first wait in milliseconds, growth.
pub fn row(code: &str, http_status: u16, retry: Option<(u32, u32, Backoff)>) -> PlatformError {
    let retry = retry.map(|(times, wait_ms, backoff)| ErrorRetry { times, wait_ms, backoff });
    PlatformError { code: code.to_owned(), http_status, meaning: "Test.".to_owned(), retry }
}

/// A partner's error under a code.
pub fn platform(code: &str) -> CallFailure {
    CallFailure::Platform { code: code.to_owned(), message: "no".to_owned(), field: None }
}
