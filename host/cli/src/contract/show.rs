//! Contracts as texts for people.

use std::collections::BTreeMap;

use intent_gateway_api::contracts::{
    ActivationOutcome, GatewayStatus, IntentStatus, LoadFailure, LoadOutcome, LoadedVersion, MissingVersion, Origin,
    OriginKind, RolledOutVersion, StagedStatus, VersionAct, VersionEvent, WaitedFor, Whence,
};
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;

use crate::terminal::{Palette, Tone, count, harmless, pairs, table};

/// Characters of a digest in a table: more than are needed to tell a gateway's contracts apart.
const DIGEST_SHOWN_CHARS: usize = 12;
const BYTES_PER_KIB: usize = 1024;

/// The beginning of a digest.
pub(super) fn short(digest: Digest) -> String {
    digest.to_string().chars().take(DIGEST_SHOWN_CHARS).collect()
}

/// A time to the second.
pub(super) fn show_time(at: Timestamp) -> String {
    match at.to_jiff() {
        Some(at) => at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        None => format!("{} ms", at.as_ms()),
    }
}

fn show_origin(Origin { kind, name }: &Origin) -> String {
    let name = name.as_deref().unwrap_or_default();
    match kind {
        OriginKind::Folder => format!("file {name}"),
        OriginKind::Upload => format!("upload of {name}"),
        OriginKind::Registry => format!("source {name}"),
        OriginKind::Kept => "kept by an earlier release".to_owned(),
    }
}

fn show_live(live: bool) -> String {
    if live { "live" } else { "loaded" }.to_owned()
}

pub(super) fn list(versions: &[LoadedVersion]) -> String {
    let rows: Vec<[String; 8]> = versions
        .iter()
        .map(|version| {
            [
                version.intent.clone(),
                version.version.clone(),
                show_live(version.live),
                short(version.digest),
                show_time(version.loaded_at_ms),
                show_origin(&version.origin),
                version.calls.to_string(),
                version.faults.to_string(),
            ]
        })
        .collect();
    if rows.is_empty() {
        return "no contract is loaded; `intent-gateway contract load FILE` loads one".to_owned();
    }
    table(["intent", "version", "state", "digest", "loaded", "from", "calls", "faults"], &rows)
}

pub(super) fn one(version: &LoadedVersion, palette: Palette) -> String {
    let LoadedVersion {
        intent,
        version,
        digest,
        live,
        origin,
        loaded_at_ms,
        loaded_by,
        history,
        signed_by,
        component_bytes,
        calls,
        faults,
    } = version;
    let state = if *live { palette.paint(Tone::Good, "live") } else { "loaded, not live".to_owned() };
    // A colour is not part of what others wrote, so it is added after that was made harmless.
    let text = pairs(&[
        ("intent", intent.clone()),
        ("version", version.clone()),
        ("digest", digest.to_string()),
        ("from", show_origin(origin)),
        ("loaded", format!("{} by {}", show_time(*loaded_at_ms), show_actor(loaded_by))),
        ("signed", if signed_by.is_empty() { "by nobody".to_owned() } else { format!("by {}", signed_by.join(", ")) }),
        ("size", format!("{} KiB", component_bytes.div_ceil(BYTES_PER_KIB))),
        ("calls", calls.to_string()),
        ("faults", faults.to_string()),
    ]);
    let events: String = history.iter().map(|event| format!("\n{}", harmless(&show_event(event)))).collect();
    format!("{text}\nstate    {state}\n{events}")
}

/// How a load ended: the version, what is left to do, and which values it takes out.
pub(super) fn show_load(outcome: &LoadOutcome, palette: Palette) -> String {
    let LoadOutcome { version, known: _, note, removed_values, waits_for } = outcome;
    let mut lines = vec![changed(version, palette)];
    lines.extend(waits_for.iter().map(|gateway| show_waited_for(gateway, palette)));
    lines.extend(note.iter().map(|note| palette.paint(Tone::Doubtful, &harmless(note))));
    if let Some(removed) = removed_values {
        lines.extend(removed.values.iter().map(|value| {
            format!("{}: {}", harmless(&value.vocabulary), harmless(&value.describe(removed.rankings_read)))
        }));
    }
    lines.join("\n")
}

/// How an activation ended.
pub(super) fn show_activation(outcome: &ActivationOutcome, palette: Palette) -> String {
    let ActivationOutcome { version, waits_for } = outcome;
    let mut lines = vec![changed(version, palette)];
    lines.extend(waits_for.iter().map(|gateway| show_waited_for(gateway, palette)));
    lines.join("\n")
}

/// For whom a version waits before it goes live, and why.
fn show_waited_for(WaitedFor { gateway, failure }: &WaitedFor, palette: Palette) -> String {
    let gateway = harmless(gateway);
    match failure {
        None => palette.paint(Tone::Doubtful, &format!("it goes live when gateway {gateway} has it ready")),
        Some(failure) => format!(
            "{}: {}, {}. `contract activate --at-once` does not wait for it, `contract withdraw` gives the version up",
            palette.paint(Tone::Bad, &format!("gateway {gateway} cannot make it ready")),
            harmless(&failure.code),
            harmless(&failure.message)
        ),
    }
}

/// What each gateway has, where it is not what is wanted, or a version waits; empty where all is as it should be and there is one
/// gateway.
pub(super) fn fleet(intents: &[IntentStatus], palette: Palette) -> String {
    let is_worth_telling = |status: &&IntentStatus| status.coming.is_some() || status.gateways.len() > 1;
    let rows: Vec<[String; 6]> = intents.iter().filter(is_worth_telling).flat_map(show_gateways).collect();
    let mut lines = Vec::new();
    for IntentStatus { intent, coming, .. } in intents {
        let Some(coming) = coming else { continue };
        let told = format!(
            "{} waits for {}, asked for by {} at {}",
            harmless(intent),
            harmless(&coming.name.version),
            harmless(&show_actor(&coming.by)),
            show_time(coming.since_ms)
        );
        lines.push(palette.paint(Tone::Doubtful, &told));
    }
    lines.extend(intents.iter().filter_map(|status| show_rollout(status, palette)));
    if !rows.is_empty() {
        lines.push(table(["intent", "gateway", "serves", "since", "took", "ready"], &rows));
    }
    lines.join("\n")
}

/// How far the rollout of an intent is.
fn show_rollout(IntentStatus { intent, rollout, .. }: &IntentStatus, palette: Palette) -> Option<String> {
    let RolledOutVersion { name, stage, stages, share_percent, is_paused } = rollout.as_ref()?;
    let paused = if *is_paused { ", paused" } else { "" };
    let told = format!(
        "{} of {} is rolled out: stage {} of {stages}, {share_percent} % of the users{paused}",
        harmless(&name.version),
        harmless(intent),
        stage + 1
    );
    Some(palette.paint(Tone::Doubtful, &told))
}

fn show_gateways(status: &IntentStatus) -> Vec<[String; 6]> {
    let coming = status.coming.as_ref().map(|coming| coming.name.digest);
    let row = |gateway: &GatewayStatus| {
        let serving = gateway.serving.as_ref();
        let of_serving = |text: &dyn Fn(&intent_gateway_api::contracts::ServingStatus) -> String| {
            serving.map_or_else(|| "-".to_owned(), text)
        };
        let ready = match (&gateway.staged, coming) {
            (Some(StagedStatus { failure: Some(failure), digest, .. }), Some(coming)) if *digest == coming => {
                format!("no: {}", failure.code)
            }
            (Some(StagedStatus { failure: None, digest, took_ms, .. }), Some(coming)) if *digest == coming => {
                format!("in {took_ms} ms")
            }
            (_, Some(_)) => "not yet".to_owned(),
            (_, None) => "-".to_owned(),
        };
        [
            status.intent.clone(),
            format!("{} ({})", gateway.name, gateway.id.chars().take(8).collect::<String>()),
            of_serving(&|serving| serving.version.clone().unwrap_or_else(|| short(serving.digest))),
            of_serving(&|serving| show_time(serving.since_ms)),
            of_serving(&|serving| format!("{} ms", serving.took_ms)),
            ready,
        ]
    };
    status.gateways.iter().map(row).collect()
}

pub(super) fn show_actor(Actor { role, subject, .. }: &Actor) -> String {
    if role == subject { role.clone() } else { format!("{role} {subject}") }
}

fn show_event(VersionEvent { at_ms, act, whence, by, why }: &VersionEvent) -> String {
    let act = match act {
        VersionAct::Loaded => "loaded",
        VersionAct::AskedFor => "was to go live once every gateway has it ready",
        VersionAct::WentLive => "went live",
        VersionAct::Withdrawn => "was not to go live any more",
        VersionAct::LeftService => "left service",
        VersionAct::Signed => "signed by somebody more",
        VersionAct::RolloutBegun => "its rollout began",
        VersionAct::StageBegun => "the next stage of its rollout began",
        VersionAct::RolloutPaused => "its rollout was paused",
        VersionAct::RolloutResumed => "its rollout was resumed",
        VersionAct::TakenBack => "was taken back",
    };
    let whence = match whence {
        Whence::Folder => "the watched folder",
        Whence::Registry => "a source",
        Whence::Upload => "an upload",
        Whence::Activation => "an activation",
        Whence::RollBack => "faults of the version that was live",
        Whence::Unloading => "a call that took the intent out of service",
        Whence::Withdrawal => "a withdrawal",
        Whence::TakenOver => "the state folder of an earlier release",
        Whence::Revocation => "a revocation",
        Whence::Rollout => "its rollout",
    };
    let why = why.as_deref().map(|why| format!(": {}", harmless(why))).unwrap_or_default();
    format!("{}  {act}, by {whence} ({}){why}", show_time(*at_ms), show_actor(by))
}

/// What a version is now, after it was loaded or activated.
pub(super) fn changed(version: &LoadedVersion, palette: Palette) -> String {
    let LoadedVersion { intent, version, digest, live, .. } = version;
    let state = match live {
        true => format!("is {}", palette.paint(Tone::Good, "live")),
        false => "is loaded, not live".to_owned(),
    };
    format!("{} {} {state} ({})", harmless(intent), harmless(version), short(*digest))
}

/// One line for each intent, and what was not taken below.
pub(super) fn status(
    versions: &[LoadedVersion],
    missing: &[MissingVersion],
    failed: &[LoadFailure],
    palette: Palette,
) -> String {
    let mut intents: BTreeMap<&str, Vec<&LoadedVersion>> = BTreeMap::new();
    for version in versions {
        intents.entry(&version.intent).or_default().push(version);
    }
    let rows: Vec<[String; 6]> = intents
        .iter()
        .map(|(intent, versions)| {
            let live = versions.iter().find(|version| version.live);
            let of_live = |text: fn(&LoadedVersion) -> String| live.map_or_else(|| "-".to_owned(), |live| text(live));
            [
                (*intent).to_owned(),
                live.map_or_else(|| "none".to_owned(), |live| live.version.clone()),
                of_live(|live| short(live.digest)),
                versions.len().to_string(),
                of_live(|live| live.calls.to_string()),
                of_live(|live| live.faults.to_string()),
            ]
        })
        .collect();
    let live = match rows.is_empty() {
        true => palette.paint(Tone::Doubtful, "no contract is loaded"),
        false => table(["intent", "live", "digest", "loaded", "calls", "faults"], &rows),
    };
    let gone: String = missing.iter().map(|missing| format!("\n{}", show_missing(missing, palette))).collect();
    let live = if gone.is_empty() { live } else { format!("{live}\n{gone}") };
    match failed.len() {
        0 => format!("{live}\n\n{}", palette.paint(Tone::Good, "nothing was refused or taken out")),
        failures => {
            let failures = palette.paint(Tone::Bad, &format!("{} to load or to go on", count(failures, "failure")));
            format!("{live}\n\n{failures}; `intent-gateway contract failures` shows them")
        }
    }
}

/// What is not there, what serves in its stead, and what brings it back.
fn show_missing(missing: &MissingVersion, palette: Palette) -> String {
    let MissingVersion { intent, digest, origin, ought_to_serve, serving, code, message } = missing;
    let instead = match (ought_to_serve, serving) {
        (false, _) => "it did not serve".to_owned(),
        (true, Some(version)) => format!("version {version} serves in its stead"),
        (true, None) => "THE INTENT IS NOT SERVED".to_owned(),
    };
    format!(
        "{} {} {} ({}): {}; {}. `intent-gateway contract load` with that file brings it back\n  {}",
        palette.paint(Tone::Bad, "missing"),
        harmless(intent),
        short(*digest),
        harmless(&show_origin(origin)),
        harmless(&instead),
        harmless(code),
        harmless(message)
    )
}

/// A paragraph for each failure: its message may be long.
pub(super) fn failures(failed: &[LoadFailure], palette: Palette) -> String {
    if failed.is_empty() {
        return "nothing was refused or taken out".to_owned();
    }
    let paragraph = |failure: &LoadFailure| {
        // Which values go stands in the message.
        let LoadFailure { at_ms, origin, digest, intent, version, code, message, removed: _ } = failure;
        let contract = match (intent, version) {
            (Some(intent), Some(version)) => format!("{} {}", harmless(intent), harmless(version)),
            _ => "a component that is no contract".to_owned(),
        };
        let digest = digest.map(|digest| format!(" ({})", short(digest))).unwrap_or_default();
        let code = palette.paint(Tone::Bad, &harmless(code));
        let message: Vec<String> = message.lines().map(|line| format!("  {}", harmless(line))).collect();
        format!(
            "{}  {code}  {contract}{digest}, {}\n{}",
            show_time(*at_ms),
            harmless(&show_origin(origin)),
            message.join("\n")
        )
    };
    failed.iter().map(paragraph).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::select::tests::version;
    use super::*;

    #[test]
    fn a_list_says_what_is_live_and_whence_it_came() {
        let text = list(&[version("abcd", "auto.fix", "1.0.0", true)]);
        let row = text.lines().nth(1).expect("a row").split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(row, "auto.fix 1.0.0 live abcd00000000 2025-11-21T09:20:00Z upload of asha 7 1");
        assert!(list(&[]).contains("contract load"));
    }

    #[test]
    fn the_status_has_one_line_for_each_intent() {
        let versions = [
            version("aa", "auto.fix", "1.0.0", false),
            version("bb", "auto.fix", "1.1.0", true),
            version("cc", "home.fix", "1.0.0", false),
        ];
        let text = status(&versions, &[], &[], Palette::PLAIN);
        let lines: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(lines[1..3], ["auto.fix 1.1.0 bb0000000000 2 7 1", "home.fix none - 1 - -"]);
        assert!(text.ends_with("nothing was refused or taken out"), "{text}");
    }

    #[test]
    fn the_status_names_what_is_missing_and_what_serves_in_its_stead() {
        let missing = |serving: Option<&str>| MissingVersion {
            intent: "auto.fix".to_owned(),
            digest: Digest::of(b"x"),
            origin: Origin { kind: OriginKind::Folder, name: Some("fix.wasm".to_owned()) },
            ought_to_serve: true,
            serving: serving.map(str::to_owned),
            code: "UNREADABLE".to_owned(),
            message: "no such file".to_owned(),
        };
        let text = status(&[], &[missing(Some("1.0.0"))], &[], Palette::PLAIN);
        assert!(text.contains("missing auto.fix") && text.contains("version 1.0.0 serves in its stead"), "{text}");
        assert!(status(&[], &[missing(None)], &[], Palette::PLAIN).contains("THE INTENT IS NOT SERVED"));
    }

    #[test]
    fn a_failure_is_told_with_its_whole_message_and_nothing_that_moves_the_cursor() {
        let failure = json!({
            "at_ms": 1_763_716_800_042_u64, "origin": {"kind": "folder", "name": "x\u{1b}.wasm"}, "digest": null,
            "intent": null, "version": null, "code": "NO_COMPONENT", "message": "it is a module\nand no component\u{1b}[2J",
        });
        let failure: LoadFailure = serde_json::from_value(failure).expect("a failure");
        let text = failures(&[failure], Palette::PLAIN);
        assert_eq!(
            text,
            "2025-11-21T09:20:00Z  NO_COMPONENT  a component that is no contract, file x\\u{1b}.wasm\n  \
             it is a module\n  and no component\\u{1b}[2J"
        );
    }
}
