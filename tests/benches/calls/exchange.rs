//! What a call costs through rmcp's typed path, and through the partner client's exchange, which stands in its place.
//!
//! Both are given the arguments as JSON text and hand the payload back as text, from the same partner, over connections that
//! are kept. rmcp runs over hyper with as little around it as there can be. The partner client does all that it does for the
//! gateway: guarded addresses, bounds, a deadline, a span.

use std::sync::Arc;
use std::time::Duration;

use intent_gateway_domain::endpoint::{Endpoint, Mappings};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{PartnerCalls as _, ToolCall};
use intent_gateway_partners::{PartnerClient, PartnerClientConfig};
use tokio::runtime::Runtime;

use crate::clients::OverRmcp;
use crate::load::{self, Call, Run};
use crate::subject::{Arguments, SUBJECTS};
use crate::{IN_FLIGHT, Measured, RMCP_HYPER, ROUNDS, line, median, start_partner, us};

/// Tools, and how many bytes of payload they answer with.
pub(crate) const ANSWERS: [(&str, usize); 2] = [("answer_1_kib", 1024), ("answer_64_kib", 64 * 1024)];
/// Longest time for a call.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// What payloads consist of.
const SLOT: &str = r#"{"id":"slot-0001","starts_at":"2026-11-21T10:00:00+05:30","price":{"paise":149900,"tax":26982}}"#;

const EXCHANGE: &str = "partner client";

/// JSON text of just so many bytes, most of it slots.
pub(crate) fn payload(bytes: usize) -> String {
    let mut text = format!(r#"{{"slots":[{SLOT}"#);
    let end = "],\"rest\":\"\"}".len();
    while text.len() + 1 + SLOT.len() + end <= bytes {
        text.push(',');
        text.push_str(SLOT);
    }
    let rest = bytes - text.len() - end;
    format!("{text}],\"rest\":\"{}\"}}", "x".repeat(rest))
}

/// Calls as the gateway makes them.
struct Exchange {
    client: PartnerClient,
    partner: Arc<Partner>,
    tool: &'static str,
    arguments: Arguments,
    bytes: usize,
}

impl Exchange {
    /// Must be called on a runtime.
    fn new(url: &str, tool: &'static str, arguments: Arguments, bytes: usize) -> Self {
        let config = PartnerClientConfig { allow_loopback_http: true, ..PartnerClientConfig::default() };
        let partner = Partner {
            id: PartnerId::parse("instant").expect("an identifier"),
            name: "Instant".to_owned(),
            endpoint: Endpoint::mcp(url),
            mappings: Mappings::new(),
            listings: Vec::new(),
            token: None,
            sign_in: None,
        };
        let client = PartnerClient::new(&config).expect("sound settings");
        Self { client, partner: Arc::new(partner), tool, arguments, bytes }
    }
}

impl Call for Exchange {
    async fn call(&self, number: u64) {
        let arguments = self.arguments.of_call(number);
        let call = ToolCall::new("bench", self.tool, &arguments, CALL_TIMEOUT);
        let answer = self.client.call(&self.partner, call).await.expect("an answer");
        assert_eq!(answer.text.len(), self.bytes, "not the whole payload");
    }
}

/// Measures, and prints what was seen.
pub(crate) fn run(runtime: &Runtime) {
    let partner = start_partner();
    let url = format!("{}/mcp", partner.url);
    println!("\nrmcp's typed path and the partner client; medians of {ROUNDS} rounds of {} s", load::TIME.as_secs());
    for (tool, bytes) in ANSWERS {
        let arguments = || SUBJECTS[1].arguments();
        let typed = Arc::new(runtime.block_on(OverRmcp::over_hyper(&url, tool, arguments())));
        let exchange = Arc::new(runtime.block_on(async { Exchange::new(&url, tool, arguments(), bytes) }));
        let mut runs: Vec<Measured> = Vec::new();
        for _ in 0..ROUNDS {
            for in_flight in IN_FLIGHT {
                let own = std::process::id();
                let run = runtime.block_on(load::run(Arc::clone(&typed), own, in_flight, load::TIME));
                runs.push((RMCP_HYPER, in_flight, run));
                let run = runtime.block_on(load::run(Arc::clone(&exchange), own, in_flight, load::TIME));
                runs.push((EXCHANGE, in_flight, run));
            }
        }
        show(bytes, &runs);
    }
}

fn show(bytes: usize, runs: &[Measured]) {
    for in_flight in IN_FLIGHT {
        println!("\n{bytes} bytes back, {in_flight} in flight");
        let [typed, exchange] = [RMCP_HYPER, EXCHANGE].map(|name| {
            let run = median(name, in_flight, runs);
            let Run { per_second, p50, p99, cpu, .. } = run;
            let times = format!("p50 {:.0} us, p99 {:.0} us, CPU {:.1} us a call", us(p50), us(p99), us(cpu));
            line(&format!("  {name}"), &format!("{per_second:.0} /s"), &times);
            run
        });
        let ratio = |of: fn(&Run) -> Duration| us(of(&typed)) / us(of(&exchange));
        line("  rmcp / partner client", &format!("{:.2}", ratio(|run| run.p50)), "of the time a call (p50)");
        line("", &format!("{:.2}", ratio(|run| run.cpu)), "of the CPU a call");
    }
}
