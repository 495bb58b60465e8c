//! The guest's allocator: a bump pointer.
//!
//! An instance lives for one call and its memory is thrown away with it, so nothing is given back but the
//! last block, which lets a growing vector or string grow in place.
//!
//! The first memory is an arena that the module has from the start. A search of usual size needs no more, so
//! the host neither has to map memory during the call nor to unmap it afterwards; that costs more than all
//! allocations together. What goes beyond comes from the host in chunks.
//!
//! This is the one place of the SDK with unsafe code of its own.

#![expect(unsafe_code, reason = "a global allocator hands out raw memory; it is the only unsafe code of the SDK")]

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::{memory_grow, memory_size};
use core::cell::{Cell, UnsafeCell};

/// Size of a page of WebAssembly memory in bytes.
const PAGE_BYTES: usize = 64 * 1024;

/// Size of the arena in bytes: a search over 15 options with 22 KB of JSON needs about a third of it.
const ARENA_BYTES: usize = 256 * 1024;

/// Pages asked for at a time at least: 512 KiB.
const CHUNK_PAGES: usize = 8;

/// Memory that the module has from the start. It is all zeros, so it takes no room in the file.
#[repr(align(16))]
struct Arena(UnsafeCell<[u8; ARENA_BYTES]>);

// SAFETY: a wasm32 guest without the threads proposal has one thread, and only the allocator uses the arena.
unsafe impl Sync for Arena {}

static ARENA: Arena = Arena(UnsafeCell::new([0; ARENA_BYTES]));

/// The allocator. A guest has one thread and no signals, so plain cells will do.
struct Bump {
    /// First free byte; 0 before the first allocation.
    next: Cell<usize>,
    /// End of the memory at hand.
    end: Cell<usize>,
}

// SAFETY: a wasm32 guest without the threads proposal has one thread.
unsafe impl Sync for Bump {}

#[global_allocator]
static ALLOCATOR: Bump = Bump { next: Cell::new(0), end: Cell::new(0) };

impl Bump {
    /// Where a block of this layout fits, with `next` set behind it.
    #[inline]
    fn reserve(&self, layout: Layout) -> Option<usize> {
        let start = self.next.get().checked_next_multiple_of(layout.align())?;
        let next = start.checked_add(layout.size())?;
        if next > self.end.get() || self.next.get() == 0 {
            return self.reserve_elsewhere(layout);
        }
        self.next.set(next);
        Some(start)
    }

    /// Starts with the arena, and goes on with memory of the host.
    #[cold]
    #[inline(never)]
    fn reserve_elsewhere(&self, layout: Layout) -> Option<usize> {
        if self.next.get() == 0 {
            let start = ARENA.0.get().expose_provenance();
            self.next.set(start);
            self.end.set(start + ARENA_BYTES);
            return self.reserve(layout);
        }
        let top = memory_size::<0>() * PAGE_BYTES;
        // Chunks that follow each other are one; the rest of the arena is given up.
        let from = if self.end.get() == top { self.next.get() } else { top };
        let start = from.checked_next_multiple_of(layout.align())?;
        let next = start.checked_add(layout.size())?;
        let missing = next.saturating_sub(top).div_ceil(PAGE_BYTES);
        // The host's limit may leave room for what is needed though not for a whole chunk.
        if memory_grow::<0>(missing.max(CHUNK_PAGES)) == usize::MAX && memory_grow::<0>(missing) == usize::MAX {
            return None;
        }
        self.end.set(memory_size::<0>() * PAGE_BYTES);
        self.next.set(next);
        Some(start)
    }
}

// SAFETY: blocks are handed out from memory that nothing else uses, aligned, and never twice: `next` only
// moves back when the block that ends at it is given back or shrunk.
unsafe impl GlobalAlloc for Bump {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.reserve(layout).map_or(core::ptr::null_mut(), core::ptr::with_exposed_provenance_mut)
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if block.addr() + layout.size() == self.next.get() {
            self.next.set(block.addr());
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let is_last = block.addr() + layout.size() == self.next.get();
        if is_last
            && let Some(next) = block.addr().checked_add(new_size)
            && next <= self.end.get()
        {
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
