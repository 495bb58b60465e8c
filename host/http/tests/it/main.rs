//! The HTTP surface over fakes of the domain's ports: every route, every refusal, and the listener's bounds.

mod conform;
mod document;
mod guards;
mod listener;
mod routes;
mod support;
