//! What a process holds of the machine, as the kernel tells it: memory, threads, files, connections.
//!
//! Tokio's tasks cannot be counted from outside. A task that is left behind shows by what it holds: memory in any case, and
//! a connection or a file where it waits for one.

use std::collections::BTreeSet;
use std::{fmt, io};

/// What a process holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Resident memory, bytes.
    pub memory: u64,
    pub threads: usize,
    /// Open file descriptors, sockets among them.
    pub files: usize,
    /// Established TCP connections to the partners' ports.
    pub connections: usize,
}

impl fmt::Display for Footprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { memory, threads, files, connections } = self;
        let memory = memory / (1 << 20);
        write!(f, "{memory} MiB, {threads} threads, {files} files, {connections} connections to partners")
    }
}

/// By how much a process may hold more than before.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Bytes.
    pub memory: u64,
    pub threads: usize,
    pub files: usize,
}

impl Footprint {
    /// Of a process; `ports` are those of the partners on this machine.
    ///
    /// # Errors
    /// Where the process is gone, or the kernel does not tell.
    pub fn of(process: u32, ports: &BTreeSet<u16>) -> io::Result<Self> {
        let (sockets, files) = descriptors(process)?;
        Ok(Self {
            memory: status(process, "VmRSS:")? * 1024,
            threads: usize::try_from(status(process, "Threads:")?).map_err(io::Error::other)?,
            files,
            connections: established(process, &sockets, ports)?,
        })
    }

    /// Everything in which this is more than `before` allows. Connections to partners must all be gone.
    pub fn growth(&self, before: &Self, allowance: Allowance) -> Vec<String> {
        let mut growth = Vec::new();
        if self.memory > before.memory + allowance.memory {
            growth.push(format!("memory grew: {before} before, {self} now"));
        }
        if self.threads > before.threads + allowance.threads {
            growth.push(format!("threads grew: {before} before, {self} now"));
        }
        if self.files > before.files + allowance.files {
            growth.push(format!("files grew: {before} before, {self} now"));
        }
        if self.connections > 0 {
            growth.push(format!("connections were left: {self}"));
        }
        growth
    }
}

/// A number of `/proc/PROCESS/status`.
fn status(process: u32, name: &str) -> io::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    // A process that has ended and was not waited for has no memory to tell of.
    number.ok_or_else(|| io::Error::other(format!("the kernel tells no {name} of process {process}")))
}

/// Identifiers of a process's sockets, and the number of all its descriptors.
fn descriptors(process: u32) -> io::Result<(BTreeSet<String>, usize)> {
    let mut sockets = BTreeSet::new();
    let mut files = 0;
    for entry in std::fs::read_dir(format!("/proc/{process}/fd"))?.flatten() {
        files += 1;
        // One that was closed meanwhile leads nowhere.
        let Ok(target) = std::fs::read_link(entry.path()) else { continue };
        let socket = target.to_str().and_then(|target| target.strip_prefix("socket:[")?.strip_suffix(']'));
        sockets.extend(socket.map(str::to_owned));
    }
    Ok((sockets, files))
}

/// How many of these sockets are established TCP connections to one of the ports.
fn established(process: u32, sockets: &BTreeSet<String>, ports: &BTreeSet<u16>) -> io::Result<usize> {
    /// `st` of an established connection.
    const ESTABLISHED: &str = "01";
    let table = std::fs::read_to_string(format!("/proc/{process}/net/tcp"))?;
    let is_ours = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        // Of each socket: number, local and remote address, state, ..., and in the tenth field its identifier.
        let [_, _, remote, state, _, _, _, _, _, socket, ..] = fields.as_slice() else { return false };
        let port = remote.rsplit_once(':').and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
        *state == ESTABLISHED && port.is_some_and(|port| ports.contains(&port)) && sockets.contains(*socket)
    };
    Ok(table.lines().skip(1).filter(|line| is_ours(line)).count())
}
