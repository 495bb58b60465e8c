//! The process that compiles one component: what is handed to it on standard input, under limits that it sets itself
//! before it reads a byte. It has no secret, no configuration and no open file of the gateway, and knows nothing of what
//! the component is for.

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;

use intent_gateway_domain::limits::CONTRACT_MAX_BYTES;
use rustix::process::{Resource, Rlimit};

use crate::engine;

/// What stands before the code on standard output: that it was this command that wrote it.
pub(super) const ANSWER: &[u8] = b"compiled-contract\n";
/// The component was not compiled; standard error has the reason.
pub(super) const EXIT_REFUSED: u8 = 3;
/// It would have taken more memory than there may be.
pub(super) const EXIT_OUT_OF_MEMORY: u8 = 4;
/// The process could not do its work, whatever the component.
const EXIT_BROKEN: u8 = 5;
/// Open files at most: the three pipes, and what the C library looks at for a moment.
const OPEN_FILES_MAX: u64 = 16;

/// What one compilation may take of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileLimits {
    /// Address space, bytes.
    pub memory_max_bytes: u64,
    /// Time of a processor, seconds. The parent waits as long by the clock; this is for the case that it is gone.
    pub cpu_max_seconds: u64,
}

/// Compiles the component on standard input to standard output. To be called by the command that
/// [`Compiler::of_this_program`](crate::Compiler::of_this_program) starts, before it does anything else.
pub fn compile_contract(limits: CompileLimits) -> ExitCode {
    let component = match limits.apply().and_then(|()| read()) {
        Ok(component) => component,
        Err(error) => return end(EXIT_BROKEN, &error.to_string()),
    };
    let compiled = engine::for_compiling().and_then(|engine| engine.precompile_component(&component));
    match compiled {
        // A parent that has heard enough, or is gone, has closed its end.
        Ok(code) => match answer(&code) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => end(EXIT_BROKEN, &error.to_string()),
        },
        Err(error) if is_out_of_memory(&error) => end(EXIT_OUT_OF_MEMORY, ""),
        Err(error) => end(EXIT_REFUSED, &format!("{error:#}")),
    }
}

impl CompileLimits {
    fn apply(self) -> io::Result<()> {
        let at_most = |resource, soft, hard| {
            rustix::process::setrlimit(resource, Rlimit { current: Some(soft), maximum: Some(hard) })
        };
        at_most(Resource::Core, 0, 0)?;
        at_most(Resource::Fsize, 0, 0)?;
        at_most(Resource::Nofile, OPEN_FILES_MAX, OPEN_FILES_MAX)?;
        at_most(Resource::As, self.memory_max_bytes, self.memory_max_bytes)?;
        // The first limit is a signal that says why, the second the end.
        at_most(Resource::Cpu, self.cpu_max_seconds, self.cpu_max_seconds.saturating_add(1))?;
        Ok(())
    }
}

fn answer(code: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(ANSWER)?;
    stdout.write_all(code)?;
    stdout.flush()
}

fn read() -> io::Result<Vec<u8>> {
    let most = u64::try_from(CONTRACT_MAX_BYTES).unwrap_or(u64::MAX);
    let mut component = Vec::new();
    io::stdin().take(most).read_to_end(&mut component)?;
    Ok(component)
}

fn is_out_of_memory(error: &wasmtime::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::OutOfMemory)
            || cause.downcast_ref::<rustix::io::Errno>() == Some(&rustix::io::Errno::NOMEM)
    })
}

fn end(code: u8, reason: &str) -> ExitCode {
    // A parent that does not listen any more has decided already.
    let _ = io::stderr().write_all(reason.as_bytes());
    ExitCode::from(code)
}
