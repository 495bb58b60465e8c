//! Account linking over HTTP: what a user's browser opens on the way, and what the orchestrator does with a user's links.
//!
//! Not here: the flow itself, its checks, and what is kept (`linking`).

mod browser;
mod links;
mod page;

pub(crate) use browser::{document_routes, in_pages, routes as browser_routes};
pub(crate) use links::routes;
pub(crate) use page::show_refused;
