//! Nothing but a list of dependencies; its manifest says what for.
