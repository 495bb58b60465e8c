//! Machine code that may run here.

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

    /// What was kept by this installation, which the caller has verified.
    pub(crate) fn verified(code: Bytes) -> Self {
        Self(code)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Makes it ready to run.
    ///
    /// # Errors
    /// When it was compiled for another engine, or needs more than an instance may have.
    #[expect(
        unsafe_code,
        reason = "deserialising compiled code is unsafe by nature; where it comes from makes it sound"
    )]
    pub(crate) fn load(&self, engine: &Engine) -> wasmtime::Result<Component> {
        // SAFETY: the bytes are what wasmtime's compiler returned in this installation: see the constructors, of which one
        // takes them from the compiler itself and the other from the cache, which has verified their MAC. They are in
        // memory of our own, so nothing can change them between that and the use.
        unsafe { Component::deserialize(engine.wasmtime(), &self.0) }
    }
}
