//! Everything that comes before partners are called: the request is checked, and it is chosen who is asked.

use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::pinning::OnTrial;
use super::{SearchError, SearchRequest, Searcher};
use crate::pinned::PinnedContract;
use crate::scan;
use intent_gateway_domain::contract::{About, CallContext, Descriptor, PreparedRequest, Refusal, Violation};
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::limits::REQUEST_ID_MAX_CHARS;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{LeftOut, Selection};
use intent_gateway_domain::telemetry::{self, Stage};
use intent_gateway_domain::trace::Trace;
use intent_gateway_domain::user::Asker;
use intent_gateway_outbound::PreparedArguments;

/// A search whose request has passed.
#[derive(Clone)]
pub(super) struct PreparedSearch {
    pub(super) contract: PinnedContract,
    pub(super) context: CallContext,
    pub(super) arguments: Box<RawValue>,
    pub(super) notes: Vec<Violation>,
    pub(super) left_out: Vec<(Arc<Partner>, LeftOut)>,
    pub(super) left_out_more: usize,
    pub(super) outgoing: Arc<PreparedArguments>,
    pub(super) tool: Arc<str>,
    pub(super) asker: Asker,
    pub(super) trace: Option<Arc<Trace>>,
    /// Set while the candidate of a rollout serves it.
    pub(super) trial: Option<OnTrial>,
}

impl PreparedSearch {
    pub(super) fn descriptor(&self) -> &Descriptor {
        self.contract.descriptor()
    }
}

impl Searcher {
    /// Checks the request and chooses whom to ask.
    pub(super) async fn prepare(
        &self,
        contract: &PinnedContract,
        request: &SearchRequest<'_>,
    ) -> Result<(PreparedSearch, Vec<Arc<Partner>>), SearchError> {
        let SearchRequest { intent, body, asker, fallback_request_id, trace } = request.clone();
        let descriptor = contract.descriptor();
        let start = Instant::now();
        let now = self.clock.now();
        let mut context = CallContext { request_id: fallback_request_id, now };
        let PreparedRequest { arguments, need, notes } =
            contract.check_request(&context, &descriptor.search.tool, body, About::default()).await?;
        context.request_id = request_id(arguments.get())?;
        scan::refuse_forbidden(arguments.get(), descriptor).map_err(SearchError::Refused)?;
        let checked = Instant::now();
        telemetry::stage(Stage::Check, descriptor, checked - start);

        let Selection { chosen, mut left_out, left_out_more } = self.directory.select(intent, &need, now);
        let chosen = self.admit(&descriptor.intent, chosen, &mut left_out);
        telemetry::stage(Stage::Select, descriptor, checked.elapsed());
        let tool = descriptor.tool(&descriptor.search.tool).ok_or_else(|| {
            SearchError::Contract(ContractFault::InvalidOutput("a descriptor without its search tool".to_owned()))
        })?;
        let (outgoing, tool) = (Arc::new(PreparedArguments::new(arguments.get(), tool)), Arc::from(tool.name.as_str()));
        let prepared = PreparedSearch {
            context,
            arguments,
            notes,
            left_out,
            left_out_more,
            outgoing,
            tool,
            asker: asker.clone(),
            trace,
            trial: None,
            contract: contract.clone(),
        };
        Ok((prepared, chosen))
    }

    /// Those of the chosen partners whose health allows a call; the others are left out.
    fn admit(
        &self,
        intent: &IntentId,
        chosen: Vec<Arc<Partner>>,
        left_out: &mut Vec<(Arc<Partner>, LeftOut)>,
    ) -> Vec<Arc<Partner>> {
        let admitted = self.outbound.admit_search(intent, chosen.iter().map(|partner| &partner.id));
        let mut called = Vec::with_capacity(chosen.len());
        for (partner, admitted) in chosen.into_iter().zip(admitted) {
            match admitted {
                Ok(()) => called.push(partner),
                Err(reason) => left_out.push((partner, reason)),
            }
        }
        called
    }
}

/// The request identifier of prepared arguments.
fn request_id(arguments: &str) -> Result<String, SearchError> {
    #[derive(Deserialize)]
    struct Arguments {
        request_id: String,
    }
    let arguments: Arguments = serde_json::from_str(arguments).map_err(|_| {
        SearchError::Contract(ContractFault::InvalidOutput("prepared arguments without a `request_id`".to_owned()))
    })?;
    if arguments.request_id.chars().count() > REQUEST_ID_MAX_CHARS {
        let violation = Violation {
            pointer: "/request_id".to_owned(),
            code: "TOO_LONG".to_owned(),
            message: format!("expected at most {REQUEST_ID_MAX_CHARS} characters"),
        };
        return Err(SearchError::Refused(Refusal::invalid_request(vec![violation])));
    }
    Ok(arguments.request_id)
}
