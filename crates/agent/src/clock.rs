//! Time, as the runtime sees it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::seam::Work;

/// Tells the time and waits. A seam, so that tests run under a virtual clock.
pub trait Clock: Send + Sync {
    /// Now, in milliseconds since the Unix epoch.
    fn now_ms(&self) -> u64;

    /// Resolves at that moment, at once if it is over.
    fn until(&self, at_ms: u64) -> Work<'_, ()>;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn until(&self, at_ms: u64) -> Work<'_, ()> {
        Box::pin(async move {
            // The machine may sleep or its clock be set: look at it again every minute.
            loop {
                let left = at_ms.saturating_sub(self.now_ms());
                if left == 0 {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(left.min(60_000))).await;
            }
        })
    }
}

/// A clock that begins at a given moment and goes as fast as the runtime's timers do: with tokio's
/// paused time, as fast as there is nothing else to do.
#[derive(Clone, Copy, Debug)]
pub struct TimerClock {
    begun: tokio::time::Instant,
    begun_ms: u64,
}

impl TimerClock {
    /// A clock that shows `now_ms` now.
    #[must_use]
    pub fn starting_at(now_ms: u64) -> Self {
        Self { begun: tokio::time::Instant::now(), begun_ms: now_ms }
    }
}

impl Clock for TimerClock {
    fn now_ms(&self) -> u64 {
        let passed = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.begun_ms.saturating_add(passed)
    }

    fn until(&self, at_ms: u64) -> Work<'_, ()> {
        let after = Duration::from_millis(at_ms.saturating_sub(self.begun_ms));
        Box::pin(tokio::time::sleep_until(self.begun + after))
    }
}
