//! What partner and platform team are told of confirmations that end. Texts alone.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::{Ending, Stage};
use crate::records::Account;
use crate::text::date_and_time;
use intent_gateway_domain::findings::cut;

/// Confirmations that one mail names.
const NAMED_MAX: usize = 50;
/// Characters of what a contract says of each.
const TEXT_SHOWN_MAX_CHARS: usize = 300;

/// Subject and text for the partner.
pub(super) fn to_partner(owner: &Account, endings: &[Ending]) -> (&'static str, String) {
    let subject = match gravest(endings) {
        Stage::Unrouted => "Requests are not routed to you any more",
        Stage::Ended => "What the platform team confirmed has ended",
        Stage::Holds | Stage::FirstNotice | Stage::LastNotice => "What the platform team confirmed ends soon",
    };
    let text = format!(
        "Hello {},\n\nbefore you went live, the platform team looked at what no machine can judge. That holds for a time, and \
         then the team looks again:\n\n{}\nGive the team what shows how it is now: `intent-gateway partner document add FILE \
         --kind KIND` uploads a document. Once the team has confirmed it anew, requests are routed as before. \
         `intent-gateway partner status` shows the dates.\n",
        owner.business_name,
        lines(endings)
    );
    (subject, text)
}

/// Subject and text for the platform team.
pub(super) fn to_team(owner: &Account, endings: &[Ending]) -> (String, String) {
    let account = &owner.id;
    let what = match gravest(endings) {
        Stage::Unrouted => "not routed any more for want of a confirmation",
        Stage::Ended => "confirmations have ended",
        Stage::Holds | Stage::FirstNotice | Stage::LastNotice => "confirmations end soon",
    };
    let intents: BTreeSet<&str> = endings.iter().map(|ending| ending.intent.as_str()).collect();
    let confirm: String = intents
        .into_iter()
        .map(|intent| format!("  intent-gateway partner test {account} --intent {intent} --confirm CODE=NOTE\n"))
        .collect();
    let text = format!(
        "{} ({account}): somebody has to look again at what was confirmed.\n\n{}\nThe reviews of it: `intent-gateway review \
         list`. Or confirm what still holds:\n{confirm}",
        owner.business_name,
        lines(endings)
    );
    (format!("{account}: {what}"), text)
}

fn gravest(endings: &[Ending]) -> Stage {
    endings.iter().map(|ending| ending.stage).max().unwrap_or_default()
}

/// One line each, the gravest first.
fn lines(endings: &[Ending]) -> String {
    let mut sorted: Vec<&Ending> = endings.iter().collect();
    sorted.sort_by_key(|ending| (Reverse(ending.stage), ending.valid_until));
    let mut lines: String = sorted.iter().take(NAMED_MAX).map(|ending| line(ending)).collect();
    if let Some(more) = endings.len().checked_sub(NAMED_MAX).filter(|more| *more > 0) {
        lines.push_str(&format!("- and {more} more\n"));
    }
    lines
}

fn line(Ending { intent, code, text, stage, valid_until, routed_until }: &Ending) -> String {
    let (end, until) = (date_and_time(*valid_until), routed_until.map(date_and_time).unwrap_or_default());
    let what = match stage {
        Stage::Holds | Stage::FirstNotice | Stage::LastNotice => format!("Holds until {end}."),
        Stage::Ended => format!("Ended on {end}; requests are routed until {until} and not after."),
        Stage::Unrouted => format!("Ended on {end}; since {until} no requests of this intent are routed."),
    };
    format!("- {intent}, {code}: {} {what}\n", cut(text, TEXT_SHOWN_MAX_CHARS))
}
