//! Which commit is released, and whether it may be.

use std::process::Command;

use anyhow::{Context as _, bail, ensure};

use crate::command::{output, root};

/// What is released.
pub(crate) struct Source {
    pub(crate) version: String,
    /// Hash of the commit; with `-changed` behind it where a trial has what is not committed.
    pub(crate) commit: String,
    /// When it was committed, seconds since the epoch: the time of every file that is handed out.
    pub(crate) time: u64,
}

impl Source {
    /// Looks at the checkout. What is handed out comes from a commit, and its version is in the changelog; a trial may be of anything.
    pub(crate) fn read(trial: bool) -> anyhow::Result<Self> {
        let git = |arguments: &[&str]| output(Command::new("git").current_dir(root()).args(arguments));
        let mut commit = git(&["rev-parse", "HEAD"])?;
        if !git(&["status", "--porcelain"])?.is_empty() {
            ensure!(trial, "there are changes that are not committed; what is handed out comes from a commit");
            commit.push_str("-changed");
        }
        let time = git(&["show", "--no-patch", "--format=%ct", "HEAD"])?.parse().context("git gives no time")?;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let changelog = std::fs::read_to_string(root().join("CHANGELOG.md")).context("cannot read CHANGELOG.md")?;
        let is_listed = changelog.lines().any(|line| line.starts_with(&format!("## {version} ")));
        if !trial && !is_listed {
            bail!("CHANGELOG.md has no heading `## {version} (date)`; name the version there, and commit");
        }
        Ok(Self { version, commit, time })
    }

    /// How the files of this version are called, without what comes behind a dot.
    pub(crate) fn file_stem(&self) -> String {
        format!("intent-gateway-{}-{}-linux", self.version, std::env::consts::ARCH)
    }
}
