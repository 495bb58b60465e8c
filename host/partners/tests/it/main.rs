//! Partner calls against servers that behave, servers that misbehave, and rmcp's own server.

mod calls;
mod harness;
mod hostile;
mod real;
mod sessions;
