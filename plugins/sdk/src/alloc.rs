//! The guest's allocator: a bump pointer.
//!
//! An instance lives for one call and its memory is thrown away with it, so nothing is given back but the
//! last block, which lets a growing vector or string grow in place. Memory comes from the host in chunks.
//!
//! This is the one place of the SDK with unsafe code of its own.

#![expect(unsafe_code, reason = "a global allocator hands out raw memory; it is the only unsafe code of the SDK")]

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::{memory_grow, memory_size};
use core::cell::Cell;

/// Size of a page of WebAssembly memory in bytes.
const PAGE_BYTES: usize = 64 * 1024;

/// Pages asked for at a time at least: 512 KiB, more than a search of usual size needs in all.
const CHUNK_PAGES: usize = 8;

unsafe extern "C" {
    /// The linker's name for the first byte after the module's static data.
    static __heap_base: u8;
}

/// The allocator. A guest has one thread and no signals, so plain cells will do.
struct Bump {
    /// First free byte; 0 before the first allocation.
    next: Cell<usize>,
    /// End of the memory that the host has given.
    end: Cell<usize>,
}

// SAFETY: a wasm32 guest without the threads proposal has one thread.
unsafe impl Sync for Bump {}

#[global_allocator]
static ALLOCATOR: Bump = Bump { next: Cell::new(0), end: Cell::new(0) };

impl Bump {
    /// Makes sure that memory up to `until` exists.
    #[cold]
    fn grow(&self, until: usize) -> bool {
        let missing = until.saturating_sub(self.end.get()).div_ceil(PAGE_BYTES);
        let pages = missing.max(CHUNK_PAGES);
        let grown = match memory_grow::<0>(pages) {
            // The host's limit may leave room for what is needed though not for a whole chunk.
            usize::MAX => memory_grow::<0>(missing) != usize::MAX,
            _ => true,
        };
        self.end.set(memory_size::<0>() * PAGE_BYTES);
        grown
    }

    #[cold]
    fn start(&self) {
        self.next.set((&raw const __heap_base).addr());
        self.end.set(memory_size::<0>() * PAGE_BYTES);
    }
}

// SAFETY: blocks are handed out from memory above the static data, aligned, and never twice: `next` only moves
// back when the block that ends at it is given back or shrunk.
unsafe impl GlobalAlloc for Bump {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if self.next.get() == 0 {
            self.start();
        }
        let start = self.next.get().next_multiple_of(layout.align());
        let Some(next) = start.checked_add(layout.size()) else {
            return core::ptr::null_mut();
        };
        if next > self.end.get() && !self.grow(next) {
            return core::ptr::null_mut();
        }
        self.next.set(next);
        core::ptr::with_exposed_provenance_mut(start)
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if block.addr() + layout.size() == self.next.get() {
            self.next.set(block.addr());
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if block.addr() + layout.size() == self.next.get() {
            let Some(next) = block.addr().checked_add(new_size) else {
                return core::ptr::null_mut();
            };
            if next > self.end.get() && !self.grow(next) {
                return core::ptr::null_mut();
            }
            self.next.set(next);
            return block;
        }
        if new_size <= layout.size() {
            return block;
        }
        // SAFETY: the caller vouches for `new_size` with this alignment.
        let copy = unsafe { self.alloc(Layout::from_size_align_unchecked(new_size, layout.align())) };
        if !copy.is_null() {
            // SAFETY: the old block is shorter than the new one, which is fresh, so they do not overlap.
            unsafe { core::ptr::copy_nonoverlapping(block, copy, layout.size()) };
        }
        copy
    }
}
