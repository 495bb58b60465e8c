//! Probes: what a partner says of itself and of its tools, without calling any of them (spec 1, Endpoints).
//!
//! Everything that was seen goes into the record, a failure as well. Which tools an intent needs, and whether their
//! descriptors keep the rules, is judged by the core from the record.

mod graphql;
mod mcp;
mod rest;
mod schema;
mod wrapped;

use std::time::Duration;

use futures_util::future::BoxFuture;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::partner_error::clean;
use intent_gateway_domain::ports::PartnerProbe;
use intent_gateway_domain::probe::{PROBE_NOTES_MAX, ProbeFailure, ProbeRecord, ProbeRequest, ProbeStep, Step};
use tokio::time::Instant;

use crate::client::PartnerClient;
use crate::guard::NO_PUBLIC_ADDRESS;
use crate::wire::bearer;

impl PartnerProbe for PartnerClient {
    fn admits(&self, endpoint: &Endpoint) -> Result<(), CallFailure> {
        let policy = self.policy();
        match endpoint {
            Endpoint::Mcp { url } | Endpoint::Graphql { url } => policy.endpoint(url).map(drop),
            Endpoint::Rest { base_url, openapi_url } => {
                policy.endpoint(base_url)?;
                // Paths are appended to it.
                if base_url.contains(['?', '#']) {
                    return Err(CallFailure::AddressRefused("the base address ends with a query".to_owned()));
                }
                policy.endpoint(openapi_url).map(drop)
            }
        }
    }

    fn probe<'a>(&'a self, request: ProbeRequest<'a>) -> BoxFuture<'a, ProbeRecord> {
        Box::pin(async move {
            let mut probing = Probing::new(&request);
            // What failed is in the record.
            // Only MCP says how a server names it. Where an API's users sign in is seen when the first of them links an account.
            let is_mcp = matches!(request.endpoint, Endpoint::Mcp { .. });
            if self.run(&request, &mut probing).await.is_ok() && is_mcp {
                match self.described_server(request.endpoint.url()).await {
                    Ok(sign_in) => probing.record.sign_in = sign_in,
                    Err(failure) => probing.note(format!("where its users sign in could not be seen: {failure}")),
                }
            }
            probing.finish(&request)
        })
    }
}

/// The probe is over; why is in its record.
struct ProbeEnded;

/// Why a step failed.
struct Fault {
    code: String,
    message: String,
}

impl Fault {
    fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }
}

impl From<CallFailure> for Fault {
    fn from(failure: CallFailure) -> Self {
        // A partner must not learn from probes which names there are inside: one that leads nowhere is told as one that leads there.
        let failure = match failure {
            CallFailure::Unreachable(reason) if reason == NO_PUBLIC_ADDRESS => CallFailure::AddressRefused(reason),
            failure => failure,
        };
        Self::new(failure.code(), failure.to_string())
    }
}

impl PartnerClient {
    async fn run(&self, request: &ProbeRequest<'_>, probing: &mut Probing) -> Result<(), ProbeEnded> {
        let first = match request.endpoint {
            Endpoint::Mcp { .. } => Step::Initialize,
            Endpoint::Rest { .. } => Step::Document,
            Endpoint::Graphql { .. } => Step::Typename,
        };
        let begun = Instant::now();
        let ready = self.admits(request.endpoint).and_then(|()| request.bearer.map(bearer).transpose());
        let bearer = match ready {
            Ok(bearer) => bearer,
            Err(failure) => return probing.step(first, begun, Err(failure.into())),
        };
        match request.endpoint {
            Endpoint::Mcp { url } => self.probe_mcp(url, bearer, probing).await,
            Endpoint::Rest { openapi_url, .. } => self.probe_rest(openapi_url, request, probing).await,
            Endpoint::Graphql { url } => self.probe_graphql(url, bearer, request, probing).await,
        }
    }
}

/// A probe under way.
struct Probing {
    record: ProbeRecord,
    begun: Instant,
}

impl Probing {
    fn new(request: &ProbeRequest<'_>) -> Self {
        Self { record: ProbeRecord::new(request.endpoint.clone(), request.now), begun: Instant::now() }
    }

    /// Records how a step ended.
    fn step<T>(&mut self, step: Step, begun: Instant, outcome: Result<T, Fault>) -> Result<T, ProbeEnded> {
        self.record.steps.push(ProbeStep { step, passed: outcome.is_ok(), elapsed_ms: millis(begun.elapsed()) });
        outcome.map_err(|Fault { code, message }| {
            self.record.failure = Some(ProbeFailure { step, code, message });
            ProbeEnded
        })
    }

    fn note(&mut self, note: impl AsRef<str>) {
        if self.record.notes.len() < PROBE_NOTES_MAX {
            self.record.notes.push(clean(note.as_ref()));
        }
    }

    fn finish(mut self, request: &ProbeRequest<'_>) -> ProbeRecord {
        self.record.ended_at_ms = self.record.started_at_ms.plus_ms(millis(self.begun.elapsed()));
        let code = self.record.failure.as_ref().map(|failure| failure.code.as_str());
        let tools = self.record.tools.len();
        tracing::info!(partner = %request.partner, tools, failure = code, "a partner was probed");
        self.record
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
