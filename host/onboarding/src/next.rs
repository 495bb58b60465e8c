//! What is left to do until requests are routed, and whose turn it is: worked out of the records, and of nothing else.
//!
//! A step names what it concerns: an intent, a paper, or neither where it is the account as a whole. Its sentence says what
//! to do, and with which route or command.
//!
//! Not here: reading the records ([`Overview`]), and whether a step is allowed, which each service decides for itself.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::overview::Overview;
use super::records::{Connection, FailedRetest, Probed, ReviewStatus, Submission};
use super::text::date_and_time;
use crate::compliance::CheckState;
use crate::connection::ConnectionState;
use crate::manifest::Status;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::golive::{GoLiveReport, ItemState};
use intent_gateway_domain::id::IntentId;

/// Violations, or items of a report, that one sentence names.
const NAMED_MAX: usize = 3;
/// Every code of a step, in the order in which steps come.
pub const STEP_CODES: [&str; 19] = [
    "PROFILE",
    "LICENCE_ENDED",
    "CREDENTIALS",
    "WEBHOOK",
    "MANIFEST",
    "MANIFEST_WARNINGS",
    "CHECKLIST",
    "DOCUMENT",
    "REVIEW",
    "CONNECTION",
    "MEND",
    "LIFT",
    "PROBE",
    "TOOLS",
    "TEST",
    "RETEST",
    "CONFIRM_AGAIN",
    "DRIFT",
    "SWITCH_ON",
];

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = NextStepBody))]
pub struct NextStep {
    /// Stable code.
    pub code: Cow<'static, str>,
    /// `partner` or `platform`.
    pub who: Cow<'static, str>,
    /// The intent that it concerns; null where it concerns all of them, or a paper.
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, required))]
    pub intent: Option<IntentId>,
    /// The paper that it concerns: `profile`, `credentials`, `webhook`, `manifest`, `endpoint`, a document's kind, or an
    /// item of the checklist; null where it concerns an intent or the account as a whole.
    #[cfg_attr(feature = "schema", schema(required))]
    pub paper: Option<Cow<'static, str>>,
    /// One sentence or two for a person: what to do, and with which route or command.
    pub text: String,
}

/// Whose turn it is.
#[derive(Clone, Copy)]
enum Turn {
    Partner,
    Platform,
}

/// What a step concerns.
enum About<'a> {
    Account,
    Paper(Cow<'static, str>),
    Intent(&'a IntentId),
}

fn paper(name: &'static str) -> About<'static> {
    About::Paper(Cow::Borrowed(name))
}

/// All steps that are left, in their order.
pub(crate) fn next_steps(overview: &Overview, now: Timestamp) -> Vec<NextStep> {
    let mut steps = Steps { account: overview.account.id.as_str(), steps: Vec::new() };
    steps.papers(overview, now);
    steps.manifest(overview);
    match &overview.connection {
        None => steps.push("CONNECTION", Turn::Partner, paper("endpoint"), |account| {
            format!(
                "Register the endpoint of the MCP server, or of the API: PUT /api/v1/business/tier1/connection/{account}."
            )
        }),
        Some(connection) => match connection.state {
            ConnectionState::Suspended => steps.suspended(connection),
            ConnectionState::ProbeFailed => steps.probe_failed(connection),
            ConnectionState::Sandbox => steps.sandbox(overview, connection, now),
            ConnectionState::Live => steps.live(overview, connection, now),
        },
    }
    steps.steps
}

/// The steps so far.
struct Steps<'a> {
    account: &'a str,
    steps: Vec<NextStep>,
}

impl Steps<'_> {
    fn push(&mut self, code: &'static str, turn: Turn, about: About<'_>, text: impl FnOnce(&str) -> String) {
        let (intent, paper) = match about {
            About::Account => (None, None),
            About::Paper(paper) => (None, Some(paper)),
            About::Intent(intent) => (Some(intent.clone()), None),
        };
        let who = match turn {
            Turn::Partner => "partner",
            Turn::Platform => "platform",
        };
        self.steps.push(NextStep { code: code.into(), who: who.into(), intent, paper, text: text(self.account) });
    }

    fn papers(&mut self, overview: &Overview, now: Timestamp) {
        if overview.account.profile.is_none() {
            self.push("PROFILE", Turn::Partner, paper("profile"), |account| {
                format!(
                    "Give the business's profile (legal entity, tax number, licences, privacy policy): \
                     PUT /api/v1/business/tier1/accounts/{account}/profile."
                )
            });
        }
        let licences = overview.account.profile.iter().flat_map(|profile| &profile.licences);
        for (licence, end) in licences.filter_map(|licence| Some((licence, licence.ended_on(now)?))) {
            self.push("LICENCE_ENDED", Turn::Partner, paper("profile"), |account| {
                format!(
                    "The licence {} ({}) ended on {end}. Send the profile with the one that holds now: \
                     PUT /api/v1/business/tier1/accounts/{account}/profile.",
                    licence.number,
                    licence.kind.as_str()
                )
            });
        }
        if overview.credentials.is_none() {
            self.push("CREDENTIALS", Turn::Partner, paper("credentials"), |account| {
                format!("Have sandbox credentials issued: POST /api/v1/business/tier1/credentials/{account}.")
            });
        }
        if overview.webhook.is_none() {
            self.push("WEBHOOK", Turn::Partner, paper("webhook"), |account| {
                format!(
                    "Save the webhook's address, which brings the key that signs completion reports: \
                     PUT /api/v1/business/tier1/credentials/{account}/webhook."
                )
            });
        }
    }

    fn manifest(&mut self, overview: &Overview) {
        let Some(manifests) = &overview.manifests else {
            return self.push("MANIFEST", Turn::Partner, paper("manifest"), |account| {
                format!(
                    "Submit a manifest: `intent-gateway manifest submit FILE --review`, or \
                     POST /api/v1/business/tier1/manifest/{account} with submitForReview true."
                )
            });
        };
        let Submission { number, status, warnings, .. } = &manifests.latest;
        match status {
            Status::Approved => return,
            Status::Draft => self.push("MANIFEST", Turn::Partner, paper("manifest"), |account| {
                format!(
                    "Submission {number} is a draft that nobody looks at. Send it for review: `intent-gateway manifest submit \
                     FILE --review`, or POST /api/v1/business/tier1/manifest/{account} with submitForReview true."
                )
            }),
            Status::Rejected => self.push("MANIFEST", Turn::Partner, paper("manifest"), |account| {
                format!(
                    "Mend the manifest as the notes of submission {number} say, and submit it again: \
                     POST /api/v1/business/tier1/manifest/{account}."
                )
            }),
            Status::PendingReview => {}
        }
        if let Some(first) = warnings.first() {
            self.push("MANIFEST_WARNINGS", Turn::Partner, paper("manifest"), |account| {
                format!(
                    "The reviewer sees {} of submission {number}, the first: {} Correct what is wrong and submit again; all \
                     are listed by GET /api/v1/business/tier1/manifest/{account}.",
                    count(warnings.len(), "warning"),
                    sentence(&first.message)
                )
            });
        }
        // Without a profile, the step that asks for one says it.
        let failed =
            overview.checklist.iter().filter(|item| item.state == CheckState::Failed && item.code != "PROFILE");
        for item in failed {
            let (text, wanted) = (&item.text, item.wanted.as_deref().unwrap_or_default());
            let profile = |account: &str| {
                format!("{text} {wanted} The profile: PUT /api/v1/business/tier1/accounts/{account}/profile.")
            };
            self.push("CHECKLIST", Turn::Partner, About::Paper(item.code.clone().into()), profile);
        }
        let by_hand =
            overview.checklist.iter().filter(|item| item.state == CheckState::ByHand && item.wanted.is_some());
        for item in by_hand {
            let kinds: Vec<&str> = item.documents.iter().map(|kind| kind.as_str()).collect();
            let Some(first) = kinds.first().copied() else { continue };
            self.push("DOCUMENT", Turn::Partner, paper(first), |_| {
                format!(
                    "{} A person confirms it, and a document of the kind {} helps: `intent-gateway partner document add FILE \
                     --kind {first}`.",
                    item.text,
                    kinds.join(" or ")
                )
            });
        }
        if *status == Status::PendingReview {
            let review = manifests.review.as_deref().unwrap_or_default();
            self.push("REVIEW", Turn::Platform, paper("manifest"), |_| {
                format!("Decide on submission {number} of the manifest: `intent-gateway review show {review}`.")
            });
        }
    }

    fn suspended(&mut self, connection: &Connection) {
        let reason = connection.suspension.as_ref().map_or("no reason is on record", |suspended| &suspended.reason);
        self.push("MEND", Turn::Partner, About::Account, |_| {
            format!(
                "The connection is suspended and gets no requests. The reason: {} Mend it and tell the platform team what \
                 you did: that lifts the suspension, and nothing else does.",
                sentence(reason)
            )
        });
        self.push("LIFT", Turn::Platform, About::Account, |account| {
            format!(
                "Lift the suspension once its reason is gone: `intent-gateway partner lift {account} --reason TEXT`. Probe, \
                 tests and approval follow again."
            )
        });
    }

    fn probe_failed(&mut self, connection: &Connection) {
        self.failures(connection.probe.as_ref(), "no requests are routed");
        self.ask_probe("Probe again once it is mended");
    }

    fn ask_probe(&mut self, when: &str) {
        self.push("PROBE", Turn::Platform, About::Account, |account| {
            format!("{when}: `intent-gateway partner probe {account}`.")
        });
    }

    /// What the partner has to mend of its server.
    fn failures(&mut self, probe: Option<&Probed>, effect: &str) {
        let Some(probe) = probe.filter(|probe| !probe.passed) else { return };
        let missing = probe.tools.iter().flat_map(|report| &report.missing);
        for (intent, tools) in missing {
            self.push("TOOLS", Turn::Partner, About::Intent(intent), |account| {
                format!(
                    "The server lists no sound {} {}. GET /api/v1/business/tier1/connection/{account} names each tool that \
                     was skipped, with the rule that it breaks.",
                    if tools.len() == 1 { "tool" } else { "tools" },
                    tools.join(", ")
                )
            });
        }
        let others: Vec<&str> = probe
            .failures
            .iter()
            .filter(|failure| failure.code != "TOOLS_MISSING")
            .map(|failure| failure.message.as_str())
            .collect();
        if !others.is_empty() {
            self.push("PROBE", Turn::Partner, paper("endpoint"), |_| {
                let said = sentence(&name_some(&others, "; "));
                format!("The last probe failed ({effect}): {said} Mend it and ask the platform team to probe again.")
            });
        }
    }

    fn sandbox(&mut self, overview: &Overview, connection: &Connection, now: Timestamp) {
        let Some(probe) = connection.probe.as_ref().filter(|probe| probe.passed) else {
            return self.ask_probe("Probe the connection");
        };
        let before = self.steps.len();
        for intent in listed(overview) {
            self.untested(connection, probe, intent, now);
        }
        let untested = self.steps.len() > before;
        for intent in listed(overview) {
            self.confirm_again(connection, intent, now);
        }
        let ended = listed(overview).into_iter().any(|intent| connection.has_ended(intent, now));
        let approved = overview.manifests.as_ref().and_then(|manifests| manifests.approved.as_ref());
        let ready = approved.is_some_and(|approved| {
            connection.routable(&approved.manifest, now).count() == approved.manifest.intents.len()
        });
        if !ended && (ready || (!untested && approved.is_some())) {
            self.push("SWITCH_ON", Turn::Platform, About::Account, |account| {
                format!("Switch the connection on: `intent-gateway partner switch-on {account}`.")
            });
        }
    }

    fn live(&mut self, overview: &Overview, connection: &Connection, now: Timestamp) {
        self.failures(connection.probe.as_ref(), "requests are routed all the same");
        self.quarantined(overview, connection);
        for intent in listed(overview).into_iter().filter(|intent| !connection.quarantine.contains_key(*intent)) {
            match (connection.failed_retests.get(intent), connection.tests.get(intent), &connection.probe) {
                (Some(failed), Some(report), _) => self.retest(intent, failed, report, now),
                (_, _, Some(probe)) => self.untested(connection, probe, intent, now),
                _ => {}
            }
        }
        for intent in listed(overview) {
            self.confirm_again(connection, intent, now);
        }
    }

    /// What people have confirmed and what ends soon, or has ended: the partner shows how it is now, the team looks again.
    fn confirm_again(&mut self, connection: &Connection, intent: &IntentId, now: Timestamp) {
        let ending: Vec<_> = connection.endings_of(intent, now).collect();
        let Some(end) = ending.iter().filter_map(|(_, held)| held.valid_until()).min() else { return };
        let codes = ending.iter().map(|(code, _)| *code).collect::<Vec<_>>().join(", ");
        let end_said = date_and_time(end);
        let until = ending.iter().filter_map(|(_, held)| held.routed_until_ms).min();
        let until_said = until.map(date_and_time).unwrap_or_default();
        let head = match until {
            Some(until) if until <= now => {
                format!(
                    "What a person confirmed has ended ({codes}); since {until_said} no request is routed to this intent."
                )
            }
            Some(_) => {
                format!(
                    "What a person confirmed has ended ({codes}); requests are routed until {until_said} and not after."
                )
            }
            None if end <= now => format!("What a person confirmed has ended on {end_said}: {codes}."),
            None => format!("What a person confirmed holds until {end_said} and not after: {codes}."),
        };
        self.push("CONFIRM_AGAIN", Turn::Partner, About::Intent(intent), |_| {
            format!(
                "{head} Give the platform team what shows how it is now, for example a document: `intent-gateway partner \
                 document add FILE --kind KIND`."
            )
        });
        self.push("CONFIRM_AGAIN", Turn::Platform, About::Intent(intent), |account| {
            format!(
                "{head} Look at it again and confirm it: `intent-gateway partner test {account} --intent {intent} --confirm \
                 CODE=NOTE`, or in its review."
            )
        });
    }

    fn quarantined(&mut self, overview: &Overview, connection: &Connection) {
        let rejected = overview.drift_review.as_ref().is_some_and(|review| review.status == ReviewStatus::Rejected);
        let review = connection.drift_review.as_deref().unwrap_or_default();
        for (intent, drifts) in &connection.quarantine {
            let tools: BTreeSet<&str> = drifts.iter().map(|drift| drift.tool.as_str()).collect();
            let tools = tools.into_iter().collect::<Vec<_>>().join(", ");
            let head = format!("The tools of this intent have changed ({tools}), so no request is routed to it.");
            if rejected {
                self.push("DRIFT", Turn::Partner, About::Intent(intent), |_| {
                    format!(
                        "{head} The change was not accepted: put the tools back as they were; the next probe sees it."
                    )
                });
            } else {
                self.push("DRIFT", Turn::Platform, About::Intent(intent), |_| {
                    format!(
                        "{head} Decide on the change: `intent-gateway review show {review}`. Put back as they were, they \
                         are routed again after the next probe."
                    )
                });
            }
        }
    }

    /// What keeps an intent from being tested, or its test from passing.
    fn untested(&mut self, connection: &Connection, probe: &Probed, intent: &IntentId, now: Timestamp) {
        let lacking = probe.tools.as_ref().and_then(|report| report.missing.get(intent));
        let pinned = connection.pinned.as_ref().is_some_and(|pinned| pinned.holds(intent));
        if connection.is_tested(intent, now) && pinned {
            return;
        }
        if lacking.is_some() {
            // The failures of the probe say it.
            return;
        }
        if !pinned {
            return self.push("PROBE", Turn::Platform, About::Intent(intent), |account| {
                format!(
                    "The last probe did not look for the tools of this intent. Probe again: \
                     `intent-gateway partner probe {account}`."
                )
            });
        }
        match connection.tests.get(intent) {
            None => self.push("TEST", Turn::Platform, About::Intent(intent), |account| {
                format!(
                    "Test the connection: `intent-gateway partner test {account} --intent {intent} --samples FILE...`."
                )
            }),
            Some(report) => self.test_failed("TEST", intent, report, "The last test did not pass."),
        }
    }

    fn retest(&mut self, intent: &IntentId, failed: &FailedRetest, report: &GoLiveReport, now: Timestamp) {
        let until = date_and_time(failed.routed_until_ms);
        let head = match failed.is_tolerated(now) {
            true => format!("The repeated test did not pass; requests are routed until {until} and not after."),
            false => format!("The repeated test did not pass; since {until} no request is routed to this intent."),
        };
        self.test_failed("RETEST", intent, report, &head);
    }

    fn test_failed(&mut self, code: &'static str, intent: &IntentId, report: &GoLiveReport, head: &str) {
        let items = |state| report.items.iter().filter(move |item| item.state == state);
        let failed: Vec<String> =
            items(ItemState::Failed).map(|item| format!("{} ({})", item.code, item.detail)).collect();
        let by_hand: Vec<&str> = items(ItemState::ByHand).map(|item| item.code.as_str()).collect();
        if failed.is_empty() {
            self.push(code, Turn::Platform, About::Intent(intent), |account| {
                format!(
                    "{head} Look at what no machine can judge and confirm it: {}: `intent-gateway partner test {account} \
                     --intent {intent} --confirm CODE=NOTE`.",
                    by_hand.join(", ")
                )
            });
        } else {
            self.push(code, Turn::Partner, About::Intent(intent), |account| {
                format!(
                    "{head} What failed: {}. Mend it and ask the platform team to test again; the whole report: \
                     GET /api/v1/business/tier1/connection/{account}.",
                    name_some(&failed, ", ")
                )
            });
        }
    }
}

/// The intents of the latest manifest and of the one in force.
fn listed(overview: &Overview) -> BTreeSet<&IntentId> {
    let manifests = overview.manifests.iter();
    let submissions = manifests.flat_map(|manifests| std::iter::once(&manifests.latest).chain(&manifests.approved));
    submissions.flat_map(|submission| &submission.manifest.intents).map(|entry| &entry.intent).collect()
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The first of several, and how many there are besides.
fn name_some(said: &[impl AsRef<str>], between: &str) -> String {
    let named = said.iter().take(NAMED_MAX).map(AsRef::as_ref).collect::<Vec<_>>().join(between);
    match said.len().saturating_sub(NAMED_MAX) {
        0 => named,
        more => format!("{named}{between}and {more} more"),
    }
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}
