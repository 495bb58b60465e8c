//! Whether the tables of a contract fit the documents and cards that they speak of: targets and keys of its tools, where its
//! card and its requirements look, its error table. What it forbids is checked when it is loaded (`domain::forbidden`).
//!
//! A gateway takes a contract without this: it would serve, and refuse or drop what it should not. The schemas tell most of
//! it; where they leave open what a document holds, nothing is said.

use std::collections::BTreeSet;

use intent_gateway_domain::contract::{CardSlot, Descriptor, LatencyTargets, RequirementCheck, Tool, Widget};
use intent_gateway_domain::pointer::steps;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::schema::Schema;
use crate::way;

/// Members that a message names; more help nobody.
const NAMED_MAX: usize = 20;

/// What an author reads of the tables: everything that does not fit, a sentence each.
pub(crate) fn problems(descriptor: &Descriptor) -> Vec<String> {
    let mut found = Vec::new();
    for tool in &descriptor.tools {
        let told = latency(tool.latency).into_iter().chain(rate(tool)).chain(idempotency(tool));
        found.extend(told.map(|what| format!("`{}`: {what}", tool.name)));
        for (document, schema) in [("its arguments", &tool.request_schema), ("its answer", &tool.response_schema)] {
            let told = Schema::read(schema).list_impossible().into_iter();
            found.extend(told.map(|what| format!("`{}`, {document}: {what}", tool.name)));
        }
    }
    let told = Schema::read(&descriptor.completion.schema).list_impossible().into_iter();
    found.extend(told.map(|what| format!("the completion report: {what}")));
    found.extend(statuses(descriptor));
    let search = descriptor.tools.iter().find(|tool| tool.name == descriptor.search.tool);
    if let Some(Tool { request_schema, response_schema, .. }) = search {
        let (request, option) = (Schema::read(request_schema), Schema::read(response_schema));
        found.extend(places(descriptor, &request, &option));
        found.extend(way::problems(descriptor, &option));
        let words = Words::of(descriptor, &request, &option);
        found.extend(descriptor.widget.slots.iter().flat_map(|slot| sources(slot, &option, &words)));
    }
    found
}

/// How a card differs from the widget that is to show it.
pub(crate) fn compare_card(option: &str, card: &RawValue, widget: &Widget) -> Option<String> {
    // A widget without slots leaves its card open.
    if widget.slots.is_empty() {
        return None;
    }
    let card: Value = serde_json::from_str(card.get()).unwrap_or_default();
    let keys: BTreeSet<&str> = card.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    let slots: BTreeSet<&str> = widget.slots.iter().map(|slot| slot.name.as_str()).collect();
    let (missing, unknown) = (list(slots.difference(&keys).copied()), list(keys.difference(&slots).copied()));
    let what = match (missing.is_empty(), unknown.is_empty()) {
        (true, true) => return None,
        (false, true) => format!("lacks {missing}, which the widget lists"),
        (true, false) => format!("has {unknown}, which the widget does not list"),
        (false, false) => format!("lacks {missing} and has {unknown} instead"),
    };
    Some(format!("the card of `{option}` {what}; a card has the keys of the widget's slots, each of them"))
}

fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter().map(|name| format!("`{name}`"));
    let mut text = names.by_ref().take(NAMED_MAX).collect::<Vec<_>>().join(", ");
    let more = names.count();
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

fn latency(LatencyTargets { p50_ms, p95_ms, p99_ms }: LatencyTargets) -> Option<String> {
    let targets = [("p50", Some(p50_ms)), ("p95", Some(p95_ms)), ("p99", p99_ms)];
    let stated: Vec<(&str, u32)> = targets.into_iter().filter_map(|(name, target)| Some((name, target?))).collect();
    if let Some((name, _)) = stated.iter().find(|(_, target)| *target == 0) {
        return Some(format!("the latency target {name} is 0 ms; state within how many a partner must answer"));
    }
    let ((lower, less), (higher, more)) =
        stated.iter().zip(stated.iter().skip(1)).find(|((_, less), (_, more))| less > more)?;
    Some(format!(
        "the latency target {lower} of {less} ms lies above {higher} of {more} ms; the higher percentile takes the \
         longer time"
    ))
}

fn rate(tool: &Tool) -> Option<String> {
    let is_zero = tool.rate_per_minute == Some(0);
    is_zero.then(|| "the rate is 0 calls a minute, so none is ever made; state one above 0, or none at all".to_owned())
}

fn idempotency(tool: &Tool) -> Option<String> {
    let key = tool.idempotency_key.as_deref()?;
    let schema = Schema::read(&tool.request_schema);
    let arguments = schema.names()?;
    let known = arguments.contains(&key);
    (!known).then(|| {
        format!("the idempotency key `{key}` is none of its arguments; name one of {}", list(arguments.iter().copied()))
    })
}

fn statuses(descriptor: &Descriptor) -> Vec<String> {
    let unknown = descriptor.errors.iter().filter(|error| !is_known_status(error.http_status));
    unknown
        .map(|error| {
            format!(
                "the error `{}` has the HTTP status {}, which is none of an error; it is 200 for an advisory, or one of \
                 the 4xx and 5xx that HTTP has",
                error.code, error.http_status
            )
        })
        .collect()
}

/// 200, and the registered statuses of errors (IANA, "HTTP Status Code Registry").
fn is_known_status(status: u16) -> bool {
    matches!(status, 200 | 400..=418 | 421..=426 | 428 | 429 | 431 | 451 | 500..=508 | 510 | 511)
}

/// Places that the search and the requirements name and that no document has.
fn places(descriptor: &Descriptor, request: &Schema, option: &Schema) -> Vec<String> {
    let mut found = Vec::new();
    let mut look = |what: &str, pointer: &str, schema: &Schema, document: &str| {
        if let Some(there) = schema.missing(steps(pointer)) {
            found.push(format!("{what} is `{pointer}`, where {document} has nothing{}", tell_there(&there)));
        }
    };
    look("the identifier (`search.id-key`)", &descriptor.search.id_pointer(), option, "an option");
    if let Some(pointer) = &descriptor.search.price_pointer {
        look("the price (`search.price-pointer`)", pointer, option, "an option");
    }
    for requirement in &descriptor.go_live {
        let what = format!("a place of the go-live requirement `{}`", requirement.code);
        match &requirement.check {
            RequirementCheck::AtLeast(depth) => {
                let windows = depth.within.iter().map(|window| &window.pointer);
                for pointer in depth.minimums.iter().map(|minimum| &minimum.pointer).chain(windows) {
                    look(&what, pointer, option, "an option");
                }
            }
            RequirementCheck::Covers(coverage) => look(&what, &coverage.pointer, request, "a request"),
            RequirementCheck::Handles(handling) => {
                for occasion in &handling.occasions {
                    look(&what, &occasion.pointer, request, "a request");
                }
            }
            RequirementCheck::WithinLatency(_) | RequirementCheck::ByHand => {}
        }
    }
    found
}

/// What there is instead, as the end of a message.
pub(crate) fn tell_there(names: &[&str]) -> String {
    if names.is_empty() { String::new() } else { format!("; there are {}", list(names.iter().copied())) }
}

/// Words with an underscore that mean something in a contract: its members and its values.
struct Words(BTreeSet<String>);

impl Words {
    fn of(descriptor: &Descriptor, request: &Schema, option: &Schema) -> Self {
        let members = request.members().into_iter().chain(option.members()).map(|member| member.name.to_owned());
        let values = descriptor.vocabularies.iter().flat_map(|vocabulary| vocabulary.values.iter().cloned());
        Self(members.chain(values).collect())
    }
}

/// The members that a slot is filled from and that no option has. Sources are words for people; only what is written as
/// members are (`provider.name`, `total_inr`) is looked up.
fn sources(slot: &CardSlot, option: &Schema, words: &Words) -> Vec<String> {
    let CardSlot { name, source } = slot;
    if source.trim().is_empty() {
        return vec![format!("the card's `{name}` has no source; say which member it shows")];
    }
    let Some(names) = option.names() else { return Vec::new() };
    let told = |word: &str, there: &[&str]| {
        format!("the card's `{name}` is filled from `{word}`, which an option does not have{}", tell_there(there))
    };
    let texts = source.split([' ', ',', ';', '(', ')', '\t', '\n']).map(|word| word.trim_matches(['.', ':', '`']));
    let mut found = Vec::new();
    for word in texts.filter(|word| is_member_name(word)) {
        if word.contains('.') {
            if let Some(there) = option.missing(word.split('.').map(str::to_owned)) {
                found.push(told(word, &there));
            }
        } else if (word.contains('_') || word == source) && !words.0.contains(word) {
            found.push(told(word, &names));
        }
    }
    found
}

/// Whether a word is written as members are: names of at least two characters in lower case, joined by dots.
fn is_member_name(word: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    word.split('.').all(|name| name.len() > 1 && name.bytes().all(fits))
}

#[cfg(test)]
mod tests {
    use intent_gateway_domain::contract::{OrderStep, PlatformError, RequestTest};
    use serde_json::json;

    use intent_gateway_testing::descriptor::small_descriptor;

    use super::*;

    fn raw(json: &Value) -> Box<RawValue> {
        RawValue::from_string(json.to_string()).expect("it is JSON")
    }

    /// A descriptor in which everything fits.
    fn sound() -> Descriptor {
        let mut descriptor = small_descriptor();
        let request = json!({"type": "object", "properties": {
            "request_id": {"type": "string"}, "leaf": {"type": "string"}, "max_inr": {"type": "integer"},
        }});
        let option = json!({"type": "object", "properties": {
            "offer_id": {"type": "string"}, "price_inr": {"type": "integer"}, "brewed_at": {"type": "string"},
            "cups": {"type": "array", "items": {"type": "object", "properties": {"size_ml": {"type": "integer"}}}},
            "house": {"type": "object", "properties": {"name": {"type": "string"}}},
        }});
        for tool in &mut descriptor.tools {
            tool.request_schema = raw(&request);
            tool.response_schema = raw(&option);
        }
        descriptor
    }

    /// The one thing that is wrong after a change of the sound descriptor.
    #[track_caller]
    fn problem(change: impl FnOnce(&mut Descriptor)) -> String {
        let mut descriptor = sound();
        change(&mut descriptor);
        let found = problems(&descriptor);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }

    fn passes(change: impl FnOnce(&mut Descriptor)) {
        let mut descriptor = sound();
        change(&mut descriptor);
        assert_eq!(problems(&descriptor), [] as [String; 0]);
    }

    #[test]
    fn targets_and_rates_can_be_kept() {
        passes(|_| {});
        let targets = |p50_ms, p95_ms, p99_ms| LatencyTargets { p50_ms, p95_ms, p99_ms };
        let told = |targets| problem(|descriptor| descriptor.tools[0].latency = targets);
        assert_eq!(
            told(targets(0, 10, None)),
            "`search_tea`: the latency target p50 is 0 ms; state within how many a partner must answer"
        );
        assert!(told(targets(1, 0, None)).contains("p95 is 0 ms"));
        assert!(told(targets(1, 2, Some(0))).contains("p99 is 0 ms"));
        assert!(told(targets(3, 2, Some(4))).contains("p50 of 3 ms lies above p95 of 2 ms"));
        assert!(told(targets(1, 5, Some(4))).contains("p95 of 5 ms lies above p99 of 4 ms"));
        passes(|descriptor| descriptor.tools[0].latency = targets(2, 2, Some(2)));
        assert!(problem(|descriptor| descriptor.tools[1].rate_per_minute = Some(0)).contains("none is ever made"));
        passes(|descriptor| descriptor.tools[1].rate_per_minute = None);
    }

    #[test]
    fn the_way_of_an_order_looks_where_documents_have_something() {
        let step = |descriptor: &mut Descriptor, change: fn(&mut OrderStep)| {
            change(&mut descriptor.order.as_mut().expect("a way").steps[0]);
        };
        let told = problem(|descriptor| step(descriptor, |step| step.keeps[0].pointer = "/order_id".to_owned()));
        assert!(
            told.starts_with("`order_tea`, the way of an order: the kept value `offer_id` is at `/order_id`"),
            "{told}"
        );
        assert!(told.contains("where its answer has nothing; there are"), "{told}");
        let told = problem(|descriptor| step(descriptor, |step| step.keeps[1].pointer = "/price".to_owned()));
        assert!(told.contains("where an option has nothing"), "{told}");
        let told = problem(|descriptor| step(descriptor, |step| step.outcomes[0].pointer = Some("/status".to_owned())));
        assert!(told.contains("what leads to `brewing` is at `/status`, where its answer has nothing"), "{told}");
    }

    #[test]
    fn an_idempotency_key_is_an_argument() {
        let told = problem(|descriptor| descriptor.tools[1].idempotency_key = Some("requestid".to_owned()));
        assert_eq!(
            told,
            "`order_tea`: the idempotency key `requestid` is none of its arguments; name one of `leaf`, `max_inr`, \
             `request_id`"
        );
        // What is left open may have it.
        passes(|descriptor| descriptor.tools[1].request_schema = raw(&json!({"type": "object"})));
    }

    #[test]
    fn the_search_and_the_requirements_look_at_what_is_there() {
        let there = "where an option has nothing; there are `brewed_at`, `cups`, `house`, `offer_id`, `price_inr`";
        let id = problem(|descriptor| descriptor.search.id_key = "id".to_owned());
        assert_eq!(id, format!("the identifier (`search.id-key`) is `/id`, {there}"));
        let price = problem(|descriptor| descriptor.search.price_pointer = Some("/price".to_owned()));
        assert!(price.starts_with("the price (`search.price-pointer`) is `/price`, where an option has nothing"));
        passes(|descriptor| descriptor.search.id_key = "/house/name".to_owned());
        for requirement in ["OFFERS", "LEAVES"] {
            let told = problem(|descriptor| {
                let one = descriptor.go_live.iter_mut().find(|one| one.code == requirement).expect("it is there");
                match &mut one.check {
                    RequirementCheck::AtLeast(depth) => depth.minimums[0].pointer = "/cups/0/ml".to_owned(),
                    RequirementCheck::Covers(coverage) => coverage.pointer = "/leaves".to_owned(),
                    other => panic!("{other:?}"),
                }
            });
            assert!(told.starts_with(&format!("a place of the go-live requirement `{requirement}` is `/")), "{told}");
        }
        let occasion = problem(|descriptor| {
            let occasions = descriptor.go_live.iter_mut().find_map(|one| match &mut one.check {
                RequirementCheck::Handles(handling) => Some(&mut handling.occasions),
                _ => None,
            });
            let occasion = &mut occasions.expect("it is there")[0];
            (occasion.pointer, occasion.test) = ("/most".to_owned(), RequestTest::Above(1.0));
        });
        assert!(occasion.contains("is `/most`, where a request has nothing"), "{occasion}");
    }

    #[test]
    fn a_slot_is_filled_from_what_an_option_has() {
        let fill = |source: &str| {
            let slots = vec![CardSlot { name: "header".to_owned(), source: source.to_owned() }];
            move |descriptor: &mut Descriptor| descriptor.widget.slots = slots
        };
        for fine in [
            "offer_id",
            "house.name and price_inr; null where it is 0",
            "number of cups (cups.size_ml).",
            "size_ml of the largest cup, e.g. 300",
            "what the house says of itself",
        ] {
            passes(fill(fine));
        }
        assert_eq!(
            problem(fill("house.nmae and price_inr")),
            "the card's `header` is filled from `house.nmae`, which an option does not have; there are `name`"
        );
        assert!(problem(fill("price_in of the pot")).contains("filled from `price_in`"));
        assert!(problem(fill("hose.name")).contains("there are `brewed_at`"));
        assert!(problem(fill("title")).contains("filled from `title`"));
        assert!(problem(fill(" ")).contains("has no source"));
    }

    #[test]
    fn an_error_has_a_status_that_there_is() {
        let status = |http_status| {
            let (code, meaning) = ("COLD_TEA".to_owned(), "It is cold.".to_owned());
            move |descriptor: &mut Descriptor| {
                descriptor.errors.push(PlatformError { code, http_status, meaning, retry: None });
            }
        };
        for known in [200, 400, 409, 418, 422, 429, 451, 503, 511] {
            passes(status(known));
        }
        for unknown in [100, 204, 302, 419, 427, 499, 509, 599] {
            assert!(
                problem(status(unknown)).starts_with(&format!("the error `COLD_TEA` has the HTTP status {unknown}"))
            );
        }
    }

    #[test]
    fn bounds_are_looked_at_in_every_document() {
        let empty = || raw(&json!({"properties": {"offer_id": {"minimum": 2, "maximum": 1}}}));
        let answer = problem(|descriptor| descriptor.tools[1].response_schema = empty());
        assert!(answer.starts_with("`order_tea`, its answer: `/offer_id` has the minimum 2"), "{answer}");
        let report = problem(|descriptor| descriptor.completion.schema = empty());
        assert!(report.starts_with("the completion report: `/offer_id`"), "{report}");
    }

    #[test]
    fn a_card_has_the_keys_of_the_widget() {
        let slot = |name: &str| CardSlot { name: name.to_owned(), source: "offer_id".to_owned() };
        let widget =
            Widget { widget_type: "list".to_owned(), preferred: None, slots: vec![slot("header"), slot("price")] };
        let told = |card: Value| compare_card("o-1", &raw(&card), &widget);
        assert_eq!(told(json!({"header": "Tea", "price": null})), None);
        let open = Widget { slots: Vec::new(), ..widget.clone() };
        assert_eq!(compare_card("o-1", &raw(&json!({"header": 1})), &open), None);
        let keys = "a card has the keys of the widget's slots, each of them";
        for (card, what) in [
            (json!({"header": 1}), "lacks `price`, which the widget lists"),
            (json!({"header": 1, "price": 2, "badge": 3}), "has `badge`, which the widget does not list"),
            (json!({"header": 1, "pirce": 2}), "lacks `price` and has `pirce` instead"),
        ] {
            assert_eq!(told(card), Some(format!("the card of `o-1` {what}; {keys}")));
        }
    }
}
