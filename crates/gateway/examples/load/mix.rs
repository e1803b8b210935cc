//! A mix of everything, for as long as one wants to look on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use steersman_wire::Format;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval_at};

use crate::agent::{Agent, Asker};
use crate::{Failure, Load};

/// How often it is told how things stand.
const TELL: Duration = Duration::from_secs(30);

/// What has happened so far.
#[derive(Debug, Default)]
struct Seen {
    sessions: AtomicUsize,
    requests: AtomicU64,
    /// Requests whose answer was not what was wished for, by the gateway's doing or not.
    others: AtomicU64,
    failures: AtomicU64,
}

/// Plays the mix for so long.
pub(crate) async fn play(load: &Load, length: Duration) -> Result<(), Failure> {
    let seen = Arc::new(Seen::default());
    let end = Instant::now() + length;
    let mut workers = JoinSet::new();
    for worker in 0..load.connections {
        let (seen, asker) = (Arc::clone(&seen), Asker::new(&load.address));
        workers.spawn(work(Dice(worker as u64 + 1), asker, seen, end));
    }
    let mut ticks = interval_at(Instant::now() + TELL, TELL);
    loop {
        tokio::select! {
            _ = ticks.tick() => tell(load, &seen)?,
            worker = workers.join_next() => match worker {
                Some(worker) => worker?,
                None => break,
            },
        }
    }
    tell(load, &seen)
}

fn tell(load: &Load, seen: &Seen) -> Result<(), Failure> {
    let memory = load.process.as_ref().map(super::figures::Process::memory).transpose()?;
    println!(
        "{} sessions, {} requests, {} answered otherwise, {} failed; {}",
        seen.sessions.load(Ordering::Relaxed),
        seen.requests.load(Ordering::Relaxed),
        seen.others.load(Ordering::Relaxed),
        seen.failures.load(Ordering::Relaxed),
        memory.unwrap_or_default(),
    );
    Ok(())
}

/// One client: session after session.
async fn work(mut dice: Dice, asker: Asker, seen: Arc<Seen>, end: Instant) {
    while Instant::now() < end {
        let number = seen.sessions.fetch_add(1, Ordering::Relaxed);
        let format = Format::ALL[dice.below(4) as usize];
        let stream = dice.below(2) == 0;
        let mut agent = Agent::new(format, number, stream, dice.below(3) > 0);
        agent.is_stuck = dice.below(5) == 0;
        agent.look_back_on(dice.below(40_000) as usize);
        for _ in 0..5 + dice.below(60) {
            if Instant::now() >= end {
                return;
            }
            let usual = if stream { "stream" } else { "call" };
            let (kind, leaves) = match dice.below(200) {
                0 => ("status 503", false),
                1 => ("status 400", false),
                2 if stream => ("cut", false),
                3..6 => (usual, true),
                _ => (usual, false),
            };
            let asked = match dice.below(200) {
                0 => asker.ask("/v1/messages", &[], vec![b'{'; 300], false).await,
                _ => agent.ask(&asker, kind, leaves).await,
            };
            seen.requests.fetch_add(1, Ordering::Relaxed);
            match asked {
                Ok(got) if got.status.is_success() && got.is_whole => {}
                Ok(_) => drop(seen.others.fetch_add(1, Ordering::Relaxed)),
                Err(error) => {
                    if seen.failures.fetch_add(1, Ordering::Relaxed) == 0 {
                        println!("the first failure: {error}");
                    }
                }
            }
        }
    }
}

/// Numbers that look like chance and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % most.max(1)
    }
}
