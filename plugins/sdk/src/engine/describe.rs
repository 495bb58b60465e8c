//! `describe`: the descriptor from a contract's constant tables.

use crate::bindings::{
    Axis, Band, CardSlot, Completion, Coverage, DataLifetime, Depth, Descriptor, ErrorRetry, ForbiddenField, Handling,
    LatencyTargets, Minimum, Occasion, PlatformError, RequestTest, Requirement, RequirementCheck, RetryPolicy, Rule,
    SearchShape, Tool, Vocabulary, Widget, Window,
};
use crate::completion::Report;
use crate::contract::{Contract, Intent};
use crate::order;
use crate::policy::{self, GoLiveCheck, ToolPolicy};
use crate::ranking::{Ranking, Signal};
use crate::schema;
use crate::shape::{Described, Kind, ValueDesc, VocabularyDesc};
use serde_json::{Value, json};

/// The contract's identity and every policy that the host enforces for it.
pub fn describe<C: Contract>() -> Descriptor {
    let about = <C::Intent as Intent>::ABOUT;
    let lexicon = <C::Intent as Intent>::LEXICON;
    let mut elsewhere: Vec<String> = Vec::new();
    for intent in lexicon.referrals.iter().filter_map(|referral| referral.intent) {
        if !elsewhere.iter().any(|known| known == intent) {
            elsewhere.push(intent.to_owned());
        }
    }
    Descriptor {
        intent: about.intent.to_owned(),
        aliases: about.aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        version: C::VERSION.to_owned(),
        domain: about.domain().to_owned(),
        agent: about.agent.to_owned(),
        title: about.title.to_owned(),
        summary: about.summary.to_owned(),
        search: search::<C::Intent>(),
        tools: tools::<C::Intent>(),
        ranking: ranking(&C::RANKING),
        vocabularies: vocabularies::<C::Intent>().iter().map(vocabulary).collect(),
        forbidden_fields: forbidden::<C::Intent>(),
        rules: rules::<C::Intent>(),
        errors: errors::<C::Intent>(),
        widget: widget::<C::Intent>(),
        completion: completion::<C::Intent>(),
        order: <C::Intent as Intent>::ORDER.as_ref().map(order::describe),
        data_lifetimes: <C::Intent as Intent>::LIFETIMES
            .iter()
            .map(|row| DataLifetime { data: row.data.to_owned(), seconds: row.seconds })
            .collect(),
        go_live: <C::Intent as Intent>::GO_LIVE.iter().map(requirement).collect(),
        cues: lexicon.cues.iter().map(|cue| (*cue).to_owned()).collect(),
        pairs: lexicon.pairs.iter().map(|pair| pair.intent.to_owned()).collect(),
        elsewhere,
    }
}

fn search<I: Intent>() -> SearchShape {
    SearchShape {
        tool: I::SEARCH.policy.name.to_owned(),
        options_key: I::SEARCH.options_key.to_owned(),
        id_key: I::SEARCH.id_key.to_owned(),
        price_pointer: I::SEARCH.price_pointer.map(str::to_owned),
        max_options: I::SEARCH.max_options,
        empty_code: I::SEARCH.empty_code.map(str::to_owned),
        gone_code: I::SEARCH.gone_code.map(str::to_owned),
    }
}

fn tools<I: Intent>() -> Vec<Tool> {
    let request = <I::Request<'static> as Described>::DESC;
    let item = <I::Item<'static> as Described>::DESC;
    let mut tools = vec![tool(&I::SEARCH.policy, &request, &item)];
    tools.extend(I::TOOLS.iter().map(|entry| tool(&entry.policy, &entry.arguments, &entry.answer)));
    tools
}

fn tool(policy: &ToolPolicy, arguments: &ValueDesc, answer: &ValueDesc) -> Tool {
    Tool {
        name: policy.name.to_owned(),
        role: policy.role,
        purpose: policy.purpose.to_owned(),
        latency: LatencyTargets { p50_ms: policy.p50_ms, p95_ms: policy.p95_ms, p99_ms: policy.p99_ms },
        rate_per_minute: policy.rate_per_minute,
        idempotency_key: policy.idempotency_key.map(str::to_owned),
        retry: RetryPolicy {
            on_rate_limited: policy.retries_on_rate_limited,
            on_server_error: policy.retries_on_server_error,
        },
        cache_seconds: policy.cache_seconds,
        orders_tool: policy.orders_tool.map(str::to_owned),
        request_schema: schema::of(arguments).to_string(),
        response_schema: schema::of(answer).to_string(),
    }
}

fn ranking(table: &Ranking) -> crate::bindings::Ranking {
    let list = |axis: Axis, signals: &[Signal]| -> Vec<crate::bindings::Signal> {
        let row =
            |signal: &Signal| crate::bindings::Signal { axis, name: signal.name.to_owned(), weight: signal.weight };
        signals.iter().map(row).collect()
    };
    let mut signals = list(Axis::Time, table.signals.time);
    signals.extend(list(Axis::Taste, table.signals.taste));
    signals.extend(list(Axis::Budget, table.signals.budget));
    signals.extend(list(Axis::Safety, table.signals.safety));
    let band =
        |row: &crate::ranking::BandFactor| Band { axis: row.axis, value: row.value.to_owned(), factor: row.factor };
    crate::bindings::Ranking {
        weights: table.weights.axes(),
        declared_share: table.declared_share,
        completeness_share: table.completeness_share,
        signals,
        bands: table.bands.iter().map(band).collect(),
    }
}

fn forbidden<I: Intent>() -> Vec<ForbiddenField> {
    let row = |field: &crate::policy::Forbidden| ForbiddenField {
        name: field.name.to_owned(),
        breach: field.breach,
        reason: field.reason.to_owned(),
    };
    I::FORBIDDEN.iter().map(row).collect()
}

fn rules<I: Intent>() -> Vec<Rule> {
    let row = |rule: &crate::policy::RuleRow| Rule {
        code: rule.code.to_owned(),
        judged: rule.judged,
        consequence: rule.consequence,
        text: rule.text.to_owned(),
    };
    I::RULES.iter().map(row).collect()
}

fn errors<I: Intent>() -> Vec<PlatformError> {
    let row = |error: &crate::policy::ErrorRow| PlatformError {
        code: error.code.to_owned(),
        http_status: error.http_status,
        meaning: error.meaning.to_owned(),
        retry: error.retry.map(|retry| ErrorRetry {
            times: retry.times,
            wait_ms: retry.wait_ms,
            backoff: retry.backoff,
        }),
    };
    I::ERRORS.iter().map(row).collect()
}

fn widget<I: Intent>() -> Widget {
    let slot = |slot: &crate::policy::Slot| CardSlot { name: slot.name.to_owned(), source: slot.source.to_owned() };
    Widget {
        widget_type: I::WIDGET.widget_type.to_owned(),
        preferred: I::WIDGET.preferred.map(str::to_owned),
        slots: I::WIDGET.slots.iter().map(slot).collect(),
    }
}

fn completion<I: Intent>() -> Completion {
    let mut report = schema::of(&<Report<'static, I::ReportExtra<'static>> as Described>::DESC);
    // The common shape leaves open what only the intent knows.
    narrow(&mut report, "intent", "const", json!(I::ABOUT.intent));
    narrow(&mut report, "status", "enum", json!(I::STATUSES));
    for amount in ["amount_inr", "gst_inr", "tips_inr", "pass_through_inr"] {
        narrow(&mut report, amount, "maximum", json!(I::AMOUNT_MAX_INR));
    }
    let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    Completion {
        statuses: owned(I::STATUSES),
        charged_statuses: owned(I::CHARGED),
        amount_max_inr: I::AMOUNT_MAX_INR,
        schema: report.to_string(),
    }
}

fn requirement(row: &policy::Requirement) -> Requirement {
    let check = match row.check {
        GoLiveCheck::AtLeast { minimums, within } => RequirementCheck::AtLeast(Depth {
            minimums: minimums.iter().map(minimum).collect(),
            within: within.map(|window| Window { pointer: window.pointer.to_owned(), hours: window.hours }),
        }),
        GoLiveCheck::Covers { pointer, vocabulary } => {
            RequirementCheck::Covers(Coverage { pointer: pointer.to_owned(), vocabulary: vocabulary.to_owned() })
        }
        GoLiveCheck::Handles { occasions, unbroken } => RequirementCheck::Handles(Handling {
            occasions: occasions.iter().map(occasion).collect(),
            unbroken: unbroken.iter().map(|code| (*code).to_owned()).collect(),
        }),
        GoLiveCheck::WithinLatency(tool) => RequirementCheck::WithinLatency(tool.to_owned()),
        GoLiveCheck::ByHand => RequirementCheck::ByHand,
    };
    Requirement { code: row.code.to_owned(), text: row.text.to_owned(), check, valid_days: row.valid_days }
}

fn minimum(row: &policy::Minimum) -> Minimum {
    Minimum { counted: row.counted.to_owned(), pointer: row.pointer.to_owned(), count: row.count }
}

fn occasion(row: &policy::Occasion) -> Occasion {
    let test = match row.test {
        policy::RequestTest::Equals(json) => RequestTest::Equals(json.to_owned()),
        policy::RequestTest::Includes(json) => RequestTest::Includes(json.to_owned()),
        policy::RequestTest::Above(bound) => RequestTest::Above(bound),
    };
    Occasion { text: row.text.to_owned(), pointer: row.pointer.to_owned(), test }
}

fn narrow(schema: &mut Value, member: &str, keyword: &str, value: Value) {
    if let Some(property) = schema["properties"][member].as_object_mut() {
        property.insert(keyword.to_owned(), value);
    }
}

fn vocabulary(desc: &VocabularyDesc) -> Vocabulary {
    let values = desc.values.iter().map(|value| (*value).to_owned()).collect();
    Vocabulary { name: desc.name.to_owned(), values }
}

/// Every vocabulary that the intent's shapes use, in the order of first use.
pub fn vocabularies<I: Intent>() -> Vec<VocabularyDesc> {
    let mut found = Vec::new();
    gather(&<I::Request<'static> as Described>::DESC, &mut found);
    gather(&<I::Item<'static> as Described>::DESC, &mut found);
    for entry in I::TOOLS {
        gather(&entry.arguments, &mut found);
        gather(&entry.answer, &mut found);
    }
    gather(&<Report<'static, I::ReportExtra<'static>> as Described>::DESC, &mut found);
    found
}

fn gather(desc: &ValueDesc, found: &mut Vec<VocabularyDesc>) {
    match desc.kind {
        Kind::Vocabulary(vocabulary) => {
            let known = found.iter().any(|other| other.name == vocabulary.name && other.values == vocabulary.values);
            if !known {
                found.push(*vocabulary);
            }
        }
        Kind::Array(entry) => gather(entry, found),
        Kind::Object(parts) => parts.iter().copied().flatten().for_each(|field| gather(&field.value, found)),
        _ => {}
    }
}
