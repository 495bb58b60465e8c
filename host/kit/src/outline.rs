//! What can be seen of a component without running it: imports, exports, memories.

use serde::Serialize;
use wasmparser::{Parser, Payload};

/// Size of a page of linear memory in bytes.
const PAGE_BYTES: u64 = 64 * 1024;

/// Imports and exports of a component and the memory of the modules in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outline {
    /// Names of what it imports.
    pub imports: Vec<String>,
    /// Names of what it exports.
    pub exports: Vec<String>,
    /// Linear memory that an instance starts with, all memories together, bytes.
    pub(crate) initial_memory_bytes: u64,
}

impl Outline {
    /// Reads a component; none where the bytes are no WebAssembly binary from end to end.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let mut outline = Self::default();
        // Components and modules lie inside each other; only the names of the outermost one are its own.
        let mut depth = 0_u32;
        for payload in Parser::new(0).parse_all(bytes) {
            match payload.ok()? {
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(section) if depth == 0 => {
                    for import in section {
                        outline.imports.push(import.ok()?.name.name.to_owned());
                    }
                }
                Payload::ComponentExportSection(section) if depth == 0 => {
                    for export in section {
                        outline.exports.push(export.ok()?.name.name.to_owned());
                    }
                }
                Payload::MemorySection(section) => {
                    for memory in section {
                        let bytes = memory.ok()?.initial.saturating_mul(PAGE_BYTES);
                        outline.initial_memory_bytes = outline.initial_memory_bytes.saturating_add(bytes);
                    }
                }
                _ => {}
            }
        }
        Some(outline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_outermost_names_count() {
        let component = r#"(component
            (import "wasi:clocks/wall-clock@0.2.0" (instance $clock (export "now" (func))))
            (component $inner (import "hidden" (func)))
            (core module $m (memory 3) (func (export "f")))
            (core module $n (memory 1))
            (core instance $i (instantiate $m))
            (func $f (canon lift (core func $i "f")))
            (export "shown" (func $f)))"#;
        let outline = Outline::of(&wat::parse_str(component).expect("a component")).expect("well formed");
        assert_eq!(
            (outline.imports.as_slice(), outline.exports.as_slice()),
            (&["wasi:clocks/wall-clock@0.2.0".to_owned()][..], &["shown".to_owned()][..])
        );
        assert_eq!(outline.initial_memory_bytes, 4 * PAGE_BYTES);
    }

    #[test]
    fn an_empty_component_has_nothing() {
        let empty = [&b"\0asm"[..], &[0x0d, 0, 1, 0]].concat();
        assert_eq!(Outline::of(&empty), Some(Outline::default()));
        assert_eq!(Outline::of(b"no component"), None);
    }
}
