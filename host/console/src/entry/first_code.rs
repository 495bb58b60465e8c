//! The way into the console of a gateway that was just installed: a code that it makes at its start, and that opens the console once.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::{Entropy, NoEntropy, hex, random};

/// Random bytes of a code.
const CODE_BYTES: usize = 16;

/// A code that is good once.
pub struct FirstCode {
    code: Mutex<Option<Secret>>,
    /// How long a session lasts that it opens.
    session_life: Duration,
    /// Called when it was used.
    used_up: Box<dyn Fn() + Send + Sync>,
}

impl FirstCode {
    /// A new one, for a session of at most this life. `used_up` is called when somebody has used it.
    ///
    /// # Errors
    /// [`NoEntropy`] when the machine gives no random bytes.
    pub fn new(
        entropy: &dyn Entropy,
        session_life: Duration,
        used_up: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, NoEntropy> {
        let code = Secret::new(hex(&random::<CODE_BYTES>(entropy)?));
        Ok(Self { code: Mutex::new(Some(code)), session_life, used_up: Box::new(used_up) })
    }

    /// The code, for whoever has started the gateway; nothing once it was used.
    #[must_use]
    pub fn show(&self) -> Option<Secret> {
        self.code.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Uses it up: how long the session may last that it opens. A wrong one uses nothing up, for nobody guesses it.
    pub(super) fn take(&self, presented: &str) -> Option<Duration> {
        let mut code = self.code.lock().unwrap_or_else(PoisonError::into_inner);
        if !code.as_ref().is_some_and(|code| code.matches(presented)) {
            return None;
        }
        *code = None;
        (self.used_up)();
        Some(self.session_life)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use intent_gateway_testing::entropy::Counting;

    use super::*;

    #[test]
    fn opens_once() {
        let used = Arc::new(AtomicU32::new(0));
        let counted = used.clone();
        let used_up = move || {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        let first = FirstCode::new(&Counting::default(), Duration::from_secs(60), used_up).expect("made");
        let code = first.show().expect("shown").expose().to_owned();
        assert_eq!(code.len(), 2 * CODE_BYTES);
        assert_eq!(first.take(""), None);
        assert_eq!(first.take(&code[1..]), None);
        assert_eq!(used.load(Ordering::Relaxed), 0);
        assert_eq!(first.take(&code), Some(Duration::from_secs(60)));
        assert_eq!(first.take(&code), None);
        assert!(first.show().is_none());
        assert_eq!(used.load(Ordering::Relaxed), 1);
    }
}
