//! Partner calls against servers that behave, servers that misbehave, and rmcp's own server; sign-ins likewise.

mod api;
mod api_probe;
mod calls;
mod harness;
mod hostile;
mod modern;
mod oauth;
mod page;
mod probe;
mod progress;
mod real;
mod sessions;
mod wrapped;
