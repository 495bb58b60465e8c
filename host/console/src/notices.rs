//! What a page says first after something was done on the page before. The address names it by a word, so that nobody can have a page
//! say something else by a link.

use crate::frame::Notice;

/// The query's name for it.
pub(crate) const DONE: &str = "done";

const NOTICES: [(&str, &str); 24] = [
    ("waits", "A second person of the team has to approve this. Nothing was done yet."),
    ("approved", "Approved. The partner is told by e-mail."),
    ("rejected", "Rejected. The partner is told by e-mail."),
    ("carried-out", "Approved, and carried out."),
    ("refused", "Refused. Nothing of it was done."),
    ("published", "Published. Whom it concerns is told by e-mail and at its webhook."),
    ("notice-withdrawn", "Withdrawn. Whoever was told of it is told so."),
    ("activated", "The version serves, or does so as soon as every gateway has it ready."),
    ("withdrawn", "The version is not to serve any more. What serves goes on."),
    ("unloaded", "The intent is out of service. Its versions stay loaded."),
    ("rollout", "The rollout was changed."),
    ("probed", "The server was probed."),
    ("tested", "The test has run."),
    ("switched-on", "The connection is live."),
    ("suspended", "The connection is suspended. The partner is told why."),
    ("lifted", "The suspension is lifted. The connection is back in the sandbox."),
    ("accepted", "The changed tools are taken as they are."),
    ("saved", "Saved."),
    ("submitted", "Submitted. The platform team decides within the time that the review names."),
    ("ended", "The session has ended."),
    ("event-sent", "The event is on its way."),
    ("events-enabled", "Events are posted again from now on. What was not sent meanwhile can be sent from the list."),
    ("reversed", "The entry is taken back. Nothing was booked in its place."),
    ("corrected", "The entry was taken back, and this one booked in its place."),
];

/// The notice of a word.
pub(crate) fn find(word: &str) -> Option<Notice> {
    NOTICES.iter().find(|(own, _)| *own == word).map(|(_, text)| Notice { text })
}

/// An address that has the next page say it.
pub(crate) fn with_notice(address: &str, word: &'static str) -> String {
    debug_assert!(find(word).is_some(), "{word} says nothing");
    format!("{address}?{DONE}={word}")
}
