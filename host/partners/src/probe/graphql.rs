//! The probe of a GraphQL API: it has to answer at all, the mapped documents have to be ones that it could be sent, and
//! where it tells its schema, their fields have to exist.

use graphql_parser::query::{Definition, OperationDefinition, Type, VariableDefinition};
use http::header::HeaderValue;
use intent_gateway_domain::endpoint::{ApiAnswer, GraphqlTool, ToolMapping};
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::limits::PROBE_CALL_TIMEOUT;
use intent_gateway_domain::partner_error::{clean, protocol};
use intent_gateway_domain::probe::{ProbeRequest, Step};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::schema::{INTROSPECTION, Schema};
use super::wrapped::{Operation, Problems, tools};
use super::{Fault, ProbeEnded, Probing, millis};
use crate::api::{Api, graphql};
use crate::client::PartnerClient;

const TYPENAME: &str = "{ __typename }";
const INVALID: &str = "API_MAPPING_INVALID";

impl PartnerClient {
    pub(super) async fn probe_graphql(
        &self,
        url: &str,
        bearer: Option<HeaderValue>,
        request: &ProbeRequest<'_>,
        probing: &mut Probing,
    ) -> Result<(), ProbeEnded> {
        let api = Api { wire: self.wire(), policy: self.policy(), bearer, carried: Vec::new(), error_text: None };
        let begun = Instant::now();
        let answered = ask(&api, url, TYPENAME).await.and_then(|answered| match answers(&answered) {
            Ok(data) if data["__typename"].is_string() => Ok(()),
            Ok(_) => Err(protocol("no `__typename` in the answer").into()),
            Err(fault) => Err(fault),
        });
        probing.step(Step::Typename, begun, answered)?;

        let begun = Instant::now();
        // An API may keep its schema to itself, in whatever way: nothing fails by it.
        let schema = match ask(&api, url, INTROSPECTION).await {
            Ok(answered) => answers(&answered).ok().and_then(|data| data.get("__schema")).cloned(),
            Err(_) => None,
        };
        if schema.is_none() {
            probing.note("the API does not tell its schema; whether the mapped fields exist was not compared");
        }
        probing.step(Step::Introspection, begun, Ok(()))?;

        let begun = Instant::now();
        let schema = schema.as_ref().map(Schema::new);
        let mut problems = Problems::default();
        for (intent, name, mapping) in tools(request) {
            // A schema may be large, and others wait for this thread.
            tokio::task::yield_now().await;
            let label = format!("{intent}, {name}");
            let ToolMapping::Graphql(tool) = mapping else {
                problems.push(INVALID, format!("{label}: the mapping is none of a GraphQL API"));
                continue;
            };
            if let Some(seen) = compare(schema.as_ref(), &label, tool, probing, &mut problems) {
                probing.wrap_probe(request, intent, name, mapping, &Operation { summary: None, seen });
            }
        }
        if request.mappings.is_empty() {
            problems.push("API_MAPPING_MISSING", "the manifest maps no tool to the API".to_owned());
        }
        let outcome = problems.outcome(probing);
        probing.step(Step::Mapping, begun, outcome)
    }
}

async fn ask(api: &Api<'_>, url: &str, document: &str) -> Result<ApiAnswer, Fault> {
    let body = json!({"query": document, "variables": {}});
    match tokio::time::timeout(PROBE_CALL_TIMEOUT, graphql::send(api, url, &body)).await {
        Ok(answered) => Ok(answered?),
        Err(_) => Err(CallFailure::Timeout(millis(PROBE_CALL_TIMEOUT)).into()),
    }
}

fn answers(answered: &ApiAnswer) -> Result<&Value, Fault> {
    if let Some(error) = answered.first_error() {
        if !answered.is_success() && answered.status != 400 {
            return Err(answered.status_failure().into());
        }
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
        return Err(protocol(&format!("the API answers with an error: {message}")).into());
    }
    if !answered.is_success() {
        return Err(answered.status_failure().into());
    }
    Ok(answered.data()?)
}

/// Compares one tool with the schema, where that is known. What comes back is what a later probe compares.
fn compare(
    schema: Option<&Schema<'_>>,
    label: &str,
    tool: &GraphqlTool,
    probing: &mut Probing,
    problems: &mut Problems,
) -> Option<Value> {
    let document = match graphql_parser::parse_query::<String>(&tool.document) {
        Ok(document) => document,
        Err(error) => {
            problems.push(INVALID, format!("{label}: the document does not parse: {}", clean(&error.to_string())));
            return None;
        }
    };
    let mut operations = document.definitions.iter().filter_map(|definition| match definition {
        Definition::Operation(operation) => Some(operation),
        Definition::Fragment(_) => None,
    });
    let (Some(operation), None) = (operations.next(), operations.next()) else {
        problems.push(INVALID, format!("{label}: the document must hold one operation"));
        return None;
    };
    let (root, variables, fields) = match operation {
        OperationDefinition::SelectionSet(fields) => ("queryType", &[][..], fields),
        OperationDefinition::Query(query) => ("queryType", &query.variable_definitions[..], &query.selection_set),
        OperationDefinition::Mutation(mutation) => {
            ("mutationType", &mutation.variable_definitions[..], &mutation.selection_set)
        }
        OperationDefinition::Subscription(_) => {
            problems.push(INVALID, format!("{label}: a subscription cannot answer a tool"));
            return None;
        }
    };
    compare_variables(label, tool, variables, problems);
    let met = schema.map(|schema| schema.walk(root, fields, &document, label, probing, problems));
    Some(json!({"document": tool.document, "met": met}))
}

fn compare_variables(
    label: &str,
    tool: &GraphqlTool,
    declared: &[VariableDefinition<'_, String>],
    problems: &mut Problems,
) {
    let given = tool.variables.members();
    for variable in declared {
        let needed = matches!(variable.var_type, Type::NonNullType(_)) && variable.default_value.is_none();
        if needed && !given.contains(&variable.name.as_str()) {
            problems.push(INVALID, format!("{label}: the variable `${}` is not mapped", variable.name));
        }
    }
    for name in given.into_iter().filter(|name| !declared.iter().any(|variable| variable.name == *name)) {
        problems.push(INVALID, format!("{label}: the document declares no variable `${}`", clean(name)));
    }
}
