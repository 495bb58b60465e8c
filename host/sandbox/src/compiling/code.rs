//! Machine code that may run here.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::os::fd::AsRawFd as _;
use std::sync::Once;

use bytes::Bytes;
use wasmtime::component::Component;

use crate::engine::Engine;

/// What this installation's own compiler has made of a component. Nothing else becomes one: it runs with the gateway's
/// rights.
#[derive(Clone)]
pub(crate) struct CompiledCode(Bytes);

impl CompiledCode {
    /// What the compiler has just returned: in this process, or through a pipe from a process of this very program.
    pub(super) fn of_own_compiler(code: Bytes) -> Self {
        Self(code)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Makes it ready to run, in memory of its own.
    ///
    /// # Errors
    /// When it was compiled for another engine, or needs more than an instance may have.
    #[expect(
        unsafe_code,
        reason = "deserialising compiled code is unsafe by nature; where it comes from makes it sound"
    )]
    pub(crate) fn load(&self, engine: &Engine) -> wasmtime::Result<Component> {
        // SAFETY: the bytes are what wasmtime's compiler returned in this installation: see the constructor. They are in
        // memory of our own, so nothing can change them between that and the use.
        unsafe { Component::deserialize(engine.wasmtime(), &self.0) }
    }
}

/// The same in a file, of which only those pages are in memory that are used.
pub(crate) struct CodeFile {
    file: File,
    code_bytes: u64,
}

impl CodeFile {
    /// A file that begins with so much of what this installation's compiler has returned, which the caller has verified, or has
    /// just written. It must be this gateway's alone and must never be written again: a newer one takes its name, not its place.
    pub(crate) fn of_verified(file: File, code_bytes: u64) -> Self {
        Self { file, code_bytes }
    }

    /// Makes it ready to run: mapped, or where the file system does not allow code, in memory of its own. The file may lose its
    /// name meanwhile and afterwards.
    ///
    /// # Errors
    /// As [`CompiledCode::load`].
    pub(crate) fn make_ready(self, engine: &Engine) -> wasmtime::Result<Component> {
        match self.map(engine) {
            Ok(component) => Ok(component),
            Err(error) => {
                let component = self.read()?.load(engine)?;
                static TOLD: Once = Once::new();
                TOLD.call_once(|| {
                    let error = format!("{error:#}");
                    tracing::warn!(
                        error,
                        "compiled contracts cannot be mapped from the state folder, and take memory instead"
                    );
                });
                Ok(component)
            }
        }
    }

    #[expect(unsafe_code, reason = "as in `CompiledCode::load`")]
    fn map(&self, engine: &Engine) -> wasmtime::Result<Component> {
        // What was verified, and not what has its name by now.
        let path = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        // SAFETY: the file has what wasmtime's compiler returned in this installation: see the constructor. It is readable
        // and writable for the gateway's user alone, as is the key that vouches for it, and the gateway writes none that
        // has been written: who could change it could as well change the gateway's memory.
        unsafe { Component::deserialize_file(engine.wasmtime(), path) }
    }

    fn read(&self) -> io::Result<CompiledCode> {
        let mut code = Vec::new();
        let mut file = &self.file;
        file.rewind()?;
        file.take(self.code_bytes).read_to_end(&mut code)?;
        Ok(CompiledCode(code.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::config::SandboxConfig;

    #[test]
    fn what_cannot_be_mapped_is_read() {
        let config = SandboxConfig { max_concurrent_instances: 1, ..SandboxConfig::default() };
        let engine = Engine::new(&config).expect("the engine starts");
        let component = wat::parse_str("(component)").expect("a component");
        let code = engine.wasmtime().precompile_component(&component).expect("it compiles");
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&code).expect("written");
        file.write_all(b"and what follows").expect("written");
        let file = CodeFile::of_verified(file, code.len() as u64);
        let read = file.read().expect("it is read");
        assert_eq!(read.as_bytes(), code);
        assert!(read.load(&engine).is_ok() && file.map(&engine).is_ok());
    }
}
