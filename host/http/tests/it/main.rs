//! The HTTP surface over fakes of the domain's ports: every route, every refusal, and the listener's bounds.

mod business;
mod conform;
mod document;
mod guards;
mod keeping;
mod listener;
mod routes;
mod support;
