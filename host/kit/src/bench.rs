//! `plugin bench`: what each entry point of a contract costs, on the calls of its own examples.
//!
//! One call after the other, in a fresh instance each, as a gateway makes them; the gateway makes several at a time. Times are
//! measured on the engine that a gateway has, and differ from machine to machine. Fuel is counted afterwards, on an engine that is
//! there for that alone, and is the same everywhere.

use std::time::{Duration, Instant};

use intent_gateway_describe::text::Page;
use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::faults::Input;
use intent_gateway_domain::ports::Contract as _;
use intent_gateway_sandbox::{Engine, EngineError, LoadError, LoadedContract};
use serde::Serialize;

use crate::subject::Subject;
use crate::{call, fuzz};

/// Calls of an entry point that are timed at most; more would only fill memory.
const SAMPLES_MAX: usize = 1_000_000;
/// Calls before the timing starts, which fill caches.
const WARM_UP_CALLS: usize = 10;
/// Microseconds of a second.
const MICROS: f64 = 1_000_000.0;

/// The bench could not be run.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The component is not a contract.
    #[error("the component is no contract")]
    Load(#[from] LoadError),
    /// The sandbox that counts fuel did not start.
    #[error("the sandbox that counts fuel did not start")]
    Engine(#[from] EngineError),
    /// A call failed.
    #[error("`{entry}` failed on the contract's own example")]
    Fault {
        /// The entry point.
        entry: String,
        /// How.
        #[source]
        cause: ContractFault,
    },
}

/// What one entry point costs. Times are in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The function, and the tool where it has one; `instantiate` for an instance that is never called.
    pub entry: String,
    /// Calls that were timed.
    pub calls: usize,
    /// Calls a second, one after the other.
    pub per_second: f64,
    pub(crate) mean_us: f64,
    /// Median.
    pub p50_us: f64,
    /// 99th percentile.
    pub p99_us: f64,
    /// Fuel of a call, the mean of the contract's examples: about one unit for each WebAssembly instruction that runs.
    pub fuel: u64,
    /// Mean of the bytes of all documents that go in.
    pub(crate) bytes_in: f64,
    /// Mean of the bytes of all texts that come out.
    pub(crate) bytes_out: f64,
}

/// What a contract costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchReport {
    /// How long it took to compile, milliseconds; once for each version and machine.
    pub(crate) compile_ms: f64,
    /// The entry points.
    pub entries: Vec<Measured>,
}

/// Measures a contract, for about so long in all; then counts fuel, with each example once.
///
/// # Errors
/// [`BenchError`] when the component is not a contract, fails on its own examples, or cannot be compiled once more.
pub fn run(subject: &Subject, lasting: Duration, progress: &dyn Fn(&str)) -> Result<BenchReport, BenchError> {
    let start = Instant::now();
    let contract = subject.load()?;
    let compile_ms = start.elapsed().as_secs_f64() * 1_000.0;
    let corpus = subject.wait(fuzz::corpus(&contract))?;
    let each = lasting / u32::try_from(corpus.len() + 1).unwrap_or(u32::MAX);
    progress("Measuring instantiate");
    let mut entries =
        vec![subject.wait(measure("instantiate", &[], each, async |_| contract.instantiate_only().await.map(|()| 0)))?];
    for (entry, inputs) in &corpus {
        progress(&format!("Measuring {entry}"));
        entries.push(subject.wait(call(&contract, entry, inputs, each))?);
    }
    progress("Counting fuel");
    let (engine, counted) = subject.load_counting()?;
    for measured in &mut entries {
        let inputs = corpus.get(&measured.entry).map_or(&[][..], Vec::as_slice);
        measured.fuel = subject.wait(count(&engine, &counted, &measured.entry, inputs))?;
    }
    Ok(BenchReport { compile_ms, entries })
}

/// Fuel of a call, the mean of the inputs; without any, of an instance that is never called.
async fn count(engine: &Engine, contract: &LoadedContract, entry: &str, inputs: &[Input]) -> Result<u64, BenchError> {
    let failed = |cause| BenchError::Fault { entry: entry.to_owned(), cause };
    if inputs.is_empty() {
        contract.instantiate_only().await.map_err(failed)?;
        return Ok(engine.take_fuel());
    }
    // With the deadline of what serves nobody, for counting takes longer than serving.
    let beside = contract.beside_serving();
    let contract = beside.as_deref().unwrap_or(contract);
    for input in inputs {
        call::run(input, contract).await.map_err(failed)?;
    }
    let calls = u64::try_from(inputs.len()).unwrap_or(u64::MAX);
    Ok((engine.take_fuel() + calls / 2) / calls)
}

async fn call(
    contract: &LoadedContract,
    entry: &str,
    inputs: &[Input],
    lasting: Duration,
) -> Result<Measured, BenchError> {
    measure(entry, inputs, lasting, async |turn| match inputs.get(turn % inputs.len().max(1)) {
        Some(input) => call::run(input, contract).await.map(|answered| answered.bytes()),
        None => Ok(0),
    })
    .await
}

/// Times calls, one after the other; each says how many bytes came out.
async fn measure(
    entry: &str,
    inputs: &[Input],
    lasting: Duration,
    call: impl AsyncFn(usize) -> Result<usize, ContractFault>,
) -> Result<Measured, BenchError> {
    let failed = |cause| BenchError::Fault { entry: entry.to_owned(), cause };
    for turn in 0..WARM_UP_CALLS {
        call(turn).await.map_err(failed)?;
    }
    let (mut samples_us, mut bytes_out) = (Vec::new(), 0_usize);
    let start = Instant::now();
    while samples_us.is_empty() || (start.elapsed() < lasting && samples_us.len() < SAMPLES_MAX) {
        let before = Instant::now();
        bytes_out += call(samples_us.len()).await.map_err(failed)?;
        samples_us.push(before.elapsed().as_secs_f64() * MICROS);
    }
    let mean_us = samples_us.iter().sum::<f64>() / samples_us.len() as f64;
    samples_us.sort_by(f64::total_cmp);
    let bytes: usize = inputs.iter().map(|input| input.call.bytes()).sum();
    Ok(Measured {
        entry: entry.to_owned(),
        calls: samples_us.len(),
        per_second: MICROS / mean_us,
        mean_us,
        p50_us: percentile(&samples_us, 50),
        p99_us: percentile(&samples_us, 99),
        fuel: 0,
        bytes_in: if inputs.is_empty() { 0.0 } else { bytes as f64 / inputs.len() as f64 },
        bytes_out: bytes_out as f64 / samples_us.len() as f64,
    })
}

/// The value that so many percent of the sorted samples do not exceed.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

impl BenchReport {
    /// As a table for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut page = Page::default();
        page.heading(&format!("compiled in {:.0} ms; one call after the other:", self.compile_ms));
        let mut rows = vec![
            ["", "calls", "calls/s", "mean µs", "p50 µs", "p99 µs", "fuel", "bytes in", "bytes out"].map(str::to_owned),
        ];
        rows.extend(self.entries.iter().map(|one| {
            let figure = |figure: f64| format!("{figure:.0}");
            [
                one.entry.clone(),
                one.calls.to_string(),
                figure(one.per_second),
                figure(one.mean_us),
                figure(one.p50_us),
                figure(one.p99_us),
                one.fuel.to_string(),
                figure(one.bytes_in),
                figure(one.bytes_out),
            ]
        }));
        page.rows([false, true, true, true, true, true, true, true, true], &rows);
        page.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn percentiles() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!([percentile(&hundred, 50), percentile(&hundred, 99)], [50.0, 99.0]);
        assert_eq!([percentile(&[7.0], 50), percentile(&[7.0], 99), percentile(&[], 50)], [7.0, 7.0, 0.0]);
    }
}
