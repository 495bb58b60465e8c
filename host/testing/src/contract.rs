//! Contracts for tests: a small valid descriptor, and a contract that judges nothing.

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
            max_options: 15,
            empty_code: Some("NO_THINGS".to_owned()),
            gone_code: None,
        },
        tools: vec![Tool {
            name: "search_things".to_owned(),
            role: ToolRole::Search,
            purpose: "Finds things.".to_owned(),
            latency: LatencyTargets { p50_ms: 600, p95_ms: 1_500, p99_ms: None },
            rate_per_minute: 60,
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
        completion: Completion { statuses: vec![], charged_statuses: vec![], schema: raw("{}") },
        data_lifetimes: Vec::new(),
        go_live: Vec::new(),
        cues: vec!["thing".to_owned()],
        pairs: Vec::new(),
        elsewhere: Vec::new(),
    }
}

/// A contract that declares and judges nothing.
pub struct Inert(pub Descriptor);

impl Contract for Inert {
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
    ) -> BoxFuture<'a, Result<PreparedRequest, ContractError>> {
        unreachable!("no request is checked here")
    }

    fn evaluate<'a>(
        &'a self,
        _: &'a CallContext,
        _: &'a str,
        _: &'a [Payload<'a>],
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
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<CheckedCompletion, ContractError>> {
        unreachable!("nothing is reported here")
    }
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
