//! A desk over a ledger in memory, which a test has refuse or overlook what is in it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_ledger::{Booked, Booking, Books as _, DeskError, KnownOrder, OrderQuery, ReportDesk};

use crate::books::MemoryBooks;

/// Books each report as it comes.
#[derive(Default)]
pub struct MemoryDesk {
    pub books: Arc<MemoryBooks>,
    looked_up: AtomicUsize,
    overlooks: AtomicBool,
    refuses_look_ups: Mutex<Option<DeskError>>,
    refuses_bookings: Mutex<Option<DeskError>>,
}

impl MemoryDesk {
    /// A desk that takes nothing, as that of a gateway that shuts down.
    #[must_use]
    pub fn closed() -> Arc<Self> {
        let desk = Self::default();
        desk.refuse_look_ups(DeskError::Closed);
        desk.refuse_bookings(DeskError::Closed);
        Arc::new(desk)
    }

    /// From here on, what is booked is not seen by look-ups, as when another gateway has just booked it.
    pub fn overlook(&self) {
        self.overlooks.store(true, Ordering::Relaxed);
    }

    /// From here on, nothing can be looked up.
    pub fn refuse_look_ups(&self, error: DeskError) {
        *self.refuses_look_ups.lock().expect("no test panics in it") = Some(error);
    }

    /// From here on, nothing can be booked.
    pub fn refuse_bookings(&self, error: DeskError) {
        *self.refuses_bookings.lock().expect("no test panics in it") = Some(error);
    }

    /// How often it was asked what is known.
    pub fn looked_up(&self) -> usize {
        self.looked_up.load(Ordering::Relaxed)
    }
}

fn check(refuses: &Mutex<Option<DeskError>>) -> Result<(), DeskError> {
    refuses.lock().expect("no test panics in it").clone().map_or(Ok(()), Err)
}

fn only<T>(answers: Vec<T>) -> T {
    let [answer]: [T; 1] = answers.try_into().unwrap_or_else(|_| panic!("one answer to one report"));
    answer
}

impl ReportDesk for MemoryDesk {
    fn look_up(&self, asked: OrderQuery) -> BoxFuture<'_, Result<KnownOrder, DeskError>> {
        async move {
            self.looked_up.fetch_add(1, Ordering::Relaxed);
            check(&self.refuses_look_ups)?;
            let known = self.books.look_up(vec![asked]).await.map_err(|error| DeskError::Store(Arc::new(error)))?;
            let known = only(known);
            Ok(if self.overlooks.load(Ordering::Relaxed) { KnownOrder { booked: None, ..known } } else { known })
        }
        .boxed()
    }

    fn book(&self, booking: Booking) -> BoxFuture<'_, Result<Booked, DeskError>> {
        async move {
            check(&self.refuses_bookings)?;
            let booked = self.books.book(vec![booking]).await.map_err(|error| DeskError::Store(Arc::new(error)))?;
            Ok(only(booked))
        }
        .boxed()
    }
}
