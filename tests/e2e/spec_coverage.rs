//! The tables of `docs/spec-coverage`: every link leads to a file, every test is where its link says, every row has its
//! number and one standing, and the counts in `docs/spec-coverage.md` are those of the rows.
//!
//! Not here: whether the code does what a row says. That takes a reader.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::root;

/// What a row may say of its statement.
const STANDINGS: [&str; 4] = ["done", "partly", "differs on purpose", "not done"];
/// The page with the counts.
const HEAD: &str = "docs/spec-coverage.md";
/// The folder with one page for each document of the requirements.
const PARTS: &str = "docs/spec-coverage";
/// Documents of the requirements.
const DOCUMENTS: usize = 3;

struct Page {
    path: PathBuf,
    text: String,
}

/// `[label](target)`
pub(crate) struct Link<'a> {
    pub(crate) label: &'a str,
    pub(crate) target: &'a str,
}

/// One line of a table, with the names of its columns.
struct Row {
    columns: Vec<String>,
    cells: Vec<String>,
}

impl Page {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path, text }
    }

    /// The file that a link of this page leads to.
    fn target(&self, link: &Link<'_>) -> PathBuf {
        let file = link.target.split('#').next().unwrap_or_default();
        self.path.parent().expect("a page lies in a folder").join(file)
    }

    /// The number of the document that the page is about: `1` of `1-partner-integration.md`.
    fn document(&self) -> &str {
        name(&self.path).split('-').next().expect("there is a first part")
    }

    /// The rows of the tables of statements; other tables of the page are left out.
    fn statements(&self) -> Vec<Row> {
        rows(&self.text).into_iter().filter(|row| row.has_column("statement")).collect()
    }
}

impl Row {
    fn has_column(&self, column: &str) -> bool {
        self.columns.iter().any(|one| one == column)
    }

    fn cell(&self, column: &str) -> &str {
        let place = self.columns.iter().position(|one| one == column);
        &self.cells[place.unwrap_or_else(|| panic!("no column `{column}` in {:?}", self.columns))]
    }

    /// The standing that the cell begins with. After it comes a reason, or nothing.
    fn standing(&self) -> Option<&'static str> {
        let cell = self.cell("standing");
        STANDINGS.into_iter().find(|standing| {
            let rest = cell.strip_prefix(*standing);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
        })
    }
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("names of pages are text")
}

fn head() -> Page {
    Page::read(root().join(HEAD))
}

/// The pages of the documents, in their order.
fn parts() -> Vec<Page> {
    let files = fs::read_dir(root().join(PARTS)).expect("the folder is there");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("listed").path()).collect();
    paths.sort();
    assert_eq!(paths.len(), DOCUMENTS, "{paths:?}");
    paths.into_iter().map(Page::read).collect()
}

pub(crate) fn links(text: &str) -> impl Iterator<Item = Link<'_>> {
    text.match_indices("](").filter_map(move |(at, between)| {
        let label = text[..at].rsplit_once('[')?.1.trim_matches('`');
        let target = text[at + between.len()..].split_once(')')?.0;
        Some(Link { label, target })
    })
}

/// The rows of all tables of a page.
fn rows(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut columns: Option<Vec<String>> = None;
    for line in text.lines() {
        let Some(cells) = cells(line) else {
            columns = None;
            continue;
        };
        let Some(names) = &columns else {
            columns = Some(cells);
            continue;
        };
        // The line below the names of the columns.
        if cells.iter().all(|cell| cell.chars().all(|c| matches!(c, ':' | '-'))) {
            continue;
        }
        assert_eq!(cells.len(), names.len(), "{line}");
        rows.push(Row { columns: names.clone(), cells });
    }
    rows
}

/// The cells of a line, if it is one of a table.
fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(|cell| cell.trim().to_owned()).collect())
}

/// Whether a label is the name of a function; that of a file has a dot.
pub(crate) fn names_function(label: &str) -> bool {
    label.starts_with(|first: char| first.is_ascii_lowercase())
        && label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

pub(crate) fn has_function(source: &str, name: &str) -> bool {
    let declared = format!("fn {name}");
    let ends = |rest: &str| !rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_');
    source.match_indices(&declared).any(|(at, found)| ends(&source[at + found.len()..]))
}

#[test]
fn every_link_leads_to_a_file() {
    let mut pages = parts();
    pages.push(head());
    for page in pages {
        let mut followed = 0;
        for link in links(&page.text) {
            let target = page.target(&link);
            assert!(target.exists(), "{}: [{}]({})", page.path.display(), link.label, link.target);
            followed += 1;
        }
        assert!(followed > 0, "{} has no links: are they written differently now?", page.path.display());
    }
}

#[test]
fn every_test_is_where_its_link_says() {
    for page in parts() {
        let mut found = 0;
        for row in page.statements() {
            for link in links(row.cell("test")).filter(|link| names_function(link.label)) {
                let source = fs::read_to_string(page.target(&link)).unwrap_or_default();
                let row = &row.cells[0];
                assert!(has_function(&source, link.label), "{row}: no fn {} in {}", link.label, link.target);
                found += 1;
            }
        }
        assert!(found > 0, "{} names no test: are they written differently now?", page.path.display());
    }
}

#[test]
fn every_row_has_its_number_and_one_standing() {
    for page in parts() {
        for (before, row) in page.statements().iter().enumerate() {
            assert_eq!(row.cells[0], format!("{}.{}", page.document(), before + 1), "{}", page.path.display());
            assert!(row.standing().is_some(), "{}: {}", row.cells[0], row.cell("standing"));
            let is_explained = row.cell("standing").contains(": ");
            assert!(is_explained || row.standing() == Some("done"), "{} says no reason", row.cells[0]);
        }
    }
}

#[test]
fn the_counts_are_those_of_the_rows() {
    let head = head();
    let counted: Vec<Row> = rows(&head.text).into_iter().filter(|row| row.has_column("document")).collect();
    let parts = parts();
    let mut told = BTreeSet::new();
    for row in &counted {
        let link = links(row.cell("document")).next().expect("each row links its page");
        let target = head.target(&link);
        let page = parts.iter().find(|page| page.path == target).expect("the page is there");
        let statements = page.statements();
        let count = |standing| statements.iter().filter(|row| row.standing() == Some(standing)).count();
        assert_eq!(row.cell("rows"), statements.len().to_string(), "{}", target.display());
        for standing in STANDINGS {
            assert_eq!(row.cell(standing), count(standing).to_string(), "{standing} in {}", target.display());
        }
        told.insert(target);
    }
    assert_eq!((told.len(), counted.len()), (DOCUMENTS, DOCUMENTS), "each page is counted once");
}
