//! `contract compare`: what a version would have made of what was ranked before.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use intent_gateway_api::contracts::ComparisonProgress;
use intent_gateway_compare::ComparisonReport;
use intent_gateway_describe::comparison;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::limits::CONTRACT_MAX_BYTES;
use serde_json::value::RawValue;

use super::arguments::CompareArgs;
use super::select::ContractName;
use super::{CONTRACTS, WASM, ask_versions};
use crate::ask::tell;
use crate::client::{Gateway, GatewayError};
use crate::outcome::{CommandError, Verdict, fail, usage};
use crate::terminal::{group, harmless};
use crate::values::ms_before_now;
use crate::{complain, files};

pub(super) fn run(arguments: &CompareArgs) -> Result<Verdict, CommandError> {
    let CompareArgs { candidate, since, against, limit, html, ask } = arguments;
    let gateway = ask.open()?;
    let since_ms = ms_before_now(*since);
    let mut path = format!("{CONTRACTS}/compare?since_ms={since_ms}&limit={limit}");
    match against.as_str() {
        "live" | "shown" => path.push_str(&format!("&against={against}")),
        named => path.push_str(&format!("&against={}", find(&gateway, named)?)),
    }
    let component = match read_component(candidate)? {
        Some(component) => Some(component),
        None => {
            let digest = find(&gateway, &candidate.to_string_lossy())?;
            path.push_str(&format!("&digest={digest}"));
            None
        }
    };
    let mut shown = Shown::default();
    let file = component.as_deref().map(|component| (WASM, component));
    let report = gateway.hear(&path, file, |event, data| match event {
        "progress" => {
            // A word that cannot be read is not worth an end.
            if let Ok(progress) = gateway.parse_event(&path, data) {
                shown.show(&progress);
            }
            None
        }
        "report" => Some(gateway.parse_event::<Box<RawValue>>(&path, data)),
        "error" | "end" => Some(Err(GatewayError::refused_in_stream(data))),
        _ => None,
    });
    shown.end();
    let report = tell(report, ask.json, comparison_text)?;
    end(&report, html.as_deref())
}

/// Writes the page of a comparison where one is wanted, and says what comes of it.
pub(crate) fn end(report: &ComparisonReport, html: Option<&Path>) -> Result<Verdict, CommandError> {
    if let Some(file) = html {
        let page = comparison::html(report).map_err(fail)?;
        std::fs::write(file, page).with_context(|| format!("cannot write {}", file.display())).map_err(usage)?;
        complain(&format!("the page is in {}", file.display()));
    }
    Ok(Verdict::of(report.is_clean()))
}

/// Texts in it come from partners and contracts.
pub(crate) fn comparison_text(report: &ComparisonReport) -> String {
    comparison::text(report).lines().map(harmless).collect::<Vec<_>>().join("\n")
}

/// The component, where the name is that of a file.
fn read_component(candidate: &Path) -> Result<Option<Vec<u8>>, CommandError> {
    let is_file = candidate.as_os_str() == "-" || candidate.is_file();
    is_file.then(|| files::read_bounded(candidate, CONTRACT_MAX_BYTES).map_err(usage)).transpose()
}

fn find(gateway: &Gateway, name: &str) -> Result<Digest, CommandError> {
    let contract: ContractName =
        name.parse().with_context(|| format!("`{name}` is neither a file nor a contract")).map_err(usage)?;
    match contract.digest() {
        Some(digest) => Ok(digest),
        None => Ok(contract.find(&ask_versions(gateway)?).map_err(usage)?.digest),
    }
}

/// How far it is, on one line of a terminal; anywhere else it would only fill a file.
#[derive(Default)]
struct Shown {
    is_shown: bool,
}

impl Shown {
    fn show(&mut self, progress: &ComparisonProgress) {
        if !std::io::stderr().is_terminal() {
            return;
        }
        self.is_shown = true;
        let number = |count: u64| group(i64::try_from(count).unwrap_or(i64::MAX));
        let ComparisonProgress { receipts, different, .. } = progress;
        let text = format!("\r\x1b[K{} receipts compared, {} differ", number(*receipts), number(*different));
        // Nobody is worse off without it.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }

    fn end(&self) {
        if self.is_shown {
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
    }
}
