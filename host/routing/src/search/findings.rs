//! What the platform team and the partners themselves should know of a search.

use serde_json::value::RawValue;

use super::asking::PartnerAnswer;
use super::gathered::{GatheredAnswers, OptionNote};
use super::{DroppedChoice, Searcher};
use crate::partner_error;
use intent_gateway_domain::contract::{CallContext, Descriptor, Violation};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::findings::{Finding, Severity, Source, excerpt};
use intent_gateway_domain::partner::Partner;

/// What of an answer a finding concerns.
#[derive(Clone, Copy, Default)]
struct Subject<'a> {
    /// The option's place in the answer and the option itself; none for the answer as a whole.
    option: Option<(usize, &'a RawValue)>,
    option_id: Option<&'a String>,
}

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
        for OptionNote { partner, position, option_id, violation } in notes {
            let option = gathered.option(partner, *position).map(|option| (*position, option));
            let subject = Subject { option, option_id: option_id.as_ref() };
            recorder.record_option(partner, subject, Severity::Note, violation);
        }
        for DroppedChoice { partner, position, option_id, strike, violations } in dropped {
            let severity = if *strike { Severity::Strike } else { Severity::Drop };
            let option = gathered.option(partner, *position).map(|option| (*position, option));
            let subject = Subject { option, option_id: option_id.as_ref() };
            for violation in violations {
                recorder.record_option(partner, subject, severity, violation);
            }
        }
        gathered.answers().for_each(|answer| recorder.record_answer(answer));
    }
}

impl Recorder<'_> {
    /// What concerns an answer as a whole.
    fn record_answer(&self, answer: &PartnerAnswer) {
        let PartnerAnswer { partner, result, .. } = answer;
        let record = |severity, violation: &Violation| {
            let sent = answer.excerpts.get(&violation.pointer).cloned();
            self.record(partner, Subject::default(), severity, violation, sent);
        };
        match result {
            // What is wrong beside the options is embedded nowhere.
            Ok(payload) => {
                payload.notes.iter().chain(&answer.flaws.malformed).for_each(|note| record(Severity::Note, note));
            }
            Err(CallFailure::Forbidden(_)) => {
                answer.flaws.forbidden.iter().for_each(|violation| record(Severity::Strike, violation));
            }
            Err(failure @ (CallFailure::Payload(_) | CallFailure::Protocol(_))) => {
                let (code, message) = (failure.code().to_owned(), failure.to_string());
                record(Severity::Drop, &Violation { pointer: String::new(), code, message });
            }
            Err(failure) => {
                partner_error::note(failure).iter().for_each(|note| record(Severity::Note, note));
            }
        }
    }

    /// What concerns one option, with what it holds at the pointer.
    fn record_option(&self, partner: &Partner, subject: Subject<'_>, severity: Severity, violation: &Violation) {
        let sent = subject.option.and_then(|(_, option)| excerpt(option.get(), &violation.pointer));
        self.record(partner, subject, severity, violation, sent);
    }

    fn record(
        &self,
        partner: &Partner,
        subject: Subject<'_>,
        severity: Severity,
        violation: &Violation,
        excerpt: Option<String>,
    ) {
        self.searcher.journal.record(Finding {
            at_ms: self.context.now,
            partner: partner.id.clone(),
            intent: self.descriptor.intent.as_str().to_owned(),
            request_id: self.context.request_id.clone(),
            source: Some(Source::Search),
            option_place: subject.option.and_then(|(place, _)| u32::try_from(place).ok()),
            option_id: subject.option_id.cloned(),
            external_id: None,
            severity,
            violation: violation.clone(),
            excerpt,
        });
    }
}
