//! What is made of a partner's answer: scanned by the host, judged by the contract, and noted where it breaks a rule.

use std::time::Instant;

use serde_json::value::RawValue;

use super::prepare::PreparedCall;
use super::{CallError, Caller, error};
use crate::partner_error;
use crate::scan::{Flaws, scan};
use intent_gateway_domain::contract::{About, CheckedResponse, Exchange, Refusal, Violation};
use intent_gateway_domain::error::{CallFailure, ContractError};
use intent_gateway_domain::findings::{EXCERPT_MAX_CHARS, Finding, Severity, Source, cut, excerpt};
use intent_gateway_domain::forbidden::ForbiddenFields;
use intent_gateway_domain::not_json;
use intent_gateway_domain::telemetry::{self, ForLog, Stage};
use intent_gateway_outbound::OrderLookup;

impl Caller {
    /// Scans an answer and has the contract judge it. `by` is the call that was answered, where it is another than the order.
    pub(super) async fn judge(
        &self,
        call: &PreparedCall<'_>,
        text: String,
        by: Option<&OrderLookup>,
    ) -> Result<(Box<RawValue>, CheckedResponse), CallError> {
        let start = Instant::now();
        let fields = ForbiddenFields::new(&call.descriptor().forbidden_fields);
        let (beginning, kind) = (cut(&text, EXCERPT_MAX_CHARS), not_json::kind(&text));
        let broken = |said: String| self.fail(call, CallFailure::Payload(said), Some(beginning.clone()));
        let payload = RawValue::from_string(text).map_err(|error| broken(not_json::describe(kind, &error)))?;
        let flaws = scan(payload.get(), None, &fields).map_err(|deep| broken(deep.to_string()))?.outside;
        self.refuse_flaws(call, payload.get(), flaws)?;
        let scanned = Instant::now();
        telemetry::partner_stage(Stage::Scan, call.descriptor(), &call.partner.id, scanned - start);
        let view = call.part.view();
        let exchange = Exchange {
            tool: by.map_or(call.request.tool, |by| &by.tool),
            arguments: by.map_or(call.arguments.get(), |by| &by.arguments),
            payload: payload.get(),
            about: About { quoted: call.quoted.as_deref().map(RawValue::get), order: view.as_ref() },
        };
        let checked = call.contract.check_response(&call.context, exchange).await;
        telemetry::stage(Stage::Evaluate, call.descriptor(), scanned.elapsed());
        match checked {
            Ok(checked) => Ok((payload, checked)),
            Err(ContractError::Refused(refusal)) => Err(self.refuse(call, payload.get(), refusal)),
            Err(ContractError::Fault(fault)) => Err(CallError::Contract(fault)),
        }
    }

    /// Refuses an answer that holds a forbidden field, or what a strict reader could not take.
    fn refuse_flaws(&self, call: &PreparedCall<'_>, payload: &str, flaws: Flaws) -> Result<(), CallError> {
        if let Some(first) = flaws.forbidden.first() {
            let failure = CallFailure::Forbidden(first.pointer.clone());
            self.record_all(call, Severity::Strike, &flaws.forbidden, payload);
            return Err(CallError::Partner { code: None, failure, link: None });
        }
        if flaws.malformed.is_empty() {
            return Ok(());
        }
        Err(self.refuse(call, payload, Refusal::invalid_answer(flaws.malformed)))
    }

    /// Notes against the partner everything that an answer is refused for.
    fn refuse(&self, call: &PreparedCall<'_>, payload: &str, refusal: Refusal) -> CallError {
        self.record_all(call, Severity::Drop, &refusal.violations, payload);
        CallError::Answer(refusal)
    }

    /// Notes each violation of an answer against the partner, with what it sent there.
    pub(super) fn record_all(
        &self,
        call: &PreparedCall<'_>,
        severity: Severity,
        violations: &[Violation],
        answer: &str,
    ) {
        for violation in violations {
            self.record(call, severity, violation.clone(), excerpt(answer, &violation.pointer));
        }
    }

    /// Notes a failure against the partner where it is the partner's fault, with an excerpt of what it sent, and says what
    /// the caller is told.
    pub(super) fn fail(&self, call: &PreparedCall<'_>, failure: CallFailure, sent: Option<String>) -> CallError {
        let descriptor = call.descriptor();
        tracing::warn!(
            partner = %call.partner.id, intent = %descriptor.intent, tool = call.request.tool,
            outcome = telemetry::failure(&failure), error = %ForLog(&failure), "a call of a tool failed"
        );
        if matches!(failure, CallFailure::Payload(_) | CallFailure::Protocol(_)) {
            let (code, message) = (failure.code().to_owned(), failure.to_string());
            self.record(call, Severity::Drop, Violation { pointer: String::new(), code, message }, sent);
        }
        if let Some(note) = partner_error::note(&failure) {
            self.record(call, Severity::Note, note, None);
        }
        let code = error::public_code(&failure);
        let link = self.outbound.sign_in_link(&call.partner.id, call.request.asker.user.as_ref(), &failure);
        CallError::Partner { code, failure, link: link.map(Box::new) }
    }

    /// Notes something against the partner, with an excerpt of what it sent.
    pub(super) fn record(
        &self,
        call: &PreparedCall<'_>,
        severity: Severity,
        violation: Violation,
        excerpt: Option<String>,
    ) {
        self.journal.record(Finding {
            at_ms: call.context.now,
            partner: call.partner.id.clone(),
            intent: call.request.intent.to_owned(),
            request_id: call.context.request_id.clone(),
            source: Some(Source::Call),
            option_place: None,
            option_id: call.binding.is_option.then(|| call.binding.identifier.clone()),
            external_id: (!call.binding.is_option).then(|| call.binding.identifier.clone()),
            severity,
            violation,
            excerpt,
        });
    }
}
