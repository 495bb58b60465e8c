//! `contract revoke` and `contract revocations`.

use intent_gateway_api::contracts::{Revocation, RevocationDone, RevocationList, RevocationOrder, RevokedVersion};

use super::CONTRACTS;
use super::arguments::{RevocationsArgs, RevokeArgs};
use crate::ask::tell;
use crate::outcome::{CommandError, Verdict, fail};
use crate::terminal::{harmless, table};

pub(super) fn run(arguments: &RevokeArgs) -> Result<Verdict, CommandError> {
    let RevokeArgs { component, key, reason, ask } = arguments;
    let order = RevocationOrder { component: *component, key: *key, reason: reason.clone() };
    let order = serde_json::to_value(&order).map_err(fail)?;
    let answer = ask.open()?.post(&format!("{CONTRACTS}/revocations"), Some(&order));
    tell(answer, ask.json, show_done)?;
    Ok(Verdict::Clean)
}

pub(super) fn list(arguments: &RevocationsArgs) -> Result<Verdict, CommandError> {
    let RevocationsArgs { ask } = arguments;
    let answer = ask.open()?.get(&format!("{CONTRACTS}/revocations"));
    tell(answer, ask.json, show_list)?;
    Ok(Verdict::Clean)
}

fn name(revocation: &Revocation) -> String {
    match (&revocation.component, &revocation.key) {
        (Some(component), _) => format!("component {component}"),
        (None, Some(key)) => format!("key {}", harmless(key)),
        (None, None) => "–".to_owned(),
    }
}

fn show_done(done: &RevocationDone) -> String {
    let mut lines = vec![format!("{} is revoked", name(&done.revocation))];
    if done.versions.is_empty() {
        lines.push("no version of the catalogue came under it".to_owned());
    }
    for RevokedVersion { intent, version, was_live, .. } in &done.versions {
        let what = if *was_live { "was live, and serves nowhere any more" } else { "runs nowhere any more" };
        lines.push(format!("{} {} {what}", harmless(intent), harmless(version)));
    }
    lines.join("\n")
}

fn show_list(list: &RevocationList) -> String {
    if list.revocations.is_empty() {
        return "nothing is revoked".to_owned();
    }
    let row =
        |revocation: &Revocation| [name(revocation), harmless(&revocation.by.subject), harmless(&revocation.reason)];
    table(["revoked", "by", "reason"], &list.revocations.iter().map(row).collect::<Vec<_>>())
}
