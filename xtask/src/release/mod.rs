//! `cargo xtask release`: everything that is handed out of a version, in one folder (docs/releasing.md).
//!
//! | question | module |
//! |---|---|
//! | which commit is released, and whether it may be | `source` |
//! | how the programs are built, and their symbols set apart | `build` |
//! | which file of a package comes from where | `tree` |
//! | archives that come out the same each time | `archive` |
//! | the Debian packages | `debian` |
//! | the image | `image` |
//! | whether it can be installed and used | `trial` |
//! | what it is made of, under which licences, and how to check it | `papers` |

mod archive;
mod build;
mod debian;
mod image;
mod papers;
mod source;
mod tree;
pub(crate) mod trial;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use clap::Args;

use self::archive::Effort;
use self::build::{COUNTS, Programs};
use self::source::Source;
use crate::command::{root, step};
use crate::guests;

/// Where what is built for handing out lies, apart from what development builds.
const WORK: &str = "target/shipped";
/// The page that lists the files for those who install them.
const INSTALLING: &str = "docs/installing.md";

#[derive(Args)]
pub(crate) struct ReleaseArgs {
    /// Folder for what is handed out; it must be empty or not there
    #[arg(long, value_name = "DIR", default_value = "target/release-files")]
    out: PathBuf,
    /// Build unoptimised, and make the packages and the image alone, to try them: not for handing out
    #[arg(long)]
    trial: bool,
    /// Sign the checksums with this SSH key
    #[arg(long, value_name = "KEY")]
    sign_with: Option<PathBuf>,
    /// Make it twice, in two folders, and compare
    #[arg(long, conflicts_with = "trial")]
    twice: bool,
    /// Lay the code out by these counts of another run, to make the same again
    #[arg(long, value_name = "FILE", conflicts_with = "trial")]
    counts: Option<PathBuf>,
    /// Make the release in this folder again, and compare its files with what comes out
    #[arg(long, value_name = "DIR", conflicts_with_all = ["trial", "sign_with", "twice", "counts"])]
    verify: Option<PathBuf>,
}

/// Makes a release, or verifies one.
pub(crate) fn run(arguments: &ReleaseArgs) -> anyhow::Result<()> {
    let ReleaseArgs { out, trial, sign_with, twice, counts, verify } = arguments;
    let source = Source::read(*trial)?;
    if let Some(released) = verify {
        return verify_release(&source, released);
    }
    // The tools run in other folders.
    let out = &std::path::absolute(out).with_context(|| format!("no such place as {}", out.display()))?;
    require_empty(out)?;
    let work = root().join(WORK);
    make(&source, *trial, &work, out, counts.as_deref())?;
    require_described(out, &source.version)?;
    if *twice {
        compare_again(&source, out, &work.join(COUNTS))?;
    }
    papers::write_checksums(out)?;
    if let Some(key) = sign_with {
        papers::sign(out, key)?;
    }
    step(&format!("Version {} is in {}", source.version, out.display()));
    for (name, bytes) in archive::list_files(out)? {
        eprintln!("   {name:<52} {:>8} KB", bytes / 1024);
    }
    Ok(())
}

fn make(source: &Source, trial: bool, work: &Path, out: &Path, counts: Option<&Path>) -> anyhow::Result<()> {
    std::fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    // First, for a licence that nobody has agreed to would otherwise be found after an hour of compiling.
    let papers = if trial { None } else { Some(papers::write(source, work, out)?) };
    guests::build_all()?;
    let programs = Programs::build(source, trial, work, counts)?;
    let tree = tree::lay_out(&programs, papers.as_ref(), work)?;
    let name = source.file_stem();
    let effort = if trial { Effort::Little } else { Effort::Much };
    debian::pack(source, &tree, effort, out)?;
    image::write(source, &tree, effort, out)?;
    if trial {
        return Ok(());
    }
    step("Archives");
    archive::write_tar_gz(&tree.join("usr"), &name, source.time, &out.join(format!("{name}.tar.gz")))?;
    archive::write_tar_gz(&programs.symbols, &name, source.time, &out.join(format!("{name}-symbols.tar.gz")))?;
    // With it, anybody can make the same programs again.
    archive::write_gz(&work.join(COUNTS), &out.join(format!("{name}-{COUNTS}.gz")))?;
    papers::write_provenance(source, out)
}

fn require_empty(out: &Path) -> anyhow::Result<()> {
    let is_empty = std::fs::read_dir(out).map_or(true, |mut entries| entries.next().is_none());
    ensure!(is_empty, "{} is not empty; what is in it might be taken for a part of the release", out.display());
    Ok(())
}

/// Requires that the page for those who install has every file under the name that it has.
fn require_described(out: &Path, version: &str) -> anyhow::Result<()> {
    let page = std::fs::read_to_string(root().join(INSTALLING)).with_context(|| format!("cannot read {INSTALLING}"))?;
    let names = archive::list_files(out)?.into_iter().map(|(name, _)| name);
    let missing = find_undescribed(names, version, &page);
    ensure!(missing.is_empty(), "{INSTALLING} does not list {}", missing.join(", "));
    Ok(())
}

/// Those of the files that the page does not list. It writes `VERSION` for the version.
fn find_undescribed(names: impl Iterator<Item = String>, version: &str, page: &str) -> Vec<String> {
    let is_listed = |name: &String| page.contains(&format!("`{}`", name.replace(version, "VERSION")));
    names.filter(|name| !is_listed(name)).collect()
}

/// Makes a release again, with the counts that lie beside it, and compares.
fn verify_release(source: &Source, released: &Path) -> anyhow::Result<()> {
    let released =
        &std::path::absolute(released).with_context(|| format!("no such place as {}", released.display()))?;
    papers::require_commit(released, &source.commit)?;
    let work = root().join(WORK);
    std::fs::create_dir_all(&work).with_context(|| format!("cannot make {}", work.display()))?;
    let counts = work.join("counts-of-release.fdata");
    archive::read_gz(&released.join(format!("{}-{COUNTS}.gz", source.file_stem())), &counts)?;
    compare_again(source, released, &counts)
}

/// Makes everything again where nothing is left of the first time, and holds the two against each other.
fn compare_again(source: &Source, out: &Path, counts: &Path) -> anyhow::Result<()> {
    let again = root().join(WORK).join("again");
    let second = again.join("files");
    if again.exists() {
        std::fs::remove_dir_all(&again).with_context(|| format!("cannot remove {}", again.display()))?;
    }
    make(source, false, &again, &second, Some(counts))?;
    step("Comparing the two");
    let different = find_different(out, &second)?;
    ensure!(different.is_empty(), "these came out different the second time, or not at all: {}", different.join(", "));
    eprintln!("   both times the same, byte for byte");
    Ok(())
}

/// Names of a release's files that differ from those of a second one, or are missing in it. The time of the build, the checksums and
/// the signature are not compared.
fn find_different(released: &Path, second: &Path) -> anyhow::Result<Vec<String>> {
    let mut different = Vec::new();
    for (name, _) in archive::list_files(released)? {
        let again = second.join(&name);
        let is_same =
            || anyhow::Ok(again.is_file() && archive::digest(&released.join(&name))? == archive::digest(&again)?);
        if !papers::is_of_one_making(&name) && !is_same()? {
            different.push(name);
        }
    }
    Ok(different)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_the_page_does_not_list_are_named() {
        let page = "| `gateway_VERSION-1_amd64.deb` | the gateway |\n| `sums`, `sums.sig` | what it is checked by |";
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>().into_iter();
        let listed = names(&["gateway_0.2.0-1_amd64.deb", "sums.sig"]);
        assert_eq!(find_undescribed(listed, "0.2.0", page), Vec::<String>::new());
        let others = names(&["gateway_0.2.0_amd64.deb", "sums", "sum"]);
        assert_eq!(find_undescribed(others, "0.2.0", page), ["gateway_0.2.0_amd64.deb", "sum"]);
    }

    #[test]
    fn what_differs_from_a_release_is_named() {
        let top = std::env::temp_dir().join(format!("xtask-release-{}", std::process::id()));
        let (released, second) = (top.join("released"), top.join("second"));
        let write = |folder: &Path, files: &[(&str, &str)]| {
            std::fs::create_dir_all(folder).expect("made");
            files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).expect("written"));
        };
        write(&released, &[("a.deb", "a"), ("b.deb", "b"), ("SHA256SUMS", "1"), (papers::PROVENANCE, "today")]);
        write(&second, &[("a.deb", "a"), ("b.deb", "b"), (papers::PROVENANCE, "tomorrow")]);
        assert_eq!(find_different(&released, &second).expect("compared"), Vec::<String>::new());
        write(&second, &[("b.deb", "B")]);
        write(&released, &[("c.deb", "c")]);
        assert_eq!(find_different(&released, &second).expect("compared"), ["b.deb", "c.deb"]);
        std::fs::remove_dir_all(&top).expect("removed");
    }
}
