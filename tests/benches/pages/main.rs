//! How long the pages take where much is kept: ten thousand partners with their connections, manifests and reviews, a million
//! orders, as many receipts of rankings, and a thousand contracts. Measured is the time of a whole page at a client on the same machine, one after the other.
//!
//! ```text
//! cargo bench --package intent-gateway-tests --bench pages [-- ORDERS [PARTNERS [CONTRACTS]]]
//! ```
//!
//! The gateway is the optimised binary, or the one that `BENCH_GATEWAY` names. One business goes live through the API, and one search is
//! made; the other businesses, receipts and contracts are copies of these records, made past the store. Of the contracts one serves: the
//! others are known and out of service. Orders are kept by the store itself.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

mod fill;
mod world;

use std::time::{Duration, Instant};

use crate::world::World;

const ORDERS: u64 = 1_000_000;
const PARTNERS: u64 = 10_000;
const CONTRACTS: u64 = 1_000;
/// How often each page is asked for.
const ROUNDS: usize = 200;
/// What the 99th percentile is to stay below.
const AIM: Duration = Duration::from_millis(100);

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let number = |place: usize, usual: u64| words.get(place).map_or(usual, |word| word.parse().expect("a number"));
    let (orders, partners, contracts) = (number(0, ORDERS), number(1, PARTNERS), number(2, CONTRACTS));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(run(orders, partners, contracts));
}

async fn run(orders: u64, partners: u64, contracts: u64) {
    let world = World::start().await;
    let begun = Instant::now();
    let world = world.filled(orders, partners, contracts).await;
    println!(
        "{partners} partners, {contracts} contracts, {orders} orders and as many receipts are kept, in {:.0} s",
        begun.elapsed().as_secs_f64()
    );
    let visitors = world.sign_in().await;
    println!("{:<46} {:>8} {:>8} {:>8} {:>10}", "page", "p50, ms", "p99, ms", "max, ms", "bytes");
    for (cookie, pages) in visitors {
        for page in pages {
            let (mut took, mut bytes) = (Vec::with_capacity(ROUNDS), 0);
            for _ in 0..ROUNDS {
                let begun = Instant::now();
                bytes = world.page(&page, &cookie).await;
                took.push(begun.elapsed());
            }
            took.sort_unstable();
            let at = |share: usize| took[(took.len() * share / 100).min(took.len() - 1)];
            let ms = |time: Duration| time.as_secs_f64() * 1e3;
            let mark = if at(99) > AIM { "  over the aim" } else { "" };
            println!("{page:<46} {:>8.1} {:>8.1} {:>8.1} {bytes:>10}{mark}", ms(at(50)), ms(at(99)), ms(at(100)));
        }
    }
    world.stop();
}
