//! Account linking over HTTP: what a user's browser opens on the way, and what the orchestrator does with a user's links.
//!
//! Not here: the flow itself, its checks, and what is kept (`linking`).

mod browser;
mod links;
mod page;

/// Where the pages are that a user's browser opens.
const PAGES: &str = "/link/";

/// Whether a person reads in a browser what is answered at this path.
pub(crate) fn is_page(path: &str) -> bool {
    path.starts_with(PAGES)
}

pub(crate) use browser::{document_routes, in_pages, routes as browser_routes};
pub(crate) use links::routes;
pub(crate) use page::show_refused;
