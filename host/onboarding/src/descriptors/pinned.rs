//! What is remembered of the tools that were tested, and how a later list differs from it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{AcceptedTool, ToolReport};
use intent_gateway_domain::canonical::canonical_json;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;

/// Members of a descriptor that describe, to people and to models.
const DESCRIBING: [&str; 2] = ["description", "title"];
/// Members of a descriptor that say what goes in and what comes out.
const SCHEMAS: [&str; 2] = ["inputSchema", "outputSchema"];

/// One tool as it was when it was pinned. The order of members does not matter to any of the digests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedTool {
    /// The intent that it serves.
    pub intent: IntentId,
    /// Its name.
    pub tool: String,
    /// Digest of the whole descriptor.
    pub digest: Digest,
    /// Digest of its input and output schemas.
    pub(crate) schema_digest: Digest,
    /// Digest of its description and title.
    pub(crate) description_digest: Digest,
    /// Digest of everything else; absent where an earlier release has pinned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    terms_digest: Option<Digest>,
    /// The input schema, so that a person can see what changed.
    pub input_schema: Value,
}

impl PinnedTool {
    pub(super) fn of(intent: IntentId, name: &str, tool: &Map<String, Value>) -> Self {
        let digest = |value: Value| Digest::of(canonical_json(&value).as_bytes());
        let part = |members: [&str; 2]| {
            let there = members.into_iter().filter_map(|member| Some((member.to_owned(), tool.get(member)?.clone())));
            digest(Value::Object(there.collect()))
        };
        let is_term = |name: &&String| !SCHEMAS.contains(&name.as_str()) && !DESCRIBING.contains(&name.as_str());
        let terms = tool.iter().filter(|(name, _)| is_term(name)).map(|(name, value)| (name.clone(), value.clone()));
        Self {
            intent,
            tool: name.to_owned(),
            terms_digest: Some(digest(Value::Object(terms.collect()))),
            digest: digest(Value::Object(tool.clone())),
            schema_digest: part(SCHEMAS),
            description_digest: part(DESCRIBING),
            input_schema: tool.get("inputSchema").cloned().unwrap_or_default(),
        }
    }
}

/// The tools of a partner as they were tested, sorted by intent and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PinnedTools {
    tools: Vec<PinnedTool>,
}

impl PinnedTools {
    pub(super) fn of(accepted: &[AcceptedTool]) -> Self {
        let mut pinned = Self { tools: accepted.iter().map(|tool| tool.pinned.clone()).collect() };
        pinned.sort();
        pinned
    }

    #[must_use]
    pub fn tools(&self) -> &[PinnedTool] {
        &self.tools
    }

    /// Whether any tool of an intent is remembered.
    #[must_use]
    pub fn holds(&self, intent: &IntentId) -> bool {
        self.tools.iter().any(|tool| tool.intent == *intent)
    }

    /// The intents whose tools are remembered; one may come several times.
    pub fn intents(&self) -> impl Iterator<Item = &IntentId> {
        self.tools.iter().map(|tool| &tool.intent)
    }

    /// Remembers the tools of some intents as they are in `fresh`, in the place of what was remembered of them.
    pub fn accept(&mut self, fresh: &Self, intents: &BTreeSet<IntentId>) {
        self.tools.retain(|tool| !intents.contains(&tool.intent));
        self.tools.extend(fresh.tools.iter().filter(|tool| intents.contains(&tool.intent)).cloned());
        self.sort();
    }

    /// Remembers tools that have not changed in today's form, which may say more of them than that of an earlier release.
    pub(crate) fn refresh(&mut self, fresh: &Self) {
        let now = fresh.by_name();
        for tool in &mut self.tools {
            if let Some(same) = now.get(&(&tool.intent, tool.tool.as_str())).filter(|now| now.digest == tool.digest) {
                tool.terms_digest = same.terms_digest;
            }
        }
    }

    fn sort(&mut self) {
        self.tools.sort_by(|left, right| (&left.intent, &left.tool).cmp(&(&right.intent, &right.tool)));
    }

    fn by_name(&self) -> BTreeMap<(&IntentId, &str), &PinnedTool> {
        self.tools.iter().map(|tool| ((&tool.intent, tool.tool.as_str()), tool)).collect()
    }

    /// How `fresh` differs, by intent and name. Empty where it does not.
    #[must_use]
    pub fn drift(&self, fresh: &Self) -> Vec<Drift> {
        let (before, now) = (self.by_name(), fresh.by_name());
        let names: BTreeSet<_> = before.keys().chain(now.keys()).copied().collect();
        let mut drift = Vec::new();
        for name in names {
            let (pinned, fresh) = (before.get(&name), now.get(&name));
            let kinds = match (pinned, fresh) {
                (Some(pinned), Some(fresh)) => changes(pinned, fresh),
                (None, _) => vec![DriftKind::Added],
                (Some(_), None) => vec![DriftKind::Removed],
            };
            let (intent, tool) = name;
            let now = fresh.map(|tool| tool.digest);
            let different = |kind| Drift { intent: intent.clone(), tool: tool.to_owned(), kind, now };
            drift.extend(kinds.into_iter().map(different));
        }
        drift
    }
}

/// A tool as it was accepted, beside the same as a probe found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedTool<'a> {
    /// The intent that it serves.
    pub intent: &'a IntentId,
    /// Its name.
    pub tool: &'a str,
    /// Digest of the descriptor that was accepted; absent where none was.
    pub accepted: Option<Digest>,
    /// Digest of the one that was found; absent where none was, or nobody could look.
    pub found: Option<Digest>,
    /// How it stands.
    pub standing: ToolStanding,
    /// What is another; empty unless it has changed.
    pub changes: Vec<DriftKind>,
}

/// How a tool stands against what was accepted of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolStanding {
    /// As it was accepted.
    AsAccepted,
    /// Something of it is another.
    Changed,
    /// It was found, and none was accepted.
    New,
    /// It was accepted, and is not found any more, or breaks a rule now.
    Gone,
    /// It was accepted, and the last probe has not come as far as the tools.
    NotSeen,
}

/// Tool by tool, what was accepted beside what the last probe found; sorted by intent and name. Without a report, the probe has not
/// come as far as the tools.
#[must_use]
pub(crate) fn compare_tools<'a>(
    accepted: Option<&'a PinnedTools>,
    found: Option<&'a ToolReport>,
) -> Vec<ComparedTool<'a>> {
    let before = accepted.map(PinnedTools::by_name).unwrap_or_default();
    let now: BTreeMap<(&IntentId, &str), &PinnedTool> = found
        .map(|report| &*report.accepted)
        .unwrap_or_default()
        .iter()
        .map(|tool| ((&tool.pinned.intent, tool.pinned.tool.as_str()), &tool.pinned))
        .collect();
    let names: BTreeSet<_> = before.keys().chain(now.keys()).copied().collect();
    let compared = names.into_iter().map(|(intent, tool)| {
        let (accepted, fresh) = (before.get(&(intent, tool)), now.get(&(intent, tool)));
        let (standing, changes) = match (accepted, fresh) {
            (Some(accepted), Some(fresh)) if accepted.digest == fresh.digest => (ToolStanding::AsAccepted, Vec::new()),
            (Some(accepted), Some(fresh)) => (ToolStanding::Changed, changes(accepted, fresh)),
            (None, _) => (ToolStanding::New, Vec::new()),
            (Some(_), None) if found.is_none() => (ToolStanding::NotSeen, Vec::new()),
            (Some(_), None) => (ToolStanding::Gone, Vec::new()),
        };
        let (accepted, found) = (accepted.map(|tool| tool.digest), fresh.map(|tool| tool.digest));
        ComparedTool { intent, tool, accepted, found, standing, changes }
    });
    compared.collect()
}

/// What changed between two descriptors of one tool.
fn changes(pinned: &PinnedTool, fresh: &PinnedTool) -> Vec<DriftKind> {
    if pinned.digest == fresh.digest {
        return Vec::new();
    }
    let mut kinds = Vec::new();
    if pinned.schema_digest != fresh.schema_digest {
        kinds.push(DriftKind::SchemaChanged);
    }
    if pinned.description_digest != fresh.description_digest {
        kinds.push(DriftKind::DescriptionChanged);
    }
    let is_other = match (pinned.terms_digest, fresh.terms_digest) {
        (Some(before), Some(now)) => before != now,
        // Of what an earlier release has pinned nobody can say that only the wording is another.
        _ => pinned.schema_digest == fresh.schema_digest,
    };
    if is_other {
        kinds.push(DriftKind::TermsChanged);
    }
    kinds
}

/// Tells the tools of which nothing but the wording is another from those that have changed.
#[must_use]
pub(crate) fn split_rewordings(drift: Vec<Drift>) -> (Vec<Drift>, Vec<Drift>) {
    let changed: BTreeSet<(IntentId, String)> = drift
        .iter()
        .filter(|drift| drift.kind != DriftKind::DescriptionChanged)
        .map(|drift| (drift.intent.clone(), drift.tool.clone()))
        .collect();
    drift.into_iter().partition(|drift| !changed.contains(&(drift.intent.clone(), drift.tool.clone())))
}

/// One difference between what was pinned and what a server lists now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    /// The intent concerned.
    pub intent: IntentId,
    /// The tool concerned.
    pub tool: String,
    /// What changed.
    pub kind: DriftKind,
    /// Digest of the descriptor as it is now, so that a second change of the same kind is another drift; absent where
    /// there is none any more.
    pub now: Option<Digest>,
}

/// The kinds of [`Drift`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DriftKind {
    /// It was not there before.
    Added,
    /// It is gone, or not acceptable any more.
    Removed,
    /// Its input or output schema changed.
    SchemaChanged,
    /// Its description or title changed. Where nothing else of the tool has, it stays in service.
    DescriptionChanged,
    /// Something else changed: `_meta.platform`, annotations and the like.
    TermsChanged,
}

impl DriftKind {
    /// As records and events name it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::SchemaChanged => "schema_changed",
            Self::DescriptionChanged => "description_changed",
            Self::TermsChanged => "terms_changed",
        }
    }
}
