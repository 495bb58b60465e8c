//! Names of members: whether two of one object are the same, and which have been judged before.

/// Members of one object that are compared here; the names of larger ones are compared in the exact walk.
const NAMES_COMPARED_MAX: usize = 64;
/// Names that are remembered. An option has fifty or more, and the next one has the same.
const NAMES_KNOWN_MAX: usize = 256;

/// The names of the objects that the pass is in, by fingerprint.
#[derive(Default)]
pub(super) struct OpenNames {
    prints: Vec<u32>,
    /// The names of the innermost object or array.
    own: Own,
    /// Those of the ones around it.
    outer: Vec<Own>,
}

/// The names of one object.
#[derive(Clone, Copy, Default)]
struct Own {
    /// Where they begin.
    start: usize,
    /// A bit of each: one that is not there yet is the name's own.
    bits: u64,
}

impl OpenNames {
    pub(super) fn open(&mut self) {
        self.outer.push(self.own);
        self.own = Own { start: self.prints.len(), bits: 0 };
    }

    pub(super) fn close(&mut self) {
        self.prints.truncate(self.own.start);
        self.own = self.outer.pop().unwrap_or_default();
    }

    /// Takes down a name by its fingerprint. Whether its object may have it already.
    pub(super) fn is_repeated(&mut self, print: u32) -> bool {
        let bit = 1 << (print % u64::BITS);
        if self.own.bits & bit != 0 {
            let own = self.prints.get(self.own.start..).unwrap_or_default();
            if own.len() >= NAMES_COMPARED_MAX || own.contains(&print) {
                return true;
            }
        }
        self.own.bits |= bit;
        self.prints.push(print);
        false
    }
}

/// Names with which nothing is wrong, whatever their values are. At most one for each remainder of fingerprints.
pub(super) struct KnownNames<'t>([&'t [u8]; NAMES_KNOWN_MAX]);

impl<'t> KnownNames<'t> {
    /// Knows the empty name alone.
    pub(super) fn new() -> Self {
        Self([&[]; NAMES_KNOWN_MAX])
    }

    pub(super) fn contains(&mut self, print: u32, name: &[u8]) -> bool {
        *self.place(print) == name
    }

    pub(super) fn add(&mut self, print: u32, name: &'t [u8]) {
        *self.place(print) = name;
    }

    fn place(&mut self, print: u32) -> &mut &'t [u8] {
        &mut self.0[print as usize % NAMES_KNOWN_MAX]
    }
}

/// The same for the same names, and nearly never for others.
pub(super) fn fingerprint(name: &[u8]) -> u32 {
    /// An odd number without a pattern: the golden ratio as a fraction of 2^64.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let ends = match (name.first_chunk(), name.last_chunk()) {
        (Some(first), Some(last)) => word(first) ^ word(last).rotate_left(29),
        _ => name.iter().fold(0, |short, byte| short << 8 | u64::from(*byte)),
    };
    // Beyond two words a third one from the middle tells names apart well enough: to suspect too much costs a walk.
    let middle = name.get(name.len() / 2..).filter(|_| name.len() > 16).and_then(<[u8]>::first_chunk).map_or(0, word);
    let length = u64::try_from(name.len()).unwrap_or(u64::MAX);
    let hash = (ends ^ middle.rotate_left(13) ^ length).wrapping_mul(SPREAD);
    // The upper half, where the bits are mixed best.
    u32::try_from(hash >> 32).unwrap_or_default()
}
