//! How much is kept: when receipts begin a new segment, which segments are forgotten, and what is not kept any more when the
//! disk is nearly full. Rules alone: who measures and who deletes is the store and the binary.
//!
//! Receipts lie in segments, one after the other, and are forgotten a whole segment at a time: dropping a file or a partition
//! costs the same however much it holds. So a segment is a small part of what may be kept, and what is kept exceeds its bounds
//! by at most one segment. Which receipts go before their segment does, [`thinning`] says.

pub mod thinning;

use crate::clock::Timestamp;

/// A segment ends when it is this part of either bound.
pub const SEGMENTS_OF_A_BOUND: u64 = 16;
/// A segment is no smaller than this, bytes, however small the bound is: below, files and tables cost more than what they hold.
pub const SEGMENT_MIN_BYTES: u64 = 1024 * 1024;
/// How much more than a threshold must be free before that is kept again which was not, in parts of the threshold: a quarter.
const RECOVERY_PART: u64 = 4;

/// How many receipts are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptBounds {
    /// For how long, milliseconds.
    pub keep_ms: u64,
    /// How much room they take, bytes.
    pub max_bytes: u64,
}

/// Receipts that were kept one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// A later one has the greater.
    pub number: u64,
    /// Time of the first receipt in it.
    pub begun: Timestamp,
    /// The room that it takes.
    pub bytes: u64,
}

impl ReceiptBounds {
    /// Whether a receipt of this time begins a new segment, when the present one is `segment`.
    #[must_use]
    pub fn is_full(&self, segment: &Segment, now: Timestamp) -> bool {
        let age_ms = now.as_ms().saturating_sub(segment.begun.as_ms());
        let part_bytes = (self.max_bytes / SEGMENTS_OF_A_BOUND).max(SEGMENT_MIN_BYTES);
        age_ms >= (self.keep_ms / SEGMENTS_OF_A_BOUND).max(1) || segment.bytes >= part_bytes
    }

    /// How many of the segments, oldest first, are forgotten: those that ended before a time, and the oldest while all together
    /// take too much room. The last one is still written: `last` is the time of its latest receipt.
    #[must_use]
    pub fn forgotten(&self, segments: &[Segment], last: Timestamp, before: Timestamp) -> usize {
        let ends = segments.iter().skip(1).map(|next| next.begun).chain([last]);
        let old = ends.take_while(|end| *end < before).count().min(segments.len());
        let mut bytes: u64 = segments.iter().skip(old).map(|segment| segment.bytes).fold(0, u64::saturating_add);
        let mut count = old;
        // The one that is written stays: it is a small part of the bound.
        while bytes > self.max_bytes && count + 1 < segments.len() {
            bytes -= segments[count].bytes;
            count += 1;
        }
        count
    }
}

/// What is not kept any more for want of room. Orders, the ledger and records are kept as long as the disk takes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shed {
    /// All is kept.
    #[default]
    Nothing,
    /// Receipts of rankings are not.
    Receipts,
    /// Neither are findings of searches and calls.
    ReceiptsAndFindings,
}

/// Below how much free room what is not kept any more, bytes. 0 never is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskThresholds {
    /// Receipts.
    pub receipts: u64,
    /// Findings as well; no more than `receipts`.
    pub findings: u64,
}

impl DiskThresholds {
    /// What is not kept now that so many bytes are free, when `shed` was not kept until now. What was given up is taken up again
    /// only when a quarter more than its threshold is free, so that nothing goes to and fro at the threshold.
    #[must_use]
    pub fn judge(&self, shed: Shed, free: u64) -> Shed {
        let gives_up = |threshold: u64, has_given_up: bool| {
            let end = if has_given_up { threshold.saturating_add(threshold / RECOVERY_PART) } else { threshold };
            free < end
        };
        if gives_up(self.findings, shed >= Shed::ReceiptsAndFindings) {
            Shed::ReceiptsAndFindings
        } else if gives_up(self.receipts, shed >= Shed::Receipts) {
            Shed::Receipts
        } else {
            Shed::Nothing
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;

    fn segment(number: u64, begun_ms: u64, mib: u64) -> Segment {
        Segment { number, begun: Timestamp::from_ms(begun_ms), bytes: mib * MIB }
    }

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[test]
    fn a_segment_ends_by_age_or_by_size() {
        let bounds = ReceiptBounds { keep_ms: 1_600, max_bytes: 160 * MIB };
        assert!(!bounds.is_full(&segment(1, 1_000, 9), at(1_099)));
        assert!(bounds.is_full(&segment(1, 1_000, 0), at(1_100)));
        assert!(bounds.is_full(&segment(1, 1_000, 10), at(1_000)));
        assert!(!bounds.is_full(&segment(1, 1_000, 9), at(0)), "a clock that went back ends nothing");
        let small = ReceiptBounds { keep_ms: 1_600, max_bytes: 1 };
        assert!(!small.is_full(&segment(1, 1_000, 0), at(1_000)), "an empty one is not full, however small the bound");
    }

    #[test]
    fn the_bound_that_is_reached_first_counts() {
        let segments = [segment(1, 100, 10), segment(2, 200, 10), segment(3, 300, 10)];
        let forgotten = |max_mib: u64, before: u64| {
            ReceiptBounds { keep_ms: 1, max_bytes: max_mib * MIB }.forgotten(&segments, at(350), at(before))
        };
        assert_eq!(forgotten(100, 200), 0, "the first may hold one of that time");
        assert_eq!(forgotten(100, 201), 1);
        assert_eq!(forgotten(100, 350), 2);
        assert_eq!(forgotten(100, 351), 3, "all of it is old, the last as well");
        assert_eq!((forgotten(30, 0), forgotten(29, 0), forgotten(15, 0)), (0, 1, 2));
        assert_eq!(forgotten(0, 0), 2, "the one that is written stays, whatever its size");
        assert_eq!(forgotten(15, 201), 2, "what age has taken counts no more");
        assert_eq!(ReceiptBounds { keep_ms: 1, max_bytes: 0 }.forgotten(&[], at(0), at(9)), 0);
    }

    #[test]
    fn what_is_shed_comes_back_later_than_it_went() {
        let thresholds = DiskThresholds { receipts: 1_000, findings: 400 };
        let follow = |free: &[u64]| {
            let step = |shed: &mut Shed, free: &u64| {
                *shed = thresholds.judge(*shed, *free);
                Some(*shed)
            };
            free.iter().scan(Shed::Nothing, step).collect::<Vec<_>>()
        };
        use Shed::{Nothing, Receipts, ReceiptsAndFindings};
        assert_eq!(
            follow(&[1_000, 999, 1_000, 1_249, 1_250, 1_000]),
            [Nothing, Receipts, Receipts, Receipts, Nothing, Nothing]
        );
        assert_eq!(
            follow(&[399, 499, 500, 1_100, 1_250]),
            [ReceiptsAndFindings, ReceiptsAndFindings, Receipts, Receipts, Nothing]
        );
        assert_eq!(DiskThresholds { receipts: 0, findings: 0 }.judge(Shed::Nothing, 0), Nothing, "switched off");
    }
}
