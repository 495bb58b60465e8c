//! `plugin compare`: what a component would have made of receipts in a file, where no gateway is.
//!
//! The file is what `receipt export` writes: a line that says so, and then a receipt on each line.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use intent_gateway_compare::{
    Baseline, Comparer, ComparisonReport, InvalidBudget, Progress, ReceiptSource, ReceiptsHeading, RunError,
    read_budget, run,
};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_domain::receipt::{MarkedReceipt, Receipt};
use intent_gateway_domain::store::StoreError;
use intent_gateway_sandbox::{LoadError, WorkerThreads};

use crate::subject::Subject;

/// Bytes of a line: a receipt of the largest answers that are taken.
const LINE_MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Receipts that are handed over at once.
const PAGE: usize = 32;
/// Why nothing is compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    #[error("cannot read {}", .path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    #[error("{} holds no receipts, as `receipt export` writes them", .0.display())]
    NoReceipts(PathBuf),
    #[error("line {line} of {} is no receipt", .path.display())]
    NoReceipt {
        path: PathBuf,
        line: u64,
        #[source]
        cause: serde_json::Error,
    },
    #[error("line {line} of {} has more than {LINE_MAX_BYTES} bytes", .path.display())]
    TooLong { path: PathBuf, line: u64 },
    #[error("the receipts are of {receipts}, and {} is a contract of {contract}", .path.display())]
    OtherIntent { receipts: IntentId, contract: IntentId, path: PathBuf },
    #[error("{} is no contract", .path.display())]
    NoContract {
        path: PathBuf,
        #[source]
        cause: Box<LoadError>,
    },
    #[error("the difference budget in the candidate cannot be read")]
    Budget(#[from] InvalidBudget),
    #[error("the comparison came to no end")]
    Run(#[from] RunError),
}

/// Compares a candidate with a baseline, or with what was shown where there is none.
///
/// # Errors
/// [`CompareError`].
pub fn run_on_file(
    candidate: &Subject,
    baseline: Option<&Subject>,
    receipts: &Path,
    progress: &Arc<Progress>,
) -> Result<ComparisonReport, CompareError> {
    let source = Arc::new(FileReceipts::open(receipts)?);
    let load = |subject: &Subject| {
        let failed = |cause| CompareError::NoContract { path: subject.path.clone(), cause: Box::new(cause) };
        let contract = subject.load().map_err(failed)?;
        let intent = contract.descriptor().intent.clone();
        if intent != source.intent {
            let (receipts, path) = (source.intent.clone(), subject.path.clone());
            return Err(CompareError::OtherIntent { receipts, contract: intent, path });
        }
        Ok(Arc::new(contract))
    };
    let budget = read_budget(&candidate.bytes)?;
    let contract = load(candidate)?;
    let baseline = match baseline {
        Some(subject) => Baseline::Version(load(subject)?),
        None => Baseline::Shown,
    };
    let comparer = Arc::new(Comparer::new(contract, baseline, budget, candidate.limits().deadline()));
    let workers = Arc::new(WorkerThreads::on_all_processors());
    let tally = candidate.wait(run(comparer.clone(), source.clone(), workers, progress.clone()))?;
    // Whoever reads is told of an end, and of a failure here.
    match source.lines().failure.take() {
        Some(failure) => Err(failure),
        None => Ok(comparer.report(&tally)),
    }
}

/// Receipts in a file, line by line.
struct FileReceipts {
    path: PathBuf,
    intent: IntentId,
    lines: Mutex<Lines>,
}

struct Lines {
    file: BufReader<File>,
    read: u64,
    failure: Option<CompareError>,
}

impl Lines {
    /// The next line; none after the last.
    fn next(&mut self, path: &Path) -> Result<Option<Vec<u8>>, CompareError> {
        let mut line = Vec::new();
        let read = (&mut self.file).take(LINE_MAX_BYTES + 1).read_until(b'\n', &mut line);
        read.map_err(|cause| CompareError::Unreadable { path: path.to_owned(), cause })?;
        self.read += 1;
        if line.len() as u64 > LINE_MAX_BYTES {
            return Err(CompareError::TooLong { path: path.to_owned(), line: self.read });
        }
        Ok((!line.is_empty()).then_some(line))
    }
}

impl FileReceipts {
    fn open(path: &Path) -> Result<Self, CompareError> {
        let file = File::open(path).map_err(|cause| CompareError::Unreadable { path: path.to_owned(), cause })?;
        let mut lines = Lines { file: BufReader::new(file), read: 0, failure: None };
        let first = lines.next(path)?.unwrap_or_default();
        match ReceiptsHeading::read(&first) {
            Some(intent) => Ok(Self { path: path.to_owned(), intent, lines: Mutex::new(lines) }),
            None => Err(CompareError::NoReceipts(path.to_owned())),
        }
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next lines, with their numbers.
    fn read_lines(&self) -> Result<Vec<(u64, Vec<u8>)>, CompareError> {
        let mut lines = self.lines();
        let mut page = Vec::with_capacity(PAGE);
        while page.len() < PAGE
            && let Some(line) = lines.next(&self.path)?
        {
            page.push((lines.read, line));
        }
        Ok(page)
    }

    fn read_page(&self) -> Result<Vec<MarkedReceipt>, CompareError> {
        // By each thread for itself: this takes longer than to read the lines.
        let parse = |(line, json): (u64, Vec<u8>)| {
            let path = self.path.clone();
            let receipt: Receipt =
                serde_json::from_slice(&json).map_err(|cause| CompareError::NoReceipt { path, line, cause })?;
            Ok(MarkedReceipt { receipt, user: None })
        };
        self.read_lines()?.into_iter().map(parse).collect()
    }
}

impl ReceiptSource for FileReceipts {
    fn next(&self) -> BoxFuture<'_, Result<Option<Vec<MarkedReceipt>>, StoreError>> {
        let page = self.read_page().unwrap_or_else(|failure| {
            self.lines().failure.get_or_insert(failure);
            Vec::new()
        });
        Box::pin(std::future::ready(Ok(Some(page).filter(|page| !page.is_empty()))))
    }
}
