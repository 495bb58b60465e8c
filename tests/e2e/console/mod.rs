//! The pages: who gets in, that a page can do no more than its visitor, and that a whole way can be gone on them.

mod browser;
mod comparing;
mod deliveries;
mod entry;
mod issuer;
mod journeys;
mod live;
mod loading;
mod plots;
mod shipping;
mod walk;

/// What has a gateway serve pages.
const PAGES: &str = "[console]\nenabled = true\n";
