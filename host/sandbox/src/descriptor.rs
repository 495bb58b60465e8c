//! From the component's descriptor to the domain's, with every rule that a descriptor must keep. All
//! problems are reported at once: an author fixes them in one go.

use std::collections::HashSet;

use intent_gateway_domain::contract as domain;
use intent_gateway_domain::forbidden;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::limits::OPTIONS_READ_MAX;
use serde_json::value::RawValue;

use crate::bindings as wit;
use crate::convert;
use crate::golive;
use crate::instance::shorten;
use crate::way;

/// How far a sum of weights may lie from 1: the rounding of some dozens of additions.
const WEIGHT_SUM_TOLERANCE: f64 = 1e-9;
/// Largest factor of a band on an axis weight.
const BAND_FACTOR_MAX: f64 = 100.0;
/// Longest cue in bytes, as it is searched for in every utterance.
const CUE_MAX_BYTES: usize = 100;
/// Other names of one intent.
const ALIASES_MAX: usize = 16;
/// Cues of one contract, as all of them are held in the index of all contracts.
const CUES_MAX: usize = 500;

/// Converts and checks a descriptor.
pub(crate) fn checked(descriptor: wit::Descriptor) -> Result<domain::Descriptor, Vec<String>> {
    let mut problems = Problems::default();
    let wit::Descriptor { intent, version, domain, agent, title, summary, .. } = &descriptor;
    for (what, text) in [("agent", agent), ("title", title), ("summary", summary)] {
        problems.unless(!text.trim().is_empty(), || format!("`{what}` is empty"));
    }
    let id = IntentId::parse(intent).map_err(|error| problems.add(error.to_string())).ok();
    if let Some(id) = &id {
        problems.unless(id.domain() == domain, || {
            format!("`domain` is `{domain}`; the intent `{id}` lies in `{}`", id.domain())
        });
    }
    let version = semver::Version::parse(version)
        .map_err(|error| problems.add(format!("`version` is `{version}`, no semantic version ({error})")))
        .ok();
    search(&descriptor.search, &descriptor.tools, &mut problems);
    ranking(&descriptor.ranking, &mut problems);
    names(&descriptor, &mut problems);
    orders_tools(&descriptor.tools, &mut problems);
    errors(&descriptor, &mut problems);
    cues(&descriptor.cues, &mut problems);
    let aliases = aliases(&descriptor, &mut problems);
    for other in descriptor.pairs.iter().chain(&descriptor.elsewhere) {
        problems.unless(IntentId::parse(other).is_ok(), || format!("`{other}` is no intent identifier"));
    }
    let order = descriptor.order.as_ref().map(|order| way::checked(order, &way::Names::of(&descriptor), &mut problems));
    let go_live = golive::checked(&descriptor.go_live, &golive::Names::of(&descriptor), &mut problems);
    let tools: Vec<_> = descriptor.tools.into_iter().filter_map(|tool| convert_tool(tool, &mut problems)).collect();
    let forbidden_fields: Vec<_> = descriptor.forbidden_fields.into_iter().map(convert_forbidden).collect();
    problems.0.extend(forbidden::problems(&forbidden_fields, &descriptor.search.options_key, &tools));
    let completion = convert_completion(descriptor.completion, &mut problems);
    match (id, version, completion, problems.0.is_empty()) {
        (Some(intent), Some(version), Some(completion), true) => Ok(domain::Descriptor {
            intent,
            aliases,
            version,
            domain: descriptor.domain,
            agent: descriptor.agent,
            title: descriptor.title,
            summary: descriptor.summary,
            search: convert_search(descriptor.search),
            tools,
            ranking: convert_ranking(descriptor.ranking),
            vocabularies: descriptor.vocabularies.into_iter().map(convert_vocabulary).collect(),
            forbidden_fields,
            rules: descriptor.rules.into_iter().map(convert_rule).collect(),
            errors: descriptor.errors.into_iter().map(convert_error).collect(),
            widget: convert_widget(descriptor.widget),
            completion,
            order,
            data_lifetimes: descriptor.data_lifetimes.into_iter().map(convert_lifetime).collect(),
            go_live,
            cues: descriptor.cues,
            pairs: descriptor.pairs,
            elsewhere: descriptor.elsewhere,
        }),
        _ => Err(problems.0),
    }
}

/// The other names of the intent: well formed, each once, and none that the contract itself takes for something else.
fn aliases(descriptor: &wit::Descriptor, problems: &mut Problems) -> Vec<IntentId> {
    let wit::Descriptor { intent, aliases, pairs, elsewhere, .. } = descriptor;
    problems.unless(aliases.len() <= ALIASES_MAX, || format!("more than {ALIASES_MAX} aliases"));
    problems.unique("alias", aliases.iter());
    for alias in aliases {
        let other = alias == intent || pairs.contains(alias) || elsewhere.contains(alias);
        problems
            .unless(!other, || format!("the alias `{alias}` is the intent itself, or among `pairs` or `elsewhere`"));
    }
    let parse =
        |alias: &String| IntentId::parse(alias).map_err(|error| problems.add(format!("an alias: {error}"))).ok();
    aliases.iter().filter_map(parse).collect()
}

/// All that is wrong with a descriptor, in sentences.
#[derive(Default)]
pub(crate) struct Problems(pub(crate) Vec<String>);

impl Problems {
    fn add(&mut self, problem: String) {
        self.0.push(problem);
    }

    pub(crate) fn unless(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.0.push(problem());
        }
    }

    pub(crate) fn unique<'a>(&mut self, what: &str, names: impl Iterator<Item = &'a String>) {
        let mut seen = HashSet::new();
        for name in names {
            self.unless(!name.is_empty(), || format!("a {what} has an empty name"));
            self.unless(seen.insert(name), || format!("{what} `{name}` occurs twice"));
        }
    }

    fn share(&mut self, what: &str, value: f64) {
        self.unless((0.0..=1.0).contains(&value), || format!("{what} is {value}; expected 0 to 1"));
    }

    fn sum(&mut self, what: &str, values: impl Iterator<Item = f64>) {
        let sum: f64 = values.sum();
        let holds = (sum - 1.0).abs() <= WEIGHT_SUM_TOLERANCE;
        self.unless(holds, || format!("{what} sum to {sum}; expected 1"));
    }

    fn schema(&mut self, what: &str, text: String) -> Option<Box<RawValue>> {
        convert::json_object(what, text).map_err(|_| self.add(format!("{what} is no JSON object"))).ok()
    }
}

fn search(shape: &wit::SearchShape, tools: &[wit::Tool], problems: &mut Problems) {
    match tools.iter().find(|tool| tool.name == shape.tool) {
        None => problems.add(format!("the search tool `{}` is not among the tools", shape.tool)),
        Some(tool) => problems.unless(tool.role == wit::ToolRole::Search, || {
            format!("the search tool `{}` has another role than search", shape.tool)
        }),
    }
    problems.unless(!shape.options_key.is_empty(), || "`search.options-key` is empty".to_owned());
    problems.unless(!shape.id_key.is_empty(), || "`search.id-key` is empty".to_owned());
    if let Some(pointer) = &shape.price_pointer {
        problems.unless(pointer.starts_with('/'), || {
            format!("`search.price-pointer` is `{pointer}`; expected a JSON Pointer, which starts with /")
        });
    }
    let most = u32::try_from(OPTIONS_READ_MAX).unwrap_or(u32::MAX);
    problems.unless((1..=most).contains(&shape.max_options), || {
        format!("`search.max-options` is {}; expected 1 to {most}", shape.max_options)
    });
}

/// After a failed write, orders are read by a tool that reads, and is there.
fn orders_tools(tools: &[wit::Tool], problems: &mut Problems) {
    for tool in tools {
        let Some(name) = &tool.orders_tool else { continue };
        problems.unless(writes(tool.role), || {
            format!("`{}` names the orders tool `{name}`, and writes nothing itself", tool.name)
        });
        let reads = tools.iter().any(|other| other.name == *name && other.role == wit::ToolRole::GetDetail);
        problems.unless(reads, || format!("the orders tool `{name}` of `{}` is no tool of role get-detail", tool.name));
    }
}

fn writes(role: wit::ToolRole) -> bool {
    use wit::ToolRole as R;
    match role {
        R::Create | R::Modify | R::Cancel | R::Rate => true,
        R::Search | R::GetDetail | R::Track | R::Utility => false,
    }
}

fn ranking(ranking: &wit::Ranking, problems: &mut Problems) {
    let weights = convert::axes(ranking.weights).values();
    for weight in weights {
        problems.share("an axis weight", weight);
    }
    problems.sum("the axis weights", weights.into_iter());
    problems.share("`ranking.declared-share`", ranking.declared_share);
    problems.share("`ranking.completeness-share`", ranking.completeness_share);
    let axes = [
        ("time", wit::Axis::Time),
        ("taste", wit::Axis::Taste),
        ("budget", wit::Axis::Budget),
        ("safety", wit::Axis::Safety),
    ];
    for (name, axis) in axes {
        let signals: Vec<_> = ranking.signals.iter().filter(|signal| signal.axis == axis).collect();
        problems.unique(&format!("{name} signal"), signals.iter().map(|signal| &signal.name));
        for signal in &signals {
            problems.share(&format!("the weight of signal `{}`", signal.name), signal.weight);
        }
        // An axis without signals is allowed: it stands on what the partner declares.
        if !signals.is_empty() {
            problems.sum(&format!("the weights of the {name} signals"), signals.iter().map(|signal| signal.weight));
        }
    }
    for band in &ranking.bands {
        problems.unless(band.factor > 0.0 && band.factor <= BAND_FACTOR_MAX, || {
            format!(
                "the factor of band `{}` is {}; expected above 0, at most {BAND_FACTOR_MAX}",
                band.value, band.factor
            )
        });
    }
}

fn names(descriptor: &wit::Descriptor, problems: &mut Problems) {
    problems.unique("tool", descriptor.tools.iter().map(|tool| &tool.name));
    problems.unique("vocabulary", descriptor.vocabularies.iter().map(|vocabulary| &vocabulary.name));
    for vocabulary in &descriptor.vocabularies {
        problems.unique(&format!("value of vocabulary `{}`", vocabulary.name), vocabulary.values.iter());
    }
    problems.unique("forbidden field", descriptor.forbidden_fields.iter().map(|field| &field.name));
    rules(&descriptor.rules, problems);
    problems.unique("error code", descriptor.errors.iter().map(|error| &error.code));
    problems.unique("card slot", descriptor.widget.slots.iter().map(|slot| &slot.name));
    problems.unique("completion status", descriptor.completion.statuses.iter());
    problems.unless(!descriptor.widget.widget_type.is_empty(), || "`widget.widget-type` is empty".to_owned());
    problems.unless(descriptor.completion.amount_max_inr > 0, || {
        "`completion.amount-max-inr` is 0: no report could be taken".to_owned()
    });
    for status in &descriptor.completion.charged_statuses {
        problems.unless(descriptor.completion.statuses.contains(status), || {
            format!("charged status `{status}` is not among the statuses")
        });
    }
}

/// A rule says what must hold; its code may stand for several documents, once for each outcome.
fn rules(rules: &[wit::Rule], problems: &mut Problems) {
    let mut seen = HashSet::new();
    for rule in rules {
        let code = &rule.code;
        problems.unless(!code.is_empty() && !rule.text.trim().is_empty(), || format!("rule `{code}` says nothing"));
        problems.unless(seen.insert((code, rule.judged as u8, rule.consequence as u8)), || {
            format!("rule `{code}` occurs twice with one document and outcome")
        });
    }
}

fn errors(descriptor: &wit::Descriptor, problems: &mut Problems) {
    for error in &descriptor.errors {
        problems.unless((100..=599).contains(&error.http_status), || {
            format!("the HTTP status of `{}` is {}; expected 100 to 599", error.code, error.http_status)
        });
    }
    let shape = &descriptor.search;
    for code in shape.empty_code.iter().chain(&shape.gone_code) {
        problems.unless(descriptor.errors.iter().any(|error| error.code == *code), || {
            format!("`{code}`, named by `search`, is not in the error table")
        });
    }
}

fn cues(cues: &[String], problems: &mut Problems) {
    problems.unless(!cues.is_empty(), || "there are no cues: `classify` would never be asked".to_owned());
    problems.unless(cues.len() <= CUES_MAX, || format!("there are {} cues; expected at most {CUES_MAX}", cues.len()));
    for (number, cue) in (1..).zip(cues.iter().take(CUES_MAX)) {
        problems.unless(cue.chars().any(char::is_alphanumeric) && cue.len() <= CUE_MAX_BYTES, || {
            let (shown, bytes) = (shorten(cue), cue.len());
            format!(
                "cue {number} is `{shown}`, of {bytes} bytes; expected a letter or digit in it, and 1 to {CUE_MAX_BYTES} \
                 bytes"
            )
        });
        problems.unless(cue.to_lowercase() == *cue, || {
            format!("cue `{}` is not in lower case, in which utterances are searched", shorten(cue))
        });
    }
}

fn convert_tool(tool: wit::Tool, problems: &mut Problems) -> Option<domain::Tool> {
    let request_schema = problems.schema(&format!("the request schema of `{}`", tool.name), tool.request_schema);
    let response_schema = problems.schema(&format!("the response schema of `{}`", tool.name), tool.response_schema);
    Some(domain::Tool {
        name: tool.name,
        role: match tool.role {
            wit::ToolRole::Search => domain::ToolRole::Search,
            wit::ToolRole::GetDetail => domain::ToolRole::GetDetail,
            wit::ToolRole::Create => domain::ToolRole::Create,
            wit::ToolRole::Modify => domain::ToolRole::Modify,
            wit::ToolRole::Cancel => domain::ToolRole::Cancel,
            wit::ToolRole::Track => domain::ToolRole::Track,
            wit::ToolRole::Rate => domain::ToolRole::Rate,
            wit::ToolRole::Utility => domain::ToolRole::Utility,
        },
        purpose: tool.purpose,
        latency: domain::LatencyTargets {
            p50_ms: tool.latency.p50_ms,
            p95_ms: tool.latency.p95_ms,
            p99_ms: tool.latency.p99_ms,
        },
        rate_per_minute: tool.rate_per_minute,
        idempotency_key: tool.idempotency_key,
        retry: domain::RetryPolicy {
            on_rate_limited: tool.retry.on_rate_limited,
            on_server_error: tool.retry.on_server_error,
        },
        cache_seconds: tool.cache_seconds,
        orders_tool: tool.orders_tool,
        request_schema: request_schema?,
        response_schema: response_schema?,
    })
}

fn convert_completion(completion: wit::Completion, problems: &mut Problems) -> Option<domain::Completion> {
    Some(domain::Completion {
        statuses: completion.statuses,
        charged_statuses: completion.charged_statuses,
        amount_max_inr: completion.amount_max_inr,
        schema: problems.schema("the schema of the completion report", completion.schema)?,
    })
}

fn convert_search(shape: wit::SearchShape) -> domain::SearchShape {
    domain::SearchShape {
        tool: shape.tool,
        options_key: shape.options_key,
        id_key: shape.id_key,
        price_pointer: shape.price_pointer,
        max_options: shape.max_options,
        empty_code: shape.empty_code,
        gone_code: shape.gone_code,
    }
}

fn axis(axis: wit::Axis) -> domain::Axis {
    match axis {
        wit::Axis::Time => domain::Axis::Time,
        wit::Axis::Taste => domain::Axis::Taste,
        wit::Axis::Budget => domain::Axis::Budget,
        wit::Axis::Safety => domain::Axis::Safety,
    }
}

fn convert_ranking(ranking: wit::Ranking) -> domain::Ranking {
    let signals = ranking.signals.into_iter().map(|signal| domain::Signal {
        axis: axis(signal.axis),
        name: signal.name,
        weight: signal.weight,
    });
    let bands = ranking.bands.into_iter().map(|band| domain::Band {
        axis: axis(band.axis),
        value: band.value,
        factor: band.factor,
    });
    domain::Ranking {
        weights: convert::axes(ranking.weights),
        declared_share: ranking.declared_share,
        completeness_share: ranking.completeness_share,
        signals: signals.collect(),
        bands: bands.collect(),
    }
}

fn convert_vocabulary(vocabulary: wit::Vocabulary) -> domain::Vocabulary {
    domain::Vocabulary { name: vocabulary.name, values: vocabulary.values }
}

fn convert_forbidden(field: wit::ForbiddenField) -> domain::ForbiddenField {
    domain::ForbiddenField {
        name: field.name,
        breach: match field.breach {
            wit::Breach::Present => domain::Breach::Present,
            wit::Breach::UnlessFalse => domain::Breach::UnlessFalse,
            wit::Breach::UnlessEmpty => domain::Breach::UnlessEmpty,
        },
        reason: field.reason,
    }
}

fn convert_rule(rule: wit::Rule) -> domain::Rule {
    domain::Rule {
        code: rule.code,
        judged: match rule.judged {
            wit::Judged::Request => domain::Judged::Request,
            wit::Judged::Option => domain::Judged::Option,
            wit::Judged::Answer => domain::Judged::Answer,
            wit::Judged::Report => domain::Judged::Report,
        },
        consequence: match rule.consequence {
            wit::Consequence::Refused => domain::Consequence::Refused,
            wit::Consequence::Dropped => domain::Consequence::Dropped,
            wit::Consequence::Strike => domain::Consequence::Strike,
            wit::Consequence::Finding => domain::Consequence::Finding,
            wit::Consequence::Note => domain::Consequence::Note,
        },
        text: rule.text,
    }
}

fn convert_error(error: wit::PlatformError) -> domain::PlatformError {
    let retry = error.retry.map(|retry| domain::ErrorRetry {
        times: retry.times,
        wait_ms: retry.wait_ms,
        backoff: match retry.backoff {
            wit::Backoff::Fixed => domain::Backoff::Fixed,
            wit::Backoff::Exponential => domain::Backoff::Exponential,
        },
    });
    domain::PlatformError { code: error.code, http_status: error.http_status, meaning: error.meaning, retry }
}

fn convert_widget(widget: wit::Widget) -> domain::Widget {
    let slots = widget.slots.into_iter().map(|slot| domain::CardSlot { name: slot.name, source: slot.source });
    domain::Widget { widget_type: widget.widget_type, preferred: widget.preferred, slots: slots.collect() }
}

fn convert_lifetime(lifetime: wit::DataLifetime) -> domain::DataLifetime {
    domain::DataLifetime { data: lifetime.data, seconds: lifetime.seconds }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_by_a_tool_that_reads() {
        let tool = |name: &str, role, orders_tool: Option<&str>| wit::Tool {
            name: name.to_owned(),
            role,
            purpose: "For tests.".to_owned(),
            latency: wit::LatencyTargets { p50_ms: 1, p95_ms: 2, p99_ms: None },
            rate_per_minute: Some(60),
            idempotency_key: None,
            retry: wit::RetryPolicy { on_rate_limited: 0, on_server_error: 0 },
            cache_seconds: None,
            orders_tool: orders_tool.map(str::to_owned),
            request_schema: "{}".to_owned(),
            response_schema: "{}".to_owned(),
        };
        let found = |role, orders_tool, reader| {
            let mut problems = Problems::default();
            orders_tools(&[tool("book", role, orders_tool), tool("list_orders", reader, None)], &mut problems);
            problems.0
        };
        use wit::ToolRole as R;
        for role in [R::Create, R::Modify, R::Cancel, R::Rate] {
            assert_eq!(found(role, Some("list_orders"), R::GetDetail), [] as [String; 0]);
        }
        assert_eq!(found(R::Search, None, R::Track), [] as [String; 0]);
        for role in [R::Search, R::GetDetail, R::Track, R::Utility] {
            assert!(found(role, Some("list_orders"), R::GetDetail)[0].contains("writes nothing itself"));
        }
        for (name, reader) in [("list_orders", R::Track), ("list_order", R::GetDetail), ("book", R::GetDetail)] {
            assert!(found(R::Create, Some(name), reader)[0].contains("is no tool of role get-detail"), "{name}");
        }
    }

    #[test]
    fn every_problem_with_the_cues_is_named() {
        let found = |given: &[String]| {
            let mut problems = Problems::default();
            cues(given, &mut problems);
            problems.0
        };
        let named = |given: &str| found(&[given.to_owned()]);
        assert_eq!(named("a/c"), [] as [String; 0]);
        assert!(found(&[])[0].starts_with("there are no cues"));
        assert!(named("Car")[0].contains("not in lower case"));
        for unfit in ["", " ", "-/-", &"a".repeat(CUE_MAX_BYTES + 1)] {
            assert!(named(unfit)[0].contains("expected a letter or digit"), "{unfit}");
        }
        let second = found(&["car".to_owned(), "-".to_owned()]);
        assert!(second[0].starts_with("cue 2 is `-`, of 1 bytes"), "{second:?}");
        let many = |count: usize| (0..count).map(|number| format!("cue {number}")).collect::<Vec<_>>();
        assert_eq!(found(&many(CUES_MAX)), [] as [String; 0]);
        assert!(found(&many(CUES_MAX + 1))[0].starts_with("there are 501 cues"));
    }
}
