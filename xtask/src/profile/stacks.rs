//! The stacks that `perf script` prints, each summed up in the account that it belongs to.

use std::collections::BTreeMap;

use super::accounts::{CONTRACT, KINDS, OTHER, PARTS, UNNAMED};

/// One frame of a stack.
#[derive(Clone, Copy, Debug)]
struct Frame<'a> {
    symbol: &'a str,
    /// The file that the code is from; what the kernel runs is in brackets.
    file: &'a str,
}

impl Frame<'_> {
    fn is_kernel(&self) -> bool {
        self.file.starts_with('[') && self.file != "[vdso]"
    }
}

/// Samples by part of the work and kind of work.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    pub(super) samples: u64,
    /// Samples of each part, by kind.
    pub(super) parts: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    /// Of what is in no account: the function that the project's own code or a library ran, with its samples.
    pub(super) unnamed: BTreeMap<String, u64>,
}

impl Accounts {
    /// Reads what `perf script -F comm,ip,sym,dso` prints: a line with the thread's name, then a line for each frame, the
    /// innermost one first, then an empty line.
    pub(super) fn read(text: &str) -> Self {
        let mut accounts = Self::default();
        for sample in text.split("\n\n") {
            let mut lines = sample.lines().filter(|line| !line.trim().is_empty());
            let Some(thread) = lines.next() else { continue };
            let frames: Vec<Frame<'_>> = lines.filter_map(frame).collect();
            accounts.add(thread.trim(), &frames);
        }
        accounts
    }

    fn add(&mut self, thread: &str, frames: &[Frame<'_>]) {
        self.samples += 1;
        let part = part_of(thread, frames);
        *self.parts.entry(part).or_default().entry(kind_of(frames)).or_default() += 1;
        if part == UNNAMED {
            let own = frames.iter().find(|frame| !frame.is_kernel()).map_or("(kernel alone)", |frame| frame.symbol);
            *self.unnamed.entry(own.to_owned()).or_default() += 1;
        }
    }
}

/// One line: an address, the symbol, and the file in round brackets.
fn frame(line: &str) -> Option<Frame<'_>> {
    let (_, rest) = line.trim().split_once(' ')?;
    let (symbol, file) = rest.rsplit_once(" (")?;
    Some(Frame { symbol, file: file.trim_end_matches(')') })
}

/// The first account that a frame belongs to, from the innermost one on; the thread's, where none does.
fn part_of(thread: &str, frames: &[Frame<'_>]) -> &'static str {
    let of_frame = |frame: &Frame<'_>| {
        if frame.file.contains(CONTRACT.code) {
            return Some(CONTRACT.name);
        }
        PARTS.iter().find(|part| part.marks.iter().any(|mark| frame.symbol.contains(mark))).map(|part| part.name)
    };
    let by_thread = || PARTS.iter().find(|part| part.threads.iter().any(|name| thread.starts_with(name)));
    frames
        .iter()
        .filter(|frame| !frame.is_kernel())
        .find_map(of_frame)
        .or_else(|| by_thread().map(|part| part.name))
        .unwrap_or(UNNAMED)
}

/// What sort of work it is: a call of the kernel, memory, JSON, hashing.
fn kind_of(frames: &[Frame<'_>]) -> &'static str {
    let Some(innermost) = frames.first() else { return OTHER };
    let calls = |frame: &&Frame<'_>| frame.is_kernel();
    let looked_at: Vec<&str> = if innermost.is_kernel() {
        frames.iter().take_while(|frame| calls(frame)).map(|frame| frame.symbol).collect()
    } else {
        // What a library does for its caller counts as the library's: a text grows within JSON's code.
        frames.iter().take(3).map(|frame| frame.symbol).collect()
    };
    let is_kernel = innermost.is_kernel();
    let matching = KINDS.iter().find(|kind| {
        kind.is_kernel == is_kernel
            && kind.marks.iter().any(|mark| looked_at.iter().any(|symbol| symbol.contains(mark)))
    });
    match matching {
        Some(kind) => kind.name,
        None if is_kernel => "kernel, the rest",
        None => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "tokio-rt-worker \n\
        \tffffffff81a tcp_sendmsg+0x10 ([kernel.kallsyms])\n\
        \tffffffff81b __x64_sys_writev+0x10 ([kernel.kallsyms])\n\
        \t55d1 <tokio::net::TcpStream as tokio::io::AsyncWrite>::poll_write+0x1 (/x/intent-gateway)\n\
        \t55d2 intent_gateway_partners::exchange::send+0x8 (/x/intent-gateway)\n\
        \t55d3 intent_gateway_routing::search::run+0x8 (/x/intent-gateway)\n\
        \n\
        main \n\
        \t55d4 nothing_that_is_known (/x/intent-gateway)\n\
        \n\
        tokio-rt-worker \n\
        \t7f01 [unknown] (/x/state/compiled/ab.code)\n\
        \t55d5 intent_gateway_sandbox::call+0x8 (/x/intent-gateway)\n";

    #[test]
    fn a_sample_goes_to_the_innermost_part_that_is_known_and_to_its_kind_of_work() {
        let accounts = Accounts::read(SCRIPT);
        assert_eq!(accounts.samples, 3);
        let of = |part: &str, kind: &str| accounts.parts.get(part).and_then(|kinds| kinds.get(kind)).copied();
        assert_eq!(of("partner client", "kernel: send"), Some(1));
        assert_eq!(of(UNNAMED, OTHER), Some(1));
        assert_eq!(accounts.parts.get(CONTRACT.name).map(|kinds| kinds.values().sum()), Some(1));
        assert_eq!(accounts.unnamed.get("nothing_that_is_known"), Some(&1));
    }
}
