//! What the start tells while it compiles: the first one takes seconds for each contract, and a person wonders otherwise.
//! Compiled forms are kept, so later starts tell nothing.

use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A contract that is about to be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiling {
    /// Its file or its digest.
    pub name: String,
    /// Its place among those that are looked at, from 1.
    pub number: usize,
    /// How many these are.
    pub of: usize,
}

/// Whoever is told.
type Listener = Box<dyn Fn(&Compiling) + Send + Sync>;

/// Tells which contract is compiled while the sandbox starts.
#[derive(Default)]
pub struct StartProgress {
    tell: Option<Listener>,
    /// What is looked at now; none before and after the start.
    now: Mutex<Option<Compiling>>,
}

impl fmt::Debug for StartProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartProgress").field("now", &self.now).finish_non_exhaustive()
    }
}

impl StartProgress {
    /// One that is told to `tell`.
    #[must_use]
    pub fn new(tell: impl Fn(&Compiling) + Send + Sync + 'static) -> Self {
        Self { tell: Some(Box::new(tell)), now: Mutex::default() }
    }

    /// The next contract of so many is looked at.
    pub(crate) fn look_at(&self, name: String, number: usize, of: usize) {
        self.set(Some(Compiling { name, number, of }));
    }

    /// What is looked at has no compiled form yet.
    pub(crate) fn compile(&self) {
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let (Some(tell), Some(now)) = (&self.tell, now) {
            tell(&now);
        }
    }

    /// The start is over: whatever is compiled from here on is somebody's act, who waits for its answer.
    pub fn end(&self) {
        self.set(None);
    }

    fn set(&self, now: Option<Compiling>) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn only_what_is_compiled_during_the_start_is_told() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let listener = told.clone();
        let progress = StartProgress::new(move |compiling| listener.lock().expect("held").push(compiling.clone()));
        progress.compile();
        progress.look_at("kept.wasm".to_owned(), 1, 2);
        progress.look_at("new.wasm".to_owned(), 2, 2);
        progress.compile();
        progress.end();
        progress.compile();
        assert_eq!(*told.lock().expect("held"), [Compiling { name: "new.wasm".to_owned(), number: 2, of: 2 }]);
    }
}
