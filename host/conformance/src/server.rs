//! The session, the list of tools, and a tool that does not exist.

use std::sync::Arc;

use intent_gateway_domain::contract::{Descriptor, Violation};
use intent_gateway_domain::endpoint::Mappings;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::probe::ProbeRequest;
use intent_gateway_onboarding::descriptors::{self, CALLBACK_MISMATCH, Expected, ToolReport};
use intent_gateway_onboarding::manifest::{Catalogue, LiveIntent};

use intent_gateway_routing::golive::OneContract;

use crate::Subject;
use crate::report::{Check, Code, Report};
use crate::talk::Talk;

/// What a probe fails with where the address is none that is called.
const ADDRESS_REFUSED: &str = "PARTNER_ADDRESS_REFUSED";
/// The name of a tool that no server has.
const UNKNOWN_TOOL: &str = "tool_that_does_not_exist";

/// Opens a session and judges the tools, as the platform's probe does.
pub(crate) async fn examine(subject: &Subject, partner: &Arc<Partner>, report: &mut Report<'_>) {
    let contracts = OneContract(subject.contract.clone());
    let request = ProbeRequest {
        partner: &partner.id,
        endpoint: &subject.endpoint,
        mappings: &Mappings::default(),
        contracts: &contracts,
        bearer: subject.token.as_ref(),
        now: subject.clock.now(),
    };
    let record = subject.probe.probe(request).await;
    report.server.clone_from(&record.server);
    report.protocol_version.clone_from(&record.protocol_version);
    if let Some(failure) = &record.failure {
        let hint = match failure.code == ADDRESS_REFUSED {
            true => "; write it as https://…, or as http://127.0.0.1:… on this machine",
            false => "",
        };
        let detail = format!("{}{hint} [{}]", failure.message, failure.code);
        report.add(Check::failed(Code::SessionOpened, None, detail));
        return;
    }
    let revision = record.protocol_version.as_deref().unwrap_or("of an unknown revision");
    let detail = format!("MCP {revision}, {} tools", record.tools.len());
    report.add(match record.notes.is_empty() {
        true => Check::passed(Code::SessionOpened, None, detail),
        false => Check::noted(Code::SessionOpened, None, format!("{detail}; {}", record.notes.join("; "))),
    });
    let descriptor = subject.contract.descriptor();
    report.add(judge_tools(descriptor, &record.tools));
}

fn judge_tools(descriptor: &Descriptor, tools: &[serde_json::Value]) -> Check {
    let catalogue: Catalogue = std::iter::once(LiveIntent::from(descriptor)).collect();
    // Nobody has an account yet, so nobody knows the completion address.
    let expected = Expected { listed: &[descriptor], catalogue: &catalogue, completion_callback: "" };
    let ToolReport { accepted, skipped, ignored, missing, warnings } = descriptors::judge(tools, &expected);
    let missing: Vec<String> = missing.into_values().flatten().collect();
    let skipped: Vec<Violation> = skipped.into_iter().flat_map(|tool| tool.violations).collect();
    let warnings: Vec<Violation> = warnings.into_iter().filter(|one| one.code != CALLBACK_MISMATCH).collect();
    let ignored = match ignored.len() {
        0 => String::new(),
        count => format!("; {count} tools are not of this intent, and are passed over"),
    };
    match (missing.is_empty(), skipped.is_empty() && warnings.is_empty()) {
        (false, _) => {
            let lacking = missing.join(", ");
            Check::failed(Code::ToolsComplete, None, format!("missing, or breaking a rule: {lacking}{ignored}"))
        }
        (true, false) => Check::noted(Code::ToolsComplete, None, format!("all are there, with warnings{ignored}")),
        (true, true) => Check::passed(Code::ToolsComplete, None, format!("all {} are there{ignored}", accepted.len())),
    }
    .with_violations(skipped.into_iter().chain(warnings))
}

/// Calls a tool that does not exist.
pub(crate) async fn try_unknown_tool(talk: &Talk, report: &mut Report<'_>) {
    let code = Code::UnknownToolRefused;
    let failed = match talk.call(UNKNOWN_TOOL, "{}").await {
        Ok(_) => {
            report.add(Check::failed(code, None, "it was answered as if it existed"));
            return;
        }
        Err(failed) => failed,
    };
    let is_refused = match &failed.failure {
        failure if talk.find_refusal_code(failure).is_some() => true,
        // The SDKs write a text of their own; the platform calls no tool that is not listed.
        CallFailure::UnknownCode { .. } | CallFailure::HttpStatus(400..=499) => true,
        _ => false,
    };
    let detail = failed.failure.to_string();
    report.add(
        Check::of(code, None, if is_refused { Ok(detail) } else { Err(detail) })
            .with_sent(failed.sent.filter(|_| !is_refused)),
    );
}
