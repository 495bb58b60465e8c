//! The command line of `intent-gateway contract`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use intent_gateway_api::contracts::ReleasePolicy;
use intent_gateway_api::rollouts::RolloutAct;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::IntentId;
use intent_gateway_signing::KeyId;

use super::select::ContractName;
use crate::ask::AskArgs;
use crate::values::{parse_intent, parse_span};

/// Faults of one page that may be asked for.
const PAGE_MAX: i64 = 500;

/// Look at the contracts of a running gateway; load, activate, roll back, retire them.
#[derive(Debug, Subcommand)]
pub(crate) enum ContractCommand {
    /// List every loaded version, live or not.
    #[command(after_help = "Examples:\n  intent-gateway contract list\n  \
        intent-gateway contract list --intent auto.book_ac_service --json")]
    List(ListArgs),
    /// Show one loaded version, with its whole digest.
    #[command(
        after_help = "CONTRACT is the beginning of a digest, `intent@version`, or an intent, which means its live \
        version.\n\n\
        Examples:\n  intent-gateway contract show ba7816bf\n  intent-gateway contract show auto.book_ac_service@1.0.0"
    )]
    Show(ContractArgs),
    /// Load a component and make it live. What is live goes on serving until it is, and if it is refused.
    #[command(after_help = "Exit codes: 0 it is loaded, 1 it was refused, with the reason.\n\n\
        Examples:\n  intent-gateway contract load plumber.wasm\n  \
        intent-gateway contract load plumber.wasm --inactive && intent-gateway contract activate home.book_plumber@1.1.0")]
    Load(LoadArgs),
    /// Make a loaded version live.
    #[command(after_help = "CONTRACT is the beginning of a digest, or `intent@version`.\n\n\
        Examples:\n  intent-gateway contract activate ba7816bf\n  \
        intent-gateway contract activate auto.book_ac_service@1.0.0\n  \
        intent-gateway contract activate auto.book_ac_service@1.1.0 --at-once")]
    Activate(ActivateArgs),
    /// Make the loaded version live that comes before the one that is live now.
    #[command(
        after_help = "Of the loaded versions it takes the highest below the live one that was not taken out for its \
        faults; `contract activate` takes any other.\n\n\
        Example:\n  intent-gateway contract rollback auto.book_ac_service"
    )]
    Rollback(IntentArgs),
    /// Show what a version would have made of what was ranked before, without serving anybody by it.
    #[command(
        after_help = "CANDIDATE is a file, or a loaded version as `contract show` takes it. The gateway ranks again what its \
        receipts of the intent hold, the latest first; a contract is a pure function, so every difference is the version's own.\n\n\
        Exit codes: 0 nothing is wrong, 1 the candidate fails, or something differs that its difference budget does not \
        announce (docs/compare.md).\n\n\
        Examples:\n  intent-gateway contract compare new.wasm --since 7d\n  \
        intent-gateway contract compare auto.book_ac_service@1.1.0 --html comparison.html"
    )]
    Compare(CompareArgs),
    /// Roll a loaded version out step by step: beside serving first, then for a growing share of the users, then live.
    #[command(
        after_help = "CONTRACT is the beginning of a digest, or `intent@version`. A stage ends when enough was seen for long \
        enough; a bound that is broken takes the version back at all gateways. `contract rollout INTENT` shows how far it is \
        (docs/rollouts.md).\n\n\
        Examples:\n  intent-gateway contract promote auto.book_ac_service@1.1.0 --why 'new compressor rule'\n  \
        intent-gateway contract promote ba7816bf --why 'hotfix' --policy quick.json"
    )]
    Promote(PromoteArgs),
    /// Show the rollout of an intent, or pause, resume, abort, advance or finish it.
    #[command(
        after_help = "Without ACT: its stage, what it lacks, and what is known of each bound. `advance` begins the next stage \
        now, `finish` makes the candidate live now, whatever is lacking.\n\n\
        Exit codes: 0 it is under way or has made its candidate live, 1 the last one was taken back.\n\n\
        Examples:\n  intent-gateway contract rollout auto.book_ac_service\n  \
        intent-gateway contract rollout auto.book_ac_service pause --why 'night'\n  \
        intent-gateway contract rollout auto.book_ac_service abort --why 'complaints'"
    )]
    Rollout(RolloutArgs),
    /// No longer want the version that an intent waits for. What serves goes on.
    #[command(after_help = "A version waits where several gateways share a store, until all of them have it ready; \
        `contract status` shows for which.\n\n\
        Example:\n  intent-gateway contract withdraw auto.book_ac_service")]
    Withdraw(IntentArgs),
    /// Say what new versions of an intent do that are found in a contract folder: go live by themselves (`auto`), or wait for
    /// somebody (`manual`).
    #[command(
        after_help = "Uploads say themselves whether they are to go live. `contract status --json` shows the policy.\n\n\
        Example:\n  intent-gateway contract policy auto.book_ac_service manual"
    )]
    Policy(PolicyArgs),
    /// Revoke a component or a key, for good: what it names, or has signed alone, runs nowhere any more.
    #[command(
        after_help = "Every gateway of the store takes such versions out of service within a second; the last version that is \
        still trusted serves in their place, if there is one.\n\n\
        Examples:\n  intent-gateway contract revoke --key 4f3b2a1908070605 --reason 'laptop lost'\n  \
        intent-gateway contract revoke --reason 'leaks prices' \
        --component 3de42f01fc49f518fad46ecb1537f7f273c9984b8bff96e9de79c7452abb125a"
    )]
    Revoke(RevokeArgs),
    /// List what is revoked.
    Revocations(RevocationsArgs),
    /// Take an intent out of service. Its versions stay loaded.
    #[command(after_help = "Example:\n  intent-gateway contract retire auto.book_ac_service")]
    Retire(IntentArgs),
    /// Show what is to serve each intent and what each gateway has of it, how often its contract failed, and what was not taken of
    /// late.
    #[command(after_help = "Calls, faults and failures are those of the gateway that is asked, since it started.\n\n\
        Example:\n  intent-gateway contract status")]
    Status(StatusArgs),
    /// Show why contracts failed: those that were not taken or taken out, or the calls in which those of an intent failed.
    #[command(
        after_help = "Without INTENT: the latest components that were not taken, and versions that were taken out, with \
        every cause. With INTENT: its calls that failed, with what the contract said and where in its source.\n\n\
        --save writes one of them to a file of your own, with all that the contract was given: users' and partners' \
        words. The audit log records it. `plugin replay` makes that call again.\n\n\
        Examples:\n  intent-gateway contract failures\n  \
        intent-gateway contract failures auto.book_ac_service\n  \
        intent-gateway contract failures auto.book_ac_service --save 17 && intent-gateway plugin replay fault-17.json"
    )]
    Failures(FailuresArgs),
    /// Print what a partner implements to serve a live intent, as a page in Markdown. Partners may ask for it, too
    #[command(after_help = "Examples:\n  intent-gateway contract docs auto.book_ac_service\n  \
        intent-gateway contract docs auto.book_ac_service > ac-service.md")]
    Docs(IntentArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Only versions of this intent.
    #[arg(long, value_name = "INTENT", value_parser = parse_intent)]
    pub(super) intent: Option<IntentId>,
    #[command(flatten)]
    pub(super) ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ContractArgs {
    /// A loaded version: the beginning of its digest, or `intent@version`.
    #[arg(value_name = "CONTRACT")]
    pub(super) contract: ContractName,
    #[command(flatten)]
    pub(super) ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ActivateArgs {
    /// A loaded version: the beginning of its digest, or `intent@version`.
    #[arg(value_name = "CONTRACT")]
    pub(super) contract: ContractName,
    /// Wait for no gateway: one that does not have it ready goes on with the version before until it has.
    #[arg(long)]
    pub(super) at_once: bool,
    #[command(flatten)]
    pub(super) ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// A component, or a loaded version: the beginning of its digest, or `intent@version`.
    #[arg(value_name = "CANDIDATE")]
    pub(super) candidate: PathBuf,
    /// How far to look back: `7d`, `12h`.
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = parse_span)]
    pub(super) since: Duration,
    /// What to compare with: `live`, what the live version makes of it; `shown`, what was shown, by whichever version; or a loaded
    /// version.
    #[arg(long, value_name = "live|shown|CONTRACT", default_value = "live")]
    pub(super) against: String,
    /// At most so many receipts, the latest.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(super) limit: u64,
    /// Write the report as one page of HTML, with plots, to this file.
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    #[command(flatten)]
    pub(super) ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct PromoteArgs {
    /// A loaded version: the beginning of its digest, or `intent@version`.
    #[arg(value_name = "CONTRACT")]
    pub(super) contract: ContractName,
    /// Why, for the audit log.
    #[arg(long, value_name = "TEXT")]
    pub(super) why: String,
    /// Stages and bounds, a JSON file; without it, ten minutes beside serving, then 5 and 25 percent of the users.
    #[arg(long, value_name = "FILE")]
    pub(super) policy: Option<PathBuf>,
    #[command(flatten)]
    pub(super) ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct RolloutArgs {
    /// The intent.
    #[arg(value_name = "INTENT", value_parser = parse_intent)]
    pub(super) intent: IntentId,
    /// What to do with it.
    #[arg(value_name = "pause|resume|abort|advance|finish", value_parser = parse_act, requires = "why")]
    pub(super) act: Option<RolloutAct>,
    /// Why, for the audit log.
    #[arg(long, value_name = "TEXT", requires = "act")]
    pub(super) why: Option<String>,
    #[command(flatten)]
    pub(super) ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct PolicyArgs {
    /// The intent.
    #[arg(value_name = "INTENT", value_parser = parse_intent)]
    pub(super) intent: IntentId,
    /// The policy.
    #[arg(value_name = "auto|manual", value_parser = parse_policy)]
    pub(super) policy: ReleasePolicy,
    #[command(flatten)]
    pub(super) ask: AskArgs,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false, args = ["component", "key"])]
pub(crate) struct RevokeArgs {
    /// SHA-256 of a component, whole.
    #[arg(long, value_name = "DIGEST")]
    pub(super) component: Option<Digest>,
    /// Name of a key, 16 hexadecimal characters.
    #[arg(long, value_name = "KEY")]
    pub(super) key: Option<KeyId>,
    /// Why, for the audit log and for whoever is refused.
    #[arg(long, value_name = "TEXT")]
    pub(super) reason: String,
    #[command(flatten)]
    pub(super) ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct RevocationsArgs {
    #[command(flatten)]
    pub(super) ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct LoadArgs {
    /// The component.
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// Only load it; what is live stays live.
    #[arg(long)]
    pub(super) inactive: bool,
    /// Let it take values out of vocabularies. Without this such a version is refused, and the refusal says who uses them.
    #[arg(long)]
    pub(super) allow_removed_values: bool,
    #[command(flatten)]
    pub(super) ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct IntentArgs {
    /// The intent.
    #[arg(value_name = "INTENT", value_parser = parse_intent)]
    pub(super) intent: IntentId,
    #[command(flatten)]
    pub(super) ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(super) ask: AskArgs,
}

#[derive(Args, Debug)]
pub(crate) struct FailuresArgs {
    /// The intent whose calls are asked for.
    #[arg(value_name = "INTENT", value_parser = parse_intent)]
    pub(super) intent: Option<IntentId>,
    /// Only what is older than this fault.
    #[arg(long, value_name = "N", requires = "intent")]
    pub(super) before: Option<u64>,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=PAGE_MAX))]
    pub(super) limit: u32,
    /// Write this fault to a file, with the call that led to it.
    #[arg(long, value_name = "N", requires = "intent", conflicts_with = "before")]
    pub(super) save: Option<u64>,
    /// The file; without it, fault-<N>.json in the current folder.
    #[arg(long, value_name = "FILE", requires = "save")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) ask: AskArgs,
}

fn parse_act(text: &str) -> Result<RolloutAct, String> {
    match text {
        "pause" => Ok(RolloutAct::Pause),
        "resume" => Ok(RolloutAct::Resume),
        "abort" => Ok(RolloutAct::Abort),
        "advance" => Ok(RolloutAct::Advance),
        "finish" => Ok(RolloutAct::Finish),
        _ => Err("expected pause, resume, abort, advance or finish".to_owned()),
    }
}

fn parse_policy(text: &str) -> Result<ReleasePolicy, String> {
    match text {
        "auto" => Ok(ReleasePolicy::Auto),
        "manual" => Ok(ReleasePolicy::Manual),
        _ => Err("expected auto or manual".to_owned()),
    }
}
