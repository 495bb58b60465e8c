//! How the counts of instructions came to be what they are: those of each commit that wrote them down, oldest first, as a table for a page.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::Context as _;
use serde::Deserialize;

use crate::command::{output, root};
use crate::instructions::{Counts, FILE};

/// Commits in a table; more have no room on a page.
const COLUMNS_MAX: usize = 8;

/// What is told of the file, whatever else it had at its time.
#[derive(Deserialize)]
struct Written {
    host: Counts,
    fuel: Counts,
}

/// What a commit wrote down.
struct Version {
    commit: String,
    /// `2026-11-28`
    date: String,
    counts: Counts,
}

/// The table, in Markdown: a row for each count that was ever another one, in thousands.
pub(crate) fn tell() -> anyhow::Result<String> {
    let mut versions = read_versions()?;
    versions.drain(..versions.len().saturating_sub(COLUMNS_MAX));
    Ok(draw(&versions))
}

fn read_versions() -> anyhow::Result<Vec<Version>> {
    let git = |arguments: &[&str]| output(Command::new("git").current_dir(root()).args(arguments));
    let log = git(&["log", "--reverse", "--format=%h %cs", "--", FILE])?;
    let mut versions = Vec::new();
    for line in log.lines() {
        let (commit, date) = line.split_once(' ').context("git names each commit with its date")?;
        let text = git(&["show", &format!("{commit}:{FILE}")])?;
        let Written { host, fuel } = serde_json::from_str(&text).with_context(|| format!("{FILE} of {commit}"))?;
        let counts = host.into_iter().chain(fuel).collect();
        versions.push(Version { commit: commit.to_owned(), date: date.to_owned(), counts });
    }
    Ok(versions)
}

fn draw(versions: &[Version]) -> String {
    let names: BTreeSet<&str> = versions.iter().flat_map(|version| version.counts.keys().map(String::as_str)).collect();
    let heads: Vec<String> = versions.iter().map(|Version { commit, date, .. }| format!("{date} `{commit}`")).collect();
    let mut table = format!(
        "| count, thousands | {} | last of first |\n|---|{}---:|\n",
        heads.join(" | "),
        "---:|".repeat(heads.len())
    );
    for name in names {
        let known: Vec<Option<u64>> = versions.iter().map(|version| version.counts.get(name).copied()).collect();
        let distinct: BTreeSet<u64> = known.iter().flatten().copied().collect();
        let (Some(first), Some(last)) = (known.iter().flatten().next(), known.iter().flatten().next_back()) else {
            continue;
        };
        if distinct.len() < 2 {
            continue;
        }
        let cells: Vec<String> = known
            .iter()
            .map(|count| count.map_or_else(String::new, |count| format!("{:.1}", count as f64 / 1e3)))
            .collect();
        let ratio = *last as f64 / *first as f64;
        table.push_str(&format!("| {name} | {} | {ratio:.2} |\n", cells.join(" | ")));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_changed_has_a_row_and_what_is_new_an_empty_cell() {
        let version = |commit: &str, counts: &[(&str, u64)]| Version {
            commit: commit.to_owned(),
            date: "2026-11-28".to_owned(),
            counts: counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
        };
        let drawn = draw(&[
            version("aa", &[("search", 2_000_000), ("scan", 7)]),
            version("bb", &[("search", 1_500_000), ("scan", 7), ("seal", 10_000)]),
            version("cc", &[("search", 1_000_000), ("scan", 7), ("seal", 20_000)]),
        ]);
        let expected = "| count, thousands | 2026-11-28 `aa` | 2026-11-28 `bb` | 2026-11-28 `cc` | last of first |\n\
                        |---|---:|---:|---:|---:|\n\
                        | seal |  | 10.0 | 20.0 | 2.00 |\n\
                        | search | 2000.0 | 1500.0 | 1000.0 | 0.50 |\n";
        assert_eq!(drawn, expected);
    }
}
