//! What a mapping makes of a tool's arguments: the request to the partner's API, as it is sent.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::mapping::{GraphqlTool, Method, RestTool};
use super::template::{RenderError, Scope, Template};

/// What stands for something else in a path or a query: all but the unreserved characters (RFC 3986, 2.3).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Values that one parameter of the query may have.
const QUERY_VALUES_MAX: usize = 100;

/// A request to a REST API.
#[derive(Clone, Debug, PartialEq)]
pub struct RestRequest {
    pub method: Method,
    /// Path and query, to be appended to the base address.
    pub target: String,
    /// Further headers, by their names in lower case.
    pub headers: Vec<(String, String)>,
    /// Sent as JSON.
    pub body: Option<Value>,
}

/// The arguments make no request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// A place that has to be there is not, or cannot be translated.
    #[error(transparent)]
    Unfilled(#[from] RenderError),
    /// A value that cannot be sent in the place that it is for.
    #[error("{0}")]
    Unsendable(String),
}

impl RestTool {
    /// The request for some arguments.
    ///
    /// # Errors
    /// [`RequestError`] names the place of the arguments, or the parameter.
    pub fn request(&self, arguments: &Value) -> Result<RestRequest, RequestError> {
        let scope = Scope { arguments, answer: &Value::Null };
        let target = self.target(&scope)?;
        let body = self.body.as_ref().map(|body| fill(body, &scope)).transpose()?;
        let mut headers = Vec::new();
        for (name, template) in &self.headers {
            headers.extend(scalar(name, template, &scope)?.map(|text| (name.clone(), text)));
        }
        Ok(RestRequest { method: self.method, target, headers, body })
    }

    fn target(&self, scope: &Scope<'_>) -> Result<String, RequestError> {
        let mut target = String::new();
        let mut rest = self.path.as_str();
        while let Some((before, (name, after))) = rest.split_once('{').and_then(|(a, b)| Some((a, b.split_once('}')?)))
        {
            let template = self.path_params.iter().find(|(given, _)| given == name).map(|(_, template)| template);
            let text = template.map(|template| scalar(name, template, scope)).transpose()?.flatten();
            let text = text.unwrap_or_default();
            // An empty segment, or a dot one, would be another path altogether.
            if matches!(text.as_str(), "" | "." | "..") {
                return Err(RequestError::Unsendable(format!("`{text}` cannot be sent as `{name}` in a path")));
            }
            target.push_str(before);
            push_escaped(&mut target, &text);
            rest = after;
        }
        target.push_str(rest);
        let mut separator = '?';
        for (name, template) in &self.query {
            let values = match template.render(scope)? {
                None | Some(Value::Null) => continue,
                Some(Value::Array(values)) if values.len() <= QUERY_VALUES_MAX => values,
                Some(Value::Array(_)) => {
                    return Err(RequestError::Unsendable(format!("too many values for `{name}`")));
                }
                Some(value) => vec![value],
            };
            for value in &values {
                target.push(separator);
                separator = '&';
                push_escaped(&mut target, name);
                target.push('=');
                push_escaped(&mut target, &text(name, value)?);
            }
        }
        Ok(target)
    }
}

impl GraphqlTool {
    /// The body of the request for some arguments: the operation with its variables.
    ///
    /// # Errors
    /// [`RequestError`] names the place of the arguments.
    pub fn request(&self, arguments: &Value) -> Result<Value, RequestError> {
        let variables = fill(&self.variables, &Scope { arguments, answer: &Value::Null })?;
        Ok(json!({"query": self.document, "variables": variables}))
    }
}

fn fill(template: &Template, scope: &Scope<'_>) -> Result<Value, RequestError> {
    Ok(template.render(scope)?.unwrap_or(Value::Null))
}

/// A parameter that has one value; `None` where it is left out.
fn scalar(name: &str, template: &Template, scope: &Scope<'_>) -> Result<Option<String>, RequestError> {
    match template.render(scope)? {
        None | Some(Value::Null) => Ok(None),
        Some(value) => text(name, &value).map(Some),
    }
}

fn text(name: &str, value: &Value) -> Result<String, RequestError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(_) | Value::Number(_) => Ok(value.to_string()),
        _ => Err(RequestError::Unsendable(format!("`{name}` takes a text, a number or a truth value"))),
    }
}

/// Escapes everything but the unreserved characters of RFC 3986, 2.3: what a user typed can neither end a segment of the path
/// nor start a query.
fn push_escaped(target: &mut String, text: &str) {
    target.extend(utf8_percent_encode(text, ESCAPED));
}
