//! Who is told of partners' health.

use std::sync::Mutex;

use intent_gateway_domain::health::HealthEvent;
use intent_gateway_domain::ports::HealthLog;

/// Remembers what it was told.
#[derive(Default)]
pub struct RecordedHealth(Mutex<Vec<HealthEvent>>);

impl RecordedHealth {
    /// Every change, in its order.
    pub fn events(&self) -> Vec<HealthEvent> {
        self.0.lock().expect("no test panics in it").clone()
    }

    /// Every change since they were last taken.
    pub fn take_events(&self) -> Vec<HealthEvent> {
        std::mem::take(&mut *self.0.lock().expect("no test panics in it"))
    }
}

impl HealthLog for RecordedHealth {
    fn note_change(&self, event: HealthEvent) {
        self.0.lock().expect("no test panics in it").push(event);
    }
}
