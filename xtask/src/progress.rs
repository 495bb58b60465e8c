//! Long work with its output in a file: on a terminal one line says what is going on and for how long, anywhere else one
//! line says that it began and one that it ended.

use std::fs::{File, OpenOptions};
use std::io::{IsTerminal as _, Read as _, Seek as _, SeekFrom, Write as _, stderr};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// How often the line is drawn.
const TICK: Duration = Duration::from_millis(500);
/// How much of the end of a log is read for the line, bytes.
const TAIL_BYTES: u64 = 4 * 1024;
/// Characters of the line; more would wrap on a narrow terminal.
const LINE_MAX_CHARS: usize = 76;
/// Lines of the log that a failure shows.
const SHOWN_LINES: usize = 40;

/// Runs a command to its end, its output at the end of a log; a failure shows the last of it.
pub(crate) fn run_logged(command: &mut Command, title: &str, log: &Path) -> anyhow::Result<Duration> {
    let output = OpenOptions::new().create(true).append(true).open(log);
    let output = output.with_context(|| format!("cannot write {}", log.display()))?;
    let begun = Instant::now();
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let mut child = command.spawn().with_context(|| format!("{title}: cannot be started"))?;
    let is_terminal = stderr().is_terminal();
    if !is_terminal {
        eprintln!("   {title} ...");
    }
    let status: ExitStatus = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if is_terminal {
            draw(&format!("{title}, {}: {}", show_time(begun.elapsed()), last_line(log)));
        }
        std::thread::park_timeout(TICK);
    };
    if is_terminal {
        draw("");
    }
    if !status.success() {
        bail!("{title} failed ({status}); the end of {}:\n{}", log.display(), last_lines(log));
    }
    eprintln!("   {title}: {}", show_time(begun.elapsed()));
    Ok(begun.elapsed())
}

/// Puts a line in the place of the one before.
fn draw(line: &str) {
    let short: String = line.chars().take(LINE_MAX_CHARS).collect();
    let mut terminal = stderr().lock();
    // Carriage return, then "erase to the end of the line". That a terminal is gone is not a reason to stop.
    let _ = write!(terminal, "\r\x1b[K   {short}");
    if line.is_empty() {
        let _ = write!(terminal, "\r");
    }
    let _ = terminal.flush();
}

/// A span of time as people say it.
pub(crate) fn show_time(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds @ 1..60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

fn last_line(log: &Path) -> String {
    let text = tail(log, TAIL_BYTES).unwrap_or_default();
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

fn last_lines(log: &Path) -> String {
    let text = tail(log, 16 * TAIL_BYTES).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")
}

fn tail(log: &Path, bytes: u64) -> std::io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
    let mut read = Vec::new();
    file.read_to_end(&mut read)?;
    Ok(String::from_utf8_lossy(&read).into_owned())
}
