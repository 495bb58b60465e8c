//! `cargo xtask book`: the documentation as a site, in target/book. mdBook renders the pages that docs/SUMMARY.md lists, wherever in the
//! project they are, and the files that they link to come with them. How counts of instructions have changed is told from the
//! repository's history. A link that leads nowhere fails.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, bail, ensure};

use crate::command::{own_command, root, run, step};
use crate::counts_history;
use crate::tools::RustProgram;

/// Serving and watching would bring half of the crates that it is built of.
const MDBOOK: RustProgram<'_> =
    RustProgram { name: "mdbook", version: "0.5.4", features: &["search"], is_optimised: false };
/// Where the pages are listed, and how they are to look.
const SUMMARY: &str = "docs/SUMMARY.md";
const SETTINGS: &str = "docs/book.toml";
/// Where pages and files are laid out as in the project, and where the site is then.
const SOURCE: &str = "target/book-source";
const SITE: &str = "target/book";
/// Stands in a page for the table of how counts have changed.
const HISTORY: &str = "<!-- the history of the counts -->";
/// Broken links that are told.
const TOLD_MAX: usize = 50;

/// Builds the site, and follows its links.
pub(crate) fn build() -> anyhow::Result<()> {
    let program = MDBOOK.install()?;
    step("The site of the documentation");
    let (source, site) = (root().join(SOURCE), root().join(SITE));
    for folder in [&source, &site] {
        if folder.exists() {
            std::fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
    }
    let pages = lay_out(&source)?;
    run(own_command(program).arg("build").arg(&source).env("MDBOOK_LOG", "warn"))?;
    let links = follow_links(&site)?;
    eprintln!("   {} pages, {links} links, in {SITE}", pages.len());
    Ok(())
}

/// Copies the pages, and the files that they link to; the paths of the pages from the root of the project.
fn lay_out(source: &Path) -> anyhow::Result<BTreeSet<PathBuf>> {
    let summary = std::fs::read_to_string(root().join(SUMMARY)).with_context(|| format!("cannot read {SUMMARY}"))?;
    let mut pages = BTreeSet::new();
    let mut relisted = summary.clone();
    for link in read_links(&summary) {
        let page = resolve(Path::new(SUMMARY), &link)?;
        relisted = relisted.replace(&format!("]({link})"), &format!("]({})", page.display()));
        pages.insert(page);
    }
    write(&source.join("SUMMARY.md"), relisted.as_bytes())?;
    write(&source.join("book.toml"), &std::fs::read(root().join(SETTINGS))?)?;
    let mut files = BTreeSet::new();
    for page in &pages {
        let text =
            std::fs::read_to_string(root().join(page)).with_context(|| format!("cannot read {}", page.display()))?;
        for link in read_links(&text).into_iter().filter(|link| !link.contains(':')) {
            let target = resolve(page, &link)?;
            let is_page = target.extension().is_some_and(|end| end == "md");
            ensure!(
                !is_page || pages.contains(&target),
                "{} links to {}, which {SUMMARY} does not list",
                page.display(),
                target.display()
            );
            ensure!(
                !root().join(&target).is_dir(),
                "{} links to a folder, {}; name a file of it",
                page.display(),
                target.display()
            );
            files.extend((!is_page).then_some(target));
        }
        let text = if text.contains(HISTORY) { text.replace(HISTORY, &counts_history::tell()?) } else { text };
        write(&source.join(page), text.as_bytes())?;
    }
    for file in files {
        let content = std::fs::read(root().join(&file)).with_context(|| format!("cannot read {}", file.display()))?;
        write(&source.join(file), &content)?;
    }
    Ok(pages)
}

fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let folder = path.parent().context("a file is in a folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    std::fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

/// Where the links of a page lead, without what is code and without the places in pages.
fn read_links(page: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut links = BTreeSet::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        // What stands between two backquotes is code as well.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for rest in prose.split("](").skip(1).filter(|_| !is_code) {
            let link = rest.split([')', ' ', '#']).next().unwrap_or_default();
            if !link.is_empty() {
                links.insert(link.to_owned());
            }
        }
    }
    links
}

/// The path from the root of the project that a link in a page leads to.
fn resolve(page: &Path, link: &str) -> anyhow::Result<PathBuf> {
    let mut path = page.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => ensure!(path.pop(), "{}: {link} leads out of the project", page.display()),
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => bail!("{}: {link} is no relative link", page.display()),
        }
    }
    Ok(path)
}

/// Follows the links of every page of the site; how many there are.
fn follow_links(site: &Path) -> anyhow::Result<usize> {
    let mut pages = BTreeMap::new();
    read_pages(site, Path::new(""), &mut pages)?;
    let places: BTreeMap<_, BTreeSet<&str>> =
        pages.iter().map(|(name, text)| (name.clone(), read_attributes(text, " id=").collect())).collect();
    let (mut count, mut broken) = (0, Vec::new());
    for (name, text) in &pages {
        for link in read_attributes(text, " href=").chain(read_attributes(text, " src=")) {
            // The page for what is not found may be shown at any depth; its links begin at the site's own root.
            if link.contains(':') || link.starts_with('/') || name.ends_with("404.html") {
                continue;
            }
            count += 1;
            let (target, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if target.is_empty() { name.clone() } else { resolve(name, target)? };
            let is_there = if target.extension().is_some_and(|end| end == "html") {
                places.get(&target).is_some_and(|places| place.is_empty() || places.contains(place))
            } else {
                site.join(&target).is_file()
            };
            if !is_there {
                broken.push(format!("{}: {link}", name.display()));
            }
        }
    }
    broken.sort();
    broken.dedup();
    ensure!(
        broken.is_empty(),
        "{} links lead nowhere:\n{}",
        broken.len(),
        broken[..broken.len().min(TOLD_MAX)].join("\n")
    );
    Ok(count)
}

/// Reads every page of a folder of the site, and of those below it.
fn read_pages(site: &Path, below: &Path, pages: &mut BTreeMap<PathBuf, String>) -> anyhow::Result<()> {
    let folder = site.join(below);
    for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry.with_context(|| format!("cannot read {}", folder.display()))?;
        let name = below.join(entry.file_name());
        if entry.path().is_dir() {
            read_pages(site, &name, pages)?;
        } else if name.extension().is_some_and(|end| end == "html") {
            let text =
                std::fs::read_to_string(entry.path()).with_context(|| format!("cannot read {}", name.display()))?;
            pages.insert(name, text);
        }
    }
    Ok(())
}

/// The values of an attribute in a page.
fn read_attributes<'p>(page: &'p str, attribute: &str) -> impl Iterator<Item = &'p str> {
    let values = page.split(&format!("{attribute}\"")).skip(1).collect::<Vec<_>>().into_iter();
    values.filter_map(|rest| rest.split('"').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_without_code_and_places() {
        let page = "[a](a.md#b) `[no](no.md)` [c](../c.rs), [d](#d)\n```\n[no](no.md)\n```\n![e](images/e.png)";
        assert_eq!(read_links(page), ["../c.rs", "a.md", "images/e.png"].map(str::to_owned).into());
    }

    #[test]
    fn links_are_followed_from_their_page() {
        let resolved = |link: &str| resolve(Path::new("docs/runbooks/x.md"), link).ok();
        assert_eq!(resolved("../a.md"), Some(PathBuf::from("docs/a.md")));
        assert_eq!(resolved("../../README.md"), Some(PathBuf::from("README.md")));
        assert_eq!(resolved("../../../etc/passwd"), None);
        assert_eq!(resolved("/etc/passwd"), None);
    }
}
