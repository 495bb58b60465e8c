//! Machine code that may run here.

use std::fs::File;
use std::os::fd::AsRawFd as _;

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
pub(crate) struct CodeFile(File);

impl CodeFile {
    /// A file that begins with what this installation's compiler has returned, which the caller has verified, or has just
    /// written. It must be this gateway's alone and must never be written again: a newer one takes its name, not its place.
    pub(crate) fn verified(file: File) -> Self {
        Self(file)
    }

    /// Makes it ready to run. The file stays open as long as the component is there, and may lose its name.
    ///
    /// # Errors
    /// As [`CompiledCode::load`], and where the file cannot be mapped.
    #[expect(unsafe_code, reason = "as in `CompiledCode::load`")]
    pub(crate) fn map(&self, engine: &Engine) -> wasmtime::Result<Component> {
        // What was verified, and not what has its name by now.
        let path = format!("/proc/self/fd/{}", self.0.as_raw_fd());
        // SAFETY: the file has what wasmtime's compiler returned in this installation: see the constructor. It is readable
        // and writable for the gateway's user alone, as is the key that vouches for it, and the gateway writes none that
        // has been written: who could change it could as well change the gateway's memory.
        unsafe { Component::deserialize_file(engine.wasmtime(), path) }
    }
}
