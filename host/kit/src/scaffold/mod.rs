//! `plugin new`: the crate of a new contract, which builds and passes its tests as it is.
//!
//! The files are in `template/`, as an author will see them but for a few `{{names}}`. A contract made of them is
//! small and whole: a search and a booking, a rule of each kind, a ranking, samples, cases, tests.

use std::path::{Path, PathBuf};

use intent_gateway_domain::id::IntentId;

/// The SDK below the root of a checkout.
const SDK: &str = "plugins/sdk";
/// How the SDK's manifest names it.
const SDK_NAME: &str = "name = \"contract-sdk\"";
/// Files of a checkout that a contract's crate starts from where they are there: the versions and the compiler that
/// the SDK is tested with, and how its code is set.
const FROM_CHECKOUT: [&str; 3] = ["Cargo.lock", "rust-toolchain.toml", "rustfmt.toml"];

/// Path in the crate, and text with names to fill in.
macro_rules! template {
    ($($path:literal),* $(,)?) => { [$(($path, include_str!(concat!("template/", $path)))),*] };
}

/// Everything that is written. `Cargo.toml` and `.gitignore` have other names in the template, since both would act
/// on it.
const FILES: [(&str, &str); 28] = template![
    "Cargo.toml.in",
    "gitignore",
    "README.md",
    "src/lib.rs",
    "src/request.rs",
    "src/option.rs",
    "src/order.rs",
    "src/booking.rs",
    "src/rules.rs",
    "src/ranking.rs",
    "src/card.rs",
    "src/classification.rs",
    "src/completion.rs",
    "src/tables.rs",
    "src/examples.rs",
    "tests/contract.rs",
    "samples/request.json",
    "samples/option.json",
    "samples/search-answer.json",
    "samples/booking-arguments.json",
    "samples/booking.json",
    "samples/report.json",
    "cases/request.json",
    "cases/option.json",
    "cases/booking.json",
    "cases/booking-arguments.json",
    "cases/report.json",
    "cases/utterances.json",
];

/// The crate could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    /// There is something already.
    #[error("{} is there already; name another folder with --path", .0.display())]
    Exists(PathBuf),
    /// No checkout around the new crate or the current folder.
    #[error("the contract SDK was not found around here; name plugins/sdk of a checkout with --sdk")]
    NoSdk,
    /// What was named is not the SDK.
    #[error("{} is not the contract SDK; it is plugins/sdk of a checkout", .0.display())]
    NotTheSdk(PathBuf),
    /// A file could not be written.
    #[error("cannot write {}", .path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
}

/// What to make.
#[derive(Clone, Copy, Debug)]
pub struct Scaffold<'a> {
    pub intent: &'a IntentId,
    /// The folder to make.
    pub path: &'a Path,
    /// The SDK; without it, the checkout around the new folder or the current one has it.
    pub sdk: Option<&'a Path>,
}

/// What was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// How many files.
    pub files: usize,
}

/// The folder of a contract, and the name of its crate: the intent's name with dashes.
#[must_use]
pub fn folder_name(intent: &IntentId) -> String {
    intent.as_str().replace(['.', '_'], "-")
}

impl Scaffold<'_> {
    /// Writes the crate. Nothing that is there is overwritten.
    ///
    /// # Errors
    /// [`ScaffoldError`] when the folder is there already, the SDK is not, or a file cannot be written.
    pub fn make(&self) -> Result<Made, ScaffoldError> {
        let write = |path: &Path, cause| ScaffoldError::Write { path: path.to_owned(), cause };
        if self.path.symlink_metadata().is_ok() {
            return Err(ScaffoldError::Exists(self.path.to_owned()));
        }
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent).map_err(|cause| write(parent, cause))?;
        let sdk = self.find_sdk(parent)?;
        std::fs::create_dir(self.path).map_err(|cause| write(self.path, cause))?;
        let folder = self.path.canonicalize().map_err(|cause| write(self.path, cause))?;
        let names = Names::of(self.intent, &sdk_path(&sdk, &folder));
        let mut files = 0;
        for (name, text) in FILES {
            let path = folder.join(final_name(name));
            put(&path, &names.fill(text)).map_err(|cause| write(&path, cause))?;
            files += 1;
        }
        let checkout = sdk.ancestors().nth(Path::new(SDK).components().count());
        for name in FROM_CHECKOUT {
            if let Some(text) = checkout.and_then(|checkout| std::fs::read_to_string(checkout.join(name)).ok()) {
                let path = folder.join(name);
                put(&path, &text).map_err(|cause| write(&path, cause))?;
                files += 1;
            }
        }
        Ok(Made { files })
    }

    /// The SDK's folder, absolute.
    fn find_sdk(&self, parent: &Path) -> Result<PathBuf, ScaffoldError> {
        if let Some(sdk) = self.sdk {
            return is_sdk(sdk).ok_or_else(|| ScaffoldError::NotTheSdk(sdk.to_owned()));
        }
        let around = |folder: &Path| {
            let folder = folder.canonicalize().ok()?;
            folder.ancestors().find_map(|folder| is_sdk(&folder.join(SDK)))
        };
        around(parent).or_else(|| around(Path::new("."))).ok_or(ScaffoldError::NoSdk)
    }
}

/// The folder, absolute, if the SDK is in it.
fn is_sdk(folder: &Path) -> Option<PathBuf> {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    if manifest.contains(SDK_NAME) { folder.canonicalize().ok() } else { None }
}

/// From the crate to the SDK: relative inside one checkout, so that it can be moved as a whole; absolute otherwise.
fn sdk_path(sdk: &Path, folder: &Path) -> PathBuf {
    let checkout = sdk.ancestors().nth(Path::new(SDK).components().count());
    let inside = checkout.and_then(|checkout| Some((checkout, folder.strip_prefix(checkout).ok()?)));
    match inside {
        Some((checkout, below)) => {
            let up: PathBuf = below.components().map(|_| "..").collect();
            // The SDK lies in the checkout, so there is always a rest.
            up.join(sdk.strip_prefix(checkout).unwrap_or(sdk))
        }
        None => sdk.to_owned(),
    }
}

/// Writes a file that is not there yet, and the folder that it is to be in.
fn put(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::File::create_new(path)?.write_all(text.as_bytes())
}

fn final_name(template: &str) -> &str {
    match template {
        "Cargo.toml.in" => "Cargo.toml",
        "gitignore" => ".gitignore",
        other => other,
    }
}

/// What is filled in, by the name that stands in the template.
struct Names([(&'static str, String); 9]);

impl Names {
    fn of(intent: &IntentId, sdk: &Path) -> Self {
        let package = folder_name(intent);
        let name = intent.as_str().split_once('.').map_or(intent.as_str(), |(_, name)| name);
        // `book_plumber` is about a plumber; an intent that is one word is about that.
        let subject = name.split_once('_').map_or(name, |(_, subject)| subject).trim_matches('_');
        let subject = if subject.is_empty() { name } else { subject };
        let words = subject.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let title = capital(&words);
        Self([
            ("intent", intent.as_str().to_owned()),
            ("package", package.clone()),
            ("crate", package.replace('-', "_")),
            ("type", format!("{}Contract", name.split('_').map(capital).collect::<String>())),
            ("agent", format!("{}Agent", intent.domain().split('_').map(capital).collect::<String>())),
            ("subject", subject.to_owned()),
            ("words", words),
            ("title", title),
            // In a TOML text; a backslash or a quote in a path would end it.
            ("sdk", sdk.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"")),
        ])
    }

    fn fill(&self, template: &str) -> String {
        let mut text = template.to_owned();
        for (name, value) in &self.0 {
            text = text.replace(&format!("{{{{{name}}}}}"), value);
        }
        text
    }
}

/// The word with its first letter large.
fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intent(text: &str) -> IntentId {
        IntentId::parse(text).expect("well formed")
    }

    /// The root of this checkout.
    fn checkout() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("there")
    }

    fn read(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    #[test]
    fn every_name_is_filled_in() {
        for name in ["home.book_plumber", "tea.drink", "a.b_", "self.self", "food.order_2_go"] {
            let names = Names::of(&intent(name), Path::new("/sdk"));
            for (path, text) in FILES {
                let filled = names.fill(text);
                assert!(!filled.contains("{{"), "{name}: {path}");
                if path.ends_with(".json") {
                    serde_json::from_str::<serde_json::Value>(&filled).unwrap_or_else(|e| panic!("{path}: {e}"));
                }
            }
        }
        let names = Names::of(&intent("home.book_roof_repair"), Path::new("../sdk"));
        assert_eq!(
            names.fill("{{intent}} {{package}} {{crate}} {{type}} {{agent}} {{subject}} {{words}} {{title}} {{sdk}}"),
            "home.book_roof_repair home-book-roof-repair home_book_roof_repair BookRoofRepairContract HomeAgent \
             roof_repair roof repair Roof repair ../sdk"
        );
    }

    #[test]
    fn a_crate_is_made_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("deep/contract");
        let (intent, sdk) = (intent("home.book_plumber"), checkout().join(SDK));
        let scaffold = Scaffold { intent: &intent, path: &path, sdk: Some(&sdk) };
        let made = scaffold.make().expect("made");
        assert_eq!(made.files, FILES.len() + FROM_CHECKOUT.len());
        let manifest = read(&path.join("Cargo.toml"));
        assert!(manifest.contains("[workspace]") && manifest.contains("name = \"home-book-plumber\""), "{manifest}");
        assert!(manifest.contains(&format!("path = \"{}\"", sdk.display())), "{manifest}");
        assert!(path.join(".gitignore").is_file() && path.join("Cargo.lock").is_file());
        assert!(matches!(scaffold.make(), Err(ScaffoldError::Exists(_))));
    }

    #[test]
    fn the_sdk_is_found_or_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let sdk = folder.path().join("checkout").join(SDK);
        std::fs::create_dir_all(&sdk).expect("made");
        std::fs::write(sdk.join("Cargo.toml"), format!("[package]\n{SDK_NAME}\n")).expect("written");
        let (intent, path) = (intent("home.book_plumber"), folder.path().join("checkout/mine/new/crate"));
        Scaffold { intent: &intent, path: &path, sdk: None }.make().expect("found by walking up");
        assert!(read(&path.join("Cargo.toml")).contains("path = \"../../../plugins/sdk\""));
        let elsewhere = folder.path().join("crate");
        let wrong = Scaffold { intent: &intent, path: &elsewhere, sdk: Some(folder.path()) };
        assert!(matches!(wrong.make(), Err(ScaffoldError::NotTheSdk(_))));
        assert!(!elsewhere.exists(), "nothing is left behind");
    }
}
