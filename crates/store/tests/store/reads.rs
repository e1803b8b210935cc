//! Reads by many callers at once.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{Thread, current, park_timeout};
use std::time::{Duration, Instant};

use steersman_store::{SessionId, Store};

use crate::stage::{on_disk, quick};

/// Wakes a thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A thread that serves many callers may have to wait for one of them alone, while nobody goes on
/// with the others: their turn must not come before its own.
#[test]
fn a_caller_may_block_while_others_wait_on_its_thread() {
    let (_folder, store) = on_disk(&quick());
    let id = SessionId::new("a").unwrap();
    let mut others: Vec<_> = (0..1000).map(|_| store.kept(&id)).collect();
    let mut idle = Context::from_waker(Waker::noop());
    for other in &mut others {
        let _ = other.as_mut().poll(&mut idle);
    }
    let mut own = pin!(store.kept(&id));
    let waker = Waker::from(Arc::new(Unpark(current())));
    let begun = Instant::now();
    loop {
        if let Poll::Ready(answer) = own.as_mut().poll(&mut Context::from_waker(&waker)) {
            assert!(answer.unwrap().is_none());
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "it waits for callers who do not run");
        park_timeout(Duration::from_secs(1));
    }
}
