//! Whether a compiled component is a contract of this interface: what it exports, and that it imports
//! nothing beyond `faults` and closed WASI.

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, ComponentExportIndex};

use crate::engine::Engine;
use crate::failure::LoadError;

/// Package and name of the interface, without its version.
const INTERFACE: &str = "intent-gateway:contract/contract";
/// Package and name of the interface by which a contract says why it failed, without its version.
const FAULTS: &str = "intent-gateway:contract/faults";
/// Version of the interface that this gateway runs. A contract built for an older minor version lacks what came
/// later, and is told which function; a newer one only brings more than is used.
const VERSION: semver::Version = semver::Version::new(1, 0, 0);
/// Packages of WASI 0.2 that are linked, with nothing granted. `wasi:sockets` is left out on purpose.
const LINKED_WASI: [&str; 5] = ["wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/"];

/// The interface of contracts, with its version, as WIT writes both: for people.
#[must_use]
pub fn contract_interface() -> String {
    let package = INTERFACE.split('/').next().unwrap_or(INTERFACE);
    format!("{package}@{VERSION}")
}

/// Where each function of the interface is found in a component.
#[derive(Clone)]
pub(crate) struct Exports {
    pub(crate) describe: ComponentExportIndex,
    pub(crate) classify: ComponentExportIndex,
    pub(crate) check_request: ComponentExportIndex,
    pub(crate) evaluate: ComponentExportIndex,
    pub(crate) check_response: ComponentExportIndex,
    pub(crate) check_completion: ComponentExportIndex,
    pub(crate) examples: ComponentExportIndex,
}

#[cfg(test)]
impl Exports {
    /// One function in the place of all, for tests of what does not depend on which.
    pub(crate) fn all(function: &ComponentExportIndex) -> Self {
        Self {
            describe: *function,
            classify: *function,
            check_request: *function,
            evaluate: *function,
            check_response: *function,
            check_completion: *function,
            examples: *function,
        }
    }
}

/// The name under which `faults` is linked. Components that were built for another minor version find it too.
pub(crate) fn faults_name() -> String {
    format!("{FAULTS}@{VERSION}")
}

/// Whether the component needs WASI.
pub(crate) fn imports(engine: &Engine, component: &Component) -> Result<bool, LoadError> {
    let mut with_wasi = false;
    for (name, _) in component.component_type().imports(engine.wasmtime()) {
        if LINKED_WASI.iter().any(|package| name.starts_with(package)) {
            with_wasi = true;
        } else if !name.split_once('@').is_some_and(|(interface, version)| interface == FAULTS && fits(version)) {
            return Err(LoadError::ForbiddenImport(name.to_owned()));
        }
    }
    Ok(with_wasi)
}

/// Whether a version of the interface is one that this gateway runs.
fn fits(version: &str) -> bool {
    semver::Version::parse(version).is_ok_and(|version| version.major == VERSION.major)
}

/// Finds the interface and its functions.
pub(crate) fn exports(engine: &Engine, component: &Component) -> Result<Exports, LoadError> {
    let name = interface_name(engine, component)?;
    let (item, interface) =
        component.get_export(None, name.as_str()).ok_or_else(|| LoadError::MissingExport(name.clone()))?;
    if !matches!(item, ComponentItem::ComponentInstance(_)) {
        return Err(LoadError::MissingExport(name));
    }
    let function = |function: &'static str| match component.get_export(Some(&interface), function) {
        Some((ComponentItem::ComponentFunc(_), index)) => Ok(index),
        _ => Err(LoadError::MissingExport(format!("{name}#{function}"))),
    };
    Ok(Exports {
        describe: function("describe")?,
        classify: function("classify")?,
        check_request: function("check-request")?,
        evaluate: function("evaluate")?,
        check_response: function("check-response")?,
        check_completion: function("check-completion")?,
        examples: function("examples")?,
    })
}

/// The full name under which the component exports the interface, if its version fits.
fn interface_name(engine: &Engine, component: &Component) -> Result<String, LoadError> {
    let expected = format!("{INTERFACE}@{VERSION}");
    let mut other = None;
    for (name, _) in component.component_type().exports(engine.wasmtime()) {
        let (interface, version) = name.split_once('@').unwrap_or((name, ""));
        if interface != INTERFACE {
            continue;
        }
        if fits(version) {
            return Ok(name.to_owned());
        }
        other = Some(name.to_owned());
    }
    Err(match other {
        Some(found) => LoadError::AbiMismatch { found, expected },
        None => LoadError::MissingExport(expected),
    })
}
