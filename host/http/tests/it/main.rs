//! The HTTP surface over fakes of the domain's ports: every route, every refusal, and the listener's bounds.

mod business;
mod conform;
mod delivered;
mod document;
mod evidence;
mod guards;
mod health;
mod keeping;
mod ledger;
mod linking;
mod listener;
mod receipts;
mod routes;
mod support;
