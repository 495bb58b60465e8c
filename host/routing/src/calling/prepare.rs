//! Everything that comes before a partner is called: the reference is opened, the contract pinned, the arguments checked.

use std::sync::Arc;
use std::time::Instant;

use serde_json::value::RawValue;

use super::binding::{self, Binding};
use super::ordering::Part;
use super::quoted::FoundOption;
use super::time::CallTime;
use super::{CallError, CallRequest, Caller};
use crate::pinned::PinnedContract;
use crate::reference::{BookingReference, OptionReference, Reference};
use crate::scan;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{About, CallContext, Descriptor, PreparedRequest, Tool, ToolRole, Violation};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::find_version;
use intent_gateway_domain::telemetry::{self, Stage};

/// A call that is ready to be made.
pub(super) struct PreparedCall<'a> {
    pub(super) contract: PinnedContract,
    pub(super) context: CallContext,
    pub(super) request: CallRequest<'a>,
    pub(super) partner: Arc<Partner>,
    pub(super) binding: Binding,
    pub(super) arguments: Box<RawValue>,
    pub(super) notes: Vec<Violation>,
    /// What it may take.
    pub(super) time: &'a CallTime,
    /// Set when the option's time is over: what was booked of it in time may still be asked for under its key.
    pub(super) expired: Option<CallError>,
    /// What it has to do with an order.
    pub(super) part: Part,
    /// The option concerned, where it is still known.
    pub(super) quoted: Option<Box<RawValue>>,
}

impl PreparedCall<'_> {
    pub(super) fn descriptor(&self) -> &Descriptor {
        self.contract.descriptor()
    }

    pub(super) fn tool(&self) -> Result<&Tool, CallError> {
        find_tool(self.descriptor(), self.request.tool)
    }
}

impl Caller {
    /// Opens the reference, and takes the contract that it was made under; the live one stands in where that is
    /// gone, or the reference is not good for this request. None where nobody knows the intent.
    pub(super) async fn pin(&self, request: &CallRequest<'_>) -> Option<(PinnedContract, Option<Reference>)> {
        let live = self.contracts.live(request.intent)?;
        // What is another intent's or another asker's is as good as made up: nothing more is told.
        let reference = self
            .references
            .open(request.reference)
            .ok()
            .filter(|reference| reference.intent() == request.intent && reference.is_of(request.asker));
        let contract = match &reference {
            Some(reference) => find_version(&*self.contracts, reference.contract()).await,
            None => None,
        };
        Some((PinnedContract(contract.unwrap_or(live)), reference))
    }

    /// Checks all that can be checked before the partner is called.
    pub(super) async fn prepare<'a>(
        &self,
        contract: PinnedContract,
        reference: Option<Reference>,
        request: CallRequest<'a>,
        time: &'a CallTime,
    ) -> Result<PreparedCall<'a>, CallError> {
        let start = Instant::now();
        let now = self.clock.now();
        let reference = reference.ok_or(CallError::InvalidReference)?;
        let tool = find_tool(contract.descriptor(), request.tool)?;
        let part = self.part(&contract, &reference, &request, time).await?;
        // An order outlives the option that it was made from.
        let expired = expiry(&reference, contract.descriptor(), now).filter(|_| part.order().is_none());
        let found = FoundOption::of(&reference);
        let binding = bind(reference, contract.descriptor());
        let expired = match expired {
            Some(expired) if tool.idempotency_key.is_none() => return Err(expired),
            expired => expired,
        };
        let partner = self.partner(&binding.partner, request.intent, tool.role)?;
        let mut context = CallContext { request_id: request.fallback_request_id.to_owned(), now };
        let quoted = self.quoted_option(&binding, &partner.id, part.order(), &found).await?;
        let view = part.view();
        let about = About { quoted: quoted.as_deref().map(RawValue::get), order: view.as_ref() };
        let checked = match binding::arguments(request.arguments, tool, &binding, &part.identifiers()) {
            Ok(arguments) => {
                let checked = contract.check_request(&context, request.tool, &arguments, about).await;
                checked.map_err(CallError::of_request)
            }
            Err(error) => Err(error),
        };
        // Arguments for an option that cannot be had, or of a tool that has not its turn, are not worth complaining of.
        let PreparedRequest { arguments, notes, .. } = match (checked, &expired) {
            (Err(_), Some(expired)) => return Err(expired.clone()),
            (Err(error), None) => return Err(part.check_turn().err().unwrap_or(error)),
            (Ok(prepared), _) => prepared,
        };
        scan::refuse_forbidden(arguments.get(), contract.descriptor()).map_err(CallError::Refused)?;
        if let Some(request_id) = binding::request_id(arguments.get())? {
            context.request_id = request_id;
        }
        telemetry::stage(Stage::Check, contract.descriptor(), start.elapsed());
        Ok(PreparedCall { contract, context, request, partner, binding, arguments, notes, time, expired, part, quoted })
    }

    /// The partner, if requests of the intent are still routed to it. What was booked may be followed and cancelled as long
    /// as its server is known.
    fn partner(&self, id: &str, intent: &str, role: ToolRole) -> Result<Arc<Partner>, CallError> {
        let id = PartnerId::parse(id).map_err(|_| CallError::InvalidReference)?;
        let lists = |partner: &Arc<Partner>| partner.listing(intent).is_some();
        if let Some(live) = self.directory.find(&id).filter(lists) {
            return Ok(live);
        }
        if !outlasts_routing(role) {
            return Err(CallError::PartnerGone(id));
        }
        self.directory.find_known(&id).filter(lists).ok_or(CallError::PartnerForgotten(id))
    }
}

/// Whether tools of a role are called though nothing new is routed to the partner: those that follow or cancel what was made
/// before, and make nothing.
pub(crate) fn outlasts_routing(role: ToolRole) -> bool {
    match role {
        ToolRole::Track | ToolRole::Cancel => true,
        ToolRole::Search
        | ToolRole::GetDetail
        | ToolRole::Create
        | ToolRole::Modify
        | ToolRole::Rate
        | ToolRole::Utility => false,
    }
}

/// Whether the option's time is over, as an error that some calls survive.
fn expiry(reference: &Reference, descriptor: &Descriptor, now: Timestamp) -> Option<CallError> {
    let Reference::Option(option) = reference else { return None };
    (option.expires_at_ms <= now).then(|| CallError::Expired(descriptor.search.gone_code.clone()))
}

/// What a call by a reference is bound to.
fn bind(reference: Reference, descriptor: &Descriptor) -> Binding {
    match reference {
        Reference::Option(OptionReference { partner, option_id, number, receipt, .. }) => Binding {
            partner,
            identifier: option_id,
            member: descriptor.search.id_key.rsplit('/').next().map(str::to_owned),
            option: receipt.map(|receipt| (receipt, number)),
            is_option: true,
        },
        Reference::Booking(BookingReference { partner, booking_id, member, option, .. }) => {
            Binding { partner, identifier: booking_id, member, option, is_option: false }
        }
    }
}

/// The tool, if it is one that is called by reference.
fn find_tool<'a>(descriptor: &'a Descriptor, name: &str) -> Result<&'a Tool, CallError> {
    descriptor
        .tool(name)
        .filter(|tool| tool.role != ToolRole::Search)
        .ok_or_else(|| CallError::UnknownTool(name.to_owned()))
}
