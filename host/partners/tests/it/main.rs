//! Partner calls against servers that behave, servers that misbehave, and rmcp's own server.

mod api;
mod api_probe;
mod calls;
mod harness;
mod hostile;
mod modern;
mod page;
mod probe;
mod real;
mod sessions;
mod wrapped;
