//! A timer that is cheap to move: most waits end before it is due.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::{Instant, Sleep, sleep_until};

/// Rings at a moment that may be another one at each asking.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Alarm {
    /// Ready once `due` has passed; else wakes the task no later than then. A timer that was set
    /// for an earlier moment is left alone and wakes the task once in vain: moving it would cost
    /// more.
    pub(crate) fn poll_at(&mut self, context: &mut Context<'_>, due: Instant) -> Poll<()> {
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(due)));
        if sleep.deadline() > due {
            sleep.as_mut().reset(due);
        }
        // Twice at most: the second time it is set to `due`.
        for _ in 0..2 {
            if sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            if Instant::now() >= due {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(due);
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
