//! The tools that a partner's server lists, judged against the contracts of the intents that it may serve (spec 1,
//! Tool descriptor, `_meta.platform`), and what is pinned of them, so that a later drift is seen.
//!
//! Three things can become of a tool: it is *accepted*; it is *ignored*, because it is not meant for the platform; or
//! it is *skipped*, because it is meant for the platform and breaks a rule. Neither of the latter two is an error by
//! itself. What counts is in the end whether each listed intent has its whole set of tools.
//!
//! Not here: fetching the list (`host/partners`), and what follows from an incomplete set or a drift
//! ([`connection`](crate::connection)). No intent is named here: its tools come from its contract.

mod meta;
mod pinned;
mod schema;
mod tool;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use meta::CALLBACK_MISMATCH;
pub(crate) use meta::PlatformMeta;
pub(crate) use pinned::PinnedTool;
pub use pinned::{ComparedTool, Drift, DriftKind, ToolStanding};
pub(crate) use pinned::{PinnedTools, compare_tools, split_rewordings};

use crate::manifest::Catalogue;
use intent_gateway_domain::contract::{Descriptor, Violation};
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::violations::Violations;

/// Characters of a description (spec 1, Tool descriptor).
pub const DESCRIPTION_MAX_CHARS: usize = 140;
/// Characters of a tool's name, as MCP bounds it.
pub const NAME_MAX_CHARS: usize = 128;
/// Tools of one server that are looked at; the rest are reported as skipped by their number.
pub const TOOLS_MAX: usize = 500;

/// Violations listed for one tool; the rest are counted.
pub(crate) const TOOL_VIOLATIONS_MAX: usize = 20;

/// What the tools of a server are judged against.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The contracts of the intents that the partner lists.
    pub listed: &'a [&'a Descriptor],
    /// All live contracts, to tell an intent that is not listed from one that does not exist.
    pub catalogue: &'a Catalogue,
    /// The partner's completion address.
    pub completion_callback: &'a str,
}

impl<'a> Expected<'a> {
    /// The listed contract of an intent, by its name or by an alias.
    fn contract(&self, intent: &str) -> Option<&'a Descriptor> {
        let intent = self.catalogue.live(intent).map_or(intent, |live| live.intent.as_str());
        self.listed.iter().copied().find(|contract| contract.intent.as_str() == intent)
    }
}

/// What happened to the tools of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolReport {
    /// Tools that will be called.
    pub accepted: Vec<AcceptedTool>,
    /// Tools that break a rule and are not called.
    pub skipped: Vec<SkippedTool>,
    /// Tools that are not meant for the platform, or for an intent that the partner does not list.
    pub ignored: Vec<IgnoredTool>,
    /// Tools that a listed intent lacks; an intent with a whole set is absent.
    pub missing: BTreeMap<IntentId, Vec<String>>,
    /// What is wrong without costing a tool; pointers into the array of tools.
    pub warnings: Vec<Violation>,
}

impl ToolReport {
    /// Whether each listed intent has its whole set of tools.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// What is to be remembered of the accepted tools.
    #[must_use]
    pub fn pin(&self) -> PinnedTools {
        PinnedTools::of(&self.accepted)
    }
}

/// A tool that will be called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AcceptedTool {
    /// Where it is in the list.
    pub position: usize,
    pub name: String,
    /// What it says to the platform.
    pub platform: PlatformMeta,
    /// The parts by which a drift is told.
    pub pinned: PinnedTool,
}

/// A tool that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedTool {
    /// Where it is in the list.
    pub position: usize,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// The intent that it names, where it names one.
    pub intent: Option<String>,
    /// Every rule that it breaks; pointers into the array of tools. Never empty.
    pub violations: Vec<Violation>,
}

/// A tool that is passed over without blame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IgnoredTool {
    /// Where it is in the list.
    pub position: usize,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Why.
    pub reason: IgnoredReason,
    /// Why, in one sentence.
    pub message: String,
}

/// Why a tool is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum IgnoredReason {
    /// It has no `_meta.platform`.
    NoPlatformBlock,
    /// Its intent does not exist.
    UnknownIntent,
    /// Its intent is live, but the partner's manifest does not list it.
    IntentNotListed,
    /// The contract of its intent knows no such tool, so that it is never called.
    NotInContract,
}

/// What one look at one tool came to.
enum ToolVerdict {
    Accepted(Box<AcceptedTool>),
    Skipped(SkippedTool),
    Ignored(IgnoredTool),
}

/// Judges the tools of a server, in the order in which it lists them.
#[must_use]
pub fn judge(tools: &[Value], expected: &Expected<'_>) -> ToolReport {
    let mut report = ToolReport::default();
    let mut warnings = Violations::default();
    let mut named: BTreeSet<String> = BTreeSet::new();
    for (position, value) in tools.iter().enumerate().take(TOOLS_MAX) {
        match tool::judge(position, value, expected, &mut warnings) {
            // A server finds a tool by its name alone, so that a second one of the same name is never called.
            ToolVerdict::Accepted(tool) if named.contains(&tool.name) => report.skipped.push(tool::duplicate(*tool)),
            ToolVerdict::Accepted(tool) => {
                named.insert(tool.name.clone());
                report.accepted.push(*tool);
            }
            ToolVerdict::Skipped(tool) => report.skipped.push(tool),
            ToolVerdict::Ignored(tool) => report.ignored.push(tool),
        }
    }
    if tools.len() > TOOLS_MAX {
        report.skipped.push(tool::beyond(tools.len()));
    }
    report.missing = expected.listed.iter().filter_map(|contract| missing(contract, &report.accepted)).collect();
    report.warnings = warnings.into_vec();
    report
}

/// The tools of a contract that are not among the accepted ones, if any.
fn missing(contract: &Descriptor, accepted: &[AcceptedTool]) -> Option<(IntentId, Vec<String>)> {
    let there = |name: &str| accepted.iter().any(|tool| tool.name == name && tool.pinned.intent == contract.intent);
    let names = contract.tools.iter().map(|tool| &tool.name).filter(|name| !there(name));
    let missing: Vec<String> = names.cloned().collect();
    (!missing.is_empty()).then(|| (contract.intent.clone(), missing))
}

#[cfg(test)]
mod tests;
