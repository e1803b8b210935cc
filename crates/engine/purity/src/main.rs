//! A program without std around the engine: it links only if the engine and all its dependencies
//! do without std. See `docs/design/purity.md`.

#![no_std]
#![no_main]

extern crate alloc;

use alloc::sync::Arc;
use alloc::vec;
use core::alloc::{GlobalAlloc, Layout};
use core::ffi::{c_int, c_void};
use core::panic::PanicInfo;

use steersman_engine::{
    Engine, Event, Policy, Reply, RunInfo, Timestamp, ToolCall, ToolResult, UserMessage,
};

// rustc links with `-nodefaultlibs`, and std is what asks for libc elsewhere.
#[link(name = "c")]
unsafe extern "C" {
    fn posix_memalign(out: *mut *mut c_void, align: usize, size: usize) -> c_int;
    fn free(block: *mut c_void);
    fn abort() -> !;
}

struct Libc;

// SAFETY: `posix_memalign` and `free` are the C library's thread-safe allocator; every block is
// aligned as its layout asks, and a failure is reported as null.
unsafe impl GlobalAlloc for Libc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let mut block = core::ptr::null_mut();
        let align = layout.align().max(size_of::<*mut c_void>());
        // SAFETY: `block` is valid for a write, `align` is a power of two of at least a pointer.
        let failed = unsafe { posix_memalign(&raw mut block, align, layout.size()) };
        if failed == 0 { block.cast() } else { core::ptr::null_mut() }
    }

    unsafe fn dealloc(&self, block: *mut u8, _layout: Layout) {
        // SAFETY: the block came from `alloc` above.
        unsafe { free(block.cast()) }
    }
}

#[global_allocator]
static ALLOCATOR: Libc = Libc;

/// Were std linked in as well, there would be two of these, and the build would fail.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: `abort` has no preconditions.
    unsafe { abort() }
}

// The shipped `alloc` was compiled to unwind and names these two; with panic = "abort" nothing ever
// calls them.

#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() -> ! {
    // SAFETY: `abort` has no preconditions.
    unsafe { abort() }
}

#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    // SAFETY: `abort` has no preconditions.
    unsafe { abort() }
}

/// Drives the engine through one turn. Exit code 0 if it decided and numbered the turn, else 1.
#[unsafe(no_mangle)]
extern "C" fn main() -> c_int {
    let policy = Policy::default();
    if policy.validate().is_err() {
        return 1;
    }
    let mut engine = Engine::new(Arc::new(policy), RunInfo::default());
    let call = ToolCall {
        id: "1".into(),
        name: "read".into(),
        arguments: "{}".into(),
        ..ToolCall::default()
    };
    let events = [
        Event::UserSpoke(UserMessage { text: "Fix the test.".into() }),
        Event::Replied(Reply { tool_calls: vec![call], ..Reply::default() }),
        Event::ToolReturned(ToolResult { call_id: "1".into(), ..ToolResult::default() }),
        Event::TurnEnded,
    ];
    let mut decided = 0;
    for event in &events {
        let decision = engine.handle(Timestamp::UNKNOWN, event);
        decided += c_int::from(!decision.action.ends_run());
    }
    c_int::from(decided != 4)
}
