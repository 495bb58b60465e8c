//! `plugin inspect`: what a component declares, as JSON or as a text for people.

use intent_gateway_describe::partner_page::{AXES, golive, order as orders, role};
use intent_gateway_describe::text::{Page, bytes, percent};
use intent_gateway_domain::contract::{Descriptor, OrderWay, Tool};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_sandbox::LoadError;
use intent_gateway_signing::{KeyId, SignedComponent};
use serde::Serialize;

use crate::outline::Outline;
use crate::subject::Subject;

/// What a component is and declares.
#[derive(Debug, Serialize)]
pub struct Inspection {
    /// Name of the content.
    pub digest: Digest,
    /// Its size.
    pub component_bytes: usize,
    /// What can be seen without running it.
    #[serde(flatten)]
    pub outline: Outline,
    /// Names of the keys that are said to have signed it.
    pub signed_by: Vec<KeyId>,
    /// How many examples it brings.
    pub examples: usize,
    /// What it declares.
    pub descriptor: Descriptor,
}

/// Examines a component.
///
/// # Errors
/// [`LoadError`] when it is not a contract.
pub fn run(subject: &Subject) -> Result<Inspection, LoadError> {
    let contract = subject.load()?;
    Ok(Inspection {
        digest: contract.digest(),
        component_bytes: subject.bytes.len(),
        outline: Outline::of(&subject.bytes).unwrap_or_default(),
        signed_by: signers(&subject.bytes),
        examples: subject.wait(contract.examples())?.len(),
        descriptor: contract.descriptor().clone(),
    })
}

/// Who is said to have signed a file; nobody where that cannot be read, which `plugin verify` tells.
fn signers(file: &[u8]) -> Vec<KeyId> {
    let signatures = SignedComponent::split(file).ok().and_then(|split| split.signatures);
    signatures.map(|signatures| signatures.keys().collect()).unwrap_or_default()
}

impl Inspection {
    /// As a text for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut page = Page::default();
        self.identity(&mut page);
        tools(&mut page, &self.descriptor);
        if let Some(way) = &self.descriptor.order {
            order(&mut page, way);
        }
        ranking(&mut page, &self.descriptor);
        words(&mut page, &self.descriptor);
        errors(&mut page, &self.descriptor);
        show_widgets(&mut page, &self.descriptor);
        page.finish()
    }

    fn identity(&self, page: &mut Page) {
        let descriptor = &self.descriptor;
        let none = |names: &[String], none: &str| if names.is_empty() { none.to_owned() } else { names.join(", ") };
        let aliases: Vec<_> = descriptor.aliases.iter().map(ToString::to_string).collect();
        page.heading(&format!("{} {}", descriptor.intent, descriptor.version));
        let size = u64::try_from(self.component_bytes).unwrap_or(u64::MAX);
        page.pairs(&[
            ("title", descriptor.title.clone()),
            ("summary", descriptor.summary.clone()),
            ("also named", none(&aliases, "nothing else")),
            ("agent", descriptor.agent.clone()),
            ("digest", self.digest.to_string()),
            ("signed by", none(&self.signed_by.iter().map(KeyId::to_string).collect::<Vec<_>>(), "nobody")),
            ("size", bytes(size)),
            ("starts with", format!("{} of memory", bytes(self.outline.initial_memory_bytes))),
            ("imports", none(&self.outline.imports, "nothing")),
            ("exports", none(&self.outline.exports, "nothing")),
            ("examples", self.examples.to_string()),
            ("cues", none(&descriptor.cues, "none")),
            ("pairs with", none(&descriptor.pairs, "none")),
            ("sends to", none(&descriptor.elsewhere, "none")),
        ]);
    }
}

fn tools(page: &mut Page, descriptor: &Descriptor) {
    page.heading("Tools (times in ms: p50/p95/p99; retries: after a 429, after a 5xx)");
    let mut rows =
        vec![["name", "role", "latency", "calls/min", "retries", "cached", "idempotent by"].map(str::to_owned)];
    rows.extend(descriptor.tools.iter().map(tool));
    page.rows([false, false, false, true, false, false, false], &rows);
    let shape = &descriptor.search;
    page.heading("Search payload");
    page.pairs(&[
        ("options under", format!("`{}`, at most {}", shape.options_key, shape.max_options)),
        ("identified by", format!("`{}`", shape.id_key)),
        ("priced at", shape.price_pointer.as_ref().map_or_else(|| "no price".to_owned(), |at| format!("`{at}`"))),
        ("nothing found", shape.empty_code.clone().unwrap_or_else(|| "no code".to_owned())),
        ("option gone", shape.gone_code.clone().unwrap_or_else(|| "no code".to_owned())),
    ]);
}

fn tool(tool: &Tool) -> [String; 7] {
    let latency = &tool.latency;
    [
        tool.name.clone(),
        role(tool.role).to_owned(),
        format!("{}/{}/{}", latency.p50_ms, latency.p95_ms, latency.p99_ms.map_or("-".to_owned(), |ms| ms.to_string())),
        tool.rate_per_minute.map_or("-".to_owned(), |rate| rate.to_string()),
        format!("{}, {}", tool.retry.on_rate_limited, tool.retry.on_server_error),
        tool.cache_seconds.map_or("never".to_owned(), |seconds| format!("{seconds} s")),
        tool.idempotency_key.clone().unwrap_or_else(|| "-".to_owned()),
    ]
}

fn order(page: &mut Page, way: &OrderWay) {
    page.heading("The way of an order");
    let states = way.states.iter().map(|state| {
        let milestones: Vec<_> = state.milestones.iter().copied().map(orders::milestone).collect();
        let closed = if state.closed { "closed" } else { "" };
        [state.name.clone(), closed.to_owned(), milestones.join(", "), state.meaning.clone()]
    });
    page.rows([false, false, false, false], &states.collect::<Vec<_>>());
    let steps = way.steps.iter().map(|step| {
        let kept: Vec<_> = step.keeps.iter().map(|kept| kept.name.as_str()).collect();
        let kept = if kept.is_empty() { "keeps nothing".to_owned() } else { format!("keeps {}", kept.join(", ")) };
        [step.tool.clone(), orders::say_when_called(step), kept]
    });
    page.rows([false, false, false], &steps.collect::<Vec<_>>());
    let history = if way.history.is_empty() { "nothing".to_owned() } else { way.history.join(", ") };
    page.line(&format!("  of past orders the ranking is told {history}"));
}

fn ranking(page: &mut Page, descriptor: &Descriptor) {
    let ranking = &descriptor.ranking;
    page.heading("Ranking");
    let mut rows = Vec::new();
    for ((axis, name), weight) in AXES.into_iter().zip(ranking.weights.values()) {
        let signals = ranking.signals.iter().filter(|signal| signal.axis == axis);
        let signals: Vec<_> = signals.map(|signal| format!("{} {}", signal.name, percent(signal.weight))).collect();
        let bands = ranking.bands.iter().filter(|band| band.axis == axis);
        let bands: Vec<_> = bands.map(|band| format!("{} ×{}", band.value, band.factor)).collect();
        let or_none = |list: Vec<String>| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
        rows.push([name.to_owned(), percent(weight), format!("signals: {}", or_none(signals))]);
        rows.push([String::new(), String::new(), format!("bands: {}", or_none(bands))]);
    }
    page.rows([false, true, false], &rows);
    page.line(&format!(
        "  of each axis {} is what the partner declares; {} of the total is completeness",
        percent(ranking.declared_share),
        percent(ranking.completeness_share)
    ));
}

fn words(page: &mut Page, descriptor: &Descriptor) {
    page.heading("Vocabularies");
    let rows = descriptor.vocabularies.iter().map(|one| [one.name.clone(), one.values.join(", ")]);
    page.rows([false, false], &rows.collect::<Vec<_>>());
    page.heading("Rules beyond the schemas");
    let rows = descriptor.rules.iter().map(|rule| {
        let outcome = format!("{:?} {:?}", rule.judged, rule.consequence).to_lowercase();
        [rule.code.clone(), outcome, rule.text.clone()]
    });
    page.rows([false, false, false], &rows.collect::<Vec<_>>());
    page.heading("Forbidden fields, beyond the platform's own");
    let rows = descriptor.forbidden_fields.iter().map(|field| [field.name.clone(), field.reason.clone()]);
    page.rows([false, false], &rows.collect::<Vec<_>>());
}

fn errors(page: &mut Page, descriptor: &Descriptor) {
    page.heading("Error codes");
    let rows = descriptor.errors.iter().map(|error| {
        let retry = error
            .retry
            .as_ref()
            .map_or(String::new(), |retry| format!("retried {}× from {} ms", retry.times, retry.wait_ms));
        [error.code.clone(), error.http_status.to_string(), error.meaning.clone(), retry]
    });
    page.rows([false, true, false, false], &rows.collect::<Vec<_>>());
}

fn show_widgets(page: &mut Page, descriptor: &Descriptor) {
    let widget = &descriptor.widget;
    let preferred = widget.preferred.as_ref().map_or(String::new(), |name| format!(", `{name}` as soon as it exists"));
    page.heading(&format!("Widget `{}`{preferred}", widget.widget_type));
    let rows = widget.slots.iter().map(|slot| [slot.name.clone(), slot.source.clone()]);
    page.rows([false, false], &rows.collect::<Vec<_>>());
    page.heading("Completion report");
    page.pairs(&[
        ("statuses", descriptor.completion.statuses.join(", ")),
        ("charged", descriptor.completion.charged_statuses.join(", ")),
        ("amounts, INR at most", descriptor.completion.amount_max_inr.to_string()),
    ]);
    if !descriptor.data_lifetimes.is_empty() {
        page.heading("Other data may be kept");
        let rows = descriptor.data_lifetimes.iter().map(|one| [one.data.clone(), format!("{} s", one.seconds)]);
        page.rows([false, true], &rows.collect::<Vec<_>>());
    }
    if !descriptor.go_live.is_empty() {
        page.heading("Before a partner's traffic goes live");
        let rows = descriptor.go_live.iter().map(|one| [one.code.clone(), golive::how(one, descriptor)]);
        page.rows([false, false], &rows.collect::<Vec<_>>());
    }
}
