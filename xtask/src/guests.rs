//! Builds every guest and encodes it as a component.

use std::path::PathBuf;

use anyhow::Context as _;
use contract_toolchain::{Build, Compiler, Package, encode, store};

use crate::command::{root, step};

/// A guest crate and the folder below `target/` that its component goes to.
#[derive(Clone, Copy)]
pub(crate) struct Guest {
    /// The crate's folder.
    home: &'static str,
    folder: &'static str,
}

/// The contracts that ship; a gateway may watch this folder as it is.
pub(crate) const CONTRACTS: &str = "contracts";
/// A later version of a contract, for the demo and the swap tests.
pub(crate) const EXAMPLES: &str = "example-contracts";
/// Guests that are broken on purpose.
pub(crate) const HOSTILE: &str = "hostile-guests";
/// Small contracts for tests of what no contract that ships has.
pub(crate) const TESTS: &str = "test-contracts";

const GUESTS: [Guest; 7] = [
    Guest { home: "plugins/auto-book-ac-service", folder: CONTRACTS },
    Guest { home: "plugins/finance-buy-motor-insurance", folder: CONTRACTS },
    Guest { home: "plugins/lifestyle-book-yoga-class", folder: CONTRACTS },
    Guest { home: "examples/contract-safety-first", folder: EXAMPLES },
    Guest { home: "tests/guests/hostile", folder: HOSTILE },
    Guest { home: "tests/guests/dining", folder: TESTS },
    Guest { home: "tests/guests/ride", folder: TESTS },
];

/// Builds all guests.
pub(crate) fn build_all() -> anyhow::Result<()> {
    let compiler = Compiler::find(&root(), &step)?;
    step("Building contracts");
    let target_dir = root().join("target/guest");
    for guest in GUESTS {
        let package = Package::of(&root().join(guest.home))?;
        // One build each: a variant depends on its contract without the exports that the contract itself has, and
        // one build of both would give them to both.
        let module = compiler.build(Build { package: &package, target_dir: &target_dir, locked: true })?;
        let component = encode(&module)?;
        let path = component_path(guest.folder, &package.name);
        store(&component, &path).with_context(|| format!("{} is built but not kept", package.name))?;
        eprintln!("   {} ({} KB)", path.strip_prefix(root()).unwrap_or(&path).display(), component.len() / 1024);
    }
    Ok(())
}

/// The components of all contracts that ship.
pub(crate) fn list_shipped() -> anyhow::Result<Vec<PathBuf>> {
    let shipped = GUESTS.iter().filter(|guest| guest.folder == CONTRACTS);
    shipped.map(|guest| Ok(component_path(guest.folder, &Package::of(&root().join(guest.home))?.name))).collect()
}

/// Where the component of a guest is.
pub(crate) fn component_path(folder: &str, package: &str) -> PathBuf {
    root().join("target").join(folder).join(package).with_extension("wasm")
}
