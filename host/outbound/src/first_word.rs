//! When a partner first said something of a call: how quick it is, whether it answers then or goes on to stream.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use intent_gateway_domain::ports::Progress;

/// Passes progress on, and remembers when the first of it came.
#[derive(Debug)]
pub(super) struct FirstWord<'a> {
    to: &'a dyn Progress,
    began: Instant,
    came: OnceLock<Duration>,
}

impl<'a> FirstWord<'a> {
    pub(super) fn new(to: &'a dyn Progress) -> Self {
        Self { to, began: Instant::now(), came: OnceLock::new() }
    }

    /// How long the first word took.
    pub(super) fn took(&self) -> Option<Duration> {
        self.came.get().copied()
    }
}

impl Progress for FirstWord<'_> {
    fn came(&self, params: &str) {
        self.came.get_or_init(|| self.began.elapsed());
        self.to.came(params);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Nobody;

    impl Progress for Nobody {
        fn came(&self, _params: &str) {}
    }

    #[test]
    fn only_the_first_word_counts() {
        let first = FirstWord::new(&Nobody);
        assert_eq!(first.took(), None);
        first.came("{}");
        let took = first.took();
        assert!(took.is_some());
        first.came("{}");
        assert_eq!(first.took(), took);
    }
}
