//! Whether the way of an order looks where the documents have something: a value that is nowhere is never kept, and an answer
//! without the text leads nowhere.

use intent_gateway_domain::contract::{Descriptor, OrderSource, OrderStep};
use intent_gateway_domain::pointer::steps;

use crate::schema::Schema;
use crate::tables::tell_there;

/// What does not fit, a sentence each.
pub(crate) fn problems(descriptor: &Descriptor, option: &Schema) -> Vec<String> {
    let steps = descriptor.order.iter().flat_map(|way| &way.steps);
    steps.flat_map(|step| check_step(descriptor, step, option)).collect()
}

fn check_step(descriptor: &Descriptor, step: &OrderStep, option: &Schema) -> Vec<String> {
    let Some(tool) = descriptor.tool(&step.tool) else { return Vec::new() };
    let (arguments, answer) = (Schema::read(&tool.request_schema), Schema::read(&tool.response_schema));
    let mut found = Vec::new();
    let mut look = |what: String, pointer: &str, schema: &Schema, document: &str| {
        if let Some(there) = schema.missing(steps(pointer)) {
            found.push(format!(
                "`{}`, the way of an order: {what} is at `{pointer}`, where {document} has nothing{}",
                step.tool,
                tell_there(&there)
            ));
        }
    };
    for kept in &step.keeps {
        let (schema, document) = match kept.source {
            OrderSource::Option => (option, "an option"),
            OrderSource::Arguments => (&arguments, "its arguments"),
            OrderSource::Answer => (&answer, "its answer"),
        };
        look(format!("the kept value `{}`", kept.name), &kept.pointer, schema, document);
    }
    for outcome in &step.outcomes {
        if let Some(pointer) = &outcome.pointer {
            look(format!("what leads to `{}`", outcome.state), pointer, &answer, "its answer");
        }
    }
    found
}
