//! Where a partner is called, and for a partner without an MCP server, how its API answers the tools of an intent
//! (spec 1, Onboarding paths: path B).
//!
//! An [`Endpoint`] says where and in which protocol. An [`ApiMapping`] says, tool by tool, which operation of a REST
//! or GraphQL API answers it, how the arguments become a request and how the answer becomes the tool's payload.
//! Mappings are data of a manifest: a reviewer reads them, and what was reviewed is what is called.
//!
//! `answer` reads what the API answers, into a payload or a failure. `fit` compares a mapping with its intent's contract, before anything is called.
//!
//! Not here: IO, and what an OpenAPI document or a GraphQL schema says; `host/partners` compares them at a probe.

mod answer;
mod checker;
mod fit;
#[cfg(test)]
mod fit_tests;
mod mapping;
mod request;
mod template;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use answer::{ApiAnswer, MappedPayload};
pub use fit::IntentShape;
pub use mapping::{ApiMapping, GraphqlTool, Mappings, Method, RestTool, ToolMapping};
pub use request::{RequestError, RestRequest};
pub use template::{RenderError, Scope, Template, UnmappedItem};

/// Where a partner is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Endpoint {
    /// An MCP server over Streamable HTTP.
    Mcp {
        /// Its one address.
        url: String,
    },
    /// A REST API.
    Rest {
        /// What the paths of its operations are appended to.
        base_url: String,
        /// Where its OpenAPI document is, in JSON.
        openapi_url: String,
    },
    /// A GraphQL API over HTTP.
    Graphql {
        /// Its one address.
        url: String,
    },
}

impl Endpoint {
    /// An MCP server at an address.
    #[must_use]
    pub fn mcp(url: impl Into<String>) -> Self {
        Self::Mcp { url: url.into() }
    }

    /// The address that tool calls go to, or start with.
    #[must_use]
    pub fn url(&self) -> &str {
        match self {
            Self::Mcp { url } | Self::Graphql { url } => url,
            Self::Rest { base_url, .. } => base_url,
        }
    }
}
