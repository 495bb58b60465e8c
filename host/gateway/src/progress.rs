//! What a start shows while contracts are compiled: one line that counts on a terminal, lines of the log otherwise.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use intent_gateway_sandbox::{Compiling, StartProgress};
use tokio_util::sync::CancellationToken;

/// Characters of the line: what the narrowest usual terminal has, less one.
const LINE_MAX_CHARS: usize = 79;
/// How often the line on a terminal is drawn.
const TICK: Duration = Duration::from_secs(1);

/// Shows which contract is compiled.
pub(crate) struct CompileProgress {
    state: Arc<Mutex<CompileState>>,
    ended: CancellationToken,
}

/// What was compiled so far.
struct CompileState {
    now: Option<Compiling>,
    since: Option<Instant>,
    compiled: usize,
    on_terminal: bool,
}

impl CompileProgress {
    /// Begins to show; nothing is shown before something is compiled.
    pub(crate) fn start() -> Self {
        let on_terminal = io::stderr().is_terminal();
        let state = Arc::new(Mutex::new(CompileState { now: None, since: None, compiled: 0, on_terminal }));
        let ended = CancellationToken::new();
        if on_terminal {
            tokio::spawn(tick(state.clone(), ended.clone()));
        }
        Self { state, ended }
    }

    /// What the sandbox is to tell.
    pub(crate) fn listener(&self) -> StartProgress {
        let state = self.state.clone();
        StartProgress::new(move |compiling| lock(&state).begin(compiling))
    }

    /// The start is over.
    pub(crate) fn end(self) {
        self.ended.cancel();
        lock(&self.state).end();
    }
}

fn lock(state: &Mutex<CompileState>) -> std::sync::MutexGuard<'_, CompileState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn tick(state: Arc<Mutex<CompileState>>, ended: CancellationToken) {
    while ended.run_until_cancelled(tokio::time::sleep(TICK)).await.is_some() {
        lock(&state).draw();
    }
}

impl CompileState {
    fn begin(&mut self, compiling: &Compiling) {
        let Compiling { name, number, of } = compiling;
        self.since.get_or_insert_with(Instant::now);
        self.compiled += 1;
        self.now = Some(compiling.clone());
        if self.on_terminal {
            self.draw();
        } else {
            tracing::info!(contract = name, number, of, "compiling a contract");
        }
    }

    fn elapsed(&self) -> Duration {
        self.since.map(|since| since.elapsed()).unwrap_or_default()
    }

    /// Draws the line anew. The cursor stays at its beginning, so that the next line of the log overwrites it.
    fn draw(&self) {
        if let Some(now) = &self.now {
            write(&format!("\r\u{1b}[K{}\r", line(now, self.elapsed())));
        }
    }

    fn end(&mut self) {
        let Some(_) = self.now.take() else { return };
        if self.on_terminal {
            write("\r\u{1b}[K");
        }
        let elapsed_ms = u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::info!(
            contracts = self.compiled,
            elapsed_ms,
            "contracts were compiled; later starts take the compiled forms"
        );
    }
}

fn line(Compiling { name, number, of }: &Compiling, elapsed: Duration) -> String {
    let text = format!("compiling contract {number} of {of}, {} s: {}", elapsed.as_secs(), name.escape_debug());
    // What is drawn over must stand on one line, and a file's name may be long, or hold anything.
    text.chars().take(LINE_MAX_CHARS).collect()
}

/// A terminal that is gone is no reason to stop.
fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_which_of_how_many_and_for_how_long() {
        let compiling = Compiling { name: "ac.wasm".to_owned(), number: 2, of: 3 };
        assert_eq!(line(&compiling, Duration::from_millis(4_700)), "compiling contract 2 of 3, 4 s: ac.wasm");
        let long = Compiling { name: "\n".repeat(100), number: 2, of: 3 };
        let line = line(&long, Duration::ZERO);
        assert!(line.chars().count() == LINE_MAX_CHARS && !line.contains('\n'), "{line}");
    }
}
