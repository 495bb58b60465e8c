//! One partner of a search: called, its answer taken apart and scanned.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Searcher;
use super::prepare::PreparedSearch;
use crate::payload::{self, SearchPayload};
use crate::scan::Flaws;
use intent_gateway_domain::contract::Descriptor;
use intent_gateway_domain::endpoint::UnmappedItem;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::findings::{EXCERPT_MAX_CHARS, cut, excerpt};
use intent_gateway_domain::forbidden::ForbiddenFields;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::SignInLink;
use intent_gateway_domain::telemetry::{self, ForLog, Stage};
use intent_gateway_outbound::OutboundCall;

/// The outcome of asking one partner.
pub(super) struct PartnerAnswer {
    pub(super) partner: Arc<Partner>,
    pub(super) result: Result<SearchPayload, CallFailure>,
    /// What is wrong with the answer outside its options.
    pub(super) flaws: Flaws,
    /// What was sent where something is wrong with the answer as a whole, by pointer; the beginning of an answer that
    /// cannot be read stands under the empty one. It is for the partner and the platform team alone.
    pub(super) excerpts: BTreeMap<String, String>,
    /// Items of a wrapped API's answer of which its mapping could make no option.
    pub(super) unmapped: Vec<UnmappedItem>,
    /// Where the user signs in, where the partner asked for it.
    pub(super) link: Option<SignInLink>,
    pub(super) elapsed: Duration,
}

impl Searcher {
    /// Asks one partner and takes its answer apart.
    pub(super) async fn ask(&self, search: &PreparedSearch, partner: Arc<Partner>) -> PartnerAnswer {
        let start = Instant::now();
        let call = OutboundCall {
            contract: search.contract.0.clone(),
            context: search.context.clone(),
            partner: partner.clone(),
            tool: search.tool.clone(),
            arguments: search.outgoing.clone(),
            user: search.asker.user.clone(),
            within: self.timeout,
            is_repeat: false,
            trace: search.trace.clone(),
        };
        let answered = self.outbound.call(call, None).await;
        let called = Instant::now();
        telemetry::partner_stage(Stage::Call, search.descriptor(), &partner.id, called - start);
        let (mut flaws, mut excerpts, mut unmapped) = (Flaws::default(), BTreeMap::new(), Vec::new());
        let result = match answered {
            Ok(answered) => {
                unmapped.clone_from(&answered.answer.unmapped);
                let (answer, outside) = open_payload(&answered.answer.text, search.descriptor());
                excerpts = take_excerpts(&answered.answer.text, &answer, &outside);
                flaws = outside;
                telemetry::partner_stage(Stage::Scan, search.descriptor(), &partner.id, called.elapsed());
                if let Some(expires_at) = answer.as_ref().ok().and_then(|payload| payload.expires_at) {
                    answered.end_by(expires_at);
                }
                answer
            }
            Err(failure) => Err(failure),
        };
        let link = result.as_ref().err().and_then(|failure| {
            tracing::warn!(
                partner = %partner.id, intent = %search.descriptor().intent, outcome = telemetry::failure(failure),
                error = %ForLog(failure),
                "a partner's answer is missing from a search"
            );
            self.outbound.sign_in_link(&partner.id, search.asker.user.as_ref(), failure)
        });
        PartnerAnswer { partner, result, flaws, excerpts, unmapped, link, elapsed: start.elapsed() }
    }
}

/// Takes an answer apart; with what is wrong with it outside its options.
pub(super) fn open_payload(text: &str, descriptor: &Descriptor) -> (Result<SearchPayload, CallFailure>, Flaws) {
    let fields = ForbiddenFields::new(&descriptor.forbidden_fields);
    let mut payload = match payload::read(text, &descriptor.search.options_key, &fields) {
        Ok(payload) => payload,
        Err(error) => return (Err(CallFailure::Payload(error.to_string())), Flaws::default()),
    };
    let flaws = std::mem::take(&mut payload.flaws.outside);
    let forbidden = flaws.forbidden.first().map(|violation| CallFailure::Forbidden(violation.pointer.clone()));
    (forbidden.map_or(Ok(payload), Err), flaws)
}

/// What was sent where something is wrong with an answer as a whole.
fn take_excerpts(text: &str, answer: &Result<SearchPayload, CallFailure>, flaws: &Flaws) -> BTreeMap<String, String> {
    let at = |pointer: &String| Some((pointer.clone(), excerpt(text, pointer)?));
    let flawed = flaws.forbidden.iter().chain(&flaws.malformed);
    match answer {
        Ok(payload) => payload.notes.iter().chain(flawed).filter_map(|note| at(&note.pointer)).collect(),
        Err(CallFailure::Forbidden(_)) => flawed.filter_map(|violation| at(&violation.pointer)).collect(),
        Err(_) => BTreeMap::from([(String::new(), cut(text, EXCERPT_MAX_CHARS))]),
    }
}
