//! How many streams one orchestrator may have open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use intent_gateway_domain::user::Orchestrator;

use crate::error::{Code, Refusal};

/// Streams of the changes of orders that one orchestrator has open at one gateway, at most. Each tells of all its users.
const OF_ONE_MAX: u32 = 8;

/// How many streams each orchestrator has open.
#[derive(Clone, Default)]
pub(super) struct Turns(Arc<Mutex<HashMap<Arc<str>, u32>>>);

/// One stream of an orchestrator, until it is dropped.
pub(super) struct Turn {
    of: Turns,
    orchestrator: Arc<str>,
}

impl Turns {
    /// One more stream of an orchestrator.
    ///
    /// # Errors
    /// `OVERLOADED` when it has as many as it may.
    pub(super) fn enter(&self, orchestrator: &Orchestrator) -> Result<Turn, Refusal> {
        let orchestrator = orchestrator.key();
        let mut open = self.open();
        let count = open.entry(Arc::clone(&orchestrator)).or_default();
        if *count >= OF_ONE_MAX {
            let message =
                format!("This orchestrator has {OF_ONE_MAX} such streams open already; one tells of all its users.");
            return Err(Refusal::new(Code::Overloaded).message(message));
        }
        *count += 1;
        drop(open);
        Ok(Turn { of: self.clone(), orchestrator })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Arc<str>, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut open = self.of.open();
        if let Some(count) = open.get_mut(&self.orchestrator) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.orchestrator);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_orchestrator_has_a_number_of_its_own() {
        let turns = Turns::default();
        let (one, other) = (Orchestrator::new("i", "one"), Orchestrator::new("i", "other"));
        let mut open: Vec<Turn> = (0..OF_ONE_MAX).map(|_| turns.enter(&one).expect("there is room")).collect();
        assert_eq!(turns.enter(&one).err().map(|refusal| refusal.code().to_owned()).as_deref(), Some("OVERLOADED"));
        assert!(turns.enter(&other).is_ok());
        open.pop();
        open.push(turns.enter(&one).expect("one has left"));
        assert!(turns.enter(&one).is_err());
        open.clear();
        assert!(turns.open().is_empty(), "nobody is remembered who has left");
    }
}
