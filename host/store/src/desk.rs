//! The desk: takes reports one by one and hands them on in batches, first to be looked up and then to be booked. Those two
//! have a queue each and never wait for each other.
//!
//! Not here: what a booking says, and who is answered what on the wire.

use std::fmt;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_ledger::{BATCH_MAX, Booked, Booking, Books, DeskError, KnownOrder, OrderQuery, ReportDesk};
use tokio_util::sync::CancellationToken;

use crate::batching::{Queue, Rules};

/// Reports that wait in each queue. More than a few batches would only be waited for in vain.
pub const QUEUE_MAX: usize = 4 * BATCH_MAX;
/// Reports looked up at once: what their partners have quoted is held until they are judged.
const LOOK_UPS_MAX: usize = 256;

const LOOK_UPS: Rules = Rules { name: "look-ups", queue_max: QUEUE_MAX, batch_max: LOOK_UPS_MAX, lingers: false };
/// A durable transaction costs the same for one and for many, so it is worth while to wait for those that come.
const BOOKINGS: Rules = Rules { name: "bookings", queue_max: QUEUE_MAX, batch_max: BATCH_MAX, lingers: true };

/// Where reports are handed in. Dropped, it finishes what it has taken and ends.
pub struct Desk {
    look_ups: Queue<OrderQuery, KnownOrder>,
    bookings: Queue<Booking, Booked>,
    closing: CancellationToken,
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Desk")
    }
}

impl Desk {
    /// Opens the desk, on the runtime that this is called from.
    #[must_use]
    pub fn open(books: Arc<dyn Books>) -> Self {
        let closing = CancellationToken::new();
        let looked_up = Arc::clone(&books);
        let look_up = move |asked| {
            let books = Arc::clone(&looked_up);
            async move { books.look_up(asked).await }.boxed()
        };
        let book = move |bookings| {
            let books = Arc::clone(&books);
            async move { books.book(bookings).await }.boxed()
        };
        Self {
            look_ups: Queue::open(LOOK_UPS, closing.clone(), Box::new(look_up)),
            bookings: Queue::open(BOOKINGS, closing.clone(), Box::new(book)),
            closing,
        }
    }

    /// Each queue by name, and how much waits in it.
    #[must_use]
    pub fn waiting(&self) -> [(&'static str, usize); 2] {
        [self.look_ups.waiting(), self.bookings.waiting()]
    }

    /// Takes no more, and returns once all that was taken has its answer.
    pub async fn close(&self) {
        self.closing.cancel();
        self.look_ups.finish().await;
        self.bookings.finish().await;
    }
}

impl ReportDesk for Desk {
    fn look_up(&self, asked: OrderQuery) -> BoxFuture<'_, Result<KnownOrder, DeskError>> {
        self.look_ups.submit(asked).boxed()
    }

    fn book(&self, booking: Booking) -> BoxFuture<'_, Result<Booked, DeskError>> {
        self.bookings.submit(booking).boxed()
    }
}
