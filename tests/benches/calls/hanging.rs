//! Ten partners of which one hangs: what a search takes while nobody knows, and once the partner is left out.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::gateway::Gateway;
use crate::partner::HANG;
use crate::subject::{SUBJECTS, Subject};
use crate::{line, root, start_partner};

/// The deadline of a search; not below the p95 target of the search tool, or nobody would ever be left out.
const DEADLINE: Duration = Duration::from_secs(2);
/// Partners that answer at once.
const WELL: usize = 9;
/// Searches that begin at once, before anything is known.
const FIRST: usize = 32;
/// Searches one after the other.
const LATER: usize = 1_000;
/// The one that hangs.
const HANGS: &str = "hangs";

/// Measures, and prints what was seen.
pub(crate) fn run(runtime: &Runtime) {
    let subject = &SUBJECTS[1];
    let partner = start_partner();
    println!("\nA search over ten partners, {} s at most, when one of them hangs", DEADLINE.as_secs());
    for hangs in [false, true] {
        let last = if hangs { format!("{}{HANG}/mcp", partner.url) } else { format!("{}/mcp", partner.url) };
        let mut partners: Vec<(String, String)> =
            (0..WELL).map(|number| (format!("well-{number}"), format!("{}/mcp", partner.url))).collect();
        partners.push((HANGS.to_owned(), last));
        let partners: Vec<(&str, &str)> = partners.iter().map(|(id, url)| (id.as_str(), url.as_str())).collect();
        let folder = tempfile::tempdir_in(root().join("target")).expect("a temporary folder");
        let gateway = Gateway::start(folder.path(), &partners, Some(DEADLINE));
        runtime.block_on(searches(&gateway, subject, hangs));
    }
}

async fn searches(gateway: &Gateway, subject: &Subject, hangs: bool) {
    let first = join_all((0..FIRST).map(|_| timed(gateway, subject))).await;
    let mut later = Vec::with_capacity(LATER);
    for _ in 0..LATER {
        later.push(timed(gateway, subject).await);
    }
    if hangs {
        assert!(first.iter().all(|(took, _)| *took >= DEADLINE), "nobody knew yet");
        show("  one hangs, the first 32 at once", &first);
        show("  one hangs, 1,000 after that, one by one", &later);
    } else {
        show("  all well, 1,000 one by one", &later);
    }
}

/// A search, which must have the options of those that are well: how long it took, and whether the last one was left out.
async fn timed(gateway: &Gateway, subject: &Subject) -> (Duration, bool) {
    let start = Instant::now();
    let answer = gateway.search(subject).await;
    let took = start.elapsed();
    let list = |name: &str| answer[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let has = |partner: &Value| list("options").iter().any(|option| option["partner"] == *partner);
    let well = |outcome: &&Value| outcome["partner"] != HANGS && has(&outcome["partner"]);
    assert_eq!(list("partners").iter().filter(well).count(), WELL, "{answer}");
    let left_out = list("partners").iter().any(|one| one["partner"] == HANGS && one["status"] == "left_out");
    (took, left_out)
}

fn show(what: &str, seen: &[(Duration, bool)]) {
    let mut times: Vec<Duration> = seen.iter().map(|(took, _)| *took).collect();
    times.sort_unstable();
    let ms = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    let left_out = seen.iter().filter(|(_, left_out)| *left_out).count();
    line(
        what,
        &format!("p50 {:.2} ms", ms(0.5)),
        &format!("p99 {:.2} ms, longest {:.0} ms; the partner was left out of {left_out}", ms(0.99), ms(1.0)),
    );
}
