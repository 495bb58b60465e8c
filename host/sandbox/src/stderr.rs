//! A guest's standard error: the end of what it wrote there, in a bounded buffer. Runtimes of other languages write there
//! why they trap, after whatever a guest has written before.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// Bytes that are kept.
const KEPT_MAX_BYTES: usize = 4 * 1024;
/// Bytes that one write may have.
const WRITE_MAX_BYTES: usize = 64 * 1024;

/// Takes all that is written, and keeps the end of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stderr(Arc<Mutex<Vec<u8>>>);

impl Stderr {
    /// What is kept.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&bytes[bytes.len().saturating_sub(KEPT_MAX_BYTES)..]);
        let beyond = kept.len().saturating_sub(KEPT_MAX_BYTES);
        kept.drain(..beyond);
    }
}

impl OutputStream for Stderr {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.keep(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_MAX_BYTES)
    }
}

#[async_trait]
impl Pollable for Stderr {
    async fn ready(&mut self) {}
}

impl IsTerminal for Stderr {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stderr {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    /// Only WASI 0.3 asks for it, which is not linked.
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept() {
        let stderr = Stderr::default();
        stderr.keep(b"first ");
        stderr.keep(b"second");
        assert_eq!(stderr.bytes(), b"first second");
        stderr.keep(&[b'x'; 100_000]);
        stderr.keep(b"end");
        let written = stderr.bytes();
        assert!(written.len() == KEPT_MAX_BYTES && written.ends_with(b"xend"));
    }
}
