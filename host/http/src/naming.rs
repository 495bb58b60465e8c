//! The names of intents as callers use them. A path and a body may name an intent by an alias; behind this module it has its
//! own name alone (see [`alias`](intent_gateway_domain::alias)).

use std::borrow::Cow;
use std::sync::Arc;

use intent_gateway_domain::alias;
use intent_gateway_domain::ports::Contract;
use serde_json::value::RawValue;

use crate::App;

/// The intent that a path names.
pub(crate) struct NamedIntent {
    /// Its own name; the one that was given where no such intent is live.
    pub(crate) name: String,
    live: Option<Arc<dyn Contract>>,
}

impl NamedIntent {
    pub(crate) fn of(app: &App, given: String) -> Self {
        let live = app.searcher.contracts.live(&given);
        let name = live.as_ref().map_or(given, |contract| contract.descriptor().intent.to_string());
        Self { name, live }
    }

    /// A document for the intent, which names it by its own name if at all.
    pub(crate) fn document<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.live.as_ref().map_or(Cow::Borrowed(text), |contract| alias::rewrite(text, contract.descriptor()))
    }

    /// The same for a document that was read as JSON.
    pub(crate) fn raw_document(&self, document: &RawValue) -> String {
        self.document(document.get()).into_owned()
    }
}
