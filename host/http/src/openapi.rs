//! The OpenAPI document: what the handlers cannot say of themselves.
//!
//! Routes, parameters and bodies come from the handlers. The refusals that every route of a kind shares are added
//! here, from the table of codes, so that none can be forgotten.

use http::Method;
use serde_json::json;
use utoipa::OpenApi as _;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Components, Content, OpenApi, Ref, RefOr, Response, ResponseBuilder, Schema};

use intent_gateway_api::approvals::ApprovalBody;
use intent_gateway_api::contracts::ComparisonProgress;
use intent_gateway_compare::{ComparisonReport, ExportSummary};
use intent_gateway_domain::contract::Violation;
use intent_gateway_onboarding::events::PostedEvent;

use crate::auth::Role;
use crate::error::{Code, ErrorBody, ErrorDetail};
use crate::second_person::When;
use crate::streams::{EVENTS, schema};
use crate::{route_scopes, second_person};

/// Name of the security scheme.
const BEARER: &str = "bearer";

/// Name of the scheme of completion reports.
const SIGNATURE: &str = "signature";

/// Names in an operation the scope that it needs of an admin's token.
const ADMIN_SCOPE: &str = "x-admin-scope";

/// The header that says when to come again.
const RETRY_AFTER: &str = "Retry-After";

/// Tag of the partners' routes.
const BUSINESS: &str = "business";

/// Types that the domain reads strictly out of files and records; the document leaves room for members that may come.
const OPEN: [&str; 5] = ["Axes", "ConfirmationRequest", "LicenceBody", "OfficerBody", "ProfileBody"];

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "intent-gateway",
        description = "Routes an assistant's requests by intent to partner businesses, under hot-loaded contracts.\n\n\
            Routes under `/api` take a bearer token; each operation's `security` names the roles that may call it. A \
            partner's token opens the routes of its own account alone; an admin's token needs the scope that \
            `x-admin-scope` names, or `all`, which a token without a scope has unless the gateway is set otherwise. Completion reports are signed instead. Open are the way to a partner's first token, the pages on which users link accounts, \
            `/health`, `/ready` and `/openapi.json`. Every refusal has one shape, `ErrorBody`, with a \
            stable code. A request may bring an `x-request-id` of up to 128 visible ASCII characters; every answer \
            carries one.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    tags(
        (name = "orchestrator", description = "For assistants: intents, classification, search"),
        (name = "business", description = "For partners: sign-up, credentials, manifest, connection"),
        (name = "linking", description = "For users' browsers: the way to a linked account; open"),
        (name = "reports", description = "For partners: completion reports, signed"),
        (name = "admin", description = "For the platform team: contracts, partners, reviews, the audit log"),
        (name = "operations", description = "For operators and load balancers; open"),
    ),
    components(schemas(PostedEvent, ComparisonProgress, ComparisonReport, ExportSummary, ApprovalBody, ErrorBody, ErrorDetail, Violation)),
)]
struct Base;

/// The document before any route is added.
pub(crate) fn base() -> OpenApi {
    Base::openapi()
}

/// Adds the security scheme and the refusals that routes share.
pub(crate) fn complete(api: &mut OpenApi) {
    let components = api.components.get_or_insert_with(Components::new);
    let mut scheme = Http::new(HttpAuthScheme::Bearer);
    scheme.bearer_format = Some("JWT".to_owned());
    scheme.description = Some(
        "A token of the gateway's own or of a configured issuer, with the role `orchestrator`, `partner` or `admin`. An \
         admin may do all that the others may, for any account, as far as the scopes of the token go."
            .to_owned(),
    );
    components.add_security_scheme(BEARER, SecurityScheme::Http(scheme));
    let signature = "HMAC-SHA256 over `<timestamp>.<raw body>` under the partner's `webhook_signing_key`, written \
                     `sha256=<hex>`; the timestamp stands in `X-PLATFORM-Timestamp`.";
    let signature = ApiKeyValue::with_description("X-PLATFORM-Signature", signature);
    components.add_security_scheme(SIGNATURE, SecurityScheme::ApiKey(ApiKey::Header(signature)));
    for name in OPEN {
        if let Some(RefOr::T(Schema::Object(object))) = components.schemas.get_mut(name) {
            object.additional_properties = None;
        }
    }
    schema::describe(components);
    for code in Code::ALL {
        components.responses.insert(code.as_str().to_owned(), RefOr::T(refusal(code)));
    }
    for (path, item) in &mut api.paths.paths {
        for (method, operation) in operations(item) {
            share_refusals(operation);
            describe_waiting(operation, path, &method);
            if let Some(scope) = route_scopes::find(path, &method) {
                let extensions = operation.extensions.get_or_insert_default();
                extensions.insert(ADMIN_SCOPE.to_owned(), scope.as_str().into());
            }
            if let Some(event) = schema::find(path).filter(|_| answers_in_events(operation)) {
                let extensions = operation.extensions.get_or_insert_default();
                extensions.insert(schema::EVENT.to_owned(), event.into());
            }
        }
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (Method, &mut Operation)> {
    let PathItem { get, put, post, delete, patch, .. } = item;
    let methods = [Method::GET, Method::PUT, Method::POST, Method::DELETE, Method::PATCH];
    let found = methods.into_iter().zip([get, put, post, delete, patch]);
    found.filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

/// Whether an operation's answer may be a stream of events.
fn answers_in_events(operation: &Operation) -> bool {
    let answer = operation.responses.responses.get("200");
    answer.is_some_and(|answer| matches!(answer, RefOr::T(answer) if answer.content.contains_key(EVENTS)))
}

/// Whether an operation is for browsers, which get pages for refusals: it says so itself.
fn answers_in_pages(operation: &Operation) -> bool {
    let refusals = operation.responses.responses.get("4XX");
    refusals.is_some_and(|refusals| matches!(refusals, RefOr::T(pages) if pages.content.contains_key("text/html")))
}

fn share_refusals(operation: &mut Operation) {
    if answers_in_pages(operation) {
        return;
    }
    let wants = |scheme: &str| {
        operation.security.iter().flatten().any(|requirement| {
            serde_json::to_value(requirement).is_ok_and(|requirement| requirement.get(scheme).is_some())
        })
    };
    let (open, signed) = (!wants(BEARER), wants(SIGNATURE));
    let mut codes = vec![Code::InternalError];
    if operation.tags.iter().flatten().any(|tag| tag == BUSINESS) && open {
        codes.extend([Code::RateLimited, Code::Overloaded, Code::Timeout]);
    }
    if !open {
        let roles = operation
            .security
            .iter()
            .flatten()
            .filter_map(|requirement| serde_json::to_value(requirement).ok()?.get(BEARER)?.as_array().cloned());
        if roles.flatten().any(|role| role != Role::Admin.as_str()) {
            codes.push(Code::RateLimited);
        }
        codes.extend([Code::InvalidAuth, Code::Forbidden, Code::Overloaded, Code::Timeout]);
    }
    if operation.request_body.is_some() {
        codes.extend([Code::InvalidRequest, Code::RequestTimeout, Code::PayloadTooLarge]);
        // What is signed is read as it comes.
        if !signed {
            codes.push(Code::UnsupportedMediaType);
        }
    }
    let responses = &mut operation.responses.responses;
    for code in codes {
        let reference = Ref::from_response_name(code.as_str());
        responses.entry(code.status().as_str().to_owned()).or_insert(RefOr::Ref(reference));
    }
}

/// Adds what is answered where an operation waits for a second person, or would have to.
fn describe_waiting(operation: &mut Operation, path: &str, method: &Method) {
    let row = second_person::find(path, method).filter(|row| row.when != When::Never);
    let Some(second_person::Operation { when, .. }) = row else { return };
    let responses = &mut operation.responses.responses;
    let answer = |description: &str, schema: &str| {
        let content = Content::new(Some(Ref::from_schema_name(schema)));
        RefOr::T(ResponseBuilder::new().description(description).content(crate::body::JSON, content).build())
    };
    let conflict = match when {
        When::Forced => "`LOAD_BEFORE_ACTIVATION`, where `auth.second_person` is set",
        When::Replacement => "`ADD_BEFORE_DELETION`, where `auth.second_person` is set and an admin asks",
        _ => {
            let waits = "It waits for a second person, where `auth.second_person` is set and an admin asks";
            responses.insert("202".to_owned(), answer(waits, "ApprovalBody"));
            for code in [Code::InvalidRequest, Code::RequestTimeout, Code::PayloadTooLarge] {
                let reference = RefOr::Ref(Ref::from_response_name(code.as_str()));
                responses.entry(code.status().as_str().to_owned()).or_insert(reference);
            }
            "`TOO_MANY_APPROVALS`, where `auth.second_person` is set"
        }
    };
    match responses.get_mut("409") {
        Some(RefOr::T(response)) => response.description.push_str(&format!("; {conflict}")),
        _ => drop(responses.insert("409".to_owned(), answer(conflict, "ErrorBody"))),
    }
}

fn refusal(code: Code) -> Response {
    let example = json!({
        "error": {
            "code": code.as_str(),
            "message": code.message(),
            "request_id": "01890a5d-ac96-774b-bcce-b302099a8057",
        }
    });
    let mut content = Content::new(Some(Ref::from_schema_name("ErrorBody")));
    content.example = Some(example);
    let told = |code: Code| format!("`{}`: {}", code.as_str(), code.message());
    // An operation has one answer for each status; wherever there can be too much to do, the store can be down as well.
    let description = match code {
        Code::Overloaded => format!("{} {}", told(code), told(Code::StoreUnavailable)),
        _ => told(code),
    };
    let response = ResponseBuilder::new().description(description).content(crate::body::JSON, content);
    match code {
        Code::RateLimited | Code::Overloaded => response.header(RETRY_AFTER, wait()).build(),
        _ => response.build(),
    }
}

/// When it is worth trying again.
fn wait() -> Header {
    let seconds = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1));
    HeaderBuilder::new().schema(Some(seconds)).description(Some("Seconds after which to try again")).build()
}
