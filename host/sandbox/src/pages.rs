//! The memory that compiled code takes: most of a gateway's with many contracts. Code is mapped from its file
//! ([`crate::cache`]), so the kernel fetches what runs; what has not run for long is given back, and fetched at once before it runs
//! again, outside of the call's deadline.

use std::ffi::c_void;
use std::sync::Weak;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::mm::Advice;
use tokio::time::Instant;
use wasmtime::component::Component;

use crate::registry::Version;
use crate::sandbox::HeldVersions;

/// After how long without a call code is fetched before the next one: the kernel takes pages by itself where memory is scarce.
const FETCH_AFTER: Duration = Duration::from_secs(60);
/// How often it is looked which code has not run for long.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// The pages of one component's code.
pub(crate) struct CodePages {
    code: Component,
    made_at: Instant,
    /// When a call began last, seconds after it was made.
    last_call_s: AtomicU64,
    /// Up to which call they have been given back; 0 for none. It is that call's second and one more.
    given_back_s: AtomicU64,
}

impl CodePages {
    pub(crate) fn new(code: Component) -> Self {
        Self { code, made_at: Instant::now(), last_call_s: AtomicU64::new(0), given_back_s: AtomicU64::new(0) }
    }

    /// Notes a call. Whether the code is to be fetched first.
    pub(crate) fn note_call(&self) -> bool {
        let now = self.made_at.elapsed().as_secs();
        let last = self.last_call_s.load(Ordering::Relaxed);
        // Read before write: the line stays shared between cores.
        if now == last {
            return false;
        }
        let last = self.last_call_s.swap(now, Ordering::Relaxed);
        now.saturating_sub(last) >= FETCH_AFTER.as_secs()
    }

    /// Fetches the code. Blocks the thread, where it is not in memory for as long as the disk takes.
    pub(crate) fn fetch(&self) {
        self.advise(Advice::LinuxPopulateRead);
    }

    /// Gives the pages back if no call began for so long; whether it has done so.
    fn give_back(&self, unused: Duration) -> bool {
        let last = self.last_call_s.load(Ordering::Relaxed);
        let is_unused = self.made_at.elapsed() >= Duration::from_secs(last) + unused;
        let is_given_back = || self.given_back_s.swap(last + 1, Ordering::Relaxed) == last + 1;
        if !is_unused || is_given_back() {
            return false;
        }
        self.advise(Advice::LinuxPageOut);
        true
    }

    #[expect(unsafe_code, reason = "advice is given on an address; neither of these two changes what is read there")]
    fn advise(&self, advice: Advice) {
        let range = self.code.image_range();
        let bytes = range.end.addr() - range.start.addr();
        // SAFETY: the range is one mapping of wasmtime's, which lives as long as the component does. Fetching pages and giving
        // them back leaves their content as it is, whoever runs it at the time.
        let advised = unsafe { rustix::mm::madvise(range.start.cast_mut().cast::<c_void>(), bytes, advice) };
        if let Err(error) = advised {
            // Linux before 5.14 fetches page by page, and a file system in memory has nothing to give back.
            tracing::debug!(%error, ?advice, "the kernel does not take advice on compiled code");
        }
    }
}

/// Gives back the code of versions that nobody has called for as long as `unused`, for as long as it is polled.
pub(crate) async fn give_back_unused(held: Weak<HeldVersions>, unused: Duration) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(held) = held.upgrade() else { return };
        let versions = held.all();
        let giving = tokio::task::spawn_blocking(move || {
            versions.iter().filter(|version| version.pages().give_back(unused)).map(|version| told(version)).collect()
        });
        let given: Vec<String> = giving.await.unwrap_or_default();
        if !given.is_empty() {
            tracing::debug!(contracts = given.join(", "), "the code of contracts that nobody calls was given back");
        }
    }
}

fn told(version: &Version) -> String {
    use intent_gateway_domain::ports::Contract as _;
    let descriptor = version.descriptor();
    format!("{} {}", descriptor.intent, descriptor.version)
}
