//! `plugin compare`: what a component would have made of receipts in a file.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use intent_gateway_compare::Progress;
use intent_gateway_kit::compare::{CompareError, run_on_file};
use intent_gateway_kit::subject::Subject;

use super::arguments::CompareArgs;
use crate::contract::compare::{comparison_text, end};
use crate::outcome::{CommandError, Verdict, fail, print_json, usage};
use crate::terminal::group;
use crate::{compiler, print};

/// How often it is told how far it is.
const TOLD_EVERY: Duration = Duration::from_millis(500);

pub(super) fn run(arguments: &CompareArgs) -> Result<Verdict, CommandError> {
    let CompareArgs { candidate, receipts, against, html, json } = arguments;
    let candidate = Subject::open(candidate, compiler()).map_err(usage)?;
    let baseline = against.as_deref().map(|path| Subject::open(path, compiler())).transpose().map_err(usage)?;
    let progress = Arc::new(Progress::default());
    let report = with_progress(&progress, || run_on_file(&candidate, baseline.as_ref(), receipts, &progress));
    let report = report.map_err(|error| match error {
        CompareError::NoContract { .. } | CompareError::Run(_) => fail(error),
        other => usage(other),
    })?;
    if *json {
        print_json(&report)?;
    } else {
        print(&comparison_text(&report));
    }
    end(&report, html.as_deref())
}

/// Does something while a terminal shows how far it is.
fn with_progress<T>(progress: &Arc<Progress>, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    std::thread::scope(|scope| {
        let (done, ended) = mpsc::channel::<()>();
        scope.spawn(move || {
            let number = |count: u64| group(i64::try_from(count).unwrap_or(i64::MAX));
            while ended.recv_timeout(TOLD_EVERY) == Err(RecvTimeoutError::Timeout) {
                let (receipts, different) = (number(progress.receipts()), number(progress.different()));
                let text = format!("\r\x1b[K{receipts} receipts compared, {different} differ");
                // Nobody is worse off without it.
                let _ = std::io::stderr().write_all(text.as_bytes());
            }
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
        });
        let result = work();
        drop(done);
        result
    })
}
