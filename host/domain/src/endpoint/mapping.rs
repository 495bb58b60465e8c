//! What a manifest entry's `api_mapping` holds, checked as far as that goes without the API's own documents.
//!
//! ```json
//! {"kind": "rest", "tools": {"search_providers": {
//!     "operation_id": "findSlots", "method": "GET", "path": "/v1/areas/{area}/slots",
//!     "path_params": {"area": {"$arg": "/city"}}, "query": {"from": {"$arg": "/window/from"}},
//!     "headers": {"X-Channel": "platform"},
//!     "response": {"slots": {"$each": "/data", "item": {"slot_id": {"$item": "/id"}}}},
//!     "errors": {"status": {"404": "NO_SLOTS_AVAILABLE"}, "code": "/error/code",
//!                "codes": {"TAKEN": "SLOT_GONE"}, "message": "/error/text"}}}}
//! ```
//!
//! A GraphQL tool has `document` and `variables` in place of the request's members. Method and path are written down
//! although the OpenAPI document has them: a call then needs no document, a reviewer sees what will be called, and a
//! probe finds out when the two no longer agree.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::checker::Checker;
use super::template::Template;
use crate::contract::Violation;
use crate::id::IntentId;
use crate::pointer::{child, steps};

/// Tools of one mapping; intents have fewer than ten.
const TOOLS_MAX: usize = 32;
/// Members of one request's path, query or headers.
const PARAMETERS_MAX: usize = 64;
/// Bytes of a name: of a tool, an operation, a parameter.
const NAME_MAX_BYTES: usize = 128;
const PATH_MAX_BYTES: usize = 1_024;
/// Bytes of a GraphQL document.
const DOCUMENT_MAX_BYTES: usize = 16 * 1_024;
/// Translations of one tool's errors.
const ERRORS_MAX: usize = 100;
/// Where GraphQL APIs put the code of an error.
const GRAPHQL_CODE: &str = "/extensions/code";
/// Where GraphQL APIs put its text (GraphQL specification, 7.1.2).
const GRAPHQL_MESSAGE: &str = "/message";

/// Headers that a mapping may not set: those of the connection and the body, and those that sign in. The user's own
/// token travels in `Authorization`; other ways to sign in are not supported (spec 1, Authentication).
const HEADERS_REFUSED: [&str; 21] = [
    "accept",
    "accept-encoding",
    "api-key",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "x-api-key",
    "x-auth-token",
];

/// The mappings of a partner, by intent; empty for a partner with an MCP server.
pub type Mappings = BTreeMap<IntentId, Arc<ApiMapping>>;

/// How an API answers the tools of one intent.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiMapping {
    tools: BTreeMap<String, ToolMapping>,
}

/// How an API answers one tool.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolMapping {
    /// By an operation of a REST API.
    Rest(RestTool),
    /// By an operation of a GraphQL API.
    Graphql(GraphqlTool),
}

/// How a REST API answers one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct RestTool {
    /// `operationId` in the OpenAPI document.
    pub operation_id: String,
    /// The operation's method.
    pub method: Method,
    /// The operation's path with its `{parameters}`, relative to the base address.
    pub path: String,
    /// What each parameter of the path holds.
    pub path_params: Vec<(String, Template)>,
    /// The parameters of the query.
    pub query: Vec<(String, Template)>,
    /// Further headers, by their names in lower case.
    pub headers: Vec<(String, Template)>,
    /// The body, sent as JSON.
    pub body: Option<Template>,
    /// The tool's payload.
    pub response: Template,
    /// What its failures are called on the platform.
    pub errors: ErrorMap,
}

/// How a GraphQL API answers one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphqlTool {
    /// The text of one operation.
    pub document: String,
    pub variables: Template,
    /// The tool's payload, over the answer's `data`.
    pub response: Template,
    /// What its failures are called on the platform; the pointers are into the first of the answer's `errors`.
    pub errors: ErrorMap,
}

/// A method of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Creates, or anything else.
    Post,
    /// Replaces.
    Put,
    /// Changes.
    Patch,
    /// Removes.
    Delete,
}

impl Method {
    const ALL: [Self; 5] = [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// What an API's failures are called on the platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorMap {
    /// Platform codes by HTTP status.
    status: BTreeMap<u16, String>,
    /// Where the API's own code is.
    code: Option<String>,
    /// Platform codes by the API's own.
    codes: BTreeMap<String, String>,
    /// Where the API's own text is.
    message: Option<String>,
}

impl ErrorMap {
    /// The platform code for an answer: by the API's own code, and where that is not translated, by the status.
    #[must_use]
    pub fn platform_code(&self, status: u16, answer: &Value) -> Option<&str> {
        self.by_own_code(answer).or_else(|| self.status.get(&status).map(String::as_str))
    }

    /// The platform code for the API's own code in an answer.
    #[must_use]
    pub fn by_own_code(&self, answer: &Value) -> Option<&str> {
        self.codes.get(&self.own_code(answer)?).map(String::as_str)
    }

    /// The API's own code in an answer.
    #[must_use]
    pub fn own_code(&self, answer: &Value) -> Option<String> {
        match answer.pointer(self.code.as_deref()?)? {
            Value::String(code) => Some(code.clone()),
            Value::Number(code) => Some(code.to_string()),
            _ => None,
        }
    }

    /// The API's own text.
    #[must_use]
    pub fn message<'a>(&self, answer: &'a Value) -> Option<&'a str> {
        answer.pointer(self.message.as_deref()?)?.as_str()
    }

    /// Every translation: the member that it stands in, their name, and the platform code.
    pub(super) fn translations(&self) -> impl Iterator<Item = (&'static str, String, &str)> {
        let by_status = self.status.iter().map(|(status, ours)| ("status", status.to_string(), ours.as_str()));
        by_status.chain(self.codes.iter().map(|(theirs, ours)| ("codes", theirs.clone(), ours.as_str())))
    }

    /// All platform codes that it gives.
    #[must_use]
    pub fn platform_codes(&self) -> Vec<&str> {
        self.status.values().chain(self.codes.values()).map(String::as_str).collect()
    }
}

impl ToolMapping {
    fn templates(&self) -> Vec<&Template> {
        match self {
            Self::Rest(rest) => {
                let parameters = [&rest.path_params, &rest.query, &rest.headers];
                let parameters = parameters.into_iter().flatten().map(|(_, template)| template);
                parameters.chain(&rest.body).chain([&rest.response]).collect()
            }
            Self::Graphql(graphql) => vec![&graphql.variables, &graphql.response],
        }
    }

    /// The templates, each with the pointer to it; `at` is the tool's own.
    pub(super) fn located_templates(&self, at: &str) -> Vec<(String, &Template)> {
        match self {
            Self::Rest(rest) => {
                let groups = [("path_params", &rest.path_params), ("query", &rest.query), ("headers", &rest.headers)];
                let parameters = groups.into_iter().flat_map(|(group, parameters)| {
                    let at = child(at, group);
                    parameters.iter().map(move |(name, template)| (child(&at, name), template))
                });
                let body = rest.body.iter().map(|body| (child(at, "body"), body));
                parameters.chain(body).chain([(child(at, "response"), &rest.response)]).collect()
            }
            Self::Graphql(graphql) => {
                vec![(child(at, "variables"), &graphql.variables), (child(at, "response"), &graphql.response)]
            }
        }
    }

    /// What makes the tool's payload.
    #[must_use]
    pub fn response(&self) -> &Template {
        match self {
            Self::Rest(rest) => &rest.response,
            Self::Graphql(graphql) => &graphql.response,
        }
    }

    /// The names of the arguments that have to be there for a call.
    #[must_use]
    pub fn required_arguments(&self) -> Vec<String> {
        names(self.templates().into_iter().flat_map(Template::required_arguments))
    }

    /// The names of all arguments that are looked at.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        names(self.templates().into_iter().flat_map(Template::arguments))
    }

    /// What its failures are called on the platform.
    #[must_use]
    pub fn errors(&self) -> &ErrorMap {
        match self {
            Self::Rest(rest) => &rest.errors,
            Self::Graphql(graphql) => &graphql.errors,
        }
    }
}

/// The first parts of JSON Pointers, each once.
fn names<'a>(pointers: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names: std::collections::BTreeSet<_> = pointers.filter_map(|pointer| steps(pointer).next()).collect();
    names.into_iter().collect()
}

impl ApiMapping {
    /// Checks a manifest entry's `api_mapping`.
    ///
    /// # Errors
    /// Every violation, with pointers relative to the mapping.
    pub fn check(value: &Value) -> Result<Self, Vec<Violation>> {
        let mut checker = Checker::default();
        let tools = read(&mut checker, value);
        checker.finish(tools.map(|tools| Self { tools }))
    }

    /// The tools, by name.
    #[must_use]
    pub fn tools(&self) -> &BTreeMap<String, ToolMapping> {
        &self.tools
    }

    /// How one tool is answered.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&ToolMapping> {
        self.tools.get(name)
    }
}

type ReadTool = fn(&mut Checker, &str, &Map<String, Value>) -> Option<ToolMapping>;

fn read(checker: &mut Checker, value: &Value) -> Option<BTreeMap<String, ToolMapping>> {
    let object = checker.object("", value)?;
    checker.only("", object, &["kind", "tools"]);
    let read_tool: ReadTool = match object.get("kind").and_then(Value::as_str) {
        Some("rest") => rest_tool,
        Some("graphql") => graphql_tool,
        _ => {
            checker.wrong("/kind", "WRONG_VALUE", "expected `rest` or `graphql`");
            return None;
        }
    };
    let tools = checker.object("/tools", object.get("tools").unwrap_or(&Value::Null))?;
    if tools.is_empty() || tools.len() > TOOLS_MAX {
        checker.wrong("/tools", "WRONG_SIZE", format!("expected 1 to {TOOLS_MAX} tools"));
        return None;
    }
    let read = |(name, tool): (&String, &Value)| {
        let at = child("/tools", name);
        if !is_tool_name(name) {
            checker.wrong(&at, "WRONG_NAME", "a tool's name is lower snake case");
        }
        let tool = checker.object(&at, tool)?;
        Some((name.clone(), read_tool(checker, &at, tool)?))
    };
    let tools: Vec<_> = tools.iter().map(read).collect();
    tools.into_iter().collect()
}

fn is_tool_name(name: &str) -> bool {
    name.len() <= NAME_MAX_BYTES
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn rest_tool(checker: &mut Checker, at: &str, tool: &Map<String, Value>) -> Option<ToolMapping> {
    const MEMBERS: [&str; 9] =
        ["operation_id", "method", "path", "path_params", "query", "headers", "body", "response", "errors"];
    checker.only(at, tool, &MEMBERS);
    let operation_id = checker.text(at, tool, "operation_id", NAME_MAX_BYTES).map(str::to_owned);
    let method = checker.text(at, tool, "method", NAME_MAX_BYTES).and_then(|name| {
        let method = Method::ALL.into_iter().find(|method| method.as_str() == name);
        if method.is_none() {
            checker.wrong(&child(at, "method"), "WRONG_VALUE", "expected GET, POST, PUT, PATCH or DELETE");
        }
        method
    });
    let path = checker.text(at, tool, "path", PATH_MAX_BYTES).map(str::to_owned);
    let path_params = parameters(checker, at, tool, "path_params");
    if let (Some(path), Some(parameters)) = (&path, &path_params) {
        check_path(checker, at, path, parameters);
    }
    let query = parameters(checker, at, tool, "query");
    let headers = parameters(checker, at, tool, "headers").map(|headers| headers_checked(checker, at, headers));
    let body = match tool.get("body") {
        None => Some(None),
        Some(body) => Template::of_request(checker, &child(at, "body"), body).map(Some),
    };
    if body.as_ref().is_some_and(Option::is_some) && method == Some(Method::Get) {
        checker.wrong(&child(at, "body"), "MISPLACED", "a GET request has no body");
    }
    let response = response(checker, at, tool);
    let errors = errors(checker, at, tool);
    Some(ToolMapping::Rest(RestTool {
        operation_id: operation_id?,
        method: method?,
        path: path?,
        path_params: path_params?,
        query: query?,
        headers: headers?,
        body: body?,
        response: response?,
        errors: errors?,
    }))
}

fn graphql_tool(checker: &mut Checker, at: &str, tool: &Map<String, Value>) -> Option<ToolMapping> {
    checker.only(at, tool, &["document", "variables", "response", "errors"]);
    let document = checker.text(at, tool, "document", DOCUMENT_MAX_BYTES).map(str::to_owned);
    let none = Value::Object(Map::new());
    let variables = tool.get("variables").unwrap_or(&none);
    let variables_at = child(at, "variables");
    let is_object = checker.object(&variables_at, variables).is_some_and(|object| !object.keys().any(|k| marks(k)));
    if variables.is_object() && !is_object {
        checker.wrong(&variables_at, "MISPLACED", "`variables` names each variable");
    }
    let variables = Template::of_request(checker, &variables_at, variables);
    let response = response(checker, at, tool);
    let mut errors = errors(checker, at, tool)?;
    errors.code.get_or_insert_with(|| GRAPHQL_CODE.to_owned());
    errors.message.get_or_insert_with(|| GRAPHQL_MESSAGE.to_owned());
    Some(ToolMapping::Graphql(GraphqlTool { document: document?, variables: variables?, response: response?, errors }))
}

fn marks(key: &str) -> bool {
    key.starts_with('$')
}

fn response(checker: &mut Checker, at: &str, tool: &Map<String, Value>) -> Option<Template> {
    let at = child(at, "response");
    let Some(response) = tool.get("response") else {
        checker.wrong(&at, "REQUIRED", "`response` is missing");
        return None;
    };
    Template::of_response(checker, &at, response)
}

/// Named parameters, each with a template over the arguments.
fn parameters(
    checker: &mut Checker,
    at: &str,
    tool: &Map<String, Value>,
    key: &str,
) -> Option<Vec<(String, Template)>> {
    let at = child(at, key);
    let Some(parameters) = tool.get(key) else { return Some(Vec::new()) };
    let parameters = checker.object(&at, parameters)?;
    if parameters.len() > PARAMETERS_MAX {
        checker.wrong(&at, "WRONG_SIZE", format!("more than {PARAMETERS_MAX} parameters"));
        return None;
    }
    let parameter = |(name, value): (&String, &Value)| {
        let at = child(&at, name);
        if name.is_empty() || name.len() > NAME_MAX_BYTES || marks(name) || name.chars().any(char::is_control) {
            checker.wrong(&at, "WRONG_NAME", "no name of a parameter");
            return None;
        }
        Some((name.clone(), Template::of_request(checker, &at, value)?))
    };
    let parameters: Vec<_> = parameters.iter().map(parameter).collect();
    parameters.into_iter().collect()
}

/// The path is one below the base address, and its parameters are those that are given.
fn check_path(checker: &mut Checker, at: &str, path: &str, given: &[(String, Template)]) {
    let at_path = child(at, "path");
    let segments_fit = path.split('/').all(|segment| segment != "." && segment != "..");
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"?#\\\"<>^`|%".contains(&byte);
    if !path.starts_with('/') || path.starts_with("//") || !segments_fit || !path.bytes().all(plain) {
        checker.wrong(&at_path, "WRONG_PATH", "expected a path such as `/v1/slots/{id}`, without a query");
        return;
    }
    let Some(named) = parameters_of(path) else {
        checker.wrong(&at_path, "WRONG_PATH", "a `{` or `}` is not closed or opened");
        return;
    };
    for name in named.iter().filter(|name| !given.iter().any(|(given, _)| given == **name)) {
        checker.wrong(&child(at, "path_params"), "REQUIRED", format!("the path's parameter `{name}` is not given"));
    }
    for (name, _) in given.iter().filter(|(given, _)| !named.contains(&given.as_str())) {
        let at = child(&child(at, "path_params"), name);
        checker.wrong(&at, "UNKNOWN_MEMBER", format!("the path has no parameter `{name}`"));
    }
}

/// The `{parameters}` of a path; `None` where braces do not match.
fn parameters_of(path: &str) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut rest = path;
    while let Some(at) = rest.find(['{', '}']) {
        let (name, after) = rest[at..].strip_prefix('{')?.split_once('}')?;
        if name.is_empty() || name.contains(['{', '/']) {
            return None;
        }
        names.push(name);
        rest = after;
    }
    Some(names)
}

fn headers_checked(checker: &mut Checker, at: &str, headers: Vec<(String, Template)>) -> Vec<(String, Template)> {
    let at = child(at, "headers");
    let lower: Vec<_> = headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), name, value)).collect();
    for (index, (lowered, name, _)) in lower.iter().enumerate() {
        let at = child(&at, name);
        if !lowered.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_') {
            checker.wrong(&at, "WRONG_NAME", "no name of a header");
        } else if HEADERS_REFUSED.contains(&lowered.as_str()) {
            checker.wrong(&at, "HEADER_REFUSED", format!("the platform sets `{lowered}` itself, or not at all"));
        } else if lower[..index].iter().any(|(other, ..)| other == lowered) {
            checker.wrong(&at, "DUPLICATE", format!("`{lowered}` is given twice"));
        }
    }
    lower.into_iter().map(|(lowered, _, value)| (lowered, value)).collect()
}

fn errors(checker: &mut Checker, at: &str, tool: &Map<String, Value>) -> Option<ErrorMap> {
    let at = child(at, "errors");
    let Some(errors) = tool.get("errors") else { return Some(ErrorMap::default()) };
    let errors = checker.object(&at, errors)?;
    checker.only(&at, errors, &["status", "code", "codes", "message"]);
    let mut pointer = |key: &str| match errors.get(key) {
        None => Some(None),
        Some(value) => checker.pointer(&child(&at, key), value).map(Some),
    };
    let (code, message) = (pointer("code"), pointer("message"));
    let codes = translations(checker, &child(&at, "codes"), errors.get("codes"), |key| Some(key.to_owned()));
    let status = translations(checker, &child(&at, "status"), errors.get("status"), |key| {
        key.parse::<u16>().ok().filter(|status| (400..600).contains(status) && key.len() == 3)
    });
    Some(ErrorMap { status: status?, code: code?, codes: codes?, message: message? })
}

fn translations<K: Ord>(
    checker: &mut Checker,
    at: &str,
    value: Option<&Value>,
    read_key: impl Fn(&str) -> Option<K>,
) -> Option<BTreeMap<K, String>> {
    let Some(value) = value else { return Some(BTreeMap::new()) };
    let object = checker.object(at, value)?;
    if object.len() > ERRORS_MAX {
        checker.wrong(at, "WRONG_SIZE", format!("more than {ERRORS_MAX} errors"));
        return None;
    }
    let translation = |(theirs, ours): (&String, &Value)| {
        let at = child(at, theirs);
        let key = read_key(theirs);
        if key.is_none() {
            checker.wrong(&at, "WRONG_NAME", "expected an HTTP status from 400 to 599");
        }
        let ours = checker.platform_code(&at, ours);
        Some((key?, ours?))
    };
    let translations: Vec<_> = object.iter().map(translation).collect();
    translations.into_iter().collect()
}
