//! The HTTP surface over fakes of the domain's ports: every route, every refusal, and the listener's bounds.

mod admin;
mod ask;
mod business;
mod comparison;
mod conform;
mod contract;
mod delivered;
mod document;
mod faults;
mod findings;
mod guards;
mod health;
mod ledger;
mod linking;
mod listener;
mod orders;
mod outage;
mod overdue;
mod quotas;
mod receipts;
mod rollouts;
mod routes;
mod scopes;
mod second_person;
mod support;
mod user_data;
