//! The partner-facing page of a contract, in Markdown, from what the component itself declares.
//!
//! It holds what a partner needs to serve the intent and nothing that only the platform needs, such as classification
//! or widgets. The same component gives the same page, byte for byte.

mod fields;
pub mod golive;
pub mod order;

use intent_gateway_domain::contract::{
    Axis, Backoff, Breach, Consequence, Descriptor, Judged, PlatformError, Tool, ToolRole,
};
use serde_json::{Value, json};

use crate::text::percent;
use fields::Fields;

/// The axes by name, in the order of everything that lists them.
pub const AXES: [(Axis, &str); 4] =
    [(Axis::Time, "time"), (Axis::Taste, "taste"), (Axis::Budget, "budget"), (Axis::Safety, "safety")];

/// The page of a descriptor, with a sample option where there is one.
#[must_use]
pub fn page(descriptor: &Descriptor, sample: Option<&Value>) -> String {
    let mut page = Markdown::default();
    page.line(&format!("# {}: `{}` {}", descriptor.title, descriptor.intent, descriptor.version));
    page.paragraph(&descriptor.summary);
    if !descriptor.aliases.is_empty() {
        let aliases: Vec<_> = descriptor.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        page.paragraph(&format!(
            "Also named {}. A manifest may list the intent by either name; what you are sent names `{}`.",
            aliases.join(", "),
            descriptor.intent
        ));
    }
    page.paragraph(
        "What a partner implements to serve this intent. This page is generated from the contract that the gateway \
         enforces; where anything else says otherwise, the contract holds.",
    );
    tools(&mut page, descriptor);
    for tool in &descriptor.tools {
        one_tool(&mut page, descriptor, tool, sample);
    }
    order::section(&mut page, descriptor);
    errors(&mut page, &descriptor.errors);
    rules(&mut page, descriptor);
    forbidden(&mut page, descriptor);
    ranking(&mut page, descriptor);
    completion(&mut page, descriptor);
    golive::section(&mut page, descriptor);
    vocabularies(&mut page, descriptor);
    page.text
}

/// A role in the platform's vocabulary.
#[must_use]
pub fn role(role: ToolRole) -> &'static str {
    match role {
        ToolRole::Search => "search",
        ToolRole::GetDetail => "get_detail",
        ToolRole::Create => "create",
        ToolRole::Modify => "modify",
        ToolRole::Cancel => "cancel",
        ToolRole::Track => "track",
        ToolRole::Rate => "rate",
        ToolRole::Utility => "utility",
    }
}

/// A Markdown text that grows.
#[derive(Default)]
struct Markdown {
    text: String,
}

impl Markdown {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn paragraph(&mut self, text: &str) {
        self.text.push('\n');
        self.line(text);
    }

    fn heading(&mut self, level: usize, heading: &str) {
        self.paragraph(&format!("{} {heading}", "#".repeat(level)));
    }

    /// A table; without rows, nothing.
    fn table<const N: usize>(&mut self, head: [&str; N], rows: &[[String; N]]) {
        if rows.is_empty() {
            return;
        }
        self.paragraph(&format!("| {} |", head.join(" | ")));
        self.line(&format!("|{}", "---|".repeat(N)));
        for row in rows {
            self.line(&format!("| {} |", row.each_ref().map(|cell| escape_cell(cell)).join(" | ")));
        }
    }

    fn code(&mut self, json: &Value) {
        // A JSON value always has a text.
        let text = serde_json::to_string_pretty(json).unwrap_or_default();
        self.paragraph(&format!("```json\n{text}\n```"));
    }
}

/// A text in the cell of a table.
fn escape_cell(cell: &str) -> String {
    cell.replace('|', "\\|").replace(['\n', '\r'], " ")
}

fn tools(page: &mut Markdown, descriptor: &Descriptor) {
    page.heading(2, "Tools");
    page.paragraph("Times are targets in milliseconds. *Calls/min* is what a partner must bear at least.");
    let rows: Vec<_> = descriptor.tools.iter().map(tool_row).collect();
    let head = ["Tool", "Role", "p50", "p95", "p99", "Calls/min", "Retried", "Cached", "Idempotent by"];
    page.table(head, &rows);
}

fn tool_row(tool: &Tool) -> [String; 9] {
    let retried = match (tool.retry.on_rate_limited, tool.retry.on_server_error) {
        (0, 0) => "never".to_owned(),
        (limited, failed) => format!("{limited}× after a 429, {failed}× after a 5xx"),
    };
    [
        format!("`{}`", tool.name),
        role(tool.role).to_owned(),
        tool.latency.p50_ms.to_string(),
        tool.latency.p95_ms.to_string(),
        tool.latency.p99_ms.map_or_else(|| "none".to_owned(), |ms| ms.to_string()),
        tool.rate_per_minute.map_or_else(|| "none".to_owned(), |rate| rate.to_string()),
        retried,
        tool.cache_seconds.map_or_else(|| "never".to_owned(), |seconds| format!("{seconds} s")),
        tool.idempotency_key.as_ref().map_or_else(|| "no key".to_owned(), |key| format!("`{key}`")),
    ]
}

const FIELD_HEAD: [&str; 5] = ["Field", "Type", "Required", "Bounds", "Meaning"];

fn one_tool(page: &mut Markdown, descriptor: &Descriptor, tool: &Tool, sample: Option<&Value>) {
    let fields = Fields { vocabularies: &descriptor.vocabularies };
    page.heading(2, &format!("`{}`", tool.name));
    page.paragraph(&tool.purpose);
    if let Some(orders) = &tool.orders_tool {
        page.paragraph(&format!(
            "After a call that failed, the platform asks `{orders}`, with those of the arguments that it takes, whether an \
             order was made all the same, and calls again only where none was."
        ));
    }
    page.heading(3, "Arguments");
    page.table(FIELD_HEAD, &fields.of(tool.request_schema.get()));
    if tool.name != descriptor.search.tool {
        page.heading(3, "Answer");
        page.table(FIELD_HEAD, &fields.of(tool.response_schema.get()));
        return;
    }
    let shape = &descriptor.search;
    page.heading(3, "Answer");
    page.paragraph(&format!(
        "An object with the options under `{}` (at most {} are read), a `result_token` that names the partner's commitment, \
         and `expires_at`, until when the options stay bookable. Each option is identified by `{}`, once in an answer.",
        shape.options_key, shape.max_options, shape.id_key
    ));
    if let Some(pointer) = &shape.price_pointer {
        page.paragraph(&format!(
            "What one order costs is `{pointer}`, in INR. It is compared with `pricing` of your manifest: outside that range the \
             option is shown all the same, and `PRICE_OUT_OF_RANGE` is found."
        ));
    }
    if let Some(code) = &shape.empty_code {
        page.paragraph(&format!("Where a sound request matches nothing: `{code}`."));
    }
    if let Some(code) = &shape.gone_code {
        page.paragraph(&format!("Where an option that was offered cannot be had any more: `{code}`."));
    }
    page.paragraph("Each option:");
    page.table(FIELD_HEAD, &fields.of(tool.response_schema.get()));
    if let Some(option) = sample {
        page.heading(3, "Sample answer");
        page.code(&json!({
            "result_token": "the-partners-own-token",
            "expires_at": "2026-01-01T01:00:00+05:30",
            (shape.options_key.as_str()): [option],
        }));
    }
}

fn errors(page: &mut Markdown, errors: &[PlatformError]) {
    page.heading(2, "Errors");
    page.paragraph("A status of 200 marks an advisory: the call has succeeded and the code says something of it.");
    let rows = errors.iter().map(|error| {
        let retry = error.retry.as_ref().map_or_else(
            || "no".to_owned(),
            |retry| {
                let growth = match retry.backoff {
                    Backoff::Fixed => "each after",
                    Backoff::Exponential => "doubling from",
                };
                format!("{}×, {growth} {} ms", retry.times, retry.wait_ms)
            },
        );
        [format!("`{}`", error.code), error.http_status.to_string(), error.meaning.clone(), retry]
    });
    page.table(["Code", "Status", "Meaning", "Retried"], &rows.collect::<Vec<_>>());
}

fn rules(page: &mut Markdown, descriptor: &Descriptor) {
    page.heading(2, "Rules");
    page.paragraph("What must hold beyond the fields above. The code is that of the violation which a breach gives.");
    let rows = descriptor.rules.iter().map(|rule| {
        let about = match rule.judged {
            Judged::Request => "the request",
            Judged::Option => "an option",
            Judged::Answer => "an answer",
            Judged::Report => "the completion report",
        };
        let breach = match rule.consequence {
            Consequence::Refused => "is refused",
            Consequence::Dropped => "drops the option",
            Consequence::Strike if rule.judged == Judged::Report => "is recorded, and counts towards suspension",
            Consequence::Strike => "drops the option and counts towards suspension",
            Consequence::Finding => "is recorded for review",
            Consequence::Note => "is noted",
        };
        [format!("`{}`", rule.code), about.to_owned(), rule.text.clone(), breach.to_owned()]
    });
    page.table(["Code", "Of", "What must hold", "A breach"], &rows.collect::<Vec<_>>());
}

fn forbidden(page: &mut Markdown, descriptor: &Descriptor) {
    page.heading(2, "Forbidden fields");
    page.paragraph(
        "No answer may carry these at any depth, nor those that the platform forbids everywhere. Inside an option, the \
         option is dropped; outside the options, the whole answer is.",
    );
    let rows = descriptor.forbidden_fields.iter().map(|field| {
        let when = match field.breach {
            Breach::Present => "whenever it is there",
            Breach::UnlessFalse => "unless it is `false`",
            Breach::UnlessEmpty => "unless it is empty or null",
        };
        [format!("`{}`", field.name), when.to_owned(), field.reason.clone()]
    });
    page.table(["Field", "A breach", "Why"], &rows.collect::<Vec<_>>());
}

/// The share of completeness is left out: it is a hidden factor (spec 2 and 3), and partners read this page.
fn ranking(page: &mut Markdown, descriptor: &Descriptor) {
    let ranking = &descriptor.ranking;
    page.heading(2, "How options are ranked");
    page.paragraph(&format!(
        "Four axes are weighed. Within each, {} is what the manifest declares as `ttbs_signals`, the rest are the \
         signals below. What the user cares for shifts the weights. The ranking does not know whose option it ranks.",
        percent(ranking.declared_share)
    ));
    let rows = AXES.into_iter().zip(ranking.weights.values()).map(|((axis, name), weight)| {
        let signals = ranking.signals.iter().filter(|signal| signal.axis == axis);
        let signals: Vec<_> = signals.map(|signal| format!("`{}` {}", signal.name, percent(signal.weight))).collect();
        let signals = if signals.is_empty() { "as declared".to_owned() } else { signals.join(", ") };
        [name.to_owned(), percent(weight), signals]
    });
    page.table(["Axis", "Weight", "Signals"], &rows.collect::<Vec<_>>());
}

fn completion(page: &mut Markdown, descriptor: &Descriptor) {
    page.heading(2, "Completion report");
    page.paragraph(&format!(
        "Posted, signed, when an order has closed. `status` is one of {}; commission is due on {}. No amount may be above {} \
         INR.",
        quote_names(&descriptor.completion.statuses),
        quote_names(&descriptor.completion.charged_statuses),
        descriptor.completion.amount_max_inr
    ));
    let fields = Fields { vocabularies: &descriptor.vocabularies };
    page.table(FIELD_HEAD, &fields.of(descriptor.completion.schema.get()));
    for lifetime in &descriptor.data_lifetimes {
        page.paragraph(&format!("Kept for {} s: {}.", lifetime.seconds, lifetime.data));
    }
}

fn vocabularies(page: &mut Markdown, descriptor: &Descriptor) {
    if descriptor.vocabularies.is_empty() {
        return;
    }
    page.heading(2, "Vocabularies");
    page.paragraph("Values match exactly. They change only with a minor version of the contract or more.");
    page.line("");
    for vocabulary in &descriptor.vocabularies {
        page.line(&format!("- **{}**: {}", vocabulary.name, quote_names(&vocabulary.values)));
    }
}

/// Names as code, in a row.
fn quote_names(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use intent_gateway_testing::descriptor::small_descriptor;

    use super::*;

    /// The page of the small descriptor, as partners would read it.
    const GOLDEN: &str = include_str!("golden.md");

    #[test]
    fn the_page_is_stable() {
        let page = page(&small_descriptor(), Some(&json!({"cups": [{"ml": 200}], "offer_id": "o-1"})));
        assert_eq!(page, GOLDEN);
    }
}
