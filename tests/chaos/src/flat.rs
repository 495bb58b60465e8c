//! Whether what gateways hold of the machine stays as it is: the two halves of a run are compared.

use crate::footprint::Footprint;

/// By how much the second half may be above the first: of memory a share and some bytes, for allocators keep pages.
const MEMORY_PERCENT: u64 = 15;
const MEMORY_BYTES: u64 = 24 << 20;
/// Of threads and of open files, a share and some: connections come and go with the load.
const COUNT_PERCENT: usize = 15;
const COUNT: usize = 12;
/// After a start, memory grows until everything has been used once, milliseconds.
const SETTLED_AFTER_MS: u64 = 10_000;
/// Looks that each half needs.
const LOOKS_MIN: usize = 5;

/// What a gateway held at one time.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Milliseconds since the load began.
    pub at_ms: u64,
    /// For how long its process had run, milliseconds.
    pub up_ms: u64,
    /// What the process held.
    pub held: Footprint,
    /// Files in its folder.
    pub on_disk: usize,
}

/// The medians of one half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half {
    /// Resident memory, bytes.
    pub memory: u64,
    pub threads: usize,
    /// Open file descriptors.
    pub open: usize,
    /// Files in the gateway's folder.
    pub on_disk: usize,
}

/// The halves of a run, in order; none where there are too few looks.
#[must_use]
pub fn halves(looks: &[Look], run_ms: u64) -> Option<[Half; 2]> {
    let settled = |look: &&Look| look.up_ms >= SETTLED_AFTER_MS;
    let (first, second): (Vec<&Look>, Vec<&Look>) =
        looks.iter().filter(settled).partition(|look| look.at_ms < run_ms / 2);
    Some([half(&first)?, half(&second)?])
}

fn half(looks: &[&Look]) -> Option<Half> {
    (looks.len() >= LOOKS_MIN).then(|| Half {
        memory: median(looks, |look| look.held.memory),
        threads: median(looks, |look| look.held.threads),
        open: median(looks, |look| look.held.files),
        on_disk: median(looks, |look| look.on_disk),
    })
}

fn median<T: Ord>(looks: &[&Look], of: impl Fn(&Look) -> T) -> T {
    let mut values: Vec<T> = looks.iter().map(|look| of(look)).collect();
    values.sort_unstable();
    values.swap_remove(values.len() / 2)
}

/// What is more in the second half than it may be.
#[must_use]
pub fn growth([first, second]: &[Half; 2]) -> Vec<String> {
    let mut growth = Vec::new();
    if second.memory > first.memory + first.memory * MEMORY_PERCENT / 100 + MEMORY_BYTES {
        growth.push(format!("memory grew from {} to {} MiB", first.memory >> 20, second.memory >> 20));
    }
    let counts = [
        ("threads", first.threads, second.threads),
        ("open files", first.open, second.open),
        ("files on disk", first.on_disk, second.on_disk),
    ];
    for (what, before, now) in counts {
        if now > before + before * COUNT_PERCENT / 100 + COUNT {
            growth.push(format!("{what} grew from {before} to {now}"));
        }
    }
    growth
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(memory: impl Fn(u64) -> u64, open: impl Fn(u64) -> usize) -> Vec<Look> {
        let look = |second: u64| {
            let held = Footprint { memory: memory(second) << 20, threads: 10, files: open(second), connections: 0 };
            Look { at_ms: second * 1_000, up_ms: second * 1_000, held, on_disk: 30 }
        };
        (0..100).map(look).collect()
    }

    #[test]
    fn what_stays_is_flat_and_what_grows_is_told() {
        let grown = |looks: &[Look]| growth(&halves(looks, 100_000).unwrap());
        assert_eq!(grown(&looks(|_| 100, |_| 50)), Vec::<String>::new());
        assert_eq!(
            grown(&looks(|second| 100 + second % 2 * 30, |second| if second == 70 { 900 } else { 50 })),
            [""; 0]
        );
        assert_eq!(grown(&looks(|second| 50 + second * 3, |_| 50)), ["memory grew from 140 to 275 MiB"]);
        assert_eq!(grown(&looks(|_| 100, |second| second as usize)), ["open files grew from 30 to 75"]);
    }

    #[test]
    fn a_start_does_not_count_and_too_little_tells_nothing() {
        let mut grows_at_start = looks(|_| 100, |_| 50);
        grows_at_start.iter_mut().for_each(|look| look.up_ms %= 9_000);
        assert!(halves(&grows_at_start, 100_000).is_none());
        assert!(halves(&[], 100_000).is_none());
    }
}
