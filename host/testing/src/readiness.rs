//! What is wrong with a gateway, as a test says.

use std::sync::Mutex;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::readiness::{Readiness, Trouble};

/// Nothing, until a test says otherwise.
#[derive(Debug, Default)]
pub struct GivenTroubles(Mutex<Vec<Trouble>>);

impl GivenTroubles {
    /// From here on, these are the troubles.
    ///
    /// # Panics
    /// Never: no test panics in it.
    pub fn set(&self, troubles: Vec<Trouble>) {
        *self.0.lock().expect("no test panics in it") = troubles;
    }
}

impl Readiness for GivenTroubles {
    fn troubles(&self) -> BoxFuture<'_, Vec<Trouble>> {
        std::future::ready(self.0.lock().expect("no test panics in it").clone()).boxed()
    }
}
