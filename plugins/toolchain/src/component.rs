//! From a core module to a component in a file.

use std::path::Path;

use wit_component::ComponentEncoder;

use crate::ToolchainError;

/// Encodes a module, which carries its own description of the interface, as a component.
///
/// # Errors
/// [`ToolchainError`] when the file cannot be read or holds no module of a contract.
pub fn encode(module: &Path) -> Result<Vec<u8>, ToolchainError> {
    let bytes = std::fs::read(module).map_err(|cause| file("read", module, cause))?;
    let encoded = ComponentEncoder::default().validate(true).module(&bytes).and_then(|encoder| encoder.encode());
    encoded.map_err(|cause| ToolchainError::Encode { module: module.to_owned(), cause: cause.into() })
}

/// Writes a component in one step, so that nobody reads half of it. Returns whether the file changed: an unchanged
/// component keeps its file, so that a gateway watching the folder sees no change.
///
/// # Errors
/// [`ToolchainError`] when the file cannot be written.
pub fn store(component: &[u8], to: &Path) -> Result<bool, ToolchainError> {
    if std::fs::read(to).is_ok_and(|old| old == component) {
        return Ok(false);
    }
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).map_err(|cause| file("create", folder, cause))?;
    }
    let partial = to.with_extension("partial");
    std::fs::write(&partial, component).map_err(|cause| file("write", &partial, cause))?;
    std::fs::rename(&partial, to).map_err(|cause| file("write", to, cause))?;
    Ok(true)
}

fn file(doing: &'static str, path: &Path, cause: std::io::Error) -> ToolchainError {
    ToolchainError::File { doing, path: path.to_owned(), cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unchanged_component_keeps_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new/contract.wasm");
        assert!(store(b"one", &path).expect("written"));
        assert!(!store(b"one", &path).expect("compared"));
        assert!(store(b"two", &path).expect("written"));
        assert_eq!(std::fs::read(&path).expect("there"), b"two");
        assert_eq!(std::fs::read_dir(folder.path().join("new")).expect("there").count(), 1, "nothing else is left");
    }

    #[test]
    fn what_is_no_contract_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.wasm");
        assert!(matches!(encode(&path), Err(ToolchainError::File { doing: "read", .. })));
        std::fs::write(&path, b"no module").expect("written");
        assert!(matches!(encode(&path), Err(ToolchainError::Encode { .. })));
    }
}
