//! What the platform team should know of a search.

use super::asking::PartnerAnswer;
use super::gathered::{GatheredAnswers, OptionNote};
use super::{DroppedChoice, Searcher};
use intent_gateway_domain::contract::{CallContext, Descriptor, Violation};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::findings::{Finding, Severity};
use intent_gateway_domain::partner::Partner;

/// Findings of one search.
struct Recorder<'a> {
    searcher: &'a Searcher,
    context: &'a CallContext,
    descriptor: &'a Descriptor,
}

impl Searcher {
    /// Hands everything that the platform team should know of to the journal.
    pub(super) fn record(
        &self,
        context: &CallContext,
        descriptor: &Descriptor,
        gathered: &GatheredAnswers,
        notes: &[OptionNote],
        dropped: &[DroppedChoice],
    ) {
        let recorder = Recorder { searcher: self, context, descriptor };
        for note in notes {
            recorder.record(&note.partner, note.option_id.as_ref(), Severity::Note, &note.violation);
        }
        for choice in dropped {
            let severity = if choice.strike { Severity::Strike } else { Severity::Drop };
            for violation in &choice.violations {
                recorder.record(&choice.partner, choice.option_id.as_ref(), severity, violation);
            }
        }
        gathered.answers().for_each(|answer| recorder.record_answer(answer));
    }
}

impl Recorder<'_> {
    /// What concerns an answer as a whole.
    fn record_answer(&self, PartnerAnswer { partner, result, .. }: &PartnerAnswer) {
        let severity = match result {
            Ok(payload) => {
                payload.notes.iter().for_each(|note| self.record(partner, None, Severity::Note, note));
                return;
            }
            Err(CallFailure::Forbidden(_)) => Severity::Strike,
            Err(CallFailure::Payload(_) | CallFailure::Protocol(_)) => Severity::Drop,
            Err(_) => return,
        };
        if let Err(failure) = result {
            let (code, message) = (failure.code().to_owned(), failure.to_string());
            self.record(partner, None, severity, &Violation { pointer: String::new(), code, message });
        }
    }

    fn record(&self, partner: &Partner, option_id: Option<&String>, severity: Severity, violation: &Violation) {
        self.searcher.journal.record(Finding {
            at_ms: self.context.now,
            partner: partner.id.clone(),
            intent: self.descriptor.intent.as_str().to_owned(),
            request_id: self.context.request_id.clone(),
            option_id: option_id.cloned(),
            external_id: None,
            severity,
            violation: violation.clone(),
        });
    }
}
