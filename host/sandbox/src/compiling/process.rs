//! The parent's side of compiling: starts a process for one component, hands it over, takes the code, and ends the process
//! whatever becomes of it.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use bytes::Bytes;
use rustix::process::Signal;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use super::CompiledCode;
use super::child::{ANSWER, CompileLimits, EXIT_OUT_OF_MEMORY, EXIT_REFUSED};
use crate::config::SandboxConfig;
use crate::failure::{CompileBound, LoadError};

/// This very program, also when its file has been replaced since it was started.
const THIS_PROGRAM: &str = "/proc/self/exe";
/// What compiled code may have whatever the component's size, bytes: room for the image of its memory.
const CODE_BASE_BYTES: usize = 32 * 1024 * 1024;
/// How many times as large as its component compiled code may be besides. Usual are three to five.
const CODE_PER_COMPONENT: usize = 16;
/// Largest compiled code of all, bytes.
const CODE_MAX_BYTES: usize = 512 * 1024 * 1024;
/// What is kept of what the process says of a failure, bytes.
const REASON_MAX_BYTES: u64 = 4_096;
/// With which the standard library ends a process whose main thread has panicked.
const PANICKED: u8 = 101;
/// How the standard library begins what it says when memory cannot be had; it ends the process then.
const ALLOCATION_FAILED: &str = "memory allocation of ";

/// A program that compiles, with its first argument.
#[derive(Clone, Debug)]
pub(super) struct Program {
    path: OsString,
    command: OsString,
}

/// What became of the process.
struct Ended {
    status: ExitStatus,
    code: Vec<u8>,
    reason: String,
}

impl Program {
    pub(super) fn this(command: &str) -> Self {
        Self { path: THIS_PROGRAM.into(), command: command.into() }
    }

    /// Compiles a component. Dropped, it ends the process.
    pub(super) async fn compile(&self, config: &SandboxConfig, bytes: Bytes) -> Result<CompiledCode, LoadError> {
        let limits = CompileLimits {
            memory_max_bytes: u64::try_from(config.compile_memory_max_bytes).unwrap_or(u64::MAX),
            cpu_max_seconds: config.compile_timeout_ms.div_ceil(1_000),
        };
        let code_max = code_max_bytes(bytes.len());
        let mut child = self.start(limits).map_err(|error| LoadError::Broken(error.into()))?;
        let timeout = Duration::from_millis(config.compile_timeout_ms);
        let ended = tokio::time::timeout(timeout, exchange(&mut child, &bytes, code_max)).await;
        let ended = ended.unwrap_or(Err(LoadError::CompileTooCostly(CompileBound::Time(config.compile_timeout_ms))));
        if ended.is_err() {
            // Its memory is free before the next is started. It is gone already where this fails.
            let _ = child.kill().await;
        }
        judge(ended?, config)
    }

    fn start(&self, limits: CompileLimits) -> std::io::Result<Child> {
        Command::new(&self.path)
            .arg(&self.command)
            .args([limits.memory_max_bytes.to_string(), limits.cpu_max_seconds.to_string()])
            // Nothing of the gateway's: no secret out of its environment, no folder.
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }
}

/// Largest compiled code of a component of this size, bytes.
fn code_max_bytes(component_bytes: usize) -> usize {
    component_bytes.saturating_mul(CODE_PER_COMPONENT).saturating_add(CODE_BASE_BYTES).min(CODE_MAX_BYTES)
}

/// Hands the component over and takes what comes back, until the process has ended.
async fn exchange(child: &mut Child, component: &[u8], code_max: usize) -> Result<Ended, LoadError> {
    let broken = |error: std::io::Error| LoadError::Broken(error.into());
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        return Err(LoadError::Broken("the compiling process has no pipes".into()));
    };
    let feed = async {
        // A process that ends before it has read everything says itself why.
        let _ = stdin.write_all(component).await;
        drop(stdin);
        Ok(())
    };
    let ((), code, reason) =
        tokio::try_join!(feed, read_code(stdout, code_max), async { read_reason(stderr).await.map_err(broken) })?;
    Ok(Ended { status: child.wait().await.map_err(broken)?, code, reason })
}

async fn read_code(stdout: impl AsyncRead + Unpin, max: usize) -> Result<Vec<u8>, LoadError> {
    let mut code = Vec::new();
    let most = max + ANSWER.len();
    let mut answer = stdout.take(u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1));
    answer.read_to_end(&mut code).await.map_err(|error| LoadError::Broken(error.into()))?;
    if code.len() > most {
        return Err(LoadError::CompileTooCostly(CompileBound::Output(max)));
    }
    Ok(code)
}

/// The beginning of what the process says; the rest is read and thrown away, so that it never waits for us.
async fn read_reason(mut stderr: impl AsyncRead + Unpin) -> std::io::Result<String> {
    let mut reason = Vec::new();
    (&mut stderr).take(REASON_MAX_BYTES).read_to_end(&mut reason).await?;
    tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await?;
    Ok(String::from_utf8_lossy(&reason).into_owned())
}

/// What the end of the process says of the component.
fn judge(ended: Ended, config: &SandboxConfig) -> Result<CompiledCode, LoadError> {
    let Ended { status, code, reason } = ended;
    let out_of_memory = LoadError::CompileTooCostly(CompileBound::Memory(config.compile_memory_max_bytes));
    if status.success() {
        let code = Bytes::from(code);
        if !code.starts_with(ANSWER) {
            return Err(LoadError::Broken("the program that was started is no compiler of contracts".into()));
        }
        return Ok(CompiledCode::of_own_compiler(code.slice(ANSWER.len()..)));
    }
    if let Some(signal) = status.signal() {
        return Err(match Signal::from_named_raw(signal) {
            Some(Signal::XCPU) => LoadError::CompileTooCostly(CompileBound::Time(config.compile_timeout_ms)),
            // The kernel ends the largest process where the machine has no memory left.
            Some(Signal::KILL) => out_of_memory,
            Some(Signal::ABORT) if reason.contains(ALLOCATION_FAILED) => out_of_memory,
            // A defect of the compiler, brought out by this component: it is not the gateway's to fail for it.
            _ => LoadError::Compile(format!("the compiler ended by signal {signal}: {}", first_line(&reason)).into()),
        });
    }
    Err(match status.code().and_then(|code| u8::try_from(code).ok()) {
        Some(EXIT_OUT_OF_MEMORY) => out_of_memory,
        Some(EXIT_REFUSED) => LoadError::Compile(reason.into()),
        Some(PANICKED) => LoadError::Compile(format!("the compiler panicked: {}", reason.trim_end()).into()),
        _ => LoadError::Broken(format!("the compiling process failed ({status}): {}", first_line(&reason)).into()),
    })
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
